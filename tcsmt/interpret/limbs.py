"""Wide words as several words of 64 bits, so that machines compute on them.

A term-to-term translation: every word wider than 64 bits becomes limbs, the lowest first, the last
one as wide as what remains. Interpretations that know only 64 bits then take graphs of any width.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tcsmt.datapath import leading_zeros
from tcsmt.terms import FALSE, TRUE, Term, all_of, any_of, const, expand, operands_first, rebuild, umax

__all__ = ["fitted", "split"]

#: Bits of a limb.
LIMB = 64

Limbs = list[Term]


def fitted(roots: Sequence[Term], native: Callable[[str], bool]) -> list[Term]:
    """``roots`` with macros that are not native expanded and, where that can be, no wide words."""
    kept = expand(roots, lambda name: native(name) or name.startswith(_LEADING))
    if max(root.width for root in kept) <= LIMB < max(node.width for node in operands_first(kept)):
        kept = split(kept) or kept
    return expand(kept, native)


_LEADING = ("normalised.", "leading_zeros.")


def split(roots: Sequence[Term]) -> list[Term] | None:
    """``roots`` (at most 64 bits wide) over words of at most 64 bits; None where an operation cannot be."""
    limbs: dict[Term, Limbs] = {}
    for node in operands_first(roots):
        if node.width <= LIMB and all(arg.width <= LIMB for arg in node.args):
            limbs[node] = [rebuild(node, [limbs[arg][0] for arg in node.args])]
        elif node.op in _SPLIT:
            limbs[node] = _SPLIT[node.op](node, [limbs[arg] for arg in node.args])
        elif node.op == "macro" and str(node.data).startswith(_LEADING):
            limbs[node] = _leading(node, limbs[node.args[0]])
        else:
            return None
    return [limbs[root][0] for root in roots]


def _widths(width: int) -> list[int]:
    whole, rest = divmod(width, LIMB)
    return [LIMB] * whole + ([rest] if rest else [])


def _cut(parts: Sequence[Term]) -> Limbs:
    """Adjacent words of any widths, the lowest first, as limbs."""
    found: Limbs = []
    rest: Term | None = None
    for part in parts:
        rest = part if rest is None else _joined(part, rest, found)
        while rest is not None and rest.width >= LIMB:
            found.append(rest[LIMB - 1 : 0])
            rest = rest[rest.width - 1 : LIMB] if rest.width > LIMB else None
    return [*found, rest] if rest is not None else found


def _joined(upper: Term, lower: Term, found: Limbs) -> Term | None:
    """``upper`` above ``lower``; a limb that is full goes to ``found``."""
    room = LIMB - lower.width
    if upper.width <= room:
        return upper.concat(lower)
    found.append(upper[room - 1 : 0].concat(lower))
    return upper[upper.width - 1 : room]


def _slice(limbs: Limbs, high: int, low: int) -> Limbs:
    parts = []
    for number, limb in enumerate(limbs):
        first, last = max(low - number * LIMB, 0), min(high - number * LIMB, limb.width - 1)
        if first <= last:
            parts.append(limb[last:first])
    return _cut(parts)


def _const(node: Term, _: Sequence[Limbs]) -> Limbs:
    value = node.value or 0
    return [const(value >> (place * LIMB), width) for place, width in enumerate(_widths(node.width))]


def _each(node: Term, args: Sequence[Limbs]) -> Limbs:
    """Bit by bit, so limb by limb."""
    return [rebuild(node, list(column)) for column in zip(*args, strict=True)]


def _ite(node: Term, args: Sequence[Limbs]) -> Limbs:
    (condition,), then, otherwise = args
    return [condition.ite(x, y) for x, y in zip(then, otherwise, strict=True)]


def _add(node: Term, args: Sequence[Limbs]) -> Limbs:
    total = args[0]
    for other in args[1:]:
        total = _sum(total, other, FALSE)
    return total


def _sum(x: Limbs, y: Limbs, carry: Term) -> Limbs:
    found: Limbs = []
    for a, b in zip(x, y, strict=True):
        half = a + b
        whole = half + carry.zext(a.width)
        carry = half.ult(a) | whole.ult(half)
        found.append(whole)
    return found


def _negated(node: Term, args: Sequence[Limbs]) -> Limbs:
    found, carry = [], TRUE
    for limb in args[0]:
        found.append(~limb + carry.zext(limb.width))
        carry = carry & limb.eq(0)
    return found


def _sub(node: Term, args: Sequence[Limbs]) -> Limbs:
    x, y = args
    return _sum(x, [~limb for limb in y], TRUE)


def _eq(node: Term, args: Sequence[Limbs]) -> Limbs:
    return [all_of(x.eq(y) for x, y in zip(*args, strict=True))]


def _ult(node: Term, args: Sequence[Limbs]) -> Limbs:
    less = FALSE
    for x, y in zip(*args, strict=True):
        less = x.ult(y) | (x.eq(y) & less)
    return [less]


def _umax(node: Term, args: Sequence[Limbs]) -> Limbs:
    if node.width <= LIMB:
        return [umax(*(arg[0] for arg in args))]
    best = args[0]
    for other in args[1:]:
        (less,) = _ult(node, [best, other])
        best = [less.ite(y, x) for x, y in zip(best, other, strict=True)]
    return best


def _zext(node: Term, args: Sequence[Limbs]) -> Limbs:
    return _cut([*args[0], *_zeros(node.width - node.args[0].width)])


def _sext(node: Term, args: Sequence[Limbs]) -> Limbs:
    limbs = args[0]
    sign = limbs[-1][limbs[-1].width - 1]
    more = [sign.sext(width) for width in _widths(node.width - node.args[0].width)]
    return _cut([*limbs, *more])


def _zeros(width: int) -> Limbs:
    return [const(0, part) for part in _widths(width)]


def _concat(node: Term, args: Sequence[Limbs]) -> Limbs:
    upper, lower = args
    return _cut([*lower, *upper])


def _extract(node: Term, args: Sequence[Limbs]) -> Limbs:
    high, low = node.data  # type: ignore[misc,str-unpack]
    return _slice(args[0], int(high), int(low))


def _shift(node: Term, args: Sequence[Limbs]) -> Limbs:
    """By whole limbs in steps of powers of two, then by bits within limbs."""
    limbs, amount = args
    left = node.op == "shl"
    width = node.width
    known = amount[0].value if all(limb.value is not None for limb in amount) else None
    if known is not None and not any(limb.value for limb in amount[1:]):
        return _by_constant(limbs, width, int(known), left)
    low = amount[0]
    if left and low.width > 6 and all(limb.value == 0 for limb in limbs[1:]):
        return _placed(limbs, amount)
    words = [limb.zext(LIMB) for limb in limbs]
    if not left:
        words.reverse()  # what follows moves to higher places
    count = len(words)
    bits = (count - 1).bit_length()
    for bit in range(bits):
        move = low[6 + bit] if low.width > 6 + bit else FALSE
        step = 1 << bit
        words = [move.ite(words[i - step] if i >= step else 0, words[i]) for i in range(count)]
    inside = low[min(5, low.width - 1) : 0].zext(LIMB)
    rest = const(LIMB - 1, LIMB) - inside
    found = []
    for i, word in enumerate(words):
        below = words[i - 1] if i else const(0, LIMB)
        if left:
            found.append((word << inside) | ((below >> 1) >> rest))
        else:
            found.append((word >> inside) | ((below << 1) << rest))
    if not left:
        found.reverse()
    far = [low[low.width - 1 : 6 + bits].ne(0)] if low.width > 6 + bits else []
    gone = any_of([*far, *(limb.ne(0) for limb in amount[1:])])
    found = [gone.ite(0, limb) for limb in found]
    found[-1] = found[-1][limbs[-1].width - 1 : 0]
    return found


def _placed(limbs: Limbs, amount: Limbs) -> Limbs:
    """One limb moved up: it comes to lie in two neighbouring ones."""
    word, low = limbs[0], amount[0]
    inside = low[5:0].zext(LIMB)
    lower, upper = word << inside, (word >> 1) >> (const(LIMB - 1, LIMB) - inside)
    near = all_of(limb.eq(0) for limb in amount[1:])
    number = low[low.width - 1 : 6]
    here = [near & number.eq(place) if place >> number.width == 0 else FALSE for place in range(len(limbs))]
    found = [
        here[place].ite(lower, here[place - 1].ite(upper, 0) if place else const(0, LIMB))
        for place in range(len(limbs))
    ]
    found[-1] = found[-1][limbs[-1].width - 1 : 0]
    return found


def _by_constant(limbs: Limbs, width: int, places: int, left: bool) -> Limbs:
    if places >= width:
        return _zeros(width)
    if left:
        return _cut([*_zeros(places), *_slice(limbs, width - 1 - places, 0)])
    return _cut([*_slice(limbs, width - 1, places), *_zeros(places)])


def _leading(node: Term, limbs: Limbs) -> Limbs:
    """Leading zeros by limbs, then within the top one; all ones for 0, as the definition has it."""
    width = node.args[0].width
    count = 1 << (len(limbs) - 1).bit_length()
    words = _cut([*_zeros(count * LIMB - width), *limbs])
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
    amount = inside.zext(LIMB)
    rest = const(LIMB - 1, LIMB) - amount
    pairs = zip([const(0, LIMB), *words[:-1]], words, strict=True)
    moved = [(word << amount) | ((below >> 1) >> rest) for below, word in pairs]
    return _slice(moved, count * LIMB - 1, count * LIMB - width)


_SPLIT: dict[str, Callable[[Term, Sequence[Limbs]], Limbs]] = {
    "const": _const,
    "not": _each,
    "and": _each,
    "or": _each,
    "xor": _each,
    "ite": _ite,
    "add": _add,
    "neg": _negated,
    "sub": _sub,
    "eq": _eq,
    "ult": _ult,
    "umax": _umax,
    "zext": _zext,
    "sext": _sext,
    "concat": _concat,
    "extract": _extract,
    "shl": _shift,
    "lshr": _shift,
}
