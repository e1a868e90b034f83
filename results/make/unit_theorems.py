"""The list: what is to be proved equal, or told apart, of the catalogue's units; with the expected verdict.

``python results/make/unit_theorems.py FILE`` asks all of it and writes that file; the tests ask it too.
A record there is about the graphs whose digest it has, whatever the catalogue calls them.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Any
from uuid import uuid4

from tcsmt.language.graphs.digest import digest_of_graph, digest_of_texts
from tcsmt.language.terms import total, umax, var
from tcsmt.matrix_units.arithmetic import ieee
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS
from tcsmt.matrix_units.catalogue import row_named, rows
from tcsmt.matrix_units.catalogue.surveyed import (
    FP8_ON_FP16,
    HALF_OF_THE_LANES,
    MMA_AND_WGMMA,
    NEIGHBOURED,
    PAPERS,
    SAME_UNITS,
    SUMS,
    TRUNCATED,
    ZERO_EXPONENTS,
)
from tcsmt.matrix_units.models import FusedDotAdd, Kind, Model, Operands
from tcsmt.prove.certificates.derivation import Close, Proof
from tcsmt.prove.engine.engine import Decision, compare_models, decide, finding_of
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.proof_steps import Lemmas
from tcsmt.prove.engine.solving import Solving, proof_of
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.question import ComparedModel, Question, difference_of_sides
from tcsmt.prove.statements.verdict import Unknown, engine_digest, sure
from tcsmt.support.checkpoint import Checkpoint, Layout, Record
from tcsmt.support.errors import Exit
from tcsmt.support.invariants import checked_cast
from tcsmt.support.jobs.processes import Task
from tcsmt.support.jobs.tasks import Workers, computed
from tcsmt.support.progress import progress_bar
from tcsmt.surveys.properties.investigation import one_block

__all__ = ["Entry", "answered", "entries"]

ALL_WORDS = Domain(finite=False)
FINITE = Domain()
Ask = Callable[[Solving, Lemmas], Decision]


@dataclass(frozen=True)
class Entry:
    """One thing to prove (``equal``) or to refute.

    part: where it stands in the list. content: the digest of what is asked. models: those of both sides.
    """

    part: str
    title: str
    equal: bool
    ask: Ask
    content: Callable[[], str]
    models: Callable[[], dict[str, str]] = dict


def entries() -> Iterator[Entry]:
    """Everything on the list."""
    for part in (
        _order, _same_units, _mma_and_wgmma, _half_zero, _one_sign, _papers, _zero_exponents,
        _neighbours, _fp8_on_f16, _carry_bits,
    ):  # fmt: skip
        yield from part()


def _models(part: str, left: str, right: str, equal: bool, domain: Domain = ALL_WORDS) -> Entry:
    first, second = (row_named(name) for name in (left, right))
    return _pair(part, f"{left} against {right}", first.model, second.model, equal, domain)


def _pair(part: str, title: str, left: Model, right: Model, equal: bool, domain: Domain = ALL_WORDS) -> Entry:
    names = title.split(" against ")
    sides = (names[0], left), (names[-1], right)

    def asked() -> str:
        where = domain.holds(left.input_formats, left.trace)
        return digest_of_texts([left.digest, right.digest, digest_of_graph(where)])

    return Entry(
        part,
        title,
        equal,
        lambda s, lemmas: compare_models(*sides, domain, s, lemmas=lemmas),
        asked,
        lambda: {"left": left.digest, "right": right.digest},
    )


def _traces(
    part: str,
    title: str,
    first: ComparedModel,
    second: ComparedModel,
    equal: bool,
    domain: Domain = ALL_WORDS,
) -> Entry:
    """Two traces on the first one's inputs."""
    question = difference_of_sides(title, (first, second), first.model.input_formats, domain, lanes=())
    outputs = first.trace.output, second.trace.output
    content = partial(digest_of_graph, question.goal, *outputs)
    return Entry(
        part,
        title,
        equal,
        lambda s, lemmas: decide(question, s, lemmas),
        content,
        lambda: {name: digest_of_graph(term) for name, term in zip(("left", "right"), outputs, strict=True)},
    )


def fused(name: str, **changes: Any) -> FusedDotAdd:
    """A catalogue row's fused model, changed."""
    model = row_named(name).model
    model = checked_cast(model, FusedDotAdd)
    return model.replace(**changes)


# --- any order of the products --------------------------------------------------------------------


