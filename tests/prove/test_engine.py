"""The engine: equal is proved, different is replayed, an empty domain is said."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tcsmt.catalogue import row_named, rows
from tcsmt.interpret.exact import evaluate
from tcsmt.models import FusedDotAdd, Operands
from tcsmt.prove import engine
from tcsmt.prove.boundary_inputs import rows as pool_rows
from tcsmt.prove.engine import Comparison, compare, compare_models
from tcsmt.prove.solvers.run import SOLVERS, Settings
from tcsmt.prove.solving import Solving
from tcsmt.simulator.rows import run_words
from tcsmt.statements.domain import Domain
from tcsmt.statements.question import difference
from tcsmt.statements.verdict import Distinguished, Equivalent, Unknown
from tcsmt.support.errors import TcsmtError
from tests.support.lying import Liars

VOLTA = "volta/mma.m8n8k4.f32.f16.f16.f32"
AMPERE = "ampere/mma.m16n8k16.f32.f16.f16.f32"
HOPPER = "hopper/mma.m16n8k16.f32.f16.f16.f32"
ALL = Domain(finite=False)


@pytest.fixture(autouse=True)
def nothing_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No lemma of an earlier run."""
    monkeypatch.setenv("TCSMT_CACHE", str(tmp_path / "cache"))


def fused(name: str, **changes: Any) -> FusedDotAdd:
    model = row_named(name).model
    assert isinstance(model, FusedDotAdd)
    return replace(model, **changes)


def asked(left: Any, right: Any, domain: Domain = ALL, confirm: bool = False, **options: Any) -> Comparison:
    solving = Solving(Settings(timeout=60), confirm=confirm)
    return compare_models(("one", left), ("two", right), domain, solving, **options)


def test_every_row_equals_itself() -> None:
    """Another object with the same parameters: the same graph, and no solver."""
    for row in rows()[::7]:
        found = asked(row.model, replace(row.model))
        assert isinstance(found.verdict, Equivalent)
        assert found.verdict.scripts == ()


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        (VOLTA, {"carry_bits": 3}),
        (AMPERE, {"carry_bits": 4}),  # a chain of two blocks
        (VOLTA, {"zero_exponent": -126}),
        (AMPERE, {"zero_exponent": -133}),
    ],
)
def test_stage_by_stage(name: str, changes: dict[str, Any]) -> None:
    unit = fused(name)
    found = asked(unit, replace(unit, **changes), confirm=True)
    verdict = found.verdict
    assert isinstance(verdict, Equivalent), verdict
    assert found.sure
    first, second = verdict.solver, verdict.confirmed.split()[0]
    assert first in SOLVERS and second in SOLVERS and first != second
    assert len(verdict.scripts) < 5
    assert all(len(step.script) == 64 or "same graph" in step.how for step in found.steps)
    # the other way round too
    assert isinstance(asked(replace(unit, **changes), unit).verdict, Equivalent)


def test_equal_blocks_ask_the_same_lemma_once() -> None:
    unit = fused(AMPERE)
    found = asked(unit, replace(unit, carry_bits=4))
    by_stage = {step.what: step.script for step in found.steps}
    assert by_stage["block 0: result"] == by_stage["block 1: result"]


@pytest.mark.parametrize("bits", [0, 1, 2])
def test_too_few_carry_bits_are_never_proved(bits: int) -> None:
    """The coarse levels allow more, and must not be where a difference gets lost."""
    unit = fused(VOLTA)
    assert isinstance(asked(unit, replace(unit, carry_bits=bits)).verdict, Distinguished)


@pytest.mark.parametrize("wrong", ["zero exponent", "sum", "chain"])
def test_without_the_pool_the_engine_finds_the_witness(monkeypatch: pytest.MonkeyPatch, wrong: str) -> None:
    """The solvers alone tell apart what a proof must not equate."""
    monkeypatch.setattr(engine, "search", lambda question: None)
    bf16 = fused("ampere/mma.m16n8k8.f32.bf16.bf16.f32", k=2, n_fma=2)
    pairs = {
        "zero exponent": (bf16, replace(bf16, zero_exponent=-126)),
        "sum": (fused(VOLTA), fused(VOLTA, carry_bits=2)),
        "chain": (fused(AMPERE, k=4, n_fma=2), fused(AMPERE, k=4, n_fma=2, fraction_bits=25)),
    }
    found = asked(*pairs[wrong], Domain())
    assert isinstance(found.verdict, Distinguished), found.verdict
    assert evaluate([found.question.goal], found.verdict.values) == [1]


