"""``tcsmt audit``: what vectors tell apart, what closes the gaps, and V-A's verdict on FTTN's vectors."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tcsmt.catalogue import Row, row_named
from tcsmt.data.datasets import find_datasets, replay
from tcsmt.data.model_files import read_model
from tcsmt.interpret.exact import evaluate
from tcsmt.models import FusedDotAdd
from tcsmt.papers import khattak
from tcsmt.prove.boundary_inputs import rows as pool_rows
from tcsmt.prove.solvers.run import Settings
from tcsmt.simulator.rows import run_words
from tcsmt.survey.audit import Vectors, audit_of, closing, gaps, gathered, listed
from tcsmt.survey.neighbours import neighbours
from tcsmt.survey.set_cover import cover
from tcsmt.survey.settle import Asking, verdicts_in
from tests.support.command_line import done, refused, tcsmt
from tests.support.paths import DATA

VOLTA = "volta/mma.m8n8k4.f32.f16.f16.f32"
#: A unit whose proofs are quick.
SMALL = f'base = "{VOLTA}"\nk = 2\nn_fma = 2\n'
ASKING = Asking(Settings(timeout=20), confirm=False, jobs=2)


# --- covers -------------------------------------------------------------------------------------


@given(st.lists(st.integers(0, (1 << 8) - 1), max_size=10))
@settings(max_examples=150, deadline=None)
def test_covers_are_the_smallest(sets: list[int]) -> None:
    whole = 0
    for one in sets:
        whole |= one
    found = cover(sets)
    union = 0
    for number in found.chosen:
        union |= sets[number]
    assert union == whole
    assert found.exact
    for size in range(len(found.chosen)):
        for few in combinations(sets, size):
            together = 0
            for one in few:
                together |= one
            assert together != whole


# --- neighbours ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", [VOLTA, "cdna3/v_mfma_f32_32x32x8_f16", "cdna2/v_mfma_f32_32x32x8f16", "ampere/mma.m8n8k4.f64"]
)
def test_neighbours_differ_in_one_parameter(name: str) -> None:
    model = row_named(name).model
    found = list(neighbours(model))
    graphs = {model.trace.output, *(near.model.trace.output for near in found)}
    assert len(graphs) == len(found) + 1
    for near in found:
        assert near.model == replace(model, **{near.parameter: near.value})
        assert near.model.input_formats == model.input_formats


def test_neighbours_along_every_parameter() -> None:
    model = row_named("ampere/mma.m16n8k16.f32.f16.f16.f32").model
    names = {near.name for near in neighbours(model)}
    expected = {
        "n_fma = 4", "n_fma = 16", "fraction_bits = 23", "fraction_bits = 25", "products = normalised",
        "carry_bits = 3", "rounding = RNE", "zero_exponent = -126", "nan = 0x7fc00000", "interleave = 2",
    }  # fmt: skip
    assert expected <= names
    assert "carry_bits = 4" not in names  # enough: the same graph


# --- what is told apart -------------------------------------------------------------------------


def vectors_for(row: Row, count: int) -> Vectors:
    columns = pool_rows(row.model.input_formats, count, np.random.default_rng(3))
    words = [tuple(int(w) for w in some) for some in zip(*columns.values(), strict=True)]
    return listed(row, [(f"row {n}", w) for n, w in enumerate(words)])


def test_told_apart_is_what_the_evaluator_says() -> None:
    row = row_named(VOLTA)
    made = audit_of(row, vectors_for(row, 12))
    names = row.model.input_names
    for place, (i, j) in enumerate(made.pairs):
        count = 0
        for number in range(len(made.vectors)):
            inputs = made.vectors.inputs
            words = [*inputs.a[number], *inputs.b[number], inputs.c[number]]
            values = dict(zip(names, map(int, words), strict=True))
            one, two = evaluate([made.hypotheses[n].row.model.trace.output for n in (i, j)], values)
            count += one != two
            assert bool(made.sets[number] >> place & 1) == (one != two)
        assert made.deciders[place] == count
    # the chosen few tell apart what all do
    chosen = made.words[:, made.enough.chosen]
    for (i, j), count in zip(made.pairs, made.deciders, strict=True):
        assert bool((chosen[i] != chosen[j]).any()) == bool(count)


def test_gaps_are_closed_or_equal(tmp_path: Path) -> None:
    """Few vectors leave gaps; the solver's vectors, audited with them, leave only what is proved equal."""
    file = tmp_path / "small.toml"
    file.write_text(SMALL)
    row = read_model(file)
    made = audit_of(row, vectors_for(row, 40))
    with verdicts_in(tmp_path / "a.json") as store:
        found = gaps(made, store, ASKING)
    assert {gap.pair for gap in found} == set(made.untold())
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


