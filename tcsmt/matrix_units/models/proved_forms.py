"""Which forms in floating-point operations are proved: kept by the digests of both graphs.

``results/make/float_forms.py`` proves each form again and writes ``proved_forms.toml``.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tcsmt.language.graphs.digest import digest_of_graph
from tcsmt.language.terms import Term, substitute
from tcsmt.matrix_units.models.base import Model
from tcsmt.matrix_units.models.float_form import FloatForm, float_form
from tcsmt.matrix_units.models.fused import FusedDotAdd
from tcsmt.matrix_units.models.ieee_dot_add import IeeeDotAdd

__all__ = [
    "PROVED", "ProvedBlock", "digests", "one_lane", "proved_block", "proved_form", "with_one_nan",
]  # fmt: skip

#: The file with the digests.
PROVED = Path(__file__).with_suffix(".toml")


def digests(model: Model, *form: Term) -> tuple[str, str]:
    """Of a model's graph, and of what gives the same words: a form's result and its guard."""
    return digest_of_graph(model.trace.output), digest_of_graph(*form)


@cache
def proved_form(model: Model) -> FloatForm | None:
    """The form of a model that is proved to give the model's words wherever its guard is 0; else None."""
    form = float_form(model)
    proved = form is not None and digests(model, form.result, form.guard) in _proved()
    return form if proved else None


@dataclass(frozen=True)
class ProvedBlock:
    """The form of a model's fused sums, which it chains. model: of one of them. lanes: of the model's, in the
    order in which the blocks take them.
    """

    model: Model
    form: FloatForm
    lanes: tuple[int, ...]


@cache
def proved_block(model: Model) -> ProvedBlock | None:
    """The proved form of the fused sum that a model is, or that it chains; None where there is none."""
    if not isinstance(model, FusedDotAdd):
        return None
    block = model
    if model.lanes.n_fma != model.k:
        block = model.varied(k=model.lanes.n_fma, interleave=0, order=None)
    form = proved_form(block)
    if form is None or _chained(block, model, model.blocks) is not model.trace.output:
        return None
    return ProvedBlock(block, form, tuple(lane for lanes in model.blocks for lane in lanes))


def _chained(block: Model, model: Model, blocks: Sequence[Sequence[int]]) -> Term:
    """A block's graph on the model's lanes of each of some blocks, each result the next one's c."""
    own, words = block.trace, model.trace
    word = words.c
    for lanes in blocks:
        values = {own.c: word}
        for number, lane in enumerate(lanes):
            values |= {own.a[number]: words.a[lane], own.b[number]: words.b[lane]}
        (word,) = substitute([own.output], values)
    return word


@cache
def with_one_nan(model: Model) -> IeeeDotAdd | None:
    """A unit with the same results but for the words of NaNs, which the processor's own instructions give.

    None where there is no such unit, or it is not proved. Which NaN of several operands is the result takes
    hundreds of operations more than the result itself: they are worth doing only where the result is a NaN.
    """
    steps = one_lane(model)
    if not isinstance(model, IeeeDotAdd) or steps is None:
        return None
    if digests(steps[0], steps[1].trace.output) not in _proved():
        return None
    plain = model.varied(nan=None)
    lanes = [[lane] for lane in plain.order or range(plain.k)]
    chains = all(
        _chained(step, own, lanes) is own.trace.output
        for step, own in zip(steps, (model, plain), strict=True)
    )
    return plain if chains else None


def one_lane(model: Model) -> tuple[IeeeDotAdd, IeeeDotAdd] | None:
    """Of a unit whose NaNs follow a rule and that else is a chain of a processor's instructions: one link of
    it, with the rule and without. None of other units.
    """
    if not isinstance(model, IeeeDotAdd) or model.nan is None or not model.nan.cases:
        return None
    if not model.varied(nan=None).by_words:
        return None
    step = model.varied(k=1, order=None)
    return step, step.varied(nan=None)


@cache
def _proved() -> frozenset[tuple[str, str]]:
    return frozenset(
        (entry["model"], entry["form"])
        for entry in tomllib.loads(PROVED.read_text(encoding="utf-8"))["forms"]
    )
