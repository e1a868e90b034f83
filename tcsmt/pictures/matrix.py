"""An atlas as a text table, and as one HTML page: a heat map whose cells show their witness."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from itertools import combinations
from typing import Any

from tcsmt.atlas import Atlas, Group
from tcsmt.pairs import Unit
from tcsmt.pictures.build import draw
from tcsmt.pictures.sheet import compared
from tcsmt.pictures.svg import as_svg

__all__ = ["as_page", "as_table"]


def as_table(atlas: Atlas) -> str:
    """Classes of equal units, and the smallest witness for each pair of classes."""
    return "\n".join(line for group in atlas.groups for line in _lines(atlas, group)) + "\n"


def _lines(atlas: Atlas, group: Group) -> Iterator[str]:
    yield f"{group.title} ({atlas.domain})"
    classes = atlas.classes(group)
    for number, units in enumerate(classes, 1):
        yield f"  {number}: {', '.join(row.name for unit in units for row in unit.rows)}"
        for one, two in combinations(units, 2):
            record = atlas.record(one, two)
            if record is not None and record["verdict"] == "equivalent":
                yield f"     {one.name} = {two.name}: {_summary(record)}"
    for i, j in combinations(range(len(classes)), 2):
        record = atlas.between(classes[i], classes[j])
        yield f"  {i + 1} | {j + 1}: {_summary(record)}"
    yield ""


def _summary(record: dict[str, Any] | None) -> str:
    if record is None:
        return "not asked yet"
    match record["verdict"]:
        case "distinguished":
            used = [f"{n}={v['word']}" for n, v in record["inputs"].items() if int(v["word"], 16)]
            results = " | ".join(r["word"] for r in record["results"])
            return f"{' '.join(used) or 'all zero'} -> {results}"
        case "equivalent":
            by = f"{record['solver']} {record['version']}" if record["solver"] else "same graph"
            second = f", confirmed by {record['confirmed']}" if record["confirmed"] else ""
            return f"proved equal, {by}{second}, {record['seconds']:.2f} s"
        case _:
            return f"unknown: {record['reason']}"


_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>tcsmt atlas</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ margin: 1rem; font-family: system-ui, sans-serif; }}
table {{ border-collapse: collapse; font-size: small; }}
th {{ text-align: left; font-weight: normal; padding: 2px 8px; white-space: nowrap; }}
td {{ width: 2.6em; height: 1.8em; padding: 0; border: 1px solid Canvas; }}
td button {{ width: 100%; height: 100%; border: 0; cursor: pointer; font: inherit; color: #000; }}
.equal button {{ background: #7fc8a0; }} .unknown button {{ background: #c8c8c8; }}
.n1 button {{ background: #f6c7b0; }} .n2 button {{ background: #f0a080; }}
.n3 button {{ background: #d97757; }}
.self {{ background: color-mix(in srgb, CanvasText 12%, Canvas); }}
#shown {{ position: sticky; bottom: 0; max-height: 60vh; overflow: auto; background: Canvas;
  border-top: 2px solid CanvasText; padding: .5rem 0; }}
pre {{ white-space: pre-wrap; }}
</style>
<h1>Which units are the same?</h1>
<p>Domain: {domain}. Green: proved equal; the darker, the more inputs the witness needs; grey: unknown.
Click a cell for its witness or proof.</p>
{body}
<div id="shown" aria-live="polite">Nothing chosen.</div>
{templates}
<script>
document.addEventListener("click", event => {{
  const button = event.target.closest("button[data-pair]");
  if (!button) return;
  const shown = document.getElementById("shown");
  shown.replaceChildren(document.getElementById(button.dataset.pair).content.cloneNode(true));
}});
</script>
</html>
"""


def as_page(atlas: Atlas) -> str:
    """The atlas as an HTML document that stands alone."""
    body, templates = [], []
    for place, group in enumerate(g for g in atlas.groups if len(g.units) > 1):
        table, details = _heat(atlas, group, f"g{place}")
        body.append(table)
        templates += details
    return _PAGE.format(
        domain=escape(str(atlas.domain)), body="\n".join(body), templates="\n".join(templates)
    )


def _heat(atlas: Atlas, group: Group, prefix: str) -> tuple[str, list[str]]:
    classes = atlas.classes(group)
    order = [unit for units in classes for unit in units]
    number = {unit: n for n, units in enumerate(classes, 1) for unit in units}
    head = "".join(f"<th>{number[unit]}</th>" for unit in order)
    rows, details = [], []
    for i, one in enumerate(order):
        cells = []
        for j, two in enumerate(order):
            if i == j:
                cells.append('<td class="self"></td>')
                continue
            record = atlas.record(one, two) or atlas.record(two, one)
            name = f"{prefix}-{min(i, j)}-{max(i, j)}"
            cells.append(_cell(record, name))
            if i < j:
                details.append(f'<template id="{name}">{_detail(record, one, two)}</template>')
        names = ", ".join(row.name for row in one.rows)
        label = f"{number[one]}: {one.name}" + (f" (+{len(one.rows) - 1})" if len(one.rows) > 1 else "")
        rows.append(f'<tr><th title="{escape(names)}">{escape(label)}</th>{"".join(cells)}</tr>')
    table = f"<h2>{escape(group.title)}</h2>\n<table><tr><th></th>{head}</tr>\n{chr(10).join(rows)}\n</table>"
    return table, details


def _cell(record: dict[str, Any] | None, name: str) -> str:
    kind, text = "unknown", "?"
    if record is not None and record["verdict"] == "equivalent":
        kind, text = "equal", "="
    elif record is not None and record["verdict"] == "distinguished":
        used = sum(int(v["word"], 16) != 0 for v in record["inputs"].values())
        kind, text = f"n{1 if used <= 3 else 2 if used <= 5 else 3}", str(used)
    return f'<td class="{kind}"><button data-pair="{name}">{text}</button></td>'


def _detail(record: dict[str, Any] | None, one: Unit, two: Unit) -> str:
    title = f"<h3>{escape(one.name)} | {escape(two.name)}</h3><p>{escape(_summary(record))}</p>"
    if record is None or record["verdict"] == "unknown":
        return title
    if record["verdict"] == "equivalent":
        steps = [f"{s['what']}: {s['how']} {s['solver']} {s['version']}" for s in record["steps"]]
        return title + "<ol>" + "".join(f"<li>{escape(step)}</li>" for step in steps) + "</ol>"
    values = {name: int(value["word"], 16) for name, value in record["inputs"].items()}
    return title + _svg([one, two], values, record)


def _svg(units: Sequence[Unit], values: dict[str, int], record: dict[str, Any]) -> str:
    one, two = (draw(unit.name, unit.model, values) for unit in units)
    parting = record["parts_at"]
    stage = parting["stage"] if parting else ""
    return as_svg(compared(one, two, stage, f"they part at '{stage}'" if stage else "the results differ"))
