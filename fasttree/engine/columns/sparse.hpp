// A sparse matrix (CSC) as the engine reads it, for both strategies of sparse columns.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "engine/columns/encoded_rows.hpp"
#include "engine/core/nonzeros.hpp"
#include "engine/simd/bits.hpp"
#include "engine/simd/rank_sort.hpp"
#include "engine/simd/simd.hpp"
#include "engine/simd/sorting.hpp"
#include "utils/_aligned_buffer.hpp"
#include "utils/_crew.hpp"

namespace fasttree {

class SparseData {
public:
    const float* values;
    const int32_t* indices;
    const int64_t* indptr;
    const uint32_t n_rows, n_features;  // of X
    Rows rows;                          // of positive weight

    SparseData(const float* values_, const int32_t* indices_, const int64_t* indptr_,
               uint32_t n_rows_, uint32_t n_features_)
        : values(values_), indices(indices_), indptr(indptr_), n_rows(n_rows_),
          n_features(n_features_) {}

    // Rows, ascending; none: all rows of X.
    void take_rows(Rows sample, Crew& crew) {
        rows = named_rows(std::move(sample), n_rows, crew);
    }

    SparseView column(uint32_t feature) const {
        const int64_t first = indptr[feature], last = indptr[feature + 1];
        return {values + first, indices + first, static_cast<uint32_t>(last - first)};
    }
    float value(uint32_t row, uint32_t feature) const noexcept {
        return column(feature).value(row);
    }

    // Whether the pointers ascend to at most n_nonzero and the indices of each column are rows in
    // ascending order.
    bool is_valid(size_t n_nonzero) const noexcept {
        bool ascends = indptr[0] == 0;
        for (uint32_t f = 0; f < n_features; ++f) ascends &= indptr[f] <= indptr[f + 1];
        if (!ascends || indptr[n_features] > static_cast<int64_t>(n_nonzero)) return false;
        // One pass in vectors over all indices; they may fall where a column begins.
        const int64_t n = indptr[n_features];
        const int32_t last = static_cast<int32_t>(std::min<uint32_t>(n_rows, INT32_MAX)) - 1;
        int32_t outside = n > 0 && (indices[0] < 0 || indices[0] > last);
        int64_t n_falling = 0;
        for (int64_t i = 1; i < n; ++i) {
            outside |= (indices[i] < 0) | (indices[i] > last);
            n_falling += indices[i] <= indices[i - 1];
        }
        for (uint32_t f = 1; f < n_features; ++f) {
            const int64_t first = indptr[f];
            if (first == indptr[f + 1] || first == 0) continue;
            n_falling -= indices[first] <= indices[first - 1];
        }
        return outside == 0 && n_falling == 0;
    }
};

// Keys in the order of a column's entries: negatives ascending, missing, positives descending.
constexpr uint32_t MISSING_OUTER_KEY = 0x80000000u;

inline uint32_t outer_key(float x) {
    const uint32_t key = float_key(x);
    return key & 0x80000000u ? ~key | 0x80000000u : key;
}
inline float outer_value(uint32_t key) {
    const uint32_t bits = key & 0x80000000u ? ~key & 0x7fffffffu : ~key;
    float x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
}

// Nonzeros of a column gathered to be sorted, and scratch for it.
class NonzeroSorter {
    const Simd simd_;
    AlignedBuffer<uint64_t> items_, scratch_;

public:
    explicit NonzeroSorter(Simd simd) : simd_(simd) {}

    void reserve(size_t n) {
        items_.reserve(n + RANK_SORT_PADDING);
        scratch_.reserve(n + RANK_SORT_PADDING);
    }
    // Puts a row of a value in place i.
    void put(uint32_t i, float value, uint32_t row) { items_[i] = pack(outer_key(value), row); }
    // Puts the rows of a column that `here` has a bit of, but for zeros; returns their number.
    uint32_t put_present(const SparseView& column, bool positive, const uint32_t* here) {
#if FASTTREE_X86
        if (simd_ == SIMD_AVX512 && positive) return put_positive_avx512(column, here);
#endif
        uint32_t n = 0;
        for (uint32_t place = 0; place < column.n; ++place) {
            const uint32_t row = static_cast<uint32_t>(column.rows[place]);
            put(n, column.values[place], row);
            n += get_bit(here, row) & (column.values[place] != 0.0f);
        }
        return n;
    }
    uint32_t row(uint32_t i) const { return payload_of(items_[i]); }
    float value(uint32_t i) const noexcept { return outer_value(key_of(items_[i])); }

