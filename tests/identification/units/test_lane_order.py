"""What masked sums reveal: the exponent of products, and the order of lanes."""

import pytest

from tcsmt.identification.units.boxes import model_box
from tcsmt.identification.units.ieee_family import IeeeFamily, standard_orders
from tcsmt.identification.units.lane_order import revealed_exponent, revealed_orders
from tcsmt.matrix_units.catalogue import row_named

ORDER = (1, 4, 2, 3, 7, 5, 6, 0)


def asked(model):
    """A family with the model's formats, and how it asks the model."""
    box = model_box(model)
    orders = tuple(standard_orders(model.k))
    family = IeeeFamily(model.a_format, model.b_format, model.c_format, model.k, orders)
    return lambda q, why: box(q.a[0].tolist(), q.b[0].tolist(), int(q.c[0])), family


@pytest.mark.parametrize("chains", [1, 2, 4])
def test_the_order_of_chains_is_among_those_revealed(chains):
    model = row_named("x86/tdpbf16ps").model.varied(k=8, chains=chains, order=ORDER)
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
