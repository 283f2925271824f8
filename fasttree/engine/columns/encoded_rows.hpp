// The rows of X that are encoded, ascending: some, or all of them, which take no memory.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace fasttree {

// Rows of a sample, of which none stand for all n rows of X.
inline std::vector<uint32_t> named_rows(std::vector<uint32_t> rows, uint32_t n) {
    constexpr uint32_t AT_ONCE = 1024;  // which are in the cache still when they get their numbers
    if (!rows.empty()) return rows;
    rows.reserve(n);
    for (uint32_t first = 0, last; first < n; first = last) {
        last = std::min(n, first + AT_ONCE);
        rows.resize(last);
        std::iota(rows.begin() + first, rows.end(), first);
    }
    return rows;
}

class EncodedRows {
    std::vector<uint32_t> some_;  // none: all
    const size_t n_all_;

public:
    explicit EncodedRows(size_t n_all) : n_all_(n_all) {}

    // Takes the rows of a sample, and gives back those it took.
    void swap(std::vector<uint32_t>& rows) noexcept { some_.swap(rows); }
    bool are_all() const noexcept { return some_.empty(); }
    size_t size() const noexcept { return some_.empty() ? n_all_ : some_.size(); }
    uint32_t operator[](size_t i) const noexcept {
        return some_.empty() ? static_cast<uint32_t>(i) : some_[i];
    }
    // Calls work(row_of) for a loop over places i, whose rows are row_of(i): it has no branch.
    template <class Work>
    auto visit(const Work& work) const {
        if (some_.empty()) return work([](size_t i) { return static_cast<uint32_t>(i); });
        return work([at = some_.data()](size_t i) { return at[i]; });
    }
    // Writes from(i, row) of the row at each place i in [start, stop) to to[row * stride].
    template <class Item, class From>
    void scatter(size_t start, size_t stop, Item* to, size_t stride, const From& from) const {
        visit([&](auto row_of) {
            for (size_t i = start; i < stop; ++i) {
                const uint32_t row = row_of(i);
                to[row * stride] = from(i, row);
            }
        });
    }
};

}  // namespace fasttree
