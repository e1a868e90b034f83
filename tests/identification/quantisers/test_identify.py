"""Which rows give a file: every row finds its own, in the forms in which libraries keep them."""

from __future__ import annotations

from dataclasses import replace

import ml_dtypes
import numpy as np
import pytest

from tcsmt.identification.quantisers.identify import QuantisedFile, element_formats, identify_quantiser
from tcsmt.programs.quantisation.blocks import quantise_blocks
from tcsmt.programs.quantisation.quantiser import quantisers
from tcsmt.support.errors import TcsmtError

RNG = np.random.default_rng(1)
NUMBERS = np.ldexp(RNG.standard_normal((24, 32)), RNG.integers(-6, 6, (24, 1))).astype(np.float32)


def file_of(name: str, numbers: np.ndarray) -> QuantisedFile:
    row = quantisers()[name]
    given = {name: np.full(len(numbers), np.abs(numbers.astype(np.float32)).max()) for name in row.given}
    blocks = quantise_blocks(row, numbers, given, nearest=True)
    assert blocks.codes is not None
    scales = blocks.scales
    if scales.dtype == np.uint16:
        scales = scales.astype(np.uint32) << 16
    return QuantisedFile(
        numbers=numbers, codes=blocks.codes, scales=scales, block=(1, 32), shape=numbers.shape,
        formats=(row.formats[0],), factor=None if "S" not in row.given else float(given["S"][0]),
    )  # fmt: skip


@pytest.mark.parametrize(
    "name", ["te/nvfp4", "torchao/float8.rowwise", "deepgemm/fp8.ue8m0", "vllm/int8.static"]
)
@pytest.mark.parametrize("dtype", [np.float32, ml_dtypes.bfloat16])
def test_a_row_finds_its_own(name: str, dtype: type) -> None:
    """What is said of the others is so: the first element that excludes them is what the file has there."""
    file = file_of(name, NUMBERS.astype(dtype))
    found = identify_quantiser(file)
    assert name in [one.quantiser.name for one in found.found]
    assert found.excluded
    for one in found.excluded:
        assert one.first is not None and one.first.given != one.first.wanted
        assert one.scales or one.elements
        block, number = one.first.place[0], one.first.place[1]
        words = file.scales[block] if one.first.what == "scale" else file.codes[block, number]
        assert words == one.first.given


def test_reciprocals_and_bytes() -> None:
    """Reciprocals of a factor that a library keeps; powers of two in a byte."""
    file = file_of("torchao/float8.axiswise", NUMBERS)
    turned = replace(file, scales=(1 / file.scales.view(np.float32)).view(np.uint32))
    for one, inverted in ((file, False), (turned, True)):
        (row,) = (x for x in identify_quantiser(one).found if x.quantiser.name == "torchao/float8.axiswise")
        assert row.inverted is inverted
    powers = file_of("deepgemm/fp8.ue8m0", NUMBERS)
    bytes_ = replace(powers, scales=(powers.scales >> 23).astype(np.uint8))
    assert "deepgemm/fp8.ue8m0" in [one.quantiser.name for one in identify_quantiser(bytes_).found]


def test_what_is_not_tried() -> None:
    """Approximations, unless they are to be the nearest numbers, and rows that need the caller's factor."""
    file = file_of("deepgemm/fp8", NUMBERS)
    untried = dict(identify_quantiser(file).untried)
    assert "div.full.f32" in untried["deepseek-v3/act_quant"]
    assert "factor" in untried["vllm/scaled_fp8_quant.static"]
    near = identify_quantiser(file, nearest=True)
    assert "deepseek-v3/act_quant" not in dict(near.untried)
    with pytest.raises(TcsmtError, match="no quantiser gives words of e2m1"):
        element_formats(file.codes, ("e2m1",))
    assert {"e4m3", "s8"} <= set(element_formats(file.codes))
