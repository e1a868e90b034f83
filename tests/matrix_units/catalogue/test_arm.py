"""Arm's dot products against an oracle written from its text (:mod:`tests.oracles.cpus`)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tcsmt
from tcsmt.matrix_units.catalogue import row_named, rows
from tcsmt.prove.statements.verdict import Equivalent
from tests.oracles import cpus
from tests.support.catalogue_words import word_of
from tests.support.cpu_rows import agree, drawn, some_rows, told_apart
from tests.support.sampling import one_in

NAMES = [row.name for row in rows() if row.architecture == "arm" and row.name in cpus.UNITS]
ODD_ONES_OUT = {"arm/bfdot.ebf0@qemu-ah", "arm/bfmmla.ebf0@qemu-ah", "arm/bfmopa.ebf0@qemu-ah"}


def test_every_unit_has_an_oracle() -> None:
    units = {row.name for row in rows() if row.architecture == "arm"}
    assert units - ODD_ONES_OUT == {name for name in cpus.UNITS if name.startswith("arm/")} == set(NAMES)


@pytest.mark.parametrize("count", [100, pytest.param(20_000, marks=pytest.mark.long)])
@pytest.mark.parametrize("name", NAMES)
def test_rows_of_every_kind(name: str, count: int) -> None:
    agree(name, *some_rows(row_named(name).model, 1, count))


@pytest.mark.parametrize("name", one_in(2, ["arm/bfdot.ebf1", "arm/bfdot.ebf0", "arm/fmlal"]))
@settings(max_examples=30, deadline=None, derandomize=True)
@given(data=st.data())
def test_drawn_words(name: str, data: st.DataObject) -> None:
    agree(name, *data.draw(drawn(name)))


def test_a_witness_tells_two_units_apart() -> None:
    told_apart("arm/bfdot.ebf0", "arm/bfdot.ebf1")


def test_the_same_arithmetic_is_one_graph() -> None:
    for ebf in ("ebf0", "ebf1"):
        assert isinstance(tcsmt.compare(f"arm/bfdot.{ebf}", f"arm/bfmopa.{ebf}").verdict, Equivalent)
    # with EBF = 0, a chain reads each result as an operand once more, which a solver would have to see
    assert isinstance(tcsmt.compare("arm/bfdot.ebf1", "arm/bfmmla.ebf1").verdict, Equivalent)


@pytest.mark.parametrize("name", sorted(ODD_ONES_OUT))
def test_qemu_with_ah_differs_in_the_default_nan_alone(name: str) -> None:
    """Infinity times zero; and one ordinary product, which is the same."""
    invalid, ordinary = {"a0": 0x7F80, "b0": 0}, {"a0": 0x3F80, "b0": 0xC040}
    plain = name.partition("@")[0]
    assert (word_of(name, **invalid), word_of(plain, **invalid)) == (0xFFC00000, 0x7FC00000)
    assert word_of(name, **ordinary) == word_of(plain, **ordinary) == 0xC0400000
