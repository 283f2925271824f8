// The sample of one tree: which rows take part, and in what order.
//
// Nodes own slices [start, end) of the rows. Of every column that is listed the sample holds a
// list of its own, partitioned stably at each split; the codes of the other columns are read
// where all samples share them (`columns/dense.hpp`).
// Invariant: rows[start:end] are the node's rows, ascending, or, where labels stand beside them, by
// class. The same slice of each list holds the same rows in ascending order of the column: numbers,
// categories, missing values.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "engine/columns/dense.hpp"
#include "engine/core/runs.hpp"
#include "engine/order/partition.hpp"
#include "engine/simd/bits.hpp"
#include "engine/simd/simd.hpp"
#include "engine/simd/sorting.hpp"
#include "utils/_aligned_buffer.hpp"
#include "utils/_crew.hpp"

namespace fasttree {

// The rows of a sample of n whose weight is not zero; without weights all of them, without rows
// among all n rows of X. None if these are all rows of X.
template <class Weight>
void weighted_rows(size_t n, const Weight* weights, const uint32_t* rows, Rows& out) {
    out.resize(0);
    const auto has_zero = [=] { return std::find(weights, weights + n, Weight{0}) != weights + n; };
    if (rows == nullptr && (weights == nullptr || !has_zero())) return;
    out.resize(n);
    size_t n_kept = 0;
    for (size_t i = 0; i < n; ++i) {  // no branch: bootstrap samples toss a coin
        out[n_kept] = rows == nullptr ? static_cast<uint32_t>(i) : rows[i];
        n_kept += weights == nullptr || weights[i] != Weight{0};
    }
    out.resize(n_kept);
}

class DenseSample {
public:
    const DenseColumns& data;
    Rows rows;
    std::vector<AlignedBuffer<uint32_t>> lists;  // [n_features], empty where a column is not listed
    AlignedBuffer<Label> labels;  // of `rows`, both by class; or none (core/keys.hpp)
    bool has_classes = false;     // entries of lists hold classes

    // Rows, ascending, among those that are encoded; none: all rows of X.
    DenseSample(const DenseColumns& data_, Rows rows_, Crew& crew)
        : data(data_), rows(named_rows(std::move(rows_), data_.n_rows, crew)),
          lists(data_.columns.size()) {}

    bool has_list(uint32_t feature) const noexcept { return lists[feature].get() != nullptr; }
    size_t n_lists() const noexcept {
        return std::count_if(lists.begin(), lists.end(),
                             [](const AlignedBuffer<uint32_t>& list) { return list.get(); });
    }

    // Takes the lists of columns that nobody else reads and that list just these rows.
    void take_lists(DenseColumns& columns) noexcept {
        for (size_t f = 0; f < lists.size(); ++f) lists[f] = std::move(columns.columns[f].list);
    }
    // Copies all lists, filtered or sorted anew; false: the call is given up.
    bool copy_lists(bool filtered, Simd simd, Crew& crew) {
        const std::vector<uint32_t> is_in = filtered ? bits() : std::vector<uint32_t>();
        std::vector<SortBuffers> buffers(crew.size());
        return crew.each(static_cast<int>(lists.size()), [&](int thread, int feature) {
            if (filtered) filter_list(feature, is_in.data(), simd);
            else sort_list(feature, buffers[thread]);
        });
    }
    // Puts classes, given as bits by row, into the entries of all lists; false: the call is given
    // up.
    bool put_classes(const uint32_t* class_bits, Crew& crew) {
        has_classes = true;
        return crew.each(static_cast<int>(lists.size()), [&](int, int feature) {
            put_classes(static_cast<uint32_t>(feature), class_bits);
        });
    }

private:
    // Copies a column's list, without the rows that `is_in`, a bit per row of X, does not have.
    void filter_list(uint32_t feature, const uint32_t* is_in, Simd simd) {
        const AlignedBuffer<uint32_t>& all = data.columns[feature].list;
        if (all.get() == nullptr) return;
        const uint32_t n_rows = static_cast<uint32_t>(data.rows.size());
        separate<true, false>(simd, all.get(), n_rows, is_in,
                              lists[feature].reserve(rows.size() + PADDING), nullptr);
    }
    // The same, sorted anew.
    void sort_list(uint32_t feature, SortBuffers& buffers) {
        if (data.columns[feature].list.get() == nullptr) return;
        const uint32_t n = static_cast<uint32_t>(rows.size());
        data.sort_rows(feature, rows.data(), n, buffers, lists[feature].reserve(n));
    }
    void put_classes(uint32_t feature, const uint32_t* class_bits) noexcept {
        if (!has_list(feature)) return;
        uint32_t* const list = lists[feature].get();
        for (size_t i = 0; i < rows.size(); ++i) {
            list[i] |= get_bit(class_bits, list[i] & ROW) * CLASS_1;
        }
    }
    // The rows as bits.
    std::vector<uint32_t> bits() const {
        std::vector<uint32_t> out = make_bits(data.n_rows);
        for (uint32_t row : rows) put_bit(out.data(), row, true);
        return out;
    }
};

}  // namespace fasttree
