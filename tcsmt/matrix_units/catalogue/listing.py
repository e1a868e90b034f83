"""The catalogue as tables: in columns, or as Markdown, where rows that differ in operands alone are one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.matrix_units.catalogue import Row, disputes, status_text
from tcsmt.matrix_units.models import (
    DotThenAdd,
    FusedDotAdd,
    GroupedDotAdd,
    IeeeDotAdd,
    IeeeParameters,
    Model,
)
from tcsmt.support.results import columns, markdown

__all__ = ["arithmetic", "as_markdown", "as_text"]

_HEAD = ("architecture", "instructions", "operands → D", "K", "N_FMA", "F", "zero", "arithmetic", "evidence")


_IEEE = {
    "fma": "fused multiply-adds in order",
    "exact": "exact sums, rounded once",
    "pairwise": "IEEE additions in pairs",
    "sequential": "IEEE additions in order",
}


def as_text(rows: Iterable[Row]) -> list[str]:
    """A line for each row, with its parameters, evidence and status."""
    table: list[tuple[str, ...]] = [("unit", "K", "N_FMA", "F", "zero", "evidence", "status")]
    for row in rows:
        numbers = ("-" if text is None else text for text in _numbers(row.model))
        table.append((row.name, str(row.model.k), *numbers, row.evidence, status_text(row)))
    return columns(table, "<>>>><<")


def as_markdown(rows: Iterable[Row]) -> str:
    """A table of the units, and, where there are any, one of the claims about them."""
    rows = list(rows)
    claims = [(f"`{r.name}`", f"{r.note} ({r.source})", r.status) for r in rows if "@" in r.instruction]
    lines = markdown(_HEAD, _units(row for row in rows if "@" not in row.instruction))
    if claims:
        lines += ["", *markdown(("claim", "what it says, and where", "status"), claims)]
    return "\n".join(lines)


def _numbers(model: Model) -> list[str | None]:
    """N_FMA, F and the exponent of zero; None for what a model has not."""
    values = (getattr(model.parameters, name, None) for name in ("n_fma", "fraction_bits", "zero_exponent"))
    return [None if value is None else str(value) for value in values]


def _units(rows: Iterable[Row]) -> Iterator[tuple[str, ...]]:
    """Rows that differ in shapes or operands alone as one."""
    lines: dict[tuple[str, ...], tuple[dict[str, None], dict[str, None], dict[str, None]]] = {}
    for row in rows:
        m = row.model
        numbers = (text or "" for text in _numbers(m))
        evidence = f"{row.evidence}, disputed" if disputes(row) else row.evidence
        key = (row.architecture, m.d_format.name, str(m.k), *numbers, arithmetic(m), evidence)
        shapes, operands, data = lines.setdefault(key, ({}, {}, {}))
        shapes[f"`{_shape(row.instruction)}`"] = None
        operands[_operands(m)] = None
        data.update(dict.fromkeys(row.measured))
    for (architecture, d, *parameters, evidence), (shapes, operands, data) in lines.items():
        pairs = ", ".join(operands) if len(operands) <= 6 else f"{len(operands)} pairs of FP8, FP6, FP4"
        why = f"{evidence}: {', '.join(data)}" if data else evidence
        yield (architecture, ", ".join(shapes), f"{pairs} → {d}", *parameters, why)


def _shape(instruction: str) -> str:
    """Return the instruction's name without its formats."""
    if instruction.startswith("v_mfma"):
        return instruction
    return ".".join(part for part in instruction.split(".") if part not in FORMATS)


def _operands(m: Model) -> str:
    a, b = m.a_format.name, m.b_format.name
    pair = a if a == b else f"{a}·{b}"
    scale = m.scale_format
    return pair if scale is None else f"{pair} × {scale.name}"


def arithmetic(m: Model) -> str:
    """Return what the numbers beside it do not say."""
    match m:
        case FusedDotAdd() if m.group > 1:
            return f"exact sums of {m.group} × scales, fused"
        case FusedDotAdd() if m.scale_format is not None:
            return "fused, scales in the exponents"
        case FusedDotAdd() if m.parameters.interleave:
            return f"fused, groups of {m.parameters.interleave} lanes dealt to {len(m.blocks)} sums, c last"
        case FusedDotAdd():
            return "fused" if m.lanes.n_fma == m.k else "fused, chained"
        case DotThenAdd():
            return "products, then c, rounding down" + (
                ", even and odd lanes apart" if m.lane_groups > 1 else ""
            )
        case GroupedDotAdd():
            a, b = (
                f"{first} to {first + bits - 1}"
                for first, bits in ((m.a_first_bit, m.a_bits), (m.b_first_bit, m.b_bits))
            )
            return f"groups of {m.group_lanes} lanes, then c; significand bits {a} of a, {b} of b"
        case IeeeDotAdd():
            return ", ".join([_IEEE[m.parameters.method], *_operations(m.parameters)])
        case _:
            return m.kind


def _operations(m: IeeeParameters) -> Iterator[str]:
    """Yield what is not said by the method of IEEE operations."""
    if m.chains > 1:
        yield f"{m.chains} chains, c last"
    if m.method == "exact" and not m.c_first:
        yield "c last"
    if m.flush_inputs or m.flush_c or m.flush_outputs:
        yield "subnormals flushed"
    if not m.rounding.ties_to_even:
        yield m.rounding.name
    if m.product_exponent:
        yield f"products times 2^{m.product_exponent}"
    if m.overflow == "saturate":
        yield "saturated"
