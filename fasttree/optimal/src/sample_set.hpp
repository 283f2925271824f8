// A set of samples with its pair matrices: what a node of the search knows about its data.
#pragma once

#include <functional>
#include <vector>

#include "problem.hpp"
#include "utils/_aligned_buffer.hpp"

namespace fasttree::optimal {

// Asked now and then by what takes long; false means stop.
using KeepGoing = std::function<bool()>;

// Where a set of a parent node lies: its samples with (side) or without feature g.
struct Literal {
    int feature;
    bool side;
};

// Counts of a set in the smallest counter type that holds them.
//
// `assign` lists the entries, `count` fills planes and matrices. Both reuse their memory.
class SampleSet {
  public:
    const Kernels* kernels = nullptr;  // of the counter type in use
    std::vector<uint32_t> entries;     // grouped by plane; 32 spare at the end
    std::vector<int32_t> plane_start;

    void assign_all(const Problem& problem) {
        plane_start.assign(problem.plane_start.begin(), problem.plane_start.end());
        entries.resize(problem.n_entries() + kSpare);
        std::iota(entries.begin(), entries.end(), 0u);
    }

    // The entries of `from` on one side of a feature, by its transposed planes.
    void assign(const Problem& problem, const SampleSet& from, Literal literal) {
        entries.resize(from.plane_start.back() + kSpare);
        plane_start.resize(problem.n_planes() + 1);
        plane_start[0] = 0;
        const size_t chunk_bytes = problem.stride * from.kernels->element_size;
        for (int p = 0; p < problem.n_planes(); ++p) {
            const int32_t start = from.plane_start[p];
            const char* planes = from.planes_.get() + from.chunk_start_[p] * chunk_bytes;
            plane_start[p + 1] =
                plane_start[p] + static_cast<int32_t>(from.kernels->select(
                                     planes, problem.stride, literal.feature, literal.side,
                                     &from.entries[start], from.plane_start[p + 1] - start,
                                     &entries[plane_start[p]]));
        }
    }

    // The same, by the rows themselves.
    void assign_filtered(const Problem& problem, const SampleSet& from, Literal literal) {
        entries.clear();
        plane_start.assign(1, 0);
        for (int p = 0; p < problem.n_planes(); ++p) {
            for (int32_t k = from.plane_start[p]; k < from.plane_start[p + 1]; ++k)
                if (problem.has(from.entries[k], literal.feature) == literal.side)
                    entries.push_back(from.entries[k]);
            plane_start.push_back(static_cast<int32_t>(entries.size()));
        }
        entries.resize(entries.size() + kSpare);
    }

    ptrdiff_t size() const { return plane_start.back(); }

    Key key(const Problem& problem) const {
        Key sum;
        for (ptrdiff_t e = 0; e < size(); ++e) sum += problem.keys[entries[e]];
        return sum;
    }

    // Transposed planes and one matrix per class and measure, with the given counters. False
    // if `keep_going`, asked every few milliseconds of counting, said to stop.
    bool count(const Problem& problem, const Kernels& counters, const KeepGoing& keep_going) {
        kernels = &counters;
        transpose(problem);
        matrices_.reserve(problem.n_all_matrices() * matrix_bytes(problem));
        const int64_t row_cost = (chunk_start_.back() + 8) * problem.stride;
        const int n_rows = static_cast<int>(
            std::clamp<int64_t>(kBlockCost / row_cost / 8 * 8, 8, problem.stride));
        int64_t cost = 0;  // since it was asked
        for (int m = 0; m < problem.n_all_matrices(); ++m) {
            make_steps(problem, m, false);
            for (int row = 0; row < problem.n_features; row += n_rows) {
                if (cost >= kBlockCost) {
                    if (!keep_going()) return false;
                    cost = 0;
                }
                cost += n_rows * row_cost;
                kernels->count(planes_.get(), problem.stride, steps_.data(), n_steps(), row,
                               std::min(problem.n_features, row + n_rows), problem.n_features,
                               matrix(problem, m));
            }
        }
        return true;
    }

