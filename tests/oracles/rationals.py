"""Matrix-unit arithmetic in exact rationals: the independent reference of the tests.

Nothing here is shared with the package under test. Numbers are `fractions.Fraction`, and each
function follows the text of a paper:

* *MMA-Sim*: P. Xie et al., "MMA-Sim: Bit-Accurate Reference Model of Tensor Cores and Matrix
  Cores", 2025. The algorithms FDA (fused dot-product-add), CoFDA (a chain of FDA), GDFS (groups
  and block scales), FDRDA and GFDRDA (rounding down), GPS (pairwise sums, subnormals flushed) and
  SFMA (a sequence of fused multiply-adds).
* *Khattak and Mikaitis*: "Accurate Models of NVIDIA Tensor Cores", 2025. Section IV-A, Table II.
* *Fasi et al.*: "Numerical behavior of NVIDIA tensor cores", 2020. Section 3.1.
* IEEE 754-2019, for rounding, overflow, infinities, NaNs and the sign of zero.

Entry points: `decode` and `encode` (words and numbers), `fda` (a truncated fused
dot-product-add, parameters in `FDA`), `fdrda` (products first, then c, rounding down; parameters
in `FDRDA`), `gda` (sums of groups and c, parameters in `GDA`), `ieee_dot` (IEEE dot products,
parameters in `IEEE`).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from typing import Literal

Kind = Literal["nan", "inf", "finite"]
Specials = Literal["ieee", "ocp", "fnuz", "none"]
Overflow = Literal["infinity", "saturate", "ieee"]
Alignment = Literal["truncate", "sticky", "down", "nearest"]

NEAREST_MODES = ("RNE", "RNA", "RNZ", "RNU", "RND", "RNO")
DIRECTED_MODES = ("RTZ", "RTP", "RTN", "RA", "RTO")


@cache
def power_of_two(exponent: int) -> Fraction:
    """2^exponent, for an exponent of either sign."""
    return Fraction(2) ** exponent


# --- Numbers -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Number:
    """A number as MMA-Sim writes it: (-1)^sign * significand * 2^exponent, or inf, or NaN.

    A decoded normal number has 1 <= significand < 2, a subnormal or zero has significand < 1 and
    exponent e_min (MMA-Sim, FDA step 2). Products are not normalised: significand in [1, 4).
    cancelled: a zero that is the sum of numbers not all zero, and keeps its exponent.
    Significand and exponent of an infinity or NaN mean nothing.
    """

    kind: Kind
    sign: int
    significand: Fraction = Fraction(0)
    exponent: int = 0
    cancelled: bool = False

    @property
    def is_zero(self) -> bool:
        """Whether this is +0 or -0."""
        return self.kind == "finite" and self.significand == 0

    @property
    def is_negative_zero(self) -> bool:
        """Whether this is -0."""
        return self.is_zero and self.sign == 1

    @property
    def value(self) -> Fraction:
        """The signed value of a finite number."""
        if self.kind != "finite":
            raise ValueError(f"{self} has no rational value")
        magnitude = self.significand * power_of_two(self.exponent)
        return -magnitude if self.sign else magnitude


NAN = Number("nan", 0)


def binary_exponent(x: Fraction) -> int:
    """floor(log2 |x|) of a nonzero x."""
    magnitude = abs(x)
    guess = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    return guess if power_of_two(guess) <= magnitude else guess - 1


def normalised(x: Number) -> Number:
    """The same value with 1 <= significand < 2; a zero stays as it is."""
    if x.is_zero:
        return x
    shift = binary_exponent(x.significand)
    return Number("finite", x.sign, x.significand / power_of_two(shift), x.exponent + shift)


def product(x: Number, y: Number) -> Number:
    """The exact, unnormalised product: s = s_x * s_y, e = e_x + e_y (MMA-Sim, FDA step 2).

    IEEE 754 rules for special operands: 0 * inf and anything with a NaN are NaN.
    """
    sign = x.sign ^ y.sign
    if "nan" in (x.kind, y.kind):
        return NAN
    if "inf" in (x.kind, y.kind):
        return NAN if x.is_zero or y.is_zero else Number("inf", sign)
    return Number("finite", sign, x.significand * y.significand, x.exponent + y.exponent)


def exact_sum(terms: Sequence[Number], rounding: str) -> Number:
    """The exact sum of terms, by the rules of IEEE 754 (sections 6.1 to 6.3).

    A NaN, or infinities of both signs: NaN. Otherwise an infinity wins. A zero sum has the sign
    of the terms if all are zeros of one sign; otherwise it is +0, or -0 when rounding is RTN.
    """
    special = special_sum(terms)
    if special is not None:
        return special
    total = sum((term.value for term in terms), Fraction(0))
    if total != 0:
        return Number("finite", int(total < 0), abs(total))
    if all(term.is_zero for term in terms) and len({term.sign for term in terms}) == 1:
        return Number("finite", terms[0].sign)
    return Number("finite", int(rounding == "RTN"))


def special_sum(terms: Sequence[Number]) -> Number | None:
    """The sum where a term is a NaN or an infinity; None: it is finite."""
    infinities = {term.sign for term in terms if term.kind == "inf"}
    if any(term.kind == "nan" for term in terms) or len(infinities) == 2:
        return NAN
    return Number("inf", infinities.pop()) if infinities else None


# --- Formats -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Format:
    """A binary floating-point format.

    exponent_bits, fraction_bits: widths of the two fields (no implicit bit counted).
    bias: exponent of a normal number = exponent field - bias.
    specials: 'ieee': the all-ones exponent holds infinities and NaNs. 'ocp': no infinities, only
    S.1..1.1..1 is NaN. 'fnuz': no infinities and no -0, whose word is the NaN. 'none': neither.
    padding: ignored bits below the fraction (tf32 is held in 32 bits).
    """

    name: str
    exponent_bits: int
    fraction_bits: int
    bias: int
    specials: Specials
    padding: int = 0

    @property
    def sign_position(self) -> int:
        """Position of the sign bit in a word, the padding aside."""
        return self.exponent_bits + self.fraction_bits

    @property
    def e_min(self) -> int:
        """Exponent of the smallest normal number, of subnormals and of zero."""
        return 1 - self.bias

    @property
    def max_finite(self) -> Fraction:
        """The largest finite number."""
        top_field = (1 << self.exponent_bits) - (2 if self.specials == "ieee" else 1)
        ulp = power_of_two(-self.fraction_bits)
        below_two = 2 * ulp if self.specials == "ocp" else ulp
        return (2 - below_two) * power_of_two(top_field - self.bias)


FORMATS = {
    fmt.name: fmt
    for fmt in (
        Format("f16", 5, 10, 15, "ieee"),
        Format("bf16", 8, 7, 127, "ieee"),
        Format("tf32", 8, 10, 127, "ieee", padding=13),
        Format("f32", 8, 23, 127, "ieee"),
        Format("f64", 11, 52, 1023, "ieee"),
        Format("e5m2", 5, 2, 15, "ieee"),
        Format("e4m3", 4, 3, 7, "ocp"),
        Format("e3m2", 3, 2, 3, "none"),
        Format("e2m3", 2, 3, 1, "none"),
        Format("e2m1", 2, 1, 1, "none"),
        Format("e5m10fn", 5, 10, 15, "none"),
        Format("e8m7fn", 8, 7, 127, "none"),
        Format("e8m10fn", 8, 10, 127, "none"),
        Format("e8m23fn", 8, 23, 127, "none"),
        Format("e4m3fnuz", 4, 3, 8, "fnuz"),
        Format("e5m2fnuz", 5, 2, 16, "fnuz"),
    )
}


def decode(fmt_name: str, word: int) -> Number:
    """The number that a word stands for. Also takes the two unsigned scale formats."""
    if fmt_name == "e8m0":
        return NAN if word == 0xFF else Number("finite", 0, Fraction(1), word - 127)
    if fmt_name == "ue4m3":  # MMA-Sim, GDFS: "the most significant bit is always taken as zero"
        return decode("e4m3", word & 0x7F)
    fmt = FORMATS[fmt_name]
    if not 0 <= word < 1 << (1 + fmt.sign_position + fmt.padding):
        raise ValueError(f"{word:#x} is not a word of {fmt_name}")
    bits = word >> fmt.padding  # MMA-Sim, "TF32 truncation": a NaN may become an infinity
    sign = bits >> fmt.sign_position
    exponent_field = (bits >> fmt.fraction_bits) % (1 << fmt.exponent_bits)
    fraction_field = bits % (1 << fmt.fraction_bits)
    kind = _kind(fmt, sign, exponent_field, fraction_field)
    if kind != "finite":
        return NAN if kind == "nan" else Number("inf", sign)
    fraction = Fraction(fraction_field, 1 << fmt.fraction_bits)
    if exponent_field == 0:
        return Number("finite", sign, fraction, fmt.e_min)
    return Number("finite", sign, 1 + fraction, exponent_field - fmt.bias)


def _kind(fmt: Format, sign: int, exponent_field: int, fraction_field: int) -> Kind:
    """Which words of a format are infinities and NaNs."""
    top_exponent = exponent_field == (1 << fmt.exponent_bits) - 1
    top_fraction = fraction_field == (1 << fmt.fraction_bits) - 1
    if fmt.specials == "ieee" and top_exponent:
        return "inf" if fraction_field == 0 else "nan"
    if fmt.specials == "ocp" and top_exponent and top_fraction:
        return "nan"
    if fmt.specials == "fnuz" and (sign, exponent_field, fraction_field) == (1, 0, 0):
        return "nan"
    return "finite"


def zero_word(fmt_name: str, sign: int) -> int:
    """The word of +0 or -0; a format without -0 has +0 only."""
    fmt = FORMATS[fmt_name]
    return 0 if fmt.specials == "fnuz" else sign << (fmt.sign_position + fmt.padding)


def infinity_word(fmt_name: str, sign: int) -> int:
    """The word of an infinity; an error for a format that has none."""
    fmt = FORMATS[fmt_name]
    if fmt.specials != "ieee":
        raise ValueError(f"{fmt_name} has no infinity: use overflow='saturate'")
    exponent_field = ((1 << fmt.exponent_bits) - 1) << fmt.fraction_bits
    return (sign << fmt.sign_position | exponent_field) << fmt.padding


def _finite_word(fmt: Format, x: Fraction) -> int:
    """The word of a nonzero number that the format represents exactly."""
    exponent = max(binary_exponent(x), fmt.e_min)
    significand = abs(x) / power_of_two(exponent - fmt.fraction_bits)
    assert significand.denominator == 1
    assert abs(x) <= fmt.max_finite
    implicit_bit = 1 << fmt.fraction_bits
    # A subnormal has no implicit bit, and exponent field 0 where a normal at e_min has 1.
    exponent_field = exponent + fmt.bias if significand >= implicit_bit else 0
    fraction_field = significand.numerator % implicit_bit
    magnitude = exponent_field << fmt.fraction_bits | fraction_field
    return (int(x < 0) << fmt.sign_position | magnitude) << fmt.padding


# --- Rounding ----------------------------------------------------------------------------------


def round_to_integer(x: Fraction, mode: str) -> int:
    """x rounded to an integer (names of the modes: MMA-Sim, Tables I and II)."""
    if mode not in NEAREST_MODES + DIRECTED_MODES:
        raise ValueError(f"no rounding mode {mode!r}")
    below, above = math.floor(x), math.ceil(x)
    toward_zero, away = (below, above) if x > 0 else (above, below)
    even, odd = (below, above) if below % 2 == 0 else (above, below)
    if mode in DIRECTED_MODES:
        return {"RTZ": toward_zero, "RTP": above, "RTN": below, "RA": away, "RTO": odd}[mode]
    if x - below == above - x:
        ties = {"RNE": even, "RNO": odd, "RNA": away, "RNZ": toward_zero}
        return (ties | {"RNU": above, "RND": below})[mode]
    return below if x - below < above - x else above


def round_to_grid(x: Fraction, unit: Fraction, mode: str) -> Fraction:
    """x rounded to a multiple of unit."""
    return unit * round_to_integer(x / unit, mode)


def _round_unbounded(fmt: Format, x: Fraction, mode: str, fraction_bits: int) -> Fraction:
    """Nonzero x rounded as if there were no largest number; underflow is gradual."""
    exponent = max(binary_exponent(x), fmt.e_min)
    return round_to_grid(x, power_of_two(exponent - fraction_bits), mode)


@cache
def _largest(fmt: Format, fraction_bits: int) -> Fraction:
    """The largest number of a format with a significand of so many bits."""
    return _round_unbounded(fmt, fmt.max_finite, "RTZ", fraction_bits)


def _overflows_to_infinity(overflow: Overflow, mode: str, negative: bool) -> bool:
    """Whether an overflow gives infinity, not the largest finite number (IEEE 754, 7.4)."""
    if overflow == "ieee":
        return mode != "RTZ" and mode != ("RTP" if negative else "RTN")
    return overflow == "infinity"


def encode(
    fmt_name: str,
    x: Fraction,
    mode: str,
    fraction_bits: int | None = None,
    overflow: Overflow = "infinity",
    flush_output: bool = False,
    negative_zero: bool = False,
    keep_zero_sign: bool = False,
    tininess: str = "result",
) -> int:
    """The word of x rounded to a format.

    fraction_bits: the significand keeps only so many (default: all that the format has).
    overflow: what a magnitude beyond the largest number (after rounding) becomes.
    flush_output: a subnormal result becomes zero; tininess: what counts as one (IEEE 754, 7.5).
    negative_zero: an exact zero is -0. keep_zero_sign: a zero made of a nonzero x has x's sign.
    """
    fmt = FORMATS[fmt_name]
    if x == 0:
        return zero_word(fmt_name, int(negative_zero))
    precision = fmt.fraction_bits if fraction_bits is None else fraction_bits
    rounded = _round_unbounded(fmt, x, mode, precision)
    small = {
        "result": rounded,
        "before": x,
        "after": round_to_grid(x, power_of_two(binary_exponent(x) - precision), mode),
    }
    if flush_output and abs(small[tininess]) < power_of_two(fmt.e_min):
        rounded = Fraction(0)
    if rounded == 0:
        return zero_word(fmt_name, int(keep_zero_sign and x < 0))
    largest = _largest(fmt, precision)
    if abs(rounded) <= largest:
        return _finite_word(fmt, rounded)
    if _overflows_to_infinity(overflow, mode, x < 0):
        return infinity_word(fmt_name, int(x < 0))
    return _finite_word(fmt, -largest if x < 0 else largest)


# --- Fused dot-product-add ---------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class FDA:
    """Parameters of a fused dot-product-add unit (MMA-Sim, FDA; Khattak and Mikaitis, Table II).

    a_format, b_format, c_format, d_format: names of formats.
    k: lanes of the instruction. n_fma: lanes of one fused sum (N_FMA); divides k.
    interleave: 0: blocks of consecutive lanes. g: groups of g lanes are dealt to the blocks.
    fraction_bits: F, fraction bits kept when the terms are aligned.
    products: 'unnormalised' (significand in [1, 4)) or 'normalised' before alignment.
    alignment: what happens to the bits shifted out beyond F; besides the alignments that the
    papers know by name, any rounding mode.
    carry_bits: bits of the accumulator beyond sign, 2 integer bits and F; None: enough of them.
    normalisation: 'once' after the sum, or after 'every' addition.
    c_position: c is 'aligned' with the products, 'summed' after them, or added 'last' of all.
    zero_exponent: exponent of a zero product or c in the maximum; None: its own.
    rounding, round_fraction_bits: of each block's sum to d_format.
    c_rounding: of the addition of c, for c_position='last'.
    flush_inputs, flush_outputs: subnormals become zero. overflow: see `encode`.
    negative_zero: whether a result can be -0. nan: the word of the canonical NaN.
    scale_format, scale_block: of the block scales; lanes that share one. group: lanes whose
    products are summed before they are scaled (MMA-Sim, GDFS steps 3 and 4).
    """

    a_format: str
    b_format: str
    c_format: str
    d_format: str
    k: int
    n_fma: int
    interleave: int = 0
    fraction_bits: int
    products: Literal["unnormalised", "normalised"] = "unnormalised"
    alignment: Alignment | str = "truncate"
    carry_bits: int | None = None
    normalisation: Literal["once", "every"] = "once"
    c_position: Literal["aligned", "summed", "last"] = "aligned"
    zero_exponent: int | None
    rounding: str
    round_fraction_bits: int | None = None
    c_rounding: str = "RNE"
    flush_inputs: bool = False
    flush_outputs: bool = False
    overflow: Overflow = "infinity"
    negative_zero: bool = False
    nan: int
    scale_format: str | None = None
    scale_block: int = 0
    group: int = 1

    def __post_init__(self) -> None:
        """Refuse what has no meaning."""
        if self.k % self.n_fma:
            raise ValueError(f"n_fma={self.n_fma} does not divide k={self.k}")
        if self.interleave and self.n_fma % self.interleave:
            raise ValueError(f"interleave={self.interleave} does not divide n_fma={self.n_fma}")
        if self.normalisation == "every" and (
            self.c_position != "aligned" or self.alignment == "sticky" or self.carry_bits is not None
        ):
            raise ValueError("normalisation='every' is for an aligned c, no sticky, no carry_bits")


def fda(
    params: FDA,
    a_words: Sequence[int],
    b_words: Sequence[int],
    c_word: int,
    scale_a: Sequence[int] = (),
    scale_b: Sequence[int] = (),
) -> int:
    """d = c + sum of a_i * b_i, as a chain of fused blocks (MMA-Sim, CoFDA; FDA for one block).

    With c_position='last' the chain starts from +0 and c is added to its result (Khattak and
    Mikaitis, Fig. 5c).
    """
    if len(a_words) != params.k or len(b_words) != params.k:
        raise ValueError(f"{len(a_words)} and {len(b_words)} lanes given, k={params.k}")
    a = [_read(params, params.a_format, word) for word in a_words]
    b = [_read(params, params.b_format, word) for word in b_words]
    c = _read(params, params.c_format, c_word)
    d_word = 0
    accumulator = decode(params.d_format, 0) if params.c_position == "last" else c
    for lanes in _blocks(params):
        terms = [product(a[i], b[i]) for i in lanes]
        if params.scale_format is not None:
            terms = _scaled(params, lanes, terms, scale_a, scale_b)
        d_word = _block(params, terms, accumulator)
        accumulator = _read(params, params.d_format, d_word)
    if params.c_position == "last":
        return _add_last(params, decode(params.d_format, d_word), c)
    return d_word


def _scaled(
    params: FDA,
    lanes: Sequence[int],
    products: Sequence[Number],
    scale_a: Sequence[int],
    scale_b: Sequence[int],
) -> list[Number]:
    """Products, or exact sums of `group` of them, times their scales.

    MMA-Sim, "scale factors" (the exponents join) and GDFS steps 2 to 4: a group's sum is a
    fixed-point number, to which the scales give the exponent.
    """
    assert params.scale_format is not None
    terms = []
    for start in range(0, len(products), params.group):
        members = products[start : start + params.group]
        block = lanes[start] // params.scale_block
        scale = product(
            decode(params.scale_format, scale_a[block]), decode(params.scale_format, scale_b[block])
        )
        if params.group == 1:
            terms.append(product(members[0], scale))
            continue
        total = sum((p.value for p in members), Fraction(0))
        term = product(Number("finite", int(total < 0), abs(total)), scale)
        some = not all(p.is_zero for p in members) and not scale.is_zero
        cancelled = total == 0 and some and term.kind == "finite"
        terms.append(replace(term, cancelled=cancelled))
    return terms


def _read(params: FDA, fmt_name: str, word: int) -> Number:
    """An input (or a result fed back as c); its subnormals are zeros under flush_inputs."""
    number = decode(fmt_name, word)
    if params.flush_inputs and number.kind == "finite" and number.significand < 1:
        return Number("finite", number.sign, Fraction(0), number.exponent)
    return number


def _blocks(params: FDA) -> list[list[int]]:
    """The lanes of each block, in the order of the chain."""
    count = params.k // params.n_fma
    group = params.interleave or params.n_fma
    return [[i for i in range(params.k) if i // group % count == j] for j in range(count)]


def _block(params: FDA, products: Sequence[Number], c: Number) -> int:
    """One fused dot-product-add (MMA-Sim, FDA steps 1 to 5)."""
    special = special_sum([*products, c])
    if special is not None:
        return params.nan if special.kind == "nan" else infinity_word(params.d_format, special.sign)
    all_negative_zeros = all(term.is_negative_zero for term in (*products, c))
    if params.products == "normalised":
        products = [normalised(term) for term in products]
    if params.normalisation == "every":
        total = _sum_normalising_every(params, products, c)
    elif params.c_position == "summed":
        total = _sum_products_then_c(params, products, c)
    else:
        total = _sum_aligned(params, products, c)
    return encode(
        params.d_format,
        total,
        params.rounding,
        params.round_fraction_bits,
        params.overflow,
        flush_output=params.flush_outputs,
        negative_zero=params.negative_zero and all_negative_zeros,
        keep_zero_sign=params.negative_zero,
    )


def _exponent(params: FDA, term: Number) -> int:
    """The exponent with which a term takes part in the maximum."""
    if term.is_zero and not term.cancelled and params.zero_exponent is not None:
        return params.zero_exponent
    return term.exponent


def _align(params: FDA, value: Fraction, e_max: int) -> Fraction:
    """A term put on the grid 2^(e_max - F) (MMA-Sim, FDA step 3 and FDRDA step 6).

    'truncate' drops what is shifted out, on the magnitude; 'sticky' replaces it by one more bit
    that says whether it was nonzero (Khattak and Mikaitis, stkbitenabled).
    """
    unit = power_of_two(e_max - params.fraction_bits)
    named = {"truncate": "RTZ", "sticky": "RTZ", "down": "RTN", "nearest": "RNE"}
    mode = named.get(params.alignment, params.alignment)
    aligned = round_to_grid(value, unit, mode)
    if params.alignment == "sticky" and aligned != value:
        return aligned + (unit if value > 0 else -unit) / 2
    return aligned


def _wrap(params: FDA, total: Fraction, e_max: int) -> Fraction:
    """A sum in an accumulator of 1 sign, 2 integer, carry_bits and F (+1 sticky) bits."""
    if params.carry_bits is None:
        return total
    fraction_bits = params.fraction_bits + (params.alignment == "sticky")
    unit = power_of_two(e_max - fraction_bits)
    half = 1 << (2 + params.carry_bits + fraction_bits)
    return unit * ((total / unit + half) % (2 * half) - half)


def _sum_aligned(params: FDA, products: Sequence[Number], c: Number) -> Fraction:
    """Products and c aligned to their largest exponent and added (MMA-Sim, FDA steps 3, 4)."""
    terms = (*products, c)
    e_max = max(_exponent(params, term) for term in terms)
    total = sum((_align(params, term.value, e_max) for term in terms), Fraction(0))
    return _wrap(params, total, e_max)


def _sum_products_then_c(params: FDA, products: Sequence[Number], c: Number) -> Fraction:
    """Products aligned and added, then their sum and c likewise (MMA-Sim, FDRDA steps 4 to 7)."""
    e_dot = max(_exponent(params, term) for term in products)
    s_dot = sum((_align(params, term.value, e_dot) for term in products), Fraction(0))
    e_max = max(e_dot, _exponent(params, c))
    total = _align(params, s_dot, e_max) + _align(params, c.value, e_max)
    return _wrap(params, total, e_max)


def _sum_normalising_every(params: FDA, products: Sequence[Number], c: Number) -> Fraction:
    """Terms added to c one by one, each sum normalised and truncated to F fraction bits.

    The hypothesis that Fasi et al. (3.1.4, "Normalization in addition") refute for NVIDIA units.
    """
    accumulator = c
    for term in products:
        e_max = max(_exponent(params, accumulator), _exponent(params, term))
        total = _align(params, accumulator.value, e_max) + _align(params, term.value, e_max)
        accumulator = _normalise_and_truncate(params, total)
    return accumulator.value


def _normalise_and_truncate(params: FDA, x: Fraction) -> Number:
    """x as a normalised number of F fraction bits; a zero has d_format's e_min as its exponent."""
    if x == 0:
        return Number("finite", 0, Fraction(0), FORMATS[params.d_format].e_min)
    exponent = binary_exponent(x)
    significand = abs(x) / power_of_two(exponent)
    truncated = round_to_grid(significand, power_of_two(-params.fraction_bits), "RTZ")
    return Number("finite", int(x < 0), truncated, exponent)


