"""The graphs with open parameters: at random values of all of them they are units, by the oracle."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from tcsmt.identification.units.family import ALIGNMENTS
from tcsmt.identification.units.open_block import (
    ALIGNMENT_TABLES,
    MOST,
    ROUNDING_TABLES,
    by_table,
    last_program,
    result_program,
    sum_program,
)
from tcsmt.language.terms import var
from tcsmt.matrix_units.arithmetic.ieee import Zeros
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS
from tcsmt.matrix_units.models import FusedDotAdd
from tcsmt.prove.statements.domain import Domain
from tests.oracles import exact, terms, tiny

OPERAND = tiny.described(exponent_bits=2, fraction_bits=1, bias=1)
RESULT = tiny.described(exponent_bits=3, fraction_bits=2, bias=3)
MODES = list(ROUNDINGS)


@pytest.mark.parametrize("mode", MODES)
def test_a_table_is_the_rounding(mode: str) -> None:
    """Of every magnitude of seven bits, three of them dropped, of both signs: against the oracle."""
    table = int(ROUNDING_TABLES[MODES.index(mode)])
    sign, odd, half, rest = (var(name, 1) for name in ("sign", "odd", "half", "rest"))
    decision = by_table("table").away(sign, odd, half, rest)
    magnitudes = np.tile(np.arange(128), 2)
    minus = np.repeat([0, 1], 128)
    columns = {
        "sign": minus, "odd": magnitudes >> 3 & 1, "half": magnitudes >> 2 & 1,
        "rest": (magnitudes & 3 != 0).astype(int), "table": np.full(256, table),
    }  # fmt: skip
    (away,) = terms.values([decision], columns)
    found = (magnitudes >> 3) + np.broadcast_to(away, 256).astype(int)
    expected = exact.rounded(np.where(minus, -magnitudes, magnitudes), np.full(256, 3), mode)
    assert (found == np.abs(expected)).all()


def test_alignments_have_their_roundings_tables() -> None:
    """A sticky bit is rounding to odd one place lower."""
    for alignment, table in zip(ALIGNMENTS, ALIGNMENT_TABLES.tolist(), strict=True):
        mode = "RTO" if alignment.sticky else alignment.rounding.name
        assert table == int(ROUNDING_TABLES[MODES.index(mode)])


def some_unit(
    rng: Random, order: str, normalised: bool
) -> tuple[FusedDotAdd, dict[str, int], dict[str, int], int]:
    """A unit of one product, the inputs of both graphs that say so, and which root of the second."""
    bits, carry = rng.randint(5, 30), rng.choice((None, 0, 1))
    zero = rng.choice((None, rng.randint(-9, 3))) if order != "every" else rng.randint(-9, 3)
    alignment = rng.randrange(len(ALIGNMENTS) - (order == "every"))
    rounding, kept = rng.randrange(len(MODES)), rng.randint(1, RESULT.fraction_bits)
    flush, flush_result, minus, saturate = (rng.randrange(2) for _ in range(4))
    given = ALIGNMENTS[alignment]
    model = FusedDotAdd.of(
        a_format=OPERAND, b_format=OPERAND, c_format=RESULT, d_format=RESULT, k=1, n_fma=1,
        fraction_bits=bits, products="normalised" if normalised else "unnormalised",
        alignment=given.rounding,
        alignment_sticky=given.sticky, carry_bits=None if order == "every" else carry, zero_exponent=zero,
        normalisation="every" if order == "every" else "once",
        c_position="summed" if order == "summed" else "aligned", rounding=MODES[rounding],
        round_fraction_bits=kept, overflow="saturate" if saturate else "infinity", flush_inputs=bool(flush),
        flush_outputs=bool(flush_result), negative_zero=bool(minus), nan=RESULT.nan_word,
    )  # fmt: skip
    sums = {
        "coarser": MOST - bits - given.sticky, "alignment": int(ALIGNMENT_TABLES[alignment]),
        "carry": 2 if carry is None or order == "every" else carry, "zero": 0 if zero is None else zero + 9,
        "zero given": int(zero is not None), "flush": flush,
    }  # fmt: skip
    results = {
        "rounding": int(ROUNDING_TABLES[rounding]), "overflow+": 1 - saturate, "overflow-": 1 - saturate,
        "flush": flush_result, "minus": minus,
    }  # fmt: skip
    return model, sums, results, kept - 1


@pytest.mark.parametrize("normalised", [False, True])
@pytest.mark.parametrize("order", ["aligned", "summed", "every"])
def test_both_graphs_are_the_unit(order: str, normalised: bool) -> None:
    """The first graph's results are the second one's inputs."""
    rng = Random(f"{order} {normalised}")
    sums = sum_program(
        OPERAND, OPERAND, RESULT, 1, (-9, 3), products="normalised" if normalised else "unnormalised",
        order=order,
    )  # fmt: skip
    results = result_program(RESULT, sums.width, sums.low, sums.high)
    for _ in range(12):
        model, first, second, root = some_unit(rng, order, normalised)
        columns = tiny.Everything.of(model.input_formats, Domain(finite=False)).some(rng, 600)
        rows = len(columns["c"])
        found = sums.program.run(columns | {name: np.full(rows, word) for name, word in first.items()})
        names = ("sign", "magnitude", "lsb", "infinite", "infinity sign", "nan", "all minus")
        given = dict(zip(names, found, strict=True)) | {n: np.full(rows, w) for n, w in second.items()}
        words = results.run(given)[root].astype(np.int64)
        wrong = np.flatnonzero(words != exact.results(model, columns))
        assert not wrong.size, (model, {name: int(words[wrong[0]]) for name, words in columns.items()})


@pytest.mark.parametrize("flush", [0, 1])
def test_the_last_addition_is_that_of_units_with_c_last(flush: int) -> None:
    """Every pair of words, each rounding: as a unit that has only c last, its product being zero."""
    program = last_program(RESULT, RESULT, Zeros.POSITIVE)
    word, c = (side.reshape(-1) for side in np.meshgrid(range(1 << RESULT.width), range(1 << RESULT.width)))
    found = program.run({"word": word, "c": c, "flush": np.full(len(c), flush)})
    assert len(found) == 2 * len(MODES)
    one = RESULT.word(RESULT.value(RESULT.largest_finite_word) * 0 + 1)
    columns = {"a0": word, "b0": np.full(len(c), one), "c": c}
    finite = ~np.array([RESULT.is_nan(int(w)) or RESULT.is_infinite(int(w)) for w in word])
    for place, words in enumerate(found):
        mode, flushed = MODES[place % len(MODES)], place >= len(MODES)
        model = FusedDotAdd.of(
            a_format=RESULT, b_format=RESULT, c_format=RESULT, d_format=RESULT, k=1, n_fma=1,
            fraction_bits=40, c_position="last", c_rounding=mode, rounding="RNE", zero_exponent=None,
            flush_c=bool(flush), flush_outputs=flushed, nan=RESULT.nan_word,
        )  # fmt: skip
        expected = exact.results(model, columns)
        # the unit's block flushes the word before c is added
        tiny_word = (word & 31) < 4
        compared = finite & ~(flushed & tiny_word) if flushed else finite
        assert (words.astype(np.int64) == expected)[compared].all(), (mode, flushed)
