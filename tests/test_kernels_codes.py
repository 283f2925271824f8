"""Codes, in the order in which values become known, of few distinct cells and of texts."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from reference.kernels import SPECIAL_FLOATS, random_floats

# ---- few values


def codes_of(keys, most):
    """Codes by first appearance and the key of each; None: more than ``most`` values."""
    first = dict.fromkeys(keys.tolist())
    table = {key: code for code, key in enumerate(first)}
    if len(table) > most:
        return None, None
    return np.array([table[key] for key in keys.tolist()], np.uint8), np.array(list(first))


def few_floats(rng, n, n_values):
    """Numbers with both zeros and several kinds of NaN among them."""
    values = random_floats(rng, n_values)
    values[: n_values // 3] = rng.choice(SPECIAL_FLOATS, n_values // 3)
    return rng.choice(values, n)


@pytest.mark.parametrize("n_values", [1, 2, 16, 17, 255, 256, 257, 600])
@pytest.mark.parametrize("has_categories", [False, True])
@pytest.mark.parametrize("most", [3, 256])
def test_few_values(kernels, simd, n_values, has_categories, most):
    """Of cells where they are, and side by side."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        n, stride = int(rng.choice([n_values, 1000])), int(rng.choice([1, 3]))
        column = np.zeros((n, stride), np.float32)
        column[:, 0] = few_floats(rng, n, n_values)
        if has_categories:
            categories = kernels.keys.category_cells(rng.integers(0, 5, n))
            is_category = rng.random(n) < 0.3
            column[is_category, 0] = categories[is_category]
            # What is not a number is a category or the one missing value.
            odd = np.isnan(column[:, 0]) & ~is_category
            column[odd, 0] = np.float32(np.nan)
        rows = rng.permutation(n)[: max(1, n - 3)].astype(np.uint32)
        batches = [batch for batch in np.array_split(rows, 3) if len(batch)]
        keys = kernels.keys.cell_keys(column[rows, 0], has_categories)
        expected, distinct = codes_of(keys, most)
        for gathers in (None, False, True):
            table = kernels.codes.FewValues()
            codes, n_coded, n_not_coded = [], 0, 0
            for batch in batches:
                if gathers is None:
                    of_batch = table.encode(column[:, 0], batch, has_categories, most)
                else:
                    of_batch = table.encode_side_by_side(
                        simd, gathers, column[batch, 0], has_categories, most
                    )
                codes.append(of_batch)
                if not table.too_many:
                    n_coded += len(batch)
                elif n_not_coded == 0:
                    n_not_coded = len(batch)
            assert table.too_many == (expected is None)
            if expected is not None:
                assert_array_equal(np.concatenate(codes), expected)
                assert_array_equal(table.keys, distinct)
                continue
            # What comes before the batch with one value too many has been coded.
            before, _ = codes_of(keys[:n_coded], most)
            assert_array_equal(np.concatenate(codes)[:n_coded], before)
            assert codes_of(keys[: n_coded + n_not_coded], most)[0] is None


def test_values_of_several_bit_patterns_share_a_code(kernels):
    nans = np.array([0x7FC00000, 0xFFC00000, 0x7FC00001, 0x7F800001], np.uint32).view(np.float32)
    column = np.concatenate([np.array([0.0, 1.0, -0.0, -1.0], np.float32), nans])
    table = kernels.codes.FewValues()
    codes = table.encode(column, np.arange(8, dtype=np.uint32), False, 256)
    assert_array_equal(codes, [0, 1, 0, 2, 3, 3, 3, 3])


