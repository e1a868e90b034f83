"""Errors of units whose operands may be subnormal: bounds against words, in fractions."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import tcsmt
from tcsmt.analysis.search.search import random_rows
from tcsmt.analysis.search.subnormal_bound import bound_with_subnormals, numbers_of
from tcsmt.analysis.sweeps.bound_table import BoundSubject
from tcsmt.matrix_units.arithmetic.formats import FORMATS, float_format
from tcsmt.matrix_units.arithmetic.words import dtype_of, unsigned
from tcsmt.programs.recipes.named import algorithm_named
from tcsmt.programs.steps.split import F32
from tcsmt.prove.statements.domain import Domain
from tests.support.proofs import shared_solving

SUBJECTS = {
    name: subject
    for name in ("f16", "e4m3", "e5m2")
    if (subject := BoundSubject.of_subnormals(name, Domain())) is not None
}


@pytest.mark.parametrize("name", SUBJECTS)
def test_numbers_are_those_of_the_format(name: str) -> None:
    """Those that it has stay, and the others lose what lies below its subnormal numbers."""
    fmt, domain = FORMATS[name], SUBJECTS[name].domain
    rows = numbers_of(fmt, random_rows(domain, F32, 4, 2000, np.random.default_rng(1)))
    again = numbers_of(fmt, rows)
    assert np.array_equal(rows.a, again.a) and np.array_equal(rows.b, again.b)
    for words in (rows.a, rows.b):
        numbers = words.view(np.float32)
        with np.errstate(all="ignore"):
            assert np.array_equal(numbers.astype(dtype_of(fmt)).astype(np.float32), numbers)
        small = np.abs(numbers[numbers != 0])
        assert (small < 2.0**fmt.e_min).any() and (small >= 2.0**fmt.e_min).any()


def attacked(unit: str, name: str, k: int, rows: int) -> Fraction:
    """The largest error relative to |c| + Σ|a·b|, in 2^-24, of words, some subnormal, in fractions."""
    fmt, rng = float_format(FORMATS[name]), np.random.default_rng(5)
    sign = 1 << fmt.sign_bit
    a, b = (rng.integers(0, fmt.largest_finite_word + 1, (rows, k)) for _ in "ab")
    small = rng.integers(1, 1 << fmt.fraction_bits, (rows, k)) >> rng.integers(
        0, fmt.fraction_bits, (rows, k)
    )
    a = np.where(rng.random((rows, k)) < 0.5, small, a)
    a[:, 0] = 1  # the smallest number, and products a little below what the grid keeps
    shift = rng.integers(18, 30, (rows, 1)) << fmt.fraction_bits
    b[:, 1:] = np.where(a[:, 1:] < 1 << fmt.fraction_bits, b[:, 1:], np.maximum(b[:, :1] - shift, 1))
    a, b = (np.where(rng.random((rows, k)) < 0.1, x | sign, x).astype(unsigned(fmt)) for x in (a, b))
    c = np.zeros(rows, np.uint32)
    results = np.asarray(tcsmt.unit(unit)(a, b, c)).view(np.float32)
    worst = Fraction(0)
    for x, y, result in zip(a.tolist(), b.tolist(), results.tolist(), strict=True):
        products = [fmt.value(p) * fmt.value(q) for p, q in zip(x, y, strict=True)]
        size = sum(map(abs, products), Fraction(0))
        worst = max(worst, abs(Fraction(result) - sum(products)) / size if size else Fraction(0))
    return worst * 2**24


@pytest.mark.slow
@pytest.mark.parametrize(
    ("unit", "name", "k", "proved"),
    [
        ("volta/mma.m8n8k4.f32.f16.f16.f32", "f16", 4, 8192),  # 2^10 times that of normal numbers, 8
        ("hopper/mma.m16n8k16.f32.f16.f16.f32", "f16", 16, 8192),
        ("cdna1/v_mfma_f32_32x32x8f16", "f16", 8, None),  # IEEE operations lose no more of small numbers
        ("hopper/wgmma.m64nNk32.f32.e5m2.e5m2", "e5m2", 32, None),
    ],
)
def test_no_words_err_by_more_than_is_proved(unit: str, name: str, k: int, proved: int | None) -> None:
    subject = SUBJECTS[name]
    algorithm, _ = algorithm_named(subject.algorithm, unit, k)
    result = bound_with_subnormals(algorithm, subject.domain, shared_solving(), seconds=0.5)
    assert result.proof is not None and result.proved is not None
    assert proved is None or result.proved == proved
    assert result.relative is not None and result.relative.relative is not None
    assert attacked(unit, name, k, 2000) <= result.proved
    if proved:
        assert result.relative.relative > proved / 16  # far above what normal numbers err by


@pytest.mark.slow
@pytest.mark.parametrize("unit", ["cdna2/v_mfma_f32_32x32x8f16", "blackhole/mvmul.f32.f16.hifi4"])
def test_units_that_read_subnormal_numbers_as_zeros_have_no_bound(unit: str) -> None:
    subject = SUBJECTS["f16"]
    algorithm, _ = algorithm_named(subject.algorithm, unit, 8)
    result = bound_with_subnormals(algorithm, subject.domain, shared_solving(), seconds=0.2)
    assert result.proved is None and result.proof is None and result.open
    assert result.relative is not None and result.relative.relative == 2**24  # all of a sum is lost


@pytest.mark.slow
def test_a_bound_needs_the_grid_to_hold_all_last_bits() -> None:
    """Where c may lie below it, sums of products of two subnormal numbers lose something, too."""
    subject = SUBJECTS["f16"]
    algorithm, _ = algorithm_named(subject.algorithm, "volta", 4)
    low = replace(subject.domain, exponents=(-60, 15))
    found = [
        bound_with_subnormals(algorithm, domain, shared_solving(), seconds=0.2).proved
        for domain in (subject.domain, low, replace(low, c_zero=True))
    ]
    assert found == [8192, 8192 * 2**10, 6144]
