// From a candidate on labels to a split: which labels it tells apart from all others.
#pragma once
#include <algorithm>
#include <vector>

#include "_impurity.hpp"
#include "_scanner.hpp"
#include "_split.hpp"

namespace fasttree {

// Completes `split`, whose n_left is known, for a node of n rows. A label that the node does not
// hold is not equal to any, so it is on the right of LABEL; in a LABEL_SET it is with the missing
// values. Missing values that the node does not hold go to the child with more rows, ties right.
inline void take_labels(const Candidate& candidate, const std::vector<Category>& categories,
                        uint32_t n, Split& split) {
    const uint32_t n_prefix = candidate.left;
    const bool is_set = candidate.question == LABEL_SET;
    bool prefix_left = true;
    split.has_missing = false;
    split.missing_left = split.n_left > n - split.n_left;
    for (uint32_t i = 0; is_set && i < n_prefix; ++i) prefix_left &= !categories[i].is_numbers();
    auto is_left = [&](uint32_t i) { return is_set ? (i < n_prefix) == prefix_left : i == n_prefix; };
    for (uint32_t i = 0; i < categories.size(); ++i) {
        if (categories[i].is_numbers() || label_of(categories[i].cell) != NO_LABEL) continue;
        split.has_missing = true;
        split.missing_left = is_left(i);
    }
    split.labels.listed_left = !(is_set && split.missing_left);
    split.labels.codes.clear();
    for (uint32_t i = 0; i < categories.size(); ++i) {
        const uint32_t label = label_of(categories[i].cell);
        if (label != NO_LABEL && is_left(i) == split.labels.listed_left) {
            split.labels.codes.push_back(label);
        }
    }
    std::sort(split.labels.codes.begin(), split.labels.codes.end());
    split.question = candidate.question;
    split.threshold = MINUS_INFINITY;  // numbers are not labels: none goes left
}

}  // namespace fasttree
