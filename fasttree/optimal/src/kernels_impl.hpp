// The kernels of kernels.hpp, written once for any vector type.
//
// Included inside the namespace of one instruction set, after its Vec, transpose_octet and
// compress16, in a source file compiled for that set. Nothing from the standard library is
// instantiated here: the linker might hand such a copy to code that runs on older processors.

// Cost of the pair matrix, the term that dominates: F^2 * n / lanes steps of three instructions.
// Large sets count only the blocks on and above the diagonal, then mirror them.
template <class V, int R, int N>
inline void count_tile(const typename V::Counter* rows, const typename V::Counter* columns,
                       ptrdiff_t stride, const Step* steps, int n_steps,
                       typename V::Counter* out) {
    using Reg = typename V::Reg;
    Reg acc[R][N];
    for (int r = 0; r < R; ++r)
        for (int v = 0; v < N; ++v) acc[r][v] = V::zero();
    for (const Step* step = steps; step != steps + n_steps; ++step) {
        for (int doubling = 0; doubling < step->doublings; ++doubling)
            for (int r = 0; r < R; ++r)
                for (int v = 0; v < N; ++v) acc[r][v] = V::add(acc[r][v], acc[r][v]);
        const bool is_positive = step->sign > 0;
        for (ptrdiff_t chunk = step->begin; chunk < step->end; ++chunk) {
            Reg column[N];
            for (int v = 0; v < N; ++v)
                column[v] = V::load(columns + chunk * stride + v * V::kLanes);
            for (int r = 0; r < R; ++r) {
                const Reg row = V::set1(rows[chunk * stride + r]);
                for (int v = 0; v < N; ++v) {
                    const Reg both = V::popcount(V::bit_and(row, column[v]));
                    acc[r][v] = is_positive ? V::add(acc[r][v], both) : V::sub(acc[r][v], both);
                }
            }
        }
    }
    for (int r = 0; r < R; ++r)
        for (int v = 0; v < N; ++v) V::store(out + r * stride + v * V::kLanes, acc[r][v]);
}

template <class V>
inline void count_rows(const typename V::Counter* planes, ptrdiff_t stride, const Step* steps,
                       int n_steps, int i, int vector, int n_vectors,
                       typename V::Counter* matrix) {
    constexpr int R = V::kTileRows;
    constexpr int N = V::kTileVectors;
    constexpr int L = V::kLanes;
    auto* out = matrix + i * stride;
    for (; vector + N <= n_vectors; vector += N)
        count_tile<V, R, N>(planes + i, planes + vector * L, stride, steps, n_steps,
                            out + vector * L);
    const int left = n_vectors - vector;
    const auto* columns = planes + vector * L;
    out += vector * L;
    if (left == 3) count_tile<V, R, 3>(planes + i, columns, stride, steps, n_steps, out);
    if (left == 2) count_tile<V, R, 2>(planes + i, columns, stride, steps, n_steps, out);
    if (left == 1) count_tile<V, R, 1>(planes + i, columns, stride, steps, n_steps, out);
}

template <class V>
void count(const void* planes_, ptrdiff_t stride, const Step* steps, int n_steps, int first,
           int last, int n_features, void* matrix_) {
    using T = typename V::Counter;
    const T* planes = static_cast<const T*>(planes_);
    T* matrix = static_cast<T*>(matrix_);
    ptrdiff_t n_chunks = 0;
    for (int s = 0; s < n_steps; ++s) n_chunks += steps[s].end - steps[s].begin;
    // The diagonal vectors hold both orders of their pairs; the rest is mirrored where counting it
    // again would take longer.
    const bool with_mirror = n_chunks >= V::kMirrorChunks;
    const int n_vectors = (n_features + V::kLanes - 1) / V::kLanes;
    for (int i = first; i < last; i += V::kTileRows)
        count_rows<V>(planes, stride, steps, n_steps, i, with_mirror ? i / V::kLanes : 0,
                      n_vectors, matrix);
    if (!with_mirror) return;
    for (int i = first; i < last; i += 8)
        for (int j = (i / V::kLanes + 1) * V::kLanes; j < n_features; j += 8)
            transpose_block(matrix + i * stride + j, matrix + j * stride + i, stride);
}

