"""Splitters: best thresholds, or random ones.

The loop over features is written once; the two splitters differ in how they evaluate a feature.
A best search costs O(rows) per presorted feature, O(rows + distinct values) per counted one; a
random one O(rows).
"""
import numpy as np

from cython.operator cimport dereference as deref
from cython.parallel cimport prange
from libc.math cimport INFINITY, isnan, ldexp
from libc.stddef cimport size_t
from libcpp.utility cimport move

from fasttree.engine.core cimport (
    BOUNDARY, Counts, FEATURE_THRESHOLD, KeyedSampler, NO_FEATURE, NO_ROW, NO_TABLE, Nonzeros,
    FeatureBound, Runs, SklearnSampler, THRESHOLD, lists_pay, midpoint, mix, score_to_beat,
    sparse_lists_pay, take_candidate, take_counted, take_nonzeros,
)
from fasttree.engine.grow cimport BLOCK_ROWS, Block
from fasttree.engine.scan cimport CategoryDraw
from fasttree.tree._encoding cimport SparseEncoding
from fasttree.tree._options cimport AUTO, COUNT, PRESORT, SORT, Strategy
from fasttree.tree._partitioner cimport DensePartitioner
from fasttree.tree._sparse_partitioner cimport ExtractionPartitioner, ListPartitioner

cdef vector[uint32_t] weighted_rows(size_t n, const float64_t[::1] weights,
                                    const uint32_t[::1] rows) except *:
    """The rows of a sample whose weight is not zero; `rows` are all n if they are not given."""
    cdef vector[uint32_t] out
    cdef size_t i
    out.reserve(n)
    for i in range(n):
        if weights is None or weights[i] != 0.0:
            out.push_back(<uint32_t> i if rows is None else rows[i])
    return out


