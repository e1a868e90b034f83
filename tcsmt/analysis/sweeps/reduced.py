"""Algorithms on smaller formats: all their inputs, and what solvers say of widths in between.

A format of p significant bits stands for f16 (p = 11), one of 2p + 2 for binary32 (24), and the unit's
numbers keep their distances from the formats'. What holds for all inputs of every small p is no proof
for p = 11; an input where it does not is a recipe for one. How each parameter is scaled:

* the narrow format: p significant bits; 4 exponent bits up to p = 4, then 5 as f16 has; IEEE 754's bias,
  subnormal numbers and infinities;
* the wide format: 2p + 2 significant bits, and 3 exponent bits more than the narrow one;
* fraction bits of the unit (F, those of a second alignment and of roundings) are as many more or less
  than the wide format's as they are than binary32's 23: F is 2p + 1 for Volta, 2p + 2 for Ampere, 2p + 3
  for Hopper and Blackwell; a reach of c moves with them;
* the exponent of a zero term is as far below the wide format's smallest exponent as below -126, and the
  limit of a product as far above its largest one as above 127;
* a scaled residual is multiplied by 2^p, as by 2^11; roundings, N_FMA, K and the order of steps stay.

For p = 11 that is the algorithm itself. The product of two narrow numbers has 2p bits, which the wide
format holds, as 22 are held; one of two words and one has 3p, which it holds for p = 2 alone.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache
from typing import Any

from tcsmt.analysis.search import compare, result_flaws
from tcsmt.analysis.search.compare import AlgorithmPair
from tcsmt.analysis.search.exhaustive import LARGEST, InputSpace, middles
from tcsmt.analysis.search.records import case_json, inputs_json, judged_json
from tcsmt.analysis.search.result_flaws import FLAWS, ResultFlaw
from tcsmt.language.graphs.digest import digest_of_graph, digest_of_texts
from tcsmt.language.terms import any_of
from tcsmt.matrix_units.arithmetic.formats import FORMATS, Format
from tcsmt.matrix_units.models import Model
from tcsmt.programs.recipes.algorithm import Algorithm
from tcsmt.programs.recipes.named import algorithm_named
from tcsmt.programs.steps.split import F32
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.solvers.answer import Answer
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.finding import shown
from tcsmt.prove.statements.verdict import (
    Distinguished,
    Equivalent,
    Verdict,
    answer_json,
    engine_digest,
    sure,
)
from tcsmt.support.checkpoint import Checkpoint, Record
from tcsmt.support.errors import TcsmtError
from tcsmt.support.jobs.processes import Task
from tcsmt.support.jobs.tasks import Computed, Workers, computed
from tcsmt.support.progress import ProgressCallback, no_progress

F16 = FORMATS["f16"]
#: Significant bits of narrow formats.
WIDTHS = range(2, F16.precision + 1)
#: Verdicts that no witness shows: by a solver, and by enumeration.
PROOFS = ("proved", "holds for all inputs", "largest of all inputs")
#: Parameters of units that are counted from the wide format's fraction bits.
_FRACTION = (
    "fraction_bits",
    "dot_fraction_bits",
    "normalised_fraction_bits",
    "round_fraction_bits",
    "c_reach",
)


def _format(exponent_bits: int, precision: int) -> Format:
    """IEEE 754's format of so many bits, under its own name where it has one."""
    made = Format(
        name=f"ieee-e{exponent_bits}m{precision - 1}",
        exponent_bits=exponent_bits,
        fraction_bits=precision - 1,
        bias=(1 << (exponent_bits - 1)) - 1,
    )
    return next((fmt for fmt in FORMATS.values() if replace(fmt, name=made.name) == made), made)


def narrow_format(precision: int) -> Format:
    """Return what stands for f16. Raises :class:`.TcsmtError` where p is not in ``WIDTHS``."""
    if precision not in WIDTHS:
        raise TcsmtError(f"width {precision}: must be from {WIDTHS[0]} to {WIDTHS[-1]} significant bits")
    return _format(4 if precision <= 4 else 5, precision)


