"""Whether a format's name says what it is; tables are read back in ``test_format_tables``."""

from __future__ import annotations

from tcsmt.matrix_units.arithmetic.format_texts import is_known, table_of_format
from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.matrix_units.arithmetic.integer_format import INTEGERS, IntegerFormat


def test_known_formats() -> None:
    assert all(map(is_known, (*FORMATS.values(), *INTEGERS.values())))
    assert not is_known(IntegerFormat(name="s8", bits=9))
    assert not is_known(IntegerFormat(name="s9", bits=9))


def test_a_table_has_the_fields_of_its_kind_of_format() -> None:
    assert table_of_format(INTEGERS["s8"]) == {"bits": 8, "signed": True, "fraction_bits": 0}
    table = table_of_format(FORMATS["f16"])
    assert (table["exponent_bits"], table["fraction_bits"], table["specials"]) == (5, 10, "ieee")
