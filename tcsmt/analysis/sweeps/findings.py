"""The findings about all algorithms, unit by unit: ``tcsmt accuracy findings`` writes them as it goes.

Each entry of the list has a key of its own; one that is in the file already, about the same graphs, is not
computed again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache, lru_cache
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np

from tcsmt.analysis.certified import certify_bound, certify_comparison, certify_flaw
from tcsmt.analysis.search.bound import Bound, bound
from tcsmt.analysis.search.compare import AlgorithmPair, compare, judge
from tcsmt.analysis.search.records import bound_json, comparison_json, flaw_json, judged_json
from tcsmt.analysis.search.result_flaws import FLAWS, find
from tcsmt.analysis.search.search import Rows, climb, errors
from tcsmt.analysis.search.subnormal_bound import bound_with_subnormals
from tcsmt.analysis.search.traced_steps import first_divergence, trace_steps
from tcsmt.language.graphs.digest import digest_of_graph, digest_of_texts
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS
from tcsmt.matrix_units.catalogue.surveyed import (
    ANY_UNIT,
    AS_PUBLISHED,
    BOUNDED,
    BOUNDED_ALONE,
    DISTINCT_FP16_UNITS,
    FP16_UNITS,
    RESIDUAL_UNITS,
    TF32_UNITS,
)
from tcsmt.matrix_units.models import FusedDotAdd, Model
from tcsmt.programs.recipes.algorithm import Algorithm
from tcsmt.programs.recipes.named import algorithm_named, recipe_named, units_for
from tcsmt.programs.steps.split import F32
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.explain import signed_text
from tcsmt.prove.statements.verdict import (
    Certified,
    Distinguished,
    Equivalent,
    engine_digest,
    has_certificate,
    said_by,
    sure,
)
from tcsmt.support.checkpoint import Checkpoint, Layout, Record
from tcsmt.support.jobs.processes import Task
from tcsmt.support.jobs.tasks import Workers, computed
from tcsmt.support.progress import ProgressCallback, no_progress
from tcsmt.support.results import markdown

#: The units of question 1.
UNITS = (AS_PUBLISHED, *FP16_UNITS)
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
#: What FP16 and BF16 both hold: so that errors of units with either can be set side by side.
SHARED = Domain(exponents=(-7, 0), bits=(8, 8))
#: What every 8-bit format of three fraction bits holds as normal numbers.
EIGHT_BITS = Domain(exponents=(-6, 7), bits=(4, 4))

#: Question 5: algorithms and units.
FLAWED = {
    **dict.fromkeys(("markidis", "ootomo-halfhalf", "single-f16"), DISTINCT_FP16_UNITS),
    "fp32-fma": (ANY_UNIT,),
}


@dataclass(frozen=True)
class About:
    """What an entry is about: a digest of the question, and those of the algorithms on their units."""

    asked: str
    models: dict[str, str]


@dataclass(frozen=True)
class Effort:
    """How hard is tried: the solvers' options, seconds of each search.

    run: tells one run from another, which has to prove everything
    itself.
    """

    options: SolvingOptions
    seconds: float
    run: str = field(default_factory=lambda: uuid4().hex)

    def task(self, key: str, about: About, function: Callable[..., Record], *arguments: Any) -> Task:
        """An entry of the list that solvers are asked about: ``function(*given, solving, seconds)``."""
        return Task(key, about.asked, _solved, (self, function, *arguments), _code(), about.models)


def _solved(effort: Effort, function: Callable[..., Record], *arguments: Any) -> Record:
    return function(*arguments, _solving(effort), effort.seconds)


@lru_cache(maxsize=1)
def _solving(effort: Effort) -> Solving:
    """One for each process and run: what one entry has proved of a unit's steps serves the next."""
    return Solving(effort.options)


def _code() -> str:
    return engine_digest("analysis", "programs", "simulate")


@cache
def _digest(name: str, unit: str, k: int | None) -> str:
    """Of an algorithm on a unit."""
    return algorithm_named(name, unit, k)[0].digest


def _asked(what: str, names: Sequence[str], unit: str, k: int, domain: Domain) -> About:
    """Return what is asked of algorithms, on the inputs of a domain."""
    models = {name: _digest(name, unit, k) for name in names}
    return About(digest_of_texts([what, *models.values(), _where(domain, k)]), models)


@cache
def _where(domain: Domain, k: int) -> str:
    """Of a domain's condition on a dot product's inputs, which every algorithm has alike on every unit."""
    algorithm = _any_algorithm(k)
    return digest_of_graph(domain.holds(algorithm.input_formats, algorithm.trace))


