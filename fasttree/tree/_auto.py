"""`DecisionTree`: one estimator for both tasks, chosen by the target."""

from __future__ import annotations

import copy
import warnings
from operator import attrgetter
from typing import TYPE_CHECKING

import narwhals
import numpy as np
from sklearn.base import BaseEstimator, MultiOutputMixin
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from fasttree._sklearn_compat import StrOptions, fit_context
from fasttree.tree._base import CRITERIA_CLF, CRITERIA_REG, BaseDecisionTree
from fasttree.tree._classes import DecisionTreeClassifier, DecisionTreeRegressor
from fasttree.tree.pruning._tunable import TunableMixin

if TYPE_CHECKING:
    from typing import Literal, Self

    import sklearn.tree
    from numpy.typing import ArrayLike
    from sklearn.utils import Bunch

    from fasttree._typing import (
        Array,
        CategoricalFeatures,
        CategoricalSplit,
        ClassificationCriterion,
        ClassWeights,
        ColumnLike,
        FloatArray,
        IntArray,
        MatrixLike,
        MaxFeatures,
        MissingValues,
        RandomState,
        RegressionCriterion,
        Sparse,
        Splitter,
        TargetLike,
        Task,
    )

__all__ = ["DecisionTree"]

MAX_INTEGER_CLASSES = 30


def infer_task(y: TargetLike) -> Task:
    """Return the task that a target calls for.

    Labels (strings, booleans, categories, objects) are classes. Floats with a fraction are
    quantities. Whole numbers are classes if no output has more than 30 distinct ones.

    Parameters
    ----------
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        The target.

    Returns
    -------
    {"classification", "regression"}
        The task.

    Raises
    ------
    TypeError
        If y holds dates or durations.

    Warns
    -----
    UserWarning
        If y holds too many distinct whole numbers to be taken for classes.
    """
    if _has_label_dtype(y):
        return "classification"
    y = np.asarray(y)
    kind = y.dtype.kind
    if kind in "Mm":
        raise TypeError(f"y has dtype {y.dtype}; convert it to numbers or to labels.")
    if kind in "bOSUTV":
        return "classification"
    if kind not in "iuf" or (kind == "f" and not np.array_equal(y, np.floor(y))):
        return "regression"
    if y.size == 0:
        raise ValueError("y holds no samples: at least one target is required.")
    columns = y.reshape(len(y), -1).T if y.ndim else y.reshape(1, 1)
    n_distinct = max((len(np.unique(column)) for column in columns), default=0)
    if n_distinct <= MAX_INTEGER_CLASSES:
        return "classification"
    warnings.warn(
        f"y holds {n_distinct} distinct whole numbers and is taken for a quantity; "
        'pass task="classification" or task="regression" to settle it.',
        UserWarning,
        stacklevel=4,
    )
    return "regression"


def _has_label_dtype(y):
    """Whether y is a series or frame with a column of labels."""
    y = narwhals.from_native(y, pass_through=True, allow_series=True)
    if isinstance(y, narwhals.Series):
        dtypes = [y.dtype]
    elif isinstance(y, narwhals.DataFrame):
        dtypes = y.schema.values()
    else:
        return False
    labels = (
        narwhals.Boolean,
        narwhals.Categorical,
        narwhals.Enum,
        narwhals.Object,
        narwhals.String,
    )
    return any(dtype in labels for dtype in dtypes)


def _from_estimator(name, doc):
    """A property that reads an attribute of the fitted estimator."""
    return property(attrgetter(f"estimator_.{name}"), doc=doc)


def _is_classification(self):
    return self._known_task() == "classification"


