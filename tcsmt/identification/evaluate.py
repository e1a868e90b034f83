"""Many hypotheses on many questions at once: the graphs of an open block on the rows of a family's table.

Rows that agree on what a graph sees are evaluated once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tcsmt.arithmetic.formats import Format
from tcsmt.arithmetic.ieee import Zeros
from tcsmt.arithmetic.rounding import ROUNDINGS, Rounding
from tcsmt.identification.family import Family, Structure, Table
from tcsmt.identification.open_block import (
    ALIGNMENT_TABLES,
    MOST,
    ROUNDING_TABLES,
    SumProgram,
    last_program,
    result_program,
    sum_program,
)
from tcsmt.identification.questions import Questions, neither_zero_nor_normal
from tcsmt.interpret.arrays import Program

__all__ = ["ChainResults", "chain", "ends", "predictions"]

Array = np.ndarray[Any, np.dtype[Any]]


def _distinct(*keys: Array) -> tuple[list[Array], Array]:
    """The distinct tuples of non-negative integers, as columns, and the number of each row's."""
    whole, spans = np.zeros(len(keys[0]), np.int64), [int(k.max()) + 1 if len(k) else 1 for k in keys]
    for key, span in zip(keys, spans, strict=True):
        whole = whole * span + key
    size = int(np.prod([float(s) for s in spans]))
    if size <= 1 << 24:
        present = np.zeros(size, bool)
        present[whole] = True
        found = np.flatnonzero(present)
        place: Array = np.zeros(size, np.int32)
        place[found] = np.arange(len(found), dtype=np.int32)
        inverse: Array = place[whole]
    else:
        found, inverse = np.unique(whole, return_inverse=True)
    columns = []
    for span in reversed(spans):
        columns.append(found % span)
        found = found // span
    return columns[::-1], inverse


def _numbered(words: Array) -> tuple[Array, Array]:
    values, numbers = np.unique(words, return_inverse=True)
    return values, numbers


