"""The atlas and the units' own pages as HTML: from the catalogue and from ``results/``, nothing by hand."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from itertools import combinations
from pathlib import Path
from typing import Any

from tcsmt.interface.api.views import WitnessView, address
from tcsmt.interface.page.site import known_pairs
from tcsmt.matrix_units.catalogue import Row, disputes, status_text
from tcsmt.matrix_units.catalogue.description import arithmetic
from tcsmt.matrix_units.catalogue.naming import gpus
from tcsmt.matrix_units.catalogue.processors import PROCESSORS
from tcsmt.matrix_units.models.file_texts import meanings, toml_value
from tcsmt.matrix_units.models.files import file_parameters, is_of_models
from tcsmt.support.files import read_bytes
from tcsmt.surveys.units.atlas import groups

__all__ = ["CompareAll", "Group", "Pair", "page_name", "unit_link"]

#: The page that computes units, from the site's top.
COMPUTES = "page/index.html"


def page_name(row: Row) -> str:
    """The name of a unit's page, from the site's top, without .html."""
    return f"units/{re.sub(r'[^A-Za-z0-9._-]+', '-', row.name)}"


def unit_link(row: Row, top: str) -> str:
    """A link to a unit's page. top: the way to the site's top, such as ``../``."""
    return f'<a href="{top}{page_name(row)}.html"><code>{escape(row.name)}</code></a>'


@dataclass(frozen=True)
class Pair:
    """What is known of two units: a record of ``results/``, with the rows that it names.

    results: both results on the witness, as words; none where there is none.
    """

    left: Row
    right: Row
    record: Mapping[str, Any]
    results: tuple[str, ...]
    certificates: tuple[Mapping[str, Any], ...]

    @property
    def equal(self) -> bool:
        """Whether they are proved equal."""
        return bool(self.record["verdict"] == "equivalent")

    @property
    def verdict(self) -> str:
        """In words."""
        if self.equal:
            confirmed = f", confirmed by {self.record['confirmed']}" if "confirmed" in self.record else ""
            return f"proved equal ({self.record.get('solver') or 'same graph'}{confirmed})"
        return "differ" if self.record["verdict"] == "distinguished" else "unknown"

    @cached_property
    def view(self) -> WitnessView | None:
        """The witness; None where there is none."""
        if "inputs" not in self.record:
            return None
        words = {name: int(word, 16) for name, word in self.record["inputs"].items()}
        whole = {name: words.get(name, 0) for name in self.left.model.input_names}
        return WitnessView((self.left, self.right), (whole, whole))

    def cells(self, top: str) -> list[str]:
        """Verdict, witness, results, cause and certificates as HTML. top: the way to the site's top."""
        witness = ""
        if self.view is not None:
            inputs = " ".join(f"{name}={word}" for name, word in self.record["inputs"].items())
            href = escape(address(f"{top}{COMPUTES}", self.view))
            witness = f'<a href="{href}"><code>{escape(inputs) or "all inputs 0"}</code></a>'
        results = " | ".join(f"<code>{word}</code>" for word in self.results)
        cause = escape(self.record.get("cause", "").removeprefix("the cause, with all else equal: "))
        certificates = "<br>".join(map(_certificate, self.certificates))
        return [escape(self.verdict), witness, results, cause, certificates]


def _certificate(entry: Mapping[str, Any]) -> str:
    return f"<code>{escape(entry['file'])}</code> (equal on: {escape(entry['domain'])})"


@dataclass(frozen=True)
class Group:
    """Units of the same formats and K: classes of equal ones, each of units, each of rows."""

    title: str
    types: str
    k: int
    classes: tuple[tuple[tuple[Row, ...], ...], ...]
    pairs: Mapping[tuple[int, int], Pair]
    proofs: tuple[Pair, ...]

    def class_of(self, row: Row) -> int:
        """The number of the class that a row is in."""
        (number,) = (n for n, units in enumerate(self.classes) for rows in units if row in rows)
        return number


