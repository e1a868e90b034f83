"""Integer instructions on bytes of numbers: they move as on concrete words, and nothing is changed."""

from __future__ import annotations

import numpy as np
import pytest

from tcsmt.interop.compiled.byte_forms import BYTE_FORMS
from tcsmt.interop.compiled.integers import INTEGER_FORMS
from tcsmt.interop.compiled.trace import ByteLanes
from tcsmt.support.errors import TcsmtError

_LANES = 40


def _lanes(words: list[int], size: int) -> ByteLanes:
    """Constant bytes."""
    index = np.array([list(word.to_bytes(size, "little")) for word in words]).T
    return ByteLanes(np.zeros_like(index), index)


def _number(size: int, first: int) -> ByteLanes:
    """Numbers: byte n of lane i has code ``first`` + i and place n."""
    places = np.broadcast_to(np.arange(size)[:, None], (size, _LANES))
    return ByteLanes(np.broadcast_to(first + np.arange(_LANES), (size, _LANES)), places)


def _value(given: ByteLanes, values: dict[int, list[int]]) -> list[int]:
    """The words, where the bytes of each code are these."""
    found = []
    for lane in range(_LANES):
        pairs = zip(given.codes[:, lane].tolist(), given.index[:, lane].tolist(), strict=True)
        found.append(int.from_bytes(bytes(values[c][i] if c else i for c, i in pairs), "little"))
    return found


@pytest.mark.parametrize("name", BYTE_FORMS)
def test_bytes_move_as_in_the_integer_instruction(name: str) -> None:
    form, rng = INTEGER_FORMS[name], np.random.default_rng(1)
    sizes = [width // 8 for width in form.widths]
    constants = {
        "prmt": lambda: int(rng.integers(0, 1 << 16)) & 0x7777,
        "shl": lambda: 8 * int(rng.integers(0, 9)), "shr": lambda: 8 * int(rng.integers(0, 9)),
        "and": lambda: int.from_bytes(rng.choice([0, 255], sizes[0]).astype(np.uint8).tobytes(), "little"),
        "or": lambda: 0, "xor": lambda: 0, "cvt": lambda: 0,
    }  # fmt: skip
    last = [constants[name.partition(".")[0]]() for _ in range(_LANES)]
    count = len(sizes) - (len(sizes) > 1)
    codes = [100 * (n + 1) for n in range(count)]
    values = {code + lane: rng.integers(0, 256, 8).tolist() for code in codes for lane in range(_LANES)}
    given = [_number(size, code) for size, code in zip(sizes, codes, strict=False)]
    words = [
        np.array([int.from_bytes(bytes(values[code + n][:size]), "little") for n in range(_LANES)], np.uint64)
        for size, code in zip(sizes, codes, strict=False)
    ]
    if len(sizes) > 1:
        given.append(_lanes(last, sizes[-1]))
        words.append(np.array(last, np.uint64))
    assert _value(BYTE_FORMS[name](*given), values) == form.apply(*words).tolist()


@pytest.mark.parametrize(
    ("name", "constant", "said"),
    [
        ("and.b32", 1, "it changes bits of numbers"),
        ("xor.b32", 255, "it changes bits of numbers"),
        ("shl.b32", 4, "it shifts numbers by bits that are not whole bytes"),
        ("shr.u32", 1, "it shifts numbers by bits that are not whole bytes"),
    ],
)
def test_what_changes_bits_is_refused(name: str, constant: int, said: str) -> None:
    with pytest.raises(TcsmtError, match=said):
        BYTE_FORMS[name](_number(4, 100), _lanes([constant] * _LANES, 4))


def test_signs_of_numbers_are_not_repeated() -> None:
    with pytest.raises(TcsmtError, match="it repeats the sign of a byte of a number"):
        BYTE_FORMS["prmt.b32"](_number(4, 100), _number(4, 200), _lanes([0x8210] * _LANES, 4))
    with pytest.raises(TcsmtError, match="the selector depends on numbers"):
        BYTE_FORMS["prmt.b32"](_number(4, 100), _number(4, 200), _number(4, 300))
