"""fasttree beside scikit-learn, side by side in one process: the table of ratios.

Each line is the minimum over a few runs, the contestants taking turns, so that a disturbance
of the machine hits both. Full trees, default parameters, one thread unless said.

    python asv_bench/compare.py --list
    python asv_bench/compare.py dense tables --data FOLDER --repeats 3
    python asv_bench/compare.py all --data FOLDER --save doc/benchmarks

FOLDER holds tables as NAME.csv or NAME.csv.xz with a column named target.
"""

import argparse
import copy
import csv
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path

import numpy as np
import scipy.sparse
import sklearn
import sklearn.tree
from machine import describe_machine
from peak import in_new_process, peak_memory
from sklearn.datasets import load_iris

import fasttree
import fasttree.tree
from benchmarks import data
from fasttree._config import SIMD

ESTIMATORS = {
    "classification": "DecisionTreeClassifier",
    "regression": "DecisionTreeRegressor",
}
STRATEGIES = ("auto", "count", "presort", "sort")
NODE_ARRAYS = (
    "children_left",
    "children_right",
    "feature",
    "threshold",
    "impurity",
    "n_node_samples",
    "weighted_n_node_samples",
    "missing_go_to_left",
    "value",
)


@dataclass
class Line:
    """One measured ratio: how often `ours` fits into `theirs`, and what is asked for."""

    name: str
    theirs: float
    ours: float
    wanted: float
    note: str = ""

    @property
    def ratio(self):
        return self.theirs / self.ours

    def __str__(self):
        verdict = "ok" if self.ratio >= self.wanted else "SHORT"
        return (
            f"{self.name:<42}{self.theirs:>12.5g}{self.ours:>12.5g}"
            f"{self.ratio:>9.2f}{self.wanted:>8.4g}  {verdict:<6}{self.note}"
        )


def alternate(repeats, *contestants, clock=time.perf_counter):
    """The minimum time of each contestant, in seconds; they take turns."""
    best = [np.inf] * len(contestants)
    for _ in range(repeats):
        for i, contestant in enumerate(contestants):
            start = clock()
            contestant()
            best[i] = min(best[i], clock() - start)
    return best


def make_pair(task, **params):
    """(scikit-learn's estimator, fasttree's) for the task, same parameters."""
    name = ESTIMATORS[task]
    params.setdefault("random_state", 0)
    return getattr(sklearn.tree, name)(**params), getattr(fasttree.tree, name)(**params)


@dataclass
class Race:
    """A line to be measured: two calls without arguments that take turns.

    A suite yields it before anything has run, so that `scripts/compare_commits.py` can run `ours`
    alone, under two commits.
    """

    name: str
    theirs: Callable
    ours: Callable
    wanted: float
    repeats: int = 0  # at least
    is_serial: bool = True  # so that CPU time may stand for time
    prepare: Callable | None = None  # what `theirs` needs first
    note: Callable = str  # called when both have run
    line: Line | None = None

    def run(self, options):
        if self.prepare is not None:
            self.prepare()
        times = alternate(
            max(self.repeats, options.repeats),
            self.theirs,
            self.ours,
            clock=options.clock if self.is_serial else time.perf_counter,
        )
        self.line = Line(self.name, *times, self.wanted, self.note())
        return self.line


@dataclass
class Mean:
    """The line of the geometric mean of races that have run."""

    name: str
    races: list
    wanted: float

    def run(self, options):
        ratios = [race.line.ratio for race in self.races]
        return Line(self.name, geometric_mean(ratios), 1, self.wanted)


def race_fits(name, X, y, task, wanted, *, sample_weight=None, repeats=0, **params):
    theirs, ours = make_pair(task, **params)
    return Race(
        name,
        partial(theirs.fit, X, y, sample_weight=sample_weight),
        partial(ours.fit, X, y, sample_weight=sample_weight),
        wanted,
        repeats,
        note=lambda: f"{theirs.tree_.node_count} / {ours.tree_.node_count} nodes",
    )


def geometric_mean(values):
    return float(np.exp(np.mean(np.log(values))))


def dense_suite(options):
    """100,000 x 20 continuous columns: two classes, and a continuous target"""
    X, y = data.classification()
    yield race_fits("dense classification", X, y, "classification", 20)
    y = data.continuous_target(X)
    yield race_fits("dense regression", X, y, "regression", 12)


def tables_suite(options):
    """Real tables, labels coded as integers, gaps as -999 (needs --data)"""
    names = data.TABLES if options.tables is None else options.tables
    if options.tables == ["all"]:
        names = data.table_names(options.data)
    races = []
    for name in names:
        X, y, task = data.read_table(options.data, name)
        shape = "{} x {}".format(*X.shape)
        races.append(race_fits(f"{name} {shape}", X, y, task, 3))
        yield races[-1]
    yield Mean("tables, geometric mean", races, 7)


