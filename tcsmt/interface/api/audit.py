"""The quality of test vectors: which hypotheses they tell apart, and which vectors would close the gaps."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby
from pathlib import Path
from textwrap import wrap
from typing import Any, Literal

from tcsmt.interface.api.units import UnitLike, side_of
from tcsmt.interface.api.vectors import TestVectors
from tcsmt.interop.hardware.vectors import Vector, as_csv, as_json
from tcsmt.matrix_units.catalogue import Row
from tcsmt.matrix_units.models import Model
from tcsmt.prove.engine.certify import require_sat_solver
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.statements.finding import shown
from tcsmt.simulate.rows import words_of_row
from tcsmt.support.errors import Exit, TcsmtError, choose
from tcsmt.support.files import replace_text
from tcsmt.support.floats import ieee_floats
from tcsmt.support.interrupts import on_stop
from tcsmt.support.progress import ProgressCallback, no_progress
from tcsmt.support.renaming import warn_of_name
from tcsmt.support.results import Result, columns
from tcsmt.support.text import agreeing, counted, ranges
from tcsmt.surveys.papers import fasi, khattak
from tcsmt.surveys.units.audit import (
    Audit,
    ClosingVectors,
    Hypothesis,
    UndistinguishedPair,
    Vectors,
    audit_of,
    closing,
    gaps,
    gaps_so_far,
    gathered,
    joined,
    listed,
)
from tcsmt.surveys.units.model_pairs import proved_by, verdicts_in
from tcsmt.surveys.units.neighbours import value_text
from tcsmt.surveys.units.vectors import smallest

#: Published sets of vectors, by name.
Published = Literal["fasi", "fttn"]
PUBLISHED: dict[str, Callable[[Model], list[tuple[str, tuple[int, ...]]]]] = {
    "fasi": fasi.vectors,
    "fttn": khattak.fttn_vectors,
}
#: What a paper's rules read in the answers.
_RULES: dict[str, Callable[[Model], list[khattak.Reading]]] = {"fttn": khattak.fttn_readings}
#: How the vectors that close gaps are written, by a file's suffix.
CLOSING_FILES = {".json": as_json, ".csv": as_csv}
_WIDTH = 110
_OPTIONS = SolvingOptions(timeout=20.0, confirm=True, jobs=2)


@dataclass(frozen=True, repr=False)
class AuditResult(Result):
    """An audit of vectors: ``complete``, ``undistinguished``, ``fewest``; ``save_closing`` closes gaps.

    made: every hypothesis on every vector. gaps: pairs that no vector tells apart, with the engine's
    verdicts; None: it was not asked. closing: the fewest vectors that tell the open ones apart; None: there
    are none. readings: what the rules of published sets conclude, by the set's name.
    """

    made: Audit
    gaps: Sequence[UndistinguishedPair] | None = None
    closing: ClosingVectors | None = None
    readings: Mapping[str, Sequence[khattak.Reading]] = field(default_factory=dict)

    @property
    def row(self) -> Row:
        """Return the unit."""
        return self.made.row

    @property
    def complete(self) -> bool | None:
        """Return whether all hypotheses are told apart, or proved equal; None: it is not known of some."""
        if self.gaps is None:
            return not self.made.undistinguished()
        states = {gap.verdict for gap in self.gaps}
        return False if "open" in states else None if "unknown" in states else True

    @property
    def exit_code(self) -> Exit:
        """0: complete; 1: some hypotheses are not told apart; 3: unknown."""
        return Exit.of(self.complete)

    @property
    def undistinguished(self) -> list[str]:
        """Return the hypotheses that no vector tells from the unit, but those that are proved to be the
        same.
        """
        state = _state(self.made, self.gaps)
        numbers = range(1, len(self.made.hypotheses))
        return [self.made.hypotheses[n].name for n in numbers if state.get((0, n), "equal") != "equal"]

    @property
    def untold(self) -> list[str]:
        """Return :attr:`undistinguished` by its earlier name, which is taken until 1.0."""
        warn_of_name("AuditResult", "untold", "undistinguished")
        return self.undistinguished

    @cached_property
    def fewest(self) -> TestVectors:
        """Return the fewest of the vectors that tell apart as much as all of them, what decides most
        first.
        """
        return TestVectors(smallest(self.made), self.row.name)

    def solved(
        self,
        options: SolvingOptions = _OPTIONS,
        progress: ProgressCallback = no_progress,
        stopped: Callable[[AuditResult], object] = lambda so_far: None,
    ) -> AuditResult:
        """Return the same with what solvers say of pairs that no vector tells apart.

        stopped: is given what was known where the run is stopped, before that goes on.
        """
        options = options.confirming(True)
        require_sat_solver(options)
        with (
            verdicts_in(options.store) as verdicts,
            on_stop(lambda: stopped(replace(self, gaps=gaps_so_far(self.made, verdicts, options)))),
        ):
            undecided = gaps(self.made, verdicts, options, progress)
        return replace(self, gaps=undecided, closing=closing(self.made, undecided))

    def save_closing(self, path: str | os.PathLike[str]) -> int:
        """Write the vectors that would close the gaps (.json or .csv); how many there are.

        Nothing is written where there are none. Raises :class:`tcsmt.TcsmtError` for another suffix.
        """
        suffix = choose("suffix of a file of vectors", Path(path).suffix, CLOSING_FILES)
        if self.closing is None:
            return 0
        vectors = _closing_vectors(self.made, self.closing)
        replace_text(Path(path), CLOSING_FILES[suffix](self.row, vectors))
        return len(vectors)

    def _facts(self) -> dict[str, Any]:
        return _data(self.made, self.gaps, self.closing, self.readings)

    def _lines(self) -> Iterator[str]:
        return _lines(self.made, self.gaps, self.closing, self.readings)

    @property
    def _title(self) -> str:
        hypotheses = counted(len(self.made.hypotheses), "hypothesis")
        return f"{counted(len(self.made.vectors), 'vector')} of {self.row.name}: {hypotheses}"


@ieee_floats
def audit(
    vectors: TestVectors | str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = (),
    unit: UnitLike | None = None,
    *,
    published: Sequence[Published] = (),
    solve: bool = True,
    options: SolvingOptions = _OPTIONS,
    progress: ProgressCallback = no_progress,
) -> AuditResult:
    """Return which hypotheses test vectors tell apart, and which short vectors would close the gaps.

    The hypotheses are the unit, changes of one of its parameters, and the catalogue's units of its formats
    and K. Solvers may take minutes (:meth:`AuditResult.solved`). In a script, call it under
    ``if __name__ == "__main__"``: solvers work in processes of their own.

    Args:
        vectors: Files as :func:`tcsmt.validate` reads them, or what :func:`tcsmt.vectors` gives; results are
            not looked at.
        unit: The unit. [default: the unit that the first file names]
        published: Vectors of a paper: Fasi et al. 2020; FTTN (Li et al. 2024).
        solve: Let solvers decide what no vector tells apart.
        options: Of solvers; proofs are confirmed where they leave it open.
        progress: Called with how far it is.

    Raises :class:`tcsmt.TcsmtError` for files that cannot be read, or no vectors or unit.

    >>> import tcsmt
    >>> found = tcsmt.audit(tcsmt.vectors("x86/vpdpbusd", "edge", rows=3), solve=False)
    >>> found.complete, found.undistinguished
    (False, ['x86/vpdpbusds', 'overflow = saturate'])
    """
    files = [vectors] if isinstance(vectors, (str, os.PathLike)) else vectors
    unit_row = None if unit is None else side_of(unit).row
    if options.certificate is not None and not solve:
        raise TcsmtError("certificate: needs solve=True, as only solvers prove anything")
    if isinstance(files, TestVectors):
        row = unit_row or files.row
        if row.model.input_formats != files.row.model.input_formats:
            raise TcsmtError(f"the vectors are of {files.row.name}, which has other inputs than {row.name}")
        parts = [files.made.vectors]
    else:
        row, parts = None, []
        paths = [Path(path) for path in files]
        if paths:
            row, file_vectors = gathered(paths, unit_row)
            parts.append(file_vectors)
        row = row or unit_row
    row, several = _vectors(row, parts, published)
    readings: dict[str, Sequence[khattak.Reading]] = {
        name: _RULES[name](row.model) for name in published if name in _RULES
    }
    made = AuditResult(audit_of(row, several, progress), readings=readings)
    return made.solved(options, progress) if solve else made


def _vectors(row: Row | None, parts: Sequence[Vectors], published: Sequence[str]) -> tuple[Row, Vectors]:
    """All vectors, with those of papers. Raises :class:`tcsmt.TcsmtError` without any, or without a unit."""
    names = [choose("published set", name, PUBLISHED) for name in published]
    if not parts and not names:
        raise TcsmtError(f"no vectors: give files, or a published set: {', '.join(PUBLISHED)}")
    if row is None:
        raise TcsmtError(
            "published vectors need a unit: the papers' vectors do not say which unit they are for"
        )
    model = row.model
    more = [
        listed(row, [(f"{name}: {asks}", words) for asks, words in PUBLISHED[name](model)]) for name in names
    ]
    return row, joined([*parts, *more])


# --- for people ---------------------------------------------------------------------------------


#: What the rules of published sets conclude, by the set's name.
_Readings = Mapping[str, Sequence[khattak.Reading]]


def _lines(
    made: Audit,
    gaps: Sequence[UndistinguishedPair] | None,
    closed: ClosingVectors | None,
    readings: _Readings,
) -> Iterator[str]:
    units = [h for h in made.hypotheses if not h.parameter]
    near = len(made.hypotheses) - len(units)
    yield f"{counted(len(made.vectors), 'vector')} for {made.row.name}"
    neighbours = counted(near, "hypothesis differs", "hypotheses differ")
    others = counted(len(units) - 1, "other unit fits", "other units fit")
    yield f"{neighbours} from it in one parameter; {others} its inputs"
    yield ""
    yield from _parameters(made, gaps)
    yield ""
    yield from _units(made, units, gaps)
    yield from _weakest(made)
    yield from _redundant(made)
    yield from _readings(made, readings)
    yield from _closing(made, closed)
    yield from _verdict(made, gaps)


def _state(made: Audit, gaps: Sequence[UndistinguishedPair] | None) -> dict[tuple[int, int], str]:
    """For each pair that no vector tells apart: open, equal, unknown, or (not asked) undistinguished."""
    return dict.fromkeys(made.undistinguished(), "undistinguished") | {
        gap.pair: gap.verdict for gap in gaps or ()
    }


def _parameters(made: Audit, gaps: Sequence[UndistinguishedPair] | None) -> Iterator[str]:
    state, counts = _state(made, gaps), dict(zip(made.pairs, made.deciders, strict=True))
    table: dict[str, dict[str, list[str]]] = {}
    for number, hypothesis in enumerate(made.hypotheses):
        if hypothesis.parameter:
            told = "told" if counts[0, number] else state[0, number]
            table.setdefault(hypothesis.parameter, {}).setdefault(told, []).append(hypothesis.value)
    heads = {"told": "told apart", "open": "NOT told apart", "undistinguished": "NOT told apart",
             "equal": "equal: no vector can", "unknown": "not told apart, not decided"}  # fmt: skip
    shown_heads = [key for key in heads if any(key in row for row in table.values())]
    lines = [["the unit has", *(heads[key] for key in shown_heads)]]
    model = made.row.model
    for name, row in table.items():
        value = f"{name} = {value_text(getattr(model.parameters, name))}"
        lines.append([value, *(", ".join(ranges(row.get(key, []))) for key in shown_heads)])
    yield from columns(lines, within=_WIDTH)


def _units(
    made: Audit, units: Sequence[Hypothesis], gaps: Sequence[UndistinguishedPair] | None
) -> Iterator[str]:
    """Units, and how many vectors tell each two of them apart."""
    state, counts = _state(made, gaps), dict(zip(made.pairs, made.deciders, strict=True))
    if len(units) < 2:
        yield "no other unit of the catalogue has these formats and K"
        return
    yield "units of these formats and K, and how many vectors tell each two apart (= equal, ? not decided):"
    marks = {"equal": "=", "unknown": "?", "open": "0", "undistinguished": "0"}
    rows = [["", *(str(n + 1) for n in range(len(units)))]]
    for i, hypothesis in enumerate(units):
        pairs = [(min(i, j), max(i, j)) for j in range(len(units))]
        cells = ["." if a == b else str(counts[a, b] or marks[state[a, b]]) for a, b in pairs]
        more = f" (+{len(hypothesis.known) - 1})" if len(hypothesis.known) > 1 else ""
        rows.append([str(i + 1), *cells, f" {hypothesis.known[0]}{more}"])
    yield from columns(rows, ">" * (len(units) + 1) + "<", gap=" ", least=3)
    yield ""


def _weakest(made: Audit) -> Iterator[str]:
    by_vector: dict[int, list[tuple[int, int]]] = {}
    for pair, vector in made.weakest():
        by_vector.setdefault(vector, []).append(pair)
    if by_vector:
        yield "weakest points: differences that only one vector shows"
        for vector, pairs in sorted(by_vector.items()):
            yield from _item(f"{made.vectors.names[vector]}: ", _told(made, pairs))
        yield ""


def _told(made: Audit, pairs: Iterable[tuple[int, int]]) -> list[str]:
    """Return what telling pairs apart says: two units' numbers, or a parameter's values."""
    units, values = [], dict[str, list[str]]()
    for i, j in pairs:
        hypothesis = made.hypotheses[j]
        if hypothesis.parameter:
            values.setdefault(hypothesis.parameter, []).append(hypothesis.value)
        else:
            units.append(f"unit {i + 1} | {j + 1}")
    return [*units, *(f"{name} = {', '.join(ranges(several))}" for name, several in values.items())]


def _item(head: str, names: Iterable[str]) -> Iterator[str]:
    yield from wrap(head + "; ".join(names), _WIDTH - 2, initial_indent="  ", subsequent_indent="      ")


def _redundant(made: Audit) -> Iterator[str]:
    nothing = [name for name, told in zip(made.vectors.names, made.sets, strict=True) if not told]
    chosen = made.enough.chosen
    vectors, rest = counted(len(made.vectors), "vector"), len(made.vectors) - len(chosen)
    if not chosen:
        yield f"none of the {vectors} tells any two hypotheses apart"
        yield ""
        return
    how = "no smaller set does" if made.enough.exact else "a greedy choice: a smaller set might do"
    tell = agreeing(len(chosen), "tells", "tell")
    yield f"{len(chosen)} of the {vectors} {tell} apart as much as all of them ({how});"
    new, none = (counted(count, "decides", "decide") for count in (rest, len(nothing)))
    yield f"of the others, {new} nothing new, and {none} nothing at all. The {len(chosen)}:"
    yield from _item("", (made.vectors.names[n] for n in chosen))
    if 0 < len(nothing) <= 20:
        yield from _item("nothing at all: ", nothing)
    yield ""


def _readings(made: Audit, readings: _Readings) -> Iterator[str]:
    """Yield what a paper's rules conclude, and whether it is they or the vectors that err."""
    undistinguished = {made.hypotheses[j].parameter: "" for i, j in made.undistinguished() if i == 0}
    for name, several in readings.items():
        yield f"what the rules of {name} conclude from the answers:"
        for reading in several:
            text = f"  {reading.feature}: {reading.concluded}"
            if not reading.right:
                blame = (
                    f"no rule could: the vectors do not tell every {reading.parameter} apart"
                    if reading.parameter in undistinguished
                    else f"the rule is wrong: the vectors do tell every {reading.parameter} apart"
                )
                text += f"   WRONG, it is {reading.true} ({blame})"
            yield text
        yield ""


