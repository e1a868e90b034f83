"""A family's rows, their number, and which are near each other."""

import numpy as np

from tcsmt.identification.units.family import Family
from tcsmt.matrix_units.arithmetic.formats import format_named
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import FusedDotAdd
from tcsmt.support.invariants import not_none
from tcsmt.surveys.units.neighbours import neighbours
from tests.support.families import family_like, random_row

VOLTA = row_named("volta/mma.m8n8k4.f32.f16.f16.f32").model


def test_rows_and_models_correspond():
    random = np.random.default_rng(5)
    for formats, k in (("f16 f16 f32 f32", 4), ("e4m3 e5m2 f32 f32", 8), ("e2m1 e3m2 f16 f16", 4)):
        family = Family.of(map(format_named, formats.split()), k)
        for _ in range(10):
            row = random_row(family, random)
            assert (not_none(family.row(family.model(row))) == row).all()


def test_count_is_the_number_of_rows():
    family = Family.of(map(format_named, ("e2m1", "e2m1", "f16", "f16")), 2)
    total = 0
    for number, _ in enumerate(family.structures):
        first = family.first(number)
        by_rounding = [
            len(family.grown(family.with_last_rounding(first[first[:, 4] == r][:1]))[0])
            for r in range(len(ROUNDINGS))
        ]
        total += sum(int((first[:, 4] == r).sum()) * by_rounding[r] for r in range(len(ROUNDINGS)))
    assert total == family.count


def test_structures_differ_in_their_blocks():
    family = family_like(VOLTA)
    keys = {(s.blocks, s.products, s.order) for s in family.structures}
    assert len(keys) == len(family.structures)


def test_rows_one_column_apart():
    family = family_like(VOLTA)
    row = not_none(family.row(VOLTA))
    near = family.one_column_apart(row)
    assert ((near != row).sum(axis=1) == 1).all()
    for one in near:
        assert isinstance(family.model(one), FusedDotAdd)


def test_a_neighbour_in_the_family_is_one_column_apart():
    """A model that differs in one parameter is the same hypothesis or one column apart, or none of them."""
    family = family_like(VOLTA)
    row = not_none(family.row(VOLTA))
    near = {tuple(one) for one in family.one_column_apart(row).tolist()}
    rows = [family.row(one.model) for one in neighbours(VOLTA)]
    inside = {tuple(one.tolist()) for one in rows if one is not None} - {tuple(row.tolist())}
    assert inside < near
    assert len(inside) > 50
