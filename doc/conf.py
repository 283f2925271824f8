"""Sphinx configuration. The package must be installed: nothing is imported from the source."""

import fasttree

project = "fasttree"
author = "The fasttree developers"
copyright = "2026, The fasttree developers"
version = release = fasttree.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "numpydoc",
]
exclude_patterns = ["_build", "_templates"]
templates_path = ["_templates"]

autosummary_generate = True
autodoc_typehints = "none"
# The class template lists the methods itself: those that fasttree documents in full, those
# inherited from scikit-learn by name, for their text refers to scikit-learn's own pages.
numpydoc_show_class_members = False

html_theme = "alabaster"
html_theme_options = {
    "description": "Exact decision trees at histogram speed",
    "fixed_sidebar": True,
    "page_width": "1100px",
}
html_show_sourcelink = False


def skip_generated_members(app, what, name, obj, skip, options):
    """Leave out the methods that scikit-learn's metadata routing adds to every estimator."""
    return skip or (name.startswith("set_") and name.endswith("_request"))


def setup(app):
    app.connect("autodoc-skip-member", skip_generated_members)
