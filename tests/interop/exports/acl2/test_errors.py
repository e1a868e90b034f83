"""Books of bounds and comparisons: what they say, in fractions that share no code with them; and, with ACL2,
that they are certified, and that wrong ones are not."""

from __future__ import annotations

import re
import shutil
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tcsmt.analysis.search.search import Rows
from tcsmt.interop.exports.acl2.certification import CertifiedBook, Certifier, Refuter, files_of, write_book
from tcsmt.interop.exports.acl2.statements import StatementBook
from tcsmt.programs.recipes.algorithm import Algorithm
from tcsmt.programs.recipes.named import algorithm_named
from tcsmt.prove.certificates.derivation import InvalidProof
from tcsmt.prove.certificates.theorems import TheoremStatement
from tcsmt.prove.engine.options import SolvingOptions
from tests.support.acl2_books import book_of_errors
from tests.support.acl2_text import Session
from tests.support.paths import ROOT

acl2 = pytest.mark.skipif(shutil.which("acl2") is None, reason="ACL2 is not installed")
COMMITTED = ROOT / "results" / "certificates"
BOUND, COMPARISON = "single-bf16 on hopper", "ootomo-halfhalf on volta"
#: Where the two recipes differ: c is added outside and rounded to nearest, or inside and cut off. (Of 11 bits
#: and five exponents, CaDiCaL does not refute the lemma in 300 s of a busy machine.)
WITH_C: dict[str, Any] = {
    "domain": {
        "finite": True, "positive": False, "subnormals": True, "c_zero": False, "exponents": [0, 0],
        "c_free": False, "bits": [4, 4],
    }
}  # fmt: skip
SWAPPED = {"one": "markidis", "two": "ootomo-halfhalf", **WITH_C}
LIMIT = Fraction(620188464126503827978338337, 2**96)
#: A bound that is 2^-24 smaller.
SMALLER = {"limit": str(LIMIT - Fraction(1, 2**24))}


def session_of(book: StatementBook) -> Session:
    session = Session()
    for text in (*(unit.text for unit in book.units), *(event.text for event in book.events)):
        session.read(text)
    return session


def number(word: int) -> Fraction:
    """The value of a word of binary32, by the processor."""
    return Fraction(struct.unpack("<f", word.to_bytes(4, "little"))[0])


def some_words(rng: Random, exponents: tuple[int, int], bits: int) -> int:
    """A zero, or a number with some bits: many, few, or those beside a power of two."""
    if rng.random() < 0.1:
        return rng.getrandbits(1) << 31
    fraction = rng.choice([rng.getrandbits(23), 0, (1 << 23) - 1, 1 << rng.randrange(23), rng.getrandbits(4)])
    field = 127 + rng.randint(*exponents)
    return rng.getrandbits(1) << 31 | field << 23 | fraction >> (24 - bits) << (24 - bits)


def narrow_words(rng: Random, exponents: tuple[int, int], title: str) -> int:
    """A word of the recipe's own format: BF16 or FP16."""
    word = some_words(rng, exponents, 24)
    if title == BOUND:
        return word >> 16
    sign, field, fraction = word >> 31, word >> 23 & 255, word >> 13 & 1023
    return sign << 15 | (field - 112 if field else 0) << 10 | fraction


def false_lemma(title: str, changes: dict[str, Any], rows: dict[str, int]) -> str:
    """A simulated lemma of the statement's book that is false on random words; empty if none is.

    rows: how many words are tried of a lemma; "": of any other.
    """
    book, rng = book_of_errors(COMMITTED, title, **changes), Random(7)
    session = session_of(book)
    assert isinstance(book.statement, TheoremStatement)
    low, high = book.statement.values["domain"].exponents
    assert {event.lemma for event in book.lemmas} == set(session.simulated)
    for name, (hyp, concl) in session.simulated.items():
        widths = {word: width for _, width, word in hyp[1:]}
        for _ in range(rows.get(name, rows[""])):
            words = {
                word: some_words(rng, (low, high), 24)
                if width == 32
                else narrow_words(rng, (low, high + 1), title)
                for word, width in widths.items()
            }
            if not session.value(concl, words):
                return name
    return ""