def _add_last(params: FDA, d: Number, c: Number) -> int:
    """d + c, one IEEE addition rounded to d_format by c_rounding (Khattak and Mikaitis, IV-A5)."""
    total = exact_sum([d, c], params.c_rounding)
    if total.kind == "nan":
        return params.nan
    if total.kind == "inf":
        return infinity_word(params.d_format, total.sign)
    return encode(
        params.d_format,
        total.value,
        params.c_rounding,
        overflow="ieee",
        flush_output=params.flush_outputs,
        negative_zero=params.negative_zero and total.sign == 1,
        keep_zero_sign=params.negative_zero,
    )


# --- Products first, then c, rounding down -----------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class FDRDA:
    """Parameters of a dot product to which c is added last (MMA-Sim, FDRDA and GFDRDA).

    n_fma: lanes of one block; blocks are chained. lane_groups: lanes i, i + g, ... are aligned
    and summed apart. fraction_bits: F of the products, of c, and of the groups' sums.
    product_limit: a product of magnitude 2^product_limit is infinite; None: never.
    dot_fraction_bits: of the dot product when it meets c. alignment: of the products.
    realignment: of everything later. c_reach: a c whose exponent is more than this below e_max is
    rounded toward zero, to zero. normalised_fraction_bits: of the sum, before the final rounding.
    """

    a_format: str
    b_format: str
    c_format: str
    d_format: str
    k: int
    n_fma: int
    lane_groups: int = 1
    fraction_bits: int
    alignment: str = "RTZ"
    product_limit: int | None = None
    dot_fraction_bits: int
    realignment: str = "RTN"
    c_reach: int | None = None
    normalised_fraction_bits: int | None = None
    rounding: str = "RNE"
    nan: int


