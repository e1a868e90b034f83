"""``tcsmt audit``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from textwrap import wrap
from typing import Any

import click

from tcsmt import __version__
from tcsmt.api.certificates import require_sat_solver
from tcsmt.api.vectors import TestVectors, file_format
from tcsmt.catalogue import Row
from tcsmt.cli import options
from tcsmt.cli.certified import say_certified
from tcsmt.cli.names import UNIT
from tcsmt.cli.printing import echo_json
from tcsmt.data.model_files import row_given
from tcsmt.hardware.vectors import Vector, as_csv, as_json
from tcsmt.models import Model
from tcsmt.papers import fasi, khattak
from tcsmt.prove.solvers.run import Settings
from tcsmt.simulator.rows import words_of_row
from tcsmt.statements.finding import shown
from tcsmt.support.errors import Exit, TcsmtError
from tcsmt.support.files import replace_text
from tcsmt.support.progress import shown as progress_shown
from tcsmt.support.text import counted, ranges
from tcsmt.survey.audit import (
    Audit,
    Closing,
    Gap,
    Hypothesis,
    Vectors,
    audit_of,
    closing,
    gaps,
    gathered,
    joined,
    listed,
)
from tcsmt.survey.neighbours import value_text
from tcsmt.survey.pairs import proved_by
from tcsmt.survey.settle import Asking, verdicts_in
from tcsmt.survey.vectors import smallest

#: Published sets of vectors, by name.
_PUBLISHED: dict[str, Callable[[Model], list[tuple[str, tuple[int, ...]]]]] = {
    "fasi": fasi.vectors,
    "fttn": khattak.fttn_vectors,
}
#: What a paper's rules read in the answers.
_RULES: dict[str, Callable[[Model], list[khattak.Reading]]] = {"fttn": khattak.fttn_readings}
_WRITERS = {".json": as_json, ".csv": as_csv}
_WIDTH = 110


@click.command()
@click.argument("files", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--published", type=click.Choice([*_PUBLISHED]), multiple=True,
    help="Vectors of a paper: Fasi et al. 2020; FTTN (Li et al. 2024).",
)  # fmt: skip
@click.option(
    "--model", type=UNIT, metavar="UNIT", help="The unit.  [default: the unit that the first file names]"
)
@click.option(
    "--solve/--no-solve",
    default=True,
    help="Let solvers decide what no vector tells apart.  [default: solve]",
)
@click.option(
    "--output", type=click.Path(path_type=Path), help="Write the vectors that close the gaps: .json, .csv."
)
@click.option(
    "--subset", type=click.Path(path_type=Path),
    help="Write the fewest of the vectors that tell apart as much as all: .json, .csv, .hex, .mem, .npz.",
)  # fmt: skip
@options.jobs(2)
@options.scheduler
@options.solver
@options.timeout(20.0)
@options.memory
@options.confirmed
@options.store("audit-store.json")
@options.kept
@options.certificate
@options.as_json
def audit(
    files: tuple[Path, ...],
    published: tuple[str, ...],
    model: str | None,
    solve: bool,
    output: Path | None,
    subset: Path | None,
    jobs: int,
    scheduler: str,
    solver: str,
    timeout: float,
    memory: int,
    confirm: bool,
    store: Path,
    kept: bool | None,
    certificate: Path | None,
    as_json: bool,
) -> None:
    """Audit test vectors: which hypotheses they tell apart, and which vectors would close the gaps.

    FILES are data sets or rows as `validate` and `run` read them; results in them are ignored. The
    hypotheses are the unit's model, its neighbours (one parameter changed), and every model in the
    catalogue with the same formats and K, refuted ones included.

    Exit code: 0 every pair of hypotheses is told apart or proved equal, 1 some pair is not, 2 usage error,
    3 unknown for some pair.

    \b
    Examples:
      tcsmt audit --published fasi --model volta
      tcsmt audit my_rows.json --output closing.json --subset fewest.json
    """
    if not files and not published:
        raise click.UsageError(f"give FILES, or --published {' or '.join(_PUBLISHED)}")
    if published and not files and model is None:
        raise click.UsageError(
            "--published needs --model: the papers' vectors do not say which unit they are for"
        )
    if output is not None and output.suffix.lower() not in _WRITERS:
        raise TcsmtError(f"--output {output}: allowed suffixes: {', '.join(_WRITERS)}")
    if output is not None and not solve:
        raise click.UsageError("--output needs --solve")
    if certificate is not None and not solve:
        raise click.UsageError("--certificate needs --solve")
    if subset is not None:
        file_format(subset)
    require_sat_solver(certificate)
    asking = Asking(Settings(solver, timeout, memory), confirm, jobs, scheduler, kept, certificate)
    row, vectors = _vectors(files, published, row_given(model) if model is not None else None)
    with progress_shown(lines=False) as progress:
        made = audit_of(row, vectors, progress)
    if subset is not None:
        few = TestVectors(smallest(made), row.name)
        few.save(subset)
        click.echo(f"{subset}: {counted(len(few), 'vector')}", err=True)
    found: list[Gap] | None = None
    closed: Closing | None = None
    if solve:
        with verdicts_in(store) as verdicts, progress_shown() as progress:
            found = gaps(made, verdicts, asking, progress)
        closed = closing(made, found)
        if output is not None and closed is not None:
            replace_text(output, _WRITERS[output.suffix.lower()](row, _closing_vectors(made, closed)))
            click.echo(f"{output}: {counted(len(closed.vectors), 'vector')}", err=True)
    readings = {name: _RULES[name](row.model) for name in published if name in _RULES}
    if as_json:
        echo_json(_data(made, found, closed, readings))
    else:
        click.echo("\n".join(_lines(made, found, closed, readings)))
    if found is not None:
        say_certified(certificate, [gap.record for gap in found])
    states = {gap.verdict for gap in found} if found is not None else {"open"} if made.untold() else set()
    sys.exit(Exit.DIFFERS if "open" in states else Exit.UNKNOWN if "unknown" in states else Exit.ANSWERED)


def _vectors(files: Sequence[Path], published: Sequence[str], row: Row | None) -> tuple[Row, Vectors]:
    parts = []
    if files:
        row, found = gathered(files, row)
        parts.append(found)
    assert row is not None
    for name in published:
        parts.append(listed(row, [(f"{name}: {asks}", words) for asks, words in _PUBLISHED[name](row.model)]))
    return row, joined(parts)


# --- for people ---------------------------------------------------------------------------------


#: What the rules of published sets conclude, by the set's name.
_Readings = Mapping[str, Sequence[khattak.Reading]]


def _lines(
    made: Audit, found: list[Gap] | None, closed: Closing | None, readings: _Readings
) -> Iterator[str]:
    units = [h for h in made.hypotheses if not h.parameter]
    near = len(made.hypotheses) - len(units)
    yield f"{counted(len(made.vectors), 'vector')} for {made.row.name}"
    yield f"{near} hypotheses differ from it in one parameter; {len(units) - 1} other units fit its inputs"
    yield ""
    yield from _parameters(made, found)
    yield ""
    yield from _units(made, units, found)
    yield from _weakest(made)
    yield from _redundant(made)
    yield from _readings(made, readings)
    yield from _closing(made, closed)
    yield from _verdict(made, found)


def _state(made: Audit, found: list[Gap] | None) -> dict[tuple[int, int], str]:
    """For each pair that no vector tells apart: open, equal, unknown, or (not asked) untold."""
    return dict.fromkeys(made.untold(), "untold") | {gap.pair: gap.verdict for gap in found or ()}


def _parameters(made: Audit, found: list[Gap] | None) -> Iterator[str]:
    state, counts = _state(made, found), dict(zip(made.pairs, made.deciders, strict=True))
    table: dict[str, dict[str, list[str]]] = {}
    for number, one in enumerate(made.hypotheses):
        if one.parameter:
            told = "told" if counts[0, number] else state[0, number]
            table.setdefault(one.parameter, {}).setdefault(told, []).append(one.value)
    heads = {"told": "told apart", "open": "NOT told apart", "untold": "NOT told apart",
             "equal": "equal: no vector can", "unknown": "not told apart, not decided"}  # fmt: skip
    shown_heads = [key for key in heads if any(key in row for row in table.values())]
    lines = [["the unit has", *(heads[key] for key in shown_heads)]]
    model = made.row.model
    for name, row in table.items():
        own = f"{name} = {value_text(getattr(model, name))}"
        lines.append([own, *(", ".join(ranges(row.get(key, []))) for key in shown_heads)])
    yield from _columns(lines)


def _columns(lines: Sequence[Sequence[str]]) -> Iterator[str]:
    """A table whose columns but the first are wrapped to the width that is left."""
    first = max(len(line[0]) for line in lines)
    rest = len(lines[0]) - 1
    longest = [max(len(line[i + 1]) for line in lines) for i in range(rest)]
    left, widths = _WIDTH - first - 2 * rest, list(longest)
    while sum(widths) > left:
        widths[widths.index(max(widths))] -= 1
    for line in lines:
        cells = [
            [line[0]],
            *(wrap(cell, width) or [""] for cell, width in zip(line[1:], widths, strict=True)),
        ]
        for part in range(max(map(len, cells))):
            texts = [cell[part] if part < len(cell) else "" for cell in cells]
            sized = (f"{text:<{width}}" for text, width in zip(texts, (first, *widths), strict=True))
            yield "  ".join(sized).rstrip()


def _units(made: Audit, units: Sequence[Hypothesis], found: list[Gap] | None) -> Iterator[str]:
    """Units, and how many vectors tell each two of them apart."""
    state, counts = _state(made, found), dict(zip(made.pairs, made.deciders, strict=True))
    if len(units) < 2:
        yield "no other unit of the catalogue has these formats and K"
        return
    yield "units of these formats and K, and how many vectors tell each two apart (= equal, ? not decided):"
    width = max(3, len(str(len(made.vectors))))
    yield " " * 4 + " ".join(f"{n + 1:>{width}}" for n in range(len(units)))
    marks = {"equal": "=", "unknown": "?", "open": "0", "untold": "0"}
    for i, one in enumerate(units):
        cells = []
        for j in range(len(units)):
            pair = min(i, j), max(i, j)
            text = "." if i == j else str(counts[pair]) if counts[pair] else marks[state[pair]]
            cells.append(f"{text:>{width}}")
        more = f" (+{len(one.known) - 1})" if len(one.known) > 1 else ""
        yield f"{i + 1:>3} {' '.join(cells)}  {one.known[0]}{more}"
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
    """What telling pairs apart says: two units' numbers, or a parameter's values."""
    units, values = [], dict[str, list[str]]()
    for i, j in pairs:
        one = made.hypotheses[j]
        if one.parameter:
            values.setdefault(one.parameter, []).append(one.value)
        else:
            units.append(f"unit {i + 1} | {j + 1}")
    return [*units, *(f"{name} = {', '.join(ranges(several))}" for name, several in values.items())]


def _item(head: str, names: Iterable[str]) -> Iterator[str]:
    yield from wrap(head + "; ".join(names), _WIDTH - 2, initial_indent="  ", subsequent_indent="      ")


def _redundant(made: Audit) -> Iterator[str]:
    nothing = [name for name, told in zip(made.vectors.names, made.sets, strict=True) if not told]
    chosen = made.enough.chosen
    rest = len(made.vectors) - len(chosen)
    how = "no smaller set does" if made.enough.exact else "a greedy choice: a smaller set might do"
    yield f"{len(chosen)} of the {len(made.vectors)} vectors tell apart as much as all of them ({how});"
    none = f"{len(nothing)} of these decide nothing at all"
    yield f"the other {rest} decide nothing new, and {none}. The {len(chosen)}:"
    yield from _item("", (made.vectors.names[n] for n in chosen))
    if 0 < len(nothing) <= 20:
        yield from _item("nothing at all: ", nothing)
    yield ""


def _readings(made: Audit, readings: _Readings) -> Iterator[str]:
    """What a paper's rules conclude, and whether it is they or the vectors that err."""
    untold = {made.hypotheses[j].parameter: "" for i, j in made.untold() if i == 0}
    for name, several in readings.items():
        yield f"what the rules of {name} conclude from the answers:"
        for one in several:
            text = f"  {one.feature}: {one.concluded}"
            if not one.right:
                blame = (
                    f"no rule could: the vectors do not tell every {one.parameter} apart"
                    if one.parameter in untold
                    else f"the rule is wrong: the vectors do tell every {one.parameter} apart"
                )
                text += f"   WRONG, it is {one.true} ({blame})"
            yield text
        yield ""


