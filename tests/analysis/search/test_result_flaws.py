"""Wrong signs and results that fall: witnesses in the papers' fractions, and proofs."""

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import pytest

from tcsmt.analysis.bounds.monotone import successor
from tcsmt.analysis.search.result_flaws import FLAWS, find
from tcsmt.analysis.sweeps.findings import TYPE1
from tcsmt.language.run.exact import evaluate
from tcsmt.language.terms import var
from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.programs.recipes import algorithm_named
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.verdict import Distinguished, Equivalent
from tests.oracles.papers import reference
from tests.support.sampling import mostly_long

F32 = FORMATS["f32"]


def value(word: int) -> Fraction:
    return F32.value(word)


def test_successor_is_the_next_word_of_the_domain() -> None:
    """All words of a small domain, in order: each one's successor is the next larger value."""
    domain, bits = Domain(exponents=(-1, 1)), 3
    magnitudes = [Fraction(m, 4) * Fraction(2) ** e for e in (-1, 0, 1) for m in (4, 5, 6, 7)]
    values = [*(-m for m in reversed(magnitudes)), Fraction(0), *magnitudes]
    after = successor(var("x", 32), domain, F32, bits)
    for x, y in pairwise(values):
        assert value(evaluate([after], {"x": F32.word(x)})[0]) == y
    assert value(evaluate([after], {"x": 1 << 31})[0]) == magnitudes[0]
    inside = evaluate([domain.within(after, F32, bits)], {"x": F32.word(values[-1])})
    assert inside == [0]


FLAWED = [("markidis", "hopper", 25, 16), ("ootomo-halfhalf", "volta", 23, 4)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "arch", "bits", "block"), [pytest.param(*FLAWED[0], marks=pytest.mark.long), FLAWED[1]]
)
@pytest.mark.parametrize("question", mostly_long(FLAWS, ["sign"]))
def test_flaws_hold_in_the_papers_fractions(
    question: str, name: str, arch: str, bits: int, block: int
) -> None:
    """Both witnesses, replayed by the reference above: no term and no compiled unit."""
    algorithm, _ = algorithm_named(name, arch, 2)
    found = find(FLAWS[question](name, algorithm, TYPE1), Solving(SolvingOptions("z3", 1)), search=0.3)
    assert isinstance(found.verdict, Distinguished)
    assert found.short is not None and found.worst is not None
    assert found.worst.size >= found.short.size
    for case in (found.short, found.worst):
        assert case is not None
        inputs = dict(case.values)
        exact, result = sum_of(inputs), reference(algorithm, inputs, bits, block)
        assert value(case.result) == result
        if question == "sign":
            assert exact * result <= 0
            assert exact
            continue
        changed = {**inputs, case.moved: case.word}
        grown, after = sum_of(changed), reference(algorithm, changed, bits, block)
        assert value(case.after) == after
        assert (grown - exact) * (after - result) < 0


def sum_of(values: dict[str, int]) -> Fraction:
    products = [value(values[f"a{i}"]) * value(values[f"b{i}"]) for i in range(2)]
    return value(values["c"]) + sum(products, Fraction(0))


@pytest.mark.slow
@pytest.mark.parametrize("name", mostly_long(["single-f16", "fp32-fma"], ["single-f16"]))
def test_one_product_never_has_the_wrong_sign(name: str) -> None:
    algorithm, _ = algorithm_named(name, "hopper", 1)
    found = find(FLAWS["sign"](name, algorithm, replace(TYPE1, c_zero=True)), Solving(), search=0.2)
    assert isinstance(found.verdict, Equivalent), found
    assert found.short is None


@pytest.mark.long
def test_one_word_and_one_product_are_monotone() -> None:
    one, _ = algorithm_named("single-f16", "hopper", 1)
    proved = find(FLAWS["monotone"]("single-f16", one, replace(TYPE1, c_zero=True)), Solving(), search=0.2)
    assert isinstance(proved.verdict, Equivalent), proved


@pytest.mark.long
def test_four_products_on_volta_are_not_monotone() -> None:
    four, _ = algorithm_named("single-f16", "volta", 4)
    found = find(
        FLAWS["monotone"]("single-f16", four, TYPE1),
        Solving(SolvingOptions("z3", 1)),
        search=0.5,
    )
    assert isinstance(found.verdict, Distinguished)
