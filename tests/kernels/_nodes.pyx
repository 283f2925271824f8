"""A node under any criterion and the kernels of its accumulator, for tests alone."""
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libcpp cimport bool as cbool
from libcpp.memory cimport unique_ptr
from libcpp.string cimport string
from libcpp.vector cimport vector

import numpy as np

from kernels._shared cimport KeyBuckets, Simd


cdef extern from "probe.hpp" namespace "fasttree" nogil:
    cdef cppclass BlockRuns:
        uint8_t[64] places
        uint64_t boundaries
        uint32_t n, n_missing
    cdef cppclass Targets:
        uint32_t n_rows
        int n_outputs, max_n_classes
        const int64_t* n_classes
        const void* classes
        const uint32_t* class_bits
        const uint32_t* records
        const int64_t* weights
        double weight_unit
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
    size_t padded(int n_outputs)
    cdef cppclass FeatureBound:
        uint32_t least
        cbool holds(uint32_t n, uint32_t max_class_count)
    cdef cppclass Candidate:
        double score
        uint32_t left, right, n_left
    cdef cppclass BlockSides:
        uint64_t left
        uint8_t below, above
    cdef cppclass BlockBest:
        double score
        uint32_t feature, n_left
    cdef cppclass BitRows:
        const uint64_t* words
        uint32_t n_words
    cdef cppclass Runs:
        const uint32_t* entries
        uint32_t n, n_missing
        cbool has_classes
    cdef cppclass Keys:
        const uint32_t* keys
        uint32_t n
    cdef cppclass LightBest:
        double score
        uint32_t limit
    cdef cppclass BestKey:
        double score
        uint32_t limit
        cbool found
        BestKey(double to_beat)


cdef extern from "probe.hpp" namespace "fasttree::tests" nogil:
    cdef cppclass Probe:
        void begin(const uint32_t* rows, uint32_t n)
        cbool take_rest(const uint32_t* part, uint32_t n_part, const uint32_t* rest,
                        uint32_t n_rest)
        void scores(const uint32_t* entries, double* scores)
        void cell_scores(const uint32_t* entries, uint32_t size, double* scores)
        void stops(const Runs& runs, uint32_t first, uint32_t last, double best,
                   vector[uint32_t]& positions, vector[double]& scores)
        void stops_at_best(const Runs& runs, uint32_t first, uint32_t last, double best,
                           vector[uint32_t]& positions, vector[double]& scores)
        void found(const uint32_t* entries, uint32_t first, uint32_t last, double best,
                   vector[uint32_t]& positions)
        cbool skip(const uint32_t* entries, uint32_t first, uint32_t n, double best, double& score)
        void count_classes(const uint32_t* entries, uint32_t n, int64_t* counts)
        cbool scores_behind(const uint32_t* entries, uint32_t first, cbool is_left,
                            vector[double]& scores)
        double parting_bound(double n, double weight)
        FeatureBound feature_bound(double score)
        cbool may_beat(const uint32_t* entries, uint32_t n, double score, uint32_t& max_class_count)
        cbool block_scan(const uint32_t* rows, uint32_t n, const BlockRuns& runs, uint32_t leaf,
                         Candidate& best)
        cbool block_search(const uint8_t* codes, uint32_t n_features, const uint32_t* rows,
                           uint32_t n, uint64_t members, BlockBest& best,
                           BlockSides& sides) except +
        void cells(const uint8_t* codes, size_t stride, const uint32_t* slots, uint32_t n_features,
                   uint32_t n_values, vector[int64_t]& cells) except +
        uint32_t n_in_series(const uint8_t* codes, size_t stride, const uint32_t* slots,
                             uint32_t n_features, uint32_t n_values) except +
        int common_class()
        void bit_cells(const BitRows& bits, vector[int64_t]& cells)
        void screen_bits(const BitRows& bits, uint32_t leaf, double floor, vector[uint32_t]& found)
        void key_scan(const Keys& keys, BestKey& best)
        void key_scan(const KeyBuckets& buckets, BestKey& best)
        LightBest light_scan(const uint16_t* keys)
    unique_ptr[Probe] make_probe(const string& criterion, const Targets& t) except +


