"""Products by a recipe: operands in the formats of their roles, and units that have no instruction."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

import tcsmt
from tests.support.tensors import functional, product, same, seeded, torch

emulate = tcsmt.torch.emulate
OPERATIONS = [*importlib.import_module("tcsmt.interface.torch.operations").OPERATIONS]


def test_gradients_are_products_of_the_unit() -> None:
    """A linear layer's three products, in FP8 with gradients in E5M2."""
    layer, x = torch.nn.Linear(64, 32), seeded(8, 64).requires_grad_()
    gradient = seeded(8, 32, seed=2)
    with emulate("h100", "fp8-tensor") as emulation:
        y = layer(x)
        y.backward(gradient)
    quantised = {
        (name, role): tcsmt.torch.quantise(tensor, "fp8-tensor", role)
        for name, tensor, role in (
            ("x", x, "activation"),
            ("w", layer.weight, "weight"),
            ("g", gradient, "gradient"),
            ("x^T", x.T, "activation"),
            ("w^T", layer.weight.T, "weight"),
            ("g^T", gradient.T, "gradient"),
        )
    }

    def own(a: Any, b: Any, unit: str, c: Any = None) -> Any:
        scale = float(quantised[a].scales * quantised[b].scales)
        total = tcsmt.gemm(quantised[a].values, quantised[b].values.T.contiguous(), unit=unit)
        wide = total.double() * scale + (0.0 if c is None else c.double())
        return wide.float()  # one rounding too many in rare cases

    fast = "h100/wgmma.m64nNk32.f32.{}.{}"
    forward = own(("x", "activation"), ("w", "weight"), fast.format("e4m3", "e4m3"), layer.bias.detach())
    of_x = own(("g", "gradient"), ("w^T", "weight"), fast.format("e5m2", "e4m3"))
    of_w = own(("g^T", "gradient"), ("x^T", "activation"), fast.format("e5m2", "e4m3"))
    for result, expected in ((y, forward), (x.grad, of_x), (layer.weight.grad, of_w)):
        assert torch.allclose(result.detach(), expected, rtol=2**-23, atol=0)
        assert (result.detach() == expected).float().mean() > 0.99
    runs = {(layer, run) for layer, run, _ in emulation.report.losses}
    assert runs == {("Linear", "forward"), ("Linear", "input gradient"), ("Linear", "weight gradient")}


def test_refusals() -> None:
    with pytest.raises(tcsmt.TcsmtError, match=r"recipe mxfp8 .*ue8m0 scales.*h100"):
        emulate("h100", "mxfp8")
    with pytest.raises(tcsmt.TcsmtError, match=r"'bf17': .* bf16"):
        emulate("h100", "bf17")
    with pytest.raises(tcsmt.TcsmtError, match="is a kernel: give its unit, and reduction="):
        emulate("h100+split-k:2", "bf16")
    with (
        pytest.raises(tcsmt.TcsmtError, match=r"A .* meta: .* CPU"),
        emulate("h100", "bf16"),
    ):
        torch.ones(2, 2, device="meta") @ torch.ones(2, 2, device="meta")
    emulation = emulate("h100", "bf16")
    with emulation, pytest.raises(tcsmt.TcsmtError, match="running already"):
        emulation.__enter__()


def rounded(a: Any, b: Any, unit: str, rule: str) -> Any:
    """A·B by the unit's own call, of the tensors as they are."""
    return tcsmt.gemm(a.detach().contiguous(), b.detach().contiguous(), unit=unit, operands=rule)


@pytest.mark.parametrize("rule", ["truncate", "nearest-even", "nearest-away"])
@pytest.mark.parametrize(
    ("unit", "recipe", "instruction"),
    [
        ("a100", None, "a100/mma.m16n8k8.f32.tf32.tf32.f32"),  # of FP32's range, as gemm chooses
        ("mi300x", None, "mi300x/v_mfma_f32_32x32x2_f32"),  # of FP32 itself
        ("mi300x", "tf32", "mi300x/v_mfma_f32_16x16x8_xf32"),
        ("h100/wgmma.m64nNk32.f32.e4m3.e4m3", None, "h100/wgmma.m64nNk32.f32.e4m3.e4m3"),
    ],
)
def test_operands_are_rounded_by_the_callers_rule(
    unit: str, recipe: str | None, instruction: str, rule: str
) -> None:
    """A layer's three products, and a stack's: what gemm makes of the same FP32 numbers."""
    layer, x = torch.nn.Linear(32, 12, bias=False), seeded(9, 32).requires_grad_()
    stack, other, gradient = seeded(2, 3, 16), seeded(2, 16, 4, seed=1), seeded(9, 12, seed=2)
    with emulate(unit, recipe, operands=rule) as emulation:
        y = layer(x)
        y.backward(gradient)
        stacked = stack @ other
    weight = layer.weight
    for result, a, b in (
        (y, x, weight.T), (x.grad, gradient, weight), (weight.grad, gradient.T, x), (stacked, stack, other),
    ):  # fmt: skip
        assert same(result, rounded(a, b, instruction, rule))
    assert emulation.report.as_json()["operands"] == rule
    assert rule in str(emulation.report)


