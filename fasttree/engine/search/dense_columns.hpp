// The columns of a dense matrix in the nodes of one thread.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "engine/core/sampler.hpp"
#include "engine/order/dense_workspace.hpp"
#include "engine/search/bit_features.hpp"
#include "engine/search/node_columns.hpp"

namespace fasttree {

class DenseNodeColumns : public NodeColumns {
protected:
    DenseWorkspace workspace_;

private:
    const DenseSample& sample_;
    int scratch_table_ = NO_TABLE;
    uint32_t scratch_start_ = 0, scratch_end_ = 0;  // node whose bits it holds
    std::vector<char> pair_;                    // cells of two values
    AlignedBuffer<float> cells_;                // of the feature that was asked for last

public:
    DenseNodeColumns(DenseSample& sample, Scanner& scanner, Simd simd, bool count_forced,
                     bool with_blocks, bool keeps_sides)
        : NodeColumns(scanner), workspace_(sample, simd, keeps_sides), sample_(sample) {
        for (uint32_t f = 0; f < sample.lists.size(); ++f) {
            if (sample.has_list(f)) listed_features.push_back(f);
        }
        if (scanner.cells() != nullptr) {
            tables = CountTables(sample, *scanner.cells(), count_forced);
            pair_.resize(3 * scanner.cells()->bytes());
        }
        if (with_blocks) {
            block = std::make_unique<Block>(workspace_, simd, sample.data.n_rows,
                                            static_cast<uint32_t>(sample.data.columns.size()));
            block_rows = BLOCK_ROWS;
        }
    }

    std::unique_ptr<FeatureWalk> make_walk(FeatureSampler& sampler, Scanner& scanner,
                                           Poll& poll, const Limits& limits) override {
        const uint32_t n_features = static_cast<uint32_t>(sample_.lists.size());
        if (tables.with_bits() && sampler.is_ascending()) {
            if (block != nullptr) block->searches_bits = true;
            return std::make_unique<BitFeatures>(sampler, scanner, poll, n_features,
                                                 sample_.data.bits, *this, limits);
        }
        return std::make_unique<SampledFeatures>(sampler, scanner, poll, n_features);
    }
    uint32_t n_lists_in_segments(uint32_t n_threads) const override {
        const uint32_t n = n_left_over(listed_features.size(), n_threads);
        const bool have_categories = std::any_of(
            listed_features.begin(), listed_features.end(),
            [&](uint32_t f) { return sample_.data.columns[f].has_categories(); });
        return scanner_.begins_anywhere() && !have_categories ? n : 0;
    }
    const uint32_t* rows(const Node& node) override { return sample_.rows.data() + node.start; }
    float value(uint32_t row, uint32_t feature) const noexcept override {
        return sample_.data.values_of(feature).of(row);
    }

    bool scan(const Node& node, uint32_t feature, const Limits& limits, double to_beat,
              Split& best) override {
        Candidate candidate;
        candidate.score = to_beat;
        if (!tables.counts(feature, node.size())) {
            Runs runs = workspace_.runs(feature, node.start, node.end);
            if (runs.is_constant(limits.replay)) return true;
            runs.after = segment_begin(runs.n, share_.segment, share_.n_segments);
            runs.up_to = segment_begin(runs.n, share_.segment + 1, share_.n_segments);
            if (!scanner_.scan(runs, limits, candidate)) return false;
            // A segment that was searched before may hold a lower threshold.
            if (best.feature != feature || candidate.score > best.score
                || candidate.left < best.n_values_left) {
                take_candidate(runs, candidate, scanner_.groups(), feature, best);
            }
            return false;
        }
        const Counts counts = count(node, feature);
        if (scanner_.is_constant(counts, limits.replay)) return true;
        if (scanner_.scan(counts, limits, candidate)) {
            take_candidate(counts, candidate, scanner_.groups(), feature, best);
        }
        return false;
    }

    const float* category_cells(const Node& node, uint32_t feature) override {
        if (!sample_.data.columns[feature].has_categories()) return nullptr;
        extremes(node, feature);
        return cells_.get();
    }
    Extremes extremes(const Node& node, uint32_t feature) override {
        const DenseColumns& data = sample_.data;
        return gather(SIMD_PORTABLE, data.column(feature), data.row_stride, rows(node),
                      node.size(), cells_.reserve(node.size()));
    }
    // Left rows from the front, right rows from the back.
    bool scan_drawn(const Node& node, uint32_t, Split& drawn, const Limits& limits,
                    Candidate& candidate) override {
        const uint32_t n_left = drawn.question == THRESHOLD
            ? separate(node, [t = drawn.threshold, missing_left = drawn.missing_left](float cell) {
                  return (cell <= t) | ((cell != cell) & missing_left);
              })
            : separate(node, [&drawn](float cell) { return drawn.goes_left(cell); });
        const uint32_t n = node.size();
        if (n_left == 0 || n_left == n) return false;
        drawn.n_values_left = 0;  // of a list, which there is none of
        uint32_t* entries = workspace_.scratch.get();
        entries[n_left] |= BOUNDARY;
        return scanner_.scan_sides(Runs{entries, n, 0, {}}, n_left, limits, candidate);
    }

