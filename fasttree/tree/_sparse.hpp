// Columns of a sparse matrix (CSC) and the nonzeros of them that reach a node.
//
// Two strategies find a feature's nonzeros in a node:
//   lists       every node lists its nonzeros column by column, each column sorted. A split
//               partitions the lists stably; columns without a nonzero in the child vanish from
//               them. O(nonzeros of the node), no term in the number of columns.
//   extraction  nothing is kept per node ("Scalable Learning of Tree-Based Models on Sparsely
//               Representable Data", Hedayati, Joly & Papadimitriou, Algorithms 3 to 5): the
//               column is walked and each row's position tells whether it is in the node, O(m_j)
//               of its m_j nonzeros; or the column is searched for each row of the node,
//               O(n log m_j). A split swaps the rows of one side only: O(m_j).
// Invariants. Lists: rows[start:end] are a node's rows in ascending order. Extraction:
// position[rows[p]] = p for all p; the rows of a node are in no order.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "../utils/_bits.hpp"
#include "../utils/_simd.hpp"
#include "../utils/_sorting.hpp"
#include "_cost_model.hpp"
#include "_nonzeros.hpp"
#include "_partition.hpp"
#include "_split.hpp"

namespace fasttree {

constexpr uint32_t CONSTANT = 0x80000000u;  // bit of a feature number

struct ListedColumn {
    uint32_t feature;  // | CONSTANT if its rows in the node have one value
    uint32_t end;      // of its entries, counted from the part's first
};

// A range of features of a node: what one thread works on at a time.
struct ListPart {
    size_t start = 0;  // of its entries
    std::vector<ListedColumn> columns;
};

struct SparseLists {
    std::vector<ListPart> parts;
    explicit SparseLists(uint32_t n_parts) : parts(n_parts) {}
};

// Order of a column's entries: negatives ascending, missing, positives descending.
inline uint32_t outer_key(float x) {
    const uint32_t key = float_key(x);
    return key & 0x80000000u ? ~key | 0x80000000u : key;
}
inline float outer_value(uint32_t key) {
    const uint32_t bits = key & 0x80000000u ? ~key & 0x7fffffffu : ~key;
    float x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
}

// Room for entries that nobody has to initialise.
class EntryBuffer {
    std::unique_ptr<uint32_t[]> entries_;
    size_t size_ = 0;

public:
    uint32_t* reserve(size_t n) {
        if (n > size_) {
            entries_.reset(new uint32_t[n]);
            size_ = n;
        }
        return entries_.get();
    }
};

class SparseData {
public:
    const float* values;
    const int32_t* indices;
    const int64_t* indptr;
    const uint32_t n_rows, n_features;    // of X
    std::vector<uint32_t> rows;           // of positive weight
    std::vector<uint32_t> position;       // extraction: of each row in `rows`
    std::unique_ptr<uint32_t[]> entries;  // lists
    std::vector<uint32_t> part_first;     // lists: first feature of every part, and n_features
    std::vector<uint32_t> part_sorted;    // lists: first feature of every part not yet sorted
    // Lists of the nodes that have them, at their first position.
    std::vector<std::unique_ptr<SparseLists>> lists;
    uint32_t least = 1;                   // lists: columns of fewer nonzeros are of no use
    std::vector<uint32_t> in_fit;         // bits of the rows of positive weight
    enum Kind : uint8_t { NEGATIVE = 1, MISSING = 2 };
    std::vector<uint8_t> kinds;           // lists: of values in each column, besides positives

    SparseData(const float* values_, const int32_t* indices_, const int64_t* indptr_,
               uint32_t n_rows_, uint32_t n_features_)
        : values(values_), indices(indices_), indptr(indptr_), n_rows(n_rows_),
          n_features(n_features_), in_fit(make_bits(n_rows_)) {}

    bool has_lists() const { return !part_first.empty(); }
    uint32_t n_parts() const { return static_cast<uint32_t>(part_first.size()) - 1; }

    SparseView column(uint32_t feature) const {
        return {values + indptr[feature], indices + indptr[feature],
                static_cast<uint32_t>(indptr[feature + 1] - indptr[feature])};
    }
    float value(uint32_t row, uint32_t feature) const { return column(feature).value(row); }

