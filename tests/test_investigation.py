"""The home from which property modules import: the guide names all of it; shipped modules need no other."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import tcsmt.investigation
from tests.support.paths import ROOT

MODULES = sorted((ROOT / "properties").glob("*.py"))


def test_every_name_is_in_the_guide() -> None:
    page = (ROOT / "docs" / "howto" / "property-module.md").read_text()
    table = "\n".join(line for line in page.splitlines() if line.startswith("| `"))
    assert set(re.findall(r"`(\w+)`", table)) == set(tcsmt.investigation.__all__)
    assert all(hasattr(tcsmt.investigation, name) for name in tcsmt.investigation.__all__)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_shipped_modules_import_from_nowhere_else(path: Path) -> None:
    imports = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ImportFrom)]
    ours = [node for node in imports if (node.module or "").partition(".")[0] == "tcsmt"]
    assert {node.module for node in ours} == {"tcsmt.investigation"}
    assert {alias.name for node in ours for alias in node.names} <= set(tcsmt.investigation.__all__)
