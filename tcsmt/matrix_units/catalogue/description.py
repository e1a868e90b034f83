"""The catalogue as people read it: the description of one unit, and tables in columns or as Markdown.

A description has the source, the evidence, and the parameters in every convention in use. In a table, rows
that differ in operands alone are one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

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
from tcsmt.matrix_units.models.circuit import Circuit
from tcsmt.matrix_units.models.fused_parts import Interleaved
from tcsmt.support.results import columns, markdown

_FORMS = {
    "floats": "floating-point instructions",
    "groups": "sums of groups in integers of 16 bits",
    "processor": "the processor's IEEE operations",
    "integers": "integer instructions",
}
#: Lanes that are all shown.
_LANES = 8
#: Characters of a line with all operands.
_LONG = 100
_COUNTS = {2: "two", 3: "three", 4: "four", 5: "five"}


def description(row: Row, simulation: Mapping[str, str]) -> str:
    """Return the row for people, several lines. simulation: how it is simulated."""
    lines = [
        row.name,
        f"  source: {row.source} ({row.date})",
        f"  evidence: {row.evidence}" + (f" on {', '.join(row.measured)}" if row.measured else ""),
        f"  status: {status_text(row)}",
    ]
    lines += [f"  disputed by: {other.name}: {other.note} ({other.source})" for other in disputes(row)]
    lines += [f"  note: {row.note}"] if row.note else []
    lines += [f"  {line}" for line in ports_lines(row)]
    m = row.model
    if not isinstance(m, FusedDotAdd):
        lines.append(f"  arithmetic: {m.title}")
    elif m.group > 1:
        lines.append(f"  arithmetic: sums of groups of {m.group} lanes, scaled, and then {m.title}")
    else:
        f, carry, integer_bits = m.sum.fraction_bits, m.enough_carry_bits, m.integer_bits
        out = m.d_format
        last_bit = m.final.precision.round_fraction_bits or out.fraction_bits
        lines += [
            "  conventions:",
            f"    alignment fraction bits F: {f}   (MMA-Sim)",
            f"    extra alignment bits n_eab = F - 23: {m.extra_alignment_bits}   (Khattak and Mikaitis)",
            f"    product alignment (integer, fraction bits): (2,{f}), {2 + f} bits wide",
            f"    bits kept of an aligned FP32-like significand in [1, 2): {f + 1}   (Valpey et al.)",
            f"    carry bits above the {_COUNTS.get(integer_bits, integer_bits)} integer bits: {carry} "
            f"= ceil(log2({m.lanes.n_fma} + 1))",
            "        (always enough; the fewest: tcsmt find --property carry-bits)",
            f"    accumulator: {integer_bits + f + carry} bits and a sign; "
            f"as {{integer.fraction}}: {{{integer_bits + carry}.{f}}}",
            f"    Fasi et al. count from normalised terms: {{{1 + carry}.{f}}}",
            f"    block FMA size N_FMA: {m.lanes.n_fma} of K = {m.k}: {_blocks(m)}",
            f"    final rounding: {m.final.rounding} at fraction bit {last_bit} of {out.name}",
        ]
    form, reason = _FORMS[simulation["form"]], simulation["reason"]
    lines += [f"  simulator: {form}: {reason}", "  parameters:"]
    lines += [f"    {name} = {value}" for name, value in m.as_json().items()]
    return "\n".join(lines)


def ports_lines(row: Row) -> list[str]:
    """Return, for a circuit, which bits of which port each lane is, in one line or one for each operand."""
    of_operand: dict[str, list[str]] = {}
    for name, bits in ports_as_json(row).get("ports", {}).items():
        of_operand.setdefault(name.rstrip("0123456789"), []).append(f"{name} = {bits}")
    shown = []
    for texts in of_operand.values():
        few = texts if len(texts) <= _LANES else [*texts[:2], "...", texts[-1]]
        shown.append(", ".join(few))
    together = "; ".join(shown)
    lines = [together] if together and len(together) <= _LONG else shown
    return [f"ports: {line}" for line in lines]


def ports_as_json(row: Row) -> dict[str, dict[str, str]]:
    """Return, for a circuit, under ``ports``, which bits of which port each lane is; else nothing."""
    return {"ports": row.model.port_map} if isinstance(row.model, Circuit) else {}


def row_as_json(row: Row) -> dict[str, Any]:
    """Return the row as plain data, with the names of the models that dispute it."""
    return {**row.as_json(), **ports_as_json(row), "disputed_by": [other.name for other in disputes(row)]}


def _blocks(m: FusedDotAdd) -> str:
    count = len(m.blocks)
    if count == 1:
        return "one fused sum"
    if isinstance(m.lanes, Interleaved):
        return f"{count} sums, lanes dealt in groups of {m.lanes.interleave}"
    return f"{count} chained sums of contiguous lanes"


_HEAD = ("architecture", "instructions", "operands → D", "K", "N_FMA", "F", "zero", "arithmetic", "evidence")


_IEEE = {
    "fma": "fused multiply-adds in order",
    "exact": "exact sums, rounded once",
    "pairwise": "IEEE additions in pairs",
    "sequential": "IEEE additions in order",
}


def as_text(rows: Iterable[Row]) -> list[str]:
    """Return a line for each row, with its parameters, evidence and status."""
    table: list[tuple[str, ...]] = [("unit", "K", "N_FMA", "F", "zero", "evidence", "status")]
    for row in rows:
        numbers = ("-" if text is None else text for text in _numbers(row.model))
        table.append((row.name, str(row.model.k), *numbers, row.evidence, status_text(row)))
    return columns(table, "<>>>><<")


def as_markdown(rows: Iterable[Row]) -> str:
    """Return a table of the units, and, where there are any, one of the claims about them."""
    rows = list(rows)
    claims = [(f"`{r.name}`", f"{r.note} ({r.source})", r.status) for r in rows if "@" in r.instruction]
    lines = markdown(_HEAD, _units(row for row in rows if "@" not in row.instruction))
    if claims:
        lines += ["", *markdown(("claim", "what it says, and where", "status"), claims)]
    return "\n".join(lines)


def _numbers(model: Model) -> list[str | None]:
    """Return N_FMA, F and the exponent of zero; None for what a model has not."""
    values = (getattr(model.parameters, name, None) for name in ("n_fma", "fraction_bits", "zero_exponent"))
    return [None if value is None else str(value) for value in values]


def _units(rows: Iterable[Row]) -> Iterator[tuple[str, ...]]:
    """Yield the rows of a table; those that differ in shapes or operands alone are one."""
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
