"""Goals that lemmas alone prove."""

from __future__ import annotations

import pytest

from tcsmt.analysis.bounds.lemma_chain import LemmaChain, require_no_file
from tcsmt.language.terms import FALSE, TRUE, Term, var
from tcsmt.prove.certificates.derivation import InvalidProof
from tcsmt.prove.engine.refutations import NotRefuted


def lemma(goal: Term) -> str:
    if goal is var("y", 1):
        raise NotRefuted("it has a solution")
    return "a lemma"


def test_a_goal_needs_a_lemma() -> None:
    chain = LemmaChain(lemma)
    assert chain.prove("x", var("x", 1))
    assert list(chain.names) == ["a lemma"]
    assert not chain.prove("y", var("y", 1))
    assert chain.stopped == "y: it has a solution"


def test_constants_need_none() -> None:
    chain = LemmaChain(lemma)
    assert chain.prove("nothing", FALSE)
    assert not chain.prove("everything", TRUE)
    assert chain.stopped == "everything: not so"
    assert not chain.names


def test_recipe_files_are_not_in_a_certificate() -> None:
    require_no_file("markidis,every=2")
    with pytest.raises(InvalidProof, match=r"mine.toml,rounding=RTZ is a file"):
        require_no_file("mine.toml,rounding=RTZ")
