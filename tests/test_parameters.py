"""Every parameter of a model is known to each of its referees, or a reason says why not.

A parameter that no oracle reads and no draw varies is one that no test is about. This fails for a new one
until each referee knows it: the exact oracle, the draws, the causes of differences, identification, the
neighbours (of `audit`), model files and the documentation of the class.
"""

from __future__ import annotations

import inspect
import re
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from tcsmt.identification.units.family import GIVEN, VARIED
from tcsmt.identification.units.ieee_family import IeeeFamily
from tcsmt.language.run.exact import evaluate
from tcsmt.matrix_units.files.model_files import meanings, parameters_toml, read_model
from tcsmt.matrix_units.models import DotThenAdd, FusedDotAdd, GroupedDotAdd, IeeeDotAdd, IntegerDotAdd, Model
from tcsmt.matrix_units.models.base import number
from tcsmt.matrix_units.models.fused import EXCLUSIONS
from tcsmt.prove.statements.cause import MEANING
from tcsmt.study.survey.neighbours import neighbours
from tcsmt.support.errors import TcsmtError
from tests.oracles import exact, tiny
from tests.support.integer_units import INTEGER_UNITS

KINDS: tuple[type[Model], ...] = (FusedDotAdd, DotThenAdd, GroupedDotAdd, IeeeDotAdd, IntegerDotAdd)
#: What decides which words a model takes and gives: models that are compared have it alike.
WORDS = {"a_format", "b_format", "c_format", "d_format", "k", "scale_format", "scale_block"}
#: Parameters in which no hypothesis of ``identify`` differs from another, and why.
NOT_IDENTIFIED = {
    "fused-dot-add": {
        "scale_format": "no question has block scales", "scale_block": "no question has block scales",
        "group": "groups belong to block scales, or to group_fraction_bits",
        "c_enters": "only units with block scales have it",
        "inner_group": "only units with block scales have it",
        "group_dropped_below": "only units with block scales have it",
        "group_fraction_bits": "RDNA4's, of which captures of the card decide", "zero_c": "RDNA's",
        "c_exponent_offset": "RDNA's", "c_dropped_above": "RDNA4's", "alignment_complement": "RDNA3's",
        "operand_format": "kernel identify tries it; a row of the catalogue is tried as a whole",
        "rounded_format": "of BF16 results: RDNA's", "flush_c": "RDNA3's", "tininess": "RDNA3's",
        "subnormal_results": "RISC-V's pseudo-code",
    },
    "ieee-dot-add": {
        "sum_format": "c, D and sums have one format", "d_rounding": "so that nothing is converted",
        "product_exponent": "a family has one",
    },
}  # fmt: skip


@cache
def drawn(kind: type[Model]) -> list[Model]:
    """Models of a kind, as the referees' tests draw them."""
    if kind is IntegerDotAdd:
        return list(INTEGER_UNITS.values())
    rng = Random(f"parameters {kind.kind}")
    return [tiny.some_model(rng, kind) for _ in range(600)]


def names(kind: type[Model]) -> list[str]:
    return [one.name for one in fields(kind)]


class Reading:
    """A model of which it is noted what is read."""

    def __init__(self, model: Model, read: set[str]) -> None:
        self._model, self._read = model, read

    def __getattr__(self, name: str) -> Any:
        self._read.add(name)
        return getattr(self._model, name)


# --- the referees: of a kind's parameters, those that a referee does not know --------------------------


def not_read(kind: type[Model]) -> set[str]:
    """By the exact oracle."""
    read: set[str] = set()
    for place, model in enumerate(drawn(kind)):
        rng = Random(place)
        formats = model.input_formats
        rows = {
            name: np.array([rng.getrandbits(fmt.width) for _ in range(4)]) for name, fmt in formats.items()
        }
        exact.results(Reading(model, read), rows)
    return set(names(kind)) - read


def not_drawn(kind: type[Model]) -> set[str]:
    """By the draws, on which the oracles' tests rest: of one value only."""
    values: dict[str, set[str]] = defaultdict(set)
    for model in drawn(kind):
        for name in names(kind):
            values[name].add(repr(getattr(model, name)))
    return {name for name in names(kind) if len(values[name]) < 2}


def no_cause(kind: type[Model]) -> set[str]:
    """Of which no sentence says why two units differ."""
    return set(names(kind)) - WORDS - set(MEANING)


