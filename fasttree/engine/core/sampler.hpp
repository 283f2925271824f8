// Which features a node looks at, and its other random draws.
//
// A draw ends once max_features were visited (constant ones count) and one that is not constant
// was found. Features found constant in a node are constant below it; the sampler carries them
// down a depth-first traversal: `begin` takes how many were known at the node's parent, `end`
// returns how many its children know.
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "engine/core/split.hpp"
#include "engine/simd/simd.hpp"
#include "utils/_random.hpp"

namespace fasttree {

// fasttree's draws: keyed by random_state and the node's path, so that they do not depend on
// traversal. All features in ascending order if max_features does not limit them.
class KeyedSampler {
    uint32_t n_features_, max_features_;
    std::vector<uint32_t> features_;      // ascending outside begin .. end
    std::vector<uint32_t> swapped_;       // by position the one it was swapped with, to undo
    std::vector<uint8_t> is_constant_;
    std::vector<uint32_t> constants_;     // stack of n_constants_
    uint32_t n_constants_ = 0;
    uint64_t key_ = 0;
    uint32_t position_ = 0, n_drawn_ = 0, n_found_ = 0, current_ = NO_FEATURE;

public:
    KeyedSampler(uint32_t n_features, uint32_t max_features)
        : n_features_(n_features), max_features_(max_features), features_(n_features),
          swapped_(n_features), is_constant_(n_features), constants_(n_features + 1) {
        for (uint32_t f = 0; f < n_features; ++f) features_[f] = f;
    }
    // Whether not all features are visited.
    bool draws() const noexcept { return max_features_ < n_features_; }
    uint32_t max_features() const noexcept { return max_features_; }
    bool is_ascending() const noexcept { return !draws(); }

    void begin(uint64_t key, uint32_t n_known) noexcept {
        while (n_constants_ > n_known) is_constant_[constants_[--n_constants_]] = 0;
        key_ = key;
        position_ = n_found_ = 0;
    }
    uint32_t next() {
        while (position_ < n_features_ && (position_ < max_features_ || n_found_ == 0)) {
            if (draws() && position_ == n_drawn_) draw(n_drawn_ == 0 ? max_features_ : 1);
            current_ = features_[position_++];
            if (is_constant_[current_]) continue;
            ++n_found_;  // taken back by found_constant
            return current_;
        }
        return NO_FEATURE;
    }
    // Calls use(f) of each feature that `next` is known to return after this one.
    template <class Use>
    void visit_ahead(const Use& use) const {
        const uint32_t end = draws() ? n_drawn_ : n_features_;
        for (uint32_t i = position_; i < end; ++i) {
            if (!is_constant_[features_[i]]) use(features_[i]);
        }
    }
    void found_constant() {
        is_constant_[current_] = 1;
        constants_[n_constants_++] = current_;
        --n_found_;
    }
    uint32_t end() noexcept {
        while (n_drawn_ > 0) {
            --n_drawn_;
            std::swap(features_[n_drawn_], features_[swapped_[n_drawn_]]);
        }
        return n_constants_;
    }
    // All of that at once, its state in registers: calls look(f), which tells whether feature f
    // varies, of each feature that the node visits. Returns how many constant ones its children
    // know.
    template <class Look>
    FASTTREE_INLINE uint32_t visit(uint64_t key, uint32_t n_known, const Look& look) {
        begin(key, n_known);
        const uint32_t* const features = features_.data();
        uint8_t* const is_constant = is_constant_.data();
        uint32_t* const constants = constants_.data();
        uint32_t n_constants = n_constants_, n = max_features_;
        if (draws()) draw(n);
        bool found = false;
        for (uint32_t i = 0; i < n; ++i) {
            const uint32_t f = features[i];
            if (!is_constant[f]) {
                const bool varies = look(f);
                is_constant[f] = !varies;
                constants[n_constants] = f;
                n_constants += !varies;
                found |= varies;
            }
            if (i + 1 == n && !found && n < n_features_) {
                draw(1);
                ++n;
            }
        }
        n_constants_ = n_constants;
        return end();
    }
    bool is_known_constant(uint32_t feature) const noexcept {
        return is_constant_[feature];
    }
    std::vector<uint32_t> known(uint32_t n_known) const {
        return {constants_.begin(), constants_.begin() + n_known};
    }
    // Says which features are searched elsewhere. No node visits them; all are visited otherwise.
    void set_apart(const std::vector<uint32_t>& features) {
        for (uint32_t f : features) is_constant_[f] = 1;
        features_.erase(std::remove_if(features_.begin(), features_.end(),
                                       [&](uint32_t f) { return is_constant_[f]; }),
                        features_.end());
        n_features_ = max_features_ = static_cast<uint32_t>(features_.size());
    }
    void assume_known(const std::vector<uint32_t>& constants) {
        begin(0, 0);
        for (uint32_t f : constants) {
            constants_[n_constants_++] = f;
            is_constant_[f] = 1;
        }
    }