def wide_format(narrow: Format) -> Format:
    """Return what stands for binary32 beside it."""
    return _format(narrow.exponent_bits + 3, 2 * narrow.precision + 2)


def image(algorithm: Algorithm, narrow: Format) -> Algorithm:
    """Return the algorithm on a narrow format and the wide one beside it, scaled as the module says.

    Raises :class:`.TcsmtError` for one whose words are neither f16 nor binary32.
    """
    wide, split = wide_format(narrow), algorithm.split
    formats = {F16.name: narrow, F32.name: wide}
    if split.format.name not in formats or split.scale not in (0, F16.precision):
        raise TcsmtError(
            f"words of {split.format.name}, residuals times 2^{split.scale}: "
            f"only f16 and f32 are supported, with residuals times 1 or 2^{F16.precision}"
        )
    scale = narrow.precision if split.scale else 0
    return replace(
        algorithm,
        unit=_unit(algorithm.unit, formats, wide),
        split=replace(split, format=formats[split.format.name], wide=wide, scale=scale),
    )


def _unit(unit: Model, formats: Mapping[str, Format], wide: Format) -> Model:
    moved = dict.fromkeys(_FRACTION, wide.fraction_bits - F32.fraction_bits)
    moved |= {"zero_exponent": wide.e_min - F32.e_min, "product_limit": wide.e_max - F32.e_max}
    changes: dict[str, Any] = {}
    for name in (parameter.name for parameter in fields(unit.table())):
        value = getattr(unit.parameters, name)
        if isinstance(value, Format):
            changes[name] = formats[value.name]
        elif name in moved and value is not None:
            changes[name] = value + moved[name]
    return unit.replace(**changes)


@dataclass(frozen=True)
class Limits:
    """How far to go: 2^most inputs, seconds for going through them, and the solver's options.

    Raises :class:`.TcsmtError`.
    """

    most: int = 28
    seconds: float = 60.0
    options: SolvingOptions = field(default_factory=SolvingOptions)

    def __post_init__(self) -> None:
        if not 0 <= self.most <= LARGEST:
            raise TcsmtError(f"2^{self.most} inputs: must be from 2^0 to 2^{LARGEST}")
        if self.seconds <= 0:
            raise TcsmtError(f"{self.seconds:g} seconds: must be more than 0")

    def as_json(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "inputs": f"2^{self.most}",
            "seconds": self.seconds,
            "solver": self.options.solver,
            "timeout": self.options.timeout,
            "confirm": bool(self.options.confirm),
        }


@dataclass(frozen=True, kw_only=True)
class ReducedFact:
    """A statement about algorithms that has an image for every width.

    kind: ``monotone`` or ``sign``: an algorithm does not have the flaw; ``worse``: the first of two is
    never less accurate; ``error``: how large the relative error is (a number, no statement).
    k: products. words: significands of a and b have so many times p bits (0: all of the wide format's; 1
    is enough for what depends on the first words alone, which do not fall where the numbers grow).
    range: exponents, as of f16's image: ``type1`` -15 to 14, ``normal`` -14 to 14, ``exact`` -2 to 14
    (a residual loses nothing), ``binade`` 0.
    """

    name: str
    title: str
    kind: str
    algorithms: tuple[str, ...]
    k: int = 1
    words: tuple[int, int] = (0, 0)
    c_zero: bool = True
    range: str = "type1"

    @property
    def ordinary(self) -> bool:
        """Return whether it has nothing to do with a unit."""
        return self.algorithms == ("fp32-fma",)

    def domain(self, narrow: Format) -> Domain:
        """Its inputs on the image of this width."""
        wide, p = wide_format(narrow), narrow.precision
        low, high = {
            "type1": (narrow.e_min - 1, narrow.e_max - 1),
            "normal": (narrow.e_min, narrow.e_max - 1),
            "exact": (narrow.e_min + p + 1, narrow.e_max - 1),
            "binade": (0, 0),
        }[self.range]
        a, b = (n * p or wide.precision for n in self.words)
        bits = None if a == b == wide.precision else (a, b)
        return Domain(exponents=(low, high), bits=bits, c_zero=self.c_zero)

    def images(self, unit: str, narrow: Format) -> list[Algorithm]:
        """Its algorithms on the image of an architecture's or instruction's unit."""
        return [_image(name, unit, self.k, narrow) for name in self.algorithms]

    def digests(self, unit: str, narrow: Format) -> dict[str, str]:
        """Of the images, by the algorithms' names."""
        return {
            name: image.digest for name, image in zip(self.algorithms, self.images(unit, narrow), strict=True)
        }

    def asked(self, unit: str, narrow: Format) -> str:
        """Return what it states of this width's images, by their graphs and the domain's."""
        first = self.images(unit, narrow)[0]
        where = digest_of_graph(self.domain(narrow).holds(first.input_formats, first.trace))
        return digest_of_texts([self.kind, *self.digests(unit, narrow).values(), where])


