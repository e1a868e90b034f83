"""Models called on arrays: dtypes, shapes, broadcasting, DLPack, and what is refused."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcsmt.language.run import jit
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import FusedDotAdd, IeeeDotAdd, IntegerDotAdd, Operands
from tcsmt.simulate import rows as simulator_rows
from tcsmt.simulate.compiled import kernel
from tcsmt.simulate.forms.proved_forms import with_canonical_nan
from tcsmt.simulate.rows import Batch, joined_words, run_together, run_words, simulate
from tcsmt.support.errors import TcsmtError
from tcsmt.surveys.units.neighbours import neighbours
from tcsmt.surveys.units.vectors import edges, random_rows
from tests.oracles import integers as exact_integers
from tests.support.graphs import by_graph
from tests.support.integer_units import INTEGER_UNITS, VNNI

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Marked(Batch):
    """With an array and a text of its own."""

    marks: Array
    text: str = "kept"


def numbered(numbers: Any) -> Marked:
    """Rows that are known by their numbers."""
    column = np.asarray(numbers, dtype=np.int64)
    return Marked(column[:, None] + [0, 1], -column[:, None], column, column * 7)


def numbers(rows: Marked) -> list[int]:
    """The numbers of rows whose arrays belong together."""
    column = rows.c
    assert (rows.a == column[:, None] + [0, 1]).all() and (rows.b == -column[:, None]).all()
    assert (rows.marks == column * 7).all() and rows.text == "kept"
    return list(map(int, column))


@pytest.mark.slow
@given(st.lists(st.integers(0, 99), min_size=1), st.lists(st.integers(0, 99), min_size=1), st.data())
def test_rows_are_taken_and_joined_whole(left: list[int], right: list[int], data: st.DataObject) -> None:
    both = Batch.joined([numbered(left), numbered(right)])
    assert numbers(both) == left + right and len(both) == len(left + right)
    places = data.draw(st.lists(st.integers(0, len(both) - 1)))
    assert numbers(both[np.array(places, dtype=np.int64)]) == [(left + right)[place] for place in places]
    assert numbers(both[1:]) == (left + right)[1:]
    assert numbers(Batch.joined([both, both[:0], both[[0]]])) == left + right + left[:1]


HOPPER = FusedDotAdd.of(
    a_format="f16",
    b_format="f16",
    c_format="f32",
    d_format="f32",
    k=16,
    n_fma=16,
    fraction_bits=25,
    zero_exponent=-133,
    rounding="RTZ",
)
SMALL = HOPPER.replace(k=4, n_fma=4)
FP64 = IeeeDotAdd.of(
    a_format="f64", b_format="f64", c_format="f64", d_format="f64", k=4, method="fma",
    sum_format="f64",
)  # fmt: skip
RNG = np.random.default_rng(0)
#: Formats, and who holds their words; a result is one of the first six.
DTYPES = [
    ("f16", np.float16),
    ("bf16", ml_dtypes.bfloat16),
    ("tf32", np.float32),
    ("f32", np.float32),
    ("f64", np.float64),
    ("e5m2", ml_dtypes.float8_e5m2),
    ("e4m3", ml_dtypes.float8_e4m3fn),
    ("e4m3fnuz", ml_dtypes.float8_e4m3fnuz),
    ("e5m2fnuz", ml_dtypes.float8_e5m2fnuz),
    ("e3m2", ml_dtypes.float6_e3m2fn),
    ("e2m3", ml_dtypes.float6_e2m3fn),
    ("e2m1", ml_dtypes.float4_e2m1fn),
]


def integers(shape: tuple[int, ...], dtype: Any) -> np.ndarray[Any, Any]:
    """Small integers, whose sums of products are exact in every model."""
    return RNG.integers(-3, 4, shape).astype(dtype)


@pytest.mark.library
@pytest.mark.parametrize(("name", "dtype"), DTYPES)
def test_every_input_dtype(name: str, dtype: Any) -> None:
    """The format's own dtype, float64 values and raw words are the same input."""
    model = SMALL.replace(a_format=name, b_format=name)
    a, b = integers((50, 4), dtype), integers((50, 4), dtype)
    c = integers((50,), np.float32)
    exact = (a.astype(np.float64) * b.astype(np.float64)).sum(axis=-1) + c
    result = simulate(model, a, b, c)
    assert result.dtype == np.float32
    assert np.array_equal(result, exact)
    assert np.array_equal(simulate(model, a.astype(np.float64), b.astype(np.float32), c), exact)
    words = [x.view(f"uint{8 * x.dtype.itemsize}") for x in (a, b, c)]
    assert np.array_equal(simulate(model, *words), exact)
    assert np.array_equal(simulate(model, *(x.astype(np.uint64) for x in words)), exact)
    assert np.array_equal(simulate(model, a.tolist(), b.tolist(), c.tolist()), exact)