class CompareAll:
    """What ``results/`` says of all pairs of units of the same formats and K."""

    def __init__(self, rows: Sequence[Row], results: Path) -> None:
        known = known_pairs(rows, results)
        self.rows = {row.name: row for row in rows}
        self.domain: str = known["domain"]
        self._digests: Mapping[str, str] = known["digests"]
        self._results = _results(results)
        self._certificates: Sequence[Mapping[str, Any]] = known["certificates"]
        titles = {row.name: group for group in groups(rows) for unit in group.units for row in unit.rows}
        self.groups = []
        for entry in known["groups"]:
            classes = tuple(
                tuple(tuple(self.rows[name] for name in unit) for unit in units if unit)
                for units in entry["classes"]
            )
            first = next(unit[0] for units in classes for unit in units)
            group = titles[first.name]
            pairs = {(i, j): self._pair(record) for i, j, record in entry["pairs"]}
            proofs = tuple(self._pair(record) for record in entry["proofs"])
            self.groups.append(Group(group.title, group.types, group.k, classes, pairs, proofs))
        self.group_of = {
            row.name: group
            for group in self.groups
            for units in group.classes
            for unit in units
            for row in unit
        }

    def _pair(self, record: Mapping[str, Any]) -> Pair:
        left, right = self.rows[record["left"]], self.rows[record["right"]]
        digests = {self._digests[left.name], self._digests[right.name]}
        certificates = tuple(entry for entry in self._certificates if {*entry["models"]} == digests)
        return Pair(left, right, record, self._results.get((left.name, right.name), ()), certificates)

    # --- the atlas -------------------------------------------------------------------------------

    def atlas(self, top: str) -> str:
        """All groups with more than one class, or with a proof. top: the way to the site's top."""
        shown = [group for group in self.groups if len(group.classes) > 1 or group.proofs]
        return '<div class="atlas">' + "".join(self._section(group, top) for group in shown) + "</div>"

    def _section(self, group: Group, top: str) -> str:
        name = re.sub(r"[^a-z0-9]+", "-", group.title.lower()).strip("-")
        count = len(group.classes)
        head = "".join(f'<th scope="col">{number}</th>' for number in range(1, count + 1))
        lines = []
        for number, units in enumerate(group.classes):
            members = ", ".join(unit_link(row, top) for unit in units for row in unit)
            cells = "".join(self._cell(group, name, number, other) for other in range(count))
            head_of_row = f'<th scope="row">{number + 1}</th>'
            lines.append(f'<tr>{head_of_row}{cells}<td class="members">{members}</td></tr>')
        return (
            f'<section data-types="{escape(group.types)}" data-k="{group.k}" id="{name}">'
            f"<h3>{escape(group.title)}</h3>"
            f'<table class="matrix table"><thead><tr><td></td>{head}<th scope="col">units of the class</th>'
            f"</tr></thead><tbody>{''.join(lines)}</tbody></table>{self._details(group, name, top)}</section>"
        )

    def _cell(self, group: Group, name: str, first: int, second: int) -> str:
        if first == second:
            return '<td class="same">=</td>'
        low, high = sorted((first, second))
        pair = group.pairs.get((low, high))
        if pair is None or pair.view is None:
            return '<td class="unknown" title="no verdict on the models of today">?</td>'
        text = escape(pair.record.get("cause", "") or "differ")
        link = f'<a href="#{name}-{low + 1}-{high + 1}" title="{text}">≠</a>'
        return f'<td class="differ">{link}</td>'

    def _details(self, group: Group, name: str, top: str) -> str:
        lines = []
        for pair in group.proofs:
            names = f"{escape(pair.left.name)} = {escape(pair.right.name)}"
            lines.append(_line([f"{group.class_of(pair.left) + 1}: {names}", *pair.cells(top)]))
        for low, high in combinations(range(len(group.classes)), 2):
            of_classes = group.pairs.get((low, high))
            cells = ["no verdict", "", "", "", ""] if of_classes is None else of_classes.cells(top)
            lines.append(_line([f"{low + 1} | {high + 1}", *cells], f"{name}-{low + 1}-{high + 1}"))
        return _table(("classes", *_COLUMNS), lines, "pairs")

    # --- units -----------------------------------------------------------------------------------

    def unit(self, row: Row, top: str) -> str:
        """A unit's own page. top: the way to the site's top."""
        zeros = dict.fromkeys(row.model.input_names, 0)
        href = escape(address(f"{top}{COMPUTES}", WitnessView((row,), (zeros,))))
        title = f"{escape(row.name)}, computed here"
        parts = [
            f"<h1><code>{escape(row.name)}</code></h1>",
            f"<p>{escape(row.model.title)}: {escape(arithmetic(row.model))}</p>",
            _facts(row),
            f'<h2>Try it</h2><p><a href="{href}">On a page of its own</a>, also beside another unit.</p>',
            f'<iframe class="try" src="{href}" title="{title}" loading="lazy"></iframe>',
            "<h2>Neighbours</h2>",
            *self._neighbours(row, top),
            "<h2>Parameters</h2>",
            _parameters(row),
            "<h2>On the command line</h2>",
            f"<pre>{escape(_commands(row))}</pre>",
        ]
        return '<div class="unit">' + "".join(parts) + "</div>"

    def _neighbours(self, row: Row, top: str) -> Iterator[str]:
        """The units of the same formats and K: those that are the same function, and those that differ."""
        group = self.group_of.get(row.name)
        if group is None:
            yield "<p>No other unit of the catalogue has these formats and this K.</p>"
            return
        own = group.class_of(row)
        same = [other for unit in group.classes[own] for other in unit if other is not row]
        if same:
            names = ", ".join(unit_link(other, top) for other in same)
            yield f"<p>The same function ({escape(self.domain)}): {names}.</p>"
        lines = []
        for pair in group.proofs:
            if group.class_of(pair.left) == own:
                names = f"{unit_link(pair.left, top)} = {unit_link(pair.right, top)}"
                lines.append(_line([names, *pair.cells(top)]))
        for (low, high), pair in group.pairs.items():
            if own in (low, high):
                other = group.classes[high if own == low else low][0][0]
                lines.append(_line([unit_link(other, top), *pair.cells(top)]))
        if lines:
            yield _table(("unit", *_COLUMNS), lines, "pairs")
        elif not same:
            yield "<p>No other unit of the catalogue has these formats and this K.</p>"


