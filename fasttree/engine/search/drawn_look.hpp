// A look at a feature of a node by a drawn question, whatever its columns.
#pragma once
#include <cstdint>
#include <utility>

#include "engine/core/sampler.hpp"
#include "engine/core/split.hpp"
#include "engine/scan/drawn_question.hpp"
#include "engine/search/node_columns.hpp"

namespace fasttree {

// Draws a question about the feature and makes it the best split, if it scores more. True if the
// feature is constant in the node.
inline bool look_at_drawn(NodeColumns& columns, FeatureSampler& sampler, const Ties& ties,
                          const Node& node, uint32_t feature, Limits limits, Split& best) {
    const auto extremes = [&] { return columns.extremes(node, feature); };
    const float* cells = columns.category_cells(node, feature);
    Split drawn;
    const bool varies = cells != nullptr
        ? draw_on_categories(sampler, node, feature, cells, limits, extremes, drawn)
        : draw_threshold(sampler, node, feature, extremes(), limits.replay, drawn);
    if (!varies) return true;
    limits.is_drawn = true;
    Candidate candidate;
    candidate.score = ties.to_beat(best.score, best.feature, feature);
    if (!columns.scan_drawn(node, feature, drawn, limits, candidate)) return false;
    settle_drawn(candidate, feature, node.size(), drawn);
    best = std::move(drawn);
    return false;
}

}  // namespace fasttree
