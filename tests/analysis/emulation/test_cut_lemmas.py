"""What a cut keeps: lemmas against every number of a tiny format, and cuts with planted errors."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest

from tcsmt.analysis.bounds.fused_loss import Unbounded
from tcsmt.analysis.bounds.proof import StepwiseProof
from tcsmt.analysis.emulation.cut_lemmas import cut_constants, goals, prove
from tcsmt.language.terms import Term
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS
from tcsmt.programs.steps.slicing import Slicing
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.domain import Domain
from tests.oracles import emulations as oracle
from tests.support.emulations import TINY, words_in


def proof() -> StepwiseProof:
    return StepwiseProof(Solving())


@pytest.mark.slow_cases("RNE-2-2")
@pytest.mark.parametrize(("rounding", "bits", "count"), [("RTZ", 2, 2), ("RNE", 2, 2)])
def test_every_number_keeps_what_the_lemma_says(rounding: str, bits: int, count: int) -> None:
    """And some number loses nearly as much as is said."""
    cut = Slicing(bits=bits, count=count, wide=TINY, rounding=ROUNDINGS[rounding])
    prove(proof(), cut)
    for apart in (0, 1, 3, 6):
        said = cut_constants(cut, apart, TINY.precision)
        largest = said.of_largest
        assert largest is not None
        worst = Fraction(0)
        words = words_in(Domain(exponents=(0, apart), c_zero=True))[1:]
        for word in words:
            for top in range(oracle.exponent(TINY, TINY.value(word)), apart + 1):
                x, m = TINY.value(word), Fraction(2) ** top
                (found, _), high = oracle.digits(cut, [x, m])
                parts = [Fraction(d) * Fraction(2) ** (high - bits * p) for p, d in enumerate(found, 1)]
                for one, size in ((said, abs(x)), (largest, max(abs(x), m))):
                    assert abs(x - sum(parts)) <= one.left * size
                    assert all(abs(d) <= s * size for d, s in zip(parts, one.sizes, strict=True))
                    assert sum(map(abs, parts)) <= one.whole * size
                worst = max(worst, abs(x - sum(parts)) / abs(x))
        assert worst >= said.left / 4


class Wrong(Slicing):
    """A cut of which one digit is off by one where a row's largest exponent is this one."""

    def digits(self, word: Term, top: Term) -> tuple[Term, ...]:
        """With the planted error in the last digit."""
        *first, last = super().digits(word, top)
        return (*first, last + top.eq(40).zext(last.width))


def test_a_planted_error_is_not_proved_away() -> None:
    for rounding, wide in product(("RTZ", "RNE"), (TINY, None)):
        given = {} if wide is None else {"wide": wide}
        cut = Wrong(bits=4, count=2, rounding=ROUNDINGS[rounding], **given)
        with pytest.raises(Unbounded, match="not so for all words"):
            prove(proof(), cut)


def test_binary64() -> None:
    """The lemmas of the smallest cut in use, about all 2^64 words."""
    cut = Slicing(bits=7, count=1)
    said = [what for what, _ in goals(cut)]
    assert len(said) == 5
    chain = proof()
    prove(chain, cut)
    assert [step for step, _ in chain.steps] == said
