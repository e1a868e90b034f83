"""Quantisers of the catalogue on arrays: blocks of numbers, and matrices that are cut into blocks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tcsmt.matrix_units.arithmetic.conversion import UNKNOWN
from tcsmt.matrix_units.arithmetic.formats import FORMATS, Format, IntegerFormat, float_format
from tcsmt.matrix_units.arithmetic.words import dtype_of, unsigned
from tcsmt.programs.quantisation.quantiser import BlockProgram, Quantiser
from tcsmt.programs.steps.on_arrays import ArrayRules, no_chain
from tcsmt.programs.steps.program import read_values
from tcsmt.support.invariants import not_none

Array = np.ndarray[Any, np.dtype[Any]]
_F32 = FORMATS["f32"]


def format_of(dtype: np.dtype[Any]) -> Format:
    """Return the format of numbers that are quantised: binary32, bfloat16 or binary16."""
    return next(FORMATS[name] for name in ("f32", "bf16", "f16") if dtype == dtype_of(FORMATS[name]))


@dataclass(frozen=True)
class QuantisedBlocks:
    """Blocks as a quantiser leaves them, all as words.

    codes: (blocks, numbers), integers in two's complement; None where a row gives scales alone. scales:
    (blocks,). whole: the factor of the tensor, binary32; zeros: zero points, numbers; None: there are none.
    """

    codes: Array | None
    scales: Array
    whole: Array | None = None
    zeros: Array | None = None


def quantise_blocks(
    quantiser: Quantiser, numbers: Array, given: Mapping[str, Array] | None = None, *, nearest: bool = False
) -> QuantisedBlocks:
    """Return what a quantiser makes of blocks.

    numbers: (blocks, numbers of a block), of binary32, bfloat16 or binary16. given: binary32 for each block,
    by the names of :data:`.GIVEN`. nearest: see :meth:`.Quantiser.block_program`.
    """
    fmt = format_of(numbers.dtype)
    block = quantiser.block_program(numbers.shape[1], fmt, nearest=nearest)
    words = np.ascontiguousarray(numbers).view(unsigned(fmt))
    inputs = {"A": words} | {name: np.asarray(x).view(np.uint32) for name, x in (given or {}).items()}
    rules = ArrayRules((len(words),), no_chain, UNKNOWN)
    largest = {block.largest.number: _largest(words, fmt, block, quantiser.nan)}
    wanted = [x.number for x in block.values.values()]
    found = dict(
        zip(block.values, read_values(block.program, rules, inputs, wanted, given=largest), strict=True)
    )
    codes, element = found.get("q"), quantiser.element
    if codes is not None and isinstance(element, IntegerFormat):
        codes = codes.view(np.float32).astype(np.int8).view(np.uint8) & np.uint8((1 << element.bits) - 1)
    zeros = found.get("z")
    return QuantisedBlocks(
        codes, found["s"], found.get("g"), None if zeros is None else zeros.view(np.float32)
    )


def _largest(words: Array, fmt: Format, block: BlockProgram, nan: str) -> Array:
    """Return the largest magnitudes, as the step for them gives them: by the order of words without signs."""
    target = float_format(block.largest.format)
    size = words & words.dtype.type((1 << fmt.sign_bit) - 1)
    if nan == "ignored":
        number = size <= size.dtype.type(fmt.infinity_word)
        size = np.where(number | ~number.any(1, keepdims=True), size, 0)
    most = size.max(1)
    most = np.where(most > fmt.infinity_word, not_none(fmt.nan_word), most).astype(words.dtype)
    return most if target == fmt else most.astype(np.uint32) << 16 if fmt.name == "bf16" else _wide(most, fmt)


def _wide(words: Array, fmt: Format) -> Array:
    return words.view(dtype_of(fmt)).astype(np.float32).view(np.uint32)
