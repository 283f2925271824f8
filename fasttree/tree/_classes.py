"""The estimators: scikit-learn's, with fasttree's engine.

Each subclasses scikit-learn's class of the same name, so that everything which asks for one of
those accepts it, and replaces whatever would call scikit-learn's compiled code. A fit checks its
input, puts criterion, splitter and builder together, and hands the work to the builder.
"""

import copy
from abc import ABCMeta
from math import ceil
from numbers import Integral, Real

import numpy as np
import sklearn.tree
from scipy.sparse import issparse
from sklearn import clone
from sklearn.base import ClassifierMixin
from sklearn.utils import Bunch, compute_sample_weight
from sklearn.utils.validation import check_is_fitted

from fasttree._config import get_config
from fasttree._sklearn_compat import (
    Hidden,
    StrOptions,
    fit_context,
    validate_parameter_constraints,
)
from fasttree.tree import _criterion, _splitter
from fasttree.tree._builder import BestFirstTreeBuilder, DepthFirstTreeBuilder
from fasttree.tree._docs import document
from fasttree.tree._interop import to_sklearn
from fasttree.tree._pruning import ccp_pruning_path, prune_ccp
from fasttree.tree._tree import Tree
from fasttree.tree._validation import (
    canonical_sparse,
    check_fit_data,
    check_predict_data,
    check_weights,
    encode_classes,
    missing_mask,
    random_source,
)
from fasttree.utils._threads import effective_n_threads

__all__ = [
    "BaseDecisionTree",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "ExtraTreeClassifier",
    "ExtraTreeRegressor",
]

CRITERIA_CLF = {
    "gini": _criterion.Gini,
    "log_loss": _criterion.Entropy,
    "entropy": _criterion.Entropy,
    "chi2": _criterion.ChiSquare,
}
CRITERIA_REG = {
    "squared_error": _criterion.MSE,
    "absolute_error": _criterion.MAE,
    "poisson": _criterion.Poisson,
    "label_split": _criterion.LabelSplit,
}
DENSE_SPLITTERS = {"best": _splitter.BestSplitter, "random": _splitter.RandomSplitter}
SPARSE_SPLITTERS = {}


