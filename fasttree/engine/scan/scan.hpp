// The scan: one pass over a feature's runs finds its best split in a node.
//
// `ScannerOf` makes a Scanner of any accumulator. See accumulator.hpp.
#pragma once
#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#include "engine/core/cost_model.hpp"
#include "engine/core/runs.hpp"
#include "engine/core/ties.hpp"
#include "engine/scan/bit_screen.hpp"
#include "engine/scan/bounds.hpp"
#include "engine/scan/category_scan.hpp"
#include "engine/scan/cells.hpp"
#include "engine/scan/key_scan.hpp"
#include "engine/scan/scanner.hpp"
#include "engine/scan/skip.hpp"
#include "engine/score/accumulator.hpp"
#include "engine/score/advance.hpp"

namespace fasttree {

// In place of cells that an accumulator does not have.
struct NoCells {
    template <class Acc>
    explicit NoCells(const Acc&) {}
};

template <class Acc>
class ScannerOf final : public Scanner {
    static_assert(is_accumulator<Acc>());
    using Cell = typename Acc::Cell;
    Acc acc_;
    std::conditional_t<Acc::has_cells, CellsOf<Acc>, NoCells> cells_;
    KeyScan<Acc> key_scan_;
    NodeClasses classes_;                // of a node with labels
    CategoryScan<Acc> categories_;
    SeparationBound<Acc> separation_bound_;
    SubsetBound<Acc> subset_bound_;
    BitScreen bit_screen_;
    const uint32_t* rows_ = nullptr;     // of the node begun last
    uint32_t n_rows_ = 0;
    std::vector<uint32_t> all_entries_;  // of a sparse feature, zeros listed
    std::vector<uint8_t> is_listed_;     // by row, all 0 between scans

public:
    explicit ScannerOf(const Targets& targets)
        : acc_(targets), cells_(acc_), key_scan_(acc_), separation_bound_(targets) {}

    void watch(Poll* poll) noexcept override { acc_.poll = poll; }
    uint64_t work(uint32_t n) const noexcept override { return acc_.work(n); }

