"""The steps of fused sums, of drawn models: every way of adding is among them."""

from __future__ import annotations

from random import Random

import pytest

from tcsmt.matrix_units.models import FusedDotAdd
from tests.oracles import exact, tiny
from tests.oracles.steps import agree


@pytest.mark.slow
def test_steps_of_drawn_sums_give_their_words() -> None:
    rng, ran, ways = Random(5), 0, set()
    for _ in range(40):
        model = tiny.some_model(rng, FusedDotAdd)
        if exact.describes(model):
            assert isinstance(model, FusedDotAdd)
            ways.add(type(model.sum).__name__)
            ran += agree(model, rng.randrange(1 << 30), 12)
    assert ran > 100
    assert ways >= {"OneGrid", "ComplementedGrid", "ProductsThenC", "OneByOne", "CLast"}
