"""Programs in files: as units by name, what is wrong in a file, and numbers by NumPy."""

from __future__ import annotations

import pickle
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tcsmt
from tcsmt.interface.api.units import side_of
from tcsmt.matrix_units.resolve import reference
from tcsmt.programs.names import is_program
from tcsmt.programs.written.programs import WrittenProgram, lines_of
from tcsmt.support.errors import TcsmtError
from tests.oracles.rationals import rounded
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


SCALED = f"""
a_format = "f16"
b_format = "f16"
nan = "quiet"
program = '''
acc = c
for P in blocks(K, 8):
    acc = multiply_add(multiply(chain({UNIT}, A·B over P), sa[P], f32), sb[P], acc, f32)
d = add(acc, bias, f32, RTZ, shift=3)
'''
[inputs]
sa = "f32 A/8"
sb = "f32 B/8"
bias = "f32"
"""


def test_scales_of_a_program_are_those_of_a_unit(tmp_path: Path) -> None:
    """A row and a column have as many as they have blocks; another input is a number in the unit's name."""
    path = tmp_path / "scaled.toml"
    path.write_text(SCALED, "utf-8")
    model = side_of(f"{path},bias=-1.5@16").row.model
    assert model.scale_format is not None and model.scale_format.name == "f32" and model.scales == 2
    rng = np.random.default_rng(6)
    a, b = (rng.standard_normal((4, 16)).astype(np.float16) for _ in "ab")
    c, sa, sb = (rng.random(shape).astype(np.float32) for shape in (4, (4, 2), (4, 2)))
    unit = tcsmt.unit(f"{path},bias=-1.5@16")
    found = unit(a, b, c, scale_a=sa, scale_b=sb)
    for row in range(4):
        given = {"sa": sa[row : row + 1], "sb": sb[row][:, None], "bias": np.float32(-1.5)}
        (wanted,) = tcsmt.accuracy.multiply(
            a[row : row + 1], b[row][:, None], c[row].reshape(1, 1), algorithm=str(path), inputs=given
        )
        assert found[row] == wanted[0]
        exact = Fraction(float(acc(a[row], b[row], c[row], sa[row], sb[row]))) / 8 - Fraction(3, 2)
        assert Fraction(float(found[row])) == rounded(exact, 24, -126, "RTZ")


@pytest.mark.parametrize("text", ["add(c, A, f32, shift=3)", "add(A, c, f32, RTZ, shift=3)"])
def test_a_shift_is_of_the_first_number(tmp_path: Path, text: str) -> None:
    """On terms as on arrays, whichever comes first in the order in which sums are compared."""
    path = tmp_path / "shift.toml"
    text = text.replace("A", f"chain({UNIT}, A·B over K)")
    path.write_text(f'a_format = "f16"\nb_format = "f16"\nnan = "quiet"\nprogram = "d = {text}"\n', "utf-8")
    found = tcsmt.unit(f"{path}@1")(np.float16([[4]]), np.float16([[6]]), np.float32([80]))
    assert found[0] == (34 if text.startswith("add(c,") else 83)


def acc(a: Any, b: Any, c: Any, sa: Any, sb: Any) -> np.float32:
    """The sum before the bias: products in longdouble, which has both their words and 16 bits more."""
    total = c
    for block in range(2):
        part = slice(8 * block, 8 * block + 8)
        q = tcsmt.gemm(a[None, part], b[part, None], unit=UNIT)[0, 0] * sa[block]
        total = np.float32(np.longdouble(q) * np.longdouble(sb[block]) + np.longdouble(total))
    return np.float32(total)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("@16", "input sa: a unit takes A, B, c"),
        (",bias=1@12", "input sa: a unit takes .* for whole blocks"),
        (",bias=1x@16", "bias=1x: 'x' is not expected"),
        (",bias=sa@16", "bias=sa: this name is taken"),
        (",sa=x,sb=x@16", "sb=x: this name is taken"),
        (",bias=a3@16", "input a3: a unit's words are called so"),
        (",bias=scale_b@16", "input scale_b: a unit's words are called so"),
        (",bia=1@16", "freedom 'bia'"),
    ],
)
def test_inputs_that_a_unit_does_not_have(tmp_path: Path, name: str, why: str) -> None:
    path = tmp_path / "scaled.toml"
    path.write_text(SCALED, "utf-8")
    with pytest.raises(TcsmtError, match=why):
        _ = side_of(f"{path}{name}").row


