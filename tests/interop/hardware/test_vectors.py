"""Vectors of a probe: from a property, from a file, and with what is predicted for them."""

from __future__ import annotations

import json
import lzma
from pathlib import Path

import numpy as np
import pytest

from tcsmt.interop.hardware import vectors
from tcsmt.interop.hardware.vectors import as_dataset, from_file
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import Operands
from tcsmt.simulate.measured.datasets import find_datasets
from tcsmt.simulate.measured.row_files import read_rows
from tcsmt.surveys.properties.discovery import properties
from tests.support.command_line import done, refused, tcsmt
from tests.support.probes import VOLTA


@pytest.mark.slow
def test_a_property_becomes_vectors_with_both_predictions(tmp_path: Path) -> None:
    for suffix in ("json", "csv"):
        path = tmp_path / f"vectors.{suffix}"
        done("probe", "volta", "--property", "carry-bits", "--emit", suffix, "--output", path)
        again = from_file(path, row_named(VOLTA))
        assert len(read_rows(path, row_named(VOLTA).model).c) == len(again) == 1
    (row,) = json.loads((tmp_path / "vectors.json").read_text())["rows"]
    assert row["asks"] == "carry-bits: 2 against 3 carry bits"
    predictions = row["predictions"]
    assert predictions["3 carry bits"] == predictions[VOLTA] != predictions["2 carry bits"]
    assert f"{VOLTA}@valpey" in predictions


def test_a_witness_goes_to_the_interleaved_lanes_of_one_fused_sum(tmp_path: Path) -> None:
    path, unit = tmp_path / "v.json", "hopper/mma.m16n8k32.f16.e4m3.e4m3.f16"
    (tmp_path / "four_lanes.py").write_text(
        '''"""Four lanes."""

from dataclasses import replace


def investigate(ask):
    unit = ask.unit.replace(k=4, n_fma=4)
    other = unit.replace(rounding="RTZ")
    ask.differ("the last bit", ("nearest", unit), ("zero", other), lanes=())
    return ""
'''
    )
    done(
        "probe", unit, "--folder", tmp_path, "--property", "four-lanes",
        "--emit", "json", "--output", path,
    )  # fmt: skip
    (row,) = json.loads(path.read_text())["rows"]
    given = {lane for side in "ab" for lane, word in enumerate(row[side]) if int(word, 16)}
    assert given <= {0, 1, 4, 5}  # lanes 2 and 3 of each four are the other sum's
    assert row["predictions"][unit] in (row["predictions"]["nearest"], row["predictions"]["zero"])


