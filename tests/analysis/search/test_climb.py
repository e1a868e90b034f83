"""A search that climbs, against trying everything."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tcsmt.analysis.search.climb import climbed
from tcsmt.simulate.rows import Batch

Array = np.ndarray[Any, np.dtype[Any]]


def numbered(numbers: Any) -> Batch:
    """Rows that are known by their numbers."""
    column = np.asarray(numbers, dtype=np.int64)
    return Batch(column[:, None], column[:, None], column)


@settings(max_examples=30)
@given(st.integers(0, 1000), st.integers(1, 9), st.booleans(), st.booleans())
def test_the_best_of_all_rows_that_were_scored_are_kept(
    seed: int, kept: int, fractions: bool, begun: bool
) -> None:
    """By each measure, ties in the order in which they came; changes are made of the best rows alone."""
    rng = np.random.default_rng(seed)
    first: list[int] = []
    second: list[int] = []

    def draw() -> Batch:
        return numbered(rng.integers(0, 1000, 8))

    def change(rows: Batch, fresh: Batch) -> Batch:
        assert len(rows) == len(fresh) == 8
        assert set(rows.c.tolist()) <= {*first[:kept], *second[:kept], *start}
        return numbered(rows.c + rng.integers(-2, 3, 8))

    def scores(rows: Batch) -> list[Array]:
        numbers_of = rows.c.tolist()
        for pool, key in ((first, lambda n: n % 97), (second, lambda n: -n)):
            pool.extend(numbers_of)
            pool.sort(key=key, reverse=True)
        columns = [[n % 97 for n in numbers_of], [-n for n in numbers_of]]
        if fractions:
            return [np.array([Fraction(n, 3) for n in column], dtype=object) for column in columns]
        return [np.array(column, dtype=np.float64) for column in columns]

    start = list(map(int, rng.integers(0, 1000, 3))) if begun else []
    enough: Any = Fraction(96, 3) if fractions else 96.0
    best = climbed(
        draw, change, scores, rng, kept=kept, seconds=0.01, enough=enough,
        start=numbered(start) if begun else None,
    )  # fmt: skip
    for (rows, measured), pool, key in zip(
        best, (first, second), (lambda n: n % 97, lambda n: -n), strict=True
    ):
        assert [key(n) for n in rows.c.tolist()] == [key(n) for n in pool[:kept]]
        expected = [Fraction(key(n), 3) if fractions else key(n) for n in pool[:kept]]
        assert list(measured) == expected


def test_a_score_that_is_enough_ends_the_search() -> None:
    draws: list[int] = []

    def draw() -> Batch:
        draws.append(len(draws))
        return numbered([draws[-1]])

    ((rows, measured),) = climbed(
        draw, lambda rows, fresh: rows, lambda rows: [rows.c.astype(float)], np.random.default_rng(0),
        kept=2, seconds=600, enough=5,
    )  # fmt: skip
    assert draws == [0, 1, 2, 3, 4, 5]
    assert rows.c.tolist()[0] == measured[0] == 5
