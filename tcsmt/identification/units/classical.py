"""Questions to a unit that can only be asked: inputs made for one feature, and what the answers mean.

The methods of MMA-Sim (Xie et al. 2025, sections II-C to II-F): summation tree by masking, kept bits
by halving, rounding by four and four more inputs, special values by boundary cases. They see a
:class:`BlackBox` and nothing of the model or the hardware behind it.

An addend is named by its number: 0 to k - 1 are the products, k is c.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache, partial
from typing import Any

import numpy as np

from tcsmt.matrix_units.arithmetic.formats import Format, float_format
from tcsmt.matrix_units.arithmetic.words import unsigned
from tcsmt.matrix_units.models import Model, Operands
from tcsmt.simulate.rows import run_words
from tcsmt.support.errors import TcsmtError
from tcsmt.support.text import ranges

Array = np.ndarray[Any, np.dtype[Any]]
#: Values of the addends that are not zero, by number.
Addends = Mapping[int, Fraction]


class OutOfReach(TcsmtError):
    """A value that is no product of two operands of the unit's formats."""


@dataclass(frozen=True, kw_only=True)
class BlackBox:
    """A unit that can only be asked.

    a_format, b_format, c_format, d_format: its formats. k: products in one instruction.
    run: from words a (rows, k), b (rows, k), c (rows,) to words d (rows,).
    """

    a_format: Format
    b_format: Format
    c_format: Format
    d_format: Format
    k: int
    run: Callable[[Array, Array, Array], Array]

    def words(self, rows: Sequence[tuple[Mapping[int, int], Mapping[int, int], int]]) -> list[int]:
        """Return the results of rows of words: a by lane, b by lane (others zero), and c."""
        a = np.zeros((len(rows), self.k), unsigned(self.a_format))
        b = np.zeros((len(rows), self.k), unsigned(self.b_format))
        c = np.zeros(len(rows), unsigned(self.c_format))
        for number, (left, right, addend) in enumerate(rows):
            for lane, word in left.items():
                a[number, lane] = word
            for lane, word in right.items():
                b[number, lane] = word
            c[number] = addend
        return [int(word) for word in self.run(a, b, c)]

    def ask(self, rows: Sequence[Addends]) -> list[int]:
        """Return the words of the sums of addends. Raises :class:`OutOfReach`."""
        table = []
        for row in rows:
            pairs = {i: factors(self.a_format, self.b_format, v) for i, v in row.items() if i < self.k}
            words_of_a = {i: pair[0] for i, pair in pairs.items()}
            right = {i: pair[1] for i, pair in pairs.items()}
            table.append((words_of_a, right, word_of(self.c_format, row.get(self.k, Fraction(0)))))
        return self.words(table)

    def sums(self, rows: Sequence[Addends]) -> list[Fraction | None]:
        """Return the values of the sums of addends; None for an infinity or a NaN."""
        fmt = self.d_format
        answers = self.ask(rows)
        return [None if fmt.is_nan(w) or fmt.is_infinite(w) else fmt.value(w) for w in answers]

    @cached_property
    def largest(self) -> int:
        """Exponent of the largest power of two (at most 2^60) that every addend and the result hold."""
        product = self.a_format.e_max + self.b_format.e_max
        return min(product, self.c_format.e_max, self.d_format.e_max, 60)

    @cached_property
    def smallest(self) -> int:
        """Exponent of the smallest power of two (at least 2^-60) that every addend can be.

        Of normal operands only, where the unit flushes subnormal ones.
        """
        product = self.a_format.e_min + self.b_format.e_min
        normal = max(product, self.c_format.e_min, self.d_format.e_min, -60)
        product -= self.a_format.fraction_bits + self.b_format.fraction_bits
        others = [fmt.e_min - fmt.fraction_bits for fmt in (self.c_format, self.d_format)]
        least = Fraction(2) ** max(product, *others, -60)
        has_subnormals = self.sums([{0: least}, {self.k: least}]) == [least, least]
        return max(product, *others, -60) if has_subnormals else normal


def black_box(model: Model) -> BlackBox:
    """A model as a black box; block scales, where it has them, are one."""
    scale = model.scale_format
    unit_scale = 0 if scale is None else scale.word(Fraction(1))

    def run(a: Array, b: Array, c: Array) -> Array:
        scales = None if scale is None else np.full((len(c), model.scales), unit_scale, unsigned(scale))
        return run_words(model, Operands(a, b, c, scales, scales))

    a, b, c, d = map(float_format, (model.a_format, model.b_format, model.c_format, model.d_format))
    return BlackBox(a_format=a, b_format=b, c_format=c, d_format=d, k=model.k, run=run)


