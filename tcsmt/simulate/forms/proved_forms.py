"""Forms in floating-point operations that are proved: kept by the digests of both graphs.

``results/make/float_forms.py`` proves each form again and writes ``proved_forms.json``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tcsmt.language.graphs.digest import digest_of_graph
from tcsmt.language.terms import FALSE, Term, const, substitute
from tcsmt.matrix_units.arithmetic.formats import Format, float_format
from tcsmt.matrix_units.models.base import Model
from tcsmt.matrix_units.models.dot_then_add import DotThenAdd
from tcsmt.matrix_units.models.fused import FusedDotAdd
from tcsmt.matrix_units.models.fused_parts import CLast
from tcsmt.matrix_units.models.grouped_dot_add import GroupedDotAdd
from tcsmt.matrix_units.models.ieee_dot_add import IeeeDotAdd
from tcsmt.matrix_units.models.ieee_parts import ExactSums
from tcsmt.simulate.forms.chain_form import ChainForm, chain_form
from tcsmt.simulate.forms.dot_form import DotForm, dot_form
from tcsmt.simulate.forms.exact_form import ExactForm, exact_form
from tcsmt.simulate.forms.float_form import (
    FloatForm,
    LastAdditionForm,
    float_form,
    last_addition_form,
    obstacle,
)
from tcsmt.simulate.forms.group_form import GroupForm, group_form
from tcsmt.simulate.forms.odd_form import OddForm, odd_form

#: The file with the digests.
PROVED = Path(__file__).with_suffix(".json")  # read at every start: TOML takes 8 ms


def digests(model: Model, *form: Term) -> tuple[str, str]:
    """Return the digests of a model's graph, and of what gives the same words: a result and a guard."""
    return digest_of_graph(model.trace.output), digest_of_graph(*form)


def digests_of_last(form: LastAdditionForm) -> tuple[str, str]:
    """Return the digests of a model's last addition, and of its form with its guard."""
    return digest_of_graph(form.expected), digest_of_graph(form.result, form.guard)


@cache
def proved_form(model: Model) -> FloatForm | GroupForm | None:
    """Return the form of a model that is proved to give the model's words wherever its guard is 0; else
    None.
    """
    form = float_form(model) or group_form(model)
    # by both graphs: where the model or the form is another one now, the proof is about something else
    proved = form is not None and digests(model, form.result, form.guard) in _proved()
    return form if proved else None


@dataclass(frozen=True)
class ComposedForm:
    """The forms of a unit's blocks and of its last addition, in a row: where ``guard`` is 0."""

    result: Term
    guard: Term


@dataclass(frozen=True)
class ProvedBlock:
    """The form of a model's sums, which it chains. model: of one of them; or, where c is added last, and of
    IEEE operations, the whole. lanes: of the model's, in the order in which the blocks take them.
    sums: the lanes of each sum.
    """

    model: FusedDotAdd | DotThenAdd | IeeeDotAdd
    form: FloatForm | GroupForm | DotForm | ComposedForm | ChainForm | ExactForm | OddForm
    lanes: tuple[int, ...]
    sums: tuple[tuple[int, ...], ...]

    @property
    def factor_formats(self) -> tuple[Format, Format]:
        """Return the formats of what is multiplied, a's side and b's."""
        if isinstance(self.model, FusedDotAdd):
            return self.model.factor_formats
        return float_format(self.model.a_format), float_format(self.model.b_format)


@cache
def proved_block(model: Model) -> ProvedBlock | None:
    """Return the proved form of the sum that a model is, or that it chains, or of its IEEE operations; None
    where there is none.
    """
    if isinstance(model, IeeeDotAdd):
        return _proved_operations(model)
    if isinstance(model, DotThenAdd):
        return _proved_dot(model)
    block = fused_block(model)
    form = None if block is None else proved_form(block)
    if not isinstance(model, FusedDotAdd) or block is None or form is None:
        return None
    sums = tuple(map(tuple, model.blocks))
    if isinstance(model.sum, CLast):
        composed = _with_last_addition(model, block, form)
        return None if composed is None else ProvedBlock(model, composed, tuple(range(model.k)), sums)
    # terms are shared, so the same node is the same function: the chain needs no proof of its own
    if _chained(block, model, model.blocks) is not model.trace.output:
        return None
    return ProvedBlock(block, form, sum(sums, ()), sums)


def _proved_operations(model: IeeeDotAdd) -> ProvedBlock | None:
    form, lanes = chain_form(model) or exact_form(model) or odd_form(model), tuple(range(model.k))
    if form is None or digests(model, form.result, form.guard) not in _proved():
        return None
    return ProvedBlock(model, form, lanes, (lanes,))


def _proved_dot(model: DotThenAdd) -> ProvedBlock | None:
    block = dot_block(model)
    form = dot_form(block)
    sums = tuple(tuple(range(first, first + block.k)) for first in range(0, model.k, block.k))
    if form is None or digests(block, form.result, form.guard) not in _proved():
        return None
    if _chained(block, model, sums) is not model.trace.output:
        return None
    return ProvedBlock(block, form, sum(sums, ()), sums)


def dot_block(model: DotThenAdd) -> DotThenAdd:
    """Return the unit of one of the sums that a unit chains, or that it is."""
    return model if model.n_fma == model.k else model.replace(k=model.n_fma)


