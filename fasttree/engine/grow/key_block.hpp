// Subtrees of up to 32 rows whose features are searched by keys, grown at once.
//
// Most nodes of a tree are this small, and what is done once per node costs more there than the
// look at its rows. Here a node is a mask of the block's rows, the keys of a feature are bytes that
// stay for the nodes below, and nothing is divided. Splits are those of `KeySplitterOf`.
#pragma once
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "engine/columns/dense.hpp"
#include "engine/core/impurity.hpp"
#include "engine/core/sampler.hpp"
#include "engine/core/split.hpp"
#include "engine/grow/frontier.hpp"
#include "engine/grow/nodes.hpp"
#include "engine/grow/rules.hpp"
#include "engine/scan/light_scan.hpp"
#include "engine/simd/avx2.hpp"
#include "engine/simd/sorting.hpp"
#include "utils/_aligned_buffer.hpp"

namespace fasttree {

#if FASTTREE_X86
// The rows of a block: what their classes weigh in a node, which is a mask of them.
class LightRows {
    uint32_t n_planes_ = 0, planes_[LABEL_BITS];  // the bits of the weights, as rows
    uint32_t alike_[LIGHT_ROWS];                  // of each row those of its class
    uint8_t classes_[LIGHT_ROWS];
    alignas(32) uint8_t weights_[LIGHT_ROWS];

public:
    // False if they weigh too much.
    FASTTREE_AVX2 bool open(const Label* labels, uint32_t n) {
        std::fill_n(weights_, LIGHT_ROWS, uint8_t{0});
        uint32_t sum = 0;
        for (uint32_t i = 0; i < n; ++i) {
            classes_[i] = static_cast<uint8_t>(label_class(labels[i]));
            weights_[i] = static_cast<uint8_t>(label_weight(labels[i]));
            sum += weights_[i];
        }
        if (sum > MOST_LIGHT_WEIGHT) return false;
        for (uint32_t begin = 0, end; begin < n; begin = end) {
            for (end = begin + 1; end < n && classes_[end] == classes_[begin]; ++end) {}
            const uint64_t alike = low_bits(end) & ~low_bits(begin);
            std::fill(alike_ + begin, alike_ + end, static_cast<uint32_t>(alike));
        }
        n_planes_ = 0;
        __m256i rest = weights();
        for (; !_mm256_testz_si256(rest, rest); ++n_planes_) {
            planes_[n_planes_] =
                static_cast<uint32_t>(_mm256_movemask_epi8(_mm256_slli_epi16(rest, 7)));
            rest = _mm256_and_si256(_mm256_srli_epi16(rest, 1), _mm256_set1_epi8(0x7f));
        }
        return true;
    }
    FASTTREE_AVX2 __m256i weights() const {
        return _mm256_load_si256(reinterpret_cast<const __m256i*>(weights_));
    }
    FASTTREE_AVX2 uint32_t weight(uint32_t rows) const {
        uint32_t sum = 0;
        for (uint32_t p = 0; p < n_planes_; ++p) {
            sum += static_cast<uint32_t>(__builtin_popcount(rows & planes_[p])) << p;
        }
        return sum;
    }
    // Calls for each class of some rows, ascending, with its number, rows and weight.
    template <class Visit>
    FASTTREE_AVX2 void visit_classes(uint32_t rows, const Visit& visit) const {
        while (rows != 0) {
            const uint32_t first = static_cast<uint32_t>(__builtin_ctz(rows));
            const uint32_t own = rows & alike_[first];
            visit(classes_[first], own, weight(own));
            rows ^= own;
        }
    }
};

template <class Score>
class KeyBlock {
    const DenseColumns* data_ = nullptr;
    double weight_unit_ = 1.0;
    Simd simd_ = SIMD_PORTABLE;
    bool is_possible_ = false;
    uint32_t rows_[LIGHT_ROWS];
    LightRows block_;
    // By feature, taken when a node first looks at it.
    AlignedBuffer<uint8_t> keys_;   // [feature, row]
    std::vector<uint64_t> held_;    // the block whose keys they are, and of which rows
    uint64_t n_blocks_ = 0;

