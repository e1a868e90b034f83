"""The search: ask what splits the remaining hypotheses best, until all that remain are proved equal.

1. Ordinary sums (:func:`tcsmt.identification.vectors.ordinary`) over every hypothesis of every structure.
2. The survivors with all other parameters; of random questions the one whose answers have the largest
   entropy over a sample of them.
3. Where no question splits them: a solver looks for an input on which two of them differ.
4. Answers that alone exclude a row one column apart from the result are asked for once more, and new
   sums are tried: a box whose answers change is reported, not explained.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tcsmt.identification.boxes import Box
from tcsmt.identification.equal import canonical
from tcsmt.identification.evaluate import predictions
from tcsmt.identification.family import COLUMNS, Family, Table
from tcsmt.identification.first_questions import Opening, TooMany
from tcsmt.identification.questions import Questions, ordinary_rows
from tcsmt.identification.score import best_of
from tcsmt.identification.vectors import Random, mixed, nan_of_c, ordinary
from tcsmt.models import FusedDotAdd
from tcsmt.prove.certify import Certificates
from tcsmt.prove.engine import compare_models
from tcsmt.prove.solvers.run import Settings
from tcsmt.prove.solving import Solving
from tcsmt.statements.domain import Domain
from tcsmt.statements.verdict import Distinguished, Equivalent, Unknown
from tcsmt.support.checkpoint import GOES_ON, Kept
from tcsmt.support.errors import TcsmtError
from tcsmt.support.files import wrote

__all__ = ["Exchange", "Identification", "Outcome", "Transcript", "next_questions"]

Array = np.ndarray[Any, np.dtype[Any]]

#: Hypotheses in a sample, questions in a pool (more where the sample is small), and pairs of both.
SAMPLE, POOL, PAIRS = 256, 160, 60_000
#: Pairs that are put to the solver, at most, before the search gives up.
MOST_PAIRS = 12
#: New sums at the end.
CONFIRMING = 3


class OutOfBudget(Exception):
    """No question is left."""


class NoBox(Exception):
    """There are recorded answers alone."""


class Inconsistent(Exception):
    """The box contradicts itself."""


@dataclass(frozen=True)
class Exchange:
    """A question and its answer; why: what it was asked for."""

    a: tuple[int, ...]
    b: tuple[int, ...]
    c: int
    d: int
    why: str


class Transcript(Kept):
    """Questions and answers, as JSON lines in a file where one is given.

    A search that is started again with the same file and seed asks the same questions, and takes
    their answers from it. It is not a :class:`.Checkpoint`: a line is added for each answer, in order,
    and people and other commands read the file as rows (``.jsonl``).
    """

    def __init__(self, family: Family, path: Path | None = None) -> None:
        self.family = family
        self._told: list[Exchange] = []
        self._count = 0
        super().__init__(path)

    def _take(self, path: Path) -> None:
        self._told = list(_read(path))
        self._count = len(self._told)

    @property
    def _held(self) -> str:
        answers = "answers" if self._count > 1 else "answer"
        return f"{self._count} {answers}; {GOES_ON}" if self._count else ""

    def answered(self, number: int, a: tuple[int, ...], b: tuple[int, ...], c: int) -> int | None:
        """The answer on file to question ``number``. Raises TcsmtError where another was asked."""
        if number >= len(self._told):
            return None
        told = self._told[number]
        if (told.a, told.b, told.c) != (a, b, c):
            raise TcsmtError(
                f"{self.path}:{number + 1}: this is not the question that the search asks here; "
                "was the file made with another --seed, or another version of tcsmt?"
            )
        return told.d

    def add(self, one: Exchange) -> None:
        """Keep an answer."""
        if self.path is None:
            return
        fa, fb, fc, fd = self.family.formats
        line = {
            "a": [fa.hex(w) for w in one.a], "b": [fb.hex(w) for w in one.b],
            "c": fc.hex(one.c), "d": fd.hex(one.d), "why": one.why,
        }  # fmt: skip
        try:
            with self.path.open("a") as file:
                file.write(json.dumps(line) + "\n")
            self._count += 1
            wrote(self.path, self._held)
        except OSError as error:
            raise TcsmtError(f"cannot write {self.path}: {error.strerror}") from None


def _read(path: Path) -> Iterator[Exchange]:
    """A transcript's exchanges; a last line that was cut off while it was written goes from the file."""
    try:
        lines = path.read_text().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise TcsmtError(f"cannot read {path}: {error}") from None
    for number, line in enumerate(lines, 1):
        try:
            data = json.loads(line)
            a, b = (tuple(int(w, 16) for w in data[side]) for side in "ab")
            yield Exchange(a, b, int(data["c"], 16), int(data["d"], 16), str(data.get("why", "")))
        except (ValueError, TypeError, KeyError):
            if number < len(lines):
                raise TcsmtError(f"{path}:{number}: not a question with its answer") from None
            path.write_text("".join(f"{line}\n" for line in lines[:-1]))


