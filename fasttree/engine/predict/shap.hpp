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
// product of both shares, its o that of both answers. An edge knows the row only by the two answers,
// so everything but one product per edge and point is computed once per tree.
#pragma once

#include <Python.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "../../utils/_labels.hpp"
#include "../../utils/_threads.hpp"
#include "../../utils/_value.hpp"

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

class PathShap {
    static constexpr size_t kLanes = 4;
    // Sums of lanes have one order, whatever the instruction set.
    typedef double Lanes __attribute__((vector_size(kLanes * sizeof(double)), aligned(8)));

    // What the edge into a node does, by the answers: the earlier edge of its feature is closed;
    // open, but this one closed; both open. Without an earlier edge that one counts as open.
    static constexpr size_t kStates = 3;

    ShapTree tree_;
    size_t n_points_;                // a multiple of kLanes; what is added has weight 0
    std::vector<double> weights_;    // [n_points] of the quadrature
    std::vector<int64_t> parent_;    // [n_nodes]
    std::vector<int64_t> earlier_;   // [n_nodes] the edge of the same feature above, or -1
    std::vector<int32_t> test_;      // [n_nodes] the split on categories, or -1
    std::vector<double> factors_;    // [n_nodes, kStates, n_points] of the product
    std::vector<double> gains_;      // [n_nodes, kStates, n_points] share of phi in the sums below

public:
    // `points` and `weights` of a quadrature on [0, 1]; their number is a multiple of 4.
    PathShap(const ShapTree& tree, const double* points, const double* weights, size_t n_points)
        : tree_(tree), n_points_(n_points), weights_(weights, weights + n_points),
          parent_(tree.n_nodes, -1), earlier_(tree.n_nodes, -1), test_(tree.n_nodes, -1),
          factors_(tree.n_nodes * kStates * n_points), gains_(factors_.size()) {
        for (Py_ssize_t i = 0; i < tree.n_splits; ++i) {
            test_[tree.split_nodes[i]] = static_cast<int32_t>(i);
        }
        for (Py_ssize_t node = 0; node < tree.n_nodes; ++node) {
            if (tree.left[node] < 0) continue;
            parent_[tree.left[node]] = parent_[tree.right[node]] = node;
        }
        std::vector<double> share(tree.n_nodes, 1.0);  // z of the edge into a node
        for (Py_ssize_t node = 1; node < tree.n_nodes; ++node) {
            int64_t above = parent_[node];
            const int64_t feature = tree.feature[above];
            const double whole = tree.weight[above];
            const double ratio = whole > 0 ? tree.weight[node] / whole : 0.0;
            while (above > 0 && tree.feature[parent_[above]] != feature) above = parent_[above];
            earlier_[node] = above > 0 ? above : -1;
            share[node] = ratio * (above > 0 ? share[above] : 1.0);
            for (size_t p = 0; p < n_points; ++p) {
                set_edge(node, p, points[p], ratio, share[node], above > 0 ? share[above] : -1.0);
            }
        }
    }
    PathShap(const PathShap&) = delete;

    // Memory that a thread needs for a row.
    struct Scratch {
        std::vector<uint8_t> state;   // [n_nodes] 2: the row answers as the path to the node does
        std::vector<double> product;  // [n_nodes, n_points]
        std::vector<double> sum;      // [n_nodes, n_points] over the leaves below
        explicit Scratch(const PathShap& shap)
            : state(shap.tree_.n_nodes), product(shap.tree_.n_nodes * shap.n_points_),
              sum(product.size()) {}
    };

    // Adds to out[n_features, n_values] the SHAP values of a row for each of the values of a leaf,
    // values[n_nodes, n_values].
    void explain(const float* x, ptrdiff_t stride, const double* values, size_t n_values,
                 Scratch& scratch, double* out) const noexcept {
        multiply(x, stride, scratch);
        for (size_t k = 0; k < n_values; ++k) add_up(values + k, n_values, scratch, out + k);
    }

private:
    // z and the z of the earlier edge, which is negative if there is none.
    void set_edge(Py_ssize_t node, size_t p, double t, double ratio, double z, double z_earlier) {
        const double open = t + z * (1 - t), closed = z * (1 - t);
        const bool is_first = z_earlier < 0;
        const double open_earlier = is_first ? 1.0 : t + z_earlier * (1 - t);
        const double gain_earlier = is_first ? 0.0 : (1 - z_earlier) / open_earlier;
        double* factor = factors_.data() + node * kStates * n_points_ + p;
        double* gain = gains_.data() + node * kStates * n_points_ + p;
        factor[0] = ratio;  // closed / closed earlier
        gain[0] = 0.0;
        factor[n_points_] = closed / open_earlier;
        gain[n_points_] = -1 / (1 - t) - gain_earlier;  // (0 - z) / closed
        factor[2 * n_points_] = open / open_earlier;
        gain[2 * n_points_] = (1 - z) / open - gain_earlier;
    }