def cut(tensor: Any) -> Any:
    """FP32 numbers whose words end where TF32's do."""
    return (tensor.detach().view(torch.int32) & -0x2000).view(torch.float32)


def test_every_operation_rounds_by_the_rule() -> None:
    """Truncated by the emulation, and before it: C and biases are not operands, and stay as they are."""
    stack, other, c = seeded(2, 3, 16), seeded(2, 16, 4, seed=1), seeded(2, 3, 4, seed=2)
    image, weight, bias = seeded(2, 4, 5, 5), seeded(6, 4, 2, 2, seed=1), seeded(6)
    calls: list[tuple[Any, tuple[Any, ...]]] = [
        (torch.mm, (stack[0], other[0])),
        (torch.bmm, (stack, other)),
        (lambda a, b: torch.addmm(c[0], a, b), (stack[0], other[0])),
        (lambda a, b: torch.baddbmm(c, a, b), (stack, other)),
        (lambda a, b: functional.linear(a, b, bias[:4]), (stack, other[0].T.contiguous())),
        (lambda a, b: functional.conv2d(a, b, bias), (image, weight)),
    ]
    for call, operands in calls:
        with emulate("mi300x", "tf32", operands="truncate"):
            result = call(*operands)
        with emulate("mi300x", "tf32"):
            assert same(result, call(*map(cut, operands)))
            assert not torch.equal(result, call(*operands))


def test_attention_is_rounded_by_the_rule() -> None:
    q, k, v = (seeded(2, 3, 8, 16, seed=seed) for seed in range(3))
    unit, rule = "mi300x/v_mfma_f32_16x16x8_xf32", "truncate"
    with emulate("mi300x", "tf32", operands=rule) as emulation:
        result = functional.scaled_dot_product_attention(q, k, v, scale=0.25)
    scores = rounded(q * 0.5, (k * 0.5).transpose(-1, -2), unit, rule)
    assert same(result, rounded(torch.softmax(scores, -1), v, unit, rule))
    assert not emulation.report.skipped_products


def test_narrow_operands_are_rounded_to_a_narrower_instruction() -> None:
    """BF16 tensors: as they are by a unit's name, rounded where an FP8 instruction is named."""
    a, b = seeded(4, 32).bfloat16(), seeded(32, 8, seed=1).bfloat16()
    unit = "h100/wgmma.m64nNk32.f32.e4m3.e4m3"
    with emulate(unit, operands="truncate"):
        assert same(a @ b, rounded(a, b, unit, "truncate").bfloat16())
    with emulate("h100", operands="truncate") as emulation:
        assert same(a @ b, product(a, b).bfloat16())
    assert "bf16" in emulation.report.instructions[0]


def test_numbers_beyond_the_format_are_counted() -> None:
    a, b = torch.tensor([[1e6, 448.0, 460.0, 1e-9]]).repeat(2, 1), torch.ones(4, 2)
    with emulate("h100/wgmma.m64nNk32.f32.e4m3.e4m3", operands="truncate") as emulation:
        assert torch.equal(a @ b, torch.full((2, 2), 3 * 448.0))
    (losses,) = emulation.report.losses.values()
    assert (losses.saturated, losses.flushed) == (2, 2)
    with (
        pytest.raises(
            tcsmt.TcsmtError, match=r"1000000\.0 is not a valid e4m3 value; the format has no such"
        ),
        emulate("h100/wgmma.m64nNk32.f32.e4m3.e4m3", operands="nearest-even"),
    ):
        a @ b


