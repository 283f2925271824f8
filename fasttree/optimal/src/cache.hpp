// Solutions and bounds of subproblems that were solved before, by a 128-bit hash of their row set
// (dataset caching) or of their literals (branch caching).
//
// 64 shards, each a table of four-slot buckets with its own lock, which doubles while its share of
// the memory lasts; after that a new entry replaces another. The hash sums one random 128-bit key
// per row, so two of N sets collide with a probability below N^2 / 2^129.
#pragma once

#include <array>
#include <mutex>
#include <vector>

#include "plan.hpp"
#include "problem.hpp"

namespace fasttree::optimal {

class Cache {
  public:
    void open(size_t bytes, int depth, BudgetRange range, bool is_locked) {
        n_budgets_ = range.size();
        per_budget_ = plan_size(depth);
        is_locked_ = is_locked;
        slot_words_ = kHeader + n_budgets_ + n_budgets_ * per_budget_;
        max_buckets_ = kFirstBuckets;
        while (2 * max_buckets_ * kWays * slot_words_ * 8 * kShards <= bytes) max_buckets_ *= 2;
        if (max_buckets_ * kWays * slot_words_ * 8 * kShards > bytes) max_buckets_ = 0;
    }
    bool is_open() const { return max_buckets_ > 0; }

    // Tighten `solution` by what is known of a set; false if nothing is.
    bool load(Key key, Solution& solution) {
        Shard& shard = shard_of(key);
        const auto lock = guard(shard);
        const uint64_t* slot = find(shard, key);
        if (!slot) return false;
        const int32_t* bounds = bounds_of(slot);
        for (int k = 0; k < n_budgets_; ++k) {
            solution.lower[k] = std::max(solution.lower[k], bounds[2 * k]);
            if (bounds[2 * k + 1] >= solution.upper[k]) continue;
            solution.upper[k] = bounds[2 * k + 1];
            std::copy_n(plan_of(slot) + k * per_budget_, per_budget_,
                        solution.plan.data() + k * per_budget_);
        }
        return true;
    }

    void store(Key key, const Solution& solution) {
        Shard& shard = shard_of(key);
        const auto lock = guard(shard);
        uint64_t* slot = find(shard, key);
        const bool is_new = !slot;
        if (is_new) slot = claim(shard, key);
        int32_t* bounds = bounds_of(slot);
        for (int k = 0; k < n_budgets_; ++k) {
            if (is_new || solution.lower[k] > bounds[2 * k]) bounds[2 * k] = solution.lower[k];
            if (!is_new && solution.upper[k] >= bounds[2 * k + 1]) continue;
            bounds[2 * k + 1] = solution.upper[k];
            std::copy_n(solution.plan.data() + k * per_budget_, per_budget_,
                        plan_of(slot) + k * per_budget_);
        }
    }

  private:
    static constexpr size_t kShards = 64, kWays = 4, kFirstBuckets = 4;
    static constexpr size_t kHeader = 2;  // words of a slot before its bounds: the key

    struct Shard {
        std::mutex mutex;
        std::vector<uint64_t> slots;  // a zero key marks a free one
        size_t n_buckets = 0;
    };

    Shard& shard_of(Key key) { return shards_[key.high % kShards]; }
    std::unique_lock<std::mutex> guard(Shard& shard) const {
        return is_locked_ ? std::unique_lock<std::mutex>(shard.mutex)
                          : std::unique_lock<std::mutex>();
    }
    uint64_t* bucket(Shard& shard, uint64_t low) const {
        return shard.slots.data() + (low & (shard.n_buckets - 1)) * kWays * slot_words_;
    }
    uint64_t* find(Shard& shard, Key key) const {
        if (shard.n_buckets == 0) return nullptr;
        uint64_t* slot = bucket(shard, key.low);
        for (size_t way = 0; way < kWays; ++way, slot += slot_words_)
            if (slot[0] == key.low && slot[1] == key.high) return slot;
        return nullptr;
    }
    // A slot for a new key: a free one, in a larger table if need be, or one taken by chance.
    uint64_t* claim(Shard& shard, Key key) const {
        for (;;) {
            if (shard.n_buckets > 0) {
                uint64_t* slot = bucket(shard, key.low);
                for (size_t way = 0; way < kWays; ++way, slot += slot_words_)
                    if (!(slot[0] | slot[1])) return take(slot, key);
            }
            if (shard.n_buckets >= max_buckets_) break;
            grow(shard);
        }
        const size_t way = (key.high >> 60) % kWays;
        return take(bucket(shard, key.low) + way * slot_words_, key);
    }
    static uint64_t* take(uint64_t* slot, Key key) {
        slot[0] = key.low;
        slot[1] = key.high;
        return slot;
    }
    // Every bucket's entries go to one of two, so all of them find room.
    void grow(Shard& shard) const {
        const size_t n_buckets = shard.n_buckets ? 2 * shard.n_buckets : kFirstBuckets;
        std::vector<uint64_t> old(n_buckets * kWays * slot_words_);  // if there is memory for it
        old.swap(shard.slots);
        shard.n_buckets = n_buckets;
        for (size_t at = 0; at < old.size(); at += slot_words_)
            if (old[at] | old[at + 1])
                std::copy_n(&old[at], slot_words_, claim(shard, {old[at], old[at + 1]}));
    }

    int32_t* bounds_of(uint64_t* slot) const {
        return reinterpret_cast<int32_t*>(slot + kHeader);
    }
    const int32_t* bounds_of(const uint64_t* slot) const {
        return reinterpret_cast<const int32_t*>(slot + kHeader);
    }
    PlanNode* plan_of(uint64_t* slot) const {
        return reinterpret_cast<PlanNode*>(slot + kHeader + n_budgets_);
    }
    const PlanNode* plan_of(const uint64_t* slot) const {
        return reinterpret_cast<const PlanNode*>(slot + kHeader + n_budgets_);
    }

    std::array<Shard, kShards> shards_;
    size_t max_buckets_ = 0, slot_words_ = 0;
    int n_budgets_ = 0, per_budget_ = 0;
    bool is_locked_ = false;
};

}  // namespace fasttree::optimal
