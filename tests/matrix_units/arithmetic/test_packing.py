"""FP4 and FP6 words in memory."""

from __future__ import annotations

import numpy as np
import pytest

from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.matrix_units.arithmetic.packing import pack, unpack
from tcsmt.support.errors import TcsmtError

FP4, FP6, OTHER6 = FORMATS["e2m1"], FORMATS["e3m2"], FORMATS["e2m3"]


def test_fp4_pairs_share_a_byte_low_nibble_first() -> None:
    assert pack(FP4, np.array([0x1, 0xA, 0xF, 0x0], np.uint8)).tolist() == [0xA1, 0x0F]
    assert unpack(FP4, np.array([0xA1, 0x0F], np.uint8)).tolist() == [0x1, 0xA, 0xF, 0x0]


def test_four_fp6_share_three_bytes() -> None:
    words = np.array([0b100001, 0b011110, 0b110011, 0b000111], np.uint8)
    whole = sum(int(word) << (6 * place) for place, word in enumerate(words))
    assert pack(FP6, words).tolist() == list(whole.to_bytes(3, "little"))


@pytest.mark.parametrize("fmt", [FP4, FP6, OTHER6, FORMATS["e4m3"]])
def test_packed_words_unpack_to_themselves(fmt: object) -> None:
    assert isinstance(fmt, type(FP4))
    words = np.random.default_rng(0).integers(0, 1 << fmt.width, (3, 5, 64), np.uint8)
    assert pack(fmt, words).shape == (3, 5, 64 * fmt.width // 8)
    np.testing.assert_array_equal(unpack(fmt, pack(fmt, words)), words)


def test_words_that_do_not_fill_bytes_are_refused() -> None:
    with pytest.raises(TcsmtError, match="3 words of e2m1"):
        pack(FP4, np.zeros(3, np.uint8))
    with pytest.raises(TcsmtError, match=r"4 bytes .*e3m2"):
        unpack(FP6, np.zeros(4, np.uint8))
    with pytest.raises(TcsmtError, match="f16 has words of 16 bits"):
        pack(FORMATS["f16"], np.zeros(4, np.uint8))
    with pytest.raises(TcsmtError, match=r"uint16.*must be uint8"):
        pack(FP4, np.zeros(4, np.uint16))