@dataclass(frozen=True)
class Outcome:
    """What was found.

    verdict: ``identified``, ``refuted``, ``inconsistent`` or ``open``. reason: for the last two.
    rows: hypotheses that remain, the first one the model's. proofs: how many of them were proved equal to the
    first (the others are by a range argument), by_whom: by which solvers; unproved: those that were not.
    following: the next questions, where recorded answers leave several.
    """

    verdict: str
    reason: str
    model: FusedDotAdd | None
    rows: Table
    proofs: int
    by_whom: tuple[str, ...]
    unproved: list[Table]
    exchanges: list[Exchange]
    counts: list[int]
    seconds: float
    following: Questions | None = None


@dataclass
class Identification:
    """One search. box: None where ``given`` answers are all there is. budget: questions at most.

    confirm: a proof counts only if another solver confirms it. certificates: where proofs leave theirs.
    """

    family: Family
    box: Box | None
    budget: int = 60
    seed: int = 1
    transcript: Transcript | None = None
    settings: Settings = field(default_factory=lambda: Settings(timeout=10.0))
    confirm: bool = False
    certificates: Certificates | None = None
    progress: Callable[[str], None] = lambda text: None
    given: Sequence[Exchange] = ()

    def __post_init__(self) -> None:
        self.exchanges: list[Exchange] = []
        self.counts: list[int] = []
        self.nan: int | None = None
        self.random = np.random.default_rng(self.seed)
        self.proofs: list[Equivalent] = []
        self.unproved: list[Table] = []
        self.reasons: list[str] = []
        self.solving = Solving(self.settings, confirm=self.confirm, certificates=self.certificates)
        self.table: Table = np.zeros((0, len(COLUMNS)), np.int16)

    # --- asking --------------------------------------------------------------------------------

    def ask(self, question: Questions, why: str) -> int:
        """The answer to one question, every NaN as the format's own."""
        a, b = (tuple(map(int, side[0])) for side in (question.a, question.b))
        c = int(question.c[0])
        number = len(self.exchanges) - len(self.given)
        told = self.transcript.answered(number, a, b, c) if self.transcript else None
        if told is None:
            if self.box is None:
                raise NoBox
            if number >= self.budget:
                raise OutOfBudget
            d = self.box(a, b, c)
        else:
            d = told
        one = Exchange(a, b, c, d, why)
        self.exchanges.append(one)
        if self.transcript and told is None:
            self.transcript.add(one)
        return self._plain(d)

    def _plain(self, d: int) -> int:
        fmt = self.family.d_format
        if not fmt.is_nan(d):
            return d
        if self.nan is not None and d != self.nan:
            raise Inconsistent(f"two NaN words: {fmt.hex(self.nan)} and {fmt.hex(d)}")
        self.nan = d
        return fmt.nan_word or 0

    def _words(self, exchanges: Sequence[Exchange]) -> Array:
        return np.array([self._plain(one.d) for one in exchanges], np.uint64)

    # --- the whole search ----------------------------------------------------------------------

    def run(self) -> Outcome:
        """Identify the box."""
        start = time.monotonic()
        verdict, reason, following = "open", "", None
        try:
            self._ordinary()
            self._narrowed()
            if len(self.table) and self.box is not None:
                self._confirmed()
            verdict = "refuted" if not len(self.table) else "open" if self.unproved else "identified"
            if self.unproved:
                reason = f"{len(self.unproved)} hypotheses were neither proved equal nor told apart"
                reason = "; ".join(dict.fromkeys([reason, *self.reasons]))
        except TooMany as error:
            reason = f"{error}: ask more ordinary sums, as `--plan set` does"
        except NoBox:
            reason = f"{len(self.table)} hypotheses explain the answers"
            following = next_questions(self.family, self.table, self.random)[0]
        except OutOfBudget:
            reason = f"the budget of {self.budget} questions is spent"
        except Inconsistent as error:
            verdict, reason = "inconsistent", str(error)
            self.table = self.table[:0]
        model = self.family.model(self.table[0], self.nan) if len(self.table) else None
        return Outcome(
            verdict, reason, model, self.table, len(self.proofs),
            tuple(dict.fromkeys(proof.by_whom for proof in self.proofs if proof.scripts)), self.unproved,
            self.exchanges, self.counts, time.monotonic() - start, following,
        )  # fmt: skip

    def _ordinary(self) -> None:
        """The rows of every structure that explain the given answers and the first sums."""
        opening = Opening(self.family, self.random, self.progress)
        self.exchanges = list(self.given)
        for one in self.given:
            question, answer = _questions([one]), self._plain(one.d)
            if not opening.few and ordinary_rows(self.family, question)[0]:
                opening.answer(question, answer)
        while self.box is not None or self.transcript is not None:
            found = opening.question()
            if found is None:
                break
            opening.answer(found, self.ask(found, "an ordinary sum"))
        self._left(self._consistent(opening.table()))

    def _left(self, table: Table) -> None:
        self.table = table
        self.counts.append(len(table))
        self.progress(f"{len(self.exchanges)} questions, {len(table)} hypotheses left")

    def _consistent(self, table: Table) -> Table:
        """Rows that explain every given answer; those asked for are looked at as they come."""
        if not self.given:
            return table
        questions, answers = _questions(list(self.given)), self._words(self.given)
        for i in range(len(answers)):
            if len(table):
                table = table[predictions(self.family, table, questions[[i]])[:, 0] == answers[i]]
        return table

    def _filter(self, question: Questions, why: str) -> None:
        answer = self.ask(question, why)
        self._left(self.table[predictions(self.family, self.table, question)[:, 0] == answer])

    def _narrowed(self) -> None:
        """Ask until no question is found that splits the rest."""
        while len(self.table) > 1:
            question = self._splitting(self.table)
            if question is not None:
                self._filter(question, "splits the rest best")
                continue
            question = self._solved(self.table)
            if question is None:
                break
            self._filter(question, "a solver's: two hypotheses differ")

    def _splitting(self, table: Table) -> Questions | None:
        """Of some random questions, the one whose answers have the largest entropy over a sample."""
        for attempt in range(8):
            rows = table[self.random.permutation(len(table))[: SAMPLE << attempt // 4]]
            rows = np.unique(canonical(self.family, rows), axis=0)
            if len(rows) < 2:
                continue
            count = int(np.clip(PAIRS // len(rows), POOL, 4000))
            pool = mixed(self.family, self.random, count, rows)
            words = predictions(self.family, rows, pool)
            best = best_of(words)
            if best is not None:
                return pool[[best]]
        return None

    def _solved(self, table: Table) -> Questions | None:
        """An input on which the first row and another differ, from a solver; None: there is none."""
        table = np.unique(canonical(self.family, table), axis=0)
        first = self.family.model(table[0])
        self.unproved, self.proofs, self.reasons = [], [], []
        for row in table[1:MOST_PAIRS]:
            other = self.family.model(row)
            found = compare_models(("one", first), ("other", other), Domain(finite=False), self.solving)
            verdict = found.verdict
            self.progress(f"solver: {type(verdict).__name__.lower()}, {verdict.seconds:.1f} s")
            match verdict:
                case Distinguished():
                    if self._fresh(verdict):
                        return _from_values(self.family, verdict)
                    self.unproved.append(row)
                case Equivalent():
                    self.proofs.append(verdict)
                case Unknown():
                    self.unproved.append(row)
                    self.reasons.append(verdict.reason)
        self.unproved += list(table[MOST_PAIRS:])
        return None

    def _fresh(self, verdict: Distinguished) -> bool:
        """Whether the input was not asked yet."""
        one = _from_values(self.family, verdict)
        key = (tuple(map(int, one.a[0])), tuple(map(int, one.b[0])), int(one.c[0]))
        return all((e.a, e.b, e.c) != key for e in self.exchanges)

    # --- is the box one unit at all? -----------------------------------------------------------

    def _confirmed(self) -> None:
        """Ask for the word of a NaN and for new sums, and once more what alone excludes a row beside it."""
        if self.nan is None:
            self._filter(nan_of_c(self.family), "the word of a NaN")
        for kind in (ordinary, mixed):
            pool = kind(self.family, self.random, 4 * CONFIRMING)
            for i in range(min(CONFIRMING, len(pool))):
                self._filter(pool[[i]], "confirms the result")
                if not len(self.table):
                    return
        for number in self._decisive(self.table[0]):
            one = self.exchanges[number]
            again = self.ask(_questions([one]), f"question {number + 1} again")
            if again != self._plain(one.d):
                words = [self.family.d_format.hex(d) for d in (one.d, self.exchanges[-1].d)]
                raise Inconsistent(f"question {number + 1} was answered {words[0]}, and later {words[1]}")

    def _decisive(self, row: Table) -> list[int]:
        """Numbers of the answers that are the only one to exclude some row one column apart."""
        near = self.family.one_column_apart(row)
        wrong = predictions(self.family, near, _questions(self.exchanges)) != self._words(self.exchanges)
        alone = wrong.sum(axis=1) == 1
        return sorted({int(np.flatnonzero(one)[0]) for one in wrong[alone]})


def next_questions(family: Family, table: Table, random: Random) -> tuple[Questions | None, list[int]]:
    """Up to three questions that split hypotheses further, and how many answers they predict to each."""
    chosen: list[Questions] = []
    splits: list[int] = []
    while len(chosen) < 3 and len(table) > 1:
        pool = mixed(family, random, 400, table)
        best = best_of(predictions(family, table[random.permutation(len(table))[:512]], pool))
        if best is None:
            break
        words = predictions(family, table, pool[[best]])[:, 0]
        values, counts = np.unique(words, return_counts=True)
        chosen.append(pool[[best]])
        splits.append(len(values))
        table = table[words == values[np.argmax(counts)]]
    if not chosen:
        return None, []
    return Questions.joined(chosen), splits


def _questions(exchanges: list[Exchange]) -> Questions:
    return Questions(
        np.array([e.a for e in exchanges], np.uint64),
        np.array([e.b for e in exchanges], np.uint64),
        np.array([e.c for e in exchanges], np.uint64),
    )


def _from_values(family: Family, verdict: Distinguished) -> Questions:
    values, k = verdict.values, family.k
    a, b = ([values[f"{side}{lane}"] for lane in range(k)] for side in "ab")
    return Questions(np.array([a], np.uint64), np.array([b], np.uint64), np.array([values["c"]], np.uint64))
