// Nodes while they grow, and their splits.
#pragma once
#include <cmath>
#include <cstdint>
#include <limits>

#include "_nonzeros.hpp"
#include "_runs.hpp"
#include "_targets.hpp"

namespace fasttree {

constexpr int NO_TABLE = -1;
constexpr uint32_t NO_ROW = 0xffffffffu;
constexpr uint32_t NO_FEATURE = 0xffffffffu;

struct Node {
    uint32_t start, end;       // its rows: positions in the partitioner
    uint32_t depth;
    uint32_t record;           // in the node store
    uint64_t key;              // of its random draws: hash of random_state and path
    uint32_t n_known;          // features known to be constant
    int table;                 // count table, or NO_TABLE
    double lower, upper;       // bounds of its value under monotonic constraints
    NodeStats stats;

    uint32_t size() const { return end - start; }
};

// Split of a node on one feature.
struct Split {
    double score;
    double threshold;                // <= goes left; +inf: all values left, missing right
    uint32_t row_below, row_above;   // neighbours of the threshold, until it is computed
    uint32_t feature;
    uint32_t n_left;                 // rows on the left
    uint32_t n_values_left;          // runs and nonzeros: rows on the left that are not missing
    bool missing_left;               // side of missing values seen in the node
    bool has_missing;                // the node has missing values in the feature
    double middle;
};

// Score that a candidate of the feature must exceed: ties go to the lower feature, or in
// scikit-learn's stream to the one drawn first.
inline double score_to_beat(const Split& best, uint32_t feature, bool sklearn_rules) {
    if (best.feature == NO_FEATURE || feature > best.feature || sklearn_rules) return best.score;
    return std::nextafter(best.score, -std::numeric_limits<double>::infinity());
}

// Halfway between two neighbouring values, as scikit-learn computes it.
inline double midpoint(float below, float above) {
    return static_cast<double>(below) / 2 + static_cast<double>(above) / 2;
}

// Makes the candidate of a feature the best split. A threshold between rows is looked up later,
// if it wins.
inline void take_any(const Candidate& candidate, uint32_t feature, uint32_t n, uint32_t n_missing,
                     Split& best) {
    best.score = candidate.score;
    best.feature = feature;
    best.threshold = std::numeric_limits<double>::infinity();
    best.row_below = NO_ROW;
    best.n_left = candidate.n_left;
    best.has_missing = n_missing > 0;
    best.missing_left = best.has_missing ? candidate.missing_left
                                         : candidate.n_left > n - candidate.n_left;
    best.middle = candidate.middle;
}
inline void take_counted(const Counts& counts, const Candidate& candidate, uint32_t feature,
                         Split& best) {
    take_any(candidate, feature, counts.n, counts.n_missing, best);
    if (candidate.right < counts.n_values) {
        best.threshold = midpoint(counts.values[candidate.left], counts.values[candidate.right]);
    }
}
inline void take_candidate(const Nonzeros& nonzeros, const Candidate& candidate, uint32_t feature,
                           Split& best) {
    take_any(candidate, feature, nonzeros.n, nonzeros.n_missing, best);
    best.n_values_left = candidate.left;
    if (candidate.right < nonzeros.n_values()) {
        best.row_below = nonzeros.row(candidate.left - 1);
        best.row_above = nonzeros.row(candidate.right);
    }
}
inline void take_candidate(const Runs& runs, const Candidate& candidate, uint32_t feature,
                           Split& best) {
    take_any(candidate, feature, runs.n, runs.n_missing, best);
    best.n_values_left = candidate.left;
    if (candidate.right < runs.n - runs.n_missing) {
        best.row_below = runs.entries[candidate.left - 1] & ROW;
        best.row_above = runs.entries[candidate.right] & ROW;
    }
}

}  // namespace fasttree
