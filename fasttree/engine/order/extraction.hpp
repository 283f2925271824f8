// Sparse columns extracted in the node: "Scalable Learning of Tree-Based Models on Sparsely
// Representable Data" (Hedayati, Joly & Papadimitriou, 2016), Algorithms 3 to 6.
//
// Nothing is kept of a node but its slice of the rows. To find the nonzeros of a column in a node,
// either the column is walked, and the position of each of its m rows tells whether the row is in
// the node, O(m) (the paper's mapping, Algorithm 4); or the column is searched for each of the
// node's n rows, O(n log m) (Algorithm 5). A split swaps the rows that leave the side of the zeros:
// O(m), whatever the size of the node.
//
// Invariant: position[rows[p]] = p for every p. The rows of a node are in no order.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "engine/columns/sparse.hpp"
#include "engine/core/cost_model.hpp"
#include "engine/core/split.hpp"
#include "engine/order/present_features.hpp"
#include "utils/_aligned_buffer.hpp"

namespace fasttree {

class ExtractionData : public SparseData {
public:
    std::vector<uint32_t> position;  // of each row in `rows`, NO_ROW if it is not there

    using SparseData::SparseData;

    void map_rows() {
        position.assign(n_rows, NO_ROW);
        for (uint32_t p = 0; p < rows.size(); ++p) position[rows[p]] = p;
    }
};

// Scratch of one thread.
class Extraction {
public:
    ExtractionData& data;
    PresentFeatures present;  // in the node that is searched

    Extraction(ExtractionData& data_, const RowFeatures& row_features, Simd simd)
        : data(data_), present(row_features, data_.n_features), sorter_(simd) {}

    // Rows of a node in ascending order; good until the next call.
    const uint32_t* node_rows(uint32_t start, uint32_t end) {
        sorted_.assign(data.rows.begin() + start, data.rows.begin() + end);
        sort_rows();
        return sorted_.data();
    }

    Nonzeros nonzeros(uint32_t feature, uint32_t start, uint32_t end) {
        const uint32_t n = present.may_hold(feature) ? extract(feature, start, end) : 0;
        Nonzeros out;
        out.n = end - start;
        out.n_negative = out.n_missing = 0;
        for (uint32_t i = 0; i < n; ++i) {
            const float x = sorter_.value(i);
            out.n_negative += x < 0.0f;
            out.n_missing += x != x;
        }
        out.n_positive = n - out.n_negative - out.n_missing;
        uint32_t* entries = entries_.reserve(n);
        sorter_.write_sorted(n, entries);
        out.entries = entries;
        out.column = data.column(feature);
        return out;
    }

    // Moves the rows that go left to the front; returns the first position that is right.
    uint32_t split_rows(const Split& split, uint32_t start, uint32_t end) {
        const uint32_t n = extract(split.feature, start, end);
        const bool zeros_left = 0.0 <= split.threshold;
        uint32_t middle = zeros_left ? end : start;
        // Loop invariant: rows of the other side among the first i stand beyond `middle`.
        for (uint32_t i = 0; i < n; ++i) {
            const float x = sorter_.value(i);
            const bool left = x != x ? split.missing_left : x <= split.threshold;
            if (left == zeros_left) continue;
            swap_rows(data.position[sorter_.row(i)], zeros_left ? --middle : middle++);
        }
        return middle;
    }

private:
    NonzeroSorter sorter_;
    AlignedBuffer<uint32_t> entries_;
    std::vector<uint32_t> sorted_;
    std::vector<uint64_t> bitmap_;

    // Puts the nonzeros of the feature in the node in the sorter; returns their number.
    uint32_t extract(uint32_t feature, uint32_t start, uint32_t end) {
        const SparseView column = data.column(feature);
        uint32_t n = 0;
        if (binary_search_pays(end - start, column.n)) {
            sorter_.reserve(end - start);
            for (uint32_t p = start; p < end; ++p) {
                const float x = column.value(data.rows[p]);
                sorter_.put(n, x, data.rows[p]);
                n += x != 0.0f;
            }
        } else {
            sorter_.reserve(column.n);
            for (uint32_t i = 0; i < column.n; ++i) {
                const uint32_t row = static_cast<uint32_t>(column.rows[i]);
                // Other threads move the rows of other nodes meanwhile, within those nodes.
                const uint32_t p = __atomic_load_n(&data.position[row], __ATOMIC_RELAXED);
                sorter_.put(n, column.values[i], row);
                n += p >= start && p < end && column.values[i] != 0.0f;
            }
        }
        return n;
    }

    void swap_rows(uint32_t p, uint32_t q) {
        std::swap(data.rows[p], data.rows[q]);
        __atomic_store_n(&data.position[data.rows[p]], p, __ATOMIC_RELAXED);
        __atomic_store_n(&data.position[data.rows[q]], q, __ATOMIC_RELAXED);
    }

    // Large nodes by a sweep over a bit per row of X.
    void sort_rows() {
        const size_t n_words = data.n_rows / 64 + 1;
        if (sorted_.size() * 4 < n_words) {
            std::sort(sorted_.begin(), sorted_.end());
            return;
        }
        bitmap_.assign(n_words, 0);
        for (uint32_t row : sorted_) bitmap_[row / 64] |= uint64_t{1} << row % 64;
        uint32_t n = 0;
        for (uint32_t word = 0; word < n_words; ++word) {
            for (uint64_t bits = bitmap_[word]; bits != 0; bits &= bits - 1) {
                sorted_[n++] = word * 64 + static_cast<uint32_t>(__builtin_ctzll(bits));
            }
        }
    }
};

}  // namespace fasttree
