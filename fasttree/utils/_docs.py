"""Prose shared by the docstrings of the estimators, written once.

`document` puts it where a docstring says ``{parameters}`` or ``{attributes}``, in the order of the
signature and with its defaults.
"""

import inspect

_SIZES = {
    "splitter": (
        '{"best", "random"}',
        """How a node's split is chosen: the best split of each feature, or the best of one random
        threshold per feature.""",
    ),
    "max_depth": (
        "int or None",
        """Largest depth of a leaf; the root has depth 0. None sets no limit.""",
    ),
    "min_samples_split": (
        "int or float",
        """Smallest number of rows of a node that is split; a float is a fraction of the rows,
        rounded up.""",
    ),
    "min_samples_leaf": (
        "int or float",
        """Smallest number of rows of a leaf; a float is a fraction of the rows, rounded up.""",
    ),
    "min_weight_fraction_leaf": (
        "float",
        """Smallest weight of a leaf, as a fraction of the weight of all rows.""",
    ),
    "max_features": (
        'int, float, {"sqrt", "log2"} or None',
        """Number of features looked at per node: that many, that fraction of them, or the root or
        logarithm of their number. None looks at all. At least one feature that is not constant in
        the node is looked at if there is one.""",
    ),
    "random_state": (
        "int, RandomState instance or None",
        """Source of the draws of features and random thresholds. With `splitter="best"` and all
        features it has no effect.""",
    ),
    "max_leaf_nodes": (
        "int or None",
        """Largest number of leaves. The tree is then grown best-first, by decrease of impurity.""",
    ),
    "min_impurity_decrease": (
        "float",
        """Smallest decrease of impurity of a split, weighted by the node's share of all rows.""",
    ),
    "class_weight": (
        'dict, list of dict, "balanced" or None',
        """Weight of each class, multiplied into `sample_weight`; a list has one dict per output.
        "balanced" weighs classes by the inverse of their frequency.""",
    ),
    "ccp_alpha": (
        "float",
        """Complexity parameter of minimal cost-complexity pruning: after growth, branches that
        decrease the impurity by no more than this per leaf are cut, weakest first. 0 cuts
        nothing.""",
    ),
    "monotonic_cst": (
        "array-like of int of shape (n_features,) or None",
        """1 where predictions must not fall with the feature, -1 where they must not rise, 0
        where they are free. One output only; a classifier needs two classes, and the constraint
        is on the probability of the second.""",
    ),
    "n_jobs": (
        "int or None",
        """Number of threads in fit and predict. None means 1 unless in a joblib context, -1 all.
        The tree does not depend on it.""",
    ),
    "categorical_features": (
        '"from_dtype", array-like of bool, int or str of shape (n_features,) or '
        "(n_categorical_features,), or None",
        """Columns that hold categories only: a mask, column numbers or names. "from_dtype" takes
        the columns of categories, enums and booleans of a frame. Other columns of text or objects
        are hybrid: what parses as a number is a number, the rest are categories.""",
    ),
    "categorical_split": (
        '{"equality", "subset"}',
        """How categories are split: one from the rest, or the best set of them from the rest. Sets
        need one output, and two classes or regression other than by absolute error; with
        `splitter="random"` they are random and need neither.""",
    ),
    "missing_values": (
        "float, str, array-like of these, or None",
        """Values that are missing besides None, NaN, NA, NaT and the empty string. Texts are
        compared without the blanks around them.""",
    ),
}

_CLASSIFICATION = {
    "criterion": (
        '{"gini", "entropy", "log_loss", "chi2"}',
        """Impurity that splits decrease: Gini's, or Shannon's entropy under two names. "chi2"
        ranks splits by Pearson's chi-square of side and class; its impurity is Gini's.""",
    ),
}

_REGRESSION = {
    "criterion": (
        '{"squared_error", "absolute_error", "poisson", "label_split"}',
        """Loss that splits decrease: squared error and Poisson deviance about the mean, absolute
        error about the median. "label_split" first separates a node's targets into two classes by
        squared error and ranks splits by information gain about them; its impurity is the squared
        error.""",
    ),
}

_FITTED = {
    "max_features_": ("int", "Number of features looked at per node."),
    "n_features_in_": ("int", "Number of features seen during fit."),
    "feature_names_in_": (
        "ndarray of shape (n_features,)",
        "Names of the features, if all are strings.",
    ),
    "n_outputs_": ("int", "Number of outputs."),
    "feature_importances_": (
        "ndarray of shape (n_features,)",
        "Share of each feature in the total decrease of impurity.",
    ),
    "tree_": ("Tree", "The fitted tree as arrays."),
    "categories_": (
        "list of list",
        "Categories of each column in code order, if fitted on a table with categories or objects.",
    ),
}

_FITTED_CLASSES = {
    "classes_": (
        "ndarray of shape (n_classes,) or list of ndarray",
        "Class labels in ascending order; a list with several outputs.",
    ),
    "n_classes_": ("int or ndarray of int", "Number of classes; one per output with several."),
}


def document(task, more_parameters=None, fitted=_FITTED):
    """Return a class decorator that fills in the docstring.

    Parameters
    ----------
    task : {"classification", "regression"}
        Which criteria and fitted attributes apply.
    more_parameters : dict of str to (str, str), default=None
        Type and text of parameters that trees do not have, or that mean something else.
    fitted : dict of str to (str, str)
        Type and text of the fitted attributes, but for those of classes.
    """
    is_classification = task == "classification"
    parameters = _SIZES | (_CLASSIFICATION if is_classification else _REGRESSION)
    parameters |= more_parameters or {}
    attributes = (_FITTED_CLASSES if is_classification else {}) | fitted

    def fill(cls):
        if cls.__doc__ is None:  # python -OO
            return cls
        signature = inspect.signature(cls.__init__).parameters
        cls.__doc__ = cls.__doc__.replace(
            "{parameters}",
            _entries(
                (name, f"{parameters[name][0]}, default={p.default!r}", parameters[name][1])
                for name, p in signature.items()
                if name != "self"
            ),
        ).replace("{attributes}", _entries((name, *attributes[name]) for name in attributes))
        return cls

    return fill


def _entries(entries):
    """Numpydoc entries at the indentation of a class docstring, without the first indent."""
    blocks = []
    for name, kind, text in entries:
        lines = [" " * 8 + line.strip() for line in text.splitlines()]
        blocks.append("\n".join([f"    {name} : {kind.replace(chr(39), chr(34))}", *lines]))
    return "\n".join(blocks).lstrip()
