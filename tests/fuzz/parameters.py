"""Parameters of estimators, mostly such as are taken, now and then one that is refused."""

import numpy as np

__all__ = ["draw_optimal_params", "draw_params"]

_CRITERIA_CLF = ["gini", "gini", "entropy", "log_loss", "chi2"]
_CRITERIA_REG = ["squared_error", "squared_error", "absolute_error", "poisson", "label_split"]

# Values of parameters that are taken, and those that are refused.
_EDGES = {
    "max_depth": ([1, 2, 3, 5, 2**31, 10**30], [0, -1, 1.5, "1", np.nan]),
    "min_samples_split": ([2, 3, 10, 10**30, 0.1, 1.0, 1e-300], [1, 0, 1.5, -(10**30), np.inf]),
    "min_samples_leaf": ([1, 2, 5, 2**32 + 1, 10**400, 0.1, 1e-300], [0, 1.0, "a", np.nan]),
    "min_weight_fraction_leaf": ([0.0, 0.01, 0.5, 5e-324], [0.6, -0.1, np.nan, "a"]),
    "max_features": ([1, 2, "sqrt", "log2", 0.5, 1e-300, 2**40, 10**30], [0, 1.5, "all", -1]),
    "max_leaf_nodes": ([2, 3, 7, 2**31, 10**30], [1, 0, 2.5, -(10**30)]),
    "min_impurity_decrease": ([0.0, 1e-3, 0.1, 1e300, 10**400, 5e-324], [-1.0, np.inf, np.nan]),
    "ccp_alpha": ([0.0, 1e-3, 0.1, 1e300, 10**400, 5e-324], [-1.0, np.inf, np.nan]),
    "n_jobs": ([1, 2, -1, 10**30, -(10**30)], [0, 1.5, "two"]),
    "random_state": ([0, 1, 2**32 - 1, np.int64(3)], [-1, 2**32, 10**30, 1.5, "seed"]),
    "categorical_split": (["equality", "subset"], ["both"]),
    "missing_values": ([0, 1.0, "a", ["a", 2], "", 2**70, np.nan, []], [10**400, object, [None]]),
    "categorical_features": (["from_dtype", None, [0], [True]], [[10**30], [-1], ["x"], 3]),
}  # fmt: skip
_OPTIMAL_EDGES = {
    "max_leaf_nodes": ([1, 2, 4, 10**30], [0, 2.5]),
    "min_samples_leaf": ([1, 3, 10**30, 0.1], [0, 1.0, "a"]),
    "min_weight_fraction_leaf": ([0.0, 0.1, 0.5], [0.6, np.nan]),
    "complexity_penalty": ([0.0, 0.01, 0.3, 5.0, 1e300, 10**400, 5e-324], [-1.0, np.inf, np.nan]),
    "time_limit": ([5.0, 10**400, 1e300], [0.0, -1, np.nan, np.inf]),
    "n_jobs": ([1, 2, 10**30], [0, "two"]),
    "cache_size": ([0, 1e-6, 1, 1e300, 10**400], [-1, np.nan]),
    "pareto_front": ([True], ["yes"]),
    "missing_values": ([0, "a"], [10**400]),
}


def draw_params(draw, n_features, y, is_classification):
    params = {"criterion": draw.one(_CRITERIA_CLF if is_classification else _CRITERIA_REG)}
    if draw.chance(0.02):
        params["criterion"] = draw.one(["chaos", None, "gini", "poisson"])
    if draw.chance(0.2):
        params["splitter"] = draw.one(["best", "random"])
    _draw_edges(draw, params, _EDGES, 0.12)
    params.setdefault("random_state", 0)
    if draw.chance(0.08):
        params["monotonic_cst"] = draw.rng.integers(-1, 2, n_features).tolist()
        if draw.chance(0.1):
            params["monotonic_cst"] = draw.one([[1], [2] * n_features, [10**30], "up", 1])
    if is_classification:
        _draw_class_weight(draw, params, y)
    return params


def draw_optimal_params(draw, n_features, y, is_classification):
    params = {"max_depth": draw.one([0, 1, 2, 2, 3, 3]), "n_thresholds": draw.one([1, 2, 4])}
    if draw.chance(0.03):
        params |= draw.one([{"max_depth": 16}, {"n_thresholds": 0}, {"n_thresholds": 10**30}])
    _draw_edges(draw, params, _OPTIMAL_EDGES, 0.1)
    _draw_class_weight(draw, params, y)
    return params


def _draw_edges(draw, params, edges, share):
    chosen = draw.rng.random(len(edges)) < share
    for (name, (taken, refused)), is_chosen in zip(edges.items(), chosen):
        if is_chosen:
            params[name] = draw.one(refused if draw.chance(0.04) else taken)


def _draw_class_weight(draw, params, y):
    if not draw.chance(0.12):
        return
    name = draw.by_name({"balanced": 4, "numbers": 4, "odd-class-weights": 1, "words": 0.3})
    if name == "balanced":
        params["class_weight"] = "balanced"
    elif name == "words":
        params["class_weight"] = draw.one(["heavy", {0: "a"}, [{}], {"no such class": 1}])
    else:
        usual = name == "numbers"
        pool = [1, 2, 0.5, 0] if usual else [-1, np.nan, np.inf, 1e300, 5e-324, 10**400]
        columns = np.atleast_2d(y.T)
        try:
            weights = [
                {c: draw.one(pool) for c in np.unique(column).tolist()} for column in columns
            ]
        except (TypeError, ArithmeticError):
            return
        params["class_weight"] = weights[0] if y.ndim == 1 else weights
