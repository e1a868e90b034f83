"""Dot products of x86 and Arm CPUs on single words, in exact fractions, written from the manuals' words.

Nothing here knows the package's models. A word is decoded to a sign and a fraction, or an infinity, or a
NaN; every operation is an exact sum that is rounded once by integer division.

Sources: Intel's manual (VDPBF16PS, TDPBF16PS, TDPFP16PS) and its Intrinsics Guide; the instruction texts of
Arm (BFDOT, BFMMLA, BFMOPA, FMOPA, BFMLALB, FMLAL, FDOT).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

Words = Sequence[int]


@dataclass(frozen=True)
class Shape:
    """Bits of a format. ocp: no infinities, and all ones is the one NaN."""

    exponent: int
    fraction: int
    ocp: bool = False

    @property
    def width(self) -> int:
        return 1 + self.exponent + self.fraction

    @property
    def bias(self) -> int:
        return (1 << (self.exponent - 1)) - 1


F32, F16, BF16 = Shape(8, 23), Shape(5, 10), Shape(8, 7)
SHAPES = {"f32": F32, "f16": F16, "bf16": BF16, "e5m2": Shape(5, 2), "e4m3": Shape(4, 3, ocp=True)}


@dataclass(frozen=True)
class Read:
    """What a word is read as; value: of a finite number."""

    negative: bool
    value: Fraction = Fraction(0)
    infinite: bool = False
    nan: bool = False


def read(shape: Shape, word: int, *, daz: bool = False) -> Read:
    """A word; daz: a subnormal number is a zero of its sign."""
    negative = bool(word >> (shape.width - 1))
    field = word >> shape.fraction & ((1 << shape.exponent) - 1)
    fraction = word & ((1 << shape.fraction) - 1)
    if field == (1 << shape.exponent) - 1:
        if not shape.ocp:
            return Read(negative, infinite=not fraction, nan=bool(fraction))
        if fraction == (1 << shape.fraction) - 1:
            return Read(negative, nan=True)
    if not field:
        fraction = 0 if daz else fraction
        size = Fraction(fraction) * Fraction(2) ** (1 - shape.bias - shape.fraction)
    else:
        size = Fraction((1 << shape.fraction) + fraction) * Fraction(2) ** (
            field - shape.bias - shape.fraction
        )
    return Read(negative, -size if negative else size)


def times(x: Read, y: Read) -> Read:
    """The exact product; infinity times zero is a NaN."""
    negative = x.negative != y.negative
    if x.nan or y.nan:
        return Read(negative, nan=True)
    if x.infinite or y.infinite:
        invalid = (not x.infinite and not x.value) or (not y.infinite and not y.value)
        return Read(negative, nan=invalid, infinite=not invalid)
    return Read(negative, x.value * y.value)


def plus(*terms: Read) -> Read:
    """The exact sum; a zero is +0 unless every term is -0."""
    infinities = {x.negative for x in terms if x.infinite}
    if any(x.nan for x in terms) or len(infinities) == 2:
        return Read(negative=False, nan=True)
    if infinities:
        return Read(infinities.pop(), infinite=True)
    value = sum((x.value for x in terms), Fraction(0))
    minus = all(x.negative and not x.value for x in terms)
    return Read(value < 0 if value else minus, value)


def exponent_of(size: Fraction) -> int:
    """floor(log2) of a positive number."""
    guess = size.numerator.bit_length() - size.denominator.bit_length()
    return guess if Fraction(2) ** guess <= size else guess - 1


def to_grid(size: Fraction, unit: Fraction, *, odd: bool) -> int:
    """The number of units: the nearest, ties to even; or, odd: if inexact, the odd one of both beside it."""
    whole, rest = divmod(size, unit)
    if odd:
        return whole | 1 if rest else whole
    return whole + (2 * rest > unit or (2 * rest == unit and whole % 2))


def word_of(
    shape: Shape, x: Read, nan: int, *, odd: bool = False, ftz: str = "", saturate: bool = False
) -> int:
    """x rounded once. ftz: a result below the smallest normal number ``before`` or ``after`` that is 0."""
    top = (1 << shape.exponent) - 1
    sign = int(x.negative) << (shape.width - 1)
    if x.nan:
        return nan
    if x.infinite:
        return sign | top << shape.fraction
    size, least = abs(x.value), 1 - shape.bias
    if not size:
        return sign
    place = exponent_of(size)
    if ftz == "before" and place < least:
        return sign
    if ftz == "after" and place < least:
        unit = Fraction(2) ** (place - shape.fraction)
        if to_grid(size, unit, odd=odd) * unit < Fraction(2) ** least:
            return sign
    place = max(place, least)
    units = to_grid(size, Fraction(2) ** (place - shape.fraction), odd=odd)
    if units == 1 << (shape.fraction + 1):
        units, place = units >> 1, place + 1
    field = place + shape.bias if units >= 1 << shape.fraction else 0
    if field >= top:
        return sign | (((top << shape.fraction) - 1) if saturate else top << shape.fraction)
    return sign | field << shape.fraction | (units & ((1 << shape.fraction) - 1))


def quiet(shape: Shape, word: int) -> int:
    """A NaN as a quiet one of binary32, with its sign and payload."""
    exponent = 0x7F800000 if word >> (shape.width - 1) == 0 else 0xFF800000
    payload = (word & ((1 << shape.fraction) - 1)) << (23 - shape.fraction)
    return exponent | payload | 1 << 22


# --- x86 -----------------------------------------------------------------------------------------------


def _fma_flushed(a: Read, b: Read, c: int) -> int:
    added = plus(times(a, b), read(F32, c, daz=True))
    return word_of(F32, added, 0xFFC00000, ftz="after")


def vdpbf16ps(a: Words, b: Words, c: int) -> int:
    """Odd lane first; the first NaN of a0, b0, a1, b1, c is the result."""
    given = [(BF16, a[0]), (BF16, b[0]), (BF16, a[1]), (BF16, b[1]), (F32, c)]
    for shape, word in given:
        if read(shape, word).nan:
            return quiet(shape, word)
    t = _fma_flushed(read(BF16, a[1], daz=True), read(BF16, b[1], daz=True), c)
    if read(F32, t).nan:
        return t
    return _fma_flushed(read(BF16, a[0], daz=True), read(BF16, b[0], daz=True), t)


def _tile(shape: Shape, a: Words, b: Words, c: int, *, apart: bool) -> int:
    daz = shape is BF16
    measured = (
        shape is BF16
    )  # the words of NaNs, of which the manual says nothing; of FP16 they are not known
    invalid = 0xFFC00000 if measured else 0x7FC00000

    def first_nan(*given: tuple[Shape, int]) -> int | None:
        return next((quiet(s, w) for s, w in given if read(s, w).nan), None) if measured else None

    def step(total: int, x: int, y: int) -> int:
        if (nan := first_nan((shape, x), (shape, y), (F32, total))) is not None:
            return nan
        added = plus(times(read(shape, x, daz=daz), read(shape, y, daz=daz)), read(F32, total, daz=True))
        return word_of(F32, added, invalid, ftz="after")

    def sum_of(x: int, y: int) -> int:
        if (nan := first_nan((F32, x), (F32, y))) is not None:
            return nan
        return word_of(F32, plus(read(F32, x, daz=True), read(F32, y, daz=True)), invalid, ftz="after")

    if not apart:
        for x, y in zip(a, b, strict=True):
            c = step(c, x, y)
        return c
    sums = [0, 0]
    for lane, (x, y) in enumerate(zip(a, b, strict=True)):
        sums[lane % 2] = step(sums[lane % 2], x, y)
    return sum_of(c, sum_of(*sums))


def tdpbf16ps(a: Words, b: Words, c: int) -> int:
    """Intel's manual: even and odd lanes apart."""
    return _tile(BF16, a, b, c, apart=True)


