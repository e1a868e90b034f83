"""The words that a split makes of all inputs of a tiny domain, and a prover that tries just these."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import count, islice
from typing import Any

import numpy as np

from tcsmt.analysis.bounds.proof import StepwiseProof, Words, split_goal, words_needed
from tcsmt.language.terms import Term, variables
from tcsmt.prove.engine.solving import Solving
from tests.oracles import recipes
from tests.oracles.numbers import truth
from tests.oracles.tiny_recipes import Drawn

__all__ = ["Columns", "Sums", "Tried", "sums"]

Array = np.ndarray[Any, np.dtype[Any]]
Columns = dict[str, Array]


@dataclass(frozen=True)
class Sums:
    """An algorithm on the words of all inputs of a domain."""

    drawn: Drawn

    @cached_property
    def words(self) -> Words:
        one = self.drawn.algorithm
        return Words(one, self.drawn.domain, words_needed(one, self.drawn.domain))

    @cached_property
    def proved(self) -> bool:
        """Whether the lemma about the split holds, so that nothing is left over."""
        one, domain = self.drawn.algorithm, self.drawn.domain
        everything = {"x": np.arange(1 << one.wide.width)}
        pairs = set(zip(domain.bits_in(one.wide), self.words.counts, strict=True))
        return not any(truth(split_goal(one.split, domain, b, n, None), everything).any() for b, n in pairs)

    @cached_property
    def inputs(self) -> Columns:
        (columns,) = self.drawn.everything
        return columns

    @cached_property
    def columns(self) -> Columns:
        """The words of each number by name, and c."""
        found = {"c": self.inputs["c"]}
        for name, given in self.inputs.items():
            if name != "c":
                parts = recipes.split(self.drawn.algorithm.split, given)
                found |= {f"{name}, word {number}": part for number, part in enumerate(parts)}
        return found

    @cached_property
    def result(self) -> Array:
        return recipes.results(self.drawn.algorithm, self.inputs)

    @cached_property
    def parts(self) -> list[list[Fraction]]:
        """c and the products, for each row."""
        wide, lanes = self.drawn.algorithm.wide, range(self.drawn.algorithm.k)
        values = {name: [wide.value(w) for w in given.tolist()] for name, given in self.inputs.items()}
        products = [map(Fraction.__mul__, values[f"a{i}"], values[f"b{i}"]) for i in lanes]
        return [list(row) for row in zip(values["c"], *products, strict=True)]


def sums(title: str, number: int, most: int = 1 << 8) -> Iterator[Sums]:
    """Such as nothing is left over in."""
    found = (Sums(Drawn.of(f"{title} {seed}", most)) for seed in count())
    return islice((one for one in found if one.proved), number)


class Tried(StepwiseProof):
    """Proves what holds of the words of all inputs; what is about other variables is taken for granted."""

    def __init__(self, columns: Columns) -> None:
        super().__init__(Solving())
        self.columns = columns

    def prove(self, what: str, goal: Term) -> bool:
        known = all(str(variable.data) in self.columns for variable in variables([goal]))
        self.refuted = bool(known and truth(goal, self.columns).any())
        return not self.refuted
