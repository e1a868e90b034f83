"""``tcsmt models``."""

from __future__ import annotations

import json
import re

from tests.support.command_line import done

VOLTA = "volta/mma.m8n8k4.f32.f16.f16.f32"


def test_models() -> None:
    text = done("models")
    assert re.search(rf"^{VOLTA} +4 +4 +23 +-131  measured +accepted$", text, re.MULTILINE)
    assert re.search(rf"^{VOLTA}@valpey .* refuted$", text, re.MULTILINE)
    assert "@" not in done("models", "--no-claims")
    hopper = json.loads(done("models", "--arch", "sm_90a", "--json"))["units"]
    assert {row["architecture"] for row in hopper} == {"hopper"}
    assert set(hopper[0]) == {
        "architecture", "instruction", "source", "date", "evidence", "measured", "status", "note", "model",
    }  # fmt: skip
