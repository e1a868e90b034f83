"""What a tolerance is about: a kernel, an algorithm or a program by its name, on given matrices."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from tcsmt.analysis.bounds.fused_loss import Unbounded
from tcsmt.analysis.tolerance.bounded import BoundedKernel, BoundedProduct, BoundedProgram, UnitLosses
from tcsmt.analysis.tolerance.instruction import InstructionLoss, greatest_exponent
from tcsmt.analysis.tolerance.kernels import (
    ElementBounds,
    MatrixWords,
    greatest_operand,
    least_operand,
    loss_on,
)
from tcsmt.analysis.tolerance.quantised import BoundedQuantisedProduct, QuantisedOperands
from tcsmt.analysis.tolerance.remembered import RememberedProof
from tcsmt.analysis.tolerance.upward import added
from tcsmt.interface.api.matching import formats_of, kernel_for_operands, rows_for_operands
from tcsmt.interface.api.units import UnitLike, side_of
from tcsmt.matrix_units.arithmetic.conversion import QUIET, NanWords
from tcsmt.matrix_units.arithmetic.formats import FORMATS, AnyFormat, Format
from tcsmt.matrix_units.arithmetic.words import operand_words
from tcsmt.matrix_units.catalogue import Row
from tcsmt.matrix_units.models import Model
from tcsmt.programs.kernels.batched import stack_of
from tcsmt.programs.kernels.kernel import Kernel, kernel_named
from tcsmt.programs.quantisation.operands import scale_fault
from tcsmt.programs.quantisation.recipe import OperandRecipe, Role
from tcsmt.programs.recipes.emulation.named import is_emulation
from tcsmt.programs.recipes.files import is_recipe_file
from tcsmt.programs.recipes.named import RECIPES, algorithm_named
from tcsmt.programs.steps.program import UnitProgram
from tcsmt.programs.written.on_matrices import is_program_file, more_inputs
from tcsmt.programs.written.programs import WrittenProgram, written_program
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.statements.verdict import Equivalent
from tcsmt.simulate.matmul import check_shapes
from tcsmt.support.errors import TcsmtError
from tcsmt.support.invariants import checked_cast

Array = np.ndarray[Any, np.dtype[Any]]
#: What is taken from the standard.
_IEEE = "an operation outside of a unit loses half of its last bit to nearest, else all (754-2019, 4.3)"


@dataclass(frozen=True)
class BoundedSide:
    """What is bounded, the operands of each product of a stack as words, and what is proved of it on them.

    product: what is bounded. kernel: the kernel, if it is one. stack: the dimensions before those of the
    matrices; () of one product. operands, bounds: of each product.
    """

    product: BoundedProduct
    kernel: Kernel | None
    stack: tuple[int, ...]
    operands: tuple[MatrixWords, ...]
    bounds: tuple[ElementBounds, ...]
    proof: Equivalent

    def every(self, name: str) -> Array:
        """One of the arrays of all bounds: (..., M, N)."""
        arrays = [getattr(bounds, name) for bounds in self.bounds]
        return np.stack(arrays).reshape(*self.stack, *arrays[0].shape) if self.stack else arrays[0]

    def off_from(self, first: BoundedSide) -> Array:
        """Return how far each result may be from the first side's exact one: (..., M, N).

        Where both read the same numbers, that is the bound; else their exact results differ as well.
        """
        atol = self.every("atol")
        if self.numbers_read() == first.numbers_read():
            return atol
        apart = np.abs(self.every("exact") - first.every("exact"))
        far = added(atol, np.nextafter(apart, np.inf), self.every("error"), first.every("error"))
        return np.where(np.isnan(far), np.inf, far)

    def numbers_read(self) -> list[tuple[Any, ...]]:
        """Return what exact results are of: what is summed, and the numbers of each product's operands."""
        if self.kernel is None:
            return [(self.product,)]
        unit, epilogue = self.kernel.unit.model, self.kernel.epilogue
        formats = unit.a_format, unit.b_format, unit.c_format, self.kernel.schedule.working_format
        words = [[one.a, one.b, one.c, one.bias] for one in self.operands]
        return [
            (
                epilogue.alpha,
                epilogue.beta,
                *(None if x is None else (f, x.tobytes()) for f, x in zip(formats, one, strict=True)),
            )
            for one in words
        ]

    def number(self, place: tuple[int, ...]) -> int:
        """Of the product that an element is of."""
        return int(np.ravel_multi_index(place[:-2], self.stack)) if self.stack else 0