    void add_row(uint32_t row) {
        rows.push_back(row);
        put_bit(in_fit.data(), row, 1);
    }
    // Chooses lists, in parts of about as many nonzeros each.
    void allocate_lists(uint32_t n_parts_, uint32_t least_) {
        const int64_t n_nonzero = indptr[n_features];
        n_parts_ = std::max(n_parts_, static_cast<uint32_t>(n_nonzero >> 31) + 1);
        entries.reset(new uint32_t[n_nonzero + 1]);
        kinds.resize(n_features);
        for (uint32_t part = 0; part < n_parts_; ++part) {
            const int64_t target = n_nonzero / n_parts_ * part;
            const int64_t* found = std::lower_bound(indptr, indptr + n_features, target);
            part_first.push_back(part == 0 ? 0 : static_cast<uint32_t>(found - indptr));
        }
        part_sorted = part_first;
        part_first.push_back(n_features);
        lists.resize(rows.size() + 1);
        lists[0] = std::make_unique<SparseLists>(n_parts_);
        least = std::max(least_, 1u);
    }
    bool is_sorted() const {
        return std::equal(part_sorted.begin(), part_sorted.end(), part_first.begin() + 1);
    }
    // Chooses extraction.
    void allocate_positions() {
        position.assign(n_rows, NO_ROW);
        for (uint32_t p = 0; p < rows.size(); ++p) position[rows[p]] = p;
    }
};

// Scratch of one thread.
class SparseWorkspace {
public:
    SparseData& data;
    const Simd simd;

    SparseWorkspace(SparseData& data_, Simd simd_) : data(data_), simd(simd_) {
        if (data.has_lists()) go_left_ = make_bits(data.n_rows);
    }

    // ---- rows

    const uint32_t* sides() const { return go_left_.data(); }

    // Rows of a node in ascending order; good until the next call.
    const uint32_t* node_rows(uint32_t start, uint32_t end) {
        if (data.has_lists()) return data.rows.data() + start;
        sorted_.assign(data.rows.begin() + start, data.rows.begin() + end);
        sort_rows(sorted_);
        return sorted_.data();
    }

    // Moves the rows that go left to the front; returns the first position that is right.
    uint32_t split_rows(const Split& split, const Node& node) {
        return data.has_lists() ? split_by_bits(split, node) : split_by_swaps(split, node);
    }
    // Restores the sides of a node whose rows have been split at `middle`.
    void mark_halves(uint32_t start, uint32_t middle, uint32_t end) {
        if (!data.has_lists()) return;
        for (uint32_t p = start; p < end; ++p) put_bit(go_left_.data(), data.rows[p], p < middle);
    }

    // ---- nonzeros of a feature in a node

    Nonzeros nonzeros(uint32_t feature, const Node& node) {
        Nonzeros out;
        out.n = node.size();
        out.column = data.column(feature);
        if (data.has_lists()) find_nonzeros(feature, node, out);
        else extract_nonzeros(feature, node, out);
        return out;
    }
    // The same rows, of which those on one side of a threshold (zeros are on the other) are
    // listed as one run.
    Nonzeros listed_side(const Nonzeros& nonzeros, uint32_t n_values_left, bool missing_left) {
        const bool left = n_values_left <= nonzeros.n_negative;
        const uint32_t n_values = left ? n_values_left : nonzeros.n_values() - n_values_left;
        const uint32_t* from = left ? nonzeros.entries : nonzeros.positives();
        listed_.clear();
        for (uint32_t i = 0; i < n_values; ++i) listed_.push_back(from[i] & ROW);
        for (uint32_t i = 0; i < nonzeros.n_missing && missing_left == left; ++i) {
            listed_.push_back(nonzeros.missing()[i] & ROW);
        }
        const uint32_t n_listed = static_cast<uint32_t>(listed_.size());
        return {listed_.data(), nonzeros.n, left ? n_listed : 0, 0, left ? 0 : n_listed,
                nonzeros.column};
    }

    // ---- lists

    // Sorts some more columns of a part of the root, a few million nonzeros.
    void sort_part(uint32_t part) {
        constexpr uint64_t BUDGET = 4000000;
        ListPart& out = data.lists[0]->parts[part];
        uint32_t& feature = data.part_sorted[part];
        const uint32_t last = data.part_first[part + 1];
        out.start = static_cast<size_t>(data.indptr[data.part_first[part]]);
        uint32_t end = out.columns.empty() ? 0 : out.columns.back().end;
        for (uint64_t work = 0; feature < last && work < BUDGET; ++feature) {
            const SparseView column = data.column(feature);
            const uint32_t n = gather(column, data.kinds[feature]);
            work += column.n;
            if (n < data.least) continue;
            write_sorted(n, data.entries.get() + out.start + end);
            end += n;
            out.columns.push_back({feature, end});
        }
    }

