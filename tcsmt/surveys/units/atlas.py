"""All pairs of catalogue rows with the same words: verdicts that are kept, and what they add up to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from tcsmt.matrix_units.catalogue import Row
from tcsmt.matrix_units.models import Model
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.verdict import engine_digest
from tcsmt.support.checkpoint import Checkpoint
from tcsmt.support.errors import Exit
from tcsmt.support.progress import ProgressCallback, no_progress
from tcsmt.support.results import Result
from tcsmt.support.text import counted
from tcsmt.surveys.units.model_pairs import DistinctUnit, Pair, decide_cached


@dataclass(frozen=True)
class Group:
    """Units that take and give the same words: ``types`` (d.a.b.c and scales) and k."""

    types: str
    k: int
    units: tuple[DistinctUnit, ...]

    @property
    def title(self) -> str:
        """Types and K."""
        return f"{self.types}, K = {self.k}"


def types_of(model: Model) -> str:
    """Return the names of the formats of D, A, B and C, with dots between them."""
    return ".".join(f.name for f in (model.d_format, model.a_format, model.b_format, model.c_format))


def groups(rows: Iterable[Row]) -> list[Group]:
    """Return the rows, by the words that they take and give; groups of one are there too."""
    table: dict[tuple[str, int], dict[Model, list[Row]]] = {}
    for row in rows:
        m = row.model
        types = types_of(m)
        if m.scale_format is not None:
            types += f".{m.scale_format.name}x{m.scales}"
        table.setdefault((types, m.k), {}).setdefault(m, []).append(row)
    return [
        Group(types, k, tuple(DistinctUnit(model, tuple(having)) for model, having in units.items()))
        for (types, k), units in table.items()
    ]


@dataclass(frozen=True, repr=False)
class Atlas(Result):
    """Groups, the domain, and the record of each pair that has one, by key."""

    groups: tuple[Group, ...]
    domain: Domain
    records: dict[str, dict[str, Any]]

    @property
    def where(self) -> str:
        """Return the domain in words, for the inputs of all units."""
        units = (unit for group in self.groups for unit in group.units)
        return self.domain.in_words([name for unit in units for name in unit.model.input_names])

    @property
    def verdicts(self) -> list[Mapping[str, Any]]:
        """Return what is known of each pair, as data."""
        return list(self.records.values())

    @property
    def unknown(self) -> bool:
        """Return whether a pair has no verdict."""
        return any(record["verdict"] == "unknown" for record in self.verdicts)

    @property
    def exit_code(self) -> Exit:
        """0: every pair has a verdict; 3: some pair is unknown."""
        return Exit.UNKNOWN if self.unknown else Exit.ANSWERED

    @property
    def _title(self) -> str:
        return f"of {counted(len(self.groups), 'group')}, {counted(len(self.records), 'pair')}"

    def record(self, left: DistinctUnit, right: DistinctUnit) -> dict[str, Any] | None:
        """Return what is known of a pair."""
        return self.records.get(Pair(left, right, self.domain).key)

    def classes(self, group: Group) -> list[list[DistinctUnit]]:
        """Units of a group that are proved equal, together."""
        classes: list[list[DistinctUnit]] = []
        for unit in group.units:
            for members in classes:
                if any(_proved(self.record(other, unit)) for other in members):
                    members.append(unit)
                    break
            else:
                classes.append([unit])
        return classes

    def between(self, first: Sequence[DistinctUnit], second: Sequence[DistinctUnit]) -> dict[str, Any] | None:
        """Return the record of two classes: the smallest witness between them; else any record."""
        records = [
            r
            for x in first
            for y in second
            for r in (self.record(x, y) or self.record(y, x),)
            if r is not None
        ]
        return min(records, key=_size, default=None)

    def _facts(self) -> dict[str, Any]:
        """Groups with classes, and a record for each pair of classes; inputs not given are zero."""
        return {
            "prover": engine_digest(),
            "domain": self.where,
            "models": {
                row.name: unit.model.digest
                for group in self.groups
                for unit in group.units
                for row in unit.rows
            },
            "groups": [self._group(group) for group in self.groups],
        }

    def _group(self, group: Group) -> dict[str, Any]:
        classes = self.classes(group)
        pairs = [
            {"classes": [i, j], "record": _short(self.between(classes[i], classes[j]))}
            for i, j in combinations(range(len(classes)), 2)
        ]
        proofs = [
            record
            for units in classes
            for x, y in combinations(units, 2)
            if (record := self.record(x, y)) is not None
        ]
        names = [[[row.name for row in unit.rows] for unit in units] for units in classes]
        return {"types": group.types, "k": group.k, "classes": names, "pairs": pairs, "proofs": proofs}


def _proved(record: dict[str, Any] | None) -> bool:
    return record is not None and record["verdict"] == "equivalent"


def _short(record: dict[str, Any] | None) -> dict[str, Any] | None:
    """A record without the inputs that are zero."""
    if record is None or "inputs" not in record:
        return record
    used = {name: value for name, value in record["inputs"].items() if int(value["word"], 16)}
    return {**record, "inputs": used}


def _size(record: dict[str, Any]) -> tuple[int, int, int]:
    """Return how large a record's witness is: non-zero inputs, digits; no witness is larger."""
    if record["verdict"] != "distinguished":
        return (1, 0, 0)
    used = [value for value in record["inputs"].values() if int(value["word"], 16)]
    return (0, len(used), sum(len(value["value"]) for value in used))


def run(
    chosen: Sequence[Group],
    domain: Domain,
    store: Checkpoint,
    options: SolvingOptions,
    progress: ProgressCallback = no_progress,
) -> Atlas:
    """Ask every pair that the store has no verdict on; see :func:`.decide_cached`."""
    pairs = [Pair(x, y, domain) for group in chosen for x, y in combinations(group.units, 2)]
    return Atlas(tuple(chosen), domain, decide_cached(pairs, store, options, progress))
