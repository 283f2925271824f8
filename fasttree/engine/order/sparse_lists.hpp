// Sparse columns listed in every node: its nonzeros column by column.
//
// A column is sorted when it is first scanned; a split divides the lists stably between the
// children, so what is below need not sort it again. Most columns of a node cannot beat the best
// split found so far whatever their order (scan/bounds.hpp) and are not sorted there.
// Fits on one encoding share sorted columns: a node that holds enough of one copies its part.
// Columns without a nonzero in a node are not among its lists: a node costs O(its nonzeros), with
// no term in the number of columns. Lists come in parts, ranges of columns, which threads share.
//
// Invariants: rows[start:end] are a node's rows in ascending order. The entries of a part stand
// next to each other but for columns that were dropped, columns ascending: in ascending order of
// rows, all flagged BOUNDARY, if the column is UNSORTED, else in the order of Nonzeros.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "engine/columns/sorted_nonzeros.hpp"
#include "engine/columns/sparse.hpp"
#include "engine/core/cost_model.hpp"
#include "engine/core/split.hpp"
#include "engine/order/divide.hpp"
#include "engine/order/partition.hpp"
#include "engine/simd/bits.hpp"
#include "engine/simd/simd.hpp"
#include "utils/_aligned_buffer.hpp"

namespace fasttree {

// Bits beside a feature number.
constexpr uint32_t CONSTANT = 0x80000000u;  // its rows in the node have one value
constexpr uint32_t UNSORTED = 0x40000000u;

struct ListPart {
    size_t start = 0;  // of its entries
    std::vector<ListedColumn> columns;
    uint32_t promising = NO_FEATURE;  // one to look at first: the last best but one of the parent

    uint32_t n_entries() const { return columns.empty() ? 0 : columns.back().end(); }
};

struct NodeLists {
    std::vector<ListPart> parts;
    explicit NodeLists(uint32_t n_parts) : parts(n_parts) {}
};

class ListData : public SparseData {
public:
    enum Kind : uint8_t { NEGATIVE = 1, MISSING = 2 };

    AlignedBuffer<uint32_t> entries;
    std::vector<std::unique_ptr<NodeLists>> lists;  // of the nodes that have them, by their start
    std::vector<uint32_t> part_first;   // first feature of every part, and n_features
    std::vector<uint32_t> part_listed;  // first feature of every part that is not listed yet
    std::vector<uint8_t> kinds;         // of values in each column, besides positives
    std::vector<uint32_t> in_fit;       // bits of the rows of positive weight
    uint32_t least = 1;                 // columns of fewer nonzeros are of no use
    SortedNonzeros* sorted = nullptr;   // what fits share, if they do

    using SparseData::SparseData;

    // Parts of about as many nonzeros each, and few enough for 32 bits.
    void make_parts(uint32_t n_parts_, uint32_t least_) {
        const int64_t n_nonzero = indptr[n_features];
        n_parts_ = std::max(n_parts_, static_cast<uint32_t>(n_nonzero >> 31) + 1);
        for (uint32_t part = 0; part < n_parts_; ++part) {
            const int64_t target = n_nonzero / n_parts_ * part;
            const int64_t* found = std::lower_bound(indptr, indptr + n_features, target);
            part_first.push_back(part == 0 ? 0 : static_cast<uint32_t>(found - indptr));
        }
        part_listed = part_first;
        part_first.push_back(n_features);
        entries.reserve(n_nonzero + 1);
        kinds.resize(n_features);
        lists.resize(rows.size() + 1);
        lists[0] = std::make_unique<NodeLists>(n_parts_);
        in_fit = make_bits(n_rows);
        for (uint32_t row : rows) put_bit(in_fit.data(), row, 1);
        least = std::max(least_, 1u);
    }
    uint32_t n_parts() const noexcept { return static_cast<uint32_t>(part_first.size()) - 1; }
    bool is_listed() const noexcept {
        return std::equal(part_listed.begin(), part_listed.end(), part_first.begin() + 1);
    }
};

// Scratch of one thread.
class ListWorkspace {
public:
    ListData& data;
    const Simd simd;

    ListWorkspace(ListData& data_, Simd simd_)
        : data(data_), simd(simd_), go_left_(make_bits(data_.n_rows)), sorter_(simd_),
          divider_(simd_), in_node_(make_bits(data_.n_rows)) {}

