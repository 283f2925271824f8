"""Drawing and printing trees that were fitted on a table: every split as a question in words.

The drawings are scikit-learn's, with the line that states a node's split replaced.
"""

from html import escape
from io import StringIO
from textwrap import wrap

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from fasttree._sklearn_compat import DOTTreeExporter, MPLTreeExporter
from fasttree.export._questions import Questions, column_names
from fasttree.table._encoder import table_encoder

__all__ = ["dot_of_table_tree", "draw_table_tree", "text_of_table_tree"]


# Characters of a line of a question inside a box.
_LINE = 36


def _questions(estimator, feature_names, default, max_labels):
    """The questions of a fitted estimator; unnamed columns are called by ``default.format(j)``."""
    check_is_fitted(estimator)
    names = column_names(estimator, feature_names, default)
    return Questions(estimator.tree_, table_encoder(estimator), names, max_labels)


class _AsksQuestions:
    """An exporter of scikit-learn's that states splits in words."""

    def __init__(self, questions, **options):
        super().__init__(**options)
        self.questions = questions

    def node_to_str(self, tree, node_id, criterion):
        text = super().node_to_str(tree, node_id, criterion)
        if tree.children_left[node_id] < 0:
            return text
        name = self.feature_names[tree.feature[node_id]]
        threshold = round(tree.threshold[node_id], self.precision)
        line = f"{self.str_escape(name)} {self.characters[3]} {threshold}"
        question, _ = self.questions.sides(node_id, lambda t: str(round(t, self.precision)))
        lines = wrap(question, _LINE, break_long_words=False, break_on_hyphens=False)
        if self.characters[3] != "<=":  # the text is HTML
            lines = [
                escape(part, quote=False).replace("&lt;=", self.characters[3]) for part in lines
            ]
        question = self.characters[4].join(map(self.str_escape, lines))
        return text.replace(line, question, 1)


class _DOTExporter(_AsksQuestions, DOTTreeExporter):
    pass


class _MPLExporter(_AsksQuestions, MPLTreeExporter):
    pass


def dot_of_table_tree(estimator, out_file, feature_names, max_labels, **options):
    """`export_graphviz` of a tree that was fitted on a table."""
    questions = _questions(estimator, feature_names, "x[{}]", max_labels)
    if isinstance(out_file, str):
        with open(out_file, "w", encoding="utf-8") as file:
            dot_of_table_tree(estimator, file, feature_names, max_labels, **options)
        return None
    buffer = StringIO() if out_file is None else out_file
    exporter = _DOTExporter(questions, out_file=buffer, feature_names=questions.names, **options)
    exporter.export(estimator)
    return buffer.getvalue() if out_file is None else None


def draw_table_tree(estimator, feature_names, ax, max_labels, **options):
    """`plot_tree` of a tree that was fitted on a table."""
    questions = _questions(estimator, feature_names, "x[{}]", max_labels)
    return _MPLExporter(questions, feature_names=questions.names, **options).export(
        estimator, ax=ax
    )


def text_of_table_tree(
    estimator, feature_names, class_names, max_depth, spacing, decimals, show_weights, max_labels
):
    """`export_text` of a tree that was fitted on a table."""
    questions = _questions(estimator, feature_names, "feature_{}", max_labels)
    tree = estimator.tree_
    lines = []

    def outcome(node):
        value = tree.value[node][0] if tree.n_outputs == 1 else tree.value[node].T[0]
        if not is_classifier(estimator):
            return f" value: [{_numbers(value, decimals)}]"
        label = np.argmax(value)
        if tree.n_outputs == 1:
            label = (estimator.classes_ if class_names is None else class_names)[label]
        weights = ""
        if show_weights:
            weights = _numbers(value * tree.weighted_n_node_samples[node], decimals)
            weights = f" weights: [{weights}]"
        return f"{weights} class: {label}"

    heights = _heights(tree)
    stack = [(0, 1, None)]  # node, depth, what is true of its rows
    while stack:
        node, depth, fact = stack.pop()
        stem = ("|" + " " * spacing) * (depth - 1) + "|" + "-" * spacing
        if fact is not None:
            parent_stem = ("|" + " " * spacing) * (depth - 2) + "|" + "-" * spacing
            lines.append(f"{parent_stem} {fact}")
        if tree.children_left[node] < 0:
            lines.append(stem + outcome(node))
        elif depth > max_depth + 1:
            lines.append(f"{stem} truncated branch of depth {heights[node]}")
        else:
            left, right = questions.sides(node, lambda t: f"{t:.{decimals}f}")
            stack.append((tree.children_right[node], depth + 1, right))
            stack.append((tree.children_left[node], depth + 1, left))
    return "\n".join(lines) + "\n"


def _numbers(values, decimals):
    return ", ".join(f"{value:.{decimals}f}" for value in values)


def _heights(tree):
    """Number of levels of the subtree below each node, its own included."""
    heights = np.ones(tree.node_count, dtype=np.intp)
    for node in range(tree.node_count - 1, -1, -1):
        if tree.children_left[node] >= 0:
            children = tree.children_left[node], tree.children_right[node]
            heights[node] = 1 + max(heights[child] for child in children)
    return heights
