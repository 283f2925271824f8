// The engine's kernels as the tests call them. Only `columns.hpp`, `machine.hpp` and this file
// name headers of the package.
//
// Functions take whole arrays where a kernel works on one value or one vector.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "engine/columns/bit_columns.hpp"
#include "engine/columns/bit_matrix.hpp"
#include "engine/columns/buckets.hpp"
#include "engine/columns/dense.hpp"
#include "engine/columns/distinct_texts.hpp"
#include "engine/columns/few_values.hpp"
#include "engine/columns/gathered_bits.hpp"
#include "engine/columns/gathered_cells.hpp"
#include "engine/columns/sparse.hpp"
#include "engine/core/class_targets.hpp"
#include "engine/core/compact_tree.hpp"
#include "engine/core/grid.hpp"
#include "engine/core/runs.hpp"
#include "engine/core/target_sums.hpp"
#include "engine/core/targets.hpp"
#include "engine/order/block.hpp"
#include "engine/order/divide.hpp"
#include "engine/order/extraction.hpp"
#include "engine/order/key_partition.hpp"
#include "engine/order/packed_rows.hpp"
#include "engine/order/partition.hpp"
#include "engine/predict/block_walk.hpp"
#include "engine/prune/wide.hpp"
#include "engine/scan/bit_cells.hpp"
#include "engine/scan/bit_screen.hpp"
#include "engine/scan/block_scan.hpp"
#include "engine/scan/block_search.hpp"
#include "engine/scan/bounds.hpp"
#include "engine/scan/cells.hpp"
#include "engine/scan/key_scan.hpp"
#include "engine/scan/light_scan.hpp"
#include "engine/scan/near_keys.hpp"
#include "engine/scan/node_classes.hpp"
#include "engine/scan/skip.hpp"
#include "engine/score/absolute_error.hpp"
#include "engine/score/advance.hpp"
#include "engine/score/chi_square.hpp"
#include "engine/score/classification.hpp"
#include "engine/score/lane_counts.hpp"
#include "engine/score/row_sides.hpp"
#include "engine/score/regression.hpp"
#include "engine/score/side_counts.hpp"
#include "engine/search/node_columns.hpp"
#include "engine/simd/bit_rows.hpp"
#include "engine/simd/bits.hpp"
#include "engine/simd/code_groups.hpp"
#include "engine/simd/decode.hpp"
#include "engine/simd/fast_log.hpp"
#include "engine/simd/float_up_to.hpp"
#include "engine/simd/gather.hpp"
#include "engine/simd/interleave.hpp"
#include "engine/simd/key_gather.hpp"
#include "engine/simd/lane_draws.hpp"
#include "engine/simd/rank_sort.hpp"
#include "engine/simd/row_lanes.hpp"
#include "engine/simd/sides.hpp"
#include "engine/simd/simd.hpp"
#include "engine/simd/sorting.hpp"
#include "engine/simd/sorting_network.hpp"
#include "optimal/src/kernels.hpp"
#include "utils/_random.hpp"
#include "utils/_threads.hpp"

namespace fasttree::tests {

constexpr uint32_t GUARD = 0xdeadbeef;  // behind an array: found changed if a kernel writes there

// Names the features that are left.
struct FeaturesAhead {
    const std::vector<uint32_t>& features;
    size_t n_visited;

