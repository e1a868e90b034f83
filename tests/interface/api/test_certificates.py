"""A certificate on disk states what the command asked: the goal is built again by another process."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import tcsmt
from tcsmt.analysis.certified import THEOREMS
from tcsmt.interface.api.certificates import (
    CheckedStatement,
    NotStated,
    StatementFacts,
    checked_in,
    summary_of_checks,
)
from tcsmt.interface.api.certified_books import CertifiedStatement, summary_of_books
from tcsmt.interop.exports.acl2.certification import CertifiedBook
from tcsmt.language.graphs.digest import digest_of_graph
from tcsmt.language.terms import const, var
from tcsmt.matrix_units.arithmetic.formats import Format
from tcsmt.matrix_units.models import FusedDotAdd, Operands
from tcsmt.prove.certificates.derivation import Close, check
from tcsmt.prove.certificates.theorems import TheoremStatement
from tcsmt.prove.engine.certify import Certificates, written_statement
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.question import ComparedModel, Question, difference, difference_of_sides
from tcsmt.prove.statements.verdict import Certified
from tcsmt.support.errors import TcsmtError
from tests.support.certificates import (
    certified,
    chained,
    edited,
    not_about_outputs,
    repacked,
    statement_path,
    two_products,
    with_model,
)
from tests.support.paths import ROOT
from tests.support.sampling import mostly_long

pytest.importorskip("pysolvers", reason="the extra `certificates` is not installed")

#: Prints the digest of each statement's goal, by the file's name; nothing is left of who wrote it.
READ = """
import json, sys
from pathlib import Path
from tcsmt.prove.certificates.files import opened, record_of
from tcsmt.prove.certificates.parts import statement_files
from tcsmt.language.graphs.digest import digest_of_graph
paths = statement_files(Path(sys.argv[1]))
print(json.dumps({path.name: digest_of_graph(opened(path, record_of(path))[0].goal) for path in paths}))
"""


def stated(folder: Path) -> dict[str, str]:
    """The digest of the goal of each statement, by its file."""
    command = [sys.executable, "-c", READ, str(folder)]
    found: dict[str, str] = json.loads(subprocess.check_output(command, cwd=ROOT, text=True))
    return found


def asked(proofs: Iterable[tuple[Question, Certified | None]]) -> dict[str, str]:
    """The same of the questions that were asked, by the file that each one's certificate is said to be."""
    return {
        certified.path.name: digest_of_graph(question.goal)
        for question, certified in proofs
        if certified is not None and certified.path is not None
    }


#: Where a property does not apply to any unit of Volta.
ELSEWHERE = {"interleaving": "ampere", "tf32-truncation": "ampere"}


@pytest.mark.slow
@pytest.mark.parametrize("name", mostly_long(sorted(tcsmt.properties()), {"carry-bits"}))
def test_find(name: str, tmp_path: Path) -> None:
    report = tcsmt.find(
        name, ELSEWHERE.get(name, "volta"), options=tcsmt.SolvingOptions(certificate=tmp_path)
    )
    posed = asked((finding.question, finding.certified) for finding in report.findings)
    if not posed:
        pytest.skip("nothing was proved, or no proof has a certificate")
    assert stated(tmp_path) == posed


@pytest.mark.long
def test_compare(tmp_path: Path) -> None:
    """On all words, and on a domain; of units that are not the same graph."""
    one, two = (two_products(carry_bits=bits) for bits in (2, 3))
    comparisons = [
        tcsmt.compare(one, two, domain, options=tcsmt.SolvingOptions(certificate=tmp_path))
        for domain in (None, Domain(c_zero=True))
    ]
    assert all(one.equal for one in comparisons)
    posed = asked((one.decision.question, one.decision.certified) for one in comparisons)
    assert len(set(posed.values())) == 2
    assert stated(tmp_path) == posed


def test_statements_that_are_not_proved_are_named_by_their_files() -> None:
    about = TheoremStatement(THEOREMS["bound"], {"about": "bound"}, {})
    done = [CheckedStatement(Path(f"{i}.json"), "all is well", about, "no lemma") for i in range(12)]
    lines = list(summary_of_checks(done))
    assert lines[0] == "summary: 12 statements (about: bound: 12)"
    assert lines[1] == f"NOT PROVED: {', '.join(f'{i}.json' for i in range(10))} and 2 more"
    assert not any("all is well" in line for line in lines)
    assert len(lines) < 50


