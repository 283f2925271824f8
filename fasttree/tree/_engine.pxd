"""C++ pieces of the engine: targets, runs, nodes, samplers, columns, scanner, cost model."""
from libc.stddef cimport ptrdiff_t, size_t
from libcpp cimport bool as cbool

from fasttree.utils._interrupt cimport Poll
from fasttree.engine.simd cimport Simd
from fasttree.utils._std cimport unique_ptr, vector
from fasttree.utils._typedefs cimport int8_t, int64_t, uint8_t, uint32_t, uint64_t


cdef extern from "engine/core/targets.hpp" namespace "fasttree" nogil:
    cdef cppclass NodeStats:
        double weight
        double impurity
        cbool pure

    cdef cppclass Targets:
        Targets() noexcept
        uint32_t n_rows
        int n_outputs
        int max_n_classes
        const int64_t* n_classes
        const void* classes
        const uint32_t* class_bits
        const int64_t* weights
        double weight_unit
        cbool has_negative_weights
        const double* y
        const double* w
        const int64_t* sums
        const double* sum_unit
        const double* centre
        const double* log_counts
        const uint32_t* order_rank
        const int64_t* levels
        Simd simd
        cbool sklearn_formulas


cdef extern from "engine/core/runs.hpp" namespace "fasttree" nogil:
    const uint32_t BOUNDARY
    const uint32_t ROW

    cdef cppclass Runs:
        const uint32_t* entries
        uint32_t n
        uint32_t n_missing
        float value(uint32_t p) noexcept
        cbool is_constant(cbool sklearn_rules) noexcept

    cdef cppclass Counts:
        const void* cells
        const float* values
        uint32_t n_values
        uint32_t n
        uint32_t n_missing
        uint32_t n_labels

    cdef cppclass Category:
        pass

    ctypedef vector[Category] Categories

    cdef enum Question:
        THRESHOLD
        LABEL
        LABEL_SET

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
        int monotonic
        double lower
        double upper
        cbool sklearn_rules
        cbool near_rule
        cbool label_sets


cdef extern from "engine/core/nonzeros.hpp" namespace "fasttree" nogil:
    cdef cppclass Nonzeros:
        const uint32_t* entries
        uint32_t n
        uint32_t n_negative
        uint32_t n_missing
        uint32_t n_listed() noexcept
        uint32_t n_values() noexcept
        float value(uint32_t p) noexcept
        uint32_t n_at_most(double threshold) noexcept
        cbool is_constant(cbool sklearn_rules) noexcept

    cdef cppclass Reach:
        pass


cdef extern from "utils/_random.hpp" namespace "fasttree" nogil:
    uint64_t mix(uint64_t key, uint64_t value) noexcept


cdef extern from "utils/_aligned_buffer.hpp" namespace "fasttree" nogil:
    cdef cppclass Room[T]:
        T* reserve(size_t n) except +
        T* get() noexcept


cdef extern from "engine/simd/sorting.hpp" namespace "fasttree" nogil:
    cdef cppclass SortBuffers:
        pass


cdef extern from "engine/core/split.hpp" namespace "fasttree" nogil:
    const int NO_TABLE
    const uint32_t NO_FEATURE
    const uint32_t NO_ROW

    cdef cppclass Node:
        uint32_t start
        uint32_t end
        uint32_t depth
        uint32_t record
        uint64_t key
        uint32_t n_known
        int table
        double lower
        double upper
        NodeStats stats
        uint32_t size() noexcept

    cdef cppclass LabelSet:
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
        uint32_t n_values_left
        cbool missing_left
        cbool has_missing
        double middle
        LabelSet labels
        cbool goes_left(float cell) noexcept

    double midpoint(float below, float above) noexcept
    double score_to_beat(const Split& best, uint32_t feature, cbool sklearn_rules) noexcept
    void take_counted(const Counts& counts, const Candidate& candidate,
                      const Categories& categories, uint32_t feature, Split& best) except +
    void take_candidate(const Runs& runs, const Candidate& candidate,
                        const Categories& categories, uint32_t feature, Split& best) except +
    void take_nonzeros "take_candidate"(const Nonzeros& nonzeros, const Candidate& candidate,
                                        uint32_t feature, Split& best) noexcept


cdef extern from "engine/scan/random_categories.hpp" namespace "fasttree" nogil:
    cdef cppclass LabelDraw:
        LabelDraw(const vector[float]& cells, uint64_t key) except +
        cbool is_constant() noexcept
        cbool is_about_labels() noexcept
        cbool numbers_vary() noexcept
        void ask(cbool label_sets, Split& split) except +