    template <class Use>
    void visit_ahead(const Use& use) const {
        std::for_each(features.begin() + n_visited, features.end(), use);
    }
};
// The cells and extremes of some features, [feature, row], as a node looks at them.
inline void gather_in_turn(Simd simd, const float* X, ptrdiff_t row_stride,
                           ptrdiff_t column_stride, uint32_t n_rows,
                           const std::vector<uint32_t>& features, const uint32_t* rows, uint32_t n,
                           float* out, Extremes* extremes) {
    const DenseColumns data(X, row_stride, column_stride, n_rows, 9);
    GatheredCells gathered;
    gathered.open(data, simd, n, static_cast<uint32_t>(features.size()));
    gathered.take(FeaturesAhead{features, features.size()}, 0, rows + n / 2, n - n / 2);
    gathered.begin();  // the next node
    for (size_t i = 0; i < features.size(); ++i) {
        const auto cells = gathered.take(FeaturesAhead{features, i + 1}, features[i], rows, n);
        std::copy_n(cells.of_rows, n, out + i * n);
        extremes[i] = cells.extremes;
    }
}

#if FASTTREE_X86
FASTTREE_AVX512 inline void fast_logs_avx512(const double* x, size_t n, double* out) {
    for (size_t i = 0; i < n; i += 8) {
        const __mmask8 lanes = static_cast<__mmask8>(low_bits(std::min<uint32_t>(n - i, 8)));
        _mm512_mask_storeu_pd(out + i, lanes, fast_log_avx512(_mm512_maskz_loadu_pd(lanes, x + i)));
    }
}
FASTTREE_AVX512 inline void get_bits_avx512(const uint32_t* words, const uint32_t* places,
                                            uint32_t n, uint8_t* out) {
    for (uint32_t i = 0; i < n; i += 16) {
        const uint32_t lanes = static_cast<uint32_t>(low_bits(std::min(n - i, 16u)));
        const uint32_t bits = fasttree::get_bits_avx512(
            words, _mm512_maskz_loadu_epi32(static_cast<__mmask16>(lanes), places + i), lanes);
        for (uint32_t k = 0; k < 16 && i + k < n; ++k) out[i + k] = bits >> k & 1;
    }
}
template <uint32_t N>
FASTTREE_AVX2 inline void sort_vectors(uint16_t* words) {
    __m256i lanes[N];
    for (uint32_t i = 0; i < N; ++i) {
        lanes[i] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(words + i * LANES));
    }
    fasttree::sort_lanes<N>(lanes);
    for (uint32_t i = 0; i < N; ++i) {
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(words + i * LANES), lanes[i]);
    }
}
#endif

// Sorts n vectors of LANES words, lane by lane.
inline void sort_lanes(uint16_t* words, uint32_t n) {
#if FASTTREE_X86
    if (n == 8) return sort_vectors<8>(words);
    if (n == 16) return sort_vectors<16>(words);
    if (n == 32) return sort_vectors<32>(words);
    if (n == 64) return sort_vectors<64>(words);
#endif
    throw std::invalid_argument("no such network");
}

inline void fast_logs(Simd simd, const double* x, size_t n, double* out) {
#if FASTTREE_X86
    if (simd == SIMD_AVX512) return fast_logs_avx512(x, n, out);
#endif
    const FastLog fast_log;
    for (size_t i = 0; i < n; ++i) out[i] = fast_log(x[i]);
}

inline void get_bits(Simd simd, const uint32_t* words, const uint32_t* places, uint32_t n,
                     uint8_t* out) {
#if FASTTREE_X86
    if (simd == SIMD_AVX512) return get_bits_avx512(words, places, n, out);
#endif
    for (uint32_t i = 0; i < n; ++i) out[i] = static_cast<uint8_t>(get_bit(words, places[i]));
}

