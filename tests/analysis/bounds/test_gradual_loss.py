"""What is claimed of a tiny unit's fused sum for every largest exponent, against all of its inputs."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pytest

from tcsmt.analysis.bounds.fused_loss import C, ErrorTerms, Unbounded
from tcsmt.analysis.bounds.gradual_loss import GradualSum
from tcsmt.analysis.bounds.proof import StepwiseProof
from tcsmt.analysis.bounds.steps import FusedStep, steps_of
from tcsmt.language.terms import var
from tcsmt.matrix_units.arithmetic.datapath import decode
from tcsmt.matrix_units.models import FusedDotAdd, Kind, Model
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.solving import Solving
from tests.oracles import tiny
from tests.support.fused_rows import NARROW, Rows, with_planted_stage
from tests.support.planted import put
from tests.support.proofs import shared_solving

pytestmark = pytest.mark.usefixtures("no_luck")

Array = np.ndarray[Any, np.dtype[Any]]
#: Formats of c and of the result, whose smallest numbers lie among the products, or just below them.
WIDES = tuple(
    tiny.described(exponent_bits=bits, fraction_bits=fraction, bias=bias)
    for bits, fraction, bias in ((3, 2, 1), (3, 3, 2), (4, 2, 3), (3, 2, 3), (4, 3, 4), (4, 2, 5))
)


def solving() -> Solving:
    return shared_solving(SolvingOptions(steps=400_000))


def some_unit(rng: Random) -> Model:
    """A unit of one product or two, most of them such that something is proved of it."""
    wide = rng.choice(WIDES)
    lanes = rng.choice((1, 1, 2))
    return FusedDotAdd.of(
        a_format=NARROW, b_format=NARROW, d_format=wide, k=lanes, n_fma=lanes,
        c_format=rng.choice((wide, wide, rng.choice(WIDES))),
        rounding=rng.choice(("RTZ", "RNE", "RNE", "RTP", "RNA", "RTO")),
        alignment=rng.choice(("RTZ", "RTZ", "RTN", "RNE")),
        fraction_bits=rng.choice((2, 3, 4, 6, 6)),
        zero_exponent=rng.choice((None, -40, -40, -40, -2, 1)),
        round_fraction_bits=rng.choice((None, None, 1)),
        c_exponent_offset=rng.choice((0, 0, 0, -1)),
        flush_c=rng.random() < 0.2, flush_outputs=rng.random() < 0.1, overflow="ieee",
    )  # fmt: skip


def held(sum_: GradualSum, found: ErrorTerms, rows: Rows, about: object) -> float:
    """Return how close errors come to what is claimed; an error where it does not hold.

    2^T is at most the largest number, or 2^floor; and no more is lost than is said relative to both.
    """
    largest = np.maximum.reduce([size_of(place, rows) for place in sum_.numbers])
    top = np.exp2(rows.top)
    fits = np.abs(rows.total) < 2.0**sum_.format.e_max
    live = ~np.logical_and.reduce([rows.flag(x.zero) for x in sum_.numbers.values()])
    assert (top <= np.maximum(largest, float(found.floor)))[live].all(), about
    last = np.exp2(np.frexp(np.abs(rows.total))[1] - sum_.precision)
    last = np.where(rows.total == 0, 0.0, last)
    rounded = np.maximum(float(found.share) * last, float(found.smallest_loss))
    most = float(found.cut) * np.maximum(largest, float(found.floor)) + rounded
    off = np.abs(rows.result - rows.exact)
    wrong = fits & live & ~(off <= most)
    assert not wrong.any(), (about, found)
    assert (rows.result[~live] == 0).all(), about
    tiny_ones = fits & live & (rows.top < sum_.sum.fraction_bits + sum_.format.e_min - sum_.precision + 1)
    return float((off / most)[tiny_ones].max(initial=0.0))


def size_of(place: int, rows: Rows) -> Array:
    """The magnitude of c or of a product, a subnormal operand counting as the smallest normal number."""
    if place == C:
        return np.abs(rows.number(rows.sum.numbers[C]))
    sizes = [np.abs(rows.number(decode(NARROW, var(f"{side}{place}", NARROW.width)))) for side in "ab"]
    a, b = (np.where(x == 0, 0.0, np.maximum(x, 2.0**NARROW.e_min)) for x in sizes)
    return a * b


def bounded(chain: StepwiseProof, unit: Model) -> tuple[GradualSum, ErrorTerms]:
    """The unit's sum, and what it loses. Raises :class:`.Unbounded`."""
    (step,) = steps_of(chain, unit, NARROW.e_min, NARROW.e_max)
    assert isinstance(step, FusedStep)
    sum_ = GradualSum.of(step.sum)
    return sum_, sum_.losses(chain, set(sum_.numbers))