def fdrda(params: FDRDA, a_words: Sequence[int], b_words: Sequence[int], c_word: int) -> int:
    """d = c + sum of a_i * b_i, as a chain of blocks (MMA-Sim, CoFDRDA and CoGFDRDA)."""
    a = [decode(params.a_format, word) for word in a_words]
    b = [decode(params.b_format, word) for word in b_words]
    c, d_word = decode(params.c_format, c_word), 0
    for start in range(0, params.k, params.n_fma):
        lanes = range(start, start + params.n_fma)
        d_word = _fdrda_block(params, [product(a[i], b[i]) for i in lanes], c)
        c = decode(params.d_format, d_word)
    return d_word


def _fdrda_block(params: FDRDA, products: Sequence[Number], c: Number) -> int:
    """Steps 1 to 8 of FDRDA; steps 4 to 8 of GFDRDA where there are groups of lanes."""
    limit = params.product_limit
    if limit is not None:  # step 2: products overflow
        bound = power_of_two(limit)
        products = [
            Number("inf", p.sign) if p.kind == "finite" and abs(p.value) >= bound else p for p in products
        ]
    special = exact_sum([*products, c], params.rounding)  # steps 1 and 3
    if special.kind == "nan":
        return params.nan
    if special.kind == "inf":
        return infinity_word(params.d_format, special.sign)

    def on_grid(value: Fraction, exponent: int, fraction_bits: int, mode: str) -> Fraction:
        return round_to_grid(value, power_of_two(exponent - fraction_bits), mode)

    f = params.fraction_bits
    sums: list[tuple[Fraction, int]] = []  # of each group that is not all zero, with its exponent
    for group in range(params.lane_groups):
        terms = [p for p in products[group :: params.lane_groups] if not p.is_zero]
        if terms:
            e_group = max(p.exponent for p in terms)
            total = sum((on_grid(p.value, e_group, f, params.alignment) for p in terms), Fraction(0))
            sums.append((total, e_group))
    e_max = c.exponent
    s_dot = Fraction(0)
    if sums:
        e_dot = max(exponent for _, exponent in sums)
        e_max = max(e_dot, c.exponent)
        for total, _ in sums:
            again = params.lane_groups > 1
            s_dot += on_grid(total, e_dot, f, params.realignment) if again else total
    s_dot = on_grid(s_dot, e_max, params.dot_fraction_bits, params.realignment)
    s_c = on_grid(c.value, e_max, f, params.realignment)
    if params.c_reach is not None and c.exponent < e_max - params.c_reach:
        s_c = Fraction(0)
    total = s_dot + s_c
    if params.normalised_fraction_bits is not None and total != 0:
        exponent = max(binary_exponent(total), FORMATS[params.d_format].e_min)
        total = on_grid(total, exponent, params.normalised_fraction_bits, "RTN")
    return encode(params.d_format, total, params.rounding, overflow="ieee", keep_zero_sign=True)


