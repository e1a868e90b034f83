"""The oracle of CPUs against words that the manuals' examples and the held rows have."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.oracles import cpus
from tests.support.paths import ROOT

FILES = {
    "x86_vdpbf16ps_zen4": "x86/vdpbf16ps",
    "arm_bfdot_ebf0_qemu": "arm/bfdot.ebf0",
    "arm_bfdot_ebf1_qemu": "arm/bfdot.ebf1",
    "arm_bfmmla_ebf0_qemu": "arm/bfmmla.ebf0",
    "arm_bfmmla_ebf1_qemu": "arm/bfmmla.ebf1",
    "arm_bfmopa_ebf0_qemu": "arm/bfmopa.ebf0",
    "arm_bfmopa_ebf1_qemu": "arm/bfmopa.ebf1",
    "arm_fmopa_f16_qemu": "arm/fmopa.f32.f16.f16",
    "arm_bfmlalb_qemu": "arm/bfmlalb",
    "arm_fmlal_qemu": "arm/fmlal",
    "arm_fdot_fp8_qemu": "arm/fdot",
}


def held(name: str) -> Any:
    path: Path = ROOT.parent / "shared" / "units" / f"{name}.json"
    if not path.is_file():
        pytest.skip(f"{path} is not there")
    return json.loads(path.read_text())["rows"]


@pytest.mark.parametrize("name", FILES)
def test_held_rows(name: str) -> None:
    found = held(name)
    parts = found if isinstance(found, dict) else {"": found}
    for formats, rows in parts.items():
        factors, _, d = formats.partition("->")
        unit = f"{FILES[name]}.{d}.{factors.replace('x', '.')}" if formats else FILES[name]
        for row in rows:
            a, b = ([int(word, 16) for word in row[side]] for side in "ab")
            assert cpus.UNITS[unit](a, b, int(row["c"], 16)) == int(row["d"], 16), (unit, row)


def test_words_by_hand() -> None:
    one, big = [0x3F80, 0x3F80], 0x4B800000
    assert cpus.tdpbf16ps(one, one, big) == 0x4B800001
    assert cpus.tdpbf16ps_guide(one, one, big) == 0x4B800000
    # 2^-151 below the smallest normal number: it rounds to that, and is not flushed
    a, b, c = [0x9980, 0], [0x1A00, 0], 0x00800000
    assert cpus.vdpbf16ps(a, b, c) == 0x00800000
    # 1 + 2^-24: to odd, where the nearest number is 1
    assert cpus.bfdot_ebf0([0x3F80, 0x3380], [0x3F80, 0x3F80], 0) == 0x3F800001
    assert cpus.bfdot_ebf1([0x3F80, 0x3380], [0x3F80, 0x3F80], 0) == 0x3F800000
    assert cpus.fmlal([0x7C00], [0], 0x7FC12345) == 0x7FC00000
    assert cpus.fmlal([0x7C00], [0], 0x7F812345) == 0x7FC12345
    largest = cpus.fdot("f16", "e5m2", "e5m2", osm=True)
    assert largest([0x7B, 0x7B], [0x7B, 0x7B], 0) == 0x7BFF
    assert largest([0x7C, 0], [0x3C, 0], 0) == 0x7C00