def _order() -> Iterator[Entry]:
    """A permuted sum and maximum is the same graph; that they are symmetric is proved once for a width."""
    choose = random.Random(1)
    for n, name in SUMS.items():
        model = fused(name)
        trace = model.trace
        places = list(range(n))
        swapped = [1, 0, *places[2:]]
        orders = {"the first two swapped": swapped, "reversed": places[::-1]}
        orders["shuffled"] = choose.sample(places, n)
        for label, order in orders.items():
            moved = model.apply(Operands([trace.a[i] for i in order], [trace.b[i] for i in order], trace.c))
            sides = ComparedModel("in order", model, trace), ComparedModel(label, model, moved)
            yield _traces("order", f"N = {n}: products in order against {label}", *sides, True)
        for kind, what in ((Kind.LARGEST_EXPONENT, "maximum"), (Kind.SUM, "sum")):
            (stage,) = trace.of(kind)
            width = stage.term.width
            for law, differ in _laws(what, width):
                title = f"N = {n}: the {what} of {width}-bit words is {law}"
                content = partial(digest_of_graph, differ)
                yield Entry("order", title, True, _lemma(title, differ), content)


def _laws(what: str, width: int) -> Iterator[tuple[str, Any]]:
    x, y, z = (var(name, width) for name in "xyz")
    least = x.ult(y).ite(y, x), y.ult(x).ite(x, y)  # written out: umax itself is canonical by construction
    if what == "maximum":
        yield "commutative", least[0].ne(least[1])
        right = y.ult(z).ite(z, y)
        yield "associative", least[0].ult(z).ite(z, least[0]).ne(x.ult(right).ite(right, x))
        yield "what the shared node says", umax(x, y).ne(least[0])
    else:  # SMT-LIB's bvadd, with subtraction so that the terms are not the same node
        yield "commutative and associative", (total(x, y) - z).ne(y - (z - x))


def _lemma(title: str, differ: Any) -> Ask:
    def ask(solving: Solving, lemmas: Lemmas) -> Decision:
        question = Question(title=title, sides=(), goal=differ, formats={}, domain_text="all words")
        answer = lemmas.prove(differ, solving.options.timeout).answer
        if answer.answer == "unsat":
            proof: Proof = (Close(),)
            kept = solving.certificates.add(question, proof) if solving.certificates is not None else None
            return Decision(question, proof_of("lemma", answer, answer.seconds), (), proof, kept)
        reason = answer.reason or "not so for all words"
        return Decision(question, Unknown(reason=reason, seconds=answer.seconds))

    return ask


# --- the same unit in several GPUs ----------------------------------------------------------------


def _same_units() -> Iterator[Entry]:
    for left, right in SAME_UNITS:
        yield _models("same units", left, right, True)


def _mma_and_wgmma() -> Iterator[Entry]:
    for left, right in MMA_AND_WGMMA:
        yield _models("mma and wgmma", left, right, True)


def _fp8_on_f16() -> Iterator[Entry]:
    """That a and b are converted to FP16 first cannot be seen where both are of one format."""
    for name, beneath in FP8_ON_FP16:
        unit, half = fused(name).replace(operand_format=None), fused(beneath)
        wide = unit.replace(a_format=half.a_format, b_format=half.b_format)
        inputs = unit.trace
        left, right = (
            [ieee.widen(x, unit.a_format, half.a_format) for x in side] for side in (inputs.a, inputs.b)
        )
        trace = replace(wide.apply(Operands(left, right, inputs.c)), operands=inputs.operands)
        a, d = unit.a_format.name, unit.d_format.name
        sides = (
            ComparedModel(a, unit, inputs),
            ComparedModel("FP16 instructions on converted inputs", unit, trace),
        )
        instruction = name.partition(f".{d}.")[0].replace("/", " ")
        title = f"{instruction} {a} to {d} against FP16 instructions on converted inputs"
        # e5m2's exponents are FP16's. FP16 holds e4m3's subnormal numbers as normal ones with
        # smaller exponents: the largest exponents differ, but only where nothing is cut
        yield _traces("FP8 on the FP16 unit", title, *sides, True)


# --- zero terms -----------------------------------------------------------------------------------


def _zero_exponents() -> Iterator[Entry]:
    for name, other, equal in ZERO_EXPONENTS:
        unit = fused(name)
        title = f"{name}: zero exponent {unit.parameters.zero_exponent} against {other}"
        yield _pair("zero exponents", title, unit, unit.replace(zero_exponent=other), equal)


