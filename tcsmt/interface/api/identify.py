"""Which unit is this? From the answers of a black box, or recorded ones, to the models that explain them.

Questions may also be printed in advance, for a black box on another machine: a set, or a decision tree. And a
black box may be asked by classical probes: the order of its sum, precision, rounding, special values.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from tcsmt.identification.units.boxes import Exchange, Transcript, probed_box
from tcsmt.identification.units.classical import BlackBox, OutOfReach, profile, special_values, summation_tree
from tcsmt.identification.units.family import COLUMNS, Family
from tcsmt.identification.units.kinds import hypotheses_of, known
from tcsmt.identification.units.plan import candidates, decision_tree, fixed_set
from tcsmt.identification.units.recorded import Survivors, family_of, survivors
from tcsmt.identification.units.report import (
    as_data,
    as_text,
    best_data,
    best_lines,
    lines,
    set_data,
    summary,
    tree_data,
)
from tcsmt.identification.units.search import Identification, Outcome
from tcsmt.interface.api.implementations import BoxShape, box_asked, one_dataset
from tcsmt.interface.api.units import Unit, UnitLike, side_of
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.simulate.measured.dataset import DataSet
from tcsmt.support.errors import Exit, TcsmtError, choose
from tcsmt.support.floats import ieee_floats
from tcsmt.support.invariants import not_none
from tcsmt.support.progress import ignore
from tcsmt.support.results import Result, json_text
from tcsmt.support.text import agreeing, counted
from tcsmt.surveys.papers.khattak import features


@dataclass(frozen=True, repr=False)
class Identified(Result):
    """The explanation of a black box: see ``verdict``, ``unit`` and ``catalogue``, or print it.

    outcome: questions, answers, and the hypotheses that are left. certificates: for each proof, where its
    certificate is, or why it has none; empty where none was asked for.
    """

    outcome: Outcome
    certificates: tuple[Mapping[str, Any], ...] = ()

    @property
    def verdict(self) -> str:
        """``identified``, ``refuted`` (no hypothesis explains it), ``inconsistent`` or ``open``."""
        return self.outcome.verdict

    @property
    def exit_code(self) -> Exit:
        """0: identified; 1: no hypothesis explains it, or its answers contradict each other; 3: open."""
        return {"identified": Exit.ANSWERED, "open": Exit.UNKNOWN}.get(self.verdict, Exit.DIFFERS)

    @property
    def unit(self) -> Unit | None:
        """A model that explains every answer, the first of those that are left; None: there is none."""
        if self.outcome.model is None:
            return None
        return Unit(side_of(self.outcome.model).row)

    @property
    def catalogue(self) -> list[str]:
        """Return the names of the catalogue's units that are equal to it, or not excluded."""
        return list(self.outcome.catalogue)

    def _facts(self) -> dict[str, Any]:
        return as_data(self.outcome)

    def _lines(self) -> list[str]:
        return [as_text(self.outcome)]

    @property
    def _title(self) -> str:
        return f"a box: {self.verdict}"


