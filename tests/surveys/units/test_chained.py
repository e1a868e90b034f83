"""The atlas of chained units: classes, inputs that separate them, proofs, and what is not claimed."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from tcsmt.matrix_units.catalogue import row_named, rows
from tcsmt.matrix_units.models import Operands
from tcsmt.prove.statements.domain import Domain
from tcsmt.simulate.rows import run_words
from tcsmt.support.errors import TcsmtError
from tcsmt.surveys.units.chained import (
    ChainedGroup,
    OnDomain,
    chained_groups,
    largest_equal,
    run_chained,
    smallest_witness,
)
from tcsmt.surveys.units.model_pairs import verdicts_in
from tests.support.small_chained import ASKING, NAMES, TYPES, chained_atlas, chained_group


def kernel(group: ChainedGroup, number: int, values: dict[str, int]) -> int:
    """Instruction after instruction, by the simulator."""
    model = group.units[number].rows[0].model
    c = np.array([values["c"]], dtype=np.uint32)
    for start in range(0, group.k, model.k):
        a, b = (
            np.array([[values[f"{side}{lane}"] for lane in range(start, start + model.k)]], dtype=np.uint16)
            for side in "ab"
        )
        c = run_words(model, Operands(a, b, c, None, None))
    return int(c[0])


def test_same_graphs_are_one_class() -> None:
    group = chained_group()
    assert group.k == 4
    assert [[row.name for row in unit.rows] for unit in group.units] == [
        [*NAMES[:2]],
        *([n] for n in NAMES[2:]),
    ]


@pytest.mark.long
def test_units_with_an_order_of_lanes_are_chained_to_the_end() -> None:
    """Their chains are no model with more lanes, but instructions one after the other."""
    names = "x86/vdpbf16ps", "rdna4/v_wmma_f32_16x16x16_bf16_w32", "arm/bfdot.ebf1"
    (group,) = chained_groups([row_named(name) for name in names], ["f32.bf16.bf16.f32"], 32)
    random = np.random.default_rng(5)
    for _ in range(8):
        near = random.integers(0x3F00, 0x4100, 65, np.uint32).tolist()
        values = dict(zip(group.formats, near, strict=True))
        values["c"] <<= 16
        words = group.words(group.columns([values]))[:, 0].tolist()
        assert words == [kernel(group, number, values) for number in range(len(names))]


@pytest.mark.long
def test_every_kernel_gives_the_words_that_separate() -> None:
    (group,), (known,) = chained_atlas().groups, chained_atlas().known
    checked = 0
    for here in known:
        for values, words in zip(here.inputs, here.words, strict=True):
            assert here.domain.contains(group.formats, values)
            assert words == [kernel(group, number, dict(values)) for number in range(len(group.units))]
            checked += 1
    assert checked >= len(known) / 2


@pytest.mark.slow
def test_zero_exponents_are_proved_equal_and_rdna4_differs() -> None:
    """A zero exponent of -126 and one of -131 cannot be told apart; the RDNA4 unit rounds otherwise."""
    (group,), (known,) = chained_atlas().groups, chained_atlas().known
    assert known[0].verdict(0, 1) == "equal"
    assert [here.verdict(0, 1) for here in known] == ["equal"] * len(known)
    assert sum(len(here.records) for here in known if (0, 1) in here.records) == 1
    assert known[0].verdict(0, 2) == known[0].verdict(1, 2) == "differs"
    witness = smallest_witness(group, known, 0, 2)
    assert witness is not None
    values, *words = witness
    assert words == [kernel(group, number, dict(values)) for number in (0, 2)]
    assert words[0] != words[1]
    assert sum(word != 0 for word in values.values()) <= 3


@pytest.mark.slow
def test_no_difference_is_seen_where_units_are_proved_equal() -> None:
    (known,) = chained_atlas().known
    for here in known:
        for one, two in combinations(range(3), 2):
            if here.joined[one] == here.joined[two]:
                assert all(words[one] == words[two] for words in here.words)


def test_unknown_is_not_equal() -> None:
    wide, narrow = (
        OnDomain(domain, [], [], {}, [0, 1]) for domain in (Domain(finite=False), Domain(c_zero=True))
    )
    assert wide.verdict(0, 1) == "unknown"
    narrow.joined = [0, 0]
    assert largest_equal([wide, narrow], 0, 1) == (narrow, [wide])
    wide.words, wide.inputs = [[1, 2]], [{"c": 1}]
    assert largest_equal([wide, narrow], 0, 1) == (narrow, [])
    assert largest_equal([wide], 0, 1) == (None, [])


@pytest.mark.long
def test_goes_on_from_the_store(tmp_path: Path) -> None:
    said: list[str] = []
    group = chained_group()
    with verdicts_in(tmp_path / "a.json") as store:
        first = run_chained([group], store, ASKING, lambda done, count, what: said.append(what))
        assert any(what.endswith(": equivalent") for what in said)
        said.clear()
        again = run_chained([group], store, ASKING, lambda done, count, what: said.append(what))
    assert not any(what.endswith(": equivalent") for what in said)
    assert any(what.endswith("kept from before") for what in said)
    for one, two in zip(first.known[0], again.known[0], strict=True):
        assert (one.inputs, one.words, one.joined) == (two.inputs, two.words, two.joined)


def test_units_that_do_not_fit_the_length_are_left_out() -> None:
    group = chained_group(2)
    assert [unit.name for unit in group.units] == ["rdna4/v_dot2_f32_f16"]
    assert [row.name for row, _ in group.left_out] == list(NAMES[:3])
    assert all("it must be a multiple of 4" in why for _, why in group.left_out)
    volta = row_named(NAMES[0])
    with_scales = [row for row in rows() if row.model.scale_format is not None]
    assert any(row.model.k == 32 for row in with_scales)
    scaled = with_scales[0]
    m = scaled.model
    types = ".".join(f.name for f in (m.d_format, m.a_format, m.b_format, m.c_format))
    plain = replace(volta, model=volta.model.replace(a_format=m.a_format, b_format=m.b_format))
    (both,) = chained_groups([scaled, plain], [types])
    assert [(row.name, why[:21]) for row, why in both.left_out] == [(scaled.name, "it takes block scales")]
    with pytest.raises(TcsmtError, match=r"no unit has the types f32\.f16"):
        chained_groups([volta], ["f32.f16"])
    with pytest.raises(TcsmtError, match="can be chained to k = 3"):
        chained_groups([volta], [TYPES], 3)
