"""Targets, runs, nodes, splits and samplers: what all stages share."""
from libc.stddef cimport size_t
from libcpp cimport bool as cbool

from fasttree.engine.simd cimport Simd
from fasttree.utils._shared_blocks cimport SharedBlocks
from fasttree.utils._std cimport unique_ptr, vector
from fasttree.utils._typedefs cimport float64_t, int64_t, intp_t, uint32_t, uint64_t, uint8_t


cdef extern from "engine/core/targets.hpp" namespace "fasttree" nogil:
    size_t padded(int n_outputs) noexcept

    cdef cppclass NodeStats:
        double weight
        double impurity
        cbool pure

    ctypedef vector[int64_t] Totals
    void add_totals(const Totals& part, Totals& sum) except +

    cdef cppclass Targets:
        Targets() noexcept
        uint32_t n_rows
        int n_outputs
        int max_n_classes
        const int64_t* n_classes
        const void* classes
        const uint32_t* class_bits
        const uint32_t* records
        const int64_t* weights
        double weight_unit
        cbool has_negative_weights
        const double* y
        const double* w
        const int64_t* sums
        const int64_t* sum_records
        const double* sum_unit
        const float* rough
        const float* rough_length
        const int64_t* rough_centre
        double rough_scale
        const double* centre
        const double* log_counts
        const uint32_t* order_rank
        const int64_t* levels
        Simd simd
        cbool replay


cdef extern from "engine/core/runs.hpp" namespace "fasttree" nogil:
    const uint32_t BOUNDARY
    const uint32_t ROW

    cdef cppclass Runs:
        const uint32_t* entries
        uint32_t n
        uint32_t n_missing
        float value(uint32_t p) noexcept
        cbool is_constant(cbool replay) noexcept

    cdef cppclass Counts:
        const void* cells
        const float* values
        uint32_t n_values
        uint32_t n
        uint32_t n_missing

    cdef cppclass Group:
        pass

    ctypedef vector[Group] Groups

    cdef enum Question:
        THRESHOLD
        CATEGORY
        CATEGORY_SET

    cdef cppclass Candidate:
        double score
        uint32_t left
        uint32_t right
        uint32_t n_left
        cbool missing_left
        double middle
        Question question

    cdef cppclass Limits:
        uint32_t min_samples_leaf
        double min_weight_leaf
        double lower
        double upper
        cbool replay
        cbool is_drawn
        cbool category_sets


cdef extern from "engine/core/nonzeros.hpp" namespace "fasttree" nogil:
    cdef cppclass Nonzeros:
        const uint32_t* entries
        uint32_t n
        uint32_t n_negative
        uint32_t n_missing
        uint32_t n_listed() noexcept
        uint32_t n_values() noexcept
        float value(uint32_t p) noexcept
        cbool is_constant(cbool replay) noexcept

    cdef cppclass FeatureBound:
        pass


cdef extern from "utils/_random.hpp" namespace "fasttree" nogil:
    uint64_t mix(uint64_t key, uint64_t value) noexcept


cdef extern from "utils/_aligned_buffer.hpp" namespace "fasttree" nogil:
    cdef cppclass AlignedBuffer[T]:
        T* reserve(size_t n) except +
        void borrow(const T* items, size_t n) noexcept
        T* get() noexcept


cdef extern from "engine/core/ties.hpp" namespace "fasttree" nogil:
    const uint32_t NO_FEATURE

    cdef cppclass SharedScore:
        SharedScore() noexcept
        double to_beat() noexcept
        void report(double score) noexcept

    cdef cppclass Ties:
        cbool replay
        double to_beat(double best_score, uint32_t best_feature, uint32_t feature) noexcept


cdef extern from "engine/core/split.hpp" namespace "fasttree" nogil:
    const int NO_TABLE
    const uint32_t NO_ROW

    cdef cppclass Node:
        uint32_t start
        uint32_t end
        uint32_t depth
        uint32_t record
        uint64_t key
        uint32_t n_known
        int table
        uint64_t members
        double lower
        double upper
        NodeStats stats
        uint32_t size() noexcept

    cdef cppclass CategorySet:
        vector[uint32_t] codes
        cbool listed_left

    cdef cppclass Split:
        double score
        Question question
        double threshold
        uint32_t row_below
        uint32_t row_above
        uint32_t feature
        uint32_t n_left
        cbool missing_left
        cbool has_missing
        double middle
        CategorySet categories

    cbool is_better(const Split& split, const Split& best) noexcept

    double midpoint(float below, float above) noexcept