    // Lists some more columns of a part of the root, a few million nonzeros.
    void list_part(uint32_t part) {
        constexpr uint64_t BUDGET = 4000000;
        ListPart& out = data.lists[0]->parts[part];
        uint32_t& feature = data.part_listed[part];
        const uint32_t last = data.part_first[part + 1];
        out.start = static_cast<size_t>(data.indptr[data.part_first[part]]);
        uint32_t end = out.n_entries();
        for (uint64_t work = 0; feature < last && work < BUDGET; ++feature) {
            const SparseView column = data.column(feature);
            const uint32_t n =
                list(column, data.entries.get() + out.start + end, data.kinds[feature]);
            work += column.n;
            if (n < data.least) continue;
            out.columns.push_back({feature | UNSORTED, end, n, n});
            end += n;
        }
    }

    // Walks over the columns of a part of a node, those in reach.
    void begin_part(const Node& node, uint32_t part) noexcept {
        part_ = &data.lists[node.start]->parts[part];
        start_ = node.start;
        end_ = node.end;
        at_ = NONE;
    }
    bool next_column(const FeatureBound& bound) noexcept {
        const uint32_t n = static_cast<uint32_t>(part_->columns.size());
        for (++at_; at_ < n; ++at_) {
            const ListedColumn column = part_->columns[at_];
            if (column.feature & CONSTANT) continue;
            if (bound.holds(column.n, column.max_class_count)) return true;
        }
        part_ = nullptr;
        return false;
    }
    uint32_t feature() const noexcept { return part_->columns[at_].feature & ~UNSORTED; }
    // Rows of the column, in no order of values, as long as it has not been sorted; else NULL.
    const uint32_t* unsorted(uint32_t& n) const noexcept {
        const ListedColumn column = part_->columns[at_];
        n = column.n;
        return column.feature & UNSORTED ? first_entry() : nullptr;
    }
    uint32_t promising(const Node& node, uint32_t part) const noexcept {
        return data.lists[node.start]->parts[part].promising;
    }
    void set_promising(const Node& node, uint32_t part, uint32_t feature) noexcept {
        data.lists[node.start]->parts[part].promising = feature;
    }
    void set_max_class_count(uint32_t count) noexcept {
        part_->columns[at_].max_class_count = count;
    }
    // Says that the column is constant in the node, so its children have no use for it.
    void drop_column() noexcept { part_->columns[at_].feature |= CONSTANT; }

    // Sides of the rows of the node split last.
    const uint32_t* sides() const noexcept { return go_left_.data(); }

    Nonzeros nonzeros(uint32_t feature, const Node& node) {
        Nonzeros out;
        out.n = node.size();
        out.column = data.column(feature);
        out.entries = nullptr;
        out.n_negative = out.n_missing = out.n_positive = 0;
        if (!is_at(feature, node) && !find_column(feature, node)) return out;
        ListedColumn& listed = part_->columns[at_];
        const uint32_t n = listed.n;
        out.entries = first_entry();
        if (listed.feature & UNSORTED) {
            sort(out.column, node, n, first_entry());
            listed.feature &= ~UNSORTED;
        }
        const uint8_t kinds = data.kinds[feature];
        if (kinds & ListData::NEGATIVE) {
            out.n_negative = first_not(out, 0, n, [](float x) { return x < 0.0f; });
        }
        if (kinds & ListData::MISSING) {
            const uint32_t end = first_not(out, out.n_negative, n, [](float x) { return x != x; });
            out.n_missing = end - out.n_negative;
        }
        out.n_positive = n - out.n_negative - out.n_missing;
        return out;
    }

    // Moves the rows that go left to the front; returns the first position that is right.
    uint32_t split_rows(const Split& split, const Node& node) {
        uint32_t* sides = go_left_.data();
        uint32_t* rows = data.rows.data() + node.start;
        const Nonzeros z = nonzeros(split.feature, node);
        const uint32_t n_left = split.n_values_left;
        for (uint32_t i = 0; i < z.n; ++i) put_bit(sides, rows[i], n_left > z.n_negative);
        for (uint32_t i = 0; i < z.n_negative; ++i) {
            put_bit(sides, z.entries[i] & ROW, i < n_left);
        }
        for (uint32_t i = 0; i < z.n_missing; ++i) {
            put_bit(sides, z.missing()[i] & ROW, split.missing_left);
        }
        for (uint32_t i = 0; i < z.n_positive; ++i) {
            put_bit(sides, z.positives()[i] & ROW, z.n_values() - 1 - i < n_left);
        }
        part_ = nullptr;  // the node is about to be divided
        return node.start + partition(simd, rows, z.n, sides, scratch_.reserve(z.n + PADDING));
    }

