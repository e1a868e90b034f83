"""Matrix units on whole arrays of inputs, in exact integers: the referee's reference.

Nothing here computes with the package under test: a model is read as data (its parameters), and what
it computes is written down again from the papers (see :mod:`.rationals`, which has the references) and
from the docstrings of the models. A number is an integer times a power of two, each row with its own
power; sums are taken on the finest grid of a row, and held as int64 where that is known to fit, else
as Python integers. So there is no rounding but where a unit rounds, and no range that is silently left.

Entry points: `results` (a model on columns of words), `Format` (decode), `inside` (a domain, word by word).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from tests.oracles import integers

Array = np.ndarray[Any, np.dtype[Any]]

#: Bits of a magnitude up to which sums of a few are held as int64.
ROOM = 57


# --- integers ------------------------------------------------------------------------------------


_LENGTH = np.frompyfunc(lambda x: int(x).bit_length(), 1, 1)


def bit_length(x: Array) -> Array:
    """Bits of each magnitude; 0 of 0."""
    x = np.abs(x)
    if x.dtype != object and (x.size == 0 or int(x.max()) < 1 << 52):
        return np.frexp(x.astype(np.float64))[1].astype(np.int64)
    return np.asarray(_LENGTH(x.astype(object))).astype(np.int64)


def shifted_left(word: Array, by: Array) -> Array:
    """word · 2^by for by >= 0; by of a zero word does not matter."""
    by = np.where(word == 0, 0, by)
    if by.size == 0:
        return word
    assert int(by.min()) >= 0
    if word.dtype != object and int((bit_length(word) + by).max()) <= ROOM:
        return np.left_shift(word, by)
    return np.asarray(np.left_shift(word.astype(object), by.astype(object)))


def rounded(word: Array, drop: Array, mode: str) -> Array:
    """word / 2^drop rounded to an integer, for drop >= 0 (MMA-Sim, Tables I and II; IEEE 754, 4.3)."""
    drop = np.where(word == 0, 0, drop)
    if drop.size == 0:
        return word
    assert int(drop.min()) >= 0
    if word.dtype == object:
        drop = drop.astype(object)
        one: Any = np.full(drop.shape, 1, dtype=object)
    else:
        assert int(np.abs(word).max()) < 1 << 60
        drop = np.minimum(drop, 61)  # then the quotient is below a half of a unit in any case
        one = np.int64(1)
    below = np.right_shift(word, drop)
    rest = word - np.left_shift(below, drop)
    above = below + (rest != 0)
    twice, unit = rest + rest, np.left_shift(one, drop)
    toward, away = np.where(word > 0, below, above), np.where(word > 0, above, below)
    odd = np.not_equal(below & 1, 0)
    directed = {
        "RTZ": toward, "RA": away, "RTP": above, "RTN": below,
        "RTO": np.where(odd, below, above),  # IEEE 754 has no such mode; Arm's and RISC-V's manuals do
    }  # fmt: skip
    if mode in directed:
        return np.asarray(directed[mode])
    ties = {
        "RNE": np.where(odd, above, below), "RNO": np.where(odd, below, above), "RNA": away,
        "RNZ": toward, "RNU": above, "RND": below,
    }  # fmt: skip
    nearest = np.where(twice < unit, below, above)
    return np.where(twice == unit, ties[mode], nearest)


@dataclass(frozen=True)
class Fixed:
    """word · 2^lsb, each row with its own lsb; that of a zero means nothing."""

    word: Array
    lsb: Array

    def on_grid(self, unit: Array, mode: str) -> Fixed:
        """Rounded to a multiple of 2^unit; unchanged where it is one."""
        down = rounded(self.word, np.where(self.word == 0, 0, np.maximum(unit - self.lsb, 0)), mode)
        return Fixed(down, np.maximum(self.lsb, unit))

    def in_units(self, unit: Array) -> Array:
        """The integer n of n · 2^unit, of a multiple of 2^unit."""
        zero = self.word == 0
        down = np.where(zero, 0, np.maximum(unit - self.lsb, 0))
        up = np.where(zero, 0, np.maximum(self.lsb - unit, 0))
        down = down.astype(object) if self.word.dtype == object else np.minimum(down, 62)
        quotient = np.right_shift(self.word, down)
        assert np.array_equal(np.left_shift(quotient, down), self.word), "not a multiple"
        return shifted_left(quotient, up)

    @property
    def top(self) -> Array:
        """floor(log2) of the magnitude; of a zero: lsb - 1."""
        return self.lsb + bit_length(self.word) - 1


def total(terms: Sequence[Fixed]) -> Fixed:
    """The exact sum, on the finest grid that a non-zero term of the row has."""
    nowhere = np.int64(1 << 40)
    places = [np.where(t.word == 0, nowhere, t.lsb) for t in terms]
    base = np.minimum.reduce(places)
    base = np.where(base == nowhere, 0, base)
    words = [shifted_left(t.word, t.lsb - base) for t in terms]
    assert len(words) <= 33  # of ROOM bits each, in 63
    if any(w.dtype == object for w in words):
        words = [w.astype(object) for w in words]
    whole = words[0]
    for word in words[1:]:
        whole = whole + word
    return Fixed(whole, base)


# --- formats -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Numbers:
    """(-1)^sign · mag · 2^lsb, or an infinity, or a NaN.

    exp: the exponent as MMA-Sim writes it: of a decoded number that of the binary point after the
    first significand bit (e_min for subnormal numbers and zero), of a product the sum of both.
    cancelled: a zero that is a sum of numbers not all zero, and keeps its exponent.
    """

    sign: Array
    mag: Array
    lsb: Array
    exp: Array
    inf: Array
    nan: Array
    cancelled: Array

    @property
    def zero(self) -> Array:
        """Whether it is +0 or -0."""
        return np.equal(self.mag, 0) & ~self.inf & ~self.nan

    @property
    def fixed(self) -> Fixed:
        """The signed value of what is finite."""
        return Fixed(np.where(self.sign, -self.mag, self.mag), self.lsb)


@dataclass(frozen=True)
class Format:
    """A format, as :class:`.Format` describes it; specials by name."""

    exponent_bits: int
    fraction_bits: int
    bias: int
    specials: str
    signed: bool
    ignored_low_bits: int
    ignored_high_bits: int

    @classmethod
    def of(cls, given: Any) -> Format:
        """Read as data."""
        values = {one.name: getattr(given, one.name) for one in fields(cls)}
        return cls(**(values | {"specials": given.specials.name}))

    @property
    def width(self) -> int:
        """Bits of a word."""
        stored = int(self.signed) + self.exponent_bits + self.fraction_bits
        return stored + self.ignored_low_bits + self.ignored_high_bits

    @property
    def gradual(self) -> bool:
        """Whether field 0 holds zero and subnormal numbers; not so where there is no fraction."""
        return self.fraction_bits > 0

    @property
    def e_min(self) -> int:
        """Exponent of the smallest normal number and of subnormal numbers."""
        return (1 if self.gradual else 0) - self.bias

    @property
    def e_max(self) -> int:
        """Exponent of the largest finite number, which has a fraction."""
        assert self.gradual
        return (1 << self.exponent_bits) - (2 if self.specials == "IEEE" else 1) - self.bias

    def decode(self, words: Array) -> Numbers:
        """The numbers that words stand for."""
        words = words.astype(np.int64)
        fraction = (words >> self.ignored_low_bits) & ((1 << self.fraction_bits) - 1)
        field = (words >> (self.ignored_low_bits + self.fraction_bits)) & ((1 << self.exponent_bits) - 1)
        sign = ((words >> (self.width - 1)) & 1).astype(bool) if self.signed else np.zeros(words.shape, bool)
        ones = field == (1 << self.exponent_bits) - 1
        nothing = np.zeros(words.shape, bool)
        inf = nan = nothing
        if self.specials == "IEEE":
            inf, nan = ones & (fraction == 0), ones & (fraction != 0)
        elif self.specials == "NAN_ONLY":
            nan = ones & (fraction == (1 << self.fraction_bits) - 1)
        elif self.specials == "NEGATIVE_ZERO_NAN":
            assert self.signed
            nan = sign & (field == 0) & (fraction == 0)
        normal = (field > 0) | (not self.gradual)
        finite = ~inf & ~nan
        mag = np.where(finite, fraction + np.where(normal, 1 << self.fraction_bits, 0), 0)
        exp = np.where(finite & normal, field - self.bias, self.e_min)
        return Numbers(sign, mag, exp - self.fraction_bits, exp, inf, nan, nothing)

    def subnormal(self, words: Array) -> Array:
        """Whether a word is a subnormal number."""
        x = self.decode(words)
        return ~x.zero & ~x.inf & ~x.nan & (x.mag < 1 << self.fraction_bits)

    def infinity(self, sign: Array) -> Array:
        """The word of an infinity."""
        assert self.specials == "IEEE" and self.signed
        field = np.int64(((1 << self.exponent_bits) - 1) << (self.fraction_bits + self.ignored_low_bits))
        return sign.astype(np.int64) << (self.width - 1) | field

    @property
    def quiet_nan(self) -> int:
        """The quiet NaN that IEEE 754 prefers: positive, the first fraction bit set."""
        assert self.specials == "IEEE"
        field = ((1 << self.exponent_bits) - 1) << self.fraction_bits
        return (field | 1 << (self.fraction_bits - 1)) << self.ignored_low_bits

    def quiet_in(self, wide: Format, words: Array) -> Array:
        """A NaN's sign and the upper bits of its payload in another format, quiet."""
        payload = (words.astype(np.int64) >> self.ignored_low_bits) & ((1 << self.fraction_bits) - 1)
        room = wide.fraction_bits - self.fraction_bits
        payload = payload << room if room >= 0 else payload >> -room
        field = wide.quiet_nan >> wide.ignored_low_bits
        sign = (words.astype(np.int64) >> (self.width - 1)) & 1
        return sign << (wide.width - 1) | (field | payload) << wide.ignored_low_bits

    def encode(
        self,
        x: Fixed,
        mode: str,
        minus: Array,
        *,
        keep_sign: bool = True,
        kept: int | None = None,
        overflow: str = "ieee",
        flush: bool = False,
        tininess: str = "result",
    ) -> Array:
        """The words of numbers rounded to this format.

        A format without infinities has its largest number for what is beyond it, and one whose -0 is the
        NaN has +0 alone. minus: where an exact zero is -0. keep_sign: whether a zero made of a number that
        is none has its sign. kept: the fraction bit at which rounding happens (None: the last). overflow:
        what is beyond the largest number after rounding becomes: ``infinity``, ``saturate``, or as IEEE
        754 says (7.4). flush: a subnormal result becomes zero; tininess: what counts as one (7.5): the
        rounded value, that ``before`` rounding, or ``after`` rounding with exponents without a lower end.
        """
        bits = self.fraction_bits if kept is None else kept
        assert kept is None or self.specials == "IEEE"
        last = (1 << (bits + 1)) - 1 - (self.specials == "NAN_ONLY")
        negative = np.asarray(x.word < 0).astype(bool)
        exp = np.where(x.word == 0, self.e_min, np.maximum(x.top, self.e_min))
        units = np.abs(x.on_grid(exp - bits, mode).in_units(exp - bits)).astype(np.int64)
        over = units == 1 << (bits + 1)
        units, exp = np.where(over, 1 << bits, units), exp + over
        normal = units >= 1 << bits
        assert bool((normal | (exp == self.e_min)).all())
        if flush:
            normal = normal & ~self._tiny(x, mode, bits, tininess)
            units = np.where(normal, units, 0)
        zero = units == 0
        sign = np.where(zero, np.where(x.word == 0, minus, negative & keep_sign), negative)
        beyond = (exp > self.e_max) | ((exp == self.e_max) & (units > last))
        exp = np.where(beyond, self.e_max, exp)
        units = np.where(beyond, last, units)
        field = np.where(normal, exp + self.bias, 0)
        fraction = (units - np.where(normal, 1 << bits, 0)) << (self.fraction_bits - bits)
        word = (field << self.fraction_bits | fraction) << self.ignored_low_bits
        if self.specials == "NEGATIVE_ZERO_NAN":
            sign = sign & ~zero
        word = word | sign.astype(np.int64) << (self.width - 1)
        if self.specials != "IEEE":
            return word
        return np.where(beyond & _to_infinity(overflow, mode, negative), self.infinity(negative), word)

    def _tiny(self, x: Fixed, mode: str, bits: int, tininess: str) -> Array:
        """Whether a value counts as tiny, its rounded value being normal."""
        if tininess == "result":
            return np.zeros(x.word.shape, bool)
        below = (x.word != 0) & (x.top < self.e_min)
        if tininess == "before":
            return below
        rounded = x.on_grid(np.where(x.word == 0, 0, x.top) - bits, mode)
        return below & (rounded.top < self.e_min)


