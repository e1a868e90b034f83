"""SMT-LIB files, read by solvers: no other result at a row; the same function as the model; names."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from tcsmt.interop.exports.languages import exported
from tcsmt.interop.exports.smtlib import functions
from tcsmt.language.terms import all_of, expand, operands_first
from tcsmt.language.write.smtlib import definitions
from tcsmt.matrix_units.catalogue import Row
from tcsmt.simulate.rows import words_of_row
from tests.support.exported import OWN, decided, one_of_each_kind, own_formats
from tests.support.interpretations import MANY, Case, on_many_random_cases, on_random_cases, on_shapes
from tests.support.scripts import SOLVERS, ask_bitwuzla


def check(case: Case) -> None:
    """At the inputs of a row, the solver knows that there are no other values, whichever nodes are named."""
    rows = list(case.rows())
    (row,) = random.Random(1).sample(range(len(rows)), 1)
    fixed = all_of(x.eq(rows[row][str(x.data)]) for x in case.variables)
    right = all_of(t.eq(column[row]) for t, column in zip(case.terms, case.values, strict=True))
    (goal,) = expand([fixed & ~right])
    nodes = [node for node in operands_first([goal]) if node.args]
    for step in (1, 3, len(nodes) + 1):
        named = {node: f"n{number}" for number, node in enumerate(nodes) if not number % step}
        lines, result = functions(goal, named)
        text = "\n".join(["(set-logic QF_BV)", *lines, f"(assert {result})", "(check-sat)"])
        assert ask_bitwuzla(text) == "unsat", (case.name, rows[row], step)


def test_shapes() -> None:
    on_shapes(check)


def test_random_computations() -> None:
    on_random_cases(check, 12)


@pytest.mark.long
@pytest.mark.parametrize("steps", MANY)
def test_many_random_computations(steps: int) -> None:
    on_many_random_cases(check, steps)


def smt_asked(row: Row, words: tuple[int, ...], expected: int) -> str:
    """Is there another result at this row?"""
    formats = row.model.input_formats
    lines = [str(exported(row, "smt2"))]
    for (name, fmt), word in zip(formats.items(), words, strict=True):
        lines.append(f"(assert (= {name} (_ bv{word} {fmt.width})))")
    lines.append(f"(assert (distinct d (_ bv{expected} {row.model.d_format.width})))")
    return "\n".join([*lines, "(check-sat)"])


def check_script(row: Row, count: int, solvers: tuple[str, ...] = ("bitwuzla",)) -> None:
    """At each row there is the simulator's result, and no other."""
    inputs, d = decided(row, count)
    for number, result in enumerate(d.tolist()):
        words = words_of_row(inputs, number)
        for other, answer in ((result, "unsat"), (result ^ 1, "sat")):
            for solver in solvers:
                assert SOLVERS[solver](smt_asked(row, words, other)) == answer, (row.name, words, solver)


@pytest.mark.parametrize("row", one_of_each_kind(), ids=lambda row: row.model.kind)
def test_kinds(row: Row) -> None:
    check_script(row, 1)


@pytest.mark.parametrize("name", OWN)
def test_own_formats(name: str, tmp_path: Path) -> None:
    check_script(own_formats(name, tmp_path), 2)


@pytest.mark.long
@pytest.mark.parametrize("row", one_of_each_kind(), ids=lambda row: row.model.kind)
def test_all_solvers(row: Row) -> None:
    check_script(row, 20, tuple(SOLVERS))


def test_a_stage_is_one_function(tmp_path: Path) -> None:
    """Of its name, and the file asks nothing itself."""
    row = own_formats("floats", tmp_path)
    text = str(exported(row, "smt2"))
    names = re.findall(r"^\(define-fun (\w+) \(\)", text, re.MULTILINE)
    assert len(names) == len(set(names))
    assert {"block_0_sum", "block_1_sum", "block_1_largest_exponent", "d"} <= set(names)
    assert "check-sat" not in text


def test_exports_are_the_function_of_the_models_own_script(tmp_path: Path) -> None:
    """A solver proves that both texts are the same function."""
    row = own_formats("fixed", tmp_path)
    lines, (output,) = definitions([row.model.trace.output])
    own = [line for line in lines if not line.startswith("(declare-const")]
    renamed = [re.sub(r"\bt(\d+)\b", r"own\1", line) for line in (*own, f"(assert (distinct d {output}))")]
    text = "\n".join([str(exported(row, "smt2")), *renamed, "(check-sat)"])
    assert SOLVERS["bitwuzla"](text) == "unsat"
    assert SOLVERS["bitwuzla"](text.replace("(distinct d ", "(distinct (bvadd d d) ")) == "sat"
