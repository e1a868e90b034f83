"""Wrong kernels as data: what each does, how it is made from a right one, and where such a bug was public."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from tcsmt.analysis.power import wrong_programs as programs
from tcsmt.analysis.power.operands import values_in
from tcsmt.analysis.power.tested import NotApplicable, TestedProduct
from tcsmt.matrix_units.arithmetic.conversion import floats
from tcsmt.matrix_units.arithmetic.formats import Format
from tcsmt.programs.steps.outside import add
from tcsmt.support.toml_files import read_toml

Array = np.ndarray[Any, np.dtype[Any]]
_SEED = 20261129
#: Rows and columns of a tile of the result.
_TILE = 16
#: Of a recipe, another one with the same formats and blocks, and another rule for scales.
_OTHER_RULES = {
    "mxfp8": "mxfp8-up",
    "mxfp8-up": "mxfp8",
    "fp8-block": "fp8-block-torchao",
    "fp8-block-torchao": "fp8-block",
}
#: What is said where nothing public was found.
NO_SOURCE = "no public source"


@dataclass(frozen=True)
class WrongKernel:
    """A wrong kernel.

    name: as options take it. title: what it does. results: what it gives in place of the right results,
    float64, (M, N); raises :class:`NotApplicable`, with the reason. program: the change of the program, where
    it is one.
    """

    name: str
    title: str
    results: Callable[[TestedProduct], Array]
    program: programs.Change | None = None

    @property
    def source(self) -> str:
        """Return where such a bug was public (``sources.toml``)."""
        return str(_sources().get(self.name, NO_SOURCE))


@cache
def _sources() -> dict[str, Any]:
    return read_toml(Path(__file__).parent / "sources.toml")[1]


def _by_program(name: str, title: str, change: programs.Change) -> WrongKernel:
    def results(product: TestedProduct) -> Array:
        return product.run(program=programs.allowed(change, product))

    return WrongKernel(name, title, results, change)


def _zeros(product: TestedProduct) -> Array:
    return np.zeros_like(product.right)


def _unwritten(rows: slice | int, columns: slice | int, product: TestedProduct) -> Array:
    wrong = product.right.copy()
    wrong[rows, columns] = 0.0
    return wrong


def _racing(product: TestedProduct) -> Array:
    """One update of the total in 64 is lost: the second part's."""
    lost = product.run(program=programs.part_missing(product))
    some = np.asarray(np.random.default_rng(_SEED).random(lost.shape) < 1 / 64)
    some[-1, -1] = True
    return np.where(some, lost, product.right)


def _swapped(product: TestedProduct) -> Array:
    m, n, k = product.shape
    if not m == n == k or programs.format_of(product, "A") != programs.format_of(product, "B"):
        raise NotApplicable("B·A has another shape, or other formats")
    return product.run({"A": product.words["B"], "B": product.words["A"]})


def _transposed(side: str, product: TestedProduct) -> Array:
    m, n, k = product.shape
    rows, columns = {"D": (m, n), "A": (m, k), "B": (k, n)}[side]
    if rows != columns:
        raise NotApplicable(f"{side} is not square")
    if side == "D":
        return np.ascontiguousarray(product.right.T)
    return product.run({side: np.ascontiguousarray(product.words[side].T)})


def _shifted_k(product: TestedProduct) -> Array:
    return product.run({"A": np.ascontiguousarray(np.roll(product.words["A"], -1, axis=1))})


def _shifted_rows(product: TestedProduct) -> Array:
    right = product.right
    return np.concatenate([right[1:], right[-1:]])


def _flushed(product: TestedProduct) -> Array:
    """Subnormal operands and results are zeros."""
    given = {}
    for name in "AB":
        fmt = programs.format_of(product, name)
        words = product.words[name]
        given[name] = np.where(_are_subnormal(fmt, floats(fmt, words)), words.dtype.type(0), words)
    wrong = product.run(given)
    return np.where(_are_subnormal(product.format, wrong), 0.0, wrong)


def _are_subnormal(fmt: Format, values: Array) -> Array:
    return np.asarray((values != 0) & (np.abs(values) < 2.0**fmt.e_min))


def _leaking(product: TestedProduct) -> Array:
    """A row with a NaN makes the row below it one of NaNs."""
    wrong = product.right.copy()
    wrong[1:][np.asarray(np.isnan(product.right).any(axis=1))[:-1]] = np.nan
    return wrong


def _unsaturated(product: TestedProduct) -> Array:
    """What lies beyond the end, by its rounding, is an infinity, or a NaN where there is none."""
    wide = product.run(program=programs.unsaturated(product))
    fmt = product.format
    end = float(fmt.largest_finite)
    last = fmt.largest_finite_word
    half = end + (end - float(fmt.value(last - 1))) / 2
    beyond = (np.abs(wide) > half) | ((np.abs(wide) == half) & bool(last & 1))
    if not fmt.has_infinity and fmt.nan_word is None:
        raise NotApplicable(f"{fmt.name} has neither infinities nor NaNs")
    outside = np.copysign(np.inf, wide) if fmt.has_infinity else np.full_like(wide, np.nan)
    return np.where(beyond, outside, product.right)


def _stale(product: TestedProduct) -> Array:
    """What was in the output before is added: an earlier product, with its rows in reverse."""
    right = product.right
    return values_in(product.format, right + right[::-1])


