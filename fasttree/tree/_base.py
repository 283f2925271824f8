"""What the estimators share: fit, prediction and pruning on fasttree's engine.

A fit checks its input, puts criterion, splitter and builder together, and hands the work to the
builder. Whatever would call scikit-learn's compiled code is replaced.
"""

from __future__ import annotations

import copy
from abc import ABCMeta
from numbers import Integral, Real
from typing import TYPE_CHECKING

import numpy as np
import sklearn
import sklearn.tree
from scipy.sparse import issparse
from sklearn import clone
from sklearn.base import ClassifierMixin
from sklearn.utils import Bunch, assert_all_finite, compute_sample_weight

from fasttree._config import get_config, growth_options
from fasttree._sklearn_compat import StrOptions, validate_parameter_constraints
from fasttree.table._encoder import table_encoder
from fasttree.table._rows import within_doubles
from fasttree.tree._criterion import ClassificationCriterion, Criterion, RegressionCriterion
from fasttree.tree._data import EncodedData, TrainingData
from fasttree.tree._monotonic import monotonic_constraints
from fasttree.tree._splitter import BestSplitter, RandomSplitter
from fasttree.tree._tree import Tree
from fasttree.tree._validation import (
    as_numbers,
    check_class_weight,
    check_encoded,
    check_fit_data,
    check_fit_table,
    check_grown,
    check_predict_data,
    check_predict_values,
    check_target,
    check_weights,
    deferred_check,
    encode_classes,
    keeps_earlier_fit,
    random_source,
    weigh_classes,
)
from fasttree.tree.fitted._fitted_state import check_fitted_state
from fasttree.tree.fitted._interop import to_sklearn
from fasttree.tree.growth._builder import BestFirstTreeBuilder, DepthFirstTreeBuilder
from fasttree.tree.pruning._pruning import ccp_pruning_path, prune_ccp
from fasttree.tree.pruning._settings import as_double, n_rows_of
from fasttree.tree.pruning._tunable import TunableMixin
from fasttree.utils._threads import effective_n_threads

if TYPE_CHECKING:
    from typing import Any

    from sklearn.pipeline import Pipeline

    from fasttree._typing import ColumnLike, IntArray, MatrixLike, Sparse, TargetLike

__all__ = [
    "BaseDecisionTree",
    "CRITERIA_CLF",
    "CRITERIA_REG",
    "DENSE_SPLITTERS",
    "SPARSE_SPLITTERS",
]


def _by_parameter(kind):
    """The criteria of a kind, by what estimators call them."""
    return {name: cls for cls in kind.__subclasses__() for name in cls.parameters}


CRITERIA_CLF = _by_parameter(ClassificationCriterion)
CRITERIA_REG = _by_parameter(RegressionCriterion)
DENSE_SPLITTERS = {"best": BestSplitter, "random": RandomSplitter}
SPARSE_SPLITTERS = DENSE_SPLITTERS  # they find out how X is stored
MAX_DEPTH = np.iinfo(np.int32).max
NO_DEFAULT = object()


