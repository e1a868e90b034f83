"""What a certificate states: no input satisfies a truth value about the outputs of models.

As JSON it has what a reader needs to build that truth value again, by the code that builds it everywhere:

    title     what it says, for people
    inputs    the format of each input word, by its name; of a plain word, how many bits it has
    formats   what the formats of one's own among them are, where there are any
    calls     models applied to terms, one after the other; an output may be the c of a later call
    domain    the inputs that count (:class:`.Domain`), with the terms ``also``, and ``differ``: the two calls
              whose outputs are said to be equal there
    goal      or else: the truth value, as a term
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from tcsmt.arithmetic.any_format import AnyFormat
from tcsmt.arithmetic.format_tables import format_of_table
from tcsmt.arithmetic.formats import format_named
from tcsmt.certificates.derivation import Flaw
from tcsmt.certificates.encoding import TermReader
from tcsmt.models import Model, Operands, Trace
from tcsmt.models.base import Call, Terms
from tcsmt.statements.domain import Domain
from tcsmt.support.errors import TcsmtError
from tcsmt.terms import TRUE, Term, all_of, var, variables

__all__ = ["Statement", "domain_of", "read_statement"]


@dataclass(frozen=True)
class Statement:
    """No input satisfies the goal.

    formats: of the inputs, by their names. domain: of the inputs, where the goal says that two outputs
    differ; also: what holds there, too. record: what it was read from.
    """

    title: str
    goal: Term
    formats: Mapping[str, AnyFormat]
    calls: tuple[Call, ...]
    domain: Domain | None
    also: tuple[Term, ...]
    record: Mapping[str, Any]


def read_statement(record: Mapping[str, Any], model_named: Callable[[str], Model]) -> Statement:
    """Build the goal again; ``model_named`` reads a model by its file's name. Raises :class:`.Flaw`."""
    try:
        title = record["title"]
        if not isinstance(title, str) or not title.isprintable():
            raise Flaw("the title of the statement is not a line of text")
        widths = {name: fmt for name, fmt in record["inputs"].items() if type(fmt) is int}
        own = {name: format_of_table(name, table) for name, table in record.get("formats", {}).items()}
        named = {name: fmt for name, fmt in record["inputs"].items() if name not in widths}
        formats = {name: own[fmt] if fmt in own else format_named(fmt) for name, fmt in named.items()}
        widths |= {name: fmt.width for name, fmt in formats.items()}
        terms = TermReader()
        calls = []
        for given in record["calls"]:
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
        for one in variables([goal]):
            if widths.get(str(one.data)) != one.width:
                raise Flaw(f"{one.data} is not an input of the statement")
        return Statement(title, goal, formats, tuple(calls), domain, tuple(also), record)
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, TcsmtError) as error:
        raise Flaw(f"the statement cannot be read: {type(error).__name__}: {error}") from None


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
        value = given[one.name]
        pair = isinstance(value, list) and len(value) == 2 and all(type(bound) is int for bound in value)
        if not (isinstance(value, bool) if isinstance(one.default, bool) else value is None or pair):
            raise Flaw(f"the domain has {one.name} = {value!r:.80}")
    values: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in given.items()
    }
    return Domain(**values)
