#include "engine/criteria/searcher_of.hpp"
#include "engine/score/target_split.hpp"

namespace fasttree {

Searcher make_target_split(const Targets& t) {
    if (t.weights) return make_searcher<TargetSplit<SampleWeights>>(t);
    return make_searcher<TargetSplit<UnitWeights>>(t);
}

}  // namespace fasttree