    FASTTREE_INLINE double threshold(uint64_t key, uint32_t feature, double low,
                                     double high) noexcept {
        return low + (high - low) * unit_interval(mix(mix(key, ~uint64_t{feature}), 0));
    }
    bool missing_left(uint64_t key, uint32_t feature) noexcept {
        return mix(mix(key, ~uint64_t{feature}), 1) & 1;
    }

private:
    // The next n features of the node's order. Several at a time: their hashes do not wait for what
    // is found in the features.
    void draw(uint32_t n) noexcept {
        const uint64_t key = key_;
        uint32_t *features = features_.data(), *swapped = swapped_.data();
        for (const uint32_t end = n_drawn_ + n; n_drawn_ < end; ++n_drawn_) {
            const uint32_t j = n_drawn_ + below(mix(key, n_drawn_), n_features_ - n_drawn_);
            swapped[n_drawn_] = j;
            std::swap(features[n_drawn_], features[j]);
        }
    }
};

// scikit-learn's draws, in its order and from its stream: one permutation of the features that
// persists from node to node, known constant features at its front.
class SklearnSampler {
    const uint32_t max_features_;
    std::vector<uint32_t> features_, constants_;
    XorShift random_;
    uint32_t n_known_ = 0, n_drawn_ = 0, n_found_ = 0, n_visited_ = 0, last_ = 0, drawn_at_ = 0;
    bool evaluated_ = false;

public:
    SklearnSampler(uint32_t n_features, uint32_t max_features, uint32_t seed)
        : max_features_(max_features), features_(n_features), constants_(n_features),
          random_(seed) {
        for (uint32_t f = 0; f < n_features; ++f) features_[f] = f;
    }
    uint32_t max_features() const noexcept { return max_features_; }
    bool is_ascending() const noexcept { return false; }
    void begin(uint64_t, uint32_t n_known) noexcept {
        n_known_ = n_known;
        n_drawn_ = n_found_ = n_visited_ = 0;
        last_ = static_cast<uint32_t>(features_.size());
        evaluated_ = false;
    }
    // Loop invariant: features_[0:n_drawn_] are known constants drawn, [n_drawn_:n_known_] not
    // drawn yet, then n_found_ new constants, candidates up to last_, evaluated ones behind.
    uint32_t next() {
        settle();
        while (last_ > n_known_ + n_found_
               && (n_visited_ < max_features_ || n_visited_ <= n_found_ + n_drawn_)) {
            ++n_visited_;
            uint32_t j = random_.integer(n_drawn_, last_ - n_found_);
            if (j < n_known_) {
                std::swap(features_[n_drawn_++], features_[j]);
                continue;
            }
            drawn_at_ = j + n_found_;
            evaluated_ = true;
            return features_[drawn_at_];
        }
        return NO_FEATURE;
    }
    // None is known: how many there are depends on what is found.
    template <class Use>
    void visit_ahead(const Use&) const {}
    void found_constant() {
        std::swap(features_[drawn_at_], features_[n_known_ + n_found_]);
        ++n_found_;
        evaluated_ = false;
    }
    uint32_t end() noexcept {
        settle();
        std::copy(constants_.begin(), constants_.begin() + n_known_, features_.begin());
        std::copy(features_.begin() + n_known_, features_.begin() + n_known_ + n_found_,
                  constants_.begin() + n_known_);
        return n_known_ + n_found_;
    }
    std::vector<uint32_t> known(uint32_t n_known) const {
        return {constants_.begin(), constants_.begin() + n_known};
    }
    void assume_known(const std::vector<uint32_t>& constants) {
        std::copy(constants.begin(), constants.end(), constants_.begin());
    }
    // Features that were not drawn may be constant too; nobody knows.
    bool is_known_constant(uint32_t) const noexcept { return false; }
    double threshold(uint64_t, uint32_t, double low, double high) noexcept {
        return random_.uniform(low, high);
    }
    bool missing_left(uint64_t, uint32_t) noexcept { return random_.integer(0, 2) == 1; }

private:
    void settle() {
        if (evaluated_) std::swap(features_[--last_], features_[drawn_at_]);
        evaluated_ = false;
    }
};

template <class Sampler>
constexpr bool is_keyed = std::is_same_v<std::decay_t<Sampler>, KeyedSampler>;

// Either of the two.
class FeatureSampler {
    using Kind = std::variant<KeyedSampler, SklearnSampler>;
    Kind kind_;

public:
    FeatureSampler(uint32_t n_features, uint32_t max_features, bool replay, uint32_t seed)
        : kind_(replay ? Kind(SklearnSampler(n_features, max_features, seed))
                       : Kind(KeyedSampler(n_features, max_features))) {}
    std::unique_ptr<FeatureSampler> clone() const {
        return std::make_unique<FeatureSampler>(*this);
    }
    // Calls f(sampler) with the one that it is.
    template <class F>
    decltype(auto) visit(F f) {
        auto* keyed = std::get_if<KeyedSampler>(&kind_);
        return keyed ? f(*keyed) : f(*std::get_if<SklearnSampler>(&kind_));
    }
    template <class F>
    decltype(auto) visit(F f) const {
        const auto* keyed = std::get_if<KeyedSampler>(&kind_);
        return keyed ? f(*keyed) : f(*std::get_if<SklearnSampler>(&kind_));
    }

