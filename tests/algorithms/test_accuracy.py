"""Errors are compared exactly, as terms and as binary64 numbers; what proofs about algorithms rest on."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tcsmt.algorithms.bound import bound, extreme
from tcsmt.algorithms.error import ErrorGrid, exact_dot, nearer, ulp
from tcsmt.algorithms.findings import TYPE1
from tcsmt.algorithms.proof import free_products, split_goal
from tcsmt.algorithms.search import errors, random_rows
from tcsmt.arithmetic.formats import FORMATS
from tcsmt.interpret.exact import evaluate
from tcsmt.prove.solvers.run import Settings
from tcsmt.prove.solving import Solving
from tcsmt.recipes import algorithm_named
from tcsmt.statements.domain import Domain
from tcsmt.terms import var

F32 = FORMATS["f32"]


def value(word: int) -> Fraction:
    return F32.value(word)


MODERATE = st.builds(
    lambda sign, exponent, fraction: sign << 31 | (exponent + 127) << 23 | fraction,
    st.integers(0, 1), st.integers(-15, 14), st.integers(0, (1 << 23) - 1),
)  # fmt: skip


@given(words=st.lists(MODERATE, min_size=5, max_size=5), results=st.tuples(MODERATE, MODERATE))
@settings(max_examples=80, deadline=None)
def test_terms_compare_errors_exactly(words: list[int], results: tuple[int, int]) -> None:
    algorithm, _ = algorithm_named("fp32-fma", "volta", 2)
    domain = TYPE1
    grid = ErrorGrid.of(domain, 2, F32)
    values = dict(zip(("a0", "a1", "b0", "b1", "c"), words, strict=True))
    exact = exact_dot(values)
    terms = [grid.dot(domain, algorithm.trace), grid.dot(domain, algorithm.trace, absolute=True)]
    scale = Fraction(2) ** grid.low
    found = evaluate(terms, values)
    signed = found[0] - (found[0] >> (grid.width - 1) << grid.width)
    assert (signed * scale, found[1] * scale) == (exact, exact_dot(values, absolute=True))
    from tcsmt.terms import const

    one, two = (const(r, 32) for r in results)
    closer = nearer(grid.number(one), grid.number(two), const(found[0], grid.width))
    first, second = (abs(value(r) - exact) for r in results)
    assert evaluate([grid.holds(one), closer], {}) == [1, int(first < second)]


def test_ranking_by_binary64_follows_fractions() -> None:
    algorithm, _ = algorithm_named("markidis", "volta", 4)
    rows = random_rows(TYPE1, F32, 4, 100, np.random.default_rng(9))
    (wrong,), size, _ = errors(rows, rows.run(algorithm))
    for row in range(len(rows)):
        found = extreme(algorithm, rows.values(row))
        assert found.error is not None
        assert float(found.error) == pytest.approx(wrong[row], rel=1e-9, abs=2.0**-80)
        assert float(abs(found.exact)) == pytest.approx(size[row], rel=1e-12)


def test_a_proof_is_refused_where_subnormal_words_lose_bits() -> None:
    """At 2^-15 a number of 11 bits is not a valid f16 value: the split's lemma has a counterexample."""
    split = algorithm_named("markidis", "volta", 1)[0].split
    goal = split_goal(split, Domain(exponents=(-15, 14), bits=(11, 11)), 11, 1, None)
    assert Solving().ask(goal).answer == "sat"
    goal = split_goal(split, Domain(exponents=(-14, 14), bits=(11, 11)), 11, 1, None)
    assert Solving().ask(goal).answer == "unsat"


@pytest.mark.long
def test_bound_of_the_rounding_inside() -> None:
    algorithm, _ = algorithm_named("single-f16", "volta", 1)
    domain = Domain(exponents=(0, 0), bits=(11, 11), positive=True)
    found = bound(algorithm, domain, Solving(Settings(timeout=20)), seconds=0.5, alternate=False)
    assert found.relative is not None
    assert found.proved is not None
    assert found.relative.relative is not None
    assert found.relative.relative <= found.proved <= 8
    assert found.relative.error == abs(value(found.relative.result) - exact_dot(found.relative.values))


def test_ulp() -> None:
    assert ulp(Fraction(1)) == Fraction(1, 2**23)
    assert ulp(Fraction(2) - Fraction(1, 2**60)) == Fraction(1, 2**23)
    assert ulp(Fraction(0)) == ulp(Fraction(1, 2**140)) == Fraction(1, 2**149)


def test_sharp_facts_hold_of_every_product() -> None:
    """All x, y, z of 3, 2 and 3 bits, and the true products in place of the free ones."""
    x, y, z = var("x", 3), var("y", 2), var("z", 3)
    one, two = (word.zext(5) * y.zext(5) for word in (x, z))
    goal = free_products(one.ult(two) | ~one.ult(two) & one.ne(31) | two.eq(31), sharp=True)
    for i, j, k in product(range(8), range(4), range(8)):
        found = {i * j, k * j}
        tries = [{"product 0": p, "product 1": q} for p, q in product(found, found)]
        assert any(evaluate([goal], {"x": i, "y": j, "z": k, **t}) == [1] for t in tries)
    assert evaluate([goal], {"x": 1, "y": 3, "z": 1, "product 0": 5, "product 1": 5}) == [0]
