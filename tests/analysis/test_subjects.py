"""A unit, an algorithm and an emulation by their names."""

from __future__ import annotations

import pytest

from tcsmt.analysis.subjects import subject_named
from tcsmt.interface.api.units import side_of
from tcsmt.support.errors import TcsmtError
from tests.support.proofs import shared_proof

INT8 = side_of("turing/mma.m8n8k16.s32.s8.s8.s32").row


@pytest.mark.parametrize(
    ("name", "unit", "formats"),
    [
        ("", "turing/mma.m8n8k16.s32.s8.s8.s32", ["s8", "s8", "s32"]),
        ("markidis", "volta", ["f32", "f32", "f32"]),
        ("ozaki1-int8", "turing/mma.m8n8k16.s32.s8.s8.s32", ["f64", "f64", "f64"]),
    ],
)
def test_by_name(name: str, unit: str, formats: list[str]) -> None:
    row = side_of(unit).row
    subject = subject_named(shared_proof(), name, row)
    assert [fmt.name for fmt in subject.formats] == formats
    assert subject.step == row.model.k


def test_algorithms_that_the_unit_does_not_take_are_refused() -> None:
    with pytest.raises(TcsmtError, match="ozaki1-f16"):
        subject_named(shared_proof(), "ozaki1-f16", INT8)
    with pytest.raises(TcsmtError, match="nothing"):
        subject_named(shared_proof(), "nothing", INT8)
