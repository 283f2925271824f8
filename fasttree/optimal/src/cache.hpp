// Solutions and bounds of subproblems met before, by 128-bit hash of their row set (dataset
// caching) or of their literals (branch caching).
//
// A lossy table of fixed size: four slots per bucket, an entry is only ever replaced by another. 64 locks guard it. The hash sums one random 128-bit
// key per row, so two of N sets collide with a probability below N^2 / 2^129.
#pragma once

#include <array>
#include <cstdlib>
#include <memory>
#include <mutex>

#include "plan.hpp"
#include "problem.hpp"

namespace fasttree::optimal {

class Cache {
  public:
    // The largest power of two of buckets that fits; pages are touched only when used.
    void open(size_t bytes, int depth, BudgetRange range) {
        n_budgets_ = range.size();
        n_plan_ = n_budgets_ * plan_size(depth);
        slot_words_ = kHeader + n_budgets_ + (n_plan_ * sizeof(PlanNode) + 7) / 8;
        size_t n_buckets = 1;
        while (2 * n_buckets * kWays * slot_words_ * 8 <= bytes) n_buckets *= 2;
        if (n_buckets * kWays * slot_words_ * 8 > bytes) return;
        mask_ = n_buckets - 1;
        memory_.reset(static_cast<uint64_t*>(std::calloc(n_buckets * kWays * slot_words_, 8)));
        if (!memory_) throw std::bad_alloc();
    }
    bool is_open() const { return memory_ != nullptr; }

    // Tighten `solution` by what is known of a set; false if nothing is.
    bool load(Key key, Solution& solution) {
        std::lock_guard<std::mutex> lock(mutex_of(key));
        const uint64_t* slot = find(key);
        if (!slot) return false;
        const auto* bounds = reinterpret_cast<const int32_t*>(slot + kHeader);
        const auto* plan = reinterpret_cast<const PlanNode*>(slot + kHeader + n_budgets_);
        const int per_budget = n_plan_ / n_budgets_;
        for (int k = 0; k < n_budgets_; ++k) {
            solution.lower[k] = std::max(solution.lower[k], bounds[2 * k]);
            if (bounds[2 * k + 1] >= solution.upper[k]) continue;
            solution.upper[k] = bounds[2 * k + 1];
            std::copy_n(plan + k * per_budget, per_budget, &solution.plan[k * per_budget]);
        }
        return true;
    }

    void store(Key key, const Solution& solution) {
        std::lock_guard<std::mutex> lock(mutex_of(key));
        uint64_t* slot = find(key);
        const bool is_new = !slot;
        if (is_new) {
            slot = bucket(key) + ((key.high >> 60) % kWays) * slot_words_;
            for (int way = 0; way < kWays; ++way)
                if (uint64_t* candidate = bucket(key) + way * slot_words_; !candidate[2]) {
                    slot = candidate;
                    break;
                }
            slot[0] = key.low;
            slot[1] = key.high;
            slot[2] = 1;
        }
        auto* bounds = reinterpret_cast<int32_t*>(slot + kHeader);
        auto* plan = reinterpret_cast<PlanNode*>(slot + kHeader + n_budgets_);
        const int per_budget = n_plan_ / n_budgets_;
        for (int k = 0; k < n_budgets_; ++k) {
            if (is_new || solution.lower[k] > bounds[2 * k]) bounds[2 * k] = solution.lower[k];
            if (!is_new && solution.upper[k] >= bounds[2 * k + 1]) continue;
            bounds[2 * k + 1] = solution.upper[k];
            std::copy_n(&solution.plan[k * per_budget], per_budget, plan + k * per_budget);
        }
    }

  private:
    static constexpr int kWays = 4;
    static constexpr int kHeader = 3;  // words: key, in use
    struct Free {
        void operator()(uint64_t* p) const { std::free(p); }
    };

    std::mutex& mutex_of(Key key) { return mutexes_[(key.low & mask_) % mutexes_.size()]; }
    uint64_t* bucket(Key key) { return memory_.get() + (key.low & mask_) * kWays * slot_words_; }
    uint64_t* find(Key key) {
        for (int way = 0; way < kWays; ++way) {
            uint64_t* slot = bucket(key) + way * slot_words_;
            if (slot[2] && slot[0] == key.low && slot[1] == key.high) return slot;
        }
        return nullptr;
    }

    std::unique_ptr<uint64_t, Free> memory_;
    std::array<std::mutex, 64> mutexes_;
    size_t mask_ = 0, slot_words_ = 0;
    int n_budgets_ = 0, n_plan_ = 0;
};

}  // namespace fasttree::optimal