cdef extern from "engine/grow/rules.hpp" namespace "fasttree" nogil:
    cdef cppclass GrowthRules:
        int64_t max_depth
        int64_t min_samples_split
        int64_t min_samples_leaf
        double min_weight_leaf
        double min_impurity_decrease
        double epsilon
        double root_weight
        const int8_t* monotonic_cst
        cbool sklearn_rules
        cbool label_sets
        cbool is_terminal(const Node& node) noexcept
        double improvement(const Node& node, const Node& left, const Node& right) noexcept
        cbool accepts(double improvement) noexcept
        void make_children(const Node& node, const Split& split, uint32_t middle, Node& left,
                           Node& right) noexcept
        Limits limits_of(const Node& node, uint32_t feature) noexcept
        void clip(const Node& node, vector[double]& value) noexcept


cdef extern from "engine/core/sampler.hpp" namespace "fasttree" nogil:
    cdef cppclass FeatureSampler:
        unique_ptr[FeatureSampler] clone() except +
        cbool is_ascending() noexcept
        void begin(uint64_t key, uint32_t n_known) noexcept
        uint32_t next() except +
        void found_constant() except +
        uint32_t end() noexcept
        cbool is_known_constant(uint32_t feature) noexcept
        vector[uint32_t] known(uint32_t n_known) except +
        void assume_known(const vector[uint32_t]& constants) except +
        double threshold(uint64_t key, uint32_t feature, double low, double high) noexcept
        cbool missing_left(uint64_t key, uint32_t feature) noexcept

    cdef cppclass KeyedSampler(FeatureSampler):
        KeyedSampler(uint32_t n_features, uint32_t max_features) except +

    cdef cppclass SklearnSampler(FeatureSampler):
        SklearnSampler(uint32_t n_features, uint32_t max_features, uint32_t seed) except +


cdef extern from "engine/grow/block.hpp" namespace "fasttree" nogil:
    const uint32_t BLOCK_ROWS

    cdef cppclass BlockSource:
        pass

    cdef cppclass Block:
        Block(BlockSource& source, Simd simd, uint32_t n_rows, uint32_t n_features) except +
        void open(uint32_t start, uint32_t end, const uint32_t* rows) noexcept


cdef extern from "engine/columns/dense.hpp" namespace "fasttree" nogil:
    const uint32_t MAX_COUNTED
    const uint32_t TILE

    cdef cppclass Column:
        cbool has_missing
        uint32_t n_categories
        vector[float] values
        cbool with_labels() noexcept

    cdef cppclass DenseColumns:
        uint32_t n_rows
        vector[uint32_t] rows
        vector[Column] columns
        DenseColumns(const float* X, ptrdiff_t row_stride, ptrdiff_t column_stride,
                     uint32_t n_rows, uint32_t n_features) except +
        void take_rows(vector[uint32_t] encoded) except +
        float value(uint32_t row, uint32_t feature) noexcept
        void begin_encoding(uint32_t n_threads) noexcept
        uint32_t n_parts() noexcept
        uint32_t begin_counting(uint32_t first, uint32_t last) except +
        uint32_t n_counted
        uint32_t n_wide
        uint32_t n_steps(size_t n_columns) noexcept
        void count(uint32_t share, uint32_t step, uint32_t n_steps) except +
        void settle_codes(uint32_t feature) except +
        void count_few(uint32_t first, uint32_t last) except +
        vector[uint32_t] unlisted() except +
        void gather_keys(const vector[uint32_t]& features, uint32_t first, uint32_t last,
                         uint32_t part, uint32_t* all_keys) noexcept
        void sort(uint32_t feature, const uint32_t* keys, cbool widened,
                  SortBuffers& buffers) except +
        void begin_interleaving() except +
        void interleave(uint32_t part, uint32_t step, uint32_t n_steps) noexcept
        void end_interleaving() noexcept


cdef extern from "engine/order/sample.hpp" namespace "fasttree" nogil:
    cdef cppclass DenseSample:
        const DenseColumns& data
        vector[uint32_t] rows
        DenseSample(const DenseColumns& data, vector[uint32_t] rows) except +
        cbool has_list(uint32_t feature) noexcept
        void take_lists(DenseColumns& columns) noexcept
        vector[uint32_t] bits() except +
        void filter_list(uint32_t feature, const uint32_t* is_in) except +
        void sort_list(uint32_t feature, SortBuffers& buffers) except +

    cdef cppclass DenseWorkspace(BlockSource):
        vector[uint32_t] go_left
        Room[uint32_t] scratch
        DenseWorkspace(DenseSample& sample, Simd simd) except +
        Runs runs(uint32_t feature, uint32_t start, uint32_t end) except +
        uint32_t split_rows(const Split& split, uint32_t start, uint32_t end) except +
        void split_list(uint32_t feature, uint32_t start, uint32_t end, cbool with_left,
                        cbool with_right, const uint32_t* sides) noexcept
        void mark_halves(uint32_t start, uint32_t middle, uint32_t end) noexcept