def _closing(made: Audit, closed: Closing | None) -> Iterator[str]:
    if closed is None:
        return
    count = len(closed.vectors)
    how = (
        f"no smaller set of the {closed.candidates} candidates does"
        if closed.exact
        else "a greedy choice: a smaller set might do"
    )
    yield f"{count} vector{'s' * (count > 1)} that would close every gap ({how}), replayed:"
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


def _inputs(model: Model, closed: Closing, number: int) -> dict[str, dict[str, str]]:
    """The inputs of a vector that are not zero, by name."""
    formats = model.input_formats
    given = zip(formats.items(), words_of_row(closed.vectors.inputs, number), strict=True)
    return {name: shown(fmt, word) for (name, fmt), word in given if word}


#: What is said of pairs by their verdict, and what of each record.
_REASONS: dict[str, tuple[str, Callable[[dict[str, Any]], str]]] = {
    "equal": ("proved equal", proved_by), "unknown": ("not decided", lambda record: str(record["reason"]))
}  # fmt: skip


def _verdict(made: Audit, found: list[Gap] | None) -> Iterator[str]:
    told = int((made.deciders > 0).sum())
    text = f"{len(made.pairs)} pairs: {told} told apart"
    if found is None:
        text += f", {len(made.pairs) - told} not (the engine was not asked which of them are equal)"
    else:
        counts = {v: sum(gap.verdict == v for gap in found) for v in ("open", "equal", "unknown")}
        text += f", {counts['open']} NOT told apart"
        text += f", {counts['equal']} proved equal" if counts["equal"] else ""
        text += f", {counts['unknown']} not decided" if counts["unknown"] else ""
    yield text
    records = {verdict: [g.record for g in found or () if g.verdict == verdict] for verdict in _REASONS}
    for verdict, (head, reason) in _REASONS.items():
        for why in dict.fromkeys(reason(record) for record in records[verdict]):
            yield from wrap(f"{head}: {why}", _WIDTH - 2, initial_indent="  ", subsequent_indent="      ")
    state = _state(made, found)
    missed = [n for n in range(1, len(made.hypotheses)) if state.get((0, n)) in ("open", "untold")]
    if missed:
        others = [made.hypotheses[n].known[0] for n in missed if not made.hypotheses[n].parameter]
        near = _told(made, ((0, n) for n in missed if made.hypotheses[n].parameter))
        parts = [*([", ".join(others)] if others else []), *near]
        yield from wrap(
            f"These vectors cannot tell {made.row.name} from a unit with: {'; or '.join(parts)}", _WIDTH
        )


