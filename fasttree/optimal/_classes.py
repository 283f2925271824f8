"""The estimator: data in, the engine's proof and an ordinary `Tree` out."""

from __future__ import annotations

import copy
import sys
from math import ceil
from numbers import Integral, Real
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
import sklearn.tree
from scipy.sparse import issparse
from sklearn.utils import column_or_1d, compute_sample_weight
from sklearn.utils.validation import check_is_fitted

import fasttree.optimal._engine as _engine
from fasttree._sklearn_compat import Interval, RealNotInt, StrOptions
from fasttree.optimal._binarize import binarize
from fasttree.optimal._front import (
    FRONT_DTYPE,
    best_of_front,
    exact_objective,
    improving_sizes,
    scaled_price,
)
from fasttree.optimal._greedy import GreedyRival
from fasttree.optimal._growth import grow
from fasttree.optimal._limits import check_memory, least_rows, search_limits
from fasttree.optimal._options import SearchOptions
from fasttree.optimal._progress import Reporter, SearchProgress
from fasttree.optimal._weights import integer_weights
from fasttree.table._encoder import table_encoder
from fasttree.table._rows import check_indices, within_doubles
from fasttree.tree._classes import DecisionTreeClassifier
from fasttree.tree._data import EncodedData
from fasttree.tree._validation import (
    check_class_weight,
    check_encoded,
    check_fit_data,
    check_fit_table,
    check_target,
    check_values,
    check_weights,
    encode_classes,
    weigh_classes,
)
from fasttree.tree.fitted._fitted_state import check_tree_state
from fasttree.tree.fitted._interop import with_encoder
from fasttree.tree.pruning._settings import as_double
from fasttree.utils._threads import effective_n_threads

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn, Self

    from sklearn.pipeline import Pipeline

    from fasttree._typing import (
        CategoricalFeatures,
        ClassWeight,
        ColumnLike,
        MatrixLike,
        MissingValues,
        TargetLike,
    )

__all__ = ["OptimalDecisionTreeClassifier"]

MAX_DEPTH = 15


def _for_greedy_trees(name: str) -> Any:
    """An inherited method that this estimator does not have."""

    def absent(self: object) -> NoReturn:
        raise AttributeError(
            f"{type(self).__name__} has no {name}: the best small tree is not part of a larger "
            "one. Fit with pareto_front=True for the best tree of every size."
        )

    return property(absent)


