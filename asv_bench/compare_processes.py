"""Two threads beside two processes: what a call loses by being shared.

    python asv_bench/compare_processes.py
    python asv_bench/compare_processes.py --data FOLDER --seconds 60

In turn, one call runs on two threads, and two processes run the same call at once, on one thread
each. Both are slowed down alike by cores that change their speed or lend it to others, which spoils
the minima of ``compare.py threads``. The columns are what two processes reach together and what two
threads do, in calls per second, on average, and the share that the second is of the first: 1 if
nothing is lost. Two threads are 1.8 times as fast as one where processes do not slow each other and
the share is 0.9.

FOLDER holds tables as NAME.csv or NAME.csv.xz with a column named target.
"""

import argparse
import multiprocessing
import os
import time
from functools import partial

import numpy as np
from compare import large_fits, make_pair
from machine import describe_machine

from benchmarks import data

N_RESAMPLES = 1000


def fit_on(estimator, X, y, n_threads):
    estimator.set_params(n_jobs=n_threads).fit(X, y)


def predict_on(estimator, X, n_threads):
    estimator.set_params(n_jobs=n_threads).predict(X)


def calls_to_compare(folder):
    """(name, function of the number of threads), (name, ...), ..."""
    for name, X, y, task in large_fits(folder):
        yield name, partial(fit_on, make_pair(task)[1], X, y)
    X, y = data.classification()
    fitted = make_pair("classification")[1].fit(X, y)
    yield "predict", partial(predict_on, fitted, data.resample(X, 1_000_000))


def seconds_of(call, *arguments):
    start = time.perf_counter()
    call(*arguments)
    return time.perf_counter() - start


def answer(connection, call):
    """In the other process: three calls whenever asked, and how long the second one took."""
    while connection.recv():
        connection.send([seconds_of(call, 1) for _ in range(3)][1])


def measure(call, seconds):
    """Times of a call on two threads, here beside the other process, and there; shape (n, 3)."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    other = context.Process(target=answer, args=(there, call))
    other.start()
    there.close()  # so that `recv` fails if the other process does
    times = []
    for n_threads in (1, 2):  # what loads on first use is not the call's
        call(n_threads)
    here.send(True)
    here.recv()
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or not times:
        shared = seconds_of(call, 2)
        here.send(True)
        call(1)
        beside = seconds_of(call, 1)  # while the other is between its first call and its third
        times.append((shared, beside, here.recv()))
    here.send(False)
    other.join()
    return np.array(times)


def rates(times):
    """Calls per second of two processes and of two threads."""
    threads, *processes = (1 / times).mean(axis=0)
    return sum(processes), threads


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default=os.environ.get("FASTTREE_DATA"), metavar="FOLDER")
    parser.add_argument("--seconds", type=float, default=30, help="for each line")
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    print(describe_machine())
    print(f"{'':<16}{'processes':>12}{'threads':>12}{'share':>8}  90% interval")
    for name, call in calls_to_compare(options.data):
        times = measure(call, options.seconds)
        processes, threads = rates(times)
        drawn = rng.integers(0, len(times), (N_RESAMPLES, len(times)))
        shares = [b / a for a, b in (rates(times[of_resample]) for of_resample in drawn)]
        low, high = np.quantile(shares, [0.05, 0.95])
        print(f"{name:<16}{processes:>12.4g}{threads:>12.4g}{threads / processes:>8.3f}", end="")
        print(f"  {low:.3f} to {high:.3f}", flush=True)


if __name__ == "__main__":
    main()
