"""Elements of pictures, for every kind of output: grids of bits, tables, lists of values, and notes on them.

A bit is drawn in the column of its weight, a power of two. Grids of one position on a sheet share
their columns, so that two models can be compared bit by bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction
from itertools import groupby
from typing import Any

#: Bits of an unnormalised product above its binary point; carry bits are counted above them.
INTEGER_BITS = 2
#: Shorter runs of columns are drawn rather than left out.
_SHORTEST_GAP = 5
#: Of more inputs, only the words are shown.
_MOST_INPUTS = 12


class BitFate(Enum):
    """The fate of a bit."""

    KEPT = "kept"
    CHANGED = "changed when its term was aligned"
    CUT = "cut off by alignment"
    SUM = "in the sum"
    CARRY = "in the sum's carry bits"
    LEADING = "the sum's leading bit"
    ROUNDED = "in the result's significand"
    DROPPED = "dropped by the final rounding"


@dataclass(frozen=True)
class Cell:
    """A bit of weight ``2^weight``."""

    weight: int
    bit: int
    fate: BitFate


@dataclass(frozen=True)
class BitRow:
    """A number on the grid, in sign and magnitude.

    stages: names of the model's stages that it shows; note: its value, for people; marks: weights at
    which another model has other bits; parts: whether it shows the first stage at which they first differ.
    """

    label: str
    stages: tuple[str, ...]
    negative: bool
    cells: tuple[Cell, ...]
    note: str = ""
    marks: frozenset[int] = frozenset()
    parts: bool = False

    def value(self, *fates: BitFate) -> Fraction:
        """Return the number that the bits of these fates make (all bits where none is named)."""
        weights = [c.weight for c in self.cells if c.bit and (not fates or c.fate in fates)]
        magnitude = sum((Fraction(2) ** w for w in weights), Fraction())
        return -magnitude if self.negative else magnitude


@dataclass(frozen=True)
class Note:
    """A sentence on a picture, or a named value where it has a label."""

    text: str
    label: str = ""
    stages: tuple[str, ...] = ()
    parts: bool = False


@dataclass(frozen=True)
class Listing:
    """Values that have no alignment grid."""

    title: str
    notes: tuple[Note, ...]


@dataclass(frozen=True)
class Line:
    """A step of a table: what each side has there (None: no such step); parts: the first difference."""

    label: str
    sides: tuple[tuple[str, ...] | None, ...]
    parts: bool = False


@dataclass(frozen=True)
class Table:
    """Computations side by side, step by step: for each of ``sides`` a cell below each of ``heads``."""

    title: str
    sides: tuple[str, ...]
    heads: tuple[str, ...]
    lines: tuple[Line, ...]
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True)
class BitGrid:
    """A fused sum: its aligned terms, the sum, and the result that it is rounded to.

    top: the largest exponent; unit: the weight of the accumulator's last bit; carry_bits: the
    accumulator's bits above the two integer bits.
    """

    title: str
    top: int
    unit: int
    carry_bits: int
    terms: tuple[BitRow, ...]
    sums: tuple[BitRow, ...]
    notes: tuple[Note, ...]

    @property
    def rows(self) -> tuple[BitRow, ...]:
        """All rows, from top to bottom."""
        return (*self.terms, *self.sums)

    @property
    def high(self) -> int:
        """Return the weight of the accumulator's first bit."""
        return self.top + INTEGER_BITS - 1 + self.carry_bits


@dataclass(frozen=True)
class InputLine:
    """An input that is not zero: its name, word and value."""

    name: str
    word: str
    value: str


Panel = BitGrid | Listing | Table


@dataclass(frozen=True)
class Picture:
    """One model on one input; ``zeros`` of its inputs are zero.

    group: pictures of one group on a sheet share the columns of their grids.
    """

    model: str
    inputs: tuple[InputLine, ...]
    zeros: int
    panels: tuple[Panel, ...]
    results: tuple[Note, ...]
    group: int = 0

    @property
    def given(self) -> str:
        """Return the inputs in one sentence; many of them without their values."""
        few = len(self.inputs) <= _MOST_INPUTS
        parts = [f"{i.name} = {i.word}" + (f" ({i.value})" if few else "") for i in self.inputs]
        rest = "all other inputs are zero" if parts else "all inputs are zero"
        return "; ".join([*parts, rest] if self.zeros else parts)

    def as_json(self) -> dict[str, Any]:
        """Return the picture as plain data (documented in README, "JSON")."""
        return {
            "model": self.model,
            "inputs": {i.name: {"word": i.word, "value": i.value} for i in self.inputs},
            "panels": [_panel(p) for p in self.panels],
            "results": {note.label: note.text for note in self.results},
        }


@dataclass(frozen=True)
class Blank:
    """Columns that are left out: weights from ``high`` down to ``low``."""

    high: int
    low: int


