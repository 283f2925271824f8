"""Drawing trees that were fitted on a table: every split as a question in words.

The drawings are scikit-learn's, with the line that states a node's split replaced.
"""

from html import escape
from io import StringIO
from textwrap import wrap

from sklearn.utils.validation import check_is_fitted

from fasttree._sklearn_compat import DOTTreeExporter, MPLTreeExporter
from fasttree.export._questions import Questions, column_names
from fasttree.table._encoder import table_encoder

__all__ = ["dot_of_table_tree", "draw_table_tree"]


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
