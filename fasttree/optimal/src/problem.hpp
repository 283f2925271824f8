// The problem as the search sees it: distinct rows of distinct binary features, split into planes.
//
// Features that are constant, equal or complementary to an earlier one are dropped; a feature true
// in more than half of the samples is flipped. Equal rows are merged. Where rows equal in every
// feature have different classes, weight common to all classes is cancelled: every tree errs on
// it alike, so it only adds a constant to the objective. It is kept when leaves have a minimum
// size, because similarity bounds then need every row to have a weight. The errors that every tree
// makes on what is left of such rows (none, with two classes and cancellation) are the
// equivalent-points bound.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kernels.hpp"

namespace fasttree::optimal {

struct Input {
    const uint8_t* columns;  // 0/1, column after column
    ptrdiff_t n_columns;
    ptrdiff_t n_samples;
    const int32_t* classes;  // 0 <= class < n_classes
    const int32_t* weights;  // positive, sum below 2^30
    int32_t n_classes;
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

// splitmix64: a bijection of 64-bit words whose outputs look independent.
inline uint64_t mix(uint64_t x) {
    x += 0x9e3779b97f4a7c15ull;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

inline Key random_key(uint64_t id) { return {mix(2 * id), mix(2 * id + 1)}; }

// A plane: entries first..last of one matrix, each worth sign * 2^bit there.
struct Plane {
    int32_t matrix;
    int32_t bit;
    int32_t sign;
    int32_t is_base;  // counts into the base weight: class 1 of two, every class of more
};

class Problem {
  public:
    Problem(const Input& input, int32_t min_leaf);

    int n_features = 0;
    ptrdiff_t n_words = 0;  // 64-bit words of a row
    ptrdiff_t stride = 0;   // features, padded
    int n_matrices = 0;     // class matrices: one for two classes, else one per class
    bool is_sized = false;  // there is a matrix of sample numbers after them
    int32_t min_leaf = 1;
    int32_t total_weight = 0;    // after cancellation
    int64_t constant_error = 0;  // of every tree
    std::vector<uint64_t> rows;  // entry-major
    std::vector<Plane> planes;   // by matrix, then falling bit
    std::vector<int32_t> plane_start;
    std::vector<Key> keys;  // per entry
    std::vector<int32_t> conflict;  // errors no tree avoids, on one entry of each row; or empty
    std::vector<int32_t> source;    // input column of a feature
    std::vector<uint8_t> flipped;   // whether it was complemented

    int n_planes() const { return static_cast<int>(planes.size()); }
    ptrdiff_t n_entries() const { return plane_start.back(); }
    bool has(uint32_t entry, int feature) const {
        return rows[entry * n_words + feature / 64] >> (feature % 64) & 1;
    }

  private:
    struct Group {
        ptrdiff_t sample;
        std::vector<int32_t> class_weight;
        int32_t size;
        int32_t conflict;
    };
    std::vector<uint64_t> choose_features(const Input& input);
    static int32_t conflict_of(const Group& group) {
        const auto& weight = group.class_weight;
        return std::accumulate(weight.begin(), weight.end(), 0) -
               *std::max_element(weight.begin(), weight.end());
    }
    std::vector<Group> group_rows(const Input& input, const std::vector<uint64_t>& sample_rows);
    void make_planes(std::vector<Group> groups, const std::vector<uint64_t>& sample_rows,
                     int32_t n_classes);
};

inline std::string_view as_bytes(const uint64_t* words, ptrdiff_t n_words) {
    return {reinterpret_cast<const char*>(words), static_cast<size_t>(n_words) * 8};
}

// Distinct informative columns; returns the samples as rows of bits.
inline std::vector<uint64_t> Problem::choose_features(const Input& input) {
    const ptrdiff_t n = input.n_samples;
    const ptrdiff_t n_column_words = (n + 63) / 64;
    std::vector<std::vector<uint64_t>> kept;
    std::unordered_map<std::string_view, int> seen;
    for (ptrdiff_t c = 0; c < input.n_columns; ++c) {
        const uint8_t* column = input.columns + c * n;
        std::vector<uint64_t> bits(n_column_words, 0);
        ptrdiff_t n_true = 0;
        for (ptrdiff_t s = 0; s < n; ++s) {
            bits[s / 64] |= static_cast<uint64_t>(column[s] != 0) << (s % 64);
            n_true += column[s] != 0;
        }
        if (n_true == 0 || n_true == n) continue;
        const bool flip = 2 * n_true > n || (2 * n_true == n && (bits[0] & 1));
        if (flip) {
            for (uint64_t& word : bits) word = ~word;
            if (n % 64) bits.back() &= (uint64_t{1} << (n % 64)) - 1;
        }
        const int next = static_cast<int>(kept.size());
        if (!seen.emplace(as_bytes(bits.data(), n_column_words), next).second) continue;
        kept.push_back(std::move(bits));  // its words stay in place, so the map's view stays valid
        source.push_back(static_cast<int32_t>(c));
        flipped.push_back(flip);
    }
    n_features = static_cast<int>(kept.size());
    n_words = std::max<ptrdiff_t>(1, (n_features + 63) / 64);
    stride = n_words * 64;
    std::vector<uint64_t> sample_rows(n * n_words, 0);
    for (int f = 0; f < n_features; ++f)
        for (ptrdiff_t s = 0; s < n; ++s)
            sample_rows[s * n_words + f / 64] |= (kept[f][s / 64] >> (s % 64) & 1) << (f % 64);
    return sample_rows;
}

inline std::vector<Problem::Group> Problem::group_rows(const Input& input,
                                                       const std::vector<uint64_t>& sample_rows) {
    std::unordered_map<std::string_view, int> index;
    std::vector<Group> groups;
    for (ptrdiff_t s = 0; s < input.n_samples; ++s) {
        const auto [it, is_new] = index.emplace(as_bytes(&sample_rows[s * n_words], n_words),
                                                static_cast<int>(groups.size()));
        if (is_new) groups.push_back({s, std::vector<int32_t>(input.n_classes, 0), 0, 0});
        Group& group = groups[it->second];
        group.class_weight[input.classes[s]] += input.weights[s];
        group.size += 1;
    }
    if (is_sized) return groups;
    for (Group& group : groups) {
        auto& weight = group.class_weight;
        const int32_t common = *std::min_element(weight.begin(), weight.end());
        for (int32_t& w : weight) w -= common;
        constant_error += static_cast<int64_t>(common) * (input.n_classes - 1);
    }
    return groups;
}

inline void Problem::make_planes(std::vector<Group> groups,
                                 const std::vector<uint64_t>& sample_rows, int32_t n_classes) {
    std::vector<int32_t> conflicts;
    // Contributions of (matrix, class) as (group, value) pairs, cut into the bits of the values.
    auto add_planes = [&](int matrix, auto value_of, const std::vector<int>& classes) {
        for (int bit = 30; bit >= 0; --bit) {
            for (int c : classes) {
                const ptrdiff_t before = static_cast<ptrdiff_t>(keys.size());
                for (Group& group : groups) {
                    if (!(value_of(group, c) >> bit & 1)) continue;
                    conflicts.push_back(std::exchange(group.conflict, 0));
                    const uint64_t* row = &sample_rows[group.sample * n_words];
                    rows.insert(rows.end(), row, row + n_words);
                    keys.push_back(random_key(keys.size()));
                }
                if (before == static_cast<ptrdiff_t>(keys.size())) continue;
                const bool is_two = n_matrices == 1;
                const bool is_class = matrix < n_matrices;
                planes.push_back({matrix, bit, is_two && is_class && c == 0 ? -1 : 1,
                                  is_class && (!is_two || c == 1)});
                plane_start.push_back(static_cast<int32_t>(keys.size()));
            }
        }
    };
    plane_start.assign(1, 0);
    for (Group& group : groups) group.conflict = conflict_of(group);
    auto class_weight = [](const Group& group, int c) { return group.class_weight[c]; };
    if (n_matrices == 1) {
        add_planes(0, class_weight, {0, 1});
    } else {
        for (int c = 0; c < n_classes; ++c) add_planes(c, class_weight, {c});
    }
    if (is_sized) add_planes(n_matrices, [](const Group& g, int) { return g.size; }, {0});
    for (const Group& group : groups)
        total_weight += std::accumulate(group.class_weight.begin(), group.class_weight.end(), 0);
    if (std::any_of(conflicts.begin(), conflicts.end(), [](int32_t c) { return c > 0; }))
        conflict = std::move(conflicts);
}

inline Problem::Problem(const Input& input, int32_t min_leaf_)
    : n_matrices(input.n_classes == 2 ? 1 : input.n_classes),
      is_sized(min_leaf_ > 1),
      min_leaf(min_leaf_) {
    const std::vector<uint64_t> sample_rows = choose_features(input);
    make_planes(group_rows(input, sample_rows), sample_rows, input.n_classes);
}

}  // namespace fasttree::optimal
