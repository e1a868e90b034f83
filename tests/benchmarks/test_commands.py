"""Each program that measures or makes results says what it does, and deletes only what it has written."""

from __future__ import annotations

import shutil
from importlib import import_module
from pathlib import Path

import certificates
import pytest

from tests.support.paths import ROOT

PROGRAMS = [
    path.stem
    for folder in ("benchmarks", "results/make")
    for path in sorted((ROOT / folder).glob("*.py"))
    if '__name__ == "__main__"' in path.read_text()
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_help(
    program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is printed, and nothing else happens."""
    if program == "emulation":
        pytest.importorskip("torch", reason="benchmarks/emulation.py times PyTorch programs")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", [f"{program}.py", "--help"])
    with pytest.raises(SystemExit) as left:
        import_module(program).main()
    assert left.value.code == 0
    assert f"usage: {program}.py" in capsys.readouterr().out
    assert not list(tmp_path.iterdir())


def test_programs_are_found() -> None:
    assert {"certificates", "simulator"} < set(PROGRAMS)


def test_certificates_replace_only_certificates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A folder without their index is somebody else's; one with it is emptied."""
    monkeypatch.setattr(certificates, "made", lambda folder: iter(()))
    monkeypatch.setattr("sys.argv", ["results/make/certificates.py", str(tmp_path)])
    other = tmp_path / "thesis.tex"
    other.write_text("text")
    with pytest.raises(SystemExit) as left:
        certificates.main()
    assert left.value.code == 2
    assert f"{tmp_path}: must be a new folder" in capsys.readouterr().err
    assert other.read_text() == "text"
    (tmp_path / "index.json").write_text("{}")
    monkeypatch.setattr(shutil, "rmtree", lambda folder: other.unlink())
    certificates.main()
    assert not other.exists()
