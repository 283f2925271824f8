// The columns of a dense matrix by keys, for nodes that look at few of many features.
//
// Nothing is kept of a node but its rows and their labels. A feature's keys are gathered from the
// row-major matrix, where a row is a cache line or two, whichever features are drawn.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "engine/core/cost_model.hpp"
#include "engine/order/key_partition.hpp"
#include "engine/search/dense_columns.hpp"

namespace fasttree {

class KeyedNodeColumns final : public DenseNodeColumns {
    DenseSample& sample_;
    const DenseColumns& data_;
    const Simd simd_;
    AlignedBuffer<uint32_t> keys_;       // of the feature gathered last
    AlignedBuffer<uint32_t> best_keys_;  // of the feature that was found best last, in
    uint32_t best_feature_ = NO_FEATURE, best_start_ = 0, best_end_ = 0;  // this node
    AlignedBuffer<uint32_t> entries_;  // the same in ascending order
    KeyPartitionScratch scratch_;
    SortBuffers buffers_;

public:
    KeyedNodeColumns(DenseSample& sample, Scanner& scanner, Simd simd)
        : DenseNodeColumns(sample, scanner, simd, false, false), sample_(sample),
          data_(sample.data), simd_(simd) {
        const size_t n = sample.rows.size();
        keys_.reserve(n + KEY_PADDING);
        best_keys_.reserve(n + KEY_PADDING);
        scratch_.reserve(n);
        if (sample.labels.get() == nullptr) make_labels();
    }

    void begin_node(const Node& node) override {
        const Label* labels = sample_.labels.get();
        if (labels == nullptr) return DenseNodeColumns::begin_node(node);
        scanner_.begin_labels(labels + node.start, node.size());
    }

    bool scan(const Node& node, uint32_t feature, const Limits& limits, double to_beat,
              Split& best) override {
        if (gather(node, feature)) return true;
        Candidate candidate;
        candidate.score = to_beat;
        if (!takes_keys(feature, limits)) {
            return scan_sorted(node, feature, limits, candidate, best);
        }
        if (scanner_.scan(keys(node, feature), candidate)) {
            keep(node, feature);
            take(node, candidate, best);
        }
        return false;
    }

    // The steps of this search, for the splitter of nodes with labels.
    const Label* labels() const noexcept { return sample_.labels.get(); }
    bool has_labels() const noexcept { return labels() != nullptr; }

    // The feature's keys of the node, in the order of its rows. True if they are all the same.
    // Of many rows, a column is read; of few, rows, whose lines hold the other features too.
    bool gather(const Node& node, uint32_t feature) {
        const Column& col = data_.columns[feature];
        const bool reads_column = columns_pay(node.size(), data_.n_rows);
        const uint8_t* matrix = data_.codes.get() + col.slot;
        if (col.storage == KEYED) {
            const uint8_t* column = reinterpret_cast<const uint8_t*>(col.wide.get());
            return reads_column && column != nullptr
                ? gather_from<uint32_t>(node, column, sizeof(uint32_t))
                : gather_from<uint32_t>(node, matrix, data_.pitch);
        }
        return reads_column && col.narrow.get() != nullptr
            ? gather_from<uint8_t>(node, col.narrow.get(), 1)
            : gather_from<uint8_t>(node, matrix, data_.pitch);
    }
    // Whether the best threshold is found by keys.
    bool takes_keys(uint32_t feature, const Limits& limits) const noexcept {
        return has_labels() && data_.columns[feature].is_plain() &&
               limits.min_samples_leaf <= 1 && !limits.checked();
    }
    // What was gathered last.
    Keys keys(const Node& node, uint32_t feature) const noexcept {
        return keys_of(node, feature, keys_.get());
    }
    // Keeps it, because it is the best so far.
    void keep(const Node& node, uint32_t feature) noexcept {
        std::swap(keys_, best_keys_);
        best_feature_ = feature;
        best_start_ = node.start;
        best_end_ = node.end;
    }
    Keys kept_keys(const Node& node) const noexcept {
        return keys_of(node, best_feature_, best_keys_.get());
    }
    // Makes a threshold between keys that were kept the best split.
    void take(const Node& node, const Candidate& candidate, Split& best) {
        const Column& col = data_.columns[best_feature_];
        const uint32_t below = best_keys_[candidate.left], above = best_keys_[candidate.right];
        take_any(candidate, best_feature_, node.size(), 0, best);
        best.n_values_left = below;
        if (col.storage == KEYED) {
            const uint32_t* node_rows = rows(node);
            best.row_below = node_rows[candidate.left];
            best.row_above = node_rows[candidate.right];
        } else {
            best.threshold = midpoint(col.values[below], col.values[above]);
        }
    }
    // The same for what searches by keys do not know of: keys that were gathered are sorted.
    bool scan_sorted(const Node& node, uint32_t feature, const Limits& limits,
                     Candidate& candidate, Split& best) {
        const Runs runs = sort(node, feature);
        if (runs.is_constant(limits.replay)) return true;
        if (!scanner_.scan(runs, limits, candidate)) return false;
        take_candidate(runs, candidate, scanner_.groups(), feature, best);
        const Column& col = data_.columns[feature];
        best.n_values_left = best.row_below != NO_ROW ? key(best.row_below, col)
                                                      : other_key(col) - 1;
        return false;
    }

