"""All that a statement of a certificate says, in words: what is checked, and no more.

Its author chose the title, and nothing that is checked depends on it. All else is made here from the objects
that the checker works with: assumptions, inputs, formats, models, and what is odd about the domain.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from itertools import groupby
from random import Random
from typing import Any

from tcsmt.language.run.exact import evaluate
from tcsmt.language.terms import Term, operands_first, var
from tcsmt.matrix_units.arithmetic import ieee
from tcsmt.matrix_units.arithmetic.any_format import AnyFormat
from tcsmt.matrix_units.arithmetic.format_texts import is_known, table_of_format
from tcsmt.matrix_units.models import Model
from tcsmt.matrix_units.models.base import Call
from tcsmt.prove.certificates.derivation import conjuncts
from tcsmt.prove.certificates.statement import Statement
from tcsmt.prove.certificates.theorems import Theorem, TheoremStatement
from tcsmt.support.text import counted, one_line, ranges

__all__ = ["Names", "Stated", "of_models", "of_theorem", "sentence", "stated"]

#: A term of more nodes is cut into several, each with a number.
_LONGEST = 12
#: Inputs among which one is looked for that satisfies the assumptions.
_TRIED = 400


@dataclass(frozen=True)
class Stated:
    """What a statement says.

    says: the sentence; where: what the numbers in it (``#1``) stand for. notes: what is odd about the domain.
    inputs: their formats, by their names. formats: those of the models' own. models: all parameters of each,
    and what it is applied to.
    """

    says: str
    inputs: str
    where: tuple[str, ...]
    formats: tuple[str, ...]
    notes: tuple[str, ...]
    models: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """As plain data."""
        return {name: list(v) if isinstance(v, tuple) else v for name, v in asdict(self).items()}

    def lines(self) -> list[str]:
        """For people: no text that the author wrote looks like a line of ours."""
        lines = [f"statement: {self.says}", *(f"  {text}" for text in self.where)]
        lines += [f"NOTE: {text}" for text in self.notes]
        lines += [f"inputs: {self.inputs}", *(f"format {text}" for text in self.formats)]
        lines += [f"model {number}: {text}" for number, text in enumerate(self.models, 1)]
        return [one_line(line) for line in lines]


def stated(about: Statement | TheoremStatement) -> Stated:
    """What a statement says; made from the objects that are checked."""
    return of_theorem(about) if isinstance(about, TheoremStatement) else of_models(about, Names(about))


def of_theorem(about: TheoremStatement) -> Stated:
    """Of a statement whose argument is code."""
    models, files = (_models_of(about.theorem, values) for values in (about.values, about.record))
    texts = [f"models/{file}: {_parameters(model, None)}" for file, model in zip(files, models, strict=True)]
    says = sentence(about.theorem, about.values)
    return Stated(says, about.theorem.inputs, (), tuple(_formats(models)), (), tuple(texts))


def _models_of(theorem: Theorem, values: Mapping[str, Any]) -> list[Any]:
    """The models, or in a record their files' names, in the order in which the statement names them."""
    named = [values[key] for key, kind in theorem.values.items() if kind in ("model", "models")]
    return [name for files in named for name in (files if isinstance(files, list) else [files])]


def sentence(theorem: Theorem, values: Mapping[str, Any]) -> str:
    """What a statement of a kind with these values says."""
    shown = {
        key: f"{values[key]} (about {float(values[key]):.6g})" if kind == "fraction" else values[key]
        for key, kind in theorem.values.items()
    }
    return theorem.says.format(**shown)


def of_models(statement: Statement, names: Names) -> Stated:
    """Of a statement about models."""
    says, models = _says(statement, names), _models(statement, names)
    formats = _formats([call.model for call in statement.calls])
    where, notes = tuple(names.where), tuple(_notes(statement))
    return Stated(says, _inputs(statement), where, tuple(formats), notes, models)


def _says(statement: Statement, names: Names) -> str:
    if statement.domain is None:
        return f"no input satisfies {names.whole(statement.goal)}"
    also = "".join(f", and {names.whole(term)} holds" for term in statement.also)
    first, second = statement.record["differ"]
    read = dict.fromkeys(statement.calls[number].model.d_format.name for number in (first, second))
    same = f"models {first + 1} and {second + 1} give the same word, read in {' and in '.join(read)}"
    return f"on inputs that are {statement.domain}{also}, {same}"


def _notes(statement: Statement) -> Iterator[str]:
    """What is odd about the inputs of which something is said: there are none, or hardly any."""
    domain = statement.domain
    if domain is None:
        if statement.goal.value == 0:
            yield "this is false whatever the models are"
        return
    kinds = {name: domain.samples(name, fmt) for name, fmt in statement.formats.items()}
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
    if statement.also and not _satisfied(statement.also, kinds):
        yield f"of {_TRIED} inputs that were tried, none satisfies the assumptions: perhaps none does"


def _zeros_alone(fmt: AnyFormat, words: Iterable[int]) -> bool:
    return not any(fmt.is_nan(word) or fmt.is_infinite(word) or fmt.value(word) for word in words)


def _satisfied(also: Sequence[Term], kinds: Mapping[str, Sequence[int]]) -> bool:
    """Whether some input is found that satisfies the assumptions; a part "input = constant" says which."""
    constants = {}
    for term in conjuncts(also):
        if term.op == "eq":
            sides = sorted(term.args, key=lambda arg: arg.op)
            if [arg.op for arg in sides] == ["const", "var"]:
                constants[str(sides[1].data)] = sides[0].value or 0
    rng = Random(1)
    return any(
        all(evaluate(also, {name: rng.choice(words) for name, words in kinds.items()} | constants))
        for _ in range(_TRIED)
    )


def _inputs(statement: Statement) -> str:
    """Those of one format after another are said together."""
    groups = groupby(statement.record["inputs"].items(), lambda item: item[1])
    kinds = ((f"{kind} bits" if isinstance(kind, int) else kind, group) for kind, group in groups)
    return "; ".join(f"{', '.join(name for name, _ in group)}: {kind}" for kind, group in kinds)


def _formats(models: Iterable[Model]) -> Iterator[str]:
    """The formats whose names do not say what they are."""
    own: dict[AnyFormat, None] = {}
    for model in models:
        values = [getattr(model.parameters, parameter.name) for parameter in fields(model.table())]
        own |= dict.fromkeys(v for v in values if isinstance(v, AnyFormat) and not is_known(v))
    for fmt in own:
        yield f"{fmt.name}: {', '.join(f'{key} = {value}' for key, value in table_of_format(fmt).items())}"


def _models(statement: Statement, names: Names) -> tuple[str, ...]:
    """The first model in full, of the others what differs from it; and what each is applied to."""
    first = statement.calls[0].model if statement.calls else None
    lines = []
    for number, call in enumerate(statement.calls):
        file = statement.record["calls"][number]["model"]
        reference = first if number and type(first) is type(call.model) else None
        lines.append(
            f"models/{file}: {_parameters(call.model, reference)}; {_operands(call, statement, names)}"
        )
    return tuple(lines)


def _operands(call: Call, statement: Statement, names: Names) -> str:
    """What a model is applied to: the inputs in their order, or word by word."""
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


def _parameters(model: Model, reference: Model | None) -> str:
    values = {
        parameter.name: getattr(model.parameters, parameter.name) for parameter in fields(model.table())
    }
    if reference is not None:
        values = {
            name: value for name, value in values.items() if getattr(reference.parameters, name) != value
        }
    text = ", ".join(f"{name} = {_parameter(value)}" for name, value in values.items())
    if reference is not None:
        return f"as model 1, but {text}" if text else "as model 1"
    return f"{model.kind}: {text}"


def _parameter(value: object) -> str:
    """A parameter's value; a whole circuit stands in the model's file."""
    if isinstance(value, str) and "\n" in value:
        return f"a text of {counted(len(value.splitlines()), 'line')}"
    return str(getattr(value, "name", value))


class Names:
    """What terms are called: stages by their models and names, others as SMT-LIB has them.

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
        """The term's name, or what it is if it is small."""
        if len(operands_first([term], self.names)) > _LONGEST:
            return "a truth value" if term.width == 1 else f"a word of {term.width} bits"
        return self.whole(term)

    def whole(self, term: Term) -> str:
        """All that the term is: parts of it are numbers, which :attr:`where` explains."""
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
    """A node nearly as SMT-LIB has it; where widths count that nothing else says, they are there."""
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
