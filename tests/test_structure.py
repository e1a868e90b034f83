"""The package's structure: rooms import downward only, and every room and test is where one looks for it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_rooms_import_only_from_below() -> None:
    """The contracts in pyproject.toml: layers, and no circles."""
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_root_has_few_modules() -> None:
    assert len(list((ROOT / "tcsmt").glob("*.py"))) <= 6


def test_a_command_lives_in_the_module_of_its_name() -> None:
    from tcsmt.cli import main
    from tcsmt.cli.accuracy import accuracy

    for group in (main, accuracy):
        for name, module in group.modules.items():  # type: ignore[attr-defined]
            assert module.rpartition(".")[2] == name
