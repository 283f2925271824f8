// The block splitter of an accumulator.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "engine/core/impurity.hpp"
#include "engine/grow/block_growth.hpp"
#include "engine/grow/block_splitter.hpp"
#include "engine/scan/block_scan.hpp"
#include "engine/scan/block_search.hpp"
#include "engine/scan/scan.hpp"

namespace fasttree {

template <class Acc>
class BlockSplitterOf final : public BlockSplitter {
    ScannerOf<Acc>& scanner_;
    Acc& acc_;
    BlockScan<Acc> block_scan_;
    BlockSearch<Acc> block_search_;
    BlockGrowth<Acc> growth_;
    Block* block_ = nullptr;
    uint64_t held_ = 0;  // the node that the accumulator holds
    std::vector<typename Acc::Cell> bit_cells_;
    std::vector<uint32_t> bits_;  // that a screen left

public:
    explicit BlockSplitterOf(ScannerOf<Acc>& scanner)
        : scanner_(scanner), acc_(scanner.accumulator()) {}

    void open(Block& block) override {
        block_ = &block;
        held_ = 0;
        if constexpr (BlockScan<Acc>::exists) {
            if (acc_.t.simd == SIMD_AVX512) block_scan_.open(acc_.t, block.rows, block.size());
        }
        if constexpr (BlockSearch<Acc>::exists) block_search_.open(block, acc_.t);
        if constexpr (BlockGrowth<Acc>::exists) growth_.open(acc_, block);
    }

    bool split(const GrowthRules& rules, FeatureSampler& sampler, Open& open) override {
        Node& node = open.node;
        if (!acc_.go_on(acc_.work(node.size()) * block_->n_features())) return false;
        const bool found = sampler.visit([&](auto& features) {
            return searches_at_once(rules, features, node)
                       ? find_at_once(node, open.split)
                       : find_one_by_one(rules, features, node, open.split);
        });
        if (!found) return false;
        find_neighbours(open.split);
        const uint64_t left_members = block_->left_members(open.split, node.members);
        rules.make_children(node, open.split, node.start + open.split.n_left, open.left,
                            open.right);
        open.left.members = left_members;
        open.right.members = node.members & ~left_members;
        take_stats(rules, open.right, open.right_value);
        take_stats(rules, open.left, open.left_value);  // last: it is split next
        return true;
    }

    bool grow(const GrowthRules& rules, FeatureSampler& sampler, const Node& node,
              NodeStore& store) override {
        if constexpr (BlockGrowth<Acc>::exists) {
            const bool is_possible = sampler.visit([&](auto& features) {
                return searches_at_once(rules, features, node);
            });
            if (!is_possible || !acc_.go_on(acc_.work(node.size()) * block_->n_features())) {
                return false;
            }
            growth_.grow(rules, acc_, *block_, block_search_, node, store);
            return true;
        }
        return false;
    }

private:
    void take_stats(const GrowthRules& rules, Node& node, std::vector<double>& value) {
        uint32_t rows[BLOCK_ROWS];
        const uint32_t n = block_->rows_of(node.members, rows);
        acc_.begin_node(rows, n);
        held_ = node.members;
        acc_.node_stats(rows, n, node.stats);
        acc_.node_value(value.data());
        rules.clip(node, value);
    }

    // Whether the search in all features at once can take the node.
    template <class Sampler>
    bool searches_at_once(const GrowthRules& rules, Sampler& sampler, const Node& node) {
        if constexpr (BlockSearch<Acc>::exists) {
            if (!sampler.is_ascending() || block_->searches_bits || rules.min_samples_leaf > 1 ||
                rules.monotonic_cst || rules.limits_of(node, 0).checked()) {
                return false;
            }
            sampler.begin(node.key, node.n_known);
            return block_search_.takes(*block_, [&](uint32_t f) {
                return sampler.is_known_constant(f);
            });
        }
        return false;
    }
    bool find_at_once(const Node& node, Split& best) {
        if constexpr (BlockSearch<Acc>::exists) {
            BlockBest found;
            if (!block_search_.find(*block_, node.members,
                                    block_search_.totals(node.members), found)) return false;
            const uint32_t p = found.n_left;
            take_candidate(block_->pick(found.feature, node.members),
                           Candidate{found.score, p, p, p, false, 0.0, THRESHOLD},
                           scanner_.groups(), found.feature, best);
            return true;
        }
        return false;
    }

