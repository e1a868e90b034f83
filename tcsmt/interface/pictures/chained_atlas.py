"""The atlas of chained units as a page with filters, and as one SVG."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from html import escape

from tcsmt.matrix_units.catalogue.naming import vendors
from tcsmt.surveys.units.chained import ChainedAtlas, ChainedGroup, OnDomain, largest_equal, smallest_witness

#: Colour of a cell, by what is known of the pair.
_COLOURS = {"equal": "#3f9a6d", "somewhere": "#9fd3b6", "differs": "#e39373", "unknown": "#c8c8c8"}
_WORDS = {
    "equal": "proved equal on all words",
    "somewhere": "differ, and proved equal on a smaller domain",
    "differs": "differ; not proved equal on any domain asked",
    "unknown": "neither proved nor refuted on all words",
}
_VENDOR_COLOURS = ("#4f7f1f", "#b3361f", "#1f5fa8", "#7a4fa0", "#8a6d00", "#00727a")
_CELL, _LABEL, _TOP = 18, 330, 70


def _kind(
    atlas: ChainedAtlas, group: ChainedGroup, results: Sequence[OnDomain], first: int, second: int
) -> str:
    verdict = results[0].verdict(first, second)
    somewhere = largest_equal(results, first, second)[0] is not None or atlas.bits(group, first, second)
    return "somewhere" if verdict == "differs" and somewhere else verdict


def _vendor(group: ChainedGroup, number: int) -> str:
    """Return the vendors of a class's rows."""
    return " ".join(dict.fromkeys(vendors()[row.architecture] for row in group.units[number].rows))


def _label(group: ChainedGroup, number: int) -> str:
    unit = group.units[number]
    return unit.name + (f" (+{len(unit.rows) - 1})" if len(unit.rows) > 1 else "")


def as_chained_svg(atlas: ChainedAtlas) -> str:
    """Return the first group's table as a picture without scripts: a cell for each pair of classes."""
    group, results = atlas.groups[0], atlas.known[0]
    count = len(group.units)
    width, bottom = max(_LABEL + count * _CELL + 20, 760), _TOP + count * _CELL
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {bottom + 30 + 18 * 4}" '
            f'width="{width}" font-family="system-ui, sans-serif" font-size="11">',
            '<rect width="100%" height="100%" fill="#ffffff"/>',
            f'<text x="12" y="24" font-size="16" font-weight="600">{escape(_title(group))}</text>',
            f'<text x="12" y="42" fill="#555">{count} classes of '
            f"{sum(len(unit.rows) for unit in group.units)} instructions; each row is a class</text>",
            *_svg_cells(atlas, group, results),
            *_svg_key(bottom + 24),
            "</svg>\n",
        ]
    )


def _svg_cells(atlas: ChainedAtlas, group: ChainedGroup, results: Sequence[OnDomain]) -> Iterator[str]:
    order = list(dict.fromkeys(vendors().values()))
    for row in range(len(group.units)):
        y = _TOP + row * _CELL
        colour = _VENDOR_COLOURS[order.index(_vendor(group, row).split()[0]) % len(_VENDOR_COLOURS)]
        yield (
            f'<text x="{_LABEL - 8}" y="{y + 13}" text-anchor="end" fill="{colour}">'
            f"{escape(_label(group, row))} {row + 1}</text>"
        )
        x = _LABEL + row * _CELL
        yield f'<text x="{x + _CELL / 2}" y="{_TOP - 6}" text-anchor="middle" fill="#555">{row + 1}</text>'
        for column in range(len(group.units)):
            first, second = min(row, column), max(row, column)
            kind = "self" if first == second else _kind(atlas, group, results, first, second)
            fill = _COLOURS.get(kind, "#e8e8e8")
            text = _label(group, row) if first == second else f"{first + 1} | {second + 1}: {_WORDS[kind]}"
            yield (
                f'<rect x="{_LABEL + column * _CELL + 1}" y="{y + 1}" width="{_CELL - 2}" '
                f'height="{_CELL - 2}" rx="3" fill="{fill}"><title>{escape(text)}</title></rect>'
            )


def _svg_key(top: int) -> Iterator[str]:
    for number, (kind, words) in enumerate(_WORDS.items()):
        y = top + 18 * number
        yield f'<rect x="12" y="{y - 10}" width="12" height="12" rx="2" fill="{_COLOURS[kind]}"/>'
        yield f'<text x="30" y="{y}">{words}</text>'


def _title(group: ChainedGroup) -> str:
    d, a, b, c = group.types.split(".")
    operands = f"A and B in {a}" if a == b else f"A in {a}, B in {b}"
    return f"{operands}, C in {c}, D in {d}, over {group.k} products"


