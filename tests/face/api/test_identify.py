"""``tcsmt.identify``: a function of arrays is a box."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import tcsmt
from tcsmt.simulate.measured.row_files import read_rows

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
