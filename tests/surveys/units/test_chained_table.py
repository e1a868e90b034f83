"""The atlas of chained units as text."""

from __future__ import annotations

import re
from dataclasses import replace

from tcsmt.surveys.units.chained_table import as_chained_table
from tests.support.small_chained import chained_atlas


def test_table() -> None:
    text = as_chained_table(chained_atlas())
    assert text.startswith(
        "f32.f16.f16.f32, chained to K = 4\n  1: volta/mma.m8n8k4.f32.f16.f16.f32, turing/"
    )
    assert re.search(r"^  1 \| 2: equal on: all words$", text, re.MULTILINE)
    assert re.search(r"^  1 \| 3: (\w+=0x\w+ )+-> 0x\w{8} \| 0x\w{8}", text, re.MULTILINE)
    assert re.search(r"^  proved: 1 = 2 on all words: bitwuzla \S+ alone, \d", text, re.MULTILINE)


def test_integers_proved_refuted_and_open() -> None:
    atlas = chained_atlas()
    one, two, three = (unit.name for unit in atlas.groups[0].units)
    known = {one: {"bits": 24}, two: {"bits": 0}, three: {"bits": 0, "beyond": {"size": 1}}}
    text = as_chained_table(replace(atlas, integers=known))
    assert "  integers are summed exactly by 1: proved where |c| + Σ |a·b| is below 2^24\n" in text
    assert "  integers are summed exactly by 2: not proved\n" in text
    assert "  integers are not summed exactly by 3: |c| + Σ |a·b| = 1 is an example\n" in text
