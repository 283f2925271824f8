// The best of the positions that a scan passes, without a stop at each that is better than those
// before it.
#pragma once
#include <cstdint>

#include "engine/simd/simd.hpp"

namespace fasttree {

// An accumulator of one sum scores any position, score_at(left, w_left), and goes there,
// go_to(left, w_left): by the sum on the left and the weight there. Of equal positions the first
// one is the best.
template <class Acc>
class BestPassed {
    Acc& acc_;
    uint32_t p_;
    double score_;
    int64_t left_ = 0, w_left_ = 0;

public:
    // None of the positions up to the last one has been passed. The best is to score more than
    // `score`.
    BestPassed(Acc& acc, uint32_t last, double score) : acc_(acc), p_(last + 1), score_(score) {}

    double score() const noexcept { return score_; }
    FASTTREE_INLINE void take(uint32_t p, int64_t left, int64_t w_left) noexcept {
        const double score = acc_.score_at(left, w_left);
        if (!(score > score_)) return;
        p_ = p;
        score_ = score;
        left_ = left;
        w_left_ = w_left;
    }
    // Takes those behind p that are found, by the sums and weights at each of them; returns the
    // best score. Not inlined: loops that need all registers call it rarely.
    template <class Sum>
    [[gnu::noinline]] double take_found(uint32_t p, uint32_t found, const Sum* left,
                                        const Sum* w_left) noexcept {
        for (; found != 0; found &= found - 1) {
            const uint32_t i = static_cast<uint32_t>(__builtin_ctz(found));
            take(p + i + 1, left[i], w_left[i]);
        }
        return score_;
    }
    // The best position, where the accumulator goes; or one behind the last if there is none, and
    // the accumulator is empty.
    uint32_t go_back() noexcept {
        acc_.go_to(left_, w_left_);
        return p_;
    }
};

}  // namespace fasttree
