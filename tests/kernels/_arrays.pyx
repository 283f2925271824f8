"""The engine's C++ kernels as functions of arrays, for tests alone.

Bindings check nothing: the tests pass what the engine would. ``simd`` is one of SIMD.
"""
from libc.stddef cimport ptrdiff_t, size_t
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libcpp cimport bool as cbool
from libcpp.vector cimport vector

import numpy as np


cdef extern from "kernels.hpp" namespace "fasttree" nogil:
    cdef enum Simd:
        SIMD_PORTABLE
        SIMD_AVX2
        SIMD_AVX512
    cbool c_has_simd "fasttree::has_simd"(Simd)

    uint32_t float_key(float x)
    uint32_t cell_key(float x, cbool has_categories)
    float key_cell(uint32_t key)
    uint32_t outer_key(float x)
    float outer_value(uint32_t key)
    float category_cell(uint32_t code)
    uint32_t c_MISSING_KEY "fasttree::MISSING_KEY"
    uint32_t c_FIRST_CATEGORY_KEY "fasttree::FIRST_CATEGORY_KEY"
    cbool c_insertion_sort "fasttree::insertion_sort"(uint64_t* items, size_t n, size_t budget)
    uint64_t* c_sort_by_key "fasttree::sort_by_key"(
        Simd simd, uint64_t* items, uint64_t* scratch, size_t n)
    size_t c_RANK_SORT_PADDING "fasttree::RANK_SORT_PADDING"

    uint64_t c_low_bits "fasttree::low_bits"(uint32_t n)
    uint64_t c_mix "fasttree::mix"(uint64_t key, uint64_t value)
    uint32_t c_below "fasttree::below"(uint64_t random, uint32_t n)
    double c_unit_interval "fasttree::unit_interval"(uint64_t random)
    cdef cppclass XorShift:
        XorShift(uint32_t seed)
        uint32_t next()
        uint32_t integer(uint32_t low, uint32_t high)
        double uniform(double low, double high)
    double c_FAST_LOG_ERROR "fasttree::FastLog::ERROR"

    cdef cppclass Wide:
        double high, low
        void add(double x)
        void add(const Wide& x)
        void subtract(const Wide& x)
        Wide times(double x)
    cdef cppclass WeightGrid:
        double unit
    void class_bits(const uint8_t* classes, size_t n, uint32_t* out)
    cbool class_records(const uint8_t* classes, const int64_t* weights, size_t n, uint32_t* out)
    WeightGrid c_weight_grid "fasttree::weight_grid"(const double* w, size_t n, int n_outputs,
                                                     int64_t* out)
    cdef cppclass Grid:
        double centre, unit
    Grid c_target_grid "fasttree::target_grid"(
        const double* y, size_t n, const double* w, const int64_t* weights,
        double weight_unit, cbool centred, cbool allow_lattice, int64_t* out)
    void c_target_sums "fasttree::target_sums"(
        const double* y, size_t n, int n_outputs, const double* w, const int64_t* weights,
        double weight_unit, cbool centred, cbool allow_lattice, int64_t* sums, double* centres,
        double* units)
    double c_rough_sums "fasttree::rough_sums"(
        const int64_t* sums, size_t n, int n_outputs, const int64_t* weights,
        const double* units, int64_t* centres, float* rough, float* lengths)
    cbool c_sum_records "fasttree::sum_records"(
        const int64_t* sums, const int64_t* weights, size_t n, int64_t* out)
    size_t c_padded "fasttree::padded"(int n_outputs)

    uint32_t c_BOUNDARY "fasttree::BOUNDARY"
    uint32_t c_PADDING "fasttree::PADDING"
    uint32_t c_partition "fasttree::partition"(
        Simd simd, uint32_t* entries, uint32_t n, const uint32_t* go_left, uint32_t* scratch,
        cbool with_left, cbool with_right)
    uint32_t c_keep_left "fasttree::separate<true, false>"(
        Simd simd, const uint32_t* entries, uint32_t n, const uint32_t* go_left,
        uint32_t* left_out, uint32_t* right_out)
    cdef cppclass Extremes:
        float low, high
        uint32_t n_missing
    Extremes c_gather "fasttree::gather"(
        Simd simd, const float* column, ptrdiff_t stride, const uint32_t* rows, uint32_t n,
        float* out, cbool gathers)
    cdef cppclass CodeExtremes:
        uint8_t low, high
    size_t c_group_stride "fasttree::group_stride"(uint32_t n)
    void c_gather_group "fasttree::gather_group"(
        Simd simd, const uint8_t* codes, const uint32_t* rows, uint32_t n, uint8_t* out)
    cdef cppclass GroupPlaces:
        uint8_t[4] places
        uint32_t n
        CodeExtremes[4] extremes
    cbool c_gather_places "fasttree::gather_places"(
        Simd simd, const uint8_t* codes, const uint32_t* rows, uint32_t n, GroupPlaces& columns,
        uint8_t* out)
    uint32_t c_count_up_to "fasttree::count_up_to"(const float* values, uint32_t n, float top)
    void c_decode_bits "fasttree::decode_bits"(
        Simd simd, uint64_t ones, float zero, float one, uint32_t n, float* out)
    void c_decode_codes "fasttree::decode_codes"(
        Simd simd, const uint8_t* codes, const float* values, uint32_t n, float* out,
        cbool gathers)
    cdef cppclass BitRows:
        const uint64_t* words
        uint32_t n_words
    cdef cppclass GatheredBits:
        void open(const BitRows& from_, uint32_t n) except +
        void begin()
        const uint64_t* take(Simd simd, const BitRows& from_, const uint32_t* rows, uint32_t n,
                             uint32_t bit)
    void c_gather_in_turn "fasttree::tests::gather_in_turn"(
        Simd simd, const float* X, ptrdiff_t row_stride, ptrdiff_t column_stride, uint32_t n_rows,
        const vector[uint32_t]& features, const uint32_t* rows, uint32_t n, float* out,
        Extremes* extremes) except +
    uint32_t c_mark_zeros "fasttree::mark_zeros"(
        Simd simd, const uint64_t* bits, uint32_t n, uint64_t* left)
    Simd c_simd_of_reads "fasttree::simd_of_reads"(Simd simd, uint32_t n_rows, ptrdiff_t stride)
    CodeExtremes c_code_extremes "fasttree::code_extremes"(Simd, const uint8_t* codes, uint32_t n)
    CodeExtremes c_gather_codes "fasttree::gather_codes"(
        Simd simd, const uint8_t* codes, const uint32_t* rows, uint32_t n, uint8_t* out,
        cbool gathers)
    cdef cppclass LaneDraws:
        uint32_t varies, missing
        float low[16]
        float high[16]
        double thresholds[16]
        int32_t n_left[16]
    void c_look_in_lanes "fasttree::tests::look_in_lanes"(
        Simd simd, const float* X, ptrdiff_t row_stride, uint32_t n_features,
        const uint32_t* rows, uint32_t n, uint64_t key, LaneDraws* draws, uint64_t* sides)
    cdef cppclass RowLook "fasttree::tests::RowLook":
        float low, high, top
        uint64_t without_number, up_to, not_zero, spread
        int64_t squares_left, squares_right, sum
        uint64_t alike[64]
    uint32_t c_most_rows "fasttree::tests::most_rows"(Simd simd)
    void c_look_at_rows "fasttree::tests::look_at_rows"(
        Simd simd, const float* cells, const uint8_t* classes, const int64_t* items,
        uint64_t all, uint64_t rows, double threshold, RowLook& out)
    void c_pick_rows "fasttree::tests::pick_rows"[Item](
        Simd simd, const Item* items, uint64_t rows, Item* out)
    cdef cppclass LaneSums "fasttree::tests::LaneSums":
        int32_t ones[16]
        vector[int32_t] counts
        int64_t sums[16]
        int64_t squares_left[16]
        int64_t squares_right[16]
    void c_count_in_lanes "fasttree::tests::count_in_lanes"(
        const uint8_t* classes, const int64_t* targets, uint32_t n, const uint16_t* left,
        uint32_t n_lanes, uint32_t n_classes, LaneSums& out)
    uint32_t c_best_lanes "fasttree::tests::best_lanes"(
        Simd simd, const int64_t* left, const int32_t* n_left, int64_t total, int32_t n,
        uint32_t lanes, uint32_t least, uint32_t& leaving)
    void c_pack_rows "fasttree::pack_rows"(
        const float* X, ptrdiff_t row_stride, ptrdiff_t column_stride, uint32_t n_features,
        const uint32_t* rows, uint32_t n, float* out, size_t stride)
    uint32_t c_mark_codes "fasttree::mark_codes"(
        Simd simd, const uint8_t* codes, uint32_t n, uint8_t top, uint64_t* left)
    uint32_t c_mark_sides "fasttree::mark_sides"(
        Simd simd, const float* cells, uint32_t n, float top, cbool missing_left, uint64_t* left)
    void c_divide_items "fasttree::divide_items"[Item](
        Simd simd, Item* items, uint32_t n, const uint64_t* left, Item* scratch)
    void c_count_side "fasttree::count_side"(
        Simd simd, const uint8_t* classes, uint32_t n, const uint64_t* left, uint32_t n_side,
        const uint8_t* which, uint32_t n_which, int32_t* counts)
    uint32_t c_count_ones "fasttree::count_ones"(
        Simd simd, const uint8_t* classes, uint32_t n, const uint64_t* left)
    int64_t c_sum_side "fasttree::sum_side"(
        Simd simd, const int64_t* items, uint32_t n, const uint64_t* left)
    uint32_t c_KEY_PADDING "fasttree::KEY_PADDING"
    uint32_t c_BUCKET_SAMPLE "fasttree::BUCKET_SAMPLE"
    uint32_t c_bucket_sample_row "fasttree::bucket_sample_row"(uint32_t i, uint32_t n)
    cdef cppclass Buckets:
        Buckets(const uint32_t* keys, uint32_t n)
        uint32_t n()
        const uint32_t* last_keys()
        void find(Simd simd, const uint32_t* keys, uint32_t n, uint8_t* out)
    cdef cppclass NodeStats:
        double weight, impurity
        cbool pure
    cdef cppclass NodeClasses:
        void take(Simd simd, const uint16_t* labels, uint32_t n)
        void take_rest(const NodeClasses& node, const NodeClasses& part)
        NodeStats stats(double weight_unit)
        void shares(double* out, size_t n)
    cbool c_are_equal "fasttree::are_equal"(Simd simd, const uint32_t* keys, uint32_t n)
    cbool c_gather_keys "fasttree::gather_keys"(
        Simd simd, const float* column, ptrdiff_t stride, const uint32_t* rows, uint32_t n,
        uint32_t* keys, cbool gathers)
    cdef cppclass KeyBuckets:
        const uint8_t* buckets
        uint32_t n
        uint32_t n_buckets
        const uint32_t* last_keys
        const float* cells
        ptrdiff_t stride
        const uint32_t* rows
    void c_near_keys "fasttree::near_keys"(
        Simd simd, const KeyBuckets& buckets, uint32_t limit, uint32_t* keys)
    cdef cppclass Neighbours:
        uint32_t n_left
        uint32_t below
        uint32_t above
    Neighbours c_neighbours "fasttree::neighbours"(
        Simd simd, const uint32_t* keys, uint32_t n, uint32_t limit)
    uint32_t c_partition_keys "fasttree::tests::partition_keys"(
        Simd simd, const uint32_t* keys, uint32_t limit, uint32_t n, uint32_t* rows,
        uint16_t* labels)
    void c_walk_block "fasttree::tests::walk_block"(
        Simd simd, const void* packed, uint32_t n_nodes, const float* x, Py_ssize_t n_rows,
        Py_ssize_t n_cols, ptrdiff_t row_stride, ptrdiff_t col_stride, uint32_t* words) except +
    void c_walk_by_row_keys "fasttree::tests::walk_by_row_keys"(
        Simd simd, const void* packed, uint32_t n_nodes, const float* x, Py_ssize_t n_rows,
        Py_ssize_t n_cols, ptrdiff_t row_stride, ptrdiff_t col_stride, uint32_t* words) except +
    void c_walk_questions "fasttree::tests::walk_questions"(
        Simd simd, const void* packed, uint32_t n_nodes, const float* x, Py_ssize_t n_rows,
        Py_ssize_t n_cols, ptrdiff_t row_stride, ptrdiff_t col_stride, uint32_t* words) except +
    cdef cppclass ListedColumn:
        uint32_t feature, begin, n, max_class_count
    cdef cppclass ListDivider:
        ListDivider(Simd simd)
        vector[uint32_t] n_kept
        void divide_all "divide<true>"(
            const uint32_t* entries, const ListedColumn* columns, uint32_t n_columns,
            const uint32_t* sides, uint32_t kept_side, uint32_t* kept, uint32_t* moved)
        void divide_kept "divide<false>"(
            const uint32_t* entries, const ListedColumn* columns, uint32_t n_columns,
            const uint32_t* sides, uint32_t kept_side, uint32_t* kept, uint32_t* moved)

    cdef cppclass CppFewValues "fasttree::FewValues":
        vector[uint32_t] keys
        cbool too_many
        void encode(const float* column, ptrdiff_t stride, const uint32_t* rows, size_t n,
                    cbool has_categories, uint32_t most, uint8_t* codes)
    cdef cppclass Text "fasttree::DistinctTexts::Text":
        const char* chars
        size_t size
    cdef cppclass CppDistinctTexts "fasttree::DistinctTexts":
        vector[Text] texts
        void encode[Offset](const Offset* offsets, const char* chars, const uint8_t* valid,
                            size_t first, size_t n, int32_t* codes)

    cdef cppclass SparseView:
        const float* values
        const int32_t* rows
        uint32_t n
        float value(uint32_t row)
        uint32_t find_behind(uint32_t start, uint32_t row)

    cdef cppclass BlockOrder:
        uint8_t[64] order
        uint64_t boundaries
        uint32_t n_missing
    cdef cppclass BlockRuns:
        uint8_t[64] places
        uint64_t boundaries
        uint32_t n, n_missing
    void c_order_codes "fasttree::order_codes"(
        Simd simd, const uint8_t* codes, uint32_t n, uint32_t n_numbers, BlockOrder& out)
    void c_order_bits "fasttree::order_bits"(
        Simd simd, uint64_t bits, uint32_t n, cbool are_numbers, BlockOrder& out)
    void c_transpose_bits "fasttree::transpose_bits"(Simd simd, uint64_t* square)
    cdef cppclass BoolMatrix:
        const uint8_t* cells
        ptrdiff_t row_stride, column_stride
        uint32_t n_columns
    void c_pack_bools "fasttree::pack_bools"(
        Simd simd, const BoolMatrix& X, size_t begin, size_t end, uint64_t* words)
    size_t put_ones_of_rows(const int32_t* columns, const int32_t* starts, uint32_t n_columns,
                            size_t begin, size_t end, uint64_t* words)
    size_t put_ones_of_columns(const int32_t* rows, const int32_t* starts, const uint32_t* columns,
                               uint32_t n_columns, size_t begin, size_t end, uint64_t* words)
    cdef cppclass FloatMatrix:
        const float* cells
        ptrdiff_t row_stride, column_stride
        uint32_t n_rows, n_columns
    void c_pick "fasttree::pick"(
        Simd simd, const BlockOrder& feature, uint64_t members, uint32_t n, BlockRuns& out)


