"""Questions about a block of a unit, and their witnesses."""

from __future__ import annotations

from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import FusedDotAdd
from tcsmt.prove.engine.engine import decide
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.question import Question
from tcsmt.prove.statements.verdict import Distinguished
from tcsmt.surveys.properties.investigation import one_block

VOLTA = "volta/mma.m8n8k4.f32.f16.f16.f32"


def unit(name: str = VOLTA) -> FusedDotAdd:
    """One fused sum of a catalogue row."""
    model = one_block(row_named(name).model)
    assert isinstance(model, FusedDotAdd)
    return model


PAIRS: dict[str, tuple[str, dict[str, object], Domain]] = {
    "products": (VOLTA, {"products": "normalised"}, Domain()),
    "fraction bits": (VOLTA, {"fraction_bits": 24}, Domain(subnormals=False)),
    "carry bits": (VOLTA, {"carry_bits": 2}, Domain(positive=True)),
    "rounding": (VOLTA, {"rounding": "RNE"}, Domain(positive=True, exponents=(-3, 3))),
    "blocks": ("ampere/mma.m16n8k16.f32.f16.f16.f32", {"n_fma": 4}, Domain()),
    "c last": (VOLTA, {"c_position": "last"}, Domain()),
    "c summed": (VOLTA, {"c_position": "summed"}, Domain(subnormals=False)),
    "every": (VOLTA, {"normalisation": "every"}, Domain(positive=True)),
    "zero exponent": (
        "ampere/mma.m16n8k8.f32.bf16.bf16.f32", {"zero_exponent": -126}, Domain()
    ),
    "nan": (VOLTA, {"nan": 0x7FC00000}, Domain(finite=False)),
    "flush": ("volta/mma.m8n8k4.f16.f16.f16.f16", {"flush_outputs": True}, Domain(c_zero=True)),
    "overflow": ("ampere/mma.m16n8k8.f32.bf16.bf16.f32", {"overflow": "saturate"}, Domain()),
}  # fmt: skip


def found(question: Question, solver: str = "auto") -> Distinguished:
    """The verdict, which must be a witness."""
    verdict = decide(question, Solving(SolvingOptions(solver))).verdict
    assert isinstance(verdict, Distinguished), verdict
    return verdict
