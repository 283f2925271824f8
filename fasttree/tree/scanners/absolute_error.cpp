#include "../_absolute_error.hpp"
#include "../_scan.hpp"
#include "../_scanners.hpp"

namespace fasttree {

ScannerPtr make_absolute_error(const Targets& t) {
    if (t.weights) return std::make_unique<ScannerOf<AbsoluteError<SampleWeights>>>(t);
    return std::make_unique<ScannerOf<AbsoluteError<UnitWeights>>>(t);
}

}  // namespace fasttree