def tdpbf16ps_guide(a: Words, b: Words, c: int) -> int:
    """The Intrinsics Guide: into c in turn."""
    return _tile(BF16, a, b, c, apart=False)


def tdpfp16ps(a: Words, b: Words, c: int) -> int:
    """Intel's manual: subnormal FP16 numbers are kept."""
    return _tile(F16, a, b, c, apart=True)


def tdpfp16ps_guide(a: Words, b: Words, c: int) -> int:
    """The Intrinsics Guide: into c in turn."""
    return _tile(F16, a, b, c, apart=False)


# --- Arm -----------------------------------------------------------------------------------------------

_DEFAULT = 0x7FC00000


def bfdot_ebf0(a: Words, b: Words, c: int) -> int:
    """Each pair: products, their sum, and that and c, each rounded to odd and flushed before."""

    def odd(*terms: Read) -> int:
        return word_of(F32, plus(*terms), _DEFAULT, odd=True, ftz="before")

    for lane in range(0, len(a), 2):
        products = []
        for x, y in zip(a[lane : lane + 2], b[lane : lane + 2], strict=True):
            exact = times(read(BF16, x, daz=True), read(BF16, y, daz=True))
            products.append(read(F32, word_of(F32, exact, _DEFAULT, odd=True, ftz="before")))
        c = odd(read(F32, c, daz=True), read(F32, odd(*products)))
    return c


