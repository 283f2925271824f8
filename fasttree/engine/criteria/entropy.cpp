#include "engine/criteria/classification.hpp"

namespace fasttree {

Searcher make_entropy(const Targets& t) { return make_classification<Entropy>(t); }

}  // namespace fasttree
