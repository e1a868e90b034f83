"""Integer instructions, each form on edges and random words, against Python's integers."""

from __future__ import annotations

import numpy as np
import pytest

from tcsmt.interop.compiled.integers import INTEGER_FORMS
from tests.oracles.ptx import integer

_EDGES = [
    0,
    1,
    2,
    7,
    8,
    31,
    32,
    33,
    63,
    64,
    255,
    256,
    (1 << 15),
    (1 << 31) - 1,
    1 << 31,
    (1 << 63),
    (1 << 64) - 1,
]
#: Counts of shifts and fields, and a table of a truth function, are taken as they are.
_NARROW = {"shl": 1, "shr": 1, "bfe": 1, "bfi": 2, "lop3": 3}


@pytest.mark.parametrize("name", INTEGER_FORMS)
def test_forms_give_what_python_gives(name: str) -> None:
    form = INTEGER_FORMS[name]
    rng = np.random.default_rng(len(name))
    first = _NARROW.get(name.partition(".")[0], len(form.widths))
    columns = []
    for number, width in enumerate(form.widths):
        edges = rng.permutation(np.tile(np.array(_EDGES, np.uint64), 12))
        words = np.concatenate([edges, rng.integers(0, 1 << 64, 60, np.uint64)])
        if number >= first:
            words = rng.integers(0, 70, len(words)).astype(np.uint64)
            if name.startswith("lop3"):
                words = np.full(len(words), int(rng.integers(0, 256)), np.uint64)
        mask = np.uint64((1 << width) - 1)
        columns.append(words & mask)
    if name.startswith(("div", "rem")):
        columns[1] = np.maximum(columns[1], np.uint64(1))
    found = form.apply(*columns)
    expected = [integer(name.split("."), [int(word) for word in row]) for row in zip(*columns, strict=True)]
    assert found.tolist() == expected
