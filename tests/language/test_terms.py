"""Terms: one meaning in every interpretation, sharing, simplification, substitution.

``graphs`` builds random terms together with their values, computed on Python integers by the
rules of SMT-LIB written out here, so that a wrong simplification is seen as well.
"""

from __future__ import annotations

import itertools
import os
import random
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tcsmt.language.run.arrays import Program, storage
from tcsmt.language.run.exact import evaluate
from tcsmt.language.terms import (
    FALSE,
    TRUE,
    Term,
    all_of,
    any_of,
    const,
    flat,
    operands_first,
    substitute,
    total,
    umax,
    var,
    variables,
)
from tcsmt.language.write import smtlib
from tests.support.paths import ROOT
from tests.support.scripts import SOLVERS

SETTINGS: dict[str, Any] = {
    "deadline": None,
    "derandomize": True,
    "suppress_health_check": [HealthCheck.too_slow],
}
ROWS = 6
WIDTHS = st.sampled_from([1, 2, 8, 31, 32, 33, 63, 64, 65, 80]) | st.integers(1, 80)


def signed(value: int, width: int) -> int:
    """Two's complement reading of a word."""
    return value - (1 << width) if value >> (width - 1) else value


@dataclass(frozen=True)
class Operation:
    """How a term is made of terms of one width, and what it is worth on integers."""

    make: Callable[[list[Term]], Term]
    value: Callable[[int, list[int]], int]
    arity: int
    truth: bool = False  # whether the result has width 1


OPERATIONS = {
    "not": Operation(lambda t: ~t[0], lambda w, v: ~v[0], 1),
    "neg": Operation(lambda t: -t[0], lambda w, v: -v[0], 1),
    "and": Operation(lambda t: t[0] & t[1], lambda w, v: v[0] & v[1], 2),
    "or": Operation(lambda t: t[0] | t[1], lambda w, v: v[0] | v[1], 2),
    "xor": Operation(lambda t: t[0] ^ t[1], lambda w, v: v[0] ^ v[1], 2),
    "add": Operation(lambda t: t[0] + t[1], lambda w, v: v[0] + v[1], 2),
    "total": Operation(lambda t: total(*t), lambda w, v: sum(v), 4),
    "sub": Operation(lambda t: t[0] - t[1], lambda w, v: v[0] - v[1], 2),
    "mul": Operation(lambda t: t[0] * t[1], lambda w, v: v[0] * v[1], 2),
    "shl": Operation(lambda t: t[0] << t[1], lambda w, v: v[0] << v[1] if v[1] < w else 0, 2),
    "lshr": Operation(lambda t: t[0] >> t[1], lambda w, v: v[0] >> min(v[1], w), 2),
    "ashr": Operation(lambda t: t[0].ashr(t[1]), lambda w, v: signed(v[0], w) >> min(v[1], w), 2),
    "umax": Operation(lambda t: umax(*t), lambda w, v: max(v), 3),
    "eq": Operation(lambda t: t[0].eq(t[1]), lambda w, v: v[0] == v[1], 2, truth=True),
    "ne": Operation(lambda t: t[0].ne(t[1]), lambda w, v: v[0] != v[1], 2, truth=True),
    "ult": Operation(lambda t: t[0].ult(t[1]), lambda w, v: v[0] < v[1], 2, truth=True),
    "ule": Operation(lambda t: t[0].ule(t[1]), lambda w, v: v[0] <= v[1], 2, truth=True),
    "slt": Operation(lambda t: t[0].slt(t[1]), lambda w, v: signed(v[0], w) < signed(v[1], w), 2, truth=True),
    "sle": Operation(
        lambda t: t[0].sle(t[1]), lambda w, v: signed(v[0], w) <= signed(v[1], w), 2, truth=True
    ),
}
SHIFTS = ("shl", "lshr", "ashr")
STRUCTURAL = ("concat", "extract", "zext", "sext", "ite", "all_of", "any_of", "const")


@dataclass
class Graph:
    """Terms with the value of each in every row, and the rows' inputs."""

    inputs: dict[str, list[int]]
    terms: list[Term]
    values: list[list[int]]

    def add(self, term: Term, values: list[int]) -> None:
        """One more term; its values are reduced to its width."""
        self.terms.append(term)
        self.values.append([int(value) & ((1 << term.width) - 1) for value in values])

    def assignment(self, row: int) -> dict[str, int]:
        """The inputs of one row."""
        return {name: column[row] for name, column in self.inputs.items()}


