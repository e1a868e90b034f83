"""Facts about algorithms on smaller formats, on all inputs and by solvers: ``tcsmt.accuracy.reduced``."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tcsmt.analysis.sweeps.reduced import FACTS, PROOFS, WIDTHS, Limits, ReducedFact, narrow_format, survey
from tcsmt.matrix_units.catalogue import rows
from tcsmt.matrix_units.catalogue.surveyed import DISTINCT_FP16_UNITS
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.statements.verdict import said_by
from tcsmt.support.checkpoint import Checkpoint, Layout
from tcsmt.support.errors import Exit, TcsmtError, choose
from tcsmt.support.floats import ieee_floats
from tcsmt.support.jobs.tasks import Workers
from tcsmt.support.progress import ProgressCallback, no_progress
from tcsmt.support.results import Result
from tcsmt.support.text import counted
from tcsmt.support.version import __version__

__all__ = ["DISTINCT_FP16_UNITS", "WIDTHS", "ReducedFacts", "reduced"]

_Entry = Mapping[str, Any]


@dataclass(frozen=True, repr=False)
class ReducedFacts(Result):
    """Facts on smaller formats: print it, or see ``entries``.

    facts: those that were asked about. entries: by key, what is known of a ``fact`` on a ``unit`` at a
    ``width``: the ``verdict``, the inputs that were ``enumerated``, a ``witness``. failed: why other entries
    are missing, by key.
    """

    facts: tuple[ReducedFact, ...]
    entries: Mapping[str, _Entry]
    failed: Mapping[str, str]

    @property
    def holds(self) -> bool | None:
        """Return whether every fact holds at every width; None: none is refuted, and some are open."""
        verdicts = {entry["verdict"] for entry in self.entries.values()}
        if "not so" in verdicts:
            return False
        return None if self.failed or verdicts & {"open", "largest found"} else True

    def _facts(self) -> dict[str, Any]:
        return {"entries": {**self.entries}}

    def _lines(self) -> Iterator[str]:
        for fact in self.facts:
            yield from _fact_lines(fact, [e for e in self.entries.values() if e["fact"] == fact.name])

    @property
    def _title(self) -> str:
        return f"of {counted(len(self.facts), 'fact')}: {counted(len(self.entries), 'entry', 'entries')}"

    @property
    def exit_code(self) -> Exit:
        """0: every fact holds at every width; 1: some input refutes a fact; 3: some fact is open."""
        return Exit.of(self.holds)


@ieee_floats
def reduced(
    questions: str | Iterable[str] = (),
    units: str | Iterable[str] = DISTINCT_FP16_UNITS,
    *,
    widths: int | str | Iterable[int] = "2:11",
    inputs: int = 28,
    seconds: float = 60.0,
    output: str | os.PathLike[str] | None = None,
    options: SolvingOptions = SolvingOptions(),
    progress: ProgressCallback = no_progress,
) -> ReducedFacts:
    """Check facts about algorithms on smaller formats: on all inputs where possible, then with solvers.

    >>> import tcsmt
    >>> tcsmt.accuracy.reduced("one-by-one", "volta", widths=2, inputs=14).holds
    True

    A format of p significant bits stands for FP16, one of 2p + 2 for binary32, and the unit between them is
    scaled in the same way; p = 11 is the real case.

    Args:
        questions: One of the facts. [default: all]
        units: A unit.
        widths: Significant bits of the narrow format, from 2 to 11: 2,3,4 or LOW:HIGH.
        inputs: Try at most 2^INPUTS inputs.
        seconds: Time limit for trying all inputs of one fact.
        output: JSON file; a run continues where it stopped.
        options: Of solvers, and the processes that compute.

    Raises :class:`tcsmt.TcsmtError` for unknown names, other widths and limits, and for a file that another
    run has, or that was written by something else.
    """
    names, labels = ([text] if isinstance(text, str) else [*text] for text in (questions, units))
    chosen = [FACTS[choose("question", name, FACTS)] for name in names] or list(FACTS.values())
    for unit in labels:
        rows(unit, claims=False)
    sizes = [widths] if isinstance(widths, int) else sorted(set(_widths(widths)))
    for size in sizes:
        narrow_format(size)
    limits, workers = Limits(inputs, seconds, options), Workers(options.jobs, options.scheduler)
    with Checkpoint(output, _LAYOUT, "--output") as file:
        surveyed = survey(chosen, labels, sizes, file, limits, workers, progress)
    entries = {
        key: {**entry, "earlier": True} if key in surveyed.earlier and entry["verdict"] in PROOFS else entry
        for key, entry in surveyed.records.items()
    }
    return ReducedFacts(tuple(chosen), entries, surveyed.failed)


def _widths(widths: str | Iterable[int]) -> Iterable[int]:
    """Read ``2,3,4`` or ``LOW:HIGH``. Raises :class:`.TcsmtError`."""
    if not isinstance(widths, str):
        return widths
    low, colon, high = widths.partition(":")
    try:
        numbers = list(range(int(low), int(high) + 1)) if colon else [int(part) for part in widths.split(",")]
    except ValueError:
        numbers = []
    if not numbers:
        allowed = f"must be numbers from {WIDTHS[0]} to {WIDTHS[-1]}, such as 2,3,4 or 2:6"
        raise TcsmtError(f"--widths {widths}: {allowed}")
    return numbers


_LAYOUT = Layout("entries", head=lambda records: {"tcsmt": __version__})


def _fact_lines(fact: ReducedFact, entries: Sequence[_Entry]) -> Iterator[str]:
    """Yield the fact, a line for each unit, and the counterexample of the smallest width."""
    yield f"{fact.name}: {fact.title}"
    for unit in dict.fromkeys(entry["unit"] for entry in entries):
        of_unit = [entry for entry in entries if entry["unit"] == unit]
        parts = _errors(of_unit) if fact.kind == "error" else _verdicts(of_unit)
        yield f"  {'any unit' if fact.ordinary else unit:<10}" + "; ".join(parts)
        wrong = [entry for entry in of_unit if entry["verdict"] == "not so"]
        if wrong:
            yield f"            {_counterexample(wrong[0])}"


def _errors(entries: Sequence[_Entry]) -> Iterator[str]:
    for entry in entries:
        if "largest_error" not in entry:
            yield f"p = {entry['width']}: open"
            continue
        mark = "" if entry["verdict"] == "largest of all inputs" else " at least"
        mark += _EARLIER * ("earlier" in entry)
        yield f"p = {entry['width']}: {entry['largest_error']:.4f}{mark} ({_exponents(entry)})"
    if entries:
        yield "in half ulps: 2^-(2p + 2) of |c| + Σ|a·b|"


def _verdicts(entries: Sequence[_Entry]) -> Iterator[str]:
    for verdict in ("holds for all inputs", "proved", "not so"):
        decided = [entry for entry in entries if entry["verdict"] == verdict]
        for text, same in _grouped(decided, [_decided(entry) for entry in decided]):
            yield f"{text}: {same}"
    undecided = [entry for entry in entries if entry["verdict"] == "open"]
    part = [entry for entry in undecided if entry.get("enumerated", {}).get("whole")]
    for where, same in _grouped(part, [_exponents(entry) for entry in part]):
        yield f"holds for {where}, open beyond: {same}"
    rest = [entry for entry in undecided if entry not in part]
    for why, same in _grouped(rest, [entry.get("solver", {}).get("reason", "") for entry in rest]):
        yield f"open: {same}" + f" ({why})" * bool(why)


def _grouped(entries: Sequence[_Entry], texts: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Each text once, with the widths of its entries."""
    for text in dict.fromkeys(texts):
        widths = (entry["width"] for entry, other in zip(entries, texts, strict=True) if other == text)
        yield text, f"p = {', '.join(map(str, widths))}"