@cache
def _image(name: str, unit: str, k: int, narrow: Format) -> Algorithm:
    return image(algorithm_named(name, unit, k)[0], narrow)


def _both(fact: ReducedFact) -> tuple[ReducedFact, ReducedFact]:
    """c = 0, and with c."""
    with_c = replace(fact, name=f"{fact.name}-c", title=f"{fact.title}, with c", c_zero=False)
    return replace(fact, title=f"{fact.title}, c = 0"), with_c


_OOTOMO, _MARKIDIS = "ootomo-halfhalf", "markidis"

FACTS: dict[str, ReducedFact] = {
    fact.name: fact
    for fact in (
        *_both(ReducedFact(
            name="monotone-1", title="one word, one product: monotone", kind="monotone",
            algorithms=("single-f16",), words=(1, 1),
        )),
        *_both(ReducedFact(
            name="monotone-2", title="one word, two products: monotone", kind="monotone",
            algorithms=("single-f16",), k=2, words=(1, 1),
        )),
        *_both(ReducedFact(
            name="one-by-one", title="a and b of one word: Ootomo-Yokota never worse than Markidis",
            kind="worse", algorithms=(_OOTOMO, _MARKIDIS), words=(1, 1), range="normal",
        )),
        ReducedFact(
            name="one-by-one-reverse", title="a and b of one word: Markidis never worse, c = 0",
            kind="worse", algorithms=(_MARKIDIS, _OOTOMO), words=(1, 1), range="normal",
        ),
        *_both(ReducedFact(
            name="two-by-one", title="a of two words, b of one: Ootomo-Yokota never worse than Markidis",
            kind="worse", algorithms=(_OOTOMO, _MARKIDIS), words=(2, 1),
        )),
        *_both(ReducedFact(
            name="two-by-one-exact", title="a of two words, b of one, exact residuals: the same",
            kind="worse", algorithms=(_OOTOMO, _MARKIDIS), words=(2, 1), range="exact",
        )),
        ReducedFact(
            name="sign-markidis", title="Markidis, one product: never of the wrong sign, c = 0",
            kind="sign", algorithms=(_MARKIDIS,),
        ),
        *_both(ReducedFact(
            name="fma-monotone", title="FP32 multiply-add, one product: monotone", kind="monotone",
            algorithms=("fp32-fma",),
        )),
        *_both(ReducedFact(
            name="fma-sign", title="FP32 multiply-add, one product: never of the wrong sign", kind="sign",
            algorithms=("fp32-fma",),
        )),
        ReducedFact(
            name="error-single", title="one word, one product and c, one binade: largest error",
            kind="error", algorithms=("single-f16",), words=(1, 1), c_zero=False, range="binade",
        ),
        ReducedFact(
            name="error-markidis", title="Markidis, one product, residuals exact: largest error",
            kind="error", algorithms=(_MARKIDIS,), range="exact",
        ),
        ReducedFact(
            name="error-ootomo", title="Ootomo-Yokota, one product, residuals exact: largest error",
            kind="error", algorithms=(_OOTOMO,), range="exact",
        ),
    )
}  # fmt: skip


