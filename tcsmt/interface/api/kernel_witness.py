"""Two configurations of a compiled kernel: a proof that they give the same bits, or words that differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from tcsmt.interface.api.compare import compare
from tcsmt.interop.compiled.reading import ElementRead
from tcsmt.interop.triton.execution import Array, BlockNumbers
from tcsmt.interop.triton.launches import Block, KernelLaunch
from tcsmt.matrix_units.arithmetic.formats import format_named
from tcsmt.matrix_units.arithmetic.words import unsigned
from tcsmt.matrix_units.catalogue import Row
from tcsmt.programs.steps.on_arrays import ArrayRules, of_matrices
from tcsmt.programs.steps.outside import converted
from tcsmt.programs.steps.program import read
from tcsmt.programs.written.programs import WrittenProgram
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.verdict import reason_of
from tcsmt.support.errors import InternalError, TcsmtError
from tcsmt.support.invariants import checked_cast

#: Rows of A, and columns of B, of each kind that is tried before a solver is asked.
_DRAWN = 8


@dataclass(frozen=True)
class ConfigWitness:
    """An input on which two configurations differ: words along K, and what both compiled kernels store."""

    element: int
    inputs: Mapping[str, tuple[int, ...]]
    results: tuple[int, int]


@dataclass(frozen=True)
class Configuration:
    """A configuration, and the programs of some elements: with the blocks that store them, and as units."""

    name: str
    launch: KernelLaunch
    reads: tuple[ElementRead, ...]
    blocks: tuple[Block, ...]
    rows: tuple[Row, ...]

    @property
    def key(self) -> tuple[object, ...]:
        """Return what tells its programs from others: of each element, the digest and the formats."""
        return tuple(
            (checked_cast(row.model, WrittenProgram).identity, tuple(one.text.formats.items()))
            for row, one in zip(self.rows, self.reads, strict=True)
        )


@dataclass
class SameBits:
    """Whether two configurations give the same bits. known: answers about pairs of programs."""

    domain: Domain
    options: SolvingOptions
    known: dict[tuple[object, object], tuple[ConfigWitness | None, str] | None] = field(default_factory=dict)

    def answer(self, left: Configuration, right: Configuration) -> tuple[ConfigWitness | None, str] | None:
        """Return None where they are proved to; else a witness, or why there is neither."""
        key = left.key, right.key
        if key not in self.known:
            self.known[key] = self._answer(left, right)
        return self.known[key]

    def _answer(self, left: Configuration, right: Configuration) -> tuple[ConfigWitness | None, str] | None:
        reasons, asked = [], []
        for number, (x, y) in enumerate(zip(left.reads, right.reads, strict=True)):
            if open_ones := dict.fromkeys((*x.text.freedoms, *y.text.freedoms)):
                reasons.append(f"the program leaves open: {', '.join(open_ones)}")
            elif (x.text.along, x.text.inputs, x.names) != (y.text.along, y.text.inputs, y.names):
                reasons.append(f"element {x.element} is made of other words")
            elif left.key[number] != right.key[number]:
                asked.append(number)
        for number in asked:
            drawn = self._drawn(left.rows[number], right.rows[number], left.reads[number])
            if drawn is not None:
                return _confirmed(left, right, number, drawn), ""
        for number in asked:
            try:
                found = compare(left.rows[number], right.rows[number], self.domain, options=self.options)
            except TcsmtError as error:
                reasons.append(str(error))
                continue
            if (values := found.witness) is not None:
                rest = ("c",) if "c" in left.reads[number].text.inputs else ()
                words = {
                    name: [values[f"{name.lower()}{n}"] for n in range(left.rows[number].model.k)]
                    for name in "AB"
                }
                return _confirmed(left, right, number, words | {name: [values[name]] for name in rest}), ""
            if found.equal is None:
                reasons.append(reason_of(found.verdict))
        return (None, "; ".join(dict.fromkeys(reasons))) if reasons else None

    def _drawn(self, left: Row, right: Row, one: ElementRead) -> dict[str, list[int]] | None:
        """Return words of a random row of A and column of B for which the programs differ, if one is found.

        Normal numbers; numbers of many exponents; and sums in which much cancels.
        """
        rng, k = np.random.default_rng(0), left.model.k
        formats = {name: format_named(one.text.formats[name]) for name in "AB"}
        formats |= {name: format_named(fmt) for name, (fmt, _) in one.text.inputs.items()}
        for kind in range(3):
            drawn = {}
            for name, fmt in formats.items():
                shape = {"A": (_DRAWN, k), "B": (k, _DRAWN)}.get(name, (_DRAWN, _DRAWN))
                numbers = rng.standard_normal(shape) * 2.0 ** (rng.integers(-4, 5, shape) if kind == 1 else 0)
                if kind == 2 and name == "B":
                    numbers[k // 2 :] = -numbers[: k - k // 2]
                drawn[name] = converted(numbers.astype(np.float32).view(np.uint32), format_named("f32"), fmt)
            results = [_words(row, drawn) for row in (left, right)]
            for i, j in np.argwhere(results[0] != results[1]).tolist():
                words = {
                    n: x[i] if n == "A" else x[:, j] if n == "B" else x[i, j : j + 1]
                    for n, x in drawn.items()
                }
                named = {f"{n.lower()}{at}": int(w) for n in "AB" for at, w in enumerate(words[n])}
                of_named = {n: formats[n[0].upper()] for n in named}
                if self.domain.contains(of_named, named):
                    return {name: [int(word) for word in x] for name, x in words.items()}
        return None


def _words(row: Row, given: Mapping[str, Array]) -> Array:
    """Return the words of a program on matrices of words, (M, K), (K, N) and (M, N)."""
    model = checked_cast(row.model, WrittenProgram)
    shape = len(given["A"]), given["B"].shape[1]
    start = {"c": np.zeros(shape, unsigned(model.c_format))}
    return np.broadcast_to(
        read(model.program, ArrayRules(shape, of_matrices, model.nans), start | dict(given)), shape
    )


def _confirmed(
    left: Configuration, right: Configuration, number: int, inputs: Mapping[str, Sequence[int]]
) -> ConfigWitness:
    """Return a witness, of what both compiled kernels store. Raises :class:`.InternalError` where that is not
    what the programs say.
    """
    results = []
    for one in (left, right):
        text, row = one.reads[number].text, one.rows[number]
        formats = {name: format_named(text.formats[name]) for name in "AB"}
        formats |= {name: format_named(fmt) for name, (fmt, _) in text.inputs.items()}
        words = {name: np.array(x, unsigned(formats[name])) for name, x in inputs.items()}
        shaped = {n: x.reshape((1, -1) if n == "A" else (-1, 1)) for n, x in words.items()}
        expected = int(_words(row, shaped)[0, 0])
        stored = _stored(one.launch, one.blocks[number], one.reads[number], words)
        if stored != expected:
            raise InternalError(
                f"{one.name}: the kernel stores {stored:#x}, and its program says {expected:#x}"
            )
        results.append(stored)
    if results[0] == results[1]:
        raise InternalError(f"{left.name} and {right.name} do not differ on what should tell them apart")
    return ConfigWitness(
        left.reads[number].element, {n: tuple(x) for n, x in inputs.items()}, (results[0], results[1])
    )


def _stored(launch: KernelLaunch, block: Block, one: ElementRead, words: Mapping[str, Array]) -> int:
    """Return what a compiled kernel stores in an element, for words of its inputs; all else is 0."""
    run = launch.run(block)
    buffers = {n: np.zeros(x.extent, np.uint8) for n, x in enumerate(launch.arguments) if x.is_pointer}
    places = {name: (along.first, along.stride) for name, along in one.text.along.items()}
    places |= {name: (first, 0) for name, (_, first) in one.text.inputs.items()}
    for number, name in one.names.items():
        if name in words:
            first, stride = places[name]
            each = words[name].view(np.uint8).reshape(len(words[name]), -1)
            at = first + stride * np.arange(len(each))[:, None] + np.arange(each.shape[1])
            buffers[number][at] = each
    ((offsets, values),) = BlockNumbers(run, buffers).stored().values()
    start = int(np.searchsorted(offsets, one.element * run.size))
    return int.from_bytes(values[start : start + run.size].tobytes(), "little")
