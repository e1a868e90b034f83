"""``tcsmt.accuracy``: its names."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tcsmt
from tcsmt import accuracy
from tcsmt.analysis.bounds.proof import StepwiseProof
from tcsmt.interface.cli.accuracy import accuracy as commands
from tcsmt.interface.cli.lazy import Lazy
from tcsmt.language.terms import Term
from tcsmt.matrix_units.arithmetic.words import unsigned
from tcsmt.matrix_units.catalogue import Row, rows


def test_every_command_has_its_call() -> None:
    """Of the same name; the list of algorithms is ``recipes``."""
    assert isinstance(commands, Lazy)
    calls = {name for name in accuracy.__all__ if name.islower()}
    assert calls == {"recipes" if name == "algorithms" else name for name in commands.summaries}


@pytest.mark.slow
def test_a_result_of_three_values_says_why_it_is_not_known() -> None:
    analysis = tcsmt.accuracy.split("bf16")[0]
    assert analysis.holds is None
    assert "not known (neither a proof nor all inputs were asked for)" in repr(analysis)
    exact = accuracy.exact("volta", integers=1 << 11, k=8, search=False)
    assert (exact.is_exact is None) == bool(exact.reason)


#: What a kernel does outside of its unit; each takes some units, and is refused for others.
SCHEMES = (
    "chained", "split-k:3", "split-k:2,pairs/promote:32", "sliced:2+c=epilogue",
    "promote:48,from-zero",
    "cuts:5,reversed+beta=0", "split-k:3,any", "split-k:3,sum=bf16,parts=f16+bias", "chained+out=f16",
    "split-k:2,total=bf16+alpha=0.5,beta=2", "chained+out=e4m3,saturate",
    "chained+bias,out=bf16,stochastic=16",
    "split-k:2,sum=f64", "stream-k:3,tile=2x2x16", "chained+alpha=0",
    "chained+beta=-1,c=epilogue,out=f32:bf16",
)  # fmt: skip
DOMAINS = (
    tcsmt.Domain(exponents=(-3, 1)), tcsmt.Domain(exponents=(0, 0), c_zero=True, bits=(1, 2)),
    tcsmt.Domain(exponents=(-200, -150)), tcsmt.Domain(exponents=(-15, 14), c_free=True), tcsmt.Domain(),
)  # fmt: skip
UNITS = [row.name for row in rows()]
#: Rows of the catalogue that the default run takes, and the slow one; all of them take half an hour.
FEW = (
    "ada/mma.m16n8k64.s32.u4.s4.s32",
    "blackwell/tcgen05.mMnNk32.kind::mxf8f6f4.block32.f32.e5m2.e3m2.ue8m0",
)
SLOW = "wormhole/mvmul.bf16.tf32.phase1"


def answered(call: Any, *given: Any, **named: Any) -> str:
    """What a call says, or how it refuses: nothing else may come out of it."""
    try:
        found = call(*given, **named)
    except tcsmt.TcsmtError as refusal:
        return f"refused: {refusal}"
    return f"{found}{found!r}"


class Assumed:
    """Lemmas are taken for granted, or none is proved, so that no solver is asked: what follows is run."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.holds = True

        def prove(chain: StepwiseProof, what: str, goal: Term) -> bool:
            chain.stopped = f"{what}: not asked"
            if self.holds:
                chain.know(what)
            return self.holds

        monkeypatch.setattr(StepwiseProof, "prove", prove)


@pytest.fixture
def assumed(monkeypatch: pytest.MonkeyPatch) -> Assumed:
    return Assumed(monkeypatch)


def matrices(row: Row, k: int) -> dict[str, Any]:
    """Words of a unit's formats: small numbers and zeros."""
    rng, model = np.random.default_rng(5), row.model
    shapes = {"a": (3, k), "b": (k, 2), "c": (3, 2)}
    words = {}
    for name, shape in shapes.items():
        fmt = getattr(model, f"{name}_format")
        ones = [fmt.word(value) if fmt.fraction_bits else value for value in (0, 1, 2)]
        words[name] = rng.choice(np.array(ones, np.uint64), shape).astype(unsigned(fmt))
    return words


@pytest.mark.parametrize(
    "unit",
    [
        *FEW,
        pytest.param(SLOW, marks=pytest.mark.slow),
        *(pytest.param(name, marks=pytest.mark.long) for name in UNITS if name not in {*FEW, SLOW}),
    ],
)
def test_no_call_ends_in_a_traceback(unit: str, assumed: Assumed) -> None:
    """Bounds, tolerances and exact lengths of every unit, with what kernels do outside of it."""
    (row,) = (row for row in rows() if row.name == unit)
    said = []
    for number, scheme in enumerate(SCHEMES):
        for assumed.holds, domain in ((True, DOMAINS[0]), (False, DOMAINS[1 + number % 4])):
            name = f"{unit}+{scheme}@{row.model.k + 3}"
            said.append(answered(accuracy.bound, name, domain=domain, search=1e-6))
            given = matrices(row, row.model.k + 3)
            bias = np.ones(2, np.float32) if "bias" in scheme else None
            call = {"kernel": f"{unit}+{scheme}", "bias": bias, "search": 1e-6}
            said.append(answered(tcsmt.tolerance, **given, **call))
    for length in (None, 5):
        said.append(answered(accuracy.exact, unit, integers=3, k=length, search=length is None))
    assumed.holds = True
    for domain in DOMAINS:
        said.append(answered(accuracy.bound, f"{unit}+chained@3", domain=domain, search=1e-6))
    said.append(answered(accuracy.bound, "single-f16", unit, domain=DOMAINS[0], search=1e-3))
    assert all(said) and len(said) == 4 * len(SCHEMES) + 3 + len(DOMAINS)
