"""Is an implementation the unit: what is asked, what a wrong one is shown as, and what agreeing means."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tcsmt.interface.api.units import side_of
from tcsmt.interop.implementations.check import Implementation, check, wrong_answers
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import FusedDotAdd
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.simulate.rows import run_words
from tcsmt.surveys.units.model_pairs import verdicts_in
from tests.oracles.exact import results

pytestmark = pytest.mark.usefixtures("one_audit")
VOLTA = row_named("volta/mma.m8n8k4.f32.f16.f16.f32")


def of(model: object) -> Implementation:
    return lambda words: run_words(model, words)


@pytest.mark.slow
def test_the_unit_agrees_with_itself_and_says_what_that_excludes() -> None:
    found = check(VOLTA, of(VOLTA.model), rows=20_000, seed=1)
    assert (found.mismatches, found.first, found.rows) == (0, None, 20_000)
    left = {found.audit.hypotheses[j].name for i, j in found.audit.undistinguished() if i == 0}
    assert len(left) < len(found.audit.hypotheses) / 2
    assert "fraction_bits = 24" not in left and "carry_bits = 2" not in left


@pytest.mark.parametrize(
    "change",
    [{"fraction_bits": 24}, {"carry_bits": 2}, {"nan": 0x7FC00000}, {"negative_zero": True}],
    ids=str,
)
@pytest.mark.slow_cases("{'fraction_bits': 24}")
def test_a_change_of_one_parameter_is_found_and_named(change: dict[str, object]) -> None:
    assert isinstance(VOLTA.model, FusedDotAdd)
    wrong = VOLTA.model.replace(**change)
    found = check(VOLTA, of(wrong), rows=1, seed=1)
    assert found.mismatches and found.first is not None
    (name,) = change
    assert any(one.startswith(f"{name} = ") for one in found.alike), found.alike
    # replayed by the exact oracle, which knows neither the terms nor the simulator
    columns = {name: np.array([word]) for name, word in found.first.values.items()}
    assert int(results(VOLTA.model, columns)[0]) == found.first.expected
    assert int(results(wrong, columns)[0]) == found.first.got != found.first.expected


def test_a_mismatch_is_short_and_of_numbers_where_there_are_any() -> None:
    def naive(words):
        a, b = (side.view(np.float16).astype(np.float32) for side in (words.a, words.b))
        with np.errstate(all="ignore"):
            c = words.c.view(np.float32)
            for x, y in zip(a.T, b.T, strict=True):
                c = c + x * y
        return c.view(np.uint32)

    found = check(VOLTA, naive, rows=20_000, seed=1)
    assert found.first is not None
    d = VOLTA.model.d_format
    assert not d.is_nan(found.first.expected) and not d.is_nan(found.first.got)
    assert sum(word != 0 for word in found.first.values.values()) <= 6


def test_solvers_find_rows_that_the_edges_do_not(tmp_path: Path) -> None:
    """What stays is proved equal, or an asked row tells it apart."""
    row = row_named("x86/vdpbf16ps")
    with verdicts_in(tmp_path / "store.json") as store:
        found = check(row, of(row.model), rows=1, seed=1, options=SolvingOptions(), store=store)
    assert found.gaps is not None
    assert all(gap.verdict != "open" for gap in found.gaps)
    assert len(found.audit.undistinguished()) == len(found.gaps)


def test_a_nan_is_right_where_no_source_says_its_word() -> None:
    got, expected = (
        np.array([0x7FFFFFFF, 0xFFC00001, 0x3F800000]),
        np.array([0x7FC00000, 0x3F800000, 0x7FC00000]),
    )
    for text, wrong in (("nan=unknown", [False, True, True]), ("nan=quiet", [True, True, True])):
        model = side_of(f"volta+split-k:2+{text}@8").row.model
        assert wrong_answers(model, got, expected).tolist() == wrong
