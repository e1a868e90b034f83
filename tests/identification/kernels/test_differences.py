"""How two matrices differ: distances counted one value at a time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcsmt.identification.kernels.differences import Differences
from tcsmt.matrix_units.arithmetic.formats import FORMATS, INTEGERS
from tcsmt.matrix_units.arithmetic.words import unsigned
from tcsmt.support.errors import TcsmtError


def matrices(fmt, left, right):
    return Differences(fmt, *(np.array(words, unsigned(fmt)).reshape(1, -1) for words in (left, right)))


def ranks(fmt) -> dict[int, int]:
    """The place of every finite word among all values of the format, by exact values; infinities last."""
    words = [word for word in range(1 << fmt.width) if not fmt.is_special(word)]
    values = sorted({fmt.value(word) for word in words})
    place = {value: number for number, value in enumerate(values)}
    found = {word: place[fmt.value(word)] for word in words}
    for word in range(1 << fmt.width):
        if fmt.is_infinite(word):
            found[word] = len(values) if not word >> fmt.sign_bit else -1
    return found


@pytest.mark.parametrize("name", ["e4m3", "e5m2", "e2m1", "e4m3fnuz", "s8"])
def test_distances_of_all_pairs_are_counted(name: str) -> None:
    fmt = {**FORMATS, **INTEGERS}[name]
    known = ranks(fmt)
    words = list(range(1 << fmt.width))
    pairs = [(one, two) for one in words[:: 1 + len(words) // 64] for two in words]
    diff = matrices(fmt, *zip(*pairs, strict=True))
    for (one, two), ulps, differ in zip(pairs, diff.ulps[0], diff.differ[0], strict=True):
        nans = fmt.is_nan(one) + fmt.is_nan(two)
        assert differ == (one != two and nans < 2)
        if nans == 1:
            assert ulps == np.iinfo(np.uint64).max
        elif nans == 0:
            assert ulps == abs(known[one] - known[two])


@given(st.lists(st.tuples(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1)), min_size=1, max_size=8))
def test_distances_of_64_bits_do_not_wrap(pairs) -> None:
    fmt = FORMATS["f64"]
    diff = matrices(fmt, *zip(*pairs, strict=True))

    def order(word: int) -> int:
        magnitude = word & (1 << 63) - 1
        return -magnitude if word >> 63 else magnitude

    for (one, two), ulps in zip(pairs, diff.ulps[0], strict=True):
        if not fmt.is_nan(one) and not fmt.is_nan(two):
            assert int(ulps) == abs(order(one) - order(two))


@given(st.data())
def test_bands_hold_every_element_that_differs(data) -> None:
    fmt = FORMATS["e5m2"]
    words = st.lists(st.integers(0, 255), min_size=12, max_size=12)
    diff = matrices(fmt, data.draw(words), data.draw(words))
    assert sum(band.count for band in diff.bands()) == diff.count
    if diff.count:
        differing = np.argwhere(diff.differ).tolist()
        assert list(diff.first) == differing[0]
        assert diff.ulps[diff.worst] == max(diff.ulps[tuple(place)] for place in differing)
        assert list(diff.worst) in differing
        assert {tuple(place) for place in differing} == set(diff.some(12))
        assert len(diff.some(3)) == min(3, diff.count)


def test_bands_are_named() -> None:
    diff = matrices(
        FORMATS["f16"], [0, 1, 1, 0x7C00, 0x7E00, 0x7E01, 3], [0x8000, 2, 0x8002, 1, 1, 0x7E00, 3]
    )
    assert [(band.text, band.count) for band in diff.bands()] == [
        ("0 ulps (the sign of a zero)", 1), ("1 ulp", 1), ("3 to 4 ulps", 1),
        ("infinite on one side", 1), ("NaN on one side", 1),
    ]  # fmt: skip
    assert diff.nan_words == 1


def test_shapes_must_be_the_same() -> None:
    fmt = FORMATS["f32"]
    with pytest.raises(TcsmtError, match=r"\(2, 3\) and \(3, 2\)"):
        Differences(fmt, np.zeros((2, 3), np.uint32), np.zeros((3, 2), np.uint32))
