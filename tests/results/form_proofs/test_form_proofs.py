"""What is kept of proved forms is proved again, all of it by long tests."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from form_proofs import exact_form_proof, float_form_proof
from form_proofs.form_proofs import FormProof, form_proofs

from tcsmt.language.terms import Term, const
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import FusedDotAdd, IeeeDotAdd
from tcsmt.prove.certificates.checker import check_certificate
from tcsmt.prove.certificates.derivation import InvalidProof, check
from tcsmt.prove.engine.certify import Certificates
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.refutations import available
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.verdict import Equivalent
from tcsmt.simulate.forms.exact_form import exact_form
from tcsmt.simulate.forms.float_form import float_form, last_addition_form
from tcsmt.simulate.forms.proved_forms import PROVED
from tcsmt.support.errors import Malformed
from tests.support.sampling import mostly_long

ENTRIES = [
    (entry["unit"], (entry["model"], entry["form"]))
    for entry in json.loads(PROVED.read_text(encoding="utf-8"))["forms"]
]
#: Goals that are refuted: many forms have them in common.
REFUTED: set[Term] = set()


def proof_of(name: str, digests: tuple[str, str]) -> FormProof:
    """What is to be proved of a unit, by its digests."""
    (proof,) = (proof for proof in form_proofs(row_named(name).model) if proof.digests == digests)
    return proof


def test_what_is_kept_is_kept_once() -> None:
    assert len({digests for _, digests in ENTRIES}) == len(ENTRIES)


@pytest.mark.parametrize(("name", "digests"), ENTRIES)
def test_what_is_kept_is_of_the_graphs_of_today(name: str, digests: tuple[str, str]) -> None:
    assert proof_of(name, digests)


def two_lanes() -> FusedDotAdd:
    """A unit of FP8 with two products in a sum."""
    model = row_named("hopper/wgmma.m64nNk32.f32.e4m3.e4m3").model.replace(k=2, n_fma=2)
    assert isinstance(model, FusedDotAdd)
    return model


def test_the_checker_of_certificates_takes_every_step() -> None:
    """All formulas are left to refutations; a step that is missing, or another goal, stops it."""
    model = two_lanes()
    form = float_form(model)
    assert form is not None
    goal, proof = float_form_proof.derive_proof(model, form).certificate()
    formulas: list[Term] = []
    check(goal, proof, formulas.append)
    assert len(formulas) > 100
    for part in (proof[-1:], (*proof[:-2], proof[-1])):
        with pytest.raises(InvalidProof, match="not among the facts"):
            check(goal, part, formulas.append)
    with pytest.raises(InvalidProof):
        check(const(1, 1), proof, formulas.append)


@pytest.mark.slow
def test_the_checker_takes_every_step_of_exact_sums() -> None:
    """Two of them, of which the second has the first one's word as c."""
    model = row_named("cdna1/v_mfma_f32_32x32x4bf16").model
    assert isinstance(model, IeeeDotAdd)
    form = exact_form(model)
    assert form is not None
    goal, proof = exact_form_proof.derive_proof(model, form).certificate()
    formulas: list[Term] = []
    check(goal, proof, formulas.append)
    assert len(set(formulas)) > 100
    with pytest.raises(InvalidProof, match="not among the facts"):
        check(goal, (*proof[:-2], proof[-1]), formulas.append)


needs_solver = pytest.mark.skipif(not available(), reason="the extra `certificates` is not installed")
UNITS = (
    "arm/fdot.f16.e4m3.e4m3.lscale5.osm1",
    "arm/bfdot.ebf0",
    "blackwell/tcgen05.mMnNk64.kind::mxf4.block32.f32.e2m1.e2m1.ue8m0",
    "hopper/mma.m8n8k4.f64.f64.f64.f64",
    "volta/mma.m8n8k4.f32.f16.f16.f32",
    "hopper/mma.m16n8k32.f32.e4m3.e4m3.f32",
)


@needs_solver
@pytest.mark.parametrize("name", mostly_long(UNITS, UNITS[-1:]))
def test_a_certificate_is_accepted(name: str, tmp_path: Path) -> None:
    """By the checker, which knows nothing of forms; and not where the statement is another one."""
    *_, proof = form_proofs(row_named(name).model)
    written = Certificates(tmp_path, SolvingOptions(timeout=120)).add(*proof.certificate(name))
    assert written.path is not None, written.why
    (checked,) = check_certificate(tmp_path)
    assert not checked.flaw
    record = json.loads(written.path.read_text())
    statement = record["statement"]
    other = {**statement, "goal": statement["goal"] - 1}
    written.path.write_text(json.dumps({**record, "statement": other}))
    try:
        (checked,) = check_certificate(tmp_path)
    except Malformed:  # the term before the goal has other inputs
        return
    assert checked.flaw


@needs_solver
def test_a_faulty_form_has_no_certificate(tmp_path: Path) -> None:
    model = row_named(UNITS[-1]).model
    assert isinstance(model, FusedDotAdd)
    form = last_addition_form(model)
    assert form is not None
    faulty = replace(form, result=form.result ^ 1)
    proof = FormProof("a fault", ("", ""), None, lambda: float_form_proof.derive_last_addition(faulty))
    written = Certificates(tmp_path).add(*proof.certificate("a unit"))
    assert written.path is None and "sat" in written.why


@pytest.mark.long
@pytest.mark.parametrize(("name", "digests"), ENTRIES)
def test_what_is_kept_is_proved_again(name: str, digests: tuple[str, str]) -> None:
    """By a solver, and by a refutation of the clauses that is checked."""
    solving = Solving(SolvingOptions(timeout=300, confirm=True))
    for lemma in proof_of(name, digests).derive_proof().lemmas.values():
        if lemma.goal in REFUTED:
            continue
        answer = solving.ask(lemma.goal)
        verdict = solving.proof(lemma.what, lemma.goal, answer, answer.seconds)
        assert isinstance(verdict, Equivalent), lemma.what
        REFUTED.add(lemma.goal)
