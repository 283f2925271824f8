// A node under any criterion, so that the kernels of its accumulator are called by one interface.
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels.hpp"

namespace fasttree::tests {

// Scores are of positions: the first p rows of the node's runs are on the left.
class Probe {
public:
    virtual ~Probe() = default;
    virtual void begin(const uint32_t* rows, uint32_t n) = 0;
    // Becomes what is left of the node without a part of its rows; false if its totals do not tell.
    virtual bool take_rest(const uint32_t* part, uint32_t n_part, const uint32_t* rest,
                           uint32_t n_rest) = 0;
    // scores[p], 0 < p < n, with rows moved one by one or, `cells`, as cells of `size` rows.
    virtual void scores(const uint32_t* entries, double* scores) = 0;
    virtual void cell_scores(const uint32_t* entries, uint32_t size, double* scores) = 0;
    // Positions behind `first` at which the scan stops, and the score found there; behind them
    // `last` + 1 and the score of `last`.
    virtual void stops(const Runs& runs, uint32_t first, uint32_t last, double best,
                       std::vector<uint32_t>& positions, std::vector<double>& scores) = 0;
    // The same with `advance_to_best`, where `best` rises to what was found.
    virtual void stops_at_best(const Runs& runs, uint32_t first, uint32_t last, double best,
                               std::vector<uint32_t>& positions,
                               std::vector<double>& scores) = 0;
    // Positions behind `first`, up to `last`, that the screen of many outputs finds.
    virtual void found(const uint32_t* entries, uint32_t first, uint32_t last, double best,
                       std::vector<uint32_t>& positions) = 0;
    // Whether the n rows behind the first are skipped; the score where the accumulator then is.
    virtual bool skip(const uint32_t* entries, uint32_t first, uint32_t n, double best,
                      double& score) = 0;
    virtual void count_classes(const uint32_t* entries, uint32_t n, int64_t* counts) = 0;
    // Scores of the positions from `first` on, where the pass begins: the rows of one side are
    // counted. False: the accumulator cannot begin there.
    virtual bool scores_behind(const uint32_t* entries, uint32_t first, bool is_left,
                               std::vector<double>& scores) = 0;
    virtual double parting_bound(double n, double weight) = 0;
    virtual FeatureBound feature_bound(double score) = 0;
    virtual bool may_beat(const uint32_t* entries, uint32_t n, double score,
                          uint32_t& max_class_count) = 0;
    // The best candidate of a block's node above `best.score`; false: none, or no such kernel.
    virtual bool block_scan(const uint32_t* rows, uint32_t n, const BlockRuns& runs, uint32_t leaf,
                            Candidate& best) = 0;
    // The best candidate in all features of a block's node, given by codes, [n_features, n]; false:
    // the block does not fit this kernel. No feature: there is none. `sides` are those of the best.
    virtual bool block_search(const uint8_t* codes, uint32_t n_features, const uint32_t* rows,
                              uint32_t n, uint64_t members, BlockBest& best,
                              BlockSides& sides) = 0;
    // Count tables of features with n_values values, [feature, value, item], of codes that are
    // [row, stride]; how many rows from the first on are counted in series, of the features that
    // are taken together with the first one.
    virtual void cells(const uint8_t* codes, size_t stride, const uint32_t* slots,
                       uint32_t n_features, uint32_t n_values, std::vector<int64_t>& cells) = 0;
    virtual uint32_t n_in_series(const uint8_t* codes, size_t stride, const uint32_t* slots,
                                 uint32_t n_features, uint32_t n_values) = 0;
    // The class of nearly all rows of the node, or -1.
    virtual int common_class() const = 0;
    // Cells of columns of two values, [bit, value, item]; bits that the screen leaves, all if there
    // is none.
    virtual void bit_cells(const BitRows& bits, std::vector<int64_t>& cells) = 0;
    virtual void screen_bits(const BitRows& bits, uint32_t leaf, double floor,
                             std::vector<uint32_t>& found) = 0;
    // Likewise of the node's rows by their keys.
    virtual void key_scan(const Keys& keys, BestKey& best) = 0;
    virtual void key_scan(const KeyBuckets& buckets, BestKey& best) = 0;
    // The best threshold between keys of few rows of small weights; AVX2.
    virtual LightBest light_scan(const uint16_t* keys) = 0;
};

// Columns of codes, all of them numbers.
class BlockOfCodes final : public BlockSource {
    const uint8_t* codes_;  // [n_features, n]
    const uint32_t n_;
    const BitColumns no_bits_;

public:
    BlockOfCodes(const uint8_t* codes, uint32_t n) : codes_(codes), n_(n) {}
    void make_order(const Block&, uint32_t feature, BlockOrder& out) override {
        order_codes_portable(codes_ + static_cast<size_t>(feature) * n_, n_, 256, out);
    }
    bool make_ranks(const Block&, uint32_t feature, uint8_t* ranks, size_t pitch) override {
        const uint8_t* codes = codes_ + static_cast<size_t>(feature) * n_;
        for (uint32_t i = 0; i < n_; ++i) ranks[i * pitch] = codes[i];
        return true;
    }
    Runs values_of(uint32_t) const override { return {}; }
    const float* number_of(uint32_t, uint32_t) const override { return nullptr; }
    const BitColumns& bits() const override { return no_bits_; }
};

template <class Acc>
class ProbeOf final : public Probe {
    const Targets targets_;
    Acc acc_;
    SubsetScoreBound<Acc> subset_score_bound_;
    SeparationBound<Acc> separation_bound_;
    SubsetBound<Acc> subset_bound_;
    std::vector<uint32_t> rows_;

