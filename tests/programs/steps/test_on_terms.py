"""The reading as terms agrees with the one on arrays, and calls its stages by their places."""

from __future__ import annotations

from typing import Any

import numpy as np

from tcsmt.language.run.exact import evaluate
from tcsmt.language.terms import const, var
from tcsmt.matrix_units.arithmetic.conversion import QUIET
from tcsmt.matrix_units.arithmetic.formats import FORMATS, INTEGERS
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS
from tcsmt.matrix_units.arithmetic.words import from_words, unsigned
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import Kind, Stage
from tcsmt.programs.kernels.gemm import gemm
from tcsmt.programs.steps.builder import Builder
from tcsmt.programs.steps.on_arrays import ArrayRules, of_matrices, of_rows
from tcsmt.programs.steps.on_terms import TermRules
from tcsmt.programs.steps.program import ProductRun, UnitProgram, read
from tcsmt.programs.steps.split import Split
from tcsmt.programs.steps.trees import SumOrder

F16, BF16, F32, E4M3 = (FORMATS[name] for name in ("f16", "bf16", "f32", "e4m3"))
UNIT = row_named("volta/mma.m8n8k4.f32.f16.f16.f32").model
K = 6


def every_step() -> UnitProgram:
    build = Builder()
    operands = [build.split(build.input(side, F32, side), Split(format=F16, words=2)) for side in "AB"]
    c, bias = build.input("c", F32), build.input("bias", F32)
    random = build.input("random", INTEGERS["u32"])
    runs = [ProductRun(np.array([5, 0, 1, 2, 3]), (1, 0)), ProductRun(np.array([4]), (0, 1))]
    first = build.chain(UNIT, operands, runs, c)
    second = build.note(
        build.chain(UNIT, operands, [ProductRun(np.arange(K), (0, 0))], None), Kind.SUM_OUTSIDE, 1
    )
    total = build.add(F32, first, build.negate(F32, second), 3, ROUNDINGS["RTP"])
    total = build.multiply_add(F32, build.add(F32, total, bias), build.constant(F32, 0x3FC00000), second)
    half = build.convert(total, BF16, ROUNDINGS["RTZ"])
    return build.program(build.convert_randomly(half, E4M3, random, 32, saturate=True))


def test_terms_and_arrays_are_one_program() -> None:
    program, rng = every_step(), np.random.default_rng(4)
    a, b = (rng.standard_normal((40, K)).astype(np.float32).view(np.uint32) for _ in "ab")
    c, bias = (rng.standard_normal(40).astype(np.float32).view(np.uint32) for _ in "ab")
    a[7, 2], b[9, 1], c[11] = 0x7F800000, 0x7FC00001, 0xFF800000
    random = rng.integers(0, 1 << 32, 40, np.uint32)
    given: dict[str, Any] = {"A": a, "B": b, "c": c, "bias": bias, "random": random}
    found = read(program, ArrayRules((40,), of_rows, QUIET), given)
    stages: list[Stage] = []
    terms = {
        "A": [var(f"a{n}", 32) for n in range(K)], "B": [var(f"b{n}", 32) for n in range(K)],
        **{name: var(name, 32) for name in ("c", "bias", "random")},
    }  # fmt: skip
    word = read(program, TermRules(stages, QUIET), terms)
    for row in range(40):
        values = {f"a{n}": int(a[row, n]) for n in range(K)} | {f"b{n}": int(b[row, n]) for n in range(K)}
        values |= {name: int(given[name][row]) for name in ("c", "bias", "random")}
        assert list(evaluate([word], values)) == [int(found[row])], row
    assert len({stage.place for stage in stages}) == len(stages)
    assert [stage.lane for stage in stages if stage.kind is Kind.SUM_OUTSIDE] == [1]
    instructions = [stage for stage in stages if stage.kind is Kind.INSTRUCTION]
    assert len(instructions) == 3 + 2


def every_step_on_axes() -> UnitProgram:
    """Steps on words of a row and of a column, and what becomes one word of them."""
    build = Builder()
    a, b = (build.input(side, F32, side) for side in "AB")
    scale, bias = build.input("sa", F32, "A/2"), build.input("bias", F32, "b")
    top = build.maximum(F32, a, nan="ignored")
    less = build.add(F32, a, build.negate(F32, top))
    row = build.sum(
        F32, build.multiply(F32, less, build.constant(F32, 0x3FA00000)), SumOrder((("pairs", 0),))
    )
    column = build.sum(F32, b, SumOrder((("order", 3), ("reversed", 2))), ROUNDINGS["RTZ"])
    ratio = build.divide(F32, row, build.pick(scale, 1), ROUNDINGS["RTP"])
    total = build.multiply(F32, ratio, build.add(F32, column, bias), ROUNDINGS["RTN"])
    larger = build.maximum(F32, total, build.pick(b, 3), nan="propagated")
    small = build.compare(F32, total, bias, "less")
    return build.program(build.select(F32, small, larger, build.divide(F32, total, top)))


