"""The quality of test vectors: which hypotheses about a unit they tell apart, and what would close the gaps.

The hypotheses are the unit's model, its neighbours along each parameter, and the catalogue's rows and
claims of the same formats and K. A vector tells two hypotheses apart where they answer different words.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from tcsmt.language.terms import Term, all_of
from tcsmt.matrix_units.arithmetic.words import unsigned
from tcsmt.matrix_units.catalogue import Row, rows
from tcsmt.matrix_units.models import FusedDotAdd
from tcsmt.matrix_units.models.fused_parts import CLast, Contiguous, ProductsThenC
from tcsmt.matrix_units.resolve import resolve
from tcsmt.prove.engine.boundary_inputs import rows as pool_rows
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.witnesses import cost, shorten
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.finding import witness_of
from tcsmt.simulate.measured.dataset import DataSet, Formats
from tcsmt.simulate.measured.datasets import explaining_row, find_datasets, objection
from tcsmt.simulate.measured.row_files import model_named_in, read_json, read_rows, words_of
from tcsmt.simulate.measured.unit_files import is_unit_file
from tcsmt.simulate.rows import Words, joined_words, run_together
from tcsmt.support.checkpoint import Checkpoint
from tcsmt.support.elimination import Cover, bit_sets, cover
from tcsmt.support.errors import TcsmtError
from tcsmt.support.files import uncompressed
from tcsmt.support.invariants import not_none
from tcsmt.support.progress import ProgressCallback, no_progress
from tcsmt.support.text import counted
from tcsmt.surveys.units.model_pairs import DistinctUnit, Pair, cached_verdicts, decide_cached, witnessed
from tcsmt.surveys.units.neighbours import neighbours, value_text

Array = np.ndarray[Any, np.dtype[Any]]

#: Inputs of the pool among which few are looked for that close many gaps at once.
_POOL = 12288
#: Vectors whose pairs are looked at together, for the memory's sake.
_AT_ONCE = 8192


# --- vectors ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Vectors:
    """Inputs of a unit, and where each comes from."""

    names: tuple[str, ...]
    inputs: Words

    def __len__(self) -> int:
        return len(self.names)


def gathered(paths: Sequence[Path], unit: Row | None) -> tuple[Row, Vectors]:
    """Return the vectors of files, and the unit that they are for: ``unit``, or what the first file names.

    Data sets (see :func:`.find_datasets`; their results are not looked at) with fewer
    lanes than the unit get zeros, with more, the unit becomes its chain. Of a file of several units' rows,
    those of the unit are taken. Other files are read by
    :func:`.read_rows`. Raises :class:`.TcsmtError`.
    """
    row, parts = unit, []
    for path in paths:
        if _is_data(path):
            for dataset in _of_one_unit(path, row) if is_unit_file(path) else find_datasets([path]):
                row = row or explaining_row(dataset)
                row, inputs = _of_dataset(dataset, row)
                parts.append(_named(dataset.name, inputs))
            continue
        row = row or _named_in(path)
        parts.append(_named(path.name, read_rows(path, row.model)))
    row = not_none(row)
    lanes = {part.inputs.a.shape[1] for part in parts}
    if len(lanes) > 1:
        raise TcsmtError(
            f"the files have {' and '.join(map(str, sorted(lanes)))} lanes: audit them separately"
        )
    return row, joined(parts)


def _of_one_unit(path: Path, row: Row | None) -> list[DataSet]:
    """Return the rows of this unit (None: of the first) in a file of several units' rows."""
    datasets = list(find_datasets([path]))
    unit = row or explaining_row(datasets[0])
    chosen = [dataset for dataset in datasets if explaining_row(dataset).name == unit.name]
    if not chosen:
        held = ", ".join(dict.fromkeys(explaining_row(dataset).name for dataset in datasets))
        raise TcsmtError(f"{path} has no rows of {unit.name}; it has rows of {held}")
    return chosen


def joined(parts: Sequence[Vectors]) -> Vectors:
    """Vectors after each other."""
    names = tuple(name for part in parts for name in part.names)
    return Vectors(names, joined_words([part.inputs for part in parts]))


