"""The flat parameters of dot products by IEEE operations."""

from __future__ import annotations

import pytest

from tcsmt.matrix_units.models import IeeeDotAdd, IeeeParameters
from tcsmt.support.errors import TcsmtError

F32 = {f"{name}_format": "f32" for name in ("a", "b", "c", "d", "sum")}


def test_a_list_of_lanes_becomes_a_tuple() -> None:
    table = IeeeParameters(**F32, k=2, order=[1, 0])
    assert table.order == (1, 0)


def test_a_unit_has_them_all() -> None:
    unit = IeeeDotAdd.of(**F32, k=4, method="fma", chains=2)
    assert isinstance(unit.parameters, IeeeParameters)
    assert (unit.parameters.method, unit.parameters.chains, unit.parameters.c_first) == ("fma", 2, True)
    assert IeeeDotAdd.of(**vars(unit.parameters)) == unit


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"chains": 2}, "chains = 2: must be 1 when"),
        ({"method": "fma", "n_fma": 2}, "n_fma = 2: must be None when method = fma"),
        ({"method": "fma", "product_format": "f32"}, "product_format = f32: must be None when method = fma"),
        ({"negative_zero": False}, "negative_zero = False: must be True when"),
        ({"tininess": "before"}, "tininess = 'before': must be result when flush_outputs = False"),
        ({"flush_to_positive": True}, "flush_to_positive = True: must be False when"),
    ],
)
def test_what_has_no_effect_is_refused(values: dict[str, object], message: str) -> None:
    with pytest.raises(TcsmtError, match=message):
        IeeeDotAdd.of(**F32 | {"k": 4} | values)


@pytest.mark.parametrize(
    ("method", "qualifier"),
    [("fma", {"c_first": False}), ("pairwise", {"c_first": False}), ("exact", {"product_rounding": "RTZ"})],
)
def test_what_qualifies_nothing_is_dropped(method: str, qualifier: dict[str, object]) -> None:
    """So that a change of the method need not change it, too."""
    plain = IeeeDotAdd.of(**F32, k=4, method=method)
    assert IeeeDotAdd.of(**F32 | {"k": 4, "method": method} | qualifier) == plain
