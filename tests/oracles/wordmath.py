"""Words and their operations, apart from tcsmt: plain integers, by SMT-LIB's definitions.

A computation is described as a list of nodes; :func:`evaluate` says what each is worth, :func:`described`
makes random ones. The tests hold every interpretation of terms against this.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from operator import and_, or_

#: Ranges of widths, each held in a way of its own by some interpretation: a truth value, and words of up to
#: 16, 32 and 64 bits, and of several limbs.
CLASSES = ((1, 1), (2, 16), (17, 32), (33, 64), (65, 200))
#: The parameters of binary32 and binary64: fraction bits, exponent bits.
FLOATS = {32: (23, 8), 64: (52, 11)}


@dataclass(frozen=True)
class Node:
    """One operation: its name, the width of its value, the places of its arguments, and what else it needs.

    data: a constant's value, a variable's name, the bounds (high, low) of an extraction.
    """

    op: str
    width: int
    args: tuple[int, ...] = ()
    data: int | str | tuple[int, int] | None = None


def signed(value: int, width: int) -> int:
    """A word read in two's complement."""
    return value - (value >> (width - 1) << width)


def _leading_zeros(word: int, width: int) -> int:
    count = 0
    while count < width and not word >> (width - 1 - count) & 1:
        count += 1
    return count


def _float(word: int, width: int) -> Fraction | str:
    fraction_bits, exponent_bits = FLOATS[width]
    fraction = word & ((1 << fraction_bits) - 1)
    field = word >> fraction_bits & ((1 << exponent_bits) - 1)
    sign = "-" if word >> (width - 1) else ""
    if field == (1 << exponent_bits) - 1:
        return "nan" if fraction else f"{sign}inf"
    bias = (1 << (exponent_bits - 1)) - 1
    significand = fraction | (1 << fraction_bits if field else 0)
    size = significand * Fraction(2) ** (max(field, 1) - bias - fraction_bits)
    return -size if sign else size


def _rounded(exact: Fraction, width: int) -> int:
    """The word of the nearest number (even where two are), of a magnitude that is not 0."""
    fraction_bits, exponent_bits = FLOATS[width]
    bias = (1 << (exponent_bits - 1)) - 1
    size = abs(exact)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    exponent = max(exponent - (size < Fraction(2) ** exponent), 1 - bias)
    units = round(size / Fraction(2) ** (exponent - fraction_bits))
    # a carry out of the significand runs into the exponent field, as it should; so does its hidden bit
    word = ((exponent + bias - 1) << fraction_bits) + units
    infinity = ((1 << exponent_bits) - 1) << fraction_bits
    return min(word, infinity) | (exact < 0) << (width - 1)


def fma(width: int, a: int, b: int, c: int) -> int:
    """IEEE 754's fused multiply-add, to nearest even; every NaN is the quiet one without a payload."""
    fraction_bits, exponent_bits = FLOATS[width]
    infinity = ((1 << exponent_bits) - 1) << fraction_bits
    nan = infinity | 1 << (fraction_bits - 1)
    x, y, z = (_float(word, width) for word in (a, b, c))
    product_sign, c_sign = (a ^ b) >> (width - 1), c >> (width - 1)
    if "nan" in (x, y, z) or (isinstance(x, str) and y == 0) or (isinstance(y, str) and x == 0):
        return nan
    if isinstance(x, str) or isinstance(y, str):
        return (
            nan if isinstance(z, str) and c_sign != product_sign else infinity | product_sign << (width - 1)
        )
    if isinstance(z, str):
        return c
    exact = x * y + z
    if exact:
        return _rounded(exact, width)
    return (product_sign & c_sign) << (width - 1)


