"""C++ pieces of the engine: targets, runs, nodes, samplers, columns, scanner, cost model."""
from libc.stddef cimport ptrdiff_t, size_t
from libcpp cimport bool as cbool
from libcpp.memory cimport unique_ptr
from libcpp.vector cimport vector

from fasttree.utils._interrupt cimport Poll
from fasttree.utils._simd cimport Simd
from fasttree.utils._typedefs cimport int8_t, int64_t, uint8_t, uint32_t, uint64_t


cdef extern from "_targets.hpp" namespace "fasttree" nogil:
    cdef cppclass NodeStats:
        double weight
        double impurity
        cbool pure

    cdef cppclass Targets:
        Targets()
        uint32_t n_rows
        int n_outputs
        int max_n_classes
        const int64_t* n_classes
        const void* classes
        const uint32_t* class_bits
        const int64_t* weights
        double weight_unit
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


cdef extern from "_runs.hpp" namespace "fasttree" nogil:
    const uint32_t BOUNDARY
    const uint32_t ROW

    cdef cppclass Runs:
        const uint32_t* entries
        uint32_t n
        uint32_t n_missing
        float value(uint32_t p)
        cbool is_constant(cbool sklearn_rules)

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


cdef extern from "_nonzeros.hpp" namespace "fasttree" nogil:
    cdef cppclass Nonzeros:
        const uint32_t* entries
        uint32_t n
        uint32_t n_negative
        uint32_t n_missing
        uint32_t n_listed()
        uint32_t n_values()
        float value(uint32_t p)
        uint32_t n_at_most(double threshold)
        cbool is_constant(cbool sklearn_rules)

    cdef cppclass Reach:
        pass


cdef extern from "../utils/_random.hpp" namespace "fasttree" nogil:
    uint64_t mix(uint64_t key, uint64_t value)


cdef extern from "../utils/_room.hpp" namespace "fasttree" nogil:
    cdef cppclass Room[T]:
        T* reserve(size_t n) except +
        T* get()


cdef extern from "../utils/_sorting.hpp" namespace "fasttree" nogil:
    cdef cppclass SortBuffers:
        pass


cdef extern from "_split.hpp" namespace "fasttree" nogil:
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
        uint32_t size()

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
        cbool goes_left(float cell)

    double midpoint(float below, float above)
    double score_to_beat(const Split& best, uint32_t feature, cbool sklearn_rules)
    void take_counted(const Counts& counts, const Candidate& candidate,
                      const Categories& categories, uint32_t feature, Split& best) except +
    void take_candidate(const Runs& runs, const Candidate& candidate,
                        const Categories& categories, uint32_t feature, Split& best) except +
    void take_nonzeros "take_candidate"(const Nonzeros& nonzeros, const Candidate& candidate,
                                        uint32_t feature, Split& best)


cdef extern from "_random_labels.hpp" namespace "fasttree" nogil:
    cdef cppclass LabelDraw:
        LabelDraw(const vector[float]& cells, uint64_t key) except +
        cbool is_constant()
        cbool is_about_labels()
        cbool numbers_vary()
        void ask(cbool label_sets, Split& split) except +


cdef extern from "_growth.hpp" namespace "fasttree" nogil:
    cdef cppclass GrowthRules:
        int64_t max_depth
        int64_t min_samples_split
        int64_t min_samples_leaf
        double min_weight_leaf
        double min_impurity_decrease
        double root_weight
        const int8_t* monotonic_cst
        cbool sklearn_rules
        cbool label_sets
        cbool is_terminal(const Node& node)
        double improvement(const Node& node, const Node& left, const Node& right)
        cbool accepts(double improvement)
        void make_children(const Node& node, const Split& split, uint32_t middle, Node& left,
                           Node& right)
        Limits limits_of(const Node& node, uint32_t feature)
        void clip(const Node& node, vector[double]& value)


cdef extern from "_sampler.hpp" namespace "fasttree" nogil:
    cdef cppclass FeatureSampler:
        unique_ptr[FeatureSampler] clone()
        cbool is_ascending()
        void begin(uint64_t key, uint32_t n_known)
        uint32_t next()
        void found_constant()
        uint32_t end()
        cbool is_known_constant(uint32_t feature)
        vector[uint32_t] known(uint32_t n_known) except +
        void assume_known(const vector[uint32_t]& constants) except +
        double threshold(uint64_t key, uint32_t feature, double low, double high)
        cbool missing_left(uint64_t key, uint32_t feature)

    cdef cppclass KeyedSampler(FeatureSampler):
        KeyedSampler(uint32_t n_features, uint32_t max_features) except +

    cdef cppclass SklearnSampler(FeatureSampler):
        SklearnSampler(uint32_t n_features, uint32_t max_features, uint32_t seed) except +


cdef extern from "_block.hpp" namespace "fasttree" nogil:
    const uint32_t BLOCK_ROWS

    cdef cppclass BlockSource:
        pass

    cdef cppclass Block:
        Block(BlockSource& source, Simd simd, uint32_t n_rows, uint32_t n_features) except +
        void open(uint32_t start, uint32_t end, const uint32_t* rows)


