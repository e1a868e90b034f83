"""Recipes by name, each with its source: how the operands of a product become a unit's formats."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from tcsmt.programs.quantisation.scales import (
    FloatScales,
    PowerScales,
    QuotientScales,
    Scales,
    TwoLevelScales,
)
from tcsmt.support.errors import choose

#: What an operand is: the weights and the gradients of a product may be treated in another way.
Role: TypeAlias = Literal["activation", "weight", "gradient"]
ROLES: tuple[Role, ...] = get_args(Role)

_E4M3, _E5M2 = ("e4m3", "e4m3fnuz"), ("e5m2", "e5m2fnuz")


@dataclass(frozen=True, kw_only=True)
class OperandRecipe:
    """How operands become a unit's formats.

    name: of the recipe. title: a sentence. source: where it is written down. formats: of the elements; of
    several, the first one that a unit takes. gradients: those of gradients, where they are others. scales:
    the rule for blocks, and None without scales. weights: that of weights, where it is another. promote:
    products after which a unit's sum goes to a second accumulator, multiplied by both scales (0: never).
    rows_last: the scales of rows multiply the sum one after the other, not their product. rounding: without
    scales: a name of :data:`.OPERAND_RULES`, by which numbers become elements (None: to nearest even).

    >>> import tcsmt.torch
    >>> tcsmt.torch.RECIPES["mxfp8"].formats
    ('e4m3',)
    """

    name: str
    title: str
    source: str
    formats: tuple[str, ...]
    gradients: tuple[str, ...] = ()
    scales: Scales | None = None
    weights: Scales | None = None
    promote: int = 0
    rows_last: bool = False
    rounding: str | None = None

    def formats_of(self, role: Role) -> tuple[str, ...]:
        """Return the formats of an operand, the first one first."""
        return self.gradients or self.formats if role == "gradient" else self.formats

    def scales_of(self, role: Role) -> Scales | None:
        """Return the rule for an operand's scales."""
        return self.weights or self.scales if role == "weight" else self.scales

    @property
    def depends_on_roles(self) -> bool:
        """Return whether it treats gradients or weights otherwise than activations."""
        return bool(self.gradients) or self.weights is not None

    @property
    def block_scales(self) -> str | None:
        """Return the format of scales that the unit itself takes; None: what surrounds it multiplies by
        them.
        """
        return None if self.scales is None or self.scales.format == "f32" else self.scales.format


_CUBLAS = "as cuBLAS was measured to round FP32 operands (docs: findings)"

#: By name.
RECIPES: dict[str, OperandRecipe] = {
    recipe.name: recipe
    for recipe in (
        OperandRecipe(
            name="bf16", title="BF16, to nearest even", source="IEEE 754-2019, 4.3.1", formats=("bf16",)
        ),
        OperandRecipe(
            name="fp16", title="FP16, to nearest even", source="IEEE 754-2019, 4.3.1", formats=("f16",)
        ),
        OperandRecipe(name="tf32", title="TF32, to nearest even", source=_CUBLAS, formats=("tf32",)),
        OperandRecipe(
            name="fp8-tensor",
            title="FP8, one FP32 scale for each matrix; gradients in E5M2",
            source="torchao, float8, tensorwise; the sum is multiplied as cuBLAS was measured to (mmaemu)",
            formats=_E4M3,
            gradients=_E5M2,
            scales=FloatScales(rows=0, columns=0),
        ),
        OperandRecipe(
            name="fp8-row",
            title="FP8, one FP32 scale for each row of A and column of B",
            source="torchao, float8, AXISWISE without round_scales_to_power_of_2 (which its recipe `rowwise` "
            "sets); the sum is multiplied as in PyTorch's RowwiseScaledMM.cu",
            formats=_E4M3,
            scales=FloatScales(rows=1, columns=0),
            rows_last=True,
        ),
        OperandRecipe(
            name="fp8-block",
            title="FP8, FP32 scales for 1 x 128 numbers, of weights for 128 x 128; promoted every 128",
            source="DeepSeek-V3, section 3.3; DeepGEMM, utils/math.py, as PyTorch computes it on the CPU, "
            "and sm90_fp8_gemm_1d2d.cuh",
            formats=_E4M3,
            scales=QuotientScales(rows=1, columns=128, least=1e-4),
            weights=QuotientScales(rows=128, columns=128, least=1e-4),
            promote=128,
        ),
        OperandRecipe(
            name="fp8-block-torchao",
            title="FP8 in the blocks of fp8-block, with the scales of torchao; promoted every 128",
            source="torchao, blockwise_fp8_training; DeepGEMM, sm90_fp8_gemm_1d2d.cuh",
            formats=_E4M3,
            scales=FloatScales(rows=1, columns=128),
            weights=FloatScales(rows=128, columns=128),
            promote=128,
        ),
        OperandRecipe(
            name="mxfp8",
            title="MXFP8: E4M3, an E8M0 scale for 32 numbers, rounded down",
            source="OCP Microscaling Formats 1.0, section 6.3; torchao, mx_formats, FLOOR",
            formats=("e4m3",),
            scales=PowerScales(columns=32),
        ),
        OperandRecipe(
            name="mxfp8-up",
            title="MXFP8: E4M3, an E8M0 scale for 32 numbers, rounded up",
            source="cuBLAS, 1D block quantization; TransformerEngine, MXFP8 (word 0: the older factor, 1); "
            "torchao, mx_formats, RCEIL, as compiled for CUDA",
            formats=("e4m3",),
            scales=PowerScales(columns=32, up=True),
        ),
        OperandRecipe(
            name="mxfp4",
            title="MXFP4: E2M1, an E8M0 scale for 32 numbers, rounded down",
            source="OCP Microscaling Formats 1.0, section 6.3; torchao, mx_formats, FLOOR",
            formats=("e2m1",),
            scales=PowerScales(columns=32),
        ),
        OperandRecipe(
            name="nvfp4",
            title="NVFP4: E2M1, an E4M3 scale for 16 numbers, and an FP32 scale for each matrix",
            source="torchao, nvfp4_quantize with per_tensor_amax_to_scale, as PyTorch computes it on the CPU",
            formats=("e2m1",),
            scales=TwoLevelScales(columns=16),
        ),
    )
}


def recipe_named(name: str) -> OperandRecipe:
    """Return the recipe of that name. Raises :class:`.UnknownName`."""
    return RECIPES[choose("recipe", name, RECIPES)]
