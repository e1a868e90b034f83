"""The page that computes units in a browser: ``tcsmt.page``."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tcsmt.interface.api.units import UnitLike, side_of
from tcsmt.interface.page.site import site
from tcsmt.matrix_units.catalogue import Row, rows, selected
from tcsmt.matrix_units.catalogue.naming import ARCHITECTURES
from tcsmt.support.files import make_folder, store_bytes, wrote
from tcsmt.support.floats import ieee_floats
from tcsmt.support.progress import ProgressCallback, no_progress
from tcsmt.support.results import Result
from tcsmt.support.text import counted


@dataclass(frozen=True, repr=False)
class Page(Result):
    """A page in a folder: ``path`` is its document, ``units`` the names of its units.

    modules: how many different functions these are. size: bytes of all files.
    """

    path: Path
    units: tuple[str, ...]
    modules: int
    size: int

    def _facts(self) -> dict[str, Any]:
        return {"page": str(self.path), "units": len(self.units), "modules": self.modules, "bytes": self.size}

    def _lines(self) -> list[str]:
        size = f"{self.size / 1e6:.1f} MB"
        return [
            f"{self.path}: {counted(len(self.units), 'unit')} of {self.modules} different functions, {size}"
        ]

    @property
    def _title(self) -> str:
        return f"of {counted(len(self.units), 'unit')}"


@ieee_floats
def page(
    folder: str | os.PathLike[str],
    units: Sequence[UnitLike] | None = None,
    *,
    results: str | os.PathLike[str] | None = None,
    progress: ProgressCallback = no_progress,
) -> Page:
    """Write a page that computes units bit for bit in a browser, without a server.

    Args:
        folder: Where ``index.html`` and what it loads are written.
        units: Names, rows, models, model files or kernels. [default: the whole catalogue, and kernels of few
            products]
        results: A folder of results, such as this project's results/; the page shows its verdicts on pairs.
        progress: Called with units done, of how many, and the last one.

    Raises :class:`tcsmt.TcsmtError` for unknown names, and where there are no such results.

    >>> import tcsmt, tempfile
    >>> print(tcsmt.page(tempfile.mkdtemp(), ["volta", "hopper"]))  # doctest: +ELLIPSIS
    /...index.html: 2 units of 2 different functions, ... MB
    """
    chosen = [*_catalogue()] if units is None else [side_of(unit).row for unit in units]
    top = Path(folder)
    size = 0
    modules = 0
    folders: set[Path] = set()

    def write(name: str, text: str) -> None:
        nonlocal size, modules
        path = top / name
        if path.parent not in folders:
            make_folder(path.parent)
            folders.add(path.parent)
        content = text.encode()
        store_bytes(path, content)
        size += len(content)
        modules += name.startswith("units/")

    first = str(_whole()["first"]) if units is None else _link(chosen)
    where = None if results is None else Path(results)
    site(chosen, write, first=first, results=where, progress=progress)
    document = top / "index.html"
    wrote(document)
    return Page(document, tuple(row.name for row in chosen), modules, size)


def _whole() -> Mapping[str, Any]:
    """Return what a page of the whole catalogue has beside its units."""
    return tomllib.loads(files("tcsmt.interface.page").joinpath("whole.toml").read_text(encoding="utf-8"))


def _catalogue() -> Iterator[Row]:
    """Every row, and kernels on the units that are used most."""
    yield from rows()
    whole = _whole()
    for architecture in ARCHITECTURES:
        for row in selected(rows(architecture, claims=False), formats=whole["formats"])[:1]:
            for reduction in whole["reductions"]:
                k = row.model.k
                yield side_of(f"{row.name}+{reduction.format(k=k)}@{whole['instructions'] * k}").row


def _link(chosen: Sequence[Row]) -> str:
    """Return the fragment of a link to the first units."""
    names = dict(zip("ab", (row.name for row in chosen), strict=False))
    return "#v=1" + "".join(f"&{key}={quote(name, safe='/:,')}" for key, name in names.items())
