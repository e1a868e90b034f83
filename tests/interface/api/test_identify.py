"""``tcsmt.identify``: a function of arrays is a box."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import tcsmt
from tcsmt.identification.units.classical import black_box
from tcsmt.interface.api.identify import PROBES, readings
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.simulate.measured.row_files import read_rows
from tests.support.sampling import mostly_long

#: Model files; searches are quick where formats are small.
TWO_LANES = "k = 2\nn_fma = 2\n"
TINY = """k = 1
n_fma = 1
a_format = "e2m1"
b_format = "e2m1"
c_format = "f16"
d_format = "f16"
fraction_bits = 6
"""


@pytest.mark.parametrize(
    ("model", "formats", "dtypes"),
    [
        (TINY, ("e2m1", "e2m1", "f16", "f16"), ("float4_e2m1fn", "float16")),
        pytest.param(TWO_LANES, ("f16", "f16", "f32", "f32"), ("float16", "float32"), marks=pytest.mark.long),
    ],
)
def test_identify_a_function(
    model: str, formats: tuple[str, ...], dtypes: tuple[str, str], tmp_path: Path
) -> None:
    """A function of arrays is a box; so is a unit, whose formats need not be said."""
    mine = tcsmt.read_model(_written(tmp_path, model))
    k = mine.k
    asked = []

    def box(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
        asked.append((a.shape, b.shape, c.shape, a.dtype.name, c.dtype.name))
        return np.asarray(mine(a, b, c))

    found = tcsmt.identify(box, formats=formats, k=k, budget=3)
    assert set(asked) == {((1, k), (1, k), (1,), *dtypes)} and len(asked) == 3
    assert found.verdict == "open" and found.as_json()["questions"] == 3
    assert found.exit_code == 3
    assert "3 questions" in str(found)
    with pytest.raises(tcsmt.TcsmtError, match=r"give like=UNIT, or formats=\.\.\. and k"):
        tcsmt.identify(box)


def _written(folder: Path, model: str) -> Path:
    path = folder / "mine.toml"
    path.write_text(f'base = "volta/mma.m8n8k4.f32.f16.f16.f32"\n{model}')
    return path


@pytest.mark.slow
def test_a_transcript_is_of_one_box(tmp_path: Path) -> None:
    """Each line says which box has answered; another box's file is refused, and an older one is not."""
    path = tmp_path / "asked.jsonl"
    first = tcsmt.identify("x86/vpdpbusd", budget=3, transcript=path)
    lines = path.read_text().splitlines()
    assert len({json.loads(line)["box"] for line in lines}) == 1
    assert (
        tcsmt.identify("x86/vpdpbusd", budget=3, transcript=path).outcome.exchanges == first.outcome.exchanges
    )
    with pytest.raises(tcsmt.TcsmtError, match=r"asked\.jsonl:1: this is the answer of another box"):
        tcsmt.identify("x86/vpdpbusds", budget=3, transcript=path)
    assert len(read_rows(path, tcsmt.unit("x86/vpdpbusd").model).c) == len(lines)
    older = [{name: value for name, value in json.loads(line).items() if name != "box"} for line in lines]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in older))
    assert (
        tcsmt.identify("x86/vpdpbusd", budget=3, transcript=path).outcome.exchanges == first.outcome.exchanges
    )


TINY_FILE = """base = "volta/mma.m8n8k4.f32.f16.f16.f32"
k = 1
n_fma = 1
a_format = "e2m1"
b_format = "e2m1"
c_format = "f16"
d_format = "f16"
fraction_bits = 6
"""


def recorded(folder: Path, flip: int = 0) -> Path:
    """Answers of a small unit to random rows; one with other bits."""
    (folder / "tiny.toml").write_text(TINY_FILE)
    tcsmt.vectors(str(folder / "tiny.toml"), "random", rows=60).save(folder / "rows.json")
    data = json.loads((folder / "rows.json").read_text())
    data["rows"][7]["d"] = f"{int(data['rows'][7]['d'], 16) ^ flip:#06x}"
    (folder / "rows.json").write_text(json.dumps(data))
    return folder / "rows.json"


@pytest.mark.slow
def test_explanations_of_all_rows_have_the_units_parameters(tmp_path: Path) -> None:
    explained = tcsmt.identify_data(recorded(tmp_path), rows=50)
    assert explained.remaining >= 1 and 6 in explained.values["fraction_bits"]
    assert explained.exit_code == (0 if explained.remaining == 1 else 3)
    facts = explained.as_json()
    assert (facts["rows"], facts["remaining"], facts["best"]) == (50, explained.remaining, None)
    assert len(facts["next"]) <= 3
    lines = str(explained).splitlines()
    assert lines[0].startswith("rows: 50 rows, ")
    assert lines[1] == f"{explained.remaining} of {facts['hypotheses']} hypotheses explain them all"


