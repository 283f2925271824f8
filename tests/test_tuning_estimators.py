"""`prune`, `tune` and `reduced_error_prune` of fitted trees."""

import pickle
import warnings
from math import ceil

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn import clone
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.exceptions import NotFittedError
from sklearn.metrics import get_scorer, make_scorer, mean_pinball_loss
from sklearn.model_selection import train_test_split
from test_tuning_engine import UNLIMITED

import fasttree
from fasttree.tree import DecisionTree, DecisionTreeClassifier, DecisionTreeRegressor
from reference.problems import CLASSIFICATION, random_problem
from reference.trees import assert_same
from reference.tuning import least_error, leaves_below

CANCER = train_test_split(*load_breast_cancer(return_X_y=True), random_state=0)
DIABETES = train_test_split(*load_diabetes(return_X_y=True), random_state=0)


def fitted(data, **params):
    X, X_val, y, y_val = data
    cls = DecisionTreeClassifier if data is CANCER else DecisionTreeRegressor
    return cls(**params).fit(X, y), X_val, y_val


# ---- prune


WAYS_TO_CUT = {
    "prune": lambda model, *_, **copy: model.prune(max_depth=3, min_samples_split=0.1, **copy),
    "tune": lambda model, *rows, **copy: model.tune(*rows, {"max_depth": [1, 2]}, **copy).estimator,
    "reduced_error_prune": lambda model, *rows, **copy: model.reduced_error_prune(*rows, **copy),
}

each_way_to_cut = pytest.mark.parametrize("way", WAYS_TO_CUT)
each_estimator = pytest.mark.parametrize(
    "cls", [DecisionTree, DecisionTreeClassifier, DecisionTreeRegressor]
)


@each_estimator
@each_way_to_cut
def test_the_estimator_at_hand_stays_as_it_is(cls, way):
    X, X_val, y, y_val = CANCER
    model = cls(random_state=0).fit(X, y)
    before = pickle.dumps(model)
    cut = WAYS_TO_CUT[way](model, X_val, y_val)
    assert type(cut) is cls
    assert cut.get_n_leaves() < model.get_n_leaves()
    cut.tree_.value[:] = 0.0
    cut.set_params(max_features=1).fit(X[:20], y[:20])
    assert pickle.dumps(model) == before


def test_a_tree_that_loses_nothing_is_a_copy_too():
    model, _, _ = fitted(CANCER)
    before = pickle.dumps(model)
    whole = model.prune(max_depth=100)
    assert_same(whole.tree_, model.tree_)
    whole.tree_.value[:] = 0.0
    assert pickle.dumps(model) == before


@each_estimator
@each_way_to_cut
def test_in_place(cls, way):
    X, X_val, y, y_val = CANCER
    model = cls(random_state=0).fit(X, y)
    expected = WAYS_TO_CUT[way](model, X_val, y_val)
    assert WAYS_TO_CUT[way](model, X_val, y_val, copy=False) is model
    assert_same(model.tree_, expected.tree_)
    assert model.get_params() == expected.get_params()


def test_prune_sets_parameters():
    model, X_val, _ = fitted(CANCER)
    pruned = model.prune(max_depth=3, min_samples_split=0.1)
    assert (pruned.max_depth, pruned.min_samples_split) == (3, 0.1)
    refitted = clone(pruned).fit(CANCER[0], CANCER[2])
    assert_same(pruned.tree_, refitted.tree_)
    assert_array_equal(pruned.predict_proba(X_val), refitted.predict_proba(X_val))
    assert_same(
        pickle.loads(pickle.dumps(pruned)).prune(max_depth=2).tree_, pruned.prune(max_depth=2).tree_
    )


def test_prune_step_by_step():
    model, _, _ = fitted(CANCER)
    for limits in (
        {"max_depth": 5},
        {"min_impurity_decrease": 1e-3},
        {"max_leaf_nodes": 6},
        {"ccp_alpha": 0.01},
    ):
        model = model.prune(**limits)
        assert_same(model.tree_, clone(model).fit(CANCER[0], CANCER[2]).tree_)
    assert model.prune().get_n_leaves() == model.prune(ccp_alpha=0.01).get_n_leaves()


