"""The proof that an algorithm's result never falls where one word, and with it the exact sum, grows; in
parts.

A fused sum truncates its terms on a grid of F bits below the largest exponent T. A step makes the magnitude
of one of its numbers the next larger one, and T becomes T + t; the other direction is the step back. On the
words after the split, of which none is infinite or a NaN:

1. *The split*: the next number of the domain has the same word or a larger one. So words move by steps, too.
2. *The number that moves* keeps its sign, and t is 0, or T + t is its own new exponent. Within a binade its
   exponent and so T stay, and its aligned term does not shrink; from one binade to the next t is 0 or 1; from
   zero t is anything. For n other terms that may not be zero it gains n·(2^t - 1) units of 2^(T - F) or more.
3. *Every other number*: its aligned term is shifted right by one more, toward zero, for each 1 that T grows.
   So it loses 2^t - 1 such units at most, and all of them no more than has been gained: S·2^T moves as the
   number does.
4. *The rounding*: the results for any sums S and S', and largest exponents T and T + t, are in the order of
   S·2^T and S'·2^(T + t). For t = 0 that is a lemma about S and S + 1. For a larger t, S is halved t times,
   each time rounded up (or down, where the result is to shrink): a lemma says that each half is in order with
   the one before it, and the last half is as S' or smaller (or larger), of the same largest exponent.

Where products are summed first and c is added after another alignment, ``monotone_two_sums.py`` has the rest.
Where c gains too little from one binade to the next, 3 and 4 are one lemma on free aligned terms instead. The
instruction's later sums have c alone, which they pass on.

An IEEE operation is a rounding of the exact sum or product-sum of what it is given (754-2019, 4.3). Roundings
never fall, and neither does what is made of them; and the rounding of what is not smaller than the smallest
number is not zero. Nothing is left to prove.
"""

from __future__ import annotations

from collections.abc import Sequence

from tcsmt.analysis.bounds.fused_loss import C, Unbounded, need
from tcsmt.analysis.bounds.monotone_moves import Moves
from tcsmt.analysis.bounds.monotone_two_sums import TwoSums, sum_of_products
from tcsmt.analysis.bounds.proof import StepwiseProof, word_exponents
from tcsmt.analysis.bounds.steps import IeeeStep, Step, steps_of
from tcsmt.language.terms import Term, any_of, const, var
from tcsmt.matrix_units.arithmetic.datapath import decode, ordered
from tcsmt.matrix_units.arithmetic.formats import Format
from tcsmt.matrix_units.models import Kind
from tcsmt.programs.recipes.algorithm import Algorithm
from tcsmt.prove.statements.domain import Domain

_IEEE = "an IEEE operation rounds the exact sum of what it is given (754-2019, 4.3), and no rounding falls"


def never_falls(chain: StepwiseProof, algorithm: Algorithm, domain: Domain) -> bool:
    """Return whether it was proved that the result does not fall where a word of a, b or c grows, and b or a
    is positive or there is none; that it is the same for both zeros, and never a NaN. The chain has the
    steps.
    """
    try:
        steps = _steps(chain, algorithm, domain)
        _split(chain, algorithm, domain)
        if all(isinstance(step, IeeeStep) for step in steps):
            return _of_operations(chain, algorithm, steps)
        moves = Moves.of(algorithm, domain, steps)
        dot = sum_of_products(moves.aligned)
        (moves if dot is None else TwoSums.of(moves, dot)).prove(chain, steps)
    except Unbounded as why:
        chain.stopped = str(why)
        return False
    return True


def keeps_sign(chain: StepwiseProof, algorithm: Algorithm, domain: Domain) -> bool:
    """Return whether the result is one rounding of c + a·b that is never zero where that is not."""
    wide = algorithm.wide
    try:
        steps = _steps(chain, algorithm, domain)
    except Unbounded as why:
        chain.stopped = str(why)
        return False
    last = domain.low - wide.fraction_bits
    exact = algorithm.split.format == wide and min(last, 2 * last) >= wide.e_min - wide.fraction_bits
    single = len(steps) == 1 and algorithm.k == algorithm.unit.k == 1
    if not exact or not single or {*getattr(steps[0], "sources", ())} != {0, C}:
        chain.stopped = "the result is not one rounding of c + a·b"
        return False
    return _of_operations(chain, algorithm, steps)


