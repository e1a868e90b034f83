"""Random algorithms on tiny units, variations of them, and domains of which all inputs can be tried."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from random import Random
from typing import Any

from tcsmt.matrix_units.arithmetic.formats import Format, Specials
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS, Rounding
from tcsmt.matrix_units.models import (
    DotThenAdd,
    FusedDotAdd,
    GroupedDotAdd,
    IeeeDotAdd,
    InstructionSequence,
    Model,
)
from tcsmt.programs.recipes.algorithm import Algorithm, Sum
from tcsmt.programs.steps.split import Split
from tcsmt.prove.statements.domain import Domain
from tcsmt.support.errors import TcsmtError
from tests.oracles import recipes, tiny


def some_rounding(rng: Random, usual: float) -> Rounding:
    """To nearest even so often, else any."""
    return ROUNDINGS["RNE"] if rng.random() < usual else rng.choice(list(ROUNDINGS.values()))


def some_formats(rng: Random) -> tuple[Format, Format]:
    """A narrow format of 2 to 4 significant bits, and a wide one of a few more in both fields."""
    while True:
        precision, exponent_bits = rng.choice((2, 2, 3, 4)), rng.choice((3, 4, 4, 5))
        fraction_bits = rng.choice((2 * precision + 2, 2 * precision, precision + 2, precision)) - 1
        wider = exponent_bits + rng.choice((0, 1, 2, 3))
        if wider + fraction_bits > 10:
            continue
        narrow = tiny.described(
            exponent_bits=exponent_bits, fraction_bits=precision - 1,
            bias=(1 << (exponent_bits - 1)) - 1 + rng.choice((0, 0, 0, -2, 2)),
            specials=rng.choice((Specials.IEEE, Specials.IEEE, *Specials)),
        )  # fmt: skip
        bias = (1 << (wider - 1)) - 1
        return narrow, tiny.described(exponent_bits=wider, fraction_bits=fraction_bits, bias=bias)


#: Parameters of fused sums without effect.
WITHOUT: dict[str, Any] = {
    "alignment_complement": False, "group_fraction_bits": None, "zero_c": "zero_exponent",
    "c_exponent_offset": 0, "c_dropped_above": None, "rounded_format": None, "flush_c": False,
    "tininess": "result", "subnormal_results": "rounded",
}  # fmt: skip


def some_unit(rng: Random, narrow: Format, wide: Format) -> Model:
    """A unit for these formats; half of them with few oddities, so that a bound can be proved."""
    while True:
        kind: Any = rng.choice((FusedDotAdd, FusedDotAdd, DotThenAdd, IeeeDotAdd))
        given: dict[str, Any] = {"a_format": narrow, "b_format": narrow, "c_format": wide, "d_format": wide}
        given |= {"k": rng.choice((1, 1, 2)), "sum_format": wide}
        if rng.random() < 0.2:
            given["sum_format"] = tiny.some_format(rng, infinities=True, wide=True)
        for name, draw in tiny.PARAMETERS[kind].items():
            if name not in ("scale_block", "group"):
                given[name] = draw(rng, given)
        plain, bits = rng.random() < 0.5, wide.fraction_bits
        if kind is FusedDotAdd:
            if plain or rng.random() < 0.5:
                given |= WITHOUT  # most of these have no bound
            given["fraction_bits"] = max(1, bits + rng.choice((-2, 0, 0, 1, 2, 3)))
            if plain:
                given |= {"alignment": "RTZ", "alignment_sticky": False, "carry_bits": None}
                given |= {"flush_inputs": False, "flush_outputs": False, "normalisation": "once"}
                given |= {"products": "unnormalised", "round_fraction_bits": None}
                given |= {"zero_exponent": rng.choice((None, wide.e_min - 5))}
        if kind is DotThenAdd:
            given["fraction_bits"] = bits + rng.choice((0, 1, 2))
            given["dot_fraction_bits"] = given["fraction_bits"] + rng.choice((0, 2, 7))
            if plain:
                given |= {"product_limit": None, "c_reach": None, "normalised_fraction_bits": None}
        if kind is not IeeeDotAdd:
            del given["sum_format"]
        try:
            return tiny.consistent(kind, given)
        except TcsmtError:
            continue


def some_parts(rng: Random, precision: int) -> list[tuple[int, int]]:
    """Parts of significands: all bits in one or two parts; rarely some are missing, or are there twice."""
    cut = rng.randint(1, precision)
    parts = [(0, cut)] + [(cut, precision - cut)] * (cut < precision)
    if rng.random() < 0.1:
        parts.append(rng.choice([parts[0], (rng.randint(0, precision - 1), rng.randint(1, 3))]))
    return parts if rng.random() < 0.8 else parts[:1]


def some_sequence(rng: Random, narrow: Format, wide: Format, k: int) -> InstructionSequence:
    """Instructions that multiply parts of significands, mostly such that a bound can be proved."""
    a, d = (tiny.all_finite(fmt) for fmt in (narrow, wide))
    odd = rng.random() < 0.3
    nearest = ("RNA", "RNU", "RNE")
    given: dict[str, Any] = {
        "a_format": a, "b_format": a, "c_format": d, "d_format": d, "k": k,
        "group_lanes": rng.choice([n for n in range(1, k + 1) if k % n == 0]),
        "fraction_bits": rng.choice((1, 2, 3, 5)),
        "sum_fraction_bits": max(1, d.fraction_bits + rng.choice((0, 0, 1, 2, -1))),
        "minus_one_shift": rng.choice((None, None, None, rng.randint(1, d.fraction_bits + 4))),
        "zero_exponent": rng.randint(-8, 2) if odd else d.e_min - 20,
        "least_exponent": rng.choice((None, rng.randint(-9, 3) if odd else d.e_min)),
        "kept_fraction_bits": rng.randint(1, d.fraction_bits - 1) if odd and rng.random() < 0.3 else None,
        "largest_result": d.largest_finite_word >> 1 if odd and rng.random() < 0.3 else None,
        "flush_inputs": rng.random() < 0.7, "flush_outputs": rng.random() < 0.7,
        "tininess": rng.choice(("after", "before", "result")),
        "rounding": rng.choice((*nearest, "RTZ")),
    }  # fmt: skip
    for name in ("alignment", "group_alignment", "c_alignment"):
        given[name] = rng.choice((*nearest, "RTZ")) if rng.random() < 0.9 else rng.choice(list(ROUNDINGS))
    pairs = [(x, y) for y in some_parts(rng, a.precision) for x in some_parts(rng, a.precision)]
    if rng.random() < 0.3:
        pairs = pairs[: rng.randint(1, len(pairs))]
    units = (
        GroupedDotAdd(**given, a_first_bit=x[0], a_bits=x[1], b_first_bit=y[0], b_bits=y[1]) for x, y in pairs
    )
    return InstructionSequence(instructions=tuple(units))


def some_sums(rng: Random, words: int, scale: int) -> tuple[Sum, ...]:
    """Products of words, in one sum or several; those of one scale in each, the first one not scaled."""
    products = [(i, j) for i in range(words) for j in range(words)]
    products = rng.sample(products, rng.randint(1, len(products)))
    if scale:
        products = [(0, 0), *(p for p in products if p != (0, 0))]
        places = sorted({sum(p) for p in products})
        groups = [tuple(p for p in products if sum(p) == place) for place in places]
    else:
        groups = [tuple(products)] if rng.random() < 0.5 else [(p,) for p in products]
    return tuple(Sum(group, rng.choice((0, 0, 1, 2))) for group in groups)


def some_algorithm(rng: Random) -> Algorithm:
    """An algorithm: every parameter is drawn."""
    while True:
        narrow, wide = some_formats(rng)
        words = rng.choice((1, 1, 2, 2, 3))
        scale = rng.choice((0, 0, narrow.precision, narrow.precision - 1, 1)) if words > 1 else 0
        try:
            split = Split(
                format=narrow, wide=wide, words=words, scale=scale,
                rounding=some_rounding(rng, 0.5), residual=some_rounding(rng, 0.5),
            )  # fmt: skip
            found = Algorithm(
                k=rng.choice((1, 1, 2)), unit=some_unit(rng, narrow, wide), split=split,
                sums=some_sums(rng, words, scale), interleaved=rng.random() < 0.6,
                c_enters=rng.choice(("unit", "first", "last")), rounding=some_rounding(rng, 0.7),
            )  # fmt: skip
        except TcsmtError:
            continue
        if has_its_powers(found):
            return found


def has_its_powers(one: Algorithm) -> bool:
    """Whether the wide format has every power of two by which the algorithm scales, so that it has a trace.

    The trace says the same, but costs a hundred times as much, and most algorithms are drawn for nothing.
    """
    scaled = one.split.words > 1 and one.split.scale and one.split.format != one.wide
    shifts = [shift for shift, _ in one.chains(one.k)]
    needed = {*([one.split.scale] if scaled else ()), *(-s for s in shifts[one.c_enters != "first" :])}
    needed |= {0} if one.c_enters == "last" else set()
    try:
        return all(one.wide.word(Fraction(2) ** exponent) for exponent in needed)
    except ValueError:
        return False


def varied(rng: Random, one: Algorithm) -> Algorithm:
    """The algorithm with one choice made otherwise."""
    changes: tuple[Callable[[], dict[str, Any]], ...] = (
        lambda: {"unit": tiny.mutated(rng, one.unit)},
        lambda: {"unit": tiny.mutated(rng, one.unit)},
        lambda: {"rounding": some_rounding(rng, 0.3)},
        lambda: {"c_enters": rng.choice(("unit", "first", "last"))},
        lambda: {"interleaved": not one.interleaved},
        lambda: {"split": replace(one.split, rounding=some_rounding(rng, 0.2))},
        lambda: {"split": replace(one.split, residual=some_rounding(rng, 0.2))},
        lambda: {"sums": tuple(replace(total, every=rng.choice((0, 1, 2))) for total in one.sums)},
        lambda: {"sums": one.sums[:-1] or one.sums},
    )
    while True:
        try:
            other = replace(one, **rng.choice(changes)())
        except TcsmtError:
            continue
        if other != one and other.input_formats == one.input_formats:
            return other


def some_inputs(rng: Random, algorithm: Algorithm) -> Domain:
    """A few exponents, mostly such that words and products are normal numbers of their formats."""
    wide, narrow = algorithm.wide, algorithm.split.format
    low, high = wide.e_min, wide.e_max
    if rng.random() < 0.8:
        low = max(low, -(-low // 2), narrow.e_min)
        high = min(high // 2 - 2, narrow.e_max - 1)
    if low > high:
        low, high = wide.e_min, wide.e_max
    middle = rng.randint(low, high)
    kept = (wide.precision, min(narrow.precision, wide.precision), rng.randint(1, wide.precision))
    first, last = (middle - rng.choice((0, 1, 2, 3)), middle + rng.choice((0, 0, 1, 2)))
    return Domain(
        exponents=(max(low, first), min(high, last)), bits=(rng.choice(kept), rng.choice(kept)),
        c_zero=rng.random() < 0.5, positive=rng.random() < 0.3,
    )  # fmt: skip


@dataclass(frozen=True)
class Drawn:
    """An algorithm, a domain, and all inputs in it."""

    seed: str
    algorithm: Algorithm
    domain: Domain
    everything: tiny.Everything

    @classmethod
    def of(cls, seed: str, most: int) -> Drawn:
        """One with at most so many inputs."""
        rng = Random(seed)
        while True:
            algorithm = some_algorithm(rng)
            domain = some_inputs(rng, algorithm)
            everything = recipes.inputs(domain, algorithm)
            if 8 < everything.count <= most:
                assert algorithm.trace
                return cls(seed, algorithm, domain, everything)

    def __str__(self) -> str:
        one = self.algorithm
        parts = (one.split, one.sums, one.interleaved, one.c_enters, one.rounding, one.unit)
        return f"{self.seed}: K = {one.k}, {', '.join(map(str, parts))}, on {self.domain!r}"
