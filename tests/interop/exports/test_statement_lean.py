"""Statements as Lean's theorems: the whole file, whose conditions are those of the SMT-LIB script."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

import pytest

from tcsmt.interop.exports.statement_lean import bindings, statement_theorem
from tcsmt.language.terms import var
from tests.support.certificates import carry_bits, not_about_outputs
from tests.support.interpretations import (
    MANY,
    Case,
    by_node,
    on_many_random_cases,
    on_random_cases,
)
from tests.support.statements import stated

#: A word's width and value.
Word = tuple[int, int]
SYMBOLS: dict[str, Callable[[int, int, int], int]] = {
    "&&&": lambda w, x, y: x & y,
    "|||": lambda w, x, y: x | y,
    "^^^": lambda w, x, y: x ^ y,
    "+": lambda w, x, y: (x + y) % 2**w,
    "-": lambda w, x, y: (x - y) % 2**w,
    "*": lambda w, x, y: x * y % 2**w,
}


def signed(word: Word) -> int:
    width, value = word
    return value - 2**width if value >> (width - 1) else value


def meaning(text: str, known: Mapping[str, Word]) -> Word:
    """The value of an expression of one operation."""

    def word(token: str) -> Word:
        if literal := re.fullmatch(r"(\d+)#(\d+)", token):
            return int(literal[2]), int(literal[1])
        return known[token]

    if found := re.fullmatch(r"if (.*) then (\S+) else (\S+)", text):
        test = re.sub(r"^(\S+) == (\S+)$", r"BitVec.ofBool (\1 == \2)", found[1])
        test = test if test.startswith("BitVec.ofBool") else f"BitVec.ofBool ({test})"
        return word(found[2] if meaning(test, known)[1] else found[3])
    if found := re.fullmatch(r"BitVec\.ofBool \((\S+) == (\S+)\)", text):
        one, two = map(word, found.groups())
        assert one[0] == two[0]
        return 1, int(one == two)
    if found := re.fullmatch(r"BitVec\.ofBool \(BitVec\.(ult|slt) (\S+) (\S+)\)", text):
        one, two = word(found[2]), word(found[3])
        assert one[0] == two[0]
        return 1, int(one[1] < two[1] if found[1] == "ult" else signed(one) < signed(two))
    if found := re.fullmatch(r"BitVec\.extractLsb (\d+) (\d+) (\S+)", text):
        high, low = int(found[1]), int(found[2])
        return high - low + 1, word(found[3])[1] // 2**low % 2 ** (high - low + 1)
    if found := re.fullmatch(r"BitVec\.(setWidth|signExtend) (\d+) (\S+)", text):
        inner, width = word(found[3]), int(found[2])
        return width, (inner[1] if found[1] == "setWidth" else signed(inner)) % 2**width
    if found := re.fullmatch(r"BitVec\.sshiftRight' (\S+) (\S+)", text):
        inner, by = word(found[1]), word(found[2])
        return inner[0], (signed(inner) >> by[1]) % 2 ** inner[0]
    if found := re.fullmatch(r"(~~~|-)(\S+)", text):
        width, value = word(found[2])
        return width, (2**width - 1 - value if found[1] == "~~~" else -value % 2**width)
    first, *rest = text.split(" ")
    width, value = word(first)
    for symbol, token in zip(rest[::2], rest[1::2], strict=True):
        other = word(token)
        if symbol == "++":
            width, value = width + other[0], value * 2 ** other[0] + other[1]
        elif symbol in ("<<<", ">>>"):
            places = min(other[1], width)
            value = (value << places) % 2**width if symbol == "<<<" else value >> places
        else:
            assert other[0] == width
            value = SYMBOLS[symbol](width, value, other[1])
    return width, value


def read(lines: Sequence[str], results: Sequence[str], known: dict[str, Word]) -> list[Word]:
    """What the lines bind, one after the other; a binding states the width that its value has."""
    for line in lines:
        name, width, text = re.fullmatch(r"let (\S+) : BitVec (\d+) := (.*)", line).groups()  # type: ignore[union-attr]
        assert name not in known
        known[name] = meaning(text, known)
        assert known[name][0] == int(width), line
    return [meaning(text, known) for text in results]


def check_lean(case: Case) -> None:
    """Every node in every row."""
    lines, results = bindings(case.terms, {})
    widths = {str(x.data): x.width for x in case.variables}
    rows = []
    for row in case.rows():
        found = read(lines, results, {name: (widths[name], word) for name, word in row.items()})
        assert [width for width, _ in found] == [term.width for term in case.terms]
        rows.append([value for _, value in found])
    case.hold(by_node(iter(rows)), "Lean's text")


def test_random_computations() -> None:
    on_random_cases(check_lean, 16)


@pytest.mark.long
@pytest.mark.parametrize("steps", MANY)
def test_many_random_computations(steps: int) -> None:
    on_many_random_cases(check_lean, steps)


def test_nodes_with_names() -> None:
    x, y = var("x", 8), var("t0", 8)
    total = x + y
    lines, (result,) = bindings([total * 3], {total: "sum"})
    assert lines[0].startswith("let sum : BitVec 8 := ") and "3#8" in lines[1]
    assert result not in ("t0", "sum") and lines[1].startswith(f"let {result} : BitVec 8 := ")


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
