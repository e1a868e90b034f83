"""The meaning of LLVM IR's operations on words, and where their results are undefined."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from tcsmt.language.graphs.bounds import Bounds
from tcsmt.language.macros import leading_zeros
from tcsmt.language.terms import FALSE, TRUE, Term, const, total


class NotSupported(Exception):
    """An operation that terms cannot say."""


@dataclass(frozen=True)
class OperationResult:
    """A word, and the truth values of what has no result. also: a second word, where there are two."""

    value: Term
    faults: tuple[tuple[str, Term], ...] = ()
    also: Term | None = None


_OVERFLOW = "signed overflow"
_WRAP = "an unsigned result that does not fit"
_SHIFT = "a shift by the width of the word, or more"


def _add(x: Term, y: Term, flags: Collection[str]) -> OperationResult:
    value, faults = x + y, []
    if "nsw" in flags:
        faults.append((_OVERFLOW, _beyond(x, y, lambda a, b: a + b) & _signed_carry(x, y, value)))
    if "nuw" in flags:
        faults.append((_WRAP, value.ult(x)))
    return OperationResult(value, tuple(faults))


def _sub(x: Term, y: Term, flags: Collection[str]) -> OperationResult:
    value, faults = x - y, []
    if "nsw" in flags:
        faults.append((_OVERFLOW, _beyond(x, y, lambda a, b: a - b) & _signed_borrow(x, y, value)))
    if "nuw" in flags:
        faults.append((_WRAP, x.ult(y)))
    return OperationResult(value, tuple(faults))


def _mul(x: Term, y: Term, flags: Collection[str]) -> OperationResult:
    faults = []
    if "nsw" in flags:
        faults.append((_OVERFLOW, _beyond(x, y, lambda a, b: a * b) & _too_wide(x, y, signed=True)))
    if "nuw" in flags:
        faults.append((_WRAP, _too_wide(x, y, signed=False)))
    return OperationResult(x * y, tuple(faults))


def _beyond(x: Term, y: Term, operation: Callable[[int, int], int]) -> Term:
    """Return 1 where a signed result does not fit; 0 where the operands' intervals show that it does."""
    bounds = Bounds()
    ends = [operation(a, b) for a in bounds.signed(x) for b in bounds.signed(y)]
    half = 1 << (x.width - 1)
    return FALSE if -half <= min(ends) and max(ends) < half else TRUE


def _signed_carry(x: Term, y: Term, value: Term) -> Term:
    # a sum overflows where both operands have the sign that it has not
    return ((x ^ value) & (y ^ value))[x.width - 1]


def _signed_borrow(x: Term, y: Term, value: Term) -> Term:
    # a difference overflows where the operands' signs differ, and it has not the first one's
    return ((x ^ y) & (x ^ value))[x.width - 1]


def _too_wide(x: Term, y: Term, *, signed: bool) -> Term:
    """Return whether a product needs more bits than its factors have."""
    width = x.width
    if not signed:
        return (x.zext(2 * width) * y.zext(2 * width))[2 * width - 1 : width].ne(0)
    product = x.sext(2 * width) * y.sext(2 * width)
    return product.ne(product[width - 1 : 0].sext(2 * width))


def _shifted(x: Term, y: Term, value: Term, back: Term | None) -> OperationResult:
    """back: what has to be x again, where nothing may be lost."""
    # poison by LLVM's Language Reference; no fault is noted where the amount's range rules it out
    faults = [(_SHIFT, ~y.ult(x.width))] if Bounds().unsigned(y)[1] >= x.width else []
    if back is not None:
        faults.append(("a shift that loses bits", back.ne(x)))
    return OperationResult(value, tuple(faults))


def _shl(x: Term, y: Term, flags: Collection[str]) -> OperationResult:
    value = x << y
    result = _shifted(x, y, value, value >> y if "nuw" in flags else None)
    if "nsw" in flags:
        return OperationResult(value, (*result.faults, ("a shift that loses bits", value.ashr(y).ne(x))))
    return result


def _lshr(x: Term, y: Term, flags: Collection[str]) -> OperationResult:
    return _shifted(x, y, x >> y, (x >> y) << y if "exact" in flags else None)


def _ashr(x: Term, y: Term, flags: Collection[str]) -> OperationResult:
    return _shifted(x, y, x.ashr(y), x.ashr(y) << y if "exact" in flags else None)


def _power(y: Term) -> int:
    """Return which power of two a divisor is. Raises NotSupported."""
    value = y.value
    if value is None or value <= 0 or value & (value - 1) or value >> (y.width - 1):
        raise NotSupported("a division by anything but a power of two is not supported")
    return value.bit_length() - 1


def _udiv(x: Term, y: Term, flags: Collection[str]) -> OperationResult:
    return (
        OperationResult(x >> _power(y))
        if "exact" not in flags
        else _lshr(x, const(_power(y), x.width), flags)
    )


def _urem(x: Term, y: Term, flags: Collection[str]) -> OperationResult:
    _power(y)
    return OperationResult(x & (y - 1))


def _sdiv(x: Term, y: Term, flags: Collection[str]) -> OperationResult:
    places = _power(y)
    rounded = x[x.width - 1].ite(x + (y - 1), x)  # toward zero
    faults = (("a division with a remainder", (x & (y - 1)).ne(0)),) if "exact" in flags else ()
    return OperationResult(rounded.ashr(places), faults)


def _srem(x: Term, y: Term, flags: Collection[str]) -> OperationResult:
    places = _power(y)
    return OperationResult(x - (_sdiv(x, y, ()).value << places))


