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

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <limits>
#include <memory>

#include "cache.hpp"
#include "node.hpp"

namespace fasttree::optimal {

constexpr int32_t kInfinite = std::numeric_limits<int32_t>::max();
constexpr int kAllFeatures = std::numeric_limits<int>::max();

enum Order { kLookAhead = 0, kGini = 1, kInOrder = 2, kRandom = 3 };
enum CacheKey { kNoCache = 0, kDataset = 1, kBranch = 2 };
enum Sharing { kRoot = 0, kLeaf = 1 };

struct SearchOptions {
    int order = kLookAhead;
    int cache_key = kDataset;
    int sharing = kRoot;
    bool with_sibling_bound = true;  // similarity to sets of the same node
    bool with_cousin_bound = true;   // similarity to sets of its siblings
    bool with_parent_bound = true;   // similarity to the set that was split
    bool with_conflict_bound = true; // equal rows of different classes
    bool with_upper_bound = true;    // children get what their parent can still use
    bool with_greedy_start = true;
    uint64_t seed = 0;
    int n_threads = 1;
    double share_after = 0.005;  // seconds before threads join in
    double time_limit = 0;       // seconds; 0: none
    size_t cache_bytes = 0;
};

struct Statistics {
    int64_t n_nodes = 0;           // subproblems searched feature by feature
    int64_t n_terminal_calls = 0;  // depth-two problems evaluated
    int64_t n_cache_hits = 0, n_cache_misses = 0;
    int64_t n_bounded_features = 0;  // features cut before any child was looked at
    int64_t n_bounded_children = 0;  // second children spared by the first

    void add(const Statistics& other) {
        n_nodes += other.n_nodes;
        n_terminal_calls += other.n_terminal_calls;
        n_cache_hits += other.n_cache_hits;
        n_cache_misses += other.n_cache_misses;
        n_bounded_features += other.n_bounded_features;
        n_bounded_children += other.n_bounded_children;
    }
};

class Worker;

// What the threads of one fit share.
class Team {
  public:
    using Clock = std::chrono::steady_clock;

    Team(const Problem& problem, const Kernels* table, const SearchOptions& options,
         std::vector<BudgetRange> ranges, Clock::time_point start, std::function<bool()> poll)
        : problem(problem),
          table(table),
          options(options),
          ranges(std::move(ranges)),
          poll_(std::move(poll)),
          start_(start) {
        const int depth = static_cast<int>(this->ranges.size()) - 1;
        caches = std::vector<Cache>(depth + 1);
        // Children of the root all differ, and a node's pair table remembers its grandchildren:
        // only sets three or more levels down are worth a place.
        if (options.cache_key != kNoCache && depth >= 5)
            for (int k = 2; k <= depth - 2; ++k)
                caches[k].open(options.cache_bytes / (depth - 3), k, this->ranges[k],
                               options.n_threads > 1);
    }

    const Problem& problem;
    const Kernels* table;
    const SearchOptions options;
    const std::vector<BudgetRange> ranges;
    std::vector<Cache> caches;  // by depth

    std::mutex mutex;
    std::condition_variable changed;
    std::vector<Node*> open;  // nodes whose features any thread may take
    bool is_over = false;
    std::function<void()> start_helpers;  // called once, before a node is first shared

    double elapsed() const {
        return std::chrono::duration<double>(Clock::now() - start_).count();
    }
    bool is_stopped() const { return stopped_.load(std::memory_order_relaxed); }
    void finish() {
        {
            std::lock_guard<std::mutex> lock(mutex);
            is_over = true;
        }
        changed.notify_all();
    }
    void stop() {
        stopped_.store(true, std::memory_order_relaxed);
        changed.notify_all();
    }
    // Look at the clock; the thread that owns the interpreter also polls for signals.
    void check(bool with_poll) {
        const double now = elapsed();
        if (options.time_limit > 0 && now >= options.time_limit) stop();
        if (with_poll && now - last_poll_ > 0.05) {
            last_poll_ = now;
            if (!poll_()) stop();
        }
    }
    bool wants_sharing(const Node& node) const {
        if (options.n_threads < 2 || elapsed() < options.share_after) return false;
        if (options.sharing == kLeaf) return node.depth == 3;
        return node.depth > 3 || node.parent == nullptr;
    }

