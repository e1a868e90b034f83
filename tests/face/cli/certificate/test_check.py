"""``tcsmt certificate check``, and the options that write what it checks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.certificates import edited, only
from tests.support.command_line import done, refused


def test_all_proved(certificates: Path) -> None:
    lines = done("certificate", "check", certificates).splitlines()
    assert sum(": proved, " in line for line in lines if not line.startswith(" ")) == 4
    assert sum(line.startswith("  statement: ") for line in lines) == 4
    assert lines[-1].startswith("all proved: 4 statements, ")


def test_something_is_not(certificates: Path, tmp_path: Path) -> None:
    path = only(certificates, tmp_path / "c", "2 carry bits")
    edited(path, lambda record: record["proof"].pop(0))
    text = done("certificate", "check", tmp_path / "c", code=1)
    assert "2 carry bits against 3 carry bits: NOT PROVED: " in text
    assert text.splitlines()[-1] == "1 of 1 statement NOT PROVED"
    found = json.loads(done("certificate", "check", tmp_path / "c", "--json", code=1))
    assert found["proved"] is False
    assert found["statements"][0]["proved"] is False
    assert "missing" in found["statements"][0]["flaw"]


def test_json(certificates: Path) -> None:
    found = json.loads(done("certificate", "check", certificates, "--json"))
    assert found["proved"] is True
    assert len(found["statements"]) == 4
    assert all(one["proved"] and one["lemmas"] for one in found["statements"])


def test_folders_that_are_not_certificates_are_refused(certificates: Path, tmp_path: Path) -> None:
    assert "is not a certificate" in refused("certificate", "check", tmp_path)
    assert "is not a certificate" in refused("certificate", "check", tmp_path / "nowhere")
    path = only(certificates, tmp_path / "c", "2 carry bits")
    edited(path, lambda record: record.update(certificate=2))
    assert "a certificate of version 2" in refused("certificate", "check", tmp_path / "c")
    assert "version 2" in refused("certificate", "check", tmp_path / "c", "--json")


def test_find_leaves_a_certificate(tmp_path: Path) -> None:
    pytest.importorskip("pysolvers", reason="the extra `certificates` is not installed")
    text = done("find", "--property", "carry-bits", "--arch", "volta", "--certificate", tmp_path / "c")
    assert f"certificate: {tmp_path}" in text
    assert done("certificate", "check", tmp_path / "c").endswith("all proved: 1 statement, 1 lemma\n")


@pytest.mark.long
@pytest.mark.parametrize("name", ["zero-exponent", "carry-bits"])
def test_properties_of_units(tmp_path: Path, name: str) -> None:
    """By cases, too, and of more units than one."""
    pytest.importorskip("pysolvers", reason="the extra `certificates` is not installed")
    for architecture in ("volta", "turing"):
        folder = tmp_path / architecture
        done("find", "--property", name, "--arch", architecture, "--certificate", folder)
        assert "all proved" in done("certificate", "check", folder)