template <class V>
void transpose(const uint64_t* rows, ptrdiff_t n_words, const uint32_t* entries, ptrdiff_t n,
               ptrdiff_t stride, void* planes_) {
    using T = typename V::Counter;
    constexpr int n_octets = sizeof(T);
    T* out = static_cast<T*>(planes_);
    alignas(64) uint8_t bytes[n_octets][64];
    alignas(64) uint64_t words[8];
    for (ptrdiff_t start = 0; start < n; start += 8 * n_octets, out += stride) {
        for (ptrdiff_t w = 0; w < n_words; ++w) {
            for (int octet = 0; octet < n_octets; ++octet) {
                const ptrdiff_t first = start + 8 * octet;
                for (int r = 0; r < 8; ++r)
                    words[r] = first + r < n ? rows[entries[first + r] * n_words + w] : 0;
                transpose_octet(words, bytes[octet]);
            }
            for (int f = 0; f < 64; ++f) {
                uint32_t counter = 0;
                for (int octet = 0; octet < n_octets; ++octet)
                    counter |= static_cast<uint32_t>(bytes[octet][f]) << (8 * octet);
                out[64 * w + f] = static_cast<T>(counter);
            }
        }
    }
}

template <class V>
ptrdiff_t select(const void* planes_, ptrdiff_t stride, int g, bool side, const uint32_t* entries,
                 ptrdiff_t n, uint32_t* out) {
    using T = typename V::Counter;
    constexpr int n_bits = 8 * sizeof(T);
    const T* column = static_cast<const T*>(planes_) + g;
    const uint32_t flip = side ? 0 : ~uint32_t{0};
    ptrdiff_t n_out = 0;
    for (ptrdiff_t start = 0; start < n; start += n_bits, column += stride) {
        uint32_t mask = static_cast<uint32_t>(*column) ^ flip;
        const ptrdiff_t left = n - start;
        const ptrdiff_t valid = left < n_bits ? left : n_bits;
        if (valid < 32) mask &= (uint32_t{1} << valid) - 1;
        n_out += compress16(entries + start, mask & 0xffff, out + n_out);
        if (n_bits > 16)
            n_out += compress16(entries + start + 16, mask >> 16, out + n_out);
    }
    return n_out;
}

// The counts of the set described: the matrix, or what is left of the minuend without it.
template <class V, bool kSub>
inline typename V::Reg load_counts(const typename V::Counter* matrix,
                                   const typename V::Counter* minuend, ptrdiff_t at) {
    const typename V::Reg counts = V::load(matrix + at);
    return kSub ? V::sub(V::load(minuend + at), counts) : counts;
}

template <class V, bool kSub>
inline void load_diagonal(const typename V::Counter* matrix, const typename V::Counter* minuend,
                          int n_features, ptrdiff_t stride, typename V::Counter* diagonal) {
    using T = typename V::Counter;
    for (int i = 0; i < n_features; ++i) {
        const ptrdiff_t at = i * (stride + 1);
        diagonal[i] = kSub ? static_cast<T>(minuend[at] - matrix[at]) : matrix[at];
    }
    for (ptrdiff_t i = n_features; i < stride; ++i) diagonal[i] = 0;
}

// What test i gains on both sides of roots j, or nothing where that leaves a leaf with less of a
// measure than it needs. `diagonal` is the measure of single features.
template <class V, bool kSub>
inline void demand_leaves(const Measure& measure, const typename V::Counter* diagonal, int i,
                          ptrdiff_t j, ptrdiff_t stride, typename V::Reg* absent,
                          typename V::Reg* present) {
    using T = typename V::Counter;
    using Reg = typename V::Reg;
    const Reg zero = V::zero();
    const Reg least = V::set1(static_cast<T>(measure.least));
    const Reg s_j = V::load(diagonal + j);
    const Reg s_0 = V::sub(V::set1(static_cast<T>(measure.total)), s_j);
    const Reg s_ij = load_counts<V, kSub>(static_cast<const T*>(measure.matrix),
                                          static_cast<const T*>(measure.minuend), i * stride + j);
    const Reg s_i0 = V::sub(V::set1(diagonal[i]), s_ij);
    *present = V::select_if_both(s_ij, V::sub(s_j, s_ij), least, *present, zero);
    *absent = V::select_if_both(s_i0, V::sub(s_0, s_i0), least, *absent, zero);
}

