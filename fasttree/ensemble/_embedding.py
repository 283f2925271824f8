"""Totally random trees as a transformer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sklearn.ensemble
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils import check_random_state

from fasttree._sklearn_compat import fit_context, num_samples
from fasttree.ensemble._base import CONSTRAINTS, Forest
from fasttree.ensemble._docs import document_forest
from fasttree.tree._classes import ExtraTreeRegressor

if TYPE_CHECKING:
    from typing import Self

    from fasttree._typing import (
        CategoricalFeatures,
        CategoricalSplit,
        ColumnLike,
        FloatArray,
        MatrixLike,
        MissingValues,
        RandomState,
        Sparse,
    )

__all__ = ["RandomTreesEmbedding"]


@document_forest("regression", with_oob=False)
class RandomTreesEmbedding(Forest, sklearn.ensemble.RandomTreesEmbedding):
    """The leaves that rows fall into in random trees, one-hot encoded.

    A drop-in replacement for :class:`sklearn.ensemble.RandomTreesEmbedding`. The trees do not use a
    target: each node splits one random feature at a random threshold.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    one_hot_encoder_ : OneHotEncoder
        Makes columns of the leaves.
    {attributes}

    See Also
    --------
    ExtraTreesRegressor : Random thresholds, chosen by the target.

    Notes
    -----
    The trees are grown on random numbers in place of a target, so what they say of it, such as
    `feature_importances_`, which scikit-learn has too, means nothing.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from fasttree.ensemble import RandomTreesEmbedding
    >>> X, _ = load_iris(return_X_y=True)
    >>> embedding = RandomTreesEmbedding(n_estimators=10, max_depth=3, random_state=0)
    >>> embedding.fit_transform(X).sum(axis=1).max()
    np.float64(10.0)
    """

    _parameter_constraints: dict = {
        **sklearn.ensemble.RandomTreesEmbedding._parameter_constraints,
        **CONSTRAINTS,
    }

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        max_depth: int | None = 5,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        sparse_output: bool = True,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
        warm_start: bool = False,
        categorical_features: CategoricalFeatures = "from_dtype",
        categorical_split: CategoricalSplit = "equality",
        missing_values: MissingValues = None,
    ) -> None:
        super().__init__(
            n_estimators=n_estimators,
            max_depth=max_depth,
            min_samples_split=min_samples_split,
            min_samples_leaf=min_samples_leaf,
            min_weight_fraction_leaf=min_weight_fraction_leaf,
            max_leaf_nodes=max_leaf_nodes,
            min_impurity_decrease=min_impurity_decrease,
            sparse_output=sparse_output,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
            warm_start=warm_start,
        )
        self._complete_init(
            ExtraTreeRegressor(),
            categorical_features=categorical_features,
            categorical_split=categorical_split,
            missing_values=missing_values,
        )

    def fit(self, X: MatrixLike, y: object = None, sample_weight: ColumnLike | None = None) -> Self:
        """Grow the trees.

        Parameters
        ----------
        X : array-like, sparse matrix, table or EncodedData of shape (n_samples, n_features)
            The rows.
        y : object, default=None
            Not used.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        RandomTreesEmbedding
            The fitted transformer.
        """
        self.fit_transform(X, y, sample_weight=sample_weight)
        return self

    @fit_context(prefer_skip_nested_validation=True)
    def fit_transform(
        self, X: MatrixLike, y: object = None, sample_weight: ColumnLike | None = None
    ) -> FloatArray | Sparse:
        """Grow the trees and return the embedding of the rows.

        Parameters
        ----------
        X : array-like, sparse matrix, table or EncodedData of shape (n_samples, n_features)
            The rows.
        y : object, default=None
            Not used.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        sparse matrix or ndarray of shape (n_samples, n_leaves)
            A one for the leaf of each tree that the row falls into.
        """
        source = check_random_state(self.random_state)
        self._fit(X, source.uniform(size=num_samples(X)), sample_weight)
        self.one_hot_encoder_ = OneHotEncoder(sparse_output=self.sparse_output)
        output = self.one_hot_encoder_.fit_transform(self.apply(X))
        self._n_features_out = output.shape[1]
        return output
