"""Prose shared by the docstrings of the forests; `fasttree.utils._docs` puts it in its place."""

from fasttree.utils._docs import document

__all__ = ["document_forest"]

_PARAMETERS = {
    "n_estimators": ("int", """Number of trees."""),
    "max_depth": (
        "int or None",
        """Largest depth of a leaf, which is the number of questions asked of a row; the root has
        depth 0. None sets no limit: nodes are split until they are pure or another limit
        applies.""",
    ),
    "ccp_alpha": (
        "float",
        """Complexity parameter of minimal cost-complexity pruning of each tree: after growth,
        branches that decrease the impurity by no more than this per leaf are cut, weakest first. 0
        cuts nothing.""",
    ),
    "bootstrap": (
        "bool",
        """Whether each tree is grown on a sample of the rows, drawn with replacement. If not, all
        are grown on all rows.""",
    ),
    "oob_score": (
        "bool or callable",
        """Whether to score the forest on out-of-bag rows, that is, to predict each row by the trees
        that did not draw it. A function of true and predicted targets replaces accuracy or R2.""",
    ),
    "n_jobs": (
        "int or None",
        """Number of jobs in fit, threads unless a joblib context says otherwise, and of threads in
        predictions. None means 1 unless in a joblib context, -1 all. The forest does not depend on
        it.""",
    ),
    "random_state": (
        "int, RandomState instance or None",
        """Source of the bootstrap samples and of the draws of features and random thresholds.""",
    ),
    "verbose": ("int", """How much a fit prints: 1 progress, 2 a line per tree."""),
    "warm_start": (
        "bool",
        """Whether a fit keeps the trees of the last one and only adds what `n_estimators` asks for
        beyond them.""",
    ),
    "class_weight": (
        'dict, list of dict, "balanced", "balanced_subsample" or None',
        """Weight of each class; a list has one dict per output. "balanced" weights classes by the
        inverse of their frequency, "balanced_subsample" by that in each bootstrap sample.""",
    ),
    "max_samples": (
        "int, float or None",
        """Number of draws of a bootstrap sample; a float is a fraction of the rows, or of their
        weight. None draws as many as there are rows.""",
    ),
    "sparse_output": ("bool", """Whether the embedding is a sparse matrix."""),
    "min_samples_split": (
        "int or float",
        """Smallest number of rows that a node must have to be split. Rows that a bootstrap sample
        drew several times count once. A float is a fraction of all rows, rounded up.""",
    ),
    "min_samples_leaf": (
        "int or float",
        """Smallest number of rows of a leaf, counted in the same way. A float is a fraction of all
        rows, rounded up.""",
    ),
}

_FITTED = {
    "estimators_": (
        "list of estimators",
        """The trees, of :mod:`fasttree.tree`. Predictions read a packed copy of them: exchange a
        tree rather than writing to its values.""",
    ),
    "estimator_": ("estimator", "A tree that was not fitted, of the same class."),
    "n_features_in_": ("int", "Number of features seen during fit."),
    "feature_names_in_": (
        "ndarray of shape (n_features,)",
        "Names of the features, if all are strings.",
    ),
    "n_outputs_": ("int", "Number of outputs."),
    "feature_importances_": (
        "ndarray of shape (n_features,)",
        "Mean share of each feature in the decrease of impurity.",
    ),
    "estimators_samples_": (
        "list of ndarray",
        "The rows that each tree drew, drawn again at each access.",
    ),
}

_OOB_SCORE = {
    "oob_score_": ("float", "Score of the out-of-bag predictions, if `oob_score` asks for it."),
}
_OOB_DECISION = _OOB_SCORE | {
    "oob_decision_function_": (
        "ndarray of shape (n_samples, n_classes) or (n_samples, n_classes, n_outputs)",
        "Out-of-bag probabilities, if `oob_score` asks for them; 0 for a row that every tree drew.",
    ),
}
_OOB_PREDICTION = _OOB_SCORE | {
    "oob_prediction_": (
        "ndarray of shape (n_samples,) or (n_samples, n_outputs)",
        "Out-of-bag predictions, if `oob_score` asks for them; 0 for a row that every tree drew.",
    ),
}


def document_forest(task, with_oob=True):
    """Return a class decorator that fills in the docstring of a forest, as `document`."""
    of_task = _OOB_DECISION if task == "classification" else _OOB_PREDICTION
    return document(task, _PARAMETERS, _FITTED | (of_task if with_oob else {}))
