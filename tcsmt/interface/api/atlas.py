"""All units of the catalogue, pair by pair: ``tcsmt.atlas`` and ``tcsmt.chained_atlas``."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tcsmt.analysis.exactness.integers import integer_records
from tcsmt.interface.api.units import UnitLike, side_of
from tcsmt.interface.pictures.chained_atlas import as_chained_page, as_chained_svg
from tcsmt.interface.pictures.heat_map import as_page, as_table
from tcsmt.matrix_units.catalogue import Row, architecture_named, rows
from tcsmt.matrix_units.models import IntegerDotAdd
from tcsmt.prove.engine.certify import require_sat_solver
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.statements.domain import Domain
from tcsmt.support.errors import TcsmtError, UnknownName
from tcsmt.support.files import make_folder, replace_text
from tcsmt.support.floats import ieee_floats
from tcsmt.support.progress import ProgressCallback, no_progress
from tcsmt.support.results import json_text
from tcsmt.surveys.units.atlas import Atlas, groups, run
from tcsmt.surveys.units.chained import ChainedAtlas, chained_groups, run_chained
from tcsmt.surveys.units.chained_table import as_chained_table
from tcsmt.surveys.units.model_pairs import verdicts_in

#: Formats that units of several vendors share.
SHARED = (
    "f32.f16.f16.f32",
    "f32.bf16.bf16.f32",
    "f32.e4m3.e4m3.f32",
    "f32.e5m2.e5m2.f32",
    "s32.s8.s8.s32",
)


@dataclass(frozen=True, repr=False)
class AtlasReport(Atlas):
    """The comparisons of all pairs: ``groups``, ``verdicts``, ``unknown``; print it, or see ``page()``."""

    def page(self) -> str:
        """An HTML page."""
        return as_page(self)

    def files(self) -> dict[str, str]:
        """Return what a folder of results has, by the files' names."""
        return {"atlas.json": _json_file(self), "atlas.txt": f"{self}\n", "atlas.html": self.page()}

    def _lines(self) -> list[str]:
        return as_table(self).removesuffix("\n").split("\n")


@dataclass(frozen=True, repr=False)
class ChainedAtlasReport(ChainedAtlas):
    """Units chained to one length: ``groups``, ``known``, ``integers``; print it, or see ``page()``."""

    @property
    def verdicts(self) -> list[Mapping[str, Any]]:
        """Return what was asked of solvers, as data: pairs on domains, and sums of integers that are
        exact.
        """
        pairs = [record for domains in self.known for here in domains for record in here.records.values()]
        sums = [record for record in self.integers.values() if "proof" in record]
        return [*pairs, *({**record, "verdict": "equivalent"} for record in sums)]

    def page(self) -> str:
        """An HTML page."""
        return as_chained_page(self)

    def picture(self) -> str:
        """Return the domains on which each two classes are equal, as SVG."""
        return as_chained_svg(self)

    def files(self) -> dict[str, str]:
        """Return what a folder of results has, by the files' names."""
        texts = {"chained.json": _json_file(self), "chained.txt": f"{self}\n"}
        return texts | {"chained.html": self.page(), "chained.svg": self.picture()}

    def _lines(self) -> list[str]:
        return as_chained_table(self).removesuffix("\n").split("\n")


