"""What the forests share: fit, prediction and importances.

A forest reads and encodes its data once (`_growth.py`), draws a row count per tree
(`_bootstrap.py`), and predicts from one packed copy of its trees (`_store.pyx`), rows of the fit by
the trees that did not draw them (`_oob.py`). The classes derive from scikit-learn's, whose public
interface they keep; of scikit-learn's code for forests nothing runs but what `_sklearn_compat.py`
names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import hstack, issparse
from sklearn.base import ClassifierMixin
from sklearn.callback import CallbackSupportMixin
from sklearn.exceptions import DataConversionWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from fasttree._sklearn_compat import expanded_class_weights, fit_context, n_samples_of_bootstrap
from fasttree._warnings import warn_user
from fasttree.ensemble._bootstrap import MAX_SEED, Bootstrap, check_drawable, rows_of_bits
from fasttree.ensemble._compact import CompactForest
from fasttree.ensemble._growth import Plan, bare_copy, check_continues, grow_trees
from fasttree.ensemble._interop import ToSklearn
from fasttree.ensemble._memory import FitMemory, keeps_earlier_forest
from fasttree.table._encoder import table_encoder
from fasttree.tree._base import BaseDecisionTree
from fasttree.tree._data import EncodedData
from fasttree.tree._validation import (
    as_numbers,
    check_class_weight,
    check_predict_data,
    check_predict_values,
    check_weights,
    encode_classes,
    weigh_classes,
)
from fasttree.utils._finite import SOME_INFINITE
from fasttree.utils._threads import effective_n_threads

if TYPE_CHECKING:
    from typing import Self

    from fasttree._typing import (
        ColumnLike,
        FloatArray,
        IntArray,
        MatrixLike,
        Sparse,
        TargetLike,
    )

__all__ = ["CONSTRAINTS", "Forest"]

# Of parameters of fasttree's trees that scikit-learn's forests do not know.
CONSTRAINTS = {
    name: BaseDecisionTree._parameter_constraints[name]
    for name in ("categorical_features", "categorical_split", "missing_values")
}


class Forest(ToSklearn, CallbackSupportMixin):
    """What the forests share, put before scikit-learn's class of the same name."""

    def _complete_init(self, tree, **parameters):
        """Take a tree of fasttree's and the parameters that scikit-learn's forest does not know."""
        self.estimator = tree
        for name, value in parameters.items():
            setattr(self, name, value)
        self.estimator_params = (*self.estimator_params, *parameters)

    # ---- fit

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: MatrixLike, y: TargetLike, sample_weight: ColumnLike | None = None) -> Self:
        """Grow the trees.

        Parameters
        ----------
        X : array-like, sparse matrix, table or EncodedData of shape (n_samples, n_features)
            The training rows; numbers are read as float32, NaN means missing. Tables may hold
            categories: see `categorical_features`.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            The targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows; None gives all the same weight. With `bootstrap=True` rows are
            drawn in proportion to them; otherwise they count in every tree.

        Returns
        -------
        self
            The fitted forest.
        """
        self._fit(X, y, sample_weight)
        return self

    @keeps_earlier_forest
    def _fit(self, X, y, sample_weight):
        """Grow the trees; return the data they grew on."""
        if issparse(y):
            raise ValueError("sparse multilabel-indicator for y is not supported.")
        earlier_encoder = table_encoder(self)
        data = self._read_data(X, y, sample_weight, is_shared=True)
        bootstrap = self._make_bootstrap(data)
        self.estimator_ = self.estimator
        source = check_random_state(self.random_state)
        trees = list(self.estimators_) if self._continues() else []
        n_more = self.n_estimators - len(trees)
        if n_more < 0:
            raise ValueError(
                f"n_estimators={self.n_estimators} must be larger or equal to "
                f"len(estimators_)={len(trees)} when warm_start==True"
            )
        context = self._init_callback_context(max_subtasks=n_more)
        context.call_on_fit_task_begin(estimator=self, X=X, y=y)
        if n_more == 0:
            warn_user("Warm-start fitting without increasing n_estimators does not fit new trees.")
        else:
            if trees:
                check_continues(self, earlier_encoder, data.table_encoder)
                source.randint(MAX_SEED, size=len(trees))  # as if they were drawn now
            seeds = source.randint(MAX_SEED, size=n_more).tolist()
            trees += self._grow(data, bootstrap, seeds, context)
        self.estimators_ = trees
        self._table_encoder = data.table_encoder
        self._memory = FitMemory(data if bootstrap is not None else None)
        if self.oob_score and (n_more > 0 or not hasattr(self, "oob_score_")):
            self._set_oob_score_and_attributes(data, bootstrap)
        if isinstance(self, ClassifierMixin) and self.n_outputs_ == 1:
            self.classes_, self.n_classes_ = self.classes_[0], self.n_classes_[0]
        context.call_on_fit_task_end(estimator=self, X=X, y=y)
        return data

    def _continues(self):
        """Whether the fit adds to the trees that there are."""
        return self.warm_start and hasattr(self, "estimators_")

    def _read_data(self, X, y, sample_weight, is_shared):
        """Return the checked data, as of a tree; set what it says of features and classes."""
        if isinstance(X, EncodedData):
            X = X.in_order()
        return BaseDecisionTree._read_data(self, X, y, sample_weight, is_shared=is_shared)

    _criterion_type = BaseDecisionTree._criterion_type  # asked by the above

    def _read_target(self, y, sample_weight, X):
        """Return y as float64 columns and weights with those of the classes."""
        y = np.atleast_1d(y)
        if y.ndim == 2 and y.shape[1] == 1:
            warn_user(
                "A column-vector y was passed when a 1d array was expected. Please change the "
                "shape of y to (n_samples,), for example using ravel().",
                DataConversionWarning,
            )
        y = y.reshape(len(y), -1)
        if len(y) != X.shape[0]:
            raise ValueError(
                "Found input variables with inconsistent numbers of samples: "
                f"{[X.shape[0], len(y)]}"
            )
        if sample_weight is not None:
            sample_weight = check_weights(sample_weight, X)
        self._n_samples, self.n_outputs_ = y.shape
        if not isinstance(self, ClassifierMixin):
            return as_numbers(y), sample_weight
        class_weights = None
        codes, self.classes_ = encode_classes(y)
        self.n_classes_ = [len(classes) for classes in self.classes_]
        if self.class_weight is not None:
            check_class_weight(self.class_weight)
            class_weights = expanded_class_weights(self, y, sample_weight)
        if class_weights is not None:
            sample_weight = weigh_classes(sample_weight, class_weights)
        return codes, sample_weight

    def _make_bootstrap(self, data):
        """Return how rows are drawn, or None; set what says so to scikit-learn."""
        self._sample_weight, self._n_samples_bootstrap = data.sample_weight, None
        if not self.bootstrap:
            if self.max_samples is not None:
                raise ValueError(
                    "`max_sample` cannot be set if `bootstrap=False`. Either switch to "
                    "`bootstrap=True` or set `max_sample=None`."
                )
            if self.oob_score:
                raise ValueError("Out of bag estimation only available if bootstrap=True")
            return None
        check_drawable(data.sample_weight)
        self._n_samples_bootstrap = n_samples_of_bootstrap(
            data.n_samples, self.max_samples, data.sample_weight
        )
        return self._bootstrap()

    def _bootstrap(self):
        return Bootstrap(self._n_samples, self._n_samples_bootstrap, self._sample_weight)

    def _grow(self, data, bootstrap, seeds, context):
        """Return the grown trees as estimators."""
        template = self._make_template(data.n_samples, data.table_encoder)
        balances = bootstrap is not None and getattr(self, "class_weight", None) == (
            "balanced_subsample"
        )
        plan = Plan(template, data, bootstrap, balances)
        finished = _finished(template)
        trees = grow_trees(plan, seeds, self.n_jobs, self.verbose)
        estimators = []
        for number, seed in enumerate(seeds):
            if self.verbose > 1:
                print(f"building tree {number + 1} of {len(seeds)}")  # noqa: T201 (verbose)
            own = context.subcontext(task_name="tree")
            own.call_on_fit_task_begin(estimator=self)
            estimators.append(bare_copy(finished, random_state=seed, tree_=next(trees)))
            own.call_on_fit_task_end(estimator=self)
            if number == 0 and not self._continues():
                self._forget_trees()
        next(trees, None)  # lets the back-end end
        return estimators

    def _forget_trees(self):
        """Release the trees of an earlier fit: most errors have shown by the first new tree."""
        for name in ("estimators_", "_memory", "_earlier_fit"):
            vars(self).pop(name, None)

    def _adopt_trees(self, trees, seeds):
        """Take trees that were grown before, with their random states."""
        finished = _finished(self._make_template(self._n_samples, self._table_encoder))
        self.estimators_ = [
            bare_copy(finished, random_state=seed, tree_=tree) for tree, seed in zip(trees, seeds)
        ]

    def _make_template(self, n_samples, encoder):
        """Return a tree with the forest's parameters that lacks nothing but `tree_`."""
        params = {name: getattr(self, name) for name in self.estimator_params}
        template = bare_copy(self.estimator_, **params)
        template.n_features_in_ = self.n_features_in_
        template.n_outputs_ = self.n_outputs_
        template._n_fit_rows = n_samples
        template._table_encoder = encoder
        if isinstance(self, ClassifierMixin):
            template.n_classes_ = np.atleast_1d(np.array(self.n_classes_, dtype=np.intp))
            template.classes_ = [np.arange(n, dtype=np.float64) for n in template.n_classes_]
        template.max_features_ = template._n_features_per_node()
        return template

    # ---- pickles, and the trees of one that was loaded

    def __sklearn_is_fitted__(self):
        return "_memory" in vars(self) and len(self) > 0

    def __getattr__(self, name):
        memory = vars(self).get("_memory")
        if name != "estimators_" or memory is None or (compact := memory.compact) is None:
            return self.__getattribute__(name)  # raises what it raised: a property may say why
        self.estimators_ = memory.restore(compact)
        memory.compact = None  # other threads find the trees by now
        return self.estimators_

    def __getstate__(self):
        state = dict(super().__getstate__())
        if "_memory" in state and self._memory.compact is not None:
            return state | {"_memory": self._memory.compact}
        if "_memory" in state:
            state["_memory"] = None
            compact = CompactForest.of(self.estimators_, lambda: self._memory.store(self._trees()))
            if compact is not None:
                del state["estimators_"]
                state["_memory"] = compact
        return state

    def __setstate__(self, state):
        state = dict(state)
        compact = state.get("_memory")
        if "_memory" in state:
            state["_memory"] = FitMemory(compact=compact)
        super().__setstate__(state)
        if compact is not None:
            compact.check(self)

    # ---- prediction

    def _read_rows(self, X):
        """Return the rows of X and what they may hold, as `check_predict_data`."""
        check_is_fitted(self)
        return check_predict_data(self, X)

    def _trees(self):
        return [estimator.tree_ for estimator in self.estimators_]

    def _sums(self, X, accepted=SOME_INFINITE, takes=None, n_taken=None):
        """Return the sum over the trees of the values (n_outputs, max_n_classes) of rows' leaves;
        with `takes`, over those trees that take a row, whose number is added to `n_taken`."""
        shape = (self.n_outputs_, int(np.max(getattr(self, "n_classes_", 1))))
        sums = np.zeros((X.shape[0], shape[0] * shape[1]))
        n_threads = self._n_walking(X)
        if issparse(X):
            for number, tree in enumerate(self._trees()):
                if takes is None:
                    sums += tree.predict(X, n_threads).reshape(sums.shape)
                    continue
                rows = rows_of_bits(takes[number], X.shape[0])
                sums[rows] += tree.predict(X[rows]).reshape(-1, sums.shape[1])
                n_taken[rows] += 1
            return sums.reshape(-1, *shape)
        store = self._memory.loaded_store()
        if store is None:
            store = self._memory.store(self._trees())
        if not store.add(X, sums, n_threads, accepted, takes, n_taken):
            check_predict_values(self, X, accepted)
        return sums.reshape(-1, *shape)

    def _means(self, X):
        """Return the mean over the trees of the values of rows' leaves."""
        sums = self._sums(*self._read_rows(X))
        sums /= len(self)
        return sums

    def __len__(self):
        compact = self._memory.compact
        return len(self.estimators_ if compact is None else compact.seeds)

    def _n_walking(self, X):
        return effective_n_threads(self.n_jobs, X.shape[0] * len(self))

    def apply(self, X: MatrixLike) -> IntArray:
        """Return the leaf of each row in each tree.

        Parameters
        ----------
        X : array-like, sparse matrix or table of shape (n_samples, n_features)
            The rows, as in `fit`.

        Returns
        -------
        ndarray of shape (n_samples, n_estimators), dtype=intp
            Ids of leaves, positions in the arrays of each tree's `tree_`.
        """
        X, accepted = self._read_rows(X)
        check_predict_values(self, X, accepted)
        n_threads = self._n_walking(X)
        return np.array([tree.apply(X, n_threads) for tree in self._trees()]).T

    def decision_path(self, X: MatrixLike) -> tuple[Sparse, IntArray]:
        """Return which nodes each row passes through.

        Parameters
        ----------
        X : array-like, sparse matrix or table of shape (n_samples, n_features)
            The rows, as in `fit`.

        Returns
        -------
        indicator : CSR matrix of shape (n_samples, n_nodes)
            Ones where a row passes through a node; the nodes of the trees side by side.
        n_nodes_ptr : ndarray of shape (n_estimators + 1,)
            Tree i has the columns from ``n_nodes_ptr[i]`` to ``n_nodes_ptr[i + 1]``.
        """
        X, accepted = self._read_rows(X)
        check_predict_values(self, X, accepted)
        n_threads = self._n_walking(X)
        paths = [tree.decision_path(X, n_threads) for tree in self._trees()]
        return hstack(paths).tocsr(), np.cumsum([0] + [path.shape[1] for path in paths])

    # ---- what scikit-learn's own methods ask for

    def _support_missing_values(self, X):
        return self.__sklearn_tags__().input_tags.allow_nan

    def _compute_missing_values_in_feature_mask(self, X, estimator_name=None):
        tree = type(self.estimator)(criterion=self.criterion)
        name = estimator_name or type(self).__name__
        return tree._compute_missing_values_in_feature_mask(X, estimator_name=name)

    def _validate_X_predict(self, X):
        X, accepted = self._read_rows(X)
        check_predict_values(self, X, accepted)
        return X

    def _get_estimators_indices(self):
        for estimator in self.estimators_:
            if self.bootstrap:
                yield self._bootstrap().indices(estimator.random_state)
            else:
                yield np.arange(self._n_samples, dtype=np.int32)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        return tags

    # ---- importances

    @property
    def feature_importances_(self) -> FloatArray:
        """ndarray of shape (n_features,): mean share of each feature in the decrease of impurity.

        They favour features of many values; see `oob_permutation_importances`.
        """
        check_is_fitted(self)
        trees = [tree for tree in self._trees() if tree.node_count > 1]
        if not trees:
            return np.zeros(self.n_features_in_)
        mean = np.mean([tree.compute_feature_importances() for tree in trees], axis=0)
        return mean / mean.sum()


def _finished(template):
    """A tree that is fitted as soon as it has `tree_`: of one output, classes are no list."""
    if isinstance(template, ClassifierMixin) and template.n_outputs_ == 1:
        return bare_copy(template, classes_=template.classes_[0], n_classes_=template.n_classes_[0])
    return template
