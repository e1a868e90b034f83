"""Is an implementation the unit? A device, a program or a Python function is asked many rows."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from tcsmt.face.api.arrays import as_numpy
from tcsmt.face.api.units import Unit, UnitLike, side_of
from tcsmt.identification.units.resemblance import Resemblance, resemblance
from tcsmt.matrix_units.arithmetic.words import from_words, to_words
from tcsmt.matrix_units.catalogue import Row
from tcsmt.matrix_units.catalogue.preferred import by_use
from tcsmt.matrix_units.files.packed_rows import batch, result_type
from tcsmt.matrix_units.models import Model, Operands
from tcsmt.outside.implementations.check import Examination, Implementation, ShortMismatch, recorded
from tcsmt.outside.implementations.check import check as checked
from tcsmt.prove.statements.explain import stage_lines
from tcsmt.prove.statements.finding import shown
from tcsmt.simulate.measured.dataset import DataSet
from tcsmt.simulate.measured.datasets import find_datasets, objection
from tcsmt.simulate.rows import Words, run_words
from tcsmt.support.errors import Exit, TcsmtError
from tcsmt.support.kept_answers import KeptAnswers
from tcsmt.support.progress import ProgressCallback, unseen
from tcsmt.support.results import Result
from tcsmt.support.text import ranges

__all__ = ["Check", "check", "difference", "explained", "of_arrays", "of_file", "remembered"]

Array = np.ndarray[Any, np.dtype[Any]]
#: Rows whose answers are kept together: a stop loses as many at most.
_KEPT = 4096


@dataclass(frozen=True, repr=False)
class Check(Result):
    """What asking an implementation has shown; ``agrees``, ``rows``, ``mismatches``.

    name: what the implementation is called. resemblance: what gives its answers; None where it agrees.
    """

    name: str
    checked: Examination
    resemblance: Resemblance | None = None

    @property
    def agrees(self) -> bool:
        """Whether every answer was the unit's, and stayed the same when it was asked for again."""
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
        """What gives all of its answers to the edge cases: units, changes of a parameter, programs' sums."""
        others = self.resemblance.texts if self.resemblance is not None else ()
        return [] if self.agrees else [*self.checked.alike, *others]

    def _facts(self) -> dict[str, Any]:
        found, first = self.checked, self.checked.first
        model = found.row.model
        data: dict[str, Any] = {
            "unit": found.row.name, "implementation": self.name, "rows": self.rows,
            "mismatches": self.mismatches, "hypotheses": len(found.audit.hypotheses) - 1,
            "not_excluded": self._left(),
        }  # fmt: skip
        if found.changed is not None:
            data["changed"] = {
                "inputs": {
                    name: fmt.hex(found.changed.values[name]) for name, fmt in model.input_formats.items()
                },
                "first": model.d_format.hex(found.changed.expected),
                "later": model.d_format.hex(found.changed.got),
            }
        if first is not None:
            inputs = {
                name: shown(fmt, first.values[name])
                for name, fmt in model.input_formats.items()
                if first.values[name]
            }
            unit, given = (shown(model.d_format, word) for word in (first.expected, first.got))
            data["first"] = {"inputs": inputs, "unit": unit, "implementation": given}
            data["looks_like"] = self.looks_like
            near = self.resemblance.near if self.resemblance is not None else None
            if near is not None and self.resemblance is not None:
                data["nearest"] = {"is": near[0], "rows": near[1], "of": self.resemblance.rows}
        return data

    def _lines(self) -> list[str]:
        first = self.checked.first
        shown = [] if first is None else [difference(self.name, self.checked.row, first)]
        return [*shown, self.conclusion]

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
            one, two = (model.d_format.hex(word) for word in (changed.expected, changed.got))
            yield f"its answers change: {words or 'a row of zeros'} was answered {one}, and later {two}"
        if self.mismatches:
            yield from self._looks_like()
        elif self.agrees:
            yield from self._excluded()

    @property
    def _title(self) -> str:
        return self.summary

    def _left(self) -> dict[str, list[str]]:
        """The hypotheses that no row excludes, by what is known of them."""
        audit, gaps = self.checked.audit, self.checked.gaps
        states = {gap.pair: gap.verdict for gap in gaps or ()}
        left: dict[str, list[str]] = {}
        for pair in audit.untold():
            if not pair[0]:
                left.setdefault(states.get(pair, "not asked"), []).append(audit.hypotheses[pair[1]].name)
        return left

    def _excluded(self) -> Iterator[str]:
        """What agreeing on these rows means."""
        left = self._left()
        hypotheses = len(self.checked.audit.hypotheses) - 1
        count = hypotheses - sum(map(len, left.values()))
        yield f"these rows exclude {count} of {hypotheses} other units and changes of one parameter"
        heads = {
            "equal": "proved to be the same function", "unknown": "not excluded, not decided",
            "not asked": "not excluded (no solver was asked whether an input would)",
        }  # fmt: skip
        for state, names in left.items():
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


def difference(name: str, row: Row, first: ShortMismatch) -> str:
    """For people: a row on which an implementation of this name differs, and what the unit does with it."""
    model = row.model
    lines = [f"a row on which {name} differs from {row.name}, as short as was found:"]
    for given, fmt in model.input_formats.items():
        if first.values[given]:
            one = shown(fmt, first.values[given])
            lines.append(f"  {given} = {one['word']}  {one['value']}")
    for who, word in (("the unit", first.expected), (name, first.got)):
        one = shown(model.d_format, word)
        lines.append(f"  {who}: {one['word']}  {one['value']}")
    lines.append("what the unit does:")
    lines += [f"  {line}" for line in stage_lines(model, tuple(first.values.values()))]
    return "\n".join(lines)