def _to_infinity(overflow: str, mode: str, negative: Array) -> Array:
    """Whether an overflow gives infinity, not the largest finite number."""
    match overflow, mode:
        case ("infinity", _):
            return np.ones(negative.shape, bool)
        case ("saturate", _) | (_, "RTZ"):
            return np.zeros(negative.shape, bool)
        case (_, "RTP"):
            return ~negative
        case (_, "RTN"):
            return negative
    return np.ones(negative.shape, bool)


# --- numbers -------------------------------------------------------------------------------------


def product(x: Numbers, y: Numbers) -> Numbers:
    """The exact product, not normalised (MMA-Sim, FDA step 2; IEEE 754 for special operands)."""
    nan = x.nan | y.nan | (x.inf & y.zero) | (y.inf & x.zero)
    inf = (x.inf | y.inf) & ~nan
    room = int(bit_length(x.mag).max(initial=0)) + int(bit_length(y.mag).max(initial=0)) <= ROOM
    mag = x.mag * y.mag if room else x.mag.astype(object) * y.mag.astype(object)
    return Numbers(x.sign ^ y.sign, mag, x.lsb + y.lsb, x.exp + y.exp, inf, nan, np.zeros(nan.shape, bool))


def flushed(x: Numbers, fmt: Format, keep_sign: bool = True) -> Numbers:
    """Subnormal numbers of a format read as zero."""
    tiny = ~x.inf & ~x.nan & (x.mag < 1 << fmt.fraction_bits)
    sign = x.sign if keep_sign else x.sign & ~tiny
    return replace(x, mag=np.where(tiny, 0, x.mag), sign=sign)


