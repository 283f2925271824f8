"""The search of one feature in one node."""
from libcpp cimport bool as cbool

from fasttree.engine.core cimport (
    Candidate, Counts, FeatureBound, FeatureSampler, Groups, Limits, Node, NodeStats, Nonzeros,
    Runs, Split, Targets,
)
from fasttree.engine.grow cimport Block, GrowthRules, NodeStore
from fasttree.utils._interrupt cimport Poll
from fasttree.utils._std cimport unique_ptr, vector
from fasttree.utils._typedefs cimport uint32_t, uint64_t


cdef extern from "engine/scan/random_categories.hpp" namespace "fasttree" nogil:
    cdef cppclass CategoryDraw:
        CategoryDraw(const vector[float]& cells, uint64_t key) except +
        cbool is_constant() noexcept
        cbool is_about_categories() noexcept
        cbool numbers_vary() noexcept
        void ask(cbool category_sets, Split& split) except +


cdef extern from "engine/scan/scanner.hpp" namespace "fasttree" nogil:
    cdef cppclass Scanner:
        void watch(Poll* poll) noexcept
        uint64_t work(uint32_t n) noexcept
        void begin_node(const uint32_t* rows, uint32_t n) except +
        void node_stats(const uint32_t* rows, uint32_t n, NodeStats& out) except +
        void node_value(double* value) except +
        FeatureBound feature_bound(double score) except +
        cbool may_beat(const uint32_t* rows, uint32_t n, double score,
                       uint32_t& max_class_count) except +
        double perfect_score(const uint32_t* rows, uint32_t n) except +
        void grow_block(Block& block, const GrowthRules& rules, FeatureSampler& sampler,
                        NodeStore& store, const Node& root) except +
        cbool scan(const Runs&, const Limits&, Candidate& best) except +
        cbool scan_counts "scan"(const Counts&, const Limits&, Candidate& best) except +
        cbool scan_nonzeros "scan"(const Nonzeros&, const Limits&, Candidate& best) except +
        const Groups& groups() noexcept
        cbool is_constant(const Counts&, cbool sklearn_rules) except +


cdef extern from "engine/scan/scanners.hpp" namespace "fasttree":
    unique_ptr[Scanner] make_gini(const Targets&) except +
    unique_ptr[Scanner] make_entropy(const Targets&) except +
    unique_ptr[Scanner] make_chi_square(const Targets&) except +
    unique_ptr[Scanner] make_squared_error(const Targets&) except +
    unique_ptr[Scanner] make_poisson(const Targets&) except +
    unique_ptr[Scanner] make_absolute_error(const Targets&) except +
    unique_ptr[Scanner] make_target_split(const Targets&) except +
