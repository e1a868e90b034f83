"""A fused dot-add in the operations of binary32 that processors have: another graph of the same words.

Operands are converted to binary32, where their products are exact. Each operand has an *exponent word* beside
it, such that the sum of two of them is the product's exponent, counted as binary32 does; with a zero it is
below every other product's, and with a NaN or an infinity above. The largest of these sums and of c's field
is the grid. Multiplied by 2^(F - grid), what a term keeps is its integer part, and integers are summed.

Nothing here is trusted: a form is used where it is proved to be equal to the model's graph
(:mod:`.proved_forms`). :func:`float_form` is the one place that reads a model's parameters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tcsmt.language.terms import Term, const, total, umax, var
from tcsmt.matrix_units.arithmetic import datapath as dp
from tcsmt.matrix_units.arithmetic import native
from tcsmt.matrix_units.arithmetic.formats import FORMATS, Format, Specials
from tcsmt.matrix_units.arithmetic.ieee import widen
from tcsmt.matrix_units.models.base import Model
from tcsmt.matrix_units.models.fused import FusedDotAdd
from tcsmt.matrix_units.models.fused_parts import CLast, ScaledProducts

__all__ = ["FloatForm", "LaneOfForm", "LastAdditionForm", "float_form", "last_addition_form", "obstacle"]

_WIDE = FORMATS["f32"]
_WIDTH, _FRACTION, _BIAS = _WIDE.width, _WIDE.fraction_bits, _WIDE.bias
#: Bits of an exponent word; that of a NaN or an infinity, above every sum of others; that of a scale's NaN.
_EXPONENT_WORD, _SPECIAL, _SPECIAL_SCALE = 16, 1 << 14, 1 << 13
#: Fraction bits of results that are rounded to nearest: fewer than this. Of a sum that is no number of
#: binary32, so many last bits are of no account, but for whether one is 1.
_SHORT, _BEYOND = 15, 8
#: How much more exponents are where some would be negative otherwise; where there are scales.
_OTHER_BIAS, _SCALED_BIAS = 1 << 10, 1 << 11
#: Of a model in a form's reach, the parameters that have to be as usual.
_USUAL = {
    "order": None, "products": "unnormalised", "alignment_sticky": False,
    "alignment_complement": False, "carry_bits": None, "normalisation": "once", "c_position": "aligned",
    "group": 1, "group_fraction_bits": None, "zero_c": "zero_exponent",
    "c_exponent_offset": 0, "c_dropped_above": None, "c_enters": "always", "rounded_format": None,
    "flush_inputs": False, "flush_c": False, "flush_outputs": False, "subnormal_results": "rounded",
    "negative_zero": False,
}  # fmt: skip


@dataclass(frozen=True)
class LaneOfForm:
    """One product: both factors in binary32, the sum of their exponent words and its scales', the product, by
    what it is multiplied to be on the grid, and what is summed.
    """

    factors: tuple[Term, Term]
    exponent: Term
    product: Term
    scale: Term
    aligned: Term


@dataclass(frozen=True)
class FloatForm:
    """The graph of a form, stage by stage. Where ``guard`` is 1, it says nothing.

    c: in binary32. c_field: its exponent word; c_exponent: its exponent, counted as grids are.
    bias: exponents are counted from it, plus binary32's own. least: of the exponents of products that are not
    zero. floor, limit: grids up to the one, if it is more than ``least``, and from the other on are left to
    the model. top: the grid, at least ``floor``. scale: 2^(F - grid). groups: sums of as many lanes each,
    which fit; totals: of the first group, of two, and so on. losses: of each total but the first, and of
    ``sum``, a word whose first bit is 1 where it does not fit; overflow: all of them, and whether ``sum`` is
    -2^31; None: every sum fits. counted: the result where some product is not zero. c_alone: where every one
    is.
    """

    lanes: tuple[LaneOfForm, ...]
    c: Term
    c_field: Term
    c_exponent: Term
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


@dataclass(frozen=True)
class LastAdditionForm:
    """An IEEE addition of c to the last block's word. word, c: variables. expected: the model's sum. result:
    the form's, which is the same where ``guard`` is 0.
    """

    word: Term
    c: Term
    expected: Term
    result: Term
    guard: Term


def last_addition_form(model: FusedDotAdd) -> LastAdditionForm | None:
    """The form of a model's last addition, or None where it has none, or no form."""
    fmt, total = model.d_format, model.sum
    usual = isinstance(total, CLast) and total.c_rounding.ties_to_even and model.c_format == fmt
    if not usual or not (fmt == _WIDE or _is_narrow(fmt)):
        return None
    word, c = var("word", fmt.width), var("c", fmt.width)
    number = native.add(widen(word, fmt, _WIDE), widen(c, fmt, _WIDE))
    zero = number[_WIDTH - 2 : 0].eq(0)
    result = zero.ite(0, number) if fmt == _WIDE else _narrowed(number, fmt)
    guard = ~umax(*(own[fmt.sign_bit - 1 : 0] for own in (word, c))).ult(fmt.infinity_word)
    return LastAdditionForm(word, c, model.last_addition.sum(word, c).word(), result, guard)


