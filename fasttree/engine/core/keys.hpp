// A feature of a node by keys, and the targets of its rows beside them.
//
// A key is a number in the order of the feature's values: the code of a value, where they are few,
// or the value itself as a whole number (`float_key`). Keys and buckets stand in the order of the
// node's rows, which is that of their classes, so that what is known of a class is read in one
// stretch, whatever the feature.
#pragma once
#include <cstddef>
#include <cstdint>

#include "engine/core/ties.hpp"
#include "engine/simd/sorting.hpp"
#include "utils/_value.hpp"

namespace fasttree {

// Class and weight of a row, both small: the class in the low byte.
using Label = uint16_t;
constexpr int LABEL_BITS = 8;
constexpr uint32_t MAX_LABEL_WEIGHT = 255;
inline uint32_t label_class(Label label) { return label & 0xffu; }
inline uint32_t label_weight(Label label) { return label >> LABEL_BITS; }

// Vectors may read so many keys, buckets, labels and rows behind the last.
constexpr uint32_t KEY_PADDING = 64;

// Rows whose keys are compared with each other, at most.
constexpr uint32_t MOST_COMPARED = 128;
// Buckets of a column, at most.
constexpr uint32_t MAX_BUCKETS = 256;

constexpr uint32_t NO_KEY = 0xffffffffu;

// The keys of few rows.
struct Keys {
    const uint32_t* keys;  // [n + KEY_PADDING]
    uint32_t n;
};
static_assert(is_value<Keys>);

// The buckets of many rows, and the values inside: that of the i-th row is
// cells[rows[i] * stride], a number.
struct KeyBuckets {
    const uint8_t* buckets;     // [n + KEY_PADDING]
    uint32_t n;
    uint32_t n_buckets;
    const uint32_t* last_keys;  // [n_buckets + KEY_PADDING] the largest key in each
    const float* cells;         // null: a bucket is a value, and its number the key
    ptrdiff_t stride;
    const uint32_t* rows;

    bool are_values() const { return cells == nullptr; }
    // Whether a bucket has room for one key only.
    bool holds_one_key(uint32_t bucket) const {
        return bucket > 0 && last_keys[bucket] - last_keys[bucket - 1] == 1;
    }
    // Of a row, unless buckets are values.
    uint32_t key(uint32_t i) const {
        return float_key(cells[static_cast<ptrdiff_t>(rows[i]) * stride]);
    }
};
static_assert(is_value<KeyBuckets>);

// The best threshold so far, of equal ones that at the lowest key. Takes what scores more than the
// score that it begins with.
struct BestKey {
    double score;
    double bar;          // what scores no more is worth nothing
    uint32_t limit = 0;  // the largest key on the left
    bool found = false;

    explicit BestKey(double to_beat) : score(to_beat), bar(to_beat) {}

    void take(double other, uint32_t key) {
        if (!(other > score) && !(found && other == score && key < limit)) return;
        score = other;
        bar = just_below(other);
        limit = key;
        found = true;
    }
};

}  // namespace fasttree
