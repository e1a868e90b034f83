"""Which code proved something: every module that a proof rests on counts, and no other."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tcsmt.prove.engine import prover as module
from tcsmt.prove.engine.prover import prover
from tests.support.paths import ROOT


def imported(path: Path) -> Iterator[str]:
    """The modules of the package that a module imports, as paths without a suffix."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("tcsmt"):
            base = node.module.replace(".", "/")
            yield base
            yield from (f"{base}/{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (a.name.replace(".", "/") for a in node.names if a.name.startswith("tcsmt"))


def rests_on(start: Path) -> set[Path]:
    """Every module of the package that running this one may import."""
    found, waiting = set(), [start]
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting += [file for one in imported(path) if (file := ROOT / f"{one}.py").is_file()]
    return found


#: What keeps files and says what an error is, looks for witnesses and draws them: no proof rests on it.
BESIDE = {"support", "simulate", "matrix_units/files", "__init__.py"}


def test_all_that_the_engine_imports_counts() -> None:
    """The rooms that are not named hold nothing that decides a query."""
    package = ROOT / "tcsmt"
    files = rests_on(package / "prove" / "engine" / "engine.py")
    paths = {path.relative_to(package).as_posix() for path in files}
    assert {"prove/engine/blocks.py", "matrix_units/models/base.py", "language/terms.py"} <= paths
    counted = (*module._ROOMS, *BESIDE)
    assert not {path for path in paths if not path.startswith(counted)}
    assert all((package / room).is_dir() for room in module._ROOMS)


def test_another_text_is_another_prover(monkeypatch: pytest.MonkeyPatch) -> None:
    assert prover() == prover() != prover("simulate")
    assert prover("simulate", "study/survey") not in (prover(), prover("simulate"))
    before = prover()
    for room in module._ROOMS:
        with monkeypatch.context() as patched:
            patched.setattr(module, "_ROOMS", tuple(one for one in module._ROOMS if one != room))
            assert prover() != before, room
