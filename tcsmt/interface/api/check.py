"""Is an implementation the unit? A device, a program or a Python function is asked many rows."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from tcsmt.identification.units.closest_match import ClosestMatch, closest_match
from tcsmt.interface.api.implementations import (
    Protocol,
    cached_implementation,
    device_asked,
    given_asked,
    program_asked,
)
from tcsmt.interface.api.matching import formats_in, rows_for_operands
from tcsmt.interface.api.units import UnitLike, side_of
from tcsmt.interface.api.views import WitnessView
from tcsmt.interop.hardware.vectors import as_dataset
from tcsmt.interop.implementations.check import Examination, Implementation, ShortMismatch, recorded
from tcsmt.interop.implementations.check import check as checked
from tcsmt.matrix_units.arithmetic.words import to_words
from tcsmt.matrix_units.catalogue import Row
from tcsmt.matrix_units.catalogue.description import ports_as_json, ports_lines
from tcsmt.matrix_units.catalogue.row import by_use
from tcsmt.matrix_units.files.arrays import read_array
from tcsmt.matrix_units.models import Model, Stage
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.statements.explain import StageValue, steps
from tcsmt.prove.statements.finding import shown
from tcsmt.simulate.measured.dataset import DataSet
from tcsmt.simulate.measured.datasets import find_datasets, objection
from tcsmt.simulate.measured.row_files import read_results, read_rows
from tcsmt.simulate.rows import joined_words
from tcsmt.support.checkpoint import AnswerLog
from tcsmt.support.errors import Exit, TcsmtError, choose
from tcsmt.support.files import replace_text, uncompressed
from tcsmt.support.floats import ieee_floats
from tcsmt.support.progress import ProgressCallback, ignore, no_progress
from tcsmt.support.results import Result
from tcsmt.support.text import counted, ranges
from tcsmt.surveys.units.model_pairs import verdicts_in

#: Of the edge cases, every so many is written; of the rows that differ, the first.
_EACH, _WRONG = 100, 20
#: Files that may have results alone.
_RESULTS = (".npy", ".npz", ".csv")


@dataclass(frozen=True, repr=False)
class Check(Result):
    """A comparison of an implementation with a unit; ``agrees``, ``rows``, ``mismatches``.

    name: what the implementation is called. resemblance: what gives its answers; None where it agrees.
    provenance: what a device says of itself.
    """

    name: str
    checked: Examination
    resemblance: ClosestMatch | None = None
    provenance: Mapping[str, Any] = field(default_factory=dict)

    @property
    def agrees(self) -> bool:
        """Return whether every answer was the unit's, and stayed the same when it was asked for again."""
        return not self.checked.mismatches and self.checked.changed is None

    @property
    def exit_code(self) -> Exit:
        """0: it agrees; 1: some answer is another one."""
        return Exit.of(self.agrees)

    @property
    def rows(self) -> int:
        """Rows asked."""
        return self.checked.rows

    @property
    def mismatches(self) -> int:
        """Rows whose answer was not the unit's."""
        return self.checked.mismatches

    @property
    def summary(self) -> str:
        """One line."""
        unit, rows = self.checked.row.name, f"{self.rows:,} rows"
        if self.agrees:
            return f"{self.name} agrees with {unit} on {rows}"
        if not self.mismatches:
            return f"{self.name} gives the answers of {unit} on {rows}, but not every time"
        return f"{self.name} is not {unit}: {self.mismatches:,} of {rows} differ"

    @property
    def looks_like(self) -> list[str]:
        """Return what gives all of its answers to the edge cases: units, changes of a parameter, programs'
        sums.
        """
        others = self.resemblance.texts if self.resemblance is not None else ()
        return [] if self.agrees else [*self.checked.alike, *others]

    def _facts(self) -> dict[str, Any]:
        examined, first = self.checked, self.checked.first
        model = examined.row.model
        data: dict[str, Any] = {
            "unit": examined.row.name,
            "implementation": self.name,
            "rows": self.rows,
            "mismatches": self.mismatches,
            "hypotheses": len(examined.audit.hypotheses) - 1,
            "not_excluded": self._remaining(),
        }
        if examined.changed is not None:
            data["changed"] = {
                "inputs": {
                    name: fmt.hex(examined.changed.values[name]) for name, fmt in model.input_formats.items()
                },
                "first": model.d_format.hex(examined.changed.expected),
                "later": model.d_format.hex(examined.changed.got),
            }
        if first is not None:
            inputs = {
                name: shown(fmt, first.values[name])
                for name, fmt in model.input_formats.items()
                if first.values[name]
            }
            unit, answer = (shown(model.d_format, word) for word in (first.expected, first.got))
            data["first"] = {"inputs": inputs, "unit": unit, "implementation": answer}
            data["looks_like"] = self.looks_like
            near = self.resemblance.near if self.resemblance is not None else None
            if near is not None and self.resemblance is not None:
                data["nearest"] = {"is": near[0], "rows": near[1], "of": self.resemblance.rows}
        data |= ports_as_json(examined.row)
        return data | ({"provenance": dict(self.provenance)} if self.provenance else {})

    def _lines(self) -> list[str]:
        first = self.checked.first
        shown = [] if first is None else [difference(self.name, self.checked.row, first)]
        return [*shown, self.conclusion, *ports_lines(self.checked.row)]

    @property
    def conclusion(self) -> str:
        """For people: the summary, and what follows from it, without the row that differs."""
        return "\n".join([self.summary, *self._conclusions()])

    def _conclusions(self) -> Iterator[str]:
        changed, model = self.checked.changed, self.checked.row.model
        if changed is not None:
            words = " ".join(
                f"{name}={fmt.hex(changed.values[name])}"
                for name, fmt in model.input_formats.items()
                if changed.values[name]
            )
            first, later = (model.d_format.hex(word) for word in (changed.expected, changed.got))
            yield f"its answers change: {words or 'a row of zeros'} was answered {first}, and later {later}"
        if self.mismatches:
            yield from self._looks_like()
        elif self.agrees:
            yield from self._excluded()

    @property
    def _title(self) -> str:
        return self.summary

    @property
    def view(self) -> WitnessView | None:
        """Return what a page shows of the first row that differs, with the answer; None: none does."""
        first = self.checked.first
        if first is None:
            return None
        return WitnessView((self.checked.row,), (first.values,), answer=first.got)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write rows with answers (.json): the fewest that exclude as much as all, and some of each kind.

        :func:`tcsmt.validate` reads the file. Raises :class:`tcsmt.TcsmtError` for another suffix.
        """
        if Path(path).suffix.lower() != ".json":
            raise TcsmtError(f"{path}: allowed suffix: .json")
        audit, answers = self.checked.audit, self.checked.answers
        wrong = np.flatnonzero(answers != audit.words[0])[:_WRONG].tolist()
        chosen = sorted({*audit.enough.chosen, *wrong, *range(0, len(audit.vectors), _EACH)})
        inputs = audit.vectors.inputs.map(lambda words: words[chosen])
        asks = [audit.vectors.names[n] for n in chosen]
        replace_text(Path(path), as_dataset(self.checked.row, self.provenance, inputs, answers[chosen], asks))

    def _remaining(self) -> dict[str, list[str]]:
        """Return the hypotheses that no row excludes, by what is known of them."""
        audit, gaps = self.checked.audit, self.checked.gaps
        states = {gap.pair: gap.verdict for gap in gaps or ()}
        remaining: dict[str, list[str]] = {}
        for pair in audit.undistinguished():
            if not pair[0]:
                state = states.get(pair, "not asked")
                remaining.setdefault(state, []).append(audit.hypotheses[pair[1]].name)
        return remaining

    def _excluded(self) -> Iterator[str]:
        """Yield what agreeing on these rows means."""
        remaining = self._remaining()
        hypotheses = len(self.checked.audit.hypotheses) - 1
        count = hypotheses - sum(map(len, remaining.values()))
        yield f"these rows exclude {count} of {hypotheses} other units and changes of one parameter"
        heads = {
            "equal": "proved to be the same function",
            "unknown": "not excluded, not decided",
            "not asked": "not excluded (no solver was asked whether an input would)",
        }
        for state, names in remaining.items():
            yield f"{heads[state]}: {'; '.join(_together(names))}"

    def _looks_like(self) -> Iterator[str]:
        alike, other = self.checked.alike, self.resemblance
        rows = f"{len(self.checked.answers):,} rows"
        if alike:
            yield f"its answers to {rows} are all those of: {'; '.join(alike)}"
        else:
            yield f"no other unit, and no change of one parameter, gives all of its answers to {rows}"
        if other is None or not (other.texts or other.near):
            return
        if other.near is not None:
            text, right = other.near
            yield f"nearest: {text} ({right:,} of {other.rows:,} rows)"
            return
        first, *rest = other.texts
        nans = "" if other.nans else " (which NaN apart)"
        yield f"it looks like: {first}; that gives all of its answers to {other.rows:,} rows{nans}"
        yield from (f"  and so does: {text}" for text in rest)
        if other.more:
            yield f"  and {other.more} more that these rows do not tell apart"


@dataclass(frozen=True, repr=False)
class StoppedCheck(Result):
    """The state of a check when it was stopped.

    rows: asked by then. mismatches: of these, not the unit's. known: what followed; None: nothing yet.
    """

    rows: int
    mismatches: int
    known: Check | None

    def _facts(self) -> dict[str, Any]:
        counts = {"stopped": True, "rows": self.rows, "mismatches": self.mismatches}
        return counts | ({} if self.known is None else self.known.as_json())

    def _lines(self) -> Iterator[str]:
        if self.known is not None:
            yield self.known.conclusion
        yield self._title

    @property
    def _title(self) -> str:
        wrong = f"{self.mismatches:,} of them differ" if self.mismatches else "every answer was the unit's"
        return f"STOPPED after {counted(self.rows, 'row')}: {wrong}"


def difference(name: str, row: Row, first: ShortMismatch) -> str:
    """For people: a row on which an implementation of this name differs, and what the unit does with it."""
    model = row.model
    lines = [f"a row on which {name} differs from {row.name}, as short as was found:"]
    for operand, fmt in model.input_formats.items():
        if first.values[operand]:
            number = shown(fmt, first.values[operand])
            lines.append(f"  {operand} = {number['word']}  {number['value']}")
    for who, word in (("the unit", first.expected), (name, first.got)):
        number = shown(model.d_format, word)
        lines.append(f"  {who}: {number['word']}  {number['value']}")
    lines.append("what the unit does:")
    stages = _stages(model, first.values)
    width = max(len(name) for name, _ in stages)
    lines += [f"  {name:<{width}}  {text}" for name, text in stages]
    return "\n".join(lines)


def _stages(model: Model, values: Mapping[str, int]) -> list[tuple[str, str]]:
    """Return what each stage is called, and its value; lanes beside each other that have the same are one
    line.
    """
    groups: list[list[StageValue]] = []
    for step in steps(model.trace, values):
        before = groups[-1][-1] if groups else None
        if before is not None and before.text == step.text and _next(before.stage, step.stage):
            groups[-1].append(step)
        else:
            groups.append([step])
    return [
        (group[0].name if len(group) == 1 else f"{group[0].name} to {group[-1].stage.lane}", group[0].text)
        for group in groups
    ]


def _next(stage: Stage, other: Stage) -> bool:
    """Return whether it is the same step of the next lane."""
    if stage.block != other.block or stage.kind != other.kind:
        return False
    return isinstance(stage.lane, int) and isinstance(other.lane, int) and stage.lane + 1 == other.lane


def _together(names: list[str]) -> list[str]:
    """Changes of one parameter in one text."""
    by_parameter: dict[str, list[str]] = {}
    for name in names:
        parameter, equals, value = name.partition(" = ")
        by_parameter.setdefault(parameter if equals else name, []).extend([value] if equals else [])
    return [f"{name} = {', '.join(ranges(v))}" if v else name for name, v in by_parameter.items()]


@ieee_floats
def check(
    unit: UnitLike,
    implementation: Callable[..., Any] | str | os.PathLike[str] | None = None,
    *,
    results: str | os.PathLike[str] | None = None,
    device: bool = False,
    command: str | None = None,
    protocol: Protocol = "lines",
    answer_timeout: float = 30.0,
    rows: int = 100_000,
    seed: int = 1,
    options: SolvingOptions | None = None,
    resume: str | os.PathLike[str] | None = None,
    progress: ProgressCallback = no_progress,
    differs: Callable[[str], None] = ignore,
    stopped: Callable[[StoppedCheck], object] = lambda state: None,
) -> Check:
    """Ask an implementation many rows, and say whether each answer is the unit's.

    The implementation is a function of arrays a, b of shape (rows, k) and c of shape (rows,), of the formats'
    dtypes, and of the keywords scale_a, scale_b of shape (rows, K / block) where the unit has block scales
    (``float8_e8m0fnu``; ``float8_e4m3fn`` for ``ue4m3``); its result has shape (rows,), of D's dtype or
    words, in any array library. Or it is another unit, of the same formats. Or it is a file of recorded rows
    and results, as :func:`tcsmt.validate` reads it: nothing is asked, and rows and seed are not used. Instead
    of an implementation, a device or a command is given.

    The rows are the same for a seed: special values, inputs near the boundaries of the arithmetic, and random
    words.

    Args:
        unit: The unit.
        implementation: A function, a unit or a file.
        device: The instruction on the GPU or CPU of this machine.
        command: This program, which is asked on its standard input (see the protocol).
        protocol: What the command reads and writes: JSON lines, as for `identify`; or batches of packed rows.
        results: The results of recorded rows, in a file of their own: .npy, .npz or .csv.
        rows: Ask this many rows, at least.
        seed: Seed of the rows.
        resume: Keep every answer in this file, and go on from it after a stop.
        answer_timeout: Time limit of the command for each answer, or for any progress in a batch, in seconds.
        options: Of solvers, which look for rows that exclude what the others do not; None: they are not
            asked, as they may take minutes.
        progress: Called with how far it is.
        differs: Called with the text of the first row that differs, before what it looks like is known.
        stopped: Called with what is known where the run is stopped.

    Raises :class:`tcsmt.TcsmtError` for none or several of implementation, device and command, for results
    that do not fit, without the device, and for a program that ends or hangs.

    >>> import numpy as np
    >>> import tcsmt
    >>> def naive(a, b, c):
    ...     for x, y in zip(a.astype(np.float32).T, b.astype(np.float32).T):
    ...         with np.errstate(all="ignore"):
    ...             c = c + x * y
    ...     return c
    >>> tcsmt.check("volta", naive, rows=20_000).agrees
    False
    """
    if sum([implementation is not None, device, command is not None]) != 1:
        raise TcsmtError("give one of implementation, device=True and command=...")
    if protocol != "lines" and command is None:
        raise TcsmtError("protocol is that of command=..., which is not given")
    if results is not None and not isinstance(implementation, (str, os.PathLike)):
        raise TcsmtError("results are those of a file of rows, which is not given")
    if isinstance(implementation, (str, os.PathLike)):
        if options is not None or resume is not None:
            raise TcsmtError("recorded rows ask nothing: options and resume are not allowed")
        path = Path(implementation)
        if results is not None:
            row = rows_for_operands(unit, formats_in(path))[0]
            return _of_two_files(row, path, Path(results), progress, differs)
        return _of_file(_row_for_file(unit, path), path, progress, differs)
    row = side_of(unit).row
    with ExitStack() as opened:
        if implementation is not None:
            asked = given_asked(row, implementation)
        elif command is not None:
            asked = program_asked(row, command, protocol, answer_timeout, opened)
        else:
            asked = device_asked(row, opened)
        run = asked.run
        if resume is not None:
            store = opened.enter_context(
                AnswerLog(Path(resume), f"{asked.name} {row.model.digest} {asked.identity}")
            )
            run = cached_implementation(row.model, run, store)

        def stop(count: int, mismatches: int, examination: Examination | None) -> None:
            so_far = None if examination is None else _explained(asked.name, examination, None, seed)
            stopped(StoppedCheck(count, mismatches, so_far))

        examined = checked(
            row, run, rows=rows, seed=seed, options=options,
            store=None if options is None else opened.enter_context(verdicts_in(options.store)),
            progress=progress, differs=lambda first: differs(difference(asked.name, row, first)),
            again=asked.run, stopped=stop,
        )  # fmt: skip
        return replace(_explained(asked.name, examined, run, seed), provenance=asked.provenance)


def _row_for_file(unit: UnitLike, path: Path) -> Row:
    """Return the instruction that is named; else the most used of a unit's that takes the rows of a file."""
    rows = side_of(unit).units
    datasets = [*find_datasets([path], rows[0].name)] if len(rows) > 1 else []
    fits = (row for row in by_use(rows) if not any(_objection(each, row) for each in datasets))
    return next(fits, rows[0])


