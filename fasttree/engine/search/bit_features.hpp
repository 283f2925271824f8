// The features of a dense matrix that has columns of two values: the others as the sampler names
// them, then, of those of two values, what a screen leaves.
#pragma once
#include <cstdint>
#include <vector>

#include "engine/columns/bit_columns.hpp"
#include "engine/core/runs.hpp"
#include "engine/search/feature_walk.hpp"
#include "engine/search/node_columns.hpp"

namespace fasttree {

// The last share is that of all columns of two values.
class BitFeatures final : public FeatureWalk {
    SampledFeatures others_;
    const BitColumns& bits_;
    const NodeColumns& columns_;
    Scanner& scanner_;
    const Limits limits_;
    const Node* node_ = nullptr;
    enum { AT_OTHERS, AT_ONE, AT_SCREEN, AT_BITS } state_ = AT_OTHERS;  // AT_ONE: a share
    std::vector<uint32_t> left_;    // bits that the screen left
    size_t n_looked_ = 0;

public:
    // Of columns whose tables hold the bits. The limits are those of a feature, and of any.
    BitFeatures(FeatureSampler& sampler, Scanner& scanner, Poll& poll, uint32_t n_features,
                const BitColumns& bits, const NodeColumns& columns, const Limits& limits)
        : others_(sampler, scanner, poll, n_features), bits_(bits), columns_(columns),
          scanner_(scanner), limits_(limits) {
        std::vector<uint32_t> held;
        for (uint32_t feature : bits.features) {
            if (feature != BitColumns::NO_COLUMN) held.push_back(feature);
        }
        sampler.set_apart(held);
    }

    uint32_t n_shares() const noexcept override { return others_.n_shares() + 1; }
    bool is_settled(uint32_t share) const noexcept override {
        return share < others_.n_shares() && others_.is_settled(share);
    }
    void begin(const Node& node, const uint32_t* rows) override {
        others_.begin(node, rows);
        shared_ = nullptr;
        node_ = &node;
        state_ = AT_OTHERS;
    }
    void begin_share(const Node& node, uint32_t share, SharedScore& found) override {
        others_.begin_share(node, share, found);
        shared_ = &found;
        node_ = &node;
        state_ = share < others_.n_shares() ? AT_ONE : AT_SCREEN;
    }
    uint32_t next(const Split& best) override {
        if (state_ <= AT_ONE) {
            const uint32_t feature = others_.next(best);
            if (feature != NO_FEATURE || state_ == AT_ONE) return feature;
            state_ = AT_SCREEN;
        }
        if (state_ == AT_SCREEN) screen(to_beat(best.score));
        while (n_looked_ < left_.size()) {
            const uint32_t feature = bits_.features[left_[n_looked_++]];
            if (feature != BitColumns::NO_COLUMN) return feature;
        }
        return NO_FEATURE;
    }
    void looked(bool is_constant, const Split& best) override {
        if (state_ <= AT_ONE) others_.looked(is_constant, best);
    }
    uint32_t end() noexcept override { return others_.end(); }
    uint32_t end_shares(const Node& node, const std::vector<char>& is_constant) override {
        return others_.end_shares(node, is_constant);
    }

private:
    void screen(double floor) {
        state_ = AT_BITS;
        left_.clear();
        n_looked_ = 0;
        scanner_.screen_bits(columns_.node_tables().bit_cells(node_->table), bits_.n_bits(),
                             limits_, floor, left_);
    }
};

}  // namespace fasttree