    // The node that is searched.
    LightNode node_;
    Score score_{};
    double perfect_ = 0.0;                    // no split scores more
    uint32_t members_ = 0;                    // its rows
    alignas(32) uint8_t places_[LIGHT_ROWS];  // of these in the block, then copies of the first
    alignas(64) uint16_t node_keys_[2][LIGHT_ROWS];  // of a feature in these places
    uint16_t *here_ = node_keys_[0], *best_ = node_keys_[1];
    uint32_t limit_ = 0;                      // the largest key on the left of the best split

    struct Waiting {  // a node that is to be visited
        Node node;
        uint32_t parent;  // the node of which it is the right child, or NO_NODE
    };
    std::vector<Waiting> waiting_;
    Open open_;
    size_t n_values_ = 0;  // of a node

public:
    void open(const DenseColumns& data, Simd simd, double weight_unit, size_t n_values) {
        const size_t n_features = data.columns.size();
        data_ = &data;
        weight_unit_ = weight_unit;
        n_values_ = n_values;
        simd_ = simd;
        is_possible_ = simd != SIMD_PORTABLE
            && std::all_of(data.columns.begin(), data.columns.end(),
                           [](const Column& column) { return column.is_plain(); });
        if (!is_possible_) return;
        keys_.reserve(n_features * LIGHT_ROWS);
        held_.assign(n_features, 0);
    }
    bool takes(const GrowthRules& rules, const Node& node) const {
        return is_possible_ && node.size() <= LIGHT_ROWS && rules.least_rows() == 1
               && !rules.monotonic_cst && rules.min_weight_leaf <= 0.0;
    }

    // Grows all that is below node `root_id` of the store, whose rows and labels are given. False:
    // they weigh too much.
    FASTTREE_AVX2 bool grow(const GrowthRules& rules, KeyedSampler& sampler, const Node& root,
                            const uint32_t* rows, const Label* labels, uint32_t root_id,
                            NodesBelow& below) {
        if (!block_.open(labels, root.size())) return false;
        std::copy_n(rows, root.size(), rows_);
        ++n_blocks_;
        waiting_.clear();
        open_.node = root;
        open_.node.members = low_bits(root.size());
        split(rules, sampler, root_id, below);
        while (!waiting_.empty()) {
            Node& node = open_.node = waiting_.back().node;
            const uint32_t parent = waiting_.back().parent;
            waiting_.pop_back();
            double* const value = below.next_value();
            take_stats(static_cast<uint32_t>(node.members), node.stats, value);
            const uint32_t id = below.append(node.stats, node.size(), node.depth, value, parent);
            if (!rules.is_terminal(node)) split(rules, sampler, id, below);
        }
        return true;
    }

private:
    // Splits the node, if the rules accept it; its children are to be visited next.
    FASTTREE_AVX2 void split(const GrowthRules& rules, KeyedSampler& sampler, uint32_t id,
                             NodesBelow& below) {
        Node& node = open_.node;
        begin(node);
        if (!find(sampler, node)) return;
        divide(rules);
        if (!rules.accepts_all()) {
            double* const value = below.next_value();
            take_stats(static_cast<uint32_t>(open_.left.members), open_.left.stats, value);
            take_stats(static_cast<uint32_t>(open_.right.members), open_.right.stats, value);
            if (!rules.accepts(node.stats, open_.left.stats, open_.right.stats)) return;
        }
        below.split(id, open_.split);
        waiting_.push_back({open_.right, id});
        waiting_.push_back({open_.left, NodesBelow::NO_NODE});
    }
    FASTTREE_AVX2 void begin(const Node& node) {
        members_ = static_cast<uint32_t>(node.members);
        node_.n = node.size();
        uint32_t n = 0;
        for (uint32_t rest = members_; rest != 0; rest &= rest - 1) {
            places_[n++] = static_cast<uint8_t>(__builtin_ctz(rest));
        }
        for (; n % 16 != 0; ++n) places_[n] = places_[0];
        perfect_ = 0.0;
        if (node_.n == 2) return;
        pick(block_.weights(), node_.weights);
        node_.n_classes = node_.weight = 0;
        uint32_t end = 0;
        block_.visit_classes(members_, [&](uint32_t c, uint32_t rows, uint32_t weight) {
            const uint32_t begin = end;
            end += static_cast<uint32_t>(__builtin_popcount(rows));
            node_.classes[node_.n_classes++] = {c, begin, end, weight};
            node_.weight += weight;
        });
        score_.w = node_.weight;
        if constexpr (Score::two_classes) {
            score_.t = node_.classes[1].weight;
            perfect_ = score_.t * (score_.w - score_.t);
        } else {
            perfect_ = score_.w;
        }
    }
    // Widens the bytes of the node's rows, of those of all rows of the block.
    FASTTREE_AVX2 void pick(__m256i bytes, uint16_t* out) const {
        const __m128i low = _mm256_castsi256_si128(bytes);
        const __m128i high = _mm256_extracti128_si256(bytes, 1);
        for (uint32_t i = 0; i < node_.n; i += 16) {
            const __m128i at = _mm_load_si128(reinterpret_cast<const __m128i*>(places_ + i));
            const __m128i own = _mm_blendv_epi8(_mm_shuffle_epi8(low, at),
                                                _mm_shuffle_epi8(high, at), _mm_slli_epi16(at, 3));
            store_16(out + i, _mm256_cvtepu8_epi16(own));
        }
    }

