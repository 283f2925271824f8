// Room for arrays that may be large: not initialised, and in huge pages where the system has
// them, for a fault per 4 KiB costs more than filling the page.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#if defined(__linux__)
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace fasttree {

constexpr size_t CACHE_LINE = 64;  // bytes

// n bytes and those that are left of the last line.
constexpr size_t whole_lines(size_t n) { return (n + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE; }

template <class T>
class AlignedBuffer {
    static_assert(std::is_trivial_v<T>);
    struct Free {
        void* block = nullptr;  // that holds the items; none: they are somebody else's
        void operator()(T*) const { std::free(block); }
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
        const size_t n_bytes = rounded(n * sizeof(T));
        release();
        if (n_bytes < HUGE_PAGE) {
            take(std::malloc(n_bytes + CACHE_LINE), CACHE_LINE);
        } else {
            void* block = nullptr;
            if (posix_memalign(&block, HUGE_PAGE, n_bytes) != 0) block = nullptr;
            take(block, 1);
#if defined(MADV_HUGEPAGE)
            madvise(block, n_bytes, MADV_HUGEPAGE);
#endif
        }
        size_ = n;
        return get();
    }
    // The same for n items that will all be written: their pages come in one call.
    T* reserve_filled(size_t n) {
        [[maybe_unused]] const bool grows = n > size_;
        reserve(n);
#if defined(MADV_POPULATE_WRITE)
        if (grows) {
            constexpr uintptr_t PAGE = 4096;
            const uintptr_t start = reinterpret_cast<uintptr_t>(get()) / PAGE * PAGE;
            const uintptr_t end = reinterpret_cast<uintptr_t>(get() + n) / PAGE * PAGE;
            madvise(reinterpret_cast<void*>(start), end - start, MADV_POPULATE_WRITE);
        }
#endif
        return get();
    }
    // Gives the system back the memory of items [first, last), which are lost, as far as they fill
    // pages; nothing of small blocks, whose pages would be missed by the next fit.
    void discard([[maybe_unused]] size_t first, [[maybe_unused]] size_t last) noexcept {
#if defined(__linux__)
        if (items_.get_deleter().block == nullptr || size_ * sizeof(T) < HUGE_PAGE) return;
        const uintptr_t page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
        const uintptr_t begin = reinterpret_cast<uintptr_t>(get() + first) + page - 1;
        const uintptr_t end = reinterpret_cast<uintptr_t>(get() + last) / page * page;
        const uintptr_t start = begin / page * page;
        if (start < end) madvise(reinterpret_cast<void*>(start), end - start, MADV_DONTNEED);
#endif
    }
    // Refers to n items that somebody else keeps, who says whether they may be written to.
    void borrow(const T* items, size_t n) noexcept {
        items_ = {const_cast<T*>(items), Free{}};
        size_ = n;
    }
    void release() {
        items_.reset();
        size_ = 0;
    }
    T* get() const noexcept { return items_.get(); }
    T& operator[](size_t i) const { return items_[i]; }

private:
    static constexpr size_t HUGE_PAGE = size_t{1} << 21;

    // What one fit gives back is to serve the next one, whose sample may be a little larger. Hence
    // small blocks are not aligned by the allocator either: it asks for more than it gives back. A
    // huge page that would nearly be filled is taken whole.
    static size_t rounded(size_t n_bytes) {
        constexpr size_t STEP = size_t{1} << 14, NEARLY = HUGE_PAGE / 16;
        if (n_bytes < 2 * STEP) return n_bytes;
        const size_t n_left = HUGE_PAGE - n_bytes % HUGE_PAGE;
        return n_left < NEARLY ? n_bytes + n_left : (n_bytes + STEP - 1) / STEP * STEP;
    }
    void take(void* block, size_t alignment) {
        if (block == nullptr) throw std::bad_alloc();
        const uintptr_t place = reinterpret_cast<uintptr_t>(block);
        const size_t skip = (alignment - place % alignment) % alignment;
        items_ = {reinterpret_cast<T*>(static_cast<char*>(block) + skip), Free{block}};
    }
};

}  // namespace fasttree
