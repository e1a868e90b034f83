"""Lemmas of an earlier run."""

from pathlib import Path

import pytest

from tcsmt.analysis.tolerance.remembered import RememberedProof
from tcsmt.language.terms import var
from tcsmt.prove.engine import solving
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.solvers import run


def test_what_was_proved_is_not_asked_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TCSMT_CACHE", str(tmp_path))
    asked: list[str] = []
    solve = run.solve

    def counted(text, options):
        asked.append(text)
        return solve(text, options)

    monkeypatch.setattr(solving, "solve", counted)
    x = var("x", 7)
    holds, fails = (x * x).eq(3), (x + 3).eq(9)  # no square is 3 modulo 8
    for count in (2, 3):
        proof = RememberedProof(SolvingOptions())
        assert proof.prove("no such word", holds)
        assert not proof.prove("some word", fails) and proof.refuted
        assert not proof.prove("some word", fails)
        assert proof.stopped == "some word: not so for all words"
        assert len(asked) == count  # what has a model is asked once a run
        assert proof.verdict(0.0).solver == "bitwuzla"
    assert RememberedProof(SolvingOptions(reuse=False)).prove("no such word", holds)
    assert len(asked) == 4
