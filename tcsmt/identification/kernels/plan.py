"""A and B on which kernels that explain a product would differ, and proofs that others are the same function.

Inputs are made so that the order of additions shows: two large products that cancel, at places where they
stand in different parts, among small ones; products of many sizes. Each is put to all kernels, and those that
separate the most are kept. Kernels that no input separates are the same function where their graphs are the
same; a solver is asked about the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from typing import Any

import numpy as np

from tcsmt.matrix_units.arithmetic.formats import FORMATS, AnyFormat, IntegerFormat, float_format
from tcsmt.matrix_units.arithmetic.words import unsigned
from tcsmt.programs.kernels.elements import SampledElements, on_elements
from tcsmt.programs.kernels.kernel import Kernel
from tcsmt.programs.kernels.model import KernelModel
from tcsmt.programs.steps import outside
from tcsmt.prove.engine.engine import compare_models
from tcsmt.prove.engine.proof_steps import Lemmas
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.verdict import Distinguished, Equivalent
from tcsmt.support.elimination import separating
from tcsmt.support.progress import ProgressCallback, no_progress
from tcsmt.support.text import counted

Array = np.ndarray[Any, np.dtype[Any]]

#: Rounds of inputs, and inputs in each.
_ROUNDS, _INPUTS = 6, 48
#: A longer dot product is not put to a solver, nor its graph built.
_LONGEST_ASKED, _LONGEST_GRAPH = 64, 2048


@dataclass(frozen=True)
class Plan:
    """Inputs that separate kernels.

    a, b: words (inputs, K): rows of A and columns of B. classes: kernels that no input separates. answers:
    for each class, the word of each input. equal: pairs of one class that are proved to be the same
    function, and how; open: pairs about which nothing is known.
    """

    a: Array
    b: Array
    classes: tuple[tuple[Kernel, ...], ...]
    answers: tuple[tuple[int, ...], ...]
    equal: tuple[tuple[Kernel, Kernel, str], ...]
    open: tuple[tuple[Kernel, Kernel], ...]


def planned(
    kernels: Sequence[Kernel],
    formats: tuple[AnyFormat, AnyFormat],
    length: int,
    *,
    most: int,
    solving: Solving | None = None,
    seed: int = 1,
    seen: ProgressCallback = no_progress,
) -> Plan:
    """Few inputs, ``most`` at most, that separate kernels over so many products.

    solving: with what solvers are asked about kernels that no input separates; None: they are not.
    """
    rng = np.random.default_rng(seed)
    search = _Search(list(kernels), formats, length)
    for number in range(_ROUNDS):
        classes = counted(len(search.classes), "class")
        seen(number + 1, _ROUNDS, f"inputs; {classes} of {counted(len(kernels), 'kernel')}")
        if len(search.classes) == len(kernels) or len(search.inputs) == most:
            break
        a, b = (np.stack(side) for side in zip(*_made(rng, formats, length), strict=True))
        search.take(a, b, most)
    proofs: dict[tuple[Kernel, Kernel], str] = {}
    while pairs := [pair for pair in search.together() if pair not in proofs]:
        pair = pairs[0]
        seen(len(proofs) + 1, len(proofs) + len(pairs), f"{pair[0].name} against {pair[1].name}")
        proofs[pair], witness = _asked(*pair, length, solving)
        if witness is not None and len(search.inputs) < most:
            rows, columns = (
                np.array([[witness[f"{side}{k}"] for k in range(length)]], unsigned(fmt))
                for side, fmt in zip("ab", formats, strict=True)
            )
            search.take(rows, columns, most)
    together = [(first, second, proofs[first, second]) for first, second in search.together()]
    return Plan(
        a=search.side(0),
        b=search.side(1),
        classes=tuple(map(tuple, search.classes.values())),
        answers=tuple(search.classes),
        equal=tuple(entry for entry in together if entry[2]),
        open=tuple((first, second) for first, second, how in together if not how),
    )


class _Search:
    """Kernels, and what each gives on the inputs that are kept."""

    def __init__(self, kernels: list[Kernel], formats: tuple[AnyFormat, AnyFormat], length: int) -> None:
        self.kernels, self.formats, self.length = kernels, formats, length
        self.inputs: list[tuple[Array, Array]] = []
        self.words = np.zeros((len(kernels), 0), np.uint64)

    @property
    def classes(self) -> dict[tuple[int, ...], list[Kernel]]:
        """Kernels that no input separates, by what they give."""
        classes: dict[tuple[int, ...], list[Kernel]] = {}
        for kernel, words in zip(self.kernels, self.words.tolist(), strict=True):
            classes.setdefault(tuple(words), []).append(kernel)
        return classes

    def together(self) -> list[tuple[Kernel, Kernel]]:
        """Return the first kernel of each class with the others."""
        return [(first, other) for first, *others in self.classes.values() for other in others]

    def take(self, a: Array, b: Array, most: int) -> None:
        """Keep those of some inputs that separate, the best ones first."""
        results = dict(on_elements(self.kernels, SampledElements(a, b)))
        words = np.array([results[kernel] for kernel in self.kernels], np.uint64)
        chosen = [*islice(separating(words, self.words), most - len(self.inputs))]
        self.inputs += [(a[number], b[number]) for number in chosen]
        self.words = np.concatenate([self.words, words[:, chosen]], axis=1)

    def side(self, number: int) -> Array:
        """Return the rows of A, or the columns of B, of the inputs."""
        rows = [operand[number] for operand in self.inputs]
        return np.stack(rows) if rows else np.zeros((0, self.length), unsigned(self.formats[number]))


def _made(
    rng: np.random.Generator, formats: tuple[AnyFormat, AnyFormat], length: int
) -> Iterator[tuple[Array, Array]]:
    """Words of inputs that show how sums are made."""
    for number in range(_INPUTS):
        spread = (0, 4, 12)[number % 3]
        a, b = (rng.standard_normal(length) * 2.0 ** rng.integers(-spread, spread + 1, length) for _ in "ab")
        if number % 2 and length > 1:
            first, second = sorted(rng.choice(length, 2, replace=False))
            size = 2.0 ** rng.integers(6, 14)
            a[[first, second]], b[[first, second]] = (size, -size), size
        yield tuple(_words(fmt, side) for fmt, side in zip(formats, (a, b), strict=True))  # type: ignore[misc]


def _words(fmt: AnyFormat, values: Array) -> Array:
    """Return the nearest words, none of them an infinity."""
    if isinstance(fmt, IntegerFormat):
        return np.array([fmt.nearest_word(Fraction(int(abs(x)) % 100)) for x in values], unsigned(fmt))
    fmt = float_format(fmt)
    largest = float(fmt.largest_finite)
    clipped = np.clip(values, -largest, largest)
    return outside.converted(clipped.view(np.uint64), FORMATS["f64"], fmt, saturate=True)


def _asked(
    first: Kernel, second: Kernel, length: int, solving: Solving | None
) -> tuple[str, Mapping[str, int] | None]:
    """Return how two kernels are proved to be the same function of A and B; else "", and maybe an input."""
    if length > _LONGEST_GRAPH:
        return "", None
    models = [
        KernelModel(
            unit=kernel.unit.model,
            reduction=kernel.reduction,
            epilogue=kernel.schedule.epilogue,
            k=length,
            has_c=False,
        )
        for kernel in (first, second)
    ]
    if models[0].trace.output is models[1].trace.output:
        return "the same graph", None
    if solving is None or length > _LONGEST_ASKED:
        return "", None
    left, right = ((kernel.name, model) for kernel, model in zip((first, second), models, strict=True))
    decision = compare_models(
        left, right, Domain(finite=False, c_zero=True), solving, lemmas=Lemmas(solving, lasting=False)
    )
    if isinstance(decision.verdict, Distinguished):
        return "", decision.verdict.values
    return ("by solvers" if isinstance(decision.verdict, Equivalent) else ""), None