    bool goes_left(int64_t node, float x) const noexcept {
        const int32_t test = test_[node];
        if (test < 0) return x != x ? tree_.missing_left[node] != 0 : x <= tree_.threshold[node];
        const uint32_t label = label_of(x);
        if (label == NO_LABEL) return x != x && tree_.missing_left[node];
        const bool is_listed = std::binary_search(tree_.codes + tree_.offsets[test],
                                                  tree_.codes + tree_.offsets[test + 1], label);
        return is_listed == (tree_.listed_left[test] != 0);
    }

    // The products of the factors on the path to every node, from the root down.
    void multiply(const float* x, ptrdiff_t stride, Scratch& scratch) const noexcept {
        std::copy(weights_.begin(), weights_.end(), scratch.product.begin());
        scratch.state[0] = 2;
        for (Py_ssize_t node = 0; node < tree_.n_nodes; ++node) {
            const int64_t left = tree_.left[node];
            if (left < 0) continue;
            const bool is_left = goes_left(node, x[tree_.feature[node] * stride]);
            enter(left, is_left, scratch);
            enter(tree_.right[node], !is_left, scratch);
        }
    }

    void enter(int64_t node, bool is_taken, Scratch& scratch) const noexcept {
        const bool is_open = earlier_[node] < 0 || scratch.state[earlier_[node]] == 2;
        const size_t state = is_open ? 1 + is_taken : 0;
        scratch.state[node] = static_cast<uint8_t>(state);
        const double* factor = factors_.data() + (node * kStates + state) * n_points_;
        const double* above = scratch.product.data() + parent_[node] * n_points_;
        double* product = scratch.product.data() + node * n_points_;
        for (size_t p = 0; p < n_points_; p += kLanes) {
            at(product + p) = at(above + p) * at(factor + p);
        }
    }

    // The sums over leaves, from the leaves up, and what each edge adds to its feature.
    void add_up(const double* values, size_t step, Scratch& scratch, double* out) const noexcept {
        std::fill(scratch.sum.begin(), scratch.sum.end(), 0.0);
        for (Py_ssize_t node = tree_.n_nodes - 1; node > 0; --node) {
            const int64_t parent = parent_[node];
            double* sum = scratch.sum.data() + node * n_points_;
            double* above = scratch.sum.data() + parent * n_points_;
            const double* gain =
                gains_.data() + (node * kStates + scratch.state[node]) * n_points_;
            const double* product = scratch.product.data() + node * n_points_;
            const bool is_leaf = tree_.left[node] < 0;
            const double value = is_leaf ? values[node * step] : 0.0;
            Lanes added = {};
            for (size_t p = 0; p < n_points_; p += kLanes) {
                if (is_leaf) at(sum + p) = at(product + p) * value;
                at(above + p) += at(sum + p);
                added += at(sum + p) * at(gain + p);
            }
            out[tree_.feature[parent] * step] += (added[0] + added[1]) + (added[2] + added[3]);
        }
    }

    static Lanes& at(double* p) noexcept { return *reinterpret_cast<Lanes*>(p); }
    static const Lanes& at(const double* p) noexcept { return *reinterpret_cast<const Lanes*>(p); }
};

// SHAP values of rows [start, end) of a matrix with strides counted in elements; out, of shape
// (n_rows, n_features, n_values), is filled with zeros. A row is one thread's. Throws
// std::bad_alloc.
inline void explain_rows(const PathShap& shap, const float* x, ptrdiff_t row_stride,
                         ptrdiff_t col_stride, Py_ssize_t start, Py_ssize_t end,
                         const double* values, size_t n_values, Py_ssize_t n_features,
                         int n_threads, double* out) {
    std::vector<PathShap::Scratch> scratch;
    scratch.reserve(static_cast<size_t>(n_threads));
    for (int i = 0; i < n_threads; ++i) scratch.emplace_back(shap);
#pragma omp parallel for schedule(static) num_threads(n_threads) if (n_threads > 1)
    for (Py_ssize_t row = start; row < end; ++row) {
        shap.explain(x + row * row_stride, col_stride, values, n_values, scratch[thread_num()],
                     out + row * n_features * static_cast<Py_ssize_t>(n_values));
    }
}

}  // namespace fasttree
