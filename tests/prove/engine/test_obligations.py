"""Each thing that an argument about two grids rests on is asked, and is needed.

The blocks are of tiny units, so that what is concluded is held against all inputs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from random import Random

import numpy as np
import pytest

from tcsmt.language.terms import FALSE, TRUE, Term, all_of, const, umax, var
from tcsmt.language.write.smtlib import script
from tcsmt.matrix_units.arithmetic.datapath import Exponent, Fixed, Number
from tcsmt.matrix_units.arithmetic.formats import Format, Specials
from tcsmt.matrix_units.models import FusedDotAdd, Kind, Trace
from tcsmt.prove.certificates.derivation import characterised
from tcsmt.prove.engine.alignment_grids import Prove, multiple, same_result
from tcsmt.prove.engine.blocks import Block
from tcsmt.prove.engine.engine import decide
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.question import ComparedModel
from tcsmt.prove.statements.verdict import Distinguished, Equivalent
from tests.oracles import terms, tiny
from tests.support import solving_here
from tests.support.planted import put, question, rare, wrong_where

pytestmark = pytest.mark.usefixtures("no_luck")

ALL = Domain(finite=False)
NARROW = tiny.described(exponent_bits=2, fraction_bits=1, bias=1, specials=Specials.NONE)
IEEE = tiny.described(exponent_bits=2, fraction_bits=1, bias=1)
RESULT = tiny.described(exponent_bits=3, fraction_bits=2, bias=3)


@cache
def solved(goal: Term) -> bool:
    """Whether a goal has a solution; asked once, as the same lemmas are about many pairs."""
    if goal.value is not None:
        return bool(goal.value)
    answer = solving_here.solve(script(goal), SolvingOptions()).answer
    assert answer in ("sat", "unsat")
    return answer == "sat"


def proved(what: str, goal: Term) -> bool:
    return not solved(goal)


def unit(zero: int | None, fmt: Format = NARROW, bits: int = 6, k: int = 1, n: int = 1) -> FusedDotAdd:
    return FusedDotAdd.of(
        a_format=fmt, b_format=fmt, c_format=IEEE if k == n else RESULT, d_format=RESULT, k=k, n_fma=n,
        fraction_bits=bits, alignment="RTZ", rounding="RNE", zero_exponent=zero,
    )  # fmt: skip


def block(trace: Trace) -> Block:
    """The only fused sum of a trace."""
    found = Block.of(trace.stages, {})
    assert found is not None
    return found


@dataclass(frozen=True)
class Pair:
    """Two traces on one set of inputs, of units that count zeros otherwise, and all those inputs."""

    traces: tuple[Trace, Trace]
    everything: tiny.Everything
    known: Term = TRUE

    @classmethod
    def of(cls, one: FusedDotAdd, two: FusedDotAdd) -> Pair:
        return cls((one.trace, two.trace), tiny.Everything.of(one.input_formats, ALL))

    def same(self, prove: Prove = proved, satisfiable: Callable[[Term], bool | None] = solved) -> bool:
        """What the argument says."""
        one, two = map(block, self.traces)
        return same_result(one, two, self.known, prove, satisfiable) is not None

    def equal(self) -> bool:
        """Whether the results are the same words on all inputs."""
        for columns in self.everything:
            one, two = terms.values([trace.output for trace in self.traces], columns)
            if not np.array_equal(one, two):
                return False
        return True


#: Units whose largest exponents differ where a term is zero (or both are), and nothing is cut.
PAIRS = [
    Pair.of(unit(-2), unit(1)),
    Pair.of(unit(2, IEEE, 7), unit(None, IEEE, 7)),
]


class Refusing:
    """Proves what holds, but for the one with this number."""

    def __init__(self, refused: int | None = None) -> None:
        self.refused = refused
        self.asked: list[str] = []

    def __call__(self, what: str, goal: Term) -> bool:
        self.asked.append(what)
        return len(self.asked) - 1 != self.refused and proved(what, goal)


# --- two grids -------------------------------------------------------------------------------------


@pytest.mark.slow_cases("pair0")
@pytest.mark.parametrize("pair", PAIRS)
def test_every_lemma_about_two_grids_is_needed(pair: Pair) -> None:
    every = Refusing()
    assert pair.equal() and pair.same(every)
    assert len(set(every.asked)) >= 9
    for number, what in enumerate(every.asked):
        assert not pair.same(Refusing(number)), what


def test_units_are_the_same_as_themselves() -> None:
    """A gap of 0, and results that are the same anyway."""
    one = unit(-2)
    assert Pair.of(one, one).same()
    assert Pair.of(unit(1), unit(-2)).same()  # the finer grid may be either one's


@pytest.mark.parametrize("bits", [2, 3, 4])
def test_grids_that_cut(bits: int) -> None:
    """Products have bits down to 2^-2: a zero that enters with 1 or 3 makes the grid too coarse."""
    for zeros in ((-2, 1), (-2, 3), (1, 3)):
        pair = Pair.of(unit(zeros[0], bits=bits), unit(zeros[1], bits=bits))
        assert pair.equal() or not pair.same(), (bits, zeros)


def some_planted(rng: Random, pair: Pair) -> Pair:
    """A pair of which one side is otherwise for few inputs."""
    side = rng.randrange(2)
    trace = pair.traces[side]
    kinds = (Kind.LARGEST_EXPONENT, Kind.ALIGNED_PRODUCT, Kind.ALIGNED_C, Kind.RESULT, Kind.RESULT)
    (stage,) = trace.of(rng.choice(kinds))[:1]
    row = {name: int(words[0]) for name, words in pair.everything.some(rng, 1).items()}
    where = rare(rng, trace, row)
    (top,), (total,) = trace.of(Kind.LARGEST_EXPONENT), trace.of(Kind.SUM)
    if stage.kind is Kind.RESULT and rng.random() < 0.7:  # for a sum, or an exponent, that occurs
        given = {name: np.array([word]) for name, word in row.items()}
        of = rng.choice((top, total))
        where = of.term.eq(int(np.broadcast_to(terms.values([of.term], given)[0], 1)[0]))
    changed = put(trace, stage, wrong_where(rng, stage, where))
    return replace(pair, traces=(changed, pair.traces[1]) if side == 0 else (pair.traces[0], changed))


@pytest.mark.slow
def test_planted_differences_on_two_grids() -> None:
    counts: Counter[str] = Counter()
    for seed in range(18):
        rng = Random(f"two grids {seed}")
        pair = some_planted(rng, rng.choice(PAIRS))
        same, equal = pair.same(), pair.equal()
        assert equal or not same, f"seed {seed}: called equal"
        counts[f"{'equal' if equal else 'different'}, {'proved' if same else 'refused'}"] += 1
    print(dict(counts))
    assert counts["different, refused"] >= 12 and counts["equal, proved"]


def guessing(rng: Random, *answers: bool | None) -> Callable[[Term], bool | None]:
    """Says anything about whether a goal has a solution."""
    return lambda goal: rng.choice(answers)


def test_wrong_guesses_about_lemmas_prove_nothing() -> None:
    """Whatever is said about what is possible: what is concluded is proved."""
    for seed in range(12):
        rng = Random(f"guesses {seed}")
        pair = rng.choice(PAIRS) if seed % 4 else some_planted(rng, rng.choice(PAIRS))
        assert not pair.same(satisfiable=guessing(rng, True, False, None)) or pair.equal()
    for said in (True, None):  # nothing is known of the distance
        assert not PAIRS[0].same(satisfiable=guessing(rng, said))
    cutting = Pair.of(unit(-2, bits=3), unit(3, bits=3))
    assert not cutting.equal() and not cutting.same(satisfiable=guessing(rng, False))


@pytest.mark.slow
def test_infinities_and_nans_of_one_side_alone() -> None:
    """Terms that only one side reads as special, and special results that differ."""
    one, two = (unit(zero, IEEE, 7) for zero in (-2, 1))
    nan = two.replace(nan=next(w for w in range(64) if RESULT.is_nan(w) and w != RESULT.nan_word))
    assert Pair.of(one, two).same()
    assert not Pair.of(one, nan).same()
    finite = replace(Pair.of(one, nan), known=Domain().holds(one.input_formats, one.trace))
    assert finite.same()
    # what is an infinity for one is a number for the other: on finite inputs alone it would be the same
    blocks = block(one.trace), block(two.trace)
    blind = replace(blocks[1], aligned=tuple(map(_never_special, blocks[1].aligned)))
    assert blind.special is FALSE
    asked = Refusing()
    assert same_result(blocks[0], blind, TRUE, asked, solved)
    special = asked.asked.index("where a term is an infinity or a NaN")
    assert not same_result(blocks[0], blind, TRUE, Refusing(special), solved)


def _never_special(x: Fixed) -> Fixed:
    assert isinstance(x.source, Number)
    return replace(x, source=replace(x.source, infinite=FALSE, nan=FALSE))


def test_blocks_of_other_shapes_are_refused() -> None:
    one, two = map(block, PAIRS[0].traces)
    assert not same_result(one, replace(two, aligned=two.aligned[:1]), TRUE, proved, solved)
    fewer = replace(two.sum, fraction_bits=two.sum.fraction_bits - 1)
    assert not same_result(one, replace(two, sum=fewer), TRUE, proved, solved)
    cut = replace(two.sum, word=two.sum.word[two.sum.word.width - 2 : 0].sext(two.sum.word.width))
    for changed in (replace(two, sum=cut), replace(two, sum=replace(two.sum, word=two.sum.word.sext(20)))):
        assert not same_result(one, changed, TRUE, proved, solved)
        assert not same_result(changed, one, TRUE, proved, solved)


# --- multiples ---------------------------------------------------------------------------------------


def test_every_lemma_about_multiples_is_needed() -> None:
    one = block(unit(-2).trace)
    every = Refusing()
    assert one.last_bit == -2
    fact = multiple(one, -2, TRUE, every)
    assert fact is not None and len(set(every.asked)) >= 5
    for number, what in enumerate(every.asked):
        assert multiple(one, -2, TRUE, Refusing(number)) is None, what


def test_a_fact_about_multiples_holds_or_is_refused() -> None:
    """On planted results, and for last bits that are too high."""
    counts: Counter[bool] = Counter()
    everything = PAIRS[0].everything
    for seed in range(30):
        rng = Random(f"multiples {seed}")
        trace = some_planted(rng, PAIRS[0]).traces[0] if seed % 3 else unit(rng.randint(-3, 2)).trace
        one, last_bit = block(trace), rng.choice((-2, -2, -1, 0))
        fact = multiple(one, last_bit, TRUE, proved)
        counts[fact is not None] += 1
        if fact is not None:
            for columns in everything:
                assert terms.values([fact], columns)[0].all(), seed
    assert counts[True] >= 5 and counts[False] >= 5


@pytest.mark.slow
def test_results_of_a_chain_are_merged_where_they_are_multiples() -> None:
    """The second fused sum's c is the first one's result, of which only the fact is known."""
    one, two = (unit(zero, bits=10, k=2, n=1) for zero in (-2, 0))
    domain = Domain(finite=False, c_zero=True)
    sides = [ComparedModel(name, one, model.trace) for name, model in (("one", one), ("two", two))]
    found = decide(question(sides[0], sides[1], domain), Solving(SolvingOptions(steps=400_000)))
    assert isinstance(found.verdict, Equivalent), found.verdict


# --- what is made free ---------------------------------------------------------------------------------


def test_a_maximum_is_the_word_that_it_is() -> None:
    """What replaces a maximum has the same solutions: no less than any argument, and one of them."""
    x, y, z = (var(name, 2) for name in "xyz")
    columns = {n: w.ravel() for n, w in zip("xyz", np.meshgrid(*[np.arange(4)] * 3), strict=True)}
    top = umax(x, y, z)
    for goal in (top.eq(2) & x.ult(2), top.ult(y), (top - x).eq(3), umax(top + 1, z).eq(0)):
        changed = characterised(goal)
        (holds,) = terms.values([goal], columns)
        possible = np.zeros(64, bool)
        for first, second in product(range(4), repeat=2):
            free = {"maximum 0": np.full(64, first), "maximum 1": np.full(64, second)}
            possible |= terms.values([changed], columns | free)[0].astype(bool)
        assert np.array_equal(possible, holds.astype(bool))


# --- zeros -------------------------------------------------------------------------------------------


#: Zeros of both signs: a solver's own example of zeros is one of these at most.
SIGNS = [(a, c) for a in (0, 8) for c in (0, 8)]


def zeros_apart(signs: tuple[int, int] | None) -> Pair:
    """Units whose largest exponents differ where all terms are zero.

    signs: there the results look at them, where the words of a and c are these; else they differ where some
    terms are not zero.
    """
    traces: list[Trace] = []
    for trace in (unit(-9).trace, unit(-8).trace):
        (top,), (result,) = trace.of(Kind.LARGEST_EXPONENT), trace.of(Kind.RESULT)
        numbers = [x.source for x in block(trace).aligned]
        zero = all_of(x.zero for x in numbers if isinstance(x, Number))
        assert isinstance(top.value, Exponent)
        if signs is not None:
            seen = top.value.within(-16, 16)[0] & trace.a[0].eq(signs[0]) & trace.c.eq(signs[1])
            trace = put(trace, result, (zero & seen).ite(result.term ^ 1, result.term))
        elif traces:
            trace = put(trace, top, (~zero & trace.c.eq(3)).ite(const(5, top.term.width), top.term))
        traces.append(trace)
    return Pair((traces[0], traces[1]), PAIRS[0].everything)


@pytest.mark.parametrize("signs", [*SIGNS, None])
def test_both_cases_of_zeros_are_needed(signs: tuple[int, int] | None) -> None:
    """A difference where every term is zero, and one where some are not."""
    pair, model = zeros_apart(signs), unit(-9)
    sides = [
        ComparedModel(name, model, trace) for name, trace in zip(("one", "two"), pair.traces, strict=True)
    ]
    assert not pair.equal()
    verdict = decide(question(sides[0], sides[1], ALL), Solving(SolvingOptions(steps=400_000))).verdict
    assert isinstance(verdict, Distinguished), verdict


def test_zeros_alone_make_no_difference() -> None:
    model, other = unit(-9), unit(-8)
    sides = ComparedModel("one", model, model.trace), ComparedModel("two", model, other.trace)
    found = decide(question(*sides, ALL), Solving(SolvingOptions(steps=400_000)))
    assert isinstance(found.verdict, Equivalent)
    assert any("every term is zero" in step.what for step in found.steps)