    // The best split of the features that the sampler names.
    FASTTREE_AVX2 bool find(KeyedSampler& sampler, Node& node) {
        Split& best = open_.split;
        best.feature = NO_FEATURE;
        best.score = MINUS_INFINITY;
        sampler.begin(node.key, node.n_known);
        for (uint32_t f = sampler.next(); f != NO_FEATURE; f = sampler.next()) {
            // No higher feature can beat or tie-break a perfect split.
            if (best.score >= perfect_ && f > best.feature) continue;
            if (!look(f, best)) sampler.found_constant();
        }
        node.n_known = sampler.end();
        return best.feature != NO_FEATURE;
    }
    // False if the feature is constant in the node.
    FASTTREE_AVX2 bool look(uint32_t feature, Split& best) {
        pick(keys_of(feature), here_);
        if (are_alike()) return false;
        // Two rows are separated by any threshold in the same way.
        const LightBest found = node_.n == 2
            ? LightBest{perfect_, std::min<uint32_t>(here_[0], here_[1])}
            : best_of_light(simd_, score_, node_, here_);
        if (!is_better(found.score, feature, best.score, best.feature)) return true;
        best.score = found.score;
        best.feature = feature;
        limit_ = found.limit;
        std::swap(here_, best_);
        return true;
    }
    FASTTREE_AVX2 bool are_alike() const {
        const __m256i first = _mm256_set1_epi16(static_cast<short>(here_[0]));
        __m256i are = _mm256_cmpeq_epi16(load_16(here_), first);
        if (node_.n > 16) {
            are = _mm256_and_si256(are, _mm256_cmpeq_epi16(load_16(here_ + 16), first));
        }
        return _mm256_movemask_epi8(are) == -1;
    }

    // The keys of a feature, at least those of the node's rows.
    FASTTREE_AVX2 __m256i keys_of(uint32_t feature) {
        uint8_t* keys = keys_.get() + size_t{feature} * LIGHT_ROWS;
        const uint64_t wanted = n_blocks_ << LIGHT_ROWS | members_;
        uint64_t& held = held_[feature];
        if (held >> LIGHT_ROWS != n_blocks_) held = n_blocks_ << LIGHT_ROWS;
        if (wanted & ~held) {
            take_keys(data_->columns[feature], feature, keys);
            held |= wanted;
        }
        return _mm256_load_si256(reinterpret_cast<const __m256i*>(keys));
    }
    // Nodes below this one find them; those beside it take their own.
    FASTTREE_AVX2 void take_keys(const Column& column, uint32_t feature, uint8_t* out) {
        if (column.storage == BUCKETED) return take_ranks(feature, out);
        if (column.storage == BITS) {
            const BitRows bits = data_->bits.rows();
            for (uint32_t i = 0; i < node_.n; ++i) {
                out[places_[i]] = static_cast<uint8_t>(bits.bit(rows_[places_[i]], column.slot));
            }
            return;
        }
        const uint8_t* codes = column.narrow.get();
        for (uint32_t i = 0; i < node_.n; ++i) out[places_[i]] = codes[rows_[places_[i]]];
    }
    // Of a column of many values: how many of the node's rows have lower ones.
    FASTTREE_AVX2 void take_ranks(uint32_t feature, uint8_t* out) {
        const ColumnValues cells = data_->row_values_of(feature);
        uint32_t values[LIGHT_ROWS] = {}, ranks[LIGHT_ROWS];
        for (uint32_t i = 0; i < node_.n; ++i) values[i] = float_key(cells.of(rows_[places_[i]]));
        for (uint32_t i = 0; i < node_.n; i += 8) {
            const __m256i own = load_8(values + i);
            __m256i rank = _mm256_set1_epi32(static_cast<int>(node_.n));
            for (uint32_t j = 0; j < node_.n; ++j) {
                const __m256i other = _mm256_set1_epi32(static_cast<int>(values[j]));
                rank = _mm256_add_epi32(rank, are_at_most(own, other));
            }
            store_8(ranks + i, rank);
        }
        for (uint32_t i = 0; i < node_.n; ++i) out[places_[i]] = static_cast<uint8_t>(ranks[i]);
    }

