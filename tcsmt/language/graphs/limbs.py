"""Wide words as several narrower ones, so that machines compute on them.

A term-to-term translation: every word wider than a limb becomes limbs, the lowest first, the last one
as wide as what remains. There is no operation that it leaves wide: an interpretation that knows words of
64 bits (or 32) then takes graphs of any width.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from tcsmt.language.macros import leading_zeros
from tcsmt.language.terms import (
    FALSE,
    TRUE,
    Term,
    all_of,
    any_of,
    const,
    expand,
    operands_first,
    rebuild,
    total,
    var,
)

#: Bits of a limb where nothing else is said.
LIMB = 64

Limbs = list[Term]


def fitted(roots: Sequence[Term], native: Callable[[str], bool], limb: int = LIMB) -> list[Limbs]:
    """Return the limbs of each root, in a graph without wider words and without macros that are not
    native.
    """
    expanded = expand(roots, lambda name: native(name) or name.startswith(_LEADING))
    limbs = split(expanded, limb)
    if all(native(f"{start}{limb}") for start in _LEADING):
        return limbs  # no macro is left that is not native
    flat = iter(expand([part for root in limbs for part in root], native))
    return [[next(flat) for _ in root] for root in limbs]


_LEADING = ("normalised.", "leading_zeros.")


def split(roots: Sequence[Term], limb: int = LIMB) -> list[Limbs]:
    """Return the limbs of each root, over words of at most ``limb`` bits (a power of two)."""
    nodes = operands_first(roots)
    if all(node.width <= limb for node in nodes):
        return [[root] for root in roots]
    splitter, limbs = _Splitter(limb), dict[Term, Limbs]()
    for node in nodes:
        limbs[node] = splitter.split(node, [limbs[arg] for arg in node.args])
    return [limbs[root] for root in roots]


def pieces(variable: Term, limb: int = LIMB) -> Limbs:
    """Return the variables that stand for the limbs of one; itself where it is no wider than a limb."""
    if variable.width <= limb:
        return [variable]
    lows = range(0, variable.width, limb)
    ends = [(min(low + limb, variable.width) - 1, low) for low in lows]
    return [var(f"{variable.data}[{high}:{low}]", high - low + 1) for high, low in ends]


class _Splitter:
    """The translation, into limbs of ``limb`` bits."""

    def __init__(self, limb: int) -> None:
        self.limb = limb
        self.places = limb.bit_length() - 1  # bits of a shift's amount that say how far within a limb

    def split(self, node: Term, args: Sequence[Limbs]) -> Limbs:
        """Return the node's limbs, from its arguments'."""
        if node.width <= self.limb and all(arg.width <= self.limb for arg in node.args):
            return [rebuild(node, [arg[0] for arg in args])]
        return _SPLIT[node.op](self, node, args)

    def widths(self, width: int) -> list[int]:
        """Return the widths of the limbs of a word."""
        full, rest = divmod(width, self.limb)
        return [self.limb] * full + ([rest] if rest else [])

    def zeros(self, width: int) -> Limbs:
        """Return the word 0."""
        return [const(0, part) for part in self.widths(width)]

    def cut(self, parts: Sequence[Term]) -> Limbs:
        """Return adjacent words of any widths, the lowest first, as limbs."""
        result: Limbs = []
        rest: Term | None = None
        for part in parts:
            rest = part if rest is None else self._joined(part, rest, result)
            while rest is not None and rest.width >= self.limb:
                result.append(rest[self.limb - 1 : 0])
                rest = rest[rest.width - 1 : self.limb] if rest.width > self.limb else None
        return [*result, rest] if rest is not None else result

    def _joined(self, upper: Term, lower: Term, result: Limbs) -> Term:
        """Put ``upper`` above ``lower``; a limb that is full goes to ``result``."""
        room = self.limb - lower.width
        if upper.width <= room:
            return upper.concat(lower)
        result.append(upper[room - 1 : 0].concat(lower))
        return upper[upper.width - 1 : room]

    def slice(self, limbs: Limbs, high: int, low: int) -> Limbs:
        """Return bits ``high`` to ``low`` of a word."""
        parts = []
        for number, limb in enumerate(limbs):
            start = number * self.limb
            first, last = max(low - start, 0), min(high - start, limb.width - 1)
            if first <= last:
                parts.append(limb[last:first])
        return self.cut(parts)

    def const(self, node: Term, args: Sequence[Limbs]) -> Limbs:
        value = node.value or 0
        return [const(value >> (place * self.limb), w) for place, w in enumerate(self.widths(node.width))]

    def var(self, node: Term, args: Sequence[Limbs]) -> Limbs:
        return pieces(node, self.limb)

    def bitwise(self, node: Term, args: Sequence[Limbs]) -> Limbs:
        """Compute limb by limb what is computed bit by bit."""
        return [rebuild(node, list(column)) for column in zip(*args, strict=True)]

    def ite(self, node: Term, args: Sequence[Limbs]) -> Limbs:
        (condition,), then, otherwise = args
        return [condition.ite(x, y) for x, y in zip(then, otherwise, strict=True)]

    def add(self, node: Term, args: Sequence[Limbs]) -> Limbs:
        *_, result = sums(args)
        return result

    def neg(self, node: Term, args: Sequence[Limbs]) -> Limbs:
        result, carry = [], TRUE
        for limb in args[0]:
            result.append(~limb + carry.zext(limb.width))
            carry = carry & limb.eq(0)
        return result

    def sub(self, node: Term, args: Sequence[Limbs]) -> Limbs:
        x, y = args
        return _sum(x, [~limb for limb in y], TRUE)

    def mul(self, node: Term, args: Sequence[Limbs]) -> Limbs:
        """Multiply by digits of half a limb: a limb holds a product, and a column's sum of halves."""
        half = self.limb // 2
        x, y = (digits(arg, self.limb) for arg in args)
        if 2 * len(x) >= 1 << half:  # so many halves are in a column, and what is carried into it
            raise ValueError(f"a product of {node.width} bits: too many for limbs of {self.limb}")
        columns: list[list[Term]] = [[const(0, self.limb)] for _ in x]
        for i, limb in enumerate(x):
            for place, other in enumerate(y[: len(x) - i], i):
                product = limb * other
                columns[place].append(product[half - 1 : 0].zext(self.limb))
                if place + 1 < len(x):
                    columns[place + 1].append(product[self.limb - 1 : half].zext(self.limb))
        result, carry = [], const(0, self.limb)
        for column in columns:
            column_sum = total(carry, *column)
            result.append(column_sum[half - 1 : 0])
            carry = column_sum[self.limb - 1 : half].zext(self.limb)
        return self.slice(self.cut(result), node.width - 1, 0)

    def eq(self, node: Term, args: Sequence[Limbs]) -> Limbs:
        return [all_of(x.eq(y) for x, y in zip(*args, strict=True))]

    def ult(self, node: Term, args: Sequence[Limbs]) -> Limbs:
        x, y = args
        return [_less(x, y)]

    def slt(self, node: Term, args: Sequence[Limbs]) -> Limbs:
        """Compare signed words: the top limbs have the signs; below them as unsigned words."""
        (*low_x, x), (*low_y, y) = args
        return [x.slt(y) | (x.eq(y) & _less(low_x, low_y))]

    def umax(self, node: Term, args: Sequence[Limbs]) -> Limbs:
        best = args[0]
        for other in args[1:]:
            less = _less(best, other)
            best = [less.ite(y, x) for x, y in zip(best, other, strict=True)]
        return best

    def zext(self, node: Term, args: Sequence[Limbs]) -> Limbs:
        return self.cut([*args[0], *self.zeros(node.width - node.args[0].width)])

    def sext(self, node: Term, args: Sequence[Limbs]) -> Limbs:
        more = self.widths(node.width - node.args[0].width)
        return self.cut([*args[0], *(_sign(args[0]).sext(width) for width in more)])

    def concat(self, node: Term, args: Sequence[Limbs]) -> Limbs:
        upper, lower = args
        return self.cut([*lower, *upper])

    def extract(self, node: Term, args: Sequence[Limbs]) -> Limbs:
        high, low = node.data  # type: ignore[misc,str-unpack]
        return self.slice(args[0], int(high), int(low))

    def shl(self, node: Term, args: Sequence[Limbs]) -> Limbs:
        limbs, amount = args
        if all(limb.value == 0 for limb in limbs[1:]) and amount[0].value is None:
            return self._placed(limbs, amount)
        return self._shifted(limbs, amount, left=True)

    def lshr(self, node: Term, args: Sequence[Limbs]) -> Limbs:
        limbs, amount = args
        return self._shifted(limbs, amount, left=False)

    def ashr(self, node: Term, args: Sequence[Limbs]) -> Limbs:
        """Shift the complement where the sign bit is set: then zeros that come in are ones."""
        limbs, amount = args
        flips = [_sign(limbs).sext(limb.width) for limb in limbs]
        moved = self._shifted([x ^ flip for x, flip in zip(limbs, flips, strict=True)], amount, left=False)
        return [x ^ flip for x, flip in zip(moved, flips, strict=True)]

    def _shifted(self, limbs: Limbs, amount: Limbs, *, left: bool) -> Limbs:
        """Shift by whole limbs in steps of powers of two, then by bits within limbs."""
        if all(limb.value is not None for limb in amount):
            constant = sum((limb.value or 0) << (place * self.limb) for place, limb in enumerate(amount))
            return self._by_constant(limbs, constant, left)
        low, places = amount[0], self.places
        words = [limb.zext(self.limb) for limb in limbs]
        if not left:
            words.reverse()  # what follows moves to higher places
        count = len(words)
        steps = (count - 1).bit_length()
        for bit in range(steps):
            move, step = low[places + bit], 1 << bit
            words = [move.ite(words[i - step] if i >= step else 0, words[i]) for i in range(count)]
        inside = low[places - 1 : 0].zext(self.limb)
        rest = const(self.limb - 1, self.limb) - inside
        result = []
        for i, word in enumerate(words):
            below = words[i - 1] if i else const(0, self.limb)
            if left:
                result.append((word << inside) | ((below >> 1) >> rest))
            else:
                result.append((word >> inside) | ((below << 1) << rest))
        if not left:
            result.reverse()
        far = low[self.limb - 1 : places + steps].ne(0)
        gone = any_of([far, *(limb.ne(0) for limb in amount[1:])])
        result = [gone.ite(0, limb) for limb in result]
        result[-1] = result[-1][limbs[-1].width - 1 : 0]
        return result

    def _placed(self, limbs: Limbs, amount: Limbs) -> Limbs:
        """Move one limb up: it comes to lie in two neighbouring ones."""
        word, low = limbs[0], amount[0]
        inside = low[self.places - 1 : 0].zext(self.limb)
        lower, upper = word << inside, (word >> 1) >> (const(self.limb - 1, self.limb) - inside)
        near = all_of(limb.eq(0) for limb in amount[1:])
        number = low[self.limb - 1 : self.places]
        here = [near & number.eq(place) for place in range(len(limbs))]
        result = [
            here[place].ite(lower, here[place - 1].ite(upper, 0) if place else const(0, self.limb))
            for place in range(len(limbs))
        ]
        result[-1] = result[-1][limbs[-1].width - 1 : 0]
        return result

    def _by_constant(self, limbs: Limbs, places: int, left: bool) -> Limbs:
        width = sum(limb.width for limb in limbs)
        if places >= width:
            return self.zeros(width)
        if left:
            return self.cut([*self.zeros(places), *self.slice(limbs, width - 1 - places, 0)])
        return self.cut([*self.slice(limbs, width - 1, places), *self.zeros(places)])

    def macro(self, node: Term, args: Sequence[Limbs]) -> Limbs:
        """Count leading zeros by limbs, then within the top one; all ones for 0, as the definition has it."""
        if not str(node.data).startswith(_LEADING):
            raise ValueError(f"{node.data}: not defined on limbs of {self.limb} bits; expand it first")
        width = node.args[0].width
        count = 1 << (len(args[0]) - 1).bit_length()
        words = self.cut([*self.zeros(count * self.limb - width), *args[0]])
        step, zeros = count // 2, []
        while step:
            clear = all_of(word.eq(0) for word in words[count - step :])
            words = [clear.ite(words[i - step] if i >= step else 0, words[i]) for i in range(count)]
            zeros.append(clear)
            step //= 2
        _, inside = leading_zeros(words[-1])
        if str(node.data).startswith("leading_zeros."):
            for bit in reversed(zeros):
                inside = bit.concat(inside)
            return [inside]
        amount = inside.zext(self.limb)
        rest = const(self.limb - 1, self.limb) - amount
        pairs = zip([const(0, self.limb), *words[:-1]], words, strict=True)
        moved = [(word << amount) | ((below >> 1) >> rest) for below, word in pairs]
        return self.slice(moved, count * self.limb - 1, count * self.limb - width)


