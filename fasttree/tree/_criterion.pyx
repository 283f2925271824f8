"""Criteria of classification and regression.

Constructors take what scikit-learn's take, so that `criterion=` accepts an instance. Per-fit work
is here; the formulas are in `engine/core/impurity.hpp`, the per-sample loops in `engine/score/`.
"""
import numpy as np

from libc.float cimport DBL_EPSILON
from libc.math cimport isfinite, ldexp
from libc.stddef cimport size_t
from libcpp.utility cimport move

from fasttree.engine.core cimport (
    TARGET_EXPONENT, WEIGHT_EXPONENT, CompactNodes, WeightGrid, class_bits, class_records,
    excess_exponent, largest_magnitude, padded, rough_sums, sum_records, target_sums_of_used,
    weight_grid,
)
from fasttree.engine.criteria cimport Searcher, make_searcher_by
from fasttree.utils._typedefs cimport float32_t, int64_t, uint8_t, uint32_t

from fasttree.tree.selection import _split_scores as split_scores

cdef extern from "<cfloat>" nogil:
    const double DBL_TRUE_MIN


cdef void* address(array) except? NULL:
    """Where an array begins; NULL for None."""
    if array is None:
        return NULL
    return <void*> <size_t> array.ctypes.data


cdef class Criterion:
    """Impurity criterion (abstract).

    After `init`, `scanner` finds best splits for any node of the rows given. Its sums of weights
    are in units of 2**weight_exponent, targets in units of 2**target_exponent, impurities in units
    of 2**impurity_exponent; the exponents are 0 unless weights or targets are far from 1.

    Estimators ask the class what it can do.

    Attributes
    ----------
    name : str
        Its name in the registry, `engine/criteria/registry.hpp`.
    parameters : tuple of str
        What estimators call it.
    orders_categories : bool
        Whether sets of categories can be found in the order of their means, with one output: the
        best one, or with more than two classes a good one.
    takes_monotonic_cst : bool
        Whether children can be kept in the order of monotonic constraints.
    squares_errors : bool
        Whether the error of a prediction is squared, or absolute.
    split_score : callable
        ``split_score(tree, x, y, sample_weight)``: what the split of a tree of one split is worth.
    """
    name = None
    parameters = ()
    orders_categories = True
    takes_monotonic_cst = True
    squares_errors = True
    split_score = staticmethod(split_scores.improvement)

    @staticmethod
    def check_target(y):
        """Raise ValueError if the targets, finite numbers, are not of the criterion's kind."""

    cdef int init(self, y, sample_weight, const uint32_t[::1] rows, uint32_t n_rows,
                  FitOptions options) except -1:
        """Take the targets, shape (n, n_outputs), and weights or counts, shape (n,), or None."""
        cdef const float64_t[::1] w = None
        self.weight_exponent = self.target_exponent = self.impurity_exponent = 0
        self.arrays = {}
        self.targets = Targets()
        self.targets.n_rows = n_rows
        self.targets.n_outputs = <int> self.n_outputs
        self.targets.max_n_classes = 1
        self.targets.weight_unit = 1.0
        self.targets.replay = options.replay
        self.targets.simd = options.simd
        self.with_keys = options.with_keys
        if sample_weight is not None:
            are_counts = sample_weight.dtype == np.int64
            w = self.init_counts(sample_weight) if are_counts else self.init_weights(sample_weight)
        self.arrays["w"] = w
        self.take_targets(y, w)
        if rows is not None:
            self.place(np.asarray(rows), n_rows)
        self.make_searcher()
        return 0

    cdef int place(self, rows, uint32_t n_rows) except -1:
        """Move the targets of a sample to the places of its rows among all n_rows."""
        for name in ("y", "w", "weights", "classes", "sums", "sum_records", "rough",
                     "rough_length", "order_rank", "levels"):
            array = self.arrays.get(name)
            if array is None:
                continue
            array = np.asarray(array)
            by_output = name in ("order_rank", "levels")
            placed = np.zeros(
                (len(array), n_rows) if by_output else (n_rows, *array.shape[1:]), array.dtype)
            placed[(slice(None), rows) if by_output else rows] = array
            self.arrays[name] = placed
        self.targets.y = <const double*> address(self.arrays.get("y"))
        self.targets.w = <const double*> address(self.arrays["w"])
        self.targets.weights = <const int64_t*> address(self.arrays.get("weights"))
        self.targets.classes = address(self.arrays.get("classes"))
        self.targets.sums = <const int64_t*> address(self.arrays.get("sums"))
        self.targets.sum_records = <const int64_t*> address(self.arrays.get("sum_records"))
        self.targets.rough = <const float32_t*> address(self.arrays.get("rough"))
        self.targets.rough_length = <const float32_t*> address(self.arrays.get("rough_length"))
        self.targets.order_rank = <const uint32_t*> address(self.arrays.get("order_rank"))
        self.targets.levels = <const int64_t*> address(self.arrays.get("levels"))
        return 0

    cdef const float64_t[::1] init_weights(self, const float64_t[::1] w):
        """Put the weights on their grid; return them in units of 2**weight_exponent."""
        cdef int64_t[::1] weights = np.empty(w.shape[0], dtype=np.int64)
        cdef WeightGrid grid = weight_grid(&w[0], w.shape[0], <int> self.n_outputs, &weights[0])
        if not isfinite(grid.magnitude):
            raise ValueError("The sample weights are too large: their sum is not a finite number.")
        if grid.has_negative and not self.takes_negative_weights():
            raise ValueError(
                "There are negative sample weights, which only criterion='gini' and "
                "'squared_error' support.")
        self.weight_exponent = excess_exponent(grid.magnitude, WEIGHT_EXPONENT)
        if self.weight_exponent != 0:
            w = np.ldexp(w, -self.weight_exponent)
        self.targets.w = &w[0]
        self.targets.weights = &weights[0]
        self.targets.weight_unit = ldexp(grid.unit, -self.weight_exponent)
        self.targets.has_negative_weights = grid.has_negative
        self.least_weight = DBL_TRUE_MIN
        if grid.unit != 1.0:
            self.least_weight = ldexp(grid.magnitude, -self.weight_exponent) * DBL_EPSILON
        if grid.total <= 0 or (grid.has_negative and
                               grid.total * self.targets.weight_unit < self.least_weight):
            raise ValueError("The sum of the sample weights must be positive.")
        self.arrays["weights"] = weights
        return w

    cdef const float64_t[::1] init_counts(self, const int64_t[::1] counts):
        """The same for weights that are counts; None if they are not needed as floats."""
        self.targets.weights = &counts[0]
        self.least_weight = DBL_TRUE_MIN
        self.arrays["weights"] = counts
        return None

    cdef bint takes_negative_weights(self):
        return False

    cdef int restore_units(self, NodeArrays arrays) except -1:
        """Put the weights, impurities and values of a grown tree in units of 1."""
        cdef CompactNodes* nodes = arrays.compact_nodes.get()
        if self.weight_exponent != 0:
            nodes.scale_weights(self.weight_exponent)
        if self.target_exponent != 0 and not (
                nodes.scale_impurities(self.impurity_exponent)
                and arrays.compact_values.get().scale(self.target_exponent)):
            raise ValueError(
                "The targets are too large: the impurity of a node is not a finite number. "
                "Scale them.")
        return 0

    cdef int take_targets(self, y, const float64_t[::1] w) except -1:
        raise TypeError(f"{type(self).__name__} is abstract")

    cdef int close(self) except -1:
        cdef Searcher none
        self.searcher = move(none)
        self.arrays = {}
        return 0

    cdef int make_searcher(self) except -1:
        """Make what searches on the targets: that of the class's line in the registry."""
        cdef bytes criterion = type(self).name.encode()
        self.searcher = move(make_searcher_by(criterion, self.targets))
        return 0

    cdef Criterion clone(self):
        """A criterion on the same targets with a scanner of its own, for another thread."""
        cdef Criterion other = self.__copy__()
        other.targets = self.targets
        other.arrays = self.arrays
        other.make_searcher()
        return other

    def __copy__(self):
        cls, args = self.__reduce__()[:2]
        return cls(*args)

    def __deepcopy__(self, memo):
        return self.__copy__()