cdef extern from "kernels.hpp" namespace "fasttree::tests" nogil:
    void c_fast_logs "fasttree::tests::fast_logs"(
        Simd simd, const double* x, size_t n, double* out)
    void c_sort_lanes "fasttree::tests::sort_lanes"(uint16_t* words, uint32_t n) except +
    void c_get_bits "fasttree::tests::get_bits"(
        Simd simd, const uint32_t* words, const uint32_t* places, uint32_t n, uint8_t* out)
    void c_share_out "fasttree::tests::share_out"(
        ptrdiff_t end, ptrdiff_t size, int n_threads, ptrdiff_t fails_from,
        int32_t* times) except +
    cbool c_find_bits "fasttree::tests::find_bits"(
        Simd simd, const FloatMatrix& X, const uint32_t* n_categories, uint32_t n_parts,
        uint32_t least, vector[uint32_t]& columns, vector[float]& low, vector[float]& high,
        vector[uint64_t]& words) except +
    uint32_t c_n_interleaving_steps "fasttree::tests::n_interleaving_steps"(
        uint32_t n_rows, uint32_t n_features, int storage) except +
    int c_RAW "fasttree::RAW", c_COUNTED "fasttree::COUNTED"
    int c_WIDE "fasttree::WIDE", c_BUCKETED "fasttree::BUCKETED"
    void c_on_threads "fasttree::tests::on_threads"(
        int n_threads, int fails, int32_t* times) except +
    void c_put_bits "fasttree::tests::put_bits"(
        cbool with_writer, uint32_t* words, const uint32_t* places, const uint8_t* bits, uint32_t n)
    uint32_t c_sorted_nonzeros "fasttree::tests::sorted_nonzeros"(
        Simd simd, const SparseView& column, cbool positive, const uint32_t* here,
        uint32_t* entries)
    cdef cppclass SparseData "fasttree::SparseData":
        SparseData(const float* values, const int32_t* indices, const int64_t* indptr,
                   uint32_t n_rows, uint32_t n_features)
    void c_present_features "fasttree::tests::present_features"(
        const SparseData& data, const uint32_t* rows, uint32_t n_first, uint32_t n,
        uint32_t n_looks, uint8_t* may_hold, uint8_t* is_in_every)