_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>tcsmt atlas of chained units</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ margin: 1rem; font-family: system-ui, sans-serif; }}
p, li {{ max-width: 70rem; }}
.wide {{ overflow: auto hidden; padding-bottom: 4px; }}
label {{ white-space: nowrap; }}
table {{ border-collapse: collapse; font-size: small; }}
th {{ font-weight: normal; text-align: left; white-space: nowrap; padding: 0 8px; }}
td {{ width: 1.7em; height: 1.7em; padding: 0; border: 1px solid Canvas; }}
td.exact, th.exact {{ width: auto; padding: 0 8px; white-space: nowrap; }}
td button {{ width: 100%; height: 100%; border: 0; padding: 0; cursor: pointer; }}
td button[aria-pressed=true] {{ outline: 3px solid CanvasText; }}
{colours}
.self {{ background: color-mix(in srgb, CanvasText 12%, Canvas); }}
.key {{ display: inline-block; margin-bottom: .2em; padding: 0 .5em; color: #000; }}
@media (max-width: 40rem) {{
  tbody th {{ max-width: 9rem; overflow: hidden; text-overflow: ellipsis; }}
}}
td.faded {{ opacity: .12; }}
fieldset {{ display: inline-block; border: 1px solid color-mix(in srgb, CanvasText 30%, Canvas); }}
#shown {{ position: sticky; bottom: 0; background: Canvas; border-top: 2px solid CanvasText;
  padding: .5rem 0; overflow-wrap: anywhere; max-height: 45vh; overflow-y: auto; }}
