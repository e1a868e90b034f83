"""Which quantisers give the elements and scales of a file, and what excludes the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tcsmt.matrix_units.arithmetic.conversion import are_nan
from tcsmt.matrix_units.arithmetic.formats import (
    FORMATS,
    AnyFormat,
    Format,
    float_format,
    format_named,
)
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS
from tcsmt.programs.quantisation.blocks import QuantisedBlocks, format_of, quantise_blocks
from tcsmt.programs.quantisation.quantiser import Quantiser, quantisers
from tcsmt.programs.steps import outside
from tcsmt.support.errors import TcsmtError
from tcsmt.support.invariants import not_none

Array = np.ndarray[Any, np.dtype[Any]]
_F32 = FORMATS["f32"]
#: Blocks that all rows are held against, before those that give them are held against all.
_FIRST = 256
#: Numbers that are quantised at a time.
_AT_ONCE = 1 << 20


@dataclass(frozen=True, kw_only=True)
class QuantisedFile:
    """What is known of a quantised matrix, cut into blocks.

    numbers: (blocks, numbers of a block). codes: the same shape, words. scales: (blocks,), words of E8M0 or
    E4M3 (uint8), or of binary32. block: rows and columns. shape: of the matrix. formats: that elements may
    have. factor: that the caller gave, if any.
    """

    numbers: Array
    codes: Array
    scales: Array
    block: tuple[int, int]
    shape: tuple[int, int]
    formats: tuple[str, ...]
    factor: float | None = None

    def place(self, block: int, number: int) -> tuple[int, int]:
        """Return row and column of a number."""
        rows, columns = self.block
        down, across = divmod(block, -(-self.shape[1] // columns))
        return down * rows + number // columns, across * columns + number % columns


@dataclass(frozen=True)
class Exclusion:
    """The first element, or scale, of a file that a row gives otherwise.

    place: row and column; of a scale, of the block's first number. what: ``element`` or ``scale``. number:
    the one there. largest: the largest magnitude of its block. given, wanted: words of the file, and of the
    row.
    """

    place: tuple[int, int]
    what: str
    number: float
    largest: float
    given: int
    wanted: int
    format: AnyFormat


@dataclass(frozen=True)
class Candidate:
    """A row held against a file: how many scales and elements it gives otherwise, of so many.

    first: of these; None: the row gives the file, bit for bit. inverted: the file has the reciprocals of what
    the row keeps. usual: the file's blocks are of a size that the row's have.
    """

    quantiser: Quantiser
    scales: int
    elements: int
    first: Exclusion | None
    blocks: int
    inverted: bool
    usual: bool

    @property
    def wrong(self) -> float:
        """Return how much of the file the row gives otherwise, rows with other blocks last."""
        return (self.scales + self.elements) / self.blocks + (0 if self.usual else 1 << 32)


@dataclass(frozen=True)
class QuantiserSearch:
    """Rows that give a file, the others with the nearest first, and rows that were not tried, with why."""

    found: tuple[Candidate, ...]
    excluded: tuple[Candidate, ...]
    untried: tuple[tuple[str, str], ...]


def identify_quantiser(file: QuantisedFile, *, nearest: bool = False) -> QuantiserSearch:
    """Return which rows give a file. nearest: approximations stand for the nearest numbers."""
    found: list[Candidate] = []
    excluded: list[Candidate] = []
    untried: list[tuple[str, str]] = []
    count = len(file.numbers)
    part = np.unique(np.linspace(0, count - 1, min(count, _FIRST)).astype(int))
    top = _top(file)
    for row in quantisers().values():
        if "q" not in row.outputs or not any(_takes(replace(row, form=form), file) for form in row.formats):
            continue
        if row.approximations and not nearest:
            untried.append((row.name, f"{', '.join(row.approximations)}: only approximations are known"))
            continue
        if "S" in row.given and file.factor is None:
            untried.append((row.name, "the caller's factor is needed"))
            continue
        for form in row.formats:
            quantiser = replace(row, form=form)
            if not _takes(quantiser, file):
                continue
            ways = (False, True) if row.keeps == "factor" else (False,)
            held = (_Held(quantiser, file, top, nearest, inverted) for inverted in ways)
            candidate, most = min(((one.on(part), one) for one in held), key=lambda pair: pair[0].wrong)
            if candidate.first is None and len(part) < count:
                candidate = most.on(np.arange(count))
            (found if candidate.first is None else excluded).append(candidate)
    found.sort(key=lambda one: not one.usual)
    excluded.sort(key=lambda one: (not one.usual, one.blocks < count, one.wrong))
    return QuantiserSearch(tuple(found), tuple(excluded), tuple(untried))


def _top(file: QuantisedFile) -> float:
    with np.errstate(invalid="ignore"):
        return float(np.abs(file.numbers.astype(np.float32)).max(initial=0.0))


def _takes(quantiser: Quantiser, file: QuantisedFile) -> bool:
    """Return whether a row's elements and scales can be those of the file: scales of 8 bits both, or neither,
    where they are not powers of two, which libraries keep in 8 bits and in 32.
    """
    if quantiser.form not in file.formats:
        return False
    narrow = _scale_format(quantiser, file).width == 8
    return narrow == (file.scales.dtype == np.uint8) or not {"up", "down"}.isdisjoint(quantiser.names)


def _scale_format(quantiser: Quantiser, file: QuantisedFile) -> Format:
    numbers = format_of(file.numbers.dtype)
    return float_format(
        quantiser.block_program(file.numbers.shape[1], numbers, nearest=True).values["s"].format
    )


@dataclass(frozen=True)
class _Held:
    """A row that is held against a file."""

    quantiser: Quantiser
    file: QuantisedFile
    top: float
    nearest: bool
    inverted: bool

    def on(self, part: Array) -> Candidate:
        """Return what the row gives otherwise, of some blocks."""
        scales = elements = 0
        first: Exclusion | None = None
        file, step = self.file, max(1, _AT_ONCE // self.file.numbers.shape[1])
        for at in (part[start : start + step] for start in range(0, len(part), step)):
            blocks = self._blocks(at)
            wanted, fmt = self._kept(blocks.scales)
            codes = not_none(blocks.codes)
            wrong = _differ(self.quantiser.element, codes, file.codes[at])
            other = _differ(fmt, wanted, file.scales[at])
            elements += int(np.count_nonzero(wrong))
            scales += int(np.count_nonzero(other))
            if first is None and (wrong.any() or other.any()):
                block = int(np.flatnonzero(wrong.any(1) | other)[0])
                number = int(wrong[block].argmax())
                what, words = "element", (file.codes[at[block], number], codes[block, number])
                if not wrong[block].any():
                    what, words = "scale", (file.scales[at[block]], wanted[block])
                first = self._excluded(int(at[block]), number, what, (int(words[0]), int(words[1])), fmt)
        sizes = [(high or file.shape[0], long or file.shape[1]) for high, long in self.quantiser.blocks]
        usual = file.block in sizes
        return Candidate(self.quantiser, scales, elements, first, len(part), self.inverted, usual)

    def _blocks(self, at: Array) -> QuantisedBlocks:
        given = {
            name: np.full(len(at), self.top if name == "T" else self.file.factor, np.float32)
            for name in self.quantiser.given
        }
        return quantise_blocks(self.quantiser, self.file.numbers[at], given, nearest=self.nearest)

    def _excluded(self, block: int, number: int, what: str, words: tuple[int, int], fmt: Format) -> Exclusion:
        numbers = self.file.numbers[block].astype(np.float32)
        place, largest = self.file.place(block, number), float(np.abs(numbers).max())
        return Exclusion(
            place, what, float(numbers[number]), largest, *words,
            self.quantiser.element if what == "element" else fmt,
        )  # fmt: skip

    def _kept(self, words: Array) -> tuple[Array, Format]:
        """Return the row's scales as the file has them: words of 8 bits, or of binary32."""
        fmt = _scale_format(self.quantiser, self.file)
        if self.file.scales.dtype != np.uint8:
            wide = outside.converted(words, fmt, _F32)
            one = np.full(wide.shape, 0x3F800000, np.uint32)
            return outside.divided(_F32, one, wide, ROUNDINGS["RNE"]) if self.inverted else wide, _F32
        if fmt.width == 8:
            return words, fmt
        return (words >> np.uint32(23)).astype(np.uint8), FORMATS["ue8m0"]


def _differ(fmt: AnyFormat, words: Array, others: Array) -> Array:
    """Return where words differ; NaNs are the same whatever their words."""
    return np.asarray((words != others) & ~(are_nan(fmt, words) & are_nan(fmt, others)))


def element_formats(codes: Array, named: Sequence[str] = ()) -> tuple[str, ...]:
    """Return which formats words of elements may have, of those that rows have.

    Raises :class:`.TcsmtError` where there are none.
    """
    every = {form for row in quantisers().values() for form in row.formats}
    most = int(codes.max(initial=0))
    fit = [form for form in sorted(every) if most < 1 << format_named(form).width]
    chosen = tuple(form for form in fit if not named or form in named)
    if not chosen:
        raise TcsmtError(
            f"elements up to {most:#x}: no quantiser gives words of {', '.join(named) or 'these bits'}"
        )
    return chosen
