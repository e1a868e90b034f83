"""Witnesses made from solvers' models: completed, replayed on the evaluator, made short.

Short: fewer non-zero lanes, shorter significands, exponents near zero. Candidates are simpler inputs; those
that keep the goal true, by the evaluator, replace the witness. No solver takes part, so a shortened witness
is a replayed one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from tcsmt.language.run.arrays import Program, storage
from tcsmt.language.run.exact import evaluate
from tcsmt.language.terms import Term, substitute
from tcsmt.matrix_units.arithmetic.formats import AnyFormat, Format, IntegerFormat, float_format
from tcsmt.matrix_units.models.base import role_of
from tcsmt.prove.engine.solvers.answer import Answer
from tcsmt.prove.statements.question import Question
from tcsmt.prove.statements.verdict import Distinguished


def integer_cost(fmt: IntegerFormat, word: int) -> tuple[int, int, int, int]:
    """Return whether it is not zero, its bits from the first to the last one set, its leading bit, its
    sign.
    """
    count = fmt.count(word)
    if not count:
        return 0, 0, 0, 0
    size = abs(count)
    trailing = (size & -size).bit_length() - 1
    return 1, size.bit_length() - trailing - 1, size.bit_length(), int(count < 0)


def simpler_integers(fmt: IntegerFormat, word: int) -> Iterator[int]:
    """Yield numbers that may be simpler: with fewer bits set, nearer to zero, without the sign."""
    count = fmt.count(word)
    size, sign = abs(count), -1 if count < 0 else 1
    sizes = [size ^ 1 << bit for bit in range(size.bit_length()) if size >> bit & 1]
    sizes += [size >> bit << bit for bit in range(1, size.bit_length())]
    sizes += [size >> bit for bit in range(1, size.bit_length())]
    sizes += [1 << size.bit_length(), size - 1, size + 1]
    counts = [sign * number for number in sizes] + [-count]
    yield from (fmt.word_of_count(number) for number in counts if fmt.low <= number <= fmt.high)


def scaled_integer(fmt: IntegerFormat, word: int, step: int) -> int | None:
    """Return the word of the number times 2^step; None where the format does not have that number."""
    count = fmt.count(word)
    scaled = count << step if step >= 0 else count >> -step
    exact = step >= 0 or scaled << -step == count
    return fmt.word_of_count(scaled) if exact and fmt.low <= scaled <= fmt.high else None


_ROUNDS = 40
#: Candidates that are evaluated at once: simpler ones first, and the first witness among them is taken.
_BATCH = 512
#: Non-zero lanes, significand bits in use, distance of exponents from zero, negative signs.
Cost = tuple[int, int, int, int]
#: Bits for each part of a rank: no sum of a part comes near to half of its range.
_PART = 32


def shorten(goal: Term, formats: Mapping[str, AnyFormat], values: Mapping[str, int]) -> dict[str, int]:
    """Return a witness of ``goal`` that no single simplification makes shorter."""
    program = Program([goal])

    def holds(tries: Sequence[Mapping[str, int]]) -> Sequence[bool]:
        columns = {
            name: np.array([t[name] for t in tries], dtype=storage(fmt.width))
            for name, fmt in formats.items()
        }
        return list(program.run(columns)[0])

    return shorten_where(holds, formats, values)


def shorten_where(
    holds: Callable[[Sequence[Mapping[str, int]]], Sequence[bool]],
    formats: Mapping[str, AnyFormat],
    values: Mapping[str, int],
) -> dict[str, int]:
    """Return the same where ``holds`` says of each of several inputs whether it is a witness."""
    best = dict(values)
    ranks: dict[str, dict[int, int]] = {name: {} for name in formats}

    def of(name: str, word: int) -> int:
        known = ranks[name]
        if word not in known:
            known[word] = _ranked(_cost(formats[name], word))
        return known[word]

    def gain(change: Mapping[str, int]) -> int:
        """Return what a change costs more: below zero where it makes the witness simpler."""
        return sum(
            of(name, word) - of(name, best[name]) for name, word in change.items() if word != best[name]
        )

    for _ in range(_ROUNDS):
        changes = [(gain(change), change) for change in _simpler(formats, best)]
        simpler = sorted((c for c in changes if c[0] < 0), key=lambda candidate: candidate[0])
        tries = [best | change for _, change in simpler]
        found = _first(holds, tries)
        if found is None:
            break
        best = found
    return best


def _first(
    holds: Callable[[Sequence[Mapping[str, int]]], Sequence[bool]], tries: Sequence[dict[str, int]]
) -> dict[str, int] | None:
    """Return the first of these that is a witness."""
    for start in range(0, len(tries), _BATCH):
        batch = tries[start : start + _BATCH]
        for candidate, ok in zip(batch, holds(batch), strict=True):
            if ok:
                return candidate
    return None


def cost(formats: Mapping[str, AnyFormat], values: Mapping[str, int]) -> Cost:
    """Return how far a witness is from the simplest one."""
    costs = [_cost(fmt, values[name]) for name, fmt in formats.items()]
    lanes, bits, distance, signs = (sum(part) for part in zip((0, 0, 0, 0), *costs, strict=True))
    return lanes, bits, distance, signs


def _cost(fmt: AnyFormat, word: int) -> Cost:
    """Return what one input adds. A block scale (the only unsigned floating-point input) is no lane; its
    distance from 1 counts more.
    """
    if isinstance(fmt, IntegerFormat):
        return integer_cost(fmt, word)
    fmt = float_format(fmt)
    sign, field, fraction = fmt.fields(word)
    ignored = word & ((1 << fmt.ignored_low_bits) - 1) | word >> (fmt.width - fmt.ignored_high_bits)
    signs = sign + ignored.bit_count()
    if not (field or fraction or not fmt.signed):
        return 0, 0, 0, signs
    bits = fmt.fraction_bits - ((fraction & -fraction).bit_length() - 1) if fraction else 0
    return int(fmt.signed), bits, abs(field - fmt.bias) * (1 if fmt.signed else 3), signs


def _ranked(cost: Cost) -> int:
    """Return one number for a cost: sums and differences compare as those of costs do, part by part."""
    rank = 0
    for part in cost:
        rank = (rank << _PART) + part
    return rank


def _simpler(formats: Mapping[str, AnyFormat], values: Mapping[str, int]) -> Iterator[dict[str, int]]:
    """Yield changes that may make a witness simpler."""
    pairs = [[name, f"b{role_of(name).lane}"] for name in formats if role_of(name).factor == 0]
    scaled = {name: fmt for name, fmt in formats.items() if isinstance(fmt, Format) and not fmt.signed}
    unit_scales = {name: _nearest_to_one(fmt) for name, fmt in scaled.items()}
    scales = list(unit_scales)
    for names in [scales, *([name] for name in scales)]:
        yield {name: unit_scales[name] for name in names}
    for names in [*pairs, *([name] for name in formats if name not in unit_scales)]:
        yield dict.fromkeys(names, 0)
    yield from _alike(pairs, values)
    used = {name: fmt for name, fmt in formats.items() if values[name] or name in unit_scales}
    for name, fmt in used.items():
        yield from ({name: word} for word in _simpler_words(fmt, values[name]))
    used_pairs = [pair for pair in pairs if all(name in used for name in pair)]
    for steps in _rescalings(list(formats), used_pairs, scales):
        yield from _rescaled(formats, values, steps)


def _rescalings(
    names: Sequence[str], pairs: Sequence[Sequence[str]], scales: Sequence[str]
) -> Iterator[dict[str, int]]:
    """Yield powers of two to multiply words by: one factor against the other; a side, or a scale, and c."""
    for x, y in pairs:
        yield from ({x: step, y: -step} for step in (-4, -1, 1, 4))
    for step in (-64, -16, -4, -2, -1, 1, 2, 4, 16, 64):
        for side in ["a", "b", *scales]:
            yield {name: step for name in names if role_of(name).operand in (side, "c") or name == side}


def _alike(pairs: Sequence[Sequence[str]], values: Mapping[str, int]) -> Iterator[dict[str, int]]:
    """Yield changes that make one product like another one, or every product."""
    different = {tuple(values[name] for name in pair): pair for pair in reversed(pairs)}
    for factor in reversed(different.values()):
        for other in pairs:
            yield {new: values[old] for new, old in zip(other, factor, strict=True)}
        yield {new: values[old] for pair in pairs for new, old in zip(pair, factor, strict=True)}


def _rescaled(
    formats: Mapping[str, AnyFormat], values: Mapping[str, int], steps: Mapping[str, int]
) -> Iterator[dict[str, int]]:
    """Yield the change that multiplies words by powers of two, if all of them have such a word."""
    scaled = {name: _scaled(formats[name], values[name], step) for name, step in steps.items()}
    words = {name: word for name, word in scaled.items() if word is not None}
    if len(words) == len(scaled):
        yield words


def _nearest_to_one(fmt: Format) -> int:
    """Return the word of 1, or of the normal power of two nearest to it where the format has no 1."""
    field = min(max(fmt.bias, int(fmt.has_subnormals)), fmt.largest_finite_field)
    return field << (fmt.fraction_bits + fmt.ignored_low_bits)


def _simpler_words(fmt: AnyFormat, word: int) -> Iterator[int]:
    if isinstance(fmt, IntegerFormat):
        yield from simpler_integers(fmt, word)
        return
    fmt = float_format(fmt)
    sign, _, fraction = fmt.fields(word)
    if sign:
        yield word & ~(1 << fmt.sign_bit)
    low = fmt.ignored_low_bits
    yield (word & ((1 << (fmt.width - fmt.ignored_high_bits)) - 1)) >> low << low
    for bit in range(fmt.fraction_bits):
        if fraction >> bit & 1:
            yield word & ~(1 << (bit + low))
            yield word & ~(((2 << bit) - 1) << low)
    if fraction:
        yield word & ~(((1 << fmt.fraction_bits) - 1) << low)
    for step in (-16, -8, -4, -2, -1, 1, 2, 4, 8, 16):
        scaled = _scaled(fmt, word, step)
        if scaled is not None:
            yield scaled


def _scaled(fmt: AnyFormat, word: int, step: int) -> int | None:
    """Return the word times 2^step, zero as it is; None where the result is no normal number."""
    if isinstance(fmt, IntegerFormat):
        return scaled_integer(fmt, word, step)
    fmt = float_format(fmt)
    _, field, fraction = fmt.fields(word)
    least = int(fmt.has_subnormals)  # the smallest exponent field of a normal number
    if not field and not fraction and least:
        return word
    if not (field >= least and least <= field + step <= fmt.largest_finite_field) or fmt.is_nan(word):
        return None
    moved = word + (step << (fmt.fraction_bits + fmt.ignored_low_bits))
    return None if fmt.is_nan(moved) else moved


class Replayed(NamedTuple):
    """An input at which a question's goal holds, by the evaluator; and who found it."""

    values: dict[str, int]
    answer: Answer


