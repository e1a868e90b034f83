"""The builder of programs on a unit: a step at a time, each with a check of what it takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tcsmt.matrix_units.arithmetic.formats import FORMATS, AnyFormat, Format, IntegerFormat, float_format
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS, Rounding
from tcsmt.matrix_units.models import Kind, Model
from tcsmt.programs.steps import digits
from tcsmt.programs.steps.program import TRUTH, CompoundStep, ProductRun, ProgramStep, UnitProgram, Value
from tcsmt.programs.steps.slicing import Slicing, require_integers
from tcsmt.programs.steps.split import Split
from tcsmt.programs.steps.trees import SumOrder
from tcsmt.support.errors import TcsmtError

_NEAREST = ROUNDINGS["RNE"]


@dataclass
class Builder:
    """A program that is being written. Each method adds a step, and returns its value."""

    steps: list[ProgramStep] = field(default_factory=list)
    compounds: list[CompoundStep] = field(default_factory=list)
    _constants: dict[tuple[str, int], Value] = field(default_factory=dict)

    def program(self, result: Value) -> UnitProgram:
        """Return the program whose result this value is."""
        return UnitProgram(tuple(self.steps), result.number, tuple(self.compounds))

    def input(self, name: str, fmt: AnyFormat, axes: str = "") -> Value:
        """Return words from outside. axes: see :class:`ProgramStep`."""
        return self._step("input", (), fmt, axes, name=name)

    def constant(self, fmt: AnyFormat, word: int) -> Value:
        """Return the same word everywhere."""
        key = fmt.name, word
        if key not in self._constants:
            self._constants[key] = self._step("constant", (), fmt, fmt=fmt, word=word)
        return self._constants[key]

    def split(self, x: Value, split: Split) -> Value:
        """Return the words of each number, by the rule of a split."""
        side = self.steps[x.number].axes
        return self._step("split", (x,), split.format, side, split=split, side=side)

    def chain(
        self, unit: Model, operands: Sequence[Value], runs: Sequence[ProductRun], c: Value | None
    ) -> Value:
        """Return instructions one after the other, each with the last one's result as its c (None: +0).

        operands: of axes ``A`` and ``B``, or ``t`` and ``tB``; for units with block scales the scales of
        both, too. Of axes ``A`` and ``tK`` the value has axes ``t``: a chain for each member of the tile.
        """
        axes = "t" if any(self.axes(x) == "tK" for x in operands) else ""
        kind = "chain_each" if axes else "chain"
        return self._step(kind, (c, *operands), unit.d_format, axes, unit=unit, runs=tuple(runs))

    def padding(self, unit: Model, c: Value) -> Value:
        """Return an instruction's result where all that it multiplies is padding: +0·+0, and +0 as scales.

        A value of its own, since -0 + +0 is not -0, and units round their c in ways of their own.
        """
        return self._step("padding", (c,), unit.d_format, unit=unit)

    def add(self, fmt: AnyFormat, x: Value, y: Value, shift: int = 0, rounding: Rounding = _NEAREST) -> Value:
        """x·2^-shift + y, rounded once; integers wrap."""
        return self._each("add", (x, y), fmt, fmt=fmt, shift=shift, rounding=rounding)

    def multiply(self, fmt: AnyFormat, x: Value, y: Value, rounding: Rounding = _NEAREST) -> Value:
        """x·y, rounded once, where zeros have the sign of the product; integers wrap."""
        if isinstance(fmt, Format) and rounding.ties_to_even:
            return self.multiply_add(fmt, x, y, self.constant(fmt, 1 << fmt.sign_bit))
        return self._each("multiply", (x, y), fmt, fmt=fmt, rounding=rounding)

    def divide(self, fmt: Format, x: Value, y: Value, rounding: Rounding = _NEAREST) -> Value:
        """x / y, rounded once, as IEEE 754 says."""
        return self._each("divide", (x, y), fmt, fmt=fmt, rounding=rounding)

    def multiply_add(self, fmt: Format, x: Value, y: Value, z: Value) -> Value:
        """x·y + z, rounded once to nearest even."""
        return self._each("multiply_add", (x, y, z), fmt, fmt=fmt)

    def negate(self, fmt: AnyFormat, x: Value) -> Value:
        """-x: x with the other sign; integers wrap."""
        return self._each("negate", (x,), fmt, fmt=fmt)

    def absolute(self, fmt: Format, x: Value) -> Value:
        """|x|: x with the sign bit 0, also of a NaN."""
        return self._each("absolute", (x,), fmt, fmt=fmt)

    def power_of_two(self, x: Value, shift: int = 0, *, up: bool = False) -> Value:
        """Return the UE8M0 word of the power of two next to |x|, not above it (up: not below it), times
        2^shift.

        x: binary32, of which an infinity counts as 2^128. Powers outside of the format become its ends: of
        subnormal numbers and zeros, which count as 2^-127, the first one. A NaN gives the NaN.
        """
        if float_format(x.format).name != "f32":
            raise TcsmtError(f"power_of_two: of binary32, not of {x.format.name}: convert first")
        return self._each("power_of_two", (x,), FORMATS["ue8m0"], shift=shift, up=up)

    def maximum(self, fmt: AnyFormat, x: Value, y: Value | None = None, *, nan: str, every: int = 0) -> Value:
        """Return the larger one of two values; of one value, the largest word along its axis.

        +0 is above -0. nan: a NaN is ``propagated``, or ``ignored`` where the other one is none (maximum and
        maximumNumber of IEEE 754-2019). every: of so many words along K, the last time of fewer.
        """
        if y is not None:
            return self._each("maximum", (x, y), fmt, fmt=fmt, nan=nan)
        if every:
            side = self.axes(x)
            if side not in ("A", "B"):
                raise TcsmtError("maximum over blocks: words along K are expected here")
            axes = f"{side}/{every}"
            return self._step(
                "block_maximum", (x,), fmt, axes, fmt=fmt, nan=nan, side=side.lower(), every=every
            )
        return self._along("maximum", x, fmt, fmt=fmt, nan=nan)

    def compare(self, fmt: AnyFormat, x: Value, y: Value, relation: str) -> Value:
        """Return a truth value: x ``equal``, ``less`` or ``less_equal`` to y, as IEEE 754 compares: false
        for NaNs, and both zeros are equal.
        """
        return self._each("compare", (x, y), TRUTH, fmt=fmt, relation=relation)

    def select(self, fmt: AnyFormat, condition: Value, x: Value, y: Value) -> Value:
        """Return x where the condition holds, and y elsewhere."""
        return self._each("select", (condition, x, y), fmt, fmt=fmt)

    def sum(self, fmt: AnyFormat, x: Value, tree: SumOrder, rounding: Rounding = _NEAREST) -> Value:
        """Return the sum of the words along x's axis, each addition rounded once; integers wrap."""
        return self._along("sum", x, fmt, fmt=fmt, tree=tree, rounding=rounding)

    def spread(self, x: Value, length: int) -> Value:
        """Return, for each of so many words along K, the word of its block."""
        side, _, every = self.axes(x).partition("/")
        if not every:
            raise TcsmtError("spread: words of blocks along K are expected here")
        return self._step("spread", (x,), x.format, side, side=side.lower(), every=int(every), length=length)

    def pick(self, x: Value, at: int) -> Value:
        """Return one of the words along x's axis."""
        return self._along("pick", x, x.format, at=at)

    def function(self, name: str, fmt: Format, x: Value) -> Value:
        """Return a function of x to the nearest number, ties to even (:mod:`.functions`)."""
        return self._each("function", (x,), fmt, name=name, fmt=fmt)

    def exponent(self, x: Value) -> Value:
        """Return the exponent of each number; of what is not finite, one more than any number has."""
        fmt = float_format(x.format)
        return self._each("exponent", (x,), digits.exponent_format(fmt), fmt=fmt)

    def digits(self, x: Value, top: Value, slicing: Slicing, fmt: AnyFormat) -> Value:
        """Return the digits of each number in a format that has them. top: the row's largest exponent."""
        if slicing.wide != x.format or top.format != digits.exponent_format(slicing.wide):
            raise TcsmtError(
                f"digits: a number of {slicing.wide.name} and an exponent of its are expected here"
            )
        require_integers("digits", fmt, -slicing.largest, slicing.largest)
        return self._each("digits", (x, top), fmt, slicing=slicing, fmt=fmt)

    def residue(self, x: Value, fmt: AnyFormat, modulus: int, base: int = 0, place: int = 0) -> Value:
        """Return the remainder nearest to zero of each number's first digit.

        base: the remainder is h·base + l, and l is the digit of place 0, h of place 1 (0: it is one digit).
        """
        require_integers("residues", fmt, *digits.residue_range(modulus, base))
        if self.steps[x.number].kind != "digits" or not isinstance(x.format, IntegerFormat):
            raise TcsmtError(f"residue: digits in a format of integers are expected, not {x.format.name}")
        return self._each(
            "residue", (x,), fmt, source=x.format, fmt=fmt, modulus=modulus, base=base, place=place
        )

    def accumulate(self, fmt: Format, x: Value, y: Value, shift: int = 0) -> Value:
        """x·2^-shift + y, rounded once to nearest even, where x may be of another format."""
        return self._each("accumulate", (x, y), fmt, source=x.format, fmt=fmt, shift=shift)

    def scale(self, fmt: Format, x: Value, exponents: Sequence[Value], shift: int = 0) -> Value:
        """x·2^(Σ exponents - shift), rounded once to nearest even; of an integer, zero is +0."""
        powers = tuple(power.format for power in exponents)
        for power in powers:
            if not isinstance(power, IntegerFormat) or power.fraction_bits:
                raise TcsmtError(f"scale: exponents are integers, not {power.name}")
        return self._each("scale", (x, *exponents), fmt, source=x.format, powers=powers, fmt=fmt, shift=shift)

    def exact_sum(self, values: Sequence[Value], weights: Sequence[int], modulus: int) -> Value:
        """Return the remainder nearest to zero, the upper one of two, of Σ weight·value, of integers."""
        gives, sources = digits.remainder_format(modulus), tuple(value.format for value in values)
        for fmt in sources:
            if isinstance(fmt, IntegerFormat) and (fmt.fraction_bits or fmt.bits > 64):
                raise TcsmtError(f"exact_sum: integers of 64 bits at most are expected here, not {fmt.name}")
        return self._each(
            "exact_sum", values, gives, sources=sources, weights=tuple(weights), modulus=modulus
        )

    def axes(self, x: Value) -> str:
        """Return the axes of a value."""
        return self.steps[x.number].axes

    def along(self, x: Value) -> bool:
        """Return whether a value has words along K, its blocks or a tile, of one row or column."""
        return bool(_whose(self.axes(x)))

    def _along(self, of: str, x: Value, gives: AnyFormat, **how: Any) -> Value:
        """Write a step that makes one word of those along x's axis: of the row, or of the column."""
        side = _whose(self.axes(x))
        if not side:
            raise TcsmtError(f"{of}: words along K, its blocks or a tile are expected here")
        return self._step(of, (x,), gives, side, side=side, **how)

    def _each(self, of: str, takes: Sequence[Value], gives: AnyFormat, **how: Any) -> Value:
        """Write a step that is done to each word; it broadcasts over axes that an argument does not have."""
        axes = {self.axes(x) for x in takes if self.steps[x.number].kind != "constant"}
        along = next((name for name in axes if name not in ("", "a", "b")), "")
        if not along:
            own = axes.pop() if len(axes) == 1 else ""
        elif axes - {along} <= {_whose(along)}:
            own = along
        else:
            told = " and ".join(sorted(name or "the element" for name in axes))
            raise TcsmtError(
                f"{of}: words of {told}: numbers of the element go together, or words along one axis with "
                "numbers of its row or column"
            )
        return self._step(of, takes, gives, own, **how)

    def convert(
        self, x: Value, wanted: AnyFormat, rounding: Rounding = _NEAREST, *, saturate: bool = False
    ) -> Value:
        """Return x in another format, rounded once. A word stays what it is where the format stays, but for
        infinities that saturate.
        """
        if (x.format is wanted or x.format == wanted) and not saturate:
            return x
        source, target = x.format, wanted
        if isinstance(target, IntegerFormat):
            if not target.holds(source):
                raise TcsmtError(f"{source.name} to {target.name}: only integers that it holds become others")
        elif not isinstance(source, IntegerFormat):
            source, target = float_format(source), float_format(target)
        return self._step(
            "convert", (x,), target, self.steps[x.number].axes,
            source=source, target=target, rounding=rounding, saturate=saturate,
        )  # fmt: skip

    def convert_randomly(
        self, x: Value, wanted: Format, random: Value, bits: int, *, saturate: bool
    ) -> Value:
        """Return x in another format, rounded by so many random bits (:func:`.randomly_rounded`)."""
        source = float_format(x.format)
        return self._each(
            "convert_randomly",
            (x, random),
            wanted,
            source=source,
            target=wanted,
            bits=bits,
            saturate=saturate,
        )  # fmt: skip

    def note(self, x: Value, kind: Kind, number: int | None = None) -> Value:
        """Return x, which readings that keep intermediate results call so."""
        return self._step("note", (x,), x.format, self.axes(x), kind=kind, number=number, fmt=x.format)

    def compound(
        self, kind: str, takes: Sequence[Value], write: Callable[[], tuple[Value, ...]], **how: Any
    ) -> tuple[Value, ...]:
        """Return the values of steps that belong together. write: adds them. Constants that it makes are not
        used outside, where a reading that has a rule for all of them knows none of their values.
        """
        first, constants = len(self.steps), dict(self._constants)
        values = write()
        self._constants = constants
        taken, given = (tuple(x.number for x in part) for part in (takes, values))
        self.compounds.append(CompoundStep(kind, first, len(self.steps), taken, given, how))
        return values

    def _step(
        self, of: str, takes: Sequence[Value | None], gives: AnyFormat, axes: str = "", **how: Any
    ) -> Value:
        numbers = tuple([None if x is None else x.number for x in takes])
        self.steps.append(ProgramStep(of, numbers, how, gives, axes))
        return Value(len(self.steps) - 1, gives)


def _whose(axes: str) -> str:
    """Return what words along some axes belong to: a row (``a``), a column (``b``), or neither."""
    if axes in ("", "a", "b", "tK"):
        return ""
    return "b" if axes[0] == "B" or axes == "tB" else "a"
