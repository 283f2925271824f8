"""Codes of few values, of texts and of buckets of keys, for tests alone."""
from libc.stddef cimport ptrdiff_t, size_t
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t
from libcpp cimport bool as cbool
from libcpp.vector cimport vector

import numpy as np

from kernels._shared cimport Simd


cdef extern from "kernels.hpp" namespace "fasttree" nogil:
    uint32_t c_BUCKET_SAMPLE "fasttree::BUCKET_SAMPLE"
    uint32_t c_bucket_sample_row "fasttree::bucket_sample_row"(uint32_t i, uint32_t n)
    cdef cppclass Buckets:
        Buckets(const uint32_t* keys, uint32_t n)
        uint32_t n()
        const uint32_t* last_keys()
        void find(Simd simd, const uint32_t* keys, uint32_t n, uint8_t* out)
    cdef cppclass CppFewValues "fasttree::FewValues":
        vector[uint32_t] keys
        cbool too_many
        void learn(const vector[uint32_t]& met, cbool has_categories, uint32_t most,
                   uint8_t* codes) except +
    cdef cppclass Text "fasttree::DistinctTexts::Text":
        const char* chars
        size_t size
    cdef cppclass CppDistinctTexts "fasttree::DistinctTexts":
        vector[Text] texts
        void encode[Offset](const Offset* offsets, const char* chars, const uint8_t* valid,
                            size_t first, size_t n, int32_t* codes)


cdef extern from * nogil:
    cppclass Block "std::array<size_t, 3>":
        size_t& operator[](size_t)
    cppclass WalkShare "std::array<uint32_t, 3>":
        uint32_t& operator[](size_t)


cdef extern from "columns.hpp" namespace "fasttree::tests" nogil:
    void c_encode "fasttree::tests::encode"(
        CppFewValues& table, const float* column, ptrdiff_t stride, const uint32_t* rows, size_t n,
        cbool has_categories, uint32_t most, uint8_t* codes) except +
    void c_encode "fasttree::tests::encode"(
        CppFewValues& table, Simd simd, cbool gathers, const float* cells, size_t n,
        cbool has_categories, uint32_t most, uint8_t* codes) except +
    vector[cbool] c_side_by_side "fasttree::tests::side_by_side"(
        Simd simd, const float* X, ptrdiff_t row_stride, ptrdiff_t column_stride, size_t n_rows,
        vector[uint32_t] rows, const vector[uint32_t]& features, size_t begin, size_t end,
        float* cells) except +
    vector[uint32_t] c_named_rows "fasttree::tests::named_rows"(
        const vector[uint32_t]& some, uint32_t n, int n_threads) except +
    vector[uint32_t] c_rows_split_beside_list "fasttree::tests::rows_split_beside_list"(
        Simd simd, const float* X, uint32_t n, double threshold, cbool keeps_sides, int n_threads,
        vector[uint32_t] rows, uint32_t& n_left, vector[cbool]& sides) except +
    uint32_t c_n_interleaving_steps "fasttree::tests::n_interleaving_steps"(
        uint32_t n_rows, uint32_t n_features, int storage) except +
    void c_interleave "fasttree::tests::interleave"(
        Simd simd, const uint8_t* codes, size_t n_places, const uint8_t* mapped,
        uint32_t n_columns, size_t start, size_t stop, const uint32_t* rows, uint8_t* out,
        size_t stride) except +
    vector[Block] c_read_blocks "fasttree::tests::read_blocks"(
        const float* X, ptrdiff_t row_stride, ptrdiff_t column_stride, size_t n_rows,
        vector[uint32_t] rows, const vector[uint32_t]& features, vector[uint32_t] most,
        size_t begin, size_t end) except +
    vector[WalkShare] c_order_of_shares "fasttree::tests::order_of_shares"(
        uint32_t n_shares, const vector[uint32_t]& lists, uint32_t n_cut, uint32_t n_threads,
        const vector[uint32_t]& milliseconds) except +
    uint32_t c_n_left_over "fasttree::n_left_over"(size_t n_lists, uint32_t n_threads)
    cdef cppclass Stretch "fasttree::Stretch":
        uint32_t begin, end
    Stretch c_common_run "fasttree::tests::common_run"(
        const float* cells, uint32_t n, uint32_t n_missing, cbool& is_constant) except +
    vector[uint32_t] c_divided_list "fasttree::tests::divided_list"(
        Simd simd, const float* column, uint32_t n, uint32_t n_categories, const uint32_t* sides,
        uint32_t n_segments) except +
    cdef cppclass CodedSplit:
        const uint8_t* codes
        size_t n_rows, stride
        uint32_t slot
        vector[float] values
        uint32_t n_categories
        cbool is_threshold
        double threshold
        cbool missing_left
        vector[uint32_t] listed
        cbool listed_left
    void c_mark_by_codes "fasttree::tests::mark_by_codes"(
        Simd simd, const CodedSplit& coded, const uint8_t* mapped, uint32_t begin, uint32_t end,
        uint32_t* bits) except +
    vector[uint32_t] c_separated_by_codes "fasttree::tests::separated_by_codes"(
        Simd simd, cbool gathers, const CodedSplit& coded, vector[uint32_t] rows,
        uint32_t& n_left) except +
    int c_RAW "fasttree::RAW", c_COUNTED "fasttree::COUNTED"
    int c_WIDE "fasttree::WIDE", c_BUCKETED "fasttree::BUCKETED"

