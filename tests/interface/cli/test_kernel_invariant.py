"""``tcsmt kernel invariant``: its exit codes, text and JSON; refusals."""

from __future__ import annotations

import json

import pytest

from tests.support.command_line import done, refused

#: Sums of integers that wrap: any order gives the same.
INTEGERS = ("kernel", "invariant", "turing/mma.m8n8k16.s32.s8.s8.s32", "--no-confirm", "--no-narrow")


@pytest.mark.slow
def test_all_agree() -> None:
    text = done(*INTEGERS, "--k", 32, "--reductions", "chained,split-k:2")
    assert "all reductions give the same bits" in text
    assert "  chained = split-k:2" in text


def test_some_differ() -> None:
    volta = ("kernel", "invariant", "volta", "--no-confirm", "--no-narrow", "--k", 8)
    text = done(*volta, "--reductions", "chained,split-k:2", "--json", code=1)
    data = json.loads(text)
    assert data["tcsmt"] and data["invariant"] is False
    assert data["domains"][0]["groups"] == [["chained"], ["split-k:2"]]


@pytest.mark.slow
def test_unknown_has_an_exit_code() -> None:
    """No time for a solver, and no c that would show a difference at once."""
    hard = ("kernel", "invariant", "volta", "--no-confirm", "--no-narrow", "--again", "--k", 8, "--c-zero")
    narrow = ("--exponents", "0:0", "--bits", 1, 1, "--timeout", 0.01)
    text = done(*hard, *narrow, "--reductions", "chained,split-k:2", code=3)
    assert "? chained and split-k:2: " in text


@pytest.mark.parametrize(("words", "said"), [
    ("volta --reductions chained", "give two or more"),
    ("volta --reductions chained,splitk:2", "did you mean split-k"),
    ("voltage", "unknown architecture 'voltage': did you mean volta"),
    ("volta --k 0", "0 is not in the range"),
    ("volta --reductions split-k:2,split-k:2,sum=bf16", "formats (split-k:2 in f32, split-k:2,sum="),
    ("x86/tdpbssd --no-narrow --reductions chained,split-k:2,sum=f32", "parts, total and sum must be left"),
    ("x86/tdpbssd --reductions chained,split-k:2 --epilogue out=f16", "results are integers (s32)"),
    ("volta --c-free", "--c-free exempts c from --exponents"),
])  # fmt: skip
def test_bad_input(words: str, said: str) -> None:
    assert said in refused("kernel", "invariant", *words.split())
