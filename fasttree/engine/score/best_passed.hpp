// The best of the positions that a scan passes, without a stop at each that is better than those
// before it.
#pragma once
#include <cstdint>

#include "engine/core/runs.hpp"
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
    FASTTREE_INLINE void pass(uint32_t p, int64_t left, int64_t w_left) noexcept {
        const double score = acc_.score_at(left, w_left);
        if (!(score > score_)) return;
        p_ = p;
        score_ = score;
        left_ = left;
        w_left_ = w_left;
    }
    // The same where the accumulator is.
    void pass(uint32_t p) noexcept {
        const Mean left = acc_.mean_left(0);
        pass(p, left.sum, left.weight);
    }
    // The same of those behind p that are found, by the sums and weights at each of them. Rarely
    // called from loops that need all registers.
    template <class Sum>
    [[gnu::noinline]] void pass_found(uint32_t p, uint32_t found, const Sum* left,
                                    const Sum* w_left) noexcept {
        for (; found != 0; found &= found - 1) {
            const uint32_t i = static_cast<uint32_t>(__builtin_ctz(found));
            pass(p + i + 1, left[i], w_left[i]);
        }
    }
    // The best position, where the accumulator goes; one behind the last if there is none.
    uint32_t go_back() noexcept {
        acc_.go_to(left_, w_left_);
        return p_;
    }
};

}  // namespace fasttree
