"""Statements as books of ACL2: what they say, without ACL2."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random

import pytest

from tcsmt.interop.exports.acl2.certification import write_book
from tcsmt.interop.exports.acl2.derivation import BookEvent
from tcsmt.interop.exports.acl2.statements import StatementBook, any_order
from tcsmt.interop.exports.acl2.units import UnitBook, unit_book
from tcsmt.language.write.acl2 import variables_of
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import Model
from tests.support.acl2_books import book_of
from tests.support.acl2_text import Session, forms
from tests.support.certificates import two_products

VOLTA = row_named("volta/mma.m8n8k4.f32.f16.f16.f32").model


def reordered(model: Model, lanes: list[int]) -> tuple[UnitBook, dict[str, int], list[BookEvent] | None]:
    unit = unit_book(model, "0123456789abcdef.toml")
    names = variables_of(model.input_names).values()
    order = {name: f"{name[0]}{lanes[int(name[1:])]}" if name != "c" else "c" for name in names}
    widths = {name: fmt.width for name, fmt in model.input_formats.items()}
    return unit, widths, any_order(unit, order, widths)


@pytest.mark.parametrize("lanes", [[3, 2, 1, 0], [1, 0, 2, 3], [2, 0, 3, 1]])
def test_every_event_is_true_of_random_words(lanes: list[int]) -> None:
    unit, widths, events = reordered(VOLTA, lanes)
    assert events is not None
    session, rng = Session(), Random(4)
    for text in (unit.text, *(event.text for event in events)):
        session.read(text)
    sizes = " ".join(f"(unsigned-byte-p {width} {name})" for name, width in widths.items())
    session.read(f"(defun words-p ({' '.join(widths)}) (and {sizes}))")
    labels = widths | {call.label: call.width for call in unit.calls}
    assert {"any-order", "any-order-of-sum", "any-order-of-largest-exponent"} <= set(session.theorems)
    for _ in range(20):
        words = {name: rng.getrandbits(width) for name, width in labels.items()}
        for says in session.theorems.values():
            assert session.value(says, words)
        for hyp, concl in session.simulated.values():
            assert session.value(hyp, words)
            assert session.value(concl, words)


def test_inputs_that_are_no_permutation_of_lanes() -> None:
    """Only a's in another order: the products are others, so that there is nothing to prove by stages."""
    unit, widths, _ = reordered(two_products(), [1, 0])
    assert any_order(unit, {"a0": "a1", "a1": "a0", "b0": "b0", "b1": "b1", "c": "c"}, widths) is None


COMMITTED = Path(__file__).parents[4] / "results" / "certificates"


def read(book: StatementBook, folder: Path) -> Session:
    write_book(book, folder)
    session = Session()
    session.read(
        (folder / "statements" / f"{book.name}.lisp").read_text(encoding="utf-8"), folder / "statements"
    )
    return session


def holds(session: Session, name: str, seed: int) -> None:
    """A theorem about all words is true of some."""
    rng = Random(seed)
    sizes = session.functions["words-p"][1][1:]
    for _ in range(20):
        words = {size[2]: rng.getrandbits(size[1]) for size in sizes}
        assert session.value(session.theorems[name], words)


def test_two_units(certificates: Path, tmp_path: Path) -> None:
    book = book_of(certificates, "2 carry bits")
    assert len(book.units) == 2
    session = read(book, tmp_path)
    holds(session, "same-word", 5)
    assert session.value(session.theorems["inhabited"], {})
    assert book.values is not None


def test_a_goal_of_its_own(certificates: Path, tmp_path: Path) -> None:
    book = book_of(certificates, "a NaN stays")
    assert (book.theorem, book.values) == ("no-such-input", None)
    holds(read(book, tmp_path), "no-such-input", 6)


@pytest.mark.slow_cases("hopper mma.m16n8k32 e5m2 to f32 against FP16-True")
@pytest.mark.parametrize(
    ("title", "differs"),
    [
        ("3 against 4 carry bits", False),
        ("N = 4: products in order against shuffled", False),
        ("hopper mma.m16n8k32 e5m2 to f32 against FP16", True),
    ],
)
def test_committed_statements(title: str, differs: bool, tmp_path: Path) -> None:
    """Where a unit is applied to other words than inputs, the side is a function of its own."""
    session = read(book_of(COMMITTED, title), tmp_path)
    assert ("side-2" in session.functions) is differs
    holds(session, "same-word", 7)


def test_what_it_says_stands_in_its_head(certificates: Path) -> None:
    text = book_of(certificates, "2 carry bits").text
    assert text.isascii()
    head = text.partition("(in-package")[0]
    assert '; "2 carry bits against 3 carry bits", in its author\'s words' in head
    assert "; statement: on inputs that are finite, models 1 and 2 give the same word, read in f16" in head


@pytest.mark.parametrize(
    "title",
    ["3 against 4 carry bits", "N = 4: products in order against shuffled", "N = 4: the sum of 29-bit"],
)
def test_a_theorem_uses_those_before_it(title: str) -> None:
    """By their names, which are of events of the same book."""
    known: set[str] = set()
    for event in book_of(COMMITTED, title).events:
        for form in forms(event.text):
            hints = form[form.index(":hints") + 1][0] if ":hints" in form else []
            uses = hints[hints.index(":use") + 1] if ":use" in hints else []
            assert {use[1] if isinstance(use, list) else use for use in uses} <= known, event.text[-200:]
        known |= set(re.findall(r"\((?:gl::def-gl-thm|defthm) (\S+)", event.text))
    assert "same-word" in known or "no-such-input" in known
