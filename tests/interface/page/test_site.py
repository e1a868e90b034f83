"""The page in headless Chromium, opened as a file: what it computes is what the evaluator computes."""

from __future__ import annotations

import base64
import json
import lzma
import random
import re
import shutil
import zlib
from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import parse_qs

import numpy as np
import pytest

import tcsmt
from tcsmt.interface.api.page import Page
from tcsmt.interface.api.units import side_of
from tcsmt.interface.api.views import WitnessView
from tcsmt.interface.page.site import first_view, index_of, known_pairs, modules_of
from tcsmt.interface.pictures.build import draw
from tcsmt.interface.pictures.drawing import BitGrid, BitRow
from tcsmt.interop.exports.webassembly import module_of
from tcsmt.language.run.arrays import Program, storage
from tcsmt.language.run.exact import evaluate
from tcsmt.matrix_units.arithmetic.formats import FORMATS, INTEGERS
from tcsmt.matrix_units.arithmetic.words import to_word
from tcsmt.matrix_units.catalogue import Row, row_named, rows
from tcsmt.matrix_units.models import Model
from tcsmt.prove.engine.boundary_inputs import rows as directed_rows
from tcsmt.prove.statements.explain import first_difference, steps
from tcsmt.support.errors import TcsmtError
from tests.support.browser import Tab, opened, run_in_firefox, take_pictures, why_no_firefox, why_not
from tests.support.number_texts import cases
from tests.support.paths import ROOT

pytestmark = pytest.mark.skipif(bool(why_not()), reason=why_not())

A, B = "ampere/mma.m16n8k16.f32.f16.f16.f32", "hopper/mma.m16n8k16.f32.f16.f16.f32"
SAME = "hopper/wgmma.m64nNk16.f32.f16.f16"
SCALED = "blackwell/tcgen05.mMnNk64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3"
WIDE = "hopper/mma.m16n8k16.f32.bf16.bf16.f32"
KERNEL = "volta/mma.m8n8k4.f32.f16.f16.f32+split-k:2@8"
#: An input on which A and B differ: a0 = -256, b0 = 8, c = 0x1.9p-10.
WITNESS = "dc00" + ",0" * 15 + ",4800" + ",0" * 15 + ",3ac80000"