# --- Groups of lanes, and c, on one grid ---------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class GDA:
    """Parameters of sums of groups of lanes to which c is added (Tenstorrent's MVMUL).

    group_lanes: neighbouring lanes that are aligned and summed apart. a_first_bit, a_bits, b_first_bit,
    b_bits: which significand bits are multiplied, counted from the leading one. fraction_bits: of the
    groups' grids. zero_exponent: of a product with a zero factor in its group's maximum. least_exponent:
    groups below it are not there. sum_fraction_bits, kept_fraction_bits: of the grid of sums and c, and to
    which they are rounded once more. minus_one_shift: -1 unit counts as -2^shift. largest_result: a word.
    tininess: IEEE 754, 7.5.
    """

    a_format: str
    b_format: str
    c_format: str
    d_format: str
    k: int
    group_lanes: int
    a_first_bit: int
    a_bits: int
    b_first_bit: int
    b_bits: int
    fraction_bits: int
    alignment: str
    zero_exponent: int
    least_exponent: int | None
    sum_fraction_bits: int
    group_alignment: str
    c_alignment: str
    kept_fraction_bits: int | None
    minus_one_shift: int | None
    rounding: str
    largest_result: int | None
    flush_inputs: bool
    flush_outputs: bool
    tininess: str


def gda(params: GDA, a_words: Sequence[int], b_words: Sequence[int], c_word: int) -> int:
    """d = c + the sums of the groups' products; all formats without infinities and NaNs."""

    def read(fmt_name: str, word: int) -> Number:
        x = decode(fmt_name, word)
        tiny = params.flush_inputs and x.significand < 1
        return replace(x, significand=Fraction(0)) if tiny else x

    def bits(x: Number, first: int, count: int) -> Number:
        above = x.significand * power_of_two(first - 1) % 1  # what lies below the bits before the first one
        kept = math.floor(above * power_of_two(count))
        return replace(x, significand=kept * power_of_two(1 - count), exponent=x.exponent - first)

    groups: list[list[tuple[Fraction, int]]] = []
    for lane, (x, y) in enumerate(zip(a_words, b_words, strict=True)):
        left, right = read(params.a_format, x), read(params.b_format, y)
        p = product(
            bits(left, params.a_first_bit, params.a_bits), bits(right, params.b_first_bit, params.b_bits)
        )
        if lane % params.group_lanes == 0:
            groups.append([])
        zero = left.is_zero or right.is_zero
        groups[-1].append((p.value, params.zero_exponent if zero else p.exponent))
    c = read(params.c_format, c_word)
    terms = [(c.value, c.exponent, params.c_alignment)]
    for group in groups:
        e_max = max(exponent for _, exponent in group)
        if params.least_exponent is None or e_max >= params.least_exponent:
            unit = power_of_two(e_max - params.fraction_bits)
            total = sum((round_to_grid(value, unit, params.alignment) for value, _ in group), Fraction(0))
            terms.append((total, e_max, params.group_alignment))
    e_max = max(exponent for _, exponent, _ in terms)
    places = [params.sum_fraction_bits]
    places += [] if params.kept_fraction_bits is None else [params.kept_fraction_bits]
    total = Fraction(0)
    for value, _, mode in terms:
        for place in places:
            value = round_to_grid(value, power_of_two(e_max - place), mode)
        total += value
    unit = power_of_two(e_max - places[-1])
    if params.minus_one_shift is not None and total == -unit:
        total = -unit * power_of_two(params.minus_one_shift)
    fmt = FORMATS[params.d_format]
    if total and params.flush_outputs:
        exponent = binary_exponent(total)
        after = round_to_grid(total, power_of_two(exponent - fmt.fraction_bits), params.rounding)
        result = _round_unbounded(fmt, total, params.rounding, fmt.fraction_bits)
        size = {"after": after, "before": total, "result": result}[params.tininess]
        total = Fraction(0) if abs(size) < power_of_two(fmt.e_min) else total
    word = encode(params.d_format, total, params.rounding, overflow="saturate")
    if params.largest_result is not None and total:
        sign = 1 << (fmt.sign_position + fmt.padding)
        word = min(word % sign, params.largest_result) + word // sign * sign
    return word


