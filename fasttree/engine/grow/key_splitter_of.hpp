// The key splitter of an accumulator.
#pragma once
#include <cstdint>
#include <memory>
#include <utility>

#include "engine/core/impurity.hpp"
#include "engine/grow/depth_first.hpp"
#include "engine/grow/key_block.hpp"
#include "engine/grow/key_splitter.hpp"
#include "engine/scan/scan.hpp"

namespace fasttree {

template <class Acc>
class KeySplitterOf final : public DepthFirstSplitter<KeySplitterOf<Acc>, KeySplitter> {
    ScannerOf<Acc>& scanner_;
    Acc& acc_;
    KeyScan<Acc>& key_scan_;
    KeyedNodeColumns* columns_ = nullptr;
    struct Known : KnownRows {
        NodeClasses classes;
    };
    Known held_;             // the node that is searched
    Known beside_;           // its sibling, or the one before
    NodeClasses scratch_;
    Split split_;            // the best one
    BestKey best_key_{0.0};  // the same, if it was found by keys
#if FASTTREE_X86
    KeyBlock<typename KeyScan<Acc>::KeyScore> block_;
#endif

public:
    explicit KeySplitterOf(ScannerOf<Acc>& scanner)
        : scanner_(scanner), acc_(scanner.accumulator()), key_scan_(scanner.key_scan()) {}

    void open(KeyedNodeColumns& columns) override {
        columns_ = &columns;
        held_.forget();
        beside_.forget();
#if FASTTREE_X86
        block_.open(columns.data(), acc_.t.simd, acc_.t.weight_unit, n_values());
#endif
    }

    // ---- see depth_first.hpp

    const DenseColumns& data() const { return columns_->data(); }
    void begin(const Node& node) {
        if (held_.are_of(node)) return;
        std::swap(held_, beside_);
        if (!held_.are_of(node)) held_.classes.take(acc_.t.simd, labels(node), node.size());
        held_.become(node);
    }
    void take(Node& node, double* value) {
        begin(node);
        node.stats = held_.classes.stats(acc_.t.weight_unit);
        held_.classes.shares(value, n_values());
    }
    bool grow_in_block([[maybe_unused]] const GrowthRules& rules,
                       [[maybe_unused]] KeyedSampler& sampler, [[maybe_unused]] const Node& node,
                       [[maybe_unused]] uint32_t id, [[maybe_unused]] NodesBelow& below) {
#if FASTTREE_X86
        return block_.takes(rules, node)
            && acc_.go_on(acc_.work(node.size()) * sampler.max_features())
            && block_.grow(rules, sampler, node, columns_->rows(node), labels(node), id, below);
#else
        return false;
#endif
    }
    template <class Sampler>
    Split* split(const GrowthRules& rules, Sampler& sampler, Node& node, Node& left,
                 Node& right) {
        begin(node);
        key_scan_.begin_node(acc_, held_.classes, labels(node), node.size());
        if (!find_split(rules, sampler, node, split_)) return nullptr;
        const uint32_t middle = columns_->divide_rows(split_, node, nullptr);
        rules.make_children(node, split_, middle, left, right);
        divide_classes(left, right);
        return &split_;
    }

private:
    size_t n_values() const { return static_cast<size_t>(acc_.t.max_n_classes); }
    const Label* labels(const Node& node) const { return columns_->labels() + node.start; }

    // Looks at the smaller child's rows. The left child is held, which is split next.
    void divide_classes(const Node& left, const Node& right) {
        const bool is_left = left.size() < right.size();
        const Node& smaller = is_left ? left : right;
        scratch_.take(acc_.t.simd, labels(smaller), smaller.size());
        beside_.classes.take_rest(held_.classes, scratch_);
        std::swap(held_.classes, is_left ? scratch_ : beside_.classes);
        if (!is_left) std::swap(beside_.classes, scratch_);
        held_.become(left);
        beside_.become(right);
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
