// The columns of X in the nodes of one thread: what the search for a split and the growth of
// nodes ask of them, however X is stored.
//
// Nodes own slices [start, end) of the rows; dividing a node moves its rows so that its children
// own slices of its own. Whoever adds a kind of matrix fills every function that has no default.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/core/runs.hpp"
#include "engine/core/sampler.hpp"
#include "engine/core/split.hpp"
#include "engine/order/block.hpp"
#include "engine/order/count_tables.hpp"
#include "engine/scan/scanner.hpp"
#include "engine/search/feature_walk.hpp"
#include "engine/search/walk_shares.hpp"
#include "engine/simd/gather.hpp"
#include "utils/_crew.hpp"

namespace fasttree {

// A list that threads divide in segments, each by itself, and that the last one joins.
struct CutList {
    std::vector<uint32_t> n_left;  // of each segment
    std::atomic<uint32_t> n_open;  // segments that are to be divided

    void begin(uint32_t n_segments) {
        n_left.resize(n_segments);
        n_open = n_segments;
    }
};

// A node whose rows have been divided, for what else is kept of it.
struct Division {
    Node left, right;
    bool with_left, with_right;    // children that will be searched
    const uint32_t* sides;         // of its rows, as bits
    uint32_t n_threads;            // that divide
    const std::vector<uint32_t>* lists;  // features that are, in the order of their parts
    bool is_by_list = false;       // a search may divide a list before it reads it
    uint32_t n_segments = 1;       // of the lists that are cut, the last ones
    uint32_t n_cut = 0;
    std::unique_ptr<CutList[]> cut;

    uint32_t n_rows() const noexcept { return right.end - left.start; }
    uint32_t n_cut_parts() const noexcept { return n_cut * n_segments; }
    uint32_t n_whole() const noexcept { return static_cast<uint32_t>(lists->size()) - n_cut; }
    bool is_cut(uint32_t list) const noexcept { return list >= n_whole(); }
    // The part that divides a list, or the first one of a list that is cut.
    uint32_t part_of(uint32_t list) const noexcept {
        return is_cut(list) ? (list - n_whole()) * n_segments : n_cut_parts() + list;
    }
};
static_assert(is_value<Division>);

class NodeColumns {
protected:
    static constexpr WalkShare ALONE{0, 0, 1};

    Scanner& scanner_;
    // The thread's share of a node. Tables of nodes are here, or with the thread that shares one.
    WalkShare share_ = ALONE;
    const CountTables* node_tables_ = &tables;

public:
    // Count tables, if any column is counted.
    CountTables tables;
    // Features that are lists, ascending; if there are any, the shares of a walk are features.
    std::vector<uint32_t> listed_features;
    // Where subtrees of few rows are grown, if they are grown that way.
    std::unique_ptr<Block> block;
    // How many rows such subtrees have at most. Without a block, drawn questions divide them.
    uint32_t block_rows = 0;

    explicit NodeColumns(Scanner& scanner) : scanner_(scanner) {}
    NodeColumns(const NodeColumns&) = delete;
    virtual ~NodeColumns() = default;

    // A search of a node begins of which this thread has a share, and ends.
    void begin_share(const WalkShare& share, const CountTables& of_node) noexcept {
        share_ = share;
        node_tables_ = &of_node;
    }
    void end_share() noexcept { begin_share(ALONE, tables); }
    // Those of the node that is searched.
    const CountTables& node_tables() const noexcept { return *node_tables_; }

    // Whether the subtree below a node is grown in one place.
    bool fits_block(const Node& node) const noexcept {
        return node.size() <= block_rows;
    }
    void open_block(Node& node) {
        tables.release(node.table);
        node.table = NO_TABLE;
        block->open(node.start, node.end, rows(node));
        node.members = block->all();
    }

    // How many lists, the last ones of any order, threads search in segments.
    virtual uint32_t n_lists_in_segments(uint32_t) const { return 0; }

    // The features that nodes look at; the limits are those of all of them, or strangers still.
    virtual std::unique_ptr<FeatureWalk> make_walk(FeatureSampler&, Scanner&, Poll&,
                                                   const Limits&) = 0;

    // Says that nodes with rows [start, end) have been grown: nothing is asked of them any more.
    virtual void finish_rows(uint32_t, uint32_t) noexcept {}

    // Rows of a node; good until the next call. The scanner takes them, with what is known of them.
    virtual const uint32_t* rows(const Node& node) = 0;
    virtual void begin_node(const Node& node, const uint32_t* rows, const Totals& totals) {
        scanner_.begin_node(rows, node.size(), totals);
    }
    virtual float value(uint32_t row, uint32_t feature) const noexcept = 0;

    // Makes the feature's best split in the node `best`, if its score is larger than `to_beat`.
    // True if the feature is constant in the node.
    virtual bool scan(const Node& node, uint32_t feature, const Limits& limits, double to_beat,
                      Split& best) = 0;

    // For questions that are drawn. Cells of the node in a column of categories; null elsewhere.
    virtual const float* category_cells(const Node& node, uint32_t feature) = 0;
    virtual Extremes extremes(const Node& node, uint32_t feature) = 0;
    // Makes the question drawn about the feature, whose cells or extremes were asked for last, a
    // candidate, if its score is larger than that of `candidate`.
    virtual bool scan_drawn(const Node& node, uint32_t feature, Split& drawn,
                            const Limits& limits, Candidate& candidate) = 0;

    // Moves the node's rows that go left to the front, with the crew if there is one; returns
    // the first position on the right.
    virtual uint32_t divide_rows(const Split& split, const Node& node, Crew* crew) = 0;
    // Side of each row in the splits made last, by row; kept where there are lists.
    virtual const uint32_t* sides() const noexcept = 0;
    // What is kept per node besides the rows is divided in parts, between begin_division, which
    // says how many, and end_division. Threads may share the parts, each with columns of its own.
    virtual uint32_t begin_division(Division& division) = 0;
    // Nothing is kept of features that the sampler knows to be constant.
    virtual void divide_part(uint32_t part, const Division& division,
                             const FeatureSampler& sampler) = 0;
    virtual void end_division(const Division& division) noexcept = 0;
};

}  // namespace fasttree
