"""What the kernels of single arrays compute, in NumPy and Python's integers."""

import math

import numpy as np

CLASS_1 = 1 << 30  # in an entry of a list

# Around the number of lanes of every vector, the limits of a sort, and words of bits.
SIZES = (0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 1000, 1001)
MASK = (1 << 64) - 1

# Every kind of float: signed zeros, subnormals, infinities, neighbours, NaN of either sign.
SPECIAL_FLOATS = np.array(
    [0.0, -0.0, 1e-45, -1e-45, 1.1754942e-38, -1.1754942e-38, 1.1754944e-38, 1.0, -1.0,
     np.nextafter(np.float32(1), np.float32(2)), 3.4028235e38, -3.4028235e38,
     np.inf, -np.inf, np.nan, -np.nan],
    dtype=np.float32,
)  # fmt: skip


def random_floats(rng, n):
    """Floats of any bits, few distinct ones, special ones, or an order that sorts dislike."""
    kind = rng.integers(6)
    if kind == 0:
        return rng.integers(0, 1 << 32, n, dtype=np.uint32).view(np.float32)
    if kind == 1:
        return rng.choice(SPECIAL_FLOATS, n)
    if kind == 2:
        return rng.integers(-3, 4, n).astype(np.float32)
    if kind == 3:
        return np.full(n, rng.normal(), np.float32)
    x = np.sort(rng.normal(size=n).astype(np.float32))
    return x if kind == 4 else x[::-1].copy()


def packed(bits):
    """Bit i of uint32 words, with a spare word behind."""
    padded = np.concatenate([bits, np.zeros(64 - len(bits) % 32, bool)])
    return np.packbits(padded, bitorder="little").view(np.uint32)


