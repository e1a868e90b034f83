"""A fused dot-add in the operations of binary32 that processors have: another graph of the same words.

Products are those of :mod:`.product_grid`; the largest of their exponent words and of c's field is the grid.
Multiplied by 2^(F - grid), what a term keeps is its integer part, and integers are summed.

Nothing here is trusted: a form is used where it is proved to be equal to the model's graph
(:mod:`.proved_forms`). :func:`float_form` is the one place that reads a model's parameters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tcsmt.language.terms import Term, const, total, umax, var
from tcsmt.matrix_units.arithmetic import datapath as dp
from tcsmt.matrix_units.arithmetic import native
from tcsmt.matrix_units.arithmetic.formats import Format, Specials
from tcsmt.matrix_units.arithmetic.ieee import widen
from tcsmt.matrix_units.models.base import Model
from tcsmt.matrix_units.models.fused import FusedDotAdd
from tcsmt.matrix_units.models.fused_parts import CLast, ScaledProducts
from tcsmt.simulate.forms.product_grid import (
    BIAS,
    EXPONENT_WORD,
    FRACTION,
    WIDE,
    WIDTH,
    GridNumbers,
    ProductGrid,
    exact_products,
    exponent_word,
    on_grid,
    to_width,
)

#: The exponent word of a scale's NaN.
_SPECIAL_SCALE = 1 << 13
#: Fraction bits of results that are rounded to nearest: fewer than this. Of a sum that is no number of
#: binary32, so many last bits are of no account, but for whether one is 1.
_SHORT, _BEYOND = 15, 8
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
class FloatForm(ProductGrid):
    """The graph of a form, stage by stage: the grid of its products and c, and what is summed on it. Where
    ``guard`` is 1, it says nothing.

    c: in binary32. c_field: its exponent word; c_exponent: its exponent, counted as grids are.
    groups: sums of as many lanes each, which fit; totals: of the first group, of two, and so on. losses: of
    each total but the first, and of ``sum``, a word whose first bit is 1 where it does not fit; overflow: all
    of them, and whether ``sum`` is -2^31; None: every sum fits. counted: the result where some product is not
    zero. c_alone: where every one is.
    """

    c: Term
    c_field: Term
    c_exponent: Term
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
    """Return the form of a model's last addition, or None where it has none, or no form."""
    fmt, total = model.d_format, model.sum
    usual = isinstance(total, CLast) and total.c_rounding.ties_to_even and model.c_format == fmt
    if not usual or not (fmt == WIDE or _is_narrow(fmt)):
        return None
    word, c = var("word", fmt.width), var("c", fmt.width)
    number = native.add(widen(word, fmt, WIDE), widen(c, fmt, WIDE))
    zero = number[WIDTH - 2 : 0].eq(0)
    result = zero.ite(0, number) if fmt == WIDE else _narrowed(number, fmt)
    guard = ~umax(*(magnitude[fmt.sign_bit - 1 : 0] for magnitude in (word, c))).ult(fmt.infinity_word)
    return LastAdditionForm(word, c, model.last_addition.sum(word, c).word(), result, guard)


def float_form(model: Model) -> FloatForm | None:
    """Return the form of a model, or None where there is none (yet); :func:`obstacle` says why."""
    if not isinstance(model, FusedDotAdd) or _obstacle(model):
        return None
    numbers = _numbers(model, *model.factor_formats)
    return None if numbers is None else _form(model, numbers)


def obstacle(model: Model) -> str:
    """Return why a model has no form, as its parameters say it; "" where it has one."""
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
    if not exact_products(*model.factor_formats):
        return "products are not exact in binary32"
    truncated, nearest = d == WIDE and p.rounding.truncates, _is_narrow(d) and p.rounding.ties_to_even
    if not d.holds(c) or not (truncated or nearest):
        return f"c of {c.name}, results of {d.name} rounded {p.rounding}"
    if scale is not None and not _is_power(scale):
        return f"scales of {scale.name} are not powers of two"
    return ""


def _is_power(scale: Format) -> bool:
    """Return whether every scale is a power of two, or a NaN."""
    return not scale.signed and scale.fraction_bits == 0 and scale.specials is Specials.NAN_ONLY


def _is_narrow(fmt: Format) -> bool:
    """Return whether sums of a form can be rounded to a format: binary32's layout, with fewer bits."""
    usual = fmt.specials is Specials.IEEE and fmt.bias == (1 << (fmt.exponent_bits - 1)) - 1
    is_plain = fmt.signed and not fmt.ignored_low_bits and not fmt.ignored_high_bits
    fewer = fmt.fraction_bits < _SHORT and fmt.exponent_bits < WIDE.exponent_bits
    return usual and is_plain and fewer


