"""The table of processors: every feature gives instructions, and every instruction of a processor has one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tcsmt.matrix_units.catalogue import processors, rows
from tcsmt.matrix_units.catalogue.processors import INSTRUCTIONS, MODELS, PROCESSORS, instructions_of
from tcsmt.support.errors import TcsmtError


def test_features_and_instructions_are_known() -> None:
    assert {feature for one in PROCESSORS.values() for feature in one.features} <= set(INSTRUCTIONS)
    assert {one for _, one in MODELS} <= set(PROCESSORS)
    prefixes = {prefix for some in INSTRUCTIONS.values() for prefix in some}
    own = [row.instruction for row in rows(claims=False) if row.architecture in ("x86", "arm")]
    assert all(any(name == one or name.startswith(f"{one}.") for one in prefixes) for name in own)
    assert all(any(name == one or name.startswith(f"{one}.") for name in own) for one in prefixes)


def test_instructions_of_a_processor_come_most_used_first() -> None:
    assert instructions_of(("amx_bf16", "avx512_bf16")) == ["tdpbf16ps", "vdpbf16ps"]
    assert instructions_of(("avx512_vnni", "avx_vnni")) == list(INSTRUCTIONS["avx512_vnni"])
    assert instructions_of(("bf16", "ebf16"))[-2:] == ["bfmmla.ebf1", "bfdot.ebf1"]
    assert instructions_of(("sse2",)) == []


def test_model_numbers() -> None:
    numbers = {
        "platinum8180": "skylake", "platinum8275cl": "cascade lake", "platinum8380hl": "cooper lake",
        "platinum8375c": "ice lake", "gold6430": "sapphire rapids", "platinum8592+": "emerald rapids",
        "xeon6980p": "granite rapids", "epyc7551": "naples", "epyc7r32": "rome", "epyc7v13": "milan",
        "epyc9r14": "genoa", "epyc9965": "turin", "ryzen95950x": "zen 3", "ryzen99950x": "zen 5",
    }  # fmt: skip
    for number, processor in numbers.items():
        assert next(one for pattern, one in MODELS if re.fullmatch(pattern, number)) == processor, number


def test_flags_are_kept_in_the_order_of_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "cpuinfo"
    path.write_text("flags\t: avx512_vnni avx512_bf16 amx_bf16 sse2\nmodel name : A : B\n")
    monkeypatch.setattr(processors, "CPUINFO", path)
    found = processors.this_processor("x86")
    assert found.features == ("amx_bf16", "avx512_bf16", "avx512_vnni")
    assert (found.architecture, found.about) == ("x86", "this processor, A : B")
    with pytest.raises(TcsmtError, match=r"nowhere: No such file"):
        processors.facts(tmp_path / "nowhere")
