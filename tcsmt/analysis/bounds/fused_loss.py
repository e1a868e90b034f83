"""Error terms of a fused sum: the bits that alignment cuts off each term, and the last rounding.

With T the largest exponent:

* a term that is aligned is off by less than 2^(T - F), or by that much at most, a zero one too, where a unit
  changes signs by the complement; one that has the largest exponent, by nothing where the grid holds all of
  its bits;
* the sum of the aligned terms is exact, as its word is wide enough;
* the last rounding loses a known share of the result's last bit where the sum has more significant
  bits than it keeps (the format's, or fewer), and nothing where it has not.

Every line is a query on the model's own graph, cut at the inputs of a stage, and small whatever the
number of lanes. What follows for a whole algorithm is arithmetic (``budget.py``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from tcsmt.analysis.bounds.proof import StepwiseProof, free_products
from tcsmt.analysis.error import magnitude
from tcsmt.language.graphs.bounds import Bounds
from tcsmt.language.macros import leading_zeros
from tcsmt.language.terms import TRUE, Term, all_of, any_of, const, substitute, var, variables
from tcsmt.matrix_units.arithmetic.datapath import Exponent, Fixed, Number, accumulate, decode
from tcsmt.matrix_units.arithmetic.formats import Format, leading_exponent
from tcsmt.matrix_units.arithmetic.integers import Integer, signed, signed_word
from tcsmt.matrix_units.arithmetic.rounding import Rounding
from tcsmt.prove.certificates.derivation import characterised
from tcsmt.support.errors import InternalError, TcsmtError

#: c among the numbers of a fused sum; products go by their lanes.
C = -1
#: Shares of the result's last bit that the last rounding may lose, in the order in which they are tried;
#: 1 means less than all of it.
SHARES = (Fraction(1, 2), Fraction(65, 128), Fraction(1))


class Unbounded(TcsmtError):
    """Why no bound is given."""


def share_of(rounding: Rounding) -> Fraction:
    """Return which part of the last bit a rounding loses at most."""
    return Fraction(1, 2) if rounding.nearest else Fraction(1)


@dataclass(frozen=True)
class ErrorTerms:
    """The largest losses of a fused sum.

    cut: by alignment, of all numbers, relative to 2^T. truncates: no product loses more than itself, and c
    nothing where it is largest. share: by the last rounding, of the result's last bit (1: less than it).
    tiny_c_loss: where every product is zero, and c is tiny. group_loss: of ``cut``, what sums of some
    products that are aligned to their own largest exponent lose, each relative to 2 to the power of that.
    wrong_unit_loss: by a sum of -1 unit that is rounded to another number, relative to 2^T.
    floor: what 2^T is at most where it is larger than every number of the sum (0: nowhere). smallest_loss:
    what the last rounding loses where that is more than its share of the result's last bit.
    """

    cut: Fraction
    share: Fraction
    truncates: bool
    tiny_c_loss: Fraction
    group_loss: tuple[Fraction, ...] = ()
    wrong_unit_loss: Fraction = Fraction(0)
    floor: Fraction = Fraction(0)
    smallest_loss: Fraction = Fraction(0)


@dataclass(frozen=True)
class ExactUpTo:
    """The limits up to which a fused sum is exact.

    Its numbers are multiples of 2^last, and none that is not zero has an exponent above ``top``; the
    magnitude of their sum is 2^largest at most.
    """

    last: int
    top: int
    largest: int


@dataclass(frozen=True)
class FusedSum:
    """One fused sum of an instruction, and what is proved of it by a :class:`StepwiseProof`.

    lanes: of the instruction, in order. numbers: the products by their place in ``lanes``, and c.
    format: of the result. precision: significant bits that the last rounding keeps. flushes: a subnormal
    result may be lost. drops_below: c is read as zero where its magnitude is below 2^this (None: nowhere).
    zero_exponent: that with which zero products may take part (None: a small one).

    The lemmas are about sums below 2^e_max of the format, so that no result overflows: whoever uses them
    shows that the sum stays below.
    """

    lanes: tuple[int, ...]
    numbers: dict[int, Number]
    sum: Fixed
    result: Term
    format: Format
    precision: int
    flushes: bool = False
    drops_below: int | None = None
    zero_exponent: int | None = None

    @property
    def lowest(self) -> int:
        """Return the least exponent of a product that is not zero for which the lemmas hold.

        A c with this exponent is normal, and the last bit of a sum is one that the format has: of a normal
        number where subnormal results are flushed. No zero product has it.
        """
        fmt = self.format
        last = fmt.e_min if self.flushes else fmt.e_min - fmt.fraction_bits
        lowest = max(fmt.e_min + 1, self.sum.fraction_bits + last)
        return lowest if self.zero_exponent is None else max(lowest, self.zero_exponent + 1)

    @property
    def c_offset(self) -> int:
        """Return by how much the exponent with which c is aligned is larger than its own: 0 or less.

        So where it is the largest exponent T, c is 2^T or more, as every number is.
        """
        c = self.numbers[C]
        return c.fraction_bits - (c.significand.width - 1)

    def losses(self, chain: StepwiseProof, live: Collection[int]) -> ErrorTerms | None:
        """Return the losses if only these lanes can be non-zero; None if nothing is lost.

        Raises :class:`Unbounded` where lemmas are not proved.
        """
        list(self._places(self.sum))  # refused before anything is asked about them
        self.zeros(chain)
        exact = self.passes(chain, C) or self.passes(chain, C, below=True)
        if exact and len(live) == 1 and self.passes(chain, min(live)):
            return None
        small = Fraction(0) if exact else self.stays_near(chain) or self.stays_small(chain)
        cut, (share, miscounted) = self.alignment_error(chain, live), self._rounding(chain)
        apart = self._group_errors(chain, live)
        return ErrorTerms(cut, share, self.truncates(chain), small, apart, miscounted)

    def zeros(self, chain: StepwiseProof) -> None:
        """Prove that nothing is lost where every number is zero."""
        zeros = all_of(x.zero for x in self.numbers.values())
        need(chain, "the sum of zeros is zero", zeros & self.finite & ~decode(self.format, self.result).zero)

    def alignment_error(self, chain: StepwiseProof, live: Collection[int]) -> Fraction:
        """Return what alignment loses of the live numbers at most, together, relative to 2^T.

        T is then the exponent of a live number that is not zero.
        """
        wrong = any_of(x.zero & x.significand.ne(0) for x in self.numbers.values())
        need(chain, "a zero term has significand 0", wrong)
        off = set(live)  # a zero that is off by a bit counts as what is not zero
        for aligned in self._aligned(self.sum):
            zero = _aligned_zero(aligned)
            if zero.value == 0 or chain.prove("a zero stays zero where it is aligned", zero.ne(0)):
                continue
            if not isinstance(aligned.source, Number):
                raise Unbounded(f"not proved: {chain.stopped}")
            size = magnitude(zero)
            need(chain, "a zero is the last bit at most where it is aligned", ~size.ule(const(1, size.width)))
            off.update(self._places(aligned))
        self._attained(chain, self.sum.exponent, self.numbers)
        return self._alignment_error(chain, self._added(chain), off)

    def _group_errors(self, chain: StepwiseProof, live: Collection[int]) -> tuple[Fraction, ...]:
        """Return, of what :meth:`alignment_error` says, what sums of products lose on grids of their own.

        Each is relative to 2 to the power of the sum's own largest exponent, which is that of one of its
        products that is not zero, or the sum is that of zeros and loses nothing.
        """
        losses = []
        for addend in self.sum.addends:
            group = addend.source
            if not isinstance(group, Fixed) or not group.addends:
                continue
            places = set(self._places(group))
            zeros = (_aligned_zero(aligned) for aligned in self._aligned(group))
            if C in places or not all(
                zero.value == 0 or chain.prove("a zero stays zero where it is aligned", zero.ne(0))
                for zero in zeros
            ):
                return ()
            self._attained(chain, group.exponent, places)
            losses.append(self._alignment_error(chain, group, live))
        return tuple(losses)

    def keeps_multiples(self, chain: StepwiseProof, last: int, top: int) -> bool:
        """Return whether it was proved that alignment loses nothing of multiples of 2^last, T being
        ``top``.
        """
        return all(
            top - x.fraction_bits <= last
            and chain.prove("a term on the grid loses nothing", _Alignment.of(x).loses_on_grid)
            for x in self._aligned(self.sum)
        )

    def _added(self, chain: StepwiseProof) -> Fixed:
        """Return the sum of the aligned terms; where every number is a zero, the sum may be put to zero
        instead.
        """
        word = self.sum.word
        if word.op != "ite" or word.args[1].value != 0:
            return self.sum
        put, _, added = word.args
        some = any_of(~x.zero for x in self.numbers.values())
        need(chain, "a sum is put to zero only where every number is a zero", put & some)
        return replace(self.sum, word=added)

    def truncates(self, chain: StepwiseProof) -> bool:
        """Return whether it was proved that no product loses more than itself, and c nothing where it is
        largest.
        """
        places = {place: _Alignment.of(x) for x in self.sum.addends for place in self._places(x)}
        alone = all(isinstance(x.source, Number) for x in self.sum.addends)
        return (
            alone
            and chain.prove("a term of the largest exponent loses nothing", places.pop(C).loses_on_top)
            and all(
                chain.prove("a term loses no more than itself", x.loses_more_than_all)
                for x in places.values()
            )
        )

    def _attained(self, chain: StepwiseProof, top: Exponent, places: Collection[int]) -> None:
        """Prove that the largest exponent, if not below the lowest, is that of a term that is not zero."""
        numbers = [self.numbers[place] for place in places]
        reached = any_of(~x.zero & signed(x.exponent).eq(signed(top)) for x in numbers)
        wrong = characterised(signed_word(self.lowest).sle(signed(top)) & ~reached)
        need(chain, "the largest exponent is that of a term that is not zero", wrong)

    def _alignment_error(self, chain: StepwiseProof, x: Fixed, live: Collection[int]) -> Fraction:
        """Return what is lost in a value of the sum's tree, relative to 2^(its exponent)."""
        places = set(self._places(x))
        if not places & set(live):
            return Fraction(0)
        if x.addends:
            x = self._without_omission(chain, x)
            _require_room(x, chain)
            parts = [self._alignment_error(chain, addend, live) for addend in x.addends]
            whole = sum(parts, Fraction(0))
            if all(isinstance(addend.source, Number) for addend in x.addends) and places - {C}:
                whole -= self._spared(chain, x, places, min(part for part in parts if part))
            return whole
        if x.source is None:
            return Fraction(0)
        before = self._alignment_error(chain, x.source, live) if isinstance(x.source, Fixed) else Fraction(0)
        _not_above(chain, x)
        alignment, last = _Alignment.of(x), Fraction(1, 2**x.fraction_bits)
        what = "a term loses half of the last bit that is kept at most"
        if chain.prove(what, alignment.loses_more_than_half_a_bit):
            return before + last / 2
        if not chain.prove("a term loses less than the last bit that is kept", alignment.loses_a_bit):
            need(chain, "a term loses the last bit that is kept at most", alignment.loses_more_than_a_bit)
        return before + last

    def _spared(self, chain: StepwiseProof, x: Fixed, places: Collection[int], least: Fraction) -> Fraction:
        """Return what the term with the largest exponent does not lose: ``least``, if lemmas say so."""
        self._attained(chain, x.exponent, places)
        what = "a term of the largest exponent loses nothing"
        alone = all(chain.prove(what, _Alignment.of(addend).loses_on_top) for addend in x.addends)
        return least if alone else Fraction(0)

    def _without_omission(self, chain: StepwiseProof, x: Fixed) -> Fixed:
        """A sum of terms; one that is left out where its largest exponent is small is not left out here.

        Where it is left out, none of its numbers is one that the lemmas are about, and all are zeros.
        """
        word = x.word
        if x is self.sum or word.op != "ite" or word.args[1].value != 0:
            return x
        put, _, added = word.args
        some = any_of(self._counts(self.numbers[place]) for place in self._places(x))
        need(chain, "a sum is left out only where all of its numbers are zeros", characterised(put & some))
        return replace(x, word=added)

    def _counts(self, x: Number) -> Term:
        """Return whether a number is not zero, and one that the lemmas are about."""
        return ~x.zero & signed_word(self.lowest).sle(signed(x.exponent))

    def exact(self, chain: StepwiseProof, last: int, least: int) -> ExactUpTo:
        """Prove up to where the sum of multiples of 2^last is exact, and the result is that sum.

        least: no product that is not zero has a smaller exponent. With T the largest exponent:

        * T lies in a known range: no exponent of a number that is not zero is above it, and where T is
          above the limit it is that of such a number. So with all of them at most at the limit, so is T;
        * the grid that each term is aligned to is then as fine as 2^last; a term on the grid loses nothing;
        * no register wraps: the sum is the exact one, and a multiple of 2^last;
        * such a sum, up to the limit, is what the result says.

        Raises :class:`Unbounded` where a lemma is not proved.
        """
        places = list(self._places(self.sum))
        if sorted(places) != sorted(self.numbers):
            raise Unbounded("a sum does not have each product and c once")
        wrong = any_of(x.zero & x.significand.ne(0) for x in self.numbers.values())
        need(chain, "a zero term has significand 0", wrong)
        aligned = list(self._aligned(self.sum))
        top = last + min((x.fraction_bits for x in aligned), default=self.sum.fraction_bits)
        for word in aligned:
            need(chain, "a zero stays zero where it is aligned", _aligned_zero(word).ne(0))
            if not _among_the_largest(chain, word):
                _not_above(chain, word)
            need(chain, "a term on the grid loses nothing", _Alignment.of(word).loses_on_grid)
        _require_sums(chain, self.sum)
        # all aligned terms of zeros are zero, and so is their sum
        (result,) = substitute([self.result], {self.sum.word: const(0, self.sum.word.width)})
        need(chain, "the sum zero gives zero", characterised(self.finite & ~decode(self.format, result).zero))
        reached = any_of(
            ~x.zero & signed(x.exponent).eq(signed(self.sum.exponent)) for x in self.numbers.values()
        )
        above = characterised(signed_word(top).slt(signed(self.sum.exponent)) & ~reached)
        need(chain, f"a largest exponent above {top} is that of a term that is not zero", above)
        largest = last + self.precision
        what = f"a sum of multiples of 2^{last} up to 2^{largest} is the result, where the grid holds it"
        # no number that is not zero has a smaller exponent
        lowest = min(last + self.c_offset, least)
        need(chain, what, self._rounded_off(last, lowest, top, largest))
        return ExactUpTo(last, top, largest)

    def _rounded_off(self, last: int, lowest: int, top_limit: int, largest: int) -> Term:
        """Return whether a sum is other than its result.

        The largest exponent is from ``lowest`` to ``top_limit``.

        The sum is a multiple of 2^last, and its magnitude is 2^largest at most.
        """
        total = var("sum", self.sum.word.width)
        top = free_exponent("top", self.sum.exponent)
        (result,) = substitute([self.result], {self.sum.word: total, self.sum.exponent.term: top.term})
        x, bits = decode(self.format, result), self.sum.fraction_bits
        finest = min(lowest - bits, last - self.format.fraction_bits)
        # all in units of 2^finest
        furthest = max(top_limit - bits - finest, largest + self.format.fraction_bits - finest)
        width = max(total.width, self.format.precision) + furthest + 2
        place = (signed(top) - signed_word(bits + finest)).unsigned(width)
        size = magnitude(total).zext(width) << place
        low = finest + self.format.fraction_bits
        inside = x.zero | (
            signed_word(low).sle(signed(x.exponent)) & signed(x.exponent).sle(signed_word(largest))
        )
        value = x.significand.zext(width) << (signed(x.exponent) - signed_word(low)).unsigned(width)
        premise = self.finite & signed_word(lowest).sle(signed(top)) & signed(top).sle(signed_word(top_limit))
        if last > finest:
            premise &= size[last - finest - 1 : 0].eq(0)
        premise &= size.ule(1 << (largest - finest)) & any_of(~x.zero for x in self.numbers.values())
        wrong = any_of([x.infinite, x.nan, ~inside, value.ne(size)])
        wrong |= total.ne(0) & x.sign.ne(total[total.width - 1])
        return premise & wrong

    def _aligned(self, x: Fixed) -> Iterator[Fixed]:
        """Yield what is aligned in a value of the sum's tree."""
        for addend in x.addends:
            yield from self._aligned(addend)
        if not x.addends and x.source is not None:
            yield x
            if isinstance(x.source, Fixed):
                yield from self._aligned(x.source)

    def _places(self, x: Fixed) -> Iterator[int]:
        """Yield the numbers that a value of the sum's tree is made of."""
        for addend in x.addends:
            yield from self._places(addend)
        if x.addends:
            return
        if isinstance(x.source, Fixed):
            yield from self._places(x.source)
            return
        places = [n for n, number in self.numbers.items() if number == x.source or _whole(number) is x.word]
        if not places:
            raise Unbounded("a sum has terms that are neither products nor c")
        yield places[0]

    def rounding(self, chain: StepwiseProof) -> Fraction:
        """Return the share of the result's last bit that the last rounding loses at most (1: less than
        it).
        """
        return self._rounding(chain)[0]

    def _rounding(self, chain: StepwiseProof) -> tuple[Fraction, Fraction]:
        """Return that share, and what a sum of -1 unit loses, relative to 2^T, if rounded otherwise."""
        # where all numbers are zeros, whose signs a result may depend on, nothing is lost (zeros)
        some = any_of(~x.zero for x in self.numbers.values())
        for premise in (TRUE, some):
            for share in SHARES:
                less = "less than a" if share == 1 else f"{share} of a"
                what = f"the last rounding loses {less} last bit, and nothing of {self.precision} bits"
                if chain.prove(what, premise & self._misrounded(share)):
                    return share, Fraction(0)
        for share in SHARES:
            less = "less than a" if share == 1 else f"{share} of a"
            what = f"the last rounding loses {less} last bit, and nothing of {self.precision} bits, but of -1"
            if chain.prove(what, self._misrounded(share, but=-1)):
                return share, self._negative_unit_error(chain)
        raise Unbounded(f"not proved: {chain.stopped}")

    def _negative_unit_error(self, chain: StepwiseProof) -> Fraction:
        """Return what a sum of -1 unit of its grid loses, relative to 2^T; its result is a power of two."""
        top, fmt = free_exponent("top", self.sum.exponent), self.format
        free = {self.sum.word: const(-1, self.sum.word.width), self.sum.exponent.term: top.term}
        (result,) = substitute([self.result], free)
        # seen at one exponent, proved for all
        (here,) = substitute([result], {top.term: const(1 - top.low, top.term.width)})
        word = here.value
        if word is None or not word >> fmt.sign_bit:
            raise Unbounded("the result of a sum of -1 unit depends on more than the largest exponent")
        places = leading_exponent(abs(fmt.value(word))) - 1 + self.sum.fraction_bits
        x = decode(fmt, result)
        power = x.sign & x.significand.eq(1 << fmt.fraction_bits) & ~x.infinite & ~x.nan
        power &= signed(x.exponent).eq(signed(top) + (places - self.sum.fraction_bits))
        premise = self.finite & signed_word(self.lowest).sle(signed(top))
        premise &= signed(top).slt(signed_word(fmt.e_max + self.sum.fraction_bits - places))
        need(chain, f"a sum of -1 unit gives -2^{places} units", premise & ~power)
        return abs(Fraction(2) ** places - 1) / Fraction(2) ** self.sum.fraction_bits

    def _misrounded(self, share: Fraction, but: int | None = None) -> Term:
        """Return whether a sum, other than ``but``, is rounded by more."""
        total = var("sum", self.sum.word.width)
        top = free_exponent("top", self.sum.exponent)
        (result,) = substitute([self.result], {self.sum.word: total, self.sum.exponent.term: top.term})
        fmt = self.format
        x, size, spare = decode(fmt, result), magnitude(total), fmt.precision
        # both in units of 2^(top - F - precision)
        shift = signed(x.exponent) - signed(top) + (self.sum.fraction_bits - fmt.fraction_bits + spare)
        width = total.width + 3 * spare + 16
        lost = magnitude((size.zext(width) << spare) - (x.significand.zext(width) << shift.unsigned(width)))
        last = (leading_bit(size) >> (self.precision - 1)).zext(width) << spare
        most, loss = last * share.numerator, lost * share.denominator
        wrong = last.ule(1 << spare).ite(lost.ne(0), most.ule(loss) if share == 1 else most.ult(loss))
        inside = ~shift.slt(0) & shift.slt(total.width + spare + 2)
        premise = self.finite & signed_word(self.lowest).sle(signed(top))
        premise &= signed(top).sle(signed_word(top.high))
        _, zeros = leading_zeros(size)
        leading = signed(top) - signed(Exponent(zeros, 0, total.width - 1))
        premise &= leading.slt(fmt.e_max + self.sum.fraction_bits - total.width + 1)
        wrong |= any_of([~inside, x.infinite, x.nan, x.sign.ne(total[total.width - 1])])
        if but is not None:
            premise &= total.ne(but)
        return premise & total.eq(0).ite(~x.zero, wrong)

    @property
    def finite(self) -> Term:
        """Return whether no number is infinite or a NaN."""
        return ~any_of(x.infinite | x.nan for x in self.numbers.values())

    def passes(self, chain: StepwiseProof, place: int, *, below: bool = False) -> bool:
        """Return whether it was proved that one number alone comes out as it is, where all others are zero.

        below: only where it is below 2^e_max.
        """
        return chain.prove(*self._alone(place, below=below))

    def stays_near(self, chain: StepwiseProof) -> Fraction:
        """Return how far c alone, below 2^e_max, may be from what comes out (0: not proved)."""
        c = self.numbers[C]
        off = max(self.lowest - self.sum.fraction_bits, c.exponent.low - c.fraction_bits)
        return Fraction(2) ** off if chain.prove(*self._alone(C, below=True, off=off)) else Fraction(0)

    def _alone(self, place: int, *, below: bool, off: int | None = None) -> tuple[str, Term]:
        """State that one number alone comes out as it is, or off by 2^off: its words and what refutes it."""
        what = "c" if place == C else "one product"
        fmt = self.format
        x, got = self.numbers[place], decode(fmt, self.result)
        least = x.exponent.low if place == C else self.lowest
        low = min(least - x.fraction_bits, fmt.e_min - got.fraction_bits)
        width = fmt.e_max + 2 + x.integer_bits - low
        words = [
            number.significand.zext(width)
            << (signed(number.exponent) - signed_word(number.fraction_bits + low)).unsigned(width)
            for number in (x, got)
        ]
        premise = self.finite & all_of(y.zero for n, y in self.numbers.items() if n != place)
        premise &= signed_word(least).sle(signed(x.exponent))
        premise &= signed(x.exponent).sle(signed_word(fmt.e_max - x.integer_bits + (not below)))
        outside = ~got.zero & signed(got.exponent).slt(signed_word(low + got.fraction_bits))
        wrong = any_of([got.infinite, got.nan, outside])
        text = f"{what} alone comes out as it is"
        if off is None:
            wrong |= words[0].ne(words[1]) | ~x.zero & x.sign.ne(got.sign)
        else:
            text = f"{what} alone comes out as it is, or off by 2^{off} at most"
            first, second = (word.zext(width + 1) for word in words)
            apart = x.sign.eq(got.sign).ite(magnitude(first - second), first + second)
            wrong |= const(1 << (off - low), width + 1).ult(apart)
        return text, free_products(premise & wrong)

    def stays_small(self, chain: StepwiseProof) -> Fraction:
        """Return how far a result may be from the sum where the largest exponent lies below the lowest."""
        highest = self.lowest + self.sum.word.width - self.sum.fraction_bits
        x, top = decode(self.format, self.result), signed(self.sum.exponent)
        large = x.infinite | x.nan | ~signed(x.exponent).sle(signed_word(highest))
        free = {self.sum.word: var("sum", self.sum.word.width)}
        (goal,) = substitute([self.finite & top.slt(signed_word(self.lowest)) & large], free)
        need(chain, "a result is small where the largest exponent is", characterised(goal))
        return Fraction(2) ** (highest + 2)


