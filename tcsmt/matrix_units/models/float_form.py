"""A fused dot-add in the operations of binary32 that processors have: another graph of the same words.

Operands are converted to binary32, where their products are exact. Each operand has an *exponent word* beside
it, such that the sum of two of them is the product's exponent, counted as binary32 does; with a zero it is
below every other product's, and with a NaN or an infinity above. The largest of these sums and of c's field
is the grid. Multiplied by 2^(F - grid), what a term keeps is its integer part, and integers are summed.

Nothing here is trusted: a form is used where it is proved to be equal to the model's graph
(:mod:`.proved_forms`). :func:`float_form` is the one place that reads a model's parameters.
"""

from __future__ import annotations

from dataclasses import dataclass

from tcsmt.language.terms import Term, const, total, umax
from tcsmt.matrix_units.arithmetic import datapath as dp
from tcsmt.matrix_units.arithmetic import native
from tcsmt.matrix_units.arithmetic.formats import FORMATS, Format
from tcsmt.matrix_units.arithmetic.ieee import widen
from tcsmt.matrix_units.models.base import Model
from tcsmt.matrix_units.models.fused import FusedDotAdd

__all__ = ["FloatForm", "LaneOfForm", "float_form"]

_WIDE = FORMATS["f32"]
_WIDTH, _FRACTION, _BIAS = _WIDE.width, _WIDE.fraction_bits, _WIDE.bias
#: Bits of an exponent word; that of a NaN or an infinity, above every sum of two others.
_EXPONENT_WORD, _SPECIAL = 16, 1 << 14
#: How much more exponents are where some would be negative otherwise.
_OTHER_BIAS = 1 << 10
#: Of a model in a form's reach, the parameters that have to be as usual.
_USUAL = {
    "order": None, "operand_format": None, "products": "unnormalised", "alignment_sticky": False,
    "alignment_complement": False, "carry_bits": None, "normalisation": "once", "c_position": "aligned",
    "scale_format": None, "group": 1, "group_fraction_bits": None, "zero_c": "zero_exponent",
    "c_exponent_offset": 0, "c_dropped_above": None, "c_enters": "always", "rounded_format": None,
    "flush_inputs": False, "flush_c": False, "flush_outputs": False, "subnormal_results": "rounded",
    "negative_zero": False,
}  # fmt: skip


@dataclass(frozen=True)
class LaneOfForm:
    """One product: both factors in binary32, their exponent words' sum, the product, and what is summed."""

    factors: tuple[Term, Term]
    exponent: Term
    product: Term
    aligned: Term


@dataclass(frozen=True)
class FloatForm:
    """The graph of a form, stage by stage. Where ``guard`` is 1, it says nothing.

    bias: exponents are counted from it, plus binary32's own. least: of the exponents of products that are not
    zero. floor, limit: grids up to the one, if it is more than ``least``, and from the other on are left to
    the model. top: the grid, at least ``floor``. scale: 2^(F - grid). groups: sums of as many lanes each,
    which fit; totals: of the first group, of two, and so on. losses: of each total but the first, and of
    ``sum``, a word whose first bit is 1 where it does not fit; overflow: all of them, and whether ``sum`` is
    -2^31; None: every sum fits. counted: the result where some product is not zero. c_alone: where every one
    is.
    """

    lanes: tuple[LaneOfForm, ...]
    c_field: Term
    largest_product: Term
    top: Term
    scale: Term
    groups: tuple[Term, ...]
    totals: tuple[Term, ...]
    aligned_c: Term
    sum: Term
    losses: tuple[Term, ...]
    overflow: Term | None
    counted: Term
    c_alone: Term
    guard: Term
    result: Term
    bias: int
    least: int
    floor: int
    limit: int

    @property
    def counts(self) -> Term:
        """Whether some product is not zero."""
        return ~self.largest_product.ult(self.least)


