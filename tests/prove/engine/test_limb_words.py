"""Wide graphs in limbs: the same words, and proved to be the same graph, as a certificate has it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from random import Random

import pytest

from tcsmt.language.graphs import limbs
from tcsmt.language.run.exact import evaluate
from tcsmt.language.terms import Term, const, operands_first, total, umax, var
from tcsmt.language.write.smtlib import script
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.prove.certificates.derivation import Close, Equal, check
from tcsmt.prove.engine.engine import question_of_models
from tcsmt.prove.engine.limb_words import LimbWords
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.proof_steps import Lemmas, Proving
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.domain import Domain
from tests.support.solving_here import solve

pytestmark = pytest.mark.usefixtures("no_luck")

A, B, C = var("a", 32), var("b", 32), var("c", 20)
WIDE = 70
X, Y = A.zext(WIDE) << C[5:0].zext(WIDE), B.concat(A).sext(WIDE)


def normalised(word: Term) -> Term:
    for places in (64, 32, 4, 1):
        clear = word[word.width - 1 : word.width - places].eq(0)
        word = clear.ite(word << places, word)
    return word


GRAPHS = {
    "sum": total(X, Y, ~X, C[3:0].zext(WIDE), const(5, WIDE)),
    "difference": X - Y,
    "product": A.concat(C[2:0]).zext(WIDE) * B.concat(C[7:5]).zext(WIDE) + Y,
    "negative": (X - Y)[WIDE - 1].ite(-X, X),
    "normalised": normalised(X),
    "right": (X + Y) >> C[9:3].zext(WIDE),
    "signed": Y.ashr(C[9:3].zext(WIDE)),
    "largest": umax(X, Y),
    "order": (X + Y).ult(X ^ Y).concat(X.slt(Y)).concat((X & Y).eq(0)).zext(WIDE),
    "bits": X[WIDE - 2 : 3].concat(Y[40:39]).zext(WIDE) | Y,
}


def result(word: Term) -> Term:
    """All of a wide word in one of 32 bits."""
    return word[31:0] ^ word[63:32] ^ word[WIDE - 1 : 64].zext(32)


def in_limbs(wide: Term, limb: int = 32) -> LimbWords:
    found = LimbWords.like(wide, var("machine", limb))
    assert found is not None
    return found


def proving() -> Proving:
    solving = Solving(SolvingOptions("bitwuzla", 60, 2048))
    model = row_named("volta").model
    question = question_of_models(("one", model), ("two", model), Domain(finite=False))
    return Proving(question, solving, Lemmas(solving))


def rows(count: int) -> Iterator[dict[str, int]]:
    rng = Random(5)
    for _ in range(count):
        row = {}
        for word in (A, B, C):
            ones = (1 << word.width) - 1
            row[str(word.data)] = rng.choice((0, 1, ones, ones ^ ones >> 1, rng.getrandbits(word.width)))
        yield row


@pytest.mark.parametrize(
    ("name", "limb"), [*product(GRAPHS, [64]), *product(sorted(GRAPHS.keys() - {"product"}), [32])]
)
@pytest.mark.slow_cases("product-64", "signed-64", "sum-32")
def test_limbs_are_the_words(name: str, limb: int) -> None:
    """On rows; and it is proved, in steps that a certificate's checker takes."""
    wide = result(GRAPHS[name])
    found = in_limbs(wide, limb)
    assert max(node.width for node in operands_first([found.root])) <= limb
    for row in rows(300):
        assert len(set(evaluate([found.root, *(result for _, result in found.passes)], row))) == 1, row
    course, theirs = proving(), var("theirs", 32)
    same = theirs.eq(found.root)
    assert found.widened(theirs, course)
    refuted: list[Term] = []
    merged = Equal(theirs, found.root, (Close((same,)),))
    check(same & theirs.ne(wide), (merged, *course.derived, Close()), refuted.append)
    scripts = {script(formula) for formula in refuted}
    assert 1 < len(scripts) <= len(course.steps) + 1  # what was merged first is not among the steps
    for text in scripts:
        assert solve(text, SolvingOptions("bitwuzla", 60, 2048)).answer == "unsat"


def test_products_of_constant_digits_count() -> None:
    """That a limb which is constant then is bits of the wide word is not proved."""
    x, y = (word.concat(const(low, 32)).zext(WIDE) for word, low in ((A, 5), (C, 7)))
    wide = result(x * y)
    found = in_limbs(wide, 64)
    for row in rows(300):
        assert len(set(evaluate([wide, found.root, *(word for _, word in found.passes)], row))) == 1, row
    assert not found.widened(found.root, proving())


@pytest.mark.parametrize("name", ["sum", "difference", "right", "signed", "normalised", "order"])
def test_wrong_limbs_are_not_proved(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A carry that is lost, a shift by a place less, a comparison of the lowest limbs alone."""

    def carry_lost(x: limbs.Limbs, y: limbs.Limbs, carry: Term) -> limbs.Limbs:
        return [a + b for a, b in zip(x, y, strict=True)]

    def not_far(self: object, words: limbs.Limbs, amount: limbs.Limbs, *, left: bool) -> limbs.Limbs:
        return [word << 1 if left else word >> 1 for word in words]

    monkeypatch.setattr(limbs, "_sum", carry_lost)
    monkeypatch.setattr(limbs._Splitter, "_shifted", not_far)
    monkeypatch.setattr(limbs, "_less", lambda x, y: x[0].ult(y[0]))
    wide = result(GRAPHS[name])
    wrong, course = in_limbs(wide), proving()
    assert any(len(set(evaluate([wrong.root, wide], row))) == 2 for row in rows(300))
    assert not wrong.widened(wrong.root, course)
    assert not course.derived


def test_only_a_machines_words() -> None:
    """Of a graph that has wider ones, and no wider inputs."""
    wide = result(GRAPHS["sum"])
    for other in (var("x", 31), var("x", 33), var("x", WIDE), var("x", 128)):
        assert LimbWords.like(wide, other) is None
    assert LimbWords.like(var("x", WIDE) + X, var("y", 64)) is None
