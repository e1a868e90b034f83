"""The process that asks one solver: what it writes to a script, whatever the script and the solver are."""

from __future__ import annotations

import hashlib
import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tcsmt.language.terms import Term, all_of, total, var
from tcsmt.language.write.smtlib import script
from tcsmt.prove.engine.solvers import child
from tcsmt.prove.engine.solvers.answer import read

FILE = Path(child.__file__)
X, Y, B, NAMED = var("x", 8), var("y", 70), var("b", 1), var("a name", 3)
#: One solution: x = 0x42, y = 2^69 + 5, b, and 6 for the quoted name.
GOAL = all_of([total(X, X[7:0]).eq(0x84) & X.ult(0x80), (Y - 5).eq(1 << 69), B, NAMED.eq(6)])
VALUES = {"x": 0x42, "y": (1 << 69) + 5, "b": 1, "a name": 6}
ASKED = {"bitwuzla": child.bitwuzla, "z3": child.z3, "cvc5": child.cvc5}


def ran(name: str, text: str, *, memory: int = 4096, seconds: float = 20) -> tuple[bytes, int]:
    done = subprocess.run(
        [sys.executable, str(FILE), name, str(memory), str(seconds), "0"], input=text.encode(),
        capture_output=True, check=False,
    )  # fmt: skip
    return done.stdout, done.returncode


def head(goal: Term) -> str:
    """What the solver is given: everything before the question."""
    return script(goal).partition("(check-sat)")[0]


@pytest.mark.parametrize("name", ASKED)
def test_each_library_is_asked_alike(name: str) -> None:
    """In this process: a model of all words, Booleans, wide and quoted ones; none where there is none."""
    pytest.importorskip(name)
    names = ["x", "y", "b", "|a name|"]
    found: dict[str, Any] = ASKED[name](head(GOAL), names, 0)
    assert (found["answer"], found["values"]) == ("sat", VALUES)
    assert found["version"][0].isdigit() and found["seconds"] >= 0
    none: dict[str, Any] = ASKED[name](head(GOAL & ~B), names, 0)
    assert (none["answer"], none["values"]) == ("unsat", {})


def test_one_line_that_counts_as_an_answer() -> None:
    """The digest is that of the whole text as it came; only the first question is asked."""
    text = script(GOAL) + "; more\n(check-sat)\n"
    output, code = ran("bitwuzla", text)
    assert (output.count(b"\n"), code) == (1, 0)
    reply = json.loads(output)
    assert reply["script"] == hashlib.sha256(text.encode()).hexdigest()
    assert read("bitwuzla", text, output, code).values == VALUES
    assert read("bitwuzla", text + " ", output, code).answer == "unknown"


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("nobody", "(check-sat)", "nobody failed: 'nobody'"),
        ("bitwuzla", "(set-logic QF_BV)\n(assert nonsense)\n(check-sat)\n", "bitwuzla failed: "),
    ],
)
def test_failures_are_unknown_with_a_reason(name: str, text: str, reason: str) -> None:
    output, code = ran(name, text)
    reply = json.loads(output)
    assert (reply["answer"], reply["values"], code) == ("unknown", {}, 0)
    assert reply["reason"].startswith(reason)


@pytest.mark.slow
def test_a_limit_on_the_processor_ends_it() -> None:
    """Half a second of computing, whoever is left to end it: the product of two primes takes more."""
    x, y = var("x", 64), var("y", 64)
    goal = all_of([
        (x * y).eq(0x7EB7C0EC9F492AB9), x[63:32].eq(0), y[63:32].eq(0), ~x.ult(2), x.ult(y),
    ])  # fmt: skip
    output, code = ran("bitwuzla", script(goal), seconds=0.5)
    assert (output, code) == (b"", -signal.SIGPROF)
