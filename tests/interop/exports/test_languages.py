"""A unit in a language by its name: what is known of the file besides its text."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tcsmt import __version__
from tcsmt.interop.exports.languages import LANGUAGES, exported
from tcsmt.interop.implementations.designs import DesignFiles, read_design
from tcsmt.matrix_units.catalogue import Row, row_named
from tcsmt.prove.statements.verdict import Distinguished, Equivalent
from tcsmt.simulate.kernel_source import operands
from tcsmt.simulate.rows import words_of_row
from tcsmt.support.errors import TcsmtError
from tests.support.exported import OWN, decided, one_of_each_kind, own_formats
from tests.support.read_back import read, small, verdict
from tests.support.scripts import ask_bitwuzla_btor2


def test_btor2_is_the_model(tmp_path: Path) -> None:
    row, file = small(), tmp_path / "unit.btor2"
    text = str(exported(row, "btor2"))
    file.write_text(text)
    assert isinstance(verdict(row.model, read(file, row.model)), Equivalent)
    changed, count = re.subn(r"^(\d+) add (\d+ \d+ \d+ sum)$", r"\1 sub \2", text, flags=re.MULTILINE)
    assert count == 1
    file.write_text(changed)
    assert isinstance(verdict(row.model, read(file, row.model)), Distinguished)


@pytest.mark.long
def test_block_scales_are_read_back(tmp_path: Path) -> None:
    """By the ports' names, also without a unit that says the formats; with exchanged scales it is another."""
    row, file = own_formats("scaled", tmp_path), tmp_path / "unit.btor2"
    file.write_text(str(exported(row, "btor2")))
    formats = {name: getattr(row.model, f"{name}_format") for name in ("a", "b", "c", "d", "scale")}
    alone = read_design(DesignFiles(files=[file], formats=formats)).model
    assert (alone.k, alone.scales) == (row.model.k, row.model.scales)
    assert isinstance(verdict(row.model, read(file, row.model)), Equivalent)
    assert alone.trace.output is read(file, row.model).trace.output
    width = row.model.scale_format.width if row.model.scale_format else 0
    lanes = [f"scale_a{lane}=scale_a[{(2 - lane) * width - 1}:{(1 - lane) * width}]" for lane in (0, 1)]
    exchanged = DesignFiles(files=[file], ports=lanes).like(row.model)
    assert isinstance(verdict(row.model, read_design(exchanged).model), Distinguished)
    with pytest.raises(TcsmtError, match=r"'scales'.* scale"):
        read_design(DesignFiles(files=[file], formats=formats | {"scales": "ue8m0"}))


def btor2_asked(row: Row, words: tuple[int, ...], expected: int) -> str:
    """The same, of the whole operands, the first lane in the lowest bits."""
    text = str(exported(row, "btor2"))
    lines = [line for line in text.splitlines() if not line.startswith(";")]
    number = int(lines[-1].split()[0])
    sorts = {int(line.split()[3]): line.split()[0] for line in lines if line.split()[1] == "sort"}
    given = iter(words)
    values = {}
    for operand in operands(row.model):
        width = operand.format.width
        whole = sum(next(given) << place * width for place in range(len(operand.terms)))
        values[operand.name] = whole, width * len(operand.terms)

    def line(*parts: object) -> int:
        nonlocal number
        number += 1
        lines.append(" ".join(map(str, (number, *parts))))
        return number

    line("sort bitvec 1") if 1 not in sorts else None
    bit = sorts.get(1, number)
    for entry in list(lines):
        words_of_line = entry.split()
        if words_of_line[1] == "input":
            value, width = values[words_of_line[3]]
            constant = line("const", words_of_line[2], f"{value:0{width}b}")
            line("constraint", line("eq", bit, words_of_line[0], constant))
        elif words_of_line[1] == "output":
            assert words_of_line[3] == "d"
            width = row.model.d_format.width
            constant = line("const", sorts[width], f"{expected:0{width}b}")
            line("constraint", line("neq", bit, words_of_line[2], constant))
    return "\n".join([*(one for one in lines if one.split()[1] != "output"), ""])


def check(row: Row, count: int) -> None:
    """At each row there is the simulator's result, and no other."""
    inputs, d = decided(row, count)
    for number, result in enumerate(d.tolist()):
        words = words_of_row(inputs, number)
        for other, answer in ((result, "unsat"), (result ^ 1, "sat")):
            assert ask_bitwuzla_btor2(btor2_asked(row, words, other)) == answer, (row.name, words)


@pytest.mark.parametrize("row", one_of_each_kind(), ids=lambda row: row.model.kind)
def test_kinds(row: Row) -> None:
    check(row, 1)


@pytest.mark.parametrize("name", OWN)
def test_own_formats(name: str, tmp_path: Path) -> None:
    check(own_formats(name, tmp_path), 2)


@pytest.mark.long
@pytest.mark.parametrize("row", one_of_each_kind(), ids=lambda row: row.model.kind)
def test_more_rows(row: Row) -> None:
    check(row, 20)


VOLTA = row_named("volta/mma.m8n8k4.f32.f16.f16.f32")


@pytest.mark.parametrize("language", LANGUAGES)
def test_exports_name_their_unit_language_and_latency(language: str) -> None:
    made = exported(VOLTA, language, name="dot")
    verilog = language == "systemverilog"
    assert (made.unit, made.language, made.name) == (VOLTA.name, language, "dot")
    assert str(made) == made.text and made.text.endswith("\n")
    assert (made.testbench is not None, made.latency) == (verilog, 0 if verilog else None)
    assert made.as_json() == {
        "tcsmt": __version__, "unit": VOLTA.name, "language": language, "name": "dot",
    } | ({"latency": 0} if verilog else {})  # fmt: skip
    lines = len(made.text.splitlines())
    assert repr(made) == f"<Exported dot: {VOLTA.name} in {language}, {lines} lines>"


def test_the_name_is_made_from_the_unit_s() -> None:
    assert exported(VOLTA, "c").name == "tcsmt_volta_mma_m8n8k4_f32_f16_f16_f32"


@pytest.mark.parametrize("language", [name for name in LANGUAGES if name != "systemverilog"])
def test_a_pipeline_is_systemverilog_s(language: str) -> None:
    with pytest.raises(TcsmtError, match=f"in systemverilog, not in {language}"):
        exported(VOLTA, language, pipeline=True)


def test_unknown_languages_are_refused() -> None:
    with pytest.raises(TcsmtError, match=r"'verilog'.* systemverilog"):
        exported(VOLTA, "verilog")
