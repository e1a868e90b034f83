"""WebAssembly modules of units: in wasmtime against the graphs on integers, in Node against `explain`."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tcsmt.interop.exports.design import Design
from tcsmt.interop.exports.languages import exported
from tcsmt.interop.exports.webassembly import UnitModule, loader, module_of, unit_script, webassembly
from tcsmt.language.run.arrays import Program
from tcsmt.language.run.exact import evaluate
from tcsmt.matrix_units.arithmetic.datapath import Exponent
from tcsmt.matrix_units.catalogue import Row, row_named, rows
from tcsmt.matrix_units.models import Model
from tcsmt.prove.statements.explain import StageValue, steps, term_of
from tcsmt.simulate.rows import words_of_row
from tcsmt.surveys.units.vectors import edges, random_rows
from tests.support.exported import OWN, one_of_each_kind, own_formats
from tests.support.kept_witnesses import kept_results
from tests.support.webassembly import Machine

#: Some units of the catalogue, by their place in it.
SPREAD = list(rows(claims=True))[7::100]
#: Parts of the sweep over the catalogue.
PARTS = 4


@cache
def graphs() -> list[Row]:
    """Every graph of the catalogue once."""
    return list({row.model.digest: row for row in rows(claims=True)}.values())


def drawn(row: Row, count: int, seed: int = 1) -> list[tuple[int, ...]]:
    """Rows of words near the boundaries of the arithmetic, and random ones."""
    corners = edges(row, seed).inputs
    places = np.random.default_rng(seed).permutation(len(corners.c))[:count].tolist()
    found = [words_of_row(corners, place) for place in places]
    for batch in random_rows(row.model, count, seed):
        found += [words_of_row(batch, place) for place in range(len(batch.c))]
    return found


def check(row: Row, some: Sequence[tuple[int, ...]], exactly: int = 3) -> int:
    """Every word of every stage, on arrays in all rows and on integers in a few. Returns how many words."""
    made = module_of(row.model)
    machine, names = Machine(made.code), row.model.input_names
    places = [place - len(names) for place, _ in made.about["words"]]
    widths = [width for _, width in made.about["words"]]
    assert widths == [term.width for term in made.terms]
    size = places[-1] + -(-widths[-1] // 64)
    columns = {name: np.array([words[i] for words in some], np.uint64) for i, name in enumerate(names)}
    right = [column.tolist() for column in Program(made.terms).run(columns)]
    for number, words in enumerate(some):
        slots = machine.run("stages", words, size)
        found = [
            sum(slots[place + limb] << 64 * limb for limb in range(-(-width // 64)))
            for place, width in zip(places, widths, strict=True)
        ]
        assert found == [int(column[number]) for column in right], (row.name, words)
        assert machine.run("result", words, 1) == found[:1], (row.name, words)
        if number < exactly:
            assert found == evaluate(made.terms, dict(zip(names, words, strict=True))), (row.name, words)
    return len(some) * (len(made.terms) + 1)


@pytest.mark.parametrize("row", [*one_of_each_kind(), *SPREAD], ids=lambda row: row.name)
def test_units(row: Row) -> None:
    check(row, drawn(row, 15), exactly=1)


@pytest.mark.parametrize("name", OWN)
def test_own_formats(name: str, tmp_path: Path) -> None:
    row = own_formats(name, tmp_path)
    check(row, drawn(row, 100))


@pytest.mark.long
@pytest.mark.parametrize("part", range(PARTS))
def test_every_graph_of_the_catalogue(part: int) -> None:
    for row in graphs()[part::PARTS]:
        check(row, drawn(row, 200))


@pytest.mark.long
def test_many_rows_of_each_kind() -> None:
    for row in one_of_each_kind():
        check(row, drawn(row, 10_000), exactly=20)


def kept(row: Row) -> list[tuple[int, ...]]:
    """The inputs of all kept witnesses that are words of this unit."""
    formats = row.model.input_formats
    return list({one.words: None for one in kept_results() if one.row.model.input_formats == formats})


@pytest.mark.parametrize("step", [60, pytest.param(1, marks=pytest.mark.long)])
def test_results_that_are_kept(step: int) -> None:
    """Of each side of the comparisons in ``results/``, as they were written when they were found."""
    by_model: dict[Model, list[Any]] = defaultdict(list)
    for one in kept_results():
        by_model[one.row.model].append(one)
    assert len(by_model) > 100 and len(kept_results()) > 2000
    for model, results in list(by_model.items())[::step]:
        machine = Machine(module_of(model, stages=False).code)
        for one in results:
            assert machine.run("result", one.words, 1) == [one.d], (one.row.name, one.words)


@pytest.mark.long
def test_every_graph_on_every_kept_witness_of_its_words() -> None:
    for row in graphs():
        if some := kept(row):
            check(row, some, exactly=1)


def test_without_stages_there_is_the_result_alone() -> None:
    row = row_named("volta")
    small, whole = module_of(row.model, stages=False), module_of(row.model)
    assert "stages" not in small.about and len(small.terms) == 1
    assert len(small.code) < len(whole.code) / 2
    words = drawn(row, 1)[0]
    assert Machine(small.code).run("result", words, 1) == Machine(whole.code).run("result", words, 1)
    with pytest.raises(KeyError):
        Machine(small.code).run("stages", words, 1)


def test_the_module_says_what_it_is() -> None:
    made = webassembly_of("volta")
    about = made.about
    assert (about["unit"], about["version"], about["k"]) == ("volta/mma.m8n8k4.f32.f16.f16.f32", 1, 4)
    assert about["evidence"].startswith("measured") and about["source"]
    assert [(one["name"], one["count"]) for one in about["inputs"]] == [("a", 4), ("b", 4), ("c", 1)]
    assert json.dumps(about, ensure_ascii=False, separators=(",", ":")).encode() in made.code
    product = about["values"][about["stages"][0]["value"]]
    assert (product["type"], product["inputs"]) == ("number", [0, 4])
    aligned = next(stage for stage in about["stages"] if stage["kind"] == "aligned product")
    assert about["values"][about["values"][aligned["value"]]["source"]] == product
    whole = next(stage for stage in about["stages"] if stage["kind"] == "sum")
    assert len(about["values"][whole["value"]]["addends"]) == 5


def webassembly_of(name: str) -> UnitModule:
    """By the row's name."""
    return webassembly(Design.of(row_named(name)))


