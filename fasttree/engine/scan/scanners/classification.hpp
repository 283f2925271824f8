// Scanners of a criterion on classes, by the number of classes and outputs.
#pragma once
#include "engine/scan/scan.hpp"
#include "engine/scan/scanners.hpp"
#include "engine/score/classification.hpp"

namespace fasttree {

template <template <class, class, bool> class Criterion, class Weights>
ScannerPtr make_classification(const Targets& t) {
    if (t.n_outputs > 1) return std::make_unique<ScannerOf<Criterion<Weights, uint32_t, false>>>(t);
    if (t.max_n_classes > 256) {
        return std::make_unique<ScannerOf<Criterion<Weights, uint32_t, true>>>(t);
    }
    return std::make_unique<ScannerOf<Criterion<Weights, uint8_t, true>>>(t);
}

template <template <class, class, bool> class Criterion>
ScannerPtr make_classification(const Targets& t) {
    return t.weights ? make_classification<Criterion, SampleWeights>(t)
                     : make_classification<Criterion, UnitWeights>(t);
}

}  // namespace fasttree
