"""The catalogue's files: tables of rows, and what rows inherit."""

from __future__ import annotations

import doctest
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcsmt.matrix_units.catalogue import ARCHITECTURES, architecture_files, rows
from tcsmt.matrix_units.catalogue.architecture_files import ArchitectureFile, entries_of
from tcsmt.matrix_units.catalogue.naming import FOLDER
from tcsmt.matrix_units.catalogue.row import Row
from tcsmt.matrix_units.models import FusedDotAdd, IeeeDotAdd
from tcsmt.support.errors import TcsmtError

NUMBERS = st.integers(-(10**6), 10**6)
WORDS = st.from_regex(r"[a-z@:][a-z0-9.:@_-]{0,8}", fullmatch=True).filter(
    lambda w: w not in ("true", "false")
)
CELLS = st.one_of(st.none(), NUMBERS, st.booleans(), WORDS, st.lists(NUMBERS | WORDS, min_size=2, max_size=4))


def text_of(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, list):
        return ",".join(map(text_of, value))
    return {True: "true", False: "false"}[value] if isinstance(value, bool) else str(value)


@pytest.mark.slow
@given(st.integers(1, 5).flatmap(lambda n: st.lists(st.lists(CELLS, min_size=n, max_size=n), min_size=1)))
def test_cells_are_read_as_what_they_were(cells: list[list[Any]]) -> None:
    names = [f"column{number}" for number in range(len(cells[0]))]
    text = "\n".join("   ".join(line) for line in [names, *([text_of(one) for one in row] for row in cells)])
    expected = [{name: one for name, one in zip(names, row, strict=True) if one is not None} for row in cells]
    read = list(entries_of(text))
    assert read == expected
    assert [[type(one) for one in row.values()] for row in read] == [
        [type(one) for one in row.values()] for row in expected
    ]


def test_columns_of_lists_are_lists_of_one_element_too() -> None:
    assert list(entries_of("measured lanes\none 0x10")) == [{"measured": ["one"], "lanes": [16]}]


@pytest.mark.parametrize("line", ["one", "one two three"])
def test_a_line_with_too_few_or_many_cells_is_refused(line: str) -> None:
    with pytest.raises(TcsmtError, match=r"cells: .*2.* a b"):
        list(entries_of(f"a b\n{line}"))


def test_examples() -> None:
    assert doctest.testmod(architecture_files).failed == 0


#: Two rows, each said in full.
IN_FULL = """
[[rows]]
instruction = "mma.f32.f16"
source = "A manual"
date = 2025
evidence = "measured"
measured = ["one", "two"]
kind = "fused-dot-add"
a_format = "f16"
b_format = "f16"
c_format = "f32"
d_format = "f32"
k = 8
n_fma = 4
fraction_bits = 24
zero_exponent = -132
rounding = "RTZ"

[[rows]]
instruction = "mma.f16.f16"
source = "A manual"
date = 2025
evidence = "published"
note = "a note"
kind = "fused-dot-add"
a_format = "f16"
b_format = "f16"
c_format = "f16"
d_format = "f16"
k = 8
n_fma = 8
fraction_bits = 24
zero_exponent = "none"
rounding = "RNE"
negative_zero = true
order = [7, 6, 5, 4, 3, 2, 1, 0]
"""
#: The same rows as a table, with defaults and shared keys, each of which another place overrides.
AS_TABLE = """
[defaults]
date = 1999
source = "A manual"

[shared.half]
c_format = "f16"
d_format = "f16"
zero_exponent = -1
note = "a note"

[[rows]]
kind = "fused-dot-add"
date = 2025
a_format = "f16"
b_format = "f16"
c_format = "f32"
d_format = "f32"
k = 8
n_fma = 8
fraction_bits = 24
table = '''
instruction  n_fma  zero_exponent  rounding  negative_zero  order            inherits  evidence   measured
mma.f32.f16  4      -132           RTZ       -              -                -         measured   one,two
mma.f16.f16  -      none           RNE       true           7,6,5,4,3,2,1,0  half      published  -
'''
"""


def read(text: str) -> list[Row]:
    file = ArchitectureFile("mine", Path("mine.toml"), tomllib.loads(text))
    return [file.row(name) for name in (*file.instructions, *file.sequences)]


