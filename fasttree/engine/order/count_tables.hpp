// Count tables of nodes (superfast selection, Wang & Gupta 2024, Algorithm 2).
//
// A table holds one cell of statistics per distinct value of every counted feature. It costs one
// pass over the node's rows, or, next to a sibling, a subtraction from the parent's table.
// Columns of two values stand in one piece at the end of a table, whatever the node's size.
// Invariant: in a node's table exactly the features that `counts` chooses for the node's size,
// and that were not known to be constant at its parent, hold valid cells.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "engine/core/cells.hpp"
#include "engine/core/cost_model.hpp"
#include "engine/core/sampler.hpp"
#include "engine/core/split.hpp"
#include "engine/order/sample.hpp"
#include "utils/_aligned_buffer.hpp"
#include "utils/_interrupt.hpp"
#include "utils/_threads.hpp"

namespace fasttree {

using TableCells = std::unique_ptr<char[]>;

// What threads have counted of a node's rows, each in a table of its own.
struct CountedParts {
    std::vector<int> tables;       // by thread; the first one is the node's
    std::vector<char> is_cleared;  // the thread's table: it has taken a share
    std::atomic<uint32_t> n_open;  // shares that are to be counted

    CountedParts(uint32_t n_threads, uint32_t n_shares)
        : is_cleared(n_threads), n_open(n_shares) {}
};

// The counting of a node's rows, which is shared out among threads.
struct Counting {
    int table = NO_TABLE;                 // to be filled, or there is nothing to count
    uint32_t start = 0, end = 0;          // rows
    uint32_t n_chosen = 0;                // size by which `counts` chooses features
    int parent = NO_TABLE;                // table that becomes the sibling's
    bool is_read = true;                  // by the node; else only the sibling's follows from it
    uint32_t n_shares = 0;
    std::unique_ptr<CountedParts> parts;  // if shares are parts of the rows, not of the features
};

static_assert(is_value<TableCells> && is_value<Counting>);

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
    size_t n_lists_ = 0;                          // of the sample

public:
    CountTables() = default;  // nothing is counted
    CountTables(const DenseSample& sample, const Cells& cells, bool forced)
        : sample_(&sample), data_(&sample.data), cells_(&cells), forced_(forced),
          offsets_(data_->columns.size()), cell_(cells.bytes()), n_lists_(sample.n_lists()) {
        for (uint32_t f = 0; f < data_->columns.size(); ++f) {
            const Storage storage = data_->columns[f].storage;
            if (storage != COUNTED && storage != WIDE) continue;
            // Room in every table only for what pays somewhere.
            if (!pays(f, static_cast<uint32_t>(sample.rows.size()))) continue;
            offsets_[f] = bytes_;
            bytes_ += feature_bytes(f);
            (storage == WIDE ? wide_ : narrow_).push_back(f);
        }
        bits_ = whole_lines(bytes_);
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
    // What comes stands for a table that was released, if there is one: they do not pile up.
    int take(TableCells& cells) {
        if (cells == nullptr) return NO_TABLE;
        if (free_.empty()) return add(std::move(cells));
        const int table = acquire();
        pool_[table] = std::move(cells);
        return table;
    }

    // Gets a table for a node that has none, if counting pays for any feature: to be filled by
    // `count` of all shares, which n_threads take, and `end_counting`.
    Counting begin_node(Node& node, uint32_t n_threads) {
        if (node.table != NO_TABLE || !any(node.size())) return {};
        node.table = acquire();
        return begin_counting({node.table, node.start, node.end, node.size()}, n_threads);
    }
    // Hands a node's table down, where that is cheaper than counting, or releases it: the larger
    // child gets that of its parent less the smaller one's, which is to be counted, as that of a
    // node that has no table. `with_left`, `with_right`: children that will read theirs.
    Counting hand_down(const Node& node, Node& left, Node& right, bool with_left,
                       bool with_right, uint32_t n_threads) {
        if (node.table == NO_TABLE) return {};
        const bool left_is_larger = left.size() >= right.size();
        Node &larger = left_is_larger ? left : right, &smaller = left_is_larger ? right : left;
        const bool with_larger = left_is_larger ? with_left : with_right;
        const bool with_smaller = left_is_larger ? with_right : with_left;
        if (!with_larger || !subtraction_pays(larger.size(), smaller.size(), with_smaller)) {
            release(node.table);
            return {};
        }
        const int counted = acquire();
        smaller.table = with_smaller ? counted : NO_TABLE;
        larger.table = node.table;
        return begin_counting({counted, smaller.start, smaller.end, larger.size(), larger.table,
                               with_smaller}, n_threads);
    }
    void count(const Counting& counting, const FeatureSampler& sampler, int thread,
               uint32_t share, Poll& poll) {
        if (counting.parts != nullptr) return count_rows(counting, sampler, thread, share, poll);
        const Chosen chosen = choose(counting.n_chosen, sampler, share, counting.n_shares);
        clear(counting.table, chosen);
        fill(counting.table, counting.start, counting.end, chosen, poll);
        if (counting.parent != NO_TABLE) subtract(counting.parent, counting.table, chosen);
    }
    void end_counting(const Counting& counting) noexcept {
        if (!counting.is_read) release(counting.table);
        if (counting.parts == nullptr) return;
        for (int table : counting.parts->tables) {
            if (table != counting.table) release(table);
        }
    }
    // One feature only, for nodes that look at few.
    void fill_one(int table, uint32_t f, uint32_t start, uint32_t end) {
        char* cells = pool_[table].get();
        const Column& col = data_->columns[f];
        std::memset(cells + offsets_[f], 0, feature_bytes(f));
        const uint32_t* rows = sample_->rows.data() + start;
        const CountedFeature feature{offsets_[f], col.slot};
        if (col.storage == WIDE) {
            cells_->fill(rows, end - start, data_->wide_codes.get(), data_->n_wide, &feature, 1,
                         cells);
        } else {
            cells_->fill(rows, end - start, data_->codes.get(), data_->n_counted, &feature, 1,
                         cells);
        }
    }
    void fill_all_bits(int table, uint32_t start, uint32_t end) {
        const Chosen bits{{}, {}, 0, data_->bits.rows().n_words};
        Poll unwatched;
        clear(table, bits);
        fill(table, start, end, bits, unwatched);
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
            n_features += n_words();
        }
        const uint32_t n_saved = both ? n_larger : n_larger - n_smaller;
        return n_features > 0 &&
               subtraction_is_cheaper(n_saved, n_features, bytes, cells_->n_outputs());
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
    // A share of the features that a node counts, and of the words of its bits.
    struct Chosen {
        std::vector<uint32_t> narrow, wide;
        uint32_t first_word, last_word;
    };

    uint32_t n_words() const noexcept { return with_bits() ? data_->bits.rows().n_words : 0; }

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

    // Counts that are shared out among n_threads, if that pays: by rows, where that is cheaper.
    Counting begin_counting(Counting out, uint32_t n_threads) {
        const uint32_t n = out.end - out.start;
        const size_t n_features = narrow_.size() + wide_.size() + n_words();
        if (counting_alone_pays(n, n_features, n_lists_ * out.n_chosen, n_threads,
                                cells_->n_outputs())) {
            n_threads = 1;
        }
        out.n_shares = n_threads;
        if (n_threads == 1 || !counting_by_rows_pays(n, bytes_, n_threads)) return out;
        out.n_shares = PARTS_OF_A_THREAD * n_threads;
        out.parts = std::make_unique<CountedParts>(n_threads, out.n_shares);
        out.parts->tables.push_back(out.table);
        while (out.parts->tables.size() < n_threads) out.parts->tables.push_back(acquire());
        return out;
    }
    // A share of the rows. Whoever is done last adds up what threads have counted.
    void count_rows(const Counting& counting, const FeatureSampler& sampler, int thread,
                    uint32_t share, Poll& poll) {
        CountedParts& parts = *counting.parts;
        const Chosen all = choose(counting.n_chosen, sampler, 0, 1);
        const uint32_t n = counting.end - counting.start;
        const uint32_t n_threads = static_cast<uint32_t>(parts.tables.size());
        const auto begin_of = [&](uint32_t k) {
            return counting.start + guided_begin(n, k, counting.n_shares, n_threads);
        };
        if (!parts.is_cleared[thread]) clear(parts.tables[thread], all);
        parts.is_cleared[thread] = true;
        fill(parts.tables[thread], begin_of(share), begin_of(share + 1), all, poll);
        if (--parts.n_open > 0) return;
        if (!parts.is_cleared[0]) clear(counting.table, all);
        for (size_t t = 1; t < parts.tables.size(); ++t) {
            if (parts.is_cleared[t]) add_table(counting.table, parts.tables[t], all);
        }
        if (counting.parent != NO_TABLE) subtract(counting.parent, counting.table, all);
    }
    // What a node of n rows counts.
    Chosen choose(uint32_t n, const FeatureSampler& sampler, uint32_t share,
                  uint32_t n_shares) const {
        return {choose_among(narrow_, n, sampler, share, n_shares),
                choose_among(wide_, n, sampler, share, n_shares), n_words() * share / n_shares,
                n_words() * (share + 1) / n_shares};
    }
    std::vector<uint32_t> choose_among(const std::vector<uint32_t>& kind, uint32_t n,
                                       const FeatureSampler& sampler, uint32_t share,
                                       uint32_t n_shares) const {
        std::vector<uint32_t> out;
        out.reserve(kind.size());
        for (uint32_t f : kind) {
            if (counts(f, n) && !sampler.is_known_constant(f)) out.push_back(f);
        }
        const size_t n_all = out.size();
        out.resize(n_all * (share + 1) / n_shares);
        out.erase(out.begin(), out.begin() + n_all * share / n_shares);
        return out;
    }
    // Calls use(begin, n_bytes) for each stretch of adjacent cells; features ascend.
    template <class Use>
    void for_each_stretch(const std::vector<uint32_t>& features, const Use& use) const {
        size_t begin = 0, end = 0;
        for (uint32_t f : features) {
            if (offsets_[f] != end) {
                if (begin < end) use(begin, end - begin);
                begin = offsets_[f];
            }
            end = offsets_[f] + feature_bytes(f);
        }
        if (begin < end) use(begin, end - begin);
    }

    // table += other, of all features that are counted.
    void add_table(int table, int other, const Chosen& all) const {
        for (const std::vector<uint32_t>* kind : {&all.narrow, &all.wide}) {
            for_each_stretch(*kind, [&](size_t begin, size_t n_bytes) {
                cells_->add(pool_[table].get() + begin, pool_[other].get() + begin, n_bytes);
            });
        }
        if (with_bits()) {
            cells_->add(pool_[table].get() + bits_, bit_cells(other), cells_->bit_bytes(n_bits()));
        }
    }
    // The parent's table becomes that of the sibling of the child whose table is given.
    void subtract(int parent, int child, const Chosen& chosen) const {
        for (const std::vector<uint32_t>* kind : {&chosen.narrow, &chosen.wide}) {
            for_each_stretch(*kind, [&](size_t begin, size_t n_bytes) {
                cells_->subtract(pool_[parent].get() + begin, pool_[child].get() + begin, n_bytes);
            });
        }
        if (chosen.first_word < chosen.last_word) {
            cells_->subtract_bits(n_bits(), chosen.first_word, chosen.last_word, bit_cells(child),
                                  pool_[parent].get() + bits_);
        }
    }
    void clear(int table, const Chosen& chosen) const {
        for (const std::vector<uint32_t>* kind : {&chosen.narrow, &chosen.wide}) {
            for_each_stretch(*kind, [&](size_t begin, size_t n_bytes) {
                std::memset(pool_[table].get() + begin, 0, n_bytes);
            });
        }
        if (chosen.first_word == chosen.last_word) return;
        cells_->clear_bits(n_bits(), chosen.first_word, chosen.last_word,
                           pool_[table].get() + bits_);
    }
    // Adds rows to what has been counted.
    void fill(int table, uint32_t start, uint32_t end, const Chosen& chosen, Poll& poll) const {
        fill_kind(chosen.narrow, data_->codes.get(), data_->n_counted, table, start, end, poll);
        fill_kind(chosen.wide, data_->wide_codes.get(), data_->n_wide, table, start, end, poll);
        fill_bits(table, start, end, chosen.first_word, chosen.last_word, poll);
    }
    void fill_bits(int table, uint32_t start, uint32_t end, uint32_t first, uint32_t last,
                   Poll& poll) const {
        if (first == last) return;
        char* cells = pool_[table].get() + bits_;
        const BitRows bits = data_->bits.rows();
        const uint32_t stretch = std::max<uint32_t>(1024, STEPS_PER_LOOK / (last - first));
        for (uint32_t n; start < end; start += n) {
            n = std::min(stretch, end - start);
            if (!poll.go_on(static_cast<uint64_t>(n) * (last - first))) return;
            cells_->fill_bits(bits, first, last, sample_->rows.data() + start, n, cells);
        }
    }
    template <class Code>
    void fill_kind(const std::vector<uint32_t>& features, const Code* codes, size_t stride,
                   int table, uint32_t start, uint32_t end, Poll& poll) const {
        const uint32_t n_features = static_cast<uint32_t>(features.size());
        if (n_features == 0) return;
        char* cells = pool_[table].get();
        std::vector<CountedFeature> counted;
        counted.reserve(n_features);
        for (uint32_t f : features) counted.push_back({offsets_[f], data_->columns[f].slot});
        const uint32_t stretch = std::max<uint32_t>(1024, STEPS_PER_LOOK / n_features);
        for (uint32_t n; start < end; start += n) {
            n = std::min(stretch, end - start);
            if (!poll.go_on(static_cast<uint64_t>(n) * n_features)) return;
            cells_->fill(sample_->rows.data() + start, n, codes, stride, counted.data(),
                         n_features, cells);
        }
    }
};

}  // namespace fasttree
