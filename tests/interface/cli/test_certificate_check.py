"""``tcsmt certificate check``, and the options that write what it checks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tcsmt.matrix_units.models.file_texts import parameters_toml
from tests.support.certificates import edited, only, two_products
from tests.support.command_line import done, refused


@pytest.mark.slow
def test_all_proved(certificates: Path) -> None:
    lines = done("certificate", "check", certificates).splitlines()
    assert sum(": proved, " in line for line in lines if not line.startswith(" ")) == 4
    assert sum(line.startswith("  statement: ") for line in lines) == 4
    assert lines[-1].startswith("all proved: 4 statements, ")


def test_something_is_not(certificates: Path, tmp_path: Path) -> None:
    path = only(certificates, tmp_path / "c", "2 carry bits")
    edited(path, lambda record: record["proof"].pop(0))
    text = done("certificate", "check", tmp_path / "c", code=1)
    assert text.startswith("statement 1: NOT PROVED: ")
    assert f'\n  "2 carry bits against 3 carry bits", in its author\'s words ({path.name})\n' in text
    assert f"\nNOT PROVED: {path.name}\n" in text
    assert text.splitlines()[-1] == "1 of 1 statement NOT PROVED"
    found = json.loads(done("certificate", "check", tmp_path / "c", "--json", code=1))
    assert found["proved"] is False
    assert found["statements"][0]["proved"] is False
    assert "missing" in found["statements"][0]["flaw"]


def test_only_some_statements(certificates: Path) -> None:
    """By a part of their titles, with a prover and without."""
    lines = done("certificate", "check", certificates, "--only", "a NaN stays").splitlines()
    assert [line for line in lines if line.startswith("statement ")] == ["statement 1: proved, 1 lemma"]
    assert lines[-1] == "all proved: 1 statement, 1 lemma"
    assert "has such a title" in refused("certificate", "check", certificates, "--only", "no such")


@pytest.mark.parametrize(
    "title", ["Volta is Ampere", "x: proved, 1 lemma", 'a" proved', "all proved: 9 statements"]
)
def test_a_title_is_a_quotation(certificates: Path, tmp_path: Path, title: str) -> None:
    """No verdict stands beside what the author wrote, and no line of ours looks like it."""
    path = only(certificates, tmp_path / "c", "2 carry bits")
    edited(path, lambda record: record["statement"].update(title=title))
    quoted = '"' + title.replace('"', "'") + '"'
    for command in ("check", "show"):
        lines = done("certificate", command, tmp_path / "c").splitlines()
        assert sum(line.strip().startswith(f"{quoted}, in its author's words") for line in lines) == 1
        assert sum(title.replace('"', "'") in line for line in lines) == 1
    assert lines and not any(line.startswith(title) for line in lines)


@pytest.mark.slow
def test_the_end_says_what_is_trusted(certificates: Path) -> None:
    lines = done("certificate", "check", certificates).split("\n\n")[-1].splitlines()
    assert lines[0] == (
        "summary: 4 statements (two models give the same word: 3; no input satisfies a condition: 1)"
    )
    assert [line.partition(":")[0] for line in lines[1:]] == ["trusted", "specification", "all proved"]


@pytest.mark.slow
def test_values_that_mean_nothing_are_not_listed(certificates: Path) -> None:
    for command in ("check", "show"):
        rows = [line.split() for line in done("certificate", command, certificates).splitlines()]
        assert not any(len(row) > 1 and set(row[1:]) <= {"None", "False"} for row in rows)
        assert any(row[:2] == ["carry_bits", "2"] for row in rows)


@pytest.mark.slow
def test_json(certificates: Path) -> None:
    found = json.loads(done("certificate", "check", certificates, "--json"))
    assert found["proved"] is True
    assert len(found["statements"]) == 4
    assert all(one["proved"] and one["lemmas"] for one in found["statements"])


def test_what_is_demanded(certificates: Path, tmp_path: Path) -> None:
    """By model files, as the units are of no catalogue; exit code 1 where nothing says it, 2 for no units."""
    files = []
    for bits in (2, 3, 4):
        files.append(tmp_path / f"{bits}.toml")
        files[-1].write_text(parameters_toml(two_products(carry_bits=bits)))
    folder = tmp_path / "c"
    only(certificates, folder, "2 carry bits")
    text = done("certificate", "check", folder, "--states", *files[:2], "--finite")
    assert text.splitlines()[-1].startswith("stated: custom/2 and custom/3 give the same word on inputs that")
    text = done("certificate", "check", folder, "--states", *files[:2], code=1)
    assert "NOT STATED: " in text and text.endswith(": it is about inputs that are finite\n")
    asked = ("certificate", "check", folder, "--states", files[0], files[2], "--finite", "--json")
    data = json.loads(done(*asked, code=1))
    assert data["proved"] is True and data["states"]["in"] == []
    assert "neither of its sides is custom/4" in data["states"]["missing"]
    assert "did you mean" in refused("certificate", "check", folder, "--states", "volt", "ampere")
    assert "--states, which is not given" in refused("certificate", "check", folder, "--finite")


def test_folders_that_are_not_certificates_are_refused(certificates: Path, tmp_path: Path) -> None:
    assert "is not a certificate" in refused("certificate", "check", tmp_path)
    assert "is not a certificate" in refused("certificate", "check", tmp_path / "nowhere")
    path = only(certificates, tmp_path / "c", "2 carry bits")
    edited(path, lambda record: record.update(certificate=2))
    assert "a certificate of version 2" in refused("certificate", "check", tmp_path / "c")
    assert "version 2" in refused("certificate", "check", tmp_path / "c", "--json")


@pytest.mark.slow
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


def test_a_prover(certificates: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that is not known, not installed, or given half."""
    assert "acl2" in refused("certificate", "check", certificates, "--with", "alc2")
    assert "--with" in refused("certificate", "check", certificates, "--books", tmp_path / "books")
    assert "--states" in refused(
        "certificate", "check", certificates, "--with", "acl2", "--states", "volta", "ampere"
    )
    monkeypatch.setenv("PATH", str(tmp_path))
    message = refused("certificate", "check", certificates, "--with", "acl2")
    assert "acl2-books-certs" in message
