"""Test vectors of a unit: inputs with the expected result, the fewest that decide first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tcsmt.matrix_units.catalogue import Row
from tcsmt.simulate.rows import Words, run_words
from tcsmt.study.survey.audit import Audit, Vectors, audit_of, joined
from tcsmt.study.survey.rows import edges, random_rows
from tcsmt.support.elimination import decisive_first
from tcsmt.support.errors import choose
from tcsmt.support.progress import ProgressCallback, no_progress

__all__ = ["KINDS", "VectorSet", "smallest", "vectors_of"]

Array = np.ndarray[Any, np.dtype[Any]]
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
