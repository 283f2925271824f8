// Splits of nodes in a block: subtrees of a few rows, where sets of rows are machine words.
//
// A node of the block is a word of membership bits (`Node::members`). Its runs are picked out of
// the order that the block keeps of each feature, its children are two words: nothing is
// partitioned, sorted or counted.
#pragma once
#include "engine/grow/subtree_splitter.hpp"
#include "engine/order/block.hpp"

namespace fasttree {

class BlockSplitter : public SubtreeSplitter {
public:
    // Nodes split before are forgotten.
    virtual void open(Block&) = 0;
};

}  // namespace fasttree
