"""Explanations of an implementation's answers other than the unit: chains and trees of IEEE operations, sums
in a wider format, exact sums, the unit with two parameters changed.

All rows are asked at once, and hypotheses are held against more and more of them: seconds, where a search
that proves what is left to be one function takes minutes. What is found is not proved: it explains the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from tcsmt.identification.units.family import Family
from tcsmt.identification.units.hypotheses import Hypotheses, Table, explaining
from tcsmt.identification.units.ieee_hypotheses import IeeeHypotheses
from tcsmt.identification.units.ieee_questions import is_plain, plain
from tcsmt.identification.units.kinds import FusedHypotheses, IntegerHypotheses, hypotheses_of, known
from tcsmt.identification.units.plan import candidates
from tcsmt.identification.units.questions import Questions, zero_words
from tcsmt.matrix_units.arithmetic.formats import FORMATS, AnyFormat, Format, float_format
from tcsmt.matrix_units.models import FusedDotAdd, IeeeDotAdd, IeeeParameters, IntegerDotAdd, Model
from tcsmt.simulate.rows import Words, joined_words, run_words
from tcsmt.support.elimination import surviving
from tcsmt.support.errors import TcsmtError
from tcsmt.support.invariants import checked_cast

Array = np.ndarray[Any, np.dtype[Any]]
#: From words of many rows to words of D.
Ask = Callable[[Words], Array]

#: Rows that are asked besides those known: plain sums, and sums whose terms cancel.
_PLAIN, _CANCELLING = 256, 512
#: Rows of which a model has to explain half to be held against all.
_FEW = 1000
#: Hypotheses that are described, those for which it is counted how many rows they explain, and those of one
#: unit that are counted.
_DESCRIBED, _COUNTED, _LISTED = 3, 8, 100
#: Formats in which programs add more precisely than the result's format.
_WIDE = ("f32", "f64")


@dataclass(frozen=True)
class ClosestMatch:
    """An explanation of all of some answers.

    texts: what does, the simplest first; more: how many others do, and are not described. rows: how many they
    were held against. nans: whether the first gives the words of the NaNs, too. near: where nothing gives all
    answers, what gives most, and on how many rows.
    """

    texts: tuple[str, ...]
    more: int
    rows: int
    nans: bool
    near: tuple[str, int] | None = None


def closest_match(
    model: Model, known_rows: Words, answers: Array, ask: Ask | None, seed: int
) -> ClosestMatch:
    """Return what gives the answers to these rows (words of D), and to some that are asked.

    model: the unit that was expected. ask: None where there are recorded answers alone. known_rows: unsigned
    integers, a, b (rows, k), c (rows,). answers: unsigned integers (rows,).
    """
    if model.scales:
        return ClosestMatch((), 0, len(answers), False)
    rows, words = known_rows, answers
    if ask is not None:
        more = _asked(model, np.random.default_rng([seed, 2]))
        rows = joined_words([rows, more])
        words = np.concatenate([words, ask(more)])
    # the asked rows first: they decide most
    order = np.roll(np.arange(len(words)), len(words) - len(answers))
    ordered = _Given(model, rows.map(lambda part: part[order]), words[order])
    return ordered.closest_match()


def _asked(model: Model, random: np.random.Generator) -> Words:
    """Plain sums, and sums of which pairs of products cancel, so that their order shows."""
    formats = model.operand_formats.parts
    drawn = [
        random.integers(0, (1 << fmt.width) - 1, (_CANCELLING, model.k), np.uint64, endpoint=True)
        for fmt in formats[:2]
    ]
    c = random.integers(0, (1 << formats[2].width) - 1, _CANCELLING, np.uint64, endpoint=True)
    c[::2] = 0
    a_format = formats[0]
    if isinstance(a_format, Format) and a_format.signed and model.k > 1:
        for row in range(_CANCELLING):
            lanes = random.permutation(model.k)
            pairs = int(random.integers(1, model.k // 2 + 1))
            first, second = lanes[:pairs], lanes[pairs : 2 * pairs]
            drawn[0][row, second] = drawn[0][row, first] ^ np.uint64(1 << a_format.sign_bit)
            drawn[1][row, second] = drawn[1][row, first]
    parts = [Questions(drawn[0], drawn[1], c)]
    chains = IeeeHypotheses.of(_formats(model), model.k)
    if chains is not None:
        parts.insert(0, plain(chains, random, _PLAIN))
    return Questions.joined(parts).operands(formats)


def _formats(model: Model) -> tuple[AnyFormat, AnyFormat, AnyFormat, AnyFormat]:
    return model.a_format, model.b_format, model.c_format, model.d_format


@dataclass
class _Found:
    """A hypothesis that explains all rows: how it is described, and its words, if it is the first."""

    text: str
    words: Array | None = None


class _Given:
    """Rows and answers that hypotheses are held against."""

    def __init__(self, model: Model, rows: Words, answers: Array) -> None:
        self.model, self.rows, self.exact = model, rows, answers
        self.questions = Questions(*(part.astype(np.uint64) for part in rows.parts[:3]))
        self.answers = _one_nan(model.d_format, answers)

    def closest_match(self) -> ClosestMatch:
        """Programs' sums first; a unit with changed parameters where none of them gives all answers."""
        texts_found: list[_Found] = []
        near: list[tuple[int, str]] = []
        for search in (self._programs, self._chains, self._units):
            if texts_found:
                break
            texts, nearly = search()
            texts_found += texts
            near += nearly
        texts_found = list({entry.text: entry for entry in texts_found}.values())
        if texts_found:
            words = texts_found[0].words
            nans = words is not None and bool((words == self.exact).all())
            shown = tuple(entry.text for entry in texts_found[:_DESCRIBED])
            return ClosestMatch(shown, len(texts_found) - len(shown), len(self.answers), nans)
        count, text = max(near, key=lambda entry: entry[0], default=(0, ""))
        enough = 2 * count > len(self.answers)
        return ClosestMatch((), 0, len(self.answers), False, (text, count) if enough else None)

    def _filtered(self, kind: Hypotheses, table: Table, numbers: Array, *, signs: bool = True) -> Table:
        """Return the rows of a table that explain the answers of these numbers; signs: of zeros, too."""
        questions, answers = self.questions[numbers], self.answers[numbers]
        if signs:
            return explaining(kind, table, questions, answers)
        fmt = float_format(self.model.d_format)

        def unsigned(words: Array) -> Array:
            return np.where(zero_words(fmt, words), np.uint64(0), words)

        return surviving(
            table, unsigned(answers), lambda rows, some: unsigned(kind.predictions(rows, questions[some]))
        )

    def _of_models(self, models: Sequence[Model]) -> tuple[list[_Found], list[tuple[int, str]]]:
        """Yield those that explain all rows; of the others, how many rows those that go far explain."""
        matches, near = [], []
        for model in models:
            few = self.rows.map(lambda part: part[:_FEW])
            right = _one_nan(model.d_format, run_words(model, few)) == self.answers[: len(few.c)]
            if 2 * int(right.sum()) < len(right):
                continue
            words = run_words(model, self.rows)
            count = int((_one_nan(model.d_format, words) == self.answers).sum())
            if count == len(self.answers):
                matches.append(_Found(_text(model), words))
            else:
                near.append((count, _text(model)))
        return matches, near

    def _chains(self) -> tuple[list[_Found], list[tuple[int, str]]]:
        """Operations that round to the result's format, in every order and rounding of the hypotheses."""
        kind = IeeeHypotheses.of(_formats(self.model), self.model.k)
        if kind is None:
            return [], []
        ordinary = np.flatnonzero(is_plain(kind, self.questions))
        if not len(ordinary):
            return [], []
        table = self._filtered(kind, kind.first(), ordinary, signs=False)
        grown = kind.grown(table) if len(table) else table
        rows = self._filtered(kind, grown, np.arange(len(self.answers)))
        # what explains plain sums alone is wrong at the ends of the range: say how often
        chosen = rows if len(rows) else table
        chosen = np.unique(kind.canonical(chosen), axis=0) if len(chosen) else chosen
        simple = sorted(chosen.tolist(), key=lambda row: (sum(map(bool, row[2:])), row))
        matches, near = self._of_models([kind.model(row) for row in simple[:_COUNTED]])
        return matches, near

    def _programs(self) -> tuple[list[_Found], list[tuple[int, str]]]:
        """Return what one would write first, in the result's format or a wider one."""
        return self._of_models(list(_programs(self.model)))

    def _units(self) -> tuple[list[_Found], list[tuple[int, str]]]:
        """Units of the catalogue with one parameter changed, and this one with two."""
        model = self.model
        try:
            kind = hypotheses_of(_formats(model), model.k)[0]
        except TcsmtError:
            return [], []
        if isinstance(kind, IntegerHypotheses):
            return self._of_models([kind.model(row) for row in kind.all])
        if not isinstance(kind, FusedHypotheses):
            return [], []
        family = kind
        table = candidates(family).table
        unit_row = family.row(model) if isinstance(model, FusedDotAdd) else None
        if unit_row is not None:
            near_rows = family.one_column_apart(unit_row)
            two = [family.one_column_apart(row) for row in near_rows]
            table = np.unique(np.concatenate([unit_row[None], near_rows, *two, table]), axis=0)
        rows = self._filtered(kind, table, np.arange(len(self.answers)))
        if unit_row is not None:  # of those that are one function, what differs least from the unit
            rows = rows[np.argsort((rows != unit_row).sum(axis=1), kind="stable")]
        if len(rows):
            rows = rows[np.sort(np.unique(kind.canonical(rows), axis=0, return_index=True)[1])]
        matches = [_Found(_changed(family, row, model)) for row in rows[:_LISTED]]
        if matches:
            matches[0].words = run_words(family.model(rows[0]), self.rows)
        return matches, []


