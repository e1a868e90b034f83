"""The exact domain of every unit and every slicing: the largest K for integers of so many bits.

A slice of b bits is an integer of at most 2^b in magnitude. What splitting schemes (Ozaki's) ask of a unit is
that a sum of K products of slices is exact. Units of the same model are one record.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tcsmt.analysis.bounds.proof import StepwiseProof
from tcsmt.analysis.exactness.largest import exact
from tcsmt.analysis.exactness.search import UnitSubject
from tcsmt.analysis.exactness.units import ExactUnit
from tcsmt.matrix_units.arithmetic.formats import AnyFormat, IntegerFormat, float_format
from tcsmt.matrix_units.catalogue import Row
from tcsmt.prove.engine.solving import Solving
from tcsmt.support.results import markdown

#: The modules with the proofs: those of algorithms are not among them, for only units are asked about.
SOURCES = (
    *(
        f"analysis/exactness/{name}"
        for name in ("integer_units", "largest", "lattice", "search", "table", "units")
    ),
    "analysis/error",
    *(f"analysis/bounds/{name}" for name in ("fused_loss", "proof", "steps")),
)

#: Up to this K inputs beyond it are looked for; for the longest slices, up to the other one. It takes long.
_SEARCHED, _LONGEST = 1 << 12, 1 << 17


def families(rows: Iterable[Row]) -> list[list[Row]]:
    """Rows of one model each, in the order of the first ones."""
    members: dict[str, list[Row]] = {}
    for row in rows:
        members.setdefault(row.model.digest, []).append(row)
    return list(members.values())


def slice_bits(a: AnyFormat, b: AnyFormat) -> list[int]:
    """Numbers of bits such that both formats have every integer of at most 2^bits, the largest first."""
    most = min(_bits(a), _bits(b))
    return list(range(most, 0, -1))


def _bits(fmt: AnyFormat) -> int:
    if isinstance(fmt, IntegerFormat):
        return fmt.bits - 1 if fmt.signed else fmt.bits
    fmt = float_format(fmt)
    whole = fmt.largest_finite.numerator // fmt.largest_finite.denominator
    return min(fmt.precision, whole.bit_length() - 1, 24)


def record(family: list[Row], solving: Solving, *, search: bool = True) -> dict[str, Any]:
    """Return what is proved and found of a family: by bits of its slices, the largest K, and inputs beyond
    it.
    """
    row, model = family[0], family[0].model
    chain = StepwiseProof(solving)
    subject = UnitSubject(ExactUnit(chain, model))
    slices = []
    for number, bits in enumerate(slice_bits(model.a_format, model.b_format)):
        result = exact(subject, chain, integers=1 << bits, search=False)
        looked = search and result.k <= (_SEARCHED if number else _LONGEST) and result.k < subject.longest
        if looked:
            result = exact(subject, chain, integers=1 << bits)
        data = result.as_json()
        kept = ("k", "a", "b", "ends", "beyond", "closed")
        slices.append({"bits": bits, "searched": looked} | {name: data[name] for name in kept})
        if not result.k and result.beyond is None:
            break  # no lemma, or no integer as small as that
    proof = chain.verdict(0.0).as_json() if chain.steps else None
    names = [member.name for member in family]
    return {
        "unit": row.name,
        "units": names,
        "formats": [fmt.name for fmt in (model.a_format, model.b_format, model.c_format, model.d_format)],
        "instruction_k": model.k,
        "models": dict.fromkeys(names, model.digest),
        "slices": slices,
        "proof": proof,
    }


def table(records: Iterable[Mapping[str, Any]]) -> list[str]:
    """Lines of a Markdown table: units whose operands, results and exact domains are the same are one row."""
    groups: dict[tuple[Any, ...], list[str]] = {}
    for record in records:
        a, b, _, d = record["formats"]
        sizes = tuple((s["bits"], _shown(s)) for s in record["slices"])
        chained = record["formats"][2] == d
        key = (a if a == b else f"{a}·{b}", d, sizes, "" if chained else "one instruction")
        groups.setdefault(key, []).extend(record["units"])
    rows = []
    for (operands, d, sizes, note), units in groups.items():
        shown = "; ".join(f"{bits}: {k}" for bits, k in sizes if k) or "not proved"
        rows.append((operands, d, _architectures(units), f"{shown}{f' ({note})' if note else ''}"))
    return markdown(("operands", "result", "units", "largest K by bits of the slices"), rows)


def _shown(record: Mapping[str, Any]) -> str:
    if record["k"]:
        mark = "" if record["closed"] or record["beyond"] is None else " to " + str(record["beyond"]["k"] - 1)
        return f"**{record['k']}**{mark}" if record["closed"] else f"{record['k']}{mark}"
    if record["beyond"] is None:
        return ""
    # nothing is proved: that the smallest K is not exact is another thing than that some K is not
    return "**0**" if record["closed"] else f"< {record['beyond']['k']}"


def _architectures(units: Iterable[str]) -> str:
    """By architecture, the units: their kinds of instructions where the names begin alike."""
    kinds: dict[str, dict[str, None]] = {}
    for name in units:
        architecture, _, instruction = name.partition("/")
        kinds.setdefault(architecture, {})[instruction.split(".")[0]] = None
    return ", ".join(f"{architecture} (`{'`, `'.join(names)}`)" for architecture, names in kinds.items())
