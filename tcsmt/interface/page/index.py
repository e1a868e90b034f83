"""The index of a page: its units, before any of them is loaded, and the known results about pairs of them."""

from __future__ import annotations

import json
import lzma
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tcsmt.matrix_units.catalogue import Row, status_text
from tcsmt.matrix_units.catalogue.naming import aliases, contents, gpus
from tcsmt.matrix_units.catalogue.processors import PROCESSORS
from tcsmt.prove.statements.domain import Domain
from tcsmt.support.errors import TcsmtError
from tcsmt.support.version import __version__


def index_of(rows: Sequence[Row], modules: Mapping[str, str], first: str) -> dict[str, Any]:
    """Return the list of units: each with its module, formats, K, evidence, status, source and note.

    modules: of each row, by its name. first: the fragment of what the page shows
    before anything is chosen.
    Texts that many units share are numbered.
    """
    types, sources = _Numbers(), _Numbers()
    units = []
    for row in rows:
        about = f"{row.source} ({row.date})" if row.date else row.source
        units.append(
            [
                row.name,
                modules[row.name],
                row.model.k,
                types.of(_types(row)),
                row.evidence,
                status_text(row),
                sources.of(about),
                row.note,
            ]
        )
    architectures = dict.fromkeys(row.architecture for row in rows)
    return {
        "tcsmt": __version__,
        "first": first,
        "units": units,
        "types": types.texts,
        "sources": sources.texts,
        "names": {name: _other_names(name) for name in architectures},
    }


class _Numbers:
    """Texts, each numbered once."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def of(self, text: str) -> int:
        """Return the text's number."""
        return self._numbers.setdefault(text, len(self._numbers))

    @property
    def texts(self) -> list[str]:
        """Return the texts, by number."""
        return list(self._numbers)


def _types(row: Row) -> str:
    """Return the words that a unit takes and gives: a, b, c and scales, then d."""
    m = row.model
    scales = f" {m.scale_format.name}" if m.scale_format is not None else ""
    return f"{m.a_format.name} {m.b_format.name} {m.c_format.name}{scales} → {m.d_format.name}"


def _other_names(architecture: str) -> str:
    """Return the names of GPUs and processors, and others of the architecture, by which people search."""
    chips = {**gpus(), **{name: processor.architecture for name, processor in PROCESSORS.items()}}
    named = [name for name, other in {**aliases(), **chips}.items() if other == architecture]
    try:
        vendor = str(contents(architecture)["vendor"])
    except OSError:
        vendor = ""
    return " ".join(filter(None, [vendor, *named]))


def known_pairs(rows: Sequence[Row], folder: Path) -> dict[str, Any]:
    """Return what a folder of results says of pairs: the atlas's verdicts, and certificates that state a pair
    equal.

    A verdict on a model that is not the row's own any more is left out. Raises :class:`.TcsmtError` where the
    folder has no atlas.
    """
    path = folder / "comparisons" / "atlas.json.xz"
    try:
        atlas = json.loads(lzma.decompress(path.read_bytes()))
    except (OSError, lzma.LZMAError, ValueError) as error:
        raise TcsmtError(f"{path}: an atlas cannot be read there ({error})") from None
    digests = {row.name: row.model.digest for row in rows}
    current = {name for name, digest in digests.items() if atlas["models"].get(name) == digest}
    groups = [group for entry in atlas["groups"] if (group := _group(entry, current)) is not None]
    named = {digest: name for name, digest in digests.items()}
    return {
        "domain": atlas["domain"],
        "digests": {name: digest for name, digest in digests.items() if name in current},
        "groups": groups,
        "certificates": _certificates(folder / "certificates", named),
    }


def _group(entry: Mapping[str, Any], current: set[str]) -> dict[str, Any] | None:
    """A group of the atlas with the units of the page alone; None where it says nothing of a pair of them."""
    classes = [[[name for name in unit if name in current] for unit in units] for units in entry["classes"]]
    pairs = [
        [*pair["classes"], _short(pair["record"])]
        for pair in entry["pairs"]
        if pair["record"] is not None and {pair["record"]["left"], pair["record"]["right"]} <= current
    ]
    proofs = [_short(record) for record in entry["proofs"] if {record["left"], record["right"]} <= current]
    units = sum(len(unit) for units in classes for unit in units)
    return {"classes": classes, "pairs": pairs, "proofs": proofs} if units > 1 else None


def _short(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the page shows of a verdict; of a witness the words alone."""
    kept = {
        key: record[key]
        for key in ("left", "right", "domain", "verdict", "solver", "confirmed", "cause")
        if record.get(key)
    }
    if record["verdict"] == "distinguished":
        kept["inputs"] = {name: value["word"] for name, value in record["inputs"].items()}
    return kept


def _certificates(folder: Path, named: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the certificates that state two units of the page equal, each with its domain."""
    path = folder / "index.json"
    if not path.is_file():
        return []
    entries = []
    for entry in json.loads(path.read_text(encoding="utf-8"))["certificates"]:
        models = [*entry["models"].values()]
        if len(models) != 2 or not all(model in named for model in models):
            continue
        file = folder / "statements" / entry["file"]
        statement = json.loads(file.read_text(encoding="utf-8"))["statement"]
        if _of_same_inputs(statement):
            domain = Domain(**statement["domain"]).in_words(statement["inputs"])
            entries.append(
                {"file": entry["file"], "title": entry["title"], "models": models, "domain": domain}
            )
    return entries


def _of_same_inputs(statement: Mapping[str, Any]) -> bool:
    """Return whether what is proved is that two models give the same word of the same inputs in the same
    order.
    """
    first, second, *others = statement["calls"]
    places = [[call[name] for name in ("a", "b", "c")] for call in (first, second)]
    return not others and not statement["also"] and statement["differ"] == [0, 1] and places[0] == places[1]
