"""Tree builders: depth-first and best-first growth.

Threads work in two phases. While nodes are large, all threads work on one node together
(`_splitter_crew.pyx` says on what); below a size (`subtree_size`) each subtree is one thread's
work, of which it leaves parts to threads that have none (`engine/grow/subtrees.hpp`). A thread that
would have to wait for others at a large node grows a small subtree meanwhile. One thread leads.
Functions that take a builder, a thread and a piece are what it shares out. Nodes are numbered
depth-first at the end, so a tree does not show how it was grown.
"""
import numpy as np

from cython.operator cimport dereference as deref
from libc.float cimport DBL_EPSILON
from libc.math cimport INFINITY, ldexp
from libcpp.utility cimport move

from fasttree.engine.core cimport (
    NO_TABLE, CompactNodes, CompactValues, fewest_rows_to_leave, handing_table_over_pays, mix,
)
from fasttree.engine.grow cimport (
    Deferred, Frontier, Heap, NodeWriter, Open, Stack, count_nodes, count_values
)
from fasttree.engine.order cimport Counting, CountTables
from fasttree.engine.search cimport Division
from fasttree.engine.simd cimport simd_allowed
from fasttree.tree._encoding cimport Encoding
from fasttree.tree._options cimport AUTO, COUNT, PRESORT, SORT, FitOptions
from fasttree.tree._tree cimport Tree
from fasttree.tree.fitted._node_arrays cimport NodeArrays, TreeMemory, category_arrays
from fasttree.utils._crew cimport CrewWork, lead
from fasttree.utils._std cimport unique_ptr, vector

# Columns of as many rows are worth a look for Ctrl-C each.
cdef uint32_t LARGE = 1 << 14
# Rows whose lists are given back together.
cdef uint32_t FINISHED_AT_ONCE = 1 << 15


cdef int write_subtree(void* owner, int thread, int turn, void* writer) except -1 nogil:
    (<NodeWriter*> writer).write_subtree(turn)
    return 0


cdef int grow_subtrees(void* owner, int thread, int i, void* _) except -1 nogil:
    """Subtrees, for as long as there are any."""
    return (<TreeBuilder> owner).grow_subtrees(thread)


cdef int grow_smallest_subtree(void* owner, int thread) except -1 nogil:
    """A subtree, if one waits; whether one did."""
    return (<TreeBuilder> owner).grow_smallest_subtree(thread)


STRATEGIES = {"auto": AUTO, "presort": PRESORT, "count": COUNT, "sort": SORT}