    void begin_pass(const uint32_t* entries) {
        if constexpr (Acc::has_cells) acc_.reset();
        else acc_.begin_pass(Runs{entries, n(), 0, {}}, false);
    }
    uint32_t n() const { return static_cast<uint32_t>(rows_.size()); }

    // Labels of the rows, padded, and their classes; none if weights are large.
    std::vector<Label> take_labels(NodeClasses& classes) {
        std::vector<Label> out(n() + KEY_PADDING);
        if (!make_class_labels(acc_, rows_.data(), n(), out.data())) return {};
        classes.take(targets_.simd, out.data(), n());
        return out;
    }

    template <class Read>
    void scan_keys(const Read& read, BestKey& best) {
        if constexpr (KeyScan<Acc>::exists) {
            KeyScan<Acc> key_scan(acc_);
            NodeClasses classes;
            const std::vector<Label> labels = take_labels(classes);
            if (labels.empty()) return;
            key_scan.begin_node(acc_, classes, labels.data(), n());
            key_scan.find(read, best);
        }
    }

    using Cell = typename Acc::Cell;
    // Features whose tables follow each other.
    std::vector<CountedFeature> counted(const uint32_t* slots, uint32_t n_features,
                                        uint32_t n_values) const {
        const size_t n_bytes = n_values * acc_.cell_size() * sizeof(Cell);
        std::vector<CountedFeature> out;
        for (uint32_t f = 0; f < n_features; ++f) out.push_back({f * n_bytes, slots[f]});
        return out;
    }
    // In two shares of the words, each in two batches of rows.
    std::vector<Cell> fill_bits(const BitRows& bits) {
        const CellsOf<Acc> all(acc_);
        std::vector<Cell> cells(all.bit_bytes(bits.n_bits()) / sizeof(Cell), Cell{1});
        char* bytes = reinterpret_cast<char*>(cells.data());
        const uint32_t half = bits.n_words / 2, first = n() / 3;
        for (const auto& [begin, end] : {std::pair(0u, half), std::pair(half, bits.n_words)}) {
            if (begin == end) continue;
            all.clear_bits(bits.n_bits(), begin, end, bytes);
            all.fill_bits(bits, begin, end, rows_.data(), first, bytes);
            all.fill_bits(bits, begin, end, rows_.data() + first, n() - first, bytes);
        }
        return cells;
    }

public:
    explicit ProbeOf(const Targets& targets)
        : targets_(targets), acc_(targets_), separation_bound_(targets_) {}

