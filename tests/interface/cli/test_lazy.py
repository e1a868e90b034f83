"""Groups of commands, none of which is imported before it is used."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from tcsmt.interface.cli import main
from tcsmt.interface.cli.lazy import Lazy


def test_groups_fit_a_narrow_terminal() -> None:
    text = CliRunner().invoke(main, ["--help"], terminal_width=80).output
    assert "..." not in text.partition("Ask:")[2]
    for title in ("Ask:", "Simulate:", "Hardware:", "Accuracy:", "Data:"):
        assert title in text
    assert all(f"\n  {name} " in text for name in main.list_commands(click.Context(main)))


@pytest.fixture
def group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lazy]:
    """Of a package whose modules say that they are imported."""
    package = tmp_path / "some_commands"
    package.mkdir()
    (package / "__init__.py").write_text("")
    for name, body in (("good", "print('done')"), ("bad", "raise TcsmtError('no luck')")):
        (package / f"{name}.py").write_text(
            f"import click\nfrom tcsmt.support.errors import TcsmtError\nprint('imported {name}')\n\n"
            f"@click.command()\ndef {name}():\n    {body}\n"
        )
    monkeypatch.syspath_prepend(tmp_path)
    yield Lazy(name="some", package="some_commands", groups={"Some": {"good": "Works.", "bad": "Fails."}})
    for name in [name for name in sys.modules if name.partition(".")[0] == "some_commands"]:
        del sys.modules[name]


def test_help_imports_nothing_and_a_command_its_own_module(group: Lazy) -> None:
    text = CliRunner().invoke(group, ["--help"]).output
    assert "  good  Works." in text and "Some:" in text
    assert "imported" not in text
    assert CliRunner().invoke(group, ["good"]).output == "imported good\ndone\n"


def test_errors_are_one_line_with_their_exit_code(group: Lazy) -> None:
    failed = CliRunner().invoke(group, ["bad"])
    assert (failed.exit_code, failed.stderr) == (2, "Error: no luck\n")
    unknown = CliRunner().invoke(group, ["goood"])
    assert unknown.exit_code == 2
    assert "unknown command 'goood': did you mean good?" in unknown.stderr
    assert "imported" not in unknown.output
    assert group.get_command(click.Context(group), "none") is None
