"""The row files of ``../shared/units2`` for tcgen05: their instructions, operands and words."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from tcsmt.matrix_units.arithmetic.words import unsigned
from tcsmt.matrix_units.catalogue import Row, row_named, rows
from tcsmt.matrix_units.models import Model
from tcsmt.matrix_units.models.base import Operands
from tcsmt.simulate.rows import run_words
from tests.support.paths import ROOT

#: Hexadecimal digits of a word in the files, by format; a word may be held in a wider container.
_DIGITS = {"tf32": 8, "bf16": 8, "f16": 4, "e2m1": 1}
#: Bits of a container below the word: BF16 is the upper half of an FP32 word.
_BELOW = {"bf16": 16}
#: Lanes of one instruction, by kind; integers have those of f8f6f4.
_LANES = {"tf32": 8, "f16": 16, "mxf4": 64, "mxf4nvf4": 64}


#: Rows of each file (those of integers left out).
FILES = {
    "tcgen05_unscaled": 12_000, "tcgen05_mxf8f6f4": 2_000, "tcgen05_fp4": 6_000, "tcgen05_sparse": 16_000,
    "tcgen05_nvfp4_deciding": 500, "tcgen05_zero_exponent_deciding": 300,
}  # fmt: skip


@dataclass(frozen=True)
class Told:
    """Rows of one instruction: operands as words, the given rows, and lanes that sparse rows select."""

    row: Row
    operands: Operands[Any, Any]
    given: list[dict[str, Any]]

    def words(self, key: str) -> Any:
        """A word of every row: ``d``, ``old`` and so on."""
        return np.array([int(one[key], 16) for one in self.given], np.uint32)

    def run(self, model: Model) -> Any:
        """The model's words."""
        return run_words(model, self.operands).astype(np.uint32)


def newer(row: Row) -> Model:
    """The disputed model of an instruction; its own where the newer one is the same function."""
    return next((r.model for r in rows() if r.name == f"{row.name}@sf-tensor"), row.model)


def told(name: str) -> list[Told]:
    """The rows of a file, by instruction; a test without the file is skipped."""
    path = ROOT.parent / "shared" / "units2" / f"{name}.json"
    if not path.exists():
        pytest.skip(f"{path} is not at hand")
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for one in json.loads(path.read_text())["rows"]:
        if one["kind"] != "i8":
            found[_instruction(one)].append(one)
    return [_told(row_named(f"blackwell/{name}"), given) for name, given in found.items()]


def _instruction(one: dict[str, Any]) -> str:
    kind, a, b = one["kind"], one["format_a"], one["format_b"]
    lanes = _LANES.get(kind, 32)
    if "block" in one:
        return f"tcgen05.mMnNk{lanes}.kind::{kind}.block{one['block']}.f32.{a}.{b}.{one['scale']}"
    return f"tcgen05.mMnNk{lanes}.kind::{kind}.{one['format_d']}.{a}.{b}"


def _told(row: Row, given: list[dict[str, Any]]) -> Told:
    m = row.model
    selected = [_selected(one, m.k) for one in given]
    words: dict[str, Any] = {}
    for name, fmt in m.operand_formats.named.items():
        if name == "c":
            words[name] = np.array([int(one["c"], 16) for one in given], unsigned(fmt))
            continue
        digits = 2 if name.startswith("scale") else _DIGITS.get(fmt.name, 2)
        read = [_split(one[name], digits) for one in given]
        if name in "ab":
            below, pairs = _BELOW.get(fmt.name, 0), zip(read, selected, strict=True)
            read = [[line[i] >> below for i in lanes] for line, lanes in pairs]
        words[name] = np.array(read, unsigned(fmt))
    return Told(row, Operands(**words), given)


def _split(text: str, digits: int) -> list[int]:
    return [int(text[i : i + digits], 16) for i in range(0, len(text), digits)]


def _selected(one: dict[str, Any], k: int) -> list[int]:
    """The lanes that the metadata of a sparse row select, ascending; every lane of a dense one."""
    if "metadata" not in one:
        return list(range(k))
    nibbles = [n for word in _split(one["metadata"], 8) for n in _split(f"{word:08x}"[::-1], 1)]
    lanes = [lane for n, nibble in enumerate(nibbles) for lane in _of_nibble(one["kind"], n, nibble)]
    return lanes[:k]


def _of_nibble(kind: str, group: int, nibble: int) -> Iterator[int]:
    if kind == "tf32":  # the lower or the upper one of two
        yield 2 * group + (nibble == 0xE)
    elif kind.startswith("mxf4"):  # two adjacent pairs of eight
        yield from sorted(8 * group + 2 * (nibble >> s & 3) + i for s in (0, 2) for i in (0, 1))
    else:
        yield from sorted(4 * group + (nibble >> s & 3) for s in (0, 2))