    // Walks over the columns of a part of a node that hold at least `least` nonzeros.
    void begin_part(const Node& node, uint32_t part) {
        part_ = &data.lists[node.start]->parts[part];
        start_ = node.start;
        end_ = node.end;
        at_ = NONE;
    }
    bool next_column(uint32_t least) {
        uint32_t begin = at_ == NONE ? 0 : part_->columns[at_].end;
        const uint32_t n = static_cast<uint32_t>(part_->columns.size());
        for (++at_; at_ < n; ++at_) {
            const ListedColumn column = part_->columns[at_];
            if (column.end - begin >= least && !(column.feature & CONSTANT)) {
                begin_ = begin;
                return true;
            }
            begin = column.end;
        }
        part_ = nullptr;
        return false;
    }
    uint32_t feature() const { return part_->columns[at_].feature; }
    // Says that the column is constant in the node, so its children have no use for it.
    void drop_column() { part_->columns[at_].feature |= CONSTANT; }

    // Dividing a node's lists between its children, those that will be searched. The larger one
    // takes them over, the lists of the smaller one are made; until end_split the former stand at
    // the node's place, the latter at the right child's. Returns the number of parts to split.
    uint32_t begin_split(const Node& left, const Node& right, bool with_left, bool with_right) {
        if (!data.has_lists()) return 0;
        if (!with_left && !with_right) {
            data.lists[left.start] = nullptr;
            return 0;
        }
        if (with_left && with_right) {
            data.lists[right.start] = std::make_unique<SparseLists>(data.n_parts());
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
        } else {
            divide<false>(kept, keep_left, sides);
        }
    }
    void end_split(const Node& left, const Node& right, bool with_left, bool with_right) {
        if (!data.has_lists() || keeps_left(left, right, with_left, with_right)) return;
        std::swap(data.lists[left.start], data.lists[right.start]);
    }

private:
    static constexpr uint32_t NONE = 0xffffffffu;

    std::vector<uint32_t> go_left_;        // lists: bits, of the node split last
    std::vector<uint64_t> items_[2];       // for sorting
    EntryBuffer extracted_, scratch_, lane_;
    std::vector<uint32_t> listed_, sorted_;
    std::vector<uint64_t> bitmap_;
    std::vector<ListedColumn> columns_;     // of the child that is moved
    size_t moved_start_ = 0;
    ListPart* part_ = nullptr;            // column looked at: of which part,
    uint32_t start_ = 0, end_ = 0;         // of which node,
    uint32_t at_ = NONE, begin_ = 0;       // its number, its first entry

    // Nonzeros of a column in the fit as items_[0]; returns their number.
    uint32_t gather(const SparseView& column, uint8_t& kinds) {
        items_[0].resize(std::max<size_t>(items_[0].size(), column.n));
        uint32_t n = 0;
        for (uint32_t i = 0; i < column.n; ++i) {
            const uint32_t key = outer_key(column.values[i]);
            const uint32_t row = static_cast<uint32_t>(column.rows[i]);
            items_[0][n] = pack(key, row);
            n += column.values[i] != 0.0f && get_bit(data.in_fit.data(), row);
            kinds |= key < 0x80000000u ? SparseData::NEGATIVE : 0;
            kinds |= key == 0x80000000u ? SparseData::MISSING : 0;
        }
        return n;
    }

    static bool keeps_left(const Node& left, const Node& right, bool with_left, bool with_right) {
        return with_left && (!with_right || left.size() >= right.size());
    }

    void sort_rows(std::vector<uint32_t>& rows) {
        const size_t n_words = data.n_rows / 64 + 1;
        if (rows.size() * 4 < n_words) {
            std::sort(rows.begin(), rows.end());
            return;
        }
        bitmap_.assign(n_words, 0);
        for (uint32_t row : rows) bitmap_[row / 64] |= uint64_t{1} << row % 64;
        uint32_t n = 0;
        for (uint32_t word = 0; word < n_words; ++word) {
            for (uint64_t bits = bitmap_[word]; bits != 0; bits &= bits - 1) {
                rows[n++] = word * 64 + static_cast<uint32_t>(__builtin_ctzll(bits));
            }
        }
    }

    // Writes the rows of items_[0][0:n] in ascending order of their keys.
    void write_sorted(uint32_t n, uint32_t* entries) {
        items_[1].resize(items_[0].size());
        const uint64_t* sorted = sort_by_key(items_[0].data(), items_[1].data(), n);
        uint32_t previous = ~key_of(sorted[0]);
        for (uint32_t i = 0; i < n; ++i) {
            const uint32_t key = key_of(sorted[i]);
            entries[i] = payload_of(sorted[i]) | (key != previous ? BOUNDARY : 0);
            previous = key;
        }
    }

