// What the threads of one search share: the problem, the switches, the caches, the list of nodes
// that are open to all, and the clock.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <vector>

#include "cache.hpp"
#include "node.hpp"
#include "utils/_threads.hpp"

namespace fasttree::optimal {

enum Order { kLookAhead = 0, kGini = 1, kInOrder = 2, kRandom = 3 };
enum CacheKey { kNoCache = 0, kDataset = 1, kBranch = 2 };
enum Sharing { kRoot = 0, kLeaf = 1 };
enum Start { kNoStart = 0, kWidening = 1, kDeepening = 2 };

struct SearchOptions {
    int order = kLookAhead;
    int cache_key = kDataset;
    int sharing = kRoot;
    bool with_sibling_bound = true;   // similarity to sets of the same node
    bool with_cousin_bound = true;    // similarity to sets of its siblings
    bool with_parent_bound = true;    // similarity to the set that was split
    bool with_conflict_bound = true;  // equal rows of different classes
    bool with_upper_bound = true;     // children get what their parent can still use
    int start = kWidening;
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
        if (has_caches())
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

    double elapsed() const {
        return std::chrono::duration<double>(Clock::now() - start_).count();
    }
    bool has_caches() const { return options.cache_key != kNoCache && ranges.size() > 5; }
    bool is_stopped() const { return stopped_.is_set(); }
    void finish() {
        {
            std::lock_guard<std::mutex> lock(mutex);
            is_over = true;
        }
        changed.notify_all();
    }
    void stop() {
        stopped_.set();
        changed.notify_all();
    }
    // To be called where an exception is caught, on any thread: all stop.
    void fail() noexcept {
        failure_.keep();
        stop();
    }
    // To be called when all threads are done.
    void rethrow_failure() const { failure_.rethrow(); }
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
    StopFlag stopped_;
    FirstFailure failure_;
};

}  // namespace fasttree::optimal