def row_words(bits):
    """Bit i of a row in word i // 64."""
    padded = np.zeros((len(bits), -(-bits.shape[1] // 64) * 64), bool)
    padded[:, : bits.shape[1]] = bits
    return np.packbits(padded, axis=1, bitorder="little").view(np.uint64)


def random_two_valued(rng, n_rows, n_columns):
    """Columns of two numbers, and others that are nearly such ones."""
    pairs = [(0, 1), (0, 1), (-1, 1), (1, 2), (0.5, 0.25), (-0.0, 1), (np.nan, 1), (0, -0.0)]
    X = np.empty((n_rows, n_columns), np.float32)
    for f in range(n_columns):
        low, high = pairs[rng.integers(len(pairs))]
        X[:, f] = np.where(rng.random(n_rows) < rng.choice([0.0, 0.01, 0.5, 1.0]), high, low)
        if rng.random() < 0.2:
            X[rng.integers(n_rows), f] = rng.choice([0, 1, 2, -0.0, np.nan])
    return X


def random_two_categories(kernels, rng, n_rows, n_columns):
    """Columns that may hold categories, how many each, and those that hold one or two and nothing
    else."""
    n_categories = rng.choice([1, 2, 3], n_columns).astype(np.uint32)
    cells = kernels.keys.category_cells(np.arange(3, dtype=np.uint32)).view(np.uint32)
    codes = rng.random((n_rows, n_columns)) < rng.choice([0.0, 0.01, 0.5, 1.0], n_columns)
    codes &= n_categories > 1
    X = cells[codes.astype(int)].view(np.float32)
    is_pure = n_categories < 3
    for f in np.flatnonzero(rng.random(n_columns) < 0.3):
        X[rng.integers(n_rows), f] = rng.choice([0.0, 1.0, np.nan])
        is_pure[f] = False
    return X, n_categories, np.flatnonzero(is_pure)


def two_valued(X):
    """Columns of at most two numbers, of which each has one sign if it is zero."""
    bits = np.ascontiguousarray(X).view(np.uint32)
    return [
        f
        for f in range(X.shape[1])
        if not np.isnan(X[:, f]).any()
        and len(np.unique(X[:, f])) == len(np.unique(bits[:, f])) <= 2
    ]


def partition(entries, goes_left, boundary):
    """Entries on the left and on the right, each with the boundaries since its predecessor."""
    is_boundary, others = entries >= boundary, entries % boundary
    rows = others % CLASS_1  # the bit above is the row's class
    group = np.cumsum(is_boundary)
    sides = []
    for kept in (goes_left[rows], ~goes_left[rows]):
        first = np.concatenate([[0], group[kept][:-1]])
        sides.append(np.where(group[kept] > first, others[kept] | boundary, others[kept]))
    return [side.astype(np.uint32) for side in sides]


def mix(key, value):
    """The finaliser of splitmix64."""
    z = (key + 0x9E3779B97F4A7C15 * (value + 1)) & MASK
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
    return z ^ z >> 31


def xorshift(seed):
    """scikit-learn's random numbers."""
    state = seed or 1
    while True:
        state ^= state << 13 & 0xFFFFFFFF
        state ^= state >> 17
        state ^= state << 5 & 0xFFFFFFFF
        yield state & 0x7FFFFFFF


def inversions(items):
    """How many moves an insertion sort makes."""
    items = np.asarray(items)
    return sum(int((items[:i] > item).sum()) for i, item in enumerate(items))


def chi_square_of_uniform(counts):
    """In standard deviations from its mean, if all cells are equally likely."""
    expected = counts.sum() / len(counts)
    chi2 = ((counts - expected) ** 2 / expected).sum()
    return (chi2 - (len(counts) - 1)) / math.sqrt(2 * (len(counts) - 1))


def random_packed_tree(rng, n_inner, n_features):
    """A tree as prediction reads it: siblings side by side, leaves with words of their own."""
    n_nodes = 2 * n_inner + 1
    nodes = np.zeros(n_nodes, [("threshold", "f4"), ("feature", "i4"), ("child", "u4")])
    nodes["feature"] = -1
    nodes["child"] = rng.integers(0, 1 << 31, n_nodes, dtype=np.uint32)
    leaves = [0]
    for pair in range(1, n_nodes, 2):
        near = min(len(leaves), int(rng.choice([1, 4, 64])))  # the fewer, the deeper
        at = leaves.pop(-1 - rng.integers(near))
        flip = rng.integers(2) << 31
        nodes[at] = (random_floats(rng, 1)[0], rng.integers(n_features), pair | flip)
        leaves += [pair, pair + 1]
    return nodes


def packed_children(nodes, at):
    """The left and the right child of a packed node."""
    first = int(nodes["child"][at]) & 0x7FFFFFFF
    return (first + 1, first) if nodes["child"][at] >> 31 else (first, first + 1)


def question_blocks(nodes, n_rows):
    """The exits of blocks of 15 questions, those that most rows come to, from the left to the right
    of the tree: the word of a leaf and the highest bit, or the number of a block."""
    blocks, roots = [], [0]
    for root in roots:
        exits = [root]
        for _ in range(15):
            inner = [e for e in exits if nodes["feature"][e] >= 0]
            if not inner:
                break
            asked = max(inner, key=lambda e: n_rows[e])  # of several the leftmost
            place = exits.index(asked)
            exits[place : place + 1] = packed_children(nodes, asked)
        block = []
        for e in exits:
            if nodes["feature"][e] < 0:
                block.append(int(nodes["child"][e]) | 1 << 31)
            else:
                block.append(len(roots))
                roots.append(e)
        blocks.append(block)
    return blocks


def leaf_words(nodes, X):
    """The words of the leaves of rows: the second child unless value <= threshold, with both signs
    changed where the highest bit is set."""
    at = np.zeros(len(X), int)
    while (inner := nodes["feature"][at] >= 0).any():
        node = nodes[at[inner]]
        cells = X[inner, node["feature"]]
        cells = np.where(node["child"] >> 31, -cells, cells)
        at[inner] = (node["child"] & 0x7FFFFFFF) + ~(cells <= node["threshold"])
    return nodes["child"][at]
