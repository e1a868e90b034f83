"""The units that gave the answers in files that others published.

Text files in north-numerical-computing/MATLAB-tensor-core: how the units were called. JSON files of captured,
emulated or predicted rows of several units: which rows are of which unit.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tcsmt.matrix_units.catalogue.architecture_files import entries_of

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
    ("h100", "e4m3", "f32"): "wgmma m64nNk32",
    ("h100", "e5m2", "f32"): "wgmma m64nNk32",
    ("h200", "e4m3", "f32"): "wgmma m64nNk32",
    ("h200", "e5m2", "f32"): "wgmma m64nNk32",
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
        """Return whether a row is one of them."""
        same = all(row.get(key) == value for key, value in self.where)
        return same and self.result in row and (not self.lanes or len(row["a"]) in self.lanes)


#: Files whose rows hold words as the registers of MVMUL do, by name without the suffix.
MVMUL_FILES = ("tenstorrent_mvmul_ttsim",)


def _selections() -> dict[str, list[Selection]]:
    table = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))["selections"]
    by_file: dict[str, list[Selection]] = {}
    for line in entries_of(table):
        where = tuple(tuple(pair.split("=")) for pair in line.get("where", ()))
        selection = Selection(line["unit"], line.get("result", "d"), where, tuple(line.get("lanes", ())))
        by_file.setdefault(line["file"], []).append(selection)
    return by_file


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