</style>
<h1>Which units compute the same dot product?</h1>
<p>Each table holds the units that take the same formats, over dot products of the same length: a smaller
unit is chained as a kernel does it. Instructions whose chains are the same graph share a row. Click a cell
for the smallest known input on which two units differ, and the largest simple domain on which they are
proved equal. The last column says up to which size a unit sums integers exactly: if a, b and c are integers
and |c| + Σ |a·b| is below it, the result is the exact sum, whatever the order, the length and the kernel; so
all units agree there.</p>
<p>{key}</p>
<form id="filters">{filters}</form>
{body}
<div id="shown" aria-live="polite">Click a cell.</div>
<script type="application/json" id="details">{details}</script>
<script>
const details = JSON.parse(document.getElementById("details").textContent);
const form = document.getElementById("filters"), shown = document.getElementById("shown");
const chosen = name => [...form.querySelectorAll(`input[name=${{name}}]:checked`)].map(box => box.value);
function has(element, name, values) {{
  return element.dataset[name].split("|").some(value => values.includes(value));
}}
function filter() {{
  const types = chosen("types"), vendors = chosen("vendor"), evidence = chosen("evidence");
  const kinds = chosen("kind");
  for (const section of document.querySelectorAll("section")) {{
    section.hidden = !types.includes(section.dataset.types);
    const heads = [...section.querySelectorAll("tbody th")];
    const kept = heads.map(head => has(head, "vendor", vendors) && has(head, "evidence", evidence));
    section.querySelectorAll("tr").forEach((row, i) => {{
      if (i) row.hidden = !kept[i - 1];
      [...row.cells].forEach((cell, j) => {{
        if (j && j <= kept.length) cell.hidden = !kept[j - 1];
        if (cell.dataset.kind) cell.classList.toggle("faded", !kinds.includes(cell.dataset.kind));
      }});
    }});
  }}
}}
form.addEventListener("change", filter);
let pressed = null;
document.addEventListener("click", event => {{
  const button = event.target.closest("button[data-pair]");
  if (!button) return;
  if (pressed) pressed.setAttribute("aria-pressed", "false");
  pressed = button;
  button.setAttribute("aria-pressed", "true");
  shown.replaceChildren(...details[button.dataset.pair].map((text, i) => {{
    const line = document.createElement(i ? "p" : "h3");
    line.textContent = text;
    return line;
  }}));
}});
</script>
</html>
"""


def as_chained_page(atlas: ChainedAtlas) -> str:
    """All groups as an HTML document that stands alone, with filters."""
    details: dict[str, list[str]] = {}
    body = []
    for place, (group, results) in enumerate(zip(atlas.groups, atlas.known, strict=True)):
        body.append(_table(atlas, group, results, f"g{place}"))
        count = len(group.units)
        details |= {
            f"g{place}-{number}-{two}": list(_detail(atlas, group, results, number, two))
            for number in range(count)
            for two in range(number + 1, count)
        }
    rows = [row for group in atlas.groups for unit in group.units for row in unit.rows]
    filters = [
        _boxes("types", "formats", {group.types: group.types for group in atlas.groups}),
        _boxes("vendor", "vendor", {v: v for v in dict.fromkeys(vendors()[r.architecture] for r in rows)}),
        _boxes("evidence", "evidence", {e: e for e in dict.fromkeys(r.evidence for r in rows)}),
        _boxes("kind", "verdict", {"equal": "equal", "somewhere": "equal on a smaller domain",
                                   "differs": "differs", "unknown": "unknown"}),
    ]  # fmt: skip
    return _PAGE.format(
        colours="\n".join(
            f".{kind}, .{kind} button {{ background: {colour}; }}" for kind, colour in _COLOURS.items()
        ),
        key=" ".join(f'<span class="key {kind}">{words}</span>' for kind, words in _WORDS.items()),
        filters="\n".join(filters),
        body="\n".join(body),
        details=json.dumps(details, ensure_ascii=False).replace("</", "<\\/"),
    )


def _boxes(name: str, title: str, values: dict[str, str]) -> str:
    boxes = [
        f'<label><input type="checkbox" name="{name}" value="{escape(value)}" checked> {escape(text)}</label>'
        for value, text in values.items()
    ]
    return f"<fieldset><legend>{title}</legend>{' '.join(boxes)}</fieldset>"


def _table(atlas: ChainedAtlas, group: ChainedGroup, results: Sequence[OnDomain], prefix: str) -> str:
    count = len(group.units)
    lines = []
    for row, unit in enumerate(group.units):
        makers = "|".join(dict.fromkeys(vendors()[r.architecture] for r in unit.rows))
        evidence = "|".join(dict.fromkeys(r.evidence for r in unit.rows))
        names = ", ".join(f"{r.name} ({r.evidence})" for r in unit.rows)
        head = (
            f'<th data-vendor="{escape(makers)}" data-evidence="{escape(evidence)}" '
            f'title="{escape(names)}">{row + 1}: {escape(_label(group, row))}</th>'
        )
        cells = []
        for column in range(count):
            first, second = min(row, column), max(row, column)
            if first == second:
                cells.append('<td class="self"></td>')
                continue
            kind = _kind(atlas, group, results, first, second)
            about = (
                f'data-pair="{prefix}-{first}-{second}" title="{first + 1} | {second + 1}: {_WORDS[kind]}"'
            )
            cells.append(
                f'<td class="{kind}" data-kind="{kind}"><button {about} aria-pressed="false"></button></td>'
            )
        cells.append(_exact_cell(atlas, group, row))
        lines.append(f"<tr>{head}{''.join(cells)}</tr>")
    numbers = "".join(f"<th>{number + 1}</th>" for number in range(count))
    numbers += '<th class="exact">exact below</th>' if atlas.integers else ""
    out = "".join(f"<li>{escape(row.name)}: {escape(why)}</li>" for row, why in group.left_out)
    more = (
        f"<details><summary>{len(group.left_out)} left out</summary><ul>{out}</ul></details>" if out else ""
    )
    return (
        f'<section data-types="{group.types}"><h2>{escape(_title(group))}</h2><div class="wide"><table>'
        f"<thead><tr><th></th>{numbers}</tr></thead>\n<tbody>{chr(10).join(lines)}</tbody></table></div>"
        f"{more}</section>"
    )


def _exact_cell(atlas: ChainedAtlas, group: ChainedGroup, number: int) -> str:
    """Return how far a class is proved to sum integers exactly, and the smallest sum known that it does
    not.
    """
    record = atlas.integers.get(group.units[number].name)
    if record is None:
        return '<td class="exact"></td>' if atlas.integers else ""
    bits, beyond = record["bits"], record.get("beyond")
    texts = [
        f"proved: integers with |c| + Σ |a·b| below 2^{bits} are summed exactly" if bits else "not proved"
    ]
    if beyond is not None:
        words = ", ".join(f"{name} = {value['decimal']}" for name, value in beyond["inputs"].items())
        texts.append(f"not exact: {words} gives {beyond['result']['decimal']}")
    text = f"2<sup>{bits}</sup>" if bits else "not proved" if beyond is None or beyond["size"] > 1 else "1"
    return f'<td class="exact" title="{escape("; ".join(texts))}">{text}</td>'


def _detail(
    atlas: ChainedAtlas, group: ChainedGroup, results: Sequence[OnDomain], first: int, second: int
) -> Iterator[str]:
    yield f"{group.units[first].name} against {group.units[second].name}"
    witness = smallest_witness(group, results, first, second)
    if witness is not None:
        values, *words = witness
        used = [
            f"{name} = {group.formats[name].hex(word)} ({group.formats[name].describe(word)})"
            for name, word in values.items()
            if word
        ]
        yield f"They differ at {', '.join(used) or 'all inputs zero'}; other inputs are zero."
        for unit, word in zip((group.units[first], group.units[second]), words, strict=True):
            result = unit.rows[0].model.d_format
            yield f"{unit.name} gives {result.hex(word)} ({result.describe(word)})."
    equal, unknown = largest_equal(results, first, second)
    if equal is not None:
        yield f"Proved equal on: {equal.domain}."
    bits = atlas.bits(group, first, second)
    if bits:
        yield (
            "Proved to give the same number, a zero of either sign, on: "
            f"integers a, b, c with |c| + Σ |a·b| below 2^{bits}, for any K."
        )
    if unknown:
        yield f"Neither proved nor refuted on: {'; '.join(str(here.domain) for here in unknown)}."
