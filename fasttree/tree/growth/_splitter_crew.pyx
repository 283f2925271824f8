"""What the threads of a fit do of a large node together: they count its tables and totals, search
its features, and divide its rows and what is kept of them.

Each has a splitter of its own. Functions that take a crew, a thread and a piece are what the one
that leads shares out.
"""
from cython.operator cimport dereference as deref
from libcpp.utility cimport move

from fasttree.engine.core cimport NO_FEATURE, NO_TABLE, add_totals, is_better, subtree_size
from fasttree.engine.search cimport NodeColumns, WalkShare
from fasttree.utils._threads cimport PARTS_OF_A_THREAD, guided_begin

# Rows that are worth a part of the totals of a node.
cdef uint32_t ROWS_OF_A_PART = 1 << 13


cdef int count_share(void* crew, int thread, int share, void* counting) except -1 nogil:
    """A share of the count tables of a node."""
    cdef void* worker = (<SplitterCrew> crew).workers[thread]
    return (<Splitter> worker).count_share((<SplitterCrew> crew).splitter,
                                           (<Counting*> counting)[0], thread, share)


cdef int search_share(void* crew, int thread, int i, void* shared) except -1 nogil:
    """A share of the walk through the features of a node."""
    cdef Walk* walk = <Walk*> shared
    cdef void* worker = (<SplitterCrew> crew).workers[thread]
    cdef WalkShare share = (<SplitterCrew> crew).shares[i]
    cdef NodeColumns* columns = (<Splitter> worker).columns
    if (<SplitterCrew> crew).splitter.walk.get().is_settled(share.share):
        return 0
    (<SplitterCrew> crew).shares.begin(i)
    columns.begin_share(share, (<SplitterCrew> crew).splitter.columns.tables)
    (<Splitter> worker).begin_node(walk.open.node, walk.open.totals)
    (<Splitter> worker).walk.get().begin_share(walk.open.node, share.share, walk.found[0])
    (<Splitter> worker).look(walk.open.node, walk.best_of[thread],
                             walk.is_constant if share.segment == 0 else NULL)
    columns.end_share()
    (<SplitterCrew> crew).shares.end(i)
    return 0


cdef int totals_of_part(void* crew, int thread, int part, void* shared) except -1 nogil:
    """Totals of a part of the rows of a node."""
    cdef TotalsInParts* totals = <TotalsInParts*> shared
    cdef void* worker = (<SplitterCrew> crew).workers[thread]
    cdef uint32_t n_threads = <uint32_t> (<SplitterCrew> crew).n_threads
    cdef uint32_t start = totals.node.start, n = totals.node.size()
    cdef Node rows = totals.node[0]
    rows.start = start + guided_begin(n, <uint32_t> part, totals.n_parts, n_threads)
    rows.end = start + guided_begin(n, <uint32_t> part + 1, totals.n_parts, n_threads)
    return (<Splitter> worker).totals_of_part(rows, totals.of_part[part])


cdef int child_stats(void* crew, int thread, int child, void* shared) except -1 nogil:
    """Statistics of the left child of a node (0), or of the right one."""
    cdef void* worker = (<SplitterCrew> crew).workers[thread]
    cdef Open* open = <Open*> shared
    if child == 0:
        return (<Splitter> worker).node_stats(open.left, open.left_totals, open.left_value)
    return (<Splitter> worker).node_stats(open.right, open.right_totals, open.right_value)


cdef int hand_down_piece(void* crew, int thread, int i, void* shared) except -1 nogil:
    """A share of the children's tables of a node, or a part of its division.

    Shares come first: whoever adds them up leaves parts to others.
    """
    cdef HandingDown* handing = <HandingDown*> shared
    cdef void* worker = (<SplitterCrew> crew).workers[thread]
    if i < <int> handing.counting.n_shares:
        return (<Splitter> worker).count_share((<SplitterCrew> crew).splitter,
                                               handing.counting[0], thread, i)
    return (<Splitter> worker).divide_part(i - handing.counting.n_shares, handing.n_steps,
                                           handing.division[0],
                                           deref((<SplitterCrew> crew).splitter.sampler))


