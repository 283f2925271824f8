// A grown tree in few bytes: what its arrays are made of when somebody asks for them.
//
// Nodes keep what is in a NodeRecord in narrower fields. A leaf holds few of many classes, so of
// values only those that are not zero are kept, if that takes less.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

#include "engine/core/node_record.hpp"
#include "engine/simd/bits.hpp"
#include "utils/_shared_blocks.hpp"

namespace fasttree {

struct CompactNode {
    double threshold, impurity, weight;  // threshold -2 at a leaf
    uint32_t left, right;                // 0 at a leaf
    uint32_t n_rows;
    uint32_t feature : 31;
    uint32_t missing_left : 1;

    // In place: it is too wide for registers.
    void write(NodeRecord& out) const noexcept {
        const bool is_leaf = left == 0;
        std::memset(&out, 0, sizeof out);  // padding too: pickles are deterministic
        out.left_child = is_leaf ? -1 : static_cast<int64_t>(left);
        out.right_child = is_leaf ? -1 : static_cast<int64_t>(right);
        out.feature = is_leaf ? -2 : static_cast<int64_t>(feature);
        out.threshold = threshold;
        out.impurity = impurity;
        out.n_node_samples = n_rows;
        out.weighted_n_node_samples = weight;
        out.missing_go_to_left = missing_left;
    }
};
static_assert(sizeof(CompactNode) == 40);

// Copies the values of a node, at least one: of one number or two classes without a call.
inline void copy_values(const double* values, size_t n, double* out) noexcept {
    if (n > 2) {
        std::copy_n(values, n, out);
        return;
    }
    out[0] = values[0];
    out[n - 1] = values[n - 1];
}

// Values are kept unless all their bits are zero: -0.0 is kept.
inline bool is_kept(double value) noexcept {
    uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits != 0;
}
inline size_t count_kept(const double* values, size_t n) noexcept {
    size_t n_kept = 0;
    for (size_t i = 0; i < n; ++i) n_kept += is_kept(values[i]);
    return n_kept;
}
// Which of up to 64 are.
inline uint64_t kept_bits(const double* values, size_t n) noexcept {
    uint64_t kept = 0;
    for (size_t i = 0; i < n; ++i) kept |= uint64_t{is_kept(values[i])} << i;
    return kept;
}

// The values of nodes, `width` of each.
class CompactValues {
    size_t n_nodes_, width_, n_kept_;
    std::shared_ptr<double[]> numbers_;
    std::shared_ptr<uint32_t[]> places_;  // of these numbers among a node's, unless all are kept
    std::shared_ptr<uint32_t[]> n_of_;    // numbers of a node

public:
    // For up to n_kept values that are not zero.
    CompactValues(size_t n_nodes, size_t width, size_t n_kept, SharedBlocks& memory)
        : n_nodes_(n_nodes), width_(width), n_kept_(n_kept) {
        const size_t n_all = n_nodes * width;
        constexpr size_t NUMBER = sizeof(double), PLACE = sizeof(uint32_t);
        if (n_kept * (NUMBER + PLACE) + n_nodes * PLACE < n_all * NUMBER) {
            places_ = memory.take<uint32_t>(n_kept);
            n_of_ = memory.take<uint32_t>(n_nodes);
        } else {
            n_kept_ = n_all;
        }
        numbers_ = memory.take<double>(n_kept_);
    }

    size_t n_kept() const noexcept { return n_kept_; }

    // Puts the values of a node behind `start`, the number of those that are kept of the nodes
    // before it; returns what that is for the next one.
    size_t put(size_t node, size_t start, const double* values) noexcept {
        if (places_ == nullptr) {
            copy_values(values, width_, &numbers_[node * width_]);
            return start;
        }
        constexpr size_t BITS = 64;
        size_t end = start;
        for (size_t first = 0; first < width_; first += BITS) {
            uint64_t kept = kept_bits(values + first, std::min(BITS, width_ - first));
            for (; kept != 0; kept &= kept - 1, ++end) {  // few of many are
                const size_t place = first + static_cast<size_t>(lowest_bit(kept));
                numbers_[end] = values[place];
                places_[end] = static_cast<uint32_t>(place);
            }
        }
        n_of_[node] = static_cast<uint32_t>(end - start);
        return end;
    }
    // The same for n values that are not zero; `entry` gives the place and value of each.
    template <class EntryOf>
    size_t put_few(size_t node, size_t start, size_t n, const EntryOf& entry) noexcept {
        if (places_ == nullptr) {
            double* values = &numbers_[node * width_];
            std::memset(values, 0, width_ * sizeof(double));
            for (size_t i = 0; i < n; ++i) values[entry(i).place] = entry(i).value;
            return start;
        }
        for (size_t i = 0; i < n; ++i) {
            numbers_[start + i] = entry(i).value;
            places_[start + i] = entry(i).place;
        }
        n_of_[node] = static_cast<uint32_t>(n);
        return start + n;
    }
    // Writes all to an array of zeros of shape (n_nodes, width).
    void write(double* out) const noexcept {
        if (places_ == nullptr) {
            std::memcpy(out, numbers_.get(), n_kept_ * sizeof(double));
            return;
        }
        size_t start = 0;
        for (size_t node = 0; node < n_nodes_; ++node, out += width_) {
            const size_t end = start + n_of_[node];
            for (; start < end; ++start) out[places_[start]] = numbers_[start];
        }
    }
    // Multiplies all by a power of two; returns whether they are finite.
    bool scale(int exponent) noexcept {
        bool are_finite = true;
        for (size_t i = 0; i < n_kept_; ++i) {
            numbers_[i] = std::ldexp(numbers_[i], exponent);
            are_finite &= std::isfinite(numbers_[i]);
        }
        return are_finite;
    }
};

class CompactNodes {
    size_t n_;
    std::shared_ptr<CompactNode[]> nodes_;

public:
    CompactNodes(size_t n, SharedBlocks& memory) : n_(n), nodes_(memory.take<CompactNode>(n)) {}

    size_t size() const noexcept { return n_; }
    CompactNode& operator[](size_t i) noexcept { return nodes_[i]; }

    void write(NodeRecord* out) const noexcept {
        for (size_t i = 0; i < n_; ++i) nodes_[i].write(out[i]);
    }
    void scale_weights(int exponent) noexcept {
        for (size_t i = 0; i < n_; ++i) nodes_[i].weight = std::ldexp(nodes_[i].weight, exponent);
    }
    // Returns whether impurities are finite.
    bool scale_impurities(int exponent) noexcept {
        bool are_finite = true;
        for (size_t i = 0; i < n_; ++i) {
            nodes_[i].impurity = std::ldexp(nodes_[i].impurity, exponent);
            are_finite &= std::isfinite(nodes_[i].impurity);
        }
        return are_finite;
    }
};

}  // namespace fasttree