def specials(terms: Sequence[Numbers]) -> tuple[Array, Array, Array]:
    """Of a sum: whether it is a NaN, whether an infinity, and that one's sign (IEEE 754, 6.1, 7.2)."""
    nan = np.logical_or.reduce([t.nan for t in terms])
    plus = np.logical_or.reduce([t.inf & ~t.sign for t in terms])
    minus = np.logical_or.reduce([t.inf & t.sign for t in terms])
    nan = nan | (plus & minus)
    return nan, (plus | minus) & ~nan, minus


def finished(fmt: Format, words: Array, special: tuple[Array, Array, Array], nan_word: Array | int) -> Array:
    """The words of finite results, with those of the special ones."""
    nan, inf, minus = special
    return np.where(nan, nan_word, np.where(inf, fmt.infinity(minus), words))


def maximum(exponents: Sequence[Array]) -> Array:
    """The largest in each row."""
    return np.maximum.reduce(list(exponents))


# --- the truncated fused dot-product-add ------------------------------------------------------------


def results(model: Any, columns: dict[str, Array]) -> Array:
    """The word of D for each row: ``columns`` by input name (a0, ..., b0, ..., c, sa0, ..., sb0, ...)."""
    p = model.parameters
    lanes = range(p.k)
    a, b = ([columns[f"{side}{lane}"] for lane in lanes] for side in "ab")
    match model.kind:
        case "fused-dot-add":
            count = p.k // p.scale_block if p.scale_format is not None else 0
            scales = [[columns[f"s{side}{n}"] for n in range(count)] for side in "ab"]
            return _fused(p, a, b, columns["c"], *scales)
        case "dot-then-add":
            return _dot_then_add(p, a, b, columns["c"])
        case "ieee-dot-add":
            return _ieee(p, a, b, columns["c"])
        case "grouped-dot-add":
            return _grouped(p, a, b, columns["c"])
        case "instruction-sequence":
            word = columns["c"]
            for one in p.instructions:
                word = results(one, {**columns, "c": word})
            return word
        case "integer-dot-add":
            rows = zip(*(words.tolist() for words in columns.values()), strict=True)
            found = [integers.result(p, dict(zip(columns, row, strict=True))) for row in rows]
            return np.array(found, dtype=object if p.d_format.bits > 62 else np.int64)
    raise ValueError(f"no kind of model {model.kind!r}")


def _products(
    m: Any, a: Sequence[Array], b: Sequence[Array], flush: bool, keep: bool = True
) -> list[Numbers]:
    read = []
    for fmt, side in ((Format.of(m.a_format), a), (Format.of(m.b_format), b)):
        numbers = [fmt.decode(words) for words in side]
        if getattr(m, "operand_format", None) is not None:
            numbers = [_converted(x, Format.of(m.operand_format)) for x in numbers]
        read.append([flushed(x, fmt, keep) for x in numbers] if flush else numbers)
    return [product(x, y) for x, y in zip(*read, strict=True)]


