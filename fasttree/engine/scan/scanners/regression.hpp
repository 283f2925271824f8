// Scanners of a criterion on sums of targets, by the number of outputs.
#pragma once
#include "engine/scan/scan.hpp"
#include "engine/scan/scanners.hpp"
#include "engine/score/regression.hpp"

namespace fasttree {

template <template <class, bool> class Criterion, class Weights>
ScannerPtr make_regression(const Targets& t) {
    if (t.n_outputs == 1) return std::make_unique<ScannerOf<Criterion<Weights, true>>>(t);
    return std::make_unique<ScannerOf<Criterion<Weights, false>>>(t);
}

template <template <class, bool> class Criterion>
ScannerPtr make_regression(const Targets& t) {
    return t.weights ? make_regression<Criterion, SampleWeights>(t)
                     : make_regression<Criterion, UnitWeights>(t);
}

}  // namespace fasttree
