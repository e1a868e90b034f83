"""Instructions of catalogue rows as source code and tiles, and their layouts in the threads that run one.

Every layout of A, B, C and D is a sum over bits: each bit of a thread's number, and each bit of the number of
one of its elements, adds a place. B is given transposed, so that the rows of A and of B are both
vectors of k words. Sources, by function: the PTX ISA's sections on matrix fragments for ``mma``, on
the register fragments and the shared memory layout of ``wgmma.mma_async``, on packed formats, and on
tensor memory;
AMD's CDNA3 ISA, section 7.1.4.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from string import Template
from typing import NamedTuple

from tcsmt.matrix_units.arithmetic.formats import AnyFormat
from tcsmt.matrix_units.catalogue import ARCHITECTURES, Row, rows
from tcsmt.matrix_units.catalogue.naming import contents
from tcsmt.matrix_units.models import IntegerDotAdd, Model
from tcsmt.support.errors import TcsmtError

#: Of a, b, c and d.
Formats = tuple[AnyFormat, AnyFormat, AnyFormat, AnyFormat]


def formats_of(model: Model) -> Formats:
    """Return the formats of a, b, c and d."""
    return model.a_format, model.b_format, model.c_format, model.d_format


class Place(NamedTuple):
    """An element of one of an instruction's matrices; all numbers from 0.

    matrix: which of the products that one instruction computes. row, column: of A and of B
    transposed (column: of the k products), or of C and D.
    """

    matrix: int
    row: int
    column: int


@dataclass(frozen=True)
class Fragment:
    """The elements that each thread holds: what each bit of their numbers adds, lowest bit first."""

    threads: tuple[Place, ...]
    elements: tuple[Place, ...]

    def place(self, thread: int, element: int) -> Place:
        """Return where an element of a thread belongs."""
        chosen = [p for bit, p in enumerate(self.threads) if thread >> bit & 1]
        chosen += [p for bit, p in enumerate(self.elements) if element >> bit & 1]
        return Place(*(sum(parts) for parts in zip(Place(0, 0, 0), *chosen, strict=True)))


@dataclass(frozen=True)
class RegisterOperand:
    """A fragment in registers: the bits that an element takes, and padding bits below its word."""

    fragment: Fragment
    bits: int
    padding: int = 0

    @property
    def text(self) -> str:
        """Return the fragment as programs in C, CUDA C++ and HIP have it, an initialiser."""
        threads, elements = self.fragment.threads, self.fragment.elements
        counts = f"{len(threads)}, {len(elements)}, {self.bits}, {self.padding}"
        return f"{{{counts}, {{{_steps_text(threads)}}}, {{{_steps_text(elements)}}}}}"


@dataclass(frozen=True, kw_only=True)
class Tile:
    """One instruction: its shape, the products that it computes, its threads and operands."""

    m: int
    n: int
    k: int
    matrices: int = 1
    threads: int
    register: int = 32
    a: RegisterOperand
    b: RegisterOperand
    c: RegisterOperand
    d: RegisterOperand

    @property
    def operands(self) -> dict[str, RegisterOperand]:
        """Return the operands by name."""
        return {"A": self.a, "B": self.b, "C": self.c, "D": self.d}

    def registers(self, operand: RegisterOperand) -> int:
        """Return in how many registers a thread holds an operand."""
        return max(1, (operand.bits << len(operand.fragment.elements)) // self.register)


def _steps_text(places: Sequence[Place]) -> str:
    return ", ".join(str(m << 16 | r << 8 | c) for m, r, c in places) or "0"


def _steps(count: int, first: int) -> list[int]:
    return [first << bit for bit in range((count - 1).bit_length())]


def _matrices(count: int, first: int = 1) -> tuple[Place, ...]:
    return tuple(Place(step, 0, 0) for step in _steps(count, first))


def _rows(count: int, first: int = 1) -> tuple[Place, ...]:
    return tuple(Place(0, step, 0) for step in _steps(count, first))


def _columns(count: int, first: int = 1) -> tuple[Place, ...]:
    return tuple(Place(0, 0, step) for step in _steps(count, first))


def warp_tile(m: int, k: int, formats: Formats, *, dense: bool) -> Tile:
    """Return ``mma.sync``'s tile, of a whole warp, N = 8: PTX ISA, "Matrix Fragments for mma.m16n8k16", etc.

    Rows go to groups of four threads; a register holds neighbours in k. dense: FP4 and FP6 words
    fill registers (``kind::mxf4``, m16n8k64), else each has a byte (``kind::f8f6f4``), FP4 in bits 5:2.
    """
    register = 64 if formats[0].width == 64 else 32

    def operand(fmt: AnyFormat, rows: int) -> RegisterOperand:
        bits = fmt.width if dense or fmt.width > 8 else 8
        each = register // bits
        inside = _columns(each) + _rows(rows // 8, 8) + _columns(k // (4 * each), 4 * each)
        padding = 2 if fmt.width == 4 and bits == 8 else 0
        return RegisterOperand(Fragment(_columns(4, each) + _rows(8), inside), bits, padding)

    def sums(fmt: AnyFormat) -> RegisterOperand:
        return RegisterOperand(Fragment(_columns(4, 2) + _rows(8), _columns(2) + _rows(m // 8, 8)), fmt.width)

    a, b, c, d = formats
    return Tile(
        m=m, n=8, k=k, threads=32, register=register,
        a=operand(a, m), b=operand(b, 8), c=sums(c), d=sums(d),
    )  # fmt: skip


def quadpair_tile(formats: Formats) -> Tile:
    """Return Volta's ``mma.m8n8k4.row.col`` tile: PTX ISA, "Matrix Fragments for mma.m8n8k4 with .f16".

    Four products, each of the threads with the same bits 3:2. FP32 sums are spread otherwise than FP16 ones.
    """
    low, pairs, high = _rows(4), _matrices(4), _rows(2, 4)
    operand = RegisterOperand(Fragment(low + pairs + high, _columns(4)), 16)

    def sums(fmt: AnyFormat) -> RegisterOperand:
        if fmt.width == 16:
            return RegisterOperand(Fragment(low + pairs + high, _columns(8)), 16)
        threads = _rows(2) + _columns(2, 2) + pairs + high
        return RegisterOperand(Fragment(threads, _columns(2) + _rows(2, 2) + _columns(2, 4)), 32)

    _, _, c, d = formats
    return Tile(m=8, n=8, k=4, matrices=4, threads=32, a=operand, b=operand, c=sums(c), d=sums(d))


def warpgroup_tile(k: int, formats: Formats) -> Tile:
    """Return ``wgmma.mma_async``'s tile: PTX ISA, "Register Fragments" (D), "Shared Memory Matrix Layout".

    A and B lie in shared memory, K-major and without swizzling: core matrices of 8 rows of 16 bytes.
    A thread writes one such row at 16 times its number: neighbours in k are 128 bytes apart, 8 rows of
    A 256 bytes; 16 threads write B.
    """

    def operand(fmt: AnyFormat, rows: int) -> RegisterOperand:
        each = 128 // fmt.width
        threads = _rows(8) + _columns(2, each) + _rows(rows // 8, 8)
        return RegisterOperand(Fragment(threads, _columns(each)), fmt.width)

    def sums(fmt: AnyFormat) -> RegisterOperand:
        threads = _columns(4, 2) + _rows(8) + _rows(4, 16)
        return RegisterOperand(Fragment(threads, _columns(2) + _rows(2, 8)), fmt.width)

    a, b, c, d = formats
    return Tile(m=64, n=8, k=k, threads=128, a=operand(a, 64), b=operand(b, 8), c=sums(c), d=sums(d))


def tensor_memory_tile(k: int, formats: Formats) -> Tile:
    """Return ``tcgen05.mma``'s tile: PTX ISA, "Shared Memory Layout and Swizzling", "Data Path Layout D".

    A and B lie in shared memory, K-major and without swizzling; a thread writes a row of A, of 32 bytes, the
    first eight also one of B. Row i of D is lane i of tensor memory, with a column for each of its elements.
    """

    def operand(fmt: AnyFormat, rows: int) -> RegisterOperand:
        return RegisterOperand(Fragment(_rows(rows), _columns(k)), fmt.width)

    sums = RegisterOperand(Fragment(_rows(128), _columns(8)), 32)
    a, b, _, _ = formats
    return Tile(m=128, n=8, k=k, threads=128, a=operand(a, 128), b=operand(b, 8), c=sums, d=sums)


def mfma_tile(m: int, k: int, each: int, formats: Formats) -> Tile:
    """Return AMD's ``v_mfma`` tile, M = N; each: elements of A in a lane (K_L of the CDNA3 ISA, 7.1.4).

    A[b][i][k] is item k mod K_L of lane i + M (b + B (k div K_L)). Output rows are in groups of four
    (f64: of one).
    """
    lanes = 64
    matrices = lanes * each // (m * k)
    a, _, _, d = formats
    operand = RegisterOperand(
        Fragment(_rows(m) + _matrices(matrices) + _columns(k // each, each), _columns(each)), a.width
    )
    height = 1 if d.width == 64 else 4
    together = max(1, lanes * height // (m * m))
    rows = lanes // together // m
    sums = RegisterOperand(
        Fragment(
            _columns(m) + _rows(rows, height) + _matrices(together),
            _rows(height)
            + _rows(m // (height * rows), height * rows)
            + _matrices(matrices // together, together),
        ),
        d.width,
    )
    return Tile(
        m=m, n=m, k=k, matrices=matrices, threads=lanes, register=64 if d.width == 64 else 32,
        a=operand, b=operand, c=sums, d=sums,
    )  # fmt: skip


def wmma_tile(lanes: int, formats: Formats) -> Tile:
    """Return the ``v_wmma`` tile of 16 by 16 by 16 without doubled operands, for a wave of 32 or 64 lanes.

    A lane holds neighbours in k; the next 16 lanes the next ones. Rows of sums are in halves of eight, and in
    wave 64 of four, too. Sources: rocjitsu, whose captures say in which order a unit adds what is numbered
    so, and Triton. (AMD's matrix instruction calculator numbers k otherwise in wave 32: lanes of the upper
    half hold 4 to 7 and 12 to 15. In its numbers the order of the sums is that of k.)
    """
    whole = lanes == 64
    a, b, _, d = formats

    def operand(fmt: AnyFormat) -> RegisterOperand:
        each = 256 // lanes
        fragment = Fragment(_rows(16) + _columns(lanes // 16, each), _columns(each))
        return RegisterOperand(fragment, fmt.width)

    threads = _columns(16) + _rows(2, 8) + (_rows(2, 4) if whole else ())
    sums = RegisterOperand(Fragment(threads, _rows(4) + (() if whole else _rows(2, 4))), d.width)
    return Tile(m=16, n=16, k=16, threads=lanes, a=operand(a), b=operand(b), c=sums, d=sums)


def warpgroup_registers(k: int, formats: Formats) -> RegisterOperand:
    """Return how four warps hold A of ``wgmma.mma_async``: each 16 rows, as ``mma.sync`` has them."""
    own = warp_tile(16, k, formats, dense=True).a
    return RegisterOperand(Fragment(own.fragment.threads + _rows(4, 16), own.fragment.elements), own.bits)


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
    formats = formats_of(model)
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
    tile = tensor_memory_tile(int(k), formats_of(model))
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
    formats = formats_of(model)
    separator = "_" if fp8 or types == "xf32" else ""
    builtin = f"__builtin_amdgcn_mfma_{d}_{m}x{m}x{k}{separator}{types}"
    return HardwareInstruction(builtin, "mfma", mfma_tile(int(m), int(k), each, formats), element)


#: Bytes of A in a lane of the instructions that the CDNA3 ISA describes.
_MOST_BYTES = 8
_MFMA_INTEGERS = re.compile(r"v_mfma_i32_(\d+)x\d+x(\d+)(?:_\d+b)?_?i8")
_WMMA = re.compile(r"v_wmma_\w+_16x16x16_\w+_w(32|64)")


def register_tile(row: Row) -> Tile | None:
    """Return the fragments that threads hold of a row's operands; None where they are not described here."""
    name, model = row.instruction.partition("@")[0], row.model
    formats = formats_of(model)
    if match := _MFMA_INTEGERS.fullmatch(name):
        m, k = map(int, match.groups())
        each = max(4, m * k // 64)
        return mfma_tile(m, k, each, formats) if each <= _MOST_BYTES else None
    if match := _WMMA.fullmatch(name):
        if contents(row.architecture).get("matrix_fragments") != "quartets of k":
            return None
        return wmma_tile(int(match[1]), formats)
    try:
        return instruction_of(row).tile
    except TcsmtError:
        return None


def template(name: str, package: str = "tcsmt.interop.hardware") -> Template:
    """Return a text of a program, in which names with a dollar sign stand for what an instruction needs."""
    text = files(package).joinpath(f"{name}.template").read_text(encoding="utf-8")
    return Template(text)
