"""Quantisers of the catalogue on arrays: blocks of numbers, and matrices that are cut into blocks."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tcsmt.matrix_units.arithmetic.conversion import UNKNOWN
from tcsmt.matrix_units.arithmetic.formats import FORMATS, Format, IntegerFormat, float_format
from tcsmt.matrix_units.arithmetic.words import dtype_of, unsigned
from tcsmt.programs.quantisation.quantiser import BlockProgram, Quantiser
from tcsmt.programs.steps.on_arrays import ArrayRules, no_chain
from tcsmt.programs.steps.program import read_values
from tcsmt.support.errors import InternalError, TcsmtError
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


@dataclass(frozen=True)
class QuantisedByRow:
    """A matrix as a row of the catalogue leaves it.

    values: elements, of their format's dtype. scales: (blocks of rows, blocks along K), of theirs. whole: the
    factor of the tensor, if any. numbers: what the elements stand for, binary64.
    """

    values: Array
    scales: Array
    whole: np.float32 | None
    numbers: Array


def quantise_matrix(quantiser: Quantiser, matrix: Array, *, nearest: bool = False) -> QuantisedByRow:
    """Return what a row makes of a matrix (M, K), in blocks of its usual size; zeros fill up the last ones.

    Raises :class:`.TcsmtError` for rows that need a factor, and rows without elements.
    """
    if "S" in quantiser.given or "q" not in quantiser.outputs:
        lacks = "takes a factor of its caller's" if "S" in quantiser.given else "gives scales alone"
        raise TcsmtError(f"{quantiser.name} {lacks}: it quantises no matrix by itself")
    rows, columns = matrix.shape
    high, long = (size or whole for size, whole in zip(quantiser.blocks[0], (rows, columns), strict=True))
    down, across = -(-rows // high), -(-columns // long)
    padded = np.pad(matrix, ((0, down * high - rows), (0, across * long - columns)))
    blocks = padded.reshape(down, high, across, long).swapaxes(1, 2).reshape(-1, high * long)
    top = np.full(len(blocks), np.abs(matrix.astype(np.float32)).max(initial=0.0), np.float32)
    found = quantise_blocks(quantiser, blocks, dict.fromkeys(quantiser.given, top), nearest=nearest)
    element, words = quantiser.element, np.ascontiguousarray(not_none(found.codes))
    dtype = dtype_of(element)
    if isinstance(element, IntegerFormat):
        sign, dtype = np.uint8(1 << (element.bits - 1)), np.dtype(np.int8)
        words = (words ^ sign) - sign
    scale = quantiser.block_program(blocks.shape[1], format_of(matrix.dtype), nearest=nearest).values["s"]
    scales = np.ascontiguousarray(found.scales).view(dtype_of(scale.format))
    values = words.view(dtype)
    names: dict[str, Any] = {"q": values.astype(np.float64), "s": scales.astype(np.float64)[:, None]}
    names |= {} if found.zeros is None else {"z": found.zeros.astype(np.float64)[:, None]}
    whole = None if found.whole is None else _floats(found.whole)[0]
    names |= {} if whole is None else {"g": np.float64(whole)}
    with np.errstate(all="ignore"):
        numbers = _computed(ast.parse(quantiser.numbers or _USUAL[quantiser.keeps], mode="eval").body, names)

    def joined(array: Array) -> Array:
        parts = array.reshape(down, across, high, long).swapaxes(1, 2)
        return np.ascontiguousarray(parts.reshape(down * high, across * long)[:rows, :columns])

    return QuantisedByRow(joined(values), scales.reshape(down, across), whole, joined(numbers))


#: What elements stand for, by what is kept.
_USUAL = {"scale": "q * s", "factor": "q / s"}
_OPERATIONS: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Mult: np.multiply, ast.Div: np.divide, ast.Sub: np.subtract,
}  # fmt: skip


def _computed(node: ast.expr, names: Mapping[str, Any]) -> Any:
    """Return the value of products, quotients and differences of names."""
    match node:
        case ast.BinOp(left=left, op=sign, right=right):
            return _OPERATIONS[type(sign)](_computed(left, names), _computed(right, names))
        case ast.Constant(value=int() as number):
            return number
        case ast.Name(id=name):
            return names[name]
    raise InternalError(f"{ast.unparse(node)}: no rule for it")


def _floats(words: Array) -> Array:
    """Return the numbers of words of binary32 or bfloat16, in binary32."""
    return (
        words.view(np.float32) if words.dtype == np.uint32 else _wide(words, FORMATS["bf16"]).view(np.float32)
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
