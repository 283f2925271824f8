// The scratch with which one thread walks a sample: orders of features, and partitions at splits.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

#include "engine/columns/dense.hpp"
#include "engine/core/runs.hpp"
#include "engine/core/split.hpp"
#include "engine/order/block.hpp"
#include "engine/order/code_sides.hpp"
#include "engine/order/partition.hpp"
#include "engine/order/sample.hpp"
#include "engine/simd/bits.hpp"
#include "engine/simd/simd.hpp"
#include "engine/simd/sorting.hpp"
#include "utils/_aligned_buffer.hpp"
#include "utils/_crew.hpp"

namespace fasttree {

// Parts of a node's rows that threads split, at most: more threads would wait for the memory.
constexpr uint32_t MOST_PARTS = 16;

class DenseWorkspace final : public BlockSource {
public:
    DenseSample& sample;
    const DenseColumns& data;
    const Simd simd;
    const bool has_lists;                // the sample, which has been given them
    const bool keeps_sides;              // lists are divided after other nodes have been split
    std::vector<uint32_t> go_left;       // bits, of the node split last, or of all that wait; if
                                         // there are lists
    AlignedBuffer<uint32_t> scratch;     // entries of a node, or, if all columns are listed and
                                         // one thread splits, of the largest right child so far
    std::vector<std::vector<uint32_t>> flips;  // bits of rows that threads flip
    std::vector<uint8_t> is_in_split;    // by category, all 0 between splits
    SortBuffers buffers;                 // for sorting in the node

    DenseWorkspace(DenseSample& sample_, Simd simd_, bool keeps_sides_)
        : sample(sample_), data(sample_.data), simd(simd_),
          has_lists(sample_.n_lists() > 0), keeps_sides(keeps_sides_),
          go_left(make_bits(data.n_rows)) {
        if (sample.n_lists() == sample.lists.size()) return;
        scratch.reserve(sample.rows.size() + MOST_PARTS * PADDING);
    }

    // A feature of the node in ascending order.
    Runs runs(uint32_t feature, uint32_t start, uint32_t end) {
        const Column& col = data.columns[feature];
        Runs out = values_of(feature);
        out.n = end - start;
        out.entries = scratch.get();
        if (sample.has_list(feature)) {
            out.entries = sample.lists[feature].get() + start;
            out.has_classes = sample.has_classes;
            out.n_missing = col.has_missing ? count_missing(out) : 0;
        } else if (col.storage == BITS) {
            sort_by_bit(col.slot, start, end);
            out.n_missing = col.n_numbers() > 0 ? 0 : out.n;
        } else if (col.storage == COUNTED) {
            out.n_missing = counting_sort(col, start, end);
        } else {
            out.n_missing = data.sort_rows(feature, sample.rows.data() + start, out.n, buffers,
                                           scratch.get());
        }
        return out;
    }

    // Partitions a node's rows, and sets go_left if there are lists; returns where the right ones
    // begin.
    uint32_t split_rows(const Split& split, uint32_t start, uint32_t end, Crew* crew) {
        if (crew != nullptr) return split_rows_on_threads(split, start, end, *crew);
        const uint32_t n = end - start;
        const uint32_t most_right =
            sample.has_list(split.feature) && split.question == THRESHOLD ? n - split.n_left : n;
        uint32_t* const right = scratch.reserve(most_right + PADDING);
        const bool by_code = is_by_code(split, start, end);
        if (!by_code) mark(split, start, end, nullptr);
        const uint32_t n_left = separate_rows(split, by_code, start, end, right);
        if (by_code && has_lists) mark_separated(start, n_left, right, n - n_left);
        std::memcpy(sample.rows.data() + start + n_left, right, (n - n_left) * sizeof(uint32_t));
        return start + n_left;
    }
    // Partitions the feature's list by the given sides, for the children that will be searched.
    void split_list(uint32_t feature, uint32_t start, uint32_t middle, uint32_t end,
                    bool with_left, bool with_right, const uint32_t* sides) {
        partition(simd, sample.lists[feature].get() + start, end - start, sides,
                  scratch.reserve(end - middle + PADDING), with_left, with_right);
    }

