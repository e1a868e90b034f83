"""Matrices by programs in files, against NumPy and against the kernel of the same steps."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tcsmt
from tcsmt.programs.written.on_matrices import is_program_file
from tests.support.command_line import done, refused

UNIT = "volta/mma.m8n8k4.f32.f16.f16.f32"
TEXT = f"""
a_format = "f16"
b_format = "f16"
nan = "quiet"
program = '''
for P in split(K, 2):
    s[P] = chain({UNIT}, A·B over P)
d = any_of("last", add(sum(s, order), c, f32), convert(sum(s, order), f16))
'''
"""


@pytest.fixture
def program(tmp_path: Path) -> str:
    path = tmp_path / "halves.toml"
    path.write_text(TEXT, "utf-8")
    return str(path)


def test_products_are_those_of_the_steps(program: str) -> None:
    rng = np.random.default_rng(4)
    a, b = rng.standard_normal((7, 18)).astype(np.float16), rng.standard_normal((18, 5)).astype(np.float16)
    c = rng.standard_normal((7, 5)).astype(np.float32)
    parts = (tcsmt.gemm(a[:, part], b[part], unit=UNIT) for part in (slice(9), slice(9, 18)))
    total = sum(parts, np.float32(0))
    d = tcsmt.accuracy.multiply(a, b, c, algorithm=f"{program},last=0")
    assert d.dtype == np.float32 and (d == total + c).all()
    half = tcsmt.accuracy.multiply(a, b, algorithm=f"{program},last=1")
    assert half.dtype == np.float16 and (half == total.astype(np.float16)).all()


def test_what_is_no_program_needs_a_unit(program: str, tmp_path: Path) -> None:
    a = np.ones((2, 4), np.float16)
    assert is_program_file(program) and not is_program_file("markidis")
    with pytest.raises(tcsmt.TcsmtError, match="unit is missing"):
        tcsmt.accuracy.multiply(a, a.T, algorithm="markidis")
    with pytest.raises(tcsmt.TcsmtError, match="C has shape"):
        tcsmt.accuracy.multiply(a, a.T, a, algorithm=f"{program},last=0")
    with pytest.raises(tcsmt.TcsmtError, match="the number of columns of A"):
        tcsmt.accuracy.multiply(a, a, algorithm=f"{program},last=0")
    with pytest.raises(tcsmt.TcsmtError, match=r"absent\.toml"):
        tcsmt.accuracy.multiply(a, a.T, algorithm=str(tmp_path / "absent.toml"))


def test_the_command(program: str, tmp_path: Path) -> None:
    for name in "ab":
        np.save(tmp_path / f"{name}.npy", np.ones((4, 4), np.float16))
    paths = ["--a", tmp_path / "a.npy", "--b", tmp_path / "b.npy", "--output", tmp_path / "d.npy"]
    text = done("accuracy", "multiply", f"{program},last=0", *paths)
    assert "4 x 4 float32" in text and (np.load(tmp_path / "d.npy") == 4).all()
    assert "choose one of last=0, last=1" in refused("accuracy", "multiply", program, *paths)
