"""Which unit is this? From the answers of a black box to the model that explains them."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tcsmt.face.api.arrays import as_numpy
from tcsmt.face.api.units import Unit, UnitLike, side_of
from tcsmt.identification.units.boxes import Box
from tcsmt.identification.units.hypotheses import Hypotheses
from tcsmt.identification.units.kinds import hypotheses_of
from tcsmt.identification.units.report import as_data, as_text
from tcsmt.identification.units.search import Identification, Outcome
from tcsmt.identification.units.transcript import Transcript
from tcsmt.matrix_units.arithmetic.any_format import AnyFormat
from tcsmt.matrix_units.arithmetic.formats import format_named
from tcsmt.matrix_units.arithmetic.words import from_words, to_words, unsigned
from tcsmt.matrix_units.catalogue import Row
from tcsmt.matrix_units.models import Operands
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.simulate.rows import run_words
from tcsmt.support.errors import Exit, TcsmtError
from tcsmt.support.results import Result

__all__ = ["Identified", "identify"]


@dataclass(frozen=True, repr=False)
class Identified(Result):
    """What explains a black box: see ``verdict``, ``unit`` and ``catalogue``, or print it.

    outcome: questions, answers, and the hypotheses that are left.
    """

    outcome: Outcome

    @property
    def verdict(self) -> str:
        """``identified``, ``refuted`` (no hypothesis explains it), ``inconsistent`` or ``open``."""
        return self.outcome.verdict

    @property
    def exit_code(self) -> Exit:
        """0: identified; 1: no hypothesis explains it, or its answers contradict each other; 3: open."""
        return {"identified": Exit.ANSWERED, "open": Exit.UNKNOWN}.get(self.verdict, Exit.DIFFERS)

    @property
    def unit(self) -> Unit | None:
        """A model that explains every answer, the first of those that are left; None: there is none."""
        if self.outcome.model is None:
            return None
        return Unit(side_of(self.outcome.model).row)

    @property
    def catalogue(self) -> list[str]:
        """The names of the catalogue's units that are equal to it, or not excluded."""
        return list(self.outcome.catalogue)

    def _facts(self) -> dict[str, Any]:
        return as_data(self.outcome)

    def _lines(self) -> list[str]:
        return [as_text(self.outcome)]

    @property
    def _title(self) -> str:
        return f"a box: {self.verdict}"


def _kinds_like(row: Row) -> tuple[Hypotheses, ...]:
    """The hypotheses with a unit's formats and K; nothing else of the unit is used."""
    model = row.model
    if model.scale_format is not None:
        raise TcsmtError(f"{row.name} has block scales; identify supports only units without them")
    return hypotheses_of((model.a_format, model.b_format, model.c_format, model.d_format), model.k)


def identify(
    box: Callable[..., Any],
    *,
    like: UnitLike | None = None,
    formats: Sequence[str] | None = None,
    k: int | None = None,
    budget: int = 60,
    seed: int = 1,
    transcript: str | os.PathLike[str] | None = None,
    options: SolvingOptions = SolvingOptions(timeout=10.0),
    progress: Callable[[str], None] = lambda text: None,
) -> Identified:
    """Find every model that explains a black box, with few questions.

    The hypotheses are fused dot-adds and chains and trees of IEEE operations, or exact sums of integers.

    box: called as ``box(a, b, c)`` with arrays of shapes (1, k), (1, k) and (1,) of the formats' dtypes;
    returns an array of shape (1,), of the result's dtype or words. A :class:`tcsmt.Unit` is such a box.
    like: a unit with the box's formats and K (nothing else of it is used; not needed where the box is a
    Unit); or formats: those of a, b, c and d, and k: products in one call. budget: questions at most. seed:
    of the random questions. options: of solvers; a proof is not confirmed where they leave it open.
    transcript: a file in which questions and answers are kept; a run goes on from it. progress: called with
    one line. Raises :class:`tcsmt.TcsmtError` for answers that do not fit.

    >>> import tcsmt
    >>> found = tcsmt.identify(tcsmt.unit("volta"), budget=40)  # doctest: +SKIP
    """
    if like is None and formats is None and isinstance(box, Unit):
        like = box
    if (like is None) == (formats is None) or (formats is None) != (k is None):
        raise TcsmtError("give like=UNIT, or formats=... and k=...")
    if like is not None:
        kinds = _kinds_like(side_of(like).row)
    else:
        if len(formats or ()) != 4:
            raise TcsmtError(f"formats = {formats}: must be four formats, those of a, b, c and d")
        kinds = hypotheses_of(map(format_named, formats or ()), k or 0)
    words = kinds[0].formats
    with Transcript(words, Path(transcript)) if transcript else nullcontext() as kept:
        found = Identification(
            kinds, _asked(box, words), budget=budget, seed=seed, options=options,
            progress=progress, transcript=kept,
        ).run()  # fmt: skip
    return Identified(found)


def _asked(box: Callable[..., Any], formats: Sequence[AnyFormat]) -> Box:
    """A function of arrays as a box that takes and gives words."""
    fa, fb, fc, fd = formats

    def ask(a: Sequence[int], b: Sequence[int], c: int) -> int:
        words = (np.array([a], unsigned(fa)), np.array([b], unsigned(fb)), np.array([c], unsigned(fc)))
        if isinstance(box, Unit) and box.model.k == len(a):  # it takes every word, as it is
            own = box.model.operand_formats
            if (own.a, own.b, own.c, box.model.d_format) == (fa, fb, fc, fd):
                return int(run_words(box.model, Operands(*words))[0])
        arrays = [from_words(fmt, one) for fmt, one in zip((fa, fb, fc), words, strict=True)]
        answer = to_words(fd, as_numpy(box(*arrays), "the box's answer"), "the box's answer")
        if answer.shape != (1,):
            raise TcsmtError(f"the box's answer has shape {answer.shape}: must be (1,)")
        return int(answer[0])

    return ask
