"""Inputs as text, rows of words in files, packed rows: what is written reads back; the rest is refused."""

from __future__ import annotations

import struct
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.files.word_files import (
    as_hex,
    as_readmemh,
    batch,
    neutral,
    result_type,
    row_type,
    vector_of,
)
from tcsmt.matrix_units.models import Model, Operands
from tcsmt.simulate.measured.row_files import model_named_in, read_results, read_rows, write_rows
from tcsmt.simulate.rows import run_words, words_of_row
from tcsmt.support.errors import TcsmtError
from tcsmt.surveys.units.vectors import random_rows

VOLTA = row_named("volta/mma.m8n8k4.f32.f16.f16.f32").model
SCALED = row_named("rtx-blackwell/mma.m16n8k64.kind::mxf4.block32.f32.e2m1.e2m1.f32.ue8m0").model


@given(words=st.dictionaries(st.sampled_from(["a0", "a3", "b1", "c"]), st.integers(0, 0x7BFF), min_size=1))
def test_words_and_exact_numbers_mean_the_same(words: dict[str, int]) -> None:
    formats = VOLTA.input_formats
    as_words = " ".join(f"{name}={formats[name].hex(word)}" for name, word in words.items())
    exact = {name: float(formats[name].value(word)) for name, word in words.items()}
    as_numbers = ",".join(f"{name}={number.hex()}" for name, number in exact.items())
    expected = dict.fromkeys(VOLTA.input_names, 0) | words
    assert vector_of(as_words, VOLTA) == vector_of(as_numbers, VOLTA) == expected


def test_block_scales_that_are_not_named_are_one() -> None:
    """1 in UE8M0 is 127."""
    found = vector_of("a0=1", SCALED)
    scales = {name for name in found if name.startswith("s")}
    assert scales and {found[name] for name in scales} == {127}
    assert found["c"] == neutral("c", SCALED.c_format) == 0
    assert list(found) == list(SCALED.input_names)


def test_rounded_numbers_are_reported() -> None:
    """0.1 lies between two numbers of binary16; 0x2e66 is the nearer one."""
    told: list[str] = []
    assert vector_of("a0=0.1 b0=0.25", VOLTA, told.append)["a0"] == 0x2E66
    assert len(told) == 1 and told[0].startswith("a0: 0.1 is not an exact f16 value")
    near = [VOLTA.a_format.value(word) for word in (0x2E65, 0x2E66, 0x2E67)]
    assert min(near, key=lambda x: abs(x - Fraction(1, 10))) == near[1]
    with pytest.raises(TcsmtError, match=r"a0: .*0\.1"):
        vector_of("a0=0.1", VOLTA)


@pytest.mark.parametrize(("text", "said"), [
    ("", r"the vector names no input; give at least one, such as a0=1\.5"), (" , ", "names no input"),
    ("a0", "'a0' does not have the form NAME=VALUE"), ("a0=1 a0=2", "a0 is given twice"),
    ("a4=1", "unknown input 'a4'"),
    ("a0=65520", "a0: '65520' is not representable in f16"),
    ("a0=one", "a0: .*one"),
    ("a0=0x12345", "a0: .*0x12345"),
])  # fmt: skip
def test_bad_text(text: str, said: str) -> None:
    with pytest.raises(TcsmtError, match=said):
        vector_of(text, VOLTA)


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


def test_a_batch_is_its_rows_after_each_other() -> None:
    model = row_named("volta/mma.m8n8k4.f32.f16.f16.f32").model
    a = np.array([[1, 2, 3, 4], [5, 6, 7, 0xFFFF]], np.uint16)
    c = np.array([0x3F800000, 0xFFFFFFFF], np.uint32)
    data = batch(model, Operands(a, a + 1, c))
    expected = struct.pack("<I", 2)
    for x, z in zip(a.tolist(), c.tolist(), strict=True):
        expected += struct.pack("<8HI", *x, *((w + 1) & 0xFFFF for w in x), z)
    assert data == expected
    assert row_type(model).itemsize == 20
    assert result_type(model).itemsize == 4
    back = np.frombuffer(data[4:], row_type(model))
    assert (back["a"] == a).all()
    assert (back["c"] == c).all()


def test_block_scales_follow_c() -> None:
    model = row_named("rtx-blackwell/mma.m16n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3").model
    a, scales = np.zeros((1, 64), np.uint8), np.array([[1, 2, 3, 4]], np.uint8)
    data = batch(model, Operands(a, a, np.array([7], np.uint32), scales, scales + 1))
    assert data[4 + 128 :] == bytes([7, 0, 0, 0, 1, 2, 3, 4, 2, 3, 4, 5])
