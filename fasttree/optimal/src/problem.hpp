// The problem as the search sees it: distinct rows of distinct binary features, split into planes.
//
// Features that are constant, equal or complementary to an earlier one are dropped; a feature true
// in more than half of the samples is flipped. Equal rows are merged. Where rows equal in every
// feature have different classes, weight common to all classes is cancelled: every tree errs on
// it alike, so it only adds a constant to the objective. It is kept when leaves have a minimum
// size or weight, because similarity bounds then need every row to have a weight. The errors that
// every tree makes on what is left of such rows (none, with two classes and cancellation) are the
// equivalent-points bound.
#pragma once

#include <algorithm>
#include <bitset>
#include <cstdint>
#include <numeric>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/simd/bits.hpp"
#include "kernels.hpp"
#include "utils/_random.hpp"

namespace fasttree::optimal {

struct Input {
    const uint8_t* columns;  // 0/1, column after column
    ptrdiff_t n_columns;
    ptrdiff_t n_samples;
    const int32_t* classes;  // 0 <= class < n_classes
    const int32_t* weights;  // positive, sum below 2^30
    int32_t n_classes;
};

// What every leaf must hold at least.
struct LeafLimits {
    int32_t n_samples = 1;
    int32_t weight = 1;
};

struct Key {
    uint64_t low = 0, high = 0;
    Key& operator+=(const Key& other) {
        low += other.low;
        high += other.high;
        return *this;
    }
    Key operator-(const Key& other) const { return {low - other.low, high - other.high}; }
};

inline Key random_key(uint64_t id) { return {mix(2 * id, 0), mix(2 * id + 1, 0)}; }

// A plane: entries first..last of one matrix, each worth sign * 2^bit there.
struct Plane {
    int32_t matrix;
    int32_t bit;
    int32_t sign;
    int32_t is_base;  // counts into the base weight: class 1 of two, every class of more
};

class Problem {
  public:
    Problem(const Input& input, LeafLimits limits);

    int n_features = 0;
    ptrdiff_t n_words = 0;  // 64-bit words of a row
    ptrdiff_t stride = 0;   // features, padded
    int n_matrices = 0;     // class matrices: one for two classes, else one per class
    std::vector<int32_t> least;  // of each measure a leaf needs; their matrices come next
    int32_t total_weight = 0;    // after cancellation
    int64_t constant_error = 0;  // of every tree
    std::vector<uint64_t> rows;  // entry-major
    std::vector<Plane> planes;   // by matrix, then falling bit
    std::vector<int32_t> plane_start;
    std::vector<Key> keys;  // per entry
    std::vector<int32_t> conflict;  // errors no tree avoids, on one entry of each row; or empty
    std::vector<int32_t> source;    // input column of a feature
    std::vector<uint8_t> flipped;   // whether it was complemented

    bool is_limited() const { return !least.empty(); }
    int n_all_matrices() const { return n_matrices + static_cast<int>(least.size()); }
    int n_planes() const { return static_cast<int>(planes.size()); }
    ptrdiff_t n_entries() const { return plane_start.back(); }
    bool has(uint32_t entry, int feature) const {
        return rows[entry * n_words + feature / 64] >> (feature % 64) & 1;
    }

  private:
    // Distinct rows: a sample of each, its weight per class, number of samples and conflict.
    struct Groups {
        int32_t n_classes;
        std::vector<ptrdiff_t> sample;
        std::vector<int32_t> weight;  // group-major
        std::vector<int32_t> n_samples;
        std::vector<int32_t> conflict;