def key_of(fact: ReducedFact, unit: str, width: int) -> str:
    """Return what an entry is kept under."""
    return f"{fact.name}, {'any unit' if fact.ordinary else unit}, p = {width}"


def survey(
    chosen: Sequence[ReducedFact],
    units: Sequence[str],
    widths: Sequence[int],
    kept: Checkpoint,
    limits: Limits,
    workers: Workers,
    progress: ProgressCallback = no_progress,
) -> Computed:
    """Every entry by its key. One that is kept, decided or with the same limits, is not computed again,
    unless it is a proof that does not count.

    After a width at which solvers did not answer in time they are asked about full width alone.
    """
    results = Computed({})
    answered = {(fact, unit): True for fact in chosen for unit in (units[:1] if fact.ordinary else units)}
    for width in sorted(widths):
        tasks = {
            (fact, unit): _task(fact, unit, width, limits, ask=ask or width == F16.precision)
            for (fact, unit), ask in answered.items()
        }
        here = computed(
            list(tasks.values()), kept, workers, lambda task, entry: _counts(task, entry, limits), progress
        )
        for about, task in tasks.items():
            solver = here.records.get(task.key, {}).get("solver", {})
            answered[about] &= solver.get("verdict") != "unknown"
        results = results.with_those_of(here)
    return results


def _task(fact: ReducedFact, unit: str, width: int, limits: Limits, *, ask: bool) -> Task:
    narrow, arguments = narrow_format(width), (fact, unit, width, limits, ask)
    code = engine_digest("analysis", "programs", "simulate")
    asked, models = fact.asked(unit, narrow), fact.digests(unit, narrow)
    return Task(key_of(fact, unit, width), asked, _examined, arguments, code, models)


def _examined(fact: ReducedFact, unit: str, width: int, limits: Limits, ask: bool) -> Record:
    return examine(fact, unit, width, limits, ask=ask)


def _counts(task: Task, entry: Mapping[str, Any], limits: Limits) -> bool:
    """Return whether what an earlier run has found need not be asked again."""
    match entry["verdict"]:
        case "open":
            return bool(entry["limits"] == limits.as_json())
        case "proved":
            return entry.get("code") == task.code and limits.options.takes(sure=sure(entry["solver"]))
        case "holds for all inputs" | "largest of all inputs":
            return entry.get("code") == task.code and limits.options.takes(sure=True)
    return True


def examine(fact: ReducedFact, unit: str, width: int, limits: Limits, *, ask: bool = True) -> dict[str, Any]:
    """Return what is known of a fact at one width, as plain data.

    First all inputs, or those with exponents in the middle where all are too many; then, where that does
    not decide, a solver (if it is to be asked) about all of them. Raises :class:`.TcsmtError`.
    """
    narrow = narrow_format(width)
    domain, algorithms = fact.domain(narrow), fact.images(unit, narrow)
    entry: dict[str, Any] = {
        "fact": fact.name, "title": fact.title, "unit": unit, "width": width,
        "narrow": narrow.name, "wide": algorithms[0].wide.name, "k": fact.k, "domain": str(domain),
    }  # fmt: skip
    entry |= {"limits": limits.as_json(), "verdict": "open"}
    for everything in middles(domain, algorithms[0].wide, fact.k, limits.most):
        if fact.kind == "error":
            entry |= _error(algorithms[0], everything, limits.seconds)
        else:
            entry |= _enumerated(fact, algorithms, everything, domain, limits.seconds)
        if entry["enumerated"]["whole"] or entry["verdict"] == "not so":
            break
    if entry["verdict"] == "open" and fact.kind != "error" and ask:
        question = _question(fact, algorithms, domain)
        result = _decided(question, Solving(limits.options))
        entry["solver"] = answer_json(result, "not so", "proved")
        if isinstance(result, Distinguished):
            entry |= {
                "verdict": "not so",
                "witness": _witness(question, result.values, Answer("sat", result.solver, result.version)),
            }
        elif isinstance(result, Equivalent):
            entry["verdict"] = "proved"
    return entry


