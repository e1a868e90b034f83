"""Traces with planted changes: a stage that is computed in another way, or that is wrong on few inputs.

Two models with different parameters mostly differ on many inputs. A wrong step of a proof shows where they
differ on few; such pairs are made here, from a trace, at any of its stages.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from random import Random
from typing import TypeVar

from tcsmt.language.terms import FALSE, Term, all_of, const, substitute
from tcsmt.matrix_units.arithmetic.datapath import Exponent, Fixed, Number
from tcsmt.matrix_units.models import Kind, Stage, Trace
from tcsmt.matrix_units.models.stages import Value
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.question import ComparedModel, Question

V = TypeVar("V", bound=Value)


def put(trace: Trace, stage: Stage, term: Term) -> Trace:
    """The trace with another term for a stage's, in all that follows too."""
    new = {stage.term: term}

    def now(old: Term) -> Term:
        return substitute([old], new)[0]

    def of(value: V) -> V:
        match value:
            case Exponent():
                return replace(value, term=now(value.term))
            case Number():
                return replace(
                    value, sign=now(value.sign), exponent=of(value.exponent), zero=now(value.zero),
                    significand=now(value.significand), infinite=now(value.infinite), nan=now(value.nan),
                    summed=of(value.summed) if value.summed is not None else None,
                )  # fmt: skip
            case Fixed():
                source = of(value.source) if value.source is not None else None
                addends = tuple(map(of, value.addends))
                exponent = of(value.exponent)
                return replace(value, word=now(value.word), exponent=exponent, source=source, addends=addends)
        return value

    # a sum's addends, and the exponent that they are aligned to, are the same objects in every stage
    exponents = {id(s.value): of(s.value) for s in trace.stages if isinstance(s.value, Exponent)}

    def shared(value: Value) -> Value:
        if id(value) in exponents:
            return exponents[id(value)]
        found = of(value)
        if isinstance(value, Fixed) and isinstance(found, Fixed) and id(value.exponent) in exponents:
            found = replace(found, exponent=exponents[id(value.exponent)])
        return found

    stages = tuple(replace(s, value=shared(s.value), term=now(s.term)) for s in trace.stages)
    return replace(trace, stages=stages, output=now(trace.output))


def rare(rng: Random, trace: Trace, row: Mapping[str, int]) -> Term:
    """Whether some inputs have the words that they have in a row."""
    inputs = [term for term in trace.inputs if str(term.data) in row]
    some = rng.sample(inputs, min(len(inputs), rng.choice((1, 2, 2, 3))))
    return all_of(term.eq(row[str(term.data)]) for term in some)


def wrong_where(rng: Random, stage: Stage, where: Term) -> Term:
    """The stage's term, or another word (of an exponent: one that it can have) where the condition holds."""
    term = stage.term
    if isinstance(stage.value, Exponent):
        return where.ite(const(rng.randint(0, stage.value.high - stage.value.low), term.width), term)
    flipped = 1 << rng.choice((0, rng.randrange(term.width), term.width - 1))
    return where.ite(term ^ const(flipped, term.width), term)


def disguised(rng: Random, term: Term) -> Term:
    """The same words by another graph."""
    if term.width == 1:
        return term
    mask = const(rng.randrange(1, (1 << term.width) - 1), term.width)
    return rng.choice(((term & mask) | (term & ~mask), (term & mask) + (term & ~mask)))


def planted(rng: Random, trace: Trace, row: Mapping[str, int]) -> Trace:
    """The trace with one or two stages disguised, and mostly one that is wrong on few inputs."""
    for _ in range(rng.choice((0, 1, 1, 2))):
        stage = rng.choice(trace.stages)
        trace = put(trace, stage, disguised(rng, stage.term))
    if rng.random() < 0.75:
        kinds = sorted({stage.kind for stage in trace.stages}, key=lambda kind: kind.name)
        kind = Kind.RESULT if rng.random() < 0.3 and Kind.RESULT in kinds else rng.choice(kinds)
        stage = rng.choice(trace.of(kind))
        where = rare(rng, trace, row)
        sums = [s.term for s in trace.of(Kind.SUM)]
        if sums and stage.kind is Kind.RESULT and rng.random() < 0.5:
            total = rng.choice(sums)
            where = where & total.eq(rng.choice((0, rng.getrandbits(3), rng.getrandbits(total.width))))
        if where is not FALSE:
            trace = put(trace, stage, wrong_where(rng, stage, where))
    return trace


def question(one: ComparedModel, two: ComparedModel, domain: Domain, *also: Term) -> Question:
    """Do the sides' traces differ in a domain, as they are?"""
    where = all_of([domain.holds(one.model.input_formats, one.trace), *also])
    return Question(
        title="planted", sides=(one, two), goal=where & one.trace.output.ne(two.trace.output),
        formats=one.model.input_formats, domain=where, domain_text=str(domain),
    )  # fmt: skip
