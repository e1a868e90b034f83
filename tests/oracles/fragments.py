"""Fragment layouts as the ISA documents state them, thread by thread: an oracle for our probes.

Each function gives, for A, B (transposed), C and D, the place (matrix, row, column) of each element
(thread, number of the element in the thread's registers, from the lowest bits up).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from math import ceil

from tcsmt.matrix_units.models import IntegerDotAdd, Model

Places = dict[tuple[int, int], tuple[int, int, int]]
Rule = Callable[[int, int, int], tuple[int, int]]


def _warp(count: int, rule: Callable[[int, int, int], tuple[int, int]]) -> Places:
    """rule: groupID, threadID_in_group and i → row, column."""
    return {(lane, i): (0, *rule(lane >> 2, lane % 4, i)) for lane in range(32) for i in range(count)}


def _accumulators(m: int) -> Places:
    return _warp(m // 4, lambda g, t, i: (g if i < 2 else g + 8, t * 2 + (i & 1)))


# PTX ISA, "Matrix Fragments for mma.m16n8k4", "...k8", "...k16" and so on; (elements, rule) of A, then of B
_PTX: dict[tuple[int, int, int], tuple[tuple[int, Rule], tuple[int, Rule]]] = {
    # (m, k, bits)
    (16, 4, 32): (
        (2, lambda g, t, i: (g if i == 0 else g + 8, t)),
        (1, lambda g, t, i: (g, t)),
    ),
    (16, 8, 32): (
        (4, lambda g, t, i: (g if i in (0, 2) else g + 8, t if i < 2 else t + 4)),
        (2, lambda g, t, i: (g, t if i == 0 else t + 4)),
    ),
    (16, 8, 16): (
        (4, lambda g, t, i: (g if i < 2 else g + 8, t * 2 + (i & 1))),
        (2, lambda g, t, i: (g, t * 2 + i)),
    ),
    (16, 16, 16): (
        (8, lambda g, t, i: (g if i < 2 or 4 <= i < 6 else g + 8, t * 2 + (i & 1) + (0 if i < 4 else 8))),
        (4, lambda g, t, i: (g, t * 2 + (i & 1) + (0 if i < 2 else 8))),
    ),
    (16, 16, 8): (
        (8, lambda g, t, i: (g if i < 4 else g + 8, t * 4 + (i & 3))),
        (4, lambda g, t, i: (g, t * 4 + i)),
    ),
    (16, 32, 8): (
        (16, lambda g, t, i: (g if i < 4 or 8 <= i < 12 else g + 8, t * 4 + (i & 3) + (0 if i < 8 else 16))),
        (8, lambda g, t, i: (g, t * 4 + (i & 3) + (0 if i < 4 else 16))),
    ),
    (16, 64, 4): (
        (32, lambda g, t, i: (g if i < 8 or 16 <= i < 24 else g + 8, t * 8 + (i & 7) + i // 16 * 32)),
        (16, lambda g, t, i: (g, t * 8 + (i & 7) + (0 if i < 8 else 32))),
    ),
    (16, 32, 4): (
        (16, lambda g, t, i: (g if i < 8 else g + 8, t * 8 + (i & 7))),
        (8, lambda g, t, i: (g, t * 8 + i)),
    ),
    (8, 16, 8): (
        (4, lambda g, t, i: (g, t * 4 + i)),
        (4, lambda g, t, i: (g, t * 4 + i)),
    ),
    (8, 32, 4): (
        (8, lambda g, t, i: (g, t * 8 + i)),
        (8, lambda g, t, i: (g, t * 8 + i)),
    ),
    (8, 4, 64): (
        (1, lambda g, t, i: (g, t)),
        (1, lambda g, t, i: (g, t)),
    ),
    (16, 4, 64): (
        (2, lambda g, t, i: (g if i == 0 else g + 8, t)),
        (1, lambda g, t, i: (g, t)),
    ),
    (16, 8, 64): (
        (4, lambda g, t, i: (g if i in (0, 2) else g + 8, t if i < 2 else t + 4)),
        (2, lambda g, t, i: (g, t if i == 0 else t + 4)),
    ),
    (16, 16, 64): (
        (8, lambda g, t, i: (g, i * 2 + t) if i % 2 == 0 else (g + 8, i * 2 - 2 + t)),
        (4, lambda g, t, i: (g, t + i * 4)),
    ),
}  # fmt: skip


def _quadpairs(model: Model) -> dict[str, Places]:
    """PTX ISA, "Matrix Fragments for mma.m8n8k4 with .f16 floating point type": A .row, B .col."""
    threads = [(lane, lane // 4 % 4, lane < 16) for lane in range(32)]
    operand = {
        (lane, i): (pair, lane % 4 if low else lane % 4 + 4, i)
        for lane, pair, low in threads
        for i in range(4)
    }

    def sums(width: int) -> Places:
        if width == 16:
            return {
                (lane, i): (pair, lane % 4 if low else lane % 4 + 4, i)
                for lane, pair, low in threads
                for i in range(8)
            }
        return {
            (lane, i): (
                pair,
                (lane & 0b1) + (i & 0b10) + (0 if low else 4),
                (i & 0b100) + (lane & 0b10) + (i & 0b1),
            )
            for lane, pair, low in threads
            for i in range(8)
        }

    return {"A": operand, "B": operand, "C": sums(model.c_format.width), "D": sums(model.d_format.width)}


def _warpgroup(model: Model) -> dict[str, Places]:
    """Thread t writes bytes 16 t to 16 t + 15 of shared memory; core matrices as PTX describes them.

    The leading dimension's offset (from a core matrix to the next in k) is 128 bytes, the stride
    dimension's (to the next 8 rows) 256.
    """

    def operand(rows: int, width: int) -> Places:
        size = width // 8
        places = {}
        for row in range(rows):
            for k in range(model.k):
                inside = k * size
                address = row // 8 * 256 + inside // 16 * 128 + row % 8 * 16 + inside % 16
                places[address // 16, address % 16 // size] = (0, row, k)
        return places

    sums = {
        (thread, i): (
            0,
            16 * (thread // 32) + thread % 32 // 4 + (8 if i >= 2 else 0),
            thread % 4 * 2 + i % 2,
        )
        for thread in range(128)
        for i in range(4)
    }
    return {
        "A": operand(64, model.a_format.width), "B": operand(8, model.b_format.width), "C": sums, "D": sums,
    }  # fmt: skip


def _mfma(m: int, k: int, model: Model, blocks: int) -> dict[str, Places]:
    """CDNA3 ISA, 7.1.4.1 and 7.1.4.2, with M = N."""
    each = k // (64 // (m * blocks))
    operand = {
        (i + m * (b + blocks * (lane // each)), lane % each): (b, i, lane)
        for b in range(blocks)
        for i in range(m)
        for lane in range(k)
    }
    height = 1 if model.d_format.width == 64 else 4
    block_items = ceil(64 / (m * m / height))
    rows = 64 // block_items // m
    groups = m // (height * rows)
    sums = {}
    for b in range(blocks):
        for i in range(m):
            for j in range(m):
                item = i % height + height * (i // (height * rows) + groups * (b // block_items))
                lane = j + m * (i // height % rows + rows * (b % block_items))
                sums[lane, item] = (b, i, j)
    return {"A": operand, "B": operand, "C": sums, "D": sums}


#: Products that one AMD instruction computes, by shape (CDNA3 ISA, table of MFMA instructions) and type.
_BLOCKS = {
    "f16": {"32x32x8": 1, "32x32x4": 2, "16x16x16": 1, "16x16x4": 4, "4x4x4": 16},
    "bf16_1k": {"32x32x8": 1, "32x32x4": 2, "16x16x16": 1, "16x16x4": 4, "4x4x4": 16},
    "bf16": {"32x32x4": 1, "32x32x2": 2, "16x16x8": 1, "16x16x2": 4, "4x4x2": 16},
    "f32": {"32x32x2": 1, "32x32x1": 2, "16x16x4": 1, "16x16x1": 4, "4x4x1": 16},
    "f64": {"16x16x4": 1, "4x4x4": 4},
    "xf32": {"32x32x4": 1, "16x16x8": 1},
    "fp8": {"32x32x16": 1, "16x16x32": 1},
    "i8": {
        "32x32x16": 1,
        "16x16x32": 1,
        "32x32x8": 1,
        "16x16x16": 1,
        "32x32x4": 2,
        "16x16x4": 4,
        "4x4x4": 16,
    },
}


def _wmma(lanes: int) -> dict[str, Places]:
    """rocjitsu's layouts for gfx12; in wave 64, those of AMD's matrix instruction calculator, too."""

    def place(lane: int, item: int) -> tuple[int, int, int]:
        if lanes == 64:  # lane = i + 16 (bit 2 of k) + 32 (bit 3), item = bits 1 and 0
            return 0, lane % 16, 4 * (lane // 16 % 2) + 8 * (lane // 32) + item
        return 0, lane % 16, 8 * (lane // 16) + item

    def of_sum(lane: int, item: int) -> tuple[int, int, int]:
        row = 8 * (lane // 16 % 2) + 4 * (lane // 32) + item if lanes == 64 else 8 * (lane // 16) + item
        return 0, row, lane % 16

    every = [(lane, item) for lane in range(lanes) for item in range(256 // lanes)]
    operand, sums = ({at: of(*at) for at in every} for of in (place, of_sum))
    return {"A": operand, "B": operand, "C": sums, "D": sums}


def _lanes(model: Model) -> dict[str, Places]:
    """``tcgen05``: a thread writes a row of A, and of B, to shared memory, and has a lane of D."""

    def rows(count: int, columns: int) -> Places:
        return {(row, column): (0, row, column) for row in range(count) for column in range(columns)}

    return {"A": rows(128, model.k), "B": rows(8, model.k), "C": rows(128, 8), "D": rows(128, 8)}


def places(architecture: str, instruction: str, model: Model) -> dict[str, Places]:
    """The places of A, B, C and D of a catalogue row's instruction."""
    if found := re.match(r"v_mfma_\w+?_((\d+)x\d+x(\d+))(?:_\d+b)?_?(\w+)", instruction):
        shape, m, k, types = found.groups()
        kind = "fp8" if types[:3] in ("fp8", "bf8") else types
        if architecture == "cdna3" and kind == "bf16":
            kind = "bf16_1k"
        return _mfma(int(m), int(k), model, _BLOCKS[kind][shape])
    if found := re.fullmatch(r"v_wmma_\w+_w(\d+)", instruction):
        return _wmma(int(found[1]))
    if instruction.startswith("wgmma"):
        return _warpgroup(model)
    if instruction.startswith("tcgen05"):
        return _lanes(model)
    if instruction.startswith("mma.m8n8k4") and model.a_format.width == 16:
        return _quadpairs(model)
    found = re.match(r"mma\.m(\d+)n8k(\d+)", instruction)
    assert found is not None
    m, k = int(found[1]), int(found[2])
    width = model.a_format.width
    bits = 4 if k == 64 or (isinstance(model, IntegerDotAdd) and width == 4) else max(8, width)
    a, b = _PTX[m, k, bits]
    return {"A": _warp(*a), "B": _warp(*b), "C": _accumulators(m), "D": _accumulators(m)}
