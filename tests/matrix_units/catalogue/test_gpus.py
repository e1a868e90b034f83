"""GPUs and architectures by the names under which people know them."""

from __future__ import annotations

import pytest

from tcsmt.matrix_units.catalogue import ARCHITECTURES, architecture_named, rows
from tcsmt.matrix_units.catalogue.gpus import aliases, gpus, vendors

#: Khattak and Mikaitis, Table II; MMA-Sim, section IV; and relatives of the same architecture.
NAMED = {
    "volta": ["V100", "Titan V"],
    "turing": ["T4", "RTX 2080 Ti"],
    "ampere": ["A100", "A2", "A30", "A10", "A40", "RTX 3080", "RTX A6000"],
    "ada": ["L40S", "RTX 4090", "RTX 1000 Ada"],
    "hopper": ["H100", "H200", "GH200"],
    "blackwell": ["B200"],
    "rtx-blackwell": ["RTX 5090", "RTX PRO 6000"],
    "cdna1": ["MI100", "gfx908"],
    "cdna2": ["MI210", "MI250", "MI250X", "gfx90a"],
    "cdna3": ["MI300A", "MI300X", "gfx942"],
    "rdna3": ["Radeon Pro W7900", "gfx1100"],
    "rdna4": ["Radeon AI Pro R9700", "gfx1201"],
    "riscv": ["RISC-V", "Spike"],
    "wormhole": ["n150", "n300"],
    "blackhole": ["p100", "p150", "p300"],
}


@pytest.mark.parametrize("architecture", NAMED)
def test_gpus_by_name(architecture: str) -> None:
    assert architecture in ARCHITECTURES
    for name in NAMED[architecture]:
        for spelled in (name, name.lower(), name.replace(" ", "-"), name.replace(" ", "")):
            assert architecture_named(spelled) == architecture
    assert rows(NAMED[architecture][0], claims=False)


def test_every_name_leads_to_an_architecture_with_rows() -> None:
    assert set(aliases().values()) | set(gpus().values()) <= set(ARCHITECTURES)
    assert {row.architecture for row in rows()} == set(ARCHITECTURES)
    assert not (set(aliases()) & set(gpus()) or set(ARCHITECTURES) & {*aliases(), *gpus()})
    for name, target in {**aliases(), **gpus()}.items():
        assert architecture_named(name) == architecture_named(name.upper()) == target


def test_vendors_are_in_the_order_of_the_architectures() -> None:
    assert list(vendors()) == list(ARCHITECTURES)
    assert [vendors()[architecture_named(gpu)] for gpu in ("h100", "mi300x", "gfx1201", "n150")] == [
        "NVIDIA", "AMD", "AMD", "Tenstorrent",
    ]  # fmt: skip
