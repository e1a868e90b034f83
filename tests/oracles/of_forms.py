"""Forms in floating-point operations against the exact oracle, and what their guards must see."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from tcsmt.language.run.arrays import Program
from tcsmt.language.terms import Term
from tcsmt.matrix_units.arithmetic.formats import float_format
from tcsmt.matrix_units.models import Model
from tcsmt.support.invariants import not_none
from tests.oracles import exact
from tests.oracles.against_mmasim import draw

__all__ = ["Guarded", "guarded_and_differing", "missed_specials"]


class Guarded(Protocol):
    """A form: its result, and where that says nothing."""

    @property
    def guard(self) -> Term:
        """1 where it says nothing."""

    @property
    def result(self) -> Term:
        """The word."""


def guarded_and_differing(model: Model, form: Guarded, kind: str) -> tuple[float, int]:
    """Which share of 4,096 rows the guard excludes, and how many of the others differ from the oracle."""
    words = draw(model, 4096, kind, np.random.default_rng(3))
    values = dict(zip(model.input_names, [*words.a.T, *words.b.T, words.c], strict=True))
    guard, result = Program([form.guard, form.result]).run(values)
    expected = exact.results(model, values).astype(np.uint32)
    return float(guard.mean()), int(np.count_nonzero(result[~guard] != expected[~guard]))


def missed_specials(model: Model, form: Guarded) -> list[tuple[str, int]]:
    """NaNs and infinities that the guard lets through: one in one place, among zeros or ordinary numbers."""
    guard, missed = Program([form.guard]), []
    usual = draw(model, 8, "packed", np.random.default_rng(5))
    for place, (name, fmt) in enumerate(model.input_formats.items()):
        fmt = float_format(fmt)
        for word in [not_none(fmt.nan_word)] + [fmt.infinity_word] * fmt.has_infinity:
            for columns in ([*usual.a.T, *usual.b.T, usual.c], [np.zeros(8, np.uint32)] * (2 * model.k + 1)):
                columns = [column.copy() for column in columns]
                columns[place][:] = word
                (flags,) = guard.run(dict(zip(model.input_names, columns, strict=True)))
                if not flags.all():
                    missed.append((name, word))
    return missed