class OptimalDecisionTreeClassifier(DecisionTreeClassifier):
    """A decision tree that is proven to have the smallest training error of its size.

    It is found by a search over all trees within the limits, by dynamic programming with branch
    and bound, instead of one greedy descent. It is meant for small trees: depth three to five on a
    few hundred binary splits takes from milliseconds to minutes.

    Parameters
    ----------
    max_depth : int, default=3
        Largest depth of the tree, 0 to 15. The time grows with the number of splits to this
        power.
    max_leaf_nodes : int, default=None
        Largest number of leaves; None means as many as the depth allows.
    min_samples_leaf : int or float, default=1
        Least number of rows of a leaf; a float is a fraction of the rows.
    min_weight_fraction_leaf : float, default=0.0
        Least weight of a leaf, as a fraction of the weight of all rows.
    complexity_penalty : float, default=0.0
        Price of a leaf, as a fraction of the total weight: the tree minimises its weighted error
        rate plus this times its number of leaves.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes; "balanced" makes them inversely proportional to their frequency.
    time_limit : float, default=None
        Seconds after which the best tree found so far is returned, with its gap.
    n_jobs : int, default=None
        Number of threads; None means one, -1 all. The objective does not depend on it; the
        tree may be another one with the same objective.
    n_thresholds : int, default=31
        Most thresholds tried per numeric column. Columns with at most this many thresholds have
        all of them; others have those nearest to even quantiles, and those of the greedy tree
        within the same limits, which is therefore never better. Likewise the most categories of
        a column that are split from the rest, the most frequent ones.
    categorical_features : "from_dtype", array-like of bool, int or str, or None, \
            default="from_dtype"
        Columns that hold categories only, as in :class:`fasttree.tree.DecisionTreeClassifier`.
    missing_values : float, str, array-like of these, or None, default=None
        Values that are missing besides None, NaN, NA, NaT and the empty string.
    cache_size : float, default=256
        Mebibytes that solved subproblems may take.
    pareto_front : bool, default=False
        Whether to solve for every number of leaves up to the limit.
    callback : callable, default=None
        Called about twenty times a second with a :class:`SearchProgress`; if it returns True,
        the search stops and the best tree found is kept.
    search_options : SearchOptions, default=None
        Switches of the search (experimental); None means the defaults.
    verbose : int, default=0
        1 prints a line per second: elapsed time, objective, bound, gap and subproblems.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    n_classes_ : int
        Number of classes.
    n_features_in_ : int
        Number of columns of the data.
    feature_importances_ : ndarray of shape (n_features,)
        Share of each column in the decrease of impurity.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if they are strings.
    tree_ : fasttree.tree._tree.Tree
        The tree, like that of any other estimator.
    objective_ : float
        Weighted training error rate plus penalties.
    lower_bound_ : float
        Proven: no tree over the candidate splits has a smaller objective.
    gap_ : float
        `objective_` less `lower_bound_`.
    is_optimal_ : bool
        Whether the gap is zero.
    thresholds_are_exhaustive_ : bool
        Whether the candidate splits are all there are, so that `is_optimal_` speaks of all trees.
    pareto_front_ : ndarray of shape (n_points,)
        With ``pareto_front=True``: fields `n_leaves`, `error` (weighted error rate of the best
        tree with at most so many leaves) and `lower_bound` of it, where the error improves.
    search_statistics_ : dict
        Counts of subproblems, depth-two calls, cache hits and bounds that cut.

    See Also
    --------
    fasttree.tree.DecisionTreeClassifier : Greedy trees, of any depth.

    Notes
    -----
    The search is that of MurTree [1]_ and STreeD [2]_ with threads as in P-STreeD [3]_, on
    bit-packed data. Weights are integers inside: exact for counts and class weights, otherwise
    rounded to a grid of which the largest weight takes 4096 steps.

    References
    ----------
    .. [1] E. Demirovic et al., "MurTree: Optimal Decision Trees via Dynamic Programming and
       Search", JMLR 23(26), 2022.
    .. [2] J. G. M. van der Linden, M. M. de Weerdt, E. Demirovic, "Necessary and Sufficient
       Conditions for Optimal Decision Trees using Dynamic Programming", NeurIPS 2023.
    .. [3] A.-A. Sandu, "P-STreeD: A Multithreaded Approach for DP Optimal Decision Trees",
       TU Delft, 2024.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from fasttree.optimal import OptimalDecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = OptimalDecisionTreeClassifier(max_depth=3).fit(X, y)
    >>> tree.is_optimal_, int((tree.predict(X) != y).sum())
    (True, 1)
    """

    # What the inherited methods ask for besides the parameters.
    criterion = "gini"
    splitter = "best"
    monotonic_cst = None

    _parameter_constraints: dict = {
        "max_depth": [Interval(Integral, 0, MAX_DEPTH, closed="both")],
        "max_leaf_nodes": [Interval(Integral, 1, None, closed="left"), None],
        "min_samples_leaf": [
            Interval(Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0.0, 1.0, closed="neither"),
        ],
        "min_weight_fraction_leaf": [Interval(Real, 0.0, 0.5, closed="both")],
        "complexity_penalty": [Interval(Real, 0.0, None, closed="left")],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "time_limit": [Interval(Real, 0.0, None, closed="neither"), None],
        "n_jobs": [Integral, None],
        "n_thresholds": [Interval(Integral, 1, None, closed="left")],
        **{
            name: DecisionTreeClassifier._parameter_constraints[name]
            for name in ("categorical_features", "missing_values")
        },
        "cache_size": [Interval(Real, 0.0, None, closed="left")],
        "pareto_front": ["boolean"],
        "callback": [callable, None],
        "search_options": [SearchOptions, None],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        *,
        max_depth: int = 3,
        max_leaf_nodes: int | None = None,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        complexity_penalty: float = 0.0,
        class_weight: ClassWeight = None,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        n_thresholds: int = 31,
        categorical_features: CategoricalFeatures = "from_dtype",
        missing_values: MissingValues = None,
        cache_size: float = 256,
        pareto_front: bool = False,
        callback: Callable[[SearchProgress], bool | None] | None = None,
        search_options: SearchOptions | None = None,
        verbose: int = 0,
    ) -> None:
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.complexity_penalty = complexity_penalty
        self.class_weight = class_weight
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.n_thresholds = n_thresholds
        self.categorical_features = categorical_features
        self.missing_values = missing_values
        self.cache_size = cache_size
        self.pareto_front = pareto_front
        self.callback = callback
        self.search_options = search_options
        self.verbose = verbose

    def __setstate__(self, state):
        super().__setstate__(state)
        if hasattr(self, "pareto_front_"):
            front, trees = self.pareto_front_, getattr(self, "_front_trees", None)
            if (
                not isinstance(front, np.ndarray)
                or front.dtype.newbyteorder("=") != FRONT_DTYPE
                or not isinstance(trees, list)
                or not front.shape == (len(trees),)
                or not trees
                or not hasattr(self, "tree_")
            ):
                raise ValueError("pareto_front_ must be an array with an entry for every tree.")
            for tree in trees:
                check_tree_state(tree, like=self.tree_)

    # ---- fit

    def fit(  # type: ignore[override]  # what is solved is always checked
        self, X: MatrixLike, y: TargetLike, sample_weight: ColumnLike | None = None
    ) -> Self:
        """Search the best tree.

        Parameters
        ----------
        X : array-like, sparse matrix or table of shape (n_samples, n_features)
            The training rows; numbers are read as float32, NaN is missing. Tables may hold
            categories, see :class:`fasttree.tree.DecisionTreeClassifier`.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows, not negative; rows of weight zero do not count.

        Returns
        -------
        self
        """
        started = perf_counter()
        self._validate_params()
        X, codes, weights = self._checked_data(X, y, sample_weight)
        integers, unit = integer_weights(weights)
        total = int(integers.sum())
        depth, budgets = search_limits(
            self.max_depth,
            self.max_leaf_nodes,
            self.complexity_penalty,
            self.pareto_front,
            len(codes),
        )
        n_threads = effective_n_threads(self.n_jobs)
        encoder = table_encoder(self)
        n_categories = None if encoder is None else encoder.n_categories
        rival = GreedyRival(self, X, codes, integers, depth, budgets[1] + 1, n_categories)
        splits = binarize(X, self.n_thresholds, n_categories, rival)
        check_memory(splits.columns.shape, self.n_classes_, depth, budgets, n_threads)
        reporter = Reporter(total, self.complexity_penalty, self.callback, self.verbose)
        penalty = scaled_price(self.complexity_penalty, total)
        options = self.search_options or SearchOptions()
        if self.time_limit is not None or self.callback is not None:
            rival.grow()
        elapsed = perf_counter() - started
        limit = 0.0 if self.time_limit is None else max(1e-6, as_double(self.time_limit) - elapsed)
        result = _engine.solve(
            splits.columns,
            codes,
            integers,
            n_classes=max(2, self.n_classes_),
            depth=depth,
            node_range=budgets,
            min_leaf_samples=least_rows(self.min_samples_leaf, len(codes)),
            min_leaf_weight=max(1, ceil(self.min_weight_fraction_leaf * total)),
            leaf_penalty=penalty,
            options=options.for_engine(
                n_threads=n_threads,
                time_limit=limit,
                cache_bytes=int(min(self.cache_size * 2**20, sys.maxsize)),
            ),
            instruction_set=options.instruction_set,
            with_front_trees=self.pareto_front,
            callback=reporter if reporter.is_needed else None,
        )

        if n_categories is None:
            n_categories = np.zeros(self.n_features_in_, dtype=np.uint32)

        def tree_of(nodes):
            return grow(nodes, splits, codes, integers, unit, n_categories, self.n_classes_)

        self.tree_ = tree_of(result["tree"])
        if rival.tree is not None:
            price = penalty * rival.tree.n_leaves
            objective = rival.error() * _engine.PENALTY_SCALE + price
            if objective < result["upper"]:
                self.tree_, result["upper"] = rival.tree, objective
        self.objective_, self.lower_bound_ = exact_objective(
            result, penalty, self.tree_.n_leaves, budgets[1] + 1, self.complexity_penalty, total
        )
        self.gap_ = self.objective_ - self.lower_bound_
        elapsed, n_nodes = perf_counter() - started, result["statistics"]["n_nodes"]
        reporter.print(
            SearchProgress(elapsed, n_nodes, self.objective_, self.lower_bound_, self.gap_)
        )
        self.is_optimal_ = result["lower"] >= result["upper"]
        self.thresholds_are_exhaustive_ = splits.is_exhaustive
        self.search_statistics_ = dict(result["statistics"])
        self._keep_front(result, budgets, total, tree_of)
        return self

    @within_doubles
    def _checked_data(self, X, y, sample_weight):
        """Return rows of positive weight: float32 X, int32 classes and float64 weights."""
        if isinstance(X, EncodedData):
            check_encoded(self, X)
            read = X.cells, check_target(self, y), X.table_encoder
        else:
            read = check_fit_table(self, X, y)
        X, y, self._table_encoder = (*check_fit_data(self, X, y), None) if read is None else read
        if issparse(X):
            check_indices(X)
            X = X.toarray()
        if read is None:
            check_values(self, X, effective_n_threads(self.n_jobs, X.size))  # refuses infinity
        self.n_features_in_ = X.shape[1]
        self._n_fit_rows = len(X)
        y = column_or_1d(y, warn=True)
        if len(y) != len(X):
            raise ValueError(f"Number of labels={len(y)} does not match number of samples={len(X)}")
        weights = np.ones(len(X))
        if sample_weight is not None:
            weights = check_weights(sample_weight, X)
            if weights.min() < 0:
                raise ValueError("Negative values in sample_weight are not supported.")
        if self.class_weight is not None:
            check_class_weight(self.class_weight)
            weights = weigh_classes(weights, compute_sample_weight(self.class_weight, y))
        codes, (self.classes_,) = encode_classes(y.reshape(-1, 1))
        self.n_classes_ = len(self.classes_)
        self.n_outputs_ = 1
        codes = codes[:, 0].astype(np.int32)
        if weights.min() > 0:
            return X, codes, weights
        is_used = weights > 0
        if not is_used.any():
            raise ValueError("The weights of all rows are zero.")
        return X[is_used], codes[is_used], weights[is_used]

    def _keep_front(self, result, budgets, total, tree_of):
        """Keep the sizes at which the error improves, and their trees."""
        for name in ("pareto_front_", "_front_trees"):
            vars(self).pop(name, None)
        if self.pareto_front:
            upper, lower = result["front_upper"], result["front_lower"]
            self.pareto_front_, kept = improving_sizes(upper, lower, budgets[0] + 1, total)
            self._front_trees = [tree_of(result["front_trees"][k]) for k in kept]

    # ---- after the fit

    def from_front(
        self, *, max_leaf_nodes: int | None = None, complexity_penalty: float | None = None
    ) -> Self:
        """Return the fitted estimator that another budget or penalty would have given.

        Parameters
        ----------
        max_leaf_nodes : int, default=None
            Largest number of leaves; None means as many as were solved for.
        complexity_penalty : float, default=None
            Price of a leaf; None means the fitted estimator's.

        Returns
        -------
        OptimalDecisionTreeClassifier
            A copy with these parameters and their tree, of ``pareto_front_``.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from fasttree.optimal import OptimalDecisionTreeClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> tree = OptimalDecisionTreeClassifier(max_depth=2, pareto_front=True).fit(X, y)
        >>> tree.get_n_leaves(), tree.from_front(max_leaf_nodes=2).get_n_leaves()
        (3, 2)
        """
        check_is_fitted(self, "pareto_front_", msg="Fit with pareto_front=True first.")
        result = copy.copy(self)
        if max_leaf_nodes is not None:
            if not isinstance(max_leaf_nodes, Integral) or max_leaf_nodes < 1:
                raise ValueError(f"max_leaf_nodes must be a positive int, got {max_leaf_nodes!r}.")
            result.max_leaf_nodes = max_leaf_nodes
        if complexity_penalty is not None:
            if not complexity_penalty >= 0:
                raise ValueError(
                    f"complexity_penalty must not be negative, got {complexity_penalty!r}."
                )
            result.complexity_penalty = complexity_penalty
        most = None if max_leaf_nodes is None else min(max_leaf_nodes, 2**MAX_DEPTH)
        chosen, result.objective_, result.lower_bound_ = best_of_front(
            self.pareto_front_, most, result.complexity_penalty
        )
        result.tree_ = self._front_trees[chosen]
        result.gap_ = result.objective_ - result.lower_bound_
        result.is_optimal_ = result.gap_ == 0
        return result

    def to_sklearn(self) -> sklearn.tree.DecisionTreeClassifier | Pipeline:
        """Return a fitted scikit-learn estimator with the same tree.

        Returns
        -------
        sklearn.tree.DecisionTreeClassifier or Pipeline
            Its `tree_` is scikit-learn's own `Tree`; a pipeline of an encoder and such a tree if
            the fit read a table.
        """
        check_is_fitted(self)
        result = sklearn.tree.DecisionTreeClassifier(
            max_depth=max(1, self.max_depth),
            min_samples_leaf=self.min_samples_leaf,
            min_weight_fraction_leaf=self.min_weight_fraction_leaf,
            class_weight=self.class_weight,
        )
        if self.max_leaf_nodes is not None:
            result.max_leaf_nodes = max(2, self.max_leaf_nodes)
        for name in ("classes_", "n_classes_", "n_outputs_", "n_features_in_"):
            setattr(result, name, getattr(self, name))
        if hasattr(self, "feature_names_in_"):
            result.feature_names_in_ = self.feature_names_in_
        result.max_features_ = self.n_features_in_
        return with_encoder(self, result)

    cost_complexity_pruning_path = _for_greedy_trees("cost_complexity_pruning_path")
    prune = _for_greedy_trees("prune")
    reduced_error_prune = _for_greedy_trees("reduced_error_prune")
    tune = _for_greedy_trees("tune")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.multi_output = False
        tags.classifier_tags.multi_label = False
        return tags