    // Dividing a node's lists between its children, those that will be searched. The larger one
    // takes them over, the lists of the smaller one are made; until end_split the former stand at
    // the node's place, the latter at the right child's. Returns the number of parts to split.
    uint32_t begin_split(const Node& left, const Node& right, bool with_left, bool with_right) {
        if (!with_left && !with_right) {
            data.lists[left.start] = nullptr;
            return 0;
        }
        if (with_left && with_right) {
            data.lists[right.start] = std::make_unique<NodeLists>(data.n_parts());
        }
        return data.n_parts();
    }
    void split_part(uint32_t part, const Node& left, const Node& right, bool with_left,
                    bool with_right, const uint32_t* sides) {
        ListPart& kept = data.lists[left.start]->parts[part];
        const bool keep_left = keeps_left(left, right, with_left, with_right);
        if (with_left && with_right) {
            divide<true>(kept, keep_left, sides);
            ListPart& moved = data.lists[right.start]->parts[part];
            moved.columns.assign(columns_.begin(), columns_.end());
            moved.start = moved_start_;
            moved.promising = kept.promising;
        } else {
            divide<false>(kept, keep_left, sides);
        }
    }
    void end_split(const Node& left, const Node& right, bool with_left, bool with_right) noexcept {
        if (keeps_left(left, right, with_left, with_right)) return;
        std::swap(data.lists[left.start], data.lists[right.start]);
    }

private:
    static constexpr uint32_t NONE = 0xffffffffu;

    std::vector<uint32_t> go_left_;      // bits, of the node split last
    NonzeroSorter sorter_;
    ListDivider divider_;
    AlignedBuffer<uint32_t> scratch_;
    std::vector<uint32_t> in_node_, marked_;  // bits of the rows of a node, and the rows,
    uint32_t marked_start_ = 0, marked_end_ = 0;  // its place
    std::vector<ListedColumn> columns_;  // of the child that is moved
    size_t moved_start_ = 0;
    ListPart* part_ = nullptr;           // column looked at: in which part,
    uint32_t start_ = 0, end_ = 0;       // of which node,
    uint32_t at_ = NONE;                 // its place

    uint32_t* first_entry() const {
        return data.entries.get() + part_->start + part_->columns[at_].begin;
    }

    // Puts entries, ascending rows of the column, in the order of their values.
    void sort(const SparseView& column, const Node& node, uint32_t n, uint32_t* entries) {
        if (data.sorted != nullptr && is_shared(column.n, n)) {
            return copy_part(data.sorted->column(feature(), sorter_), node, n, entries);
        }
        sorter_.reserve(n);
        if (walk_pays(column.n, n)) {
            sorter_.put_present(column, data.kinds[feature()] == 0, rows_of(node));
        } else {
            for (uint32_t i = 0, place = 0; i < n; ++i, ++place) {
                const uint32_t row = entries[i] & ROW;
                place = column.find_behind(place, row);
                sorter_.put(i, column.values[place], row);
            }
        }
        sorter_.write_sorted(n, entries);
    }
    // Whether the column's order is better copied from the one that fits share.
    bool is_shared(uint32_t n_all, uint32_t n) const noexcept {
        return data.sorted->has_sorted(feature()) ? filtering_pays(n_all, n)
                                                  : sorting_for_all_pays(n_all, n);
    }
    // Those n entries of a sorted column whose rows are the node's.
    void copy_part(SortedNonzeros::List all, const Node& node, uint32_t n, uint32_t* entries) {
        const uint32_t* from = all.entries;
        if (n < all.n) {
            uint32_t* part = scratch_.reserve(all.n + PADDING);
            std::memcpy(part, all.entries, all.n * sizeof(uint32_t));
            partition(simd, part, all.n, rows_of(node), nullptr, true, false);
            from = part;
        }
        std::memcpy(entries, from, n * sizeof(uint32_t));
    }
    // Bits of the node's rows.
    const uint32_t* rows_of(const Node& node) {
        if (node.start != marked_start_ || node.end != marked_end_) {
            for (uint32_t row : marked_) put_bit(in_node_.data(), row, 0);
            marked_.assign(data.rows.begin() + node.start, data.rows.begin() + node.end);
            for (uint32_t row : marked_) put_bit(in_node_.data(), row, 1);
            marked_start_ = node.start;
            marked_end_ = node.end;
        }
        return in_node_.data();
    }
    // Lists the rows of a column's nonzeros; returns their number.
    uint32_t list(const SparseView& column, uint32_t* entries, uint8_t& kinds) {
        uint32_t n_zero = 0, n_negative = 0, n_missing = 0;
        for (uint32_t i = 0; i < column.n; ++i) {
            const float x = column.values[i];
            n_zero += x == 0.0f;
            n_negative += x < 0.0f;
            n_missing += x != x;
            entries[i] = static_cast<uint32_t>(column.rows[i]) | BOUNDARY;
        }
        kinds = (n_negative > 0 ? ListData::NEGATIVE : 0) | (n_missing > 0 ? ListData::MISSING : 0);
        if (n_zero == 0 && data.rows.size() == data.n_rows) return column.n;
        uint32_t n = 0;
        for (uint32_t i = 0; i < column.n; ++i) {
            entries[n] = entries[i];
            n += column.values[i] != 0.0f && get_bit(data.in_fit.data(), entries[i] & ROW);
        }
        return n;
    }

