// Splits of nodes by drawn questions: subtrees of a dense sample that are grown where their rows
// are.
//
// Of each feature looked at a node gathers its values, draws a question, and counts one side; no
// order of rows is kept. One call per node, so that what it costs is the work on its rows.
#pragma once
#include "engine/core/sampler.hpp"
#include "engine/grow/frontier.hpp"
#include "engine/grow/rules.hpp"
#include "engine/order/sample.hpp"

namespace fasttree {

class DrawnSplitter {
public:
    virtual ~DrawnSplitter() = default;
    // Takes a node and what is below it, whose rows are divided by `split` only from now on.
    virtual void open(DenseSample&, const Node&) = 0;
    // Draws and makes the split of such a node: the children and their values. False if there is
    // none, or the fit was given up.
    virtual bool split(const GrowthRules&, FeatureSampler&, Open&) = 0;
};

}  // namespace fasttree
