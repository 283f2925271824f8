// What is cheaper when: the constants of the engine's choices between strategies, in nanoseconds
// or ratios measured on one x86-64 core. A wrong choice costs time, never another tree. Sizes of
// blocks and buffers, and what concerns a single kernel, stand beside their loops.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace fasttree {

// Counting a row of a feature.
inline double counting_row(int n_outputs) noexcept {
    constexpr double ROW = 1.2, OUTPUT = 0.15;
    return ROW + OUTPUT * (n_outputs - 1);
}

// A feature of n rows and n_values distinct ones in a node: counting pays one cell per value
// (zeroed, filled, scanned; in vectors if there are many outputs), a counting sort pays its rows
// more dearly.
inline bool counts_pay(uint32_t n, uint32_t n_values, size_t cell_bytes, int n_outputs) {
    constexpr double SORT_ROW = 5.0, SORT_OUTPUT = 0.3, SCAN_CELL = 1.5;
    const double cell_byte = n_outputs > 1 ? 0.04 : 0.10;
    const double scan = n_values * (SCAN_CELL + cell_byte * static_cast<double>(cell_bytes));
    const double sort = SORT_ROW + SORT_OUTPUT * (n_outputs - 1);
    return counting_row(n_outputs) * n + scan < sort * n;
}

// Adding up or subtracting a byte of count tables.
constexpr double TABLE_BYTE = 0.06;

// Counting n rows in n_features tables against subtracting tables of `bytes`.
inline bool subtraction_is_cheaper(uint32_t n, uint32_t n_features, size_t bytes, int n_outputs) {
    return counting_row(n_outputs) * n * n_features > TABLE_BYTE * static_cast<double>(bytes);
}

// Threads that each count some of n rows, in a table of `bytes` of their own, against threads that
// each count all rows, of some of the features.
inline bool counting_by_rows_pays(uint32_t n, size_t bytes, uint32_t n_threads) noexcept {
    constexpr double LOOK_AT_ROW = 1.5;
    return LOOK_AT_ROW * n > TABLE_BYTE * static_cast<double>(bytes) * n_threads;
}

// One thread that counts n rows of n_features while others are at lists, of n_entries in all,
// against threads that each look at all n rows, of some of the features: if others hardly wait.
inline bool counting_alone_pays(uint32_t n, size_t n_features, size_t n_entries,
                                uint32_t n_threads, int n_outputs) noexcept {
    constexpr double LIST_ENTRY = 2.0, HARDLY = 0.25;
    const double at_lists = LIST_ENTRY * static_cast<double>(n_entries) / n_threads;
    return counting_row(n_outputs) * n * static_cast<double>(n_features) < HARDLY * at_lists;
}

// Columns of two values as bits: if they are fewer, codes of a byte cost as little.
constexpr uint32_t MIN_BIT_COLUMNS = 16;
// Of a sparse matrix of ones: if they take less memory than the lists of its nonzeros.
inline bool sparse_bits_pay(size_t n_rows, size_t n_features, size_t n_nonzeros) noexcept {
    constexpr size_t LISTED = 32;
    return n_features >= MIN_BIT_COLUMNS && n_rows * n_features < LISTED * n_nonzeros;
}

// Sorted lists cost a partition of every list at every split; sorting in the node costs a sort
// of each feature looked at.
inline bool lists_pay(uint32_t n_features, uint32_t max_features) noexcept {
    constexpr double PARTITION = 1.5, SORT = 10.0;
    return PARTITION * n_features < SORT * max_features;
}

// Keys cost a look at each feature drawn, whatever their number; lists a partition of all.
inline bool keys_pay(uint32_t n_features, uint32_t max_features) noexcept {
    constexpr double PARTITION = 1.5, KEYS = 3.0;
    return KEYS * max_features < PARTITION * n_features;
}

// Copying the cells of some columns so that those of a row are side by side, for reads of few rows:
// not if a cache line of X holds as many of them, or nearly.
inline bool copying_cells_pays(ptrdiff_t row_stride, ptrdiff_t column_stride,
                               uint32_t n_columns) noexcept {
    constexpr ptrdiff_t SPREAD = 4;
    const ptrdiff_t row = std::abs(row_stride);
    return row < std::abs(column_stride) || row > SPREAD * static_cast<ptrdiff_t>(n_columns);
}

