"""Which models results are about, and which of them are another one now."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

import pytest

from tcsmt.matrix_units.arithmetic.formats import Format, format_named
from tcsmt.matrix_units.catalogue import digests, row_named, rows
from tcsmt.matrix_units.catalogue.digests import (
    digest_of_unit,
    models_named,
    nearest_variant,
    rows_of_function,
)
from tests.oracles.terms import values
from tests.support import digests as kept_digests
from tests.support.digests import kept

VOLTA = "volta/mma.m8n8k4.f32.f16.f16.f32"


def test_names_are_found_wherever_they_stand() -> None:
    """As keys, values and elements; not as parts of texts."""
    data = {"results": [{"unit": VOLTA}, ["ampere"]], "x86/vdpbf16ps": 1, "note": "as hopper does"}
    found = models_named(data)
    assert set(found) == {VOLTA, "ampere", "x86/vdpbf16ps"}
    assert found[VOLTA] == row_named(VOLTA).model.digest
    assert len(set(found.values())) == 3


@pytest.mark.slow
def test_every_row_keeps_its_graph() -> None:
    """A reshaping leaves each graph as it was. A new row is added by ``python -m tests.support.digests``."""
    now = kept_digests.digests(rows())
    assert now.keys() - kept_digests.kept().keys() == set(), "rows without a digest in tests/data/digests.txt"
    changed = [name for name, digest in kept_digests.kept().items() if now.get(name) != digest]
    assert changed == [], "rows that are gone or compute another function"


def test_a_changed_unit_changes_its_architecture(monkeypatch: pytest.MonkeyPatch) -> None:
    before = {name: digest_of_unit(name) for name in ("volta", VOLTA, "ampere")}
    changed = [
        replace(row, model=row.model.replace(fraction_bits=24)) if row.name == VOLTA else row
        for row in rows()
    ]
    digests._units.cache_clear()
    monkeypatch.setattr(
        digests, "rows", lambda claims=True: [r for r in changed if claims or "@" not in r.name]
    )
    try:
        after = {name: digest_of_unit(name) for name in before}
    finally:
        digests._units.cache_clear()
    assert {name for name in before if before[name] != after[name]} == {"volta", VOLTA}


@pytest.mark.parametrize("name", ["volta", "hopper", "ampere", "cdna3", "x86"])
def test_a_row_is_every_row_of_its_digest(name: str) -> None:
    """As the committed list of digests has them, which also tells formats apart."""
    row = row_named(name)
    alike: dict[str, set[str]] = defaultdict(set)
    for other, digest in kept().items():
        alike[digest].add(other)
    found = rows_of_function(row.model)
    assert {one.name for one in found} == alike[kept()[row.name]] & {one.name for one in rows()}
    assert row.name in {one.name for one in found}
    refuted = [one.status != "accepted" for one in found]
    assert refuted == sorted(refuted)


def test_another_parameter_is_another_unit() -> None:
    """Even one that changes few results: the row that it differs from is named with the value."""
    row = row_named(VOLTA)
    other = row.model.replace(fraction_bits=24)
    assert VOLTA not in {one.name for one in rows_of_function(other)}
    nearest = nearest_variant(row.model.replace(carry_bits=3))
    assert nearest is not None
    assert (nearest.row.name, nearest.changed) == (VOLTA, {"carry_bits": 3})


def test_a_format_that_only_has_the_name_is_another_one() -> None:
    """The graph of the same words read in another format is another graph, or their domain is."""
    half = format_named("f16")
    assert isinstance(half, Format)
    model = row_named(VOLTA).model
    forged = model.replace(a_format=replace(half, bias=half.bias + 1))
    assert rows_of_function(forged) == []
    nearest = nearest_variant(forged)
    assert nearest is not None and set(nearest.changed) == {"a_format"}


def test_a_model_that_is_like_no_row() -> None:
    model = row_named(VOLTA).model.replace(
        k=3, n_fma=3, fraction_bits=5, zero_exponent=-7, negative_zero=True, carry_bits=1
    )
    assert rows_of_function(model) == [] and nearest_variant(model) is None


def test_rows_of_one_graph_compute_the_same() -> None:
    """On words with zeros, subnormals, infinities and NaNs, by the second evaluator."""
    import numpy as np

    row = row_named("ampere")
    rng = np.random.default_rng(0)
    columns = {
        name: rng.integers(1 << fmt.width, size=200, dtype=np.uint64)
        for name, fmt in row.model.input_formats.items()
    }
    results = [values([one.model.trace.output], columns)[0] for one in rows_of_function(row.model)]
    assert len(results) > 1 and all((result == results[0]).all() for result in results)