@cache
def _any_algorithm(k: int) -> Algorithm:
    return algorithm_named("fp32-fma", ANY_UNIT, k)[0]


def entries(effort: Effort) -> Iterator[Task]:
    """Every entry of the list, by its key."""
    models = _digests(_TABLE_5_NAMES, UNITS, 4)
    yield Task("Table 5 (Valpey et al.)", digest_of_texts(models.values()), table_five, (), _code(), models)
    for unit in FP16_UNITS:
        alone = ("markidis", "ootomo-halfhalf", "fp32-fma")
        key, models = f"rounding inside: {unit}", _digests(alone, [unit], None)
        yield Task(key, digest_of_texts(models.values()), rounding_inside, (unit,), _code(), models)
    for unit in UNITS:
        yield from _question_one(unit, ("ootomo-halfhalf", "markidis"), effort)
        yield from _question_one(unit, ("ootomo-halfhalf", "ootomo-halfhalf-4"), effort, short=True)
    for unit in TF32_UNITS:
        yield from _question_one(unit, ("ootomo-tf32tf32", "cutlass-3xtf32"), effort, short=True)
    names = ("ootomo-halfhalf", "ootomo-halfhalf-4")
    for unit in RESIDUAL_UNITS:
        for domain in (ONE_EXACT, TWELVE):
            for first, second in (names, names[::-1]):
                yield _entry(first, second, unit, 4, domain, effort)
    for unit in UNITS:
        yield from _bounds("single-f16", unit, (1, _own(unit)), (BINADE, EXACT), effort)
        for name in ("markidis", "ootomo-halfhalf"):
            domains = [domain for wide in (TYPE1, FINE) for domain in (replace(wide, c_zero=True), wide)]
            yield from _bounds(name, unit, (1, _own(unit)), domains, effort)
    for name, unit in BOUNDED:
        yield from _bounds(name, unit, (1, 4, 16), (FINE,), effort)
    for name, units in BOUNDED_ALONE.items():
        for unit in units:
            recipe = recipe_named(name)
            own = units_for(recipe, unit)[0].model.k
            domain = EIGHT_BITS if recipe.split.format.width == 8 else SHARED
            yield from _bounds(name, unit, (own, 2 * own), (domain,), effort)
    for question in FLAWS:
        for name, units in FLAWED.items():
            for unit in units:
                yield from _question_five(question, name, unit, effort)


def _digests(names: Sequence[str], units: Sequence[str], k: int | None) -> dict[str, str]:
    return {f"{name} on {unit}": _digest(name, unit, k) for name in names for unit in units}


def _bounds(
    name: str, unit: str, lengths: Sequence[int], domains: Sequence[Domain], effort: Effort
) -> Iterator[Task]:
    for k in sorted(set(lengths)):
        for domain in domains:
            key = f"bound of {name}: {unit}, K = {k}, {domain}"
            about = _asked("bound", [name], unit, k, domain)
            yield effort.task(key, about, bounded, name, unit, k, domain)


def _own(unit: str) -> int:
    """Return the K of a unit's instruction with FP16 operands."""
    return units_for(recipe_named("markidis"), unit)[0].model.k


def _question_five(question: str, name: str, unit: str, effort: Effort) -> Iterator[Task]:
    domains = [(k, domain) for k in (1, 2, 4) for domain in (replace(TYPE1, c_zero=True), TYPE1)]
    for k, domain in [*domains, (1, NORMAL)]:
        key = f"{question} {name}: {unit}, K = {k}, {domain}"
        about = _asked(question, [name], unit, k, domain)
        yield effort.task(key, about, flawed, question, name, unit, k, domain)


def flawed(
    question: str, name: str, unit: str, k: int, domain: Domain, solving: Solving, seconds: float
) -> dict[str, Any]:
    """The short witness and the worst found, or the proof, or why there is neither."""
    algorithm, row = algorithm_named(name, unit, k)
    flaw = FLAWS[question](name, algorithm, domain)
    result = find(flaw, solving, search=seconds)
    about = {"question": question, "unit": unit, "measure": flaw.measure}
    about |= {"search": seconds, "timeout": solving.options.timeout} | flaw_json(result)
    if solving.certificates is not None and isinstance(result.verdict, Equivalent):
        about |= _certificate(certify_flaw(solving.certificates, question, flaw, row))
    return about


def _certificate(certified: Certified) -> Record:
    return {"certificate": certified.as_json()}


