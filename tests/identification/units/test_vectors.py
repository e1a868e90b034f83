"""Questions worth asking: words of their formats, ordinary ones ordinary, and mixed ones of every sort."""

from __future__ import annotations

import numpy as np
import pytest

from tcsmt.identification.units.family import Family
from tcsmt.identification.units.questions import Questions, ordinary_rows
from tcsmt.identification.units.vectors import mixed, ordinary
from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tests.support.families import random_row

FORMATS_OF = [
    ("f16 f16 f32 f32", 4),
    ("e4m3 e5m2 f32 f32", 8),
    ("e2m1 e3m2 f16 f16", 3),
    ("bf16 bf16 bf16 bf16", 1),
]


def family(formats: str, k: int) -> Family:
    return Family.of((FORMATS[name] for name in formats.split()), k)


def fit(one: Family, asked: Questions, count: int | None) -> None:
    assert count is None or len(asked) == count
    for side, fmt in ((asked.a, one.a_format), (asked.b, one.b_format), (asked.c, one.c_format)):
        assert side.dtype == np.uint64 and (side < 1 << fmt.width).all()
        assert (side & np.uint64((1 << fmt.ignored_low_bits) - 1) == 0).all()
    assert asked.a.shape == asked.b.shape == (len(asked), one.k)


@pytest.mark.parametrize(("formats", "k"), FORMATS_OF)
def test_ordinary_ones(formats: str, k: int) -> None:
    one = family(formats, k)
    asked = ordinary(one, np.random.default_rng(1), 80)
    fit(one, asked, None)
    assert len(asked) > 30 and ordinary_rows(one, asked).all()
    same = ordinary(one, np.random.default_rng(1), 80)
    assert (same.a == asked.a).all() and (same.c == asked.c).all()
    lanes = ordinary(one, np.random.default_rng(2), 40, (0,))
    assert (lanes.a[:, 1:] == 0).all() and (lanes.b[:, 1:] == 0).all()
    assert lanes.a[:, 0].any() and lanes.c.any()
    used = [(asked.a[row] != 0).sum() + (asked.c[row] != 0) for row in range(len(asked))]
    assert max(used) <= 6 and (k == 1 or min(used) < max(used))


def test_half_of_the_ordinary_ones_cancel() -> None:
    """Two terms of one size and unlike signs, so that alignment of the others shows."""
    one = family("f16 f16 f32 f32", 4)
    asked = ordinary(one, np.random.default_rng(3), 200)
    pairs = 0
    for row in range(len(asked)):
        values = [
            one.a_format.value(int(x)) * one.b_format.value(int(y))
            for x, y in zip(asked.a[row], asked.b[row], strict=True)
        ]
        values.append(one.c_format.value(int(asked.c[row])))
        pairs += any(x and -x in values for x in values)
    assert 0.3 < pairs / len(asked) < 0.8


@pytest.mark.parametrize(("formats", "k"), FORMATS_OF)
@pytest.mark.parametrize("given", [False, True])
def test_mixed_ones(formats: str, k: int, given: bool) -> None:
    one, random = family(formats, k), np.random.default_rng(4)
    table = np.array([random_row(one, random) for _ in range(5)]) if given else None
    asked = mixed(one, random, 300, table)
    fit(one, asked, 300)
    assert not ordinary_rows(one, asked).all()


def test_mixed_ones_are_of_every_sort() -> None:
    """Zeros of both signs, subnormal words, infinities and NaNs, the largest numbers, tiny results."""
    one = family("f16 f16 f32 f32", 4)
    asked = mixed(one, np.random.default_rng(5), 1500)
    fmt = one.a_format
    words = {int(word) for word in asked.a.reshape(-1)}
    assert {0, 0x8000, fmt.infinity_word, fmt.nan_word} <= words
    assert any(0 < word & 0x7FFF < 0x400 for word in words)
    assert {0, 1 << 31} <= {int(word) for word in asked.c}
    sizes = []
    for pair in zip(asked.a.reshape(-1).tolist(), asked.b.reshape(-1).tolist(), strict=True):
        if not any(fmt.is_nan(word) or fmt.is_infinite(word) for word in pair):
            sizes.append(abs(fmt.value(pair[0]) * fmt.value(pair[1])))
    assert any(size > 2**31 for size in sizes) and any(0 < size < 2.0**-40 for size in sizes)
