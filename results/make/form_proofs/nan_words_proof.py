"""That a unit whose NaNs have words by a rule is one with a processor's NaNs, but for those words.

Both units are of one lane: one operation on c. Their results are the same word, or both a NaN; and where c is
a NaN, so are both. So it is of every chain of them: after each operation, both have the same word, or both a
NaN, and the next one begins with it. :func:`derive_proof` proves both by two lemmas.
"""

from __future__ import annotations

from form_proofs.deduction import FormDerivation, ProofFailed
from tcsmt.language.terms import Term, all_of
from tcsmt.matrix_units.arithmetic.datapath import decode
from tcsmt.matrix_units.arithmetic.formats import Format, float_format
from tcsmt.matrix_units.arithmetic.ieee import exact_product
from tcsmt.matrix_units.models import Model

__all__ = ["derive_proof"]


def derive_proof(model: Model, plain: Model) -> FormDerivation:
    """That two units of one lane, and so chains of them, differ in the words of NaNs alone.

    Raises :class:`.ProofFailed` where the units have no such chains.
    """
    fmt = float_format(model.d_format)
    alike = set(model.input_formats.values()) == set(plain.input_formats.values()) == {fmt}
    if not model.k == plain.k == 1 or not alike:
        raise ProofFailed("not two units of one lane whose results are the next c")
    results = [unit.trace.output for unit in (model, plain)]
    nans = [_nan(fmt, word) for word in results]
    proof = FormDerivation(())
    same, stays = results[0].eq(results[1]) | all_of(nans), ~_nan(fmt, model.trace.c) | all_of(nans)
    product = exact_product(*(decode(fmt, word) for word in (model.trace.a[0], model.trace.b[0])))
    for what, conclusion in (("the same word, or two NaNs", same), ("a NaN stays one", stays)):
        proof.lemma(what, conclusion, cuts=[product.significand])
    proof.theorem(same, stays)
    return proof


def _nan(fmt: Format, word: Term) -> Term:
    """Whether a word is a NaN, by its magnitude."""
    return ~word[fmt.sign_bit - 1 : 0].ule(fmt.infinity_word)