    // Partitions one of n_segments of the list by itself; returns how many of it go left.
    uint32_t split_segment(uint32_t feature, uint32_t start, uint32_t end, uint32_t segment,
                           uint32_t n_segments, const uint32_t* sides) {
        const uint32_t begin = segment_begin(end - start, segment, n_segments);
        const uint32_t n = segment_begin(end - start, segment + 1, n_segments) - begin;
        return partition(simd, sample.lists[feature].get() + start + begin, n, sides,
                         scratch.reserve(n + PADDING));
    }
    // Makes one list of its segments, of each of which so many went left: these come first.
    void join_segments(uint32_t feature, uint32_t start, uint32_t end,
                       const std::vector<uint32_t>& n_left) {
        uint32_t* const list = sample.lists[feature].get() + start;
        const uint32_t n_segments = static_cast<uint32_t>(n_left.size());
        const uint32_t most = end - start - std::accumulate(n_left.begin(), n_left.end(), 0u);
        uint32_t* const others = scratch.reserve(most);
        uint32_t at = 0, n_others = 0;
        for (uint32_t segment = 0; segment < n_segments; ++segment) {
            const uint32_t begin = segment_begin(end - start, segment, n_segments);
            const uint32_t middle = begin + n_left[segment];
            const uint32_t stop = segment_begin(end - start, segment + 1, n_segments);
            if (at > 0 && begin < middle) bound(feature, list[at - 1], list[begin]);
            if (n_others > 0 && middle < stop) bound(feature, others[n_others - 1], list[middle]);
            std::memcpy(others + n_others, list + middle, (stop - middle) * sizeof(uint32_t));
            std::memmove(list + at, list + begin, n_left[segment] * sizeof(uint32_t));
            at += n_left[segment];
            n_others += stop - middle;
        }
        std::memcpy(list + at, others, n_others * sizeof(uint32_t));
    }

    Runs values_of(uint32_t feature) const override {
        return {nullptr, 0, 0, data.values_of(feature), data.columns[feature].has_categories()};
    }
    // Of few values that of the row's code, which was read for the order.
    const float* number_of(uint32_t row, uint32_t feature) const override {
        const Column& col = data.columns[feature];
        if (col.storage == COUNTED) return &col.values[*data.code(row, col.slot)];
        if (col.storage == BITS) return &col.values[data.bits.rows().bit(row, col.slot)];
        return data.column(feature) + static_cast<ptrdiff_t>(row) * data.row_stride;
    }
    const BitColumns& bits() const override { return data.bits; }
    void make_order(const Block& block, uint32_t feature, BlockOrder& out) override {
        const Column& col = data.columns[feature];
        const uint32_t n = block.size();
        if (col.storage == BITS) {
            order_bits(simd, block.plane(col.slot), n, col.n_numbers() > 0, out);
        } else if (col.storage == COUNTED) {
            uint8_t codes[BLOCK_ROWS];
            for (uint32_t i = 0; i < n; ++i) codes[i] = *data.code(block.rows[i], col.slot);
            order_codes(simd, codes, n, col.n_numbers(), out);
        } else if (sample.has_list(feature)) {
            const Runs list = runs(feature, block.start, block.end);
            block.take_entries(list.entries, list.n_missing, out);
        } else {
            const uint32_t n_missing =
                data.sort_rows(feature, block.rows, n, buffers, scratch.get());
            block.take_entries(scratch.get(), n_missing, out);
        }
    }
    // Of few values the codes, which are in their order.
    bool make_ranks(const Block& block, uint32_t feature, uint8_t* ranks,
                    size_t pitch) override {
        const Column& col = data.columns[feature];
        const uint32_t n = block.size();
        if (col.storage == BITS) {
            for (uint32_t i = 0; i < n; ++i) ranks[i * pitch] = block.plane(col.slot) >> i & 1;
            return col.n_numbers() > 0;
        }
        if (col.storage == COUNTED) {
            uint8_t highest = 0;
            for (uint32_t i = 0; i < n; ++i) {
                const uint8_t code = *data.code(block.rows[i], col.slot);
                ranks[i * pitch] = code;
                highest = std::max(highest, code);
            }
            return highest < col.n_numbers();
        }
        const Runs listed = runs(feature, block.start, block.end);
        if (listed.n_missing > 0) return false;
        block.take_ranks(listed.entries, ranks, pitch);
        return true;
    }

private:
    // Says of an entry that follows another one of its list whether its value is another.
    void bound(uint32_t feature, uint32_t before, uint32_t& entry) const {
        const bool has_categories = data.columns[feature].has_categories();
        const auto key = [&](uint32_t e) {
            return cell_key(data.value(e & ROW, feature), has_categories);
        };
        entry = (entry & ~BOUNDARY) | (key(before) != key(entry) ? BOUNDARY : 0);
    }
    static uint32_t count_missing(const Runs& runs) {
        uint32_t low = 0, high = runs.n;  // values before low, missing from high on
        while (low < high) {
            const uint32_t middle = low + (high - low) / 2;
            const float x = runs.value(middle);
            if (x != x) high = middle;
            else low = middle + 1;
        }
        return runs.n - low;
    }

