"""Models as text: complete, and with what each parameter means."""

from __future__ import annotations

from dataclasses import fields

import pytest

from tcsmt.matrix_units.catalogue import rows
from tcsmt.matrix_units.models.file_texts import meanings, parameters_toml, toml_value, unmarked
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