cdef class Splitter:
    """Search for the best split of a node (abstract).

    Parameters
    ----------
    criterion : Criterion
    max_features : int
        Features a node looks at.
    min_samples_leaf : int
    min_weight_leaf : float
        Smallest sum of weights in a child.
    random_state : RandomState or int
        Draws the seed of the fit, or is it.
    monotonic_cst : ndarray of shape (n_features,), int8, or None
    category_sets : bool, default=False
        Split categories into the best two sets instead of one against the rest. The criterion must
        be one of means: one output, and two classes or regression other than absolute error.
    """

    def __init__(self, Criterion criterion, max_features, min_samples_leaf, min_weight_leaf,
                 random_state, monotonic_cst, category_sets=False):
        self.criterion = criterion
        self.max_features = max_features
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_leaf = min_weight_leaf
        self.random_state = random_state
        self.monotonic_cst = monotonic_cst
        self.with_monotonic_cst = monotonic_cst is not None
        self.category_sets = category_sets

    def __reduce__(self):
        cst = np.asarray(self.monotonic_cst) if self.with_monotonic_cst else None
        return type(self), (self.criterion, self.max_features, self.min_samples_leaf,
                            self.min_weight_leaf, self.random_state, cst, self.category_sets)

    cdef int init(self, Encoding encoding, const float64_t[:, ::1] y,
                  const float64_t[::1] sample_weight, const uint32_t[::1] rows,
                  FitOptions options) except -1:
        cdef uint32_t n_features = encoding.n_features
        cdef uint32_t max_features = <uint32_t> min(self.max_features, n_features)
        if hasattr(self.random_state, "randint"):
            self.seed = self.random_state.randint(0, 2147483647)
        else:
            self.seed = self.random_state
        self.rules.min_samples_leaf = self.min_samples_leaf
        self.rules.monotonic_cst = &self.monotonic_cst[0] if self.with_monotonic_cst else NULL
        self.rules.sklearn_rules = options.sklearn_rules
        self.rules.category_sets = self.category_sets
        self.draws = max_features < n_features
        self.interrupt = Interrupt()
        self.count_forced = options.strategy == COUNT
        self.with_blocks = (options.strategy == AUTO and options.depth_first
                            and self.searches_lists())
        self.criterion.init(y, sample_weight, rows, encoding.n_rows, options)
        self.rules.min_weight_leaf = ldexp(self.min_weight_leaf, -self.criterion.weight_exponent)
        if self.criterion.targets.has_negative_weights:
            # Children of no or negative weight are no candidates.
            self.rules.min_weight_leaf = max(self.rules.min_weight_leaf,
                                             self.criterion.least_weight)
            if self.category_sets and encoding.n_categories is not None:
                raise ValueError(
                    "categorical_split='subset' does not support negative sample weights; use "
                    "categorical_split='equality'.")
        self.partitioner = self.make_partitioner(
            encoding, weighted_rows(y.shape[0], sample_weight, rows), options)
        if options.sklearn_rules:
            self.sampler.reset(new SklearnSampler(n_features, max_features, <uint32_t> self.seed))
        else:
            self.sampler.reset(new KeyedSampler(n_features, max_features))
        return self.attach()

    cdef Partitioner make_partitioner(self, Encoding encoding, const vector[uint32_t]& rows,
                                      FitOptions options):
        """Rows and columns, kept as the features that nodes look at demand."""
        cdef uint32_t n_features = encoding.n_features
        cdef uint32_t max_features = <uint32_t> min(self.max_features, n_features)
        cdef Strategy strategy = options.strategy
        cdef Partitioner partitioner
        cdef bint with_lists
        if isinstance(encoding, SparseEncoding):
            with_lists = strategy == PRESORT or strategy == COUNT or (
                strategy == AUTO and sparse_lists_pay(n_features, max_features))
            partitioner = ListPartitioner() if with_lists else ExtractionPartitioner()
            # A threshold separates nonzeros from the rest, and no fewer than a leaf has rows; but
            # which features are constant matters to draws.
            if not self.draws and not self.rules.sklearn_rules:
                partitioner.least = <uint32_t> self.min_samples_leaf
        else:
            partitioner = DensePartitioner()
            if not self.searches_lists():
                options.strategy = strategy = SORT
            with_lists = strategy == PRESORT or (
                strategy == AUTO and lists_pay(n_features, max_features))
        partitioner.init(encoding, rows, with_lists, options)
        return partitioner

    cdef bint searches_lists(self):
        """Whether features are read in ascending order."""
        return True

    cdef int attach(self) except -1:
        """What a thread owns, once criterion and partitioner are there."""
        self.steps = self.interrupt.poll()
        self.scanner = self.criterion.scanner.get()
        self.scanner.watch(&self.steps)
        self.current_start = self.current_end = 0
        self.left_value.resize(self.criterion.value_size)
        self.right_value.resize(self.criterion.value_size)
        self.scratch_table = NO_TABLE
        self.tables.reset(new CountTables(
            deref(self.partitioner.dense_sample()), deref(self.scanner), self.count_forced))
        self.node_tables = self.tables.get()
        return 0

    cdef Splitter clone(self):
        """A splitter of the same fit for another thread."""
        cdef Splitter other = type(self)(
            self.criterion.clone(), self.max_features, self.min_samples_leaf,
            self.min_weight_leaf, self.random_state,
            np.asarray(self.monotonic_cst) if self.with_monotonic_cst else None, self.category_sets)
        other.partitioner = self.partitioner.clone()
        other.sampler = move(self.sampler.get().clone())
        other.seed = self.seed
        other.rules = self.rules
        other.draws = self.draws
        other.count_forced = self.count_forced
        other.with_blocks = self.with_blocks
        other.interrupt = self.interrupt
        other.attach()
        return other

    cdef void share_tables(self, CountTables* tables) noexcept nogil:
        """Read nodes' count tables from another splitter's, or one's own."""
        self.node_tables = tables

    cdef int begin_node(self, const Node& node) except -1 nogil:
        """Take the node's rows, unless the scanner holds them already."""
        if node.start != self.current_start or node.end != self.current_end:
            self.current_rows = self.partitioner.node_rows(node.start, node.end)
            self.scanner.begin_node(self.current_rows, node.end - node.start)
            self.current_start = node.start
            self.current_end = node.end
        return 0

    cdef int node_stats(self, Node& node, vector[double]& value) except -1 nogil:
        """Statistics and value of a node."""
        self.begin_node(node)
        self.scanner.node_stats(self.current_rows, node.end - node.start, node.stats)
        self.scanner.node_value(value.data())
        self.rules.clip(node, value)
        return 0

    cdef int find_split(self, Node& node, Split& best) except -1 nogil:
        """Best split of the features the sampler names; 0 if there is none."""
        cdef uint32_t feature
        cdef int is_constant
        cdef double perfect
        cdef uint64_t work
        self.begin_node(node)
        best.feature = NO_FEATURE
        best.score = -INFINITY
        if self.partitioner.has_lists and self.sampler.get().is_ascending():
            return self.find_listed(node, best)
        # In ascending order, no later feature can beat or tie-break a perfect split.
        perfect = INFINITY
        if self.sampler.get().is_ascending():
            perfect = self.scanner.perfect_score(self.current_rows, node.size())
        self.sampler.get().begin(node.key, node.n_known)
        if not self.draws and node.table == NO_TABLE and self.tables.get().any(node.size()):
            node.table = self.tables.get().acquire()
            self.fill_table(node, 0, 1)
        work = self.scanner.work(node.size())
        while True:
            feature = self.sampler.get().next()
            if feature == NO_FEATURE:
                break
            self.poll(work)
            is_constant = self.evaluate(node, feature, best)
            if is_constant:
                self.sampler.get().found_constant()
            elif best.score >= perfect:
                break
        self.poll(0)
        node.n_known = self.sampler.get().end()
        self.settle_threshold(best)
        return best.feature != NO_FEATURE

    cdef int fill_table(self, const Node& node, uint32_t share,
                        uint32_t n_shares) except -1 nogil:
        cdef Poll steps = self.interrupt.poll()  # threads may fill shares of the same table
        self.tables.get().fill(node.table, node.start, node.end, deref(self.sampler), node.size(),
                               share, n_shares, steps)
        return self.check(steps)

    cdef int find_listed(self, const Node& node, Split& best) except -1 nogil:
        cdef uint32_t part
        for part in range(self.partitioner.n_parts()):
            self.search_part(node, part, best)
        self.settle_threshold(best)
        return best.feature != NO_FEATURE

    cdef int search_part(self, const Node& node, uint32_t part, Split& best) except -1 nogil:
        """Better splits of the features listed in a part of the node."""
        cdef uint32_t feature, n_rows, max_class_count
        cdef const uint32_t* rows
        cdef uint32_t first = self.partitioner.promising(node, part)
        cdef uint32_t leader = NO_FEATURE  # the best feature, if it is of this part
        cdef double score
        cdef FeatureBound bound
        cdef bint in_reach
        cdef uint64_t work = self.scanner.work(node.size())
        if first != NO_FEATURE:
            self.evaluate(node, first, best)
            if best.feature == first:
                leader = first
        score = best.score
        bound = self.scanner.feature_bound(score)
        self.partitioner.begin_part(node, part)
        while True:
            feature = self.partitioner.next_feature(bound)
            if feature == NO_FEATURE:
                return self.poll(0)
            if feature == first:
                continue
            self.poll(work)
            rows = self.partitioner.unsorted(&n_rows)
            if rows != NULL:
                max_class_count = n_rows
                in_reach = self.scanner.may_beat(
                    rows, n_rows, score_to_beat(best, feature, self.rules.sklearn_rules),
                    max_class_count)
                self.partitioner.found_max_class_count(max_class_count)
                if not in_reach:
                    continue
            if self.evaluate(node, feature, best):
                self.partitioner.found_constant()
            elif best.score != score:
                if leader != NO_FEATURE:
                    self.partitioner.found_promising(node, part, leader)
                leader = best.feature
                score = best.score
                bound = self.scanner.feature_bound(score)

    cdef void settle_threshold(self, Split& best) noexcept nogil:
        """Look up the threshold's neighbours, for the split that won only."""
        if best.feature != NO_FEATURE and best.row_below != NO_ROW:
            best.threshold = midpoint(self.partitioner.value(best.row_below, best.feature),
                                      self.partitioner.value(best.row_above, best.feature))

    cdef int pass_tables(self, Node& node, Node& left, Node& right, bint with_left,
                         bint with_right, int n_threads) except -1 nogil:
        """The node's count table becomes its larger child's, less the smaller child's, where
        that is cheaper than counting."""
        cdef CountTables* tables = self.tables.get()
        cdef bint left_is_larger = left.size() >= right.size()
        cdef Node* larger = &left if left_is_larger else &right
        cdef Node* smaller = &right if left_is_larger else &left
        cdef bint with_larger = with_left if left_is_larger else with_right
        cdef bint with_smaller = with_right if left_is_larger else with_left
        cdef int t
        if node.table == NO_TABLE:
            return 0
        if with_larger and tables.subtraction_pays(larger.size(), smaller.size(), with_smaller):
            smaller.table = tables.acquire()
            larger.table = node.table
            if n_threads == 1:
                self.fill_and_subtract(larger[0], smaller[0], 0, 1)
            else:
                for t in prange(n_threads, num_threads=n_threads, schedule="static"):
                    self.fill_and_subtract(larger[0], smaller[0], t, n_threads)
            if not with_smaller:
                tables.release(smaller.table)
                smaller.table = NO_TABLE
        else:
            tables.release(node.table)
        return 0

    cdef int fill_and_subtract(self, const Node& larger, const Node& smaller, uint32_t share,
                               uint32_t n_shares) except -1 nogil:
        """A share of the features of a node's children: the smaller child's cells are counted,
        the larger one's are their parent's less those."""
        cdef Poll steps = self.interrupt.poll()
        self.tables.get().fill(smaller.table, smaller.start, smaller.end, deref(self.sampler),
                               larger.size(), share, n_shares, steps)
        self.tables.get().subtract(larger.table, smaller.table, larger.size(),
                                   deref(self.sampler), share, n_shares)
        return self.check(steps)

    cdef int check(self, Poll& steps) except -1 nogil:
        """Raise if the steps were told to stop."""
        return 0 if steps.go_on(0) else self.interrupt.give_up()

    cdef int poll(self, uint64_t steps) except -1 nogil:
        return 0 if self.steps.go_on(steps) else self.interrupt.give_up()

    cdef int evaluate(self, const Node& node, uint32_t feature, Split& best) except -1 nogil:
        with gil:
            raise TypeError(f"{type(self).__name__} is abstract")

    cdef int divide(self, const Node& node, const Split& split, Node& left,
                    Node& right) except -1 nogil:
        """Split the node's rows; statistics, values, bounds and keys of its children."""
        cdef uint32_t middle = self.partitioner.split_rows(split, node)
        self.poll(self.scanner.work(node.size()))
        self.rules.make_children(node, split, middle, left, right)
        # Left last: it is searched next, and the scanner still holds it.
        self.node_stats(right, self.right_value)
        self.node_stats(left, self.left_value)
        return 0

    cdef void take_rules(self, const GrowthRules& rules) noexcept nogil:
        """The builder's rules."""
        self.rules = rules

    cdef bint is_block(self, const Node& node) noexcept nogil:
        return self.with_blocks and node.size() <= BLOCK_ROWS

    cdef int grow_block(self, NodeStore& store, const Node& node) except -1 nogil:
        cdef Block* block
        if not self.is_block(node):
            return 0
        block = self.partitioner.open_block(node.start, node.end)
        if block == NULL:
            return 0
        self.scanner.grow_block(deref(block), self.rules, deref(self.sampler), store, node)
        self.poll(0)
        self.current_start = self.current_end = 0
        return 1