@pytest.mark.long
def test_a_row_recorded_wrong_is_named(tmp_path: Path) -> None:
    explained = tcsmt.identify_data(recorded(tmp_path, flip=0x100))
    assert (explained.remaining, explained.exit_code, explained.values) == (0, 1, {})
    assert explained.as_json()["best"]["missed"] == 1
    assert "rows that contradict" in str(explained)


def test_integers_are_refused(tmp_path: Path) -> None:
    tcsmt.vectors("x86/vpdpbusd", "edge", rows=5).save(tmp_path / "rows.json")
    with pytest.raises(tcsmt.TcsmtError, match="u8 is not a floating-point format"):
        tcsmt.identify_data(tmp_path / "rows.json")


FORMATS = ("e2m1", "e2m1", "f16", "f16")


def test_a_set_is_a_file_of_rows_for_a_probe(tmp_path: Path) -> None:
    plan = tcsmt.identify_plan(like="volta", budget=5)
    data = json.loads(str(plan))
    assert data == plan.as_json() and len(data["rows"]) == 5 and "tcsmt" not in data
    assert data["model"].startswith("volta/")
    assert 1 < plan.told_apart <= plan.hypotheses
    (tmp_path / "plan.json").write_text(str(plan))
    assert len(tcsmt.probe("volta", vectors=tmp_path / "plan.json")) == 5


@pytest.mark.slow
def test_a_tree_names_every_hypothesis_in_a_leaf() -> None:
    plan = tcsmt.identify_plan("tree", formats=FORMATS, k=1)
    data = json.loads(str(plan))
    assert data == plan.as_json() and data["tcsmt"] == tcsmt.__version__

    def leaves(node: dict[str, object]) -> list[list[str]]:
        if "left" in node:
            return [node["left"]]
        return [leaf for child in node["answers"].values() for leaf in leaves(child)]  # type: ignore[attr-defined]

    found = leaves(data["tree"])
    assert len(found) == plan.told_apart and sum(map(len, found)) == plan.hypotheses


def test_other_kinds_and_integers_are_refused() -> None:
    with pytest.raises(tcsmt.TcsmtError, match="unknown plan 'list'"):
        tcsmt.identify_plan("list", like="volta")
    with pytest.raises(tcsmt.TcsmtError, match="a plan supports only fused dot-adds"):
        tcsmt.identify_plan(like="x86/vpdpbusd")


@pytest.mark.parametrize("kind", mostly_long([*PROBES], ["tree", "all"]))
def test_classical_probes(kind: str) -> None:
    read = tcsmt.identify_probe("volta", kind)
    lines = str(read).splitlines()
    assert lines[-1] == f"{read.questions} questions"
    assert read.as_json() == {"tcsmt": tcsmt.__version__, **read.readings, "questions": read.questions}
    expected = {
        "tree": "└─ c p0..p3",
        "features": "n_fma: 4",
        "precision": "product: 23",
        "rounding": "product: RZ",
    }
    for name, text in expected.items():
        if kind in (name, "all"):
            assert text in str(read)


def test_each_kind_finds_its_own_part() -> None:
    box = black_box(row_named("volta/mma.m8n8k4.f32.f16.f16.f32").model)
    assert readings(box, "precision").keys() == {"precision"}
    assert readings(box, "rounding")["rounding"]["product"] == "RZ"
    assert readings(box, "tree").keys() == {"summation_tree", "picture"}


def test_probes_out_of_reach_are_reported_without_an_error() -> None:
    """Formats without the range that the probes need."""
    box = black_box(row_named("rtx-blackwell/mma.m16n8k32.kind::f8f6f4.f16.e2m1.e2m1.f16").model)
    assert readings(box, "tree")["summation_tree"].startswith("out of reach: ")
    assert readings(box, "features")["features"].startswith("out of reach: ")


def test_other_probes_and_integers_are_refused() -> None:
    with pytest.raises(tcsmt.TcsmtError, match="unknown probe 'trees': did you mean tree"):
        tcsmt.identify_probe("volta", "trees")
    with pytest.raises(tcsmt.TcsmtError, match="a probe supports only fused dot-adds"):
        tcsmt.identify_probe("x86/vpdpbusd")
