"""Models as books of ACL2: the same words as the model's graph, from functions with the stages' names."""

from __future__ import annotations

from random import Random

import pytest

from tcsmt.interop.exports.acl2.units import unit_book
from tcsmt.language.run.exact import evaluate
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import Model
from tests.support.acl2_text import Session
from tests.support.certificates import two_products


def same_words(model: Model, rows: int) -> Session:
    """Whether the book's unit gives the model's words on random inputs."""
    book = unit_book(model, "0123456789abcdef.toml")
    session, rng = Session(), Random(3)
    session.read(book.text)
    for _ in range(rows):
        words = {name: rng.getrandbits(fmt.width) for name, fmt in model.input_formats.items()}
        assert session.value([book.function, *words.values()], {}) == evaluate([model.trace.output], words)[0]
    return session


def test_a_small_unit() -> None:
    session = same_words(two_products(), 200)
    assert set(session.functions) == {
        f"{name}.01234567"
        for name in (
            "product",
            "exponent",
            "exponent-2",
            "largest-exponent",
            "aligned-product",
            "aligned-c",
            "sum",
            "result",
            "unit",
        )
    }


@pytest.mark.parametrize(
    "name", ["hopper/mma.m16n8k16.f32.f16.f16.f32", "hopper/mma.m16n8k32.f32.e4m3.e4m3.f32"]
)
def test_units_of_the_catalogue(name: str) -> None:
    same_words(row_named(name).model, 3)


def test_the_lanes_share_a_function() -> None:
    session = same_words(row_named("volta/mma.m8n8k4.f32.f16.f16.f32").model, 5)
    assert sum(name.startswith("aligned-product") for name in session.functions) == 1
