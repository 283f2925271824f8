"""Sparse trees beside scikit-learn: the table of ratios.

    python asv_bench/compare_sparse.py --list
    python asv_bench/compare_sparse.py text slice predict --text FILE --cpu
    python asv_bench/compare_sparse.py all --text FILE --save doc/benchmarks

FILE is an NPZ of the CSR arrays `data`, `indices`, `indptr` and `shape` of word counts, and `y`.
Full trees, default parameters, one thread unless said; contestants take turns and each line is
the minimum of a few runs. Both libraries see the same float32 CSC matrix unless said.
"""

import sys
from functools import partial

import compare
import numpy as np
from compare import Line, alternate, compare_fit, make_pair

from benchmarks import data

DEPTHS = {"stump": 1, "depth 10": 10, "full": None}


def bar1_text(options):
    """The collection as tf-idf: stump, depth 10, full tree (needs --text)"""
    X, y = data.read_text(options.text)
    for (name, depth), wanted in zip(DEPTHS.items(), (1.5, 8, 18), strict=True):
        yield compare_fit(options, f"text, {name}", X, y, "classification", wanted, max_depth=depth)


def bar2_threads(options):
    """n_jobs=2 against n_jobs=1 on the full tree (needs --text)"""
    X, y = data.read_text(options.text)
    yield compare.compare_threads("text, two threads", X, y, 1.6, options.repeats)


def bar3_criteria(options):
    """The collection otherwise: counts, two classes, entropy, sqrt, a quantity (needs --text)"""
    X, y = data.read_text(options.text)
    counts, _ = data.read_text(options.text, tfidf=False)
    two = (y < 10).astype(int)
    fit = partial(compare_fit, options)
    yield fit("counts, full", counts, y, "classification", 18)
    yield fit("two classes, full", X, two, "classification", 18)
    yield fit("entropy, depth 10", X, y, "classification", 8, max_depth=10, criterion="entropy")
    yield fit("max_features=sqrt, full", X, y, "classification", 1, max_features="sqrt")
    yield fit(
        "splitter=random, depth 10", X, y, "classification", 1, max_depth=10, splitter="random"
    )
    noisy = y + np.random.default_rng(0).normal(size=len(y))
    yield fit("squared_error, depth 10", X, noisy, "regression", 8, max_depth=10)


def bar4_slice(options):
    """1,000 documents x 5,000 frequent terms: against the dense engines (needs --text)"""
    X, y = data.frequent_part(*data.read_text(options.text))
    wanted = {"stump": 20, "depth 10": 50, "full": 1}
    for order in ("C", "F"):
        dense = X.toarray(order=order)
        for name, depth in DEPTHS.items():
            theirs, ours = make_pair("classification", max_depth=depth)
            other = make_pair("classification", max_depth=depth)[1]
            times = alternate(
                max(options.repeats, 10),
                partial(theirs.fit, dense, y),
                partial(ours.fit, X, y),
                partial(other.fit, dense, y),
                clock=options.clock,
            )
            yield Line(f"scikit-learn dense ({order}), {name}", *times[:2], wanted[name])
            yield Line(f"fasttree dense ({order}), {name}", times[2], times[1], 1)


def bar5_zipf(options):
    """Generated text: sizes, numbers of classes, kinds of values, a quantity"""
    for n_documents, n_terms in ((2_000, 20_000), (20_000, 100_000)):
        for values in ("tfidf", "counts", "binary"):
            for n_classes in (2, 20):
                X, y = data.zipf_text(n_documents, n_terms, n_classes, values)
                name = f"{n_documents:,} {values}, {n_classes} classes, "
                for (label, depth), wanted in zip(DEPTHS.items(), (1.5, 8, 18), strict=True):
                    yield compare_fit(
                        options, name + label, X, y, "classification", wanted, max_depth=depth
                    )
        X, y = data.zipf_text(n_documents, n_terms)
        y = y + np.random.default_rng(0).normal(size=len(y))
        name = f"{n_documents:,} tfidf, squared_error, depth 10"
        yield compare_fit(options, name, X, y, "regression", 8, max_depth=10)


def peak_of_fit(path, library, strategy):
    """Peak memory of a fit above what stood before it, as a multiple of the CSC matrix."""
    X, y = data.read_text(path)
    size = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    return compare.peak_above(X, y, library, strategy) / size


def bar6_memory(options):
    """Peak memory above the input as a multiple of the CSC matrix (needs --text)"""
    for strategy in ("presort", "sort"):
        theirs = compare.in_new_process(peak_of_fit, options.text, "scikit-learn", None)
        ours = compare.in_new_process(peak_of_fit, options.text, "fasttree", strategy)
        yield Line(f"memory, {strategy}", theirs, ours, theirs / 4)


def bar7_predict(options):
    """predict on the CSR matrix with the full tree, one and two threads (needs --text)"""
    X, y = data.read_text(options.text)
    theirs, ours = make_pair("classification")
    theirs.fit(X, y)
    ours.fit(X, y)
    rows = X.tocsr()

    def predict(n_jobs):
        ours.set_params(n_jobs=n_jobs).predict(rows)

    one, two = partial(predict, 1), partial(predict, 2)
    repeats = max(options.repeats, 10)
    times = alternate(repeats, partial(theirs.predict, rows), one, clock=options.clock)
    yield Line("predict, one thread", *times, 1)
    times = alternate(repeats, partial(theirs.predict, rows), one, two)
    yield Line("predict, two threads", times[0], times[2], 1.5)
    yield Line("predict, two threads against one", times[1], times[2], 1)


BARS = {
    "text": bar1_text,
    "threads": bar2_threads,
    "criteria": bar3_criteria,
    "slice": bar4_slice,
    "zipf": bar5_zipf,
    "memory": bar6_memory,
    "predict": bar7_predict,
}


if __name__ == "__main__":
    sys.exit(compare.main(bars=BARS, prefix="sparse_"))