def test_a_proof_holds_on_random_inputs() -> None:
    """What was proved equal gives the same words on inputs of the pool."""
    unit = fused(AMPERE)
    other = replace(unit, zero_exponent=-126)
    columns = pool_rows(unit.input_formats, 2000, np.random.default_rng(3))
    a, b = (np.stack([columns[f"{side}{i}"] for i in range(unit.k)], axis=-1) for side in "ab")
    one, two = (run_words(model, Operands(a, b, columns["c"])) for model in (unit, other))
    assert np.array_equal(one, two)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (VOLTA, f"{VOLTA}@valpey"),
        (VOLTA, f"{VOLTA}@fasi"),
        (AMPERE, HOPPER),
        (HOPPER, "cdna3/v_mfma_f32_16x16x16_f16"),
        ("hopper/wgmma.m64nNk32.f32.e4m3.e4m3", "hopper/mma.m16n8k32.f32.e4m3.e4m3.f32"),
    ],
)
def test_different_units(left: str, right: str) -> None:
    one, two = row_named(left).model, row_named(right).model
    found = asked(one, two)
    assert isinstance(found.verdict, Distinguished)
    values = found.verdict.values
    k = one.k
    a, b = ([np.array([[values[f"{side}{i}"] for i in range(k)]], dtype=np.uint64)] for side in "ab")
    c = np.array([values["c"]], dtype=np.uint64)
    assert run_words(one, Operands(a[0], b[0], c)) != run_words(two, Operands(a[0], b[0], c))
    formats = found.question.formats
    assert not any(f.is_nan(values[n]) or f.is_infinite(values[n]) for n, f in formats.items())


def test_only_a_nan_differs() -> None:
    """Equal on finite inputs; not on all words."""
    unit = fused(VOLTA, k=1, n_fma=1)
    other = replace(unit, nan=0x7FC00000)
    found = asked(unit, other)
    assert isinstance(found.verdict, Distinguished)
    assert isinstance(asked(unit, other, Domain()).verdict, Equivalent)


def test_an_empty_domain_is_never_equal() -> None:
    one = fused(VOLTA, k=1, n_fma=1)
    question = difference("", ("one", one), ("two", replace(one, fraction_bits=24)))
    nothing = one.trace.c.eq(1) & one.trace.c.eq(2)
    empty = replace(question, domain=nothing, goal=question.goal & nothing, domain_text="c = 1 and c = 2")
    with pytest.raises(TcsmtError, match="the domain is empty: no input is c = 1 and c = 2"):
        compare(empty, Solving())
    same = replace(empty, sides=(question.sides[0], question.sides[0]))
    with pytest.raises(TcsmtError, match="the domain is empty"):
        compare(same, Solving())


def test_solvers_that_disagree(liars: Liars) -> None:
    liars.install(z3="sat")
    unit = fused(VOLTA)
    found = asked(unit, replace(unit, carry_bits=3), confirm=True)
    assert isinstance(found.verdict, Unknown)
    assert re.fullmatch(r"solvers disagree: bitwuzla \S+ answers unsat, z3 9\.9 sat", found.verdict.reason), (
        found.verdict
    )


def test_what_is_not_confirmed_is_no_proof(liars: Liars) -> None:
    liars.install(z3="nothing", cvc5="aborts after unsat")
    unit = fused(VOLTA)
    sides = unit, replace(unit, carry_bits=3)
    found = asked(*sides, confirm=True)
    assert isinstance(found.verdict, Unknown)
    said = r"bitwuzla \S+ answers unsat; not confirmed: z3: wrote nothing; cvc5: crashed \(SIGABRT\)"
    assert re.fullmatch(said, found.verdict.reason), found.verdict
    alone = asked(*sides).verdict
    assert isinstance(alone, Equivalent)
    assert not alone.sure
    assert re.fullmatch(r"bitwuzla \S+ alone", alone.by_whom)


def test_an_empty_domain_is_confirmed_too(liars: Liars) -> None:
    """Where another solver has an input, the domain is not empty; where none agrees, nothing is said."""
    unit = fused(VOLTA, k=1, n_fma=1)
    question = difference("", ("one", unit), ("two", replace(unit, carry_bits=1)), also=[unit.trace.c.eq(1)])
    liars.install(bitwuzla="unsat", z3="sat")
    found = compare(question, Solving(confirm=True)).verdict
    assert isinstance(found, Unknown) and "solvers disagree" in found.reason
    liars.install(z3="garbage", cvc5="nothing")
    found = compare(question, Solving(confirm=True)).verdict
    assert isinstance(found, Unknown) and "not confirmed" in found.reason