def test_axes_on_terms_rows_and_matrices() -> None:
    """A matrix product's element (i, j) is what its row and column give."""
    program, rng = every_step_on_axes(), np.random.default_rng(8)
    a, scale = (rng.standard_normal((3, size)).astype(np.float32) for size in (K, K // 2))
    b, bias = (rng.standard_normal((size, 4)).astype(np.float32) for size in (K, 1))
    a[1, 2], b[3, 2], scale[2, 1] = np.nan, np.inf, 0
    given = {"A": a, "B": b, "sa": scale, "bias": bias}
    words: dict[str, Any] = {name: array.view(np.uint32) for name, array in given.items()}
    found = read(program, ArrayRules((3, 4), of_rows, QUIET), words)
    i, j = (part.reshape(-1) for part in np.indices((3, 4)))
    rows = {
        "A": words["A"][i], "B": words["B"].T[j], "sa": words["sa"][i], "bias": words["bias"][0, j],
    }  # fmt: skip
    assert (read(program, ArrayRules((12,), of_rows, QUIET), rows) == found.reshape(-1)).all()
    lengths = {"A": K, "B": K, "sa": K // 2}
    terms: dict[str, Any] = {
        name: [var(f"{name}{n}", 32) for n in range(length)] for name, length in lengths.items()
    }
    word = read(program, TermRules([], QUIET), {**terms, "bias": var("bias", 32)})
    for row in range(12):
        values = {
            f"{name}{n}": int(rows[name][row, n]) for name, size in lengths.items() for n in range(size)
        }
        (own,) = evaluate([word], values | {"bias": int(rows["bias"][row])})
        assert own == int(found.reshape(-1)[row]), row


def test_integers_wrap() -> None:
    """On terms and on arrays, in formats of any width."""
    for name in ("s32", "s8", "u4"):
        fmt = INTEGERS[name]
        build = Builder()
        x = build.input("A", fmt, "A")
        total = build.sum(fmt, x, SumOrder())
        result = build.multiply(fmt, build.negate(fmt, total), build.add(fmt, build.pick(x, 0), total))
        program = build.program(result)
        words = np.random.default_rng(1).integers(0, 1 << fmt.width, (20, 5)).astype(unsigned(fmt))
        found = read(program, ArrayRules((20,), of_rows, QUIET), {"A": words})
        whole = [[fmt.count(int(word)) for word in row] for row in words]
        assert found.tolist() == [fmt.word_of_count(-sum(row) * (row[0] + sum(row))) for row in whole]
        terms = [var(f"x{n}", fmt.width) for n in range(5)]
        word = read(program, TermRules([], QUIET), {"A": terms})
        for row, wanted in zip(words[:4], found, strict=False):
            assert list(evaluate([word], {f"x{n}": int(value) for n, value in enumerate(row)})) == [wanted]


def test_block_scales_are_those_of_the_blocks() -> None:
    """Of an instruction with two scales a side, on terms, rows and matrices: blocks of one chain in turn."""
    unit = row_named("blackwell/tcgen05.mMnNk64.kind::mxf4nvf4.block32.f32.e2m1.e2m1.ue8m0").model
    k, block = 2 * unit.k - 32, 32
    build = Builder()
    operands = [build.input(side, unit.a_format, side) for side in "AB"]
    scales = [build.input(f"s{side}", FORMATS["ue8m0"], f"{side}/{block}") for side in "AB"]
    halves = [ProductRun(np.arange(32, k)), ProductRun(np.arange(32))]
    program = build.program(build.chain(unit, [*operands, *scales], halves, None))
    rng = np.random.default_rng(2)
    a, b = (rng.integers(0, 16, size).astype(np.uint8) for size in ((3, k), (k, 2)))
    sa, sb = (rng.integers(120, 134, size).astype(np.uint8) for size in ((3, k // block), (k // block, 2)))
    given = {"A": a, "B": b, "sA": sa, "sB": sb}
    found = read(program, ArrayRules((3, 2), of_matrices, QUIET), given)
    own: Any = None
    for part, blocks in ((slice(32, k), slice(1, None)), (slice(32), slice(1))):
        x, y = from_words(unit.a_format, a[:, part]), from_words(unit.b_format, b[part])
        of = {"scale_a": sa[:, blocks], "scale_b": sb[blocks]}
        own = gemm(x, y, own, model=unit, **of)
    assert (found == own.view(np.uint32)).all()
    i, j = (part.reshape(-1) for part in np.indices((3, 2)))
    rows = {"A": a[i], "B": b.T[j], "sA": sa[i], "sB": sb.T[j]}
    assert (read(program, ArrayRules((6,), of_rows, QUIET), rows) == found.reshape(-1)).all()
    terms = {
        name: [const(int(word), 8 if name[0] == "s" else unit.a_format.width) for word in words[4]]
        for name, words in rows.items()
    }
    assert list(evaluate([read(program, TermRules([], QUIET), terms)], {})) == [found.reshape(-1)[4]]
