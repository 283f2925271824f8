// One scanner per criterion, specialised for the targets at hand.
#pragma once
#include <memory>

#include "_absolute_error.hpp"
#include "_chi_square.hpp"
#include "_classification.hpp"
#include "_regression.hpp"
#include "_scan.hpp"
#include "_target_split.hpp"

namespace fasttree {

using ScannerPtr = std::unique_ptr<Scanner>;

template <template <class, class, bool> class Criterion, class Weights>
ScannerPtr make_classification(const Targets& t) {
    if (t.n_outputs > 1) return std::make_unique<ScannerOf<Criterion<Weights, uint32_t, false>>>(t);
    if (t.max_n_classes > 256) {
        return std::make_unique<ScannerOf<Criterion<Weights, uint32_t, true>>>(t);
    }
    return std::make_unique<ScannerOf<Criterion<Weights, uint8_t, true>>>(t);
}

template <class Weights>
ScannerPtr make_gini_of(const Targets& t) {
    if (t.n_outputs == 1 && t.max_n_classes == 2) {
        return std::make_unique<ScannerOf<BinaryGini<Weights>>>(t);
    }
    return make_classification<Gini, Weights>(t);
}

template <template <class, bool> class Criterion, class Weights>
ScannerPtr make_regression_of(const Targets& t) {
    if (t.n_outputs == 1) return std::make_unique<ScannerOf<Criterion<Weights, true>>>(t);
    return std::make_unique<ScannerOf<Criterion<Weights, false>>>(t);
}

inline ScannerPtr make_gini(const Targets& t) {
    return t.weights ? make_gini_of<SampleWeights>(t) : make_gini_of<UnitWeights>(t);
}
inline ScannerPtr make_entropy(const Targets& t) {
    return t.weights ? make_classification<Entropy, SampleWeights>(t)
                     : make_classification<Entropy, UnitWeights>(t);
}
inline ScannerPtr make_chi_square(const Targets& t) {
    return t.weights ? make_classification<ChiSquare, SampleWeights>(t)
                     : make_classification<ChiSquare, UnitWeights>(t);
}
inline ScannerPtr make_squared_error(const Targets& t) {
    return t.weights ? make_regression_of<SquaredError, SampleWeights>(t)
                     : make_regression_of<SquaredError, UnitWeights>(t);
}
inline ScannerPtr make_poisson(const Targets& t) {
    return t.weights ? make_regression_of<Poisson, SampleWeights>(t)
                     : make_regression_of<Poisson, UnitWeights>(t);
}
inline ScannerPtr make_absolute_error(const Targets& t) {
    if (t.weights) return std::make_unique<ScannerOf<AbsoluteError<SampleWeights>>>(t);
    return std::make_unique<ScannerOf<AbsoluteError<UnitWeights>>>(t);
}
inline ScannerPtr make_target_split(const Targets& t) {
    if (t.weights) return std::make_unique<ScannerOf<TargetSplit<SampleWeights>>>(t);
    return std::make_unique<ScannerOf<TargetSplit<UnitWeights>>>(t);
}

}  // namespace fasttree