    // Pair weights of all classes together (out) and of the base classes' diagonal.
    void weigh(const Problem& problem, int32_t* weights, int32_t* base) {
        const ptrdiff_t n = problem.n_features * problem.stride;
        std::fill(weights, weights + n, 0);
        for (int m = 0; m < problem.n_matrices; ++m)
            kernels->accumulate(matrix(problem, m), problem.n_features, problem.stride,
                                problem.n_matrices == 1 ? -1 : 1, weights);
        if (problem.n_matrices > 1) {
            for (int f = 0; f < problem.n_features; ++f)
                base[f] = weights[f * (problem.stride + 1)];
            return;
        }
        // Two classes: the matrix holds n1 - n0, so n1 + n0 is twice the count of class 1 less it.
        make_steps(problem, 0, true);
        void* ones = ones_.reserve(matrix_bytes(problem));
        kernels->count(planes_.get(), problem.stride, steps_.data(), n_steps(), 0,
                       problem.n_features, problem.n_features, ones);
        kernels->accumulate(ones, problem.n_features, problem.stride, 2, weights);
        for (int f = 0; f < problem.n_features; ++f)
            base[f] = kernels->read(ones, f * (problem.stride + 1));
    }

    void* matrix(const Problem& problem, int m) const {
        return matrices_.get() + m * matrix_bytes(problem);
    }

    // Pair counts of this set, or of `whole` without this set.
    PairCounts pair_counts(const Problem& problem, const int32_t* totals,
                           const SampleSet* whole = nullptr) {
        PairCounts pc{};
        pc.matrix = matrix(problem, 0);
        pc.minuend = whole ? whole->matrix(problem, 0) : nullptr;
        pc.totals = totals;
        for (int m = problem.n_matrices; m < problem.n_all_matrices(); ++m)
            pc.measures[pc.n_measures++] = {matrix(problem, m),
                                            whole ? whole->matrix(problem, m) : nullptr, totals[m],
                                            problem.least[m - problem.n_matrices]};
        pc.n_matrices = problem.n_matrices;
        pc.n_features = problem.n_features;
        pc.stride = problem.stride;
        pc.matrix_size = matrix_rows(problem) * problem.stride;
        pc.scratch = scratch_.reserve(problem.n_all_matrices() * problem.stride);
        return pc;
    }

  private:
    static constexpr int64_t kBlockCost = 1 << 28;  // counters times chunks: milliseconds
    static constexpr int kSpare = 32;    // room for whole vectors written by select
    static constexpr int kSpareRows = 8;  // tiles have up to eight rows

    static ptrdiff_t matrix_rows(const Problem& problem) {
        return problem.n_features + kSpareRows;
    }
    ptrdiff_t matrix_bytes(const Problem& problem) const {
        return matrix_rows(problem) * problem.stride *
               static_cast<ptrdiff_t>(kernels->element_size);
    }
    int n_steps() const { return static_cast<int>(steps_.size()); }

    void transpose(const Problem& problem) {
        const int32_t chunk = kernels->chunk_size;
        chunk_start_.resize(problem.n_planes() + 1);
        chunk_start_[0] = 0;
        for (int p = 0; p < problem.n_planes(); ++p)
            chunk_start_[p + 1] =
                chunk_start_[p] + (plane_start[p + 1] - plane_start[p] + chunk - 1) / chunk;
        const size_t chunk_bytes = problem.stride * kernels->element_size;
        char* planes = planes_.reserve((chunk_start_.back() + 1) * chunk_bytes);
        for (int p = 0; p < problem.n_planes(); ++p)
            kernels->transpose(problem.rows.data(), problem.n_words, &entries[plane_start[p]],
                               plane_start[p + 1] - plane_start[p], problem.stride,
                               planes + chunk_start_[p] * chunk_bytes);
    }

    // The counting programme of matrix m: Horner's rule over its planes.
    void make_steps(const Problem& problem, int m, bool only_base) {
        steps_.clear();
        int bit = -1;
        for (int p = 0; p < problem.n_planes(); ++p) {
            const Plane& plane = problem.planes[p];
            if (plane.matrix != m || (only_base && !plane.is_base)) continue;
            if (bit < 0) bit = plane.bit;
            steps_.push_back({chunk_start_[p], chunk_start_[p + 1], bit - plane.bit, plane.sign});
            bit = plane.bit;
        }
        if (bit > 0) steps_.push_back({0, 0, bit, 1});
    }

    std::vector<int32_t> chunk_start_;
    std::vector<Step> steps_;
    AlignedBuffer<char> planes_, matrices_, ones_;
    AlignedBuffer<int32_t> scratch_;
};

}  // namespace fasttree::optimal
