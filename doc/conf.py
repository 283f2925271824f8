"""Sphinx configuration. The package must be installed: nothing is imported from the source.

Neither the build nor a page asks for anything from the network: the theme brings its fonts and
scripts along, and formulas are MathML, which browsers draw themselves.
"""

import sys
from pathlib import Path

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml

import fasttree

sys.path.append(str(Path(__file__).parent))  # for charts and gallery_order

project = "fasttree"
author = "The fasttree developers"
copyright = "2026, The fasttree developers"
version = release = fasttree.__version__

extensions = [
    "charts",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "_templates"]
templates_path = ["_templates"]

default_role = "literal"
smartquotes = False  # they would turn the quotes of strings in types
autosummary_generate = True
autodoc_typehints = "none"
# The class template lists the methods itself: those that fasttree documents in full, those
# inherited from scikit-learn by name, for their text refers to scikit-learn's own pages.
numpydoc_show_class_members = False
toc_object_entries_show_parents = "hide"

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "capture_repr": ("_repr_html_",),
    "remove_config_comments": True,
    "within_subsection_order": "gallery_order.GalleryOrder",
}

html_theme = "pydata_sphinx_theme"
html_theme_options = {
    "logo": {"text": "fasttree"},
    "header_links_before_dropdown": 5,
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_context = {"default_mode": "auto"}  # light or dark, as the reader's system is
html_sidebars = {"*": []}  # a page that is no part of a section has nothing to list there
html_static_path = ["_static"]
html_css_files = ["custom.css"]
html_show_sourcelink = False
html_copy_source = False
html_math_renderer = "mathml"


def skip_generated_members(app, what, name, obj, skip, options):
    """Leave out the methods that scikit-learn's metadata routing adds to every estimator."""
    return skip or (name.startswith("set_") and name.endswith("_request"))


def write_formula(translator, node):
    """Write a formula as MathML."""
    is_block = isinstance(node, nodes.math_block)
    translator.body.append(tex2mathml(node.astext(), as_block=is_block))
    raise nodes.SkipNode


def setup(app):
    app.connect("autodoc-skip-member", skip_generated_members)
    app.add_html_math_renderer("mathml", (write_formula, None), (write_formula, None))
