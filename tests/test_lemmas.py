"""What an earlier run proved is not asked again, unless it should be."""

from __future__ import annotations

from pathlib import Path

import pytest

from tcsmt.lemmas import Lemmas
from tcsmt.query import Solving
from tcsmt.solvers.run import Settings
from tcsmt.terms import var

X, Y = var("x", 8), var("y", 8)
#: (x xor y) xor (x and y) is x or y: there is no solution, and the constructors do not see it.
GOAL = ((X ^ Y) ^ (X & Y)).ne(X | Y)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TCSMT_CACHE", str(tmp_path))
    return tmp_path / "lemmas"


def lemmas(
    solver: str = "bitwuzla", confirm: bool = False, lasting: bool = True, kept: bool | None = None
) -> Lemmas:
    return Lemmas(Solving(Settings(solver), confirm=confirm), lasting=lasting, kept=kept)


def test_kept_by_content() -> None:
    first = lemmas().ask(GOAL, 10)
    assert first.holds
    assert not first.earlier
    again = lemmas().ask(GOAL, 10)
    assert again.earlier
    assert again.answer == first.answer
    assert not lemmas().ask(((X ^ Y) ^ (X & Y)).ne(Y | var("z", 8)), 10).holds


def test_asked_again_where_more_is_wanted() -> None:
    lemmas().ask(GOAL, 10)
    assert not lemmas(lasting=False).ask(GOAL, 10).earlier
    assert not lemmas("z3").ask(GOAL, 10).earlier
    lemmas().ask(GOAL, 10)
    # kept without a confirmation, it is none, even where the user says that what is kept counts
    confirmed = lemmas(confirm=True, kept=True).ask(GOAL, 10)
    assert not confirmed.earlier
    assert confirmed.answer.confirmed
    # kept with one, it is one where the user says so
    assert not lemmas(confirm=True).ask(GOAL, 10).earlier
    assert not lemmas(confirm=True, kept=False).ask(GOAL, 10).earlier
    again = lemmas(confirm=True, kept=True).ask(GOAL, 10)
    assert again.earlier
    assert again.answer.confirmed == confirmed.answer.confirmed
    plain = lemmas().ask(GOAL, 10)
    assert plain.earlier
    assert plain.answer.confirmed == ""
    assert not lemmas(kept=False).ask(GOAL, 10).earlier


def test_what_has_a_solution_is_not_kept(folder: Path) -> None:
    assert lemmas().ask(X.ne(Y), 10).answer.answer == "sat"
    assert not folder.exists()


def test_damaged(folder: Path) -> None:
    lemmas().ask(GOAL, 10)
    (file,) = folder.iterdir()
    file.write_bytes(file.read_bytes()[:-1] + b"!")
    assert not lemmas().ask(GOAL, 10).earlier
    assert lemmas().ask(GOAL, 10).earlier
