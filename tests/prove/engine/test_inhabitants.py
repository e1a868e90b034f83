"""An input of which a statement says something: evaluated by a second evaluator, and by all inputs."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tcsmt.language.terms import Term, const, var
from tcsmt.matrix_units.arithmetic.formats import Format, Specials
from tcsmt.matrix_units.models import FusedDotAdd
from tcsmt.prove.certificates.statement import Statement
from tcsmt.prove.engine.inhabitants import Inhabitant, inhabitant, inhabitant_of_domain
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.question import difference
from tests.oracles import terms
from tests.support.certificates import chained, not_about_outputs, two_products
from tests.support.statements import stated

#: Numbers of four bits: a zero, a subnormal, an infinity, a NaN.
SMALL = Format(name="small", exponent_bits=2, fraction_bits=1, bias=1)


def at(roots: Sequence[Term], input_words: dict[str, int]) -> list[int]:
    columns = {name: np.array([word], np.uint64) for name, word in input_words.items()}
    return [int(column[0]) for column in terms.values(roots, columns)]


def small(**changes: object) -> FusedDotAdd:
    """A unit of which every input can be tried."""
    formats = dict.fromkeys(("a_format", "b_format", "c_format", "d_format"), SMALL)
    return two_products(**{"k": 1, "n_fma": 1, "fraction_bits": 3} | formats | changes)


@pytest.mark.slow
@given(
    st.builds(
        Domain,
        finite=st.booleans(),
        positive=st.booleans(),
        subnormals=st.booleans(),
        c_zero=st.booleans(),
        exponents=st.sampled_from((None, (-3, 3), (0, 0), (1, 1), (2, 5), (-9, -4))),
        c_free=st.booleans(),
        bits=st.sampled_from((None, (1, 1), (2, 1))),
    ),
    st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(("eq", "ult", "ugt")), st.integers(0, 15))),
)
@settings(max_examples=25)
def test_one_is_found_where_all_inputs_have_one(domain: Domain, limits: list[tuple[str, str, int]]) -> None:
    """The assumptions by integers, the domain by fractions, on all 4096 inputs."""
    names = {"a": "a0", "b": "b0", "c": "c"}
    also = []
    for operand, kind, bound in limits:
        word, limit = var(names[operand], 4), const(bound, 4)
        also.append({"eq": word.eq(limit), "ult": word.ult(limit), "ugt": limit.ult(word)}[kind])
    means = {"eq": int.__eq__, "ult": int.__lt__, "ugt": int.__gt__}
    one, two = ("", small()), ("", small(fraction_bits=2))
    question = difference("t", one, two, domain, also=[term for term in also if term.value is None])
    found = inhabitant(stated(question))
    kept = [limit for limit, term in zip(limits, also, strict=True) if term.value is None]
    inside = [
        dict(zip(("a0", "b0", "c"), words, strict=True))
        for words in itertools.product(range(16), repeat=3)
        if all(means[kind](words["abc".index(operand)], bound) for operand, kind, bound in kept)
        and domain.contains(question.formats, dict(zip(("a0", "b0", "c"), words, strict=True)))
    ]
    assert (found.values in inside) if inside else (found.values is None and found.empty != "")
    if found.values is not None:
        outputs = [side.trace.output for side in question.sides]
        assert list(found.outputs) == at(outputs, dict(found.values))


def test_its_result_is_no_zero_where_that_can_be() -> None:
    found = inhabitant(stated(difference("t", ("", two_products()), ("", two_products(carry_bits=3)))))
    assert found.values == {"a0": 0x38, "a1": 0, "b0": 0x38, "b1": 0, "c": 0}
    assert str(found) == "a0 = 0x38, b0 = 0x38, all others 0; both results are 0x3c00"
    assert inhabitant(stated(chained())).values is not None


def test_results_that_are_not_the_same_are_both_shown() -> None:
    """Of a statement that is false, say."""
    words = {"a0": 0x38, "b0": 0x08, "a1": 0, "b1": 0}  # 1 and 2^-6
    also = [*(var(name, 8).eq(word) for name, word in words.items()), var("c", 16).eq(0x3C00)]
    question = difference("t", ("", two_products()), ("", two_products(fraction_bits=2)), also=also)
    found = inhabitant(stated(question))
    assert len(set(found.outputs)) == 2
    assert str(found).endswith(f"; the results are {' and '.join(map(hex, found.outputs))}")


def test_a_solver_finds_what_tries_do_not() -> None:
    """A product of two words; what the solver says is evaluated."""
    product = var("a0", 8).zext(16) * var("b0", 8).zext(16)
    question = difference(
        "t", ("", two_products()), ("", two_products(carry_bits=3)), also=[product.eq(101 * 103)]
    )
    found = inhabitant(stated(question))
    assert found.values is not None and {found.values["a0"], found.values["b0"]} == {101, 103}


def test_nobody_says_that_there_is_none_where_the_solver_gives_up(monkeypatch: pytest.MonkeyPatch) -> None:
    product = var("a0", 8).zext(16) * var("b0", 8).zext(16)
    question = difference(
        "t", ("", two_products()), ("", two_products(carry_bits=3)), also=[product.eq(101 * 103)]
    )
    found = inhabitant(stated(question), SolvingOptions(steps=1))
    assert found == Inhabitant(None)
    assert "perhaps none does" in str(found) and found.as_json() == {"empty": False}


def test_of_conditions_that_no_input_satisfies_together() -> None:
    """All of them but one: that the statement is not true for another reason."""
    statement = stated(not_about_outputs())
    found = inhabitant(statement)
    assert found.values is not None and found.but is not None
    assert at([statement.goal, found.but], dict(found.values)) == [0, 0]
    never = var("x", 4).ult(3) & var("x", 4).eq(9) & var("y", 4).ult(2)
    plain = Statement("t", never, {}, {"x": 4, "y": 4}, (), None, (), {"inputs": {"x": 4, "y": 4}})
    assert inhabitant(plain).values is not None
    false = Statement("t", const(0, 1), {}, {}, (), None, (), {"inputs": {}})
    assert inhabitant(false).empty


def test_of_a_domain_alone() -> None:
    formats = dict.fromkeys(("a0", "b0", "c"), SMALL)
    found = inhabitant_of_domain(Domain(exponents=(0, 0)), formats)
    assert found.values == {"a0": 2, "b0": 2, "c": 0}
    powers = Format(
        name="powers", exponent_bits=2, fraction_bits=0, bias=1, specials=Specials.NONE, signed=False
    )
    found = inhabitant_of_domain(Domain(exponents=(9, 9)), {"a0": powers, "b0": SMALL})
    assert found.values is None and found.empty