def test_fractions_refer_to_the_rows_of_fit():
    """Rows of weight zero are rows."""
    X, _, y, _ = CANCER
    weight = np.arange(len(X)) % 2
    model = DecisionTreeClassifier().fit(X, y, sample_weight=weight).prune(min_samples_split=0.1)
    expected = DecisionTreeClassifier(min_samples_split=0.1).fit(X, y, sample_weight=weight)
    assert_same(model.tree_, expected.tree_)
    assert_same(
        DecisionTreeClassifier()
        .fit(X, y, sample_weight=weight)
        .prune(min_samples_split=ceil(0.1 * len(X)))
        .tree_,
        expected.tree_,
    )


def test_prune_what_did_not_bind():
    """Limits that the tree never met may be loosened."""
    model, _, _ = fitted(CANCER, max_depth=50, max_leaf_nodes=500)
    assert model.prune(max_depth=None, max_leaf_nodes=None, min_samples_split=9).max_depth is None
    model, _, _ = fitted(CANCER, max_leaf_nodes=7)
    assert model.prune(max_leaf_nodes=4, max_depth=60, ccp_alpha=0.001).get_n_leaves() <= 4


@pytest.mark.parametrize(
    ("grown", "limits", "match"),
    [
        ({"max_depth": 3}, {"max_depth": 4}, "max_depth is to be looser"),
        ({"max_depth": 3}, {"max_depth": None}, "max_depth is to be looser"),
        (
            {"min_samples_split": 20},
            {"min_samples_split": 19},
            "looser than the min_samples_split=20",
        ),
        ({"min_samples_split": 0.2}, {"min_samples_split": 0.1}, "min_samples_split"),
        ({"min_impurity_decrease": 0.02}, {"min_impurity_decrease": 0.01}, "min_impurity_decrease"),
        ({"max_leaf_nodes": 5}, {"max_leaf_nodes": 6}, "looser than the max_leaf_nodes=5"),
        ({"max_leaf_nodes": 5}, {"max_depth": 2}, "grown best-first"),
        ({"max_leaf_nodes": 5}, {"min_samples_split": 50}, "grown best-first"),
        ({"ccp_alpha": 0.01}, {"max_depth": 2}, "pruned with ccp_alpha"),
        ({"ccp_alpha": 0.01}, {"ccp_alpha": 0.02}, "pruned with ccp_alpha"),
        ({}, {"max_depth": 0}, "'max_depth' parameter of DecisionTreeClassifier must be"),
        ({}, {"ccp_alpha": float("nan")}, "'ccp_alpha' parameter"),
        ({}, {"min_samples_split": 1.5}, "'min_samples_split' parameter"),
    ],
)
def test_prune_refuses_what_cutting_cannot_do(grown, limits, match):
    model, _, _ = fitted(CANCER, **grown)
    before = model.tree_
    with pytest.raises(ValueError, match=match):
        model.prune(**limits)
    assert model.tree_ is before


def test_prune_takes_only_limits():
    with pytest.raises(TypeError, match="criterion"):
        fitted(CANCER)[0].prune(criterion="entropy")
    with pytest.raises(NotFittedError):
        DecisionTreeClassifier().prune(max_depth=1)
    with fasttree.config_context(sklearn_random_stream=True):
        model, _, _ = fitted(CANCER, random_state=0)
        with pytest.raises(ValueError, match="sklearn_random_stream"):
            model.prune(max_depth=1)
        expected = clone(model).set_params(ccp_alpha=0.01).fit(CANCER[0], CANCER[2])
        assert_same(model.prune(ccp_alpha=0.01).tree_, expected.tree_)


def test_decision_tree_is_pruned_and_tuned():
    X, X_val, y, y_val = CANCER
    names = np.array(["benign", "malignant"])
    model = DecisionTree().fit(X, names[y])
    result = model.tune(X_val, names[y_val], {"max_depth": [1, 2, 3]})
    assert model.get_depth() > 3
    assert result.estimator.get_depth() == result.best_params["max_depth"]
    assert result.estimator.max_depth == result.estimator.estimator_.max_depth
    pruned = model.prune(max_depth=1)
    assert pruned.get_depth() == pruned.max_depth == pruned.estimator_.max_depth == 1


