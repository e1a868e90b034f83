"""Random kernels: matrices, terms, and an oracle that shares no code with either, word for word.

The words of zeros, NaNs and infinities count, as does the format in which a result is read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest

from tcsmt.identification.kernels.two_chains import TracedKernel
from tcsmt.interface.api.units import side_of
from tcsmt.language.run.arrays import Program
from tcsmt.language.terms import var
from tcsmt.matrix_units.arithmetic.formats import FORMATS, IntegerFormat
from tcsmt.matrix_units.arithmetic.words import unsigned
from tcsmt.matrix_units.catalogue import Row
from tcsmt.matrix_units.models import DotThenAdd, FusedDotAdd, IeeeDotAdd, Operands
from tcsmt.programs.kernels.elements import SampledElements, on_elements
from tcsmt.programs.kernels.epilogue import epilogue_named
from tcsmt.programs.kernels.gemm import gemm
from tcsmt.programs.kernels.kernel import Kernel
from tcsmt.programs.kernels.model import KernelModel
from tcsmt.programs.kernels.reduction import reduction_named
from tcsmt.programs.kernels.units import ieee_rows
from tcsmt.programs.steps.model import CalledTermRules
from tcsmt.programs.steps.program import read
from tcsmt.support.errors import TcsmtError
from tests.oracles import kernels, tiny
from tests.support.graphs import by_graph
from tests.support.integer_units import INTEGER_UNITS

UNITS = (
    "volta/mma.m8n8k4.f32.f16.f16.f32", "volta/mma.m8n8k4.f16.f16.f16.f16",
    "volta/mma.m8n8k4.f32.f16.f16.f16", "hopper/wgmma.m64nNk32.f32.e4m3.e4m3",
    "cdna2/v_mfma_f32_16x16x4_f32", "x86/tdpbf16ps",
)  # fmt: skip
#: Rows and columns of D.
M, N = 5, 4
SUMS = ("f16", "bf16", "f32", "f64", "e5m2", "tf32")
#: Rules for the words of NaNs outside of the unit.
NANS = ("ones", "ones:f16:bf16:f32", "quiet", "quiet:f32", "unknown")
OUTPUTS = (*SUMS, "e4m3", "e3m2", "e2m1", "e4m3fnuz")


@cache
def named(name: str) -> Row:
    return side_of(name).row


def some_unit(rng: Random) -> Row:
    """Of the catalogue, of IEEE operations, for integers, or a tiny one."""
    match rng.randrange(8):
        case 0 | 1 | 2:
            return named(rng.choice(UNITS))
        case 3 | 4:
            return rng.choice(ieee_rows())
        case 5:
            name = rng.choice([*INTEGER_UNITS])
            model: Any = INTEGER_UNITS[name]
        case _:
            while True:
                model = tiny.some_model(rng, rng.choice((FusedDotAdd, DotThenAdd, IeeeDotAdd)), narrow=True)
                if model.scale_format is None:
                    break
    return Row(
        architecture="tiny",
        instruction="unit",
        model=model,
        source="drawn",
        date=2025,
        evidence="conjectured",
    )


def some_level(rng: Random, k: int, *, outermost: bool) -> str:
    kinds = ["split-k", "split-k", "sliced", "promote", "cuts"] + ["stream-k"] * outermost
    kind = rng.choice(kinds)
    number = str(rng.randint(1, 5))
    options = []
    match kind:
        case "split-k" | "sliced":
            options += [f"step={rng.randint(1, 2 * k)}"] * (rng.random() < 0.4)
        case "promote":
            number = str(rng.randint(1, 3 * k))
            options += [f"halved={rng.randint(1, 3)}"] * (rng.random() < 0.2)
        case "cuts":
            number = "-".join(map(str, sorted(rng.sample(range(1, 4 * k + 2), rng.randint(1, 3)))))
        case _:
            options.append(f"tile={rng.randint(1, 3)}x{rng.randint(1, 3)}x{rng.randint(1, k + 1)}")
    order = rng.choice(("", "", "reversed", "pairs", "halves", "folded", "sequence"))
    if order == "sequence":
        count = rng.randint(1, 4)
        order = f"order={'-'.join(map(str, rng.sample(range(count), count)))}"
    options += [order] if order else []
    plain = order in ("", "reversed") or order.startswith("order")
    options += ["from-zero"] * (plain and rng.random() < 0.2)
    options += [f"parts={rng.choice(SUMS)}"] * (rng.random() < 0.2)
    options += [f"total={rng.choice(SUMS)}"] * (plain and rng.random() < 0.2)
    options += [f"sum={rng.choice(SUMS)}"] * (rng.random() < 0.3)
    return ",".join([f"{kind}:{number}", *options])


def some_reduction(rng: Random, k: int) -> str:
    levels = rng.choice((0, 1, 1, 1, 2, 2, 3))
    return "/".join(some_level(rng, k, outermost=not n) for n in range(levels)) or "chained"


def some_epilogue(rng: Random) -> str:
    if rng.random() < 0.3:
        return ""
    options = []
    options += [f"alpha={rng.choice((0, 1, 2, -0.5, 1.1, 1e30, 1e40))}"] * (rng.random() < 0.3)
    options += [f"beta={rng.choice((0, 0, 1, 3, -0.25, 0.1))}"] * (rng.random() < 0.4)
    options += [f"c={rng.choice(('first', 'epilogue', 'epilogue'))}"] * (rng.random() < 0.3)
    options += ["bias"] * (rng.random() < 0.1)
    if rng.random() < 0.6:
        outputs = [rng.choice(SUMS) for _ in range(rng.choice((0, 0, 1, 2)))] + [rng.choice(OUTPUTS)]
        options.append(f"out={':'.join(outputs)}")
        last = FORMATS[outputs[-1]]
        stochastic = rng.random() < 0.1
        options += [rng.choice(("RTZ", "RTP", "RTN", "RNA"))] * (not stochastic and rng.random() < 0.3)
        options += ["saturate"] * (not last.has_infinity or rng.random() < 0.4)
        options += [f"stochastic={rng.choice((1, 4, 16, 32))}"] * stochastic
    options += [f"nan={rng.choice(NANS)}"] * (rng.random() < 0.4)
    return ",".join(options)


def some_words(rng: np.random.Generator, fmt: Any, shape: tuple[int, ...]) -> Any:
    """Zeros, NaNs, infinities, the ends of the format, numbers around 1, and any words."""
    anything = rng.integers(0, 1 << fmt.width, shape, np.uint64, endpoint=False)
    if isinstance(fmt, IntegerFormat):
        return anything.astype(unsigned(fmt))
    sign = rng.integers(0, 2, shape).astype(np.uint64) << np.uint64(fmt.sign_bit)
    ends = {0, 1, fmt.largest_finite_word, fmt.infinity_word, fmt.infinity_word - 1, 1 << fmt.fraction_bits}
    ends |= {word for word in (fmt.nan_word,) if word is not None}
    end = rng.choice(np.array(sorted(ends), np.uint64), shape) ^ sign
    low = fmt.fraction_bits + fmt.ignored_low_bits
    field = (fmt.bias + rng.integers(-2, 3, shape)).clip(0, (1 << fmt.exponent_bits) - 1).astype(np.uint64)
    near = field << np.uint64(low) | anything & np.uint64((1 << low) - 1) | sign
    kind = rng.random(shape)
    found = np.where(kind < 0.75, near, np.where(kind < 0.9, end, anything))
    zeros = rng.random(shape) < 0.3
    return np.where(zeros, sign, found).astype(unsigned(fmt))


@dataclass(frozen=True)
class Case:
    """A kernel, and its matrices."""

    seed: str
    kernel: Kernel
    a: Any
    b: Any
    c: Any
    bias: Any
    random: Any

    @classmethod
    def drawn(cls, seed: str) -> Case:
        """Such that its texts can be read; what they say may not fit the unit."""
        rng = Random(seed)
        while True:
            unit = some_unit(rng)
            reduction, epilogue = some_reduction(rng, unit.model.k), some_epilogue(rng)
            try:
                kernel = Kernel(unit, reduction_named(reduction), epilogue_named(epilogue))
            except TcsmtError:
                continue
            break
        model, length = unit.model, rng.randint(1, min(24, 3 * unit.model.k + 2))
        numbers = np.random.default_rng(rng.randrange(1 << 32))
        a, b = (
            some_words(numbers, model.a_format, (M, length)),
            some_words(numbers, model.b_format, (length, N)),
        )
        if rng.random() < 0.5:  # NaNs and infinities in few elements only
            a[1:, 1:], b[1:, 1:] = (words & words.dtype.type(3) for words in (a[1:, 1:], b[1:, 1:]))
        c = some_words(numbers, model.c_format, (M, N)) if rng.random() < 0.7 else None
        wide = kernels.sum_format(model, reduction) == kernels.format_of("f64")
        bias = some_words(numbers, FORMATS["f64" if wide else "f32"], (N,)) if kernel.epilogue.bias else None
        bits = kernel.epilogue.stochastic
        random = numbers.integers(0, 1 << bits, (M, N)) if bits else None
        return cls(seed, kernel, a, b, c, bias, random)

    def __str__(self) -> str:
        return f"{self.seed}: {self.kernel.unit.model}\n{self.kernel.name}, K = {self.a.shape[1]}"

    def judged(self) -> str:
        """What was compared; an error where two answers differ."""
        kernel, model = self.kernel, self.kernel.unit.model
        reduction = kernel.reduction
        try:
            matrix = gemm(
                self.a, self.b, self.c, model=model, reduction=reduction, epilogue=kernel.schedule.epilogue,
                bias=self.bias, random=self.random,
            )  # fmt: skip
        except TcsmtError as refused:
            self.refused_too(str(refused))
            return "refused"
        found = matrix.view(f"u{matrix.dtype.itemsize}")
        if matrix.dtype.kind == "i":  # numbers, of which the words have fewer bits
            found = found & found.dtype.type((1 << model.d_format.width) - 1)
        expected = self.by_oracle()
        self.same("gemm and the oracle", found, expected)
        if self.random is None:
            self.same("trace and the oracle", self.by_trace(expected), expected)
        if self.random is None and self.bias is None:
            self.same("some elements and the oracle", self.by_elements(), expected)
        self.same_format(kernel.schedule.d_format, matrix)
        if reduction.tiled:
            return "matrices"
        self.same("the terms and the oracle", self.by_terms(), expected)
        unit = self.as_unit()
        if unit is None:
            return "without a unit"
        assert unit.d_format == kernel.schedule.d_format
        i, j = np.indices((M, N)).reshape(2, -1)
        c = np.full(len(i), 3, unsigned(model.c_format)) if self.c is None else self.c[i, j]
        words = by_graph(unit, Operands(self.a[i], self.b[:, j].T, c))
        self.same("the unit and the oracle", words.reshape(M, N), expected)
        return "chained" if not reduction.levels else "parts"

    def by_oracle(self) -> Any:
        text, shape = str(self.kernel.reduction), (M, N, self.a.shape[1])
        result = np.zeros((M, N), np.int64)
        groups: dict[str, list[tuple[int, int]]] = {}
        for place in np.ndindex(M, N):
            groups.setdefault(kernels.of_tile(text, place, shape), []).append(place)
        for own, places in groups.items():
            i, j = np.array(places).T
            columns = {f"a{lane}": self.a[i, lane].astype(np.int64) for lane in range(shape[2])}
            columns |= {f"b{lane}": self.b[lane, j].astype(np.int64) for lane in range(shape[2])}
            if self.c is not None:
                columns["c"] = self.c[i, j].astype(np.int64)
            result[i, j] = kernels.kernel(
                self.kernel.unit.model, own, str(self.kernel.epilogue), shape[2], columns, of=text,
                bias=None if self.bias is None else self.bias[j].astype(np.int64),
                random=None if self.random is None else self.random[i, j],
                nans=str(self.kernel.unit.nans_outside),
            ).words  # fmt: skip
        return result

    def by_trace(self, expected: Any) -> Any:
        """A third of the elements, in every row and column, each by its own reduction; others as expected."""
        shape, found = (M, N, self.a.shape[1]), expected.astype(np.uint64)
        for one in list(np.ndindex(M, N))[::3]:
            row, column = one
            c, bias = (None if x is None else x[at] for x, at in ((self.c, one), (self.bias, column)))
            element = SampledElements(
                self.a[[row]],
                self.b[:, [column]].T,
                None if c is None else np.array([c]),
                np.array([one]),
                shape,
                None if bias is None else np.array([bias]),
            )
            found[one] = TracedKernel.on(self.kernel, element).result.word
        return found

    def by_elements(self) -> Any:
        places = np.argwhere(np.ones((M, N), bool))
        i, j = places.T
        c = None if self.c is None else self.c[i, j]
        elements = SampledElements(self.a[i], self.b[:, j].T, c, places, (M, N, self.a.shape[1]))
        ((_, words),) = on_elements([self.kernel], elements)
        return words.reshape(M, N)

    def by_terms(self) -> Any:
        """With variables for the bias and the random bits, too, which no unit takes."""
        schedule, model, length = self.kernel.schedule, self.kernel.unit.model, self.a.shape[1]
        i, j = np.indices((M, N)).reshape(2, -1)
        columns = {f"a{lane}": self.a[i, lane] for lane in range(length)}
        columns |= {f"b{lane}": self.b[lane, j] for lane in range(length)}
        widths = {name: getattr(model, f"{name[0]}_format").width for name in columns}
        if self.c is not None:
            columns["c"], widths["c"] = self.c[i, j], model.c_format.width
        if self.bias is not None:
            columns["bias"], widths["bias"] = self.bias[j], schedule.working_format.width
        if self.random is not None:
            columns["random"], widths["random"] = self.random[i, j], schedule.epilogue.stochastic
        terms = {name: var(name, width) for name, width in widths.items()}
        a, b = ([terms[f"{side}{lane}"] for lane in range(length)] for side in "ab")
        there = {name: name in terms for name in ("c", "bias", "random")}
        program = schedule.program(length, **there)
        assert program.result.format == schedule.d_format
        found = read(program, CalledTermRules([], schedule.nans), {**terms, "A": a, "B": b})
        return Program([found]).run(columns)[0].reshape(M, N)

    def as_unit(self) -> KernelModel | None:
        """The kernel as a model, where one can be: no other refusal than of what it cannot say."""
        kernel = self.kernel
        try:
            return KernelModel(
                unit=kernel.unit.model, reduction=kernel.reduction, epilogue=kernel.schedule.epilogue,
                k=self.a.shape[1], has_c=self.c is not None,
            )  # fmt: skip
        except TcsmtError:
            beyond = kernel.reduction.tiled or kernel.epilogue.bias or kernel.epilogue.stochastic
            assert beyond, f"{self}: the unit refuses what gemm computes"
            return None

    def refused_too(self, why: str) -> None:
        """What gemm refuses is refused as a unit."""
        unit = None
        with suppress(TcsmtError):
            unit = KernelModel(
                unit=self.kernel.unit.model, reduction=self.kernel.reduction, epilogue=self.kernel.epilogue,
                k=self.a.shape[1],
            )  # fmt: skip
        assert unit is None, f"{self}: gemm refuses it ({why}), and the unit does not"

    def same_format(self, fmt: Any, matrix: Any) -> None:
        wanted = kernels.sum_format(self.kernel.unit.model, str(self.kernel.reduction))
        if self.kernel.epilogue.out:
            wanted = kernels.format_of(self.kernel.epilogue.out[-1].name)
        assert kernels.format_of(fmt) == wanted, f"{self}: {fmt}"
        assert matrix.dtype.itemsize == np.dtype(unsigned(fmt)).itemsize

    def same(self, what: str, one: Any, two: Any) -> None:
        one, two = (x.astype(np.uint64) if x.dtype.itemsize < 8 else x.view(np.uint64) for x in (one, two))
        if (one != two).any():
            row, column = (int(x) for x in np.argwhere(one != two)[0])
            a, b = self.a[row], self.b[:, column]
            raise AssertionError(
                f"{self}\n{what} differ at {row}, {column}: {one[row, column]:#x} {two[row, column]:#x}\n"
                f"a {[hex(x) for x in a]} b {[hex(x) for x in b]}"
                f" c {None if self.c is None else hex(self.c[row, column])}"
            )


@pytest.mark.slow
@pytest.mark.parametrize(
    "seeds",
    [
        range(40),
        *(pytest.param(range(at, at + 2000), marks=pytest.mark.long) for at in range(40, 6000, 2000)),
    ],
    ids=str,
)
def test_matrices_terms_and_the_oracle_give_the_same_words(seeds: Sequence[int]) -> None:
    counts = Counter(Case.drawn(f"schedule {seed}").judged() for seed in seeds)
    print(dict(counts))
    kinds = "chained", "parts", "matrices", "without a unit"
    assert min(counts[kind] for kind in kinds) > len(seeds) / 100


#: Every step that an epilogue can have.
EPILOGUES = (
    "", "out=bf16", "out=f16:f32", "out=tf32", "out=f64", "out=e4m3,saturate", "out=e2m1,saturate",
    "out=f32,saturate", "c=epilogue", "alpha=2,beta=0.5", "bias", "alpha=2,bias,out=f16:bf16,RTZ",
    "out=bf16,stochastic=4",
)  # fmt: skip
NAN_UNITS = ("volta/mma.m8n8k4.f32.f16.f16.f32", "volta/mma.m8n8k4.f16.f16.f16.f16", "ieee/fma.f64")


def nan_case(unit: str, reduction: str, epilogue: str, rule: str) -> Case:
    """A kernel on rows with NaNs and infinities: its sums and results are NaNs in half of the elements."""
    row, numbers = named(unit), np.random.default_rng(7)
    text = ",".join(part for part in (epilogue, f"nan={rule}") if part)
    kernel = Kernel(row, reduction_named(reduction), epilogue_named(text))
    length = 2 * row.model.k + 1
    a = some_words(numbers, row.model.a_format, (M, length))
    b = some_words(numbers, row.model.b_format, (length, N))
    a[1:, 1:], b[1:, 1:] = (words & words.dtype.type(3) for words in (a[1:, 1:], b[1:, 1:]))
    c = some_words(numbers, row.model.c_format, (M, N))
    bias = some_words(numbers, kernel.schedule.working_format, (N,)) if kernel.epilogue.bias else None
    random = numbers.integers(0, 16, (M, N)) if kernel.epilogue.stochastic else None
    return Case(f"{reduction} {epilogue} {rule}", kernel, a, b, c, bias, random)


@pytest.mark.parametrize("rule", NANS)
def test_nan_words_of_a_kernel(rule: str) -> None:
    """Arrays, elements and terms, against the oracle."""
    case = nan_case(NAN_UNITS[0], "split-k:2", "alpha=2,bias,out=f16:bf16,RTZ", rule)
    assert case.judged() != "refused"


@pytest.mark.slow
@pytest.mark.parametrize("rule", NANS)
def test_nan_words_of_kernels(rule: str) -> None:
    """Every reduction, and every epilogue, in a fifth of their pairs, which are others for each rule."""
    pairs = product(enumerate(kernels.REDUCTIONS), enumerate(EPILOGUES))
    for (one, reduction), (two, epilogue) in pairs:
        if (one + two + NANS.index(rule)) % len(NANS) == 0:
            assert nan_case(NAN_UNITS[0], reduction, epilogue, rule).judged() != "refused"


@pytest.mark.long
@pytest.mark.parametrize("unit", NAN_UNITS)
@pytest.mark.parametrize("rule", NANS)
def test_nan_words_of_all_kernels(rule: str, unit: str) -> None:
    """Every reduction with every epilogue, and as a unit where it can be one."""
    made = Counter(
        nan_case(unit, reduction, epilogue, rule).judged()
        for reduction in kernels.REDUCTIONS
        for epilogue in EPILOGUES
    )
    assert made["refused"] == 0 and made["parts"] > 100
