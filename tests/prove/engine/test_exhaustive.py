"""Models compared by running all inputs: finite ones, and the others by solvers or also run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tcsmt.language.run import jit
from tcsmt.language.run.exact import evaluate
from tcsmt.matrix_units.arithmetic.formats import Format
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS
from tcsmt.matrix_units.models import FusedDotAdd
from tcsmt.prove.engine import exhaustive
from tcsmt.prove.engine.engine import Decision
from tcsmt.prove.engine.exhaustive import compare_exhaustively
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.proof_steps import LemmaAnswer, Lemmas
from tcsmt.prove.engine.solvers.answer import Answer
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.verdict import Distinguished, Equivalent
from tcsmt.support.errors import TcsmtError

pytestmark = [
    pytest.mark.skipif(not jit.available(), reason="the extra `fast` is not installed"),
    pytest.mark.usefixtures("no_luck"),
]
NARROW = Format(name="s3m1", exponent_bits=3, fraction_bits=1, bias=3)
WIDE = Format(name="s4m3", exponent_bits=4, fraction_bits=3, bias=7)


def unit(fraction_bits: int) -> FusedDotAdd:
    """One product and c, aligned with so many fraction bits."""
    return FusedDotAdd.of(
        a_format=NARROW, b_format=NARROW, c_format=WIDE, d_format=WIDE, k=1, n_fma=1,
        fraction_bits=fraction_bits, zero_exponent=None, rounding=ROUNDINGS["RNE"],
    )  # fmt: skip


def compared(one: FusedDotAdd, two: FusedDotAdd, domain: Domain) -> Decision:
    solving = Solving(SolvingOptions("bitwuzla", 20, 2048))
    return compare_exhaustively(("one", one), ("two", two), domain, solving, Lemmas(solving))


@pytest.mark.parametrize("finite", [True, False])
def test_alike_and_not(finite: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """What no solver says: a grid so fine that nothing is cut, or one bit too coarse."""
    monkeypatch.setattr(exhaustive, "search", lambda question: None)
    fine, finer, coarse = unit(20), unit(21), unit(3)
    same = compared(fine, finer, Domain(finite=finite))
    assert isinstance(same.verdict, Equivalent)
    assert [step.what for step in same.steps][-1] == "every finite input"
    assert same.steps[-1].solver == "LLVM"
    assert len(same.steps) == 1 + (not finite)
    assert not same.verdict.sure
    other = compared(fine, coarse, Domain(finite=finite))
    assert isinstance(other.verdict, Distinguished)
    left, right = evaluate([side.trace.output for side in other.question.sides], other.verdict.values)
    assert left != right


def test_no_answer_for_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Inputs with a NaN are run, too."""
    monkeypatch.setattr(exhaustive, "search", lambda question: None)
    monkeypatch.setattr(Lemmas, "prove", lambda *given: LemmaAnswer(Answer("unknown", "none")))
    found = compared(unit(20), unit(21), Domain(finite=False))
    assert isinstance(found.verdict, Equivalent)
    assert [step.what for step in found.steps] == ["every input"]


def test_scripts_and_certificates_are_of_solvers(tmp_path: Path) -> None:
    solving = Solving(SolvingOptions("bitwuzla", 20, 2048, dump_smt=tmp_path))
    with pytest.raises(TcsmtError, match="no scripts and no certificate"):
        compare_exhaustively(("one", unit(3)), ("two", unit(4)), Domain(), solving, Lemmas(solving))
