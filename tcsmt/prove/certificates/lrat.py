"""Refutations in the LRAT format, checked line by line: each new clause follows by unit propagation.

A line is ``ID LITERALS 0 HINTS 0``. Its clause follows because, with all its literals false, each clause that
a hint names is false but for one literal, which is not known yet and is then true, until one is false
altogether. Nothing is searched. Lines that delete clauses (``ID d …``) may be there; clauses that need more
than unit propagation (negative hints) are refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tcsmt.prove.certificates.derivation import InvalidProof
from tcsmt.support.errors import TooLarge

Clause = tuple[int, ...]
#: A refutation that has the checker look at more literals is refused: its lines may ask for any number.
_MOST = 1 << 30


def check_refutation(clauses: Iterable[Clause], lines: Iterable[str]) -> None:
    """Check that the lines derive the empty clause from these, which are numbered from 1.

    Raises :class:`.InvalidProof` for a line that does not follow, and if the empty clause is not reached.
    """
    clause_of = dict(enumerate(clauses, 1))
    last, seen = len(clause_of), 0
    for line in lines:
        words = line.split()
        if words[1:2] == ["d"]:
            continue  # a clause that is kept still follows; deleting it only saves memory
        number, clause, hints = _read(words, line)
        if number <= last:  # else a line could take the place of a clause of the formula
            raise InvalidProof(f"line {number} of the refutation: its number is not above those before it")
        seen += _check_line(number, clause, hints, clause_of)
        if seen > _MOST:
            raise TooLarge(f"line {number} of a refutation: more than {_MOST} literals to look at")
        if not clause:
            return
        clause_of[number], last = clause, number  # after the check: no line rests on itself
    raise InvalidProof("the refutation does not reach the empty clause")


def _read(words: Sequence[str], line: str) -> tuple[int, Clause, list[int]]:
    try:
        number, *rest = map(int, words)
        end = rest.index(0)
        clause, hints = tuple(rest[:end]), rest[end + 1 : -1]
        if rest[-1] or len(rest) < end + 2 or 0 in hints:
            raise ValueError
    except (ValueError, IndexError):
        raise InvalidProof(f"not a line of a refutation: {line.strip()[:80]!r}") from None
    return number, clause, hints


def _check_line(number: int, clause: Clause, hints: Iterable[int], clause_of: dict[int, Clause]) -> int:
    """Have unit propagation along the hints end in a clause that is false; how many literals were seen."""
    # Assume that the line's clause does not hold. If some clause that follows is then false, it does.
    false, seen = set(clause), 0
    for hint in hints:
        if hint not in clause_of:
            raise InvalidProof(f"line {number} of the refutation: there is no clause {hint}")
        seen += len(clause_of[hint])
        unit = 0  # the literal that must be true for the clause to hold; 0, which is no literal: none yet
        for literal in clause_of[hint]:
            if literal not in false:
                if unit not in (0, literal):
                    raise InvalidProof(f"line {number} of the refutation: clause {hint} leaves literals open")
                unit = literal
        if not unit:
            return seen
        if -unit in false:  # nothing follows from such a clause: the hint is not from a correct refutation
            raise InvalidProof(f"line {number} of the refutation: clause {hint} is true already")
        false.add(-unit)
    raise InvalidProof(f"line {number} of the refutation: the hints do not end in a false clause")
