// What searches for splits by a criterion, specialised for the targets at hand. Every criterion is
// compiled on its own; registry.hpp names them.
#pragma once
#include <memory>

#include "engine/grow/block_splitter.hpp"
#include "engine/grow/drawn_splitter.hpp"
#include "engine/grow/key_splitter.hpp"
#include "engine/scan/scanner.hpp"

namespace fasttree {

struct Searcher {
    std::unique_ptr<Scanner> scanner;
    // The scanner's accumulator is also theirs.
    std::unique_ptr<BlockSplitter> block_splitter;
    std::unique_ptr<DrawnSplitter> drawn_splitter;
    std::unique_ptr<KeySplitter> key_splitter;  // none if rows have no labels
};
static_assert(is_value<Searcher>);

}  // namespace fasttree
