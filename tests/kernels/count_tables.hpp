// Count tables, as the tests call them.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "engine/columns/dense.hpp"
#include "engine/columns/encoder.hpp"
#include "engine/core/cells.hpp"
#include "engine/core/sampler.hpp"
#include "engine/core/split.hpp"
#include "engine/order/count_tables.hpp"
#include "engine/order/sample.hpp"
#include "utils/_crew.hpp"

namespace fasttree::tests {

// Cells that hold how many rows there are.
class RowCells final : public Cells {
    template <class Code>
    static void count(const uint32_t* rows, uint32_t n, const Code* codes, size_t stride,
                      const CountedFeature* features, uint32_t n_features, char* cells) {
        for (uint32_t f = 0; f < n_features; ++f) {
            uint32_t* const counts = reinterpret_cast<uint32_t*>(cells + features[f].offset);
            for (uint32_t i = 0; i < n; ++i) ++counts[codes[rows[i] * stride + features[f].slot]];
        }
    }
    template <class Change>
    static void change(char* table, const char* other, size_t n_bytes, const Change& change) {
        uint32_t* const counts = reinterpret_cast<uint32_t*>(table);
        const uint32_t* const others = reinterpret_cast<const uint32_t*>(other);
        for (size_t i = 0; i < n_bytes / sizeof(uint32_t); ++i) change(counts[i], others[i]);
    }

public:
    size_t bytes() const override { return sizeof(uint32_t); }
    int n_outputs() const override { return 1; }
    void fill(const uint32_t* rows, uint32_t n, const uint8_t* codes, size_t stride,
              const CountedFeature* features, uint32_t n_features, char* cells) const override {
        count(rows, n, codes, stride, features, n_features, cells);
    }
    void fill(const uint32_t* rows, uint32_t n, const uint32_t* codes, size_t stride,
              const CountedFeature* features, uint32_t n_features, char* cells) const override {
        count(rows, n, codes, stride, features, n_features, cells);
    }
    uint32_t n_rows(const char* cell) const override {
        return *reinterpret_cast<const uint32_t*>(cell);
    }
    // No column is kept as bits.
    size_t bit_bytes(uint32_t) const override { return 0; }
    void clear_bits(uint32_t, uint32_t, uint32_t, char*) const override {}
    void fill_bits(const BitRows&, uint32_t, uint32_t, const uint32_t*, uint32_t,
                   char*) const override {}
    void subtract_bits(uint32_t, uint32_t, uint32_t, const char*, char*) const override {}
    void pair(const char*, uint32_t, uint32_t, char*) const override {}
    void add(char* table, const char* other, size_t n_bytes) const override {
        change(table, other, n_bytes, [](uint32_t& a, uint32_t b) { a += b; });
    }
    void subtract(char* table, const char* other, size_t n_bytes) const override {
        change(table, other, n_bytes, [](uint32_t& a, uint32_t b) { a -= b; });
    }
};

// A column of few values, all of whose rows are counted.
struct CountedColumn {
    DenseColumns columns;
    const DenseSample sample;
    const RowCells cells;
    CountTables tables;

