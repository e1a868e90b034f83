"""``tcsmt accuracy exact`` and ``slices``: what they print, and how they end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tcsmt import accuracy
from tcsmt.algorithms.certified import CHECKS
from tcsmt.certificates.checker import check_statement
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


def test_a_certificate_of_exactness_is_checked_again(tmp_path: Path) -> None:
    pytest.importorskip("pysolvers", reason="python-sat is not installed")
    unit = "turing/mma.m8n8k16.satfinite.s32.s8.s8.s32"
    found = accuracy.exact(unit, integers=128, search=False, certificate=tmp_path)
    assert found.k == 131071
    assert found.certified is not None
    assert found.certified.lemmas == 1
    path = found.certified.path
    assert path is not None
    assert not check_statement(path, kinds=CHECKS).flaw
    statement = json.loads(path.read_text())
    for key, value in (("k", 131072), ("k", 0), ("k", "many")):
        changed = statement | {"statement": statement["statement"] | {key: value}}
        path.write_text(json.dumps(changed))
        assert check_statement(path, kinds=CHECKS).flaw


@pytest.mark.long
def test_the_table_goes_on(tmp_path: Path) -> None:
    command = ["accuracy", "slices", "--only", INTEGERS, "--results", tmp_path]
    first = done(*command)
    assert "| s8 | s32 |" in first
    assert "7: **131071**" in first
    written = (tmp_path / "exact.json").read_text()
    assert done(*command) == first
    assert (tmp_path / "exact.json").read_text() == written
    (one,) = json.loads(written)["families"]
    assert one["slices"][0]["beyond"]["exact"] == 2**31
