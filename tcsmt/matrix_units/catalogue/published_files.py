"""Which units gave the answers in files that others published.

Text files in north-numerical-computing/MATLAB-tensor-core: how the units were called. JSON files of captured,
emulated or predicted rows of several units: which rows are of which unit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any

__all__ = [
    "CALLED",
    "CALLED_WITHOUT_C",
    "FORMAT_NAMES",
    "MVMUL_FILES",
    "PREDICTIONS",
    "SELECTIONS",
    "Predictions",
    "Selection",
]

#: How the instruction was called, by input format.
CALLED = {
    "f16": "wmma m16n16k16",
    "bf16": "wmma m16n16k16",
    "tf32": "wmma m16n16k8",
    "e4m3": "mma.sync m16n8k32",
    "e5m2": "mma.sync m16n8k32",
}
#: The same by GPU, input and output format, where the answers were made without the c file.
CALLED_WITHOUT_C = {
    (gpu, fmt, "f32"): "wgmma m64nNk32" for gpu in ("h100", "h200") for fmt in ("e4m3", "e5m2")
}
#: Format names in the files' names that are no aliases of ours.
FORMAT_NAMES = {"tensorfloat32": "tf32", "fp8-e4m3": "e4m3", "fp8-e5m2": "e5m2"}


@dataclass(frozen=True)
class Selection:
    """Rows of one unit in a file of captured or emulated rows.

    unit: ARCHITECTURE/INSTRUCTION. result: the key of a row's D. where: what a row's other keys say.
    lanes: how many lanes the rows may have. Where a file has its rows in parts, ``part`` is a key of theirs.
    """

    unit: str
    result: str = "d"
    where: tuple[tuple[str, str], ...] = ()
    lanes: tuple[int, ...] = ()

    def has(self, row: Mapping[str, Any]) -> bool:
        """Whether a row is one of them."""
        same = all(row.get(key) == value for key, value in self.where)
        return same and self.result in row and (not self.lanes or len(row["a"]) in self.lanes)


def _radeon() -> Iterator[tuple[str, Selection]]:
    for a in ("f16", "bf16"):
        of_dot, of_wmma = ((("kind", kind), ("in_format", a)) for kind in ("dot2", "wmma"))
        for file, architecture in (("rdna3_gfx1100", "rdna3"), ("rdna4_gfx1201", "rdna4")):
            yield file, Selection(f"{architecture}/v_dot2_f32_{a}", where=of_dot)
            yield file, Selection(f"{architecture}/v_wmma_f32_16x16x16_{a}_w32", where=of_wmma)
        yield "rdna4_gfx1201", Selection(f"rdna4/v_wmma_f32_16x16x16_{a}_w64", "d_wave64", of_wmma)
        packed = [("rdna3", "gfx11", 64), ("rdna4", "gfx12", 32)]
        packed += [("rdna4", "gfx12", 64)] if a == "f16" else []
        for architecture, target, wave in packed:
            unit = f"{architecture}/v_wmma_{a}_16x16x16_{a}_w{wave}"
            yield f"rdna_packed_{a}", Selection(unit, f"d_{target}_wave{wave}")


def _riscv() -> Iterator[tuple[str, Selection]]:
    # an implementation's n is a power of two; shorter sums have zero products
    lengths = {2: (2,), 4: (3, 4), 8: (5, 8), 16: (16,), 32: (32,)}
    for a, b in (("bf16", "bf16"), ("e4m3", "e4m3"), ("e4m3", "e5m2"), ("e5m2", "e5m2")):
        for n, given in lengths.items():
            where = (("format_a", a), ("format_b", b))
            for lanes in given:
                unit = f"riscv/rvbna.n{n}.f32.{a}.{b}"
                yield "riscv_rvbna_spike", Selection(unit, where=where, lanes=(lanes,))


def _cpus() -> Iterator[tuple[str, Selection]]:
    yield "x86_vdpbf16ps_zen4", Selection("x86/vdpbf16ps")
    for name in ("bfdot", "bfmmla", "bfmopa"):
        for ebf in ("ebf0", "ebf1"):
            yield f"arm_{name}_{ebf}_qemu", Selection(f"arm/{name}.{ebf}")
    yield "arm_fmopa_f16_qemu", Selection("arm/fmopa.f32.f16.f16")
    yield "arm_bfmlalb_qemu", Selection("arm/bfmlalb")
    yield "arm_fmlal_qemu", Selection("arm/fmlal")
    for d, a, b in product(("f32", "f16"), ("e4m3", "e5m2"), ("e4m3", "e5m2")):
        where = (("part", f"{a}x{b}->{d}"),)
        yield "arm_fdot_fp8_qemu", Selection(f"arm/fdot.{d}.{a}.{b}", where=where)


def _selections() -> dict[str, tuple[Selection, ...]]:
    found: dict[str, list[Selection]] = {}
    for file, selection in (*_radeon(), *_riscv(), *_cpus()):
        found.setdefault(file, []).append(selection)
    return {file: tuple(selections) for file, selections in found.items()}


#: Files whose rows hold words as the registers of MVMUL do, by name without the suffix.
MVMUL_FILES = ("tenstorrent_mvmul_ttsim",)

#: Files of captured and emulated rows, by name without the suffix: which rows are of which unit.
SELECTIONS = _selections()


@dataclass(frozen=True)
class Predictions:
    """A file of inputs with what several readings of a unit give: none of it was measured.

    units: which unit each reading is, by the reading's key in a row, with the row's own keys in braces; "":
    that of no unit. question: the key of what a row is about. otherwise: what a row's keys say where it does
    not have them.
    """

    units: Mapping[str, str]
    question: str
    otherwise: Mapping[str, str] = field(default_factory=dict)


#: Files of predictions, by name without the suffix.
PREDICTIONS = {
    "rdna_undecided": Predictions(
        {"model": "{arch}/v_dot2_{out_format}_{in_format}", "otherwise": ""}, "question"
    ),
    "riscv_rvbna_disagree": Predictions(
        {
            "manual_text": "riscv/rvbna.n{lanes}.f32.{format}.{format}",
            "manual_pseudocode": "riscv/rvbna.n{lanes}.f32.{format}.{format}@pseudo-code",
            "spike": "riscv/rvbna.n{lanes}.f32.{format}.{format}",
        },
        "note",
    ),
    "intel_amx_documents": Predictions(
        {"manual": "x86/{instruction}", "intrinsics_guide": "x86/{instruction}@guide"},
        "note",
        {"instruction": "TDPBF16PS", "note": "Intel's manual and its Intrinsics Guide differ"},
    ),
}
