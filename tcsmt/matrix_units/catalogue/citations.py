"""The sources of a row as a bibliography: BibTeX of what its source names (``citations.toml``)."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tcsmt.matrix_units.catalogue.row import Row
from tcsmt.support.escaping import bibtex_comment
from tcsmt.support.results import Result


@dataclass(frozen=True)
class Citation:
    """An entry of a bibliography. named: texts by which sources mean it; fields: BibTeX's, in order."""

    key: str
    type: str
    named: tuple[str, ...]
    fields: dict[str, str]

    def __str__(self) -> str:
        lines = (f"  {name} = {{{value}}}," for name, value in self.fields.items())
        return "\n".join((f"@{self.type}{{{self.key},", *lines, "}"))


@dataclass(frozen=True, repr=False)
class Citations(Result):
    """The works that a unit's source names, for a bibliography: BibTeX by ``str``.

    missing: parts of the source that are no entry of the bibliography.
    """

    unit: str
    source: str
    entries: tuple[Citation, ...]
    missing: tuple[str, ...]

    @property
    def _title(self) -> str:
        return f"of {self.unit}: {', '.join(entry.key for entry in self.entries)}"

    def _lines(self) -> Iterator[str]:
        yield bibtex_comment(f"{self.unit}: {self.source or 'a model without a source'}")
        yield from (bibtex_comment(f"not in this bibliography: {part}") for part in self.missing)
        yield from map(str, self.entries)

    def _facts(self) -> dict[str, Any]:
        entries = [{"key": entry.key, "type": entry.type, **entry.fields} for entry in self.entries]
        return {"unit": self.unit, "source": self.source, "citations": entries, "missing": list(self.missing)}


def citations(row: Row) -> Citations:
    """Return the entries that a row's source names, in its order; a part that names none is said."""
    entries: dict[str, Citation] = {}
    missing = []
    for part in (text.strip() for text in row.source.split(";")):
        named = [entry for entry in _bibliography() if any(name in part for name in entry.named)]
        entries |= {entry.key: entry for entry in named}
        if part and not named:
            missing.append(part)
    return Citations(row.name, row.source, tuple(entries.values()), tuple(missing))


@cache
def _bibliography() -> tuple[Citation, ...]:
    data = tomllib.loads(Path(__file__).with_name("citations.toml").read_text(encoding="utf-8"))
    return tuple(
        Citation(key, table.pop("type"), tuple(table.pop("named")), table) for key, table in data.items()
    )
