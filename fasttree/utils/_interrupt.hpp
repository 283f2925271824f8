// Ctrl-C during calls that run for seconds, by work done: threads count steps, about what a row
// of a scan costs, and after a few million of them look whether the call is to be given up.
#pragma once
#include <atomic>
#include <cstdint>

#include "utils/_value.hpp"

namespace fasttree {

// Some hundredths of a second; a look takes a microsecond.
constexpr uint64_t STEPS_PER_LOOK = 4000000;

// Says to all threads of a call that it is given up.
class StopFlag {
    std::atomic<bool> is_set_{false};

public:
    bool is_set() const noexcept { return is_set_.load(std::memory_order_acquire); }
    void set() noexcept { is_set_.store(true, std::memory_order_release); }
};

static_assert(is_value<StopFlag>);

// The steps of one thread.
class Poll {
    uint64_t steps_ = 0;
    bool (*look_)(void*) = nullptr;
    void* context_ = nullptr;

public:
    Poll() = default;  // never stops
    Poll(bool (*look)(void*), void* context) noexcept : look_(look), context_(context) {}

    // Counts steps. False: give up, what was computed will not be used. It stays false.
    bool go_on(uint64_t steps) noexcept {
        steps_ += steps;
        return steps_ < STEPS_PER_LOOK || look();
    }
    bool look() noexcept {
        if (look_ == nullptr || look_(context_)) {
            steps_ = 0;
            return true;
        }
        steps_ = STEPS_PER_LOOK;
        return false;
    }
};
static_assert(is_value<Poll>);

// What counts its steps, if somebody listens.
struct Watched {
    Poll* poll = nullptr;
    bool go_on(uint64_t steps) const { return poll == nullptr || poll->go_on(steps); }
};

}  // namespace fasttree
