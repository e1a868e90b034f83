"""Statements as Lean's theorems: the whole file, whose conditions are those of the SMT-LIB script."""

from __future__ import annotations

import re

from tcsmt.outside.exports.statement_lean import statement_theorem
from tests.support.certificates import carry_bits, not_about_outputs
from tests.support.statements import stated


def test_a_theorem_about_all_inputs() -> None:
    """That no input satisfies all conditions; every name is bound once, before its use."""
    for question in (carry_bits(), not_about_outputs()):
        statement = stated(question)
        text = statement_theorem(statement, ["a comment", "two"])
        assert text.startswith("-- NOT RUN: no Lean has read this file.\n-- a comment\n-- two\nimport ")
        formals = "".join(f" ({name} : BitVec {width})" for name, width in statement.widths.items())
        assert f"\ndef conditions{formals} : BitVec 1 :=\n" in text
        names = " ".join(statement.widths)
        assert f"\ntheorem no_input{formals} :\n    conditions {names} = 0#1 := by\n" in text
        assert text.endswith("  unfold conditions\n  bv_decide\n")
        bound = set(statement.widths)
        for line in text.split(" :=\n")[1].split("\n\n")[0].splitlines():
            name, _, expression = line.strip().removeprefix("let ").partition(" : ")
            used = re.findall(r"(?<![\w.#])[a-z]\w*", expression.partition(" := ")[2] or name)
            assert set(used) - {"if", "then", "else"} <= bound, line
            if expression:
                assert name not in bound
                bound.add(name)


def test_the_conditions_are_those_of_the_statement() -> None:
    text = statement_theorem(stated(carry_bits()), [])
    assert "\n  in_domain &&& results_differ\n" in text
    assert "let m1_sum : BitVec" in text and "let m2_sum : BitVec" in text
    assert "let largest_exponent : BitVec" in text