def side_named(
    options: SolvingOptions,
    name: str,
    unit: UnitLike | None,
    arrays: Mapping[str, Any],
    formats: Mapping[str, str | None],
    rule: str | None,
    inputs: Mapping[str, Array],
    quantiser: tuple[OperandRecipe, bool] | None = None,
) -> BoundedSide:
    """Return what a name stands for, on arrays, with its bounds.

    unit: of an algorithm; of a kernel and a program, none. formats: of A and B, where they are named. rule:
    by which operands are rounded. inputs: what a program takes besides. quantiser: which rounds A and B for
    a kernel, and whether exact results are those of the matrices before. Raises :class:`.TcsmtError`.
    """
    if quantiser is not None:
        return _quantised(options, name, arrays, rule, *quantiser)
    if unit is not None and is_algorithm(name):
        return _algorithm(options, name, unit, arrays, formats, rule, inputs)
    if is_program_file(name):
        return _written(options, name, arrays, formats, rule, inputs)
    if is_algorithm(name) and not is_recipe_file(name):  # such a file may be a unit's, too
        raise TcsmtError(f"{name} is an algorithm: unit is missing, on which it runs")
    if inputs:
        raise TcsmtError("inputs are those of a program in a file")
    return _kernel(options, name, arrays, formats, rule)


def is_algorithm(name: str) -> bool:
    """Return whether a name may be an algorithm's, which runs on a unit that is given beside it."""
    file = is_recipe_file(name) and not is_program_file(name)
    return file or is_emulation(name) or name.partition(",")[0].lower() in RECIPES


def _kernel(
    options: SolvingOptions,
    name: str,
    arrays: Mapping[str, Any],
    named: Mapping[str, str | None],
    rule: str | None,
) -> BoundedSide:
    chosen = kernel_for_operands(name, formats_of(arrays, named, rounded=rule is not None), operands=rule)
    unit, schedule = chosen.unit.model, chosen.schedule
    refusal = f"no bound of {chosen.name} is proved"
    if not isinstance(schedule.sum_format, Format):
        raise TcsmtError(
            f"{refusal}: {unit.d_format.name} sums are exact or wrap; `tcsmt accuracy exact` says which"
        )
    formats = {"a": unit.a_format, "b": unit.b_format, "c": unit.c_format, "bias": schedule.working_format}
    words = _words(formats, arrays, rule)
    schedule.check_numbers(bias="bias" in words)
    stack, products = _products(words)
    try:
        low = min(least_operand(unit, product) for product in products)
        high = max(greatest_operand(unit, product) for product in products)
        loss, proof = _proved_loss(unit, low, greatest_exponent(unit, high), options)
        bounded = BoundedKernel(chosen, loss)
        bounds = tuple(bounded.of_product(product) for product in products)
    except Unbounded as why:
        raise TcsmtError(f"{refusal}: {why}") from None
    return BoundedSide(bounded, chosen, stack, products, bounds, proof)


