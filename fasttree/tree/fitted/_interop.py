"""Exchange with scikit-learn: its estimators and its `Tree`, from fasttree's.

scikit-learn's node record differs between releases, so it is filled by the field names that the
installed release has. Its trees compare numbers only: `CategoricalSplitEncoder` reads tables as the
fit did, and the answer to a split on categories becomes a column of its own, 0 or 1, beside theirs.
"""

import numpy as np
import sklearn.tree
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.pipeline import Pipeline

from fasttree._sklearn_compat import SKLEARN_NODE_DTYPE, SklearnTree
from fasttree.table._encoder import MAX_CATEGORIES, MISSING_BITS, table_encoder
from fasttree.tree._monotonic import constraint_per_column
from fasttree.tree._validation import check_predict_data

__all__ = [
    "CategoricalSplitEncoder",
    "fitted_twin",
    "reads_matrix",
    "to_sklearn",
    "to_sklearn_tree",
    "with_encoder",
]


class CategoricalSplitEncoder(TransformerMixin, BaseEstimator):
    """Turns the tables that a fitted tree predicts into matrices of numbers.

    First come the columns of the table, NaN where a cell is a category or missing, then a column
    for every question about categories that a tree asks: 0 where the answer is left. A clone is
    the encoder itself.

    Parameters
    ----------
    estimator : estimator
        A fitted tree or forest of fasttree's.
    """

    def __init__(self, estimator):
        self.estimator = estimator

    def fit(self, X, y=None):
        """Return self: all was learned when the tree was fitted."""
        return self

    def __sklearn_is_fitted__(self):
        return True

    def __sklearn_clone__(self):
        return self  # without the fitted tree it would be nothing

    @property
    def n_features_in_(self):
        return self.estimator.n_features_in_

    @property
    def feature_names_in_(self):
        return self.estimator.feature_names_in_

    def questions(self):
        """Return the questions as (feature, codes, whether these go left, whether missing values
        do), and for each tree the positions of those of its splits on categories."""
        position, places = {}, []
        for tree in _trees(self.estimator):
            asked = _questions(tree)
            places.append([position.setdefault(question, len(position)) for question in asked])
        return list(position), [np.array(of_tree, dtype=np.intp) for of_tree in places]

    def transform(self, X):
        """Return the matrix of a table.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            What the tree predicts.

        Returns
        -------
        ndarray of shape (n_samples, n_features + n_questions), dtype=float32
            The columns and the answers.
        """
        cells, _ = check_predict_data(self.estimator, X)
        questions, _ = self.questions()
        answers = np.empty((len(cells), len(questions)), dtype=np.float32)
        for i, (feature, listed, listed_left, missing_left) in enumerate(questions):
            codes = np.ascontiguousarray(cells[:, feature]).view(np.uint32) - (MISSING_BITS + 1)
            is_category = np.isnan(cells[:, feature]) & (codes <= MAX_CATEGORIES)  # unseen ones too
            is_missing = np.isnan(cells[:, feature]) & ~is_category
            is_left = is_category & (np.isin(codes, listed) == listed_left)
            answers[:, i] = ~(is_left | (is_missing & missing_left))
        return np.hstack([np.where(np.isnan(cells), np.float32(np.nan), cells), answers])

    def get_feature_names_out(self, input_features=None):
        """Return the names of the columns of the matrix.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names of the table's columns; None takes those of the fit, or x0, x1 and so on.

        Returns
        -------
        ndarray of str
            These names, and the questions.
        """
        names = input_features
        if names is None:
            names = getattr(self.estimator, "feature_names_in_", None)
        if names is None:
            names = [f"x{j}" for j in range(self.estimator.n_features_in_)]
        categories = table_encoder(self.estimator).categories
        questions = []
        for feature, listed, listed_left, missing_left in self.questions()[0]:
            named = ", ".join(str(categories[feature][code]) for code in listed)
            sign = "not in" if listed_left else "in"  # 1 means right
            missing = "" if missing_left else " or missing"
            questions.append(f"{names[feature]} {sign} {{{named}}}{missing}")
        return np.array([*names, *questions], dtype=object)