def words(rng: random.Random, width: int, count: int) -> list[int]:
    """Random words, often at the ends of the range or close to a power of two."""
    ones = (1 << width) - 1
    ends = [0, 1, ones, 1 << (width - 1), ones >> 1]
    near = [(1 << rng.randrange(width)) + rng.choice((-1, 0, 1)) & ones for _ in range(3)]
    return [rng.choice([*ends, *near, *(rng.getrandbits(width) for _ in range(6))]) for _ in range(count)]


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """A random graph: variables and constants, then operations on what is there already."""
    rng = random.Random(draw(st.integers(0, 1 << 32)))
    graph = Graph({}, [], [])
    for number in range(draw(st.integers(1, 4))):
        name, width = f"x{number}", draw(WIDTHS)
        graph.inputs[name] = words(rng, width, ROWS)
        graph.add(var(name, width), graph.inputs[name])

    def constant(width: int) -> tuple[Term, list[int]]:
        value = words(rng, width, 1)[0]
        return const(value, width), [value] * ROWS

    def pick(width: int) -> tuple[Term, list[int]]:
        """A term of the graph, brought to a width, or a constant."""
        if draw(st.integers(0, 7)) == 7:
            return constant(width)
        index = draw(st.integers(0, len(graph.terms) - 1))
        term, values = graph.terms[index], graph.values[index]
        if term.width == width:
            return term, values
        if term.width > width:
            low = draw(st.integers(0, term.width - width))
            mask = (1 << width) - 1
            return term[low + width - 1 : low], [value >> low & mask for value in values]
        if draw(st.booleans()):
            return term.zext(width), values
        mask = (1 << width) - 1
        return term.sext(width), [signed(value, term.width) & mask for value in values]

    names = st.sampled_from([*OPERATIONS, *SHIFTS, *STRUCTURAL])
    for _ in range(draw(st.integers(1, 14))):
        name = draw(names)
        width = draw(WIDTHS)
        if name in OPERATIONS:
            operation = OPERATIONS[name]
            picked = [pick(width) for _ in range(operation.arity)]
            if name in SHIFTS and draw(st.booleans()):  # most random amounts shift all bits out
                amount = draw(st.integers(0, width + 1)) % (1 << width)
                picked[1] = const(amount, width), [amount] * ROWS
            columns = zip(*(values for _, values in picked), strict=True)
            values = [operation.value(width, list(column)) for column in columns]
            graph.add(operation.make([term for term, _ in picked]), values)
        elif name == "const":
            graph.add(*constant(width))
        elif name == "concat":
            (upper, high), (lower, low) = pick(min(width, 40)), pick(draw(st.integers(1, 40)))
            joined = [x << lower.width | y for x, y in zip(high, low, strict=True)]
            graph.add(upper.concat(lower), joined)
        elif name == "ite":
            (condition, test), (then, yes), (other, no) = pick(1), pick(width), pick(width)
            chosen = [y if t else n for t, y, n in zip(test, yes, no, strict=True)]
            graph.add(condition.ite(then, other), chosen)
        elif name in ("all_of", "any_of"):
            bits = [pick(1) for _ in range(draw(st.integers(0, 4)))]
            make, fold = (all_of, all) if name == "all_of" else (any_of, any)
            rows = [fold(values[row] for _, values in bits) for row in range(ROWS)]
            graph.add(make(term for term, _ in bits), rows)
        else:  # pick itself extracts and extends
            graph.add(*pick(width))
    return graph


def evaluator_and_arrays_agree(graph: Graph) -> None:
    """evaluate, Program and constant folding give the value computed beside the term."""
    columns = {
        name: np.array(column, dtype=storage(graph.terms[i].width))
        for i, (name, column) in enumerate(graph.inputs.items())
    }
    arrays = Program(graph.terms).run(columns, block=4)
    assert [[int(value) for value in column] for column in arrays] == graph.values
    for column, term in zip(arrays, graph.terms, strict=True):
        assert column.dtype == storage(term.width) or term.width > 64
    for row in range(ROWS):
        expected = [values[row] for values in graph.values]
        assignment = graph.assignment(row)
        assert evaluate(graph.terms, assignment) == expected
        replacement = {term: const(assignment[str(term.data)], term.width) for term in variables(graph.terms)}
        assert [term.value for term in substitute(graph.terms, replacement)] == expected


