"""Columns of a dense matrix: rows that are read together, lists and codes that threads share."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from reference.kernels import packed


def test_codes_and_buckets_of_many_columns_are_interleaved_in_steps(kernels):
    for storage in (kernels.codes.COUNTED, kernels.codes.WIDE, kernels.codes.BUCKETED):
        assert kernels.codes.n_interleaving_steps(1_000, 100, storage) == 1
        assert kernels.codes.n_interleaving_steps(10_000, 2_000, storage) == 21
    assert kernels.codes.n_interleaving_steps(10_000, 2_000, kernels.codes.RAW) == 1


# ---- sides


@pytest.mark.parametrize("n_threads", [1, 2, 3, 5, 64])
@pytest.mark.parametrize("keeps_sides", [False, True])
@pytest.mark.parametrize("n_values", [2, 100])
def test_rows_are_split_by_codes_and_marked_for_lists(
    kernels, simd, n_threads, keeps_sides, n_values
):
    for seed in range(20):
        rng = np.random.default_rng([n_threads, n_values, seed])
        X = rng.random((int(rng.choice([300, 5000])), 2)).astype(np.float32)
        X[:, 0] = rng.permutation(np.arange(len(X)) % n_values)
        rows = np.flatnonzero(rng.random(len(X)) < rng.choice([0.01, 0.1, 1.0]))
        rows = np.union1d(rows, [7])
        threshold = rng.choice(X[:, 0])
        is_left = X[:, 0] <= threshold
        split, n_left, marks = kernels.codes.rows_split_beside_list(
            simd, X, threshold, keeps_sides, n_threads, rows
        )
        assert n_left == is_left[rows].sum()
        assert_array_equal(split, np.r_[rows[is_left[rows]], rows[~is_left[rows]]])
        assert_array_equal(marks[rows], is_left[rows])
        if keeps_sides:  # of other rows, which were marked before
            assert np.delete(marks, rows).all()


@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize("n", [1, 1 << 16, 200_001])
def test_rows_of_a_sample(kernels, n_threads, n):
    assert_array_equal(kernels.codes.named_rows([], n, n_threads), np.arange(n))
    some = np.arange(n)[::3]
    assert_array_equal(kernels.codes.named_rows(some, n, n_threads), some)


# ---- blocks of rows


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("n_columns", [2, 5, 33, 70])
def test_blocks_of_rows(kernels, order, n_columns):
    """128 rows by 128, all features of each, until a feature has been read often enough."""
    for seed in range(20):
        rng = np.random.default_rng([n_columns, seed])
        X = np.zeros((rng.integers(2, 1500), n_columns), np.float32, order)
        rows = np.flatnonzero(rng.random(len(X)) < rng.choice([0, 0.5]))
        n_encoded = len(rows) or len(X)
        begin, end = np.sort(rng.integers(0, n_encoded + 1, 2))
        features = np.flatnonzero(rng.random(n_columns) < rng.choice([0.2, 1.0]))
        most = rng.choice([1, 3, 1000], n_columns)
        expected = []
        for start in range(begin, end, 128 if order == "C" else len(X)):
            stop = min(start + 128, end) if order == "C" else end
            expected += [(f, start, stop) for f in features if most[f] > (start - begin) // 128]
        assert kernels.codes.read_blocks(X, rows, features, most, begin, end) == expected


@pytest.mark.parametrize("row_stride", [0, 1, -1, 8])
@pytest.mark.parametrize("share", [0, 0.5])
def test_cells_side_by_side_of_rows_that_overlap(kernels, simd, row_stride, share):
    rng = np.random.default_rng(0)
    numbers = rng.random(10_000).astype(np.float32)
    first = numbers[1000 if row_stride < 0 else 0 :]
    X = np.lib.stride_tricks.as_strided(first, (1000, 8), (4 * row_stride, 4))
    rows = np.flatnonzero(rng.random(len(X)) < share)
    encoded = rows if len(rows) else np.arange(len(X))
    cells, found = kernels.codes.side_by_side(simd, X, rows, np.arange(8), 3, len(encoded))
    assert_array_equal(cells[found], X[encoded[3:]][:, found].T)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("n_columns", [1, 4, 16, 17, 70])
def test_cells_side_by_side(kernels, simd, order, n_columns):
    """With AVX-512, of rows one after the other, or of four columns or more of 16 that are read."""
    for seed in range(20):
        rng = np.random.default_rng([n_columns, seed])
        wide = rng.random((rng.integers(2, 700), n_columns + 3)).astype(np.float32)
        X = wide[:, :n_columns] if order == "C" else np.asarray(wide[:, :n_columns], order="F")
        rows = np.flatnonzero(rng.random(len(X)) < rng.choice([0, 0.5]))
        encoded = rows if len(rows) else np.arange(len(X))
        begin, end = np.sort(rng.integers(0, len(encoded) + 1, 2))
        features = np.flatnonzero(rng.random(n_columns) < rng.choice([0.2, 1.0]))
        if begin == end or len(features) == 0:
            continue
        cells, found = kernels.codes.side_by_side(simd, X, rows, features, begin, end)
        assert_array_equal(cells[found], X[encoded[begin:end]][:, features[found]].T)
        if simd != kernels.machine.SIMD["avx512"]:
            assert not found.any()
        elif order == "F":
            assert found.all() if len(rows) == 0 else not found.any()
        else:
            groups, first = [], -16  # of the columns within 16 of the first
            for feature in features:
                first = feature if feature >= first + 16 else first
                groups.append(first)
            assert_array_equal(found, [groups.count(group) >= 4 for group in groups])


def test_lists_are_searched_after_a_quarter_of_the_others(kernels):
    def order(*args):
        return [share for share, segment, n_segments in kernels.codes.order_of_shares(*args)
                if (segment, n_segments) == (0, 1)]  # fmt: skip

    assert order(5, []) == order(5, range(5)) == list(range(5))
    assert order(10, [1, 9]) == [0, 2, 1, 9, 3, 4, 5, 6, 7, 8]
    assert order(3, [0, 2]) == [0, 2, 1]
    # The i-th list is a piece of the thread that divides it.
    for n_threads in (2, 3, 5):
        shares = order(20, [0, 7, 8, 19], 0, n_threads)
        assert sorted(shares) == list(range(20))
        for i, feature in enumerate([0, 7, 8, 19]):
            assert shares.index(feature) % n_threads == i % n_threads


def test_lists_that_took_longest_come_first(kernels):
    order = kernels.codes.order_of_shares
    whole = [(share, 0, 1) for share in (5, 3, 1, 0, 2, 4)]
    assert order(6, [1, 3, 5], 0, 1, [1, 9, 30]) == whole
    # The times of segments add up; the last one is cut then.
    assert order(5, [1, 2, 4], 1, 2, [10, 1, 20]) == [
        (4, 0, 1), (1, 0, 1), (2, 0, 2), (2, 1, 2), (0, 0, 1), (3, 0, 1)
    ]  # fmt: skip
    # Who has the longest of a turn has the shortest of the next one.
    lists = [1, 2, 4, 5, 6, 7]
    shares = order(8, lists, 0, 2, [1, 9, 17, 25, 33, 41])
    assert [share for share, *_ in shares] == [7, 6, 4, 5, 2, 1, 0, 3]
    shares = order(8, lists[1:], 0, 3, [9, 17, 25, 33, 41])
    assert [share for share, *_ in shares] == [7, 6, 5, 4, 2, 0, 1, 3]
    shares = order(8, lists, 0, 3, [1, 9, 17, 25, 33, 41])
    assert [share for share, *_ in shares] == [7, 6, 5, 1, 2, 4, 0, 3]
    shares = order(8, lists[1:], 1, 2, [9, 17, 25, 33, 41])
    assert [share for share, *_ in shares] == [7, 6, 4, 5, 2, 2, 0, 1, 3]


def test_lists_left_over_are_taken_in_segments_unless_most_threads_have_one(kernels):
    n_left_over = kernels.codes.n_left_over
    assert [n_left_over(n, 2) for n in range(6)] == [0, 1, 0, 1, 0, 1]
    assert [n_left_over(n, 4) for n in range(9)] == [0, 1, 2, 0, 0, 1, 2, 0, 0]
    assert n_left_over(7, 1) == 0


def test_the_run_of_most_numbers(kernels):
    for seed in range(200):
        rng = np.random.default_rng(seed)
        n_numbers, n_missing = int(rng.choice([4095, 4096, 5001])), int(rng.choice([0, 3000]))
        numbers = np.round(rng.normal(size=n_numbers), int(rng.integers(0, 3)))
        n_common = n_numbers // 2 + int(rng.choice([-1000, 0, 100, 1000, n_numbers]))
        numbers[:n_common] = rng.choice([-9, 0, 0.5, 9])
        zeros = np.flatnonzero(numbers == 0)
        numbers = np.sort(numbers).astype(np.float32)
        numbers[numbers == 0] = rng.choice([-0.0, 0.0], len(zeros))
        cells = np.append(numbers, np.full(n_missing, np.nan, np.float32))
        run, is_constant = kernels.codes.common_run(cells, n_missing)
        values, counts = np.unique(numbers, return_counts=True)
        assert is_constant == (len(values) == 1 and n_missing == 0)
        common, none = values[counts.argmax()], (len(cells), len(cells))
        expected = np.sum(numbers < common), np.sum(numbers <= common)
        if n_numbers < 4096 or 2 * counts.max() <= n_numbers:
            expected = none
        # One that is hardly more than half may be passed over.
        assert run == expected or (run == none and 2 * counts.max() < n_numbers + 20)
    assert kernels.codes.common_run(np.full(5000, np.nan, np.float32), 5000)[1]


@pytest.mark.parametrize("n_segments", [1, 2, 3, 7])
@pytest.mark.parametrize("n", [7, 8, 63, 1000])
def test_segments_of_a_list_are_joined(kernels, simd, n, n_segments):
    for seed in range(12):
        rng = np.random.default_rng([n, n_segments, seed])
        n_categories = rng.choice([0, 4])
        ranks = rng.integers(-5, rng.choice([-3, 5, 1000]), n)
        column = ranks.astype(np.float32)
        codes = rng.integers(-1, n_categories, n)  # missing ones come last
        others = np.flatnonzero(rng.random(n) < rng.choice([0, 0.3]))
        column[others] = (0x7FC00001 + codes[others]).astype(np.uint32).view(np.float32)
        ranks[others] = np.where(codes[others] < 0, 3000, 2000 + codes[others])
        goes_left = rng.random(n) < rng.choice([0, 0.1, 0.5, 1])
        entries = kernels.codes.divided_list(
            simd, column, n_categories, packed(goes_left), n_segments
        )
        order = np.argsort(ranks, kind="stable")
        halves = [order[goes_left[order]], order[~goes_left[order]]]
        assert_array_equal(entries & 0x3FFFFFFF, np.concatenate(halves))
        for half, its_entries in zip(halves, np.split(entries, [len(halves[0])]), strict=True):
            assert_array_equal(its_entries[1:] >> 31, np.diff(ranks[half]) != 0)


@pytest.mark.parametrize("n_threads", [1, 2, 3, 4])
@pytest.mark.parametrize("n_values", [2, 9, 200])
def test_rows_are_counted_by_whichever_threads_are_there(kernels, n_threads, n_values):
    n = 4000
    for seed in range(10):
        rng = np.random.default_rng([n_threads, n_values, seed])
        column = rng.permutation(np.arange(n) % n_values).astype(np.float32)
        middle = int(rng.integers(1200, 2800))
        codes = np.unique(column, return_inverse=True)[1]
        expected = [
            np.bincount(rows, minlength=n_values)
            for rows in (codes, codes[:middle], codes[middle:])
        ]
        mixed = rng.integers(0, n_threads, 4 * n_threads)
        for threads in (mixed, [0], [n_threads - 1]):  # of some, no one takes a share
            counts = kernels.codes.counted_on_threads(column, middle, n_threads, list(threads))
            assert_array_equal(counts, expected)


def test_one_thread_counts_a_few_rows_while_others_are_at_lists(kernels):
    n = 20_000
    X = np.column_stack([np.arange(n) % 5, np.arange(n)]).astype(np.float32)
    for n_threads in (2, 3, 8):
        n_shares = [
            kernels.codes.n_shares_beside_list(X, middle, n_threads)
            for middle in (n // 100, n // 2)
        ]
        assert n_shares[0] == 1
        assert n_shares[1] >= n_threads
    assert kernels.codes.n_shares_beside_list(X, n // 2, 1) == 1


@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_tables_that_no_child_reads_do_not_pile_up(kernels, n_threads):
    column = (np.arange(4000) % 5).astype(np.float32)
    for middle in (100, 3900):
        tables = kernels.codes.tables_after_handing_down(column, middle, n_threads, 50)
        assert 2 <= tables <= n_threads + 1  # a parent's, and one per thread that counts


def test_tables_that_are_taken_do_not_pile_up(kernels):
    assert kernels.codes.tables_after_taking(np.arange(5, dtype=np.float32), 100) == 1


@pytest.mark.parametrize("gathers", [False, True])
@pytest.mark.parametrize("n_values", [1, 2, 3, 31, 33, 200, 255, 256])
@pytest.mark.parametrize("n_rows", [1, 2, 15, 16, 17, 100, 1000])
def test_rows_are_separated_by_their_codes(kernels, simd, n_rows, n_values, gathers):
    """By a threshold or by categories; missing values have the code behind the last one."""
    for stride, asks_for_threshold in itertools.product([1, 2, 5], [False, True]):
        rng = np.random.default_rng([n_rows, n_values, stride, asks_for_threshold])
        n_categories = rng.integers(n_values + 1) if rng.random() < 0.7 else 0
        n_numbers = n_values - n_categories
        categories = np.arange(n_categories, dtype=np.uint32)
        cells = (0x7FC00001 + categories).view(np.float32)
        values = np.r_[np.arange(n_numbers, dtype=np.float32), cells]
        codes = rng.integers(0, min(n_values + 1, 256), (n_rows, stride), np.uint8)
        slot = rng.choice([rng.integers(stride), stride - 1])
        rows = np.flatnonzero(rng.random(n_rows) < rng.choice([0.3, 1]))
        split, goes_left = random_split(rng, n_numbers, n_categories, asks_for_threshold)
        sides = goes_left[codes[rows, slot]]
        separated, n_left = kernels.codes.separated_by_codes(
            simd, gathers, codes, slot, values, n_categories, split, rows
        )
        assert n_left == sides.sum()
        assert_array_equal(separated, np.r_[rows[sides], rows[~sides]])


def random_split(rng, n_numbers, n_categories, asks_for_threshold):
    """(a split on a column of values 0, 1, ... and categories, whether each code goes left)."""
    split = {"missing_left": rng.random() < 0.5}
    if asks_for_threshold:
        split["threshold"] = rng.choice([-1.0, 0.0, n_numbers / 2 + 0.5, np.inf])
        numbers_left = np.arange(n_numbers) <= split["threshold"]
        categories_left = np.full(n_categories, split["missing_left"])
    else:
        split["listed"] = np.flatnonzero(rng.random(n_categories) < 0.5)
        split["listed_left"] = rng.random() < 0.5
        numbers_left = np.zeros(n_numbers, bool)
        categories = np.arange(n_categories)
        categories_left = np.isin(categories, split["listed"]) == split["listed_left"]
    return split, np.r_[numbers_left, categories_left, split["missing_left"]].astype(bool)


@pytest.mark.parametrize("n_values", [1, 2, 3, 31, 33, 200, 255, 256])
@pytest.mark.parametrize("n_rows", [1, 2, 31, 32, 33, 100, 1000])
def test_rows_are_marked_by_codes_of_a_column(kernels, simd, n_rows, n_values):
    """Rows [begin, end), by what becomes of their codes; bits of other rows stay."""
    for asks_for_threshold in (False, True):
        rng = np.random.default_rng([n_rows, n_values, asks_for_threshold])
        n_numbers = n_values - (rng.integers(n_values + 1) if rng.random() < 0.7 else 0)
        values = np.r_[np.arange(n_numbers), np.arange(n_values - n_numbers)].astype(np.float32)
        values[n_numbers:] = (0x7FC00001 + np.arange(n_values - n_numbers, dtype=np.uint32)).view(
            np.float32
        )
        split, goes_left = random_split(rng, n_numbers, n_values - n_numbers, asks_for_threshold)
        n_codes = min(n_values + 1, 256)
        mapped = np.r_[rng.permutation(n_codes), np.zeros(256 - n_codes)].astype(np.uint8)
        codes = rng.integers(0, n_codes, (n_rows, 1), np.uint8)
        begin, end = np.sort(rng.integers(0, n_rows + 1, 2))
        before = rng.integers(0, 2**32, n_rows // 32 + 1, np.uint32)
        bits = before.copy()
        kernels.codes.mark_by_codes(
            simd, codes, mapped, values, n_values - n_numbers, split, begin, end, bits
        )
        found, expected = (
            np.unpackbits(words.view(np.uint8), bitorder="little") for words in (bits, before)
        )
        expected[begin:end] = goes_left[mapped[codes[begin:end, 0]]]
        assert_array_equal(found, expected)


@pytest.mark.parametrize("n_columns", [1, 2, 7, 15, 16, 17, 31, 32, 33, 50])
def test_interleaved_codes(kernels, simd, n_columns):
    for n in [1, 2, 15, 16, 63, 64, 65, 129, 400]:
        rng = np.random.default_rng([n_columns, n])
        codes = rng.integers(0, rng.choice([2, 128, 129, 256]), (n_columns, n), np.uint8)
        mapped = np.array([rng.permutation(256) for _ in range(n_columns)], np.uint8)
        rows = np.sort(rng.choice(2 * n, n, replace=False)).astype(np.uint32)
        start, stop = np.sort(rng.integers(0, n + 1, 2))
        expected = rng.integers(0, 256, (2 * n + 1, n_columns + rng.integers(3)), np.uint8)
        out = expected.copy()  # with a row behind the last one, where nothing is written
        kernels.codes.interleave(simd, codes, mapped, start, stop, rows, out)
        for k in range(n_columns):
            expected[rows[start:stop], k] = mapped[k][codes[k, start:stop]]
        assert_array_equal(out, expected)
