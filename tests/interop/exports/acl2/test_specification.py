"""Units are the specification written by hand: lemmas on random words, and, with ACL2, the theorem."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from tcsmt.interop.exports.acl2.certification import CertifiedBook, Certifier, Refuter, files_of, write_book
from tcsmt.interop.exports.acl2.specification import (
    SpecificationBook,
    pages,
    specification_book,
    specified_numbers,
)
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import Model
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.support.errors import TcsmtError
from tests.support.acl2_text import Session
from tests.support.certificates import two_products

acl2 = pytest.mark.skipif(shutil.which("acl2") is None, reason="ACL2 is not installed")
#: Small, and each of its parameters makes a difference.
SMALL = two_products(zero_exponent=-3)
#: No word of a and b is special: c alone decides what the result is.
FINITE = two_products(a_format="e2m1", b_format="e3m2", zero_exponent=-3)
#: Parameters of the specification that are not the unit's, with the lemma that is not proved then.
OTHERS: dict[str, tuple[dict[str, Any], str]] = {
    "one fraction bit less": ({"fraction_bits": 9}, "aligned-product"),
    "one fraction bit more": ({"fraction_bits": 11}, "aligned-product"),
    "one carry bit less": ({"carry_bits": 1}, "of-numbers"),
    "a smaller exponent of zeros": ({"zero": -4}, "exponent"),
    "a larger exponent of zeros": ({"zero": -2}, "exponent"),
    "one fraction bit of the result less": ({"precision": 9}, "rounding"),
    "the nearest number": ({"mode": ":rne"}, "rounding"),
    "another NaN": ({"nan": 0x7E00}, "special"),
}


def false_lemma(book: SpecificationBook, rows: int) -> str:
    """The first lemma that is false on random words; empty if none is."""
    session, rng = Session(), Random(5)
    for text in (*pages().values(), book.units[-1].text, *(event.text for event in book.events)):
        session.read(text)
    assert {event.lemma for event in book.lemmas} == set(session.simulated)
    for name, (hyp, concl) in session.simulated.items():
        widths = {word: width for _, width, word in hyp[1:]}
        for _ in range(rows):
            few = rng.choice((0, 0, 6))
            words = {word: rng.getrandbits(width) >> min(few, width - 1) for word, width in widths.items()}
            if not session.value(concl, words):
                return name
    return ""


@pytest.mark.parametrize(
    "name",
    [
        "volta/mma.m8n8k4.f32.f16.f16.f32",
        "turing/mma.m16n8k8.f32.f16.f16.f32@fasi",
        "volta/mma.m8n8k4.f16.f16.f16.f16",
        "ada/mma.m16n8k16.f32.e4m3.e4m3.f32",
        "ampere/mma.m16n8k8.f32.bf16.bf16.f32",
        "blackwell/tcgen05.mMnNk32.kind::f8f6f4.f32.e2m1.e3m2",
    ],
)
@pytest.mark.slow_cases(
    "ada/mma.m16n8k16.f32.e4m3.e4m3.f32",
    "ampere/mma.m16n8k8.f32.bf16.bf16.f32",
    "blackwell/tcgen05.mMnNk32.kind::f8f6f4.f32.e2m1.e3m2",
    "turing/mma.m16n8k8.f32.f16.f16.f32@fasi",
)
def test_lemmas_of_the_catalogue(name: str) -> None:
    book = specification_book(row_named(name).model)
    assert len(book.lemmas) >= 10
    assert not false_lemma(book, 15)


@pytest.mark.parametrize("other", [name for name in OTHERS if name != "one carry bit less"])
@pytest.mark.slow_cases("another NaN", "one fraction bit of the result less", "the nearest number")
def test_lemmas_with_other_parameters(other: str) -> None:
    """One of them is false, so that no proof of it can be found. (That no carry is lost is no such lemma.)"""
    assert false_lemma(specification_book(SMALL, replace(specified_numbers(SMALL), **OTHERS[other][0])), 200)


@pytest.mark.slow
@pytest.mark.parametrize("model", [SMALL, FINITE], ids=["special words", "finite"])
def test_lemmas_of_a_small_unit(model: Model) -> None:
    assert not false_lemma(specification_book(model), 60)


def test_what_the_theorem_says() -> None:
    """All words of all inputs, and nothing else, are its hypotheses."""
    book = specification_book(SMALL)
    *_, last = book.events
    sizes = " ".join(f"(unsigned-byte-p {width} {word})" for word, width in
                     (("a0", 8), ("a1", 8), ("b0", 8), ("b1", 8), ("c", 16)))  # fmt: skip
    assert f"(implies (and {sizes})\n" in last.text
    assert f"(equal (unit.{SMALL.digest[:8]} a0 a1 b0 b1 c)\n" in last.text
    assert "(fused-sums (list (list a0 a1))\n      (list (list b0 b1))\n      c " in last.text
    assert "'(4 3 :nan-only) '(4 3 :nan-only) '(5 10 :ieee) '(5 10 :ieee)\n      10 2 -3 10 :rtz" in last.text


def test_nothing_is_assumed() -> None:
    """No axiom, no skipped proof, no trust tag but the two of the performance books that are included."""
    for name, text in files_of(specification_book(SMALL)).items():
        assert not re.search(r"(?i)skip-proofs|defaxiom|defttag|progn!|include-raw", text), name
        if name.endswith(".lisp"):
            code = re.sub(r'(?m);.*$|"[^"]*"|#\\.', "", text)
            assert code.count("(") == code.count(")") > 5, name
            assert set(re.findall(r":ttags ([^\n]*)\)", text)) <= {"((:fast-cons-memo) (:aig-vars))"}


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("cdna3/v_mfma_f32_4x4x4_16b_f16", "not of a model of kind"),
        ("hopper/mma.m16n8k8.f32.tf32.tf32.f32", "no format like tf32"),
        ("hopper/mma.m16n8k32.f32.e4m3.e4m3.f32", "no parameter interleave"),
    ],
)
def test_units_of_another_shape(name: str, why: str) -> None:
    with pytest.raises(TcsmtError, match=why):
        specified_numbers(row_named(name).model)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, CertifiedBook]:
    """What ACL2 says of the small units with their own numbers ("", "finite"), and of one with others."""
    folder, numbers = tmp_path_factory.mktemp("books"), specified_numbers(SMALL)
    named = {"": specification_book(SMALL), "finite": specification_book(FINITE)}
    for number, (other, (changes, _)) in enumerate(OTHERS.items()):
        changed = specification_book(SMALL, replace(numbers, **changes))
        named[other] = replace(changed, name=f"other-{number}")
    said = {}
    with Refuter(folder, SolvingOptions(timeout=100)) as refuter, Certifier(folder, 600) as certifier:
        for other, book in named.items():
            write_book(book, folder)
            refuter.refute(book)
            said[other] = certifier.certify(book)
    return said


@acl2
@pytest.mark.long
@pytest.mark.parametrize("unit", ["", "finite"])
def test_certified(unit: str, results: dict[str, CertifiedBook]) -> None:
    result = results[unit]
    assert not result.flaw
    assert result.tags == (":fast-cons-memo", ":aig-vars")
    assert "(FUSED-SUMS (CONS (CONS A0 (CONS A1 'NIL)) 'NIL)" in result.theorem


@acl2
@pytest.mark.long
@pytest.mark.parametrize("other", OTHERS)
def test_another_specification_is_refused(other: str, results: dict[str, CertifiedBook]) -> None:
    """For the sake of the lemma that is false, or of the step that loses a carry."""
    assert results[other].flaw.startswith(f"defthm block-0-{OTHERS[other][1]}: ")