def predictions(family: Family, table: Table, questions: Questions) -> Array:
    """The word of every hypothesis on every question, shape (hypotheses, questions), dtype uint64.

    Every NaN is the format's own NaN word.
    """
    result = np.zeros((len(table), len(questions)), np.uint64)
    for number in np.unique(table[:, 0]):
        rows = np.flatnonzero(table[:, 0] == number)
        step = max(1, (1 << 22) // max(1, len(questions)))
        for start in range(0, len(rows), step):
            part = rows[start : start + step]
            one = family.structures[int(number)]
            result[part] = _of_structure(family, one, table[part], questions)
    return result


def _columns(table: Table, places: Sequence[int]) -> tuple[Array, Array]:
    """The distinct rows of some columns, and the number of each row's."""
    found, inverse = _distinct(*(table[:, place].astype(np.int64) for place in places))
    return np.stack(found, axis=1), inverse


@dataclass(frozen=True)
class ChainResults:
    """What the blocks leave: the distinct words, and for each (row, question) the number of its own.

    doubtful: pairs on whose way a column from 6 on can matter.
    """

    words: Array
    word: Array
    doubtful: Array


def chain(
    family: Family,
    one: Structure,
    table: Table,
    questions: Questions,
    blocks: Sequence[tuple[int, ...]],
    unclear: Callable[[Sequence[int], Format, Array], Array] | None = None,
) -> ChainResults:
    """The blocks of a structure, each word the next one's c.

    unclear: for which of some words, as c, a block of some lanes depends on a column from 6 on.
    """
    count = len(questions)
    fronts, front = _columns(table, (1, 2, 3, 6, 7))
    backs, back = _columns(table, (4, 5, 8, 9, 10))
    asked = np.tile(np.arange(count), len(table)) if count > 1 else np.zeros(len(table), np.int64)
    if count > 1:
        front, back = np.repeat(front, count), np.repeat(back, count)
    last = one.order == "last"
    words, word = (np.zeros(1, np.uint64), np.zeros(len(asked), np.int64)) if last else _numbered(questions.c)
    word = word if last else word[asked]
    fmt = family.d_format if last else family.c_format
    doubtful = np.zeros(len(asked), bool)
    for lanes in blocks:
        if unclear is not None:
            doubtful |= unclear(lanes, fmt, words)[word]
        first, alike = _alike(questions, lanes)
        (f, q, w), pair = _distinct(front, alike[asked], word)
        graph, sums = _sums(family, one, fronts[f], questions, lanes, first[q], words[w], fmt)
        values, total_of = _distinct_rows(sums)
        (s, b), pair = _distinct(total_of[pair], back)
        words, numbers = _numbered(_rounded(family, graph, values[s], backs[b]))
        word, fmt = numbers[pair], family.d_format
        doubtful |= neither_zero_nor_normal(fmt, words)[word]
    return ChainResults(words, word, doubtful)


def _alike(questions: Questions, lanes: Sequence[int]) -> tuple[Array, Array]:
    """Questions that have the same words in some lanes: the first of each kind, and each question's kind."""
    if len(questions) == 1:
        return np.zeros(1, np.int64), np.zeros(1, np.int64)
    own = list(lanes)
    words = np.concatenate([questions.a[:, own], questions.b[:, own]], axis=1)
    _, first, kind = np.unique(words, axis=0, return_index=True, return_inverse=True)
    return first, kind.reshape(-1)


def _of_structure(family: Family, one: Structure, table: Table, questions: Questions) -> Array:
    count = len(questions)
    found = chain(family, one, table, questions, one.blocks)
    words, word = found.words, found.word
    if one.order != "last":
        plain: Array = words[word].reshape(len(table), count)
        return plain
    asked = np.tile(np.arange(count), len(table))
    parameters, parameter = _columns(table, (7, 9, 10, 11))
    (w, q, e), pair = _distinct(word, asked, np.repeat(parameter, count))
    ended = _ended(family, words[w], questions.c[q], parameters[e])
    whole: Array = ended[pair].reshape(len(table), count)
    return whole


def _sums(
    family: Family,
    one: Structure,
    fronts: Array,
    questions: Questions,
    lanes: Sequence[int],
    asked: Array,
    c: Array,
    c_format: Format,
) -> tuple[SumProgram, Array]:
    """A block's graph, and a row of its roots for each (front, question, c)."""
    numbers = [z for z in family.zero_exponents if z is not None]
    graph = sum_program(
        family.a_format,
        family.b_format,
        c_format,
        len(lanes),
        (min(numbers), max(numbers)),
        normalised_products=one.products == "normalised",
        normalised_each=one.order == "every",
        c_after=one.order == "summed",
    )
    bits, alignment, carry, zero, flush = (fronts[:, place] for place in range(5))
    sticky = np.array([a.sticky for a in family.alignments])
    carries = np.array([-1 if x is None else x for x in family.carries(one)])[carry]
    enough = len(lanes).bit_length() + 1
    values: dict[str, Array] = {
        "coarser": MOST - np.array(family.bits)[bits] - sticky[alignment],
        "carry": np.where(carries < 0, enough, np.minimum(carries, enough)),
        "alignment": ALIGNMENT_TABLES[alignment],
        "zero": np.minimum(zero, len(numbers) - 1), "zero given": zero < len(numbers), "flush": flush, "c": c,
    }  # fmt: skip
    single = len(questions) == 1
    for place, lane in enumerate(lanes):
        values[f"a{place}"] = questions.a[:, lane] if single else questions.a[asked, lane]
        values[f"b{place}"] = questions.b[:, lane] if single else questions.b[asked, lane]
    roots = _run(graph.program, values, len(asked), broadcast=single)
    return graph, np.stack([np.asarray(root).astype(np.uint64) for root in roots], axis=1)


def _run(program: Program, values: dict[str, Array], rows: int, *, broadcast: bool = False) -> list[Array]:
    names = {given.name for given in program.inputs}
    if not rows:
        return [np.zeros(0, np.uint64) for _ in program.roots]
    given = {name: np.asarray(value) for name, value in values.items() if name in names or name == "c"}
    longest = max(given, key=lambda name: len(given[name]))
    ordered = {longest: given.pop(longest), **given}
    return program.run(ordered, block=1 << 40 if broadcast else 4096)


def _of(modes: Sequence[Rounding], *, negative: bool) -> Array:
    """Which roundings overflow to an infinity of this sign."""
    return np.array([mode.overflows(negative=negative) for mode in modes])


def _rounded(family: Family, graph: SumProgram, sums: Array, backs: Array) -> Array:
    sign, magnitude, lsb, infinite, infinity_sign, nan, all_minus = sums.T
    rounding, kept, overflow, flush, minus = backs.T
    # most often all rows keep the same bits: then the other roots are not computed
    several = len(kept) == 0 or (kept != kept[0]).any()
    one = None if several else (family.kept[int(kept[0])],)
    kept = kept if several else 0 * kept
    program = result_program(family.d_format, graph.width, graph.low, graph.high, one)
    plus: Array = (overflow == 0) | (overflow == 2) & _of(family.roundings, negative=False)[rounding]
    less: Array = (overflow == 0) | (overflow == 2) & _of(family.roundings, negative=True)[rounding]
    # what differs in the kept bits alone is one row of the program: it has a root for each
    (s, _), pair = _distinct(
        np.arange(len(sums)) if not len(sums) else _distinct_rows(sums)[1],
        rounding * 16 + plus * 8 + less * 4 + flush * 2 + minus,
    )
    first = np.zeros(len(s), np.int64)
    first[pair] = np.arange(len(pair))
    values = {
        "sign": sign[first], "magnitude": magnitude[first], "lsb": lsb[first],
        "infinite": infinite[first], "infinity sign": infinity_sign[first], "nan": nan[first],
        "all minus": all_minus[first], "rounding": ROUNDING_TABLES[rounding[first]],
        "overflow+": plus[first], "overflow-": less[first], "flush": flush[first], "minus": minus[first],
    }  # fmt: skip
    roots = np.stack(_run(program, values, len(first)))
    found: Array = roots[kept, pair].astype(np.uint64)
    return found


def _distinct_rows(rows: Array) -> tuple[Array, Array]:
    """The distinct rows in order, and the number of each: ``np.unique`` of an axis compares them as bytes."""
    numbered = [np.unique(column, return_inverse=True) for column in rows.T]
    if np.prod([float(len(values)) for values, _ in numbered]) >= 2.0**62:
        found, inverse = np.unique(rows, axis=0, return_inverse=True)
        return found, inverse.reshape(-1)
    places, inverse = _distinct(*(numbers.reshape(-1) for _, numbers in numbered))
    columns = [values[place] for (values, _), place in zip(numbered, places, strict=True)]
    return np.stack(columns, axis=1), inverse


def ends(family: Family, words: Array, c: Array, flush: Array, zeros: Zeros = Zeros.IEEE) -> Array:
    """What the last addition makes of words and c's: of shape (2, roundings, words), flushed ones second.

    flush: whether subnormal c's are zeros. One c, with one flush, may serve for all words.
    """
    program = last_program(family.c_format, family.d_format, zeros)
    values = {"word": words, "c": c, "flush": flush}
    roots = _run(program, values, len(words), broadcast=len(c) == 1)
    return np.stack(roots).astype(np.uint64).reshape(2, len(ROUNDINGS), len(words))


def _ended(family: Family, words: Array, c: Array, parameters: Array) -> Array:
    flush, flush_out, minus, rounding = parameters.T
    found = np.stack([ends(family, words, c, flush, zeros) for zeros in (Zeros.POSITIVE, Zeros.IEEE)])
    chosen: Array = found[minus, flush_out, rounding, np.arange(len(words))]
    return chosen
