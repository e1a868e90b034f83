"""Rows of quantisers: the deciding inputs of relatives, and terms that give what arrays give."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tcsmt.language.run.exact import evaluate
from tcsmt.language.terms import const
from tcsmt.matrix_units.arithmetic.conversion import UNKNOWN
from tcsmt.programs.quantisation.blocks import quantise_blocks
from tcsmt.programs.quantisation.quantiser import left_out, quantiser_named, quantisers
from tcsmt.programs.quantisation.recipe import RECIPES
from tcsmt.programs.steps.on_terms import TermRules
from tcsmt.programs.steps.program import read_values
from tcsmt.support.errors import TcsmtError


def codes(name: str, *numbers: float, top: float | None = None) -> tuple[int, int]:
    """Return the words of the scale and of the last element of a block."""
    row, block = quantiser_named(name), np.array([numbers], np.float32)
    given = {"T": np.array([top], np.float32)} if top is not None else {}
    found = quantise_blocks(row, block, given, nearest=True)
    return int(found.scales[0]), 0 if found.codes is None else int(found.codes[0, -1])


#: QUANTISERS.md: two relatives, a block, and the words of both: of scales (0) or elements (1).
DECIDING: list[tuple[str, str, tuple[float, ...], int, int, int]] = [
    ("torchao/float8.axiswise", "torchao/Float8Tensor.per-row", (52, 39), 1, 0x7B, 0x7A),
    ("torchao/float8.axiswise", "aiter/per_token:e4m3", (52, 39), 1, 0x7B, 0x7A),
    ("torchao/Float8Tensor.per-row", "deepgemm/fp8", (52, 39), 1, 0x7A, 0x7B),
    ("deepgemm/fp8", "deepgemm/fp8.cuda", (52, 39), 1, 0x7B, 0x7A),
    ("torchao/float8.axiswise", "deepgemm/fp8", (76, 57), 1, 0x7A, 0x7B),
    ("torchao/Float8Tensor.per-row", "torchao/Float8Tensor.per-row.cuda", (84, 57), 1, 0x7A, 0x79),
    ("deepgemm/fp8", "te/blockwise.f32-scales", (11,), 0, 0x3CC92492, 0x3CC92493),
    ("deepgemm/fp8", "deepgemm/fp8.cuda", (3,), 0, 0x3BDB6DB7, 0x3BDB6DB8),
    ("torchao/to_mx.rceil.cvt", "torchao/to_mx.rceil", (7.0000005,), 0, 122, 121),
    ("torchao/to_mx.floor", "torchao/to_mx.rceil", (1.875,), 0, 119, 120),
    ("torchao/to_mx.floor", "torchao/to_mx.even", (1.9375,), 0, 119, 120),
    ("torchao/to_mx.ceil", "torchao/to_mx.rceil", (1.25,), 0, 120, 119),
    ("te/mxfp8.older", "te/mxfp8", (2.0**-119,), 1, 0x00, 0x78),
    ("te/mxfp8", "flashinfer/mxfp8", (2.0**-119,), 1, 0x78, 0x00),
    ("vllm/int8.dynamic", "compressed-tensors/int8", (4, 3), 1, 95, 96),
    ("aiter/per_token", "vllm/scaled_fp8_quant.tensor.fnuz", (224,), 1, 0x7F, 0x7E),
    ("torchao/float8.rowwise", "torchao/float8.rowwise", (7.0000005,), 0, 0x42800000, 0x42800000),
]  # fmt: skip


@pytest.mark.parametrize(("left", "right", "block", "what", "first", "second"), DECIDING)
def test_deciding_inputs(
    left: str, right: str, block: tuple[float, ...], what: int, first: int, second: int
) -> None:
    """The smallest inputs on which relatives differ."""
    assert (codes(left, *block)[what], codes(right, *block)[what]) == (first, second)


@pytest.mark.parametrize(
    ("name", "top", "block", "scale", "element"),
    [
        ("torchao/nvfp4.two-level", 12, (9,), 0x7A, None),
        ("te/nvfp4", 12, (9,), 0x7B, None),
        ("compressed-tensors/nvfp4", 12, (9,), 0x7A, None),
        ("torchao/nvfp4.two-level", 28, (23,), 0x7B, None),
        ("compressed-tensors/nvfp4", 28, (23,), 0x7C, None),
        ("torchao/nvfp4.two-level.cuda", 28, (23,), 0x7C, None),
        # with 2688 / 28 = 96 it is 0x7c, as QUANTISERS.md has it; torch multiplies by the reciprocal of 28
        ("compressed-tensors/nvfp4", 28, (25,), 0x7D, None),
        ("vllm/nvfp4", 28, (25,), 0x7D, None),
        ("torchao/nvfp4.two-level", 8, (7, 2), 0x7C, 4),
        ("te/nvfp4", 8, (7, 2), 0x7C, 3),
        ("te/nvfp4", 18, (15, 9), None, 6),
        ("compressed-tensors/nvfp4", 18, (15, 9), None, 5),
        ("torchao/nvfp4.two-level", 39, (22, 13), None, 6),
        ("torchao/nvfp4.two-level.cuda", 39, (22, 13), None, 5),
        ("torchao/nvfp4.two-level", 2688, (6 * 2.0**-8,), 0x08, 3),
        ("te/nvfp4", 2688, (6 * 2.0**-8,), 0x02, 7),
        ("torchao/nvfp4.two-level", 2688, (6 * 2.0**-11,), 0x08, 0),
        ("te/nvfp4", 2688, (6 * 2.0**-11,), 0x00, 7),
        ("compressed-tensors/nvfp4", 2688, (6 * 2.0**-11,), 0x20, 0),
        ("vllm/nvfp4", 2688, (6 * 2.0**-11,), 0x00, 0),
    ],
)
def test_two_levels(
    name: str, top: float, block: tuple[float, ...], scale: int | None, element: int | None
) -> None:
    """QUANTISERS.md, section 3: the tensor's largest magnitude, a block, and what becomes of it."""
    found = codes(name, *block, top=top)
    assert scale in (None, found[0]) and element in (None, found[1])


