// The random splitter's question about a column with categories, keyed like its other draws.
//
// All numbers together and each category are equally likely to be asked about: the one whose hash
// is smallest is, which needs neither a list of the node's categories nor an order of its rows.
// O(n).
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "engine/core/split.hpp"
#include "utils/_random.hpp"

namespace fasttree {

class CategoryDraw {
    // Groups of cells; category c is CATEGORIES + c.
    enum : uint32_t { NUMBERS, MISSING, CATEGORIES, NONE = 0xffffffffu };

    const float* cells_;
    const uint32_t n_;
    const uint64_t key_;
    uint32_t drawn_ = NONE, next_ = NONE;  // next_: another category of the node, drawn likewise
    bool numbers_vary_ = false;

    static uint32_t category(float cell) {
        const uint32_t category = category_of(cell);
        if (category != NO_CATEGORY) return CATEGORIES + category;
        return cell == cell ? NUMBERS : MISSING;
    }
    // Missing values come last: nobody asks for them.
    bool precedes(uint32_t a, uint32_t b) const {
        if (b == NONE || b == MISSING) return a != MISSING;
        return a != MISSING && mix(key_, a) < mix(key_, b);
    }

public:
    CategoryDraw(const float* cells, uint32_t n, uint64_t key) : cells_(cells), n_(n), key_(key) {
        float first = std::numeric_limits<float>::quiet_NaN();
        for (uint32_t i = 0; i < n; ++i) {
            const float cell = cells[i];
            const uint32_t c = category(cell);
            if (c == NUMBERS) {
                if (first != first) first = cell;
                numbers_vary_ |= cell != first;
            }
            if (c == drawn_ || c == next_) continue;
            if (drawn_ == NONE || precedes(c, drawn_)) {
                next_ = drawn_;
                drawn_ = c;
            } else if (next_ == NONE || precedes(c, next_)) {
                next_ = c;
            }
        }
    }
    bool is_constant() const noexcept { return next_ == NONE && !numbers_vary_; }
    bool is_about_categories() const noexcept { return drawn_ != NUMBERS; }
    bool numbers_vary() const noexcept { return numbers_vary_; }

    // The category against the rest, or a random set with it and without another category.
    void ask(bool category_sets, Split& split) const {
        split.question = category_sets ? CATEGORY_SET : CATEGORY;
        split.threshold = -std::numeric_limits<double>::infinity();
        split.has_missing = false;
        std::vector<uint32_t> left, right;
        uint32_t n_left = 0;
        for (uint32_t i = 0; i < n_; ++i) {
            const uint32_t c = category(cells_[i]);
            const bool is_left = goes_left(c, category_sets);
            n_left += is_left;
            split.has_missing |= c == MISSING;
            if (c >= CATEGORIES) (is_left ? left : right).push_back(c - CATEGORIES);
        }
        split.missing_left = n_left > n_ - n_left;
        if (split.has_missing) split.missing_left = goes_left(MISSING, category_sets);
        split.categories.listed_left = !(category_sets && split.missing_left);
        split.categories.codes = split.categories.listed_left ? left : right;
        std::sort(split.categories.codes.begin(), split.categories.codes.end());
        split.categories.codes.erase(
            std::unique(split.categories.codes.begin(), split.categories.codes.end()),
            split.categories.codes.end());
    }

private:
    bool goes_left(uint32_t c, bool category_sets) const {
        if (c == drawn_ || c == next_ || c == NUMBERS || !category_sets) return c == drawn_;
        return mix(mix(key_, c), 1) & 1;
    }
};

}  // namespace fasttree
