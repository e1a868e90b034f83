"""Candidates: which blocks there are, and in which order."""

from __future__ import annotations

import numpy as np

from tcsmt.identification.quantisers.candidates import blocks_of
from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.matrix_units.arithmetic.words import dtype_of


def test_integers_come_first_and_what_is_not_finite_last() -> None:
    """Blocks have as many given words as there are; a pair's second number is no larger than its first."""
    fmt = FORMATS["f32"]
    groups = list(blocks_of(fmt, finite=False, given=True))
    assert all(len(numbers) == len(given) for numbers, given in groups)
    first = [numbers.view(np.float32) for numbers, _ in groups]
    assert first[0][:3].tolist() == [[1], [2], [3]] and first[2][:2].tolist() == [[1, 1], [1, 1]]
    assert (first[2][:, 1] <= first[2][:, 0]).all()
    assert (first[2].max(1) <= groups[2][1].view(np.float32)).all()
    finite = [bool(np.isfinite(numbers).all()) for numbers in first]
    assert finite == sorted(finite, reverse=True) and not finite[-1]
    assert [numbers.shape[1] for numbers in first[-12:]] == [1] * 4 + [2] * 4 + [3] * 4


def test_numbers_next_to_the_ends_of_significands() -> None:
    """Just above and below 2^k and 1.75·2^k at every exponent, in each format, nearest to 1 first."""
    for name in ("f32", "bf16", "f16"):
        fmt = FORMATS[name]
        words = next(
            numbers for numbers, given in blocks_of(fmt, finite=True, given=False) if len(given) > 512
        )
        assert words.dtype.itemsize == dtype_of(fmt).itemsize
    special = list(blocks_of(FORMATS["f32"], finite=True, given=False))[2][0].ravel()
    assert {0x3FE00001, 0x00800001, 0x7F5FFFFF, 0x00000001} <= set(special.tolist())
    assert 0.4 < float(special[:1].view(np.float32)[0]) <= 2