def replayed(
    question: Question, answer: Answer, replaced: Mapping[Term, Term] | None = None
) -> Replayed | None:
    """Return the input of a solver's model; None where it gives none, or the goal does not hold there.

    replaced: what was put for some inputs, a constant or another input. What neither says is 0.
    """
    if answer.answer != "sat":
        return None
    values = {name: answer.values.get(name, 0) for name in question.formats}
    for variable, put in (replaced or {}).items():
        values[str(variable.data)] = put.value if put.value is not None else values[str(put.data)]
    return Replayed(values, answer) if evaluate([question.goal], values)[0] else None


def narrowed(
    question: Question, tries: Iterable[Mapping[Term, Term]], look: Callable[[Term], Answer]
) -> Replayed | None:
    """Return an input in the first of some smaller sets in which ``look`` finds one that replays.

    tries: what to put for some inputs. look: a solver's answer to "is there an input at which this is 1?".
    """
    for replaced in tries:
        (goal,) = substitute([question.goal], dict(replaced))
        replay = replayed(question, look(goal), replaced) if goal.value != 0 else None
        if replay is not None:
            return replay
    return None


def witness(question: Question, replay: Replayed, seconds: float) -> Distinguished:
    """Return the verdict, with a short input that is made from the one that was found."""
    short = shorten(question.goal, question.formats, replay.values)
    return Distinguished(
        values=short, solver=replay.answer.solver, version=replay.answer.version, seconds=seconds
    )
