"""Products on forms in floating-point operations, of every family that has one: against exact integers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tcsmt.language.run import jit
from tcsmt.matrix_units.arithmetic.formats import Format, float_format
from tcsmt.matrix_units.arithmetic.words import unsigned
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import FusedDotAdd, Model, Operands
from tcsmt.simulate import compiled, matmul
from tcsmt.simulate.forms.float_form import float_form
from tcsmt.simulate.forms.proved_forms import ProvedBlock, simulation
from tests.oracles import exact
from tests.support.sampling import mostly_long

pytestmark = pytest.mark.skipif(not jit.available(), reason="the extra `fast` is not installed")

UNITS = (
    "volta/mma.m8n8k4.f16.f16.f16.f16",
    "hopper/mma.m16n8k16.f16.f16.f16.f16",
    "hopper/wgmma.m64nNk32.f16.e4m3.e5m2",
    "hopper/mma.m16n8k32.f32.e4m3.e4m3.f32",
    "hopper/mma.m16n8k32.f16.e4m3.e4m3.f16",
    "hopper/mma.m16n8k32.f32.e5m2.e4m3.f32",
    "blackwell/tcgen05.mMnNk32.kind::mxf8f6f4.block32.f32.e4m3.e4m3.ue8m0",
    "blackwell/tcgen05.mMnNk64.kind::mxf4.block32.f32.e2m1.e2m1.ue8m0",
    "blackwell/tcgen05.mMnNk64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3",
    "x86/tdpbf16ps",
    "arm/fmlal",
    "arm/fmopa.f32.f16.f16",
    "arm/bfmmla.ebf1",
    "arm/fdot.f16.e4m3.e4m3",
    "arm/bfdot.ebf0",
    "cdna1/v_mfma_f32_32x32x8f16",
    "cdna3/v_mfma_f32_16x16x16_f16",
    "cdna3/v_mfma_f32_32x32x8_bf16",
    "cdna3/v_mfma_f32_16x16x32_fp8_bf8",
)
#: Exponents of a and b, lowest and highest; of c, relative to their products'.
SHAPES = ((-30, 30, 0), (-9, 9, 0), (-3, 3, 12), (-20, -6, -12), (5, 15, 4), (-40, -12, 0))


def words_of(fmt: Format, shape: tuple[int, ...], low: int, high: int, rng: np.random.Generator) -> Any:
    """Random words: exponents within limits as far as the format has them, some zeros, few special words."""
    fields = np.clip(rng.integers(low, high + 1, shape) + fmt.bias, 0, fmt.e_max + fmt.bias)
    place = fmt.fraction_bits + fmt.ignored_low_bits
    words = rng.integers(0, 1 << place, shape) | fields << place
    words[rng.random(shape) < 0.2] &= -1 << (place - 2 if place > 2 else 0)
    words[rng.random(shape) < 0.1] = 0
    words[rng.random(shape) < 0.0005] = fmt.nan_word or 0
    if fmt.has_infinity:
        words[rng.random(shape) < 0.0005] = fmt.infinity_word
    words |= rng.integers(0, 2, shape) << fmt.sign_bit if fmt.signed else 0
    return words.astype(unsigned(fmt))


def drawn(model: Model, shape: tuple[int, int, int], seed: int) -> Operands[Any, Any]:
    """Matrices of one shape of exponents."""
    low, high, of_c = SHAPES[seed % len(SHAPES)]
    m, steps, n = shape
    rng = np.random.default_rng(seed)
    a = words_of(float_format(model.a_format), (m, steps * model.k), low, high, rng)
    b = words_of(float_format(model.b_format), (steps * model.k, n), low, high, rng)
    c = words_of(float_format(model.c_format), (m, n), low + high + of_c - 8, low + high + of_c + 8, rng)
    if model.scale_format is None:
        return Operands(a, b, c)
    one = model.scale_format.bias << model.scale_format.fraction_bits
    ends = (one - 7, one + 7) if seed % 2 == 0 else (0, 1 << model.scale_format.width)  # near 1, or any
    count = steps * model.scales
    scales = [rng.integers(*ends, size).astype(np.uint8) for size in ((m, count), (count, n))]
    return Operands(a, b, c, *scales)


def expected(model: Model, x: Operands[Any, Any]) -> Any:
    """Of a chain of instructions, by the exact oracle."""
    m, n = x.c.shape
    word = x.c.reshape(-1)
    for step in range(x.a.shape[1] // model.k):
        columns = {"c": word}
        for lane in range(model.k):
            place = step * model.k + lane
            columns[f"a{lane}"], columns[f"b{lane}"] = np.repeat(x.a[:, place], n), np.tile(x.b[place], m)
        if x.scale_a is not None and x.scale_b is not None:
            for scale in range(model.scales):
                place = step * model.scales + scale
                columns[f"sa{scale}"] = np.repeat(x.scale_a[:, place], n)
                columns[f"sb{scale}"] = np.tile(x.scale_b[place], m)
        word = exact.results(model, columns).astype(x.c.dtype)
    return word.reshape(m, n)


@pytest.mark.parametrize("name", UNITS)
@pytest.mark.slow_cases(
    "blackwell/tcgen05.mMnNk32.kind::mxf8f6f4.block32.f32.e4m3.e4m3.ue8m0",
    "blackwell/tcgen05.mMnNk64.kind::mxf4.block32.f32.e2m1.e2m1.ue8m0",
    "blackwell/tcgen05.mMnNk64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3",
    "cdna3/v_mfma_f32_16x16x32_fp8_bf8",
    "hopper/mma.m16n8k32.f16.e4m3.e4m3.f16",
    "hopper/mma.m16n8k32.f32.e4m3.e4m3.f32",
    "hopper/mma.m16n8k32.f32.e5m2.e4m3.f32",
    "x86/tdpbf16ps",
)
def test_products_of_every_family_are_an_oracles(name: str) -> None:
    model = row_named(name).model
    assert simulation(model)["form"] in ("floats", "groups")
    for seed in range(len(SHAPES)):
        x = drawn(model, (32, 2, 32), seed)
        result = matmul.chain_words(model, x, matmul.Progress(1, None))
        assert np.array_equal(result, expected(model, x)), seed


@pytest.mark.parametrize("name", mostly_long(UNITS, [UNITS[1]]))
def test_products_of_any_words_are_those_of_integers(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """More of them, in chains that come to NaNs and infinities."""
    model = row_named(name).model
    for seed in range(2 * len(SHAPES)):
        x = drawn(model, (48, 8, 64), seed)
        by_floats = matmul.chain_words(model, x, matmul.Progress(1, None))
        with monkeypatch.context() as patch:
            patch.setattr(compiled, "usual_floats", lambda: False)
            by_integers = matmul.chain_words(model, x, matmul.Progress(1, None))
        assert np.array_equal(by_floats, by_integers), seed


@pytest.mark.slow
@pytest.mark.parametrize("formats", ["e4m3.e4m3", "e2m1.e5m2"])
def test_forms_with_block_scales(formats: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows and products by the form, proved or not, are those of integers, and it serves for some."""
    model = row_named(f"blackwell/tcgen05.mMnNk32.kind::mxf8f6f4.block32.f32.{formats}.ue8m0").model
    assert isinstance(model, FusedDotAdd)
    form, lanes = float_form(model), tuple(range(model.k))
    assert form is not None
    block = ProvedBlock(model, form, lanes, (lanes,))
    monkeypatch.setattr(compiled, "proved_block", lambda _: block)
    monkeypatch.setattr(compiled, "_kernels", {})
    code = compiled.kernel(model)
    by_floats = code._rows_by_floats
    assert isinstance(by_floats, compiled.FloatRowCode) == jit.converts_half()  # else no rows run on forms
    count = 0
    for seed in range(0, 2 * len(SHAPES), 2):
        x = drawn(model, (32, 2, 32), seed)
        assert np.array_equal(matmul.chain_words(model, x, matmul.Progress(1, None)), expected(model, x)), (
            seed
        )
        if not isinstance(by_floats, compiled.FloatRowCode):
            continue
        assert x.scale_a is not None and x.scale_b is not None
        rows = [x.a[:, : model.k], x.b[: model.k].T, x.c[:, 0], x.scale_a[:, :1], x.scale_b[:1].T]
        rows = [np.ascontiguousarray(words) for words in rows]
        result = np.empty(len(x.c), x.c.dtype)
        failed = by_floats._failed(rows, result)
        usual = code._rows_by_integers.run(rows)
        served = np.setdiff1d(np.arange(len(result)), failed)
        assert np.array_equal(result[served], usual[served])
        count += served.size
    assert count > 32 or not jit.converts_half()