def _sign(limbs: Limbs) -> Term:
    return limbs[-1][limbs[-1].width - 1]


def _less(x: Limbs, y: Limbs) -> Term:
    """Return 1 if x < y, unsigned."""
    less = FALSE
    for x_limb, y_limb in zip(x, y, strict=True):
        less = x_limb.ult(y_limb) | (x_limb.eq(y_limb) & less)
    return less


def digits(limbs: Limbs, limb: int) -> list[Term]:
    """Return the halves of every limb, each with a limb's width."""
    half = limb // 2
    words = [word.zext(limb) for word in limbs]
    halves = [word[high:low] for word in words for high, low in ((half - 1, 0), (limb - 1, half))]
    if limbs[-1].width <= half:
        halves.pop()
    return [digit.zext(limb) for digit in halves]


def sums(words: Sequence[Limbs]) -> Iterator[Limbs]:
    """Yield the sum of two words and more, after each addend."""
    result = words[0]
    for other in words[1:]:
        result = _sum(result, other, FALSE)
        yield result


def _sum(x: Limbs, y: Limbs, carry: Term) -> Limbs:
    result: Limbs = []
    for a, b in zip(x, y, strict=True):
        half = a + b
        column_sum = half + carry.zext(a.width)
        carry = half.ult(a) | column_sum.ult(half)
        result.append(column_sum)
    return result


#: For every operation, how its words become limbs.
_SPLIT: dict[str, Callable[[_Splitter, Term, Sequence[Limbs]], Limbs]] = {
    "const": _Splitter.const,
    "var": _Splitter.var,
    "not": _Splitter.bitwise,
    "and": _Splitter.bitwise,
    "or": _Splitter.bitwise,
    "xor": _Splitter.bitwise,
    "neg": _Splitter.neg,
    "add": _Splitter.add,
    "sub": _Splitter.sub,
    "mul": _Splitter.mul,
    "shl": _Splitter.shl,
    "lshr": _Splitter.lshr,
    "ashr": _Splitter.ashr,
    "concat": _Splitter.concat,
    "extract": _Splitter.extract,
    "zext": _Splitter.zext,
    "sext": _Splitter.sext,
    "ite": _Splitter.ite,
    "eq": _Splitter.eq,
    "ult": _Splitter.ult,
    "slt": _Splitter.slt,
    "umax": _Splitter.umax,
    "macro": _Splitter.macro,
}
