"""A kernel as a model is what ``gemm`` computes, and can be asked about."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tcsmt
from tcsmt.interface.api.units import side_of
from tcsmt.matrix_units.models import Kind
from tcsmt.matrix_units.models.file_texts import has_file
from tcsmt.programs.kernels.model import KernelModel
from tcsmt.prove.statements.domain import Domain
from tcsmt.support.errors import TcsmtError
from tests.support.sampling import mostly_long

VOLTA = "volta/mma.m8n8k4.f32.f16.f16.f32"


def uniform(rng: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """Words of all kinds, NaNs and infinities among them."""
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max, shape, dtype, endpoint=True)


SCHEMES = (
    "chained", "split-k:2", "split-k:3,pairs", "sliced:2", "sliced:2,step=3,halves", "promote:4,from-zero",
    "split-k:3,reversed,parts=bf16", "split-k:3,total=bf16", "split-k:2/promote:3", "cuts:5+c=epilogue",
    "chained+alpha=1.5,beta=-0.25", "split-k:2+beta=0,out=f16:bf16", "chained+out=e4m3,saturate",
    "chained+out=bf16,RTZ", "split-k:2,sum=f64+out=f32",
)  # fmt: skip


@pytest.mark.parametrize("scheme", mostly_long(SCHEMES, SCHEMES[6:13:3]))
def test_it_is_what_gemm_computes(scheme: str) -> None:
    """The diagonal of a product against the model on rows, for all kinds of words."""
    reduction, _, epilogue = scheme.partition("+")
    unit = tcsmt.unit(f"{VOLTA}+{scheme}@11")
    rng = np.random.default_rng(5)
    a, b = uniform(rng, (60, 11), np.uint16), uniform(rng, (60, 11), np.uint16)
    a[20:], b[20:] = (x[20:] & 0x8FFF | 0x3000 for x in (a, b))  # of sizes that meet
    c = uniform(rng, (60, 60), np.uint32)
    c[20:] = c[20:] & 0x80FFFFFF | 0x3E000000
    whole = tcsmt.gemm(a, b.T, c, unit=VOLTA, reduction=reduction, epilogue=epilogue)
    assert np.diagonal(whole).tobytes() == unit(a, b, np.diagonal(c)).tobytes()


def test_stages() -> None:
    """Each instruction, each sum, and the result, by data."""
    model = side_of(f"{VOLTA}+split-k:2,step=1+out=f16@12").row.model
    stages = model.trace.stages
    assert stages[-1].term is model.trace.output
    assert [str(stage.block) for stage in stages if stage.kind is Kind.INSTRUCTION] == [
        "chain 0, instruction 0", "chain 0, instruction 1",
        "chain 1, instruction 0", "chain 1, instruction 1",
    ]  # fmt: skip
    outside = [(stage.kind, stage.lane) for stage in stages if stage.block is None]
    assert outside == [(Kind.SUM_OUTSIDE, 1), (Kind.SUM_OUTSIDE, 2), (Kind.CONVERTED, 3)]
    assert len({stage.place for stage in stages}) == len(stages)


def test_a_chained_kernel_is_the_chained_unit() -> None:
    """The same graph, without a solver; also where the last part is not cut."""
    found = tcsmt.compare(f"{VOLTA}+chained@16", VOLTA)
    assert found.equal
    assert "the same graph" in str(found)
    assert tcsmt.compare(f"{VOLTA}+promote:16@16", f"{VOLTA}+split-k:1@16").equal


def test_does_split_k_change_the_result() -> None:
    """A witness, replayed by the matrix product."""
    found = tcsmt.compare(f"{VOLTA}+split-k:2@8", VOLTA)
    assert found.equal is False
    words = found.witness
    assert words is not None
    a, b = (np.array([[words[f"{side}{k}"] for k in range(8)]], np.uint16) for side in "ab")
    c = np.array([[words["c"]]], np.uint32)
    whole = tcsmt.gemm(a, b.T, c, unit=VOLTA)
    parts = tcsmt.gemm(a, b.T, c, unit=VOLTA, reduction="split-k:2")
    assert whole.tobytes() != parts.tobytes()


def test_calls() -> None:
    """The unit's calls and additions give the result again; what does more has no file for a certificate."""
    trace = side_of(f"{VOLTA}+split-k:2+c=epilogue,alpha=2,beta=3@8").row.model.trace
    assert [call.model.k for call in trace.calls] == [4, 4, 1, 1, 1]
    assert trace.calls[-1].output is trace.output
    assert all(has_file(call.model) for call in trace.calls)
    (call,) = side_of(f"{VOLTA}+chained+out=f16@4").row.model.trace.calls
    assert isinstance(call.model, KernelModel) and not has_file(call.model)


@pytest.mark.long
def test_a_proof_leaves_a_certificate(tmp_path: Path) -> None:
    domain = Domain(c_zero=True)
    tcsmt.compare(
        f"{VOLTA}+split-k:2@8",
        VOLTA,
        domain,
        lanes=1,
        options=tcsmt.SolvingOptions(confirm=False, certificate=tmp_path),
    )
    (checked,) = tcsmt.check_certificate(tmp_path)
    assert not checked.flaw


@pytest.mark.long
def test_a_domain_where_it_never_does() -> None:
    """One product and no c: what is added is a zero. Proved, and by solvers."""
    domain = Domain(c_zero=True)
    found = tcsmt.compare(
        f"{VOLTA}+split-k:2@8", VOLTA, domain, lanes=1, options=tcsmt.SolvingOptions(confirm=False)
    )
    assert found.equal
    assert tcsmt.compare(f"{VOLTA}+split-k:2@8", VOLTA, replace(domain, c_zero=False), lanes=1).equal is False


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("volta+split-k:2", "needs its K at the end: UNIT\\+split-k:2@64"),
        ("volta+split-k:2@0", "needs its K at the end"),
        ("volta+split-k:2@²", "needs its K at the end"),
        ("volta+split:2@8", "unknown reduction 'split'"),
        ("volta+chained+bias@8", "takes no numbers but a, b and c"),
        ("volta+stream-k:2,tile=8x8x8@8", "where K is cut depends on the tile"),
        ("volta/mma.m8n8k4.f32.f16.f16.f16+chained@8", "its instructions cannot be chained"),
        ("x86/tdpbssd+chained+alpha=2@64", "alpha and beta must be 1"),
        ("nowhere+chained@8", "nowhere"),
    ],
)  # fmt: skip
def test_kernels_that_are_not_units_are_refused(name: str, message: str) -> None:
    with pytest.raises(TcsmtError, match=message):
        tcsmt.unit(name)


def test_its_name_reads_back() -> None:
    row = side_of(f"{VOLTA}+split-k:2,parts=bf16+out=f16@12").row
    assert row.name == f"{VOLTA}+split-k:2,parts=bf16+out=f16@12"
    assert isinstance(row.model, KernelModel)
    assert side_of(row.name).row.model == row.model
    assert row.model.as_json()["reduction"] == "split-k:2,parts=bf16"
