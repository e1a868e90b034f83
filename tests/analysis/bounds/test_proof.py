"""What proofs about whole algorithms rest on: lemmas against all numbers of tiny formats, each one needed."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from random import Random

import numpy as np
import pytest

from tcsmt.analysis.bounds import proof
from tcsmt.analysis.bounds.proof import (
    StepwiseProof,
    Words,
    free_products,
    prove_not_less_accurate,
    split_goal,
    words_needed,
)
from tcsmt.language.run.exact import evaluate
from tcsmt.language.terms import Term, operands_first, var
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS
from tcsmt.programs.recipes.named import algorithm_named
from tcsmt.programs.steps.split import Split
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.domain import Domain
from tests.oracles import recipes
from tests.oracles.numbers import counted, exponent, finite, lies, truth, words
from tests.oracles.tiny_recipes import Drawn, varied
from tests.support.refusing import Refusing
from tests.support.sampling import mostly_long
from tests.support.words_of_inputs import Columns, Sums, Tried, sums

pytestmark = pytest.mark.usefixtures("no_luck")


# --- the split ---------------------------------------------------------------------------------------


def fine(split: Split, domain: Domain, x: Fraction, parts: list[int], most: int, digits: int | None) -> bool:
    """Whether all that is taken for granted of the words of one number is so."""
    fmt = split.format
    low, high = proof.word_exponents(split, domain)
    known = [value for word in parts[:most] if (value := finite(fmt, word)) is not None]
    if any(parts[most:]) or len(known) < len(parts[:most]):
        return False
    if any(value and not low <= exponent(fmt, value) <= high for value in known):
        return False
    small = known[0] and abs(known[0]) < Fraction(2) ** fmt.e_min
    if (small and domain.low >= fmt.e_min) or (domain.positive and fmt.fields(parts[0])[0]):
        return False
    for number, (before, value) in enumerate(pairwise(known)):
        nearest = (split.residual if number else split.rounding).nearest
        places = fmt.precision - (not nearest) - split.scale
        if abs(value) * Fraction(2) ** places > abs(before):
            return False
    rest = abs(x - sum(value / 2 ** (split.scale * n) for n, value in enumerate(known)))
    return not rest if digits is None else rest * 2**digits <= abs(x)


@pytest.mark.slow
@pytest.mark.parametrize(
    "seeds", [(1, 5, 8, 10, 22), pytest.param(range(40), marks=pytest.mark.long)], ids=str
)
def test_the_lemma_about_a_split_fails_exactly_where_it_is_wrong(seeds: Sequence[int]) -> None:
    """It fails exactly for the numbers of the domain of which something is not so (too few words, say)."""
    counts: Counter[bool] = Counter()
    for seed in seeds:
        drawn = Drawn.of(f"split {seed}", 1 << 10)
        split, domain, wide = drawn.algorithm.split, drawn.domain, drawn.algorithm.wide
        everything = np.arange(1 << wide.width)
        pairs = set(zip(domain.bits_in(wide), words_needed(drawn.algorithm, domain), strict=True))
        for bits, most in sorted(pairs):
            inside = np.array([x for x in everything.tolist() if lies(domain, wide, x, bits)])
            parts = np.array(recipes.split(split, inside)).T.tolist()
            fewer = [(None, number) for number in range(1, most)]
            for digits, number in ((None, most), (2, most), (3, split.words), *fewer):
                found = truth(split_goal(split, domain, bits, number, digits), {"x": everything})
                assert not np.delete(found, inside).any(), (drawn, bits)
                for x, given in zip(inside.tolist(), parts, strict=True):
                    right = fine(split, domain, wide.value(x), given, number, digits)
                    assert found[x] != right, (drawn, bits, number, digits, x)
                    counts[right] += 1
    assert counts[True] > 100 and counts[False] > 30


# --- the sums ----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_words_of_all_numbers() -> None:
    """What is known of words holds of them; and the exact sums, and the result, are those of the numbers."""
    for one in sums("words", 8):
        known, low = one.words, one.words.grid.low
        assert truth(known.holds, one.columns).all(), one.drawn
        assert counted(known.exact, low, one.columns) == [sum(row) for row in one.parts], one.drawn
        assert counted(known.size, low, one.columns) == [sum(map(abs, row)) for row in one.parts], one.drawn
        result = words(known.stages[-1].term, one.columns)
        assert np.array_equal(result.astype(np.int64), one.result), one.drawn


def true_products(goal: Term, columns: Columns) -> Columns:
    """The products of significands in a goal, in the order in which they are made free."""
    found: list[Term] = []
    for node in operands_first([goal]):
        if node.op == "mul" and all(arg.op == "zext" for arg in node.args):
            found += [node] if sum(arg.args[0].width for arg in node.args) == node.width else []
    return {f"product {number}": words(node, columns) for number, node in enumerate(found)}


@pytest.mark.parametrize("sharp", [False, True])
def test_goals_with_free_products_are_as_true_as_before(sharp: bool) -> None:
    """A goal is as true as before where each free word is the product that it stands for."""
    counts: Counter[bool] = Counter()
    for one in sums("products", 2):
        exact, size = one.words.exact, one.words.size
        goal = exact[2] ^ exact.slt(size)
        free = free_products(goal, sharp=sharp)
        products = true_products(goal, one.columns)
        assert products or one.drawn.algorithm.split.format.fraction_bits == 0
        found = truth(free, one.columns | products)
        assert np.array_equal(found, truth(goal, one.columns)), one.drawn
        counts.update(found.tolist())
    assert counts[True] and counts[False]


def test_free_products_of_two_words() -> None:
    """For two words: exactly the sizes that products of such words can have."""
    x, y = var("x", 3), var("y", 2)
    goal = (x.zext(5) * y.zext(5)).eq(var("p", 5))
    rows = np.arange(1 << 10)
    columns = {"x": rows & 7, "y": rows >> 3 & 3, "p": rows >> 5}
    found = truth(free_products(goal), columns | {"product 0": columns["p"]})
    for row, (one, two, product) in enumerate(zip(*(c.tolist() for c in columns.values()), strict=True)):
        normal = one >= 4 and two >= 2
        expected = (
            (product == 0) == (one * two == 0) and product <= 7 * 3 and (not normal or product >= 4 * 2)
        )
        assert found[row] == expected, (one, two, product)


# --- what is added outside ---------------------------------------------------------------------------


def additions(title: str, number: int) -> Iterator[tuple[Sums, list[tuple[int, Term]]]]:
    for one in sums(title, number):
        addends = proof._addends(Tried(one.columns), one.words)
        assert addends is not None
        yield one, addends


@pytest.mark.slow
def test_addends_outside_add_up_to_the_result() -> None:
    """In the order of the algorithm it adds up to the result, but for the sign of a zero."""
    counts: Counter[int] = Counter()
    for one, addends in additions("addends", 12):
        wide = one.drawn.algorithm.wide
        found = words(proof._added(one.words, addends), one.columns).astype(np.int64)
        size = (1 << wide.sign_bit) - 1
        assert ((found == one.result) | (found & size == 0) & (one.result & size == 0)).all(), one.drawn
        overflow = truth(proof._overflow(one.words, addends), one.columns).tolist()
        assert overflow == [finite(wide, word) is None for word in one.result.tolist()], one.drawn
        counts[len(addends)] += 1
    assert counts[1] and counts[2], counts


class WithoutZeros(Tried):
    """Cannot show that adding zero changes nothing."""

    def prove(self, what: str, goal: Term) -> bool:
        return what != "adding zero changes nothing" and super().prove(what, goal)


@pytest.mark.slow
def test_a_c_of_zero_is_left_out_only_where_adding_zero_changes_nothing() -> None:
    counts: Counter[str] = Counter()
    for one in sums("addends", 24):
        enters, domain = one.drawn.algorithm.c_enters, one.drawn.domain
        if domain.c_zero and enters != "unit":
            assert proof._addends(WithoutZeros(one.columns), one.words) is None, one.drawn
            counts[enters] += 1
    assert counts["first"] and counts["last"], counts


@pytest.mark.slow
def test_the_last_addition_is_inexact_exactly_where_it_rounds() -> None:
    """It is called inexact exactly where its two numbers do not add up to the exact sum."""
    counts: Counter[bool] = Counter()
    for one, addends in additions("last addition", 12):
        if len(addends) < 2:
            continue
        wide, (shift, last) = one.drawn.algorithm.wide, addends[-1]
        inexact = truth(proof._inexact(one.words, addends), one.columns)
        given = (last, proof._added(one.words, addends[:-1]))
        pairs = zip(*(words(term, one.columns).tolist() for term in given), strict=True)
        for row, (second, first) in enumerate(pairs):
            x, y = finite(wide, second), finite(wide, first)
            right = x is not None and y is not None and x / 2**shift + y == sum(one.parts[row])
            assert inexact[row] != right, (one.drawn, row)
            counts[bool(inexact[row])] += 1
    assert counts[True] and counts[False], counts


# --- every lemma is needed ---------------------------------------------------------------------------


#: Lemmas without which another argument is tried.
OTHERWISE = (
    "its last addition outside rounds the exact dot product to nearest",
    "chains of zero words are zero",
)
#: Seeds of algorithms of which the first is never worse, by lemmas of all kinds.
NEVER_WORSE = (2, 8, 22)


@pytest.mark.parametrize("said", ["sat", "unknown"])
@pytest.mark.parametrize("seed", mostly_long(NEVER_WORSE, [22]))
def test_every_lemma_about_two_algorithms_is_needed(seed: int, said: str) -> None:
    one = Drawn.of(f"pairs {seed}", 1 << 9)
    two = varied(Random(seed), one.algorithm)
    every = Refusing(said)
    chain = StepwiseProof(every)
    assert prove_not_less_accurate(chain, one.algorithm, two, one.domain)
    for goal in every.goals:
        proved = every.proved.get(goal)
        what = next((what for what, step in chain.steps if step is proved), "")
        solver = Refusing(said, goal)
        other = prove_not_less_accurate(StepwiseProof(solver), one.algorithm, two, one.domain)
        assert goal not in solver.proved
        assert not other or not what or what in OTHERWISE, what


@pytest.mark.slow
def test_words_of_two_splits_are_not_the_same() -> None:
    """Nothing is left over by either; on the same words they would be one algorithm, but words differ."""
    drawn = Drawn.of("two splits 60", 1 << 8)
    nearest = replace(drawn.algorithm.split, rounding=ROUNDINGS["RNE"], residual=ROUNDINGS["RNE"])
    one, two = (
        replace(drawn.algorithm, split=split)
        for split in (nearest, replace(nearest, rounding=ROUNDINGS["RTZ"]))
    )
    assert all(Sums(replace(drawn, algorithm=algorithm)).proved for algorithm in (one, two))
    assert recipes.worse(one, two, drawn.everything) is not None
    assert not prove_not_less_accurate(
        StepwiseProof(Solving(SolvingOptions(steps=1_000_000))), one, two, drawn.domain
    )


@pytest.mark.parametrize("low", [12, 13, 14])
def test_the_grid_holds_the_last_bit_of_the_last_words(low: int) -> None:
    algorithm, _ = algorithm_named("ootomo-halfhalf", "volta", 1)
    domain = Domain(exponents=(low, 14))
    first, _ = proof.word_exponents(algorithm.split, domain)
    last = first - algorithm.split.format.fraction_bits - algorithm.split.scale
    assert first == low - 23
    assert Words(algorithm, domain, (2, 2)).grid.low == 2 * last
    assert Words(algorithm, domain, (2, 1)).grid.low == 2 * last + algorithm.split.scale


@pytest.mark.slow
def test_a_proof_is_refused_where_subnormal_words_lose_bits() -> None:
    """At 2^-15 a number of 11 bits is no f16 number: the split's lemma has a counterexample."""
    split = algorithm_named("markidis", "volta", 1)[0].split
    goal = split_goal(split, Domain(exponents=(-15, 14), bits=(11, 11)), 11, 1, None)
    assert Solving().ask(goal).answer == "sat"
    goal = split_goal(split, Domain(exponents=(-14, 14), bits=(11, 11)), 11, 1, None)
    assert Solving().ask(goal).answer == "unsat"


