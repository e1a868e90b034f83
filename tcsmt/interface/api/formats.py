"""A format's values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any

from tcsmt.interface.api.units import UnitLike, side_of
from tcsmt.matrix_units.arithmetic.formats import AnyFormat, Format, format_named
from tcsmt.matrix_units.models.file_texts import table_of_format
from tcsmt.prove.statements.finding import shown
from tcsmt.support.floats import ieee_floats
from tcsmt.support.results import Result
from tcsmt.support.text import counted

#: Formats of so many bits are listed word by word.
_LISTED = 8


@dataclass(frozen=True, repr=False)
class FormatValues(Result):
    """A format: its fields, its extreme numbers, and the value of every word if it has at most 8 bits.

    format: the format. ``landmarks``: words by what they are. ``words``: those that are listed.
    """

    format: AnyFormat

    @property
    def landmarks(self) -> dict[str, int]:
        """Return the words of the extreme numbers, of 1 and of what is not a number, by what they are."""
        fmt = self.format
        words: dict[str, int] = {}
        if fmt.signed:
            lowest = getattr(fmt, "low", None)
            sign = 1 << fmt.sign_bit
            words["lowest"] = sign | fmt.largest_finite_word if lowest is None else lowest % (1 << fmt.width)
        if isinstance(fmt, Format):
            unit = 1 << fmt.ignored_low_bits
            normal = unit << fmt.fraction_bits
            if fmt.has_subnormals:
                words |= {"zero": 0, "smallest subnormal": unit, "largest subnormal": normal - unit}
            words["smallest normal"] = normal if fmt.has_subnormals else 0
        else:
            words |= {"zero": 0, "smallest step": 1}
        if fmt.largest_finite >= 1:
            words["one"] = fmt.word(Fraction(1))
        words["largest"] = fmt.largest_finite_word
        if fmt.has_infinity:
            words["infinity"] = fmt.infinity_word
        if fmt.nan_word is not None:
            words["NaN"] = fmt.nan_word
        return words

    @property
    def words(self) -> range:
        """Every word of a format of at most 8 bits; none of a wider one."""
        return range(1 << self.format.width if self.format.width <= _LISTED else 0)

    def _facts(self) -> dict[str, Any]:
        fmt = self.format
        return {
            "format": fmt.name,
            "bits": fmt.width,
            **table_of_format(fmt),
            "landmarks": {name: shown(fmt, word) for name, word in self.landmarks.items()},
            "values": [shown(fmt, word) for word in self.words],
        }

    @property
    def _title(self) -> str:
        return f"of {self.format.name}"

    def _lines(self) -> Iterator[str]:
        fmt = self.format
        yield f"{fmt.name}: {counted(fmt.width, 'bit')}"
        yield from (f"  {name} = {value}" for name, value in table_of_format(fmt).items())
        for name, word in self.landmarks.items():
            yield f"  {name + ':':<20}{self._value(word)}"
        if self.words:
            yield "every word:"
            yield from (f"  {self._value(word)}" for word in self.words)

    def _value(self, word: int) -> str:
        texts = shown(self.format, word)
        same = texts["value"] == texts["decimal"]
        return f"{texts['word']}  {texts['value']}" + ("" if same else f"  {texts['decimal']}")


@ieee_floats
def describe_format(name: str, unit: UnitLike | None = None) -> FormatValues:
    """A format's fields, extreme numbers and, if it has at most 8 bits, all its values.

    Args:
        name: A format's name or alias.
        unit: A unit, or a model file, that has a format of its own of that name.

    Raises :class:`tcsmt.TcsmtError` for an unknown name.

    >>> import tcsmt
    >>> e2m1 = tcsmt.describe_format("e2m1")
    >>> [str(e2m1.format.value(word)) for word in e2m1.words][:8]
    ['0', '1/2', '1', '3/2', '2', '3', '4', '6']
    """
    if unit is None:
        return FormatValues(format_named(name))
    model = side_of(unit).row.model
    values = (getattr(model.parameters, field.name) for field in fields(model.table()))
    own = {fmt.name: fmt for fmt in values if isinstance(fmt, AnyFormat)}
    return FormatValues(format_named(name, own))
