"""Terms and proofs as plain data, for JSON.

Terms stand in one table, arguments before the terms that use them, and are named by their place in it.
An entry is ``[operation, width, data, places of the arguments]``; data are a constant in hexadecimal, a
variable's name, or the bounds of an extraction. Two more operations name what a reader has already:
``output``, the result of one of the statement's calls, and ``node``, a node of its goal by its digest.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from tcsmt.language.macros import leading_zeros
from tcsmt.language.terms import MACROS, Term, const, count, operands_first, rebuild, var
from tcsmt.prove.certificates.derivation import Cases, Close, Equal, Fact, InvalidProof, Proof, Step
from tcsmt.prove.certificates.parts import as_list
from tcsmt.support.errors import Malformed, TooLarge

#: How many arguments an operation takes.
_ARITY = {
    "not": 1, "neg": 1, "extract": 1, "zext": 1, "sext": 1, "xor": 2, "sub": 2, "mul": 2, "shl": 2, "lshr": 2,
    "ashr": 2, "concat": 2, "eq": 2, "ult": 2, "slt": 2, "ite": 3,
}  # fmt: skip
#: Operations that take any number of arguments.
_ANY = frozenset({"and", "or", "add", "umax", "macro"})
#: Operations whose arguments have the width of the value.
_UNIFORM = frozenset({"not", "and", "or", "xor", "neg", "add", "sub", "mul", "shl", "lshr", "ashr", "umax"})
#: No word of a model is nearly as wide, no table has so many bits, nor a statement such models: memory ends.
_WIDEST, _MOST_BITS, _MOST_NODES = 1 << 13, 1 << 25, 1 << 22


class TermReader:
    """The terms of a table. outputs: of the statement's calls; nodes: what may be named by its digest.

    Raises :class:`.Malformed` for an entry that is not a term, :class:`.InvalidProof` for a node that is not
    there, and :class:`.TooLarge` for too many bits.
    """

    def __init__(self, outputs: Sequence[Term] = (), roots: Sequence[Term] = ()) -> None:
        self.outputs = list(outputs)
        self._nodes = {digest_text(node): node for node in operands_first(roots)}
        self._bits, self._before = 0, count()
        self._terms: list[Term] = []

    def read(self, entries: object) -> None:
        """Append these entries to the table."""
        for entry in as_list(entries):
            self._terms.append(self._term(entry))
            self._bits += self._terms[-1].width
            if self._bits > _MOST_BITS or count() - self._before > _MOST_NODES:
                raise TooLarge(f"more than {_MOST_BITS} bits of terms, or {_MOST_NODES} nodes")

    def __getitem__(self, place: object) -> Term:
        if type(place) is not int or not 0 <= place < len(self._terms):
            raise Malformed(f"there is no term {place!r} in the table")
        return self._terms[place]

    def all(self, places: object) -> list[Term]:
        """Return the terms at these places."""
        return [self[place] for place in as_list(places)]

    def _term(self, entry: object) -> Term:
        match entry:
            case ["output", int(number)] if 0 <= number < len(self.outputs):
                return self.outputs[number]
            case ["node", str(digest)] if digest in self._nodes:
                return self._nodes[digest]
            case ["node", str(digest)] if self._nodes and _DIGEST.fullmatch(digest):
                raise InvalidProof(f"the goal has no node {digest}: the proof is about something else")
            case ["const", int(width), str(value), []] if 1 <= width <= _WIDEST and _HEX.fullmatch(value):
                return const(int(value, 16), width)
            case ["var", int(width), str(name), []] if 1 <= width <= _WIDEST:
                return var(name, width)
            case [str(op), int(width), data, [_, *_] as places] if 1 <= width <= _WIDEST:
                return self._operation(op, width, data, self.all(places), entry)
        raise Malformed(f"not a term: {entry!r:.200}")

    def _operation(self, op: str, width: int, data: object, args: list[Term], entry: object) -> Term:
        """Return the operation on its arguments, through the constructors that models use, too.

        Only operations of this table: a constant with arguments would be a node that is not shared.
        """
        if op not in _ANY and len(args) != _ARITY.get(op):
            raise Malformed(f"not a term: {entry!r:.200}: no operation of {len(args)} arguments")
        widths = [arg.width for arg in args]
        if (op in _UNIFORM and set(widths) != {width}) or (op == "ite" and widths != [1, width, width]):
            raise Malformed(f"not a term: {entry!r:.200}: arguments of {widths} bits")
        node = Term()
        node.op, node.width, node.args, node.data = op, width, tuple(args), _data(op, data, entry)
        if op == "macro" and args:
            leading_zeros(args[0])  # macros of its width are known before any graph has them
        try:
            term = rebuild(node, args)
            # A macro's definition takes words of any width. On others than its models' have, its value is not
            # of the node's width: what is shown of the node, left free, need not hold of the value.
            defined = MACROS[str(data)].definition(*args).width if op == "macro" else width
        except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
            raise Malformed(f"not a term: {entry!r:.200}: {error}") from None
        if not term.width == defined == width:
            raise Malformed(f"not a term: {entry!r:.200}: its width is {term.width}, or {defined}")
        return term


def _data(op: str, data: object, entry: object) -> tuple[int, int] | str | None:
    """Return what an operation has besides its arguments."""
    match data:
        case [int(high), int(low)] if op == "extract":
            return int(high), int(low)
        case str() if op == "macro":
            return data
        case None if op not in ("extract", "macro"):
            return None
    raise Malformed(f"not a term: {entry!r:.200}: {data!r:.80} does not belong to it")


_HEX = re.compile("[0-9a-f]+")
_DIGEST = re.compile("[0-9a-f]{16}")


def digest_text(node: Term) -> str:
    """Return how a node of the goal is named."""
    return f"{node.digest & ((1 << 64) - 1):016x}"


def read_proof(steps: object, terms: TermReader) -> Proof:
    """Return the steps from plain data. Raises :class:`.Malformed` for what is none."""
    return tuple(_step(step, terms) for step in as_list(steps))


def _step(step: object, terms: TermReader) -> Step:
    match step:
        case {"fact": says, "proof": proof, **rest} if not rest:
            return Fact(terms[says], read_proof(proof, terms))
        case {"replace": node, "by": to, "proof": proof, **rest} if not rest:
            return Equal(terms[node], terms[to], read_proof(proof, terms))
        case {"using": using, "free": free, **rest} if not rest:
            return Close(tuple(terms.all(using)), tuple(terms.all(free)))
        case {"cases": [*cases], "otherwise": otherwise, **rest} if not rest:
            return Cases(tuple(_case(part, terms) for part in cases), read_proof(otherwise, terms))
    raise Malformed(f"not a step of a proof: {step!r:.200}")


def _case(record: object, terms: TermReader) -> tuple[Term, Proof]:
    match record:
        case {"case": case, "proof": proof, **rest} if not rest:
            return terms[case], read_proof(proof, terms)
    raise Malformed(f"not a case: {record!r:.200}")
