"""The package's structure: rooms import downward only, and every room and test is where one looks for it."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.support.paths import ROOT


def test_rooms_import_only_from_below() -> None:
    """The contracts in pyproject.toml: layers, and no circles."""
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_root_has_few_modules() -> None:
    assert len(list((ROOT / "tcsmt").glob("*.py"))) <= 6


def imported(path: Path) -> Iterator[str]:
    """The names that a module imports, with their modules'."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{'.' * node.level}{node.module}.{alias.name}" for alias in node.names)


def test_no_test_imports_another_test() -> None:
    """What several tests need is in ``tests/support`` or ``tests/oracles``."""
    assert "tests.support.paths.ROOT" in set(imported(Path(__file__)))
    for path in (ROOT / "tests").rglob("*.py"):
        for name in imported(path):
            first, *rest = name.split(".")
            assert first, f"{path}: a relative import"
            wrong = first.startswith("test_") or (
                first == "tests" and any(p.startswith("test_") for p in rest)
            )
            assert not wrong, f"{path} imports {name}"


def test_folders_of_tests_mirror_rooms() -> None:
    """A room's tests are in the folder of its name; the oracles and benchmarks have tests, too."""
    folders = {path.parent.relative_to(ROOT / "tests") for path in (ROOT / "tests").rglob("test_*.py")}
    others = {Path("oracles"), Path("benchmarks")}
    assert all((ROOT / "tcsmt" / folder / "__init__.py").is_file() for folder in folders - others)
    rooms = {path.parent.name for path in (ROOT / "tcsmt").glob("*/__init__.py")}
    assert rooms <= {folder.name for folder in folders}


def test_a_command_lives_in_the_module_of_its_name() -> None:
    from tcsmt.cli import main
    from tcsmt.cli.accuracy import accuracy

    for group in (main, accuracy):
        for name, module in group.modules.items():  # type: ignore[attr-defined]
            assert module.rpartition(".")[2] == name