# ---- tune


@pytest.mark.cases(60)
def test_tune_scores_as_refitting_would(seed):
    rng = np.random.default_rng([seed, 9])
    problem = random_problem(seed, rows=(30, 100), n_outputs=1, **UNLIMITED)
    is_classifier = problem.params["criterion"] in CLASSIFICATION
    held_out = rng.random(len(problem.y)) < 0.3
    X_val, y_val = problem.X[held_out], problem.y[held_out]
    kept = problem.X[~held_out], problem.y[~held_out]
    seen = np.isin(y_val, kept[1])
    if is_classifier:
        X_val, y_val = X_val[seen], y_val[seen]
    if len(y_val) < 2 or problem.params["criterion"] == "poisson":
        return
    weight = rng.random(len(y_val)) if rng.random() < 0.5 else None
    grid = {
        "max_depth": [1, 2, 4, None],
        "min_samples_split": [2, 5, 0.3],
        "max_leaf_nodes": [None, 3],
    }
    scoring = "balanced_accuracy" if is_classifier and weight is None else None
    model = problem.estimator(fasttree.tree).fit(*kept)
    scorer = get_scorer(scoring) if scoring else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # classes without a row
        result = model.tune(X_val, y_val, grid, scoring, sample_weight=weight)
        for i, params in enumerate(result.params):
            refitted = problem.estimator(fasttree.tree, **params).fit(*kept)
            score = (
                scorer(refitted, X_val, y_val)
                if scorer
                else refitted.score(X_val, y_val, sample_weight=weight)
            )
            assert_allclose(result.scores[i], score, rtol=1e-12, atol=1e-12)
            assert result.n_leaves[i] == refitted.get_n_leaves()
    best = np.flatnonzero(result.scores == result.scores.max())
    assert result.best_index == best[np.argmin(result.n_leaves[best])]
    assert result.best_params == list(result.params)[result.best_index]
    assert result.best_score == result.scores[result.best_index]
    refitted = problem.estimator(fasttree.tree, **result.best_params).fit(*kept)
    assert_same(result.estimator.tree_, refitted.tree_)
    assert result.estimator.get_params() == refitted.get_params()


def test_default_grid_is_the_papers():
    model, X_val, y_val = fitted(CANCER)
    result = model.tune(X_val, y_val)
    n = len(CANCER[0])
    assert list(result.params.param_grid[0]["max_depth"]) == list(range(1, model.get_depth() + 1))
    assert result.params.param_grid[0]["min_samples_split"] == [
        max(2, ceil(k * 0.0002 * n)) for k in range(200)
    ]
    assert len(result.scores) == len(result.params) == 200 * model.get_depth()
    assert repr(result).startswith("TuningResult(best_params={")
    assert model.max_depth is None
    again = pickle.loads(pickle.dumps(result))
    assert again.best_params == result.best_params


def test_sparse_validation_rows():
    """Sparse rows score as dense ones do, and reduced-error pruning reads them too."""
    X, X_val, y, y_val = CANCER
    X, X_val = (np.where(table > np.median(table, axis=0), table, 0) for table in (X, X_val))
    dense = DecisionTreeClassifier().fit(X, y)
    thin = DecisionTreeClassifier().fit(sparse.csc_array(X), y)
    result = thin.tune(sparse.csr_array(X_val), y_val)
    assert_array_equal(result.scores, dense.tune(X_val, y_val).scores)
    assert_same(
        thin.reduced_error_prune(sparse.csr_array(X_val), y_val).tree_,
        dense.reduced_error_prune(X_val, y_val).tree_,
    )


def test_default_grid_of_a_limited_tree():
    model, X_val, y_val = fitted(CANCER, min_samples_split=12, max_depth=4)
    result = model.tune(X_val, y_val)
    assert min(result.params.param_grid[0]["min_samples_split"]) == 12
    assert result.estimator.get_depth() <= 4
    leaf = DecisionTreeClassifier().fit([[0.0], [1.0]], [1, 1])
    assert leaf.tune([[0.0]], [1]).best_params["max_depth"] == 1


