#include "engine/criteria/classification.hpp"
#include "engine/score/binary_gini.hpp"

namespace fasttree {

Searcher make_gini(const Targets& t) {
    if (t.n_outputs > 1 || t.max_n_classes != 2) return make_classification<Gini>(t);
    if (t.weights) return make_searcher<BinaryGini<SampleWeights>>(t);
    return make_searcher<BinaryGini<UnitWeights>>(t);
}

}  // namespace fasttree
