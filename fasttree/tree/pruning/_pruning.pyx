"""Minimal cost-complexity pruning (Breiman, Friedman, Olshen and Stone 1984, chapter 3).

The weakest link is the inner node with the smallest (R(node) - R(its leaves)) / (its leaves - 1),
R being impurity weighted by the share of the training weight; of equal ones, the lowest id. It is
made a leaf, and so on until the root is one. All sums are formed in scikit-learn's order, so the
path is the same to the last bit.

A heap holds an entry per inner node. Cutting the weakest link can only raise the alpha of its
ancestors (they lose a part with a smaller ratio than their own), so an entry that has become too
low is put back when it surfaces; where rounding lowered an alpha, a second entry is pushed at
once. Invariant: every inner node of the subtree has an entry that is not above its alpha.

Complexity: O(n * height) for the sums, and a heap operation per entry that surfaces.
"""
import numpy as np

from libc.string cimport memcpy

from fasttree.engine.core cimport NodeRecord
from fasttree.engine.prune cimport WeakestLinks, copy_cut
from fasttree.utils._std cimport unique_ptr, vector
from fasttree.utils._typedefs cimport float64_t, intp_t, uint8_t

from fasttree.tree.fitted._walk cimport node_pointer
from fasttree.utils._interrupt cimport Interrupt, Poll

from fasttree.tree._tree import NODE_DTYPE, Tree

__all__ = ["ccp_pruning_path", "prune_ccp", "prune_tree"]

cdef class _Pruning:
    """Cuts the weakest links of a tree one by one."""

    cdef unique_ptr[WeakestLinks] links
    cdef object nodes  # keeps the records alive
    cdef intp_t n_nodes
    cdef Interrupt interrupt
    cdef Poll steps

    def __init__(self, tree):
        cdef intp_t i
        self.nodes = tree.nodes
        self.n_nodes = tree.node_count
        self.interrupt = Interrupt()
        self.steps = self.interrupt.poll()
        self.links.reset(new WeakestLinks(node_pointer(tree.nodes), self.n_nodes))
        with nogil:
            for i in range(self.n_nodes):
                self.poll(self.links.get().add_leaf(i))
            for i in range(self.n_nodes):
                self.links.get().add_link(i)

    cdef int poll(self, intp_t n_climbed) except -1 nogil:
        """Look for Ctrl-C now and then."""
        return 0 if self.steps.go_on(n_climbed) else self.interrupt.give_up()

    cdef bint find(self, float64_t& alpha, intp_t& link) except -1 nogil:
        """The weakest link and its alpha; False if the root is a leaf."""
        return self.links.get().find(alpha, link)

    cdef int cut(self, intp_t link) except -1 nogil:
        """Make the weakest link a leaf."""
        return self.poll(self.links.get().cut(link))


def ccp_pruning_path(tree):
    """Return the steps of minimal cost-complexity pruning.

    Parameters
    ----------
    tree : Tree
        The tree to prune.

    Returns
    -------
    ccp_alphas : ndarray of shape (n_steps + 1,), dtype=float64
        Effective alpha of each subtree; 0 for the tree itself.
    impurities : ndarray of shape (n_steps + 1,), dtype=float64
        Total impurity of the leaves of each subtree.
    """
    cdef _Pruning pruning = _Pruning(tree)
    cdef vector[float64_t] alphas, impurities
    cdef float64_t alpha = 0.0
    cdef intp_t link = 0
    with nogil:
        alphas.push_back(0.0)
        impurities.push_back(pruning.links.get().total_risk())
        while pruning.find(alpha, link):
            pruning.cut(link)
            alphas.push_back(alpha)
            impurities.push_back(pruning.links.get().total_risk())
    return np.array(alphas), np.array(impurities)


def prune_ccp(tree, float64_t ccp_alpha):
    """Return the smallest subtree whose effective alpha is at most `ccp_alpha`.

    Parameters
    ----------
    tree : Tree
        The tree to prune; it is not changed.
    ccp_alpha : float
        Complexity parameter.

    Returns
    -------
    Tree
        The subtree, numbered depth-first.
    """
    cdef _Pruning pruning = _Pruning(tree)
    cdef float64_t alpha = 0.0
    cdef intp_t link = 0, i
    is_leaf = np.empty(pruning.n_nodes, dtype=np.uint8)
    cdef uint8_t[::1] mask = is_leaf
    with nogil:
        while pruning.find(alpha, link) and not ccp_alpha < alpha:
            pruning.cut(link)
        for i in range(pruning.n_nodes):
            mask[i] = pruning.links.get().is_leaf(i)
    return prune_tree(tree, is_leaf)


def prune_tree(tree, leaves_mask):
    """Return the tree with the marked nodes made leaves.

    Parameters
    ----------
    tree : Tree
        The tree to cut; it is not changed.
    leaves_mask : array-like of shape (node_count,)
        Whether a node becomes a leaf. Leaves stay leaves whatever the mask says.

    Returns
    -------
    Tree
        What remains, numbered depth-first.

    Raises
    ------
    ValueError
        If the mask has the wrong length.
    """
    leaves_mask = np.ascontiguousarray(leaves_mask, dtype=bool)
    if leaves_mask.shape != (tree.node_count,):
        raise ValueError(
            f"leaves_mask has shape {leaves_mask.shape} for a tree of {tree.node_count} nodes."
        )
    cdef const uint8_t[::1] is_cut = leaves_mask.view(np.uint8)
    cdef vector[intp_t] ids
    cdef vector[NodeRecord] copies
    cdef intp_t max_depth = copy_cut(node_pointer(tree.nodes), &is_cut[0], ids, copies)
    nodes = np.empty(ids.size(), dtype=NODE_DTYPE)
    cdef uint8_t[::1] raw = nodes.view(np.uint8)
    memcpy(&raw[0], copies.data(), copies.size() * sizeof(NodeRecord))
    kept = np.array(ids, dtype=np.intp)
    label_splits = tree.label_splits
    if label_splits is not None:
        label_splits = label_splits.take(kept, nodes["left_child"] >= 0)
    cut = Tree(tree.n_features, tree.n_classes, tree.n_outputs)
    cut.set_nodes(nodes, tree.value[kept], max_depth, label_splits)
    return cut
