"""The walk of rows through a fitted tree."""
from libc.stddef cimport ptrdiff_t, size_t
from libcpp cimport bool as cbool

from fasttree.engine.core cimport NodeRecord
from fasttree.engine.simd cimport Simd
from fasttree.utils._std cimport vector
from fasttree.utils._typedefs cimport (
    float32_t, float64_t, int32_t, int64_t, intp_t, uint32_t, uint8_t,
)


cdef extern from "engine/predict/walk.hpp" namespace "fasttree" nogil:
    float64_t partial_dependence(
        const NodeRecord*, const float64_t* values, intp_t stride, const intp_t* column,
        const float32_t* x, float64_t& out
    ) except +

    cdef cppclass WalkNode:
        float32_t threshold
        int32_t feature
        uint32_t child

    cdef cppclass LeafTable:
        const char* records
        size_t size

    cdef enum class NodeError(int):
        none
        half_leaf
        child_range
        shared_child
        unreachable
        feature_range
        leaf_feature
        threshold_nan
        too_many

    NodeError check_nodes(
        const NodeRecord*, intp_t, intp_t, intp_t& n_leaves, intp_t& max_depth
    ) except +
    vector[WalkNode] pack_nodes(const NodeRecord*, intp_t) except +

    cdef enum class WalkStatus(int):
        done
        refused_values
        bad_index

    cdef cppclass DenseRows:
        const float32_t* x
        intp_t n_cols
        intp_t row_stride
        intp_t col_stride
        int accepted

    cdef cppclass SparseRows[Index]:
        const float32_t* data
        const Index* indices
        const Index* indptr
        const uint32_t* is_asked
        const int32_t* slot
        intp_t n_features
        intp_t n_slots

    intp_t name_slots(
        const vector[WalkNode]&, intp_t n_features, vector[WalkNode]& named,
        vector[int32_t]& slot, vector[uint32_t]& is_asked
    ) except +

    WalkStatus walk_rows[Rows](
        const Rows&, const WalkNode*, const LeafTable&, intp_t start, intp_t end, int n_threads,
        char* out
    ) except +


cdef extern from "engine/predict/question_blocks.hpp" namespace "fasttree" nogil:
    const uint32_t LEVELS_PER_BLOCK "fasttree::QuestionBlock::kLevels"

    cdef cppclass QuestionBlock:
        pass

    cdef cppclass QuestionBlocks:
        vector[QuestionBlock] blocks

    vector[double] rows_of_nodes(
        const WalkNode*, size_t n_nodes, const NodeRecord* records
    ) except +
    QuestionBlocks make_question_blocks(const WalkNode*, const vector[double]& n_rows) except +


cdef extern from "engine/predict/row_walk.hpp" namespace "fasttree" nogil:
    cdef cppclass RowNodes:
        pass


cdef extern from "engine/predict/block_walk.hpp" namespace "fasttree" nogil:
    cdef cppclass NumberRows(DenseRows):
        uint32_t n_nodes
        intp_t n_rows
        Simd simd
        const QuestionBlocks* blocks
        const RowNodes* made
        bint fit_blocks() noexcept
        bint keys_pay() noexcept
        void make_nodes(const WalkNode* nodes, RowNodes& out) except +


cdef extern from "engine/predict/walk_categories.hpp" namespace "fasttree" nogil:
    cdef cppclass CategorySides:
        CategorySides(const int64_t* offsets, size_t n_tests, const uint32_t* codes,
                      const uint8_t* listed_left) except +
        void mark(const NodeRecord* nodes, intp_t n_nodes, const int64_t* ids,
                  vector[WalkNode]& packed) except +

    cdef cppclass CategoryRows(NumberRows):
        const CategorySides* sides


cdef extern from "engine/predict/shap.hpp" namespace "fasttree" nogil:
    cdef cppclass ShapTree:
        const int64_t* left
        const int64_t* right
        const int64_t* feature
        const float64_t* threshold
        const float64_t* weight
        const uint8_t* missing_left
        intp_t n_nodes
        const int64_t* split_nodes
        const int64_t* offsets
        const uint32_t* codes
        const uint8_t* listed_left
        intp_t n_splits

    cdef cppclass ShapRows:
        const float32_t* x
        ptrdiff_t row_stride
        ptrdiff_t col_stride

    cdef cppclass PathShap:
        PathShap(const ShapTree& tree, const float64_t* points, const float64_t* weights,
                 size_t n_points, const float64_t* values, size_t n_values) except +

    void explain_rows(
        const PathShap& shap, const ShapRows& rows, intp_t start, intp_t end, intp_t n_features,
        intp_t n_values, Simd simd, int n_threads, float64_t* out
    ) except +


cdef extern from "engine/predict/forest_walk.hpp" namespace "fasttree" nogil:
    cdef cppclass RecordTable:
        RecordTable(size_t width) except +
        size_t size() noexcept
        const double* data() noexcept
        void number_leaves(vector[WalkNode]& packed, const double* values) except +

    cdef cppclass PackedForest:
        const WalkNode* nodes
        const int64_t* roots
        const CategorySides** sides
        size_t n_trees
        const double* records
        size_t width
        cbool is_sound(int64_t first, int64_t last, intp_t n_features, size_t n_records) noexcept

    cdef cppclass RowsTaken:
        const uint32_t* bits
        size_t n_words
        int64_t* n_trees_of

    cdef cppclass ForestNodes:
        @staticmethod
        bint pays(const PackedForest&, Simd simd, intp_t n_rows, intp_t n_cols) noexcept

    WalkStatus add_forest(
        const PackedForest&, const DenseRows&, const RowsTaken&, intp_t start, intp_t end,
        Simd simd, int n_threads, ForestNodes* made, double* out
    ) except +


cdef extern from "engine/predict/leaf_quantiles.hpp" namespace "fasttree" nogil:
    cdef cppclass ListedRows:
        size_t n_trees
        const int64_t* first_node
        const int64_t* starts
        const uint32_t* rows
        const uint32_t* counts
        const double* row_weights
        cbool is_counted
        const uint32_t* ranks
        const double* targets
        size_t n_training_rows
        size_t n_outputs

    void leaf_quantiles(
        const ListedRows&, const int64_t* leaves, const uint32_t* takes, size_t n_words,
        size_t first_bit, intp_t n_rows, const double* quantiles, size_t n_quantiles,
        cbool weighs_leaves, int n_threads, double* out
    ) except +
