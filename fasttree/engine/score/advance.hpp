// Moving along a feature's runs to the next candidate worth scoring.
//
// `advance` adds entries[p], entries[p + 1], ... to the accumulator and stops at the first
// position, at most `last`, that is a boundary between runs and whose screened score may beat
// `best`; it returns that position, or last + 1. Screens err on the side of stopping, so the
// exact score alone decides, whatever the instruction set.
#pragma once
#include <algorithm>
#include <cstdint>

#include "engine/core/runs.hpp"
#include "engine/score/advance_avx2.hpp"
#include "engine/score/advance_avx512.hpp"
#include "engine/score/advance_portable.hpp"
#include "engine/score/advance_rough.hpp"
#include "engine/score/best_passed.hpp"
#include "engine/score/binary_gini.hpp"
#include "engine/score/regression.hpp"
#include "engine/score/screens.hpp"
#include "engine/simd/simd.hpp"

namespace fasttree {

template <class Acc>
inline uint32_t advance(Acc& acc, const uint32_t* entries, uint32_t p, uint32_t last, double best) {
    return advance_portable(acc, entries, p, last, best);
}
template <class Acc>
inline uint32_t advance(Acc& acc, const Runs& runs, uint32_t p, uint32_t last, double best) {
    return advance(acc, runs.entries, p, last, best);
}

// The same where all positions that beat `best` are admissible: those that are surely not the best
// of all may be passed over. Behind the last one the accumulator may be anywhere. `last` is lowered
// to a position that is known to be the best of all.
template <class Acc>
inline uint32_t advance_to_best(Acc& acc, const Runs& runs, uint32_t p, uint32_t& last,
                                double best) {
    return advance(acc, runs, p, last, best);
}

// Classes, as bits by row, that `advance` reads from entries that hold them; null if none.
template <class Acc>
inline const uint32_t* classes_of_entries(const Acc&) noexcept {
    return nullptr;
}

// Two classes. `to_best`: as `advance_to_best`.
template <bool to_best, class Weights>
inline uint32_t advance_one_by_one(BinaryGini<Weights>& acc, const uint32_t* entries, uint32_t p,
                                   uint32_t last, double best) {
    BestPassed top(acc, last, best);
    return to_best ? advance_to_best_portable(top, acc, entries, p, last)
                   : advance_portable(acc, entries, p, last, best);
}

#if FASTTREE_X86

// Vectors do not pay for fewer candidates.
constexpr uint32_t FEW_CANDIDATES = 4;

// The vectors for so many candidates.
template <class Acc>
inline Simd simd_for(const Acc& acc, uint32_t n_candidates) {
    return n_candidates > FEW_CANDIDATES && acc.w_total < EXACT_COUNT ? acc.t.simd : SIMD_PORTABLE;
}

// With the class of a row looked up, read from its entry, or in the record of its weight.
template <bool to_best>
inline uint32_t advance_by_row(BinaryGini<UnitWeights>& acc, const uint32_t* entries, uint32_t p,
                               uint32_t last, double best) {
    const Simd simd = simd_for(acc, last - p);
    if (simd == SIMD_AVX512) {
        const BitsByRow classes{entries, acc.t.class_bits};
        return advance_avx512<to_best>(acc, classes, p, last, best);
    }
    if (simd == SIMD_AVX2) {
        const ClassesByRowAvx2 classes{entries, acc.t.class_bits};
        return advance_avx2<to_best>(acc, classes, p, last, best);
    }
    return advance_one_by_one<to_best>(acc, entries, p, last, best);
}
template <bool to_best>
inline uint32_t advance_by_entry(BinaryGini<UnitWeights>& acc, const Runs& runs, uint32_t p,
                                 uint32_t last, double best) {
    const Simd simd = runs.has_classes ? simd_for(acc, last - p) : SIMD_PORTABLE;
    if (simd == SIMD_AVX512) {
        return advance_avx512<to_best>(acc, ClassesInEntries{runs.entries}, p, last, best);
    }
    if (simd == SIMD_AVX2) {
        return advance_avx2<to_best>(acc, ClassesInEntriesAvx2{runs.entries}, p, last, best);
    }
    return advance_by_row<to_best>(acc, runs.entries, p, last, best);
}
template <bool to_best>
inline uint32_t advance_by_record(BinaryGini<SampleWeights>& acc, const uint32_t* entries,
                                  uint32_t p, uint32_t last, double best) {
    const Simd simd = acc.t.records != nullptr ? simd_for(acc, last - p) : SIMD_PORTABLE;
    if (simd == SIMD_AVX512) return advance_avx512<to_best>(acc, entries, p, last, best);
    if (simd == SIMD_AVX2) return advance_avx2<to_best>(acc, entries, p, last, best);
    return advance_one_by_one<to_best>(acc, entries, p, last, best);
}
template <>
inline uint32_t advance(BinaryGini<UnitWeights>& acc, const uint32_t* entries, uint32_t p,
                        uint32_t last, double best) {
    return advance_by_row<false>(acc, entries, p, last, best);
}
template <>
inline uint32_t advance(BinaryGini<UnitWeights>& acc, const Runs& runs, uint32_t p, uint32_t last,
                        double best) {
    return advance_by_entry<false>(acc, runs, p, last, best);
}
template <>
inline const uint32_t* classes_of_entries(const BinaryGini<UnitWeights>& acc) noexcept {
    return acc.t.simd >= SIMD_AVX2 ? acc.t.class_bits : nullptr;
}
template <>
inline uint32_t advance(BinaryGini<SampleWeights>& acc, const uint32_t* entries, uint32_t p,
                        uint32_t last, double best) {
    return advance_by_record<false>(acc, entries, p, last, best);
}
template <class Weights>
inline uint32_t best_of_two_classes(BinaryGini<Weights>& acc, const Runs& runs, uint32_t p,
                                    uint32_t last, double best) {
    if constexpr (Weights::weighted) {
        return advance_by_record<true>(acc, runs.entries, p, last, best);
    } else {
        return advance_by_entry<true>(acc, runs, p, last, best);
    }
}

// Squared error, with vectors of both widths.
template <class Weights>
inline Simd simd_for_sums(const SquaredError<Weights, true>& acc, uint32_t n_candidates) {
    return acc.t.has_negative_weights ? SIMD_PORTABLE : simd_for(acc, n_candidates);
}
template <class Weights>
inline uint32_t advance_sum(SquaredError<Weights, true>& acc, const uint32_t* entries, uint32_t p,
                            uint32_t last, double best) {
    const Simd simd = simd_for_sums(acc, last - p);
    if (simd == SIMD_AVX512) return advance_avx512<false>(acc, entries, p, last, best);
    if (simd == SIMD_AVX2) return advance_avx2(acc, entries, p, last, best);
    return advance_portable(acc, entries, p, last, best);
}
template <>
inline uint32_t advance(SquaredError<SampleWeights, true>& acc, const uint32_t* entries,
                        uint32_t p, uint32_t last, double best) {
    return advance_sum(acc, entries, p, last, best);
}
template <>
inline uint32_t advance(SquaredError<UnitWeights, true>& acc, const uint32_t* entries, uint32_t p,
                        uint32_t last, double best) {
    return advance_sum(acc, entries, p, last, best);
}
template <class Weights>
inline uint32_t advance_to_best(SquaredError<Weights, true>& acc, const Runs& runs, uint32_t p,
                                uint32_t& last, double best) {
    if (acc.rough.has_node()) return advance_rough(acc, runs.entries, p, last, best);
    if (simd_for_sums(acc, last - p) != SIMD_AVX512) return advance(acc, runs, p, last, best);
    const uint32_t found = advance_avx512<true>(acc, runs.entries, p, last, best);
    last = std::min(last, found);
    return found;
}

template <>
inline uint32_t advance(Poisson<UnitWeights, true>& acc, const uint32_t* entries, uint32_t p,
                        uint32_t last, double best) {
    return simd_for(acc, last - p) == SIMD_AVX512
               ? advance_sums_avx512<false>(acc, entries, p, last, best)
               : advance_portable(acc, entries, p, last, best);
}

#else

template <class Weights>
inline uint32_t best_of_two_classes(BinaryGini<Weights>& acc, const Runs& runs, uint32_t p,
                                    uint32_t last, double best) {
    return advance_one_by_one<true>(acc, runs.entries, p, last, best);
}

#endif

template <class Weights>
inline uint32_t advance_to_best(BinaryGini<Weights>& acc, const Runs& runs, uint32_t p,
                                uint32_t& last, double best) {
    const uint32_t found = best_of_two_classes(acc, runs, p, last, best);
    last = std::min(last, found);
    return found;
}

}  // namespace fasttree
