"""Splits of FP32 numbers: the closed form, the terms and the solvers, against exact rational numbers."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcsmt.analysis.bounds.proof import StepwiseProof
from tcsmt.analysis.bounds.split_analysis import (
    CLASSES,
    SPLITS,
    _question,
    binade,
    counted,
    distance,
    enumerated,
    least_special,
    name_of,
    proved,
    proved_by_lemmas,
    statement,
    traced,
)
from tcsmt.language.run.exact import evaluate
from tcsmt.language.terms import Term
from tcsmt.language.write.smtlib import script
from tcsmt.matrix_units.arithmetic.formats import Format
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS
from tcsmt.programs.steps.split import F32, Split
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.solvers.answer import Answer, digest
from tcsmt.prove.engine.solving import Solving
from tests.support.lying import Liars
from tests.support.sampling import mostly_long

F16, F16_SCALED = SPLITS[0], SPLITS[1]
#: Not scaled and scaled, truncated, and of the most words.
FEW = (F16_SCALED, SPLITS[-1])
WORDS = st.one_of(st.integers(0, 2**32 - 1), st.integers(0x33000000, 0x48000000))


def rounded(fmt: Format, x: Fraction, mode: str) -> Fraction:
    """x in a format without an upper end."""
    if not x:
        return x
    size = abs(x)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    exponent -= size < Fraction(2) ** exponent
    step = Fraction(2) ** (max(exponent, fmt.e_min) - fmt.fraction_bits)
    whole, rest = divmod(size / step, 1)
    up = {"RTZ": False, "RNA": rest >= Fraction(1, 2)}.get(
        mode, rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole % 2 == 1)
    )
    return (whole + up) * step * (1 if x > 0 else -1)


def oracle(split: Split, x: Fraction) -> tuple[Fraction, str]:
    """The error and the last word's kind, of an x that the format can hold."""
    rest, factor = x, Fraction(1)
    for number in range(split.words):
        if number:
            rest, factor = rest * 2**split.scale, factor / 2**split.scale
        word = rounded(split.format, rest, (split.residual if number else split.rounding).name)
        before, rest = rest, rest - word
    kind = "normal" if abs(word) >= Fraction(2) ** split.format.e_min else "gradual underflow"
    if not word:
        kind = "underflow" if before else "zero"
    return rest * factor, kind


@pytest.mark.slow
@pytest.mark.parametrize("split", mostly_long(SPLITS, FEW), ids=name_of)
@given(word=WORDS)
def test_terms_against_rationals(split: Split, word: int) -> None:
    t = traced(split)
    error, kind = evaluate([t.error, t.kind], {"x": word})
    magnitude = word & 0x7FFFFFFF
    if magnitude >= least_special(split):
        assert CLASSES[kind] == "special"
        return
    left, expected = oracle(split, F32.value(word))
    ulp = Fraction(2) ** (max(word >> 23 & 255, 1) - 150)
    assert (error, CLASSES[kind]) == (abs(left) / ulp, expected)


@pytest.mark.slow
@pytest.mark.parametrize("split", mostly_long(SPLITS, FEW), ids=name_of)
@given(word=WORDS)
def test_the_statement_holds(split: Split, word: int) -> None:
    assert evaluate([statement(split)], {"x": word}) == [1]


@pytest.mark.slow
@pytest.mark.parametrize("field", [pytest.param(101, marks=pytest.mark.long), 127])
@pytest.mark.parametrize("split", mostly_long([F16, F16_SCALED, SPLITS[-1]], [F16_SCALED]), ids=name_of)
def test_closed_form_against_all_inputs_of_an_exponent(split: Split, field: int) -> None:
    assert counted(split, field) == binade(split, field)


@pytest.mark.slow
def test_subnormal_inputs_are_counted() -> None:
    split = next(one for one in SPLITS if one.words == 3)
    assert counted(split, 0) == binade(split, 0)


def test_published_mantissa_length() -> None:
    """22.75 bits (slides), where nothing underflows; an LSB of zero for half of the inputs would be 22.5."""
    tally = counted(F16, 127)
    assert tally is not None
    assert tally.kept_bits == Fraction(91, 4)
    assert tally.lengths[:3] == (3 << 22, 1 << 22, 0)
    assert tally.worst == 1
    truncated = counted(SPLITS[2], 127)
    assert truncated is not None
    assert truncated.kept_bits == Fraction(89, 4)
    lower = counted(F16, 127 - 10)
    assert lower is not None
    assert lower.kept_bits < 16


def test_three_bf16_words_are_exact() -> None:
    split = next(one for one in SPLITS if one.words == 3)
    tally = counted(split, 127)
    assert tally is not None
    assert tally.worst == 0
    lost = [field for field in range(1, 254) if (t := counted(split, field)) and t.worst]
    assert lost == list(range(1, lost[-1] + 1))


