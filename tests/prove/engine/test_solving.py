"""Goals put to solvers: confirmed by others, and kept as scripts."""

from __future__ import annotations

import lzma
import re
from dataclasses import replace
from pathlib import Path

import pytest

from tcsmt.language.terms import FALSE, var
from tcsmt.language.write.smtlib import script
from tcsmt.matrix_units.models import Kind
from tcsmt.prove.certificates.lemma_files import lemma_of
from tcsmt.prove.certificates.parts import SUFFIXES
from tcsmt.prove.engine.certify import Certificates
from tcsmt.prove.engine.engine import decide
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.solvers.answer import digest
from tcsmt.prove.engine.solvers.run import solve
from tcsmt.prove.engine.solving import Dump, Solving, stage_labels
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.question import Question, difference
from tcsmt.prove.statements.verdict import Distinguished, Equivalent, Unknown
from tcsmt.support.errors import TcsmtError
from tests.support.certificates import two_products
from tests.support.lying import Liars
from tests.support.questions import unit
from tests.support.sampling import mostly_long
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


def test_confirm_names_a_second_solver() -> None:
    pair = [unit().replace(carry_bits=n) for n in (3, 4)]
    question = difference("", ("", pair[0]), ("", pair[1]))
    verdict = decide(question, Solving(SolvingOptions("bitwuzla", confirm=True))).verdict
    assert isinstance(verdict, Equivalent)
    assert verdict.confirmed.split()[0] in ("z3", "cvc5")
    plain = decide(question, Solving(SolvingOptions("bitwuzla"))).verdict
    assert isinstance(plain, Equivalent)
    assert plain.confirmed == ""


def test_a_second_solver_that_disagrees_confirms_nothing(liars: Liars) -> None:
    liars.install(bitwuzla="unsat", z3="sat")
    pair = [unit().replace(carry_bits=n) for n in (3, 4)]
    question = difference("", ("", pair[0]), ("", pair[1]), lanes=())
    verdict = decide(question, Solving(SolvingOptions(confirm=True))).verdict
    assert isinstance(verdict, Unknown)
    assert verdict.reason == "solvers disagree: bitwuzla 9.9 answers unsat, z3 9.9 sat"


def test_a_term_alone_has_a_verdict(liars: Liars) -> None:
    """An input that replays, what the model leaves out being 0; a proof; or neither."""
    x, y = var("x", 8), var("y", 8)
    met = Solving().verdict_on(x.eq(7) & y.ult(3))
    assert isinstance(met, Distinguished)
    assert met.values["x"] == 7
    assert met.values["y"] < 3
    proof = Solving(SolvingOptions(confirm=True)).verdict_on(x.ult(x & 3))
    assert isinstance(proof, Equivalent)
    assert proof.sure
    assert isinstance(Solving().verdict_on(FALSE), Equivalent)
    liars.install(bitwuzla="sat", z3="sat", cvc5="sat")
    unknown = Solving().verdict_on(x.ult(x & 3))
    assert isinstance(unknown, Unknown)
    assert "gave a model that does not replay" in unknown.reason


def with_certificates(folder: Path) -> Solving:
    return Solving(SolvingOptions("bitwuzla", confirm=True, certificate=folder))


def test_a_lemma_confirms_what_other_solvers_do_not(liars: Liars, tmp_path: Path) -> None:
    """Its refutation is checked, also where it was there before; what has a solution is confirmed by none."""
    pytest.importorskip("pysolvers", reason="the extra `certificates` is not installed")
    liars.install(bitwuzla="unsat", z3="nothing", cvc5="nothing")
    goal, wrong = var("x", 8).ult(var("x", 8) & 3), var("x", 8).ult(var("y", 8) & 3)
    assert isinstance(Solving(SolvingOptions("bitwuzla", confirm=True)).verdict_on(goal), Unknown)
    for _ in range(2):
        proof = with_certificates(tmp_path).verdict_on(goal)
        assert isinstance(proof, Equivalent)
        assert proof.confirmed == "a refutation by CaDiCaL, which was checked"
    refused = with_certificates(tmp_path).verdict_on(wrong)
    assert isinstance(refused, Unknown)
    assert refused.reason == "solvers disagree: bitwuzla 9.9 answers unsat; CaDiCaL: sat"
    planted = Certificates(tmp_path / "planted")
    name, other = planted.lemma(goal), lemma_of(wrong).name
    for suffix in SUFFIXES:
        text = getattr(lemma_of(wrong), suffix, "") or (tmp_path / "planted" / "lemmas" / f"{name}.lrat.xz")
        packed = text.read_bytes() if isinstance(text, Path) else lzma.compress(text.encode())
        (tmp_path / "planted" / "lemmas" / f"{other}.{suffix}.xz").write_bytes(packed)
    believed = with_certificates(tmp_path / "planted").verdict_on(wrong)
    assert isinstance(believed, Unknown)
    assert "not confirmed" in believed.reason


@pytest.mark.slow
@pytest.mark.parametrize("second", mostly_long(["z3", "cvc5"], ["z3"]))
def test_dumped_scripts_are_answered_alike(second: str, tmp_path: Path) -> None:
    volta = unit()
    path = tmp_path / "query.smt2"
    solving = Solving(SolvingOptions("bitwuzla", dump_smt=path))
    bits = [volta.replace(carry_bits=n) for n in (2, 3, 4)]
    sums = [one.trace.of(Kind.SUM)[0].term for one in bits]
    found_ = solving.ask(sums[0].sext(40).ne(sums[1].sext(40)))
    proof = solving.ask(sums[1].sext(40).ne(sums[2].sext(40)))
    assert (found_.answer, proof.answer) == ("sat", "unsat")
    files = sorted(tmp_path.iterdir())
    assert [f.name for f in files] == ["query-2.smt2", "query.smt2"]
    texts = [f.read_text() for f in files]
    assert texts[0].startswith(f"; SHA-256 of the script as tcsmt asks it: {proof.script}\n")
    assert [re.findall(r"set-info :status (\w+)", text) for text in texts] == [["unsat"], ["sat"]]
    answers = [solve(text, SolvingOptions(second)).answer for text in texts]
    assert answers == ["unsat", "sat"]
