"""The estimators: scikit-learn's, with fasttree's engine.

Each subclasses scikit-learn's class of the same name, so that everything which asks for one of
those accepts it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import sklearn.tree

from fasttree._sklearn_compat import Hidden, StrOptions
from fasttree.tree._base import (
    CRITERIA_CLF,
    CRITERIA_REG,
    DENSE_SPLITTERS,
    SPARSE_SPLITTERS,
    BaseDecisionTree,
)
from fasttree.tree._criterion import Criterion
from fasttree.tree._validation import check_grown, check_predict_data
from fasttree.utils._docs import document

if TYPE_CHECKING:
    from typing import Self

    from fasttree._typing import (
        Array,
        CategoricalFeatures,
        CategoricalSplit,
        ClassificationCriterion,
        ClassWeights,
        ColumnLike,
        Constraints,
        FloatArray,
        MatrixLike,
        MaxFeatures,
        MissingValues,
        RandomState,
        RegressionCriterion,
        Splitter,
        TargetLike,
    )

__all__ = [
    "CRITERIA_CLF",
    "CRITERIA_REG",
    "DENSE_SPLITTERS",
    "SPARSE_SPLITTERS",
    "BaseDecisionTree",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "ExtraTreeClassifier",
    "ExtraTreeRegressor",
]


@document("classification")
class DecisionTreeClassifier(BaseDecisionTree, sklearn.tree.DecisionTreeClassifier):
    """A decision tree for classification.

    A drop-in replacement for :class:`sklearn.tree.DecisionTreeClassifier`, many times faster.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    DecisionTree : Chooses between classification and regression by the target.
    DecisionTreeRegressor : For numeric targets.

    Notes
    -----
    Numbers are read as float32. Missing values (NaN) are sent to the side that splits better.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from fasttree.tree import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> DecisionTreeClassifier(max_depth=2).fit(X, y).predict(X[[0, 60, 149]])
    array([0, 1, 2])
    """

    _parameter_constraints: dict = {
        **sklearn.tree.DecisionTreeClassifier._parameter_constraints,
        **BaseDecisionTree._parameter_constraints,
        "criterion": [StrOptions(set(CRITERIA_CLF)), Hidden(Criterion)],
    }

    def __init__(
        self,
        *,
        criterion: ClassificationCriterion = "gini",
        splitter: Splitter = "best",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: MaxFeatures = None,
        random_state: RandomState = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        class_weight: ClassWeights = None,
        ccp_alpha: float = 0.0,
        monotonic_cst: Constraints = None,
        n_jobs: int | None = None,
        categorical_features: CategoricalFeatures = "from_dtype",
        categorical_split: CategoricalSplit = "equality",
        missing_values: MissingValues = None,
    ) -> None:
        super().__init__(
            criterion=criterion,
            splitter=splitter,
            max_depth=max_depth,
            min_samples_split=min_samples_split,
            min_samples_leaf=min_samples_leaf,
            min_weight_fraction_leaf=min_weight_fraction_leaf,
            max_features=max_features,
            random_state=random_state,
            max_leaf_nodes=max_leaf_nodes,
            min_impurity_decrease=min_impurity_decrease,
            class_weight=class_weight,
            ccp_alpha=ccp_alpha,
            monotonic_cst=monotonic_cst,
        )
        self.n_jobs = n_jobs
        self.categorical_features = categorical_features
        self.categorical_split = categorical_split
        self.missing_values = missing_values

    def fit(
        self,
        X: MatrixLike,
        y: TargetLike,
        sample_weight: ColumnLike | None = None,
        check_input: bool = True,
    ) -> Self:
        """Grow the tree.

        Parameters
        ----------
        X : array-like, sparse matrix or table of shape (n_samples, n_features)
            The training rows; numbers are read as float32, NaN means missing. Tables may hold
            categories: see `categorical_features`.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            The class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows; None gives all the same weight.
        check_input : bool, default=True
            False skips the checks of X and y.

        Returns
        -------
        DecisionTreeClassifier
            The fitted estimator.
        """
        self._check_parameters()
        return self._fit(X, y, sample_weight=sample_weight, check_input=check_input)

    def predict(self, X: MatrixLike, check_input: bool = True) -> Array:
        """Return the most frequent class in the leaf of each row.

        Parameters
        ----------
        X : array-like, sparse matrix or table of shape (n_samples, n_features)
            The rows, as in `fit`.
        check_input : bool, default=True
            False skips the checks of X, which must then be a float32 array or CSR matrix.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Class labels; of several equally frequent classes, the first in `classes_`.
        """
        check_grown(self)
        X, accepted = check_predict_data(self, X, check_input)
        values = self.tree_.value
        if X.shape[0] < len(values):
            return self._labels(self._lookup(X, accepted, values))
        return self._lookup(X, accepted, self._labels(values))

    def _labels(self, values):
        """Return the label of the largest of (n, n_outputs, max_n_classes) values."""
        is_binary = values.shape[2] == 2  # NumPy takes long for the largest of two
        codes = values[:, :, 1] > values[:, :, 0] if is_binary else np.argmax(values, axis=2)
        if self.n_outputs_ == 1:
            return self.classes_.take(codes[:, 0], axis=0)
        labels = np.zeros(codes.shape, dtype=self.classes_[0].dtype)
        for k, classes in enumerate(self.classes_):
            labels[:, k] = classes.take(codes[:, k], axis=0)
        return labels

    def predict_proba(
        self, X: MatrixLike, check_input: bool = True
    ) -> FloatArray | list[FloatArray]:
        """Return the fractions of the classes in the leaf of each row.

        Parameters
        ----------
        X : array-like, sparse matrix or table of shape (n_samples, n_features)
            The rows, as in `fit`.
        check_input : bool, default=True
            False skips the checks of X, which must then be a float32 array or CSR matrix.

        Returns
        -------
        ndarray of shape (n_samples, n_classes) or list of n_outputs such arrays
            Probabilities in the order of `classes_`.
        """
        check_grown(self)
        X, accepted = check_predict_data(self, X, check_input)
        proba = self._lookup(X, accepted, self.tree_.value)
        if self.n_outputs_ == 1:
            return proba[:, 0, : self.n_classes_]
        return [proba[:, k, :n] for k, n in enumerate(self.n_classes_)]


@document("regression")
class DecisionTreeRegressor(BaseDecisionTree, sklearn.tree.DecisionTreeRegressor):
    """A decision tree for regression.

    A drop-in replacement for :class:`sklearn.tree.DecisionTreeRegressor`, many times faster.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    DecisionTree : Chooses between classification and regression by the target.
    DecisionTreeClassifier : For class labels.

    Notes
    -----
    Numbers are read as float32. Missing values (NaN) are sent to the side that splits better.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from fasttree.tree import DecisionTreeRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> DecisionTreeRegressor(max_depth=2).fit(X, y).get_n_leaves()
    4
    """

    _parameter_constraints: dict = {
        **sklearn.tree.DecisionTreeRegressor._parameter_constraints,
        **BaseDecisionTree._parameter_constraints,
        "criterion": [StrOptions(set(CRITERIA_REG)), Hidden(Criterion)],
    }

    def __init__(
        self,
        *,
        criterion: RegressionCriterion = "squared_error",
        splitter: Splitter = "best",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: MaxFeatures = None,
        random_state: RandomState = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        ccp_alpha: float = 0.0,
        monotonic_cst: Constraints = None,
        n_jobs: int | None = None,
        categorical_features: CategoricalFeatures = "from_dtype",
        categorical_split: CategoricalSplit = "equality",
        missing_values: MissingValues = None,
    ) -> None:
        super().__init__(
            criterion=criterion,
            splitter=splitter,
            max_depth=max_depth,
            min_samples_split=min_samples_split,
            min_samples_leaf=min_samples_leaf,
            min_weight_fraction_leaf=min_weight_fraction_leaf,
            max_features=max_features,
            random_state=random_state,
            max_leaf_nodes=max_leaf_nodes,
            min_impurity_decrease=min_impurity_decrease,
            ccp_alpha=ccp_alpha,
            monotonic_cst=monotonic_cst,
        )
        self.n_jobs = n_jobs
        self.categorical_features = categorical_features
        self.categorical_split = categorical_split
        self.missing_values = missing_values

    def fit(
        self,
        X: MatrixLike,
        y: TargetLike,
        sample_weight: ColumnLike | None = None,
        check_input: bool = True,
    ) -> Self:
        """Grow the tree.

        Parameters
        ----------
        X : array-like, sparse matrix or table of shape (n_samples, n_features)
            The training rows; numbers are read as float32, NaN means missing. Tables may hold
            categories: see `categorical_features`.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            The targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows; None gives all the same weight.
        check_input : bool, default=True
            False skips the checks of X and y.

        Returns
        -------
        DecisionTreeRegressor
            The fitted estimator.
        """
        self._check_parameters()
        return self._fit(X, y, sample_weight=sample_weight, check_input=check_input)

    def predict(self, X: MatrixLike, check_input: bool = True) -> Array:
        """Return the value of the leaf of each row.

        Parameters
        ----------
        X : array-like, sparse matrix or table of shape (n_samples, n_features)
            The rows, as in `fit`.
        check_input : bool, default=True
            False skips the checks of X, which must then be a float32 array or CSR matrix.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Means, or medians with absolute error, of the training targets in the leaves.
        """
        check_grown(self)
        values = self.tree_.value[:, :, 0]
        if self.n_outputs_ == 1:
            values = values[:, 0]
        X, accepted = check_predict_data(self, X, check_input)
        return self._lookup(X, accepted, values)


@document("classification")
class ExtraTreeClassifier(DecisionTreeClassifier, sklearn.tree.ExtraTreeClassifier):
    """A decision tree for classification with random thresholds by default.

    A drop-in replacement for :class:`sklearn.tree.ExtraTreeClassifier`, meant for ensembles.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    DecisionTreeClassifier : The same with other defaults.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import BaggingClassifier
    >>> from fasttree.tree import ExtraTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> trees = BaggingClassifier(ExtraTreeClassifier(), random_state=0).fit(X[::2], y[::2])
    >>> round(trees.score(X[1::2], y[1::2]), 2)
    0.97
    """

    def __init__(
        self,
        *,
        criterion: ClassificationCriterion = "gini",
        splitter: Splitter = "random",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: MaxFeatures = "sqrt",
        random_state: RandomState = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        class_weight: ClassWeights = None,
        ccp_alpha: float = 0.0,
        monotonic_cst: Constraints = None,
        n_jobs: int | None = None,
        categorical_features: CategoricalFeatures = "from_dtype",
        categorical_split: CategoricalSplit = "equality",
        missing_values: MissingValues = None,
    ) -> None:
        super().__init__(
            criterion=criterion,
            splitter=splitter,
            max_depth=max_depth,
            min_samples_split=min_samples_split,
            min_samples_leaf=min_samples_leaf,
            min_weight_fraction_leaf=min_weight_fraction_leaf,
            max_features=max_features,
            random_state=random_state,
            max_leaf_nodes=max_leaf_nodes,
            min_impurity_decrease=min_impurity_decrease,
            class_weight=class_weight,
            ccp_alpha=ccp_alpha,
            monotonic_cst=monotonic_cst,
            n_jobs=n_jobs,
            categorical_features=categorical_features,
            categorical_split=categorical_split,
            missing_values=missing_values,
        )


@document("regression")
class ExtraTreeRegressor(DecisionTreeRegressor, sklearn.tree.ExtraTreeRegressor):
    """A decision tree for regression with random thresholds by default.

    A drop-in replacement for :class:`sklearn.tree.ExtraTreeRegressor`, meant for ensembles.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    DecisionTreeRegressor : The same with other defaults.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import BaggingRegressor
    >>> from fasttree.tree import ExtraTreeRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> trees = BaggingRegressor(ExtraTreeRegressor(), 50, random_state=0).fit(X[::2], y[::2])
    >>> round(trees.score(X[1::2], y[1::2]), 1)
    0.4
    """

    def __init__(
        self,
        *,
        criterion: RegressionCriterion = "squared_error",
        splitter: Splitter = "random",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: MaxFeatures = 1.0,
        random_state: RandomState = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        ccp_alpha: float = 0.0,
        monotonic_cst: Constraints = None,
        n_jobs: int | None = None,
        categorical_features: CategoricalFeatures = "from_dtype",
        categorical_split: CategoricalSplit = "equality",
        missing_values: MissingValues = None,
    ) -> None:
        super().__init__(
            criterion=criterion,
            splitter=splitter,
            max_depth=max_depth,
            min_samples_split=min_samples_split,
            min_samples_leaf=min_samples_leaf,
            min_weight_fraction_leaf=min_weight_fraction_leaf,
            max_features=max_features,
            random_state=random_state,
            max_leaf_nodes=max_leaf_nodes,
            min_impurity_decrease=min_impurity_decrease,
            ccp_alpha=ccp_alpha,
            monotonic_cst=monotonic_cst,
            n_jobs=n_jobs,
            categorical_features=categorical_features,
            categorical_split=categorical_split,
            missing_values=missing_values,
        )