    uint32_t divide_rows(const Split& split, const Node& node, Crew* crew) override {
        return workspace_.split_rows(split, node.start, node.end, crew);
    }
    const uint32_t* sides() const noexcept override { return workspace_.go_left.data(); }

    // A part is a segment of a list that is cut, of which there is one if rows are few, or a whole
    // list. Segments come first: whoever joins them leaves lists to others.
    uint32_t begin_division(Division& division) override {
        if (!division.with_left && !division.with_right) return 0;
        constexpr uint32_t LEAST = 1 << 12;  // rows of a segment
        const uint32_t n_lists = static_cast<uint32_t>(division.lists->size());
        division.is_by_list = true;
        division.n_cut = n_left_over(n_lists, division.n_threads);
        const bool pays = division.n_rows() / LEAST >= division.n_threads;
        division.n_segments = pays ? division.n_threads : 1;
        if (division.n_cut > 0) division.cut = std::make_unique<CutList[]>(division.n_cut);
        for (uint32_t i = 0; i < division.n_cut; ++i) division.cut[i].begin(division.n_segments);
        return division.n_cut_parts() + n_lists - division.n_cut;
    }
    void divide_part(uint32_t part, const Division& division,
                     const FeatureSampler& sampler) override {
        const std::vector<uint32_t>& lists = *division.lists;
        const uint32_t n_segments = division.n_segments;
        const uint32_t start = division.left.start, end = division.right.end;
        const bool is_cut = part < division.n_cut_parts();
        const uint32_t feature = is_cut ? lists[division.n_whole() + part / n_segments]
                                        : lists[part - division.n_cut_parts()];
        if (sampler.is_known_constant(feature)) return;
        if (!is_cut || n_segments == 1) {
            workspace_.split_list(feature, start, division.right.start, end, division.with_left,
                                  division.with_right, division.sides);
            return;
        }
        CutList& cut = division.cut[part / n_segments];
        const uint32_t segment = part % n_segments;
        cut.n_left[segment] = workspace_.split_segment(feature, start, end, segment, n_segments,
                                                       division.sides);
        if (--cut.n_open == 0) workspace_.join_segments(feature, start, end, cut.n_left);
    }
    void end_division(const Division&) noexcept override {}  // each list was divided in place
    void finish_rows(uint32_t start, uint32_t end) noexcept override {
        std::vector<AlignedBuffer<uint32_t>>& lists = workspace_.sample.lists;
        for (uint32_t feature : listed_features) lists[feature].discard(start, end);
    }

private:
    // Rows of the cells gathered last that go left to the front of `scratch`, others to its back.
    // Returns how many go left. No branch: the side is a coin toss to the predictor.
    template <class GoesLeft>
    uint32_t separate(const Node& node, const GoesLeft& goes_left) {
        const uint32_t* node_rows = rows(node);
        uint32_t* entries = workspace_.scratch.get();
        const uint32_t n = node.size();
        uint32_t n_left = 0;
        // Loop invariant: the n_left first and the i - n_left last entries are written.
        for (uint32_t i = 0; i < n; ++i) {
            const bool is_left = goes_left(cells_[i]);
            entries[n_left] = node_rows[i];
            entries[n - 1 - (i - n_left)] = node_rows[i];
            n_left += is_left;
        }
        return n_left;
    }

    Counts count(const Node& node, uint32_t feature) {
        if (node.table != NO_TABLE) {
            return node_tables_->view(node.table, feature, node.size(), pair_.data());
        }
        if (scratch_table_ == NO_TABLE) scratch_table_ = tables.acquire();
        if (sample_.data.columns[feature].storage != BITS) {
            tables.fill_one(scratch_table_, feature, node.start, node.end);
        } else if (scratch_start_ != node.start || scratch_end_ != node.end) {
            tables.fill_all_bits(scratch_table_, node.start, node.end);
            scratch_start_ = node.start;
            scratch_end_ = node.end;
        }
        return tables.view(scratch_table_, feature, node.size(), pair_.data());
    }
};

}  // namespace fasttree