def test_a_table_says_what_its_rows_say_in_full() -> None:
    first, second = read(IN_FULL)
    assert [first, second] == read(AS_TABLE)
    assert first == Row(
        architecture="mine", instruction="mma.f32.f16", source="A manual", date=2025, evidence="measured",
        measured=("one", "two"), model=FusedDotAdd.of(
            a_format="f16", b_format="f16", c_format="f32", d_format="f32", k=8, n_fma=4, fraction_bits=24,
            zero_exponent=-132, rounding="RTZ",
        ),
    )  # fmt: skip
    assert isinstance(second.model, FusedDotAdd)
    assert (second.note, second.status, second.measured) == ("a note", "accepted", ())
    assert (second.model.parameters.zero_exponent, second.model.parameters.order) == (
        None,
        (7, 6, 5, 4, 3, 2, 1, 0),
    )


def test_another_reading_changes_what_it_gives_and_nothing_else() -> None:
    text = """
[[rows]]
instruction = "mma.f32.f16@me"
source = "A letter"
date = 2026
evidence = "published"
status = "disputed"
note = "one bit more"
fraction_bits = 25
"""
    first, _, reading = read(IN_FULL + text)
    assert reading == Row(
        architecture="mine", instruction="mma.f32.f16@me", source="A letter", date=2026, evidence="published",
        status="disputed", note="one bit more", model=first.model.replace(fraction_bits=25),
    )  # fmt: skip


def test_another_reading_with_a_kind_has_its_own_parameters_alone() -> None:
    text = """
[[rows]]
instruction = "mma.f32.f16@other"
source = "A letter"
date = 2026
evidence = "published"
kind = "ieee-dot-add"
a_format = "f16"
b_format = "f16"
c_format = "f32"
d_format = "f32"
sum_format = "f32"
k = 8
"""
    *_, reading = read(IN_FULL + text)
    assert reading.model == IeeeDotAdd.of(
        a_format="f16", b_format="f16", c_format="f32", d_format="f32", sum_format="f32", k=8
    )


def test_a_sequence_has_the_models_of_its_instructions() -> None:
    text = """
[[sequences]]
instruction = "mma.f32.both"
source = "A manual"
date = 2026
evidence = "published"
kind = "instruction-sequence"
instructions = ["f16", "f16"]
"""
    first, _, sequence = read(IN_FULL + text)
    assert sequence.model.instructions == (first.model, first.model)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[defaults]", "[default]", "unknown key of mine.toml 'default'"),
        ("half      published", "whole     published", "unknown mine.toml: shared keys 'whole'"),
        ("published  -", "published", "8 cells: must be 9"),
        ('source = "A manual"', "", "mine.toml: mma.f32.f16: missing: source"),
        ("mma.f16.f16", "mma.f32.f16", "mine.toml: mma.f32.f16: given twice"),
        ("n_fma = 8", "n_fmas = 8", "mma.f32.f16: mine.toml: unknown parameter of fused-dot-add 'n_fmas'"),
        ("k = 8", 'k = "eight"', "mma.f32.f16: mine.toml: k = 'eight': must be an integer"),
        ('"fused-dot-add"', '"fused-dot-ad"', "mma.f32.f16: mine.toml: unknown kind of model 'fused-dot-ad'"),
        ("n_fma  zero", "nfma  zero", "mma.f32.f16: mine.toml: unknown parameter of fused-dot-add 'nfma'"),
    ],
)  # fmt: skip
def test_errors_name_the_file_and_the_row(old: str, new: str, message: str) -> None:
    assert old in AS_TABLE
    with pytest.raises(TcsmtError, match=re.escape(message)):
        read(AS_TABLE.replace(old, new))


def test_a_reading_of_an_instruction_that_is_not_above_it_is_refused() -> None:
    text = 'source = "A"\ndate = 2026\nevidence = "published"\n'
    with pytest.raises(TcsmtError, match=re.escape("mine.toml: instruction above 'mma.f16.f8'")):
        read(f'{IN_FULL}[[rows]]\ninstruction = "mma.f16.f8@me"\n{text}')


def test_each_row_has_one_entry_that_its_name_finds() -> None:
    """Literally: in its architecture's file, one line has the name as a word."""
    words = {
        name: re.findall(r"[^\s\"]+", (FOLDER / f"{name}.toml").read_text(encoding="utf-8"))
        for name in ARCHITECTURES
    }
    for row in rows():
        assert words[row.architecture].count(row.instruction) == 1, row.name
    assert {path.stem for path in FOLDER.glob("*.toml")} == set(ARCHITECTURES)