@ieee_floats
def identify(
    box: Callable[..., Any] | UnitLike | None = None,
    *,
    like: UnitLike | None = None,
    formats: Sequence[str] | None = None,
    k: int | None = None,
    command: str | None = None,
    device: UnitLike | None = None,
    answer_timeout: float = 30.0,
    answers: str | os.PathLike[str] | None = None,
    budget: int = 60,
    seed: int = 1,
    transcript: str | os.PathLike[str] | None = None,
    options: SolvingOptions = SolvingOptions(timeout=10.0),
    progress: Callable[[str], None] = ignore,
) -> Identified:
    """Find every model that explains a black box, with few questions.

    The hypotheses are fused dot-adds and chains and trees of IEEE operations, or exact sums of integers.

    A box is called as ``box(a, b, c)`` with arrays of shapes (1, k), (1, k) and (1,) of the formats' dtypes;
    it returns an array of shape (1,), of the result's dtype or words. A unit (a :class:`tcsmt.Unit`, or its
    name) is such a box. A command reads a line ``{"a": [hex, ...], "b": [...], "c": hex}`` for each question
    and writes a line ``{"d": hex}``. The search goes on from recorded answers, or rests on them alone.
    Formats and k, or a unit that is like the box, are not needed where the box is a unit or a device, or for
    answers alone.

    Args:
        box: The box is this unit's model, which only answers questions (a self-test).
        like: Take the formats and K of this unit (nothing else).
        formats: Formats of the unit, e.g. f16,f16,f32,f32.
        k: Products in one instruction.
        command: The box is this program: JSON lines in and out.
        device: The box is this instruction on the GPU or CPU of this machine.
        answer_timeout: Time limit of each answer of the command, in seconds.
        answers: Continue from the output of a `tcsmt probe` program.
        budget: Ask at most this many questions.
        seed: Seed of the random questions.
        transcript: Write questions and answers to this file, or continue from it.
        options: Of solvers; a proof is not confirmed where they leave it open.
        progress: Called with one line.

    Raises :class:`tcsmt.TcsmtError` for several boxes, unknown formats, and answers that do not fit.

    >>> import tcsmt
    >>> tcsmt.identify("x86/vpdpbusd").catalogue
    ['x86/vpdpbusd']
    """
    data = None if answers is None else one_dataset(Path(answers))
    with box_asked(
        box, like=like, formats=formats, k=k, command=command, device=device, timeout=answer_timeout,
        data=data,
    ) as (shape, asked):  # fmt: skip
        kinds = hypotheses_of(shape.formats, shape.k)
        box_identity = "" if asked is None else asked.identity
        with (
            Transcript(shape.formats, Path(transcript), box_identity) if transcript else nullcontext()
        ) as file:
            search = Identification(
                kinds, asked, budget=budget, seed=seed, options=options, progress=progress, transcript=file,
                given=_exchanges(data, shape),
            )  # fmt: skip
            outcome = search.run()
    proofs = search.solving.certificates
    return Identified(outcome, () if proofs is None else tuple(proof.as_json() for proof in proofs.done))


def _exchanges(data: DataSet | None, shape: BoxShape) -> list[Exchange]:
    """Recorded answers of a box. Raises :class:`.TcsmtError` where they are of another one."""
    if data is None:
        return []
    if BoxShape(tuple(data.formats), data.k) != shape:
        raise TcsmtError(f"answers {data.path}: its formats or K are not those of the box")
    words = zip(*(part.tolist() for part in data.operands.parts), data.d.tolist(), strict=True)
    return [Exchange(tuple(a), tuple(b), c, d, "given") for a, b, c, d in words]


@dataclass(frozen=True, repr=False)
class IdentifiedData(Result):
    """The fused dot-adds that explain recorded answers: see ``remaining``, ``values`` and ``catalogue``.

    data: the answers. survivors: the hypotheses that explain them all, and questions that split those.
    """

    data: DataSet
    survivors: Survivors

    @cached_property
    def _family(self) -> Family:
        return family_of(self.data)

    @property
    def remaining(self) -> int:
        """Hypotheses that explain all rows; those that a range argument makes equal count once."""
        return len(self.survivors.table)

    @property
    def exit_code(self) -> Exit:
        """0: one hypothesis explains all rows; 1: none does; 3: several do."""
        return {0: Exit.DIFFERS, 1: Exit.ANSWERED}.get(self.remaining, Exit.UNKNOWN)

    @property
    def catalogue(self) -> list[str]:
        """Return the names of the catalogue's units among the hypotheses that explain all rows."""
        return known(self._family, self.survivors.table)

    @cached_property
    def values(self) -> dict[str, list[Any]]:
        """Return the values of each parameter among the hypotheses that explain all rows."""
        return summary(self._family, self.survivors.table) if self.remaining else {}

    @property
    def _questions(self) -> list[dict[str, Any]]:
        """Rows that would split the hypotheses that explain all rows, as JSON."""
        questions = self.survivors.questions
        return [] if questions is None else lines(self._family.formats, questions)

    def _facts(self) -> dict[str, Any]:
        best, splits = self.survivors.best, self.survivors.splits
        return {
            "dataset": self.data.name,
            "rows": self.survivors.rows,
            "hypotheses": self._family.count,
            "remaining": self.remaining,
            "catalogue": self.catalogue,
            "values": self.values,
            "seconds": round(self.survivors.seconds, 1),
            "next": [{**q, "answers": n} for q, n in zip(self._questions, splits, strict=True)],
            "best": None if best is None else best_data(self.data, self._family, best),
        }

    def _lines(self) -> Iterator[str]:
        rows, best = self.survivors.rows, self.survivors.best
        yield f"{self.data.name}: {counted(rows, 'row')}, {self.survivors.seconds:.1f} s"
        yield f"{self._title} them all"
        for name, several in self.values.items():
            if several != [None] or name in COLUMNS:
                yield f"  {name} = {', '.join(map(str, several))}"
        for question, count in zip(self._questions, self.survivors.splits, strict=True):
            yield f"ask ({counted(count, 'different answer')} predicted): {json.dumps(question)}"
        if best is not None:
            yield from best_lines(self.data, self._family, rows, best)

    @property
    def _title(self) -> str:
        explain = agreeing(self.remaining, "explains", "explain")
        return f"{self.remaining} of {counted(self._family.count, 'hypothesis')} {explain}"


