// Count tables of nodes (superfast selection, Wang & Gupta 2024, Algorithm 2).
//
// A table holds one cell of statistics per distinct value of every counted feature. It costs one
// pass over the node's rows, or, next to a sibling, a subtraction from the parent's table.
// Columns of two values stand in one piece at the end of a table, whatever the node's size.
// Invariant: in a node's table exactly the features that `counts` chooses for the node's size,
// and that were not known to be constant at its parent, hold valid cells.
#pragma once
#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "engine/core/cells.hpp"
#include "engine/core/cost_model.hpp"
#include "engine/core/sampler.hpp"
#include "engine/core/split.hpp"
#include "engine/order/sample.hpp"
#include "utils/_interrupt.hpp"

namespace fasttree {

using TableCells = std::unique_ptr<char[]>;

// Children of a node that get its table: the larger one that of its parent less the smaller one's.
struct TableHeirs {
    Node* larger = nullptr;   // null: the table is of no use to them
    Node* smaller = nullptr;
    bool with_smaller = false;
};

static_assert(is_value<TableCells> && is_value<TableHeirs>);

class CountTables {
    const DenseSample* sample_ = nullptr;
    const DenseColumns* data_ = nullptr;
    const Cells* cells_ = nullptr;
    bool forced_ = false;
    std::vector<size_t> offsets_;                 // of a feature's cells in a table
    size_t bytes_ = 0, cell_ = 0, bits_ = 0;      // of a table, of a cell; where bits begin
    std::vector<TableCells> pool_;
    std::vector<int> free_;
    std::vector<uint32_t> narrow_, wide_;         // counted features

public:
    CountTables() = default;  // nothing is counted
    CountTables(const DenseSample& sample, const Cells& cells, bool forced)
        : sample_(&sample), data_(&sample.data), cells_(&cells), forced_(forced),
          offsets_(data_->columns.size()), cell_(cells.bytes()) {
        for (uint32_t f = 0; f < data_->columns.size(); ++f) {
            const Storage storage = data_->columns[f].storage;
            if (storage != COUNTED && storage != WIDE) continue;
            // Room in every table only for what pays somewhere.
            if (!pays(f, static_cast<uint32_t>(sample.rows.size()))) continue;
            offsets_[f] = bytes_;
            bytes_ += feature_bytes(f);
            (storage == WIDE ? wide_ : narrow_).push_back(f);
        }
        constexpr size_t CACHE_LINE = 64;
        bits_ = (bytes_ + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
        if (with_bits()) bytes_ = bits_ + cells.bit_bytes(n_bits());
    }

    bool with_bits() const noexcept { return cells_ != nullptr && n_bits() > 0; }
    uint32_t n_bits() const noexcept { return data_->bits.n_bits(); }

    size_t feature_bytes(uint32_t f) const { return (data_->columns[f].values.size() + 1) * cell_; }

    // Whether a node of n rows searches the feature by counts.
    bool counts(uint32_t f, uint32_t n) const noexcept {
        if (bytes_ == 0) return false;
        const Column& col = data_->columns[f];
        if (col.storage == BITS) return true;
        if (col.storage != COUNTED && col.storage != WIDE) return false;
        return pays(f, n);
    }
    bool any(uint32_t n) const noexcept {
        if (with_bits()) return true;
        for (uint32_t f : narrow_) if (counts(f, n)) return true;
        for (uint32_t f : wide_) if (counts(f, n)) return true;
        return false;
    }

    int acquire() {
        if (free_.empty()) return add(TableCells(new char[bytes_]));
        const int table = free_.back();
        free_.pop_back();
        return table;
    }
    void release(int table) noexcept {
        if (table != NO_TABLE) free_.push_back(table);
    }
    // Tables may change hands between threads. A table given away is not acquired again.
    TableCells give(int table) noexcept {
        return table == NO_TABLE ? nullptr : std::move(pool_[table]);
    }
    int take(TableCells& cells) { return cells == nullptr ? NO_TABLE : add(std::move(cells)); }

    // Counts the node's rows for the features that `counts` chooses for n_chosen rows: the node's
    // size, or its larger sibling's. Threads take shares of the features.
    void fill(int table, uint32_t start, uint32_t end, const FeatureSampler& sampler,
              uint32_t n_chosen, uint32_t share, uint32_t n_shares, Poll& poll) {
        fill_kind(narrow_, data_->codes.get(), data_->n_counted, table, start, end, sampler,
                  n_chosen, share, n_shares, poll);
        fill_kind(wide_, data_->wide_codes.get(), data_->n_wide, table, start, end, sampler,
                  n_chosen, share, n_shares, poll);
        fill_bits(table, start, end, share, n_shares, poll);
    }
    // Gets a table for a node that has none, if counting pays for any feature; to be filled.
    bool begin_node(Node& node) {
        if (node.table != NO_TABLE || !any(node.size())) return false;
        node.table = acquire();
        return true;
    }
    // Hands a node's table down, where that is cheaper than counting, or releases it; `with_left`,
    // `with_right`: children that will read theirs. What there is to fill follows by `derive`,
    // whose shares threads may take, and `end_handing_down`.
    TableHeirs hand_down(const Node& node, Node& left, Node& right, bool with_left,
                         bool with_right) {
        if (node.table == NO_TABLE) return {};
        TableHeirs heirs{&left, &right, with_right};
        bool with_larger = with_left;
        if (left.size() < right.size()) {
            heirs = {&right, &left, with_left};
            with_larger = with_right;
        }
        if (!with_larger || !subtraction_pays(heirs.larger->size(), heirs.smaller->size(),
                                              heirs.with_smaller)) {
            release(node.table);
            return {};
        }
        heirs.smaller->table = acquire();
        heirs.larger->table = node.table;
        return heirs;
    }
    void derive(const TableHeirs& heirs, const FeatureSampler& sampler, uint32_t share,
                uint32_t n_shares, Poll& poll) {
        const Node &larger = *heirs.larger, &smaller = *heirs.smaller;
        fill(smaller.table, smaller.start, smaller.end, sampler, larger.size(), share, n_shares,
             poll);
        subtract(larger.table, smaller.table, larger.size(), sampler, share, n_shares);
    }
    void end_handing_down(const TableHeirs& heirs) noexcept {
        if (heirs.with_smaller) return;
        release(heirs.smaller->table);
        heirs.smaller->table = NO_TABLE;
    }
    // One feature only, for nodes that look at few.
    void fill_one(int table, uint32_t f, uint32_t start, uint32_t end) {
        char* cells = pool_[table].get();
        const Column& col = data_->columns[f];
        std::memset(cells + offsets_[f], 0, feature_bytes(f));
        const uint32_t* rows = sample_->rows.data() + start;
        if (col.storage == WIDE) {
            cells_->fill(rows, end - start, data_->wide_codes.get(), data_->n_wide, &col.slot,
                          &offsets_[f], 1, cells);
        } else {
            cells_->fill(rows, end - start, data_->codes.get(), data_->n_counted, &col.slot,
                          &offsets_[f], 1, cells);
        }
    }
    void fill_all_bits(int table, uint32_t start, uint32_t end) {
        Poll unwatched;
        fill_bits(table, start, end, 0, 1, unwatched);
    }
    // Whether the larger child is cheaper derived from its parent and sibling than counted;
    // `both` children need tables, or the larger alone.
    bool subtraction_pays(uint32_t n_larger, uint32_t n_smaller, bool both) const noexcept {
        size_t bytes = 0;
        uint32_t n_features = 0;
        for (const std::vector<uint32_t>* kind : {&narrow_, &wide_}) {
            for (uint32_t f : *kind) {
                if (counts(f, n_larger)) bytes += feature_bytes(f), ++n_features;
            }
        }
        if (with_bits()) {  // a word costs about as much as a feature
            bytes += cells_->bit_bytes(n_bits());
            n_features += data_->bits.rows().n_words;
        }
        const uint32_t n_saved = both ? n_larger : n_larger - n_smaller;
        return n_features > 0 &&
               subtraction_is_cheaper(n_saved, n_features, bytes, cells_->n_outputs());
    }
    // The parent's table becomes that of its child of n rows, whose sibling's table is given.
    // Threads take shares, as in `fill`.
    void subtract(int table, int sibling, uint32_t n, const FeatureSampler& sampler,
                  uint32_t share, uint32_t n_shares) {
        for (const std::vector<uint32_t>* kind : {&narrow_, &wide_}) {
            for (uint32_t f : share_of(*kind, n, sampler, share, n_shares)) {
                cells_->subtract(pool_[table].get() + offsets_[f],
                                  pool_[sibling].get() + offsets_[f], feature_bytes(f));
            }
        }
        const auto [first, last] = words_of(share, n_shares);
        if (first < last) {
            cells_->subtract_bits(n_bits(), first, last, bit_cells(sibling),
                                  pool_[table].get() + bits_);
        }
    }

    // Those of the columns of two values.
    const char* bit_cells(int table) const { return pool_[table].get() + bits_; }

    // A feature of a node as the scan reads it; `pair` has room for the cells of two values.
    Counts view(int table, uint32_t f, uint32_t n, char* pair) const {
        const Column& col = data_->columns[f];
        if (col.storage == BITS) {
            cells_->pair(bit_cells(table), n_bits(), col.slot, pair);
            const uint32_t n_missing = col.n_numbers() > 0 ? 0 : n;
            return {pair, col.values.data(), col.n_numbers(), n, n_missing, col.n_category_values};
        }
        const char* cells = pool_[table].get() + offsets_[f];
        const uint32_t n_values = static_cast<uint32_t>(col.values.size());
        uint32_t n_missing = col.has_missing ? cells_->n_rows(cells + n_values * cell_) : 0;
        for (uint32_t c = col.n_numbers(); c < n_values; ++c) {
            n_missing += cells_->n_rows(cells + c * cell_);
        }
        return {cells, col.values.data(), col.n_numbers(), n, n_missing, col.n_category_values};
    }

private:
    // Of a column of codes; if not in all rows of the fit, then in no node.
    bool pays(uint32_t f, uint32_t n) const {
        const size_t n_values = data_->columns[f].values.size();
        return forced_ ||
               counts_pay(n, static_cast<uint32_t>(n_values), cell_, cells_->n_outputs());
    }

    int add(TableCells cells) {
        pool_.push_back(std::move(cells));
        free_.reserve(pool_.capacity());  // so that `release` need not ask for memory
        return static_cast<int>(pool_.size()) - 1;
    }

    // A share of the features of a kind that a node of n rows counts.
    std::vector<uint32_t> share_of(const std::vector<uint32_t>& kind, uint32_t n,
                                   const FeatureSampler& sampler, uint32_t share,
                                   uint32_t n_shares) const {
        std::vector<uint32_t> out;
        for (uint32_t f : kind) {
            if (counts(f, n) && !sampler.is_known_constant(f)) out.push_back(f);
        }
        const size_t n_all = out.size();
        out.resize(n_all * (share + 1) / n_shares);
        out.erase(out.begin(), out.begin() + n_all * share / n_shares);
        return out;
    }

    // Words of the rows are the shares; there are none without bits.
    std::pair<uint32_t, uint32_t> words_of(uint32_t share, uint32_t n_shares) const {
        const uint32_t n_words = with_bits() ? data_->bits.rows().n_words : 0;
        return {n_words * share / n_shares, n_words * (share + 1) / n_shares};
    }
    void fill_bits(int table, uint32_t start, uint32_t end, uint32_t share, uint32_t n_shares,
                   Poll& poll) {
        char* cells = pool_[table].get() + bits_;
        const BitRows bits = data_->bits.rows();
        const auto [first, last] = words_of(share, n_shares);
        if (first == last) return;
        cells_->clear_bits(n_bits(), first, last, cells);
        const uint32_t stretch = std::max<uint32_t>(1024, STEPS_PER_LOOK / (last - first));
        for (uint32_t n; start < end; start += n) {
            n = std::min(stretch, end - start);
            if (!poll.go_on(static_cast<uint64_t>(n) * (last - first))) return;
            cells_->fill_bits(bits, first, last, sample_->rows.data() + start, n, cells);
        }
    }

    template <class Code>
    void fill_kind(const std::vector<uint32_t>& features, const Code* codes, size_t stride,
                   int table, uint32_t start, uint32_t end, const FeatureSampler& sampler,
                   uint32_t n_chosen, uint32_t share, uint32_t n_shares, Poll& poll) {
        char* cells = pool_[table].get();
        std::vector<uint32_t> slots;
        std::vector<size_t> offsets;
        for (uint32_t f : share_of(features, n_chosen, sampler, share, n_shares)) {
            std::memset(cells + offsets_[f], 0, feature_bytes(f));
            slots.push_back(data_->columns[f].slot);
            offsets.push_back(offsets_[f]);
        }
        const uint32_t n_tables = static_cast<uint32_t>(slots.size());
        if (n_tables == 0) return;
        const uint32_t stretch = std::max<uint32_t>(1024, STEPS_PER_LOOK / n_tables);
        for (uint32_t n; start < end; start += n) {
            n = std::min(stretch, end - start);
            if (!poll.go_on(static_cast<uint64_t>(n) * n_tables)) return;
            cells_->fill(sample_->rows.data() + start, n, codes, stride, slots.data(),
                          offsets.data(), n_tables, cells);
        }
    }
};

}  // namespace fasttree