# --- IEEE dot products -------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class IEEE:
    """Parameters of a dot product made of IEEE 754 operations.

    a_format, b_format, c_format, d_format: names of formats. k: lanes.
    method: 'sequential' additions; 'fma': a chain of fused multiply-adds (MMA-Sim, SFMA);
    'pairwise': a balanced tree of additions; 'exact': one rounding of the exact sum.
    product_format, product_rounding: each product is rounded so; None: products are exact.
    sum_format, rounding: of each addition.
    c_first: ('sequential') the sum starts from c; ('exact') c is one of the terms; otherwise c is added last.
    d_rounding: of the result to d_format. nan: the word of the canonical NaN.
    n_fma: lanes of one tree or one exact sum (None: all); the blocks are chained.
    chains: ('fma') lanes i, i + chains, ... are a chain from +0; chains are summed in order, then c is added.
    product_exponent: products are multiplied by 2 to the power of this.
    flush_inputs, flush_c: subnormal inputs, or c alone, are zeros of their sign; flush_to_positive: they
    (and -0) are +0. flush_outputs: subnormal results are zeros of their sign (MMA-Sim, GPS; IEEE 754, 7.5).
    tininess, overflow: as in :func:`encode`.
    negative_zero: ('exact') an exact sum of negative zeros is -0.
    """

    a_format: str
    b_format: str
    c_format: str
    d_format: str
    k: int
    method: Literal["sequential", "fma", "pairwise", "exact"]
    product_format: str | None = None
    product_rounding: str = "RNE"
    sum_format: str
    rounding: str = "RNE"
    c_first: bool = True
    d_rounding: str = "RNE"
    nan: int
    n_fma: int | None = None
    chains: int = 1
    product_exponent: int = 0
    flush_inputs: bool = False
    flush_c: bool = False
    flush_outputs: bool = False
    flush_to_positive: bool = False
    tininess: str = "result"
    overflow: Overflow = "ieee"
    negative_zero: bool = True

    def __post_init__(self) -> None:
        """Refuse what has no meaning."""
        if self.method == "fma" and self.product_format is not None:
            raise ValueError("a fused multiply-add does not round its product")
        lanes = self.n_fma or self.k
        if self.method == "pairwise" and lanes & (lanes - 1):
            raise ValueError(f"a balanced tree needs a power of two of lanes, not {lanes}")


