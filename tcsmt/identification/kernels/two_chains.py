"""One element of a product by two kernels: where their sums first differ, and what is said of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tcsmt.matrix_units.arithmetic.formats import AnyFormat
from tcsmt.matrix_units.arithmetic.words import unsigned
from tcsmt.programs.kernels.elements import SampledElements
from tcsmt.programs.kernels.kernel import Kernel
from tcsmt.programs.steps.on_traced import TraceRules, traced_inputs
from tcsmt.programs.steps.program import read
from tcsmt.programs.steps.traced import TracedInstruction, TracedStep, TracedWord
from tcsmt.programs.written.programs import WrittenProgram
from tcsmt.support.errors import TcsmtError
from tcsmt.support.results import columns
from tcsmt.support.text import ranges


@dataclass(frozen=True)
class TracedKernel:
    """All instructions of a kernel on an element, the sum before the epilogue, and the result.

    steps: of a program in a file, all of them, and its result is the sum, too; of other kernels none.
    """

    links: tuple[TracedInstruction, ...]
    total: TracedWord
    result: TracedWord
    steps: tuple[TracedStep, ...] = ()

    @classmethod
    def on(cls, kernel: Kernel, element: SampledElements) -> TracedKernel:
        """Return a kernel on one element, as it reduces that element.

        Raises :class:`.TcsmtError` for units with block scales, for epilogues that take random bits, and for
        programs with steps that are not traced.
        """
        program = program_of_kernel(kernel, element.a.shape[1])
        if program is not None:
            rules = TraceRules(program.nans)
            words = {name: part[0] for name, part in program_inputs(program, element).items()}
            result = read(program.program, rules, traced_inputs(program.program, words))
            steps = tuple(rules.finished(result, named=False))
            return cls(_instructions(rules.steps), result, result, steps)
        if kernel.unit.model.scales or kernel.epilogue.stochastic:
            what = "block scales" if kernel.unit.model.scales else "random bits"
            raise TcsmtError(f"{kernel.name} takes {what}: its chains cannot be drawn side by side")
        schedule, length = kernel.schedule, element.a.shape[1]
        given = {name: words[0] for name in ("c", "bias") if (words := getattr(element, name)) is not None}
        words = {"A": element.a[0], "B": element.b[0], **given}
        reduction = kernel.reduction
        if reduction.tiled and element.places is not None:
            row, column = element.places[0].tolist()
            reduction = reduction.of_element(row, column, element.shape)
        rules = TraceRules(schedule.nans)
        sums = schedule.sums(length, reduction, c="c" in given)
        total: TracedWord = read(sums, rules, traced_inputs(sums, words))
        end = schedule.end(c="c" in given, bias=kernel.epilogue.bias)
        inputs = traced_inputs(end, words | {"total": total.word}) | {"total": total}
        result = read(end, rules, inputs)
        return cls(_instructions(rules.steps), total, result)

    @property
    def parts(self) -> list[TracedInstruction]:
        """Return the last instruction of each chain."""
        ends = [*self.links[1:], None]
        return [
            link
            for link, after in zip(self.links, ends, strict=True)
            if after is None or len(after.chain) == after.count
        ]


def _instructions(steps: Sequence[TracedStep]) -> tuple[TracedInstruction, ...]:
    return tuple(step for step in steps if isinstance(step, TracedInstruction))


def program_of_kernel(kernel: Kernel, length: int) -> WrittenProgram | None:
    """Return the program in a file that a kernel is for a K; None where it is another kernel, or repeats a
    program.
    """
    model = kernel.unit.model
    if isinstance(model, WrittenProgram) and model.k == length and kernel == Kernel(kernel.unit):
        return model
    return None


def program_inputs(program: WrittenProgram, elements: SampledElements) -> dict[str, Any]:
    """Return the words of a program's inputs, by name, for some elements: zero for a c that is not given, and
    for what no step reads.
    """
    given = {"A": elements.a, "B": elements.b, "c": elements.c, "bias": elements.bias}
    words = {name: part for name, part in given.items() if part is not None}
    for name, step in program.steps.inputs.items():
        if name == "c" or not program.steps.reads(name):
            words.setdefault(name, np.zeros(len(elements.a), unsigned(step.format)))
    return words


def _common(left: TracedKernel, right: TracedKernel) -> Iterator[tuple[TracedInstruction, TracedInstruction]]:
    """Yield instructions after which both have added the same products in one chain, in left's order."""
    there: dict[object, list[TracedInstruction]] = {}
    for link in right.links:
        there.setdefault(link.key, []).append(link)
    for link in left.links:
        if there.get(link.key):
            yield link, there[link.key].pop(0)


