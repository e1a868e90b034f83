"""Quantisers of public libraries: what each row of the catalogue is, and what it makes of some blocks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tcsmt.matrix_units.arithmetic.formats import AnyFormat
from tcsmt.programs.quantisation.blocks import quantise_blocks
from tcsmt.programs.quantisation.quantiser import EVIDENCE, Quantiser, left_out, quantiser_named
from tcsmt.programs.quantisation.quantiser import quantisers as rows
from tcsmt.support.floats import ieee_floats
from tcsmt.support.results import Result, columns
from tcsmt.support.text import counted

__all__ = [
    "QuantiserList",
    "QuantiserRow",
    "block_text",
    "is_quantiser",
    "quantiser",
    "quantisers",
    "word_text",
]

_INF, _NAN = float("inf"), float("nan")
#: Blocks on which libraries differ most, and what they are.
_BLOCKS = {"zeros": [0.0, 0.0], "2^-126 and 0": [2.0**-126, 0.0], "1 and an infinity": [1.0, _INF],
           "1 and a NaN": [1.0, _NAN]}  # fmt: skip


@dataclass(frozen=True, repr=False)
class QuantiserRow(Result):
    """A quantiser of a library: ``quantiser`` has its formula, source, evidence and device as attributes."""

    quantiser: Quantiser

    def ends(self) -> dict[str, dict[str, str]]:
        """Return what becomes of some blocks: the words of the scale and of both elements.

        The largest magnitude of the tensor is that of the block; a factor that the caller gives is 1.
        """
        found = {}
        for told, numbers in _BLOCKS.items():
            block = np.array([numbers], np.float32)
            given = {
                name: np.abs(block).max(1) if name == "T" else np.ones(1, np.float32)
                for name in self.quantiser.given
            }
            blocks = quantise_blocks(self.quantiser, block, given, nearest=True)
            fmt = self.quantiser.block_program(2, nearest=True).values["s"].format
            found[told] = {"scale": fmt.hex(int(blocks.scales[0]))}
            if blocks.codes is not None:
                element = self.quantiser.element
                found[told]["elements"] = " ".join(element.hex(int(word)) for word in blocks.codes[0])
        return found

    def _facts(self) -> dict[str, Any]:
        row = self.quantiser
        return {
            "quantiser": row.name, "source": row.source, "evidence": row.evidence, "device": row.device,
            "formats": list(row.formats), "blocks": [list(block) for block in row.blocks], "nan": row.nan,
            "computed_in": "the tensor's format" if row.tensor else "f32", "formula": row.formula.strip(),
            "given": list(row.given), "keeps": row.keeps, "approximations": list(row.approximations),
            "recipe": row.recipe or None, "note": row.note, "ends": self.ends(),
        }  # fmt: skip

    def _lines(self) -> Iterator[str]:
        row = self.quantiser
        yield f"{row.name}: {row.source}"
        yield f"evidence: {row.evidence} ({EVIDENCE[row.evidence]}); device: {row.device}"
        yield f"elements: {', '.join(row.formats)}; blocks: {' or '.join(map(block_text, row.blocks))}"
        where = "the tensor's format" if row.tensor else "f32"
        yield f"computed in {where}; in the largest magnitude m a NaN is {row.nan}"
        yield from (f"  {line}" for line in row.formula.strip().splitlines())
        if row.keeps == "factor":
            yield "s is kept, by which elements are divided"
        if row.approximations:
            told = ", ".join(row.approximations)
            yield f"only approximations are known: {told}; the words below take the nearest numbers"
        if row.recipe:
            yield f"the recipe {row.recipe} gives the same bits"
        if row.note:
            yield f"note: {row.note}"
        yield from columns([(f"  {told}:", *(f"{name} {text}" for name, text in facts.items()))
                            for told, facts in self.ends().items()])  # fmt: skip

    @property
    def _title(self) -> str:
        return f"of {self.quantiser.name}"


@dataclass(frozen=True, repr=False)
class QuantiserList(Result):
    """The quantisers of the catalogue, and what is not in it, with the reasons."""

    quantisers: tuple[Quantiser, ...]

    def _facts(self) -> dict[str, Any]:
        return {
            "quantisers": [QuantiserRow(row).as_json() for row in self.quantisers],
            "left_out": dict(left_out()),
        }

    def _lines(self) -> Iterator[str]:
        yield from columns([
            ("quantiser", "elements", "blocks", "device", "evidence"),
            *(
                (row.name, ",".join(row.formats), block_text(row.blocks[0]), row.device, row.evidence)
                for row in self.quantisers
            ),
        ])  # fmt: skip
        yield "\nnot in the catalogue:"
        yield from (f"  {name}: {reason}" for name, reason in left_out().items())

    @property
    def _title(self) -> str:
        return f"of {counted(len(self.quantisers), 'quantiser')}"


def block_text(block: tuple[int, int]) -> str:
    """Return how people write a block."""
    rows_, columns_ = block
    if not rows_:
        return "tensor"
    return f"{rows_}x{columns_}" if columns_ else "row"


@ieee_floats
def quantiser(name: str) -> QuantiserRow:
    """Return a quantiser of the catalogue: its formula, source and evidence, and what becomes of zeros, NaNs
    and infinities.

    Args:
        name: LIBRARY/NAME, or LIBRARY/NAME:FORMAT for other elements.

    Raises :class:`tcsmt.TcsmtError` for other names.

    >>> import tcsmt
    >>> tcsmt.quantiser("te/mxfp8").ends()["zeros"]
    {'scale': '0x00', 'elements': '0x00 0x00'}
    """
    return QuantiserRow(quantiser_named(name))


@ieee_floats
def quantisers() -> QuantiserList:
    """Return the quantisers of the catalogue.

    >>> import tcsmt
    >>> "deepgemm/fp8" in [row.name for row in tcsmt.quantisers().quantisers]
    True
    """
    return QuantiserList(tuple(rows().values()))


def is_quantiser(name: str) -> bool:
    """Return whether a text begins with the library of a quantiser: no unit has such a name."""
    return name.partition("/")[0] in {row.partition("/")[0] for row in rows()}


def word_text(fmt: AnyFormat, word: int) -> str:
    """Return a word with its value."""
    if fmt.is_special(word):
        return f"{fmt.hex(word)} ({fmt.describe(word)})"
    return f"{fmt.hex(word)} ({float(fmt.value(word)):.9g})"
