// Targets of one fit as the engine sees them: integers.
//
// Invariant: every statistic of a node is a sum of these integers, so it does not depend on
// the order of the rows, on threads, or on how a node's statistics were derived (sums, prefix
// sums, parent minus sibling). Sums of absolute values stay below 2**62.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/simd/simd.hpp"
#include "utils/_value.hpp"

namespace fasttree {

// What begin_node reports of a node.
struct NodeStats {
    double weight;    // sum of sample weights
    double impurity;
    bool pure;        // no split can improve it
};

// Sums over the targets of a node's rows, which ones is the accumulator's affair: those of the
// children add up to the node's. Empty if not known.
using Totals = std::vector<int64_t>;

// Those of rows that are counted in parts.
inline void add_totals(const Totals& part, Totals& sum) {
    sum.resize(part.size());
    for (size_t i = 0; i < part.size(); ++i) sum[i] += part[i];
}
// Those of a node without a part of its rows.
inline void subtract(const Totals& node, const Totals& part, Totals& rest) {
    rest.resize(node.size());
    for (size_t i = 0; i < node.size(); ++i) rest[i] = node[i] - part[i];
}

// Sums are taken over rows r and outputs k. Classification uses `classes`, regression uses
// `sums` (or `ranked`, absolute error) for the search and `y`, `w` for impurities and values.
struct Targets {
    uint32_t n_rows;
    int n_outputs;
    int max_n_classes;           // 1 in regression
    const int64_t* n_classes;    // [n_outputs], classification
    const void* classes;         // [n_rows * n_outputs], uint8 or uint32, classification
    const uint32_t* class_bits;  // bit per row: class 1 of two, one output
    const uint32_t* records;     // of each row, likewise: its weight and, shifted by RECORD_BITS,
                                 // that of class 1; null unless weights are small whole numbers
    const int64_t* weights;      // [n_rows] in units of weight_unit, or null: all 1
    double weight_unit;
    bool has_negative_weights;   // gini and squared error; nodes have positive sums of weights
    const double* y;             // [n_rows * n_outputs] as given or scaled, regression
    const double* w;             // [n_rows] as given or scaled, or null
    const int64_t* sums;         // [n_rows * n_outputs] weight * (y - centre) in units of sum_unit
    const int64_t* sum_records;  // [n_rows] sum, shifted by SUM_RECORD_BITS, plus weight; null
                                 // unless there is one output and both are small enough
    const double* sum_unit;      // [n_outputs]
    const float* rough;          // [n_rows * padded(n_outputs)] (sums - weight * rough_centre)
                                 // times sum_unit times rough_scale, a power of two; squared
                                 // error of many outputs unless weights are negative
    const float* rough_length;    // [n_rows] of the rows of `rough`
    const int64_t* rough_centre;  // [n_outputs]
    double rough_scale;
    const double* centre;        // [n_outputs]
    const double* log_counts;    // [-8 .. n_rows + 8] logarithms, padded; Poisson of one output
    const uint32_t* order_rank;  // [n_outputs * n_rows] rank of y, ties by row, absolute error
    const int64_t*
        levels;  // [n_outputs * n_rows] (y - centre) in units of sum_unit, absolute error
    Simd simd;
    bool replay;                 // scikit-learn's impurity formulas, see ties.hpp
};
static_assert(is_value<Targets>);

// Outputs of a vector; where vectors take all outputs of a row, zeros fill the last.
constexpr int OUTPUT_LANES = 8;
constexpr size_t padded(int n_outputs) noexcept {
    return static_cast<size_t>(n_outputs + OUTPUT_LANES - 1) / OUTPUT_LANES * OUTPUT_LANES;
}

// Half of a record holds the sum of 16 weights below MAX_RECORD_WEIGHT.
constexpr int RECORD_BITS = 16;
constexpr int64_t MAX_RECORD_WEIGHT = 1 << 12;
// Sums of 8 of those of regression fit, too: of weights the low bits, of sums the others.
constexpr int SUM_RECORD_BITS = 8;
constexpr int64_t MAX_SUM_RECORD_WEIGHT = 1 << 5, MAX_RECORD_SUM = int64_t{1} << 52;

// Weight policies: the unweighted loops carry no weight array.
struct UnitWeights {
    static constexpr bool weighted = false;
    explicit UnitWeights(const Targets&) {}
    int64_t operator[](uint32_t) const { return 1; }
};

struct SampleWeights {
    static constexpr bool weighted = true;
    const int64_t* w;
    explicit SampleWeights(const Targets& t) : w(t.weights) {}
    int64_t operator[](uint32_t row) const { return w[row]; }
};

}  // namespace fasttree
