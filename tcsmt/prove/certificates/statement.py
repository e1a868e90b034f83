"""What a certificate states: no input satisfies a truth value about the outputs of models.

As JSON it has what a reader needs to build that truth value again, by the code that builds it everywhere:

    title     what its author calls it: nothing that is checked
    inputs    the format of each input word, by its name; of a plain word, how many bits it has
    calls     models applied to terms, one after the other; an output may be the c of a later call
    terms     the table of the terms that the others name by their places
    domain    the inputs that count (:class:`.Domain`), with the terms ``also``, and ``differ``: the two calls
              whose outputs are said to be equal there
    goal      or else: the truth value, as a term

There are no other keys. A statement brings no formats: what it calls the format of an input is that in which
a model takes the word, so that the domain is about the numbers that the models compute with.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from tcsmt.language.terms import TRUE, Term, all_of, var, variables
from tcsmt.matrix_units.arithmetic.any_format import AnyFormat
from tcsmt.matrix_units.models import Model, Operands, Trace
from tcsmt.matrix_units.models.base import Call, Terms
from tcsmt.prove.certificates.derivation import Flaw
from tcsmt.prove.certificates.encoding import TermReader, with_keys
from tcsmt.prove.statements.domain import Domain
from tcsmt.support.errors import TcsmtError

__all__ = ["Statement", "domain_of", "read_statement"]


@dataclass(frozen=True)
class Statement:
    """No input satisfies the goal.

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
    """Build the goal again; ``model_named`` reads a model by its file's name. Raises :class:`.Flaw`."""
    about = ("goal",) if "goal" in record else ("domain", "also", "differ")
    with_keys("the statement", record, ("title", "inputs", "calls", "terms", *about))
    try:
        title, inputs = record["title"], record["inputs"]
        if not isinstance(title, str) or not title.isprintable():
            raise Flaw("the title of the statement is not a line of text")
        terms = TermReader()
        calls = []
        for given in record["calls"]:
            operands = ("a", "b", "c")
            with_keys("a call", given, ("model", "terms", *operands), ("scale_a", "scale_b"))
            terms.read(given["terms"])
            parts: dict[str, Any] = {
                name: terms[part] if name == "c" else tuple(terms.all(part))
                for name, part in given.items()
                if name not in ("model", "terms")
            }
            (call,) = model_named(given["model"]).apply(Operands(**parts)).calls
            _check_widths(call)
            calls.append(call)
            terms.outputs.append(call.output)
        terms.read(record["terms"])
        plain = {_input(name): fmt for name, fmt in inputs.items() if type(fmt) is int}
        formats = {_input(n): _format(n, fmt, calls) for n, fmt in inputs.items() if n not in plain}
        widths = plain | {name: fmt.width for name, fmt in formats.items()}
        domain, also = None, []
        if "goal" in record:
            goal = terms[record["goal"]]
        else:
            one, two = (_numbered(calls, number).output for number in record["differ"])
            given_words = Trace(_inputs(formats), (), TRUE, ())
            domain = domain_of(record["domain"])
            also = terms.all(record["also"])
            if any(term.width != 1 for term in also):
                raise Flaw("a word where a truth value belongs")
            where = all_of([domain.holds(formats, given_words), *also])
            goal = where & one.ne(two)
        used = {str(one.data): one.width for one in variables([goal])}
        for name, width in (plain | used).items():
            if not used.get(name) == width == widths.get(name):
                raise Flaw(f"{name} is not an input of the statement")
        return Statement(title, goal, formats, widths, tuple(calls), domain, tuple(also), record)
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, TcsmtError) as error:
        raise Flaw(f"the statement cannot be read: {type(error).__name__}: {error}") from None


def _input(name: str) -> str:
    """The name of an input, which looks like nothing else where it is shown."""
    if not re.fullmatch(r"[A-Za-z]\w*", name, re.ASCII):
        raise Flaw(f"{name!r:.80} is not the name of an input: a letter, then letters, digits and _")
    return name


def _format(name: str, said: object, calls: Iterable[Call]) -> AnyFormat:
    """The format of an input: that in which a model takes the word as it is."""
    taken: dict[AnyFormat, None] = {}
    for call in calls:
        for fmt, word in zip(call.model.input_formats.values(), call.operands.flat(), strict=True):
            if word is var(name, fmt.width):
                taken[fmt] = None
    found = [fmt for fmt in taken if fmt.name == said]
    if len(found) != 1:
        known = ", ".join(fmt.name for fmt in taken) or "none as it is"
        raise Flaw(f"{name} is said to be {said!r:.80}: the formats in which models take it are {known:.200}")
    return found[0]


def _check_widths(call: Call) -> None:
    for (name, fmt), word in zip(call.model.input_formats.items(), call.operands.flat(), strict=True):
        if word.width != fmt.width:
            raise Flaw(f"{name} of a call has {word.width} bits: {fmt.name} has {fmt.width}")


def _numbered(calls: Sequence[Call], number: object) -> Call:
    if type(number) is not int or not 0 <= number < len(calls):
        raise Flaw(f"there is no call {number!r:.80} in the statement")
    return calls[number]


def _inputs(formats: Mapping[str, AnyFormat]) -> Terms:
    """The inputs by their names, which are those of a model and in their order: domains go by both."""
    lanes, scales = (sum(name.startswith(start) for name in formats) for start in ("a", "sa"))
    rows = {"a": lanes, "b": lanes, "c": None, "sa": scales, "sb": scales}
    names: list[str] = []
    for row, count in rows.items():
        lanes_of: Iterable[object] = ("",) if count is None else range(count)
        names += [f"{row}{lane}" for lane in lanes_of]
    if list(formats) != names:
        raise Flaw(
            f"the inputs of the statement are {', '.join(formats):.200}, and not {', '.join(names):.200}"
        )
    return Operands.split([var(name, fmt.width) for name, fmt in formats.items()], lanes, scales)


def domain_of(given: Mapping[str, Any]) -> Domain:
    """A domain from plain data, whose types it does not look at itself. Raises :class:`.Flaw`."""
    for one in fields(Domain):
        value = with_keys("the domain", given, [each.name for each in fields(Domain)])[one.name]
        pair = isinstance(value, list) and len(value) == 2 and all(type(bound) is int for bound in value)
        if not (isinstance(value, bool) if isinstance(one.default, bool) else value is None or pair):
            raise Flaw(f"the domain has {one.name} = {value!r:.80}")
    values: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in given.items()
    }
    return Domain(**values)
