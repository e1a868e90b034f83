"""What was found about the algorithms, unit by unit: ``tcsmt accuracy findings`` writes it as it goes.

Each entry of the list has a key of its own; one that is in the file already is not computed again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from tcsmt.algorithms.bound import bound
from tcsmt.algorithms.compare import AlgorithmPair, ErrorComparison, compare, judge
from tcsmt.algorithms.error import ulp
from tcsmt.algorithms.result_flaws import FLAWS, Case, find
from tcsmt.algorithms.search import Rows, climb, errors
from tcsmt.algorithms.walk import parting, walk
from tcsmt.arithmetic.rounding import ROUNDINGS
from tcsmt.models import FusedDotAdd, Model
from tcsmt.pictures.explain import signed_text
from tcsmt.prove.solving import Solving
from tcsmt.recipes.algorithm import Algorithm
from tcsmt.recipes.named import algorithm_named, recipe_named, units_for
from tcsmt.recipes.split import F32
from tcsmt.statements.domain import Domain
from tcsmt.statements.trust import Trust, sure
from tcsmt.statements.verdict import Distinguished, Unknown, answer_json, said_by
from tcsmt.support.errors import TcsmtError
from tcsmt.support.files import replace_text

__all__ = ["TYPE1", "entries", "record", "table", "write"]

#: The units of question 1; Volta as published is a refuted reading of the catalogue.
UNITS = (
    "volta/mma.m8n8k4.f32.f16.f16.f32@valpey", "volta", "turing", "ampere", "hopper", "blackwell", "cdna3",
)  # fmt: skip
TYPE1, SMALL = Domain(exponents=(-15, 14)), Domain(exponents=(-35, -15))
#: Where the first algorithm may never be worse: inputs that are exact in f16.
EXACT = Domain(exponents=(-14, 14), bits=(11, 11))
#: One product of numbers that are normal in f16.
NORMAL = Domain(exponents=(-14, 14), c_zero=True)

#: Words of which none is subnormal, and those left over are small.
FINE = Domain(exponents=(-2, 14))
#: Where ΔA·ΔB is zero, one factor being exact in f16; and the shortest significands where it is not.
ONE_EXACT, TWELVE = replace(FINE, bits=(22, 11)), replace(FINE, bits=(12, 12))
#: One binade, exact in f16: what the unit's own roundings do to a sum.
BINADE = Domain(exponents=(0, 0), bits=(11, 11))

#: Other algorithms whose error is bounded, and their units.
BASELINES = (
    ("fp32-fma", "hopper"), ("ootomo-tf32tf32", "ampere"), ("cutlass-3xtf32", "ampere"), ("bf16x9", "hopper"),
    ("fasi-f16x2", "volta"), ("fasi-f16x2", "blackwell"), ("markidis", "cdna1"),
)  # fmt: skip

#: Question 5: algorithms and units; binary32 multiply-adds are the same everywhere.
FLAWED = {
    **dict.fromkeys(("markidis", "ootomo-halfhalf", "single-f16"), ("volta", "ampere", "hopper", "cdna3")),
    "fp32-fma": ("hopper",),
}

Entry = tuple[str, Callable[[], dict[str, Any]]]


def entries(solving: Solving, seconds: float) -> Iterator[Entry]:
    """Every entry: its key, and what computes it. ``seconds``: for each simulator search."""
    yield "Table 5 (Valpey et al.)", table_five
    for unit in UNITS[1:]:
        yield f"rounding inside: {unit}", lambda unit=unit: rounding_inside(unit)  # type: ignore[misc]
    for unit in UNITS:
        yield from _question_one(unit, ("ootomo-halfhalf", "markidis"), solving, seconds)
        yield from _question_one(unit, ("ootomo-halfhalf", "ootomo-halfhalf-4"), solving, seconds, short=True)
    for unit in ("ampere", "hopper", "blackwell", "cdna3"):
        yield from _question_one(unit, ("ootomo-tf32tf32", "cutlass-3xtf32"), solving, seconds, short=True)
    names = ("ootomo-halfhalf", "ootomo-halfhalf-4")
    for unit, k in (("volta", 4), ("hopper", 4), ("cdna3", 4)):
        for domain in (ONE_EXACT, TWELVE):
            for one, two in (names, names[::-1]):
                yield _entry(one, two, unit, k, domain, solving, seconds)
    for unit in UNITS:
        yield from _bounds("single-f16", unit, (1, _own(unit)), (BINADE, EXACT), solving, seconds)
        for name in ("markidis", "ootomo-halfhalf"):
            domains = [domain for wide in (TYPE1, FINE) for domain in (replace(wide, c_zero=True), wide)]
            yield from _bounds(name, unit, (1, _own(unit)), domains, solving, seconds)
    for name, unit in BASELINES:
        yield from _bounds(name, unit, (1, 4, 16), (FINE,), solving, seconds)
    for question in FLAWS:
        for name, units in FLAWED.items():
            for unit in units:
                yield from _question_five(question, name, unit, solving, seconds)


def _bounds(
    name: str, unit: str, lengths: Sequence[int], domains: Sequence[Domain], solving: Solving, seconds: float
) -> Iterator[Entry]:
    for k in sorted(set(lengths)):
        for domain in domains:
            key = f"bound of {name}: {unit}, K = {k}, {domain}"
            yield key, lambda k=k, domain=domain: bounded(name, unit, k, domain, solving, seconds)  # type: ignore[misc]


def _own(unit: str) -> int:
    """The K of a unit's instruction with FP16 operands."""
    return units_for(recipe_named("markidis"), unit)[0].model.k