def test_inputs_of_a_program_have_their_own_names(tmp_path: Path) -> None:
    """A bias is no word of b, and the numbers are those of NumPy, block by block."""
    path = tmp_path / "scaled.toml"
    path.write_text(SCALED, "utf-8")
    unit = tcsmt.unit(f"{path},sb=alpha@16")
    assert unit.model.scales == 0 and unit.model.input_names[32:] == [
        "c", "sa[0]", "sa[1]", "alpha[0]", "alpha[1]", "bias",
    ]  # fmt: skip
    data = unit.model.as_json()
    assert data["inputs"] == {"sa": "f32 A/8", "alpha": "f32 B/8", "bias": "f32"}
    rng = np.random.default_rng(8)
    a, b = (rng.standard_normal((4, 16)).astype(np.float16) for _ in "ab")
    c, bias, sa, sb = (rng.random(shape).astype(np.float32) for shape in (4, 4, (4, 2), (4, 2)))
    found = unit(a, b, c, further={"sa": sa, "alpha": sb, "bias": bias})
    for row in range(4):
        total = acc(a[row], b[row], c[row], sa[row], sb[row])
        exact = Fraction(float(total)) / 8 + Fraction(float(bias[row]))
        assert Fraction(float(found[row])) == rounded(exact, 24, -126, "RTZ")
    for given, why in (
        ({"sa": sa, "alpha": sb}, "bias is missing: the unit takes 1 f32 words"),
        ({"sa": sa, "alpha": sa[:, :1], "bias": bias}, "alpha has shape"),
        ({"sa": sa, "alpha": sb, "bias": bias, "beta": bias}, "beta is given, but the unit has inputs a, b"),
    ):
        with pytest.raises(TcsmtError, match=why):
            unit(a, b, c, further=given)


TILED = f"""
a_format = "f16"
b_format = "f16"
tile = 3
program = '''
s = chain({UNIT}, A·M over K)
m = maximum(s, nan=propagated)
d = add(m, top, f32)
'''
[inputs]
M = "f16 tK"
top = "f32"
"""


def test_inputs_of_each_member_of_a_tile(tmp_path: Path) -> None:
    path = tmp_path / "tiled.toml"
    path.write_text(TILED, "utf-8")
    unit = tcsmt.unit(f"{path}@4")
    assert [name for name in unit.model.input_names if name[0] == "M"] == [f"M[{n}]" for n in range(12)]
    a, zeros = np.float16([[1, 2, 3, 4]]), np.zeros((1, 4), np.float16)
    members = np.float16([[1, 1, 1, 1], [2, 0, 0, 2], [-4, 0, 0, -4]])
    found = unit(a, zeros, further={"M": members.reshape(1, 12), "top": np.float32([0.5])})
    assert found.tolist() == [float((a * members).sum(axis=1).max()) + 0.5]
    path.write_text(TILED.replace("tile = 3\n", ""), "utf-8")
    with pytest.raises(TcsmtError, match="inputs of axes t, tB and tK need a tile"):
        side_of(f"{path}@4")


@pytest.mark.parametrize("suffix", ["csv", "json", "npz", "hex", "mem"])
def test_files_have_inputs_by_their_names(tmp_path: Path, suffix: str) -> None:
    path, rows = tmp_path / "scaled.toml", tmp_path / f"rows.{suffix}"
    path.write_text(SCALED, "utf-8")
    vectors = tcsmt.vectors(f"{path}@16", "random", rows=9, output=rows)
    assert (tcsmt.run(f"{path}@16", rows).d == vectors.d).all() and len(set(vectors.d.tolist())) > 5


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ('"f32 A/8"', '"f32 A/0"', "input sa: 'f32 A/0'"),
        ('"f32 A/8"', '"f32 a"', "sa has no words along K"),
        ('sb = "f32 B/8"', 'sb = "f32 B/8"\nz = "f32 a"', "one input of scales of each side"),
        ('"f32 A/8"', '"f32 A/4"', "has a word for each 4 of K: this part has 2"),
        ("sb = ", "K = ", "input K: this name is taken"),
        ("[inputs]", 'tile = "x"\n[inputs]', "tile: must be an integer"),
    ],
)
def test_inputs_that_are_wrong(tmp_path: Path, old: str, new: str, why: str) -> None:
    path = tmp_path / "scaled.toml"
    path.write_text(SCALED.replace(old, new), "utf-8")
    with pytest.raises(TcsmtError, match=why):
        _ = side_of(f"{path},bias=1@16").row


def test_bounds_refuse_scales_by_name(tmp_path: Path) -> None:
    path = tmp_path / "scaled.toml"
    path.write_text(SCALED, "utf-8")
    with pytest.raises(TcsmtError, match="input sa"):
        tcsmt.accuracy.bound(f"{path},bias=1@16", search=1)
