"""The only importer of scikit-learn's private Python helpers.

When scikit-learn moves or changes one of them, this file follows and nothing else has to.
"""

from sklearn.base import _fit_context as fit_context
from sklearn.tree._export import _DOTTreeExporter as DOTTreeExporter
from sklearn.tree._export import _MPLTreeExporter as MPLTreeExporter
from sklearn.tree._tree import NODE_DTYPE as SKLEARN_NODE_DTYPE
from sklearn.tree._tree import Tree as SklearnTree
from sklearn.utils._param_validation import (
    Hidden,
    Interval,
    RealNotInt,
    StrOptions,
    validate_parameter_constraints,
)
from sklearn.utils._sparse import _align_api_if_sparse as align_sparse_interface
from sklearn.utils.validation import (
    _assert_all_finite_element_wise as assert_all_finite_element_wise,
)
from sklearn.utils.validation import _check_n_features as check_n_features
from sklearn.utils.validation import _check_sample_weight as check_sample_weight

__all__ = [
    "SKLEARN_NODE_DTYPE",
    "DOTTreeExporter",
    "Hidden",
    "Interval",
    "MPLTreeExporter",
    "RealNotInt",
    "SklearnTree",
    "StrOptions",
    "align_sparse_interface",
    "assert_all_finite_element_wise",
    "check_n_features",
    "check_sample_weight",
    "fit_context",
    "validate_parameter_constraints",
]
