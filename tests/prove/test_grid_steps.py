"""Certificates of sums on different alignment grids."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tcsmt.arithmetic import ieee
from tcsmt.arithmetic.formats import FORMATS
from tcsmt.catalogue import row_named
from tcsmt.models import FusedDotAdd, Operands
from tcsmt.statements.domain import Domain
from tcsmt.statements.question import Question, Side, difference_of_sides
from tests.support.certificates import certified, flaws


def converted(k: int) -> Question:
    """FP8 against the same numbers as FP16, whose products have another largest exponent."""
    unit = row_named("hopper/mma.m16n8k32.f32.e4m3.e4m3.f32").model
    assert isinstance(unit, FusedDotAdd)
    unit = replace(unit, k=k, n_fma=k, interleave=0, fraction_bits=25, operand_format=None)
    half, x = FORMATS["f16"], unit.trace
    left, right = ([ieee.widen(word, unit.a_format, half) for word in side] for side in (x.a, x.b))
    wide = replace(unit, a_format=half, b_format=half)
    trace = replace(wide.apply(Operands(left, right, x.c)), operands=x.operands)
    sides = (Side("FP8", unit, x), Side("FP16", wide, trace))
    return difference_of_sides("FP8 on FP16", sides, unit.input_formats, Domain(finite=False))


@pytest.mark.long
def test_a_sum_of_one_term(tmp_path: Path) -> None:
    """Its word is the term's, extended, so that the room for a shift is part of the term."""
    pytest.importorskip("pysolvers", reason="the extra `certificates` is not installed")
    found = certified(tmp_path / "c", converted(1)).certified
    assert found is not None
    assert found.path is not None, found.why
    assert flaws(tmp_path / "c") == [""]


@pytest.mark.long
def test_a_certificate_of_two_grids(tmp_path: Path) -> None:
    """By cases of how far they are apart; without one of the cases it is none."""
    pytest.importorskip("pysolvers", reason="the extra `certificates` is not installed")
    found = certified(tmp_path / "c", converted(2)).certified
    assert found is not None
    assert found.path is not None, found.why
    assert flaws(tmp_path / "c") == [""]
    record = json.loads(found.path.read_text())
    outer = record["proof"][0]["proof"][-1]["otherwise"][-1]
    assert len(outer["cases"]) > 1
    del outer["cases"][0]
    found.path.write_text(json.dumps(record))
    assert flaws(tmp_path / "c") != [""]