def _question_five(question: str, name: str, unit: str, solving: Solving, seconds: float) -> Iterator[Entry]:
    domains = [(k, domain) for k in (1, 2, 4) for domain in (replace(TYPE1, c_zero=True), TYPE1)]
    for k, domain in [*domains, (1, NORMAL)]:
        key = f"{question} {name}: {unit}, K = {k}, {domain}"
        yield key, lambda k=k, domain=domain: flawed(question, name, unit, k, domain, solving, seconds)  # type: ignore[misc]


def flawed(
    question: str, name: str, unit: str, k: int, domain: Domain, solving: Solving, seconds: float
) -> dict[str, Any]:
    """The short witness and the worst found, or the proof, or why there is neither."""
    flaw = FLAWS[question](name, algorithm_named(name, unit, k)[0], domain)
    found = find(flaw, solving, search=seconds)
    verdict = found.verdict
    data: dict[str, Any] = {
        "question": question, "algorithm": name, "unit": unit, "k": k, "domain": str(domain),
        "measure": flaw.measure,
        "search": seconds, "timeout": solving.settings.timeout,
    }  # fmt: skip
    data |= answer_json(verdict, flaw.title.lower(), flaw.absent.lower())
    if found.short is not None and found.worst is not None:
        data |= {"short": _case(found.short), "worst": _case(found.worst)}
    return data


def _case(case: Case) -> dict[str, Any]:
    data: dict[str, Any] = {
        "inputs": {n: F32.hex(w) for n, w in case.values.items() if w},
        "exact": signed_text(case.exact), "result": F32.hex(case.result),
    }  # fmt: skip
    if case.moved:
        data |= {"moved": case.moved, "to": F32.hex(case.word), "exact_after": signed_text(case.exact_after)}
        data["result_after"] = F32.hex(case.after)
    return data | {"size": _number(case.size), "ulps": _number(case.ulps)}


def _question_one(
    unit: str, names: tuple[str, str], solving: Solving, seconds: float, *, short: bool = False
) -> Iterator[Entry]:
    own = units_for(recipe_named(names[0]), unit)[0].model.k if short else _own(unit)
    lengths = sorted({1, own}) if short else sorted({1, 2, 4, own})
    for k in lengths:
        domains = [replace(TYPE1, c_zero=True), TYPE1]
        if not short and k in (1, own):
            domains += [replace(SMALL, c_zero=True), replace(EXACT, c_zero=True), EXACT]
        for domain in domains:
            for one, two in (names, names[::-1]):
                yield _entry(one, two, unit, k, domain, solving, seconds)


def _entry(one: str, two: str, unit: str, k: int, domain: Domain, solving: Solving, seconds: float) -> Entry:
    key = f"{one} worse than {two}: {unit}, K = {k}, {domain}"
    return key, lambda: asked(one, two, unit, k, domain, solving, seconds)


def asked(
    one: str, two: str, unit: str, k: int, domain: Domain, solving: Solving, seconds: float
) -> dict[str, Any]:
    """The smallest witness or the proof, and the worst that a climb of so many seconds finds."""
    pair = AlgorithmPair(
        (one, two), (algorithm_named(one, unit, k)[0], algorithm_named(two, unit, k)[0]), domain
    )
    found = compare(pair, solving, search=seconds)
    data = record(found) | {"one": one, "two": two, "unit": unit, "k": k, "domain": str(domain)}
    if isinstance(found.verdict, Distinguished):
        single, _ = climb(domain, pair.wide, 1, pair.with_k(1).score, seconds=seconds / 2)
        rows, _ = climb(domain, pair.wide, k, pair.score, seconds=seconds, start=single.padded(k))
        (worst,) = judge(pair, [rows.values(0)])
        data["worst"] = {
            "inputs": {n: F32.hex(w) for n, w in rows.values(0).items()},
            "excess_ulp": _number(worst.excess), "excess_relative": _number(worst.relative),
            "errors_ulp": [_number(_ulps(e, worst.exact)) for e in worst.errors],
        }  # fmt: skip
    return data


