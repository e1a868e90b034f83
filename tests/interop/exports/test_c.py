"""The C header against the simulator: both functions, two compilers, every kind of unit."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from tcsmt.matrix_units.catalogue import Row, rows
from tests.support.exported import OWN, c_header, decided, one_of_each_kind, own_formats


def check(row: Row, count: int, folder: Path, *compiler: str) -> None:
    inputs, d = decided(row, count)
    for found in c_header(row, inputs, folder, *compiler):
        assert np.array_equal(found, d), row.name


@pytest.mark.parametrize("row", one_of_each_kind(), ids=lambda row: row.model.kind)
@pytest.mark.slow_cases("ieee-dot-add")
def test_kinds(row: Row, tmp_path: Path) -> None:
    check(row, 500, tmp_path)


@pytest.mark.parametrize("name", OWN)
def test_own_formats(name: str, tmp_path: Path) -> None:
    check(own_formats(name, tmp_path), 2000, tmp_path)


def test_bits_above_a_word_do_not_count(tmp_path: Path) -> None:
    row = own_formats("fixed", tmp_path)
    inputs, d = decided(row, 100)
    above = {"a": 1 << 7, "b": 7 << 5, "c": 1 << 21 | 1 << 31}
    for name, bits in above.items():
        inputs.named[name][...] |= inputs.named[name].dtype.type(bits)
    for found in c_header(row, inputs, tmp_path):
        assert np.array_equal(found, d)


@pytest.mark.long
@pytest.mark.parametrize(
    "compiler", [("gcc", "-O3"), ("clang", "-O3"), ("gcc", "-O1", "-fsanitize=undefined")]
)
@pytest.mark.parametrize("row", one_of_each_kind(), ids=lambda row: row.model.kind)
def test_compilers(row: Row, compiler: tuple[str, ...], tmp_path: Path) -> None:
    """Optimised, and with what C leaves undefined made an error."""
    if shutil.which(compiler[0]) is None:
        pytest.skip(f"{compiler[0]} is not installed")
    extra = ("-fno-sanitize-recover=all",) if "sanitize" in compiler[-1] else ()
    check(row, 4000, tmp_path, *compiler, *extra)


@pytest.mark.long
def test_every_graph_of_the_catalogue_is_right_in_c(tmp_path: Path) -> None:
    """Every graph of the catalogue."""
    for row in {row.model.digest: row for row in rows(claims=True)}.values():
        check(row, 200, tmp_path)
