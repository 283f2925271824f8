// The best threshold of a feature whose values in a node are given as keys (`core/keys.hpp`).
//
// Exact: where rows are counted by buckets of several values, a bound on what any threshold inside
// a bucket can score tells which buckets must be looked at value by value. Scores are the
// accumulator's, by the same expressions over the same whole numbers, and ties those of
// `core/ties.hpp`.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "engine/core/cost_model.hpp"
#include "engine/core/runs.hpp"
#include "engine/scan/key_bounds.hpp"
#include "engine/scan/key_kernels.hpp"
#include "engine/scan/key_scores.hpp"
#include "engine/scan/near_keys.hpp"
#include "engine/scan/small_tables.hpp"
#include "engine/score/binary_gini.hpp"
#include "engine/score/classification.hpp"
#include "engine/simd/sorting.hpp"
#include "utils/_aligned_buffer.hpp"

namespace fasttree {

// By default there is none: keys are sorted and passed over as runs.
template <class Acc>
struct KeyScan {
    static constexpr bool exists = false;
    explicit KeyScan(const Acc&) {}
};

// For criteria on the weights of classes.
template <class Score>
class ClassKeyScan {
    static constexpr uint32_t CLASSES = 256, WORDS = MAX_BUCKETS / 32;
    static constexpr uint32_t ROWS_AT_ONCE = 1 << 14;

    const Simd simd_;
    const NodeClasses* node_ = nullptr;
    const Label* labels_ = nullptr;
    uint32_t n_ = 0;
    Score score_{};
    uint8_t place_[CLASSES];             // of a class among the node's
    uint32_t weights_[MOST_COMPARED + KEY_PADDING];
    uint32_t left_[MOST_COMPARED + KEY_PADDING];
    LeftSums sums_;
    AlignedBuffer<uint32_t> counts_;     // prefix sums [class, COUNTS_BEFORE + bucket]
    size_t stride_ = 0;
    std::vector<double> inside_;         // class weights on the left
    SortBuffers buffers_;

public:
    using KeyScore = Score;

    explicit ClassKeyScan(Simd simd) : simd_(simd), inside_(CLASSES) {}

    // Takes a node, whose rows are in the order of their classes.
    void begin(const NodeClasses& node, const Label* labels, uint32_t n) {
        node_ = &node;
        labels_ = labels;
        n_ = n;
        score_ = {};
        score_.w = node.weight();
        if constexpr (Score::two_classes) {
            const ClassRows& last = classes().back();
            score_.t = last.label_class == 1 ? last.weight : 0.0;
        } else {
            for (size_t c = 0; c < classes().size(); ++c) {
                place_[classes()[c].label_class] = static_cast<uint8_t>(c);
            }
        }
        if (n > MOST_COMPARED) return;
        for (uint32_t i = 0; i < n; ++i) weights_[i] = label_weight(labels[i]);
    }

    // Whether keys of a feature are compared with each other, or rows counted by bucket.
    bool compares(uint32_t n_buckets) const {
        if (simd_ != SIMD_PORTABLE && has_small_table(n_buckets)) return false;
        return n_ <= MOST_COMPARED &&
               comparing_pays(n_, n_buckets, static_cast<uint32_t>(classes().size()));
    }
    // The best threshold of a feature, if it is better.
    void find(const Keys& k, BestKey& best) { compare_rows(k, best); }
    void find(const KeyBuckets& k, BestKey& best) {
#if FASTTREE_X86
        if (simd_ != SIMD_PORTABLE && k.are_values() && has_small_table(k.n_buckets)) {
            return best_of_small_avx2(score_, k, labels_, classes(), best);
        }
#endif
        count_buckets(k, best);
        if (!k.are_values()) look_inside(k, best);
    }

private:
    const std::vector<ClassRows>& classes() const { return node_->rows(); }
    bool has_small_table(uint32_t n_values) const {
        return n_values <= MOST_SMALL_VALUES && node_->weight() <= MOST_SMALL_WEIGHT;
    }

    void compare_rows(const Keys& k, BestKey& best) {
#if FASTTREE_X86
        if (simd_ == SIMD_AVX512 && n_ <= ROWS_OF_VECTOR) {
            return best_of_rows_avx512(score_, k.keys, n_, weights_, classes(), best);
        }
        if (simd_ == SIMD_AVX2 && n_ <= ROWS_OF_VECTOR) {
            return best_of_rows_avx2(score_, k.keys, n_, weights_, classes(), best);
        }
#endif
        sums_.begin(n_, node_->squares());
        for (const ClassRows& rows : classes()) {
            compare(simd_, k.keys, n_, weights_, rows, left_);
            add_class<Score::two_classes>(simd_, rows, left_, n_, sums_);
        }
        best_key(simd_, score_, sums_, k.keys, n_, best);
    }
    void count_buckets(const KeyBuckets& k, BestKey& best) {
        stride_ = COUNTS_BEFORE + (k.n_buckets + 15) / 16 * 16;
        uint32_t* counts = counts_.reserve(stride_ * classes().size() + COUNTS_BEFORE);
        std::fill_n(counts, stride_ * classes().size(), 0);
        sums_.begin(k.n_buckets, node_->squares());
        for (const ClassRows& rows : classes()) {
            uint32_t* own = counts + COUNTS_BEFORE;
            count_rows(simd_, k, labels_, rows, own);
            add_up(simd_, own, k.n_buckets);
            add_class<Score::two_classes>(simd_, rows, own, k.n_buckets, sums_);
            counts += stride_;
        }
        best_key(simd_, score_, sums_, k.last_keys, k.n_buckets, best);
    }

