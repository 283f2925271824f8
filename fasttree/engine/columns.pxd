"""X as the engine stores it: dense, sparse, texts of tables."""
from libc.stddef cimport ptrdiff_t, size_t
from libcpp cimport bool as cbool

from fasttree.engine.core cimport AlignedBuffer
from fasttree.engine.simd cimport Simd
from fasttree.utils._crew cimport Crew
from fasttree.utils._std cimport vector
from fasttree.utils._typedefs cimport int32_t, int64_t, uint32_t, uint64_t, uint8_t


cdef extern from "engine/columns/column.hpp" namespace "fasttree" nogil:
    cdef enum Storage:
        RAW
        COUNTED
        WIDE
        BUCKETED
        BITS

    cdef cppclass Column:
        Storage storage
        cbool has_missing
        uint32_t n_categories
        vector[float] values
        AlignedBuffer[uint32_t] list
        cbool has_categories() noexcept
        size_t n_coded() except +


cdef extern from "engine/columns/encoded_rows.hpp" namespace "fasttree" nogil:
    cdef cppclass Rows:
        Rows() noexcept
        size_t size() noexcept
        uint32_t& operator[](size_t i) noexcept
        void resize(size_t n) except +

    cdef cppclass EncodedRows:
        void swap(Rows& rows) noexcept
        size_t size() noexcept


cdef extern from "engine/columns/dense.hpp" namespace "fasttree" nogil:
    cdef cppclass DenseColumns:
        uint32_t n_rows
        EncodedRows rows
        vector[Column] columns
        AlignedBuffer[uint8_t] codes
        AlignedBuffer[uint32_t] wide_codes
        DenseColumns(const float* X, ptrdiff_t row_stride, ptrdiff_t column_stride,
                     uint32_t n_rows, uint32_t n_features) except +
        float value(uint32_t row, uint32_t feature) noexcept
        void take_bits(const uint64_t* words, const vector[uint32_t]& features) except +
        cbool has_bits() noexcept
        cbool are_finite() noexcept
        uint32_t n_counted
        uint32_t n_wide
        void group_codes_of_numbers(Simd simd) except +
        void keep_drawn_bits() noexcept
        cbool has_categories() except +
        void begin_copying(uint32_t n_looked) except +


cdef extern from "engine/columns/encoder.hpp" namespace "fasttree" nogil:
    cdef cppclass DenseEncoder:
        DenseEncoder(DenseColumns& columns, Crew& crew, Simd simd) except +
        cbool find_bits(uint32_t least) except +
        cbool count(cbool lists_follow) except +
        cbool keep_codes(cbool of_numbers) except +
        cbool find_buckets() except +
        cbool add_lists(Storage storage) except +
        cbool compare(cbool& is_consistent) except +
        cbool interleave(cbool with_lists, cbool by_column) except +


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
    cbool borrow_codes(const BorrowedCodes& codes, DenseColumns& out) except +


cdef extern from "engine/columns/sparse.hpp" namespace "fasttree" nogil:
    cdef cppclass SparseData:
        SparseData(const float* values, const int32_t* indices, const int64_t* indptr,
                   uint32_t n_rows, uint32_t n_features) except +
        cbool is_valid(size_t n_nonzero) noexcept
        Rows rows
        void take_rows(Rows sample, Crew& crew) except +
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
