// A split of a node that is grown in a single call with all that is below it.
#pragma once
#include "engine/core/split.hpp"
#include "engine/grow/nodes.hpp"
#include "engine/grow/rules.hpp"

namespace fasttree {

// Takes a node's split and its children, with their values, into the store. False, and nothing is
// taken, if the rules do not accept the split.
template <class Value>
FASTTREE_INLINE inline bool keep_split(const GrowthRules& rules, const Node& node,
                                       const Split& split, Node& left, const Value& left_value,
                                       Node& right, const Value& right_value, NodeStore& store) {
    if (!rules.accepts_all()
        && !rules.accepts(rules.improvement(node.stats, left.stats, right.stats))) {
        return false;
    }
    left.record = store.append(left, left_value);
    right.record = store.append(right, right_value);
    store.set_split(node.record, split, left.record);
    return true;
}

}  // namespace fasttree
