"""Compiled kernels: every operation at every kind of width, layouts, the cache, the environment."""

from __future__ import annotations

import ctypes
import platform
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from tcsmt.language.macros import leading_zeros
from tcsmt.language.run.arrays import Program
from tcsmt.language.run.exact import evaluate
from tcsmt.language.terms import Term, any_of, const, expand, operands_first, total, umax, var
from tcsmt.language.write.llvm import Emitter
from tcsmt.matrix_units.arithmetic.datapath import decode
from tcsmt.matrix_units.arithmetic.formats import FORMATS, Format, float_format
from tcsmt.matrix_units.arithmetic.ieee import fma_words
from tcsmt.matrix_units.arithmetic.words import unsigned
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import IeeeDotAdd, Model, Operands, Stage
from tcsmt.matrix_units.models.base import Terms
from tcsmt.simulate.rows import run_words
from tcsmt.support import extras
from tcsmt.support.errors import TcsmtError

pytest.importorskip("llvmlite", reason="the extra `fast` is not installed")

from tcsmt.language.run import jit
from tcsmt.simulate import compiled, kernel_source
from tcsmt.simulate.compiled import MachineCode
from tcsmt.simulate.integer_kernels import IntegerSource

WIDTHS = (1, 2, 5, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 127)
#: One word of each kind: a bit, a part of a register, all of one, two.
FEW = (1, 16, 33, 127)


@dataclass(frozen=True, kw_only=True)
class AnyTerm(Model):
    """Not a unit: the low 64 bits of any term over two words of 64 bits."""

    kind: ClassVar[str] = "any-term"
    name: str
    make: Callable[[Term, Term], Term] = field(compare=False)

    def validate(self) -> None:
        """Nothing to refuse."""

    def result(self, x: Terms, stages: list[Stage]) -> Term:
        """The term of a0 and b0."""
        term = self.make(x.a[0], x.b[0])
        return term.zext(max(64, term.width))[63:0]


def narrowed(word: Term, width: int) -> Term:
    """A word of any width made of 64 bits, with bits of them everywhere."""
    return word[width - 1 : 0] if width <= 64 else word.concat(~word)[127 : 128 - width]


def leading(word: Term, part: int) -> Term:
    """A word brought to its leading bit (0), or the zeros before it (1)."""
    return leading_zeros(word)[part]