def listed(row: Row, rows: Sequence[tuple[str, Sequence[int]]]) -> Vectors:
    """Vectors given as words in the order of ``Model.input_names``, with their names."""
    columns = dict(zip(row.model.input_names, zip(*(words for _, words in rows), strict=True), strict=True))
    return Vectors(tuple(name for name, _ in rows), words_of(row.model, columns))


def _is_data(path: Path) -> bool:
    if not path.exists():
        raise TcsmtError(f"there is no file or folder {path}")
    suffix = uncompressed(path).suffix.lower()
    if path.is_dir() or suffix == ".txt" or path.name == "manifest.json":
        return True
    if suffix == ".json":
        data = read_json(path)
        return is_unit_file(path) or (isinstance(data, dict) and "cases" in data)
    return suffix == ".npz" and path.with_name("manifest.json").exists()


def _named_in(path: Path) -> Row:
    name = model_named_in(path)
    if not name:
        raise TcsmtError(f"{path} does not say which unit its vectors are for: give --model")
    return resolve(name).row


def _named(stem: str, inputs: Words) -> Vectors:
    return Vectors(tuple(f"{stem} row {number}" for number in range(len(inputs.c))), inputs)


def _of_dataset(dataset: DataSet, row: Row) -> tuple[Row, Words]:
    reason = objection(dataset, row.model)
    if not reason and dataset.k > row.model.k:
        chained = _chained(row, dataset.k)
        reason = f"has {dataset.k} lanes, which is not a chain of {row.name}" if chained is None else ""
        row = chained or row
    if reason:
        raise TcsmtError(f"data set {dataset.name} {reason}")
    return row, dataset.with_lanes(row.model.k)


def _chained(row: Row, k: int) -> Row | None:
    """Several instructions in a row as one unit of k lanes; None where no model says what they do."""
    m = row.model
    if m.k == k:
        return row
    if not isinstance(m, FusedDotAdd) or not isinstance(m.lanes, Contiguous) or m.scales:
        return None
    if isinstance(m.sum, (ProductsThenC, CLast)):
        return None
    if k % m.k or m.c_format != m.d_format:
        return None
    return replace(row, instruction=f"{row.instruction} x{k // m.k}", model=m.replace(k=k))


# --- hypotheses ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Hypothesis:
    """A row; parameter and value: what was changed in the audited unit (empty: a catalogue row)."""

    row: Row
    parameter: str = ""
    value: str = ""
    known: tuple[str, ...] = ()  #: all catalogue rows that are this function

    @property
    def name(self) -> str:
        """Return the change, or the rows' names."""
        return f"{self.parameter} = {self.value}" if self.parameter else ", ".join(self.known)


def _hypotheses(row: Row) -> Iterator[Hypothesis]:
    """Yield the row itself first, then the catalogue's, then its neighbours."""
    by_output: dict[object, list[Row]] = {row.model.trace.output: [row]}
    for other in rows():
        if Formats.of(other.model) == Formats.of(row.model) and other.model.k <= row.model.k:
            chained = _chained(other, row.model.k)
            if chained is not None and chained.model.input_formats == row.model.input_formats:
                same = by_output.setdefault(chained.model.trace.output, [])
                if chained.name not in [twin.name for twin in same]:
                    same.append(chained)
    for having in by_output.values():
        yield Hypothesis(having[0], known=tuple(twin.name for twin in having))
    for near in neighbours(row.model):
        changed = replace(row, instruction=f"{row.instruction} with {near.name}", model=near.model)
        yield Hypothesis(changed, near.parameter, value_text(near.value))


# --- what is told apart -------------------------------------------------------------------------


