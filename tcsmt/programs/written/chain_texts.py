"""Chains of a unit's instructions in a program's text: ``chain(volta, A·B over K)``.

A chain multiplies words of one left and one right operand over parts of K, with their scales where the unit
takes them, and begins with a number of the element or with +0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tcsmt.matrix_units.arithmetic.formats import AnyFormat, Format
from tcsmt.matrix_units.models import Model
from tcsmt.programs.steps.program import Indices, ProductRun, Value, scaled_blocks
from tcsmt.programs.written.places import parts_of
from tcsmt.programs.written.tokens import Tokens, Wrong
from tcsmt.programs.written.value_texts import ValueTexts

#: Axes of the operands of a chain.
_PAIRS = (("A", "B"), ("t", "tB"), ("A", "tK"))


@dataclass(frozen=True)
class OperandWords:
    """One word of the split of A's or of B's numbers."""

    value: Value
    word: int


class ChainTexts(ValueTexts):
    """Chains of a text that is being read."""

    def products(self, tokens: Tokens) -> list[tuple[Value | OperandWords, Value | OperandWords]]:
        """Take products ``X·Y`` of two operands, one after the other."""
        pairs = []
        while True:
            left = self._operand(tokens)
            if not (tokens.take("·") or tokens.take("*")):
                raise Wrong("expected a product X·Y")
            pairs.append((left, self._operand(tokens)))
            if not tokens.take(","):
                return pairs

    def _operand(self, tokens: Tokens) -> Value | OperandWords:
        name = tokens.name("an operand")
        operand = self.names.get(name)
        words = isinstance(operand, Value) and self.build.axes(operand) in {
            side for p in _PAIRS for side in p
        }
        if not words and not isinstance(operand, OperandWords):
            raise Wrong(f"{name!r} is no operand")
        return operand  # type: ignore[return-value]

    def _chain(self, tokens: Tokens) -> Value:
        unit = self.unit_named(tokens.name("a unit"))
        tokens.expect(",")
        if tokens.at("padding") and "padding" not in self.names:
            tokens.next()
            tokens.expect(",")
            start = self._start(tokens, unit)
            return self.build.padding(unit, start or self.build.constant(unit.c_format, 0))
        runs: list[ProductRun] = []
        operands: tuple[Value, ...] | None = None
        while True:
            pairs = self.products(tokens)
            scales = self._scales(tokens, unit)
            if tokens.name("over") != "over":
                raise Wrong("expected over, and a part of K")
            for pair in pairs:
                if len({isinstance(x, OperandWords) for x in pair}) > 1:
                    raise Wrong("words of a split and digits are multiplied by each other: cut both operands")
                left, right = (x.value if isinstance(x, OperandWords) else x for x in pair)
                if operands not in (None, (left, right, *scales)):
                    raise Wrong("a chain multiplies words of one left and one right operand")
                operands = left, right, *scales
            for part in parts_of(tokens, self.names):
                runs += _runs(pairs, part, unit.k)
                if scales:
                    scaled_blocks(unit, runs[-1].indices)
            if not tokens.take(";"):
                break
        assert operands is not None
        left, right = operands[:2]
        if (axes := (self.build.axes(left), self.build.axes(right))) not in _PAIRS:
            raise Wrong(
                f"the operands of a chain are A's and B's, in this order: not of {' and '.join(axes)}"
            )
        for value, fmt in ((left, unit.a_format), (right, unit.b_format)):
            if not _same_words(value.format, fmt):
                raise Wrong(f"the unit takes {fmt.name} words, not {value.format.name}")
        c = self._start(tokens, unit) if tokens.take(",") else None
        if c is not None and "tK" in axes:
            raise Wrong("chains of a tile begin with +0")
        return self.build.chain(unit, operands, runs, c)

    def _scales(self, tokens: Tokens, unit: Model) -> list[Value]:
        """Take ``scaled X·Y``: the scales of the blocks of both operands, which the unit multiplies."""
        fmt = unit.scale_format
        if not tokens.take("scaled"):
            if fmt is not None:
                raise Wrong(f"the unit takes {fmt.name} scales of blocks: A·B scaled X·Y over K")
            return []
        if fmt is None:
            raise Wrong("the unit takes no scales of blocks")
        names = [tokens.name("scales")]
        if not (tokens.take("·") or tokens.take("*")):
            raise Wrong("expected scales X·Y")
        names.append(tokens.name("scales"))
        found = []
        for name, side in zip(names, "AB", strict=True):
            value, wanted = self.names.get(name), f"{side}/{unit.k // unit.scales}"
            if not isinstance(value, Value) or self.build.axes(value) != wanted:
                raise Wrong(f"{name!r}: the scales must have a word for each block, axes {wanted}")
            if not _same_words(value.format, fmt):
                raise Wrong(f"the unit takes {fmt.name} scales, not {value.format.name}")
            found.append(value)
        return found

    def _start(self, tokens: Tokens, unit: Model) -> Value | None:
        if tokens.at("+") and [text for _, text in tokens.found[1:2]] == ["0"]:
            del tokens.found[:2]
            if tokens.take(":"):
                tokens.next()
            return None
        if tokens.at("+", "-") or (tokens.found and tokens.found[0][0] in ("number", "word")):
            sign = tokens.next()[1] if tokens.at("+", "-") else "+"
            return self._constant(tokens, sign, unit.c_format)
        c = self._scalar(tokens)
        if self.build.axes(c) not in ("", "a", "b"):
            raise Wrong("a chain begins with a number of the element")
        if not _same_words(c.format, unit.c_format):
            raise Wrong(f"the unit takes a c in {unit.c_format.name}, not in {c.format.name}")
        return c


def _runs(
    pairs: Sequence[tuple[Value | OperandWords, Value | OperandWords]], part: Indices, k: int
) -> list[ProductRun]:
    """Return the runs of some products over a part: of several, an instruction of each in turn."""
    words = [
        (x.word, y.word) if isinstance(x, OperandWords) and isinstance(y, OperandWords) else None
        for x, y in pairs
    ]
    if len(pairs) == 1:
        return [ProductRun(part, words[0])]
    return [ProductRun(part[first : first + k], pair) for first in range(0, len(part), k) for pair in words]


def _same_words(given: AnyFormat, wanted: AnyFormat) -> bool:
    if isinstance(given, Format) and isinstance(wanted, Format):
        return given == wanted or given.has_fields_of(wanted)
    return given == wanted
