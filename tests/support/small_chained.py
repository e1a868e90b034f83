"""A chained atlas of few units, for tests of what it says and draws."""

from __future__ import annotations

from functools import cache

from tcsmt.matrix_units.catalogue import row_named
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.surveys.units.chained import ChainedAtlas, ChainedGroup, chained_groups, run_chained
from tcsmt.surveys.units.model_pairs import verdicts_in

TYPES = "f32.f16.f16.f32"
NAMES = (
    "volta/mma.m8n8k4.f32.f16.f16.f32",
    "turing/mma.m8n8k4.f32.f16.f16.f32",
    "volta/mma.m8n8k4.f32.f16.f16.f32@zero-126",
    "rdna4/v_dot2_f32_f16",
)
ASKING = SolvingOptions(steps=600_000, confirm=False, jobs=1)


def chained_group(k: int | None = None) -> ChainedGroup:
    (group,) = chained_groups([row_named(name) for name in NAMES], [TYPES], k)
    return group


@cache
def chained_atlas() -> ChainedAtlas:
    """Over four products, asked once for all tests."""
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder, verdicts_in(Path(folder) / "a.json") as store:
        return run_chained([chained_group()], store, ASKING)
