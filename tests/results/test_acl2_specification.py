"""The specification that is written by hand in ACL2 gives the words of catalogue units, and of no others.

Here it is read by an evaluator of ours, on random rows; that ACL2 proves it is another thing.
"""

from __future__ import annotations

from random import Random

import pytest

from tcsmt.language.run.exact import evaluate
from tcsmt.matrix_units.arithmetic.formats import Format
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import Model
from tests.support.acl2_text import Session
from tests.support.paths import ROOT

UNITS = (
    "volta/mma.m8n8k4.f32.f16.f16.f32",
    "ampere/mma.m16n8k8.f32.f16.f16.f32",
    "hopper/mma.m16n8k16.f32.f16.f16.f32",
)


def specification() -> Session:
    session = Session()
    session.read((ROOT / "results" / "theorems" / "acl2" / "specification.lisp").read_text(encoding="utf-8"))
    return session


def differing(model: Model, rows: int, **changes: int) -> int:
    """On how many random rows of finite words the specification with these parameters differs."""
    session, rng, count = specification(), Random(1), 0
    parts = model.parameters
    numbers = {"f": parts.fraction_bits, "zero": parts.zero_exponent} | changes
    for _ in range(rows):
        words = {}
        for name, fmt in model.input_formats.items():
            assert isinstance(fmt, Format)
            word = rng.getrandbits(fmt.width)
            exponent = ((1 << fmt.exponent_bits) - 1) << fmt.fraction_bits
            finite = word if word & exponent != exponent else word & ~exponent
            words[name] = rng.choice((finite, finite, finite, 0))
        lanes = {side: [words[f"{side}{lane}"] for lane in range(model.k)] for side in "ab"}
        form = ["truncated-fused-sum", "as", "bs", "c", 5, 10, 8, 23, numbers["f"], numbers["zero"]]
        value = session.value(form, {"as": lanes["a"], "bs": lanes["b"], "c": words["c"]})
        count += value != evaluate([model.trace.output], words)[0]
    return count


@pytest.mark.parametrize("name", UNITS)
def test_units_of_the_catalogue(name: str) -> None:
    model = row_named(name).model
    assert model.parameters.n_fma == model.k
    assert differing(model, 150) == 0


@pytest.mark.parametrize("change", [-1, 1])
def test_a_parameter_off_by_one(change: int) -> None:
    model = row_named(UNITS[0]).model
    assert differing(model, 150, f=model.parameters.fraction_bits + change) > 10
