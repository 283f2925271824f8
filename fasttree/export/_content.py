"""What a drawing of a tree shows of every node, as lists of plain values.

`tree_content` is the one source of the HTML page and of the matplotlib drawing: questions in words,
rows, impurity, predictions, and, where data are given, distributions. Of the data only sums over
many rows are kept, but for the rows that a caller asks for.

Complexity: O(n log n) to bring n rows into the order of their leaves, then O(n) per level: the rows
of a node are a slice of that order.
"""

from numbers import Integral

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from fasttree.export._questions import Questions, column_names, no_single_tree
from fasttree.export._view import BEYOND_FLOAT32
from fasttree.table._encoder import category_codes, table_encoder

__all__ = ["PALETTE", "tree_content"]

# Colours of classes, told apart on light and on dark.
PALETTE = (
    "#3b7dd8",
    "#e08a1e",
    "#2a9d6f",
    "#c9498a",
    "#8b6fd0",
    "#b5a21c",
    "#2ba3b8",
    "#d2583f",
)

# Bars of a histogram of numbers, of a target's distribution, and of one of categories.
MAX_BARS, TARGET_BARS, MAX_CATEGORIES = 20, 16, 10
# What bars stand for that are no category: the rest of them, numbers, missing values.
OTHERS, NUMBERS, MISSING = -1, -2, -3


def _class_names(estimator, class_names):
    """Names of the classes of each output; None for an output that is a quantity."""
    n_outputs = estimator.tree_.n_outputs
    if not is_classifier(estimator):
        return [None] * n_outputs
    classes = [estimator.classes_] if n_outputs == 1 else estimator.classes_
    if class_names is not None and class_names is not True:
        classes = [class_names] if n_outputs == 1 else class_names
    names = [[str(name) for name in of_output] for of_output in classes]
    expected = np.atleast_1d(estimator.n_classes_)
    for of_output, n_classes in zip(names, expected, strict=True):
        if len(of_output) != n_classes:
            raise ValueError(f"class_names must name {n_classes} classes, got {len(of_output)}.")
    return names


def tree_content(estimator, X, y, *, feature_names=None, class_names=None, max_labels=10, n_rows=0):
    """Return what a drawing of a fitted tree shows, as a dict that JSON can hold.

    Parameters
    ----------
    estimator : estimator
        A fitted tree.
    X : array-like, sparse matrix, table or None
        Rows whose distribution is shown at each node.
    y : array-like or None
        Their targets, which colour the distributions.
    feature_names, class_names : list of str or None
        Names in place of those of the fit.
    max_labels : int
        Categories that a question names.
    n_rows : int
        Number of rows of X that the content holds.

    Returns
    -------
    dict
        Lists with an entry per node: ``left``, ``right`` (0 at a leaf), ``feature`` (a position
        in ``columns``, -1 at a leaf), ``threshold``, ``missing_left``, ``lists`` (for splits on
        categories), ``yes``, ``no``, ``rows``, ``weight``, ``impurity``, ``value``, ``histogram``
        and ``target``; ``columns``, of the features that the tree asks for; ``outputs``, the names
        of the classes of each; and ``given_rows``.
    """
    check_is_fitted(estimator)
    if not hasattr(estimator, "tree_"):
        raise no_single_tree(estimator)
    if y is not None and X is None:
        raise ValueError("y colours the distributions of X, and X is None.")
    for name, number in (("n_rows", n_rows), ("max_labels", max_labels)):
        if not isinstance(number, Integral) or number < 0:
            raise ValueError(f"{name} must be a whole number, at least 0, got {number!r}.")
    if n_rows and X is None:
        raise ValueError("n_rows is a number of rows of X, and X is None.")
    tree = estimator.tree_
    names = column_names(estimator, feature_names)
    questions = Questions(tree, table_encoder(estimator), names, max_labels)
    columns = _Columns(estimator, names)
    content = {
        "criterion": str(estimator.criterion) if hasattr(estimator, "criterion") else "impurity",
        "palette": PALETTE,
        "outputs": _class_names(estimator, class_names),
        "columns": columns.found,
        "left": np.maximum(tree.children_left, 0).tolist(),
        "right": np.maximum(tree.children_right, 0).tolist(),
        "feature": columns.position_of[tree.feature].tolist(),
        "missing_left": np.asarray(tree.missing_go_to_left).astype(int).tolist(),
        "rows": tree.n_node_samples.tolist(),
        "impurity": [_rounded(value, 4) for value in tree.impurity.tolist()],
        "value": _values(estimator),
    }
    if not np.array_equal(tree.weighted_n_node_samples, tree.n_node_samples):
        content["weight"] = [_rounded(w, 6) for w in tree.weighted_n_node_samples.tolist()]
    content |= _splits(tree, questions, columns)
    if X is not None:
        content |= _Distributions(estimator, X, y, columns).of_nodes()
        content["given_rows"] = columns.rows(n_rows)
    return content


