// Searchers by a criterion on classes, by the number of classes and outputs.
#pragma once
#include "engine/criteria/searcher_of.hpp"
#include "engine/score/classification.hpp"

namespace fasttree {

template <template <class, class, bool> class Criterion, class Weights>
Searcher make_classification(const Targets& t) {
    const bool is_narrow = t.max_n_classes <= 256;
    if (t.n_outputs > 1) {
        return is_narrow ? make_searcher<Criterion<Weights, uint8_t, false>>(t)
                         : make_searcher<Criterion<Weights, uint32_t, false>>(t);
    }
    return is_narrow ? make_searcher<Criterion<Weights, uint8_t, true>>(t)
                     : make_searcher<Criterion<Weights, uint32_t, true>>(t);
}

template <template <class, class, bool> class Criterion>
Searcher make_classification(const Targets& t) {
    return t.weights ? make_classification<Criterion, SampleWeights>(t)
                     : make_classification<Criterion, UnitWeights>(t);
}

}  // namespace fasttree