SIMD = {"portable": SIMD_PORTABLE, "avx2": SIMD_AVX2, "avx512": SIMD_AVX512}
MISSING_KEY, BOUNDARY = c_MISSING_KEY, c_BOUNDARY
FIRST_CATEGORY_KEY = c_FIRST_CATEGORY_KEY
RAW, COUNTED, WIDE, BUCKETED = c_RAW, c_COUNTED, c_WIDE, c_BUCKETED
KEY_PADDING, BUCKET_SAMPLE = c_KEY_PADDING, c_BUCKET_SAMPLE
FAST_LOG_ERROR = c_FAST_LOG_ERROR
GUARD = 0xdeadbeef  # behind an array: found changed if a kernel writes there


# ---- sorting


def has_simd(name):
    return c_has_simd(SIMD[name])


def float_keys(const float[::1] x):
    cdef Py_ssize_t i
    return np.array([float_key(x[i]) for i in range(len(x))], np.uint32)


def cell_keys(const float[::1] x, cbool has_categories):
    cdef Py_ssize_t i
    return np.array([cell_key(x[i], has_categories) for i in range(len(x))], np.uint32)


def key_cells(const uint32_t[::1] keys):
    """As bits: NaN would lose its payload on the way through a Python float."""
    cdef float[::1] cells = np.empty(len(keys), np.float32)
    cdef Py_ssize_t i
    for i in range(len(keys)):
        cells[i] = key_cell(keys[i])
    return np.asarray(cells).view(np.uint32)


def outer_keys(const float[::1] x):
    return np.array([outer_key(value) for value in x], np.uint32)


def outer_values(const uint32_t[::1] keys):
    return np.array([outer_value(key) for key in keys], np.float32)


def category_cells(codes):
    cdef float[::1] cells = np.empty(len(codes), np.float32)
    for i, code in enumerate(codes):
        cells[i] = category_cell(code)
    return np.asarray(cells)


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


def insertion_sort(uint64_t[::1] items, size_t budget):
    """In place; whether that took at most ``budget`` moves."""
    return c_insertion_sort(&items[0], len(items), budget)


