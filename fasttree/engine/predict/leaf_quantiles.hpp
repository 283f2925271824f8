// Quantiles of the training targets that share a row's leaves (N. Meinshausen, "Quantile regression
// forests", JMLR 7, 2006).
//
// The training rows of all leaves of all trees are listed leaf by leaf. For a row, those of its
// leaves are pooled, put in the order of their targets by rank, and read off where their weights
// add up to the quantile.
//
// Complexity: O(m log m) per row and output for m pooled rows.
#pragma once
#include <Python.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "engine/simd/bits.hpp"
#include "utils/_threads.hpp"
#include "utils/_value.hpp"

namespace fasttree {

struct ListedRows {
    size_t n_trees;
    const int64_t* first_node;  // [n_trees], of a tree among the nodes of all
    const int64_t* starts;      // [n_nodes + 1], of a node's rows among the rows of all
    const uint32_t* rows;       // training rows
    const uint32_t* counts;     // how often the tree drew them
    const double* row_weights;  // [n_training_rows], or null: all weigh the same
    bool is_counted;            // whether the weights are whole numbers
    const uint32_t* ranks;      // [n_outputs][n_training_rows], of a row's target
    const double* targets;      // [n_outputs][n_training_rows], by rank
    size_t n_training_rows;
    size_t n_outputs;
};
static_assert(is_value<ListedRows>);

// The pooled rows of one row's leaves.
class LeafPool {
    struct Item {
        uint32_t rank;
        uint32_t row;
        double weight;
    };
    std::vector<Item> items_;
    double total_ = 0.0;

public:
    // leaves: [n_trees], at the distance `stride`; takes: a bit per tree at `is_taken`, or all.
    // With `weighs_leaves` each leaf weighs the same, whatever the number of its rows.
    template <typename Taken>
    void gather(const ListedRows& data, const int64_t* leaves, size_t stride, bool weighs_leaves,
                const Taken& is_taken) {
        items_.clear();
        total_ = 0.0;
        for (size_t tree = 0; tree < data.n_trees; ++tree) {
            if (!is_taken(tree)) continue;
            const int64_t node = data.first_node[tree] + leaves[tree * stride];
            const size_t first = items_.size();
            double leaf_weight = 0.0;
            for (int64_t i = data.starts[node]; i < data.starts[node + 1]; ++i) {
                const uint32_t row = data.rows[i];
                const double weight =
                    data.counts[i] * (data.row_weights != nullptr ? data.row_weights[row] : 1.0);
                items_.push_back({0, row, weight});
                leaf_weight += weight;
            }
            if (weighs_leaves)
                for (size_t i = first; i < items_.size(); ++i) items_[i].weight /= leaf_weight;
            total_ += weighs_leaves && items_.size() > first ? 1.0 : leaf_weight;
        }
    }
    // Puts the rows in the order of their targets, each once, with its weight in all trees.
    void sort(const uint32_t* ranks) {
        for (Item& item : items_) item.rank = ranks[item.row];
        std::sort(items_.begin(), items_.end(),
                  [](const Item& a, const Item& b) { return a.rank < b.rank; });
        size_t n = 0;
        for (const Item& item : items_) {
            if (n > 0 && items_[n - 1].rank == item.rank) items_[n - 1].weight += item.weight;
            else items_[n++] = item;
        }
        items_.resize(n);
    }
    // quantiles: ascending.
    void read(const double* targets, const double* quantiles, size_t n_quantiles, bool is_counted,
              double* out) const {
        double below = 0.0;  // weight of items before `at`
        size_t at = 0;
        for (size_t k = 0; k < n_quantiles; ++k) {
            if (items_.empty()) {
                out[k] = std::numeric_limits<double>::quiet_NaN();
            } else if (is_counted) {
                // q (n - 1) places above the least of n, or on the line between two places.
                const double place = quantiles[k] * (total_ - 1.0) + 1.0;
                while (at < items_.size() && below + items_[at].weight <= place)
                    below += items_[at++].weight;
                const double high = target(targets, at);
                const double low = at > 0 ? target(targets, at - 1) : high;
                out[k] = low + std::min(1.0, place - below) * (high - low);
            } else {
                // The least target at which the share of the weight is q, but for rounding.
                const double wanted = quantiles[k] * total_ * (1.0 - 1e-12);
                while (at < items_.size() && below + items_[at].weight < wanted)
                    below += items_[at++].weight;
                out[k] = target(targets, at);
            }
        }
    }

private:
    double target(const double* targets, size_t at) const {
        return targets[items_[std::min(at, items_.size() - 1)].rank];
    }
};

// Quantiles of rows [0, n_rows). leaves: [n_trees][n_rows]; takes: [n_trees][n_words] bits, or
// null; out: [n_rows][n_outputs][n_quantiles]. Throws std::bad_alloc.
inline void leaf_quantiles(const ListedRows& data, const int64_t* leaves, const uint32_t* takes,
                           size_t n_words, size_t first_bit, Py_ssize_t n_rows,
                           const double* quantiles, size_t n_quantiles, bool weighs_leaves,
                           int n_threads, double* out) {
    constexpr Py_ssize_t ROWS = 64;  // that a thread takes at a time
    std::vector<LeafPool> pools(static_cast<size_t>(n_threads));
    const auto read = [&](int thread, Py_ssize_t first, Py_ssize_t last) {
        LeafPool& pool = pools[thread];
        for (Py_ssize_t i = first; i < last; ++i) {
            const uint32_t bit = static_cast<uint32_t>(first_bit + i);
            const auto is_taken = [&](size_t tree) {
                return takes == nullptr || get_bit(takes + tree * n_words, bit);
            };
            pool.gather(data, leaves + i, n_rows, weighs_leaves, is_taken);
            for (size_t k = 0; k < data.n_outputs; ++k) {
                pool.sort(data.ranks + k * data.n_training_rows);
                pool.read(data.targets + k * data.n_training_rows, quantiles, n_quantiles,
                          data.is_counted && !weighs_leaves,
                          out + (i * data.n_outputs + k) * n_quantiles);
            }
        }
    };
    share_out(0, n_rows, ROWS, n_threads, read);
}

}  // namespace fasttree