def solvers_agree(graph: Graph) -> None:
    """With the inputs fixed, every solver knows all values, and that no other is possible."""
    given_terms = graph.terms[: len(graph.inputs)]
    for row in range(2):
        values = [column[row] for column in graph.values]
        fixed = all_of(t.eq(v) for t, v in zip(given_terms, values, strict=False))
        right = all_of(t.eq(v) for t, v in zip(graph.terms, values, strict=True))
        scripts = {"sat": smtlib.script(fixed & right), "unsat": smtlib.script(fixed & ~right)}
        for (expected, text), (name, ask) in itertools.product(scripts.items(), SOLVERS.items()):
            assert ask(text) == expected, f"{name}\n{text}"


@pytest.mark.slow
@settings(max_examples=100, **SETTINGS)
@given(graph=graphs())
def test_evaluator_and_arrays_agree(graph: Graph) -> None:
    evaluator_and_arrays_agree(graph)


@pytest.mark.slow
@settings(max_examples=15, **SETTINGS)
@given(graph=graphs())
def test_solvers_agree(graph: Graph) -> None:
    solvers_agree(graph)


@pytest.mark.long
@settings(max_examples=5000, **SETTINGS)
@given(graph=graphs())
def test_evaluator_and_arrays_agree_on_many_graphs(graph: Graph) -> None:
    evaluator_and_arrays_agree(graph)


@pytest.mark.long
@settings(max_examples=1000, **SETTINGS)
@given(graph=graphs())
def test_solvers_agree_on_many_graphs(graph: Graph) -> None:
    solvers_agree(graph)


@pytest.mark.parametrize("width", [1, 2])
@pytest.mark.parametrize("name", OPERATIONS)
def test_every_operation_on_every_value(name: str, width: int) -> None:
    """Exhaustively on narrow words, in every interpretation."""
    operation = OPERATIONS[name]
    inputs = [var(f"x{number}", width) for number in range(operation.arity)]
    term = operation.make(inputs)
    mask = (1 << term.width) - 1
    rows = list(itertools.product(range(1 << width), repeat=operation.arity))
    expected = [int(operation.value(width, list(row))) & mask for row in rows]
    columns = {str(x.data): np.array(c) for x, c in zip(inputs, zip(*rows, strict=True), strict=True)}
    assert Program([term]).run(columns)[0].astype(int).tolist() == expected
    names = list(columns)
    assert [evaluate([term], dict(zip(names, row, strict=True)))[0] for row in rows] == expected
    wrong = any_of(
        all_of(x.eq(value) for x, value in zip(inputs, row, strict=True)) & term.ne(value)
        for row, value in zip(rows, expected, strict=True)
    )
    text = smtlib.script(wrong)
    assert {ask(text) for ask in SOLVERS.values()} == {"unsat"}


# --- sharing -----------------------------------------------------------------------------------

X, Y, Z = (var(name, 8) for name in "xyz")
P, Q = var("p", 1), var("q", 1)


def test_same_structure_is_the_same_object() -> None:
    """Hash-consing, through every constructor."""
    assert var("x", 8) is X
    assert var("x", 9) is not X
    assert const(0x1FF, 8) is const(0xFF, 8) is const(-1, 8)
    assert (X + Y) * Z is (X + Y) * Z
    assert P.ite(X, Y) is P.ite(X, Y)
    assert X[6:2].concat(Y).sext(20) is X[6:2].concat(Y).sext(20)


@pytest.mark.parametrize("combine", [total, umax, lambda *t: all_of(x.ult(9) for x in t)])
def test_the_order_of_arguments_does_not_matter(combine: Callable[..., Term]) -> None:
    """Permuted sums, maxima and conjunctions are one node."""
    terms = [X, Y * Z, X - Y, P.ite(X, Z), const(7, 8)]
    nodes = {combine(*order) for order in itertools.permutations(terms)}
    assert len(nodes) == 1


def test_the_order_of_two_arguments_does_not_matter() -> None:
    """Commutative operations of two arguments."""
    for one, other in ((X + Y, Y + X), (X * Y, Y * X), (X & Y, Y & X), (X | Y, Y | X)):
        assert one is other
    assert X ^ Y is Y ^ X
    assert X.eq(Y) is Y.eq(X)
    assert X.ult(Y) is not Y.ult(X)


def test_unused_terms_are_forgotten() -> None:
    """The table holds no term alive."""
    from tcsmt.language import terms

    before = set(terms._table)
    node = var("only here", 8)
    for _ in range(100):
        node = node * node + 3
    assert len(terms._table.keys() - before) > 100
    del node
    assert not terms._table.keys() - before