    // ---- extraction

    // Nonzeros of the feature in the node as items_[0]; returns their number.
    uint32_t extract(uint32_t feature, const Node& node) {
        const SparseView column = data.column(feature);
        uint32_t n = 0;
        if (binary_search_pays(node.size(), column.n)) {
            items_[0].resize(std::max<size_t>(items_[0].size(), node.size()));
            for (uint32_t p = node.start; p < node.end; ++p) {
                const float x = column.value(data.rows[p]);
                items_[0][n] = pack(outer_key(x), data.rows[p]);
                n += x != 0.0f;
            }
        } else {
            items_[0].resize(std::max<size_t>(items_[0].size(), column.n));
            for (uint32_t i = 0; i < column.n; ++i) {
                const uint32_t row = static_cast<uint32_t>(column.rows[i]);
                // Other threads move the rows of other nodes meanwhile, within those nodes.
                const uint32_t p = __atomic_load_n(&data.position[row], __ATOMIC_RELAXED);
                items_[0][n] = pack(outer_key(column.values[i]), row);
                n += p >= node.start && p < node.end && column.values[i] != 0.0f;
            }
        }
        return n;
    }
    void extract_nonzeros(uint32_t feature, const Node& node, Nonzeros& out) {
        const uint32_t n = extract(feature, node);
        out.n_negative = out.n_missing = 0;
        for (uint32_t i = 0; i < n; ++i) {
            const uint32_t key = key_of(items_[0][i]);
            out.n_negative += key < 0x80000000u;
            out.n_missing += key == 0x80000000u;
        }
        out.n_positive = n - out.n_negative - out.n_missing;
        uint32_t* entries = extracted_.reserve(n);
        if (n > 0) write_sorted(n, entries);
        out.entries = entries;
    }
    uint32_t split_by_swaps(const Split& split, const Node& node) {
        const uint32_t n = extract(split.feature, node);
        const bool zeros_left = 0.0 <= split.threshold;
        uint32_t middle = zeros_left ? node.end : node.start;
        for (uint32_t i = 0; i < n; ++i) {
            const float x = outer_value(key_of(items_[0][i]));
            const bool left = x != x ? split.missing_left : x <= split.threshold;
            if (left == zeros_left) continue;
            const uint32_t p = data.position[payload_of(items_[0][i])];
            swap_rows(p, zeros_left ? --middle : middle++);
        }
        return middle;
    }
    void swap_rows(uint32_t p, uint32_t q) {
        std::swap(data.rows[p], data.rows[q]);
        __atomic_store_n(&data.position[data.rows[p]], p, __ATOMIC_RELAXED);
        __atomic_store_n(&data.position[data.rows[q]], q, __ATOMIC_RELAXED);
    }

    // ---- lists