    // First of entries [low, high) whose value is not of a kind that comes first.
    template <class IsKind>
    static uint32_t first_not(const Nonzeros& nonzeros, uint32_t low, uint32_t high,
                              IsKind is_kind) {
        while (low < high) {
            const uint32_t middle = low + (high - low) / 2;
            if (is_kind(nonzeros.column.value(nonzeros.entries[middle] & ROW))) low = middle + 1;
            else high = middle;
        }
        return low;
    }

    bool is_at(uint32_t feature, const Node& node) const {
        return part_ != nullptr && start_ == node.start && end_ == node.end
               && (part_->columns[at_].feature & ~UNSORTED) == feature;
    }
    bool find_column(uint32_t feature, const Node& node) {
        const auto& first = data.part_first;
        const auto after = std::upper_bound(first.begin(), first.end() - 1, feature);
        ListPart& part = data.lists[node.start]->parts[after - first.begin() - 1];
        const auto precedes = [](const ListedColumn& column, uint32_t f) {
            return (column.feature & ~(CONSTANT | UNSORTED)) < f;
        };
        const auto found =
            std::lower_bound(part.columns.begin(), part.columns.end(), feature, precedes);
        part_ = nullptr;
        if (found == part.columns.end() || (found->feature & ~UNSORTED) != feature) return false;
        part_ = &part;
        start_ = node.start;
        end_ = node.end;
        at_ = static_cast<uint32_t>(found - part.columns.begin());
        return true;
    }

    static bool keeps_left(const Node& left, const Node& right, bool with_left, bool with_right) {
        return with_left && (!with_right || left.size() >= right.size());
    }

    // Compacts a part to the entries and columns of one child; with_moved: those of the other
    // go behind them, and its columns to columns_.
    template <bool with_moved>
    void divide(ListPart& part, bool keep_left, const uint32_t* sides) {
        uint32_t* entries = data.entries.get() + part.start;
        uint32_t* moved = with_moved ? scratch_.reserve(part.n_entries() + PADDING) : nullptr;
        uint32_t n_kept = 0, n_moved = 0, n_columns = 0;
        ListedColumn* columns = part.columns.data();
        const uint32_t n = static_cast<uint32_t>(part.columns.size());
        columns_.clear();
        // Loop invariant: columns before `first` are divided; what is kept of them stands in
        // entries[0:n_kept] and columns[0:n_columns], what is moved in moved[0:n_moved].
        for (uint32_t first = 0, last; first < n; first = last) {
            last = first + 1;
            if (columns[first].feature & CONSTANT) continue;
            while (last < n && columns[last].begin == columns[last - 1].end()
                   && !(columns[last].feature & CONSTANT)) ++last;
            divider_.divide<with_moved>(entries, columns + first, last - first, sides, keep_left,
                                        entries + n_kept, moved + n_moved);
            for (uint32_t c = first; c < last; ++c) {
                const ListedColumn column = columns[c];
                const uint32_t kept = divider_.n_kept[c - first];
                if (kept >= data.least) {
                    columns[n_columns++] = column.part(n_kept, kept);
                }
                n_kept += kept;
                if (with_moved && column.n - kept >= data.least) {
                    columns_.push_back(column.part(n_moved, column.n - kept));
                }
                if (with_moved) n_moved += column.n - kept;
            }
        }
        part.columns.resize(n_columns);
        if (with_moved) std::memcpy(entries + n_kept, moved, n_moved * sizeof(uint32_t));
        moved_start_ = part.start + n_kept;
    }
};

}  // namespace fasttree
