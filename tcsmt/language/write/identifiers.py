"""Names for other languages: letters, digits and underscores, each of them once."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping
from typing import TypeVar

__all__ = ["distinct", "identifier"]

Key = TypeVar("Key", bound=Hashable)


def identifier(text: str) -> str:
    """Return the text with every other character replaced: a name in C, SystemVerilog and SMT-LIB.

    >>> identifier("block 0: aligned c")
    'block_0_aligned_c'
    """
    name = re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_")
    return name if name[:1].isalpha() else f"n_{name}".rstrip("_")


def distinct(texts: Mapping[Key, str], taken: Iterable[str]) -> dict[Key, str]:
    """A name for each key, made from its text; none of those ``taken``, and none twice."""
    used = set(taken)
    names: dict[Key, str] = {}
    for key, text in texts.items():
        base = name = identifier(text)
        number = 2
        while name in used:
            name, number = f"{base}_{number}", number + 1
        used.add(name)
        names[key] = name
    return names