@dataclass(frozen=True)
class Audit:
    """Hypotheses, the first of which is the unit; vectors; and the word of each on each.

    pairs: the unit with every hypothesis, and all catalogue rows with each other. words: shape
    (hypotheses, vectors).
    """

    hypotheses: tuple[Hypothesis, ...]
    vectors: Vectors
    words: Array

    @property
    def row(self) -> Row:
        """Return the audited unit."""
        return self.hypotheses[0].row

    @cached_property
    def pairs(self) -> list[tuple[int, int]]:
        """Numbers of the hypotheses that should be told apart."""
        of_rows = [n for n, h in enumerate(self.hypotheses) if not h.parameter]
        near = [n for n, h in enumerate(self.hypotheses) if h.parameter]
        return [*combinations(of_rows, 2), *((0, n) for n in near)]

    @cached_property
    def deciders(self) -> Array:
        """Return how many vectors tell each pair apart: integers (pairs,)."""
        return np.array([int((self.words[i] != self.words[j]).sum()) for i, j in self.pairs])

    @cached_property
    def sets(self) -> list[int]:
        """Return for each vector the pairs that it tells apart, a bit for each."""
        return _sets(self.words, self.pairs)

    def weakest(self) -> list[tuple[tuple[int, int], int]]:
        """Return the pairs that one vector alone tells apart, and that vector."""
        return [
            (pair, int(np.flatnonzero(self.words[pair[0]] != self.words[pair[1]])[0]))
            for pair, count in zip(self.pairs, self.deciders, strict=True)
            if count == 1
        ]

    def undistinguished(self) -> list[tuple[int, int]]:
        """Return the pairs that no vector tells apart."""
        return [pair for pair, count in zip(self.pairs, self.deciders, strict=True) if not count]

    @cached_property
    def enough(self) -> Cover:
        """Return the fewest of the vectors that tell apart all that all of them do."""
        return cover(self.sets)


def _sets(words: Array, pairs: Sequence[tuple[int, int]]) -> list[int]:
    left, right = np.array(pairs, int).reshape(-1, 2).T
    parts = (words[:, start : start + _AT_ONCE].T for start in range(0, words.shape[1], _AT_ONCE))
    return [members for some in parts for members in bit_sets(some[:, left] != some[:, right])]


def audit_of(row: Row, vectors: Vectors, progress: ProgressCallback = no_progress) -> Audit:
    """Run every hypothesis on every vector."""
    hypotheses = tuple(_hypotheses(row))
    what = f"rows of {counted(len(hypotheses), 'hypothesis')}"
    words = run_together(
        [hypothesis.row.model for hypothesis in hypotheses],
        vectors.inputs,
        lambda done: progress(done, len(vectors), what),
    )
    return Audit(hypotheses, vectors, words)


# --- gaps, and what closes them -----------------------------------------------------------------


@dataclass(frozen=True)
class UndistinguishedPair:
    """Two hypotheses that no vector tells apart, and what the engine says of them.

    verdict: ``equal`` (proved: no vector can), ``open`` (an input is known that does) or ``unknown``.
    """

    pair: tuple[int, int]
    verdict: str
    record: dict[str, Any]


def gaps(
    audit: Audit,
    store: Checkpoint,
    options: SolvingOptions,
    progress: ProgressCallback = no_progress,
) -> list[UndistinguishedPair]:
    """Every pair that no vector tells apart, put to the engine; verdicts are kept in the store.

    Pairs that it leaves unknown are tried on the witnesses of the others, and on the pool of :func:`closing`.
    """
    asked = {pair: _asked(audit, pair) for pair in audit.undistinguished()}
    results = _gaps(asked, decide_cached(list(asked.values()), store, options, progress))
    told = _told_by_others(audit, results)
    return [told.get(gap.pair, gap) for gap in results]


def gaps_so_far(audit: Audit, store: Checkpoint, options: SolvingOptions) -> list[UndistinguishedPair]:
    """Return what :func:`gaps` has come to where it was stopped; pairs that nobody has decided are
    unknown.
    """
    asked = {pair: _asked(audit, pair) for pair in audit.undistinguished()}
    return _gaps(asked, cached_verdicts(list(asked.values()), store, options))


def _gaps(
    asked: Mapping[tuple[int, int], Pair], records: Mapping[str, dict[str, Any]]
) -> list[UndistinguishedPair]:
    verdicts = {"distinguished": "open", "equivalent": "equal"}
    return [
        UndistinguishedPair(
            pair, verdicts.get(records[question.key]["verdict"], "unknown"), records[question.key]
        )
        for pair, question in asked.items()
    ]