// A feature of few rows, given by keys: each compared with each, 16 at a time, or counted by
// bucket and class.
inline bool comparing_pays(uint32_t n, uint32_t n_buckets, uint32_t n_classes) noexcept {
    constexpr double COMPARE = 0.7, SCORE = 1.5, COUNT = 1.2, ADD_UP = 0.4, BEGIN = 20.0;
    const double comparing = n * (COMPARE * ((n + 15) / 16) + SCORE);
    return comparing < COUNT * n + n_buckets * (ADD_UP * n_classes + SCORE) + BEGIN;
}

// Questions drawn about all features of n rows, each of which fills so many vectors, against a look
// at some features, one by one.
constexpr double LANES_ROW = 6.5, LOOK_ROW = 1.4;
inline bool lanes_pay(uint32_t n, uint32_t n_vectors, uint32_t n_looked) noexcept {
    constexpr double LANES = 60.0, LOOK = 40.0;
    return n_vectors * (LANES_ROW * n + LANES) < n_looked * (LOOK_ROW * n + LOOK);
}
// The same in a subtree of a few rows, whose looks at a feature are vectors, too: twice as many if
// they are half as wide.
inline bool lanes_pay_in_block(uint32_t n_vectors, uint32_t n_looked, bool are_wide) noexcept {
    constexpr uint32_t LOOKS_IF_WIDE = 5, LOOKS = 3;
    return (are_wide ? LOOKS_IF_WIDE : LOOKS) * n_vectors < n_looked;
}
// Copying the rows of a subtree for it: not if lanes pay in its smallest nodes only.
inline bool packing_pays(uint32_t n_vectors, uint32_t n_looked) noexcept {
    return LANES_ROW * n_vectors < LOOK_ROW * n_looked;
}

// Gathering those columns of a group of codes that a node looks at, instead of all 16: if they are
// few and soon listed.
inline bool picking_columns_pays(uint32_t n_groups, uint32_t n_looked,
                                 uint32_t n_features) noexcept {
    constexpr uint32_t FEW_GROUPS = 4, GROUP = 16, AT_ONCE = 4;
    return n_groups <= FEW_GROUPS && n_looked * std::min(GROUP, n_features) <= AT_ONCE * n_features;
}

// A block of as many rows as fit a mask, for drawn questions about cells that are `row_stride`
// apart: the more rows, the more vectors each of its nodes is spread over.
inline bool wide_blocks_pay(uint32_t n_rows, ptrdiff_t row_stride) noexcept {
    constexpr size_t CACHE = size_t{1} << 20;
    return sizeof(float) * n_rows * static_cast<size_t>(std::abs(row_stride)) < CACHE;
}

// Codes in groups of columns, which a node that draws some features reads whole, as long as a cache
// holds all of them.
inline bool grouping_pays(uint32_t n_rows, uint32_t n_features, uint32_t n_looked) noexcept {
    constexpr uint32_t LOOKS = 3;
    constexpr size_t CACHE = size_t{1} << 20;
    return n_looked >= LOOKS && n_looked < n_features && size_t{n_rows} * n_features < CACHE;
}
// Columns of two values as bits, which a node that draws some features reads whole: as long as a
// cache holds all of them, and what a thread gathers of them.
inline bool drawn_bits_pay(uint32_t n_rows, uint32_t n_features) noexcept {
    constexpr size_t CACHE = size_t{1} << 22;
    return size_t{n_rows} * n_features / 8 < CACHE;
}
// Codes of few values, which trees share, stay in a cache where the matrix does not.
inline bool codes_pay(uint32_t n_rows, uint32_t n_features, uint32_t n_looked) noexcept {
    constexpr size_t CACHE = size_t{1} << 20, FAST_CACHE = size_t{1} << 18;
    return sizeof(float) * n_rows * n_features
        > (grouping_pays(n_rows, n_features, n_looked) ? FAST_CACHE : CACHE);
}
// Copying the columns that are not coded, for looks at some features: not if a cache line of X
// holds several rows, and not most of X.
inline bool copying_columns_pays(ptrdiff_t row_stride, size_t n_copied, size_t n_features,
                                 uint32_t n_looked) noexcept {
    constexpr ptrdiff_t SPREAD = 8;
    return std::abs(row_stride) >= SPREAD && n_looked < n_features && 2 * n_copied <= n_features;
}

