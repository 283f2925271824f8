#include "engine/scan/scanners/regression.hpp"

namespace fasttree {

ScannerPtr make_squared_error(const Targets& t) { return make_regression<SquaredError>(t); }

}  // namespace fasttree
