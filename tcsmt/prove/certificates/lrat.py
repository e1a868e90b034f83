"""Refutations in the LRAT format, checked line by line: each new clause follows by unit propagation.

A line is ``ID LITERALS 0 HINTS 0``. Its clause follows because, with all its literals false, each clause that
a hint names is false but for one literal, which is not known yet and is then true, until one is false
altogether. Nothing is searched. Lines that delete clauses (``ID d …``) may be there; clauses that need more
than unit propagation (negative hints) are refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tcsmt.prove.certificates.derivation import Flaw

__all__ = ["check_refutation"]

Clause = tuple[int, ...]


def check_refutation(clauses: Iterable[Clause], lines: Iterable[str]) -> None:
    """Whether the lines derive the empty clause from these, which are numbered from 1.

    Raises :class:`.Flaw` for a line that does not follow, and if the empty clause is not reached.
    """
    known = dict(enumerate(clauses, 1))
    last = len(known)
    for line in lines:
        words = line.split()
        if words[1:2] == ["d"]:
            continue
        number, clause, hints = _read(words, line)
        if number <= last:
            raise Flaw(f"line {number} of the refutation: its number is not above those before it")
        _check_line(number, clause, hints, known)
        if not clause:
            return
        known[number], last = clause, number
    raise Flaw("the refutation does not reach the empty clause")


def _read(words: Sequence[str], line: str) -> tuple[int, Clause, list[int]]:
    try:
        number, *rest = map(int, words)
        end = rest.index(0)
        clause, hints = tuple(rest[:end]), rest[end + 1 : -1]
        if rest[-1] or len(rest) < end + 2 or 0 in hints:
            raise ValueError
    except (ValueError, IndexError):
        raise Flaw(f"not a line of a refutation: {line.strip()[:80]!r}") from None
    return number, clause, hints


def _check_line(number: int, clause: Clause, hints: Iterable[int], known: dict[int, Clause]) -> None:
    """Whether unit propagation along the hints ends in a clause that is false."""
    false = set(clause)
    for hint in hints:
        if hint not in known:
            raise Flaw(f"line {number} of the refutation: there is no clause {hint}")
        left = 0
        for literal in known[hint]:
            if literal not in false:
                if left not in (0, literal):
                    raise Flaw(f"line {number} of the refutation: clause {hint} leaves several literals open")
                left = literal
        if not left:
            return
        if -left in false:
            raise Flaw(f"line {number} of the refutation: clause {hint} is true already")
        false.add(-left)
    raise Flaw(f"line {number} of the refutation: the hints do not end in a false clause")
