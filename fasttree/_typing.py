"""Types in the annotations of public functions. Only type checkers import this module."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
from narwhals.typing import IntoDataFrame, IntoSeries
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import sparray, spmatrix
from sklearn.model_selection import BaseCrossValidator

# Data.
Sparse: TypeAlias = sparray | spmatrix
MatrixLike: TypeAlias = ArrayLike | Sequence[Sequence[object]] | IntoDataFrame | Sparse
ColumnLike: TypeAlias = ArrayLike | Sequence[object] | IntoSeries
TargetLike: TypeAlias = ColumnLike | IntoDataFrame
Array: TypeAlias = NDArray[Any]
FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.intp]
Float32Rows: TypeAlias = NDArray[np.float32] | Sparse

# Parameters of the trees.
Task: TypeAlias = Literal["classification", "regression"]
ClassificationCriterion: TypeAlias = Literal["gini", "entropy", "log_loss", "chi2"]
RegressionCriterion: TypeAlias = Literal[
    "squared_error", "absolute_error", "poisson", "label_split"
]
Splitter: TypeAlias = Literal["best", "random"]
MaxFeatures: TypeAlias = float | Literal["sqrt", "log2"] | None
RandomState: TypeAlias = int | np.random.RandomState | None
ClassWeight: TypeAlias = Mapping[Any, float] | Literal["balanced"] | None
ClassWeights: TypeAlias = ClassWeight | Sequence[Mapping[Any, float]]  # with several outputs
ForestClassWeights: TypeAlias = ClassWeights | Literal["balanced_subsample"]
CategoricalFeatures: TypeAlias = ArrayLike | Literal["from_dtype"] | None
CategoricalSplit: TypeAlias = Literal["equality", "subset"]
Constraints: TypeAlias = ArrayLike | Mapping[str, int] | None
MissingValues: TypeAlias = float | str | Sequence[float | str] | ArrayLike | None

# Parameters of searches.
Grid: TypeAlias = Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Sequence[Any]]]
Limit: TypeAlias = Literal[
    "max_depth", "min_samples_split", "min_impurity_decrease", "max_leaf_nodes", "ccp_alpha"
]
Scoring: TypeAlias = str | Callable[..., Any] | Sequence[str] | Mapping[str, Any] | None
Folds: TypeAlias = int | BaseCrossValidator | Iterable[tuple[ArrayLike, ArrayLike]] | None
ErrorScore: TypeAlias = float | Literal["raise"]

# Settings of a context.
Strategy: TypeAlias = Literal["auto", "presort", "count", "sort"]
InstructionSet: TypeAlias = Literal["auto", "avx2", "portable"]
