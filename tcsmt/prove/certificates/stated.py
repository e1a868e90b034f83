"""All that a statement of a certificate says, in words: what is checked, and no more.

Its author chose the title, and nothing that is checked depends on it. All else is made here from the objects
that the checker works with: assumptions, inputs, formats, models, and what is odd about the domain.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import groupby
from typing import Any

from tcsmt.language.terms import Term, operands_first, var
from tcsmt.matrix_units.arithmetic import ieee
from tcsmt.matrix_units.arithmetic.formats import AnyFormat
from tcsmt.matrix_units.models import Model
from tcsmt.matrix_units.models.base import Call
from tcsmt.matrix_units.models.file_texts import is_known, table_of_format
from tcsmt.prove.certificates.statement import Statement
from tcsmt.prove.certificates.theorems import Theorem, TheoremStatement
from tcsmt.prove.statements.domain_words import samples
from tcsmt.support.results import columns
from tcsmt.support.text import agreeing, counted, one_line, ranges

#: Values of a parameter that a model does not use.
_UNUSED = {"None", "False", "-"}
#: A term of more nodes is cut into several, each with a number.
_LONGEST = 12


@dataclass(frozen=True)
class ModelStated:
    """A model of a statement. file: its file's name; numbers: which models of the statement it is, from 1.

    parameters: every value, the kind first, as text.
    """

    file: str
    numbers: tuple[int, ...]
    model: Model

    @property
    def parameters(self) -> dict[str, str]:
        """Return every parameter's value as text, by its name; the kind first."""
        return {"kind": self.model.kind} | {
            name: _parameter(value) for name, value in _values(self.model).items()
        }

    @property
    def called(self) -> str:
        """Return which models of the statement it is."""
        texts = ranges(f"m{number}" for number in self.numbers)
        listed = ", ".join(text.replace("m", "") for text in texts)
        return f"{agreeing(len(self.numbers), 'model')} {listed}"

    def as_json(self) -> dict[str, Any]:
        """Return the model as plain data."""
        return {"file": self.file, "models": list(self.numbers), "values": self.parameters}


@dataclass(frozen=True)
class Stated:
    """The content of a statement, in words.

    says: the sentence; where: what the numbers in it (``#1``) stand for. notes: what is odd about the domain.
    inputs: their formats, by their names. formats: those of the models' own. models: all parameters of each,
    and what it is applied to. calls: the same without the parameters. different: the models, each once.
    """

    says: str
    inputs: str
    where: tuple[str, ...]
    formats: tuple[str, ...]
    notes: tuple[str, ...]
    models: tuple[str, ...]
    calls: tuple[str, ...]
    different: tuple[ModelStated, ...]

    def as_json(self) -> dict[str, Any]:
        """Return the statement as plain data."""
        texts = ("says", "inputs", "where", "formats", "notes", "models", "calls")
        data = {name: getattr(self, name) for name in texts}
        plain = {name: list(v) if isinstance(v, tuple) else v for name, v in data.items()}
        return plain | {"parameters": [model.as_json() for model in self.different]}

    def lines(self) -> list[str]:
        """Return the lines for people: no text that the author wrote looks like a line of ours."""
        lines = [f"statement: {self.says}", *(f"  {text}" for text in self.where)]
        lines += [f"NOTE: {text}" for text in self.notes]
        lines += [f"inputs: {self.inputs}", *(f"format {text}" for text in self.formats)]
        lines += [f"model {number}: {text}" for number, text in enumerate(self.calls, 1)]
        return [one_line(line) for line in lines]

    def table(self) -> list[str]:
        """Return the models' parameters beside each other, for people; those in which models differ are
        marked, and those that are None or False in all are left out.
        """
        if not self.different:
            return []
        values = [model.parameters for model in self.different]
        rows = [["parameters", *(model.called for model in self.different)]]
        names = list(dict.fromkeys(name for column in values for name in column))
        for name in names:
            row = [one_line(column.get(name, "-")) for column in values]
            if not set(row) <= _UNUSED:
                rows.append([f"  {name}", *row, *(["differs"] if len(set(row)) > 1 else [])])
        left_out = ["  all others: None or False"] if len(rows) <= len(names) else []
        return [*columns(rows), *left_out]


def stated(about: Statement | TheoremStatement) -> Stated:
    """Return what a statement says; made from the objects that are checked."""
    return of_theorem(about) if isinstance(about, TheoremStatement) else of_models(about, Names(about))


def of_theorem(about: TheoremStatement) -> Stated:
    """Return what a statement says whose argument is code."""
    models, files = (_models_of(about.theorem, values) for values in (about.values, about.record))
    named = list(zip(files, models, strict=True))
    texts = tuple(f"models/{file}: {_in_full(model)}" for file, model in named)
    calls = tuple(f"models/{file}: {model.kind}" for file, model in named)
    says = sentence(about.theorem, about.values)
    formats = tuple(_formats(models))
    return Stated(says, about.theorem.inputs, (), formats, (), texts, calls, _different(named))


