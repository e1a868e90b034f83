"""What is shown of a statement means what is checked: read by a reader of its own, by integers."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from functools import reduce

from hypothesis import given
from hypothesis import strategies as st

from tcsmt.language.run.exact import evaluate
from tcsmt.language.terms import Term, const, var
from tcsmt.matrix_units.models import Model
from tcsmt.matrix_units.models.base import Call
from tcsmt.prove.certificates.stated import Names, of_models
from tcsmt.prove.certificates.statement import Statement
from tests.support.certificates import two_products

BITS = 3
OPERATIONS: dict[str, Callable[..., int]] = {
    "add": lambda *args: sum(args), "sub": lambda a, b: a - b, "mul": lambda a, b: a * b,
    "and": lambda *args: reduce(int.__and__, args), "or": lambda *args: reduce(int.__or__, args),
    "xor": lambda a, b: a ^ b, "neg": lambda a: -a, "not": lambda a: ~a,
}  # fmt: skip


def meaning(text: str, where: Sequence[str], point: Mapping[str, int]) -> int:
    """What is shown, by integers: words of three bits, and truth values."""
    numbered = dict(line.split(" is ", 1) for line in where)
    tokens = re.findall(r"[()]|[^\s()]+", text)

    def read() -> tuple[int, int]:
        """A value and its width."""
        token = tokens.pop(0)
        if token.startswith("#"):
            shown = numbered[token]
            return meaning(shown, where, point), 1 if shown.startswith(
                ("(eq", "(ult", "(not (", "(or (eq")
            ) else BITS
        if token != "(":
            return point[token] if token in point else int(token, 16), BITS
        op, args = tokens.pop(0), []
        while tokens[0] != ")":
            args.append(read())
        tokens.pop(0)
        values = [value for value, _ in args]
        if op in ("eq", "ult"):
            return int(values[0] == values[1] if op == "eq" else values[0] < values[1]), 1
        return OPERATIONS[op](*values) & ((1 << args[0][1]) - 1), args[0][1]

    return read()[0]


def joined(made: tuple[str, Term, Term]) -> Term:
    op, one, two = made
    terms = {"add": one + two, "mul": one * two, "xor": one ^ two, "and": one & two, "or": one | two}
    return terms[op] if op in terms else one - two


words = st.recursive(
    st.sampled_from([*(var(name, BITS) for name in "abc"), const(5, BITS)]),
    lambda inner: st.tuples(st.sampled_from(("add", "mul", "xor", "and", "or", "sub")), inner, inner).map(
        joined
    ),
    max_leaves=60,
)


@given(words, words)
def test_large_terms_are_shown_in_full(one: Term, two: Term) -> None:
    """What is printed has the term's value at every point, by a reader of its own."""
    goal = one.ult(two)
    statement = Statement("t", goal, {}, dict.fromkeys("abc", BITS), (), None, (), {"inputs": {}})
    shown = of_models(statement, Names(statement))
    text = shown.says.removeprefix("no input satisfies ")
    for values in itertools.product(range(0, 1 << BITS, 3), repeat=3):
        point = dict(zip("abc", values, strict=True))
        assert meaning(text, shown.where, point) == evaluate([goal], point)[0]


def calls_of(*models: Model) -> tuple[Call, ...]:
    return tuple(call for model in models for call in model.trace.calls)


def test_stages_have_names_that_are_of_one_stage_each() -> None:
    """Of models of several blocks, too: a name that a second stage has is not used for it."""
    models = two_products(), two_products(k=4, n_fma=2), two_products(k=4, n_fma=2, carry_bits=None)
    statement = Statement("t", const(0, 1), models[1].input_formats, {}, calls_of(*models), None, (), {})
    names = Names(statement).names
    assert len(set(names.values())) == len(names)
    assert "model 2's 'block 1: result'" in names.values()


def test_widths_that_nothing_else_says_are_shown() -> None:
    x = var("x", 4)
    texts = {
        x.zext(9).eq(3): "(zext 9 x)", x.sext(9).eq(3): "(sext 9 x)",
        const(1, 3).concat(x).eq(3): "(concat 0x1:3 x:4)", x[2:1].eq(1): "(extract 2 1 x)",
    }  # fmt: skip
    for goal, text in texts.items():
        shown = of_models(
            s := Statement("t", goal, {}, {"x": 4}, (), None, (), {"inputs": {"x": 4}}), Names(s)
        )
        assert text in shown.says
        assert shown.inputs == "x: 4 bits"
