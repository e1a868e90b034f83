"""One operation with open parameters against the operations that models are built of."""

from itertools import product

import numpy as np
import pytest

from tcsmt.arithmetic import datapath as dp
from tcsmt.arithmetic.formats import FORMATS
from tcsmt.arithmetic.ieee import RoundedSum
from tcsmt.arithmetic.rounding import ROUNDINGS
from tcsmt.identification.ieee_steps import OVERFLOWS, WRITES, Options, Step, Steps, flushed
from tcsmt.interpret.exact import evaluate
from tcsmt.terms import var
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
        found = Steps(F16, F16, F16).run(Step.SUM, {"x": pairs[:, 0], "y": pairs[:, 1]}, Options(*every))
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
