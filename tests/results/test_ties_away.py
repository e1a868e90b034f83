"""A chain of lemmas about sums of three terms: what it proves is so, held against exact integers."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import numpy as np
import pytest
from ties_away import Chain, NotProved, ThreeTerms

from tcsmt.interop.implementations import rtl
from tcsmt.language.run import jit
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS
from tcsmt.matrix_units.models import IeeeDotAdd
from tcsmt.matrix_units.models.circuit import Circuit
from tcsmt.prove.engine.enumeration import Enumeration
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.question import difference
from tcsmt.support.errors import TcsmtError
from tests.support.three_terms import EXACT, design, exact_sum, narrow_and_wide, rows, wrong

pytestmark = pytest.mark.skipif(not rtl.available(), reason="the extra `rtl` (pyosys) is not installed")


def proof(model: Circuit, exact: IeeeDotAdd = EXACT) -> int:
    """The number of lemmas. Raises NotProved."""
    chain = Chain(Solving(SolvingOptions("bitwuzla", 60.0, 4096)))
    ThreeTerms(model, exact, chain).prove()
    return sum(chain.counts.values())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mutant", "why"),
    [
        pytest.param(2, "additions: large: the first bits: sat", marks=pytest.mark.long),
        (4, "rounding: exponent 16: sat"),
    ],
)
def test_a_wrong_design_is_refused(mutant: int, why: str, no_luck: None) -> None:
    """One whose first sum may be zero while the third term has lost bits; one that rounds ties to even."""
    model = design(mutant)
    assert wrong(model, rows(97)) > 100
    with pytest.raises(NotProved, match=why):
        proof(model)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("c", "why"),
    [(0x0A5, "bits of unknown meaning are left"), (0x1F3, "special words: the result: sat")],
)
def test_a_single_wrong_input_is_not_passed_over(c: int, why: str, no_luck: None) -> None:
    """A finite one, and one with a NaN."""
    rare = {"a0": 3, "b0": 9, "a1": 0, "b1": 4, "c": c}
    model = design(rare=rare)
    assert wrong(model, {name: np.array([word]) for name, word in rare.items()}) == 1
    assert wrong(model, rows(97)) == 0
    with pytest.raises(NotProved, match=why):
        proof(model)


@pytest.mark.long
def test_the_design_is_proved(no_luck: None) -> None:
    """Of all finite inputs, every seventh row, of which each word of each operand is in some."""
    assert wrong(design(), rows(7)) == 0
    assert proof(design()) > 150
    nearest = EXACT.replace(rounding=ROUNDINGS["RNE"])
    with pytest.raises(NotProved):
        proof(design(), nearest)


@pytest.mark.long
@pytest.mark.skipif(not jit.available(), reason="the extra `fast` (llvmlite) is not installed")
@pytest.mark.parametrize(("fraction", "enough"), [(5, False), (6, True)])
def test_windows_are_wide_enough_or_not(fraction: int, enough: bool, no_luck: None) -> None:
    """2^w - 3 <= 2P + 3 - 2p, with w = 4 bits of exponent and p = 2: P is 7 or more. All inputs are run."""
    formats = narrow_and_wide(4, 1, 6, fraction)
    model, exact = design(formats=formats), exact_sum(*formats)
    found = Enumeration(difference("", ("design", model), ("exact", exact), Domain())).run()
    assert found.answer == ("unsat" if enough else "sat")
    if enough:
        proof(model, exact)
    else:
        with pytest.raises(NotProved):
            proof(model, exact)


#: Operations that may be mistaken for each other.
MISTAKES = (
    ("and", "or", "xor"), ("add", "sub"), ("slt", "slte"), ("sgt", "sgte"), ("ult", "ulte"), ("ugt", "ugte"),
    ("eq", "neq"), ("sll", "srl"), ("redor", "redand"),
)  # fmt: skip


def mistaken(text: str, rng: Random) -> str:
    """A circuit with another operation, other constant or exchanged branches in one line."""
    lines = text.splitlines()
    while True:
        place = rng.randrange(len(lines))
        words = lines[place].split(";")[0].split()
        op = words[1] if len(words) > 2 else ""
        alike = next((some for some in MISTAKES if op in some), ())
        if alike:
            words[1] = rng.choice([one for one in alike if one != op])
        elif op == "ite":
            words[4:6] = reversed(words[4:6])
        elif op == "const":
            at = rng.randrange(len(words[3]))
            words[3] = words[3][:at] + "10"[int(words[3][at])] + words[3][at + 1 :]
        else:
            continue
        lines[place] = " ".join(words)
        return "\n".join(lines)


@pytest.mark.long
@pytest.mark.parametrize("part", range(4))
def test_only_mutants_with_the_same_results_are_proved(part: int, no_luck: None) -> None:
    """Random changes of the circuit: many are refused that change a result; none of those is proved."""
    proved = refused = 0
    for seed in range(8 * part, 8 * part + 8):
        try:
            model = replace(design(), btor2=mistaken(design().btor2, Random(seed)))
        except TcsmtError:  # it is a circuit no longer
            continue
        try:
            proof(model)
        except NotProved:
            refused += 1
            continue
        proved += 1
        assert wrong(model, rows(7, seed % 7)) == 0, seed
    assert refused > 2
    assert proved + refused > 4