    void find_nonzeros(uint32_t feature, const Node& node, Nonzeros& out) {
        const bool here = part_ != nullptr && start_ == node.start && end_ == node.end
                          && part_->columns[at_].feature == feature;
        out.entries = nullptr;
        out.n_negative = out.n_missing = out.n_positive = 0;
        if (!here && !find_column(feature, node)) return;
        out.entries = data.entries.get() + part_->start + begin_;
        const uint32_t n = part_->columns[at_].end - begin_;
        const uint8_t kinds = data.kinds[feature];
        if (kinds & SparseData::NEGATIVE) {
            out.n_negative = first_not(out, 0, n, [](float x) { return x < 0.0f; });
        }
        if (kinds & SparseData::MISSING) {
            out.n_missing = first_not(out, out.n_negative, n, [](float x) { return x != x; })
                            - out.n_negative;
        }
        out.n_positive = n - out.n_negative - out.n_missing;
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
    bool find_column(uint32_t feature, const Node& node) {
        const auto after =
            std::upper_bound(data.part_first.begin(), data.part_first.end() - 1, feature);
        ListPart& part = data.lists[node.start]->parts[after - data.part_first.begin() - 1];
        const auto found = std::lower_bound(part.columns.begin(), part.columns.end(), feature,
                                            [](const ListedColumn& column, uint32_t f) {
                                                return (column.feature & ~CONSTANT) < f;
                                            });
        part_ = nullptr;
        if (found == part.columns.end() || found->feature != feature) return false;
        part_ = &part;
        start_ = node.start;
        end_ = node.end;
        at_ = static_cast<uint32_t>(found - part.columns.begin());
        begin_ = at_ == 0 ? 0 : part.columns[at_ - 1].end;
        return true;
    }

    uint32_t split_by_bits(const Split& split, const Node& node) {
        uint32_t* rows = data.rows.data() + node.start;
        uint32_t* sides = go_left_.data();
        const Nonzeros nz = nonzeros(split.feature, node);
        const uint32_t n_left = split.n_values_left;
        const bool zeros_left = n_left > nz.n_negative;
        for (uint32_t i = 0; i < nz.n; ++i) put_bit(sides, rows[i], zeros_left);
        for (uint32_t i = 0; i < nz.n_negative; ++i)
            put_bit(sides, nz.entries[i] & ROW, i < n_left);
        for (uint32_t i = 0; i < nz.n_missing; ++i) {
            put_bit(sides, nz.missing()[i] & ROW, split.missing_left);
        }
        for (uint32_t i = 0; i < nz.n_positive; ++i) {
            put_bit(sides, nz.positives()[i] & ROW, nz.n_values() - 1 - i < n_left);
        }
        return node.start + partition(simd, rows, nz.n, sides, scratch_.reserve(nz.n + PADDING));
    }

    // Compacts a part to the entries and columns of one child; with_moved: those of the other
    // go behind them, and its columns to columns_.
    template <bool with_moved>
    void divide(ListPart& part, bool keep_left, const uint32_t* sides) {
        uint32_t* entries = data.entries.get() + part.start;
        const uint32_t n_entries = part.columns.empty() ? 0 : part.columns.back().end;
        uint32_t* moved = with_moved ? scratch_.reserve(n_entries) : nullptr;
        uint32_t n_kept = 0, n_moved = 0, n_columns = 0, end = 0;
        columns_.clear();
        // Loop invariant: columns before this one are divided; what is kept of them stands in
        // entries[0:n_kept] and columns[0:n_columns], what is moved in moved[0:n_moved].
        for (const ListedColumn column : part.columns) {
            uint32_t* from = entries + end;
            const uint32_t n = column.end - end;
            end = column.end;
            if (column.feature & CONSTANT) continue;
            const uint32_t kept = divide_column<with_moved>(from, n, keep_left, sides,
                                                            entries + n_kept, moved + n_moved);
            if (kept >= data.least) {
                n_kept += kept;
                part.columns[n_columns++] = {column.feature, n_kept};
            }
            if (with_moved && n - kept >= data.least) {
                n_moved += n - kept;
                columns_.push_back({column.feature, n_moved});
            }
        }
        part.columns.resize(n_columns);
        if (with_moved) std::memcpy(entries + n_kept, moved, n_moved * sizeof(uint32_t));
        moved_start_ = part.start + n_kept;
    }
    // Divides a column's entries into `kept`, at or before them in memory, and `moved`, elsewhere.
    // Returns the number kept.
    template <bool with_moved>
    uint32_t divide_column(uint32_t* entries, uint32_t n, bool keep_left, const uint32_t* sides,
                           uint32_t* kept, uint32_t* moved) {
        constexpr uint32_t LONG = 32;  // from here on vectors pay
        if (n >= LONG) {
            const uint32_t n_left = partition(simd, entries, n, sides, lane_.reserve(n + PADDING),
                                              with_moved || keep_left, with_moved || !keep_left);
            const uint32_t n_kept = keep_left ? n_left : n - n_left;
            const uint32_t* first = entries + (keep_left ? 0 : n_left);
            if (with_moved) {
                std::memcpy(moved, entries + (keep_left ? n_left : 0),
                            (n - n_kept) * sizeof(uint32_t));
            }
            std::memmove(kept, first, n_kept * sizeof(uint32_t));
            return n_kept;
        }
        const uint32_t flip = keep_left ? 0 : 1;
        uint32_t n_kept = 0, n_moved = 0, carry_kept = 0, carry_moved = 0;
        for (uint32_t i = 0; i < n; ++i) {
            const uint32_t entry = entries[i], row = entry & ROW, boundary = entry & BOUNDARY;
            const uint32_t keep = get_bit(sides, row) ^ flip;
            carry_kept |= boundary;
            kept[n_kept] = row | carry_kept;
            carry_kept &= keep - 1;
            n_kept += keep;
            if constexpr (with_moved) {
                carry_moved |= boundary;
                moved[n_moved] = row | carry_moved;
                carry_moved &= 0 - keep;
                n_moved += 1 - keep;
            }
        }
        return n_kept;
    }
};

}  // namespace fasttree
