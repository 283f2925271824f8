"""scikit-learn's tree tests against fasttree: the modes, and the exceptions by name.

See ``sklearn_suite.py``. Each exception has its reason; an entry that is no longer needed fails.
"""

import re

import sklearn_suite

IGNORED_WARNINGS = ["RuntimeWarning"]  # logarithms of zero probabilities
MODES = {"stream": {"sklearn_random_stream": True}, "default": {}}
SOURCES = {mode: ["tree/tests/test_*.py"] for mode in MODES}

# Tests of scikit-learn's private helpers that fasttree has no use for.
GROW_NO_TREES = set()
PRIVATE = {
    "test_absolute_errors_precomputation_function": "the errors of MAE come from another algorithm",
    "test_build_pruned_tree_infinite_loop": "pruning takes no mask of leaves from outside",
    "test_build_pruned_tree_py": "pruning takes no mask of leaves from outside",
    "test_buchheim": "plot_tree uses scikit-learn's layout",
    "test_cython_weighted_fenwick_tree": "no Fenwick tree is needed",
    "test_py_swap_array_slices_random": "missing rows are not moved around",
    "test_realloc": "memory is held in vectors",
    "test_rgb_to_hexstring": "exporters use scikit-learn's colours",
}

SPARSE_MISSING = {
    r"test_missing_value_errors.*": "sparse tables may hold missing values",
}
LAZY_MEMORY = {"test_huge_allocations": "memory is asked for as the tree grows, not in advance"}
NAMES = {"test_graphviz_toy": "class_names=True shows the names in classes_, not their symbols"}
TIE = "of two features that part the rows alike the first is taken, not one drawn"

# Mode -> regular expression of test names -> reason.
EXCEPTIONS = {
    "stream": SPARSE_MISSING | LAZY_MEMORY | NAMES,
    "default": SPARSE_MISSING
    | LAZY_MEMORY
    | NAMES
    | {
        r"test_export_text": TIE,
        r"test_export_text_feature_class_names_array_support.*": TIE,
        r"test_almost_constant_feature.*": "values closer than 1e-7 are told apart",
    },
}
N_TESTS = 804


def exception(mode, test):
    """The reason why a test need not pass in a mode, or None."""
    found = [why for name, why in EXCEPTIONS[mode].items() if re.fullmatch(name, test)]
    return found[0] if found else None


def test_the_whole_suite_is_collected(request):
    """scikit-learn 1.9.1 has 804 tests; each mode runs them."""
    counts = dict.fromkeys(MODES, 0)
    for module in request.node.getparent(sklearn_suite.Suite).modules:
        counts[module.mode] += len(module.collect())
    assert counts == dict.fromkeys(MODES, N_TESTS)
