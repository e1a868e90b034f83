"""Which kinds of hypotheses units of given formats have; fused dot-adds, and sums of integers."""

from __future__ import annotations

import numpy as np
import pytest

from tcsmt.identification.units.boxes import model_box
from tcsmt.identification.units.family import Family
from tcsmt.identification.units.hypotheses import Hypotheses
from tcsmt.identification.units.kinds import FusedHypotheses, hypotheses_of, known
from tcsmt.identification.units.search import Identification
from tcsmt.matrix_units.arithmetic.formats import FORMATS, format_named
from tcsmt.matrix_units.arithmetic.nans import NanRule
from tcsmt.matrix_units.catalogue import row_named, rows
from tcsmt.matrix_units.models import FusedDotAdd, IntegerDotAdd
from tcsmt.support.errors import TcsmtError
from tcsmt.support.invariants import not_none
from tests.support.families import family_like, kinds_like, random_row, simulated
from tests.support.sampling import mostly_long

VOLTA = row_named("volta/mma.m8n8k4.f32.f16.f16.f32").model
FAMILY = family_like(VOLTA)
KIND = FusedHypotheses(*FAMILY.formats, FAMILY.k)


def test_it_is_the_familys() -> None:
    assert (KIND.kind, KIND.formats, KIND.k, KIND.count) == (FusedDotAdd, FAMILY.formats, 4, FAMILY.count)
    hypotheses: Hypotheses = KIND
    assert hypotheses.neighbours(FAMILY.row(VOLTA)) is None
    assert hypotheses.extended(lambda question, why: 0) is None


def test_a_row_is_a_model_with_a_rule_for_nans() -> None:
    row = FAMILY.row(VOLTA)
    assert row is not None
    model = KIND.model(row, NanRule((), 0x7FC00000))
    assert isinstance(model, FusedDotAdd)
    assert model.parameters.nan is not None and model.parameters.nan.otherwise == 0x7FC00000
    assert KIND.model(row).as_json() | {"nan": None} == VOLTA.as_json() | {"nan": None}


@pytest.mark.parametrize(
    ("words", "rules"),
    [([], [None]), ([0x7FFFFFFF], [NanRule((), 0x7FFFFFFF)]), ([0x7FFFFFFF, 0x7FC00000], [])],
)
def test_a_fused_sum_has_one_nan(words: list[int], rules: list[NanRule | None]) -> None:
    """Two words are no hypothesis' at all."""
    assert KIND.rules(FAMILY.row(VOLTA), words, [0x7FC00000]) == rules


def test_questions_and_answers() -> None:
    random = np.random.default_rng(0)
    row = FAMILY.row(VOLTA)
    assert row is not None
    table = np.array([row, *KIND.one_column_apart(row)[:3]])
    for asked in (KIND.plain(random, 10), KIND.mixed(random, 10, table)):
        found = KIND.predictions(table, asked)
        for one, words in zip(table, found, strict=True):
            assert (words == simulated(FAMILY, FAMILY.model(one), asked)).all()
    assert (KIND.canonical(table)[0] == KIND.canonical(table[:1])[0]).all()
    assert all((near != row).sum() == 1 for near in KIND.one_column_apart(row))


def test_catalogue_rows_among_some() -> None:
    """NaN words apart, in the catalogue's order; those of other formats, K or kind are none of them."""
    row = FAMILY.row(VOLTA)
    assert row is not None
    names = known(FAMILY, np.array([row]))
    assert row_named("volta/mma.m8n8k4.f32.f16.f16.f32").name in names
    for name in names:
        model = row_named(name).model
        assert model.as_json() | {"nan": None} == VOLTA.as_json() | {"nan": None}
    order = [one.name for one in rows()]
    assert sorted(names, key=order.index) == names == known(KIND, np.array([row]))
    random = np.random.default_rng(1)
    few = np.array([random_row(FAMILY, random) for _ in range(5)])
    assert known(FAMILY, few) == [] == known(FAMILY, few[:0])
    both = known(FAMILY, np.concatenate([few, row[None]]))
    assert both == names
    other = Family.of((FORMATS[name] for name in ("f16", "f16", "f16", "f16")), 4)
    assert not set(known(other, np.array([random_row(other, random)]))) & set(names)


@pytest.mark.parametrize(
    ("formats", "kinds"),
    [
        ("f16 f16 f32 f32", ["fused-dot-add", "ieee-dot-add"]),
        ("f16 f16 f16 f32", ["fused-dot-add"]),
        ("f64 f64 f64 f64", ["ieee-dot-add"]),
        ("u8 s8 s32 s32", ["integer-dot-add"]),
    ],
)
def test_formats_decide_the_kinds(formats, kinds):
    found = hypotheses_of(map(format_named, formats.split()), 4)
    assert [one.kind.kind for one in found] == kinds
    assert all(one.k == 4 and [f.name for f in one.formats] == formats.split() for one in found)


@pytest.mark.parametrize("formats", ["f16 f16 f32 e4m3", "f64 f64 f32 f64", "u8 f16 s32 s32"])
def test_formats_without_hypotheses_are_refused(formats):
    with pytest.raises(TcsmtError, match="identify: "):
        hypotheses_of(map(format_named, formats.split()), 4)


@pytest.mark.parametrize(
    "name",
    mostly_long(
        ["x86/vpdpbusd", "x86/vpdpbusds", "x86/vpdpwssd", "x86/vpdpwssds",
         "hopper/mma.m16n8k32.satfinite.s32.s8.s8.s32", "cdna1/v_mfma_i32_32x32x8i8"],
        ["x86/vpdpbusd", "x86/vpdpwssds", "hopper/mma.m16n8k32.satfinite.s32.s8.s8.s32"],
    ),
)  # fmt: skip
def test_rows_of_the_catalogue_are_identified(name):
    model = row_named(name).model
    found = Identification(kinds_like(model), model_box(model)).run()
    assert found.verdict == "identified"
    assert not_none(found.model).digest == model.digest
    assert name in found.catalogue
    assert len(found.exchanges) < 20


@pytest.mark.parametrize("n_fma", [1, 2, 4])
def test_blocks_that_saturate_are_told_apart(n_fma):
    model = IntegerDotAdd(
        a_format="s8", b_format="u8", c_format="s16", d_format="s16", k=4, n_fma=n_fma, overflow="saturate"
    )
    found = Identification(kinds_like(model), model_box(model)).run()
    assert found.verdict == "identified"
    assert not_none(found.model).digest == model.digest


@pytest.mark.parametrize("seed", range(3))
def test_other_boxes_are_refuted(seed):
    model = row_named("x86/vpdpbusds").model
    honest, random = model_box(model), np.random.default_rng(seed)
    boxes = [
        lambda a, b, c: int(random.integers(1 << 32)),
        lambda a, b, c: honest(a, b, 0),
        lambda a, b, c: honest([*a[:-1], 0], b, c),
    ]
    found = Identification(kinds_like(model), boxes[seed]).run()
    assert found.verdict == "refuted"
    assert found.model is None
