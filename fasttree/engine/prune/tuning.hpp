// Scores of many cut trees in one pass over the nodes of the full one. See _tuning.pyx.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/core/node_record.hpp"
#include "engine/prune/losses.hpp"
#include "engine/prune/pruning.hpp"
#include "engine/prune/wide.hpp"
#include "utils/_interrupt.hpp"

namespace fasttree {

// One setting of the limits, in absolute numbers; the layout of SETTING_DTYPE.
struct Setting {
    int64_t max_depth;
    int64_t min_samples_split;
    double min_impurity_decrease;
    int64_t max_leaf_nodes;  // NO_BUDGET for none
    double ccp_alpha;        // 0 does not prune
};
static_assert(sizeof(Setting) == 40, "SETTING_DTYPE");

constexpr int64_t NO_BUDGET = std::numeric_limits<int64_t>::max();

// The builders' slack in comparing a decrease of impurity with the limit.
constexpr double IMPROVEMENT_SLACK = std::numeric_limits<double>::epsilon();

// What decides, for each node of a full tree, which limits let it be split.
//
// Invariant: `depth` grows, `n_node_samples` and `weakest` shrink down every path. Hence a node is
// split under depth, rows and decrease exactly if it passes the three tests itself: whatever is
// above it passes them too.
class CutTree {
  public:
    CutTree(const NodeRecord* nodes, Py_ssize_t n_nodes, const double* improvement)
        : nodes_(nodes), n_nodes_(n_nodes), improvement_(improvement), depth_(n_nodes, 0),
          weakest_(n_nodes, 0.0) {
        for (Py_ssize_t i = 0; i < n_nodes; ++i) {
            if (i == 0 || improvement[i] < weakest_[i]) weakest_[i] = improvement[i];
            max_depth_ = std::max<int64_t>(max_depth_, depth_[i]);
            if (nodes[i].left_child < 0) continue;
            inner_.push_back(i);
            for (const int64_t child : {nodes[i].left_child, nodes[i].right_child}) {
                depth_[child] = depth_[i] + 1;
                weakest_[child] = weakest_[i];
            }
        }
    }

    const NodeRecord& node(Py_ssize_t i) const { return nodes_[i]; }
    Py_ssize_t n_nodes() const { return n_nodes_; }
    int64_t max_depth() const { return max_depth_; }
    int64_t depth(Py_ssize_t i) const { return depth_[i]; }
    const std::vector<Py_ssize_t>& inner() const { return inner_; }  // ascending ids

    // As the builders accept a split: without a limit, every one.
    bool decreases_enough(Py_ssize_t i, double min_impurity_decrease) const {
        return min_impurity_decrease <= 0.0
               || !(weakest_[i] + IMPROVEMENT_SLACK < min_impurity_decrease);
    }
    bool is_split(Py_ssize_t i, const Setting& s) const {
        return nodes_[i].left_child >= 0 && depth_[i] < s.max_depth
               && nodes_[i].n_node_samples >= s.min_samples_split
               && decreases_enough(i, s.min_impurity_decrease);
    }

    // The nodes split without a budget of leaves, ascending.
    std::vector<Py_ssize_t> splits(const Setting& s) const {
        std::vector<Py_ssize_t> split;
        for (const Py_ssize_t i : inner_)
            if (is_split(i, s)) split.push_back(i);
        return split;
    }

    // The same nodes in the order of best-first growth: of those whose parents are split, the
    // largest improvement, then the first in depth-first order. O(n log n)
    std::vector<Py_ssize_t> expansions(const Setting& s) const {
        const auto is_later = [this](Py_ssize_t a, Py_ssize_t b) {
            if (improvement_[a] != improvement_[b]) return improvement_[a] < improvement_[b];
            return a > b;
        };
        using Nodes = std::vector<Py_ssize_t>;
        std::priority_queue<Py_ssize_t, Nodes, decltype(is_later)> frontier(is_later);
        std::vector<Py_ssize_t> order;
        if (is_split(0, s)) frontier.push(0);
        while (!frontier.empty()) {
            const Py_ssize_t i = frontier.top();
            frontier.pop();
            order.push_back(i);
            for (const int64_t child : {nodes_[i].left_child, nodes_[i].right_child})
                if (is_split(child, s)) frontier.push(child);
        }
        return order;
    }

