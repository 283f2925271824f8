// Memory for small arrays that last, of many trees, in blocks that are huge pages where the system
// has them: see `AlignedBuffer`. A block lasts as long as one of its arrays.
#pragma once
#include <cstddef>
#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>

#include "utils/_aligned_buffer.hpp"
#include "utils/_value.hpp"

namespace fasttree {

class SharedBlocks {
    using Block = AlignedBuffer<char>;
    // What is not used of a block is never touched, and what is given back returns to the system.
    static constexpr size_t BLOCK = size_t{1} << 25, LARGE = BLOCK / 4;
    static constexpr size_t FEW = size_t{1} << 23;  // bytes in all that are not worth a huge page
    // Of an array, worth a call for all of its pages; of a large one those who write take them.
    static constexpr size_t PAGES = size_t{1} << 15;
    std::mutex mutex_;
    std::shared_ptr<Block> block_;
    size_t n_used_ = 0;   // bytes of the block
    size_t n_taken_ = 0;  // bytes of all arrays

public:
    // An array of n items, not initialised; not null if there are none. Threads may call it.
    template <class T>
    std::shared_ptr<T[]> take(size_t n) {
        static_assert(std::is_trivially_default_constructible_v<T>
                      && std::is_trivially_destructible_v<T>);
        return take_bytes<T>(n * sizeof(T) / CACHE_LINE * CACHE_LINE + CACHE_LINE);
    }

private:
    template <class T>
    std::shared_ptr<T[]> take_bytes(size_t n_bytes) {
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            n_taken_ += n_bytes;
            if (n_taken_ >= FEW && n_bytes < LARGE) {
                const size_t start = take_part(n_bytes);
                return array_of<T>(block_, start);
            }
        }
        const auto own = std::make_shared<Block>();
        if (n_bytes >= PAGES && n_bytes < LARGE) own->reserve_filled(n_bytes);
        else own->reserve(n_bytes);
        return array_of<T>(own, 0);
    }
    // Where a part of the block begins.
    size_t take_part(size_t n_bytes) {
        if (block_ == nullptr || n_bytes > BLOCK - n_used_) {
            block_ = std::make_shared<Block>(BLOCK);
            n_used_ = 0;
        }
        return std::exchange(n_used_, n_used_ + n_bytes);
    }
    template <class T>
    static std::shared_ptr<T[]> array_of(const std::shared_ptr<Block>& block, size_t start) {
        return {block, reinterpret_cast<T*>(block->get() + start)};
    }
};
static_assert(is_value<SharedBlocks>);

}  // namespace fasttree
