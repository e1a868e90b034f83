"""Questions and verdicts: witnesses that replay, proofs whose cuts are genuine."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tcsmt.interface.api.units import side_of
from tcsmt.language.run.exact import evaluate
from tcsmt.matrix_units.arithmetic.conversion import knows_nans
from tcsmt.matrix_units.arithmetic.formats import FORMATS, float_format
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import IeeeDotAdd, Model, Operands
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.question import Question, difference
from tcsmt.simulate.rows import run_words
from tcsmt.support.errors import TcsmtError
from tests.oracles import rationals
from tests.support.questions import PAIRS, found, unit
from tests.support.references import oracle_parameters
from tests.support.sampling import mostly_long


def in_domain(domain: Domain, question: Question, values: dict[str, int]) -> bool:
    """Whether the words lie in the domain, by exact values."""
    for name, fmt in question.formats.items():
        word = values[name]
        if fmt.is_nan(word) or fmt.is_infinite(word):
            if domain.finite:
                return False
            continue
        size = abs(fmt.value(word))
        if domain.positive and word >> fmt.sign_bit & 1:
            return False
        if not domain.subnormals and 0 < size < 2 ** float_format(fmt).e_min:
            return False
        if domain.c_zero and name == "c" and word:
            return False
        limits = domain.exponents
        if limits and name != "c" and size and not 2 ** limits[0] <= size < 2 ** (limits[1] + 1):
            return False
    return True


@pytest.mark.parametrize("name", mostly_long(PAIRS, ["c last", "nan"]))
def test_a_witness_replays(name: str) -> None:
    """On the evaluator, the simulator and the rational oracle, which shares no code with them."""
    base, changes, domain = PAIRS[name]
    left = row_named(base).model if name == "blocks" else unit(base)
    right = left.replace(**changes)
    many = name in ("blocks", "carry bits")
    pair = ("left", left), ("right", right)
    question = difference(name, *pair, domain, lanes=() if many else (2,), alike=many)
    values = dict(found(question).values)
    assert list(values) == left.input_names
    assert evaluate([question.goal], values) == [1]
    assert in_domain(domain, question, values)
    k = left.k
    a, b = ([values[f"{side}{i}"] for i in range(k)] for side in "ab")
    results = []
    for model in (left, right):
        x, y, c = (np.array([words], dtype=np.uint64) for words in (a, b, values["c"]))
        word = int(run_words(model, Operands(x, y, c))[0])
        parameters = oracle_parameters(model)
        assert isinstance(parameters, rationals.FDA)
        assert word == rationals.fda(parameters, a, b, values["c"])
        results.append(word)
    assert results[0] != results[1]


def test_a_case_restricts_the_question_that_was_asked() -> None:
    """Whether the results differ, or anything else about the same two sides."""
    asked = difference("", ("", unit()), ("", unit().replace(fraction_bits=24)))
    one, two = (side.trace.output for side in asked.sides)
    zeros = dict.fromkeys(asked.formats, 0)
    for goal in (asked.goal, one.eq(two)):
        question = replace(asked, goal=goal)
        assert question.about_outputs == (goal is asked.goal)
        for word, case in ((0, one.eq(0)), (0, one.ne(0)), (1, one.eq(1)), (1, one.ne(1))):
            values = zeros | {"c": word}  # the result is c: the two are equal
            expected = evaluate([goal & case], values)
            assert evaluate([question.assuming(case).goal], values) == expected, (word, goal is asked.goal)


def test_models_that_do_not_fit() -> None:
    volta, f16 = unit(), unit("volta/mma.m8n8k4.f16.f16.f16.f16")
    with pytest.raises(TcsmtError, match="cannot compare x with y: c_format is f32 and f16"):
        difference("", ("x", volta), ("y", f16))
    with pytest.raises(TcsmtError, match="cannot compare x with y: k = 4 and 2"):
        difference("", ("x", volta), ("y", volta.replace(k=2, n_fma=2)))


def test_against_an_ieee_reference() -> None:
    """A unit and a reference of another kind, with formats of equal widths."""
    volta = unit()
    rtz = IeeeDotAdd.of(
        a_format="f16", b_format="f16", c_format="f32", d_format="f32", k=4,
        sum_format=FORMATS["f32"], rounding="RTZ", nan=volta.nan_word,
    )  # fmt: skip
    question = difference("", ("unit", volta), ("IEEE", rtz), Domain(subnormals=False), lanes=(1,))
    values = found(question).values
    assert evaluate([question.goal], values) == [1]


def test_scales_must_fit() -> None:
    plain = unit()
    scaled = plain.replace(scale_format="ue8m0", scale_block=plain.k)
    with pytest.raises(TcsmtError, match="block scales are 1 of ue8m0 and none"):
        difference("scales", ("with", scaled), ("without", plain))


def test_nans_whose_words_are_unknown_make_no_difference() -> None:
    """Any NaN equals any other there, and the domain says so; a number is still another than a NaN."""
    known, other, unknown = (
        side_of(f"volta+split-k:2,{more}@8").row.model
        for more in ("sum=f32", "sum=f32+nan=quiet", "sum=f32+nan=unknown")
    )
    infinity = {"a0": 0x7C00, "b0": 0x0000}

    def differ(left: Model, right: Model, words: dict[str, int]) -> tuple[int, str]:
        question = difference("", ("one", left), ("two", right), Domain(finite=False))
        return evaluate([question.goal], dict.fromkeys(question.formats, 0) | words)[0], question.domain_text

    assert differ(known, other, infinity) == (1, "all words")
    for left, right in ((known, unknown), (unknown, other), (unknown, known)):
        found, text = differ(left, right, infinity)
        assert not found and text.startswith("all words; any NaN equals any other")
    wider = side_of("volta+split-k:2,sum=f32,parts=f16+nan=unknown@8").row.model
    assert differ(unknown, wider, {"a0": 0x7BFF, "b0": 0x7BFF})[0] == 1
    # a chain alone gives the instruction's own word, which is known
    assert knows_nans(side_of("volta+chained+nan=unknown@8").row.model)