// All features of a node, 16 at a time; `sides` is [feature, word].
inline void look_in_lanes(Simd simd, const float* X, ptrdiff_t row_stride, uint32_t n_features,
                          const uint32_t* rows, uint32_t n, uint64_t key, LaneDraws* draws,
                          uint64_t* sides) {
    std::vector<uint16_t> marks(n + WORD_BITS);
    uint16_t* left = marks.data();
    for (uint32_t first = 0; first < n_features; first += LANES, ++draws) {
        const uint32_t n_lanes = std::min(n_features - first, LANES);
        find_extremes(simd, X + first, row_stride, n_lanes, rows, n, *draws);
        draw_lanes(simd, key, first, n_lanes, *draws);
        mark_lanes(simd, X + first, row_stride, n_lanes, rows, n, *draws, left);
        for (uint32_t lane = 0; lane < n_lanes; ++lane, sides += n_words(n)) {
            take_lane_sides(simd, left, n, lane, sides);
        }
    }
}
// What a node of few rows finds in a feature, and in their targets.
struct RowLook {
    float low, high, top;
    uint64_t without_number, up_to, not_zero, spread;
    int64_t squares_left, squares_right, sum;
    uint64_t alike[64];
};
// Calls a function with the instruction set as a type.
template <class Use>
void with_simd(Simd simd, const Use& use) {
    if (simd == SIMD_AVX512) use(std::integral_constant<Simd, SIMD_AVX512>());
    else if (simd == SIMD_AVX2) use(std::integral_constant<Simd, SIMD_AVX2>());
    else use(std::integral_constant<Simd, SIMD_PORTABLE>());
}
inline uint32_t most_rows(Simd simd) {
    uint32_t most = 0;
    with_simd(simd, [&](auto of) { most = RowLanes<of.value>::ROWS; });
    return most;
}
// Of all rows, the numbers among some of them, and a threshold.
inline void look_at_rows(Simd simd, const float* cells, const uint8_t* classes,
                         const int64_t* items, uint64_t all_rows, uint64_t some_rows,
                         double threshold, RowLook& out) {
    with_simd(simd, [&](auto of) {
        using Lanes = RowLanes<of.value>;
        using Mask = typename Lanes::Mask;
        const Mask all = static_cast<Mask>(all_rows), rows = static_cast<Mask>(some_rows);
        const Mask without_number = Lanes::without_number(cells, rows);
        const Mask numbers = rows & ~without_number;
        out.without_number = without_number;
        const Extremes extremes = Lanes::extremes(cells, numbers, 0);
        out.low = extremes.low;
        out.high = extremes.high;
        out.top = Lanes::float_up_to(threshold);
        const Mask up_to = Lanes::up_to(cells, numbers, out.top);
        out.up_to = up_to;
        out.not_zero = Lanes::not_zero(classes, rows);
        Mask alike_rows[Lanes::ROWS];
        Lanes::alike(classes, all, alike_rows);
        std::copy_n(alike_rows, Lanes::ROWS, out.alike);
        AlikeRows<of.value> alike;
        alike.open(classes, all);
        alike.begin(rows);
        alike.sum_squares(up_to, rows & ~up_to, out.squares_left, out.squares_right);
        out.sum = Lanes::sum(items, rows);
        out.spread = Lanes::spread(static_cast<Mask>(0x5a5a5a5a5a5a5a5au), rows);
    });
}
template <class Item>
inline void pick_rows(Simd simd, const Item* items, uint64_t rows, Item* out) {
    with_simd(simd, [&](auto of) {
        using Lanes = RowLanes<of.value>;
        Lanes::pick(items, static_cast<typename Lanes::Mask>(rows), out);
    });
}

// Of some lanes those which leave so many rows on either side, and of these the best separations.
inline uint32_t best_lanes(Simd simd, const int64_t* left, const int32_t* n_left, int64_t total,
                           int32_t n, uint32_t lanes, uint32_t least, uint32_t& leaving) {
#if FASTTREE_X86
    leaving = leaving_rows(simd, lanes, n_left, static_cast<uint32_t>(n), least);
    return best_separations(simd, left, n_left, total, n, leaving);
#else
    return 0;
#endif
}

