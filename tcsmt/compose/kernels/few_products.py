"""Inputs with few products that are not zero, on which reductions are told apart by simulation.

A long dot product has its few products anywhere along K, so that they fall into different parts.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tcsmt.compose.kernels.elements import SampledElements, on_elements
from tcsmt.compose.kernels.kernel import Kernel
from tcsmt.language.run.exact import evaluate
from tcsmt.language.terms import const, substitute, var
from tcsmt.matrix_units.catalogue import Row
from tcsmt.prove.engine.boundary_inputs import rows
from tcsmt.prove.engine.shorten import cost, shorten
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.question import Question

__all__ = ["FewProducts"]

Array = np.ndarray[Any, np.dtype[Any]]
_ROWS = 4096
_MOST = 4
#: Rows that are made short, and rows that are held against a domain to find them.
_STARTS, _TRIED = 4, 256


@dataclass(frozen=True)
class FewProducts:
    """Rows for kernels with one unit at one K, and what each kernel makes of them."""

    unit: Row
    kernels: tuple[Kernel, ...]
    k: int

    @cached_property
    def _rows(self) -> tuple[Array, dict[str, Array]]:
        """Places along K (rows, products), and words by the names a0, ..., b0, ..., c."""
        model, count = self.unit.model, min(_MOST, self.k)
        rng = np.random.default_rng(20250101)
        formats = {f"{side}{n}": getattr(model, f"{side}_format") for side in "ab" for n in range(count)}
        words = rows(formats | {"c": model.c_format}, _ROWS, rng)
        words["c"][::2] = 0
        places = np.argsort(rng.random((_ROWS, self.k)), axis=1)[:, :count]
        return places, words

    @cached_property
    def _results(self) -> list[Array]:
        places, words = self._rows
        count = places.shape[1]
        sides = []
        for side in "ab":
            columns = np.stack([words[f"{side}{n}"] for n in range(count)], axis=1)
            whole = np.zeros((_ROWS, self.k), columns.dtype)
            np.put_along_axis(whole, places, columns, axis=1)
            sides.append(whole)
        results = dict(on_elements(self.kernels, SampledElements(sides[0], sides[1], words["c"])))
        return [results[kernel] for kernel in self.kernels]

    def witness(self, first: int, second: int, domain: Domain, question: Question) -> dict[str, int] | None:
        """A short input of the domain at which the question's goal holds, replayed; None: none is found."""
        results = self._results
        differing = np.flatnonzero(results[first] != results[second])
        _, words = self._rows
        order = sorted(differing.tolist(), key=lambda row: sum(bool(word[row]) for word in words.values()))
        witnesses: list[dict[str, int]] = []
        for row in order[:_TRIED]:
            values = self._values(row)
            if not domain.contains({name: question.formats[name] for name in values}, values):
                continue
            witnesses.append(_short(question, values))
            if len(witnesses) == _STARTS:
                break
        whole = [dict.fromkeys(question.formats, 0) | values for values in witnesses]
        replayed = [values for values in whole if evaluate([question.goal], values)[0]]
        return min(replayed, key=lambda values: cost(question.formats, values), default=None)

    def _values(self, row: int) -> dict[str, int]:
        """The words of a row that may be other than zero, by the names of the kernels' inputs."""
        places, words = self._rows
        values = {"c": int(words["c"][row])}
        for number, place in enumerate(places[row]):
            pair = [int(words[f"{side}{number}"][row]) for side in "ab"]
            if any(pair):
                values |= {f"a{place}": pair[0], f"b{place}": pair[1]}
        return values


def _short(question: Question, values: dict[str, int]) -> dict[str, int]:
    """A simpler witness with the same products other than zero, or fewer of them."""
    formats = {name: question.formats[name] for name in values}
    zeros = {
        var(name, fmt.width): const(0, fmt.width)
        for name, fmt in question.formats.items()
        if name not in values
    }
    (goal,) = substitute([question.goal], zeros)
    return shorten(goal, formats, values)
