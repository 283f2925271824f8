// A feature of a node by keys, and the targets of its rows beside them.
//
// A key is a number in the order of the feature's values (`columns/dense.hpp`). Keys stand in the
// order of the node's rows, which is that of their classes, so that what is known of a class is
// read in one stretch, whatever the feature.
#pragma once
#include <cstdint>

#include "utils/_value.hpp"

namespace fasttree {

// Class and weight of a row, both small: the class in the low byte.
using Label = uint16_t;
constexpr int LABEL_BITS = 8;
constexpr uint32_t MAX_LABEL_WEIGHT = 255;
inline uint32_t label_class(Label label) { return label & 0xffu; }
inline uint32_t label_weight(Label label) { return label >> LABEL_BITS; }

// Vectors may read so many keys, labels and rows behind the last.
constexpr uint32_t KEY_PADDING = 32;

// Keys of a column of many values are the bucket, of so many, and the value's place in it.
constexpr uint32_t MAX_BUCKETS = 256;
constexpr int KEY_SHIFT = 24;

constexpr uint32_t NO_KEY = 0xffffffffu;

// The largest key in a bucket.
inline uint32_t last_key(uint32_t bucket, int shift) {
    return static_cast<uint32_t>(((uint64_t{bucket} + 1) << shift) - 1);
}

struct Keys {
    const uint32_t* keys;   // [n + KEY_PADDING]
    uint32_t n;
    uint32_t n_buckets;     // of key >> shift, at most MAX_BUCKETS
    int shift;              // 0: a bucket is a value

    uint32_t bucket(uint32_t i) const { return keys[i] >> shift; }
};
static_assert(is_value<Keys>);

}  // namespace fasttree
