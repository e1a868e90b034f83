"""``tcsmt.identify_probe``: what the classical probes read, as data and as text."""

from __future__ import annotations

import pytest

import tcsmt
from tcsmt.identification.units.classical import black_box
from tcsmt.interface.api.identify_probe import PROBES, readings
from tcsmt.matrix_units.catalogue import row_named
from tests.support.sampling import mostly_long


@pytest.mark.parametrize("kind", mostly_long([*PROBES], ["tree", "all"]))
def test_classical_probes(kind: str) -> None:
    read = tcsmt.identify_probe("volta", kind)
    lines = str(read).splitlines()
    assert lines[-1] == f"{read.questions} questions"
    assert read.as_json() == {"tcsmt": tcsmt.__version__, **read.readings, "questions": read.questions}
    expected = {
        "tree": "└─ c p0..p3",
        "features": "n_fma: 4",
        "precision": "product: 23",
        "rounding": "product: RZ",
    }
    for name, text in expected.items():
        if kind in (name, "all"):
            assert text in str(read)


def test_each_kind_finds_its_own_part() -> None:
    box = black_box(row_named("volta/mma.m8n8k4.f32.f16.f16.f32").model)
    assert readings(box, "precision").keys() == {"precision"}
    assert readings(box, "rounding")["rounding"]["product"] == "RZ"
    assert readings(box, "tree").keys() == {"summation_tree", "picture"}


def test_probes_out_of_reach_are_reported_without_an_error() -> None:
    """Formats without the range that the probes need."""
    box = black_box(row_named("rtx-blackwell/mma.m16n8k32.kind::f8f6f4.f16.e2m1.e2m1.f16").model)
    assert readings(box, "tree")["summation_tree"].startswith("out of reach: ")
    assert readings(box, "features")["features"].startswith("out of reach: ")


def test_other_probes_and_integers_are_refused() -> None:
    with pytest.raises(tcsmt.TcsmtError, match="unknown probe 'trees': did you mean tree"):
        tcsmt.identify_probe("volta", "trees")
    with pytest.raises(tcsmt.TcsmtError, match="a probe supports only fused dot-adds"):
        tcsmt.identify_probe("x86/vpdpbusd")
