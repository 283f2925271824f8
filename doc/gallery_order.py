"""The order of the gallery: from the first tree to what few need.

Examples that are not named here come last, by their names.
"""

ORDER = [
    "first_tree",
    "table",
    "html_tree",
    "report",
    "importances",
    "shap",
    "tuning",
    "optimal",
    "pareto_front",
    "forests",
    "sparse_text",
    "regression",
    "monotone",
    "missing_values",
    "class_weights",
    "multioutput",
    "decision_surface",
    "one_column",
    "encoded_data",
    "speed",
    "strategies",
    "replay",
    "handover",
]


class GalleryOrder:
    """Key by which sphinx-gallery sorts the examples of a folder."""

    def __init__(self, src_dir):
        self.src_dir = src_dir

    def __call__(self, filename):
        name = filename.removeprefix("plot_").removesuffix(".py")
        return (ORDER.index(name) if name in ORDER else len(ORDER), name)
