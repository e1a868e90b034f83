"""Chains and trees of IEEE operations from boxes that only answer, and what masked sums reveal of them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tcsmt.identification.units.boxes import model_box
from tcsmt.identification.units.ieee_family import IeeeFamily, standard_orders
from tcsmt.identification.units.ieee_hypotheses import IeeeHypotheses, revealed_exponent, revealed_orders
from tcsmt.identification.units.report import as_text
from tcsmt.identification.units.search import Identification
from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import IeeeDotAdd
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.support.invariants import not_none
from tests.support.families import kinds_like
from tests.support.sampling import mostly_long

ORDER = (1, 4, 2, 3, 7, 5, 6, 0)


def asked(model):
    """A family with the model's formats, and how it asks the model."""
    box = model_box(model)
    orders = tuple(standard_orders(model.k))
    family = IeeeFamily(model.a_format, model.b_format, model.c_format, model.k, orders)
    return lambda q, why: box(q.a[0].tolist(), q.b[0].tolist(), int(q.c[0])), family


@pytest.mark.parametrize("chains", [1, 2, 4])
def test_the_order_of_chains_is_among_those_revealed(chains):
    model = row_named("x86/tdpbf16ps").model.replace(k=8, chains=chains, order=ORDER)
    sums = {tuple(tuple(order[i::chains]) for i in range(chains)) for order in revealed_orders(*asked(model))}
    lanes = [tuple(ORDER[i::chains]) for i in range(chains)]
    assert any(sorted(one) == sorted(lanes) for one in sums)


def test_a_fused_sum_has_no_tree():
    model = row_named("volta/mma.m8n8k4.f32.f16.f16.f32").model
    assert revealed_orders(*asked(model)) == []


@pytest.mark.parametrize(
    ("name", "exponent"), [("arm/fdot.f16.e4m3.e4m3", 0), ("arm/fdot.f16.e4m3.e4m3.lscale5.osm1", -5)]
)
def test_the_exponent_of_products_is_revealed(name, exponent):
    assert revealed_exponent(*asked(row_named(name).model)) == exponent


def test_boxes_without_such_an_exponent_reveal_none():
    _, family = asked(row_named("arm/fdot.f16.e4m3.e4m3").model)
    assert revealed_exponent(lambda q, why: 0x4200, family) is None  # 3
    assert revealed_exponent(lambda q, why: 0x7C00, family) is None  # an infinity


@pytest.mark.parametrize(
    "name",
    mostly_long(
        ["x86/vdpbf16ps", "x86/tdpbf16ps", "cdna1/v_mfma_f32_32x32x8f16", "arm/bfmmla.ebf0",
         "hopper/mma.m8n8k4.f64.f64.f64.f64"],
        [],  # the next test identifies one of them among the IEEE hypotheses
    ),
)  # fmt: skip
def test_rows_of_the_catalogue_are_identified(name):
    model = row_named(name).model
    found = Identification(kinds_like(model), model_box(model)).run()
    assert found.verdict == "identified"
    assert name in found.catalogue
    assert isinstance(found.model, IeeeDotAdd)
    assert f"catalogue: {', '.join(found.catalogue)}" in as_text(found)


def chains(model):
    """The IEEE hypotheses alone, for speed: the fused ones are refuted apart."""
    return (IeeeHypotheses.of((model.a_format, model.b_format, model.c_format, model.d_format), model.k),)


@pytest.mark.long
def test_which_nan_is_handed_on():
    model = row_named("x86/vdpbf16ps").model
    found = Identification(chains(model), model_box(model)).run()
    assert found.verdict == "identified"
    assert "x86/vdpbf16ps" in found.catalogue
    assert f"catalogue: {', '.join(found.catalogue)}" in as_text(found)
    assert not_none(found.model).parameters.nan.name == "a, b, c, 0xffc00000"
    assert not_none(found.model).digest == model.digest


@pytest.mark.long
def test_a_lane_order_that_is_not_standard_is_not_taken_for_one():
    """Two lanes of a standard order are exchanged, or the order is read from masked sums."""
    for order in ((0, 1, 2, 3, 5, 4, 6, 7), (1, 4, 2, 3, 7, 5, 6, 0)):
        model = row_named("x86/tdpbf16ps@guide").model.replace(k=8, order=order)
        found = Identification(chains(model), model_box(model)).run()
        assert found.verdict == "identified"
        assert not_none(found.model).parameters.order == order
        assert not_none(found.model).digest == model.digest


@pytest.mark.parametrize("kind", ["random", "a lane left out", "c ignored", "last bit set"])
def test_other_boxes_are_refuted(kind):
    model = row_named("x86/vdpbf16ps").model
    honest, random = model_box(model), np.random.default_rng(0)
    boxes = {
        "random": lambda a, b, c: int(random.integers(1 << 32)),
        "a lane left out": lambda a, b, c: honest([0, a[1]], b, c),
        "c ignored": lambda a, b, c: honest(a, b, 0),
        "last bit set": lambda a, b, c: honest(a, b, c) | 1,
    }
    found = Identification(chains(model), boxes[kind]).run()
    assert found.verdict in ("refuted", "inconsistent")
    assert found.model is None


@pytest.mark.long
@settings(max_examples=4, deadline=None)
@given(
    seed=st.integers(0, 1 << 16), k=st.sampled_from([1, 2, 3, 4]), formats=st.sampled_from(["bf16", "e5m2"])
)
def test_random_chains_are_never_mistaken(seed, k, formats):
    """A random hypothesis as a box: what is identified answers as it does."""
    d = FORMATS["f32" if formats == "bf16" else "f16"]
    hypotheses = not_none(IeeeHypotheses.of((FORMATS[formats], FORMATS[formats], d, d), k))
    family, random = hypotheses, np.random.default_rng(seed)
    first = family.first()
    rows = family.grown(first[[int(random.integers(len(first)))]])
    row = rows[int(random.integers(len(rows)))]
    found = Identification(
        [hypotheses], model_box(family.model(row)), budget=120, options=SolvingOptions(steps=100_000)
    ).run()
    assert found.verdict in ("identified", "open"), found.reason
    same = family.canonical(row[None])
    questions = hypotheses.mixed(random, 300, same)
    if found.verdict == "identified":
        (kind, own), *_ = found.left
        assert (kind.predictions(own[None], questions) == family.predictions(same, questions)).all()
