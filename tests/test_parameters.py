"""Every parameter of a model is known to each of its referees, or a reason says why not.

A parameter that no oracle reads and no draw varies is one that no test is about. This fails for a new one
until each referee knows it: the exact oracle, the draws, the causes of differences, identification, the
neighbours (of `audit`), model files and the documentation of the class.
"""

from __future__ import annotations

import inspect
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from functools import cache
from itertools import islice, product
from pathlib import Path
from random import Random
from typing import Any, ClassVar

import numpy as np
import pytest

from tcsmt.identification.units.family import GIVEN, VARIED
from tcsmt.identification.units.ieee_family import IeeeFamily
from tcsmt.language.run.exact import evaluate
from tcsmt.matrix_units.files.model_files import read_model
from tcsmt.matrix_units.models import (
    DotThenAdd,
    FusedDotAdd,
    FusedParameters,
    GroupedDotAdd,
    IeeeDotAdd,
    IntegerDotAdd,
    Model,
)
from tcsmt.matrix_units.models.base import Parameters, number
from tcsmt.matrix_units.models.file_texts import meanings, parameters_toml
from tcsmt.prove.statements.finding import MEANING
from tcsmt.support.errors import TcsmtError
from tcsmt.surveys.units.neighbours import neighbours
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


#: So many models of a kind are drawn at most.
MOST = 600


@cache
def _draws(kind: type[Model]) -> tuple[Random, list[Model]]:
    """The numbers of which a kind's models are drawn, and those drawn so far."""
    return Random(f"parameters {kind.kind}"), []


def drawn(kind: type[Model]) -> Iterator[Model]:
    """Models of a kind, as the referees' tests draw them; each is drawn when it is needed."""
    if kind is IntegerDotAdd:
        yield from INTEGER_UNITS.values()
        return
    rng, models = _draws(kind)
    for place in range(MOST):
        if place == len(models):
            models.append(tiny.some_model(rng, kind))
        yield models[place]


def names(kind: type[Model]) -> list[str]:
    return [f.name for f in fields(kind.table())]


class Reading:
    """A model, or its parameters, of which it is noted what is read."""

    def __init__(self, model: Any, read: set[str]) -> None:
        self._model, self._read = model, read

    @property
    def parameters(self) -> Reading:
        return Reading(self._model.parameters, self._read)

    def __getattr__(self, name: str) -> Any:
        self._read.add(name)
        return getattr(self._model, name)


# --- the referees: of a kind's parameters, those that a referee does not know --------------------------


def not_read(kind: type[Model]) -> set[str]:
    """By the exact oracle."""
    read: set[str] = set()
    for place, model in enumerate(drawn(kind)):
        if read >= set(names(kind)):
            break
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
    missing = set(names(kind))
    for model in drawn(kind):
        for name in missing:
            values[name].add(repr(getattr(model.parameters, name)))
        missing = {name for name in missing if len(values[name]) < 2}
        if not missing:
            break
    return missing


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
    for model in islice(drawn(kind), 60):
        for neighbour in neighbours(model):
            missing.discard(neighbour.parameter)
            if not missing:
                return missing
    return missing


def no_sentence(kind: type[Model]) -> set[str]:
    """Of which the documentation of the class says nothing."""
    sentences = meanings(kind)
    return {name for name in names(kind) if not sentences.get(name)}


REFEREES = (
    not_read, not_drawn, no_cause, not_identified, pytest.param(no_neighbour, marks=pytest.mark.slow),
    no_sentence,
)  # fmt: skip


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.kind)
@pytest.mark.parametrize("referee", REFEREES)
def test_every_referee_knows_each(referee: Callable[[type[Model]], set[str]], kind: type[Model]) -> None:
    assert referee(kind) == set()


def test_reasons_are_given_where_nothing_varies() -> None:
    reasons = NOT_IDENTIFIED["fused-dot-add"]
    assert not set(reasons) & set(VARIED)
    assert all(reasons.values())


@dataclass(frozen=True, kw_only=True)
class OneMoreParameter(FusedParameters):
    """Parameters with one of which nobody knows."""

    extra_bits: int = number(0, 3, default=0)


class WithOneMore(FusedDotAdd):
    """A kind with that parameter."""

    declared: ClassVar[type[Parameters]] = OneMoreParameter