def sort_by_key(Simd simd, const uint64_t[::1] items):
    cdef size_t n = len(items)
    cdef uint64_t[::1] first = np.append(items, np.full(c_RANK_SORT_PADDING + 1, GUARD, np.uint64))
    cdef uint64_t[::1] scratch = np.full(n + c_RANK_SORT_PADDING + 1, GUARD, np.uint64)
    cdef uint64_t* result = c_sort_by_key(simd, &first[0], &scratch[0], n)
    assert first[n] == GUARD and scratch[n] == GUARD
    return np.asarray(<uint64_t[:n + 1]>result)[:n].copy()


def sorted_nonzeros(Simd simd, const float[::1] values, const int32_t[::1] rows,
                    const uint32_t[::1] here):
    """Entries of the rows that ``here`` has a bit of, from the outside in."""
    cdef uint32_t n = len(values)
    cdef uint32_t[::1] entries = np.empty(n + 1, np.uint32)
    cdef SparseView column
    column.values, column.rows, column.n = &values[0], &rows[0], n
    cdef cbool positive = np.all(np.asarray(values) >= 0)
    n = c_sorted_nonzeros(simd, column, positive, &here[0], &entries[0])
    return np.asarray(entries[:n])


def present_features(X, const uint32_t[::1] rows, uint32_t n_first, uint32_t n_looks):
    """What is listed of two nodes, one after the other; X is a CSC matrix with a nonzero."""
    cdef const float[::1] values = X.data
    cdef const int32_t[::1] indices = X.indices.astype(np.int32)
    cdef const int64_t[::1] indptr = X.indptr.astype(np.int64)
    cdef uint8_t[:, ::1] may_hold = np.empty((2, X.shape[1]), np.uint8)
    cdef uint8_t[::1] is_in_every = np.empty(2, np.uint8)
    cdef SparseData* data = new SparseData(&values[0], &indices[0], &indptr[0], X.shape[0],
                                           X.shape[1])
    c_present_features(data[0], &rows[0], n_first, len(rows), n_looks, &may_hold[0, 0],
                       &is_in_every[0])
    del data
    return np.asarray(may_hold, bool), np.asarray(is_in_every, bool)


# ---- bits, logarithms, random numbers

def low_bits(uint32_t n):
    return c_low_bits(n)


def share_out(ptrdiff_t end, ptrdiff_t size, int n_threads, ptrdiff_t fails_from):
    """How often each of [0, end) was gone through; IndexError from pieces that fail."""
    cdef int32_t[::1] times = np.zeros(end + 1, np.int32)
    with nogil:
        c_share_out(end, size, n_threads, fails_from, &times[0])
    assert times[end] == 0
    return np.asarray(times)[:-1]


def on_threads(int n_threads, int fails):
    """How often each thread was called; IndexError from the one that fails."""
    cdef int32_t[::1] times = np.zeros(n_threads, np.int32)
    with nogil:
        c_on_threads(n_threads, fails, &times[0])
    return np.asarray(times)


def get_bits(Simd simd, const uint32_t[::1] words, const uint32_t[::1] places):
    cdef uint8_t[::1] out = np.full(len(places) + 1, 7, np.uint8)
    c_get_bits(simd, &words[0], &places[0], len(places), &out[0])
    return np.asarray(out)[:-1]


def put_bits(cbool with_writer, uint32_t[::1] words, const uint32_t[::1] places,
             const uint8_t[::1] bits):
    c_put_bits(with_writer, &words[0], &places[0], &bits[0], len(places))


def fast_logs(Simd simd, const double[::1] x):
    cdef double[::1] out = np.empty(len(x))
    c_fast_logs(simd, &x[0], len(x), &out[0])
    return np.asarray(out)


def mix(uint64_t key, uint64_t value):
    return c_mix(key, value)


def below(uint64_t random, uint32_t n):
    return c_below(random, n)


def unit_interval(uint64_t random):
    return c_unit_interval(random)


def xorshift(uint32_t seed, int n):
    """Numbers, integers from {3, ..., 9} and floats from [-1, 1], n each, one stream."""
    stream = new XorShift(seed)
    numbers = [stream.next() for _ in range(n)]
    integers = [stream.integer(3, 10) for _ in range(n)]
    floats = [stream.uniform(-1.0, 1.0) for _ in range(n)]
    del stream
    return numbers, integers, floats


# ---- numbers

def wide_sum(terms, signs):
    """(high, low) of the terms, doubles or pairs, added where the sign is positive."""
    cdef Wide total, term
    for x, sign in zip(terms, signs):
        if isinstance(x, float) and sign > 0:
            total.add(<double>x)
            continue
        term.high, term.low = x if isinstance(x, tuple) else (x, 0.0)
        if sign > 0:
            total.add(term)
        else:
            total.subtract(term)
    return total.high, total.low


def wide_times(double high, double low, double x):
    cdef Wide wide
    wide.high, wide.low = high, low
    wide = wide.times(x)
    return wide.high, wide.low