class DecisionTree(TunableMixin, MultiOutputMixin, BaseEstimator):
    """A decision tree for whatever the target calls for.

    Strings, booleans, categories and objects are classes, and floats with a fraction are
    quantities. Whole numbers are classes if there are at most 30 distinct ones; more are
    quantities, with a warning.

    Parameters
    ----------
    task : {"auto", "classification", "regression"}, default="auto"
        What to fit; "auto" looks at the target.
    criterion : str or None, default=None
        Impurity that splits decrease, by the names of :class:`DecisionTreeClassifier` and
        :class:`DecisionTreeRegressor`. None takes their defaults, "gini" and "squared_error".
    splitter : {"best", "random"}, default="best"
        How a node's split is chosen.
    max_depth : int or None, default=None
        Largest depth of a leaf.
    min_samples_split : int or float, default=2
        Smallest number, or fraction, of rows of a node that is split.
    min_samples_leaf : int or float, default=1
        Smallest number, or fraction, of rows of a leaf.
    min_weight_fraction_leaf : float, default=0.0
        Smallest weight of a leaf, as a fraction of the weight of all rows.
    max_features : int, float, {"sqrt", "log2"} or None, default=None
        Number of features looked at per node.
    random_state : int, RandomState instance or None, default=None
        Source of the draws of features and random thresholds.
    max_leaf_nodes : int or None, default=None
        Largest number of leaves; the tree is then grown best-first.
    min_impurity_decrease : float, default=0.0
        Smallest weighted decrease of impurity of a split.
    class_weight : dict, list of dict, "balanced" or None, default=None
        Weights of the classes; classification only.
    ccp_alpha : float, default=0.0
        Complexity parameter of minimal cost-complexity pruning.
    monotonic_cst : array-like of int of shape (n_features,) or None, default=None
        Monotonicity constraints.
    n_jobs : int or None, default=None
        Number of threads in fit and predict.
    categorical_features : "from_dtype", array-like of bool, int or str, or None, \
            default="from_dtype"
        Columns that hold categories only.
    categorical_split : {"equality", "subset"}, default="equality"
        How categories are split: one from the rest, or the best set of them.
    missing_values : float, str, array-like of these, or None, default=None
        Values that are missing besides None, NaN, NA, NaT and the empty string.

    Attributes
    ----------
    estimator_ : DecisionTreeClassifier or DecisionTreeRegressor
        The fitted estimator. Its attributes can be read here too: `tree_`, `classes_`,
        `n_classes_`, `n_outputs_`, `max_features_`, `n_features_in_`, `feature_names_in_`,
        `categories_` and `feature_importances_`.
    task_ : {"classification", "regression"}
        What was fitted.

    See Also
    --------
    DecisionTreeClassifier : The estimator for classes.
    DecisionTreeRegressor : The estimator for quantities.

    Notes
    -----
    With ``task="auto"`` the estimator is neither a classifier nor a regressor before it is
    fitted: tools that ask beforehand, such as the stratification of cross-validation, need
    `task`.

    Examples
    --------
    >>> from fasttree.tree import DecisionTree
    >>> X = [[1.0], [2.0], [3.0], [4.0]]
    >>> DecisionTree().fit(X, ["low", "low", "high", "high"]).predict([[1.4], [9.0]])
    array(['low', 'high'], dtype='<U4')
    >>> DecisionTree().fit(X, [0.5, 0.5, 1.5, 1.5]).predict([[1.4], [9.0]])
    array([0.5, 1.5])
    """

    estimator_: DecisionTreeClassifier | DecisionTreeRegressor
    task_: Task

    _parameter_constraints: dict = {
        **BaseDecisionTree._parameter_constraints,
        "task": [StrOptions({"auto", "classification", "regression"})],
        "criterion": [StrOptions(set(CRITERIA_CLF) | set(CRITERIA_REG)), None],
        "class_weight": DecisionTreeClassifier._parameter_constraints["class_weight"],
    }

    def __init__(
        self,
        task: Literal["auto"] | Task = "auto",
        *,
        criterion: ClassificationCriterion | RegressionCriterion | None = None,
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
        monotonic_cst: ArrayLike | None = None,
        n_jobs: int | None = None,
        categorical_features: CategoricalFeatures = "from_dtype",
        categorical_split: CategoricalSplit = "equality",
        missing_values: MissingValues = None,
    ) -> None:
        self.task = task
        self.criterion = criterion
        self.splitter = splitter
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.random_state = random_state
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.class_weight = class_weight
        self.ccp_alpha = ccp_alpha
        self.monotonic_cst = monotonic_cst
        self.n_jobs = n_jobs
        self.categorical_features = categorical_features
        self.categorical_split = categorical_split
        self.missing_values = missing_values

    tree_ = _from_estimator("tree_", "Tree: the fitted tree as arrays.")
    classes_ = _from_estimator("classes_", "ndarray: class labels (classification).")
    n_classes_ = _from_estimator("n_classes_", "int: number of classes (classification).")
    n_outputs_ = _from_estimator("n_outputs_", "int: number of outputs.")
    max_features_ = _from_estimator("max_features_", "int: features looked at per node.")
    n_features_in_ = _from_estimator("n_features_in_", "int: number of features.")
    categories_ = _from_estimator("categories_", "list of list: categories of each column.")
    feature_names_in_ = _from_estimator("feature_names_in_", "ndarray: names of the features.")
    feature_importances_ = _from_estimator(
        "feature_importances_", "ndarray: share of each feature in the decrease of impurity."
    )

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: MatrixLike, y: TargetLike, sample_weight: ColumnLike | None = None) -> Self:
        """Choose the task and grow the tree.

        Parameters
        ----------
        X : array-like, sparse matrix or table of shape (n_samples, n_features)
            The training rows; numbers are read as float32, NaN means missing. Tables may hold
            categories: see `categorical_features`.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            The targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows; None weighs them equally.

        Returns
        -------
        DecisionTree
            The fitted estimator.
        """
        task = infer_task(y) if self.task == "auto" else self.task
        self.estimator_ = self._make_estimator(task).fit(X, y, sample_weight=sample_weight)
        self.task_ = task
        return self

    def _make_estimator(self, task):
        """The unfitted estimator of a task, with this one's parameters."""
        parameters = self.get_params(deep=False)
        del parameters["task"]
        if task == "classification":
            cls, criteria = DecisionTreeClassifier, CRITERIA_CLF
        else:
            cls, criteria = DecisionTreeRegressor, CRITERIA_REG
            if parameters.pop("class_weight") is not None:
                raise ValueError("class_weight is for classification, but the task is regression.")
        if self.criterion is None:
            del parameters["criterion"]
        elif self.criterion not in criteria:
            raise ValueError(
                f"criterion={self.criterion!r} does not belong to {task}; it may be one of "
                f"{', '.join(criteria)}."
            )
        return cls(**parameters)

    def __setstate__(self, state):
        super().__setstate__(state)
        inner = {"classification": DecisionTreeClassifier, "regression": DecisionTreeRegressor}
        if {"estimator_", "task_"} & vars(self).keys() and not (
            type(vars(self).get("estimator_")) is inner.get(vars(self).get("task_"), str)
            and hasattr(self.estimator_, "tree_")
        ):
            raise ValueError("estimator_ must be a fitted estimator of the task that task_ names.")

    def _tree_estimator(self):
        return self.estimator_

    def _copy(self):
        other = copy.copy(self)
        other.estimator_ = copy.copy(self.estimator_)
        return other

    def _assume_tree(self, tree, limits):
        self.estimator_._assume_tree(tree, limits)
        for name, value in limits.items():
            setattr(self, name, value)

    def _known_task(self):
        """The task, or None where only fit can tell."""
        return getattr(self, "task_", None) or (self.task if self.task != "auto" else None)

    def predict(self, X: MatrixLike) -> Array:
        """Return the class or value of each row.

        Parameters
        ----------
        X : array-like, sparse matrix or table of shape (n_samples, n_features)
            The rows, as in `fit`.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Predictions.
        """
        check_is_fitted(self)
        return self.estimator_.predict(X)

    @available_if(_is_classification)
    def predict_proba(self, X: MatrixLike) -> FloatArray | list[FloatArray]:
        """Return the fractions of the classes in the leaf of each row (classification).

        Parameters
        ----------
        X : array-like, sparse matrix or table of shape (n_samples, n_features)
            The rows, as in `fit`.

        Returns
        -------
        ndarray of shape (n_samples, n_classes) or list of n_outputs such arrays
            Probabilities in the order of `classes_`.
        """
        check_is_fitted(self)
        return self.estimator_.predict_proba(X)

    @available_if(_is_classification)
    def predict_log_proba(self, X: MatrixLike) -> FloatArray | list[FloatArray]:
        """Return the logarithms of `predict_proba` (classification).

        Parameters
        ----------
        X : array-like, sparse matrix or table of shape (n_samples, n_features)
            The rows, as in `fit`.

        Returns
        -------
        ndarray of shape (n_samples, n_classes) or list of n_outputs such arrays
            Log-probabilities in the order of `classes_`.
        """
        check_is_fitted(self)
        return self.estimator_.predict_log_proba(X)

    def score(self, X: MatrixLike, y: TargetLike, sample_weight: ColumnLike | None = None) -> float:
        """Return the accuracy (classification) or R2 (regression) on the given data.

        Parameters
        ----------
        X : array-like, sparse matrix or table of shape (n_samples, n_features)
            The rows, as in `fit`.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            The true targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        float
            The score.
        """
        check_is_fitted(self)
        return self.estimator_.score(X, y, sample_weight=sample_weight)

    def apply(self, X: MatrixLike) -> IntArray:
        """Return the id of the leaf that each row falls into.

        Parameters
        ----------
        X : array-like, sparse matrix or table of shape (n_samples, n_features)
            The rows, as in `fit`.

        Returns
        -------
        ndarray of shape (n_samples,), dtype=intp
            Ids of leaves.
        """
        check_is_fitted(self)
        return self.estimator_.apply(X)

    def decision_path(self, X: MatrixLike) -> Sparse:
        """Return which nodes each row passes through.

        Parameters
        ----------
        X : array-like, sparse matrix or table of shape (n_samples, n_features)
            The rows, as in `fit`.

        Returns
        -------
        CSR matrix of shape (n_samples, n_nodes)
            Ones where a row passes through a node.
        """
        check_is_fitted(self)
        return self.estimator_.decision_path(X)

    def get_depth(self) -> int:
        """Return the depth of the tree.

        Returns
        -------
        int
            Depth of the deepest leaf.
        """
        check_is_fitted(self)
        return self.estimator_.get_depth()

    def get_n_leaves(self) -> int:
        """Return the number of leaves.

        Returns
        -------
        int
            Number of leaves.
        """
        check_is_fitted(self)
        return self.estimator_.get_n_leaves()

    def cost_complexity_pruning_path(
        self, X: MatrixLike, y: TargetLike, sample_weight: ColumnLike | None = None
    ) -> Bunch:
        """Return the steps of minimal cost-complexity pruning of the tree grown on the data.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The training rows.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            The targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        Bunch
            `ccp_alphas` and `impurities`.
        """
        task = infer_task(y) if self.task == "auto" else self.task
        estimator = self._make_estimator(task)
        return estimator.cost_complexity_pruning_path(X, y, sample_weight=sample_weight)

    def to_sklearn(
        self,
    ) -> sklearn.tree.DecisionTreeClassifier | sklearn.tree.DecisionTreeRegressor:
        """Return a fitted scikit-learn classifier or regressor with the same tree.

        Returns
        -------
        estimator
            scikit-learn's DecisionTreeClassifier or DecisionTreeRegressor.
        """
        check_is_fitted(self)
        return self.estimator_.to_sklearn()

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        classifier = get_tags(DecisionTreeClassifier())
        regressor = get_tags(DecisionTreeRegressor())
        tags.input_tags = classifier.input_tags
        tags.target_tags.required = True
        task = self._known_task()
        if task == "regression":
            tags.estimator_type = regressor.estimator_type
            tags.regressor_tags = regressor.regressor_tags
        else:
            tags.classifier_tags = classifier.classifier_tags
        if task == "classification":
            tags.estimator_type = classifier.estimator_type
        return tags
