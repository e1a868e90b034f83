"""Many hypotheses on many questions at once: the graphs of an open block on the rows of a family's table.

Rows that agree on what a graph sees are evaluated once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from tcsmt.identification.units.block_routes import BlockKind, BlockRoutes, Doubt, whole_routes
from tcsmt.identification.units.family import Family, Table
from tcsmt.identification.units.open_block import (
    ALIGNMENT_TABLES,
    MOST,
    ROUNDING_TABLES,
    last_program,
    result_program,
    sum_program,
)
from tcsmt.identification.units.questions import (
    Questions,
    exponent_field,
    least_exponent,
    neither_zero_nor_normal,
    zero_words,
)
from tcsmt.language.run.arrays import Program
from tcsmt.matrix_units.arithmetic.ieee import Zeros
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS, Rounding

Array = np.ndarray[Any, np.dtype[Any]]


def distinct(*keys: Array) -> tuple[list[Array], Array]:
    """Return the distinct tuples of non-negative integers, as columns, and the number of each row's.

    keys: integers of one shape (rows,), as the numbers returned.
    """
    spans = [int(key.max()) + 1 if len(key) else 1 for key in keys]
    size = prod(spans)
    codes: Array = np.zeros(len(keys[0]), np.int32 if size < 1 << 31 else np.int64)
    for key, span in zip(keys, spans, strict=True):
        if span > 1:
            np.multiply(codes, span, out=codes)
            np.add(codes, key.astype(codes.dtype, copy=False), out=codes)
    if size <= min(1 << 24, max(1 << 14, 16 * len(codes))):
        present = np.zeros(size, bool)
        present[codes] = True
        numbers = np.flatnonzero(present)
        place: Array = np.zeros(size, np.int32)
        place[numbers] = np.arange(len(numbers), dtype=np.int32)
        inverse: Array = place[codes]
    else:
        numbers, inverse = np.unique(codes, return_inverse=True)
    columns = []
    for span in reversed(spans):
        columns.append(numbers % span)
        numbers = numbers // span
    return columns[::-1], inverse


def _numbered(words: Array) -> tuple[Array, Array]:
    values, numbers = np.unique(words, return_inverse=True)
    return values, numbers


def predictions(family: Family, table: Table, questions: Questions) -> Array:
    """Return the word of every hypothesis on every question, shape (hypotheses, questions), dtype uint64.

    Every NaN is the format's own NaN word.
    """
    count = len(questions)
    result = np.zeros((len(table), count), np.uint64)
    for number in np.unique(table[:, 0]):
        rows = np.flatnonzero(table[:, 0] == number)
        routes = whole_routes(family, family.structures[int(number)], questions)
        step = max(1, (1 << 22) // max(1, count))
        for start in range(0, len(rows), step):
            part = table[rows[start : start + step]]
            row, asked = np.repeat(np.arange(len(part)), count), np.tile(np.arange(count), len(part))
            sums = chain(family, routes, SplitRows.of(part), row, asked)
            words = sums.words[sums.word]
            if family.structures[int(number)].order == "last":
                parameters, parameter = _columns(part, (7, 9, 10, 11))
                words = with_c(family, sums.words, sums.word, parameters, parameter[row], questions.c[asked])
            result[rows[start : start + step]] = words.reshape(len(part), count)
    return result


def _columns(table: Table, places: Sequence[int]) -> tuple[Array, Array]:
    """Return the distinct rows of some columns, and the number of each row's."""
    numbers, inverse = distinct(*(table[:, place].astype(np.int64) for place in places))
    return np.stack(numbers, axis=1), inverse


@dataclass(frozen=True)
class SplitRows:
    """Rows as the columns of a block's sum (1, 2, 3, 6, 7) and of its rounding (4, 5, 8, 9, 10).

    fronts, backs: such columns. front, back: each row's, by their numbers. last: column 11.
    """

    fronts: Array
    front: Array
    backs: Array
    back: Array
    last: Array

    @classmethod
    def of(cls, table: Table) -> SplitRows:
        """Return the rows of a table, int16 (rows, 12)."""
        return cls(*_columns(table, (1, 2, 3, 6, 7)), *_columns(table, (4, 5, 8, 9, 10)), table[:, 11])


@dataclass(frozen=True)
class ChainResults:
    """The results of the blocks: some words, and for each pair of a row and a route the number of its own.

    doubtful: pairs on whose way a column from 6 on can matter.
    """

    words: Array
    word: Array
    doubtful: Array