def _rounded(value, digits):
    """A number of few digits, as a whole one where it is one: drawings need no more."""
    value = float(f"{value:.{digits}g}")
    return int(value) if value.is_integer() and abs(value) < 1e15 else value


def _pairs(counts):
    """The entries of a short list of counts that are not zero, as position, count, position, ..."""
    counts = np.asarray(counts).ravel()
    at = np.flatnonzero(counts)
    return np.column_stack([at, counts[at]]).ravel().tolist()


def _values(estimator):
    """Of each node and output: the weights of the classes as pairs, or a number."""
    tree = estimator.tree_
    if not is_classifier(estimator):
        values = tree.value[:, :, 0].tolist()
        return [[_rounded(value, 6) for value in of_node] for of_node in values]
    values = tree.value * tree.weighted_n_node_samples[:, None, None]
    node, output, label = np.nonzero(values)
    found = [[[] for _ in range(tree.n_outputs)] for _ in range(tree.node_count)]
    for n, o, k, weight in zip(
        node.tolist(), output.tolist(), label.tolist(), values[node, output, label].tolist()
    ):
        found[n][o] += [k, _rounded(weight, 6)]
    return found


class _Columns:
    """The columns that a tree asks for, and the names of the categories that are shown of each."""

    def __init__(self, estimator, names):
        tree, encoder = estimator.tree_, table_encoder(estimator)
        self.features = np.unique(tree.feature[tree.children_left >= 0])
        self.position_of = np.full(estimator.n_features_in_ + 2, -1)  # leaves have -2
        self.position_of[self.features] = np.arange(len(self.features))
        self._encoders = [None if encoder is None else encoder.columns[f] for f in self.features]
        self._index_of = [{} for _ in self.features]
        self.cells = []
        self.found = []
        for feature, column in zip(self.features.tolist(), self._encoders):
            kind = "number"
            if column is not None and column.categories:
                kind = "category" if column.is_category else "mixed"
            self.found.append(
                {"name": names[feature], "place": feature, "kind": kind, "labels": []}
            )

    def has_categories(self, j):
        return self.found[j]["kind"] != "number"

    def index(self, j, code):
        """The position of a category among those that are shown of column j."""
        index_of, labels = self._index_of[j], self.found[j]["labels"]
        if code not in index_of:
            known = self._encoders[j].categories
            index_of[code] = len(labels)
            labels.append(str(known[code]) if code < len(known) else "(not seen in the fit)")
        return index_of[code]

    def read(self, X):
        """Take the cells of the rows of X, column by column."""
        self.n_rows = X.shape[0]
        for j, feature in enumerate(self.features.tolist()):
            cells = X[:, [feature]]
            cells = cells.toarray() if hasattr(cells, "toarray") else cells
            self.cells.append(np.ascontiguousarray(cells[:, 0]))
            self.found[j]["typical"] = self._typical(j)

    def _typical(self, j):
        """The median of a column, or its most frequent category: no row's value but by chance."""
        cells = self.cells[j]
        numbers = cells[~np.isnan(cells)]
        if self.has_categories(j):
            codes, _ = category_codes(cells)
            counts = np.bincount(codes[codes >= 0], minlength=1)
            if counts.max() > len(numbers):
                return [self.index(j, int(counts.argmax()))]
        return _cell(np.float32(np.median(numbers))) if len(numbers) else None

    def rows(self, n_rows):
        """The first rows: numbers, ``[category]``, or None where a value is missing."""
        columns = []
        for j, cells in enumerate(self.cells):
            cells = cells[:n_rows]
            codes = category_codes(cells)[0] if self.has_categories(j) else np.full(len(cells), -1)
            columns.append(
                [
                    [self.index(j, code)] if code >= 0 else _cell(cell)
                    for cell, code in zip(cells, codes.tolist())
                ]
            )
        return [[of_rows[i] for of_rows in columns] for i in range(min(n_rows, self.n_rows))]


def _cell(number):
    """A float32 as the shortest number that means it, None for NaN."""
    return None if np.isnan(number) else _rounded(float(str(number)), 17)


