// `advance` of any criterion, and `advance_to_best` of those of one sum, position by position.
#pragma once
#include <cstdint>

#include "engine/core/runs.hpp"
#include "engine/score/best_passed.hpp"

namespace fasttree {

template <class Acc>
inline uint32_t advance_portable(Acc& acc, const uint32_t* entries, uint32_t p, uint32_t last,
                                 double best) {
    while (p < last) {
        acc.add(entries[p++] & ROW);
        if ((entries[p] & BOUNDARY) && acc.may_beat(best)) return p;
    }
    return last + 1;
}

// Passes all positions that are left, and comes to the best.
template <class Acc>
inline uint32_t pass_portable(BestPassed<Acc>& top, Acc& acc, const uint32_t* entries, uint32_t p,
                              uint32_t last) {
    while ((p = advance_portable(acc, entries, p, last, top.score())) <= last) top.pass(p);
    return top.go_back();
}

}  // namespace fasttree
