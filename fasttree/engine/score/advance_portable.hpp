// `advance` of any criterion, and `advance_to_best` of two classes, position by position.
#pragma once
#include <cstdint>

#include "engine/core/runs.hpp"
#include "engine/score/best_passed.hpp"
#include "engine/score/binary_gini.hpp"

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

// `advance_to_best` of two classes, of the positions that are left.
template <class Weights>
inline uint32_t advance_to_best_portable(BestPassed<BinaryGini<Weights>>& top,
                                         BinaryGini<Weights>& acc, const uint32_t* entries,
                                         uint32_t p, uint32_t last) {
    while ((p = advance_portable(acc, entries, p, last, top.score())) <= last) {
        top.take(p, acc.left, acc.w_left);
    }
    return top.go_back();
}

}  // namespace fasttree