#: What is said of a proof that was in the file.
_EARLIER = ", kept from an earlier run"


def _decided(entry: _Entry) -> str:
    """A verdict; for a solver's proof, by whom."""
    by = f" by {said_by(entry['solver'])}" if entry["verdict"] == "proved" else ""
    return f"{entry['verdict']}{by}{_EARLIER * ('earlier' in entry)}"


def _exponents(entry: _Entry) -> str:
    """Say which exponents the inputs had that were tried."""
    domain: str = entry["enumerated"]["domain"]
    return domain.partition(",")[0]


def _counterexample(entry: _Entry) -> str:
    witness, tried = entry["witness"], entry.get("enumerated", {})
    inputs = ", ".join(f"{name} = {number['value']}" for name, number in witness["inputs"].items())
    if "results" in witness:
        results = {result["algorithm"]: result["value"] for result in witness["results"]}
    else:
        results = {"result": witness["result"]["value"]}
    if "moved" in witness:
        moved = f"with {witness['moved']} = {witness['to']['value']}"
        results[moved] = witness["result_after"]["value"]
    shown = ", ".join(f"{name} {value}" for name, value in results.items())
    share = ""
    if tried.get("counterexamples"):
        share = f" ({tried['counterexamples']} of {tried['inputs']} inputs)"
    return f"p = {entry['width']}{share}: {inputs}: exact {witness['exact']}, {shown}"
