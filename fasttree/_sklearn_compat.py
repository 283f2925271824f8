"""The only importer of scikit-learn's private Python helpers.

When scikit-learn moves or changes one of them, this file follows and nothing else has to.
"""

from typing import TYPE_CHECKING

from sklearn.ensemble._bootstrap import _get_n_samples_bootstrap as n_samples_of_bootstrap
from sklearn.ensemble._forest import ForestClassifier
from sklearn.ensemble._iforest import _average_path_length as average_path_length
from sklearn.metrics._scorer import _BaseScorer as BaseScorer
from sklearn.metrics._scorer import _MultimetricScorer as MultimetricScorer
from sklearn.metrics._scorer import _PassthroughScorer as PassthroughScorer
from sklearn.model_selection._validation import _fit_and_score as fit_and_score
from sklearn.model_selection._validation import _insert_error_scores as insert_error_scores
from sklearn.model_selection._validation import _score as score_estimator
from sklearn.model_selection._validation import (
    _warn_or_raise_about_fit_failures as report_fit_failures,
)
from sklearn.tree._export import _DOTTreeExporter as DOTTreeExporter
from sklearn.tree._export import _MPLTreeExporter as MPLTreeExporter
from sklearn.tree._tree import NODE_DTYPE as SKLEARN_NODE_DTYPE
from sklearn.tree._tree import Tree as SklearnTree
from sklearn.utils import _safe_indexing as safe_indexing
from sklearn.utils._param_validation import (
    Hidden,
    Interval,
    RealNotInt,
    StrOptions,
    validate_parameter_constraints,
)
from sklearn.utils._plotting import _validate_score_name as validate_score_name
from sklearn.utils._sparse import _align_api_if_sparse as align_sparse_interface
from sklearn.utils.metaestimators import _safe_split as safe_split
from sklearn.utils.stats import _weighted_percentile as weighted_percentile
from sklearn.utils.validation import (
    _assert_all_finite_element_wise as assert_all_finite_element_wise,
)
from sklearn.utils.validation import _check_feature_names as check_feature_names
from sklearn.utils.validation import _check_method_params as check_method_params
from sklearn.utils.validation import _check_n_features as check_n_features
from sklearn.utils.validation import _check_response_method as check_response_method
from sklearn.utils.validation import _check_sample_weight as check_sample_weight
from sklearn.utils.validation import _num_samples as num_samples

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    Method = TypeVar("Method", bound=Callable)

    # scikit-learn has no types: without this a decorated method would have none either.
    def fit_context(*, prefer_skip_nested_validation: bool) -> Callable[[Method], Method]: ...
else:
    from sklearn.base import _fit_context as fit_context


def expanded_class_weights(forest, y, sample_weight):
    """Return the weight of each row's class as scikit-learn's forests weigh it, or None where
    classes are balanced within each bootstrap sample.

    Parameters
    ----------
    forest : ForestClassifier
        Has `class_weight`, `warm_start`, `bootstrap`, `n_outputs_`; its classes are set as
        scikit-learn sets them.
    y : ndarray of shape (n_samples, n_outputs)
        Class labels.
    sample_weight : ndarray of shape (n_samples,) or None
        Weights of the rows.
    """
    return ForestClassifier._validate_y_class_weight(forest, y, sample_weight)[1]


__all__ = [
    "BaseScorer",
    "DOTTreeExporter",
    "Hidden",
    "Interval",
    "MPLTreeExporter",
    "MultimetricScorer",
    "PassthroughScorer",
    "RealNotInt",
    "SKLEARN_NODE_DTYPE",
    "SklearnTree",
    "StrOptions",
    "align_sparse_interface",
    "assert_all_finite_element_wise",
    "average_path_length",
    "check_feature_names",
    "check_method_params",
    "check_n_features",
    "check_response_method",
    "check_sample_weight",
    "expanded_class_weights",
    "fit_and_score",
    "fit_context",
    "insert_error_scores",
    "n_samples_of_bootstrap",
    "num_samples",
    "report_fit_failures",
    "safe_indexing",
    "safe_split",
    "score_estimator",
    "validate_parameter_constraints",
    "validate_score_name",
    "weighted_percentile",
]
