"""Formats as plain tables, read back; and tables of what is not a format."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from tcsmt.matrix_units.arithmetic.format_tables import format_of_table
from tcsmt.matrix_units.arithmetic.formats import FORMATS, AnyFormat, Format, IntegerFormat, Specials
from tcsmt.matrix_units.models.file_texts import table_of_format
from tcsmt.support.errors import TcsmtError
from tests.oracles import tiny


@pytest.mark.parametrize("seed", range(40))
def test_formats_read_back(seed: int) -> None:
    rng = Random(seed)
    fmt: AnyFormat = tiny.some_format(rng, signed=rng.random() < 0.8, wide=rng.random() < 0.5)
    if seed % 2:
        fmt = IntegerFormat(
            name="mine", bits=rng.randint(2, 64), signed=rng.random() < 0.5, fraction_bits=rng.randint(0, 64)
        )
    table = table_of_format(fmt)
    assert all(type(value) in (int, bool, str) for value in table.values())
    assert format_of_table(fmt.name, table) == fmt


def test_defaults_are_ieee() -> None:
    """binary16 by another name: bias, special words and sign as IEEE 754 has them."""
    found = format_of_table("mine", {"exponent_bits": 5, "fraction_bits": 10})
    assert isinstance(found, Format)
    assert table_of_format(found) == table_of_format(FORMATS["f16"])


#: For each kind of special words a format that has too few bits for them, and one that has just enough.
FEWEST: dict[Specials, tuple[dict[str, Any], dict[str, Any]]] = {
    Specials.IEEE: ({"exponent_bits": 1, "fraction_bits": 1}, {"exponent_bits": 2, "fraction_bits": 1}),
    Specials.NAN_ONLY: ({"exponent_bits": 1, "fraction_bits": 0}, {"exponent_bits": 2, "fraction_bits": 0}),
    Specials.NEGATIVE_ZERO_NAN: (
        {"exponent_bits": 2, "fraction_bits": 1, "signed": False}, {"exponent_bits": 2, "fraction_bits": 1}
    ),
}  # fmt: skip


@pytest.mark.parametrize("specials", FEWEST, ids=lambda kind: kind.name)
def test_too_few_bits_for_special_words(specials: Specials) -> None:
    few, enough = (
        {**table, "specials": specials.name.lower().replace("_", "-")} for table in FEWEST[specials]
    )
    with pytest.raises(TcsmtError, match="such a format has at least"):
        format_of_table("mine", few)
    fmt = format_of_table("mine", enough)
    assert isinstance(fmt, Format)
    assert fmt.nan_word is not None
    assert fmt.is_nan(fmt.nan_word)
    assert fmt.largest_finite > 0
