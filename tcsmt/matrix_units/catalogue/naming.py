"""Names of architectures, GPUs and processors, in any case, with or without spaces and hyphens."""

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
from tcsmt.matrix_units.catalogue.processors import MODELS, PROCESSORS, Processor
from tcsmt.matrix_units.catalogue.this_processor import this_processor
from tcsmt.support.errors import TcsmtError, UnknownName

__all__ = ["THIS_PROCESSOR", "Named", "named"]

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