def _told_by_others(
    audit: Audit, results: Sequence[UndistinguishedPair]
) -> dict[tuple[int, int], UndistinguishedPair]:
    """Return the pairs without a verdict that some candidate tells apart."""
    pairs = [gap.pair for gap in results if gap.verdict == "unknown"]
    if not pairs:
        return {}
    candidates = _candidates(audit, results)
    sets = _sets(_words(audit, pairs, _of_values(audit.row, candidates).inputs), pairs)
    told: dict[tuple[int, int], UndistinguishedPair] = {}
    for place, pair in enumerate(pairs):
        number = next((n for n, members in enumerate(sets) if members >> place & 1), None)
        if number is not None:
            told[pair] = UndistinguishedPair(pair, "open", witnessed(_asked(audit, pair), candidates[number]))
    return told


def _candidates(audit: Audit, results: Sequence[UndistinguishedPair]) -> list[dict[str, int]]:
    """Return the engine's witnesses, and a pool of inputs near the boundaries of the arithmetic."""
    pool = pool_rows(audit.row.model.input_formats, _POOL, np.random.default_rng(20250101))
    rows = zip(*pool.values(), strict=True)
    return [witness_of(gap.record) for gap in results if gap.verdict == "open"] + [
        dict(zip(pool, map(int, words), strict=True)) for words in rows
    ]


def _asked(audit: Audit, pair: tuple[int, int]) -> Pair:
    left, right = (DistinctUnit(audit.hypotheses[n].row.model, (audit.hypotheses[n].row,)) for n in pair)
    return Pair(left, right, Domain(finite=False))


@dataclass(frozen=True)
class ClosingVectors:
    """Vectors that close gaps; closes: the pairs that each tells apart, of those that were open.

    exact: whether no fewer of the ``candidates`` inputs that were looked at do.
    """

    vectors: Vectors
    words: Array
    closes: tuple[tuple[tuple[int, int], ...], ...]
    candidates: int
    exact: bool


def closing(audit: Audit, results: Sequence[UndistinguishedPair]) -> ClosingVectors | None:
    """Return the fewest inputs that tell apart every open pair; None where none is open.

    Candidates: the engine's witnesses, and a pool of inputs near the boundaries of the arithmetic. Those
    that are chosen are made short by the evaluator, and run again on every hypothesis.
    """
    pairs = [gap.pair for gap in results if gap.verdict == "open"]
    if not pairs:
        return None
    formats, candidates = audit.row.model.input_formats, _candidates(audit, results)
    sets = _sets(_words(audit, pairs, _of_values(audit.row, candidates).inputs), pairs)
    best: list[dict[str, int]] = []
    while True:
        chosen = cover(sets)
        if best and len(chosen.chosen) >= len(best):
            break
        best, remaining = [], (1 << len(pairs)) - 1
        for number in chosen.chosen:
            covered, remaining = sets[number] & remaining, remaining & ~sets[number]
            goal = all_of(_differ(audit, pair) for place, pair in enumerate(pairs) if covered >> place & 1)
            best.append(shorten(goal, formats, candidates[number]))
        # what is short may close more than what it came from, so that fewer are enough
        candidates = best + candidates
        sets = _sets(_words(audit, pairs, _of_values(audit.row, best).inputs), pairs) + sets
    best.sort(key=lambda values: cost(formats, values))
    vectors = _of_values(audit.row, best)
    words = _words(audit, audit.pairs, vectors.inputs)
    closes = tuple(
        tuple(pair for pair in pairs if words[pair[0], n] != words[pair[1], n]) for n in range(len(best))
    )
    missed = set(pairs).difference(*closes)
    if missed:
        raise AssertionError(f"a shortened vector lost what it tells apart: {missed}")
    return ClosingVectors(vectors, words, closes, len(candidates), chosen.exact)


def _of_values(row: Row, several: Sequence[dict[str, int]]) -> Vectors:
    return listed(row, [("", [values[name] for name in row.model.input_names]) for values in several])


def _words(audit: Audit, pairs: Sequence[tuple[int, int]], inputs: Words) -> Array:
    """Words of the hypotheses in some pairs; the others' are 0. Shape (hypotheses, vectors)."""
    words = np.zeros((len(audit.hypotheses), len(inputs.c)), unsigned(audit.row.model.d_format))
    asked = sorted({n for pair in pairs for n in pair})
    if asked:
        words[asked] = run_together([audit.hypotheses[n].row.model for n in asked], inputs)
    return words


def _differ(audit: Audit, pair: tuple[int, int]) -> Term:
    first, second = (audit.hypotheses[n].row.model.trace.output for n in pair)
    return first.ne(second)
