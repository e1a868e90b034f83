"""How K is cut and partial sums are added up, against lists and binary32 sums written by hand."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import Any

import numpy as np
import pytest

import tcsmt
from tcsmt.matrix_units.models import IeeeDotAdd
from tcsmt.programs.kernels.reduction import _OPTIONS, Level, Reduction, reduction_named
from tcsmt.support.errors import TcsmtError


def test_options_are_fields_of_a_level() -> None:
    assert {name.replace("-", "_") for name in _OPTIONS} <= {field.name for field in fields(Level)}


TEXTS = (
    "chained",
    "split-k:3",
    "split-k:4,step=8,pairs",
    "sliced:2",
    "sliced:2,step=16,halves,parts=bf16,sum=f32",
    "promote:128,from-zero",
    "promote:30,halved=4",
    "cuts:10-33,reversed",
    "split-k:2,total=bf16/promote:16,from-zero",
    "stream-k:3,tile=16x32x8",
    "split-k:3,any",
    "split-k:3,order=2-0-1",
)


@pytest.mark.parametrize("text", TEXTS)
def test_the_text_reads_back(text: str) -> None:
    found = tcsmt.reduction(text)
    assert str(found) == text
    assert repr(found) == f"Reduction({text!r})"
    assert hash(found) == hash(reduction_named(str(found)))


def test_names_of_the_usual_ones() -> None:
    assert str(tcsmt.split_k(4)) == "split-k:4"
    assert str(tcsmt.promoted(128)) == "promote:128"
    assert tcsmt.CHAINED == tcsmt.reduction(" chained ") == Reduction()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("split:2", "unknown reduction 'split': did you mean split-k?"),
        ("split-k", "expected split-k:PARTS"),
        ("split-k:0", "split-k:0: the number of parts must be 1 or more"),
        ("promote:0", "promote:0: the number of products must be 1 or more"),
        ("split-k:2,pair", "unknown option of a reduction 'pair'"),
        ("split-k:2,parts=bf17", "unknown format 'bf17'"),
        ("split-k:2,parts=e4m3", "parts must be a floating-point format with infinities"),
        ("split-k:2,parts=s32", "parts must be a floating-point format with infinities"),
        ("split-k:2,step=x", "step = 'x': must be an integer"),
        ("split-k:2,step=²", "step = '²': must be an integer"),
        ("split-k:²", "reduction 'split-k:²': expected split-k:PARTS"),
        ("promote:8,step=2", "only split-k and sliced have a step"),
        ("split-k:8,halved=2", "only promote can be halved"),
        ("cuts:4-4", "cuts must be positive and rising"),
        ("cuts:x", "cuts = 'x': must be an integer"),
        ("split-k:2,pairs,total=bf16", "pairs keeps no running total"),
        ("split-k:2,folded,from-zero", "folded keeps no running total"),
        ("split-k:2,order=0-²", "unknown order of the parts '0-²'"),
        ("split-k:3,order=0-2", "order=0-2 must have each number from 0 on once"),
        ("split-k:3,order=pair", "unknown order of the parts 'pair'"),
        ("stream-k:2", "stream-k needs tile=ROWSxCOLUMNSxPRODUCTS"),
        ("stream-k:2,tile=4x4", "expected tile=ROWSxCOLUMNSxPRODUCTS"),
        ("split-k:2/stream-k:2,tile=4x4x4", "stream-k must be the outermost level"),
        ("chained/split-k:2", "chained stands alone"),
        ("chained,pairs", "chained stands alone"),
    ],
)  # fmt: skip
def test_malformed_reductions_are_refused(text: str, message: str) -> None:
    with pytest.raises(TcsmtError) as refused:
        tcsmt.reduction(text)
    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("text", "length", "parts"),
    [
        ("split-k:3", 10, [range(4), range(4, 8), range(8, 10)]),
        ("split-k:3,step=3", 10, [range(6), range(6, 10)]),
        ("split-k:9", 2, [range(1), range(1, 2)]),
        ("split-k:3", 20, [range(8), range(8, 16), range(16, 20)]),
        ("split-k:4", 20, [range(8), range(8, 16), range(16, 20)]),
        ("split-k:3,step=1", 20, [range(7), range(7, 14), range(14, 20)]),
        ("split-k:3", 4, [range(4)]),
        ("promote:4", 10, [range(4), range(4, 8), range(8, 10)]),
        ("promote:4,halved=2", 10, [range(4), range(4, 8), range(8, 10)]),
        ("promote:4,halved=2", 11, [range(4), range(4, 8), range(8, 11)]),
        ("promote:4,halved=2", 5, [range(2), range(2, 5)]),
        ("promote:8,halved=2", 14, [range(8), range(8, 14)]),
        ("promote:8,halved=4", 27, [range(8), range(8, 16), range(16, 24), range(24, 27)]),
        ("cuts:3-7", 10, [range(3), range(3, 7), range(7, 10)]),
        ("cuts:3-70", 10, [range(3), range(3, 10)]),
        ("sliced:2", 10, [[0, 1, 2, 3, 8, 9], [4, 5, 6, 7]]),
        ("sliced:2,step=1", 5, [[0, 2, 4], [1, 3]]),
        ("sliced:4", 5, [[0, 1, 2, 3], [4]]),
    ],
)  # fmt: skip
def test_where_k_is_cut(text: str, length: int, parts: list[Any]) -> None:
    (level,) = tcsmt.reduction(text).levels
    cut = level.cut(np.arange(length), 4)
    assert [part.tolist() for part in cut] == [list(part) for part in parts]


def test_parts_are_cut_again() -> None:
    """Indices of a part, not of K."""
    outer, inner = tcsmt.reduction("sliced:2,step=3/split-k:2,step=1").levels
    assert [[part.tolist() for part in inner.cut(part, 4)] for part in outer.cut(np.arange(10), 4)] == [
        [[0, 1, 2], [6, 7, 8]],
        [[3, 4], [5, 9]],
    ]


def test_stream_k() -> None:
    """Six tiles of 3 steps for 4 workers: worker 0 has steps 0 to 4, and so on, each a multiple of 5."""
    found = list(tcsmt.reduction("stream-k:4,tile=2x4x10").on(4, 11, 25))
    assert [(rows.start, columns.start, str(how)) for rows, columns, how in found] == [
        (0, 0, "chained"), (0, 4, "cuts:20"), (0, 8, "chained"),
        (2, 0, "cuts:10"), (2, 4, "chained"), (2, 8, "chained"),
    ]  # fmt: skip


FMA = IeeeDotAdd.of(
    a_format="f32", b_format="f32", c_format="f32", d_format="f32", sum_format="f32", k=1, method="fma"
)


def chain(products: Any, start: Any = 0.0) -> Any:
    """Products that binary32 holds, one after the other."""
    total = np.float32(start)
    for product in products:
        total = np.float32(total + np.float32(product))
    return total


def rounded(x: Any) -> Any:
    """To bfloat16 and back, by integers."""
    word = int(np.float32(x).view(np.uint32))
    kept = word + 0x7FFF + (word >> 16 & 1) >> 16 << 16
    return np.uint32(kept).view(np.float32)


def by_hand(text: str, p: Any, c: Any) -> Any:
    """The sum of 40 products and c by some reductions, written out."""
    f = np.float32
    match text:
        case "chained":
            return chain(p, c)
        case "split-k:4":
            s = [chain(p[i : i + 10]) for i in (0, 10, 20, 30)]
            return f(f(f(f(c + s[0]) + s[1]) + s[2]) + s[3])
        case "split-k:4,pairs":
            s = [chain(p[i : i + 10]) for i in (0, 10, 20, 30)]
            return f(c + f(f(s[0] + s[1]) + f(s[2] + s[3])))
        case "split-k:3,halves":
            s = [chain(p[i : i + 14]) for i in (0, 14, 28)]
            return f(c + f(f(s[0] + s[2]) + s[1]))
        case "split-k:3,pairs":
            s = [chain(p[i : i + 14]) for i in (0, 14, 28)]
            return f(c + f(f(s[0] + s[1]) + s[2]))
        case "split-k:5,folded":
            s = [chain(p[i : i + 8]) for i in (0, 8, 16, 24, 32)]
            return f(c + f(f(f(s[4] + f(s[0] + s[3])) + s[1]) + s[2]))
        case "split-k:2,folded/promote:8":
            s = [f(f(chain(q[:8]) + chain(q[8:16])) + chain(q[16:])) for q in (p[:20], p[20:])]
            return f(c + f(s[1] + s[0]))
        case "split-k:4,reversed":
            s = [chain(p[i : i + 10]) for i in (0, 10, 20, 30)]
            return f(f(f(f(c + s[3]) + s[2]) + s[1]) + s[0])
        case "split-k:2,parts=bf16":
            return f(f(c + rounded(chain(p[:20]))) + rounded(chain(p[20:])))
        case "split-k:2,total=bf16":
            return rounded(f(rounded(f(rounded(c) + chain(p[:20]))) + chain(p[20:])))
        case "sliced:2,step=8":
            first = [*p[:8], *p[16:24], *p[32:]]
            return f(f(c + chain(first)) + chain([*p[8:16], *p[24:32]]))
        case "split-k:2/promote:8":
            blocks = [f(f(chain(q[:8]) + chain(q[8:16])) + chain(q[16:])) for q in (p[:20], p[20:])]
            return f(f(c + blocks[0]) + blocks[1])
    raise AssertionError(text)


BY_HAND = (
    "chained", "split-k:4", "split-k:4,pairs", "split-k:3,halves", "split-k:3,pairs", "split-k:4,reversed",
    "split-k:2,parts=bf16", "split-k:2,total=bf16", "sliced:2,step=8", "split-k:2/promote:8",
    "split-k:5,folded", "split-k:2,folded/promote:8",
)  # fmt: skip


@pytest.mark.parametrize("text", BY_HAND)
def test_sums_written_by_hand(text: str) -> None:
    rng = np.random.default_rng(5)
    a, b = (rng.standard_normal(shape).astype(np.float16).astype(np.float32) for shape in ((6, 40), (40, 5)))
    c = rng.standard_normal((6, 5)).astype(np.float32)
    found = tcsmt.gemm(a, b, c, unit=FMA, reduction=text)
    for i in range(6):
        for j in range(5):
            assert found[i, j] == by_hand(text, a[i] * b[:, j], c[i, j])


def test_every_two_reductions_differ_on_these_inputs() -> None:
    """The inputs above tell every two reductions apart."""
    rng = np.random.default_rng(5)
    a, b = (rng.standard_normal(shape).astype(np.float16).astype(np.float32) for shape in ((6, 40), (40, 5)))
    c = rng.standard_normal((6, 5)).astype(np.float32)
    words = {tcsmt.gemm(a, b, c, unit=FMA, reduction=text).tobytes() for text in BY_HAND}
    assert len(words) == len(BY_HAND)


def test_every_order_of_parts() -> None:
    """Of a sum of three, four and five: two parts that are added first have no order."""
    for parts, count in ((2, 1), (3, 3), (4, 12), (5, 60)):  # of 20 instructions
        found = reduction_named(f"split-k:{parts},any").orders(80, 4, c=False)
        pairs = {(frozenset(one.levels[0].sequence[:2]), one.levels[0].sequence[2:]) for one in found}
        assert len(found) == len(pairs) == count
        every = [reduction_named(f"split-k:{parts},any").orders(80, 4, c=True)]
        every.append(reduction_named(f"split-k:{parts},any,total=bf16").orders(80, 4, c=False))
        assert [len(orders) for orders in every] == [math.factorial(parts)] * 2
    rng = np.random.default_rng(5)
    a, b = (rng.standard_normal(shape).astype(np.float16).astype(np.float32) for shape in ((6, 40), (40, 5)))
    s = [tcsmt.gemm(a[:, i : i + 14], b[i : i + 14], unit=FMA) for i in (0, 14, 28)]
    assert np.array_equal(tcsmt.gemm(a, b, unit=FMA, reduction="split-k:3,order=2-0-1"), (s[2] + s[0]) + s[1])
    for text, why in (
        ("split-k:6,any", "6 parts at K = 40: at most 5 in any order"),
        ("split-k:2/split-k:3,any", "only the outermost parts can be added in any order"),
    ):
        with pytest.raises(TcsmtError, match=why):
            reduction_named(text).orders(40, 1, c=False)
    with pytest.raises(TcsmtError, match="an order of 3 parts, of 2"):
        tcsmt.gemm(a, b, unit=FMA, reduction="split-k:2,order=2-0-1")


def test_the_order_of_two_parts_matters_where_something_comes_first() -> None:
    """C + p0 + p1 and C + p1 + p0 are other numbers, and so are sums of a rounded total and another part."""
    a, b = np.array([[1.0, -1.0]], np.float32), np.ones((2, 1), np.float32)
    c = np.full((1, 1), 2.0**24, np.float32)

    def result(text: str, *more: Any) -> float:
        return float(tcsmt.gemm(a, b, *more, unit=FMA, reduction=text)[0, 0])

    assert result("split-k:2,step=1,order=0-1", c) == 2.0**24 - 1
    assert result("split-k:2,step=1,order=1-0", c) == 2.0**24
    a[:] = 1 + 2.0**-8, 2.0**-8
    first, second = (result(f"split-k:2,step=1,total=bf16,order={order}") for order in ("0-1", "1-0"))
    assert (first, second) == (1, 1 + 2.0**-7)  # each is rounded to BF16, or neither


def test_a_total_from_zero_has_no_negative_zero() -> None:
    """An underflow to -0 in each part."""
    a, b = np.full((1, 2), -(2.0**-100), np.float32), np.full((2, 1), 2.0**-100, np.float32)
    minus = tcsmt.gemm(a, b, unit=FMA, reduction="promote:1")
    plus = tcsmt.gemm(a, b, unit=FMA, reduction="promote:1,from-zero")
    assert np.signbit(minus[0, 0]) and not np.signbit(plus[0, 0])
