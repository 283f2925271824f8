// The registry of criteria: one line makes a criterion known.
//
// A criterion's file, criteria/<name>.cpp, chooses the instance of its accumulator that suits the
// targets. It is compiled because its name stands here: engine/meson.build reads the lines.
#pragma once
#include <stdexcept>
#include <string>
#include <string_view>

#include "engine/criteria/searchers.hpp"

#define FASTTREE_CRITERIA(ENTRY) \
    ENTRY(absolute_error) \
    ENTRY(chi_square) \
    ENTRY(entropy) \
    ENTRY(gini) \
    ENTRY(poisson) \
    ENTRY(squared_error) \
    ENTRY(target_split)

namespace fasttree {

#define FASTTREE_DECLARE(name) Searcher make_##name(const Targets&);
FASTTREE_CRITERIA(FASTTREE_DECLARE)
#undef FASTTREE_DECLARE

// What searches by the criterion of that name. Throws std::invalid_argument if there is none.
inline Searcher make_searcher_by(std::string_view criterion, const Targets& targets) {
#define FASTTREE_MAKE(name) if (criterion == #name) return make_##name(targets);
    FASTTREE_CRITERIA(FASTTREE_MAKE)
#undef FASTTREE_MAKE
    throw std::invalid_argument("there is no criterion " + std::string(criterion));
}

}  // namespace fasttree
