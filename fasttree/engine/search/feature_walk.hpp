// The features that a node looks at, one after the other.
//
// A walk takes place in shares that threads may take: a search on one thread walks through all of
// them, one of many through those that it was given. Features that cannot beat the best split so
// far are passed over, at the cost of counting their rows at most.
#pragma once
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "engine/core/impurity.hpp"
#include "engine/core/sampler.hpp"
#include "engine/core/split.hpp"
#include "engine/core/ties.hpp"
#include "engine/order/sparse_lists.hpp"
#include "engine/scan/scanner.hpp"
#include "utils/_interrupt.hpp"

namespace fasttree {

class FeatureWalk {
protected:
    SharedScore* shared_ = nullptr;  // of all threads, while one walks through a share

public:
    virtual ~FeatureWalk() = default;

    // Score that a candidate must exceed if this is what it must exceed among those of this thread.
    double to_beat(double own) const noexcept {
        return shared_ != nullptr ? std::max(own, shared_->to_beat()) : own;
    }
    // Says what the best split of this thread scores.
    void report(double score) noexcept {
        if (shared_ != nullptr) shared_->report(score);
    }
    virtual uint32_t n_shares() const noexcept = 0;
    // Whether a share is known to hold nothing to look at.
    virtual bool is_settled(uint32_t share) const noexcept = 0;

    // Begins to walk through all shares of a node that the scanner holds, whose rows these are.
    virtual void begin(const Node& node, const uint32_t* rows) = 0;
    // Through one of them, on one of several threads, which share the best score.
    virtual void begin_share(const Node& node, uint32_t share, SharedScore& found) = 0;
    // The next feature to look at, or NO_FEATURE if there is none or the fit is given up.
    virtual uint32_t next(const Split& best) = 0;
    // Says what the look at that feature found: it is constant, or it may have become the best.
    virtual void looked(bool is_constant, const Split& best) = 0;
    // After `begin`. Returns how many features the node's children will know to be constant.
    virtual uint32_t end() noexcept = 0;
    // After all shares on several threads, of which this thread's walk was not begun. Features
    // found constant are flagged.
    virtual uint32_t end_shares(const Node& node, const std::vector<char>& is_constant) = 0;
};

// Those that the sampler names; a share is a feature.
class SampledFeatures : public FeatureWalk {
    Scanner& scanner_;
    Poll& poll_;
    const uint32_t n_features_;
    double perfect_ = INFINITE;     // no feature after one of this score can beat it
    uint64_t work_ = 0;
    uint32_t only_ = NO_FEATURE;    // the share

protected:
    FeatureSampler& sampler_;

public:
    SampledFeatures(FeatureSampler& sampler, Scanner& scanner, Poll& poll, uint32_t n_features)
        : scanner_(scanner), poll_(poll), n_features_(n_features), sampler_(sampler) {}