    void begin_node(const uint32_t* rows, uint32_t n, const Totals& totals) override {
        rows_ = rows;
        n_rows_ = n;
        begin_accumulator(rows, n, totals);
        separation_bound_.begin_node();
    }
    void write_totals(Totals& out) const override {
        out.clear();
        if constexpr (has_totals<Acc>::value) acc_.write_totals(out);
    }
    bool make_labels(const uint32_t* rows, uint32_t n, Label* labels) const override {
        if constexpr (KeyScan<Acc>::exists) return make_class_labels(acc_, rows, n, labels);
        return false;
    }
    void begin_labels(const Label* labels, uint32_t n) override {
        if constexpr (KeyScan<Acc>::exists) {
            classes_.take(acc_.t.simd, labels, n);
            key_scan_.begin_node(acc_, classes_, labels, n);
        }
    }
    const uint32_t* classes_of_entries() const noexcept override {
        return fasttree::classes_of_entries(acc_);
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
    bool stats_follow_totals() const noexcept override { return has_stats_of_totals<Acc>::value; }
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
    bool begins_anywhere() const noexcept override { return has_sides<Acc>::value; }
    const Groups& groups() const noexcept override { return categories_.groups(); }

    bool scan_sides(const Runs& runs, uint32_t n_left, const Limits& limits,
                    Candidate& best) override {
        if (!fills_leaves(runs.n, n_left, limits)) return false;
        begin_pass(runs, false);
        for (uint32_t p = 0; p < n_left; ++p) acc_.add(runs.entries[p] & ROW);
        return consider_sides(n_left, limits, best);
    }
    static bool fills_leaves(uint32_t n, uint32_t n_left, const Limits& limits) {
        const uint32_t leaf = std::max(limits.min_samples_leaf, 1u);
        return n_left >= leaf && n - n_left >= leaf;
    }
    // The same for the sides that the accumulator holds.
    bool consider_sides(uint32_t n_left, const Limits& limits, Candidate& best) {
        return consider<true>(n_left, n_left, n_left, false, limits, best);
    }

    bool scan(const Nonzeros& nonzeros, const Limits& limits, Candidate& best) override {
        return limits.checked() ? both_passes<true>(nonzeros, limits, best)
                                : both_passes<false>(nonzeros, limits, best);
    }

    void screen_bits(const char* cells, uint32_t n_bits, const Limits& limits, double floor,
                     std::vector<uint32_t>& out) override {
        if constexpr (BitScores<Acc>::exists) {
            if (!limits.checked() && BitScores<Acc>::fits(acc_)) {
                bit_screen_.find(acc_, reinterpret_cast<const Cell*>(cells), n_bits,
                                 limits.min_samples_leaf, floor, out);
                return;
            }
        }
        for (uint32_t bit = 0; bit < n_bits; ++bit) out.push_back(bit);
    }

    bool compares(uint32_t n_buckets) const override {
        if constexpr (KeyScan<Acc>::exists) return key_scan_.compares(n_buckets);
        return false;
    }
    void find(const Keys& keys, BestKey& best) override {
        if constexpr (KeyScan<Acc>::exists) key_scan_.find(keys, best);
    }
    void find(const KeyBuckets& buckets, BestKey& best) override {
        if constexpr (KeyScan<Acc>::exists) key_scan_.find(buckets, best);
    }

    const Cells* cells() const noexcept override {
        if constexpr (Acc::has_cells) return &cells_;
        return nullptr;
    }
    bool is_constant(const Counts& counts, bool replay) const override {
        if constexpr (Acc::has_cells) {
            uint32_t first = counts.n_values, last = counts.n_values;
            for (uint32_t value = 0; value < counts.n_values; ++value) {
                if (acc_.cell_rows(cell(counts, value)) == 0) continue;
                if (first == counts.n_values) first = value;
                else if (!replay) return false;
                last = value;
            }
            if (first == counts.n_values) {
                return counts.n_category_values == 0 || is_one_cell(counts);
            }
            if (counts.n_missing > 0) return false;
            return first == last || are_near(counts.values[first], counts.values[last]);
        }
        return false;
    }

    Acc& accumulator() { return acc_; }
    KeyScan<Acc>& key_scan() { return key_scan_; }

private:
    void begin_accumulator(const uint32_t* rows, uint32_t n, const Totals& totals) {
        if constexpr (has_totals<Acc>::value) {
            if (!totals.empty()) return acc_.begin_totals(totals, rows, n);
        }
        acc_.begin_node(rows, n);
    }

    // Both sides for the missing rows. With missing left a lower threshold may win a tie.
    template <bool checked, class Shape>
    bool both_passes(const Shape& shape, const Limits& limits, Candidate& best) {
        bool found = pass<checked>(shape, false, limits, best);
        if (shape.n_missing == 0) return found;
        Candidate other = best;
        other.score = Ties{limits.replay}.to_beat_on_the_left(best.score, found);
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
        const uint32_t first = std::max(leaf > base ? leaf - base : 1, runs.after + 1);
        uint32_t last = std::min({runs.n - base - leaf, n_values, runs.up_to});
        if (last == n_values && (missing_left || runs.n_missing == 0)) last -= last > 0;
        if (first > last) return false;
        bool found = false;
        uint32_t p = first - 1;
        // Loop invariant: the accumulator holds the first p values (and the missing rows, if left).
        if (checked && limits.replay) {
            begin_at(p, runs, missing_left);
            while (p < last) {
                acc_.add(runs.entries[p++] & ROW);
                if (!(runs.entries[p] & BOUNDARY) || (limits.skips_near() && runs.is_near(p)))
                    continue;
                found |= consider<checked>(p, p, base + p, missing_left, limits, best);
            }
            return found;
        }
        if constexpr (has_screen<Acc>::value && !checked) {
            if (!acc_.t.has_negative_weights) {
                begin_at(p, runs, missing_left);
                acc_.screen.find(runs.entries, p, last, acc_.left_.data(), acc_.w, acc_.w_left,
                                 best.score, [&](uint32_t position) {
                    acc_.move_rows(runs.entries + p, position - p);
                    p = position;
                    found |= consider<checked>(p, p, base + p, missing_left, limits, best);
                });
                return found;
            }
        }
        double floor = best.score;
        uint32_t n_scored = 0;
        const auto look = [&](uint32_t begin, uint32_t end) {  // at candidates behind `begin`
            if (begin >= end) return;
            begin_at(p = begin, runs, missing_left);
            const auto next = [&] {  // positions that score about the same are met one by one
                return checked || n_scored > PATIENCE ? advance(acc_, runs, p, end, floor)
                                                      : advance_to_best(acc_, runs, p, end, floor);
            };
            while ((p = next()) <= end) {
                found |= consider<checked>(p, p, base + p, missing_left, limits, best);
                floor = std::max(floor, best.score);
                ++n_scored;
                if constexpr (has_estimate<Acc>::value) {
                    if (n_scored == PATIENCE && survey_pays(acc_.total.size())) {
                        floor = std::max(floor, survey<checked>(runs.entries, p, end, limits));
                        begin_at(p, runs, missing_left);
                    }
                }
            }
        };
        if constexpr (has_sides<Acc>::value) {  // which need not go through a run of most values
            const Stretch common = runs.common_run();
            look(first - 1, std::min(last, common.begin));
            look(std::max(first, common.end) - 1, last);
        } else {
            look(first - 1, last);
        }
        return found;
    }
    // Begins a pass with the first p values on the left.
    void begin_at(uint32_t p, const Runs& runs, bool missing_left) {
        if constexpr (has_sides<Acc>::value) {
            constexpr uint32_t FEW = 1 << 11;
            const uint32_t n_right = runs.n - p - (missing_left ? runs.n_missing : 0);
            const bool is_left = !missing_left && p < n_right;
            if (p > FEW) {
                return is_left ? acc_.take_side(runs.entries, p, true)
                               : acc_.take_side(runs.entries + p, n_right, false);
            }
        }
        begin_pass(runs, missing_left);
        for (uint32_t i = 0; i < p; ++i) acc_.add(runs.entries[i] & ROW);
    }

    // What the best of the positions behind p scores at least, less a bit. Moves the accumulator.
    template <bool checked>
    double survey(const uint32_t* entries, uint32_t p, uint32_t last, const Limits& limits) {
        double least = MINUS_INFINITY, middle;
        while (p < last) {
            acc_.add(entries[p++] & ROW);
            if (!(entries[p] & BOUNDARY)) continue;
            const double score = acc_.estimate() - acc_.estimate_error();
            if (score > least && (!checked || is_admissible(limits, false, middle))) least = score;
        }
        return just_below(least);
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
                    admissible = !limits.skips_near()
                        || !are_near(counts.values[before], counts.values[value]);
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
            here.is_drawn = true;  // list_all has left out what is near
            return pass<checked>(list_all(nonzeros, limits.skips_near()), missing_left, here, best);
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
            if (checked && limits.skips_near() && z.is_near(p)) return;
            if (!consider<checked>(p, p, n_left, missing_left, limits, best, mirrored)) return;
            found = true;
            top = best.score;
            if (mirrored) best.score = just_below(top);
        };
        uint32_t k = 0;
        if (first == 0) take(0);
        while (k + 1 < first) acc_.add(entries[k++] & ROW);
        // Loop invariant: the accumulator holds the first k entries. The last entry of all borders
        // on the zeros, whatever follows it in memory.
        const uint32_t inner = last == count && count > 0 ? count - 1 : last;
        if (checked && limits.replay) {
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

    // All rows of the node in ascending order. `skips_near`: values too close are one run.
    Runs list_all(const Nonzeros& z, bool skips_near) {
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
        for (uint32_t p = 1; skips_near && p < z.n; ++p) {
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
        if (!(checked && limits.replay) && !acc_.may_beat(best.score)) return false;
        const double score = checked && limits.replay ? acc_.sklearn_score() : acc_.score();
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
