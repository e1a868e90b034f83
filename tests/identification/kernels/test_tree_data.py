"""Random products: finite, of both signs and wide exponents; and those in which no rounding matters."""

from __future__ import annotations

import numpy as np
import pytest

from tcsmt.identification.kernels.tree import SumTree
from tcsmt.identification.kernels.tree_data import order_data, random_words
from tcsmt.matrix_units.arithmetic.conversion import floats
from tcsmt.matrix_units.arithmetic.formats import FORMATS


@pytest.mark.parametrize(("name", "others"), [
    ("f32", ("f64",)), ("bf16", ("f32",)), ("f16", ("f32",)), ("f16", ("f16",)), ("f32", ("bf16",)),
])  # fmt: skip
@pytest.mark.parametrize("k", [2, 7, 600])
def test_random_products(name: str, others: tuple[str, ...], k: int) -> None:
    """No sum of them reaches the end of a format; both signs; the spread of exponents changes."""
    fmt = FORMATS[name]
    formats = [fmt, *(FORMATS[other] for other in others)]
    spreads = set()
    for seed in range(40):
        a, b = random_words(fmt, k, (3, 2), formats, np.random.default_rng(seed))
        assert a.shape == (3, k) and b.shape == (k, 2)
        sizes = np.abs(floats(fmt, a)) @ np.abs(floats(fmt, b))
        assert (sizes < min(float(one.largest_finite) for one in formats)).all()
        exponents = np.frexp(floats(fmt, a))[1]
        spreads.add(int(exponents.max() - exponents.min()))
    assert 0 in spreads
    signs = np.sign(floats(fmt, random_words(fmt, 600, (3, 2), formats, np.random.default_rng(0))[0]))
    assert {*signs.reshape(-1).tolist()} == {-1, 1}
    if name != "f16":
        assert max(spreads) > 20


@pytest.mark.parametrize("name", ["f32", "f16"])
def test_products_in_which_no_rounding_matters(name: str) -> None:
    """A chain of binary64 gives what its order says, as any sums do."""
    fmt = FORMATS[name]
    tree = SumTree(((0, 1), *((n,) for n in range(2, 9))))
    for seed in range(50):
        data = order_data(fmt, FORMATS["f32"], 9, (4, 3), np.random.default_rng(seed))
        a, b = (floats(fmt, words).astype(np.float32) for words in (data.a, data.b))
        total = np.zeros((4, 3), np.float32)
        for n in range(9):
            total = total + a[:, n : n + 1] * b[n]
        rows, columns = (part.reshape(-1) for part in np.indices((4, 3)))
        assert (data.results(tree, rows, columns) == total[rows, columns]).all()
        assert len(np.unique(np.abs(a))) >= 2