def criteria_suite(options):
    """50,000 x 20: entropy, absolute_error, poisson, float weights, 10% NaN"""
    X, y = data.classification(50_000)
    target = data.continuous_target(X)
    weight = np.random.default_rng(0).uniform(0.5, 2, len(y))
    yield race_fits("entropy", X, y, "classification", 5, criterion="entropy")
    yield race_fits("absolute_error", X, target, "regression", 5, criterion="absolute_error")
    counts = np.random.default_rng(0).poisson(np.exp(target / target.std()))
    yield race_fits("poisson", X, counts.astype(float), "regression", 5, criterion="poisson")
    yield race_fits("float weights, gini", X, y, "classification", 5, sample_weight=weight)
    yield race_fits(
        "float weights, squared_error", X, target, "regression", 5, sample_weight=weight
    )
    X = data.with_missing(X)
    yield race_fits("10% NaN, gini", X, y, "classification", 5)
    yield race_fits("10% NaN, squared_error", X, target, "regression", 5)


def race_threads(name, X, y, wanted, repeats=10, task="classification"):
    estimator = getattr(fasttree.tree, ESTIMATORS[task])
    one, two = (estimator(random_state=0, n_jobs=n_jobs) for n_jobs in (1, 2))
    # Two threads are disturbed twice as often.
    return Race(
        name, partial(one.fit, X, y), partial(two.fit, X, y), wanted, repeats, is_serial=False
    )


def large_fits(folder):
    """(name, X, y, task), ... of fits that threads share; two are of tables in the folder."""
    yield "dense", *data.classification(), "classification"
    for name in ("covertype", "kdd99_10pct") if folder else ():
        yield name, *data.read_table(folder, name)
    yield "regression", *data.regression(600_000, 9), "regression"


def races_of_large_fits(options, words, wanted):
    for name, X, y, task in large_fits(options.data):
        yield race_threads(f"{words}, {name}", X, y, wanted, task=task)


def threads_suite(options):
    """n_jobs=2 against n_jobs=1 (columns: one thread, two threads)"""
    yield from races_of_large_fits(options, "threads", 1.8)
    X, y = load_iris(return_X_y=True)
    yield race_threads("threads, iris", X.astype(np.float32), y, 1 / 1.1, 500)


def busy_suite(options):
    """The same while another process keeps a core busy (columns: one thread, two threads)"""
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as other:
        try:
            yield from races_of_large_fits(options, "busy core", 1 / 1.1)
        finally:
            other.kill()


def growth_suite(options):
    """10 columns, 10,000 to 1,000,000 rows (scikit-learn takes minutes)"""
    for n_samples, wanted in ((10_000, 15), (100_000, 18), (1_000_000, 22)):
        X, y = data.classification(n_samples, 10)
        name = f"growth, {n_samples:,} rows"
        yield race_fits(name, X, y, "classification", wanted)


def peak_above(X, y, library, strategy):
    """Peak memory of a fit in bytes. To be run in a process of its own."""
    theirs, ours = make_pair("classification")
    estimator = theirs if library == "scikit-learn" else ours
    estimator.fit(X[:100], y[:100])  # what loads on first use is not the fit's
    with fasttree.config_context(**({} if strategy is None else {"strategy": strategy})):
        return peak_memory(partial(estimator.fit, X, y))


def peak_of_fit(make_data, library, strategy):
    """`peak_above` as a multiple of the size of X."""
    X, y = make_data()
    return peak_above(X, y, library, strategy) / X.nbytes


def memory_suite(options):
    """Peak memory above the input (columns: multiples of the size of X)"""
    for shape, make_data, strategies in (
        ("100,000 x 20", data.classification, [None]),
        ("1,000,000 x 10", partial(data.classification, 1_000_000, 10), [None]),
        ("1,000,000 x 20", data.gaussian, [None, "sort"]),
    ):
        theirs = in_new_process(peak_of_fit, make_data, "scikit-learn", None)
        for strategy in strategies:
            ours = in_new_process(peak_of_fit, make_data, "fasttree", strategy)
            words = "" if strategy is None else f", strategy={strategy}"
            yield Line(f"memory, {shape}{words}", theirs, ours, theirs / 1.3)


def predict_suite(options):
    """predict on 1,000,000 x 20 rows: the continuous columns, one and two threads"""
    X, y = data.classification()
    theirs, ours = make_pair("classification")
    ours.fit(X, y)
    rows = data.resample(X, 1_000_000)

    one, two = (
        partial(copy.copy(ours).set_params(n_jobs=n_jobs).predict, rows) for n_jobs in (1, 2)
    )
    prepare = partial(theirs.fit, X, y)
    yield Race("predict, one thread", partial(theirs.predict, rows), one, 2.5, prepare=prepare)
    yield Race("predict, two threads against one", one, two, 1.6, is_serial=False)