@ieee_floats
def identify_data(
    path: str | os.PathLike[str],
    *,
    rows: int = 2000,
    seed: int = 1,
    progress: Callable[[str], None] = ignore,
) -> IdentifiedData:
    """Find every fused dot-add that explains recorded answers; nothing is asked.

    Args:
        path: Use the recorded answers of this data set.
        rows: Use at most this many rows of the data set.
        seed: Seed of the questions that would split what remains.
        progress: Called with one line.

    Raises :class:`tcsmt.TcsmtError` for a file that cannot be read or that has several data sets, for formats
    that no fused dot-add has, and where no row is ordinary.

    >>> import tcsmt
    >>> found = tcsmt.identify_data("answers.json", rows=200)  # doctest: +SKIP
    >>> found.remaining, found.catalogue  # doctest: +SKIP
    """
    data = one_dataset(Path(path))
    family_of(data)
    return IdentifiedData(data, survivors(data, rows=rows, seed=seed, progress=progress))


#: Kinds of plans: all questions at once, or each by the answers to those before.
Plan = Literal["set", "tree"]
PLANS: tuple[Plan, ...] = get_args(Plan)


@dataclass(frozen=True, repr=False)
class IdentifyPlan(Result):
    """Questions that tell the likely models of a black box apart; its text is a JSON document.

    kind: ``set``, which ``tcsmt.probe(UNIT, vectors=FILE)`` reads, or ``tree``. facts: the document.
    """

    kind: str
    facts: Mapping[str, Any]

    @property
    def hypotheses(self) -> int:
        """Return the models: units of the catalogue of these formats and K, and changes of one parameter."""
        return int(self.facts["hypotheses"])

    @property
    def told_apart(self) -> int:
        """Classes of models that the answers would tell apart."""
        return int(self.facts["told_apart"])

    def as_json(self) -> dict[str, Any]:
        """Return plain data. A set is a file of rows, which does not say which version wrote it."""
        return dict(self.facts) if self.kind == "set" else super().as_json()

    def _facts(self) -> dict[str, Any]:
        return dict(self.facts)

    def _lines(self) -> Iterator[str]:
        if self.kind == "tree":
            yield json_text(self._facts())
            return
        head = {name: value for name, value in self.facts.items() if name != "rows"}
        rows = ",\n".join(map(json.dumps, self.facts["rows"]))
        yield f'{json.dumps(head)[:-1]}, "rows": [\n{rows}\n]}}'

    @property
    def _title(self) -> str:
        return f"a {self.kind}: {self.told_apart} of {counted(self.hypotheses, 'hypothesis')} told apart"


@ieee_floats
def identify_plan(
    kind: Plan = "set",
    *,
    like: UnitLike | None = None,
    formats: Sequence[str] | None = None,
    k: int | None = None,
    budget: int = 60,
    seed: int = 1,
) -> IdentifyPlan:
    """Questions for a black box that is asked elsewhere; nothing is asked. Only of fused dot-adds.

    ``set``: questions for a program that asks all of them (``tcsmt.probe(UNIT, vectors=FILE)``), whose
    answers :func:`tcsmt.identify` goes on from (``answers=``); ``tree``: a question, and for each answer the
    next one.

    Args:
        kind: Print the questions in advance; ask nothing.
        like: A unit with the box's formats and K.
        formats: Those of a, b, c and d.
        k: Products.
        budget: Questions of a set at most.
        seed: Seed of the random questions.

    Raises :class:`tcsmt.TcsmtError` for another kind, and for formats that no fused dot-add has.

    >>> import tcsmt
    >>> plan = tcsmt.identify_plan(formats=["e2m1", "e2m1", "f16", "f16"], k=1, budget=5)
    >>> len(plan.as_json()["rows"])
    5
    """
    shape = BoxShape.of(like, formats, k)
    family = shape.fused("a plan")
    near, random = candidates(family), np.random.default_rng(seed)
    if choose("plan", kind, PLANS) == "set":
        name = None if like is None else side_of(like).row.name
        return IdentifyPlan(kind, set_data(family, name, near, fixed_set(family, near, random, budget)))
    node = decision_tree(family, near, random)
    facts = {
        "of": near.names,
        "hypotheses": len(near.table),
        "told_apart": node.leaves,
        "depth": node.depth,
        "expected": round(node.expected, 2),
    }
    return IdentifyPlan(kind, facts | {"tree": tree_data(family, near, node)})


