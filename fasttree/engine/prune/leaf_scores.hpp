// Scores of many cut trees that are not sums over leaves: areas under curves, which need the leaves
// in the order of their values, and medians of errors. See _tuning.pyx.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "engine/prune/tuning.hpp"
#include "engine/simd/bits.hpp"

namespace fasttree {

// The score of a tree that grows leaf by leaf.
class LeafScore {
  public:
    virtual ~LeafScore() = default;
    // The root is the only leaf.
    virtual void start() = 0;
    // A leaf makes way for its children.
    virtual void split(Py_ssize_t node) = 0;
    // The score of the present leaves; unspecified once the poll has said to give up.
    virtual double value() = 0;
};

// Scores of every cut tree: nested trees grow from one another, and each that differs is scored.
//
// Complexity: a grid costs O(nodes) splits for each of its depths or each of its numbers of rows,
// whichever are fewer; see the scores for what a split and a score cost.
class CutScores final : public CutPasses {
  public:
    CutScores(const CutTree& tree, const Setting* settings, Py_ssize_t n_settings,
              LeafScore& score, double* out)
        : CutPasses(tree, settings, n_settings), score_(score), out_(out) {}

  private:
    struct Point {
        size_t depth, rows;
        Py_ssize_t setting;
    };

    void do_grid(size_t start, size_t end) override {
        std::vector<int64_t> depths, rows;
        walk_grid(start, end, depths, rows, [](Py_ssize_t, size_t, size_t) {});
        std::vector<Point> points;
        walk_grid(start, end, depths, rows, [&](Py_ssize_t setting, size_t d, size_t r) {
            points.push_back({d, r, setting});
        });
        std::vector<Py_ssize_t> inner;
        for (const Py_ssize_t i : tree_.inner())
            if (tree_.decreases_enough(i, at(start).min_impurity_decrease)) inner.push_back(i);
        if (rows.size() < depths.size()) {
            std::stable_sort(inner.begin(), inner.end(), [this](Py_ssize_t a, Py_ssize_t b) {
                return tree_.depth(a) < tree_.depth(b);
            });
            std::stable_sort(points.begin(), points.end(),
                             [](const Point& a, const Point& b) { return a.rows < b.rows; });
        } else {
            std::stable_sort(inner.begin(), inner.end(), [this](Py_ssize_t a, Py_ssize_t b) {
                return tree_.node(a).n_node_samples > tree_.node(b).n_node_samples;
            });
        }
        const bool has_rows = rows.size() < depths.size();  // which limit a chain of trees shares
        for (size_t p = 0; p < points.size();) {
            const size_t first = p;
            while (p < points.size() && (has_rows ? points[p].rows == points[first].rows
                                                  : points[p].depth == points[first].depth))
                ++p;
            do_chain(inner, {points.begin() + first, points.begin() + p}, depths, rows);
        }
    }

    // Scores the points of the grid that share one limit. `inner` lists the inner nodes in the
    // order in which the other limit, as it is loosened, lets them be split.
    void do_chain(const std::vector<Py_ssize_t>& inner, const std::vector<Point>& points,
                  const std::vector<int64_t>& depths, const std::vector<int64_t>& rows) {
        const auto is_split = [&](Py_ssize_t i, const Point& point) {
            return tree_.depth(i) < depths[point.depth]
                   && tree_.node(i).n_node_samples >= rows[point.rows];
        };
        const bool has_rows = rows.size() < depths.size();
        const Point& loosest = has_rows ? points.back() : points.front();
        std::vector<Py_ssize_t> order;
        for (const Py_ssize_t i : inner)
            if (is_split(i, loosest)) order.push_back(i);
        std::vector<Prefix> prefixes;
        for (const Point& point : points) {
            const auto end = std::partition_point(
                order.begin(), order.end(), [&](Py_ssize_t i) { return is_split(i, point); });
            prefixes.push_back({static_cast<size_t>(end - order.begin()), point.setting});
        }
        if (!has_rows) std::reverse(prefixes.begin(), prefixes.end());
        do_prefixes(order, prefixes);
    }