def chain(
    family: Family, routes: BlockRoutes, rows: SplitRows, row: Array | slice, route: Array
) -> ChainResults:
    """Return the blocks of routes, each word the next one's c.

    row, route: of every pair, by their numbers: integers of shape (pairs,).
    """
    front, back = rows.front[row], rows.back[row]
    words, word = _numbered(routes.starts)
    word = word[route]
    doubtful = np.zeros(len(route), bool)
    for turn in routes.turns:
        block, live = turn[route], np.arange(0)
        if ended := bool((turn < 0).any()):
            live = np.flatnonzero(block >= 0)
            f, q, w, b = (each[live] for each in (front, block, word, back))
        else:
            f, q, w, b = front, block, word, back
        (f, q, w), pair = distinct(f, q, w)
        unclear = _unclear(family, routes, q, words[w])
        sums = _sums(family, routes, rows.fronts[f], q, words[w])
        values, total_of = _distinct_rows(sums)
        (s, b), result = distinct(total_of[pair], b)
        new, numbers = _numbered(_rounded(family, values, s, rows.backs[b]))
        unsure = neither_zero_nor_normal(family.d_format, new)[numbers]
        doubt = _either(unclear, pair, unsure, result)
        if ended:
            word[live] = len(words) + numbers[result]
            words = np.concatenate([words, new])
        else:
            words, word = new, numbers[result]
        if doubt is not None:
            doubtful[live if ended else slice(None)] |= doubt
    return ChainResults(words, word, doubtful)


def _either(first: Array, place: Array, second: Array, place_of_other: Array) -> Array | None:
    """Return where one of two is true; None: nowhere."""
    parts = [flags[places] for flags, places in ((first, place), (second, place_of_other)) if flags.any()]
    return np.logical_or.reduce(parts) if parts else None


def _unclear(family: Family, routes: BlockRoutes, blocks: Array, c: Array) -> Array:
    """Return whether blocks with these words as c depend on a column from 6 on."""
    doubt = routes.doubt[blocks]
    unclear: Array = doubt == Doubt.ALWAYS
    least = least_exponent(family)
    for number, kind in enumerate(routes.kinds):
        rows = np.flatnonzero((doubt == Doubt.SMALL) & (routes.kind[blocks] == number))
        fmt, words = kind.c_format, c[rows]
        unclear[rows] = (exponent_field(fmt, words) < least + fmt.bias) & ~zero_words(fmt, words)
    return unclear


#: The fields of a sum, in the order of a sum program's roots; the exponent of the last place is absolute.
_SUM = ("sign", "magnitude", "lsb", "infinite", "infinity sign", "nan", "all minus")
#: Exponents of a sum's last place: beyond those of every format and number of lanes that a family has.
_LOW, _HIGH = -(1 << 15), 1 << 15


def _sums(family: Family, routes: BlockRoutes, fronts: Array, blocks: Array, c: Array) -> Array:
    """A row of the sum's fields for each (front, block, c)."""
    sums = np.empty((len(blocks), len(_SUM)), np.uint64)
    kinds = routes.kind[blocks]
    for number in np.unique(kinds):
        rows = np.flatnonzero(kinds == number)
        places = routes.place[blocks[rows]]
        alone = bool((places == places[0]).all())
        words = routes.words[number][places[:1] if alone else places]
        sums[rows] = _sums_of(family, routes.kinds[number], fronts[rows], words, c[rows])
    return sums


def _sums_of(family: Family, kind: BlockKind, fronts: Array, lanes: Array, c: Array) -> Array:
    """Return the sums of blocks of one kind; lanes: the words, of one block for all or of each."""
    numbers = [z for z in family.zero_exponents if z is not None]
    graph = sum_program(
        family.a_format,
        family.b_format,
        kind.c_format,
        kind.lanes,
        (min(numbers), max(numbers)),
        products=kind.products,
        order=kind.order,
    )
    bits, alignment, carry, zero, flush = (fronts[:, place] for place in range(5))
    sticky = np.array([a.sticky for a in family.alignments])
    enough = kind.lanes.bit_length() + 1
    values: dict[str, Array] = {
        "coarser": MOST - np.array(family.bits)[bits] - sticky[alignment],
        # the first value of every structure is None, then come 0, 1, ...
        "carry": np.where(carry == 0, enough, np.minimum(carry - 1, enough)),
        "alignment": ALIGNMENT_TABLES[alignment],
        "zero": np.minimum(zero, len(numbers) - 1),
        "zero given": zero < len(numbers),
        "flush": flush,
        "c": c,
    }
    for place in range(kind.lanes):
        values[f"a{place}"], values[f"b{place}"] = lanes[:, place], lanes[:, kind.lanes + place]
    roots = _run(graph.program, values, len(c), broadcast=len(lanes) == 1 < len(c))
    sums = np.stack([np.asarray(root).astype(np.uint64) for root in roots], axis=1)
    sums[:, 2] += np.uint64(graph.low - _LOW)
    return sums


