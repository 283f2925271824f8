// A subproblem on the stack of the search: its data, its bounds and what its features brought.
#pragma once

#include <atomic>
#include <mutex>
#include <vector>

#include "engine/simd/bits.hpp"
#include "plan.hpp"
#include "sample_set.hpp"

namespace fasttree::optimal {

// Lower bounds of sets in slack form (value minus weight of the set), kUnknown at first: one row
// per budget and first literal, one element per second literal. Threads raise single elements,
// atomically, while others read whole rows: every value ever stored is a valid bound, so a stale
// one only prunes less.
class SlackTable {
  public:
    void reset(int n_budgets, ptrdiff_t n_rows, ptrdiff_t row_size) {
        n_rows_ = n_rows;
        row_size_ = row_size;
        const ptrdiff_t size = n_budgets * n_rows * row_size;
        std::fill_n(values_.reserve(size), size, kUnknown);
        is_used_ = true;
    }
    void disable() { is_used_ = false; }
    bool is_used() const { return is_used_; }
    int32_t* row(int budget, ptrdiff_t first) {
        return values_.get() + (budget * n_rows_ + first) * row_size_;
    }

    static void raise(int32_t* element, int32_t slack) {
        if (slack > __atomic_load_n(element, __ATOMIC_RELAXED))
            __atomic_store_n(element, slack, __ATOMIC_RELAXED);
    }

  private:
    AlignedBuffer<int32_t> values_;
    ptrdiff_t n_rows_ = 0, row_size_ = 0;
    bool is_used_ = false;
};

// Call `visit` with every feature of an entry.
template <class Visit>
inline void for_each_feature(const Problem& problem, uint32_t entry, Visit visit) {
    for (ptrdiff_t w = 0; w < problem.n_words; ++w)
        for (uint64_t bits = problem.rows[entry * problem.n_words + w]; bits; bits &= bits - 1)
            visit(64 * w + lowest_bit(bits));
}

constexpr int64_t kPenaltyScale = 1 << 20;

struct Node {
    int depth = 0;
    BudgetRange range{0, 0};
    Node* parent = nullptr;
    Literal via{0, false};
    Key key;

    SampleSet set;
    int32_t total_weight = 0, total_base = 0;
    std::vector<int32_t> totals;                 // per matrix
    std::vector<std::vector<int32_t>> diagonal;  // per matrix: features alone
    std::vector<int32_t> weight, base;           // of the samples with each feature
    AlignedBuffer<int32_t> weights;              // of pairs
    int32_t total_conflict = 0;                  // errors that no tree avoids
    std::vector<int32_t> conflict;               // those of the samples with each feature
    Gains gains;
    std::vector<int32_t> stump_gain[2];          // of the best stump without and with a feature

    Solution solution;
    // No solution is wanted for budget n unless it has a lower objective than limit[n].
    std::vector<int32_t> limit;
    std::vector<int32_t> sibling_lower;  // bounds of the other child, behind `limit`
    std::atomic<int64_t> parent_version{0};  // of the parent's incumbent, when limit was set
    int64_t leaf_penalty = 0;  // at the root, in 1 / kPenaltyScale of a weight: budgets compete

    SlackTable own;    // rows of sets X & h, unless the parent's pairs hold them
    SlackTable pairs;  // rows of sets X & g & h
    std::vector<int32_t> floor;  // least bound over the features dealt with so far
    std::vector<int32_t> order;  // the features to try
    std::atomic<int> next{0};    // position of the next one
    int order_by = 0, beam = 0;  // its kind and length, for descendants too

    bool is_shared = false;
    int n_helpers = 0;  // guarded by the team's mutex
    std::mutex mutex;
    std::atomic<int64_t> version{0};  // of the incumbent

