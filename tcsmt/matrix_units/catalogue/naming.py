"""Names of architectures, GPUs and processors, in any spelling; and instructions as manuals write them."""

from __future__ import annotations

import platform
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from tcsmt.matrix_units.catalogue.gpus import (
    ARCHITECTURES,
    BRANDS,
    SERIES,
    VARIANTS,
    WITHOUT_UNITS,
    aliases,
    gpus,
    vendors,
)
from tcsmt.matrix_units.catalogue.processors import MODELS, PROCESSORS, Processor, this_processor
from tcsmt.support.errors import TcsmtError, UnknownName

__all__ = ["THIS_PROCESSOR", "Named", "means", "named"]

#: What PTX writes beside shapes and types: it does not change the arithmetic.
_SILENT = re.compile(r"sync|aligned|row|col|mma_async|cta_group::\d|ws|async")
#: What PTX writes where it changes the arithmetic: without it, the other instruction is meant.
_SATURATED = "satfinite"
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
        return text.replace("_", "") == instruction.replace("_", "").lower()
    wanted = [part for part in text.split(".") if not _SILENT.fullmatch(part)]
    if wanted[:2] == ["tcgen05", "mma"]:
        del wanted[1]
    first, *parts = instruction.lower().split(".")
    if _SATURATED in parts and _SATURATED not in wanted:
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
    """What a name stands for. processor: where it is that of one, whose instructions alone are meant."""

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
    kept = [word for word in plain.split() if not _OF_PROCESSORS.fullmatch(word)]
    compact = re.sub(r"[\s_-]", "", "".join(kept))
    for known_as, processor in PROCESSORS.items():
        if compact == known_as.replace(" ", ""):
            return processor
    return next((PROCESSORS[target] for pattern, target in MODELS if re.fullmatch(pattern, compact)), None)
