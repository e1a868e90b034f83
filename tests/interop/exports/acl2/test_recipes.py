"""Recipes as functions of ACL2 give the words of the algorithms that are run."""

from __future__ import annotations

from random import Random

import pytest

from tcsmt.analysis.search.search import Rows
from tcsmt.interop.exports.acl2.recipes import RecipeFunctions, quoted_format
from tcsmt.interop.exports.acl2.units import unit_book
from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.programs.recipes.named import algorithm_named
from tcsmt.prove.certificates.derivation import InvalidProof
from tests.support.acl2_text import Session


@pytest.mark.parametrize(
    ("name", "arch", "k"),
    [
        ("single-f16", "volta", 2),
        ("markidis", "volta", 1),
        ("markidis,order=reversed,c=last", "volta", 5),
        ("ootomo-halfhalf-4", "volta", 1),
        ("ootomo-halfhalf,c=first", "volta", 1),
        ("bf16x3-kahan", "ampere", 1),
        ("cutlass-3xtf32", "ampere", 1),
        ("fp8-promoted", "ada", 2),
    ],
)
def test_words(name: str, arch: str, k: int) -> None:
    """Also those of several instructions, of additions outside, and of infinities and NaNs."""
    algorithm, row = algorithm_named(name, arch, k)
    recipe = RecipeFunctions("recipe", algorithm, unit_book(algorithm.unit, row.model.digest))
    session, rng = Session(), Random(11)
    for text in (recipe.unit.text, *(event.text for event in recipe.events())):
        session.read(text)
    for number in range(4):
        values = {
            word: rng.getrandbits(1) << 31 | rng.randint(120, 132) << 23 | rng.getrandbits(23)
            for word in algorithm.input_names
        }
        if number == 3:
            values["a0"] = rng.choice((0x7F800000, 0x7FC00000))
        (word,) = Rows.of([values], k, algorithm.wide).words(algorithm)
        assert session.value(["recipe", *values.values()], {}) == int(word), values


def test_formats() -> None:
    assert quoted_format(FORMATS["e5m2"]) == "'(5 2 15 :ieee)"
    assert quoted_format(FORMATS["e4m3"]) == "'(4 3 7 :nan-only)"
    with pytest.raises(InvalidProof, match="no format like tf32"):
        quoted_format(FORMATS["tf32"])