def _nodes_on_labels(tree):
    """The nodes that split on categories."""
    splits = getattr(tree, "label_splits", None)  # scikit-learn's trees have none
    return set() if splits is None else set(splits.nodes.tolist())


def _splits(tree, questions, columns):
    """Thresholds, lists of categories and the words for both sides of every inner node."""
    thresholds, lists, yes, no = [], {}, [], []
    splits, on_labels = questions.splits, _nodes_on_labels(tree)
    for node, left in enumerate(tree.children_left.tolist()):
        if left < 0:
            thresholds.append(None)
            yes.append("")
            no.append("")
            continue
        left_side, right_side = questions.sides(node, lambda t: f"{t:.6g}")
        # The name stands in `columns`.
        n_name = len(questions.names[tree.feature[node]]) + 1
        left_side, right_side = left_side[n_name:], right_side[n_name:]
        if node not in on_labels:
            yes.append(left_side.replace("<=", "≤", 1))
            no.append(right_side.replace(">  ", "> ", 1))
            # JSON cannot write an infinite one.
            thresholds.append(min(float(tree.threshold[node]), BEYOND_FLOAT32))
            continue
        yes.append(left_side)
        no.append(right_side)
        thresholds.append(None)
        i = int(np.searchsorted(splits.nodes, node))
        j = columns.position_of[tree.feature[node]]
        codes = splits.codes[splits.offsets[i] : splits.offsets[i + 1]].tolist()
        lists[node] = [int(splits.listed_left[i]), *(columns.index(j, code) for code in codes)]
    return {"threshold": thresholds, "lists": lists, "yes": yes, "no": no}