def _one_nan(fmt: AnyFormat, words: Array) -> Array:
    """Words with every NaN as the format's own."""
    values, place = np.unique(words.astype(np.uint64), return_inverse=True)
    nan_word = fmt.nan_word if isinstance(fmt, Format) else None
    if nan_word is not None:
        values = np.array([nan_word if fmt.is_nan(int(word)) else word for word in values], np.uint64)
    result: Array = values[place.reshape(words.shape)]
    return result


def _programs(model: Model) -> Iterator[IeeeDotAdd]:
    """Sums as programs compute them: in order, backwards, in pairs, exact; rounded to nearest.

    In the result's format, and in those of more bits, from which the result is rounded.
    """
    a, b, c, d = _formats(model)
    if not (isinstance(a, Format) and isinstance(b, Format) and isinstance(c, Format)):
        return
    if not isinstance(d, Format) or not d.has_infinity:
        return
    k = model.k
    back = tuple(reversed(range(k)))
    half = tuple(lane for pair in zip(range(k // 2), range(k // 2, k), strict=False) for lane in pair)
    wide_formats = [FORMATS[name] for name in _WIDE]
    for fmt in (d, *(wider for wider in wide_formats if wider.precision > d.precision)):
        wider = IeeeDotAdd.of(
            a_format=a, b_format=b, c_format=c, d_format=d, k=k, method="sequential", sum_format=fmt,
            product_format=fmt,
        )  # fmt: skip
        orders = (None, back) if k > 1 else (None,)
        for order, c_first in product(orders, (True, False)):
            yield wider.replace(order=order, c_first=c_first)
        for order in orders:
            yield wider.replace(method="fma", product_format=None, order=order)
        if k > 1 and k & (k - 1) == 0:
            for order in (None, half) if k > 2 else (None,):
                yield wider.replace(method="pairwise", order=order)
        for c_first in (True, False):
            yield wider.replace(method="exact", product_format=None, c_first=c_first)


# --- what hypotheses are called -----------------------------------------------------------------


def _text(model: Model) -> str:
    if isinstance(model, IntegerDotAdd):
        size = model.n_fma or model.k
        blocks = "" if size == model.k else f" in blocks of {size}"
        does = {"wrap": "wrap around", "saturate": "saturate"}.get(model.overflow, model.overflow)
        return f"exact integer sums{blocks} that {does}"
    operations = checked_cast(model, IeeeDotAdd).parameters
    return _sums(operations) + "".join(f", {detail}" for detail in _details(operations))


def _sums(m: IeeeParameters) -> str:
    """Return which sums, in which order."""
    fmt, size = m.sum_format.name, m.n_fma or m.k
    natural, order = m.order in (None, tuple(range(m.k))), _order(m)
    after = ", c added last"
    blocks = "" if size == m.k else f" in blocks of {size} lanes"
    match m.method:
        case "fma" if m.chains == m.k > 1:
            return f"fused products, IEEE additions in {fmt}{order}{after}"
        case "fma" if m.chains > 1:
            return (
                f"{m.chains} chains of fused multiply-adds in {fmt}, lanes dealt in turn{order}, "
                f"their sums added in order{after}"
            )
        case "fma":
            return f"a chain of fused multiply-adds in {fmt}{order}, from c on"
        case "sequential":
            products = "IEEE additions" if m.product_format else "IEEE additions of exact products"
            return f"{products} in {fmt}{order}{', from c on' if m.c_first else after}"
        case "pairwise":
            tree = "neighbouring lanes first" if natural else order.removeprefix(", ")
            return f"IEEE additions in {fmt} in pairs{blocks}, {tree}{after}"
        case _ if size == m.k:
            return (
                f"the exact sum of all products and c, rounded once to {fmt}"
                if m.c_first
                else f"the exact sum of all products, rounded to {fmt}{after}"
            )
        case _:
            end = "with the sum so far" if m.c_first else "then added to the sum so far"
            grouped = "" if natural else order
            return f"exact sums{blocks}{grouped}, {end}, each rounded to {fmt}"


def _order(m: IeeeParameters) -> str:
    """Say in which order the lanes are added, as the end of a sentence; nothing of a single one."""
    lanes = m.order or tuple(range(m.k))
    if m.k == 1:
        return ""
    if lanes == tuple(range(m.k)):
        return ", in order, k0 first"
    if lanes == tuple(reversed(range(m.k))):
        return f", backwards, k{m.k - 1} first"
    shown = ", ".join(f"k{lane}" for lane in lanes[:8])
    return f", in the order {shown}{', ...' if m.k > 8 else ''}"


def _details(m: IeeeParameters) -> Iterator[str]:
    """Yield what is not as IEEE 754's default."""
    if m.sum_format != m.d_format:
        yield f"rounded to {m.d_format.name} at the end"
    if not m.rounding.ties_to_even:
        yield f"sums rounded {m.rounding.name}"
    if m.product_format is not None and not m.product_rounding.ties_to_even:
        yield f"products rounded {m.product_rounding.name}"
    if m.overflow != "ieee":
        yield {"infinity": "too large is infinite", "saturate": "too large is the largest number"}[m.overflow]
    if m.flush_inputs or m.flush_c:
        what = "a, b and c" if m.flush_inputs else "c"
        yield f"subnormal {what} read as {'+0' if m.flush_to_positive else 'zero'}"
    if m.flush_outputs:
        yield "subnormal results flushed to zero"
    if not m.negative_zero:
        yield "no -0 as a sum"


def _changed(family: Family, row: Table, unit: Model) -> str:
    """Name a fused dot-add: its catalogue name, or the parameters in which it differs from the unit."""
    named = known(family, row[None])
    if named:
        return named[0]
    base_row = family.row(unit) if isinstance(unit, FusedDotAdd) else None
    # the unit as a member of the family, which writes what does not matter in one way
    own_data, other = (
        family.model(row).as_json(),
        (unit if base_row is None else family.model(base_row)).as_json(),
    )
    changed = [
        f"{key} = {value}" for key, value in own_data.items() if value != other.get(key) and key != "nan"
    ]
    return f"this unit with {', '.join(changed)}"
