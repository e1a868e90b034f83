"""Test vectors of a unit, the fewest that decide first; and rows near boundaries, and random ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from tcsmt.matrix_units.arithmetic.boundary_words import from_fields
from tcsmt.matrix_units.arithmetic.formats import AnyFormat, IntegerFormat, float_format
from tcsmt.matrix_units.arithmetic.words import to_word
from tcsmt.matrix_units.catalogue import Row
from tcsmt.matrix_units.models import Model
from tcsmt.prove.engine.boundary_inputs import rows as boundary_rows
from tcsmt.prove.engine.boundary_inputs import ties, underflows
from tcsmt.simulate.measured.row_files import words_of
from tcsmt.simulate.rows import Words, run_words
from tcsmt.support.elimination import decisive_first
from tcsmt.support.errors import choose
from tcsmt.support.progress import ProgressCallback, no_progress
from tcsmt.surveys.units.audit import Audit, Vectors, audit_of, joined

# --- Rows on which models and implementations are held against each other ------------------------


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
        one = 1 if isinstance(fmt, IntegerFormat) else to_word(fmt, "1")
        usual = rng.choice([0, one], count).astype(np.uint64)
        columns[name] = np.where(rng.random(count) < share, rng.choice(words, count), usual)
    return columns


def _special_words(fmt: AnyFormat) -> Array:
    """Exponent fields at both ends and in the middle, with fractions at both ends and in the middle."""
    if isinstance(fmt, IntegerFormat):
        return np.array([fmt.word_of_count(n) for n in (fmt.low, fmt.high, 0, 1)], np.uint64)
    fmt = float_format(fmt)
    ones, top = (1 << fmt.fraction_bits) - 1, (1 << fmt.exponent_bits) - 1
    fields = sorted({0, 1, fmt.bias, fmt.largest_finite_field, top})
    fractions = sorted({0, 1 & ones, ones // 2 + 1 & ones, ones})
    return from_fields(fmt, *np.array([*product((0, 1), fields, fractions)], np.uint64).T)


# --- Test vectors --------------------------------------------------------------------------------


#: Which inputs there are: those that decide, those near boundaries, random words, and all of these.
KINDS = ("deciding", "edge", "random", "all")


@dataclass(frozen=True)
class VectorSet:
    """Vectors and their results, words of shape (rows,).

    excluded, hypotheses: how many of the other units, and changes of one parameter, the vectors that decide
    exclude, and how many there are; None where they were not looked at.
    """

    row: Row
    vectors: Vectors
    d: Array
    excluded: int | None = None
    hypotheses: int | None = None

    def __len__(self) -> int:
        return len(self.vectors)


def smallest(audit: Audit) -> VectorSet:
    """Return the fewest of an audit's vectors that tell apart as much as all, what decides most first."""
    order = decisive_first(audit.sets, audit.enough.chosen)
    excluded, names = np.zeros(len(audit.hypotheses), bool), []
    for number in order:
        fresh = (audit.words[:, number] != audit.words[0, number]) & ~excluded
        excluded |= fresh
        told = [audit.hypotheses[place].name for place in np.flatnonzero(fresh)]
        text = "; ".join(told[:6]) + (f"; and {len(told) - 6} more" if len(told) > 6 else "")
        names.append(f"deciding: not {text}" if told else "deciding: tells other units apart")
    inputs = audit.vectors.inputs.map(lambda words: words[order])
    return VectorSet(
        audit.row,
        Vectors(tuple(names), inputs),
        audit.words[0, order],
        int(excluded.sum()),
        len(audit.hypotheses) - 1,
    )


def vectors_of(
    row: Row,
    kind: str = "all",
    rows: int | None = None,
    seed: int = 1,
    progress: ProgressCallback = no_progress,
    first: Callable[[VectorSet], object] = lambda made: None,
) -> VectorSet:
    """Vectors of one of the :data:`KINDS`, the same for a seed.

    rows: at most; None: all that decide, and 1000 of other kinds. first: is given those that decide as soon
    as they are there, where others follow.
    """
    kind = choose("kind of vectors", kind, KINDS)
    most = rows if rows is not None else 1000
    excluded = hypotheses = None
    parts: list[Vectors] = []
    if kind in ("deciding", "all"):
        made = smallest(audit_of(row, edges(row, seed), progress))
        excluded, hypotheses = made.excluded, made.hypotheses
        parts.append(made.vectors)
        if kind == "all":
            first(made)
    count = sum(map(len, parts))
    if kind in ("edge", "all"):
        near = edges(row, seed, max(8, most))
        room = max(0, most - count)
        # of all kinds, half is left for random words; each sort of edge has its share
        share = room if kind == "edge" else room // 2
        chosen = np.linspace(0, len(near) - 1, min(share, len(near))).astype(int)
        parts.append(_taken(near, np.unique(chosen)))
        count += len(parts[-1])
    if kind in ("random", "all"):
        for number, words in enumerate(random_rows(row.model, max(0, most - count), seed)):
            parts.append(Vectors(tuple(f"random {number}.{n}" for n in range(len(words.c))), words))
    vectors = joined(parts)
    if rows is not None:
        if rows < len(vectors):
            excluded = hypotheses = None  # a part of them excludes less
        vectors = _taken(vectors, np.arange(min(rows, len(vectors))))
    return VectorSet(row, vectors, run_words(row.model, vectors.inputs), excluded, hypotheses)


def _taken(vectors: Vectors, chosen: Array) -> Vectors:
    inputs: Words = vectors.inputs.map(lambda words: words[chosen])
    return Vectors(tuple(vectors.names[int(n)] for n in chosen), inputs)
