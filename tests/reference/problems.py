"""Random problems: data, weights and parameters drawn from a seed, small and nasty.

``random_problem(seed)`` draws one; keyword arguments fix what must not be left to chance. In the
*exact* regime every statistic is an integer or a quotient of integers (unit or integer weights,
integer targets, no poisson), so that scikit-learn's sums do not depend on their order.
"""

from dataclasses import dataclass, field

import numpy as np

from reference.impurity import CLASSIFICATION, REGRESSION

CRITERIA = (*CLASSIFICATION[:2], *REGRESSION)
EXACT_CRITERIA = ("gini", "entropy", "squared_error", "absolute_error")


@dataclass
class Problem:
    """Data and parameters of one fit."""

    X: np.ndarray
    y: np.ndarray
    sample_weight: np.ndarray | None
    params: dict = field(default_factory=dict)

    def estimator(self, module, **overrides):
        """An unfitted estimator of ``module`` (fasttree.tree or sklearn.tree)."""
        kind = "Classifier" if self.params["criterion"] in CLASSIFICATION else "Regressor"
        return getattr(module, f"DecisionTree{kind}")(**(self.params | overrides))

    def fit(self, module, **overrides):
        """A fitted estimator of ``module``."""
        estimator = self.estimator(module, **overrides)
        return estimator.fit(self.X, self.y, sample_weight=self.sample_weight)


def random_problem(
    seed, criteria=CRITERIA, exact=False, rows=(2, 60), n_outputs=None, one_hot=False, **fixed
):
    """Draw a problem; ``fixed`` sets parameters of the estimator, whatever was drawn for them."""
    rng = np.random.default_rng([seed, 2024])
    criterion = str(rng.choice([c for c in criteria if not exact or c in EXACT_CRITERIA]))
    n_rows = int(rng.integers(rows[0], rows[1] + 1))
    n_features = int(rng.integers(1, 9))
    n_outputs = n_outputs or int(rng.choice([1, 1, 1, 2]))
    X = random_table(rng, n_rows, n_features)
    if one_hot:
        X = np.column_stack([X[:, :2], one_hot_columns(rng, n_rows)])
        X = np.array(X, np.float32, order=str(rng.choice(["C", "F"])))
        n_features = X.shape[1]
    sample_weight = random_weights(rng, n_rows, exact)
    y = random_targets(rng, X, criterion, n_outputs, exact, sample_weight)
    params = random_params(rng, criterion, y, n_features, exact) | fixed
    return Problem(X, y, sample_weight, params)


def random_table(rng, n_rows, n_features):
    """A table of float32 or float64 numbers in C or F order, columns of every kind."""
    columns = []
    for _ in range(n_features):
        x = rng.choice(_COLUMNS)(rng, n_rows).astype(np.float32)
        if columns and rng.random() < 0.15:
            x = rng.choice([-1, 1]) * columns[rng.integers(len(columns))]
        if rng.random() < 0.35:
            share = rng.choice([0.1, 0.5, 1.0], p=[0.6, 0.3, 0.1])
            x = np.where(rng.random(n_rows) < share, np.nan, x)
        columns.append(x)
    return np.array(columns, dtype=rng.choice([np.float32, np.float64])).T.copy(
        order=str(rng.choice(["C", "F"]))
    )


def one_hot_columns(rng, n_rows):
    """Many columns of two values, groups of them one-hot; some are of one value, or of three."""
    columns = []
    for _ in range(rng.integers(3, 20)):
        n_values = rng.integers(2, 9)
        labels = rng.choice(n_values, n_rows, p=rng.dirichlet(np.full(n_values, 0.5)))
        low, high = [(0, 1), (0, 1), (-1, 1), (2, 1)][rng.integers(4)]
        columns += [np.where(labels == label, high, low) for label in range(n_values)]
    X = np.array(columns, np.float32).T
    X[rng.integers(n_rows), rng.integers(X.shape[1])] = rng.choice([7.0, -0.0, np.nan])
    return X


def _continuous(rng, n):
    return rng.normal(size=n)


def _few_values(rng, n):
    return rng.integers(0, rng.integers(2, 7), n)


def _one_decimal(rng, n):
    return rng.normal(size=n).round(1)


def _constant(rng, n):
    return np.full(n, rng.normal())


def _near_constant(rng, n):
    """Steps of half of scikit-learn's resolution: near zero they chain, near one they round."""
    return rng.choice([0.0, 1.0]) + 5e-8 * rng.integers(0, 6, n)


