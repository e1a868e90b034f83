"""Scripts for people: their header, the stages' names, and the digest of the script as it is asked."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from tcsmt.language.terms import var
from tcsmt.language.write.smtlib import script
from tcsmt.matrix_units.models import Kind
from tcsmt.prove.engine.dumping import Dump, stage_labels
from tcsmt.prove.engine.solvers.answer import digest
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.question import Question, difference
from tcsmt.support.errors import TcsmtError
from tests.support.certificates import two_products
from tests.support.scripts import ask_bitwuzla

X = var("x", 8)
GOAL = (X + 1).eq(0x44)


def question() -> Question:
    models = [(f"{bits} | bits", two_products(carry_bits=bits)) for bits in (0, 3)]
    return difference("how many \\ carry | bits", models[0], models[1], Domain())


def test_dumped_scripts_name_their_question(tmp_path: Path) -> None:
    dump = Dump(tmp_path / "x.smt2")
    dump.asks(question())
    path = dump.write(GOAL, "sat")
    text = path.read_text()
    assert text.splitlines()[0] == f"; SHA-256 of the script as tcsmt asks it: {digest(script(GOAL))}"
    (source,) = re.findall(r"\(set-info :source \|(.*)\|\)", text)
    assert source.startswith("tcsmt ") and source.endswith("; how many / carry / bits; domain: finite")
    assert "(set-info :status sat)" in text and "(set-info :smt-lib-version 2.6)" in text
    assert ask_bitwuzla(text) == ask_bitwuzla(script(GOAL)) == "sat"


def test_numbers_of_files(tmp_path: Path) -> None:
    """A script that is written again to its place is no new one."""
    dump = Dump(tmp_path / "x.smt2")
    paths = [dump.write(GOAL) for _ in range(3)]
    assert [path.name for path in paths] == ["x.smt2", "x-2.smt2", "x-3.smt2"]
    assert dump.write(GOAL, "unsat", paths[1]) == paths[1]
    assert dump.written == paths
    assert [re.findall(r":status (\w+)", path.read_text()) for path in paths] == [
        ["unknown"], ["unsat"], ["unknown"],
    ]  # fmt: skip


def test_stages_have_the_names_of_their_sides() -> None:
    """A stage that both sides have is the first one's; inputs have no name but their own."""
    sides = question().sides
    labels = stage_labels(sides)
    left, right = (side.trace.of(Kind.SUM)[0] for side in sides)
    assert labels[left.term].startswith("left.sum.") and labels[right.term].startswith("right.sum.")
    product = sides[0].trace.of(Kind.PRODUCT)[0].term
    assert product is sides[1].trace.of(Kind.PRODUCT)[0].term
    assert labels[product].startswith("left.product-0.")
    assert len(set(labels.values())) == len(labels)
    assert not any(term in labels for term in sides[0].trace.inputs)
    three = stage_labels([*sides, replace(sides[0], label="third")])
    assert three[left.term].startswith("side0.") and three[right.term].startswith("side1.")


def test_names_where_something_is_put_for_a_node(tmp_path: Path) -> None:
    """For the time of the ``with``: stages over the new term keep their names, and own names come first."""
    dump = Dump(tmp_path / "x.smt2")
    asked = question()
    dump.asks(asked)
    trace = asked.sides[0].trace
    c, other = trace.c, var("other", trace.c.width)
    before = dict(dump.labels)
    own = X ^ 5
    with dump.where({c: other}, about=", c apart", own={own: "mine"}):
        names = set(dump.labels.values())
        assert names == {*before.values(), "mine"}
        assert all(term not in before for term, name in dump.labels.items() if name.startswith("left.sum"))
        assert dump.labels[own] == "mine"
        assert "; how many / carry / bits; domain: finite, c apart|" in dump.write(GOAL).read_text()
    assert dict(dump.labels) == before
    with pytest.raises(RuntimeError), dump.where({c: other}, about="x"):
        raise RuntimeError
    assert dict(dump.labels) == before and "c apart" not in dump.write(GOAL).read_text()


def test_missing_folders_are_refused(tmp_path: Path) -> None:
    with pytest.raises(TcsmtError, match="cannot write"):
        Dump(tmp_path / "no" / "x.smt2").write(GOAL)
