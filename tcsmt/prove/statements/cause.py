"""Why two units give different results on an input: the parameters that, changed alone, make them agree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any

from tcsmt.language.run.exact import evaluate
from tcsmt.matrix_units.arithmetic.any_format import AnyFormat
from tcsmt.matrix_units.arithmetic.nans import NanRule
from tcsmt.matrix_units.arithmetic.rounding import Rounding
from tcsmt.matrix_units.models import Model
from tcsmt.prove.statements.question import Side
from tcsmt.support.errors import TcsmtError

__all__ = ["MEANING", "cause_text"]

#: What a parameter decides, for people.
MEANING = {
    "n_fma": "products in one sum (block size N_FMA)",
    "interleave": "how lanes are dealt to the sums",
    "fraction_bits": "alignment fraction bits F",
    "order": "the order of the lanes",
    "operand_format": "the format to which a and b are converted",
    "group": "lanes whose products are summed first",
    "group_fraction_bits": "fraction bits of the sums of groups",
    "alignment_complement": "subtraction by the ones' complement",
    "zero_c": "the exponent with which a zero c enters the maximum",
    "c_exponent_offset": "the exponent with which c enters the maximum",
    "c_dropped_above": "a c smaller than one unit of the grid",
    "c_enters": "where c takes part in the maximum",
    "inner_group": "lanes of a group that are truncated apart where c does not lead",
    "group_dropped_below": "the magnitude below which groups of lower scales add nothing to a subnormal sum",
    "rounded_format": "the format to which the sum is rounded",
    "flush_c": "a subnormal c flushed to zero",
    "subnormal_results": "how subnormal results are made",
    "tininess": "which results count as subnormal",
    "products": "products before alignment",
    "alignment": "rounding of the bits that alignment shifts out",
    "alignment_sticky": "a sticky bit of the bits that alignment shifts out",
    "carry_bits": "carry bits of the accumulator",
    "normalisation": "when the sum is normalised",
    "c_position": "where c enters",
    "c_rounding": "rounding of the addition of c",
    "zero_exponent": "the exponent with which a zero enters the maximum",
    "rounding": "final rounding",
    "round_fraction_bits": "the fraction bit of the final rounding",
    "overflow": "what an overflow gives",
    "flush_inputs": "subnormal inputs flushed to zero",
    "flush_outputs": "subnormal results flushed to zero",
    "negative_zero": "negative zero results",
    "nan": "the word of a NaN",
    "method": "order of the additions",
    "product_format": "the format to which products are rounded",
    "product_rounding": "rounding of products",
    "d_rounding": "rounding of the sum to the format of D",
    "sum_format": "the format of the additions",
    "chains": "chains to which lanes are dealt",
    "c_first": "whether c is the first term",
    "product_exponent": "the power of 2 that products are multiplied by",
    "flush_to_positive": "the sign of a flushed input",
    "lane_groups": "lanes on a grid of their own",
    "dot_fraction_bits": "fraction bits of the sum of products",
    "c_reach": "how far below the largest exponent c still counts",
    "normalised_fraction_bits": "bits of the normalised sum",
    "realignment": "rounding at the later alignments",
    "product_limit": "the magnitude from which a product is infinite",
    "group_lanes": "neighbouring lanes on a grid of their own",
    "a_first_bit": "the first significand bit of a that is multiplied",
    "a_bits": "how many significand bits of a are multiplied",
    "b_first_bit": "the first significand bit of b that is multiplied",
    "b_bits": "how many significand bits of b are multiplied",
    "least_exponent": "the exponent below which a group is left out",
    "sum_fraction_bits": "fraction bits of the sum of groups and c",
    "group_alignment": "rounding of the groups' sums when c is added",
    "c_alignment": "rounding of c when it is added",
    "kept_fraction_bits": "fraction bits to which aligned terms are rounded once more",
    "minus_one_shift": "the power of two for which a sum of -1 unit is taken",
    "largest_result": "the largest magnitude of a result",
}
#: What None means for a parameter.
_NONE = {
    "inner_group": "the whole group",
    "n_fma": "all",
    "carry_bits": "enough",
    "zero_exponent": "that of its fields",
    "nan": "the canonical one",
    "round_fraction_bits": "the format's last",
    "product_format": "exact",
    "c_reach": "always",
    "normalised_fraction_bits": "all",
    "least_exponent": "none is",
    "kept_fraction_bits": "all",
    "largest_result": "the format's",
}


def cause_text(first: Side, second: Side, values: Mapping[str, int]) -> str:
    """One sentence on why two sides give different results on an input; empty where nothing can be said.

    values: the word of each input, by name. Parameters are tried on the evaluator: one is the cause if
    the first model with the second one's value gives the second one's result. Otherwise it says in which
    parameters the models differ.
    """
    left, right = first.model, second.model
    if type(left) is not type(right):
        return f"the units are of different kinds: {left.title}, against {right.title}"
    names = [f.name for f in fields(left.table()) if f.name in MEANING]
    ours, theirs = left.parameters, right.parameters
    apart = [name for name in names if getattr(ours, name) != getattr(theirs, name)]
    if not apart:
        return ""
    result, other = evaluate([first.trace.output, second.trace.output], values)
    tried = apart if _result(left, {}, values) == result else []  # else the side is more than its model
    causes = [name for name in tried if _result(left, {name: getattr(theirs, name)}, values) == other]
    texts = [_said(name, getattr(ours, name), getattr(theirs, name)) for name in causes or apart]
    if causes:
        return f"the cause, with all else equal: {' or '.join(texts)}"
    alone = "no parameter alone is the cause; " if tried else ""
    return f"{alone}the units differ in {', '.join(texts)}"


def _result(model: Model, changes: dict[str, Any], values: Mapping[str, int]) -> int | None:
    """Return the model's result with changed parameters; None where they contradict the others or the
    input.
    """
    try:
        changed = model.varied(**changes)
    except TcsmtError:
        return None
    if changed.input_formats != model.input_formats or changed.input_formats.keys() != values.keys():
        return None
    return evaluate([changed.trace.output], values)[0]


def _said(name: str, left: object, right: object) -> str:
    return f"{MEANING[name]} ({' against '.join(_texts(name, left, right))})"


def _texts(name: str, *values: object) -> Iterator[str]:
    for value in values:
        match value:
            case AnyFormat() | Rounding():
                yield value.name
            case bool():
                yield "yes" if value else "no"
            case NanRule(cases=()):
                yield f"{value.otherwise:#x}"
            case None:
                yield _NONE.get(name, "none")
            case _:
                yield str(value)
