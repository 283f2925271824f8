#include "engine/criteria/regression.hpp"

namespace fasttree {

Searcher make_poisson(const Targets& t) { return make_regression<Poisson>(t); }

}  // namespace fasttree