cdef extern from "count_tables.hpp" namespace "fasttree::tests" nogil:
    vector[uint32_t] c_counted_on_threads "fasttree::tests::counted_on_threads"(
        const float* column, uint32_t n, uint32_t middle, uint32_t n_threads,
        const vector[int]& threads) except +
    uint32_t c_n_shares_beside_list "fasttree::tests::n_shares_beside_list"(
        const float* X, uint32_t n, uint32_t middle, uint32_t n_threads) except +
    int c_tables_after_handing_down "fasttree::tests::tables_after_handing_down"(
        const float* column, uint32_t n, uint32_t middle, uint32_t n_threads, int n_nodes) except +
    int c_tables_after_taking "fasttree::tests::tables_after_taking"(
        const float* column, uint32_t n, int n_taken) except +


RAW, COUNTED, WIDE, BUCKETED = c_RAW, c_COUNTED, c_WIDE, c_BUCKETED
BUCKET_SAMPLE = c_BUCKET_SAMPLE


def n_interleaving_steps(uint32_t n_rows, uint32_t n_features, int storage):
    return c_n_interleaving_steps(n_rows, n_features, storage)


def find_buckets(Simd simd, const uint32_t[::1] sample, const uint32_t[::1] keys):
    """(largest key of each bucket of a sorted sample, buckets of keys)."""
    cdef Buckets* buckets = new Buckets(&sample[0], len(sample))
    cdef uint32_t n = len(keys), n_buckets = buckets.n(), i
    cdef uint8_t[::1] out = np.append(np.zeros(n, np.uint8), np.uint8(9))
    try:
        buckets.find(simd, &keys[0], n, &out[0])
        last_keys = np.array([buckets.last_keys()[i] for i in range(n_buckets)], np.uint32)
    finally:
        del buckets
    assert out[n] == 9
    return last_keys, np.asarray(out[:n])


def bucket_sample_rows(uint32_t n):
    cdef uint32_t i
    return np.array([c_bucket_sample_row(i, n) for i in range(min(n, c_BUCKET_SAMPLE))])


