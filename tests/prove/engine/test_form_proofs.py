"""What is kept of proved forms is proved again, all of it by long tests."""

from __future__ import annotations

import tomllib

import pytest

from tcsmt.language.terms import Term
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models.proved_forms import PROVED
from tcsmt.prove.engine.form_proofs import FormProof, form_proofs
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.verdict import Equivalent

ENTRIES = [
    (entry["unit"], (entry["model"], entry["form"]))
    for entry in tomllib.loads(PROVED.read_text(encoding="utf-8"))["forms"]
]
#: Goals that are refuted: many forms have them in common.
REFUTED: set[Term] = set()


def proof_of(name: str, digests: tuple[str, str]) -> FormProof:
    """What is to be proved of a unit, by its digests."""
    (proof,) = (proof for proof in form_proofs(row_named(name).model) if proof.digests == digests)
    return proof


def test_what_is_kept_is_kept_once() -> None:
    assert len({digests for _, digests in ENTRIES}) == len(ENTRIES)


@pytest.mark.parametrize(("name", "digests"), ENTRIES)
def test_what_is_kept_is_of_the_graphs_of_today(name: str, digests: tuple[str, str]) -> None:
    assert proof_of(name, digests)


@pytest.mark.long
@pytest.mark.parametrize(("name", "digests"), ENTRIES)
def test_what_is_kept_is_proved_again(name: str, digests: tuple[str, str]) -> None:
    """By a solver, and by a refutation of the clauses that is checked."""
    solving = Solving(SolvingOptions(timeout=300, confirm=True))
    for lemma in proof_of(name, digests).deduced():
        if lemma.goal in REFUTED:
            continue
        answer = solving.ask(lemma.goal)
        verdict = solving.proof(lemma.what, lemma.goal, answer, answer.seconds)
        assert isinstance(verdict, Equivalent), lemma.what
        REFUTED.add(lemma.goal)
