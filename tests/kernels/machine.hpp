// Threads and memory, as the tests call them.
#pragma once
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "engine/simd/simd.hpp"
#include "utils/_aligned_buffer.hpp"
#include "utils/_crew.hpp"
#include "utils/_threads.hpp"

namespace fasttree::tests {

// How often [0, end), cut into pieces, is gone through; pieces from `fails_from` on throw. Where the
// pieces of each thread begin, in the order in which it takes them.
inline std::vector<std::vector<ptrdiff_t>> share_out(ptrdiff_t end, ptrdiff_t size, int n_threads,
                                                     ptrdiff_t fails_from, int32_t* times) {
    std::vector<std::vector<ptrdiff_t>> taken(static_cast<size_t>(n_threads));
    fasttree::share_out(0, end, size, n_threads, [&](int thread, ptrdiff_t first, ptrdiff_t last) {
        if (first >= fails_from) throw std::out_of_range("piece " + std::to_string(first));
        for (ptrdiff_t i = first; i < last; ++i) ++times[i];
        taken[thread].push_back(first);
    });
    return taken;
}
// How often each thread is called; thread `fails` throws.
inline void on_threads(int n_threads, int fails, int32_t* times) {
    fasttree::on_threads(n_threads, [&](int thread) {
        ++times[thread];
        if (thread == fails) throw std::out_of_range("thread " + std::to_string(thread));
    });
}
// How often n pieces are gone through in n_jobs jobs of a crew, of whose threads n_present are
// there; piece `fails` throws.
inline void share(int n_threads, int n_present, int n, int n_jobs, int fails, int32_t* times) {
    Poll poll;
    Crew crew(n_threads, poll);
    fasttree::on_threads(n_present, [&](int thread) {
        if (thread > 0) return crew.serve(thread);
        FirstFailure failure;
        try {
            for (int job = 0; job < n_jobs; ++job) {
                crew.share(n, [&](int, int i) {
                    if (i == fails) throw std::out_of_range("piece " + std::to_string(i));
                    ++times[i];
                });
            }
        } catch (...) {
            failure.keep();
        }
        crew.dismiss();
        failure.rethrow();
    });
}
// How many of n_first pieces each of the others, n in all, finds done that waits for a number of
// them; piece `fails` throws.
inline std::vector<int> waited(int n_threads, int n_first, int n, int fails) {
    Poll poll;
    Crew crew(n_threads, poll);
    Stage stage(n_first);
    std::atomic<int> n_done{0};
    std::vector<int> out(static_cast<size_t>(n - n_first), -1);
    fasttree::on_threads(n_threads, [&](int thread) {
        if (thread > 0) return crew.serve(thread);
        FirstFailure failure;
        try {
            crew.share(stage, n, [&](int, int i) {
                std::this_thread::sleep_for(std::chrono::microseconds(300 * (i % 3)));
                if (i == fails) throw std::out_of_range("piece " + std::to_string(i));
                if (i < n_first) ++n_done;
                else if (stage.wait(i % 2 ? 0 : n_first - 1, n_first)) out[i - n_first] = n_done;
            });
        } catch (...) {
            failure.keep();
        }
        crew.dismiss();
        failure.rethrow();
    });
    return out;
}
// The steps of each part, in the order in which they were done. Step `fails` of a part throws an
// exception, and one that began too early, or after that, another one.
inline std::vector<std::vector<int>> steps(int n_threads, int n_parts, int n_steps, int fails) {
    Poll poll;
    Crew crew(n_threads, poll);
    std::vector<std::vector<int>> out(static_cast<size_t>(n_parts));
    std::atomic<bool> is_wrong{false};
    fasttree::on_threads(n_threads, [&](int thread) {
        if (thread > 0) return crew.serve(thread);
        FirstFailure failure;
        try {
            crew.each_step(n_parts, n_steps, [&](int part, int step) {
                const bool is_next = static_cast<int>(out[part].size()) == step;
                if (!is_next) is_wrong = true;
                std::this_thread::sleep_for(std::chrono::microseconds(part % 3 == 0 ? 300 : 20));
                if (step == fails) throw std::out_of_range("step " + std::to_string(step));
                out[part].push_back(step);
            });
        } catch (...) {
            failure.keep();
        }
        crew.dismiss();
        if (is_wrong) throw std::logic_error("a step did not wait for the one before it");
        failure.rethrow();
    });
    return out;
}
// How often threads other than the one that leads did a unit of work beside jobs, of which there
// are n; unit `fails` fails. Nothing if `end_beside` tells of that.
struct Units {
    std::atomic<int> n_left;
    int fails;
    std::vector<int> n_done;  // by thread
};
inline std::vector<int> done_beside(int n_threads, int n, int fails) {
    Poll poll;
    Crew crew(n_threads, poll);
    Units units{{n}, fails, std::vector<int>(static_cast<size_t>(n_threads))};
    const auto unit = [](void* owner, int thread) {
        Units& all = *static_cast<Units*>(owner);
        const int i = all.n_left.fetch_sub(1) - 1;
        if (i < 0) return 0;
        if (i == all.fails) return -1;
        ++all.n_done[thread];
        std::this_thread::sleep_for(std::chrono::microseconds(100));
        return 1;
    };
    bool is_done = true;
    fasttree::on_threads(n_threads, [&](int thread) {
        if (thread > 0) return crew.serve(thread);
        crew.begin_beside(unit, &units);
        const auto nothing = [](int, int) {};
        while (n_threads > 1 && units.n_left > std::max(fails, 0)) crew.share(n_threads, nothing);
        is_done = crew.end_beside();
        crew.dismiss();
    });
    return is_done ? units.n_done : std::vector<int>();
}
// What threads get that take their turns in this order.
inline std::vector<int> turns(int n, int n_threads, const std::vector<int>& threads) {
    Turns left(n, n_threads);
    std::vector<int> out;
    for (int thread : threads) out.push_back(left.take(thread));
    return out;
}
// Where parts begin that threads take in turns, and the end of the last one.
inline std::vector<size_t> guided_begins(size_t n, uint32_t n_parts, uint32_t n_threads) {
    std::vector<size_t> out;
    for (uint32_t part = 0; part <= n_parts; ++part) {
        out.push_back(guided_begin(n, part, n_parts, n_threads));
    }
    return out;
}
// What follows pieces that are done in this order; if `within`, the next piece is done by another
// thread while the first is followed.
inline std::vector<int> followed(int n, const std::vector<int>& pieces, bool within) {
    Ordered ordered(n);
    std::vector<int> out;
    size_t next = 0;
    const auto follow = [&](int piece) {
        out.push_back(piece);
        if (within && next < pieces.size()) ordered.done(pieces[next++], [](int) { throw 0; });
    };
    while (next < pieces.size()) {
        const int piece = pieces[next++];
        ordered.done(piece, follow);
    }
    return out;
}
// What follows n pieces of a crew.
inline std::vector<int> followed_on_threads(int n_threads, int n) {
    Poll poll;
    Crew crew(n_threads, poll);
    Ordered ordered(n);
    std::vector<int> out;
    fasttree::on_threads(n_threads, [&](int thread) {
        if (thread > 0) return crew.serve(thread);
        crew.share(n, [&](int, int i) {
            ordered.done(i, [&](int piece) { out.push_back(piece); });
        });
        crew.dismiss();
    });
    return out;
}
// Ones, after the items [first, last) have been given back.
inline std::vector<uint32_t> after_discard(size_t n, size_t first, size_t last) {
    AlignedBuffer<uint32_t> buffer(n);
    std::fill_n(buffer.get(), n, 1u);
    buffer.discard(first, last);
    return {buffer.get(), buffer.get() + n};
}

}  // namespace fasttree::tests