@pytest.mark.parametrize(("name", "dtype"), DTYPES[:6])
def test_result_dtype(name: str, dtype: Any) -> None:
    """The output format's dtype; the result feeds the next call as c."""
    model = SMALL.replace(c_format=name, d_format=name, zero_exponent=-20, rounding="RNE")
    result = simulate(model, np.ones((3, 4)), np.ones((3, 4)))
    assert result.dtype == dtype
    assert result.astype(float).tolist() == [4.0] * 3
    assert simulate(model, np.ones((3, 4)), np.ones((3, 4)), result).astype(float).tolist() == [8.0] * 3


def test_every_bit_pattern() -> None:
    """NaN, infinities, subnormal numbers and -0 go through unchanged (one lane of ones)."""
    half = {"c_format": "f16", "d_format": "f16", "rounding": "RNE", "nan": 0x7E00}
    model = SMALL.replace(k=1, n_fma=1, zero_exponent=-20, negative_zero=True, **half)
    a = np.arange(1 << 16, dtype=np.uint16).view(np.float16)[:, None]
    result = simulate(model, a, np.ones((1, 1)), -0.0)
    same = ~np.isnan(a[:, 0])
    assert np.array_equal(result.view(np.uint16)[same], a[same, 0].view(np.uint16))
    assert set(result.view(np.uint16)[~same].tolist()) == {0x7E00}


def test_float64() -> None:
    """A chain of fused multiply-adds in binary64: c first, one rounding each."""
    a, b = RNG.standard_normal((2, 100, 4))
    assert np.array_equal(simulate(FP64, a[:, :1] * [1, 0, 0, 0], b), a[:, 0] * b[:, 0])
    tiny = 2.0**-60
    rows = [[1 + 2.0**-52, 1.0, 0.0, 0.0]], [[1 + 2.0**-52, -1.0, 0.0, 0.0]]
    assert simulate(FP64, *rows, -(2.0**-51)).item() == 0.0  # a product of its own rounding
    assert simulate(FP64, [[tiny, 1.0, -1.0, 0.0]], [[1.0] * 4], 0.0).item() == 0.0


@pytest.mark.library
def test_broadcasting() -> None:
    """Leading dimensions broadcast as in NumPy: a whole matrix product in one call."""
    a, b = integers((5, 16), np.float16), integers((16, 7), np.float16)
    c = integers((5, 7), np.float32)
    product = a.astype(float) @ b.astype(float) + c
    assert np.array_equal(simulate(HOPPER, a[:, None, :], b.T[None, :, :], c), product)
    assert np.array_equal(simulate(HOPPER, a[:, None, :], b.T), product - c)
    assert simulate(HOPPER, a[0], b[:, 0]).shape == ()
    assert simulate(HOPPER, a[0], b[:, 0], 2.0) == product[0, 0] - c[0, 0] + 2
    assert simulate(HOPPER, a[0], b.T, np.zeros((3, 1, 1))).shape == (3, 1, 7)
    assert simulate(HOPPER, a[:0], b[:, 0]).shape == (0,)
    assert simulate(HOPPER, a[:0], b[:, 0]).dtype == np.float32
    assert np.array_equal(simulate(HOPPER, a[::-2][:, None], b.T[::2], c[::-2, ::2]), product[::-2, ::2])


def test_more_rows_than_a_block() -> None:
    """Rows do not depend on how many there are."""
    a, b = RNG.standard_normal((2, 10_001, 4)).astype(np.float16)
    c = RNG.standard_normal(10_001).astype(np.float32)
    result = simulate(SMALL, a, b, c)
    for part in (slice(0, 1), slice(4000, 4200), slice(-1, None)):
        assert np.array_equal(simulate(SMALL, a[part], b[part], c[part]), result[part])


def test_inputs_are_not_changed() -> None:
    """Arrays are read only."""
    a, b, c = np.ones((3, 4), np.float16), np.ones((3, 4), np.uint16), np.ones(3, np.float32)
    for array in (a, b, c):
        array.flags.writeable = False
    copies = [array.copy() for array in (a, b, c)]
    assert simulate(SMALL, a, b, c).flags.writeable
    assert all(np.array_equal(x, y) for x, y in zip((a, b, c), copies, strict=True))


