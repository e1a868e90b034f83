"""Lemmas about the words of recipes hold of the words into which numbers are split."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from random import Random

import pytest

from tcsmt.interop.exports.acl2.recipe_words import RecipeWords
from tcsmt.interop.exports.acl2.recipes import RecipeFunctions
from tcsmt.interop.exports.acl2.units import unit_book
from tcsmt.programs.recipes.named import algorithm_named
from tcsmt.prove.statements.domain import Domain
from tests.support.acl2_text import Session
from tests.support.paths import ROOT

PAGE = ROOT / "tcsmt" / "interop" / "exports" / "acl2" / "values.lisp"


#: Where the inputs are.
NARROW, WIDE = Domain(exponents=(0, 0)), Domain(exponents=(-2, 2))


@pytest.mark.parametrize(
    ("name", "arch", "k", "domain", "left", "share"),
    [
        ("single-bf16", "hopper", 2, NARROW, Fraction(1, 2**8), Fraction(3, 2**23)),
        ("markidis", "volta", 1, replace(WIDE, c_zero=True), Fraction(1, 2**21), Fraction(1, 2**20)),
        ("ootomo-halfhalf", "volta", 1, replace(WIDE, positive=True), Fraction(1, 2**21), Fraction(1, 2**20)),
        ("fasi-bf16x2", "hopper", 1, NARROW, Fraction(1, 2**16), Fraction(1, 2**14)),
        ("fp8", "hopper", 1, replace(WIDE, bits=(4, 3)), Fraction(0), Fraction(1, 2**9)),
    ],
)
@pytest.mark.slow_cases(
    "fasi-bf16x2-hopper-1-domain3-left3-share3",
    "markidis-volta-1-domain1-left1-share1",
    "ootomo-halfhalf-volta-1-domain2-left2-share2",
)
def test_lemmas(name: str, arch: str, k: int, domain: Domain, left: Fraction, share: Fraction) -> None:
    """And their hypotheses hold of these words."""
    algorithm, row = algorithm_named(name, arch, k)
    recipe = RecipeFunctions("recipe", algorithm, unit_book(algorithm.unit, row.model.digest))
    words = RecipeWords(recipe, domain)
    events = [*words.domain_events(), *recipe.events(), *words.split([left, left])]
    events += words.bounded([left, left], share, Fraction(1))
    session, rng = Session(), Random(12)
    for text in (PAGE.read_text(encoding="utf-8"), recipe.unit.text, *(event.text for event in events)):
        session.read(text)
    for _ in range(8):
        values = {}
        for lane in words.inputs:
            bits = 24 if domain.bits is None or lane == "c" else domain.bits["ab".index(lane[0])]
            sign = 0 if domain.positive else rng.getrandbits(1)
            field = 127 + rng.randint(domain.low, domain.high)
            values[lane] = sign << 31 | field << 23 | rng.getrandbits(bits - 1) << (24 - bits)
        if domain.c_zero:
            values["c"] = 0
        assert session.value(["in-domain", *values.values()], {})
        for side in "ab":
            assert session.value(session.simulated[f"split-of-{side}"][1], {"x": values[f"{side}0"]})
        free = {
            word: session.value([f"recipe.word-{number}", values[lane]], {})
            for lane, names in words.free.items()
            for number, word in enumerate(names)
        }
        _, [_, hyps, claim] = session.simulated["of-words"]
        assert session.value(hyps, free | {"c": values["c"]})
        assert session.value(claim, free | {"c": values["c"]})
        assert session.value(session.theorems["value-of-sums"], free | {"c": values["c"]})
        assert session.value(session.theorems["near-words"], values)