def algorithm(name: str, row: str) -> Algorithm:
    return algorithm_named(name, row, 1)[0]


def errors(result: int, values: dict[str, int]) -> tuple[Fraction, Fraction]:
    """The error, and |c| + |a·b|."""
    a, b, c = (number(values[name]) for name in ("a0", "b0", "c"))
    return abs(number(result) - (c + a * b)), abs(c) + abs(a * b)


def test_what_the_bound_says() -> None:
    """All of it: on all words of the domain the result is a number, and its error is not above the limit."""
    theorem = " ".join(book_of_errors(COMMITTED, BOUND).events[-1].text.split())
    f32 = "'(8 23 127 :ieee)"
    numbers = f"(values-of (list a0) {f32}) (values-of (list b0) {f32})"
    result, c = f"(recipe.single-bf16 a0 b0 c) {f32}", f"(value-of c {f32})"
    assert theorem.startswith(
        "(defthm error-at-most (implies (and (words-p a0 b0 c) (in-domain a0 b0 c)) "
        f"(and (number-p {result}) (<= (abs (- (value-of {result}) (+ {c} (sum-of-products {numbers})))) "
        f"(* {LIMIT} (+ (abs {c}) (sum-of-sizes {numbers})))))) :rule-classes nil"
    )


def test_what_the_comparison_says() -> None:
    theorem = " ".join(book_of_errors(COMMITTED, COMPARISON).events[-1].text.split())
    f32 = "'(8 23 127 :ieee)"
    exact = (
        f"(+ (value-of c {f32}) (sum-of-products (values-of (list a0) {f32}) (values-of (list b0) {f32})))"
    )
    one, two = (f"(recipe.{name} a0 b0 c) {f32}" for name in ("ootomo-halfhalf", "markidis"))
    assert theorem.startswith(
        "(defthm never-less-accurate (implies (and (words-p a0 b0 c) (in-domain a0 b0 c)) "
        f"(and (number-p {one}) (number-p {two}) "
        f"(<= (abs (- (value-of {one}) {exact})) (abs (- (value-of {two}) {exact}))))) :rule-classes nil"
    )


@pytest.mark.parametrize("title", [BOUND, COMPARISON])
def test_values_and_domain(title: str) -> None:
    """They are what the processor and fractions say."""
    book, rng = book_of_errors(COMMITTED, title), Random(3)
    session = session_of(book)
    low, high = (0, 0) if title == BOUND else (-2, 2)
    inside = 0
    for _ in range(300):
        words = [
            rng.getrandbits(32) if rng.random() < 0.2 else some_words(rng, (low - 1, high + 1), 13)
            for _ in "abc"
        ]
        words = [word >> 13 << 13 if rng.random() < 0.8 else word for word in words]
        words[2] = rng.choice([words[2], 0, 1 << 31])
        for word in words:
            finite = (word >> 23 & 255) < 255
            assert session.value(["number-p", word, ["quote", [8, 23, 127, ":ieee"]]], {}) == finite
            if finite:
                assert session.value(["value-of", word, ["quote", [8, 23, 127, ":ieee"]]], {}) == number(word)
        allowed = [
            (word >> 23 & 255) < 255
            and (not number(word) or Fraction(2) ** low <= abs(number(word)) < Fraction(2) ** (high + 1))
            for word in words
        ]
        if title == COMPARISON:
            allowed[2] = words[2] == 0
            allowed[:2] = [fits and not word & 0x1FFF for fits, word in zip(allowed, words[:2], strict=False)]
        assert session.value(["in-domain", *words], {}) == all(allowed)
        inside += all(allowed)
    assert inside > 10
    assert session.value(session.theorems["inhabited"], {})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("title", "row", "recipes", "domain"),
    [
        (BOUND, "hopper/mma.m16n8k16.f32.bf16.bf16.f32", ["single-bf16"], ((0, 0), 24)),
        (COMPARISON, "volta/mma.m8n8k4.f32.f16.f16.f32", ["ootomo-halfhalf", "markidis"], ((-2, 2), 11)),
    ],
)  # fmt: skip
def test_recipes_and_theorems(
    title: str, row: str, recipes: list[str], domain: tuple[tuple[int, int], int]
) -> None:
    """The functions give the words of the algorithms that are run; the theorem holds in fractions."""
    book, rng = book_of_errors(COMMITTED, title), Random(4)
    session = session_of(book)
    for _ in range(20):
        values = {name: some_words(rng, *domain) for name in ("a0", "b0")}
        values["c"] = some_words(rng, domain[0], 24) if title == BOUND else 0
        results = [session.value([f"recipe.{name}", *values.values()], {}) for name in recipes]
        for name, result in zip(recipes, results, strict=True):
            chosen = algorithm(name, row)
            (word,) = Rows.of([values], 1, chosen.wide).words(chosen)
            assert result == int(word)
        assert session.value(session.theorems[book.theorem], values)
        (first, size), *others = (errors(result, values) for result in results)
        assert first <= (others[0][0] if others else LIMIT * size)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("title", "changes", "lemma"),
    [
        (BOUND, {}, ""),
        (COMPARISON, {}, ""),
        (COMPARISON, WITH_C, ""),
        (BOUND, SMALLER, "of-words"),
        (COMPARISON, SWAPPED, "of-words"),
    ],
    ids=["bound", "comparison", "with c", "a smaller bound", "recipes swapped"],
)
def test_lemmas(title: str, changes: dict[str, Any], lemma: str) -> None:
    """Those of true statements hold on random words; one of a false statement does not: it has no proof."""
    assert false_lemma(title, changes, {"": 25, lemma: 300} if lemma else {"": 25}) == lemma


