"""The lists of surveyed units: every name is a row's, and what a list says of its units is so."""

from tcsmt.matrix_units.catalogue import row_named, surveyed
from tcsmt.matrix_units.models import FusedDotAdd
from tcsmt.programs.recipes.named import recipe_named, units_for


def test_every_name_is_a_row() -> None:
    pairs = (
        *surveyed.SAME_UNITS,
        *surveyed.MMA_AND_WGMMA,
        *surveyed.FP8_ON_FP16,
        *surveyed.HALF_OF_THE_LANES,
    )
    names = [name for pair in pairs for name in pair]
    names += [name for *both, _ in surveyed.PAPERS for name in both]
    names += [name for name, *_ in surveyed.ZERO_EXPONENTS]
    names += [*surveyed.TRUNCATED, *surveyed.NEIGHBOURED, *surveyed.SWEPT, surveyed.AS_PUBLISHED]
    assert all(row_named(name).model for name in names)


def test_units_run_what_they_stand_for() -> None:
    chosen = {"markidis": surveyed.FP16_UNITS, "ootomo-tf32tf32": surveyed.TF32_UNITS}
    for algorithm, units in chosen.items():
        assert all(units_for(recipe_named(algorithm), unit) for unit in units)
    assert all(units_for(recipe_named(algorithm), unit) for algorithm, unit in surveyed.BOUNDED)
    distinct = [units_for(recipe_named("markidis"), unit)[0].model for unit in surveyed.DISTINCT_FP16_UNITS]
    assert len(set(distinct)) == len(distinct)
    assert set(surveyed.RESIDUAL_UNITS) < set(surveyed.DISTINCT_FP16_UNITS) < set(surveyed.FP16_UNITS)


def test_numbers_of_products() -> None:
    for products, name in surveyed.SUMS.items():
        model = row_named(name).model
        assert isinstance(model, FusedDotAdd)
        assert model.parameters.n_fma == products
    for name, wider in surveyed.HALF_OF_THE_LANES:
        assert row_named(wider).model.k == 2 * row_named(name).model.k