def _converted(x: Numbers, wide: Format) -> Numbers:
    """As the wide format, which holds it, has it: the exponent is that of the leading bit, or e_min."""
    finite = x.mag > 0
    leading = x.lsb + np.floor(np.log2(np.where(finite, x.mag, 1))).astype(np.int64)  # mag is small
    return replace(x, exp=np.where(finite, np.maximum(leading, wide.e_min), wide.e_min))


#: The words that NVIDIA's units give for a NaN (MMA-Sim, FDA step 1), by the output format's name.
CANONICAL = {"f32": 0x7FFFFFFF, "f16": 0x7FFF}


def _fused(
    m: Any, a: Sequence[Array], b: Sequence[Array], c: Array, sa: Sequence[Array], sb: Sequence[Array]
) -> Array:
    """MMA-Sim, FDA, CoFDA and GDFS; with c last: Khattak and Mikaitis, Fig. 5c."""
    d = Format.of(m.d_format)

    def read(fmt: Format, words: Array) -> Numbers:
        number = fmt.decode(words)
        return flushed(number, fmt) if m.flush_inputs or m.flush_c else number

    products = _products(m, a, b, m.flush_inputs)
    given = read(Format.of(m.c_format), c)
    last = m.c_position == "last"
    carried = d.decode(np.zeros(c.shape, np.int64)) if last else given
    words = np.zeros(c.shape, np.int64) if last else c
    c_format = d if last else Format.of(m.c_format)
    blocks = m.k // m.n_fma
    deal = m.interleave or m.n_fma
    order = m.order if m.order is not None else range(m.k)
    nan_word: Array = np.zeros(c.shape, np.int64)
    for block in range(blocks):
        lanes = [lane for place, lane in enumerate(order) if place // deal % blocks == block]
        terms, led = [products[lane] for lane in lanes], None
        nan_word = _nan_words(m, d, [a[lane] for lane in lanes], [b[lane] for lane in lanes], words, c_format)
        if m.scale_format is not None:
            if m.c_enters != "always" or m.group_dropped_below is not None:
                sizes = 1, m.inner_group or m.group
                led = [_scaled(m, lanes, terms, sa, sb, size) for size in sizes]
            terms = _scaled(m, lanes, terms, sa, sb, m.group)
        words = _block(m, d, terms, carried, nan_word, led)
        carried, c_format = read(d, words), d
    if last:
        words = _last_addition(m, d, d.decode(words), given, nan_word)
    return words


def _nan_words(
    m: Any, d: Format, a: Sequence[Array], b: Sequence[Array], c: Array, c_format: Format
) -> Array:
    """The word of each row's result if it is a NaN, by the first case of the model's rule that holds."""
    if m.nan is None:
        return np.full(c.shape, CANONICAL.get(m.d_format.name, d.quiet_nan))
    fa, fb = Format.of(m.a_format), Format.of(m.b_format)
    left = [(fa, x, flushed(fa.decode(x), fa) if m.flush_inputs else fa.decode(x)) for x in a]
    right = [(fb, x, flushed(fb.decode(x), fb) if m.flush_inputs else fb.decode(x)) for x in b]
    found, done = np.full(c.shape, m.nan.otherwise), np.zeros(c.shape, bool)
    for case in m.nan.cases:
        if case.subject == "products":
            pairs = [(x, y) for (_, _, x), (_, _, y) in zip(left, right, strict=True)]
            holds = np.logical_or.reduce([(x.inf & y.zero) | (x.zero & y.inf) for x, y in pairs])
            endless = [(product(x, y).inf, x.sign ^ y.sign) for x, y in pairs]
            both = [np.logical_or.reduce([inf & (s == sign) for inf, s in endless]) for sign in (False, True)]
            holds = holds | (both[0] & both[1])
            found, done = np.where(holds & ~done, case.word, found), done | holds
            continue
        together = [one for pair in zip(left, right, strict=True) for one in pair]
        operands = {"a": left, "b": right, "c": [(c_format, c, c_format.decode(c))], "factors": together}
        for fmt, words, number in operands[case.subject]:
            quiet = (words >> (fmt.ignored_low_bits + fmt.fraction_bits - 1)) & 1
            holds = number.nan & ((quiet == 0) if case.signalling else True)
            word = case.word if case.word is not None else fmt.quiet_in(d, words)
            found, done = np.where(holds & ~done, word, found), done | holds
    return found


def _nan_of_sum(m: Any, d: Format, x: Array, y: Array) -> Array:
    """Of x + y: a NaN x stands where a rule says a or factors, a NaN y where it says c."""
    found, done = np.full(x.shape, m.nan.otherwise), np.zeros(x.shape, bool)
    for case in m.nan.cases:
        words = {"a": x, "factors": x, "c": y}.get(case.subject)
        if words is None:
            continue
        quiet = (words >> (d.ignored_low_bits + d.fraction_bits - 1)) & 1
        holds = d.decode(words).nan & ((quiet == 0) if case.signalling else True)
        word = case.word if case.word is not None else d.quiet_in(d, words)
        found, done = np.where(holds & ~done, word, found), done | holds
    return found


def _scaled(
    m: Any, lanes: Sequence[int], products: Sequence[Numbers], sa: Sequence[Array], sb: Sequence[Array],
    group: int,
) -> list[Numbers]:  # fmt: skip
    """Products times their scales; or exact sums of `group` of them (MMA-Sim, GDFS steps 2 to 4)."""
    fmt = Format.of(m.scale_format)
    found = []
    for start in range(0, len(products), group):
        members = list(products[start : start + group])
        place = lanes[start] // m.scale_block
        scale = product(fmt.decode(sa[place]), fmt.decode(sb[place]))
        if group == 1:
            found.append(product(members[0], scale))
            continue
        nan, inf, minus = specials(members)
        whole = total([p.fixed for p in members])
        nothing = np.logical_and.reduce([p.zero for p in members]) | scale.zero
        sign = np.where(inf, minus, np.asarray(whole.word < 0).astype(bool))
        zero = np.zeros(nan.shape, np.int64)
        sigma = Numbers(sign, np.abs(whole.word), whole.lsb, zero, inf, nan, np.zeros(nan.shape, bool))
        term = product(sigma, scale)
        found.append(replace(term, cancelled=term.zero & ~nothing))
    return found


def _entering(m: Any, x: Numbers) -> Array:
    """The exponent with which a term takes part in the maximum."""
    if m.zero_exponent is None:
        return x.exp
    return np.where(x.zero & ~x.cancelled, m.zero_exponent, x.exp)


def _aligned(m: Any, x: Fixed, top: Array) -> Fixed:
    """A term on the grid 2^(top - F) (MMA-Sim, FDA step 3); one bit more with a sticky bit."""
    unit = top - m.fraction_bits
    cut = x.on_grid(unit, m.alignment.name)
    if not m.alignment_sticky:
        return cut
    lost = np.not_equal(x.word, 0) & (x.lsb < unit)
    back = Fixed(np.where(lost, cut.word, 0), cut.lsb)
    lost = lost & np.asarray(total([x, Fixed(-back.word, back.lsb)]).word != 0).astype(bool)
    below = np.where(x.word < 0, -1, 1)
    return Fixed(np.where(lost, cut.word * 2 + below, cut.word), np.where(lost, unit - 1, cut.lsb))


#: Parameters with which nothing says how many bits the register of a sum has, unless they are these.
SAID = {"alignment_complement": False, "group_fraction_bits": None, "group": 1, "c_exponent_offset": 0}


def describes(model: Any) -> bool:
    """Whether the model says enough to be held against this oracle.

    What a register with carry bits does is said for some sums only; nor is the grid of misplaced subnormal
    results said for them.
    """
    m = model.parameters
    limited = getattr(m, "carry_bits", None) is not None
    return not limited or (_has_known_register(m) and m.subnormal_results == "rounded")


def _has_known_register(m: Any) -> bool:
    return all(getattr(m, name) == value for name, value in SAID.items())


def _wrapped(m: Any, x: Fixed, top: Array) -> Fixed:
    """A sum in a register of a sign, a term's integer bits and carry_bits above the point of 2^top.

    A product has two integer bits; with scales in [1, 2) it has four.
    """
    if m.carry_bits is None:
        return x
    assert _has_known_register(m)
    integer = 4 if m.scale_format is not None and m.scale_format.fraction_bits else 2
    place = np.where(x.word == 0, 3, top + 1 + integer + m.carry_bits - x.lsb)  # bits of the whole register
    assert int(place.min()) >= 1
    if x.word.dtype == object:
        modulus = np.left_shift(np.full(place.shape, 1, dtype=object), place.astype(object))
    else:
        assert int(np.abs(x.word).max()) < 1 << 61
        modulus = np.left_shift(np.int64(1), np.minimum(place, 62))
    half = modulus // 2
    return Fixed((x.word + half) % modulus - half, x.lsb)


def _c_enters(m: Any, c: Numbers) -> Array:
    """The exponent with which c takes part in the maximum."""
    own = c.exp + m.c_exponent_offset
    return own if m.zero_c == "fields" else np.where(c.zero, _entering(m, replace(c, exp=own)), own)


def _complement_sum(m: Any, terms: Sequence[Numbers], c: Numbers, top: Array) -> Fixed:
    """Terms cut to the grid; one of the other sign than c's is -(m + 1) units, not -m (FACTS 1a.8)."""
    cut = [_aligned(m, t.fixed, top) for t in terms]
    unit = top - m.fraction_bits
    more = [
        Fixed(np.where(t.sign != c.sign, np.where(t.sign, -1, 1), 0).astype(np.int64), unit) for t in terms
    ]
    whole = total([total(cut), total(more), _aligned(m, c.fixed, top)])
    nothing = np.logical_and.reduce([t.zero for t in (*terms, c)])
    return Fixed(np.where(nothing, 0, whole.word), whole.lsb)


def _led_sum(
    m: Any, d: Format, groups: Sequence[Numbers], led: Sequence[Sequence[Numbers]], c: Numbers
) -> tuple[Fixed, Array]:
    """Scaled groups and c, where c decides the grid only if it leads (FACTS2 1e, 1f); and the exponent of it.

    led: the products with their scales, lane by lane, and the sums of inner groups.
    """
    nowhere = np.int64(-(1 << 40))
    lanes, inner = led
    size = len(lanes) // len(groups)
    reached = [np.where(x.zero, nowhere, x.exp) for x in lanes]
    always = np.full(c.zero.shape, m.c_enters == "always")
    leads = ~c.zero & ((c.exp >= maximum(reached)) | always)
    own = [_entering(m, x) for x in groups]
    top = maximum([*own, np.where(c.zero | leads, _c_enters(m, c), nowhere)])
    finest = top - m.fraction_bits
    rough = np.maximum(finest, c.exp - m.fraction_bits)
    mode, whole = m.alignment.name, [_aligned_c(m, c, top)]
    for number, x in enumerate(groups):
        unit = finest
        if m.c_enters == "leading_by_group":
            below = maximum(reached[number * size : (number + 1) * size]) <= c.exp
            unit = np.where(below & ~leads & ~c.zero, rough, finest)
        value = x.fixed.on_grid(unit, mode) if not m.alignment_sticky else _aligned(m, x.fixed, top)
        if m.inner_group is not None:
            pieces = inner[number * size // m.inner_group : (number + 1) * size // m.inner_group]
            apart = total([y.fixed.on_grid(finest, mode) for y in pieces])
            value, apart = total([value]), total([apart])
            value = _chosen(leads, value, apart)
        whole.append(value)
    everything = total(whole)
    if m.group_dropped_below is None:
        return everything, top
    least = d.e_min - d.fraction_bits
    subnormal = (everything.word != 0) & (everything.top >= least) & (everything.top < d.e_min)
    kept = whole[:1]
    for x, value in zip(groups, whole[1:], strict=True):
        small = (value.top < m.group_dropped_below) & (x.exp < maximum(own))
        kept.append(Fixed(np.where(small, 0, value.word), value.lsb))
    return _chosen(subnormal, total(kept), everything), top


def _chosen(first: Array, x: Fixed, y: Fixed) -> Fixed:
    """One value where a condition holds, else the other."""
    return Fixed(np.where(first, x.word, y.word), np.where(first, x.lsb, y.lsb))


def _aligned_c(m: Any, c: Numbers, top: Array) -> Fixed:
    """c on the grid, or nothing of it where the model drops it."""
    addend = _aligned(m, c.fixed, top)
    if m.c_dropped_above is None:
        return addend
    unit = top - m.fraction_bits
    dropped = (unit > m.c_dropped_above) & (c.fixed.top < unit)
    return Fixed(np.where(dropped, 0, addend.word), addend.lsb)


def _block(
    m: Any, d: Format, terms: Sequence[Numbers], c: Numbers, nan_word: Array | int,
    led: Sequence[Sequence[Numbers]] | None,
) -> Array:  # fmt: skip
    """One fused dot-product-add (MMA-Sim, FDA steps 1 to 5); groups, complements, c's own rules: FACTS 1."""
    special = specials([*terms, c])
    every_minus = np.logical_and.reduce([t.zero & ~t.cancelled & t.sign for t in (*terms, c)])
    if m.products == "normalised":
        terms = [replace(t, exp=np.where(t.zero, t.exp, t.fixed.top)) for t in terms]
    if m.normalisation == "every":
        whole = _one_by_one(m, d, terms, c)
    elif m.c_position == "summed":
        own = maximum([_entering(m, t) for t in terms])
        dot = total([_aligned(m, t.fixed, own) for t in terms])
        top = np.maximum(own, _entering(m, c))
        whole = _wrapped(m, total([_aligned(m, dot, top), _aligned(m, c.fixed, top)]), top)
    elif led is not None:
        whole, top = _led_sum(m, d, terms, led, c)
        whole = _wrapped(m, whole, top)
    else:
        top = maximum([*(_entering(m, t) for t in terms), _c_enters(m, c)])
        if m.alignment_complement:
            whole = _complement_sum(m, terms, c, top)
        else:
            whole = total([*_addends(m, terms, top), _aligned_c(m, c, top)])
        whole = _wrapped(m, whole, top)
    wide = d if m.rounded_format is None else Format.of(m.rounded_format)
    words = wide.encode(
        whole, m.rounding.name, every_minus & bool(m.negative_zero), keep_sign=bool(m.negative_zero),
        kept=m.round_fraction_bits, overflow=m.overflow, flush=m.flush_outputs, tininess=m.tininess,
    )  # fmt: skip
    if m.subnormal_results == "misplaced":
        words = _misplaced(m, d, words, whole, top - m.fraction_bits - bool(m.alignment_sticky))
    return finished(d, words >> (wide.width - d.width), special, nan_word)


def _misplaced(m: Any, d: Format, words: Array, x: Fixed, unit: Array) -> Array:
    """Subnormal results as RISC-V's pseudo-code of RVBNA has them (its resExp, accAbs and masks)."""
    found = words.copy()
    bits = d.fraction_bits
    for place in np.flatnonzero((x.word != 0) & (x.top < d.e_min)):
        exp = int(x.top[place]) + d.bias  # at most 0
        acc = int(np.abs(x.in_units(np.where(x.word == 0, x.lsb, unit))[place]))
        if exp < -bits:
            word = 1
        else:
            mask = ((1 << bits) - 1) >> (bits + exp)
            word = acc >> (bits + exp) | (acc & mask != 0)
        size, top = word & ((1 << (d.width - 1)) - 1), word >> (d.width - 1) & 1
        minus = (x.word[place] < 0 or top == 1) and (size != 0 or m.negative_zero)
        found[place] = int(minus) << (d.width - 1) | size
    return found


def _addends(m: Any, terms: Sequence[Numbers], top: Array) -> list[Fixed]:
    """The products on the grid; those of a group summed on the group's own grid first (FACTS 1b.4, 1d)."""
    if m.group_fraction_bits is None:
        return [_aligned(m, t.fixed, top) for t in terms]
    sums = []
    for start in range(0, len(terms), m.group):
        members = terms[start : start + m.group]
        own = maximum([_entering(m, t) for t in members])
        mode = m.alignment.name
        sums.append(total([t.fixed.on_grid(own - m.group_fraction_bits, mode) for t in members]))
    return [_aligned(m, x, top) for x in sums]


def _one_by_one(m: Any, d: Format, terms: Sequence[Numbers], c: Numbers) -> Fixed:
    """c, then each term, every sum normalised and cut off after F fraction bits (Fasi et al., 3.1.4)."""
    value, exp, zero = c.fixed, c.exp, c.zero
    for term in terms:
        top = np.maximum(np.where(zero, m.zero_exponent, exp), _entering(m, term))
        whole = total([_aligned(m, value, top), _aligned(m, term.fixed, top)])
        zero = np.asarray(whole.word == 0).astype(bool)
        exp = np.where(zero, d.e_min, whole.top)
        value = whole.on_grid(exp - m.fraction_bits, "RTZ")
    return value


def _last_addition(m: Any, d: Format, x: Numbers, c: Numbers, nan_word: Array | int) -> Array:
    """One IEEE addition, rounded to D's format by c_rounding (Khattak and Mikaitis, IV-A5)."""
    mode = m.c_rounding.name
    words = d.encode(
        total([x.fixed, c.fixed]), mode, minus_zero([x, c], mode) & bool(m.negative_zero),
        keep_sign=bool(m.negative_zero), flush=m.flush_outputs,
    )  # fmt: skip
    return finished(d, words, specials([x, c]), nan_word)


def minus_zero(terms: Sequence[Numbers], mode: str) -> Array:
    """Where an exact zero sum is -0 (IEEE 754, 6.3)."""
    minus = np.logical_and.reduce([t.zero & t.sign for t in terms])
    if mode != "RTN":
        return minus
    plus = np.logical_and.reduce([t.zero & ~t.sign for t in terms])
    return ~plus


# --- products first, then c -------------------------------------------------------------------------


def _dot_then_add(m: Any, a: Sequence[Array], b: Sequence[Array], c: Array) -> Array:
    """MMA-Sim, FDRDA and GFDRDA, and their chains."""
    d = Format.of(m.d_format)
    products = _products(m, a, b, flush=False)
    if m.product_limit is not None:  # step 2: products overflow
        over = [~p.nan & ~p.inf & ~p.zero & (p.fixed.top >= m.product_limit) for p in products]
        pairs = zip(products, over, strict=True)
        products = [replace(p, inf=p.inf | o, mag=np.where(o, 0, p.mag)) for p, o in pairs]
    carried = Format.of(m.c_format).decode(c)
    words = np.zeros(c.shape, np.int64)
    for start in range(0, m.k, m.n_fma):
        words = _down_block(m, d, products[start : start + m.n_fma], carried)
        carried = d.decode(words)
    return words


def _down_block(m: Any, d: Format, products: Sequence[Numbers], c: Numbers) -> Array:
    special = specials([*products, c])
    bits, again = m.fraction_bits, m.realignment.name
    nowhere = np.int64(-(1 << 40))
    sums: list[tuple[Fixed, Array]] = []
    for group in range(m.lane_groups):
        terms = products[group :: m.lane_groups]
        top = maximum([np.where(t.zero, nowhere, t.exp) for t in terms])
        sums.append((total([t.fixed.on_grid(top - bits, m.alignment.name) for t in terms]), top))
    dot_top = maximum([top for _, top in sums])
    dot = total([s.on_grid(dot_top - bits, again) for s, _ in sums])  # one group lies on its grid already
    top = np.maximum(dot_top, c.exp)
    dot = dot.on_grid(top - m.dot_fraction_bits, again)
    addend = c.fixed.on_grid(top - bits, again)
    if m.c_reach is not None:
        addend = Fixed(np.where(c.exp < top - m.c_reach, 0, addend.word), addend.lsb)
    whole = total([dot, addend])
    if m.normalised_fraction_bits is not None:
        place = np.maximum(whole.top, d.e_min) - m.normalised_fraction_bits
        whole = whole.on_grid(place, "RTN")
    words = d.encode(whole, m.rounding.name, np.zeros(c.sign.shape, bool))
    return finished(d, words, special, d.quiet_nan)


# --- groups of lanes, and c, on one grid -------------------------------------------------------------


def _grouped(m: Any, a: Sequence[Array], b: Sequence[Array], c: Array) -> Array:
    """The docstring of GroupedDotAdd (Tenstorrent's MVMUL)."""
    d = Format.of(m.d_format)

    def read(given: Any, words: Array) -> Numbers:
        fmt = Format.of(given)
        number = fmt.decode(words)
        return flushed(number, fmt) if m.flush_inputs else number

    products, places = [], []
    for x, y in zip(a, b, strict=True):
        left, right = read(m.a_format, x), read(m.b_format, y)
        parts = _bits_of(left, m.a_first_bit, m.a_bits), _bits_of(right, m.b_first_bit, m.b_bits)
        products.append(product(*parts))
        places.append(np.where(left.zero | right.zero, m.zero_exponent, products[-1].exp))
    addend = read(m.c_format, c)
    sums: list[tuple[Fixed, Array]] = []
    for start in range(0, m.k, m.group_lanes):
        lanes = slice(start, start + m.group_lanes)
        top = maximum(places[lanes])
        own = total([p.fixed.on_grid(top - m.fraction_bits, m.alignment.name) for p in products[lanes]])
        if m.least_exponent is not None:
            small = top < m.least_exponent
            own, top = Fixed(np.where(small, 0, own.word), own.lsb), np.where(small, -(1 << 40), top)
        sums.append((own, top))
    top = maximum([addend.exp, *(place for _, place in sums)])
    unit = top - m.sum_fraction_bits
    terms = [(addend.fixed, m.c_alignment.name), *((own, m.group_alignment.name) for own, _ in sums)]
    aligned = [(x.on_grid(unit, mode), mode) for x, mode in terms]
    if m.kept_fraction_bits is not None:
        unit = top - m.kept_fraction_bits
        aligned = [(x.on_grid(unit, mode), mode) for x, mode in aligned]
    whole = total([x for x, _ in aligned])
    if m.minus_one_shift is not None:
        units = whole.in_units(unit)
        counted = units if m.minus_one_shift < ROOM else units.astype(object)
        whole = Fixed(np.where(units == -1, -(1 << m.minus_one_shift), counted), unit)
    words = d.encode(
        whole, m.rounding.name, np.zeros(c.shape, bool), keep_sign=False, flush=m.flush_outputs,
        tininess=m.tininess,
    )  # fmt: skip
    if m.largest_result is None:
        return words
    sign = np.int64(1 << (d.width - 1))
    return np.minimum(words & (sign - 1), m.largest_result) | words & sign


def _bits_of(x: Numbers, first: int, bits: int) -> Numbers:
    """Some bits of the significands: those of 2^(exp - first) and of ``bits - 1`` places below it."""
    lsb = x.exp - first - bits + 1
    missing = np.maximum(x.lsb - lsb, 0)
    low = np.right_shift(
        x.mag.astype(object) << missing.astype(object), np.maximum(lsb - x.lsb, 0).astype(object)
    )
    mag = low & ((1 << bits) - 1)
    narrow = mag.astype(np.int64) if bits < ROOM else mag
    return replace(x, mag=narrow, lsb=lsb, exp=x.exp - first)


# --- IEEE dot products ------------------------------------------------------------------------------


def _ieee(m: Any, a: Sequence[Array], b: Sequence[Array], c: Array) -> Array:
    """MMA-Sim, SFMA and GPS; sequential, pairwise and exact sums of IEEE 754 operations.

    Flushed by each operation (Intel's and Arm's manuals); chains from +0 (Intel's, TDPBF16PS).
    """
    fmt, d = Format.of(m.sum_format), Format.of(m.d_format)
    order = list(m.order) if m.order is not None else list(range(m.k))
    products = _products(m, a, b, m.flush_inputs, keep=not m.flush_to_positive)
    products = [replace(products[lane], lsb=products[lane].lsb + m.product_exponent) for lane in order]
    c_format = Format.of(m.c_format)
    addend = c_format.decode(c)
    if m.flush_inputs or m.flush_c:
        addend = flushed(addend, c_format, keep_sign=not m.flush_to_positive)
    otherwise = m.nan.otherwise if m.nan is not None else d.quiet_nan

    def word(target: Format, mode: str, *terms: Numbers, nan: Array | int) -> Array:
        """The word of the exact sum, rounded once; with one term: a conversion."""
        minus = minus_zero(terms, mode) if len(terms) > 1 else terms[0].sign
        if not m.negative_zero and len(terms) > 1:
            minus = minus & False
        words = target.encode(
            total([t.fixed for t in terms]), mode, minus,
            flush=m.flush_outputs, tininess=m.tininess, overflow=m.overflow,
        )  # fmt: skip
        return finished(target, words, specials(terms), nan)

    def convert(target: Format, mode: str, x: Numbers) -> Numbers:
        return target.decode(word(target, mode, x, nan=target.quiet_nan))

    def plus(*terms: Numbers) -> Numbers:
        if len(terms) == 1 and not m.negative_zero:  # a sum of one product
            terms = (*terms, replace(terms[0], mag=terms[0].mag * 0, inf=terms[0].inf & False))
        return fmt.decode(word(fmt, m.rounding.name, *terms, nan=fmt.quiet_nan))

    if m.product_format is not None:
        target = Format.of(m.product_format)
        products = [convert(target, m.product_rounding.name, p) for p in products]
    size = m.n_fma or m.k
    blocks = [products[i : i + size] for i in range(0, m.k, size)]
    result = addend
    match m.method:
        case "exact":
            for block in blocks:
                result = plus(*block, result) if m.c_first else plus(plus(*block), result)
        case "pairwise":
            for block in blocks:
                level = [plus(p) for p in block]
                while len(level) > 1:
                    level = [plus(level[i], level[i + 1]) for i in range(0, len(level), 2)]
                result = plus(level[0], result)
        case "fma" if m.nan is not None and m.nan.cases:

            def chain(start: Numbers, words: Array, lanes: Sequence[int]) -> Array:
                for place in lanes:
                    lane = order[place]
                    nan = _nan_words(m, d, [a[lane]], [b[lane]], words, d)
                    words = word(fmt, m.rounding.name, products[place], start, nan=nan)
                    start = d.decode(words)
                return words

            if m.chains == 1:
                return chain(result, c, range(m.k))
            nothing = np.zeros(c.shape, np.int64)
            sums = [chain(fmt.decode(nothing), nothing, range(i, m.k, m.chains)) for i in range(m.chains)]

            def added(x: Array, y: Array, first: Numbers) -> Array:
                """x + y, where x is a factor of 1 for the rule of NaNs."""
                nan = _nan_of_sum(m, d, x, y)
                return word(fmt, m.rounding.name, first, d.decode(y), nan=nan)

            whole = sums[0]
            for other in sums[1:]:
                whole = added(whole, other, d.decode(whole))
            return added(c, whole, addend)
        case "fma" if m.chains > 1:
            chains: list[Numbers] = []
            for first_lane in range(m.chains):
                running = fmt.decode(np.zeros(c.shape, np.int64))
                for term in products[first_lane :: m.chains]:
                    running = plus(running, term)
                chains.append(running)
            result = chains[0]
            for partial in chains[1:]:
                result = plus(result, partial)
            result = plus(result, addend)
        case "fma":
            if m.c_format != m.sum_format:
                result = plus(addend)
            for term in products:
                result = plus(result, term)
        case "sequential":
            terms = [addend, *products] if m.c_first else [*products, addend]
            result = terms[0]
            if not m.c_first and m.product_format is None:
                result = plus(result)
            for term in terms[1:]:
                result = plus(result, term)
    return word(d, m.d_rounding.name, result, nan=otherwise)


# --- domains ----------------------------------------------------------------------------------------


def inside(domain: Any, given: Any, name: str, words: Array) -> Array:
    """Whether words of the input ``name`` lie in a domain, as :class:`.Domain` says in words."""
    if hasattr(given, "bits"):
        return np.array([integers.inside(domain, given, name, int(word)) for word in words], bool)
    fmt = Format.of(given)
    x = fmt.decode(words)
    fine = np.ones(words.shape, bool)
    if domain.finite:
        fine &= ~x.nan & ~x.inf
    if domain.positive:
        fine &= ~x.sign
    if not domain.subnormals:
        fine &= ~fmt.subnormal(words)
    if domain.exponents is not None and (name[0] in "ab" or (name == "c" and not domain.c_free)):
        low, high = domain.exponents
        normal = ~x.nan & ~x.inf & ~fmt.subnormal(words)
        fine &= x.zero | normal & (x.exp >= low) & (x.exp <= high)
    if domain.c_zero and name == "c":
        fine &= words == 0
    return fine
