"""Unit propagation, with counters of the literals that are open: what a solver does without any search."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


class Propagator:
    """Clauses, and the literals that must hold for some given ones."""

    def __init__(self, clauses: Iterable[Sequence[int]]) -> None:
        self.clauses = [frozenset(clause) for clause in clauses]
        self.where: dict[int, list[int]] = {}
        for number, clause in enumerate(self.clauses):
            for literal in clause:
                self.where.setdefault(literal, []).append(number)

    def follow(self, given: Iterable[int]) -> set[int] | None:
        """The literals that follow; None where a clause is false."""
        true: set[int] = set()
        left = [len(clause) for clause in self.clauses]
        queue = [*given, *(next(iter(clause)) for clause in self.clauses if len(clause) == 1)]
        while queue:
            literal = queue.pop()
            if literal in true:
                continue
            if -literal in true:
                return None
            true.add(literal)
            for number in self.where.get(-literal, ()):
                left[number] -= 1
                if left[number] <= 1:
                    clause = self.clauses[number]
                    if not clause & true:
                        still = [one for one in clause if -one not in true]
                        if not still:
                            return None
                        if len(still) == 1:
                            queue.append(still[0])
        return true
