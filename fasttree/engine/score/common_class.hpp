// The class of nearly all rows of a large node. Where a bit per row says which rows are of it, 64
// of them are told apart from others at once.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "engine/core/class_targets.hpp"
#include "engine/core/entry_bits.hpp"
#include "engine/core/runs.hpp"
#include "engine/simd/bits.hpp"
#include "engine/simd/simd.hpp"

namespace fasttree {

class CommonClass {
    std::vector<uint32_t> bits_;  // by row of the fit: whether it is of the class marked last
    int class_ = -1, marked_ = -1;

public:
    // The class, or -1 if the node has none.
    int of_node() const noexcept { return class_; }

    void leave_node() noexcept { class_ = -1; }
    // A node of n rows with these class counts; y are the classes of all n_rows rows of the fit,
    // the same in all nodes.
    void begin_node(Simd simd, const std::vector<int64_t>& counts, int64_t n, const uint8_t* y,
                    uint32_t n_rows) {
        constexpr int64_t MANY = 1 << 12;   // rows: fewer are soon looked at
        constexpr int64_t OF_CLASS = 16;    // for a row of another one
        constexpr int64_t OF_FIT = 64;      // for a row of the node, or marking takes too long
        leave_node();
        if (n < MANY || n_rows / n > OF_FIT || simd != SIMD_AVX512) return;
        const auto most = std::max_element(counts.begin(), counts.end());
        if ((n - *most) * OF_CLASS > n) return;
        const int c = static_cast<int>(most - counts.begin());
        if (bits_.empty()) bits_ = make_bits(n_rows);
        if (marked_ != c) class_bits(simd, y, n_rows, static_cast<uint8_t>(c), bits_.data());
        class_ = marked_ = c;
    }

#if FASTTREE_X86
    // Of a node that has one: which rows of up to 64 entries are of it, as bits.
    FASTTREE_AVX512 uint64_t among(const uint32_t* entries, uint32_t n) const {
        return bits_of_64(BitsByRow{entries, bits_.data()}, 0, n);
    }
    // Adds the rows of each class to `counts`.
    FASTTREE_AVX512 void count(const uint32_t* entries, uint32_t n, const uint8_t* y,
                               int64_t* counts) const {
        int64_t n_common = 0;
        for (uint32_t i = 0; i < n; i += 64) {
            const uint32_t n_here = std::min(n - i, 64u);
            const uint64_t common = among(entries + i, n_here);
            n_common += __builtin_popcountll(common);
            for (uint64_t others = ~common & low_bits(n_here); others != 0; others &= others - 1) {
                ++counts[y[entries[i + static_cast<uint32_t>(lowest_bit(others))] & ROW]];
            }
        }
        counts[class_] += n_common;
    }
#endif
};

}  // namespace fasttree
