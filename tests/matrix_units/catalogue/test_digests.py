"""Which models results are about, and which of them are another one now."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tcsmt.matrix_units.catalogue import digests, row_named, rows
from tcsmt.matrix_units.catalogue.digests import digest_of_unit, models_named, stale
from tests.support import digests as kept_digests

VOLTA = "volta/mma.m8n8k4.f32.f16.f16.f32"


def test_names_are_found_wherever_they_stand() -> None:
    """As keys, values and elements; not as parts of texts."""
    data = {"results": [{"unit": VOLTA}, ["ampere"]], "x86/vdpbf16ps": 1, "note": "as hopper does"}
    found = models_named(data)
    assert set(found) == {VOLTA, "ampere", "x86/vdpbf16ps"}
    assert found[VOLTA] == row_named(VOLTA).model.digest
    assert len(set(found.values())) == 3


def test_results_are_stale_where_the_digest_is_another_or_missing() -> None:
    data = {"unit": VOLTA, "other": "ampere"}
    fresh = data | {"models": models_named(data)}
    assert stale(fresh) == []
    assert stale({"parts": [fresh]}) == []
    assert stale(data) == ["ampere", VOLTA]
    old = fresh | {"models": models_named(data) | {VOLTA: "0" * 64}}
    assert stale(old) == [VOLTA]


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
        replace(row, model=row.model.varied(fraction_bits=24)) if row.name == VOLTA else row for row in rows()
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