    // Whether all features are visited, in ascending order.
    bool is_ascending() const noexcept {
        return visit([](const auto& s) { return s.is_ascending(); });
    }
    // How many features a node looks at, unless it finds none of them to vary.
    uint32_t max_features() const noexcept {
        return visit([](const auto& s) { return s.max_features(); });
    }
    // Whether draws do not depend on which features are known to be constant.
    bool is_keyed() const noexcept { return std::holds_alternative<KeyedSampler>(kind_); }
    void begin(uint64_t key, uint32_t n_known) noexcept {
        visit([=](auto& s) { s.begin(key, n_known); });
    }
    // Next feature to evaluate, or NO_FEATURE. Known constant ones are passed over.
    uint32_t next() {
        return visit([](auto& s) { return s.next(); });
    }
    // Says that the feature returned last is constant in the node.
    void found_constant() {
        visit([](auto& s) { s.found_constant(); });
    }
    uint32_t end() noexcept {
        return visit([](auto& s) { return s.end(); });
    }
    bool is_known_constant(uint32_t feature) const noexcept {
        return visit([=](const auto& s) { return s.is_known_constant(feature); });
    }
    // Features known to be constant where a subtree begins, to hand it to another thread.
    std::vector<uint32_t> known(uint32_t n_known) const {
        return visit([=](const auto& s) { return s.known(n_known); });
    }
    void assume_known(const std::vector<uint32_t>& constants) {
        visit([&](auto& s) { s.assume_known(constants); });
    }
    // Says which features are searched elsewhere, of a sampler that visits all in ascending order.
    void set_apart(const std::vector<uint32_t>& features) {
        std::get<KeyedSampler>(kind_).set_apart(features);
    }
    // Draws of the random splitter.
    double threshold(uint64_t key, uint32_t feature, double low, double high) noexcept {
        return visit([=](auto& s) { return s.threshold(key, feature, low, high); });
    }
    bool missing_left(uint64_t key, uint32_t feature) noexcept {
        return visit([=](auto& s) { return s.missing_left(key, feature); });
    }
};

}  // namespace fasttree
