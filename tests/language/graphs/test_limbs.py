"""Wide words as limbs: every operation, at the widths around multiples of a limb's, on integers."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from tcsmt.language.graphs.limbs import fitted, pieces, split
from tcsmt.language.macros import leading_zeros
from tcsmt.language.run.exact import evaluate
from tcsmt.language.terms import Term, expand, operands_first, total, umax, var
from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.matrix_units.arithmetic.ieee import fma_words
from tests.support.interpretations import MANY, Case, on_many_random_cases, on_random_cases, on_shapes

WIDTHS = (65, 100, 127, 128, 129, 192, 193, 300, 577)
OPERATIONS: dict[str, Callable[[Term, Term], Term]] = {
    "not": lambda x, y: ~x,
    "neg": lambda x, y: -x,
    "bitwise": lambda x, y: (x & y) ^ (x | ~y),
    "add": lambda x, y: total(x, y, ~y, x ^ y),
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "mul by a short word": lambda x, y: x * y[40:0].sext(y.width),
    "mul by a constant": lambda x, y: x * (3 << (x.width // 2) | 5),
    "unsigned comparisons": lambda x, y: x.ult(y).ite(x, umax(x, y)) ^ x.eq(y).ite(x, y),
    "signed comparisons": lambda x, y: x.slt(y).ite(x, y) + y.sle(x ^ y).zext(x.width),
    "shl": lambda x, y: x << y,
    "lshr": lambda x, y: x >> y,
    "ashr": lambda x, y: x.ashr(y),
    "shl of a short word": lambda x, y: x[40:0].zext(x.width) << y,
    "constant shifts": lambda x, y: (
        (x << (x.width // 2 + 3)) ^ (x >> (x.width // 3)) ^ (y >> x.width) ^ y.ashr(y.width // 3)
    ),
    "extensions": lambda x, y: x.sext(x.width + 70) ^ y.zext(y.width + 70) ^ y[5:0].sext(y.width + 70),
    "concat": lambda x, y: x.concat(y)[x.width + 9 : 9],
    "leading zeros": lambda x, y: leading_zeros(x >> y)[1],
    "normalised": lambda x, y: leading_zeros(x >> y)[0],
}


@pytest.mark.parametrize("limb", [32, pytest.param(64, marks=pytest.mark.long)])
@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("rows", [10, pytest.param(30, marks=pytest.mark.long)])
def test_operations(operation: str, limb: int, rows: int) -> None:
    rng = random.Random(operation)
    for width in WIDTHS:
        x, y = var("x", width), var("y", width)
        word = OPERATIONS[operation](x, y)
        (limbs,) = split([word], limb)
        assert all(node.width <= limb for node in operands_first(limbs))
        for _ in range(rows):
            one = rng.getrandbits(width) >> rng.choice([0, 0, width // 2, width - 1, width])
            many = rng.getrandbits(width)
            other = rng.choice([many, rng.randrange(width + 5), one, many >> (width - 9), 64, 63, 0])
            other |= rng.choice([0, 0, 1 << (width - 1)])
            values = {
                str(piece.data): number >> (limb * place) & ((1 << piece.width) - 1)
                for variable, number in ((x, one), (y, other))
                for place, piece in enumerate(pieces(variable, limb))
            }
            (expected,) = evaluate([word], {"x": one, "y": other})
            found = [part << (limb * place) for place, part in enumerate(evaluate(limbs, values))]
            assert sum(found) == expected, (width, hex(one), hex(other))


def test_a_product_with_too_many_digits_is_refused() -> None:
    """Its columns would overflow: a wrong product, were it made."""
    x = var("x", 300)
    assert split([x * x], 16)
    with pytest.raises(ValueError, match=r"300 bits.* 8"):
        split([x * x], 8)


def test_macros_are_expanded_before() -> None:
    x = var("x", 64)
    word = fma_words(FORMATS["f64"], x, x, x)
    with pytest.raises(ValueError, match=r"fma\.f64: .*32 bits"):
        split([word], 32)
    ((low, high),) = fitted([word], lambda macro: False, 32)
    nodes = operands_first([low, high])
    assert all(node.width <= 32 and node.op != "macro" for node in nodes)
    one = 0x3FF8_0000_0000_0000
    (expected,) = evaluate([word], {"x": one})
    assert evaluate([high.concat(low)], {"x[31:0]": 0, "x[63:32]": one >> 32}) == [expected]


def check_limbs(case: Case) -> None:
    """Limbs of every size make up the words; leading zeros are counted on limbs."""
    expanded = expand(case.terms, lambda macro: not macro.startswith("fma."))
    for size in (16, 32, 64):
        found = split(expanded, size)
        assert all(node.width <= size for limbs in found for node in operands_first(limbs))
        for row, inputs in zip(range(4), case.rows(), strict=False):
            parts = {
                str(piece.data): inputs[str(x.data)] >> place * size & ((1 << piece.width) - 1)
                for x in case.variables
                for place, piece in enumerate(pieces(x, size))
            }
            flat = iter(evaluate([limb for limbs in found for limb in limbs], parts))
            whole = [sum(next(flat) << place * size for place in range(len(limbs))) for limbs in found]
            assert whole == [column[row] for column in case.values], (case.name, size)


def test_shapes() -> None:
    on_shapes(check_limbs)


def test_random_computations() -> None:
    on_random_cases(check_limbs, 20)


@pytest.mark.long
@pytest.mark.parametrize("steps", MANY)
def test_many_random_computations(steps: int) -> None:
    on_many_random_cases(check_limbs, steps)
