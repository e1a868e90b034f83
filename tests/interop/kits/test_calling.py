"""The process that calls somebody's functions: it is a file that imports nothing of the package."""

from __future__ import annotations

import ast
from pathlib import Path

from tcsmt.interop.kits import calling


def test_it_imports_nothing_of_the_package() -> None:
    tree = ast.parse(Path(str(calling.__file__)).read_text())
    modules = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    assert not any(str(name).startswith("tcsmt") for name in modules | names)