def _models_of(theorem: Theorem, values: Mapping[str, Any]) -> list[Any]:
    """Return the models, or in a record their files' names, in the order in which the statement names
    them.
    """
    named = [values[key] for key, kind in theorem.values.items() if kind in ("model", "models")]
    return [name for files in named for name in (files if isinstance(files, list) else [files])]


def sentence(theorem: Theorem, values: Mapping[str, Any]) -> str:
    """Return what a statement of a kind with these values says."""
    shown = {
        key: f"{values[key]} (about {float(values[key]):.6g})" if kind == "fraction" else values[key]
        for key, kind in theorem.values.items()
    }
    return theorem.says.format(**shown)


def of_models(statement: Statement, names: Names) -> Stated:
    """Return what a statement about models says."""
    says, texts = _says(statement, names), _models(statement, names)
    named = [(file, call.model) for file, call in zip(_files(statement), statement.calls, strict=True)]
    models, calls = (
        tuple(f"models/{file}: {text[place]}" for (file, _), text in zip(named, texts, strict=True))
        for place in range(2)
    )
    formats, different = _formats([model for _, model in named]), _different(named)
    where, notes = tuple(names.where), tuple(_notes(statement))
    return Stated(says, _inputs(statement), where, tuple(formats), notes, models, calls, different)


def _says(statement: Statement, names: Names) -> str:
    if statement.domain is None:
        return f"no input satisfies {names.whole(statement.goal)}"
    also = "".join(f", and {names.whole(term)} holds" for term in statement.also)
    first, second = statement.record["differ"]
    read = dict.fromkeys(statement.calls[number].model.d_format.name for number in (first, second))
    same = f"models {first + 1} and {second + 1} give the same word, read in {' and in '.join(read)}"
    return f"on inputs that are {statement.domain.in_words(statement.formats)}{also}, {same}"


def _notes(statement: Statement) -> Iterator[str]:
    """Yield what is odd about the inputs of which something is said: there are none, or hardly any."""
    domain = statement.domain
    if domain is None:
        if statement.goal.value == 0:
            yield "this is false whatever the models are"
        return
    kinds = {name: samples(domain, name, fmt) for name, fmt in statement.formats.items()}
    empty = [name for name, words in kinds.items() if not words]
    if empty:
        yield f"THE DOMAIN IS EMPTY: no word of {', '.join(ranges(empty))} lies in it"
        return
    zeros = [
        name
        for name, words in kinds.items()
        if not (name == "c" and domain.c_zero) and _zeros_alone(statement.formats[name], words)
    ]
    if zeros:
        yield f"the domain has zeros alone of {', '.join(ranges(zeros))}"


def _zeros_alone(fmt: AnyFormat, words: Iterable[int]) -> bool:
    return not any(fmt.is_nan(word) or fmt.is_infinite(word) or fmt.value(word) for word in words)


def _inputs(statement: Statement) -> str:
    """Name the inputs; those of one format after another together."""
    groups = groupby(statement.record["inputs"].items(), lambda item: item[1])
    kinds = ((f"{kind} bits" if isinstance(kind, int) else kind, group) for kind, group in groups)
    return "; ".join(f"{', '.join(name for name, _ in group)}: {kind}" for kind, group in kinds)


def _formats(models: Iterable[Model]) -> Iterator[str]:
    """Yield the formats whose names do not say what they are."""
    own_formats: dict[AnyFormat, None] = {}
    for model in models:
        values = [getattr(model.parameters, parameter.name) for parameter in fields(model.table())]
        own_formats |= dict.fromkeys(v for v in values if isinstance(v, AnyFormat) and not is_known(v))
    for fmt in own_formats:
        yield f"{fmt.name}: {', '.join(f'{key} = {value}' for key, value in table_of_format(fmt).items())}"


def _files(statement: Statement) -> list[str]:
    """Return the names of the models' files, call by call; of a statement without calls, none."""
    return [call["model"] for call in statement.record["calls"]] if statement.calls else []


def _different(named: Iterable[tuple[str, Model]]) -> tuple[ModelStated, ...]:
    """Return the models by their files, each once."""
    numbers: dict[str, list[int]] = {}
    models: dict[str, Model] = {}
    for number, (file, model) in enumerate(named, 1):
        numbers.setdefault(file, []).append(number)
        models[file] = model
    return tuple(ModelStated(file, tuple(places), models[file]) for file, places in numbers.items())


