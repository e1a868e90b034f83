"""The page as a folder: its document, style and scripts, the list of units, and a script for each module.

The list, which is there before any unit is loaded, has the units and the known results about pairs of them.
Each distinct function is one WebAssembly module, which units of that function share. A page that is opened as
a file cannot read other files, but can load classic scripts: a module is deflated and written in base64 as
the argument of a call.
"""

from __future__ import annotations

import base64
import json
import lzma
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from tcsmt.interop.exports.webassembly import module_of, unit_script
from tcsmt.matrix_units.catalogue import Row, status_text
from tcsmt.matrix_units.catalogue.naming import aliases, contents, gpus
from tcsmt.matrix_units.catalogue.processors import PROCESSORS
from tcsmt.matrix_units.models import Model
from tcsmt.prove.statements.domain import Domain
from tcsmt.support.errors import TcsmtError
from tcsmt.support.progress import ProgressCallback, no_progress
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


@dataclass(frozen=True)
class Modules:
    """names: of each row's module, by the row's name. scripts: of each module, by its name."""

    names: dict[str, str]
    scripts: dict[str, str]


def modules_of(rows: Sequence[Row], progress: ProgressCallback = no_progress) -> Modules:
    """Return the modules of some units, with their stages. progress: called with units done, of how many."""
    names: dict[str, str] = {}
    scripts: dict[str, str] = {}
    by_model: dict[Model, str] = {}
    for number, row in enumerate(rows, 1):
        if row.model not in by_model:
            code = module_of(row.model).code
            name = by_model[row.model] = blake2b(code, digest_size=6).hexdigest()
            if name not in scripts:
                scripts[name] = _script(name, code)
        names[row.name] = by_model[row.model]
        progress(number, len(rows), row.name)
    return Modules(names, scripts)


def _script(name: str, code: bytes) -> str:
    compressor = zlib.compressobj(9, wbits=-15)
    deflated = compressor.compress(code) + compressor.flush()
    return f'moduleText("{name}","{base64.b64encode(deflated).decode()}");\n'


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
