"""A certificate's statement as a book of ACL2: what it says, and its proof.

A statement may be about a unit applied to its inputs in another order. That the bits of a sum of many words
do not depend on their order is too hard for a SAT solver, and simple arithmetic. So the stages are compared:
a stage of other lanes is the same stage of these, and a stage of all lanes has the same value in any order of
its arguments, which is proved of words that are free: of sums and maxima by the laws of + and max, of the
others as clauses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tcsmt.interop.exports.acl2.derivation import BookEvent, Derivation, proved, simulated
from tcsmt.interop.exports.acl2.units import StageCall, UnitBook, unit_book
from tcsmt.language.terms import TRUE, Term, all_of, expand, operands_first
from tcsmt.language.write.acl2 import defined
from tcsmt.matrix_units.models import Trace
from tcsmt.prove.certificates.derivation import Proof
from tcsmt.prove.certificates.stated import stated
from tcsmt.prove.certificates.statement import Statement, input_words
from tcsmt.prove.certificates.theorems import TheoremStatement
from tcsmt.prove.engine.inhabitants import inhabitant
from tcsmt.support.escaping import comment
from tcsmt.support.text import quotation

_LAWS = (
    "commutativity-of-+",
    "plus-commutes-2",
    "max-commutes",
    "max-commutes-2",
    "natural-max",
    "natural-when-word",
)


@dataclass(frozen=True)
class _Symmetry:
    """A stage, and its arguments in the other order."""

    name: str
    call: StageCall
    other: tuple[str, ...]


def any_order(unit: UnitBook, order: Mapping[str, str], widths: Mapping[str, int]) -> list[BookEvent] | None:
    """Return the events that end in ``any-order``: the unit's word is the same. None: that is not so by its
    stages.

    order: the input that stands for each input of the unit. widths: of the inputs.
    """
    symmetries = _symmetries(unit, order)
    if symmetries is None:
        return None
    sizes = dict(widths) | {call.label: call.width for call in unit.calls}
    events = [_words(unit, symmetries, widths)]
    value = {name: name for name in widths}
    for call in unit.calls:
        value[call.label] = f"({' '.join([call.function, *(value[arg] for arg in call.args)])})"
    uses = ["stages-are-words"]
    for symmetry in symmetries:
        events.append(_stage(symmetry, sizes))
        instance = " ".join(f"({arg} {value[arg]})" for arg in symmetry.call.args if arg not in widths)
        uses.append(f"(:instance {symmetry.name} {instance})" if instance else symmetry.name)
    words = " ".join(widths)
    other = " ".join(order[name] for name in widths)
    same = f"(equal ({unit.function} {words}) ({unit.function} {other}))"
    events.append(proved("any-order", [f"(words-p {words})"], same, ["words-p", unit.function], uses))
    return events


def _symmetries(unit: UnitBook, order: Mapping[str, str]) -> list[_Symmetry] | None:
    """Return the stages that must not depend on the order of their arguments."""
    label_of = {(call.function, call.args): call.label for call in unit.calls}
    image, symmetries = dict(order), []
    for call in unit.calls:
        other = tuple(image[arg] for arg in call.args)
        label = label_of.get((call.function, other))
        if label is None:
            if sorted(other) != sorted(call.args):
                return None
            label = call.label
            symmetries.append(_Symmetry(f"any-order-of-{label}", call, other))
        image[call.label] = label
    return symmetries if image[unit.calls[-1].label] == unit.calls[-1].label else None


def _words(unit: UnitBook, symmetries: Sequence[_Symmetry], widths: Mapping[str, int]) -> BookEvent:
    """Return how many bits the arguments have."""
    needed = dict.fromkeys(arg for symmetry in symmetries for arg in symmetry.call.args)
    sizes = [f"(unsigned-byte-p {c.width} {c.label})" for c in unit.calls if c.label in needed]
    lines = " ".join(f"({c.label} ({' '.join([c.function, *c.args])}))" for c in unit.calls)
    return BookEvent(
        simulated("stages-are-words", widths, f"(let* ({lines}) (and {' '.join(sizes)}))"), "stages-are-words"
    )


def _stage(symmetry: _Symmetry, sizes: Mapping[str, int]) -> BookEvent:
    call = symmetry.call
    first, second = (f"({' '.join([call.function, *args])})" for args in (call.args, symmetry.other))
    says = f"(equal {first} {second})"
    widths = {arg: sizes[arg] for arg in call.args}
    if not call.sums:
        return BookEvent(simulated(symmetry.name, widths, says), symmetry.name)
    words = [f"(unsigned-byte-p {width} {arg})" for arg, width in widths.items()]
    return proved(symmetry.name, words, says, [call.function, *_LAWS])


@dataclass(frozen=True)
class StatementBook:
    """A statement's book. name: of its file and of its refutations' folder. units: the books that it needs.

    statement: what it says. events: in order. theorem: the name of the last. values: an inhabitant of the
    domain.
    """

    name: str
    title: str
    statement: Statement | TheoremStatement
    units: tuple[UnitBook, ...]
    events: tuple[BookEvent, ...]
    theorem: str
    head: tuple[str, ...]
    values: Mapping[str, int] | None

    @property
    def text(self) -> str:
        """Return what the file holds."""
        head = [f"; {_plain(comment(line))}".rstrip() for line in self.head]
        books = [f'(include-book "../units/{unit.name}")' for unit in self.units]
        lines = [*head, "", '(in-package "ACL2")', *books]
        if not books:
            lines.append('(include-book "../theorems" :ttags ((:fast-cons-memo) (:aig-vars)))')
        return "\n".join([*lines, "", "\n\n".join(e.in_book(self.name) for e in self.events), ""])

    @property
    def lemmas(self) -> list[BookEvent]:
        """Return the theorems with clauses."""
        return [event for event in self.events if event.lemma]


def statement_book(path: Path, statement: Statement, proof: Proof) -> StatementBook:
    """Return the book of a statement of a certificate. path: of its file."""
    derivation = Derivation(statement.goal, statement.widths, proof)
    files = [call["model"] for call in statement.record["calls"]]
    books = {file: unit_book(call.model, file) for file, call in zip(files, statement.calls, strict=True)}
    writer = _Sides(statement, derivation, [books[file] for file in files])
    values: Mapping[str, int] | None = None
    if "goal" in statement.record:
        events, theorem = writer.impossible(), "no-such-input"
    else:
        events, theorem = writer.same(), "same-word"
        values = inhabitant(statement).values
        if values is not None:
            words = " ".join(map(str, values.values()))
            text = f"(defthm inhabited\n  (in-domain {words})\n  :rule-classes nil)"
            events.insert(-1, BookEvent(text))
    about = stated(statement)
    head = (
        f"{quotation(statement.title)}, in its author's words",
        "",
        *about.lines(),
        "",
        "Written by tcsmt from a certificate.",
    )
    return StatementBook(
        path.stem,
        statement.title,
        statement,
        tuple(books.values()),
        (*derivation.events, *events),
        theorem,
        head,
        values,
    )


@dataclass
class _Sides:
    """The statement's claims about its units, in ACL2."""

    statement: Statement
    derivation: Derivation
    units: list[UnitBook]

    def __post_init__(self) -> None:
        statement = self.statement
        outputs = expand([call.output for call in statement.calls])
        self.outputs = outputs
        self.functions = [unit.function for unit in self.units]
        self.operands = [expand(call.operands.flat()) for call in statement.calls]
        self.formals = list(self.derivation.inputs.values())

    @property
    def domain(self) -> Term:
        """Return where the inputs are."""
        statement = self.statement
        assert statement.domain is not None
        where = statement.domain.holds(statement.formats, Trace(input_words(statement.formats), (), TRUE, ()))
        return all_of([where, *statement.also])

    def same(self) -> list[BookEvent]:
        derivation, args = self.derivation, self.derivation.args
        bindings, (holds,) = derivation.write.bindings(expand([self.domain]), {})
        events = [BookEvent(defined("in-domain", self.formals, bindings, f"(equal {holds} 1)"))]
        sides = []
        for place, number in enumerate(self.statement.record["differ"], 1):
            lines, call = self._call(number)
            if lines:
                events.append(BookEvent(defined(f"side-{place}", self.formals, lines, call)))
                call = f"(side-{place} {args})"
            sides.append(call)
        claim = f"(equal {' '.join(sides)})"
        where = f"(in-domain {args})"
        reordered = self._reordered()
        if reordered:
            return [
                *events,
                *reordered,
                self._theorem("same-word", where, claim, ["any-order"]),
            ]
        return events + self._conclusion("same-word", where, claim)

    def impossible(self) -> list[BookEvent]:
        derivation, args = self.derivation, self.derivation.args
        bindings, (holds,) = derivation.write.bindings(expand([self.statement.goal]), {})
        event = BookEvent(defined("claim", self.formals, bindings, f"(equal {holds} 1)"))
        return [event, *self._conclusion("no-such-input", "t", f"(not (claim {args}))")]

    def _conclusion(self, name: str, where: str, claim: str) -> list[BookEvent]:
        derivation = self.derivation
        widths = {derivation.inputs[n]: width for n, width in self.statement.widths.items()}
        goal = derivation.holds(self.statement.goal)
        says = f"(implies (and {where} (not {claim}))\n    {goal})"
        theorem = self._theorem(name, where, claim, ["reading", "refuted"])
        return [BookEvent(simulated("reading", widths, says), "reading"), theorem]

    def _theorem(self, name: str, where: str, claim: str, uses: Sequence[str]) -> BookEvent:
        return proved(name, [f"(words-p {self.derivation.args})", where], claim, ["words-p"], uses)

    def _reordered(self) -> list[BookEvent] | None:
        """Return the proof where both sides are one unit, and the second has the inputs in another order."""
        first, second = self.statement.record["differ"]
        if self.statement.goal.value != 0 or self.functions[first] != self.functions[second]:
            return None
        if any(operand.op != "var" for operand in self.operands[first] + self.operands[second]):
            return None
        names = [self.derivation.inputs[str(operand.data)] for operand in self.operands[first]]
        others = [self.derivation.inputs[str(operand.data)] for operand in self.operands[second]]
        if names != self.formals or sorted(others) != sorted(names) or others == names:
            return None
        widths = {self.derivation.inputs[name]: width for name, width in self.statement.widths.items()}
        return any_order(self.units[first], dict(zip(names, others, strict=True)), widths)

    def _call(self, number: int) -> tuple[list[tuple[str, str]], str]:
        """Return what must be bound before a call, and the call."""
        names: dict[Term, str] = {}
        lines: list[tuple[str, str]] = []
        for earlier in range(number):
            names.setdefault(self.outputs[earlier], f"call-{earlier}")
        below = operands_first(self.operands[number], names)
        needed = {arg for node in below for arg in node.args} | set(self.operands[number])
        for earlier in range(number):
            if self.outputs[earlier] in needed and names[self.outputs[earlier]] == f"call-{earlier}":
                inner, call = self._call(earlier)
                lines += [line for line in [*inner, (f"call-{earlier}", call)] if line not in lines]
        bindings, args = self.derivation.write.bindings(self.operands[number], names)
        mark = {f"w-{i}": f"w-{number}-{i}" for i in range(len(bindings))}
        lines += [(mark[name], _renamed(text, mark)) for name, text in bindings]
        return lines, f"({' '.join([self.functions[number], *(mark.get(arg, arg) for arg in args)])})"


def _renamed(text: str, names: Mapping[str, str]) -> str:
    words = text.replace("(", "( ").replace(")", " )").split(" ")
    return " ".join(names.get(word, word) for word in words).replace("( ", "(").replace(" )", ")")


def _plain(text: str) -> str:
    """Return the text in ASCII, as every ACL2 reads it."""
    return text.encode("ascii", "backslashreplace").decode()