    // Reorders `split`, the inner nodes of a cut tree, so that minimal cost-complexity pruning
    // leaves a prefix of it; `level` receives the effective alpha that removes each one.
    // Links above max_alpha are not looked for.
    void order_by_alpha(std::vector<Py_ssize_t>& split, double max_alpha,
                        std::vector<double>& level) const {
        std::vector<Py_ssize_t> ids;
        std::vector<NodeRecord> copies;
        const NodeRecord* cut = nodes_;
        Py_ssize_t n_cut = n_nodes_;
        if (split.size() < inner_.size()) {
            std::vector<uint8_t> is_leaf(n_nodes_, 1);
            for (const Py_ssize_t i : split) is_leaf[i] = 0;
            copy_cut(nodes_, is_leaf.data(), ids, copies);
            cut = copies.data();
            n_cut = static_cast<Py_ssize_t>(copies.size());
        } else {  // the numbers are part of the result: sums run in their order
            ids.resize(n_nodes_);
            std::iota(ids.begin(), ids.end(), Py_ssize_t{0});
        }
        split.clear();
        level.clear();
        WeakestLinks links(cut, n_cut);
        for (Py_ssize_t i = 0; i < n_cut; ++i) links.add_leaf(i);
        for (Py_ssize_t i = 0; i < n_cut; ++i) links.add_link(i);
        std::vector<uint8_t> is_removed(n_cut, 0);
        std::vector<Py_ssize_t> stack;
        double alpha, highest = -std::numeric_limits<double>::infinity();
        Py_ssize_t link;
        while (links.find(alpha, link) && !(max_alpha < alpha)) {
            links.cut(link);
            highest = std::max(highest, alpha);
            stack.assign(1, link);
            while (!stack.empty()) {
                const Py_ssize_t i = stack.back();
                stack.pop_back();
                if (cut[i].left_child < 0 || is_removed[i]) continue;
                is_removed[i] = 1;
                split.push_back(ids[i]);
                level.push_back(highest);
                stack.push_back(cut[i].left_child);
                stack.push_back(cut[i].right_child);
            }
        }
        for (Py_ssize_t i = 0; i < n_cut; ++i) {
            if (cut[i].left_child < 0 || is_removed[i]) continue;
            split.push_back(ids[i]);
            level.push_back(std::numeric_limits<double>::infinity());
        }
        std::reverse(split.begin(), split.end());
        std::reverse(level.begin(), level.end());
    }

    // How many nodes of a prefix ordered by alpha remain split.
    static size_t n_remaining(const std::vector<double>& level, double ccp_alpha) {
        if (ccp_alpha == 0.0) return level.size();
        return std::partition_point(level.begin(), level.end(),
                                    [=](double l) { return ccp_alpha < l; }) - level.begin();
    }

    // Marks what is not split under one setting.
    void mark_leaves(const Setting& s, uint8_t* is_leaf) const {
        const bool has_budget = s.max_leaf_nodes < NO_BUDGET;
        std::vector<Py_ssize_t> split = has_budget ? expansions(s) : splits(s);
        if (has_budget) split.resize(std::min<size_t>(split.size(), s.max_leaf_nodes - 1));
        if (s.ccp_alpha != 0.0) {
            std::vector<double> level;
            order_by_alpha(split, s.ccp_alpha, level);
            split.resize(n_remaining(level, s.ccp_alpha));
        }
        std::fill(is_leaf, is_leaf + n_nodes_, uint8_t{1});
        for (const Py_ssize_t i : split) is_leaf[i] = 0;
    }

