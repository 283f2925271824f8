"""Random forests and extra-trees: scikit-learn's, of fasttree's trees.

Each subclasses scikit-learn's class of the same name, so that everything which asks for one of
those accepts it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import sklearn.ensemble

from fasttree._sklearn_compat import Hidden, StrOptions
from fasttree.ensemble._base import CONSTRAINTS
from fasttree.ensemble._docs import document_forest
from fasttree.ensemble._tasks import ClassifierForest, RegressorForest
from fasttree.tree._base import CRITERIA_CLF, CRITERIA_REG
from fasttree.tree._classes import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
)
from fasttree.tree._criterion import Criterion

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from numpy.typing import ArrayLike

    from fasttree._typing import (
        CategoricalFeatures,
        CategoricalSplit,
        ClassificationCriterion,
        ForestClassWeights,
        MaxFeatures,
        MissingValues,
        RandomState,
        RegressionCriterion,
    )

__all__ = [
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "RandomForestClassifier",
    "RandomForestRegressor",
]


@document_forest("classification")
class RandomForestClassifier(ClassifierForest, sklearn.ensemble.RandomForestClassifier):
    """A random forest for classification.

    A drop-in replacement for :class:`sklearn.ensemble.RandomForestClassifier`. With the same
    `random_state` it draws the same bootstrap samples.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    ExtraTreesClassifier : The same with random thresholds.
    RandomForestRegressor : For numeric targets.

    Notes
    -----
    All trees grow on one encoding of the data. The forest is the same for any number of threads and
    on any back-end of joblib.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from fasttree.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RandomForestClassifier(n_estimators=10, random_state=0).fit(X, y)
    >>> len(forest.estimators_), round(forest.score(X, y), 1)
    (10, 1.0)
    """

    _parameter_constraints: dict = {
        **sklearn.ensemble.RandomForestClassifier._parameter_constraints,
        **CONSTRAINTS,
        "criterion": [StrOptions(set(CRITERIA_CLF)), Hidden(Criterion)],
    }

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: ClassificationCriterion = "gini",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: MaxFeatures = "sqrt",
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = True,
        oob_score: bool | Callable[..., Any] = False,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
        warm_start: bool = False,
        class_weight: ForestClassWeights = None,
        ccp_alpha: float = 0.0,
        max_samples: int | float | None = None,
        monotonic_cst: ArrayLike | None = None,
        categorical_features: CategoricalFeatures = "from_dtype",
        categorical_split: CategoricalSplit = "equality",
        missing_values: MissingValues = None,
    ) -> None:
        super().__init__(
            n_estimators=n_estimators,
            criterion=criterion,
            max_depth=max_depth,
            min_samples_split=min_samples_split,
            min_samples_leaf=min_samples_leaf,
            min_weight_fraction_leaf=min_weight_fraction_leaf,
            max_features=max_features,
            max_leaf_nodes=max_leaf_nodes,
            min_impurity_decrease=min_impurity_decrease,
            bootstrap=bootstrap,
            oob_score=oob_score,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
            warm_start=warm_start,
            class_weight=class_weight,
            ccp_alpha=ccp_alpha,
            max_samples=max_samples,
            monotonic_cst=monotonic_cst,
        )
        self._complete_init(
            DecisionTreeClassifier(),
            categorical_features=categorical_features,
            categorical_split=categorical_split,
            missing_values=missing_values,
        )


@document_forest("regression")
class RandomForestRegressor(RegressorForest, sklearn.ensemble.RandomForestRegressor):
    """A random forest for regression.

    A drop-in replacement for :class:`sklearn.ensemble.RandomForestRegressor`. With the same
    `random_state` it draws the same bootstrap samples.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    ExtraTreesRegressor : The same with random thresholds.
    RandomForestQuantileRegressor : Predicts quantiles.
    RandomForestClassifier : For class labels.

    Notes
    -----
    All trees grow on one encoding of the data. The forest is the same for any number of threads and
    on any back-end of joblib.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from fasttree.ensemble import RandomForestRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> forest = RandomForestRegressor(n_estimators=10, random_state=0).fit(X, y)
    >>> len(forest.estimators_), round(forest.score(X, y), 1)
    (10, 0.9)
    """

    _parameter_constraints: dict = {
        **sklearn.ensemble.RandomForestRegressor._parameter_constraints,
        **CONSTRAINTS,
        "criterion": [StrOptions(set(CRITERIA_REG)), Hidden(Criterion)],
    }

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: RegressionCriterion = "squared_error",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: MaxFeatures = 1.0,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = True,
        oob_score: bool | Callable[..., Any] = False,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
        warm_start: bool = False,
        ccp_alpha: float = 0.0,
        max_samples: int | float | None = None,
        monotonic_cst: ArrayLike | None = None,
        categorical_features: CategoricalFeatures = "from_dtype",
        categorical_split: CategoricalSplit = "equality",
        missing_values: MissingValues = None,
    ) -> None:
        super().__init__(
            n_estimators=n_estimators,
            criterion=criterion,
            max_depth=max_depth,
            min_samples_split=min_samples_split,
            min_samples_leaf=min_samples_leaf,
            min_weight_fraction_leaf=min_weight_fraction_leaf,
            max_features=max_features,
            max_leaf_nodes=max_leaf_nodes,
            min_impurity_decrease=min_impurity_decrease,
            bootstrap=bootstrap,
            oob_score=oob_score,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
            warm_start=warm_start,
            ccp_alpha=ccp_alpha,
            max_samples=max_samples,
            monotonic_cst=monotonic_cst,
        )
        self._complete_init(
            DecisionTreeRegressor(),
            categorical_features=categorical_features,
            categorical_split=categorical_split,
            missing_values=missing_values,
        )


@document_forest("classification")
class ExtraTreesClassifier(ClassifierForest, sklearn.ensemble.ExtraTreesClassifier):
    """Extremely randomized trees for classification.

    A drop-in replacement for :class:`sklearn.ensemble.ExtraTreesClassifier`. With the same
    `random_state` it draws the same bootstrap samples.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    RandomForestClassifier : The same with the best thresholds.
    ExtraTreesRegressor : For numeric targets.

    Notes
    -----
    Each feature that a node looks at is tried with one random threshold between its least and its
    largest value there.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from fasttree.ensemble import ExtraTreesClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = ExtraTreesClassifier(n_estimators=10, random_state=0).fit(X, y)
    >>> len(forest.estimators_), round(forest.score(X, y), 1)
    (10, 1.0)
    """

    _parameter_constraints: dict = {
        **sklearn.ensemble.ExtraTreesClassifier._parameter_constraints,
        **CONSTRAINTS,
        "criterion": [StrOptions(set(CRITERIA_CLF)), Hidden(Criterion)],
    }

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: ClassificationCriterion = "gini",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: MaxFeatures = "sqrt",
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = False,
        oob_score: bool | Callable[..., Any] = False,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
        warm_start: bool = False,
        class_weight: ForestClassWeights = None,
        ccp_alpha: float = 0.0,
        max_samples: int | float | None = None,
        monotonic_cst: ArrayLike | None = None,
        categorical_features: CategoricalFeatures = "from_dtype",
        categorical_split: CategoricalSplit = "equality",
        missing_values: MissingValues = None,
    ) -> None:
        super().__init__(
            n_estimators=n_estimators,
            criterion=criterion,
            max_depth=max_depth,
            min_samples_split=min_samples_split,
            min_samples_leaf=min_samples_leaf,
            min_weight_fraction_leaf=min_weight_fraction_leaf,
            max_features=max_features,
            max_leaf_nodes=max_leaf_nodes,
            min_impurity_decrease=min_impurity_decrease,
            bootstrap=bootstrap,
            oob_score=oob_score,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
            warm_start=warm_start,
            class_weight=class_weight,
            ccp_alpha=ccp_alpha,
            max_samples=max_samples,
            monotonic_cst=monotonic_cst,
        )
        self._complete_init(
            ExtraTreeClassifier(),
            categorical_features=categorical_features,
            categorical_split=categorical_split,
            missing_values=missing_values,
        )


@document_forest("regression")
class ExtraTreesRegressor(RegressorForest, sklearn.ensemble.ExtraTreesRegressor):
    """Extremely randomized trees for regression.

    A drop-in replacement for :class:`sklearn.ensemble.ExtraTreesRegressor`. With the same
    `random_state` it draws the same bootstrap samples.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    RandomForestRegressor : The same with the best thresholds.
    ExtraTreesClassifier : For class labels.

    Notes
    -----
    Each feature that a node looks at is tried with one random threshold between its least and its
    largest value there.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from fasttree.ensemble import ExtraTreesRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> forest = ExtraTreesRegressor(n_estimators=10, random_state=0).fit(X, y)
    >>> len(forest.estimators_), round(forest.score(X, y), 1)
    (10, 1.0)
    """

    _parameter_constraints: dict = {
        **sklearn.ensemble.ExtraTreesRegressor._parameter_constraints,
        **CONSTRAINTS,
        "criterion": [StrOptions(set(CRITERIA_REG)), Hidden(Criterion)],
    }

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: RegressionCriterion = "squared_error",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: MaxFeatures = 1.0,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = False,
        oob_score: bool | Callable[..., Any] = False,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
        warm_start: bool = False,
        ccp_alpha: float = 0.0,
        max_samples: int | float | None = None,
        monotonic_cst: ArrayLike | None = None,
        categorical_features: CategoricalFeatures = "from_dtype",
        categorical_split: CategoricalSplit = "equality",
        missing_values: MissingValues = None,
    ) -> None:
        super().__init__(
            n_estimators=n_estimators,
            criterion=criterion,
            max_depth=max_depth,
            min_samples_split=min_samples_split,
            min_samples_leaf=min_samples_leaf,
            min_weight_fraction_leaf=min_weight_fraction_leaf,
            max_features=max_features,
            max_leaf_nodes=max_leaf_nodes,
            min_impurity_decrease=min_impurity_decrease,
            bootstrap=bootstrap,
            oob_score=oob_score,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
            warm_start=warm_start,
            ccp_alpha=ccp_alpha,
            max_samples=max_samples,
            monotonic_cst=monotonic_cst,
        )
        self._complete_init(
            ExtraTreeRegressor(),
            categorical_features=categorical_features,
            categorical_split=categorical_split,
            missing_values=missing_values,
        )
