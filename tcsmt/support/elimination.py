"""Elimination of hypotheses by their answers: survivors, inputs that split best, the fewest that decide.

Answers are words of shape (hypotheses, inputs). A set is an integer, a bit for each member.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

#: Words that are computed at once, at most.
_AT_ONCE = 4_000_000
#: Distinct sets beyond which the choice is greedy: each is compared with each that may hold it.
_MOST = 20_000
#: Choices that the search of the minimum looks at, at most.
_NODES = 200_000


# --- survivors ----------------------------------------------------------------------------------


def surviving(
    table: Array,
    answers: Array,
    words: Callable[[Array, slice], Array],
    seen: Callable[[int, int], object] = lambda done, left: None,
) -> Array:
    """Return the hypotheses, rows of a table, that give all answers, of shape (inputs,).

    They are held against one input, then against four, ...: most are gone before the many inputs come. words:
    the answers of a table to some of the inputs. seen: told the inputs that are done, and how many are left.
    """
    done = 0
    while done < len(answers) and len(table):
        some = slice(done, done + (min(4 * done, _AT_ONCE // len(table)) or 1))
        table = table[(words(table, some) == answers[some]).all(axis=1)]
        done = min(some.stop, len(answers))
        seen(done, len(table))
    return table


# --- inputs that split --------------------------------------------------------------------------


def numbered(words: Array) -> Array:
    """Return the place of each word among all that are there, in order: integers of the words' shape."""
    return np.unique(words, return_inverse=True)[1].reshape(words.shape)


def entropies(words: Array) -> Array:
    """Return the bits of information in each input's answer, every hypothesis alike: of shape (inputs,)."""
    counts = (np.unique(column, return_counts=True)[1] for column in words.T)
    shares = (count / count.sum() for count in counts)
    return np.array([-(share * np.log2(share)).sum() if len(share) > 1 else 0.0 for share in shares])


def best_split(words: Array) -> int | None:
    """Return the input whose answers have the largest entropy; None: no input has several answers."""
    scores = entropies(words)
    best = int(np.argmax(scores))
    return best if scores[best] > 0 else None


def separating(words: Array, known: Array) -> Iterator[int]:
    """Yield inputs that tell more hypotheses apart, at each turn the first of those that make most classes.

    known: the answers to other inputs, after which hypotheses that answer alike are one class.
    """
    classes = np.zeros(len(words), np.int64)
    for column in known.T:
        classes = numbered(classes * len(words) + numbered(column))
    numbers = numbered(words)
    while numbers.size:
        both = classes[:, None] * (numbers.max() + 1) + numbers
        counts = 1 + (np.diff(np.sort(both, axis=0), axis=0) != 0).sum(axis=0)
        best = int(np.argmax(counts))
        if counts[best] == classes.max() + 1:
            return
        classes = numbered(both[:, best])
        yield best


# --- the fewest inputs that decide --------------------------------------------------------------


def bit_sets(members: Array) -> list[int]:
    """Return a set for each input of its members: booleans (inputs, members)."""
    packed = np.packbits(members, axis=1, bitorder="little")
    return [int.from_bytes(row.tobytes(), "little") for row in packed]


class Cover(NamedTuple):
    """Numbers of the chosen sets; exact: whether it is proved that no choice is smaller."""

    chosen: list[int]
    exact: bool


def cover(sets: Sequence[int]) -> Cover:
    """Choose few of the sets so that their union is that of all. A set is an integer, a bit per member.

    Of equal sets the first is taken. The same sets give the same choice.
    """
    all_elements = 0
    for members in sets:
        all_elements |= members
    distinct: dict[int, int] = {}
    for number, members in enumerate(sets):
        distinct.setdefault(members, number)
    if len(distinct) > _MOST:
        return Cover(sorted(_greedy(sets, list(distinct.values()), all_elements)), False)
    useful = _maximal(distinct)
    greedy = sorted(_greedy(sets, useful, all_elements))
    if len(greedy) <= 1:
        return Cover(greedy, True)
    best, sure = _minimum(sets, useful, all_elements, len(greedy))
    return Cover(sorted(best or greedy), sure)


def decisive_first(sets: Sequence[int], chosen: Sequence[int]) -> list[int]:
    """Return the numbers of the chosen sets, of which none is covered by the others, in greedy order."""
    all_elements = 0
    for number in chosen:
        all_elements |= sets[number]
    return _greedy(sets, chosen, all_elements)


def _maximal(distinct: Mapping[int, int]) -> list[int]:
    """Return numbers of the sets, given with their numbers, that lie in no other one."""
    maximal: dict[int, int] = {}
    for members in sorted(distinct, key=lambda s: (-s.bit_count(), distinct[s])):
        if members and not any(members & ~other == 0 for other in maximal):
            maximal[members] = distinct[members]
    return list(maximal.values())


def _greedy(sets: Sequence[int], useful: Sequence[int], uncovered: int) -> list[int]:
    """Return sets that cover the whole, each the first of those that hold most of what is left."""
    chosen: list[int] = []
    while uncovered:
        best = max(useful, key=lambda n: ((sets[n] & uncovered).bit_count(), -n))
        chosen.append(best)
        uncovered &= ~sets[best]
    return chosen


def _minimum(
    sets: Sequence[int], useful: Sequence[int], universe: int, most: int
) -> tuple[list[int] | None, bool]:
    """Return a choice of fewer than ``most`` sets, the smallest, or None; and whether that is sure.

    Branch and bound: one of the sets that hold the rarest member is in every choice.
    """
    best: list[int] | None = None
    bound, nodes = most, 0
    having = {
        1 << place: [n for n in useful if sets[n] >> place & 1]
        for place in range(universe.bit_length())
        if universe >> place & 1
    }
    rarest = sorted(having, key=lambda member: len(having[member]))
    largest = max(sets[n].bit_count() for n in useful)
    stack: list[tuple[int, list[int]]] = [(universe, [])]
    while stack:
        remaining, chosen = stack.pop()
        if not remaining:
            if len(chosen) < bound:
                best, bound = chosen, len(chosen)
            continue
        if len(chosen) + -(-remaining.bit_count() // largest) >= bound:
            continue
        nodes += 1
        if nodes > _NODES:
            return best, False
        member = next(member for member in rarest if member & remaining)
        tries = sorted(having[member], key=lambda n: (sets[n] & remaining).bit_count())
        stack += [(remaining & ~sets[n], [*chosen, n]) for n in tries]
    return best, True
