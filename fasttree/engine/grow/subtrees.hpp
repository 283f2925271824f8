// Subtrees that are left to whichever thread is free. A thread that grows one node by node leaves a
// part of it to a thread that has none, so that nobody waits for the end of a long one. Small ones
// fill the time of threads that would wait for others at a large node.
#pragma once
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "engine/core/split.hpp"
#include "engine/grow/nodes.hpp"
#include "engine/order/count_tables.hpp"
#include "utils/_crew.hpp"
#include "utils/_threads.hpp"
#include "utils/_value.hpp"

namespace fasttree {

// A node below which another thread may grow the tree.
struct Deferred {
    Node node;
    std::vector<double> value;
    std::vector<uint32_t> known;  // constant features
    TableCells table;
    NodeStore* store = nullptr;   // for the node and what is below
};
static_assert(is_value<Deferred>);

class Subtrees {
    SubtreeStores stores_;
    std::vector<Deferred> waiting_;  // a heap, most rows first
    int n_growing_ = 0;
    size_t n_beside_ = 0;
    bool is_stopped_ = false;
    std::atomic<int> n_wanted_{0};   // threads that have no subtree, less subtrees that wait
    std::atomic<bool> has_news_{false};
    std::mutex mutex_;
    std::condition_variable changed_;

    static bool is_smaller(const Deferred& a, const Deferred& b) noexcept {
        return a.node.size() != b.node.size() ? a.node.size() < b.node.size()
                                              : a.node.start > b.node.start;
    }
    bool is_settled() const noexcept {
        return !waiting_.empty() || n_growing_ == 0 || is_stopped_;
    }
    // Waits for a subtree, or for the end, or until the fit is given up.
    void wait(int thread, Crew& crew, std::unique_lock<std::mutex>& lock) {
        has_news_ = false;
        lock.unlock();
        wait_awake([this] { return has_news_.load(); });
        lock.lock();
        sleep_until(lock, changed_, [this] { return is_settled(); },
                    [&] { return crew.look(thread); });
    }
    void take_last(Deferred& out) {
        out = std::move(waiting_.back());
        waiting_.pop_back();
        ++n_growing_;
    }
    void tell_all() noexcept {
        has_news_ = true;
        changed_.notify_all();
    }

public:
    const SubtreeStores& stores() const noexcept { return stores_; }
    bool empty() const noexcept { return stores_.empty(); }

    void clear() noexcept {
        stores_.clear();
        waiting_.clear();
        n_wanted_ = n_growing_ = 0;
        n_beside_ = 0;
        is_stopped_ = false;
    }
    // Leaves what is below a node of a store to others.
    void put(Deferred& deferred, NodeStore& from) {
        deferred.value = from.value(deferred.node.record);
        auto store = std::make_unique<NodeStore>(from.make_empty());
        std::unique_lock<std::mutex> lock(mutex_);
        from.set_subtree(deferred.node.record, static_cast<int>(stores_.size()));
        deferred.store = store.get();
        stores_.push_back(std::move(store));
        waiting_.push_back(std::move(deferred));
        std::push_heap(waiting_.begin(), waiting_.end(), is_smaller);
        --n_wanted_;
        has_news_ = true;
        lock.unlock();
        changed_.notify_one();
    }
    // Whether there is a thread that has none, and none waits.
    bool is_wanted() const noexcept { return n_wanted_.load(std::memory_order_relaxed) > 0; }
    // Takes the one of most rows, once there is one. False: all have been grown, or the fit has
    // failed or is given up, which its threads find out by themselves.
    bool take(int thread, Crew& crew, Deferred& out) {
        std::unique_lock<std::mutex> lock(mutex_);
        ++n_wanted_;
        if (!is_settled()) wait(thread, crew, lock);
        if (waiting_.empty() || is_stopped_) return false;
        std::pop_heap(waiting_.begin(), waiting_.end(), is_smaller);
        take_last(out);
        return true;
    }
    // Takes the one of fewest rows, if one waits.
    bool take_smallest(Deferred& out) {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (waiting_.empty() || is_stopped_) return false;
        const auto smallest = std::min_element(waiting_.begin(), waiting_.end(), is_smaller);
        std::iter_swap(smallest, waiting_.end() - 1);
        take_last(out);
        std::make_heap(waiting_.begin(), waiting_.end(), is_smaller);
        ++n_wanted_;
        ++n_beside_;
        return true;
    }
    // How many were taken so.
    size_t n_beside() const noexcept { return n_beside_; }
    // One that was taken has been grown.
    void finish() {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (--n_growing_ == 0) tell_all();
    }
    // No more are taken.
    void stop() {
        const std::lock_guard<std::mutex> lock(mutex_);
        is_stopped_ = true;
        tell_all();
    }
};
static_assert(is_value<Subtrees>);

}  // namespace fasttree