def test_a_chain_of_instructions_is_one_unit() -> None:
    """The unit of more lanes answers as the instructions do, one after the other."""
    row = row_named(VOLTA)
    model = row.model
    assert isinstance(model, FusedDotAdd)
    wide = replace(model, k=16)
    columns = pool_rows(wide.input_formats, 3000, np.random.default_rng(5))
    a, b = (np.stack([columns[f"{side}{lane}"] for lane in range(16)], axis=1) for side in "ab")
    c = columns["c"]
    for first in range(0, 16, 4):
        c = run_words(model, a[:, first : first + 4], b[:, first : first + 4], c)
    assert (c == run_words(wide, a, b, columns["c"])).all()


def test_recorded_vectors(measured_data: Path) -> None:
    """Random data tell neither carry bits nor zeros, subnormals, NaNs: what shared/hardware/README says."""
    path = measured_data / "v100_f16_f32.npz"
    row, vectors = gathered([path], None)
    assert (row.name, len(vectors)) == (VOLTA, 2500)
    made = audit_of(row, vectors)
    open_ones = {made.hypotheses[j].parameter for i, j in made.untold() if i == 0}
    assert {"zero_exponent", "flush_inputs", "flush_outputs", "negative_zero", "nan"} <= open_ones
    assert not open_ones & {"fraction_bits", "n_fma", "products", "rounding", "alignment"}
    # the unit's words are what was measured: results are not read, and yet right
    data = next(iter(find_datasets([path])))
    assert replay(data, row.model).mismatches == 0
    assert (made.words[0] == data.d).all()


# --- Khattak and Mikaitis, section V-A ----------------------------------------------------------


@pytest.mark.parametrize("number", [1, 2])
def test_fttn_misidentifies_the_custom_models(number: int) -> None:
    text = tcsmt(
        "audit", "--published", "fttn", "--model", DATA / f"khattak-custom-{number}.toml", "--no-solve"
    )
    assert text.exit_code == 1
    lines = text.stdout.splitlines()
    said = {line.split(":")[0].strip(): line for line in lines if line.startswith("  ")}
    if number == 1:  # no extra bits: neither feature shows
        assert "1, or no such feature   WRONG, it is 8 (no rule could" in said["N_FMA"]
        assert "RZ   WRONG, it is RN (no rule could" in said["rounding"]
        row = next(line for line in lines if line.startswith("rounding = RNE"))
        assert row.split()[3].startswith("RNA")  # nothing is told apart
    else:  # the answers do differ, but not as the rule expects
        assert ">= 16   WRONG, it is 8 (the rule errs" in said["N_FMA"]
        assert "WRONG" not in said["rounding"]
    assert "WRONG" not in said["extra bits"]


def test_fttn_reads_real_units_right() -> None:
    for name in ("ampere", "hopper"):
        readings = khattak.fttn_readings(row_named(name).model)
        assert [one.right for one in readings] == [True, True, True], readings


# --- the command --------------------------------------------------------------------------------


def test_command(tmp_path: Path) -> None:
    file, store = tmp_path / "v.csv", tmp_path / "a.json"
    file.write_text("a0,a1,b0,b1,c\n1,1,1,1,1\n0,0,0,0,0\n")
    model = tmp_path / "small.toml"
    model.write_text(SMALL)
    arguments = ["audit", file, "--model", model, "--store", store, "--no-confirm", "--timeout", "2"]
    closed = tmp_path / "closing.json"
    result = tcsmt(*arguments, "--output", closed, "--json")
    assert result.exit_code == 1
    data = json.loads(result.stdout)
    assert data["model"] == "custom/small"
    assert data["vectors"] == ["v.csv row 0", "v.csv row 1"]
    assert data["closing"]["vectors"]
    # the vectors that were written name their unit, are read again, and close what was open
    result = tcsmt(*arguments, closed, "--json")
    again = json.loads(result.stdout)
    assert {gap["verdict"] for gap in again["gaps"]} <= {"equal", "unknown"}
    assert result.exit_code in (0, 3)
    assert "# custom/small" in done("run", model, "--input", closed)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give FILES, or --published"),
        (["--published", "fttn"], "give --model"),
        (["--published", "fttn", "--model", "cdna2/v_mfma_f64_4x4x4f64"], "FTTN's vectors are for f16"),
        (["--published", "fasi", "--model", "ada/mma.m16n8k8.f32.tf32"], "Fasi et al.'s tests are for f16"),
        (["none.json"], "no file or folder none.json"),
        (["FILE"], "does not say which unit its vectors are for: give --model"),
        (["FILE", "--model", "ampere"], "no column"),
        (["FILE", "--model", "volta", "--output", "x.txt"], "allowed suffixes"),
        (["FILE", "--model", "volta", "--output", "x.json", "--no-solve"], "--output is for what --solve"),
    ],
)
def test_bad_input(tmp_path: Path, arguments: list[str], message: str) -> None:
    file = tmp_path / "v.csv"
    file.write_text("a0,a1,a2,a3,b0,b1,b2,b3,c\n1,1,1,1,1,1,1,1,1\n")
    given_ones = [str(file) if one == "FILE" else one for one in arguments]
    assert message in refused("audit", *given_ones, "--store", tmp_path / "a.json")