    ptrdiff_t literal_row(const Problem& problem, Literal literal) const {
        return literal.feature + (literal.side ? 0 : problem.stride);
    }
    int32_t weight_of(Literal literal) const {
        return literal.side ? weight[literal.feature] : total_weight - weight[literal.feature];
    }
    int32_t base_of(Literal literal) const {
        return literal.side ? base[literal.feature] : total_base - base[literal.feature];
    }
    int32_t total_of(int matrix, Literal literal) const {
        const int32_t present = diagonal[matrix][literal.feature];
        return literal.side ? present : totals[matrix] - present;
    }
    int32_t conflict_of(Literal literal) const {
        if (total_conflict == 0) return 0;
        return literal.side ? conflict[literal.feature]
                            : total_conflict - conflict[literal.feature];
    }
    int32_t leaf_error(const Problem& problem, Literal literal) const {
        int32_t gain = 0;
        for (int m = 0; m < problem.n_matrices; ++m) gain = std::max(gain, total_of(m, literal));
        return base_of(literal) - gain;
    }
    int32_t stump_error(Literal literal) const {
        return base_of(literal) - stump_gain[literal.side][literal.feature];
    }

    // What still helps: a solution for budget n must be cheaper than this.
    int32_t target(int n) const {
        const int k = n - range.low;
        return std::min(solution.upper[k], limit[k]);
    }
    bool is_closed() const {
        for (int n = range.low; n <= range.high; ++n)
            if (solution.lower[n - range.low] < target(n)) return false;
        return true;
    }

    int64_t objective(int64_t error, int n) const {
        return error * kPenaltyScale + leaf_penalty * (n + 1);
    }

    // Budgets of the root compete once leaves cost something: n nodes can only win with an error
    // whose objective undercuts the best one.
    void apply_penalty() {
        if (leaf_penalty == 0) return;
        int64_t best = INT64_MAX;
        for (int n = range.low; n <= range.high; ++n)
            best = std::min(best, objective(solution.upper[n - range.low], n));
        for (int n = range.low; n <= range.high; ++n) {
            const int64_t left = std::max<int64_t>(0, best - leaf_penalty * (n + 1));
            limit[n - range.low] =
                static_cast<int32_t>((left + kPenaltyScale - 1) / kPenaltyScale);
        }
    }

    // Counters for a set of this weight: class differences stay within the classes, class weights
    // and measures within their sums.
    const Kernels& fitting(const Problem& problem, const Kernels* table) const {
        int32_t largest = problem.n_matrices == 1
                              ? std::max(total_base, total_weight - total_base)
                              : total_weight;
        for (int m = problem.n_matrices; m < problem.n_all_matrices(); ++m)
            largest = std::max(largest, totals[m]);
        int type = kInt8;
        while (type < kInt32 && largest > table[type].max_weight) ++type;
        return table[type];
    }

    // Count the set and find its best trees of depth two. Totals must be known. False if
    // `keep_going` said to stop: then the node is unchanged, but its matrices are spoiled.
    bool describe(const Problem& problem, const Kernels* table, const KeepGoing& keep_going) {
        const ptrdiff_t stride = problem.stride;
        const int n_matrices = static_cast<int>(totals.size());
        if (!set.count(problem, fitting(problem, table), keep_going)) return false;
        if (n_matrices > kFewMatrices && !keep_going()) return false;
        base.resize(stride);
        weight.resize(stride);
        int32_t* w = weights.reserve(problem.n_features * stride);
        set.weigh(problem, w, base.data());
        for (int f = 0; f < problem.n_features; ++f) weight[f] = w[f * (stride + 1)];
        diagonal.resize(n_matrices);
        for (int m = 0; m < n_matrices; ++m) {
            diagonal[m].resize(stride);
            for (int f = 0; f < problem.n_features; ++f)
                diagonal[m][f] = set.kernels->read(set.matrix(problem, m), f * (stride + 1));
        }
        find_conflicts(problem);
        if (n_matrices > kFewMatrices && !keep_going()) return false;
        for (auto& gain : stump_gain) gain.resize(stride);
        gains = set.kernels->evaluate(set.pair_counts(problem, totals.data()),
                                      stump_gain[0].data(), stump_gain[1].data());
        return true;
    }