def float_form(model: Model) -> FloatForm | None:
    """The form of a model, or None where there is none (yet)."""
    if not isinstance(model, FusedDotAdd) or model.lanes.n_fma != model.k:
        return None
    a, b = model.factor_formats
    p = model.parameters
    usual = all(getattr(p, name) == value for name, value in _USUAL.items())
    if not (usual and p.alignment.truncates and p.rounding.truncates):
        return None
    if not (model.c_format == model.d_format == _WIDE and _exact_products(a, b)):
        return None
    numbers = _numbers(model, a, b)
    return None if numbers is None else _form(model, numbers)


def _exact_products(a: Format, b: Format) -> bool:
    """Whether every product of two numbers is one of binary32, if that had more exponents."""
    return a.signed and b.signed and a.precision + b.precision <= _WIDE.precision


def _normal_products(a: Format, b: Format) -> bool:
    """Whether no exact product is too small or too large for binary32."""
    smallest = sum(fmt.e_min - fmt.fraction_bits for fmt in (a, b))
    largest = sum(fmt.e_max + 1 for fmt in (a, b))
    return smallest >= _WIDE.e_min and largest <= _WIDE.e_max


@dataclass(frozen=True)
class _Numbers:
    """The numbers that a form is made of; :class:`FloatForm` says what some of them are.

    formats, offsets: of a and b; how much more their exponent words are than their exponents' fields.
    exact: whether every sum is a number of binary32. rounded: fraction bits of the result.
    """

    fraction_bits: int
    formats: tuple[Format, Format]
    offsets: tuple[int, int]
    bias: int
    least: int
    floor: int
    limit: int
    exact: bool
    groups: int
    rounded: int


