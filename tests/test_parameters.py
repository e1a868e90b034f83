"""Every parameter of a model is known to each of its referees, or a reason says why not.

A parameter that no oracle reads and no draw varies is one that no test is about. This fails for a new one
until each referee knows it: the exact oracle, the draws, the causes of differences, identification, the
neighbours (of `audit`), model files and the documentation of the class.
"""

from __future__ import annotations

import inspect
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import fields
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
from tcsmt.prove.statements.cause import MEANING
from tcsmt.study.survey.neighbours import neighbours
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


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.kind)
def test_the_exact_oracle_reads_each(kind: type[Model]) -> None:
    read: set[str] = set()
    for number, model in enumerate(drawn(kind)):
        rng = Random(number)
        formats = model.input_formats
        rows = {
            name: np.array([rng.getrandbits(fmt.width) for _ in range(4)]) for name, fmt in formats.items()
        }
        exact.results(Reading(model, read), rows)
    assert not set(names(kind)) - read


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.kind)
def test_each_is_drawn(kind: type[Model]) -> None:
    values: dict[str, set[str]] = defaultdict(set)
    for model in drawn(kind):
        for name in names(kind):
            values[name].add(repr(getattr(model, name)))
    assert not [name for name in names(kind) if len(values[name]) < 2]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.kind)
def test_each_can_be_a_cause(kind: type[Model]) -> None:
    assert not set(names(kind)) - WORDS - set(MEANING)


def test_identification_varies_each_or_says_why_not() -> None:
    reasons = NOT_IDENTIFIED["fused-dot-add"]
    assert not set(reasons) & set(VARIED)
    assert set(names(FusedDotAdd)) == {*GIVEN, *VARIED, *reasons}
    assert all(reasons.values())


def test_identification_of_operations_varies_each_or_says_why_not() -> None:
    """The arguments with which a row of the family's table becomes a model."""
    text = inspect.getsource(IeeeFamily.model)
    given = set(re.findall(r"(\w+)=", text))
    reasons = NOT_IDENTIFIED["ieee-dot-add"]
    assert set(names(IeeeDotAdd)) - set(reasons) <= given | WORDS | {"nan"}


def changed(kind: type[Model]) -> Iterator[str]:
    for model in drawn(kind)[:60]:
        for neighbour in neighbours(model):
            yield neighbour.parameter


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.kind)
def test_each_has_neighbours(kind: type[Model]) -> None:
    missing = set(names(kind)) - WORDS
    for name in changed(kind):
        missing.discard(name)
        if not missing:
            break
    assert not missing


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


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.kind)
def test_each_has_its_sentence(kind: type[Model]) -> None:
    said = meanings(kind)
    assert not [name for name in names(kind) if not said.get(name)]
