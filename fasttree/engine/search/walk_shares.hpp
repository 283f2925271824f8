// The shares of a walk through the features of a large node, in the order in which threads take
// them.
#pragma once
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "utils/_value.hpp"

namespace fasttree {

// How many of so many lists, the last ones, threads take in segments: those for which not every
// thread would find one, unless most do.
inline uint32_t n_left_over(size_t n_lists, uint32_t n_threads) noexcept {
    const uint32_t n = static_cast<uint32_t>(n_lists % n_threads);
    return 2 * n <= n_threads ? n : 0;
}

constexpr int NO_LIST = -1;

// A share of a walk, or of a share that is a list one of the segments.
struct WalkShare {
    uint32_t share, segment, n_segments;
    int list = NO_LIST;             // which of the lists it is
};
static_assert(is_value<WalkShare>);

// Some shares are lists, which take longest: they come after a few others, by which a good split is
// found, and leave the rest to whoever is done first. Those that took longest in the last node come
// first, and a thread that has the longest of a turn has the shortest of the next one. A whole list
// falls to the thread that divides it.
class WalkShares {
    using Clock = std::chrono::steady_clock;
    struct Span {
        Clock::time_point begin, end;
    };
    std::vector<uint32_t> others_, lists_;
    uint32_t n_cut_ = 0, n_threads_ = 1;
    std::vector<WalkShare> order_;
    std::vector<Span> spans_;           // of each share in the order
    std::vector<Clock::duration> took_;  // by share, if it is a list

    size_t n_before() const { return others_.size() / 4 / n_threads_ * n_threads_; }

public:
    WalkShares() = default;
    // Of n_shares; the last n_cut lists in segments.
    WalkShares(uint32_t n_shares, const std::vector<uint32_t>& lists, uint32_t n_cut,
               uint32_t n_threads)
        : lists_(lists), n_cut_(n_cut), n_threads_(n_threads), took_(n_shares) {
        for (uint32_t share = 0; share < n_shares; ++share) {
            const bool is_list = std::binary_search(lists.begin(), lists.end(), share);
            if (!is_list) others_.push_back(share);
        }
        put_in_order();
    }

    int size() const noexcept { return static_cast<int>(order_.size()); }
    const WalkShare& operator[](int i) const { return order_[i]; }
    const std::vector<uint32_t>& lists() const noexcept { return lists_; }

    // Says that a thread begins with a share, or is done.
    void begin(int i) noexcept { begin(i, Clock::now()); }
    void end(int i) noexcept { end(i, Clock::now()); }
    void begin(int i, Clock::time_point now) noexcept { spans_[i].begin = now; }
    void end(int i, Clock::time_point now) noexcept { spans_[i].end = now; }

    // After a node, for the next one.
    void sort_lists() {
        for (uint32_t list : lists_) took_[list] = {};
        for (size_t i = n_before(); i < order_.size() - (others_.size() - n_before()); ++i) {
            took_[order_[i].share] += spans_[i].end - spans_[i].begin;
        }
        std::stable_sort(lists_.begin(), lists_.end(),
                         [this](uint32_t a, uint32_t b) { return took_[a] > took_[b]; });
        const size_t n_whole = lists_.size() - n_cut_;
        for (size_t at = n_threads_; at + n_threads_ <= n_whole; at += 2 * n_threads_) {
            const auto turn = lists_.begin() + static_cast<ptrdiff_t>(at);
            std::reverse(turn, turn + n_threads_);
        }
        put_in_order();
    }

private:
    void put_in_order() {
        order_.clear();
        for (size_t k = 0; k < n_before(); ++k) order_.push_back({others_[k], 0, 1});
        for (size_t i = 0; i < lists_.size(); ++i) {
            const uint32_t n_segments = i < lists_.size() - n_cut_ ? 1 : n_threads_;
            for (uint32_t segment = 0; segment < n_segments; ++segment) {
                order_.push_back({lists_[i], segment, n_segments, static_cast<int>(i)});
            }
        }
        for (size_t k = n_before(); k < others_.size(); ++k) order_.push_back({others_[k], 0, 1});
        spans_.assign(order_.size(), {});
    }
};

}  // namespace fasttree