def bounded(name: str, unit: str, k: int, domain: Domain, solving: Solving, seconds: float) -> dict[str, Any]:
    """The largest relative error found, in 2^-24, and the smallest bound proved."""
    found = bound(algorithm_named(name, unit, k)[0], domain, solving, seconds=4 * seconds, alternate=False)
    worst = found.relative
    data: dict[str, Any] = {
        "algorithm": name, "unit": unit, "k": k, "domain": str(domain),
        "found": 0.0 if worst is None else "infinite" if worst.relative is None else _number(worst.relative),
        "inputs": {} if worst is None else {n: F32.hex(w) for n, w in worst.values.items() if w},
        "bound": _number(found.proved), "bound_ulps": _number(found.in_ulps),
        "shares": {what: _number(loss) for what, loss in found.shares.items()},
        "open": found.open,
    }  # fmt: skip
    verdict = found.proof or Unknown(reason=found.open, seconds=found.seconds)
    return data | answer_json(verdict, "", "bounded")


def record(found: ErrorComparison) -> dict[str, Any]:
    """A comparison's verdict in short."""
    verdict, judgement = found.verdict, found.judgement
    data = answer_json(verdict, "worse", "never worse")
    if isinstance(verdict, Distinguished) and judgement is not None:
        data["inputs"] = {n: F32.hex(w) for n, w in verdict.values.items() if w}
        data["values"] = {n: F32.describe(w) for n, w in verdict.values.items() if w}
        data["exact"] = signed_text(judgement.exact)
        data["results"] = [F32.hex(w) for w in judgement.words]
        data |= {"excess_ulp": _number(judgement.excess), "excess_relative": _number(judgement.relative)}
        parts = parting(*(walk(a, verdict.values) for a in found.pair.algorithms))
        data["parts_at"] = parts and parts.name
    return data


def _number(x: Fraction | None) -> float | None:
    return None if x is None else float(f"{float(x):.6g}")


def _ulps(error: Fraction | None, exact: Fraction) -> Fraction | None:
    return None if error is None else error / ulp(exact)


#: Table 5 with b1's exponent 7, or a1's 6, where -7 and -8 are printed.
_TABLE_5 = (
    (("1.0009765625", "1.326171875", "1", "1"), (-8, -14, -12, -12)),
    (("1.998046875", "1.4443359375", "1", "1"), (-7, -7, -12, -12)),
)


def table_five() -> dict[str, Any]:
    """Question 2: the printed exponents and both corrections, on Volta as published and exact."""
    rows: list[dict[str, Any]] = []
    for label, change in (("as printed", {}), ("b1·2^7", {(1, 0): 7}), ("a1·2^6", {(0, 0): 6})):
        values: dict[str, int] = {"c": F32.word(Fraction(1, 2**24))}
        for side, (significands, exponents) in enumerate(_TABLE_5):
            for lane, (s, e) in enumerate(zip(significands, exponents, strict=True)):
                exponent = change.get((side, lane), e)
                values["ab"[side] + str(lane)] = F32.word(Fraction(s) * Fraction(2) ** exponent)
        for unit in UNITS:
            names = ("ootomo-halfhalf", "markidis")
            algorithms = tuple(algorithm_named(n, unit, 4)[0] for n in names)
            pair = AlgorithmPair(names, (algorithms[0], algorithms[1]), Domain(exponents=(-126, 127)))
            (found,) = judge(pair, [values])
            moves = [walk(a, values) for a in algorithms]
            parts = parting(*moves)
            rows.append(
                {
                    "inputs": label, "unit": unit, "exact": signed_text(found.exact),
                    **{n: F32.describe(w) for n, w in zip(names, found.words, strict=True)},
                    "ootomo_is_worse": found.worse, "parts_at": parts and parts.name,
                    "loses": {
                        n: {m.name: signed_text(m.lost) for m in steps if m.lost and m.kind != "split"}
                        for n, steps in zip(names, moves, strict=True)
                    },
                }
            )  # fmt: skip
    return {"rows": rows}


def _swapped(unit: Model, **changes: Any) -> Model | None:
    return replace(unit, **changes) if isinstance(unit, FusedDotAdd) else None


