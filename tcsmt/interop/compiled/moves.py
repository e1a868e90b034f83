"""Integers that move with the block: which numbers of many blocks one run is about.

A block runs on concrete integers. Beside them a word has its *moves*: how much it grows from one block to the
next along each axis of the grid, modulo two to the power of its width. So additions and products with
constants are exact for every block. Where an operation is not of that kind (a comparison, a quotient, an
extension to more bits), it must be decided alike in all blocks; else :class:`Undecided` says where to cut.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tcsmt.interop.compiled.trace import Lanes, Word

_HUGE = 1 << 62
_Key = Callable[[Lanes], Lanes]


class Undecided(Exception):
    """What runs is not the same in all blocks: those from ``at`` on along an axis are to run apart."""

    def __init__(self, axis: int, at: int) -> None:
        super().__init__(axis, at)
        self.axis, self.at = axis, at


@dataclass(frozen=True)
class Blocks:
    """How many blocks there are along each axis, from the one that runs on."""

    counts: tuple[int, int, int]

    def undecided(self, moves: Lanes | None = None) -> Undecided:
        """Return where to cut what moves: in the middle of the longest axis."""
        moving = np.ones(3, bool) if moves is None else (moves != 0).any(axis=1)
        axis = max(range(3), key=lambda n: (self.counts[n] > 1, bool(moving[n]), self.counts[n]))
        return Undecided(axis, self.counts[axis] // 2)

    def still(self, word: Word, lanes: Lanes | slice = slice(None)) -> None:
        """Refuse a word that moves in these lanes."""
        if word.moves is not None and word.moves[:, lanes].any():
            raise self.undecided(word.moves[:, lanes])

    def ends(self, value: Lanes, moves: Lanes) -> tuple[Lanes, Lanes]:
        """Return the least and the greatest value in all blocks."""
        steps = np.array(self.counts)[:, None] - 1
        if (np.abs(moves.astype(float) * steps).sum(axis=0) + np.abs(value.astype(float)) >= _HUGE).any():
            raise self.undecided(moves)  # beyond int64
        far = moves * steps
        return value + np.minimum(far, 0).sum(axis=0), value + np.maximum(far, 0).sum(axis=0)

    def decided(self, key: _Key, value: Lanes, moves: Lanes) -> Lanes:
        """Return a key that rises or falls with a value, where it is the same in all blocks."""
        low, high = self.ends(value, moves)
        changes = key(low) != key(high)
        if not changes.any():
            return key(low)
        (axes,) = np.nonzero(moves[:, changes].any(axis=1))
        if len(axes) > 1:
            raise self.undecided(moves[:, changes])
        steps = np.arange(1, self.counts[axes[0]])[:, None]  # where it changes first
        changed = (key(value + steps * moves[axes[0]]) != key(value))[:, changes].any(axis=1)
        raise Undecided(int(axes[0]), 1 + int(changed.argmax()))

    def moved(self, name: str, words: Sequence[Word], widths: Sequence[int]) -> Lanes | None:
        """Return the moves of the result of an integer instruction. Raises :class:`Undecided`."""
        if all(word.moves is None for word in words):
            return None
        return _Moved(self, name.split("."), words, widths).result()


def _signed(value: Lanes, width: int) -> Lanes:
    """Return the lowest bits as a signed number."""
    spare = 64 - width
    return (value.astype(np.uint64) << np.uint64(spare)).view(np.int64) >> np.int64(spare)


@dataclass
class _Moved:
    blocks: Blocks
    parts: Sequence[str]
    words: Sequence[Word]
    widths: Sequence[int]

    def __post_init__(self) -> None:
        self.signed = self.parts[-1][0] == "s"
        lanes = len(self.words[0].bits)
        zero = np.zeros((3, lanes), np.int64)
        self.moves = [
            zero if word.moves is None else _signed(word.moves, width)
            for word, width in zip(self.words, self.widths, strict=True)
        ]
        pairs = zip(self.words, self.widths, strict=True)
        self.values = [_signed(word.bits, width) for word, width in pairs]

    def result(self) -> Lanes:
        op, kind = self.parts[0], self.parts[-1]
        m = self.moves
        match op:
            case "add" | "sub":
                return m[0] + m[1] if op == "add" else m[0] - m[1]
            case "neg":
                return -m[0]
            case "mul" | "mad" if self.parts[1] in ("lo", "wide"):
                if self.parts[1] == "wide":
                    self._exact(0), self._exact(1)
                product = self._product()
                return product if op == "mul" else product + m[2]
            case "shl":
                self.blocks.still(self.words[1])
                return np.where(self.values[1] < 64, m[0] << np.minimum(self.values[1], 63), 0)
            case "cvt":
                if int(kind[1:]) < int(self.parts[1][1:]):
                    self._exact(0)
                return m[0]
            case "and" | "or" | "xor" if kind != "pred":
                return self._bitwise(op)
            case "div" | "rem" | "shr":
                return self._divided(op)
            case "setp":
                return self._compared()
            case "min" | "max":
                first = self._decided(lambda d: d <= 0)
                return np.where(first if op == "min" else ~first, m[0], m[1])
        raise self.blocks.undecided(np.sum(np.abs(m), axis=0))

    def _exact(self, place: int) -> tuple[Lanes, Lanes]:
        """Return a value and its moves as numbers, which leave no block's word."""
        value, width = self.values[place], self.widths[place]
        if not self.signed:
            value = np.where(value < 0, value + (1 << width if width < 63 else 0), value)
            if (value < 0).any():
                raise self.blocks.undecided(self.moves[place])
        least = -(1 << (width - 1)) if self.signed else 0
        most = (1 << (width - self.signed)) - 1
        self.blocks.decided(
            lambda x: np.where(x < least, -1, np.where(x > min(most, _HUGE), 1, 0)), value, self.moves[place]
        )
        return value, self.moves[place]

    def _product(self) -> Lanes:
        x, y = self.moves[:2]
        if (x.any(axis=0) & y.any(axis=0)).any():
            raise self.blocks.undecided(x)
        a, b = (
            (value if self.signed or self.parts[1] == "lo" else self._exact(place)[0])
            for place, value in enumerate(self.values[:2])
        )
        return x * b + y * a

    def _bitwise(self, op: str) -> Lanes:
        """Bits below the least one that moves stay; above it, the other word must have no say."""
        found = np.zeros_like(self.moves[0])
        for place in range(2):
            moving = self.moves[place].any(axis=0)
            if not moving.any():
                continue
            if (moving & self.moves[1 - place].any(axis=0)).any():
                raise self.blocks.undecided(self.moves[place])
            bits = np.bitwise_or.reduce(self.moves[place], axis=0)
            above = np.where(moving, -(bits & -bits), 0)  # the bits from the lowest one that moves on
            width = np.int64((1 << self.widths[0]) - 1 if self.widths[0] < 64 else -1)
            other = self.values[1 - place] & above & width
            keeps, clears = other == (above & width if op == "and" else 0), (other == 0) & (op == "and")
            if (moving & ~keeps & ~clears).any():
                raise self.blocks.undecided(self.moves[place])
            found += np.where(moving & keeps, self.moves[place], 0)
        return found

    def _divided(self, op: str) -> Lanes:
        value, moves = self._exact(0)
        self.blocks.still(self.words[1])
        divisor = self.values[1]
        if op == "shr":
            divisor = np.where((divisor >= 0) & (divisor < 62), np.int64(1) << np.clip(divisor, 0, 61), -1)
        moving = moves.any(axis=0)
        low, _ = self.blocks.ends(value, moves)
        if (moving & ((divisor <= 0) | (low < 0))).any():
            raise self.blocks.undecided(moves)
        safe = np.where(moving, divisor, 1)
        even = (moves % safe == 0).all(axis=0)  # whole multiples: the remainder stays
        rest = moving & ~even
        self.blocks.decided(lambda x: np.where(rest, x // safe, 0), value, moves)
        if op == "rem":
            return np.where(rest, moves, 0)
        return np.where(moving & even, moves // safe, 0)

    def _decided(self, key: _Key) -> Lanes:
        """Return a key of the difference of two words, which rises or falls."""
        (x, a), (y, b) = self._exact(0), self._exact(1)
        return self.blocks.decided(key, x - y, a - b)

    def _compared(self) -> Lanes:
        relation = self.parts[1]
        if relation in ("lt", "lo", "ge", "hs"):
            self._decided(lambda d: d < 0)
        elif relation in ("le", "ls", "gt", "hi"):
            self._decided(lambda d: d <= 0)
        else:
            self._decided(np.sign)
        return np.zeros_like(self.moves[0])