class BaseDecisionTree(sklearn.tree.BaseDecisionTree, metaclass=ABCMeta):
    """What the estimators share: fit, prediction and pruning on fasttree's engine.

    Use the derived classes.
    """

    _parameter_constraints: dict = {
        **sklearn.tree.BaseDecisionTree._parameter_constraints,
        "n_jobs": [Integral, None],
        "categorical_features": ["array-like", StrOptions({"from_dtype"}), None],
        "categorical_split": [StrOptions({"equality", "subset"})],
        "missing_values": ["array-like", str, Real, None],
    }

    def _validate_params(self):
        """Check the parameters that differ from their defaults, as scikit-learn checks them."""
        defaults = type(self).__init__.__kwdefaults__ or {}
        changed = {
            name: value
            for name, value in vars(self).items()
            if name in self._parameter_constraints
            and not (name in defaults and value is defaults[name])
        }
        if changed:
            validate_parameter_constraints(
                self._parameter_constraints, changed, caller_name=type(self).__name__
            )

    # ---- fit

    def _fit(
        self,
        X,
        y,
        sample_weight=None,
        check_input=True,
        missing_values_in_feature_mask=None,
    ):
        """Grow the tree; the ensembles call this with checked input."""
        random_state = random_source(self.random_state)
        X, y, sample_weight, missing_mask = self._read_data(
            X, y, sample_weight, check_input, missing_values_in_feature_mask
        )
        n_categories = None if self._table_encoder is None else self._table_encoder.n_categories
        self.tree_ = self._grow(X, y, sample_weight, random_state, missing_mask, n_categories)
        if isinstance(self, ClassifierMixin) and self.n_outputs_ == 1:
            self.n_classes_ = self.n_classes_[0]
            self.classes_ = self.classes_[0]
        self._prune_tree()
        return self

    def _read_data(
        self, X, y, sample_weight, check_input=True, missing_values_in_feature_mask=None
    ):
        """Return X as float32, y as float64 columns, weights with those of the classes, and the
        mask of columns with missing values; set what a fit learns of classes and labels."""
        is_classifier = isinstance(self, ClassifierMixin)
        n_threads = effective_n_threads(self.n_jobs)
        self._table_encoder = None
        if check_input:
            X, y = check_fit_data(self, X, y)
            if self._table_encoder is None:
                missing_values_in_feature_mask = missing_mask(self, X, n_threads)
            if self.criterion == "poisson":
                _check_poisson_target(y)
        if issparse(X):
            X = canonical_sparse(X)
        else:
            X = np.asarray(X, dtype=np.float32)
        n_samples, self.n_features_in_ = X.shape

        y = np.atleast_1d(y)
        if y.ndim == 1:
            y = y.reshape(-1, 1)
        self.n_outputs_ = y.shape[1]
        class_weights = None
        if is_classifier:
            if self.class_weight is not None:
                class_weights = compute_sample_weight(self.class_weight, y)
            y, self.classes_ = encode_classes(y)
            self.n_classes_ = np.array([len(c) for c in self.classes_], dtype=np.intp)
        y = np.ascontiguousarray(y, dtype=np.float64)
        if len(y) != n_samples:
            raise ValueError(
                f"Number of labels={len(y)} does not match number of samples={n_samples}"
            )

        if sample_weight is not None:
            sample_weight = check_weights(sample_weight, X)
        if class_weights is not None:
            sample_weight = (
                class_weights if sample_weight is None else sample_weight * class_weights
            )

        return X, y, sample_weight, missing_values_in_feature_mask

    def _grow(self, X, y, sample_weight, random_state, missing_mask=None, n_categories=None):
        """Return the tree of checked data."""
        builder = self._make_builder(X, sample_weight, random_state)
        if n_categories is not None:
            self._check_labels(n_categories)
        is_classifier = isinstance(self, ClassifierMixin)
        n_classes = self.n_classes_ if is_classifier else np.ones(self.n_outputs_, np.intp)
        config = get_config()
        tree = Tree(X.shape[1], n_classes, self.n_outputs_)
        builder.build(
            tree,
            X,
            y,
            sample_weight,
            missing_mask,
            n_categories,
            n_threads=effective_n_threads(self.n_jobs),
            strategy=config["strategy"],
            sklearn_stream=config["sklearn_random_stream"],
        )
        return tree

    def _make_builder(self, X, sample_weight, random_state):
        """Put criterion, splitter and builder together; fractions become numbers."""
        n_samples = X.shape[0]
        min_samples_leaf = _rows(self.min_samples_leaf, n_samples)
        min_samples_split = max(_rows(self.min_samples_split, n_samples), 2, 2 * min_samples_leaf)
        total_weight = n_samples if sample_weight is None else np.sum(sample_weight)
        min_weight_leaf = self.min_weight_fraction_leaf * total_weight
        self.max_features_ = self._n_features_per_node()

        splitters = SPARSE_SPLITTERS if issparse(X) else DENSE_SPLITTERS
        if self.splitter not in splitters:
            raise ValueError(
                "Sparse X is not supported by fasttree's trees; pass a dense array, such as "
                "X.toarray()."
            )
        splitter = splitters[self.splitter](
            self._make_criterion(n_samples),
            self.max_features_,
            min_samples_leaf,
            min_weight_leaf,
            random_state,
            self._checked_monotonic_cst(),
            self.categorical_split == "subset",
        )
        max_depth = np.iinfo(np.int32).max if self.max_depth is None else self.max_depth
        if self.max_leaf_nodes is None:
            return DepthFirstTreeBuilder(
                splitter,
                min_samples_split,
                min_samples_leaf,
                min_weight_leaf,
                max_depth,
                self.min_impurity_decrease,
            )
        return BestFirstTreeBuilder(
            splitter,
            min_samples_split,
            min_samples_leaf,
            min_weight_leaf,
            max_depth,
            self.max_leaf_nodes,
            self.min_impurity_decrease,
        )

    def _check_labels(self, n_categories):
        """Raise if a parameter does not go with columns of labels."""
        if self.monotonic_cst is not None and np.any(
            (n_categories > 0) & (np.asarray(self.monotonic_cst) != 0)
        ):
            raise ValueError("Monotonicity constraints are for columns without labels.")
        if self.categorical_split == "subset" and self.splitter == "best":
            is_ordered = self.n_outputs_ == 1 and self.criterion != "absolute_error"
            if isinstance(self, ClassifierMixin):
                is_ordered = is_ordered and self.n_classes_[0] <= 2
            if not is_ordered:
                raise ValueError(
                    "categorical_split='subset' finds the best set of labels for one output with "
                    "two classes, or for regression other than by absolute error; use "
                    "categorical_split='equality'."
                )

    def _make_criterion(self, n_samples):
        if isinstance(self.criterion, _criterion.Criterion):
            # It has state, and fits may run at the same time.
            return copy.deepcopy(self.criterion)
        if isinstance(self, ClassifierMixin):
            return CRITERIA_CLF[self.criterion](self.n_outputs_, self.n_classes_)
        return CRITERIA_REG[self.criterion](self.n_outputs_, n_samples)

    def _n_features_per_node(self):
        n_features = self.n_features_in_
        if self.max_features is None:
            return n_features
        if self.max_features == "sqrt":
            return max(1, int(np.sqrt(n_features)))
        if self.max_features == "log2":
            return max(1, int(np.log2(n_features)))
        if isinstance(self.max_features, Integral):
            return self.max_features
        return max(1, int(self.max_features * n_features))

    def _checked_monotonic_cst(self):
        """Return the constraints as the engine reads them: on the mean, or on class 0."""
        if self.monotonic_cst is None:
            return None
        if self.n_outputs_ > 1:
            raise ValueError(
                "Monotonicity constraints are not supported with multiple outputs."
            )
        if self.criterion == "label_split":
            raise ValueError("Monotonicity constraints are not supported by 'label_split'.")
        constraints = np.asarray(self.monotonic_cst)
        if constraints.shape[0] != self.n_features_in_:
            raise ValueError(
                f"monotonic_cst has shape {constraints.shape[0]} but the input data "
                f"X has {self.n_features_in_} features."
            )
        if not np.isin(constraints, (-1, 0, 1)).all():
            raise ValueError(
                "monotonic_cst must be None or an array-like of -1, 0 or 1, but got "
                f"{np.unique(constraints)}"
            )
        constraints = constraints.astype(np.int8)
        if isinstance(self, ClassifierMixin):
            if self.n_classes_[0] > 2:
                raise ValueError(
                    "Monotonicity constraints are not supported with multiclass classification"
                )
            constraints *= -1
        return constraints

    # ---- prediction

    def _validate_X_predict(self, X, check_input):
        """Return X as float32, checked against the data of the fit."""
        check_is_fitted(self)
        return check_predict_data(self, X, check_input, effective_n_threads(self.n_jobs))

    def _lookup(self, X, values):
        """Return the entries of a table with one entry per node, by the leaf of each row."""
        n_threads = effective_n_threads(self.n_jobs)
        if values.dtype.hasobject:
            return values.take(self.tree_.apply(X, n_threads), axis=0)
        return self.tree_.lookup(X, values, n_threads)

    def apply(self, X, check_input=True):
        """Return the id of the leaf that each row falls into.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows; values are read as float32.
        check_input : bool, default=True
            False skips the checks of X, which must then be a float32 array or CSR matrix.

        Returns
        -------
        ndarray of shape (n_samples,), dtype=intp
            Ids of leaves, positions in the arrays of `tree_`.
        """
        X = self._validate_X_predict(X, check_input)
        return self.tree_.apply(X, effective_n_threads(self.n_jobs))

    def decision_path(self, X, check_input=True):
        """Return which nodes each row passes through.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows; values are read as float32.
        check_input : bool, default=True
            False skips the checks of X, which must then be a float32 array or CSR matrix.

        Returns
        -------
        CSR matrix of shape (n_samples, n_nodes)
            Ones where a row passes through a node.
        """
        X = self._validate_X_predict(X, check_input)
        return self.tree_.decision_path(X, effective_n_threads(self.n_jobs))

    @property
    def categories_(self):
        """list of list: labels of each column in code order, if fitted on a table."""
        encoder = getattr(self, "_table_encoder", None)
        if encoder is None:
            raise AttributeError(
                f"{type(self).__name__} has no categories_: it was not fitted on a table."
            )
        return encoder.categories

    # ---- pruning and exchange

    def _prune_tree(self):
        """Cut `tree_` by minimal cost-complexity pruning."""
        check_is_fitted(self)
        if self.ccp_alpha != 0.0:
            self.tree_ = prune_ccp(self.tree_, self.ccp_alpha)

    def cost_complexity_pruning_path(self, X, y, sample_weight=None):
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
            `ccp_alphas`, the effective alpha of each subtree, and `impurities`, the total impurity
            of its leaves.
        """
        estimator = clone(self).set_params(ccp_alpha=0.0)
        estimator.fit(X, y, sample_weight=sample_weight)
        ccp_alphas, impurities = ccp_pruning_path(estimator.tree_)
        return Bunch(ccp_alphas=ccp_alphas, impurities=impurities)

    def to_sklearn(self):
        """Return a fitted scikit-learn estimator with the same tree.

        Returns
        -------
        estimator
            Of scikit-learn's class of the same name; its `tree_` is scikit-learn's own `Tree`.
        """
        check_is_fitted(self)
        return to_sklearn(self)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = bool(SPARSE_SPLITTERS)
        tags.input_tags.categorical = True
        return tags


def _rows(limit, n_samples):
    """A number of rows, or a fraction of them rounded up."""
    return limit if isinstance(limit, Integral) else ceil(limit * n_samples)


def _check_poisson_target(y):
    if np.any(y < 0):
        raise ValueError(
            "Some value(s) of y are negative which is not allowed for Poisson regression."
        )
    if np.sum(y) <= 0:
        raise ValueError("Sum of y is not positive which is necessary for Poisson regression.")


@document("classification")
class DecisionTreeClassifier(BaseDecisionTree, sklearn.tree.DecisionTreeClassifier):
    """A decision tree for classification.

    A drop-in for :class:`sklearn.tree.DecisionTreeClassifier`, grown many times faster.

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
        "criterion": [StrOptions(set(CRITERIA_CLF)), Hidden(_criterion.Criterion)],
    }

    def __init__(
        self,
        *,
        criterion="gini",
        splitter="best",
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        max_features=None,
        random_state=None,
        max_leaf_nodes=None,
        min_impurity_decrease=0.0,
        class_weight=None,
        ccp_alpha=0.0,
        monotonic_cst=None,
        n_jobs=None,
        categorical_features="from_dtype",
        categorical_split="equality",
        missing_values=None,
    ):
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

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None, check_input=True):
        """Grow the tree.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The training rows; values are read as float32, NaN means missing.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            The class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows; None weighs them equally.
        check_input : bool, default=True
            False skips the checks of X and y.

        Returns
        -------
        DecisionTreeClassifier
            The fitted estimator.
        """
        return self._fit(X, y, sample_weight=sample_weight, check_input=check_input)

    def predict(self, X, check_input=True):
        """Return the most frequent class in the leaf of each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows; values are read as float32.
        check_input : bool, default=True
            False skips the checks of X, which must then be a float32 array or CSR matrix.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Class labels; of several equally frequent classes, the first in `classes_`.
        """
        X = self._validate_X_predict(X, check_input)
        values = self.tree_.value
        if X.shape[0] < len(values):
            return self._labels(self._lookup(X, values))
        return self._lookup(X, self._labels(values))

    def _labels(self, values):
        """Return the label of the largest of (n, n_outputs, max_n_classes) values."""
        codes = np.argmax(values, axis=2)
        if self.n_outputs_ == 1:
            return self.classes_.take(codes[:, 0], axis=0)
        labels = np.zeros(codes.shape, dtype=self.classes_[0].dtype)
        for k, classes in enumerate(self.classes_):
            labels[:, k] = classes.take(codes[:, k], axis=0)
        return labels

    def predict_proba(self, X, check_input=True):
        """Return the fractions of the classes in the leaf of each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows; values are read as float32.
        check_input : bool, default=True
            False skips the checks of X, which must then be a float32 array or CSR matrix.

        Returns
        -------
        ndarray of shape (n_samples, n_classes) or list of n_outputs such arrays
            Probabilities in the order of `classes_`.
        """
        X = self._validate_X_predict(X, check_input)
        proba = self._lookup(X, self.tree_.value)
        if self.n_outputs_ == 1:
            return proba[:, 0, : self.n_classes_]
        return [proba[:, k, :n] for k, n in enumerate(self.n_classes_)]