def test_trust_tags_of_all_books() -> None:
    books = [
        CertifiedBook("a", "", "", "T", tags) for tags in ((":aig-vars",), (":fast-cons-memo", ":aig-vars"))
    ]
    done = [CertifiedStatement("a.json", "", "", book) for book in books]
    lines = list(summary_of_books([*done, CertifiedStatement("b.json", "", "no book")]))
    assert lines[0] == "summary: 3 statements (2 certified)"
    assert lines[1] == "NOT CERTIFIED: b.json"
    assert "trust tags :aig-vars, :fast-cons-memo;" in lines[2]
    assert "specification.lisp" in lines[3]


pytest.importorskip("pysolvers", reason="the extra `certificates` is not installed")

ONE, TWO = two_products(carry_bits=2), two_products(carry_bits=3)
FINITE = Domain()
#: The same where no c is subnormal.
FLUSHING, NORMAL = two_products(carry_bits=2, flush_c=True), Domain(subnormals=False)


def carry(**domain: Any) -> Question:
    return difference("one against two", ("", ONE), ("", TWO), Domain(**domain))


def proved(folder: Path, question: Question) -> Path:
    """The certificate of a question whose goal is refuted as it stands."""
    certificates = Certificates(folder)
    statement = json.loads(json.dumps(written_statement(question, certificates.model)))
    lemmas: list[str] = []
    check(question.goal, (Close(),), lambda formula: lemmas.append(certificates.lemma(formula)))
    record = {"statement": statement, "terms": [], "proof": [{"using": [], "free": []}]}
    done = certificates.keep(record, lemmas)
    assert done.path is not None
    return done.path


def missing(
    folder: Path, left: FusedDotAdd = ONE, right: FusedDotAdd = TWO, domain: Domain | None = FINITE
) -> str:
    """What is missing for the certificate to state what is expected."""
    with pytest.raises(NotStated) as error:
        tcsmt.check_certificate(folder, states=(left, right), domain=domain)
    assert error.value.exit_code == 1
    return str(error.value)


@pytest.fixture(scope="module")
def stated_facts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two units, proved to be the same on finite inputs."""
    folder = tmp_path_factory.mktemp("certificates") / "c"
    certified(folder, carry())
    return folder


@pytest.fixture(scope="module")
def flushing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two units that are the same on a domain, and nowhere else."""
    folder = tmp_path_factory.mktemp("certificates") / "c"
    certified(folder, difference("one that flushes", ("", ONE), ("", FLUSHING), NORMAL))
    return folder


def test_what_is_stated(stated_facts: Path) -> None:
    """In either order, and on every domain within the one that is proved."""
    for units in ((ONE, TWO), (TWO, ONE)):
        for domain in (Domain(), Domain(positive=True), Domain(exponents=(-2, 2), bits=(2, 2), c_zero=True)):
            (statement,) = tcsmt.check_certificate(stated_facts, states=units, domain=domain)
            assert not statement.flaw
    assert missing(stated_facts, domain=None).endswith(": it is about inputs that are finite")
    assert statement.rows == ((), ()) and statement.inhabitant is not None
    assert len(set(statement.inhabitant.outputs)) == 1


@pytest.mark.slow
def test_chains_of_units(tmp_path: Path) -> None:
    """Each four products by two instructions, on the same inputs."""
    certified(tmp_path / "c", chained())
    assert tcsmt.check_certificate(tmp_path / "c", states=(ONE, TWO), domain=Domain(c_zero=True))
    assert "it is about inputs that are" in missing(tmp_path / "c")


def test_catalogue_rows_are_found_by_their_graphs(tmp_path: Path) -> None:
    volta, ampere = (tcsmt.unit(name) for name in ("volta", "ampere/mma.m16n8k8.f32.f16.f16.f32"))
    certified(tmp_path / "c", difference("anything", ("", volta.model), ("", volta.model)))
    (statement,) = tcsmt.check_certificate(tmp_path / "c", states=("v100", "volta"), domain=Domain())
    assert volta.name in statement.rows[0]
    assert f"models 1, 2 are {volta.name}" in "\n".join(statement.lines())
    with pytest.raises(NotStated, match=r"neither of its sides is|must be a multiple"):
        tcsmt.check_certificate(tmp_path / "c", states=("volta", ampere))


FORGED: dict[str, tuple[Question, str]] = {
    "other units": (
        difference("t", *(("", two_products(fraction_bits=9, carry_bits=bits)) for bits in (2, 3))),
        "neither of its sides is",
    ),
    "a parameter off by one": (
        difference("t", ("", TWO), ("", two_products(carry_bits=4))),
        "neither of its",
    ),
    "one side twice": (difference("t", ("", ONE), ("", ONE)), "neither of its sides is"),
    "a narrower domain": (carry(c_zero=True), "it is about inputs that are finite, c = 0"),
    "a domain of few numbers": (carry(exponents=(0, 0)), "it is about inputs that are exponents 0 to 0"),
}


