"""Kernels of forms in floating-point operations, against the models' own graphs."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tcsmt.language.run.arrays import Program
from tcsmt.language.terms import Term, var
from tcsmt.matrix_units.arithmetic.datapath import decode
from tcsmt.matrix_units.arithmetic.formats import FORMATS, Format, float_format
from tcsmt.matrix_units.arithmetic.ieee import widen
from tcsmt.matrix_units.arithmetic.native import from_half, half_word, through_half, to_half
from tcsmt.matrix_units.arithmetic.words import operand_words, unsigned
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import Model, Operands
from tcsmt.simulate.forms.proved_forms import proved_block
from tcsmt.simulate.rows import _columns, _program
from tests.support import aarch64
from tests.support.sampling import mostly_long

pytest.importorskip("llvmlite", reason="the extra `fast` is not installed")

from tcsmt.language.run import jit
from tcsmt.language.run.jit import functions
from tcsmt.language.write.llvm import Emitter, declared, over_groups, schedule
from tcsmt.simulate import compiled, matmul
from tcsmt.simulate.compiled import AdaptiveDispatch, MachineCode
from tcsmt.simulate.float_kernels import FloatColumns, FloatRows

ROWS = (
    "hopper/mma.m16n8k16.f32.f16.f16.f32",
    "hopper/wgmma.m64nNk32.f32.e4m3.e4m3",
    "hopper/mma.m16n8k16.f32.bf16.bf16.f32",
    "ampere/mma.m16n8k16.f32.f16.f16.f32",
    "ampere/mma.m16n8k8.f32.tf32.tf32.f32",
    "volta/mma.m8n8k4.f32.f16.f16.f32",
)
#: By way of binary64: results of binary16, and sums rounded to odd.
WITH_DOUBLES = ("arm/fdot.f16.e4m3.e4m3", "arm/bfdot.ebf0")


@pytest.mark.parametrize(
    ("name", "with_half", "without"),
    [
        ("hopper/mma.m16n8k16.f32.f16.f16.f32", True, False),
        ("hopper/mma.m16n8k16.f32.bf16.bf16.f32", True, True),
        ("blackwell/tcgen05.mMnNk64.kind::mxf4.block32.f32.e2m1.e2m1.ue8m0", True, True),
        ("cdna3/v_mfma_f32_32x32x8_f16", True, False),
        ("cdna3/v_mfma_f32_32x32x16_fp8_fp8", False, False),
    ],
)
def test_rows_run_on_forms_where_operands_are_converted_fast(
    name: str, with_half: bool, without: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of FP4 groups nothing is converted; of CDNA3's FP8 units what comes after takes most."""
    block = proved_block(row_named(name).model)
    assert block is not None
    for converts, pays in ((True, with_half), (False, without)):
        monkeypatch.setattr("tcsmt.simulate.float_kernels.converts_half", lambda own=converts: own)
        assert FloatRows.pays(block) == pays


def words_of(model: Model, rows: int, seed: int, special: float) -> list[Any]:
    """Words with every exponent, zeros among them, and NaNs and infinities in a share of the rows."""
    rng = np.random.default_rng(seed)
    arrays = []
    for fmt, shape in (
        (model.a_format, (rows, model.k)),
        (model.b_format, (rows, model.k)),
        (model.c_format, (rows,)),
    ):
        words = rng.integers(0, 1 << fmt.width, shape, dtype=unsigned(fmt))
        x = decode(float_format(fmt), var("x", fmt.width))
        flags = Program([x.nan, x.infinite])
        nan, infinite = flags.run({"x": words.reshape(-1)})
        some = (nan | infinite).astype(bool).reshape(shape)
        keep = rng.random(rows) < special
        words[some & ~(keep if words.ndim == 1 else keep[:, None])] = 0
        arrays.append(words)
    return arrays


def numbers_of(model: Model, rows: int, seed: int) -> list[Any]:
    """Words of normally distributed numbers."""
    rng, shape = np.random.default_rng(seed), (rows, model.k)
    formats = (model.a_format, shape), (model.b_format, shape), (model.c_format, (rows,))
    return [operand_words(fmt, rng.standard_normal(own), "x", "nearest-even") for fmt, own in formats]