def same_tree(a, b):
    return all(
        np.array_equal(getattr(a.tree_, name), getattr(b.tree_, name)) for name in NODE_ARRAYS
    )


def strategies_suite(options):
    """Every strategy and thread count grows the same tree (ratio 1: all identical)"""
    names = data.TABLES if options.data else ()
    problems = [(name, *data.read_table(options.data, name)) for name in names]
    problems.append(("dense", *data.classification(20_000), "classification"))
    problems.append(("dense", *data.regression(20_000), "regression"))
    for name, X, y, task in problems:
        estimator = make_pair(task)[1]
        reference = sklearn.clone(estimator).fit(X, y)
        settings = [(s, n_jobs) for s in STRATEGIES for n_jobs in (1, 2, 4)]
        equal = 0
        for strategy, n_jobs in settings:
            with fasttree.config_context(strategy=strategy):
                other = sklearn.clone(estimator).set_params(n_jobs=n_jobs).fit(X, y)
            equal += same_tree(reference, other)
        yield Line(f"identical trees, {name} {task}", equal, len(settings), 1)


def max_features_suite(options):
    """50,000 x 50, max_features="sqrt", full depth, five seeds"""
    X, y = data.classification(50_000, 50)
    pairs = [make_pair("classification", max_features="sqrt", random_state=k) for k in range(5)]

    def fit_all(estimators):
        return [estimator.fit(X, y) for estimator in estimators]

    theirs, ours = (partial(fit_all, estimators) for estimators in zip(*pairs))
    yield Race("max_features=sqrt, 5 seeds", theirs, ours, 3)


