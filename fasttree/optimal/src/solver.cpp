#include "solver.hpp"

#include <memory>
#include <stdexcept>
#include <string>

#include "engine/simd/simd.hpp"

namespace fasttree::optimal {

const Kernels* find_kernels(std::string_view name) {
    const bool any = name.empty() || name == "auto";
#if FASTTREE_X86
    if ((any || name == "avx512") && has_simd(SIMD_AVX512)) return avx512_kernels();
    if ((any || name == "avx2") && has_simd(SIMD_AVX2)) return avx2_kernels();
#endif
    return any || name == "portable" ? portable_kernels() : nullptr;
}

namespace {

// Trees are read off a plan by replaying its splits on the rows; the subtrees of depth two, which
// a plan leaves open, are found again from the pair counts of their sets.
class Reconstruction {
  public:
    // `counted` is a node that has been described, if any.
    Reconstruction(const Problem& problem, const Kernels* table, const Node* counted)
        : problem_(problem), table_(table), counted_(counted) {}

    std::vector<OutNode> build(const Node& root, int n_nodes, const PlanNode* plan) {
        tree_.clear();
        labels_.clear();
        add(root, n_nodes, plan);
        return tree_;
    }

  private:
    void add(const Node& node, int n_nodes, const PlanNode* plan) {
        if (node.depth <= 2 || plan->feature == kTerminal)
            return add_shallow(node, std::min(node.depth, 2), n_nodes);
        const int size = plan_size(node.depth - 1);
        add_split(plan->feature, [&](bool side) {
            Node child;
            child.become_side(problem_, node, {plan->feature, side});
            add(child, side ? plan->n_present : plan->n_absent, plan + 1 + (side ? size : 0));
        });
    }

    // The best tree of at most this depth and number of nodes, with as few nodes as it takes.
    void add_shallow(const Node& node, int depth, int n_nodes) {
        if (depth == 0 || n_nodes == 0 || problem_.n_features == 0) return add_leaf(node);
        Node copy;
        const Node* counted = &node == counted_ ? &node : &copy;
        if (counted == &copy) {
            copy.become_copy(problem_, node);
            if (depth == 1)
                copy.describe_singles(problem_);
            else
                copy.describe(problem_, table_, [] { return true; });
        }
        const int most = depth == 1 ? 1 : std::min(n_nodes, 3);
        int n = 0;
        while (n < most && counted->gains.of[n] < counted->gains.of[most]) ++n;
        if (n == 0) return add_leaf(node);
        add_best_split(*counted, n);
    }

    // A split that reaches the gain of n nodes.
    void add_best_split(const Node& node, int n) {
        const int budgets[4][2][2] = {{{0, 0}, {0, 0}}, {{0, 0}, {0, 0}}, {{1, 0}, {0, 1}},
                                      {{1, 1}, {1, 1}}};
        for (int f = 0; f < problem_.n_features; ++f) {
            if (!node.is_allowed(problem_, f)) continue;
            for (const auto& budget : budgets[n]) {
                if (gain(node, {f, false}, budget[0]) + gain(node, {f, true}, budget[1]) <
                    node.gains.of[n])
                    continue;
                return add_split(f, [&](bool side) {
                    Node child;
                    child.become_side(problem_, node, {f, side});
                    add_shallow(child, 1, budget[side]);
                });
            }
        }
    }

    int32_t gain(const Node& node, Literal literal, int n_nodes) const {
        const int32_t leaf = node.base_of(literal) - node.leaf_error(problem_, literal);
        return n_nodes == 0 ? leaf : std::max(leaf, node.stump_gain[literal.side][literal.feature]);
    }

    template <class AddChild>
    void add_split(int feature, AddChild add_child) {
        const size_t here = tree_.size();
        const bool flipped = problem_.flipped[feature];
        tree_.push_back({problem_.source[feature], 0, 0});
        labels_.push_back(-1);
        int32_t child[2];
        for (bool value : {false, true}) {
            child[value] = static_cast<int32_t>(tree_.size());
            add_child(value != flipped);
        }
        tree_[here].left = child[0];
        tree_[here].right = child[1];
        const int label = labels_[child[0]];
        if (label >= 0 && label == labels_[child[1]]) {  // both sides predict the same
            tree_.resize(here);
            labels_.resize(here);
            push_leaf(label);
        }
    }