@dataclass(frozen=True)
class _Numbers:
    """The numbers that a form is made of; :class:`FloatForm` says what some of them are.

    exact: whether every sum is a number of binary32. rounded: fraction bits of the result. c: offset of c's
    exponent word.
    """

    grid: GridNumbers
    limit: int
    exact: bool
    groups: int
    rounded: int
    c: int


def _numbers(model: FusedDotAdd, a: Format, b: Format) -> _Numbers | None:
    """Return the numbers of a model with exact products; None where a sum or an exponent does not fit."""
    fraction_bits, scale = model.sum.fraction_bits, model.scale_format
    grid = GridNumbers.of(a, b, fraction_bits, scale=scale, zero_exponent=model.sum.zero_exponent)
    if grid is None:
        return None
    products = model.k * grid.largest_aligned
    bits = (products + (2 << fraction_bits)).bit_length()
    fitting = (n for n in range(1, model.k + 1) if model.k % n == 0 and products // n < 1 << (WIDTH - 1))
    groups = next(fitting, 0)
    if not groups:
        return None
    exact = bits <= WIDE.precision
    # no sum on a grid below the limit is too large for binary32
    limit = grid.bias + 2 * BIAS + 1 + fraction_bits - (bits if exact else WIDTH)
    scaled = 0 if scale is None else 2 * scale.e_max
    limit = min(limit, grid.bias + BIAS + 1 + max(a.e_max + b.e_max + scaled, model.c_format.e_max))
    rounded = model.final.precision.round_fraction_bits or model.d_format.fraction_bits
    return _Numbers(grid, limit, exact, groups, rounded, BIAS - model.c_format.bias + grid.bias)


def _form(model: FusedDotAdd, numbers: _Numbers) -> FloatForm:
    n, words, narrow = numbers.grid, model.trace, model.d_format != WIDE
    c = widen(words.c, model.c_format, WIDE)
    sides = zip((words.a, words.b), (model.a_format, model.b_format), n.formats, strict=True)
    factors = ([widen(word, own, fmt) for word in side] for side, own, fmt in sides)
    pairs = list(zip(*factors, strict=True))
    scales = _scale_words(model)
    exponents = [n.exponent(pair, scale) for pair, scale in zip(pairs, scales, strict=True)]
    largest_product = umax(*exponents)
    if model.c_format == WIDE:
        c_field = c[WIDTH - 2 : FRACTION]
        c_exponent = c_field.zext(WIDTH) + n.bias
    else:
        c_field = exponent_word(model.c_format, words.c, numbers.c)
        c_exponent = c_field.zext(WIDTH)
    top = umax(largest_product.zext(WIDTH), c_exponent, const(n.floor, WIDTH))
    scale = n.scale(top)
    lanes = []
    for pair, exponent, of_lane in zip(pairs, exponents, scales, strict=True):
        own = scale if model.scale_format is None else _scaled(of_lane, n, model.scale_format, top)
        lanes.append(n.lane(pair, exponent, own))
    aligned, size = [lane.aligned for lane in lanes], len(lanes) // numbers.groups
    groups = [total(*aligned[first : first + size]) for first in range(0, len(lanes), size)]
    totals, losses = groups[:1], []
    for group in groups[1:]:
        totals.append(totals[-1] + group)
        losses.append(_lost(totals[-1], totals[-2], group))
    aligned_c = on_grid(c, scale)
    exact_sum = totals[-1] + aligned_c
    grid = ProductGrid(tuple(lanes), largest_product, top, scale, n.bias, n.least, n.floor, numbers.limit)
    guard, overflow = grid.unsure, None
    if not numbers.exact:
        losses.append(_lost(exact_sum, totals[-1], aligned_c))
        overflow = _size(exact_sum)
        for loss in losses:
            overflow |= loss
        guard |= overflow[WIDTH - 1]
    number = (
        native.from_integer(exact_sum)
        if numbers.exact
        else (_with_sticky if narrow else _truncated)(exact_sum)
    )
    number = native.multiply(number, (top - n.fraction_bits - n.bias) << FRACTION)
    counted = _narrowed(number, model.d_format) if narrow else _cut(number, numbers.rounded)
    c_alone = widen(words.c, model.c_format, model.d_format)
    c_alone = _cut(c_alone, min(numbers.rounded, n.fraction_bits), model.d_format)
    c_alone = c_alone.eq(1 << model.d_format.sign_bit).ite(0, c_alone)
    return FloatForm(
        **vars(grid),
        c=c,
        c_field=c_field,
        c_exponent=c_exponent,
        groups=tuple(groups),
        totals=tuple(totals),
        aligned_c=aligned_c,
        sum=exact_sum,
        losses=tuple(losses),
        overflow=overflow,
        counted=counted,
        c_alone=c_alone,
        guard=guard,
        result=grid.counts.ite(counted, c_alone),
    )


def _scale_words(model: FusedDotAdd) -> list[list[Term]]:
    """Return the exponent words of each lane's scales: their exponents' fields."""
    terms, words, fmt = model.sum.terms, model.trace.operands, model.scale_format
    if fmt is None or not isinstance(terms, ScaledProducts):
        return [[] for _ in range(model.k)]
    special = const(_SPECIAL_SCALE, EXPONENT_WORD)
    of_side = (
        [dp.decode(fmt, word).nan.ite(special, to_width(word, EXPONENT_WORD)) for word in side]
        for side in (words.scale_a or (), words.scale_b or ())
    )
    pairs = list(zip(*of_side, strict=True))
    return [list(pairs[lane // terms.scale_block]) for lane in range(model.k)]


def _scaled(scales: Sequence[Term], n: GridNumbers, fmt: Format, top: Term) -> Term:
    """Return 2^(F - grid) times both scales, clamped at both ends; zeros alone reach the upper end."""
    field = const(2 * BIAS + n.fraction_bits + n.bias - 2 * fmt.bias, WIDTH) - top
    field = total(*(word.zext(WIDTH) for word in scales), field)
    largest = const(2 * BIAS, WIDTH)
    field = field[WIDTH - 1].ite(const(0, WIDTH), field.ult(largest).ite(field, largest))
    return field << FRACTION


def _lost(whole: Term, one: Term, other: Term) -> Term:
    """Return a word of which the first bit is 1 where the sum of two does not fit."""
    return (one ^ whole) & (other ^ whole)


def _size(word: Term) -> Term:
    return word[WIDTH - 1].ite(-word, word)


def _truncated(whole: Term) -> Term:
    """Return an integer as a binary32 number, rounded toward zero by a conversion that rounds to nearest.

    What lies 24 places or more below the leading bit is lost. The first of these bits is cleared where it
    is 1, as the leading bit, 24 places lower, is there; so what is lost is less than a half.
    """
    size = _size(whole)
    number = native.from_integer(size & ~(size >> WIDE.precision))
    return number | (whole & (1 << (WIDTH - 1)))


def _with_sticky(whole: Term) -> Term:
    """Return an integer as a binary32 number that is rounded to few bits as the integer would be.

    Of a large one, the last bits are lost; the one above is 1 where one of them is.
    """
    size, lost = _size(whole), (1 << _BEYOND) - 1
    sticky = (size & lost).eq(0).ite(const(0, WIDTH), const(1 << _BEYOND, WIDTH))
    short = (size & ~const(lost, WIDTH)) | sticky
    number = native.from_integer(size.ult(1 << WIDE.precision).ite(size, short))
    return number | (whole & (1 << (WIDTH - 1)))


def _narrowed(number: Term, fmt: Format) -> Term:
    """Return a number of binary32, rounded to nearest even to a narrower format; +0 alone is zero."""
    size, lost = number[WIDTH - 2 : 0].zext(WIDTH), FRACTION - fmt.fraction_bits
    above = (size >> lost) & 1
    normal = (size + above + ((1 << (lost - 1)) - 1) - ((BIAS - fmt.bias) << FRACTION)) >> lost
    # the sum with a number whose last place is the format's smallest number
    magic = (fmt.e_min - fmt.fraction_bits + FRACTION + BIAS) << FRACTION
    small = native.add(size, const(magic, WIDTH)) - magic
    word = size.ult((fmt.e_min + BIAS) << FRACTION).ite(small, normal)
    word = word.ult(fmt.infinity_word).ite(word, const(fmt.infinity_word, WIDTH))
    word = word[fmt.width - 2 : 0]
    return (number[WIDTH - 1] & word.ne(0)).concat(word)


def _cut(word: Term, fraction_bits: int, fmt: Format = WIDE) -> Term:
    """Return the word without the fraction's last bits."""
    lost = fmt.fraction_bits - fraction_bits
    return word & ~const((1 << lost) - 1, fmt.width) if lost > 0 else word
