"""``tcsmt.accuracy.recipes``: algorithms by name, with their sources."""

from __future__ import annotations

import numpy as np
import pytest

import tcsmt
from tcsmt import accuracy
from tcsmt.programs.recipes.arrays import multiply
from tcsmt.programs.recipes.emulation.named import EMULATIONS
from tcsmt.programs.recipes.named import RECIPES, algorithm_named


def test_every_algorithm_has_a_title_and_a_source() -> None:
    recipes = accuracy.recipes()
    assert [*recipes] == [*RECIPES, *EMULATIONS] == [*recipes.sources]
    assert all(recipes.values()) and all(recipes.sources.values())
    text = str(recipes)
    assert all(title in text and recipes.sources[name] in text for name, title in recipes.items())
    fma = {"name": "fp32-fma", "title": recipes["fp32-fma"], "source": "IEEE 754-2019"}
    assert fma in recipes.as_json()["algorithms"]
    assert repr(recipes) == f"<Recipes of {len(recipes)} algorithms>"


@pytest.mark.library
def test_algorithms_and_emulations() -> None:
    rng = np.random.default_rng(2)
    a, b, c = (rng.standard_normal(shape).astype(np.float32) for shape in ((3, 8), (8, 2), (3, 2)))
    found = tcsmt.accuracy.multiply(a, b, c, algorithm="markidis", unit="volta")
    assert found.dtype == np.float32
    assert (found == multiply(algorithm_named("markidis", "volta")[0], a, b, c)).all()
    exact = tcsmt.accuracy.multiply(a, b, algorithm="ozaki2-int8", unit="turing")
    assert exact.dtype == np.float64
    assert np.allclose(exact, a.astype(np.float64) @ b.astype(np.float64), rtol=1e-14)
    with pytest.raises(tcsmt.TcsmtError, match="unknown algorithm"):
        tcsmt.accuracy.multiply(a, b, algorithm="ozaki3", unit="turing")


def test_tensors_come_back_as_tensors() -> None:
    torch = pytest.importorskip("torch")
    a = torch.tensor([[1.0, 2.0**-52]], dtype=torch.float64)
    found = tcsmt.accuracy.multiply(a, a.T, algorithm="ozaki1-int8", unit="ampere")
    assert isinstance(found, torch.Tensor) and found.dtype == torch.float64 and found.tolist() == [[1.0]]
    with pytest.raises(tcsmt.TcsmtError, match="b requires a gradient"):
        tcsmt.accuracy.multiply(a, a.T.requires_grad_(), algorithm="ozaki1-int8", unit="ampere")
