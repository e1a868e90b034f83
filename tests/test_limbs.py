"""Wide words as limbs: every operation, at the widths around multiples of 64, on integers."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from tcsmt.datapath import leading_zeros
from tcsmt.interpret.exact import evaluate
from tcsmt.interpret.limbs import split
from tcsmt.terms import Term, operands_first, substitute, total, umax, var

WIDTHS = (65, 100, 127, 128, 129, 192, 193, 300, 577)
OPERATIONS: dict[str, Callable[[Term, Term], Term]] = {
    "not": lambda x, y: ~x,
    "neg": lambda x, y: -x,
    "bitwise": lambda x, y: (x & y) ^ (x | ~y),
    "add": lambda x, y: total(x, y, ~y, x ^ y),
    "sub": lambda x, y: x - y,
    "compare": lambda x, y: x.ult(y).ite(x, umax(x, y)) ^ x.eq(y).ite(x, y),
    "shl": lambda x, y: x << y,
    "lshr": lambda x, y: x >> y,
    "shl of a short word": lambda x, y: x[40:0].zext(x.width) << y,
    "constant shifts": lambda x, y: (x << (x.width // 2 + 3)) ^ (x >> (x.width // 3)) ^ (y >> x.width),
    "extensions": lambda x, y: x.sext(x.width + 70) ^ y.zext(y.width + 70) ^ y[5:0].sext(y.width + 70),
    "concat": lambda x, y: x.concat(y)[x.width + 9 : 9],
    "leading zeros": lambda x, y: leading_zeros(x >> y)[1],
    "normalised": lambda x, y: leading_zeros(x >> y)[0],
}


def pieces(name: str, width: int) -> list[Term]:
    """Variables of at most 64 bits that make up a word."""
    return [var(f"{name}{low // 64}", min(64, width - low)) for low in range(0, width, 64)]


def whole(parts: list[Term]) -> Term:
    """The word, the first part lowest."""
    word = parts[0]
    for part in parts[1:]:
        word = part.concat(word)
    return word


@pytest.mark.parametrize("operation", OPERATIONS)
def test_operations(operation: str) -> None:
    rng = random.Random(operation)
    for width in WIDTHS:
        x, y = var("x", width), var("y", width)
        word = OPERATIONS[operation](x, y)
        parts = {name: pieces(name, width) for name in "xy"}
        outputs = [word[min(low + 63, word.width - 1) : low] for low in range(0, word.width, 64)]
        wide = substitute(outputs, {x: whole(parts["x"]), y: whole(parts["y"])})
        narrow = split(wide)
        assert narrow is not None
        assert all(node.width <= 64 for node in operands_first(narrow))
        for _ in range(60):
            one = rng.getrandbits(width) >> rng.choice([0, 0, width // 2, width - 1, width])
            many = rng.getrandbits(width)
            other = rng.choice([many, rng.randrange(width + 5), one, many >> (width - 9), 64, 63, 0])
            values = {
                str(part.data): number >> (64 * place) & ((1 << part.width) - 1)
                for name, number in (("x", one), ("y", other))
                for place, part in enumerate(parts[name])
            }
            assert evaluate(narrow, values) == evaluate(wide, values), (width, hex(one), hex(other))


def test_what_cannot_be_split() -> None:
    x = whole(pieces("x", 100))
    assert split([(x * x)[63:0]]) is None
