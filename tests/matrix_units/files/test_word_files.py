"""Files of hexadecimal words: written, read back, and refused by line where they are wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.files.word_files import as_hex, as_readmemh
from tcsmt.matrix_units.models import Model
from tcsmt.simulate.measured.row_files import model_named_in, read_results, read_rows, write_rows
from tcsmt.simulate.rows import run_words, words_of_row
from tcsmt.study.survey.rows import random_rows
from tcsmt.support.errors import TcsmtError

UNITS = [
    "volta/mma.m8n8k4.f32.f16.f16.f32",
    "ampere/mma.m16n8k4.f32.tf32.tf32.f32",  # words of 32 bits, of which some are ignored
    "x86/vpdpbusd",
]


def one_row() -> tuple[Model, list[int]]:
    model = row_named(UNITS[0]).model
    return model, [*range(1, 10), 0xABCDEF01]


@pytest.mark.parametrize("suffix", [".hex", ".mem"])
@pytest.mark.parametrize("unit", UNITS)
def test_written_word_files_read_back(unit: str, suffix: str, tmp_path: Path) -> None:
    model = row_named(unit).model
    inputs = next(iter(random_rows(model, 20, 1)))
    d, path = run_words(model, inputs), tmp_path / f"rows{suffix}"
    write_rows(path, model, inputs, d, name=unit)
    assert model_named_in(path) == unit
    again = read_rows(path, model)
    assert all(words_of_row(again, n) == words_of_row(inputs, n) for n in range(20))
    assert (read_results(path, model) == d).all()
    assert read_results(path, model).dtype == d.dtype


def test_the_first_word_is_the_highest() -> None:
    """The words after each other, the first highest: what a test bench cuts the number into."""
    model, words = one_row()
    hexadecimal = "0001 0002 0003 0004 0005 0006 0007 0008 00000009 abcdef01"
    assert as_hex(model, [words], "u").splitlines() == [
        "# rows of u", "# columns: a0 a1 a2 a3 b0 b1 b2 b3 c d", hexadecimal
    ]  # fmt: skip
    first, second, line = as_readmemh(model, [words], "u").splitlines()
    assert first == "// rows of u" and second.startswith("// 192 bits: a0 [191:176], ")
    assert second.endswith("c [63:32], d [31:0]")
    assert line == hexadecimal.replace(" ", "")


#: Words of a and b.
EIGHT = " ".join(f"{number:04x}" for number in range(1, 9))


@pytest.mark.parametrize(
    ("suffix", "text", "said"),
    [
        (".hex", "1 2 3\n", "rows.hex:1: 3 words: must be 9, or 10 with the result: a0 a1 "),
        (".hex", f"# x\n\n{EIGHT} g\n", "rows.hex:3: c: 'g' is not a hexadecimal word"),
        (".hex", "10000 2 3 4 5 6 7 8 9", "rows.hex:1: a0: '10000': a word of f16 has 16 bits"),
        (".hex", f"{EIGHT} 00000009\n{EIGHT} 00000009 00000010\n", "rows.hex:2: some rows have a result"),
        (".hex", "# nothing\n", "has no rows"),
        (".mem", "1234\n", "rows.mem:1: 4 digits: must be 40, or 48 with the result"),
        (".mem", "// x\nzz\n", "rows.mem:2: 'zz' is not a hexadecimal word"),
        (".hex", b"\xff\xfe", "is not UTF-8 text"),
    ],
)
def test_wrong_files(suffix: str, text: str | bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / f"rows{suffix}"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(TcsmtError) as error:
        read_rows(path, row_named(UNITS[0]).model)
    assert said in str(error.value)


def test_rows_without_results_are_inputs_alone(tmp_path: Path) -> None:
    model, words = one_row()
    path = tmp_path / "rows.mem"
    path.write_text("0001_0002_0003_0004 // cut here\n")
    with pytest.raises(TcsmtError, match="16 digits"):
        read_rows(path, model)
    path.write_text("".join(f"{w:04x}" for w in words[:8]) + f"{words[8]:08x}\n")
    assert words_of_row(read_rows(path, model), 0) == tuple(words[:9])
    with pytest.raises(TcsmtError, match=r"rows\.mem:1: the row has no result"):
        read_results(path, model)
    assert model_named_in(path) == ""
    assert np.asarray(read_rows(path, model).c).dtype == np.uint32