#: Of two words of one width, and flags.
BINARY: dict[str, Callable[[Term, Term, Collection[str]], OperationResult]] = {
    "add": _add,
    "sub": _sub,
    "mul": _mul,
    "shl": _shl,
    "lshr": _lshr,
    "ashr": _ashr,
    "udiv": _udiv,
    "urem": _urem,
    "sdiv": _sdiv,
    "srem": _srem,
    "and": lambda x, y, flags: OperationResult(x & y),
    "or": lambda x, y, flags: OperationResult(
        x | y, (("common bits", (x & y).ne(0)),) if "disjoint" in flags else ()
    ),
    "xor": lambda x, y, flags: OperationResult(x ^ y),
}

#: Of icmp.
PREDICATES: dict[str, Callable[[Term, Term], Term]] = {
    "eq": lambda x, y: x.eq(y),
    "ne": lambda x, y: x.ne(y),
    "ult": lambda x, y: x.ult(y),
    "ule": lambda x, y: x.ule(y),
    "ugt": lambda x, y: y.ult(x),
    "uge": lambda x, y: y.ule(x),
    "slt": lambda x, y: x.slt(y),
    "sle": lambda x, y: x.sle(y),
    "sgt": lambda x, y: y.slt(x),
    "sge": lambda x, y: y.sle(x),
}


def _ctlz(words: Sequence[Term]) -> OperationResult:
    x, undefined_at_zero = words
    zeros = leading_zeros(x)[1].zext(x.width)
    value = x.eq(0).ite(const(x.width, x.width), zeros)
    return OperationResult(value, (("the leading zeros of 0", undefined_at_zero & x.eq(0)),))


def _cttz(words: Sequence[Term]) -> OperationResult:
    x, undefined_at_zero = words
    lowest = x & -x  # the lowest 1 alone, whose leading zeros say where it is
    zeros = const(x.width - 1, x.width) - leading_zeros(lowest)[1].zext(x.width)
    value = x.eq(0).ite(const(x.width, x.width), zeros)
    return OperationResult(value, (("the trailing zeros of 0", undefined_at_zero & x.eq(0)),))


def _ctpop(words: Sequence[Term]) -> OperationResult:
    (x,) = words
    return OperationResult(total(*(x[place].zext(x.width) for place in range(x.width))))


def _bswap(words: Sequence[Term]) -> OperationResult:
    (x,) = words
    value = x[7:0]
    for low in range(8, x.width, 8):
        value = value.concat(x[low + 7 : low])
    return OperationResult(value)


def _abs(words: Sequence[Term]) -> OperationResult:
    x, undefined = words
    least = x.eq(1 << (x.width - 1))  # it has no opposite: itself, or poison where the flag says so
    return OperationResult(x[x.width - 1].ite(-x, x), ((_OVERFLOW, undefined & least),))


def _funnel(left: bool) -> Callable[[Sequence[Term]], OperationResult]:
    def shift(words: Sequence[Term]) -> OperationResult:
        high, low, amount = words
        width = high.width
        if width & (width - 1):  # the amount counts modulo the width: of a power of two, its low bits
            raise NotSupported(f"a rotation of {width} bits is not supported")
        by = (amount & (width - 1)).zext(2 * width)
        joined_words = high.concat(low)
        return OperationResult(
            (joined_words << by)[2 * width - 1 : width] if left else (joined_words >> by)[width - 1 : 0]
        )

    return shift


def _with_overflow(kind: str, *, signed: bool) -> Callable[[Sequence[Term]], OperationResult]:
    def both(words: Sequence[Term]) -> OperationResult:
        x, y = words
        if kind == "mul":
            return OperationResult(x * y, also=_too_wide(x, y, signed=signed))
        if kind == "add":
            value = x + y
            # an unsigned sum has wrapped exactly where it is less than an operand
            return OperationResult(value, also=_signed_carry(x, y, value) if signed else value.ult(x))
        value = x - y
        return OperationResult(value, also=_signed_borrow(x, y, value) if signed else x.ult(y))

    return both


def _saturating(words: Sequence[Term], *, add: bool) -> OperationResult:
    x, y = words
    if add:
        return OperationResult((x + y).ult(x).ite(const(-1, x.width), x + y))
    return OperationResult(x.ult(y).ite(const(0, x.width), x - y))


#: By the name between ``llvm.`` and the type.
INTRINSICS: dict[str, Callable[[Sequence[Term]], OperationResult]] = {
    "ctlz": _ctlz,
    "cttz": _cttz,
    "ctpop": _ctpop,
    "bswap": _bswap,
    "abs": _abs,
    "expect": lambda words: OperationResult(words[0]),
    "fshl": _funnel(left=True),
    "fshr": _funnel(left=False),
    "smax": lambda words: OperationResult(words[0].slt(words[1]).ite(words[1], words[0])),
    "smin": lambda words: OperationResult(words[0].slt(words[1]).ite(words[0], words[1])),
    "umax": lambda words: OperationResult(words[0].ult(words[1]).ite(words[1], words[0])),
    "umin": lambda words: OperationResult(words[0].ult(words[1]).ite(words[0], words[1])),
    "uadd.sat": lambda words: _saturating(words, add=True),
    "usub.sat": lambda words: _saturating(words, add=False),
    **{
        f"{sign}{kind}.with.overflow": _with_overflow(kind, signed=sign == "s")
        for sign in "su"
        for kind in ("add", "sub", "mul")
    },
}
