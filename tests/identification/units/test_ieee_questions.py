"""Questions about IEEE operations: plain ones show no other column, and mixed ones reach the ends."""

import numpy as np
import pytest

from tcsmt.identification.units.ieee_family import IeeeFamily, standard_orders
from tcsmt.identification.units.ieee_questions import is_plain, mixed, plain
from tcsmt.identification.units.questions import zero_words
from tcsmt.matrix_units.arithmetic.formats import FORMATS


def family(formats, k):
    a, b, c = (FORMATS[name] for name in formats)
    return IeeeFamily(a, b, c, k, tuple(standard_orders(k)))


@pytest.mark.parametrize("formats", [("bf16", "bf16", "f32"), ("e4m3", "e5m2", "f16"), ("f64", "f64", "f64")])
@pytest.mark.slow_cases("formats2")
def test_plain_sums_depend_on_order_and_roundings_alone(formats):
    one, random = family(formats, 2), np.random.default_rng(0)
    questions = plain(one, random, 40)
    assert len(questions) > 20
    assert is_plain(one, questions).all()
    first = one.first()
    rows = first[random.integers(0, len(first), 12)]
    for row in rows:
        whole = one.grown(row[None])
        whole = whole[random.integers(0, len(whole), 12)]
        words = one.predictions(np.concatenate([row[None], whole]), questions)
        words = np.where(zero_words(one.d_format, words), np.uint64(0), words)
        assert (words == words[0]).all()


def test_mixed_questions_reach_the_ends():
    one = family(("bf16", "bf16", "f32"), 2)
    questions = mixed(one, np.random.default_rng(0), 600)
    assert not is_plain(one, questions).all()
    words = one.predictions(one.first()[:1], questions)[0]
    d = one.d_format
    described = [d.describe(int(word)) for word in words]
    magnitudes = words & np.uint64((1 << d.sign_bit) - 1)
    assert "-0" in described
    assert any(d.is_nan(int(word)) for word in words)
    assert any(d.is_infinite(int(word)) for word in words)
    assert ((magnitudes > 0) & (magnitudes < 1 << d.fraction_bits)).any()
    assert (magnitudes == d.largest_finite_word).any()
