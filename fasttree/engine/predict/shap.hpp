// SHAP values of a tree: exact, path-dependent, in O(nodes * features on a path / 2) per row.
//
// A tree is a sum over its leaves, and a leaf a product over the features on its path: feature i is
// known to lead there (o_i is 1 or 0), or unknown, and then leads there with the share z_i of the
// training weight. Shapley's weights of subsets of d features are a beta integral, so that
//
//     phi_i = v (o_i - z_i) * integral over t in [0, 1] of prod_{j != i} (o_j t + z_j (1 - t)).
//
// The integrand is a polynomial of degree d - 1: Gauss-Legendre quadrature with ceil(d / 2) points
// is exact. At a point every factor is positive and nothing cancels. The product without i is the
// whole product over factor i; leaves below a split share that factor, so their products are summed
// before they are divided (the sums of Linear TreeShap, Yu et al. 2022, at other points).
//
// Where a path splits on a feature again, the later edge replaces the earlier one: its z is the
// product of both shares, its o that of both answers. An edge knows a row only by the two answers,
// so everything but the products is computed once per tree. Rows are walked eight at a time, one
// per lane of a vector: the result does not depend on the instruction set.
#pragma once

#include <Python.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

#include "engine/simd/simd.hpp"
#include "utils/_cell.hpp"
#include "utils/_threads.hpp"
#include "utils/_value.hpp"

namespace fasttree {

// The arrays of a checked tree, an entry per node, and its splits on categories, ascending.
struct ShapTree {
    const int64_t* left;     // -1 at a leaf; children have larger ids than their parents
    const int64_t* right;
    const int64_t* feature;
    const double* threshold;
    const double* weight;    // of the training rows, not negative
    const uint8_t* missing_left;
    Py_ssize_t n_nodes;
    const int64_t* split_nodes;
    const int64_t* offsets;  // split i lists codes[offsets[i]:offsets[i + 1]], ascending
    const uint32_t* codes;
    const uint8_t* listed_left;
    Py_ssize_t n_splits;
};
static_assert(is_value<ShapTree>);

// Rows of a dense matrix, strides counted in elements.
struct ShapRows {
    const float* x;
    ptrdiff_t row_stride;
    ptrdiff_t col_stride;
};
static_assert(is_value<ShapRows>);

class PathShap {
public:
    static constexpr Py_ssize_t kRows = 8;

private:
    typedef double Doubles __attribute__((vector_size(kRows * sizeof(double))));
    typedef int64_t Flags __attribute__((vector_size(kRows * sizeof(int64_t))));
    typedef float Cells __attribute__((vector_size(kRows * sizeof(float))));
    struct alignas(64) Lanes { Doubles of; };
    struct alignas(64) Answers { Flags of; };
    struct alignas(32) Column { Cells of; };

    // A node is entered from its parent and, if it is no leaf, left after its children.
    struct Step {
        int32_t node;
        int32_t depth;
        int32_t slot;  // of the parent's feature
        bool is_left_child;
        bool leaves;
    };
    // What a leaf predicts, or that a leaf below does: values that are zero are skipped.
    struct Value {
        uint32_t k;
        double value;
    };

    ShapTree tree_;
    size_t n_points_, n_values_;
    int32_t max_depth_ = 0;
    std::vector<double> weights_;           // [n_points] of the quadrature
    std::vector<Step> steps_;
    std::vector<int32_t> earlier_;          // [n_nodes] depth of the edge of the same feature
                                            // above, 0 if there is none
    std::vector<int32_t> test_;             // [n_nodes] the split on categories, or -1
    std::vector<int32_t> slot_;             // [n_nodes] position of the feature in features_
    std::vector<int64_t> features_;         // those that the tree asks for
    std::vector<double> ratio_;             // [n_nodes] the factor if the earlier edge is closed
    std::vector<double> tables_;            // [n_nodes, 4, n_points] factor and gain if this edge
                                            // is closed, then if it is open
    std::vector<std::vector<Value>> below_; // [n_nodes]

public:
    // `points` and `weights` of a quadrature on [0, 1]; values[n_nodes, n_values].
    PathShap(const ShapTree& tree, const double* points, const double* weights, size_t n_points,
             const double* values, size_t n_values)
        : tree_(tree), n_points_(n_points), n_values_(n_values),
          weights_(weights, weights + n_points), earlier_(tree.n_nodes),
          test_(tree.n_nodes, -1), slot_(tree.n_nodes, -1),
          ratio_(tree.n_nodes), tables_(tree.n_nodes * 4 * n_points), below_(tree.n_nodes) {
        for (Py_ssize_t i = 0; i < tree.n_splits; ++i) {
            test_[tree.split_nodes[i]] = static_cast<int32_t>(i);
        }
        name_slots();
        plan();
        weigh_edges(points);
        list_values(values);
    }
    PathShap(const PathShap&) = delete;