  private:
    const NodeRecord* nodes_;
    const Py_ssize_t n_nodes_;
    const double* improvement_;
    std::vector<int64_t> depth_;
    std::vector<double> weakest_;  // smallest improvement of the node and those above
    std::vector<Py_ssize_t> inner_;
    int64_t max_depth_ = 0;
};

// Whether all sums of a quantity of nodes are integers that a double holds.
inline bool is_count(const Wide* quantity, Py_ssize_t n) {
    double total = 0.0;
    for (Py_ssize_t i = 0; i < n; ++i) {
        if (quantity[i].low != 0.0 || quantity[i].high != std::nearbyint(quantity[i].high))
            return false;
        total += std::fabs(quantity[i].high);
    }
    return 2.0 * total < 9007199254740992.0;
}

// Walks the settings so that those whose trees are nested share a pass.
//
// Settings without budget and alpha are points of a grid of depths times rows. A budget or an alpha
// orders the nodes instead, and a prefix is split: one order serves all budgets, one all alphas.
class CutPasses {
  public:
    CutPasses(const CutTree& tree, const Setting* settings, Py_ssize_t n_settings)
        : tree_(tree), settings_(settings, settings + n_settings), order_(n_settings) {
        for (Setting& s : settings_) {  // limits that do not bind, alike
            s.max_depth = std::min(s.max_depth, tree.max_depth());
            if (s.max_leaf_nodes > static_cast<int64_t>(tree.inner().size()))
                s.max_leaf_nodes = NO_BUDGET;
        }
        std::iota(order_.begin(), order_.end(), Py_ssize_t{0});
        const auto precedes = [this](Py_ssize_t a, Py_ssize_t b) {
            return key(settings_[a]) < key(settings_[b]);
        };
        if (!std::is_sorted(order_.begin(), order_.end(), precedes))
            std::sort(order_.begin(), order_.end(), precedes);
    }
    virtual ~CutPasses() = default;

    // Does the next settings that share a pass; false if none was left.
    bool step() {
        if (done_ == order_.size()) return false;
        const Setting& first = at(done_);
        if (!is_ordered(first)) {
            const size_t end = run_end([&](const Setting& s) {
                return !is_ordered(s) && s.min_impurity_decrease == first.min_impurity_decrease;
            });
            do_grid(done_, end);
            done_ = end;
            return true;
        }
        const bool prunes = first.ccp_alpha != 0.0;
        const size_t end = run_end([&](const Setting& s) {
            return is_ordered(s) && s.min_impurity_decrease == first.min_impurity_decrease
                   && s.max_depth == first.max_depth
                   && s.min_samples_split == first.min_samples_split
                   && (s.ccp_alpha != 0.0) == prunes
                   && (!prunes || s.max_leaf_nodes == first.max_leaf_nodes);
        });
        if (prunes) sweep_alphas(done_, end);
        else sweep_budgets(done_, end);
        done_ = end;
        return true;
    }

  protected:
    // A setting that splits the first n_split nodes of an order.
    struct Prefix {
        size_t n_split;
        Py_ssize_t setting;
    };

    // Does the settings at positions [start, end): the same decrease, no budget and no alpha.
    virtual void do_grid(size_t start, size_t end) = 0;
    // Does settings that split prefixes of one order; n_split ascends.
    virtual void do_prefixes(const std::vector<Py_ssize_t>& order,
                             const std::vector<Prefix>& prefixes) = 0;

    const Setting& at(size_t position) const { return settings_[order_[position]]; }

    // Calls visit(setting, index of its depth, index of its rows) in order; both limits ascend.
    template <class Visit>
    void walk_grid(size_t start, size_t end, std::vector<int64_t>& depths,
                   std::vector<int64_t>& rows, Visit visit) const {
        size_t d = 0, r = 0;
        for (size_t p = start; p < end; ++p) {
            const Setting& s = at(p);
            if (p > start && s.max_depth != at(p - 1).max_depth) {
                ++d;
                r = 0;
            }
            if (d == depths.size()) depths.push_back(s.max_depth);
            while (r < rows.size() && rows[r] < s.min_samples_split) ++r;
            if (r == rows.size() || rows[r] != s.min_samples_split)
                rows.insert(rows.begin() + r, s.min_samples_split);
            visit(order_[p], d, r);
        }
    }

    const CutTree& tree_;

  private:
    static bool is_ordered(const Setting& s) {
        return s.max_leaf_nodes < NO_BUDGET || s.ccp_alpha != 0.0;
    }
    using Key = std::tuple<double, bool, int64_t, int64_t, bool, int64_t, double>;
    static Key key(const Setting& s) {
        return {s.min_impurity_decrease, is_ordered(s), s.max_depth, s.min_samples_split,
                s.ccp_alpha != 0.0, s.max_leaf_nodes, s.ccp_alpha};
    }

    template <class Same>
    size_t run_end(Same same) const {
        size_t end = done_ + 1;
        while (end < order_.size() && same(at(end))) ++end;
        return end;
    }

