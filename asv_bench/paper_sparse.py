"""Figures 2, 3, 4 and 6 of the sparse trees' paper, measured again with four contestants.

"Scalable Learning of Tree-Based Models on Sparsely Representable Data" (Hedayati, Joly and
Papadimitriou, 2016) compares a CSC matrix with a dense array in scikit-learn. Here fasttree joins,
and rows are fewer where a dense array would not fit:

* figure 2: 20 newsgroups as tf-idf, 1,000 documents, the columns that they use;
* figure 3: kdd99, a column per distinct value of every column, 2,000 rows (the paper's table is
  that of another year's cup);
* figure 4: adult, a column per label, all rows;
* figure 6: random matrices of 1,000 columns, 5,000 rows, depth 20.

    python asv_bench/paper_sparse.py FOLDER --text FILE --save doc/benchmarks

FOLDER holds tables as NAME.csv or NAME.csv.xz, FILE is as in compare_sparse.py. Times are of the
process, in milliseconds, the minimum of a few runs in which the contestants take turns.
"""

import argparse
import csv
import time
from functools import partial
from pathlib import Path

import numpy as np
from compare import alternate
from machine import describe_machine

from benchmarks import data
from benchmarks.sparse import CONTESTANTS, prepare

DEPTHS = (1, 2, 5, 10, None)
DENSITIES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5)


def milliseconds(X, y, repeats, **params):
    """Of each contestant."""
    fits = []
    for contestant in CONTESTANTS:
        estimator, form = prepare(contestant, X, y, random_state=0, **params)
        fits.append(partial(estimator.fit, form, y))
    return [1000 * t for t in alternate(repeats, *fits, clock=time.process_time)]


def used_columns(X):
    return X[:, np.flatnonzero(np.diff(X.indptr))]


def by_depth(X, y, repeats):
    density = X.nnz / np.prod(X.shape)
    print(f"{X.shape[0]:,} x {X.shape[1]:,}, density {density:.4f}, {len(np.unique(y))} classes")
    for depth in DEPTHS:
        yield "full" if depth is None else depth, milliseconds(X, y, repeats, max_depth=depth)


def figure2(options):
    X, y = data.read_text(options.text)
    X, y = data.frequent_part(X, y, 1_000, X.shape[1])
    return by_depth(used_columns(X), y, options.repeats)


def figure3(options):
    X, y = data.one_hot(options.folder, "kdd99_10pct", numbers=True)
    rows = np.random.default_rng(0).permutation(X.shape[0])[:2_000]
    return by_depth(used_columns(X.tocsr()[rows].tocsc()), y[rows], options.repeats)


def figure4(options):
    return by_depth(*data.one_hot(options.folder, "adult"), options.repeats)


def figure6(options):
    for density in DENSITIES:
        X, y = data.random_sparse(5_000, density)
        yield density, milliseconds(X, y, options.repeats, max_depth=20)


FIGURES = {"2": figure2, "3": figure3, "4": figure4, "6": figure6}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--text", type=Path, required=True, metavar="FILE")
    parser.add_argument("--figures", nargs="+", choices=FIGURES, default=FIGURES)
    parser.add_argument("--repeats", type=int, default=2, metavar="K")
    parser.add_argument("--save", type=Path, metavar="FOLDER")
    options = parser.parse_args()
    print(describe_machine())
    for figure in options.figures:
        print(f"figure {figure}: {', '.join(CONTESTANTS)}, ms")
        rows = []
        for case, times in FIGURES[figure](options):
            rows.append([case, *(f"{t:.3g}" if t < 1000 else f"{t:.0f}" for t in times)])
            print(*rows[-1], sep="\t", flush=True)
        if options.save:
            with open(options.save / f"sparse_figure{figure}.csv", "w", newline="") as file:
                csv.writer(file, lineterminator="\n").writerows(rows)


if __name__ == "__main__":
    main()
