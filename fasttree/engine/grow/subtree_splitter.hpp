// Growth of subtrees in one place: one call for all of it, or one per node, so that what a node
// costs is the work on its rows.
#pragma once
#include "engine/core/sampler.hpp"
#include "engine/grow/frontier.hpp"
#include "engine/grow/rules.hpp"

namespace fasttree {

// `open`, of those below, takes the root of such a subtree.
class SubtreeSplitter {
public:
    virtual ~SubtreeSplitter() = default;
    // Finds, or draws, and makes the split of a node of the subtree opened last: the children and
    // their values. False if there is none, or the fit was given up.
    virtual bool split(const GrowthRules&, FeatureSampler&, Open&) = 0;
    // Grows all that is below a node of it; false where it can be done node by node only.
    virtual bool grow(const GrowthRules&, FeatureSampler&, const Node&, NodeStore&) {
        return false;
    }
};

}  // namespace fasttree
