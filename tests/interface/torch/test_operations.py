"""PyTorch's operations on a unit: every product is the unit's own, bit for bit, forward and backward."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

import tcsmt
from tcsmt.interface.api.arrays import as_numpy
from tests.support.tensors import BF16, functional, product, same, seeded, torch

emulate = tcsmt.torch.emulate
tensor_of = importlib.import_module("tcsmt.interface.torch.tensors").tensor_of  # only where PyTorch is


def test_operations_and_strides() -> None:
    """mm, addmm, bmm, baddbmm, matmul, linear, einsum; transposed, sliced and expanded operands."""
    a, b, c = seeded(20, 48)[::2, ::3], seeded(24, 16).T, seeded(24)
    c = c[:24]
    stack, other = seeded(3, 5, 16), seeded(3, 16, 7, seed=1)
    column = other[0, :, :1]
    with emulate("h100", "bf16"):
        results = {
            "mm": (torch.mm(a, b), product(a, b)),
            "addmm": (
                torch.addmm(c, a, b, beta=0.5, alpha=2),
                product(a, b, alpha=2, beta=0.5, c=c.expand(10, 24).contiguous()),
            ),
            "bmm": (torch.bmm(stack, other), product(stack, other)),
            "baddbmm": (torch.baddbmm(torch.ones(1, 1, 7), stack, other, beta=0), product(stack, other)),
            "matmul": (stack @ other[0], product(stack, other[0].expand(3, 16, 7))),
            "expanded": (
                stack @ column.expand(16, 7),
                product(stack, column.expand(3, 16, 7)),
            ),
            "linear": (functional.linear(a, b.T), product(a, b)),
            "einsum": (torch.einsum("bik,bkj->bji", stack, other), product(stack, other).transpose(1, 2)),
        }
    for name, (result, own) in results.items():
        assert same(result, own), name


def test_results_have_pytorchs_dtypes() -> None:
    """BF16 in, BF16 out, rounded once from binary32; of FP16 and BF16 tensors, recipes are their own."""
    for dtype, unit in ((torch.bfloat16, BF16), (torch.float16, "h100/m16n8k16.f32.f16")):
        a, b = seeded(9, 33).to(dtype), seeded(33, 5).to(dtype)
        with emulate("h100"):
            result = a @ b
            wide = torch.mm(a, b, out_dtype=torch.float32) if dtype == torch.bfloat16 else None
        own = tcsmt.gemm(a.contiguous(), b.contiguous(), unit=unit)
        assert same(result, own.to(dtype))
        assert wide is None or same(wide, own)


def test_empty_shapes_out_and_in_place() -> None:
    with emulate("h100", "bf16"):
        assert torch.equal(torch.ones(3, 0) @ torch.ones(0, 2), torch.zeros(3, 2))
        assert (torch.ones(0, 4) @ torch.ones(4, 2)).shape == (0, 2)
        assert torch.bmm(torch.ones(0, 2, 3), torch.ones(0, 3, 2)).shape == (0, 2, 2)
        assert torch.equal(torch.addmm(torch.ones(2), torch.ones(3, 0), torch.ones(0, 2)), torch.ones(3, 2))
        out = torch.empty(2, 2)
        assert torch.mm(torch.ones(2, 3), torch.ones(3, 2), out=out) is out and out[0, 0] == 3
        out.addmm_(torch.ones(2, 3), torch.ones(3, 2))
        assert out[0, 0] == 6


def test_convolutions() -> None:
    """The products of the unfolded form, with groups, strides, padding and a bias; forward and backward."""
    conv = torch.nn.Conv2d(4, 6, 3, stride=2, padding=1, groups=2)
    x = seeded(2, 4, 7, 7).requires_grad_()
    gradient = seeded(2, 6, 4, 4, seed=3)
    with emulate("h100", "bf16") as emulation:
        y = conv(x)
        y.backward(gradient)
    columns = functional.unfold(x.detach(), 3, padding=1, stride=2).reshape(2, 2, 18, 16)
    weights = conv.weight.detach().reshape(2, 3, 18)
    bias = conv.bias.detach().reshape(2, 3, 1).expand(2, 2, 3, 16).contiguous()
    wide = product(weights.expand(2, 2, 3, 18), columns, c=bias, epilogue="c=epilogue")
    assert same(y, wide.reshape(2, 6, 4, 4))
    flat = gradient.reshape(2, 2, 3, 16)
    of_columns = product(weights.transpose(1, 2).expand(2, 2, 18, 3), flat).reshape(2, 36, 16)
    assert same(x.grad, functional.fold(of_columns, (7, 7), 3, padding=1, stride=2))
    left = flat.permute(1, 2, 0, 3).reshape(2, 3, 32)
    assert same(
        conv.weight.grad, product(left, columns.permute(1, 0, 3, 2).reshape(2, 32, 18)).reshape(6, 2, 3, 3)
    )
    assert {run for _, run, _ in emulation.report.losses} == {"forward", "input gradient", "weight gradient"}
    with pytest.warns(UserWarning, match="a transposed convolution"), emulate("h100", "bf16"):
        torch.nn.ConvTranspose2d(2, 2, 3)(seeded(1, 2, 4, 4))


def test_attention_is_its_two_products() -> None:
    """With PyTorch's softmax between; the same as if it were written out."""
    q, k, v = (seeded(2, 3, 8, 16, seed=seed).requires_grad_() for seed in range(3))
    with emulate("h100", "bf16") as emulation:
        result = functional.scaled_dot_product_attention(q, k, v, scale=0.25)
        result.sum().backward()
    scores = product(q.detach() * 0.5, (k.detach() * 0.5).transpose(-1, -2))
    assert same(result, product(torch.softmax(scores, -1), v))
    assert sum(entry.products for entry in emulation.report.losses.values()) == 6
    assert not emulation.report.skipped_products


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("autocast", [False, True])
def test_attention_of_narrow_operands_is_in_their_format(dtype: Any, autocast: bool) -> None:
    """Without a recipe, in models of that format and under autocast; PyTorch's setting is put back."""
    allowed = torch.backends.cuda.fp16_bf16_reduction_math_sdp_allowed()
    q, k, v = (seeded(2, 3, 8, 16, seed=seed) for seed in range(3))
    narrow = [x.to(dtype) for x in (q, k, v)]
    operands = [x.clone().requires_grad_() for x in ((q, k, v) if autocast else narrow)]
    with emulate("h100") as emulation, torch.autocast("cpu", dtype, enabled=autocast):
        result = functional.scaled_dot_product_attention(*operands, scale=0.25)
        result.float().sum().backward()
    left, right, last = (as_numpy(x, "x") for x in narrow)
    one = type(left.flat[0])(0.5)
    scores = tcsmt.gemm(left * one, (right * one).swapaxes(-1, -2), unit="h100", epilogue=f"out={OUT[dtype]}")
    shares = torch.softmax(tensor_of(scores), -1)
    wanted = tcsmt.gemm(as_numpy(shares, "x"), last, unit="h100", epilogue=f"out={OUT[dtype]}")
    assert result.dtype == dtype and same(result.detach(), tensor_of(wanted))
    assert sum(entry.products for entry in emulation.report.losses.values()) == 6
    assert not emulation.report.skipped_products
    assert torch.backends.cuda.fp16_bf16_reduction_math_sdp_allowed() == allowed