    uint32_t divide_rows(const Split& split, const Node& node) override {
        const Column& col = data_.columns[split.feature];
        if (split.feature == best_feature_ && node.start == best_start_ && node.end == best_end_) {
            std::swap(keys_, best_keys_);
        } else {
            gather(node, split.feature);
        }
        best_feature_ = NO_FEATURE;
        uint32_t limit = split.n_values_left;
        if (split.question != THRESHOLD) {
            const uint32_t* node_rows = rows(node);
            for (uint32_t i = 0; i < node.size(); ++i) {
                keys_[i] = !split.goes_left(data_.value(node_rows[i], split.feature));
            }
            limit = 0;
        } else if (!col.is_plain() && split.missing_left) {
            const uint32_t first_other = other_key(col);
            for (uint32_t i = 0; i < node.size(); ++i) {
                if (keys_[i] >= first_other) keys_[i] = 0;
            }
        }
        Label* labels = sample_.labels.get();
        return node.start + partition_keys(simd_, keys_.get(), limit, node.size(),
                                           sample_.rows.data() + node.start,
                                           labels == nullptr ? nullptr : labels + node.start,
                                           scratch_);
    }
    const uint32_t* sides() const noexcept override { return nullptr; }
    uint32_t begin_division(const Division&) override { return 0; }

private:
    // Labels beside the rows, both by class.
    void make_labels() {
        const uint32_t n = static_cast<uint32_t>(sample_.rows.size());
        AlignedBuffer<Label> labels(n);
        if (!scanner_.make_labels(sample_.rows.data(), n, labels.get())) return;
        constexpr uint32_t CLASSES = 1u << LABEL_BITS;
        std::vector<uint32_t> at(CLASSES + 1);
        for (uint32_t i = 0; i < n; ++i) ++at[label_class(labels[i]) + 1];
        for (uint32_t c = 0; c < CLASSES; ++c) at[c + 1] += at[c];
        std::vector<uint32_t> ordered(n);
        Label* out = sample_.labels.reserve(n + KEY_PADDING);
        for (uint32_t i = 0; i < n; ++i) {
            const uint32_t place = at[label_class(labels[i])]++;
            ordered[place] = sample_.rows[i];
            out[place] = labels[i];
        }
        sample_.rows = std::move(ordered);
    }

    static uint32_t other_key(const Column& col) {
        return col.storage == KEYED ? col.first_other : col.n_numbers();
    }
    uint32_t key(uint32_t row, const Column& col) const {
        const uint8_t* at = data_.code(row, col.slot);
        if (col.storage != KEYED) return *at;
        uint32_t key;
        std::memcpy(&key, at, sizeof key);
        return key;
    }
    Keys keys_of(const Node& node, uint32_t feature, const uint32_t* keys) const noexcept {
        const Column& col = data_.columns[feature];
        const bool is_keyed = col.storage == KEYED;
        return {keys, node.size(),
                is_keyed ? col.n_buckets : static_cast<uint32_t>(col.values.size()),
                is_keyed ? KEY_SHIFT : 0};
    }
    template <class Key>
    bool gather_from(const Node& node, const uint8_t* matrix, size_t pitch) {
        const uint32_t* node_rows = rows(node);
        const uint32_t n = node.size();
        uint32_t* keys = keys_.get();
        for (uint32_t i = 0; i < n; ++i) {
            Key key;
            std::memcpy(&key, matrix + node_rows[i] * pitch, sizeof key);
            keys[i] = key;
        }
        return are_equal(simd_, keys, n);
    }

    Runs sort(const Node& node, uint32_t feature) {
        const Column& col = data_.columns[feature];
        const uint32_t* node_rows = rows(node);
        const uint32_t n = node.size(), first_other = other_key(col);
        buffers_.reserve(n);
        for (uint32_t i = 0; i < n; ++i) buffers_.items[i] = pack(keys_[i], node_rows[i]);
        const uint64_t* sorted = sort_by_key(buffers_.items.get(), buffers_.scratch.get(), n);
        uint32_t* entries = entries_.reserve(n);
        uint32_t previous = key_of(sorted[0]), n_missing = 0;
        for (uint32_t i = 0; i < n; ++i) {
            const uint32_t key = key_of(sorted[i]);
            entries[i] = payload_of(sorted[i]) | (key != previous ? BOUNDARY : 0);
            n_missing += key >= first_other;
            previous = key;
        }
        return {entries, n, n_missing, data_.values_of(feature), col.has_categories()};
    }
};

}  // namespace fasttree