cdef class SplitterCrew:
    """The splitters of a fit's threads.

    Parameters
    ----------
    splitter : Splitter
        Of the thread that leads; it has been given the data.
    leader : Leader
    """

    def __cinit__(self, Splitter splitter not None, Leader leader not None):
        self.splitter = splitter
        self.leader = leader
        self.n_threads = leader.crew.get().size()
        self.splitters = [splitter] + [splitter.clone() for _ in range(self.n_threads - 1)]
        for worker in self.splitters:
            self.workers.push_back(<void*> worker)
        self.shares = WalkShares(
            splitter.walk.get().n_shares(), splitter.columns.listed_features,
            splitter.columns.n_lists_in_segments(self.n_threads), self.n_threads)

    cdef int close(self) except -1:
        """Let go of the data: the threads only write the tree from here on."""
        self.workers.clear()
        self.splitters = []
        return self.splitter.close()

    cdef int share_out(self, int n, CrewWork work, void* owner, void* shared) except -1 nogil:
        return self.leader.share_out(n, work, owner, shared, False)

    cdef int take_rules(self, const GrowthRules& rules) except -1 nogil:
        cdef int t
        for t in range(self.n_threads):
            (<Splitter> self.workers[t]).rules = rules
        return 0

    cdef bint is_large(self, const Node& node) noexcept nogil:
        return self.n_threads > 1 and node.size() > subtree_size(
            self.splitter.partitioner.n_rows, self.n_threads)

    cdef int find_split(self, Open& open) except -1 nogil:
        """Shares of the count tables, then of the walk."""
        cdef int t, n_threads = self.n_threads
        cdef Node* node = &open.node
        cdef vector[Split] best_of = vector[Split](n_threads)
        cdef vector[char] is_constant = vector[char](self.splitter.partitioner.n_features)
        cdef SharedScore found
        cdef Counting counting
        cdef Walk walk
        self.splitter.begin_node(node[0], open.totals)
        self.splitter.scanner.write_totals(open.totals)
        self.splitter.sampler.get().begin(node.key, node.n_known)
        counting = move(self.splitter.columns.tables.begin_node(node[0], n_threads))
        if counting.table != NO_TABLE:
            self.share_out(counting.n_shares, count_share, <void*> self, &counting)
            self.splitter.columns.tables.end_counting(counting)
        walk = Walk(&open, &found, best_of.data(), is_constant.data())
        self.share_out(self.shares.size(), search_share, <void*> self, &walk)
        self.shares.sort_lists()
        open.split = move(best_of[0])
        for t in range(1, n_threads):
            if is_better(best_of[t], open.split):
                open.split = move(best_of[t])
        self.splitter.settle_threshold(open.split)
        node.n_known = self.splitter.walk.get().end_shares(node[0], is_constant)
        return open.split.feature != NO_FEATURE

    cdef int divide(self, Open& open) except -1 nogil:
        self.splitter.divide_rows(open, self.leader.crew.get())
        if not open.totals.empty():
            self.count_totals(open.smaller(), open.smaller_totals())
            open.settle_totals()
            if self.splitter.scanner.stats_follow_totals():
                return self.splitter.children_stats(open)
        self.share_out(2, child_stats, <void*> self, &open)
        return 1

    cdef int count_totals(self, const Node& node, Totals& out) except -1 nogil:
        cdef int part, n_parts = min(PARTS_OF_A_THREAD * self.n_threads,
                                     <int> (node.size() // ROWS_OF_A_PART) + 1)
        cdef vector[Totals] of_part = vector[Totals](n_parts)
        cdef TotalsInParts totals = TotalsInParts(&node, n_parts, of_part.data())
        self.share_out(n_parts, totals_of_part, <void*> self, &totals)
        out.clear()
        for part in range(n_parts):
            add_totals(of_part[part], out)
        return 0

    cdef int hand_down(self, Division& division, Counting& counting, int n_parts,
                       uint32_t n_steps) except -1 nogil:
        cdef HandingDown handing = HandingDown(&division, &counting, n_steps)
        return self.share_out(n_parts + counting.n_shares, hand_down_piece, <void*> self, &handing)
