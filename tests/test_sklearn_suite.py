"""scikit-learn's tree tests against fasttree: the modes, and the exceptions by name.

See ``sklearn_suite.py``. Each exception has its reason; an entry that is no longer needed fails.
"""

import re

import sklearn_suite

MODES = {"stream": {"sklearn_random_stream": True}, "default": {}}

# Tests of scikit-learn's private helpers that fasttree has no use for.
PRIVATE = {}

# Mode -> regular expression of test names -> reason.
EXCEPTIONS = {"stream": {}, "default": {}}


def exception(mode, test):
    """The reason why a test need not pass in a mode, or None."""
    found = [why for name, why in EXCEPTIONS[mode].items() if re.fullmatch(name, test)]
    return found[0] if found else None


def test_the_whole_suite_is_collected(request):
    """804 tests in scikit-learn 1.9.1, in each mode."""
    modules = list(request.node.getparent(sklearn_suite.Suite).retargeted_modules())
    counts = dict.fromkeys(MODES, 0)
    for module in modules:
        counts[module.mode] += len(list(module.collect()))
    assert counts == dict.fromkeys(MODES, 804)