    void sweep_budgets(size_t start, size_t end) {
        std::vector<Prefix> prefixes;
        const std::vector<Py_ssize_t> order = tree_.expansions(at(start));
        for (size_t p = start; p < end; ++p)
            prefixes.push_back(
                {std::min<size_t>(order.size(), at(p).max_leaf_nodes - 1), order_[p]});
        do_prefixes(order, prefixes);
    }

    void sweep_alphas(size_t start, size_t end) {
        Setting largest = at(end - 1);
        std::vector<Py_ssize_t> split;
        if (largest.max_leaf_nodes < NO_BUDGET) {
            split = tree_.expansions(largest);
            split.resize(std::min<size_t>(split.size(), largest.max_leaf_nodes - 1));
        } else {
            split = tree_.splits(largest);
        }
        std::vector<double> level;
        tree_.order_by_alpha(split, largest.ccp_alpha, level);
        std::vector<Prefix> prefixes;
        for (size_t p = end; p-- > start;)  // ascending alphas: descending numbers of splits
            prefixes.push_back({CutTree::n_remaining(level, at(p).ccp_alpha), order_[p]});
        do_prefixes(split, prefixes);
    }

    std::vector<Setting> settings_;
    std::vector<Py_ssize_t> order_;  // settings that share a pass stand together
    size_t done_ = 0;
};

// Sums over the leaves of every cut tree of quantities that each node has.
//
// A sum over leaves is the root's quantity plus a gain, (left + right - node), per node that is
// split. On a grid every gain goes to the first cell that has it and cumulative sums spread it.
//
// Complexity: O(nodes * log(settings) + cells) per channel and decrease; a sweep is
// O(nodes * log(nodes)) for budgets, plus the pruning path for alphas.
class CutSums final : public CutPasses {
  public:
    // `quantities` has n_channels rows of n_nodes entries, `out` n_settings of n_channels.
    CutSums(const CutTree& tree, const Setting* settings, Py_ssize_t n_settings,
            const Wide* quantities, Py_ssize_t n_channels, double* out)
        : CutPasses(tree, settings, n_settings), quantities_(quantities), n_channels_(n_channels),
          out_(out) {
        for (Py_ssize_t k = 0; k < n_channels; ++k)
            counts_.push_back(is_count(quantities + k * tree.n_nodes(), tree.n_nodes()));
    }

  private:
    template <class Number>
    Number gain(Py_ssize_t i, const Wide* quantity) const {
        Number sum(quantity[tree_.node(i).left_child]);
        sum.add(Number(quantity[tree_.node(i).right_child]));
        sum.subtract(Number(quantity[i]));
        return sum;
    }

    // Calls visit(channel, number) with the kind of number that its sums need.
    template <class Visit>
    void each_channel(Visit visit) const {
        for (Py_ssize_t k = 0; k < n_channels_; ++k) {
            if (counts_[k]) visit(k, Count{});
            else visit(k, Wide{});
        }
    }

    void do_grid(size_t start, size_t end) override {
        std::vector<int64_t> depths, rows;
        walk_grid(start, end, depths, rows, [](Py_ssize_t, size_t, size_t) {});
        const size_t n_rows = rows.size();

        // A node is split from some depth on, up to some number of rows: its corner of the grid.
        std::vector<std::pair<Py_ssize_t, size_t>> corners;
        for (const Py_ssize_t i : tree_.inner()) {
            if (!tree_.decreases_enough(i, at(start).min_impurity_decrease)) continue;
            const int64_t n_rows_of_node = tree_.node(i).n_node_samples;
            const size_t d =
                std::upper_bound(depths.begin(), depths.end(), tree_.depth(i)) - depths.begin();
            const size_t r =
                std::upper_bound(rows.begin(), rows.end(), n_rows_of_node) - rows.begin();
            if (d < depths.size() && r > 0) corners.emplace_back(i, d * n_rows + r - 1);
        }
        each_channel([&](Py_ssize_t k, auto zero) {
            using Number = decltype(zero);
            const Wide* quantity = quantities_ + k * tree_.n_nodes();
            std::vector<Number> cells(depths.size() * n_rows, zero);
            for (const auto& [i, cell] : corners) cells[cell].add(gain<Number>(i, quantity));
            for (size_t c = n_rows; c < cells.size(); ++c) cells[c].add(cells[c - n_rows]);
            for (size_t r = n_rows - 1; r-- > 0;) {
                for (size_t c = r; c < cells.size(); c += n_rows) cells[c].add(cells[c + 1]);
            }
            walk_grid(start, end, depths, rows, [&](Py_ssize_t setting, size_t d, size_t r) {
                Number sum(quantity[0]);
                sum.add(cells[d * n_rows + r]);
                out_[setting * n_channels_ + k] = sum.value();
            });
        });
    }