def need(chain: StepwiseProof, what: str, goal: Term) -> None:
    """Prove that the goal has no model. Raises :class:`Unbounded`."""
    if goal.value != 0 and not chain.prove(what, goal):
        raise Unbounded(f"not proved: {chain.stopped}")


@dataclass(frozen=True)
class _Alignment:
    """The alignment of one term, its sign, significand and exponents being free.

    given: the exponents lie where they can. distance: from the term's to the largest. off: what is lost,
    unit: the last bit that is kept, size: the term, in the same units, all magnitudes. aligned: the aligned
    word. Where the term is shifted out altogether, how far makes no difference to what is compared.
    """

    given: Term
    distance: Integer
    off: Term
    unit: Term
    size: Term
    aligned: Term

    @classmethod
    def of(cls, x: Fixed) -> _Alignment:
        source = _source(x)
        top = free_exponent("top", x.exponent)
        low = top if source.exponent.term is x.exponent.term else free_exponent("exponent", source.exponent)
        word = source.significand if isinstance(source, Number) else source.word
        integer_bits = word.width - source.fraction_bits
        if isinstance(source, Number) and word.op == "zext":  # zeros in front may be put elsewhere
            word = word.args[0]
        node, value = _without_constant(source.exponent.term, low.term)
        free = {word: var("term", word.width), node: value, x.exponent.term: top.term}
        if isinstance(source, Number) and source.sign.value is None:  # of unsigned formats it is known
            free[source.sign] = var("sign", 1)
        (aligned,) = substitute([x.word], free)
        furthest = x.fraction_bits + integer_bits + 2
        distance = signed(top) - signed(low)
        near = distance.at_most(furthest)
        width = furthest + source.fraction_bits + x.fraction_bits + max(aligned.width, word.width) + 2
        exact = free[word].zext(width) if isinstance(source, Number) else free[word].sext(width)
        exact = exact << x.fraction_bits
        if isinstance(source, Number):
            exact = free.get(source.sign, source.sign).ite(-exact, exact)
        place = near.unsigned(width) + source.fraction_bits
        off = magnitude((aligned.sext(width) << place) - exact)
        inside = signed(low).sle(signed_word(low.high)) & signed(top).sle(signed_word(top.high))
        return cls(
            inside & ~distance.slt(0), distance, off, const(1, width) << place, magnitude(exact), aligned
        )

    @property
    def loses_a_bit(self) -> Term:
        """Return whether the last bit that is kept is lost, or more."""
        return self.given & self.unit.ule(self.off)

    @property
    def loses_more_than_half_a_bit(self) -> Term:
        """Return whether more is lost than half of the last bit that is kept."""
        wide = self.off.width + 1
        return self.given & self.unit.zext(wide).ult(self.off.zext(wide) << 1)

    @property
    def loses_more_than_a_bit(self) -> Term:
        """Return whether more is lost than the last bit that is kept."""
        return self.given & self.unit.ult(self.off)

    def reaches(self, end: int) -> Term:
        """Return whether the aligned word, a signed one, is as large as this."""
        wide = self.aligned.sext(max(self.aligned.width, end.bit_length() + 2))
        return self.given & ~wide.slt(const(end, wide.width))

    @property
    def loses_on_top(self) -> Term:
        """Return whether anything is lost of a term that has the largest exponent."""
        return self.given & self.distance.eq(0) & self.off.ne(0)

    @property
    def loses_on_grid(self) -> Term:
        """Return whether anything is lost of a term all of whose bits lie on the grid."""
        return self.given & (self.size & (self.unit - 1)).eq(0) & self.off.ne(0)

    @property
    def loses_more_than_all(self) -> Term:
        """Return whether more is lost than the term itself."""
        return self.given & self.size.ult(self.off)


