// The searcher of an accumulator.
#pragma once
#include <memory>
#include <utility>

#include "engine/criteria/searchers.hpp"
#include "engine/grow/block_splitter_of.hpp"
#include "engine/grow/drawn_splitter_of.hpp"
#include "engine/grow/key_splitter_of.hpp"
#include "engine/scan/scan.hpp"

namespace fasttree {

template <class Acc>
Searcher make_searcher(const Targets& targets) {
    auto scanner = std::make_unique<ScannerOf<Acc>>(targets);
    auto block_splitter = std::make_unique<BlockSplitterOf<Acc>>(*scanner);
    auto drawn_splitter = std::make_unique<DrawnSplitterOf<Acc>>(*scanner, targets.simd);
    auto key_splitter = make_key_splitter(*scanner);
    return {std::move(scanner), std::move(block_splitter), std::move(drawn_splitter),
            std::move(key_splitter)};
}

}  // namespace fasttree
