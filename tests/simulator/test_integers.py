"""Units for integers on arrays: compiled and interpreted, one row at a time and as matrix products."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tcsmt.arithmetic.integer_format import INTEGERS, IntegerFormat
from tcsmt.interpret import jit
from tcsmt.kernels.epilogue import Epilogue
from tcsmt.kernels.gemm import gemm
from tcsmt.kernels.reduction import split_k
from tcsmt.models import IntegerDotAdd, Operands
from tcsmt.simulator.compiled import kernel
from tcsmt.simulator.rows import run_words, simulate
from tcsmt.support.errors import TcsmtError
from tests.oracles import integers

S32 = INTEGERS["s32"]
VNNI = IntegerDotAdd(a_format=INTEGERS["u8"], b_format=INTEGERS["s8"], c_format=S32, d_format=S32, k=4)
S4 = INTEGERS["s4"]
UNITS = {
    "wrap": VNNI,
    "saturate": replace(VNNI, overflow="saturate"),
    "blocks": replace(VNNI, overflow="saturate", n_fma=2),
    "s4": replace(VNNI, a_format=S4, b_format=S4, k=8),
    "narrow": replace(VNNI, a_format=S4, b_format=S4, c_format=S4, d_format=S4, k=2, overflow="saturate"),
}


def drawn(unit: IntegerDotAdd, rows: int) -> Operands[np.ndarray, np.ndarray]:
    """Words about the ends of c, so that sums overflow."""
    rng = np.random.default_rng(5)
    a, b = (
        rng.integers(0, 2**fmt.bits, (rows, unit.k)).astype(np.uint8)
        for fmt in (unit.a_format, unit.b_format)
    )
    c = rng.choice([0, 1, -1], rows) * (1 << (unit.c_format.bits - 2)) * 2 + rng.integers(-9, 10, rows)
    size = np.uint32 if unit.c_format.bits == 32 else np.uint8
    return Operands(a, b, (c % (1 << unit.c_format.bits)).astype(size))


@pytest.mark.parametrize("name", UNITS)
def test_rows(name: str) -> None:
    """Interpreted, and compiled where that is possible, against Python's integers."""
    unit = UNITS[name]
    x = drawn(unit, 700)
    expected = []
    for a, b, c in zip(x.a, x.b, x.c, strict=True):
        row = [int(word) for word in (*a, *b, c)]
        expected.append(integers.result(unit, dict(zip(unit.input_names, row, strict=True))))
    assert run_words(unit, x).tolist() == expected
    if jit.available():
        assert kernel(unit).rows(x.parts).tolist() == expected


def test_numbers() -> None:
    d = simulate(VNNI, np.array([[255, 0, 0, 1]], np.uint8), np.array([[-128, 0, 0, -1]], np.int8), [7])
    assert d.dtype == np.int32
    assert d.tolist() == [255 * -128 - 1 + 7]
    with pytest.raises(TcsmtError, match=r"a\[0, 1\] = -1 is not a valid u8 value"):
        simulate(VNNI, [[1, -1, 0, 0]], [[0, 0, 0, 0]])


@pytest.mark.parametrize("reduction", [None, split_k(3)], ids=str)
def test_matrices(reduction: object) -> None:
    """Any shape; a sum that fits is the matrix product, also in parts."""
    rng = np.random.default_rng(3)
    a, b = rng.integers(0, 256, (9, 50), dtype=np.uint8), rng.integers(-128, 128, (50, 35), dtype=np.int8)
    c = rng.integers(-(2**30), 2**30, (9, 35), dtype=np.int32)
    more = {} if reduction is None else {"reduction": reduction}
    for unit in (VNNI, UNITS["saturate"]):
        d = gemm(a, b, c, model=unit, **more)  # type: ignore[arg-type]
        assert d.dtype == np.int32
        assert np.array_equal(d, a.astype(np.int64) @ b.astype(np.int64) + c)


def test_each_instruction_saturates() -> None:
    """Up, and down again from the limit: another result than the whole sum's."""
    a, b = np.array([[255] * 8], np.uint8), np.array([[127] * 4 + [-128] * 4], np.int8).T
    c = np.array([[2**31 - 1]], np.int32)
    exact = 2**31 - 1 + 4 * 255 * (127 - 128)
    assert gemm(a, b, c, model=VNNI).tolist() == [[exact]]
    assert gemm(a, b, c, model=UNITS["saturate"]).tolist() == [[2**31 - 1 - 4 * 255 * 128]]


@pytest.mark.parametrize(("alpha", "beta"), [(2.0, 1.0), (1.0, 0.5)])
def test_no_scaled_epilogue(alpha: float, beta: float) -> None:
    a, b, c = np.ones((2, 4), np.uint8), np.ones((4, 2), np.int8), np.ones((2, 2), np.int32)
    with pytest.raises(TcsmtError, match="alpha and beta must be 1: the unit's results are integers"):
        gemm(a, b, c, model=VNNI, epilogue=Epilogue(alpha=alpha, beta=beta))


def test_no_register_adds_narrow_sums() -> None:
    a, b = np.ones((2, 8), np.int8), np.ones((8, 2), np.int8)
    with pytest.raises(TcsmtError, match=r"2 partial sums: no register adds words of 4 bits \(s4\)"):
        gemm(a, b, model=UNITS["narrow"], reduction=split_k(2))


def test_fixed_point_matrices() -> None:
    """Numbers in, words out: no dtype has the result's numbers."""
    q4, q8 = (IntegerFormat(name=f"q{n}", bits=16, fraction_bits=n) for n in (4, 8))
    unit = IntegerDotAdd(a_format=q4, b_format=q4, c_format=q8, d_format=q8, k=2)
    a, b = np.array([[1.5, -2.25, 0.0625]]), np.array([[2.0], [0.5], [0.0625]])
    d = gemm(a, b, model=unit)
    assert d.dtype == np.uint16
    assert [q8.value(int(word)) for word in d.flat] == [3 - 1.125 + 0.0625**2]
