"""Splitters: best thresholds, or random ones.

The search of a node is written once; the two splitters differ in how they evaluate a feature. What
a feature is read from is the columns' affair (engine/search). A best search costs O(rows) per
presorted feature, O(rows + distinct values) per counted one; a random one O(rows).
"""
import numpy as np

from cython.operator cimport dereference as deref
from libc.math cimport INFINITY, ldexp
from libcpp.utility cimport move

from fasttree.engine.columns cimport Rows
from fasttree.engine.core cimport (
    NO_FEATURE, NO_ROW, NO_TABLE, codes_pay, keys_pay, lists_pay, midpoint, sparse_lists_pay,
)
from fasttree.engine.grow cimport BlockSplitter, DrawnSplitter, KeySplitter
from fasttree.engine.order cimport weighted_rows
from fasttree.engine.search cimport KeyedNodeColumns, look_at_drawn
from fasttree.tree._encoding cimport SparseEncoding
from fasttree.tree._options cimport AUTO, CODES, COUNT, PRESORT, SORT
from fasttree.tree._partitioner cimport DensePartitioner
from fasttree.tree._sparse_partitioner cimport ExtractionPartitioner, ListPartitioner
from fasttree.utils._interrupt cimport steps_of
from fasttree.utils._typedefs cimport int64_t


