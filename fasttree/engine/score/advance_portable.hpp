// `advance` of any criterion, one position after the other, and `advance_to_best` of two classes.
#pragma once
#include <cstdint>

#include "engine/core/runs.hpp"
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

// The best of the positions that a scan passes, the first of equal ones.
class BestPassed {
    uint32_t p_;
    double score_;
    int64_t left_ = 0, w_left_ = 0;

public:
    // There is none yet, for which p stands; it is to score more than `score`.
    BestPassed(uint32_t p, double score) : p_(p), score_(score) {}

    double score() const noexcept { return score_; }
    // Looks at position p, where the accumulator comes with so many rows on the left.
    template <class Weights>
    FASTTREE_INLINE void look(const BinaryGini<Weights>& acc, uint32_t p, int64_t left,
                              int64_t w_left) noexcept {
        const double score = separation(left, w_left, acc.total, acc.w_total);
        if (!(score > score_)) return;
        p_ = p;
        score_ = score;
        left_ = left;
        w_left_ = w_left;
    }
    // Moves the accumulator there; returns the position.
    template <class Weights>
    uint32_t go_back(BinaryGini<Weights>& acc) const noexcept {
        acc.left = left_;
        acc.w_left = w_left_;
        return p_;
    }
};

inline uint32_t best_passed_portable(BinaryGini<UnitWeights>& acc, const uint32_t* entries,
                                     uint32_t p, uint32_t last, double best) {
    BestPassed top(last + 1, best);
    while ((p = advance_portable(acc, entries, p, last, top.score())) <= last) {
        top.look(acc, p, acc.left, acc.w_left);
    }
    return top.go_back(acc);
}

}  // namespace fasttree