class BaseDecisionTree(TunableMixin, sklearn.tree.BaseDecisionTree, metaclass=ABCMeta):
    """What the estimators share: fit, prediction and pruning on fasttree's engine.

    Use the derived classes.
    """

    tree_: Tree

    _parameter_constraints: dict = {
        **sklearn.tree.BaseDecisionTree._parameter_constraints,
        "n_jobs": [Integral, None],
        "categorical_features": ["array-like", StrOptions({"from_dtype"}), None],
        "categorical_split": [StrOptions({"equality", "subset"})],
        "missing_values": ["array-like", str, Real, None],
        "monotonic_cst": ["array-like", dict, None],
    }

    def _check_parameters(self):
        """Check the parameters, unless scikit-learn is told not to."""
        if not sklearn.get_config()["skip_parameter_validation"]:
            self._validate_params()

    def _validate_params(self):
        """Check the parameters that differ from their defaults, as scikit-learn checks them."""
        defaults = type(self).__init__.__kwdefaults__ or {}
        changed = {
            name: value
            for name, value in vars(self).items()
            if name in self._parameter_constraints and value is not defaults.get(name, NO_DEFAULT)
        }
        seed = changed.get("random_state")
        if type(seed) is int and 0 <= seed < 2**32:  # the check takes longer than some fits' search
            del changed["random_state"]
        if changed:
            validate_parameter_constraints(
                self._parameter_constraints, changed, caller_name=type(self).__name__
            )

    def __sklearn_is_fitted__(self):
        return "tree_" in vars(self)

    def __setstate__(self, state):
        check_fitted_state(state, isinstance(self, ClassifierMixin))
        super().__setstate__(state)

    # ---- fit

    @keeps_earlier_fit
    def _fit(
        self,
        X,
        y,
        sample_weight=None,
        check_input=True,
        missing_values_in_feature_mask=None,
    ):
        """Grow the tree; the ensembles call this with checked input."""
        data = self._read_data(X, y, sample_weight, check_input, reads_all=self._reads_all())
        self.tree_ = self._grow(data)
        self._table_encoder = data.table_encoder
        self._n_fit_rows = data.n_samples  # what fractions of rows refer to
        if isinstance(self, ClassifierMixin) and self.n_outputs_ == 1:
            self.n_classes_ = self.n_classes_[0]
            self.classes_ = self.classes_[0]
        self._prune_tree()
        return self

    def _reads_all(self):
        """Whether a fit searches all features of every node, in whatever way is fastest."""
        config = get_config()
        return (
            self.splitter == "best"
            and self.max_features is None
            and config["strategy"] == "auto"
            and not config["sklearn_random_stream"]
        )

    @within_doubles
    def _read_data(self, X, y, sample_weight, check_input=True, is_shared=False, reads_all=False):
        """Return the checked data of a fit, or of several that share it; set what it says of
        features and classes. `reads_all`: of one fit that reads all columns, of zeros and ones as
        bits; it checks other values once they are encoded."""
        encoder = check = None
        if isinstance(X, EncodedData):
            check_encoded(self, X)
            y, encoder = check_target(self, y), X.table_encoder
        elif check_input:
            read = check_fit_table(self, X, y, reads_all)
            if read is None:
                X, y = check_fit_data(self, X, y, reads_all)
                check = deferred_check(self, X, reads_all and not is_shared)
            else:
                X, y, encoder = read
        if check_input:
            self._criterion_type().check_target(y)
        self.n_features_in_ = X.shape[1]
        y, sample_weight = self._read_target(y, sample_weight, X)
        if isinstance(X, EncodedData):
            encoding, rows, y, sample_weight = X.sample(y, sample_weight)
            return TrainingData(encoding, y, sample_weight, rows, encoder)
        return TrainingData.of_rows(X, y, sample_weight, encoder, is_shared, check)

    def _read_target(self, y, sample_weight, X):
        """Return y as columns, numbers or codes, and weights with those of the classes."""
        y = np.atleast_1d(y)
        y = y.reshape(-1, 1) if y.ndim == 1 else y
        self.n_outputs_ = y.shape[1]
        class_weights = None
        if isinstance(self, ClassifierMixin):
            if self.class_weight is not None:
                check_class_weight(self.class_weight)
                class_weights = compute_sample_weight(self.class_weight, y)
            y, self.classes_ = encode_classes(y)
            self.n_classes_ = np.array([len(c) for c in self.classes_], dtype=np.intp)
        else:
            y = as_numbers(y)
        if len(y) != X.shape[0]:
            raise ValueError(
                f"Number of labels={len(y)} does not match number of samples={X.shape[0]}"
            )
        if sample_weight is not None:
            sample_weight = check_weights(sample_weight, X)
        if class_weights is not None:
            sample_weight = weigh_classes(sample_weight, class_weights)
        return y, sample_weight

    def _prepare(self, data, n_threads):
        """Encode data that trees share as they will read it."""
        self._make_builder(data).prepare(data.encoding, n_threads=n_threads, **growth_options())

    def _grow(self, data, n_threads=None, memory=None):
        """Return the tree of checked data, grown on threads as `n_jobs` says or a number.

        Data that is not encoded yet is encoded on as many. Forests pass memory.
        """
        builder = self._make_builder(data)
        encoding = data.encoding
        if encoding.category_counts is not None:
            self._check_categories(encoding.category_counts)
        is_classifier = isinstance(self, ClassifierMixin)
        n_classes = self.n_classes_ if is_classifier else np.ones(self.n_outputs_, np.intp)
        tree = Tree(encoding.n_features, n_classes, self.n_outputs_)
        if n_threads is None:
            n_threads = effective_n_threads(self.n_jobs, len(data.y) * encoding.n_features)
        builder.build(
            tree,
            encoding,
            data.y,
            data.sample_weight,
            data.rows,
            n_threads=n_threads,
            memory=memory,
            **growth_options(),
        )
        return tree

    def _make_builder(self, data):
        """Put criterion, splitter and builder together; fractions become numbers, and numbers
        beyond what the data can reach the least of these."""
        n_samples = data.n_samples
        min_samples_leaf = min(n_rows_of(self.min_samples_leaf, n_samples), n_samples)
        min_samples_split = min(n_rows_of(self.min_samples_split, n_samples), n_samples + 1)
        min_samples_split = max(min_samples_split, 2, 2 * min_samples_leaf)
        min_weight_leaf = 0.0
        if self.min_weight_fraction_leaf > 0.0:
            weights = data.sample_weight
            with np.errstate(over="ignore"):  # the criterion refuses such weights
                # The order of weights, and zeros among them, would show in the sum's last bits.
                total_weight = (
                    n_samples if weights is None else np.sort(weights[weights != 0]).sum()
                )
            min_weight_leaf = self.min_weight_fraction_leaf * total_weight
        self.max_features_ = self._n_features_per_node()

        splitter = DENSE_SPLITTERS[self.splitter](
            self._make_criterion(n_samples),
            min(self.max_features_, self.n_features_in_),
            min_samples_leaf,
            min_weight_leaf,
            self._source_of_seed(),
            monotonic_constraints(self),
            self.categorical_split == "subset",
        )
        max_depth = MAX_DEPTH if self.max_depth is None else min(self.max_depth, MAX_DEPTH)
        min_impurity_decrease = as_double(self.min_impurity_decrease)
        if self.max_leaf_nodes is None:
            return DepthFirstTreeBuilder(
                splitter,
                min_samples_split,
                min_samples_leaf,
                min_weight_leaf,
                max_depth,
                min_impurity_decrease,
            )
        return BestFirstTreeBuilder(
            splitter,
            min_samples_split,
            min_samples_leaf,
            min_weight_leaf,
            max_depth,
            min(self.max_leaf_nodes, max(n_samples, 2)),
            min_impurity_decrease,
        )

    def _source_of_seed(self):
        """Return what the splitter draws its seed from: nothing for an int and a search that
        looks at every feature in order."""
        if (
            isinstance(self.random_state, int)
            and self.splitter == "best"
            and self.max_features_ >= self.n_features_in_
            and not get_config()["sklearn_random_stream"]
        ):
            return 0
        return random_source(self.random_state)

    def _check_categories(self, n_categories):
        """Raise if a parameter does not go with categorical columns."""
        constraints = monotonic_constraints(self)
        if constraints is not None and np.any((n_categories > 0) & (constraints != 0)):
            raise ValueError("Monotonicity constraints are for columns without categories.")
        takes_sets = self.n_outputs_ == 1 and self._criterion_type().orders_categories
        if self.categorical_split == "subset" and self.splitter == "best" and not takes_sets:
            raise ValueError(
                "categorical_split='subset' finds sets of categories for one output, and not by "
                "absolute error; use categorical_split='equality'."
            )

    def _make_criterion(self, n_samples):
        if isinstance(self.criterion, Criterion):
            # It has state, and fits may run at the same time.
            return copy.deepcopy(self.criterion)
        size = self.n_classes_ if isinstance(self, ClassifierMixin) else n_samples
        return self._criterion_type()(self.n_outputs_, size)

    def _criterion_type(self):
        """Return the class of the criterion, which says what it can do."""
        if isinstance(self.criterion, Criterion):
            return type(self.criterion)
        criteria = CRITERIA_CLF if isinstance(self, ClassifierMixin) else CRITERIA_REG
        if not isinstance(self.criterion, str) or self.criterion not in criteria:
            names = ", ".join(sorted(criteria))
            raise ValueError(f"criterion must be one of {names}, got {self.criterion!r}.")
        return criteria[self.criterion]

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

    # ---- prediction

    def _validate_X_predict(self, X, check_input):
        """Return X as float32, checked against the data of the fit."""
        check_grown(self)
        X, accepted = check_predict_data(self, X, check_input)
        check_predict_values(self, X, accepted)
        return X

    def _n_walking(self, X):
        """Return how many threads may take rows to their leaves."""
        return effective_n_threads(self.n_jobs, X.shape[0] * (self.tree_.max_depth + 1))

    def _lookup(self, X, accepted, table):
        """Return the entries of a table with one entry per node, by the leaf of each row.

        X and `accepted` come from `check_predict_data`; the values of X are checked on the way.
        """
        if table.dtype.hasobject:
            return table.take(self._leaves(X, accepted), axis=0)
        found = self.tree_.lookup(X, table, self._n_walking(X), accepted)
        if found is None:
            check_predict_values(self, X, accepted)
        return found

    def _leaves(self, X, accepted):
        """Return the ids of the leaves of rows, as `_lookup`."""
        leaves = self.tree_.apply(X, self._n_walking(X), accepted)
        if leaves is None:
            check_predict_values(self, X, accepted)
        return leaves

    def apply(self, X: MatrixLike, check_input: bool = True) -> IntArray:
        """Return the id of the leaf that each row falls into.

        Parameters
        ----------
        X : array-like, sparse matrix or table of shape (n_samples, n_features)
            The rows, as in `fit`.
        check_input : bool, default=True
            False skips the checks of X, which must then be a float32 array or CSR matrix.

        Returns
        -------
        ndarray of shape (n_samples,), dtype=intp
            Ids of leaves, positions in the arrays of `tree_`.
        """
        check_grown(self)
        return self._leaves(*check_predict_data(self, X, check_input))

    def decision_path(self, X: MatrixLike, check_input: bool = True) -> Sparse:
        """Return which nodes each row passes through.

        Parameters
        ----------
        X : array-like, sparse matrix or table of shape (n_samples, n_features)
            The rows, as in `fit`.
        check_input : bool, default=True
            False skips the checks of X, which must then be a float32 array or CSR matrix.

        Returns
        -------
        CSR matrix of shape (n_samples, n_nodes)
            Ones where a row passes through a node.
        """
        X = self._validate_X_predict(X, check_input)
        return self.tree_.decision_path(X, self._n_walking(X))

    @property
    def categories_(self) -> list[list[Any]]:
        """list of list: categories of each column in code order, if fitted on a table."""
        if table_encoder(self) is None:
            raise AttributeError(
                f"{type(self).__name__} has no categories_: it was not fitted on a table."
            )
        return table_encoder(self).categories

    # ---- pruning and exchange

    def _prune_tree(self):
        """Cut `tree_` by minimal cost-complexity pruning."""
        check_grown(self)
        if self.ccp_alpha != 0.0:
            self.tree_ = prune_ccp(self.tree_, as_double(self.ccp_alpha))

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
            `ccp_alphas`, the effective alpha of each subtree, and `impurities`, the total impurity
            of its leaves.
        """
        estimator = clone(self).set_params(ccp_alpha=0.0)
        estimator.fit(X, y, sample_weight=sample_weight)
        ccp_alphas, impurities = ccp_pruning_path(estimator.tree_)
        return Bunch(ccp_alphas=ccp_alphas, impurities=impurities)

    def to_sklearn(self) -> sklearn.tree.BaseDecisionTree | Pipeline:
        """Return a fitted scikit-learn estimator with the same tree.

        Returns
        -------
        estimator or Pipeline
            Of scikit-learn's class of the same name; its `tree_` is scikit-learn's own `Tree`. If
            the fit read a table of texts, booleans or objects, or was given `missing_values`, a
            pipeline whose last step is such an estimator: the first turns tables into numbers, with
            a column for each question about categories. The nodes keep their numbers.

        Examples
        --------
        >>> from fasttree.tree import DecisionTreeClassifier
        >>> tree = DecisionTreeClassifier().fit([[1], [2], [3], [4]], [0, 0, 1, 1])
        >>> type(tree.to_sklearn())
        <class 'sklearn.tree._classes.DecisionTreeClassifier'>
        """
        check_grown(self)
        return to_sklearn(self)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    # ---- missing values

    def _support_missing_values(self, X):
        """Whether X may hold NaN: sparse or not."""
        return self.__sklearn_tags__().input_tags.allow_nan

    def _compute_missing_values_in_feature_mask(self, X, estimator_name=None):
        """Check the values of X; of a sparse X no mask is needed."""
        if not issparse(X):
            return super()._compute_missing_values_in_feature_mask(X, estimator_name)
        assert_all_finite(
            X.data,
            allow_nan=self._support_missing_values(X),
            estimator_name=estimator_name or type(self).__name__,
            input_name="X",
        )
        return None