def successor(word: Term, domain: Domain, wide: Format, bits: int) -> Term:
    """Return the next larger word of the domain after one of its words.

    After the largest it is a word outside of the domain; after either zero it is the smallest
    positive number, and before them both the largest negative one.
    """
    step, least = 1 << (wide.precision - bits), (domain.low + wide.bias) << wide.fraction_bits
    size = word & ((1 << wide.sign_bit) - 1)
    negative = word[wide.sign_bit] & size.ne(0)
    below = size.eq(least).ite(const(0, wide.width), word - step)
    return negative.ite(below, size.eq(0).ite(const(least, wide.width), size + step))


def _steps(chain: StepwiseProof, algorithm: Algorithm, domain: Domain) -> list[Step]:
    """Return the steps of one instruction. Raises :class:`.Unbounded` where the algorithm is more than
    instructions one after the other, each on words that are the numbers rounded once.
    """
    chains = list(algorithm.chains(algorithm.k))
    plain = len(chains) == 1 and chains[0][0] == 0 and all(step[:2] == (0, 0) for step in chains[0][1])
    if algorithm.split.words != 1 or not plain or algorithm.c_enters != "unit":
        raise Unbounded("only instructions one after the other, on one word of each number, are looked at")
    if domain.c_free or (algorithm.unit.c_format, algorithm.unit.d_format) != (
        algorithm.wide,
        algorithm.wide,
    ):
        raise Unbounded("only a c of the format of the result, with exponents as a and b have, is looked at")
    fmt, wide = algorithm.split.format, algorithm.wide
    left, right = ([[var(f"{side}{lane}", fmt.width)] for lane in range(algorithm.k)] for side in "ab")
    stages = algorithm.after_split(left, right, var("c", wide.width))
    if stages[-1].term is not [stage.term for stage in stages if stage.kind is Kind.INSTRUCTION][-1]:
        raise Unbounded("the result is not the last instruction's")
    low, high = word_exponents(algorithm.split, domain)
    if max(2 * (high + 1), domain.high + 1) + algorithm.k.bit_length() + 2 > wide.e_max:
        raise Unbounded("a result may overflow")
    return steps_of(chain, algorithm.unit, low, high)


def _split(chain: StepwiseProof, algorithm: Algorithm, domain: Domain) -> None:
    """Part 1, for a and for b."""
    fmt, wide = algorithm.split.format, algorithm.wide
    x = var("x", wide.width)
    for bits in domain.bits_in(wide):
        after = successor(x, domain, wide, bits)
        first, second = (algorithm.split.apply(word)[0] for word in (x, after))
        numbers = [decode(fmt, word) for word in (first, second)]
        wrong = ordered(second).slt(ordered(first)) | any_of(n.infinite | n.nan for n in numbers)
        inside = domain.within(x, wide, bits)
        need(
            chain, f"the split of {bits} bits never falls", inside & domain.within(after, wide, bits) & wrong
        )
        zero = x[wide.sign_bit - 1 : 0].eq(0) & first.ne(x[wide.sign_bit].concat(const(0, fmt.sign_bit)))
        need(chain, "a zero's word is a zero", zero)


def _of_operations(chain: StepwiseProof, algorithm: Algorithm, steps: Sequence[Step]) -> bool:
    """Return whether an instruction is a combination of roundings, none of which overflows or drops a
    number.
    """
    for step in steps:
        plain = isinstance(step, IeeeStep) and not step.drops and not step.operation.flush
        if not plain or step.operation.format != algorithm.wide:  # type: ignore[union-attr]
            chain.stopped = "not a rounding of an exact sum"
            return False
    chain.know(_IEEE)
    return True
