"""Emulations by name and by file, and what is not one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tcsmt.programs.recipes.emulation.named import EMULATIONS, emulation_named, is_emulation
from tcsmt.programs.recipes.emulation.schemes import Slices
from tcsmt.programs.recipes.named import recipe_named
from tcsmt.support.errors import TcsmtError


def test_every_emulation_runs_on_a_unit_and_has_no_namesake() -> None:
    for name in EMULATIONS:
        found, row = emulation_named(name, "hopper")
        assert found.unit is row.model
        assert is_emulation(name.upper())
        with pytest.raises(TcsmtError, match="multiplies binary64 matrices"):
            recipe_named(name)
    assert not is_emulation("markidis")
    with pytest.raises(TcsmtError, match="it needs a unit from e4m3 to 32 bits"):
        emulation_named("ozaki1-e4m3", "volta")


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('base = "ozaki1-int8"\nslices = 3\nproducts = [[0, 0], [1, 0]]\norder = "reversed"\n')
    assert is_emulation(str(path))
    found, _ = emulation_named(f"{path},bits=6", "turing")
    assert isinstance(found, Slices)
    assert found.products == ((1, 0), (0, 0))
    assert (found.cut.bits, found.cut.count) == (6, 3)
    for text, said in (
        ('slices = "many"', r"mine.toml:2: slices = 'many'"),
        ("words = 3", "unknown key of an emulation 'words'"),
        ("products = [[0]]", "must be pairs"), ("slices = 1.5", "must be a number or a name"),
    ):  # fmt: skip
        path.write_text(f'base = "ozaki1-int8"\n{text}\n')
        with pytest.raises(TcsmtError, match=said):
            emulation_named(str(path), "turing")
    path.write_text('base = "markidis"\n')
    assert not is_emulation(str(path))