    // Memory that a thread needs.
    struct Scratch {
        std::vector<Lanes> product;   // [depth, n_points]
        std::vector<Lanes> sum;       // [depth, n_values, n_points] over leaves
        std::vector<Lanes> gain;      // [n_points]
        std::vector<Answers> open;    // [depth] whether rows answer as the path does; yes at 0
        std::vector<Answers> answer;  // [depth] whether rows go left
        std::vector<Column> cells;    // [features_]
        std::vector<Lanes> phi;       // [features_, n_values]
        explicit Scratch(const PathShap& shap) {
            const size_t n_depths = static_cast<size_t>(shap.max_depth_) + 1;
            product.resize(n_depths * shap.n_points_);
            sum.resize(n_depths * shap.n_values_ * shap.n_points_);
            gain.resize(shap.n_points_);
            open.resize(n_depths);
            answer.resize(n_depths);
            cells.resize(shap.features_.size());
            phi.resize(shap.features_.size() * shap.n_values_);
        }
    };

    // Writes out[n_rows, n_features, n_values] for at most kRows rows, zeros aside.
    void explain(const ShapRows& rows, Py_ssize_t first, Py_ssize_t n_rows, Py_ssize_t n_features,
                 Simd simd, Scratch& scratch, double* out) const noexcept {
        for (size_t s = 0; s < features_.size(); ++s) {
            const float* x = rows.x + first * rows.row_stride + features_[s] * rows.col_stride;
            for (Py_ssize_t i = 0; i < kRows; ++i) {
                scratch.cells[s].of[i] = x[std::min(i, n_rows - 1) * rows.row_stride];
            }
        }
        std::fill(scratch.phi.begin(), scratch.phi.end(), Lanes{});
        if (simd == SIMD_AVX512) {
            walk_avx512(scratch);
        } else {
            walk(scratch);
        }
        for (size_t s = 0; s < features_.size(); ++s) {
            for (size_t k = 0; k < n_values_; ++k) {
                const Lanes& found = scratch.phi[s * n_values_ + k];
                for (Py_ssize_t i = 0; i < n_rows; ++i) {
                    out[(i * n_features + features_[s]) * n_values_ + k] = found.of[i];
                }
            }
        }
    }

private:
    void name_slots() {
        for (Py_ssize_t node = 0; node < tree_.n_nodes; ++node) {
            if (tree_.left[node] >= 0) features_.push_back(tree_.feature[node]);
        }
        std::sort(features_.begin(), features_.end());
        features_.erase(std::unique(features_.begin(), features_.end()), features_.end());
        for (Py_ssize_t node = 0; node < tree_.n_nodes; ++node) {
            if (tree_.left[node] < 0) continue;
            const auto found =
                std::lower_bound(features_.begin(), features_.end(), tree_.feature[node]);
            slot_[node] = static_cast<int32_t>(found - features_.begin());
        }
    }

    void plan() {
        std::vector<Step> stack{{0, 0, -1, false, false}};
        while (!stack.empty()) {
            const Step step = stack.back();
            stack.pop_back();
            steps_.push_back(step);
            max_depth_ = std::max(max_depth_, step.depth);
            if (step.leaves || tree_.left[step.node] < 0) continue;
            const auto left = static_cast<int32_t>(tree_.left[step.node]);
            const auto right = static_cast<int32_t>(tree_.right[step.node]);
            const int32_t slot = slot_[step.node];
            stack.push_back({step.node, step.depth, step.slot, step.is_left_child, true});
            stack.push_back({right, step.depth + 1, slot, false, false});
            stack.push_back({left, step.depth + 1, slot, true, false});
        }
    }