def word_of(fmt: Format, value: Fraction) -> int:
    """Return the word of a value. Raises :class:`OutOfReach`."""
    try:
        return fmt.word(value)
    except ValueError:
        raise OutOfReach(f"{value} is not a valid {fmt.name} value") from None


@lru_cache(maxsize=4096)
def factors(a: Format, b: Format, value: Fraction) -> tuple[int, int]:
    """Words of two operands whose product is the value, the second one a power of two.

    Raises :class:`OutOfReach` where there are none.
    """
    if value == 0:
        return 0, 0
    size = abs(value)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    # halves first, so that neither operand is subnormal if that can be
    for power in sorted(range(b.e_min - b.fraction_bits, b.e_max + 1), key=lambda e: abs(2 * e - exponent)):
        try:
            return a.word(value / Fraction(2) ** power), b.word(Fraction(2) ** power)
        except ValueError:
            continue
    raise OutOfReach(f"{value} is not a product of {a.name} and {b.name} values")


# --- the order of summation --------------------------------------------------------------------


@dataclass(frozen=True)
class Tree:
    """A sum of addends and of other sums, added in one step.

    members: numbers of addends, and trees. exact: nothing is lost in it, so that no order shows.
    """

    members: tuple[int | Tree, ...]
    exact: bool = False

    def fused(self) -> list[int]:
        """Return the addends of the first sum, from the innermost out, that has three or more (or none)."""
        for member in self.members:
            sums = member.fused() if isinstance(member, Tree) else []
            if sums:
                return sums
        leaves = [member for member in self.members if isinstance(member, int)]
        return leaves if len(leaves) > 2 and not self.exact else []

    def text(self, k: int) -> str:
        """``[c p0 p1]`` for a fused sum, ``[[c p0] p1]`` for a chain, ``{...}`` where it is exact."""
        inside = " ".join(_runs(self.members, k))
        return f"{{{inside}}}" if self.exact else f"[{inside}]"

    def picture(self, k: int) -> str:
        """Return the tree as lines of text, the last sum at the top."""
        return "\n".join([self._title(), *_branches(self, k)])

    def _title(self) -> str:
        return f"{'exact' if self.exact else 'one'} sum of {len(self.members)}"


def _branches(tree: Tree, k: int) -> list[str]:
    """Return the sum's own addends on one line, and its sums below, each with its own."""
    leaves = [member for member in tree.members if isinstance(member, int)]
    parts: list[tuple[str, list[str]]] = [(" ".join(_runs(leaves, k)), [])] if leaves else []
    for member in tree.members:
        if isinstance(member, Tree):
            parts.append((member._title(), _branches(member, k)))
    lines = []
    for number, (name, below) in enumerate(parts):
        last = number == len(parts) - 1
        lines.append(("└─ " if last else "├─ ") + name)
        lines += [("   " if last else "│  ") + line for line in below]
    return lines


def _runs(members: Sequence[int | Tree], k: int) -> list[str]:
    """Names of the members, three or more neighbours as ``p0..p7``."""
    return ranges(
        member.text(k) if isinstance(member, Tree) else "c" if member == k else f"p{member}"
        for member in members
    )


#: X / y = 2^27 is lost in every unit that adds fewer bits than FP64.
_SWALLOWED = 27


def summation_tree(box: BlackBox) -> Tree:
    """Return the order of summation, by masking (section II-C).

    X and -X at two addends swallow all that meets them before they meet each other; the result
    counts the others, each a tiny y. How many each pair swallows is a tree. Raises
    :class:`OutOfReach` where the formats hold no y that X would swallow.
    """
    count = box.k + 1
    if box.largest - box.smallest < _SWALLOWED:
        raise OutOfReach(f"the operands only reach from 2^{box.smallest} to 2^{box.largest}")
    big, tiny = Fraction(2) ** box.largest, Fraction(2) ** box.smallest
    pairs = [(i, j) for i in range(count) for j in range(i)]
    rows = [dict.fromkeys(range(count), tiny) | {i: big, j: -big} for i, j in pairs]
    together: dict[frozenset[int], int] = {}
    for (i, j), total in zip(pairs, box.sums(rows), strict=True):
        if total is None:
            raise OutOfReach("a masked sum is an infinity or a NaN")
        together[frozenset((i, j))] = count - int(total / tiny)
    return _tree(sorted(range(count), key=lambda i: (i != box.k, i)), together)


