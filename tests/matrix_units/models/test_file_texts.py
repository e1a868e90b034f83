"""Models as text: complete, and with what each parameter means."""

from __future__ import annotations

from dataclasses import fields

import pytest

from tcsmt.matrix_units.arithmetic.formats import FORMATS, INTEGERS, IntegerFormat
from tcsmt.matrix_units.catalogue import rows
from tcsmt.matrix_units.models.file_texts import (
    is_known,
    meanings,
    parameters_toml,
    table_of_format,
    toml_value,
    unmarked,
)
from tcsmt.matrix_units.models.files import KINDS


def test_every_parameter_is_written_below_its_meaning() -> None:
    model = next(iter(rows())).model
    text = parameters_toml(model)
    for one in fields(model.table()):
        assert f"\n{one.name} = " in text
    assert f"# {meanings(type(model))['k']}" in text


@pytest.mark.parametrize("kind", KINDS)
def test_every_parameter_has_a_meaning(kind: str) -> None:
    explained = meanings(KINDS[kind])
    assert all(explained.get(one.name) for one in fields(KINDS[kind].table()) if one.init)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, '"none"'), (True, "true"), (7, "7"), (1 << 13, "0x2000"), ("a", '"a"'), ((1, 2), "[1, 2]"),
        ("two\nlines\n", "'''\ntwo\nlines\n'''"), ("\x7f", '"\\u007f"'),
    ],
)  # fmt: skip
def test_values(value: object, text: str) -> None:
    assert toml_value(value) == text


def test_roles_and_literals_leave_what_they_name() -> None:
    text = "see :func:`.decide` and :mod:`tcsmt.arithmetic.nans` (:data:`~tcsmt.x.NAN`), ``b0`` and `c`"
    assert unmarked(text) == "see decide and tcsmt.arithmetic.nans (NAN), b0 and c"
    assert unmarked(":class:`the bound <tcsmt.Bound>`: 2 : 1, a::b") == "the bound: 2 : 1, a::b"


def test_known_formats() -> None:
    assert all(map(is_known, (*FORMATS.values(), *INTEGERS.values())))
    assert not is_known(IntegerFormat(name="s8", bits=9))
    assert not is_known(IntegerFormat(name="s9", bits=9))


def test_a_table_has_the_fields_of_its_kind_of_format() -> None:
    assert table_of_format(INTEGERS["s8"]) == {"bits": 8, "signed": True, "fraction_bits": 0}
    table = table_of_format(FORMATS["f16"])
    assert (table["exponent_bits"], table["fraction_bits"], table["specials"]) == (5, 10, "ieee")