def test_rules_that_do_not_fit_are_refused() -> None:
    with pytest.raises(tcsmt.TcsmtError, match=r"operands 'truncated': .* truncate"):
        emulate("mi300x", operands="truncated")
    with pytest.raises(tcsmt.TcsmtError, match=r"fp8-tensor .*operands='truncate' .* bf16, fp16, tf32"):
        emulate("h100", "fp8-tensor", operands="truncate")
    for unit, said in (
        ("wormhole", "it takes e8m10fn x e8m10fn"),
        ("v100", "no instruction takes A in f32 and B in f32, or formats of the same range"),
        ("b200/mxf8f6f4.block32.f32.e4m3.e4m3.ue8m0", "without block scales"),
        ("h100/wgmma.m64nNk32.s32.s8.s8", "it takes s8 x s8"),
    ):
        with pytest.raises(tcsmt.TcsmtError, match=said), emulate(unit, operands="truncate"):
            torch.ones(2, 2) @ torch.ones(2, 2)


#: By operation: a call that multiplies one row or column, and no other product.
LONE: dict[str, Any] = {
    "mm": lambda: seeded(1, 16) @ seeded(16, 8),
    "bmm": lambda: torch.bmm(seeded(2, 3, 16), seeded(2, 16, 1)),
    "addmm": lambda: functional.linear(seeded(5, 16), seeded(1, 16), seeded(1)),
    "baddbmm": lambda: torch.baddbmm(seeded(2, 1, 8), seeded(2, 1, 16), seeded(2, 16, 8)),
    "convolution": lambda: functional.conv2d(seeded(1, 3, 4, 4), seeded(3, 1, 2, 2), groups=3),
    "convolution_backward": lambda: torch.ops.aten.convolution_backward(
        seeded(1, 1, 3, 3), seeded(1, 1, 4, 4), seeded(1, 1, 2, 2), None,
        [1, 1], [0, 0], [1, 1], False, [0, 0], 1, [False, True, False],
    )[1],
    "_grouped_mm": lambda: torch._grouped_mm(
        seeded(4, 16).bfloat16(), seeded(2, 16, 8).bfloat16(), torch.tensor([1, 4], dtype=torch.int32)
    ),
    "_scaled_mm": lambda: torch._scaled_mm(
        seeded(1, 16).to(torch.float8_e4m3fn), seeded(16, 16).to(torch.float8_e4m3fn).T,
        torch.ones(()), torch.ones(()), out_dtype=torch.float32,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", OPERATIONS)
def test_products_of_one_row_or_column_are_told(name: str) -> None:
    """No source says how libraries sum them: a warning by default, and never in silence."""
    call = LONE[name]
    with (
        pytest.warns(UserWarning, match=r"one row or column .* x \d.*not modelled: vectors=\"unit\""),
        emulate("h100", "bf16") as emulation,
    ):
        result = call()
    with emulate("h100", "bf16", vectors="unit") as meant:
        assert same(call(), result)
    for report in (emulation.report, meant.report):
        (count,) = report.lone.values()
        assert report.as_json()["one_row_or_column"] == report.lone and f" x {count}" in str(report)
    with (
        pytest.raises(tcsmt.TcsmtError, match="libraries have kernels of their own for one row"),
        emulate("h100", "bf16", vectors="error"),
    ):
        call()


@pytest.mark.parametrize("name", OPERATIONS)
def test_products_of_one_row_or_column_are_left_to_pytorch(name: str) -> None:
    call = LONE[name]
    own = call()
    with (
        pytest.warns(UserWarning, match=r"\(one row or column\) x 1"),
        emulate("h100", "bf16", vectors="pytorch") as emulation,
    ):
        assert same(call(), own)
    assert not emulation.report.losses and not emulation.report.lone


def test_other_products_are_not_told(recwarn: pytest.WarningsRecorder) -> None:
    """Nor are empty ones; vectors= changes nothing of products with more rows and columns."""
    for vectors in (None, "unit", "pytorch", "error"):
        with emulate("h100", "bf16", vectors=vectors) as emulation:
            assert same(seeded(2, 16) @ seeded(16, 2), product(seeded(2, 16), seeded(16, 2)))
            assert (torch.ones(1, 0) @ torch.ones(0, 4)).sum() == 0
        assert emulation.report.lone == {}
    assert not recwarn.list
    with pytest.raises(tcsmt.TcsmtError, match=r"'native': .*unit, pytorch, error"):
        emulate("h100", vectors="native")
