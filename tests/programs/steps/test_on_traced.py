"""The traced reading: its last word is that of the reading on arrays; all losses together are the error."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tcsmt.language.run.exact import evaluate
from tcsmt.language.terms import const
from tcsmt.matrix_units.arithmetic.conversion import QUIET
from tcsmt.matrix_units.arithmetic.formats import FORMATS, INTEGERS, AnyFormat, Format, Specials
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS
from tcsmt.matrix_units.arithmetic.words import unsigned
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import Kind, Stage
from tcsmt.programs.steps.builder import Builder
from tcsmt.programs.steps.model import CalledTermRules
from tcsmt.programs.steps.on_arrays import ArrayRules, of_matrices, of_rows
from tcsmt.programs.steps.on_traced import TraceRules, trace
from tcsmt.programs.steps.program import ProductRun, UnitProgram, Value, read
from tcsmt.programs.steps.running_sum import COMPENSATIONS, RunningSum
from tcsmt.programs.steps.running_sum import Outside as Sums
from tcsmt.programs.steps.split import Split
from tcsmt.programs.steps.traced import TracedInstruction, TracedStep
from tcsmt.programs.steps.trees import SumOrder

F16, BF16, F32, E2M1 = (FORMATS[name] for name in ("f16", "bf16", "f32", "e2m1"))
VOLTA = row_named("volta/mma.m8n8k4.f32.f16.f16.f32").model
INT8 = row_named("ampere/mma.m16n8k32.s32.s8.s8.s32").model
SCALED = row_named("blackwell/tcgen05.mMnNk64.kind::mxf4nvf4.block32.f32.e2m1.e2m1.ue8m0").model
#: Five bits, with subnormal numbers, infinities and NaNs.
TINY = Format(name="tiny", exponent_bits=3, fraction_bits=1, bias=3, specials=Specials.IEEE)
K = 6


class ExactRules:
    """Steps on fractions: what exact arithmetic gives, of words of a split as they are."""

    def constant(self, *, fmt: AnyFormat, word: int) -> Fraction:
        return fmt.value(word)

    def split(self, x: Sequence[Fraction], *, split: Split, side: str) -> list[list[Fraction]]:
        rows = []
        for number in x:
            term = const(split.wide.word(number), split.wide.width)
            rows.append([split.format.value(word) for word in evaluate(split.apply(term), {})])
        return rows

    def chain(self, c: Fraction | None, a: Any, b: Any, *scales: Any, unit: Any, runs: Any) -> Fraction:
        total = c or Fraction(0)
        for run in runs:
            for k in run.indices.tolist():
                x, y = (a[k], b[k]) if run.words is None else (a[k][run.words[0]], b[k][run.words[1]])
                block = k // (unit.k // unit.scales) if scales else 0
                total += x * y * (scales[0][block] * scales[1][block] if scales else 1)
        return total

    def padding(self, c: Fraction, *, unit: Any) -> Fraction:
        return c

    def chain_each(self, c: None, a: Any, b: Any, **how: Any) -> list[Fraction]:
        return [self.chain(c, a, member, **how) for member in b]

    def add(self, x: Any, y: Any, *, shift: int, **_: Any) -> Any:
        return broadcast(lambda x, y: x / 2**shift + y, x, y)

    def multiply(self, x: Any, y: Any, **_: Any) -> Any:
        return broadcast(lambda x, y: x * y, x, y)

    def divide(self, x: Any, y: Any, **_: Any) -> Any:
        return broadcast(lambda x, y: x / y, x, y)

    def multiply_add(self, x: Any, y: Any, z: Any, **_: Any) -> Any:
        return broadcast(lambda x, y, z: x * y + z, x, y, z)

    def negate(self, x: Any, **_: Any) -> Any:
        return broadcast(lambda x: -x, x)

    def maximum(self, x: Any, y: Any = None, **_: Any) -> Any:
        return max(x) if y is None else broadcast(max, x, y)

    def compare(self, x: Any, y: Any, *, relation: str, **_: Any) -> Any:
        holds = {"equal": lambda x, y: x == y, "less": lambda x, y: x < y, "less_equal": lambda x, y: x <= y}
        return broadcast(holds[relation], x, y)

    def select(self, condition: Any, x: Any, y: Any, **_: Any) -> Any:
        return broadcast(lambda condition, x, y: x if condition else y, condition, x, y)

    def sum(self, x: Sequence[Fraction], **_: Any) -> Fraction:
        return sum(x, Fraction(0))

    def pick(self, x: Any, *, at: int, side: str) -> Any:
        return x[at]

    def convert(self, x: Any, **_: Any) -> Any:
        return broadcast(Fraction, x)

    def accumulate(self, x: Any, y: Any, *, shift: int, **_: Any) -> Any:
        return x / 2**shift + y

    def exponent(self, x: Any, *, fmt: Format) -> Any:
        return next((e for e in range(fmt.e_max, fmt.e_min, -1) if Fraction(2) ** e <= abs(x)), fmt.e_min)

    def scale(self, x: Any, *exponents: Any, shift: int, **_: Any) -> Any:
        return x * Fraction(2) ** (sum(exponents) - shift)

    def convert_randomly(self, x: Any, random: Any, **_: Any) -> Any:
        return x


def broadcast(operation: Any, *values: Any) -> Any:
    count = next((len(value) for value in values if isinstance(value, list)), None)
    if count is None:
        return operation(*values)
    rows = (value if isinstance(value, list) else [value] * count for value in values)
    return [operation(*row) for row in zip(*rows, strict=True)]


def values_of(fmt: AnyFormat, words: Any) -> Any:
    return [values_of(fmt, word) for word in words] if isinstance(words, list) else fmt.value(words)


def arrays_of(fmt: AnyFormat, words: Any) -> Any:
    return np.array([words], unsigned(fmt))


def check(program: UnitProgram, words: Mapping[str, Any]) -> list[TracedStep]:
    """Hold a trace against arrays and, where all is finite, against exact arithmetic."""
    steps = trace(program, words, QUIET)
    given = {name: arrays_of(step.format, words[name]) for name, step in program.inputs.items()}
    (wanted,) = read(program, ArrayRules((1,), of_rows, QUIET), given).reshape(-1)
    assert steps[-1].word == int(wanted)
    assert steps[-1].stage.kind is Kind.RESULT
    if finite(steps):
        numbers = {name: values_of(step.format, words[name]) for name, step in program.inputs.items()}
        exact = Fraction(read(program, ExactRules(), numbers))
        lost = sum((step.share for step in steps if step.kind != "split"), Fraction(0))
        assert steps[-1].format.value(steps[-1].word) + lost == exact
    return steps


def finite(steps: Sequence[TracedStep]) -> bool:
    return all(step.lost is not None for step in steps)


def pairs(fmt: AnyFormat) -> tuple[Builder, Value, Value]:
    build = Builder()
    return build, build.input("x", fmt), build.input("y", fmt)


def pair_program(fmt: AnyFormat) -> UnitProgram:
    """Steps on two words, each followed by one that sees what the first lost."""
    build, x, y = pairs(fmt)
    total = build.add(fmt, x, y, 0, ROUNDINGS["RTZ"])
    product = build.multiply(fmt, total, x, ROUNDINGS["RTP"])
    if isinstance(fmt, Format):
        half = build.constant(fmt, fmt.word(Fraction(3, 2)))
        total = build.divide(fmt, build.multiply_add(fmt, product, y, total), half)
    larger = build.maximum(fmt, total, build.negate(fmt, product), nan="ignored")
    less = build.compare(fmt, larger, build.add(fmt, x, product), "less")
    return build.program(build.select(fmt, less, build.add(fmt, larger, y), product))


@pytest.mark.slow
@pytest.mark.parametrize("fmt", [TINY, INTEGERS["s4"], INTEGERS["u4"]], ids=lambda fmt: fmt.name)
def test_all_pairs_of_a_tiny_format(fmt: AnyFormat) -> None:
    program, count = pair_program(fmt), 1 << fmt.width
    known = [finite(check(program, {"x": x, "y": y})) for x in range(count) for y in range(count)]
    assert sum(known) > len(known) // 4


@pytest.mark.parametrize("fmt", [TINY, INTEGERS["s4"]], ids=lambda fmt: fmt.name)
@given(x=st.integers(0, 15), y=st.integers(0, 15))
@settings(max_examples=8, deadline=None)
def test_some_pairs_of_a_tiny_format(fmt: AnyFormat, x: int, y: int) -> None:
    check(pair_program(fmt), {"x": x, "y": y})


def words_program() -> UnitProgram:
    """Two chains of words of splits, and sums outside."""
    build = Builder()
    operands = [build.split(build.input(side, F32, side), Split(format=F16, words=2)) for side in "AB"]
    c, random = build.input("c", F32), build.input("random", INTEGERS["u32"])
    runs = [ProductRun(np.array([5, 0, 1, 2, 3]), (1, 0)), ProductRun(np.array([4]), (0, 1))]
    first = build.chain(VOLTA, operands, runs, c)
    second = build.chain(VOLTA, operands, [ProductRun(np.arange(K), (0, 0))], None)
    first = build.padding(VOLTA, build.multiply_add(F32, first, second, first))
    total = build.add(F32, first, build.negate(F32, second), 3, ROUNDINGS["RTP"])
    total = build.multiply_add(F32, total, build.constant(F32, 0x3FC00000), second)
    half = build.convert(total, BF16, ROUNDINGS["RTZ"])
    return build.program(build.convert_randomly(half, F16, random, 32, saturate=True))


def axes_program() -> UnitProgram:
    """Operands that are scaled and converted, a maximum of a row, a zero point, a bias, an activation."""
    build = Builder()
    a, b = (build.input(side, F32, side) for side in "AB")
    scale, bias, zero = build.input("sa", F32, "A/2"), build.input("bias", F32, "b"), build.input("c", F32)
    top = build.maximum(F32, a, nan="ignored")
    x = build.convert(build.divide(F32, a, build.pick(scale, 1)), F16)
    y = build.convert(build.add(F32, b, build.negate(F32, bias)), F16)
    product = build.chain(VOLTA, [x, y], [ProductRun(np.arange(K))], None)
    rows = build.sum(F32, build.multiply(F32, a, top, ROUNDINGS["RTZ"]), SumOrder((("pairs", 0),)))
    total = build.multiply_add(F32, build.multiply(F32, product, build.pick(scale, 0)), rows, bias)
    active = build.maximum(F32, total, zero, nan="propagated")
    small = build.compare(F32, total, build.multiply(F32, bias, rows), "less_equal")
    return build.program(build.select(F32, small, active, build.add(F32, total, bias)))


def tile_program() -> UnitProgram:
    """A score for each member of a tile, and a product of these with another operand."""
    build = Builder()
    a, keys, v = build.input("A", F16, "A"), build.input("keys", F16, "tK"), build.input("V", F16, "tB")
    scores = build.chain(VOLTA, [a, keys], [ProductRun(np.arange(K))], None)
    top = build.maximum(F32, scores, nan="ignored")
    p = build.convert(build.add(F32, scores, build.negate(F32, top)), F16)
    return build.program(build.chain(VOLTA, [p, v], [ProductRun(np.arange(3))], None))


numbers = st.integers(-(1 << 12), 1 << 12).map(lambda n: int(np.float32(n / 1000).view(np.uint32)))
halves = st.integers(-(1 << 10), 1 << 10).map(lambda n: int(np.float16(n / 100).view(np.uint16)))
rows = st.lists(numbers, min_size=K, max_size=K)
positive = st.integers(1, 1 << 12).map(lambda n: int(np.float32(n / 100).view(np.uint32)))


@given(a=rows, b=rows, c=numbers, random=st.integers(0, (1 << 32) - 1))
@settings(max_examples=8, deadline=None)
def test_words_of_splits(a: list[int], b: list[int], c: int, random: int) -> None:
    steps = check(words_program(), {"A": a, "B": b, "c": c, "random": random})
    for lane, word in enumerate(a):  # the words and what the last one loses are the number
        own = [step for step in steps if step.kind == "split" and str(step.stage.block) == f"a{lane}"]
        assert sum(F16.value(step.word) for step in own) + (own[-1].lost or 0) == F32.value(word)


@given(a=rows, b=rows, scale=st.lists(positive, min_size=3, max_size=3), bias=numbers, c=numbers)
@settings(max_examples=8, deadline=None)
def test_steps_on_axes(a: list[int], b: list[int], scale: list[int], bias: int, c: int) -> None:
    check(axes_program(), {"A": a, "B": b, "sa": scale, "bias": bias, "c": c})


@given(st.lists(halves, min_size=5 * K, max_size=5 * K))
@settings(max_examples=10, deadline=None)
def test_tiles(words: list[int]) -> None:
    a, *keys = (words[at : at + K] for at in range(0, 4 * K, K))
    program = tile_program()
    steps = trace(program, {"A": a, "keys": keys, "V": words[-3:]}, QUIET)
    given = {"A": a, "keys": keys, "V": words[-3:]}
    exact = read(program, ExactRules(), {name: values_of(F16, part) for name, part in given.items()})
    assert F32.value(steps[-1].word) + sum(step.share for step in steps) == exact
    sides = {"A": np.array([a]), "keys": np.array(keys).T, "V": np.array([words[-3:]]).T}
    arrays = {name: np.asarray(part, np.uint16) for name, part in sides.items()}
    assert int(read(program, ArrayRules((1, 1), of_matrices, QUIET), arrays)[0, 0]) == steps[-1].word


@pytest.mark.parametrize("scheme", [*COMPENSATIONS])
@given(words=st.lists(st.integers(0, (1 << 23) - 1), min_size=5, max_size=5), shift=st.sampled_from([0, 3]))
@settings(max_examples=3, deadline=None)
def test_compensated_sums(scheme: str, words: list[int], shift: int) -> None:
    """One step for each addition; where steps are read one by one, the same error is told otherwise."""
    build = Builder()
    xs = [build.input(f"x{n}", F32) for n in range(5)]
    total = RunningSum(scheme, Sums(build, F32, ROUNDINGS["RNE"]))
    for number, x in enumerate(xs):
        total.add(x, shift if number else 0, number)
    program = build.program(total.result())
    given = {f"x{n}": (0x3F000000 + (n << 24)) | word for n, word in enumerate(words)}
    steps = trace(program, given, QUIET)
    finite = [Fraction(F32.value(given["x0"])), *(F32.value(given[f"x{n}"]) / 2**shift for n in range(1, 5))]
    assert F32.value(steps[-1].word) + sum(step.share for step in steps) == sum(finite)
    single = check(UnitProgram(program.steps, program.output), given)
    assert single[-1].word == steps[-1].word and len(single) > len(steps)


def test_integers_of_a_chain_wrap() -> None:
    build = Builder()
    a, b = (build.input(side, INTEGERS["s8"], side) for side in "AB")
    c = build.input("c", INTEGERS["s32"])
    total = build.chain(INT8, [a, b], [ProductRun(np.arange(4))], c)
    zero = build.sum(INTEGERS["s32"], build.convert(a, INTEGERS["s32"]), SumOrder())
    total = build.negate(INTEGERS["s32"], build.add(INTEGERS["s32"], total, zero))
    steps = check(
        build.program(build.convert(total, F32)),
        {"A": [0x7F, 0x80, 1, 2], "B": [0x7F, 0x80, 3, 4], "c": 0x7FFFFFF0},
    )
    assert any(step.lost == 2**32 for step in steps if isinstance(step, TracedInstruction))
    build = Builder()
    lowest = build.program(build.negate(INTEGERS["s32"], build.input("c", INTEGERS["s32"])))
    assert check(lowest, {"c": 1 << 31})[0].lost == 1 << 32


def test_block_scales() -> None:
    build = Builder()
    operands = [build.input(side, E2M1, side) for side in "AB"]
    scales = [build.input(f"s{side}", FORMATS["ue8m0"], f"{side}/32") for side in "AB"]
    k = 2 * SCALED.k - 32
    program = build.program(
        build.chain(SCALED, [*operands, *scales], [ProductRun(np.arange(k))], build.input("c", F32))
    )
    rng = np.random.default_rng(3)
    words = {side: rng.integers(0, 16, k).tolist() for side in "AB"}
    words |= {f"s{side}": rng.integers(110, 140, k // 32).tolist() for side in "AB"}
    steps = check(program, {**words, "c": 0x3F812345})
    assert [step.count for step in steps if isinstance(step, TracedInstruction)] == [64, 32]


@given(words=st.lists(numbers, min_size=3, max_size=3), shift=st.integers(0, 9))
@settings(max_examples=12, deadline=None)
def test_powers_of_two_and_sums_of_two_formats(words: list[int], shift: int) -> None:
    build = Builder()
    x, y, z = (build.input(name, F32) for name in "xyz")
    power = build.exponent(build.maximum(F32, x, y, nan="ignored"))
    scaled = build.scale(F16, build.add(F32, x, z), [power, power], shift)
    total = build.accumulate(F32, scaled, build.multiply(F32, scaled_up(build, y), z), shift)
    check(build.program(build.convert(total, F16)), dict(zip("xyz", words, strict=True)))


def scaled_up(build: Builder, x: Value) -> Value:
    return build.scale(F32, x, [build.exponent(x)], 3)


def test_what_is_not_finite_is_said_to_be() -> None:
    build, x, y = pairs(F32)
    total = build.add(F32, build.maximum(F32, x, y, nan="ignored"), build.multiply(F32, x, y))
    steps = check(build.program(total), {"x": 0x7F000000, "y": 0x7F000000})
    assert [step.lost for step in steps] == [0, None, None, None]


def test_every_kind_of_step_has_a_rule() -> None:
    """As those of the reading on arrays, which has all."""
    kinds = {name for name, rule in vars(ArrayRules).items() if name[0] != "_" and callable(rule)}
    assert not {name for name in kinds if not hasattr(TraceRules, name)}


def test_steps_are_called_as_in_the_model() -> None:
    """Operations outside have the numbers that a program's model gives them."""
    program, words, scale = axes_program(), [0x3E99999A + n for n in range(K)], [0x3F812345] * 3
    given: dict[str, Any] = {"A": words, "B": words, "sa": scale, "bias": words[0], "c": 0}
    stages: list[Stage] = []
    terms = {
        name: [const(word, 32) for word in part] if isinstance(part, list) else const(part, 32)
        for name, part in given.items()
    }
    read(program, CalledTermRules(stages, QUIET), terms)
    of_model = [stage.place for stage in stages if stage.block is None]
    own = [step.stage.place for step in trace(program, given, QUIET) if step.stage.block is None]
    assert [place for place in own[:-1] if place[2] is not None] == of_model
