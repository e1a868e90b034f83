"""Models as the parameters of :mod:`tests.oracles.rationals`, and its results."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Literal, cast

from tcsmt.matrix_units.arithmetic.formats import Format
from tcsmt.matrix_units.models import DotThenAdd, FusedDotAdd, GroupedDotAdd, IeeeDotAdd, Model
from tests.oracles import rationals

ORACLE_FORMAT = {"ue8m0": "e8m0"}
#: Parameters of IEEE operations that the oracle has by the same names.
_ENDS = (
    "flush_inputs", "flush_c", "flush_outputs", "flush_to_positive", "tininess", "overflow", "chains",
    "product_exponent",
)  # fmt: skip
ORACLE_ALIGNMENT = {"RTZ": "truncate", "RTN": "down", "RNE": "nearest"}


def oracle_format(fmt: Format) -> str:
    """The oracle's name of a format."""
    return ORACLE_FORMAT.get(fmt.name, fmt.name)


@lru_cache(maxsize=4)
def oracle_parameters(model: Model) -> rationals.FDA | rationals.FDRDA | rationals.GDA | rationals.IEEE:
    """The oracle's parameter object for a model."""
    common: dict[str, Any] = {
        f"{side}_format": oracle_format(getattr(model, f"{side}_format")) for side in "abcd"
    }
    common |= {"k": model.k, "rounding": model.parameters.rounding.name}
    if isinstance(model, FusedDotAdd):
        alignment = ORACLE_ALIGNMENT.get(model.parameters.alignment.name, model.parameters.alignment.name)
        same = (
            "n_fma", "interleave", "fraction_bits", "products", "carry_bits", "normalisation",
            "c_position", "zero_exponent", "round_fraction_bits", "flush_inputs", "flush_outputs",
            "overflow", "negative_zero", "scale_block", "group",
        )  # fmt: skip
        scale = model.scale_format
        return rationals.FDA(
            **common,
            **{name: getattr(model.parameters, name) for name in same},
            scale_format=None if scale is None else oracle_format(scale),
            alignment="sticky" if model.parameters.alignment_sticky else alignment,
            c_rounding=model.parameters.c_rounding.name,
            nan=model.nan_word,
        )
    if isinstance(model, DotThenAdd):
        numbers = (
            "n_fma", "lane_groups", "fraction_bits", "product_limit", "dot_fraction_bits", "c_reach",
            "normalised_fraction_bits",
        )  # fmt: skip
        return rationals.FDRDA(
            **common,
            **{name: getattr(model.parameters, name) for name in numbers},
            alignment=model.alignment.name,
            realignment=model.realignment.name,
            nan=model.d_format.nan_word or 0,
        )
    if isinstance(model, GroupedDotAdd):
        modes = ("alignment", "group_alignment", "c_alignment")
        others = set(rationals.GDA.__dataclass_fields__) - set(common) - set(modes)
        return rationals.GDA(
            **common,
            **{name: getattr(model.parameters, name).name for name in modes},
            **{name: getattr(model.parameters, name) for name in others},
        )
    assert isinstance(model, IeeeDotAdd)
    p, product = model.parameters, model.parameters.product_format
    return rationals.IEEE(
        **common,
        n_fma=p.n_fma,
        **{name: getattr(p, name) for name in _ENDS},
        negative_zero=p.negative_zero,
        method=cast(Literal["sequential", "fma", "pairwise", "exact"], p.method),
        product_format=None if product is None else oracle_format(product),
        product_rounding=p.product_rounding.name,
        sum_format=oracle_format(model.sum_format),
        c_first=p.c_first,
        d_rounding=model.d_rounding.name,
        nan=(model.d_format.nan_word or 0) if model.nan is None else model.nan.otherwise,
    )


def reference(
    model: Model, a: list[int], b: list[int], c: int, scale_a: Sequence[int] = (), scale_b: Sequence[int] = ()
) -> int:
    """The oracle's result."""
    parameters = oracle_parameters(model)
    if isinstance(parameters, rationals.FDA):
        return rationals.fda(parameters, a, b, c, scale_a, scale_b)
    if isinstance(parameters, rationals.FDRDA):
        return rationals.fdrda(parameters, a, b, c)
    if isinstance(parameters, rationals.GDA):
        return rationals.gda(parameters, a, b, c)
    assert isinstance(model, IeeeDotAdd)
    order = model.order or tuple(range(model.k))
    return rationals.ieee_dot(parameters, [a[i] for i in order], [b[i] for i in order], c)