    // The tables of the edges, and which edge of its feature comes before each.
    void weigh_edges(const double* points) {
        std::vector<int32_t> path(max_depth_ + 1);                // nodes
        std::vector<double> share(max_depth_ + 1, 1.0);           // z of the edges into them
        std::vector<int32_t> latest(features_.size(), 0);         // depth of an edge, by slot
        std::vector<int32_t> replaced(max_depth_ + 1, 0);
        for (const Step& step : steps_) {
            const int32_t depth = step.depth, node = step.node;
            if (depth == 0) {
                path[0] = node;
                continue;
            }
            const int32_t parent = path[depth - 1];
            int32_t& last = latest[step.slot];
            if (!step.leaves) {
                path[depth] = node;
                const double whole = tree_.weight[parent];
                ratio_[node] = whole > 0 ? tree_.weight[node] / whole : 0.0;
                const double before = last > 0 ? share[last] : -1.0;
                share[depth] = last > 0 ? ratio_[node] * before : ratio_[node];
                earlier_[node] = last;
                double* table = tables_.data() + node * 4 * n_points_;
                for (size_t p = 0; p < n_points_; ++p) {
                    set_edge(table + p, points[p], share[depth], before);
                }
                replaced[depth] = last;
                last = depth;
            }
            if (step.leaves || tree_.left[node] < 0) last = replaced[depth];
        }
    }

    // z is the share of an edge, z_earlier that of the earlier edge, negative if there is none.
    void set_edge(double* table, double t, double z, double z_earlier) const {
        const double open = t + z * (1 - t), closed = z * (1 - t);
        const bool is_first = z_earlier < 0;
        const double open_earlier = is_first ? 1.0 : t + z_earlier * (1 - t);
        const double gain_earlier = is_first ? 0.0 : (1 - z_earlier) / open_earlier;
        table[0] = closed / open_earlier;
        table[n_points_] = -1 / (1 - t) - gain_earlier;  // (0 - z) / closed
        table[2 * n_points_] = open / open_earlier;
        table[3 * n_points_] = (1 - z) / open - gain_earlier;
    }

    void list_values(const double* values) {
        for (Py_ssize_t node = 0; node < tree_.n_nodes; ++node) {
            if (tree_.left[node] >= 0) continue;
            for (size_t k = 0; k < n_values_; ++k) {
                const double value = values[node * n_values_ + k];
                if (value != 0) below_[node].push_back({static_cast<uint32_t>(k), value});
            }
        }
        for (Py_ssize_t node = tree_.n_nodes - 1; node >= 0; --node) {
            if (tree_.left[node] < 0) continue;
            const auto &left = below_[tree_.left[node]], &right = below_[tree_.right[node]];
            std::set_union(left.begin(), left.end(), right.begin(), right.end(),
                           std::back_inserter(below_[node]),
                           [](const Value& a, const Value& b) { return a.k < b.k; });
        }
    }

#if FASTTREE_X86
    FASTTREE_AVX512 void walk_avx512(Scratch& scratch) const noexcept { walk_lanes(scratch); }
#else
    void walk_avx512(Scratch& scratch) const noexcept { walk_lanes(scratch); }
#endif
    void walk(Scratch& scratch) const noexcept { walk_lanes(scratch); }

