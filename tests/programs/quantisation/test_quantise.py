"""Quantisers: against exact rational arithmetic, and bit for bit against torchao's on the CPU."""

from __future__ import annotations

import importlib.metadata
import warnings
from bisect import bisect_left
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.matrix_units.arithmetic.packing import pack
from tcsmt.programs.quantisation.quantise import Quantised, quantise
from tcsmt.programs.quantisation.recipe import RECIPES
from tcsmt.support.errors import TcsmtError

#: Whose steps ours are.
TORCHAO = "0.18.0"

Array = np.ndarray[Any, np.dtype[Any]]


def words(array: Array) -> Array:
    array = np.ascontiguousarray(array)
    return array.view(f"u{array.dtype.itemsize}")


def numbers_of(name: str) -> dict[Fraction, int]:
    """Every finite number of a format, and its word, by ml_dtypes."""
    values = np.arange(256, dtype=np.uint8).view(
        {"e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2}[name]
    )
    finite = {word: float(value) for word, value in enumerate(values) if np.isfinite(value)}
    return {Fraction(value): word for word, value in finite.items() if word != 128}  # -0


@given(st.lists(st.floats(-500, 500, width=32), min_size=1, max_size=40), st.sampled_from(["e4m3", "e5m2"]))
@settings(max_examples=40, deadline=None)
def test_values_are_the_nearest_to_the_scaled_numbers(numbers: list[float], form: str) -> None:
    """Of the scaled numbers as binary32 has them, in exact arithmetic; ties go to even words."""
    matrix = np.array([numbers], np.float32)
    quantised = quantise(matrix, RECIPES["fp8-tensor"], "gradient" if form == "e5m2" else "activation")
    assert quantised.format.name == form
    largest = max(abs(Fraction(float(x))) for x in matrix.flat)
    limit = Fraction(float(FORMATS[form].largest_finite))
    factor = np.float32(float(limit) / max(float(largest), 1e-12))
    assert quantised.scales is not None and quantised.scales == np.float32(1) / factor
    table = numbers_of(form)
    for value, number in zip(quantised.values.flat, matrix.flat, strict=True):
        scaled = Fraction(float(np.float32(number) * factor))
        wanted = max(-limit, min(limit, scaled))
        distance = min(abs(other - wanted) for other in table)
        close = [other for other in table if abs(other - wanted) == distance]
        even = [other for other in close if table[other] % 2 == 0]
        assert Fraction(float(value)) in (close if len(close) == 1 else even)


def test_what_a_scale_is_of() -> None:
    """One for all, for each row, for each block of rows and of K; blocks at the edge are smaller."""
    matrix = np.arange(1, 200 * 130 + 1, dtype=np.float32).reshape(200, 130)
    shapes = {
        ("fp8-tensor", "activation"): (),
        ("fp8-row", "activation"): (200, 1),
        ("fp8-block", "activation"): (200, 2),
        ("fp8-block", "weight"): (2, 2),
        ("mxfp8", "activation"): (200, 5),
        ("nvfp4", "activation"): (200, 9),
    }
    for (name, role), shape in shapes.items():
        quantised = quantise(matrix, RECIPES[name], role)
        assert quantised.scales is not None and quantised.scales.shape == shape, name
        assert quantised.values.shape == matrix.shape
        wide = quantised.numbers()
        most = 0.3 if quantised.values.dtype == ml_dtypes.float4_e2m1fn else 0.13
        assert np.abs(wide - matrix).max() < most * matrix.max(), name


def test_stacks_and_tensors() -> None:
    """Each matrix of a stack has its own blocks; one scale for a tensor is that of the whole stack."""
    stack = np.random.default_rng(1).standard_normal((3, 4, 64)).astype(np.float32)
    for name in ("fp8-row", "fp8-block", "mxfp8", "mxfp4"):
        whole = quantise(stack, RECIPES[name])
        each = [quantise(matrix, RECIPES[name]) for matrix in stack]
        assert np.array_equal(words(whole.values), np.stack([words(one.values) for one in each]))
    assert (
        quantise(stack, RECIPES["fp8-tensor"]).scales
        == quantise(stack.reshape(12, 64), RECIPES["fp8-tensor"]).scales
    )


def test_counts() -> None:
    """Beyond the end, and to zero."""
    big = np.array([[1e6, 1.0, 1e-12, 0.0]], np.float32)
    half = quantise(big, RECIPES["fp16"])
    assert (half.saturated, half.flushed) == (1, 1) and np.isinf(half.values[0, 0])
    block = np.array([[1.99, *[1e-6] * 31]], np.float32)  # scaled to 509: beyond 448
    down, up = (quantise(block, RECIPES[name]) for name in ("mxfp8", "mxfp8-up"))
    assert (down.saturated, up.saturated) == (1, 0)
    assert quantise(np.zeros((2, 32), np.float32), RECIPES["nvfp4"]).flushed == 0


def test_tf32_is_rounded_to_nearest_even() -> None:
    """Against the conversion that every format has."""
    from tcsmt.matrix_units.arithmetic.words import operand_words

    rng = np.random.default_rng(2)
    matrix = rng.integers(0, 1 << 32, (1, 20000), np.uint32).view(np.float32)
    matrix = np.where(np.isnan(matrix), np.float32(1), matrix)
    own = operand_words(FORMATS["tf32"], matrix, "x", "nearest-even")
    assert np.array_equal(words(quantise(matrix, RECIPES["tf32"]).values), own)
    assert np.isnan(quantise(np.array([[np.nan]], np.float32), RECIPES["tf32"]).values).all()


def test_refused() -> None:
    with pytest.raises(TcsmtError, match="float64: must be float32 or narrower"):
        quantise(np.ones((2, 2)), RECIPES["bf16"])


def cast_to_fp8(x: Array, high: int, long: int) -> tuple[Array, Array]:
    """DeepGEMM's casts, block by block, in exact arithmetic: amax / 448 (1e-4 at least), x times 1 / that.

    Each operation is rounded to binary32 once; a binary64 quotient has bits enough for that.
    """
    rows, columns = x.shape
    values = np.zeros(x.shape, np.uint8)
    scales = np.zeros((-(-rows // high), -(-columns // long)), np.float32)
    table = numbers_of("e4m3")
    ordered = sorted(table)
    for i, j in np.ndindex(scales.shape):
        own = slice(high * i, high * i + high), slice(long * j, long * j + long)
        largest = max([float(np.float32(1e-4)), *map(abs, map(float, x[own].flat))])
        scales[i, j] = np.float32(largest / 448)
        factor = np.float32(1 / float(scales[i, j]))
        for at, number in np.ndenumerate(x[own]):
            exact = Fraction(float(np.float32(Fraction(float(number)) * Fraction(float(factor)))))
            at_least = min(bisect_left(ordered, exact), len(ordered) - 1)
            near = min(
                ordered[max(at_least - 1, 0) : at_least + 1], key=lambda n: (abs(n - exact), table[n] % 2)
            )
            word = table[near]
            values[own][at] = word | 0x80 if word == 0 and np.signbit(number) else word
    return values, scales


def test_blocks_are_deepgemms() -> None:
    """In exact arithmetic: of all sizes, below the floor, of zeros, and 52 with 39, where orders part."""
    rng = np.random.default_rng(6)
    matrix = rng.standard_normal((5, 192)) * 10.0 ** rng.integers(-9, 6, (5, 1))
    x = matrix.astype(np.float32)
    x[0, :128], x[1, :128], x[2, :3] = 0, 1e-6, (52, 39, -39)
    x[2, 3:128] = rng.integers(-52, 53, 125)
    for role, high in (("activation", 1), ("weight", 128)):
        ours = quantise(x, RECIPES["fp8-block"], role)
        values, scales = cast_to_fp8(x, high, 128)
        assert ours.scales is not None and np.array_equal(words(ours.scales), words(scales))
        assert np.array_equal(words(ours.values), values)


@pytest.mark.parametrize("role", ["activation", "weight"])
def test_same_bits_as_deepgemm(role: str) -> None:
    """The steps of its ``per_token_cast_to_fp8`` and ``per_block_cast_to_fp8`` in PyTorch, on the CPU."""
    torch = pytest.importorskip("torch", reason="the extra `torch` is not installed")
    rng = np.random.default_rng(7)
    high = 128 if role == "weight" else 1
    for trial in (1, 4, 7):
        spread = np.exp2(rng.integers(-12, 12, (256, 256))) if trial % 2 else 1.0
        x = torch.from_numpy((rng.standard_normal((256, 256)) * spread).astype(np.float32))
        x *= 10.0 ** int(rng.integers(-8, 30))
        x[:3, :128] = 0
        if trial == 7:
            x[5, 7], x[200, 9] = float("nan"), float("inf")
        for tensor in (x, x.bfloat16()):
            blocks = tensor.view(256 // high, high, 2, 128)
            scales = blocks.abs().float().amax(dim=(1, 3), keepdim=True).clamp(1e-4) / 448.0
            values = (blocks * (1.0 / scales)).to(torch.float8_e4m3fn).view(256, 256)
            ours = quantise(tensor.float().numpy(), RECIPES["fp8-block"], role)
            assert ours.scales is not None
            assert np.array_equal(ours.scales, scales.view(ours.scales.shape).numpy(), equal_nan=True)
            theirs, own = tensor_words(values), words(ours.values)
            nan = theirs & 0x7F == 0x7F
            assert np.array_equal(own[~nan], theirs[~nan]) and (own[nan] & 0x7F == 0x7F).all()
            assert nan.any() == (trial == 7)


@pytest.fixture(scope="module")
def torchao() -> Any:
    """Its modules of quantisers, of the version whose steps ours are."""
    pytest.importorskip("torch", reason="the extra `torch` is not installed")
    pytest.importorskip("torchao", reason="torchao is not installed")
    version = importlib.metadata.version("torchao")
    if version != TORCHAO:
        pytest.skip(f"torchao {version}: its prototypes change, and these are the steps of {TORCHAO}")
    homes = {
        "float8": "float8.float8_scaling_utils",
        "blocks": "prototype.blockwise_fp8_training.kernels",
        "mx": "prototype.mx_formats.mx_tensor",
        "nvfp4": "prototype.mx_formats.nvfp4_tensor",
    }

    def module(name: str) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            reason = "torchao's module needs Triton, which is not installed"
            return pytest.importorskip(f"torchao.{homes[name]}", reason=reason, exc_type=ImportError)

    return module


def tensor_words(tensor: Any) -> Array:
    import torch

    own = {1: torch.uint8, 2: torch.int16, 4: torch.int32}[tensor.element_size()]
    return words(tensor.contiguous().view(own).numpy())


def by_torchao(modules: Any, name: str, role: str, x: Any) -> tuple[Any, Any]:
    """Values, and what they are multiplied by."""
    import torch

    if name in ("fp8-tensor", "fp8-row"):
        from torchao.float8.config import ScalingGranularity
        from torchao.float8.float8_training_tensor import LinearMMConfig

        dtype = torch.float8_e5m2 if role == "gradient" else torch.float8_e4m3fn
        row = (
            {"scaling_granularity": ScalingGranularity.AXISWISE, "axiswise_dim": -1}
            if name[4:] == "row"
            else {}
        )
        result = modules("float8").hp_tensor_to_float8_dynamic(x, dtype, LinearMMConfig(), **row)
        return result._data, result._scale.reciprocal()
    if name == "fp8-block-torchao":
        kind = "weight_quant" if role == "weight" else "act_quant_lhs"
        return getattr(modules("blocks"), f"torch_blockwise_scale_{kind}")(x)
    if name == "nvfp4":
        scale = modules("nvfp4").per_tensor_amax_to_scale(x.abs().max())
        return modules("nvfp4").nvfp4_quantize(x, 16, scale)[::-1]
    mode = modules("mx").ScaleCalculationMode["RCEIL" if name == "mxfp8-up" else "FLOOR"]
    dtype = torch.float4_e2m1fn_x2 if name == "mxfp4" else torch.float8_e4m3fn
    return modules("mx").to_mx(x, dtype, 32, mode)[::-1]


CASES = [
    ("fp8-tensor", "activation"),
    ("fp8-tensor", "gradient"),
    ("fp8-row", "activation"),
    ("fp8-block-torchao", "activation"),
    ("fp8-block-torchao", "weight"),
    ("mxfp8", "activation"),
    ("mxfp8-up", "activation"),
    ("mxfp4", "activation"),
    ("nvfp4", "activation"),
]


@pytest.mark.slow_cases("fp8-tensor-activation")
@pytest.mark.parametrize(("name", "role"), CASES)
def test_same_bits_as_torchao(torchao: Any, name: str, role: str) -> None:
    """Finite numbers of all sizes, of both dtypes; blocks of zeros, and numbers near the ends of binary32."""
    import torch

    rng = np.random.default_rng(3)
    for trial in range(24):
        wide = trial % 3 == 0
        size = 2.0 ** int(rng.integers(-130, 100) if wide else rng.integers(-40, 30))
        spread = np.exp2(rng.integers(-12, 12, (128, 256))) if trial % 2 else 1.0
        matrix = (rng.standard_normal((128, 256)) * spread * size).astype(np.float32)
        if trial % 5 == 0:
            matrix[:8, :64] = 0
        for dtype in (torch.float32, torch.bfloat16):
            tensor = torch.from_numpy(matrix).to(dtype)
            values, scales = by_torchao(torchao, name, role, tensor)
            ours: Quantised = quantise(tensor.float().numpy(), RECIPES[name], role)
            own = words(ours.values)
            if ours.format.name == "e2m1":
                own = pack(ours.format, own)
            assert np.array_equal(own, tensor_words(values)), (trial, dtype)
            assert ours.scales is not None and np.array_equal(words(ours.scales), tensor_words(scales))


@pytest.mark.parametrize("size", [1e-36, 1e-38, 1e-39])
def test_same_bits_as_torchao_where_a_factor_is_infinite(torchao: Any, size: float) -> None:
    """NVFP4 of a tensor so small that its factor's reciprocal is infinite, and zeros become NaNs."""
    import torch

    matrix = np.random.default_rng(9).standard_normal((128, 128)).astype(np.float32) * np.float32(size)
    matrix[::3, ::5] = 0
    values, scales = by_torchao(torchao, "nvfp4", "activation", torch.from_numpy(matrix))
    ours = quantise(matrix, RECIPES["nvfp4"])
    assert ours.scales is not None and np.array_equal(words(ours.scales), tensor_words(scales))
    assert np.array_equal(pack(ours.format, words(ours.values)), tensor_words(values))


@pytest.mark.parametrize(("name", "elements"), [("mxfp8", "fp8_e4m3"), ("mxfp4", "fp4_e2m1")])
def test_same_numbers_as_microxcaling(name: str, elements: str) -> None:
    """Its reference in PyTorch, of its repository (it is in no registry): ``mx`` on the path."""
    torch = pytest.importorskip("torch", reason="the extra `torch` is not installed")
    mx = pytest.importorskip("mx.mx_ops", reason="microxcaling is not on the path")
    rng = np.random.default_rng(8)
    for trial in range(8):
        spread = np.exp2(rng.integers(-12, 12, (64, 128))) if trial % 2 else 1.0
        size = 2.0 ** int(rng.integers(-40, 40))
        matrix = (rng.standard_normal((64, 128)) * spread * size).astype(np.float32)
        theirs = mx._quantize_mx(
            torch.from_numpy(matrix.copy()),
            scale_bits=8,
            elem_format=elements,
            shared_exp_method="max",
            axes=[-1],
            block_size=32,
            round="even",
        )
        assert np.array_equal(quantise(matrix, RECIPES[name]).numbers(), theirs.numpy().astype(np.float64))
