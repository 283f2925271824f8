// The scan: one pass over a feature's runs finds its best split in a node.
//
// `ScannerOf` makes a Scanner of any accumulator. Adding a criterion is writing an accumulator.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/core/impurity.hpp"
#include "engine/core/runs.hpp"
#include "engine/core/targets.hpp"
#include "engine/scan/block_scan.hpp"
#include "engine/scan/bounds.hpp"
#include "engine/scan/category_scan.hpp"
#include "engine/scan/scanner.hpp"
#include "engine/scan/skip.hpp"
#include "engine/score/advance.hpp"

namespace fasttree {

template <class Acc>
class ScannerOf final : public Scanner {
    using Cell = typename Acc::Cell;
    Acc acc_;
    CategoryScan<Acc> categories_;
    SeparationBound<Acc> separation_bound_;
    SubsetBound<Acc> subset_bound_;
    BlockScan<Acc> block_scan_;
    const uint32_t* rows_ = nullptr;     // of the node begun last
    uint32_t n_rows_ = 0;
    std::vector<uint32_t> all_entries_;  // of a sparse feature, zeros listed
    std::vector<uint8_t> is_listed_;     // by row, all 0 between scans

public:
    explicit ScannerOf(const Targets& targets) : acc_(targets), separation_bound_(targets) {}

    void watch(Poll* poll) noexcept override { acc_.poll = poll; }
    uint64_t work(uint32_t n) const noexcept override { return acc_.work(n); }

    void begin_node(const uint32_t* rows, uint32_t n) override {
        rows_ = rows;
        n_rows_ = n;
        acc_.begin_node(rows, n);
        separation_bound_.begin_node();
    }
    FeatureBound feature_bound(double score) override {
        return separation_bound_.feature_bound(acc_, rows_, n_rows_, score);
    }
    bool may_beat(const uint32_t* rows, uint32_t n, double score,
                  uint32_t& max_class_count) override {
        if constexpr (SubsetBound<Acc>::exists) {
            return !separation_bound_.holds() ||
                   subset_bound_.may_beat(acc_, rows, n, score, max_class_count);
        }
        return true;
    }
    void node_stats(const uint32_t* rows, uint32_t n, NodeStats& out) override {
        acc_.node_stats(rows, n, out);
    }
    void node_value(double* value) const override { acc_.node_value(value); }

    double perfect_score(const uint32_t* rows, uint32_t n) override {
        return acc_.perfect_score(rows, n);
    }

    bool scan(const Runs& runs, const Limits& limits, Candidate& best) override {
        bool found = limits.checked() ? both_passes<true>(runs, limits, best)
                                      : both_passes<false>(runs, limits, best);
        if (runs.n_categorical() > 0) found |= category_pass(runs, limits, best);
        return found;
    }
    bool scan(const Counts& counts, const Limits& limits, Candidate& best) override {
        if constexpr (Acc::has_cells) {
            bool found = limits.checked() ? both_passes<true>(counts, limits, best)
                                          : both_passes<false>(counts, limits, best);
            if (counts.n_category_values > 0) found |= category_pass(counts, limits, best);
            return found;
        }
        return false;
    }
    const Groups& groups() const noexcept override { return categories_.groups(); }

    bool scan(const Nonzeros& nonzeros, const Limits& limits, Candidate& best) override {
        return limits.checked() ? both_passes<true>(nonzeros, limits, best)
                                : both_passes<false>(nonzeros, limits, best);
    }

    void grow_block(Block& block, const GrowthRules& rules, FeatureSampler& sampler,
                    NodeStore& store, const Node& root) override {
        if (auto* keyed = dynamic_cast<KeyedSampler*>(&sampler)) {
            grow(block, rules, *keyed, store, root);
        } else {
            grow(block, rules, sampler, store, root);
        }
    }