    void begin(const uint32_t* rows, uint32_t n_rows) override {
        rows_.assign(rows, rows + n_rows);
        acc_.begin_node(rows_.data(), n_rows);
        separation_bound_.begin_node();
        if constexpr (SubsetScoreBound<Acc>::exists) subset_score_bound_.begin(acc_, rows, n_rows);
    }
    bool take_rest(const uint32_t* part, uint32_t n_part, const uint32_t* rest,
                   uint32_t n_rest) override {
        if constexpr (has_totals<Acc>::value) {
            Totals of_node, of_part, of_rest;
            acc_.write_totals(of_node);
            acc_.begin_node(part, n_part);
            acc_.write_totals(of_part);
            subtract(of_node, of_part, of_rest);
            rows_.assign(rest, rest + n_rest);
            acc_.begin_totals(of_rest, rows_.data(), n_rest);
            return true;
        }
        return false;
    }
    void scores(const uint32_t* entries, double* scores) override {
        begin_pass(entries);
        for (uint32_t p = 1; p < n(); ++p) {
            acc_.add(entries[p - 1] & ROW);
            scores[p] = acc_.score();
        }
    }
    void cell_scores(const uint32_t* entries, uint32_t size, double* scores) override {
        if constexpr (Acc::has_cells) {
            acc_.reset();
            std::vector<typename Acc::Cell> cell(acc_.cell_size());
            for (uint32_t p = 1; p < n(); ++p) {
                acc_.cell_adder(entries[p - 1] & ROW)(cell.data());
                if (p % size != 0) continue;
                acc_.add_cell(cell.data());
                scores[p] = acc_.score();
                std::fill(cell.begin(), cell.end(), 0);
            }
        }
    }
    void stops(const Runs& runs, uint32_t first, uint32_t last, double best,
               std::vector<uint32_t>& positions, std::vector<double>& scores) override {
        begin_pass(runs.entries);
        for (uint32_t p = 0; p < first; ++p) acc_.add(runs.row(p));
        uint32_t p = first;
        do {
            p = advance(acc_, runs, p, last, best);
            positions.push_back(p);
            scores.push_back(acc_.score());
        } while (p <= last);
    }
    void stops_at_best(const Runs& runs, uint32_t first, uint32_t last, double best,
                       std::vector<uint32_t>& positions, std::vector<double>& scores) override {
        begin_pass(runs.entries);
        for (uint32_t p = 0; p < first; ++p) acc_.add(runs.row(p));
        uint32_t p = first;
        while ((p = advance_to_best(acc_, runs, p, last, best)) <= last) {
            positions.push_back(p);
            scores.push_back(acc_.score());
            best = std::max(best, scores.back());
        }
    }
    void found(const uint32_t* entries, uint32_t first, uint32_t last, double best,
               std::vector<uint32_t>& positions) override {
        if constexpr (has_screen<Acc>::value) {
            acc_.reset();
            acc_.move_rows(entries, first);
            acc_.screen.find(entries, first, last, acc_.left_.data(), acc_.w, acc_.w_left, best,
                             [&](uint32_t position) { positions.push_back(position); });
        }
    }
    bool skip(const uint32_t* entries, uint32_t first, uint32_t n_rows, double best,
              double& score) override {
        bool moved = false;
        if constexpr (std::is_same_v<Acc, Gini<UnitWeights, uint8_t, true>>) {
            acc_.reset();
            for (uint32_t p = 0; p < first; ++p) acc_.add(entries[p] & ROW);
            moved = fasttree::skip(acc_, entries + first, n_rows, best);
            score = acc_.score();
        }
        return moved;
    }
    void count_classes(const uint32_t* entries, uint32_t n_entries, int64_t* counts) override {
        if constexpr (std::is_same_v<Acc, Gini<UnitWeights, uint8_t, true>>) {
            acc_.count_rows(entries, n_entries, counts);
        }
    }
    bool scores_behind(const uint32_t* entries, uint32_t first, bool is_left,
                       std::vector<double>& scores) override {
        if constexpr (has_sides<Acc>::value) {
            if (is_left) acc_.take_side(entries, first, true);
            else acc_.take_side(entries + first, n() - first, false);
            for (uint32_t p = first; p < n(); ++p) {
                scores.push_back(acc_.score());
                acc_.add(entries[p] & ROW);
            }
        }
        return has_sides<Acc>::value;
    }
    double parting_bound(double n_parted, double weight) override {
        if constexpr (SubsetScoreBound<Acc>::exists) {
            return subset_score_bound_.bound(acc_, n_parted, weight);
        }
        return INFINITE;
    }
    FeatureBound feature_bound(double score) override {
        return separation_bound_.feature_bound(acc_, rows_.data(), n(), score);
    }
    bool may_beat(const uint32_t* entries, uint32_t n_entries, double score,
                  uint32_t& max_class_count) override {
        if constexpr (SubsetBound<Acc>::exists) {
            return subset_bound_.may_beat(acc_, entries, n_entries, score, max_class_count);
        }
        return true;
    }
    bool block_scan(const uint32_t* rows, uint32_t n_rows, const BlockRuns& runs, uint32_t leaf,
                    Candidate& best) override {
        if constexpr (BlockScan<Acc>::exists) {
            BlockScan<Acc> block_scan;
            block_scan.open(targets_, rows, n_rows);
            acc_.reset();
            return block_scan.scan(acc_, runs, leaf, best);
        }
        return false;
    }
    bool block_search(const uint8_t* codes, uint32_t n_features, const uint32_t* rows,
                      uint32_t n_rows, uint64_t members, BlockBest& best,
                      BlockSides& sides) override {
        if constexpr (BlockSearch<Acc>::exists) {
            BlockOfCodes source(codes, n_rows);
            Block block(source, targets_.simd, targets_.n_rows, n_features);
            block.open(0, n_rows, rows);
            BlockSearch<Acc> search;
            search.open(block, targets_);
            if (!search.takes(block, [](uint32_t) { return false; })) return false;
            if (search.find(block, members, search.totals(members), best)) {
                sides = search.sides(block, members, best);
            }
            return true;
        }
        return false;
    }
    void cells(const uint8_t* codes, size_t stride, const uint32_t* slots, uint32_t n_features,
               uint32_t n_values, std::vector<int64_t>& cells) override {
        if constexpr (Acc::has_cells) {
            const CellsOf<Acc> all(acc_);
            const std::vector<CountedFeature> features = counted(slots, n_features, n_values);
            std::vector<Cell> filled(n_features * n_values * acc_.cell_size());
            char* const bytes = reinterpret_cast<char*>(filled.data());
            const uint32_t first = n() / 3;  // in two batches
            all.fill(rows_.data(), first, codes, stride, features.data(), n_features, bytes);
            all.fill(rows_.data() + first, n() - first, codes, stride, features.data(), n_features,
                     bytes);
            cells.assign(filled.begin(), filled.end());
        }
    }
    uint32_t n_in_series(const uint8_t* codes, size_t stride, const uint32_t* slots,
                         uint32_t n_features, uint32_t n_values) override {
#if FASTTREE_X86
        if constexpr (counts_classes<Acc>) {
            using Series = CodeSeries<Acc>;
            const std::vector<CountedFeature> features = counted(slots, n_features, n_values);
            const uint32_t n_within = Series::n_within(features.data(), n_features);
            if (!Series::pays(acc_, n()) || !Series::pays(n_within)) return 0;
            std::vector<Cell> filled(n_features * n_values * acc_.cell_size());
            Series series(acc_, codes, stride, features.data(), n_within,
                          reinterpret_cast<char*>(filled.data()));
            return series.count(rows_.data(), n());
        }
#endif
        return 0;
    }
    int common_class() const override {
        if constexpr (std::is_base_of_v<ClassWeights<UnitWeights, uint8_t, true>, Acc>) {
            return acc_.common.of_node();
        }
        return -1;
    }
    void bit_cells(const BitRows& bits, std::vector<int64_t>& cells) override {
        if constexpr (Acc::has_cells) {
            const std::vector<Cell> filled = fill_bits(bits);
            const CellsOf<Acc> all(acc_);
            std::vector<Cell> pair(3 * acc_.cell_size());
            for (uint32_t bit = 0; bit < bits.n_bits(); ++bit) {
                all.pair(reinterpret_cast<const char*>(filled.data()), bits.n_bits(), bit,
                         reinterpret_cast<char*>(pair.data()));
                for (Cell item : pair) cells.push_back(static_cast<int64_t>(item));
            }
        }
    }
    void screen_bits(const BitRows& bits, uint32_t leaf, double floor,
                     std::vector<uint32_t>& found) override {
        if constexpr (BitScores<Acc>::exists) {
            BitScreen screen;
            screen.find(acc_, fill_bits(bits).data(), bits.n_bits(), leaf, floor, found);
        } else {
            for (uint32_t bit = 0; bit < bits.n_bits(); ++bit) found.push_back(bit);
        }
    }
    void key_scan(const Keys& keys, BestKey& best) override { scan_keys(keys, best); }
    void key_scan(const KeyBuckets& buckets, BestKey& best) override { scan_keys(buckets, best); }
    LightBest light_scan(const uint16_t* keys) override {
        if constexpr (KeyScan<Acc>::exists && FASTTREE_X86) {
            NodeClasses classes;
            const std::vector<Label> labels = take_labels(classes);
            alignas(64) uint16_t padded[LIGHT_ROWS];
            std::fill_n(padded, LIGHT_ROWS, keys[0]);
            std::copy_n(keys, n(), padded);
            LightNode node{};
            node.n = n();
            node.weight = classes.weight();
            node.n_classes = static_cast<uint32_t>(classes.rows().size());
            std::copy(classes.rows().begin(), classes.rows().end(), node.classes);
            for (uint32_t i = 0; i < n(); ++i) {
                node.weights[i] = static_cast<uint16_t>(label_weight(labels[i]));
            }
            typename KeyScan<Acc>::KeyScore score{};
            score.w = node.weight;
            if constexpr (decltype(score)::two_classes) score.t = node.classes[1].weight;
            return best_of_light(acc_.t.simd, score, node, padded);
        } else {
            return {};
        }
    }
};

template <class Weights, bool single_output>
inline std::unique_ptr<Probe> make_probe_of(const std::string& criterion, const Targets& t) {
    if constexpr (single_output) {
        if (criterion == "binary_gini") return std::make_unique<ProbeOf<BinaryGini<Weights>>>(t);
        if (criterion == "chi_square") {
            return std::make_unique<ProbeOf<ChiSquare<Weights, uint8_t, true>>>(t);
        }
    }
    if (criterion == "gini") {
        return std::make_unique<ProbeOf<Gini<Weights, uint8_t, single_output>>>(t);
    }
    if (criterion == "entropy") {
        return std::make_unique<ProbeOf<Entropy<Weights, uint8_t, single_output>>>(t);
    }
    if (criterion == "squared_error") {
        return std::make_unique<ProbeOf<SquaredError<Weights, single_output>>>(t);
    }
    if (criterion == "poisson") {
        return std::make_unique<ProbeOf<Poisson<Weights, single_output>>>(t);
    }
    if (criterion == "absolute_error") return std::make_unique<ProbeOf<AbsoluteError<Weights>>>(t);
    return nullptr;
}

inline std::unique_ptr<Probe> make_probe(const std::string& criterion, const Targets& t) {
    if (t.n_outputs > 1) {
        return t.weights ? make_probe_of<SampleWeights, false>(criterion, t)
                         : make_probe_of<UnitWeights, false>(criterion, t);
    }
    return t.weights ? make_probe_of<SampleWeights, true>(criterion, t)
                     : make_probe_of<UnitWeights, true>(criterion, t);
}

}  // namespace fasttree::tests
