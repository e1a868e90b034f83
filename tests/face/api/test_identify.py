"""``tcsmt.identify``: a function of arrays is a box."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tcsmt

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