def _half_zero() -> Iterator[Entry]:
    """N products against 2N of which half are zero.

    The zeros' floor takes part in the maximum, and changes nothing: a c that is not zero has a larger
    exponent in these formats, and a c that is zero brings the same floor.
    """
    for name, wider in HALF_OF_THE_LANES:
        unit, twice = fused(name), fused(wider)
        inputs = unit.trace
        zeros = [x ^ x for x in inputs.a]
        padded = twice.apply(Operands([*inputs.a, *zeros], [*inputs.b, *zeros], inputs.c))
        trace = replace(padded, operands=inputs.operands)
        labels = f"N = {unit.k}", f"N = {twice.k}, {twice.k - unit.k} of them zero"
        sides = ComparedModel(labels[0], unit, inputs), ComparedModel(labels[1], unit, trace)
        types = name.split(".", 2)[-1]
        title = f"{types}: {' against '.join(labels)}"
        yield _traces("half of the lanes zero", title, *sides, True)


# --- truncation and rounding toward zero ----------------------------------------------------------


#: Fraction bits with which alignment drops nothing of FP16 products and an FP32 c: exponents up to 127,
#: the last bit of either at 2^-149 or above.
EXACT = 290


def _one_sign() -> Iterator[Entry]:
    """Valpey et al.: truncation differs from rounding toward zero only under effective subtraction.

    So it is for normal numbers as long as one term at most is cut: the largest is exact.
    """
    part = "truncation and rounding toward zero"
    for name in TRUNCATED:
        for k, domain, equal in (
            (1, Domain(positive=True, subnormals=False), True),
            (1, Domain(positive=True), False),
            (1, Domain(subnormals=False), False),
            (2, Domain(positive=True, subnormals=False, c_zero=True), True),
            (2, Domain(positive=True, subnormals=False), False),
            (3, Domain(positive=True, subnormals=False, c_zero=True), False),
        ):
            unit = fused(name, k=k, n_fma=k)
            exact = unit.replace(fraction_bits=EXACT)
            title = f"{name}, {k} products and c, {domain}: truncated against rounded toward zero once"
            yield _pair(part, title, unit, exact, equal, domain)


# --- neighbours, and what papers say --------------------------------------------------------------


