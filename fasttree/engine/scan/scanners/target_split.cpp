#include "engine/scan/scan.hpp"
#include "engine/scan/scanners.hpp"
#include "engine/score/target_split.hpp"

namespace fasttree {

ScannerPtr make_target_split(const Targets& t) {
    if (t.weights) return std::make_unique<ScannerOf<TargetSplit<SampleWeights>>>(t);
    return std::make_unique<ScannerOf<TargetSplit<UnitWeights>>>(t);
}

}  // namespace fasttree