def ieee_dot(params: IEEE, a_words: Sequence[int], b_words: Sequence[int], c_word: int) -> int:
    """d = c + sum of a_i * b_i in IEEE 754 operations, in the order that params.method says."""
    if len(a_words) != params.k or len(b_words) != params.k:
        raise ValueError(f"{len(a_words)} and {len(b_words)} lanes given, k={params.k}")
    a = [_given(params, params.a_format, word, flush=params.flush_inputs) for word in a_words]
    b = [_given(params, params.b_format, word, flush=params.flush_inputs) for word in b_words]
    c = _given(params, params.c_format, c_word, flush=params.flush_inputs or params.flush_c)
    scale = Number("finite", 0, Fraction(1), params.product_exponent)
    products = [product(scale, product(x, y)) for x, y in zip(a, b, strict=True)]
    if params.product_format is not None:
        products = [_rounded(params, params.product_format, x, params.product_rounding) for x in products]
    size = params.n_fma or params.k
    blocks = [products[i : i + size] for i in range(0, params.k, size)]
    if params.method == "sequential":
        total = _sequential_sum(params, products, c)
    elif params.method == "fma":
        total = _fma_chain(params, products, c)
    elif params.method == "pairwise":
        total = c
        for block in blocks:
            total = _add(params, _pairwise_sum(params, block), total)
    else:
        total = c
        for block in blocks:
            total = (
                _add(params, *block, total) if params.c_first else _add(params, _add(params, *block), total)
            )
    if total.kind == "nan":
        return params.nan
    return _ieee_word(params, params.d_format, total, params.d_rounding)


