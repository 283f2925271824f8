#include "engine/criteria/regression.hpp"

namespace fasttree {

Searcher make_squared_error(const Targets& t) { return make_regression<SquaredError>(t); }

}  // namespace fasttree
