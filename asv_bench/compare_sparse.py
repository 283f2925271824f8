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
from compare import Line, Race, make_pair, race_fits, race_threads
from peak import in_new_process

from benchmarks import data

DEPTHS = {"stump": 1, "depth 10": 10, "full": None}


def text_suite(options):
    """The collection as tf-idf: stump, depth 10, full tree (needs --text)"""
    X, y = data.read_text(options.text)
    for (name, depth), wanted in zip(DEPTHS.items(), (1.5, 8, 18), strict=True):
        yield race_fits(f"text, {name}", X, y, "classification", wanted, max_depth=depth)


def threads_suite(options):
    """n_jobs=2 against n_jobs=1 on the full tree (needs --text)"""
    X, y = data.read_text(options.text)
    yield race_threads("text, two threads", X, y, 1.6)


def criteria_suite(options):
    """The collection otherwise: counts, two classes, entropy, sqrt, a quantity (needs --text)"""
    X, y = data.read_text(options.text)
    counts, _ = data.read_text(options.text, tfidf=False)
    two = (y < 10).astype(int)
    yield race_fits("counts, full", counts, y, "classification", 18)
    yield race_fits("two classes, full", X, two, "classification", 18)
    yield race_fits(
        "entropy, depth 10", X, y, "classification", 8, max_depth=10, criterion="entropy"
    )
    yield race_fits("max_features=sqrt, full", X, y, "classification", 1, max_features="sqrt")
    yield race_fits(
        "splitter=random, depth 10", X, y, "classification", 1, max_depth=10, splitter="random"
    )
    noisy = y + np.random.default_rng(0).normal(size=len(y))
    yield race_fits("squared_error, depth 10", X, noisy, "regression", 8, max_depth=10)


def slice_suite(options):
    """1,000 documents x 5,000 frequent terms: against the dense engines (needs --text)"""
    X, y = data.frequent_part(*data.read_text(options.text))
    wanted = {"stump": 20, "depth 10": 50, "full": 1}
    for name, depth in DEPTHS.items():
        sparse = partial(make_pair("classification", max_depth=depth)[1].fit, X, y)
        for order in ("C", "F"):
            dense = X.toarray(order=order)
            theirs, ours = make_pair("classification", max_depth=depth)
            for library, estimator, ratio in (
                ("scikit-learn", theirs, wanted[name]),
                ("fasttree", ours, 1),
            ):
                fit = partial(estimator.fit, dense, y)
                yield Race(f"{library} dense ({order}), {name}", fit, sparse, ratio, repeats=10)


def zipf_suite(options):
    """Generated text: sizes, numbers of classes, kinds of values, a quantity"""
    for n_documents, n_terms in ((2_000, 20_000), (20_000, 100_000)):
        for values in ("tfidf", "counts", "binary"):
            for n_classes in (2, 20):
                X, y = data.zipf_text(n_documents, n_terms, n_classes, values)
                name = f"{n_documents:,} {values}, {n_classes} classes, "
                for (label, depth), wanted in zip(DEPTHS.items(), (1.5, 8, 18), strict=True):
                    yield race_fits(name + label, X, y, "classification", wanted, max_depth=depth)
        X, y = data.zipf_text(n_documents, n_terms)
        y = y + np.random.default_rng(0).normal(size=len(y))
        name = f"{n_documents:,} tfidf, squared_error, depth 10"
        yield race_fits(name, X, y, "regression", 8, max_depth=10)


def peak_of_fit(path, library, strategy):
    """Peak memory of a fit above what stood before it, as a multiple of the CSC matrix."""
    X, y = data.read_text(path)
    size = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    return compare.peak_above(X, y, library, strategy) / size


def memory_suite(options):
    """Peak memory above the input as a multiple of the CSC matrix (needs --text)"""
    for strategy in ("presort", "sort"):
        theirs = in_new_process(peak_of_fit, options.text, "scikit-learn", None)
        ours = in_new_process(peak_of_fit, options.text, "fasttree", strategy)
        yield Line(f"memory, {strategy}", theirs, ours, theirs / 4)


def predict_suite(options):
    """predict on the CSR matrix with the full tree, one and two threads (needs --text)"""
    X, y = data.read_text(options.text)
    theirs, ours = make_pair("classification")
    ours.fit(X, y)
    rows = X.tocsr()

    def predict(n_jobs):
        return ours.set_params(n_jobs=n_jobs).predict(rows)

    one, two = partial(predict, 1), partial(predict, 2)
    their_predict, prepare = partial(theirs.predict, rows), partial(theirs.fit, X, y)
    yield Race("predict, one thread", their_predict, one, 1, repeats=10, prepare=prepare)
    yield Race("predict, two threads", their_predict, two, 1.5, repeats=10, is_serial=False)
    yield Race("predict, two threads against one", one, two, 1, repeats=10, is_serial=False)


SUITES = {
    "text": text_suite,
    "threads": threads_suite,
    "criteria": criteria_suite,
    "slice": slice_suite,
    "zipf": zipf_suite,
    "memory": memory_suite,
    "predict": predict_suite,
}


if __name__ == "__main__":
    sys.exit(compare.main(suites=SUITES, prefix="sparse_"))
