"""A search that climbs: batches of random rows, and changes of the best rows so far."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import numpy as np

from tcsmt.simulate.rows import Batch

Array = np.ndarray[Any, np.dtype[Any]]


Rows = TypeVar("Rows", bound=Batch)
#: The best rows by one measure, the best first, and their scores.
Ranked = tuple[Rows, Array]


def climbed(
    draw: Callable[[], Rows],
    change: Callable[[Rows, Rows], Rows],
    scores: Callable[[Rows], Iterable[Array]],
    rng: np.random.Generator,
    *,
    kept: int,
    seconds: float,
    enough: Any = np.inf,
    start: Rows | None = None,
) -> list[Ranked[Rows]]:
    """Return the rows of the highest scores that were found, by each measure; ends after about so many
    seconds.

    draw: gives a batch of random rows. change: rows with other words in places, perhaps those of a batch.
    scores: of each row, by one measure or several. enough: a score of the first measure that ends the search.
    start: rows to begin from beside random ones. Scores are numbers (rows,).
    """
    end = time.monotonic() + seconds
    best = [] if start is None else [(start, measured) for measured in scores(start)]
    while True:
        fresh = tried = draw()
        for rows, _ in best:
            tried = Batch.joined([tried, change(rows[rng.integers(0, len(rows), len(fresh))], fresh)])
        pools = [(tried, gains) for gains in scores(tried)]
        if best:
            pools = [
                (Batch.joined([rows, tried]), np.concatenate([measured, gains]))
                for (rows, measured), (_, gains) in zip(best, pools, strict=True)
            ]
        best = [_highest(rows, measured, kept) for rows, measured in pools]
        if best[0][1][0] >= enough or time.monotonic() > end:
            return best


def _highest(rows: Rows, scores: Array, count: int) -> Ranked[Rows]:
    """So many rows; of those with the same score, the earlier ones."""
    order = np.argsort(-scores, kind="stable")[:count]
    return rows[order], scores[order]