    // The node's rows by code into `scratch`; O(n), whatever the number of codes.
    // Returns how many are not numbers.
    uint32_t counting_sort(const Column& col, uint32_t start, uint32_t end) {
        uint32_t counts[MAX_COUNTED];
        uint64_t seen[MAX_COUNTED / 64] = {};
        const uint32_t* node_rows = sample.rows.data();
        for (uint32_t i = start; i < end; ++i) {
            const uint8_t code = *data.code(node_rows[i], col.slot);
            uint64_t& word = seen[code / 64];
            const uint64_t bit = uint64_t{1} << code % 64;
            if (!(word & bit)) counts[code] = 0;
            word |= bit;
            ++counts[code];
        }
        const uint32_t n_numbers = col.n_numbers();
        uint32_t sum = 0, rows_of_numbers = 0;
        for (uint32_t word = 0; word < MAX_COUNTED / 64; ++word) {
            for (uint64_t bits = seen[word]; bits != 0; bits &= bits - 1) {
                const uint32_t code = word * 64 + __builtin_ctzll(bits);
                const uint32_t count = counts[code];
                counts[code] = sum;
                sum += count;
                if (code < n_numbers) rows_of_numbers = sum;
            }
        }
        for (uint32_t i = start; i < end; ++i) {
            const uint8_t code = *data.code(node_rows[i], col.slot);
            uint64_t& word = seen[code / 64];
            const uint64_t bit = uint64_t{1} << code % 64;
            scratch[counts[code]++] = node_rows[i] | (word & bit ? BOUNDARY : 0);
            word &= ~bit;  // the first of its run only
        }
        return sum - rows_of_numbers;
    }

    // The same of a column of two values.
    void sort_by_bit(uint32_t bit, uint32_t start, uint32_t end) {
        const BitRows bits = data.bits.rows();
        uint32_t n = 0;
        for (uint32_t value = 0; value < 2; ++value) {
            const uint32_t first = n;
            for (uint32_t i = start; i < end; ++i) {
                const uint32_t row = sample.rows[i];
                scratch[n] = row;
                n += bits.bit(row, bit) == value;
            }
            if (n > first) scratch[first] |= BOUNDARY;
        }
    }

    // `split_rows` in parts of the rows, which threads share. Parts share no word of go_left.
    uint32_t split_rows_on_threads(const Split& split, uint32_t start, uint32_t end,
                                   Crew& crew) {
        struct Part {
            uint32_t begin, end, n_left;
            uint32_t* right;
            uint32_t right_at;
        };
        uint32_t* const rows = sample.rows.data();
        const uint32_t n = end - start;
        const uint32_t n_threads = static_cast<uint32_t>(crew.size());
        const uint32_t n_parts = std::min(PARTS_OF_A_THREAD * n_threads, MOST_PARTS);
        std::vector<Part> parts(n_parts);
        uint32_t* right = scratch.reserve(n + n_parts * PADDING);
        uint32_t at = start;
        for (uint32_t p = 0; p < n_parts; ++p) {
            parts[p] = {at, at, 0, right + (at - start) + p * PADDING, 0};
            at = std::max(at, start + guided_begin(n, p + 1, n_parts, n_threads));
            while (at > start && at < end && rows[at] >> 5 == rows[at - 1] >> 5) ++at;
            parts[p].end = at;
        }
        const bool by_code = is_by_code(split, start, end);
        const bool marks_part = marks_by_row(split) && !by_code;
        if (!by_code && !marks_part) mark(split, start, end, &crew);
        uint32_t middle = start;
        const auto put_left = [&](int p) {
            const Part& part = parts[p];
            std::memmove(rows + middle, rows + part.begin, part.n_left * sizeof(uint32_t));
            middle += part.n_left;
        };
        // Once a part and those before it are separated, no thread reads the rows there.
        Ordered separated(static_cast<int>(n_parts));
        crew.share(static_cast<int>(n_parts), [&](int, int p) {
            Part& part = parts[p];
            if (marks_part && part.begin < part.end) mark(split, part.begin, part.end, nullptr);
            part.n_left = separate_rows(split, by_code, part.begin, part.end, part.right);
            if (by_code && has_lists) {
                const uint32_t n_right = part.end - part.begin - part.n_left;
                mark_separated(part.begin, part.n_left, part.right, n_right);
            }
            separated.done(p, put_left);
        });
        at = middle;
        for (Part& part : parts) {
            part.right_at = at;
            at += part.end - part.begin - part.n_left;
        }
        const auto put_right = [&](int, int p) {
            const Part& part = parts[p];
            const size_t n_right = part.end - part.begin - part.n_left;
            std::memcpy(rows + part.right_at, part.right, n_right * sizeof(uint32_t));
        };
        constexpr uint32_t LEAST = 1 << 16;  // rows
        if (end - middle >= LEAST) crew.share(static_cast<int>(n_parts), put_right);
        else for (uint32_t p = 0; p < n_parts; ++p) put_right(0, static_cast<int>(p));
        return middle;
    }
    // Rows that go left to the front, the others to `right`; returns how many go left.
    uint32_t separate_rows(const Split& split, bool by_code, uint32_t start, uint32_t end,
                           uint32_t* right) {
        uint32_t* const rows = sample.rows.data() + start;
        return by_code
            ? sides_of_codes(split).separate(simd, rows, end - start, rows, right)
            : separate<true, true>(simd, rows, end - start, go_left.data(), rows, right);
    }
    // Whether rows are separated by their codes and, for the lists, marked afterwards; else by
    // marks.
    bool is_by_code(const Split& split, uint32_t start, uint32_t end) const {
        if (data.columns[split.feature].storage != COUNTED) return false;
        return !(has_lists && keeps_sides) && !reads_column(start, end);
    }
    // Whether the codes of a column are read from the first row of a node to the last one, in
    // between those of other nodes, where there are not too many.
    bool reads_column(uint32_t start, uint32_t end) const {
        constexpr uint32_t READ_PER_ROW = 8;
        const uint32_t* const rows = sample.rows.data();
        return !data.code_parts.empty()
               && (rows[end - 1] - rows[start]) / READ_PER_ROW < end - start;
    }
    CodeSides sides_of_codes(const Split& split) const {
        return {split, data.columns[split.feature], data.codes.get(), data.n_rows, data.n_counted};
    }
    // Whether sides are looked up in ascending order of the rows.
    bool marks_by_row(const Split& split) const {
        const Storage storage = data.columns[split.feature].storage;
        return storage == BITS || storage == COUNTED
               || (split.question == THRESHOLD && !sample.has_list(split.feature));
    }

