"""Labels of drawings: none overlaps another or leaves the picture."""

from __future__ import annotations

import base64
import gzip
import json
import random
import re
from collections.abc import Mapping
from dataclasses import replace

import pytest

from tcsmt.catalogue import row_named
from tcsmt.models import FusedDotAdd, Model
from tcsmt.pictures.build import draw
from tcsmt.pictures.drawing import Sheet
from tcsmt.pictures.svg import as_svg
from tests.support.labels import faults
from tests.support.paths import ROOT

VOLTA = row_named("volta/mma.m8n8k4.f32.f16.f16.f32").model
HOPPER_FP8 = row_named("hopper/wgmma.m64nNk32.f32.e4m3.e4m3").model
MXFP4 = row_named("blackwell/tcgen05.mMnNk64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3").model
CDNA3 = row_named("cdna3/v_mfma_f32_32x32x16_fp8_bf8").model


def words(model: Model, seed: int, used: float) -> Mapping[str, int]:
    """Random words, about so many of them; the others are zero."""
    chosen = random.Random(seed)
    return {
        name: chosen.getrandbits(fmt.width) >> fmt.ignored_low_bits << fmt.ignored_low_bits
        if chosen.random() < used
        else 0
        for name, fmt in model.input_formats.items()
    }


def narrow(fraction_bits: int) -> Model:
    """Volta's unit with another alignment grid: labels of few columns."""
    assert isinstance(VOLTA, FusedDotAdd)
    return replace(VOLTA, fraction_bits=fraction_bits)


@pytest.mark.parametrize("used", [0.2, 1])
@pytest.mark.parametrize(
    "model", [VOLTA, HOPPER_FP8, MXFP4, CDNA3, narrow(2), narrow(5), narrow(60)],
    ids=["volta", "hopper-fp8", "mxfp4", "cdna3", "2-bits", "5-bits", "60-bits"],
)  # fmt: skip
def test_labels_of_drawings(model: Model, used: float) -> None:
    for seed in range(3):
        assert faults(as_svg(Sheet((draw("model", model, words(model, seed, used)),)))) == []


@pytest.mark.parametrize("step", [5, pytest.param(1, marks=pytest.mark.long)])
def test_labels_of_drawings_of_the_stored_atlas(step: int) -> None:
    page = (ROOT / "results" / "atlas.html").read_text()
    packed = re.search(r'id="details">(.*?)</script>', page, re.DOTALL)
    assert packed is not None
    shown = json.loads(gzip.decompress(base64.b64decode(packed[1])))
    drawings = [cell[cell.index("<svg") :] for cell in shown.values() if "<svg" in cell]
    assert len(drawings) > 200
    assert [fault for drawing in drawings[::step] for fault in faults(drawing)] == []


def test_overlaps_are_seen() -> None:
    head = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 40">'
    apart = '<text x="2" y="12">one</text><text x="2" y="30">two</text>'
    assert faults(f"{head}{apart}</svg>") == []
    assert faults(f'{head}{apart}<text x="10" y="20">three</text></svg>') == [
        "overlap: one | three",
        "overlap: two | three",
    ]
    assert faults(f'{head}<text x="80" y="12">outside</text></svg>') == ["outside: outside"]
