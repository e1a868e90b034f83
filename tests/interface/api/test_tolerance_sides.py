"""Tolerances of algorithms and of programs in files: results held against them, and what is refused."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import tcsmt

RNG = np.random.default_rng(7)
A, B, C = (RNG.standard_normal(shape).astype("f4") for shape in ((24, 64), (64, 16), (24, 16)))
FORMATS = 'a_format = "f32"\nb_format = "f32"\nnan = "quiet"\n'
FMA = '\n[units]\nU = "ieee/fma.f32"\nV = "ieee/fma.f32.f16"\n'
HEAD = FORMATS + "program = '''\n"


def written(folder: Path, lines: str, more: str = "", head: str = HEAD) -> str:
    path = folder / "p.toml"
    path.write_text(head + lines + "\n'''\n" + more + FMA)
    return str(path)


def held(kernel: str, exact: np.ndarray, d: np.ndarray, a=A, b=B, c=None, unit=None, inputs=None) -> float:
    """The largest part of its bound that an error is; every element must be within it."""
    bound = tcsmt.tolerance(a, b, c, kernel=kernel, unit=unit, inputs=inputs, search=0)
    assert np.isfinite(bound.atol).all() and bound.check(d).close
    assert np.allclose(bound.exact, exact, rtol=1e-12, atol=1e-12)
    error = np.abs(d.astype("f8") - exact)
    assert (error <= bound.atol + bound.exact_error + 1e-14).all()
    return float((error / bound.atol).max())


def dot(a=A, b=B) -> np.ndarray:
    return a.astype("f8") @ b.astype("f8")


@pytest.mark.parametrize("name", ["cutlass-3xtf32", pytest.param("bf16x3-kahan", marks=pytest.mark.slow)])
def test_algorithms(name: str) -> None:
    d = tcsmt.accuracy.multiply(A, B, C, algorithm=name, unit="ampere")
    assert held(name, dot() + C, d, c=C, unit="ampere") > 0.03
    bound = tcsmt.tolerance(A, B, C, kernel=name, unit="ampere", search=0.05)
    assert bound.largest is not None and 0 < bound.largest.share <= 1
    assert "exact: c + Σ a·b" in str(bound) and f"{name} on ampere/" in str(bound)
    found = bound.check(d + np.float32(1))
    assert not found.close and found.diagnosis is None and "is not what" in str(found)


def test_an_algorithm_against_a_kernel() -> None:
    """The unit is the algorithm's; the kernel names its own."""
    both = tcsmt.tolerance(A, B, kernel="cutlass-3xtf32", unit="ampere", against="ieee/fma.f32", search=0)
    one = tcsmt.tolerance(A, B, kernel="cutlass-3xtf32", unit="ampere", search=0)
    other = tcsmt.tolerance(A, B, kernel="ieee/fma.f32", search=0)
    assert np.allclose(both.atol, one.atol + other.atol) and both.against == "ieee/fma.f32+chained"


def test_words_that_are_left_out_count() -> None:
    """One f16 word of each number: the tolerance is what rounding A and B does, nearly."""
    d = tcsmt.accuracy.multiply(A, B, algorithm="single-f16", unit="ampere")
    assert held("single-f16", dot(), d, unit="ampere") > 0.9


def test_ten_to_the_fifth_elements() -> None:
    a, b = (RNG.standard_normal(shape).astype("f4") for shape in ((320, 24), (24, 320)))
    d = tcsmt.accuracy.multiply(a, b, algorithm="ootomo-tf32tf32", unit="ampere")
    assert d.size > 10**5
    assert held("ootomo-tf32tf32", dot(a, b), d, a, b, unit="ampere") > 0.05


