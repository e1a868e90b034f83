"""The units that are surveyed: the lists of ``surveyed.toml``, by the names that are used for them."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

_DATA = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def _table(name: str) -> tuple[tuple[Any, ...], ...]:
    return tuple(tuple(line) for line in _DATA[name])


# --- algorithms ------------------------------------------------------------------------------------

AS_PUBLISHED: str = _DATA["as_published"]
FP16_UNITS: tuple[str, ...] = tuple(_DATA["fp16_units"])
DISTINCT_FP16_UNITS: tuple[str, ...] = tuple(_DATA["distinct_fp16_units"])
RESIDUAL_UNITS: tuple[str, ...] = tuple(_DATA["residual_units"])
TF32_UNITS: tuple[str, ...] = tuple(_DATA["tf32_units"])
ANY_UNIT: str = _DATA["any_unit"]
#: Algorithm, unit.
BOUNDED = _table("bounded")
#: Units by algorithm.
BOUNDED_ALONE: dict[str, tuple[str, ...]] = {
    name: tuple(units) for name, units in _DATA["bounded_alone"].items()
}
SURVEYED: tuple[str, ...] = tuple(_DATA["surveyed"])
SWEPT: tuple[str, ...] = tuple(_DATA["swept"])

# --- theorems --------------------------------------------------------------------------------------

#: Unit by number of products.
SUMS: dict[int, str] = dict(_table("sums"))
SAME_UNITS = _table("same_units")
MMA_AND_WGMMA = _table("mma_and_wgmma")
FP8_ON_FP16 = _table("fp8_on_fp16")
HALF_OF_THE_LANES = _table("half_of_the_lanes")
#: Unit, exponent, whether it is the same unit with that.
ZERO_EXPONENTS = _table("zero_exponents")
TRUNCATED: tuple[str, ...] = tuple(_DATA["truncated"])
NEIGHBOURED: tuple[str, ...] = tuple(_DATA["neighboured"])
#: Two units, whether they are the same.
PAPERS = _table("papers")
