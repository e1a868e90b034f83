"""Error against K: random matrices, every algorithm, every unit, held against the exact product.

Exact means exact: products of FP32 numbers are exact in binary64, ``math.fsum`` rounds their exact sum
once, and a second pass gives what that rounding left: the pair is off by at most 2^-106 of the result.
Products of binary64 numbers, which emulations are given, are computed in Python's integers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from tcsmt.language.graphs.digest import digest_of_texts
from tcsmt.matrix_units.arithmetic.formats import FORMATS, Format
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS
from tcsmt.matrix_units.arithmetic.words import from_words, to_words
from tcsmt.matrix_units.catalogue import ARCHITECTURES, Row, row_named
from tcsmt.matrix_units.catalogue.row import is_preferred
from tcsmt.matrix_units.models import FusedDotAdd, Model
from tcsmt.programs.recipes.arrays import multiply
from tcsmt.programs.recipes.emulation import named as emulations
from tcsmt.programs.recipes.emulation.recipe import EmulationRecipe
from tcsmt.programs.recipes.files import is_recipe_file
from tcsmt.programs.recipes.named import recipe_named, units_for
from tcsmt.programs.recipes.recipe import Recipe
from tcsmt.programs.steps.on_arrays import split_words
from tcsmt.support.checkpoint import Record
from tcsmt.support.fingerprints import digest_of_sources
from tcsmt.support.jobs.processes import Task

Array = np.ndarray[Any, np.dtype[Any]]
F64 = FORMATS["f64"]

Entries = Callable[[np.random.Generator, tuple[int, int]], Array]


def exponents(low: int, high: int) -> Entries:
    """Exponents alike between two, both included; random significands and signs."""

    def draw(rng: np.random.Generator, shape: tuple[int, int]) -> Array:
        field = rng.integers(low + 127, high + 128, shape, dtype=np.uint32)
        rest = rng.integers(0, 1 << 24, shape, dtype=np.uint32)
        return from_words(FORMATS["f32"], rest >> 23 << 31 | field << 23 | rest & 0x7FFFFF)

    return draw


def shared(signs: bool) -> Entries:
    """Eight significant bits and exponents -7 to 0: FP16 and BF16 hold them, so nothing is rounded before."""

    def draw(rng: np.random.Generator, shape: tuple[int, int]) -> Array:
        field = rng.integers(-7 + 127, 0 + 128, shape, dtype=np.uint32)
        rest = rng.integers(0, 1 << 8, shape, dtype=np.uint32)
        sign = rest >> 7 << 31 if signs else np.zeros_like(rest)
        return from_words(FORMATS["f32"], sign | field << 23 | (rest & 0x7F) << 16)

    return draw


def uniform(low: float, high: float) -> Entries:
    """Numbers between two numbers, all as likely, rounded to FP32: float32."""
    return lambda rng, shape: rng.uniform(low, high, shape).astype(np.float32)


def normal(rng: np.random.Generator, shape: tuple[int, int]) -> Array:
    """Numbers of the standard normal distribution: float32, of the given shape."""
    return rng.standard_normal(shape).astype(np.float32)


def powers(axis: int) -> Entries:
    """Numbers whose logarithms are all as likely, within ±[1e-10, 1e10].

    Along ``axis`` scaled by a power of two to at most FP16's largest number, as the experiment's
    code does with the rows of A and the columns of B (:mod:`tcsmt.surveys.papers.multiword`).
    """

    def draw(rng: np.random.Generator, shape: tuple[int, int]) -> Array:
        x = 10.0 ** rng.uniform(-10, 10, shape) * rng.choice([-1.0, 1.0], shape)
        largest = np.abs(x).max(axis=axis, keepdims=True)
        scale = 2.0 ** np.floor(np.log2(float(FORMATS["f16"].largest_finite) / largest))
        scaled: Array = x * scale
        return scaled.astype(np.float32)

    return draw


@dataclass(frozen=True)
class Distribution:
    """How the entries of A and of B are drawn. ``title`` says where it comes from."""

    name: str
    title: str
    a: Entries
    b: Entries


#: Valpey et al. give (A), the slides' text prints none: (B) and (C) are our choice of smaller ones.
_A, _B, _C = exponents(-15, 14), exponents(-35, -15), exponents(-100, -35)
DISTRIBUTIONS = {
    one.name: one
    for one in (
        Distribution("uniform", "between -1 and 1", uniform(-1, 1), uniform(-1, 1)),
        Distribution("positive", "between 0 and 1", uniform(0, 1), uniform(0, 1)),
        Distribution("normal", "standard normal", normal, normal),
        Distribution("type1", "Ootomo and Yokota, type 1: exponents -15 to 14", _A, _A),
        Distribution("type2", "type 2: exponents -15 to 14, and -35 to -15", _A, _B),
        Distribution("type3", "type 3: exponents -35 to -15", _B, _B),
        Distribution("type4-ac", "type 4: exponents -15 to 14, and -100 to -35", _A, _C),
        Distribution("type4-bc", "type 4: exponents -35 to -15, and -100 to -35", _B, _C),
        Distribution("type4-cc", "type 4: exponents -100 to -35", _C, _C),
        Distribution(
            "powers", "Khattak and Mikaitis: log-uniform over 20 powers of ten", powers(1), powers(0)
        ),
        Distribution("shared", "8 significant bits, exponents -7 to 0", shared(True), shared(True)),
        Distribution(
            "shared-positive", "8 significant bits, exponents -7 to 0, positive", shared(False), shared(False)
        ),
    )
}


@dataclass(frozen=True)
class Exact:
    """A product as the sum of two binary64 matrices, and the sums of magnitudes Σ|a·b|."""

    high: Array
    low: Array
    magnitude: Array

    def error(self, d: Array) -> Array:
        """``d`` minus the exact product, float64 to its precision; both of shape (M, N)."""
        return (d.astype(np.float64) - self.high) - self.low


def exact_product(a: Array, b: Array) -> Exact:
    """A (M, K) times B (K, N), FP32 values (or narrower ones)."""
    left, right = a.astype(np.float64), b.astype(np.float64)
    shape = (left.shape[0], right.shape[1])
    high, low, magnitude = (np.empty(shape) for _ in range(3))
    for row, column in np.ndindex(shape):
        products = left[row] * right[:, column]
        terms = products.tolist()
        high[row, column] = first = math.fsum(terms)
        terms.append(-first)
        low[row, column] = math.fsum(terms)
        magnitude[row, column] = np.abs(products).sum()
    return Exact(high, low, magnitude)


def exact_product_of_integers(a: Array, b: Array) -> Exact:
    """A (M, K) times B (K, N), binary64 values: all of them as multiples of one power of two."""
    (left, low), (right, lower) = _counted(a), _counted(b)
    product, magnitude = left.dot(right), abs(left).dot(abs(right))
    unity = Fraction(2) ** (low + lower)
    high = np.array([float(n * unity) for n in product.flat]).reshape(product.shape)
    rest = [float(n * unity - Fraction(h)) for n, h in zip(product.flat, high.ravel().tolist(), strict=True)]
    sizes = np.array([float(n * unity) for n in magnitude.flat]).reshape(product.shape)
    return Exact(high, np.array(rest).reshape(product.shape), sizes)


def _counted(x: Array) -> tuple[Array, int]:
    """Numbers as Python's integers, in units of a power of two, and its exponent."""
    half, exponents = np.frexp(x)
    low = int(exponents.min()) - 53
    pairs = zip((half * 2.0**53).ravel().tolist(), exponents.ravel().tolist(), strict=True)
    counts = [int(whole) << exponent - 53 - low for whole, exponent in pairs]
    return np.array(counts, dtype=object).reshape(x.shape), low


