"""The atlas, the units' pages and links to witnesses in the site show what results and models say."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import replace
from functools import cache
from html import unescape
from html.parser import HTMLParser
from importlib import import_module
from itertools import combinations
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tcsmt.interface.api.views import address
from tcsmt.matrix_units.catalogue import Row, rows
from tcsmt.surveys.units.atlas import groups
from tests.support.browser import opened, why_not
from tests.support.paths import ROOT
from tests.support.permalinks import followed

RESULTS = ROOT / "results"
#: Formats and lengths of the units that are shown in the tests that are not long.
FEW = {("f32.f16.f16.f32", 4), ("f32.f16.f16.f32", 8), ("f64.f64.f64.f64", 4), ("s32.s8.s8.s32", 16)}


@cache
def pages() -> ModuleType:
    """The documentation's module."""
    sys.path.insert(0, str(ROOT / "docs" / "_ext"))
    try:
        return import_module("atlas_pages")
    finally:
        sys.path.pop(0)


@cache
def compared(few: bool = True) -> Any:
    chosen = [group for group in groups(rows()) if not few or (group.types, group.k) in FEW]
    return pages().CompareAll([row for group in chosen for unit in group.units for row in unit.rows], RESULTS)


class Seen(HTMLParser):
    """The elements of a piece of HTML, which closes each that it opens, and its text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self._open: list[str] = []
        self.feed(html)
        assert not self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag != "br":
            self._open.append(tag)
        self.links += [value or "" for name, value in attrs if name in ("href", "src")]

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def check_atlas(all_pairs: Any, step: int) -> int:
    """Each pair has a cell and a line; its link gives both results that are recorded. Returns how many."""
    seen = Seen(all_pairs.atlas("../"))
    identities = [attributes["id"] for _, attributes in seen.elements if "id" in attributes]
    assert len(identities) == len(set(identities))
    inside = [link[1:] for link in seen.links if link.startswith("#")]
    assert set(inside) <= set(identities)
    shown = [group for group in all_pairs.groups if len(group.classes) > 1 or group.proofs]
    pairs = [pair for group in shown for pair in group.pairs.values()]
    assert len(pairs) == sum(len(list(combinations(group.classes, 2))) for group in shown)
    assert len(inside) == 2 * len(pairs)  # the matrix is symmetric
    witnesses = [link for link in seen.links if link.startswith("../page/index.html#")]
    assert len(witnesses) == len(pairs)
    by_units = {(pair.left.name, pair.right.name): pair for pair in pairs}
    for link in witnesses[::step]:
        reached = followed(link)
        pair = by_units[reached.units[0], reached.units[1]]
        assert [int(word, 16) for word in pair.results] == reached.results
        assert reached.results[0] != reached.results[1]
    return len(pairs)


def test_the_atlas() -> None:
    assert check_atlas(compared(), 5) > 30


@pytest.mark.long
def test_the_whole_atlas() -> None:
    """Every pair that the committed atlas has, and the verdicts of those that are proved equal."""
    count = check_atlas(compared(False), 1)
    atlas = json.loads(pages().read_bytes(RESULTS / "comparisons" / "atlas.json.xz"))
    assert count == sum(len(group["pairs"]) for group in atlas["groups"]) > 600
    proofs = sum(len(group["proofs"]) for group in atlas["groups"])
    assert proofs == sum(len(group.proofs) for group in compared(False).groups) > 0


def test_certificates_are_those_of_the_pair() -> None:
    """Named beside a pair of equal units, of the same models, and committed."""
    index = json.loads((RESULTS / "certificates" / "index.json").read_text())["certificates"]
    models = {entry["file"]: set(entry["models"].values()) for entry in index}
    certified = [
        (pair, entry)
        for group in compared().groups
        for pair in [*group.pairs.values(), *group.proofs]
        for entry in pair.certificates
    ]
    assert certified
    for pair, entry in certified:
        assert models[entry["file"]] == {pair.left.model.digest, pair.right.model.digest}
        assert (RESULTS / "certificates" / "statements" / entry["file"]).is_file()
        assert any(entry["file"] in cell for cell in pair.cells(""))


def check_unit(all_pairs: Any, row: Row) -> None:
    """Its page: names, parameters, links to pages that there are, a box with the unit."""
    html = all_pairs.unit(row, "../")
    seen = Seen(html)
    text = re.sub(r"\s+", " ", seen.text)
    for part in (row.name, row.source, row.note, row.evidence, *row.measured):
        assert re.sub(r"\s+", " ", part).strip() in text
    own = {f"../{pages().page_name(other)}.html" for other in all_pairs.rows.values()}
    there = [link for link in seen.links if link.startswith("../units/")]
    assert set(there) <= own
    (box,) = (attributes["src"] for tag, attributes in seen.elements if tag == "iframe")
    assert followed(box or "").units == [row.name]
    shown = dict(re.findall(r"<tr><td><code>(\w+)</code></td><td>([^<]*)</td>", html))
    for name, value in row.model.as_json().items():
        if name in shown and isinstance(value, (str, int)):
            said = unescape(shown[name])
            if isinstance(value, (bool, str)):
                assert said == (str(value).lower() if isinstance(value, bool) else value), (row.name, name)
            else:
                assert int(said, 0) == value, (row.name, name)
    assert {"a_format", "k"} <= shown.keys() or "parts" in shown or "models" in shown, shown.keys()


def test_units() -> None:
    for row in list(compared().rows.values())[::4]:
        check_unit(compared(), row)


@pytest.mark.long
def test_all_units() -> None:
    names = [pages().page_name(row) for row in compared(False).rows.values()]
    assert len(names) == len({name.lower() for name in names}) == len(list(rows()))
    for row in compared(False).rows.values():
        check_unit(compared(False), row)


def test_neighbours_are_those_of_the_atlas() -> None:
    row = next(row for row in rows("volta") if "@" not in row.instruction)
    seen = Seen(compared().unit(row, "../"))
    group = compared().group_of[row.name]
    own = group.class_of(row)
    others = [pair for places, pair in group.pairs.items() if own in places]
    witnesses = [link for link in seen.links if "&b=" in link]
    assert len(witnesses) == len(others) > 2
    same = {other.name for unit in group.classes[own] for other in unit} - {row.name}
    assert "turing/mma.m8n8k4.f32.f16.f16.f32" in same
    assert all(name in seen.text for name in same)


def test_nothing_in_the_catalogue_is_markup() -> None:
    """Names, sources and notes are text, whatever is in them."""
    row = next(iter(rows("volta")))
    row = replace(row, instruction='<b>"x', source="<script>", note="</td>&", measured=("<i>",))
    html = compared().unit(row, "../")
    assert not [tag for tag, _ in Seen(html).elements if tag in ("b", "i", "script")]
    assert "<script>" in Seen(html).text and '"' not in pages().page_name(row)


# --- witnesses in the documentation ----------------------------------------------------------------


def links_in(text: str) -> list[str]:
    """The links of a block."""
    sys.path.insert(0, str(ROOT / "docs" / "_ext"))
    try:
        module = import_module("witness_links")
    finally:
        sys.path.pop(0)
    return [address("page.html", view) for view in module.views_in(text)]


def test_what_pages_print_is_linked() -> None:
    """Each link shows the results that stand in its block; one that prints no inputs has none."""
    text = (ROOT / "docs" / "howto" / "compare.md").read_text()
    blocks = [block for block in text.split("```") if "DISTINGUISHED" in block]
    counts = []
    for block in blocks:
        links = links_in(block)
        counts.append(len(links))
        for link in links:
            reached = followed(link)
            for unit, result in zip(reached.units, reached.results, strict=True):
                assert re.search(rf"^    {re.escape(unit)}: 0x{result:0>8x} ", block, re.MULTILINE)
    assert sum(counts) >= 4 and counts.count(0) >= 1


def test_what_is_not_so_is_not_linked() -> None:
    """A result that the words do not give; a model file; a unit that the page does not have."""
    text = (ROOT / "docs" / "howto" / "compare.md").read_text()
    (block,) = (block for block in text.split("```") if "0xc4fffff4" in block)
    assert len(links_in(block)) == 1
    assert not links_in(block.replace("0xc4fffff4", "0xc4fffff5"))
    assert not links_in(block.replace("hopper/mma.m16n8k16", "hopper/mma.m16n8k17"))
    (link,) = links_in('$ tcsmt explain volta --vector "a0=1.5 b0=0x3e00" --against ampere\n')
    assert followed(link).results == [0x40100000, 0x40100000]
    assert not links_in('$ tcsmt explain mine.toml --vector "a0=1.5"\n')
    assert not links_in('$ tcsmt explain "volta+chained@8" --vector "a0=1.5"\n')


# --- in a browser ----------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.skipif(bool(why_not()), reason=why_not() or "-")
def test_filters_and_order(tmp_path: Path) -> None:
    """The atlas by formats, K and name; the table of units by its heads."""
    static = ROOT / "docs" / "_static"
    files = [(static / name).as_uri() for name in ("filters.js", "atlas.js", "units.js")]
    scripts = "".join(f'<script src="{file}"></script>' for file in files)
    names = ("unit", "architecture", "a", "b", "D", "K", "evidence", "status")
    head = "".join(f"<th>{name}</th>" for name in names)
    units = [("x/b", "10", "accepted"), ("x/a", "9", "accepted"), ("x/c", "4", "refuted")]
    lines = "".join(
        f"<tr><td>{name}</td><td>x</td><td></td><td></td><td></td><td>{k}</td><td></td><td>{status}</td></tr>"
        for name, k, status in units
    )
    table = f'<table class="units"><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table>'
    document = tmp_path / "document.html"
    body = f'{compared().atlas("../")}<div class="units">{table}</div>{scripts}'
    document.write_text(f'<!doctype html><meta charset="utf-8"><body>{body}')
    sections = "[...document.querySelectorAll('div.atlas section')]"
    shown = f"return {sections}.filter((s) => !s.hidden).map((s) => s.dataset.k)"
    choose = "const s = document.querySelectorAll('form')[0].elements[arguments[0]];" + (
        "s.value = arguments[1]; s.dispatchEvent(new Event('input'));"
    )
    order = "return [...document.querySelectorAll('table.units tbody tr')].map((r) => r.cells[0].textContent)"
    with opened() as tab:
        tab.driver.get(document.as_uri())
        every = tab.run(shown)
        assert len(every) > 2 and set(every) >= {"4", "8"}
        tab.run(choose, 2, "8")
        assert set(tab.run(shown)) == {"8"}
        tab.run(choose, 2, "")
        tab.run(choose, 1, "f32.f16.f16.f32")
        assert tab.run(shown) == ["4", "8"]
        tab.run(choose, 0, "volta")
        assert tab.run(shown) == ["4"] and "1 of " in tab.text("form output")
        tab.click("table.units th:nth-child(6) button")
        assert tab.run(order) == ["x/c", "x/a", "x/b"]  # as numbers
        tab.click("table.units th:nth-child(6) button")
        assert tab.run(order) == ["x/b", "x/a", "x/c"]
        tab.click("table.units th:nth-child(1) button")
        assert tab.run(order) == ["x/a", "x/b", "x/c"]
        hidden = "return [...document.querySelectorAll('table.units tbody tr')].map((r) => r.hidden)"
        assert tab.run(hidden) == [False, False, True]  # refuted rows are not shown at first
        assert tab.errors() == []