def test_stages_of_two_units_are_the_same_term_where_explain_says_so() -> None:
    """The texts in the descriptions pair what ``first_difference`` pairs, whatever the blocks are."""
    names = ("ampere/mma.m16n8k16.f32.f16.f16.f32", "hopper/mma.m16n8k16.f32.f16.f16.f32")
    sides = [[(s, term_of(s)) for s in row_named(name).model.trace.stages] for name in names]
    keys = [[stage["term"] for stage in webassembly_of(name).about["stages"]] for name in names]
    pairs = 0
    for (_, left), key in zip(sides[0], keys[0], strict=True):
        assert (left is None) == (key is None)
        for (_, right), other in zip(sides[1], keys[1], strict=True):
            assert (left is not None and left == right) == (key is not None and key == other)
            pairs += left is not None and left == right
    assert pairs >= 33


# --- in Node -------------------------------------------------------------------------------------

#: Reads requests, and writes for each: d, and the stages with values as texts.
_SCRIPT = """
import { readFileSync } from "node:fs";
const { Unit, toNumber } = await import(process.argv[2]);
const text = (value) => typeof value === "string" ? value : `${value.numerator} ${value.exponent}`;
const answers = [];
for (const { file, rows } of JSON.parse(readFileSync(process.argv[3]))) {
  const unit = await Unit.load(readFileSync(file));
  answers.push({ names: unit.names, rows: rows.map((row) => {
    const words = row.map(BigInt);
    const stages = unit.stages(words).map(({ name, value, word }) => [
      name, text(value), word?.toString() ?? null, toNumber(value).toString()]);
    return [unit.result(words).toString(), stages];
  }) });
}
console.log(JSON.stringify(answers));
"""


