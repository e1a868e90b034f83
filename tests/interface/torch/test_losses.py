"""What products lose, split into steps: against sums in binary64."""

from __future__ import annotations

import numpy as np

import tcsmt
from tests.support.tensors import emulated_block, seeded, torch

emulate = tcsmt.torch.emulate


def test_loss_is_split_exactly() -> None:
    """The steps' differences add up to the whole, and their shares to 1; against exact sums."""
    a, b = seeded(6, 64), seeded(64, 5, seed=1)
    with emulate("h100", "fp8-tensor", rows=None) as emulation:
        d = a @ b
    ((key, entry),) = emulation.report.losses.items()
    assert key == ("(no module)", "forward", "mm")
    exact = a.double() @ b.double()
    assert np.isclose(entry.relative, float((d.double() - exact).norm() / exact.norm()), rtol=1e-12)
    assert np.isclose(sum(entry.shares.values()), 1, rtol=1e-12)
    left, right = (tcsmt.torch.quantise(x, "fp8-tensor") for x in (a, b.T))
    taken = (left.values.double() * left.scales.double()) @ (right.values.double() * right.scales.double()).T
    assert np.isclose(entry.parts["operands"], float((taken - exact).norm() / exact.norm()), rtol=1e-9)
    assert entry.elements == 30 and entry.operands == 6 * 64 + 64 * 5


def test_accumulation_is_told_from_rounding() -> None:
    """Operands that FP8 holds: all that is lost is the unit's accumulation, and promotion mends it."""
    a = torch.randint(0, 16, (16, 2048), generator=torch.Generator().manual_seed(3)).float()
    a[:, 0] = 448  # so that the scale is 1
    reports = {}
    for reduction in ("chained", "promote:128"):
        with emulate("h100", "fp8-tensor", reduction=reduction) as emulation:
            a @ a.T
        ((_, reports[reduction]),) = emulation.report.losses.items()
        assert reports[reduction].parts["operands"] == 0
        assert reports[reduction].shares["accumulation"] > 0.99
        assert "100% to accumulation" in str(emulation.report)
    assert reports["promote:128"].relative < reports["chained"].relative / 4


def test_saturation_and_overflow_are_counted() -> None:
    big = torch.full((4, 16), 60000.0)
    with emulate("h100", "fp16") as emulation:
        assert torch.isinf(big.half() @ big.half().T).all()
        (big * 2) @ torch.ones(16, 4)
    report = emulation.report
    ((_, entry),) = report.losses.items()
    assert entry.saturated == 64 and entry.overflowed == 32 and entry.elements == 0
    assert "32 results overflowed" in str(report) and report.answer == "No product was measured."


def test_some_rows_are_enough() -> None:
    """The relative error of 8 rows is of the size of that of all."""
    few, every = (emulated_block("h100", "fp8-row", rows=rows) for rows in (8, None))
    for key, entry in every.losses.items():
        assert 0 < few.losses[key].elements < entry.elements
        assert 1 / 3 < few.losses[key].relative / entry.relative < 3
