"""What the suites share: the two libraries as a parameter, and the sizes."""

import os

import sklearn.tree

import fasttree.tree

LIBRARIES = ("fasttree", "scikit-learn")

#: Sizes are small so that a run takes minutes; FASTTREE_BENCH=large gives those of the
#: benchmark page.
LARGE = os.environ.get("FASTTREE_BENCH") == "large"

_TREES = {"fasttree": fasttree.tree, "scikit-learn": sklearn.tree}
_ESTIMATORS = {
    "classification": "DecisionTreeClassifier",
    "regression": "DecisionTreeRegressor",
}


def sizes(small, large):
    """The small sizes, or small and large ones in a large run."""
    return [*small, *large] if LARGE else list(small)


def make_estimator(library, task, **params):
    """The library's decision tree for the task, seeded."""
    params.setdefault("random_state", 0)
    return getattr(_TREES[library], _ESTIMATORS[task])(**params)