def fused_block(model: Model) -> FusedDotAdd | None:
    """Return the unit of one of the fused sums that a unit chains, or that it is; None of other units."""
    if not isinstance(model, FusedDotAdd):
        return None
    changes: dict[str, Any] = {}
    if model.lanes.n_fma != model.k:
        changes |= {"k": model.lanes.n_fma, "interleave": 0, "order": None}
    if isinstance(model.sum, CLast):
        changes |= {"c_position": "aligned", "c_rounding": "RNE", "c_format": model.d_format}
    return model.replace(**changes) if changes else model


def _with_last_addition(
    model: FusedDotAdd, block: FusedDotAdd, form: FloatForm | GroupForm
) -> ComposedForm | None:
    """Return the forms of a model's blocks, from +0 on, and of its last addition, if that is proved."""
    last, zero = last_addition_form(model), const(0, model.d_format.width)
    if last is None or digests_of_last(last) not in _proved():
        return None
    word = _chained(block, model, model.blocks, zero)
    (expected,) = substitute([last.expected], {last.word: word, last.c: model.trace.c})
    if expected is not model.trace.output:
        return None
    word, guard = zero, FALSE
    for lanes in model.blocks:
        word, new_guard = substitute([form.result, form.guard], _of_block(block, model, lanes, word))
        guard |= new_guard  # where one block's form says nothing, nor does any that takes its result
    result, new_guard = substitute([last.result, last.guard], {last.word: word, last.c: model.trace.c})
    return ComposedForm(result, guard | new_guard)


def _chained(block: Model, model: Model, blocks: Sequence[Sequence[int]], start: Term | None = None) -> Term:
    """Return a block's graph on the model's lanes of each of some blocks, each result the next one's c."""
    word = model.trace.c if start is None else start
    for lanes in blocks:
        (word,) = substitute([block.trace.output], _of_block(block, model, lanes, word))
    return word


def _of_block(block: Model, model: Model, lanes: Sequence[int], c: Term) -> dict[Term, Term]:
    """Return the inputs of a block, which has some of a model's lanes."""
    block_words, words = block.trace, model.trace
    values = {block_words.c: c}
    for number, lane in enumerate(lanes):
        values |= {block_words.a[number]: words.a[lane], block_words.b[number]: words.b[lane]}
    return values


def simulation(model: Model) -> dict[str, str]:
    """Return on which form of a unit the simulator computes, where it is faster, and the reason: ``floats``,
    ``groups`` (sums in integers of 16 bits), ``processor`` (its own IEEE operations) or ``integers``.
    """
    block = proved_block(model)
    if block is not None:
        form = "groups" if isinstance(block.form, GroupForm) else "floats"
        return {"form": form, "reason": "proved to give the same words"}
    if with_canonical_nan(model) is not None:
        return {
            "form": "processor",
            "reason": "proved to give the same words but for NaNs, which follow a rule",
        }
    if isinstance(model, IeeeDotAdd) and model.is_native:
        return {"form": "processor", "reason": "each operation is one of IEEE 754"}
    return {"form": "integers", "reason": _why_not(model) or "no form of it is proved"}


def _why_not(model: Model) -> str:
    """Return why a model has no form in floating-point operations; "" where it has one."""
    if isinstance(model, IeeeDotAdd) and isinstance(model.sum, ExactSums):
        return "" if exact_form(model) is not None else "exact sums that binary64 has no form of"
    if isinstance(model, IeeeDotAdd) and not model.rounding.ties_to_even and odd_form(model) is None:
        return f"rounding = {model.rounding}"
    if isinstance(model, GroupedDotAdd):
        return f"groups of products on grids of their own, alignment = {model.alignment}"
    return obstacle(fused_block(model) or model)


@cache
def with_canonical_nan(model: Model) -> IeeeDotAdd | None:
    """Return a unit with the same results but for NaNs' words, which the processor's instructions give.

    None where there is no such unit, or it is not proved. Which NaN of several operands is the result takes
    hundreds of operations more than the result itself: they are worth doing only where the result is a NaN.
    """
    steps = single_step(model)
    if not isinstance(model, IeeeDotAdd) or steps is None:
        return None
    if digests(steps[0], steps[1].trace.output) not in _proved():
        return None
    plain = model.replace(nan=None)
    lanes = [[lane] for lane in plain.order or range(plain.k)]
    chains = all(
        _chained(step, link, lanes) is link.trace.output
        for step, link in zip(steps, (model, plain), strict=True)
    )
    return plain if chains else None


def single_step(model: Model) -> tuple[IeeeDotAdd, IeeeDotAdd] | None:
    """Return one step of a chain of native multiply-adds with a NaN rule: with the rule and without. None for
    other units.
    """
    if not isinstance(model, IeeeDotAdd) or model.nan is None or not model.nan.cases:
        return None
    if not model.replace(nan=None).is_native:
        return None
    step = model.replace(k=1, order=None)
    return step, step.replace(nan=None)


@cache
def _proved() -> frozenset[tuple[str, str]]:
    return frozenset(
        (entry["model"], entry["form"]) for entry in json.loads(PROVED.read_text(encoding="utf-8"))["forms"]
    )