def _require_room(x: Fixed, chain: StepwiseProof | None = None) -> None:
    """Refuse a sum that is not that of its addends, or whose register may wrap.

    chain: of lemmas about ends that the bounds of single operations do not give.
    """
    ends = [Bounds().signed(addend.word) for addend in x.addends]
    low, high = (sum(each) for each in zip(*ends, strict=True))
    limit = 1 << (x.word.width - 1)
    if chain is not None and high >= limit > high - len(ends):
        # a term that is rounded down reaches a power of two on one side alone
        for addend, (_, end) in zip(x.addends, ends, strict=True):
            need(chain, "an aligned term is below a power of two", _Alignment.of(addend).reaches(end))
        high -= len(ends)
    if low < -limit or high >= limit or accumulate(x.addends, x.word.width).word is not x.word:
        raise Unbounded("a sum's register may wrap")


def _require_sums(chain: StepwiseProof, x: Fixed) -> None:
    """Refuse a value of whose sums one may wrap, or has addends on another grid than its own."""
    if x.addends:
        _require_room(x, chain)
        grid = (x.exponent, x.fraction_bits)
        if any((a.exponent, a.fraction_bits) != grid for a in x.addends):
            raise Unbounded("a sum has addends on another grid than its own")
        for addend in x.addends:
            _require_sums(chain, addend)
    elif isinstance(x.source, Fixed):
        _require_sums(chain, x.source)


