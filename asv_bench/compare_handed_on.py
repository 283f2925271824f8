"""SHAP values beside those of TreeExplainer, and the load of model files.

    python asv_bench/compare_handed_on.py
    python asv_bench/compare_handed_on.py --repeats 9 --cpu

A line per tree: the least time of explaining rows of the table by `shap_values` and by SHAP's
TreeExplainer, one thread each, with the largest difference of their values; then a line per file
of a tree of 10,001 nodes with the least time of `load`. Needs SHAP.
"""

import argparse
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np
import shap
from compare import alternate
from machine import describe_machine
from sklearn import datasets

from benchmarks import data
from fasttree.datasets import load_wine_quality
from fasttree.export import load, save, shap_values
from fasttree.tree import DecisionTreeClassifier, DecisionTreeRegressor

N_ROWS = 2_000


def cases():
    """Names, trees and what they are fitted on: bundled tables, and noise of 20 columns."""
    wine = load_wine_quality(return_X_y=True)
    cancer = datasets.load_breast_cancer(return_X_y=True)
    digits = datasets.load_digits(return_X_y=True)
    diabetes = datasets.load_diabetes(return_X_y=True)
    yield "breast cancer", DecisionTreeClassifier(), *cancer
    yield "digits, 10 classes", DecisionTreeClassifier(), *digits
    yield "wine quality, 7 classes", DecisionTreeClassifier(), *wine
    yield "wine quality, values", DecisionTreeRegressor(), *wine
    yield "wine quality, depth 6", DecisionTreeRegressor(max_depth=6), *wine
    yield "diabetes", DecisionTreeRegressor(), *diabetes
    yield "diabetes, depth 3", DecisionTreeRegressor(max_depth=3), *diabetes
    yield "20 columns, depth 12", DecisionTreeClassifier(max_depth=12), *data.classification(5_000)
    yield "20 columns, depth 8", DecisionTreeRegressor(max_depth=8), *data.regression(5_000)


def explain(repeats, clock):
    """Print a line per tree and the geometric mean of the ratios."""
    print(
        f"{'':<26}{'nodes':>7}{'rows':>6}{'ours, ms':>10}{'SHAP, ms':>10}{'ratio':>7}  difference"
    )
    ratios = []
    for name, tree, X, y in cases():
        tree.set_params(n_jobs=1, random_state=0).fit(X, y)
        rows = np.ascontiguousarray(X[:N_ROWS])
        explainer = shap.TreeExplainer(
            tree.to_sklearn(), feature_perturbation="tree_path_dependent"
        )
        theirs = partial(explainer.shap_values, rows, check_additivity=False)
        times = alternate(repeats, partial(shap_values, tree, rows), theirs, clock=clock)
        difference = np.abs(shap_values(tree, rows).values - theirs()).max()
        ratios.append(times[1] / times[0])
        print(
            f"{name:<26}{tree.tree_.node_count:>7,}{len(rows):>6,}{1000 * times[0]:>10.2f}"
            f"{1000 * times[1]:>10.2f}{ratios[-1]:>7.1f}  {difference:.1e}"
        )
    print(f"{'geometric mean':<26}{np.exp(np.mean(np.log(ratios))):>40.1f}")


def read_files(repeats, clock):
    """Print a line per file of a tree of 10,001 nodes."""
    print(f"{'':<26}{'MB':>7}{'load, ms':>16}")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60_000, 8))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tree.json"
        for name, y in (
            ("values", rng.normal(size=len(X))),
            ("2 classes", rng.integers(0, 2, len(X))),
            ("10 classes", rng.integers(0, 10, len(X))),
        ):
            cls = DecisionTreeRegressor if name == "values" else DecisionTreeClassifier
            save(cls(max_leaf_nodes=5_001).fit(X, y), path)
            (seconds,) = alternate(repeats, partial(load, path), clock=clock)
            print(f"{name:<26}{path.stat().st_size / 1e6:>7.2f}{1000 * seconds:>16.1f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5, metavar="K")
    parser.add_argument("--cpu", action="store_true", help="CPU time, on a machine that is busy")
    options = parser.parse_args()
    clock = time.process_time if options.cpu else time.perf_counter
    print(describe_machine())
    explain(options.repeats, clock)
    read_files(options.repeats, clock)


if __name__ == "__main__":
    main()