cdef extern from "engine/grow/nodes.hpp" namespace "fasttree" nogil:
    cdef cppclass NodeRecord:      # scikit-learn's node, see NODE_DTYPE
        pass

    cdef cppclass NodeStore:
        NodeStore() noexcept
        NodeStore(size_t value_size) except +
        uint32_t append(const Node& node, const vector[double]& value) except +
        void set_split(uint32_t record, const Split& split, uint32_t left) except +
        void begin_subtree(const NodeStore& main, uint32_t record) except +
        void set_missing_side(uint32_t record, cbool left) noexcept
        void set_subtree(uint32_t record, int subtree) noexcept

    cdef cppclass Open:            # a node of the frontier of best-first growth
        Node node
        Split split
        Node left
        Node right
        vector[double] left_value
        vector[double] right_value
        double improvement
        cbool is_leaf
        void take_values(const vector[double]& left, const vector[double]& right) except +

    cdef cppclass Frontier:
        Frontier(const NodeStore& store, cbool sklearn_rules) except +
        void push(Open& node) except +
        Open pop() noexcept
        cbool empty() noexcept

    size_t count_nodes(const NodeStore& main, const vector[NodeStore]& subtrees) noexcept

    cdef cppclass LabelLists:
        vector[int64_t] nodes
        vector[int64_t] offsets
        vector[uint32_t] codes
        vector[uint8_t] listed_left

    cdef cppclass NodeWriter:
        NodeWriter(const NodeStore& main, const vector[NodeStore]& subtrees, NodeRecord* nodes,
                   double* values) except +
        void write_main(cbool as_grown) except +
        void write_subtree(int i) except +
        int max_depth() noexcept
        LabelLists label_lists() except +


cdef extern from "engine/scan/scanner.hpp" namespace "fasttree" nogil:
    cdef cppclass Scanner:
        void watch(Poll* poll) noexcept
        uint64_t work(uint32_t n) noexcept
        void begin_node(const uint32_t* rows, uint32_t n) except +
        void node_stats(const uint32_t* rows, uint32_t n, NodeStats& out) except +
        void node_value(double* value) except +
        Reach reach(double score) except +
        cbool may_beat(const uint32_t* rows, uint32_t n, double score, uint32_t& peak) except +
        double perfect_score(const uint32_t* rows, uint32_t n) except +
        void grow_block(Block& block, const GrowthRules& rules, FeatureSampler& sampler,
                        NodeStore& store, const Node& root) except +
        cbool scan(const Runs&, const Limits&, Candidate& best) except +
        cbool scan_counts "scan"(const Counts&, const Limits&, Candidate& best) except +
        cbool scan_nonzeros "scan"(const Nonzeros&, const Limits&, Candidate& best) except +
        const Categories& categories() noexcept
        cbool is_constant(const Counts&, cbool sklearn_rules) except +


cdef extern from "engine/order/count_tables.hpp" namespace "fasttree" nogil:
    cdef cppclass TableCells:
        pass

    cdef cppclass Deferred:
        Node node
        vector[uint32_t] known
        TableCells table

    vector[int] largest_first(const vector[Deferred]& deferred) except +

    cdef cppclass CountTables:
        CountTables(const DenseSample& sample, const Scanner& scanner, cbool forced) except +
        cbool counts(uint32_t feature, uint32_t n) noexcept
        cbool any(uint32_t n) noexcept
        int acquire() except +
        void release(int table) noexcept
        TableCells give(int table) noexcept
        int take(TableCells& cells) except +
        void fill(int table, uint32_t start, uint32_t end, const FeatureSampler& sampler,
                  uint32_t n_chosen, uint32_t share, uint32_t n_shares, Poll& poll) except +
        void fill_one(int table, uint32_t feature, uint32_t start, uint32_t end) except +
        cbool subtraction_pays(uint32_t n_larger, uint32_t n_smaller, cbool both) noexcept
        void subtract(int table, int sibling, uint32_t n, const FeatureSampler& sampler,
                      uint32_t share, uint32_t n_shares) except +
        Counts view(int table, uint32_t feature, uint32_t n) except +


cdef extern from "engine/core/cost_model.hpp" namespace "fasttree" nogil:
    cbool filtering_pays(size_t n_rows, size_t n_kept) noexcept
    cbool sparse_lists_pay(uint32_t n_features, uint32_t max_features) noexcept
    cbool lists_pay(uint32_t n_features, uint32_t max_features) noexcept
    uint32_t subtree_size(uint32_t n_rows, int n_threads) noexcept
    cbool handing_over_pays(uint32_t n_rows, uint32_t largest) noexcept
