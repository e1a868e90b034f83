"""The largest error of an algorithm, found and proved, and what it prints."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import pytest

import tcsmt
from tcsmt import Domain, accuracy
from tcsmt.analysis.search.bound import Bound, Extreme
from tcsmt.interface.api.error_bound import AccuracyBound
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.prove.statements.verdict import Equivalent


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
        "fp8", "h100", k=1, domain=domain, search=0.2, options=tcsmt.SolvingOptions(steps=100_000)
    )
    assert fp8.row.instruction == "wgmma.m64nNk32.f32.e4m3.e4m3"
    assert "hopper/mma.m16n8k32.f32.e4m3.e4m3.f32" in fp8.others and "compute otherwise" in str(fp8)


@pytest.mark.slow
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


def test_the_answer_comes_first_and_the_inputs_briefly() -> None:
    """Errors as plain numbers; all inputs of the witness only where all are asked for."""
    inputs = {f"a{n}": 0x3F800000 + n for n in range(40)} | {"b0": 0x3F800000}
    error = Extreme(inputs, 0x3F800000, Fraction(3, 2), Fraction(1, 2), Fraction(5), Fraction(7))
    proof = Equivalent(stage="this; that", scripts=(), solver="by hand", version="", seconds=0.0)
    found = Bound(error, error, Fraction(6), None, proof, {}, "", 0.0)
    shown = AccuracyBound("single-f16", row_named("volta"), 40, Domain(), found)
    assert shown.found_error == 5 * 2.0**-24 and shown.proved_error == 6 * 2.0**-24
    brief, full = str(shown).splitlines(), shown.text(full=True).splitlines()
    assert brief[1].startswith("the largest relative error is at least 5·2^-24 (found) and at most 6·2^-24")
    assert brief[1] == full[1]
    assert len([line for line in brief if "0x3f8" in line]) == 8
    assert "  and 37 more (--full shows all)" in brief
    assert len([line for line in full if "0x3f8" in line]) == 82
    assert "  that" in full and "  that" not in brief
    infinite = replace(error, error=None, relative=None, ulps=None)
    nothing_proved = replace(shown, found=replace(found, relative=infinite, proof=None, proved=None))
    assert nothing_proved.found_error == math.inf and nothing_proved.proved_error is None
    assert replace(shown, found=replace(found, relative=None)).found_error == 0.0
