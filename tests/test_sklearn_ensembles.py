"""scikit-learn's tests of forests, and of other ensembles with fasttree's trees.

See ``sklearn_suite.py``. Each exception has its reason; an entry that is no longer needed fails.
"""

import re

IGNORED_WARNINGS = ["RuntimeWarning", "UserWarning"]
MODES = {"stream": {"sklearn_random_stream": True}, "default": {}}
FORESTS = ["ensemble/tests/test_forest.py", "ensemble/tests/test_iforest.py"]
OTHERS = ["ensemble/tests/test_bagging.py", "ensemble/tests/test_weight_boosting.py"]
SOURCES = {"stream": FORESTS, "default": FORESTS + OTHERS}  # the others take minutes
PRIVATE = {}
GROW_NO_TREES = {"test_sparse_classification", "test_sparse_regression"}
EVERYWHERE = {
    "test_poisson_y_positive_check": "a forest refuses targets in the words of its trees",
    r"test_iforest_chunks_works[12].*": "counts the chunks of scikit-learn's loop over rows",
}
EXCEPTIONS = {
    "stream": EVERYWHERE,
    "default": {
        r"test_iforest_sparse_input_float_contamination.*": "with these draws two rows tie at the "
        "offset, in dense data as well",
        **EVERYWHERE,
    },
}


def exception(mode, test):
    """The reason why a test need not pass in a mode, or None."""
    found = [why for name, why in EXCEPTIONS[mode].items() if re.fullmatch(name, test)]
    return found[0] if found else None