@pytest.mark.parametrize(
    ("title", "changes", "why"),
    [
        (
            BOUND,
            {"limit": "1/256"},
            "what the split alone leaves, 513/65536, is not less than the bound, 1/256",
        ),
        (BOUND, {"k": 17}, "K = 17 is more than one instruction takes, 16"),
        (BOUND, {"constants": [{"left": "1/256"}]}, "constants of its splits"),
        (BOUND, {"constants": 5}, "constants of its splits"),
        (COMPARISON, {"one": "single-f16", "domain": WITH_C["domain"] | {"bits": None}}, "the same words"),
        (BOUND, {"algorithm": "no-such-recipe"}, "no-such-recipe"),
    ],
)
def test_no_book(title: str, changes: dict[str, Any], why: str) -> None:
    with pytest.raises(InvalidProof, match=re.escape(why)):
        book_of_errors(COMMITTED, title, **changes)


@pytest.mark.parametrize("title", [BOUND, COMPARISON])
def test_nothing_is_assumed(title: str) -> None:
    """No axiom, no skipped proof, no trust tag but the two of the performance books that are included."""
    for name, text in files_of(book_of_errors(COMMITTED, title)).items():
        assert not re.search(r"(?i)skip-proofs|defaxiom|defttag|progn!|include-raw", text), name
        if name.endswith(".lisp"):
            code = re.sub(r'(?m);.*$|"[^"]*"|#\\.', "", text)
            assert code.count("(") == code.count(")") > 5, name
            assert set(re.findall(r":ttags ([^\n]*)\)", text)) <= {"((:fast-cons-memo) (:aig-vars))"}


@dataclass(frozen=True)
class Books:
    """A folder with the books of some statements, and what certifies them."""

    folder: Path
    refuter: Refuter
    certifier: Certifier

    def certified(self, book: StatementBook, change: Callable[[str], str] = str) -> CertifiedBook:
        """What becomes of a book, its text changed after its lemmas were refuted."""
        write_book(book, self.folder)
        self.refuter.refute(book)
        path = self.folder / "statements" / f"{book.name}.lisp"
        path.write_text(change(book.text), encoding="utf-8")
        return self.certifier.certify(book)


@pytest.fixture(scope="module")
def books(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Books]:
    folder = tmp_path_factory.mktemp("books")
    with Refuter(folder, SolvingOptions(timeout=300)) as refuter, Certifier(folder, 600) as certifier:
        yield Books(folder, refuter, certifier)


