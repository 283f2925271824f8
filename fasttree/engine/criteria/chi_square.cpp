#include "engine/criteria/classification.hpp"
#include "engine/score/chi_square.hpp"

namespace fasttree {

Searcher make_chi_square(const Targets& t) { return make_classification<ChiSquare>(t); }

}  // namespace fasttree