@dataclass(frozen=True)
class Sheet:
    """Pictures one above the other, and where they first differ; a title if it is not the pictures' names."""

    pictures: tuple[Picture, ...]
    difference: str = ""
    title: str = ""

    @property
    def name(self) -> str:
        """Return what the sheet is called."""
        return self.title or " against ".join(picture.model for picture in self.pictures)

    def as_json(self) -> dict[str, Any]:
        """Return the pictures, and where they first differ, as plain data."""
        pictures = [picture.as_json() for picture in self.pictures]
        return {"pictures": pictures, "difference": self.difference or None}

    def beside(self, group: int, place: int) -> list[BitGrid]:
        """Return the grids, one of each picture of a group, that stand at a place and share their columns."""
        panels = [p.panels[place] for p in self.pictures if p.group == group and place < len(p.panels)]
        return [panel for panel in panels if isinstance(panel, BitGrid)]

    def columns(self, group: int, place: int, most: int) -> list[int | Blank]:
        """Return the columns of a group's grids at a place, ``most`` at most."""
        return _columns(self.beside(group, place), most)


def compared(left: Picture, right: Picture, stage: str, difference: str) -> Sheet:
    """Two pictures on a sheet, with what differs marked; they first differ at ``stage``."""
    return Sheet((_marked(left, right, stage), _marked(right, left, stage)), difference)


def _marked(picture: Picture, other: Picture, stage: str) -> Picture:
    panels = []
    for number, panel in enumerate(picture.panels):
        beside = other.panels[number] if number < len(other.panels) else None
        notes = tuple(replace(n, parts=stage in n.stages) for n in panel.notes)
        panel = replace(panel, notes=notes)
        if isinstance(panel, BitGrid):
            rows = {row.label: row for row in beside.rows} if isinstance(beside, BitGrid) else {}
            terms, sums = (
                tuple(_marked_row(row, rows.get(row.label), stage) for row in part)
                for part in (panel.terms, panel.sums)
            )
            panel = replace(panel, terms=terms, sums=sums)
        panels.append(panel)
    return replace(picture, panels=tuple(panels))


def _marked_row(row: BitRow, other: BitRow | None, stage: str) -> BitRow:
    marks: frozenset[int] = frozenset()
    if other is not None:
        here, there = ({(c.weight, c.fate in _LOST) for c in r.cells if c.bit} for r in (row, other))
        marks = frozenset(weight for weight, _ in here ^ there)
    return replace(row, marks=marks, parts=stage in row.stages)


_LOST = (BitFate.CUT, BitFate.DROPPED)


def _columns(grids: Sequence[BitGrid], most: int) -> list[int | Blank]:
    cells = [cell for grid in grids for row in grid.rows for cell in row.cells]
    ones = {cell.weight for cell in cells if cell.bit}
    ends = {w for g in grids for w in (g.high, g.top + 1, g.top, g.top - 1, g.unit)}
    window = {w for g in grids for w in range(g.unit, g.high + 1)}
    weights = list(range(max(ones | ends), min(ones | ends) - 1, -1))
    columns: list[int | Blank] = []
    for needed in (window | {cell.weight for cell in cells}, window | ones, ones | ends):
        columns = _without(weights, needed)
        if len(columns) <= most:
            break
    else:
        columns = [*columns[: most - 1], Blank(_high(columns[most - 1]), weights[-1])]
    return columns


def _without(weights: Sequence[int], needed: set[int]) -> list[int | Blank]:
    """Return the weights, with long runs of those that are not needed left out."""
    columns: list[int | Blank] = []
    for used, group in groupby(weights, needed.__contains__):
        run = list(group)
        long = not used and len(run) >= _SHORTEST_GAP
        columns += [Blank(run[0], run[-1])] if long else run
    return columns


def _high(column: int | Blank) -> int:
    return column.high if isinstance(column, Blank) else column


def _panel(panel: Panel) -> dict[str, Any]:
    match panel:
        case BitGrid():
            return _grid(panel)
        case Table():
            return _table(panel)
        case Listing():
            return _listing(panel)


def _table(panel: Table) -> dict[str, Any]:
    return {
        **_listing(Listing(panel.title, panel.notes)),
        "sides": list(panel.sides),
        "heads": list(panel.heads),
        "lines": [
            {
                "step": line.label,
                "cells": [cells and list(cells) for cells in line.sides],
                "parts": line.parts,
            }
            for line in panel.lines
        ],
    }


def _listing(panel: Listing) -> dict[str, Any]:
    return {"title": panel.title, "notes": [_note(n) for n in panel.notes]}


def _grid(panel: BitGrid) -> dict[str, Any]:
    return {
        **_listing(Listing(panel.title, panel.notes)),
        "largest_exponent": panel.top,
        "last_bit": panel.unit,
        "carry_bits": panel.carry_bits,
        "rows": [_row(row) for row in panel.rows],
    }


def _note(note: Note) -> dict[str, Any]:
    return {"label": note.label, "text": note.text, "stages": list(note.stages), "parts": note.parts}


def _row(row: BitRow) -> dict[str, Any]:
    bits = {fate: [c for c in row.cells if c.fate is fate] for fate in BitFate}
    return {
        "label": row.label,
        "stages": list(row.stages),
        "sign": "-" if row.negative else "+",
        "bits": [
            {"fate": fate.name.lower(), "weights": [c.weight for c in cells if c.bit]}
            for fate, cells in bits.items()
            if cells
        ],
        "value": row.note,
        "differs_at": sorted(row.marks, reverse=True),
        "parts": row.parts,
    }
