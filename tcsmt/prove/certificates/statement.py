"""The statement of a certificate: no input satisfies a truth value about the outputs of models.

As JSON it has what a reader needs to build that truth value again, by the code that builds it everywhere:

    title     what its author calls it: nothing that is checked
    inputs    the format of each input word, by its name; of a plain word, how many bits it has
    calls     models applied to terms, one after the other; an output may be the c of a later call
    terms     the table of the terms that the others name by their places
    domain    the inputs that count (:class:`.Domain`), with the terms ``also``, and ``differ``: the two calls
              whose outputs are said to be equal there
    goal      or else: the truth value, as a term

No other keys are read; ``programs`` names texts, on which nothing here rests. A statement brings no formats:
an input's is that in which a model takes the word, so that the domain is about what models compute with.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from tcsmt.language.terms import TRUE, Term, all_of, var, variables
from tcsmt.matrix_units.arithmetic.formats import AnyFormat
from tcsmt.matrix_units.models import Model, Operands, Trace
from tcsmt.matrix_units.models.base import Call, Terms, role_of, word_names
from tcsmt.prove.certificates.encoding import TermReader
from tcsmt.prove.certificates.parts import with_keys
from tcsmt.prove.statements.domain import Domain
from tcsmt.support.errors import Malformed, TcsmtError, TooLarge


@dataclass(frozen=True)
class Statement:
    """A statement that no input satisfies the goal.

    formats: of the inputs that are not plain words, by their names; widths: of all inputs. domain: of the
    inputs, where the goal is that two outputs differ; also: what holds there, too. record: what it was read
    from.
    """

    title: str
    goal: Term
    formats: Mapping[str, AnyFormat]
    widths: Mapping[str, int]
    calls: tuple[Call, ...]
    domain: Domain | None
    also: tuple[Term, ...]
    record: Mapping[str, Any]


def read_statement(record: Mapping[str, Any], model_named: Callable[[str], Model]) -> Statement:
    """Build the goal again; ``model_named``: the model in a file. Raises :class:`.Malformed`."""
    about = ("goal",) if "goal" in record else ("domain", "also", "differ")
    with_keys("the statement", record, ("title", "inputs", "calls", "terms", *about), ("programs",))
    try:
        title, inputs = record["title"], record["inputs"]
        if not isinstance(title, str) or not title.isprintable():
            raise Malformed("the title of the statement is not a line of text")
        terms = TermReader()
        calls = [_call(entry, terms, model_named) for entry in record["calls"]]
        terms.read(record["terms"])
        plain = {_input(name): width for name, width in inputs.items() if type(width) is int}
        formats = {_input(n): _format(n, fmt, calls) for n, fmt in inputs.items() if n not in plain}
        domain, also = None, []
        if "goal" in record:
            goal = terms[record["goal"]]
            if goal.width != 1:
                raise Malformed(f"the goal is a word of {goal.width} bits where a truth value belongs")
        else:
            domain, also = domain_of(record["domain"]), terms.all(record["also"])
            if any(term.width != 1 for term in also):
                raise Malformed("a word where a truth value belongs")
            left, right = (_numbered(calls, number).output for number in record["differ"])
            where = domain.holds(formats, Trace(input_words(formats), (), TRUE, ()))
            goal = all_of([where, *also]) & left.ne(right)
        widths = plain | {name: fmt.width for name, fmt in formats.items()}
        _check_inputs(goal, widths, plain)
        return Statement(title, goal, formats, widths, tuple(calls), domain, tuple(also), record)
    except (Malformed, TooLarge):
        raise
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, TcsmtError) as error:
        raise Malformed(f"the statement cannot be read: {type(error).__name__}: {error}") from None


def _call(entry: Mapping[str, Any], terms: TermReader, model_named: Callable[[str], Model]) -> Call:
    """Return a model applied to terms. Its output is built here, by the model's own code; a file has none."""
    with_keys("a call", entry, ("model", "terms", "a", "b", "c"), ("scale_a", "scale_b"))
    terms.read(entry["terms"])
    words: dict[str, Any] = {
        name: terms[part] if name == "c" else tuple(terms.all(part))
        for name, part in entry.items()
        if name not in ("model", "terms")
    }
    (call,) = model_named(entry["model"]).apply(Operands(**words)).calls
    _check_widths(call)
    terms.outputs.append(call.output)
    return call


def _check_inputs(goal: Term, widths: Mapping[str, int], plain: Iterable[str]) -> None:
    """Check that the inputs are those of the goal, and each has there the width that the statement shows."""
    used = {str(variable.data): variable.width for variable in variables([goal])}
    for name in [*plain, *used]:
        if used.get(name) != widths.get(name):
            raise Malformed(f"{name} is not an input of the statement")


def _input(name: str) -> str:
    """Return the name of an input, which looks like nothing else where it is shown."""
    if not re.fullmatch(r"[A-Za-z]\w*(\[\d+\])?", name, re.ASCII):
        raise Malformed(f"{name!r:.80} is not the name of an input: a letter, then letters, digits and _")
    return name


def _format(name: str, stated: object, calls: Iterable[Call]) -> AnyFormat:
    """Return the format of an input: that in which a model takes the word as it is.

    A format of the file's own could make the domain about other numbers than the models compute with.
    """
    taken: dict[AnyFormat, None] = {}
    for call in calls:
        for fmt, word in zip(call.model.input_formats.values(), call.operands.flat(), strict=True):
            if word is var(name, fmt.width):
                taken[fmt] = None
    matches = [fmt for fmt in taken if fmt.name == stated]
    if len(matches) != 1:
        names = ", ".join(fmt.name for fmt in taken) or "none"
        raise Malformed(
            f"{name} is declared as {stated!r:.80}; formats in which models read it: {names:.200}"
        )
    return matches[0]


def _check_widths(call: Call) -> None:
    for (name, fmt), word in zip(call.model.input_formats.items(), call.operands.flat(), strict=True):
        if word.width != fmt.width:
            raise Malformed(f"{name} of a call has {word.width} bits: {fmt.name} has {fmt.width}")


def _numbered(calls: Sequence[Call], number: object) -> Call:
    if type(number) is not int or not 0 <= number < len(calls):
        raise Malformed(f"there is no call {number!r:.80} in the statement")
    return calls[number]


def input_words(formats: Mapping[str, AnyFormat]) -> Terms:
    """Return the inputs by their names, which are those of a model and in their order: domains go by both."""
    operands = [role_of(name).operand for name in formats]
    lanes, scales = operands.count("a"), operands.count("scale_a")
    counts = {"a": lanes, "b": lanes, "c": None} | ({"scale_a": scales, "scale_b": scales} if scales else {})
    names = [name for operand, count in counts.items() for name in word_names(operand, count)]
    if list(formats) != names:
        raise Malformed(f"the inputs are {', '.join(formats):.200}, and not {', '.join(names):.200}")
    return Operands.split([var(name, fmt.width) for name, fmt in formats.items()], counts)


def domain_of(record: Mapping[str, Any]) -> Domain:
    """Return a domain from plain data, whose types it does not look at itself. Raises :class:`.Malformed`."""
    with_keys("the domain", record, [field.name for field in fields(Domain)])
    for field in fields(Domain):
        value = record[field.name]
        pair = isinstance(value, list) and len(value) == 2 and all(type(bound) is int for bound in value)
        if not (isinstance(value, bool) if isinstance(field.default, bool) else value is None or pair):
            raise Malformed(f"the domain has {field.name} = {value!r:.80}")
    values: dict[str, Any] = {n: tuple(v) if isinstance(v, list) else v for n, v in record.items()}
    return Domain(**values)