cdef class FewValues:
    cdef CppFewValues table

    def encode(self, const float[:] column, const uint32_t[::1] rows, cbool has_categories,
               uint32_t most):
        cdef uint8_t[::1] codes = np.full(len(rows), 255, np.uint8)
        c_encode(self.table, &column[0], column.strides[0] // <ptrdiff_t>sizeof(float), &rows[0],
                 len(rows), has_categories, most, &codes[0])
        return np.asarray(codes)

    def encode_side_by_side(self, Simd simd, cbool gathers, const float[::1] cells,
                            cbool has_categories, uint32_t most):
        cdef uint8_t[::1] codes = np.full(len(cells) + 1, 255, np.uint8)
        c_encode(self.table, simd, gathers, &cells[0], len(cells), has_categories, most, &codes[0])
        assert codes[len(cells)] == 255
        return np.asarray(codes[:len(cells)])

    def learn(self, vector[uint32_t] met, cbool has_categories, uint32_t most):
        cdef uint8_t[::1] codes = np.full(met.size() + 1, 255, np.uint8)
        self.table.learn(met, has_categories, most, &codes[0])
        return np.asarray(codes[:met.size()])

    @property
    def keys(self):
        return np.array(self.table.keys, np.uint32)

    @property
    def too_many(self):
        return self.table.too_many


ctypedef fused Offset:
    int32_t
    int64_t


cdef class DistinctTexts:
    cdef CppDistinctTexts table
    cdef list columns  # that the texts point into

    def __cinit__(self):
        self.columns = []

    def encode(self, const Offset[::1] offsets, const uint8_t[::1] chars,
               const uint8_t[::1] valid, size_t first, size_t n):
        cdef int32_t[::1] codes = np.full(n + 1, -7, np.int32)
        cdef const uint8_t* bitmap = NULL
        if valid is not None:
            bitmap = &valid[0]
        self.columns.append(chars)
        self.table.encode(&offsets[0], <const char*>&chars[0], bitmap, first, n, &codes[0])
        return np.asarray(codes)[:-1]

    @property
    def texts(self):
        return [text.chars[:text.size] for text in self.table.texts]


def interleave(Simd simd, const uint8_t[:, ::1] codes, const uint8_t[:, ::1] mapped, size_t start,
               size_t stop, const uint32_t[::1] rows, uint8_t[:, ::1] out):
    """Writes the codes of places start to stop, as rows of `out`, which may have more columns."""
    c_interleave(simd, &codes[0, 0], codes.shape[1], &mapped[0, 0], codes.shape[0], start, stop,
                 &rows[0], &out[0, 0], out.shape[1])


def order_of_shares(uint32_t n_shares, vector[uint32_t] lists, uint32_t n_cut=0,
                    uint32_t n_threads=1, vector[uint32_t] milliseconds=()):
    """(share, segment, number of segments), after a node in which lists took so long."""
    shares = c_order_of_shares(n_shares, lists, n_cut, n_threads, milliseconds)
    return [(share[0], share[1], share[2]) for share in shares]


def n_left_over(size_t n_lists, uint32_t n_threads):
    return c_n_left_over(n_lists, n_threads)


def common_run(const float[::1] cells, uint32_t n_missing):
    """((begin, end) of the run of more than half of the numbers, whether all cells are alike)."""
    cdef cbool is_constant = False
    run = c_common_run(&cells[0], len(cells), n_missing, is_constant)
    return (run.begin, run.end), is_constant


def divided_list(Simd simd, const float[::1] column, uint32_t n_categories,
                 const uint32_t[::1] sides, uint32_t n_segments):
    """A column's list, of which segments are divided by the sides of the rows, and joined."""
    entries = c_divided_list(simd, &column[0], len(column), n_categories, &sides[0], n_segments)
    return np.array(entries, np.uint32)


def counted_on_threads(const float[::1] column, uint32_t middle, uint32_t n_threads,
                       vector[int] threads):
    """How often each value is in a column, before row `middle` and from there on."""
    counts = c_counted_on_threads(&column[0], len(column), middle, n_threads, threads)
    return np.array(counts, np.uint32).reshape(3, -1)


def n_shares_beside_list(const float[:, ::1] X, uint32_t middle, uint32_t n_threads):
    """Shares in which threads count rows before `middle` by X[:, 0], beside a list of X[:, 1]."""
    return c_n_shares_beside_list(&X[0, 0], len(X), middle, n_threads)


