"""Names of architectures, GPUs and processors, in any spelling; and instructions as manuals write them.

Which GPU has which architecture is what their makers say: NVIDIA's table of compute capabilities, and LLVM's
table of AMD's processors.
"""

from __future__ import annotations

import platform
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tcsmt.matrix_units.catalogue.processors import MODELS, PROCESSORS, Processor, this_processor
from tcsmt.support.errors import TcsmtError, UnknownName

FOLDER = Path(__file__).with_name("architectures")
#: In the order in which they are shown; each has a file in ``FOLDER``.
ARCHITECTURES = (
    "volta", "turing", "ampere", "ada", "hopper", "blackwell", "rtx-blackwell",
    "cdna1", "cdna2", "cdna3", "cdna4", "rdna3", "rdna4", "x86", "arm", "riscv", "wormhole", "blackhole",
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
    """Return who makes or specifies each architecture, in the order of ``ARCHITECTURES``."""
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
    (
        r"(amd|radeon|instinct)*mi(6|8|25|50|60)|gfx90[06]",
        "it is older than CDNA1, the first with matrix cores",
    ),
    (
        r"(amd|radeon)*rx[56]\d00\w*|gfx10\d\d|rdna[12]?",
        "it is older than RDNA3, the first Radeon with matrix instructions",
    ),
)

#: What PTX writes beside shapes and types: it does not change the arithmetic.
_SILENT = re.compile(r"sync|aligned|row|col|mma_async|cta_group::\d|ws|async")
#: What PTX and AMD write where it changes the arithmetic: without it, the other instruction is meant.
_SATURATED = {"satfinite", "clamp"}
_BUILTIN = "__builtin_amdgcn_"


def means(mnemonic: str, instruction: str) -> bool:
    """Return whether a text such as ``mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32`` can mean an
    instruction.

    PTX's qualifiers without influence on the arithmetic are left out, a shape's N may be any number, and
    types may be missing. AMD's names may be written as the compiler's builtins, and those of MFMA with and
    without underscores.
    """
    text = mnemonic.lower().strip()
    if text.startswith(_BUILTIN):
        text = "v_" + text.removeprefix(_BUILTIN)
    text = re.sub(r"_gfx1[12]$", "", text)
    if "_mfma_" in text:
        text, instruction = text.replace("_", ""), instruction.replace("_", "")
    wanted = [part for part in text.split(".") if not _SILENT.fullmatch(part)]
    if wanted[:2] == ["tcgen05", "mma"]:
        del wanted[1]
    first, *parts = instruction.lower().split(".")
    if not _SATURATED.intersection(parts) <= {*wanted}:
        return False
    rest = iter(parts)
    return wanted[:1] == [first] and all(any(_same(word, part) for part in rest) for word in wanted[1:])


def _same(text: str, part: str) -> bool:
    """Return whether two parts of names agree; a number stands for the M and N that the catalogue leaves
    open.
    """
    pattern = re.escape(part)
    if re.fullmatch(r"m(\d+|m)nnk\d+", part):
        pattern = re.sub(r"^mm", r"m(?:\\d+|m)", part).replace("nn", r"n(?:\d+|n)", 1)
    return re.fullmatch(pattern, text) is not None


#: The name of the processor of this machine.
THIS_PROCESSOR = "cpu"
#: How much a name must be like one that is given to be listed as near.
_SIMILAR = 0.4
#: Words that makers put before a processor's name, or after it.
_OF_PROCESSORS = re.compile(r"intel|amd|aws|amazon|google|microsoft|azure|nvidia|arm|processor|cpu|\d+-core")


@dataclass(frozen=True)
class Named:
    """The meaning of a name. processor: where it is that of one, whose instructions alone are meant."""

    architecture: str
    processor: Processor | None = None


def named(name: str) -> Named:
    """Return what a name stands for. Raises :class:`.UnknownName`, or says why the catalogue does not have
    it.
    """
    if name in ARCHITECTURES:  # without the other architectures' files
        return Named(name)
    words = _words(name)
    if words == [THIS_PROCESSOR]:
        machine = platform.machine()
        architecture = _index().get("".join(_words(machine)))
        if architecture is None:
            raise TcsmtError(
                f"this machine is {machine or 'unknown'}, of which the catalogue has no processor"
            )
        return Named(architecture, this_processor(architecture))
    brands = {BRANDS[word] for word in words if word in BRANDS}
    for text in _spellings(words):
        architecture = _index().get(text)
        if architecture is not None and brands <= {vendors()[architecture]}:
            return Named(architecture)
    processor = _processor(name)
    if processor is not None:
        return Named(processor.architecture, processor)
    for pattern, why in WITHOUT_UNITS:
        if any(re.fullmatch(pattern, text) for text in _spellings(words)):
            raise TcsmtError(f"{name!r}: {why}; see `tcsmt models`")
    names = [*ARCHITECTURES, *aliases(), *gpus(), *PROCESSORS, THIS_PROCESSOR]
    parts = [other for other in names if words and {*words} <= {*other.split()}]
    raise UnknownName("architecture", name, names, "tcsmt models", meant=parts, similarity=_SIMILAR)


def _words(name: str) -> list[str]:
    plain = re.sub(r"\((r|tm|c)\)", " ", name.lower())
    return [word for word in re.split(r"[\s_-]+", plain) if word]


def _spellings(words: list[str]) -> Iterator[str]:
    """Yield the name as it is, without brands, and without words for forms of the same chip."""
    for some in (words, [word for word in words if word not in BRANDS]):
        last = next((n for n in range(len(some), 1, -1) if not re.fullmatch(VARIANTS, some[n - 1])), 1)
        yield from ("".join(some[:n]) for n in range(len(some), last - 1, -1) if n)


@cache
def _index() -> dict[str, str]:
    """Return the architecture of every name, without spaces; of GPUs also without brands and series."""
    index = {"".join(_words(name)): name for name in ARCHITECTURES}
    index |= {"".join(_words(name)): target for name, target in aliases().items()}
    for name, target in gpus().items():
        words = _words(name)
        index.setdefault("".join(words), target)
        words = [word for word in words if word not in BRANDS]
        index.setdefault("".join(words), target)
        while words[0] in SERIES and (words[0] != SERIES[-1] or not words[1].isdecimal()):
            words = words[1:]
            index.setdefault("".join(words), target)
    return index


def _processor(name: str) -> Processor | None:
    plain = re.sub(r"\((r|tm|c)\)|@.*", " ", name.lower())
    words = [word for word in plain.split() if not _OF_PROCESSORS.fullmatch(word)]
    compact = re.sub(r"[\s_-]", "", "".join(words))
    for known_as, processor in PROCESSORS.items():
        if compact == known_as.replace(" ", ""):
            return processor
    return next((PROCESSORS[target] for pattern, target in MODELS if re.fullmatch(pattern, compact)), None)