cdef int list_rows(size_t n, sample_weight, const uint32_t* sampled, Rows& out) except -1:
    """The rows of a sample whose weights or counts are not zero."""
    cdef const float64_t[::1] weights
    cdef const int64_t[::1] counts
    if sample_weight is None:
        with nogil:
            weighted_rows[float64_t](n, NULL, sampled, out)
    elif sample_weight.dtype == np.int64:
        counts = sample_weight
        with nogil:
            weighted_rows(n, &counts[0], sampled, out)
    else:
        weights = sample_weight
        with nogil:
            weighted_rows(n, &weights[0], sampled, out)
    return 0


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

    cdef int init(self, Encoding encoding, y, sample_weight,
                  const uint32_t[::1] rows, FitOptions options, Leader leader) except -1:
        cdef const uint32_t* sampled = NULL
        cdef const uint32_t* classes
        cdef Rows kept_rows
        self.rules.min_samples_leaf = self.min_samples_leaf
        self.rules.monotonic_cst = &self.monotonic_cst[0] if self.with_monotonic_cst else NULL
        self.rules.ties.replay = options.replay
        self.rules.category_sets = self.category_sets
        self.settle_options(encoding, options)
        self.draws = options.n_looked < encoding.n_features
        self.partitioner = make_partitioner(encoding, options)
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
        if rows is not None:
            sampled = &rows[0]
        list_rows(y.shape[0], sample_weight, sampled, kept_rows)
        self.partitioner.init(encoding, kept_rows, options, leader)
        classes = self.criterion.searcher.scanner.get().classes_of_entries()
        if classes != NULL:
            self.partitioner.put_classes(classes, leader)
        # Nothing is drawn for data that is refused.
        if hasattr(self.random_state, "randint"):
            self.seed = self.random_state.randint(0, 2147483647)
        else:
            self.seed = self.random_state
        self.sampler.reset(new FeatureSampler(encoding.n_features, options.n_looked,
                                              options.replay, <uint32_t> self.seed))
        return self.attach(leader.interrupt)

    cdef int prepare(self, Encoding encoding, FitOptions options, Leader leader) except -1:
        self.settle_options(encoding, options)
        return make_partitioner(encoding, options).prepare(encoding, options, leader)

    cdef int settle_options(self, Encoding encoding, FitOptions& options) except -1:
        """How columns are kept, by the features that nodes look at."""
        cdef uint32_t n_features = encoding.n_features
        cdef uint32_t max_features = <uint32_t> min(self.max_features, n_features)
        cdef bint draws = max_features < n_features
        # A threshold on a sparse feature separates nonzeros from the rest, and no fewer than a
        # leaf has rows; but which features are constant matters to draws.
        options.least = 0 if draws or options.replay else <uint32_t> self.min_samples_leaf
        options.n_looked = max_features
        options.is_drawn = not self.reads_order()
        if options.is_drawn and not isinstance(encoding, SparseEncoding):
            options.strategy = CODES if options.strategy == COUNT or (
                options.strategy == AUTO and encoding.is_shared
                and codes_pay(encoding.n_rows, n_features, max_features)) else SORT
        return 0

    cdef bint reads_order(self) except -1:
        raise TypeError(f"{type(self).__name__} is abstract")

    cdef int attach(self, Interrupt interrupt) except -1:
        """What a thread owns, once criterion, partitioner and sampler are there."""
        self.steps = steps_of(interrupt)
        self.scanner = self.criterion.searcher.scanner.get()
        self.scanner.watch(&self.steps.poll)
        self.current_start = self.current_end = 0
        self.partitioner.attach(deref(self.scanner))
        self.columns = self.partitioner.columns.get()
        self.walk = move(self.columns.make_walk(deref(self.sampler), deref(self.scanner),
                                                self.steps.poll, self.rules.common_limits()))
        return 0

    cdef Splitter clone(self):
        """A splitter of the same fit for another thread."""
        cdef Splitter other = type(self)(
            self.criterion.clone(), self.max_features, self.min_samples_leaf,
            self.min_weight_leaf, self.random_state,
            np.asarray(self.monotonic_cst) if self.with_monotonic_cst else None,
            self.category_sets)
        other.partitioner = self.partitioner.clone()
        other.sampler = move(self.sampler.get().clone())
        other.seed = self.seed
        other.rules = self.rules
        other.draws = self.draws
        other.attach(self.steps.interrupt)
        return other

    cdef int close(self) except -1:
        self.walk.reset(NULL)
        self.partitioner = None
        self.criterion.close()
        return 0

    # ---- a node

    cdef int begin_node(self, const Node& node, const Totals& totals) except -1 nogil:
        """Take the node's rows, unless the scanner holds them already."""
        if node.start != self.current_start or node.end != self.current_end:
            self.current_rows = self.columns.rows(node)
            self.columns.begin_node(node, self.current_rows, totals)
            self.current_start = node.start
            self.current_end = node.end
        return 0

    cdef int node_stats(self, Node& node, const Totals& totals,
                        vector[double]& value) except -1 nogil:
        """Statistics and value of a node."""
        self.begin_node(node, totals)
        self.scanner.node_stats(self.current_rows, node.end - node.start, node.stats)
        self.scanner.node_value(value.data())
        self.rules.clip(node, value)
        return 0

    cdef int find_split(self, Node& node, const Totals& totals, Split& best) except -1 nogil:
        cdef Counting counting
        self.begin_node(node, totals)
        best.feature = NO_FEATURE
        best.score = -INFINITY
        self.walk.get().begin(node, self.current_rows)
        if not self.draws:
            counting = move(self.columns.tables.begin_node(node, 1))
            if counting.table != NO_TABLE:
                self.count_share(self, counting, 0, 0)
        self.look(node, best, NULL)
        node.n_known = self.walk.get().end()
        self.settle_threshold(best)
        return best.feature != NO_FEATURE

    cdef int look(self, const Node& node, Split& best, char* is_constant) except -1 nogil:
        cdef uint32_t feature = self.walk.get().next(best)
        cdef bint found_constant
        while feature != NO_FEATURE:
            found_constant = self.evaluate(node, feature, best)
            self.walk.get().looked(found_constant, best)
            if is_constant != NULL:
                is_constant[feature] = found_constant
            self.walk.get().report(best.score)
            feature = self.walk.get().next(best)
        return self.steps.count(0)

    cdef int evaluate(self, const Node& node, uint32_t feature, Split& best) except -1 nogil:
        with gil:
            raise TypeError(f"{type(self).__name__} is abstract")

    cdef void settle_threshold(self, Split& best) noexcept nogil:
        """Look up the threshold's neighbours, for the split that won only."""
        if best.feature != NO_FEATURE and best.row_below != NO_ROW:
            best.threshold = midpoint(self.columns.value(best.row_below, best.feature),
                                      self.columns.value(best.row_above, best.feature))

    cdef int divide(self, Open& open) except -1 nogil:
        self.divide_rows(open, NULL)
        if not open.totals.empty():
            self.begin_node(open.smaller(), open.smaller_totals())
            self.scanner.write_totals(open.smaller_totals())
            open.settle_totals()
        return self.children_stats(open)

    cdef int children_stats(self, Open& open) except -1 nogil:
        self.node_stats(open.right, open.right_totals, open.right_value)
        # Left last: it is searched next, and the scanner still holds it.
        self.node_stats(open.left, open.left_totals, open.left_value)
        return 1

    cdef int divide_rows(self, Open& open, Crew* crew) except -1 nogil:
        """Divide the node's rows; bounds and keys of its children."""
        cdef uint32_t middle = self.columns.divide_rows(open.split, open.node, crew)
        self.steps.count(self.scanner.work(open.node.size()))
        self.rules.make_children(open.node, open.split, middle, open.left, open.right)
        open.left_value.resize(self.criterion.value_size)
        open.right_value.resize(self.criterion.value_size)
        open.left_totals.clear()
        open.right_totals.clear()
        self.scanner.write_totals(open.totals)  # it holds the node, whose split it found
        return 0

    cdef int totals_of_part(self, const Node& rows, Totals& out) except -1 nogil:
        cdef Totals unknown
        self.columns.begin_node(rows, self.columns.rows(rows), unknown)
        self.scanner.write_totals(out)
        self.current_start = self.current_end = 0  # a child may get the same place
        return self.steps.count(self.scanner.work(rows.size()))

    cdef int split_in_subtree(self, Open& open) except -1 nogil:
        if open.node.members == 0:
            self.begin_subtree(open.node)
        open.left_value.resize(self.criterion.value_size)
        open.right_value.resize(self.criterion.value_size)
        if self.subtree_splitter.split(self.rules, deref(self.sampler), open):
            return 1
        self.steps.count(0)
        return 0

    cdef bint grow_at_once(self, Node& node, NodeStore& store) except -1 nogil:
        if node.members == 0:
            if not self.columns.fits_block(node):
                return False
            self.begin_subtree(node)
        if not self.subtree_splitter.grow(self.rules, deref(self.sampler), node, store):
            return False
        self.steps.count(0)
        return True

    cdef int begin_subtree(self, Node& root) except -1 nogil:
        root.members = 1
        self.subtree_splitter = self.open_subtree(root)
        self.current_start = self.current_end = 0  # the scanner is the subtree's now
        return 0

    cdef SubtreeSplitter* open_subtree(self, Node& root) except NULL nogil:
        with gil:
            raise TypeError(f"{type(self).__name__} is abstract")

    cdef void forget(self, Node& node) noexcept nogil:
        self.columns.tables.release(node.table)
        node.table = NO_TABLE
        self.sampler.get().begin(node.key, 0)

    # ---- shares of work

    cdef int divide_part(self, uint32_t part, uint32_t n_steps, const Division& division,
                         const FeatureSampler& sampler) except -1 nogil:
        if n_steps > 0:
            self.steps.count(n_steps)
        self.columns.divide_part(part, division, sampler)
        return 0

    cdef int count_share(self, Splitter owner, const Counting& counting, int thread,
                         uint32_t share) except -1 nogil:
        owner.columns.tables.count(counting, deref(owner.sampler), thread, share, self.steps.poll)
        return self.steps.count(0)