@pytest.mark.parametrize("name", {row.formula: name for name, row in quantisers().items()}.values())
def test_terms_give_what_arrays_give(name: str) -> None:
    """On zeros, subnormal numbers, NaNs and infinities, too; NaNs have one word in both."""
    row = replace(quantisers()[name], form=quantisers()[name].formats[-1])
    numbers = [[7.0000005, -0.3], [2.0**-140, -0.0], [np.inf, 1], [np.nan, -2]]
    blocks = np.array(numbers, np.float32)
    tops = np.abs(blocks).max(1)
    found = quantise_blocks(row, blocks, dict.fromkeys(row.given, tops), nearest=True)
    block = row.block_program(2, nearest=True)
    for at, words in enumerate(blocks.view(np.uint32)):
        inputs = {"A": [const(int(word), 32) for word in words]}
        inputs |= {name: const(int(tops.view(np.uint32)[at]), 32) for name in row.given}  # type: ignore[misc]
        wanted = [block.values["s"].number, *([block.values["q"].number] if "q" in block.values else [])]
        scale, *elements = read_values(block.program, TermRules([], UNKNOWN), inputs, wanted)
        assert int(found.scales[at]) == next(iter(evaluate([scale], {})))
        if elements and found.codes is not None and row.element.name[0] != "s":
            assert found.codes[at].tolist() == list(evaluate(elements[0], {}))


def test_names_and_refusals() -> None:
    """Every row has what a row needs; approximations are refused where bits are asked for."""
    assert len(quantisers()) > 70 and "te/delayed-scaling" in left_out()
    assert {row.recipe for row in quantisers().values()} - {""} <= set(RECIPES)
    for row in quantisers().values():
        assert row.source and row.outputs[-1] in "sgz" and set(row.given) <= {"T", "S"}
    assert quantiser_named("te/mxfp8:e5m2").element.name == "e5m2"
    for name, told in (("te/mxfp9", "did you mean te/mxfp8"), ("te/mxfp8:e2m1", "format of te/mxfp8")):
        with pytest.raises(TcsmtError, match=told):
            quantiser_named(name)
    with pytest.raises(TcsmtError, match=r"deepseek-v3/act_quant: div\.full\.f32"):
        quantiser_named("deepseek-v3/act_quant").block_program(2)