    size_t cell_bytes() const override {
        if constexpr (Acc::has_cells) return acc_.cell_size() * sizeof(Cell);
        return 0;
    }
    void fill(const uint32_t* rows, uint32_t n, const uint8_t* codes, size_t stride,
              const uint32_t* slots, const size_t* offsets, uint32_t n_tables,
              char* cells) const override {
        fill_tables(rows, n, codes, stride, slots, offsets, n_tables, cells);
    }
    void fill(const uint32_t* rows, uint32_t n, const uint32_t* codes, size_t stride,
              const uint32_t* slots, const size_t* offsets, uint32_t n_tables,
              char* cells) const override {
        fill_tables(rows, n, codes, stride, slots, offsets, n_tables, cells);
    }
    uint32_t cell_rows(const char* cell) const override {
        if constexpr (Acc::has_cells) return acc_.cell_rows(reinterpret_cast<const Cell*>(cell));
        return 0;
    }
    bool is_constant(const Counts& counts, bool sklearn_rules) const override {
        if constexpr (Acc::has_cells) {
            uint32_t first = counts.n_values, last = counts.n_values;
            for (uint32_t value = 0; value < counts.n_values; ++value) {
                if (acc_.cell_rows(cell(counts, value)) == 0) continue;
                if (first == counts.n_values) first = value;
                else if (!sklearn_rules) return false;
                last = value;
            }
            if (first == counts.n_values) {
                return counts.n_category_values == 0 || is_one_cell(counts);
            }
            if (counts.n_missing > 0) return false;
            return first == last || counts.values[last] <= counts.values[first] + FEATURE_THRESHOLD;
        }
        return false;
    }
    void subtract(char* table, const char* other, size_t n_bytes) const override {
        Cell* to = reinterpret_cast<Cell*>(table);
        const Cell* from = reinterpret_cast<const Cell*>(other);
        for (size_t i = 0; i < n_bytes / sizeof(Cell); ++i) to[i] -= from[i];
    }

private:
    struct BlockNode {
        Node node;
        uint64_t members;
    };
    std::vector<BlockNode> stack_;
    std::vector<double> left_value_, right_value_;

    // Depth-first, like DepthFirstTreeBuilder. Called once per block, not once per node and
    // feature, so that what a node of a few rows costs is the work on them.
    template <class Sampler>
    void grow(Block& block, const GrowthRules& rules, Sampler& sampler, NodeStore& store,
              const Node& root) {
        left_value_.resize(store.value_size);
        right_value_.resize(store.value_size);
        stack_.assign(1, {root, block.all()});
        if constexpr (BlockScan<Acc>::exists) {
            if (acc_.t.simd == SIMD_AVX512) block_scan_.open(acc_.t, block.rows, block.size());
        }
        uint64_t held = 0;  // the node that the accumulator holds
        uint32_t rows[BLOCK_ROWS];
        Split split;
        Node left, right;
        while (!stack_.empty()) {
            Node node = stack_.back().node;
            const uint64_t members = stack_.back().members;
            stack_.pop_back();
            const uint32_t n = block.rows_of(members, rows);
            if (!acc_.go_on(acc_.work(n) * block.n_features())) return;
            if (held != members) acc_.begin_node(rows, n);
            const double perfect = sampler.is_ascending() ? acc_.perfect_score(rows, n) : INFINITE;
            if (!find_split(block, rules, sampler, node, members, perfect, split)) continue;
            const uint64_t left_members = block.left_members(split, members);
            const uint64_t right_members = members & ~left_members;
            rules.make_children(node, split, node.start + split.n_left, left, right);
            take_stats(block, rules, right_members, right, right_value_);
            take_stats(block, rules, left_members, left, left_value_);
            held = left_members;
            if (!rules.accepts(rules.improvement(node, left, right))) continue;
            left.record = store.append(left, left_value_);
            right.record = store.append(right, right_value_);
            store.set_split(node.record, split, left.record);
            if (!rules.is_terminal(right)) stack_.push_back({right, right_members});
            if (!rules.is_terminal(left)) stack_.push_back({left, left_members});
        }
    }

    void take_stats(const Block& block, const GrowthRules& rules, uint64_t members, Node& node,
                    std::vector<double>& value) {
        uint32_t rows[BLOCK_ROWS];
        const uint32_t n = block.rows_of(members, rows);
        acc_.begin_node(rows, n);
        acc_.node_stats(rows, n, node.stats);
        acc_.node_value(value.data());
        rules.clip(node, value);
    }