def spread() -> list[Row]:
    """Twenty units that are no variants of one another: of each pair of formats and architectures few."""
    kinds: dict[tuple[object, ...], Row] = {}
    for row in rows(claims=False):
        m = row.model
        kinds.setdefault((m.kind, m.a_format.name, m.d_format.name, m.scale_format, row.architecture), row)
    chosen = list(kinds.values())
    return chosen[:: len(chosen) // 20][:20]


UNITS = [A, B, SAME, KERNEL, WIDE, SCALED, "volta", *(row.name for row in spread())]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Page:
    return tcsmt.page(tmp_path_factory.mktemp("page"), UNITS, results=ROOT / "results")


@pytest.fixture(scope="module")
def browser() -> Iterator[Tab]:
    with opened() as tab:
        yield tab


@pytest.fixture
def tab(browser: Tab, page: Page) -> Iterator[Tab]:
    browser.errors()
    browser.open(page.path)
    yield browser
    assert browser.errors() == []


def link(a: str, b: str = "", words: str = "") -> str:
    return f"#v=1&a={a}" + (f"&b={b}" if b else "") + (f"&w={words}" if words else "")


def drawn_rows(model: Model, count: int, seed: int) -> list[list[int]]:
    """Rows of the search's kind, and rows of any words, which have NaNs and infinities."""
    rng = np.random.default_rng(seed)
    formats = model.input_formats
    directed = directed_rows(formats, count // 2, rng)
    free = [
        rng.integers(0, (1 << fmt.width) - 1, count - count // 2, dtype=np.uint64, endpoint=True)
        for fmt in formats.values()
    ]
    return [
        *([int(column[i]) for column in directed.values()] for i in range(count // 2)),
        *([int(column[i]) for column in free] for i in range(count - count // 2)),
    ]


def expected(model: Model, rows_of_words: list[list[int]]) -> list[str]:
    columns = zip(model.input_formats.items(), zip(*rows_of_words, strict=True), strict=True)
    arrays = {name: np.array(column, storage(fmt.width)) for (name, fmt), column in columns}
    (words,) = Program([model.trace.output]).run(arrays)
    return [f"{int(word):x}" for word in words]


def hex_rows(rows_of_words: list[list[int]]) -> list[str]:
    return [",".join(f"{word:x}" for word in row) for row in rows_of_words]


#: Of rows in hexadecimal, the results and, of some, every stage's text.
COMPUTED = """
const [name, rows, staged] = arguments;
return unitOf(INDEX.units.get(name)).then((unit) => {
  const read = (row) => row.split(",").map((word) => BigInt("0x" + word));
  const results = rows.map((row) => unit.result(read(row)).toString(16));
  const stages = rows.slice(0, staged).map((row) => stagesOf(unit, read(row)).map((stage) => stage.text));
  const sums = rows.slice(0, staged).map((row) => {
    const sum = exactSum(unit, read(row));
    return sum && [sum.numerator.toString(16), sum.exponent];
  });
  return { results, stages, sums };
});
"""


@pytest.mark.parametrize("row", [*spread(), side_of(KERNEL).row], ids=lambda row: row.name)
@pytest.mark.slow_cases("turing/mma.m8n8k32.s32.u4.s4.s32", "volta/mma.m8n8k4.f32.f16.f16.f32")
def test_a_thousand_rows_of_each_of_twenty_units(row: Row, browser: Tab, page: Page) -> None:
    """Results, the texts of stages, and the exact sum: against the evaluator and fractions."""
    if not browser.run("return location.protocol === 'file:' && typeof INDEX === 'object'"):
        browser.open(page.path)
    model = row.model
    drawn = drawn_rows(model, 1000, seed=sum(map(ord, row.name)))
    random.Random(1).shuffle(drawn)
    computed = browser.run(COMPUTED, row.name, hex_rows(drawn), 6)
    assert computed["results"] == expected(model, drawn)
    assert len(computed["results"]) == 1000
    for words, texts, total in zip(drawn, computed["stages"], computed["sums"], strict=False):
        values = dict(zip(model.input_names, words, strict=True))
        assert texts == [step.text for step in steps(model.trace, values)]
        sum_of_products = exact_sum_by_fractions(model, values)
        if sum_of_products is None:
            assert total is None
        else:
            assert int(total[0], 16) * Fraction(2) ** total[1] == sum_of_products


@pytest.mark.long
def test_every_model_of_the_catalogue_in_chromium(browser: Tab, tmp_path: Path) -> None:
    """40 rows of each: results against the evaluator, the texts of stages of one of them."""
    models = {row.model.digest: row for row in rows(claims=True)}
    names = [row.name for row in models.values()]
    browser.open(tcsmt.page(tmp_path / "whole", names).path)
    for row in models.values():
        drawn = drawn_rows(row.model, 40, seed=sum(map(ord, row.name)))
        computed = browser.run(COMPUTED, row.name, hex_rows(drawn), 1)
        assert computed["results"] == expected(row.model, drawn), row.name
        values = dict(zip(row.model.input_names, drawn[0], strict=True))
        assert computed["stages"] == [[step.text for step in steps(row.model.trace, values)]], row.name
    assert browser.errors() == []


def exact_sum_by_fractions(model: Model, values: dict[str, int]) -> Fraction | None:
    formats = model.input_formats
    if any(fmt.is_special(values[name]) for name, fmt in formats.items()):
        return None
    value = {name: fmt.value(values[name]) for name, fmt in formats.items()}
    total = value["c"]
    for lane in range(model.k):
        product = value[f"a{lane}"] * value[f"b{lane}"]
        if model.scales:
            block = lane // (model.k // model.scales)
            product *= value[f"sa{block}"] * value[f"sb{block}"]
        total += product
    return total


@pytest.mark.slow
def test_first_differences_are_those_of_compare(tab: Tab) -> None:
    """Stages of units of other blocks, too: A sums in two blocks, B in one."""
    models = [tcsmt.unit(name).model for name in (A, B)]
    drawn = drawn_rows(models[0], 60, seed=5)
    script = """
    const [names, rows] = arguments;
    const loading = names.map((name) => unitOf(INDEX.units.get(name)));
    return Promise.all(loading).then(([left, right]) => rows.map((row) => {
      const words = row.split(",").map((word) => BigInt("0x" + word));
      const stages = [stagesOf(left, words), stagesOf(right, words)];
      const paired = pairedStages(...stages);
      const listed = (side) => paired.map((pair) => pair[side]).filter(Boolean);
      const kept = [0, 1].every((side) => listed(side).length === stages[side].length);
      const pair = firstDifference(...stages);
      return [kept, pair && pair.map((stage) => stage.name)];
    }));
    """
    computed = tab.run(script, [A, B], hex_rows(drawn))
    differing = 0
    for words, (kept, pair) in zip(drawn, computed, strict=True):
        assert kept  # every stage of both is in the table once
        values = dict(zip(models[0].input_names, words, strict=True))
        there = first_difference(*(steps(model.trace, values) for model in models))
        assert pair == (there and [step.name for step in there])
        differing += there is not None
    assert differing > 5


#: Of rows, each grid's largest exponent, last bit, and its lines: label, sign, and the 1 bits by fate.
DRAWN = """
const [name, rows] = arguments;
return unitOf(INDEX.units.get(name)).then((unit) => rows.map((row) => {
  const stages = stagesOf(unit, row.split(",").map((word) => BigInt("0x" + word)));
  return panelsOf(unit, stages).filter(({ grid }) => grid).map(({ grid: { top, last, rows } }) => {
    const ones = (cells) => cells.filter(({ bit }) => bit);
    const bits = (cells) => ones(cells).map(({ weight, fate }) => `${weight} ${fate}`).sort();
    return [top, last, rows.map(({ label, negative, cells }) => [label, negative, bits(cells)])];
  });
}));
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "row", [side_of(name).row for name in (A, B, KERNEL, SCALED)], ids=lambda row: row.name
)
def test_pictures_are_those_of_explain(row: Row, tab: Tab) -> None:
    """The same bits with the same fates, where a block has a grid and not all of its terms are zero."""
    drawn = drawn_rows(row.model, 60, seed=9)[:40]
    compared = 0
    for words, panels in zip(drawn, tab.run(DRAWN, row.name, hex_rows(drawn)), strict=True):
        values = dict(zip(row.model.input_names, words, strict=True))
        there = [panel for panel in draw(row.name, row.model, values).panels if isinstance(panel, BitGrid)]
        grids = [[grid.top, grid.unit, lines_of(grid)] for grid in there if grid.terms]
        compared += len(grids)
        assert shown_grids(panels) == shown_grids(grids)
    assert compared > 20


def shown_grids(grids: list[list[Any]]) -> list[list[Any]]:
    """Those with a bit that is 1."""
    return [grid for grid in grids if any(bits for *_, bits in grid[2])]


def lines_of(grid: BitGrid) -> list[list[object]]:
    names = {"rounded": "result"}
    return [[names.get(line.label, line.label), line.negative, bits_of(line)] for line in grid.rows]


def bits_of(line: BitRow) -> list[str]:
    return sorted(f"{cell.weight} {cell.fate.name.lower()}" for cell in line.cells if cell.bit)


def test_numbers_are_read_as_on_the_command_line(tab: Tab) -> None:
    """A word wherever `explain --vector` reads one, else a refusal; texts that words become read back."""
    formats: dict[str, Any] = {**FORMATS, **INTEGERS}
    from tcsmt.matrix_units.models.file_texts import table_of_format

    tables = {
        name: {"name": name, "width": fmt.width, **table_of_format(fmt)} for name, fmt in formats.items()
    }
    texts = cases()
    script = """
    const [tables, cases] = arguments;
    return cases.map(([format, text]) => {
      try {
        const { word } = readWord(tables[format], text);
        const again = readWord(tables[format], editText(tables[format], word));
        return [word.toString(16), again.word === word && !again.note, describe(tables[format], word)];
      } catch (error) {
        if (!(error instanceof RangeError)) throw error;
        return null;
      }
    });
    """
    computed = tab.run(script, tables, texts)
    read = 0
    for (name, text), result in zip(texts, computed, strict=True):
        try:
            word = to_word(formats[name], text, lambda message: None)
        except TcsmtError:
            assert result is None, (name, text, result)
        else:
            assert result == [f"{word:x}", True, formats[name].describe(word)], (name, text)
            read += 1
    assert read > 1000


def shown_words(tab: Tab) -> list[str]:
    return tab.run("return [...document.querySelectorAll('.card .word')].map((one) => one.dataset.word)")


def test_a_link_is_followed_and_typing_changes_it(tab: Tab, page: Page) -> None:
    tab.open(page.path, link(A, B, WITNESS))
    assert shown_words(tab) == ["0xc4fffff4", "0xc4fffff3"]
    assert "They first differ at “block 0: aligned c”" in tab.text("#verdict")
    assert "first difference" in tab.text("#stages tr.first") and "aligned c" in tab.text("#stages tr.first")
    assert tab.text(".card.sum").startswith("Exact sum")
    assert "alignment fraction bits F (24 against 25)" in tab.text("#known")
    tab.type("c", "0x1.8p-10")
    tab.wait("location.hash.includes('3ac00000')")
    model = tcsmt.unit(A).model
    values = dict.fromkeys(model.input_names, 0) | {"a0": 0xDC00, "b0": 0x4800, "c": 0x3AC00000}
    assert shown_words(tab) == [
        f"0x{evaluate([tcsmt.unit(name).model.trace.output], values)[0]:08x}" for name in (A, B)
    ]
    tab.type("c", "one")  # what is not a number is said; nothing else is lost
    assert "not a number" in tab.text("#note-c") and "nothing is computed: c: not a number" in tab.text(
        "#verdict"
    )
    assert shown_words(tab) == [] and tab.text("#results").count("No result: c: not a number") == 2
    assert "3ac00000" in tab.run("return location.hash") and not tab.text("#copy-text")
    assert tab.run("return document.querySelector('#in-a0').value") == "-256"
    assert tab.run("return document.querySelector('#in-c').getAttribute('aria-invalid')") == "true"


def test_bits_are_flipped(tab: Tab, page: Page) -> None:
    tab.open(page.path, link("volta/mma.m8n8k4.f32.f16.f16.f32", words="3c00,0,0,0,3c00"))
    assert shown_words(tab) == ["0x3f800000"]
    tab.click("#in-a0 + .bits button:nth-child(7)")  # the fraction's first bit
    assert tab.run("return document.querySelector('#in-a0').value") == "1.5"
    assert shown_words(tab) == ["0x3fc00000"] and "w=3e00" in tab.driver.current_url
    tab.run("document.querySelector('#in-a0 + .bits button').focus()")
    tab.driver.switch_to.active_element.send_keys("\ue014\ue014 ")  # right, right, space
    assert "w=1e00" in tab.driver.current_url


def pasted(tab: Tab, name: str, text: str) -> None:
    tab.run(
        "const data = new DataTransfer(); data.setData('text', arguments[1]);"
        "document.querySelector('#in-' + arguments[0]).dispatchEvent("
        "new ClipboardEvent('paste', {clipboardData: data, bubbles: true, cancelable: true}))",
        name,
        text,
    )


def test_rows_are_pasted(tab: Tab, page: Page) -> None:
    """NumPy's text, a row of `tcsmt vectors`, a vector; what is no row is said and changes nothing."""
    volta = tcsmt.unit("volta")
    tab.open(page.path, link(volta.name))
    pasted(tab, "a0", "array([1.5, -2. , 0.25], dtype=float16)")
    assert "w=3e00,c000,3400" in tab.driver.current_url
    made = tcsmt.vectors("volta", "edge", rows=3)
    text = made.as_bytes("csv").decode()
    head, *lines = text.splitlines()
    for line, word in zip(lines, made.d.view(np.uint32), strict=True):
        for row in (line, f"{head}\n{line}"):
            tab.click("#clear")
            pasted(tab, "a0", row)
            assert shown_words(tab) == [f"0x{int(word):08x}"]
    pasted(tab, "b0", "a0=1.5 b0=2, c=-0x1p-4")
    assert "w=3e00,0,0,0,4000,0,0,0,bd800000" in tab.driver.current_url
    pasted(tab, "b2", "1 2 3")
    assert "there is room for 2 from b2 on" in tab.text("#messages")
    assert "w=3e00,0,0,0,4000,0,0,0,bd800000" in tab.driver.current_url


def test_a_difference_is_found_and_shortened(tab: Tab, page: Page) -> None:
    tab.open(page.path, link(A, B))
    tab.click("#find")
    tab.wait("/^(Found|None|The search failed)/.test(document.getElementById('search').innerText)")
    assert tab.text("#search").startswith("Found after")
    words = tab.run("return A.names.map((name) => words.get(name).toString(16))")
    values = dict(zip(tcsmt.unit(A).model.input_names, (int(word, 16) for word in words), strict=True))
    results = [evaluate([tcsmt.unit(name).model.trace.output], values)[0] for name in (A, B)]
    assert results[0] != results[1]
    assert shown_words(tab) == [f"0x{word:08x}" for word in results]
    assert sum(map(bool, values.values())) <= 7


#: The lanes and words other than zero that each of so many searches ends with.
SEARCHED = """
const [pair, count] = arguments;
return Promise.all(pair.map((name) => unitOf(INDEX.units.get(name)))).then((units) =>
  Array.from({ length: count }, (_, seed) => {
    const { found } = searched(units, new Random(seed + 1), 60000);
    return found.filter(Boolean).length;
  }),
);
"""


def test_wherever_the_search_starts_it_ends_with_a_short_input(tab: Tab) -> None:
    """A single start in fifty does not."""
    assert max(tab.run(SEARCHED, [A, B], 200)) <= 7


def test_the_known_input_of_a_pair_is_shown(tab: Tab, page: Page) -> None:
    """Whatever was in the inputs before."""
    tab.open(page.path, link(A, B, ",".join(["3c00"] * 32)))
    tab.wait("document.querySelector('#known button')")
    tab.click("#known button")
    records = known_pairs([side_of(name).row for name in (A, B)], ROOT / "results")["groups"]
    (witness,) = [record["inputs"] for group in records for *_, record in group["pairs"]]
    names = tcsmt.unit(A).model.input_names
    values = dict.fromkeys(names, 0) | {name: int(word, 16) for name, word in witness.items()}
    assert tab.run("return A.names.map((name) => Number(words.get(name)))") == [*values.values()]
    results = [evaluate([tcsmt.unit(name).model.trace.output], values)[0] for name in (A, B)]
    assert shown_words(tab) == [f"0x{word:08x}" for word in results] and results[0] != results[1]
    tab.driver.back()
    tab.wait("location.hash.includes('3c00,3c00')")


def test_a_proved_pair_is_said_and_a_miss_is_no_proof(tab: Tab, page: Page) -> None:
    tab.open(page.path, link(B, SAME))
    tab.wait("!document.getElementById('known').hidden")
    assert tab.text("#known").startswith("One function")
    tab.run("SEARCH_LIMIT = 300")
    tab.click("#find")
    tab.wait("document.getElementById('search').innerText.startsWith('None found')")
    assert "equal" not in tab.text("#search")
    tab.run("SEARCH_LIMIT = 60000")
    tab.click("#find")
    tab.wait("document.getElementById('search').innerText.startsWith('Searching')")
    tab.click("#stop")
    assert tab.text("#search").startswith("Stopped. None found in")


def test_units_are_told_apart_by_what_hardware_gives(tab: Tab, page: Page) -> None:
    """The hardware is B; the units that give its words are left, and the next question splits them."""
    tab.open(page.path, link(A, words="3c00" + ",0" * 15 + ",3c00"))
    tab.run("document.getElementById('observed').value = '1'")
    tab.click("#observe")
    tab.wait("document.querySelector('#candidates button')")
    left = tab.text("#candidates h3")
    assert B in tab.text("#candidates ul") and A in tab.text("#candidates ul")
    tab.click("#candidates button")
    tab.wait("/Entered|None|failed/.test(document.getElementById('next').innerText)")
    assert "different words on it" in tab.text("#next")
    words = tab.run("return A.names.map((name) => words.get(name).toString(16))")
    model = tcsmt.unit(B).model
    values = dict(zip(model.input_names, (int(word, 16) for word in words), strict=True))
    answer = f"0x{evaluate([model.trace.output], values)[0]:08x}"
    tab.run("document.getElementById('observed').value = arguments[0]", answer)
    tab.click("#observe")
    tab.wait(f"document.querySelector('#candidates h3')?.innerText !== {left!r}")
    tab.wait("document.querySelector('#candidates ul')")
    assert B in tab.text("#candidates > ul")
    url = tab.driver.current_url
    tab.open(page.path, "#" + url.partition("#")[2])  # the link has the observations
    tab.wait("document.querySelector('#candidates ul')")
    assert B in tab.text("#candidates > ul") and "input 2" in tab.text("#observations")


HOSTILE = {
    link("<img src=x onerror=document.title='hacked'>", words="zz"): "does not have the unit",
    link(A, "</script><script>document.title='hacked'</script>"): "does not have the unit",
    link("old/mma.m16n8k16.f32.f16.f16.f32", words="dc00,1"): "The words of the link are dc00,1",
    "#v=2&a=" + A: "version",
    "#v=1&a=" + A + "&w=%E0%A4%A": "cut or damaged",
    link(A, words="fffffffff"): "more bits than their inputs",
    link(A, words=",".join(["1"] * 40)): "takes 33",
    link(A, words="3c00,xyz"): "is not a hexadecimal word",
    link(A) + "&x=<b>:1": "is not an input",
    link(A) + "&__proto__=1&constructor=2": "not a part of a link",
    "#" + "%" * 2000: "The link",
}  # fmt: skip


@pytest.mark.parametrize("fragment", HOSTILE, ids=range(len(HOSTILE)))
def test_cut_and_forged_links(fragment: str, tab: Tab, page: Page) -> None:
    """Text of a link is text; what makes no sense in it is said, and the page goes on."""
    tab.open(page.path, fragment)
    assert HOSTILE[fragment] in tab.text("#messages")
    assert "hacked" not in tab.driver.title
    assert tab.run("return document.querySelectorAll('#messages img, #messages script').length") == 0
    assert tab.run("return document.querySelectorAll('#operands .operand').length > 0 || !A")


def test_a_unit_is_chosen_by_the_keyboard(tab: Tab) -> None:
    field = tab.driver.find_element("css selector", "#unit-b")
    field.click()
    field.send_keys("v100 f32\ue015\ue007")  # down, enter
    tab.wait("state.b.startsWith('volta/')")
    assert tab.run("return document.activeElement.id") == "unit-b"
    assert tab.text("#results .card.b .word").startswith("0x")


def test_every_control_has_a_name(tab: Tab) -> None:
    """What a screen reader says of each field and button."""
    tab.run("state.allLanes = true; compute()")
    nameless = tab.run(
        "return [...document.querySelectorAll('button, input, select')].filter((one) =>"
        " !(one.innerText.trim() || one.getAttribute('aria-label') || one.labels?.length))"
        ".map((one) => one.outerHTML)"
    )
    assert nameless == []


def test_copies(tab: Tab, page: Page) -> None:
    """Each form has the row; the command and the Python run and give the page's word."""
    tab.open(page.path, link(A, words=WITNESS))
    forms = tab.run("return [...document.getElementById('copy-as').options].map((one) => one.value)")
    texts = {}
    for form in forms:
        tab.run(
            "const list = document.getElementById('copy-as'); list.value = arguments[0]; list.onchange()",
            form,
        )
        texts[form] = tab.text("#copy-text")
    assert list(texts) == ["tcsmt command", "Python", "CUDA", "C initialiser", "CSV"]
    names: dict[str, Any] = {}
    exec(texts["Python"], names)
    assert names["d"].view(np.uint32) == 0xC4FFFFF4
    assert texts["tcsmt command"] == f'tcsmt explain {A} --vector "a0=0xdc00 b0=0x4800 c=0x3ac80000"'
    assert texts["CSV"].splitlines()[1].endswith(",0x3ac80000,0xc4fffff4")
    assert (
        "__ushort_as_half(0xdc00)" in texts["CUDA"] and "uint16_t a[16] = {0xdc00" in texts["C initialiser"]
    )


@pytest.fixture
def served(page: Page) -> Iterator[str]:
    """The page on a server of this machine: browsers tell what they loaded from one."""
    handler = partial(QuietHandler, directory=str(page.path.parent))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, *arguments: object) -> None:
        pass


def test_it_asks_nobody(browser: Tab, page: Page, served: str) -> None:
    """Every file that it loads is its own; what it loads first is what the benchmark weighs."""
    browser.driver.get(f"{served}index.html{link(A, B, WITNESS)}")
    browser.wait("document.body.dataset.ready && !document.getElementById('known').hidden")
    assert shown_words(browser) == ["0xc4fffff4", "0xc4fffff3"]
    loaded = browser.run("return performance.getEntriesByType('resource').map((one) => one.name)")
    names = {url.removeprefix(served) for url in loaded if not url.startswith("data:")}
    first = {path.relative_to(page.path.parent).as_posix() for path in first_view(page.path.parent)}
    shown = {
        f"units/{module}.js"
        for module in browser.run(
            "return [A, B].map((_, i) => INDEX.units.get([state.a, state.b][i]).module)"
        )
    }
    units = {name for name in first if name.startswith("units/")}
    assert names == (first - units - {"index.html"}) | shown | {"pairs.js"}
    policy = page.path.read_text().partition('Content-Security-Policy" content="')[2].partition('"')[0]
    assert "default-src 'none'" in policy and "unsafe-inline" not in policy and "'unsafe-eval'" not in policy
    browser.run(
        "const one = document.createElement('script'); one.textContent = 'window.ran = 1';"
        "document.body.append(one)"
    )
    assert browser.run("return window.ran") is None
    assert any("Content Security Policy" in text for text in browser.errors())


IN_FIREFOX = """
(async () => {
  const until = async (holds) => {
    for (let tries = 0; tries < 1000 && !holds(); tries++) await new Promise((done) => setTimeout(done, 50));
  };
  await until(() => document.body.dataset.ready);
  const words = [...document.querySelectorAll(".card .word")].map((one) => one.dataset.word);
  document.getElementById("find").click();
  await until(() => /^(Found|None|The)/.test(document.getElementById("search").innerText));
  return [...words, document.getElementById("search").innerText.slice(0, 5), location.protocol].join(" ");
})()
"""


def test_links_of_results_show_what_the_command_found(tab: Tab, page: Page) -> None:
    """`tcsmt.links` writes them; scales that are 0 at the end of a row, and formats that differ, included."""
    scaled = tcsmt.unit(SCALED).model
    names = scaled.input_names
    words = dict.fromkeys(names, 0) | {"a0": 2, "b0": 3, "c": 0x3F800000, "sa0": 0x38, "sb0": 0x40}
    links = [WitnessView((side_of(SCALED).row,), (words,))]
    wide = tcsmt.unit(WIDE).model
    some = dict.fromkeys(wide.input_names, 0)
    given = (some | {"a0": 0x3C00, "b0": 0x3C00}, some | {"a0": 0x3F80, "b0": 0x3C00, "c": 1})
    links.append(WitnessView((side_of(A).row, side_of(WIDE).row), given, answer=0x40000000))
    for view in links:
        tab.open(page.path, f"#{view.fragment}")
        assert shown_words(tab) == [
            f"0x{evaluate([row.model.trace.output], row_words)[0]:08x}"
            for row, row_words in zip(view.units, view.words, strict=True)
        ]
        assert tab.text("#messages") == ""
        tab.run("compute()")  # the page writes the same link
        assert parse_qs(tab.driver.current_url.partition("#")[2]) == parse_qs(view.fragment)
    assert "0x40000000 (2^1), which A does not give" in tab.text("#results")
    assert tab.run("return document.getElementById('observed').value") == "0x40000000"


@pytest.mark.long
@pytest.mark.skipif(bool(why_no_firefox()), reason=why_no_firefox())
def test_firefox_opens_it_as_a_file(page: Page) -> None:
    """Modules, the worker from a text, and the policy."""
    result = run_in_firefox(page.path.as_uri() + link(A, B, WITNESS), IN_FIREFOX)
    assert result == "0xc4fffff4 0xc4fffff3 Found file:"


@pytest.mark.slow
def test_b_has_words_of_its_own_where_formats_differ_or_a_link_says_so(tab: Tab, page: Page) -> None:
    tab.open(page.path, link(A, B, WITNESS) + "&x=c:0")
    values = dict.fromkeys(tcsmt.unit(B).model.input_names, 0) | {"a0": 0xDC00, "b0": 0x4800}
    word = evaluate([tcsmt.unit(B).model.trace.output], values)[0]
    assert shown_words(tab) == ["0xc4fffff4", f"0x{word:08x}"]
    assert tab.text("#messages") == "" and "Exact sum of B's inputs" in tab.text("#results")
    tab.type("c", "1")
    tab.wait("location.hash.includes('3f800000')")
    assert tab.driver.current_url.endswith("&x=c:0") and shown_words(tab)[1] == f"0x{word:08x}"
    tab.click("#find")
    tab.wait("/^(Found|None|The search failed)/.test(document.getElementById('search').innerText)")
    assert "&x=" not in tab.driver.current_url  # what is found is one input of both
    tab.open(page.path, link(A, WIDE, "3c00" + ",0" * 15 + ",4000") + "&x=a0:3f80,b0:4000")
    assert shown_words(tab) == ["0x40000000", "0x40000000"]
    assert tab.driver.current_url.endswith("&x=a0:3f80,b0:4000")


@pytest.mark.long
def test_the_pictures_of_the_documentation(tmp_path: Path) -> None:
    for path in take_pictures(tmp_path):
        assert path.read_bytes().startswith(b"\x89PNG") and path.stat().st_size > 20_000
        assert (ROOT / "docs" / "_static" / path.name).is_file()


def test_scripts_hold_the_modules() -> None:
    rows = [row_named(name) for name in ("volta", "turing/mma.m8n8k4.f32.f16.f16.f32", "hopper")]
    seen: list[tuple[int, int, str]] = []
    modules = modules_of(rows, lambda *what: seen.append(what))
    assert [done for done, _, _ in seen] == [1, 2, 3] and {count for _, count, _ in seen} == {3}
    assert modules.names[rows[0].name] == modules.names[rows[1].name] != modules.names[rows[2].name]
    assert len(modules.scripts) == 2
    for row in rows:
        name = modules.names[row.name]
        match = re.fullmatch(r"moduleText\((.*)\);\n", modules.scripts[name])
        assert match is not None
        key, text = json.loads(f"[{match[1]}]")
        assert key == name
        assert zlib.decompress(base64.b64decode(text), wbits=-15) == module_of(row.model).code


RESULTS = ROOT / "results"
VOLTA = "volta/mma.m8n8k4.f32.f16.f16.f32"
LOWER = f"{VOLTA}@zero-126"


def test_units_of_the_index() -> None:
    chosen = [row_named(A), row_named(B), row_named(LOWER)]
    index = index_of(chosen, {A: "1", B: "2", LOWER: "3"}, "#v=1")
    by_name = {name: values for name, *values in index["units"]}
    module, k, types, evidence, status, source, _ = by_name[B]
    assert (module, k, index["types"][types]) == ("2", 16, "f16 f16 f32 → f32")
    assert (evidence, status) == (row_named(B).evidence, "accepted")
    assert row_named(B).source in index["sources"][source]
    assert by_name[LOWER][4] != "accepted" or by_name[LOWER][6]
    assert "h100" in index["names"]["hopper"].lower() and "NVIDIA" in index["names"]["hopper"]


def test_pairs_are_those_of_the_results() -> None:
    """Verdicts and witnesses of the atlas; a certificate where one states the pair, with its domain."""
    named = [row_named(name) for name in (A, B, VOLTA, LOWER)]
    pairs = known_pairs(named, RESULTS)
    atlas = json.loads(lzma.decompress((RESULTS / "comparisons" / "atlas.json.xz").read_bytes()))
    assert pairs["domain"] == atlas["domain"] == "all words"
    records = [record for group in pairs["groups"] for *_, record in group["pairs"]]
    assert [{record["left"], record["right"]} for record in records] == [{A, B}]
    assert records[0]["verdict"] == "distinguished" and records[0]["inputs"]
    (proved,) = [record for group in pairs["groups"] for record in group["proofs"]]
    assert {proved["left"], proved["right"]} == {VOLTA, LOWER} and proved["verdict"] == "equivalent"
    (certificate,) = [one for one in pairs["certificates"] if one["models"][0] != one["models"][1]]
    digests = {pairs["digests"][VOLTA], pairs["digests"][LOWER]}
    assert set(certificate["models"]) == digests and certificate["domain"] == "all words"
    assert (RESULTS / "certificates" / "statements" / certificate["file"]).is_file()


def test_a_verdict_on_another_model_is_left_out(tmp_path: Path) -> None:
    """The row's model has changed since the atlas was made: nothing is said of it."""
    shutil.copytree(RESULTS / "comparisons", tmp_path / "comparisons")
    path = tmp_path / "comparisons" / "atlas.json.xz"
    atlas = json.loads(lzma.decompress(path.read_bytes()))
    atlas["models"][B] = "0" * 32
    path.write_bytes(lzma.compress(json.dumps(atlas).encode()))
    pairs = known_pairs([row_named(A), row_named(B)], tmp_path)
    assert (pairs["groups"], pairs["certificates"]) == ([], [])
    assert [*pairs["digests"]] == [A]


def test_certificates_of_other_orders_say_nothing_of_a_pair() -> None:
    """A sum in another order of its inputs is proved equal, too; that states no pair of units."""
    pairs = known_pairs(rows("hopper", claims=False), RESULTS)
    titles = [one["title"] for one in pairs["certificates"]]
    assert titles and not any("order" in title or "commutative" in title for title in titles)


def test_without_an_atlas(tmp_path: Path) -> None:
    with pytest.raises(TcsmtError, match="an atlas cannot be read there"):
        known_pairs([row_named(A)], tmp_path)