@pytest.mark.parametrize(
    ("lines", "exact"),
    [
        ("d = add(chain(U, A·B over K, +0), c, f32)", lambda t: t + C),
        ("t = chain(U, A·B over K, +0)\nd = maximum(t, +0:f32, nan=propagated)", lambda t: np.maximum(t, 0)),
        ("t = chain(U, A·B over K, +0)\nd = multiply(t, c, f32, RTZ)", lambda t: t * C),
        ("t = chain(U, A·B over K, +0)\nd = divide(t, add(multiply(c, c, f32), 1:f32, f32), f32)",
         lambda t: t / (C.astype("f8") ** 2 + 1)),
        ("t = chain(U, A·B over K, +0)\nd = select(compare(t, less, +0:f32), multiply(t, 0.25:f32, f32), t)",
         lambda t: np.where(t < 0, t / 4, t)),
        ("t = chain(U, A·B over K, +0)\nd = nearest(ex2, multiply(t, 0.125:f32, f32))",
         lambda t: 2 ** (t / 8)),
        ("x = convert(A, f16)\ny = convert(B, f16)\nd = convert(chain(V, x·y over K, c), bf16, RTZ)",
         lambda t: t + C),
    ],
)  # fmt: skip
def test_steps_of_a_file(tmp_path: Path, lines: str, exact) -> None:
    text, c = written(tmp_path, lines), C if re.search(r"\bc\b", lines) else None
    d = tcsmt.accuracy.multiply(A, B, c, algorithm=text)
    assert held(text, exact(dot()), d, c=c) > 0.01


def test_scales_of_blocks(tmp_path: Path) -> None:
    lines = (
        "acc = +0:f32\nfor P in blocks(K, 32):\n    p = chain(U, A·B over P, +0)\n"
        "    q = multiply(p, sa[P], f32)\n    acc = add(multiply(q, sb[P], f32), acc, f32)\nd = acc"
    )
    text = written(tmp_path, lines, '[inputs]\nsa = "f32 A/32"\nsb = "f32 B/32"\n')
    sa, sb = (RNG.random(shape, np.float32) for shape in ((24, 2), (2, 16)))
    inputs = {"sa": sa, "sb": sb}
    d = tcsmt.accuracy.multiply(A, B, algorithm=text, inputs=inputs)
    wide = sa.astype("f8"), sb.astype("f8")
    parts = [
        dot(A[:, 32 * n :][:, :32], B[32 * n :][:32]) * wide[0][:, n, None] * wide[1][n] for n in range(2)
    ]
    assert held(text, sum(parts), d, inputs=inputs) > 0.02
    with pytest.raises(tcsmt.TcsmtError, match="input sb"):
        tcsmt.tolerance(A, B, kernel=text, inputs={"sa": sa})


def test_integers_with_zero_points(tmp_path: Path) -> None:
    head = 'a_format = "s8"\nb_format = "s8"\nc_format = "s32"\nnan = "quiet"\nprogram = \'\'\'\n'
    lines = (
        "s = chain(ampere/mma.m16n8k32.s32.s8.s8.s32, A·B over K, 0)\n"
        "r = sum(convert(A, s32), order, s32, wrap)\n"
        "i = add(s, -multiply(zb, r, s32), s32)\nd = multiply(convert(i, f32, RNE), sa, f32, RNE)"
    )
    text = written(tmp_path, lines, '[inputs]\nzb = "s32 b"\nsa = "f32 a"\n', head)
    a, b = (RNG.integers(-128, 128, shape).astype("i1") for shape in ((24, 64), (64, 16)))
    sa, zb = RNG.random(24, np.float32), RNG.integers(-9, 9, 16).astype("i4")
    inputs = {"sa": sa, "zb": zb}
    d = tcsmt.accuracy.multiply(a, b, algorithm=text, inputs=inputs)
    wanted = (dot(a, b) - a.astype("f8").sum(1)[:, None] * zb) * sa.astype("f8")[:, None]
    assert held(text, wanted, d, a, b, inputs=inputs) > 0.2


def test_what_is_refused(tmp_path: Path) -> None:
    def refused(match: str, kernel: str, c=None, **how) -> None:
        with pytest.raises(tcsmt.TcsmtError, match=match):
            tcsmt.tolerance(A, B, c, kernel=kernel, search=0, **how)

    refused("unit is missing", "markidis")
    refused("no bound of ozaki1-int8", "ozaki1-int8", unit="ampere")
    refused("names its unit", "ieee/fma.f32", unit="ampere")
    refused("takes no bias", "markidis", unit="ampere", bias=np.ones(16, "f4"))
    refused("takes A in f32, not in f16", "markidis", unit="ampere", a_format="f16")
    refused("inputs are those", "ieee/fma.f32", inputs={"s": 1})
    text = written(tmp_path, "d = chain(U, A·B over K, +0)")
    refused("does not read it", text, c=C)
    refused("unknown input 's'", text, inputs={"s": 1})
    text = written(tmp_path, "d = convert(A, f16)")
    refused("a word for each of A", text)
