"""One grammar: the page's scripts, run by Node, read each number and row as the command does."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import tcsmt
from tcsmt.interop.exports.webassembly import unit_script
from tcsmt.matrix_units.arithmetic.formats import FORMATS, INTEGERS
from tcsmt.matrix_units.arithmetic.words import to_word
from tcsmt.matrix_units.files.word_files import vector_of
from tcsmt.matrix_units.models.file_texts import table_of_format
from tcsmt.support.errors import TcsmtError
from tests.support.number_texts import cases
from tests.support.paths import ROOT

FORMATS_BY_NAME: dict[str, Any] = {**FORMATS, **INTEGERS}
VOLTA = tcsmt.unit("volta").model


def answered(script: str, asked: Any, tmp_path: Path) -> Any:
    """What the page's functions give in Node: the value of an expression of ``asked`` and ``tables``."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("node (Node.js) is not installed")
    assets = ROOT / "tcsmt" / "interface" / "page" / "assets"
    tables = {
        name: {"name": name, "width": fmt.width, **table_of_format(fmt)}
        for name, fmt in FORMATS_BY_NAME.items()
    }
    program = tmp_path / "program.js"
    program.write_text(
        "\n".join(
            [
                unit_script(),
                *((assets / name).read_text(encoding="utf-8") for name in ("numbers.js", "rows.js")),
                f"const tables = {json.dumps(tables)}, asked = {json.dumps(asked)};",
                f"console.log(JSON.stringify({script}));",
            ]
        ),
        encoding="utf-8",
    )
    done = subprocess.run([node, program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


READ = """asked.map(([name, text]) => {
  try {
    return readWord(tables[name], text).word.toString(16);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return null;
  }
})"""


@pytest.mark.slow
def test_numbers_are_read_alike(tmp_path: Path) -> None:
    read = refused = 0
    for (name, text), word in zip(cases(), answered(READ, cases(), tmp_path), strict=True):
        try:
            expected = to_word(FORMATS_BY_NAME[name], text, lambda message: None)
        except TcsmtError:
            assert word is None, (name, text, word)
            refused += 1
        else:
            assert word == f"{expected:x}", (name, text)
            read += 1
    assert read > 1000 and refused > 1000


VECTORS = (
    "a0=1", "a0=1 b0=0x3e00", "a0=1,b0=2", " a0=1 , b0=2 ", "a0=1 a0=2", "a0=1 a0=1", "a0=1 7", "7 a0=1",
    "a0=1 b0", "a0==1", "a0=1=2", "a0=", "=1", "a9=1", "A0=1", "a00=1", "a0=\u22121.5", "a0=1_0", "a0=1/3",
    "a0=1/4 c=-0x1p-4", "a0=0x3e0", "c=3f800000", "c=1e20", "a0=one", "a0=1.5\u00b72^-3",
)  # fmt: skip

ROWS = """asked.vectors.map((text) => {
  try {
    const words = readRow(text, asked.names, asked.formats.map((name) => tables[name]));
    return Object.fromEntries([...words].map(([name, word]) => [name, word.toString(16)]));
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return null;
  }
})"""


def test_rows_of_names_are_read_alike(tmp_path: Path) -> None:
    formats = VOLTA.input_formats
    asked = {"vectors": VECTORS, "names": [*formats], "formats": [fmt.name for fmt in formats.values()]}
    for text, words in zip(VECTORS, answered(ROWS, asked, tmp_path), strict=True):
        try:
            expected = vector_of(text, VOLTA, lambda message: None)
        except TcsmtError:
            assert words is None, (text, words)
        else:
            assert words is not None, text
            assert dict.fromkeys(formats, 0) | {n: int(w, 16) for n, w in words.items()} == expected, text


def test_the_grammar_is_written_down() -> None:
    """Each form with an example, which reads as is said there."""
    page = (ROOT / "docs" / "reference" / "formats.md").read_text(encoding="utf-8")
    for example in ("0x3c00", "-2e-3", "1/3", "0x1.8p-3", "1.5·2^-3", "-inf"):
        assert f"`{example}`" in page
        to_word(FORMATS["f16"], example, lambda message: None)
