// Depth-first branch and bound over (row set, depth, node budgets).
//
// A node of depth k >= 3 counts its pair matrix once, which gives its best trees of depth two
// (first incumbent), an order of its features (by the best depth-two tree below each) and the
// weights that similarity bounds need. For each feature, children of depth two are evaluated by
// one count of the smaller side; deeper children are searched in turn, the heavier one first.
//
// Every subproblem returns bounds and a solution per budget: `upper` always has a tree behind it,
// `lower` is always proven, so a search that is stopped anywhere still reports both.
//
// Sources: MurTree (Demirovic et al., JMLR 2022) for the dynamic programme, its depth-two solver
// and similarity bounds; STreeD (van der Linden et al., NeurIPS 2023) for budgets and caching;
// P-STreeD (Sandu, 2024) for threads that share the features of nodes near the root.
#pragma once

#include <limits>
#include <memory>
#include <mutex>
#include <vector>

#include "team.hpp"

namespace fasttree::optimal {

constexpr int32_t kInfinite = std::numeric_limits<int32_t>::max();
constexpr int kAllFeatures = std::numeric_limits<int>::max();

class Worker {
  public:
    Worker(Team& team, bool with_poll)
        : team_(team),
          problem_(team.problem),
          with_poll_(with_poll),
          levels_(team.ranges.size()) {}

    Statistics statistics;

    // Start a node whose set is assigned: count it and find its first incumbents. False if the
    // search was stopped before that.
    bool prepare(Node& node);
    // Try the `beam` first features in the given order, sharing the node where that pays.
    void search(Node& node, int order, int beam);
    // Take features of open nodes until the team is done.
    void help_until_over() noexcept;

  private:
    // Scratch of the children of a node: one level of the depth-first search.
    struct Level {
        Node child;
        Solution sides[2];
    };

    Level& level(int depth) {
        if (!levels_[depth]) levels_[depth] = std::make_unique<Level>();
        return *levels_[depth];
    }
    const BudgetRange& range(int depth) const { return team_.ranges[depth]; }
    void tick(int64_t cost) {
        if ((budget_ -= cost) > 0) return;
        budget_ = kCheckEvery;
        team_.check(with_poll_);
    }

    // search.hpp
    void try_features(Node& node, bool may_share) noexcept;
    void process(Node& node, int feature);
    void evaluate_sides(Node& node, int feature, Solution* sides);
    void evaluate_side(Node& node, Literal literal, bool is_counted, Solution& side);
    void search_sides(Node& node, int feature, Solution* sides);
    void search_side(Node& node, Literal literal, Solution* sides);
    bool recall(Node& node, Literal literal, Key key, Solution& side);
    Key child_key(const Node& node, Literal literal, const SampleSet& set) const;
    void combine(Node& node, int feature, const Solution* sides);

    // bounding.hpp
    void open_tables(Node& node);
    double gini(const Node& node, int feature) const;
    void order_features(Node& node, int order);
    bool bound_sides(Node& node, int feature, Solution* sides);
    void record(Node& node, Literal literal, const Solution& side);
    bool can_improve(Node& node, const Solution* sides);
    void close_feature(Node& node, const Solution* sides);
    void set_limit(Node& child, Node& parent, const std::vector<int32_t>& sibling_lower);
    void refresh_limit(Node& node);

    // sharing.hpp
    Node* join_open_node(const Node* below);
    void help(Node& node) noexcept;
    void share(Node& node);
    void unshare(Node& node) noexcept;

    // Threads read and improve the bounds of nodes above them, shared or not; nodes of depth
    // three are private unless shared, and too many to lock.
    std::unique_lock<std::mutex> guard(Node& node) {
        const bool is_private = !node.is_shared && (node.depth == 3 || team_.options.n_threads < 2);
        return is_private ? std::unique_lock<std::mutex>()
                          : std::unique_lock<std::mutex>(node.mutex);
    }
    bool is_closed(Node& node) {
        const auto lock = guard(node);
        return node.is_closed();
    }
    int32_t* own_row(Node& node, int budget) {
        if (node.parent && node.parent->pairs.is_used())
            return node.parent->pairs.row(budget, node.parent->literal_row(problem_, node.via));
        return node.own.row(budget, 0);
    }

    static constexpr int64_t kCheckEvery = 1 << 19;  // about 0.2 ms of counting