def small_suite(options):
    """fit on 150 rows and predict on one: the fixed costs"""
    X, y = load_iris(return_X_y=True)
    yield race_fits("iris fit", X, y, "classification", 1, repeats=500)
    X, y = sklearn.datasets.load_diabetes(return_X_y=True)
    yield race_fits("diabetes[:150] fit", X[:150], y[:150], "regression", 1, repeats=500)
    for task in ESTIMATORS:
        theirs, ours = (e.fit(X[:150], (y[:150] // 50)) for e in make_pair(task))
        calls = partial(theirs.predict, X[:1]), partial(ours.predict, X[:1])
        yield Race(f"predict one row, {task}", *calls, 1, repeats=2000)


def race_forests(name, X, y, task, wanted, kind="RandomForest"):
    """Ten trees, default parameters."""
    kind += ESTIMATORS[task].removeprefix("DecisionTree")
    theirs, ours = (
        getattr(import_module(f"{library}.ensemble"), kind)(n_estimators=10, random_state=0)
        for library in ("sklearn", "fasttree")
    )
    return Race(f"forest, {name}", partial(theirs.fit, X, y), partial(ours.fit, X, y), wanted)


def forests_suite(options):
    """Random forests of ten trees on tables (needs --data) and continuous columns"""
    X, y = data.classification()
    yield race_forests("dense classification", X, y, "classification", 12)
    yield race_forests("dense regression", X, data.continuous_target(X), "regression", 15)
    races = {task: [] for task in ESTIMATORS}
    for name in data.TABLES if options.data else ():
        X, y, task = data.read_table(options.data, name)
        races[task].append(race_forests(name, X, y, task, 3 if task == "classification" else 4))
        yield races[task][-1]
    for task, wanted in (("classification", 5), ("regression", 7)):
        if races[task]:
            yield Mean(f"forests, {task}, geometric mean", races[task], wanted)


def random_suite(options):
    """Random thresholds: ten extra-trees per table, single trees (needs --data)"""
    races = []
    for name in data.TABLES if options.tables is None else options.tables:
        X, y, task = data.read_table(options.data, name)
        races.append(race_forests(f"extra-trees, {name}", X, y, task, 3, "ExtraTrees"))
        yield races[-1]
    yield Mean("extra-trees, geometric mean", races, 5)
    X, y = data.classification()
    drawn = {"splitter": "random", "max_features": "sqrt"}
    yield race_fits("extra tree", X, y, "classification", 4, **drawn)
    X, y = data.classification(200_000)
    for task, target in (("classification", y), ("regression", data.continuous_target(X))):
        yield race_fits(f"splitter=random, {task}", X, target, task, 3, splitter="random")


def outputs_suite(options):
    """20,000 x 10 continuous columns: 20 and 100 numbers, 20 targets of three classes"""
    X, _ = data.classification(20_000, 10)
    for task, n_outputs, wanted in (
        ("regression", 20, 3),
        ("regression", 100, 3),
        ("classification", 20, 5),
    ):
        y = data.many_targets(X, n_outputs)
        if task == "classification":
            y = np.digitize(y, np.quantile(y, [1 / 3, 2 / 3]))
        yield race_fits(f"{n_outputs} outputs, {task}", X, y, task, wanted)


def one_hot_suite(options):
    """One-hot tables: float32, and other forms against it; adult, kdd99 with --data"""
    import pandas as pd

    forms = {
        "bool": lambda X: X.astype(bool),
        "frame of booleans": lambda X: pd.DataFrame(X.astype(bool)),
        "CSC": scipy.sparse.csc_matrix,
        "CSR": scipy.sparse.csr_matrix,
    }
    X, y = data.three_valued()
    problems = [("three values", X, y, 10)]
    for name, wanted in (("adult", 13), ("kdd99_10pct", 9)) if options.data else ():
        frame, y, _ = data.read_one_hot(options.data, name)
        problems.append((name, frame.to_numpy(np.float32), y, wanted))
    for name, X, y, wanted in problems:
        shape = "{} x {}".format(*X.shape)
        yield race_fits(f"one-hot {name} {shape}", X, y, "classification", wanted)
        fit = fasttree.tree.DecisionTreeClassifier(random_state=0).fit
        for form, other in forms.items():
            matrix, ours = partial(fit, X, y), partial(fit, other(X), y)
            yield Race(f"one-hot {name}, {form}", matrix, ours, 1 / 1.5)


SUITES = {
    "dense": dense_suite,
    "tables": tables_suite,
    "criteria": criteria_suite,
    "threads": threads_suite,
    "growth": growth_suite,
    "memory": memory_suite,
    "predict": predict_suite,
    "strategies": strategies_suite,
    "max_features": max_features_suite,
    "forests": forests_suite,
    "random": random_suite,
    "outputs": outputs_suite,
    "onehot": one_hot_suite,
    "busy": busy_suite,
    "small": small_suite,
}


def save(folder, suite, lines):
    """Write the lines as the table of the benchmark page, and what they were measured on."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / f"{suite}.csv", "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        for line in lines:
            numbers = (f"{value:.3g}" for value in (line.theirs, line.ours, line.ratio))
            writer.writerow([line.name, *numbers])
    (folder / "machine.txt").write_text(describe_machine() + "\n")


def parse_options(arguments, suites):
    parser = argparse.ArgumentParser(description="fasttree beside scikit-learn: ratios.")
    parser.add_argument("suites", nargs="*", help="names, or all", metavar="SUITE")
    parser.add_argument("--list", action="store_true", help="name the suites and stop")
    parser.add_argument("--data", default=os.environ.get("FASTTREE_DATA"), metavar="FOLDER")
    parser.add_argument("--text", default=os.environ.get("FASTTREE_TEXT"), metavar="FILE")
    parser.add_argument("--tables", nargs="+", metavar="NAME", help="tables, or all")
    parser.add_argument("--repeats", type=int, default=3, metavar="K")
    parser.add_argument(
        "--cpu",
        dest="clock",
        action="store_const",
        const=time.process_time,
        default=time.perf_counter,
        help="CPU time for what runs on one thread, on a machine that is not idle",
    )
    parser.add_argument("--simd", choices=SIMD, default="auto", help="fasttree's instruction set")
    parser.add_argument("--save", type=Path, metavar="FOLDER", help="write one table per suite")
    options = parser.parse_args(arguments)
    if options.suites == ["all"]:
        options.suites = list(suites)
    for suite in options.suites:
        if suite not in suites:
            parser.error(f"unknown suite {suite!r}; known: {', '.join(suites)}")
        for option in ("data", "text"):
            if f"(needs --{option})" in suites[suite].__doc__ and not getattr(options, option):
                parser.error(f"the suite {suite!r} needs --{option}")
    return options


def main(arguments=None, suites=SUITES, prefix=""):
    """Run suites; `prefix` begins the names of the files that --save writes."""
    options = parse_options(arguments, suites)
    if options.list or not options.suites:
        for name, suite in suites.items():
            print(f"{name:<14}{suite.__doc__}")
        return 0
    fasttree.set_config(simd=options.simd)
    print(f"{describe_machine()}, simd {options.simd}, load {os.getloadavg()[0]:.2f}")
    print(f"{'':<42}{'theirs':>12}{'ours':>12}{'ratio':>9}{'wanted':>8}")
    short = []
    for suite in options.suites:
        lines = []
        for item in suites[suite](options):
            line = item if isinstance(item, Line) else item.run(options)
            print(line, flush=True)
            lines.append(line)
        short += [line.name for line in lines if line.ratio < line.wanted]
        if options.save:
            save(options.save, prefix + suite, lines)
    if short:
        print(f"short: {', '.join(short)}")
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main())