    void add_leaf(const Node& node) {
        int label = 0;
        if (problem_.n_matrices == 1)
            label = node.totals[0] > 0;
        else
            for (int m = 1; m < problem_.n_matrices; ++m)
                if (node.totals[m] > node.totals[label]) label = m;
        push_leaf(label);
    }
    void push_leaf(int label) {
        tree_.push_back({-1, -1, -1});
        labels_.push_back(label);
    }

    const Problem& problem_;
    const Kernels* table_;
    const Node* counted_;
    std::vector<OutNode> tree_;
    std::vector<int> labels_;
};

// Bounds of the objective at the root, over all budgets.
Progress progress_of(const Problem& problem, Node& root, double elapsed, int64_t n_nodes) {
    std::lock_guard<std::mutex> lock(root.mutex);
    Progress progress{elapsed, n_nodes, INT64_MAX, INT64_MAX};
    for (int n = root.range.low; n <= root.range.high; ++n) {
        const int k = n - root.range.low;
        const int64_t constant = problem.constant_error;
        progress.lower =
            std::min(progress.lower, root.objective(root.solution.lower[k] + constant, n));
        progress.upper =
            std::min(progress.upper, root.objective(root.solution.upper[k] + constant, n));
    }
    return progress;
}

// Incumbents first, by searches that try only the most promising features of every node, each
// twice as many as the one before; then all features. What the first ones prove and solve stays
// in the caches, so they cost the last one little.
void search_root(Team& team, Worker& worker, Node& root) {
    const SearchOptions& options = team.options;
    if (!worker.prepare(root)) return;
    if (root.depth >= 4 && options.start == kWidening) {
        worker.search(root, kGini, 1);
        for (int beam = 1; 16 * beam <= team.problem.n_features; beam *= 2)
            worker.search(root, options.order, beam);
    }
    worker.search(root, options.order, kAllFeatures);
}

// Run the search; an exception on any thread stops all and comes out here. Helpers sleep until a
// node is first shared.
void run_team(Team& team, std::vector<std::unique_ptr<Worker>>& workers, Node& root) {
    on_threads(static_cast<int>(workers.size()), [&](int thread) {
        if (thread > 0) return workers[thread]->help_until_over();
        try {
            search_root(team, *workers[0], root);
        } catch (...) {
            team.fail();
        }
        team.finish();
    });
    team.rethrow_failure();
}

// What is known before a search begins: a leaf.
void start_root(Node& root, const Problem& problem, int depth, BudgetRange range) {
    root.become_root(problem, depth);
    root.range = range;
    root.solution.resize(depth, range);
    std::fill(root.solution.lower.begin(), root.solution.lower.end(), 0);
    std::fill(root.solution.upper.begin(), root.solution.upper.end(),
              root.total_base - root.leaf_gain(problem));
    for (PlanNode& node : root.solution.plan) node.feature = kTerminal;
    root.limit.assign(range.size(), kInfinite);
}

// The plan of a tree as one of larger depth.
void deepen_plan(const PlanNode* from, int from_depth, PlanNode* to, int to_depth) {
    if (from_depth <= 2 || from->feature == kTerminal) {
        to->feature = kTerminal;
        return;
    }
    *to = *from;
    deepen_plan(from + 1, from_depth - 1, to + 1, to_depth - 1);
    deepen_plan(from + 1 + plan_size(from_depth - 1), from_depth - 1,
                to + 1 + plan_size(to_depth - 1), to_depth - 1);
}

// Iterative deepening: the best trees of each smaller depth are the first incumbents.
void deepen(Team& team, Node& root, Worker& worker, const Team::Clock::time_point start,
            const std::function<bool()>& report) {
    for (int depth = 3; depth < root.depth && !team.is_stopped(); ++depth) {
        const int most = (1 << depth) - 1;
        const BudgetRange range{std::min(root.range.low, most), std::min(root.range.high, most)};
        Team smaller(team.problem, team.table, team.options, budget_ranges(depth, range), start,
                     report);
        std::vector<std::unique_ptr<Worker>> workers;
        for (int t = 0; t < std::max(1, team.options.n_threads); ++t)
            workers.push_back(std::make_unique<Worker>(smaller, t == 0));
        Node top;
        start_root(top, team.problem, depth, range);
        run_team(smaller, workers, top);
        for (const auto& each : workers) worker.statistics.add(each->statistics);
        if (smaller.is_stopped()) team.stop();
        std::lock_guard<std::mutex> lock(root.mutex);
        for (int n = root.range.low; n <= root.range.high; ++n) {
            const int k = n - root.range.low, from = std::min(n, most) - range.low;
            if (top.solution.upper[from] >= root.solution.upper[k]) continue;
            root.solution.upper[k] = top.solution.upper[from];
            deepen_plan(&top.solution.plan[from * plan_size(depth)], depth,
                        &root.solution.plan[k * plan_size(root.depth)], root.depth);
        }
    }
}

}  // namespace

Result solve(const Input& input, const Task& task, const SearchOptions& options,
             std::string_view instruction_set, bool with_front_trees, Listener listener) {
    const Kernels* table = find_kernels(instruction_set);
    if (!table)
        throw std::invalid_argument("instruction set not available: " +
                                    std::string(instruction_set));
    const auto start = Team::Clock::now();
    const Problem problem(input, task.leaf);
    const int depth = task.depth;
    Node root;
    std::vector<std::unique_ptr<Worker>> workers;
    Team* team_ptr = nullptr;
    auto report = [&] {
        return listener.call(listener.context, progress_of(problem, root, team_ptr->elapsed(),
                                                           workers[0]->statistics.n_nodes));
    };
    Team team(problem, table, options, budget_ranges(depth, task.nodes), start, report);
    team_ptr = &team;
    for (int t = 0; t < std::max(1, options.n_threads); ++t)
        workers.push_back(std::make_unique<Worker>(team, t == 0));

    start_root(root, problem, depth, task.nodes);
    root.leaf_penalty = task.leaf_penalty;

    bool is_counted = false;
    if (problem.n_features == 0 || depth == 0) {
        root.solution.lower = root.solution.upper;
    } else if (depth <= 2) {
        const KeepGoing keep_going = [&] {
            team.check(true);
            return !team.is_stopped();
        };
        if (depth == 1) {
            root.describe_singles(problem);
            is_counted = true;
        } else {
            is_counted = root.describe(problem, table, keep_going);
        }
        for (int n = task.nodes.low; is_counted && n <= task.nodes.high; ++n) {
            const int k = n - task.nodes.low;
            root.solution.upper[k] = root.solution.lower[k] =
                root.total_base - root.gains.of[std::min(n, 3)];
        }
    } else {
        if (options.start == kDeepening) deepen(team, root, *workers[0], start, report);
        run_team(team, workers, root);
    }

    Result result;
    result.is_stopped = team.is_stopped();
    for (const auto& worker : workers) result.statistics.add(worker->statistics);
    result.lower = result.upper = INT64_MAX;
    for (int n = task.nodes.low; n <= task.nodes.high; ++n) {
        const int k = n - task.nodes.low;
        result.front.lower.push_back(root.solution.lower[k] + problem.constant_error);
        result.front.upper.push_back(root.solution.upper[k] + problem.constant_error);
        result.lower = std::min(result.lower, root.objective(result.front.lower[k], n));
        const int64_t objective = root.objective(result.front.upper[k], n);
        if (objective < result.upper) {
            result.upper = objective;
            result.chosen = n;
        }
    }
    Reconstruction reconstruction(problem, table, is_counted ? &root : nullptr);
    auto tree_of = [&](int n) {
        return reconstruction.build(
            root, n, root.solution.plan.data() + (n - task.nodes.low) * plan_size(depth));
    };
    result.tree = tree_of(result.chosen);
    if (with_front_trees)
        for (int n = task.nodes.low; n <= task.nodes.high; ++n)
            result.front_trees.push_back(tree_of(n));
    return result;
}

}  // namespace fasttree::optimal