def test_a_grid_in_parts():
    model, X_val, y_val = fitted(DIABETES)
    grid = [
        {"max_depth": [1, 2, 3]},
        {"ccp_alpha": [0.0, 1.0, 100.0], "min_samples_split": [2, 40]},
    ]
    result = model.tune(X_val, y_val, grid, scoring="neg_mean_absolute_error")
    assert len(result.scores) == 9
    errors = np.abs(result.estimator.predict(X_val) - y_val)
    assert_allclose(result.best_score, -errors.mean(), rtol=1e-14)


def test_any_scorer_tunes():
    model, X_val, y_val = fitted(DIABETES)
    scorer = make_scorer(mean_pinball_loss, greater_is_better=False, alpha=0.9)
    result = model.tune(X_val, y_val, {"max_depth": [1, 2, 3, 4]}, scorer)
    assert result.best_score == scorer(result.estimator, X_val, y_val)  # called on the cut tree


def test_ties_go_to_the_smallest_tree():
    """A validation set that one split predicts."""
    model, X_val, y_val = fitted(CANCER)
    stump = clone(model).set_params(max_depth=1).fit(CANCER[0], CANCER[2])
    agreed = stump.predict(X_val) == y_val
    result = model.tune(X_val[agreed], y_val[agreed], {"max_depth": [6, 5, 1, 2]})
    assert result.best_score == 1.0
    assert result.best_params == {"max_depth": 1}


@pytest.mark.parametrize(
    ("grid", "match"),
    [
        ({}, "empty"),
        ([], "empty"),
        ([{"max_depth": [1]}, {}], "empty"),
        ({"max_depth": []}, "max_depth"),
        ({"criterion": ["gini"]}, "'criterion' cannot be tuned by cutting"),
        ({"min_samples_leaf": [1]}, "TrainOnceSearchCV"),
        ({"max_depth": [1, 0]}, "'max_depth' parameter"),
    ],
)
def test_grids_that_cannot_be_tuned(grid, match):
    model, X_val, y_val = fitted(CANCER)
    with pytest.raises(ValueError, match=match):
        model.tune(X_val, y_val, grid)


def test_validation_rows_that_do_not_fit():
    model, X_val, y_val = fitted(CANCER)
    before = model.tree_
    with pytest.raises(ValueError, match=r"classes that fit did not see: \[7\]"):
        model.tune(X_val, np.where(y_val == 1, 7, 0))
    with pytest.raises(ValueError, match="expecting 30 features"):
        model.tune(X_val[:, :5], y_val)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.tune(X_val, y_val[:-1])
    with pytest.raises(ValueError, match="classes that fit did not see"):
        model.tune(X_val, np.where(y_val == 1, "yes", "no"))
    with pytest.raises(ValueError, match="infinity"):
        model.tune(np.full_like(X_val, np.inf), y_val)
    with pytest.raises(ValueError, match="sample_weight"):
        model.tune(X_val, y_val, sample_weight=[1.0])
    with pytest.raises(ValueError, match="y_val must hold the targets"):
        model.tune(X_val, None)
    with pytest.raises(NotFittedError):
        DecisionTreeClassifier().tune(X_val, y_val)
    assert model.tree_ is before
    X = pd.DataFrame(CANCER[0][:, :2], columns=["a", "b"])
    with pytest.raises(ValueError, match="feature names should match"):
        DecisionTreeClassifier().fit(X, CANCER[2]).tune(X.rename(columns={"a": "c"}), CANCER[2])


def test_probabilities_of_a_regressor_are_an_error():
    model, X_val, y_val = fitted(DIABETES)
    with pytest.raises(ValueError, match="needs predict_proba, which DecisionTreeRegressor"):
        model.tune(X_val, y_val, scoring="neg_log_loss")
    with pytest.raises(ValueError, match="NaN"):
        model.tune(X_val[:1], y_val[:1], {"max_depth": [1, 2]}, scoring=lambda model, X, y: np.nan)


@pytest.mark.parametrize("grown", [{"ccp_alpha": 0.01}, {"max_leaf_nodes": 4}])
def test_trees_that_cannot_be_tuned(grown):
    model, X_val, y_val = fitted(CANCER, **grown)
    with pytest.raises(ValueError, match="first"):
        model.tune(X_val, y_val)
    with pytest.raises(ValueError, match="sklearn_random_stream"):
        with fasttree.config_context(sklearn_random_stream=True):
            fitted(CANCER)[0].tune(X_val, y_val)