@pytest.mark.slow
@pytest.mark.parametrize("what", FORGED)
def test_another_statement_with_a_proof_that_is_right(what: str, tmp_path: Path) -> None:
    question, why = FORGED[what]
    proved(tmp_path / "c", question)
    (statement,) = tcsmt.check_certificate(tmp_path / "c")
    assert not statement.flaw
    assert why in missing(tmp_path / "c")


def in_statement(change: Callable[[dict[str, Any]], object]) -> Callable[[Path], object]:
    return lambda folder: edited(statement_path(folder, "one"), lambda record: change(record["statement"]))


def other_parameter(folder: Path) -> None:
    """Of the first model, under the name of that content."""
    record = json.loads(statement_path(folder, "one").read_text())
    model = folder / "models" / record["statement"]["calls"][0]["model"]
    assert "fraction_bits = 10" in model.read_text()
    with_model(model, model.read_text().replace("fraction_bits = 10", "fraction_bits = 9"))


def lemma_of_another(folder: Path) -> None:
    """The files of another lemma under this one's name."""
    other = folder.parent / "other"
    proved(other, not_about_outputs())
    (name, *_) = json.loads(statement_path(folder, "one").read_text())["lemmas"]
    (foreign, *_) = json.loads(next((other / "statements").iterdir()).read_text())["lemmas"]
    for suffix in ("smt2", "cnf", "lrat"):
        shutil.copy(other / f"lemmas/{foreign}.{suffix}.xz", folder / f"lemmas/{name}.{suffix}.xz")


def without_a_line(folder: Path) -> None:
    """Of a refutation."""
    (name, *_) = json.loads(statement_path(folder, "one").read_text())["lemmas"]
    repacked(folder / f"lemmas/{name}.lrat.xz", lambda text: "\n".join(text.splitlines()[1:]) + "\n")


TAMPERED: dict[str, Callable[[Path], object]] = {
    "a parameter of a model": other_parameter,
    "a model on other inputs": in_statement(lambda s: s["calls"][0].update(a=s["calls"][0]["a"][:1] * 2)),
    "one side twice": in_statement(lambda s: s.update(differ=[0, 0])),
    "an order of steps": lambda f: edited(statement_path(f, "one"), lambda r: r["proof"].reverse()),
    "a lemma of another statement": lemma_of_another,
    "a refutation without a line": without_a_line,
    "a wider domain": in_statement(lambda s: s["domain"].update(subnormals=True)),
}


@pytest.mark.parametrize("what", TAMPERED)
@pytest.mark.slow_cases("a model on other inputs", "a parameter of a model")
def test_files_changed_afterwards(what: str, flushing: Path, tmp_path: Path) -> None:
    shutil.copytree(flushing, tmp_path / "c")
    assert tcsmt.check_certificate(tmp_path / "c", states=(ONE, FLUSHING), domain=NORMAL)
    TAMPERED[what](tmp_path / "c")
    missing(tmp_path / "c", ONE, FLUSHING, NORMAL)
    (statement,) = tcsmt.check_certificate(tmp_path / "c")
    assert statement.flaw


def test_a_format_that_no_model_has(flushing: Path, tmp_path: Path) -> None:
    """Nobody knows what is stated: that is an error, and not a flaw."""
    shutil.copytree(flushing, tmp_path / "c")
    in_statement(lambda s: s["inputs"].update(a0="e5m2"))(tmp_path / "c")
    with pytest.raises(tcsmt.TcsmtError, match="a0 is declared as 'e5m2'"):
        tcsmt.check_certificate(tmp_path / "c")


def test_a_title_is_nothing(stated_facts: Path, tmp_path: Path) -> None:
    """Neither shown as a fact, nor a reason to take a statement for another."""
    shutil.copytree(stated_facts, tmp_path / "c")
    in_statement(lambda s: s.update(title="hopper against volta, all words"))(tmp_path / "c")
    (statement,) = tcsmt.check_certificate(tmp_path / "c", states=(ONE, TWO), domain=Domain())
    assert "hopper" not in "\n".join(statement.lines())
    assert "about inputs that are finite" in missing(tmp_path / "c", domain=None)


@pytest.mark.slow
def test_assumptions_are_not_overlooked(tmp_path: Path) -> None:
    """One that is false of every input, and one that some input satisfies."""
    word = var("a0", 8)
    for number, also in enumerate((word.ult(9) & ~word.ult(12), word.ult(9))):
        folder = tmp_path / f"c{number}"
        proved(folder, difference("t", ("", ONE), ("", TWO), Domain(), also=[also]))
        assert "it assumes more than its domain" in missing(folder)