def test_words_in_words_out() -> None:
    """run_words: no conversion on either side."""
    ones, zero = np.full((2, 4), 0x3C00, np.uint16), np.zeros(2, np.uint32)
    assert run_words(SMALL, Operands(ones, ones, zero)).tolist() == [0x40800000] * 2


@pytest.mark.parametrize(
    ("a", "b", "c", "message"),
    [
        (np.ones((2, 3)), np.ones((2, 4)), 0.0, r"a has shape \(2, 3\): .* k = 4"),
        (np.ones((2, 4)), np.ones(()), 0.0, r"b has shape \(\): .* k = 4"),
        (np.ones((2, 4)), np.ones((3, 4)), 0.0, r"do not broadcast: \(2, 4\), \(3, 4\), \(\)"),
        (np.ones((2, 4)), np.ones((2, 4)), np.zeros(3), "do not broadcast"),
        (np.ones((2, 4), int), np.ones((2, 4)), 0.0, "a has dtype int64: for f16 it must be"),
        (np.ones((2, 4)), np.ones((2, 4), ml_dtypes.bfloat16), 0.0, "b has dtype bfloat16"),
        (np.ones((2, 4)), np.ones((2, 4), complex), 0.0, "b has dtype complex128"),
        (np.ones((2, 4)), np.ones((2, 4)), "0", "c has dtype"),
        (np.ones((2, 4)), np.ones((2, 4)), None, "c has dtype object"),
        (np.full((2, 4), 1e5), np.ones((2, 4)), 0.0, r"a\[0, 0\] = 100000.0 is not a valid f16 value"),
        (np.ones((2, 4)), np.ones((2, 4)), 1e300, r"^c = 1e\+300 is not a valid f32 value"),
        (np.ones((2, 4)), np.full((2, 4), 1 << 16), 0.0, "b has dtype int64"),
        (np.full((2, 4), 65536, np.uint64), np.ones((2, 4)), 0.0, r"a\[0, 0\] = 0x10000: a word"),
        ([[1.0] * 4, [1.0] * 3], np.ones((2, 4)), 0.0, "a cannot be read as an array"),
    ],
)
def test_wrong_arguments(a: Any, b: Any, c: Any, message: str) -> None:
    """The error names the argument, what it is and what is allowed."""
    with pytest.raises(TcsmtError, match=message):
        simulate(SMALL, a, b, c)


# Block scales

MXFP8 = HOPPER.replace(a_format="e4m3", b_format="e4m3", k=8, n_fma=8, scale_format="ue8m0", scale_block=4)


@pytest.mark.library
def test_block_scales_multiply() -> None:
    """One scale for four lanes; leading dimensions broadcast."""
    a, b = integers((5, 3, 8), np.float32), integers((3, 8), np.float32)
    scale_a = np.array([[0.5, 4.0]], np.float32)
    scale_b = np.array([2.0, 2.0], ml_dtypes.float8_e8m0fnu)
    got = simulate(MXFP8, a, b, 1.0, scale_a, scale_b)
    expected = (a * b).reshape(5, 3, 2, 4).sum(-1) @ np.array([1.0, 8.0], np.float32) + 1
    np.testing.assert_array_equal(got, expected)


def test_nan_scales_make_nans() -> None:
    zeros = np.zeros(8, np.uint8)
    for words in ([0xFF, 127], [127, 0xFF]):
        scale = np.array(words, np.uint8)
        assert np.isnan(simulate(MXFP8, zeros, zeros, 0.0, scale, np.array([127, 127], np.uint8)))


def test_scales_that_do_not_fit() -> None:
    ones, good = np.ones(8, np.float32), np.ones(2, np.float32)
    with pytest.raises(TcsmtError, match=r"scale_b is missing: .*2 ue8m0"):
        simulate(MXFP8, ones, ones, 0.0, good)
    with pytest.raises(TcsmtError, match=r"scale_a has shape \(3,\): .*2 ue8m0"):
        simulate(MXFP8, ones, ones, 0.0, np.ones(3, np.float32), good)
    with pytest.raises(TcsmtError, match=r"scale_a is given, .*no block scales"):
        simulate(HOPPER, np.ones(16), np.ones(16), 0.0, good, good)
    with pytest.raises(TcsmtError, match=r"scale_a\[1\] = 3\.0 is not a valid ue8m0 value"):
        simulate(MXFP8, ones, ones, 0.0, np.array([1.0, 3.0], np.float32), good)
    zeros = np.zeros((1, 8), np.uint8)
    with pytest.raises(TcsmtError, match="scale_a is missing"):
        run_words(MXFP8, Operands(zeros, zeros, np.zeros(1, np.uint32)))


