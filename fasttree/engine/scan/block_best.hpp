// The best candidate of a block's node in all features, and ways to part few rows.
#pragma once
#include <cstdint>

#include "engine/order/block_ranks.hpp"

namespace fasttree {

// Rows that are few enough to score all ways to part them.
constexpr uint32_t FEW_ROWS = 5;

struct BlockBest {
    double score;
    uint32_t feature = NO_FEATURE;
    uint32_t n_left;  // rows
    uint8_t below;    // with AVX2: the place of a row on the left that has the highest value
};

// The sums of a node's rows.
struct BlockTotals {
    int64_t sum = 0, weight = 0;

    BlockTotals operator-(const BlockTotals& other) const {
        return {sum - other.sum, weight - other.weight};
    }
};

// By D and the weights on the left and of the node.
inline double score_of(int64_t difference, int64_t w_left, int64_t weight) {
    const double d = static_cast<double>(difference), left = static_cast<double>(w_left);
    return d * d / (left * (static_cast<double>(weight) - left));
}

#if FASTTREE_X86
// Takes a way to part n rows, bit by bit, if its feature is lower than those found before. Returns
// whether it does.
inline bool take_way(const SeparatingFeature& found, uint64_t way, uint32_t n, BlockBest& best) {
    const uint32_t n_in = static_cast<uint32_t>(__builtin_popcountll(way));
    const uint32_t n_left = found.is_below ? n_in : n - n_in;
    if (found.feature == NO_FEATURE || found.feature > best.feature) return false;
    if (found.feature == best.feature && n_left >= best.n_left) return false;
    best.feature = found.feature;
    best.n_left = n_left;
    return true;
}
#endif

}  // namespace fasttree