def _models(statement: Statement, names: Names) -> list[tuple[str, str]]:
    """Return for each call the first model in full, of others what differs, and what it is applied to; and
    the same without the first model's parameters.
    """
    first = statement.calls[0].model if statement.calls else None
    texts = []
    for number, call in enumerate(statement.calls):
        operands = _operands(call, statement, names)
        alike = first is not None and number > 0 and type(first) is type(call.model)
        full = _differing(call.model, first) if alike and first is not None else _in_full(call.model)
        texts.append((f"{full}; {operands}", f"{full if alike else call.model.kind}; {operands}"))
    return texts


def _operands(call: Call, statement: Statement, names: Names) -> str:
    """Return what a model is applied to: the inputs in their order, or word by word."""
    words = call.operands.flat()
    inputs = {var(name, fmt.width): fmt for name, fmt in statement.formats.items()}
    if words == tuple(inputs) and [*inputs.values()] == [*call.model.input_formats.values()]:
        return "of the inputs"
    texts = []
    for (name, wide), word in zip(call.model.input_formats.items(), words, strict=True):
        narrower = ((x, fmt) for x, fmt in inputs.items() if word is not x and wide.holds(fmt))
        converted = [x for x, fmt in narrower if ieee.widen(x, fmt, wide) is word]
        text = f"{converted[0].data} in {wide.name}" if converted else names.whole(word)
        read = f" read as {wide.name}" if inputs.get(word, wide) != wide else ""
        texts.append(f"{name} = {text}{read}")
    return f"of {', '.join(texts)}"


def _values(model: Model) -> dict[str, Any]:
    return {parameter.name: getattr(model.parameters, parameter.name) for parameter in fields(model.table())}


def _in_full(model: Model) -> str:
    return f"{model.kind}: {_listed(_values(model))}"


def _differing(model: Model, reference: Model) -> str:
    """Return what differs from the first model, which is of the same kind."""
    values = _values(model)
    changed = {name: value for name, value in values.items() if getattr(reference.parameters, name) != value}
    return f"as model 1, but {_listed(changed)}" if changed else "as model 1"


def _listed(values: Mapping[str, object]) -> str:
    return ", ".join(f"{name} = {_parameter(value)}" for name, value in values.items())


def _parameter(value: object) -> str:
    """Return a parameter's value; a whole circuit stands in the model's file."""
    if isinstance(value, str) and "\n" in value:
        return f"a text of {counted(len(value.splitlines()), 'line')}"
    return str(getattr(value, "name", value))


class Names:
    """Names of terms: stages by their models and names, others as SMT-LIB has them.

    where: what the numbers stand for that large terms have.
    """

    def __init__(self, statement: Statement) -> None:
        self.names: dict[Term, str] = {}
        self.where: list[str] = []
        inputs = {var(name, width) for name, width in statement.widths.items()}
        taken: set[str] = set()
        for number, call in enumerate(statement.calls, 1):
            for stage in call.model.apply(call.operands).stages:
                name = f"model {number}'s '{stage.name}'"
                if stage.term.value is None and stage.term not in inputs and name not in taken:
                    taken.add(self.names.setdefault(stage.term, name))

    def of(self, term: Term) -> str:
        """Return the term's name, or what it is if it is small."""
        if len(operands_first([term], self.names)) > _LONGEST:
            return "a truth value" if term.width == 1 else f"a word of {term.width} bits"
        return self.whole(term)

    def whole(self, term: Term) -> str:
        """Return all that the term is: parts of it are numbers, which :attr:`where` explains."""
        order = operands_first([term], self.names)
        users = Counter(arg for node in order for arg in node.args)
        texts: dict[Term, tuple[str, int]] = {}
        for node in order:
            args = [texts.get(arg) or (self.names[arg], 1) for arg in node.args]
            text, size = _text(node, [text for text, _ in args]), 1 + sum(size for _, size in args)
            if (
                node.args
                and node is not term
                and (users[node] > 1 or size > _LONGEST)
                and len(order) > _LONGEST
            ):
                self.where.append(f"#{len(self.where) + 1} is {text}")
                text, size = f"#{len(self.where)}", 1
                self.names[node] = text
            texts[node] = text, size
        return self.names.get(term) or texts[term][0]


def _text(node: Term, args: Sequence[str]) -> str:
    """Return a node nearly as SMT-LIB has it; where widths count that nothing else says, they are there."""
    match node.op:
        case "var":
            return str(node.data)
        case "const":
            return f"{node.data:#x}"
        case "concat":
            args = [f"{text}:{arg.width}" for text, arg in zip(args, node.args, strict=True)]
        case "extract" | "macro":
            data = node.data if isinstance(node.data, tuple) else (node.data,)
            args = [*map(str, data), *args]
        case "zext" | "sext":
            args = [str(node.width), *args]
    return f"({' '.join([node.op, *args])})"
