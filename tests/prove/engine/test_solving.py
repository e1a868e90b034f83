"""Goals put to solvers: confirmed by others, and kept as scripts."""

from __future__ import annotations

import lzma
import re
from pathlib import Path

import pytest

from tcsmt.language.terms import FALSE, var
from tcsmt.matrix_units.models import Kind
from tcsmt.prove.certificates.lemma_files import lemma_of
from tcsmt.prove.certificates.parts import SUFFIXES
from tcsmt.prove.engine.certify import Certificates
from tcsmt.prove.engine.engine import decide
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.solvers.run import solve
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.question import difference
from tcsmt.prove.statements.verdict import Distinguished, Equivalent, Unknown
from tests.support.lying import Liars
from tests.support.questions import unit
from tests.support.sampling import mostly_long


def test_confirm_names_a_second_solver() -> None:
    pair = [unit().varied(carry_bits=n) for n in (3, 4)]
    question = difference("", ("", pair[0]), ("", pair[1]))
    verdict = decide(question, Solving(SolvingOptions("bitwuzla", confirm=True))).verdict
    assert isinstance(verdict, Equivalent)
    assert verdict.confirmed.split()[0] in ("z3", "cvc5")
    plain = decide(question, Solving(SolvingOptions("bitwuzla"))).verdict
    assert isinstance(plain, Equivalent)
    assert plain.confirmed == ""


def test_a_second_solver_that_disagrees_confirms_nothing(liars: Liars) -> None:
    liars.install(bitwuzla="unsat", z3="sat")
    pair = [unit().varied(carry_bits=n) for n in (3, 4)]
    question = difference("", ("", pair[0]), ("", pair[1]), lanes=())
    verdict = decide(question, Solving(SolvingOptions(confirm=True))).verdict
    assert isinstance(verdict, Unknown)
    assert verdict.reason == "solvers disagree: bitwuzla 9.9 answers unsat, z3 9.9 sat"


def test_a_term_alone_has_a_verdict(liars: Liars) -> None:
    """An input that replays, what the model leaves out being 0; a proof; or neither."""
    x, y = var("x", 8), var("y", 8)
    met = Solving().settled(x.eq(7) & y.ult(3))
    assert isinstance(met, Distinguished)
    assert met.values["x"] == 7
    assert met.values["y"] < 3
    proof = Solving(SolvingOptions(confirm=True)).settled(x.ult(x & 3))
    assert isinstance(proof, Equivalent)
    assert proof.sure
    assert isinstance(Solving().settled(FALSE), Equivalent)
    liars.install(bitwuzla="sat", z3="sat", cvc5="sat")
    unknown = Solving().settled(x.ult(x & 3))
    assert isinstance(unknown, Unknown)
    assert "gave a model that does not replay" in unknown.reason


def with_certificates(folder: Path) -> Solving:
    return Solving(SolvingOptions("bitwuzla", confirm=True, certificate=folder))


def test_a_lemma_confirms_what_other_solvers_do_not(liars: Liars, tmp_path: Path) -> None:
    """Its refutation is checked, also where it was there before; what has a solution is confirmed by none."""
    pytest.importorskip("pysolvers", reason="the extra `certificates` is not installed")
    liars.install(bitwuzla="unsat", z3="nothing", cvc5="nothing")
    goal, wrong = var("x", 8).ult(var("x", 8) & 3), var("x", 8).ult(var("y", 8) & 3)
    assert isinstance(Solving(SolvingOptions("bitwuzla", confirm=True)).settled(goal), Unknown)
    for _ in range(2):
        proof = with_certificates(tmp_path).settled(goal)
        assert isinstance(proof, Equivalent)
        assert proof.confirmed == "a refutation by CaDiCaL, which was checked"
    refused = with_certificates(tmp_path).settled(wrong)
    assert isinstance(refused, Unknown)
    assert refused.reason == "solvers disagree: bitwuzla 9.9 answers unsat; CaDiCaL: sat"
    planted = Certificates(tmp_path / "planted")
    name, other = planted.lemma(goal), lemma_of(wrong).name
    for suffix in SUFFIXES:
        text = getattr(lemma_of(wrong), suffix, "") or (tmp_path / "planted" / "lemmas" / f"{name}.lrat.xz")
        packed = text.read_bytes() if isinstance(text, Path) else lzma.compress(text.encode())
        (tmp_path / "planted" / "lemmas" / f"{other}.{suffix}.xz").write_bytes(packed)
    believed = with_certificates(tmp_path / "planted").settled(wrong)
    assert isinstance(believed, Unknown)
    assert "not confirmed" in believed.reason


@pytest.mark.slow
@pytest.mark.parametrize("second", mostly_long(["z3", "cvc5"], ["z3"]))
def test_dumped_scripts_are_answered_alike(second: str, tmp_path: Path) -> None:
    volta = unit()
    path = tmp_path / "query.smt2"
    solving = Solving(SolvingOptions("bitwuzla", dump_smt=path))
    bits = [volta.varied(carry_bits=n) for n in (2, 3, 4)]
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
