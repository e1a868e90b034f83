"""All interpreters of terms agree on the same random computations: all that runs terms, or proves about them.

Each room tests its own interpreter on computations of its own; here every one has the same. Integers of
``wordmath``, which shares no code with tcsmt, say what is right.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

from tests.support.interpretations import Case
from tests.support.interpreters import INTERPRETERS

#: What stands for another operation in the language of terms.
WITH_DEFINITIONS = {"leading_zeros", "normalised", "fma"}
OPERATIONS = {
    "const", "var", "not", "and", "or", "xor", "neg", "add", "sub", "mul", "shl", "lshr", "ashr", "concat",
    "extract", "zext", "sext", "ite", "eq", "ult", "slt", "umax",
}  # fmt: skip
#: Terms of the small spread.
FEW = 600
#: Computations at a time, for compilers.
BATCH = 40


@cache
def computations(terms: int, first: int = 500_000) -> tuple[Case, ...]:
    """Computations of so many operations in all, on words of up to 97 bits."""
    made: list[Case] = []
    while sum(map(operations, made)) < terms:
        made.append(Case.random(first + len(made), steps=10, widest=97 if len(made) % 4 == 0 else 64))
    return tuple(made)


def operations(case: Case) -> int:
    """How many operations a computation has, besides inputs and constants."""
    return sum(bool(node.args) for node in case.nodes)


def nodes(some: Sequence[Case]) -> Counter[str]:
    return Counter(term.op for case in some for term in case.terms)


def test_every_operator_and_odd_widths_are_drawn() -> None:
    """In the small spread each operator, in the large one each often, on widths of all kinds."""
    assert nodes(computations(FEW)).keys() >= OPERATIONS
    many = computations(10_000)
    counts = nodes(many)
    assert all(counts[op] >= 40 for op in OPERATIONS), counts
    assert counts["macro"] >= 40
    widths = Counter(term.width for case in many for term in case.terms)
    assert len([width for width in widths if width % 2]) >= 40
    assert sum(count for width, count in widths.items() if width % 2 and width > 1) >= 2_000
    assert sum(map(operations, many)) >= 10_000


@pytest.mark.parametrize("name", INTERPRETERS)
@pytest.mark.slow_cases("ACL2", "C", "clauses")
def test_interpreters_agree(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On every node, in 16 rows (solvers and clauses: in a few of them)."""
    monkeypatch.setenv("TCSMT_CACHE", str(tmp_path))
    INTERPRETERS[name](computations(FEW))


@pytest.mark.long
@pytest.mark.parametrize("name", INTERPRETERS)
def test_interpreters_agree_on_ten_thousand_terms(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TCSMT_CACHE", str(tmp_path))
    many = computations(10_000)
    for first in range(0, len(many), BATCH):
        INTERPRETERS[name](many[first : first + BATCH])


@pytest.mark.parametrize("name", INTERPRETERS)
@pytest.mark.slow_cases("ACL2")
def test_a_wrong_interpreter_is_noticed(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of them looks at the last node of a computation: here another value is said to be right."""
    monkeypatch.setenv("TCSMT_CACHE", str(tmp_path))
    case = next(case for case in computations(FEW) if case.terms[-1].value is None)
    wrong = Case(case.name, case.nodes, case.inputs)
    wrong.values[-1][:] = [word ^ 1 for word in wrong.values[-1]]
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        INTERPRETERS[name]([wrong])