def _changed_input(name: str, times: int, product: TestedProduct) -> Array:
    """C or the bias left out (times = 0), or added twice."""
    if name not in product.words:
        raise NotApplicable(f"the kernel takes no {'C' if name == 'c' else name}")
    words, fmt = product.words[name], product.program.inputs[name].format
    return product.run({name: add(fmt, words, words) if times else np.zeros_like(words)})


def _other_rule(product: TestedProduct) -> Array:
    other = _OTHER_RULES.get("" if product.recipe is None else product.recipe.name)
    if other is None or product.requantised is None:
        raise NotApplicable("the operands have no scales, or no other rule of the same formats and blocks")
    return product.requantised(other).right


def _neighbours_scales(product: TestedProduct) -> Array:
    words = product.words.get("sa")
    if words is None:
        raise NotApplicable("A has no scales")
    axis = 1 if words.shape[1] > 1 else 0
    if words.shape[axis] < 2 or (words == words.flat[0]).all():
        raise NotApplicable("A has one scale")
    return product.run({"sa": np.ascontiguousarray(np.roll(words, 1, axis))})


def _no_second_level(product: TestedProduct) -> Array:
    one = np.float32(1).view(np.uint32)
    factors = {name: np.full_like(product.words[name], one) for name in ("wa", "wb") if name in product.words}
    if not factors:
        raise NotApplicable("the operands have no second scale")
    return product.run(factors)


#: Each of them; a test should let none through.
WRONG_KERNELS: tuple[WrongKernel, ...] = (
    WrongKernel("zeros", "nothing is written: every element is 0", _zeros),
    WrongKernel("element-unwritten", "the last element is never written", partial(_unwritten, -1, -1)),
    WrongKernel("row-unwritten", "the last row is never written", partial(_unwritten, -1, slice(None))),
    WrongKernel("column-unwritten", "the last column is never written", partial(_unwritten, slice(None), -1)),
    WrongKernel("tile-unwritten", "the last 16 x 16 elements are never written",
                partial(_unwritten, slice(-_TILE, None), slice(-_TILE, None))),
    _by_program("last-k", "the last k is left out", programs.without_k(lambda k: np.array([k - 1]))),
    _by_program("last-8", "the last 8 of K are left out",
                programs.without_k(lambda k: np.arange(k)[-8:])),
    _by_program("k-tail", "the tail of K behind the last tile is left out, as by cuBLASLt",
                programs.without_k(programs.tail_of)),
    _by_program("k-twice", "k = 0 is added twice", programs.twice),
    _by_program("part-twice", "a part of K is added twice", programs.part_twice),
    _by_program("part-missing", "a part of K is left out", programs.part_missing),
    WrongKernel("race", "a race: one update of the total in 64 is lost", _racing),
    WrongKernel("swapped", "B·A in place of A·B", _swapped),
    WrongKernel("d-transposed", "D is transposed", partial(_transposed, "D")),
    WrongKernel("a-transposed", "A is read transposed", partial(_transposed, "A")),
    WrongKernel("b-transposed", "B is read transposed", partial(_transposed, "B")),
    WrongKernel("k-shifted", "column k + 1 of A meets row k of B", _shifted_k),
    WrongKernel("rows-shifted", "row i of D is row i + 1", _shifted_rows),
    _by_program("parts-bf16", "partial sums are rounded to BF16", programs.narrow_parts("bf16")),
    _by_program("parts-f16", "partial sums are rounded to FP16", programs.narrow_parts("f16")),
    _by_program("total-bf16", "the running total is rounded to BF16", programs.narrow_total("bf16")),
    _by_program("total-f16", "the running total is rounded to FP16", programs.narrow_total("f16")),
    _by_program("result-bf16", "the result is rounded to BF16", programs.narrow_result("bf16")),
    _by_program("result-f16", "the result is rounded to FP16", programs.narrow_result("f16")),
    _by_program("truncated", "additions and conversions outside of the unit truncate", programs.truncated),
    _by_program("unpromoted", "all of K is added up in the unit, without promotion", programs.unpromoted),
    _by_program("operands-tf32", "A and B are rounded to TF32", programs.narrow_operands("tf32")),
    _by_program("operands-bf16", "A and B are rounded to BF16", programs.narrow_operands("bf16")),
    _by_program("operands-fp8", "A and B are rounded to E4M3", programs.narrow_operands("e4m3")),
    WrongKernel("scale-rule", "the operands are quantised by another rule for scales", _other_rule),
    WrongKernel("scales-shifted", "each block of A has its neighbour's scale", _neighbours_scales),
    WrongKernel("one-level", "the second scale is left out", _no_second_level),
    WrongKernel("nan-leak", "a NaN makes the next row one of NaNs", _leaking),
    WrongKernel("flushed", "subnormal operands and results become zeros", _flushed),
    WrongKernel("unsaturated", "results beyond the format's end become infinities, or NaNs", _unsaturated),
    WrongKernel("stale-output", "what was in the output before is added", _stale),
    WrongKernel("c-missing", "C is left out", partial(_changed_input, "c", 0)),
    WrongKernel("c-twice", "C is added twice", partial(_changed_input, "c", 2)),
    WrongKernel("bias-missing", "the bias is left out", partial(_changed_input, "bias", 0)),
    WrongKernel("bias-twice", "the bias is added twice", partial(_changed_input, "bias", 2)),
    _by_program("other-unit", "a unit of another architecture", programs.on_another_unit),
)  # fmt: skip
