// The interface that splitters call once per (node, feature); scan/scan.hpp implements it.
#pragma once
#include <cstdint>
#include <vector>

#include "engine/core/cells.hpp"
#include "engine/core/keys.hpp"
#include "engine/core/nonzeros.hpp"
#include "engine/core/runs.hpp"
#include "engine/core/targets.hpp"
#include "utils/_interrupt.hpp"

namespace fasttree {

class Scanner {
public:
    virtual ~Scanner() = default;

    // Counts the steps of long scans, which find nothing any more once it says to give up.
    virtual void watch(Poll* poll) noexcept = 0;
    // Steps of a scan of n rows of the node begun last, about.
    virtual uint64_t work(uint32_t n) const noexcept = 0;

    // Takes the node's rows, which are counted for the scans that follow unless totals are known.
    virtual void begin_node(const uint32_t* rows, uint32_t n, const Totals& totals) = 0;
    // Totals of the node begun last; empty if the scans need more than those.
    virtual void write_totals(Totals& out) const = 0;
    // Class and weight of each row, which nodes keep beside their rows for searches by keys; false
    // if these targets have none. With labels a node begins by begin_labels, in class order.
    virtual bool make_labels(const uint32_t* rows, uint32_t n, Label* labels) const = 0;
    virtual void begin_labels(const Label* labels, uint32_t n) = 0;
    // Classes, as bits by row, that scans read from the entries of lists that hold them; null if
    // scans read none there.
    virtual const uint32_t* classes_of_entries() const noexcept = 0;
    // Of the node begun last, same rows.
    virtual void node_stats(const uint32_t* rows, uint32_t n, NodeStats& out) = 0;
    virtual void node_value(double* value) const = 0;
    // Whether the statistics follow from the totals, or take a pass over the rows.
    virtual bool stats_follow_totals() const noexcept = 0;

    // A score that no split of the node begun last exceeds, in doubles; infinity where none is
    // known.
    virtual double perfect_score(const uint32_t* rows, uint32_t n) = 0;

    // Which sparse features may score at least `score` in the node begun last.
    virtual FeatureBound feature_bound(double score) = 0;
    // False only if separating any of these rows from the others of the node begun last does not
    // score more than `score`. `max_class_count`: see FeatureBound, lowered if the rows' classes
    // were counted.
    virtual bool may_beat(const uint32_t* rows, uint32_t n, double score,
                          uint32_t& max_class_count) = 0;

    // Replaces `best` by the feature's best admissible candidate and returns true, if its
    // score is larger than best.score. Ties: thresholds before categories; lower threshold, then
    // missing right; categories in code order.
    virtual bool scan(const Runs&, const Limits&, Candidate& best) = 0;
    virtual bool scan(const Counts&, const Limits&, Candidate& best) = 0;
    virtual bool scan(const Nonzeros&, const Limits&, Candidate& best) = 0;
    // Whether scans that begin anywhere in a list take a fraction of the time that all of it takes.
    virtual bool begins_anywhere() const noexcept = 0;
    // For a node with labels: thresholds on a feature of numbers, without limits but that neither
    // child is empty; see ClassKeyScan.
    virtual bool compares(uint32_t n_buckets) const = 0;
    virtual void find(const Keys&, BestKey& best) = 0;
    virtual void find(const KeyBuckets&, BestKey& best) = 0;
    // Of columns of two values, whose cells (core/cells.hpp) these are: appends, ascending, the
    // bits that may be the best split of the node begun last and score at least `floor`; perhaps
    // all.
    virtual void screen_bits(const char* cells, uint32_t n_bits, const Limits&, double floor,
                             std::vector<uint32_t>& out) = 0;
    // The same for one candidate: the first n_left entries, in any order, are the left child.
    virtual bool scan_sides(const Runs&, uint32_t n_left, const Limits&, Candidate& best) = 0;
    // Groups of the feature scanned last, for CATEGORY_SET in ascending order of their means.
    virtual const Groups& groups() const noexcept = 0;

    // What count tables hold; null: the criterion reads runs only.
    virtual const Cells* cells() const noexcept = 0;
    // True if the rows of the node all have one value, or none (replay: or values too close).
    virtual bool is_constant(const Counts&, bool replay) const = 0;
};

}  // namespace fasttree