def _closing(made: Audit, closed: ClosingVectors | None) -> Iterator[str]:
    if closed is None:
        return
    how = (
        f"no smaller set of the {closed.candidates} candidates does"
        if closed.exact
        else "a greedy choice: a smaller set might do"
    )
    yield f"{counted(len(closed.vectors), 'vector')} that would close every gap ({how}), replayed:"
    model = made.row.model
    for number, pairs in enumerate(closed.closes):
        inputs = ", ".join(_runs(_inputs(model, closed, number)))
        d = shown(model.d_format, int(closed.words[0, number]))
        yield from _item(f"{number + 1}. ", [f"{inputs or 'all zero'} -> {d['word']} ({d['value']})"])
        yield from _item("   not ", _told(made, pairs))
    yield ""


def _runs(inputs: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    """``a0 = ...``; lanes after each other that hold the same word together."""
    texts = {name: f"{value['word']} ({value['value']})" for name, value in inputs.items()}
    for text, names in groupby(texts, texts.__getitem__):
        yield from (f"{lanes} = {text}" for lanes in ranges(names))


def _inputs(model: Model, closed: ClosingVectors, number: int) -> dict[str, dict[str, str]]:
    """Return the inputs of a vector that are not zero, by name."""
    formats = model.input_formats
    operands = zip(formats.items(), words_of_row(closed.vectors.inputs, number), strict=True)
    return {name: shown(fmt, word) for (name, fmt), word in operands if word}


#: What is said of pairs by their verdict, and what of each record.
_REASONS: dict[str, tuple[str, Callable[[dict[str, Any]], str]]] = {
    "equal": ("proved equal", proved_by),
    "unknown": ("not decided", lambda record: str(record["reason"])),
}


def _verdict(made: Audit, gaps: Sequence[UndistinguishedPair] | None) -> Iterator[str]:
    told = int((made.deciders > 0).sum())
    text = f"{counted(len(made.pairs), 'pair')}: {told} told apart"
    if gaps is None:
        text += f", {len(made.pairs) - told} not (the engine was not asked which of them are equal)"
    else:
        counts = {v: sum(gap.verdict == v for gap in gaps) for v in ("open", "equal", "unknown")}
        text += f", {counts['open']} NOT told apart"
        text += f", {counts['equal']} proved equal" if counts["equal"] else ""
        text += f", {counts['unknown']} not decided" if counts["unknown"] else ""
    yield text
    records = {verdict: [g.record for g in gaps or () if g.verdict == verdict] for verdict in _REASONS}
    for verdict, (head, reason) in _REASONS.items():
        for why in dict.fromkeys(reason(record) for record in records[verdict]):
            yield from wrap(f"{head}: {why}", _WIDTH - 2, initial_indent="  ", subsequent_indent="      ")
    yield from _not_told_from(made, _state(made, gaps))


def _not_told_from(made: Audit, state: Mapping[tuple[int, int], str]) -> Iterator[str]:
    """Yield what the vectors cannot tell the unit from: other units, and changes of one parameter."""
    missed = [n for n in range(1, len(made.hypotheses)) if state.get((0, n)) in ("open", "undistinguished")]
    if missed:
        others = [made.hypotheses[n].known[0] for n in missed if not made.hypotheses[n].parameter]
        near = _told(made, ((0, n) for n in missed if made.hypotheses[n].parameter))
        parts = [*([", ".join(others)] if others else []), *near]
        yield from wrap(
            f"These vectors cannot tell {made.row.name} from a unit with: {'; or '.join(parts)}", _WIDTH
        )


# --- for programs -------------------------------------------------------------------------------


def _closing_vectors(made: Audit, closed: ClosingVectors) -> list[Vector]:
    """For files: each with what it asks, and the words of the hypotheses that it tells apart."""
    vectors = []
    for number, pairs in enumerate(closed.closes):
        told = sorted({n for pair in pairs for n in pair})
        predictions = {made.hypotheses[n].row.name: int(closed.words[n, number]) for n in (0, *told)}
        asks = "not " + "; ".join(_told(made, pairs))
        vectors.append(
            Vector(asks=asks, words=words_of_row(closed.vectors.inputs, number), predictions=predictions)
        )
    return vectors


def _data(
    made: Audit,
    gaps: Sequence[UndistinguishedPair] | None,
    closed: ClosingVectors | None,
    readings: _Readings,
) -> dict[str, Any]:
    names = made.vectors.names
    fmt = made.row.model.d_format
    pairs = [
        {"pair": list(pair), "vectors": int(count)}
        for pair, count in zip(made.pairs, made.deciders, strict=True)
    ]
    data: dict[str, Any] = {
        "model": made.row.name,
        "vectors": list(names),
        "hypotheses": [
            {"name": h.name, "parameter": h.parameter, "value": h.value, "rows": list(h.known)}
            for h in made.hypotheses
        ],
        "pairs": pairs,
        "weakest": [{"pair": list(pair), "vector": vector} for pair, vector in made.weakest()],
        "decide_nothing": [n for n, told in enumerate(made.sets) if not told],
        "enough": {"vectors": made.enough.chosen, "exact": made.enough.exact},
        "gaps": None
        if gaps is None
        else [{"pair": list(gap.pair), "verdict": gap.verdict, "record": gap.record} for gap in gaps],
        "readings": {name: [vars(reading) for reading in several] for name, several in readings.items()},
        "closing": None,
    }
    if closed is not None:
        data["closing"] = {
            "exact": closed.exact,
            "candidates": closed.candidates,
            "vectors": [
                {
                    "inputs": _inputs(made.row.model, closed, number),
                    "d": fmt.hex(int(closed.words[0, number])),
                    "closes": [list(pair) for pair in pairs],
                }
                for number, pairs in enumerate(closed.closes)
            ],
        }
    return data
