// The columns of a dense matrix by keys, for nodes that look at few of many features.
//
// Nothing is kept of a node but its rows and their labels. Of few rows the values of a feature are
// gathered from the matrix, where a row is a cache line or two, whichever features are drawn; of
// many rows the bytes that say in which bucket a value is, and values where they matter.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "engine/core/cost_model.hpp"
#include "engine/order/key_partition.hpp"
#include "engine/scan/near_keys.hpp"
#include "engine/search/dense_columns.hpp"
#include "engine/simd/key_gather.hpp"

namespace fasttree {

class KeyedNodeColumns final : public DenseNodeColumns {
    // What the search for a threshold reads of a feature.
    struct Gathered {
        uint32_t feature = NO_FEATURE;
        bool is_compared = false;        // the keys of few rows
        AlignedBuffer<uint32_t> keys;
        AlignedBuffer<uint8_t> buckets;  // or the buckets of many
    };
    DenseSample& sample_;
    const DenseColumns& data_;
    const Simd simd_;
    Gathered here_, best_;  // of the feature gathered last, of the best one so far
    // Of a feature, in the order of the node's rows: all keys, or those next to a threshold.
    AlignedBuffer<uint32_t> keys_;
    uint32_t near_feature_ = NO_FEATURE;         // whose threshold that is,
    uint32_t near_start_ = 0, near_end_ = 0;     // in this node
    // The words of bits that were read last: their number, of which node, which bits differ there.
    AlignedBuffer<uint64_t> words_;
    uint64_t differing_ = 0;
    uint32_t word_ = 0, word_start_ = 0, word_end_ = 0;
    AlignedBuffer<Label> right_labels_;
    SortBuffers buffers_;

public:
    KeyedNodeColumns(DenseSample& sample, Scanner& scanner, Simd simd)
        : DenseNodeColumns(sample, scanner, simd, false, false, true), sample_(sample),
          data_(sample.data), simd_(simd) {
        const size_t n = sample.rows.size() + KEY_PADDING;
        tables = CountTables();  // of a node nothing is counted before it looks at a feature
        keys_.reserve(n);
        if (data_.bits.rows().n_words > 0) words_.reserve(n);
        if (sample.labels.get() == nullptr) make_labels();
        if (!has_labels()) return;
        right_labels_.reserve(n);
        for (Gathered* gathered : {&here_, &best_}) {
            gathered->keys.reserve(MOST_COMPARED + KEY_PADDING);
            gathered->buckets.reserve(n);
        }
    }

    void begin_node(const Node& node, const uint32_t* rows, const Totals& totals) override {
        const Label* labels = sample_.labels.get();
        if (labels == nullptr) return DenseNodeColumns::begin_node(node, rows, totals);
        scanner_.begin_labels(labels + node.start, node.size());
    }

    bool scan(const Node& node, uint32_t feature, const Limits& limits, double to_beat,
              Split& best) override {
        if (!takes_keys(feature, limits)) return scan_sorted(node, feature, limits, to_beat, best);
        BestKey found(to_beat);
        if (find(node, feature, scanner_, found)) return true;
        if (found.found) {
            keep();
            take(node, found, best);
        }
        return false;
    }

    // The steps of this search, for the splitter of nodes with labels.
    const DenseColumns& data() const noexcept { return data_; }
    const Label* labels() const noexcept { return sample_.labels.get(); }
    bool has_labels() const noexcept { return labels() != nullptr; }