def _results(folder: Path) -> dict[tuple[str, str], tuple[str, ...]]:
    """Of each pair with a witness, both results, as the atlas has them."""
    atlas = json.loads(read_bytes(folder / "comparisons" / "atlas.json.xz"))
    records = [pair["record"] for group in atlas["groups"] for pair in group["pairs"] if pair["record"]]
    return {
        (record["left"], record["right"]): tuple(result["word"] for result in record.get("results", ()))
        for record in records
    }


_COLUMNS = ("verdict", "witness", "results", "cause", "certificate")


def _table(heads: Sequence[str], lines: Sequence[str], kind: str) -> str:
    head = "".join(f'<th scope="col">{name}</th>' for name in heads)
    parts = f"<thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody>"
    return f'<div class="{kind}"><table class="{kind} table">{parts}</table></div>'


def _line(cells: Sequence[str], name: str = "") -> str:
    """A line of a table; name: by which it is linked to."""
    identity = f' id="{name}"' if name else ""
    return f"<tr{identity}>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def _facts(row: Row) -> str:
    chips = {**gpus(), **{name: processor.architecture for name, processor in PROCESSORS.items()}}
    facts = {
        "architecture": row.architecture,
        "GPUs and processors": ", ".join(name for name, other in chips.items() if other == row.architecture),
        "instruction": row.instruction,
        "evidence": row.evidence,
        "data": ", ".join(row.measured),
        "source": f"{row.source} ({row.date})" if row.source else "",
        "status": status_text(row),
        "disputed by": "; ".join(f"{other.name}: {other.note}" for other in disputes(row)),
        "note": row.note,
    }
    lines = [
        f'<tr><th scope="row">{name}</th><td>{escape(text)}</td></tr>' for name, text in facts.items() if text
    ]
    return f'<table class="facts table"><tbody>{"".join(lines)}</tbody></table>'


def _parameters(row: Row) -> str:
    model = row.model
    sentences = meanings(type(model))
    lines = []
    for parameter in file_parameters(type(model)):
        value = getattr(model.parameters, parameter.name)
        text = "; ".join(part.title for part in value) if is_of_models(parameter) else toml_value(value)
        meaning = escape(sentences.get(parameter.name, ""))
        lines.append(_line([f"<code>{escape(parameter.name)}</code>", escape(text.strip('"')), meaning]))
    return _table(("parameter", "value", "meaning"), lines, "parameters")


def _commands(row: Row) -> str:
    return "\n".join(
        [
            f"tcsmt describe {row.name}",
            f'tcsmt explain {row.name} --vector "a0=1 b0=1"',
            f"tcsmt vectors {row.name} --output rows.json",
            f"tcsmt export {row.name} --as c --output unit.h",
        ]
    )
