// `advance` of any criterion, one position after the other.
#pragma once
#include <cstdint>

#include "engine/core/runs.hpp"

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

}  // namespace fasttree
