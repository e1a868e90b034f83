"""Cases of which the default run takes a few, and ``pytest -m long`` all others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

__all__ = ["mostly_long", "one_in"]


def mostly_long(cases: Iterable[Any], quick: Iterable[Any]) -> list[Any]:
    """The cases as parameters, in their order: those that are not ``quick`` are long."""
    cases, few = list(cases), list(quick)
    assert all(case in cases for case in few), f"{few} are not all among the cases"
    return [case if case in few else pytest.param(case, marks=pytest.mark.long) for case in cases]


def one_in(step: int, cases: Iterable[Any]) -> list[Any]:
    """The cases as parameters, in their order: all but every ``step``-th one are long."""
    long = pytest.mark.long
    return [pytest.param(case, marks=long if place % step else ()) for place, case in enumerate(cases)]
