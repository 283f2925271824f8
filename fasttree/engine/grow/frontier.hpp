// Where nodes wait to be expanded: all that depth-first and best-first growth differ in.
//
// A stack takes the node put there last, which is below its predecessor, so that what is known of
// a node (constant features, count tables) can be handed down; its nodes are searched when they
// are taken. A heap takes the node of largest improvement; its nodes are searched before they are
// put there, and no more are taken out than may be split.
#pragma once
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "engine/core/split.hpp"
#include "engine/core/targets.hpp"
#include "engine/core/ties.hpp"
#include "engine/grow/nodes.hpp"

namespace fasttree {

// A node, and, once it has been searched, its best split.
struct Open {
    Node node, left, right;
    Totals totals, left_totals, right_totals;
    Split split;
    std::vector<double> left_value, right_value;
    double improvement;
    bool is_leaf;

    // The child whose rows are counted; the totals of the other are what is left.
    bool left_is_smaller() const noexcept { return left.size() < right.size(); }
    const Node& smaller() const noexcept { return left_is_smaller() ? left : right; }
    Totals& smaller_totals() noexcept { return left_is_smaller() ? left_totals : right_totals; }
    void settle_totals() {
        subtract(totals, smaller_totals(), left_is_smaller() ? right_totals : left_totals);
    }
};
static_assert(is_value<Open>);

class Frontier {
public:
    Frontier() = default;
    Frontier(const Frontier&) = delete;
    Frontier& operator=(const Frontier&) = delete;
    virtual ~Frontier() = default;
    // Whether nodes are put here by their improvement, hence searched already.
    virtual bool is_ranked() const noexcept = 0;
    // May take the contents of `open`.
    virtual void put(Open& open) = 0;
    // False if there is no node left to be expanded.
    virtual bool take(Open& open) noexcept = 0;
    // Takes the node of most rows instead, for another thread; false unless one that can be
    // expanded there has at least `least`.
    virtual bool take_largest(uint32_t least, Node& node) noexcept = 0;
};

class Stack final : public Frontier {
    std::vector<std::pair<Node, Totals>> nodes_;

public:
    bool is_ranked() const noexcept override { return false; }
    void put(Open& open) override { nodes_.emplace_back(open.node, std::move(open.totals)); }
    bool take(Open& open) noexcept override {
        if (nodes_.empty()) return false;
        open.node = nodes_.back().first;
        open.totals = std::move(nodes_.back().second);
        nodes_.pop_back();
        return true;
    }
    bool take_largest(uint32_t least, Node& node) noexcept override {
        const auto size = [](const std::pair<Node, Totals>& waiting) {
            const bool is_in_block = waiting.first.members != 0;
            return is_in_block ? 0 : waiting.first.size();
        };
        const auto largest =
            std::max_element(nodes_.begin(), nodes_.end(),
                             [&](const auto& a, const auto& b) { return size(a) < size(b); });
        if (largest == nodes_.end() || size(*largest) < least) return false;
        node = largest->first;
        nodes_.erase(largest);
        return true;
    }
};

static_assert(is_value<Stack>);

// Equal improvements: see `is_expanded_later`.
class Heap final : public Frontier {
    NodeStore& store_;
    const Ties ties_;
    int64_t n_splits_;  // that may still be made
    std::vector<Open> nodes_;

    bool less(const Open& a, const Open& b) const {
        return ties_.is_expanded_later(a.improvement, b.improvement, [&] {
            return store_.precedes(b.node.record, a.node.record);
        });
    }

public:
    Heap(NodeStore& store, Ties ties, int64_t n_splits)
        : store_(store), ties_(ties), n_splits_(n_splits) {}

    bool is_ranked() const noexcept override { return true; }
    void put(Open& open) override {
        nodes_.push_back(std::move(open));
        std::push_heap(nodes_.begin(), nodes_.end(),
                       [this](const Open& a, const Open& b) { return less(a, b); });
    }
    bool take(Open& open) noexcept override {
        while (!nodes_.empty()) {
            std::pop_heap(nodes_.begin(), nodes_.end(),
                          [this](const Open& a, const Open& b) { return less(a, b); });
            open = std::move(nodes_.back());
            nodes_.pop_back();
            if (open.is_leaf) continue;
            if (n_splits_-- > 0) return true;
            // scikit-learn leaves this mark on nodes that the budget of leaves kept from splitting.
            if (ties_.replay) store_.set_missing_side(open.node.record, open.split.missing_left);
        }
        return false;
    }
    bool take_largest(uint32_t, Node&) noexcept override { return false; }
};

}  // namespace fasttree
