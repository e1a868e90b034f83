"""Lemmas about shifts: they have no solution, and what they say holds of words."""

from __future__ import annotations

import random

import pytest
from form_proofs.deduction import FormDerivation, ProofFailed
from form_proofs.wide_shifts import HALVES, PLACE, ShiftedWord, chosen, free, shift_of_a_sum

from tcsmt.language.run.exact import evaluate
from tcsmt.language.terms import const, var
from tests.support.answers import refuted

WIDTH = 100


@pytest.mark.slow
def test_a_shift_of_a_sum_is_proved_and_holds() -> None:
    proof = FormDerivation(())
    theorem = shift_of_a_sum(WIDTH, 2 * PLACE, proof)
    assert all(map(refuted, proof.lemmas)) and len(proof.lemmas) >= PLACE
    (says,) = theorem.facts
    rng = random.Random(1)
    for place in (0, 1, 31, 64, 99, 100, 1000, 2047):
        values = {"one": rng.getrandbits(WIDTH), "another": rng.getrandbits(WIDTH), "a place": place}
        assert evaluate([says], values) == [1]


def test_a_word_that_is_chosen_is_shifted_as_both_are() -> None:
    proof, words = FormDerivation(()), (var("x", WIDTH), var("y", WIDTH))
    chosen(proof, var("which", 1), *words, var("place", PLACE))
    assert all(map(refuted, proof.lemmas))


def normalised(places: int) -> tuple[FormDerivation, ShiftedWord]:
    """An integer of 53 bits that is normalised, and the argument. places: that a shift has more."""
    proof, source, grid = FormDerivation(()), var("integer", 53), var("grid", PLACE)
    first = ShiftedWord(source, grid.zext(16) + places, 2200)
    proof.lemma("itself", first.word.eq(first.word))
    last, _ = first.normalised(proof, first.word, source, grid)
    return proof, last


@pytest.mark.slow
def test_an_integer_is_normalised_and_the_word_stays() -> None:
    proof, last = normalised(64)
    rng = random.Random(2)
    for size in (0, 1, 7, 30, 52, 53):
        integer, grid = rng.getrandbits(53) >> (53 - size), rng.getrandbits(PLACE)
        values = {"integer": integer, "grid": grid}
        top, word = evaluate([last.integer, last.word], values)
        assert word == integer << grid + 64 and (top >> 52 == 1 or integer == 0)
    small = [goal for goal, lemma in proof.lemmas.items() if lemma.what == "a place is in range"]
    assert len(small) > len(HALVES) and all(map(refuted, small))


def test_a_place_without_room_is_refused() -> None:
    proof, _ = normalised(3)
    assert not all(refuted(goal) for goal, lemma in proof.lemmas.items() if "range" in lemma.what)


def test_only_what_is_no_constant_is_free() -> None:
    x = var("x", 4)
    assert free([x, const(1, 4)]) == [x]


def test_a_word_that_is_not_known_to_be_the_integer_is_not_normalised() -> None:
    first = ShiftedWord(var("integer", 53), var("grid", PLACE).zext(16) + 64, 200)
    with pytest.raises(ProofFailed):
        first.normalised(FormDerivation(()), var("start", 200), var("integer", 53), var("grid", PLACE))
