"""``tcsmt identify --probe``: what the classical probes find, as data and as text."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from tcsmt.face.cli import main
from tcsmt.face.cli.classical import probed
from tcsmt.identification.units.classical import black_box
from tcsmt.matrix_units.catalogue import row_named
from tests.support.sampling import mostly_long

KINDS = ["tree", "precision", "rounding", "special", "features", "all"]


@pytest.mark.parametrize("kind", mostly_long(KINDS, ["tree", "all"]))
def test_classical_probes(kind: str) -> None:
    result = CliRunner().invoke(main, ["identify", "--box", "volta", "--probe", kind])
    assert result.exit_code == 0
    assert result.output.splitlines()[-1].endswith(" questions")
    expected = {
        "tree": "└─ c p0..p3",
        "features": "n_fma: 4",
        "precision": "product: 23",
        "rounding": "product: RZ",
    }
    for name, text in expected.items():
        if kind in (name, "all"):
            assert text in result.output


def test_each_kind_finds_its_own_part() -> None:
    box = black_box(row_named("volta/mma.m8n8k4.f32.f16.f16.f32").model)
    assert probed(box, "precision").keys() == {"precision"}
    assert probed(box, "rounding")["rounding"]["product"] == "RZ"
    assert probed(box, "tree").keys() == {"summation_tree", "picture"}


def test_probes_out_of_reach_are_reported_without_an_error() -> None:
    """Formats without the range that the probes need."""
    box = black_box(row_named("rtx-blackwell/mma.m16n8k32.kind::f8f6f4.f16.e2m1.e2m1.f16").model)
    assert probed(box, "tree")["summation_tree"].startswith("out of reach: ")
    assert probed(box, "features")["features"].startswith("out of reach: ")
