"""Experiments of the P-STreeD thesis (Sandu, TU Delft, 2024) with fasttree's optimal trees.

    python asv_bench/scripts/optimal_paper.py FOLDER runtime --pystreed
    python asv_bench/scripts/optimal_paper.py FOLDER sharing threads order kernels

FOLDER holds the sets as NAME.csv.xz or NAME.csv, blank-separated: the class, then 0/1 columns.

runtime   run times for three limits, mean ranks and Wilcoxon tests (its Tables 2, 3, 6 and 7)
sharing   parallelism at the root, at the leaves and none (its Tables 1, 4 and 5)
threads   speed-up over the number of threads (its Figure 2)
order     order of the features: in order, random per level, impurity, look-ahead (its 4.5)
kernels   instruction sets; parts of the rows and of the columns; depths

The Wilcoxon statistic W is the smaller of the two rank sums: a small W with a small p says that
one method is consistently faster. (The thesis reads a small W as no difference.)
"""

import argparse
import time
from pathlib import Path

import numpy as np
from scipy.stats import rankdata, wilcoxon

from fasttree.optimal import OptimalDecisionTreeClassifier, SearchOptions
from fasttree.optimal._engine import has_instruction_set

LIMITS = ((4, 15), (5, 24), (5, 31))  # depth, inner nodes


def load_sets(folder, names):
    paths = sorted({*folder.glob("*.csv.xz"), *folder.glob("*.csv")})
    for path in paths:
        name = path.name.split(".")[0]
        if name != "optimal_scores" and (not names or name in names):
            table = np.loadtxt(path, dtype=np.int8)
            yield name, np.ascontiguousarray(table[:, 1:]), table[:, 0].astype(np.int64)


def fit(X, y, limits, time_limit, n_jobs=1, **options):
    """Seconds and the fitted estimator; a time-out counts as the time limit."""
    depth, n_nodes = limits
    estimator = OptimalDecisionTreeClassifier(
        max_depth=depth,
        max_leaf_nodes=n_nodes + 1,
        time_limit=time_limit,
        n_jobs=n_jobs,
        search_options=SearchOptions(**options),
    )
    start = time.perf_counter()
    estimator.fit(X, y)
    seconds = time.perf_counter() - start
    return (seconds if estimator.is_optimal_ else time_limit), estimator


def fit_best(repeats, *args, **kwargs):
    runs = [fit(*args, **kwargs)]
    while len(runs) < repeats and runs[0][0] < 60:
        runs.append(fit(*args, **kwargs))
    return min(runs, key=lambda run: run[0])


def fit_pystreed(X, y, limits, time_limit):
    from pystreed import STreeDClassifier

    depth, n_nodes = limits
    estimator = STreeDClassifier(
        "accuracy", max_depth=depth, max_num_nodes=n_nodes, time_limit=time_limit
    )
    start = time.perf_counter()
    estimator.fit(X, y)
    seconds = time.perf_counter() - start
    return seconds if estimator.fit_result.is_optimal() else time_limit


def table(title, header, rows):
    print(f"\n{title}\n")
    widths = [max(len(str(row[k])) for row in [header, *rows]) for k in range(len(header))]
    for row in [header, ["-" * width for width in widths], *rows]:
        cells = (str(cell).rjust(width) for cell, width in zip(row, widths))
        print("| " + " | ".join(cells) + " |")


def seconds_of(value):
    return f"{value:.4f}" if value < 1 else f"{value:.2f}"


def runtime(sets, args):
    methods = {
        "fasttree": lambda X, y, limits: fit_best(args.repeats, X, y, limits, args.time_limit)[0],
        f"fasttree, {args.threads} threads": lambda X, y, limits: fit_best(
            args.repeats, X, y, limits, args.time_limit, args.threads
        )[0],
    }
    if args.pystreed:
        methods["pystreed"] = lambda X, y, limits: fit_pystreed(X, y, limits, args.time_limit)
    for limits in LIMITS:
        names, times = [], []
        for name, X, y in sets():
            names.append([name, len(X), X.shape[1]])
            times.append([run(X, y, limits) for run in methods.values()])
        ranks = np.mean([rankdata(row) for row in times], axis=0)
        rows = [name + [seconds_of(t) for t in row] for name, row in zip(names, times)]
        rows.append(["mean rank", "", "", *(f"{rank:.2f}" for rank in ranks)])
        table(
            f"Seconds, depth {limits[0]}, {limits[1]} inner nodes "
            f"(a time-out counts as {args.time_limit:g})",
            ["set", "rows", "columns", *methods],
            rows,
        )
        times = np.array(times)
        for k, method in enumerate(methods):
            if k > 0 and (times[:, 0] != times[:, k]).sum() > 1:
                test = wilcoxon(times[:, 0], times[:, k])
                ratio = np.exp(np.log(times[:, k] / times[:, 0]).mean())
                print(
                    f"{method} / fasttree: {ratio:.2f} (geometric mean), "
                    f"W = {test.statistic:g}, p = {test.pvalue:.2g}"
                )


