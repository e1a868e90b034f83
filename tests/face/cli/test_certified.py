"""How many proofs have a certificate is said on standard error, and why the others have none."""

from __future__ import annotations

import pytest

from tcsmt import SolvingOptions
from tcsmt.face.cli.certified import say_certified

PROVED = {"verdict": "equivalent"}


def test_proofs_are_counted_and_reasons_said_once(capsys: pytest.CaptureFixture[str]) -> None:
    records = [
        PROVED | {"certificate": {"certified": True}},
        PROVED | {"certificate": {"certified": False, "reason": "too large"}},
        PROVED | {"certificate": {"certified": False, "reason": "too large"}},
        PROVED,
        PROVED | {"certificate": None},
        {"verdict": "distinguished"},
        {"verdict": "unknown", "certificate": {"certified": True}},
    ]
    say_certified(SolvingOptions(certificate="proofs"), records)
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == "--certificate: 1 of 5 proofs in proofs\n  no certificate: too large\n"
    say_certified(SolvingOptions(certificate="proofs"), records[:1])
    assert capsys.readouterr().err == "--certificate: 1 of 1 proof in proofs\n"


def test_nothing_is_said_without_a_folder(capsys: pytest.CaptureFixture[str]) -> None:
    say_certified(SolvingOptions(), [PROVED])
    assert capsys.readouterr() == ("", "")
