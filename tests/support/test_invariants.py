"""Invariants raise, with ``python -O`` too."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tcsmt.support.errors import InternalError
from tcsmt.support.invariants import checked_cast, not_none
from tests.support.paths import ROOT


def test_a_value_of_the_type_passes_and_others_raise() -> None:
    assert checked_cast(3, int) == 3
    assert not_none(0) == 0
    with pytest.raises(InternalError, match="expected int, not str"):
        checked_cast("3", int)
    with pytest.raises(InternalError, match="missing"):
        not_none(None)


def test_optimised_python_raises_too() -> None:
    code = "from tcsmt.support.invariants import not_none; not_none(None)"
    done = subprocess.run(
        [sys.executable, "-O", "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "InternalError" in done.stderr
