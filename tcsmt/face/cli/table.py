"""The catalogue as Markdown tables: rows that differ in shapes or operands alone become one line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.matrix_units.catalogue import Row, disputes
from tcsmt.matrix_units.models import DotThenAdd, FusedDotAdd, GroupedDotAdd, IeeeDotAdd, Model

__all__ = ["markdown"]

_HEAD = ("architecture", "instructions", "operands → D", "K", "N_FMA", "F", "zero", "arithmetic", "evidence")


_IEEE = {
    "fma": "fused multiply-adds in order",
    "exact": "exact sums, rounded once",
    "pairwise": "IEEE additions in pairs",
    "sequential": "IEEE additions in order",
}


def markdown(rows: Iterable[Row]) -> str:
    """A table of the units, and, where there are any, one of the claims about them."""
    rows = list(rows)
    claims = [row for row in rows if "@" in row.instruction]
    tables = [_units(row for row in rows if "@" not in row.instruction)]
    if claims:
        lines = [("claim", "what it says, and where", "status"), ("---",) * 3]
        lines += [(f"`{row.name}`", f"{row.note} ({row.source})", row.status) for row in claims]
        tables.append("\n".join(f"| {' | '.join(line)} |" for line in lines))
    return "\n\n".join(tables)


def _units(rows: Iterable[Row]) -> str:
    lines: dict[tuple[str, ...], tuple[dict[str, None], dict[str, None], dict[str, None]]] = {}
    for row in rows:
        m = row.model
        n_fma, bits, zero = (
            "" if value is None else str(value)
            for value in (getattr(m, name, None) for name in ("n_fma", "fraction_bits", "zero_exponent"))
        )
        known = f"{row.evidence}, disputed" if disputes(row) else row.evidence
        key = (row.architecture, m.d_format.name, str(m.k), n_fma, bits, zero, _arithmetic(m), known)
        shapes, operands, data = lines.setdefault(key, ({}, {}, {}))
        shapes[f"`{_shape(row.instruction)}`"] = None
        operands[_operands(m)] = None
        data.update(dict.fromkeys(row.measured))
    text = [" | ".join(_HEAD), " | ".join("---" for _ in _HEAD)]
    for (architecture, d, k, n_fma, bits, zero, arithmetic, evidence), (
        shapes,
        operands,
        data,
    ) in lines.items():
        given = ", ".join(operands) if len(operands) <= 6 else f"{len(operands)} pairs of FP8, FP6, FP4"
        why = f"{evidence}: {', '.join(data)}" if data else evidence
        cells = (architecture, ", ".join(shapes), f"{given} → {d}", k, n_fma, bits, zero, arithmetic, why)
        text.append(" | ".join(cells))
    return "\n".join(f"| {line} |" for line in text)


def _shape(instruction: str) -> str:
    """The instruction's name without its formats."""
    if instruction.startswith("v_mfma"):
        return instruction
    return ".".join(part for part in instruction.split(".") if part not in FORMATS)


def _operands(m: Model) -> str:
    a, b = m.a_format.name, m.b_format.name
    pair = a if a == b else f"{a}·{b}"
    scale = m.scale_format
    return pair if scale is None else f"{pair} × {scale.name}"


def _arithmetic(m: Model) -> str:
    """What the numbers beside it do not say."""
    match m:
        case FusedDotAdd() if m.group > 1:
            return f"exact sums of {m.group} × scales, fused"
        case FusedDotAdd() if m.scale_format is not None:
            return "fused, scales in the exponents"
        case FusedDotAdd() if m.interleave:
            return f"fused, groups of {m.interleave} lanes dealt to {len(m.blocks)} sums, c last"
        case FusedDotAdd():
            return "fused" if m.n_fma == m.k else "fused, chained"
        case DotThenAdd():
            return "products, then c, rounding down" + (
                ", even and odd lanes apart" if m.lane_groups > 1 else ""
            )
        case GroupedDotAdd():
            a, b = (f"{first} to {first + bits - 1}" for first, bits in (
                (m.a_first_bit, m.a_bits), (m.b_first_bit, m.b_bits)))  # fmt: skip
            return f"groups of {m.group_lanes} lanes, then c; significand bits {a} of a, {b} of b"
        case IeeeDotAdd():
            return ", ".join([_IEEE[m.method], *_operations(m)])
        case _:
            return m.kind


def _operations(m: IeeeDotAdd) -> Iterator[str]:
    """What is not said by the method of IEEE operations."""
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
