"""Terms as ACL2: a word is a natural number below 2^width, a term nested bindings; long functions in parts.

What ACL2 has of its own is used (``logand``, ``ash``). Of its ``ihs`` books are ``loghead`` (the low bits),
``logtail`` (what is above them), ``logapp`` (one word above another) and ``logext`` (the low bits as a signed
number).

Sums of several words are written in an order that the inputs below each word decide, and what is next below
it, not in that of the terms, which changes when a node is replaced by one of equal value, or an input by what
is converted to it: bits of the same sum are then the same.

ACL2's simulation takes each binding of a ``let*`` as a function of all variables that are still needed, and
looks up every one: its time grows with the square of these, which in a unit are hundreds. So what is computed
from some inputs alone, and in a maximum's place from that, is a function with those arguments
(:class:`Parts`); lanes that compute the same share it.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from tcsmt.language.terms import Term, operands_first

#: What a word looks like: its bits, operation, number and inputs, and what those below it look like.
_Shape: TypeAlias = tuple[int, str, int, tuple[int, int], tuple[Any, ...]]

#: Words that are not variables in ACL2.
_CONSTANTS = ("t", "nil")


def variables_of(names: Iterable[str]) -> dict[str, str]:
    """Return a variable of ACL2, which knows no case, for each input."""
    variables: dict[str, str] = {}
    for number, name in enumerate(names):
        plain = name.lower()
        if plain in _CONSTANTS or plain in variables.values():
            plain = f"{plain}-{number}"
        variables[name] = plain
    return variables


def defined(name: str, formals: Sequence[str], bindings: Sequence[tuple[str, str]], result: str) -> str:
    """Return a function: what its variables are bound to, one after the other, and its value."""
    lines = [f"(defun {name} ({' '.join(formals)})"]
    if formals:
        lines.append(f"  (declare (ignorable {' '.join(formals)}))")
    if not bindings:
        return "\n".join([*lines, f"  {result})"])
    first, *rest = (f"({variable} {value})" for variable, value in bindings)
    lines += [f"  (let* ({first}", *(f"         {line}" for line in rest)]
    return "\n".join([f"{chr(10).join(lines)})", f"    {result}))"])


@dataclass
class Acl2Writer:
    """A writer of terms over some inputs. inputs: the ACL2 variable of each, by its name, in order."""

    inputs: Mapping[str, str]
    _masks: dict[Term, tuple[int, int]] = field(default_factory=dict)
    _sorted: dict[Term, tuple[Term, ...]] = field(default_factory=dict)
    _shapes: dict[tuple[Term, int], _Shape] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._number = {name: number for number, name in enumerate(self.inputs)}

    def bindings(
        self, roots: Sequence[Term], names: Mapping[Term, str]
    ) -> tuple[list[tuple[str, str]], list[str]]:
        """Return the bindings (variable, expression), operands first, and an expression for each root.

        roots: without macros (:func:`.expand`). names: variables that hold the values of some nodes already,
        below which nothing is written.
        """
        text: dict[Term, str] = dict(names)
        lines: list[tuple[str, str]] = []
        for node in self.operands_first(roots, names):
            if node.op == "const":
                text[node] = str(node.value)
            elif node.op == "var":
                text[node] = self.inputs[str(node.data)]
            elif node.op == "zext":
                text[node] = text[node.args[0]]
            else:
                name = f"w-{len(lines)}"
                lines.append((name, _EXPRESSION[node.op](node, *(text[arg] for arg in self.arguments(node)))))
                text[node] = name
        return lines, [text[root] for root in roots]

    def operands_first(self, roots: Sequence[Term], done: Container[Term]) -> list[Term]:
        """Return nodes as :func:`.operands_first`, in an order that depends on the inputs. done: left out."""
        seen: set[Term] = set()
        order: list[Term] = []
        stack: list[tuple[Term, Iterator[Term]]] = []
        for root in roots:
            if root not in seen and root not in done:
                seen.add(root)
                stack.append((root, iter(self.arguments(root))))
            while stack:
                node, args = stack[-1]
                for arg in args:
                    if arg not in seen and arg not in done:
                        seen.add(arg)
                        stack.append((arg, iter(self.arguments(arg))))
                        break
                else:
                    order.append(node)
                    stack.pop()
        return order

    def arguments(self, node: Term) -> Sequence[Term]:
        """Return the arguments in the order in which they are written."""
        if node.op not in _COMMUTATIVE:
            return node.args
        if node not in self._sorted:
            self._sorted[node] = tuple(sorted(node.args, key=self._place))
        return self._sorted[node]

    def _place(self, node: Term) -> tuple[int, int, int, _Shape, int]:
        """Return a sort key: the inputs of a word, those that only a maximum takes last, and its looks."""
        return (*self.below(node), node.width, self._shape(node, _DEEP), node.digest)

    def _shape(self, node: Term, depth: int) -> _Shape:
        """Return the operations, constants and inputs down to some depth, whatever is below them."""
        key = node, depth
        if key not in self._shapes:
            below: list[_Shape] = []
            if depth and node.value is None:
                below = [self._shape(arg, depth - 1) for arg in node.args]
            if node.op in _COMMUTATIVE:
                below.sort()
            op = node.op if below else ""
            self._shapes[key] = (node.width, op, node.value or 0, self.below(node), tuple(below))
        return self._shapes[key]

    def below(self, root: Term) -> tuple[int, int]:
        """Return bits for the inputs below a node: those on a way without a maximum, and all."""
        for node in operands_first([root], self._masks):
            near = everything = 0
            if node.op == "var":
                near = everything = 1 << self._number[str(node.data)]
            for arg in node.args:
                below, all_below = self._masks[arg]
                near, everything = near | below, everything | all_below
            self._masks[node] = (0 if node.op == "umax" else near), everything
        return self._masks[root]


#: Bits of a shift amount that is written as it is.
_SHORT = 12

#: How many operations below a word are looked at to tell it from another one of the same inputs.
_DEEP = 4

#: Operations whose arguments may come in any order.
_COMMUTATIVE = ("add", "and", "eq", "mul", "or", "umax", "xor")


def _nested(function: str) -> Callable[..., str]:
    """Return an operation of two arguments as one of several."""

    def write(node: Term, *args: str) -> str:
        text = args[-1]
        for arg in reversed(args[:-1]):
            text = f"({function} {arg} {text})"
        return text

    return write


def _low(node: Term, number: str) -> str:
    return f"(loghead {node.width} {number})"


def _signed(width: int, word: str) -> str:
    return f"(logext {width} {word})"


def _amount(node: Term, word: str) -> str:
    """Return by how many bits a word is shifted. ACL2's simulation makes a list of 2^n bits for n bits, so a
    long one is cut to what shifts all of the word out.
    """
    if _bits(node.args[1]) <= _SHORT:
        return word
    return f"(if (< {word} {node.width}) (loghead {node.width.bit_length()} {word}) {node.width})"


def _bits(word: Term) -> int:
    """Return how many low bits of the word may be other than zero."""
    if word.value is not None:
        return word.value.bit_length()
    if word.op == "zext":
        return _bits(word.args[0])
    if word.op == "add":
        return min(word.width, sum((1 << _bits(arg)) - 1 for arg in word.args).bit_length())
    return word.width


def _less(node: Term, x: str, y: str) -> str:
    width = node.args[0].width
    return f"(bool->bit (< {_signed(width, x)} {_signed(width, y)}))"


#: How a node of each operation is written.
_EXPRESSION: dict[str, Callable[..., str]] = {
    "not": lambda n, x: _low(n, f"(lognot {x})"),
    "and": _nested("logand"),
    "or": _nested("logior"),
    "xor": lambda n, x, y: f"(logxor {x} {y})",
    "neg": lambda n, x: _low(n, f"(- {x})"),
    "add": lambda n, *xs: _low(n, f"(+ {' '.join(xs)})"),
    "sub": lambda n, x, y: _low(n, f"(- {x} {y})"),
    "mul": lambda n, x, y: _low(n, f"(* {x} {y})"),
    "shl": lambda n, x, y: f"(if (< {y} {n.width}) {_low(n, f'(ash {x} {_amount(n, y)})')} 0)",
    "lshr": lambda n, x, y: f"(ash {x} (- {_amount(n, y)}))",
    "ashr": lambda n, x, y: _low(n, f"(ash {_signed(n.width, x)} (- {_amount(n, y)}))"),
    "concat": lambda n, x, y: f"(logapp {n.args[1].width} {y} {x})",
    "extract": lambda n, x: _low(n, f"(logtail {n.data[1]} {x})" if n.data[1] else x),
    "sext": lambda n, x: _low(n, _signed(n.args[0].width, x)),
    "ite": lambda n, c, x, y: f"(if (equal {c} 1) {x} {y})",
    "eq": lambda n, x, y: f"(bool->bit (equal {x} {y}))",
    "ult": lambda n, x, y: f"(bool->bit (< {x} {y}))",
    "slt": _less,
    "umax": _nested("max"),
}

#: With fewer operations, a part is written where it is used.
_FEW = 4


@dataclass
class Parts:
    """A writer of terms as calls of functions. definitions: of these, in order, each made of earlier ones."""

    write: Acl2Writer
    definitions: list[str] = field(default_factory=list)
    _names: dict[str, str] = field(default_factory=dict)

    def bindings(
        self, roots: Sequence[Term], names: Mapping[Term, str]
    ) -> tuple[list[tuple[str, str]], list[str]]:
        """Return bindings as :meth:`.Acl2Writer.bindings` does; definitions get the functions they need."""
        text = dict(names)
        lines: list[tuple[str, str]] = []
        for part, below in self._parts(roots, names).items():
            formals = {node: f"x-{number}" for number, node in enumerate(below)}
            inner, (value,) = self.write.bindings([part], formals)
            function = self._function([*formals.values()], inner, value)
            args = [text[node] if node in text else self.write.inputs[str(node.data)] for node in below]
            text[part] = f"p-{len(lines)}"
            lines.append((text[part], f"({' '.join([function, *args])})"))
        return lines, [self.write.bindings([root], text)[1][0] for root in roots]

    def _function(self, formals: Sequence[str], bindings: Sequence[tuple[str, str]], value: str) -> str:
        body = defined("", formals, bindings, value)
        if body not in self._names:
            name = self._names[body] = f"part-{len(self._names)}"
            self.definitions.append(defined(name, formals, bindings, value))
        return self._names[body]

    def _parts(self, roots: Sequence[Term], names: Mapping[Term, str]) -> dict[Term, list[Term]]:
        """Return the nodes that have a function, operands first, and what each is a function of."""
        order = self.write.operands_first(roots, names)
        sources = _sources(order, names)
        needed = {_word(node, names) for node in [*roots, *(node for node in order if node.op == "umax")]}
        outer = {_word(arg, names) for node in order for arg in node.args if sources[arg] != sources[node]}
        parts: dict[Term, list[Term]] = {}
        for node in order:
            if node.args and (node in needed or node in outer):
                size, below = self._cone(node, parts, names)
                if size >= _FEW or node in needed:
                    parts[node] = below
        return parts

    def _cone(
        self, root: Term, parts: Mapping[Term, object], names: Mapping[Term, str]
    ) -> tuple[int, list[Term]]:
        """Return how many operations are between a node and the inputs and parts below it, and these."""
        size, below, seen = 0, dict[Term, None](), {root}
        pending = [root]
        while pending:
            node = pending.pop()
            if node is not root and (node in parts or node in names or node.op == "var"):
                below[node] = None
                continue
            size += bool(node.args) and node.op != "zext"
            for arg in reversed(self.write.arguments(node)):
                if arg not in seen:
                    seen.add(arg)
                    pending.append(arg)
        return size, list(below)


def _word(node: Term, names: Container[Term]) -> Term:
    """Return the node whose number this one has, too."""
    while node.op == "zext" and node not in names:
        (node,) = node.args
    return node


def _sources(order: Sequence[Term], names: Mapping[Term, str]) -> dict[Term, tuple[int, int]]:
    """Return for each node the bits for what it is made of: not through a maximum, and all."""
    leaves = [*names, *(node for node in order if node.op == "var")]
    sources = {leaf: (1 << number, 1 << number) for number, leaf in enumerate(leaves)}
    for node in order:
        if node not in sources:
            near = everything = 0
            for arg in node.args:
                near, everything = near | sources[arg][0], everything | sources[arg][1]
            sources[node] = (0 if node.op == "umax" else near), everything
    return sources