def _given(params: IEEE, fmt_name: str, word: int, *, flush: bool) -> Number:
    """An input; with flush a subnormal is zero (MMA-Sim, GPS step 1; Intel's manual, DAZ)."""
    number = decode(fmt_name, word)
    if flush and number.kind == "finite" and number.significand < 1:
        return Number("finite", 0 if params.flush_to_positive else number.sign)
    return number


def _ieee_word(params: IEEE, fmt_name: str, x: Number, mode: str) -> int:
    """The word of a number (not a NaN) rounded as IEEE 754 says: a zero keeps its sign."""
    if x.kind == "inf":
        return infinity_word(fmt_name, x.sign)
    return encode(
        fmt_name, x.value, mode, overflow=params.overflow, flush_output=params.flush_outputs,
        negative_zero=x.sign == 1, keep_zero_sign=True, tininess=params.tininess,
    )  # fmt: skip


def _rounded(params: IEEE, fmt_name: str, x: Number, mode: str) -> Number:
    """x converted to a format."""
    return NAN if x.kind == "nan" else decode(fmt_name, _ieee_word(params, fmt_name, x, mode))


def _add(params: IEEE, *terms: Number) -> Number:
    """The exact sum of terms, rounded once to sum_format. Of two terms: an IEEE addition."""
    total = exact_sum(terms, params.rounding)
    if total.is_zero and not params.negative_zero:
        total = Number("finite", 0)
    return _rounded(params, params.sum_format, total, params.rounding)


