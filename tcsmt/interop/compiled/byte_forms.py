"""Integer instructions that move bytes of numbers: masks, shifts by whole bytes, permutations.

Each takes the bytes of its operands (:class:`.ByteLanes`) and gives those of its result. What would change a
byte of a number is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from tcsmt.interop.compiled.trace import ByteLanes, Lanes
from tcsmt.support.errors import TcsmtError

_Rule: TypeAlias = Callable[..., ByteLanes]


def _constant(given: ByteLanes, what: str) -> Lanes:
    """Return the integer of bytes that hang on no number."""
    if given.codes.any():
        raise TcsmtError(f"{what} depends on numbers that the kernel reads or computes")
    shifts = 8 * np.arange(len(given.index))[:, None]
    return np.asarray((given.index << shifts).sum(axis=0))


def _chosen(given: ByteLanes, places: Lanes) -> ByteLanes:
    """Return bytes by their places, of shape (bytes, lanes); -1: zero."""
    taken = np.maximum(places, 0)
    codes, index = (np.take_along_axis(part, taken, axis=0) for part in (given.codes, given.index))
    return ByteLanes(np.where(places < 0, 0, codes), np.where(places < 0, 0, index))


def _moved_by(sign: int) -> _Rule:
    def rule(a: ByteLanes, n: ByteLanes) -> ByteLanes:
        count = _constant(n, "the shift")
        if (count % 8).any():
            raise TcsmtError("it shifts numbers by bits that are not whole bytes")
        size = len(a.codes)
        places = np.arange(size)[:, None] - sign * np.minimum(count // 8, size)
        return _chosen(a, np.where((places < 0) | (places >= size), -1, places))

    return rule


def _masked(keeps: int, clears: int | None, combine: Callable[[Lanes, Lanes], Lanes]) -> _Rule:
    """Return the rule of a bytewise operation. keeps: the constant byte that leaves the other one; clears:
    the one that gives itself.
    """

    def rule(a: ByteLanes, b: ByteLanes) -> ByteLanes:
        codes, index = np.zeros_like(a.codes), combine(a.index, b.index)
        done = (a.codes == 0) & (b.codes == 0)
        for one, other in ((a, b), (b, a)):
            left = ~done & (other.codes == 0) & (other.index == keeps)
            codes, index = np.where(left, one.codes, codes), np.where(left, one.index, index)
            gone = ~done & (other.codes == 0) & (other.index == clears)
            index = np.where(gone, clears or 0, index)
            done = done | left | gone
        if not done.all():
            raise TcsmtError("it changes bits of numbers")
        return ByteLanes(codes, index)

    return rule


def _permuted(a: ByteLanes, b: ByteLanes, selector: ByteLanes) -> ByteLanes:
    chooses = _constant(selector, "the selector")
    nibbles = chooses >> (4 * np.arange(4))[:, None] & 15
    both = ByteLanes(np.concatenate([a.codes, b.codes]), np.concatenate([a.index, b.index]))
    found = _chosen(both, nibbles & 7)
    signs = nibbles > 7
    if (found.codes[signs] != 0).any():
        raise TcsmtError("it repeats the sign of a byte of a number")
    return ByteLanes(found.codes, np.where(signs, np.where(found.index > 127, 255, 0), found.index))


def _resized(size: int) -> _Rule:
    def rule(a: ByteLanes) -> ByteLanes:
        grown = max(0, size - len(a.codes))
        pair = [
            np.concatenate([p[:size], np.zeros((grown, p.shape[1]), np.int64)]) for p in (a.codes, a.index)
        ]
        return ByteLanes(*pair)

    return rule


def _forms() -> dict[str, _Rule]:
    found: dict[str, _Rule] = {"prmt.b32": _permuted}
    for width in (16, 32, 64):
        found[f"and.b{width}"] = _masked(255, 0, np.bitwise_and)
        found[f"or.b{width}"] = _masked(0, 255, np.bitwise_or)
        found[f"xor.b{width}"] = _masked(0, None, np.bitwise_xor)
        found[f"shl.b{width}"] = _moved_by(1)
        found[f"shr.b{width}"] = found[f"shr.u{width}"] = _moved_by(-1)
        for kind in "us":
            for source in (8, 16, 32, 64):
                # without a sign, or where the upper bytes are cut off
                found[f"cvt.{kind}{width}.u{source}"] = _resized(width // 8)
                if source >= width:
                    found[f"cvt.{kind}{width}.s{source}"] = _resized(width // 8)
    return found


#: The forms of :data:`.INTEGER_FORMS` that are read of numbers.
BYTE_FORMS = _forms()