cdef class BestSplitter(Splitter):
    """Finds the best threshold of every feature looked at."""

    cdef int evaluate(self, const Node& node, uint32_t feature, Split& best) except -1 nogil:
        cdef Limits limits = self.rules.limits_of(node, feature)
        cdef Candidate candidate
        cdef Runs runs
        cdef Counts counts
        cdef Nonzeros nonzeros
        candidate.score = score_to_beat(best, feature, self.rules.sklearn_rules)
        if self.partitioner.is_sparse:
            self.partitioner.nonzeros(feature, node, &nonzeros)
            if nonzeros.is_constant(self.rules.sklearn_rules):
                return 1
            if self.scanner.scan_nonzeros(nonzeros, limits, candidate):
                take_nonzeros(nonzeros, candidate, feature, best)
            return 0
        if not self.tables.get().counts(feature, node.size()):
            self.partitioner.runs(feature, node.start, node.end, &runs)
            if runs.is_constant(self.rules.sklearn_rules):
                return 1
            if self.scanner.scan(runs, limits, candidate):
                take_candidate(runs, candidate, self.scanner.groups(), feature, best)
            return 0
        if node.table != NO_TABLE:
            counts = self.node_tables.view(node.table, feature, node.size())
        else:
            if self.scratch_table == NO_TABLE:
                self.scratch_table = self.tables.get().acquire()
            self.tables.get().fill_one(self.scratch_table, feature, node.start, node.end)
            counts = self.tables.get().view(self.scratch_table, feature, node.size())
        if self.scanner.is_constant(counts, self.rules.sklearn_rules):
            return 1
        if self.scanner.scan_counts(counts, limits, candidate):
            take_counted(counts, candidate, self.scanner.groups(), feature, best)
        return 0


