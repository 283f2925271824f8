"""The engine of optimal trees against brute force, under random settings of its switches."""

import itertools

import numpy as np
import pytest

from fasttree.optimal import _engine
from reference.naive_optimal import best_errors

INSTRUCTION_SETS = [
    name for name in ("avx512", "avx2", "portable") if _engine.has_instruction_set(name)
]
SWITCHES = {
    "with_sibling_bound": False,
    "with_cousin_bound": False,
    "with_parent_bound": False,
    "with_conflict_bound": False,
    "with_upper_bound": False,
    "start": 0,
    "cache_key": 0,
}
DEFAULTS = {
    "order": 0,
    "cache_key": 1,
    "sharing": 0,
    "with_sibling_bound": True,
    "with_cousin_bound": True,
    "with_parent_bound": True,
    "with_conflict_bound": True,
    "with_upper_bound": True,
    "start": 1,
    "seed": 0,
    "n_threads": 1,
    "share_after": 0.0,
    "time_limit": 0.0,
    "cache_bytes": 1 << 20,
}


def random_problem(rng):
    """Few rows and columns, so that duplicates, constant columns and conflicts abound."""
    depth = int(rng.choice([0, 1, 2, 3, 3, 4, 4, 5, 5]))
    n_features = int(rng.integers(1, 9 if depth <= 3 else 6))
    n_samples = int(rng.integers(1, 60))
    X = rng.random((n_samples, n_features)) < rng.uniform(0.1, 0.9, n_features)
    if n_features > 2:
        X[:, 1] = rng.choice([X[:, 0], ~X[:, 0], X[:, 1], np.ones(n_samples, bool)])
    n_classes = int(rng.integers(2, 5))
    y = rng.integers(0, n_classes, n_samples)
    if rng.random() < 0.5:  # a rule with noise rather than noise alone
        y = np.where(rng.random(n_samples) < 0.8, (X @ rng.integers(0, 5, n_features)) % 2, y)
    weights = rng.choice([np.ones(n_samples), rng.integers(1, 6, n_samples)])
    if rng.random() < 0.1:
        weights = rng.integers(1, 1 << 20, n_samples)
    least_weight = int(rng.choice([0, 0, 0.05, 0.2, 0.5]) * weights.sum())
    return {
        "X": X,
        "y": y.astype(np.int32),
        "weights": weights.astype(np.int32),
        "n_classes": n_classes,
        "depth": depth,
        "min_leaf": int(rng.choice([1, 1, 2, 5, 200])),
        "min_leaf_weight": max(1, least_weight),
    }


def solve(problem, node_range, *, instruction_set="auto", penalty=0, front=False, **options):
    return _engine.solve(
        np.ascontiguousarray(problem["X"].T, dtype=np.uint8),
        problem["y"],
        problem["weights"],
        n_classes=problem["n_classes"],
        depth=problem["depth"],
        node_range=node_range,
        min_leaf_samples=problem["min_leaf"],
        min_leaf_weight=problem["min_leaf_weight"],
        leaf_penalty=penalty,
        options=DEFAULTS | options,
        instruction_set=instruction_set,
        with_front_trees=front,
    )


def judge(tree, problem, max_nodes):
    """Errors of a tree on the data; its limits are checked on the way."""
    assert (tree["column"] >= 0).sum() <= max_nodes
    error = 0
    stack = [(0, np.arange(len(problem["y"])), 0)]
    while stack:
        node, rows, depth = stack.pop()
        assert depth <= problem["depth"]
        column, left, right = tree[node]
        if column < 0:
            by_class = np.bincount(problem["y"][rows], problem["weights"][rows])
            assert len(rows) >= problem["min_leaf"] or node == 0
            assert by_class.sum() >= problem["min_leaf_weight"] or node == 0
            error += by_class.sum() - by_class.max(initial=0)
            continue
        goes_right = problem["X"][rows, column]
        stack += [(left, rows[~goes_right], depth + 1), (right, rows[goes_right], depth + 1)]
    return error


