"""The description of a unit: source, evidence, and its parameters in every convention in use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tcsmt.matrix_units.catalogue import disputes, status_text
from tcsmt.matrix_units.catalogue.row import Row
from tcsmt.matrix_units.models import FusedDotAdd
from tcsmt.matrix_units.models.circuit import Circuit
from tcsmt.matrix_units.models.fused_parts import Interleaved

__all__ = ["description", "ports_as_json", "ports_lines", "row_as_json"]


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
        f, carry, whole = m.sum.fraction_bits, m.enough_carry_bits, m.integer_bits
        out = m.d_format
        kept = m.final.precision.round_fraction_bits or out.fraction_bits
        lines += [
            "  conventions:",
            f"    alignment fraction bits F: {f}   (MMA-Sim)",
            f"    extra alignment bits n_eab = F - 23: {m.extra_alignment_bits}   (Khattak and Mikaitis)",
            f"    product alignment (integer, fraction bits): (2,{f}), {2 + f} bits wide",
            f"    bits kept of an aligned FP32-like significand in [1, 2): {f + 1}   (Valpey et al.)",
            f"    carry bits above the {_COUNTS.get(whole, whole)} integer bits: {carry} "
            f"= ceil(log2({m.lanes.n_fma} + 1))",
            "        (always enough; the fewest: tcsmt find --property carry-bits)",
            f"    accumulator: {whole + f + carry} bits and a sign; "
            f"as {{integer.fraction}}: {{{whole + carry}.{f}}}",
            f"    Fasi et al. count from normalised terms: {{{1 + carry}.{f}}}",
            f"    block FMA size N_FMA: {m.lanes.n_fma} of K = {m.k}: {_blocks(m)}",
            f"    final rounding: {m.final.rounding} at fraction bit {kept} of {out.name}",
        ]
    form, reason = _FORMS[simulation["form"]], simulation["reason"]
    lines += [f"  simulator: {form}: {reason}", "  parameters:"]
    lines += [f"    {name} = {value}" for name, value in m.as_json().items()]
    return "\n".join(lines)


def ports_lines(row: Row) -> list[str]:
    """For a circuit, which bits of which port each lane is, in one line or one for each operand."""
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
    """For a circuit, under ``ports``, which bits of which port each lane is; else nothing."""
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