def _question_one(
    unit: str, names: tuple[str, str], effort: Effort, *, short: bool = False
) -> Iterator[Task]:
    own = units_for(recipe_named(names[0]), unit)[0].model.k if short else _own(unit)
    lengths = sorted({1, own}) if short else sorted({1, 2, 4, own})
    for k in lengths:
        domains = [replace(TYPE1, c_zero=True), TYPE1]
        if not short and k in (1, own):
            domains += [replace(SMALL, c_zero=True), replace(EXACT, c_zero=True), EXACT]
        for domain in domains:
            for first, second in (names, names[::-1]):
                yield _entry(first, second, unit, k, domain, effort)


def _entry(first: str, second: str, unit: str, k: int, domain: Domain, effort: Effort) -> Task:
    key = f"{first} worse than {second}: {unit}, K = {k}, {domain}"
    return effort.task(
        key, _asked("worse", [first, second], unit, k, domain), asked, first, second, unit, k, domain
    )


def asked(
    left: str, right: str, unit: str, k: int, domain: Domain, solving: Solving, seconds: float
) -> dict[str, Any]:
    """Return the smallest witness or the proof, and the worst that a climb of so many seconds finds."""
    (first, row), (second, other) = (algorithm_named(name, unit, k) for name in (left, right))
    pair = AlgorithmPair((left, right), (first, second), domain)
    result = compare(pair, solving, search=seconds)
    data = {"unit": unit, **comparison_json(result)}
    if solving.certificates is not None and isinstance(result.verdict, Equivalent):
        data |= _certificate(certify_comparison(solving.certificates, pair, [row, other]))
    if isinstance(result.verdict, Distinguished):
        single, _ = climb(domain, pair.wide, 1, pair.with_k(1).score, seconds=seconds / 2)
        rows, _ = climb(domain, pair.wide, k, pair.score, seconds=seconds, start=single.padded(k))
        values = rows.values(0)
        (worst,) = judge(pair, [values])
        data["worst"] = judged_json(pair, values, worst)
    return data


def bounded(name: str, unit: str, k: int, domain: Domain, solving: Solving, seconds: float) -> dict[str, Any]:
    """Return the largest errors found, and the smallest bound proved."""
    algorithm, row = algorithm_named(name, unit, k)
    result = bound(algorithm, domain, solving, seconds=4 * seconds, alternate=False)
    data = _bound_record(name, unit, k, domain, result)
    if solving.certificates is not None and result.proved is not None:
        data |= _certificate(certify_bound(solving.certificates, name, algorithm, row, domain, result))
    return data


def bounded_with_subnormals(
    name: str, unit: str, k: int, domain: Domain, solving: Solving, seconds: float
) -> dict[str, Any]:
    """Return the same of a unit by itself, where operands may be subnormal numbers; no certificate is about
    that.
    """
    algorithm, _ = algorithm_named(name, unit, k)
    result = bound_with_subnormals(algorithm, domain, solving, seconds=4 * seconds)
    return _bound_record(name, unit, k, domain, result)


def _bound_record(name: str, unit: str, k: int, domain: Domain, result: Bound) -> dict[str, Any]:
    proved = result.proof is not None
    return {
        "algorithm": name,
        "unit": unit,
        "k": k,
        "domain": str(domain),
        "verdict": "equivalent" if proved else "unknown",
        "answer": "bounded" if proved else "unknown",
        **bound_json(result),
    }


_TABLE_5_NAMES = ("ootomo-halfhalf", "markidis")
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
            names = _TABLE_5_NAMES
            algorithms = tuple(algorithm_named(n, unit, 4)[0] for n in names)
            pair = AlgorithmPair(names, (algorithms[0], algorithms[1]), Domain(exponents=(-126, 127)))
            (errors,) = judge(pair, [values])
            traces = [trace_steps(a, values) for a in algorithms]
            parts = first_divergence(*traces)
            rows.append(
                {
                    "inputs": label,
                    "unit": unit,
                    "exact": signed_text(errors.exact),
                    **{n: F32.describe(w) for n, w in zip(names, errors.words, strict=True)},
                    "ootomo_is_worse": errors.worse,
                    "first_difference": parts and parts.name,
                    "loses": {
                        n: {
                            step.name: signed_text(step.lost)
                            for step in trace
                            if step.lost and step.kind != "split"
                        }
                        for n, trace in zip(names, traces, strict=True)
                    },
                }
            )
    return {"rows": rows}


