// The columns of a sparse matrix in the nodes of one thread: listed in every node, or extracted.
#pragma once
#include <cstdint>
#include <vector>

#include "engine/columns/sparse.hpp"
#include "engine/order/extraction.hpp"
#include "engine/order/sparse_lists.hpp"
#include "engine/search/extracted_features.hpp"
#include "engine/search/node_columns.hpp"

namespace fasttree {

// What both strategies share. A sparse matrix holds numbers only; none of its columns is counted
// and no block made of it.
class SparseNodeColumns : public NodeColumns {
    SparseData& data_;
    Nonzeros drawn_from_{};          // of the feature whose extremes were asked for last
    std::vector<uint32_t> listed_;   // one side of a question

protected:
    SparseNodeColumns(SparseData& data, Scanner& scanner) : NodeColumns(scanner), data_(data) {}

    // The feature's values in the node that are not zero.
    virtual Nonzeros nonzeros(const Node& node, uint32_t feature) = 0;

public:
    float value(uint32_t row, uint32_t feature) const noexcept override {
        return data_.value(row, feature);
    }
    bool scan(const Node& node, uint32_t feature, const Limits& limits, double to_beat,
              Split& best) override {
        const Nonzeros found = nonzeros(node, feature);
        if (found.is_constant(limits.replay)) return true;
        Candidate candidate;
        candidate.score = to_beat;
        if (scanner_.scan(found, limits, candidate)) {
            take_candidate(found, candidate, feature, best);
        }
        return false;
    }

    const float* category_cells(const Node&, uint32_t) override { return nullptr; }
    Extremes extremes(const Node& node, uint32_t feature) override {
        drawn_from_ = nonzeros(node, feature);
        if (drawn_from_.is_constant(false)) return {0.0f, 0.0f, 0};
        return {drawn_from_.value(0), drawn_from_.value(drawn_from_.n_values() - 1),
                drawn_from_.n_missing};
    }
    bool scan_drawn(const Node&, uint32_t, Split& drawn, const Limits& limits,
                    Candidate& candidate) override {
        drawn.n_values_left = drawn_from_.n_at_most(drawn.threshold);
        const Nonzeros side =
            listed_side(drawn_from_, drawn.n_values_left, drawn.missing_left, listed_);
        return scanner_.scan(side, limits, candidate);
    }
};

class ListedNodeColumns final : public SparseNodeColumns {
    ListWorkspace& workspace_;

    Nonzeros nonzeros(const Node& node, uint32_t feature) override {
        return workspace_.nonzeros(feature, node);
    }

public:
    ListedNodeColumns(ListWorkspace& workspace, Scanner& scanner)
        : SparseNodeColumns(workspace.data, scanner), workspace_(workspace) {}

    std::unique_ptr<FeatureWalk> make_walk(FeatureSampler& sampler, Scanner& scanner,
                                           Poll& poll, const Limits&) override {
        if (sampler.is_ascending()) {
            return std::make_unique<ListedFeatures>(workspace_, scanner, poll);
        }
        return std::make_unique<SampledFeatures>(sampler, scanner, poll,
                                                 workspace_.data.n_features);
    }
    const uint32_t* rows(const Node& node) override {
        return workspace_.data.rows.data() + node.start;
    }
    uint32_t divide_rows(const Split& split, const Node& node, Crew*) override {
        return workspace_.split_rows(split, node);
    }
    const uint32_t* sides() const noexcept override { return workspace_.sides(); }
    uint32_t begin_division(Division& d) override {
        return workspace_.begin_split(d.left, d.right, d.with_left, d.with_right);
    }
    void divide_part(uint32_t part, const Division& d, const FeatureSampler&) override {
        workspace_.split_part(part, d.left, d.right, d.with_left, d.with_right, d.sides);
    }
    void end_division(const Division& d) noexcept override {
        workspace_.end_split(d.left, d.right, d.with_left, d.with_right);
    }
};

// Nothing is kept of a node but its rows.
class ExtractedNodeColumns final : public SparseNodeColumns {
    Extraction& workspace_;

    Nonzeros nonzeros(const Node& node, uint32_t feature) override {
        return workspace_.nonzeros(feature, node.start, node.end);
    }

public:
    ExtractedNodeColumns(Extraction& workspace, Scanner& scanner)
        : SparseNodeColumns(workspace.data, scanner), workspace_(workspace) {}

    std::unique_ptr<FeatureWalk> make_walk(FeatureSampler& sampler, Scanner& scanner,
                                           Poll& poll, const Limits&) override {
        return std::make_unique<ExtractedFeatures>(sampler, scanner, poll, workspace_);
    }
    const uint32_t* rows(const Node& node) override {
        return workspace_.node_rows(node.start, node.end);
    }
    uint32_t divide_rows(const Split& split, const Node& node, Crew*) override {
        return workspace_.split_rows(split, node.start, node.end);
    }
    const uint32_t* sides() const noexcept override { return nullptr; }
    uint32_t begin_division(Division&) override { return 0; }
    void divide_part(uint32_t, const Division&, const FeatureSampler&) override {}
    void end_division(const Division&) noexcept override {}
};

}  // namespace fasttree