    // Whether the best threshold is found without sorting.
    bool takes_keys(uint32_t feature, const Limits& limits) const noexcept {
        return has_labels() && data_.columns[feature].is_plain() &&
               limits.min_samples_leaf <= 1 && !limits.checked();
    }
    // Finds the best threshold of a feature, if it is better; `scan` is a Scanner or what it
    // calls. True if the feature is constant in the node.
    template <class Scan>
    bool find(const Node& node, uint32_t feature, Scan& scan, BestKey& best) {
        here_.feature = feature;
        here_.is_compared = scan.compares(n_buckets(feature));
        if (here_.is_compared) {
            if (gather_keys(node, feature, here_.keys.get())) return true;
            scan.find(Keys{here_.keys.get(), node.size()}, best);
        } else {
            if (gather_buckets(node, feature)) return true;
            scan.find(buckets(node, here_), best);
        }
        return false;
    }
    // Keeps what was gathered, because it is the best so far.
    void keep() noexcept { std::swap(here_, best_); }
    // Makes a threshold of the feature that was kept the best split.
    void take(const Node& node, const BestKey& found, Split& best) {
        const uint32_t n = node.size();
        if (best_.is_compared) std::copy_n(best_.keys.get(), n, keys_.get());
        else near_keys(simd_, buckets(node, best_), found.limit, keys_.get());
        near_feature_ = best_.feature;
        near_start_ = node.start;
        near_end_ = node.end;
        const Neighbours at = neighbours(simd_, keys_.get(), n, found.limit);
        const uint32_t below = keys_[at.below], above = keys_[at.above];
        take_any({found.score, below, above, at.n_left, false, 0.0, THRESHOLD}, best_.feature, n, 0,
                 best);
        const Column& col = data_.columns[best_.feature];
        best.n_values_left = below;
        best.threshold = col.storage == BUCKETED
                             ? midpoint(key_cell(below), key_cell(above))
                             : midpoint(col.values[below], col.values[above]);
    }
    // The same for what searches by keys do not know of: all keys are sorted. True if the feature
    // is constant in the node.
    bool scan_sorted(const Node& node, uint32_t feature, const Limits& limits, double to_beat,
                     Split& best) {
        if (gather_all(node, feature)) return true;
        Candidate candidate;
        candidate.score = to_beat;
        const Runs runs = sort(node, feature);
        if (runs.is_constant(limits.replay)) return true;
        if (!scanner_.scan(runs, limits, candidate)) return false;
        take_candidate(runs, candidate, scanner_.groups(), feature, best);
        best.n_values_left = best.row_below != NO_ROW ? key(best.row_below, feature)
                                                      : other_key(feature) - 1;
        return false;
    }

    uint32_t divide_rows(const Split& split, const Node& node, Crew*) override {
        const Column& col = data_.columns[split.feature];
        if (split.feature != near_feature_ || node.start != near_start_ || node.end != near_end_) {
            gather_all(node, split.feature);
        }
        near_feature_ = NO_FEATURE;
        uint32_t limit = split.n_values_left;
        if (split.question != THRESHOLD) {
            const uint32_t* node_rows = rows(node);
            for (uint32_t i = 0; i < node.size(); ++i) {
                keys_[i] = !split.goes_left(data_.value(node_rows[i], split.feature));
            }
            limit = 0;
        } else if (!col.is_plain() && split.missing_left) {
            const uint32_t first_other = other_key(split.feature);
            for (uint32_t i = 0; i < node.size(); ++i) {
                if (keys_[i] >= first_other) keys_[i] = 0;
            }
        }
        Label* labels = sample_.labels.get();
        return node.start + partition_keys(simd_, keys_.get(), limit, node.size(),
                                           sample_.rows.data() + node.start,
                                           labels == nullptr ? nullptr : labels + node.start,
                                           {workspace_.scratch.get(), right_labels_.get()});
    }
    const uint32_t* sides() const noexcept override { return nullptr; }
    uint32_t begin_division(Division&) override { return 0; }

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
        Label* out = sample_.labels.reserve(n + KEY_PADDING);
        for (uint32_t i = 0; i < n; ++i) {
            const uint32_t place = at[label_class(labels[i])]++;
            keys_[place] = sample_.rows[i];
            out[place] = labels[i];
        }
        std::copy_n(keys_.get(), n, sample_.rows.data());
    }

    uint32_t n_buckets(uint32_t feature) const {
        const Column& col = data_.columns[feature];
        return col.storage == BUCKETED ? col.buckets->n()
                                       : static_cast<uint32_t>(col.values.size());
    }
    // The least key of what is not a number.
    uint32_t other_key(uint32_t feature) const {
        const Column& col = data_.columns[feature];
        return col.storage == BUCKETED ? FIRST_CATEGORY_KEY : col.n_numbers();
    }
    uint32_t key(uint32_t row, uint32_t feature) const {
        const Column& col = data_.columns[feature];
        if (col.storage == BUCKETED) return cell_key(value(row, feature), col.has_categories());
        return col.storage == BITS ? data_.bits.rows().bit(row, col.slot)
                                   : col.narrow[row];
    }

