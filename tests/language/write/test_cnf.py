"""Clauses of terms: with the inputs given, unit propagation alone finds what integers say."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from functools import reduce
from types import FunctionType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tcsmt.language.run.arrays import Program
from tcsmt.language.terms import FALSE, TRUE, Term, _make, const, total, umax, var, variables
from tcsmt.language.write.cnf import Cnf, as_clauses
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.prove.engine.boundary_inputs import rows as pool_rows
from tests.oracles import wordmath
from tests.oracles.assignments import satisfiable
from tests.oracles.wordmath import Node
from tests.support.computations import constructed
from tests.support.interpreters import literals
from tests.support.propagation import Propagator
from tests.support.sampling import mostly_long


def made(nodes: Sequence[Node], *, simplified: bool = True) -> list[Term]:
    """The terms of nodes: by the constructors, or the operations as they stand."""
    found: list[Term] = []
    for node in nodes:
        args = tuple(found[place] for place in node.args)
        plain = node.op not in ("const", "var", "ne", "ule", "sle", "leading_zeros", "normalised", "fma")
        if plain and not simplified:
            data = node.data if node.op == "extract" else None
            found.append(_make(node.op, node.width, args, data))
        else:
            found.append(constructed(node, args))
    return found


def check_value(term: Term, inputs: dict[str, int], value: int, who: object) -> None:
    """The clauses of "the term has this value" follow, and those of each other value of a bit are false."""
    names = {str(node.data) for node in variables([term])}
    given = {name: word for name, word in inputs.items() if name in names}
    right = as_clauses(term.eq(value))
    assert Propagator(right.clauses).follow(literals(right, given)) is not None, who
    for bit in range(term.width):
        wrong = as_clauses(term[bit] ^ (value >> bit & 1))
        assert Propagator(wrong.clauses).follow(literals(wrong, given)) is None, (who, bit)


# --- every operation at small widths -------------------------------------------------------------------


def shapes() -> list[tuple[str, int, tuple[int, ...], tuple[int, int] | None]]:
    """Operations, widths of their values and arguments, and bounds."""
    found: list[tuple[str, int, tuple[int, ...], tuple[int, int] | None]] = []
    for width in (1, 2, 3):
        found += [(op, width, (width,), None) for op in wordmath.UNARY]
        found += [(op, width, (width, width), None) for op in (*wordmath.BINARY, *wordmath.SHIFTS)]
        found += [(op, 1, (width, width), None) for op in wordmath.COMPARISONS]
        most = 4 if width < 3 else 3
        found += [
            (op, width, (width,) * count, None) for op in wordmath.REDUCTIONS for count in range(1, most + 1)
        ]
        found += [("concat", width + low, (width, low), None) for low in (1, 2, 3)]
        found += [("ite", width, (1, width, width), None)]
        found += [(op, width + more, (width,), None) for op in ("zext", "sext") for more in (1, 2, 3)]
        found += [
            ("extract", high - low + 1, (width,), (high, low))
            for high in range(width)
            for low in range(high + 1)
        ]
    return found


@pytest.mark.parametrize("simplified", [True, False])
def test_every_operation_at_small_widths(simplified: bool) -> None:
    """All inputs. Where the same word is given twice, too."""
    for op, width, widths, data in shapes():
        for names in {tuple(range(len(widths))), (0,) * len(widths) if len(set(widths)) == 1 else (0, 1, 2)}:
            names = names[: len(widths)]
            words = sorted(set(names))
            inputs = [Node("var", widths[names.index(word)], (), f"x{word}") for word in words]
            node = Node(op, width, tuple(words.index(name) for name in names), data)
            term = made([*inputs, node], simplified=simplified)[-1]
            if term.value is not None:
                continue
            check_shape(op, term, [*inputs, node])


def check_shape(op: str, term: Term, nodes: list[Node]) -> None:
    """One clause set for each bit; all inputs."""
    sets = [as_clauses(term[bit]) for bit in range(term.width) if term[bit].value is None]
    bits = [bit for bit in range(term.width) if term[bit].value is None]
    engines = [Propagator(one.clauses) for one in sets]
    names = [str(node.data) for node in nodes[:-1]]
    for values in itertools.product(*(range(1 << node.width) for node in nodes[:-1])):
        inputs = dict(zip(names, values, strict=True))
        right = wordmath.evaluate(nodes, inputs)[-1]
        for bit, one, engine in zip(bits, sets, engines, strict=True):
            given = literals(one, {name: inputs.get(name, 0) for name in one.words})
            assert (engine.follow(given) is not None) == (right >> bit & 1), (op, nodes, inputs, bit)


def test_constants_among_the_arguments() -> None:
    """Gates of constants are none: each argument of each operation is a constant once, the others words."""
    for op, width, widths, data in shapes():
        if len(widths) < 2 or max(widths) > 2 or len(widths) > 3:
            continue
        for place, value in itertools.product(range(len(widths)), range(4)):
            if value >> widths[place]:
                continue
            inputs = [
                Node("const", w, (), value) if number == place else Node("var", w, (), f"x{number}")
                for number, w in enumerate(widths)
            ]
            nodes = [*inputs, Node(op, width, tuple(range(len(widths))), data)]
            term = made(nodes, simplified=False)[-1]
            free = {f"x{number}": w for number, w in enumerate(widths) if number != place}
            sets = [as_clauses(_make("extract", 1, (term,), (bit, bit))) for bit in range(term.width)]
            engines = [Propagator(one.clauses) for one in sets]
            for values in itertools.product(*(range(1 << w) for w in free.values())):
                inputs_now = dict(zip(free, values, strict=True))
                right = wordmath.evaluate(nodes, inputs_now)[-1]
                for bit, (one, engine) in enumerate(zip(sets, engines, strict=True)):
                    holds = engine.follow(literals(one, inputs_now)) is not None
                    assert holds == bool(right >> bit & 1), (op, nodes, inputs_now, bit)


@pytest.mark.parametrize("name", ["both", "either", "unlike", "choice", "majority"])
def test_gates(name: str) -> None:
    """Every gate, of the same word, its negation, and constants in each place."""
    meanings: dict[str, FunctionType] = {
        "both": lambda a, b: a and b, "either": lambda a, b: a or b, "unlike": lambda a, b: a != b,
        "choice": lambda s, t, e: t if s else e, "majority": lambda a, b, c: a + b + c >= 2,
    }  # fmt: skip
    meaning = meanings[name]
    count = meaning.__code__.co_argcount
    for chosen in itertools.product((1, -1, 2, -2, 3, -3, 4, -4), repeat=count):
        cnf = Cnf()
        cnf.word(3)
        out = getattr(cnf, name)(*chosen)
        engine = Propagator(cnf.clauses)
        for values in itertools.product((False, True), repeat=3):
            known = dict(zip((2, 3, 4), values, strict=True)) | {1: True}
            args = [known[abs(bit)] == (bit > 0) for bit in chosen]
            found = engine.follow([v if holds else -v for v, holds in known.items()])
            assert found is not None
            assert (out if meaning(*args) else -out) in found, (chosen, values)


@pytest.mark.parametrize("seed", range(100))
def test_solutions_are_those_of_the_term(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is given: the clauses have a solution where trying all words finds one."""
    monkeypatch.setattr(wordmath, "FMA_SHARE", 0)  # wider than three bits
    nodes = wordmath.described(random.Random(seed), 3, 5)
    goal = made(nodes)[-1][0]
    cnf = as_clauses(goal)
    engine = Propagator(cnf.clauses)
    words = {name: range(1 << len(word)) for name, word in cnf.words.items()}
    found = any(
        engine.follow(literals(cnf, dict(zip(words, values, strict=True)))) is not None
        for values in itertools.product(*words.values())
    )
    assert found == satisfiable(goal)


