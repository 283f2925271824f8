// A preloaded library that fails chosen allocations of watched modules, as if memory had run out.
//
// Watched is what the code of a module asks for itself or has the C++ library ask for: operator
// new, aligned or not, and the C functions. `new (std::nothrow)` is left alone: who asks that way
// has another way. Everyone else's allocations pass.
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <new>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>

namespace {

struct Range {
    uintptr_t begin, end;
};

constexpr int MAX_MODULES = 64, MAX_FRAMES = 16;
Range modules[MAX_MODULES], cpp_library;
int n_modules = 0;

std::atomic<bool> is_armed{false};
std::atomic<long> n_seen{0};
long first_failure = 0, last_failure = 0;
thread_local bool is_looking = false;  // looking at a stack may allocate

bool holds(const Range& range, void* address) {
    const auto at = reinterpret_cast<uintptr_t>(address);
    return range.begin <= at && at < range.end;
}

bool is_watched(void* address) {
    for (int i = 0; i < n_modules; ++i)
        if (holds(modules[i], address)) return true;
    return false;
}

// Whether the C++ library asks for memory on behalf of a watched module.
bool is_asked_by_watched() {
    void* frames[MAX_FRAMES];
    is_looking = true;
    const int n = backtrace(frames, MAX_FRAMES);
    is_looking = false;
    int i = 0;
    while (i < n && !holds(cpp_library, frames[i])) ++i;  // the frames of this library
    while (i < n && holds(cpp_library, frames[i])) ++i;
    return i < n && is_watched(frames[i]);
}

bool fails(void* caller) {
    if (!is_armed.load(std::memory_order_relaxed) || is_looking) return false;
    if (!is_watched(caller) && !(holds(cpp_library, caller) && is_asked_by_watched())) return false;
    const long n = ++n_seen;
    return first_failure <= n && n <= last_failure;
}

template <class Function>
Function next(const char* name) {
    return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

void* allocate(size_t n, size_t alignment, void* caller) {
    void* memory = nullptr;
    static const auto aligned = next<int (*)(void**, size_t, size_t)>("posix_memalign");
    if (fails(caller) || aligned(&memory, alignment, n) != 0) throw std::bad_alloc();
    return memory;
}

struct Search {
    const char* path;
    Range found;
};

int look_at(dl_phdr_info* object, size_t, void* data) {
    auto& search = *static_cast<Search*>(data);
    if (std::strcmp(object->dlpi_name, search.path) != 0) return 0;
    for (int i = 0; i < object->dlpi_phnum; ++i) {
        const auto& part = object->dlpi_phdr[i];
        if (part.p_type != PT_LOAD || !(part.p_flags & PF_X)) continue;
        const uintptr_t begin = object->dlpi_addr + part.p_vaddr;
        search.found = {begin, begin + part.p_memsz};
    }
    return 1;
}

Range code_of(const char* path) {
    Search search{path, {0, 0}};
    dl_iterate_phdr(look_at, &search);
    return search.found;
}

constexpr size_t USUAL = alignof(std::max_align_t);

}  // namespace

extern "C" {

// Watch a module that is loaded; false if there is none of that path.
bool shim_watch(const char* path) {
    Dl_info library;
    const std::bad_alloc known;  // of the C++ library
    if (dladdr(*reinterpret_cast<void* const* const*>(&known)[0], &library) != 0)
        cpp_library = code_of(library.dli_fname);
    void* frames[MAX_FRAMES];
    backtrace(frames, MAX_FRAMES);  // loads what it needs
    const Range code = code_of(path);
    if (code.begin == code.end || n_modules == MAX_MODULES) return false;
    modules[n_modules++] = code;
    return true;
}

// Count allocations from 1 on and fail those from `first` to `last`.
void shim_begin(long first, long last) {
    n_seen = 0;
    first_failure = first;
    last_failure = last;
    is_armed = true;
}

// Let all pass; returns how many were counted.
long shim_end() {
    is_armed = false;
    return n_seen;
}

void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);

void* malloc(size_t n) {
    if (fails(__builtin_return_address(0))) return nullptr;
    return __libc_malloc(n);
}
void* calloc(size_t n, size_t size) {
    if (fails(__builtin_return_address(0))) return nullptr;
    return __libc_calloc(n, size);
}
void* realloc(void* memory, size_t n) {
    if (fails(__builtin_return_address(0))) return nullptr;
    return __libc_realloc(memory, n);
}
int posix_memalign(void** memory, size_t alignment, size_t n) {
    static const auto real = next<int (*)(void**, size_t, size_t)>("posix_memalign");
    return fails(__builtin_return_address(0)) ? ENOMEM : real(memory, alignment, n);
}
void* aligned_alloc(size_t alignment, size_t n) {
    static const auto real = next<void* (*)(size_t, size_t)>("aligned_alloc");
    return fails(__builtin_return_address(0)) ? nullptr : real(alignment, n);
}

}  // extern "C"

void* operator new(size_t n) { return allocate(n, USUAL, __builtin_return_address(0)); }
void* operator new[](size_t n) { return allocate(n, USUAL, __builtin_return_address(0)); }
void* operator new(size_t n, std::align_val_t alignment) {
    return allocate(n, static_cast<size_t>(alignment), __builtin_return_address(0));
}
void* operator new[](size_t n, std::align_val_t alignment) {
    return allocate(n, static_cast<size_t>(alignment), __builtin_return_address(0));
}
void* operator new(size_t n, const std::nothrow_t&) noexcept { return __libc_malloc(n); }
void* operator new[](size_t n, const std::nothrow_t&) noexcept { return __libc_malloc(n); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }
