"""scikit-learn's forests, from fasttree's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sklearn.ensemble
import sklearn.tree
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from fasttree.table._encoder import table_encoder
from fasttree.tree.fitted._interop import (
    CategoricalSplitEncoder,
    fitted_twin,
    reads_matrix,
    to_sklearn_tree,
)

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

__all__ = ["ToSklearn"]

# What scikit-learn draws the rows of `estimators_samples_` from.
_SAMPLES = ("_n_samples", "_n_samples_bootstrap", "_sample_weight")


class ToSklearn:
    """The method of the forests that returns one of scikit-learn's."""

    if TYPE_CHECKING:
        estimators_: list

    def to_sklearn(self) -> BaseEstimator | Pipeline:
        """Return a fitted forest of scikit-learn's with the same trees.

        Returns
        -------
        estimator or Pipeline
            Of scikit-learn's class of the same name, or of the class that this one derives from;
            its trees are scikit-learn's own. If the fit read a table of texts, booleans or
            objects, or was given `missing_values`, a pipeline whose last step is such a forest: the
            first turns tables into numbers, with a column for each question about categories that
            a tree asks. The nodes keep their numbers.
        """
        check_is_fitted(self)
        trees = self.estimators_
        forest = fitted_twin(self, sklearn.ensemble)
        forest.estimator_ = forest.estimator
        for name in _SAMPLES:
            setattr(forest, name, getattr(self, name))
        forest.estimators_ = [fitted_twin(tree, sklearn.tree) for tree in trees]
        if table_encoder(self) is None:
            for twin, tree in zip(forest.estimators_, trees):
                twin.tree_ = to_sklearn_tree(tree.tree_)
            return forest
        encoder = CategoricalSplitEncoder(self)
        questions, places = encoder.questions()
        for twin, tree, of_tree in zip(forest.estimators_, trees, places):
            twin.tree_ = to_sklearn_tree(tree.tree_, len(questions), of_tree)
            reads_matrix(twin, len(questions))
        reads_matrix(forest, len(questions))
        return Pipeline([("encoder", encoder), ("forest", forest)])