def _question(
    fact: ReducedFact, algorithms: Sequence[Algorithm], domain: Domain
) -> ResultFlaw | AlgorithmPair:
    if fact.kind == "worse":
        first, second = algorithms
        return AlgorithmPair((fact.algorithms[0], fact.algorithms[1]), (first, second), domain)
    return FLAWS[fact.kind](fact.algorithms[0], algorithms[0], domain)


def _decided(question: ResultFlaw | AlgorithmPair, solving: Solving) -> Verdict:
    """Return what solvers say; at full width after a search by the simulator, which knows binary32 only."""
    full, start = question.wide == F32, time.monotonic()
    if isinstance(question, AlgorithmPair):
        compared = compare.compare(question, solving) if full else compare.decide(question, solving, start)
        return compared.verdict
    result = result_flaws.find(question, solving) if full else result_flaws.decide(question, solving, start)
    return result.verdict


def _enumerated(
    fact: ReducedFact, algorithms: Sequence[Algorithm], everything: InputSpace, domain: Domain, seconds: float
) -> dict[str, Any]:
    start, tried = time.monotonic(), everything.domain
    question = _question(fact, algorithms, tried)
    if isinstance(question, AlgorithmPair):
        unsure, goal = question.doubts
        tally = everything.count(algorithms[0], goal, unsure, seconds=seconds)
    else:
        goal = any_of([goal for _, goal in question.goals()])
        tally = everything.count(algorithms[0], goal, seconds=seconds)
    data: dict[str, Any] = {
        "enumerated": {
            "domain": str(tried),
            "whole": tally.whole,
            "inputs": tally.gone,
            "counterexamples": tally.holds,
            "undecided": tally.unsure,
            "by": tally.how,
            "seconds": round(time.monotonic() - start, 2),
        }
    }
    if tally.first is not None:
        return data | {
            "verdict": "not so",
            "witness": _witness(question, everything.values(tally.first), Answer("sat", "enumeration")),
        }
    if tally.whole:
        data["verdict"] = "holds for all inputs" if tried == domain else "open"
    return data


def _witness(
    question: ResultFlaw | AlgorithmPair, values: Mapping[str, int], answer: Answer
) -> dict[str, Any]:
    """Made short and replayed; raises TcsmtError where it does not replay."""
    start = time.monotonic()
    if isinstance(question, AlgorithmPair):
        compared = compare.replayed(question, dict(values), answer, start)
        verdict = compared.verdict
        if isinstance(verdict, Distinguished) and compared.judgement is not None:
            return judged_json(question, verdict.values, compared.judgement)
    else:
        witness = result_flaws.replayed(question, dict(values), answer, start)
        verdict = witness.verdict
        if witness.short is not None:
            return case_json(question.wide, witness.short)
    raise TcsmtError(f"{answer.by} gave {dict(values)}, which does not replay: {verdict}")


def _error(algorithm: Algorithm, everything: InputSpace, seconds: float) -> dict[str, Any]:
    start, fmt = time.monotonic(), everything.wide
    worst = everything.worst(algorithm, seconds=seconds)
    share = worst.relative * (1 << fmt.precision)
    return {
        "verdict": "largest of all inputs" if worst.whole else "largest found",
        "enumerated": {
            "domain": str(everything.domain),
            "whole": worst.whole,
            "inputs": worst.gone,
            "by": worst.how,
            "seconds": round(time.monotonic() - start, 2),
        },
        "error_unit": f"2^-{fmt.precision} of |c| + Σ|a·b|",
        "largest_error": float(share),
        "exactly": f"{share.numerator}/{share.denominator}",
        "witness": {
            "inputs": inputs_json(fmt, worst.values),
            "result": shown(fmt, worst.result),
        },
    }
