"""Changes of programs: the tail of K that cuBLASLt leaves out, and changes that a program cannot have."""

from __future__ import annotations

import numpy as np
import pytest

from tcsmt.analysis.power import wrong_programs
from tcsmt.analysis.power.tested import NotApplicable
from tcsmt.interface.api.power import product_and_expected


@pytest.mark.parametrize(("length", "summed"), [(8648, 8640), (11528, 11520)])
def test_the_tail_that_was_reported(length: int, summed: int) -> None:
    """The two K of the report, and what was summed there."""
    np.testing.assert_array_equal(wrong_programs.tail_of(length), np.arange(summed, length))


def test_no_tail_is_lost_where_k_is_of_whole_tiles() -> None:
    for length in (64, 1024, 4096):
        with pytest.raises(NotApplicable, match="does not meet its condition"):
            wrong_programs.tail_of(length)


def test_the_condition() -> None:
    """By its words, for each K: K % tile != 0, (K // tile) % s == 0, s > K % tile."""
    for length in range(1, 700):
        met = [
            length % tile
            for tile in (64, 32, 128)
            if any(
                length % tile and (length // tile) % s == 0 and s > length % tile
                for s in range(2, min(64, length // tile) + 1)
            )
        ]
        if met:
            assert len(wrong_programs.tail_of(length)) == met[0]
        else:
            with pytest.raises(NotApplicable):
                wrong_programs.tail_of(length)


def test_changes_that_a_kernel_cannot_have() -> None:
    a = np.ones((2, 32), np.float16)
    product, _ = product_and_expected("ieee/fma.f32.f16", {"a": a, "b": a.T}, None, "exact")
    for change, why in (
        (wrong_programs.part_twice, "in one chain"),
        (wrong_programs.unsaturated, "do not saturate"),
        (wrong_programs.unpromoted, "does not promote"),
        (wrong_programs.narrow_operands("tf32"), "no such step"),
    ):
        with pytest.raises(NotApplicable, match=why):
            change(product)
