"""Statements whose argument is code: every key is read strictly, and is in the sentence."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tcsmt.analysis.certified import THEOREMS
from tcsmt.prove.certificates.lemma_files import LemmaFiles
from tcsmt.prove.certificates.stated import sentence
from tcsmt.prove.certificates.theorems import Theorem, theorem_of
from tcsmt.prove.statements.domain import Domain
from tcsmt.support.errors import Malformed

VALUES = {"text": "name", "number": 3, "fraction": "1/3", "domain": asdict(Domain()) | {"exponents": [0, 1]}}


class Unargued(Theorem):
    """A kind of statement that needs no lemma."""

    def check(self, values: Mapping[str, Any], files: LemmaFiles) -> list[str]:
        return []


PLAIN = Unargued(
    "{word}, {count}, {share}, {where}", "words",
    {"word": "text", "count": "number", "share": "fraction", "where": "domain"}, ("hints",),
)  # fmt: skip
RECORD = {"about": "x", "title": "t"} | dict(zip(PLAIN.values, VALUES.values(), strict=True))


@pytest.mark.parametrize("name", THEOREMS)
def test_every_value_is_in_the_sentence(name: str) -> None:
    """Models are shown on lines of their own, in the order of their numbers."""
    theorem = THEOREMS[name]
    said = set(re.findall(r"\{([^}]*)\}", theorem.says))
    of_models = {key for key, kind in theorem.values.items() if kind in ("model", "models")}
    assert said == theorem.values.keys() - of_models
    count = 2 if "models" in theorem.values.values() else len(of_models)
    assert {int(n) for n in re.findall(r"model (\d)", theorem.says)} == set(range(1, count + 1))


def test_values() -> None:
    values = PLAIN.read(RECORD | {"hints": [1]}, Path("none"))
    domain = Domain(exponents=(0, 1))
    assert values == {"word": "name", "count": 3, "share": Fraction(1, 3), "where": domain, "hints": [1]}
    assert sentence(PLAIN, values) == "name, 3, 1/3 (about 0.333333), exponents 0 to 1"


@pytest.mark.parametrize("change", [
    {"count": 3.0}, {"count": "3"}, {"count": True}, {"count": -1}, {"count": None}, {"count": [3]},
    {"share": "2/6"}, {"share": "1e3"}, {"share": " 1/3"}, {"share": "-1/3"}, {"share": "1_0"},
    {"share": 1}, {"share": "1/0"}, {"share": "0.5"}, {"share": "nan"},
    {"word": "two\nlines"}, {"word": 5}, {"word": None}, {"word": "\x1b[2K"},
    {"where": None}, {"where": {}}, {"where": asdict(Domain()) | {"more": 1}},
    {"holds_for": "hopper"}, {"k": 3},
], ids=str)  # fmt: skip
def test_values_that_are_refused(change: dict[str, Any]) -> None:
    with pytest.raises(Malformed):
        PLAIN.read(RECORD | change, Path("none"))


@pytest.mark.parametrize("key", RECORD)
def test_missing_values_are_refused(key: str) -> None:
    with pytest.raises(Malformed, match=f"has no {key}"):
        PLAIN.read({name: value for name, value in RECORD.items() if name != key}, Path("none"))


@pytest.mark.parametrize("about", ["y", None, 5, ["x"], ""])
def test_unknown_kinds_are_refused(about: object) -> None:
    with pytest.raises(Malformed, match="there is no check for it"):
        theorem_of({"about": about}, {"x": PLAIN})
    assert theorem_of({"about": "x"}, {"x": PLAIN}) is PLAIN
