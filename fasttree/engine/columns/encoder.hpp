// Dense columns are encoded on the threads of a crew.
//
// Every step says whether to go on: the thread that leads looks for signals now and then.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "engine/columns/borrowed.hpp"
#include "engine/columns/dense.hpp"
#include "engine/columns/value_counting.hpp"
#include "engine/simd/simd.hpp"
#include "engine/simd/sorting.hpp"
#include "utils/_crew.hpp"

namespace fasttree {

class DenseEncoder {
    DenseColumns& columns_;
    Crew& crew_;
    const Simd simd_;

    int n_features() const { return static_cast<int>(columns_.columns.size()); }
    int n_parts() const { return static_cast<int>(columns_.n_parts()); }

public:
    DenseEncoder(DenseColumns& columns, Crew& crew, Simd simd)
        : columns_(columns), crew_(crew), simd_(simd) {
        columns.begin_encoding(static_cast<uint32_t>(crew.size()));
    }

    // Stores columns of two values as bits, if there are at least so many.
    bool find_bits(uint32_t least) {
        if (!columns_.begin_bits(least)) return true;
        const int n_steps = static_cast<int>(columns_.n_bit_steps());
        const bool goes_on = crew_.each_step(n_parts(), n_steps, [&](int part, int step) {
            columns_.read_bits(simd_, part, step, n_steps);
        });
        if (goes_on) columns_.settle_bits();
        return goes_on;
    }
    // Codes the columns of few values, as many at a time as threads have shares in. Of the others,
    // if lists of them follow, keys are gathered in the same steps.
    bool count(bool lists_follow) {
        const int tile = static_cast<int>(TILE), n = n_features();
        if (columns_.rows.size() <= MAX_COUNTED) {
            return crew_.each((n + tile - 1) / tile, [&](int, int i) {
                count_few_rows(columns_, i * tile, std::min((i + 1) * tile, n));
            });
        }
        const int at_once = tile * std::max(1, crew_.size() / n_parts());
        for (int first = 0, last; first < n; first = last) {
            last = std::min(first + at_once, n);
            ValueCounting counting(columns_, first, last, lists_follow, simd_);
            const auto of_feature = [&](auto work) {
                crew_.share(last - first, [&](int, int i) {
                    (counting.*work)(static_cast<uint32_t>(first + i));
                });
            };
            const int n_shares = static_cast<int>(counting.n_shares());
            const int n_later = static_cast<int>(counting.n_steps()) - 1;
            if (!crew_.each(n_shares, [&](int, int share) { counting.count(share, 0); })) {
                return false;
            }
            of_feature(&ValueCounting::tell_each_other);
            counting.end_first_step();
            const auto count = [&](int share, int step) { counting.count(share, step + 1); };
            if (!crew_.each_step(n_shares, n_later, count)) return false;
            crew_.share(n_shares, [&](int, int i) {
                counting.restore_keys(static_cast<uint32_t>(i));
            });
            of_feature(&ValueCounting::settle);
        }
        return true;
    }
    // Keeps the codes of the columns of few values, column by column.
    bool keep_codes(bool of_numbers) {
        const bool goes_on = crew_.each(n_features(), [&](int, int feature) {
            if (of_numbers) columns_.keep_codes_of_numbers(feature);
            else columns_.keep_codes(feature);
        });
        if (goes_on) columns_.code_blocks.clear();
        return goes_on;
    }
    // Finds limits between buckets of the other columns.
    bool find_buckets() {
        std::vector<SortBuffers> buffers(crew_.size());
        const std::vector<uint32_t> rest = columns_.raw_features();
        return crew_.each(static_cast<int>(rest.size()), [&](int thread, int i) {
            columns_.find_buckets(rest[i], buffers[thread]);
        });
    }
    // Sorts the other columns.
    bool add_lists(Storage storage) {
        return sort_columns(columns_.raw_features(), storage, 0, [](uint32_t) {});
    }
    // Compares what is stored with X; stops where it is wrong.
    bool compare(bool& is_consistent) {
        const int n = n_features(), tile = static_cast<int>(COMPARED_TOGETHER);
        columns_.begin_encoding(1);  // one part, so that steps go through all rows
        const uint32_t n_steps = columns_.n_steps(n);
        std::atomic<bool> is_wrong{false};
        for (uint32_t step = 0; step < n_steps && !is_wrong.load(); ++step) {
            const bool goes_on = crew_.each((n + tile - 1) / tile, [&](int, int i) {
                const int first = i * tile, last = std::min(first + tile, n);
                if (!are_consistent(columns_, first, last, step, n_steps)) is_wrong.store(true);
            });
            if (!goes_on) return false;
        }
        is_consistent = !is_wrong.load();
        return true;
    }
    // Puts the codes of all columns side by side, and sorts the others if lists are asked for.
    // Threads do both at a time: what they sort stays RAW. `by_column`: codes stay there, too, if
    // they are read there, which vectors do.
    bool interleave(bool with_lists, bool by_column = false) {
        columns_.begin_interleaving();
        const uint32_t n_parts = columns_.n_parts();
        const uint32_t n_threads = static_cast<uint32_t>(crew_.size());
        const uint32_t n_pieces_of_step =
            n_threads > 1 ? std::max(1u, PARTS_OF_A_THREAD * n_threads / n_parts) : 1;
        const uint32_t n_pieces_of_part = columns_.n_interleaving_steps() * n_pieces_of_step;
        const auto interleave = [&](uint32_t piece) {  // a thread stays in its part of the rows
            columns_.interleave(simd_, piece % n_parts, piece / n_parts, n_pieces_of_part);
        };
        const std::vector<uint32_t> sorted =
            with_lists ? columns_.raw_features() : std::vector<uint32_t>();
        const int n_pieces = static_cast<int>(n_parts * n_pieces_of_part);
        const bool goes_on = sort_columns(sorted, RAW, n_pieces, interleave);
        if (goes_on) columns_.end_interleaving(by_column && simd_ == SIMD_AVX512);
        return goes_on;
    }

private:
    // Sorts columns. Keys are gathered of as many at a time as a cache line holds cells of a row;
    // those that follow and have theirs are sorted with them. While the last columns are sorted,
    // threads also call work(piece) for so many pieces.
    template <class Work>
    bool sort_columns(const std::vector<uint32_t>& features, Storage storage, int n_pieces,
                      const Work& work) {
        std::vector<SortBuffers> buffers(crew_.size());
        constexpr int CELLS_OF_A_LINE = 16;
        const int n_columns = static_cast<int>(features.size());
        const int at_once = std::max(CELLS_OF_A_LINE, crew_.size());
        int first = 0, last;
        do {
            last = std::min(first + at_once, n_columns);
            while (last < n_columns && columns_.columns[features[last]].has_keys) ++last;
            if (first < last) gather_keys(features, first, last, buffers);
            const int n_sorted = last - first, n_beside = last == n_columns ? n_pieces : 0;
            const auto sort_or_work = [&](int thread, int i) {
                if (i < n_sorted) columns_.sort(features[first + i], storage, buffers[thread]);
                else work(static_cast<uint32_t>(i - n_sorted));
            };
            if (!crew_.each(n_sorted + n_beside, sort_or_work, true)) return false;
            first = last;
        } while (first < n_columns);
        // The allocator can seldom use the place of an aligned block again: its pages go back.
        for (SortBuffers& of_thread : buffers) of_thread.entries.discard(0, columns_.rows.size());
        return true;
    }
    // Makes room for lists of features[first:last], and puts keys there.
    void gather_keys(const std::vector<uint32_t>& features, int first, int last,
                     std::vector<SortBuffers>& buffers) {
        columns_.begin_lists(features, first, last, buffers);
        crew_.share(n_parts(), [&](int, int part) {
            columns_.gather_keys(simd_, features, first, last, static_cast<uint32_t>(part));
        });
    }
};

}  // namespace fasttree