    uint32_t n_shares() const noexcept override { return n_features_; }
    bool is_settled(uint32_t share) const noexcept override {
        return sampler_.is_known_constant(share);
    }
    void begin(const Node& node, const uint32_t* rows) override {
        perfect_ = sampler_.is_keyed() ? scanner_.perfect_score(rows, node.size()) : INFINITE;
        work_ = scanner_.work(node.size());
        shared_ = nullptr;
        sampler_.begin(node.key, node.n_known);
    }
    void begin_share(const Node& node, uint32_t share, SharedScore& found) override {
        work_ = scanner_.work(node.size());
        shared_ = &found;
        only_ = share;
    }
    uint32_t next(const Split& best) override {
        if (!poll_.go_on(work_)) return NO_FEATURE;
        if (shared_ != nullptr) return std::exchange(only_, NO_FEATURE);
        // No higher feature can beat or tie-break a perfect split.
        const bool is_perfect = best.score >= perfect_;
        if (is_perfect && sampler_.is_ascending()) return NO_FEATURE;
        uint32_t feature = sampler_.next();
        while (is_perfect && feature != NO_FEATURE && feature > best.feature) {
            feature = sampler_.next();
        }
        return feature;
    }
    void looked(bool is_constant, const Split&) override {
        if (is_constant && shared_ == nullptr) sampler_.found_constant();
    }
    uint32_t end() noexcept override { return sampler_.end(); }
    uint32_t end_shares(const Node& node, const std::vector<char>& is_constant) override {
        sampler_.begin(node.key, node.n_known);
        for (uint32_t f = sampler_.next(); f != NO_FEATURE; f = sampler_.next()) {
            if (is_constant[f]) sampler_.found_constant();
        }
        return sampler_.end();
    }
};

// All that a node of a sparse matrix lists, in ascending order; a share is a part of the lists.
// Constant features leave the lists.
class ListedFeatures final : public FeatureWalk {
    ListWorkspace& lists_;
    Scanner& scanner_;
    Poll& poll_;
    const Node* node_ = nullptr;
    uint64_t work_ = 0;
    uint32_t part_ = 0, last_part_ = 0;
    enum { AT_PART, AT_FIRST, IN_PART } state_ = AT_PART;
    uint32_t first_ = NO_FEATURE;   // looked at before the others of its part
    uint32_t leader_ = NO_FEATURE;  // the best feature, if it is of this part
    double score_ = 0.0;            // of the best split when last looked
    FeatureBound bound_;

public:
    ListedFeatures(ListWorkspace& lists, Scanner& scanner, Poll& poll)
        : lists_(lists), scanner_(scanner), poll_(poll) {}

    uint32_t n_shares() const noexcept override { return lists_.data.n_parts(); }
    bool is_settled(uint32_t) const noexcept override { return false; }
    void begin(const Node& node, const uint32_t*) override {
        begin(node, 0, n_shares(), nullptr);
    }
    void begin_share(const Node& node, uint32_t share, SharedScore& found) override {
        begin(node, share, share + 1, &found);
    }

    uint32_t next(const Split& best) override {
        for (; part_ < last_part_; ++part_, state_ = AT_PART) {
            if (state_ == AT_PART) {
                leader_ = NO_FEATURE;
                first_ = lists_.promising(*node_, part_);
                state_ = AT_FIRST;
                if (first_ != NO_FEATURE) return first_;
            }
            if (state_ == AT_FIRST) {
                lists_.begin_part(*node_, part_);
                take_score(best);
                state_ = IN_PART;
            }
            while (lists_.next_column(bound_)) {
                if (lists_.feature() == first_) continue;
                if (!poll_.go_on(work_)) return NO_FEATURE;
                if (may_beat(best)) return lists_.feature();
            }
        }
        return NO_FEATURE;
    }
    void looked(bool is_constant, const Split& best) override {
        if (state_ == AT_FIRST) {
            if (best.feature == first_) leader_ = first_;
        } else if (is_constant) {
            lists_.drop_column();
        } else if (best.score != score_) {
            if (leader_ != NO_FEATURE) lists_.set_promising(*node_, part_, leader_);
            leader_ = best.feature;
            take_score(best);
        }
    }
    uint32_t end() noexcept override { return 0; }
    uint32_t end_shares(const Node&, const std::vector<char>&) override { return 0; }

private:
    void begin(const Node& node, uint32_t first, uint32_t last, SharedScore* found) {
        shared_ = found;
        node_ = &node;
        work_ = scanner_.work(node.size());
        part_ = first;
        last_part_ = last;
        state_ = AT_PART;
    }
    void take_score(const Split& best) {
        score_ = best.score;
        bound_ = scanner_.feature_bound(to_beat(score_));
    }
    // A column that has been sorted is scanned.
    bool may_beat(const Split& best) {
        uint32_t n;
        const uint32_t* rows = lists_.unsorted(n);
        if (rows == nullptr) return true;
        uint32_t max_class_count = n;
        const double own = Ties{false}.to_beat(best.score, best.feature, lists_.feature());
        const bool may = scanner_.may_beat(rows, n, to_beat(own), max_class_count);
        lists_.set_max_class_count(max_class_count);
        return may;
    }
};

}  // namespace fasttree