def _neighbours() -> Iterator[Entry]:
    for name in NEIGHBOURED:
        unit = fused(name)
        changes: dict[str, dict[str, Any]] = {
            f"F = {unit.sum.fraction_bits - 1}": {"fraction_bits": unit.sum.fraction_bits - 1},
            f"F = {unit.sum.fraction_bits + 1}": {"fraction_bits": unit.sum.fraction_bits + 1},
            f"N = {unit.lanes.n_fma // 2}": {"n_fma": unit.lanes.n_fma // 2},
            "normalised products": {"products": "normalised"},
            "normalised at every addition": {"normalisation": "every"},
            "c last": {"c_position": "last"},
            "c summed": {"c_position": "summed"},
            "a sticky bit": {"alignment_sticky": True},
            **{f"rounding {r}": {"rounding": r} for r in ROUNDINGS.values() if r != unit.final.rounding},
            **{
                f"alignment {r}": {"alignment": r}
                for r in ROUNDINGS.values()
                if r != unit.parameters.alignment
            },
        }
        for label, change in changes.items():
            yield _pair("neighbours", f"{name} against {label}", unit, unit.replace(**change), False, FINITE)


def _papers() -> Iterator[Entry]:
    for left, right, equal in PAPERS:
        yield _models("papers", left, right, equal)


# --- carry bits -----------------------------------------------------------------------------------


def _carry_bits() -> Iterator[Entry]:
    """Every accepted row's fused sum: its register suffices, and one bit more changes nothing."""
    seen: dict[Model, str] = {}
    for row in rows():
        if isinstance(row.model, FusedDotAdd) and row.status == "accepted":
            seen.setdefault(one_block(row.model), row.name)
    for unit, name in seen.items():
        unit = checked_cast(unit, FusedDotAdd)
        enough = unit.enough_carry_bits
        register = unit.replace(carry_bits=enough)
        yield _pair("carry bits", f"{name}: no limit against {enough} carry bits", unit, register, True)
        more = unit.replace(carry_bits=enough + 1)
        title = f"{name}: {enough} carry bits against {enough + 1}"
        yield _pair("carry bits", title, register, more, True)


# --- the run --------------------------------------------------------------------------------------


_EXPECTED = {True: "equivalent", False: "distinguished"}


def answered(entry: Entry, solving: Solving, lemmas: Lemmas) -> dict[str, Any]:
    """An entry's record: title, expected and found verdict, what was proved by whom, wall seconds."""
    start = time.monotonic()
    decision = entry.ask(solving, lemmas)
    return {
        "part": entry.part,
        "expected": _EXPECTED[entry.equal],
        **finding_of(decision).as_json(),
        "question": entry.title,
        "wall_seconds": round(time.monotonic() - start, 2),
        "steps": [step.as_json() for step in decision.steps],
    }


@cache
def _by_title(source: Callable[[], Iterator[Entry]]) -> dict[str, Entry]:
    return {entry.title: entry for entry in source()}


@lru_cache(maxsize=1)
def _lemmas(options: SolvingOptions, run: str) -> Lemmas:
    """One for each process and run: what one question has proved of a block serves the next."""
    return Lemmas(Solving(options))


def answered_by_title(title: str, options: SolvingOptions, run: str) -> Record:
    """Return what a worker does in one run of the list."""
    lemmas = _lemmas(options, run)
    return answered(_by_title(entries)[title], lemmas.solving, lemmas)


def _task(entry: Entry, options: SolvingOptions, run: str) -> Task:
    arguments = entry.title, options, run
    return Task(entry.title, entry.content(), answered_by_title, arguments, engine_digest(), entry.models())


def main(arguments: Sequence[str] | None = None) -> Exit:
    """Write the records as they come; go on where an earlier run stopped, but prove again what it proved.

    Exit code: 0 all as expected, 1 some other verdict, 3 some question stayed unknown.
    """
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("file", type=Path, help="JSON; such as results/comparisons/theorems.json.xz")
    parser.add_argument("parts", nargs="*", metavar="part", help="only these parts of the list")
    parser.add_argument("--kept", action="store_true", help="confirmed proofs in the file count")
    parser.add_argument("--missing", action="store_true", help="only what the file has no verdict about")
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time, on this machine")
    parser.add_argument(
        "--scheduler",
        default="",
        help="ask on the workers of this Dask scheduler, which find this folder on PYTHONPATH",
    )
    parser.add_argument("--certificate", type=Path, metavar="DIR", help="leave certificates of proofs here")
    parsed = parser.parse_args(arguments)
    options = SolvingOptions(
        timeout=30.0,
        confirm=True,
        reuse=parsed.kept,
        jobs=max(1, parsed.jobs),
        scheduler=parsed.scheduler,
        certificate=parsed.certificate,
    )
    run = uuid4().hex
    asked = [entry for entry in entries() if not parsed.parts or entry.part in parsed.parts]
    tasks = [_task(entry, options, run) for entry in asked]
    layout = Layout(key=lambda record: str(record["question"]))
    with Checkpoint(parsed.file, layout) as kept, progress_bar() as progress:
        if parsed.missing:
            tasks = [task for task in tasks if not _answered(task, kept.records.get(task.key))]
        workers = Workers(options.jobs, options.scheduler)
        counts = partial(_counts, options=options)
        results = computed(tasks, kept, workers, counts, progress)
    records = [*results.records.values()]
    for record in records:
        if record["verdict"] not in ("unknown", record["expected"]):
            print(f"UNEXPECTED: {record['verdict']}: {record['question']}", file=sys.stderr)
    if any(record["verdict"] not in ("unknown", record["expected"]) for record in records):
        return Exit.DIFFERS
    unknown = results.failed or any(record["verdict"] == "unknown" for record in records)
    return Exit.UNKNOWN if unknown else Exit.ANSWERED


def _answered(task: Task, record: Record | None) -> bool:
    """Return whether there is a verdict about this content, whatever code it rests on."""
    if record is None or record["verdict"] == "unknown":
        return False
    return bool(record.get("asked", task.asked) == task.asked)  # the oldest records do not say what was asked


def _counts(task: Task, record: Record, options: SolvingOptions) -> bool:
    """Return whether a record of an earlier run is a verdict still."""
    match record["verdict"]:
        case "equivalent":
            return record.get("code") == task.code and options.takes(sure=sure(record))
        case verdict:
            return bool(verdict != "unknown")


if __name__ == "__main__":
    from unit_theorems import main as importable  # workers import it by that name

    sys.exit(importable(sys.argv[1:]))
