"""The instructions of catalogue rows, as source code and as tiles."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.resources import files
from string import Template

from tcsmt.interop.hardware.layouts import (
    Tile,
    mfma_tile,
    quadpair_tile,
    tensor_memory_tile,
    warp_tile,
    warpgroup_tile,
)
from tcsmt.matrix_units.catalogue import ARCHITECTURES, Row, rows
from tcsmt.matrix_units.catalogue.naming import contents
from tcsmt.matrix_units.models import IntegerDotAdd, Model
from tcsmt.support.errors import TcsmtError

#: What compilers call an architecture. Letters after sm_90 and later: instructions of that GPU alone.
TARGETS: dict[str, str] = {
    name: contents(name)["compiler_target"] for name in ARCHITECTURES if "compiler_target" in contents(name)
}

#: AMD's types in an instruction's name: elements of A that a lane holds, and their C++ type.
_AMD = {
    "f32": (1, "float"),
    "f16": (4, "_Float16"),
    "bf16": (2, "short"),
    "bf16_1k": (4, "short"),
    "xf32": (2, "float"),
    "fp8": (8, "long"),
    "f64": (1, "double"),
}
_MMA = re.compile(r"mma\.(m(\d+)n8k(\d+))\.(?:kind::(\w+)\.)?(?:block(\d+)\.)?(.+)")
_WGMMA = re.compile(r"wgmma\.m64nNk(\d+)\.(.+)")
_TCGEN05 = re.compile(r"tcgen05\.mMnNk(\d+)\.kind::(\w+)\.(?:block(\d+)\.)?f32\.(.+)")
#: Codes of A's and B's formats in the instruction descriptor of ``tcgen05.mma``, by the kind.
_CODES = {
    "tf32": {"tf32": 2},
    "f16": {"f16": 0, "bf16": 1},
    "f8f6f4": {"e4m3": 0, "e5m2": 1},
    "mxf8f6f4": {"e4m3": 0, "e5m2": 1},
    "mxf4": {"e2m1": 1},
    "mxf4nvf4": {"e2m1": 1},
}
_MFMA = re.compile(r"v_mfma_(f32|f64)_(\d+)x\d+x(\d+)(?:_\d+b)?_?(.+)")


@dataclass(frozen=True)
class HardwareInstruction:
    """An instruction that a program can run.

    mnemonic: as the source has it. kind: which statement runs it: ``mma``, ``wgmma``, ``tcgen05``, ``mfma``.
    element: for ``mfma``, the C++ type of A's elements. options: for ``wgmma``, what follows ``scale-d``;
    for ``tcgen05``, the instruction descriptor.
    """

    mnemonic: str
    kind: str
    tile: Tile
    element: str = ""
    options: str = ""


def language_of(row: Row) -> str:
    """Return the language of a row's programs: ``cuda``, ``hip`` or ``c``.

    Raises :class:`.TcsmtError` for what is no instruction (a model file's row, a kernel), and for
    architectures that no program is made for.
    """
    target = TARGETS.get(row.architecture)
    if target is None and row.architecture in ARCHITECTURES:
        raise unsupported(row)
    name = row.instruction.partition("@")[0]
    if target is None or name not in {other.instruction for other in rows(row.architecture, claims=False)}:
        raise TcsmtError(
            f"{row.name} is not an instruction of a GPU or CPU: give ARCH/INSTRUCTION (see tcsmt models)"
        )
    return "cuda" if target.startswith("sm_") else "hip" if target.startswith("gfx") else "c"


def instruction_of(row: Row) -> HardwareInstruction:
    """Return the instruction of a row, or of the unit that a claim is about.

    Raises :class:`.TcsmtError` for those that no program is made for.
    """
    name = row.instruction.partition("@")[0]
    if language_of(row) == "hip":
        return _mfma(name, row)
    model = row.model
    formats = (model.a_format, model.b_format, model.c_format, model.d_format)
    integers = isinstance(model, IntegerDotAdd)
    if match := _MMA.fullmatch(name):
        shape, m, k, kind, block, types = match.groups()
        if shape == "m8n8k4" and model.a_format.name == "f16":
            tile = quadpair_tile(formats)
        else:
            dense = integers or (kind is not None and kind.startswith("mxf4"))
            tile = warp_tile(int(m), int(k), formats, dense=dense)
        qualifiers = _kind(kind, int(k) // int(block) if block else 0)
        return HardwareInstruction(f"mma.sync.aligned.{qualifiers}{shape}.row.col.{types}", "mma", tile)
    if match := _WGMMA.fullmatch(name):
        k, types = match.groups()
        tile = warpgroup_tile(int(k), formats)
        # A and B are not negated and, where that can be asked for, not transposed
        options = "" if integers else ", 1, 1, 0, 0" if model.a_format.width == 16 else ", 1, 1"
        mnemonic = f"wgmma.mma_async.sync.aligned.m64n8k{k}.{types}"
        return HardwareInstruction(mnemonic, "wgmma", tile, options=options)
    if (match := _TCGEN05.fullmatch(name)) and not integers:
        return _tcgen05(row, *match.groups())
    raise unsupported(row)


def _tcgen05(row: Row, k: str, kind: str, block: str | None, types: str) -> HardwareInstruction:
    """Return the instruction: PTX ISA, ``tcgen05.mma``, "Instruction descriptor": M = 128, N = 8, FP32.

    Not for FP6 and FP4 words that are padded to bytes in shared memory.
    """
    model = row.model
    codes = [_CODES[kind].get(fmt.name) for fmt in (model.a_format, model.b_format)]
    a, b = codes
    if a is None or b is None:
        raise unsupported(row)
    descriptor = a << 7 | b << 10 | 8 >> 3 << 17
    qualifiers = ""
    if block is None:
        descriptor |= 1 << 4 | 128 >> 4 << 24
    else:
        powers = types.endswith("ue8m0")
        descriptor |= powers << 23 | 128 >> 7 << 27
        qualifiers = f".block_scale.scale_vec::{int(k) // int(block)}X"
    tile = tensor_memory_tile(int(k), (model.a_format, model.b_format, model.c_format, model.d_format))
    mnemonic = f"tcgen05.mma.cta_group::1.kind::{kind}{qualifiers}"
    return HardwareInstruction(mnemonic, "tcgen05", tile, options=f"{descriptor:#x}")


def unsupported(row: Row) -> TcsmtError:
    """Return what is said of a row that no program is made for."""
    return TcsmtError(
        f"cannot write a program for {row.name}: only mma and wgmma, tcgen05 with FP32 results and without "
        "FP6 or padded FP4 (NVIDIA), v_mfma of floating point (AMD), vdpbf16ps, vpdp* and tdp* (x86), and "
        "those of BF16 and FP16 (Arm) are supported; --emit json and csv give vectors of every instruction"
    )


def _kind(kind: str | None, scales: int) -> str:
    """Return ``.kind`` by PTX ISA, ``mma``, and for block scales how many each row of A has."""
    if kind is None:
        return ""
    return f"kind::{kind}.block_scale.scale_vec::{scales}X." if scales else f"kind::{kind}."


def _mfma(name: str, row: Row) -> HardwareInstruction:
    """Return the builtin. Names are as CDNA2's instructions; CDNA3's separate the types from the shape."""
    model: Model = row.model
    match = _MFMA.fullmatch(name)
    if match is None or row.architecture == "cdna4":  # whose layouts are not described here
        raise unsupported(row)
    d, m, k, types = match.groups()
    fp8 = types[:3] in ("fp8", "bf8")
    if row.architecture == "cdna3" and types == "bf16":
        types = "bf16_1k"
    each, element = _AMD["fp8" if fp8 else types]
    formats = (model.a_format, model.b_format, model.c_format, model.d_format)
    separator = "_" if fp8 or types == "xf32" else ""
    builtin = f"__builtin_amdgcn_mfma_{d}_{m}x{m}x{k}{separator}{types}"
    return HardwareInstruction(builtin, "mfma", mfma_tile(int(m), int(k), each, formats), element)


def template(name: str) -> Template:
    """Return a text of a program, in which names with a dollar sign stand for what an instruction needs."""
    text = files("tcsmt.interop.hardware").joinpath(f"{name}.template").read_text(encoding="utf-8")
    return Template(text)
