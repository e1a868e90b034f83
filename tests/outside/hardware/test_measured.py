"""What a device answered, as a file that is read again."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import Operands
from tcsmt.outside.hardware.measured import as_dataset
from tcsmt.simulate.measured.datasets import find_datasets


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
