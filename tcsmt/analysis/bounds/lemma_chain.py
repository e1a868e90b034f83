"""Goals that are proved by the lemmas of a certificate alone."""

from __future__ import annotations

from collections.abc import Callable

from tcsmt.analysis.bounds.proof import StepwiseProof
from tcsmt.language.terms import Term
from tcsmt.programs.recipes.files import is_recipe_file
from tcsmt.prove.certificates.derivation import InvalidProof
from tcsmt.prove.certificates.lemma_files import Missing
from tcsmt.prove.engine.refutations import NotRefuted
from tcsmt.prove.engine.solving import Solving


class LemmaChain(StepwiseProof):
    """Goals are proved by lemmas alone. lemma: gives the name of a goal's lemma, or says why there is none;
    a lemma that is there has to be right.
    """

    def __init__(self, lemma: Callable[[Term], str]) -> None:
        super().__init__(Solving())
        self._lemma = lemma
        self.names: dict[str, None] = {}

    def prove(self, what: str, goal: Term) -> bool:
        """Return whether there is a lemma for the goal."""
        if goal.value == 0:
            return True
        if goal.value is not None:
            self.stopped = f"{what}: not so"
            return False
        try:
            self.names[self._lemma(goal)] = None
        except (NotRefuted, Missing) as why:
            self.stopped = f"{what}: {why}"
            return False
        return True

    def attempt(self, way: Callable[[], bool]) -> bool:
        """Return the same of the lemmas."""
        names = dict(self.names)
        proved = super().attempt(way)
        if not proved:
            self.names = names
        return proved


def require_no_file(name: str) -> None:
    """Raise :class:`.InvalidProof` for an algorithm of a recipe file: it is not a part of a certificate."""
    if is_recipe_file(name.partition(",")[0]):
        raise InvalidProof(f"{name} is a file, which a certificate does not have in it")
