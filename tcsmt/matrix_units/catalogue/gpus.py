"""Architectures, and the names under which people know them.

Which GPU has which architecture is what their makers say: NVIDIA's table of compute capabilities, and LLVM's
table of AMD's processors.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

__all__ = [
    "ARCHITECTURES",
    "BRANDS",
    "FOLDER",
    "SERIES",
    "VARIANTS",
    "WITHOUT_UNITS",
    "aliases",
    "contents",
    "gpus",
    "vendors",
]

FOLDER = Path(__file__).with_name("architectures")
#: In the order in which they are shown; each has a file in ``FOLDER``.
ARCHITECTURES = (
    "volta", "turing", "ampere", "ada", "hopper", "blackwell", "rtx-blackwell",
    "cdna1", "cdna2", "cdna3", "rdna3", "rdna4", "x86", "arm", "riscv", "wormhole", "blackhole",
)  # fmt: skip


@cache
def contents(architecture: str) -> dict[str, Any]:
    """Return what an architecture's file says."""
    return tomllib.loads((FOLDER / f"{architecture}.toml").read_text(encoding="utf-8"))


@cache
def aliases() -> Mapping[str, str]:
    """Return the architecture of each other name of one."""
    return {name: target for target in ARCHITECTURES for name in contents(target).get("aliases", ())}


@cache
def gpus() -> Mapping[str, str]:
    """Return the architecture of each GPU."""
    return {name: target for target in ARCHITECTURES for name in contents(target).get("gpus", ())}


@cache
def vendors() -> Mapping[str, str]:
    """Who makes or specifies each architecture, in the order of ``ARCHITECTURES``."""
    return {name: contents(name)["vendor"] for name in ARCHITECTURES}


#: Words before a GPU's name that say only whose it is.
BRANDS = {
    "nvidia": "NVIDIA", "geforce": "NVIDIA", "tesla": "NVIDIA",
    "amd": "AMD", "radeon": "AMD", "instinct": "AMD", "tenstorrent": "Tenstorrent",
}  # fmt: skip
#: Words that people leave out before a number or a letter.
SERIES = ("rtx", "rx", "ai", "pro")
#: Words, after a GPU's name, for a form or a memory of the same chip: a regular expression of one word.
VARIANTS = (
    r"sxm\d?|pcie|nvl|oam|\d+gb?|hbm\d\w?|laptop|mobile|gpu|generation|edition|workstation|server|max|q|with|"
    r"design|blackwell|lovelace|series|accelerator"
)
#: GPUs whose matrix instructions are not in the catalogue, and why: patterns of names without spaces.
WITHOUT_UNITS = (
    (r"(nvidia|geforce)*(gtx|gt|mx)\d+\w*|(nvidia)?t(400|500|600|1000|1200)", "it has no tensor cores"),
    (
        r"(nvidia|tesla)+(p(4|6|40|100)|m(4|6|10|40|60)|k(10|20|40|80)\w?)|(nvidia)?(titanxp?|quadrog?p\d+)",
        "it is older than Volta, the first architecture with tensor cores",
    ),
    (r"(amd|instinct)*mi35[05]x?|gfx950|cdna4", "CDNA4 is not in the catalogue"),
    (
        r"(amd|radeon|instinct)*mi(6|8|25|50|60)|gfx90[06]",
        "it is older than CDNA1, the first with matrix cores",
    ),
    (
        r"(amd|radeon)*rx[56]\d00\w*|gfx10\d\d|rdna[12]?",
        "it is older than RDNA3, the first Radeon with matrix instructions",
    ),
)