# ---- reduced-error pruning


@pytest.mark.cases(60)
def test_reduced_error_prune(seed):
    """Of all subtrees none is better on the validation rows, and none as good is smaller."""
    rng = np.random.default_rng([seed, 10])
    problem = random_problem(seed, rows=(30, 100), **UNLIMITED)
    model = problem.fit(fasttree.tree)
    rows = rng.permutation(len(problem.y))[:20]
    X_val, y_val = problem.X[rows], rng.permutation(problem.y[rows])
    weight = rng.integers(0, 3, len(rows)).astype(float) if rng.random() < 0.5 else None
    w = np.ones(len(rows)) if weight is None else weight
    tree, path = model.tree_, model.decision_path(X_val).toarray()
    targets = y_val.reshape(len(rows), -1)
    if problem.params["criterion"] in CLASSIFICATION:
        classes = model.classes_ if targets.shape[1] > 1 else [model.classes_]
        predicted = np.column_stack([c[k] for c, k in zip(classes, tree.value.argmax(axis=2).T)])
        losses = (targets[:, None] != predicted).sum(axis=2)
    else:
        power = 1 if problem.params["criterion"] == "absolute_error" else 2
        losses = (np.abs(targets[:, None] - tree.value[:, :, 0]) ** power).sum(axis=2)
    error = (path * losses * w[:, None]).sum(axis=0)
    least, n_leaves = least_error(tree, error)
    pruned = model.reduced_error_prune(X_val, y_val, weight)
    leaves = np.unique(pruned.apply(X_val))
    assert_allclose(
        (losses_of(pruned, X_val, targets, problem) * w).sum(), least, rtol=1e-9, atol=1e-9
    )
    if problem.params["criterion"] in CLASSIFICATION:
        assert pruned.get_n_leaves() == n_leaves
    assert len(leaves) <= pruned.get_n_leaves()
    tree = pruned.tree_
    assert leaves_below(tree, set(np.flatnonzero(tree.children_left >= 0)), 0)


def losses_of(model, X, targets, problem):
    predicted = model.predict(X).reshape(targets.shape)
    if problem.params["criterion"] in CLASSIFICATION:
        return (predicted != targets).sum(axis=1)
    power = 1 if problem.params["criterion"] == "absolute_error" else 2
    return (np.abs(predicted - targets) ** power).sum(axis=1)


def test_reduced_error_prune_checks_its_rows():
    model, X_val, y_val = fitted(CANCER)
    with pytest.raises(ValueError, match="did not see"):
        model.reduced_error_prune(X_val, y_val + 1)
    with pytest.raises(ValueError, match="same length"):
        model.reduced_error_prune(X_val, y_val[:-1])
    with pytest.raises(ValueError, match="expecting 30 features"):
        model.reduced_error_prune(X_val[:, :2], y_val)
    regressor, X_val, y_val = fitted(DIABETES)
    with pytest.raises(ValueError, match="y_val must hold the targets"):
        regressor.reduced_error_prune(X_val, None)
    with pytest.raises(ValueError, match="2 outputs"):
        regressor.reduced_error_prune(X_val, np.column_stack([y_val, y_val]))
    with pytest.raises(ValueError, match="finite"):
        regressor.reduced_error_prune(X_val, np.full(len(y_val), np.nan))


@pytest.mark.parametrize("weights", [[0.0, 0.0, 0.0, 0.0], [1.0, -1.0, 2.0, -2.0]])
@pytest.mark.parametrize("Tree", [DecisionTreeClassifier, DecisionTreeRegressor])
def test_validation_weights_that_sum_to_zero(Tree, weights):
    X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 1, 0]
    tree = Tree().fit(X, y)
    with pytest.raises(ValueError, match="zero"):
        tree.tune(X, y, {"max_depth": [1, 2]}, sample_weight=weights)
    with pytest.raises(ValueError, match="zero"):
        tree.reduced_error_prune(X, y, sample_weight=weights)
