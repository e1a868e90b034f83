"""Algorithms on one input as a picture: every step beside the other's, and what is left out."""

from __future__ import annotations

import struct
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tcsmt.interface.pictures.drawing import BitGrid, Sheet, Table
from tcsmt.interface.pictures.error_trace import TracedAlgorithm, _of, trace_sheet
from tcsmt.language.run.exact import evaluate
from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.matrix_units.files.word_files import vector_of
from tcsmt.programs.recipes import algorithm_named

F32 = FORMATS["f32"]
NAMES = ("ootomo-halfhalf", "markidis")
#: Valpey et al.'s Table 5 with b1 = 1.998046875·2^7, where 2^-7 is printed.
TABLE_5 = (
    "a0=0x3b802000 a1=0x38a9c000 a2=0x1p-12 a3=0x1p-12 "
    "b0=255.75 b1=0x3c38e000 b2=0x1p-12 b3=0x1p-12 c=0x1p-24"
)
MODERATE = st.builds(
    lambda sign, exponent, fraction: sign << 31 | (exponent + 127) << 23 | fraction,
    st.integers(0, 1), st.integers(-15, 14), st.integers(0, (1 << 23) - 1),
)  # fmt: skip
VALUES = st.fixed_dictionaries(dict.fromkeys(("a0", "a1", "b0", "b1", "c"), MODERATE))


def walked(
    values: dict[str, int], names: tuple[str, ...] = NAMES, arch: str = "volta"
) -> list[TracedAlgorithm]:
    k = len(values) // 2
    found = [(name, *algorithm_named(name, arch, k)) for name in names]
    return [TracedAlgorithm.on(name, row, algorithm, values) for name, algorithm, row in found]


def table_of(sheet: Sheet) -> Table:
    (table,) = sheet.pictures[0].panels
    assert isinstance(table, Table)
    return table


def nearest(x: Fraction) -> Fraction:
    """To binary16, by Python's own conversion."""
    (found,) = struct.unpack("<e", struct.pack("<e", float(x)))
    return Fraction(found)


@pytest.mark.slow
@given(values=VALUES)
@settings(max_examples=12, deadline=None)
def test_left_out_is_what_the_definition_leaves_out(values: dict[str, int]) -> None:
    """Of Ootomo-Yokota ΔA·ΔB and the words' residues, of Markidis the residues: from the definitions."""
    out = {name: Fraction(0) for name in NAMES}
    for lane in range(2):
        x, y = F32.value(values[f"a{lane}"]), F32.value(values[f"b{lane}"])
        big = nearest(x), nearest(y)
        plain = [nearest(v - w) for v, w in zip((x, y), big, strict=True)]
        scaled = [nearest((v - w) * 2**11) / 2**11 for v, w in zip((x, y), big, strict=True)]
        out["markidis"] += x * y - (big[0] + plain[0]) * (big[1] + plain[1])
        out["ootomo-halfhalf"] += x * y - big[0] * big[1] - scaled[0] * big[1] - big[0] * scaled[1]
    for one in walked(values):
        assert one.left_out(values) == out[one.name]


@pytest.mark.slow
@given(values=VALUES)
@settings(max_examples=6, deadline=None)
def test_words_are_the_evaluators(values: dict[str, int]) -> None:
    sides = walked(values)
    lines = {line.label: line for line in table_of(trace_sheet(sides, values)).lines}
    for number, one in enumerate(sides):
        (word,) = evaluate([one.algorithm.trace.output], values)
        if word & 0x7FFFFFFF:
            cells = lines["result"].sides[number]
            assert cells is not None and cells[0] == F32.hex(word)


def test_any_loss_is_infinite_relative_to_a_sum_of_zeros() -> None:
    assert (_of(Fraction(1), Fraction(0)), _of(Fraction(0), Fraction(0))) == ("infinite", "0")


def test_steps_keep_the_order_of_each_side() -> None:
    values = {"a0": 0x3F8FFFFF, "a1": 0x40490FDB, "b0": 0x3FB504F3, "b1": 0xBF317218, "c": 0x3DCCCCCD}
    for names in (NAMES, ("markidis", "markidis,order=reversed"), ("fp32-fma", "bf16x9")):
        sides = walked(values, names, "ampere")
        lines = [line for line in table_of(trace_sheet(sides, values)).lines if line.label != "left out"]
        for number, one in enumerate(sides):
            assert [n.label for n in lines if n.sides[number]] == [step.name for step in one.steps]


def test_table_five_parts_where_c_enters() -> None:
    """Valpey et al., section 6, steps 3 to 7: the sum 1 + 2^-24 is cut; with c inside it is 1 + 2^-23."""
    values = vector_of(TABLE_5, algorithm_named("markidis", "volta", 4)[0])
    sheet = trace_sheet(walked(values), values)
    table = table_of(sheet)
    (parted,) = (line for line in table.lines if line.parts)
    assert parted.label == "A0·B0, lanes 0 to 3"
    assert [side and side[0] for side in parted.sides] == ["0x3f800000", "0x3f800001"]
    left, right = (picture.panels[0] for picture in sheet.pictures[1:])
    assert isinstance(left, BitGrid) and isinstance(right, BitGrid)
    sums = [grid.sums[0].value() for grid in (left, right)]
    assert sums == [1 + Fraction(1, 2**24), 1 + Fraction(1, 2**23)]
    assert [row.label for row in right.rows if row.parts] == ["c"]