def _quantised(
    options: SolvingOptions,
    name: str,
    arrays: Mapping[str, Any],
    rule: str | None,
    recipe: OperandRecipe,
    original: bool,
) -> BoundedSide:
    """Return a kernel's product of quantised operands. Raises :class:`.TcsmtError`."""
    if is_algorithm(name) or is_program_file(name):
        raise TcsmtError(f"{name}: a quantiser's operands are those of a kernel, UNIT[+REDUCTION[+EPILOGUE]]")
    for what, given in (("C", arrays["c"]), ("a bias", arrays["bias"]), ("operands", rule)):
        if given is not None:
            raise TcsmtError(f"{what} is given: a quantised product has A and B, which the quantiser rounds")
    start, chain = time.monotonic(), RememberedProof(options)
    kernel, quantised = quantised_product(name, recipe, arrays["a"], arrays["b"])
    title = f"{kernel.name} of {recipe.name} operands"
    program, nans = quantised.program.needed, kernel.schedule.nans
    bounded = BoundedQuantisedProduct(title, program, nans, UnitLosses(chain), original)
    try:
        bounds = bounded.of_product(quantised.words)
    except Unbounded as why:
        raise TcsmtError(f"no bound of {title} is proved: {why}") from None
    chain.know(_IEEE)
    proof = chain.verdict(time.monotonic() - start)
    return BoundedSide(bounded, None, (), (quantised.words,), (bounds,), proof)


def quantised_product(name: str, recipe: OperandRecipe, a: Any, b: Any) -> tuple[Kernel, QuantisedOperands]:
    """Return a kernel by its name, and its operands, quantised. Raises :class:`.TcsmtError`."""
    left, right = (np.asarray(x) for x in (a, b))
    check_shapes(left, right)
    role: Role = "weight" if recipe.weights else "activation"
    formats = {"a": FORMATS[recipe.formats[0]], "b": FORMATS[recipe.formats_of(role)[0]]}

    def row_of(unit: str) -> Row:
        rows = rows_for_operands(unit, formats, scaled=recipe.block_scales is not None, values=True)
        return next((row for row in rows if not scale_fault(recipe, row.model)), rows[0])

    kernel = kernel_named(name, row_of)
    return kernel, QuantisedOperands.of(kernel, recipe, left, right)


def _algorithm(
    options: SolvingOptions,
    name: str,
    unit: UnitLike,
    arrays: Mapping[str, Any],
    named: Mapping[str, str | None],
    rule: str | None,
    inputs: Mapping[str, Array],
) -> BoundedSide:
    """Return an algorithm on a unit. Raises :class:`.TcsmtError`."""
    if inputs:
        raise TcsmtError("inputs are those of a program in a file, which names its units: leave unit out")
    if is_emulation(name):
        raise TcsmtError(f"no bound of {name} is proved on given matrices: `tcsmt accuracy bound` has one")
    algorithm, row = algorithm_named(name, unit if isinstance(unit, str) else side_of(unit).row)
    wide = algorithm.wide
    words = _words_of(dict.fromkeys("abc", wide), f"{name} on {row.name}", arrays, named, rule)
    return _program(options, f"{name} on {row.name}", algorithm.program, QUIET, words, {})


def _written(
    options: SolvingOptions,
    name: str,
    arrays: Mapping[str, Any],
    named: Mapping[str, str | None],
    rule: str | None,
    inputs: Mapping[str, Array],
) -> BoundedSide:
    """Return a program in a file. Raises :class:`.TcsmtError`."""
    length = np.shape(arrays["a"])[-1] if np.ndim(arrays["a"]) else 0
    row = written_program(f"{name}@{length}", lambda unit: side_of(unit).row)
    model = checked_cast(row.model, WrittenProgram)
    formats = {"a": model.a_format, "b": model.b_format, "c": model.c_format}
    words = _words_of(formats, name, arrays, named, rule)
    return _program(options, name, lambda k: model.program, model.nans, words, inputs)