OPERATIONS: dict[str, Callable[[Term, Term], Term]] = {
    "not": lambda x, y: ~x,
    "neg": lambda x, y: -x,
    "and": lambda x, y: x & y,
    "or": lambda x, y: x | y,
    "xor": lambda x, y: x ^ y,
    "add": lambda x, y: total(x, y, ~y, x ^ y),
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "shl": lambda x, y: x << y,
    "lshr": lambda x, y: x >> y,
    "ashr": lambda x, y: x.ashr(y),
    "short shl": lambda x, y: x << y[2 if y.width > 2 else 0 : 0].zext(y.width),
    "short lshr": lambda x, y: x >> y[2 if y.width > 2 else 0 : 0].zext(y.width),
    "short ashr": lambda x, y: x.ashr(y[2 if y.width > 2 else 0 : 0].zext(y.width)),
    "umax": lambda x, y: umax(x, y, x ^ y),
    "eq": lambda x, y: x.eq(y ^ (x & y)),
    "ult": lambda x, y: x.ult(y),
    "slt": lambda x, y: x.slt(y),
    "ite": lambda x, y: x.ult(y).ite(x, y),
    "sext": lambda x, y: x.sext(x.width + 7),
    "zext": lambda x, y: x.zext(x.width + 7) + y.zext(y.width + 7),
    "concat": lambda x, y: x.concat(y[0])[x.width : 1] ^ y,
    "extract": lambda x, y: x[x.width - 1 : x.width // 2].zext(x.width) ^ y,
    "shl by a constant": lambda x, y: x << (x.width // 2 + 1),
    "lshr by a constant": lambda x, y: x >> (x.width // 2 + 1),
    "shl of a short word": lambda x, y: x[x.width // 3 : 0].zext(x.width) << y,
    "leading zeros": lambda x, y: leading(x >> y, 1) if x.width > 1 else x,
    "normalised": lambda x, y: leading(x >> y, 0) if x.width > 1 else x,
    "reductions": lambda x, y: any_of([x[0], y[0], x.eq(y)]).ite(x, const(5, x.width)),
}


@pytest.mark.parametrize("widths", [FEW, pytest.param(WIDTHS, marks=pytest.mark.long)], ids=["few", "all"])
@pytest.mark.parametrize("operation", OPERATIONS)
def test_operations(operation: str, widths: tuple[int, ...]) -> None:
    make = OPERATIONS[operation]
    rng = np.random.default_rng(7)
    for width in widths:

        def narrow(x: Term, y: Term, width: int = width) -> Term:
            return make(narrowed(x, width), narrowed(y, width))

        model = AnyTerm(
            a_format="f64", b_format="f64", c_format="f64", d_format="f64", k=1, name=f"{operation}{width}",
            make=narrow,
        )  # fmt: skip
        rows = 37
        a, b = rng.integers(0, 1 << 64, (2, rows), dtype=np.uint64)
        a[:12], b[6:18] = a[:12] >> np.uint64(58), b[6:18] >> np.uint64(57)
        # amounts just below, at and above the width, where the low bits are the amount
        b[18:30] = width - 6 + np.arange(12) if width >= 6 else b[18:30]
        got = MachineCode(model).rows([a[:, None], b[:, None], np.zeros(rows, dtype=np.uint64)])
        for row in range(rows):
            (expected,) = evaluate([model.trace.output], {"a0": int(a[row]), "b0": int(b[row]), "c": 0})
            assert got[row] == expected, (width, hex(a[row]), hex(b[row]))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "step"),
    [("f32", 37), *(pytest.param(name, 7, marks=pytest.mark.long) for name in ("f32", "f64"))],
)
def test_native_fma(name: str, step: int) -> None:
    """Native against the definition: all pairs of special values, and cancelling sums."""
    model = IeeeFma(a_format=name, b_format=name, c_format=name, d_format=name, k=1)
    fmt = float_format(model.d_format)
    top = fmt.infinity_word
    special = [0, 1, 2, (1 << fmt.fraction_bits) - 1, 1 << fmt.fraction_bits, top - 1, top, top + 1]
    special += [fmt.word(1), fmt.word(3) + 1]
    special += [word | 1 << fmt.sign_bit for word in special]
    grid = [array.ravel() for array in np.meshgrid(special, special, special)]
    words: Any = [array.astype(model_dtype(fmt.width)) for array in grid]
    rng = np.random.default_rng(3)
    count = 2000
    float_type = np.float32 if name == "f32" else np.float64
    x, y = (1 + rng.random((2, count))).astype(float_type)
    z = -(x * y)
    near = [v.view(words[0].dtype) for v in (x, y, z)]
    near[2] = near[2] + rng.integers(0, 3, count).astype(words[0].dtype)
    columns = [np.concatenate(pair) for pair in zip(words, near, strict=True)]
    got = MachineCode(model).rows([columns[0][:, None], columns[1][:, None], columns[2]])
    for row in range(0, len(got), step):
        values = {n: int(column[row]) for n, column in zip(("a0", "b0", "c"), columns, strict=True)}
        (expected,) = evaluate([model.trace.output], values)
        assert int(got[row]) == expected, values


@pytest.mark.parametrize("ready", [False, True])
def test_other_roundings_are_refused(ready: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Native multiply-adds would not be IEEE 754's; a library may have left the unit like that."""
    if platform.machine() != "x86_64" or sys.platform != "linux":
        pytest.skip("how to set the rounding is known of x86-64 Linux")
    model = IeeeFma(a_format="f32", b_format="f32", c_format="f32", d_format="f32", k=1)
    words = random_words(model, 100, 1)
    monkeypatch.setattr(compiled, "_kernels", {model: MachineCode(model)} if ready else {})
    expected = run_words(model, Operands(*words))
    library, upward = ctypes.CDLL("libm.so.6"), 0x800
    library.fesetround(upward)
    try:
        with pytest.raises(TcsmtError, match="does not round to nearest"):
            run_words(model, Operands(*words))
    finally:
        library.fesetround(0)
    assert np.array_equal(run_words(model, Operands(*words)), expected)


def model_dtype(width: int) -> Any:
    """Unsigned words of a float format."""
    return np.uint32 if width == 32 else np.uint64


@dataclass(frozen=True, kw_only=True)
class IeeeFma(Model):
    """Not a unit: one fused multiply-add."""

    kind: ClassVar[str] = "one-fma"

    def validate(self) -> None:
        """Nothing to refuse."""

    def result(self, x: Terms, stages: list[Stage]) -> Term:
        """a0·b0 + c."""
        return fma_words(self.d_format, x.a[0], x.b[0], x.c)


def random_words(model: Model, rows: int, seed: int) -> list[Any]:
    """Uniform words for a, b and c."""
    rng = np.random.default_rng(seed)
    shapes = [(model.a_format, (rows, model.k)), (model.b_format, (rows, model.k)), (model.c_format, (rows,))]
    return [rng.integers(0, 1 << f.width, s, dtype=unsigned(f)) for f, s in shapes]


@pytest.mark.parametrize("rows", [1, 15, 16, 17, 1000])
@pytest.mark.parametrize(
    ("name", "k"),
    [
        ("volta", 4), ("volta", 8), ("hopper/mma.m16n8k4.f32.tf32.tf32.f32", 4),
        pytest.param("ada", 16, marks=pytest.mark.long),
    ],
)  # fmt: skip
def test_as_numpy(name: str, k: int, rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    model = row_named(name).model.replace(k=k)
    words = random_words(model, rows, rows)
    monkeypatch.setattr(compiled, "_kernels", {})  # run_words has none for the model, so that it takes NumPy
    assert np.array_equal(MachineCode(model).rows(words), run_words(model, Operands(*words)))


def test_any_number_of_lanes() -> None:
    model = row_named("hopper").model.replace(k=3, n_fma=3)
    words = random_words(model, 100, 5)
    assert np.array_equal(MachineCode(model).rows(words), run_words(model, Operands(*words)))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["e5m2", pytest.param("bf16", marks=pytest.mark.long)])
def test_wide_words(name: str) -> None:
    """An exact sum needs up to hundreds of bits, and takes several words for them."""
    model = IeeeDotAdd.of(
        a_format=name, b_format=name, c_format="f32", d_format="f32", k=2, method="exact", sum_format="f32",
    )  # fmt: skip
    made = MachineCode(model)
    assert IntegerSource(model, 256).width > 1
    words = random_words(model, 300, 5)
    got = made.rows(words)
    for row in range(len(got)):
        values = dict(
            zip(model.input_names, [*map(int, words[0][row]), *map(int, words[1][row])], strict=False)
        )
        (expected,) = evaluate([model.trace.output], values | {"c": int(words[2][row])})
        assert got[row] == expected


#: What came out wrong: reductions made as sums are, and a product in LLVM's integers of 100 bits.
ONCE_WRONG: dict[str, Callable[[Term, Term], Term]] = {
    "and": lambda x, y: x[19:0].sext(64) & x[31:12].sext(64),
    "or": lambda x, y: x[19:0].sext(64) | x[31:12].sext(64),
    "umax": lambda x, y: umax(x[19:0].sext(64), x[31:12].sext(64)),
    "one sign-extended word": lambda x, y: umax(x[19:0].sext(40), y[39:0]),
    "a sum that needs no trimming but for a sign": lambda x, y: x[19:0].sext(40) + (y[39:0] >> 40),
    "product": lambda x, y: (x[0].zext(100) * x[15:0].sext(100))[69:68],
    "wide product": lambda x, y: (narrowed(x, 100) * narrowed(y, 100))[99:40],
}


@pytest.mark.parametrize("name", ONCE_WRONG)
def test_terms_that_were_once_wrong_are_right(name: str) -> None:
    model = AnyTerm(
        a_format="f64", b_format="f64", c_format="f64", d_format="f64", k=1, name=f"once wrong: {name}",
        make=ONCE_WRONG[name],
    )  # fmt: skip
    a, b = np.random.default_rng(1).integers(0, 1 << 64, (2, 512), dtype=np.uint64)
    got = MachineCode(model).rows([a[:, None], b[:, None], np.zeros(512, dtype=np.uint64)])
    right = [
        evaluate([model.trace.output], {"a0": int(x), "b0": int(y), "c": 0})[0]
        for x, y in zip(a, b, strict=True)
    ]
    assert got.tolist() == right


@pytest.mark.parametrize("operation", OPERATIONS)
def test_words_that_no_machine_has_are_refused(operation: str) -> None:
    """LLVM's code for integers of other widths is not always right."""
    x, y = var("x", 65), var("y", 65)
    e = Emitter(8)
    e.register |= {x: "%x", y: "%y"}
    with pytest.raises(ValueError, match=r"a word of \d+ bits: at most 64"):
        e.run(operands_first(expand([OPERATIONS[operation](x, y)])))


def test_threads_share_the_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    model = row_named("volta").model
    words = random_words(model, 200_003, 9)
    monkeypatch.setenv("TCSMT_THREADS", "1")
    alone = MachineCode(model).rows(words)
    monkeypatch.setenv("TCSMT_THREADS", "3")
    assert np.array_equal(MachineCode(model).rows(words), alone)
    for wrong in ("none", "²"):
        monkeypatch.setenv("TCSMT_THREADS", wrong)
        with pytest.raises(TcsmtError, match=f"TCSMT_THREADS = '{wrong}'"):
            MachineCode(model).rows(words)


def test_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Written once, read back, mended when damaged, done without where it cannot be written."""
    model = row_named("volta").model.replace(k=1, n_fma=1)
    words = random_words(model, 100, 1)
    expected = run_words(model, Operands(*words))
    monkeypatch.setenv("TCSMT_CACHE", str(tmp_path / "kernels"))
    compilations: list[str] = []
    compile_text = jit._compile

    def counted(text: str) -> Any:
        compilations.append(text)
        return compile_text(text)

    monkeypatch.setattr(jit, "_compile", counted)
    for _ in range(2):
        assert np.array_equal(MachineCode(model).rows(words), expected)
    assert len(compilations) == 1
    (entry,) = (tmp_path / "kernels").iterdir()
    entry.write_bytes(entry.read_bytes()[:-10])
    assert np.array_equal(MachineCode(model).rows(words), expected)
    assert len(compilations) == 2
    monkeypatch.setenv("TCSMT_CACHE", str(entry / "below"))
    assert np.array_equal(MachineCode(model).rows(words), expected)


def test_without_the_extra() -> None:
    """The NumPy path serves, and who asks for a kernel is told what to install."""
    code = """
import sys
sys.modules["llvmlite"] = None
import numpy as np
from tcsmt.matrix_units.models import Operands
from tcsmt.simulate import compiled, rows as simulator
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.language.macros import leading_zeros
from tcsmt.matrix_units.arithmetic.datapath import decode
from tcsmt.support.errors import TcsmtError
from tcsmt.matrix_units.arithmetic.formats import FORMATS, Format
model = row_named("volta").model
rows = simulator.WORTH_COMPILING
simulator.run_words(model, Operands(*[np.zeros((rows, 4), np.uint16)] * 2, np.zeros(rows, np.uint32)))
try:
    compiled.kernel(model)
except TcsmtError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert extras.install("fast") in done.stdout


@pytest.mark.parametrize("fmt", [f for f in FORMATS.values() if f.width <= 16], ids=lambda f: f.name)
def test_the_fast_path_never_meets_a_special_value(fmt: Format) -> None:
    """Exhaustively: where a word is a NaN or an infinity, the vector takes the whole graph."""
    word = var("x", fmt.width)
    taken = kernel_source.some_special(fmt, [word])
    x = decode(fmt, word)
    words = np.arange(1 << fmt.width, dtype=np.uint32)
    guard, special = Program([taken, x.infinite | x.nan]).run({"x": words})
    assert not np.any(special & ~guard)
    if fmt.nan_word is not None:
        assert guard.any() and not guard.all()
