"""BTOR2 and SMT-LIB files, read by solvers: no other result at a row; the same function as the model's."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tcsmt.catalogue import Row
from tcsmt.exports.languages import exported
from tcsmt.interpret.smtlib import definitions
from tcsmt.simulator.compiled import operands
from tcsmt.simulator.rows import words_of_row
from tests.support.exported import OWN, decided, one_of_each_kind, own_formats
from tests.support.scripts import SOLVERS, ask_bitwuzla_btor2


def smt_asked(row: Row, words: tuple[int, ...], expected: int) -> str:
    """Is there another result at this row?"""
    formats = row.model.input_formats
    lines = [str(exported(row, "smt2"))]
    for (name, fmt), word in zip(formats.items(), words, strict=True):
        lines.append(f"(assert (= {name} (_ bv{word} {fmt.width})))")
    lines.append(f"(assert (distinct d (_ bv{expected} {row.model.d_format.width})))")
    return "\n".join([*lines, "(check-sat)"])


def btor2_asked(row: Row, words: tuple[int, ...], expected: int) -> str:
    """The same, of the whole operands, the first lane in the lowest bits."""
    text = str(exported(row, "btor2"))
    lines = [line for line in text.splitlines() if not line.startswith(";")]
    number = int(lines[-1].split()[0])
    sorts = {int(line.split()[3]): line.split()[0] for line in lines if line.split()[1] == "sort"}
    given = iter(words)
    values = {}
    for operand in operands(row.model):
        width = operand.format.width
        whole = sum(next(given) << place * width for place in range(len(operand.terms)))
        values[operand.name] = whole, width * len(operand.terms)

    def line(*parts: object) -> int:
        nonlocal number
        number += 1
        lines.append(" ".join(map(str, (number, *parts))))
        return number

    line("sort bitvec 1") if 1 not in sorts else None
    bit = sorts.get(1, number)
    for entry in list(lines):
        words_of_line = entry.split()
        if words_of_line[1] == "input":
            value, width = values[words_of_line[3]]
            constant = line("const", words_of_line[2], f"{value:0{width}b}")
            line("constraint", line("eq", bit, words_of_line[0], constant))
        elif words_of_line[1] == "output":
            assert words_of_line[3] == "d"
            width = row.model.d_format.width
            constant = line("const", sorts[width], f"{expected:0{width}b}")
            line("constraint", line("neq", bit, words_of_line[2], constant))
    return "\n".join([*(one for one in lines if one.split()[1] != "output"), ""])


def check(row: Row, count: int, solvers: tuple[str, ...] = ("bitwuzla",)) -> None:
    """At each row there is the simulator's result, and no other."""
    inputs, d = decided(row, count)
    for number, result in enumerate(d.tolist()):
        words = words_of_row(inputs, number)
        for other, answer in ((result, "unsat"), (result ^ 1, "sat")):
            for solver in solvers:
                assert SOLVERS[solver](smt_asked(row, words, other)) == answer, (row.name, words, solver)
            assert ask_bitwuzla_btor2(btor2_asked(row, words, other)) == answer, (row.name, words)


@pytest.mark.parametrize("row", one_of_each_kind(), ids=lambda row: row.model.kind)
def test_kinds(row: Row) -> None:
    check(row, 1)


@pytest.mark.parametrize("name", OWN)
def test_own_formats(name: str, tmp_path: Path) -> None:
    check(own_formats(name, tmp_path), 2)


@pytest.mark.long
@pytest.mark.parametrize("row", one_of_each_kind(), ids=lambda row: row.model.kind)
def test_all_solvers(row: Row) -> None:
    check(row, 20, tuple(SOLVERS))


def test_a_stage_is_one_function(tmp_path: Path) -> None:
    """Of its name, and the file asks nothing itself."""
    row = own_formats("floats", tmp_path)
    text = str(exported(row, "smt2"))
    names = re.findall(r"^\(define-fun (\w+) \(\)", text, re.MULTILINE)
    assert len(names) == len(set(names))
    assert {"block_0_sum", "block_1_sum", "block_1_largest_exponent", "d"} <= set(names)
    assert "check-sat" not in text


def test_the_model_s_own_script(tmp_path: Path) -> None:
    """A solver proves that both texts are the same function."""
    row = own_formats("fixed", tmp_path)
    lines, (output,) = definitions([row.model.trace.output])
    own = [line for line in lines if not line.startswith("(declare-const")]
    renamed = [re.sub(r"\bt(\d+)\b", r"own\1", line) for line in (*own, f"(assert (distinct d {output}))")]
    text = "\n".join([str(exported(row, "smt2")), *renamed, "(check-sat)"])
    assert SOLVERS["bitwuzla"](text) == "unsat"
    assert SOLVERS["bitwuzla"](text.replace("(distinct d ", "(distinct (bvadd d d) ")) == "sat"
