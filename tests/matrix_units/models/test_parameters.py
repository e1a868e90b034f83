"""Declared parameters: names become objects, other values are refused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from tcsmt.matrix_units.arithmetic.formats import FORMATS, Format
from tcsmt.matrix_units.arithmetic.nans import NanRule
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS, Rounding
from tcsmt.matrix_units.models.parameters import Parameters, choice, lane_count, number
from tcsmt.support.errors import TcsmtError


@dataclass(frozen=True, kw_only=True)
class Table(Parameters):
    """One parameter of each kind."""

    bits: int = number(1, 8)
    spare: int | None = number(0, 3, default=None)
    lanes: int = lane_count(default=4)
    flush: bool = False
    method: str = choice("first", "second")
    fmt: Format | None = None
    rounding: Rounding = ROUNDINGS["RNE"]
    nan: NanRule | None = None


def test_names_become_objects() -> None:
    table = Table(bits=1, method="Second", fmt="fp16", rounding="rtz", nan=0x7E00)
    assert (table.method, table.fmt, table.rounding) == ("second", FORMATS["f16"], ROUNDINGS["RTZ"])
    assert table.nan == NanRule((), 0x7E00)


@pytest.mark.parametrize("value", [1, 8])
def test_ends_of_a_range_are_allowed(value: int) -> None:
    assert Table(bits=value).bits == value


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"bits": 0}, "bits = 0: must be from 1 to 8"),
        ({"bits": 9}, "bits = 9: must be from 1 to 8"),
        ({"bits": 1.5}, "bits = 1.5: must be an integer"),
        ({"bits": None}, "bits = None: must be an integer"),
        ({"bits": 1, "spare": 4}, "spare = 4: must be None or from 0 to 3"),
        ({"bits": 1, "flush": 1}, "flush = 1: must be True or False"),
        ({"bits": 1, "fmt": 3}, "fmt = 3: must be a floating-point format or its name or None"),
        ({"bits": 1, "method": "third"}, "unknown method 'third'"),
    ],
)
def test_other_values_are_refused(values: dict[str, Any], message: str) -> None:
    with pytest.raises(TcsmtError, match=message):
        Table(**values)
