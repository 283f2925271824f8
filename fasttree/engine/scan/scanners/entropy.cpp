#include "engine/scan/scanners/classification.hpp"

namespace fasttree {

ScannerPtr make_entropy(const Targets& t) { return make_classification<Entropy>(t); }

}  // namespace fasttree