def _longer(x: Array, rng: np.random.Generator) -> Array:
    """FP32 numbers with 29 further random bits, so that they are binary64 numbers."""
    words = x.astype(np.float64).view(np.uint64)
    more = rng.integers(0, 1 << 29, x.shape, dtype=np.uint64)
    return np.where(x == 0, words, words | more).view(np.float64)


#: The algorithms of a sweep: the literature's, and readings of them that differ in one step.
NAMES = (
    "fp32-fma", "single-f16", "single-bf16", "single-tf32",
    "markidis", "markidis,split=RTZ,residual=RTZ", "markidis,every=instruction",
    "ootomo-halfhalf", "ootomo-halfhalf-4", "ootomo-halfhalf,scale=0", "ootomo-tf32tf32",
    "cutlass-3xtf32", "fasi-f16x2", "fasi-f16x3", "fasi-bf16x2", "fasi-bf16x3", "bf16x9",
    "fp8", "fp8-promoted",
)  # fmt: skip


def named(text: str) -> Recipe | EmulationRecipe:
    """Return the algorithm or the emulation of this name. Raises :class:`.TcsmtError`."""
    return emulations.emulation_recipe(text) if emulations.is_emulation(text) else recipe_named(text)


def all_rows_for(recipe: Recipe | EmulationRecipe, unit: str) -> list[Row]:
    """Of the rows that ``unit`` means, those on which it runs."""
    if isinstance(recipe, EmulationRecipe):
        return emulations.units_for(recipe, unit)
    return units_for(recipe, unit)