def _together(names: list[str]) -> list[str]:
    """Changes of one parameter in one text."""
    by_parameter: dict[str, list[str]] = {}
    for name in names:
        parameter, equals, value = name.partition(" = ")
        by_parameter.setdefault(parameter if equals else name, []).extend([value] if equals else [])
    return [f"{name} = {', '.join(ranges(v))}" if v else name for name, v in by_parameter.items()]


def of_arrays(model: Model, function: Callable[..., Any]) -> Implementation:
    """An implementation that takes arrays of the formats' dtypes: a, b of shape (rows, k), c of (rows,).

    Of a unit with block scales, also ``scale_a`` and ``scale_b`` by these names, of shape (rows, scales).
    Its result is an array of D's dtype or of D's words, shape (rows,).
    """

    def run(words: Words) -> Array:
        formats = model.operand_formats.named
        given = {name: from_words(formats[name], part) for name, part in words.named.items()}
        a, b, c = (given.pop(name) for name in "abc")
        name = "the implementation's result"
        words_of_d = to_words(model.d_format, as_numpy(function(a, b, c, **given), name), name)
        if words_of_d.shape != words.c.shape:
            raise TcsmtError(
                f"the implementation's result has shape {words_of_d.shape}: must be {words.c.shape}, one "
                "result for each row"
            )
        return words_of_d

    return run


def of_unit(model: Model, given: Unit) -> Implementation:
    """A unit of the same formats as an implementation: it takes the words themselves, whatever they are."""
    for name, fmt in (model.input_formats | {"d": model.d_format}).items():
        own = (given.model.input_formats | {"d": given.model.d_format}).get(name)
        if own != fmt:
            has = "none" if own is None else f"it in {own.name}"
            raise TcsmtError(f"the unit that is checked has {name} in {fmt.name}, and {given.name} has {has}")
    return partial(run_words, given.model)


def remembered(model: Model, implementation: Implementation, kept: KeptAnswers) -> Implementation:
    """An implementation whose answers are kept: rows that it has answered before are not asked again."""
    result = result_type(model)

    def run(words: Words) -> Array:
        found = [np.zeros(0, result.newbyteorder("="))]
        for first in range(0, len(words.c), _KEPT):
            rows = words.map(itemgetter(slice(first, first + _KEPT)))
            question = batch(model, rows)
            answer = kept.get(question)
            if answer is None:
                answer = implementation(rows).astype(result).tobytes()
                kept.put(question, answer)
            found.append(np.frombuffer(answer, result).astype(result.newbyteorder("=")))
        return np.concatenate(found)

    return run


def check(
    unit: UnitLike,
    implementation: Callable[..., Any] | str | os.PathLike[str],
    *,
    rows: int = 100_000,
    seed: int = 1,
) -> Check:
    """Ask an implementation many rows, and say whether each answer is the unit's.

    implementation: a file of recorded rows and results, as :func:`tcsmt.validate` reads it (rows and seed
    are not used); another unit, of the same formats; or a function of arrays a, b of shape (rows, k) and c of
    shape (rows,), of the formats' dtypes, and of the keywords scale_a, scale_b of shape (rows, K / block)
    where the unit has block scales (``float8_e8m0fnu``; ``float8_e4m3fn`` for ``ue4m3``); its result has
    shape (rows,), of D's dtype or words, in any array library.
    rows: asked in all, at least. The rows are the same for a seed: special values, inputs near the boundaries
    of the arithmetic, and random words.
    Raises :class:`tcsmt.TcsmtError` for results that do not fit.

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
    if isinstance(implementation, (str, os.PathLike)):
        path = Path(implementation)
        return of_file(row_for_file(unit, path), path)
    row = side_of(unit).row
    if isinstance(implementation, Unit):
        name, asked = implementation.name, of_unit(row.model, implementation)
    else:
        name = getattr(implementation, "__name__", "the implementation")
        asked = of_arrays(row.model, implementation)
    return explained(name, checked(row, asked, rows=rows, seed=seed), asked, seed)


def row_for_file(unit: UnitLike, path: Path) -> Row:
    """The instruction that is named; else the most used of a unit's that takes the rows of a file."""
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


def of_file(row: Row, path: Path, progress: ProgressCallback = unseen) -> Check:
    """The same of recorded rows: nothing is asked. Raises :class:`tcsmt.TcsmtError`."""
    parts = []
    for dataset in find_datasets([path], row.name):
        reason = _objection(dataset, row)
        if reason:
            raise TcsmtError(f"data set {dataset.name} {reason}")
        spare = ((0, 0), (0, row.model.k - dataset.k))
        given = dataset.operands
        parts.append((replace(given, a=np.pad(given.a, spare), b=np.pad(given.b, spare)), dataset.d))
    if not parts:
        raise TcsmtError(f"{path} has no rows")
    named = [inputs.named for inputs, _ in parts]
    inputs = Operands(**{name: np.concatenate([one[name] for one in named]) for name in named[0]})
    found = recorded(row, inputs, np.concatenate([d for _, d in parts]), progress)
    return explained(path.name, found, None, 1)


def explained(name: str, found: Examination, implementation: Implementation | None, seed: int) -> Check:
    """With what an implementation that is not the unit looks like; None: it cannot be asked more rows."""
    if not found.mismatches:
        return Check(name, found)
    model, asked = found.row.model, found.audit.vectors.inputs
    return Check(name, found, resemblance(model, asked, found.answers, implementation, seed))
