"""Planted bugs on several kernels: every command names them rightly, all alike, or says that it cannot."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.planted_bugs import BUGS, COMMANDS, KERNELS, Subject, judged

#: So large a part of the bugs of each kernel is named first, or among explanations that give the same bits.
_NAMED = 0.85


@pytest.mark.long
@pytest.mark.parametrize("subject", KERNELS, ids=lambda subject: subject.name)
def test_planted_bugs_are_named(subject: Subject) -> None:
    a, b, c = subject.matrices()
    right = subject.multiply(a, b, c)
    outcomes = []
    for bug in BUGS:
        d = bug.plant(subject, a, b, c)
        if d is None or (d.dtype == right.dtype and np.array_equal(d, right)):
            continue
        lines = list(COMMANDS["kernel tolerance"](subject, d, right))
        outcomes.append(judged(bug, lines))
        assert outcomes[-1] != "wrong", (bug.name, lines)
    told = [outcome for outcome in outcomes if outcome != "silent"]
    assert len(told) >= 15  # of Hopper's FP8, 8 more lie within the tolerance
    assert sum(outcome in ("named", "among") for outcome in told) >= _NAMED * len(told)


@pytest.mark.long
@pytest.mark.parametrize(
    ("kernel", "names"),
    [
        (0, ("tf32 truncate", "a100/m16n8k8.f32.tf32 nearest-even", "loop in BF16", "k = 41")),
        (2, ("split twice", "BF16 parts", "transposed", "a tile", "noise")),
    ],
)
def test_all_commands_say_the_same(kernel: int, names: tuple[str, ...]) -> None:
    """Of the same matrices: what was done, whatever the command is told beside them."""
    subject = KERNELS[kernel]
    a, b, c = subject.matrices()
    right = subject.multiply(a, b, c)
    for bug in (one for one in BUGS if one.name in names):
        d = bug.plant(subject, a, b, c)
        assert d is not None
        said = {name: list(ask(subject, d, right)) for name, ask in COMMANDS.items()}
        firsts = {lines[0].partition("; ")[0] for lines in said.values()}
        assert len(firsts) == 1, said
        assert all(judged(bug, lines) in ("named", "among") for lines in said.values()), said
