"""Matrix products: every element a chain of instructions, padding."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tcsmt
from tcsmt.language.run import jit
from tcsmt.language.terms import const
from tcsmt.language.write.llvm import declared
from tcsmt.matrix_units.arithmetic.datapath import Exponent
from tcsmt.matrix_units.arithmetic.formats import float_format
from tcsmt.matrix_units.arithmetic.words import unsigned
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import IeeeDotAdd, Kind, Model, Operands
from tcsmt.matrix_units.resolve import resolve
from tcsmt.prove.engine.engine import decide
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.question import ComparedModel, Question
from tcsmt.prove.statements.verdict import Equivalent
from tcsmt.simulate import compiled, matmul
from tcsmt.simulate.compiled import kernel
from tcsmt.simulate.float_kernels import FloatColumns, FloatRows
from tcsmt.simulate.forms.proved_forms import proved_block
from tcsmt.simulate.rows import run_words
from tcsmt.support.errors import TcsmtError
from tests.oracles import exact
from tests.support.sampling import mostly_long

MODELS = (
    "volta",
    "ampere",
    "hopper",
    "ada/mma.m16n8k32.f32.e4m3.e4m3.f32",
    "hopper/mma.m16n8k32.f32.e4m3.e4m3.f32",
    "hopper/mma.m16n8k16.f16.f16.f16.f16",
)


def uniform(fmt: Any, shape: tuple[int, ...], seed: int) -> Any:
    """Uniform words of a format."""
    return np.random.default_rng(seed).integers(0, 1 << fmt.width, shape, dtype=unsigned(fmt))


def matrices(model: Model, m: int, length: int, n: int) -> tuple[Any, Any, Any]:
    """Uniform words for A, B and C."""
    shapes = ((model.a_format, (m, length)), (model.b_format, (length, n)), (model.c_format, (m, n)))
    a, b, c = (uniform(fmt, shape, seed) for seed, (fmt, shape) in enumerate(shapes))
    return a, b, c


def one_by_one(model: Model, a: Any, b: Any, c: Any) -> Any:
    """Every element on its own, the last instruction padded with zeros."""
    result = np.empty(c.shape, dtype=unsigned(model.d_format))
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            word = c[i, j]
            for first in range(0, a.shape[1], model.k):
                x, y = np.zeros((2, 1, model.k), dtype=a.dtype)
                part = a[i, first : first + model.k]
                x[0, : len(part)], y[0, : len(part)] = part, b[first : first + model.k, j]
                word = run_words(model, Operands(x, y, np.array([word])))[0]
            result[i, j] = word
    return result


#: What is slow to compile is long.
SLOW = [pytest.param(True, marks=pytest.mark.long), False]


@pytest.mark.parametrize("compile_all", SLOW)
@pytest.mark.parametrize("name", mostly_long(MODELS[1:], [MODELS[-1]]))
def test_long_chains(name: str, compile_all: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    chained(name, compile_all, monkeypatch)


@pytest.mark.parametrize("compile_all", [True, False])
def test_chains(compile_all: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    chained(MODELS[0], compile_all, monkeypatch)


def chained(name: str, compile_all: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if compile_all and not jit.available():
        pytest.skip("the extra `fast` is not installed")
    monkeypatch.setattr(matmul, "WORTH_COMPILING", 0 if compile_all else 1 << 60)
    monkeypatch.setattr(matmul, "compiled", lambda model: compile_all)
    monkeypatch.setattr(matmul, "_PORTION", 64)
    model = row_named(name).model
    a, b, c = matrices(model, 5, 2 * model.k + 3, 19)
    expected = one_by_one(model, a, b, c)
    assert np.array_equal(tcsmt.gemm(a, b, c, unit=name).view(expected.dtype), expected)


@pytest.mark.slow
@pytest.mark.parametrize("compile_all", SLOW)
@pytest.mark.parametrize(
    "name",
    [
        "rtx-blackwell/mma.m16n8k32.kind::mxf8f6f4.block32.f32.e4m3.e2m1.f32.ue8m0",
        pytest.param(
            "b200/tcgen05.mMnNk64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3", marks=pytest.mark.long
        ),
    ],
)
def test_block_scales(name: str, compile_all: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    scaled(name, compile_all, monkeypatch)


def test_block_scales_compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two blocks of 16 lanes, of which one is a group."""
    file = tmp_path / "narrow.toml"
    base = "b200/tcgen05.mMnNk64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3"
    file.write_text(f'base = "{base}"\nk = 32\nn_fma = 32\n')
    scaled(str(file), True, monkeypatch)


