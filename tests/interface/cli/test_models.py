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
    assert "sequences" not in text + done("models", "--arch", "hopper")
    hopper = json.loads(done("models", "--arch", "sm_90a", "--json"))["units"]
    assert {row["architecture"] for row in hopper} == {"hopper"}
    assert set(hopper[0]) == {
        "architecture", "instruction", "source", "date", "evidence", "measured", "status", "note", "model",
        "disputed_by", "nans_outside",
    }  # fmt: skip


def test_models_say_what_is_disputed() -> None:
    name = "blackwell/tcgen05.mMnNk8.kind::tf32.f32.tf32.tf32"
    text = done("models", "--arch", "b200")
    assert re.search(rf"^{name} .* published +accepted, disputed$", text, re.MULTILINE)
    assert re.search(rf"^{name}@sf-tensor .* published +disputed$", text, re.MULTILINE)
    units = json.loads(done("models", "--arch", "b200", "--json"))["units"]
    (row,) = [row for row in units if name.endswith(row["instruction"])]
    assert row["disputed_by"] == [f"{name}@sf-tensor"]
    assert "published, disputed" in done("models", "--arch", "b200", "--markdown")


def test_sequences_of_instructions_are_listed_with_their_architecture() -> None:
    text = done("models", "--arch", "wormhole", "--a-format", "e8m7fn")
    before, after = text.split("sequences of these instructions, which are units, too:")
    assert "wormhole/mvmul.f32.bf16.phase3 " in before
    assert "hifi4" not in before
    assert re.search(r"^wormhole/mvmul.f32.bf16.hifi4 .* phases 0 to 3, one after", after, re.MULTILINE)
    assert "f32.f16" not in after
    found = json.loads(done("models", "--arch", "wormhole", "--json"))
    (row,) = [one for one in found["sequences"] if one["instruction"] == "mvmul.f32.bf16.hifi2"]
    assert [one["a_first_bit"] for one in row["model"]["instructions"]] == [0, 5]


def test_processors_and_ieee_operations_are_listed() -> None:
    assert done("models", "--arch", "ieee").splitlines()[1].startswith("ieee/fma.f32 ")
    assert "bfmmla.ebf0" in done("models", "--arch", "graviton4", "--d-format", "f32").splitlines()[1]
    assert done("describe", "ieee").startswith("ieee/fma.f32\n")
