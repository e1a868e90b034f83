"""Rows on the 2,000 blocks that the libraries' own code quantised, where these are beside the checkout."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tcsmt.matrix_units.arithmetic.formats import Format
from tcsmt.programs.quantisation.blocks import QuantisedBlocks, quantise_blocks, quantise_matrix
from tcsmt.programs.quantisation.quantise import quantise
from tcsmt.programs.quantisation.quantiser import quantisers
from tcsmt.programs.quantisation.recipe import RECIPES, recipe_named
from tcsmt.support.errors import TcsmtError

Array = np.ndarray[Any, np.dtype[Any]]
ORACLE = Path(__file__).parents[4] / "shared" / "units3" / "quantisers"

_TO_MX = [
    (f"torchao.to_mx.{form}.{mode.upper()}", f"torchao/to_mx.{mode}", form)
    for mode in ("floor", "ceil", "even", "rceil")
    for form in ("e4m3", "e5m2", "e2m1", "e2m3", "e3m2")
    if mode in ("floor", "rceil") or form in ("e4m3", "e2m1")
]
_BOTH = [
    (f"{prefix}.{dtype}", row, form)
    for prefix, row, form in (
        ("compressed_tensors.fp8_token", "compressed-tensors/fp8", "e4m3"),
        ("compressed_tensors.fp8_group32", "compressed-tensors/fp8", "e4m3"),
        ("compressed_tensors.int8_token", "compressed-tensors/int8", "s8"),
        ("compressed_tensors.int4_group32", "compressed-tensors/int4", "s4"),
        ("compressed_tensors.int4_group32_asym", "compressed-tensors/int4.asymmetric", "s4"),
        ("compressed_tensors.mxfp4", "compressed-tensors/mxfp4", "e2m1"),
        ("compressed_tensors.mxfp8", "compressed-tensors/mxfp8", "e4m3"),
        ("compressed_tensors.nvfp4.8rows", "compressed-tensors/nvfp4", "e2m1"),
        ("transformerengine.reference.nvfp4.1x16.8rows", "te/nvfp4", "e2m1"),
        ("torchao.Float8Tensor.PerRow", "torchao/Float8Tensor.per-row", "e4m3"),
    )
    for dtype in ("f32", "bf16")
]
_DEEPGEMM = [
    (f"deepgemm.per_token_cast_to_fp8.{kind}.gran32{dtype}", f"deepgemm/fp8{end}", "e4m3")
    for kind, end in (("f32", ""), ("ue8m0", ".ue8m0"))
    for dtype in ("", ".bf16")
]
#: Of the oracle: the name of a result, the row, and the format of its elements.
RAN = [
    *_TO_MX, *_BOTH, *_DEEPGEMM,
    ("torchao.float8.tensorwise.8rows", "torchao/float8.tensorwise", "e4m3"),
    ("torchao.float8.rowwise.plain", "torchao/float8.axiswise", "e4m3"),
    ("torchao.float8.rowwise.pow2", "torchao/float8.rowwise", "e4m3"),
    ("torchao.torch_blockwise_scale_act_quant_lhs.1x32", "torchao/blockwise.reference", "e4m3"),
    ("transformerengine.reference.blockwise_1d.pow2.tile32.f32", "te/blockwise", "e4m3"),
    ("transformerengine.reference.blockwise_1d.f32.tile32.f32", "te/blockwise.f32-scales", "e4m3"),
    ("deepgemm.per_token_cast_to_fp4.f32.gran32", "deepgemm/fp4", "e2m1"),
    ("deepgemm.per_token_cast_to_fp4.ue8m0.gran32", "deepgemm/fp4.ue8m0", "e2m1"),
    ("deepgemm.per_block_cast_to_fp8.f32.gran8.rows_of_64", "deepgemm/fp8", "e4m3"),
    ("deepgemm.per_block_cast_to_fp8.ue8m0.gran8.rows_of_64", "deepgemm/fp8.ue8m0", "e4m3"),
    ("tilekernels.torch_cast.e4m3.f32.1x32", "tilekernels/cast.e4m3", "e4m3"),
    ("tilekernels.torch_cast.e4m3.pow2.1x32", "tilekernels/cast.e4m3.round_sf", "e4m3"),
    ("tilekernels.torch_cast.e2m1.f32.1x32", "tilekernels/cast.e2m1", "e2m1"),
    ("tilekernels.torch_cast.e2m1.pow2.1x32", "tilekernels/cast.e2m1.round_sf", "e2m1"),
    *((f"microxcaling.fp{bits}_{form}.{way}", f"microxcaling/{way}", form) for bits, form, way in (
        (4, "e2m1", "even"), (4, "e2m1", "nearest"), (6, "e2m3", "even"), (6, "e3m2", "even"),
        (8, "e4m3", "even"), (8, "e4m3", "nearest"), (8, "e5m2", "even"))),
    ("quark.even_round.fp4", "quark/even_round", "e2m1"),
    ("quark.even_round.fp6_e2m3", "quark/even_round", "e2m3"),
    ("quark.even_round.fp8_e4m3", "quark/even_round", "e4m3"),
    ("torchao.nvfp4_quantize.two_level.8rows", "torchao/nvfp4.two-level", "e2m1"),
    ("torchao.nvfp4_quantize.one_level", "torchao/nvfp4.one-level", "e2m1"),
]  # fmt: skip


@cache
def oracle() -> tuple[Any, Any, Any]:
    if not (ORACLE / "results.npz").exists():
        pytest.skip(f"the results of the libraries' own code are not there: {ORACLE}")
    index = json.loads((ORACLE / "index.json").read_text())
    return np.load(ORACLE / "inputs.npz"), np.load(ORACLE / "results.npz"), index


def given_numbers(bf16: bool) -> Array:
    words = oracle()[0]["bf16" if bf16 else "f32"]
    return np.asarray(words.view(ml_dtypes.bfloat16 if bf16 else np.float32))


def result(name: str, what: str) -> Array | None:
    """Return one of the arrays of a result, E2M1 one code in a byte."""
    entry = oracle()[2][name].get(what)
    if entry is None:
        return None
    array = np.asarray(oracle()[1][entry["array"]])
    if entry.get("encoding", "").startswith("two codes"):
        return np.stack([array & 15, array >> 4], -1).reshape(2000, 32)
    return array


def held(name: str, row: str, form: str) -> tuple[QuantisedBlocks, Array]:
    """Return what a row makes of the blocks of a result, and the numbers."""
    quantiser, numbers = replace(quantisers()[row], form=form), given_numbers(".bf16" in name)
    if "gran8" in name:
        numbers = numbers.reshape(125, 8, 8, 8).swapaxes(1, 2)
    scales = result(name, "scales")
    assert scales is not None
    blocks = numbers.reshape(scales.size, -1)
    wide = np.abs(numbers.reshape(250, -1).astype(np.float32)).max(1)
    given = {"T": np.repeat(wide, len(blocks) // 250)} if "T" in quantiser.given else {}
    return quantise_blocks(quantiser, blocks, given), blocks.astype(np.float32)


def as_f32(words: Array) -> Array:
    """Return the words of scales as binary32."""
    if words.dtype == np.uint8:
        return words.view(ml_dtypes.float8_e8m0fnu).astype(np.float32).view(np.uint32)
    return words.astype(np.uint32) << 16 if words.dtype == np.uint16 else words


def differ(words: Array, others: Array, nan: Array) -> Array:
    """Return where words differ that are not both NaNs."""
    return np.asarray((words != others) & ~(nan[words] & nan[others]))


@pytest.mark.parametrize(("name", "row", "form"), RAN)
def test_the_libraries_own_results(name: str, row: str, form: str) -> None:
    """0 scales and 0 elements differ. Left out: blocks that the library was not given; in TE's NVFP4 tensors
    that are not finite, which it was not given either; what is not a code; and of compressed-tensors' MX
    formats in bfloat16 the blocks with a NaN, whose bits torch's reduction makes as it is vectorised.
    """
    blocks, numbers = held(name, row, form)
    scales, codes, used = (result(name, what) for what in ("scales", "codes", "used"))
    assert scales is not None
    inside: Array = np.ones(len(numbers), bool)
    if used is not None:
        inside = np.unpackbits(used)[:2000].astype(bool)
    if "reference.nvfp4" in name:
        inside = np.repeat(np.isfinite(numbers.reshape(250, -1)).all(1), len(numbers) // 250)
    if name in ("compressed_tensors.mxfp4.bf16", "compressed_tensors.mxfp8.bf16"):
        inside = np.asarray(~np.isnan(numbers).any(1))
    ours, theirs = blocks.scales, scales.reshape(-1)
    if theirs.dtype == np.uint32:
        ours = as_f32(ours)
        wrong = (ours != theirs) & ~(np.isnan(ours.view(np.float32)) & np.isnan(theirs.view(np.float32)))
    else:
        e4m3 = blocks.scales.dtype == np.uint8 and numbers.shape[1] == 16
        wrong = differ(ours, theirs, (np.arange(256) & 127 == 127) & e4m3)
    assert not (wrong & inside).any()
    if (whole := result(name, "whole")) is not None and blocks.whole is not None and "reference" not in name:
        ours = as_f32(blocks.whole)[:: len(numbers) // 250]
        finite = np.isfinite(numbers.reshape(250, -1)).all(1)
        assert (ours == whole)[finite].all()
    if (zeros := result(name, "zero_points")) is not None:
        assert np.array_equal(np.asarray(blocks.zeros), zeros)
    if codes is None:
        return
    assert blocks.codes is not None
    if "gran8" in name:
        codes = codes.reshape(125, 8, 8, 8).swapaxes(1, 2)
    codes = codes.reshape(numbers.shape)
    element = replace(quantisers()[row], form=form).element
    nan = np.zeros(256, bool)
    if isinstance(element, Format):
        nan = np.array([element.is_nan(word) if word >> element.width == 0 else False for word in range(256)])
    else:
        codes = codes & ((1 << element.width) - 1)
    coded = codes >> element.width == 0
    if "microxcaling" in name:
        inside = theirs != 255
    wrong = differ(blocks.codes, np.where(coded, codes, blocks.codes), nan)
    assert not (wrong & inside[:, None]).any()


@pytest.mark.parametrize("row", [row.name for row in quantisers().values() if row.recipe])
def test_recipes_are_the_rows_that_name_them(row: str) -> None:
    """Elements and scales of finite numbers, drawn also next to 7·2^k, in blocks of a row's usual size."""
    quantiser = quantisers()[row]
    rng, size = np.random.default_rng(0), 128
    exponents = rng.integers(-100, 100, (64, 1))
    matrix = np.ldexp(rng.standard_normal((64, size)), exponents).astype(np.float32)
    matrix[::2, 0] = np.ldexp(np.float32(7), exponents[::2, 0]) * np.float32(1 + 2.0**-23)
    recipe = recipe_named(quantiser.recipe)
    found = quantise(matrix, recipe)
    high, long = quantiser.blocks[0]
    blocks = matrix.reshape(-1, matrix.size if not high else long or size)
    given = {"T": np.full(len(blocks), np.abs(matrix).max())} if quantiser.given else {}
    ours = quantise_blocks(quantiser, blocks, given)
    assert ours.codes is not None and found.scales is not None
    assert (ours.codes.reshape(matrix.shape) == found.values.view(np.uint8)).all()
    kept = found.scales.reshape(-1)
    if quantiser.keeps == "factor":
        assert (1 / ours.scales.view(np.float32) == kept).all()
    else:
        assert (ours.scales == np.ascontiguousarray(kept).view(ours.scales.dtype)).all()
    assert RECIPES[quantiser.recipe] is recipe