    CountedColumn(const float* column, uint32_t n)
        : columns(column, 1, n, n, 1), sample(encoded(columns)), tables(sample, cells, true) {}

private:
    static DenseSample encoded(DenseColumns& columns) {
        Poll poll;
        Crew crew(1, poll);
        DenseEncoder encoder(columns, crew, SIMD_PORTABLE);
        encoder.count(false);
        encoder.interleave(false);
        return {columns, {}, crew};
    }
};

// How often each value of a column of n cells is in all rows, before row `middle`, and from there
// on. Thread threads[i] counts share i of the counting on n_threads; i starts again at 0 behind the
// last of `threads`.
inline std::vector<uint32_t> counted_on_threads(const float* column, uint32_t n, uint32_t middle,
                                                uint32_t n_threads,
                                                const std::vector<int>& threads) {
    CountedColumn counted(column, n);
    CountTables& tables = counted.tables;
    Poll poll;
    FeatureSampler sampler(1, 1, false, 0);
    sampler.begin(0, 0);
    std::vector<uint32_t> out;
    const auto count = [&](const Counting& counting) {
        for (uint32_t share = 0; share < counting.n_shares; ++share) {
            tables.count(counting, sampler, threads[share % threads.size()], share, poll);
        }
    };
    const auto take = [&](const Node& node) {
        const void* const counts = tables.view(node.table, 0, node.size(), nullptr).cells;
        const uint32_t* const first = static_cast<const uint32_t*>(counts);
        out.insert(out.end(), first, first + counted.columns.columns[0].values.size());
    };
    Node node{}, left{}, right{};
    node.table = left.table = right.table = NO_TABLE;
    left.end = right.start = middle;
    node.end = right.end = n;
    const Counting counting = tables.begin_node(node, n_threads);
    count(counting);
    tables.end_counting(counting);
    take(node);
    const Counting of_child = tables.hand_down(node, left, right, true, true, n_threads);
    count(of_child);
    tables.end_counting(of_child);
    for (const Node* child : {&left, &right}) {
        if (child->table != NO_TABLE) take(*child);
    }
    return out;
}

// In how many shares n_threads count the rows before `middle` of n, a node's smaller child, by the
// first of two columns, beside a list of the other one.
inline uint32_t n_shares_beside_list(const float* X, uint32_t n, uint32_t middle,
                                     uint32_t n_threads) {
    DenseColumns columns(X, 2, 1, n, 2);
    Poll poll;
    Crew crew(1, poll);
    DenseEncoder encoder(columns, crew, SIMD_PORTABLE);
    encoder.count(true);
    encoder.interleave(true);
    DenseSample sample(columns, {}, crew);
    sample.take_lists(columns);
    const RowCells cells;
    CountTables tables(sample, cells, true);
    Node node{}, left{}, right{};
    node.table = tables.acquire();
    left.end = right.start = middle;
    node.end = right.end = n;
    return tables.hand_down(node, left, right, true, true, n_threads).n_shares;
}

// How many tables there are after n_nodes nodes, each of which leaves its table to its larger child,
// which alone reads one.
inline int tables_after_handing_down(const float* column, uint32_t n, uint32_t middle,
                                     uint32_t n_threads, int n_nodes) {
    CountedColumn counted(column, n);
    CountTables& tables = counted.tables;
    Poll poll;
    FeatureSampler sampler(1, 1, false, 0);
    sampler.begin(0, 0);
    int last = -1;
    const auto count = [&](const Counting& counting) {
        for (uint32_t share = 0; share < counting.n_shares; ++share) {
            tables.count(counting, sampler, static_cast<int>(share % n_threads), share, poll);
        }
        last = std::max(last, counting.table);
        if (counting.parts != nullptr) {
            for (int table : counting.parts->tables) last = std::max(last, table);
        }
        tables.end_counting(counting);
    };
    for (int i = 0; i < n_nodes; ++i) {
        Node node{}, left{}, right{};
        node.table = left.table = right.table = NO_TABLE;
        left.end = right.start = middle;
        node.end = right.end = n;
        const bool is_left_larger = middle > n - middle;
        count(tables.begin_node(node, n_threads));
        count(tables.hand_down(node, left, right, is_left_larger, !is_left_larger, n_threads));
        for (const Node* child : {&left, &right}) tables.release(child->table);
    }
    return last + 1;
}

// How many tables a thread has in the end that takes and releases n_taken, which another one gives.
inline int tables_after_taking(const float* column, uint32_t n, int n_taken) {
    CountedColumn giving(column, n), taking(column, n);
    int last = -1;
    for (int i = 0; i < n_taken; ++i) {
        TableCells given = giving.tables.give(giving.tables.acquire());
        const int table = taking.tables.take(given);
        last = std::max(last, table);
        taking.tables.release(table);
    }
    return last + 1;
}

}  // namespace fasttree::tests
