"""The page as a folder: its document, style and scripts, the list of units, and a script for each module."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from tcsmt.interface.page.index import index_of, known_pairs
from tcsmt.interface.page.modules import modules_of
from tcsmt.interop.exports.webassembly import unit_script
from tcsmt.matrix_units.catalogue import Row
from tcsmt.support.progress import ProgressCallback, no_progress

#: The page's own scripts.
_SCRIPTS = (
    "numbers.js",
    "rows.js",
    "search.js",
    "stages.js",
    "picture.js",
    "modules.js",
    "widgets.js",
    "show.js",
    "tell.js",
    "page.js",
)
#: Those of the worker that searches.
_OF_WORKER = ("numbers.js", "search.js", "worker.js")


def site(
    rows: Sequence[Row],
    write: Callable[[str, str], None],
    *,
    first: str,
    results: Path | None = None,
    progress: ProgressCallback = no_progress,
) -> None:
    """Write the files of a page through ``write``, which takes a name with slashes and the text.

    rows: its units. first: the fragment of a link, which it shows first. results: a folder of results, whose
    verdicts on pairs the page then shows. Raises :class:`.TcsmtError` where that folder has no atlas.
    """
    pairs = None if results is None else known_pairs(rows, results)
    modules = modules_of(rows, progress)
    for name, script in modules.scripts.items():
        write(f"units/{name}.js", script)
    if pairs is not None:
        write("pairs.js", _call("knownPairs", pairs))
    index = index_of(rows, modules.names, first) | {"pairs": pairs is not None}
    write("index.js", _call("unitIndex", index))
    write("unit.js", unit_script())
    write("search-worker.js", _call("workerText", "\n".join([unit_script(), *map(_asset, _OF_WORKER)])))
    for name in (*_SCRIPTS, "page.css", "index.html"):
        write(name, _asset(name))


def first_view(folder: Path) -> list[Path]:
    """Return the files of a page that a browser loads before anything is chosen."""
    index = json.loads((folder / "index.js").read_text(encoding="utf-8").partition("(")[2].rpartition(")")[0])
    shown = {value for key, value in parse_qsl(index["first"].removeprefix("#")) if key in ("a", "b")}
    modules = [f"units/{module}.js" for name, module, *_ in index["units"] if name in shown]
    return [folder / name for name in ("index.html", "page.css", "index.js", "unit.js", *_SCRIPTS, *modules)]


def _asset(name: str) -> str:
    return files("tcsmt.interface.page").joinpath("assets", name).read_text(encoding="utf-8")


def _call(function: str, data: Mapping[str, Any] | str) -> str:
    """A script that hands data to a function of the page; no text in it can end the script's element."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/")
    return f"{function}({text});\n"