@ieee_floats
def atlas(
    units: Sequence[UnitLike] | None = None,
    *,
    architectures: Sequence[str] = (),
    claims: bool = False,
    types: Sequence[str] = (),
    domain: Domain | None = None,
    output: str | os.PathLike[str] | None = None,
    options: SolvingOptions = SolvingOptions(confirm=True, jobs=2),
    progress: ProgressCallback = no_progress,
) -> AtlasReport:
    """Compare all units that take and give the same words, pair by pair.

    >>> import tcsmt
    >>> report = tcsmt.atlas(architectures=["volta", "turing"], types=["f32.f16.f16.f32"])
    >>> [group.title for group in report.groups]
    ['f32.f16.f16.f32, K = 4', 'f32.f16.f16.f32, K = 8']

    Args:
        units: Names, rows, models or model files. [default: the catalogue's accepted rows]
        architectures: Only units of this architecture.
        claims: Include published models that are refuted or disputed.
        types: Only these formats, D.A.B.C, e.g. f32.f16.f16.f32.
        domain: Of the inputs; None: all words.
        output: Folder for atlas.json, .txt and .html.
        options: Of solvers; proofs are confirmed where they leave it open.
        progress: Called with pairs done, of how many, and the last one.

    Raises :class:`tcsmt.TcsmtError` for unknown names, and for types that no unit has.
    """
    require_sat_solver(options)
    chosen = groups(_rows(units, architectures, claims))
    all_types = {group.types for group in chosen}
    for name in types:
        if name not in all_types:
            raise UnknownName("types", name, sorted(all_types))
    chosen = [group for group in chosen if not types or group.types in types]
    folder = _folder(output)
    with verdicts_in(options.store) as verdicts:
        made = run(chosen, domain or Domain(finite=False), verdicts, options.confirming(True), progress)
    report = AtlasReport(made.groups, made.domain, made.records)
    _write(report, folder)
    return report


@ieee_floats
def chained_atlas(
    units: Sequence[UnitLike] | None = None,
    *,
    architectures: Sequence[str] = (),
    claims: bool = False,
    types: Sequence[str] = (),
    k: int | None = None,
    output: str | os.PathLike[str] | None = None,
    options: SolvingOptions = SolvingOptions(confirm=True, jobs=2),
    progress: ProgressCallback = no_progress,
) -> ChainedAtlasReport:
    """Return which units compute the same dot product, the smaller ones chained to the same length.

    >>> import tcsmt
    >>> units, options = ["volta", "x86/vdpbf16ps"], tcsmt.SolvingOptions(confirm=False)
    >>> report = tcsmt.chained_atlas(units, types=["f32.bf16.bf16.f32"], options=options)
    >>> report.integers["x86/vdpbf16ps"]["bits"]
    24

    Args:
        units: As for :func:`tcsmt.atlas`, as those that are not listed here.
        types: Formats of D, A, B and C, as in the example; those that most units share where none is given.
        k: Length of the dot product of chained units. [default: the shortest for all units]
        output: Folder for chained.json, .txt, .html and .svg.

    Raises :class:`tcsmt.TcsmtError` where no unit has the types, and for unknown names.
    """
    require_sat_solver(options)
    options = options.confirming(True)
    chosen = chained_groups(_rows(units, architectures, claims), types or SHARED, k)
    classes = [unit.rows[0] for group in chosen for unit in group.units]
    classes = [row for row in classes if not isinstance(row.model, IntegerDotAdd)]
    folder = _folder(output)
    with verdicts_in(options.store) as verdicts:
        exact = integer_records(classes, verdicts, options, progress)
        made = run_chained(chosen, verdicts, options, progress)
    report = ChainedAtlasReport(made.groups, made.known, exact)
    _write(report, folder)
    return report


def _rows(units: Sequence[UnitLike] | None, architectures: Sequence[str], claims: bool) -> list[Row]:
    if units is not None:
        if architectures or claims:
            raise TcsmtError("architectures and claims choose from the catalogue: give them, or units")
        return [side_of(unit).row for unit in units]
    names = {architecture_named(name) for name in architectures}
    return [
        row
        for row in rows()
        if (claims or row.status == "accepted") and (not names or row.architecture in names)
    ]


def _folder(output: str | os.PathLike[str] | None) -> Path | None:
    """Made before the work starts, so that one that cannot be is known then."""
    if output is None:
        return None
    make_folder(Path(output))
    return Path(output)


def _write(report: AtlasReport | ChainedAtlasReport, folder: Path | None) -> None:
    if folder is not None:
        for name, text in report.files().items():
            replace_text(folder / name, text)


def _json_file(report: AtlasReport | ChainedAtlasReport) -> str:
    return json_text(report.as_json()) + "\n"
