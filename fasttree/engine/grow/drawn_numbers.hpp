// A node's questions about numbers, a step at a time for all features that it looks at.
//
// In a node of some hundred rows each step of a look is short and waits for the one before: cells,
// extremes, threshold, sides, score. Here each is taken for all features before the next one, so
// that features do not wait for each other. Questions, scores and ties are those of
// `DrawnSplitterOf`.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/columns/dense.hpp"
#include "engine/columns/gathered_cells.hpp"
#include "engine/core/impurity.hpp"
#include "engine/core/sampler.hpp"
#include "engine/core/split.hpp"
#include "engine/grow/rules.hpp"
#include "engine/scan/drawn_question.hpp"
#include "engine/score/side_cells.hpp"
#include "engine/simd/float_up_to.hpp"
#include "engine/simd/sides.hpp"
#include "utils/_aligned_buffer.hpp"

namespace fasttree {

// Where there are no cells of sides, features are looked at one by one.
template <class Acc, bool = SideCells<Acc>::exists>
class DrawnNumbers {
public:
    static constexpr bool exists = false;
    void open(const DenseColumns&, Simd, uint32_t, const Acc&) {}
};

template <class Acc>
class DrawnNumbers<Acc, true> {
    static constexpr uint32_t MOST_ROWS = 256, MOST_LOOKS = 32;
    static constexpr uint32_t WORDS = MOST_ROWS / WORD_BITS;
    using Cell = typename Acc::Cell;
    struct Question {
        uint32_t feature, n_left;
        float low, high;  // in the node
        double threshold;
    };

    const DenseColumns* data_ = nullptr;
    Simd simd_ = SIMD_PORTABLE;
    bool is_possible_ = false;
    // Of the features that vary in the node, one after the other:
    uint32_t n_varying_ = 0;
    std::vector<Question> questions_;
    AlignedBuffer<float> cells_;     // of the rows
    AlignedBuffer<uint64_t> sides_;  // of the rows
    std::vector<Cell> left_;         // the cell of the rows on the left
    size_t cell_size_ = 0;

public:
    static constexpr bool exists = true;

    // For nodes that look at n_looked features.
    void open(const DenseColumns& data, Simd simd, uint32_t n_looked, const Acc& acc) {
        data_ = &data;
        simd_ = simd;
        is_possible_ = n_looked <= MOST_LOOKS
            && std::none_of(data.columns.begin(), data.columns.end(), [](const Column& column) {
                   return column.has_codes_of_rows() || column.has_categories();
               });
        if (!is_possible_) return;
        cell_size_ = acc.cell_size();
        questions_.resize(n_looked);
        cells_.reserve(n_looked * MOST_ROWS);
        sides_.reserve(n_looked * WORDS);
        left_.resize(n_looked * cell_size_);
    }
    bool takes(uint32_t n_rows) const { return is_possible_ && n_rows <= MOST_ROWS; }

    // Reads the features that the sampler names in the rows of a node. False if values are missing.
    bool read(KeyedSampler& sampler, const uint32_t* rows, Node& node) {
        uint32_t n_varying = 0, n_missing = 0;
        const uint32_t n_known = sampler.visit(node.key, node.n_known, [&](uint32_t f) {
            const Extremes extremes = gather_column(simd_, *data_, f, rows, node.size(),
                                                    cells_.get() + n_varying * MOST_ROWS);
            Question& own = questions_[n_varying];  // the next feature's if this one is constant
            own.feature = f;
            own.low = extremes.low;
            own.high = extremes.high;
            const bool varies = extremes.low != extremes.high;
            n_missing += extremes.n_missing;
            n_varying += varies;
            return varies;
        });
        if (n_missing > 0) return false;
        node.n_known = n_known;
        n_varying_ = n_varying;
        return true;
    }
    // Draws a question about each and finds the sides that it sends rows to.
    void ask(KeyedSampler& sampler, const Node& node) {
        for (uint32_t i = 0; i < n_varying_; ++i) {
            Question& own = questions_[i];
            own.threshold = draw_between(sampler, node.key, own.feature, own.low, own.high);
        }
        for (uint32_t i = 0; i < n_varying_; ++i) {
            Question& own = questions_[i];
            own.n_left = mark_sides(simd_, cells_.get() + i * MOST_ROWS, node.size(),
                                    float_up_to(own.threshold), false, sides_.get() + i * WORDS);
        }
    }
    // The best of those that leave enough rows on either side, or null. The accumulator holds the
    // node.
    const Question* find_best(const GrowthRules& rules, Acc& acc, SideCells<Acc>& side,
                              const Node& node, Candidate& best) {
        const uint32_t n = node.size(), leaf = rules.least_rows();
        for (uint32_t i = 0; i < n_varying_; ++i) {
            side.fill(acc, node.start, n, sides_.get() + i * WORDS, questions_[i].n_left,
                      left_.data() + i * cell_size_);
        }
        const Question* found = nullptr;
        best.score = MINUS_INFINITY;
        for (uint32_t i = 0; i < n_varying_; ++i) {
            const Question& own = questions_[i];
            acc.reset();
            acc.add_cell(left_.data() + i * cell_size_);
            const double score = acc.score();
            const bool is_possible = own.n_left >= leaf && n - own.n_left >= leaf;
            const bool is_best = is_possible
                && score > rules.ties.to_beat(best.score, found ? found->feature : NO_FEATURE,
                                              own.feature);
            found = is_best ? &own : found;
            best.score = is_best ? score : best.score;
        }
        if (found == nullptr) return nullptr;
        best.n_left = found->n_left;
        best.middle = 0.0;
        return found;
    }
    const uint64_t* sides(const Question* question) const {
        return sides_.get() + (question - questions_.data()) * WORDS;
    }
    const Cell* left(const Question* question) const {
        return left_.data() + static_cast<size_t>(question - questions_.data()) * cell_size_;
    }
};

}  // namespace fasttree
