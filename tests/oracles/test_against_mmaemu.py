"""Whole FP8 products against mmaemu's profiles of an H100 and of an RTX 4060."""

from __future__ import annotations

import pytest

from tests.oracles.against_mmaemu import SPLIT, TYPES, WHOLE, Way, compared

pytestmark = pytest.mark.oracle


def same(ways: list[Way], shape: tuple[int, int, int], kinds: tuple[str, ...], seed: int) -> None:
    pytest.importorskip("mmaemu", reason="the extra oracle is not installed")
    found = list(compared(ways, (shape,), TYPES[:2], kinds, seed))
    assert len(found) == 2 * len(ways) * len(kinds)
    assert [record for record in found if record["differ"]] == []


@pytest.mark.long
def test_products_are_the_same_bit_for_bit() -> None:
    same(WHOLE, (1, 16, 256), ("near",), seed=2)


@pytest.mark.slow_cases("hopper Way(gpu='hopper', fast=True, parts=3, way='contiguous')")
@pytest.mark.parametrize("way", [way for way in SPLIT if way.parts == 3], ids=lambda way: f"{way.gpu} {way}")
def test_products_whose_k_is_split(way: Way) -> None:
    """The last tile of K is not a whole one."""
    same([way], (1, 16, 464), ("any",), seed=3)


@pytest.mark.long
@pytest.mark.parametrize("way", SPLIT, ids=lambda way: f"{way.gpu} {way}")
def test_long_products_whose_k_is_split(way: Way) -> None:
    same([way], (1, 16, 8192), ("near",), seed=4)
