"""The atlas of chained units as text."""

from __future__ import annotations

import re

from tcsmt.survey.chained_table import as_chained_table
from tests.support.small_chained import chained_atlas


def test_table() -> None:
    text = as_chained_table(chained_atlas())
    assert text.startswith(
        "f32.f16.f16.f32, chained to K = 4\n  1: volta/mma.m8n8k4.f32.f16.f16.f32, turing/"
    )
    assert re.search(r"^  1 \| 2: equal on: all words$", text, re.MULTILINE)
    assert re.search(r"^  1 \| 3: (\w+=0x\w+ )+-> 0x\w{8} \| 0x\w{8}", text, re.MULTILINE)
    assert re.search(r"^  proved: 1 = 2 on all words: bitwuzla \S+ alone, \d", text, re.MULTILINE)