    void do_prefixes(const std::vector<Py_ssize_t>& order,
                     const std::vector<Prefix>& prefixes) override {
        score_.start();
        size_t i = 0;
        double value = score_.value();
        for (const Prefix& prefix : prefixes) {
            if (i < prefix.n_split) {
                std::vector<Py_ssize_t> added(order.begin() + i, order.begin() + prefix.n_split);
                std::sort(added.begin(), added.end());  // parents before their children
                for (const Py_ssize_t node : added) score_.split(node);
                value = score_.value();
                i = prefix.n_split;
            }
            out_[prefix.setting] = value;
        }
    }

    LeafScore& score_;
    double* out_;
};

// Which curve an area is under.
enum class Curve { ROC, PRECISION };

// The area under the ROC curve, times the weights of both classes, or the average precision, times
// the positive weight. Number: what sums of the weights need.
//
// Invariant: a bit is set for every leaf, at its position among all nodes in descending order of
// their values. Leaves of equal values count as one.
//
// Complexity: O(1) for a split, O(nodes / 64 + leaves) for a score.
template <class Number>
class RankedLeaves final : public LeafScore {
  public:
    RankedLeaves(const CutTree& tree, const double* values, const Wide* positive,
                 const Wide* negative, Curve curve, Poll& poll)
        : tree_(tree), curve_(curve), poll_(poll), position_(tree.n_nodes()),
          bits_((tree.n_nodes() + 63) / 64) {
        std::vector<Py_ssize_t> order(tree.n_nodes());
        std::iota(order.begin(), order.end(), Py_ssize_t{0});
        std::stable_sort(order.begin(), order.end(),
                         [=](Py_ssize_t a, Py_ssize_t b) { return values[a] > values[b]; });
        for (const Py_ssize_t i : order) {
            position_[i] = static_cast<Py_ssize_t>(nodes_.size());
            nodes_.push_back({values[i], Number(positive[i]), Number(negative[i])});
        }
    }

    void start() override {
        std::fill(bits_.begin(), bits_.end(), 0);
        flip(0);
    }
    void split(Py_ssize_t i) override {
        flip(i);
        flip(tree_.node(i).left_child);
        flip(tree_.node(i).right_child);
    }
    double value() override {
        Number all_positive, all_negative;  // of higher values
        Number positive, negative;          // of the value being looked at
        double area = 0.0, seen = std::numeric_limits<double>::infinity();
        const auto close = [&] {
            const double before = all_positive.value();
            all_positive.add(positive);
            all_negative.add(negative);
            if (curve_ == Curve::ROC) {
                area += negative.value() * (before + 0.5 * positive.value());
            } else if (positive.value() != 0.0) {
                const double above = all_positive.value();
                area += positive.value() * (above / (above + all_negative.value()));
            }
            positive = negative = Number{};
        };
        for (size_t word = 0; word < bits_.size(); ++word) {
            if (!poll_.go_on(1 + __builtin_popcountll(bits_[word]))) return 0.0;
            for (uint64_t bits = bits_[word]; bits != 0; bits &= bits - 1) {
                const Ranked& node = nodes_[64 * word + lowest_bit(bits)];
                if (node.value != seen) close();
                seen = node.value;
                positive.add(node.positive);
                negative.add(node.negative);
            }
        }
        close();
        return area;
    }

  private:
    struct Ranked {
        double value;
        Number positive, negative;
    };
    void flip(Py_ssize_t i) { bits_[position_[i] / 64] ^= uint64_t{1} << (position_[i] % 64); }