cdef Partitioner make_partitioner(Encoding encoding, FitOptions& options):
    """A partitioner that keeps the columns as the features that nodes look at demand."""
    cdef uint32_t n_features = encoding.n_features, max_features = options.n_looked
    cdef bint is_auto = options.strategy == AUTO
    cdef bint with_keys = max_features < n_features and (
        options.strategy == COUNT or (is_auto and keys_pay(n_features, max_features)))
    options.with_keys = False
    if isinstance(encoding, SparseEncoding):
        options.with_lists = options.strategy == PRESORT or options.strategy == COUNT or (
            is_auto and sparse_lists_pay(n_features, max_features))
        return ListPartitioner() if options.with_lists else ExtractionPartitioner()
    options.with_keys = with_keys
    options.with_lists = options.strategy == PRESORT or (
        is_auto and not with_keys and lists_pay(n_features, max_features))
    return DensePartitioner()


cdef class BestSplitter(Splitter):
    """Finds the best threshold of every feature looked at."""

    cdef bint reads_order(self) except -1:
        return True

    cdef int evaluate(self, const Node& node, uint32_t feature, Split& best) except -1 nogil:
        cdef double own = self.rules.ties.to_beat(best.score, best.feature, feature)
        return self.columns.scan(node, feature, self.rules.limits_of(node, feature),
                                 self.walk.get().to_beat(own), best)

    cdef SubtreeSplitter* open_subtree(self, Node& root) except NULL nogil:
        cdef BlockSplitter* block_splitter = self.criterion.searcher.block_splitter.get()
        cdef KeySplitter* key_splitter = self.criterion.searcher.key_splitter.get()
        if self.columns.block.get() == NULL:
            key_splitter.open(deref(<KeyedNodeColumns*> self.columns))
            return key_splitter
        self.columns.open_block(root)
        block_splitter.open(deref(self.columns.block))
        return block_splitter


cdef class RandomSplitter(Splitter):
    """Tries one random threshold, between the node's extremes, of every feature looked at."""

    cdef bint reads_order(self) except -1:
        return False

    cdef int evaluate(self, const Node& node, uint32_t feature, Split& best) except -1 nogil:
        return look_at_drawn(deref(self.columns), deref(self.sampler), self.rules.ties, node,
                             feature, self.rules.limits_of(node, feature), best)

    cdef SubtreeSplitter* open_subtree(self, Node& root) except NULL nogil:
        cdef DrawnSplitter* drawn_splitter = self.criterion.searcher.drawn_splitter.get()
        drawn_splitter.open(deref((<DensePartitioner> self.partitioner).sample), root,
                            self.sampler.get().max_features())
        return drawn_splitter