def _swapped(unit: Model, **changes: Any) -> Model | None:
    return unit.replace(**changes) if isinstance(unit, FusedDotAdd) else None


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
    records: dict[str, Any] = {}
    for k, count in ((16, 4096), (64, 1024), (256, 256)):
        a, b = (rng.uniform(-1, 1, (count, k)).astype(np.float32).view(np.uint32) for _ in range(2))
        rows = Rows(a, b, np.zeros(count, np.uint32))
        results = {name: rows.run(algorithm) for name, algorithm in variants.items()}
        wrong, _, size = errors(rows, *results.values())
        records[str(k)] = {
            name: float(f"{np.sqrt(np.mean((e / size) ** 2)) * 2**24:.4g}")
            for name, e in zip(results, wrong, strict=True)
        }
    return {"unit": row.name, "rms_error_relative": records}


def write(
    path: Path | None,
    tasks: Sequence[Task],
    options: SolvingOptions,
    progress: ProgressCallback = no_progress,
    only: str = "",
) -> tuple[dict[str, Record], dict[str, str]]:
    """Computes what is not in the file yet, and writes the file after each entry; at the end, in order.

    path: None keeps nothing. Proofs in the file that do not count are asked for again. Returned are all
    entries, those proofs that an earlier run has kept marked as ``earlier``, and why others failed. only:
    text in the keys of the entries that are looked at and returned; the others stay in the file as they are.
    """

    def counts(task: Task, entry: Record) -> bool:
        return _counts(task, entry, options) and has_certificate(entry, options.certificates)

    workers = Workers(options.jobs, options.scheduler)
    with Checkpoint(path, Layout(), "--output") as kept:
        results = computed([task for task in tasks if only in task.key], kept, workers, counts, progress)
        kept.arrange(task.key for task in tasks if task.key in kept.records)
    marked = {
        key: {**entry, "earlier": True} if key in results.earlier and "scripts" in _proof(entry) else entry
        for key, entry in results.records.items()
    }
    return marked, results.failed


def _counts(task: Task, entry: Record, options: SolvingOptions) -> bool:
    """Return whether what an earlier run has found need not be asked again."""
    proof = _proof(entry)
    return "scripts" not in proof or (entry.get("code") == task.code and options.takes(sure=sure(proof)))


def _proof(entry: Record) -> Record:
    """Where an entry has its proof, if it has one: a bound's stands apart from the errors found."""
    proof: Record = entry.get("proof", entry)
    return proof


#: Heads of the tables of comparisons and of bounds.
_COMPARED = (
    "worse", "than", "unit", "K", "domain", "verdict", "smallest witness", "worst found, ulp (2^-24 of Σ)"
)  # fmt: skip
_BOUNDED = ("algorithm", "unit", "K", "domain", "largest error found, 2^-24 of Σ", "proved")


def table(records: Mapping[str, Record]) -> str:
    """Return the comparisons as a Markdown table: verdict, smallest witness, the worst excess found."""
    rows = []
    for entry in records.values():
        if "algorithms" not in entry:
            continue
        inputs = {name: shown["value"] for name, shown in entry.get("inputs", {}).items()}
        witness = ", ".join(f"{name} = {value}" for name, value in inputs.items() if value != "0")
        excess = ""
        if "worst" in entry:
            ulps, relative = map(_size, entry["worst"]["excess"].values())
            excess = f"{ulps} ({relative})"
        verdict = entry["answer"] + _by_whom(entry)
        cells = [*entry["algorithms"], entry["unit"], entry["k"], entry["domain"], verdict]
        rows.append([*cells, witness, excess])
    lines = markdown(_COMPARED, rows)
    bounds = [
        [
            *(entry[name] for name in ("algorithm", "unit", "k", "domain")),
            _largest(entry),
            f"{entry['proved']:g}{_by_whom(entry)}",
        ]
        for entry in records.values()
        if entry.get("answer") == "bounded"
    ]
    if bounds:
        lines += ["", *markdown(_BOUNDED, bounds)]
    unknown = {key: entry for key, entry in records.items() if entry.get("verdict") == "unknown"}
    lines += [f"\nunknown: {key}: {entry.get('reason') or entry['open']}" for key, entry in unknown.items()]
    return "\n".join(lines)


def _largest(entry: Record) -> str:
    """Return the largest relative error that was found beside a bound."""
    worst = entry["relative"]
    return "0" if worst is None else _size(worst["relative"])


def _size(error: float | None) -> str:
    """An error for people; an infinite one stands as null in a file."""
    return "infinite" if error is None else f"{error:g}"


def _by_whom(entry: Record) -> str:
    """For a proof, by whom, and whether by an earlier run."""
    proof = _proof(entry)
    if "scripts" not in proof:
        return ""
    by = said_by(proof)
    kept = "; kept from an earlier run" if entry.get("earlier") else ""
    return f" ({by}{kept})" if by or kept else ""
