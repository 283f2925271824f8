#include "engine/scan/scanners/classification.hpp"

namespace fasttree {

ScannerPtr make_gini(const Targets& t) {
    if (t.n_outputs > 1 || t.max_n_classes != 2) return make_classification<Gini>(t);
    if (t.weights) return std::make_unique<ScannerOf<BinaryGini<SampleWeights>>>(t);
    return std::make_unique<ScannerOf<BinaryGini<UnitWeights>>>(t);
}

}  // namespace fasttree