@dataclass(frozen=True)
class TwoChains:
    """Both kernels on one element. first: the first instructions that end with the same products in the sum,
    and other values; None: there are none. before: those before them, with the same value."""

    kernels: tuple[Kernel, Kernel]
    walks: tuple[TracedKernel, TracedKernel]
    first: tuple[TracedInstruction, TracedInstruction] | None
    before: tuple[TracedInstruction, TracedInstruction] | None

    @property
    def same_instruction(self) -> bool:
        """Return whether one instruction on each side, of the same inputs, makes the difference."""
        if self.first is None:
            return False
        left, right = self.first
        alike = left.unit.input_formats == right.unit.input_formats
        return bool(alike and np.array_equal(left.indices, right.indices) and left.inputs == right.inputs)

    @property
    def values(self) -> dict[str, int]:
        """Return the inputs of left's instruction at the first difference, by name."""
        assert self.first is not None
        return dict(self.first[0].inputs)

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
                f"{_told(left.format, left.word)} | {_told(right.format, right.word)}"
            )
            if counts[0] == counts[1] == 1:
                return text
            how = " | ".join(
                f"{count} x K = {link.unit.k}" for count, link in zip(counts, self.first, strict=True)
            )
            return f"{text}; instructions that add them: {how}"
        totals = [_told(walk.total.format, walk.total.word) for walk in self.walks]
        programs = any(walk.steps for walk in self.walks)
        if programs and totals[0] != totals[1]:
            return self._outside(" | ".join(totals))
        if _value(self.walks[0].total) != _value(self.walks[1].total):
            return (
                "every sum that both kernels make is the same in both; they differ in how partial sums "
                f"are added: {first.reduction} | {second.reduction} give {' | '.join(totals)}"
            )
        results = [_told(walk.result.format, walk.result.word) for walk in self.walks]
        if results[0] != results[1]:
            return (
                f"both sums are {totals[0]}; the epilogues differ: "
                f"{first.epilogue or 'none'} | {second.epilogue or 'none'} give {' | '.join(results)}"
            )
        return f"both kernels give {results[0]}"

    def _outside(self, results: str) -> str:
        """Say where programs differ that make the same sums; the step, where both have the same ones."""
        names = " | ".join(map(kernel_text, self.kernels))
        text = (
            "every sum that both programs make is the same in both; they differ in the steps outside of the "
            f"units: {names} give {results}"
        )
        left, right = (walk.steps for walk in self.walks)
        if [step.stage.place for step in left] != [step.stage.place for step in right]:
            return text
        for one, other in zip(left, right, strict=True):
            if _told(one.format, one.word) != _told(other.format, other.word):
                words = f"{_told(one.format, one.word)} | {_told(other.format, other.word)}"
                return f"{text}; first at '{one.name}': {words}"
        return text

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

    def lines(self, around: int = 3) -> list[str]:
        """Both chains side by side, some instructions before and after the first difference."""
        rows = list(_common(*self.walks))
        differing = None if self.first is None else self.first[0]
        place = next((n for n, (left, _) in enumerate(rows) if left is differing), len(rows) - 1)
        some = rows[max(0, place - around) : place + around + 1]
        table = [
            (
                _places(left.indices),
                _told(left.format, left.word),
                _told(right.format, right.word),
                "<- first difference" if left is differing else "",
            )
            for left, right in some
        ]
        lines = [f"  k {line}" for line in columns(table, ">>><")]
        for side, name in enumerate(("left", "right")):
            parts = self.walks[side].parts
            if len(parts) > 1:
                sums = ", ".join(_told(part.format, part.word) for part in parts[:8])
                more = f", and {len(parts) - 8} more" if len(parts) > 8 else ""
                lines.append(f"  {name}: {len(parts)} partial sums: {sums}{more}")
        return lines

    def as_json(self) -> dict[str, Any]:
        """Every instruction of both kernels, their sums and results, and the sentence."""
        sides = []
        for kernel, walk_ in zip(self.kernels, self.walks, strict=True):
            steps = {"steps": [step.as_json() for step in walk_.steps]} if walk_.steps else {}
            sides.append(
                {
                    "kernel": kernel_text(kernel),
                    "instructions": [
                        {
                            "k": [int(index) for index in link.indices],
                            "begins": len(link.chain) == link.count,
                            "from_c": link.from_c,
                            "sum": link.format.hex(link.word),
                        }
                        for link in walk_.links
                    ],
                    "total": walk_.total.format.hex(walk_.total.word),
                    "result": walk_.result.format.hex(walk_.result.word),
                    **steps,
                }
            )
        first = None if self.first is None else [int(index) for index in np.sort(self.first[0].chain)]
        return {"kernels": sides, "first_difference": first, "sentence": self.sentence()}


def two_chains(kernels: tuple[Kernel, Kernel], element: SampledElements) -> TwoChains:
    """Return both kernels on one element, each as it reduces that element.

    Raises :class:`.TcsmtError` for what cannot be drawn (:meth:`TracedKernel.on`).
    """
    left, right = (TracedKernel.on(kernel, element) for kernel in kernels)
    before = None
    for first, second in _common(left, right):
        if _value(first) != _value(second):
            inside = before if before and len(before[0].chain) < len(first.chain) else None
            return TwoChains(kernels, (left, right), (first, second), inside)
        before = first, second
    return TwoChains(kernels, (left, right), None, before)


def kernel_text(kernel: Kernel) -> str:
    """Return the kernel's name; a program's without what kernels add."""
    return kernel.unit.name if isinstance(kernel.unit.model, WrittenProgram) else kernel.name


def _value(x: TracedWord | TracedInstruction) -> object:
    """Return the value of a word: a number, with a zero's sign, or a text for what is none."""
    if x.format.is_special(x.word):
        return x.format.describe(x.word)
    value = x.format.value(x.word)
    return value if value else x.format.describe(x.word)


def _told(fmt: AnyFormat, word: int) -> str:
    return f"{fmt.hex(word)} ({fmt.describe(word)})"


def _places(indices: Any) -> str:
    """``16..31``, or ranges with commas; long lists are cut."""
    texts = ranges(str(index) for index in np.sort(np.asarray(indices)))
    return ",".join(texts[:4]) + (",..." if len(texts) > 4 else "")
