// Room for arrays that may be large: not initialised, and in huge pages where the system has
// them, for a fault per 4 KiB costs more than filling the page.
#pragma once
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace fasttree {

template <class T>
class AlignedBuffer {
    static_assert(std::is_trivial_v<T>);
    struct Free {
        bool is_borrowed = false;
        void operator()(T* items) const {
            if (!is_borrowed) std::free(items);
        }
    };
    std::unique_ptr<T[], Free> items_;
    size_t size_ = 0;

public:
    AlignedBuffer() = default;
    explicit AlignedBuffer(size_t n) { reserve(n); }
    AlignedBuffer(AlignedBuffer&& other) noexcept
        : items_(std::move(other.items_)), size_(std::exchange(other.size_, 0)) {}
    AlignedBuffer& operator=(AlignedBuffer&& other) noexcept {
        items_ = std::move(other.items_);
        size_ = std::exchange(other.size_, 0);
        return *this;
    }

    // Room for n items; those there were are lost if it has to grow.
    T* reserve(size_t n) {
        if (n <= size_) return get();
        constexpr size_t CACHE_LINE = 64, HUGE_PAGE = size_t{1} << 21;
        const size_t n_bytes = n * sizeof(T);
        const size_t alignment = n_bytes < HUGE_PAGE ? CACHE_LINE : HUGE_PAGE;
        release();
        void* items = nullptr;
        if (posix_memalign(&items, alignment, n_bytes) != 0) throw std::bad_alloc();
        items_ = {static_cast<T*>(items), Free{}};
        size_ = n;
#if defined(MADV_HUGEPAGE)
        if (alignment == HUGE_PAGE) madvise(items, n_bytes, MADV_HUGEPAGE);
#endif
        return get();
    }
    // Refers to n items that somebody else keeps, and that nobody writes to.
    void borrow(const T* items, size_t n) noexcept {
        items_ = {const_cast<T*>(items), Free{true}};
        size_ = n;
    }
    void release() {
        items_.reset();
        size_ = 0;
    }
    T* get() const noexcept { return items_.get(); }
    T& operator[](size_t i) const { return items_[i]; }
};

}  // namespace fasttree
