"""Prose shared by the docstrings of the estimators, written once.

`document` puts it where a docstring says ``{parameters}`` or ``{attributes}``, in the order of the
signature and with its defaults.
"""

import inspect
from textwrap import wrap

_SIZES = {
    "splitter": (
        '{"best", "random"}',
        """How a node's split is chosen. "best" tries every threshold of every feature. "random"
        draws one threshold per feature between the smallest and the largest value in the node and
        takes the best of these, which is faster and makes the trees of an ensemble differ.""",
    ),
    "max_depth": (
        "int or None",
        """Largest depth of a leaf, which is the number of questions asked of a row; the root has
        depth 0. None sets no limit: nodes are split until they are pure or another limit applies.
        The tree grown with a limit is the top of the tree grown without, so `tune` can find the
        best depth after the fit.""",
    ),
    "min_samples_split": (
        "int or float",
        """Smallest number of rows that a node must have to be split. An int is that number, a
        float a fraction of the rows of the fit, rounded up. Each row counts as one, whatever its
        weight, but for those of weight 0, which do not count.""",
    ),
    "min_samples_leaf": (
        "int or float",
        """Smallest number of rows of a leaf. An int is that number, a float a fraction of the rows
        of the fit, rounded up. Splits that would leave fewer rows on a side are not candidates.
        So this parameter changes which split is best, whereas the other limits only cut the tree
        short. It smooths probabilities and means, since leaves of few rows predict badly.""",
    ),
    "min_weight_fraction_leaf": (
        "float",
        """Smallest weight of a leaf, as a fraction of the weight of all rows; without
        `sample_weight` every row has weight 1. Like `min_samples_leaf` it determines which splits
        are candidates.""",
    ),
    "max_features": (
        'int, float, {"sqrt", "log2"} or None',
        """Number of features considered in each node, where they are drawn at random. An int is
        that number, a float a fraction of the features; "sqrt" and "log2" stand for the square
        root and the logarithm to base 2 of their number. None considers all. If all features drawn
        are constant in the node, more are drawn until one is not, if there is one.""",
    ),
    "random_state": (
        "int, RandomState instance or None",
        """Source of the random features and thresholds. An int gives the same tree in every fit,
        None another one each time. With `splitter="best"` and all features nothing is drawn, and
        it has no effect: ties are settled by a rule. The draws of a node depend only on this and
        on the path to the node.""",
    ),
    "max_leaf_nodes": (
        "int or None",
        """Largest number of leaves. With a limit the tree is grown best-first: the next leaf to be
        split is always the one whose split decreases the weighted impurity most. None sets no
        limit.""",
    ),
    "min_impurity_decrease": (
        "float",
        """Smallest decrease of impurity that a split must achieve. It is weighted by the share of
        the node in all rows: ``N_t / N * (impurity - N_l / N_t * left - N_r / N_t * right)``, where
        N, N_t, N_l and N_r are the weights of all rows, of the node and of its children.""",
    ),
    "class_weight": (
        'dict, list of dict, "balanced" or None',
        """Weight of each class as ``{class: weight}``, by which `sample_weight` is multiplied.
        Classes that are not named have weight 1, and a list has one dict per output. "balanced"
        weights classes by the inverse of their frequency, ``n_samples / (n_classes * count)``. None
        gives all the same weight.""",
    ),
    "ccp_alpha": (
        "float",
        """Complexity parameter of minimal cost-complexity pruning: after growth, branches that
        decrease the impurity by no more than this per leaf are cut, weakest first. 0 cuts
        nothing. `cost_complexity_pruning_path` returns the values at which the tree changes, and
        `prune` and `tune` apply such values to a fitted tree.""",
    ),
    "monotonic_cst": (
        "array-like of int of shape (n_features,), dict of str to int, or None",
        """1 for each feature with which predictions must not fall, -1 if they must not rise, and 0
        for no constraint. A dict has the constraints by column names; columns that are not named
        are free. None constrains nothing. There can be only one output. A classifier needs two
        classes, and the constraint is on the probability of the second. Columns with categories
        cannot be constrained.""",
    ),
    "n_jobs": (
        "int or None",
        """Number of threads in fit and predict. None means 1 unless in a joblib context, -1 all
        that OpenMP, threadpoolctl and joblib allow. Small data uses one thread in any case. The
        tree does not depend on it.""",
    ),
    "categorical_features": (
        '"from_dtype", array-like of bool, int or str of shape (n_features,) or '
        "(n_categorical_features,), or None",
        """Columns that hold categories only, as a mask, by number or by name. "from_dtype" takes
        those of a frame whose type is category, enum or boolean; None takes none. Other columns of
        text or objects are hybrid: what parses as a number is a number, the rest are categories.
        Name columns of numbers here if these are really codes, such as postal codes.""",
    ),
    "categorical_split": (
        '{"equality", "subset"}',
        """How categories are split: one category from the rest ("equality"), or the best set of
        categories from the rest ("subset"). Sets make shallower trees if columns have many
        categories. With more than two classes a good set is found by a heuristic, not always the
        best. Sets take one output and any criterion but absolute error; with `splitter="random"`
        they are drawn at random, without these limits.""",
    ),
    "missing_values": (
        "float, str, array-like of these, or None",
        """Values to be taken as missing, in addition to None, NaN, NA, NaT and the empty string.
        Texts are compared without leading and trailing blanks.""",
    ),
}

