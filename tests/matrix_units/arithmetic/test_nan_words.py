"""Words of NaN results outside of units: their texts, each format's word, and what is not known."""

from __future__ import annotations

import numpy as np
import pytest

from tcsmt.language.run.exact import evaluate
from tcsmt.language.terms import const
from tcsmt.matrix_units.arithmetic.formats import FORMATS, INTEGERS
from tcsmt.matrix_units.arithmetic.nan_words import (
    QUIET,
    UNKNOWN,
    NanWords,
    are_nan,
    knows_nans,
    with_nans_merged,
)
from tcsmt.matrix_units.arithmetic.words import unsigned
from tcsmt.matrix_units.catalogue import row_named, rows
from tcsmt.support.errors import TcsmtError

SMALL = ("f16", "bf16", "e5m2", "e4m3", "e4m3fnuz", "e2m1", "e3m2")


@pytest.mark.parametrize("text", ["quiet", "ones", "ones:f16:bf16:f32", "quiet:f32", "unknown"])
def test_the_text_reads_back(text: str) -> None:
    assert str(NanWords.named(text)) == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("canonical", "unknown rule for NaN words 'canonical'"),
        ("ones:f17", "f17"),
        ("ones:s8", "s8 is not a floating-point format"),
        ("unknown:f32", "unknown takes no formats"),
    ],
)
def test_other_texts_are_refused(text: str, message: str) -> None:
    with pytest.raises(TcsmtError, match=message):
        NanWords.named(text)


def test_words_are_those_of_the_documents() -> None:
    """The CUDA documents' words for three formats, and RISC-V's for four; nothing else is known of them."""
    words = {"f16": 0x7FFF, "bf16": 0x7FFF, "f32": 0x7FFFFFFF}
    for row in rows("h100")[:1] + rows("volta")[:1] + rows("b200")[:1]:
        for name, fmt in FORMATS.items():
            known = None if fmt.nan_word is None else words.get(name)
            assert row.nans_outside.word(fmt) == known
    riscv = {"f16": 0x7E00, "bf16": 0x7FC0, "f32": 0x7FC00000, "f64": 0x7FF8 << 48}
    assert {n: w for n, f in FORMATS.items() if (w := rows("riscv")[0].nans_outside.word(f))} == riscv
    others = [row for name in ("mi300x", "x86", "arm", "wormhole") for row in rows(name)]
    assert {row.nans_outside for row in others} == {UNKNOWN}


@pytest.mark.parametrize("name", FORMATS)
def test_what_is_computed_is_a_nan(name: str) -> None:
    fmt = FORMATS[name]
    for rule in (QUIET, UNKNOWN, NanWords("ones"), NanWords("ones", ("f16",))):
        word = rule.computed(fmt)
        assert fmt.is_nan(word) if fmt.nan_word is not None else word == fmt.largest_finite_word
        assert rule.is_known(fmt) == (fmt.nan_word is None or rule.word(fmt) == word)
    assert UNKNOWN.computed(fmt) == QUIET.computed(fmt)
    assert NanWords("ones", ("f16",)).is_known(INTEGERS["s32"])


@pytest.mark.parametrize("name", SMALL)
def test_which_words_are_nans(name: str) -> None:
    fmt = FORMATS[name]
    words = np.arange(1 << fmt.width, dtype=unsigned(fmt))
    expected = [fmt.is_nan(int(word)) for word in words]
    assert are_nan(fmt, words).tolist() == expected
    for word in (0, fmt.largest_finite_word, fmt.infinity_word, fmt.infinity_word | 1, fmt.nan_word or 1):
        (merged,) = evaluate([with_nans_merged(fmt, const(word, fmt.width))], {})
        assert merged == (fmt.nan_word if fmt.is_nan(word) else word)


def test_bits_that_a_format_ignores_make_no_nan() -> None:
    words = np.array([0x7F800001, 0x7F802000, 0xFFC00000, 0x7F800000], np.uint32)
    assert are_nan(FORMATS["tf32"], words).tolist() == [False, True, True, False]


def test_an_instruction_has_its_own_words() -> None:
    assert knows_nans(row_named("h100").model) and knows_nans(row_named("mi300x").model)
