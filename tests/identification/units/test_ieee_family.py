"""Chains and trees of IEEE operations: what their rows answer, and which rows are the same."""

from itertools import permutations

import numpy as np
import pytest

from tcsmt.identification.units.ieee_family import IeeeFamily, Shape, standard_orders
from tcsmt.identification.units.ieee_questions import mixed
from tcsmt.identification.units.questions import Questions
from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.matrix_units.arithmetic.words import unsigned
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import Operands
from tcsmt.prove.engine.engine import compare_models
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.verdict import Equivalent
from tcsmt.simulate.rows import run_words
from tests.support.sampling import mostly_long

FORMATS_OF = {
    "bf16": ("bf16", "bf16", "f32"), "f16": ("f16", "f16", "f32"), "fp8": ("e4m3", "e5m2", "f16"),
    "f64": ("f64", "f64", "f64"), "small": ("e2m1", "e2m1", "f16"),
}  # fmt: skip


def family(name, k):
    a, b, c = (FORMATS[one] for one in FORMATS_OF[name])
    return IeeeFamily(a, b, c, k, tuple(standard_orders(k)))


def some_rows(one, random, count):
    first = one.first()
    rows = one.grown(first[random.integers(0, len(first), count)])
    return rows[random.integers(0, len(rows), count)]


def simulated(one, row, questions):
    """The answers of a row's model, every NaN the format's own."""
    sides = zip(
        (questions.a, questions.b, questions.c), (one.a_format, one.b_format, one.c_format), strict=True
    )
    words = run_words(one.model(row), Operands(*(side.astype(unsigned(fmt)) for side, fmt in sides)))
    own = one.d_format
    return [own.nan_word if own.is_nan(word) else word for word in words.tolist()]


@pytest.mark.parametrize(
    "case",
    mostly_long(
        [("bf16", 2), ("bf16", 8), ("f16", 4), ("f16", 6), ("fp8", 2), ("fp8", 4), ("small", 1), ("f64", 2)],
        [("bf16", 2), ("f16", 6), ("fp8", 4)],
    ),
)
def test_predictions_are_the_models_answers(case):
    name, k = case
    one, random = family(name, k), np.random.default_rng(k)
    rows, questions = some_rows(one, random, 12), mixed(one, random, 60)
    for row, words in zip(rows, one.predictions(rows, questions), strict=True):
        assert words.tolist() == simulated(one, row, questions)


def test_every_shape_is_computed():
    one, random = family("bf16", 4), np.random.default_rng(0)
    questions = mixed(one, random, 25)
    first = one.first()
    for number in range(len(one.shapes)):
        rows = first[first[:, 0] == number]
        row = rows[[int(random.integers(len(rows)))]]
        assert one.predictions(row, questions)[0].tolist() == simulated(one, row[0], questions)


def test_orders_of_few_lanes_are_all_there():
    assert sorted(standard_orders(4)) == sorted(permutations(range(4)))
    for k in (6, 8, 32):
        orders = standard_orders(k)
        assert len(set(orders)) == len(orders)
        assert orders[0] == tuple(range(k))
        assert all(sorted(order) == list(range(k)) for order in orders)


def test_orders_that_give_the_same_sums_are_there_once():
    tree = Shape("pairwise", n_fma=4, rounded=True)
    assert tree.sums((0, 1, 2, 3)) == tree.sums((3, 2, 0, 1))
    assert tree.sums((0, 1, 2, 3)) != tree.sums((0, 2, 1, 3))
    two = Shape("fma", chains=2)
    assert two.sums((0, 1, 2, 3)) == two.sums((1, 0, 3, 2))
    assert two.sums((0, 1, 2, 3)) != two.sums((2, 1, 0, 3))


def test_two_exchanged_lanes():
    one = family("bf16", 8)
    other = one.exchanged(1)
    assert other.orders[0] == one.orders[1]
    assert len(other.orders) == 1 + 8 * 7 // 2
    assert all(
        sum(x != y for x, y in zip(order, other.orders[0], strict=True)) == 2 for order in other.orders[1:]
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "unit",
    [
        "arm/bfdot.ebf0",
        # flushes as the next one does, of other formats
        pytest.param("cdna2/v_mfma_f32_32x32x2bf16", marks=pytest.mark.long),
        pytest.param("cdna2/v_mfma_f32_4x4x4f16", marks=pytest.mark.long),
    ],
)
def test_columns_that_cannot_matter_are_proved_equal(unit):
    """Rows that a range argument makes equal, by a solver; one more column apart, they are not."""
    model = row_named(unit).model
    one = IeeeFamily(model.a_format, model.b_format, model.c_format, 2, tuple(standard_orders(2)))
    random, proved = np.random.default_rng(1), 0
    for row in some_rows(one, random, 400):
        other = one.canonical(row[None])[0]
        if (row == other).all() or proved == 2 or one.shapes[row[0]].method == "exact":
            continue
        left, right = one.model(row), one.model(other)
        verdict = compare_models(("a", left), ("b", right), Domain(finite=False), Solving()).verdict
        assert isinstance(verdict, Equivalent), (row, other)
        proved += 1
    assert proved == 2


@pytest.mark.parametrize("name", mostly_long(["bf16", "f16", "fp8", "small"], ["bf16", "small"]))
@pytest.mark.slow_cases("bf16")
def test_columns_that_cannot_matter_change_no_answer(name):
    one, random = family(name, 4), np.random.default_rng(2)
    rows, questions = some_rows(one, random, 200), mixed(one, random, 300)
    assert (one.predictions(rows, questions) == one.predictions(one.canonical(rows), questions)).all()


def test_every_row_one_column_apart_is_a_hypothesis():
    one = family("bf16", 4)
    rows = some_rows(one, np.random.default_rng(3), 20)
    for row in rows:
        near = one.one_column_apart(row)
        assert len(near)
        assert ((near != row).sum(axis=1) == 1).all()
        for other in near:
            one.model(other)


def test_the_number_of_hypotheses_is_that_of_the_grown_table():
    one = family("small", 2)
    assert one.count == len(one.grown(one.first()))


@pytest.mark.parametrize("zeros", [0, 1])
def test_flushed_sums_have_no_sign_without_negative_zeros(zeros):
    """Of exact sums with c last: where these have no negative zero, the addition of c has none either."""
    one = family("bf16", 2)
    shape = next(n for n, s in enumerate(one.shapes) if s.method == "exact" and not s.c_first)
    minus, power = 1 << 15, (127 - 70) << 7
    questions = Questions(*(np.array(x, np.uint64) for x in ([[minus | power, 0]], [[power, 0]], [1 << 31])))
    rows = np.array(
        [(shape, 0, mode, 0, 0, 0, writes, zeros) for mode in (0, 3) for writes in (1, 2, 3)], np.int16
    )
    for row, words in zip(rows, one.predictions(rows, questions), strict=True):
        assert words.tolist() == simulated(one, row, questions) == [0 if zeros else 1 << 31]
