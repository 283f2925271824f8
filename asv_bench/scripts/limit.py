"""How close a fit comes to the machine: bytes touched, time and bandwidth of each of its phases.

    python asv_bench/scripts/limit.py [--data FOLDER] [--repeats N] [--save FILE.csv]

One thread. The bandwidth is what NumPy reaches when it copies an array that is far larger than the
caches, read and written bytes together. The time of a phase is measured from outside: encoding and
the checks of a sparse matrix alone, and a few levels of a tree as what a larger `max_depth` adds,
because the tree of a smaller one is its top. The bytes of a phase are those that its algorithm
cannot do without, by the models below; so the share of the bandwidth tells how much is left to gain
by a better program, if the data does not fit a cache. FOLDER holds covertype.csv.xz; without it
there is no table.
"""

import argparse
import csv
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.sparse as sp

sys.path.append(str(Path(__file__).resolve().parents[1]))

from benchmarks import data
from fasttree.tree import DecisionTreeClassifier, DecisionTreeRegressor, EncodedData
from fasttree.utils._finite import value_kind

MEGABYTE = 1e6
COPIED = 1 << 28  # bytes, far more than a cache holds
LEVELS = (4, 8, 16, None)  # limits of the depth
LISTED, COUNTED, BITS = "sorted lists", "codes", "bits"
MAX_COUNTED, MIN_BIT_COLUMNS = 256, 16  # values of a column in codes; columns of two values

# Bytes per cell. A sort in buckets: values are read and become keys; these are read three times
# until the places of rows are in buckets; then places and keys are read and the list is written.
ENCODED = {LISTED: 4 + 4 + 3 * 4 + 4 + 2 * 4 + 4, COUNTED: 4 + 1 + 2, BITS: 4 + 1 / 8}
# A level reads a list to scan it and reads and writes it to divide it; codes are read for the
# smaller child only, the other is what is left of the parent.
SEARCHED = {LISTED: 4 + 8, COUNTED: 1 / 2, BITS: 1 / 16}
NONZERO = 4 + 8  # a sparse level: read to be counted, read and written to be divided


def least(function, repeats):
    """The shortest time of a few calls, in seconds."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def bandwidth(repeats):
    """Bytes per second that a copy reads and writes."""
    source = np.ones(COPIED // 8)
    target = np.zeros_like(source)
    return 2 * COPIED / least(lambda: np.copyto(target, source), repeats)


@dataclass
class Case:
    """Data, and what the bytes of a fit on it depend on."""

    name: str
    X: object
    y: np.ndarray
    is_classified: bool = True

    def tree(self, max_depth):
        kind = DecisionTreeClassifier if self.is_classified else DecisionTreeRegressor
        return kind(max_depth=max_depth, random_state=0)

    def with_two_classes(self):
        return self.is_classified and len(np.unique(self.y)) == 2

    def target_bytes(self):
        """Bytes of a row's target: a bit of two classes, a byte of more, or a sum."""
        if not self.is_classified:
            return 8
        return 1 / 8 if self.with_two_classes() else 1

    def ways(self):
        """In which way every column is kept."""
        n_values = [len(np.unique(column)) for column in self.X.T]
        with_bits = n_values.count(2) >= MIN_BIT_COLUMNS
        return [
            BITS if n == 2 and with_bits else COUNTED if n <= MAX_COUNTED else LISTED
            for n in n_values
        ]

    def bytes_of_encoding(self):
        if sp.issparse(self.X):
            return NONZERO * self.X.nnz
        return len(self.y) * sum(ENCODED[way] for way in self.ways())

    def bytes_of_a_row(self):
        """Bytes that a level touches for each of its rows."""
        if sp.issparse(self.X):
            return self.X.nnz / len(self.y) * (NONZERO + self.target_bytes())
        ways = self.ways()
        # A list scatters rows, so the target is read anew for each, but for two classes, which
        # lists hold themselves; other columns share it.
        n_lists = 0 if self.with_two_classes() else ways.count(LISTED)
        return sum(SEARCHED[way] for way in ways) + self.target_bytes() * (n_lists + 1)


def rows_of_levels(tree):
    """Number of rows in nodes that are split, by their depth."""
    depth = np.zeros(tree.node_count, int)
    for node in np.flatnonzero(tree.children_left >= 0):
        depth[[tree.children_left[node], tree.children_right[node]]] = depth[node] + 1
    is_split = tree.children_left >= 0
    return np.bincount(depth[is_split], tree.n_node_samples[is_split])


def phases(case, repeats):
    """Yield the name of each phase, its seconds and its bytes."""
    values = case.X.data[:, np.newaxis] if sp.issparse(case.X) else case.X
    checks = least(lambda: value_kind(values), repeats)
    encoding = least(lambda: EncodedData.borrowed(case.X).prepare(n_jobs=1), repeats) - checks
    before, first = encoding, 0
    if sp.issparse(case.X):  # others are checked as they are encoded
        yield "checks X", checks, case.X.data.nbytes
        before += checks
    yield "encodes X", encoding, case.bytes_of_encoding()
    rows = rows_of_levels(case.tree(None).fit(case.X, case.y).tree_)
    for limit in LEVELS:
        last = len(rows) if limit is None else min(limit, len(rows))
        if last == first:
            break
        until = least(lambda limit=limit: case.tree(limit).fit(case.X, case.y), repeats)
        name = f"levels {first + 1} to {last}"
        yield name, until - before, case.bytes_of_a_row() * rows[first:last].sum()
        before, first = until, last


def cases(folder):
    yield Case("continuous", *data.classification())
    yield Case("continuous, regression", *data.regression(), is_classified=False)
    if folder is not None:
        yield Case("covertype", *data.read_table(folder, "covertype")[:2])
    yield Case("one-hot", *data.three_valued())
    X, y = data.random_sparse(100_000, 0.01)
    yield Case("sparse", X, y)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", metavar="FOLDER", help="where covertype.csv.xz is")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--save", metavar="FILE.csv")
    options = parser.parse_args()
    speed = bandwidth(options.repeats)
    print(f"a copy reads and writes {speed / 1e9:.1f} GB/s")
    lines = []
    for case in cases(options.data):
        for phase, seconds, n_bytes in phases(case, options.repeats):
            share = n_bytes / seconds / speed
            lines.append((case.name, phase, f"{seconds * 1e3:.1f}", f"{n_bytes / MEGABYTE:.1f}",
                          f"{n_bytes / seconds / 1e9:.2f}", f"{share:.2f}"))  # fmt: skip
            print("{:24}{:18}{:>8} ms{:>9} MB{:>8} GB/s{:>7}".format(*lines[-1]), flush=True)
    if options.save is not None:
        with open(options.save, "w", newline="") as file:
            csv.writer(file).writerows([("copy", "", "", "", f"{speed / 1e9:.2f}", "1"), *lines])


if __name__ == "__main__":
    main()