def test_vectors_of_a_file_become_a_program(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("a0,a1,a2,a3,b0,b1,b2,b3,c\n1,0,0,0,1,0,0,0,0.5\n")
    text = done("probe", "volta", "--vectors", path, "--emit", "cuda")
    assert text.count("rows.csv, row 0") == 2
    assert "0x3fc00000" in text
    assert "arch=compute_70" in text


@pytest.mark.slow
def test_predictions_of_files_are_kept(tmp_path: Path) -> None:
    """Hypotheses of `audit --output`, questions of `identify --plan` and of a transcript."""
    row = row_named(VOLTA)
    file = tmp_path / "v.jsonl"
    question = {"a": ["1"] * 4, "b": ["1"] * 4, "c": "1"}
    lines = [
        {**question, "asks": "more lanes", "predictions": {"two lanes": "0x40400000"}},
        {**question, "why": "an ordinary sum", "d": "0x40a00000"},
        question,
    ]
    file.write_text("\n".join(map(json.dumps, lines)) + "\n\n")
    one, two, three = from_file(file, row)
    assert (one.asks, two.asks, three.asks) == (
        "v.jsonl, row 0: more lanes", "v.jsonl, row 1: an ordinary sum", "v.jsonl, row 2",
    )  # fmt: skip
    assert one.predictions["two lanes"] == 0x40400000
    for vector in (one, two, three):
        assert vector.predictions[VOLTA] == 0x40A00000
    assert "two lanes" not in two.predictions
    compressed = tmp_path / "v.jsonl.xz"
    compressed.write_bytes(lzma.compress(file.read_bytes()))
    assert from_file(compressed, row)[0].predictions == one.predictions
    plan = tmp_path / "plan.json"
    plan.write_text(done("identify", "--like", "volta", "--plan", "set"))
    data = json.loads(done("probe", "volta", "--plan", plan, "--emit", "json"))
    assert len(data["rows"]) == len(json.loads(plan.read_text())["rows"])
    file.write_text(json.dumps({**question, "predictions": {"x": "0x123456789"}}))
    assert "predictions['x']" in refused("probe", "volta", "--vectors", file, "--emit", "json")
    file.write_text(json.dumps({**question, "predictions": 3}))
    assert "predictions is not an object" in refused("probe", "volta", "--vectors", file, "--emit", "json")


def test_properties_that_do_not_apply_are_skipped_and_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also what only turns out not to apply when it asks; named by --property, it is an error."""
    (tmp_path / "contradictory.py").write_text(
        '''"""Asks about parameters that contradict each other, after a first question."""

from dataclasses import replace


def investigate(ask):
    unit = ask.unit
    ask.differ("the last bit", ("toward zero", unit), ("nearest", unit.replace(rounding="RNE")), lanes=())
    return str(unit.replace(c_position="last", normalisation="every"))
'''
    )
    model = tmp_path / "u.toml"
    model.write_text(f'base = "{VOLTA}"\nzero_exponent = "none"\n')
    known = properties((tmp_path,))
    chosen = ("contradictory", "normalization-in-addition", "product-normalization", "zero-exponent")
    monkeypatch.setattr(vectors, "properties", lambda folders: {name: known[name] for name in chosen})
    common = ("probe", model, "--folder", tmp_path, "--emit", "json")
    found = tcsmt(*common)
    assert found.exit_code == 0, found.stderr
    asked = {row["asks"].partition(":")[0] for row in json.loads(found.stdout)["rows"]}
    assert asked == {"contradictory", "product-normalization"}
    skipped = [line for line in found.stderr.splitlines() if ": skipped: " in line]
    assert skipped == [
        "normalization-in-addition: skipped: zero_exponent = None: must be a number "
        "when normalisation = every",
        "zero-exponent: skipped: the unit has no zero exponent: its zeros have the exponents of their fields",
        "contradictory: skipped: zero_exponent = None: must be a number when normalisation = every",
    ]
    for name in ("normalization-in-addition", "zero-exponent"):
        assert f"{name} does not apply to custom/u: " in refused(*common, "--property", name)
    assert "when normalisation = every" in refused(*common, "--property", "contradictory")


def test_a_broken_property_is_not_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """That it does not apply is one thing, an error in it another."""
    (tmp_path / "broken.py").write_text('"""Broken."""\n\n\ndef investigate(ask):\n    return 1 / 0\n')
    known = properties((tmp_path,))
    monkeypatch.setattr(vectors, "properties", lambda folders: {"broken": known["broken"]})
    said = refused("probe", "volta", "--folder", tmp_path, "--emit", "json")
    assert "broken.py: line 5: ZeroDivisionError" in said
    assert "skipped" not in said


def test_answers_are_read_again_with_where_they_come_from(tmp_path: Path) -> None:
    """Of a claim's row, too: the device is the unit, whatever is claimed of it."""
    rng = np.random.default_rng(4)
    a, b = (rng.integers(0, 1 << 16, (5, 4)).astype(np.uint16) for _ in "ab")
    c, d = (rng.integers(0, 1 << 32, 5).astype(np.uint32) for _ in "cd")
    asks = [f"question {number}" for number in range(5)]
    for name in ("volta/mma.m8n8k4.f32.f16.f16.f32", "volta/mma.m8n8k4.f32.f16.f16.f32@valpey"):
        text = as_dataset(row_named(name), {"gpu": "V100", "driver": "470"}, Operands(a, b, c), d, asks)
        data = json.loads(text)
        assert data["model"] == "volta/mma.m8n8k4.f32.f16.f16.f32"
        assert [row["asks"] for row in data["rows"]] == asks
        path = tmp_path / "answers.json"
        path.write_text(text)
        (found,) = find_datasets([path])
        assert found.gpu == "V100" and found.provenance["driver"] == "470"
        for given, read in (
            (a, found.operands.a),
            (b, found.operands.b),
            (c, found.operands.c),
            (d, found.d),
        ):
            assert np.array_equal(given, read)
