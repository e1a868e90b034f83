"""Names for shells to complete, and what a processor's name stands for."""

from __future__ import annotations

import pytest

import tcsmt
from tcsmt.interface.api.names import architectures, instructions, meaning


def test_every_architecture_is_named_and_has_instructions() -> None:
    names = architectures()
    assert {"volta", "h100", "sm_90", "cpu", "emerald-rapids"} <= {*names}
    assert {unit.row.architecture for unit in tcsmt.units()} <= {*names}
    assert instructions("h100") == [unit.row.instruction for unit in tcsmt.units("h100", claims=True)]
    assert instructions("nowhere") == []


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("volta", ""),
        ("nowhere", ""),
        ("genoa/vdpbf16ps+split-k:2", "genoa is AMD Zen 4"),
        ("cooper-lake", "cooper-lake is Intel Cooper Lake, and has vdpbf16ps"),
    ],
)
def test_processors_stand_for_several_instructions(name: str, sentence: str) -> None:
    assert meaning(name).startswith(sentence) and bool(meaning(name)) == bool(sentence)
