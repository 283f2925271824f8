// The features that are not zero everywhere in a node, as bits, where listing them costs less than
// reading the columns that a node draws: of text, nearly all of those are zero in a small node.
//
// Complexity: O(nonzeros of the node) to list and to forget.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/columns/row_features.hpp"
#include "engine/core/cost_model.hpp"
#include "engine/simd/bits.hpp"

namespace fasttree {

class PresentFeatures {
    const RowFeatures& rows_;
    std::vector<uint32_t> is_present_;  // bits
    std::vector<uint32_t> present_;
    bool is_listed_ = false;            // of the node that was listed last
    bool is_in_every_row_ = false;

public:
    PresentFeatures(const RowFeatures& rows, uint32_t n_features)
        : rows_(rows), is_present_(make_bits(n_features)) {}

    // Lists the features of a node that will look at about `n_looks` of them, if that pays.
    void list(const uint32_t* rows, uint32_t n, uint32_t n_looks) {
        forget();
        size_t n_nonzeros = 0;
        for (uint32_t i = 0; i < n; ++i) {
            n_nonzeros += static_cast<size_t>(rows_.end(rows[i]) - rows_.begin(rows[i]));
            if (!row_listing_pays(n_nonzeros, n_looks)) return;
        }
        for (uint32_t i = 0; i < n; ++i) {
            for (const uint32_t* f = rows_.begin(rows[i]); f != rows_.end(rows[i]); ++f) {
                if (get_bit(is_present_.data(), *f)) continue;
                put_bit(is_present_.data(), *f, 1);
                present_.push_back(*f);
            }
        }
        is_listed_ = true;
        is_in_every_row_ = present_.size() * n == n_nonzeros;
    }
    void forget() noexcept {
        for (uint32_t feature : present_) is_present_[feature / 32] = 0;
        present_.clear();
        is_listed_ = is_in_every_row_ = false;
    }
    // Without a list any feature may.
    bool may_hold(uint32_t feature) const noexcept {
        return !is_listed_ || get_bit(is_present_.data(), feature);
    }
    // Whether each row of the node has nonzeros in the same features, so all may be constant.
    bool is_in_every_row() const noexcept { return is_in_every_row_; }
    const std::vector<uint32_t>& present() const noexcept { return present_; }
};

}  // namespace fasttree
