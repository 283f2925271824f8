#include "engine/criteria/searcher_of.hpp"
#include "engine/score/absolute_error.hpp"

namespace fasttree {

Searcher make_absolute_error(const Targets& t) {
    if (t.weights) return make_searcher<AbsoluteError<SampleWeights>>(t);
    return make_searcher<AbsoluteError<UnitWeights>>(t);
}

}  // namespace fasttree