    // The best split of a node in a block, of the features that the sampler names.
    template <class Sampler>
    bool find_split(Block& block, const GrowthRules& rules, Sampler& sampler, Node& node,
                    uint64_t members, double perfect, Split& best) {
        best.feature = NO_FEATURE;
        best.score = MINUS_INFINITY;
        sampler.begin(node.key, node.n_known);
        for (uint32_t f = sampler.next(); f != NO_FEATURE; f = sampler.next()) {
            const BlockRuns& picked = block.pick(f, members);
            if (rules.sklearn_rules ? block.list(f).is_constant(true) : picked.is_constant()) {
                sampler.found_constant();
                continue;
            }
            const Limits limits = rules.limits_of(node, f);
            Candidate candidate;
            candidate.score = score_to_beat(best, f, rules.sklearn_rules);
            if (!scan_picked(block, f, picked, limits, candidate)) continue;
            take_candidate(block.list(f), candidate, categories_.groups(), f, best);
            if (best.score >= perfect) break;
        }
        node.n_known = sampler.end();
        if (best.feature == NO_FEATURE) return false;
        if (best.row_below != NO_ROW) {
            const Runs column = block.values_of(best.feature);
            best.threshold =
                midpoint(column.value_of(best.row_below), column.value_of(best.row_above));
        }
        return true;
    }

    // In vectors where there are any, else over the listed runs.
    bool scan_picked(Block& block, uint32_t feature, const BlockRuns& picked,
                     const Limits& limits, Candidate& best) {
        if constexpr (BlockScan<Acc>::exists) {
            if (acc_.t.simd == SIMD_AVX512 && picked.n_missing == 0 && !limits.checked()) {
                return block_scan_.scan(acc_, picked, std::max(limits.min_samples_leaf, 1u), best);
            }
        }
        return scan(block.list(feature), limits, best);
    }

    template <class Code>
    void fill_tables(const uint32_t* rows, uint32_t n, const Code* codes, size_t stride,
                     const uint32_t* slots, const size_t* offsets, uint32_t n_tables,
                     char* cells) const {
        if constexpr (Acc::has_cells) {
            const size_t bytes = cell_bytes();
            for (uint32_t i = 0; i < n; ++i) {
                const Code* row_codes = codes + rows[i] * stride;
                for (uint32_t f = 0; f < n_tables; ++f) {
                    char* cell = cells + offsets[f] + row_codes[slots[f]] * bytes;
                    acc_.fill(reinterpret_cast<Cell*>(cell), rows[i]);
                }
            }
        }
    }

    // Both sides for the missing rows. By default a pass with missing left wins a tie only at
    // a lower threshold; scikit-learn lets the first pass win all ties.
    template <bool checked, class Shape>
    bool both_passes(const Shape& shape, const Limits& limits, Candidate& best) {
        bool found = pass<checked>(shape, false, limits, best);
        if (shape.n_missing == 0) return found;
        Candidate other = best;
        if (found && !limits.sklearn_rules)
            other.score = std::nextafter(best.score, MINUS_INFINITY);
        const bool better = pass<checked>(shape, true, limits, other)
                            && (!found || other.score > best.score || other.left < best.left);
        if (better) best = other;
        return found || better;
    }

    // Candidates on categories, after those on thresholds.
    template <class Shape>
    bool category_pass(const Shape& shape, const Limits& limits, Candidate& best) {
        return categories_.scan(acc_, shape, limits,
                            [&](uint32_t position, uint32_t n_left, Question question) {
            if (!consider<true>(position, position, n_left, false, limits, best)) return false;
            best.question = question;
            return true;
        });
    }
    // Whether a node without numbers holds one category only, or missing values only.
    bool is_one_cell(const Counts& counts) const {
        uint32_t n_cells = 0;
        for (uint32_t c = counts.n_values; c <= counts.n_values + counts.n_category_values; ++c) {
            n_cells += acc_.cell_rows(cell(counts, c)) > 0;
        }
        return n_cells == 1;
    }

    const Cell* cell(const Counts& counts, uint32_t value) const {
        return static_cast<const Cell*>(counts.cells) + value * acc_.cell_size();
    }

    void begin_pass(const Runs& runs, bool missing_left) {
        if constexpr (has_begin_pass<Acc>::value) {
            acc_.begin_pass(runs, missing_left);
        } else {
            acc_.reset();
            if (missing_left) {
                for (uint32_t p = runs.n - runs.n_missing; p < runs.n; ++p) {
                    acc_.add(runs.entries[p] & ROW);
                }
            }
        }
    }

