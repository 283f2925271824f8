"""C++ pieces of the dense engine: nodes, samplers, columns, count tables, cost model."""
from libc.stddef cimport ptrdiff_t, size_t
from libcpp cimport bool as cbool
from libcpp.memory cimport unique_ptr
from libcpp.vector cimport vector

from fasttree.tree._criterion cimport (
    Candidate, Category, Counts, NodeStats, Question, Runs, Scanner
)
from fasttree.utils._simd cimport Simd
from fasttree.utils._typedefs cimport int64_t, uint8_t, uint32_t, uint64_t


cdef extern from "../utils/_random.hpp" namespace "fasttree" nogil:
    uint64_t mix(uint64_t key, uint64_t value)


cdef extern from "../utils/_sorting.hpp" namespace "fasttree" nogil:
    cdef cppclass SortBuffers:
        pass


cdef extern from "_split.hpp" namespace "fasttree" nogil:
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


cdef extern from "_random_labels.hpp" namespace "fasttree" nogil:
    cdef cppclass LabelDraw:
        LabelDraw(const vector[float]& cells, uint64_t key) except +
        cbool is_constant()
        cbool is_about_labels()
        cbool numbers_vary()
        void ask(cbool label_sets, Split& split) except +


cdef extern from "_label_choice.hpp" namespace "fasttree" nogil:
    void take_labels(const Candidate& candidate, const vector[Category]& categories, uint32_t n,
                     Split& split) except +


cdef extern from "_sampler.hpp" namespace "fasttree" nogil:
    const uint32_t NO_FEATURE

    cdef cppclass FeatureSampler:
        unique_ptr[FeatureSampler] clone()
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


cdef extern from "_dense.hpp" namespace "fasttree" nogil:
    cdef enum Storage:
        RAW
        SORTED
        COUNTED
        WIDE

    cdef cppclass Column:
        Storage storage
        cbool has_missing
        cbool with_labels()
        uint32_t n_categories
        vector[float] values

    cdef cppclass DenseData:
        uint32_t n_rows
        vector[uint32_t] rows
        vector[Column] columns
        DenseData(const float* X, ptrdiff_t row_stride, ptrdiff_t column_stride, uint32_t n_rows,
                  uint32_t n_features) except +
        float value(uint32_t row, uint32_t feature)
        void encode(uint32_t first, uint32_t last, cbool counted, cbool sorted, cbool widened,
                    vector[uint32_t]& keys, SortBuffers& buffers) except +
        void interleave() except +

    cdef cppclass DenseWorkspace:
        vector[uint32_t] go_left
        vector[uint32_t] scratch
        DenseWorkspace(DenseData& data, Simd simd) except +
        Runs runs(uint32_t feature, uint32_t start, uint32_t end)
        uint32_t split_rows(const Split& split, uint32_t start, uint32_t end)
        void split_list(uint32_t feature, uint32_t start, uint32_t end, cbool with_left,
                        cbool with_right, const uint32_t* sides)
        void mark_halves(uint32_t start, uint32_t middle, uint32_t end)


cdef extern from "_tables.hpp" namespace "fasttree" nogil:
    cdef cppclass CountTables:
        CountTables(const DenseData& data, const Scanner& scanner, cbool forced) except +
        cbool counts(uint32_t feature, uint32_t n)
        cbool any(uint32_t n)
        int acquire() except +
        void release(int table)
        void fill(int table, uint32_t start, uint32_t end, const FeatureSampler& sampler,
                  uint32_t n_chosen, uint32_t share, uint32_t n_shares) except +
        void fill_one(int table, uint32_t feature, uint32_t start, uint32_t end)
        cbool subtraction_pays(uint32_t n_larger, uint32_t n_smaller, cbool both)
        void subtract(int table, int sibling, uint32_t n, const FeatureSampler& sampler)
        Counts view(int table, uint32_t feature, uint32_t n)


cdef extern from "_cost_model.hpp" namespace "fasttree" nogil:
    cbool lists_pay(uint32_t n_features, uint32_t max_features)
    uint32_t subtree_size(uint32_t n_rows, int n_threads)
    const double SERIAL_VALUES


cdef extern from "_nodes.hpp" namespace "fasttree" nogil:
    cdef cppclass NodeRecord:      # scikit-learn's node, see NODE_DTYPE
        pass

    cdef cppclass NodeStore:
        NodeStore()
        size_t value_size
        uint32_t append(const Node& node, const vector[double]& value) except +
        void set_split(uint32_t record, const Split& split, uint32_t left, uint32_t right)
        void begin_subtree(const NodeStore& main, uint32_t record) except +
        void set_missing_side(uint32_t record, cbool left)
        void set_subtree(uint32_t record, int subtree)
        cbool precedes(uint32_t a, uint32_t b)

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

    int write_nodes(const NodeStore& main, const vector[NodeStore]& subtrees, cbool as_grown,
                    NodeRecord* nodes, double* values, LabelLists& label_lists) except +