def test_an_empty_domain_states_nothing(tmp_path: Path) -> None:
    powers = Format(name="powers", exponent_bits=4, fraction_bits=1, bias=100, signed=False)
    domain = Domain(exponents=(-2, 2), c_zero=False)
    formats = dict.fromkeys(("a_format", "b_format", "c_format"), powers)
    one, two = (two_products(fraction_bits=bits, **formats) for bits in (3, 10))
    question = difference("t", ("", one), ("", two), domain)
    facts = StatementFacts(next(checked_in(proved(tmp_path / "c", question).parent.parent)).about)
    assert facts.states.notes == ("the domain has zeros alone of a0, a1, b0, b1, c",)
    assert facts.inhabitant is not None and set(facts.inhabitant.values or {"": 1}) == {*question.formats}


@pytest.mark.slow
def test_units_on_constants_state_nothing_of_inputs(tmp_path: Path) -> None:
    """Both outputs are those of the units, but not of the units on the inputs: a statement about graphs."""
    sides = []
    for model in (ONE, TWO):
        x = model.trace.operands
        trace = model.apply(Operands((x.a[0], const(0, 8)), (x.b[0], const(0, 8)), x.c))
        sides.append(ComparedModel("", model, replace(trace, operands=x)))
    proved(tmp_path / "c", difference_of_sides("t", (sides[0], sides[1]), ONE.input_formats, Domain()))
    assert "it does not say that two outputs are the same" in missing(tmp_path / "c")


def test_statements_of_other_kinds(tmp_path: Path) -> None:
    proved(tmp_path / "c", not_about_outputs())
    assert "two outputs" in missing(tmp_path / "c")


def test_refused(stated_facts: Path) -> None:
    with pytest.raises(TcsmtError, match="did you mean"):
        tcsmt.check_certificate(stated_facts, states=("volt", "ampere"))
    with pytest.raises(TcsmtError, match="domain: of the units in states"):
        tcsmt.check_certificate(stated_facts, domain=Domain())
    with pytest.raises(TcsmtError, match="cannot compare"):
        tcsmt.check_certificate(stated_facts, states=("volta", "ampere/mma.m16n8k16.f32.bf16.bf16.f32"))


def scaled(**nan: int) -> FusedDotAdd:
    """Two products of e2m1 with block scales."""
    return FusedDotAdd.of(
        a_format="e2m1", b_format="e2m1", c_format="f32", d_format="f32", k=2, n_fma=2, fraction_bits=35,
        scale_format="ue8m0", scale_block=2, group=1, zero_exponent=-139, rounding="RTZ", **nan,
    )  # fmt: skip


@pytest.mark.slow
def test_restricted_exponents_say_nothing_of_scales(tmp_path: Path) -> None:
    """Two units that differ where a scale is NaN: equal for finite scales, and stated for no others."""
    one, two = scaled(nan=0x7FC00000), scaled(nan=0x7FFFFFFF)
    finite, all_scales = (Domain(finite=finite, exponents=(-1, 2)) for finite in (True, False))
    options = tcsmt.SolvingOptions(certificate=tmp_path / "c")
    assert tcsmt.compare(one, two, finite, options=options).equal is True
    found = tcsmt.compare(one, two, all_scales)
    assert found.equal is False
    domains = [tcsmt.compare(one, two, domain).as_json()["domain"] for domain in (finite, all_scales)]
    assert domains == ["exponents -1 to 2, finite scales", "exponents -1 to 2, scales of all words"]
    (statement,) = tcsmt.check_certificate(tmp_path / "c", states=(one, two), domain=finite)
    assert statement.states is not None and domains[0] in statement.states.says
    for inner in (replace(finite, c_zero=True), replace(finite, exponents=(0, 1))):
        assert tcsmt.check_certificate(tmp_path / "c", states=(one, two), domain=inner)
    with pytest.raises(NotStated, match=f"{domains[1]}: .*: it is about inputs that are {domains[0]}"):
        tcsmt.check_certificate(tmp_path / "c", states=(one, two), domain=all_scales)


@pytest.mark.slow
def test_parameters_stand_in_a_table(tmp_path: Path) -> None:
    """What a reader is shown has each model's parameters once, and says which differ."""
    path = proved(tmp_path / "c", carry(c_zero=True))
    (statement,) = checked_in(path.parent.parent)
    lines = statement.lines()
    (row,) = [line for line in lines if "differs" in line]
    assert row.split() == ["carry_bits", "2", "3", "differs"]
    data = statement.as_json()
    assert [part["values"]["carry_bits"] for part in data["parameters"]] == ["2", "3"]
    assert all(part["rows"] == [] for part in data["parameters"])
    assert data["inhabitant"]["outputs"][0] == data["inhabitant"]["outputs"][1]