def float_form(model: Model) -> FloatForm | None:
    """The form of a model, or None where there is none (yet); :func:`obstacle` says why."""
    if not isinstance(model, FusedDotAdd) or _obstacle(model):
        return None
    numbers = _numbers(model, *model.factor_formats)
    return None if numbers is None else _form(model, numbers)


def obstacle(model: Model) -> str:
    """Why a model has no form, as its parameters say it; "" where it has one."""
    if not isinstance(model, FusedDotAdd):
        return model.title
    fits = _numbers(model, *model.factor_formats) is not None
    return _obstacle(model) or ("" if fits else "sums or exponents do not fit")


def _obstacle(model: FusedDotAdd) -> str:
    p, c, d, scale = model.parameters, model.c_format, model.d_format, model.scale_format
    unusual = [name for name, value in _USUAL.items() if getattr(p, name) != value]
    if model.lanes.n_fma != model.k:
        return "several fused sums"
    if unusual:
        values = [getattr(p, name) for name in unusual]
        names = [getattr(value, "name", value) for value in values]
        return ", ".join(f"{name} = {value}" for name, value in zip(unusual, names, strict=True))
    if not p.alignment.truncates:
        return f"alignment = {p.alignment}"
    if not _exact_products(*model.factor_formats):
        return "products are not exact in binary32"
    truncated, nearest = d == _WIDE and p.rounding.truncates, _is_narrow(d) and p.rounding.ties_to_even
    if not d.holds(c) or not (truncated or nearest):
        return f"c of {c.name}, results of {d.name} rounded {p.rounding}"
    if scale is not None and not _is_power(scale):
        return f"scales of {scale.name} are not powers of two"
    return ""


def _exact_products(a: Format, b: Format) -> bool:
    """Whether every product of two numbers is one of binary32, if that had more exponents."""
    return a.signed and b.signed and a.precision + b.precision <= _WIDE.precision


def _is_power(scale: Format) -> bool:
    """Whether every scale is a power of two, or a NaN."""
    return not scale.signed and scale.fraction_bits == 0 and scale.specials is Specials.NAN_ONLY


def _is_narrow(fmt: Format) -> bool:
    """Whether sums of a form can be rounded to a format: binary32's layout, with fewer bits."""
    usual = fmt.specials is Specials.IEEE and fmt.bias == (1 << (fmt.exponent_bits - 1)) - 1
    whole = fmt.signed and not fmt.ignored_low_bits and not fmt.ignored_high_bits
    fewer = fmt.fraction_bits < _SHORT and fmt.exponent_bits < _WIDE.exponent_bits
    return usual and whole and fewer


def _normal_products(a: Format, b: Format) -> bool:
    """Whether no exact product is too small or too large for binary32."""
    smallest = sum(fmt.e_min - fmt.fraction_bits for fmt in (a, b))
    largest = sum(fmt.e_max + 1 for fmt in (a, b))
    return smallest >= _WIDE.e_min and largest <= _WIDE.e_max


