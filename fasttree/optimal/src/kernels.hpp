// The per-sample work of the optimal-tree search, behind one table of function pointers per
// (instruction set, counter type).
//
// A *set* of samples is a list of entry indices grouped by plane. A plane holds the entries of one
// class whose weight has one given bit, so a weighted count is a sum of popcounts taken by
// Horner's rule: doubled, then added to or subtracted from, plane after plane.
//
// `planes` is the transposed bit matrix of a set: planes[chunk * stride + f] has bit r set when
// sample r of that chunk has feature f. A chunk holds as many samples as the counter type has
// bits, so popcounts of lanes add up in place, without widening or horizontal sums.
//
// A pair matrix holds, at [i * stride + j], the signed weight of the samples that have both
// features i and j; it is square and symmetric, its diagonal describes single features.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fasttree::optimal {

// Features are padded to a multiple of this, so that a row is whole vectors of any type.
constexpr int kFeatureBlock = 64;

constexpr int32_t kUnknown = -(1 << 30);

// One run of chunks of a counting programme: the accumulator is doubled `doublings` times, then
// the popcounts of chunks [begin, end) are added (sign > 0) or subtracted.
struct Step {
    int32_t begin, end;
    int32_t doublings;
    int32_t sign;
};

// Best gains of a depth-two tree, indexed by its number of inner nodes (0: leaf, ..., 3).
struct Gains {
    int32_t of[4];
};

// A measure of sets that every leaf needs enough of: the number of samples, or their weight.
struct Measure {
    const void* matrix;
    const void* minuend;  // the same subtraction as below
    int32_t total;        // of the set described
    int32_t least;        // of a leaf
};

constexpr int kMaxMeasures = 2;

// What `evaluate` reads. With two classes there is one matrix, of class 1 minus class 0, and the
// gain of a leaf is max(0, difference): errors = weight of class 1 - gain. With more classes there
// is one matrix each and the gain of a leaf is its largest class weight. `minuend`, if not null,
// asks for the set difference minuend - matrix (sibling subtraction), matrix by matrix.
struct PairCounts {
    const void* matrix;
    const void* minuend;
    const int32_t* totals;  // per matrix, of the set described (after subtraction)
    Measure measures[kMaxMeasures];
    int32_t n_measures;
    int32_t n_matrices;
    int32_t n_features;
    ptrdiff_t stride;       // elements per row
    ptrdiff_t matrix_size;  // elements per matrix
    void* scratch;          // (n_matrices + n_measures) * stride elements, for the diagonals
};

// Lower-bound rows in "slack" form: value minus weight of the set, positive literals first,
// negative ones `stride` later. Null rows are skipped.
struct SlackRows {
    const int32_t* own;       // sets X & h
    const int32_t* positive;  // sets g & h of the parent
    const int32_t* negative;  // sets !g & h of the parent
};

struct Kernels {
    int32_t max_weight;   // counters represent [-max_weight, max_weight]
    int32_t chunk_size;   // samples per chunk
    size_t element_size;  // bytes of a counter

    // Transpose `n` entries into ceil(n / chunk_size) chunks at `planes`.
    void (*transpose)(const uint64_t* rows, ptrdiff_t n_words, const uint32_t* entries, ptrdiff_t n,
                      ptrdiff_t stride, void* planes);
    // Entries of one plane on one side of feature g, in order; returns their number. `out` needs
    // room for 16 entries more.
    ptrdiff_t (*select)(const void* planes, ptrdiff_t stride, int g, bool side,
                        const uint32_t* entries, ptrdiff_t n, uint32_t* out);
    // Rows first .. last of the pair matrix of a set; first is a multiple of eight. Elements below
    // the diagonal may be those of rows not yet counted, so all rows have to be.
    void (*count)(const void* planes, ptrdiff_t stride, const Step* steps, int n_steps, int first,
                  int last, int n_features, void* matrix);
    // Gains of the best depth-two trees. `absent[g]` and `present[g]`, when not null, receive the
    // gain of the best stump (or leaf) on the samples without and with feature g.
    Gains (*evaluate)(const PairCounts& counts, int32_t* absent, int32_t* present);
    // out += factor * matrix, n_features rows and columns of both; padding is left alone.
    void (*accumulate)(const void* matrix, int n_features, ptrdiff_t stride, int32_t factor,
                       int32_t* out);
    // The element at position `at`.
    int32_t (*read)(const void* matrix, ptrdiff_t at);
    // Raise bounds[0] (samples without g) and bounds[1] (with g) to what similarity to other
    // sets proves. weights: row g of the weight matrix; diagonal: the weights of single features.
    void (*bound)(const SlackRows& rows, const int32_t* weights, const int32_t* diagonal,
                  int32_t total, int g, int n_features, ptrdiff_t stride, bool nested_only,
                  int32_t* bounds);
};

enum CounterType { kInt8 = 0, kInt16 = 1, kInt32 = 2 };

// Kernels for one instruction set, indexed by CounterType; null when not compiled in.
const Kernels* avx512_kernels();
const Kernels* avx2_kernels();
const Kernels* portable_kernels();

}  // namespace fasttree::optimal