_CLASSIFICATION = {
    "criterion": (
        '{"gini", "entropy", "log_loss", "chi2"}',
        """Impurity that splits decrease. "gini" is 1 minus the sum of the squared shares of the
        classes; "entropy" and "log_loss" are Shannon's entropy in bits. Both rarely choose
        different splits, and entropy takes more time. "chi2" ranks splits by Pearson's chi-square
        of side and class; its impurity is Gini's.""",
    ),
}

_REGRESSION = {
    "criterion": (
        '{"squared_error", "absolute_error", "poisson", "label_split"}',
        """Loss that splits decrease: squared error or Poisson deviance from the mean, or absolute
        error from the median. Leaves predict the mean or the median accordingly. Absolute error is
        less sensitive to outliers and takes longer. Poisson is for counts, which must not be
        negative. "label_split" first divides the targets of a node into two classes by squared
        error and ranks splits by their information gain about these; its impurity is the squared
        error.""",
    ),
}

_AUTO = {
    "task": (
        '{"auto", "classification", "regression"}',
        """What to fit. "auto" decides by the criterion if one is given, and by the target if
        not.""",
    ),
    "criterion": (
        "str or None",
        """Impurity that splits decrease, as in :class:`DecisionTreeClassifier` and
        :class:`DecisionTreeRegressor`. None takes their defaults, "gini" and "squared_error".""",
    ),
    "class_weight": (
        _SIZES["class_weight"][0],
        _SIZES["class_weight"][1] + " Classification only.",
    ),
}

_FITTED = {
    "max_features_": ("int", "Number of features considered in each node, from `max_features`."),
    "n_features_in_": ("int", "Number of features seen during fit."),
    "feature_names_in_": (
        "ndarray of shape (n_features,)",
        "Names of the features, if all are strings.",
    ),
    "n_outputs_": ("int", "Number of outputs."),
    "feature_importances_": (
        "ndarray of shape (n_features,)",
        """Share of each feature in the total decrease of impurity. It favours features with many
        values; :class:`fasttree.export.ImportancesDisplay` can measure on held-out rows.""",
    ),
    "tree_": ("Tree", "The fitted tree as arrays, with an entry per node."),
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
    task : {"auto", "classification", "regression"}
        Which criteria and fitted attributes apply.
    more_parameters : dict of str to (str, str), default=None
        Type and text of parameters that trees do not have, or that mean something else.
    fitted : dict of str to (str, str)
        Type and text of the fitted attributes, but for those of classes.
    """
    own = {"auto": _AUTO, "classification": _CLASSIFICATION, "regression": _REGRESSION}
    parameters = _SIZES | own[task] | (more_parameters or {})
    attributes = (_FITTED_CLASSES if task == "classification" else {}) | fitted

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
        lines = wrap(" ".join(text.split()), 92, initial_indent=" " * 8, subsequent_indent=" " * 8)
        blocks.append("\n".join([f"    {name} : {kind.replace(chr(39), chr(34))}", *lines]))
    return "\n".join(blocks).lstrip()