#: What a classical probe reads; the last is all of them.
ClassicalProbe = Literal["tree", "precision", "rounding", "special", "features", "all"]
PROBES: tuple[ClassicalProbe, ...] = get_args(ClassicalProbe)


@dataclass(frozen=True, repr=False)
class IdentifyProbe(Result):
    """Readings of classical probes of a black box.

    readings: by name, such as ``summation_tree`` and ``rounding``; "out of reach" where the formats cannot
    ask it. questions: how many were asked.
    """

    readings: Mapping[str, Any]
    questions: int

    def _facts(self) -> dict[str, Any]:
        return {**self.readings, "questions": self.questions}

    def _lines(self) -> Iterator[str]:
        for name, reading in self.readings.items():
            if not isinstance(reading, dict):
                yield reading if "\n" in str(reading) else f"{name}: {reading}"
                continue
            yield f"{name}:"
            for key, value in reading.items():
                parts = [f"{k} {v}" for k, v in value.items()] if isinstance(value, dict) else []
                yield f"  {key}: {', '.join(parts) or value}"
        yield self._title

    @property
    def _title(self) -> str:
        return counted(self.questions, "question")


@ieee_floats
def identify_probe(
    box: Callable[..., Any] | UnitLike | None = None,
    probe: ClassicalProbe = "all",
    *,
    like: UnitLike | None = None,
    formats: Sequence[str] | None = None,
    k: int | None = None,
    command: str | None = None,
    device: UnitLike | None = None,
    answer_timeout: float = 30.0,
) -> IdentifyProbe:
    """Read how a black box sums and rounds, by the probes of the literature; not a proof.

    ``tree`` (the order of summation, by masking), ``precision`` (fraction bits that are kept),
    ``rounding`` (of aligned addends and of the result), ``special`` (subnormal numbers, zeros, overflow,
    infinities, NaNs), ``features`` (the columns of Khattak and Mikaitis's table) or ``all``.

    Args:
        box: As for :func:`tcsmt.identify`, as those that are not listed here.
        probe: Run a classical probe on the box instead.

    Raises :class:`tcsmt.TcsmtError` for another probe, and for formats that no fused dot-add has.

    >>> import tcsmt
    >>> print(tcsmt.identify_probe("volta", "tree"))
    summation_tree: [c p0..p3]
    one sum of 5
    └─ c p0..p3
    12 questions
    """
    choose("probe", probe, PROBES)
    with box_asked(
        box, like=like, formats=formats, k=k, command=command, device=device, timeout=answer_timeout
    ) as (shape, asked):
        family = shape.fused("a probe")
        black_box, count = probed_box(not_none(asked), family.formats, family.k)
        return IdentifyProbe(readings(black_box, probe), count())


def readings(box: BlackBox, probe: str) -> dict[str, Any]:
    """Return what a classical probe reads, by name."""
    read: dict[str, Any] = {}
    if probe in ("tree", "all"):
        try:
            tree = summation_tree(box)
            read |= {"summation_tree": tree.text(box.k), "picture": tree.picture(box.k)}
        except OutOfReach as why:
            read["summation_tree"] = f"out of reach: {why}"
    if probe in ("precision", "rounding", "all"):
        seen = profile(box)
        parts = {"precision": "bits", "rounding": "mode"}
        for name, part in parts.items():
            if probe in (name, "all"):
                sides = {**seen["alignment"], **{f"result, {key}": v for key, v in seen["result"].items()}}
                read[name] = {key: value[part] for key, value in sides.items()}
    if probe in ("special", "all"):
        read["special"] = special_values(box)
    if probe in ("features", "all"):
        try:
            read["features"] = features(box)
        except OutOfReach as why:
            read["features"] = f"out of reach: {why}"
    return read