  private:
    std::function<bool()> poll_;
    Clock::time_point start_;
    double last_poll_ = 0;
    std::atomic<bool> stopped_{false};
};

class Worker {
  public:
    Worker(Team& team, bool with_poll)
        : team_(team),
          problem_(team.problem),
          with_poll_(with_poll),
          levels_(team.ranges.size()) {}

    Statistics statistics;

    // Start a node whose set is assigned: count it and find its first incumbents.
    void prepare(Node& node);
    // Try the `beam` first features in the given order, sharing the node where that pays.
    void search(Node& node, int order, int beam);
    // Take features of open nodes until the team is done.
    void help_until_over();

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

    void order_features(Node& node, int order);
    void open_tables(Node& node);
    void try_features(Node& node, bool may_share);
    void process(Node& node, int feature);
    void evaluate_sides(Node& node, int feature, Solution* sides);
    void search_sides(Node& node, int feature, Solution* sides);
    bool bound_sides(Node& node, int feature, Solution* sides);
    void evaluate_side(Node& node, Literal literal, bool is_counted, Solution& side);
    void search_side(Node& node, Literal literal, Solution* sides);
    bool recall(Node& node, Literal literal, Key key, Solution& side);
    Key child_key(const Node& node, Literal literal, const SampleSet& set) const;
    void record(Node& node, Literal literal, const Solution& side);
    bool can_improve(Node& node, const Solution* sides);
    void combine(Node& node, int feature, const Solution* sides);
    void close_feature(Node& node, const Solution* sides);
    void refresh_limit(Node& node);
    void set_limit(Node& child, Node& parent, const std::vector<int32_t>& sibling_lower);
    Node* join_open_node(const Node* below);
    void help(Node& node);
    void share(Node& node);
    void unshare(Node& node);
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
    int64_t budget_ = 0;
    std::vector<std::unique_ptr<Level>> levels_;
    SampleSet terminal_;
    std::vector<int32_t> terminal_totals_;
    std::vector<uint64_t> ranks_;
};

// ---------------------------------------------------------------------------------------------

inline void Worker::order_features(Node& node, int order) {
    ranks_.clear();
    const int n_classes_seen = problem_.n_matrices;
    for (int f = 0; f < problem_.n_features; ++f) {
        const int32_t weight = node.weight[f];
        if (weight == 0 || weight == node.total_weight) continue;
        if (problem_.is_sized) {
            const int32_t size = node.diagonal[n_classes_seen][f];
            if (std::min(size, node.totals[n_classes_seen] - size) < problem_.min_leaf) continue;
        }
        uint64_t rank = 0;
        if (order == kLookAhead) {
            rank = static_cast<uint32_t>(node.total_base - node.stump_gain[0][f] -
                                         node.stump_gain[1][f]);
        } else if (order == kGini) {
            // Sum over children of sum of squares over weight, the larger the purer.
            double purity = 0;
            for (bool side : {false, true}) {
                const Literal literal{f, side};
                const double w = node.weight_of(literal);
                double squares = 0;
                for (int m = 0; m < problem_.n_matrices; ++m) {
                    const double c = node.total_of(m, literal);
                    squares += c * c;
                }
                purity += squares / w;
            }
            rank = static_cast<uint32_t>((node.total_weight - purity) *
                                         (double(1 << 30) / node.total_weight));
        } else if (order == kRandom) {
            rank = mix(team_.options.seed + mix(node.depth * 1000003ull + f)) >> 33;
        }
        ranks_.push_back(rank << 32 | static_cast<uint32_t>(f));
    }
    std::sort(ranks_.begin(), ranks_.end());
    node.order.resize(ranks_.size());
    for (size_t k = 0; k < ranks_.size(); ++k)
        node.order[k] = static_cast<int32_t>(ranks_[k] & 0xffffffffu);
}

// Slack rows of its children (depth k - 1) and, for its siblings to come, pairs (depth k - 2).
inline void Worker::open_tables(Node& node) {
    constexpr ptrdiff_t kMaxPairs = ptrdiff_t{1} << 24;  // elements: 64 MiB
    const ptrdiff_t row_size = 2 * problem_.stride;
    const int n_pair_budgets = range(node.depth - 2).size();
    if (node.depth >= 4 && team_.options.with_cousin_bound &&
        n_pair_budgets * row_size * row_size <= kMaxPairs)
        node.pairs.reset(n_pair_budgets, row_size, row_size);
    else
        node.pairs.disable();
    if (!node.parent || !node.parent->pairs.is_used())
        node.own.reset(range(node.depth - 1).size(), 1, row_size);
}

inline void Worker::prepare(Node& node) {
    node.describe(problem_, team_.table);
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
// is offered to idle threads. Returns when every feature is dealt with.
inline void Worker::try_features(Node& node, bool may_share) {
    const int n_features = static_cast<int>(node.order.size());
    bool is_offered = false;
    for (;;) {
        const int t = node.next.fetch_add(1, std::memory_order_relaxed);
        if (t >= n_features) break;
        process(node, node.order[t]);
        if (is_closed(node)) break;
        if (may_share && !is_offered && t + 1 < n_features && team_.wants_sharing(node)) {
            is_offered = true;
            share(node);
        }
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

// Fill in what is known of both children without looking at them; false if that settles it.
inline bool Worker::bound_sides(Node& node, int feature, Solution* sides) {
    const BudgetRange child = range(node.depth - 1);
    const SearchOptions& options = team_.options;
    const int size = plan_size(node.depth - 1);
    for (bool side : {false, true}) {
        const Literal literal{feature, side};
        sides[side].resize(node.depth - 1, child);
        const int32_t leaf = node.leaf_error(problem_, literal);
        const int32_t stump = std::min(leaf, node.stump_error(literal));
        const int32_t removed = node.total_weight - node.weight_of(literal);
        const int32_t conflict = options.with_conflict_bound ? node.conflict_of(literal) : 0;
        for (int n = child.low; n <= child.high; ++n) {
            const int k = n - child.low;
            sides[side].upper[k] = n == 0 ? leaf : stump;
            sides[side].lower[k] = n <= 1 ? sides[side].upper[k] : conflict;
            if (n == 2 && options.with_parent_bound) {
                const int32_t whole = node.total_base - node.gains.of[2];
                sides[side].lower[k] = std::max(conflict, whole - removed);
            } else if (n == 3 && node.depth == 3 && options.with_parent_bound) {
                const int32_t whole = node.total_base - node.gains.of[3];
                sides[side].lower[k] = std::max(conflict, whole - removed);
            }
            if (size) sides[side].plan[k * size].feature = kTerminal;
        }
    }
    const int32_t* weights = node.weights.get<int32_t>() + feature * problem_.stride;
    for (int n = child.high; n >= child.low; --n) {
        const int k = n - child.low;
        if (n > 1 && (options.with_sibling_bound || options.with_cousin_bound)) {
            SlackRows rows{options.with_sibling_bound ? own_row(node, k) : nullptr, nullptr,
                           nullptr};
            if (node.parent && node.parent->pairs.is_used()) {
                rows.positive = node.parent->pairs.row(k, feature);
                rows.negative = node.parent->pairs.row(k, feature + problem_.stride);
            }
            int32_t bounds[2] = {sides[0].lower[k], sides[1].lower[k]};
            node.set.kernels->bound(rows, weights, node.weight.data(), node.total_weight, feature,
                                    problem_.n_features, problem_.stride, problem_.is_sized,
                                    bounds);
            for (int side = 0; side < 2; ++side) sides[side].lower[k] = bounds[side];
        }
        if (n < child.high)  // more nodes never hurt
            for (int side = 0; side < 2; ++side)
                sides[side].lower[k] = std::max(sides[side].lower[k], sides[side].lower[k + 1]);
    }
    return can_improve(node, sides);
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
            terminal_.count(problem_, *node.set.kernels);
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
    if (team_.options.cache_key != kNoCache) child.key = child_key(node, literal, child.set);
    Cache& cache = team_.caches[child.depth];
    if (cache.is_open()) recall(node, literal, child.key, side);
    set_limit(child, node, sides[!literal.side].lower);
    std::swap(child.solution, side);
    child.range = range(child.depth);
    if (!child.is_closed()) {
        prepare(child);
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

// Bounds of a child, for its later siblings and for the siblings of its parent.
inline void Worker::record(Node& node, Literal literal, const Solution& side) {
    const BudgetRange child = range(node.depth - 1);
    const ptrdiff_t here = node.literal_row(problem_, literal);
    const int32_t weight = node.weight_of(literal);
    const bool in_pairs = node.parent && node.parent->pairs.is_used();
    for (int k = 0; k < child.size(); ++k) {
        const int32_t slack = side.lower[k] - weight;
        int32_t* element = own_row(node, k) + here;
        if (slack > *element) *element = slack;
        if (!in_pairs) continue;
        element = node.parent->pairs.row(k, here) + node.parent->literal_row(problem_, node.via);
        if (slack > *element) *element = slack;
    }
}

// Whether some split of some budget between the sides undercuts what is known, by their bounds.
inline bool Worker::can_improve(Node& node, const Solution* sides) {
    const auto lock = guard(node);
    const BudgetRange child = range(node.depth - 1);
    for (int n = node.range.low; n <= node.range.high; ++n) {
        const int32_t target = node.target(n);
        if (node.solution.lower[n - node.range.low] >= target) continue;
        for (int i = std::max(0, n - 1 - child.high); i <= std::min(child.high, n - 1); ++i)
            if (sides[0].lower[i - child.low] + sides[1].lower[n - 1 - i - child.low] < target)
                return true;
    }
    return false;
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

inline void Worker::close_feature(Node& node, const Solution* sides) {
    const auto lock = guard(node);
    const BudgetRange child = range(node.depth - 1);
    for (int n = node.range.low; n <= node.range.high; ++n) {
        int32_t& floor = node.floor[n - node.range.low];
        for (int i = std::max(0, n - 1 - child.high); i <= std::min(child.high, n - 1); ++i)
            floor = std::min(floor, sides[0].lower[i - child.low] +
                                        sides[1].lower[n - 1 - i - child.low]);
    }
}

// What the parent can still use of a child, given what the other child will cost at least.
inline void Worker::set_limit(Node& child, Node& parent,
                              const std::vector<int32_t>& sibling_lower) {
    if (&child.sibling_lower != &sibling_lower) child.sibling_lower = sibling_lower;
    const auto lock = guard(parent);
    child.parent_version.store(parent.version.load(std::memory_order_relaxed),
                               std::memory_order_relaxed);
    const BudgetRange range_ = range(parent.depth - 1);
    if (!team_.options.with_upper_bound) {
        child.limit.assign(range_.size(), kInfinite);
        return;
    }
    child.limit.assign(range_.size(), 0);
    for (int n = parent.range.low; n <= parent.range.high; ++n) {
        const int32_t target = parent.target(n);
        if (parent.solution.lower[n - parent.range.low] >= target) continue;
        for (int i = std::max(0, n - 1 - range_.high); i <= std::min(range_.high, n - 1); ++i) {
            int32_t& limit = child.limit[i - range_.low];
            limit = std::max(limit, target - sibling_lower[n - 1 - i - range_.low]);
        }
    }
}

// Other threads may have improved an ancestor since the node was started.
inline void Worker::refresh_limit(Node& node) {
    if (node.parent->parent) refresh_limit(*node.parent);
    if (node.parent->version.load(std::memory_order_relaxed) ==
        node.parent_version.load(std::memory_order_relaxed))
        return;
    const auto lock = guard(node);
    set_limit(node, *node.parent, node.sibling_lower);
    node.version.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace fasttree::optimal

#include "sharing.hpp"
