"""What a forest sends to the workers of a dask cluster, and what they send back.

    python asv_bench/scripts/bytes_over_the_wire.py --data FOLDER [--table NAME] [--trees N]

Two worker processes of one thread each. Every worker counts the bytes that it reads from and
writes to its connections during a fit, after a small one has settled what is common to all.
"encoded" is a fit on `EncodedData` that was prepared before, which takes its codes along.
"""

import argparse
import sys
import time
import warnings
from pathlib import Path

import joblib
import numpy as np
from distributed import Client, LocalCluster

sys.path.append(str(Path(__file__).resolve().parents[1]))

from benchmarks import data
from fasttree.ensemble import RandomForestClassifier
from fasttree.tree import EncodedData

MEGABYTE = 1e6


def count_bytes():
    """Make this worker count; called there."""
    from distributed.comm import tcp

    if hasattr(tcp, "counted_bytes"):
        return
    tcp.counted_bytes = {"read": 0, "written": 0}
    read, write = tcp.read_bytes_rw, tcp.TCP.write

    async def counted_read(stream, n):
        tcp.counted_bytes["read"] += n
        return await read(stream, n)

    async def counted_write(self, msg, *args, **kwargs):
        n = await write(self, msg, *args, **kwargs)
        tcp.counted_bytes["written"] += n
        return n

    tcp.read_bytes_rw, tcp.TCP.write = counted_read, counted_write


def take_bytes():
    """Return the worker's counts and begin anew; called there."""
    from distributed.comm import tcp

    counts = dict(tcp.counted_bytes)
    tcp.counted_bytes.update(read=0, written=0)
    return counts


def fit_on(client, forest, X, y):
    client.run(take_bytes)
    start = time.perf_counter()
    with joblib.parallel_config("dask"):
        forest.fit(X, y)
    seconds = time.perf_counter() - start
    return seconds, client.run(take_bytes)


def same_trees(a, b):
    pairs = zip(a.estimators_, b.estimators_)
    return all(np.array_equal(left.tree_.nodes, right.tree_.nodes) for left, right in pairs)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True)
    parser.add_argument("--table", default="covertype")
    parser.add_argument("--trees", type=int, default=40)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    X, y, _ = data.read_table(options.data, options.table)
    start = time.perf_counter()
    expected = RandomForestClassifier(options.trees, random_state=0).fit(X, y)
    alone = time.perf_counter() - start
    n_nodes = sum(tree.tree_.node_count for tree in expected.estimators_)
    print(f"{options.table}: X {X.shape}, {X.nbytes / MEGABYTE:.1f} MB; {n_nodes} nodes")
    print(f"one process, one thread: {alone:.2f} s")
    encoded = EncodedData(X)
    encoded.prepare()
    with (
        LocalCluster(2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        client.run(count_bytes)
        fit_on(client, RandomForestClassifier(2), X[:100], y[:100])
        for name, rows in (("X", X), ("encoded", encoded)):
            forest = RandomForestClassifier(options.trees, random_state=0)
            seconds, counts = fit_on(client, forest, rows, y)
            print(f"{name}: {seconds:.2f} s, same forest: {same_trees(forest, expected)}")
            for number, worker in enumerate(counts.values()):
                read, written = worker["read"] / MEGABYTE, worker["written"] / MEGABYTE
                share = read * MEGABYTE / X.nbytes
                print(
                    f"  worker {number}: read {read:.1f} MB, {share:.2f} of X; wrote {written:.1f}"
                )


if __name__ == "__main__":
    main()
