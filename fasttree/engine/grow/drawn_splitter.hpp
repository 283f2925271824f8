// Splits of nodes by drawn questions: subtrees of a dense sample that are grown where their rows
// are.
//
// Of each feature looked at a node gathers its values, draws a question, and counts one side; no
// order of rows is kept.
#pragma once
#include "engine/grow/subtree_splitter.hpp"
#include "engine/order/sample.hpp"

namespace fasttree {

class DrawnSplitter : public SubtreeSplitter {
public:
    // The rows below the root are divided by it only from now on. Nodes look at n_looked
    // features.
    virtual void open(DenseSample&, const Node& root, uint32_t n_looked) = 0;
};

}  // namespace fasttree
