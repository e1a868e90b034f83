"""Pictures as SVG: well-formed, and no label overlaps another or leaves the picture."""

from __future__ import annotations

import base64
import gzip
import json
import random
import re
import xml.etree.ElementTree as ET
from collections.abc import Mapping

import pytest

from tcsmt.interface.pictures.build import draw
from tcsmt.interface.pictures.drawing import Sheet, compared
from tcsmt.interface.pictures.svg import as_svg
from tcsmt.matrix_units.arithmetic.formats import float_format
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import FusedDotAdd, Model
from tests.support.drawn import VOLTA, picture, words
from tests.support.labels import faults
from tests.support.results import result_text

UNIT = row_named("volta/mma.m8n8k4.f32.f16.f16.f32").model


HOPPER_FP8 = row_named("hopper/wgmma.m64nNk32.f32.e4m3.e4m3").model


MXFP4 = row_named("blackwell/tcgen05.mMnNk64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3").model


CDNA3 = row_named("cdna3/v_mfma_f32_32x32x16_fp8_bf8").model


def drawn_words(model: Model, seed: int, used: float) -> Mapping[str, int]:
    """Random words, about so many of them; the others are zero."""
    chosen = random.Random(seed)
    return {
        name: chosen.getrandbits(fmt.width) >> fmt.ignored_low_bits << fmt.ignored_low_bits
        if chosen.random() < used
        else 0
        for name, fmt in ((name, float_format(fmt)) for name, fmt in model.input_formats.items())
    }


def narrow(fraction_bits: int) -> Model:
    """Volta's unit with another alignment grid: labels of few columns."""
    assert isinstance(UNIT, FusedDotAdd)
    return UNIT.replace(fraction_bits=fraction_bits)


@pytest.mark.parametrize("used", [0.2, 1])
@pytest.mark.parametrize(
    "model", [UNIT, HOPPER_FP8, MXFP4, CDNA3, narrow(2), narrow(5), narrow(60)],
    ids=["volta", "hopper-fp8", "mxfp4", "cdna3", "2-bits", "5-bits", "60-bits"],
)  # fmt: skip
def test_labels_of_drawings(model: Model, used: float) -> None:
    for seed in range(3):
        assert faults(as_svg(Sheet((draw("model", model, drawn_words(model, seed, used)),)))) == []


@pytest.mark.slow
@pytest.mark.parametrize("step", [19, pytest.param(1, marks=pytest.mark.long)])
def test_labels_of_drawings_of_the_stored_atlas(step: int) -> None:
    page = result_text("comparisons/atlas.html")
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


@pytest.mark.parametrize(
    "texts",
    [
        {"a0": "1.5", "b0": "24576", "c": "-0.111328125"}, {"a0": "inf", "b0": "1"}, {},
        {"a0": "1", "b0": "0x0001", "a1": "65504", "b1": "65504", "c": "0x1p-149"},
    ],
)  # fmt: skip
def test_well_formed(texts: dict[str, str]) -> None:
    """Inside the picture, and without external resources."""
    one, two = (row_named(name).model for name in (VOLTA, f"{VOLTA}@valpey"))
    left, right = (
        draw(name, model, words(one, **texts)) for name, model in (("<one>", one), ("two & co", two))
    )
    svg = as_svg(compared(left, right, "largest exponent", "they differ"))
    root = ET.fromstring(svg)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert "http" not in svg.replace("http://www.w3.org/2000/svg", "")
    width = float(root.attrib["width"])
    assert all(0 <= float(e.attrib["x"]) < width for e in root.iter() if "x" in e.attrib)
    shown = "".join(root.itertext())
    assert "<one>" in shown and "two & co" in shown and "they differ" in shown
    assert faults(svg) == []


def test_each_bit_says_what_becomes_of_it() -> None:
    svg = as_svg(Sheet((picture(UNIT, a0="1.5", b0="1.5", c="0x1.fffffep-4"),)))
    assert "<title>c: bit 1 of weight 2^-24, cut off by alignment</title>" in svg
