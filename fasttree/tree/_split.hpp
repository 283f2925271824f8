// Nodes while they grow, and their splits.
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "_impurity.hpp"
#include "_runs.hpp"
#include "_targets.hpp"

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
    double lower, upper;       // bounds of its value under monotonic constraints
    NodeStats stats;

    uint32_t size() const { return end - start; }
};

// The labels of a split that are told apart from all others. The others may have been absent
// from the node, or from the fit, so a list says more than two lists would.
struct LabelSet {
    std::vector<uint32_t> codes;     // ascending; of two sets the one without the unknown labels
    bool listed_left = true;         // these go left, others right; or the other way round

    bool goes_left(uint32_t label) const {
        return std::binary_search(codes.begin(), codes.end(), label) == listed_left;
    }
};

// Split of a node on one feature.
struct Split {
    double score;
    Question question = THRESHOLD;
    double threshold;                // <= goes left; +inf: all values left, missing right
    uint32_t row_below, row_above;   // neighbours of the threshold, until it is computed
    uint32_t feature;
    uint32_t n_left;                 // rows on the left
    uint32_t n_values_left;          // SORTED columns: rows on the left that are not missing
    bool missing_left;               // side of missing values seen in the node
    bool has_missing;                // the node has missing values in the feature
    double middle;
    LabelSet labels;                 // unless the question is a threshold: numbers go right

    bool label_goes_left(uint32_t label) const {
        return question == THRESHOLD ? missing_left : labels.goes_left(label);
    }
    bool goes_left(float cell) const {
        if (question == THRESHOLD) return cell != cell ? missing_left : cell <= threshold;
        const uint32_t label = label_of(cell);
        return label != NO_LABEL ? labels.goes_left(label) : cell != cell && missing_left;
    }
};

// Halfway between two neighbouring values, as scikit-learn computes it.
inline double midpoint(float below, float above) {
    return static_cast<double>(below) / 2 + static_cast<double>(above) / 2;
}

}  // namespace fasttree