// Best gains of the two children of N * lanes roots j at once, all tests i swept in order.
//
// Two classes: with d the class difference, a stump that splits a side of difference s into a and
// s - a gains max(0, a) + max(0, s - a) = max(0, s, a, s - a), so the largest and the smallest a
// over all tests are all that is needed. Side j = 1 has a = d_ij, side j = 0 has a = d_ii - d_ij.
template <class V, int N, bool kSub, int kMeasures>
inline void best_stumps_two(const PairCounts& pc, const typename V::Counter* diagonal,
                            const typename V::Counter* measured, ptrdiff_t j,
                            typename V::Reg* absent, typename V::Reg* present) {
    using T = typename V::Counter;
    using Reg = typename V::Reg;
    const T* matrix = static_cast<const T*>(pc.matrix);
    const T* minuend = static_cast<const T*>(pc.minuend);
    Reg d_j[N], high[2][N], low[2][N];
    const Reg total = V::set1(static_cast<T>(pc.totals[0]));
    for (int v = 0; v < N; ++v) {
        d_j[v] = V::load(diagonal + j + v * V::kLanes);
        for (int side = 0; side < 2; ++side) high[side][v] = low[side][v] = V::zero();
    }
    for (int i = 0; i < pc.n_features; ++i) {
        const ptrdiff_t row = i * pc.stride + j;
        const Reg d_i = V::set1(diagonal[i]);
        for (int v = 0; v < N; ++v) {
            Reg a1 = load_counts<V, kSub>(matrix, minuend, row + v * V::kLanes);
            Reg a0 = V::sub(d_i, a1);
            for (int m = 0; m < kMeasures; ++m)
                demand_leaves<V, kSub>(pc.measures[m], measured + m * pc.stride, i,
                                       j + v * V::kLanes, pc.stride, &a0, &a1);
            high[1][v] = V::max(high[1][v], a1);
            low[1][v] = V::min(low[1][v], a1);
            high[0][v] = V::max(high[0][v], a0);
            low[0][v] = V::min(low[0][v], a0);
        }
    }
    for (int v = 0; v < N; ++v) {
        present[v] = V::max(high[1][v], V::sub(d_j[v], low[1][v]));
        absent[v] = V::max(high[0][v], V::sub(V::sub(total, d_j[v]), low[0][v]));
    }
}

// The same for any number of classes: the gain of a leaf is its largest class weight.
template <class V, bool kSub, int kMeasures>
inline void best_stumps_many(const PairCounts& pc, const typename V::Counter* diagonals,
                             const typename V::Counter* measured, ptrdiff_t j,
                             typename V::Reg* absent, typename V::Reg* present) {
    using T = typename V::Counter;
    using Reg = typename V::Reg;
    Reg best1 = V::zero(), best0 = V::zero();
    for (int c = 0; c < pc.n_matrices; ++c) {
        const Reg d_j = V::load(diagonals + c * pc.stride + j);
        best1 = V::max(best1, d_j);
        best0 = V::max(best0, V::sub(V::set1(static_cast<T>(pc.totals[c])), d_j));
    }
    for (int i = 0; i < pc.n_features; ++i) {
        const ptrdiff_t row = i * pc.stride + j;
        Reg n11 = V::zero(), n10 = V::zero(), n01 = V::zero(), n00 = V::zero();
        for (int c = 0; c < pc.n_matrices; ++c) {
            const T* matrix = static_cast<const T*>(pc.matrix) + c * pc.matrix_size;
            const T* minuend = static_cast<const T*>(pc.minuend) + (kSub ? c * pc.matrix_size : 0);
            const Reg d_j = V::load(diagonals + c * pc.stride + j);
            const Reg d_ij = load_counts<V, kSub>(matrix, minuend, row);
            const Reg d_i0 = V::sub(V::set1(diagonals[c * pc.stride + i]), d_ij);
            const Reg d_0 = V::sub(V::set1(static_cast<T>(pc.totals[c])), d_j);
            n11 = V::max(n11, d_ij);
            n10 = V::max(n10, V::sub(d_j, d_ij));
            n01 = V::max(n01, d_i0);
            n00 = V::max(n00, V::sub(d_0, d_i0));
        }
        Reg gain1 = V::add(n11, n10), gain0 = V::add(n01, n00);
        for (int m = 0; m < kMeasures; ++m)
            demand_leaves<V, kSub>(pc.measures[m], measured + m * pc.stride, i, j, pc.stride,
                                   &gain0, &gain1);
        best1 = V::max(best1, gain1);
        best0 = V::max(best0, gain0);
    }
    *present = best1;
    *absent = best0;
}

template <class V>
inline int32_t reduce_max(typename V::Reg a) {
    typename V::Counter lanes alignas(64)[V::kLanes];
    V::store(lanes, a);
    typename V::Counter best = lanes[0];
    for (int k = 1; k < V::kLanes; ++k) best = lanes[k] > best ? lanes[k] : best;
    return best;
}