@pytest.mark.parametrize("special", [0.0, 0.001, 0.05, 1.0])
@pytest.mark.parametrize("name", mostly_long(ROWS, ROWS[:3]))
@pytest.mark.slow_cases(
    "hopper/wgmma.m64nNk32.f32.e4m3.e4m3-0.0",
    "hopper/wgmma.m64nNk32.f32.e4m3.e4m3-0.05",
    "hopper/wgmma.m64nNk32.f32.e4m3.e4m3-1.0",
)
def test_rows_are_the_models(name: str, special: float) -> None:
    """With vectors that fail nowhere, here and there, and everywhere; the last one is not full."""
    model = row_named(name).model
    words = words_of(model, 40_007, 5, special)
    expected = _program(model).run(_columns(model, Operands(*words)))[0]
    code = MachineCode(model)._rows_by_floats
    if not jit.converts_half() and code is None:
        pytest.skip("this processor has no instruction that converts binary16")
    assert code is not None
    assert np.array_equal(code.run(words), expected)


@pytest.mark.parametrize("name", ROWS[:2])
def test_prepared_words(name: str) -> None:
    """All words, in arrays of any shape: each result of a and of b, a's repeated where it is short."""
    model = row_named(name).model
    block, made = proved_block(model), MachineCode(model).columns()
    assert block is not None
    source = FloatColumns.of(block)
    assert source is not None
    count = (1 << model.a_format.width) + 3
    words = np.arange(count).astype(unsigned(model.a_format)).reshape(1, -1)
    for own in source.prepared:
        expected = Program([lanes[0] for lanes in own.terms]).run({str(own.words[0].data): words.reshape(-1)})
        for bits, stored, column, result in zip(
            own.bits, source.stored_bits(own.name), expected, made.prepare(own.name, words), strict=True
        ):
            column = column.astype(np.uint64)
            if stored > bits:
                column |= column << np.uint64(bits)
            assert result.shape == words.shape
            assert result.dtype.itemsize * 8 == stored
            assert np.array_equal(result.reshape(-1), column)


@pytest.mark.parametrize(
    ("conversion", "into", "some"),
    [
        (through_half, "f32", ("f16", "e5m2", "e4m3", "e3m2", "e2m3", "e2m1")),
        (half_word, "f16", ("e4m3", "e3m2", "e2m3", "e2m1")),
    ],
    ids=["through_half", "half_word"],
)
@pytest.mark.parametrize("name", [name for name, fmt in FORMATS.items() if isinstance(fmt, Format)])
def test_conversion_through_half(
    name: str, conversion: Callable[[Term, Format], Term | None], into: str, some: Sequence[str]
) -> None:
    """Exhaustively: of every number of a format, the word that it has in binary32, or in binary16."""
    fmt = FORMATS[name]
    assert isinstance(fmt, Format)
    word = var("x", fmt.width)
    half = conversion(word, fmt)
    if name in some:
        assert half is not None
    if half is None:
        return
    x = decode(fmt, word)
    words = np.arange(1 << fmt.width, dtype=np.uint32)
    short, usual, special = Program([half, widen(word, fmt, FORMATS[into]), x.nan | x.infinite]).run(
        {"x": words}
    )
    assert np.array_equal(short[special == 0], usual[special == 0])