cdef class ClassificationCriterion(Criterion):
    """Criterion on class labels (abstract).

    Parameters
    ----------
    n_outputs : int
        Number of targets.
    n_classes : ndarray of shape (n_outputs,)
        Number of classes of each target.
    """

    def __init__(self, n_outputs, n_classes):
        self.n_outputs = n_outputs
        self.n_classes = np.asarray(n_classes, dtype=np.int64)
        self.value_size = n_outputs * max(self.n_classes.tolist())

    def __reduce__(self):
        return type(self), (self.n_outputs, self.n_classes), {}

    def __setstate__(self, state):
        pass

    cdef int take_targets(self, y, const float64_t[::1] w) except -1:
        cdef int64_t[::1] n_classes = self.n_classes
        cdef int64_t max_n_classes = self.value_size // self.n_outputs
        classes = np.ascontiguousarray(y, dtype=np.uint8 if max_n_classes <= 256 else np.uint32)
        self.arrays["classes"] = classes
        self.targets.classes = address(classes)
        self.targets.n_classes = &n_classes[0]
        self.targets.max_n_classes = <int> max_n_classes
        if max_n_classes == 2 and self.n_outputs == 1:
            self.init_bits()
        return 0

    cdef int init_bits(self) except -1:
        """A bit per row that says whether it is of class 1."""
        cdef const uint8_t[:, ::1] classes = self.arrays["classes"]
        cdef size_t n = classes.shape[0]
        cdef uint32_t[::1] bits = np.zeros(n // 32 + 1, dtype=np.uint32)
        with nogil:
            class_bits(self.targets.simd, &classes[0, 0], n, 1, &bits[0])
        self.targets.class_bits = &bits[0]
        self.arrays["class_bits"] = bits
        return self.init_records()

    cdef int init_records(self) except -1:
        """The weight of a row and that of its class 1 in one word, if whole numbers fit."""
        cdef const uint8_t[:, ::1] classes = self.arrays["classes"]
        cdef size_t n = classes.shape[0]
        cdef uint32_t[::1] records
        cdef bint fit
        if self.targets.weights == NULL or self.targets.weight_unit != 1.0 or self.with_keys:
            return 0
        records = np.empty(n, dtype=np.uint32)
        with nogil:
            fit = class_records(&classes[0, 0], self.targets.weights, n, &records[0])
        if fit:
            self.targets.records = &records[0]
            self.arrays["records"] = records
        return 0

    cdef int place(self, rows, uint32_t n_rows) except -1:
        Criterion.place(self, rows, n_rows)
        return self.init_bits() if self.targets.class_bits != NULL else 0


cdef class Gini(ClassificationCriterion):
    """Gini impurity: 1 - sum over classes of p_c squared, mean over outputs."""
    name = "gini"
    parameters = ("gini",)

    cdef bint takes_negative_weights(self):
        return True


cdef class Entropy(ClassificationCriterion):
    """Shannon entropy in bits: -sum over classes of p_c log2 p_c, mean over outputs."""
    name = "entropy"
    parameters = ("entropy", "log_loss")


cdef class ChiSquare(ClassificationCriterion):
    """Splits ranked by Pearson's chi-square of side and class; impurity is Gini's."""
    name = "chi_square"
    parameters = ("chi2",)
    split_score = staticmethod(split_scores.chi_square)


cdef class RegressionCriterion(Criterion):
    """Criterion on numbers (abstract).

    Parameters
    ----------
    n_outputs : int
        Number of targets.
    n_samples : int
        Number of rows of the fit.
    """

    def __init__(self, n_outputs, n_samples):
        self.n_outputs = n_outputs
        self.n_samples = n_samples
        self.value_size = n_outputs

    def __reduce__(self):
        return type(self), (self.n_outputs, self.n_samples), {}

    def __setstate__(self, state):
        pass

    cdef const float64_t[::1] init_counts(self, const int64_t[::1] counts):
        cdef const float64_t[::1] w = np.asarray(counts, dtype=np.float64)
        Criterion.init_counts(self, counts)
        self.targets.w = &w[0]
        return w

    cdef int impurity_degree(self):
        """The power of the targets' unit in that of impurities."""
        return 1

    cdef int take_targets(self, y, const float64_t[::1] w) except -1:
        cdef const float64_t[:, ::1] scaled = self.scaled_targets(y, w)
        self.targets.y = &scaled[0, 0]
        self.arrays["y"] = scaled
        return self.init_targets(scaled, w)

    cdef int init_targets(self, const float64_t[:, ::1] y, const float64_t[::1] w) except -1:
        """Make what is read of the scaled targets."""
        raise TypeError(f"{type(self).__name__} is abstract")

    cdef const float64_t[:, ::1] scaled_targets(self, const float64_t[:, ::1] y,
                                                const float64_t[::1] w):
        """The targets in units of 2**target_exponent."""
        cdef double largest
        cdef int exponent
        if w is not None:
            is_used = np.asarray(w) != 0.0
            if not is_used.all():  # the unit is to fit those that count
                y = np.where(is_used[:, None], y, 0.0)
        largest = largest_magnitude(&y[0, 0], y.shape[0] * y.shape[1])
        exponent = excess_exponent(largest, TARGET_EXPONENT)
        if exponent == 0:
            return y
        if self.targets.replay:
            # Scikit-learn's formulas compare with constants, so the unit matters.
            if exponent < 0:
                return y
            raise ValueError(
                f"The targets are too large (up to {largest:.3g}) for scikit-learn's formulas; "
                "scale them, or set sklearn_random_stream=False.")
        self.target_exponent = exponent
        self.impurity_exponent = self.impurity_degree() * exponent
        with np.errstate(under="ignore"):
            return np.ldexp(y, -exponent)

    cdef int init_sums(self, const float64_t[:, ::1] y, const float64_t[::1] w,
                       bint centred, bint is_weighted=True) except -1:
        """Put the targets on their grids; centred sums lose nothing to a large mean."""
        cdef size_t n = y.shape[0]
        cdef int64_t[:, ::1] sums = np.empty((n, self.n_outputs), dtype=np.int64)
        cdef double[:, ::1] grids = np.empty((2, self.n_outputs))
        cdef const double* weights = NULL
        if w is not None:
            weights = &w[0]
        with nogil:
            target_sums_of_used(&y[0, 0], n, <int> self.n_outputs, weights, self.targets.weights,
                                is_weighted, self.targets.weight_unit, centred,
                                not self.targets.replay, &sums[0, 0], &grids[0, 0], &grids[1, 0])
        self.targets.sums = &sums[0, 0]
        self.targets.centre = &grids[0, 0]
        self.targets.sum_unit = &grids[1, 0]
        self.arrays |= {"sums": sums, "grids": grids}
        return 0

    cdef int init_ranks(self, const float64_t[:, ::1] y) except -1:
        """Rank the targets of each output, equal ones by row."""
        cdef intp_t k
        cdef uint32_t[:, ::1] rank = np.empty((self.n_outputs, y.shape[0]), dtype=np.uint32)
        for k in range(self.n_outputs):
            order = np.argsort(np.asarray(y)[:, k], kind="stable")
            np.asarray(rank)[k, order] = np.arange(y.shape[0], dtype=np.uint32)
        self.targets.order_rank = &rank[0, 0]
        self.arrays["order_rank"] = rank
        return 0


cdef class MSE(RegressionCriterion):
    """Mean squared error about the node's mean, mean over outputs."""
    name = "squared_error"
    parameters = ("squared_error",)

    cdef bint takes_negative_weights(self):
        return True

    cdef int impurity_degree(self):
        return 2

    cdef int init_targets(self, const float64_t[:, ::1] y, const float64_t[::1] w) except -1:
        self.init_sums(y, w, True)
        if self.n_outputs == 1:
            self.init_sum_records()
        elif not self.targets.has_negative_weights:
            self.init_rough_sums()
        return 0

    cdef int init_sum_records(self) except -1:
        """The weight of a row and its sum in one word, if whole numbers fit."""
        cdef size_t n = self.arrays["y"].shape[0]
        cdef int64_t[::1] records
        cdef bint fit
        if self.targets.weights == NULL or self.targets.weight_unit != 1.0:
            return 0
        records = np.empty(n, dtype=np.int64)
        with nogil:
            fit = sum_records(self.targets.sums, self.targets.weights, n, &records[0])
        if fit:
            self.targets.sum_records = &records[0]
            self.arrays["sum_records"] = records
        return 0

    cdef int init_rough_sums(self) except -1:
        """The sums in single precision about their means, of a scale that floats hold."""
        cdef size_t n = self.arrays["y"].shape[0]
        cdef float32_t[:, ::1] rough = np.zeros(
            (n, padded(<int> self.n_outputs)), dtype=np.float32)
        cdef float32_t[::1] length = np.empty(n, dtype=np.float32)
        cdef int64_t[::1] centre = np.empty(self.n_outputs, dtype=np.int64)
        self.targets.rough_scale = rough_sums(
            self.targets.sums, n, <int> self.n_outputs, self.targets.weights,
            self.targets.sum_unit, &centre[0], &rough[0, 0], &length[0])
        self.targets.rough, self.targets.rough_length = &rough[0, 0], &length[0]
        self.targets.rough_centre = &centre[0]
        self.arrays |= {"rough": rough, "rough_length": length, "rough_centre": centre}
        return 0


cdef enum:
    LOG_PADDING = 8  # vectors may read past either end


cdef class Poisson(RegressionCriterion):
    """Half Poisson deviance from the node's mean, mean over outputs. Targets are >= 0."""
    name = "poisson"
    parameters = ("poisson",)

    @staticmethod
    def check_target(y):
        if np.any(y < 0):
            raise ValueError(
                "Some value(s) of y are negative which is not allowed for Poisson regression."
            )
        if not np.any(y):
            raise ValueError("Sum of y is not positive which is necessary for Poisson regression.")

    cdef int init_targets(self, const float64_t[:, ::1] y, const float64_t[::1] w) except -1:
        cdef float64_t[::1] log_counts
        self.init_sums(y, w, False)
        if w is None and self.n_outputs == 1:
            counts = np.arange(-LOG_PADDING, y.shape[0] + LOG_PADDING + 1)
            log_counts = np.log(np.maximum(counts, 1))
            self.targets.log_counts = &log_counts[LOG_PADDING]
            self.arrays["log_counts"] = log_counts
        return 0


cdef class MAE(RegressionCriterion):
    """Mean absolute error about the node's median, mean over outputs."""
    name = "absolute_error"
    parameters = ("absolute_error",)
    orders_categories = False
    squares_errors = False

    cdef int init_targets(self, const float64_t[:, ::1] y, const float64_t[::1] w) except -1:
        cdef int64_t[:, ::1] levels
        self.init_sums(y, w, True, is_weighted=False)
        levels = np.ascontiguousarray(np.asarray(self.arrays["sums"]).T)
        self.targets.levels = &levels[0, 0]
        self.arrays["levels"] = levels
        return self.init_ranks(y)


cdef class TargetSplit(RegressionCriterion):
    """Splits ranked by information gain about the node's best split of its targets in two.

    One output. Impurity is the squared error.
    """
    name = "target_split"
    parameters = ("label_split",)
    takes_monotonic_cst = False
    split_score = staticmethod(split_scores.gain_about_halves)

    cdef int impurity_degree(self):
        return 2

    cdef int init_targets(self, const float64_t[:, ::1] y, const float64_t[::1] w) except -1:
        if self.n_outputs > 1:
            raise ValueError("criterion='label_split' supports one output only.")
        self.init_sums(y, w, True)
        return self.init_ranks(y)
