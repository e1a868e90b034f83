"""An atlas as a text table, and as one HTML page: a heat map whose cells show their witness."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterator, Sequence
from html import escape
from itertools import combinations
from typing import Any

from tcsmt.interface.pictures.build import draw
from tcsmt.interface.pictures.drawing import compared
from tcsmt.interface.pictures.svg import as_svg
from tcsmt.surveys.units.atlas import Atlas, Group
from tcsmt.surveys.units.model_pairs import DistinctUnit, proved_by


def as_table(atlas: Atlas) -> str:
    """Classes of equal units, and the smallest witness for each pair of classes."""
    return "\n".join(line for group in atlas.groups for line in _lines(atlas, group)) + "\n"


def _lines(atlas: Atlas, group: Group) -> Iterator[str]:
    yield f"{group.title} ({atlas.where})"
    classes = atlas.classes(group)
    for number, units in enumerate(classes, 1):
        yield f"  {number}: {', '.join(row.name for unit in units for row in unit.rows)}"
        for first, second in combinations(units, 2):
            record = atlas.record(first, second)
            if record is not None and record["verdict"] == "equivalent":
                yield f"     {first.name} = {second.name}: {_summary(record)}"
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
            return f"proved equal, {proved_by(record)}, {record['seconds']:.2f} s"
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
p, summary, li {{ max-width: 70rem; }}
table {{ border-collapse: collapse; font-size: small; }}
.wide {{ overflow-x: auto; }}
th {{ text-align: left; font-weight: normal; padding: 2px 8px; white-space: nowrap; }}
@media (max-width: 50rem) {{ th[title] {{ white-space: normal; overflow-wrap: anywhere; min-width: 9rem; }} }}
td {{ width: 2.6em; height: 1.8em; padding: 0; border: 1px solid Canvas; }}
td button {{ width: 100%; height: 100%; border: 0; cursor: pointer; font: inherit; color: #000; }}
td button[aria-pressed=true] {{ outline: 3px solid CanvasText; }}
.key {{ padding: 0 .5em; color: #000; }}
.equal, .equal button {{ background: #7fc8a0; }} .unknown, .unknown button {{ background: #c8c8c8; }}
.n1, .n1 button {{ background: #f6c7b0; }} .n2, .n2 button {{ background: #f0a080; }}
.n3, .n3 button {{ background: #d97757; }}
.self {{ background: color-mix(in srgb, CanvasText 12%, Canvas); }}
details {{ margin: .3rem 0; font-size: small; overflow-wrap: anywhere; }}
#panel {{ position: sticky; bottom: 0; background: Canvas; border-top: 2px solid CanvasText; }}
#panel > button {{ position: absolute; right: 1.5rem; top: .5rem; font: inherit; }}
#shown {{ max-height: 60vh; overflow: auto; padding: .5rem 0; }}
pre {{ white-space: pre-wrap; }}
</style>
<h1>Which units are the same?</h1>
<p>Each table holds the units with the same formats and the same K. A cell compares two of them on {domain}.
Click it to see the proof, or an input on which they differ, drawn bit by bit.</p>
<p><span class="key equal">=</span> proved equal: they differ on no input.
<span class="key n1">3</span> <span class="key n2">5</span> <span class="key n3">7</span> different: the
number says how many of the inputs a, b and c are not zero in the smallest known example.
<span class="key unknown">?</span> neither proved nor refuted.
Units with the same number in front are equal. A name with @ is a published statement about that unit
which data or proofs refute, or which is still open.</p>
{alone}
{body}
<div id="panel"><button hidden>close</button>
<div id="shown" aria-live="polite">Click a cell.</div></div>
<script type="application/gzip+base64" id="details">{details}</script>
<script>
const shown = document.getElementById("shown"), close = document.querySelector("#panel > button");
let pressed = null;
// what cells show: JSON, a text for each cell, compressed
const details = (async () => {{
  const packed = Uint8Array.from(atob(document.getElementById("details").textContent), c => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}})();
function press(button) {{
  if (pressed) pressed.setAttribute("aria-pressed", "false");
  pressed = button;
  if (button) button.setAttribute("aria-pressed", "true");
  close.hidden = !button;
}}
document.addEventListener("click", async event => {{
  const button = event.target.closest("button[data-pair]");
  if (!button) return;
  press(button);
  shown.innerHTML = (await details)[button.dataset.pair];
  shown.scrollTop = 0;
}});
close.addEventListener("click", () => {{ press(null); shown.textContent = "Click a cell."; }});
</script>
</html>
"""


