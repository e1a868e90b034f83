"""The fewest sets that cover everything: greedy, then the exact minimum by branch and bound."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

__all__ = ["Cover", "cover"]

#: Distinct sets beyond which the choice is greedy: each is compared with each that may hold it.
_MOST = 20_000
#: Choices that the search of the minimum looks at, at most.
_NODES = 200_000


class Cover(NamedTuple):
    """Numbers of the chosen sets; exact: whether it is proved that no choice is smaller."""

    chosen: list[int]
    exact: bool


def cover(sets: Sequence[int]) -> Cover:
    """Choose few of the sets so that their union is that of all. A set is an integer, a bit per member.

    Of equal sets the first is taken. The same sets give the same choice.
    """
    whole = 0
    for members in sets:
        whole |= members
    distinct: dict[int, int] = {}
    for number, members in enumerate(sets):
        distinct.setdefault(members, number)
    if len(distinct) > _MOST:
        return Cover(_greedy(sets, list(distinct.values()), whole), False)
    useful = _maximal(distinct)
    greedy = _greedy(sets, useful, whole)
    if len(greedy) <= 1:
        return Cover(greedy, True)
    best, sure = _minimum(sets, useful, whole, len(greedy))
    return Cover(sorted(best or greedy), sure)


def _maximal(distinct: Mapping[int, int]) -> list[int]:
    """Numbers of the sets, given with their numbers, that lie in no other one."""
    kept: dict[int, int] = {}
    for members in sorted(distinct, key=lambda s: (-s.bit_count(), distinct[s])):
        if members and not any(members & ~other == 0 for other in kept):
            kept[members] = distinct[members]
    return list(kept.values())


def _greedy(sets: Sequence[int], useful: Sequence[int], whole: int) -> list[int]:
    chosen: list[int] = []
    while whole:
        best = max(useful, key=lambda n: ((sets[n] & whole).bit_count(), -n))
        chosen.append(best)
        whole &= ~sets[best]
    return sorted(chosen)


def _minimum(
    sets: Sequence[int], useful: Sequence[int], whole: int, most: int
) -> tuple[list[int] | None, bool]:
    """A choice of fewer than ``most`` sets, the smallest; None: there is none. And whether that is sure.

    Branch and bound: one of the sets that hold the rarest member is in every choice.
    """
    best: list[int] | None = None
    bound, nodes = most, 0
    having = {
        1 << place: [n for n in useful if sets[n] >> place & 1]
        for place in range(whole.bit_length())
        if whole >> place & 1
    }
    rarest = sorted(having, key=lambda member: len(having[member]))
    largest = max(sets[n].bit_count() for n in useful)
    stack: list[tuple[int, list[int]]] = [(whole, [])]
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