// The list of a sample of n_kept rows: filtered from the list of all n_rows, or sorted anew.
inline bool filtering_pays(size_t n_rows, size_t n_kept) noexcept {
    constexpr double FILTER = 1.5, SORT = 10.0;
    return FILTER * static_cast<double>(n_rows) < SORT * static_cast<double>(n_kept);
}

// A score that looks at every class, against two more steps along the feature that tell where none
// of the positions ahead needs one: after a few that were scored in vain.
constexpr uint32_t PATIENCE = 8;
inline bool survey_pays(size_t n_classes) noexcept {
    constexpr size_t MANY = 16;
    return n_classes > MANY;
}

// Sorting all of a sparse column for all fits on an encoding, where a node holds n_kept of its n
// nonzeros. Where it does not pay, the node sorts its own.
inline bool sorting_for_all_pays(size_t n, size_t n_kept) noexcept { return n < 2 * n_kept; }

// Going through the m nonzeros of a sparse column, in vectors, against finding n ascending rows
// among them, each by a search from the one before.
inline bool walk_pays(uint32_t m, uint32_t n) noexcept {
    constexpr uint32_t SEARCH = 16;  // nonzeros passed in the time of a search
    return m / SEARCH < n;
}

// Looking up n rows of a node in a sparse column of m nonzeros against walking the column: the
// rule and the ratio of the sparse trees' paper (its equation 8). One nonzero is walked: its
// logarithm would let any number of look-ups pass for free.
inline bool binary_search_pays(uint32_t n, uint32_t m) noexcept {
    constexpr double SWITCH = 0.1;
    return m > 1 && n * std::log2(static_cast<double>(m)) < SWITCH * m;
}

// Lists cost a partition of all nonzeros of a node; extraction costs a look at one column for
// each feature looked at, most of them short or without a row in the node.
inline bool sparse_lists_pay(uint32_t n_features, uint32_t max_features) noexcept {
    constexpr double PARTITION = 1.0, EXTRACTION = 20.0;
    return PARTITION * n_features < EXTRACTION * max_features;
}

// Listing which features are not zero in a node of n nonzeros, row by row, against reading the
// columns of those that the node draws, which are somewhere in memory.
inline bool row_listing_pays(size_t n_nonzeros, uint32_t n_draws) noexcept {
    constexpr size_t COLUMN = 128;  // nonzeros listed in the time of a column
    return n_nonzeros < COLUMN * n_draws;
}

// Nodes of more rows are searched and partitioned feature by feature on all threads, smaller
// ones are roots of subtrees, each of which is a thread's work. Subtrees of equal size may differ
// much in work; a search on all threads has a fixed cost.
inline uint32_t subtree_size(uint32_t n_rows, int n_threads) noexcept {
    constexpr uint32_t FEW_ROWS = 4096;
    const uint32_t share = n_rows / static_cast<uint32_t>(n_threads);
    return std::max(share / 4, std::min(share / 2, FEW_ROWS));
}

// The table of such a root goes to the thread that grows it; one of few rows is soon counted again.
// Hence few tables exist at a time, however many subtrees there are.
inline bool handing_table_over_pays(uint32_t n_rows, uint32_t largest) noexcept {
    constexpr uint32_t SHARE = 4;
    return n_rows > largest / SHARE;
}

// The fewest rows of a node that a thread leaves to one that has no subtree: to search it takes
// longer than to hand it over.
inline uint32_t fewest_rows_to_leave(uint32_t n_looked) noexcept {
    constexpr uint32_t CELLS = 1 << 13, FEW_ROWS = 128;
    return std::max(CELLS / n_looked, FEW_ROWS);
}

}  // namespace fasttree
