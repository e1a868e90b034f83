"""Instructions as PTX and AMD's manuals write them, held against the catalogue's names."""

from __future__ import annotations

import re

__all__ = ["means"]

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
