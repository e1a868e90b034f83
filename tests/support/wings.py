"""The picture of the package at the top of ``docs/explanation/contributing.md``, made from the imports.

``python -m tests.support.wings`` writes it anew.
"""

from __future__ import annotations

import ast
import tomllib
from functools import cache
from pathlib import Path

from tests.support.paths import ROOT

PAGE = ROOT / "docs" / "explanation" / "contributing.md"
#: The picture stands between these lines of the page.
FIRST, LAST = "<!-- wings: made by python -m tests.support.wings -->", "<!-- end of wings -->"


@cache
def layers(container: str) -> tuple[str, ...]:
    """The order of a package's parts as the import contracts in pyproject.toml have it, the highest first."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (contract,) = (one for one in contracts if one.get("containers") == [container])
    return tuple(part for layer in contract["layers"] for part in layer.split(" | "))


def imports() -> set[tuple[str, str]]:
    """Each pair of wings of which the first imports something of the second."""
    arrows = set()
    for path in (ROOT / "tcsmt").glob("*/**/*.py"):
        wing = path.relative_to(ROOT / "tcsmt").parts[0]
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tcsmt."):
                arrows.add((wing, str(node.module).split(".")[1]))
    return {(wing, other) for wing, other in arrows if wing != other}


def about(path: Path) -> str:
    """The first sentence of a package's or module's docstring."""
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    text = ast.get_docstring(ast.parse(file.read_text())) or ""
    return text.replace("\n", " ").partition(". ")[0].removesuffix(".") + "."


def picture() -> str:
    """Who imports whom, wing by wing, and a table of what is in each room."""
    wings = [wing for wing in layers("tcsmt") if (ROOT / "tcsmt" / wing).is_dir()]
    arrows = imports()
    width = max(map(len, wings))
    lines = ["```text", f"{'':{width}}  imports from →"]
    lines.append(f"{'':{width}}  {'  '.join(wings)}".rstrip())
    for wing in wings:
        cells = (("●" if (wing, other) in arrows else " ").center(len(other)) for other in wings)
        lines.append(f"{wing:{width}}  {'  '.join(cells)}".rstrip())
    lines += ["```", "", "| wing | room | contents |", "|---|---|---|"]
    for wing in wings:
        folder = ROOT / "tcsmt" / wing
        lines.append(f"| **`{wing}`** | | {about(folder)} |")
        if wing != "support":
            lines += [f"| | `{room}` | {about(folder / room)} |" for room in layers(f"tcsmt.{wing}")]
    return "\n".join(lines)


def with_picture(page: str) -> str:
    """The page with the picture as it is now."""
    before, _, rest = page.partition(FIRST)
    _, _, after = rest.partition(LAST)
    return f"{before}{FIRST}\n{picture()}\n{LAST}{after}"


if __name__ == "__main__":
    PAGE.write_text(with_picture(PAGE.read_text()))
