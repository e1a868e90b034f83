"""One block with open parameters: at each of their values it is the unit that the oracle computes."""

from __future__ import annotations

from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest

from tcsmt.language.terms import Term, const, var
from tcsmt.matrix_units.arithmetic.datapath import Exponent
from tcsmt.matrix_units.models import FusedDotAdd, Kind
from tcsmt.matrix_units.models.fused_block import BlockWords, FreeParameters, block_result, block_sum
from tcsmt.prove.statements.domain import Domain
from tests.oracles import exact, terms, tiny

OPERAND = tiny.described(exponent_bits=2, fraction_bits=1, bias=1)
RESULT = tiny.described(exponent_bits=3, fraction_bits=2, bias=3)
#: Aligned with at most so many fraction bits; zeros enter with an exponent from here to there.
MOST, ZEROS = 5, (-4, 3)
EVERYTHING = tiny.Everything.of({"a0": OPERAND, "b0": OPERAND, "c": RESULT}, Domain(finite=False))


#: The ways of adding; what is free in a graph is not read from them.
SUMS = {
    way: FusedDotAdd.of(
        a_format=OPERAND, b_format=OPERAND, c_format=RESULT, d_format=RESULT, k=1, n_fma=1, rounding="RNE",
        fraction_bits=MOST, zero_exponent=0, c_position="aligned" if way == "every" else way,
        normalisation="every" if way == "every" else "once",
    )
    for way in ("aligned", "summed", "every")
}  # fmt: skip


def open_block(way: str = "aligned", **given: Any) -> tuple[Term, dict[Kind, Term]]:
    """The word of a block of one lane whose parameters are variables, and the term of each kind of stage."""
    free: dict[str, Any] = {
        "coarser": Exponent(var("coarser", 3), 0, MOST), "carry_bits": Exponent(var("carry", 2), 0, 2),
        "zero_exponent": Exponent(var("zero", 3), *ZEROS), "zero_given": var("zero given", 1),
        "flush": var("flush", 1),
    }  # fmt: skip
    seen: dict[Kind, Term] = {}
    words = [var(name, fmt.width) for name, fmt in (("a0", OPERAND), ("b0", OPERAND), ("c", RESULT))]
    of_block = BlockWords(
        a_format=OPERAND, b_format=OPERAND, c_format=RESULT, d_format=RESULT, a=words[:1], b=words[1:2],
        c=words[2],
    )  # fmt: skip
    unit = SUMS[way]
    found = block_sum(
        unit.sum, FreeParameters(**free | given), of_block,
        lambda kind, value, term, lane: seen.update({kind: term}),
    )  # fmt: skip
    word = block_result(
        unit.final, RESULT, found, flush=var("flush result", 1), negative_zero=var("minus", 1),
        nan_word=const(RESULT.nan_word or 0, RESULT.width),
    )  # fmt: skip
    return word, seen


@pytest.mark.parametrize("way", ["aligned", "summed", "every"])
def test_open_parameters_are_the_units(way: str) -> None:
    """On random inputs, at corners of the parameters; c is aligned with the products, or after, or first."""
    enough = {"carry_bits": None} if way == "every" else {}
    word, _ = open_block(way, **enough)
    columns = EVERYTHING.some(Random(way), 1500)
    count = 0
    zeros = [(0, -4), (0, -1), (0, 3), *([] if way == "every" else [(1, 0)])]
    carries = [None] if way == "every" else [0, 2]
    flags = [(0, 0, 0), (1, 1, 0), (0, 0, 1), (1, 1, 1)]
    for bits, (none, zero), carry, (flush, flush_result, minus) in product((1, 4), zeros, carries, flags):
        model = FusedDotAdd.of(
            a_format=OPERAND, b_format=OPERAND, c_format=RESULT, d_format=RESULT, k=1, n_fma=1,
            fraction_bits=bits, alignment="RTZ", carry_bits=carry, rounding="RNE",
            zero_exponent=None if none else zero, negative_zero=bool(minus), nan=RESULT.nan_word,
            c_position="aligned" if way == "every" else way, flush_inputs=bool(flush),
            normalisation="every" if way == "every" else "once", flush_outputs=bool(flush_result),
        )  # fmt: skip
        given = {
            "coarser": MOST - bits, "carry": carry or 0, "zero": zero - ZEROS[0], "zero given": 1 - none,
            "flush": flush, "flush result": flush_result, "minus": minus,
        }  # fmt: skip
        rows = len(columns["c"])
        (found,) = terms.values([word], columns | {name: np.full(rows, v) for name, v in given.items()})
        wrong = np.flatnonzero(found.astype(np.int64) != exact.results(model, columns))
        assert not wrong.size, (model, {name: int(words[wrong[0]]) for name, words in columns.items()})
        count += 1
    assert count >= 24


def test_each_kind_of_stage_is_told_once() -> None:
    """Each kind once, whatever is summed how; the largest exponent only where there is one."""
    once = {Kind.PRODUCT, Kind.LARGEST_EXPONENT, Kind.ALIGNED_PRODUCT, Kind.ALIGNED_C, Kind.SUM}
    assert open_block()[1].keys() == once
    assert open_block("summed")[1].keys() == {Kind.PRODUCT, Kind.SUM}


def test_constants_leave_nothing_of_a_parameter() -> None:
    """A unit's own graph has its inputs for variables, and no trace of what was open."""
    fixed = {
        "coarser": Exponent.constant(0), "carry_bits": None, "zero_exponent": Exponent.constant(-1),
        "zero_given": const(1, 1), "flush": const(0, 1),
    }  # fmt: skip
    total = open_block(**fixed)[1][Kind.SUM]
    model = FusedDotAdd.of(
        a_format=OPERAND, b_format=OPERAND, c_format=RESULT, d_format=RESULT, k=1, n_fma=1,
        fraction_bits=MOST, zero_exponent=-1, rounding="RNE",
    )  # fmt: skip
    (stage,) = model.trace.of(Kind.SUM)
    assert total is stage.term
