// What the rows of a node add to its sum about the mean, in single precision: for scans that look
// for positions worth an exact score.
//
// Four bytes per row, made once per node, for all features. The lowest bits hold the weight where
// there are weights, which are small then.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>

#include "engine/core/impurity.hpp"
#include "engine/core/targets.hpp"
#include "engine/simd/simd.hpp"
#include "utils/_aligned_buffer.hpp"

namespace fasttree {

class RoughTerms {
    AlignedBuffer<float> terms_;      // [n_rows], of the node's rows
    const uint32_t* rows_ = nullptr;  // of a node whose terms are not made yet
    uint32_t n_ = 0;
    int64_t mean_ = 0;    // of the node, the integer part
    double rest_ = 0.0;   // and what is left
    double slack_ = 0.0;

public:
    // Bits of a term that hold the weight.
    static constexpr uint32_t WEIGHT = MAX_SUM_RECORD_WEIGHT - 1;

    explicit RoughTerms(const Targets& t) {
        if (holds(t)) terms_.reserve(t.n_rows);
    }

    // Takes a node's rows, which stay where they are while it is searched. None: it has no terms.
    void begin_node(const uint32_t* rows, uint32_t n) noexcept {
        constexpr uint32_t FEW = 64;  // that are scanned faster without
        rows_ = rows;
        n_ = n > FEW && terms_.get() != nullptr ? n : 0;
    }
    bool has_node() const noexcept { return n_ > 0; }

    // Makes the terms of a node with these totals, unless that was done.
    template <class Weights>
    void make(const Targets& t, const Weights& w, int64_t total, int64_t weight) {
        if (rows_ == nullptr) return;
        mean_ = total / weight;
        rest_ = to_double(total - mean_ * weight) / to_double(weight);
        double deviation = 0.0;
        for (uint32_t i = 0; i < n_; ++i) {
            const uint32_t row = rows_[i];
            const double exact = about_mean(t.sums[row], w[row]);
            deviation += std::fabs(exact);
            float term = static_cast<float>(exact);
            if constexpr (Weights::weighted) {
                uint32_t bits;
                std::memcpy(&bits, &term, sizeof bits);
                bits = (bits & ~WEIGHT) | static_cast<uint32_t>(w[row]);
                std::memcpy(&term, &bits, sizeof bits);
            }
            terms_[row] = term;
        }
        rows_ = nullptr;
        // A term loses less than a part of 2**18, and so do sums of a few of them; what is left of
        // the mean is less than 1.
        slack_ = deviation / (1 << 17) + to_double(weight) / (int64_t{1} << 40);
    }
    // The sum of rows less their weight times the mean.
    double about_mean(int64_t sum, int64_t weight) const {
        return to_double(sum - mean_ * weight) - rest_ * to_double(weight);
    }
    const float* terms() const noexcept { return terms_.get(); }
    // What a sum of terms may be wrong by.
    double slack() const noexcept { return slack_; }

private:
    static bool holds(const Targets& t) {
        return t.simd == SIMD_AVX2 && !t.has_negative_weights &&
               (t.weights == nullptr || t.sum_records != nullptr);
    }
};

struct NoRoughTerms {
    explicit NoRoughTerms(const Targets&) {}
    void begin_node(const uint32_t*, uint32_t) noexcept {}
};

}  // namespace fasttree
