"""One operation with open parameters against the operations that models are built of."""

from itertools import product

import numpy as np
import pytest

from tcsmt.identification.units.ieee_steps import (
    OVERFLOWS,
    WRITES,
    Operation,
    Options,
    Step,
    Steps,
    flushed,
)
from tcsmt.language.run.exact import evaluate
from tcsmt.language.terms import var
from tcsmt.matrix_units.arithmetic import datapath as dp
from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.matrix_units.arithmetic.ieee import RoundedSum
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS
from tests.support.sampling import one_in

F16 = FORMATS["f16"]


@pytest.mark.parametrize("rounding", one_in(3, range(len(ROUNDINGS))))
def test_a_sum_is_rounded_as_the_mode_says(rounding):
    random = np.random.default_rng(rounding)
    words = [
        0,
        1,
        0x3FF,
        0x400,
        0x7BFF,
        0x7C00,
        0x8000,
        0x8001,
        0x83FF,
        0xFBFF,
        *random.integers(0, 1 << 16, 20),
    ]
    pairs = np.array(list(product(words, words)), np.uint64)
    mode = list(ROUNDINGS.values())[rounding]
    for overflow, writes in product(range(len(OVERFLOWS)), range(len(WRITES))):
        every = [np.full(len(pairs), number) for number in (rounding, overflow, writes, 0)]
        one = Operation(Step.SUM, {"x": pairs[:, 0], "y": pairs[:, 1]}, Options(*every))
        (found,) = Steps(F16, F16, F16).run([one])
        terms = tuple(dp.decode(F16, var(name, 16)) for name in "xy")
        sought = RoundedSum(
            terms=terms, format=F16, rounding=mode, overflow=OVERFLOWS[overflow],
            flush=WRITES[writes] is not None, tininess=WRITES[writes] or "result",
        ).word()  # fmt: skip
        for place in random.permutation(len(pairs))[:30]:
            x, y = map(int, pairs[place])
            assert found[place] == evaluate([sought], {"x": x, "y": y})[0]


def test_flushed_words_keep_their_sign_or_not():
    words = np.array([0x0001, 0x8001, 0x8000, 0x0400, 0xFC01], np.uint64)
    assert flushed(F16, words, keep_sign=True).tolist() == [0, 0x8000, 0x8000, 0x0400, 0xFC01]
    assert flushed(F16, words, keep_sign=False).tolist() == [0, 0, 0, 0x0400, 0xFC01]


def test_steps_computed_together_are_those_computed_alone():
    """Chains of different lengths and steps: each takes its own words."""
    random = np.random.default_rng(7)

    def powers(count, lanes):
        """Multiply-adds, each result added to its lane's word, then a product of the word with itself."""
        a = random.integers(0x3000, 0x3E00, (lanes, count)).astype(np.uint64)
        options = Options(random.integers(0, len(ROUNDINGS), count), *np.zeros((3, count), np.int64))
        word = a[0]
        for lane in range(lanes):
            word = Operation(Step.MULTIPLY_ADD, {"x": word, "a0": a[lane], "b0": a[-1]}, options)
            word = Operation(Step.SUM, {"x": word, "y": a[lane]}, options)
        return Operation(Step.PRODUCT, {"a0": word, "b0": word}, options)

    steps, several = Steps(F16, F16, F16), [powers(count, lanes) for count, lanes in ((5, 3), (1, 1), (8, 4))]
    factors = [one.words["a0"] for one in several]
    found = steps.run([*several, factors[0]])
    assert [len(words) for words in found] == [5, 1, 8, 5]
    for one, factor, words in zip(several, factors, found[:3], strict=True):
        assert (steps.run([one])[0] == words).all()
        (factor_words,) = steps.run([factor])
        last = Operation(Step.PRODUCT, {"a0": factor_words, "b0": factor_words}, one.options)
        assert (steps.run([last])[0] == words).all()
    assert len({word for words in found[:3] for word in words.tolist()}) > 6