    const CutTree& tree_;
    const Curve curve_;
    Poll& poll_;
    std::vector<Ranked> nodes_;  // in descending order of values
    std::vector<Py_ssize_t> position_;
    std::vector<uint64_t> bits_;
};

// The leaves of a tree in the order of `values`, with counts where they hold the weights.
inline LeafScore* ranked_leaves(const CutTree& tree, const double* values, const Wide* positive,
                                const Wide* negative, Curve curve, Poll& poll) {
    if (is_count(positive, tree.n_nodes()) && is_count(negative, tree.n_nodes()))
        return new RankedLeaves<Count>(tree, values, positive, negative, curve, poll);
    return new RankedLeaves<Wide>(tree, values, positive, negative, curve, poll);
}

// The median of absolute errors; with weights, the mean of both neighbours where exactly half of
// the weight is below.
//
// Complexity: O(rows of the node) for a split, O(rows) for a median, sorted with weights.
class MedianError final : public LeafScore {
  public:
    // Rows of weight zero must not be among them; `weights` may be null: ones.
    MedianError(const CutTree& tree, const int64_t* leaves, const double* y, const double* weights,
                Py_ssize_t n_rows, const double* values, Py_ssize_t value_stride, Poll& poll)
        : tree_(tree), values_(values), value_stride_(value_stride), poll_(poll),
          start_(tree.n_nodes(), 0), n_(tree.n_nodes(), 0), rows_(n_rows), sorted_(n_rows) {
        for (Py_ssize_t row = 0; row < n_rows; ++row) ++n_[leaves[row]];
        for (auto i = tree.inner().rbegin(); i != tree.inner().rend(); ++i)
            n_[*i] = n_[tree.node(*i).left_child] + n_[tree.node(*i).right_child];
        for (const Py_ssize_t i : tree.inner()) {
            const int64_t left = tree.node(i).left_child;
            start_[left] = start_[i];
            start_[tree.node(i).right_child] = start_[i] + n_[left];
        }
        std::vector<Py_ssize_t> next(start_);
        for (Py_ssize_t row = 0; row < n_rows; ++row)
            rows_[next[leaves[row]]++] = {y[row], weights ? weights[row] : 1.0, 0.0};
        is_weighted_ = weights != nullptr;
    }

    void start() override { predict(0); }
    void split(Py_ssize_t i) override {
        predict(tree_.node(i).left_child);
        predict(tree_.node(i).right_child);
    }
    double value() override {
        if (!poll_.go_on((is_weighted_ ? 16 : 4) * rows_.size())) return 0.0;
        for (size_t p = 0; p < rows_.size(); ++p) sorted_[p] = {rows_[p].error, rows_[p].weight};
        return is_weighted_ ? weighted_median() : median();
    }

  private:
    struct Row {
        double y, weight, error;
    };
    using Errors = std::vector<std::pair<double, double>>;

    void predict(Py_ssize_t i) {
        if (!poll_.go_on(n_[i])) return;
        const double prediction = values_[i * value_stride_];
        for (Py_ssize_t p = start_[i]; p < start_[i] + n_[i]; ++p)
            rows_[p].error = std::fabs(prediction - rows_[p].y);
    }
    double median() {
        const Errors::iterator middle = sorted_.begin() + sorted_.size() / 2;
        std::nth_element(sorted_.begin(), middle, sorted_.end());
        if (sorted_.size() % 2 == 1) return middle->first;
        return (std::max_element(sorted_.begin(), middle)->first + middle->first) / 2.0;
    }
    double weighted_median() {
        std::sort(sorted_.begin(), sorted_.end());
        double total = 0.0;
        for (const auto& [error, weight] : sorted_) total += weight;
        size_t p = 0;
        double below = sorted_[0].second;
        while (below < 0.5 * total && p + 1 < sorted_.size()) below += sorted_[++p].second;
        if (below - 0.5 * total > std::numeric_limits<double>::epsilon()) return sorted_[p].first;
        const size_t next = std::min(p + 1, sorted_.size() - 1);
        return (sorted_[p].first + sorted_[next].first) / 2.0;
    }

    const CutTree& tree_;
    const double* values_;
    const Py_ssize_t value_stride_;
    Poll& poll_;
    std::vector<Py_ssize_t> start_, n_;  // the rows that pass through each node
    std::vector<Row> rows_;              // those of a node side by side
    Errors sorted_;                      // scratch: (error, weight)
    bool is_weighted_ = false;
};

}  // namespace fasttree
