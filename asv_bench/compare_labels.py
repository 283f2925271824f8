"""Tables with labels, fitted as they are, beside encoders and scikit-learn's tree.

    python asv_bench/compare_labels.py FOLDER
    python asv_bench/compare_labels.py FOLDER --tables churn --repeats 9
    python asv_bench/compare_labels.py FOLDER --save doc/benchmarks

A line per way of fitting: the least time of a fit of all rows, encoding included, the peak memory
above the frame, in a process of its own, and the mean accuracy over ten splits of 80% and 20%.
Full trees, one thread. The last line holds the ratios that fasttree is to reach: 8 times
the speed of the faster one-hot encoding, less memory, an accuracy within 0.005.
"""

import argparse
import csv
import time
from functools import partial
from pathlib import Path

import numpy as np
from compare import alternate
from machine import describe_machine
from peak import in_new_process, peak_memory
from sklearn.model_selection import train_test_split

from benchmarks import data
from benchmarks.labels import METHODS, make_method

N_SPLITS = 10


def peak_of_fit(folder, name, method):
    """Bytes of memory that a fit takes at its peak, above the frame."""
    frame, y, task = data.read_frame(folder, name)
    estimator = make_method(method, frame, task)
    estimator.fit(frame[:200], y[:200])  # what loads on first use is not the fit's
    return peak_memory(partial(estimator.fit, frame, y))


def mean_accuracy(estimator, frame, y):
    scores = []
    for seed in range(N_SPLITS):
        X, X_test, y_fit, y_test = train_test_split(frame, y, test_size=0.2, random_state=seed)
        scores.append(estimator.fit(X, y_fit).score(X_test, y_test))
    return float(np.mean(scores))


def compare(folder, name, repeats, clock):
    """Print a table's lines and return them, and whether fasttree is where it is to be."""
    frame, y, task = data.read_frame(folder, name)
    estimators = [make_method(method, frame, task) for method in METHODS]
    times = alternate(repeats, *(partial(e.fit, frame, y) for e in estimators), clock=clock)
    peaks = [in_new_process(peak_of_fit, folder, name, method) for method in METHODS]
    scores = [mean_accuracy(estimator, frame, y) for estimator in estimators]
    print("{} {} x {}".format(name, *frame.shape))
    lines = []
    for method, seconds, peak, score in zip(METHODS, times, peaks, scores, strict=True):
        numbers = f"{1000 * seconds:.1f}", f"{peak / 2**20:.2f}", f"{score:.4f}"
        print("  {:<16}{:>10}{:>10}{:>10}".format(method, *numbers))
        lines.append((f"{name}, {method}", *numbers))
    one_hot = [i for i, method in enumerate(METHODS) if method.startswith("one-hot")]
    ratio = min(times[i] for i in one_hot) / times[0]
    memory = min(peaks[i] for i in one_hot) / peaks[0]
    gain = scores[0] - max(scores[i] for i in one_hot)
    is_met = ratio >= 8 and memory > 1 and gain >= -0.005
    print(f"  {'ratio, gain':<16}{ratio:>10.2f}{memory:>10.2f}{gain:>+10.4f}", end="")
    print("  ok" if is_met else "  SHORT")
    return lines, is_met


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", help="tables as NAME.csv or NAME.csv.xz with a column target")
    parser.add_argument("--tables", nargs="+", default=data.label_table_names("."), metavar="NAME")
    parser.add_argument("--repeats", type=int, default=5, metavar="K")
    parser.add_argument("--cpu", action="store_true", help="CPU time, on a machine that is busy")
    parser.add_argument("--save", type=Path, metavar="FOLDER", help="write labels.csv")
    options = parser.parse_args()
    clock = time.process_time if options.cpu else time.perf_counter
    print(describe_machine())
    print(f"{'':<18}{'fit, ms':>10}{'peak, MB':>10}{'accuracy':>10}")
    found = [compare(options.folder, name, options.repeats, clock) for name in options.tables]
    if options.save:
        with open(options.save / "labels.csv", "w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerows(line for lines, _ in found for line in lines)
    return 0 if all(is_met for _, is_met in found) else 1


if __name__ == "__main__":
    raise SystemExit(main())
