"""``tcsmt accuracy exact``: what it prints, and how it ends."""

from __future__ import annotations

import json

from tests.support.command_line import done, refused

INTEGERS = "turing/mma.m8n8k16.s32.s8.s8.s32"


def test_on_the_command_line() -> None:
    shown = done("accuracy", "exact", INTEGERS, "--integers", "128", "--no-search")
    assert "EXACT up to K = 131071: proved without a solver" in shown
    data = json.loads(done("accuracy", "exact", "fp32-fma", "--arch", "volta", "--k", "300", "--json"))
    assert (data["integers"], data["k"], data["exact"]) == (236, 300, True)  # 300 · 237^2 is over 2^24
    assert data["beyond"]["products"] and data["beyond"]["result"] != str(data["beyond"]["exact"])
    wrong = done(
        "accuracy", "exact", "fp32-fma", "--arch", "volta", "--k", "300", "--integers", "237", code=1
    )
    assert wrong.splitlines()[3] == "NOT EXACT"


def test_bad_input() -> None:
    assert "integers and k are both missing" in refused("accuracy", "exact", INTEGERS)
    assert "integers = 0: must be from 1" in refused("accuracy", "exact", INTEGERS, "--integers", "0")
    cannot = "volta/mma.m8n8k4.f32.f16.f16.f16"
    assert "k = 5: must be from 1 to 4" in refused("accuracy", "exact", cannot, "--k", "5")
    assert "unknown" in refused("accuracy", "exact", "markidis", "--integers", "4")
    assert "did you mean markidis" in refused("accuracy", "exact", "markidi", "--arch", "volta", "--k", "4")


def test_emulations_have_exact_integers() -> None:
    given = ["accuracy", "exact", "ozaki1-int8,slices=1", "--arch", "turing", "--k", "2"]
    data = json.loads(done(*given, "--json"))
    assert (data["integers"], data["exact"], data["closed"]) == (127, True, True)
