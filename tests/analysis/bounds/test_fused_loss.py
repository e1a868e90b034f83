"""What is claimed of a tiny unit's fused sum, against all of its inputs; and that every lemma is needed."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pytest

from tcsmt.analysis.bounds.budget import budget
from tcsmt.analysis.bounds.fused_loss import C, ErrorTerms, FusedSum, Unbounded
from tcsmt.analysis.bounds.proof import StepwiseProof
from tcsmt.analysis.bounds.steps import FusedStep, steps_of
from tcsmt.language.terms import Term, var
from tcsmt.matrix_units.arithmetic.datapath import Number, decode
from tcsmt.matrix_units.arithmetic.formats import Format
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS
from tcsmt.matrix_units.models import DotThenAdd, FusedDotAdd, Kind, Model
from tcsmt.programs.recipes.algorithm import Algorithm, Sum
from tcsmt.programs.steps.split import Split
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.domain import Domain
from tcsmt.support.errors import TcsmtError
from tests.oracles import recipes, tiny
from tests.oracles.tiny_recipes import Drawn
from tests.support.fused_rows import NARROW, Rows, with_planted_stage
from tests.support.planted import put
from tests.support.proofs import shared_solving
from tests.support.sampling import mostly_long

pytestmark = pytest.mark.usefixtures("no_luck")

Array = np.ndarray[Any, np.dtype[Any]]

WIDE = tiny.described(exponent_bits=4, fraction_bits=2, bias=7)
#: Formats of c and of the result; the last ones reach far below any product.
WIDES = ((WIDE, WIDE), (WIDE, WIDE), (tiny.described(exponent_bits=4, fraction_bits=3, bias=8), WIDE),
         (tiny.described(exponent_bits=5, fraction_bits=2, bias=24),) * 2)  # fmt: skip
#: Exponents of operands: subnormal numbers of the narrow format have the smallest one.
LOW, HIGH = NARROW.e_min, NARROW.e_max


def solving() -> Solving:
    return shared_solving(SolvingOptions(steps=400_000))


def some_unit(rng: Random) -> Model:
    """A unit of one product, most of them such that something is proved of it."""
    c, d = rng.choice(WIDES)
    given: dict[str, Any] = {
        **{"a_format": NARROW, "b_format": NARROW, "c_format": c, "d_format": d},
        "k": 1,
        "n_fma": 1,
        "rounding": rng.choice(("RTZ", "RNE", "RTP", "RNA")),
    }
    given["fraction_bits"] = rng.choice((1, 2, 2, 3, 4, 6))
    given["alignment"] = rng.choice(("RTZ", "RTZ", "RTN", "RNE"))
    if rng.random() < 0.2:
        given |= {"dot_fraction_bits": given["fraction_bits"] + rng.choice((0, 2)), "realignment": "RTN"}
        return DotThenAdd(**given)
    given |= {"carry_bits": rng.choice((None, None, 0)), "zero_exponent": rng.choice((None, -9, -2))}
    given["round_fraction_bits"] = rng.choice((None, None, 1))
    return FusedDotAdd.of(**given)


def some_group(rng: Random) -> Model:
    """A unit whose products are summed on a grid of their own first, c having another exponent."""
    c, d = rng.choice(WIDES)
    return FusedDotAdd.of(
        a_format=NARROW, b_format=NARROW, c_format=c, d_format=d, k=2, n_fma=2, group=2,
        group_fraction_bits=rng.choice((1, 2, 3, 4)), fraction_bits=rng.choice((2, 2, 3, 4, 6)),
        alignment=ROUNDINGS[rng.choice(("RTN", "RTN", "RTZ", "RNE"))],
        rounding=ROUNDINGS[rng.choice(("RTZ", "RNE", "RTO"))],
        c_exponent_offset=rng.choice((0, -1, -1)), zero_c=rng.choice(("fields", "zero_exponent")),
        zero_exponent=-40, c_dropped_above=rng.choice((None, -4)), negative_zero=rng.random() < 0.5,
    )  # fmt: skip


def some_complement(rng: Random) -> Model:
    """A unit that changes signs by the complement: a zero is off by a bit. Most drop a subnormal c."""
    c, d = rng.choice(WIDES)
    lanes = rng.choice((1, 1, 2))
    return FusedDotAdd.of(
        a_format=NARROW, b_format=NARROW, c_format=c, d_format=d, k=lanes, n_fma=lanes,
        alignment_complement=True, fraction_bits=rng.choice((2, 3, 3, 4, 6)),
        rounding=rng.choice(("RNE", "RTZ", "RNA")),
        c_exponent_offset=rng.choice((0, -1, 1 - c.fraction_bits)),
        zero_exponent=rng.choice((-40, -40, None)),
        flush_c=rng.random() < 0.7, flush_outputs=(flushes := rng.random() < 0.5),
        tininess="after" if flushes else "result",
    )  # fmt: skip


def held(sum_: FusedSum, c: Format, chain: StepwiseProof, seed: object) -> Counter[str]:
    """How often what was claimed; an error where it does not hold."""
    rows, counts, most = Rows(sum_, c), Counter[str](), 2.0**sum_.format.e_max
    fits = (rows.top >= sum_.lowest) & (np.abs(rows.total) < most)
    live = ~rows.alone(C) | ~rows.flag(sum_.numbers[C].zero)
    with contextlib.suppress(Unbounded):
        sum_.zeros(chain)
        counts["zeros"] += 1
        assert (rows.result[rows.alone(C) & rows.alone(0)] == 0).all(), seed
    for places in ({0, C}, {0}, {C}):
        with contextlib.suppress(Unbounded):
            cut = sum_.alignment_error(chain, places)
            counts["cut"] += 1
            among = live & (rows.top >= sum_.lowest)
            for other in sum_.numbers.keys() - places:
                among = among & rows.flag(sum_.numbers[other].zero)
            off = np.abs(rows.total - rows.exact) > float(cut) * np.exp2(rows.top)
            assert not (off & among).any(), (seed, places, cut)
    with contextlib.suppress(Unbounded):
        share = sum_.rounding(chain)
        counts[f"rounding {share}"] += 1
        leading = np.frexp(np.abs(rows.total))[1] - 1
        last = np.exp2(leading - sum_.precision + 1)
        last_bit = rows.top - sum_.sum.fraction_bits
        last = np.where(leading - last_bit < sum_.precision, 0.0, last)
        lost = np.abs(rows.result - rows.total)
        fine = (lost < last) | ((last == 0) & (lost == 0)) if share == 1 else lost <= float(share) * last
        assert fine[fits & (rows.total != 0)].all(), (seed, share)
        assert (rows.result[fits & (rows.total == 0)] == 0).all(), (seed, share)
    for place in (0, C):
        if sum_.passes(chain, place):
            counts["passes"] += 1
            x = sum_.numbers[place]
            alone = rows.alone(place) & (np.abs(rows.number(x)) < most)
            alone &= (rows.exponent(x.exponent) >= sum_.lowest) | (place == C)
            assert (rows.result == rows.number(x))[alone].all(), (seed, place)
    with contextlib.suppress(Unbounded, KeyError):
        if sum_.truncates(chain):
            counts["truncates"] += 1
            held_truncation(sum_, rows, seed)
    with contextlib.suppress(Unbounded):
        small = sum_.stays_small(chain)
        counts["small"] += 1
        below = rows.top < sum_.lowest
        assert (np.abs(rows.result - rows.exact) <= float(small))[below].all(), (seed, small)
    with contextlib.suppress(Unbounded):
        found = sum_.losses(chain, {0, C})
        counts["losses"] += 1
        held_losses(sum_, rows, found, seed)
    return counts


def held_losses(sum_: FusedSum, rows: Rows, found: ErrorTerms | None, seed: object) -> None:
    """From the sum of the numbers to the result: no more is lost than by all of it together."""
    off = np.abs(rows.result - rows.exact)
    if found is None:
        found = ErrorTerms(Fraction(0), Fraction(0), truncates=False, tiny_c_loss=Fraction(0))
    below = rows.top < sum_.lowest
    assert (off <= float(found.tiny_c_loss))[below].all(), (seed, found)
    last = np.exp2(np.frexp(np.abs(rows.total))[1] - sum_.precision)
    most = float(found.cut) * np.exp2(rows.top) + float(found.share) * last
    fits = ~below & (np.abs(rows.total) < 2.0**sum_.format.e_max)
    assert (off <= most)[fits & (rows.total != 0)].all(), (seed, found)


def held_truncation(sum_: FusedSum, rows: Rows, seed: object) -> None:
    """No product loses more than itself, and c nothing where it is largest."""
    for x in sum_.sum.addends:
        assert isinstance(x.source, Number)
        given, kept = rows.number(x.source), rows.fixed(x)
        if x.source == sum_.numbers[C]:
            assert (given == kept)[rows.exponent(x.source.exponent) == rows.top].all(), seed
        else:
            near = rows.exponent(x.source.exponent) <= rows.top
            assert (np.abs(given - kept) <= np.abs(given))[near].all(), seed


def claimed(
    seeds: Iterable[int], drawn: Callable[[Random], Model] = some_unit, name: str = "losses"
) -> Counter[str]:
    counts = Counter[str]()
    chain = StepwiseProof(solving())
    for seed in seeds:
        rng = Random(f"{name} {seed}")
        unit = drawn(rng)
        unit = with_planted_stage(rng, unit) if seed % 3 else unit
        try:
            (step,) = steps_of(chain, unit, LOW, HIGH)
        except (Unbounded, ValueError):
            continue
        assert isinstance(step, FusedStep)
        counts["units"] += 1
        if step.sum.drops_below is not None:
            counts["drops"] += 1
            held_drop(step.sum, unit.c_format, (seed, unit))
        counts += held(step.sum, unit.c_format, chain, (seed, unit))
    print(dict(counts))
    return counts


def held_drop(sum_: FusedSum, c: Format, seed: object) -> None:
    """What a sum has as c is c, or zero where c is small."""
    rows, limit = Rows(sum_, c), sum_.drops_below
    assert limit is not None
    given, taken = rows.number(decode(c, var("c", c.width))), rows.number(sum_.numbers[C])
    assert ((given == taken) | ((taken == 0) & (np.abs(given) < 2.0**limit))).all(), seed


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [(0, 3, 10), pytest.param(range(12), marks=pytest.mark.long)], ids=str)
def test_claims_on_fused_sums_hold(seeds: Iterable[int]) -> None:
    counts = claimed(seeds)
    assert {"zeros", "cut", "rounding 1", "rounding 1/2", "passes", "truncates", "small"} <= counts.keys()


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [(0, 1), pytest.param(range(100, 160), marks=pytest.mark.long)], ids=str)
def test_claims_on_sums_of_groups_hold(seeds: Iterable[int]) -> None:
    counts = Counter[str]()
    chain = StepwiseProof(solving())
    for seed in seeds:
        rng = Random(f"groups {seed}")
        unit = some_group(rng)
        unit = with_planted_stage(rng, unit) if seed % 3 else unit
        with contextlib.suppress(Unbounded):
            (step,) = steps_of(chain, unit, LOW, HIGH)
            assert isinstance(step, FusedStep)
            counts["units"] += 1
            found = step.sum.losses(chain, set(step.sum.numbers))
            counts["planted" if seed % 3 else "bounded"] += 1
            held_losses(step.sum, Rows(step.sum, unit.c_format), found, (seed, unit))
    print(dict(counts))
    assert counts["bounded"] >= len(seeds) / 6


@pytest.mark.slow
@pytest.mark.parametrize(
    "seeds",
    [
        range(3),
        pytest.param(range(6), marks=pytest.mark.long),
        pytest.param(range(100, 200), marks=pytest.mark.long),
    ],
    ids=str,
)
def test_claims_on_sums_with_complements_hold(seeds: range) -> None:
    counts = claimed(seeds, some_complement, "complements")
    assert {"zeros", "cut", "rounding 1/2", "drops", "losses"} <= counts.keys()
    assert counts["cut"] >= 3 * len(seeds) / 4


@pytest.mark.parametrize(("below", "holds"), [(0, True), (1, False), (2, False)])
def test_rounding_is_about_all_sums_below_the_largest(below: int, holds: bool) -> None:
    """A result that is wrong in one binade: from 2^e_max on it does not matter, just below it does."""
    unit = FusedDotAdd.of(
        a_format=NARROW, b_format=NARROW, c_format=WIDE, d_format=WIDE, k=1, n_fma=1, fraction_bits=4,
        rounding="RTZ", zero_exponent=-9,
    )  # fmt: skip
    trace = unit.trace
    (stage,) = trace.of(Kind.RESULT)
    field = WIDE.bias + WIDE.e_max - below
    where = stage.term[WIDE.sign_bit - 1 : WIDE.fraction_bits].eq(field)
    wrong = replace(unit)
    wrong.__dict__["trace"] = put(trace, stage, where.ite(stage.term ^ 1, stage.term))
    chain = StepwiseProof(solving())
    (step,) = steps_of(chain, wrong, LOW, HIGH)
    assert isinstance(step, FusedStep)
    if holds:
        assert step.sum.rounding(chain) == 1
        return
    with pytest.raises(Unbounded, match="the last rounding loses"):
        step.sum.rounding(chain)


@pytest.mark.long
def test_claims_on_many_fused_sums_hold() -> None:
    claimed(range(1000, 1400))


# --- from lemmas to a bound ---------------------------------------------------------------------------

#: Seeds of algorithms whose largest error is more than half of the bound.
TIGHT = (0, 5, 7, 12, 16, 20, 25)


@pytest.mark.parametrize("seed", mostly_long(TIGHT, TIGHT[::3]))
def test_bounds_that_are_nearly_reached(seed: int) -> None:
    drawn = Drawn.of(f"tight {seed}", 1 << 10)
    total = budget(StepwiseProof(solving()), drawn.algorithm, drawn.domain).total
    largest, where = recipes.largest_error(drawn.algorithm, drawn.everything)
    assert largest is not None
    assert total / 2 < largest <= total, (drawn, where)


def test_a_c_that_is_dropped_counts_once_for_each_sum() -> None:
    """Each sum of a chain may drop what it takes over, where that is smaller than the smallest normal."""
    unit = FusedDotAdd.of(
        a_format=NARROW, b_format=NARROW, c_format=WIDE, d_format=WIDE, k=1, n_fma=1, fraction_bits=3,
        rounding="RTZ", zero_exponent=-40, overflow="ieee",
    )  # fmt: skip
    one = Algorithm(k=2, unit=unit, split=Split(format=NARROW, wide=WIDE, words=1), sums=(Sum(((0, 0),)),))
    domain = Domain(exponents=(0, 0), bits=(2, 2))
    plain = budget(StepwiseProof(solving()), one, domain).total
    flushing = replace(one, unit=unit.replace(flush_c=True))
    total = budget(StepwiseProof(solving()), flushing, domain).total
    assert total - plain >= 2 * Fraction(2) ** WIDE.e_min > 0  # |c| + sum |a·b| is 1 or more


class Refusing(StepwiseProof):
    """Proves what holds, but for the lemma with this number."""

    def __init__(self, shared: Solving, refused: int | None = None) -> None:
        super().__init__(shared)
        self.refused, self.asked = refused, 0

    def prove(self, what: str, goal: Term) -> bool:
        self.asked += 1
        self.stopped = "refused"
        return self.asked - 1 != self.refused and super().prove(what, goal)


@pytest.mark.slow
@pytest.mark.parametrize("seed", mostly_long([34, 42, 50], [42]))
def test_without_a_lemma_no_bound_is_smaller(seed: int) -> None:
    drawn, shared = Drawn.of(f"tight {seed}", 1 << 10), solving()
    every = Refusing(shared)
    total = budget(every, drawn.algorithm, drawn.domain).total
    larger = 0
    for number in range(every.asked):
        try:
            found = budget(Refusing(shared, number), drawn.algorithm, drawn.domain).total
        except TcsmtError:
            larger += 1
            continue
        assert found >= total
        larger += found > total
    assert larger >= every.asked // 3  # the others are asked in two forms