@pytest.mark.parametrize("has_categories", [False, True])
def test_values_that_others_have_met_have_codes(kernels, has_categories):
    """Of several tables the last one knows the values of all, or is told that they are too many."""
    rng = np.random.default_rng(0)
    cells = np.array([*range(-40, 40), -0.0, np.nan, np.inf, -np.inf], np.float32)
    if has_categories:
        cells = np.append(cells, (np.uint32(0x7FC00001) + np.arange(9, dtype=np.uint32)).view("f4"))
    keys = kernels.keys.cell_keys(cells, has_categories)
    n_distinct = len(np.unique(keys))
    for most in (n_distinct, n_distinct - 1):
        table = kernels.codes.FewValues()
        for of_table in np.array_split(rng.permutation(len(cells)), 3):
            other = kernels.codes.FewValues()
            rows = of_table.astype(np.uint32)
            other.encode(cells, rows, has_categories, most)
            codes = table.learn(other.keys, has_categories, most)
            if not table.too_many:
                assert_array_equal(table.keys[codes], other.keys)
        assert table.too_many == (most < n_distinct)
        if table.too_many:
            continue
        assert_array_equal(np.sort(table.keys), np.unique(keys))
        rows = rng.integers(0, len(cells), 500).astype(np.uint32)
        codes = table.encode(cells, rows, has_categories, most)
        assert_array_equal(table.keys[codes], keys[rows])
        assert len(table.keys) == n_distinct


def test_any_number_of_kinds_of_nan_does_no_harm(kernels):
    """They fill the table: the column is one of too many values, as it may be."""
    nans = (np.uint32(0x7FC00000) + np.arange(2000, dtype=np.uint32)).view(np.float32)
    table = kernels.codes.FewValues()
    table.encode(nans, np.arange(2000, dtype=np.uint32), False, 256)
    assert table.too_many


# ---- texts


def random_texts(rng, n):
    """Of lengths around a word's, alike but for one byte, with zeros in front and behind."""
    kind = rng.integers(3)
    if kind == 0:
        lengths = rng.integers(0, 20, n)
        return [b"".join(rng.choice([b"a", b"b"], length)) for length in lengths]
    if kind == 1:
        return [bytes(rng.integers(0, 256, rng.integers(0, 3)).tolist()) for _ in range(n)]
    size = int(rng.choice([7, 8, 9, 16, 17, 24, 40]))
    texts = [bytearray(b"x" * size + b"\0" * int(rng.integers(0, 3))) for _ in range(n)]
    for text in texts:
        text[rng.integers(len(text))] = rng.integers(256)
    return [bytes(text) for text in texts]


def as_arrow(texts, valid, dtype):
    offsets = np.cumsum([0, *map(len, texts)]).astype(dtype)
    chars = np.frombuffer(b"".join(texts) or b"?", np.uint8).copy()
    return offsets, chars, np.packbits(valid, bitorder="little")


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("n", [1, 2, 8, 9, 100, 1000])
def test_distinct_texts(kernels, dtype, n):
    """Over several columns that share codes; missing texts are -1."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        table, seen = kernels.codes.DistinctTexts(), {}
        for _ in range(2):
            texts = random_texts(rng, n)
            valid = rng.random(n) < rng.choice([0.7, 1.0])
            offsets, chars, bitmap = as_arrow(texts, valid, dtype)
            first = int(rng.integers(0, n))
            if valid.all():
                bitmap = None
            codes = table.encode(offsets, chars, bitmap, first, n - first)
            expected = [
                seen.setdefault(text, len(seen)) if is_valid else -1
                for text, is_valid in zip(texts[first:], valid[first:])
            ]
            assert_array_equal(codes, expected)
        assert table.texts == list(seen)


def test_texts_of_equal_words_are_not_confused(kernels):
    """Zeros have one word whatever their number: some of so many meet in the table."""
    starts = [b"", b"a", b"abcdefgh", b"abcdefghabcdefgh"]
    texts = [start + b"\0" * n for start in starts for n in range(500)]
    offsets, chars, _ = as_arrow(texts, np.ones(len(texts), bool), np.int32)
    table = kernels.codes.DistinctTexts()
    assert_array_equal(table.encode(offsets, chars, None, 0, len(texts)), range(len(texts)))