cdef class TreeBuilder:
    """Grows a tree (abstract). Subclasses say where nodes wait to be expanded."""

    def __init__(self, Splitter splitter, min_samples_split, min_samples_leaf, min_weight_leaf,
                 max_depth, min_impurity_decrease):
        self.splitter = splitter
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_leaf = min_weight_leaf
        self.max_depth = max_depth
        self.min_impurity_decrease = min_impurity_decrease

    def build(self, Tree tree, data, y, sample_weight=None, const uint32_t[::1] rows=None, *,
              int n_threads=1, str strategy="auto", bint replay=False,
              str simd="auto", TreeMemory memory=None):
        """Grow `tree` on a sample of the data.

        Parameters
        ----------
        tree : Tree
            Empty; gets the nodes.
        data : Encoding
            The columns, of all n_rows rows; see `encoding_of`.
        y : ndarray of shape (n_samples, n_outputs)
            Targets of the sample, float64, or codes of classes.
        sample_weight : ndarray of shape (n_samples,), float64, or int64 if they are counts, or None
        rows : ndarray of shape (n_samples,), uint32, or None
            The sample, in ascending order; None: all rows.
        n_threads : int
            At most; fewer where more would not pay.
        strategy : {"auto", "presort", "count", "sort"}
        replay : bool
            Use scikit-learn's random draws, tie rules and scores.
        simd : {"auto", "avx2", "portable"}
        memory : TreeMemory or None
            That which the trees of a forest share; None: the tree has its own.
        """
        if y.shape[0] == 0:
            raise ValueError("A tree needs rows to grow on.")
        if sample_weight is not None and not np.any(sample_weight):
            raise ValueError("All rows have zero weight.")
        if memory is None:
            memory = TreeMemory()
        lead(1 if replay else n_threads, self._build,
             (tree, data, y, sample_weight, rows, strategy, replay, simd, memory))

    def _build(self, Leader leader, Tree tree, Encoding encoding, y, sample_weight,
               const uint32_t[::1] rows, strategy, replay, simd, TreeMemory memory):
        cdef Splitter splitter = self.splitter
        cdef int n_threads = leader.crew.get().size()
        cdef FitOptions options = self.options(n_threads, strategy, replay, simd)
        # By one tree on one thread, in the order of its rows: several threads would wait for each
        # other in the system, and the next of many trees asks for the same memory.
        self.gives_back = n_threads == 1 and options.depth_first and not encoding.is_shared
        try:
            splitter.init(encoding, y, sample_weight, rows, options, leader)
            self.crew = SplitterCrew(splitter, leader)
            memory.stores.take(splitter.criterion.value_size, self.store)
            self.grow()
            self.n_subtrees = self.subtrees.stores().size()
            self.n_beside = self.subtrees.n_beside()
            self.crew.close()
            # Scikit-learn numbers nodes in the order in which they were grown.
            self.write(tree, encoding, memory, as_grown=replay and not options.depth_first)
            memory.stores.give_back(self.store)
        finally:
            self.crew = None
            self.subtrees.clear()
            self.is_sibling_left = False

    def prepare(self, data, *, int n_threads=1, str strategy="auto", bint replay=False,
                str simd="auto"):
        """Encode data that fits share, as `build` with these arguments will ask for it."""
        lead(n_threads, self._prepare, (data, strategy, replay, simd))

    def _prepare(self, Leader leader, Encoding data, strategy, replay, simd):
        self.splitter.prepare(
            data, self.options(leader.crew.get().size(), strategy, replay, simd), leader)

    cdef FitOptions options(self, int n_threads, str strategy, bint replay, str simd) except *:
        cdef FitOptions options
        options.strategy = STRATEGIES[strategy]
        options.replay = replay
        options.depth_first = isinstance(self, DepthFirstTreeBuilder)
        options.n_threads = n_threads
        options.simd = simd_allowed(simd)
        return options

    cdef int write(self, Tree tree, Encoding encoding, TreeMemory memory,
                   bint as_grown) except -1:
        """Give `tree` the nodes that have been grown."""
        cdef size_t n_nodes = count_nodes(self.store, self.subtrees.stores())
        cdef size_t n_leaves = (n_nodes + 1) // 2  # a split makes two nodes of a leaf
        cdef NodeArrays arrays = NodeArrays(
            None, None, (n_nodes, tree.n_outputs, tree.max_n_classes))
        cdef unique_ptr[NodeWriter] writer
        cdef size_t width = tree.n_outputs * tree.max_n_classes
        with nogil:
            arrays.compact_nodes.reset(new CompactNodes(n_nodes, memory.blocks))
            arrays.compact_values.reset(new CompactValues(
                n_nodes, width, count_values(self.store, self.subtrees.stores()), memory.blocks))
            writer.reset(new NodeWriter(self.store, self.subtrees.stores(),
                                        deref(arrays.compact_nodes), deref(arrays.compact_values)))
            self.share_out(writer.get().n_turns(), write_subtree, writer.get())
            writer.get().write_main(as_grown)
        self.splitter.criterion.restore_units(arrays)
        tree.take(arrays, writer.get().max_depth(), n_leaves,
                  category_arrays(writer.get().category_lists(), encoding.n_categories))
        return 0

    cdef unique_ptr[Frontier] make_frontier(self) except *:
        raise TypeError(f"{type(self).__name__} is abstract")

    cdef int make_root(self, Node& root) except -1 nogil:
        """Record the root, from whose weight the rules of growth follow."""
        cdef int exponent = self.splitter.criterion.impurity_exponent
        cdef vector[double] value = vector[double](self.splitter.criterion.value_size)
        cdef Totals totals
        root.start = 0
        root.end = self.splitter.partitioner.n_rows
        root.depth = 0
        root.key = mix(self.splitter.seed, 0)
        root.n_known = 0
        root.table = NO_TABLE
        root.members = 0
        root.lower = -INFINITY
        root.upper = INFINITY
        if (self.crew.n_threads > 1 and not self.splitter.draws
                and self.splitter.scanner.stats_follow_totals()):
            self.crew.count_totals(root, totals)
        self.splitter.node_stats(root, totals, value)
        self.rules = self.splitter.rules
        self.rules.max_depth = self.max_depth
        self.rules.min_samples_split = self.min_samples_split
        self.rules.min_impurity_decrease = ldexp(self.min_impurity_decrease, -exponent)
        self.rules.epsilon = ldexp(DBL_EPSILON, -exponent)
        self.rules.root_weight = root.stats.weight
        self.crew.take_rules(self.rules)
        root.record = self.store.append(root, value)
        return 0

    cdef int grow(self) except -1:
        cdef unique_ptr[Frontier] frontier = self.make_frontier()
        cdef Node root
        with nogil:
            self.make_root(root)
            if self.crew.n_threads > 1 and not frontier.get().is_ranked():
                self.grow_on_threads(deref(frontier), root)
            else:
                self.grow_below(self.splitter, self.store, deref(frontier), root, 0)
        return 0

    cdef int grow_on_threads(self, Frontier& frontier, const Node& root) except -1 nogil:
        self.crew.leader.begin_beside(grow_smallest_subtree, <void*> self)
        try:
            self.grow_below(self.splitter, self.store, frontier, root,
                            self.crew.largest_subtree())
            if not self.subtrees.empty():
                self.share_out(self.crew.n_threads, grow_subtrees, NULL)
        finally:
            self.subtrees.stop()
            self.crew.leader.end_beside()
        return 0

    cdef int share_out(self, int n, CrewWork work, void* shared) except -1 nogil:
        return self.crew.leader.share_out(n, work, <void*> self, shared, True)

    # ---- growth

    cdef int grow_below(self, Splitter splitter, NodeStore& store, Frontier& frontier,
                        const Node& root, uint32_t defer_below) except -1 nogil:
        cdef Open open, child
        cdef Totals unknown
        cdef Node other
        cdef bint is_ranked = frontier.is_ranked(), is_right_last
        cdef uint32_t least = fewest_rows_to_leave(
            <uint32_t> min(splitter.max_features, splitter.partitioner.n_features))
        cdef uint32_t done = root.start  # what is kept of the rows before has been given back
        self.put(splitter, store, frontier, root, unknown, child, 0)
        while frontier.take(open):
            # A node inside of a subtree may still ask for what is kept of the subtree's rows.
            if (self.gives_back and open.node.members == 0
                    and open.node.start - done >= FINISHED_AT_ONCE):
                splitter.columns.finish_rows(done, open.node.start)
                done = open.node.start // FINISHED_AT_ONCE * FINISHED_AT_ONCE
            if (self.subtrees.is_wanted() and open.node.members == 0
                    and frontier.take_largest(least, other)):
                self.defer(splitter, store, other, True)
            if not is_ranked and splitter.grow_at_once(open.node, store):
                pass
            elif ((is_ranked or self.find(splitter, open))
                  and self.expand(splitter, store, open, is_ranked)):
                # A stack takes what was put there last: left first, unless threads search the
                # right child together.
                is_right_last = is_ranked or (self.crew.searches(open.right)
                                              and not self.crew.searches(open.left))
                if is_right_last:
                    self.put(splitter, store, frontier, open.left, open.left_totals, child,
                             defer_below)
                self.put(splitter, store, frontier, open.right, open.right_totals, child,
                         defer_below)
                if not is_right_last:
                    self.put(splitter, store, frontier, open.left, open.left_totals, child,
                             defer_below)
        store.finish()
        return 0

    cdef int put(self, Splitter splitter, NodeStore& store, Frontier& frontier, const Node& node,
                 Totals& totals, Open& open, uint32_t defer_below) except -1 nogil:
        """Put a node on the frontier; not on a stack if it is left to others or cannot be split."""
        open.node = node
        open.totals.clear()
        if not splitter.columns.fits_block(node):
            open.totals.swap(totals)
        if frontier.is_ranked():
            # Nothing is handed down: other nodes are searched before its children.
            open.node.n_known = 0
            open.improvement = 0.0
            open.is_leaf = self.rules.is_terminal(node) or not self.find(splitter, open)
            splitter.forget(open.node)
        elif self.rules.is_terminal(node):
            return 0
        elif node.size() <= defer_below and node.members == 0:
            if not self.crew.is_handing_down:
                return self.leave(splitter, store, node)
            self.sibling = node
            self.is_sibling_left = True
            return 0
        frontier.put(open)
        return 0

    cdef int find(self, Splitter splitter, Open& open) except -1 nogil:
        """Find the node's best split and divide its rows; 0 if it stays a leaf."""
        cdef bint found
        if open.node.members != 0 or splitter.columns.fits_block(open.node):
            found = splitter.split_in_subtree(open)
        elif self.crew.searches(open.node):
            found = self.crew.find_split(open)
            if self.is_sibling_left:  # its parent has been divided with this search
                self.is_sibling_left = False
                self.leave(splitter, self.store, self.sibling)
            found = found and self.crew.divide(open)
        else:
            found = (splitter.find_split(open.node, open.totals, open.split)
                     and splitter.divide(open))
        if found:
            open.improvement = self.rules.improvement(open.node.stats, open.left.stats,
                                                      open.right.stats)
            found = self.rules.accepts(open.improvement)
        if not found:
            open.improvement = 0.0
            splitter.columns.tables.release(open.node.table)
            open.node.table = NO_TABLE
        return found

    cdef int expand(self, Splitter splitter, NodeStore& store, Open& open,
                    bint is_ranked) except -1 nogil:
        """Record the children of a node whose split was found, and hand down what is kept of it."""
        open.left.record = store.append(open.left, open.left_value)
        open.right.record = store.append(open.right, open.right_value)
        store.set_split(open.node.record, open.split, open.left.record)
        if open.node.members == 0:
            self.hand_down(splitter, open, is_ranked)
        return 1

    cdef int hand_down(self, Splitter splitter, Open& open, bint is_ranked) except -1 nogil:
        """Divide what is kept per node besides the rows, for the children to be searched."""
        cdef Division division
        cdef Counting counting
        cdef uint32_t n_rows = open.node.size()
        cdef uint32_t n_steps = n_rows if n_rows > LARGE else 0
        cdef int i, n_parts
        cdef int n_threads = self.crew.n_threads if self.crew.is_large(open.node) else 1
        cdef bint with_left = not self.rules.is_terminal(open.left)
        cdef bint with_right = not self.rules.is_terminal(open.right)
        division.left = open.left
        division.right = open.right
        division.with_left = with_left
        division.with_right = with_right
        division.sides = splitter.columns.sides()
        division.n_threads = n_threads
        division.lists = &splitter.columns.listed_features
        if n_threads > 1:
            division.lists = &self.crew.shares.lists()
        n_parts = <int> splitter.columns.begin_division(division)
        counting = move(splitter.columns.tables.hand_down(
            open.node, open.left, open.right,
            with_left and self.reads_table(splitter, open.left, n_threads > 1 and not is_ranked),
            with_right and self.reads_table(splitter, open.right, n_threads > 1 and not is_ranked),
            n_threads))
        if n_threads > 1:
            return self.crew.hand_down(division, counting, n_parts, n_steps, not is_ranked and (
                (with_left and self.crew.searches(open.left))
                or (with_right and self.crew.searches(open.right))))
        for i in range(n_parts):
            splitter.divide_part(i, n_steps, division, deref(splitter.sampler))
        for i in range(<int> counting.n_shares):
            splitter.count_share(splitter, counting, 0, i)
        splitter.columns.end_division(division)
        splitter.columns.tables.end_counting(counting)
        return 0

    cdef bint reads_table(self, Splitter splitter, const Node& node,
                          bint may_be_deferred) noexcept nogil:
        if splitter.columns.fits_block(node):
            return False
        return (not may_be_deferred or self.crew.is_large(node)
                or handing_table_over_pays(node.size(), self.crew.largest_subtree()))

    # ---- subtrees, each on a thread of its own

    cdef int defer(self, Splitter splitter, NodeStore& store, const Node& node,
                   bint with_table) except -1 nogil:
        cdef CountTables* tables = &splitter.columns.tables
        cdef Deferred deferred
        deferred.node = node
        deferred.node.table = NO_TABLE
        deferred.known = splitter.sampler.get().known(node.n_known)
        if with_table:
            deferred.table = tables.give(node.table)
        else:
            tables.release(node.table)
        self.subtrees.put(deferred, store)
        return 0

    cdef int leave(self, Splitter splitter, NodeStore& store, const Node& node) except -1 nogil:
        self.defer(splitter, store, node,
                   handing_table_over_pays(node.size(), self.crew.largest_subtree()))
        self.crew.leader.crew.get().tell()
        return 0

    cdef int grow_subtrees(self, int thread) except -1 nogil:
        cdef Deferred deferred
        while self.subtrees.take(thread, deref(self.crew.leader.crew), deferred):
            self.grow_subtree(thread, deferred)
        return 0

    cdef int grow_smallest_subtree(self, int thread) except -1 nogil:
        cdef Deferred deferred
        if not self.subtrees.take_smallest(deferred):
            return 0
        self.grow_subtree(thread, deferred)
        return 1

    cdef int grow_subtree(self, int thread, Deferred& deferred) except -1 nogil:
        cdef void* worker = self.crew.workers[thread]
        cdef Stack stack
        cdef bint is_grown = False
        try:
            (<Splitter> worker).sampler.get().assume_known(deferred.known)
            deferred.node.record = deferred.store.append(deferred.node, deferred.value)
            deferred.node.table = (<Splitter> worker).columns.tables.take(deferred.table)
            self.grow_below(<Splitter> worker, deref(deferred.store), stack, deferred.node, 0)
            is_grown = True
        finally:
            if is_grown:
                self.subtrees.finish()
            else:
                self.subtrees.stop()
        return 0


