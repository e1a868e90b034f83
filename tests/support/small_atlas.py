"""An atlas of three units, for tests of what an atlas does with them."""

from __future__ import annotations

from tcsmt.matrix_units.catalogue import rows
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.surveys.units.atlas import Group, groups

VOLTA = "volta/mma.m8n8k4.f32.f16.f16.f32"
CHOSEN = ["--arch", "volta", "--types", "f32.f16.f16.f32", "--claims", "--no-confirm"]
ALIKE = ("turing", "hopper")
ASKING = SolvingOptions(confirm=False, jobs=2)


def small() -> list[Group]:
    chosen = [r for r in rows() if r.name.startswith(VOLTA)]
    return [Group("f32.f16.f16.f32", 4, groups(chosen)[0].units[:3])]