cdef extern from "_dense.hpp" namespace "fasttree" nogil:
    const uint32_t MAX_COUNTED
    const uint32_t TILE

    cdef enum Storage:
        RAW
        SORTED
        COUNTED
        WIDE

    cdef cppclass Column:
        Storage storage
        cbool has_missing
        uint32_t n_categories
        vector[float] values
        cbool with_labels()

    cdef cppclass DenseData:
        uint32_t n_rows
        vector[uint32_t] rows
        vector[Column] columns
        DenseData(const float* X, ptrdiff_t row_stride, ptrdiff_t column_stride, uint32_t n_rows,
                  uint32_t n_features) except +
        float value(uint32_t row, uint32_t feature)
        void begin_encoding(uint32_t n_threads)
        uint32_t n_parts()
        uint32_t begin_counting(uint32_t first, uint32_t last) except +
        uint32_t n_counted
        uint32_t n_wide
        uint32_t n_steps(size_t n_columns)
        void count(uint32_t share, uint32_t step, uint32_t n_steps) except +
        void settle_codes(uint32_t feature) except +
        void count_few(uint32_t first, uint32_t last) except +
        vector[uint32_t] raw_features() except +
        void gather_keys(const vector[uint32_t]& features, uint32_t first, uint32_t last,
                         uint32_t part, uint32_t* all_keys)
        void sort(uint32_t feature, const uint32_t* keys, cbool widened,
                  SortBuffers& buffers) except +
        void begin_interleaving() except +
        void interleave(uint32_t part, uint32_t step, uint32_t n_steps)
        void end_interleaving()

    cdef cppclass DenseWorkspace(BlockSource):
        vector[uint32_t] go_left
        Room[uint32_t] scratch
        DenseWorkspace(DenseData& data, Simd simd) except +
        Runs runs(uint32_t feature, uint32_t start, uint32_t end) except +
        uint32_t split_rows(const Split& split, uint32_t start, uint32_t end) except +
        void split_list(uint32_t feature, uint32_t start, uint32_t end, cbool with_left,
                        cbool with_right, const uint32_t* sides)
        void mark_halves(uint32_t start, uint32_t middle, uint32_t end)


cdef extern from "_nodes.hpp" namespace "fasttree" nogil:
    cdef cppclass NodeRecord:      # scikit-learn's node, see NODE_DTYPE
        pass

    cdef cppclass NodeStore:
        NodeStore()
        NodeStore(size_t value_size)
        uint32_t append(const Node& node, const vector[double]& value) except +
        void set_split(uint32_t record, const Split& split, uint32_t left)
        void begin_subtree(const NodeStore& main, uint32_t record) except +
        void set_missing_side(uint32_t record, cbool left)
        void set_subtree(uint32_t record, int subtree)

    cdef cppclass Open:            # a node of the frontier of best-first growth
        Node node
        Split split
        Node left
        Node right
        vector[double] left_value
        vector[double] right_value
        double improvement
        cbool is_leaf

    cdef cppclass Frontier:
        Frontier(const NodeStore& store, cbool sklearn_rules)
        void push(Open& node) except +
        Open pop()
        cbool empty()

    size_t count_nodes(const NodeStore& main, const vector[NodeStore]& subtrees)

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
        int max_depth()
        LabelLists label_lists() except +


cdef extern from "_scanner.hpp" namespace "fasttree" nogil:
    cdef cppclass Scanner:
        void watch(Poll* poll)
        uint64_t work(uint32_t n)
        void begin_node(const uint32_t* rows, uint32_t n) except +
        void node_stats(const uint32_t* rows, uint32_t n, NodeStats& out)
        void node_value(double* value)
        Reach reach(double score) except +
        cbool may_beat(const uint32_t* rows, uint32_t n, double score, uint32_t& peak) except +
        double perfect_score(const uint32_t* rows, uint32_t n)
        void grow_block(Block& block, const GrowthRules& rules, FeatureSampler& sampler,
                        NodeStore& store, const Node& root) except +
        cbool scan(const Runs&, const Limits&, Candidate& best) except +
        cbool scan_counts "scan"(const Counts&, const Limits&, Candidate& best) except +
        cbool scan_nonzeros "scan"(const Nonzeros&, const Limits&, Candidate& best) except +
        const Categories& categories()
        size_t cell_bytes()
        void fill(const uint32_t* rows, uint32_t n, const uint8_t* codes, size_t stride,
                  const uint32_t* slots, const size_t* offsets, uint32_t n_tables, char* cells)
        void fill_wide "fill"(const uint32_t* rows, uint32_t n, const uint32_t* codes,
                              size_t stride, const uint32_t* slots, const size_t* offsets,
                              uint32_t n_tables, char* cells)
        uint32_t cell_rows(const char* cell)
        cbool is_constant(const Counts&, cbool sklearn_rules)
        void subtract(char* table, const char* other, size_t n_bytes)


cdef extern from "_tables.hpp" namespace "fasttree" nogil:
    cdef cppclass TableCells:
        pass

    cdef cppclass Deferred:
        Node node
        vector[uint32_t] known
        TableCells table

    cdef cppclass CountTables:
        CountTables(const DenseData& data, const Scanner& scanner, cbool forced) except +
        cbool counts(uint32_t feature, uint32_t n)
        cbool any(uint32_t n)
        int acquire() except +
        void release(int table)
        TableCells give(int table)
        int take(TableCells& cells) except +
        void fill(int table, uint32_t start, uint32_t end, const FeatureSampler& sampler,
                  uint32_t n_chosen, uint32_t share, uint32_t n_shares, Poll& poll) except +
        void fill_one(int table, uint32_t feature, uint32_t start, uint32_t end)
        cbool subtraction_pays(uint32_t n_larger, uint32_t n_smaller, cbool both)
        void subtract(int table, int sibling, uint32_t n, const FeatureSampler& sampler,
                      uint32_t share, uint32_t n_shares)
        Counts view(int table, uint32_t feature, uint32_t n)


cdef extern from "_cost_model.hpp" namespace "fasttree" nogil:
    cbool sparse_lists_pay(uint32_t n_features, uint32_t max_features)
    cbool lists_pay(uint32_t n_features, uint32_t max_features)
    uint32_t subtree_size(uint32_t n_rows, int n_threads)
    cbool handing_over_pays(uint32_t n_rows, uint32_t largest)
