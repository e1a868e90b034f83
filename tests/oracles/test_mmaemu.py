"""Whole FP8 products against mmaemu's preset of the H100."""

from __future__ import annotations

import pytest

from tests.oracles.against_mmaemu import compared

pytestmark = pytest.mark.oracle


def test_products_are_the_same_bit_for_bit() -> None:
    pytest.importorskip("mmaemu", reason="the extra oracle is not installed")
    found = list(compared(((16, 16, 256),), seed=2))
    assert len(found) == 18
    assert [record for record in found if record["differ"]] == []
