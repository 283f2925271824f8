// Runs: the one shape in which every search strategy hands a feature to the scan.
//
// A node's rows in ascending order of one feature, equal values forming a run: numbers, then
// categories in code order, then the missing values as a run of their own. `Runs` lists rows,
// `Counts` holds one cell of statistics per distinct value (superfast selection, Wang & Gupta
// 2024). What is not a number takes the same side of every threshold, so to a search for thresholds
// categories and missing values are one block: `n_missing` counts both.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/core/ties.hpp"
#include "utils/_cell.hpp"

namespace fasttree {

// An entry is a row number; its top bit says that the value differs from the entry before. The bit
// below may hold the class of the row, if there are two: looking it up would take longer than all
// else that a scan does with most entries.
constexpr uint32_t BOUNDARY = 0x80000000u;
constexpr uint32_t CLASS_1 = 0x40000000u;
constexpr uint32_t ROW = 0x3fffffffu;

// The values of a column by row. Of a column of two values, they are named by bits.
struct ColumnValues {
    const float* values = nullptr;    // of row r: values[r * stride], or values[its bit]
    ptrdiff_t stride = 0;             // in elements, of values or words
    const uint64_t* words = nullptr;  // bits: that of row r is bit `shift` of words[r * stride]
    uint32_t shift = 0;

    float of(uint32_t row) const {
        const ptrdiff_t place = static_cast<ptrdiff_t>(row) * stride;
        return values[words == nullptr ? place : words[place] >> shift & 1];
    }
};

// Entries [begin, end).
struct Stretch {
    uint32_t begin, end;
};
// Of n entries in n_segments, where one of these begins.
inline uint32_t segment_begin(uint32_t n, uint32_t segment, uint32_t n_segments) noexcept {
    return static_cast<uint32_t>(uint64_t{n} * segment / n_segments);
}

struct Runs {
    const uint32_t* entries;  // [n], the last n_missing of them not numbers
    uint32_t n;
    uint32_t n_missing;
    ColumnValues column;
    bool has_categories = false; // the column may hold categories
    bool has_classes = false;    // entries hold classes
    // Candidates have more values on the left than `after`, and at most `up_to`.
    uint32_t after = 0, up_to = 0xffffffffu;

    // All values equal, or all missing (replay: or values too close).
    bool is_constant(bool replay) const noexcept {
        constexpr uint32_t LOOKS = 16;  // before values are looked up
        if (replay && n_missing == 0) return are_near(value(0), value(n - 1));
        for (uint32_t p = 1; p < std::min(n, LOOKS); ++p) {
            if (entries[p] & BOUNDARY) return false;
        }
        const float first = value(0), last = value(n - 1);
        return first == last || (first != first && last != last && (!has_categories
                                     || category_of(first) == category_of(last)));
    }
    // The run of more than half of many numbers, if there is one; else an empty one behind all.
    Stretch common_run() const noexcept {
        constexpr uint32_t MANY = 1 << 12, LOOKS = 8;
        const uint32_t n_numbers = n - n_missing, middle = n_numbers / 2;
        const Stretch none{n, n};
        if (n_numbers < MANY) return none;
        for (uint32_t p = middle + 1; p <= middle + LOOKS; ++p) {
            if (entries[p] & BOUNDARY) return none;
        }
        const float common = value(middle);
        if (value(middle / 2) != common && value(middle + middle / 2) != common) return none;
        const uint32_t begin = first_where(0, middle, [=](float x) { return x >= common; });
        const uint32_t end = first_where(middle, n_numbers, [=](float x) { return x > common; });
        return end - begin > middle ? Stretch{begin, end} : none;
    }
    uint32_t row(uint32_t p) const noexcept { return entries[p] & ROW; }
    float value(uint32_t p) const noexcept { return column.of(row(p)); }
    // How many of the entries that are not numbers hold categories; these come first. O(log n)
    uint32_t n_categorical() const {
        const uint32_t n_numbers = n - n_missing;
        return first_where(n_numbers, has_categories ? n : n_numbers, [](float x) {
            return category_of(x) == NO_CATEGORY;
        }) - n_numbers;
    }
    // The first of entries [low, high) whose value is so, as are all behind it; or high. O(log n)
    template <class IsSo>
    uint32_t first_where(uint32_t low, uint32_t high, const IsSo& is_so) const {
        while (low < high) {
            const uint32_t middle = low + (high - low) / 2;
            if (is_so(value(middle))) high = middle;
            else low = middle + 1;
        }
        return low;
    }
    // True if scikit-learn would not put a threshold between entries p - 1 and p.
    bool is_near(uint32_t p) const {
        return p < n - n_missing && are_near(value(p - 1), value(p));
    }
};

struct Counts {
    const void* cells;        // [n_values + n_category_values + 1] cells, that of missing rows last
    const float* values;      // [n_values + n_category_values], ascending
    uint32_t n_values;        // numbers
    uint32_t n;               // rows in the node
    uint32_t n_missing;       // of them not numbers
    uint32_t n_category_values;
};

// A mean as its exact numerator and denominator.
struct Mean {
    int64_t sum, weight;
    bool operator<(const Mean& other) const {
        using wide = __int128;
        return static_cast<wide>(sum) * other.weight < static_cast<wide>(other.sum) * weight;
    }
};

// Rows that a question on categories cannot tell apart: those of one category, the missing ones, or
// all that hold numbers.
struct Group {
    float cell;               // the category or NaN; one of the numbers
    uint32_t first, last;     // Runs: entries [first, last). Counts: cells
    uint32_t n_rows;
    Mean mean;                // by which groups are ordered
    bool is_numbers() const { return cell == cell; }
};
using Groups = std::vector<Group>;

// In ascending order of their means, equal ones as they were.
inline void sort_by_mean(Groups& groups) {
    std::stable_sort(groups.begin(), groups.end(),
                     [](const Group& a, const Group& b) { return a.mean < b.mean; });
}

// What a candidate asks of a value: to be at most a threshold, to be one category, to be in a set.
enum Question : uint8_t { THRESHOLD, CATEGORY, CATEGORY_SET };

// A candidate split of one feature. CATEGORY: `left` is the category's place in Scanner::groups.
// CATEGORY_SET: the first `left` of these groups are on one side.
struct Candidate {
    double score;
    uint32_t left;            // Runs: number of values on the left. Counts: last value on the left
    uint32_t right;           // Runs: the same number. Counts: first value on the right
    uint32_t n_left;          // rows on the left, missing ones included
    bool missing_left;
    double middle;            // between the children's values, under monotonic constraints
    Question question;
};

// What makes a candidate admissible.
struct Limits {
    uint32_t min_samples_leaf;
    double min_weight_leaf;
    int monotonic;            // -1, 0, 1 for the feature being scanned
    double lower, upper;      // bounds on the children's values
    bool replay;              // scikit-learn's score and candidate order, see ties.hpp
    bool is_drawn;            // not searched for: values next to it may be close
    bool category_sets;       // sets of categories instead of single ones
    bool skips_near() const { return replay && !is_drawn; }
    bool checked() const { return min_weight_leaf > 0.0 || replay || monotonic != 0; }
};

}  // namespace fasttree
