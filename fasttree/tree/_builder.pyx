"""Tree builders: depth-first and best-first growth.

Threads work in two phases. While nodes are large, all threads search and partition one node,
feature by feature; below a size (`subtree_size`) each subtree is one thread's work. Nodes are
numbered depth-first at the end, so a tree does not show how it was grown.
"""
import numpy as np

from cython.operator cimport dereference as deref
from cython.parallel cimport parallel, prange, threadid
from libc.float cimport DBL_EPSILON
from libc.math cimport INFINITY, ldexp
from libcpp.utility cimport move

from fasttree.engine.core cimport (
    NO_FEATURE, NO_TABLE, NodeRecord, handing_over_pays, mix, subtree_size,
)
from fasttree.engine.grow cimport Frontier, CategoryLists, count_nodes
from fasttree.engine.order cimport largest_first
from fasttree.engine.simd cimport SIMD_PORTABLE, best_simd
from fasttree.tree._encoding cimport Encoding
from fasttree.tree._options cimport AUTO, COUNT, PRESORT, SORT, FitOptions
from fasttree.utils._interrupt cimport Turns
from fasttree.utils._std cimport unique_ptr
from fasttree.utils._typedefs cimport int8_t

from fasttree.tree.fitted._categorical_splits import CategoricalSplits
from fasttree.tree._tree import NODE_DTYPE

# Columns of as many rows are worth a look for Ctrl-C each.
cdef uint32_t LARGE = 1 << 14


STRATEGIES = {"auto": AUTO, "presort": PRESORT, "count": COUNT, "sort": SORT}


cdef object as_array(const void* items, size_t n_items, dtype):
    """Copy of `n_items` numbers."""
    cdef Py_ssize_t n_bytes = n_items * np.dtype(dtype).itemsize
    return np.frombuffer((<const char*> items)[:n_bytes], dtype=dtype).copy()


cdef object side_arrays(const CategoryLists& lists, const uint32_t[::1] n_categories):
    """The splits on categories of a tree; None if there are none."""
    if lists.nodes.empty():
        return None
    return CategoricalSplits(
        as_array(lists.nodes.data(), lists.nodes.size(), np.int64),
        as_array(lists.offsets.data(), lists.offsets.size(), np.int64),
        as_array(lists.codes.data(), lists.codes.size(), np.uint32),
        as_array(lists.listed_left.data(), lists.listed_left.size(), np.uint8),
        np.asarray(n_categories))


