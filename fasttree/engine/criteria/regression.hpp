// Searchers by a criterion on sums of targets, by the number of outputs.
#pragma once
#include "engine/criteria/searcher_of.hpp"
#include "engine/score/regression.hpp"

namespace fasttree {

template <template <class, bool> class Criterion, class Weights>
Searcher make_regression(const Targets& t) {
    if (t.n_outputs == 1) return make_searcher<Criterion<Weights, true>>(t);
    return make_searcher<Criterion<Weights, false>>(t);
}

template <template <class, bool> class Criterion>
Searcher make_regression(const Targets& t) {
    return t.weights ? make_regression<Criterion, SampleWeights>(t)
                     : make_regression<Criterion, UnitWeights>(t);
}

}  // namespace fasttree