def test_deep_graphs_need_no_recursion() -> None:
    """A chain of 4 000 operations: traversal, evaluation, arrays, text, and its end."""
    node = X
    for _ in range(2_000):
        node = (node ^ Y) + Z
    assert len(operands_first([node])) == 4_003
    assert evaluate([node], {"x": 1, "y": 0, "z": 1}) == [2_001 % 256]
    columns = {"x": np.array([1]), "y": np.array([0]), "z": np.array([1])}
    assert Program([node]).run(columns)[0].tolist() == [2_001 % 256]
    assert smtlib.script(node.eq(0)).count("define-fun") > 600
    assert substitute([node], {Y: const(0, 8)})[0] is not node


DIGESTS = """
from tcsmt.matrix_units.models import FusedDotAdd
from tcsmt.language.terms import operands_first
model = FusedDotAdd.of(
    a_format="e5m2", b_format="e4m3", c_format="f32", d_format="f16", k=4, n_fma=2,
    fraction_bits=13, zero_exponent=-20, rounding="RNE",
)
nodes = operands_first([model.trace.output])
print(len(nodes), hash(tuple(node.digest for node in nodes)))
"""


def test_digests_are_the_same_in_every_process() -> None:
    """So the order of arguments, and every text made of terms, is the same too."""
    answers = {
        subprocess.run(
            [sys.executable, "-c", DIGESTS],
            cwd=ROOT,
            env=os.environ | {"PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for seed in ("0", "1", "4711")
    }
    assert len(answers) == 1


# --- simplification ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("simplified", "expected"),
    [
        (X + 0, X),
        (X - 0, X),
        (X - X, const(0, 8)),
        ((X + 1) + 2, X + 3),
        ((X + 3) - 3, X),
        (total(X, const(200, 8), Y, const(56, 8)), X + Y),
        (X * 0, const(0, 8)),
        (X * 1, X),
        (-(-X), X),  # noqa: B002
        (~~X, X),
        (X & X, X),
        (X & 0, const(0, 8)),
        (X & 0xFF, X),
        (X & ~X, const(0, 8)),
        (X | 0, X),
        (X | ~X, const(0xFF, 8)),
        (X ^ X, const(0, 8)),
        (X ^ 0, X),
        (X ^ 0xFF, ~X),
        ((X & Y) & Z, X & (Y & Z)),
        (X << 0, X),
        (const(0, 8) >> X, const(0, 8)),
        (X.eq(X), TRUE),
        (X.ne(X), FALSE),
        (X.ult(X), FALSE),
        (X.ule(X), TRUE),
        (X.ult(0), FALSE),
        (X.slt(X), FALSE),
        (umax(X), X),
        (umax(X, X, Y), umax(X, Y)),
        (umax(P, Q), P | Q),
        (P + Q, P ^ Q),
        (P * Q, P & Q),
        (P - Q, P ^ Q),
        (-P, P),
        (P.eq(Q), ~(P ^ Q)),
        (P.eq(1), P),
        (P.ashr(Q), P),
        (P << Q, P & ~Q),
        (TRUE.ite(X, Y), X),
        (FALSE.ite(X, Y), Y),
        (P.ite(X, X), X),
        ((~P).ite(X, Y), P.ite(Y, X)),
        (P.ite(TRUE, FALSE), P),
        (P.ite(FALSE, TRUE), ~P),
        (P.ite(TRUE, Q), P | Q),
        (P.ite(FALSE, Q), ~P & Q),
        (P.ite(Q, TRUE), ~P | Q),
        (P.ite(Q, FALSE), P & Q),
        (X.zext(8), X),
        (X.zext(9).zext(12), X.zext(12)),
        (X.sext(9).sext(12), X.sext(12)),
        (X.zext(9).sext(12), X.zext(12)),
        (const(0, 4).concat(X), X.zext(12)),
        (X[7:0], X),
        (X[6:1][3:2], X[4:3]),
        (X.concat(Y)[7:2], Y[7:2]),
        (X.concat(Y)[11:8], X[3:0]),
        (X.zext(12)[6:1], X[6:1]),
        (X.zext(12)[11:8], const(0, 4)),
        (X.sext(12)[6:1], X[6:1]),
        (all_of([]), TRUE),
        (any_of([]), FALSE),
        (all_of([P, TRUE, P]), P),
        (any_of([P, Q, TRUE]), TRUE),
        (all_of([P, Q, ~P]), FALSE),
    ],
)
def test_simplification(simplified: Term, expected: Term) -> None:
    """Neutral and absorbing elements, slices of slices, truth values."""
    assert simplified is expected


def test_slices() -> None:
    """[high:low] as in SMT-LIB, [i] one bit; both have their widths."""
    assert X[5:5] is X[5]
    assert X[5].width == 1
    assert X[6:2].width == 5
    assert evaluate([X[5], X[6:2], X[0:0]], {"x": 0b0110_0101}) == [1, 0b11001, 1]
    assert P[0] is P
    assert P.concat(Q)[1] is P
    assert P.concat(Q)[0] is Q
    for high, low in ((8, 0), (2, 3), (0, -1)):
        with pytest.raises(ValueError, match="width 8"):
            X[high:low]


def test_widths_must_agree() -> None:
    """A term of another width is refused, an integer is reduced."""
    with pytest.raises(ValueError, match="widths 8 and 1 differ"):
        X + P
    with pytest.raises(ValueError, match="width 8 to 7"):
        X.zext(7)
    with pytest.raises(TypeError, match="ite needs a term"):
        P.ite(1, 0)
    assert X + 256 is X
    assert X & -1 is X
    assert P.ite(X, 256) is P.ite(X, const(0, 8))


# --- substitution ------------------------------------------------------------------------------


def test_substitute() -> None:
    """Variables, inner nodes, several roots at once; what is untouched stays the same object."""
    inner = X * Y
    roots = [inner + Z, inner.eq(Z), Z ^ Z.ashr(1)]
    fresh = var("m", 8)
    cut = substitute(roots, {inner: fresh})
    assert cut == [fresh + Z, fresh.eq(Z), roots[2]]
    assert [str(v.data) for v in variables(cut)] == ["m", "z"]
    assert substitute(cut, {fresh: inner}) == roots
    assert substitute(roots, {X: Y, Y: X}) == roots  # at once, and the product is commutative
    assert substitute([X - Y], {X: Y, Y: X}) == [Y - X]
    assert substitute([X + 1], {X: X + 1}) == [X + 2]
    assert substitute(roots, {}) == roots
    assert substitute([X], {X: const(3, 8)}) == [const(3, 8)]


# --- text --------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(20))
def test_maxima_of_maxima(seed: int) -> None:
    """One maximum of all words, or one sum, is the same node, whatever the order; nothing else changes."""
    rng = random.Random(seed)
    words = [var(f"w{place}", 7) for place in range(6)]
    nested = list(words)
    while len(nested) > 1:
        one, two = (nested.pop(rng.randrange(len(nested))) for _ in range(2))
        nested.append(umax(one, two) if rng.random() < 0.7 else umax(one, two, rng.choice(words)))
    around = (nested[0] * words[0]).ult(umax(*words[:3]).zext(8)[6:0] + 3)
    assert flat(nested[0]) is umax(*words)
    assert flat(words[0] + words[1]) is words[0] + words[1]
    sums = (words[0] + words[1]) + (words[2] + (words[1] + 3))
    assert flat(sums) is total(words[0], words[1], words[1], words[2], const(3, words[0].width))
    for _ in range(50):
        values = {f"w{place}": rng.randrange(128) for place in range(6)}
        word, flat_word = evaluate([around, flat(around)], values)
        assert word == flat_word


@pytest.mark.parametrize("ask", SOLVERS.values(), ids=SOLVERS)
def test_names_in_scripts(ask: Callable[[str], str]) -> None:
    """Variables may have names that must be quoted or that the script would use; labels show."""
    names = ["t0", "t1", "two words", "0x", "a.b-c_d", "é"]
    terms = [var(name, 8) for name in names]
    square = terms[0] * terms[0]
    goal = all_of([umax(*terms).eq(9), (square + terms[1]).eq(terms[3]), square.ult(7)])
    text = smtlib.script(goal, labels={square: "the square"}, info=[("source", "|a test|")])
    assert ask(text) == "sat"
    assert "(define-fun |the square| () (_ BitVec 8)" in text
    assert "(set-info :source |a test|)" in text
    assert ask(smtlib.script(goal & terms[1].ult(terms[1] & 0))) == "unsat"


def test_scripts_without_variables() -> None:
    """No empty get-value."""
    for goal, answer in ((TRUE, "sat"), (FALSE, "unsat")):
        text = smtlib.script(goal)
        assert "get-value" not in text
        assert {ask(text) for ask in SOLVERS.values()} == {answer}