    // Makes the children of the best split.
    FASTTREE_AVX2 void divide(const GrowthRules& rules) {
        const Node& node = open_.node;
        Split& split = open_.split;
        const __m256i keys = keys_of(split.feature);
        const uint32_t left = rows_up_to(keys, limit_), right = members_ & ~left;
        split.question = THRESHOLD;
        split.below = nullptr;
        split.n_left = static_cast<uint32_t>(__builtin_popcount(left));
        split.has_missing = false;
        split.missing_left = split.n_left > node.size() - split.n_left;
        split.threshold = threshold(split.feature, keys, lowest_right());
        rules.make_children(node, split, node.start + split.n_left, open_.left, open_.right);
        open_.left.members = left;
        open_.right.members = right;
    }
    FASTTREE_AVX2 uint32_t rows_up_to(__m256i keys, uint32_t limit) const {
        const __m256i bar = _mm256_set1_epi8(static_cast<char>(limit));
        const __m256i are_left = _mm256_cmpeq_epi8(_mm256_max_epu8(keys, bar), bar);
        return static_cast<uint32_t>(_mm256_movemask_epi8(are_left)) & members_;
    }
    // The lowest key on the right of the best split.
    FASTTREE_AVX2 uint32_t lowest_right() const {
        uint32_t lowest = NO_KEY;
        for (uint32_t i = 0; i < node_.n; ++i) {
            if (best_[i] > limit_) lowest = std::min<uint32_t>(lowest, best_[i]);
        }
        return lowest;
    }
    FASTTREE_AVX2 double threshold(uint32_t feature, __m256i keys, uint32_t above) const {
        const Column& column = data_->columns[feature];
        if (column.storage != BUCKETED) {
            return midpoint(column.values[limit_], column.values[above]);
        }
        return midpoint(value_of(feature, keys, limit_), value_of(feature, keys, above));
    }
    // The value of a key that a row of the node has.
    FASTTREE_AVX2 float value_of(uint32_t feature, __m256i keys, uint32_t key) const {
        const __m256i are = _mm256_cmpeq_epi8(keys, _mm256_set1_epi8(static_cast<char>(key)));
        const uint32_t rows = static_cast<uint32_t>(_mm256_movemask_epi8(are)) & members_;
        const ColumnValues cells = data_->row_values_of(feature);
        return key_cell(float_key(cells.of(rows_[__builtin_ctz(rows)])));
    }
    FASTTREE_AVX2 void take_stats(uint32_t rows, NodeStats& stats, double* value) const {
        const uint32_t weight = block_.weight(rows);
        uint32_t squares = 0, n_classes = 0;
        std::fill_n(value, n_values_, 0.0);
        block_.visit_classes(rows, [&](uint32_t c, uint32_t, uint32_t own) {
            squares += own * own;
            ++n_classes;
            value[c] = own / static_cast<double>(weight);
        });
        stats = {weight * weight_unit_, gini(squares, weight), n_classes == 1};
    }
};
#endif

}  // namespace fasttree
