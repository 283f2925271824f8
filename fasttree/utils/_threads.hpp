// Threads, by one convention in trees, forests and optimal trees.
//
// They are OpenMP's: `effective_n_threads` (_threads.pyx) says how many, the only place that
// knows the limits of OpenMP, threadpoolctl and joblib, and that a forked child must not start any.
// Loops in C++ go through `on_threads` and `share_out`, loops in Cython through `prange` and
// `parallel`; while a tree grows, both go through `Crew` (_crew.hpp). They treat errors alike: the
// first exception is raised again by the caller once all threads are done. The calling thread
// looks for signals, also while it waits (_interrupt.hpp).
#pragma once
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <vector>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "utils/_interrupt.hpp"

namespace fasttree {

// Parts that a thread has of long work: one that is slower leaves some to others.
constexpr uint32_t PARTS_OF_A_THREAD = 4;

// Where one of n_parts of [0, n) begins, which threads take in turns. Parts of the first of k turns
// are k units long, those of the last one unit: nobody waits long for them. n is below 2**32.
template <class Count>
inline Count guided_begin(Count n, uint32_t part, uint32_t n_parts, uint32_t n_threads) noexcept {
    const uint64_t n_turns = (n_parts + n_threads - 1) / n_threads;
    const auto length = [=](uint64_t parts) {  // in units
        const uint64_t turns = parts / n_threads, others = parts % n_threads;
        return n_threads * (turns * (2 * n_turns + 1 - turns)) / 2 + others * (n_turns - turns);
    };
    return static_cast<Count>(n * length(part) / length(n_parts));
}

// Of the team that runs; the caller's is 0. Without OpenMP there is no other.
inline int thread_num() {
#ifdef _OPENMP
    return omp_get_thread_num();
#else
    return 0;
#endif
}

// Respects OMP_NUM_THREADS and threadpoolctl's limits.
inline int max_threads() noexcept {
#ifdef _OPENMP
    return omp_get_max_threads();
#else
    return 1;
#endif
}

inline bool with_openmp() noexcept {
#ifdef _OPENMP
    return true;
#else
    return false;
#endif
}

// Ends the threads that the caller's regions have started and kept. After a region they wait for
// the next one, and do so awake for some milliseconds: too long where others need the processors.
inline void dismiss_threads() noexcept {
#if defined(_OPENMP) && (_OPENMP >= 201811 || __GNUC__ >= 9)
    omp_pause_resource(omp_pause_soft, omp_get_initial_device());
#endif
}

// The first exception of any thread.
class FirstFailure {
    std::mutex mutex_;
    std::exception_ptr exception_;

public:
    // To be called where an exception is caught.
    void keep() noexcept {
        std::lock_guard<std::mutex> lock(mutex_);
        if (!exception_) exception_ = std::current_exception();
    }
    // To be called when all threads are done.
    void rethrow() const {
        if (exception_) std::rethrow_exception(exception_);
    }
};

// Calls work(thread) on up to n_threads threads.
template <class Work>
void on_threads(int n_threads, const Work& work) {
    FirstFailure failure;
#pragma omp parallel num_threads(n_threads) if (n_threads > 1)
    try {
        work(thread_num());
    } catch (...) {
        failure.keep();
    }
    failure.rethrow();
}

// Cuts [begin, end) into pieces of `size`, which up to n_threads threads take one by one: calls
// work(thread, first, last) for each. A thread first takes those of a part of its own, one after
// the other, so that what it reads ahead is of use to itself; then those that others have not
// begun. After a failure no more are taken.
template <class Work>
void share_out(ptrdiff_t begin, ptrdiff_t end, ptrdiff_t size, int n_threads, const Work& work) {
    const ptrdiff_t n_pieces = (end - begin + size - 1) / size;
    const auto begin_of_part = [=](int part) { return n_pieces * part / n_threads; };
    std::vector<std::atomic<ptrdiff_t>> next(static_cast<size_t>(n_threads));  // of each part
    for (int part = 0; part < n_threads; ++part) next[part] = begin_of_part(part);
    StopFlag has_failed;
    on_threads(n_threads, [&](int thread) {
        for (int i = 0; i < n_threads; ++i) {
            const int part = (thread + i) % n_threads;
            const ptrdiff_t end_of_part = begin_of_part(part + 1);
            for (ptrdiff_t piece; (piece = next[part]++) < end_of_part;) {
                if (has_failed.is_set()) return;
                const ptrdiff_t first = begin + piece * size;
                try {
                    work(thread, first, std::min(first + size, end));
                } catch (...) {
                    has_failed.set();
                    throw;
                }
            }
        }
    });
}

// Between two looks for Ctrl-C.
constexpr std::chrono::milliseconds LONGEST_SLEEP(50);

// Sleeps until something has changed, but not for long, then looks for Ctrl-C. The lock is given
// up meanwhile: a look may wait for the interpreter.
template <class Look>
void sleep_and_look(std::unique_lock<std::mutex>& lock, std::condition_variable& changed,
                    const Look& look) {
    changed.wait_for(lock, LONGEST_SLEEP);
    lock.unlock();
    look();
    lock.lock();
}
// Sleeps until it has happened, which `changed` tells, with a look now and then that says whether
// to go on.
template <class Happened, class Look>
void sleep_until(std::unique_lock<std::mutex>& lock, std::condition_variable& changed,
                 const Happened& happened, const Look& look) {
    for (bool goes_on = true; goes_on && !changed.wait_for(lock, LONGEST_SLEEP, happened);) {
        lock.unlock();
        goes_on = look();
        lock.lock();
    }
}

}  // namespace fasttree