def _trees(estimator):
    if hasattr(estimator, "tree_"):
        return [estimator.tree_]
    return [member.tree_ for member in estimator.estimators_]


def _questions(tree):
    """The question of each split on categories."""
    splits = tree.label_splits
    if splits is None:
        return []
    codes = np.split(splits.codes, splits.offsets[1:-1])
    columns = (
        tree.feature[splits.nodes].tolist(),
        (tuple(listed.tolist()) for listed in codes),
        splits.listed_left.astype(bool).tolist(),
        tree.missing_go_to_left[splits.nodes].astype(bool).tolist(),
    )
    return list(zip(*columns))


def with_encoder(estimator, twin):
    """Return scikit-learn's twin of an estimator, behind an encoder if it was fitted on a table.

    Parameters
    ----------
    estimator : BaseDecisionTree
        The fitted estimator.
    twin : sklearn.tree.BaseDecisionTree
        Its twin, without a tree.
    """
    if table_encoder(estimator) is None:
        twin.tree_ = to_sklearn_tree(estimator.tree_)
        return twin
    encoder = CategoricalSplitEncoder(estimator)
    questions, (places,) = encoder.questions()
    twin.tree_ = to_sklearn_tree(estimator.tree_, len(questions), places)
    reads_matrix(twin, len(questions))
    return Pipeline([("encoder", encoder), ("tree", twin)])


def reads_matrix(twin, n_questions):
    """Make a twin read what the encoder returns: an array with a column for each question."""
    twin.n_features_in_ += n_questions
    if hasattr(twin, "feature_names_in_"):
        del twin.feature_names_in_


def to_sklearn_tree(tree, n_questions=0, places=()):
    """Return scikit-learn's `Tree` with the nodes and values of fasttree's.

    Its splits on categories read columns beyond the others, by their `places` among the questions.
    """
    state = tree.__getstate__()
    nodes = np.zeros(tree.node_count, dtype=SKLEARN_NODE_DTYPE)
    for name in state["nodes"].dtype.names:
        nodes[name] = state["nodes"][name]
    if len(places):
        asking = tree.label_splits.nodes
        nodes["feature"][asking] = tree.n_features + places
        nodes["threshold"][asking] = 0.5
    if "split_kind" in SKLEARN_NODE_DTYPE.names:  # from 1.10 on: -1 leaf, 0 numeric split
        nodes["split_kind"] = np.where(tree.children_left < 0, -1, 0)
    result = SklearnTree(tree.n_features + n_questions, tree.n_classes, tree.n_outputs)
    result.__setstate__(
        {
            "max_depth": tree.max_depth,
            "node_count": tree.node_count,
            "nodes": nodes,
            "values": np.array(tree.value),
        }
    )
    return result


def to_sklearn(estimator):
    """Return the scikit-learn estimator that a fitted one of fasttree's stands in for, behind an
    encoder if it was fitted on a table."""
    return with_encoder(estimator, fitted_twin(estimator, sklearn.tree))


def fitted_twin(estimator, module):
    """Return an estimator of the class of `module` that a fitted one derives from, with its
    parameters and fitted attributes."""
    cls = next(c for c in type(estimator).__mro__ if c is getattr(module, c.__name__, None))
    known = cls._get_param_names()
    parameters = {
        name: value for name, value in estimator.get_params(deep=False).items() if name in known
    }
    if isinstance(parameters.get("monotonic_cst"), dict):
        parameters["monotonic_cst"] = constraint_per_column(estimator)
    # The impurities of these criteria are those of scikit-learn's, which knows no other names.
    replaced = {"chi2": "gini", "label_split": "squared_error"}
    if isinstance(parameters.get("criterion"), str):
        parameters["criterion"] = replaced.get(parameters["criterion"], parameters["criterion"])
    result = cls(**parameters)
    fitted = {
        name: value
        for name, value in vars(estimator).items()
        if name.endswith("_") and not name.startswith("_")
    }
    for name, value in fitted.items():
        setattr(result, name, value)
    return result
