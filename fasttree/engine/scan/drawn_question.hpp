// The question of the random splitter: a threshold drawn between the node's extremes, or a draw
// among its categories.
#pragma once
#include <cstdint>

#include "engine/core/sampler.hpp"
#include "engine/core/split.hpp"
#include "engine/scan/random_categories.hpp"
#include "engine/simd/gather.hpp"

namespace fasttree {

// Between the extremes of a feature that varies.
template <class Sampler>
FASTTREE_INLINE inline double draw_between(Sampler& sampler, uint64_t key, uint32_t feature,
                                           float low, float high) noexcept {
    const double threshold = sampler.threshold(key, feature, low, high);
    // Of zeros either may be the lowest: the threshold is the positive one.
    return threshold == high ? low + 0.0 : threshold;
}
// False if the feature is constant in the node.
template <class Sampler>
FASTTREE_INLINE inline bool draw_threshold(Sampler& sampler, const Node& node, uint32_t feature,
                                           const Extremes& extremes, bool replay,
                                           Split& out) noexcept {
    out.has_missing = extremes.n_missing > 0;
    if (extremes.n_missing == node.size()) return false;
    if (!out.has_missing) {
        const bool is_constant = replay ? are_near(extremes.low, extremes.high)
                                        : extremes.low == extremes.high;
        if (is_constant) return false;
    }
    out.question = THRESHOLD;
    out.threshold = draw_between(sampler, node.key, feature, extremes.low, extremes.high);
    out.missing_left = out.has_missing && sampler.missing_left(node.key, feature);
    return true;
}

// The same of a column with categories: about its numbers, whose extremes are given by a call, or
// about its categories.
template <class Sampler, class GetExtremes>
bool draw_on_categories(Sampler& sampler, const Node& node, uint32_t feature, const float* cells,
                        const Limits& limits, GetExtremes extremes, Split& out) {
    const CategoryDraw draw(cells, node.size(), mix(mix(node.key, ~uint64_t{feature}), 2));
    if (draw.is_constant()) return false;
    if (draw.is_about_categories()) {
        draw.ask(limits.category_sets, out);
        return true;
    }
    if (!draw_threshold(sampler, node, feature, extremes(), limits.replay, out)) return false;
    if (!draw.numbers_vary()) out.missing_left = false;  // "is a number"
    return true;
}

// Completes the split of a question drawn, whose candidate is better than all before.
inline void settle_drawn(const Candidate& candidate, uint32_t feature, uint32_t n, Split& drawn) {
    drawn.score = candidate.score;
    drawn.feature = feature;
    drawn.row_below = NO_ROW;
    drawn.n_left = candidate.n_left;
    if (!drawn.has_missing) drawn.missing_left = candidate.n_left > n - candidate.n_left;
    drawn.middle = candidate.middle;
}

}  // namespace fasttree