def _objection(dataset: DataSet, row: Row) -> str:
    """Why recorded rows cannot be held against a unit; empty where they can."""
    reason = objection(dataset, row.model)
    if not reason and dataset.k > row.model.k:
        return f"has {dataset.k} lanes, but the unit has {row.model.k}: `tcsmt validate` replays chains"
    return reason


def _of_file(row: Row, path: Path, progress: ProgressCallback, differs: Callable[[str], object]) -> Check:
    """Return the same of recorded rows: nothing is asked. Raises :class:`tcsmt.TcsmtError`."""
    parts = []
    for dataset in find_datasets([path], row.name):
        reason = _objection(dataset, row)
        if reason:
            raise TcsmtError(f"data set {dataset.name} {reason}")
        parts.append((dataset.with_lanes(row.model.k), dataset.d))
    if not parts:
        raise TcsmtError(f"{path} has no rows")
    inputs = joined_words([inputs for inputs, _ in parts])
    examined = recorded(row, inputs, np.concatenate([d for _, d in parts]), progress)
    if examined.first is not None:
        differs(difference(path.name, row, examined.first))
    return _explained(path.name, examined, None, 1)


def _of_two_files(
    row: Row, path: Path, results: Path, progress: ProgressCallback, differs: Callable[[str], object]
) -> Check:
    """Return the same of rows in one file and their results in another. Raises :class:`tcsmt.TcsmtError`."""
    inputs, model = read_rows(path, row.model), row.model
    suffix = choose("suffix of a file of results", uncompressed(results).suffix.lower(), _RESULTS)
    if suffix == ".npy":
        d = to_words(model.d_format, read_array(results), str(results))
    else:
        d = read_results(results, model)
    if d.shape != inputs.c.shape:
        raise TcsmtError(f"{results} has results of shape {d.shape}, for {len(inputs.c)} rows in {path}")
    examined = recorded(row, inputs, d, progress)
    if examined.first is not None:
        differs(difference(results.name, row, examined.first))
    return _explained(results.name, examined, None, 1)


def _explained(name: str, examined: Examination, implementation: Implementation | None, seed: int) -> Check:
    """Return it with what the implementation looks like; None: it cannot be asked more rows."""
    if not examined.mismatches:
        return Check(name, examined)
    model, asked = examined.row.model, examined.audit.vectors.inputs
    return Check(name, examined, closest_match(model, asked, examined.answers, implementation, seed))
