"""Sets of indices of K in a program's text: K, a part of it, or the parts that a cut makes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tcsmt.programs.kernels.reduction import Level
from tcsmt.programs.steps.program import Indices
from tcsmt.programs.written.tokens import Tokens, Wrong
from tcsmt.support.errors import choose

#: Cuts of a set of indices, as reductions call them.
_CUTS = {"blocks": "promote", "split": "split-k", "deal": "sliced", "cuts": "cuts"}


def one_part(tokens: Tokens, names: Mapping[str, Any]) -> Indices:
    """Return the one part that a set names."""
    parts = parts_of(tokens, names)
    if len(parts) != 1:
        raise Wrong("one part of K is expected here")
    return parts[0]


def parts_of(tokens: Tokens, names: Mapping[str, Any]) -> list[Indices]:
    """Return the parts that a set names: ``K``, a part of it, or those that a cut makes.

    names: what the text's names mean.
    """
    name = tokens.name("a part of K")
    if name in (*_CUTS, "permuted") and tokens.take("("):
        parts = _cut(name, tokens, names)
        tokens.expect(")")
        return parts
    place = names.get(name)
    if not isinstance(place, np.ndarray):
        raise Wrong(f"{name!r} is no part of K")
    if tokens.take("["):
        place = place[_chosen(tokens, len(place))]
        tokens.expect("]")
    if not place.size:
        raise Wrong(f"this part of K is empty at K = {len(names['K'])}")
    return [place]


def _chosen(tokens: Tokens, length: int) -> list[int]:
    """``a:b``, or places one after the other."""
    if tokens.at(":") or (len(tokens.found) > 1 and tokens.found[1][1] == ":"):
        first = 0 if tokens.at(":") else tokens.integer("the first place")
        tokens.expect(":")
        last = length if tokens.at("]") else tokens.integer("the last place")
        return list(range(min(first, length), min(last, length)))
    places = []
    while not tokens.at("]"):
        places.append(tokens.integer("a place"))
        tokens.take(",")
    if any(place >= length for place in places):
        raise Wrong(f"place {max(places)} of {length}")
    return places


def _cut(name: str, tokens: Tokens, names: Mapping[str, Any]) -> list[Indices]:
    indices = one_part(tokens, names)
    numbers, options = [], {}
    while tokens.take(",") or (tokens.found and tokens.found[0][0] == "number"):
        if tokens.found and tokens.found[0][0] == "name":
            key = choose(f"option of {name}", tokens.name("an option"), ("step", "rest"))
            tokens.expect("=")
            options[key] = tokens.name("first or last") if key == "rest" else tokens.integer(key)
        else:
            numbers.append(tokens.integer("a number"))
    if name == "permuted":
        return [_permuted(indices, numbers)]
    if not numbers:
        raise Wrong(f"{name} needs a number")
    if name == "cuts":
        level = Level(kind="cuts", at=tuple(number for number in numbers if number))
    else:
        step = options.get("step", 1 if name != "blocks" else None)
        level = Level(kind=_CUTS[name], number=numbers[0], step=step)  # type: ignore[arg-type]
    first = choose("rest", str(options.get("rest", "last")), ("first", "last")) == "first"
    parts = level.cut(indices[::-1] if first else indices, 1)
    return [part[::-1] for part in parts[::-1]] if first else parts


def _permuted(part: Indices, order: Sequence[int]) -> Indices:
    """Return the indices, in each block of so many in this order."""
    if sorted(order) != list(range(len(order))) or not order:
        raise Wrong("permuted needs each number from 0 on once")
    blocks = [part[first : first + len(order)] for first in range(0, len(part), len(order))]
    return np.concatenate([block[[n for n in order if n < len(block)]] for block in blocks])