@document("regression")
class DecisionTreeRegressor(BaseDecisionTree, sklearn.tree.DecisionTreeRegressor):
    """A decision tree for regression.

    A drop-in for :class:`sklearn.tree.DecisionTreeRegressor`, grown many times faster.

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
        "criterion": [StrOptions(set(CRITERIA_REG)), Hidden(_criterion.Criterion)],
    }

    def __init__(
        self,
        *,
        criterion="squared_error",
        splitter="best",
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        max_features=None,
        random_state=None,
        max_leaf_nodes=None,
        min_impurity_decrease=0.0,
        ccp_alpha=0.0,
        monotonic_cst=None,
        n_jobs=None,
        categorical_features="from_dtype",
        categorical_split="equality",
        missing_values=None,
    ):
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

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None, check_input=True):
        """Grow the tree.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The training rows; values are read as float32, NaN means missing.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            The targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows; None weighs them equally.
        check_input : bool, default=True
            False skips the checks of X and y.

        Returns
        -------
        DecisionTreeRegressor
            The fitted estimator.
        """
        return self._fit(X, y, sample_weight=sample_weight, check_input=check_input)

    def predict(self, X, check_input=True):
        """Return the value of the leaf of each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows; values are read as float32.
        check_input : bool, default=True
            False skips the checks of X, which must then be a float32 array or CSR matrix.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Means, or medians with absolute error, of the training targets in the leaves.
        """
        X = self._validate_X_predict(X, check_input)
        values = self.tree_.value[:, :, 0]
        return self._lookup(X, values[:, 0] if self.n_outputs_ == 1 else values)


@document("classification")
class ExtraTreeClassifier(DecisionTreeClassifier, sklearn.tree.ExtraTreeClassifier):
    """A decision tree for classification with random thresholds by default.

    A drop-in for :class:`sklearn.tree.ExtraTreeClassifier`; meant for ensembles.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    DecisionTreeClassifier : The same with other defaults.
    """

    def __init__(
        self,
        *,
        criterion="gini",
        splitter="random",
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        max_features="sqrt",
        random_state=None,
        max_leaf_nodes=None,
        min_impurity_decrease=0.0,
        class_weight=None,
        ccp_alpha=0.0,
        monotonic_cst=None,
        n_jobs=None,
        categorical_features="from_dtype",
        categorical_split="equality",
        missing_values=None,
    ):
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

    A drop-in for :class:`sklearn.tree.ExtraTreeRegressor`; meant for ensembles.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    DecisionTreeRegressor : The same with other defaults.
    """

    def __init__(
        self,
        *,
        criterion="squared_error",
        splitter="random",
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        max_features=1.0,
        random_state=None,
        max_leaf_nodes=None,
        min_impurity_decrease=0.0,
        ccp_alpha=0.0,
        monotonic_cst=None,
        n_jobs=None,
        categorical_features="from_dtype",
        categorical_split="equality",
        missing_values=None,
    ):
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
