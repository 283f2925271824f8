"""Tuning from one fit beside grid search: the ratios, on tables of a folder.

    python asv_bench/compare_tuning.py FOLDER
    python asv_bench/compare_tuning.py FOLDER --tables churn --sklearn
    python asv_bench/compare_tuning.py FOLDER --tables adult --scoring roc_auc

For each table 28 depths and 200 values of min_samples_split are searched on five folds: by
TrainOnceSearchCV, one list after the other and all 5,600 pairs; by GridSearchCV over fasttree's
tree; with --sklearn by GridSearchCV over scikit-learn's, which takes long. The scores of the first
two are compared. The last columns are the pass over validation rows alone: the default grid of
`tune` (every depth times 200) after a fit on 80% of the rows, 10% validating.

Times are of the process, in milliseconds, the minimum of a few runs for what is fast.
"""

import argparse
import time
from pathlib import Path

import numpy as np

from benchmarks import data
from benchmarks.common import make_estimator
from benchmarks.tuning import METHODS, make_grid, make_search

SEARCHED, TUNED = ("churn", "adult"), ("adult", "covertype", "kdd99_10pct")
REPEATS = 7


def milliseconds(call, repeats=REPEATS):
    """Least processor time of the call."""
    best = np.inf
    for _ in range(repeats):
        start = time.process_time()
        call()
        best = min(best, time.process_time() - start)
    return 1000 * best


def compare_searches(name, X, y, with_sklearn, scoring):
    n_rows = len(y) * 4 // 5
    grid = make_grid(n_rows, 200)
    once = make_search("train once", grid, scoring=scoring)
    joint = make_search("train once", make_grid(n_rows, 200, joint=True), scoring=scoring)
    once_ms = milliseconds(lambda: once.fit(X, y))
    joint_ms = milliseconds(lambda: joint.fit(X, y))
    print(f"{name}: 228 settings {once_ms:.1f} ms, 5,600 settings {joint_ms:.1f} ms: ", end="")
    print(f"{joint_ms / once_ms:.2f} times")
    for method in ("fasttree", "scikit-learn")[: 1 + with_sklearn]:
        search = make_search(method, grid, scoring=scoring)
        ms = milliseconds(lambda search=search: search.fit(X, y), repeats=1)
        print(f"  GridSearchCV over {method}: {ms:.0f} ms, {ms / once_ms:.0f} times", flush=True)
        if method == "fasttree":
            for key in ("mean_test_score", "rank_test_score")[: 1 if scoring else 2]:
                np.testing.assert_allclose(
                    once.cv_results_[key], search.cv_results_[key], rtol=1e-12 if scoring else 0
                )
    depths = {"max_depth": range(1, 26)}
    searches = [make_search(method, depths, scoring=scoring) for method in METHODS[:2]]
    once_ms, all_ms = (milliseconds(lambda s=s: s.fit(X, y), repeats=3) for s in searches)
    print(f"  depths 1 to 25: {once_ms:.1f} ms, GridSearchCV {all_ms / once_ms:.1f} times")


def compare_pass(name, X, y, scoring):
    rows = np.random.default_rng(0).permutation(len(y))
    kept, held_out = rows[: len(y) * 8 // 10], rows[len(y) * 8 // 10 : len(y) * 9 // 10]
    estimator = make_estimator("fasttree", "classification")
    fit_ms = milliseconds(lambda: estimator.fit(X[kept], y[kept]), repeats=3)
    held_out = held_out[np.isin(y[held_out], estimator.classes_)]
    X_val, y_val = X[held_out], y[held_out]
    tune_ms = milliseconds(lambda: estimator.tune(X_val, y_val, scoring=scoring))
    n_settings = 200 * estimator.get_depth()
    print(
        f"{name}: fit {fit_ms:.1f} ms, {n_settings:,} settings {tune_ms:.2f} ms: "
        f"{100 * tune_ms / fit_ms:.2f}% of the fit",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--tables", nargs="+", metavar="TABLE")
    parser.add_argument(
        "--sklearn", action="store_true", help="search over scikit-learn's tree too"
    )
    parser.add_argument("--scoring", help="a scorer's name; accuracy if none")
    options = parser.parse_args()
    for name in options.tables or dict.fromkeys(SEARCHED + TUNED):
        X, y, _ = data.read_table(options.folder, name)
        if options.tables or name in SEARCHED:
            compare_searches(name, X, y, options.sklearn, options.scoring)
        if options.tables or name in TUNED:
            compare_pass(name, X, y, options.scoring)


if __name__ == "__main__":
    main()