def _words_of(
    formats: Mapping[str, AnyFormat],
    name: str,
    arrays: Mapping[str, Any],
    named: Mapping[str, str | None],
    rule: str | None,
) -> dict[str, Array]:
    """Return the words of A, B and C. Raises :class:`.TcsmtError` for other formats, and a bias."""
    if arrays["bias"] is not None:
        raise TcsmtError(f"{name} takes no bias; a program in a file may have an input for it")
    for letter, fmt in named.items():
        if fmt is not None and fmt != formats[letter].name:
            raise TcsmtError(f"{name} takes {letter.upper()} in {formats[letter].name}, not in {fmt}")
    return _words(formats, arrays, rule)


def _words(formats: Mapping[str, AnyFormat], arrays: Mapping[str, Any], rule: str | None) -> dict[str, Array]:
    return {
        name: operand_words(fmt, arrays[name], name if name == "bias" else name.upper(), rule)
        for name, fmt in formats.items()
        if arrays[name] is not None
    }


def _program(
    options: SolvingOptions,
    name: str,
    program_at: Callable[[int], UnitProgram],
    nans: NanWords,
    words: Mapping[str, Array],
    inputs: Mapping[str, Array],
) -> BoundedSide:
    """Return a program on words, with its bounds. Raises :class:`.TcsmtError`, which names a step."""
    start, chain = time.monotonic(), RememberedProof(options)
    stack, products = _products(words)
    (m, k), n = products[0].a.shape, products[0].b.shape[1]
    bounded = BoundedProgram(name, program_at(k).needed, nans, UnitLosses(chain))
    if (axes := bounded.program.result.axes) not in ("", "a", "b"):
        raise TcsmtError(f"{name}: the result has a word for each of {axes}: a tolerance is of d = y[0]")
    if "c" in words and "c" not in bounded.inputs:
        raise TcsmtError(f"C is given, but {name} does not read it")
    others = more_inputs(bounded.inputs, inputs, (m, k, n))
    more = {other: (step.axes, given) for other, (step, given) in others.items()}
    products = tuple(MatrixWords(one.a, one.b, one.c, more=more) for one in products)
    try:
        bounds = tuple(bounded.of_product(product) for product in products)
    except Unbounded as why:
        raise TcsmtError(f"no bound of {name} is proved: {why}") from None
    chain.know(_IEEE)
    return BoundedSide(bounded, None, stack, products, bounds, chain.verdict(time.monotonic() - start))


def _products(words: Mapping[str, Array]) -> tuple[tuple[int, ...], tuple[MatrixWords, ...]]:
    """Return the dimensions of a stack, and each of its products."""
    stack = stack_of(**words)
    return stack, tuple(_product(words, stack, place) for place in np.ndindex(*stack))


def _product(words: Mapping[str, Array], stack: tuple[int, ...], place: tuple[int, ...]) -> MatrixWords:
    """One product of a stack. Raises :class:`tcsmt.TcsmtError` for shapes that do not fit."""
    own = {
        name: np.broadcast_to(array, (*stack, *array.shape[-(1 if name == "bias" else 2) :]))[place]
        if stack
        else array
        for name, array in words.items()
    }
    a, b, c, bias = (own.get(name) for name in ("a", "b", "c", "bias"))
    assert a is not None
    assert b is not None
    check_shapes(a, b)
    shape = len(a), b.shape[1]
    if c is not None and c.shape != shape:
        raise TcsmtError(f"C has shape {c.shape}: must be {shape}, the shape of A·B")
    if bias is not None and bias.shape != shape[1:]:
        raise TcsmtError(f"bias has shape {bias.shape}: must be {shape[1:]}, one for each column")
    return MatrixWords(a, b, c, bias)


@lru_cache(maxsize=64)
def _proved_loss(
    unit: Model, low: int, high: int, options: SolvingOptions
) -> tuple[InstructionLoss, Equivalent]:
    """Return what an instruction loses, and the proof; a test suite asks about the same one again and
    again.
    """
    start, chain = time.monotonic(), RememberedProof(options)
    return loss_on(chain, unit, low, high), chain.verdict(time.monotonic() - start)