# --- integers -----------------------------------------------------------------------------------


def drawn_integers(unit: IntegerDotAdd, rows: int) -> Operands[np.ndarray, np.ndarray]:
    """Words about the ends of c, so that sums overflow."""
    rng = np.random.default_rng(5)
    a, b = (
        rng.integers(0, 2**fmt.bits, (rows, unit.k)).astype(np.uint8)
        for fmt in (unit.a_format, unit.b_format)
    )
    c = rng.choice([0, 1, -1], rows) * (1 << (unit.c_format.bits - 2)) * 2 + rng.integers(-9, 10, rows)
    size = np.uint32 if unit.c_format.bits == 32 else np.uint8
    return Operands(a, b, (c % (1 << unit.c_format.bits)).astype(size))


@pytest.mark.parametrize("name", INTEGER_UNITS)
def test_rows_of_integers(name: str) -> None:
    """Interpreted, and compiled where that is possible, against Python's integers."""
    unit = INTEGER_UNITS[name]
    x = drawn_integers(unit, 700)
    expected = []
    for a, b, c in zip(x.a, x.b, x.c, strict=True):
        row = [int(word) for word in (*a, *b, c)]
        expected.append(exact_integers.result(unit, dict(zip(unit.input_names, row, strict=True))))
    assert run_words(unit, x).tolist() == expected
    if jit.available():
        assert kernel(unit).rows(x.parts).tolist() == expected


def test_numbers_of_integer_units() -> None:
    d = simulate(VNNI, np.array([[255, 0, 0, 1]], np.uint8), np.array([[-128, 0, 0, -1]], np.int8), [7])
    assert d.dtype == np.int32
    assert d.tolist() == [255 * -128 - 1 + 7]
    with pytest.raises(TcsmtError, match=r"a\[0, 1\] = -1 is not a valid u8 value"):
        simulate(VNNI, [[1, -1, 0, 0]], [[0, 0, 0, 0]])


# --- NaNs that follow a rule ----------------------------------------------------------------------

F64 = "hopper/mma.m8n8k4.f64.f64.f64.f64"


@pytest.mark.parametrize("unit", [F64, "x86/vdpbf16ps"])
def test_rows_with_nans_among_them(unit: str) -> None:
    row = row_named(unit)
    words = edges(row, 5, 600).inputs
    expected = by_graph(row.model, words)
    assert (run_words(row.model, words) == expected).all()
    is_nan = [row.model.d_format.is_nan(int(word)) for word in expected]
    assert any(is_nan) and not all(is_nan)
    assert len(set(expected[is_nan].tolist())) > 2
    assert (with_canonical_nan(row.model) is None) == (unit != F64)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "rdna3/v_dot2_f32_f16",
        "arm/bfdot.ebf0",
        "x86/vpdpbusd",
        pytest.param(
            "rtx-blackwell/mma.m16n8k32.kind::mxf8f6f4.block32.f32.e2m1.e2m1.f32.ue8m0",
            marks=pytest.mark.long,
        ),
    ],
)
def test_models_that_run_together_answer_as_each_alone(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulator_rows, "_PIECE", 100)
    row = row_named(name)
    several = [row.model, *(one.model for one in neighbours(row.model))][:3]
    words = next(iter(random_rows(row.model, 250, 1)))
    count, seen = len(words.c), list[int]()
    found = run_together(several, words, seen.append)
    assert found.shape == (len(several), count)
    assert seen == [*range(100, count, 100), count]
    for model, own in zip(several, found, strict=True):
        assert own.dtype == run_words(model, words).dtype
        assert (own == run_words(model, words)).all()


def test_words_are_joined_with_their_scales() -> None:
    def words(rows: int) -> Operands[Any, Any]:
        scale = np.full((rows, 1), 4)
        return Operands(np.full((rows, 2), 1), np.full((rows, 2), 2), np.full(rows, 3), scale, scale)

    found = joined_words([words(2), words(3)])
    for part, whole in zip(words(5).parts, found.parts, strict=True):
        assert (part == whole).all()
    assert joined_words([replace(words(2), scale_a=None, scale_b=None)]).scale_b is None