def _run(program: Program, values: dict[str, Array], rows: int, *, broadcast: bool = False) -> list[Array]:
    names = {inputs.name for inputs in program.inputs}
    if not rows:
        return [np.zeros(0, np.uint64) for _ in program.roots]
    inputs = {name: np.asarray(value) for name, value in values.items() if name in names or name == "c"}
    longest = max(inputs, key=lambda name: len(inputs[name]))
    ordered = {longest: inputs.pop(longest), **inputs}
    return program.run(ordered, block=1 << 40 if broadcast else 4096)


def _of(modes: Sequence[Rounding], *, negative: bool) -> Array:
    """Return which roundings overflow to an infinity of this sign."""
    return np.array([mode.overflows(negative=negative) for mode in modes])


def _rounded(family: Family, sums: Array, total: Array, backs: Array) -> Array:
    """Return the word for each pair of a sum, by its number, and a row of columns."""
    rounding, bits_kept, overflow, flush, minus = backs.T
    # most often all rows keep the same bits: then the other roots are not computed
    several = len(bits_kept) == 0 or (bits_kept != bits_kept[0]).any()
    single = None if several else (family.round_bits[int(bits_kept[0])],)
    bits_kept = bits_kept if several else 0 * bits_kept
    program = result_program(family.d_format, 64, _LOW, _HIGH, single)
    plus: Array = (overflow == 0) | (overflow == 2) & _of(family.roundings, negative=False)[rounding]
    less: Array = (overflow == 0) | (overflow == 2) & _of(family.roundings, negative=True)[rounding]
    # what differs in the kept bits alone is one row of the program: it has a root for each
    (s, rest), pair = distinct(total, rounding * 16 + plus * 8 + less * 4 + flush * 2 + minus)
    values = dict(zip(_SUM, sums[s].T, strict=True)) | {
        "rounding": ROUNDING_TABLES[rest >> 4],
        "overflow+": rest >> 3 & 1,
        "overflow-": rest >> 2 & 1,
        "flush": rest >> 1 & 1,
        "minus": rest & 1,
    }
    roots = np.stack(_run(program, values, len(s)))
    words: Array = roots[bits_kept, pair].astype(np.uint64)
    return words


def _distinct_rows(rows: Array) -> tuple[Array, Array]:
    """Return the distinct rows in order, and the number of each: ``np.unique`` of an axis compares them as
    bytes.
    """
    numbered = [np.unique(column, return_inverse=True) for column in rows.T]
    if np.prod([float(len(values)) for values, _ in numbered]) >= 2.0**62:
        distinct_rows, inverse = np.unique(rows, axis=0, return_inverse=True)
        return distinct_rows, inverse.reshape(-1)
    places, inverse = distinct(*(numbers.reshape(-1) for _, numbers in numbered))
    columns = [values[place] for (values, _), place in zip(numbered, places, strict=True)]
    return np.stack(columns, axis=1), inverse


def ends(family: Family, words: Array, c: Array, flush: Array, zeros: Zeros = Zeros.IEEE) -> Array:
    """Return what the last addition makes of words and c's: of shape (2, roundings, words), flushed ones
    second.

    flush: whether subnormal c's are zeros. One c, with one flush, may serve for all words.
    """
    program = last_program(family.c_format, family.d_format, zeros)
    values = {"word": words, "c": c, "flush": flush}
    roots = _run(program, values, len(words), broadcast=len(c) == 1)
    return np.stack(roots).astype(np.uint64).reshape(2, len(ROUNDINGS), len(words))


def with_c(family: Family, words: Array, word: Array, parameters: Array, parameter: Array, c: Array) -> Array:
    """Return the results of pairs whose c is added last.

    words, word: what the blocks leave, and the number of each pair's. parameters, parameter: columns 7, 9, 10
    and 11, and the number of each pair's. c: words of the pairs. Numbers, c and the words returned have the
    shape (pairs,).
    """
    values, value = _numbered(c)
    (w, v, e), pair = distinct(word, value, parameter)
    flush, flush_out, minus, rounding = parameters[e].T
    results = np.empty(len(w), np.uint64)
    for negative, zeros in enumerate((Zeros.POSITIVE, Zeros.IEEE)):
        chosen = np.flatnonzero(minus == negative)
        each = ends(family, words[w[chosen]], values[v[chosen]], flush[chosen], zeros)
        results[chosen] = each[flush_out[chosen], rounding[chosen], np.arange(len(chosen))]
    result: Array = results[pair]
    return result