@pytest.mark.parametrize("referee", REFEREES)
def test_every_referee_misses_a_parameter_that_it_does_not_know(
    referee: Callable[[type[Model]], set[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that a new one cannot pass: its draws are those of the kind without it."""
    models = [
        WithOneMore.of(**{name: getattr(model.parameters, name) for name in names(FusedDotAdd)})
        for model in islice(drawn(FusedDotAdd), 8)
    ]
    monkeypatch.setitem(globals(), "drawn", lambda kind: iter(models))
    assert "extra_bits" in referee(WithOneMore)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.kind)
def test_numbers_outside_of_their_declared_range_are_refused(kind: type[Model]) -> None:
    """Its ends are allowed as far as the other parameters go; one beyond never is."""
    for parameter in fields(kind.table()):
        ends = parameter.metadata.get("ends")
        if ends is None:
            continue
        for value in (ends[0] - 1, ends[1] + 1):
            with pytest.raises(TcsmtError, match=rf"{parameter.name} = {value}: must be .*from {ends[0]} to"):
                next(drawn(kind)).replace(**{parameter.name: value})


#: Features of a fused sum, and the parameters that have their defaults where a unit has one.
_GRID = {"alignment_complement", "c_exponent_offset", "zero_c", "c_dropped_above", "group_fraction_bits"}
EXCLUDED: tuple[tuple[Callable[[FusedParameters], object], set[str]], ...] = (
    (lambda p: p.order, {"interleave"}),
    (
        lambda p: p.normalisation == "every",
        {"c_position", "alignment_sticky", "carry_bits", "subnormal_results"} | _GRID,
    ),
    (lambda p: p.c_position == "summed", _GRID),
    (lambda p: p.c_position == "last", {"rounded_format", "tininess"} | _GRID),
    (lambda p: p.alignment_sticky, {"alignment"}),
    (
        lambda p: p.alignment_complement,
        {"alignment", "alignment_sticky", "scale_format", "group_fraction_bits", "c_dropped_above"},
    ),
    (
        lambda p: p.scale_format,
        {"order", "interleave", "products", "normalisation", "c_position", "group_fraction_bits"},
    ),
    (lambda p: not p.scale_format, {"scale_block"}),
    (lambda p: not p.scale_format and not p.group_fraction_bits, {"group"}),
    (lambda p: p.scale_format and p.scale_format.has_infinity, {"group"}),
    (lambda p: not p.scale_format or p.group == 1, {"c_enters", "group_dropped_below"}),
    (
        lambda p: p.c_enters != "always",
        {"alignment_sticky", "carry_bits", "c_exponent_offset", "c_dropped_above"},
    ),
    (lambda p: p.c_enters != "leading", {"inner_group"}),
    (lambda p: p.inner_group, {"group_dropped_below"}),
    (lambda p: p.flush_inputs, {"operand_format"}),
    (lambda p: p.nan and any(case.word is None for case in p.nan.cases), {"operand_format"}),
    (lambda p: p.round_fraction_bits, {"rounded_format"}),
    (lambda p: not p.flush_outputs, {"tininess"}),
    (lambda p: p.flush_outputs, {"subnormal_results"}),
    (lambda p: p.rounded_format, {"subnormal_results"}),
    (lambda p: p.d_format.ignored_low_bits, {"subnormal_results"}),
)


@pytest.mark.slow
def test_a_feature_excludes_parameters_of_others() -> None:
    """Each row of the table, on drawn models with its feature: other values than defaults are refused."""
    refused: dict[int, set[str]] = defaultdict(set)
    values = {name: _values(name) for name in names(FusedDotAdd)}
    wanted = {row: others for row, (_, others) in enumerate(EXCLUDED)}
    for model in drawn(FusedDotAdd):
        if refused == wanted:
            break
        for row, (has_feature, others) in enumerate(EXCLUDED):
            for name in others - refused[row] if has_feature(model.parameters) else ():
                for value in values[name] - {getattr(model.parameters, name)}:
                    with pytest.raises(TcsmtError):
                        model.replace(**{name: value})
                    refused[row].add(name)
    assert {row: names for row, names in refused.items() if names} == wanted


def _values(name: str) -> set[Any]:
    return {getattr(model.parameters, name) for model in drawn(FusedDotAdd)}


@pytest.mark.slow
def test_a_value_is_held_or_refused() -> None:
    """No part of a composed unit loses one: what is accepted is read back, and is the same unit again."""
    accepted = refused = 0
    held = [name for name in names(FusedDotAdd) if name not in FusedParameters.qualifiers]
    for model, name in product(islice(drawn(FusedDotAdd), 20), held):
        for value in sorted(_values(name), key=repr)[:4]:
            try:
                changed = model.replace(**{name: value})
            except TcsmtError:
                refused += 1
            else:
                accepted += 1
                assert getattr(changed.parameters, name) == value
                assert FusedDotAdd.of(**vars(changed.parameters)) == changed
    assert accepted > 300
    assert refused > 300


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.kind)
def test_each_is_a_key_of_model_files(kind: type[Model], tmp_path: Path) -> None:
    for model in islice(drawn(kind), 4):
        path = tmp_path / "mine.toml"
        path.write_text(f'name = "mine"\n{parameters_toml(model)}')
        read = read_model(path).model
        assert type(read) is kind
        assert read == model
        words = dict.fromkeys(model.input_formats, 0)
        assert evaluate([read.trace.output], words) == evaluate([model.trace.output], words)
