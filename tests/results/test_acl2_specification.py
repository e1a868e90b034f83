"""The specification that is written by hand in ACL2 gives the words of catalogue units, and of no others.

Here it is read by an evaluator of ours, on random rows; that ACL2 proves it is another thing.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import pytest

from tcsmt.interop.exports.acl2.specification import specified_numbers
from tcsmt.language.run.exact import evaluate
from tcsmt.matrix_units.arithmetic.formats import Format
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import Model
from tests.support.acl2_text import Session
from tests.support.paths import ROOT

VOLTA = "volta/mma.m8n8k4.f32.f16.f16.f32"
UNITS = (
    VOLTA,
    "ampere/mma.m16n8k8.f32.f16.f16.f32",
    "ampere/mma.m16n8k16.f16.f16.f16.f16",
    "hopper/mma.m16n8k16.f32.f16.f16.f32",
    "hopper/wgmma.m64nNk32.f32.e4m3.e4m3",
    "ada/mma.m16n8k16.f32.e5m2.e5m2.f32",
    "volta/mma.m8n8k4.f16.f16.f16.f16",
)


def specification() -> Session:
    session = Session()
    session.read((ROOT / "results" / "theorems" / "acl2" / "specification.lisp").read_text(encoding="utf-8"))
    return session


def format_of(fmt: Any) -> list[Any]:
    """A format as the page has it."""
    assert isinstance(fmt, Format)
    special = {"IEEE": ":ieee", "NAN_ONLY": ":nan-only", "NONE": ":finite"}[fmt.specials.name]
    return [fmt.exponent_bits, fmt.fraction_bits, special]


def differing(model: Model, rows: int, **changes: Any) -> int:
    """On how many random rows of words the specification with these parameters differs."""
    session, rng, count = specification(), Random(1), 0
    numbers = replace(specified_numbers(model), **changes)
    n_fma, k = model.parameters.n_fma, model.k
    formats = (model.a_format, model.b_format, model.c_format, model.d_format)
    form = ["fused-sums", "as", "bs", "c", "af", "bf", "cf", "df", numbers.fraction_bits, numbers.carry_bits]
    form += [numbers.zero, numbers.precision, numbers.mode, numbers.nan]
    for _ in range(rows):
        words = {}
        special = rng.random() < 0.1
        for name, fmt in model.input_formats.items():
            assert isinstance(fmt, Format)
            word = rng.getrandbits(fmt.width)
            exponent = ((1 << fmt.exponent_bits) - 1) << fmt.fraction_bits
            finite = word if special or word & exponent != exponent else word & ~exponent
            words[name] = rng.choice((finite, finite, finite, 0))
        values: dict[str, Any] = dict(zip(("af", "bf", "cf", "df"), map(format_of, formats), strict=True))
        for side in "ab":
            blocks = [range(start, start + n_fma) for start in range(0, k, n_fma)]
            values[f"{side}s"] = [[words[f"{side}{lane}"] for lane in block] for block in blocks]
        value = session.value(form, values | {"c": words["c"]})
        count += value != evaluate([model.trace.output], words)[0]
    return count


@pytest.mark.slow
@pytest.mark.parametrize("name", UNITS)
def test_units_of_the_catalogue(name: str) -> None:
    """On as many lanes of each, and on 40 rows at least."""
    model = row_named(name).model
    assert differing(model, max(40, 600 // model.k)) == 0


@pytest.mark.slow
def test_another_parameter() -> None:
    model = row_named(VOLTA).model
    numbers = specified_numbers(model)
    for change in (-1, 1):
        assert differing(model, 150, fraction_bits=numbers.fraction_bits + change) > 10
    assert differing(model, 150, precision=numbers.precision - 1) > 10
    assert differing(model, 150, mode=":rne") > 10
