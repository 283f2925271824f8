// Prediction through splits on categories: the sides of category cells, and the walk that asks for
// them.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "engine/predict/block_walk.hpp"
#include "utils/_cell.hpp"

namespace fasttree {

// What `walk_strided` asks at a node. A packed node that splits on categories has the feature
// -2 - (its column), and in place of a threshold the number of its test.
class CategorySides {
    // Whether a category is listed: a bit per category where that takes no more room than the list,
    // else a search. O(log n) at most.
    struct Test {
        const uint32_t* codes;       // [n_codes] ascending
        size_t n_codes;
        std::vector<uint64_t> bits;  // or empty
        bool listed_left;

        bool is_listed(uint32_t category) const {
            if (category / 64 < bits.size()) return bits[category / 64] >> category % 64 & 1;
            return bits.empty() && std::binary_search(codes, codes + n_codes, category);
        }
    };
    std::vector<uint32_t> codes_;
    std::vector<Test> tests_;

public:
    // Test i lists codes[offsets[i]:offsets[i + 1]], ascending.
    CategorySides(const int64_t* offsets, size_t n_tests, const uint32_t* codes,
               const uint8_t* listed_left)
        : codes_(codes, codes + offsets[n_tests]) {
        for (size_t i = 0; i < n_tests; ++i) {
            const size_t n = static_cast<size_t>(offsets[i + 1] - offsets[i]);
            Test test{codes_.data() + offsets[i], n, {}, listed_left[i] != 0};
            const size_t n_words = n > 0 ? test.codes[n - 1] / 64 + 1 : 0;
            if (2 * n_words <= std::max<size_t>(n, 8)) {
                test.bits.resize(n_words);
                for (size_t j = 0; j < n; ++j) {
                    test.bits[test.codes[j] / 64] |= uint64_t{1} << test.codes[j] % 64;
                }
            }
            tests_.push_back(std::move(test));
        }
    }
    CategorySides(const CategorySides&) = delete;

    // Tells the packed copy of `nodes` which of them split on categories: nodes[ids[i]] by test i.
    void mark(const NodeRecord* nodes, Py_ssize_t n_nodes, const int64_t* ids,
              std::vector<WalkNode>& packed) const {
        constexpr uint32_t NO_TEST = 0xffffffffu;
        std::vector<uint32_t> test_of(static_cast<size_t>(n_nodes), NO_TEST);
        for (size_t i = 0; i < tests_.size(); ++i) test_of[ids[i]] = static_cast<uint32_t>(i);
        std::vector<std::pair<Py_ssize_t, uint32_t>> stack{{0, 0}};  // node id, packed index
        while (!stack.empty()) {
            const auto [id, at] = stack.back();
            stack.pop_back();
            if (nodes[id].left_child < 0) continue;
            const bool is_flipped = packed[at].child & WalkNode::kFlip;
            const uint32_t first = packed[at].child & ~WalkNode::kFlip;
            stack.push_back({nodes[id].right_child, first + !is_flipped});
            stack.push_back({nodes[id].left_child, first + is_flipped});
            if (test_of[id] == NO_TEST) continue;
            packed[at].feature = -2 - packed[at].feature;
            packed[at].threshold = float_of_bits(test_of[id]);
        }
    }

    static bool is_leaf(const WalkNode& node) { return node.feature == -1; }
    static int32_t feature(const WalkNode& node) {
        return node.feature >= 0 ? node.feature : -2 - node.feature;
    }
    // Missing values take the second child, as everywhere; numbers go right.
    uint32_t next(const WalkNode& node, float cell) const {
        if (node.feature >= 0) return next_node(node, cell);
        const bool is_flipped = node.child & WalkNode::kFlip;
        const uint32_t category = category_of(cell);
        bool is_left = is_flipped && cell != cell;
        if (category != NO_CATEGORY) {
            const Test& test = tests_[float_bits(node.threshold)];
            is_left = test.is_listed(category) == test.listed_left;
        }
        return (node.child & ~WalkNode::kFlip) + (is_left == is_flipped);
    }
};

// Rows of a dense matrix with category cells.
struct CategoryRows : NumberRows {
    const CategorySides* sides;

    struct Scratch {
        explicit Scratch(const CategoryRows&) {}
    };

    WalkStatus leaves(const WalkNode* nodes, Py_ssize_t start, Py_ssize_t n_rows, Scratch&,
                      uint32_t* out) const {
        const float* first = x + start * row_stride;
        if (!accepts(first, n_rows)) return WalkStatus::refused_values;
        walk_strided<false>(nodes, first, row_stride, col_stride, n_rows, kNothing, out, *sides);
        return WalkStatus::done;
    }
};
static_assert(is_value<DenseRows> && is_value<CategoryRows>);

}  // namespace fasttree