def _source(x: Fixed) -> Number | Fixed:
    """Return what an aligned word is made of."""
    if x.source is None:
        raise InternalError("an aligned word without its source")
    return x.source


def _among_the_largest(chain: StepwiseProof, x: Fixed) -> bool:
    """Return whether it was proved that an exponent of which the maximum is taken is the term's own, or
    larger.

    The maximum is no smaller. This question is the same one for all lanes, and short.
    """
    source = _source(x)
    top = x.exponent
    if top.term.op != "umax":
        return False
    counts = ~source.zero if isinstance(source, Number) else TRUE
    own = set(variables([source.exponent.term]))
    for exponent in top.term.args:
        if set(variables([exponent])) != own:
            continue
        above = counts & signed(replace(top, term=exponent)).slt(signed(source.exponent))
        names = {word: var(f"word {n}", word.width) for n, word in enumerate(variables([above]))}
        (goal,) = substitute([above], names)
        if goal.value == 0 or chain.prove("no term's exponent is above the largest", goal):
            return True
    return False


def _not_above(chain: StepwiseProof, x: Fixed) -> None:
    """Prove that what is aligned has no larger exponent than it is aligned to, unless it is a zero."""
    source = _source(x)
    counts = ~source.zero if isinstance(source, Number) else TRUE
    if isinstance(source, Fixed) and source.word.op == "ite" and source.word.args[1].value == 0:
        counts = ~source.word.args[0]  # where it is put to zero, it is a zero
    above = counts & signed(x.exponent).slt(signed(source.exponent))
    need(chain, "no term's exponent is above the largest", characterised(above))