def rounding_inside(unit: str) -> dict[str, Any]:
    """Question 3: Markidis with the unit's truncations swapped for nearest, beside the others.

    Root mean square over random rows (a and b uniform in (-1, 1), c = 0) of the error relative to
    Σ |a·b|, in 2^-24, at K = 16 (4096 rows), 64 (1024) and 256 (256).
    """
    nearest = ROUNDINGS["RNE"]
    plain, row = algorithm_named("markidis", unit)
    variants: dict[str, Algorithm] = {"markidis": plain}
    for label, changes in (
        ("last rounding to nearest", {"rounding": nearest}),
        ("alignment to nearest", {"alignment": nearest}),
        ("both to nearest", {"rounding": nearest, "alignment": nearest}),
    ):
        model = _swapped(row.model, **changes)
        if model is not None:
            variants[f"markidis, {label}"] = replace(plain, unit=model)
    for name in ("ootomo-halfhalf", "fp32-fma"):
        variants[name] = algorithm_named(name, unit)[0]
    rng = np.random.default_rng(2022)
    found: dict[str, Any] = {}
    for k, count in ((16, 4096), (64, 1024), (256, 256)):
        a, b = (rng.uniform(-1, 1, (count, k)).astype(np.float32).view(np.uint32) for _ in range(2))
        rows = Rows(a, b, np.zeros(count, np.uint32))
        results = {name: rows.run(algorithm) for name, algorithm in variants.items()}
        wrong, _, size = errors(rows, *results.values())
        found[str(k)] = {
            name: float(f"{np.sqrt(np.mean((e / size) ** 2)) * 2**24:.4g}")
            for name, e in zip(results, wrong, strict=True)
        }
    return {"unit": row.name, "rms_error_relative": found}


def write(
    path: Path, work: Iterator[Entry], progress: Callable[[str], None], trust: Trust
) -> Mapping[str, Any]:
    """Computes what is not in the file yet, and writes the file after each entry; at the end, in order.

    Proofs in the file that do not count are asked for again. Returned are all entries, those proofs that an
    earlier run has kept marked as ``earlier``.
    """
    known: dict[str, Any] = {}
    if path.exists():
        try:
            known = json.loads(path.read_text())
        except (OSError, ValueError) as error:
            raise TcsmtError(f"{path}: no findings of an earlier run ({error})") from None
    found: dict[str, Any] = {}
    for key, compute in work:
        entry = known.get(key)
        proof = entry is not None and "scripts" in entry
        if entry is None or (proof and not trust.takes(sure=sure(entry))):
            entry = found[key] = known[key] = compute()
            replace_text(path, json.dumps(known, indent=1, ensure_ascii=False) + "\n")
            progress(f"{key}: {entry.get('answer', 'done')}")
        else:
            found[key] = {**entry, "earlier": True} if proof else entry
    known = {key: known[key] for key in found}
    replace_text(path, json.dumps(known, indent=1, ensure_ascii=False) + "\n")
    return found


def table(known: Mapping[str, Any]) -> str:
    """The comparisons as a Markdown table: verdict, smallest witness, the worst excess found."""
    lines = [
        "| worse | than | unit | K | domain | verdict | smallest witness | worst found, ulp (2^-24 of Σ) |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for entry in known.values():
        if "one" not in entry:
            continue
        witness = ", ".join(f"{n} = {v}" for n, v in entry.get("values", {}).items())
        worst = entry.get("worst", {})
        excess = f"{worst['excess_ulp']:g} ({worst['excess_relative']:g})" if worst else ""
        verdict = entry["answer"] + _proof(entry)
        cells = [entry["one"], entry["two"], entry["unit"], entry["k"], entry["domain"], verdict]
        lines.append("| " + " | ".join(map(str, [*cells, witness, excess])) + " |")
    bounds = [entry for entry in known.values() if entry.get("answer") == "bounded"]
    if bounds:
        lines += [
            "", "| algorithm | unit | K | domain | largest error found, 2^-24 of Σ | proved |",
            "|---|---|---|---|---|---|",
        ]  # fmt: skip
    for entry in bounds:
        names = ("algorithm", "unit", "k", "domain", "found", "bound")
        lines.append("| " + " | ".join(str(entry[name]) for name in names) + _proof(entry) + " |")
    unknown = {key: entry for key, entry in known.items() if entry.get("verdict") == "unknown"}
    lines += [f"\nunknown: {key}: {entry['reason']}" for key, entry in unknown.items()]
    return "\n".join(lines)


def _proof(entry: Mapping[str, Any]) -> str:
    """For a proof, by whom, and whether by an earlier run."""
    if "scripts" not in entry:
        return ""
    said = said_by(entry)
    kept = "; kept from an earlier run" if entry.get("earlier") else ""
    return f" ({said}{kept})" if said or kept else ""
