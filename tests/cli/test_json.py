"""Every command has ``--json``, and what it prints then is JSON and nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from tcsmt import __version__
from tcsmt.cli import main
from tcsmt.cli.accuracy import findings
from tcsmt.recipes.named import RECIPES
from tests.support.command_line import done, refused, tcsmt


def commands(group: click.Group, *names: str) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from commands(command, *names, name)
        else:
            yield (*names, name), command


def test_every_command_has_it() -> None:
    without = [name for name, command in commands(main) if "as_json" not in {p.name for p in command.params}]
    assert without == []


def test_algorithms() -> None:
    data = json.loads(done("accuracy", "algorithms", "--json"))["algorithms"]
    assert [one["name"] for one in data] == [recipe.name for recipe in RECIPES.values()]
    assert all(set(one) == {"name", "title", "source"} for one in data)


def test_export(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few = [("one", "(set-info :status sat)\n"), ("two", "(set-info :status unsat)\n")]
    monkeypatch.setattr("tcsmt.ask.scripts.scripts", lambda: iter(few))
    data = json.loads(done("export", "--queries", tmp_path, "--json"))["scripts"]
    assert data == [
        {"name": name, "file": str(tmp_path / f"{name}.smt2"), "status": status}
        for name, status in (("one", "sat"), ("two", "unsat"))
    ]
    assert done("export", "--queries", tmp_path).splitlines() == [one["file"] for one in data]


def test_reproduce(tmp_path: Path) -> None:
    found = tcsmt("reproduce", "fasi", "--results", tmp_path, "--json")
    assert found.exit_code == 0
    assert json.loads(found.stdout) == json.loads((tmp_path / "fasi.json").read_text())
    assert "31 of 31 tests" in found.stderr


def test_findings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entry: dict[str, Any] = {"verdict": "equivalent", "answer": "never worse"}

    def written(path: Path, *given: object) -> tuple[dict[str, Any], dict[str, str]]:
        return {"a key": entry}, {}

    monkeypatch.setattr(findings, "entries", lambda effort: [])
    monkeypatch.setattr(findings, "write", written)
    data = json.loads(done("accuracy", "findings", "--output", tmp_path / "f.json", "--json"))
    assert data["entries"] == {"a key": entry}
    assert (data["output"], data["failed"]) == (str(tmp_path / "f.json"), {})


def test_probe(tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_text("a0,a1,a2,a3,b0,b1,b2,b3,c\n1,0,0,0,1,0,0,0,0.5\n")
    common = ("probe", "volta", "--vectors", rows, "--json", "--emit")
    out = tmp_path / "probe.cu"
    data = json.loads(done(*common, "cuda", "--output", out))
    assert (data["output"], data["emitted"], data["vectors"]) == (str(out), "cuda", 1)
    assert len(json.loads(done(*common, "json"))["rows"]) == 1
    assert "--json describes what was written: give --output FILE" in refused(*common, "cuda")


@pytest.mark.parametrize(
    "command",
    [
        ("models", "--arch", "volta"),
        ("properties",),
        ("describe", "volta"),
        ("compare", "volta", "volta"),
        ("find", "--property", "product-normalization", "--arch", "volta"),
        ("explain", "volta", "--vector", "a0=1"),
        ("accuracy", "algorithms"),
        ("accuracy", "explain", "markidis", "--arch", "volta", "--vector", "a0=1 b0=1"),
    ],
)
def test_every_document_says_its_version(command: tuple[str, ...]) -> None:
    data = json.loads(done(*command, "--json"))
    assert next(iter(data.items())) == ("tcsmt", __version__)