def node(folder: Path, script: str, *arguments: object) -> str:
    """What a script prints."""
    program = shutil.which("node")
    if program is None:
        pytest.skip("node is not installed")
    file = folder / "script.mjs"
    file.write_text(script)
    done = subprocess.run(
        [program, file, *map(str, arguments)], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def value_text(step: StageValue) -> str:
    """A stage's exact value as the script writes it."""
    value = step.value
    if isinstance(step.stage.value, Exponent):
        value = Fraction(2) ** int(value)
    if isinstance(value, str):
        return value
    value = Fraction(value)
    if not value:
        return "0 0"
    exponent = (value.numerator & -value.numerator).bit_length() - value.denominator.bit_length()
    return f"{value / Fraction(2) ** exponent} {exponent}"


def as_float(value: str) -> float:
    """The nearest double of such a text."""
    if " " not in value:
        return float(value)
    numerator, exponent = map(int, value.split())
    try:
        return float(numerator * Fraction(2) ** exponent)
    except OverflowError:
        return float("inf" if numerator > 0 else "-inf")


def check_in_node(some: Sequence[Row], count: int, folder: Path) -> None:
    """d and every stage's value, of rows near boundaries and of random ones."""
    requests, expected = [], []
    for number, row in enumerate(some):
        file = folder / f"{number}.wasm"
        file.write_bytes(module_of(row.model).code)
        inputs = drawn(row, count)
        requests.append({"file": str(file), "rows": [[str(word) for word in words] for words in inputs]})
        expected.append(inputs)
    (folder / "requests.json").write_text(json.dumps(requests))
    (folder / "unit.mjs").write_text(loader())
    answers = json.loads(node(folder, _SCRIPT, folder / "unit.mjs", folder / "requests.json"))
    for row, inputs, answer in zip(some, expected, answers, strict=True):
        names = row.model.input_names
        assert answer["names"] == names
        for words, (d, stages) in zip(inputs, answer["rows"], strict=True):
            values = dict(zip(names, words, strict=True))
            right = steps(row.model.trace, values)
            assert int(d) == evaluate([row.model.trace.output], values)[0]
            for step, (name, value, word, number) in zip(right, stages, strict=True):
                assert (name, value) == (step.name, value_text(step)), (row.name, words)
                assert (word is None) == (step.word is None)
                assert word is None or step.word is None or int(word) == step.word[1]
                double = float(number.replace("Infinity", "inf"))
                assert np.array_equal(double, as_float(value), equal_nan=True)


@pytest.mark.slow
def test_values_in_node(tmp_path: Path) -> None:
    check_in_node([*one_of_each_kind()[:3], own_formats("fixed", tmp_path), SPREAD[-1]], 10, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("part", range(PARTS))
def test_values_of_every_graph_in_node(part: int, tmp_path: Path) -> None:
    check_in_node(graphs()[part::PARTS], 3, tmp_path)


def test_the_exported_files_run_in_node(tmp_path: Path) -> None:
    """The example of the guide, and what the loader refuses."""
    files = exported(row_named("volta"), "wasm").files(tmp_path / "dot.wasm")
    for path, content in files.values():
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["dot.d.mts", "dot.mjs", "dot.wasm"]
    script = """
import { load, toNumber } from "./dot.mjs";
const unit = await load();
const row = { a: [0x3e00, 0x3c00, 0, 0], b: new Uint16Array([0x3e00, 0x3c00, 0, 0]), c: 0x3f000000 };
console.log(unit.result(row).toString(16));
const products = unit.stages(row).filter(({ kind }) => kind === "product");
console.log(products.map(({ value }) => toNumber(value)).join());
const few = { ...row, a: [1] }, none = { ...row, c: undefined }, more = { ...row, e: 1 };
for (const wrong of [few, { ...row, c: 2 ** 32 }, { ...row, c: -1 }, more, [1, 2], none]) {
  try { unit.result(wrong); console.log("taken"); } catch (error) { console.log(error.message); }
}
"""
    assert node(tmp_path, script).splitlines() == [
        "40700000",
        "2.25,1,0,0",
        "a: 4 words needed, 1 given",
        "c: 4294967296 is no word of 32 bits",
        "c: -1 is no word of 32 bits",
        "e: the operands are a, b, c",
        "9 words needed, 2 given",
        "c: 1 word needed, 0 given",
    ]


def test_the_script_is_plain() -> None:
    """A page includes it as it is: without imports and exports, which the loader adds."""
    lines = unit_script().splitlines()
    assert not [line for line in lines if line.startswith(("import ", "export "))]
    assert loader().startswith(unit_script())