    // Writes the rows of the first n places in the order of their values.
    void write_sorted(uint32_t n, uint32_t* entries) {
        const uint64_t* sorted = sort_by_key(simd_, items_.get(), scratch_.get(), n);
        uint32_t previous = n > 0 ? ~key_of(sorted[0]) : 0;
        for (uint32_t i = 0; i < n; ++i) {
            const uint32_t key = key_of(sorted[i]);
            entries[i] = payload_of(sorted[i]) | (key != previous ? BOUNDARY : 0);
            previous = key;
        }
    }

private:
#if FASTTREE_X86
    FASTTREE_AVX512 uint32_t put_positive_avx512(const SparseView& column, const uint32_t* here) {
        constexpr uint32_t LANES = 16, HALF = 8;
        static_assert(HALF <= RANK_SORT_PADDING, "a vector is written behind the last item");
        const __m512i top = _mm512_set1_epi32(static_cast<int>(MISSING_OUTER_KEY));
        uint64_t* out = items_.get();
        for (uint32_t i = 0; i < column.n; i += LANES) {
            const uint32_t lanes = column.n - i < LANES ? (1u << (column.n - i)) - 1 : 0xffffu;
            const __mmask16 k = static_cast<__mmask16>(lanes);
            const __m512i row = _mm512_maskz_loadu_epi32(k, column.rows + i);
            const __m512i bits = _mm512_maskz_loadu_epi32(k, column.values + i);
            const uint32_t present =  // and not zero, of either sign
                get_bits_avx512(here, row, lanes)
                & _mm512_test_epi32_mask(bits, _mm512_set1_epi32(0x7fffffff));
            const __m512i key = _mm512_or_si512(_mm512_xor_si512(bits, _mm512_set1_epi32(-1)), top);
            for (uint32_t half = 0; half < 2; ++half) {
                const __m256i rows = half == 0 ? _mm512_castsi512_si256(row)
                                               : _mm512_extracti64x4_epi64(row, 1);
                const __m256i keys = half == 0 ? _mm512_castsi512_si256(key)
                                               : _mm512_extracti64x4_epi64(key, 1);
                const __m512i item =
                    _mm512_or_si512(_mm512_slli_epi64(_mm512_cvtepu32_epi64(keys), 32),
                                    _mm512_cvtepu32_epi64(rows));
                const __mmask8 mask = static_cast<__mmask8>(present >> half * HALF);
                _mm512_storeu_si512(out, _mm512_maskz_compress_epi64(mask, item));
                out += __builtin_popcount(mask);
            }
        }
        return static_cast<uint32_t>(out - items_.get());
    }
#endif
};

// The rows of a node of which those on one side of a threshold are listed as one run; zeros are
// on the other side, or there are none. `listed` holds the result.
inline Nonzeros listed_side(const Nonzeros& nonzeros, uint32_t n_values_left, bool missing_left,
                            std::vector<uint32_t>& listed) {
    const bool left = n_values_left <= nonzeros.n_negative;
    const uint32_t n_values = left ? n_values_left : nonzeros.n_values() - n_values_left;
    const uint32_t* from = left ? nonzeros.entries : nonzeros.positives();
    listed.clear();
    for (uint32_t i = 0; i < n_values; ++i) listed.push_back(from[i] & ROW);
    for (uint32_t i = 0; i < nonzeros.n_missing && missing_left == left; ++i) {
        listed.push_back(nonzeros.missing()[i] & ROW);
    }
    const uint32_t n = static_cast<uint32_t>(listed.size());
    return {listed.data(), nonzeros.n, left ? n : 0, 0, left ? 0 : n, nonzeros.column};
}

}  // namespace fasttree