def targets_of_two_classes(const uint8_t[::1] classes, const int64_t[::1] weights):
    """(words of bits, records or None)."""
    cdef size_t n = len(classes)
    cdef uint32_t[::1] bits = np.full(n // 32 + 1, 0, np.uint32), records = np.empty(n, np.uint32)
    class_bits(&classes[0], n, &bits[0])
    fits = class_records(&classes[0], &weights[0], n, &records[0])
    return np.asarray(bits), np.asarray(records) if fits else None


def weight_grid(const double[::1] w, int n_outputs=1):
    cdef int64_t[::1] out = np.empty(len(w), np.int64)
    cdef WeightGrid grid = c_weight_grid(&w[0], len(w), n_outputs, &out[0])
    return np.asarray(out), grid.unit


def target_grid(const double[::1] y, const double[::1] w=None, const int64_t[::1] weights=None,
                double weight_unit=1.0, cbool centred=True, cbool allow_lattice=True):
    cdef int64_t[::1] out = np.empty(len(y), np.int64)
    cdef const double* w_data = NULL
    cdef const int64_t* weights_data = NULL
    if w is not None:
        w_data, weights_data = &w[0], &weights[0]
    cdef Grid grid = c_target_grid(&y[0], len(y), w_data, weights_data, weight_unit, centred,
                                   allow_lattice, &out[0])
    return np.asarray(out), grid.centre, grid.unit


def target_sums(const double[:, ::1] y, const double[::1] w=None,
                const int64_t[::1] weights=None, double weight_unit=1.0, cbool centred=True,
                cbool allow_lattice=True):
    cdef int n_outputs = <int> y.shape[1]
    cdef int64_t[:, ::1] sums = np.empty((len(y), n_outputs), np.int64)
    cdef double[:, ::1] grids = np.empty((2, n_outputs))
    cdef const double* w_data = NULL
    cdef const int64_t* weights_data = NULL
    if w is not None:
        w_data, weights_data = &w[0], &weights[0]
    c_target_sums(&y[0, 0], len(y), n_outputs, w_data, weights_data, weight_unit, centred,
                  allow_lattice, &sums[0, 0], &grids[0, 0], &grids[1, 0])
    return np.asarray(sums), *np.asarray(grids)


def rough_sums(const int64_t[:, ::1] sums, const double[::1] units,
               const int64_t[::1] weights=None):
    cdef int n_outputs = <int> sums.shape[1]
    cdef int64_t[::1] centres = np.full(n_outputs, 99, np.int64)
    cdef float[:, ::1] rough = np.full((len(sums), c_padded(n_outputs)), 99, np.float32)
    cdef float[::1] lengths = np.empty(len(sums), np.float32)
    cdef const int64_t* weights_data = NULL
    if weights is not None:
        weights_data = &weights[0]
    scale = c_rough_sums(&sums[0, 0], len(sums), n_outputs, weights_data, &units[0], &centres[0],
                         &rough[0, 0], &lengths[0])
    return np.asarray(rough), np.asarray(centres), np.asarray(lengths), scale


def sum_records(const int64_t[::1] sums, const int64_t[::1] weights):
    """The records, or None."""
    cdef int64_t[::1] records = np.empty(len(sums), np.int64)
    fits = c_sum_records(&sums[0], &weights[0], len(sums), &records[0])
    return np.asarray(records) if fits else None


# ---- partition

def partition(Simd simd, entries, const uint32_t[::1] sides, cbool with_left, cbool with_right):
    """(entries on the left, entries on the right), None for the half that is not written."""
    cdef uint32_t n = len(entries), n_left
    cdef uint32_t[::1] all_entries = np.append(entries, np.uint32(GUARD)).astype(np.uint32)
    cdef uint32_t[::1] scratch = np.full(n + c_PADDING + 1, GUARD, np.uint32)
    n_left = c_partition(simd, &all_entries[0], n, &sides[0], &scratch[0], with_left, with_right)
    assert all_entries[n] == GUARD and scratch[n + c_PADDING] == GUARD
    left, right = np.split(np.asarray(all_entries[:n]), [n_left])
    return n_left, left if with_left else None, right if with_right else None


def keep_left(Simd simd, entries, const uint32_t[::1] sides):
    """The entries on the left, written elsewhere."""
    cdef uint32_t n = len(entries), n_kept
    cdef const uint32_t[::1] all_entries = np.append(entries, np.uint32(GUARD)).astype(np.uint32)
    cdef uint32_t[::1] kept = np.full(n + c_PADDING + 1, GUARD, np.uint32)
    n_kept = c_keep_left(simd, &all_entries[0], n, &sides[0], &kept[0], NULL)
    assert kept[n_kept + c_PADDING] == GUARD
    return np.asarray(kept[:n_kept])


# ---- prediction

ctypedef void (*Walk)(
    Simd simd, const void* packed, uint32_t n_nodes, const float* x, Py_ssize_t n_rows,
    Py_ssize_t n_cols, ptrdiff_t row_stride, ptrdiff_t col_stride, uint32_t* words) except +


cdef walk_rows(Walk walk, Simd simd, nodes, const float[:, :] X):
    """The words of the leaves of rows in a packed tree."""
    cdef const uint8_t[::1] packed = nodes.view(np.uint8)
    cdef uint32_t[::1] words = np.empty(X.shape[0] + 1, np.uint32)
    walk(simd, &packed[0], len(nodes), &X[0, 0], X.shape[0], X.shape[1],
         X.strides[0] // 4, X.strides[1] // 4, &words[0])
    return np.asarray(words)[:-1]


def walk_block(Simd simd, nodes, const float[:, :] X):
    """As a forest asks for them, in vectors."""
    return walk_rows(c_walk_block, simd, nodes, X)


def walk_by_row_keys(Simd simd, nodes, const float[:, :] X):
    """As a forest asks for them, by keys of rows."""
    return walk_rows(c_walk_by_row_keys, simd, nodes, X)


def walk_questions(Simd simd, nodes, const float[:, :] X):
    """As a single tree asks for them."""
    return walk_rows(c_walk_questions, simd, nodes, X)


# ---- sides by position

def gather(Simd simd, const float[:, :] X, size_t feature, const uint32_t[::1] rows, gathers):
    """(cells, lowest, highest, number of missing ones) of a column, by loads or instructions that
    gather."""
    cdef uint32_t n = len(rows)
    cdef float[::1] out = np.full(n + 1, 7, np.float32)
    cdef Extremes extremes = c_gather(simd, &X[0, feature], X.strides[0] // 4, &rows[0], n,
                                      &out[0], gathers)
    assert out[n] == 7
    return np.asarray(out[:n]), extremes.low, extremes.high, extremes.n_missing


def simd_of_reads(Simd simd, uint32_t n_rows, ptrdiff_t stride):
    return c_simd_of_reads(simd, n_rows, stride)


def gather_codes(Simd simd, codes, const uint32_t[::1] rows, gathers):
    """The same of codes."""
    cdef uint32_t n = len(rows)
    cdef const uint8_t[::1] padded = np.append(codes, np.zeros(3)).astype(np.uint8)
    cdef uint8_t[::1] out = np.full(n + 1, 7, np.uint8)
    cdef CodeExtremes extremes = c_gather_codes(simd, &padded[0], &rows[0], n, &out[0],
                                                gathers)
    assert out[n] == 7
    return np.asarray(out[:n]), extremes.low, extremes.high


def code_extremes(Simd simd, codes):
    """(lowest, highest) of some codes."""
    cdef const uint8_t[::1] contiguous = np.ascontiguousarray(codes)
    cdef CodeExtremes extremes = c_code_extremes(simd, &contiguous[0], len(contiguous))
    return extremes.low, extremes.high


def gather_group(Simd simd, const uint8_t[:, ::1] codes, const uint32_t[::1] rows):
    """The codes of 16 columns, by column."""
    cdef uint32_t n = len(rows)
    cdef size_t stride = c_group_stride(n)
    cdef uint8_t[::1] out = np.full(16 * stride + 1, 7, np.uint8)
    c_gather_group(simd, &codes[0, 0], &rows[0], n, &out[0])
    assert out[16 * stride] == 7
    return np.asarray(out[:16 * stride]).reshape(16, stride)[:, :n]


def gather_places(Simd simd, const uint8_t[:, ::1] codes, const uint32_t[::1] rows, places):
    """(codes, lowest, highest) of up to four of 16 columns; None if they are gathered all."""
    cdef uint32_t n = len(rows)
    cdef size_t stride = c_group_stride(n)
    cdef uint8_t[::1] out = np.full(16 * stride + 1, 7, np.uint8)
    cdef GroupPlaces columns
    for place in places:
        columns.places[columns.n] = place
        columns.n += 1
    if not c_gather_places(simd, &codes[0, 0], &rows[0], n, columns, &out[0]):
        return None
    assert out[16 * stride] == 7
    gathered = np.asarray(out[:16 * stride]).reshape(16, stride)[:, :n]
    return [(gathered[place], columns.extremes[k].low, columns.extremes[k].high)
            for k, place in enumerate(places)]


def count_up_to(const float[::1] values, float top):
    return c_count_up_to(&values[0], len(values), top)


def decode_bits(Simd simd, uint64_t ones, float zero, float one, uint32_t n):
    """The cells of n rows, of which bits tell whether they have the second value."""
    cdef float[::1] out = np.empty(64, np.float32)
    c_decode_bits(simd, ones, zero, one, n, &out[0])
    return np.asarray(out[:n])


def decode_codes(Simd simd, const uint8_t[::1] codes, const float[::1] values, gathers):
    cdef float[::1] out = np.empty(64, np.float32)
    c_decode_codes(simd, &codes[0], &values[0], len(codes), &out[0], gathers)
    return np.asarray(out[:len(codes)])


def look_in_lanes(Simd simd, const float[:, ::1] X, const uint32_t[::1] rows, uint64_t key):
    """(lowest, highest, varies, missing, thresholds, sides, number on the left) by feature."""
    cdef uint32_t n = len(rows), n_features = X.shape[1], n_vectors = (n_features + 15) // 16
    cdef vector[LaneDraws] draws
    cdef uint64_t[:, ::1] words = np.full((n_features, (n + 63) // 64), GUARD, np.uint64)
    draws.resize(n_vectors)
    c_look_in_lanes(simd, &X[0, 0], X.shape[1], n_features, &rows[0], n, key, draws.data(),
                    &words[0, 0])
    sides = np.unpackbits(np.asarray(words).view(np.uint8), axis=1, bitorder="little")
    assert not sides[:, n:].any()
    found = []
    for f in range(n_features):
        v, lane = f // 16, f % 16
        found.append((
            draws[v].low[lane], draws[v].high[lane], draws[v].varies >> lane & 1,
            draws[v].missing >> lane & 1, draws[v].thresholds[lane],
            sides[f, :n], draws[v].n_left[lane]))
    return [np.array(column) for column in zip(*found)]


def most_rows(Simd simd):
    """How many rows a mask has."""
    return c_most_rows(simd)


def look_at_rows(Simd simd, const float[::1] cells, const uint8_t[::1] classes,
                 const int64_t[::1] items, uint64_t all_rows, uint64_t rows, double threshold):
    """What a node of few rows finds; rows are bits. Arrays have as many items as a mask."""
    cdef RowLook look
    c_look_at_rows(simd, &cells[0], &classes[0], &items[0], all_rows, rows, threshold, look)
    return {"low": look.low, "high": look.high, "top": look.top,
            "without_number": look.without_number, "up_to": look.up_to,
            "not_zero": look.not_zero, "spread": look.spread,
            "squares_left": look.squares_left, "squares_right": look.squares_right,
            "sum": look.sum, "alike": [look.alike[i] for i in range(c_most_rows(simd))]}


ctypedef fused RowItem:
    uint8_t
    uint32_t
    int64_t


def pick_rows(Simd simd, const RowItem[::1] items, uint64_t rows):
    """The items of some of the rows of a mask."""
    cdef RowItem[::1] out = np.zeros(len(items) + 16, np.asarray(items).dtype)
    c_pick_rows(simd, &items[0], rows, &out[0])
    return np.asarray(out)[:bin(rows).count("1")]


def count_in_lanes(const uint8_t[::1] classes, const int64_t[::1] targets,
                   const uint16_t[::1] left, uint32_t n_lanes, uint32_t n_classes):
    """(rows of class 1, of each class, sums, squares on the left, on the right) by lane."""
    cdef LaneSums found
    c_count_in_lanes(&classes[0], &targets[0], len(classes), &left[0], n_lanes, n_classes, found)
    return (np.array(found.ones), np.array(found.counts).reshape(n_classes, 16),
            np.array(found.sums), np.array(found.squares_left), np.array(found.squares_right))


def best_lanes(Simd simd, const int64_t[::1] left, const int32_t[::1] n_left, int64_t total,
               int32_t n, uint32_t lanes, uint32_t least):
    """(lanes that leave enough rows on either side, best ones of them), as bits."""
    cdef uint32_t leaving = 0
    cdef uint32_t best = c_best_lanes(simd, &left[0], &n_left[0], total, n, lanes, least, leaving)
    return leaving, best


def pack_rows(const float[:, :] X, const uint32_t[::1] rows, size_t stride):
    """Rows of X, `stride` cells apart; zeros between them."""
    cdef uint32_t n = len(rows), n_features = X.shape[1]
    cdef float[:, ::1] out = np.zeros((n, stride), np.float32)
    c_pack_rows(&X[0, 0], X.strides[0] // 4, X.strides[1] // 4, n_features, &rows[0], n,
                &out[0, 0], stride)
    return np.asarray(out)


def words(sides):
    """Sides as the words that the kernels read, and a word behind them that none does."""
    out = np.zeros(len(sides) // 64 * 64 + 128, dtype=bool)
    out[:len(sides)] = sides
    out[-64:] = True
    return np.packbits(out, bitorder="little").view(np.uint64)


def mark_sides(Simd simd, cells, float top, cbool missing_left):
    """(number on the left, sides)."""
    cdef uint32_t n = len(cells)
    cdef const float[::1] padded = np.append(cells, np.zeros(16, np.float32))
    cdef uint64_t[::1] left = np.full((n + 63) // 64 + 1, GUARD, np.uint64)
    cdef uint32_t n_left = c_mark_sides(simd, &padded[0], n, top, missing_left, &left[0])
    assert left[(n + 63) // 64] == GUARD
    bits = np.unpackbits(np.asarray(left[:-1]).view(np.uint8), bitorder="little").astype(bool)
    assert not bits[n:].any()
    return n_left, bits[:n]


def mark_codes(Simd simd, codes, uint8_t top):
    """(number on the left, sides)."""
    cdef uint32_t n = len(codes)
    cdef const uint8_t[::1] cells = codes
    cdef uint64_t[::1] left = np.full((n + 63) // 64 + 1, GUARD, np.uint64)
    cdef uint32_t n_left = c_mark_codes(simd, &cells[0], n, top, &left[0])
    assert left[(n + 63) // 64] == GUARD
    bits = np.unpackbits(np.asarray(left[:-1]).view(np.uint8), bitorder="little").astype(bool)
    assert not bits[n:].any()
    return n_left, bits[:n]


def zeros_of_bits(Simd simd, const uint64_t[:, ::1] words, const uint32_t[::1] rows,
                  const uint32_t[::1] bits):
    """(number of zeros, where they are), of each bit in some rows."""
    cdef uint32_t n = len(rows)
    cdef uint64_t[::1] left = np.zeros((n + 63) // 64, np.uint64)
    cdef BitRows from_
    cdef GatheredBits gathered
    from_.words, from_.n_words = &words[0, 0], words.shape[1]
    gathered.open(from_, n)
    gathered.take(simd, from_, &rows[n // 2], n - n // 2, bits[0])
    gathered.begin()  # the next node
    found = []
    for bit in bits:
        n_left = c_mark_zeros(simd, gathered.take(simd, from_, &rows[0], n, bit), n, &left[0])
        sides = np.unpackbits(np.asarray(left).view(np.uint8), bitorder="little").astype(bool)
        assert not sides[n:].any()
        found.append((n_left, sides[:n]))
    return found


def gather_in_turn(Simd simd, const float[:, :] X, features, const uint32_t[::1] rows):
    """What `gather` finds, of the features that a node looks at."""
    cdef uint32_t n = len(rows)
    cdef float[:, ::1] out = np.zeros((len(features), n), np.float32)
    cdef vector[Extremes] extremes = vector[Extremes](len(features))
    c_gather_in_turn(simd, &X[0, 0], X.strides[0] // 4, X.strides[1] // 4, len(X), features,
                     &rows[0], n, &out[0, 0], extremes.data())
    return [(np.asarray(out[i]), extremes[i].low, extremes[i].high, extremes[i].n_missing)
            for i in range(len(features))]


def divide_items(Simd simd, items, sides):
    """The items of an array of 1, 4 or 8 bytes each, those on the left first."""
    cdef uint32_t n = len(items)
    cdef const uint64_t[::1] left = words(sides)
    out = np.append(items, np.full(64, 77)).astype(items.dtype)
    scratch = np.full(len(out) + 1, 78, items.dtype)
    cdef uint8_t[::1] a = out.view(np.uint8), b = scratch.view(np.uint8)
    if items.itemsize == 1:
        c_divide_items[uint8_t](simd, &a[0], n, &left[0], &b[0])
    elif items.itemsize == 4:
        c_divide_items[uint32_t](simd, <uint32_t*> &a[0], n, &left[0], <uint32_t*> &b[0])
    else:
        c_divide_items[int64_t](simd, <int64_t*> &a[0], n, &left[0], <int64_t*> &b[0])
    assert (out[n:] == 77).all() and scratch[-1] == 78
    return out[:n]


def side_counts(Simd simd, classes, sides, const uint8_t[::1] which, int n_classes):
    """Rows on the left of each class, of those that there are; of all rows if `sides` is None."""
    cdef uint32_t n = len(classes), n_side = n if sides is None else sum(sides)
    cdef const uint8_t[::1] padded = np.append(classes, np.full(64, 1)).astype(np.uint8)
    cdef int32_t[::1] counts = np.zeros(n_classes, np.int32)
    cdef const uint64_t[::1] left = words(np.ones(n, bool) if sides is None else sides)
    cdef const uint64_t* given = &left[0]
    if sides is None:
        given = NULL
    c_count_side(simd, &padded[0], n, given, n_side, &which[0], len(which), &counts[0])
    n_ones = c_count_ones(simd, &padded[0], n, given) if n_classes == 2 else None
    return np.asarray(counts), n_ones


def side_sum(Simd simd, items, sides):
    cdef const int64_t[::1] padded = np.append(items, np.full(8, 1)).astype(np.int64)
    cdef const uint64_t[::1] left = words(np.ones(len(items), bool) if sides is None else sides)
    cdef const uint64_t* given = &left[0]
    if sides is None:
        given = NULL
    return c_sum_side(simd, &padded[0], len(items), given)


def node_classes(Simd simd, const uint16_t[::1] labels, uint32_t n_classes):
    """(weight, impurity, whether there is one class, share of each class) of labels by class."""
    cdef NodeClasses classes
    classes.take(simd, &labels[0], len(labels))
    return values_of_classes(classes, n_classes)


cdef values_of_classes(const NodeClasses& classes, uint32_t n_classes):
    cdef double[::1] shares = np.full(n_classes, np.nan)
    classes.shares(&shares[0], n_classes)
    stats = classes.stats(0.5)
    return stats.weight, stats.impurity, stats.pure, np.asarray(shares)


def rest_of_classes(Simd simd, const uint16_t[::1] labels, const uint16_t[::1] part,
                    uint32_t n_classes):
    """`node_classes` of a node's labels without those of a part, found by subtraction."""
    cdef NodeClasses node, own, rest
    node.take(simd, &labels[0], len(labels))
    own.take(simd, &part[0], len(part))
    rest.take_rest(node, own)
    return values_of_classes(rest, n_classes)


def are_equal(Simd simd, const uint32_t[::1] keys, uint32_t n):
    """Whether the first n keys, padded, are the same."""
    return c_are_equal(simd, &keys[0], n)


def gather_keys(Simd simd, const float[:] column, const uint32_t[::1] rows, gathers):
    """(keys, whether they are the same), as `gather` reads cells."""
    cdef uint32_t[::1] keys = np.zeros(len(rows) + c_KEY_PADDING, np.uint32)
    cdef ptrdiff_t stride = column.strides[0] // <ptrdiff_t>sizeof(float)
    are_same = c_gather_keys(simd, &column[0], stride, &rows[0], len(rows), &keys[0],
                             gathers)
    return np.asarray(keys[:len(rows)]), are_same


def near_keys(Simd simd, const uint8_t[::1] buckets, const uint32_t[::1] last_keys, n_buckets,
              const float[::1] x, const uint32_t[::1] rows, uint32_t limit):
    """Keys that stand for those next to a limit; without x: buckets are values."""
    cdef KeyBuckets k
    cdef uint32_t n = len(rows)
    cdef uint32_t[::1] keys = np.append(np.zeros(n, np.uint32), np.uint32(GUARD))
    k.buckets, k.n, k.n_buckets, k.last_keys = &buckets[0], n, n_buckets, &last_keys[0]
    k.cells = NULL
    if x is not None:
        k.cells, k.stride, k.rows = &x[0], 1, &rows[0]
    c_near_keys(simd, k, limit, &keys[0])
    assert keys[n] == GUARD
    return np.asarray(keys[:n])


def neighbours(Simd simd, const uint32_t[::1] keys, uint32_t n, uint32_t limit):
    """(number of keys up to a limit, a position of the largest, of the smallest beyond); padded."""
    cdef Neighbours found = c_neighbours(simd, &keys[0], n, limit)
    return found.n_left, found.below, found.above


def partition_keys(Simd simd, const uint32_t[::1] keys, uint32_t limit, rows, labels):
    """(rows, labels or None, number on the left)."""
    cdef uint32_t n = len(rows), n_left
    cdef uint32_t[::1] all_rows = np.append(rows, GUARD).astype(np.uint32)
    cdef uint16_t[::1] all_labels = np.append(labels, 9).astype(np.uint16)
    cdef uint16_t* first_label = NULL
    if len(labels) > 0:
        first_label = &all_labels[0]
    n_left = c_partition_keys(simd, &keys[0], limit, n, &all_rows[0], first_label)
    assert all_rows[n] == GUARD and all_labels[len(labels)] == 9
    return np.asarray(all_rows[:n]), np.asarray(all_labels[:len(labels)]), n_left


def divide(Simd simd, entries, sizes, begin, sides, uint32_t kept_side, cbool with_moved,
           cbool in_place):
    """(kept entries, moved ones or None, number kept by column) of columns from ``begin`` on."""
    cdef uint32_t n = sum(sizes), at = begin, n_columns = len(sizes), i
    cdef uint32_t[::1] all_entries = np.append(entries, np.uint32(GUARD)).astype(np.uint32)
    cdef uint32_t[::1] apart = np.full(n + 1, GUARD, np.uint32)
    cdef uint32_t[::1] moved = np.full(n + c_PADDING + 1, GUARD, np.uint32)
    cdef const uint32_t[::1] sides_ = sides
    cdef uint32_t* kept = &all_entries[at] if in_place else &apart[0]
    cdef vector[ListedColumn] columns
    columns.resize(n_columns)
    for i in range(n_columns):
        columns[i].begin, columns[i].n = at, sizes[i]
        at += columns[i].n
    divider = new ListDivider(simd)
    if with_moved:
        divider.divide_all(&all_entries[0], columns.data(), n_columns, &sides_[0], kept_side,
                           kept, &moved[0])
    else:
        divider.divide_kept(&all_entries[0], columns.data(), n_columns, &sides_[0], kept_side,
                            kept, NULL)
    n_kept = list(divider.n_kept)
    del divider
    assert all_entries[len(entries)] == apart[n] == moved[n + c_PADDING] == GUARD
    kept_entries = np.asarray(<uint32_t[:n + 1]>kept)[:sum(n_kept)].copy()
    return kept_entries, np.asarray(moved[:n - sum(n_kept)]) if with_moved else None, n_kept


# ---- codes

def transpose_bits(Simd simd, const uint64_t[::1] square):
    cdef uint64_t[::1] out = np.array(square)
    c_transpose_bits(simd, &out[0])
    return np.asarray(out)


def find_bits(Simd simd, const float[:, :] X, const uint32_t[::1] n_categories, uint32_t n_parts,
              uint32_t least):
    """(column, -1 if there is none; low; high) by bit, words by row; None if there are too few."""
    cdef FloatMatrix matrix
    cdef vector[uint32_t] columns
    cdef vector[float] low, high
    cdef vector[uint64_t] words
    matrix.cells = &X[0, 0]
    matrix.row_stride = X.strides[0] // <ptrdiff_t>sizeof(float)
    matrix.column_stride = X.strides[1] // <ptrdiff_t>sizeof(float)
    matrix.n_rows, matrix.n_columns = X.shape[0], X.shape[1]
    if not c_find_bits(simd, matrix, &n_categories[0], n_parts, least, columns, low, high,
                       words):
        return None
    return (np.array(columns, np.uint32).view(np.int32), np.array(low, np.float32),
            np.array(high, np.float32), np.array(words, np.uint64).reshape(X.shape[0], -1))


def pack_bools(Simd simd, const uint8_t[:, :] X, size_t begin, size_t end):
    """Words of all rows, of which these are packed."""
    cdef BoolMatrix matrix
    cdef uint64_t[:, ::1] words = np.full((X.shape[0], (X.shape[1] + 63) // 64), GUARD, np.uint64)
    matrix.cells = &X[0, 0]
    matrix.row_stride, matrix.column_stride = X.strides[0], X.strides[1]
    matrix.n_columns = X.shape[1]
    c_pack_bools(simd, matrix, begin, end, &words[0, 0])
    return np.asarray(words)


def put_ones(cbool by_row, const int32_t[::1] indices, const int32_t[::1] starts, n_rows,
             const uint32_t[::1] columns, size_t begin, size_t end):
    """The same of a sparse matrix, and how many ones there are."""
    cdef uint32_t n_columns = len(columns)
    cdef uint64_t[:, ::1] words = np.full((n_rows, (n_columns + 63) // 64), GUARD, np.uint64)
    cdef size_t n_ones
    if by_row:
        n_ones = put_ones_of_rows(&indices[0], &starts[0], n_columns, begin, end, &words[0, 0])
    else:
        n_ones = put_ones_of_columns(&indices[0], &starts[0], &columns[0], n_columns, begin, end,
                                     &words[0, 0])
    return np.asarray(words), n_ones


cdef class FewValues:
    cdef CppFewValues table

    def encode(self, const float[:] column, const uint32_t[::1] rows, cbool has_categories,
               uint32_t most):
        cdef uint8_t[::1] codes = np.full(len(rows), 255, np.uint8)
        self.table.encode(&column[0], column.strides[0] // <ptrdiff_t>sizeof(float), &rows[0],
                          len(rows), has_categories, most, &codes[0])
        return np.asarray(codes)

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


def sort_lanes(const uint16_t[:, ::1] words):
    """Vectors of 16 words, 8, 16, 32 or 64 of them, with each lane in ascending order; AVX2."""
    cdef uint16_t[:, ::1] out = np.array(words)
    c_sort_lanes(&out[0, 0], <uint32_t> out.shape[0])
    return np.asarray(out)


# ---- blocks of at most 64 rows

def order_codes(Simd simd, const uint8_t[::1] codes, uint32_t n_numbers):
    cdef BlockOrder order
    c_order_codes(simd, &codes[0], len(codes), n_numbers, order)
    return np.array(<uint8_t[:64]>order.order)[:len(codes)], order.boundaries, order.n_missing


def order_bits(Simd simd, uint64_t bits, uint32_t n, cbool are_numbers):
    cdef BlockOrder order
    c_order_bits(simd, bits, n, are_numbers, order)
    return np.array(<uint8_t[:64]>order.order)[:n], order.boundaries, order.n_missing


def pick(Simd simd, const uint8_t[::1] order, uint64_t boundaries, uint32_t n_missing,
         uint64_t members):
    cdef BlockOrder feature
    cdef BlockRuns runs
    for i in range(len(order)):
        feature.order[i] = order[i]
    feature.boundaries, feature.n_missing = boundaries, n_missing
    c_pick(simd, feature, members, len(order), runs)
    return np.array(<uint8_t[:64]>runs.places)[:runs.n], runs.boundaries, runs.n_missing