cdef class DepthFirstTreeBuilder(TreeBuilder):
    """Grows depth-first, without a budget.

    Parameters
    ----------
    splitter : Splitter
    min_samples_split : int
    min_samples_leaf : int
    min_weight_leaf : float
        Sum of weights.
    max_depth : int
    min_impurity_decrease : float
    """

    cdef unique_ptr[Frontier] make_frontier(self) except *:
        cdef unique_ptr[Frontier] frontier
        frontier.reset(new Stack())
        return move(frontier)


cdef class BestFirstTreeBuilder(TreeBuilder):
    """Grows the node of largest improvement first, up to a number of leaves.

    Parameters
    ----------
    splitter : Splitter
    min_samples_split : int
    min_samples_leaf : int
    min_weight_leaf : float
        Sum of weights.
    max_depth : int
    max_leaf_nodes : int
    min_impurity_decrease : float
    """

    def __init__(self, Splitter splitter, min_samples_split, min_samples_leaf, min_weight_leaf,
                 max_depth, max_leaf_nodes, min_impurity_decrease):
        super().__init__(splitter, min_samples_split, min_samples_leaf, min_weight_leaf,
                         max_depth, min_impurity_decrease)
        self.max_leaf_nodes = max_leaf_nodes

    cdef unique_ptr[Frontier] make_frontier(self) except *:
        cdef unique_ptr[Frontier] frontier
        frontier.reset(new Heap(self.store, self.splitter.rules.ties, self.max_leaf_nodes - 1))
        return move(frontier)
