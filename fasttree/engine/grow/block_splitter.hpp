// Splits of nodes in a block: subtrees of a few rows, where sets of rows are machine words.
//
// A node of the block is a word of membership bits (`Node::members`). Its runs are picked out of
// the order that the block keeps of each feature, its children are two words: nothing is
// partitioned, sorted or counted. One call per node, so that what it costs is the work on its rows.
#pragma once
#include "engine/core/sampler.hpp"
#include "engine/grow/frontier.hpp"
#include "engine/grow/rules.hpp"
#include "engine/order/block.hpp"

namespace fasttree {

class BlockSplitter {
public:
    virtual ~BlockSplitter() = default;
    // Takes a block; nodes split before are forgotten.
    virtual void open(Block&) = 0;
    // Finds and makes the best split of a node of the block opened last: the children and their
    // values. False if there is none, or the fit was given up.
    virtual bool split(const GrowthRules&, FeatureSampler&, Open&) = 0;
};

}  // namespace fasttree
