"""The largest error of an algorithm, found and proved, and what it prints."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

import tcsmt
from tcsmt import Domain, accuracy
from tcsmt.matrix_units.catalogue import row_named


@pytest.mark.long
def test_a_bound_is_proved() -> None:
    domain = tcsmt.Domain(exponents=(0, 0), bits=(4, 4), c_zero=True)
    bound = tcsmt.accuracy.bound("single-f16", "volta", k=1, domain=domain, search=0.3)
    assert bound.proved is not None and bound.as_json()["unit"] == row_named("volta").name
    assert "(proved)" in str(bound)


@pytest.mark.long
def test_accuracy_of_several_instructions() -> None:
    domain = tcsmt.Domain(exponents=(-2, 2), bits=(11, 11))
    fp8 = tcsmt.accuracy.bound(
        "fp8", "h100", k=1, domain=domain, search=0.2, options=tcsmt.SolvingOptions(timeout=0.2)
    )
    assert fp8.row.instruction == "wgmma.m64nNk32.f32.e4m3.e4m3"
    assert "hopper/mma.m16n8k32.f32.e4m3.e4m3.f32" in fp8.others and "compute otherwise" in str(fp8)


def test_a_bound_that_is_not_proved_says_why() -> None:
    """As a property, in the text, in JSON and in its ``repr``; one that is proved has no reason."""
    domain = Domain(exponents=(0, 0), c_zero=True)
    found = accuracy.bound("ozaki1-e4m3,slices=2,every=128", "h100", k=128, domain=domain, search=0.1)
    assert found.proved is None
    assert found.reason.startswith("a chain of 128 products of integers up to 16 is not proved exact")
    assert found.as_json()["reason"] == found.reason
    assert f"no bound ({found.reason})" in str(found)
    assert repr(found).endswith(f", K = 128: not proved ({found.reason})>")
    shown = replace(found, found=replace(found.found, open=""))
    assert shown.reason == "no way to prove one was found"
    proved = replace(found, found=replace(found.found, proved=Fraction(3, 2)))
    assert proved.reason == "" and repr(proved).endswith(": 1.5>")