cdef class Node:
    """A node under a criterion; targets are classes (uint8) or integers, (n_rows, n_outputs)."""

    cdef unique_ptr[Probe] probe
    cdef Targets t
    cdef list arrays
    cdef uint32_t n

    def __cinit__(self, Simd simd, str criterion, targets, const uint32_t[::1] rows, weights=None):
        cdef const uint8_t[:, ::1] classes
        cdef const int64_t[:, ::1] sums
        cdef const int64_t[::1] w
        cdef const double[:, ::1] y
        n_rows, n_outputs = targets.shape
        self.arrays = []
        self.n = len(rows)
        self.t.n_rows, self.t.n_outputs, self.t.max_n_classes = n_rows, n_outputs, 1
        self.t.weight_unit = 1.0
        self.t.simd = simd
        if weights is not None:
            w = self.keep(np.ascontiguousarray(weights, np.int64))
            self.t.weights = &w[0]
        if targets.dtype == np.uint8:
            classes = self.keep(np.ascontiguousarray(targets))
            self.t.classes = &classes[0, 0]
            self.set_classes(targets)
        else:
            y = self.keep(np.ascontiguousarray(targets, np.float64))
            self.t.y = &y[0, 0]
            weight = 1 if weights is None else np.asarray(weights)[:, None]
            sums = self.keep(np.ascontiguousarray(targets * weight, np.int64))
            self.t.sums = &sums[0, 0]
            self.set_rough(targets, weight)
            self.set_numbers(targets)
        if weights is not None and n_outputs == 1:
            self.set_records(targets[:, 0].astype(np.int64), np.asarray(weights, np.int64))
        self.probe = make_probe(criterion.encode(), self.t)
        self.probe.get().begin(&rows[0], self.n)

    cdef object keep(self, array):
        self.arrays.append(array)
        return array

    cdef void set_classes(self, targets):
        n_classes_ = targets.max(axis=0).astype(np.int64) + 1
        n_classes_[:] = max(2, n_classes_.max())
        cdef const int64_t[::1] n_classes = self.keep(n_classes_)
        self.t.n_classes = &n_classes[0]
        self.t.max_n_classes = n_classes[0]
        bits = np.packbits(np.append(targets[:, 0] == 1, np.zeros(64, bool)), bitorder="little")
        cdef const uint32_t[::1] words = self.keep(bits[:len(bits) // 4 * 4].view(np.uint32))
        self.t.class_bits = &words[0]

    cdef void set_records(self, targets, weights):
        """A row's weight and what it adds in one word, if they fit."""
        cdef const uint32_t[::1] records
        cdef const int64_t[::1] sum_records
        if self.t.classes != NULL and targets.max() < 2 and weights.max() < 1 << 12:
            records = self.keep((weights * (1 + (targets << 16))).astype(np.uint32))
            self.t.records = &records[0]
        if self.t.classes == NULL and weights.max() < 1 << 5 and abs(targets).max() < 1 << 46:
            sum_records = self.keep((targets * weights << 8) + weights)
            self.t.sum_records = &sum_records[0]

    cdef void set_rough(self, targets, weight):
        cdef const float[:, ::1] rough
        cdef const int64_t[::1] centre = self.keep(targets.mean(axis=0).astype(np.int64))
        wide = np.zeros((len(targets), padded(<int> targets.shape[1])), np.float32)
        self.t.rough_scale = 2.0**-20
        about_centre = (targets - np.asarray(centre)) * weight
        wide[:, :targets.shape[1]] = about_centre * self.t.rough_scale
        rough = self.keep(wide)
        cdef const float[::1] length = self.keep(
            np.linalg.norm(wide.astype(np.float64), axis=1).astype(np.float32))
        self.t.rough, self.t.rough_length = &rough[0, 0], &length[0]
        self.t.rough_centre = &centre[0]

    cdef void set_numbers(self, targets):
        n_rows, n_outputs = targets.shape
        cdef const double[::1] units = self.keep(np.ones(n_outputs))
        cdef const double[::1] centres = self.keep(np.zeros(n_outputs))
        logs = np.log(np.maximum(np.arange(-8, n_rows + 9), 1))
        cdef const double[::1] log_counts = self.keep(logs)
        rank = np.argsort(np.argsort(targets, axis=0, kind="stable"), axis=0).T
        cdef const uint32_t[:, ::1] ranks = self.keep(np.ascontiguousarray(rank, np.uint32))
        cdef const int64_t[:, ::1] levels = self.keep(np.ascontiguousarray(targets.T, np.int64))
        self.t.sum_unit, self.t.centre = &units[0], &centres[0]
        self.t.log_counts = &log_counts[8]
        self.t.order_rank, self.t.levels = &ranks[0, 0], &levels[0, 0]

    def take_rest(self, const uint32_t[::1] part, const uint32_t[::1] rest):
        """Become what is left of the node without a part of its rows, if its totals tell."""
        self.n = len(rest)
        return self.probe.get().take_rest(&part[0], len(part), &rest[0], self.n)

    def scores(self, const uint32_t[::1] entries):
        """By number of rows on the left, from 1 on."""
        cdef double[::1] out = np.full(self.n, np.nan)
        self.probe.get().scores(&entries[0], &out[0])
        return np.asarray(out[1:])

    def cell_scores(self, const uint32_t[::1] entries, uint32_t size):
        """The same where whole cells of ``size`` rows were moved; NaN between them."""
        cdef double[::1] out = np.full(self.n, np.nan)
        self.probe.get().cell_scores(&entries[0], size, &out[0])
        return np.asarray(out[1:])

    def stops(self, const uint32_t[::1] entries, uint32_t first, uint32_t last, double best,
              bint has_classes=False):
        cdef vector[uint32_t] positions
        cdef vector[double] scores
        cdef Runs runs
        runs.entries, runs.n, runs.n_missing = &entries[0], self.n, 0
        runs.has_classes = has_classes
        self.probe.get().stops(runs, first, last, best, positions, scores)
        return np.array(positions, np.int64), np.array(scores, np.float64)

    def stops_at_best(self, const uint32_t[::1] entries, uint32_t first, uint32_t last,
                      double best, bint has_classes=False):
        cdef vector[uint32_t] positions
        cdef vector[double] scores
        cdef Runs runs
        runs.entries, runs.n, runs.n_missing = &entries[0], self.n, 0
        runs.has_classes = has_classes
        self.probe.get().stops_at_best(runs, first, last, best, positions, scores)
        return np.array(positions, np.int64), np.array(scores, np.float64)

    def found(self, const uint32_t[::1] entries, uint32_t first, uint32_t last, double best):
        """Positions that the screen of many outputs finds."""
        cdef vector[uint32_t] positions
        self.probe.get().found(&entries[0], first, last, best, positions)
        return np.array(positions, np.int64)

    def skip(self, const uint32_t[::1] entries, uint32_t first, uint32_t n, double best):
        cdef double score = 0.0
        moved = self.probe.get().skip(&entries[0], first, n, best, score)
        return moved, score

    def count_classes(self, const uint32_t[::1] entries):
        cdef int64_t[::1] counts = np.zeros(self.t.max_n_classes, np.int64)
        self.probe.get().count_classes(&entries[0], len(entries), &counts[0])
        return np.asarray(counts)

    def scores_behind(self, const uint32_t[::1] entries, uint32_t first, bint is_left):
        """Scores from position `first` on, whose left or right rows are counted; None: never."""
        cdef vector[double] scores
        has_sides = self.probe.get().scores_behind(&entries[0], first, is_left, scores)
        return np.array(scores, np.float64) if has_sides else None

    def parting_bound(self, double n, double weight):
        return self.probe.get().parting_bound(n, weight)

    def least(self, double score):
        """Fewest rows to separate."""
        return self.probe.get().feature_bound(score).least

    def feature_bound_holds(self, double score, uint32_t n, uint32_t max_class_count):
        return self.probe.get().feature_bound(score).holds(n, max_class_count)

    def may_beat(self, const uint32_t[::1] entries, double score):
        cdef uint32_t max_class_count = 0xffffffff
        may = self.probe.get().may_beat(&entries[0], len(entries), score, max_class_count)
        return may, max_class_count

    def block_scan(self, const uint32_t[::1] rows, const uint8_t[::1] places, uint64_t boundaries,
                   uint32_t n_missing, uint32_t leaf, double best):
        """(rows on the left, score) of the best candidate above ``best``, or None."""
        cdef BlockRuns runs
        cdef Candidate candidate
        for i in range(64):
            runs.places[i] = places[i] if i < len(places) else 0
        runs.boundaries, runs.n, runs.n_missing = boundaries, len(places), n_missing
        candidate.score = best
        if self.probe.get().block_scan(&rows[0], len(rows), runs, leaf, candidate):
            return candidate.left, candidate.score
        return None

    def block_search(self, const uint32_t[::1] rows, const uint8_t[:, ::1] codes,
                     uint64_t members):
        """(feature, rows on the left, score) of the best candidate and its sides; None: not for
        this kernel.

        ``codes`` are those of the block's rows in each feature, ``members`` the node's rows.
        """
        cdef BlockBest best
        cdef BlockSides sides
        if not self.probe.get().block_search(&codes[0, 0], <uint32_t> codes.shape[0], &rows[0],
                                             <uint32_t> len(rows), members, best, sides):
            return None
        if best.feature == 0xffffffff:
            return (), None
        return ((best.feature, best.n_left, best.score),
                (sides.left, sides.below, sides.above))

    def cells(self, const uint8_t[:, ::1] codes, const uint32_t[::1] slots, uint32_t n_values):
        """[feature, value, item] of features whose codes are in these columns of `codes`."""
        cdef vector[int64_t] cells
        self.probe.get().cells(&codes[0, 0], codes.shape[1], &slots[0], len(slots), n_values, cells)
        return np.array(cells, np.int64).reshape(len(slots), n_values, -1)

    def n_in_series(self, const uint8_t[:, ::1] codes, const uint32_t[::1] slots,
                    uint32_t n_values):
        """How many rows from the first on are counted in series."""
        return self.probe.get().n_in_series(&codes[0, 0], codes.shape[1], &slots[0], len(slots),
                                            n_values)

    def common_class(self):
        """The class of nearly all rows, or None."""
        common = self.probe.get().common_class()
        return common if common >= 0 else None

    def bit_cells(self, const uint64_t[:, ::1] words):
        """[bit, value, item]; the third value is that of missing cells."""
        cdef BitRows bits
        cdef vector[int64_t] cells
        bits.words, bits.n_words = &words[0, 0], words.shape[1]
        self.probe.get().bit_cells(bits, cells)
        return np.array(cells, np.int64).reshape(64 * words.shape[1], 3, -1)

    def screen_bits(self, const uint64_t[:, ::1] words, uint32_t leaf, double floor):
        cdef BitRows bits
        cdef vector[uint32_t] found
        bits.words, bits.n_words = &words[0, 0], words.shape[1]
        self.probe.get().screen_bits(bits, leaf, floor, found)
        return list(found)

    def key_scan(self, const uint32_t[::1] keys, double best):
        """(largest key on the left, score) of the best threshold between keys, padded, or None.

        The rows are in the order of their classes.
        """
        cdef Keys k
        cdef BestKey* found = new BestKey(best)
        k.keys, k.n = &keys[0], self.n
        try:
            self.probe.get().key_scan(k, found[0])
            return (found.limit, found.score) if found.found else None
        finally:
            del found

    def bucket_scan(self, const uint8_t[::1] buckets, const uint32_t[::1] last_keys, n_buckets,
                    const float[::1] x, const uint32_t[::1] rows, double best):
        """The same by the buckets of rows and their values, or without: buckets are values."""
        cdef KeyBuckets k
        cdef BestKey* found = new BestKey(best)
        k.buckets, k.n, k.n_buckets, k.last_keys = &buckets[0], self.n, n_buckets, &last_keys[0]
        k.cells = NULL
        if x is not None:
            k.cells, k.stride, k.rows = &x[0], 1, &rows[0]
        try:
            self.probe.get().key_scan(k, found[0])
            return (found.limit, found.score) if found.found else None
        finally:
            del found

    def light_scan(self, const uint16_t[::1] keys):
        """The same of up to 32 rows, which weigh less than 256 together, by keys of a byte."""
        cdef LightBest found = self.probe.get().light_scan(&keys[0])
        return found.limit, found.score