    // Loop invariant: product[d], open[d] and answer[d] belong to the nodes on the path to the
    // step's node, sum[d] to the leaves below them that were visited.
    __attribute__((always_inline)) inline void walk_lanes(Scratch& scratch) const noexcept {
        const size_t n_points = n_points_;
        scratch.open[0].of = Flags{} - 1;
        for (const Step& step : steps_) {
            const size_t depth = static_cast<size_t>(step.depth), node = step.node;
            const bool is_leaf = tree_.left[node] < 0;
            Lanes* product = scratch.product.data() + depth * n_points;
            Lanes* sum = scratch.sum.data() + depth * n_values_ * n_points;
            if (depth == 0) {
                if (step.leaves || is_leaf) continue;
                for (size_t p = 0; p < n_points; ++p) product[p].of = Doubles{} + weights_[p];
                for (size_t p = 0; p < n_values_ * n_points; ++p) sum[p].of = Doubles{};
                ask(node, scratch, scratch.answer[0].of);
                continue;
            }
            const Flags before = scratch.open[earlier_[node]].of;
            const double* table = tables_.data() + node * 4 * n_points;
            if (!step.leaves) {
                const Flags went_left = scratch.answer[depth - 1].of;
                const Flags open = before & (step.is_left_child ? went_left : ~went_left);
                scratch.open[depth].of = open;
                const Doubles ratio = Doubles{} + ratio_[node];
                for (size_t p = 0; p < n_points; ++p) {
                    const Doubles closed_factor = Doubles{} + table[p];
                    const Doubles open_factor = Doubles{} + table[2 * n_points + p];
                    const Doubles factor = open ? open_factor : before ? closed_factor : ratio;
                    product[p].of = (product - n_points)[p].of * factor;
                }
                if (!is_leaf) {
                    for (const Value& value : below_[node]) {
                        for (size_t p = 0; p < n_points; ++p) {
                            sum[value.k * n_points + p].of = Doubles{};
                        }
                    }
                    ask(node, scratch, scratch.answer[depth].of);
                    continue;
                }
            }
            const Flags open = scratch.open[depth].of;
            for (size_t p = 0; p < n_points; ++p) {
                const Doubles closed_gain = Doubles{} + table[n_points + p];
                const Doubles open_gain = Doubles{} + table[3 * n_points + p];
                scratch.gain[p].of = open ? open_gain : before ? closed_gain : Doubles{};
            }
            for (const Value& value : below_[node]) {
                Lanes* part = sum + value.k * n_points;
                Lanes* above = part - n_values_ * n_points;
                Doubles gained = {};
                for (size_t p = 0; p < n_points; ++p) {
                    const Doubles leaves = is_leaf ? product[p].of * value.value : part[p].of;
                    above[p].of += leaves;
                    gained += leaves * scratch.gain[p].of;
                }
                scratch.phi[step.slot * n_values_ + value.k].of += gained;
            }
        }
    }

    __attribute__((always_inline)) inline void ask(size_t node, const Scratch& scratch,
                                                   Flags& went_left) const noexcept {
        const Cells cells = scratch.cells[slot_[node]].of;
        const bool missing_left = tree_.missing_left[node] != 0;
        if (test_[node] < 0) {
            const Doubles numbers = __builtin_convertvector(cells, Doubles);
            went_left = numbers <= tree_.threshold[node];
            if (missing_left) went_left |= numbers != numbers;
            return;
        }
        for (Py_ssize_t i = 0; i < kRows; ++i) {
            const bool is_left = is_listed_left(test_[node], cells[i], missing_left);
            went_left[i] = -static_cast<int64_t>(is_left);
        }
    }

    bool is_listed_left(int32_t test, float cell, bool missing_left) const noexcept {
        const uint32_t category = category_of(cell);
        if (category == NO_CATEGORY) return cell != cell && missing_left;
        const bool is_listed = std::binary_search(tree_.codes + tree_.offsets[test],
                                                  tree_.codes + tree_.offsets[test + 1], category);
        return is_listed == (tree_.listed_left[test] != 0);
    }
};

// SHAP values of rows [start, end) into out[n_rows, n_features, n_values], which holds zeros.
// Blocks of rows are handed out to threads. Throws std::bad_alloc.
inline void explain_rows(const PathShap& shap, const ShapRows& rows, Py_ssize_t start,
                         Py_ssize_t end, Py_ssize_t n_features, Py_ssize_t n_values, Simd simd,
                         int n_threads, double* out) {
    constexpr Py_ssize_t kRows = PathShap::kRows;
    std::vector<PathShap::Scratch> scratch;
    scratch.reserve(static_cast<size_t>(n_threads));
    for (int i = 0; i < n_threads; ++i) scratch.emplace_back(shap);
    const auto explain = [&](int thread, Py_ssize_t first, Py_ssize_t last) {
        shap.explain(rows, first, last - first, n_features, simd, scratch[thread],
                     out + first * n_features * n_values);
    };
    share_out(start, end, kRows, n_threads, explain);
}

}  // namespace fasttree