def random_settings(rng):
    options = {name: off for name, off in SWITCHES.items() if rng.random() < 0.3}
    if rng.random() < 0.3:
        options["cache_key"] = int(rng.integers(0, 3))
    if rng.random() < 0.3:
        options["start"] = int(rng.integers(0, 3))
    return options | {
        "instruction_set": str(rng.choice(INSTRUCTION_SETS)),
        "order": int(rng.integers(0, 4)),
        "sharing": int(rng.integers(0, 2)),
        "n_threads": int(rng.choice([1, 1, 2, 4])),
        "seed": int(rng.integers(0, 1 << 30)),
    }


def naive_front(problem, max_nodes):
    return best_errors(
        problem["X"],
        problem["y"],
        problem["weights"],
        max_depth=problem["depth"],
        max_nodes=max_nodes,
        min_samples_leaf=problem["min_leaf"],
        min_weight_leaf=problem["min_leaf_weight"],
    )


def check(problem, rng, settings):
    """One problem, solved for one budget, for a penalty, or for all budgets at once."""
    most = 2 ** problem["depth"] - 1
    truth = naive_front(problem, most)
    kind = rng.choice(["full", "budget", "penalty", "front"])
    if kind in ("full", "budget"):
        n = most if kind == "full" else int(rng.integers(0, most + 1))
        result = solve(problem, (n, n), **settings)
        assert result["front_lower"] == result["front_upper"] == truth[n]
        assert judge(result["tree"], problem, n) == truth[n]
    elif kind == "front":
        result = solve(problem, (0, most), front=True, **settings)
        assert result["front_lower"].tolist() == result["front_upper"].tolist() == truth.tolist()
        for n, tree in enumerate(result["front_trees"]):
            assert judge(tree, problem, n) == truth[n]
    else:
        penalty = int(rng.uniform(0, 0.2) * problem["weights"].sum() * _engine.PENALTY_SCALE)
        result = solve(problem, (0, most), penalty=penalty, **settings)
        objectives = truth * _engine.PENALTY_SCALE + penalty * (np.arange(most + 1) + 1)
        assert result["upper"] == objectives.min()
        assert result["lower"] >= result["upper"]
        n = result["n_nodes"]
        assert judge(result["tree"], problem, n) == truth[n]


@pytest.mark.cases(2000)
def test_brute_force_agrees(seed):
    rng = np.random.default_rng(seed)
    check(random_problem(rng), rng, random_settings(rng))


ALONE = [
    *SWITCHES.items(),
    *[("order", order) for order in (1, 2, 3)],
    ("cache_key", 2),
    ("start", 2),
    *[("instruction_set", name) for name in INSTRUCTION_SETS],
    *[("n_threads", n) for n in (2, 4)],
]


@pytest.mark.parametrize(("switch", "value"), ALONE)
@pytest.mark.cases(100)
def test_each_switch_alone(switch, value, seed):
    rng = np.random.default_rng([seed, 1])
    check(random_problem(rng), rng, {switch: value})


@pytest.mark.cases(100)
def test_sharing_at_the_leaves(seed):
    rng = np.random.default_rng([seed, 3])
    check(random_problem(rng), rng, {"sharing": 1, "n_threads": 2})


