// The key splitter of an accumulator.
#pragma once
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "engine/core/impurity.hpp"
#include "engine/grow/key_block.hpp"
#include "engine/grow/key_splitter.hpp"
#include "engine/scan/scan.hpp"

namespace fasttree {

template <class Acc>
class KeySplitterOf final : public KeySplitter {
    ScannerOf<Acc>& scanner_;
    Acc& acc_;
    KeyScan<Acc>& key_scan_;
    KeyedNodeColumns* columns_ = nullptr;
    NodeClasses held_;                        // the classes of the node,
    NodeClasses left_, right_;                // of its children
    uint32_t held_start_ = 0, held_end_ = 0;  // in these rows
    BestKey best_key_{0.0};                   // the best split, if it was found by keys
#if FASTTREE_X86
    KeyBlock<typename KeyScan<Acc>::KeyScore> block_;
#endif

public:
    explicit KeySplitterOf(ScannerOf<Acc>& scanner)
        : scanner_(scanner), acc_(scanner.accumulator()), key_scan_(scanner.key_scan()) {}

    void open(KeyedNodeColumns& columns) override {
        columns_ = &columns;
        held_start_ = held_end_ = 0;
#if FASTTREE_X86
        block_.open(columns.data(), acc_.t.simd, acc_.t.weight_unit);
#endif
    }

    bool split(const GrowthRules& rules, FeatureSampler& sampler, Open& open) override {
        Node& node = open.node;
        hold(node);
        key_scan_.begin_node(acc_, held_, labels(node), node.size());
        const bool found = sampler.visit(
            [&](auto& features) { return find_split(rules, features, node, open.split); });
        if (!found) return false;
        const uint32_t middle = columns_->divide_rows(open.split, node);
        rules.make_children(node, open.split, middle, open.left, open.right);
        divide_classes(open.left, open.right);
        take_stats(rules, right_, open.right, open.right_value);
        take_stats(rules, held_, open.left, open.left_value);
        return true;
    }

#if FASTTREE_X86
    bool grow(const GrowthRules& rules, FeatureSampler& sampler, const Node& node,
              NodeStore& store) override {
        if (!block_.takes(rules, node)) return false;
        return sampler.visit([&](auto& features) {
            if constexpr (std::is_same_v<std::decay_t<decltype(features)>, KeyedSampler>) {
                return acc_.go_on(acc_.work(node.size()) * features.max_features()) &&
                       block_.grow(rules, features, node, columns_->rows(node), labels(node),
                                   store);
            }
            return false;
        });
    }
#endif

private:
    const Label* labels(const Node& node) const { return columns_->labels() + node.start; }

    void hold(const Node& node) {
        if (node.start == held_start_ && node.end == held_end_) return;
        held_.take(acc_.t.simd, labels(node), node.size());
        held_start_ = node.start;
        held_end_ = node.end;
    }
    // Looks at the smaller child's rows. The left child is held, which is split next.
    void divide_classes(const Node& left, const Node& right) {
        const bool is_left = left.size() < right.size();
        const Node& smaller = is_left ? left : right;
        NodeClasses &part = is_left ? left_ : right_, &rest = is_left ? right_ : left_;
        part.take(acc_.t.simd, labels(smaller), smaller.size());
        rest.take_rest(held_, part);
        std::swap(held_, left_);
        held_start_ = left.start;
        held_end_ = left.end;
    }
    void take_stats(const GrowthRules& rules, const NodeClasses& classes, Node& node,
                    std::vector<double>& value) {
        node.stats = classes.stats(acc_.t.weight_unit);
        classes.shares(value.data(), value.size());
        rules.clip(node, value);
    }

    // The best split of the features that the sampler names; see Splitter.find_split.
    template <class Sampler>
    bool find_split(const GrowthRules& rules, Sampler& sampler, Node& node, Split& best) {
        best.feature = NO_FEATURE;
        best.score = MINUS_INFINITY;
        best_key_.found = false;
        const double perfect = acc_.perfect_score(nullptr, node.size());
        const uint64_t work = acc_.work(node.size());
        sampler.begin(node.key, node.n_known);
        for (uint32_t f = sampler.next(); f != NO_FEATURE; f = sampler.next()) {
            // No higher feature can beat or tie-break a perfect split.
            if (best.score >= perfect && f > best.feature) continue;
            if (!acc_.go_on(work)) {
                best.feature = NO_FEATURE;
                break;
            }
            if (!look(rules, node, f, best)) sampler.found_constant();
        }
        node.n_known = sampler.end();
        if (best.feature == NO_FEATURE) return false;
        if (best_key_.found) columns_->take(node, best_key_, best);
        if (best.row_below != NO_ROW) {
            best.threshold = midpoint(columns_->value(best.row_below, best.feature),
                                      columns_->value(best.row_above, best.feature));
        }
        return true;
    }

    // False if the feature is constant in the node.
    bool look(const GrowthRules& rules, const Node& node, uint32_t feature, Split& best) {
        const Limits limits = rules.limits_of(node, feature);
        const double to_beat = rules.ties.to_beat(best.score, best.feature, feature);
        if (!columns_->takes_keys(feature, limits)) {
            if (columns_->scan_sorted(node, feature, limits, to_beat, best)) return false;
            if (best.feature == feature) best_key_.found = false;
            return true;
        }
        BestKey found(to_beat);
        if (columns_->find(node, feature, key_scan_, found)) return false;
        if (!found.found) return true;
        columns_->keep();
        best_key_ = found;
        best.score = found.score;
        best.feature = feature;
        return true;
    }
};

// None where features are not searched by keys.
template <class Acc>
std::unique_ptr<KeySplitter> make_key_splitter(ScannerOf<Acc>& scanner) {
    if constexpr (KeyScan<Acc>::exists) return std::make_unique<KeySplitterOf<Acc>>(scanner);
    return nullptr;
}

}  // namespace fasttree
