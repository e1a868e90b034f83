"""The search: ask what splits the remaining hypotheses best, until all that remain are proved equal.

1. The first questions of each kind of hypotheses, which every kind is told the answers of.
2. The survivors with all other parameters; of random questions the one whose answers have the largest
   entropy over a sample of them.
3. Where no question splits them: a solver looks for an input on which two of them differ.
4. Where none is left, a kind may ask what reveals a parameter that it has too many values of.
5. Answers that alone exclude a row one column apart from the result are asked for once more, and new
   sums are tried: a box whose answers change is reported, not explained.
6. The words of NaNs (:mod:`tcsmt.identification.units.questions`).
7. Units of the catalogue that explain every answer, and that no kind of hypotheses has: each is proved equal
   to the result, or told apart from it by one more question.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from math import log2
from typing import Any, TypeVar

import numpy as np

from tcsmt.identification.units.boxes import Box, Exchange, Transcript
from tcsmt.identification.units.hypotheses import Hypotheses, HypothesisSet, TooMany, explaining
from tcsmt.identification.units.kinds import FusedHypotheses, known
from tcsmt.identification.units.questions import Questions, invalid_questions, nan_of_c, nan_questions
from tcsmt.matrix_units.arithmetic.nans import NanRule
from tcsmt.matrix_units.catalogue import Row
from tcsmt.matrix_units.catalogue import rows as catalogue_rows
from tcsmt.matrix_units.models import FusedDotAdd, IeeeDotAdd, Model
from tcsmt.prove.engine.engine import compare_models
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.verdict import Distinguished, Equivalent, Unknown
from tcsmt.simulate.rows import run_words
from tcsmt.support.elimination import best_split
from tcsmt.support.text import counted

Array = np.ndarray[Any, np.dtype[Any]]
Random = np.random.Generator

#: Models with a rule for the words of NaNs.
Named = FusedDotAdd | IeeeDotAdd
M = TypeVar("M", bound=Model)

#: Hypotheses in a sample, questions in a pool (more where the sample is small), and pairs of both.
SAMPLE, POOL, PAIRS = 256, 160, 60_000
#: Pairs that are put to the solver, at most, before the search gives up.
MOST_PAIRS = 12
#: New sums at the end.
CONFIRMING = 3
#: Questions of an earlier run that are asked again, at most.
_AGAIN = 8
#: Questions of a pool about the words of NaNs.
NANS = 60


class OutOfBudget(Exception):
    """No question is left."""


class NoBox(Exception):
    """There are recorded answers alone."""


class Inconsistent(Exception):
    """The box contradicts itself."""


@dataclass(frozen=True)
class Outcome:
    """The result of a search.

    verdict: ``identified``, ``refuted``, ``inconsistent`` or ``open``. reason: for the last two. asked: the
    kinds of hypotheses. model: the first of the hypotheses that remain.
    left: those, and rules: the rules for the words of NaNs that go with them. proofs: how many were proved
    equal to the first (the others are by a range argument, or by definition), by_whom: by which solvers;
    unproved: those that were not. catalogue: rows of the catalogue that are among the hypotheses that
    remain, or are proved equal to the first. following: the next questions, where recorded answers leave
    several.
    """

    verdict: str
    reason: str
    asked: tuple[Hypotheses, ...]
    model: Model | None
    left: HypothesisSet
    rules: tuple[NanRule | None, ...]
    proofs: int
    by_whom: tuple[str, ...]
    unproved: tuple[Model, ...]
    catalogue: tuple[str, ...]
    exchanges: list[Exchange]
    counts: list[int]
    seconds: float
    following: Questions | None = None

    @property
    def models(self) -> Iterator[Model]:
        """Yield the hypotheses that remain, as models."""
        for kind, row in self.left:
            for rule in self.rules:
                yield kind.model(row, rule)

    @property
    def count(self) -> int:
        """Return how many hypotheses there were, the words of NaNs apart."""
        return sum(kind.count for kind in self.asked)

    @property
    def floor(self) -> float:
        """log2 of that number over the bits of an answer: no plan asks fewer questions."""
        return log2(self.count) / self.asked[0].formats[3].width


@dataclass
class Identification:
    """One search. box: None where ``given`` answers are all there is. budget: questions at most."""

    hypotheses: Sequence[Hypotheses]
    box: Box | None
    budget: int = 60
    seed: int = 1
    transcript: Transcript | None = None
    options: SolvingOptions = field(default_factory=lambda: SolvingOptions(timeout=10.0))
    progress: Callable[[str], None] = lambda text: None
    given: Sequence[Exchange] = ()

    def __post_init__(self) -> None:
        self.formats, self.k = self.hypotheses[0].formats, self.hypotheses[0].k
        self.exchanges: list[Exchange] = []
        self.counts: list[int] = []
        self.random = np.random.default_rng(self.seed)
        self.proofs: list[Equivalent] = []
        self.unproved: list[Model] = []
        self.reasons: list[str] = []
        self.rules: list[NanRule | None] = [None]
        self.searched_neighbours: list[Hypotheses] = []
        self.solving = Solving(self.options)
        self.left = HypothesisSet()
        #: Whether units of the catalogue that explained every answer are the result, by their digest.
        self.same: dict[str, bool] = {}
        #: Units of the catalogue that explain every answer where no hypothesis does.
        self.outside: list[Model] = []

    # --- asking --------------------------------------------------------------------------------

    def ask(self, question: Questions, why: str) -> int:
        """Return the answer to one question, every NaN as the format's own."""
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
        exchange = Exchange(a, b, c, d, why)
        self.exchanges.append(exchange)
        if self.transcript and told is None:
            self.transcript.add(exchange)
        return self._plain(d)

    def _plain(self, d: int) -> int:
        fmt = self.formats[3]
        return fmt.nan_word or 0 if fmt.is_nan(d) else d

    def _words(self, exchanges: Sequence[Exchange]) -> Array:
        return np.array([self._plain(exchange.d) for exchange in exchanges], np.uint64)

    @property
    def _nans(self) -> list[int]:
        """Return the words of NaNs that were answered."""
        return list(dict.fromkeys(exchange.d for exchange in self._with_nans(self.exchanges)))

    # --- the whole search ----------------------------------------------------------------------

    def run(self) -> Outcome:
        """Identify the box."""
        start = time.monotonic()
        verdict, reason, following = "open", "", None
        try:
            self._asked_again()
            self._searched(self.hypotheses)
            try:
                self._widened()
            except OutOfBudget:
                if len(self.left):
                    raise
                reason = f"the budget of {self.budget} questions was spent before the order of lanes was read"
            if len(self.left) and self.box is not None:
                self._named()
                self._challenged()
            if not len(self.left) and not self.outside:
                self._looked_up()
            verdict = "refuted" if not len(self.left) else "open" if self.unproved else "identified"
            if self.unproved:
                few = counted(len(self.unproved), "hypothesis was", "hypotheses were")
                reason = f"{few} neither proved equal nor told apart"
                reason = "; ".join(dict.fromkeys([reason, *self.reasons]))
            if self.outside:
                verdict, reason = "open", "only units that no kind of hypotheses has explain every answer"
        except TooMany as error:
            reason = f"{error}: ask more of them, as `--plan set` does"
        except NoBox:
            reason = f"{counted(len(self.left), 'hypothesis explains', 'hypotheses explain')} the answers"
            following = next_questions(self.left, self.random)[0]
        except OutOfBudget:
            reason = f"the budget of {self.budget} questions is spent"
        except Inconsistent as error:
            verdict, reason = "inconsistent", str(error)
            self.left = HypothesisSet()
        model, catalogue = None, []
        if len(self.left):
            model = self._result
            catalogue = self._catalogue(model)
        elif self.outside:
            model = self.outside[0]
            digests = {other.digest for other in self.outside}
            catalogue = [row.name for row in catalogue_rows() if row.model.digest in digests]
        return Outcome(
            verdict, reason, tuple(self.hypotheses), model, self.left, tuple(self.rules), len(self.proofs),
            tuple(dict.fromkeys(proof.by_whom for proof in self.proofs if proof.scripts)),
            tuple(self.unproved), tuple(catalogue), self.exchanges, self.counts,
            time.monotonic() - start, following,
        )  # fmt: skip

    @property
    def _result(self) -> Model:
        kind, row = next(iter(self.left))
        return kind.model(row, self.rules[0])

    @property
    def _known(self) -> set[str]:
        """Rows of the catalogue that are among the hypotheses that remain."""
        return {
            name
            for kind, table in self.left.parts
            if isinstance(kind, FusedHypotheses)
            for name in known(kind, table)
        }

    def _fitting(self) -> list[Row]:
        """Rows of the catalogue of these formats and K."""
        wanted = self.formats, self.k
        return [
            row
            for row in catalogue_rows()
            if ((*row.model.operand_formats.parts, row.model.d_format), row.model.k) == wanted
        ]

    def _catalogue(self, model: Model) -> list[str]:
        """Rows of the catalogue: among the rest, of the result's graph, or proved equal to the result."""
        same = self.same | {model.digest: True}
        rows = self._known
        return [row.name for row in self._fitting() if row.name in rows or same.get(row.model.digest)]

    def _challenged(self) -> None:
        """Prove units of the catalogue that explain every answer equal to the result, or tell them apart."""
        rows = self._known
        others = {row.model.digest: row.model for row in self._fitting() if row.name not in rows}
        others.pop(self._result.digest, None)
        for other in others.values():
            if not self._explaining([other], self.exchanges):
                continue
            decision = compare_models(
                ("one", self._result), ("other", other), Domain(finite=False), self.solving
            )
            self.same[other.digest] = isinstance(decision.verdict, Equivalent)
            if isinstance(decision.verdict, Unknown):
                self.unproved.append(other)
                self.reasons.append(decision.verdict.reason)
            elif isinstance(decision.verdict, Distinguished):
                question = _from_values(self.k, decision.verdict)
                self._filter(question, "tells the result from a unit of the catalogue")
                if not len(self.left):
                    self.outside = self._explaining([*others.values()], self.exchanges)
                    return

    def _looked_up(self) -> None:
        """Look up units of the catalogue that explain every answer, where no hypothesis is left.

        Some new sums are asked; of a unit that no hypothesis has, few answers were chosen to say anything.
        """
        models = {row.model.digest: row.model for row in self._fitting()}
        self.outside = self._explaining([*models.values()], self.exchanges)
        if not self.outside or self.box is None:
            return
        pool = self.hypotheses[0].plain(self.random, CONFIRMING)
        for place in range(min(CONFIRMING, len(pool))):
            self.ask(pool[[place]], "confirms a unit of the catalogue")
        self.outside = self._explaining(self.outside, self.exchanges)

    def _asked_again(self) -> None:
        """Some questions of an earlier run, of the box itself: is it still the one that answered them?"""
        told = [*self.given, *(self.transcript.told if self.transcript else ())]
        if self.box is None or not told:
            return
        for place in sorted({round(n * (len(told) - 1) / (_AGAIN - 1)) for n in range(_AGAIN)}):
            earlier = told[place]
            d = self.box(earlier.a, earlier.b, earlier.c)
            if self._plain(d) != self._plain(earlier.d):
                words = [self.formats[3].hex(word) for word in (earlier.d, d)]
                self.exchanges = self.exchanges or [*self.given]
                raise Inconsistent(
                    f"answer {place + 1} of an earlier run is {words[0]}, and now it is {words[1]}: was the "
                    "box changed since?"
                )

    def _first(self, kinds: Sequence[Hypotheses]) -> None:
        """The rows of every kind that explain the given answers and the first questions."""
        openings = [kind.opened(self.random, self.progress) for kind in kinds]
        self.exchanges = self.exchanges or list(self.given)
        exchanges = list(self.exchanges)
        for exchange in exchanges:
            for opening in openings:
                if not opening.few:
                    opening.answer(_questions([exchange]), self._plain(exchange.d))
        while self.box is not None or self.transcript is not None:
            question = next((q for q in (opening.question() for opening in openings) if q is not None), None)
            if question is None:
                break
            answer = self.ask(question, "a first question")
            for opening in openings:
                opening.answer(question, answer)
        tables = [
            explaining(kind, opening.table(), _questions(exchanges), self._words(exchanges))
            for kind, opening in zip(kinds, openings, strict=True)
        ]
        self._left(HypothesisSet(tuple(zip(kinds, tables, strict=True))))

    def _searched(self, kinds: Sequence[Hypotheses]) -> None:
        """Return what is left of some kinds after all questions that split or confirm it."""
        self.unproved, self.proofs, self.reasons = [], [], []
        self._first(kinds)
        self._narrowed()
        if len(self.left) and self.box is not None:
            self._confirmed()

    def _widened(self) -> None:
        """Return, where no hypothesis is left, those that questions made for one parameter reveal."""
        kinds = list(self.hypotheses) if self.box is not None else []
        while not len(self.left) and kinds:
            extended = [kind.extended(self.ask) for kind in kinds]
            kinds = [kind for kind in extended if kind is not None]
            if kinds:
                self._searched(kinds)

    def _left(self, left: HypothesisSet) -> None:
        self.left = left
        self.counts.append(len(left))
        self.progress(f"{counted(len(self.exchanges), 'question')}, {counted(len(left), 'hypothesis')} left")

    def _filter(self, question: Questions, why: str) -> None:
        answer = self.ask(question, why)
        self._left(self.left.taken(self.left.predictions(question)[:, 0] == answer))

    def _narrowed(self) -> None:
        """Ask until no question is found that splits the rest, nor a hypothesis beside it."""
        while True:
            question = self._splitting(self.left) if len(self.left) > 1 else None
            if question is not None:
                self._filter(question, "splits the rest best")
                continue
            question = self._solved(self.left) if len(self.left) > 1 else None
            if question is not None:
                self._filter(question, "a solver's: two hypotheses differ")
            elif not self._beside():
                return

    def _splitting(self, left: HypothesisSet) -> Questions | None:
        """Return the one of some random questions whose answers have the largest entropy over a sample."""
        for attempt in range(8):
            rows = left.sampled(self.random, SAMPLE << attempt // 4).distinct()
            if len(rows) < 2:
                continue
            most = int(np.clip(PAIRS // len(rows), POOL, 4000))
            pool = rows.mixed(self.random, min(most, POOL << attempt))
            best = best_split(rows.predictions(pool))
            if best is not None:
                return pool[[best]]
        return None

    def _solved(self, left: HypothesisSet) -> Questions | None:
        """An input on which the first row and another differ, from a solver; None: there is none."""
        models = [kind.model(row) for kind, row in left.distinct()]
        self.unproved, self.proofs, self.reasons = [], [], []
        return self._compared(models)

    def _compared(self, models: Sequence[Model]) -> Questions | None:
        """An input on which the first model and another differ; proofs and what has none are kept."""
        first, *others = {model.digest: model for model in models}.values()
        for other in others[: MOST_PAIRS - 1]:
            decision = compare_models(("one", first), ("other", other), Domain(finite=False), self.solving)
            verdict = decision.verdict
            self.progress(f"solver: {type(verdict).__name__.lower()}, {verdict.seconds:.1f} s")
            match verdict:
                case Distinguished():
                    question = _from_values(self.k, verdict)
                    if self._fresh(question):
                        return question
                    self.unproved.append(other)
                case Equivalent():
                    self.proofs.append(verdict)
                case Unknown():
                    self.unproved.append(other)
                    self.reasons.append(verdict.reason)
        self.unproved += others[MOST_PAIRS - 1 :]
        return None

    def _fresh(self, question: Questions) -> bool:
        """Return whether the question was not asked yet."""
        key = (tuple(map(int, question.a[0])), tuple(map(int, question.b[0])), int(question.c[0]))
        return all((e.a, e.b, e.c) != key for e in self.exchanges)

    def _beside(self) -> bool:
        """Return whether hypotheses that no table held explain all answers, too; they are then among the
        rest.
        """
        if not len(self.left) or self.box is None:
            return False
        kind, row = next(iter(self.left))
        beside = kind.neighbours(row)
        if beside is None or beside[0] in self.searched_neighbours:
            return False
        other, table = beside
        self.searched_neighbours.append(other)
        table = explaining(other, table, _questions(self.exchanges), self._words(self.exchanges))
        if len(table):
            self._left(HypothesisSet((*self.left.parts, (other, table))))
        return len(table) > 0

    # --- is the box one unit at all? -----------------------------------------------------------

    def _confirmed(self) -> None:
        """Ask new sums, and once more what alone excludes a row beside the result."""
        kind, row = next(iter(self.left))
        plain = kind.plain(self.random, 4 * CONFIRMING)
        pools = plain, kind.mixed(self.random, 4 * CONFIRMING, row[None])
        for pool in pools:
            for i in range(min(CONFIRMING, len(pool))):
                self._filter(pool[[i]], "confirms the result")
                if not len(self.left):
                    return
        kind, row = next(iter(self.left))
        for number in self._decisive(kind, row):
            exchange = self.exchanges[number]
            again = self.ask(_questions([exchange]), f"question {number + 1} again")
            if again != self._plain(exchange.d):
                words = [self.formats[3].hex(d) for d in (exchange.d, self.exchanges[-1].d)]
                raise Inconsistent(f"question {number + 1} was answered {words[0]}, and later {words[1]}")

    def _decisive(self, kind: Hypotheses, row: Array) -> list[int]:
        """Numbers of the answers that are the only one to exclude some row one column apart."""
        wrong = kind.predictions(kind.one_column_apart(row), _questions(self.exchanges)) != self._words(
            self.exchanges
        )
        alone = wrong.sum(axis=1) == 1
        return sorted({int(np.flatnonzero(places)[0]) for places in wrong[alone]})

    # --- which NaN? ----------------------------------------------------------------------------

    def _named(self) -> None:
        """Ask for the words of NaNs until no question splits the rules that explain them."""
        if self.formats[3].nan_word is None:
            return
        if not self._nans:
            self._filter(nan_of_c(self.formats, self.k), "the word of a NaN")
        invalid = []
        for question in invalid_questions(self.formats, self.k):
            self._filter(question, "the word of an invalid operation")
            invalid.append(self.exchanges[-1].d)
        named = self._explaining(
            [
                model
                for kind, row in self.left.distinct()
                for rule in kind.rules(row, self._nans, invalid)
                if isinstance(model := kind.model(row, rule), Named)
            ],
            self._with_nans(self.exchanges),
        )
        handed_on = any(model.parameters.nan is not None and model.parameters.nan.cases for model in named)
        if handed_on:  # what was proved was proved of models with one NaN
            self.unproved, self.proofs, self.reasons = [], [], []
        while len(named) > 1 and handed_on:
            splitting = self._splitting_nans(named) or self._compared(named)
            if splitting is None:
                break
            self._filter(splitting, "splits the rules for NaNs")
            named = self._explaining(named, self._with_nans(self.exchanges[-1:]))
        if len(self.left) and not named:
            words = ", ".join(map(self.formats[3].hex, self._nans))
            raise Inconsistent(f"no rule gives all of its NaN words: {words}")
        self.rules = list(dict.fromkeys(model.parameters.nan for model in named))
        kinds = {type(model) for model in named}
        self._left(HypothesisSet(tuple((part, rows) for part, rows in self.left.parts if part.kind in kinds)))

    def _with_nans(self, exchanges: Sequence[Exchange]) -> list[Exchange]:
        return [exchange for exchange in exchanges if self.formats[3].is_nan(exchange.d)]

    def _explaining(self, models: Sequence[M], exchanges: Sequence[Exchange]) -> list[M]:
        """Return the models that give the words that were answered, those of NaNs, too."""
        if not exchanges:
            return list(models)
        questions, answers = (
            _questions(exchanges),
            np.array([exchange.d for exchange in exchanges], np.uint64),
        )
        return [model for model in models if (self._answers(model, questions) == answers).all()]

    def _answers(self, model: Model, questions: Questions) -> Array:
        return run_words(model, questions.operands(self.formats)).astype(np.uint64)

    def _splitting_nans(self, models: Sequence[Named]) -> Questions | None:
        """Return the question with NaNs, of some, whose answers have the largest entropy over the models."""
        for _ in range(3):
            pool = nan_questions(self.formats, self.k, self.random, NANS)
            best = best_split(np.stack([self._answers(model, pool) for model in models]))
            if best is not None:
                return pool[[best]]
        return None


def next_questions(left: HypothesisSet, random: Random) -> tuple[Questions | None, list[int]]:
    """Return up to three questions that split hypotheses, and how many answers are predicted to each."""
    chosen: list[Questions] = []
    splits: list[int] = []
    while len(chosen) < 3 and len(left) > 1:
        pool = left.mixed(random, 400)
        best = best_split(left.taken(random.permutation(len(left))[:512]).predictions(pool))
        if best is None:
            break
        words = left.predictions(pool[[best]])[:, 0]
        values, counts = np.unique(words, return_counts=True)
        chosen.append(pool[[best]])
        splits.append(len(values))
        left = left.taken(words == values[np.argmax(counts)])
    if not chosen:
        return None, []
    return Questions.joined(chosen), splits


def _questions(exchanges: Sequence[Exchange]) -> Questions:
    return Questions(
        np.array([e.a for e in exchanges], np.uint64),
        np.array([e.b for e in exchanges], np.uint64),
        np.array([e.c for e in exchanges], np.uint64),
    )


def _from_values(k: int, verdict: Distinguished) -> Questions:
    values = verdict.values
    a, b = ([values[f"{side}{lane}"] for lane in range(k)] for side in "ab")
    return Questions(np.array([a], np.uint64), np.array([b], np.uint64), np.array([values["c"]], np.uint64))
