"""``tcsmt accuracy exact``: what it prints, and how it ends."""

from __future__ import annotations

import json

import pytest

from tests.support.command_line import done, refused

INTEGERS = "turing/mma.m8n8k16.s32.s8.s8.s32"


def test_on_the_command_line() -> None:
    shown = done("accuracy", "exact", INTEGERS, "--integers", "128", "--no-search")
    assert "EXACT up to K = 131071: proved without a solver" in shown
    data = json.loads(done("accuracy", "exact", "fp32-fma", "--unit", "volta", "--k", "300", "--json"))
    assert (data["integers"], data["k"], data["exact"]) == (236, 300, True)  # 300 · 237^2 is over 2^24
    assert data["beyond"]["products"] and data["beyond"]["result"] != str(data["beyond"]["exact"])
    wrong = done(
        "accuracy", "exact", "fp32-fma", "--unit", "volta", "--k", "300", "--integers", "237", code=1
    )
    assert wrong.splitlines()[3] == "NOT EXACT"


def test_integers_that_the_formats_do_not_have() -> None:
    """Nothing is exact of numbers that cannot be given: 2049 in FP16, 129 in 8 bits."""
    volta = "volta/mma.m8n8k4.f32.f16.f16.f32"
    wrong = refused("accuracy", "exact", volta, "--integers", "3000")
    assert all(fact in wrong for fact in ("integers = 3000", "f16", "2049", "2048"))
    wrong = refused("accuracy", "exact", INTEGERS, "--integers", 1 << 30, "--k", "4")
    assert "s8" in wrong and "128" in wrong


@pytest.mark.slow
def test_what_the_operands_and_scales_are() -> None:
    volta = "volta/mma.m8n8k4.f32.f16.f16.f32"
    shown = done("accuracy", "exact", volta, "--k", "1", "--no-search")
    assert "a and b: integers from -2048 to 2048; c = 0" in shown and "have the integer 2049" in shown
    scaled = "rtx-blackwell/mma.m16n8k32.kind::mxf8f6f4.block32.f32.e4m3.e4m3.f32.ue8m0"
    assert "; c = 0; block scales are 1" in done(
        "accuracy", "exact", scaled, "--integers", "1", "--no-search"
    )


def test_bad_input() -> None:
    assert "integers and k are both missing" in refused("accuracy", "exact", INTEGERS)
    assert "integers = 0: must be from 1" in refused("accuracy", "exact", INTEGERS, "--integers", "0")
    cannot = "volta/mma.m8n8k4.f32.f16.f16.f16"
    assert "k = 5: must be from 1 to 4" in refused("accuracy", "exact", cannot, "--k", "5")
    assert "unknown" in refused("accuracy", "exact", "markidis", "--integers", "4")
    assert "did you mean markidis" in refused("accuracy", "exact", "markidi", "--unit", "volta", "--k", "4")


def test_emulations_have_exact_integers() -> None:
    given = ["accuracy", "exact", "ozaki1-int8,slices=1", "--unit", "turing", "--k", "2"]
    data = json.loads(done(*given, "--json"))
    assert (data["integers"], data["exact"], data["closed"]) == (127, True, True)
