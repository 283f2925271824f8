// The features that a node of an extracted sparse matrix looks at: those that the sampler names,
// after it is listed which of them are zero in all of the node, so are constant at a glance.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "engine/order/extraction.hpp"
#include "engine/search/feature_walk.hpp"

namespace fasttree {

class ExtractedFeatures final : public SampledFeatures {
    Extraction& columns_;
    bool is_node_constant_ = false;  // in every feature

public:
    ExtractedFeatures(FeatureSampler& sampler, Scanner& scanner, Poll& poll, Extraction& columns)
        : SampledFeatures(sampler, scanner, poll, columns.data.n_features), columns_(columns) {}

    void begin(const Node& node, const uint32_t* rows) override {
        SampledFeatures::begin(node, rows);
        columns_.present.list(rows, node.size(), sampler_.max_features());
        // The draws of a stream go on to the last feature all the same.
        is_node_constant_ = sampler_.is_keyed() && columns_.present.is_in_every_row()
                            && is_constant_in_all(node);
    }
    void begin_share(const Node& node, uint32_t share, SharedScore& found) override {
        SampledFeatures::begin_share(node, share, found);
        columns_.present.forget();
        is_node_constant_ = false;
    }
    uint32_t next(const Split& best) override {
        return is_node_constant_ ? NO_FEATURE : SampledFeatures::next(best);
    }

private:
    bool is_constant_in_all(const Node& node) {
        const std::vector<uint32_t>& present = columns_.present.present();
        return std::all_of(present.begin(), present.end(), [&](uint32_t feature) {
            return columns_.nonzeros(feature, node.start, node.end).is_constant(false);
        });
    }
};

}  // namespace fasttree