    template <bool checked>
    bool pass(const Runs& runs, bool missing_left, const Limits& limits, Candidate& best) {
        const uint32_t n_values = runs.n - runs.n_missing;
        const uint32_t base = missing_left ? runs.n_missing : 0;
        const uint32_t leaf = std::max(limits.min_samples_leaf, 1u);
        if (runs.n < base + leaf) return false;
        // Candidates have p values on the left, first <= p <= last.
        const uint32_t first = leaf > base ? leaf - base : 1;
        uint32_t last = std::min(runs.n - base - leaf, n_values);
        if (last == n_values && (missing_left || runs.n_missing == 0)) last -= last > 0;
        if (first > last) return false;
        begin_pass(runs, missing_left);
        bool found = false;
        uint32_t p = 0;
        while (p + 1 < first) acc_.add(runs.entries[p++] & ROW);
        // Loop invariant: the accumulator holds the first p values (and the missing rows, if left).
        if (checked && limits.sklearn_rules) {
            while (p < last) {
                acc_.add(runs.entries[p++] & ROW);
                if (!(runs.entries[p] & BOUNDARY) || (limits.near_rule && runs.is_near(p)))
                    continue;
                found |= consider<checked>(p, p, base + p, missing_left, limits, best);
            }
        } else {
            while ((p = advance(acc_, runs.entries, p, last, best.score)) <= last) {
                found |= consider<checked>(p, p, base + p, missing_left, limits, best);
            }
        }
        return found;
    }

    template <bool checked>
    bool pass(const Counts& counts, bool missing_left, const Limits& limits, Candidate& best) {
        const uint32_t leaf = std::max(limits.min_samples_leaf, 1u);
        const size_t step = acc_.cell_size();
        acc_.reset();
        for (uint32_t c = 0; missing_left && c <= counts.n_category_values; ++c) {
            acc_.add_cell(cell(counts, counts.n_values + c));
        }
        bool found = false;
        uint32_t n_left = missing_left ? counts.n_missing : 0;
        uint32_t before = counts.n_values;  // last value moved left, n_values: none yet
        const Cell* current = cell(counts, 0);
        // Loop invariant: the accumulator holds the cells of all values below `value`, n_left rows.
        for (uint32_t value = 0; value < counts.n_values; ++value, current += step) {
            const uint32_t rows = acc_.cell_rows(current);
            if (rows == 0) continue;
            if (before < counts.n_values && n_left >= leaf && counts.n - n_left >= leaf) {
                bool admissible = true;
                if constexpr (checked) {
                    admissible = !limits.near_rule
                        || counts.values[value] > counts.values[before] + FEATURE_THRESHOLD;
                }
                if (admissible) {
                    found |= consider<checked>(before, value, n_left, missing_left, limits, best);
                }
            }
            acc_.add_cell(current);
            n_left += rows;
            before = value;
            if (counts.n - n_left < leaf) return found;
        }
        // All values on the left, missing rows on the right.
        if (!missing_left && counts.n_missing > 0 && before < counts.n_values && n_left >= leaf) {
            found |= consider<checked>(before, counts.n_values, n_left, false, limits, best);
        }
        return found;
    }

    template <bool checked>
    bool pass(const Nonzeros& nonzeros, bool missing_left, const Limits& limits, Candidate& best) {
        if constexpr (has_begin_pass<Acc>::value) {
            Limits here = limits;
            here.near_rule = false;  // list_all applies it
            return pass<checked>(list_all(nonzeros, limits.near_rule), missing_left, here, best);
        } else {
            const bool below = walk<checked, false>(nonzeros, missing_left, limits, best);
            const bool above = walk<checked, true>(nonzeros, missing_left, limits, best);
            return below || above;
        }
    }

