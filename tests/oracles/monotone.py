"""Where a result falls, of all inputs: recipes in exact fractions, set side by side."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np

from tcsmt.programs.recipes.algorithm import Algorithm
from tcsmt.prove.statements.domain import Domain
from tests.oracles import recipes
from tests.oracles.exact import Format

__all__ = ["falls"]


def falls(algorithm: Algorithm, domain: Domain) -> str:
    """An input of which the result falls, or is a NaN, or has another value for the other zero; of all."""
    wide = Format.of(algorithm.wide)
    everything = list(recipes.inputs(domain, algorithm))
    columns = {name: np.concatenate([part[name] for part in everything]) for name in everything[0]}
    results = wide.decode(recipes.results(algorithm, columns))
    if results.nan.any():
        return "a NaN"
    values = {
        name: [algorithm.wide.value(word) for word in words.tolist()] for name, words in columns.items()
    }
    found = [
        float("inf") * (-1 if sign else 1) if infinite else algorithm.wide.value(word)
        for sign, infinite, word in zip(
            results.sign.tolist(),
            results.inf.tolist(),
            recipes.results(algorithm, columns).tolist(),
            strict=True,
        )
    ]
    for name in columns:
        others = [other for other in columns if other != name]
        factor = {"a": "b", "b": "a"}.get(name[0], "") + name[1:] if name != "c" else ""
        groups: dict[tuple[Fraction, ...], list[tuple[Fraction, object]]] = {}
        for row, result in enumerate(found):
            groups.setdefault(tuple(values[o][row] for o in others), []).append((values[name][row], result))
        for key, members in groups.items():
            turn = 1 if not factor else key[others.index(factor)]
            members.sort(key=lambda pair: pair[0])
            for (x, one), (y, two) in pairwise(members):
                same = x == y and one != two
                if same or (turn > 0 and two < one) or (turn < 0 and one < two):  # type: ignore[operator]
                    return f"{name} from {x} to {y} at {dict(zip(others, key, strict=True))}"
    return ""
