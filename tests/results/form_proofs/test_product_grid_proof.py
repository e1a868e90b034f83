"""The lemmas of products on a grid: sums by halves, and what stops them."""

from __future__ import annotations

import pytest
from form_proofs.deduction import FormDerivation, ProofFailed
from form_proofs.product_grid_proof import entering, joined, same, same_sum, within

from tcsmt.language.terms import Term, const, total, umax, var
from tests.support.answers import refuted


def addends(count: int) -> tuple[FormDerivation, list[Term], list[Term], list[Term]]:
    """Words of 16 bits and of 20 that are the same numbers, of a size of 100 at most; and these extended."""
    own = [var(f"own{number}", 16) for number in range(count)]
    words = [var(f"word{number}", 20) for number in range(count)]
    theirs = [word.sext(28) for word in words]
    facts = [same(*pair) for pair in zip(own, theirs, strict=True)] + [within(word, 100) for word in own]
    return FormDerivation(tuple(facts)), own, words, theirs


@pytest.mark.parametrize("count", [1, 2, 3, 5, 8])
def test_sums_are_the_same(count: int) -> None:
    proof, own, words, theirs = addends(count)
    same_sum(proof, 100, own, words, theirs)
    assert all(map(refuted, proof.lemmas))
    proof.theorem(same(total(*own), total(*theirs)), within(total(*own), 100 * count))


def test_equal_halves_ask_the_same_lemmas() -> None:
    counts = []
    for count in (4, 8, 16):
        proof, *sides = addends(count)
        same_sum(proof, 100, *sides)
        counts.append(len(proof.lemmas))
    assert counts[2] - counts[1] == counts[1] - counts[0]


def test_a_sum_that_does_not_fit_is_refused() -> None:
    proof, *sides = addends(8)
    facts = [within(word, 9000) for word in sides[0]]
    large = FormDerivation((*proof.hypotheses, *facts))
    same_sum(large, 9000, *sides)
    assert not all(map(refuted, large.lemmas))


def test_another_order_or_addend_is_refused() -> None:
    proof, own, words, theirs = addends(4)
    with pytest.raises(ProofFailed):
        same_sum(proof, 100, [own[1], own[0], *own[2:]], words, theirs)
    with pytest.raises(ProofFailed):
        joined(proof, [total(*own)], [own[0]], [total(*own[2:])], [own[0] + total(*own[2:])])


def test_the_exponent_of_some_words() -> None:
    x, y, z = (var(name, 8) for name in "xyz")
    top = umax(x + y, z, const(3, 8))
    assert entering(top, [x, y]) is x + y
    for words in ([x], [x, y, z]):
        with pytest.raises(ProofFailed, match="0 exponents"):
            entering(top, words)
