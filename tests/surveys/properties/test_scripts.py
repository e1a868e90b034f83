"""The exported questions: every solver gives the answer that a script states."""

from __future__ import annotations

import re
from functools import cache

import pytest

from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.solvers.run import solve
from tcsmt.surveys.properties.scripts import scripts
from tests.support.paths import ROOT

#: The committed ones; that they are those that are exported is tested with the command.
NAMES = sorted(path.stem for path in (ROOT / "queries").glob("*.smt2"))
#: What takes a while, or asks what another one does of another unit.
SLOW = {
    ("alignment-bits-volta-23-24", "bitwuzla"),
    ("carry-bits-ampere-3-4", "bitwuzla"),
    ("carry-bits-ampere-4-5", "bitwuzla"),
    ("carry-bits-hopper-5-6", "bitwuzla"),
    ("carry-bits-ampere-4-5", "cvc5"),
    ("carry-bits-hopper-5-6", "cvc5"),
    ("alignment-bits-volta-23-24", "cvc5"),
    ("carry-bits-hopper-4-5", "bitwuzla"),
    ("carry-bits-hopper-4-5", "cvc5"),
    ("carry-bits-ampere-3-4", "cvc5"),
    ("carry-bits-volta-2-3", "cvc5"),
    ("carry-bits-volta-3-4", "cvc5"),
    ("ieee-add-e4-p4-rne", "bitwuzla"),
    ("ieee-add-e4-p4-rne", "z3"),
    ("ieee-fma-e4-p4-rne", "bitwuzla"),
    ("ieee-fma-e4-p4-rne", "z3"),
    ("product-normalization-volta", "cvc5"),
    ("tf32-truncation-ampere", "cvc5"),
    ("zero-exponent-ampere-bf16-132-126", "bitwuzla"),
    ("zero-exponent-ampere-bf16-132-126", "cvc5"),
}  # fmt: skip


@cache
def texts() -> dict[str, str]:
    """Not made while tests are collected: that takes a second of every process."""
    return dict(scripts())


@pytest.mark.parametrize(
    ("name", "solver"),
    [
        pytest.param(name, solver, marks=[pytest.mark.long] if (name, solver) in SLOW else [])
        for name in NAMES
        # cvc5 has no floating-point formats but FP32 and FP64
        for solver in ("bitwuzla", "z3" if name.startswith("ieee") else "cvc5")
    ],
)
@pytest.mark.slow_cases(
    "ieee-multiply-e4-p4-rne-z3",
    "product-normalization-volta-bitwuzla",
    "zero-exponent-volta-131-126-others-cvc5",
)
def test_scripts_have_their_answers(name: str, solver: str) -> None:
    text = texts()[name]
    status = re.search(r"^\(set-info :status (\w+)\)$", text, re.MULTILINE)
    assert status
    assert text.startswith("(set-info :smt-lib-version 2.6)\n")
    assert "(set-info :source |tcsmt; " in text
    assert solve(text, SolvingOptions(solver, timeout=120)).answer == status[1]
