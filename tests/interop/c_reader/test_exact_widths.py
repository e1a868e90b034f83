"""Words without their containers: random programs before and after, word for word; what programs write."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from random import Random

import pytest

from tcsmt.interop.c_reader.exact_widths import exact_widths
from tcsmt.language.run.exact import evaluate
from tcsmt.language.terms import Term, const, total, umax, var
from tests.support.sampling import mostly_long

A, B, BIT = var("a", 5), var("b", 5), var("bit", 1)
X, Y = A.zext(32), B.zext(32)
#: All ones, or zeros, in 32 bits.
MASK = const(0, 32) - BIT.zext(32)


def signed(word: Term, width: int) -> Term:
    """A word of so many bits as a number, as programs write it."""
    sign = const(1 << (width - 1), word.width)
    return (word ^ sign) - sign


def least(x: Term, y: Term | int) -> Term:
    return x.ult(y).ite(x, y)


def shifted(x: Term, by: Term) -> Term:
    """To the left by any number of places, where a shift by 32 or more has no meaning."""
    return (x << (by & 31)) & (const(0, 32) - by.ult(32).zext(32))


def arithmetic(x: Term, by: Term) -> Term:
    """To the right, with copies of the sign, without signed numbers."""
    flip = const(0, 32) - (x >> 31)
    return ((x ^ flip) >> least(by, 31)) ^ flip


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ((X + Y) & 0x1F, (A + B).zext(32)),
        (X + Y, (A.zext(6) + B.zext(6)).zext(32)),
        (X + Y + X, total(A.zext(7), B.zext(7), A.zext(7)).zext(32)),
        (((X + Y) & 0x1F) + X, ((A + B).zext(6) + A.zext(6)).zext(32)),
        (X * Y, (A.zext(10) * B.zext(10)).zext(32)),
        ((X >> 2) & 3, A[3:2].zext(32)),
        ((X & 0x7).eq(0).zext(32), A[2:0].eq(0).zext(32)),
        ((BIT.zext(32) << 5) | X, BIT.concat(A).zext(32)),
        ((X << 10) | (Y << 5) | X, A.concat(B).concat(A).zext(32)),
        (((X ^ Y) & MASK) ^ Y, BIT.ite(A, B).zext(32)),
        (Y & MASK ^ Y, BIT.ite(0, B).zext(32)),
        (signed((((X ^ Y) & MASK) ^ Y) & 0x1F, 5), BIT.ite(A, B).sext(32)),
        ((X ^ MASK) + BIT.zext(32), BIT.ite(-A.zext(6), A.zext(6)).sext(32)),
        (X.ult(Y).ite(Y, X), umax(A, B).zext(32)),
        (signed(X, 5), A.sext(32)),
        (X >> least(Y, 31), (A >> B).zext(32)),
        (shifted(X, Y) & 0x1F, (A << B).zext(32)),
        ((X ^ 0x10).ult(Y ^ 0x10), A.slt(B)),
        (total(*(signed(word, 5) for word in (X, Y, X))), total(A.sext(7), B.sext(7), A.sext(7)).sext(32)),
    ],
)
def test_what_programs_write(written: Term, meant: Term) -> None:
    assert exact_widths(written) is meant


def at_bounds(near: int) -> Iterator[Term]:
    """Programs that have a number of bits, or just not; ``near``: a constant of a few bits, which decides it.

    What is widened, moved or spliced in each of them may be so up to a bound.
    """
    x, y = var("x", 3).zext(16), var("y", 3).zext(16)
    for ones in (0x7, 0xF, 0x1F):
        trimmed, width = (x + near) & ones, ones.bit_length()
        yield trimmed + y
        yield trimmed - y
        yield trimmed + (y + near)
        yield trimmed.ult(y)
        yield least(trimmed, y)
        yield least(y, trimmed)
        yield signed(trimmed, width) + y
        yield signed((x + y + near) & ones, width) + y
        yield signed((x - y) & ones, width) + (x + near)
        yield total(signed(x, 3), signed(y, 3), const(near, 16)) & ones
        yield signed(total(signed(x, 3), signed(y, 3), signed(x & near, 3)) & ones, width) + y
        yield x[2:0].concat((y + near)[3:0]).zext(16) & ones
        yield (y + near)[3:0].concat(x[2:0]).zext(16) & ones
        for size in (4, 5, 8):
            inside = (y + near).ult(size)
            yield inside.ite((x & ones) >> (y + near & (size - 1)), 0)
            yield y.ult(size).ite(trimmed >> (y & (size - 1)), 0)
            yield inside.ite((x & ones) << (y + near & (near >> 1)), 0)
            yield inside.ite((x >> (y + near & near)) & ones, 0)
            for mask in (size - 1, (size - 1) >> 1):
                by = x[0].ite(y + near & mask, x & mask)
                yield x[0].ite(y + near, x).ult(size).ite((x & ones) >> by, 0)
        yield (x & ones) >> least(y, near)
        yield signed(x & ones, width).ashr(least(y, near))
        yield (x << near) & ones | y
        yield ((x << near) & ones) + x
        yield x.ult(near) & (y ^ 0x4).ult(near ^ 0x4)
        yield (x ^ 0x8000).ult(near ^ 0x8000)


@pytest.mark.parametrize("near", range(19))
def test_at_bounds(near: int) -> None:
    """On all inputs."""
    for number, before in enumerate(at_bounds(near)):
        after = exact_widths(before)
        for x, y in product(range(8), range(8)):
            one, two = evaluate([before, after], {"x": x, "y": y})
            assert one == two, (number, x, y)


def drawn(rng: Random, widths: Sequence[int], most: int) -> tuple[list[Term], Term]:
    """Inputs of at most so many bits, and a word of a random program of words in these widths."""
    inputs = [var(f"v{place}", rng.randint(1, most)) for place in range(rng.randint(2, 3))]
    pool = list(inputs)

    def word(width: int) -> Term:
        near = [term for term in pool if term.width == width]
        if near and rng.random() < 0.75:
            return rng.choice(near[-8:])
        if rng.random() < 0.35:
            ends = (0, 1, width, width - 1, -1 << rng.randrange(width), (1 << rng.randint(0, width)) - 1)
            return const(rng.choice((*ends, rng.getrandbits(width))), width)
        term = rng.choice(pool)
        if term.width <= width:
            return term.zext(width) if rng.random() < 0.6 else term.sext(width)
        low = rng.choice((0, rng.randint(0, term.width - width)))
        return term[low + width - 1 : low]

    for _ in range(rng.randint(4, 30)):
        width = rng.choice(widths)
        x, y, z, bit = word(width), word(width), word(width), word(1)
        mask, sign, places = const(0, width) - bit.zext(width), 1 << (width - 1), const(width - 1, width)
        by, low = rng.randrange(width + 1), rng.randrange(width)
        flip = const(0, width) - (x >> (width - 1))
        size = rng.choice((width, width, width // 2, 2 * width))
        inside = const(0, width) - y.ult(size).zext(width)
        pool.append(
            rng.choice(
                (
                    x + y, x - y, x * y, x & y, x | y, x ^ y, ~x, -x, x << y, x >> y, x.ashr(y),
                    bit.ite(x, y), ((x ^ y) & mask) ^ y, (x & mask) ^ x, (x ^ mask) + bit.zext(width),
                    x.ult(y).ite(y, x), least(x, y), x << by, x >> by, (x << by) | y,
                    signed(x, rng.randint(1, width)),
                    (x << (y & (size - 1))) & inside, (x >> (y & (size - 1))) & inside,
                    ((x ^ flip) >> least(y, places)) ^ flip, x >> least(y, low), x.ashr(least(y, low)),
                    x & ((1 << by) - 1),
                    (x - y) & ((1 << by) - 1), x.eq(y), x.ult(y), x.slt(y), (x ^ sign).ult(y ^ sign),
                    x[rng.randint(low, width - 1) : low], umax(x, y, z), total(x, y, z), z.concat(x),
                )
            )
        )  # fmt: skip
    return inputs, pool[-1]


def rows(rng: Random, inputs: Sequence[Term]) -> Iterator[dict[str, int]]:
    """All words of narrow inputs; else some, most of them at the ends."""
    names = [str(term.data) for term in inputs]
    if sum(term.width for term in inputs) <= 9:
        every = (range(1 << term.width) for term in inputs)
        yield from (dict(zip(names, words, strict=True)) for words in product(*every))
        return
    for _ in range(40):
        row = {}
        for name, term in zip(names, inputs, strict=True):
            ones = (1 << term.width) - 1
            row[name] = rng.choice((0, 1, ones, ones >> 1, ones ^ ones >> 1, rng.getrandbits(term.width)))
        yield row


@pytest.mark.slow
@pytest.mark.parametrize("widths", [(4, 8, 16), (8, 16, 32, 64, 33, 7)])
@pytest.mark.parametrize("start", mostly_long(range(0, 20_000, 100), [0]))
def test_random_programs(start: int, widths: tuple[int, ...]) -> None:
    """Those of narrow words on all inputs."""
    changed = 0
    for seed in range(start, start + 100):
        rng = Random(seed)
        inputs, before = drawn(rng, widths, 3 if max(widths) < 32 else 32)
        after = exact_widths(before)
        changed += after is not before
        for row in rows(rng, inputs):
            one, two = evaluate([before, after], row)
            assert one == two, (seed, row)
    assert changed > 50