def _tree(leaves: list[int], together: Mapping[frozenset[int], int]) -> Tree:
    """Return the tree of some leaves: those that meet in fewer than all leaves share a branch."""
    branches: list[list[int]] = []
    for leaf in leaves:
        for branch in branches:
            if together[frozenset((leaf, branch[0]))] < len(leaves):
                branch.append(leaf)
                break
        else:
            branches.append([leaf])
    if len(branches) == 1:
        return _exact(leaves, together)
    return Tree(tuple(b[0] if len(b) == 1 else _tree(b, together) for b in branches))


def _exact(leaves: list[int], together: Mapping[frozenset[int], int]) -> Tree:
    """A chain of sums that swallow nothing: X and -X in one of them leave all others."""
    blocks: list[list[int]] = []
    for leaf in leaves:
        for block in blocks:
            if together[frozenset((leaf, block[0]))] == 2:
                block.append(leaf)
                break
        else:
            blocks.append([leaf])
    tree = Tree(tuple(blocks[0]), exact=True)
    for block in sorted(blocks[1:], key=lambda b: together[frozenset((leaves[0], b[0]))]):
        tree = Tree((tree, *block), exact=True)
    return tree


# --- precision and rounding --------------------------------------------------------------------


def kept_bits(box: BlackBox, pair: tuple[int, int], small: int) -> int | None:
    """Fraction bits that an addend keeps beside a cancelling pair -X + X (section II-D).

    The addend is halved until the sum is no longer the addend; None: it never fails in reach.
    """
    top = box.largest
    below = range(1, top - box.smallest + 1)
    rows = [
        {pair[0]: -(Fraction(2) ** top), pair[1]: Fraction(2) ** top, small: Fraction(2) ** (top - bits)}
        for bits in below
    ]
    for bits, row, total in zip(below, rows, box.sums(rows), strict=True):
        if total != row[small]:
            return bits - 1
    return None


#: Table I: the parts of a unit to which ±0.75 and ±0.25 of it are rounded.
_MODES: dict[tuple[Fraction | int | None, ...], str] = {
    (1, 1, 0, 0): "RU",
    (0, 0, -1, -1): "RD",
    (0, 0, 0, 0): "RZ",
    (1, 1, -1, -1): "RA",
    (1, 0, -1, 0): "RN",
}
#: Table II: 0.5, 1.5, -0.5, -1.5.
_TIES: dict[tuple[Fraction | int | None, ...], str] = {
    (1, 2, 0, -1): "RNU",
    (0, 1, -1, -2): "RND",
    (0, 1, 0, -1): "RNZ",
    (1, 2, -1, -2): "RNA",
    (0, 2, 0, -2): "RNE",
    (1, 1, -1, -1): "RNO",
}
_QUARTERS = (Fraction(3, 4), Fraction(1, 4), Fraction(-3, 4), Fraction(-1, 4))
#: Beyond an odd number of units: away from zero goes on, to odd stays (the papers do not know the latter).
_ABOVE_ODD = (Fraction(5, 4), Fraction(-5, 4))
_HALVES = (Fraction(1, 2), Fraction(3, 2), Fraction(-1, 2), Fraction(-3, 2))


def _mode(units_of: Callable[[Sequence[Fraction]], list[Fraction | None]]) -> str:
    units = tuple(units_of(_QUARTERS))
    mode = _MODES.get(units, _others(units))
    if mode == "RA" and units_of(_ABOVE_ODD) == [1, -1]:
        return "RTO"
    if mode != "RN":
        return mode
    units = tuple(units_of(_HALVES))
    return _TIES.get(units, f"RN, ties {_others(units)}")


def _others(values: Sequence[Fraction | None]) -> str:
    """Results that no mode of the table gives, as they are."""
    return "(" + ", ".join("?" if part is None else str(part) for part in values) + ")"


def rounding_of_alignment(box: BlackBox, pair: tuple[int, int], small: int) -> str:
    """Return how an addend is rounded where it is aligned with a cancelling pair -X + X (Tables I and II).

    ``exact``: no bit is lost in reach.
    """
    bits = kept_bits(box, pair, small)
    if bits is None:
        return "exact"
    top = Fraction(2) ** box.largest
    unit = top / 2**bits

    def units_of(parts: Sequence[Fraction]) -> list[Fraction | None]:
        rows = [{pair[0]: -top, pair[1]: top, small: part * unit} for part in parts]
        return [None if total is None else total / unit for total in box.sums(rows)]

    return _mode(units_of)


