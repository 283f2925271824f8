// What is equal and who wins then: every tie of the engine is settled here.
//
// fasttree's rule: lower feature, thresholds before categories, lower threshold, missing right
// before missing left, categories in the order of their codes; nodes of equal improvement in
// depth-first order. A scan meets candidates in that order and keeps the first of equal ones; what
// it meets in another order is compared by the functions below.
//
// Replay: scikit-learn takes whichever of equal candidates it meets first, and treats
// neighbouring values closer than 1e-7 as equal.
#pragma once
#include <atomic>
#include <cmath>
#include <cstdint>
#include <limits>

#include "utils/_value.hpp"

namespace fasttree {

constexpr uint32_t NO_FEATURE = 0xffffffffu;

// scikit-learn's FEATURE_THRESHOLD.
constexpr float NEAR = 1e-7f;

// Of neighbouring values of a feature, below <= above.
inline bool are_near(float below, float above) noexcept { return above <= below + NEAR; }

// The largest double below a score: an equal score exceeds it.
inline double just_below(double score) noexcept {
    return std::nextafter(score, -std::numeric_limits<double>::infinity());
}

// Whether a split is better than one of another feature.
inline bool is_better(double score, uint32_t feature, double best_score,
                      uint32_t best_feature) noexcept {
    return score > best_score || (score == best_score && feature < best_feature);
}

// The best score that the threads that search a node have found.
class SharedScore {
    std::atomic<double> best_{-std::numeric_limits<double>::infinity()};

public:
    // Score that a candidate must exceed to be the best split, of whatever features they are.
    double to_beat() const noexcept { return just_below(best_.load(std::memory_order_relaxed)); }
    void report(double score) noexcept {
        double known = best_.load(std::memory_order_relaxed);
        while (score > known
               && !best_.compare_exchange_weak(known, score, std::memory_order_relaxed)) {}
    }
};

static_assert(is_value<SharedScore>);

// The rules of a fit.
struct Ties {
    bool replay;  // scikit-learn's

    // Score that a candidate of the feature must exceed to be the best split.
    double to_beat(double best_score, uint32_t best_feature, uint32_t feature) const noexcept {
        if (replay || best_feature == NO_FEATURE || feature > best_feature) return best_score;
        return just_below(best_score);
    }
    // The same for a pass with missing values left, after one with them right that found the best
    // score, or did not: a lower threshold wins a tie.
    double to_beat_on_the_left(double best_score, bool was_found) const noexcept {
        return was_found && !replay ? just_below(best_score) : best_score;
    }
    // Heap order of nodes of best-first growth; `precedes` says that b comes before a in
    // depth-first order. scikit-learn settles ties as the standard library's heap happens to.
    template <class Precedes>
    bool is_expanded_later(double a, double b, Precedes precedes) const {
        if (a != b) return a < b;
        return !replay && precedes();
    }
};

}  // namespace fasttree