    void mark(const Split& split, uint32_t start, uint32_t end, Crew* crew) {
        const Column& col = data.columns[split.feature];
        const uint32_t* node_rows = sample.rows.data();
        uint32_t* sides = go_left.data();
        if (col.storage == BITS) {
            const BitRows bits = data.bits.rows();
            const uint32_t is_swapped = split.question != THRESHOLD &&
                                        !split.category_goes_left(category_of(col.values[0]));
            BitWriter writer(sides, node_rows[start]);
            for (uint32_t i = start; i < end; ++i) {
                writer.put(node_rows[i], bits.bit(node_rows[i], col.slot) == is_swapped);
            }
        } else if (col.storage == COUNTED && !data.code_parts.empty()) {
            mark_column(split, node_rows[start], node_rows[end - 1] + 1);
        } else if (col.storage == COUNTED) {
            const CodeSides is_left = sides_of_codes(split);
            BitWriter writer(sides, node_rows[start]);
            for (uint32_t i = start; i < end; ++i) writer.put(node_rows[i], is_left(node_rows[i]));
        } else if (split.question != THRESHOLD) {
            mark_categories(split, col, start, end);
        } else if (sample.has_list(split.feature)) {
            const uint32_t n_missing_left = split.has_missing && split.missing_left
                                                ? split.n_left - split.n_values_left : 0;
            mark_list(sample.lists[split.feature].get() + start, split.n_values_left,
                      end - start - n_missing_left, end - start, node_rows + start, crew);
        } else {
            BitWriter writer(sides, node_rows[start]);
            for (uint32_t i = start; i < end; ++i) {
                const float x = data.value(node_rows[i], split.feature);
                writer.put(node_rows[i], x != x ? split.missing_left : x <= split.threshold);
            }
        }
    }
    // Sides of rows [first, last).
    void mark_column(const Split& split, uint32_t first, uint32_t last) {
        const CodeSides is_left = sides_of_codes(split);
        const Column& col = data.columns[split.feature];
        const uint32_t n_parts = static_cast<uint32_t>(data.code_parts.size());
        for (uint32_t part = 0; part < n_parts; ++part) {
            const uint32_t end = part + 1 < n_parts ? data.code_parts[part + 1] : data.n_rows;
            is_left.mark(simd, col.codes_of_part(part), std::max(first, data.code_parts[part]),
                         std::min(last, end), go_left.data());
        }
    }
    // Sides of n rows in the order of a list, of which those in [first, last) go right. Unless
    // sides of other nodes' rows are kept, words get that of most rows, and others are flipped.
    void mark_list(const uint32_t* entries, uint32_t first, uint32_t last, uint32_t n,
                   const uint32_t* node_rows, Crew* crew) {
        const uint32_t n_right = last - first;
        const bool most_go_left = n_right <= n - n_right;
        if (keeps_sides) {
            for (uint32_t i = 0; i < n; ++i) {
                put_bit(go_left.data(), entries[i] & ROW, i < first || i >= last);
            }
            return;
        }
        set_words(node_rows, n, most_go_left);
        if (most_go_left) return flip_sides(entries + first, n_right, crew);
        flip_sides(entries, first, crew);
        flip_sides(entries + last, n - last, crew);
    }
    // The same of rows that are separated: the left ones from `start` on, the others in `right`.
    void mark_separated(uint32_t start, uint32_t n_left, const uint32_t* right, uint32_t n_right) {
        const uint32_t* const left = sample.rows.data() + start;
        const bool most_go_left = n_right <= n_left;
        set_words(left, n_left, most_go_left);
        set_words(right, n_right, most_go_left);
        const uint32_t* const others = most_go_left ? right : left;
        const uint32_t n_others = most_go_left ? n_right : n_left;
        if (n_others == 0) return;
        BitWriter writer(go_left.data(), others[0]);
        for (uint32_t i = 0; i < n_others; ++i) writer.put(others[i], !most_go_left);
    }
    // Says of n rows, which must ascend, and maybe of rows between them, that they go left, or that
    // they do not.
    void set_words(const uint32_t* of_rows, uint32_t n, bool go) {
        constexpr uint32_t ROWS_PER_WORD = 32, FILLED_PER_ROW = 2;  // words
        if (n == 0) return;
        const uint32_t word = go ? 0xffffffffu : 0;
        const uint32_t first = of_rows[0] / ROWS_PER_WORD;
        const uint32_t n_words = of_rows[n - 1] / ROWS_PER_WORD + 1 - first;
        if (n_words / FILLED_PER_ROW <= n) {
            std::fill_n(go_left.begin() + first, n_words, word);
        } else {
            for (uint32_t i = 0; i < n; ++i) go_left[of_rows[i] / ROWS_PER_WORD] = word;
        }
    }
    // Each thread flips bits of its own first, where they are few beside the rows.
    void flip_sides(const uint32_t* entries, uint32_t n, Crew* crew) {
        constexpr uint32_t ROWS_PER_WORD = 32, LEAST_PER_WORD = 2;  // rows
        const auto flip = [=](uint32_t* bits, uint32_t begin, uint32_t end) {
            for (uint32_t i = begin; i < end; ++i) {
                const uint32_t row = entries[i] & ROW;
                bits[row / ROWS_PER_WORD] ^= uint32_t{1} << row % ROWS_PER_WORD;
            }
        };
        uint32_t* const sides = go_left.data();
        const size_t n_words = go_left.size();
        const uint32_t most_parts = static_cast<uint32_t>(n / (LEAST_PER_WORD * n_words));
        const uint32_t n_threads = crew == nullptr ? 1 : static_cast<uint32_t>(crew->size());
        const uint32_t n_parts = std::min({n_threads, MOST_PARTS, most_parts});
        if (n_parts <= 1) return flip(sides, 0, n);
        flips.resize(n_parts - 1);
        crew->share(static_cast<int>(n_parts), [&](int, int p) {
            const uint32_t part = static_cast<uint32_t>(p);
            if (part > 0) flips[part - 1].assign(n_words, 0);
            flip(part == 0 ? sides : flips[part - 1].data(), segment_begin(n, part, n_parts),
                 segment_begin(n, part + 1, n_parts));
        });
        for (const std::vector<uint32_t>& of_part : flips) {
            for (size_t word = 0; word < n_words; ++word) sides[word] ^= of_part[word];
        }
    }
    // Sides of a split on categories: numbers go right.
    void mark_categories(const Split& split, const Column& col, uint32_t start, uint32_t end) {
        is_in_split.resize(std::max<size_t>(is_in_split.size(), col.n_categories));
        for (uint32_t category : split.categories.codes) is_in_split[category] = 1;
        for (uint32_t i = start; i < end; ++i) {
            const uint32_t row = sample.rows[i];
            const float x = data.value(row, split.feature);
            const uint32_t category = category_of(x);
            put_bit(go_left.data(), row,
                    category != NO_CATEGORY
                        ? is_in_split[category] == split.categories.listed_left
                        : x != x && split.missing_left);
        }
        for (uint32_t category : split.categories.codes) is_in_split[category] = 0;
    }
};

}  // namespace fasttree
