// Accumulator of criterion="label_split": regression by way of two classes (Wang & Gupta 2024,
// Algorithm 6).
//
// In every node the targets themselves are split first, at the value that separates them best by
// squared error, ties to the lowest; the halves are two classes, and features are ranked by the
// information gain about them. Impurities and values are those of squared error. The targets are
// ranked once per fit, so a node's are put in order by a radix sort, O(n).
#pragma once
#include <vector>

#include "engine/core/impurity.hpp"
#include "engine/score/classification.hpp"
#include "engine/score/regression.hpp"
#include "engine/simd/sorting.hpp"

namespace fasttree {

template <class Weights>
class TargetSplit : public Watched {
    std::vector<uint8_t> classes_;               // [n_rows], of the node's rows
    const int64_t n_classes_ = 2;
    std::vector<uint64_t> items_, scratch_;
    Targets class_targets_;
    SquaredError<Weights, true> error_;
    Entropy<Weights, uint8_t, true> gain_;

    Targets class_targets(Targets t) {
        t.n_outputs = 1;
        t.max_n_classes = 2;
        t.n_classes = &n_classes_;
        t.classes = classes_.data();
        return t;
    }

public:
    using Cell = int64_t;
    static constexpr bool has_cells = false;
    static constexpr bool has_means = true;

    explicit TargetSplit(const Targets& t)
        : classes_(t.n_rows), class_targets_(class_targets(t)), error_(t), gain_(class_targets_) {}

    uint64_t work(uint32_t n) const { return n; }
    void begin_node(const uint32_t* rows, uint32_t n) {
        error_.begin_node(rows, n);
        split_targets(rows, n);
        gain_.begin_node(rows, n);
    }
    void node_stats(const uint32_t* rows, uint32_t n, NodeStats& out) {
        error_.node_stats(rows, n, out);
    }
    void node_value(double* value) const { error_.node_value(value); }

    void reset() { gain_.reset(); }
    void add(uint32_t row) { gain_.add(row); }
    static constexpr int n_orders() { return 1; }
    static constexpr bool has_order(int) { return true; }
    Mean mean_left(int order) const { return gain_.mean_left(order); }

    double perfect_score(const uint32_t* rows, uint32_t n) { return gain_.perfect_score(rows, n); }
    bool may_beat(double best) const { return gain_.may_beat(best); }
    double score() const { return gain_.score(); }
    double sklearn_score() const { return gain_.sklearn_score(); }
    double weight_left() const { return gain_.weight_left(); }
    double weight_right() const { return gain_.weight_right(); }
    double value_left() const { return gain_.value_left(); }
    double value_right() const { return gain_.value_right(); }

private:
    // Class 0 up to the best cut of the ordered targets, class 1 above.
    void split_targets(const uint32_t* rows, uint32_t n) {
        const Targets& t = error_.t;
        items_.resize(std::max<size_t>(items_.size(), n));
        scratch_.resize(items_.size());
        for (uint32_t i = 0; i < n; ++i) items_[i] = pack(t.order_rank[rows[i]], rows[i]);
        const uint64_t* sorted = sort_by_key(items_.data(), scratch_.data(), n);
        double best = MINUS_INFINITY;
        uint32_t n_low = n;
        error_.reset();
        for (uint32_t i = 0; i + 1 < n; ++i) {
            error_.add(payload_of(sorted[i]));
            if (t.y[payload_of(sorted[i])] == t.y[payload_of(sorted[i + 1])]) continue;
            const double score = error_.score();
            if (score > best) {
                best = score;
                n_low = i + 1;
            }
        }
        for (uint32_t i = 0; i < n; ++i) classes_[payload_of(sorted[i])] = i >= n_low;
    }
};

}  // namespace fasttree