        ptrdiff_t count() const { return static_cast<ptrdiff_t>(sample.size()); }
        int32_t* weights(ptrdiff_t group) { return &weight[group * n_classes]; }
    };
    std::vector<uint64_t> choose_features(const Input& input);
    Groups group_rows(const Input& input, const std::vector<uint64_t>& sample_rows);
    void cancel_common_weight(Groups& groups);
    void choose_measures(const Input& input, LeafLimits limits, Groups& groups);
    void make_planes(Groups& groups, const std::vector<uint64_t>& sample_rows);
    std::vector<std::vector<int32_t>> measures_;  // per measure and group, until planes are made
};

inline std::string_view as_bytes(const uint64_t* words, ptrdiff_t n_words) {
    return {reinterpret_cast<const char*>(words), static_cast<size_t>(n_words) * 8};
}

// 64 bytes of zeros and ones as the bits of a word: a product gathers eight at a time.
inline uint64_t pack_bits(const uint8_t* bytes, ptrdiff_t n) {
    uint64_t word = 0;
    for (ptrdiff_t start = 0; start < n; start += 8) {
        uint64_t eight = 0;
        for (ptrdiff_t k = 0; k < std::min<ptrdiff_t>(8, n - start); ++k)
            eight |= static_cast<uint64_t>(bytes[start + k] != 0) << (8 * k);
        word |= (eight * 0x0102040810204080ull >> 56) << start;
    }
    return word;
}

// Transpose a 64 x 64 bit matrix by swapping ever smaller blocks.
inline void transpose_bits(uint64_t* rows) {
    uint64_t mask = 0x00000000ffffffffull;
    for (int width = 32; width > 0; width >>= 1, mask ^= mask << width)
        for (int r = 0; r < 64; r = ((r | width) + 1) & ~width) {
            const uint64_t swapped = ((rows[r] >> width) ^ rows[r | width]) & mask;
            rows[r] ^= swapped << width;
            rows[r | width] ^= swapped;
        }
}

// Distinct informative columns; returns the samples as rows of bits.
inline std::vector<uint64_t> Problem::choose_features(const Input& input) {
    const ptrdiff_t n = input.n_samples;
    const ptrdiff_t n_column_words = (n + 63) / 64;
    std::vector<std::vector<uint64_t>> kept;
    std::unordered_map<std::string_view, int> seen;
    std::vector<uint64_t> bits(n_column_words);
    for (ptrdiff_t c = 0; c < input.n_columns; ++c) {
        ptrdiff_t n_true = 0;
        for (ptrdiff_t w = 0; w < n_column_words; ++w) {
            bits[w] =
                pack_bits(input.columns + c * n + 64 * w, std::min<ptrdiff_t>(64, n - 64 * w));
            n_true += static_cast<ptrdiff_t>(std::bitset<64>(bits[w]).count());
        }
        if (n_true == 0 || n_true == n) continue;
        const bool flip = 2 * n_true > n || (2 * n_true == n && (bits[0] & 1));
        if (flip) {
            for (uint64_t& word : bits) word = ~word;
            if (n % 64) bits.back() &= low_bits(n % 64);
        }
        if (seen.count(as_bytes(bits.data(), n_column_words))) continue;
        kept.push_back(bits);  // its words stay in place, so views of them stay valid
        seen.emplace(as_bytes(kept.back().data(), n_column_words), 0);
        source.push_back(static_cast<int32_t>(c));
        flipped.push_back(flip);
    }
    n_features = static_cast<int>(kept.size());
    n_words = std::max<ptrdiff_t>(1, (n_features + 63) / 64);
    stride = n_words * kFeatureBlock;
    std::vector<uint64_t> sample_rows(n * n_words, 0);
    for (ptrdiff_t block = 0; block < n_column_words; ++block) {
        for (ptrdiff_t w = 0; w < n_words; ++w) {
            uint64_t square[64] = {};
            for (ptrdiff_t f = 64 * w; f < std::min<ptrdiff_t>(n_features, 64 * w + 64); ++f)
                square[f - 64 * w] = kept[f][block];
            transpose_bits(square);
            for (ptrdiff_t s = 64 * block; s < std::min(n, 64 * block + 64); ++s)
                sample_rows[s * n_words + w] = square[s - 64 * block];
        }
    }
    return sample_rows;
}

inline Problem::Groups Problem::group_rows(const Input& input,
                                           const std::vector<uint64_t>& sample_rows) {
    std::unordered_map<std::string_view, ptrdiff_t> index;
    Groups groups;
    groups.n_classes = input.n_classes;
    for (ptrdiff_t s = 0; s < input.n_samples; ++s) {
        const auto [it, is_new] =
            index.emplace(as_bytes(&sample_rows[s * n_words], n_words), groups.count());
        if (is_new) {
            groups.sample.push_back(s);
            groups.weight.resize(groups.weight.size() + input.n_classes, 0);
            groups.n_samples.push_back(0);
        }
        groups.weights(it->second)[input.classes[s]] += input.weights[s];
        groups.n_samples[it->second] += 1;
    }
    return groups;
}

inline void Problem::cancel_common_weight(Groups& groups) {
    for (ptrdiff_t g = 0; g < groups.count(); ++g) {
        int32_t* weight = groups.weights(g);
        const int32_t common = *std::min_element(weight, weight + groups.n_classes);
        for (int c = 0; c < groups.n_classes; ++c) weight[c] -= common;
        constant_error += static_cast<int64_t>(common) * (groups.n_classes - 1);
    }
}

// Each weight is cut into its bits: one entry in the plane of every bit that is set.
inline void Problem::make_planes(Groups& groups, const std::vector<uint64_t>& sample_rows) {
    for (ptrdiff_t g = 0; g < groups.count(); ++g) {
        const int32_t* weight = groups.weights(g);
        const int32_t sum = std::accumulate(weight, weight + groups.n_classes, 0);
        groups.conflict.push_back(sum - *std::max_element(weight, weight + groups.n_classes));
        total_weight += sum;
    }
    const bool has_conflicts =
        std::any_of(groups.conflict.begin(), groups.conflict.end(), [](int32_t c) { return c; });
    auto add_plane = [&](const Plane& plane, auto value_of) {
        const size_t before = keys.size();
        for (ptrdiff_t g = 0; g < groups.count(); ++g) {
            if (!(value_of(g) >> plane.bit & 1)) continue;
            const uint64_t* row = &sample_rows[groups.sample[g] * n_words];
            rows.insert(rows.end(), row, row + n_words);
            keys.push_back(random_key(keys.size()));
            if (has_conflicts) conflict.push_back(std::exchange(groups.conflict[g], 0));
        }
        if (keys.size() == before) return;
        planes.push_back(plane);
        plane_start.push_back(static_cast<int32_t>(keys.size()));
    };
    plane_start.assign(1, 0);
    const bool is_two = n_matrices == 1;
    for (int m = 0; m < n_matrices; ++m) {
        for (int bit = 30; bit >= 0; --bit) {
            for (int c = is_two ? 0 : m; c < (is_two ? 2 : m + 1); ++c)
                add_plane({m, bit, is_two && c == 0 ? -1 : 1, !is_two || c == 1},
                          [&](ptrdiff_t g) { return groups.weights(g)[c]; });
        }
    }
    for (size_t m = 0; m < measures_.size(); ++m)
        for (int bit = 30; bit >= 0; --bit)
            add_plane({n_matrices + static_cast<int32_t>(m), bit, 1, 0},
                      [&](ptrdiff_t g) { return measures_[m][g]; });
    measures_.clear();
}

// The limits that are not implied by the other one. A limit above half of the whole forbids every
// split, whatever its value: it is lowered to one that any counter of the whole can hold.
inline void Problem::choose_measures(const Input& input, LeafLimits limits, Groups& groups) {
    const auto [lightest, heaviest] =
        std::minmax_element(input.weights, input.weights + input.n_samples);
    if ((static_cast<int64_t>(limits.weight) + *heaviest - 1) / *heaviest >= limits.n_samples)
        limits.n_samples = 1;
    if (static_cast<int64_t>(limits.n_samples) * *lightest >= limits.weight) limits.weight = 1;
    auto add_measure = [&](int32_t limit, std::vector<int32_t> values) {
        if (limit <= 1) return;
        const int32_t whole = std::accumulate(values.begin(), values.end(), 0);
        least.push_back(std::min(limit, whole / 2 + 1));
        measures_.push_back(std::move(values));
    };
    std::vector<int32_t> weights(groups.count());
    for (ptrdiff_t g = 0; g < groups.count(); ++g)
        weights[g] = std::accumulate(groups.weights(g), groups.weights(g) + groups.n_classes, 0);
    add_measure(limits.n_samples, std::move(groups.n_samples));
    add_measure(limits.weight, std::move(weights));
}

inline Problem::Problem(const Input& input, LeafLimits limits)
    : n_matrices(input.n_classes == 2 ? 1 : input.n_classes) {
    const std::vector<uint64_t> sample_rows = choose_features(input);
    Groups groups = group_rows(input, sample_rows);
    choose_measures(input, limits, groups);
    if (!is_limited()) cancel_common_weight(groups);
    make_planes(groups, sample_rows);
}

}  // namespace fasttree::optimal
