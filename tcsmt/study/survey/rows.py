"""Rows on which models and implementations are held against each other: near boundaries, and random."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from tcsmt.matrix_units.arithmetic.any_format import AnyFormat
from tcsmt.matrix_units.arithmetic.formats import float_format
from tcsmt.matrix_units.arithmetic.integer_format import IntegerFormat
from tcsmt.matrix_units.arithmetic.words import to_word
from tcsmt.matrix_units.catalogue import Row
from tcsmt.matrix_units.models import Model
from tcsmt.prove.engine.boundary_inputs import rows as boundary_rows
from tcsmt.prove.engine.boundary_inputs import ties, underflows
from tcsmt.simulate.measured.row_files import words_of
from tcsmt.simulate.rows import Words
from tcsmt.study.survey.audit import Vectors, joined

__all__ = ["edges", "random_rows"]

Array = np.ndarray[Any, np.dtype[Any]]
#: Rows near boundaries on which hypotheses are held against each other.
_EDGES = 8192
#: Rows that are given at once.
_AT_ONCE = 1 << 16


def edges(row: Row, seed: int, count: int = _EDGES) -> Vectors:
    """Rows near the boundaries of the arithmetic, the same for a seed."""
    formats = row.model.input_formats
    rng = np.random.default_rng(seed)
    parts = {
        "special": _special(formats, count // 2, rng),
        "boundary": boundary_rows(formats, count, rng),
        "tie": ties(formats),
        "underflow": underflows(formats),
    }
    limits = []
    for name, columns in parts.items():
        words = words_of(row.model, columns)
        limits.append(Vectors(tuple(f"{name} {n}" for n in range(len(words.c))), words))
    return joined(limits)


def random_rows(model: Model, count: int, seed: int) -> Iterator[Words]:
    """Batches of rows, so many in all, the same for a seed: half near boundaries, half of random words.

    Of each batch, a and b have the shape (rows, k), c (rows,), scales (rows, scales).
    """
    rng = np.random.default_rng([seed, 1])
    formats = model.input_formats
    while count > 0:
        size = min(count, _AT_ONCE)
        columns = boundary_rows(formats, size - size // 2, rng)
        drawn = {
            name: rng.integers(0, (1 << fmt.width) - 1, size // 2, np.uint64, endpoint=True)
            for name, fmt in formats.items()
        }
        stacked = {name: np.concatenate([columns[name].astype(np.uint64), drawn[name]]) for name in formats}
        yield words_of(model, stacked)
        count -= size


def _special(formats: Mapping[str, AnyFormat], count: int, rng: np.random.Generator) -> dict[str, Array]:
    """Rows in which some words are zeros, subnormal, the largest, infinities, NaNs; the others are 0 or 1."""
    share = rng.choice([0.05, 0.3, 1.0], count)
    columns = {}
    for name, fmt in formats.items():
        words = _special_words(fmt)
        usual = rng.choice([0, _one(fmt)], count).astype(np.uint64)
        columns[name] = np.where(rng.random(count) < share, rng.choice(words, count), usual)
    return columns


def _special_words(fmt: AnyFormat) -> Array:
    """Exponent fields at both ends and in the middle, with fractions at both ends and in the middle."""
    if isinstance(fmt, IntegerFormat):
        return np.array([fmt.word_of_count(n) for n in (fmt.low, fmt.high, 0, 1)], np.uint64)
    fmt = float_format(fmt)
    ones, top = (1 << fmt.fraction_bits) - 1, (1 << fmt.exponent_bits) - 1
    fields = {0, 1, fmt.bias, fmt.largest_finite_field, top}
    low = fmt.ignored_low_bits
    return np.array(
        [
            (sign << fmt.sign_bit if fmt.signed else 0) | (field << fmt.fraction_bits | fraction) << low
            for sign in (0, 1)
            for field in sorted(fields)
            for fraction in sorted({0, 1 & ones, ones // 2 + 1 & ones, ones})
        ],
        np.uint64,
    )


def _one(fmt: AnyFormat) -> int:
    return 1 if isinstance(fmt, IntegerFormat) else to_word(fmt, "1")