    Team& team_;
    const Problem& problem_;
    const bool with_poll_;
    const KeepGoing keep_going_{[this] {
        team_.check(with_poll_);
        return !team_.is_stopped();
    }};
    int64_t budget_ = 0;
    std::vector<std::unique_ptr<Level>> levels_;
    SampleSet terminal_;
    std::vector<int32_t> terminal_totals_;
    std::vector<uint64_t> ranks_;
};

inline bool Worker::prepare(Node& node) {
    if (!node.describe(problem_, team_.table, keep_going_)) return false;
    tick(node.set.size() * problem_.stride * problem_.stride / 64);
    node.range = range(node.depth);
    node.is_shared = false;
    for (int n = node.range.low; n <= node.range.high; ++n) {
        const int k = n - node.range.low;
        const int32_t shallow = node.total_base - node.gains.of[std::min(n, 3)];
        if (shallow < node.solution.upper[k]) {
            node.solution.upper[k] = shallow;
            node.solution.plan[k * plan_size(node.depth)].feature = kTerminal;
        }
        // Two nodes never reach below depth two.
        if (n <= 2) node.solution.lower[k] = node.solution.upper[k];
    }
    node.apply_penalty();
    open_tables(node);
    return true;
}

inline void Worker::search(Node& node, int order, int beam) {
    if (node.is_closed()) return;
    ++statistics.n_nodes;
    order_features(node, order);
    const bool is_complete = beam >= static_cast<int>(node.order.size());
    if (!is_complete) node.order.resize(beam);
    node.order_by = order;
    node.beam = beam;
    node.next.store(0, std::memory_order_relaxed);
    node.floor.assign(node.range.size(), kInfinite);
    try_features(node, true);
    if (!is_complete || node.is_closed()) return;
    for (int k = 0; k < node.range.size(); ++k) {
        const int32_t proven = std::min(node.floor[k], node.solution.upper[k]);
        node.solution.lower[k] = std::max(node.solution.lower[k], proven);
    }
}

// The first feature alone brings an incumbent and siblings to bound the others by; then the node
// is offered to idle threads. Returns when every feature is dealt with, or an exception has made
// the bounds worthless, and no thread works at the node any more.
inline void Worker::try_features(Node& node, bool may_share) noexcept {
    const int n_features = static_cast<int>(node.order.size());
    bool is_offered = false;
    try {
        for (;;) {
            const int t = node.next.fetch_add(1, std::memory_order_relaxed);
            if (t >= n_features) break;
            process(node, node.order[t]);
            if (is_closed(node)) break;
            if (may_share && !is_offered && t + 1 < n_features && team_.wants_sharing(node)) {
                share(node);
                is_offered = true;
            }
        }
    } catch (...) {
        team_.fail();
    }
    if (is_offered) unshare(node);
}

// One root feature: bound both children, search them if that can still pay, combine.
inline void Worker::process(Node& node, int feature) {
    Solution* sides = level(node.depth - 1).sides;
    if (node.parent) refresh_limit(node);
    if (!bound_sides(node, feature, sides)) {
        ++statistics.n_bounded_features;
        return close_feature(node, sides);
    }
    if (team_.is_stopped()) return close_feature(node, sides);
    if (node.depth == 3)
        evaluate_sides(node, feature, sides);
    else
        search_sides(node, feature, sides);
    combine(node, feature, sides);
    close_feature(node, sides);
}

// Two children of depth two. Only the lighter one is ever counted; the heavier one, which is
// evaluated first because it is more likely to cost too much, is what the lighter one leaves.
inline void Worker::evaluate_sides(Node& node, int feature, Solution* sides) {
    const bool light = 2 * node.weight[feature] <= node.total_weight;
    terminal_.assign(problem_, node.set, {feature, light});
    Cache& cache = team_.caches[2];
    Key keys[2];
    bool is_known[2] = {false, false};
    if (cache.is_open()) {
        const bool by_rows = team_.options.cache_key == kDataset;
        keys[light] = child_key(node, {feature, light}, terminal_);
        keys[!light] = by_rows ? node.key - keys[light]
                               : child_key(node, {feature, !light}, terminal_);
        for (bool side : {false, true})
            is_known[side] = recall(node, {feature, side}, keys[side], sides[side]);
        if ((is_known[0] || is_known[1]) && !can_improve(node, sides)) return;
    }
    bool is_counted = false;
    for (bool side : {!light, light}) {
        if (is_known[side]) continue;
        if (!is_counted) {
            if (!terminal_.count(problem_, *node.set.kernels, keep_going_)) return;
            tick((terminal_.size() + 32) * problem_.stride * problem_.stride / 64);
            is_counted = true;
        }
        evaluate_side(node, {feature, side}, side == light, sides[side]);
        record(node, {feature, side}, sides[side]);
        if (cache.is_open()) cache.store(keys[side], sides[side]);
        if (side != light && !can_improve(node, sides)) {
            ++statistics.n_bounded_children;
            return;
        }
    }
}

// The best trees of depth two of the set that was counted, or of what it leaves of the node.
inline void Worker::evaluate_side(Node& node, Literal literal, bool is_counted, Solution& side) {
    ++statistics.n_terminal_calls;
    terminal_totals_.resize(node.totals.size());
    for (size_t m = 0; m < node.totals.size(); ++m)
        terminal_totals_[m] = node.total_of(static_cast<int>(m), literal);
    const PairCounts counts = terminal_.pair_counts(problem_, terminal_totals_.data(),
                                                    is_counted ? nullptr : &node.set);
    const Gains gains = node.set.kernels->evaluate(counts, nullptr, nullptr);
    const BudgetRange child = range(2);
    const int32_t base = node.base_of(literal);
    for (int n = child.low; n <= child.high; ++n)
        side.lower[n - child.low] = side.upper[n - child.low] = base - gains.of[n];
}

// Two deeper children, searched one after the other, the heavier one first.
inline void Worker::search_sides(Node& node, int feature, Solution* sides) {
    const bool heavy = 2 * node.weight[feature] > node.total_weight;
    for (bool side : {heavy, !heavy}) {
        search_side(node, {feature, side}, sides);
        record(node, {feature, side}, sides[side]);
        if (team_.is_stopped()) return;
        if (side == heavy && !can_improve(node, sides)) {
            ++statistics.n_bounded_children;
            return;
        }
    }
}

inline void Worker::search_side(Node& node, Literal literal, Solution* sides) {
    Node& child = level(node.depth - 1).child;
    Solution& side = sides[literal.side];
    child.become_child(problem_, node, literal);
    if (team_.has_caches()) child.key = child_key(node, literal, child.set);
    Cache& cache = team_.caches[child.depth];
    if (cache.is_open()) recall(node, literal, child.key, side);
    set_limit(child, node, sides[!literal.side].lower);
    std::swap(child.solution, side);
    child.range = range(child.depth);
    if (!child.is_closed() && prepare(child)) {
        search(child, node.order_by, node.beam);
        if (cache.is_open()) cache.store(child.key, child.solution);
    }
    std::swap(child.solution, side);
}

// Look a child up; what the cache knows tightens its bounds. True if it was solved.
inline bool Worker::recall(Node& node, Literal literal, Key key, Solution& side) {
    const bool is_hit = team_.caches[node.depth - 1].load(key, side);
    ++(is_hit ? statistics.n_cache_hits : statistics.n_cache_misses);
    if (is_hit) record(node, literal, side);
    return is_hit && side.lower == side.upper;
}

inline Key Worker::child_key(const Node& node, Literal literal, const SampleSet& set) const {
    if (team_.options.cache_key == kDataset) return set.key(problem_);
    Key key = node.key;
    key += random_key(node.literal_row(problem_, literal));
    return key;
}

inline void Worker::combine(Node& node, int feature, const Solution* sides) {
    const auto lock = guard(node);
    const BudgetRange child = range(node.depth - 1);
    const int size = plan_size(node.depth), child_size = plan_size(node.depth - 1);
    bool is_better = false;
    for (int n = node.range.low; n <= node.range.high; ++n) {
        const int k = n - node.range.low;
        for (int i = std::max(0, n - 1 - child.high); i <= std::min(child.high, n - 1); ++i) {
            const int k0 = i - child.low, k1 = n - 1 - i - child.low;
            const int32_t error = sides[0].upper[k0] + sides[1].upper[k1];
            if (error >= node.solution.upper[k]) continue;
            node.solution.upper[k] = error;
            is_better = true;
            PlanNode* plan = &node.solution.plan[k * size];
            *plan = {feature, static_cast<int16_t>(i), static_cast<int16_t>(n - 1 - i)};
            std::copy_n(sides[0].plan.data() + k0 * child_size, child_size, plan + 1);
            std::copy_n(sides[1].plan.data() + k1 * child_size, child_size, plan + 1 + child_size);
        }
    }
    if (!is_better) return;
    node.apply_penalty();
    node.version.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace fasttree::optimal
