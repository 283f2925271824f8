// Nodes while they grow, and their splits.
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "engine/core/nonzeros.hpp"
#include "engine/core/runs.hpp"
#include "engine/core/targets.hpp"
#include "engine/core/ties.hpp"

namespace fasttree {

constexpr int NO_TABLE = -1;
constexpr uint32_t NO_ROW = 0xffffffffu;

struct Node {
    uint32_t start, end;       // its rows: positions in the partitioner
    uint32_t depth;
    uint32_t record;           // in the node store
    uint64_t key;              // of its random draws: hash of random_state and path
    uint32_t n_known;          // features known to be constant
    int table;                 // count table, or NO_TABLE
    uint64_t members;          // its rows as bits of its thread's block; 0: it is in none
    double lower, upper;       // bounds of its value under monotonic constraints
    NodeStats stats;

    uint32_t size() const noexcept { return end - start; }
};

// The categories that a split separates from all others. One side is listed; the other also gets
// the categories that were absent from the node or from the fit.
struct CategorySet {
    std::vector<uint32_t> codes;     // ascending
    bool listed_left = true;         // these go left, all others right; or the other way round

    bool goes_left(uint32_t category) const noexcept {
        return std::binary_search(codes.begin(), codes.end(), category) == listed_left;
    }
};

// Split of a node on one feature.
struct Split {
    double score = -std::numeric_limits<double>::infinity();
    Question question = THRESHOLD;
    double threshold;                // <= goes left; +inf: all values left, missing right
    uint32_t row_below, row_above;   // neighbours of the threshold, until it is computed
    const float* below = nullptr;    // their values, if it is the node store that computes it
    const float* above;
    uint32_t feature = NO_FEATURE;
    uint32_t n_left;                 // rows on the left
    uint32_t n_values_left = 0;      // runs and nonzeros: rows on the left that are not missing
    bool missing_left = false;       // side of missing values seen in the node
    bool has_missing = false;                // the node has missing values in the feature
    double middle;
    CategorySet categories;                 // unless the question is a threshold: numbers go right

    Split() = default;
    Split(Split&&) = default;
    Split& operator=(Split&&) = default;

    bool category_goes_left(uint32_t category) const {
        return question == THRESHOLD ? missing_left : categories.goes_left(category);
    }
    bool goes_left(float cell) const noexcept {
        if (question == THRESHOLD) return cell != cell ? missing_left : cell <= threshold;
        const uint32_t category = category_of(cell);
        return category != NO_CATEGORY ? categories.goes_left(category)
                                       : cell != cell && missing_left;
    }
};

static_assert(is_value<NodeStats> && is_value<Node> && is_value<Split>);
static_assert(is_value<Runs> && is_value<Nonzeros> && is_value<Counts> && is_value<FeatureBound>);
static_assert(is_value<Candidate> && is_value<Limits>);

// Whether a split that another thread found is better; both may be of one feature that is a list.
inline bool is_better(const Split& split, const Split& best) noexcept {
    const bool are_equal = split.score == best.score && split.feature == best.feature;
    return are_equal ? split.n_values_left < best.n_values_left
                     : is_better(split.score, split.feature, best.score, best.feature);
}

// Halfway between two neighbouring values, as scikit-learn computes it.
inline double midpoint(float below, float above) noexcept {
    return static_cast<double>(below) / 2 + static_cast<double>(above) / 2;
}

// Makes the candidate of a feature the best split. A threshold between rows is looked up later,
// if it wins.
inline void take_any(const Candidate& candidate, uint32_t feature, uint32_t n, uint32_t n_missing,
                     Split& best) {
    best.score = candidate.score;
    best.question = candidate.question;
    best.feature = feature;
    best.threshold = std::numeric_limits<double>::infinity();
    best.row_below = NO_ROW;
    best.below = nullptr;
    best.n_left = candidate.n_left;
    best.has_missing = n_missing > 0;
    best.missing_left = best.has_missing ? candidate.missing_left
                                         : candidate.n_left > n - candidate.n_left;
    best.middle = candidate.middle;
}
// A category that the node does not hold is not equal to any, so it is on the right of CATEGORY; in
// a CATEGORY_SET it is with the missing values. Missing values that the node does not hold go to
// the child with more rows, ties right.
inline void take_categories(const Candidate& candidate, const Groups& groups, Split& best) {
    const uint32_t n_prefix = candidate.left;
    const bool is_set = candidate.question == CATEGORY_SET;
    bool prefix_left = true;
    uint32_t n = 0;
    for (uint32_t i = 0; i < groups.size(); ++i) {
        n += groups[i].n_rows;
        prefix_left &= !(is_set && i < n_prefix && groups[i].is_numbers());
    }
    auto is_left = [&](uint32_t i) {
        return is_set ? (i < n_prefix) == prefix_left : i == n_prefix;
    };
    best.has_missing = false;
    best.missing_left = best.n_left > n - best.n_left;
    for (uint32_t i = 0; i < groups.size(); ++i) {
        if (groups[i].is_numbers() || category_of(groups[i].cell) != NO_CATEGORY) continue;
        best.has_missing = true;
        best.missing_left = is_left(i);
    }
    best.categories.listed_left = !(is_set && best.missing_left);
    best.categories.codes.clear();
    for (uint32_t i = 0; i < groups.size(); ++i) {
        const uint32_t category = category_of(groups[i].cell);
        if (category != NO_CATEGORY && is_left(i) == best.categories.listed_left) {
            best.categories.codes.push_back(category);
        }
    }
    std::sort(best.categories.codes.begin(), best.categories.codes.end());
    best.threshold = -std::numeric_limits<double>::infinity();  // numbers go right
}
inline void take_candidate(const Counts& counts, const Candidate& candidate,
                         const Groups& groups, uint32_t feature, Split& best) {
    take_any(candidate, feature, counts.n, counts.n_missing, best);
    if (candidate.question != THRESHOLD) {
        take_categories(candidate, groups, best);
    } else if (candidate.right < counts.n_values) {
        best.threshold = midpoint(counts.values[candidate.left], counts.values[candidate.right]);
    }
}
inline void take_candidate(const Nonzeros& nonzeros, const Candidate& candidate, uint32_t feature,
                           Split& best) noexcept {
    take_any(candidate, feature, nonzeros.n, nonzeros.n_missing, best);
    best.n_values_left = candidate.left;
    if (candidate.right < nonzeros.n_values()) {
        best.row_below = nonzeros.row(candidate.left - 1);
        best.row_above = nonzeros.row(candidate.right);
    }
}
// `Rows` are `Runs`, or others that name the row at each position.
template <class Rows>
inline void take_candidate(const Rows& runs, const Candidate& candidate,
                           const Groups& groups, uint32_t feature, Split& best) {
    take_any(candidate, feature, runs.n, runs.n_missing, best);
    best.n_values_left = candidate.left;
    if (candidate.question != THRESHOLD) {
        take_categories(candidate, groups, best);
    } else if (candidate.right < runs.n - runs.n_missing) {
        best.row_below = runs.row(candidate.left - 1);
        best.row_above = runs.row(candidate.right);
    }
}

}  // namespace fasttree