// Running maxima over roots of the gains of trees with one, two and three inner nodes.
template <class V>
struct BestRoots {
    typename V::Reg best[4];

    // leaf0, leaf1: gains of the root's children as leaves; stump0, stump1: as stumps.
    void update(typename V::Reg leaf0, typename V::Reg leaf1, typename V::Reg stump0,
                typename V::Reg stump1) {
        best[1] = V::max(best[1], V::add(leaf0, leaf1));
        best[2] = V::max(best[2], V::max(V::add(leaf0, stump1), V::add(stump0, leaf1)));
        best[3] = V::max(best[3], V::add(stump0, stump1));
    }
};

template <class V>
inline void store_widened(typename V::Reg a, int32_t* out) {
    typename V::Counter lanes alignas(64)[V::kLanes];
    V::store(lanes, a);
    for (int k = 0; k < V::kLanes; ++k) out[k] = lanes[k];
}

template <class V, bool kSub, int kMeasures>
Gains evaluate_as(const PairCounts& pc, int32_t* absent_out, int32_t* present_out) {
    using T = typename V::Counter;
    using Reg = typename V::Reg;
    constexpr int L = V::kLanes;
    const bool is_two = pc.n_matrices == 1;
    T* diagonals = static_cast<T*>(pc.scratch);
    T* measured = diagonals + pc.n_matrices * pc.stride;
    for (int c = 0; c < pc.n_matrices; ++c)
        load_diagonal<V, kSub>(static_cast<const T*>(pc.matrix) + c * pc.matrix_size,
                               static_cast<const T*>(pc.minuend) + (kSub ? c * pc.matrix_size : 0),
                               pc.n_features, pc.stride, diagonals + c * pc.stride);
    for (int m = 0; m < kMeasures; ++m)
        load_diagonal<V, kSub>(static_cast<const T*>(pc.measures[m].matrix),
                               static_cast<const T*>(pc.measures[m].minuend), pc.n_features,
                               pc.stride, measured + m * pc.stride);
    BestRoots<V> roots;
    Gains gains;
    gains.of[0] = 0;
    for (int c = 0; c < pc.n_matrices; ++c)
        gains.of[0] = pc.totals[c] > gains.of[0] ? pc.totals[c] : gains.of[0];
    for (int n = 0; n < 4; ++n) roots.best[n] = V::set1(static_cast<T>(gains.of[0]));
    const Reg zero = V::zero();
    for (ptrdiff_t j = 0; j < pc.n_features;) {
        Reg absent[4], present[4];
        int width = 1;
        if (!is_two) {
            best_stumps_many<V, kSub, kMeasures>(pc, diagonals, measured, j, absent, present);
        } else if (V::kRootVectors >= 4 && j + 3 * L < pc.n_features) {
            best_stumps_two<V, 4, kSub, kMeasures>(pc, diagonals, measured, j, absent, present);
            width = 4;
        } else if (V::kRootVectors >= 2 && j + L < pc.n_features) {
            best_stumps_two<V, 2, kSub, kMeasures>(pc, diagonals, measured, j, absent, present);
            width = 2;
        } else {
            best_stumps_two<V, 1, kSub, kMeasures>(pc, diagonals, measured, j, absent, present);
        }
        for (int v = 0; v < width; ++v, j += L) {
            Reg leaf1 = zero, leaf0 = zero;
            for (int c = 0; c < pc.n_matrices; ++c) {
                const Reg d_j = V::load(diagonals + c * pc.stride + j);
                leaf1 = V::max(leaf1, d_j);
                leaf0 = V::max(leaf0, V::sub(V::set1(static_cast<T>(pc.totals[c])), d_j));
            }
            if (absent_out) store_widened<V>(absent[v], absent_out + j);
            if (present_out) store_widened<V>(present[v], present_out + j);
            for (int m = 0; m < kMeasures; ++m) {  // too small a child: no better than a leaf
                const Reg s_j = V::load(measured + m * pc.stride + j);
                const Reg s_0 = V::sub(V::set1(static_cast<T>(pc.measures[m].total)), s_j);
                const Reg least = V::set1(static_cast<T>(pc.measures[m].least));
                leaf0 = V::select_if_both(s_j, s_0, least, leaf0, zero);
                leaf1 = V::select_if_both(s_j, s_0, least, leaf1, zero);
                absent[v] = V::select_if_both(s_j, s_0, least, absent[v], zero);
                present[v] = V::select_if_both(s_j, s_0, least, present[v], zero);
            }
            roots.update(leaf0, leaf1, absent[v], present[v]);
        }
    }
    for (int n = 1; n < 4; ++n) {
        const int32_t best = reduce_max<V>(roots.best[n]);
        gains.of[n] = best > gains.of[n - 1] ? best : gains.of[n - 1];
    }
    return gains;
}