    // The keys of all rows of the node. True if they are the same.
    bool gather_all(const Node& node, uint32_t feature) {
        near_feature_ = NO_FEATURE;
        const Column& col = data_.columns[feature];
        if (col.storage != BUCKETED || col.is_plain()) {
            return gather_keys(node, feature, keys_.get());
        }
        const ColumnValues cells = data_.row_values_of(feature);
        const uint32_t* node_rows = rows(node);
        for (uint32_t i = 0; i < node.size(); ++i) {
            keys_[i] = cell_key(cells.of(node_rows[i]), col.has_categories());
        }
        return are_equal(simd_, keys_.get(), node.size());
    }
    // The same of a column of numbers.
    bool gather_keys(const Node& node, uint32_t feature, uint32_t* keys) {
        const uint32_t n = node.size();
        const uint32_t* node_rows = rows(node);
        if (data_.columns[feature].storage == BUCKETED) {
            const ColumnValues cells = data_.row_values_of(feature);
            const Simd simd = simd_of_reads(simd_, data_.n_rows, cells.stride);
            return fasttree::gather_keys(simd, cells.values, cells.stride, node_rows, n, keys);
        }
        const Column& col = data_.columns[feature];
        if (col.storage == BITS) return gather_bits(node, col.slot, keys);
        const uint8_t* codes = col.narrow.get();
        for (uint32_t i = 0; i < n; ++i) keys[i] = codes[node_rows[i]];
        return are_equal(simd_, keys, n);
    }
    // A bit of the node's rows. True if they are the same.
    template <class Key>
    bool gather_bits(const Node& node, uint32_t bit, Key* keys) {
        hold_word(node, bit / ROW_WORD);
        const uint32_t shift = bit % ROW_WORD, n = node.size();
        if ((differing_ >> shift & 1) == 0) return true;
        const uint64_t* const words = words_.get();
        call(simd_, [=]() FASTTREE_INLINE {
            FASTTREE_IVDEP
            for (uint32_t i = 0; i < n; ++i) keys[i] = static_cast<Key>(words[i] >> shift & 1);
        });
        return false;
    }
    // Many features of a node are bits of the same words.
    void hold_word(const Node& node, uint32_t word) {
        if (word == word_ && node.start == word_start_ && node.end == word_end_) return;
        word_ = word;
        word_start_ = node.start;
        word_end_ = node.end;
        const BitRows bits = data_.bits.rows();
        const uint32_t* const node_rows = rows(node);
        uint64_t* const words = words_.get();
        const uint64_t first = bits.row(node_rows[0])[word];
        uint64_t differing = 0;
        for (uint32_t i = 0; i < node.size(); ++i) {
            words[i] = bits.row(node_rows[i])[word];
            differing |= words[i] ^ first;
        }
        differing_ = differing;
    }
    // The buckets of the node's rows. True if values are the same.
    bool gather_buckets(const Node& node, uint32_t feature) {
        const uint32_t n = node.size();
        uint8_t* out = here_.buckets.get();
        const Column& col = data_.columns[feature];
        if (col.storage == BITS) return gather_bits(node, col.slot, out);
        const CodeExtremes extremes = gather_codes(simd_, col.narrow.get(), rows(node), n, out);
        if (extremes.low < extremes.high) return false;
        const KeyBuckets one = buckets(node, here_);
        if (one.are_values() || one.holds_one_key(extremes.low)) return true;
        for (uint32_t i = 1; i < n; ++i) {
            if (one.key(i) != one.key(0)) return false;
        }
        return true;
    }
    KeyBuckets buckets(const Node& node, const Gathered& gathered) {
        static constexpr auto CODES = [] {
            std::array<uint32_t, MAX_BUCKETS + KEY_PADDING> codes{};
            for (uint32_t i = 0; i < codes.size(); ++i) codes[i] = i;
            return codes;
        }();
        const Column& col = data_.columns[gathered.feature];
        KeyBuckets out{gathered.buckets.get(), node.size(), n_buckets(gathered.feature),
                       CODES.data(), nullptr, 0, rows(node)};
        if (col.storage == BUCKETED) {
            const ColumnValues cells = data_.row_values_of(gathered.feature);
            out.last_keys = col.buckets->last_keys();
            out.cells = cells.values;
            out.stride = cells.stride;
        }
        return out;
    }

    Runs sort(const Node& node, uint32_t feature) {
        const Column& col = data_.columns[feature];
        const uint32_t* node_rows = rows(node);
        const uint32_t n = node.size(), first_other = other_key(feature);
        buffers_.reserve(n);
        for (uint32_t i = 0; i < n; ++i) buffers_.items[i] = pack(keys_[i], node_rows[i]);
        const uint64_t* sorted = sort_by_key(buffers_.items.get(), buffers_.scratch.get(), n);
        uint32_t* entries = workspace_.scratch.get();
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
