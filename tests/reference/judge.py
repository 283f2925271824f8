"""The judge: is a fitted tree what its parameters ask for, node by node?

``judge(estimator, X, y)`` routes the training rows down the tree and compares each node with the
naive twin: its counts, weight, impurity and value; that a split attains the largest improvement
among all admissible cuts and comes first among equals; that a leaf could not have been split.
Where rounding could decide either way (a cut within 1e-11 of a limit), either way is right.

With ``max_features`` the drawn features are not known: the chosen feature is judged alone. With
the random splitter any threshold inside the node's range is right. Pruned trees are not judged.
"""

from math import inf

import numpy as np
from numpy.testing import assert_allclose

from reference.impurity import impurity
from reference.splits import (
    admissible,
    all_cuts,
    exact_scores,
    improvements,
    ranks_exactly,
    tolerance,
)
from reference.task import Task


def judge(estimator, X, y, sample_weight=None, sklearn_rules=False):
    """Assert that every node of the fitted tree is right.

    ``sklearn_rules``: values within 1e-7 are not parted, luck may settle ties, and rounding may
    leave a pure node that is not quite pure, and is split.
    """
    task = Task.of(estimator, X, y, sample_weight)
    Judge(estimator, task, sklearn_rules).walk()


class Judge:
    """One fitted tree against its task; see the module's docstring."""

    def __init__(self, estimator, task, sklearn_rules):
        self.tree, self.task, self.sklearn_rules = estimator.tree_, task, sklearn_rules
        self.splitter, self.max_leaf_nodes = estimator.splitter, estimator.max_leaf_nodes
        self.draws_features = estimator.max_features_ < task.X.shape[1]
        self.exact_weights = np.array_equal(task.w, np.rint(task.w))
        self.exact_scores = ranks_exactly(task.criterion, task.y, task.w)
        self.root_impurity = impurity(task.criterion, task.y, task.w)
        # Improvement each split made, and each leaf could have made.
        self.made, self.left_undone = {}, {}

    def walk(self):
        tree, stack = self.tree, [(0, np.arange(len(self.task.X)), 0, (-inf, inf))]
        n_visited = 0
        while stack:
            node, rows, depth, bounds = stack.pop()
            n_visited += 1
            try:
                self.check_statistics(node, rows, bounds)
                if tree.children_left[node] == -1:
                    self.check_leaf(node, rows, depth, bounds)
                    continue
                goes_left = self.check_split(node, rows, depth, bounds)
            except AssertionError as error:
                error.add_note(f"node {node}, {len(rows)} rows, depth {depth}")
                raise
            sides = self.task.child_bounds(rows, goes_left, tree.feature[node], bounds)
            stack.append((tree.children_right[node], rows[~goes_left], depth + 1, sides[1]))
            stack.append((tree.children_left[node], rows[goes_left], depth + 1, sides[0]))
        assert n_visited == tree.node_count
        self.check_growth_order()

    def check_statistics(self, node, rows, bounds):
        tree, task = self.tree, self.task
        y, w = task.y[rows], task.w[rows]
        assert tree.n_node_samples[node] == len(rows)
        assert_allclose(tree.weighted_n_node_samples[node], w.sum(), rtol=1e-9)
        expected = impurity(task.criterion, y, w)
        scale = 1.0 if task.n_classes else abs(self.root_impurity)
        # The twin's mean is rounded, so it finds an impurity in constant targets.
        rounding = 1e-15 * np.abs(task.y).max()
        noise = rounding if task.criterion in ("absolute_error", "poisson") else rounding**2
        assert_allclose(tree.impurity[node], expected, rtol=1e-9, atol=1e-12 * scale + noise)
        if task.criterion == "absolute_error" and not self.exact_weights:
            # Whether half of the weight is hit exactly is a matter of rounding.
            if task.monotonic_cst is None:
                about_value = np.average(np.abs(y - tree.value[node].T), axis=0, weights=w).mean()
                assert_allclose(about_value, expected, rtol=1e-9, atol=1e-12 * scale)
            return
        value = task.value(rows, bounds)
        assert_allclose(tree.value[node], value, rtol=1e-9, atol=1e-12 * np.abs(task.y).max())

    def cuts_and_gains(self, rows, bounds, features=None):
        task = self.task
        y, w = task.y[rows], task.w[rows]
        cuts = all_cuts(task.X[rows], features, 1e-7 if self.sklearn_rules else 0.0)
        surely, maybe = admissible(task.criterion, y, w, cuts, task.limits(bounds))
        gains = improvements(task.criterion, y, w, cuts.goes_left, task.total_weight)
        return cuts, surely, maybe, gains

    def check_leaf(self, node, rows, depth, bounds):
        task, tree = self.task, self.tree
        assert tree.children_right[node] == -1
        assert tree.feature[node] == -2
        assert tree.threshold[node] == -2.0
        if task.is_terminal(rows, depth) or self.draws_features or self.splitter == "random":
            return
        _, surely, _, gains = self.cuts_and_gains(rows, bounds)
        if not surely.any():
            return
        best = gains[surely].max()
        required = task.min_impurity_decrease + tolerance(best, self.root_impurity)
        # Without a limit even a cut that gains nothing is made.
        if best < required and (task.min_impurity_decrease > 0 or self.sklearn_rules):
            return
        assert self.max_leaf_nodes is not None, f"leaf could be split with improvement {best!r}"
        self.left_undone[node] = best

    def check_split(self, node, rows, depth, bounds):
        """Returns which of the rows go left."""
        task, tree = self.task, self.tree
        feature, threshold = tree.feature[node], tree.threshold[node]
        had_to_be_leaf = task.is_limited if self.sklearn_rules else task.is_terminal
        assert not had_to_be_leaf(rows, depth), "this node had to be a leaf"
        if self.splitter == "random":
            return self.check_random_split(node, rows, bounds)
        features = [feature] if self.draws_features else None
        cuts, surely, maybe, gains = self.cuts_and_gains(rows, bounds, features)
        chosen = cuts.find(feature, threshold, tree.missing_go_to_left[node])
        self.check_chosen(rows, cuts.goes_left, surely, maybe, gains, chosen)
        self.made[node] = gains[chosen]
        return cuts.goes_left[chosen]

    def check_chosen(self, rows, goes_left, surely, maybe, gains, chosen):
        assert maybe[chosen], "the split violates a limit"
        slack = tolerance(gains[chosen], self.root_impurity)
        assert gains[chosen] >= self.task.min_impurity_decrease - slack
        best = gains[surely].max(initial=-inf)
        assert gains[chosen] >= best - tolerance(best, self.root_impurity), (
            f"improvement {gains[chosen]!r}, but {best!r} was possible"
        )
        if self.sklearn_rules:
            return
        earlier = goes_left[:chosen][surely[:chosen]]
        same = (earlier == goes_left[chosen]).all(axis=1)
        mirrored = (earlier != goes_left[chosen]).all(axis=1)
        assert not (same | mirrored).any(), "an earlier cut parts the rows alike"
        if self.exact_scores and surely[chosen]:
            scores = exact_scores(self.task.y[rows], self.task.w[rows], goes_left)
            assert np.argmax(np.where(surely, scores, -inf)) == chosen, "an earlier cut ties"

    def check_random_split(self, node, rows, bounds):
        task, tree = self.task, self.tree
        x = task.X[rows, tree.feature[node]]
        missing = np.isnan(x)
        threshold = tree.threshold[node]
        assert np.min(x[~missing]) <= threshold <= np.max(x[~missing])
        goes_left = np.where(missing, tree.missing_go_to_left[node] == 1, x <= threshold)
        assert 0 < goes_left.sum() < len(rows)
        if not missing.any():
            assert tree.missing_go_to_left[node] == (2 * goes_left.sum() > len(rows))
        y, w = task.y[rows], task.w[rows]
        gain = improvements(task.criterion, y, w, goes_left[None], task.total_weight)[0]
        self.made[node] = gain
        assert gain >= task.min_impurity_decrease - tolerance(gain, self.root_impurity)
        return goes_left

    def check_growth_order(self):
        """Best-first: whenever a split was made, no better one was waiting (frontier replayed)."""
        tree = self.tree
        if self.max_leaf_nodes is None:
            return
        assert tree.n_leaves <= self.max_leaf_nodes
        if tree.n_leaves < self.max_leaf_nodes:
            assert not self.left_undone, "leaves could be split within the budget"
        frontier = [0]
        while open_splits := [node for node in frontier if node in self.made]:
            node = max(open_splits, key=self.made.get)
            waiting = max((self.left_undone.get(leaf, -inf) for leaf in frontier), default=-inf)
            slack = tolerance(self.made[node], self.root_impurity)
            assert self.made[node] >= waiting - slack, "a better split was left in the frontier"
            frontier.remove(node)
            frontier += [tree.children_left[node], tree.children_right[node]]