@acl2
@pytest.mark.long
@pytest.mark.parametrize(
    ("title", "changes"),
    [(BOUND, {}), (COMPARISON, {}), (COMPARISON, WITH_C)],
    ids=["bound", "comparison", "with c"],
)
def test_certified(title: str, changes: dict[str, Any], books: Books) -> None:
    book = book_of_errors(COMMITTED, title, **changes)
    result = books.certified(book)
    assert (result.flaw, result.inhabited) == ("", True)
    assert result.tags == (":fast-cons-memo", ":aig-vars")
    assert result.refutations == len(book.lemmas)


@acl2
@pytest.mark.long
@pytest.mark.parametrize(
    ("title", "changes"), [(BOUND, SMALLER), (COMPARISON, SWAPPED)], ids=["a smaller bound", "swapped"]
)
def test_false_statements(title: str, changes: dict[str, Any], books: Books) -> None:
    """CaDiCaL finds an input in place of a refutation, and ACL2 does not accept the lemma."""
    assert "of-words" in books.certified(book_of_errors(COMMITTED, title, **changes)).flaw


def _in(event: str, old: str, new: str) -> Callable[[str], str]:
    """A change to one event of a book."""

    def change(text: str) -> str:
        start, found, rest = text.partition(f"({event}")
        part, end, after = rest.partition("\n\n")
        assert found and old in part, (event, part)
        return start + found + part.replace(old, new) + end + after

    return change


def _sums(text: str) -> str:
    """Each sum of the unit is one more."""
    return re.sub(r"\(loghead (\d+) \(\+ ", r"(loghead \1 (+ 1 ", text)


def _word(text: str) -> str:
    """The split gives the word after the right one."""
    start, found, rest = text.partition("(defun recipe.single-bf16.word-0")
    part, end, after = rest.partition("\n\n")
    place = part.rindex("(+ ")
    return f"{start}{found}{part[:place]}(+ 1 {part[place + 3 :]}{end}{after}"


#: Which book of the bound's is changed (None: that of the statement), how, and where ACL2 stops.
TAMPERED: dict[str, tuple[int | None, Callable[[str], str], str]] = {
    "a smaller limit": (None, _in("defthm error-at-most", str(LIMIT), "1/130"), "error-at-most"),
    "a wider domain": (None, _in("defun a-in-domain", "0 0)", "0 1)"), "split-of-a"),
    "b is a": (None, _in("defun recipe.single-bf16 ", "word-0 b0", "word-0 a0"), "value-of-results"),
    "a smaller share": (None, _in("defthm value-of-sums", "1/8388608", "1/8388609"), "value-of-sums"),
    "another word": (None, _word, "split-of-a"),
    "a parameter": (1, _sums, "of-words"),
    "values without signs": (0, _in("defun value-of ", "-1 1)", "1 1)"), "value-of-scaled"),
}


@acl2
@pytest.mark.long
@pytest.mark.parametrize("way", TAMPERED)
def test_tampered(way: str, books: Books) -> None:
    """ACL2 does not certify the book, and says where it stopped."""
    place, change, where = TAMPERED[way]
    book = book_of_errors(COMMITTED, BOUND)
    write_book(book, books.folder)
    books.refuter.refute(book)
    file = f"statements/{book.name}" if place is None else f"units/{book.units[place].name}"
    path = books.folder / f"{file}.lisp"
    path.write_text(change(path.read_text(encoding="utf-8")), encoding="utf-8")
    flaw = books.certifier.certify(book).flaw.lower()
    write_book(book, books.folder)
    assert where in flaw


@acl2
@pytest.mark.long
def test_recipes_swapped_in_the_theorem(books: Books) -> None:
    book = book_of_errors(COMMITTED, COMPARISON, **WITH_C)
    one, two = "(recipe.ootomo-halfhalf a0 b0 c)", "(recipe.markidis a0 b0 c)"

    def swapped(text: str) -> str:
        start, theorem = text.split("(defthm never-less-accurate")
        theorem = theorem.replace(one, "ONE").replace(two, one).replace("ONE", two)
        return f"{start}(defthm never-less-accurate{theorem}"

    assert "never-less-accurate" in books.certified(book, swapped).flaw.lower()
