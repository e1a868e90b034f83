"""Audits: what vectors tell apart, what closes the gaps, and V-A's verdict on FTTN's vectors."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tcsmt.language.run.exact import evaluate
from tcsmt.matrix_units.catalogue import Row, row_named
from tcsmt.matrix_units.files.model_files import read_model
from tcsmt.matrix_units.models import FusedDotAdd, Operands
from tcsmt.prove.engine.boundary_inputs import rows as pool_rows
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.simulate.measured.datasets import find_datasets, replay
from tcsmt.simulate.rows import run_words
from tcsmt.surveys.papers import khattak
from tcsmt.surveys.units import audit
from tcsmt.surveys.units.audit import Vectors, audit_of, closing, gaps, gathered, listed
from tcsmt.surveys.units.model_pairs import Pair, verdicts_in, without_verdict

VOLTA = "volta/mma.m8n8k4.f32.f16.f16.f32"
#: A unit whose proofs are quick.
SMALL = f'base = "{VOLTA}"\nk = 1\nn_fma = 1\n'
ASKING = SolvingOptions(confirm=False, jobs=2)


def vectors_for(row: Row, count: int) -> Vectors:
    columns = pool_rows(row.model.input_formats, count, np.random.default_rng(3))
    words = [tuple(int(w) for w in some) for some in zip(*columns.values(), strict=True)]
    return listed(row, [(f"row {n}", w) for n, w in enumerate(words)])


@pytest.mark.long
@pytest.mark.parametrize("text", [SMALL, pytest.param(f'base = "{VOLTA}"\n', marks=pytest.mark.long)])
def test_told_apart_is_what_the_evaluator_says(text: str, tmp_path: Path) -> None:
    file = tmp_path / "unit.toml"
    file.write_text(text)
    row = read_model(file)
    made = audit_of(row, vectors_for(row, 12))
    names, inputs = row.model.input_names, made.vectors.inputs
    outputs = [hypothesis.row.model.trace.output for hypothesis in made.hypotheses]
    given = []
    for number in range(len(made.vectors)):
        words = [*inputs.a[number], *inputs.b[number], inputs.c[number]]
        given.append(evaluate(outputs, dict(zip(names, map(int, words), strict=True))))
    for place, (i, j) in enumerate(made.pairs):
        apart = [found[i] != found[j] for found in given]
        assert [bool(told >> place & 1) for told in made.sets] == apart
        assert made.deciders[place] == sum(apart)
    # the chosen few tell apart what all do
    chosen = made.words[:, made.enough.chosen]
    for (i, j), count in zip(made.pairs, made.deciders, strict=True):
        assert bool((chosen[i] != chosen[j]).any()) == bool(count)


@pytest.mark.long
def test_gaps_are_closed_or_equal(tmp_path: Path) -> None:
    """Few vectors leave gaps; the solver's vectors, audited with them, leave only what is proved equal."""
    file = tmp_path / "small.toml"
    file.write_text(SMALL)
    row = read_model(file)
    made = audit_of(row, vectors_for(row, 40))
    with verdicts_in(tmp_path / "a.json") as store:
        found = gaps(made, store, ASKING)
    assert {gap.pair for gap in found} == set(made.undistinguished())
    verdicts = {made.hypotheses[gap.pair[1]].name: gap.verdict for gap in found if gap.pair[0] == 0}
    assert verdicts["zero_exponent = -126"] == "equal"
    assert "open" in verdicts.values()
    closed = closing(made, found)
    assert closed is not None
    assert len(closed.vectors) < sum(gap.verdict == "open" for gap in found)
    again = audit_of(row, closed.vectors)
    told = {pair for pair, count in zip(again.pairs, again.deciders, strict=True) if count}
    assert {gap.pair for gap in found if gap.verdict == "open"} <= told
    assert not {gap.pair for gap in found if gap.verdict == "equal"} & told