def _sequential_sum(params: IEEE, products: Sequence[Number], c: Number) -> Number:
    """(((c + p1) + p2) + ...), or (((p1 + p2) + ...) + c)."""
    if params.c_first:
        accumulator, terms = c, list(products)
    else:
        accumulator, terms = products[0], [*products[1:], c]
        if params.product_format is None:
            accumulator = _rounded(params, params.sum_format, accumulator, params.rounding)
    for term in terms:
        accumulator = _add(params, accumulator, term)
    return accumulator


def _fma_chain(params: IEEE, products: Sequence[Number], c: Number) -> Number:
    """fma(a_k, b_k, ... fma(a_2, b_2, fma(a_1, b_1, c))) (MMA-Sim, SFMA, Algorithm 1)."""
    if params.chains > 1:  # Intel's manual, TDPBF16PS
        sums = []
        for chain in range(params.chains):
            accumulator = Number("finite", 0)
            for term in products[chain :: params.chains]:
                accumulator = _add(params, accumulator, term)
            sums.append(accumulator)
        whole = sums[0]
        for other in sums[1:]:
            whole = _add(params, whole, other)
        return _add(params, c, whole)
    accumulator = c
    if params.c_format != params.sum_format:
        accumulator = _rounded(params, params.sum_format, c, params.rounding)
    for term in products:
        accumulator = _add(params, accumulator, term)
    return accumulator


def _pairwise_sum(params: IEEE, products: Sequence[Number]) -> Number:
    """The sum of the lower half plus the sum of the upper half (MMA-Sim, Algorithm 2)."""
    if len(products) == 1:
        return _rounded(params, params.sum_format, products[0], params.rounding)
    half = len(products) // 2
    lower, upper = _pairwise_sum(params, products[:half]), _pairwise_sum(params, products[half:])
    return _add(params, lower, upper)


def rounded(x: Fraction, precision: int, e_min: int, rounding: str) -> Fraction:
    """A value in a format without overflow: from the definition."""
    if not x:
        return x
    unit = Fraction(2) ** (max(binary_exponent(abs(x)), e_min) - precision + 1)
    whole, rest = divmod(abs(x), unit)
    up = 2 * rest > unit or (2 * rest == unit and (rounding == "RNA" or whole % 2))
    size = (whole + (up and rounding != "RTZ")) * unit
    return size if x > 0 else -size