cdef extern from "engine/core/sampler.hpp" namespace "fasttree" nogil:
    cdef cppclass FeatureSampler:
        FeatureSampler(uint32_t n_features, uint32_t max_features, cbool replay,
                       uint32_t seed) except +
        uint32_t max_features() noexcept
        unique_ptr[FeatureSampler] clone() except +
        void begin(uint64_t key, uint32_t n_known) noexcept
        uint32_t next() except +
        void found_constant() except +
        uint32_t end() noexcept
        vector[uint32_t] known(uint32_t n_known) except +
        void assume_known(const vector[uint32_t]& constants) except +
        double threshold(uint64_t key, uint32_t feature, double low, double high) noexcept
        cbool missing_left(uint64_t key, uint32_t feature) noexcept


cdef extern from "engine/core/cost_model.hpp" namespace "fasttree" nogil:
    cbool filtering_pays(size_t n_rows, size_t n_kept) noexcept
    cbool sparse_lists_pay(uint32_t n_features, uint32_t max_features) noexcept
    cbool lists_pay(uint32_t n_features, uint32_t max_features) noexcept
    cbool keys_pay(uint32_t n_features, uint32_t max_features) noexcept
    cbool codes_pay(uint32_t n_rows, uint32_t n_features, uint32_t n_looked) noexcept
    cbool drawn_bits_pay(uint32_t n_rows, uint32_t n_features) noexcept
    cbool grouping_pays(uint32_t n_rows, uint32_t n_features, uint32_t n_looked) noexcept
    const uint32_t MIN_BIT_COLUMNS
    cbool sparse_bits_pay(size_t n_rows, size_t n_features, size_t n_nonzeros) noexcept
    uint32_t subtree_size(uint32_t n_rows, int n_threads) noexcept
    cbool handing_table_over_pays(uint32_t n_rows, uint32_t largest) noexcept
    uint32_t fewest_rows_to_leave(uint32_t n_looked) noexcept

    cbool binary_search_pays(uint32_t n, uint32_t m) noexcept


cdef extern from "engine/core/grid.hpp" namespace "fasttree" nogil:
    cdef cppclass WeightGrid:
        double unit
        double magnitude
        int64_t total
        cbool has_negative
    const int WEIGHT_EXPONENT
    const int TARGET_EXPONENT
    int excess_exponent(double largest, int ordinary) noexcept
    double largest_magnitude(const double* values, size_t n) noexcept
    WeightGrid weight_grid(const double* w, size_t n, int n_outputs, int64_t* out) except +


cdef extern from "engine/core/target_sums.hpp" namespace "fasttree" nogil:
    void target_sums_of_used(const double* y, size_t n, int n_outputs, const double* w,
                             const int64_t* weights, cbool is_weighted, double weight_unit,
                             cbool centred, cbool allow_lattice, int64_t* sums, double* centres,
                             double* units) except +
    cbool sum_records(const int64_t* sums, const int64_t* weights, size_t n,
                      int64_t* out) noexcept
    double rough_sums(const int64_t* sums, size_t n, int n_outputs, const int64_t* weights,
                      const double* units, int64_t* centres, float* rough,
                      float* lengths) noexcept


cdef extern from "engine/core/class_targets.hpp" namespace "fasttree" nogil:
    void class_bits(Simd simd, const uint8_t* classes, size_t n, uint8_t of_class,
                    uint32_t* out) noexcept
    cbool class_records(const uint8_t* classes, const int64_t* weights, size_t n,
                        uint32_t* out) noexcept


cdef extern from "engine/core/compact_tree.hpp" namespace "fasttree" nogil:
    cdef cppclass CompactNodes:
        CompactNodes(size_t n, SharedBlocks& memory) except +
        void write(NodeRecord* out) noexcept
        void scale_weights(int exponent) noexcept
        cbool scale_impurities(int exponent) noexcept
    cdef cppclass CompactValues:
        CompactValues(size_t n_nodes, size_t width, size_t n_kept, SharedBlocks& memory) except +
        size_t n_kept() noexcept
        void write(double* out) noexcept
        cbool scale(int exponent) noexcept


cdef extern from "engine/core/node_record.hpp" namespace "fasttree" nogil:
    # One record of NODE_DTYPE; see the header for the fields.
    cdef struct NodeRecord:
        intp_t left_child
        intp_t right_child
        intp_t feature
        float64_t threshold
        float64_t impurity
        intp_t n_node_samples
        float64_t weighted_n_node_samples
        uint8_t missing_go_to_left
