"""Terms as the text of a program: indices of K, chains, and what no program says."""

from __future__ import annotations

import numpy as np
import pytest

from tcsmt.interop.compiled.program_text import ProgramText, Writer, indices_text
from tcsmt.interop.compiled.terms import Constant, DotProduct, MemoryWord, NumberStep, TermGraph
from tcsmt.matrix_units.catalogue import Row, rows
from tcsmt.programs.written.places import one_part
from tcsmt.programs.written.tokens import Tokens
from tcsmt.support.errors import TcsmtError

_UNIT = "mma.m16n8k8.f32.f16.f16.f32"


def _row(unit: str) -> Row:
    return rows(f"ampere/{unit}", claims=False)[0]


def _write(terms: TermGraph, root: int) -> ProgramText:
    return Writer(terms, _row, {0: "A", 1: "B", 2: "c", 3: "bias"}).write(root)


def _words(terms: TermGraph, buffer: int, places: list[int]) -> tuple[int, ...]:
    return tuple(terms.add(MemoryWord(buffer, 2 * place, 2)) for place in places)


def _product(terms: TermGraph, places: list[int], c: int, b_places: list[int] | None = None) -> int:
    zeros = (terms.add(Constant(2, 0)),) * (8 - len(places))
    a, b = _words(terms, 0, places) + zeros, _words(terms, 1, b_places or places) + zeros
    return terms.add(DotProduct(_UNIT, a, b, c, 4))


def _sum(terms: TermGraph, number: int, word: MemoryWord) -> int:
    return terms.add(NumberStep("add.f32", (number, terms.add(word)), 4))


@pytest.mark.parametrize(
    ("ks", "text"),
    [
        (list(range(16)), "K"),
        (list(range(4, 12)), "K[4:12]"),
        ([1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14], "permuted(K, 1 0 3 2 5 4 7 6)"),
        ([3, 0, 1, 2], "permuted(K[0:4], 3 0 1 2)"),
        ([0, 8, 1, 9], "K[0 8 1 9]"),
        ([0, 2, 1, 15], "K[0 2 1 15]"),
    ],
)
def test_indices_read_back(ks: list[int], text: str) -> None:
    block = 8 if len(ks) > 4 else 4
    assert indices_text(ks, 16, block) == text
    assert one_part(Tokens.of(text), {"K": np.arange(16)}).tolist() == ks


def test_instructions_are_a_chain_until_another_step_takes_the_sum() -> None:
    terms = TermGraph()
    zero = terms.add(Constant(4, 0))
    first = _product(terms, list(range(8)), zero)
    second = _product(terms, list(range(8, 16)), first)
    assert _write(terms, second).lines == ("d = chain(U, A·B over K, +0)",)
    total = terms.add(NumberStep("add.f32", (second, first), 4))
    assert _write(terms, total).lines == (
        "v0 = chain(U, A·B over K[0:8], +0)", "v1 = chain(U, A·B over K[8:16], v0)", "d = add(v1, v0, f32)",
    )  # fmt: skip
    c = terms.add(MemoryWord(2, 12, 4))
    text = _write(terms, _product(terms, list(range(8)), c))
    assert text.lines == ("d = chain(U, A·B over K, c)",)
    assert (text.inputs, text.formats["c"]) == ({"c": ("f32", 12)}, "f32")


def test_zeros_fill_an_instruction_up_where_it_ends() -> None:
    terms = TermGraph()
    zero = terms.add(Constant(4, 0))
    first = _product(terms, [0, 1, 2], zero)
    second = _product(terms, list(range(3, 11)), first)
    assert _write(terms, second).lines == ("d = chain(U, A·B over K[0:3]; A·B over K[3:11], +0)",)


def test_contractions_are_of_all_multiplications_that_an_addition_takes() -> None:
    terms = TermGraph()
    zero = terms.add(Constant(4, 0))
    x = _product(terms, list(range(8)), zero)
    half, bias = terms.add(Constant(4, 0x3F000000)), terms.add(MemoryWord(3, 0, 4))
    one, other = (terms.add(NumberStep("mul.f32", (x, y), 4, 5)) for y in (half, bias))
    both = _write(terms, terms.add(NumberStep("sub.f32", (one, other), 4, 9)))
    assert both.freedoms == {"contraction": 3}
    assert both.lines[-1] == (
        'd = any_of("contraction", add(v1, -v2, f32), multiply_add(v0, 0x3f000000:f32, -v2, f32), '
        "multiply_add(-v0, bias, v1, f32))"
    )
    kept = terms.add(NumberStep("add.rn.f32", (one, bias), 4))
    assert not _write(terms, kept).freedoms


def test_what_no_program_says_is_refused() -> None:
    terms = TermGraph()
    zero = terms.add(Constant(4, 0))
    eight = list(range(8))
    good = _product(terms, eight, zero)
    half = terms.add(Constant(2, 0))
    only_a = terms.add(
        DotProduct(_UNIT, _words(terms, 0, eight), _words(terms, 1, eight[:7]) + (half,), zero, 4)
    )
    hole = terms.add(
        DotProduct(_UNIT, (half, *_words(terms, 0, eight[:7])), (half, *_words(terms, 1, eight[:7])), zero, 4)
    )
    biased, narrow = (
        terms.add(NumberStep("add.f32", (good, terms.add(MemoryWord(3, 0, 4))), 4)),
        terms.add(NumberStep("cvt.rn.f16.f32", (good,), 2)),
    )
    other = terms.add(DotProduct(_UNIT, _words(terms, 3, eight), _words(terms, 1, eight), zero, 4))
    for root, said in (
        (_product(terms, eight, zero, [1, 0, *eight[2:]]), "multiplies word 0 of A by word 1 of B"),
        (_product(terms, [0, 1, 2, 4, 5, 6, 8, 9], zero), "the words of A are not at equal distances"),
        (only_a, "multiplies words by zeros that only fill one operand up"),
        (hole, "zeros that fill a matrix instruction up do not follow its products"),
        (other, "is read from bias: call this pointer A"),
        (_sum(terms, good, MemoryWord(0, 0, 4)), "words of A are read in two formats"),
        (_sum(terms, biased, MemoryWord(3, 4, 4)), "the element takes several words of bias"),
        (terms.add(NumberStep("add.f32", (narrow, good), 4)), "a number of f16 is taken as one of f32"),
    ):
        with pytest.raises(TcsmtError, match=said):
            _write(terms, root)