    // Thresholds inside buckets: of a few at a time, so that their rows take little room.
    void look_inside(const KeyBuckets& k, BestKey& best) {
        uint32_t is_open[WORDS] = {}, is_next[WORDS] = {};
        uint32_t n_next = 0;
        find_open(k.n_buckets, low_bar(best), is_open);
        for (uint32_t word = 0; word < WORDS; ++word) {
            for (uint32_t open = is_open[word]; open != 0; open &= open - 1) {
                const uint32_t bit = open & -open;
                const uint32_t bucket = word * 32 + static_cast<uint32_t>(__builtin_ctz(open));
                if (k.holds_one_key(bucket)) continue;
                const uint32_t most = most_rows(bucket);
                if (n_next + most > ROWS_AT_ONCE) {
                    scan_buckets(k, is_next, n_next, best);
                    std::fill_n(is_next, WORDS, 0);
                    n_next = 0;
                }
                is_next[word] |= bit;
                n_next += most;
            }
        }
        scan_buckets(k, is_next, n_next, best);
    }
    // At least as many as there are in a bucket: no row weighs less than 1.
    uint32_t most_rows(uint32_t bucket) {
        const double* weight = sums_.weight() + bucket;
        return std::min(n_, static_cast<uint32_t>(weight[0] - weight[-1]));
    }
    void scan_buckets(const KeyBuckets& k, const uint32_t* is_open, uint32_t most, BestKey& best) {
        if (most < 2) return;
        buffers_.reserve(most);
        const uint32_t n = take_open(simd_, k, is_open, buffers_.items.get());
        const uint64_t* items = sort_by_key(buffers_.items.get(), buffers_.scratch.get(), n);
        for (uint32_t first = 0, last; first < n; first = last) {
            const uint32_t bucket = k.buckets[payload_of(items[first])];
            last = first + 1;
            while (last < n && key_of(items[last]) <= k.last_keys[bucket]) ++last;
            if (key_of(items[first]) == key_of(items[last - 1])) continue;
            scan_bucket(bucket, items + first, last - first, best);
        }
    }
    void find_open(uint32_t n_buckets, double bar, uint32_t* is_open) {
        if constexpr (Score::two_classes) {
            open(simd_, score_, sums_, n_buckets, bar, is_open);
        } else {
            open(simd_, score_, sums_, classes(), counts_.get(), stride_, n_buckets, bar, is_open);
        }
    }
    void scan_bucket(uint32_t bucket, const uint64_t* items, uint32_t n, BestKey& best) {
        const int64_t before = int64_t{bucket} - 1;
        double wl = sums_.weight()[before];
        double first = sums_.first()[before], second = sums_.second()[before];
        if constexpr (!Score::two_classes) {
            for (size_t c = 0; c < classes().size(); ++c) {
                inside_[c] = counts_[c * stride_ + COUNTS_BEFORE + before];
            }
        }
        // Loop invariant: the sums are of the first p rows and all buckets before.
        for (uint32_t p = 0; p < n;) {
            const uint32_t key = key_of(items[p]);
            const Label label = labels_[payload_of(items[p])];
            const double weight = label_weight(label);
            wl += weight;
            if constexpr (Score::two_classes) {
                first += label_class(label) == 1 ? weight : 0.0;
            } else {
                const uint32_t c = place_[label_class(label)];
                const double l = inside_[c], r = classes()[c].weight - l;
                first += weight * (2.0 * l + weight);
                second -= weight * (2.0 * r - weight);
                inside_[c] = l + weight;
            }
            if (++p == n || key_of(items[p]) == key) continue;
            if (score_.may_beat(best.bar * SCREEN, wl, first, second)) {
                best.take(score_.score(wl, first, second), key);
            }
        }
    }
};

// Labels of rows, if all weights are small.
template <class Acc>
bool make_class_labels(const Acc& acc, const uint32_t* rows, uint32_t n, Label* labels) {
    constexpr int64_t MOST = int64_t{1} << 26;  // products of two sums are exact in doubles
    int64_t sum = 0;
    for (uint32_t i = 0; i < n; ++i) {
        const int64_t weight = acc.w[rows[i]];
        if (weight < 0 || weight > MAX_LABEL_WEIGHT) return false;
        sum += weight;
        labels[i] = static_cast<Label>(weight << LABEL_BITS | acc.y[rows[i]]);
    }
    return sum < MOST;
}

template <class Weights>
struct KeyScan<BinaryGini<Weights>> : ClassKeyScan<TwoClassScore> {
    using Acc = BinaryGini<Weights>;
    static constexpr bool exists = true;

    explicit KeyScan(const Acc& acc) : ClassKeyScan(acc.t.simd) {}
    void begin_node(Acc& acc, const NodeClasses& node, const Label* labels, uint32_t n) {
        begin(node, labels, n);
        const ClassRows& last = node.rows().back();
        acc.w_total = node.weight();
        acc.total = last.label_class == 1 ? last.weight : 0;
    }
};

template <class Weights>
struct KeyScan<Gini<Weights, uint8_t, true>> : ClassKeyScan<ClassScore> {
    using Acc = Gini<Weights, uint8_t, true>;
    static constexpr bool exists = true;

    explicit KeyScan(const Acc& acc) : ClassKeyScan(acc.t.simd) {}
    void begin_node(Acc& acc, const NodeClasses& node, const Label* labels, uint32_t n) {
        begin(node, labels, n);
        std::fill(acc.total.begin(), acc.total.end(), 0);
        acc.w_total = node.weight();
        acc.squares_total = 0;
        for (const ClassRows& rows : node.rows()) {
            const int64_t weight = rows.weight;
            acc.total[rows.label_class] = weight;
            acc.squares_total += weight * weight;
        }
    }
};

}  // namespace fasttree
