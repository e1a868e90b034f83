"""The arithmetic of matrix units, stage by stage, over bit-vector terms.

decode, multiply, align, accumulate, take sign and magnitude, normalise, round, handle overflow, encode: one
function each, named as in MMA-Sim (section III-C) and Khattak and Mikaitis (section II). Nothing here knows
an architecture.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from tcsmt.language.macros import leading_zeros
from tcsmt.language.terms import FALSE, TRUE, Term, all_of, any_of, const, total, umax
from tcsmt.matrix_units.arithmetic.formats import Format, Specials
from tcsmt.matrix_units.arithmetic.rounding import Rounding


@dataclass(frozen=True)
class Exponent:
    """An exponent: the word ``term`` plus ``low``; values lie in [low, high]."""

    term: Term
    low: int
    high: int

    @classmethod
    def constant(cls, value: int) -> Exponent:
        """Return the exponent ``value``."""
        return cls(const(0, 1), value, value)

    def plus(self, offset: int) -> Exponent:
        """Return the exponent larger by a constant."""
        return Exponent(self.term, self.low + offset, self.high + offset)

    def within(self, low: int, high: int) -> Term:
        """Return the word of this exponent counted from ``low``, wide enough for ``high``."""
        width = _bits(high - low)
        return self.term.zext(max(width, self.term.width))[width - 1 : 0] + (self.low - low)

    def or_where(self, condition: Term, other: Exponent) -> Exponent:
        """Return ``other`` where the condition holds, else this exponent."""
        low, high = min(self.low, other.low), max(self.high, other.high)
        return Exponent(condition.ite(other.within(low, high), self.within(low, high)), low, high)

    def __add__(self, other: Exponent) -> Exponent:
        low, high = self.low + other.low, self.high + other.high
        width = _bits(high - low)
        return Exponent(self.term.zext(width) + other.term.zext(width), low, high)

    def minus(self, other: Exponent) -> Term:
        """Return self - other as an unsigned word, where self >= other is known."""
        low, high = min(self.low, other.low), max(self.high, other.high)
        return self.within(low, high) - other.within(low, high)


def largest(exponents: Sequence[Exponent], base: int = 0) -> Exponent:
    """Return the maximum exponent, counted from ``base`` if that is below all of them."""
    low = min(base, *(e.low for e in exponents))
    high = max(e.high for e in exponents)
    return Exponent(umax(*(e.within(low, high) for e in exponents)), low, high)


@dataclass(frozen=True)
class Number:
    """A decoded number or exact product: ``(-1)^sign * significand * 2^(exponent - fraction_bits)``.

    ``significand`` is an unsigned integer with ``fraction_bits`` bits below the binary point;
    ``zero``, ``infinite`` and ``nan`` are truth values. summed: the sum that this number is, where
    :func:`as_number` made it (for explanations: no arithmetic looks at it).
    """

    sign: Term
    exponent: Exponent
    significand: Term
    fraction_bits: int
    zero: Term
    infinite: Term
    nan: Term
    summed: Fixed | None = field(default=None, compare=False, repr=False)

    @property
    def integer_bits(self) -> int:
        """Return how many significand bits are above the binary point."""
        return self.significand.width - self.fraction_bits


@dataclass(frozen=True)
class Fixed:
    """A two's complement fixed-point value: ``word * 2^(exponent - fraction_bits)``.

    source: what this is the aligned value of; addends: those of which it is the sum (for
    explanations: no arithmetic looks at them).
    """

    word: Term
    exponent: Exponent
    fraction_bits: int
    source: Number | Fixed | None = None
    addends: tuple[Fixed, ...] = ()


@dataclass(frozen=True)
class SignMagnitude:
    """A sum on its way into a format: sign and magnitude ``magnitude * 2^lsb``."""

    sign: Term
    magnitude: Term
    lsb: Exponent

    @property
    def number(self) -> Number:
        """Return the same value as a number without fraction bits."""
        zero = self.magnitude.eq(0)
        return Number(self.sign, self.lsb, self.magnitude, 0, zero, FALSE, FALSE)


def decode(fmt: Format, word: Term, *, flush: Term = FALSE) -> Number:
    """Split a word into sign, exponent and significand (no hidden normalisation).

    A subnormal number keeps the smallest exponent and a significand below 1; where ``flush`` is 1, it
    is read as zero. Ignored storage bits (tf32's low 13) do not take part.
    """
    f, e = fmt.fraction_bits, fmt.exponent_bits
    low = fmt.ignored_low_bits
    field = word[low + f + e - 1 : low + f]
    sign = word[fmt.sign_bit] if fmt.signed else FALSE
    top = (1 << e) - 1
    fraction_zero = TRUE
    significand = const(1, 1)
    zero = FALSE
    exponent = Exponent(field, -fmt.bias, top - fmt.bias)
    if fmt.has_subnormals:
        fraction = word[low + f - 1 : low]
        fraction_zero = fraction.eq(0)
        normal = field.ne(0)
        significand = (normal | ~flush).ite(normal.concat(fraction), 0)
        fraction_zero |= flush & ~normal
        zero = flush.ite(~normal, word[low + f + e - 1 : low].eq(0))
        exponent = Exponent(normal.ite(field, 1) - 1, fmt.e_min, top - fmt.bias)
    all_ones = field.eq(top)
    infinite = nan = FALSE
    match fmt.specials:
        case Specials.IEEE:
            infinite, nan = all_ones & fraction_zero, all_ones & ~fraction_zero
        case Specials.NAN_ONLY:
            nan = all_ones
            if fmt.has_subnormals:
                nan = nan & fraction.eq((1 << f) - 1)
        case Specials.NEGATIVE_ZERO_NAN:
            nan = word.eq(fmt.nan_word or 0)
        case Specials.NONE:
            pass
    return Number(sign, exponent, significand, f, zero, infinite, nan)


def chosen_bits(x: Number, first: int, bits: int) -> Number:
    """Return the value of ``bits`` bits of the significand, from 2^-first (0: the leading bit) down.

    The exponent is that of the first of them. A number of which these bits are zero does not count as a zero.
    """
    missing = max(0, first + bits - x.fraction_bits - x.integer_bits)
    extended = x.significand.concat(const(0, missing)) if missing else x.significand
    last = extended.width - x.integer_bits + 1 - first - bits
    return replace(
        x,
        significand=extended[last + bits - 1 : last],
        exponent=x.exponent.plus(-first),
        fraction_bits=bits - 1,
    )


def multiply(a: Number, b: Number) -> Number:
    """Return the exact product, not normalised: significand in [1, 4) for normal inputs."""
    width = a.significand.width + b.significand.width - 1
    if 1 not in (a.significand.value, b.significand.value):  # a power of two needs no more bits
        width += 1
    nan = a.nan | b.nan | a.infinite & b.zero | a.zero & b.infinite
    return Number(
        sign=a.sign ^ b.sign,
        exponent=a.exponent + b.exponent,
        significand=a.significand.zext(width) * b.significand.zext(width),
        fraction_bits=a.fraction_bits + b.fraction_bits,
        zero=a.zero | b.zero,
        infinite=(a.infinite | b.infinite) & ~nan,
        nan=nan,
    )


def exact_total(terms: Sequence[Number]) -> Number:
    """Return the exact sum of finite terms as one number at exponent 0; a zero only if every term is.

    For narrow formats: the word spans every exponent of the terms.
    """
    low = min(t.exponent.low for t in terms)
    high = max(t.exponent.high for t in terms)
    fraction_bits = terms[0].fraction_bits
    width = terms[0].significand.width + high - low + len(terms).bit_length() + 1
    words = []
    for t in terms:
        word = t.significand.zext(width) << t.exponent.within(low, high).zext(width)
        words.append(t.sign.ite(-word, word))
    word = total(*words)
    sign = word[width - 1]
    return Number(
        sign=sign,
        exponent=Exponent.constant(0),
        significand=sign.ite(-word, word)[width - 2 : 0],
        fraction_bits=fraction_bits - low,
        zero=all_of(t.zero for t in terms),
        infinite=FALSE,
        nan=FALSE,
    )


def overflowing(x: Number, limit: int) -> Number:
    """Return the product, infinite where its magnitude is 2^limit or more.

    Only a product of normal numbers (significand 1 or more) can be that large.
    """
    if x.exponent.high + x.integer_bits - 1 < limit:
        return x
    too_large = FALSE
    for place in range(x.integer_bits):  # a bit of weight 2^place, and an exponent that is large enough
        least = limit - place
        counted = x.exponent.within(x.exponent.low, x.exponent.high)
        if least <= x.exponent.high:
            too_large |= x.significand[x.fraction_bits + place] & ~counted.ult(max(0, least - x.exponent.low))
    return replace(x, infinite=(x.infinite | too_large) & ~x.nan)


def normalise_number(x: Number) -> Number:
    """Return the same value with the significand in [1, 2); a zero stays zero and keeps its exponent."""
    significand, exponent = _normalised(x.significand, x.exponent.plus(-x.fraction_bits))
    exponent = exponent.or_where(x.zero, x.exponent)
    return replace(x, exponent=exponent, significand=significand, fraction_bits=significand.width - 1)


def _normalised(word: Term, lsb: Exponent) -> tuple[Term, Exponent]:
    """Return ``word * 2^lsb`` with its top bit set (0 stays 0), and the exponent of that bit."""
    shifted, zeros = leading_zeros(word)
    raised = lsb.plus(word.width - 1)
    lowered = raised.within(lsb.low, raised.high)
    lowered = lowered - zeros.zext(max(lowered.width, zeros.width))[lowered.width - 1 : 0]
    return shifted, Exponent(lowered, lsb.low, raised.high)


def align(x: Number, top: Exponent, fraction_bits: int, rounding: Rounding, *, sticky: bool = False) -> Fixed:
    """Shift the significand right by ``top - exponent`` and keep ``fraction_bits`` of its fraction.

    The dropped bits are rounded by ``rounding``, RTZ being truncation of the magnitude. With
    ``sticky`` they are truncated and one more bit position holds their OR.
    """
    shift = top.minus(x.exponent)
    grow = max(0, fraction_bits - x.fraction_bits)
    cut = max(0, x.fraction_bits - fraction_bits)
    significand = x.significand.concat(const(0, grow)) if grow else x.significand
    width = max(significand.width, _bits((1 << shift.width) - 1 + cut))
    significand, amount = significand.zext(width), shift.zext(width) + cut
    # a number far below its exponent has no bit on the grid, and no term is so narrow
    kept_width = max(1, x.integer_bits + fraction_bits)
    if sticky:
        shifted, half, rest = shift_right(significand, amount)
        word = shifted[kept_width - 1 : 0].concat(half | rest).zext(kept_width + 2)
        fraction_bits += 1
    elif rounding.truncates:
        word = (significand >> amount)[kept_width - 1 : 0].zext(kept_width + 1)
    else:
        shifted, half, rest = shift_right(significand, amount)
        word = shifted[kept_width - 1 : 0].zext(kept_width + 2)
        word = word + rounding.away(x.sign, shifted[0], half, rest).zext(word.width)
    return Fixed(x.sign.ite(-word, word), top, fraction_bits, source=x)


def shift_right(word: Term, amount: Term) -> tuple[Term, Term, Term]:
    """Return ``word >> amount``, the first dropped bit, and whether any lower dropped bit is set."""
    extended = word.concat(FALSE)
    distance = amount.zext(extended.width)
    shifted = extended >> distance
    return word >> amount, shifted[0], (shifted << distance).ne(extended)


def realign(x: Fixed, top: Exponent, fraction_bits: int, rounding: Rounding) -> Fixed:
    """Return a two's complement value aligned to a larger exponent, with ``fraction_bits`` fraction bits.

    Rounding down is what an arithmetic shift of a two's complement word does by itself.
    """
    grow = max(0, fraction_bits - x.fraction_bits)
    if not rounding.floors:
        return replace(align(as_number(x), top, fraction_bits, rounding), source=x)
    shift = top.minus(x.exponent)
    cut = max(0, x.fraction_bits - fraction_bits)
    word = x.word.concat(const(0, grow)) if grow else x.word
    width = max(word.width, _bits((1 << shift.width) - 1 + cut))
    moved = word.sext(width).ashr(shift.zext(width) + cut)
    return Fixed(moved[word.width - cut - 1 : 0], top, fraction_bits, source=x)


def round_down_normalised(x: Fixed, fraction_bits: int, e_min: int) -> Fixed:
    """Return the value rounded down to ``fraction_bits`` fraction bits of its normalised form.

    Normalised: leading bit at the binary point, or exponent ``e_min`` if that is larger. The
    value's exponent is ``e_min`` or more, so that what is cleared lies within its word.
    """
    width = x.word.width
    _, zeros = leading_zeros(sign_and_magnitude(x).magnitude)
    # low bits to clear: above the leading bit's place, and where the exponent may not fall further
    most = width - 1 - fraction_bits
    size = max(zeros.width, _bits(max(most, 0)))
    zeros = zeros.zext(size)
    clear = zeros.ult(most).ite(const(most, size) - zeros, 0) if most > 0 else const(0, size)
    least = e_min - fraction_bits + x.fraction_bits
    if least > x.exponent.low:
        short = x.exponent.within(x.exponent.low, max(x.exponent.high, least))
        gap = const(least - x.exponent.low, short.width)
        missing = short.ult(gap).ite(gap - short, 0)
        size = max(size, missing.width)
        clear = umax(clear.zext(size), missing.zext(size))
    common = max(width, clear.width)
    amount = clear.zext(common)
    cleared = (x.word.sext(common) >> amount) << amount
    return replace(x, word=cleared[width - 1 : 0])


def accumulate(addends: Sequence[Fixed], width: int, missing: Exponent | None = None) -> Fixed:
    """Return the sum of aligned addends, computed with ``width`` bits (two's complement).

    ``missing``: the accumulator lacks so many of the high bits, so that its sum wraps.
    """
    words = [a.word.sext(max(width, a.word.width))[width - 1 : 0] for a in addends]
    word = total(*words)
    if missing is not None:
        word = _wrapped(word, missing.within(0, missing.high))
    return Fixed(word, addends[0].exponent, addends[0].fraction_bits, addends=tuple(addends))


def _wrapped(word: Term, missing: Term) -> Term:
    """Return the word sign-extended from its highest bit below the ``missing`` high bits."""
    if missing.value is not None:
        return word[word.width - 1 - missing.value : 0].sext(word.width)
    amount = missing.zext(word.width)
    return (word << amount).ashr(amount)


def sign_and_magnitude(x: Fixed) -> SignMagnitude:
    """Return sign and magnitude of a sum."""
    sign = x.word[x.word.width - 1]
    magnitude = sign.ite(-x.word, x.word)
    return SignMagnitude(sign, magnitude, x.exponent.plus(-x.fraction_bits))


def as_number(x: Fixed) -> Number:
    """Return a sum as a number of the same exponent, to be aligned once more; it does not count as a zero."""
    signed = sign_and_magnitude(x)
    return Number(signed.sign, x.exponent, signed.magnitude, x.fraction_bits, FALSE, FALSE, FALSE, summed=x)


def as_fixed(x: Number) -> Fixed:
    """Return a number as a two's complement value of the same exponent."""
    word = x.significand.zext(x.significand.width + 1)
    return Fixed(x.sign.ite(-word, word), x.exponent, x.fraction_bits)


def condense(x: SignMagnitude, bits: int) -> SignMagnitude:
    """Return a narrower magnitude that rounds alike: at least its first ``bits`` bits, and the others' OR.

    The leading bit is brought near the top by halves, and what lies far below it becomes sticky.
    """
    word, lsb = x.magnitude, x.lsb
    step = 1 << (_bits(word.width - 1) - 1)
    while step > bits and word.width > step + bits + 1:
        width = word.width
        clear = word[width - 1 : width - step].eq(0)
        word, lsb = clear.ite(word << step, word), lsb.or_where(clear, lsb.plus(-step))
        dropped = width - step - bits
        sticky = word[dropped - 1 : 0].ne(0)
        word, lsb = word[width - 1 : dropped].concat(sticky), lsb.plus(dropped - 1)
        step >>= 1
    return SignMagnitude(x.sign, word, lsb)


@dataclass(frozen=True)
class Placed:
    """A magnitude where a format's significand lies: what is rounded.

    field: the exponent counted from the format's e_min; subnormal numbers and the first binade have 0.
    significand: its top bit is the hidden bit. lost: whether a bit below it was shifted out.
    """

    field: Term
    significand: Term
    lost: Term


def round_to(
    fmt: Format,
    x: SignMagnitude,
    rounding: Rounding,
    *,
    fraction_bits: int | None = None,
    overflow: str = "ieee",
    flush: Term = FALSE,
    tininess: str = "result",
) -> Term:
    """Return the magnitude word (no sign bit) of the value rounded to a format, once.

    fraction_bits: significand bits kept below the binary point (the format's where None).
    overflow: ``infinity`` always, ``saturate`` to the largest finite number, or ``ieee``, as the
    rounding mode says. flush: whether a subnormal result becomes zero, ``tininess`` saying which is
    (:func:`tiny`).
    """
    kept_bits = fmt.fraction_bits if fraction_bits is None else fraction_bits
    placed = place(fmt, x, kept_bits)
    packed = round_placed(fmt, placed, x.sign, rounding, kept_bits)
    flushed = flush & tiny(placed, packed, x.sign, rounding, kept_bits, tininess)
    result = finite_magnitude(fmt, packed, kept_bits, flush=flushed)
    result = handle_overflow(fmt, packed, result, x.sign, rounding, kept_bits, overflow)
    if fmt.ignored_low_bits:
        result = result.concat(const(0, fmt.ignored_low_bits))
    return x.magnitude.eq(0).ite(const(0, result.width), result)


def place(fmt: Format, x: SignMagnitude, kept_bits: int) -> Placed:
    """Normalise a magnitude; below the format's smallest exponent the significand moves right again."""
    top, exponent = _normalised(x.magnitude, x.lsb)
    width, low, high = top.width, exponent.low, exponent.high
    precision = kept_bits + 1
    # one place below the kept ones, where a subnormal's first dropped bit can come to lie
    tail = max(0, precision + (low < fmt.e_min) - width)
    significand = top.concat(const(0, tail)) if tail else top
    base = min(low, fmt.e_min)
    counted = exponent.within(base, max(high, fmt.e_min))
    field = counted - (fmt.e_min - base)
    if low >= fmt.e_min:
        return Placed(field, significand, FALSE)
    small = counted.ult(fmt.e_min - base)
    down = small.ite(-field, 0)
    field = small.ite(0, field)
    spread = max(significand.width, down.width)
    significand = significand.zext(spread)
    amount = down.zext(spread)
    moved = significand >> amount
    lost = (moved << amount).ne(significand)
    return Placed(field, moved[width + tail - 1 : 0], lost)


def round_placed(fmt: Format, x: Placed, sign: Term, rounding: Rounding, kept_bits: int) -> Term:
    """Return exponent field and fraction in one word, rounded once: a carry moves into the exponent."""
    drop = x.significand.width - (kept_bits + 1)
    kept = x.significand[x.significand.width - 1 : drop]
    half = x.significand[drop - 1] if drop else FALSE
    rest = x.lost | (x.significand[drop - 2 : 0].ne(0) if drop > 1 else FALSE)
    up = rounding.away(sign, kept[0], half, rest)
    size = max(x.field.width, fmt.exponent_bits) + kept_bits + 2
    return (x.field.zext(size) << kept_bits) + kept.zext(size) + up.zext(size)


def tiny(x: Placed, packed: Term, sign: Term, rounding: Rounding, kept_bits: int, tininess: str) -> Term:
    """Return whether a result counts as subnormal, ``packed`` being its rounded value.

    tininess: ``result``: the rounded value is below the smallest normal number. IEEE 754 (7.5) has two other
    ways to say it: ``before``: the exact value is; ``after``: it is when rounded as if exponents had no lower
    end. Only a value less than half a unit below the smallest normal number tells the last from the first.
    """
    if tininess == "result":
        return packed.ult(1 << kept_bits)
    top = x.significand.width - 1
    below = x.field.eq(0) & ~x.significand[top]
    last = top - kept_bits - 1  # the place of the last kept bit, one binade below the smallest normal number
    if tininess == "before" or last < 0:
        return below
    half = x.significand[last - 1] if last else x.lost
    rest = FALSE if not last else x.lost | (x.significand[last - 2 : 0].ne(0) if last > 1 else FALSE)
    ones = x.significand[top - 1 : last].eq((1 << (kept_bits + 1)) - 1)
    return below & ~(ones & rounding.away(sign, TRUE, half, rest))


def finite_magnitude(fmt: Format, packed: Term, kept_bits: int, *, flush: Term) -> Term:
    """Return the format's magnitude word of a packed value that fits; ``flush``: whether it becomes 0."""
    offset = fmt.fraction_bits - kept_bits
    result = packed[fmt.exponent_bits + fmt.fraction_bits - offset - 1 : 0]
    if offset:
        result = result.concat(const(0, offset))
    return flush.ite(0, result)


def misplaced(fmt: Format, x: SignMagnitude) -> tuple[Term, Term]:
    """Return whether a sum is below the smallest normal number, and such a sum's word, shifted wrongly.

    The magnitude is shifted right by its biased exponent plus the format's fraction bits f, where that is
    not negative; the last bit is 1 if one of its lowest f less so many bits is. Else the word is 1.
    """
    bits = fmt.fraction_bits
    top, exponent = _normalised(x.magnitude, x.lsb)
    low, high = min(exponent.low, -fmt.bias - bits), max(exponent.high, fmt.e_min)
    counted = exponent.within(low, high)
    small = counted.ult(fmt.e_min - low) & top[top.width - 1]
    far = counted.ult(-fmt.bias - bits - low)
    width = max(x.magnitude.width, counted.width, fmt.width, bits)
    amount = (counted - (-fmt.bias - bits - low)).zext(width)
    magnitude = x.magnitude.zext(width)
    dropped = magnitude & (const((1 << bits) - 1, width) >> amount)
    word = (magnitude >> amount)[fmt.width - 1 : 0] | dropped.ne(0).zext(fmt.width)
    return small, far.ite(const(1, fmt.width), word)


def handle_overflow(
    fmt: Format, packed: Term, result: Term, sign: Term, rounding: Rounding, kept_bits: int, overflow: str
) -> Term:
    """Return the result, or what stands for a packed value beyond the largest (see :func:`round_to`)."""
    offset = fmt.fraction_bits - kept_bits
    finite = fmt.largest_finite_word >> (fmt.ignored_low_bits + offset)
    too_large = const(finite, packed.width).ult(packed)
    infinity = const(fmt.infinity_word >> fmt.ignored_low_bits, result.width)
    largest_finite = const(finite << offset, result.width)
    match overflow:
        case "infinity":
            limit = infinity
        case "saturate":
            limit = largest_finite
        case _:
            limit = rounding.infinite(sign).ite(infinity, largest_finite)
    return too_large.ite(limit, result)


def encode(
    fmt: Format,
    sign: Term,
    magnitude: Term,
    infinite: Term,
    infinity_sign: Term,
    nan: Term,
    nan_word: Term | int,
    infinity_word: int | None = None,
) -> Term:
    """Return the result's word: NaN before infinity before the finite value, +0 alone where there is no -0.

    infinity_word: the magnitude that stands for an infinity; None: the format's own.
    """
    if not fmt.has_negative_zero:
        sign = sign & magnitude.ne(0)
    largest = fmt.infinity_word if infinity_word is None else infinity_word
    infinity = infinity_sign.concat(const(largest, fmt.width - 1))
    finite = sign.concat(magnitude)
    return nan.ite(nan_word, infinite.ite(infinity, finite))


def special_cases(terms: Sequence[Number]) -> tuple[Term, Term, Term]:
    """Return whether a sum is infinite, that infinity's sign, and whether it is a NaN."""
    plus = any_of(t.infinite & ~t.sign for t in terms)
    minus = any_of(t.infinite & t.sign for t in terms)
    nan = any_of([*(t.nan for t in terms), plus & minus])
    return plus | minus, minus, nan


def all_negative_zero(terms: Sequence[Number]) -> Term:
    """Return whether every addend is a negative zero."""
    return all_of(t.zero & t.sign for t in terms)


def ordered(word: Term) -> Term:
    """Return words in two's complement, in the order of the values (no NaN); both zeros alike."""
    size = word & ((1 << (word.width - 1)) - 1)
    return word[word.width - 1].ite(-size, size)


def _bits(largest_value: int) -> int:
    return max(1, largest_value.bit_length())
