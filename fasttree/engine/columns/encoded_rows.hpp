// Rows of X: of samples, and those that are encoded, some, or all of them, which take no memory.
#pragma once
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>

#include "utils/_aligned_buffer.hpp"
#include "utils/_crew.hpp"
#include "utils/_value.hpp"

namespace fasttree {

// Numbers of rows of X, in memory that has no values at first.
class Rows {
    AlignedBuffer<uint32_t> items_;
    size_t size_ = 0;

public:
    Rows() = default;
    Rows(Rows&& other) noexcept
        : items_(std::move(other.items_)), size_(std::exchange(other.size_, 0)) {}
    Rows& operator=(Rows&& other) noexcept {
        items_ = std::move(other.items_);
        size_ = std::exchange(other.size_, 0);
        return *this;
    }

    // Those there were are lost if there are to be more.
    void resize(size_t n) {
        items_.reserve(n);
        size_ = n;
    }
    bool empty() const noexcept { return size_ == 0; }
    size_t size() const noexcept { return size_; }
    uint32_t* data() const noexcept { return items_.get(); }
    uint32_t* begin() const noexcept { return data(); }
    uint32_t* end() const noexcept { return data() + size_; }
    uint32_t& operator[](size_t i) const noexcept { return items_[i]; }
};
static_assert(is_value<Rows>);

// The rows of a sample, ascending. If none are named these are all n rows of X, which threads list.
inline Rows named_rows(Rows rows, uint32_t n, Crew& crew) {
    constexpr ptrdiff_t AT_ONCE = 1 << 16;
    if (!rows.empty()) return rows;
    rows.resize(n);
    crew.share_out(0, n, AT_ONCE, [&](int, ptrdiff_t first, ptrdiff_t last) {
        std::iota(rows.begin() + first, rows.begin() + last, static_cast<uint32_t>(first));
    });
    return rows;
}

class EncodedRows {
    Rows some_;  // none: all
    const size_t n_all_;

public:
    explicit EncodedRows(size_t n_all) : n_all_(n_all) {}

    // Takes the rows of a sample, and gives back those it took.
    void swap(Rows& rows) noexcept { std::swap(some_, rows); }
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
