"""Stacks of products, and operands that a unit's formats do not hold."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tcsmt.matrix_units.catalogue import row_named
from tcsmt.programs.kernels.batched import batched, stack_of
from tcsmt.programs.kernels.epilogue import Epilogue, epilogue_named
from tcsmt.programs.kernels.gemm import gemm
from tcsmt.programs.kernels.reduction import split_k
from tcsmt.support.errors import TcsmtError

HOPPER = row_named("hopper/mma.m16n8k16.f32.f16.f16.f32").model
TF32 = row_named("hopper/wgmma.m64nNk8.f32.tf32.tf32").model
MXFP8 = row_named("rtxblackwell/mma.m16n8k32.f32.e4m3.e4m3.f32.ue8m0").model

Array = np.ndarray[Any, np.dtype[Any]]


def of_tf32(values: Array, rule: str) -> Array:
    """By integers: the low 13 bits of a finite binary32 word are cut, after half of their unit was added."""
    words = values.view(np.uint32).astype(np.uint64)
    odd = words >> np.uint64(13) & np.uint64(1)
    added: Any = {"truncate": 0, "nearest-away": 0x1000, "nearest-even": 0xFFF + odd}[rule]
    return ((words + added) & np.uint64(0xFFFFE000)).astype(np.uint32)


@pytest.mark.parametrize("rule", ["truncate", "nearest-even", "nearest-away"])
def test_operands_are_rounded_by_the_rule(rule: str) -> None:
    rng = np.random.default_rng(7)
    a, b = rng.standard_normal((2, 12, 12)).astype(np.float32)
    a[::2] = (a[::2].view(np.uint32) & np.uint32(0xFFFFF000)).view(np.float32)  # a half of them ties
    found = batched(a, b, model=TF32, operands=rule)
    words = gemm(of_tf32(a, rule), of_tf32(b, rule), model=TF32)
    assert np.array_equal(found.view(np.uint32), words.view(np.uint32))
    with pytest.raises(TcsmtError, match=r'A\[.*operands="truncate", "nearest-even" or "nearest-away"'):
        batched(a, b, model=TF32)
    short = of_tf32(a, rule).view(np.float32), of_tf32(b, rule).view(np.float32)
    assert np.array_equal(batched(*short, model=TF32), found)


def test_c_and_the_bias_are_rounded_too() -> None:
    ones, fine = np.ones((2, 4), np.float16), 1 + 2.0**-30
    kwargs: dict[str, Any] = {"model": HOPPER, "operands": "truncate"}
    c, bias = np.full((2, 2), fine), np.full(2, fine)
    assert batched(ones, ones.T, c, **kwargs).tolist() == [[5.0] * 2] * 2
    assert (
        batched(ones, ones.T, bias=bias, epilogue=epilogue_named("bias"), **kwargs).tolist() == [[5] * 2] * 2
    )
    with pytest.raises(TcsmtError, match=r"^C\[0, 0\] = 1\.00"):
        batched(ones, ones.T, c, model=HOPPER)
    with pytest.raises(TcsmtError, match=r"^bias\[0\] = 1\.00"):
        batched(ones, ones.T, bias=bias, epilogue=epilogue_named("bias"), model=HOPPER)
    # C is not read where beta is 0, whatever it holds
    assert batched(ones, ones.T, c, model=HOPPER, epilogue=Epilogue(beta=0.0)).tolist() == [[4.0] * 2] * 2


def test_a_bias_of_a_narrower_format_is_exact() -> None:
    ones = np.ones((2, 4), np.float16)
    for dtype in (ml_dtypes.bfloat16, np.float16, ml_dtypes.float8_e4m3fn):
        found = batched(
            ones, ones.T, model=HOPPER, bias=np.array([0.5, -2], dtype), epilogue=epilogue_named("bias")
        )
        assert found.tolist() == [[4.5, 2.0]] * 2


@pytest.mark.parametrize(
    ("left", "right", "third"),
    [
        ((3,), (3,), (3,)), ((3,), (), None), ((), (2, 3), ()), ((2, 1), (3,), (1, 1)), ((1,), (1,), (4,)),
    ],
)  # fmt: skip
def test_stacks_are_each_product_alone(
    left: tuple[int, ...], right: tuple[int, ...], third: tuple[int, ...] | None
) -> None:
    rng = np.random.default_rng(3)
    a = rng.standard_normal((*left, 3, 40)).astype(np.float16)
    b = rng.standard_normal((*right, 40, 2)).astype(np.float16)
    c = None if third is None else rng.standard_normal((*third, 3, 2)).astype(np.float32)
    bias = rng.standard_normal((*right, 2)).astype(np.float32)
    kwargs: dict[str, Any] = {"model": HOPPER, "reduction": split_k(2), "epilogue": epilogue_named("bias")}
    found = batched(a, b, c, bias=bias, **kwargs)
    stack = np.broadcast_shapes(left, right, *([] if third is None else [third]))
    assert found.shape == (*stack, 3, 2)
    assert stack_of(a=a, b=b, c=c, bias=bias) == stack

    def at(array: Array, place: tuple[int, ...], own: int) -> Array:
        return np.broadcast_to(array, (*stack, *array.shape[array.ndim - own :]))[place]

    for place in np.ndindex(*stack):
        one = None if c is None else at(c, place, 2)
        alone = gemm(at(a, place, 2), at(b, place, 2), one, bias=at(bias, place, 1), **kwargs)
        assert np.array_equal(found[place], alone)


def test_scales_and_random_bits_of_stacks() -> None:
    rng = np.random.default_rng(5)
    a = rng.standard_normal((2, 3, 64)).astype(ml_dtypes.float8_e4m3fn)
    b = rng.standard_normal((64, 4)).astype(ml_dtypes.float8_e4m3fn)
    scale_a = rng.integers(120, 134, (2, 3, 2), np.uint8).view(ml_dtypes.float8_e8m0fnu)
    scale_b = rng.integers(120, 134, (2, 4), np.uint8)
    random = rng.integers(0, 1 << 8, (2, 3, 4))
    kwargs: dict[str, Any] = {"model": MXFP8, "epilogue": epilogue_named("out=bf16,stochastic=8")}
    found = batched(a, b, scale_a=scale_a, scale_b=scale_b, random=random, **kwargs)
    for place in range(2):
        alone = gemm(a[place], b, scale_a=scale_a[place], scale_b=scale_b, random=random[place], **kwargs)
        assert np.array_equal(found[place], alone)


def test_progress_is_that_of_the_whole_stack() -> None:
    ones, told = np.ones((3, 4, 16), np.float16), []
    batched(ones, ones[0].T, model=HOPPER, progress=lambda done, whole: told.append((done, whole)))
    assert {whole for _, whole in told} == {48}
    assert [done for done, _ in told][-1] == 48
    assert told == sorted(told)


@pytest.mark.parametrize(
    ("a", "b", "c", "message"),
    [
        (
            (2, 3, 4),
            (3, 4, 2),
            None,
            r"do not broadcast: a \(2, 3, 4\), b \(3, 4, 2\)",
        ),
        ((0, 3, 4), (4, 2), None, r"at least one product: a \(0, 3, 4\)"),
        ((2, 3, 4), (4,), None, r"are matrices, and a bias is a vector: .* b \(4,\)"),
        ((2, 3, 4), (4, 2), (2,), r"are matrices, and a bias is a vector: .* c \(2,\)"),
        ((2, 3, 4), (4, 2), (2, 2, 3), r"C has shape \(2, 3\): must be \(3, 2\)"),
        ((2, 3, 4), (5, 2), None, "must equal the number of rows of B"),
        ((4,), (4, 2), None, "A has shape"),
    ],
)
def test_stacks_that_do_not_fit_are_refused(a: Any, b: Any, c: Any, message: str) -> None:
    left, right = np.ones(a, np.float16), np.ones(b, np.float16)
    with pytest.raises(TcsmtError, match=message):
        batched(left, right, None if c is None else np.ones(c, np.float32), model=HOPPER)