def rounding_of_result(box: BlackBox, big: int, small: int) -> tuple[str, int]:
    """Return how 1 + a part of a unit in the last place is rounded, and the last place (section II-E).

    The last place is the smallest power of two that added to 1 gives an exact result.
    """
    scale = Fraction(2) ** (box.largest - 1)
    places = range(1, min(box.d_format.fraction_bits, box.largest - 3 - box.smallest) + 1)
    rows = [{big: scale, small: scale / 2**place} for place in places]
    bits = 0
    for place, row, total in zip(places, rows, box.sums(rows), strict=True):
        if total != row[big] + row[small]:
            break
        bits = place
    unit = scale / 2**bits

    def units_of(parts: Sequence[Fraction]) -> list[Fraction | None]:
        signs = [1 if part > 0 else -1 for part in parts]
        rows = [{big: s * scale, small: part * unit} for s, part in zip(signs, parts, strict=True)]
        return [
            None if total is None else (total - s * scale) / unit
            for s, total in zip(signs, box.sums(rows), strict=True)
        ]

    return _mode(units_of), bits


def rounding_after_carry(box: BlackBox, addends: Sequence[int]) -> tuple[str, int]:
    """Return how a fused sum is rounded that carries two places, and the last place of its result.

    Four alike and a part of a unit in the last place of their sum: the parts lie on the grid of
    alignment even where it has no bits beyond the result's. So the final rounding shows alone.
    """
    *alike, small = addends[:5]
    scale = Fraction(2) ** (box.largest - 3)
    bits_after = kept_bits(box, (addends[0], addends[1]), small)
    bits = box.d_format.fraction_bits if bits_after is None else min(bits_after, box.d_format.fraction_bits)
    unit = 4 * scale / 2**bits

    def units_of(parts: Sequence[Fraction]) -> list[Fraction | None]:
        signs = [1 if part > 0 else -1 for part in parts]
        rows = [
            dict.fromkeys(alike, s * scale) | {small: part * unit}
            for s, part in zip(signs, parts, strict=True)
        ]
        return [
            None if total is None else (total - s * 4 * scale) / unit
            for s, total in zip(signs, box.sums(rows), strict=True)
        ]

    return _mode(units_of), bits


# --- special values ----------------------------------------------------------------------------


def special_values(box: BlackBox) -> dict[str, str]:
    """Return what becomes of subnormal numbers, negative zero, overflows, infinities and NaNs (section
    II-F).
    """
    behaviour: dict[str, str] = {}
    for probe in (_subnormals, _zero, _overflow, _nans):
        behaviour |= probe(box)
    return behaviour


def _subnormals(box: BlackBox) -> dict[str, str]:
    a, b, c, d = box.a_format, box.b_format, box.c_format, box.d_format
    tiny = Fraction(2) ** max(c.e_min, d.e_min)
    cases = {
        "subnormal c": ({}, {}, tiny / 2),
        "subnormal a": ({0: Fraction(2) ** a.e_min / 2}, {0: _lift(box, a)}, Fraction(0)),
        "subnormal b": ({0: _lift(box, b)}, {0: Fraction(2) ** b.e_min / 2}, Fraction(0)),
    }
    behaviour = {}
    for name, (left, right, addend) in cases.items():
        behaviour[name] = _kept(box, partial(_whole, box, left, right, addend))
    product = Fraction(2) ** d.e_min / 2
    behaviour["subnormal product"] = _kept(box, lambda: box.ask([{0: product}])[0])
    least = Fraction(2) ** d.e_min
    sums = {0: Fraction(3, 2) * least, box.k: -least}
    behaviour["subnormal sum"] = _kept(box, lambda: box.ask([sums])[0])
    return behaviour


def _lift(box: BlackBox, fmt: Format) -> Fraction:
    """A power of two that makes a subnormal operand's product a normal result."""
    other = box.b_format if fmt is box.a_format else box.a_format
    return Fraction(2) ** min(other.e_max, max(0, box.d_format.e_min - fmt.e_min + 2))


def _encode(
    box: BlackBox, a: Mapping[int, Fraction], b: Mapping[int, Fraction], c: Fraction
) -> tuple[dict[int, int], dict[int, int], int]:
    words_of_a = {lane: word_of(box.a_format, value) for lane, value in a.items()}
    right = {lane: word_of(box.b_format, value) for lane, value in b.items()}
    return words_of_a, right, word_of(box.c_format, c)


def _whole(box: BlackBox, a: Mapping[int, Fraction], b: Mapping[int, Fraction], c: Fraction) -> int:
    return box.words([_encode(box, a, b, c)])[0]


def _kept(box: BlackBox, ask: Callable[[], int]) -> str:
    try:
        word = ask()
    except OutOfReach:
        return "out of reach"
    return "flushed" if box.d_format.describe(word).lstrip("-") == "0" else "kept"


