"""Trees as text and as data, and the sizes of their sums."""

from __future__ import annotations

import numpy as np

from tcsmt.identification.kernels.tree import Arithmetic, SumTree, sizes_of, tree_of
from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.matrix_units.catalogue import row_named

F32, F64 = FORMATS["f32"], FORMATS["f64"]
FUSED, ROUNDED, WIDE = Arithmetic(F32), Arithmetic(F32, F32), Arithmetic(F64, F32)


def chain(first: int, last: int, arithmetic: Arithmetic | None = None) -> SumTree:
    return SumTree(((first, first + 1), *((n,) for n in range(first + 2, last + 1))), arithmetic)


def test_sizes_and_trees_are_each_others() -> None:
    tree = SumTree((*chain(0, 3).steps, (chain(4, 7),)))
    sizes = sizes_of(tree, 8)
    assert [sizes[0, 1], sizes[2, 0], sizes[4, 5], sizes[3, 7], sizes[6, 6]] == [2, 3, 2, 8, 1]
    assert (sizes == sizes.T).all()
    assert tree_of(sizes) == tree


def test_sums_of_several_at_once_have_one_step() -> None:
    tree = SumTree(((0, 1, 2, 3), (4, 5, 6, 7)))
    sizes = sizes_of(tree, 8)
    assert (sizes[:4, :4] == np.where(np.eye(4, dtype=bool), 1, 4)).all() and (sizes[4:, :4] == 8).all()
    assert tree_of(sizes) == tree
    assert str(tree).splitlines() == ["sum of p0..p3", "then p4..p7"]


def test_text_names_the_arithmetic_where_it_changes() -> None:
    assert str(chain(0, 9, FUSED)).splitlines() == [
        "sum of p0, p1  [f32 sums of exact products]", "then one at a time: p2..p9",
    ]  # fmt: skip
    dot = SumTree(((chain(0, 7, ROUNDED), chain(8, 11, WIDE)),), WIDE)
    assert str(dot).splitlines() == [
        "2 sums, added:  [f64 sums of products rounded to f32]",
        "- sum of p0, p1  [f32 sums of products rounded to f32]", "  then one at a time: p2..p7",
        "- sum of p8, p9", "  then one at a time: p10, p11",
    ]  # fmt: skip
    unit = Arithmetic(F32, unit=row_named("volta/mma.m8n8k4.f32.f16.f16.f32"))
    halves = SumTree(((SumTree(((0, 1, 2, 3),), unit), SumTree(((4, 5, 6, 7),), unit)),), FUSED)
    assert str(halves).splitlines() == [
        "2 sums, added:  [f32 sums]", "- sum of p0..p3  [as volta/mma.m8n8k4.f32.f16.f16.f32]",
        "- likewise from p4 on",
    ]  # fmt: skip


def test_data() -> None:
    tree = SumTree(((chain(0, 1, FUSED), 2),), WIDE)
    assert tree.as_json() == {
        "sums": "f64", "products": "f32", "unit": None,
        "steps": [[{"sums": "f32", "products": "exact", "unit": None, "steps": [[0, 1]]}, 2]],
    }  # fmt: skip
    assert chain(0, 1).as_json() == {"steps": [[0, 1]]}
    assert chain(0, 2, FUSED).moved(5) == chain(5, 7, FUSED)
