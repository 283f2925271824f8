"""What the threads of a fit do of a large node together: they count its tables and totals, search
its features, and divide its rows and what is kept of them.

Each has a splitter of its own. Functions that take a crew, a thread and a piece are what the one
that leads shares out.
"""
from cython.operator cimport dereference as deref
from libcpp.utility cimport move

from fasttree.engine.core cimport NO_FEATURE, NO_TABLE, add_totals, is_better, subtree_size
from fasttree.engine.search cimport NO_LIST, NodeColumns, WalkShare
from fasttree.utils._std cimport unique_ptr
from fasttree.utils._threads cimport PARTS_OF_A_THREAD, guided_begin

# Rows that are worth a part of the totals of a node.
cdef uint32_t ROWS_OF_A_PART = 1 << 13


cdef int search_piece(void* crew, int thread, int i, void* walk) except -1 nogil:
    """A piece of what the parent of a node leaves to it, or a share of the node's walk."""
    cdef int n_handed_down = (<Walk*> walk).handed_down.n_pieces()
    if i < n_handed_down:
        return hand_down_piece(crew, thread, i, NULL)
    return (<SplitterCrew> crew).search_share(thread, i - n_handed_down, (<Walk*> walk)[0])


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


cdef int hand_down_piece(void* crew, int thread, int i, void* _) except -1 nogil:
    """A share of the children's tables of a node, or a part of its division.

    Shares come first: whoever adds them up leaves parts to others.
    """
    cdef int n_shares = (<SplitterCrew> crew).counting.n_shares
    if i < n_shares:
        return (<Splitter> (<SplitterCrew> crew).workers[thread]).count_share(
            (<SplitterCrew> crew).splitter, (<SplitterCrew> crew).counting, thread, i)
    return (<SplitterCrew> crew).divide_part(thread, i - n_shares)


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

    cdef bint searches(self, const Node& node) noexcept nogil:
        return (self.is_large(node) and not self.splitter.draws
                and not self.splitter.columns.fits_block(node))

    cdef int take_rules(self, const GrowthRules& rules) except -1 nogil:
        cdef int t
        for t in range(self.n_threads):
            (<Splitter> self.workers[t]).rules = rules
        return 0

    cdef bint is_large(self, const Node& node) noexcept nogil:
        return self.n_threads > 1 and node.size() > self.largest_subtree()

    cdef uint32_t largest_subtree(self) noexcept nogil:
        return subtree_size(self.splitter.partitioner.n_rows, self.n_threads)

    cdef int find_split(self, Open& open) except -1 nogil:
        """What the parent left, or shares of the count tables; then shares of the walk."""
        cdef int t, n_threads = self.n_threads
        cdef Node* node = &open.node
        cdef vector[Split] best_of = vector[Split](n_threads)
        cdef vector[char] is_constant = vector[char](self.splitter.partitioner.n_features)
        cdef SharedScore found
        cdef Counting counting
        cdef unique_ptr[Stage] handed_down
        cdef Walk walk
        self.splitter.begin_node(node[0], open.totals)
        self.splitter.scanner.write_totals(open.totals)
        self.splitter.sampler.get().begin(node.key, node.n_known)
        counting = move(self.splitter.columns.tables.begin_node(node[0], n_threads))
        if counting.table != NO_TABLE:  # not if the parent left counts: then it has a table
            self.counting = move(counting)
        handed_down.reset(new Stage(
            self.counting.n_shares + (self.division.n_cut_parts() if self.is_handing_down else 0)))
        walk = Walk(&open, &found, best_of.data(), is_constant.data(), handed_down.get())
        self.leader.share_out_from(deref(handed_down), handed_down.get().n_pieces()
                                   + self.shares.size(), search_piece, <void*> self, &walk, False)
        self.end_handing_down()
        self.shares.sort_lists()
        open.split = move(best_of[0])
        for t in range(1, n_threads):
            if is_better(best_of[t], open.split):
                open.split = move(best_of[t])
        self.splitter.settle_threshold(open.split)
        node.n_known = self.splitter.walk.get().end_shares(node[0], is_constant)
        return open.split.feature != NO_FEATURE

    cdef int search_share(self, int thread, int i, Walk& walk) except -1 nogil:
        """A list is divided by the thread that searches it; others wait for what they read."""
        cdef void* worker = self.workers[thread]
        cdef WalkShare share = self.shares[i]
        cdef NodeColumns* columns = (<Splitter> worker).columns
        cdef uint32_t first
        if self.splitter.walk.get().is_settled(share.share):
            return 0
        if share.list == NO_LIST:
            if not walk.handed_down.wait(0, self.counting.n_shares):
                return 0
        elif self.is_handing_down and self.division.is_cut(share.list):
            first = self.counting.n_shares + self.division.part_of(share.list)
            if not walk.handed_down.wait(first, first + self.division.n_segments):
                return 0
        self.shares.begin(i)
        if self.is_handing_down and share.list != NO_LIST and not self.division.is_cut(share.list):
            self.divide_part(thread, self.division.part_of(share.list))
        columns.begin_share(share, self.splitter.columns.tables)
        (<Splitter> worker).begin_node(walk.open.node, walk.open.totals)
        (<Splitter> worker).walk.get().begin_share(walk.open.node, share.share, walk.found[0])
        (<Splitter> worker).look(walk.open.node, walk.best_of[thread],
                                 walk.is_constant if share.segment == 0 else NULL)
        columns.end_share()
        self.shares.end(i)
        return 0

    cdef int divide_part(self, int thread, int part) except -1 nogil:
        return (<Splitter> self.workers[thread]).divide_part(
            part, self.n_steps, self.division, deref(self.splitter.sampler))

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
                       uint32_t n_steps, bint is_child_next) except -1 nogil:
        self.n_steps = n_steps
        self.division = move(division)
        self.counting = move(counting)
        self.is_handing_down = True
        if not (is_child_next and self.division.is_by_list):
            self.share_out(n_parts + self.counting.n_shares, hand_down_piece, <void*> self, NULL)
            self.end_handing_down()
        return 0

    cdef void end_handing_down(self) noexcept nogil:
        cdef Counting nothing
        if self.is_handing_down:
            self.splitter.columns.end_division(self.division)
        self.splitter.columns.tables.end_counting(self.counting)
        self.counting = move(nothing)
        self.is_handing_down = False
