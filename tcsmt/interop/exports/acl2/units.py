"""A model as a book of ACL2: its stages as functions with their names, and the unit, made of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tcsmt.language.terms import Term, expand, operands_first
from tcsmt.language.write.acl2 import Acl2Writer, defined, variables_of
from tcsmt.matrix_units.models import Model
from tcsmt.matrix_units.models.stages import Stage
from tcsmt.support.escaping import comment


@dataclass(frozen=True)
class UnitBook:
    """A unit's book. name: of its file. file: of the model. function: what computes the unit's word.
    text: of the book.

    calls: of the stages' functions, in order, which the unit is made of.
    """

    name: str
    file: str
    function: str
    text: str
    calls: tuple[StageCall, ...] = ()


@dataclass(frozen=True)
class StageCall:
    """A stage. label: the variable with its value. args: inputs of the unit, and earlier stages.

    sums: whether it is the sum, or the maximum, of its arguments. stage: of the model; None: an exponent that
    is one of those of a maximum.
    """

    label: str
    width: int
    function: str
    args: tuple[str, ...]
    sums: bool
    stage: Stage | None = None


def unit_book(model: Model, file: str) -> UnitBook:
    """Return the book of a model. file: the model's in the certificate, whose name its functions end with."""
    mark = file.partition(".")[0][:8]
    inputs = variables_of(model.input_names)
    writer = Acl2Writer(inputs)
    stages = model.trace.stages
    terms = expand([*(stage.term for stage in stages), model.trace.output])
    output = terms.pop()
    labels = {
        term: _slug(stage.name) for stage, term in zip(stages, terms, strict=True) if term.args
    }  # a later stage with the same value gives the name
    stage_of = dict(zip(terms, stages, strict=True))
    if output.args:
        labels.setdefault(output, "result")
    labels = _exponents(labels, writer) | labels
    functions: dict[tuple[str, str], str] = {}
    texts: list[str] = []
    calls: list[StageCall] = []
    for node in (node for node in operands_first([*labels, output]) if node in labels):
        below = _boundary(node, labels)
        formals = _formals(below, labels)
        bindings, (result,) = writer.bindings([node], formals)
        base = _base(labels[node])
        body = defined("", list(formals.values()), bindings, result)
        name = functions.get((base, body))
        if name is None:
            taken = set(functions.values())
            name = next(name for name in (f"{base}.{mark}", f"{labels[node]}.{mark}") if name not in taken)
            functions[base, body] = name
            texts.append(defined(name, list(formals.values()), bindings, result))
        args = [labels.get(one) or inputs[str(one.data)] for one in below]
        sums = any(len(one.args) > 2 for one in operands_first([node], formals) if one.op in ("add", "umax"))
        calls.append(StageCall(labels[node], node.width, name, tuple(args), sums, stage_of.get(node)))
    value = labels.get(output) or writer.bindings([output], {})[1][0]
    function = f"unit.{mark}"
    lines = [(call.label, f"({' '.join([call.function, *call.args])})") for call in calls]
    texts.append(defined(function, list(inputs.values()), lines, value))
    parameters = [f"; {line}" for line in ("", f"{model.kind}, model {file}", f"graph {model.digest}")]
    head = [
        f"; A unit written by tcsmt from its model: {comment(model.title)}.",
        *parameters,
        "",
        '(in-package "ACL2")',
    ]
    head.append('(include-book "../theorems" :ttags ((:fast-cons-memo) (:aig-vars)))')
    return UnitBook(
        f"unit-{mark}", file, function, "\n".join([*head, "", "\n\n".join(texts), ""]), tuple(calls)
    )


def _exponents(labels: Mapping[Term, str], writer: Acl2Writer) -> dict[Term, str]:
    """Return the words of which a stage is the maximum, as stages of their own."""
    named: dict[Term, str] = {}
    for node, label in labels.items():
        if node.op == "umax":
            words = [arg for arg in writer.arguments(node) if arg.args and arg not in labels]
            kind = label.replace("largest-", "")
            named |= {arg: f"{kind}-{number}" for number, arg in enumerate(words)}
    return named


def _boundary(node: Term, labels: dict[Term, str]) -> list[Term]:
    """Return the inputs and stages from which a stage is computed, inputs first."""
    stops = [label for label in labels if label is not node]
    met: dict[Term, None] = {}
    pending, seen = [node], {node}
    while pending:
        for arg in pending.pop().args:
            if arg in seen:
                continue
            seen.add(arg)
            if arg.op == "var" or (arg in labels and arg is not node):
                met[arg] = None
            else:
                pending.append(arg)
    order = {stop: place for place, stop in enumerate(stops)}
    return sorted(met, key=lambda one: (one.op != "var", order.get(one, 0), _natural(str(one.data))))


def _formals(below: Sequence[Term], labels: dict[Term, str]) -> dict[Term, str]:
    """Return a name for each argument, without the lane where there is one of its kind."""
    full = {one: labels.get(one) or str(one.data) for one in below}
    kinds = [_base(name) for name in full.values()]
    named: dict[Term, str] = {}
    for (one, name), kind in zip(full.items(), kinds, strict=True):
        named[one] = kind if kinds.count(kind) == 1 and kind != "t" else name
    return named


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def _base(name: str) -> str:
    """Return the name without its lane."""
    return re.sub(r"-?\d+$", "", name)


def _natural(name: str) -> tuple[str, int]:
    digits = re.search(r"\d+$", name)
    return _base(name), int(digits.group()) if digits else 0
