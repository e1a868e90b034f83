"""What has to be trusted with a certificate: every module that the checker imports, with its lines."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["DESIGNS", "Trusted", "closure"]

ROOT = Path(__file__).resolve().parents[2]
CHECKER = "tcsmt.prove.certificates.checker"
#: What statements about hardware designs and C rest on beside it.
DESIGNS = "tcsmt.matrix_units.models.circuit"


@dataclass(frozen=True)
class Trusted:
    """A module, its lines, and the first line of its docstring."""

    name: str
    lines: int
    about: str


def closure(start: str = CHECKER) -> list[Trusted]:
    """The modules that importing one imports, by name; of packages, what their ``__init__`` imports, too.

    The package itself, ``tcsmt/__init__.py``, is left out: it says where things are, and imports the version.
    """
    found: dict[str, Trusted] = {}
    missing = [start]
    while missing:
        name = missing.pop()
        path = _file(name)
        if path is None or name in found:
            continue
        text = path.read_text()
        module = ast.parse(text)
        about = (ast.get_docstring(module) or "").partition("\n")[0]
        found[name] = Trusted(name, len(text.splitlines()), about)
        missing += [name.rpartition(".")[0], *_imported(module.body)]
    del found["tcsmt"]
    return [found[name] for name in sorted(found)]


def _file(name: str) -> Path | None:
    path = ROOT.joinpath(*name.split("."))
    for candidate in (path / "__init__.py", path.with_suffix(".py")):
        if name.startswith("tcsmt") and candidate.is_file():
            return candidate
    return None


def _imported(body: list[ast.stmt]) -> Iterator[str]:
    """What statements import, not those for types alone; a name may be a module's, and then that is one."""
    for node in body:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        for inner in ast.walk(node):
            if isinstance(inner, ast.Import):
                yield from (alias.name for alias in inner.names)
            elif isinstance(inner, ast.ImportFrom) and inner.module:
                yield inner.module
                yield from (f"{inner.module}.{alias.name}" for alias in inner.names)