def _numbers(model: FusedDotAdd, a: Format, b: Format) -> _Numbers | None:
    """Of a model whose products are exact; None where a sum or an exponent does not fit."""
    fraction_bits = model.sum.fraction_bits
    normal = _normal_products(a, b)
    bias = 0 if normal else _OTHER_BIAS
    whole = _BIAS - a.bias - b.bias + bias
    offsets, least = (whole // 2, whole - whole // 2), 2 + whole
    # on a larger grid, nothing is left of a product that is too small for binary32
    floor = least if normal else bias + fraction_bits + 4
    # a zero's exponent word is 0: with any other, it is below the least of a product
    apart = all(
        0 < offset < least - fmt.e_max - fmt.bias for fmt, offset in zip((a, b), offsets, strict=True)
    )
    places = fraction_bits - a.fraction_bits - b.fraction_bits
    product = ((2 << a.fraction_bits) - 1) * ((2 << b.fraction_bits) - 1)
    products = model.k * (product << places if places >= 0 else product >> -places)
    bits = (products + (2 << fraction_bits)).bit_length()
    fitting = (n for n in range(1, model.k + 1) if model.k % n == 0 and products // n < 1 << (_WIDTH - 1))
    groups = next(fitting, 0)
    if not apart or not groups or floor <= bias + fraction_bits:
        return None
    exact = bits <= _WIDE.precision
    # no sum on a grid below the limit is too large for binary32
    limit = bias + 2 * _BIAS + 1 + fraction_bits - (bits if exact else _WIDTH)
    rounded = model.final.precision.round_fraction_bits or _FRACTION
    return _Numbers(fraction_bits, (a, b), offsets, bias, least, floor, limit, exact, groups, rounded)


def _form(model: FusedDotAdd, n: _Numbers) -> FloatForm:
    words = model.trace
    c = words.c
    pairs = list(zip(words.a, words.b, strict=True))
    exponents = [total(*map(_exponent_word, n.formats, pair, n.offsets)) for pair in pairs]
    largest_product = umax(*exponents)
    c_field = c[_WIDTH - 2 : _FRACTION]
    top = umax(largest_product.zext(_WIDTH), c_field.zext(_WIDTH) + n.bias, const(n.floor, _WIDTH))
    scale = (const(2 * _BIAS + n.fraction_bits + n.bias, _WIDTH) - top) << _FRACTION
    lanes = []
    for pair, exponent in zip(pairs, exponents, strict=True):
        x, y = (widen(word, fmt, _WIDE) for word, fmt in zip(pair, n.formats, strict=True))
        product = native.multiply(x, y)
        lanes.append(LaneOfForm((x, y), exponent, product, _on_grid(product, scale)))
    aligned, size = [lane.aligned for lane in lanes], len(lanes) // n.groups
    groups = [total(*aligned[first : first + size]) for first in range(0, len(lanes), size)]
    totals, losses = groups[:1], []
    for group in groups[1:]:
        totals.append(totals[-1] + group)
        losses.append(_lost(totals[-1], totals[-2], group))
    aligned_c = _on_grid(c, scale)
    whole = totals[-1] + aligned_c
    guard, overflow = ~top.ult(n.limit), None
    if n.floor > n.least:
        guard |= ~largest_product.ult(n.least) & top.ule(n.floor)
    if not n.exact:
        losses.append(_lost(whole, totals[-1], aligned_c))
        overflow = _size(whole)
        for loss in losses:
            overflow |= loss
        guard |= overflow[_WIDTH - 1]
    number = native.from_integer(whole) if n.exact else _truncated(whole)
    counted = _cut(native.multiply(number, (top - n.fraction_bits - n.bias) << _FRACTION), n.rounded)
    c_alone = _cut(c, min(n.rounded, n.fraction_bits))
    c_alone = c_alone.eq(1 << (_WIDTH - 1)).ite(0, c_alone)
    return FloatForm(
        lanes=tuple(lanes),
        c_field=c_field,
        largest_product=largest_product,
        top=top,
        scale=scale,
        groups=tuple(groups),
        totals=tuple(totals),
        aligned_c=aligned_c,
        sum=whole,
        losses=tuple(losses),
        overflow=overflow,
        counted=counted,
        c_alone=c_alone,
        guard=guard,
        result=largest_product.ult(n.least).ite(c_alone, counted),
        bias=n.bias,
        least=n.least,
        floor=n.floor,
        limit=n.limit,
    )


def _lost(whole: Term, one: Term, other: Term) -> Term:
    """A word of which the first bit is 1 where the sum of two does not fit."""
    return (one ^ whole) & (other ^ whole)


def _on_grid(number: Term, scale: Term) -> Term:
    """What is left of a number of binary32 in units of the grid."""
    return native.to_integer(native.multiply(number, scale))


def _exponent_word(fmt: Format, word: Term, offset: int) -> Term:
    number = dp.decode(fmt, word)
    counted = number.exponent.within(1 - offset - fmt.bias, fmt.e_max + 1)
    usual = number.zero.ite(const(0, _EXPONENT_WORD), _to_width(counted, _EXPONENT_WORD) + 1)
    return (number.nan | number.infinite).ite(const(_SPECIAL, _EXPONENT_WORD), usual)


def _to_width(word: Term, width: int) -> Term:
    return word.zext(max(width, word.width))[width - 1 : 0]


def _size(word: Term) -> Term:
    return word[_WIDTH - 1].ite(-word, word)


def _truncated(whole: Term) -> Term:
    """An integer as a binary32 number, rounded toward zero by a conversion that rounds to nearest.

    What lies 24 places or more below the leading bit is lost. The first of these bits is cleared where it
    is 1, as the leading bit, 24 places lower, is there; so what is lost is less than a half.
    """
    size = _size(whole)
    number = native.from_integer(size & ~(size >> _WIDE.precision))
    return number | (whole & (1 << (_WIDTH - 1)))


def _cut(word: Term, fraction_bits: int) -> Term:
    """Without the fraction's last bits."""
    lost = _FRACTION - fraction_bits
    return word & ~const((1 << lost) - 1, _WIDTH) if lost else word