@pytest.mark.slow
def test_pairs_without_a_verdict_are_tried_on_known_inputs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A solver that never answers: what some known input tells apart is open, the rest stays unknown."""
    file = tmp_path / "small.toml"
    file.write_text(SMALL)
    made = audit_of(read_model(file), vectors_for(read_model(file), 40))

    def silent(pairs: Sequence[Pair], *_: object) -> dict[str, dict[str, Any]]:
        return {pair.key: without_verdict(pair, "silent") for pair in pairs}

    monkeypatch.setattr(audit, "decide_cached", silent)
    with verdicts_in(tmp_path / "a.json") as store:
        found = gaps(made, store, ASKING)
    opened = [gap for gap in found if gap.verdict == "open"]
    assert opened and {gap.verdict for gap in found} == {"open", "unknown"}
    for gap in opened:
        outputs = [made.hypotheses[n].row.model.trace.output for n in gap.pair]
        values = {name: int(value["word"], 16) for name, value in gap.record["inputs"].items()}
        words = evaluate(outputs, values)
        assert [int(one["word"], 16) for one in gap.record["results"]] == words
        assert words[0] != words[1]
    names = {made.hypotheses[gap.pair[1]].name for gap in found if gap.verdict == "unknown"}
    assert "zero_exponent = -126" in names  # which is equal


def test_a_chain_of_instructions_is_one_unit() -> None:
    """The unit of more lanes answers as the instructions do, one after the other."""
    row = row_named(VOLTA)
    model = row.model
    assert isinstance(model, FusedDotAdd)
    wide = model.replace(k=16)
    columns = pool_rows(wide.input_formats, 3000, np.random.default_rng(5))
    a, b = (np.stack([columns[f"{side}{lane}"] for lane in range(16)], axis=1) for side in "ab")
    c = columns["c"]
    for first in range(0, 16, 4):
        c = run_words(model, Operands(a[:, first : first + 4], b[:, first : first + 4], c))
    assert (c == run_words(wide, Operands(a, b, columns["c"]))).all()


@pytest.mark.slow
def test_recorded_vectors(measured_data: Path) -> None:
    """Random data tell neither carry bits nor zeros, subnormals, NaNs: what shared/hardware/README says."""
    path = measured_data / "v100_f16_f32.npz"
    row, vectors = gathered([path], None)
    assert (row.name, len(vectors)) == (VOLTA, 2500)
    made = audit_of(row, vectors)
    open_ones = {made.hypotheses[j].parameter for i, j in made.undistinguished() if i == 0}
    assert {"zero_exponent", "flush_inputs", "flush_outputs", "negative_zero", "nan"} <= open_ones
    assert not open_ones & {"fraction_bits", "n_fma", "products", "rounding", "alignment"}
    # the unit's words are what was measured: results are not read, and yet right
    data = next(iter(find_datasets([path])))
    assert replay(data, row.model).mismatches == 0
    assert (made.words[0] == data.d).all()


#: Captured rows, their unit, and how many of the vectors that decide are about it.
CAPTURED = [
    ("rdna3_gfx1100", "rdna3/v_dot2_f32_f16", "gfx11 f16 f32", 2),
    ("rdna4_gfx1201", "rdna4/v_dot2_f32_f16", "gfx12 f16 f32", 2),
    ("rdna4_gfx1201", "rdna4/v_dot2_f32_bf16", "gfx12 bf16 f32", 2),
    ("rdna_packed_f16", "rdna3/v_wmma_f16_16x16x16_f16_w64", "gfx11 f16 f16", 2),
    ("rdna_packed_f16", "rdna4/v_wmma_f16_16x16x16_f16_w32", "gfx12 f16 f16", 2),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("captured", "unit", "about", "count"),
    [CAPTURED[0], *(pytest.param(*case, marks=pytest.mark.long) for case in CAPTURED[1:])],
)
def test_captures_leave_open_what_the_vectors_decide(
    captured: str, unit: str, about: str, count: int, unit_data: Path
) -> None:
    """For each vector that decides a point which no captured word decides: some hypothesis that the captured
    rows do not exclude gives the other word on it."""
    row, vectors = gathered([unit_data / f"{captured}.json"], row_named(unit))
    made = audit_of(row, vectors)
    left = {j for i, j in made.undistinguished() if i == 0}
    asked = json.loads((unit_data / "rdna_undecided.json").read_text())["rows"]
    asked = [one for one in asked if f"{one['arch']} {one['in_format']} {one['out_format']}" == about]
    assert len(asked) == count
    for one in asked:
        lanes = [[int(word, 16) for word in one[side]] for side in "ab"]
        words = [word for few in lanes for word in (*few, *[0] * (row.model.k - len(few)))]
        values = dict(zip(row.model.input_names, [*words, int(one["c"], 16)], strict=True))
        outputs = evaluate([each.row.model.trace.output for each in made.hypotheses], values)
        assert outputs[0] == int(one["model"], 16)
        assert any(outputs[j] == int(one["otherwise"], 16) for j in left), one["question"]


def test_fttn_reads_real_units_right() -> None:
    for name in ("ampere", "hopper"):
        readings = khattak.fttn_readings(row_named(name).model)
        assert [one.right for one in readings] == [True, True, True], readings
