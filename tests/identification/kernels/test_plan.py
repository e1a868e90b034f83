"""Inputs that separate kernels: the answers are the products', and what is left together is the same."""

from __future__ import annotations

import numpy as np
import pytest

from tcsmt.identification.kernels import plan as module
from tcsmt.identification.kernels.plan import Plan, planned
from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.programs.kernels.epilogue import PLAIN, epilogue_named
from tcsmt.programs.kernels.expression import expression
from tcsmt.programs.kernels.gemm import gemm
from tcsmt.programs.kernels.kernel import Kernel
from tcsmt.programs.kernels.reduction import CHAINED, reduction_named
from tcsmt.programs.kernels.units import ieee_unit
from tcsmt.prove.engine.solving import Solving

VOLTA = row_named("volta/mma.m8n8k4.f32.f16.f16.f32")
F16 = (FORMATS["f16"], FORMATS["f16"])


def kernels(*texts: str) -> list[Kernel]:
    return [Kernel(VOLTA, reduction_named(text), PLAIN) for text in texts]


def answers_hold(plan: Plan, length: int) -> None:
    """Each answer is an element of the product that the kernel computes on arrays."""
    assert plan.a.shape == plan.b.shape == (len(plan.answers[0]), length)
    assert len(set(plan.answers)) == len(plan.answers) == len(plan.classes)
    a, b = (side.view(np.float16) for side in (plan.a, plan.b))
    for words, some in zip(plan.answers, plan.classes, strict=True):
        for kernel in some:
            whole = gemm(a, b.T, model=VOLTA.model, reduction=kernel.reduction)
            assert np.diagonal(whole).view(np.uint32).tolist() == list(words), kernel.name


@pytest.mark.slow
def test_kernels_are_separated_by_few_inputs() -> None:
    given = kernels("chained", "split-k:2", "split-k:4", "split-k:4,pairs", "sliced:2", "promote:12")
    seen: list[str] = []
    plan = planned(given, F16, 48, most=8, seen=lambda done, count, what: seen.append(what))
    answers_hold(plan, 48)
    assert len(plan.classes) == len({expression(kernel.reduction, 48, 4) for kernel in given}) == 5
    assert len(plan.a) <= 4 and len(plan.equal) == 1
    assert plan.open == ()
    assert seen[0] == "inputs; 1 class of 6 kernels"
    again = planned(given, F16, 48, most=8)
    assert (again.a.tolist(), again.answers) == (plan.a.tolist(), plan.answers)
    other = planned(given, F16, 48, most=8, seed=2)
    assert other.a.tolist() != plan.a.tolist()


def test_no_more_inputs_than_are_wanted() -> None:
    given = kernels("chained", "split-k:2", "split-k:4", "split-k:4,pairs", "sliced:2", "split-k:3")
    plan = planned(given, F16, 48, most=1)
    answers_hold(plan, 48)
    assert len(plan.a) == 1


def test_the_same_graph_is_the_same_function() -> None:
    plan = planned(kernels("split-k:2", "promote:8", "chained"), F16, 16, most=6)
    assert {(one.reduction, two.reduction, how) for one, two, how in plan.equal} == {
        (reduction_named("split-k:2"), reduction_named("promote:8"), "the same graph"),
    }  # fmt: skip
    assert sorted(map(len, plan.classes)) == [1, 2] and plan.open == ()


@pytest.mark.parametrize("asked", [True, False])
def test_kernels_that_no_input_separates_are_asked_of_a_solver(asked: bool) -> None:
    """A conversion to more bits on the way makes no difference, which is no matter of graphs."""
    given = [Kernel(VOLTA, CHAINED, epilogue_named(text)) for text in ("out=bf16", "out=f64:bf16")]
    plan = planned(given, F16, 2, most=4, solving=Solving() if asked else None)
    assert plan.classes == (tuple(given),)
    assert [how for _, _, how in plan.equal] == (["by solvers"] if asked else [])
    assert plan.open == (() if asked else (tuple(given),))


def test_without_c_a_total_from_zero_is_another_function() -> None:
    """A part that is -0 stays -0, and +0 + (-0) is +0; with a C of zeros both are +0."""
    fma = ieee_unit("ieee/fma.f32")
    given = [Kernel(fma, reduction_named(text)) for text in ("promote:1", "promote:1,from-zero")]
    formats = (FORMATS["f32"], FORMATS["f32"])
    plan = planned(given, formats, 2, most=4)
    assert plan.equal == ()
    what = planned(
        [Kernel(fma, CHAINED, epilogue_named(f"beta={beta}")) for beta in (2, 3)], formats, 2, most=4
    )
    assert [how for _, _, how in what.equal] == ["the same graph"]  # there is no C


def test_inputs_that_a_solver_finds_separate(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no random one does, since none is made."""
    monkeypatch.setattr(module, "_ROUNDS", 0)
    given = kernels("chained", "split-k:2")
    plan = planned(given, F16, 8, most=4, solving=Solving())
    answers_hold(plan, 8)
    assert len(plan.a) == 1 and sorted(map(len, plan.classes)) == [1, 1]
    unasked = planned(given, F16, 8, most=4)
    assert (len(unasked.a), unasked.open) == (0, (tuple(given),))