def _without_constant(term: Term, value: Term) -> tuple[Term, Term]:
    """A node, and its value where a term has a value: other constants may be added to the node."""
    if term.op == "add" and len(term.args) == 2 and term.args[0].op == "const":
        return term.args[1], value - term.args[0]
    return term, value


def _aligned_zero(x: Fixed) -> Term:
    """Return the aligned word of a zero, whatever its exponent is."""
    source = _source(x)
    word = source.significand if isinstance(source, Number) else source.word
    return substitute([x.word], {word: const(0, word.width)})[0]


def leading_bit(word: Term) -> Term:
    """Return the word with its highest set bit alone."""
    bits, above = [], word[word.width - 1]
    bits.append(above)
    for place in range(word.width - 2, -1, -1):
        bits.append(word[place] & ~above)
        above = above | word[place]
    whole = bits[0]
    for bit in bits[1:]:
        whole = whole.concat(bit)
    return whole


def _whole(x: Number) -> Term:
    """A number's significand with its sign, in two's complement."""
    word = x.significand.zext(x.significand.width + 1)
    return x.sign.ite(-word, word)


def free_exponent(name: str, range_of: Exponent) -> Exponent:
    """Return a free variable in the place of an exponent, of its range."""
    return Exponent(var(name, range_of.term.width), range_of.low, range_of.high)