def by_the_processor(root: Term, word: Term, words: Any) -> Any:
    """A conversion of many words as LLVM compiles it."""
    e = Emitter(32)
    place = e.emit("mul i64 %g, 32")
    e.register[word] = e.load("%x", word.width, place)
    e.run(schedule([root], {}))
    e.store("%d", root.width, place, e.register[root])
    text = declared(over_groups("convert", "ptr noalias %d, ptr noalias %x", e.text))
    call = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)(
        functions(text, ["convert"])["convert"]
    )
    found = np.empty(len(words), dtype=f"u{root.width // 8}")
    call(len(words) // 32, found.ctypes.data, words.ctypes.data)
    return found


@pytest.mark.skipif(not jit.converts_half(), reason="this processor has no such instruction")
@pytest.mark.parametrize("narrow", [False, True], ids=["from half", "to half"])
def test_the_processors_conversions_of_half(narrow: bool) -> None:
    """Of every binary16 word, and of numbers at, beside and between them, against the definition; which NaN
    it gives is left open.
    """
    source, target = (FORMATS[name] for name in (("f32", "f16") if narrow else ("f16", "f32")))
    words = np.arange(1 << 16, dtype=np.uint16)
    if narrow:
        steps = np.array([0, 1, 0xFFF, 0x1000, 0x1001], dtype=np.uint32)
        words = (words.view(np.float16).astype(np.float32).view(np.uint32)[:, None] + steps).ravel()
        some = np.random.default_rng(4).integers(0, 1 << 32, 1 << 16).astype(np.uint32)
        words = np.concatenate([words, some])
    word = var("x", source.width)
    root: Term = (to_half if narrow else from_half)(word)
    found = by_the_processor(root, word, words)
    expected, nan = Program([root, decode(float_format(source), word).nan]).run({"x": words})
    assert np.array_equal(found[nan == 0], expected[nan == 0])
    of_result = decode(float_format(target), var("d", target.width)).nan
    (same,) = Program([of_result]).run({"d": found[nan == 1]})
    assert same.all()


@pytest.mark.parametrize("share", [0.0, 0.01, 0.2, 0.3, 1.0])
def test_integers_serve_where_a_form_fails(share: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of numbers at binary32's end; where there are many, the form is left alone for a while."""
    model = row_named(ROWS[2]).model
    rng = np.random.default_rng(1)
    a, b = (
        rng.integers(0x3F00, 0x4000, (640, 8 * model.k), dtype=np.uint16),
        rng.integers(0x3F00, 0x4000, (8 * model.k, 40), dtype=np.uint16),
    )
    a[rng.random(len(a)) < share] += 0x3F00
    b[: model.k] += 0x2000
    words = Operands(a, b, np.zeros((640, 40), np.uint32))
    monkeypatch.setattr(matmul, "_ROWS", 64)
    tried: list[int] = []
    call = compiled.FloatColumnCode._call

    def counted(self: Any, rows: int, *more: Any) -> None:
        tried.append(rows)
        call(self, rows, *more)

    monkeypatch.setattr(compiled.FloatColumnCode, "_call", counted)
    by_floats = matmul.chain_words(model, words, matmul.Progress(1, None))
    monkeypatch.setattr(compiled, "usual_floats", lambda: False)
    assert np.array_equal(by_floats, matmul.chain_words(model, words, matmul.Progress(1, None)))
    if share == 0:
        assert sum(tried) == 2 * 640
    if share == 1:
        assert sum(tried) < 640


@pytest.mark.skipif(not aarch64.available(), reason="qemu-aarch64 is not installed")
@pytest.mark.parametrize("name", mostly_long((*ROWS, *WITH_DOUBLES), [ROWS[1], *WITH_DOUBLES]))
def test_rows_and_products_on_aarch64(name: str, tmp_path: Path) -> None:
    """The code for another processor runs under an emulator and gives the model's words."""
    model, count = row_named(name).model, 64
    block = proved_block(model)
    assert block is not None
    a, b, c = numbers_of(model, count, 3)
    for numbers, words in zip((a, b, c), words_of(model, count // 2, 3, 0.05), strict=True):
        numbers[: count // 2] = words
    a[-1] = float_format(model.a_format).nan_word or 0
    source = FloatRows(model, block)
    results = np.zeros(count, unsigned(model.d_format))
    flags = np.zeros(count // source.width, f"u{source.width // 8}")
    text = declared(source.rows())
    for first in (results, flags):
        arguments = [count // source.width, results, a, b, c, flags]
        first[:] = np.frombuffer(aarch64.run(text, "rows", arguments, first, tmp_path), first.dtype)
    fails = np.unpackbits(flags.view(np.uint8), bitorder="little").view(np.bool_)
    expected = _program(model).run(_columns(model, Operands(a, b, c)))[0]
    assert 0 < fails.sum() < count
    assert np.array_equal(results[~fails], expected[~fails])


@pytest.mark.skipif(not aarch64.available(), reason="qemu-aarch64 is not installed")
@pytest.mark.parametrize("name", mostly_long((*ROWS, *WITH_DOUBLES), [ROWS[0], *WITH_DOUBLES]))
def test_products_on_aarch64(name: str, tmp_path: Path) -> None:
    """Two chained steps for rows of A and a vector of columns, of words that this processor prepares."""
    model = row_named(name).model
    block = proved_block(model)
    assert block is not None
    source = FloatColumns.of(block)
    assert source is not None
    made, rows, steps, width = MachineCode(model).columns(), 8, 2, source.width
    length = steps * made.k
    a, b, _ = numbers_of(model, max(rows, width), 7)
    a, b = np.resize(a, (rows, length)), np.resize(b, (length, width))
    d, c = np.zeros((2, rows, width), unsigned(model.d_format))
    flags = np.zeros(rows, np.uint8)
    strided = [a, 1, length, b, width, 0, c, 0, width]
    columns = [*made.prepare("a", a), *made.prepare("b", b)]
    arguments = [rows, steps, d, width, *strided, flags, *columns]
    text = declared(source.outer())
    for first in (d, flags):
        found = np.frombuffer(aarch64.run(text, "outer", arguments, first, tmp_path), first.dtype)
        first[:] = found.reshape(first.shape)
    expected = np.empty_like(d)
    MachineCode(block.model)._columns_by_integers.run(
        rows, steps, expected, [(a, 1, length), (b, width, 0), (c, 0, width)], [], AdaptiveDispatch(1, 1.0)
    )
    assert not flags.all()
    assert np.array_equal(d[flags == 0], expected[flags == 0])
