// What one thread shares out among the threads of a region, piece by piece.
//
// With a region of OpenMP per loop, threads would wait awake for milliseconds at the barrier that
// ends it; two that have to share a processor would take its time from each other. Here the one
// that leads goes through its work, and the others take part if they have time: it waits for
// pieces that have been begun, not for threads that could have. Between jobs the others may have
// work that nobody waits for. Whoever waits is awake for some microseconds, then sleeps. Below,
// nothing starts a region of its own: it would get one thread.
#pragma once
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "utils/_interrupt.hpp"
#include "utils/_threads.hpp"

namespace fasttree {

// Tells a processor that a loop waits.
inline void pause_briefly() noexcept {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

// How long who waits is awake.
constexpr std::chrono::microseconds AWAKE(50);

// Waits for what will happen soon, if it does; returns whether it did.
template <class Happened>
bool wait_awake(const Happened& happened) noexcept {
    constexpr int PAUSES = 32;  // between two looks at the clock
    const auto until = std::chrono::steady_clock::now() + AWAKE;
    do {
        for (int i = 0; i < PAUSES; ++i) {
            if (happened()) return true;
            pause_briefly();
        }
    } while (std::chrono::steady_clock::now() < until);
    return happened();
}

// Pieces that threads take one by one. Piece i is in queue i % n_queues. If every thread has a
// queue of its own, what is shared out again and again, in the same order, mostly stays in the
// caches of one thread; whoever has done its own takes what others would do last. In one queue,
// pieces are begun in their order.
class Turns {
    struct Queue {
        int next, end;  // of its pieces

        int n_left() const noexcept { return end - next; }
    };
    std::vector<Queue> queues_;
    std::mutex mutex_;

public:
    Turns(int n, int n_queues) : queues_(static_cast<size_t>(n_queues)) {
        for (int q = 0; q < n_queues; ++q) queues_[q] = {0, (n - q + n_queues - 1) / n_queues};
    }
    // The next piece for a thread, or -1.
    int take(int thread) {
        std::lock_guard<std::mutex> lock(mutex_);
        const int n_queues = static_cast<int>(queues_.size()), queue = thread % n_queues;
        Queue& own = queues_[queue];
        if (own.n_left() > 0) return own.next++ * n_queues + queue;
        const auto longest = std::max_element(
            queues_.begin(), queues_.end(),
            [](const Queue& a, const Queue& b) { return a.n_left() < b.n_left(); });
        if (longest->n_left() == 0) return -1;
        return --longest->end * n_queues + static_cast<int>(longest - queues_.begin());
    }
    // No more pieces are handed out.
    void stop() {
        std::lock_guard<std::mutex> lock(mutex_);
        for (Queue& queue : queues_) queue.end = queue.next;
    }
};

// What follows pieces in their order, as in a region that OpenMP calls ordered, but nobody waits
// for a turn: it is the work of one thread at a time, while others go on with pieces.
class Ordered {
    std::mutex mutex_;
    std::vector<char> is_done_;
    size_t next_ = 0;
    bool is_followed_ = false;

public:
    explicit Ordered(int n) : is_done_(static_cast<size_t>(n)) {}
    // Says that piece i is done. Calls follow(k) for each piece k that is next, if it is done;
    // unless another thread does so already.
    template <class Follow>
    void done(int i, const Follow& follow) {
        std::unique_lock<std::mutex> lock(mutex_);
        is_done_[i] = true;
        if (is_followed_) return;
        is_followed_ = true;
        while (next_ < is_done_.size() && is_done_[next_]) {
            const int ready = static_cast<int>(next_++);
            lock.unlock();
            follow(ready);
            lock.lock();
        }
        is_followed_ = false;
    }
};

// The first pieces of a job, for later ones that need what they do. Threads begin with later pieces
// when all of these have been taken, and in one queue these are taken in their order, so that they
// may wait for earlier ones, too: nobody waits for a piece that no thread is at.
class Stage {
    std::vector<std::atomic<bool>> is_done_;
    std::atomic<bool> has_failed_{false};

public:
    explicit Stage(int n_pieces) : is_done_(static_cast<size_t>(n_pieces)) {}

    int n_pieces() const noexcept { return static_cast<int>(is_done_.size()); }
    void done(int i) noexcept { is_done_[i].store(true); }
    void failed() noexcept { has_failed_.store(true); }
    // Waits for pieces [first, last), awake and asleep in turns. False: the job has failed.
    bool wait(int first, int last) const noexcept {
        const auto are_done = [&] {
            while (first < last && is_done_[first].load()) ++first;
            return first == last || has_failed_.load();
        };
        while (!wait_awake(are_done)) std::this_thread::sleep_for(AWAKE);
        return first == last && !has_failed_.load();  // a piece that gave up is done as well
    }
};

class Crew {
    using Piece = void (*)(const void* work, int thread, int piece);
    // Of work beside jobs: 1 if it was done, 0 if there is none, -1 if it has failed.
    using Unit = int (*)(void* owner, int thread);
    struct PieceOfCythonFailed {};

    // What is shared out.
    struct Job {
        Stage& stage;
        Turns first, later;
        const void* work;
        Piece piece;
        FirstFailure failure;

        Job(Stage& stage_, int n, int n_queues, const void* work_, Piece piece_)
            : stage(stage_), first(stage.n_pieces(), n_queues),
              later(n - stage.n_pieces(), n_queues), work(work_), piece(piece_) {}

        // Whether no piece failed that this thread did.
        bool take_part(int thread) noexcept {
            try {
                for (int i; (i = first.take(thread)) >= 0;) {
                    piece(work, thread, i);
                    stage.done(i);
                }
                for (int i; (i = later.take(thread)) >= 0;) {
                    piece(work, thread, stage.n_pieces() + i);
                }
                return true;
            } catch (...) {
                failure.keep();
                first.stop();
                later.stop();
                stage.failed();
                return false;
            }
        }
    };

    const int n_threads_;
    Poll& poll_;                            // of the thread that leads
    std::atomic<uint64_t> n_calls_{0};      // to look for work, so far
    std::atomic<int> n_working_{0};         // of the others, at a job
    std::atomic<int> n_beside_{0};          // of the others, at a unit
    std::atomic<bool> is_dismissed_{false}, is_given_up_{false};
    Job* job_ = nullptr;                    // to take part in
    Unit beside_ = nullptr;                 // for threads that have no job
    void* owner_beside_ = nullptr;
    std::atomic<bool> has_failed_beside_{false};
    std::mutex mutex_;
    std::condition_variable changed_, finished_;

    // None: who sleeps is to look for a unit.
    void offer(Job* job) {
        {
            std::lock_guard<std::mutex> lock(mutex_);
            job_ = job;
            n_calls_.fetch_add(1);
        }
        changed_.notify_all();
    }
    // Nobody else takes part; what others have begun comes to its end.
    void withdraw() {
        {
            std::lock_guard<std::mutex> lock(mutex_);
            job_ = nullptr;
        }
        wait_for_none(n_working_);
    }
    void wait_for_none(const std::atomic<int>& n_threads) {
        const auto is_none = [&] { return n_threads.load() == 0; };
        if (wait_awake(is_none)) return;
        std::unique_lock<std::mutex> lock(mutex_);
        sleep_until(lock, finished_, is_none, [this] {
            poll_.look();
            return true;
        });
    }
    // What the unit says.
    int do_beside(int thread) {
        std::unique_lock<std::mutex> lock(mutex_);
        if (beside_ == nullptr) return 0;
        const Unit unit = beside_;
        void* const owner = owner_beside_;
        n_beside_.fetch_add(1);
        lock.unlock();
        const int done = unit(owner, thread);
        lock.lock();
        if (done < 0) has_failed_beside_.store(true);
        if (n_beside_.fetch_sub(1) == 1) finished_.notify_all();
        return done;
    }

public:
    Crew(int n_threads, Poll& poll) : n_threads_(n_threads), poll_(poll) {}

    int size() const noexcept { return n_threads_; }
    // The thread that leads looks for signals; the others learn what it saw. False: give up.
    bool look(int thread = 0) noexcept {
        if (thread == 0 && !poll_.look()) is_given_up_.store(true);
        return !is_given_up_.load();
    }

    // Calls work(thread, i) for all i < n; to be called by the thread that leads, which must not
    // hold the GIL. The first exception of any thread is raised again. `in_order`: see `Turns`; for
    // long pieces, and short ones behind them.
    template <class Work>
    void share(int n, const Work& work, bool in_order = false) {
        Stage none(0);
        share(none, n, work, in_order);
    }
    // The same of pieces of which the first ones are a stage that later ones may wait for.
    template <class Work>
    void share(Stage& stage, int n, const Work& work, bool in_order = false) {
        const Piece piece = [](const void* w, int thread, int i) {
            (*static_cast<const Work*>(w))(thread, i);
        };
        if (n_threads_ == 1 || n <= 1) {
            for (int i = 0; i < n; ++i) {
                work(0, i);
                if (i < stage.n_pieces()) stage.done(i);
            }
            return;
        }
        Job job(stage, n, in_order ? 1 : n_threads_, &work, piece);
        offer(&job);
        job.take_part(0);
        withdraw();
        job.failure.rethrow();
    }
    // Calls work(thread, i) for all i < n, with a look for signals before each; whether to go on.
    template <class Work>
    bool each(int n, const Work& work, bool in_order = false) {
        const auto look_and_work = [&](int thread, int i) {
            if (look(thread)) work(thread, i);
        };
        share(n, look_and_work, in_order);
        return look();
    }
    // The same of work(part, step) for all parts and steps; those of a part follow each other.
    template <class Work>
    bool each_step(int n_parts, int n_steps, const Work& work) {
        Stage earlier(n_parts * (n_steps - 1));
        const auto look_and_work = [&](int thread, int i) {
            if (i >= n_parts && !earlier.wait(i - n_parts, i - n_parts + 1)) return;
            if (look(thread)) work(i % n_parts, i / n_parts);
        };
        share(earlier, n_parts * n_steps, look_and_work, true);
        return look();
    }
    // From now on, a thread that has no piece of a job calls unit(owner, thread) again and again,
    // until it says that there is nothing to do, or a job begins. Nobody waits for it before
    // `end_beside`: false if a unit has failed.
    void begin_beside(Unit unit, void* owner) {
        std::lock_guard<std::mutex> lock(mutex_);
        beside_ = unit;
        owner_beside_ = owner;
        has_failed_beside_.store(false);
    }
    // There is a unit again. Only between jobs.
    void tell() { offer(nullptr); }
    bool end_beside() {
        {
            std::lock_guard<std::mutex> lock(mutex_);
            beside_ = nullptr;
        }
        wait_for_none(n_beside_);
        return !has_failed_beside_.load();
    }
    // `share` of what Cython does, which says by false that it, or a unit beside, has failed.
    bool share(Stage& stage, int n, bool (*work)(const void* job, int thread, int i),
               const void* job, bool in_order) {
        const auto work_or_fail = [=](int thread, int i) {
            if (!work(job, thread, i)) throw PieceOfCythonFailed();
        };
        try {
            share(stage, n, work_or_fail, in_order);
            return !has_failed_beside_.load();
        } catch (const PieceOfCythonFailed&) {
            return false;
        }
    }
    // `share` in pieces of a range: calls work(thread, first, last).
    template <class Work>
    void share_out(ptrdiff_t begin, ptrdiff_t end, ptrdiff_t size, const Work& work) {
        share(static_cast<int>((end - begin + size - 1) / size), [&](int thread, int i) {
            const ptrdiff_t first = begin + i * size;
            work(thread, first, std::min(first + size, end));
        });
    }
    // What the other threads of the region do until they are dismissed, or have failed.
    void serve(int thread) {
        for (uint64_t n_seen = 0;;) {
            const auto is_called = [&] {
                return n_calls_.load() != n_seen || is_dismissed_.load();
            };
            int done = 1;
            while (done > 0 && !is_called()) done = do_beside(thread);
            if (done < 0) return;
            wait_awake(is_called);
            std::unique_lock<std::mutex> lock(mutex_);
            changed_.wait(lock, is_called);
            if (is_dismissed_.load()) return;
            n_seen = n_calls_.load();
            Job* const job = job_;
            if (job == nullptr) continue;
            n_working_.fetch_add(1);
            lock.unlock();
            const bool goes_on = job->take_part(thread);
            lock.lock();
            if (n_working_.fetch_sub(1) == 1) finished_.notify_all();
            if (!goes_on) return;
        }
    }
    // There will be no more work.
    void dismiss() {
        {
            std::lock_guard<std::mutex> lock(mutex_);
            is_dismissed_.store(true);
        }
        changed_.notify_all();
    }
};

}  // namespace fasttree
