// One scanner per criterion, specialised for the targets at hand; each is compiled on its own, in
// `scanners/`.
#pragma once
#include <memory>

#include "engine/core/targets.hpp"
#include "engine/scan/scanner.hpp"

namespace fasttree {

using ScannerPtr = std::unique_ptr<Scanner>;

ScannerPtr make_gini(const Targets&);
ScannerPtr make_entropy(const Targets&);
ScannerPtr make_chi_square(const Targets&);
ScannerPtr make_squared_error(const Targets&);
ScannerPtr make_poisson(const Targets&);
ScannerPtr make_absolute_error(const Targets&);
ScannerPtr make_target_split(const Targets&);

}  // namespace fasttree