def as_page(atlas: Atlas) -> str:
    """Return the atlas as an HTML document that stands alone; a cell's picture is unpacked when it is
    clicked.
    """
    body: list[str] = []
    details: dict[str, str] = {}
    several = [group for group in atlas.groups if len(group.units) > 1]
    for place, group in enumerate(several):
        table, shown = _heat(atlas, group, f"g{place}")
        body.append(table)
        details |= shown
    packed = gzip.compress(json.dumps(details, ensure_ascii=False).encode(), mtime=0)
    alone = [group for group in atlas.groups if len(group.units) == 1]
    return _PAGE.format(
        domain=escape(atlas.where),
        alone=_alone(alone) if alone else "",
        body="\n".join(body),
        details=base64.b64encode(packed).decode(),
    )


def _alone(groups: Sequence[Group]) -> str:
    """Units that no other one can be compared with."""
    items = [f"<li>{_title(group)}: {escape(_names(group.units[0]))}</li>" for group in groups]
    head = f"{len(groups)} kinds of instructions have no table here: the catalogue has one unit of each"
    return f"<details><summary>{head}</summary><ul>{''.join(items)}</ul></details>"


def _names(unit: DistinctUnit) -> str:
    return ", ".join(row.name for row in unit.rows)


def _title(group: Group) -> str:
    """Formats and K in words."""
    d, a, b, c, *scales = group.types.split(".")
    operands = f"A and B in {a}" if a == b else f"A in {a}, B in {b}"
    scaled = f", block scales in {scales[0].rpartition('x')[0]}" if scales else ""
    return escape(f"{operands}, C in {c}, D in {d}{scaled}, K = {group.k}")


def _heat(atlas: Atlas, group: Group, prefix: str) -> tuple[str, dict[str, str]]:
    """A group's table, and what each of its cells shows, by the cell's name."""
    classes = atlas.classes(group)
    order = [unit for units in classes for unit in units]
    number = {unit: n for n, units in enumerate(classes, 1) for unit in units}
    head = "".join(f"<th>{number[unit]}</th>" for unit in order)
    rows, details = [], {}
    for i, first in enumerate(order):
        cells = []
        for j, two in enumerate(order):
            if i == j:
                cells.append('<td class="self"></td>')
                continue
            record = atlas.record(first, two) or atlas.record(two, first)
            name = f"{prefix}-{min(i, j)}-{max(i, j)}"
            cells.append(_cell(record, name, f"{first.name} against {two.name}"))
            if i < j:
                details[name] = _detail(record, first, two)
        label = f"{number[first]}: {first.name}" + (
            f" (+{len(first.rows) - 1})" if len(first.rows) > 1 else ""
        )
        rows.append(f'<tr><th title="{escape(_names(first))}">{escape(label)}</th>{"".join(cells)}</tr>')
    same = [unit for unit in order if len(unit.rows) > 1]
    members = "".join(f"<li>{number[unit]}: {escape(_names(unit))}</li>" for unit in same)
    summary = "<summary>all instructions of each unit</summary>"
    more = f"<details>{summary}<ul>{members}</ul></details>" if same else ""
    table = f"<table><tr><th></th>{head}</tr>\n{chr(10).join(rows)}\n</table>"
    return f'<h2>{_title(group)}</h2>\n<div class="wide">{table}</div>\n{more}', details


def _cell(record: dict[str, Any] | None, name: str, pair: str) -> str:
    kind, text, says = "unknown", "?", "unknown"
    if record is not None and record["verdict"] == "equivalent":
        kind, text, says = "equal", "=", "equal"
    elif record is not None and record["verdict"] == "distinguished":
        used = sum(int(v["word"], 16) != 0 for v in record["inputs"].values())
        kind, text = f"n{1 if used <= 3 else 2 if used <= 5 else 3}", str(used)
        says = f"different, {used} inputs"
    about = f'data-pair="{name}" title="{escape(f"{pair}: {says}")}" aria-pressed="false"'
    return f'<td class="{kind}"><button {about}>{text}</button></td>'


def _detail(record: dict[str, Any] | None, first: DistinctUnit, second: DistinctUnit) -> str:
    title = f"<h3>{escape(first.name)} against {escape(second.name)}</h3><p>{escape(_summary(record))}</p>"
    if record is None or record["verdict"] == "unknown":
        return title
    if record["verdict"] == "equivalent":
        steps = [f"{s['what']}: {s['how']} {s['solver']} {s['version']}" for s in record["steps"]]
        return title + "<ol>" + "".join(f"<li>{escape(step)}</li>" for step in steps) + "</ol>"
    if record["cause"]:
        title += f"<p>{escape(record['cause'])}</p>"
    values = {name: int(value["word"], 16) for name, value in record["inputs"].items()}
    return title + _svg([first, second], values, record)


def _svg(units: Sequence[DistinctUnit], values: dict[str, int], record: dict[str, Any]) -> str:
    first, second = (draw(unit.name, unit.model, values) for unit in units)
    parting = record["first_difference"]
    stage = parting["stage"] if parting else ""
    return as_svg(
        compared(first, second, stage, f"they first differ at '{stage}'" if stage else "the results differ")
    )