    void do_prefixes(const std::vector<Py_ssize_t>& order,
                     const std::vector<Prefix>& prefixes) override {
        each_channel([&](Py_ssize_t k, auto zero) {
            using Number = decltype(zero);
            const Wide* quantity = quantities_ + k * tree_.n_nodes();
            Number sum(quantity[0]);
            size_t i = 0;
            for (const Prefix& prefix : prefixes) {
                for (; i < prefix.n_split; ++i) sum.add(gain<Number>(order[i], quantity));
                out_[prefix.setting * n_channels_ + k] = sum.value();
            }
        });
    }

    const Wide* quantities_;
    const Py_ssize_t n_channels_;
    double* out_;
    std::vector<bool> counts_;  // channels whose sums a double holds
};

// Weight of each class among the rows that pass through each node; codes below 0 are no class.
// `weights` may be null: ones. O(rows + nodes * classes)
inline void add_class_weights(const NodeRecord* nodes, Py_ssize_t n_nodes, const int64_t* leaves,
                              const int64_t* codes, const double* weights, Py_ssize_t n_rows,
                              Py_ssize_t n_classes, Wide* out, Poll& poll) noexcept {
    for (Py_ssize_t row = 0; row < n_rows; ++row) {
        if (!poll.go_on(1)) return;
        if (codes[row] >= 0)
            out[leaves[row] * n_classes + codes[row]].add(weights ? weights[row] : 1.0);
    }
    for (Py_ssize_t i = n_nodes; i-- > 0;) {
        if (nodes[i].left_child < 0) continue;
        if (!poll.go_on(n_classes)) return;
        const Wide* left = out + nodes[i].left_child * n_classes;
        const Wide* right = out + nodes[i].right_child * n_classes;
        for (Py_ssize_t c = 0; c < n_classes; ++c) {
            out[i * n_classes + c] = left[c];
            out[i * n_classes + c].add(right[c]);
        }
    }
}

// Weighted losses of the rows that pass through each node, predicted by the node's value; which
// loss, and its parameter: see losses.hpp. O(rows * depth)
inline void add_losses(const NodeRecord* nodes, Py_ssize_t n_nodes, const int64_t* leaves,
                       const double* y, const double* weights, Py_ssize_t n_rows,
                       const double* values, Py_ssize_t value_stride, int loss, double parameter,
                       Wide* out, Poll& poll) {
    std::vector<Py_ssize_t> parent(n_nodes, -1);
    for (Py_ssize_t i = 0; i < n_nodes; ++i)
        if (nodes[i].left_child >= 0)
            parent[nodes[i].left_child] = parent[nodes[i].right_child] = i;
    with_loss(loss, parameter, [&](const auto& loss_of) {
        for (Py_ssize_t row = 0; row < n_rows; ++row) {
            for (Py_ssize_t i = leaves[row]; i >= 0; i = parent[i]) {
                if (!poll.go_on(1)) return;
                const double lost = loss_of(y[row], values[i * value_stride]);
                out[i].add(weights ? weights[row] * lost : lost);
            }
        }
    });
}

// Marks the nodes to cut so that the sum of `quantity` over the leaves is smallest, and of equal
// sums the number of leaves (Quinlan 1987). O(nodes)
inline void mark_reduced_error(const NodeRecord* nodes, Py_ssize_t n_nodes, const Wide* quantity,
                               uint8_t* is_leaf) {
    std::vector<Wide> least(quantity, quantity + n_nodes);
    for (Py_ssize_t i = n_nodes; i-- > 0;) {
        is_leaf[i] = 1;
        if (nodes[i].left_child < 0) continue;
        Wide below = least[nodes[i].left_child];
        below.add(least[nodes[i].right_child]);
        Wide difference = below;
        difference.subtract(quantity[i]);
        if (difference.value() < 0.0) {
            is_leaf[i] = 0;
            least[i] = below;
        }
    }
}

}  // namespace fasttree