def not_identified(kind: type[Model]) -> set[str]:
    """In which no hypothesis differs from another, without a reason."""
    reasons = NOT_IDENTIFIED.get(kind.kind, {})
    if issubclass(kind, FusedDotAdd):
        return set(names(kind)) ^ {*GIVEN, *VARIED, *reasons}
    if issubclass(kind, IeeeDotAdd):  # the arguments with which a row of the family's table becomes a model
        varied = set(re.findall(r"(\w+)=", inspect.getsource(IeeeFamily.model)))
        return set(names(kind)) - set(reasons) - varied - WORDS - {"nan"}
    return set()


def no_neighbour(kind: type[Model]) -> set[str]:
    """In which no neighbour of a model differs from it."""
    missing = set(names(kind)) - WORDS
    for model in drawn(kind)[:60]:
        for neighbour in neighbours(model):
            missing.discard(neighbour.parameter)
            if not missing:
                return missing
    return missing


def no_sentence(kind: type[Model]) -> set[str]:
    """Of which the documentation of the class says nothing."""
    sentences = meanings(kind)
    return {name for name in names(kind) if not sentences.get(name)}


REFEREES = (not_read, not_drawn, no_cause, not_identified, no_neighbour, no_sentence)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.kind)
@pytest.mark.parametrize("referee", REFEREES)
def test_every_referee_knows_each(referee: Callable[[type[Model]], set[str]], kind: type[Model]) -> None:
    assert referee(kind) == set()


def test_reasons_are_given_where_nothing_varies() -> None:
    reasons = NOT_IDENTIFIED["fused-dot-add"]
    assert not set(reasons) & set(VARIED)
    assert all(reasons.values())


@dataclass(frozen=True, kw_only=True)
class WithOneMore(FusedDotAdd):
    """A kind with a parameter of which nobody knows."""

    extra_bits: int = number(0, 3, default=0)


@pytest.mark.parametrize("referee", REFEREES)
def test_every_referee_misses_a_parameter_that_it_does_not_know(
    referee: Callable[[type[Model]], set[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that a new one cannot pass: its draws are those of the kind without it."""
    models = [
        WithOneMore(**{name: getattr(model, name) for name in names(FusedDotAdd)})
        for model in drawn(FusedDotAdd)[:150]
    ]
    monkeypatch.setitem(globals(), "drawn", lambda kind: models)
    assert "extra_bits" in referee(WithOneMore)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.kind)
def test_numbers_outside_of_their_declared_range_are_refused(kind: type[Model]) -> None:
    """Its ends are allowed as far as the other parameters go; one beyond never is."""
    for parameter in fields(kind):
        ends = parameter.metadata.get("ends")
        for value in (ends[0] - 1, ends[1] + 1) if ends else ():
            with pytest.raises(TcsmtError, match=rf"{parameter.name} = {value}: must be .*from {ends[0]} to"):
                replace(drawn(kind)[0], **{parameter.name: value})


def test_a_feature_excludes_parameters_of_others() -> None:
    """Each row of the table, on drawn models with its feature: other values than defaults are refused."""
    refused: dict[int, set[str]] = defaultdict(set)
    values = {name: {getattr(model, name) for model in drawn(FusedDotAdd)} for name in names(FusedDotAdd)}
    for model in drawn(FusedDotAdd):
        assert isinstance(model, FusedDotAdd)
        for row, (has_feature, others, _) in enumerate(EXCLUSIONS):
            for name in set(others) - refused[row] if has_feature(model) else ():
                for value in values[name] - {getattr(model, name)}:
                    with pytest.raises(TcsmtError):
                        replace(model, **{name: value})
                    refused[row].add(name)
    assert {row: names for row, names in refused.items() if names} == {
        row: set(others) for row, (_, others, _) in enumerate(EXCLUSIONS)
    }


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.kind)
def test_each_is_a_key_of_model_files(kind: type[Model], tmp_path: Path) -> None:
    rng, held = Random(f"files {kind.kind}"), drawn(kind)
    for model in rng.sample(held, min(8, len(held))):
        path = tmp_path / "mine.toml"
        path.write_text(f'name = "mine"\n{parameters_toml(model)}')
        read = read_model(path).model
        assert type(read) is kind
        assert all(getattr(read, name) == getattr(model, name) for name in names(kind) if name not in WORDS)
        words = dict.fromkeys(model.input_formats, 0)
        assert evaluate([read.trace.output], words) == evaluate([model.trace.output], words)
