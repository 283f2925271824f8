// Absolute errors of one category's rows, and of all others, about their medians.
//
// Moving one category after another to the left is no longer a sequence of prefixes, so the search
// for thresholds does not serve. Here the node's ordered targets are dealt out to the categories,
// each of which gets its own in ascending order; the median of the others is found in the prefix
// sums of all less the category's. O(n + N log n) per output for N categories, whatever the
// weights.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "engine/core/impurity.hpp"
#include "engine/core/runs.hpp"
#include "engine/score/error_sums.hpp"

namespace fasttree {

// A sequence of levels in ascending order, as sums over its first i members.
struct LevelSums {
    std::vector<int64_t> weight;
    std::vector<wide_t> sum;

    void clear() {
        weight.assign(1, 0);
        sum.assign(1, 0);
    }
    void append(int64_t level, int64_t w) {
        weight.push_back(weight.back() + w);
        sum.push_back(sum.back() + static_cast<wide_t>(level) * w);
    }
};

template <class Weights>
class CategoryErrors {
    std::vector<uint32_t> group_;            // [n_rows] group of each row
    std::vector<uint32_t> next_, places_;    // places_ of group i end at next_[i]
    LevelSums all_, own_;

public:
    ErrorSums left, right;                   // [n_categories]
    std::vector<int64_t> weight_left;        // [n_categories]

    void begin(const Runs& runs, const Groups& groups, uint32_t n_rows, int n_outputs) {
        group_.resize(n_rows);
        for (uint32_t i = 0; i < groups.size(); ++i) {
            for (uint32_t p = groups[i].first; p < groups[i].last; ++p) {
                group_[runs.entries[p] & ROW] = i;
            }
        }
        left.clear(groups.size(), n_outputs);
        right.clear(groups.size(), n_outputs);
        weight_left.resize(groups.size());
    }

    // Adds the errors of one output, of several ones in units of `scale`; `rows` are the node's in
    // ascending order of their `levels`.
    void add(const std::vector<uint32_t>& rows, const std::vector<int64_t>& levels,
             const Weights& w, const Groups& groups, double scale) {
        const uint32_t n = static_cast<uint32_t>(rows.size());
        next_.assign(1, 0);
        for (const Group& group : groups) next_.push_back(next_.back() + group.n_rows);
        places_.resize(n);
        all_.clear();
        for (uint32_t p = 0; p < n; ++p) {
            places_[next_[group_[rows[p]]]++] = p;
            all_.append(levels[p], w[rows[p]]);
        }
        for (uint32_t i = 0; i < groups.size(); ++i) {
            if (category_of(groups[i].cell) == NO_CATEGORY) continue;
            const uint32_t* places = places_.data() + next_[i] - groups[i].n_rows;
            own_.clear();
            for (uint32_t j = 0; j < groups[i].n_rows; ++j) {
                own_.append(levels[places[j]], w[rows[places[j]]]);
            }
            left.add(i, own_error(levels, places), scale);
            right.add(i, other_error(levels, places), scale);
            weight_left[i] = own_.weight.back();
        }
    }

private:
    // Sum of w |level - median| if the members before the median weigh `below` and sum to
    // `sum_below`.
    static wide_t deviation(int64_t median, wide_t sum, wide_t weight, wide_t sum_below,
                            wide_t below) {
        return median * (2 * below - weight) + sum - 2 * sum_below;
    }
    wide_t own_error(const std::vector<int64_t>& levels, const uint32_t* places) const {
        const wide_t weight = own_.weight.back();
        uint32_t j = 0;
        const uint32_t last = static_cast<uint32_t>(own_.weight.size()) - 2;
        while (j < last && 2 * static_cast<wide_t>(own_.weight[j + 1]) < weight) ++j;
        return deviation(levels[places[j]], own_.sum.back(), weight, own_.sum[j], own_.weight[j]);
    }
    wide_t other_error(const std::vector<int64_t>& levels, const uint32_t* places) const {
        const uint32_t n = static_cast<uint32_t>(levels.size());
        const uint32_t n_own = static_cast<uint32_t>(own_.weight.size()) - 1;
        const wide_t weight = static_cast<wide_t>(all_.weight.back()) - own_.weight.back();
        // Whether the others up to place p, with j own members among them, weigh half or more.
        auto is_half = [&](uint32_t p, uint32_t j) {
            return 2 * (static_cast<wide_t>(all_.weight[p + 1]) - own_.weight[j]) >= weight;
        };
        uint32_t low = 0, high = n_own;  // own members before the median
        while (low < high) {
            const uint32_t j = low + (high - low) / 2;
            if (is_half(places[j], j + 1)) high = j;
            else low = j + 1;
        }
        const uint32_t n_before = low;
        uint32_t p = n_before > 0 ? std::min(places[n_before - 1] + 1, n - 1) : 0;
        uint32_t end = n_before < n_own ? places[n_before] : n - 1;
        while (p < end) {
            const uint32_t middle = p + (end - p) / 2;
            if (is_half(middle, n_before)) end = middle;
            else p = middle + 1;
        }
        return deviation(levels[p], all_.sum.back() - own_.sum.back(), weight,
                         all_.sum[p] - own_.sum[n_before],
                         static_cast<wide_t>(all_.weight[p]) - own_.weight[n_before]);
    }
};

}  // namespace fasttree