// What goes left in 16 lanes, of which n_lanes are features: rows of class 1, of each class, sums
// of targets, and the squared class counts on either side. Vectors of 32 bytes only.
struct LaneSums {
    int32_t ones[LANES];
    std::vector<int32_t> counts;  // [class, lane]
    int64_t sums[LANES], squares_left[LANES], squares_right[LANES];
};
inline void count_in_lanes(const uint8_t* classes, const int64_t* targets, uint32_t n,
                           const uint16_t* left, uint32_t n_lanes, uint32_t n_classes,
                           LaneSums& out) {
    out = {};
    out.counts.resize(size_t{n_classes} * LANES);
#if FASTTREE_X86
    std::vector<uint8_t> number(n_classes);
    std::vector<int32_t> totals(n_classes);
    for (uint32_t c = 0; c < n_classes; ++c) number[c] = static_cast<uint8_t>(c);
    for (uint32_t i = 0; i < n; ++i) ++totals[classes[i]];
    count_lane_ones_avx2(classes, n, left, n_lanes, out.ones);
    count_classes_avx2(classes, number.data(), n, left, n_lanes, out.counts.data());
    sum_targets_avx2(targets, n, left, n_lanes, out.sums);
    sum_squares_avx2(out.counts.data(), totals.data(), n_classes, n_lanes, out.squares_left,
                     out.squares_right);
#endif
}

inline void put_bits(bool with_writer, uint32_t* words, const uint32_t* places,
                     const uint8_t* bits, uint32_t n) {
    if (!with_writer) {
        for (uint32_t i = 0; i < n; ++i) put_bit(words, places[i], bits[i]);
        return;
    }
    BitWriter writer(words);
    for (uint32_t i = 0; i < n; ++i) writer.put(places[i], bits[i]);
}

// The nonzeros of a column in the rows that `here` has a bit of, sorted; returns their number.
inline uint32_t sorted_nonzeros(Simd simd, const SparseView& column, bool positive,
                                const uint32_t* here, uint32_t* entries) {
    NonzeroSorter sorter(simd);
    sorter.reserve(column.n);
    const uint32_t n = sorter.put_present(column, positive, here);
    sorter.write_sorted(n, entries);
    return n;
}

// What is listed of two nodes in turn: which features may hold a nonzero, whether every row has the
// same ones.
inline void present_features(const SparseData& data, const uint32_t* rows, uint32_t n_first,
                             uint32_t n, uint32_t n_looks, uint8_t* may_hold,
                             uint8_t* is_in_every) {
    RowFeatures row_features;
    row_features.fill_once(data);
    PresentFeatures present(row_features, data.n_features);
    const auto list = [&](const uint32_t* first, uint32_t size, uint8_t* held) {
        present.list(first, size, n_looks);
        for (uint32_t f = 0; f < data.n_features; ++f) held[f] = present.may_hold(f);
        *is_in_every++ = present.is_in_every_row();
    };
    list(rows, n_first, may_hold);
    list(rows + n_first, n - n_first, may_hold + data.n_features);
}

inline uint32_t partition_keys(Simd simd, const uint32_t* keys, uint32_t limit, uint32_t n,
                               uint32_t* rows, uint16_t* labels) {
    std::vector<uint32_t> right_rows(n + PADDING);
    std::vector<Label> right_labels(n + PADDING);
    return fasttree::partition_keys(simd, keys, limit, n, rows, labels,
                                    {right_rows.data(), right_labels.data()});
}

// The words of the leaves of rows in a packed tree.
inline void walk_block(Simd simd, const void* packed, uint32_t n_nodes, const float* x,
                       Py_ssize_t n_rows, Py_ssize_t n_cols, ptrdiff_t row_stride,
                       ptrdiff_t col_stride, uint32_t* words) {
    const WalkNode* nodes = static_cast<const WalkNode*>(packed);
    const DenseRows rows{x, n_cols, row_stride, col_stride, some_infinite};
    const size_t n_trees = static_cast<size_t>(n_cols) + 1;  // enough
    if (BlockWalker::pays(simd, n_rows, n_cols, n_trees)) {
        BlockWalker walker;
        walker.read(rows, x, n_rows);
        return walker.leaves(nodes, n_nodes, words);
    }
    walk_strided<false>(nodes, x, row_stride, col_stride, n_rows, kNothing, words);
}

