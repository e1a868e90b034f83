"""Which forms in floating-point operations are proved: kept by the digests of both graphs.

``results/make/float_forms.py`` proves each form again and writes ``proved_forms.toml``.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tcsmt.language.graphs.digest import digest_of_graph
from tcsmt.language.terms import Term, substitute
from tcsmt.matrix_units.models.base import Model
from tcsmt.matrix_units.models.float_form import FloatForm, float_form
from tcsmt.matrix_units.models.fused import FusedDotAdd

__all__ = ["PROVED", "ProvedBlock", "digests", "proved_block", "proved_form"]

#: The file with the digests.
PROVED = Path(__file__).with_suffix(".toml")


def digests(model: Model, form: FloatForm) -> tuple[str, str]:
    """Of a model's graph, and of a form's with its guard."""
    return digest_of_graph(model.trace.output), digest_of_graph(form.result, form.guard)


@cache
def proved_form(model: Model) -> FloatForm | None:
    """The form of a model that is proved to give the model's words wherever its guard is 0; else None."""
    form = float_form(model)
    return form if form is not None and digests(model, form) in _proved() else None


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
    if form is None or _chained(block, model) is not model.trace.output:
        return None
    return ProvedBlock(block, form, tuple(lane for lanes in model.blocks for lane in lanes))


def _chained(block: FusedDotAdd, model: FusedDotAdd) -> Term:
    """The block's graph on the lanes of each of the model's blocks, each result the next one's c."""
    own, words = block.trace, model.trace
    word = words.c
    for lanes in model.blocks:
        values = {own.c: word}
        for number, lane in enumerate(lanes):
            values |= {own.a[number]: words.a[lane], own.b[number]: words.b[lane]}
        (word,) = substitute([own.output], values)
    return word


@cache
def _proved() -> frozenset[tuple[str, str]]:
    return frozenset(
        (entry["model"], entry["form"])
        for entry in tomllib.loads(PROVED.read_text(encoding="utf-8"))["forms"]
    )