    // The candidates on one side of the zeros: thresholds below zero, or, `mirrored`, above. Rows
    // are added to that side's child from the outside in; the accumulator does not mind which
    // child it holds. Mirrored candidates come in descending order: a later one wins a tie.
    template <bool checked, bool mirrored>
    bool walk(const Nonzeros& z, bool missing_left, const Limits& limits, Candidate& best) {
        const uint32_t* entries = mirrored ? z.positives() : z.entries;
        const uint32_t count = mirrored ? z.n_positive : z.n_negative;
        const uint32_t base = missing_left != mirrored ? z.n_missing : 0;
        const uint32_t leaf = std::max(limits.min_samples_leaf, 1u);
        if (z.n < base + leaf) return false;
        // Candidates have k entries (and the missing rows) on the side, first <= k <= last; the
        // missing rows alone are one if they are on the right.
        const uint32_t first = leaf > base ? leaf - base : mirrored ? 0 : 1;
        uint32_t last = std::min(z.n - base - leaf, count);
        if (last == z.n_values()) last -= last > 0;
        if (first > last) return false;
        acc_.reset();
        for (uint32_t i = 0; i < base; ++i) acc_.add(z.missing()[i] & ROW);

        bool found = false;
        double top = best.score;
        const auto take = [&](uint32_t k) {
            const uint32_t p = mirrored ? z.n_values() - k : k;
            const uint32_t n_left = mirrored ? z.n - base - k : base + k;
            if (checked && limits.near_rule && z.is_near(p)) return;
            if (!consider<checked>(p, p, n_left, missing_left, limits, best, mirrored)) return;
            found = true;
            top = best.score;
            if (mirrored) best.score = std::nextafter(top, MINUS_INFINITY);
        };
        uint32_t k = 0;
        if (first == 0) take(0);
        while (k + 1 < first) acc_.add(entries[k++] & ROW);
        // Loop invariant: the accumulator holds the first k entries. The last entry of all borders
        // on the zeros, whatever follows it in memory.
        const uint32_t inner = last == count && count > 0 ? count - 1 : last;
        if (checked && limits.sklearn_rules) {
            while (k < inner) {
                acc_.add(entries[k++] & ROW);
                if (entries[k] & BOUNDARY) take(k);
            }
        } else {
            while ((k = advance(acc_, entries, k, inner, best.score)) <= inner) take(k);
        }
        if (inner < last) {
            acc_.add(entries[inner] & ROW);
            take(last);
        }
        best.score = top;
        return found;
    }

    // All rows of the node in ascending order. `near_rule`: values too close are one run.
    Runs list_all(const Nonzeros& z, bool near_rule) {
        is_listed_.resize(acc_.t.n_rows);
        all_entries_.assign(z.entries, z.entries + z.n_negative);
        for (uint32_t i = 0; i < z.n_listed(); ++i) is_listed_[z.entries[i] & ROW] = 1;
        uint32_t boundary = BOUNDARY;
        for (uint32_t i = 0; i < n_rows_; ++i) {
            if (is_listed_[rows_[i]]) continue;
            all_entries_.push_back(rows_[i] | boundary);
            boundary = 0;
        }
        // Descending entries flag the first of a run from above; here it is the last.
        boundary = BOUNDARY;
        for (uint32_t i = z.n_positive; i-- > 0;) {
            all_entries_.push_back((z.positives()[i] & ROW) | boundary);
            boundary = z.positives()[i] & BOUNDARY;
        }
        boundary = BOUNDARY;
        for (uint32_t i = 0; i < z.n_missing; ++i) {
            all_entries_.push_back((z.missing()[i] & ROW) | boundary);
            boundary = 0;
        }
        for (uint32_t i = 0; i < z.n_listed(); ++i) is_listed_[z.entries[i] & ROW] = 0;
        for (uint32_t p = 1; near_rule && p < z.n; ++p) {
            if (z.is_near(p)) all_entries_[p] &= ROW;
        }
        Runs runs{};
        runs.entries = all_entries_.data();
        runs.n = z.n;
        runs.n_missing = z.n_missing;
        return runs;
    }

    // Takes the accumulator's position as the new best, if it is admissible and scores more.
    // `mirrored`: the accumulator's left child is the right one.
    template <bool checked>
    bool consider(uint32_t left, uint32_t right, uint32_t n_left, bool missing_left,
                  const Limits& limits, Candidate& best, bool mirrored = false) {
        if (!(checked && limits.sklearn_rules) && !acc_.may_beat(best.score)) return false;
        const double score = checked && limits.sklearn_rules ? acc_.sklearn_score() : acc_.score();
        if (!(score > best.score)) return false;
        double middle = 0.0;
        if constexpr (checked) {
            if (!is_admissible(limits, mirrored, middle)) return false;
        }
        best = {score, left, right, n_left, missing_left, middle, THRESHOLD};
        return true;
    }

    bool is_admissible(const Limits& limits, bool mirrored, double& middle) const {
        if (acc_.weight_left() < limits.min_weight_leaf
            || acc_.weight_right() < limits.min_weight_leaf) return false;
        if (limits.monotonic == 0) return true;
        const double l = mirrored ? acc_.value_right() : acc_.value_left();
        const double r = mirrored ? acc_.value_left() : acc_.value_right();
        middle = l / 2 + r / 2;
        return l >= limits.lower && l <= limits.upper && r >= limits.lower && r <= limits.upper
               && (l - r) * limits.monotonic <= 0;
    }
};

}  // namespace fasttree