# --- at real widths ------------------------------------------------------------------------------------


def check_random(seed: int, steps: int) -> None:
    """A random computation, three rows of words."""
    rng = random.Random(seed)
    nodes = wordmath.described(rng, 70, steps)
    if any(node.op == "fma" for node in nodes):
        return
    root = made(nodes)[-1]
    inputs = {str(node.data): node.width for node in nodes if node.op == "var"}
    bits = [bit for bit in (0, root.width // 2, root.width - 1) if root[bit].value is None]
    engines = {}
    for bit in bits:
        cnf = as_clauses(root[bit])
        engines[bit] = cnf, Propagator(cnf.clauses)
    for _ in range(3):
        row = {name: wordmath.words(rng, width, 1)[0] for name, width in inputs.items()}
        right = wordmath.evaluate(nodes, row)[-1]
        for bit, (cnf, engine) in engines.items():
            holds = engine.follow(literals(cnf, row))
            assert (holds is not None) == bool(right >> bit & 1), (seed, bit)


@pytest.mark.parametrize("count", mostly_long([60, 150], [60]))
def test_random_computations(count: int) -> None:
    for seed in range(count):
        check_random(seed, 6)


@pytest.mark.long
def test_many_random_computations() -> None:
    for seed in range(10_000, 13_000):
        check_random(seed, 8)


@pytest.mark.parametrize(
    "name", ["volta/mma.m8n8k4.f32.f16.f16.f32", "hopper/mma.m16n8k32.f32.e4m3.e4m3.f32"]
)
@pytest.mark.slow_cases("hopper/mma.m16n8k32.f32.e4m3.e4m3.f32")
def test_models_on_random_words(name: str) -> None:
    """Given inputs force the output bits that the simulator gives."""
    model = row_named(name).model
    output = model.trace.output
    columns = pool_rows(model.input_formats, 3, np.random.default_rng(3))
    results = Program([output]).run(columns)[0]
    wanted = var("wanted", output.width)
    cnf = as_clauses(output.eq(wanted))
    engine = Propagator(cnf.clauses)
    for row, result in enumerate(results):
        given = {word: int(columns[word][row]) for word in model.input_formats}
        inputs = [bit for bit in literals(cnf, given | {"wanted": 0}) if abs(bit) not in cnf.words["wanted"]]
        found = engine.follow(inputs)
        assert found is not None
        got = sum((bit in found) << place for place, bit in enumerate(cnf.words["wanted"]))
        assert all(bit in found or -bit in found for bit in cnf.words["wanted"])
        assert got == int(result)


# --- what is shared ------------------------------------------------------------------------------------


@given(st.randoms(use_true_random=False), st.integers(2, 6), st.integers(1, 4))
@settings(max_examples=60, deadline=None)
def test_sums_in_another_order_and_shifted_are_the_same_literals(
    rng: random.Random, count: int, by: int
) -> None:
    cnf = Cnf()
    words = [cnf.word(7) for _ in range(count)]
    once = cnf.sum(list(zip(*words, strict=True)))
    before = cnf.variables
    rng.shuffle(words)
    assert cnf.sum(list(zip(*words, strict=True))) == once
    shifted = [[-1] * by + word for word in words]
    assert cnf.sum(list(zip(*shifted, strict=True)))[by : by + 7] == once
    assert cnf.variables - before <= 2 * count * by  # of the places above the word


def test_equal_sums_need_no_search() -> None:
    """A permuted sum that is not the same node (a sum within a sum) is, all the same, checked in clauses."""
    x, y, z = (var(name, 9) for name in "xyz")
    goal = total(x, y, z).ne(total(z, x, y))
    assert goal.value == 0
    wide = total(*(w.zext(12) << 2 for w in (x, y, z))).ne(total(z, y, x).zext(12) << 2)
    assert wide.value is None
    assert satisfiable(FALSE) is False
    cnf = as_clauses(total(x.zext(14) << 3, y.zext(14) << 3).ne(total(x.zext(14), y.zext(14)) << 3))
    assert (-1,) in cnf.clauses


def test_dimacs_files_have_the_clauses_and_name_the_inputs() -> None:
    x = var("x", 2)
    cnf = as_clauses(x.eq(2) & var("y", 1))
    lines = cnf.dimacs().splitlines()
    assert lines[:2] == ["c x: 2 3", "c y: 4"]
    assert lines[2] == f"p cnf {cnf.variables} {len(cnf.clauses)}"
    assert [tuple(map(int, line.split()[:-1])) for line in lines[3:]] == cnf.clauses
    assert all(line.endswith(" 0") for line in lines[3:])
    assert max(abs(bit) for clause in cnf.clauses for bit in clause) <= cnf.variables
    assert as_clauses(TRUE).clauses == [(1,), (1,)]
    assert as_clauses(FALSE).clauses == [(1,), (-1,)]


def test_words_of_many_arguments_are_encoded_right() -> None:
    """Twenty words: the largest, their sum."""
    words = [var(f"x{number}", 5) for number in range(20)]
    rng = random.Random(2)
    row = {f"x{number}": rng.getrandbits(5) for number in range(20)}
    for term, right in ((umax(*words), max(row.values())), (total(*words), sum(row.values()) % 32)):
        check_value(term, row, right, term)
    assert reduce(max, row.values()) == max(row.values())
    check_value(words[0] + const(31, 5), row, (row["x0"] + 31) % 32, "constant")