def tables_after_handing_down(const float[::1] column, uint32_t middle, uint32_t n_threads,
                              int n_nodes):
    """Tables that there are after nodes of which the larger child alone reads one."""
    return c_tables_after_handing_down(&column[0], len(column), middle, n_threads, n_nodes)


def tables_after_taking(const float[::1] column, int n_taken):
    """Tables of a thread that takes and releases so many, which another one gives."""
    return c_tables_after_taking(&column[0], len(column), n_taken)


def separated_by_codes(Simd simd, cbool gathers, const uint8_t[:, ::1] codes, uint32_t slot,
                       vector[float] values, uint32_t n_categories, split, vector[uint32_t] rows):
    """(rows, those that go left first; their number), by their codes of a column."""
    cdef uint32_t n_left = 0
    separated = c_separated_by_codes(simd, gathers, coded_split(codes, slot, values, n_categories,
                                                                split), rows, n_left)
    return np.array(separated, np.uint32), n_left


def mark_by_codes(Simd simd, const uint8_t[:, ::1] codes, const uint8_t[::1] mapped,
                  vector[float] values, uint32_t n_categories, split, uint32_t begin, uint32_t end,
                  uint32_t[::1] bits):
    """Put the sides of rows [begin, end) into `bits`, by mapped[their codes] of one column."""
    c_mark_by_codes(simd, coded_split(codes, 0, values, n_categories, split), &mapped[0], begin,
                    end, &bits[0])


cdef CodedSplit coded_split(const uint8_t[:, ::1] codes, uint32_t slot, vector[float] values,
                            uint32_t n_categories, split):
    cdef CodedSplit coded
    coded.codes = &codes[0, 0]
    coded.n_rows, coded.stride, coded.slot = codes.shape[0], codes.shape[1], slot
    coded.values, coded.n_categories = values, n_categories
    coded.is_threshold = "threshold" in split
    coded.threshold = split.get("threshold", np.nan)
    coded.listed, coded.listed_left = split.get("listed", ()), split.get("listed_left", True)
    coded.missing_left = split["missing_left"]
    return coded


def side_by_side(Simd simd, const float[:, :] X, vector[uint32_t] rows, vector[uint32_t] features,
                 size_t begin, size_t end):
    """(cells of some rows of X, or of all, by feature; whether they were found side by side)."""
    cdef float[::1] out = np.zeros(features.size() * (end - begin) + 1, np.float32)
    are_found = c_side_by_side(simd, &X[0, 0], X.strides[0] // <ptrdiff_t> sizeof(float),
                               X.strides[1] // <ptrdiff_t> sizeof(float), X.shape[0], rows,
                               features, begin, end, &out[0])
    return np.asarray(out[:-1]).reshape(-1, end - begin), np.array(are_found, bool)


def named_rows(vector[uint32_t] some, uint32_t n, int n_threads):
    """The rows of a sample, none of which stand for all n."""
    return np.array(c_named_rows(some, n, n_threads), np.uint32)


def rows_split_beside_list(Simd simd, const float[:, ::1] X, double threshold, cbool keeps_sides,
                           int n_threads, vector[uint32_t] rows):
    """(rows, those with X[:, 0] up to a threshold first; their number; bits of all rows)."""
    cdef uint32_t n_left = 0
    cdef vector[cbool] sides
    split = c_rows_split_beside_list(simd, &X[0, 0], X.shape[0], threshold, keeps_sides, n_threads,
                                     rows, n_left, sides)
    return np.array(split, np.uint32), n_left, np.array(sides, bool)


def read_blocks(const float[:, :] X, vector[uint32_t] rows, vector[uint32_t] features,
                vector[uint32_t] most, size_t begin, size_t end):
    """(feature, start, stop) of what is read of some rows of X, none for all, in this order."""
    cdef Block block
    blocks = c_read_blocks(&X[0, 0], X.strides[0] // <ptrdiff_t> sizeof(float),
                           X.strides[1] // <ptrdiff_t> sizeof(float), X.shape[0], rows, features,
                           most, begin, end)
    return [(block[0], block[1], block[2]) for block in blocks]