cdef class TreeBuilder:
    """Grows a tree (abstract)."""

    def build(self, tree, data, const float64_t[:, ::1] y,
              const float64_t[::1] sample_weight=None, const uint32_t[::1] rows=None, *,
              int n_threads=1, str strategy="auto", bint sklearn_stream=False, str simd="auto"):
        """Grow `tree` on a sample of the data.

        Parameters
        ----------
        tree : Tree
            Empty; gets the nodes.
        data : Encoding
            The columns, of all n_rows rows; see `encoding_of`.
        y : ndarray of shape (n_samples, n_outputs), float64
            Targets of the sample, or class codes.
        sample_weight : ndarray of shape (n_samples,), float64, or None
        rows : ndarray of shape (n_samples,), uint32, or None
            The sample, in ascending order; None: all rows.
        n_threads : int
            At most; fewer where more would not pay.
        strategy : {"auto", "presort", "count", "sort"}
        sklearn_stream : bool
            Use scikit-learn's random draws, tie rules and scores.
        simd : {"auto", "portable"}
        """
        cdef Splitter splitter = self.splitter
        cdef Encoding encoding = data
        cdef FitOptions options
        cdef size_t n_nodes
        cdef int8_t[::1] buffer
        cdef double[::1] values
        cdef unique_ptr[NodeWriter] writer
        cdef int i
        if y.shape[0] == 0:
            raise ValueError("A tree needs rows to grow on.")
        if sample_weight is not None and not np.any(sample_weight):
            raise ValueError("All rows have zero weight.")
        options.strategy = STRATEGIES[strategy]
        options.sklearn_rules = sklearn_stream
        options.depth_first = isinstance(self, DepthFirstTreeBuilder)
        options.n_threads = 1 if sklearn_stream else n_threads
        options.simd = SIMD_PORTABLE if simd == "portable" else best_simd()
        n_threads = self.n_threads = options.n_threads
        splitter.init(encoding, y, sample_weight, rows, options)
        self.crew = [splitter] + [splitter.clone() for _ in range(n_threads - 1)]
        self.workers.clear()
        for worker in self.crew:
            self.workers.push_back(<void*> worker)
        self.store = NodeStore(splitter.criterion.value_size)
        self.subtrees.clear()
        self.grow()

        n_nodes = count_nodes(self.store, self.subtrees)
        nodes = np.empty(n_nodes, dtype=NODE_DTYPE)
        shape = (n_nodes, tree.n_outputs, tree.max_n_classes)
        values_array = np.zeros(shape, dtype=np.float64)
        buffer = nodes.view(np.int8)
        values = values_array.reshape(-1)
        writer.reset(new NodeWriter(self.store, self.subtrees, <NodeRecord*> &buffer[0],
                                    &values[0]))
        writer.get().write_main(self.as_grown())
        for i in prange(<int> self.subtrees.size(), nogil=True, num_threads=n_threads,
                        schedule="dynamic"):
            self.write_subtree(deref(writer), i)
        splitter.criterion.restore_units(nodes, values_array)
        tree.set_nodes(nodes, values_array, writer.get().max_depth(),
                       side_arrays(writer.get().category_lists(), encoding.n_categories))
        self.store = NodeStore()
        self.subtrees.clear()
        self.crew = []

    cdef int write_subtree(self, NodeWriter& writer, int i) except -1 nogil:
        writer.write_subtree(i)
        return 0

    cdef int grow(self) except -1:
        raise TypeError(f"{type(self).__name__} is abstract")

    cdef bint as_grown(self):
        """Whether nodes keep the numbers in which they were grown."""
        return False

    cdef int make_root(self, Node& root) except -1 nogil:
        """Record the root, from whose weight the rules of growth follow."""
        cdef int t, exponent = self.splitter.criterion.impurity_exponent
        root.start = 0
        root.end = self.splitter.partitioner.n_rows
        root.depth = 0
        root.key = mix(self.splitter.seed, 0)
        root.n_known = 0
        root.table = NO_TABLE
        root.lower = -INFINITY
        root.upper = INFINITY
        self.splitter.node_stats(root, self.splitter.left_value)
        self.rules = self.splitter.rules
        self.rules.max_depth = self.max_depth
        self.rules.min_samples_split = self.min_samples_split
        self.rules.min_impurity_decrease = ldexp(self.min_impurity_decrease, -exponent)
        self.rules.epsilon = ldexp(DBL_EPSILON, -exponent)
        self.rules.root_weight = root.stats.weight
        for t in range(self.n_threads):
            (<Splitter> self.workers[t]).take_rules(self.rules)
        root.record = self.store.append(root, self.splitter.left_value)
        return 0

    cdef int search(self, Splitter splitter, Node& node, Split& split, Node& left,
                    Node& right, double* improvement) except -1 nogil:
        """Find and make the node's best split; 0 if it stays a leaf."""
        cdef bint found
        if self.n_threads > 1 and node.size() > subtree_size(
                self.splitter.partitioner.n_rows, self.n_threads) and not splitter.draws:
            found = self.find_in_parallel(node, split)
        else:
            found = splitter.find_split(node, split)
        if not found:
            return 0
        splitter.divide(node, split, left, right)
        improvement[0] = self.rules.improvement(node, left, right)
        return self.rules.accepts(improvement[0])

    cdef int evaluate_share(self, int thread, Turns& turns, const Node& node, Split& best,
                            char* is_constant) except -1 nogil:
        """One thread's looks at single features of a large node."""
        cdef void* worker = self.workers[thread]
        cdef int feature = turns.take()
        cdef bint has_failed
        (<Splitter> worker).share_tables(self.splitter.tables.get())
        while feature >= 0:
            has_failed = True
            try:
                if not self.splitter.sampler.get().is_known_constant(feature):
                    (<Splitter> worker).begin_node(node)
                    (<Splitter> worker).poll((<Splitter> worker).scanner.work(node.size()))
                    is_constant[feature] = (<Splitter> worker).evaluate(node, feature, best)
                has_failed = False
            finally:
                turns.finish(has_failed)
            feature = turns.take()
        return self.wait(thread, turns)

    cdef int wait(self, int thread, Turns& turns) except -1 nogil:
        """The thread that called looks for signals until the others are done."""
        if thread == 0:
            turns.wait(self.splitter.steps)
        return (<Splitter> self.workers[thread]).poll(0)

    cdef int find_in_parallel(self, Node& node, Split& best) except -1 nogil:
        """`find_split` on all threads: shares of the count tables, then single features."""
        cdef int t, f, n_features = <int> self.splitter.partitioner.n_features
        cdef uint32_t feature
        cdef vector[Split] best_of = vector[Split](self.n_threads)
        cdef vector[char] is_constant = vector[char](n_features)
        cdef unique_ptr[Turns] turns
        self.splitter.sampler.get().begin(node.key, node.n_known)
        for t in range(self.n_threads):
            best_of[t].score = -INFINITY
            best_of[t].feature = NO_FEATURE
        if self.splitter.partitioner.has_lists:
            for f in prange(<int> self.splitter.partitioner.n_parts(),
                            num_threads=self.n_threads, schedule="dynamic"):
                self.search_part(threadid(), node, f, best_of[threadid()])
            self.take_best(best_of, best)
            return best.feature != NO_FEATURE
        if node.table == NO_TABLE and self.splitter.tables.get().any(node.size()):
            node.table = self.splitter.tables.get().acquire()
            for t in prange(self.n_threads, num_threads=self.n_threads, schedule="static"):
                self.splitter.fill_table(node, t, self.n_threads)
        turns.reset(new Turns(n_features))
        with parallel(num_threads=self.n_threads):
            self.evaluate_share(threadid(), deref(turns), node, best_of[threadid()],
                                is_constant.data())
        self.take_best(best_of, best)
        while True:
            feature = self.splitter.sampler.get().next()
            if feature == NO_FEATURE:
                break
            if is_constant[feature]:
                self.splitter.sampler.get().found_constant()
        node.n_known = self.splitter.sampler.get().end()
        return best.feature != NO_FEATURE

    cdef int search_part(self, int thread, const Node& node, uint32_t part,
                         Split& best) except -1 nogil:
        """One thread's look at the features listed in a part of a large node."""
        cdef void* worker = self.workers[thread]
        (<Splitter> worker).begin_node(node)
        (<Splitter> worker).search_part(node, part, best)
        return 0

    cdef int take_best(self, vector[Split]& best_of, Split& best) except -1 nogil:
        """The best of the threads' splits."""
        cdef int t
        best = move(best_of[0])
        for t in range(1, self.n_threads):
            if best_of[t].score > best.score or (
                    best_of[t].score == best.score and best_of[t].feature < best.feature):
                best = move(best_of[t])
        self.splitter.settle_threshold(best)
        return 0

    cdef int split_lists(self, Splitter splitter, const Node& left, const Node& right,
                         int n_threads) except -1 nogil:
        """Split what is kept per node besides the rows, for the children that will be searched."""
        cdef bint with_left = not self.rules.is_terminal(left)
        cdef bint with_right = not self.rules.is_terminal(right)
        cdef const uint32_t* sides = splitter.partitioner.sides()
        cdef bint is_sparse = splitter.partitioner.is_sparse
        cdef uint32_t n_rows = right.end - left.start
        cdef uint32_t n_steps = n_rows if n_rows > LARGE else 0
        cdef int part, n_parts
        n_parts = splitter.partitioner.begin_split(left, right, with_left, with_right)
        if n_threads == 1:
            for part in range(n_parts):
                if n_steps > 0:
                    splitter.poll(n_steps)
                if is_sparse or not splitter.sampler.get().is_known_constant(part):
                    splitter.partitioner.split_part(part, left, right, with_left, with_right,
                                                    sides)
        else:
            for part in prange(n_parts, num_threads=n_threads, schedule="dynamic"):
                (<Splitter> self.workers[threadid()]).poll(n_steps)
                if is_sparse or not splitter.sampler.get().is_known_constant(part):
                    (<Splitter> self.workers[threadid()]).partitioner.split_part(
                        part, left, right, with_left, with_right, sides)
        splitter.partitioner.end_split(left, right, with_left, with_right)
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

    def __init__(self, Splitter splitter, min_samples_split, min_samples_leaf, min_weight_leaf,
                 max_depth, min_impurity_decrease):
        self.splitter = splitter
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_leaf = min_weight_leaf
        self.max_depth = max_depth
        self.min_impurity_decrease = min_impurity_decrease

    cdef int grow(self) except -1:
        cdef Node root
        cdef vector[Deferred] deferred
        cdef vector[int] order
        cdef unique_ptr[Turns] turns
        cdef uint32_t defer_below = 0
        cdef int i, n_subtrees
        with nogil:
            self.make_root(root)
            if self.n_threads > 1:
                defer_below = subtree_size(root.size(), self.n_threads)
            if not self.rules.is_terminal(root):
                self.grow_subtree(self.splitter, self.store, root, defer_below, deferred)
            n_subtrees = <int> deferred.size()
            self.subtrees.resize(n_subtrees)
            for i in range(n_subtrees):
                self.store.set_subtree(deferred[i].node.record, i)
            order = largest_first(deferred)
            turns.reset(new Turns(n_subtrees))
            with parallel(num_threads=self.n_threads):
                self.grow_share(threadid(), deref(turns), deferred, order)
        return 0

    cdef int grow_share(self, int thread, Turns& turns, vector[Deferred]& deferred,
                        const vector[int]& order) except -1 nogil:
        """One thread's subtrees, the largest first."""
        cdef int i = turns.take()
        cdef bint has_failed
        while i >= 0:
            has_failed = True
            try:
                self.grow_deferred(thread, deferred[order[i]], order[i])
                has_failed = False
            finally:
                turns.finish(has_failed)
            i = turns.take()
        return self.wait(thread, turns)

    cdef int grow_deferred(self, int thread, Deferred& deferred, int subtree) except -1 nogil:
        """Grow a subtree on one thread."""
        cdef void* worker = self.workers[thread]
        cdef Node node = deferred.node
        cdef vector[Deferred] none
        (<Splitter> worker).share_tables((<Splitter> worker).tables.get())
        (<Splitter> worker).sampler.get().assume_known(deferred.known)
        self.subtrees[subtree].begin_subtree(self.store, node.record)
        node.record = 0
        node.table = (<Splitter> worker).tables.get().take(deferred.table)
        return self.grow_subtree(<Splitter> worker, self.subtrees[subtree], node, 0, none)

    cdef int grow_subtree(self, Splitter splitter, NodeStore& store, Node root,
                          uint32_t defer_below, vector[Deferred]& deferred) except -1 nogil:
        """Grow what is below `root`; nodes of few rows are deferred instead."""
        cdef vector[Node] stack
        cdef Node node, left, right
        cdef Split split
        cdef double improvement
        cdef bint with_left, with_right
        cdef int n_threads
        stack.push_back(root)
        while not stack.empty():
            node = stack.back()
            stack.pop_back()
            if node.size() <= defer_below:
                deferred.emplace_back()
                deferred.back().node = node
                deferred.back().known = splitter.sampler.get().known(node.n_known)
                if handing_over_pays(node.size(), defer_below):
                    deferred.back().table = splitter.tables.get().give(node.table)
                else:
                    splitter.tables.get().release(node.table)
                deferred.back().node.table = NO_TABLE
                continue
            if splitter.grow_block(store, node) or not self.search(splitter, node, split, left,
                                                                   right, &improvement):
                splitter.tables.get().release(node.table)
                continue
            left.record = store.append(left, splitter.left_value)
            right.record = store.append(right, splitter.right_value)
            store.set_split(node.record, split, left.record)
            n_threads = self.n_threads if defer_below else 1
            self.split_lists(splitter, left, right, n_threads)
            with_left = not self.rules.is_terminal(left)
            with_right = not self.rules.is_terminal(right)
            splitter.pass_tables(node, left, right, with_left and not splitter.is_block(left),
                                 with_right and not splitter.is_block(right), n_threads)
            if with_right:
                stack.push_back(right)
            if with_left:
                stack.push_back(left)
        return 0


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
        self.splitter = splitter
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_leaf = min_weight_leaf
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease

    cdef bint as_grown(self):
        return self.splitter.rules.sklearn_rules

    cdef int open_node(self, Node& node, Open& out) except -1 nogil:
        """Find and make the split of a node, whose lists follow if it is expanded."""
        node.n_known = 0
        out.improvement = 0.0
        out.is_leaf = self.rules.is_terminal(node) or not self.search(
            self.splitter, node, out.split, out.left, out.right, &out.improvement)
        self.splitter.tables.get().release(node.table)
        node.table = NO_TABLE
        if out.is_leaf:
            out.improvement = 0.0
        out.node = node
        out.take_values(self.splitter.left_value, self.splitter.right_value)
        return 0

    cdef int grow(self) except -1:
        cdef Frontier* frontier = new Frontier(self.store, self.splitter.rules.sklearn_rules)
        cdef Node root
        cdef Open opened, expanded
        cdef intp_t budget = self.max_leaf_nodes - 1
        try:
            with nogil:
                self.make_root(root)
                self.open_node(root, opened)
                frontier.push(opened)
                while not frontier.empty():
                    expanded = frontier.pop()
                    if expanded.is_leaf:
                        continue
                    if budget <= 0:
                        if self.splitter.rules.sklearn_rules:
                            self.store.set_missing_side(expanded.node.record,
                                                        expanded.split.missing_left)
                        continue
                    budget -= 1
                    expanded.left.record = self.store.append(expanded.left, expanded.left_value)
                    expanded.right.record = self.store.append(expanded.right, expanded.right_value)
                    self.store.set_split(expanded.node.record, expanded.split,
                                         expanded.left.record)
                    self.splitter.sampler.get().begin(expanded.node.key, 0)
                    self.splitter.partitioner.restore_sides(
                        expanded.node.start, expanded.right.start, expanded.node.end)
                    self.split_lists(self.splitter, expanded.left, expanded.right, self.n_threads)
                    self.open_node(expanded.left, opened)
                    frontier.push(opened)
                    self.open_node(expanded.right, opened)
                    frontier.push(opened)
        finally:
            del frontier
        return 0