// The same by keys of rows, as if the tree were the last of two in a forest.
inline void walk_by_row_keys(Simd simd, const void* packed, uint32_t n_nodes, const float* x,
                             Py_ssize_t n_rows, Py_ssize_t n_cols, ptrdiff_t row_stride,
                             ptrdiff_t col_stride, uint32_t* words) {
    const WalkNode* nodes = static_cast<const WalkNode*>(packed);
    const DenseRows rows{x, n_cols, row_stride, col_stride, some_infinite};
    std::vector<WalkNode> twice(nodes, nodes + n_nodes);
    twice.insert(twice.end(), nodes, nodes + n_nodes);
    const int64_t roots[] = {0, n_nodes, 2 * int64_t{n_nodes}};
    RowNodes made;
    RowKeys keys;
    made.make(twice.data(), roots, 2, n_cols,
              kind_of_matrix(x, n_rows, n_cols, row_stride, col_stride, 1), 1);
    keys.read(simd, rows, x, static_cast<uint32_t>(n_rows), made.layout());
    walk_rows_by_keys(simd, made.tree(roots, 1), n_nodes, keys, made.layout(),
                      static_cast<uint32_t>(n_rows), kNothing, words);
}

// The same, as rows walk through a single tree.
inline void walk_questions(Simd simd, const void* packed, uint32_t n_nodes, const float* x,
                           Py_ssize_t n_rows, Py_ssize_t n_cols, ptrdiff_t row_stride,
                           ptrdiff_t col_stride, uint32_t* words) {
    const WalkNode* nodes = static_cast<const WalkNode*>(packed);
    NumberRows rows{{x, n_cols, row_stride, col_stride, some_infinite}, n_nodes, INT32_MAX, simd,
                    nullptr, nullptr};
    QuestionBlocks blocks;
    if (rows.fit_blocks()) {
        std::vector<double> any(n_nodes);
        for (uint32_t i = 0; i < n_nodes; ++i) any[i] = nodes[i].child % 7;
        blocks = make_question_blocks(nodes, any);
        rows.blocks = &blocks;
    }
    RowNodes made;
    if (rows.keys_pay()) {
        rows.make_nodes(nodes, made);
        rows.made = &made;
    }
    NumberRows::Scratch scratch(rows);
    rows.leaves(nodes, 0, n_rows, scratch, words);
}

inline void question_exits(const void* packed, uint32_t n_nodes, const double* n_rows,
                           std::vector<uint32_t>& exits, std::vector<uint32_t>& first_exits) {
    const WalkNode* nodes = static_cast<const WalkNode*>(packed);
    QuestionBlocks made = make_question_blocks(nodes, {n_rows, n_rows + n_nodes});
    exits = std::move(made.exits);
    for (const QuestionBlock& block : made.blocks) first_exits.push_back(block.first_exit);
}

inline void rows_of_nodes(const void* packed, uint32_t n_nodes, const int64_t* n_samples,
                          double* out) {
    const WalkNode* nodes = static_cast<const WalkNode*>(packed);
    std::vector<NodeRecord> records(n_nodes);
    for (uint32_t i = 0; i < n_nodes; ++i) records[i].n_node_samples = n_samples[i];
    const std::vector<double> n_rows = fasttree::rows_of_nodes(nodes, n_nodes, records.data());
    std::copy(n_rows.begin(), n_rows.end(), out);
}

// The optimal search's kernels of an instruction set; null when not compiled in.
inline const optimal::Kernels* optimal_kernels(const std::string& simd) {
#if FASTTREE_X86
    if (simd == "avx512") return optimal::avx512_kernels();
    if (simd == "avx2") return optimal::avx2_kernels();
#endif
    return simd == "portable" ? optimal::portable_kernels() : nullptr;
}

}  // namespace fasttree::tests