OUT = {torch.bfloat16: "bf16", torch.float16: "f16"}


def test_groups() -> None:
    """_grouped_mm: groups of rows, of columns, of K, and a stack."""
    offsets = torch.tensor([3, 3, 10], dtype=torch.int32)
    a, b = seeded(10, 16).bfloat16(), seeded(3, 16, 8, seed=1).bfloat16()
    with emulate("h100"):
        rows = torch._grouped_mm(a, b.transpose(1, 2).contiguous().transpose(1, 2), offsets)
    own = [tcsmt.gemm(a[:3].contiguous(), b[0].contiguous(), unit=BF16), tcsmt.gemm(a[3:], b[2], unit=BF16)]
    assert same(rows, torch.cat(own).bfloat16())


#: Shapes of A and B, and the operands and the place of the result of each group; one is empty.
GROUPED: dict[str, tuple[tuple[int, ...], tuple[int, ...], Any]] = {
    "rows": ((11, 16), (3, 16, 8), lambda a, b, n, group: (a[group], b[n], group)),
    "columns": ((3, 5, 16), (16, 11), lambda a, b, n, group: (a[n], b[:, group], (slice(None), group))),
    "sums": ((6, 11), (11, 8), lambda a, b, n, group: (a[:, group], b[group], n)),
}


@pytest.mark.parametrize("recipe", [None, "fp8-tensor", "fp8-block"])
@pytest.mark.parametrize("kind", GROUPED)
def test_groups_are_products_by_themselves(kind: str, recipe: str | None) -> None:
    """Forward and backward, with the roles of their operands, what ``mm`` gives for each group."""
    left, right, part = GROUPED[kind]
    groups = [slice(0, 3), slice(3, 3), slice(3, 10)]
    ends = torch.tensor([group.stop for group in groups], dtype=torch.int32)
    a, b = seeded(*left).bfloat16().requires_grad_(), torch.nn.Parameter(seeded(*right, seed=1).bfloat16())
    with emulate("h100", recipe) as emulation:
        y = torch._grouped_mm(a, b, ends)
        gradient = seeded(*y.shape, seed=2).bfloat16()
        y.backward(gradient)
    runs = [(run, entry.products) for (_, run, _), entry in emulation.report.losses.items()]
    assert sorted(runs) == [("forward", 2), ("input gradient", 2), ("weight gradient", 2)]
    own, other = a.detach().clone().requires_grad_(), torch.nn.Parameter(b.detach().clone())
    with emulate("h100", recipe):
        for number, group in enumerate(groups):
            *operands, place = part(own, other, number, group)
            product = torch.mm(*operands)
            assert same(y[place], product)
            product.backward(gradient[place])
    assert same(a.grad, own.grad) and same(b.grad, other.grad)


def test_gradients_of_groups_do_not_go_by_shapes_alone() -> None:
    """Where saved tensors are copies, formulas of ``mm`` do not tell which operand is the gradient."""
    a, b = (seeded(*shape).bfloat16().requires_grad_() for shape in ((8, 16), (2, 16, 8)))
    ends = torch.tensor([4, 8], dtype=torch.int32)
    copies = torch.autograd.graph.saved_tensors_hooks(lambda x: x.clone(), lambda x: x)
    with emulate("h100", "fp8-block"), copies:
        y = torch._grouped_mm(a, b, ends)
        with pytest.raises(tcsmt.TcsmtError, match="not known which operand is a gradient"):
            y.float().sum().backward()
