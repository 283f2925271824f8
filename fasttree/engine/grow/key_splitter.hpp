// Splits of nodes whose features are searched by keys, with labels beside their rows.
//
// The scanner and the columns are known to the compiler, and a node is begun once: one of few rows
// costs little more than the comparison of their keys.
#pragma once
#include "engine/grow/subtree_splitter.hpp"
#include "engine/search/keyed_columns.hpp"

namespace fasttree {

class KeySplitter : public SubtreeSplitter {
public:
    virtual void open(KeyedNodeColumns&) = 0;
};

}  // namespace fasttree
