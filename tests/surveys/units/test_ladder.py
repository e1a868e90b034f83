"""The domains of the atlas: which include which, and inputs that lie in them."""

from __future__ import annotations

import numpy as np
import pytest

from tcsmt.language.run.arrays import Program
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.prove.statements.domain_words import covers
from tcsmt.surveys.units.ladder import columns_in, ladder

UNITS = (
    "volta/mma.m8n8k4.f32.f16.f16.f32",
    pytest.param("arm/fdot.f32.e4m3.e4m3", marks=pytest.mark.long),
    "arm/fdot.f32.e5m2.e5m2",
    "cdna1/v_mfma_i32_4x4x4i8",
)


@pytest.mark.parametrize("name", UNITS)
def test_inputs_lie_in_their_domain(name: str) -> None:
    """By fractions, without the terms that select them; and most of those that were drawn are there."""
    model = row_named(name).model
    for domain in ladder(model.input_formats, model.trace):
        columns = columns_in(domain, model.input_formats, model.trace, 200, np.random.default_rng(1))
        count = len(columns["c"])
        assert count >= 20, str(domain)
        for row in range(count):
            values = {given: int(words[row]) for given, words in columns.items()}
            assert domain.contains(model.input_formats, values), (str(domain), values)


@pytest.mark.parametrize("name", UNITS)
def test_included_domains_have_no_input_outside(name: str) -> None:
    """No input of an included domain is outside; the order of the ladder never goes up."""
    model = row_named(name).model
    domains = ladder(model.input_formats, model.trace)
    conditions = Program([domain.holds(model.input_formats, model.trace) for domain in domains])
    included = 0
    for place, narrow in enumerate(domains):
        columns = columns_in(narrow, model.input_formats, model.trace, 2000, np.random.default_rng(2))
        inside = conditions.run(columns)
        for other, (wide, holds) in enumerate(zip(domains, inside, strict=True)):
            if covers(wide, narrow, model.input_formats):
                assert other <= place
                assert np.all(holds), (str(wide), str(narrow))
                included += other < place
            else:
                assert wide != narrow
    assert included > len(domains)
    assert all(covers(domains[0], domain, model.input_formats) for domain in domains)


def test_all_words_have_nans_and_infinities() -> None:
    model = row_named(UNITS[0]).model
    first = ladder(model.input_formats, model.trace)[0]
    columns = columns_in(first, model.input_formats, model.trace, 500, np.random.default_rng(3))
    fmt = model.input_formats["c"]
    assert any(fmt.is_nan(int(word)) for word in columns["c"])
    assert any(fmt.is_infinite(int(word)) for word in columns["c"])
