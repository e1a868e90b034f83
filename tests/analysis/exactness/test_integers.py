"""The integers that a unit sums exactly: the rows that are tried, the input beyond, and what is kept."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from tcsmt.analysis.bounds.fused_loss import Unbounded
from tcsmt.analysis.bounds.proof import StepwiseProof
from tcsmt.analysis.exactness import integers
from tcsmt.analysis.exactness.integers import integer_records, integer_rows, integer_sums, nearest_inexact
from tcsmt.analysis.exactness.sums import exact_below
from tcsmt.language.run.exact import evaluate
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.verdict import Equivalent
from tcsmt.surveys.units.model_pairs import verdicts_in

#: (unit, size of the smallest sum that is not exact): 2^(F + 1) + 1 on Hopper's FP8 unit, whose F is 13.
SIZES = [
    ("volta/mma.m8n8k4.f32.f16.f16.f32", (1 << 24) + 1),
    ("hopper/wgmma.m64nNk32.f32.e4m3.e4m3", (1 << 14) + 1),
    ("rdna3/v_dot2_f32_f16", 1),
    ("x86/vdpbf16ps", (1 << 24) + 1),
]


@pytest.mark.parametrize("name", ["volta/mma.m8n8k4.f32.f16.f16.f32", "arm/fdot.f32.e4m3.e4m3"])
@pytest.mark.parametrize("bits", [1, 5, 16])
def test_rows_are_integers_below_the_limit(name: str, bits: int) -> None:
    unit = row_named(name).model
    a, b, c = integer_rows(unit, bits, 500, np.random.default_rng(1))
    for values in (a, b, c):
        assert np.array_equal(values, np.floor(values))
        assert np.abs(values).max() < 2**bits
    sizes = np.abs(c) + np.abs(a * b).sum(axis=1)
    assert sizes.max() < 2**bits
    assert (sizes >= 2 ** (bits - 1)).mean() > 0.05 and ((a != 0) & (b == 0)).any()
    assert not np.signbit(c[c == 0]).any()


@pytest.mark.parametrize(
    ("name", "size"),
    [pytest.param(*one, marks=pytest.mark.long) if one == SIZES[1] else one for one in SIZES],
)
def test_the_smallest_sum_that_is_not_exact(name: str, size: int) -> None:
    unit = row_named(name).model
    found = nearest_inexact(unit, 25)
    assert found is not None and found.size == size
    numbers = {word: unit.input_formats[word].value(value) for word, value in found.values.items()}
    products = [numbers[f"a{lane}"] * numbers[f"b{lane}"] for lane in range(unit.k)]
    assert abs(numbers["c"]) + sum(map(abs, products)) == size
    assert numbers["c"] + sum(products) == found.exact
    (word,) = evaluate([unit.trace.output], found.values)
    assert word == found.result and unit.d_format.value(word) != found.exact
    used = {name: value for name, value in found.values.items() if value}
    for one in used:  # none of them can be left out
        fewer = {**found.values, one: 0}
        numbers = {word: unit.input_formats[word].value(value) for word, value in fewer.items()}
        exact = numbers["c"] + sum((numbers[f"a{i}"] * numbers[f"b{i}"] for i in range(unit.k)), Fraction(0))
        (word,) = evaluate([unit.trace.output], fewer)
        assert unit.d_format.value(word) == exact


def test_proofs_and_what_is_said_where_there_are_none() -> None:
    solving = Solving()
    found = integer_sums(row_named("x86/vdpbf16ps").model, solving)
    assert (found.bits, found.closed, found.open) == (24, True, "")
    assert isinstance(found.proof, Equivalent) and found.as_json()["beyond"]["size"] == (1 << 24) + 1
    found = integer_sums(row_named("rdna3/v_dot2_f32_f16").model, solving)
    assert (found.bits, found.closed, found.proof) == (0, True, None)
    found = integer_sums(row_named("x86/vpdpbusd").model, solving)
    assert (found.bits, found.closed) == (0, False) and "floating-point" in found.open


@pytest.mark.slow
@pytest.mark.parametrize(("name", "size"), [pytest.param(*SIZES[1], marks=pytest.mark.long), SIZES[2]])
def test_no_more_is_proved_than_holds(name: str, size: int) -> None:
    """Whatever the search for an input finds."""
    solving = Solving()
    for bits in range(size.bit_length(), 18):
        with pytest.raises(Unbounded):
            exact_below(StepwiseProof(solving), row_named(name).model, bits)


def test_records_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [row_named("x86/vdpbf16ps"), row_named("rdna3/v_dot2_f32_f16")]
    asking = SolvingOptions(confirm=False, jobs=0)
    with verdicts_in(tmp_path / "a.json") as store:
        first = integer_records(rows, store, asking)
    assert [first[row.name]["bits"] for row in rows] == [24, 0]
    monkeypatch.setattr(integers, "integer_sums", None)  # nothing is computed again
    with verdicts_in(tmp_path / "a.json") as store:
        assert integer_records(rows, store, asking) == first


@pytest.mark.long
def test_records_with_certificates(tmp_path: Path) -> None:
    """A record from before has none: the proof is made again, and then counts."""
    rows, folder = [row_named("x86/vdpbf16ps")], tmp_path / "proofs"
    asking = SolvingOptions(confirm=False, jobs=0)
    certified = replace(asking, certificate=folder)
    with verdicts_in(tmp_path / "a.json") as store:
        first = integer_records(rows, store, asking)
        second = integer_records(rows, store, certified)
        assert integer_records(rows, store, certified) == second
    assert "certificate" not in first[rows[0].name]
    record = second[rows[0].name]["certificate"]
    assert record["certified"] and Path(record["file"]).parent == folder / "statements"