def claimed(seeds: Iterable[int]) -> Counter[str]:
    """What became of such units: two of three have a planted fault."""
    counts, chain = Counter[str](), StepwiseProof(solving())
    for seed in seeds:
        rng = Random(f"gradual {seed}")
        kind = "planted" if seed % 3 else "right"
        with contextlib.suppress(Unbounded, ValueError):
            unit = some_unit(rng)
            unit = with_planted_stage(rng, unit) if seed % 3 else unit
            counts[kind] += 1
            sum_, found = bounded(chain, unit)
            counts[f"{kind}, bounded"] += 1
            reached = held(sum_, found, Rows(sum_, unit.c_format), (seed, unit))
            counts["most of it is reached"] += reached > 0.8
    print(dict(counts))
    return counts


@pytest.mark.parametrize(
    "seeds",
    [
        (69,),
        pytest.param(range(60), marks=pytest.mark.slow),
        pytest.param(range(1000, 1600), marks=pytest.mark.long),
    ],
    ids=str,
)
def test_no_sum_loses_more_than_is_claimed(seeds: Iterable[int]) -> None:
    """Of results that are subnormal, too; that some errors come close shows that the test can fail."""
    counts = claimed(seeds)
    assert counts["most of it is reached"] >= len(list(seeds)) / 20
    assert counts["right, bounded"] >= counts["right"] / 3


def unit_with(wrong: int) -> Model:
    """A unit whose result's last bit is wrong where its field of exponents is this."""
    wide = WIDES[0]
    unit = FusedDotAdd.of(
        a_format=NARROW, b_format=NARROW, c_format=wide, d_format=wide, k=1, n_fma=1, fraction_bits=4,
        rounding="RTZ", zero_exponent=-40,
    )  # fmt: skip
    trace = unit.trace
    (stage,) = trace.of(Kind.RESULT)
    where = stage.term[wide.sign_bit - 1 : wide.fraction_bits].eq(wrong)
    found = replace(unit)
    found.__dict__["trace"] = put(trace, stage, where.ite(stage.term ^ 1, stage.term))
    return found


@pytest.mark.parametrize(("field", "holds"), [(0, False), (1, False), (WIDES[0].bias + WIDES[0].e_max, True)])
def test_subnormal_results_count(field: int, holds: bool) -> None:
    """A result that is wrong in one binade: among the subnormal numbers it matters, from 2^e_max on not."""
    chain, unit = StepwiseProof(solving()), unit_with(field)
    if holds:
        sum_, found = bounded(chain, unit)
        assert found.share == 1 and found.smallest_loss == Fraction(2) ** (sum_.format.e_min - 2)
        assert found.floor == Fraction(2) ** sum_.format.e_min
        return
    with pytest.raises(Unbounded, match=r"not proved: (the last rounding loses|the sum of zeros)"):
        bounded(chain, unit)


def test_a_sum_that_flushes_is_refused() -> None:
    wide = WIDES[0]
    unit = FusedDotAdd.of(
        a_format=NARROW, b_format=NARROW, c_format=wide, d_format=wide, k=1, n_fma=1, fraction_bits=4,
        rounding="RNE", zero_exponent=-40, flush_outputs=True,
    )  # fmt: skip
    with pytest.raises(Unbounded, match="a subnormal result is read as zero"):
        bounded(StepwiseProof(solving()), unit)


class Refusing(StepwiseProof):
    """Proves what holds, but no lemma whose words begin so."""

    def __init__(self, refused: str) -> None:
        super().__init__(solving())
        self.refused = refused

    def prove(self, what: str, goal: Any) -> bool:
        self.stopped = "refused"
        return not what.startswith(self.refused) and super().prove(what, goal)


@pytest.mark.parametrize(
    "lemma",
    [
        "the sum of zeros is zero",
        "c is 2^T or more",
        "a zero term has significand 0",
        "the largest exponent is that of a term that is not zero",
        "no term's exponent is above the largest",
        "the last rounding loses",
    ],
)
def test_without_a_lemma_there_is_no_bound(lemma: str) -> None:
    with pytest.raises(Unbounded, match="refused"):
        bounded(Refusing(lemma), some_unit(Random("gradual 69")))