def scaled(name: str, compile_all: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if compile_all and not jit.available():
        pytest.skip("the extra `fast` is not installed")
    monkeypatch.setattr(matmul, "WORTH_COMPILING", 0 if compile_all else 1 << 60)
    monkeypatch.setattr(matmul, "compiled", lambda model: compile_all)
    model = resolve(name).row.model
    fmt, block = model.scale_format, model.k // model.scales
    assert fmt is not None
    m, length, n = 3, 2 * model.k + block, 18
    a, b, c = matrices(model, m, length, n)
    scale_a, scale_b = uniform(fmt, (m, length // block), 7), uniform(fmt, (length // block, n), 8)
    got = tcsmt.gemm(a, b, c, unit=name, scale_a=scale_a, scale_b=scale_b)
    padding = -length % model.k
    a, b = np.pad(a, ((0, 0), (0, padding))), np.pad(b, ((0, padding), (0, 0)))
    missing = -(length // block) % model.scales
    scale_a, scale_b = np.pad(scale_a, ((0, 0), (0, missing))), np.pad(scale_b, ((0, missing), (0, 0)))
    for i in range(m):
        for j in range(n):
            word = c[i : i + 1, j]
            for step in range(a.shape[1] // model.k):
                k, s = (slice(step * each, (step + 1) * each) for each in (model.k, model.scales))
                factors = (a[i : i + 1, k], b[k, j][None])
                word = run_words(model, Operands(*factors, word, scale_a[i : i + 1, s], scale_b[s, j][None]))
            assert got[i, j].view(word.dtype) == word[0]
    halves = tcsmt.split_k(2)
    with pytest.raises(TcsmtError, match="a part must be made of whole blocks"):
        tcsmt.gemm(a[:, :-block], b[:-block], unit=name, scale_a=scale_a[:, :-1], scale_b=scale_b[:-1],
                   reduction=tcsmt.promoted(block + 1))  # fmt: skip
    with pytest.raises(TcsmtError, match="scale_b is missing: the unit takes one"):
        tcsmt.gemm(a, b, unit=name, scale_a=scale_a, reduction=halves)
    with pytest.raises(TcsmtError, match="scale_a has shape"):
        tcsmt.gemm(a, b, unit=name, scale_a=scale_b, scale_b=scale_b)
    with pytest.raises(TcsmtError, match="scale_a is given, but the unit has no block scales"):
        tcsmt.gemm(np.ones((2, 2)), np.ones((2, 2)), unit="hopper", scale_a=scale_a)


@pytest.mark.parametrize("name", ["volta", "ampere", "hopper", "hopper/mma.m16n8k16.f16.f16.f16.f16"])
def test_padding_with_zeros_changes_nothing(name: str) -> None:
    """Proved: a lane of zeros never has the largest exponent alone; aligned, it is zero."""
    model = row_named(name).model.replace(k=4, n_fma=4)
    shorter = model.replace(k=3, n_fma=3)
    whole = model.trace
    a, b = [*whole.a[:-1], const(0, 16)], [*whole.b[:-1], const(0, 16)]
    left = model.apply(Operands(a, b, whole.c))
    right = shorter.apply(Operands(whole.a[:-1], whole.b[:-1], whole.c))
    tops = [stage.value for trace in (left, right) for stage in trace.of(Kind.LARGEST_EXPONENT)]
    with_zeros, without = tops
    assert isinstance(with_zeros, Exponent) and isinstance(without, Exponent)
    assert with_zeros.low == without.low
    question = Question(
        title="a lane of zeros",
        sides=(ComparedModel("with", model, left), ComparedModel("without", shorter, right)),
        goal=with_zeros.term.ne(without.term),
        formats=shorter.input_formats,
    )
    assert isinstance(decide(question, Solving(SolvingOptions("auto", 60, 4096))).verdict, Equivalent)


@pytest.mark.library
def test_results_that_numpy_cannot_add() -> None:
    """Words of a format without a dtype: chained by the unit alone."""
    unit = "wormhole/mvmul.f32.bf16.phase0"
    rng = np.random.default_rng(7)
    a, b = (rng.integers(-3, 4, shape).astype(np.float32) / 4 for shape in ((2, 40), (40, 3)))
    c = np.full((2, 3), 1.5, np.float32)
    got = tcsmt.gemm(a, b, c, unit=unit)
    assert got.dtype == np.uint32
    assert np.array_equal(got.view(np.float32), a @ b + c)
    refused: list[dict[str, Any]] = [{"alpha": 2.0}, {"beta": 0.5}, {"epilogue": "c=epilogue"}]
    for options in refused:
        with pytest.raises(TcsmtError, match="the unit's results are e8m23fn words"):
            tcsmt.gemm(a, b, c, unit=unit, **options)
    with pytest.raises(TcsmtError, match="e8m23fn: must be a format with infinities"):
        tcsmt.gemm(a, b, c, unit=unit, reduction="promote:16")
    doubled = tcsmt.gemm(a, b, c, unit=unit, epilogue="alpha=2,out=f32")
    assert doubled.dtype == np.float32
    assert np.array_equal(doubled, 2 * (a @ b) + c)


@pytest.mark.library
def test_ieee_reference_units_multiply_too() -> None:
    """A chain of binary64 fused multiply-adds."""
    double = IeeeDotAdd.of(
        a_format="f64", b_format="f64", c_format="f64", d_format="f64", sum_format="f64", k=4, method="fma"
    )
    rng = np.random.default_rng(4)
    a, b = rng.standard_normal((3, 6)), rng.standard_normal((6, 2))
    assert np.allclose(tcsmt.gemm(a, b, unit=double), a @ b)


@pytest.mark.parametrize(
    ("a", "b", "c", "message"),
    [
        (
            (2, 3),
            (4, 2),
            None,
            r"A \(2, 3\) and B \(4, 2\): the number of columns of A must equal the number of rows of B",
        ),
        ((2, 3), (3, 2), (2, 3), r"C has shape \(2, 3\): must be \(2, 2\)"),
        ((2,), (2, 2), None, r"A has shape \(2,\): must be a matrix"),
        ((2, 0), (0, 2), None, r"A has shape \(2, 0\)"),
    ],
)
def test_shapes(a: Any, b: Any, c: Any, message: str) -> None:
    arrays = [None if shape is None else np.zeros(shape, dtype=np.float32) for shape in (a, b, c)]
    with pytest.raises(TcsmtError, match=message):
        tcsmt.gemm(*arrays, unit="hopper")


def test_other_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    one = np.ones((2, 8), dtype=np.float16)
    with pytest.raises(TcsmtError, match=r"B\[0, 0\] = 0.1 is not a valid f16 value"):
        tcsmt.gemm(one, np.full((8, 2), 0.1), unit="hopper")
    with pytest.raises(TcsmtError, match="A has dtype int64"):
        tcsmt.gemm(one.astype(int), one.T, unit="hopper")
    with pytest.raises(TcsmtError, match="K is at most 4"):
        tcsmt.gemm(one, one.T, unit="volta/mma.m8n8k4.f32.f16.f16.f16")
    monkeypatch.setattr(os, "sysconf", lambda name: 4)
    with pytest.raises(TcsmtError, match="a result of 2 x 2 needs"):
        tcsmt.gemm(one, one.T, unit="hopper")


FLOATS = (
    "hopper/mma.m16n8k16.f32.f16.f16.f32",
    "hopper/wgmma.m64nNk32.f32.e4m3.e4m3",
    "hopper/mma.m16n8k16.f32.bf16.bf16.f32",
    "ampere/mma.m16n8k16.f32.f16.f16.f32",
    "ampere/mma.m16n8k8.f32.tf32.tf32.f32",
)
#: From zeros and subnormal numbers to the largest; c from far below to far above the products.
EXPONENTS = ((0, 0, 0), (-30, 2, -60), (-9, 9, 0), (4, 15, 40), (-20, 16, -126))


def special(fmt: Any, words: Any) -> Any:
    """Which words are NaNs or infinities."""
    size = words & ((1 << fmt.sign_bit) - 1)
    return size >= fmt.infinity_word if fmt.has_infinity else size == fmt.nan_word


@pytest.mark.skipif(not jit.available(), reason="the extra `fast` is not installed")
@pytest.mark.parametrize("m", mostly_long([48, 4800], [48]))
@pytest.mark.parametrize("name", FLOATS)
def test_products_by_floats_are_an_oracles(name: str, m: int) -> None:
    """Chains of instructions on the form in floating-point operations, against exact integers."""
    model = row_named(name).model
    assert kernel(model).columns().prepare("a", np.zeros((1, 1), np.uint16))
    rng = np.random.default_rng(7)
    n, length = 40, 2 * model.k
    for low, high, of_c in EXPONENTS:
        a, b, c = matrices(model, m, length, n)
        for any_format, words in ((model.a_format, a), (model.b_format, b)):
            fmt = float_format(any_format)
            fields = np.clip(rng.integers(low, high + 1, words.shape) + fmt.bias, 0, fmt.e_max + fmt.bias)
            place = fmt.fraction_bits + fmt.ignored_low_bits
            words &= (1 << place) - 1 | 1 << fmt.sign_bit
            words |= (fields << place).astype(words.dtype)
            words[special(fmt, words) | (rng.random(words.shape) < 0.1)] = 0
        a[:8] &= 1 << model.a_format.sign_bit  # rows of zeros of either sign
        fields = np.clip(rng.integers(of_c - 3, of_c + 40, c.shape) + 127, 0, 254).astype(np.uint32)
        c = c & 0x807FFFFF | fields << 23
        c[rng.random(c.shape) < 0.1] &= 0x80000000
        result = matmul.chain_words(model, Operands(a, b, c), matmul.Progress(1, None))
        word = c.reshape(-1)
        for step in range(2):
            lanes = range(step * model.k, (step + 1) * model.k)
            columns = {f"a{i}": np.repeat(a[:, lane], n) for i, lane in enumerate(lanes)}
            columns |= {f"b{i}": np.tile(b[lane], m) for i, lane in enumerate(lanes)}
            word = exact.results(model, columns | {"c": word}).astype(np.uint32)
        assert np.array_equal(result.reshape(-1), word)


@pytest.mark.skipif(not jit.available(), reason="the extra `fast` is not installed")
@pytest.mark.parametrize("name", FLOATS)
def test_products_by_floats_of_any_words_are_the_integer_forms(name: str) -> None:
    """NaNs and infinities everywhere, and several blocks of steps."""
    model = row_named(name).model
    a, b, c = matrices(model, 20, 40 * model.k, 70)
    keep = np.random.default_rng(1).random(c.shape) < 0.5
    c[keep] = 0x3F800000
    for fmt, words in ((model.a_format, a), (model.b_format, b)):
        words[special(fmt, words) & (np.random.default_rng(2).random(words.shape) < 0.9)] = 0
    x = Operands(a, b, c)
    by_floats = matmul.chain_words(model, x, matmul.Progress(1, None))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiled, "usual_floats", lambda: False)
        by_integers = matmul.chain_words(model, x, matmul.Progress(1, None))
    assert np.array_equal(by_floats, by_integers)
    nan = np.isnan(by_floats.view(np.float32))
    assert 0 < nan.mean() < 1


@pytest.mark.skipif(not jit.available(), reason="the extra `fast` is not installed")
def test_a_thread_that_flushes_subnormals_runs_on_integers(monkeypatch: pytest.MonkeyPatch) -> None:
    made, words = kernel(row_named(FLOATS[1]).model), np.zeros((1, 32), np.uint8)
    assert made.columns().prepare("b", words)
    monkeypatch.setattr(compiled, "usual_floats", lambda: False)
    assert not made.columns().prepare("b", words)


@pytest.mark.skipif(not jit.available(), reason="the extra `fast` is not installed")
def test_products_in_blocks_are_those_of_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few rows and few steps at a time, and the last block smaller."""
    model = row_named(FLOATS[3]).model
    a, b, c = matrices(model, 53, 9 * model.k, 40)
    words = Operands(a & 0xBFFF, b & 0xBFFF, c & 0xBFFFFFFF)
    whole = matmul.chain_words(model, words, matmul.Progress(1, None))
    monkeypatch.setattr(matmul, "_NEAR", 4 * model.k * 32 * 6)
    monkeypatch.setattr(matmul, "_ROWS", 16)
    assert np.array_equal(matmul.chain_words(model, words, matmul.Progress(1, None)), whole)


@pytest.mark.skipif(not jit.available(), reason="the extra `fast` is not installed")
@pytest.mark.parametrize("name", [FLOATS[1], FLOATS[3]])
def test_code_for_another_processor_calls_no_function(name: str) -> None:
    """AArch64 has an instruction for each operation, too."""
    import llvmlite.binding as llvm

    block = proved_block(row_named(name).model)
    assert block is not None
    source = FloatColumns.of(block)
    assert source is not None
    texts = [source.outer(), source.prepare("a"), source.prepare("b")]
    texts += [FloatRows(row_named(name).model, block).rows()]
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    target = llvm.Target.from_triple("aarch64-linux-gnu")
    machine = target.create_target_machine(cpu="neoverse-n1", opt=1, reloc="pic")
    lines = [
        line.split()
        for text in texts
        for line in machine.emit_assembly(llvm.parse_assembly(declared(text))).splitlines()
    ]
    assert any(line[:1] == ["fcvtzs"] for line in lines)
    assert not any(line[:1] == ["bl"] for line in lines)