@dataclass(frozen=True)
class _Numbers:
    """The numbers that a form is made of; :class:`FloatForm` says what some of them are.

    formats, offsets: of a and b; how much more their exponent words are than their exponents' fields.
    exact: whether every sum is a number of binary32. rounded: fraction bits of the result. c: offset of c's
    exponent word.
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
    c: int


def _numbers(model: FusedDotAdd, a: Format, b: Format) -> _Numbers | None:
    """Of a model whose products are exact; None where a sum or an exponent does not fit."""
    fraction_bits = model.sum.fraction_bits
    normal, scale = _normal_products(a, b), model.scale_format
    if scale is not None:
        bias, scales, most_scales = _SCALED_BIAS, 2 * scale.bias, 2 * (scale.e_max + scale.bias)
    else:
        bias, scales, most_scales = 0 if normal else _OTHER_BIAS, 0, 0
    whole = _BIAS - a.bias - b.bias + bias - scales
    offsets, least = (whole // 2, whole - whole // 2), 2 + whole
    # on a larger grid, nothing is left of a product that is too small for binary32
    floor = least if normal else bias + fraction_bits + 4
    if model.sum.zero_exponent is not None:  # and no zero is the largest
        floor = max(floor, model.sum.zero_exponent + _BIAS + bias + 1)
    if scale is not None:
        floor = max(floor, bias + fraction_bits + 1)
    # a zero's exponent word is 0: with any other, it is below the least of a product
    apart = all(
        0 < offset < least - fmt.e_max - fmt.bias - most_scales
        for fmt, offset in zip((a, b), offsets, strict=True)
    )
    places = fraction_bits - a.fraction_bits - b.fraction_bits
    product = ((2 << a.fraction_bits) - 1) * ((2 << b.fraction_bits) - 1)
    products = model.k * (product << places if places >= 0 else product >> -places)
    bits = (products + (2 << fraction_bits)).bit_length()
    fitting = (n for n in range(1, model.k + 1) if model.k % n == 0 and products // n < 1 << (_WIDTH - 1))
    groups = next(fitting, 0)
    if not apart or not groups or floor <= bias + fraction_bits or (scale is not None and not normal):
        return None
    exact = bits <= _WIDE.precision
    # no sum on a grid below the limit is too large for binary32
    limit = bias + 2 * _BIAS + 1 + fraction_bits - (bits if exact else _WIDTH)
    scaled = 0 if scale is None else 2 * scale.e_max
    limit = min(limit, bias + _BIAS + 1 + max(a.e_max + b.e_max + scaled, model.c_format.e_max))
    rounded = model.final.precision.round_fraction_bits or model.d_format.fraction_bits
    c = _BIAS - model.c_format.bias + bias
    return _Numbers(fraction_bits, (a, b), offsets, bias, least, floor, limit, exact, groups, rounded, c)


def _form(model: FusedDotAdd, n: _Numbers) -> FloatForm:
    words, c, narrow = model.trace, widen(model.trace.c, model.c_format, _WIDE), model.d_format != _WIDE
    sides = zip((words.a, words.b), (model.a_format, model.b_format), n.formats, strict=True)
    factors = ([widen(word, own, fmt) for word in side] for side, own, fmt in sides)
    pairs = list(zip(*factors, strict=True))
    scales = _scale_words(model)
    exponents = [
        total(*map(_exponent_word, n.formats, pair, n.offsets), *scale)
        for pair, scale in zip(pairs, scales, strict=True)
    ]
    largest_product = umax(*exponents)
    if model.c_format == _WIDE:
        c_field = c[_WIDTH - 2 : _FRACTION]
        c_exponent = c_field.zext(_WIDTH) + n.bias
    else:
        c_field = _exponent_word(model.c_format, words.c, n.c)
        c_exponent = c_field.zext(_WIDTH)
    top = umax(largest_product.zext(_WIDTH), c_exponent, const(n.floor, _WIDTH))
    scale = (const(2 * _BIAS + n.fraction_bits + n.bias, _WIDTH) - top) << _FRACTION
    lanes = []
    for pair, exponent, of_lane in zip(pairs, exponents, scales, strict=True):
        x, y = (widen(word, fmt, _WIDE) for word, fmt in zip(pair, n.formats, strict=True))
        product = native.multiply(x, y)
        own = scale if model.scale_format is None else _scaled(of_lane, n, model.scale_format, top)
        lanes.append(LaneOfForm((x, y), exponent, product, own, _on_grid(product, own)))
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
    number = native.from_integer(whole) if n.exact else (_with_sticky if narrow else _truncated)(whole)
    number = native.multiply(number, (top - n.fraction_bits - n.bias) << _FRACTION)
    counted = _narrowed(number, model.d_format) if narrow else _cut(number, n.rounded)
    c_alone = widen(words.c, model.c_format, model.d_format)
    c_alone = _cut(c_alone, min(n.rounded, n.fraction_bits), model.d_format)
    c_alone = c_alone.eq(1 << model.d_format.sign_bit).ite(0, c_alone)
    return FloatForm(
        lanes=tuple(lanes),
        c=c,
        c_field=c_field,
        c_exponent=c_exponent,
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


def _scale_words(model: FusedDotAdd) -> list[list[Term]]:
    """The exponent words of each lane's scales: their exponents' fields."""
    terms, words, fmt = model.sum.terms, model.trace.operands, model.scale_format
    if fmt is None or not isinstance(terms, ScaledProducts):
        return [[] for _ in range(model.k)]
    special = const(_SPECIAL_SCALE, _EXPONENT_WORD)
    of_side = (
        [dp.decode(fmt, word).nan.ite(special, _to_width(word, _EXPONENT_WORD)) for word in side]
        for side in (words.scale_a or (), words.scale_b or ())
    )
    pairs = list(zip(*of_side, strict=True))
    return [list(pairs[lane // terms.scale_block]) for lane in range(model.k)]


def _scaled(scales: Sequence[Term], n: _Numbers, fmt: Format, top: Term) -> Term:
    """2^(F - grid) times two scales; less where that is too small, and where that is too large, as it is of
    zeros alone.
    """
    field = const(2 * _BIAS + n.fraction_bits + n.bias - 2 * fmt.bias, _WIDTH) - top
    field = total(*(word.zext(_WIDTH) for word in scales), field)
    largest = const(2 * _BIAS, _WIDTH)
    field = field[_WIDTH - 1].ite(const(0, _WIDTH), field.ult(largest).ite(field, largest))
    return field << _FRACTION


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


def _with_sticky(whole: Term) -> Term:
    """An integer as a binary32 number that is rounded to few bits as the integer would be.

    Of a large one, the last bits are lost; the one above is 1 where one of them is.
    """
    size, lost = _size(whole), (1 << _BEYOND) - 1
    sticky = (size & lost).eq(0).ite(const(0, _WIDTH), const(1 << _BEYOND, _WIDTH))
    short = (size & ~const(lost, _WIDTH)) | sticky
    number = native.from_integer(size.ult(1 << _WIDE.precision).ite(size, short))
    return number | (whole & (1 << (_WIDTH - 1)))


def _narrowed(number: Term, fmt: Format) -> Term:
    """A number of binary32, rounded to nearest even to a narrower format; +0 alone is zero."""
    size, lost = number[_WIDTH - 2 : 0].zext(_WIDTH), _FRACTION - fmt.fraction_bits
    above = (size >> lost) & 1
    normal = (size + above + ((1 << (lost - 1)) - 1) - ((_BIAS - fmt.bias) << _FRACTION)) >> lost
    # the sum with a number whose last place is the format's smallest number
    magic = (fmt.e_min - fmt.fraction_bits + _FRACTION + _BIAS) << _FRACTION
    small = native.add(size, const(magic, _WIDTH)) - magic
    word = size.ult((fmt.e_min + _BIAS) << _FRACTION).ite(small, normal)
    word = word.ult(fmt.infinity_word).ite(word, const(fmt.infinity_word, _WIDTH))
    word = word[fmt.width - 2 : 0]
    return (number[_WIDTH - 1] & word.ne(0)).concat(word)


def _cut(word: Term, fraction_bits: int, fmt: Format = _WIDE) -> Term:
    """Without the fraction's last bits."""
    lost = fmt.fraction_bits - fraction_bits
    return word & ~const((1 << lost) - 1, fmt.width) if lost > 0 else word
