"""X as the engine stores it: dense, sparse, texts of tables."""
from libc.stddef cimport ptrdiff_t, size_t
from libcpp cimport bool as cbool

from fasttree.engine.core cimport AlignedBuffer
from fasttree.engine.simd cimport Simd, SortBuffers
from fasttree.utils._std cimport vector
from fasttree.utils._typedefs cimport int32_t, int64_t, uint32_t, uint64_t, uint8_t


cdef extern from "engine/columns/column.hpp" namespace "fasttree" nogil:
    cdef enum Storage:
        RAW
        COUNTED
        WIDE
        BUCKETED
        BITS

    const uint32_t MAX_COUNTED

    cdef cppclass Column:
        Storage storage
        cbool has_missing
        uint32_t n_categories
        vector[float] values
        AlignedBuffer[uint32_t] list
        cbool has_categories() noexcept
        size_t n_coded() except +


cdef extern from "engine/columns/encoded_rows.hpp" namespace "fasttree" nogil:
    cdef cppclass EncodedRows:
        void swap(vector[uint32_t]& rows) noexcept
        size_t size() noexcept


cdef extern from "engine/columns/dense.hpp" namespace "fasttree" nogil:
    const uint32_t TILE

    cdef cppclass DenseColumns:
        uint32_t n_rows
        EncodedRows rows
        vector[Column] columns
        AlignedBuffer[uint8_t] codes
        AlignedBuffer[uint32_t] wide_codes
        DenseColumns(const float* X, ptrdiff_t row_stride, ptrdiff_t column_stride,
                     uint32_t n_rows, uint32_t n_features) except +
        float value(uint32_t row, uint32_t feature) noexcept
        void begin_encoding(uint32_t n_threads) noexcept
        uint32_t n_parts() noexcept
        cbool begin_bits(uint32_t least) except +
        uint32_t n_bit_steps() noexcept
        void read_bits(Simd simd, uint32_t part, uint32_t step, uint32_t n_steps) noexcept
        void settle_bits() except +
        void take_bits(const uint64_t* words, const vector[uint32_t]& features) except +
        cbool has_bits() noexcept
        cbool are_finite() noexcept
        uint32_t begin_counting(uint32_t first, uint32_t last) except +
        uint32_t n_counted
        uint32_t n_wide
        uint32_t n_steps(size_t n_columns) noexcept
        void count(uint32_t share, uint32_t step, uint32_t n_steps) except +
        void settle_codes(uint32_t feature) except +
        void count_few(uint32_t first, uint32_t last) except +
        vector[uint32_t] unlisted() except +
        void begin_lists(const vector[uint32_t]& features, uint32_t first, uint32_t last,
                         vector[SortBuffers]& buffers) except +
        void gather_keys(const vector[uint32_t]& features, uint32_t first, uint32_t last,
                         uint32_t part) except +
        void sort(uint32_t feature, Storage storage, SortBuffers& buffers) except +
        void group_codes_of_numbers(Simd simd) except +
        void keep_drawn_bits() noexcept
        cbool has_categories() except +
        void begin_copying(uint32_t n_looked) except +
        void begin_interleaving() except +
        uint32_t n_interleaving_steps() noexcept
        void find_buckets(uint32_t feature, SortBuffers& buffers) except +
        void interleave(Simd simd, uint32_t part, uint32_t step, uint32_t n_steps) except +
        void end_interleaving() noexcept
        void keep_codes(uint32_t feature) except +
        void keep_codes_of_numbers(uint32_t feature) except +
        void end_counting() noexcept


cdef extern from "engine/columns/bit_matrix.hpp" namespace "fasttree" nogil:
    cdef cppclass BoolMatrix:
        const uint8_t* cells
        ptrdiff_t row_stride
        ptrdiff_t column_stride
        uint32_t n_columns
    void pack_bools(Simd simd, const BoolMatrix& X, size_t begin, size_t end,
                    uint64_t* words) noexcept
    size_t put_ones_of_rows[Index](const Index* columns, const Index* starts, uint32_t n_columns,
                                   size_t begin, size_t end, uint64_t* words) noexcept
    size_t put_ones_of_columns[Index](const Index* rows, const Index* starts,
                                      const uint32_t* columns, uint32_t n_columns, size_t begin,
                                      size_t end, uint64_t* words) noexcept


cdef extern from "engine/columns/borrowed.hpp" namespace "fasttree" nogil:
    cdef struct BorrowedCodes:
        const uint8_t* storage
        const uint32_t* n_values
        const float* values
        const uint8_t* codes
        const uint32_t* wide_codes
    const uint32_t COMPARED_TOGETHER
    cbool borrow_codes(const BorrowedCodes& codes, DenseColumns& out) except +
    cbool are_consistent(DenseColumns& data, uint32_t first, uint32_t last, uint32_t step,
                         uint32_t n_steps) noexcept


cdef extern from "engine/columns/sparse.hpp" namespace "fasttree" nogil:
    cdef cppclass SparseData:
        SparseData(const float* values, const int32_t* indices, const int64_t* indptr,
                   uint32_t n_rows, uint32_t n_features) except +
        cbool is_valid(size_t n_nonzero) noexcept
        vector[uint32_t] rows
        void take_rows(vector[uint32_t] sample) except +
        float value(uint32_t row, uint32_t feature) noexcept


cdef extern from "engine/columns/sorted_nonzeros.hpp" namespace "fasttree" nogil:
    cdef cppclass SortedNonzeros:
        SortedNonzeros(const float* values, const int32_t* indices, const int64_t* indptr,
                       uint32_t n_rows, uint32_t n_features) except +
        cbool has_sorted(uint32_t feature) noexcept


cdef extern from "engine/columns/row_features.hpp" namespace "fasttree" nogil:
    cdef cppclass RowFeatures:
        RowFeatures() except +
        void fill_once(const SparseData& data) except +


cdef extern from "engine/columns/distinct_texts.hpp" namespace "fasttree" nogil:
    cppclass DistinctTexts:
        struct Text:
            const char* chars
            size_t size
        DistinctTexts() except +
        vector[Text] texts
        void encode[Offset](const Offset* offsets, const char* chars, const uint8_t* valid,
                            size_t first, size_t n, int32_t* codes) except +