@pytest.mark.parametrize(
    "name", ["te/nvfp4", "torchao/float8.rowwise", "compressed-tensors/int4", "deepgemm/fp8"]
)
def test_numbers_are_what_elements_stand_for(name: str) -> None:
    """Within half a unit of the elements' format, which is at most a part of the block's largest magnitude;
    blocks are filled up with zeros.
    """
    quantiser = quantisers()[name]
    matrix = np.random.default_rng(2).standard_normal((3, 200)).astype(np.float32)
    found = quantise_matrix(quantiser, matrix)
    assert found.values.shape == found.numbers.shape == matrix.shape
    part = {"e2m1": 1 / 6, "e4m3": 16 / 448, "s4": 1.01 / 15}[quantiser.element.name]
    assert (np.abs(found.numbers - matrix) <= 1.15 * part * np.abs(matrix).max()).all()
    assert np.abs(found.numbers).max() > 0.8 * np.abs(matrix).max()
    assert found.scales.shape == (3, -(-200 // (quantiser.blocks[0][1] or 200)))


def test_rows_that_quantise_no_matrix() -> None:
    """A factor of the caller's is missing, or there are scales alone."""
    matrix = np.ones((1, 32), np.float32)
    for name, told in (("vllm/int8.static", "takes a factor"), ("quark/even_round", "scales alone")):
        with pytest.raises(TcsmtError, match=told):
            quantise_matrix(quantisers()[name], matrix)