@pytest.mark.slow
def test_statements_about_splits_are_proved_by_a_solver() -> None:
    (answer,) = proved(SPLITS[2], Solving())
    assert (answer["verdict"], answer["answer"]) == ("equivalent", "proved")
    assert answer["scripts"] == [digest(script(~statement(SPLITS[2])))]
    assert answer["exponent_field"] == "xxxxxxxx"


def test_a_false_statement_has_an_input(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error of the scaled split is not the unscaled one's."""
    from tcsmt.analysis.bounds import split_analysis

    monkeypatch.setattr(split_analysis, "distance", lambda split, x: distance(F16, x))
    (answer,) = proved(F16_SCALED, Solving())
    assert (answer["verdict"], answer["answer"]) == ("distinguished", "not so")
    value = F32.value(int(answer["x"], 16))
    assert oracle(F16, value)[0] != oracle(F16_SCALED, value)[0]


def test_proofs_go_on_by_exponents(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where all inputs at once take too long."""
    asked = []

    def slow(solving: Solving, question: Term, timeout: float | None = None, text: str = "") -> Answer:
        asked.append(question)
        if len(asked) == 1:
            return Answer("unknown", "bitwuzla", reason="timeout")
        return Answer("unsat", "bitwuzla", script=digest(script(question)))

    monkeypatch.setattr(Solving, "ask", slow)
    answers = proved(F16, Solving())
    assert [a["scripts"] for a in answers] == [[digest(script(question))] for question in asked[1:]]
    assert [a["exponent_field"] for a in answers] == ["0xxxxxxx", "1xxxxxxx"]


@pytest.mark.parametrize(
    ("said", "answer"), [("unsat", "proved"), ("unknown", "unknown"), ("sat", "unknown")]
)
def test_another_solver_confirms_a_proof_or_there_is_none(said: str, answer: str, liars: Liars) -> None:
    liars.install(bitwuzla="unsat", z3=said, cvc5="garbage")
    (found,) = proved(F16, Solving(SolvingOptions(confirm=True)))
    assert found["answer"] == answer
    assert found.get("confirmed") == ("z3 9.9" if said == "unsat" else None)
    reason = found.get("reason", "")
    assert ("disagree" in reason) == (said == "sat")
    assert ("bitwuzla 9.9 answers unsat; not confirmed: z3: gave up; cvc5: wrote no" in reason) == (
        said == "unknown"
    )
    (alone,) = proved(F16, Solving())
    assert (alone["answer"], alone["confirmed"]) == ("proved", "")


class Leaves(StepwiseProof):
    """Proves a goal if its inputs have so many bits of the exponent field fixed, but for one of them."""

    def __init__(self, depth: int, refused: str = "") -> None:
        super().__init__(Solving())
        self.depth, self.refused = depth, refused
        self.asked: list[Term] = []

    def prove(self, what: str, goal: Term) -> bool:
        self.asked.append(goal)
        field = what.rpartition(" ")[2].rstrip("x")
        return field != self.refused and len(field) == self.depth


def test_lemmas_cover_all_inputs() -> None:
    """Halves of halves of the exponents: each of them is asked about, and together they are all inputs."""
    chain = Leaves(2)
    assert proved_by_lemmas(chain, F16)
    quarters = [(first, second) for first in (0, 1) for second in (0, 1)]
    asked = [_question(F16, fixed) for fixed in ((), (0,), *quarters[:2], (1,), *quarters[2:])]
    assert chain.asked == [goal for _, goal in asked]
    ends = []
    for sign in (0, 1):
        for fixed in quarters:
            word, _ = _question(F16, fixed)
            low = [evaluate([word], {"sign": sign, "low": low})[0] for low in (0, (1 << 29) - 1)]
            assert low[1] - low[0] + 1 == 1 << 29
            ends += low
    assert [ends[0], ends[-1]] == [0, (1 << 32) - 1]
    assert all(after == before + 1 for before, after in zip(ends[1:-1:2], ends[2::2], strict=True))
    for refused in ("00", "01", "10", "11"):
        assert not proved_by_lemmas(Leaves(2, refused), F16)


@pytest.mark.long
@pytest.mark.parametrize("split", SPLITS, ids=name_of)
def test_all_inputs(split: Split) -> None:
    tallies = enumerated(split).tallies
    assert sum(tally.inputs for tally in tallies) == 1 << 32
    for field, tally in enumerate(tallies):
        closed = counted(split, field)
        assert closed is None or closed == tally


@pytest.mark.slow
def test_roundings_of_both_words_count() -> None:
    split = replace(F16, rounding=ROUNDINGS["RTZ"], residual=ROUNDINGS["RNE"])
    assert counted(split, 127) == binade(split, 127) != counted(F16, 127)
