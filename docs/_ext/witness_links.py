"""The inputs in the documentation's console blocks, as what the page shows: what is printed, read again."""

from __future__ import annotations

import re
from collections.abc import Iterator

import tcsmt
from tcsmt.interface.api.views import WitnessView
from tcsmt.language.run.exact import evaluate
from tcsmt.matrix_units.catalogue import rows

__all__ = ["views_in"]

_EXPLAIN = re.compile(r'^\$ tcsmt explain (\S+) --vector "([^"]+)"(?: --against (\S+))?', re.MULTILINE)
_WITNESS = re.compile(r"^DISTINGUISHED by .*\n((?: {4,}.*\n?)+)", re.MULTILINE)
_INPUT = re.compile(r"^ +(s?[ab]\d+|c) = 0x([0-9a-f]+) ", re.MULTILINE)
_RESULT = re.compile(r"^    (\S+/\S+): 0x([0-9a-f]+) ", re.MULTILINE)


def views_in(text: str) -> Iterator[WitnessView]:
    """The inputs of `explain` and the witnesses of `compare` in a block, of units that the page has."""
    for unit, vector, against in _EXPLAIN.findall(text):
        try:
            view = tcsmt.explain(unit, vector, against or None, rounded=lambda change: None).view
        except tcsmt.TcsmtError:  # a model file of the page's text
            continue
        if view is not None and all(row in rows(row.architecture) for row in view.units):
            yield view
    for (lines,) in (match.groups() for match in _WITNESS.finditer(text)):
        view = _witness(lines)
        if view is not None:
            yield view


def _witness(lines: str) -> WitnessView | None:
    """None where the words that are printed do not give both results: not all are, or a unit is chained."""
    named = {row.name: row for row in rows()}
    words = {name: int(word, 16) for name, word in _INPUT.findall(lines)}
    results = _RESULT.findall(lines)
    if len(results) != 2 or not all(name in named for name, _ in results):
        return None
    units = tuple(named[name] for name, _ in results)
    values = tuple(dict.fromkeys(row.model.input_names, 0) | words for row in units)
    for row, own, (_, word) in zip(units, values, results, strict=True):
        if len(own) > len(row.model.input_names):
            return None
        if evaluate([row.model.trace.output], own) != [int(word, 16)]:
            return None
    return WitnessView(units, values)
