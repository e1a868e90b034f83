"""The evaluator against the simulator."""

import numpy as np
import pytest

from tcsmt.identification.units.evaluate import predictions
from tcsmt.identification.units.family import Family
from tcsmt.identification.units.questions import Questions
from tcsmt.identification.units.vectors import mixed
from tcsmt.matrix_units.arithmetic.formats import format_named
from tcsmt.matrix_units.catalogue import row_named
from tests.support.families import family_like, random_row, simulated
from tests.support.sampling import mostly_long


def rows_with_every_value(family, random):
    """Hypotheses, such that each structure and each value of each column is in one of them."""
    sizes = [len(family.structures), len(family.bits), len(family.alignments), 2, len(family.roundings)]
    sizes += [len(family.round_bits), len(family.zero_exponents), 2, len(family.overflows), 2, 2]
    missing = {(column, value) for column, size in enumerate(sizes) for value in range(size)}
    rows = []
    while missing:
        row = random_row(family, random)
        new = missing & set(enumerate(map(int, row)))
        if new:
            rows.append(row)
            missing -= new
    return np.array(rows)


@pytest.mark.slow
@pytest.mark.parametrize("step", [3, pytest.param(1, marks=pytest.mark.long)])
def test_a_family_at_a_rows_parameters_is_the_row(step):
    """A unit's own graph and the family's at its constants: every a and every c, NaNs and infinities too."""
    family = Family.of(map(format_named, ("e2m1", "e2m1", "e5m2", "e5m2")), 1)
    rows = rows_with_every_value(family, np.random.default_rng(3))
    # b: a zero, 1.5 and a negative subnormal number
    a, b, c = (x.reshape(-1) for x in np.meshgrid(range(16), (0, 3, 9), range(0, 256, step)))
    questions = Questions(*(x.astype(np.uint64) for x in (a[:, None], b[:, None], c)))
    for row in rows:
        model = family.model(row)
        assert (predictions(family, row[None], questions)[0] == simulated(family, model, questions)).all(), (
            model
        )


@pytest.mark.parametrize(
    "name",
    mostly_long(
        [
            "volta/mma.m8n8k4.f32.f16.f16.f32@valpey",
            "ampere/mma.m16n8k8.f32.tf32.tf32.f32",
            "turing/mma.m16n8k8.f16.f16.f16.f16",
            "hopper/wgmma.m64nNk32.f32.e4m3.e5m2",
        ],
        ["volta/mma.m8n8k4.f32.f16.f16.f32@valpey", "turing/mma.m16n8k8.f16.f16.f16.f16"],
    ),
)
def test_a_family_at_a_catalogue_rows_parameters_is_the_row(name):
    model = row_named(name).model
    family = family_like(model)
    row = family.row(model)
    assert row is not None
    assert family.model(row).as_json() | {"nan": None} == model.as_json() | {"nan": None}
    questions = mixed(family, np.random.default_rng(5), 1500)
    assert (predictions(family, row[None], questions)[0] == simulated(family, model, questions)).all()
