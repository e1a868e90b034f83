"""What a certificate states and how it is proved, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from itertools import groupby
from pathlib import Path
from typing import Any

from tcsmt.arithmetic import ieee
from tcsmt.certificates.derivation import Cases, Close, Equal, Fact, Flaw, Proof
from tcsmt.certificates.files import opened, record_of, statement_files
from tcsmt.certificates.statement import Statement
from tcsmt.models import Model
from tcsmt.models.base import Call
from tcsmt.support.errors import TcsmtError
from tcsmt.support.text import counted, one_line
from tcsmt.terms import Term, operands_first, var

__all__ = ["Description", "described"]

#: A term of more nodes is not written out.
_LONGEST = 12
#: What a statement of another kind has besides what it says.
_BESIDE = ("about", "title", "constants", "losses")
#: What statements of another kind are about, but for those about binary32.
_INPUTS = {"emulation": "binary64 words"} | dict.fromkeys(("exact", "kernel", "sums"), "integers")


@dataclass(frozen=True)
class Description:
    """One statement of a certificate: its file, what it says, its models, and the steps of its proof.

    inputs: their formats, by their names.
    """

    path: Path
    title: str
    says: str
    inputs: str
    models: tuple[str, ...]
    steps: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "file": self.path.name, "title": self.title, "says": self.says, "inputs": self.inputs,
            "models": list(self.models), "steps": list(self.steps),
        }  # fmt: skip

    def __str__(self) -> str:
        lines = [self.title, f"  file: {self.path}", f"  statement: {self.says}", f"  inputs: {self.inputs}"]
        lines += [f"  model {number}: {text}" for number, text in enumerate(self.models, 1)]
        lines += ["  proof:", *(f"    {step}" for step in self.steps)]
        # names and texts are whatever the author wrote: none of them may look like a line of its own
        return "\n".join(map(one_line, lines))


def described(folder: Path) -> list[Description]:
    """Every statement of a certificate. Raises :class:`.TcsmtError` for a file that cannot be read."""
    found = []
    for path in statement_files(folder):
        record = record_of(path)
        if "about" in record["statement"]:
            found.append(_about(path, record))
            continue
        try:
            statement, proof = opened(path, record)
        except Flaw as why:
            raise TcsmtError(f"{path}: {why}") from None
        names = _Names(statement)
        found.append(
            Description(
                path, statement.title, _says(statement, names), _inputs(statement),
                _models(statement, names), tuple(_steps(proof, names, "")),
            )
        )  # fmt: skip
    return found


def _about(path: Path, record: Mapping[str, Any]) -> Description:
    """A statement of another kind, whose argument is code: what it is about, value by value."""
    known = record["statement"]
    values = {name: value for name, value in known.items() if name not in _BESIDE}
    says = "; ".join(f"{name} = {_value(value)}" for name, value in values.items())
    lemmas = record.get("lemmas")
    steps = counted(len(lemmas), "lemma") if isinstance(lemmas, list) else "lemmas that it does not name"
    title = str(known.get("title"))
    losses = known.get("losses")
    lost = [f"{name}: {loss}" for name, loss in losses.items()] if isinstance(losses, dict) else []
    inputs = _INPUTS.get(str(known["about"]), "binary32 words")
    return Description(path, title, f"{known['about']}: {says}", inputs, (), (steps, *lost))


def _value(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name} = {one}" for name, one in value.items()) + "}"
    return str(value)


def _says(statement: Statement, names: _Names) -> str:
    if statement.domain is None:
        return f"no input satisfies the goal, which the file spells out: {names.of(statement.goal)}"
    also = "".join(f", and {names.of(term)} holds" for term in statement.also)
    one, two = statement.record["differ"]
    read = dict.fromkeys(statement.calls[number].model.d_format.name for number in (one, two))
    same = f"models {one + 1} and {two + 1} give the same word, read in {' and in '.join(read)}"
    return f"on inputs that are {statement.domain}{also}, {same}"


def _inputs(statement: Statement) -> str:
    """Those of one format after another are said together."""
    groups = groupby(statement.record["inputs"].items(), lambda item: item[1])
    kinds = ((f"{kind} bits" if isinstance(kind, int) else kind, group) for kind, group in groups)
    return "; ".join(f"{', '.join(name for name, _ in group)}: {kind}" for kind, group in kinds)


def _models(statement: Statement, names: _Names) -> tuple[str, ...]:
    """The first model in full, of the others what differs from it; and what each is applied to."""
    first = statement.calls[0].model if statement.calls else None
    lines = []
    for number, call in enumerate(statement.calls):
        file = statement.record["calls"][number]["model"]
        known = first if number and type(first) is type(call.model) else None
        lines.append(f"models/{file}: {_parameters(call.model, known)}; {_operands(call, statement, names)}")
    return tuple(lines)


def _operands(call: Call, statement: Statement, names: _Names) -> str:
    """What a model is applied to: the inputs in their order, or word by word."""
    words = call.operands.flat()
    if words == tuple(var(name, fmt.width) for name, fmt in statement.formats.items()):
        return "of the inputs"
    inputs = {var(name, fmt.width): fmt for name, fmt in statement.formats.items()}
    said = []
    for (name, wide), word in zip(call.model.input_formats.items(), words, strict=True):
        narrower = ((x, fmt) for x, fmt in inputs.items() if word is not x and wide.holds(fmt))
        converted = [x for x, fmt in narrower if ieee.widen(x, fmt, wide) is word]
        said.append(f"{name} = {f'{converted[0].data} in {wide.name}' if converted else names.of(word)}")
    return f"of {', '.join(said)}"


def _parameters(model: Model, known: Model | None) -> str:
    values = {one.name: getattr(model, one.name) for one in fields(model)}
    if known is not None:
        values = {name: value for name, value in values.items() if getattr(known, name) != value}
    text = ", ".join(f"{name} = {_parameter(value)}" for name, value in values.items())
    if known is not None:
        return f"as model 1, but {text}" if text else "as model 1"
    return f"{model.kind}: {text}"


def _parameter(value: object) -> str:
    """A parameter's value; a whole circuit stands in the model's file."""
    if isinstance(value, str) and "\n" in value:
        return f"a text of {counted(len(value.splitlines()), 'line')}"
    return str(getattr(value, "name", value))


class _Names:
    """What terms are called: stages by their models and names, small terms as SMT-LIB has them."""

    def __init__(self, statement: Statement) -> None:
        self.names: dict[Term, str] = {}
        self._inputs = {var(name, fmt.width) for name, fmt in statement.formats.items()}
        for number, call in enumerate(statement.calls, 1):
            for stage in call.model.apply(call.operands).stages:
                if stage.term.value is None and stage.term not in self._inputs:
                    self.names.setdefault(stage.term, f"model {number}'s '{stage.name}'")

    def of(self, term: Term) -> str:
        """The term's name, or what it is."""
        if term in self.names:
            return self.names[term]
        if term.op == "var":
            return str(term.data)
        if term.op == "const":
            return f"{term.data:#x}"
        if len(operands_first([term], self.names)) > _LONGEST:
            return "a truth value" if term.width == 1 else f"a word of {term.width} bits"
        data = f" {' '.join(map(str, term.data))}" if isinstance(term.data, tuple) else ""
        return f"({term.op}{data} {' '.join(map(self.of, term.args))})"


def _steps(proof: Proof, names: _Names, indent: str) -> Iterator[str]:
    deeper = f"{indent}  "
    for step in proof:
        match step:
            case Fact():
                yield f"{indent}fact: {names.of(step.says)}"
                yield from _steps(step.proof, names, deeper)
            case Equal():
                yield f"{indent}{names.of(step.node)} is {names.of(step.to)}"
                yield from _steps(step.proof, names, deeper)
            case Close():
                free = f", with {counted(len(step.free), 'node')} free" if step.free else ""
                used = f", using {counted(len(step.using), 'fact')}" if step.using else ""
                yield f"{indent}refuted{used}{free}"
            case Cases():
                for number, (case, part) in enumerate(step.cases, 1):
                    yield f"{indent}case {number}: {names.of(case)}"
                    yield from _steps(part, names, deeper)
                yield f"{indent}none of these cases:"
                yield from _steps(step.rest, names, deeper)
