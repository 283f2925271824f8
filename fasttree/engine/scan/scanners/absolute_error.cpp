#include "engine/scan/scan.hpp"
#include "engine/scan/scanners.hpp"
#include "engine/score/absolute_error.hpp"

namespace fasttree {

ScannerPtr make_absolute_error(const Targets& t) {
    if (t.weights) return std::make_unique<ScannerOf<AbsoluteError<SampleWeights>>>(t);
    return std::make_unique<ScannerOf<AbsoluteError<UnitWeights>>>(t);
}

}  // namespace fasttree
