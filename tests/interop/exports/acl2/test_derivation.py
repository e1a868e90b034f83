"""A proof as events of ACL2: true on random words, and no event is missing."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest

from tcsmt.interop.exports.acl2.derivation import FORGOTTEN, Derivation, refutation_file
from tcsmt.language.terms import var
from tcsmt.prove.certificates.derivation import Cases, Close, Fact, Proof
from tcsmt.prove.certificates.files import opened, record_of
from tcsmt.prove.certificates.parts import statement_files
from tests.support.acl2_text import Session


def closing(proof: Proof) -> int:
    """How many branches a proof closes."""
    count = 0
    for step in proof:
        match step:
            case Close():
                count += 1
            case Cases():
                count += sum(closing(part) for _, part in step.cases) + closing(step.rest)
            case _:
                count += closing(step.proof)
    return count


def derivations(folder: Path) -> list[tuple[Derivation, Proof]]:
    made = []
    for path in statement_files(folder):
        record = record_of(path)
        if "about" not in record["statement"]:
            statement, proof = opened(path, record)
            made.append((Derivation(statement.goal, statement.widths, proof), proof))
    return made


@pytest.mark.slow
def test_every_lemma_and_link_is_true_of_random_words(certificates: Path) -> None:
    rng = Random(1)
    made = derivations(certificates)
    assert made
    for derivation, _ in made:
        session = Session()
        for event in derivation.events:
            session.read(event.text)
        for name, (hyp, concl) in session.simulated.items():
            widths = {size[2]: size[1] for size in hyp[1:]}
            for _ in range(15):
                words = {
                    variable: rng.choice((0, 1, rng.getrandbits(width))) for variable, width in widths.items()
                }
                words = {variable: word % (1 << widths[variable]) for variable, word in words.items()}
                assert session.value(hyp, words)
                assert session.value(concl, words), name


def test_every_branch_is_closed_by_a_lemma(certificates: Path) -> None:
    for derivation, proof in derivations(certificates):
        lemmas = [event.lemma for event in derivation.events if event.lemma.startswith("lemma-")]
        assert 0 < len(lemmas) == len(set(lemmas)) <= closing(proof)
        assert sum("(defthm closed-" in event.text for event in derivation.events) == closing(proof)
        assert derivation.events[-1].text.startswith("(defthm refuted")


def test_branches_share_a_lemma(certificates: Path) -> None:
    """The same formula on words of the same widths is refuted once."""
    shared = 0
    for derivation, proof in derivations(certificates):
        texts = [event.text for event in derivation.events if "lemma-formula-" in event.text[:24]]
        lemmas = [event.text for event in derivation.events if event.lemma.startswith("lemma-")]
        both = [text + lemma for text, lemma in zip(texts, lemmas, strict=True)]
        assert len({re.sub(r"lemma-(formula-)?\d+", "", text) for text in both}) == len(both)
        shared += closing(proof) - len(both)
    assert shared


def test_words_of_other_widths_have_a_lemma_of_their_own() -> None:
    """The formulas are written alike then, but the words that are free in them are others."""
    x, y = var("x", 8), var("y", 8)

    def fact(width: int) -> Fact:
        total = x.zext(width) + y.zext(width)
        product = x.zext(width) * y.zext(width)
        return Fact(~(total.ult(product) & product.ult(total)), (Close(free=(total, product)),))

    derivation = Derivation(x.ult(y) & y.ult(x), {"x": 8, "y": 8}, (fact(9), fact(10), Close()))
    first, second = (event.text for event in derivation.events if event.lemma in ("lemma-1", "lemma-2"))
    assert "(unsigned-byte-p 9 free-0)" in first
    assert "(unsigned-byte-p 10 free-0)" in second


def test_a_long_proof_forgets_its_simulations(certificates: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And is the same proof otherwise."""
    before = [made.events for made, _ in derivations(certificates)]
    assert not any(event.text == FORGOTTEN for events in before for event in events)
    monkeypatch.setattr("tcsmt.interop.exports.acl2.derivation._KEPT", 3)
    for whole, (cleaned, _) in zip(before, derivations(certificates), strict=True):
        kept = [event.lemma for event in cleaned.events if event.text != FORGOTTEN]
        assert kept == [event.lemma for event in whole]
        count = 0
        for event, after in pairwise(cleaned.events):
            count += bool(event.lemma)
            assert (after.text == FORGOTTEN) == (bool(event.lemma) and count % 3 == 0)
        assert count >= 3 or FORGOTTEN not in [event.text for event in cleaned.events]


def test_what_is_used_is_known(certificates: Path) -> None:
    """A step that uses what is no fact is refused, and not written."""
    path = next(path for path in statement_files(certificates) if "about" not in record_of(path)["statement"])
    statement, _ = opened(path, record_of(path))
    with pytest.raises(AssertionError, match="not among the facts"):
        Derivation(statement.goal, statement.widths, (Close(using=(~statement.goal,)),))


def test_a_refutation_has_the_name_of_its_lemma() -> None:
    assert refutation_file("carry-bits", "lemma-1") == "carry-bits/lemma-1.lrat"