cdef class RandomSplitter(Splitter):
    """Tries one random threshold, between the node's extremes, of every feature looked at."""

    cdef bint searches_lists(self):
        return False

    cdef int evaluate(self, const Node& node, uint32_t feature, Split& best) except -1 nogil:
        cdef Extremes extremes
        cdef Limits limits = self.rules.limits_of(node, feature)
        cdef Candidate candidate
        cdef Nonzeros nonzeros
        cdef Split drawn
        cdef bint is_constant
        if self.partitioner.is_sparse:
            self.partitioner.nonzeros(feature, node, &nonzeros)
            if nonzeros.is_constant(self.rules.sklearn_rules):
                return 1
            extremes.low = nonzeros.value(0)
            extremes.high = nonzeros.value(nonzeros.n_values() - 1)
            extremes.n_missing = nonzeros.n_missing
            is_constant = self.draw_threshold(node, feature, extremes, drawn)
        elif self.partitioner.has_categories(feature):
            is_constant = self.draw_category(node, feature, drawn)
        else:
            extremes = self.extremes_of(node, feature)
            is_constant = self.draw_threshold(node, feature, extremes, drawn)
        if is_constant:
            return 1
        limits.near_rule = False
        candidate.score = score_to_beat(best, feature, self.rules.sklearn_rules)
        drawn.n_values_left = 0
        if self.partitioner.is_sparse:
            drawn.n_values_left = nonzeros.n_at_most(drawn.threshold)
            self.partitioner.listed_side(nonzeros, drawn.n_values_left, drawn.missing_left,
                                         &nonzeros)
            if not self.scanner.scan_nonzeros(nonzeros, limits, candidate):
                return 0
        elif not self.scan_sides(node, feature, drawn, limits, candidate):
            return 0
        drawn.score = candidate.score
        drawn.feature = feature
        drawn.row_below = NO_ROW
        drawn.n_left = candidate.n_left
        if not drawn.has_missing:
            drawn.missing_left = candidate.n_left > node.size() - candidate.n_left
        drawn.middle = candidate.middle
        best = move(drawn)
        return 0

    cdef int draw_threshold(self, const Node& node, uint32_t feature, const Extremes& extremes,
                            Split& out) noexcept nogil:
        if extremes.n_missing == node.size() or (extremes.n_missing == 0 and (
                extremes.low == extremes.high
                or (self.rules.sklearn_rules
                    and extremes.high <= extremes.low + FEATURE_THRESHOLD))):
            return 1
        out.question = THRESHOLD
        out.threshold = self.sampler.get().threshold(node.key, feature, extremes.low,
                                                     extremes.high)
        out.has_missing = extremes.n_missing > 0
        out.missing_left = False
        if out.has_missing:
            out.missing_left = self.sampler.get().missing_left(node.key, feature)
        if out.threshold == extremes.high:
            out.threshold = extremes.low
        return 0

    cdef int draw_category(self, const Node& node, uint32_t feature, Split& out) except -1 nogil:
        """A question about the numbers or about the categories of a dense column."""
        cdef const uint32_t* rows = self.partitioner.node_rows(node.start, node.end)
        cdef Extremes extremes
        cdef uint32_t i
        cdef unique_ptr[CategoryDraw] draw
        self.cells.resize(node.size())
        for i in range(node.size()):
            self.cells[i] = self.partitioner.value(rows[i], feature)
        draw.reset(new CategoryDraw(self.cells, mix(mix(node.key, ~<uint64_t> feature), 2)))
        cdef bint is_constant = draw.get().is_constant()
        cdef bint on_categories = draw.get().is_about_categories()
        cdef bint numbers_vary = draw.get().numbers_vary()
        if on_categories and not is_constant:
            draw.get().ask(self.category_sets, out)
        if on_categories or is_constant:
            return is_constant
        extremes = self.extremes_of(node, feature)
        is_constant = self.draw_threshold(node, feature, extremes, out)
        if not numbers_vary:
            out.missing_left = False  # "is a number"
        return is_constant

    cdef Extremes extremes_of(self, const Node& node, uint32_t feature) noexcept nogil:
        """Smallest and largest value, and the number missing, of a dense column."""
        cdef const uint32_t* rows = self.current_rows
        cdef Extremes out
        cdef uint32_t i
        cdef float x
        out.low = INFINITY
        out.high = -INFINITY
        out.n_missing = 0
        for i in range(node.size()):
            x = self.partitioner.value(rows[i], feature)
            out.n_missing += isnan(x)
            out.low = x if x < out.low else out.low
            out.high = x if x > out.high else out.high
        return out

    cdef int scan_sides(self, const Node& node, uint32_t feature, const Split& drawn,
                        const Limits& limits, Candidate& candidate) except -1 nogil:
        """Score one question about a dense column."""
        cdef const uint32_t* rows = self.partitioner.node_rows(node.start, node.end)
        cdef uint32_t* entries = self.partitioner.scratch()
        cdef uint32_t i, n = node.size(), n_left = 0, n_right = 0
        cdef Runs runs
        # Left rows from the front, right rows from the back: one run each.
        for i in range(n):
            if drawn.goes_left(self.partitioner.value(rows[i], feature)):
                entries[n_left] = rows[i]
                n_left += 1
            else:
                n_right += 1
                entries[n - n_right] = rows[i]
        if n_left == 0 or n_right == 0:
            return 0
        entries[n_left] |= BOUNDARY
        runs.entries = entries
        runs.n = n
        runs.n_missing = 0
        return self.scanner.scan(runs, limits, candidate)
