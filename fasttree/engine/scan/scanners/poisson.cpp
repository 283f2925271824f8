#include "engine/scan/scanners/regression.hpp"

namespace fasttree {

ScannerPtr make_poisson(const Targets& t) { return make_regression<Poisson>(t); }

}  // namespace fasttree
