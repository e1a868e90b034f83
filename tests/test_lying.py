"""Solvers that lie, crash or babble: no proof comes of it; without a confirmation it is said who says so."""

from __future__ import annotations

import time

import pytest
from lying import BEHAVIOURS, Liars

from tcsmt.interpret.smtlib import script
from tcsmt.solvers.answer import digest
from tcsmt.solvers.run import Settings, solve
from tcsmt.terms import var

X, Y = var("x", 8), var("y", 8)
#: (x xor y) xor (x and y) is x or y: there is no solution, and the constructors do not see it.
TRUE_GOAL = ((X ^ Y) ^ (X & Y)).ne(X | Y)
#: A goal with a solution, x = 0x43, which an unsat denies.
FALSE_GOAL = (X + 1).eq(0x44)
#: Behaviours that are answers.
ANSWERED = [name for name, (_, reason) in BEHAVIOURS.items() if not reason]
REFUSED = [name for name in BEHAVIOURS if name not in ANSWERED]


@pytest.mark.parametrize("behaviour", REFUSED)
def test_what_is_no_answer(behaviour: str, liars: Liars) -> None:
    """Whatever a process says and does otherwise is unknown, with a reason that names it."""
    _, reason = BEHAVIOURS[behaviour]
    liars.install(bitwuzla=behaviour)
    before = time.monotonic()
    answer = solve(script(FALSE_GOAL), Settings("bitwuzla", timeout=2 if reason == "timeout" else 30))
    assert answer.answer == "unknown"
    assert answer.reason.startswith("bitwuzla: ")
    assert reason in answer.reason
    assert answer.values == {}
    assert time.monotonic() - before < 20


@pytest.mark.parametrize("answer", ANSWERED)
def test_what_is_an_answer(answer: str, liars: Liars) -> None:
    liars.install(bitwuzla=answer)
    found = solve(script(FALSE_GOAL), Settings("bitwuzla", timeout=30))
    assert (found.answer, found.by, found.seconds) == (answer, "bitwuzla 9.9", 0.25)
    assert found.script == digest(script(FALSE_GOAL))