def test_sharp_facts_hold_of_every_product() -> None:
    """All x, y, z of 3, 2 and 3 bits, and the true products in place of the free ones."""
    x, y, z = var("x", 3), var("y", 2), var("z", 3)
    one, two = (word.zext(5) * y.zext(5) for word in (x, z))
    goal = free_products(one.ult(two) | ~one.ult(two) & one.ne(31) | two.eq(31), sharp=True)
    for i, j, k in itertools.product(range(8), range(4), range(8)):
        found = {i * j, k * j}
        tries = [{"product 0": p, "product 1": q} for p, q in itertools.product(found, found)]
        assert any(evaluate([goal], {"x": i, "y": j, "z": k, **t}) == [1] for t in tries)
    assert evaluate([goal], {"x": 1, "y": 3, "z": 1, "product 0": 5, "product 1": 5}) == [0]


def test_comparisons_of_compensated_sums_are_not_proved() -> None:
    chain = StepwiseProof(Solving(SolvingOptions(steps=1_000_000)))
    first, second = (algorithm_named(name, "volta", 1)[0] for name in ("bf16x3-kahan,format=f16", "markidis"))
    drawn = Domain(exponents=(0, 0), bits=(8, 8))
    assert not prove_not_less_accurate(chain, first, second, drawn)
    assert "compensated" in chain.stopped