def _zero(box: BlackBox) -> dict[str, str]:
    negative = {f: 1 << f.sign_bit for f in (box.b_format, box.c_format) if f.has_negative_zero}
    if len(negative) < len({box.b_format, box.c_format}):
        return {"-0 + sum of (+0)(-0)": "out of reach"}
    lanes = range(box.k)
    word = box.words([({}, dict.fromkeys(lanes, negative[box.b_format]), negative[box.c_format])])[0]
    return {"-0 + sum of (+0)(-0)": box.d_format.describe(word).replace("0", "+0").replace("-+0", "-0")}


def _overflow(box: BlackBox) -> dict[str, str]:
    a, b, c, d = box.a_format, box.b_format, box.c_format, box.d_format
    behaviour = {}
    top = Fraction(2) ** min(b.e_max, c.e_max)
    if b.e_max >= d.e_max:
        word = box.words([({0: word_of(a, Fraction(2))}, {0: word_of(b, top)}, word_of(c, -top))])[0]
        behaviour["product 2^(E+1) - 2^E"] = d.describe(word)
    else:
        behaviour["product 2^(E+1) - 2^E"] = "out of reach"
    most = Fraction(2) ** d.e_max
    last = Fraction(2) ** (d.e_max - d.fraction_bits)
    asked: dict[str, Addends] = {"2^E + 2^E - 2^E": {0: most, 1: most, box.k: -most}}
    for sign, name in ((1, ""), (-1, "-")):
        for part in ("0.75", "0.5", "0.25"):
            asked[f"{name}(largest + {part} u)"] = {
                box.k: sign * d.largest_finite,
                0: sign * Fraction(part) * last,
            }
    for name, row in asked.items():
        try:
            word = box.ask([row])[0]
        except (OutOfReach, IndexError):
            behaviour[name] = "out of reach"
            continue
        largest = d.value(word) if not (d.is_infinite(word) or d.is_nan(word)) else None
        behaviour[name] = (
            "largest" if largest is not None and abs(largest) == d.largest_finite else d.describe(word)
        )
    return behaviour


def _nans(box: BlackBox) -> dict[str, str]:
    a, b, c, d = box.a_format, box.b_format, box.c_format, box.d_format
    behaviour = {"0 * inf": "out of reach", "inf - inf": "out of reach"}
    if b.has_infinity:
        behaviour["0 * inf"] = d.hex(box.words([({}, {0: b.infinity_word}, 0)])[0])
    if b.has_infinity and c.has_infinity:
        minus = 1 << c.sign_bit | c.infinity_word
        behaviour["inf - inf"] = d.hex(
            box.words([({0: word_of(a, Fraction(1))}, {0: b.infinity_word}, minus)])[0]
        )
    return behaviour


# --- all of them -------------------------------------------------------------------------------


def profile(box: BlackBox) -> dict[str, Any]:
    """Return what every probe finds; ``out of reach`` where the operands cannot ask it.

    tree: the order of summation. alignment: within the first fused sum of three or more addends,
    what a product and c keep beside two products that cancel, and a product beside c and another.
    result: rounding and place of the last bit of product + product, c + product, product + c, and
    after a carry.
    special: :func:`special_values`.
    """
    c = box.k
    result: dict[str, Any] = {"tree": "out of reach", "alignment": {}, "result": {}}
    asked, leaves = [], []
    try:
        tree = summation_tree(box)
        result["tree"] = tree.text(c)
        leaves = tree.fused()
        products = [lane for lane in leaves if lane != c]
        asked = [("product", (products[0], products[1]), products[2])] if len(products) > 2 else []
        if c in leaves:
            asked += [
                ("c", (products[0], products[1]), c),
                ("product beside c", (products[0], c), products[1]),
            ]
    except OutOfReach:
        pass
    for name, pair, small in asked:
        bits = kept_bits(box, pair, small)
        result["alignment"][name] = {"bits": bits, "mode": rounding_of_alignment(box, pair, small)}
    last = 1 if c > 1 else 0
    for name, big, small in (("p0 + p1", 0, last), ("c + p0", c, 0), ("p0 + c", 0, c)):
        if big == small:
            continue
        try:
            mode, bits = rounding_of_result(box, big, small)
            result["result"][name] = {"bits": bits, "mode": mode}
        except OutOfReach:
            result["result"][name] = {"bits": None, "mode": "out of reach"}
    if len(leaves) > 4:
        mode, bits = rounding_after_carry(box, sorted(leaves, key=lambda member: member != c))
        result["result"]["after a carry"] = {"bits": bits, "mode": mode}
    return result | {"special": special_values(box)}