def rows_for(recipe: Recipe | EmulationRecipe, units: Sequence[str]) -> dict[str, Row]:
    """Return the rows that run an algorithm, by what they are called: architectures that share one, ``ampere,
    ada``.

    units: architectures, or ARCH/INSTRUCTION. An architecture stands for the instruction that GEMM libraries
    use. If they use a special one for these formats, the row is called by its own name.
    """
    if isinstance(recipe, Recipe) and recipe.ordinary:
        return {"ordinary cores": units_for(recipe, ARCHITECTURES[0])[0]}
    shared: dict[Model, tuple[Row, list[str]]] = {}
    for name in units:
        architecture, _, instruction = name.partition("/")
        rows = [
            row
            for row in all_rows_for(recipe, architecture)
            if not instruction or row.instruction == row_named(name).instruction
        ]
        if rows:
            row = rows[0]
            label = row.name if instruction or is_preferred(row) else name
            names = shared.setdefault(row.model, (row, []))[1]
            if label not in names:
                names.append(label)
    return {", ".join(names): row for row, names in shared.values()}


def models_for(recipe: Recipe | EmulationRecipe, units: Sequence[str]) -> dict[str, Model]:
    """Return the models of :func:`rows_for`."""
    return {label: row.model for label, row in rows_for(recipe, units).items()}


def to_nearest(models: Mapping[str, Model]) -> dict[str, Model]:
    """Return the fused units with truncations swapped for nearest even.

    ``hopper, RNE``: the last rounding; ``hopper, all RNE``: the bits that alignment drops, too.
    """
    by_digest: dict[str, Model] = {}
    for label, model in models.items():
        if isinstance(model, FusedDotAdd) and model.final.rounding.truncates:
            last = model.replace(rounding=ROUNDINGS["RNE"])
            by_digest[f"{label}, RNE"] = last
            by_digest[f"{label}, all RNE"] = last.replace(alignment=ROUNDINGS["RNE"])
    return by_digest