def larger_problem(rng):
    """Too large for brute force, and such that bounds are often met exactly: nested columns."""
    n_samples, n_values = int(rng.integers(50, 200)), int(rng.integers(2, 6))
    values = rng.integers(0, n_values + 1, (n_samples, 24 // n_values))
    X = (values[:, :, None] >= np.arange(1, n_values + 1)).reshape(n_samples, -1)
    n_classes = int(rng.choice([2, 2, 3]))
    y = (values[:, 0] + values[:, 1] // 2 + values[:, -1]) % n_classes
    y = np.where(rng.random(n_samples) < 0.7, y, rng.integers(0, n_classes, n_samples))
    return {
        "X": X,
        "y": y.astype(np.int32),
        "weights": rng.integers(1, rng.choice([2, 4]), n_samples).astype(np.int32),
        "n_classes": n_classes,
        "depth": int(rng.choice([3, 3, 4])),
        "min_leaf": int(rng.choice([1, 1, 3])),
        "min_leaf_weight": int(rng.choice([1, 1, 5])),
    }


@pytest.mark.cases(2000)
def test_bounds_keep_the_optimum(seed):
    """With all bounds and caches, with each alone, and with none."""
    rng = np.random.default_rng([seed, 4])
    problem = larger_problem(rng)
    most = 2 ** problem["depth"] - 1
    node_range = [(most, most), (most - 2, most - 2), (0, most)][int(rng.integers(0, 3))]
    bare = solve(problem, node_range, **SWITCHES)
    alone = str(rng.choice(list(SWITCHES)))
    for settings in ({}, SWITCHES | {alone: DEFAULTS[alone]}):
        result = solve(problem, node_range, **settings)
        assert result["front_upper"].tolist() == bare["front_upper"].tolist()
        assert result["front_lower"].tolist() == bare["front_upper"].tolist()
    assert judge(result["tree"], problem, node_range[1]) == result["front_upper"][-1]


@pytest.mark.parametrize("order", range(4))
@pytest.mark.parametrize("cache_key", range(3))
@pytest.mark.cases(20)
def test_orders_and_caches(order, cache_key, seed):
    rng = np.random.default_rng([seed, 2])
    check(random_problem(rng), rng, {"order": order, "cache_key": cache_key})


@pytest.mark.parametrize(
    ("n_samples", "scale"), [(50, 1), (200, 1), (400, 1), (400, 7), (400, 100_000)]
)
@pytest.mark.parametrize("n_features", [63, 64, 65, 130])
def test_counters_of_every_width(n_samples, scale, n_features):
    """Sets of many sizes and weights, and rows of several words, under every instruction set."""
    rng = np.random.default_rng([n_samples, scale, n_features])
    X = rng.random((n_samples, n_features)) < 0.3
    weights = scale * rng.integers(1, 3, n_samples)
    for n_classes, min_leaf, min_leaf_weight in itertools.product([2, 3], [1, 9], [1, 16 * scale]):
        y = (X[:, :3].sum(axis=1) + (rng.random(n_samples) < 0.2)) % n_classes
        problem = {
            "X": X,
            "y": y.astype(np.int32),
            "weights": weights.astype(np.int32),
            "n_classes": n_classes,
            "depth": 2,
            "min_leaf": min_leaf,
            "min_leaf_weight": min_leaf_weight,
        }
        truth = _best_of_depth_two(problem)
        for instruction_set in INSTRUCTION_SETS:
            result = solve(problem, (3, 3), instruction_set=instruction_set)
            assert result["front_lower"] == result["front_upper"] == truth
            assert judge(result["tree"], problem, 3) == truth


def _best_of_depth_two(problem):
    """From the rows on each side of each pair of columns: quicker than the twin on many columns."""
    X, weights = problem["X"], problem["weights"].astype(float)
    by_class = np.eye(problem["n_classes"])[problem["y"]] * weights[:, None]
    counts = np.column_stack([by_class, np.ones_like(weights), weights])

    def errors(counts):
        """Of leaves; infinite for those that are too small."""
        is_allowed = counts[..., -2:] >= [problem["min_leaf"], problem["min_leaf_weight"]]
        by_class = counts[..., :-2]
        return np.where(
            is_allowed.all(axis=-1), by_class.sum(axis=-1) - by_class.max(axis=-1), np.inf
        )

    sides, n = np.hstack([X, ~X]).astype(float), X.shape[1]
    of_pairs = errors(np.stack([(sides.T * c) @ sides for c in counts.T], axis=-1))
    of_stumps = (of_pairs[:, :n] + of_pairs[:, n:]).min(axis=1)
    of_sides = np.minimum(errors(sides.T @ counts), of_stumps)
    of_root = by_class.sum() - by_class.sum(axis=0).max()
    return min(of_root, (of_sides[:n] + of_sides[n:]).min())


def test_bad_instruction_set():
    problem = random_problem(np.random.default_rng(0))
    with pytest.raises(ValueError, match="instruction set"):
        solve(problem, (0, 0), instruction_set="z80")


def test_columns_that_tell_nothing():
    problem = random_problem(np.random.default_rng(1))
    problem["X"] = np.zeros((len(problem["y"]), 0), dtype=bool)
    problem["depth"] = 4
    result = solve(problem, (15, 15))
    assert len(result["tree"]) == 1
    assert result["front_upper"] == result["front_lower"]
