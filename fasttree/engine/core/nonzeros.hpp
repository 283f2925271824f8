// Nonzeros: the shape in which a sparse feature of a node is handed to the scan.
//
// Only rows whose value is not zero are listed, from the outside in: negatives ascending, then
// missing values, then positives descending. A threshold at or below zero separates some of the
// smallest negatives from the other rows, one at or above zero some of the largest positives; so
// a scan moves rows to one child at a time from either end and never touches the zeros.
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>

#include "engine/core/runs.hpp"

namespace fasttree {

// A row number that no column lists: its value is zero.
constexpr uint32_t ZERO_ROW = ROW;

// A column of a CSC matrix; rows ascend.
struct SparseView {
    const float* values;
    const int32_t* rows;
    uint32_t n;

    float value(uint32_t row) const noexcept {
        const int32_t key = static_cast<int32_t>(row);
        const int32_t* found = std::lower_bound(rows, rows + n, key);
        return found != rows + n && *found == key ? values[found - rows] : 0.0f;
    }
    // Place of a row that is listed at `from` or behind; O(log of its distance).
    uint32_t find_behind(uint32_t from, uint32_t row) const {
        const int32_t key = static_cast<int32_t>(row);
        uint32_t step = 1;
        for (; from + step < n && rows[from + step] <= key; step *= 2) from += step;
        const int32_t* last = rows + std::min(from + step, n);
        return static_cast<uint32_t>(std::lower_bound(rows + from, last, key) - rows);
    }
};

// Which sparse features of a node may beat a score, told by numbers of rows alone: of the n
// nonzeros, and of those of one class, at most `max_class_count`. The latter tell something with
// gini of three classes or more, one output and no weights: see SubsetBound. There q_c <= g - d_c,
// so a score gains on g = sum t_c^2 / W at most
//     max(max_class_count, d + (g - d) n / (W - n)),   d = 0 or max_class_count.
struct FeatureBound {
    uint32_t least = 1;  // fewest rows to separate
    double rows = std::numeric_limits<double>::infinity();  // W
    double mean = 0.0;                                      // g
    double gain = -rows;                                    // wanted

    bool holds(uint32_t n, uint32_t max_class_count) const {
        const double others = rows - n;
        const double level = mean * n + max_class_count * std::max(others - n, 0.0);
        return n >= least && !(gain * others > std::max(max_class_count * others, level));
    }
};

// Positions count all rows of the node in ascending order, zeros included, missing values last.
struct Nonzeros {
    const uint32_t* entries;  // rows; BOUNDARY: first, or not the value of the entry before
    uint32_t n;               // rows in the node
    uint32_t n_negative, n_missing, n_positive;
    SparseView column;

    uint32_t n_listed() const noexcept { return n_negative + n_missing + n_positive; }
    uint32_t n_values() const noexcept { return n - n_missing; }
    const uint32_t* missing() const { return entries + n_negative; }
    const uint32_t* positives() const { return entries + n_negative + n_missing; }

    uint32_t row(uint32_t p) const {
        if (p < n_negative) return entries[p] & ROW;
        if (p < n_values() - n_positive) return ZERO_ROW;
        return positives()[n_values() - 1 - p] & ROW;
    }
    float value(uint32_t p) const noexcept { return column.value(row(p)); }
    // Number of values that are not above the threshold.
    uint32_t n_at_most(double threshold) const noexcept {
        uint32_t low = 0, high = n_values();
        while (low < high) {
            const uint32_t middle = low + (high - low) / 2;
            if (value(middle) <= threshold) low = middle + 1;
            else high = middle;
        }
        return low;
    }
    // All values equal, or all missing (replay: or values too close).
    bool is_constant(bool replay) const noexcept {
        const uint32_t n_listed_ = n_listed();
        if (n_listed_ == 0) return true;
        if (replay && n_missing == 0) return are_near(value(0), value(n - 1));
        if (n_listed_ < n || (n_negative > 0 && n_positive > 0)) return false;
        for (uint32_t i = 1; i < n; ++i) {
            if (entries[i] & BOUNDARY) return false;
        }
        return true;
    }
    // True if scikit-learn would not put a threshold between positions p - 1 and p.
    bool is_near(uint32_t p) const {
        return p < n_values() && are_near(value(p - 1), value(p));
    }
};

}  // namespace fasttree