def point(
    recipes: Sequence[Recipe | EmulationRecipe],
    units: Sequence[str],
    distribution: Distribution,
    k: int,
    *,
    size: int = 16,
    seeds: int = 2,
) -> Iterator[dict[str, Any]]:
    """One record for each algorithm: its errors on each unit, over ``seeds`` products of size x k x size.

    Fused units are there with truncations to nearest, too (:func:`to_nearest`). FP8 algorithms are held
    against the product of the FP8 words: their inputs are taken to be FP8 numbers. Emulations of binary64 are
    given the same numbers with 29 further random bits; their errors are counted in units of 2^-53.
    """
    matrices = []
    for seed in range(seeds):
        rng = np.random.default_rng([seed, k])
        matrices.append((distribution.a(rng, (size, k)), distribution.b(rng, (k, size))))
    exact = [exact_product(a, b) for a, b in matrices]
    for recipe in recipes:
        if isinstance(recipe, EmulationRecipe):
            yield _point_of_emulation(recipe, units, matrices) | {"distribution": distribution.name, "k": k}
            continue
        operands, references = matrices, exact
        if recipe.split.format.width == 8:
            operands = [(_rounded(recipe, a), _rounded(recipe, b)) for a, b in matrices]
            references = [exact_product(a, b) for a, b in operands]
        rows = rows_for(recipe, units)
        models = {label: row.model for label, row in rows.items()}
        variants = {} if recipe.ordinary else to_nearest(models)
        results = {}
        for label, model in (models | variants).items():
            algorithm = recipe.on(model, model.k)
            results[label] = [multiply(algorithm, a, b) for a, b in operands]
        record = {label: errors(products, references) for label, products in results.items()}
        for label in variants:
            record[label] = {name: record[label][name] for name in record[label] if name in _OF_VARIANTS}
        _closest(record, {label: results[label] for label in models}, references)
        used = {label: row.instruction for label, row in rows.items()}
        about = {"distribution": distribution.name, "k": k, "algorithm": recipe.name, "instructions": used}
        yield {**about, "units": record}


def _point_of_emulation(
    recipe: EmulationRecipe, units: Sequence[str], matrices: Sequence[tuple[Array, Array]]
) -> dict[str, Any]:
    rng = np.random.default_rng(53)
    operands = [(_longer(a, rng), _longer(b, rng)) for a, b in matrices]
    references = [exact_product_of_integers(a, b) for a, b in operands]
    rows = rows_for(recipe, units)
    results = {
        label: [multiply(recipe.on(row.model), a, b) for a, b in operands] for label, row in rows.items()
    }
    record = {label: errors(products, references, F64) for label, products in results.items()}
    _closest(record, results, references)
    used = {label: row.instruction for label, row in rows.items()}
    return {"algorithm": recipe.name, "instructions": used, "units": record, "in": "2^-53"}


@dataclass(frozen=True)
class Matrices:
    """What is multiplied: the units, rows and columns, and how many products."""

    units: tuple[str, ...]
    size: int
    seeds: int


def task_for(recipe: str, distribution: str, k: int, drawn: Matrices) -> Task:
    """One record of a sweep: an algorithm, by its name, at one length on one distribution.

    It is about the graphs of the units, and about how the algorithm and the statistics are written.
    """
    rows = rows_for(named(recipe), drawn.units)
    models = {label: row.model for label, row in rows.items()}
    digests = {label: _digest(model) for label, model in (models | to_nearest(models)).items()}
    units = [f"{label} {digest}" for label, digest in digests.items()]
    code = digest_of_sources("programs", "analysis/sweeps/sweep")
    parts = [recipe, distribution, str(k), str(drawn.size), str(drawn.seeds), *units, code]
    if is_recipe_file(recipe.partition(",")[0]):
        parts.append(repr(named(recipe)))
    key = f"{distribution}, K = {k}, {recipe}"
    about = {row.name: _digest(row.model) for row in rows.values()}
    return Task(key, digest_of_texts(parts), _record, (recipe, distribution, k, drawn), code, about)


@cache
def _digest(model: Model) -> str:
    return model.digest