class _Distributions:
    """Histograms of the rows of every node: of its feature at inner nodes, and of a quantity y.

    Parameters
    ----------
    estimator : estimator
        A fitted tree.
    X, y : array-like
        Rows and targets; y may be None.
    columns : _Columns
        Reads X, and keeps the names of the categories that are shown.
    """

    def __init__(self, estimator, X, y, columns):
        self.tree, self.columns = estimator.tree_, columns
        cells = estimator._validate_X_predict(X, True)
        columns.read(cells)
        self.rows_of = _rows_of_nodes(self.tree, estimator.apply(X))
        self.on_labels = _nodes_on_labels(self.tree)
        n_rows = cells.shape[0]
        self.n_classes, self.codes, self.target = 1, np.zeros(n_rows, dtype=np.intp), None
        if y is None:
            return
        y = np.asarray(y)
        if len(y) != n_rows:
            raise ValueError(f"X has {n_rows} rows and y {len(y)}.")
        if self.tree.n_outputs > 1:
            return
        y = y.reshape(len(y), -1)[:, 0]
        if is_classifier(estimator):
            classes = estimator.classes_
            self.codes = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
            if not np.array_equal(classes[self.codes], y):
                raise ValueError("y holds labels that the classifier does not know.")
            self.n_classes = len(classes)
        else:
            self.target = y.astype(np.float64)

    def of_nodes(self):
        """Return the entries of the content, by name."""
        tree, position_of = self.tree, self.columns.position_of
        feature = np.where(tree.children_left >= 0, position_of[tree.feature], -1)
        histograms = [None] * tree.node_count
        for j in range(len(self.columns.features)):
            for node in np.flatnonzero(feature == j).tolist():
                histograms[node] = self._histogram(j, node)
        content = {"histogram": histograms, "has_y": self.n_classes > 1}
        if self.target is not None:
            content |= self._targets()
        return content

    def _histogram(self, j, node):
        """Of a threshold ``[start, width, bars to the left, bars, flat, flat of the rest]``, of
        categories ``[bars, sides, flat]``, where flat lists the bars that are not empty."""
        rows = self.rows_of(node)
        if not len(rows):
            return None
        cells, threshold = self.columns.cells[j][rows], float(self.tree.threshold[node])
        if node in self.on_labels or np.isinf(threshold):
            return self._of_categories(j, node, rows, cells)
        is_number = ~np.isnan(cells)
        numbers = cells[is_number].astype(np.float64)
        if not len(numbers):
            return None
        start, width, n_left, n_bars = _bars(numbers, threshold)
        bar = np.ceil((numbers - start) / width).astype(np.intp) - 1
        # Whatever the rounding, a row's bar is on the row's side.
        bar = np.where(
            numbers <= threshold, np.clip(bar, 0, n_left - 1), np.clip(bar, n_left, n_bars - 1)
        )
        flat = self._flat(bar, rows[is_number], n_bars)
        rest = rows[~is_number]
        flat_rest = self._flat(np.zeros(len(rest), dtype=np.intp), rest, 1)
        return [_rounded(start, 6), _rounded(width, 6), n_left, n_bars, flat, flat_rest]

    def _of_categories(self, j, node, rows, cells):
        codes = category_codes(cells)[0]
        counts = np.bincount(codes[codes >= 0], minlength=1)
        frequent = np.argsort(-counts, kind="stable")[:MAX_CATEGORIES]
        frequent = frequent[counts[frequent] > 0]
        # The rows of the left child come first.
        is_left = np.arange(len(rows)) < len(self.rows_of(self.tree.children_left[node]))
        kind = np.where(codes >= 0, OTHERS, np.where(np.isnan(cells), MISSING, NUMBERS))
        shown = [(self.columns.index(j, code), codes == code) for code in frequent.tolist()]
        rest = ~np.isin(codes, frequent)
        shown += [(what, rest & (kind == what)) for what in (OTHERS, NUMBERS, MISSING)]
        # Categories beyond the frequent ones may go both ways: a bar for each.
        shown = [
            (what, side, of_bar & (is_left == side)) for what, of_bar in shown for side in (1, 0)
        ]
        shown = [entry for entry in shown if entry[2].any()]
        bar = np.empty(len(rows), dtype=np.intp)
        for i, (_, _, of_bar) in enumerate(shown):
            bar[of_bar] = i
        flat = self._flat(bar, rows, len(shown))
        return [[what for what, _, _ in shown], [side for _, side, _ in shown], flat]

    def _flat(self, bar, rows, n_bars):
        """Classes: pairs of bar * n_classes + class and count; a quantity: bar, count, mean."""
        if self.target is None:
            n_cells = n_bars * self.n_classes
            return _pairs(np.bincount(bar * self.n_classes + self.codes[rows], minlength=n_cells))
        counts = np.bincount(bar, minlength=n_bars)
        sums = np.bincount(bar, weights=self.target[rows], minlength=n_bars)
        flat = []
        for i in np.flatnonzero(counts).tolist():
            flat += [i, int(counts[i]), _rounded(sums[i] / counts[i], 4)]
        return flat

    def _targets(self):
        """The distribution of y at every node, in bars that all nodes share."""
        low, high = np.percentile(self.target, [0.5, 99.5])
        width = (high - low) / TARGET_BARS or 1.0
        bar = np.clip((self.target - low) // width, 0, TARGET_BARS - 1).astype(np.intp)
        counts = (
            np.bincount(bar[self.rows_of(node)], minlength=TARGET_BARS)
            for node in range(self.tree.node_count)
        )
        return {
            "target": [_pairs(of_node) for of_node in counts],
            "target_bars": [_rounded(low, 6), _rounded(width, 6), TARGET_BARS],
        }


def _bars(numbers, threshold):
    """Where the bars of numbers start, how wide they are, how many are on the left, and in all.

    A border lies on the threshold. The outermost hundredths are added to the bars at the ends.
    """
    low, high = np.percentile(numbers, [1, 99]) if len(numbers) > 100 else (0, 0)
    if len(numbers) <= 100 or not low < threshold < high:
        low, high = min(numbers.min(), threshold), max(numbers.max(), threshold)
    n_bars = int(np.clip(2 * np.sqrt(len(numbers)), 4, MAX_BARS))
    width = float(high - low) / n_bars or 1.0
    if (numbers == np.floor(numbers)).all():
        width = np.ceil(width)
    n_left = max(1, int(np.ceil((threshold - low) / width)))
    n_right = max(1, int(np.ceil((high - threshold) / width)))
    return threshold - n_left * width, width, n_left, n_left + n_right


def _rows_of_nodes(tree, leaves):
    """Return a function from a node to its rows, given the leaf of each row."""
    left, right = tree.children_left.tolist(), tree.children_right.tolist()
    order, stack = [], [0]
    while stack:
        node = stack.pop()
        order.append(node)
        if left[node] >= 0:
            stack += [right[node], left[node]]
    position = np.empty(tree.node_count, dtype=np.intp)
    position[order] = np.arange(tree.node_count)
    end = position + 1
    for node in reversed(order):
        if left[node] >= 0:
            end[node] = end[right[node]]
    sorted_rows = np.argsort(position[leaves], kind="stable")
    bounds = np.searchsorted(position[leaves][sorted_rows], [position, end])

    def rows_of(node):
        return sorted_rows[bounds[0, node] : bounds[1, node]]

    return rows_of
