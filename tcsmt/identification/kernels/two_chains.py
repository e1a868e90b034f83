"""One element of a product by two kernels: where their sums first differ, and what is said of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tcsmt.matrix_units.arithmetic.formats import AnyFormat
from tcsmt.programs.kernels.chain_steps import Elements, Link, Walk, common_links, walk
from tcsmt.programs.kernels.kernel import Kernel
from tcsmt.programs.kernels.reduction import Reduction
from tcsmt.support.results import columns
from tcsmt.support.text import ranges


@dataclass(frozen=True)
class TwoChains:
    """Both kernels on one element. first: the first instructions that end with the same products in the sum,
    and other values; None: there are none. before: those before them, with the same value."""

    kernels: tuple[Kernel, Kernel]
    walks: tuple[Walk, Walk]
    first: tuple[Link, Link] | None
    before: tuple[Link, Link] | None

    @property
    def same_instruction(self) -> bool:
        """Return whether one instruction on each side, of the same inputs, makes the difference."""
        if self.first is None:
            return False
        first, second = (kernel.unit.model for kernel in self.kernels)
        alike = first.input_formats == second.input_formats
        left, right = self.first
        return bool(
            alike
            and np.array_equal(left.indices, right.indices)
            and left.operands.c[0] == right.operands.c[0]
        )

    @property
    def values(self) -> dict[str, int]:
        """Return the inputs of left's instruction at the first difference, by name."""
        assert self.first is not None
        words = (int(word) for word in self.first[0].operands.map(lambda words: words[0]).flat())
        return dict(zip(self.kernels[0].unit.model.input_names, words, strict=True))

    def sentence(self) -> str:
        """Say where they first differ, and what can be said without a picture of the instruction."""
        first, second = self.kernels
        if self.first is not None:
            left, right = self.first
            start = 0 if self.before is None else len(self.before[0].chain)
            added = left.chain[start:]
            counts = [self._instructions(side, added) for side in (0, 1)]
            text = (
                f"they first differ once the products {_places(added)} are added: "
                f"{self._text(0, left)} | {self._text(1, right)}"
            )
            if counts[0] == counts[1] == 1:
                return text
            how = " | ".join(
                f"{count} x K = {kernel.unit.model.k}"
                for count, kernel in zip(counts, self.kernels, strict=True)
            )
            return f"{text}; instructions that add them: {how}"
        totals = [_told(walk.total.format, int(walk.total.words[0])) for walk in self.walks]
        if _value(self.walks[0].total.format, self.walks[0].total.words) != _value(
            self.walks[1].total.format, self.walks[1].total.words
        ):
            return (
                "every sum that both kernels make is the same in both; they differ in how partial sums "
                f"are added: {first.reduction} | {second.reduction} give {' | '.join(totals)}"
            )
        results = [_told(walk.result.format, int(walk.result.words[0])) for walk in self.walks]
        if results[0] != results[1]:
            return (
                f"both sums are {totals[0]}; the epilogues differ: "
                f"{first.epilogue or 'none'} | {second.epilogue or 'none'} give {' | '.join(results)}"
            )
        return f"both kernels give {results[0]}"

    def _instructions(self, side: int, added: np.ndarray[Any, np.dtype[Any]]) -> int:
        """Return how many of a kernel's instructions, in the chain of the first difference, add these
        products.
        """
        assert self.first is not None
        wanted = set(added.tolist())
        chain = self.first[side].chain
        return sum(
            link.from_c == self.first[side].from_c
            and np.array_equal(link.chain, chain[: len(link.chain)])
            and bool(wanted & set(link.indices.tolist()))
            for link in self.walks[side].links
        )

    def _text(self, side: int, link: Link) -> str:
        return _told(self.kernels[side].unit.model.d_format, int(link.after[0]))

    def lines(self, around: int = 3) -> list[str]:
        """Both chains side by side, some instructions before and after the first difference."""
        rows = list(common_links(*self.walks))
        differing = None if self.first is None else self.first[0]
        place = next((n for n, (left, _) in enumerate(rows) if left is differing), len(rows) - 1)
        some = rows[max(0, place - around) : place + around + 1]
        table = [
            (
                _places(left.indices),
                self._text(0, left),
                self._text(1, right),
                "<- first difference" if left is differing else "",
            )
            for left, right in some
        ]
        lines = [f"  k {line}" for line in columns(table, ">>><")]
        for side, name in enumerate(("left", "right")):
            parts = self.walks[side].parts
            if len(parts) > 1:
                sums = ", ".join(self._text(side, part) for part in parts[:8])
                more = f", and {len(parts) - 8} more" if len(parts) > 8 else ""
                lines.append(f"  {name}: {len(parts)} partial sums: {sums}{more}")
        return lines

    def as_json(self) -> dict[str, Any]:
        """Every instruction of both kernels, their sums and results, and the sentence."""
        sides = []
        for kernel, walk_ in zip(self.kernels, self.walks, strict=True):
            fmt = kernel.unit.model.d_format
            sides.append(
                {
                    "kernel": kernel.name,
                    "instructions": [
                        {
                            "k": [int(index) for index in link.indices],
                            "begins": len(link.chain) == link.count,
                            "from_c": link.from_c,
                            "sum": fmt.hex(int(link.after[0])),
                        }
                        for link in walk_.links
                    ],
                    "total": walk_.total.format.hex(int(walk_.total.words[0])),
                    "result": walk_.result.format.hex(int(walk_.result.words[0])),
                }
            )
        first = None if self.first is None else [int(index) for index in np.sort(self.first[0].chain)]
        return {"kernels": sides, "first_difference": first, "sentence": self.sentence()}


def two_chains(
    kernels: tuple[Kernel, Kernel], elements: Elements, reductions: tuple[Reduction, Reduction]
) -> TwoChains:
    """Both kernels on one element, each with the reduction of the element's place."""
    left, right = (
        walk(kernel, elements, reduction) for kernel, reduction in zip(kernels, reductions, strict=True)
    )
    formats = [kernel.unit.model.d_format for kernel in kernels]
    before = None
    for first, second in common_links(left, right):
        if _value(formats[0], first.after) != _value(formats[1], second.after):
            inside = before if before and len(before[0].chain) < len(first.chain) else None
            return TwoChains(kernels, (left, right), (first, second), inside)
        before = first, second
    return TwoChains(kernels, (left, right), None, before)


def _value(fmt: AnyFormat, words: Any) -> object:
    """Return the value of the only word: a number, with a zero's sign, or a text for what is none."""
    word = int(words[0])
    if fmt.is_special(word):
        return fmt.describe(word)
    value = fmt.value(word)
    return value if value else fmt.describe(word)


def _told(fmt: AnyFormat, word: int) -> str:
    return f"{fmt.hex(word)} ({fmt.describe(word)})"


def _places(indices: Any) -> str:
    """``16..31``, or ranges with commas; long lists are cut."""
    texts = ranges(str(index) for index in np.sort(np.asarray(indices)))
    return ",".join(texts[:4]) + (",..." if len(texts) > 4 else "")