def value(node: Node, widths: Sequence[int], v: Sequence[int]) -> int:
    """A node's value, of its arguments' widths and values."""
    w = node.width
    modulus = 1 << w
    match node.op:
        case "const":
            return int(node.data) % modulus  # type: ignore[arg-type]
        case "not":
            return modulus - 1 - v[0]
        case "neg":
            return (modulus - v[0]) % modulus
        case "and":
            return reduce(and_, v)
        case "or":
            return reduce(or_, v)
        case "xor":
            return v[0] ^ v[1]
        case "add":
            return sum(v) % modulus
        case "sub":
            return (v[0] + modulus - v[1]) % modulus
        case "mul":
            return v[0] * v[1] % modulus
        case "shl":
            return v[0] * 2 ** min(v[1], w) % modulus
        case "lshr":
            return v[0] // 2 ** min(v[1], w)
        case "ashr":  # as SMT-LIB has it: of the complement where the sign bit is set
            places = 2 ** min(v[1], w)
            return modulus - 1 - (modulus - 1 - v[0]) // places if v[0] >> (w - 1) else v[0] // places
        case "concat":
            return v[0] * (1 << widths[1]) + v[1]
        case "extract":
            high, low = node.data  # type: ignore[misc,str-unpack]
            return v[0] // 2 ** int(low) % 2 ** (int(high) - int(low) + 1)
        case "zext":
            return v[0]
        case "sext":
            sign = v[0] >> (widths[0] - 1)
            return v[0] + sum(sign << place for place in range(widths[0], w))
        case "ite":
            return v[1] if v[0] == 1 else v[2]
        case "eq":
            return int(v[0] == v[1])
        case "ne":
            return int(v[0] != v[1])
        case "ult":
            return int(v[0] < v[1])
        case "ule":
            return int(v[0] <= v[1])
        case "slt":
            return int(signed(v[0], widths[0]) < signed(v[1], widths[0]))
        case "sle":
            return int(signed(v[0], widths[0]) <= signed(v[1], widths[0]))
        case "umax":
            return max(v)
        case "leading_zeros":  # all ones for 0
            return _leading_zeros(v[0], widths[0]) if v[0] else modulus - 1
        case "normalised":
            return v[0] << _leading_zeros(v[0], w) if v[0] else 0
        case "fma":
            return fma(w, *v)
    raise ValueError(f"unknown operation {node.op}")


def evaluate(nodes: Sequence[Node], inputs: Mapping[str, int]) -> list[int]:
    """Every node's value."""
    values: list[int] = []
    for node in nodes:
        if node.op == "var":
            values.append(inputs[str(node.data)])
        else:
            values.append(value(node, [nodes[a].width for a in node.args], [values[a] for a in node.args]))
    return values


def ends(width: int) -> list[int]:
    """The words at the ends of the ranges of unsigned and of signed numbers, and 1."""
    ones = (1 << width) - 1
    return [0, 1, ones, 1 << (width - 1), ones >> 1]


def words(rng: random.Random, width: int, count: int) -> list[int]:
    """Random words, often at the ends of the range, close to a power of two, or small."""
    ones = (1 << width) - 1
    found = []
    for _ in range(count):
        kind = rng.randrange(6)
        if kind == 0:
            found.append(rng.choice(ends(width)))
        elif kind == 1:
            found.append((1 << rng.randrange(width)) + rng.choice((-1, 0, 1, 5, 33)) & ones)
        elif kind == 2:
            found.append(rng.getrandbits(width) >> rng.randrange(width))
        else:
            found.append(rng.getrandbits(width))
    return found


UNARY = ("not", "neg")
BINARY = ("xor", "sub", "mul")
SHIFTS = ("shl", "lshr", "ashr")
COMPARISONS = ("eq", "ne", "ult", "ule", "slt", "sle")
REDUCTIONS = ("and", "or", "add", "umax")
LEADING = ("leading_zeros", "normalised")
SHAPES = (
    *UNARY, *BINARY, *SHIFTS, *SHIFTS, *COMPARISONS, *REDUCTIONS, *REDUCTIONS, *LEADING,
    "concat", "extract", "zext", "sext", "sext", "ite", "ite", "ite of zero", "bounded",
)  # fmt: skip
#: How many of the operations are fused multiply-adds.
FMA_SHARE = 0.005


