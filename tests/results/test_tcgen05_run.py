"""The inputs of the published run, drawn many at a time, are those that Python draws one by one."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from tcgen05_deciding import BY_HAND, COUNT, UNITS
from tcgen05_run import PATHS, count_differences, drawn, variants

from tcsmt.language.run.exact import evaluate
from tcsmt.matrix_units.catalogue import row_named
from tests.support.results import result


def one_by_one(rng: Random, scale_words: int, scales: int, finite: bool) -> list[list[int]]:
    """A row of the run: 64 of a, 64 of b, c, and the scales."""
    a, b = ([rng.randrange(16) for _ in range(64)] for _ in "ab")
    c = rng.getrandbits(32)
    if finite and c & 0x7F800000 == 0x7F800000:
        c = c & 0x807FFFFF | rng.randrange(0, 255) << 23
    return [a, b, [c], *([rng.randrange(scale_words) for _ in range(scales)] for _ in "ab")]


@pytest.mark.parametrize("finite", [False, True])
@pytest.mark.parametrize("name", PATHS)
def test_rows_are_those_of_the_run(name: str, finite: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tcgen05_run.AT_ONCE", 150)
    path, rows = PATHS[name], 700
    rng, words = (
        Random(path.seeds[finite]),
        128 if name in ("dense-nvfp4", "dense-mxf4nvf4-4x-ue4m3") else 256,
    )
    parts = list(drawn(path, path.seeds[finite], rows, finite=finite))
    found = [np.concatenate([part.named[key] for part in parts]) for key in parts[0].named]
    expected = [one_by_one(rng, words, path.scales, finite) for _ in range(rows)]
    for place, column in enumerate(found):
        assert column.reshape(rows, -1).tolist() == [row[place] for row in expected]


@pytest.mark.slow
def test_few_rows_are_counted() -> None:
    """No row tells both models apart; another F does on some of 6,000 rows."""
    counts = count_differences(PATHS["dense-nvfp4"], 6000)
    differ = counts["rows that differ from the accepted model"]
    assert counts["rows"] == 6000
    assert differ["disputed"] == 0
    assert differ["accepted, F = 25"] > 100
    assert set(differ) == set(variants(PATHS["dense-nvfp4"])) - {"accepted"}


@pytest.mark.parametrize("name", UNITS)
@pytest.mark.slow_cases("nvfp4")
def test_the_deciding_vectors_decide(name: str) -> None:
    """Both models' words, by the evaluator; the first vector of NVFP4 is the one made by hand."""
    data = result(f"comparisons/tcgen05-deciding-{name}")
    sides = [row_named(UNITS[name] + tag) for tag in ("", "@sf-tensor")]
    assert len(data["rows"]) == COUNT
    for number, one in enumerate(data["rows"]):
        words = [int(text, 16) for part in ("a", "b") for text in one[part]]
        words += [int(one["c"], 16), *(int(t, 16) for part in ("scale_a", "scale_b") for t in one[part])]
        values = dict(zip(sides[0].model.input_names, words, strict=True))
        found = [evaluate([row.model.trace.output], values)[0] for row in sides]
        assert [int(one["predictions"][row.name], 16) for row in sides] == found
        assert len(set(found)) == 2
        if number == 0 and name == "nvfp4":
            assert {key: word for key, word in values.items() if word} == {
                k: w for k, w in BY_HAND.items() if w
            }
            assert found == [0x3A610000, 0x3A600000]
