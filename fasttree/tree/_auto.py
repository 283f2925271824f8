"""`DecisionTree`: one estimator for both tasks, chosen by the target."""

from __future__ import annotations

import copy
from operator import attrgetter
from typing import TYPE_CHECKING

from sklearn.base import BaseEstimator, MultiOutputMixin
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from fasttree._sklearn_compat import StrOptions, fit_context
from fasttree.tree._base import CRITERIA_CLF, CRITERIA_REG, BaseDecisionTree
from fasttree.tree._classes import DecisionTreeClassifier, DecisionTreeRegressor
from fasttree.tree._task import infer_task, without_objects
from fasttree.tree.pruning._tunable import TunableMixin
from fasttree.utils._docs import document

if TYPE_CHECKING:
    from typing import Literal, Self

    import sklearn.tree
    from sklearn.pipeline import Pipeline
    from sklearn.utils import Bunch

    from fasttree._typing import (
        Array,
        CategoricalFeatures,
        CategoricalSplit,
        ClassificationCriterion,
        ClassWeights,
        ColumnLike,
        Constraints,
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


def _from_estimator(name, doc):
    """A property that reads an attribute of the fitted estimator."""
    return property(attrgetter(f"estimator_.{name}"), doc=doc)


def _is_classification(self):
    return self._known_task() == "classification"


@document("auto")
class DecisionTree(TunableMixin, MultiOutputMixin, BaseEstimator):
    """A decision tree for classification or regression, as the target requires.

    Strings, booleans and categories are classes, and floats with a fraction are quantities. Whole
    numbers are classes if there are at most 30 distinct ones, otherwise quantities, with a warning.
    If `criterion` is given, it decides instead of the target.

    Parameters
    ----------
    {parameters}

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
        monotonic_cst: Constraints = None,
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
            Weights of the rows; None gives all the same weight.

        Returns
        -------
        DecisionTree
            The fitted estimator.
        """
        y = without_objects(y)
        task = self._settled_task() or infer_task(y)
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

    def _settled_task(self):
        """The task that the parameters name, or None if they leave it to the target."""
        if self.task != "auto" or self.criterion is None:
            return self.task if self.task != "auto" else None
        return "classification" if self.criterion in CRITERIA_CLF else "regression"

    def _known_task(self):
        """The task, or None where only fit can tell."""
        return getattr(self, "task_", None) or self._settled_task()

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
        return self.estimator_.score(X, without_objects(y), sample_weight=sample_weight)

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
        y = without_objects(y)
        task = self._settled_task() or infer_task(y)
        estimator = self._make_estimator(task)
        return estimator.cost_complexity_pruning_path(X, y, sample_weight=sample_weight)

    def to_sklearn(
        self,
    ) -> sklearn.tree.DecisionTreeClassifier | sklearn.tree.DecisionTreeRegressor | Pipeline:
        """Return a fitted scikit-learn classifier or regressor with the same tree.

        Returns
        -------
        estimator or Pipeline
            scikit-learn's DecisionTreeClassifier or DecisionTreeRegressor, behind an encoder if the
            fit read a table.
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