class Maker:
    """Random nodes, one after the other. widest: no word is wider."""

    def __init__(self, rng: random.Random, widest: int) -> None:
        self.rng, self.widest = rng, widest
        self.nodes: list[Node] = []

    def add(self, op: str, width: int, *args: int, data: int | str | tuple[int, int] | None = None) -> int:
        """One more node, and its place."""
        self.nodes.append(Node(op, width, args, data))
        return len(self.nodes) - 1

    def width(self, most: int = 1 << 20) -> int:
        """A width of any class, often at one of its ends."""
        most = min(most, self.widest)
        low, high = self.rng.choice([ends for ends in CLASSES if ends[0] <= most])
        high = min(high, most)
        return self.rng.choice([low, high, max(low, high - 1), self.rng.randint(low, high)])

    def constant(self, width: int) -> int:
        """A constant."""
        return self.add("const", width, data=words(self.rng, width, 1)[0])

    def cut(self, place: int, width: int) -> int:
        """Some bits of a wider word, often its first or its last ones."""
        room = self.nodes[place].width - width
        if not room:
            return place
        low = self.rng.choice([0, room, self.rng.randint(0, room)])
        return self.add("extract", width, place, data=(low + width - 1, low))

    def extended(self, width: int, narrow: int) -> int:
        """A word of ``narrow`` bits, extended with its sign or with zeros."""
        inner = self.word(narrow)
        if narrow == width:
            return inner
        return self.add("sext" if self.rng.random() < 0.7 else "zext", width, inner)

    def word(self, width: int) -> int:
        """A word of this width: one that is there, part of one, an extended one, or a constant."""
        same = [place for place, node in enumerate(self.nodes) if node.width == width]
        wider = [place for place, node in enumerate(self.nodes) if node.width > width]
        kind = self.rng.random()
        if same and kind < 0.6:
            return self.rng.choice(same[-6:])
        if wider and (kind < 0.7 or width == 1):
            return self.cut(self.rng.choice(wider), width)
        if width > 1 and kind < 0.88:
            return self.extended(width, self.width(width - 1))
        if width > 1 and kind < 0.95:
            return self.bounded(width)
        return self.constant(width)

    def bounded(self, width: int) -> int:
        """A word of which something is known: not below a constant, or not above one."""
        word, constant = self.word(width), self.constant(width)
        kind = self.rng.randrange(4)
        if kind == 0:
            return self.add("lshr", width, word, self.add("const", width, data=self.rng.randint(0, width)))
        if kind == 1:
            return self.add("and", width, word, constant)
        return self.add("umax", width, word, constant)

    def amount(self, width: int) -> int:
        """How far to shift: few bits as a rule, so that something is left; up to the ends of containers."""
        kind = self.rng.randrange(4)
        if kind == 0:
            near = [0, 1, width - 1, width, width + 1, 15, 16, 31, 32, 63, 64, self.rng.randint(0, width)]
            return self.add("const", width, data=self.rng.choice(near) % (1 << width))
        if kind == 1 or width < 3:
            return self.word(width)
        bits = self.rng.randint(1, min(width - 1, width.bit_length() + 1))
        few = self.word(bits)
        if kind == 2:
            return self.add("zext", width, few)
        return self.add("concat", width, self.word(width - bits), few)

    def step(self) -> None:
        """One more operation, at the end."""
        rng, shape = self.rng, self.rng.choice(SHAPES)
        if rng.random() < FMA_SHARE:  # its definition is thousands of operations
            shape = "fma"
        width = self.width() if rng.random() < 0.4 else rng.choice(self.nodes).width
        if shape in REDUCTIONS:
            count = rng.randint(2, 5)
            narrow = self.width(width) if rng.random() < 0.5 else 0
            args = [self.extended(width, narrow) if narrow else self.word(width) for _ in range(count)]
            if rng.random() < 0.3:
                args[0] = self.constant(width)
            self.add(shape, width, *args)
        elif shape in UNARY:
            self.add(shape, width, self.word(width))
        elif shape in BINARY:
            args = [
                self.extended(width, self.width(width) if rng.random() < 0.6 else width) for _ in range(2)
            ]
            self.add(shape, width, *args)
        elif shape in SHIFTS:
            self.add(shape, width, self.word(width), self.amount(width))
        elif shape in COMPARISONS:
            self.add(shape, 1, self.word(width), self.word(width))
        elif shape == "leading_zeros":
            self.add(shape, max(1, (width - 1).bit_length()), self.amount(width))
        elif shape == "normalised":
            self.add(shape, width, self.amount(width))
        elif shape == "fma":
            width = rng.choice([w for w in FLOATS if w <= self.widest])
            self.add(shape, width, *(self.word(width) for _ in range(3)))
        elif shape == "concat":
            upper, lower = self.word(self.width(self.widest // 2)), self.word(self.width(self.widest // 2))
            self.add(shape, self.nodes[upper].width + self.nodes[lower].width, upper, lower)
        elif shape == "extract":
            place = rng.randrange(len(self.nodes))
            self.cut(place, rng.randint(1, self.nodes[place].width))
        elif shape in ("zext", "sext"):
            inner = self.word(self.width(width))
            if self.nodes[inner].width < width:
                self.add(shape, width, inner)
        elif shape == "bounded":
            if width > 1:
                self.bounded(width)
        elif shape == "ite":
            self.add(shape, width, self.word(1), self.word(width), self.word(width))
        else:  # another word where this one is 0, which bounds the result from below
            word = self.word(width)
            zero = self.add("eq", 1, word, self.add("const", width, data=0))
            self.add("ite", width, zero, self.word(width), word)


def described(rng: random.Random, widest: int, steps: int) -> list[Node]:
    """A random computation on some inputs, x0, x1, ..."""
    made = Maker(rng, widest)
    for number in range(rng.randint(1, 3)):
        made.add("var", made.width(), data=f"x{number}")
    for _ in range(steps):
        made.step()
    return made.nodes