def _near_ties(rng, n):
    """Few clusters, each within scikit-learn's resolution."""
    return rng.integers(0, 4, n) / 8 + 3e-8 * rng.integers(0, 3, n)


def _extreme(rng, n):
    return rng.normal(size=n) * 10.0 ** rng.choice([-30, 30])


_COLUMNS = (
    [_continuous] * 3 + [_few_values] * 4 + [_one_decimal] * 2
    + [_constant, _near_constant, _near_ties, _extreme]
)  # fmt: skip


def random_weights(rng, n_rows, exact):
    """None, integers (zeros among them), or floats; at least one is positive."""
    kind = rng.choice(["none", "integer", "float"])
    if kind == "none":
        return None
    if kind == "integer" or exact:
        weights = rng.integers(0, 4, n_rows).astype(float)
    else:
        weights = rng.choice([0.1, 1.0, rng.random()], n_rows) * rng.choice([1.0, rng.random()])
        weights *= rng.random(n_rows) > 0.1
    weights[rng.integers(n_rows)] = 1.0
    return weights


def signed_weights(rng, n_rows):
    """Multiples of 1/8, some negative, with a positive sum: sums of them are exact."""
    weights = rng.integers(-6, 13, n_rows) / 8
    weights *= rng.random(n_rows) < rng.choice([0.7, 1.0])
    weights[rng.integers(n_rows)] += max(0.0, 1.0 - weights.sum())
    return weights


def random_targets(rng, X, criterion, n_outputs, exact, sample_weight):
    """Targets that depend on a few columns, with noise and many ties."""
    n_rows = len(X)
    scaled = np.nan_to_num(X) / (np.abs(np.nan_to_num(X)).max(axis=0) + 1e-37)
    signal = scaled @ rng.normal(size=(X.shape[1], n_outputs)) * rng.choice([0, 1, 3])
    signal += rng.normal(size=(n_rows, n_outputs))
    if criterion in CLASSIFICATION:
        n_classes = rng.choice([1, 2, 2, 2, 3, 5])
        edges = np.quantile(signal, np.linspace(0, 1, n_classes + 1)[1:-1])
        y = np.searchsorted(edges, signal)
    elif exact or rng.random() < 0.4:
        y = np.rint(signal * rng.choice([1, 5, 20]))
    else:
        y = signal * rng.choice([1e-3, 1.0, 1e3])
    if criterion == "poisson":
        y = np.maximum(y, 0)
        y[np.flatnonzero(sample_weight)[0] if sample_weight is not None else 0] = 1.0
    return y if n_outputs > 1 else y[:, 0]


def random_params(rng, criterion, y, n_features, exact):
    """Parameters of the estimator; each limit is left at its default more often than not."""

    def perhaps(probability, default, *values):
        return values[rng.integers(len(values))] if rng.random() < probability else default

    params = dict(
        criterion=criterion,
        random_state=int(rng.integers(1000)),
        splitter=perhaps(0.33, "best", "random"),
        max_features=perhaps(0.4, None, 1, n_features // 2 + 1, n_features, "sqrt", 0.6),
        max_depth=perhaps(0.3, None, 1, 2, 3, 4, 5, 6),
        min_samples_split=perhaps(0.2, 2, 3, 5, 8, 0.2),
        min_samples_leaf=perhaps(0.3, 1, 2, 3, 5, 0.1),
        min_weight_fraction_leaf=perhaps(0.15, 0.0, 0.05, 0.1, 0.3),
        max_leaf_nodes=perhaps(0.3, None, *range(2, 12)),
        min_impurity_decrease=perhaps(0.15, 0.0, 1e-3, 0.02),
        ccp_alpha=perhaps(0.15, 0.0, 1e-3, 0.01, 0.1),
    )
    two_classes = criterion in CLASSIFICATION and len(np.unique(y)) == 2
    if y.ndim == 1 and (two_classes or criterion in REGRESSION) and rng.random() < 0.3:
        params["monotonic_cst"] = rng.integers(-1, 2, n_features).tolist()
    if criterion in CLASSIFICATION and rng.random() < 0.2:
        params["class_weight"] = _class_weight(rng, y, exact)
    return params


def _class_weight(rng, y, exact):
    if not exact and rng.random() < 0.5:
        return "balanced"

    def weigh(classes):
        return {int(c): int(rng.integers(1, 4)) for c in classes}

    return weigh(np.unique(y)) if y.ndim == 1 else [weigh(np.unique(y_k)) for y_k in y.T]