def _exact_pairs(shape: Shape, a: Words, b: Words, c: int) -> int:
    for lane in range(0, len(a), 2):
        pairs = zip(a[lane : lane + 2], b[lane : lane + 2], strict=True)
        products = [times(read(shape, x), read(shape, y)) for x, y in pairs]
        dot = word_of(F32, plus(*products), _DEFAULT)
        c = word_of(F32, plus(read(F32, c), read(F32, dot)), _DEFAULT)
    return c


def bfdot_ebf1(a: Words, b: Words, c: int) -> int:
    """Each pair: the exact sum of both products, rounded; and c, rounded again."""
    return _exact_pairs(BF16, a, b, c)


def fmopa_f16(a: Words, b: Words, c: int) -> int:
    """As BFDOT with EBF = 1."""
    return _exact_pairs(F16, a, b, c)


def _multiply_add(shape: Shape, a: Words, b: Words, c: int) -> int:
    (x,), (y,) = a, b
    operands = [(F32, c), (shape, x), (shape, y)]
    nans = [(s, word) for s, word in operands if read(s, word).nan]
    signalling = [(s, word) for s, word in nans if not word >> (s.fraction - 1) & 1]
    product = times(read(shape, x), read(shape, y))
    if signalling:
        return quiet(*signalling[0])
    if product.nan and nans in ([], [(F32, c)]):
        return _DEFAULT
    if nans:
        return quiet(*nans[0])
    return word_of(F32, plus(product, read(F32, c)), _DEFAULT)


def bfmlal(a: Words, b: Words, c: int) -> int:
    """One fused multiply-add."""
    return _multiply_add(BF16, a, b, c)


def fmlal(a: Words, b: Words, c: int) -> int:
    """One fused multiply-add of FP16 factors."""
    return _multiply_add(F16, a, b, c)


def fdot(d: str, x: str, y: str, *, lscale: int = 0, osm: bool = False) -> Callable[[Words, Words, int], int]:
    """FDOT of these formats: the exact sum of scaled products and c, rounded once."""
    shape, left, right = SHAPES[d], SHAPES[x], SHAPES[y]
    scale = Read(negative=False, value=Fraction(1, 1 << lscale))

    def run(a: Words, b: Words, c: int) -> int:
        pairs = zip(a, b, strict=True)
        products = [times(scale, times(read(left, p), read(right, q))) for p, q in pairs]
        nan = _DEFAULT if d == "f32" else 0x7E00
        return word_of(shape, plus(*products, read(shape, c)), nan, saturate=osm)

    return run


#: By the catalogue's names.
UNITS: dict[str, Callable[[Words, Words, int], int]] = {
    "x86/vdpbf16ps": vdpbf16ps,
    "x86/tdpbf16ps": tdpbf16ps,
    "x86/tdpbf16ps@guide": tdpbf16ps_guide,
    "x86/tdpfp16ps": tdpfp16ps,
    "x86/tdpfp16ps@guide": tdpfp16ps_guide,
    **{f"arm/{name}.ebf0": bfdot_ebf0 for name in ("bfdot", "bfmmla", "bfmopa")},
    **{f"arm/{name}.ebf1": bfdot_ebf1 for name in ("bfdot", "bfmmla", "bfmopa")},
    "arm/fmopa.f32.f16.f16": fmopa_f16,
    "arm/bfmlalb": bfmlal,
    "arm/bfmlalt": bfmlal,
    "arm/fmlal": fmlal,
    **{
        f"arm/fdot.{d}.{x}.{y}{tail}": fdot(d, x, y, **changes)  # type: ignore[arg-type]
        for d in ("f32", "f16")
        for x in ("e4m3", "e5m2")
        for y in ("e4m3", "e5m2")
        for tail, changes in (("", {}), (".lscale5.osm1", {"lscale": 5, "osm": True}))
    },
}
