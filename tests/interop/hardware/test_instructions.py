"""Instructions that programs are made for."""

from __future__ import annotations

import re

import pytest

from tcsmt.interop.hardware.instructions import instruction_of, language_of
from tcsmt.interop.hardware.source import program
from tcsmt.matrix_units.catalogue import Row, rows
from tcsmt.support.errors import TcsmtError
from tests.oracles.fragments import places
from tests.support.probes import by_layout, emitted, name, some_vectors
from tests.support.sampling import one_in


def test_rows_without_programs_say_so() -> None:
    written = {row.name for row in emitted()}
    assert sum(name.startswith("blackwell/tcgen05") for name in written) == 15
    for row in rows():
        other = row.instruction.startswith("tcgen05") and row.name.partition("@")[0] not in written
        if other or row.instruction.startswith(("mvmul", "v_mfma_i", "vpdp")):
            with pytest.raises(TcsmtError, match="cannot write a program"):
                instruction_of(row)


def tables(source: str) -> dict[str, dict[tuple[int, int], tuple[int, int, int]]]:
    """Where the source says that elements are: (thread, element) → (matrix, row, column)."""
    found = {}
    pattern = r"Fragment (\w) = \{(\d+), (\d+), \d+, \d+, \{(.*?)\}, \{(.*?)\}\};"
    for side, threads, elements, *steps in re.findall(pattern, source):
        counts = int(threads), int(elements)
        by_thread, by_element = (
            [int(s) for s in text.split(", ")][:n] for text, n in zip(steps, counts, strict=True)
        )

        def total(number: int, bits: list[int]) -> int:
            return sum(step for bit, step in enumerate(bits) if number >> bit & 1)

        found[side] = {
            (t, e): (at >> 16, at >> 8 & 255, at & 255)
            for t in range(1 << counts[0])
            for e in range(1 << counts[1])
            for at in [total(t, by_thread) + total(e, by_element)]
        }
    return found


@pytest.mark.parametrize("row", one_in(3, by_layout()), ids=name)
def test_layouts_are_those_of_the_isa_and_cover_every_element_once(row: Row) -> None:
    found = tables(program(row, some_vectors(row, 1), language_of(row)))
    assert found == places(row.architecture, row.instruction, row.model)
    tile = instruction_of(row).tile
    shapes = {"A": (tile.m, tile.k), "B": (tile.n, tile.k), "C": (tile.m, tile.n), "D": (tile.m, tile.n)}
    for side, (lines, columns) in shapes.items():
        held = list(found[side].values())
        all_of_them = {(m, i, j) for m in range(tile.matrices) for i in range(lines) for j in range(columns)}
        assert len(held) == len(set(held))
        assert set(held) == all_of_them
        assert {t for t, _ in found[side]} <= set(range(tile.threads))