# --- for programs -------------------------------------------------------------------------------


def _closing_vectors(made: Audit, closed: Closing) -> list[Vector]:
    """For files: each with what it asks, and the words of the hypotheses that it tells apart."""
    found = []
    for number, pairs in enumerate(closed.closes):
        told = sorted({n for pair in pairs for n in pair})
        predictions = {made.hypotheses[n].row.name: int(closed.words[n, number]) for n in (0, *told)}
        asks = "not " + "; ".join(_told(made, pairs))
        found.append(
            Vector(asks=asks, words=words_of_row(closed.vectors.inputs, number), predictions=predictions)
        )
    return found


def _data(
    made: Audit, found: list[Gap] | None, closed: Closing | None, readings: _Readings
) -> dict[str, Any]:
    names = made.vectors.names
    fmt = made.row.model.d_format
    pairs = [
        {"pair": list(pair), "vectors": int(count)}
        for pair, count in zip(made.pairs, made.deciders, strict=True)
    ]
    data: dict[str, Any] = {
        "tcsmt": __version__,
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
        "gaps": None if found is None else [
            {"pair": list(gap.pair), "verdict": gap.verdict, "record": gap.record} for gap in found
        ],
        "readings": {name: [vars(one) for one in several] for name, several in readings.items()},
        "closing": None,
    }  # fmt: skip
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
