"""Rows as numbers are the rows of the family's tables, in their order."""

import numpy as np

from tcsmt.identification.units.family import Family
from tcsmt.identification.units.grid import Grid
from tcsmt.matrix_units.arithmetic.formats import format_named

FAMILY = Family.of(map(format_named, ("e2m1", "e3m2", "f16", "f16")), 4)


def test_every_row_of_every_structure():
    grid = Grid(FAMILY)
    for number in range(0, len(FAMILY.structures), 3):
        numbers, table = grid.every(number), FAMILY.first(number)
        assert (grid.table(numbers, number) == table).all()
        few = slice(7, None, 997)
        whole = grid.with_last_rounding(numbers[few])
        if FAMILY.structures[number].order == "last":
            assert (grid.table(whole, number) == FAMILY.with_last_rounding(table[few])).all()
        assert (grid.digit(whole, 11) == np.tile(np.arange(len(FAMILY.roundings)), len(numbers[few]))).all()


def test_columns_for_the_evaluator():
    grid = Grid(FAMILY)
    numbers = np.random.default_rng(4).permutation(grid.with_last_rounding(grid.every(2)))[:500]
    rows, table = grid.rows(numbers), grid.table(numbers, 2)
    assert (rows.fronts[rows.front] == table[:, [1, 2, 3, 6, 7]]).all()
    assert (rows.backs[rows.back] == table[:, [4, 5, 8, 9, 10]]).all()
    assert (rows.last == table[:, 11]).all()
    for column in (1, 2, 3, 4, 5, 11):
        assert (grid.digit(numbers, column) == table[:, column]).all()
        assert len(np.unique(table[:, column])) > 1