    // The best split of the features that the sampler names; see Splitter.find_split.
    template <class Sampler>
    bool find_one_by_one(const GrowthRules& rules, Sampler& sampler, Node& node, Split& best) {
        uint32_t rows[BLOCK_ROWS];
        const uint32_t n = block_->rows_of(node.members, rows);
        if (held_ != node.members) acc_.begin_node(rows, n);
        held_ = node.members;
        const double perfect = sampler.is_ascending() ? acc_.perfect_score(rows, n) : INFINITE;
        best.feature = NO_FEATURE;
        best.score = MINUS_INFINITY;
        sampler.begin(node.key, node.n_known);
        for (uint32_t f = sampler.next(); f != NO_FEATURE; f = sampler.next()) {
            const BlockRuns& picked = block_->pick(f, node.members);
            if (rules.ties.replay ? block_->list(f).is_constant(true) : picked.is_constant()) {
                sampler.found_constant();
                continue;
            }
            look(rules, node, f, picked, best);
            if (best.score >= perfect) break;
        }
        node.n_known = sampler.end();
        if (block_->searches_bits) look_at_bits(rules, node, rows, best);
        return best.feature != NO_FEATURE;
    }

    // Asks for the threshold's neighbours, which may be far away in memory.
    void find_neighbours(Split& best) const {
        if (best.row_below == NO_ROW) return;
        best.below = block_->number_of(best.row_below, best.feature);
        best.above = block_->number_of(best.row_above, best.feature);
        prefetch(best.below, sizeof(float));
        prefetch(best.above, sizeof(float));
    }

    void look(const GrowthRules& rules, const Node& node, uint32_t f, const BlockRuns& picked,
              Split& best) {
        const Limits limits = rules.limits_of(node, f);
        Candidate candidate;
        candidate.score = rules.ties.to_beat(best.score, best.feature, f);
        if (scan(f, picked, limits, candidate)) {
            take_candidate(picked, candidate, scanner_.groups(), f, best);
        }
    }
    // The columns of two values.
    void look_at_bits(const GrowthRules& rules, const Node& node, const uint32_t* rows,
                      Split& best) {
        const BitColumns& columns = block_->bits();
        bits_.clear();
        screen(columns.rows(), rules.common_limits(), node, rows, best.score);
        for (uint32_t bit : bits_) {
            const uint32_t f = columns.features[bit];
            if (f == BitColumns::NO_COLUMN) continue;
            look(rules, node, f, block_->pick(f, node.members), best);
        }
    }
    // Without scores of all columns, those that are not constant are left.
    void screen(const BitRows& bits, const Limits& limits, const Node& node, const uint32_t* rows,
                double floor) {
        if constexpr (BitScores<Acc>::exists) {
            if (!limits.checked()) {
                bit_cells_.resize((bits.n_bits() + size_t{1}) * acc_.cell_size());
                char* cells = reinterpret_cast<char*>(bit_cells_.data());
                const BitCells<Acc> items(acc_, cells, bits.n_bits());
                items.clear(0, bits.n_words);
                items.fill({bits, 0, bits.n_words}, rows, node.size());
                scanner_.screen_bits(cells, bits.n_bits(), limits, floor, bits_);
                return;
            }
        }
        for (uint32_t bit = 0; bit < bits.n_bits(); ++bit) {
            const uint64_t ones = block_->plane(bit) & node.members;
            if (ones != 0 && ones != node.members) bits_.push_back(bit);
        }
    }

    // In vectors where there are any, else over the listed runs. There is one way to part two
    // categories, and vectors tell whether it is better.
    bool scan(uint32_t feature, const BlockRuns& picked, const Limits& limits, Candidate& best) {
        if constexpr (BlockScan<Acc>::exists) {
            const uint32_t leaf = std::max(limits.min_samples_leaf, 1u);
            const bool fits = acc_.t.simd == SIMD_AVX512 && !limits.checked() &&
                              fits_block_scan(acc_);
            if (fits && picked.n_missing == 0) return block_scan_.scan(acc_, picked, leaf, best);
            if (fits && picked.are_two_categories()) {
                Candidate better = best;
                if (!block_scan_.scan(acc_, picked, leaf, better)) return false;
            }
        }
        return scanner_.scan(block_->list(feature), limits, best);
    }
};

}  // namespace fasttree
