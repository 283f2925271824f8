#include "../_chi_square.hpp"
#include "classification.hpp"

namespace fasttree {

ScannerPtr make_chi_square(const Targets& t) { return make_classification<ChiSquare>(t); }

}  // namespace fasttree
