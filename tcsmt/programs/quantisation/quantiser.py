"""Quantisers of public libraries as data: the rows of ``quantisers.toml``, and the program of a block."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache
from pathlib import Path

from tcsmt.matrix_units.arithmetic.formats import FORMATS, AnyFormat, Format, float_format, format_named
from tcsmt.programs.quantisation.formula import APPROXIMATIONS, Formula
from tcsmt.programs.steps.builder import Builder
from tcsmt.programs.steps.program import UnitProgram, Value
from tcsmt.support.errors import TcsmtError, choose

_F32 = FORMATS["f32"]
#: What the caller of a library gives beside the numbers.
GIVEN = {"T": "the largest magnitude of the tensor", "S": "a factor that the caller gives"}
EVIDENCE = {
    "ran": "the library's own code was run",
    "read": "the library's code was read",
    "computed": "another row's arithmetic on another device, as PyTorch's code says",
    "documented": "the vendor's documents say it",
}
#: What comes out of a formula: elements, scales, the factor of the tensor, zero points.
OUTPUTS = ("q", "s", "g", "z")
DEVICES = ("any", "cpu", "cuda", "rocm")


@dataclass(frozen=True)
class BlockProgram:
    """The steps of one block: of its numbers ``A``, and of what is given.

    values: by their names in the formula: ``s`` the scale that is kept; where there are any, ``q`` the
    elements (of integers, binary32 numbers), ``g`` the factor of the tensor, ``z`` the zero point.
    largest: the largest magnitude.
    """

    program: UnitProgram
    values: Mapping[str, Value]
    largest: Value


@dataclass(frozen=True, kw_only=True)
class Quantiser:
    """A quantiser of a library, on a device.

    name: LIBRARY/NAME. source: the call and the version, commit or document. evidence: one of
    :data:`EVIDENCE`. device: that its arithmetic is of. formats: of elements. blocks: rows and columns of a
    block, the usual one first; 0: all. nan: what the largest magnitude makes of a NaN, ``propagated`` or
    ``ignored``. tensor: it computes in the format of the tensor, not in binary32. formula: its steps
    (:mod:`.formula`), ``q`` the elements, ``s`` the scales. keeps: the scale that is kept is what elements
    are multiplied by (``scale``), or divided by (``factor``). recipe: of tcsmt, with the same bits.
    numbers: what elements stand for, of ``q``, ``s``, ``g`` and ``z``; empty: q times s, or over it. note:
    what else there is to say. form: of the formats, the one that is meant; empty: the first one.
    """

    name: str
    source: str
    evidence: str
    device: str
    formats: tuple[str, ...]
    blocks: tuple[tuple[int, int], ...]
    formula: str
    nan: str = "propagated"
    tensor: bool = False
    keeps: str = "scale"
    recipe: str = ""
    numbers: str = ""
    note: str = ""
    form: str = ""

    def __post_init__(self) -> None:
        choose("evidence", self.evidence, EVIDENCE)
        choose("device", self.device, DEVICES)
        choose("rule for NaNs", self.nan, ("propagated", "ignored"))
        choose("kept number", self.keeps, ("scale", "factor"))

    @property
    def title(self) -> str:
        """Return what it is, in a few words."""
        return self.source

    @property
    def element(self) -> AnyFormat:
        """Return the format of the elements."""
        return format_named(self.form or self.formats[0])

    @cached_property
    def names(self) -> frozenset[str]:
        """Return the names that the formula uses."""
        tree = ast.parse(self.formula)
        return frozenset(node.id for node in ast.walk(tree) if isinstance(node, ast.Name))

    @cached_property
    def outputs(self) -> tuple[str, ...]:
        """Return what comes out: of :data:`OUTPUTS`."""
        return tuple(filter(self._writes, OUTPUTS))

    @property
    def given(self) -> tuple[str, ...]:
        """Return what the caller gives beside the numbers: of :data:`GIVEN`."""
        return tuple(name for name in GIVEN if name in self.names and not self._writes(name))

    def _writes(self, name: str) -> bool:
        """Return whether a line of the formula gives a name its value."""
        return f"\n{name} = " in f"\n{self.formula}"

    @property
    def approximations(self) -> tuple[str, ...]:
        """Return the functions that only approximations are known of."""
        return tuple(told for name, told in APPROXIMATIONS.items() if name in self.names)

    def block_program(self, length: int, given: Format = _F32, *, nearest: bool = False) -> BlockProgram:
        """Return the steps for a block of so many numbers of a format.

        nearest: approximations stand for the nearest numbers. Raises :class:`.TcsmtError` where they are
        refused.
        """
        return _block_program(self, length, given, nearest)

    def write(
        self, build: Builder, numbers: Value, given: Mapping[str, Value], *, nearest: bool = False
    ) -> tuple[Mapping[str, Value], Value]:
        """Write the steps for a block; return the values of the formula's lines, and the largest magnitude.

        numbers: of axes A. given: the values of :attr:`given`, binary32, or what makes them.
        """
        working = numbers.format if self.tensor else _F32
        x = build.convert(numbers, working)
        largest = build.maximum(working, build.absolute(float_format(working), x), nan=self.nan)
        values = {"x": x, "m": largest, **given}
        if "lowest" in self.names:
            turned = build.maximum(working, build.negate(working, x), nan=self.nan)
            values["lowest"] = build.negate(working, turned)
            values["highest"] = build.maximum(working, x, nan=self.nan)
        try:
            named = Formula(build, self.element, values, nearest=nearest).write(self.formula)
        except TcsmtError as error:
            raise type(error)(f"{self.name}: {error}") from None
        return named, largest


@lru_cache(maxsize=256)
def _block_program(quantiser: Quantiser, length: int, given: Format, nearest: bool) -> BlockProgram:
    build = Builder()
    numbers = build.input("A", given, "A")
    others = {name: build.input(name, _F32, "a") for name in quantiser.given}
    values, largest = quantiser.write(build, numbers, others, nearest=nearest)
    kept = {name: values[name] for name in OUTPUTS if name in values}
    return BlockProgram(build.program(values["s"]), kept, largest)


@cache
def _data() -> tuple[dict[str, Quantiser], dict[str, str]]:
    data = tomllib.loads(Path(__file__).with_name("quantisers.toml").read_text(encoding="utf-8"))
    left_out = data.pop("left out")
    rows = {}
    for name, entry in data.items():
        blocks = tuple((rows, columns) for rows, columns in entry["blocks"])
        rows[name] = Quantiser(name=name, **entry | {"blocks": blocks, "formats": tuple(entry["formats"])})
    return rows, left_out


def quantisers() -> Mapping[str, Quantiser]:
    """Return the rows, by name."""
    return _data()[0]


def left_out() -> Mapping[str, str]:
    """Return what is not a row, by name, each with the reason."""
    return _data()[1]


def quantiser_named(text: str) -> Quantiser:
    """Return the row ``NAME``, or ``NAME:FORMAT`` with elements in another format of its.

    Raises :class:`.UnknownName`.
    """
    name, colon, form = text.partition(":")
    row = quantisers()[choose("quantiser", name, quantisers(), "tcsmt describe quantisers")]
    if not colon:
        return row
    return replace(row, form=choose(f"format of {name}", form, row.formats))