template <class V, int kMeasures>
Gains evaluate_measured(const PairCounts& pc, int32_t* absent, int32_t* present) {
    return pc.minuend ? evaluate_as<V, true, kMeasures>(pc, absent, present)
                      : evaluate_as<V, false, kMeasures>(pc, absent, present);
}

template <class V>
Gains evaluate(const PairCounts& pc, int32_t* absent, int32_t* present) {
    if (pc.n_measures == 0) return evaluate_measured<V, 0>(pc, absent, present);
    if (pc.n_measures == 1) return evaluate_measured<V, 1>(pc, absent, present);
    return evaluate_measured<V, 2>(pc, absent, present);
}

// Similarity: T(A) >= T(B) - weight of B outside A, for equal budgets. B is a sibling (X & h) or
// shares g with A among the parent's pairs (g & h), and T(B) - weight(B) + weight(A & B) needs
// one addition per candidate because rows hold the first two terms. `nested_only` keeps B that
// contain A, the only ones allowed when leaves have a minimum size or weight.
//
// Other threads may raise elements of the rows meanwhile, atomically. Vectors load them one by one
// as far as tearing goes, but no language rule says so: race detectors are told to look away.
#if defined(__GNUC__)
#define FASTTREE_READS_RACE __attribute__((no_sanitize("thread")))
#else
#define FASTTREE_READS_RACE
#endif
FASTTREE_READS_RACE
inline void bound_side(const int32_t* rows, const int32_t* weights, const int32_t* diagonal,
                       int32_t inside, bool is_present, int n_features, ptrdiff_t stride,
                       bool nested_only, int32_t* bound_) {
    int32_t bound = *bound_;
    const int32_t least = nested_only ? inside : 0;
    for (int h = 0; h < n_features; ++h) {
        const int32_t with = is_present ? weights[h] : diagonal[h] - weights[h];
        const int32_t without = inside - with;
        const int32_t a = with >= least ? rows[h] + with : 0;
        const int32_t b = without >= least ? rows[stride + h] + without : 0;
        const int32_t larger = a > b ? a : b;
        bound = larger > bound ? larger : bound;
    }
    *bound_ = bound;
}

FASTTREE_READS_RACE
inline void bound(const SlackRows& rows, const int32_t* weights, const int32_t* diagonal,
                  int32_t total, int g, int n_features, ptrdiff_t stride, bool nested_only,
                  int32_t* bounds) {
    const int32_t present = diagonal[g];
    for (int side = 0; side < 2; ++side) {
        const int32_t inside = side ? present : total - present;
        const int32_t* cousins = side ? rows.positive : rows.negative;
        if (rows.own)
            bound_side(rows.own, weights, diagonal, inside, side, n_features, stride, nested_only,
                       bounds + side);
        if (cousins)
            bound_side(cousins, weights, diagonal, inside, side, n_features, stride, nested_only,
                       bounds + side);
    }
}

template <class V>
void accumulate(const void* matrix_, int n_features, ptrdiff_t stride, int32_t factor,
                int32_t* out) {
    const auto* matrix = static_cast<const typename V::Counter*>(matrix_);
    for (int i = 0; i < n_features; ++i, matrix += stride, out += stride)
        for (int j = 0; j < n_features; ++j) out[j] += factor * matrix[j];
}

template <class V>
int32_t read(const void* matrix, ptrdiff_t at) {
    return static_cast<const typename V::Counter*>(matrix)[at];
}

template <class V>
constexpr Kernels make_kernels() {
    using T = typename V::Counter;
    Kernels k{};
    k.max_weight = sizeof(T) == 1 ? 127 : sizeof(T) == 2 ? 32767 : (1 << 30);
    k.chunk_size = 8 * sizeof(T);
    k.element_size = sizeof(T);
    k.transpose = transpose<V>;
    k.select = select<V>;
    k.count = count<V>;
    k.evaluate = evaluate<V>;
    k.accumulate = accumulate<V>;
    k.read = read<V>;
    k.bound = bound;
    return k;
}

static const Kernels kTable[3] = {make_kernels<Vec<int8_t>>(), make_kernels<Vec<int16_t>>(),
                                  make_kernels<Vec<int32_t>>()};
