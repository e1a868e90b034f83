"""Cases of which the default run takes a few, and ``pytest -m long`` all others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

__all__ = ["mostly_long"]


def mostly_long(cases: Iterable[Any], quick: Iterable[Any]) -> list[Any]:
    """The cases as parameters, in their order: those that are not ``quick`` are long."""
    cases, few = list(cases), list(quick)
    assert all(case in cases for case in few), f"{few} are not all among the cases"
    return [case if case in few else pytest.param(case, marks=pytest.mark.long) for case in cases]