def _record(recipe: str, distribution: str, k: int, drawn: Matrices) -> Record:
    """Return what a worker does."""
    chosen = DISTRIBUTIONS[distribution]
    (result,) = point([named(recipe)], drawn.units, chosen, k, size=drawn.size, seeds=drawn.seeds)
    return result


def _rounded(recipe: Recipe, x: Array) -> Array:
    """Return the values of the first words, as FP32."""
    (word, *_) = split_words(recipe.split, to_words(FORMATS["f32"], x, "x"))
    return from_words(recipe.split.format, word).astype(np.float32)


#: What is kept of the units that are not there.
_OF_VARIANTS = ("residual", "mean", "not_finite")
#: Shares of the elements below which the quantiles of the error lie.
QUANTILES = (0.0, 0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1.0)


def errors(
    products: Sequence[Array], references: Sequence[Exact], wide: Format = FORMATS["f32"]
) -> dict[str, Any]:
    """Return what is kept of a unit's products, arrays of the shapes of their references.

    residual: Frobenius norm of the error over that of the product, the mean over the matrices (the
    slides' measure). mean, quantiles: of the error in units of 2^-24 Σ|a·b| (2^-53 for binary64), positive
    where the result is too large in magnitude. ulp: its largest magnitude in units in the last place of the
    exact result.
    rounded: share of the elements that are the exact product rounded to nearest. wrong_sign: of those
    that have the sign wrong, zero for another number included. cancellation: Σ|a·b| over the exact
    result at the element with the largest relative error, and relative: that error. Where some
    elements are not finite: their share alone.
    """
    exact = np.concatenate([product.high.ravel() for product in references])
    magnitude = np.concatenate([product.magnitude.ravel() for product in references])
    d = np.concatenate([product.ravel() for product in products]).astype(np.float64)
    with np.errstate(all="ignore"):
        error = np.concatenate([r.error(p).ravel() for r, p in zip(references, products, strict=True)])
        residuals = [
            np.linalg.norm(r.error(p)) / np.linalg.norm(r.high)
            for r, p in zip(references, products, strict=True)
        ]
        outward = error * np.sign(exact) / (magnitude * 2.0**-wide.precision)
        ulp = np.ldexp(1.0, np.maximum(np.frexp(exact)[1] - 1, wide.e_min) - wide.fraction_bits)
        nearest = exact if wide == F64 else exact.astype(np.float32).astype(np.float64)
        relative = np.abs(error / exact)
    if not (np.isfinite(d) & (exact != 0)).all():
        return {"not_finite": float(1 - np.isfinite(d).mean())}
    worst = int(np.argmax(relative))
    sizes = {
        "residual": np.mean(residuals),
        "mean": outward.mean(),
        "deviation": outward.std(),
        "ulp": (np.abs(error) / ulp).max(),
        "rounded": (d == nearest).mean(),
        "wrong_sign": (np.sign(d) != np.sign(exact)).mean(),
        "relative": relative[worst],
        "cancellation": magnitude[worst] / abs(exact[worst]),
    }
    quantiles = [_short(q) for q in np.quantile(outward, QUANTILES)]
    return {**{name: _short(value) for name, value in sizes.items()}, "quantiles": quantiles}


def _short(value: Any) -> float:
    """Five digits, as many as are kept on disk."""
    return float(f"{value:.5g}")


def _closest(
    records: Mapping[str, dict[str, Any]], results: Mapping[str, Sequence[Array]], references: Sequence[Exact]
) -> None:
    """For each unit, the share of elements at which no other is closer; and at which it is alone."""
    sizes = {
        label: np.concatenate([abs(r.error(p)).ravel() for r, p in zip(references, products, strict=True)])
        for label, products in results.items()
    }
    least = np.min(list(sizes.values()), axis=0)
    alone = sum((size == least).astype(int) for size in sizes.values()) == 1
    for label, size in sizes.items():
        records[label]["closest"] = _short((size == least).mean())
        records[label]["closest_alone"] = _short(((size == least) & alone).mean())