    // Features alone, and the best tree of one node: all that a set of depth one needs.
    void describe_singles(const Problem& problem) {
        diagonal.assign(totals.size(), std::vector<int32_t>(problem.stride, 0));
        weight.assign(problem.stride, 0);
        base.assign(problem.stride, 0);
        for (int p = 0; p < problem.n_planes(); ++p) {
            const Plane& plane = problem.planes[p];
            const int32_t worth = 1 << plane.bit;
            for (int32_t k = set.plane_start[p]; k < set.plane_start[p + 1]; ++k)
                for_each_feature(problem, set.entries[k], [&](ptrdiff_t f) {
                    diagonal[plane.matrix][f] += plane.sign * worth;
                    if (plane.matrix < problem.n_matrices) weight[f] += worth;
                    if (plane.is_base) base[f] += worth;
                });
        }
        const int32_t leaf = leaf_gain(problem);
        gains = {{leaf, leaf, leaf, leaf}};
        for (int f = 0; f < problem.n_features; ++f)
            if (is_allowed(problem, f))
                gains.of[1] = std::max(gains.of[1], total_base -
                                                        leaf_error(problem, {f, false}) -
                                                        leaf_error(problem, {f, true}));
    }

    // Whether a split leaves enough on both sides.
    bool is_allowed(const Problem& problem, int f) const {
        if (weight[f] == 0 || weight[f] == total_weight) return false;
        for (int m = problem.n_matrices; m < problem.n_all_matrices(); ++m) {
            const int32_t present = diagonal[m][f];
            if (std::min(present, totals[m] - present) < problem.least[m - problem.n_matrices])
                return false;
        }
        return true;
    }
    int32_t leaf_gain(const Problem& problem) const {
        int32_t gain = 0;
        for (int m = 0; m < problem.n_matrices; ++m) gain = std::max(gain, totals[m]);
        return gain;
    }

    void find_conflicts(const Problem& problem) {
        total_conflict = 0;
        if (problem.conflict.empty()) return;
        conflict.assign(problem.stride, 0);
        for (ptrdiff_t e = 0; e < set.size(); ++e) {
            const uint32_t entry = set.entries[e];
            const int32_t errors = problem.conflict[entry];
            if (errors == 0) continue;
            total_conflict += errors;
            for_each_feature(problem, entry, [&](ptrdiff_t f) { conflict[f] += errors; });
        }
    }

    // Become the child of a described node on one side of a feature (without counting yet).
    void become_child(const Problem& problem, Node& from, Literal literal) {
        depth = from.depth - 1;
        parent = &from;
        via = literal;
        leaf_penalty = 0;
        set.assign(problem, from.set, literal);
        total_weight = from.weight_of(literal);
        total_base = from.base_of(literal);
        totals.resize(from.totals.size());
        for (size_t m = 0; m < totals.size(); ++m)
            totals[m] = from.total_of(static_cast<int>(m), literal);
    }

    // The same for a node that need not be described, entry by entry.
    void become_side(const Problem& problem, const Node& from, Literal literal) {
        depth = from.depth - 1;
        set.assign_filtered(problem, from.set, literal);
        add_totals(problem);
    }

    void become_copy(const Problem& problem, const Node& from) {
        depth = from.depth;
        set.entries = from.set.entries;
        set.plane_start = from.set.plane_start;
        add_totals(problem);
    }

    void become_root(const Problem& problem, int depth_) {
        depth = depth_;
        set.assign_all(problem);
        add_totals(problem);
    }

  private:
    // Going through more matrices, once counted, takes long enough to be asked before.
    static constexpr int kFewMatrices = 8;

    void add_totals(const Problem& problem) {
        total_weight = total_base = 0;
        totals.assign(problem.n_all_matrices(), 0);
        for (int p = 0; p < problem.n_planes(); ++p) {
            const Plane& plane = problem.planes[p];
            const int32_t worth = (set.plane_start[p + 1] - set.plane_start[p]) << plane.bit;
            totals[plane.matrix] += plane.sign * worth;
            if (plane.is_base) total_base += worth;
            if (plane.matrix < problem.n_matrices) total_weight += worth;
        }
    }
};

}  // namespace fasttree::optimal
