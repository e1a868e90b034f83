"""Programs in files: as units by name, what is wrong in a file, and numbers by NumPy."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

import tcsmt
from tcsmt.interface.api.units import side_of
from tcsmt.matrix_units.resolve import reference
from tcsmt.programs.names import is_program
from tcsmt.programs.written.programs import WrittenProgram, lines_of
from tcsmt.support.errors import TcsmtError
from tests.support.command_line import done

UNIT = "volta/mma.m8n8k4.f32.f16.f16.f32"
STAGED = f"""
title = "two chains, side by side"
source = "a test"
a_format = "f16"
b_format = "f16"
nan = "quiet"
program = '''
for P in split(K, 2):
    s[P] = chain(V, A·B over P, +0)   # each from +0
t = sum(s, order, f32)
d = any_of("last", add(t, c, f32), convert(t, bf16))
'''

[units]
V = "{UNIT}"
"""


@pytest.fixture
def staged(tmp_path: Path) -> Path:
    path = tmp_path / "staged.toml"
    path.write_text(STAGED, "utf-8")
    return path


def test_names() -> None:
    assert is_program("a/b.toml@16") and is_program("b.TOML,x=1,y=0@8")
    assert not any(map(is_program, ("b.toml", "b.toml@", "b.toml+split-k:2@8", "h100@8")))


def test_a_program_is_a_unit(staged: Path) -> None:
    name = f"{staged},last=0@8"
    unit = tcsmt.unit(name)
    assert unit.name == "program/staged,last=0@8" and unit.row.source == "a test" and unit.k == 8
    rng = np.random.default_rng(3)
    a, b = (rng.integers(-9, 9, (6, 8)).astype(np.float16) for _ in "ab")
    c = rng.integers(-9, 9, 6).astype(np.float32)
    assert (unit(a, b, c) == (a.astype(float) * b).sum(axis=1) + c).all()
    model = side_of(name).row.model
    assert isinstance(model, WrittenProgram) and pickle.loads(pickle.dumps(model)) == model
    assert hash(model) == hash(side_of(name).row.model) and model != side_of(f"{staged},last=0@9").row.model
    assert model.as_json()["steps"] == model.identity and model.knows_nans
    assert lines_of(model.program)[0] == f"v0 = chain({UNIT}, A·B over K[0:4], +0)"
    assert tcsmt.unit(f"{staged},last=1@8").d_format == "bf16"
    assert reference(name, side_of(name).row) == name


@pytest.mark.slow
def test_programs_are_compared_with_kernels(staged: Path) -> None:
    """The kernel adds C before its parts: another order, and a witness; in the same order, they are equal."""
    assert tcsmt.compare(f"{staged},last=0@8", f"{UNIT}+split-k:2@8").equal is False
    staged.write_text(STAGED.replace("add(t, c, f32)", "multiply_add(t, 1:f32, c, f32)"), "utf-8")
    assert tcsmt.compare(f"{staged},last=0@8", f"{UNIT}+split-k:2+c=epilogue,nan=quiet@8").equal


@pytest.mark.parametrize(
    ("old", "new", "where", "why"),
    [
        ("over P", "over Q", 9, "'Q' is no part of K"),
        ("bf16)", "bf17)", 11, "bf17"),
        ("a_format", "aformat", 4, "did you mean a_format"),
        ('nan = "quiet"', 'nan = "loud"', 0, "loud"),
        ('a_format = "f16"\n', "", 0, "these are needed: a_format"),
        (f'"{UNIT}"', '"volta/nothing"', 9, "nothing"),
        ('a_format = "f16"', 'a_format = "bf16"', 9, "takes f16 words, not bf16"),
    ],
)
def test_errors_name_file_and_line(staged: Path, old: str, new: str, where: int, why: str) -> None:
    assert old in STAGED
    staged.write_text(STAGED.replace(old, new), "utf-8")
    with pytest.raises(TcsmtError, match=why) as error:
        side_of(f"{staged},last=0@8")
    assert not where or str(error.value).startswith(f"{staged}:{where}:"), error.value


@pytest.mark.parametrize("options", ["", ",last=2", ",last", ",other=0"])
def test_freedoms_are_asked_for(staged: Path, options: str) -> None:
    with pytest.raises(TcsmtError, match="last"):
        side_of(f"{staged}{options}@8")


def test_a_program_without_its_k_is_told_so(staged: Path) -> None:
    with pytest.raises(
        TcsmtError, match=r"staged\.toml:7: a program as a unit needs its K .*staged\.toml@64"
    ):
        side_of(str(staged))


def test_chains_that_a_unit_cannot_make(tmp_path: Path) -> None:
    path = tmp_path / "odd.toml"
    unit = "volta/mma.m8n8k4.f32.f16.f16.f16"
    path.write_text(
        'a_format = "f16"\nb_format = "f16"\nc_format = "f16"\n'
        f'program = "d = chain({unit}, A·B over K, c)"\n',
        "utf-8",
    )
    assert side_of(f"{path}@4").row.model.d_format.name == "f32"
    with pytest.raises(TcsmtError, match="cannot be chained"):
        side_of(f"{path}@8")
    for k in (0, 1 << 20):
        with pytest.raises(TcsmtError, match="must be from 1 to 65536"):
            side_of(f"{path}@{k}")


def test_commands_take_programs(staged: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(staged.parent)
    shown = done("describe", "staged.toml,last=0@8", "--steps")
    assert shown.splitlines()[0] == "# program/staged,last=0@8" and "d = add(v2, c, f32)" in shown
    assert "bf16" in done("describe", "staged.toml,last=1@8")