def sharing(sets, args):
    kinds = {
        "root": {"n_jobs": args.threads, "sharing": "root", "share_after": 0.0},
        "leaf": {"n_jobs": args.threads, "sharing": "leaf", "share_after": 0.0},
        "none": {"n_jobs": 1},
    }
    for limits in LIMITS:
        rows = []
        for name, X, y in sets():
            for kind, options in kinds.items():
                seconds, tree = fit_best(args.repeats, X, y, limits, args.time_limit, **options)
                counts = tree.search_statistics_
                rows.append(
                    [
                        name,
                        kind,
                        seconds_of(seconds),
                        counts["n_terminal_calls"],
                        counts["n_cache_hits"],
                        counts["n_cache_misses"],
                        counts["n_bounded_features"],
                        counts["n_bounded_children"],
                    ]
                )
        table(
            f"Where {args.threads} threads share, depth {limits[0]}, {limits[1]} inner nodes",
            [
                "set",
                "sharing",
                "seconds",
                "depth-two calls",
                "cache hits",
                "cache misses",
                "features cut",
                "children cut",
            ],
            rows,
        )


def threads(sets, args):
    counts = range(1, args.threads + 1)
    for limits in LIMITS:
        rows = []
        for name, X, y in sets():
            times = [
                fit_best(args.repeats, X, y, limits, args.time_limit, n_jobs)[0]
                for n_jobs in counts
            ]
            rows.append([name, seconds_of(times[0]), *(f"{times[0] / t:.2f}" for t in times)])
        table(
            f"Speed-up over threads, depth {limits[0]}, {limits[1]} inner nodes",
            ["set", "seconds", *counts],
            rows,
        )


def order(sets, args):
    orders = ("in-order", "random", "gini", "look-ahead")
    for limits in LIMITS:
        rows = []
        for name, X, y in sets():
            row = [name]
            for kind in orders:
                seconds, tree = fit_best(
                    args.repeats, X, y, limits, args.time_limit, args.threads, order=kind
                )
                row += [seconds_of(seconds), tree.search_statistics_["n_terminal_calls"]]
            rows.append(row)
        header = [cell for kind in orders for cell in (kind, "calls")]
        table(
            f"Order of features, depth {limits[0]}, {limits[1]} inner nodes",
            ["set", *header],
            rows,
        )


def kernels(sets, args):
    isas = [isa for isa in ("avx512", "avx2", "portable") if has_instruction_set(isa)]
    rng = np.random.default_rng(0)
    cases = {
        "all": lambda X, y: (X, y),
        "half the rows": lambda X, y: (X[::2], y[::2]),
        "half the columns": lambda X, y: (X[:, np.sort(rng.permutation(X.shape[1])[::2])], y),
    }
    rows = []
    for name, X, y in sets():
        for case, part in cases.items():
            X_part, y_part = part(X, y)
            for depth in (2, 3, 4):
                limits = depth, 2**depth - 1
                times = [
                    fit_best(
                        args.repeats, X_part, y_part, limits, args.time_limit, instruction_set=isa
                    )[0]
                    for isa in isas
                ]
                rows.append([name, case, depth, *map(seconds_of, times)])
    table("Seconds by instruction set", ["set", "data", "depth", *isas], rows)


EXPERIMENTS = {f.__name__: f for f in (runtime, sharing, threads, order, kernels)}


def make_parser(description, experiments):
    """The arguments that scripts of experiments on the folder of sets have in common."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("experiments", nargs="+", choices=sorted(experiments))
    parser.add_argument("--sets", nargs="*", help="names of sets; all without it")
    return parser


def main():
    parser = make_parser(__doc__, EXPERIMENTS)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--time-limit", type=float, default=600)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--pystreed", action="store_true", help="beside pystreed")
    args = parser.parse_args()
    for name in args.experiments:
        EXPERIMENTS[name](lambda: load_sets(args.folder, args.sets), args)


if __name__ == "__main__":
    main()
