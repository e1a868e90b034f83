"""Terms as WebAssembly: a binary module whose functions read words from memory and write words to it.

Words are held zero-extended in ``i32``, or in ``i64`` where they are wider than 32 bits; a word of more than
64 bits is refused (:mod:`tcsmt.language.graphs.limbs` makes limbs of it), as are macros. In memory, every
word has 8 bytes, the lowest byte first, from address 0 on: the inputs, then the results.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush

from tcsmt.language.graphs.bounds import Bounds
from tcsmt.language.terms import Term, operands_first
from tcsmt.language.write.wasm_binary import I32, I64, OPCODES, assembled, function, sleb, uleb

#: Bytes of a word in memory.
SLOT = 8
#: Nesting of an expression beyond which a word gets a local.
_DEPTH = 32
#: Nodes of a function: engines refuse functions with more than 50,000 locals, or take very long over them.
_NODES = 10_000

_LOCAL_GET, _LOCAL_SET, _LOCAL_TEE, _SELECT, _CALL = b"\x20", b"\x21", b"\x22", b"\x1b", b"\x10"
_WRAP, _EXTEND_SIGNED, _EXTEND = b"\xa7", b"\xac", b"\xad"
#: Loads of narrower words into an i32.
_NARROW_LOADS = {8: b"\x2d\x00", 16: b"\x2f\x01"}


def module(
    inputs: Sequence[Term],
    programs: Mapping[str, Sequence[Term]],
    custom: Mapping[str, bytes] | None = None,
    *,
    most: int = _NODES,
) -> bytes:
    """Return a module with one exported function for each program, and its ``memory``.

    inputs: the variables, in the order of their words in memory, from 0 on; of an input's bytes, those above
    its width are ignored. programs: by name, the terms whose words the function computes; they follow the
    inputs in memory. custom: the content of further sections, by name. most: nodes of a function; a program
    of more is several, which the exported one calls.
    Raises ValueError for a variable that is no input, and for words of more than 64 bits.
    """
    slot_of = {term: place for place, term in enumerate(inputs)}
    first = len(inputs)
    free = first + max(len(roots) for roots in programs.values())
    functions: list[bytes] = []
    exports: dict[str, int] = {}
    memory = free
    for name, roots in programs.items():
        program = _Program(slot_of, roots, first, free, most)
        parts = program.functions()
        memory = max(memory, program.end)
        numbers = range(len(functions), len(functions) + len(parts))
        functions += parts
        if len(parts) > 1:
            functions.append(function([], b"".join(_CALL + uleb(number) for number in numbers)))
        exports[name] = len(functions) - 1
    return assembled(functions, exports, SLOT * memory, custom or {})


def _container(width: int) -> int:
    """Return the type that holds words of this width."""
    if width > 64:
        raise ValueError(f"a word of {width} bits: at most 64 are allowed")
    return I32 if width <= 32 else I64


def _bits(kind: int) -> int:
    return 32 if kind == I32 else 64


def _ones(width: int) -> int:
    return (1 << width) - 1


def _held(node: Term) -> Term:
    """Return the node, or the one that it is a zero-extension of within a type: the same integer."""
    while node.op == "zext" and _container(node.width) == _container(node.args[0].width):
        node = node.args[0]
    return node


@dataclass
class _Body:
    """A function on its way: its instructions, the locals' types, those that are free, and what they hold."""

    code: bytearray = field(default_factory=bytearray)
    types: list[int] = field(default_factory=list)
    free: dict[int, list[int]] = field(default_factory=lambda: {I32: [], I64: []})
    holding: dict[Term, int] = field(default_factory=dict)

    def new(self, kind: int) -> int:
        """Return the number of a local of that type that holds nothing."""
        if self.free[kind]:
            return heappop(self.free[kind])
        self.types.append(kind)
        return len(self.types) - 1

    def release(self, local: int) -> None:
        """Note that what the local holds is not read any more."""
        heappush(self.free[self.types[local]], local)


class _Program:
    """The functions that compute some terms.

    Nodes that are used once are written where they are used, the others to a local. What a later function
    reads is kept in memory beyond the results.
    """

    def __init__(
        self, slot_of: Mapping[Term, int], roots: Sequence[Term], first: int, free: int, most: int
    ) -> None:
        """slot_of: of the inputs. first: slot of the first root. free, end: the first slot without use."""
        self._slot_of, self.end, self._most = dict(slot_of), free, most
        self.bounds = Bounds()
        self._body = _Body()
        self._results: dict[Term, list[int]] = {}
        for place, root in enumerate(roots):
            self._results.setdefault(_held(root), []).append(first + place)
        self._nodes = list(dict.fromkeys(map(_held, operands_first(roots))))
        self._left = Counter(_held(arg) for node in self._nodes for arg in self._read_by(node))
        self._own = self._with_locals()

    def _read_by(self, node: Term) -> list[Term]:
        """Return the arguments as often as the node's instructions read them."""
        match node.op:
            case "umax":
                return [*node.args, *node.args[1:]]
            case "shl" | "lshr" | "ashr" if self.far(node):
                return [*node.args, node.args[1]]
        return list(node.args)

    def far(self, node: Term) -> bool:
        """Return whether a shift may go beyond its type, whose instruction takes the amount modulo its
        bits.
        """
        return self.most(node.args[1]) >= _bits(_container(node.width))

    def most(self, node: Term) -> int:
        """Return the largest unsigned value."""
        return self.bounds.unsigned(node)[1]

    def _with_locals(self) -> dict[Term, int]:
        """Return the nodes that get a local, in order, each with the number of the function that computes
        it.
        """
        levels: dict[Term, int] = {}
        locals_of: dict[Term, int] = {}
        for place, node in enumerate(self._nodes):
            level = 1 + max((levels[_held(arg)] for arg in node.args), default=0)
            if node.op != "const" and (self._left[node] > 1 or node in self._results or level > _DEPTH):
                locals_of[node] = place // self._most
                level = 0
            levels[node] = level
        return locals_of

    def _kept(self) -> set[Term]:
        """Return the nodes that a later function reads."""
        in_locals: set[Term] = set()
        home = dict(self._own)
        for node in reversed(self._nodes):
            for arg in map(_held, node.args):
                if arg not in self._own:
                    home[arg] = home[node]
                elif home[node] != home[arg] and arg.op != "var":
                    in_locals.add(arg)
        return in_locals

    def functions(self) -> list[bytes]:
        """Return their entries in a module."""
        in_locals = self._kept()
        result: list[bytes] = []
        number = 0
        for node, home in self._own.items():
            if home != number:
                result.append(self._finished())
                number = home
            slots = list(self._results.get(node, []))
            if node in in_locals:
                slots.append(self.end)
                self._slot_of[node] = self.end
                self.end += 1
            self._operation(node)
            local = self._body.holding[node] = self._body.new(_container(node.width))
            self.put(_LOCAL_SET, uleb(local))
            for slot in slots:
                self._store(slot, node)
            if not self._left[node]:
                self._body.release(local)
        for node, slots in self._results.items():
            for slot in slots if node.op == "const" else []:
                self._store(slot, node)
        return [*result, self._finished()]

    def _finished(self) -> bytes:
        """Return the function so far; another one begins."""
        body, self._body = self._body, _Body()
        return function(body.types, bytes(body.code))

    def _store(self, slot: int, node: Term) -> None:
        """Append what writes all bytes of a word, which is a constant or in a local, to memory."""
        self.constant(0, I32)
        if node.op == "const":
            self.constant(node.value or 0, I64)
        else:
            self.put(_LOCAL_GET, uleb(self._body.holding[node]))
            self.convert(node.width, 64)
        self.put(bytes([OPCODES[I64]["store"], 3]), uleb(SLOT * slot))

    def put(self, *code: bytes) -> None:
        """Append instructions."""
        for part in code:
            self._body.code += part

    def instruction(self, name: str, width: int) -> None:
        """Append an instruction for words of that width."""
        self._body.code.append(OPCODES[_container(width)][name])

    def constant(self, value: int, kind: int) -> None:
        """Append a constant."""
        bits = _bits(kind)
        self.put(bytes([OPCODES[kind]["const"]]), sleb(value - (1 << bits) if value >> (bits - 1) else value))

    def number(self, value: int, width: int) -> None:
        """Append a constant of the type for words of that width."""
        self.constant(value, _container(width))

    def trim(self, width: int) -> None:
        """Append what makes the bits above a word 0."""
        if width != _bits(_container(width)):
            self.number(_ones(width), width)
            self.instruction("and", width)

    def convert(self, source: int, target: int) -> None:
        """Append what takes an integer of one width's type into another's, zero-extended or cut."""
        if _container(source) != _container(target):
            self.put(_EXTEND if _container(source) == I32 else _WRAP)

    def word(self, node: Term) -> None:
        """Append what puts a node's word on the stack."""
        node = _held(node)
        if node.op == "const":
            self.number(node.value or 0, node.width)
        elif node not in self._own:
            self._operation(node)
        else:
            self._left[node] -= 1
            local = self._body.holding.get(node)
            if local is None:
                local = self._body.holding[node] = self._body.new(_container(node.width))
                self.load(node)
                self.put(_LOCAL_TEE, uleb(local))
            else:
                self.put(_LOCAL_GET, uleb(local))
            if not self._left[node]:
                self._body.release(local)

    def signed(self, node: Term) -> None:
        """Append what puts a node on the stack as a signed number of its type."""
        self.word(node)
        spare = _bits(_container(node.width)) - node.width
        if spare and self.most(node) >> (node.width - 1):
            for name in ("shl", "ashr"):
                self.number(spare, node.width)
                self.instruction(name, node.width)

    def load(self, node: Term) -> None:
        """Append what reads a node's word from memory."""
        if node not in self._slot_of:
            raise ValueError(f"the variable {node.data} is not among the inputs")
        kind = _container(node.width)
        usual = bytes([OPCODES[kind]["load"], 2 if kind == I32 else 3])
        self.constant(0, I32)
        self.put(_NARROW_LOADS.get(node.width, usual), uleb(SLOT * self._slot_of[node]))
        if node.width not in _NARROW_LOADS:
            self.trim(node.width)

    def temporary(self, width: int) -> int:
        """Return the number of a local for words of that width, until :meth:`released`."""
        return self._body.new(_container(width))

    def released(self, local: int) -> None:
        """Note that a temporary local is not read any more."""
        self._body.release(local)

    def _operation(self, node: Term) -> None:
        if node.op not in _WRITE:
            raise ValueError(f"{node.data}: a macro has no instruction; expand it first")
        _WRITE[node.op](self, node)


def _inverted(p: _Program, node: Term) -> None:
    p.word(node.args[0])
    if node.width == 1:
        p.instruction("eqz", 1)
    else:
        p.number(_ones(node.width), node.width)
        p.instruction("xor", node.width)


def _folded(p: _Program, node: Term) -> None:
    """Write operations of several words: no bit above the width comes in, or it is cut off."""
    first, *others = node.args
    p.word(first)
    for other in others:
        p.word(other)
        p.instruction(node.op, node.width)
    largest = [p.most(arg) for arg in node.args]
    value = {"add": sum(largest), "mul": largest[0] * largest[-1]}.get(node.op, 0)
    if value > _ones(node.width):
        p.trim(node.width)


def _difference(p: _Program, node: Term) -> None:
    x, y = node.args
    p.word(x)
    p.word(y)
    p.instruction("sub", node.width)
    if p.bounds.unsigned(x)[0] < p.most(y):
        p.trim(node.width)


def _negated(p: _Program, node: Term) -> None:
    p.number(0, node.width)
    p.word(node.args[0])
    p.instruction("sub", node.width)
    p.trim(node.width)


def _shift(p: _Program, node: Term) -> None:
    """Write a shift; by the type's bits or more nothing is left."""
    value, amount = node.args
    width = node.width
    p.word(value)
    p.word(amount)
    p.instruction(node.op, width)
    if node.op == "shl":
        p.trim(width)
    if p.far(node):
        p.number(0, width)
        p.word(amount)
        p.number(_bits(_container(width)), width)
        p.instruction("ult", width)
        p.put(_SELECT)


def _arithmetic_shift(p: _Program, node: Term) -> None:
    """Write an arithmetic shift; by the type's bits or more as by one place less: the sign alone is left."""
    value, amount = node.args
    bits = _bits(_container(node.width))
    p.signed(value)
    p.word(amount)
    if p.far(node):
        p.number(bits - 1, node.width)
        p.word(amount)
        p.number(bits, node.width)
        p.instruction("ult", node.width)
        p.put(_SELECT)
    p.instruction("ashr", node.width)
    p.trim(node.width)


def _concat(p: _Program, node: Term) -> None:
    upper, lower = node.args
    p.word(upper)
    p.convert(upper.width, node.width)
    p.number(lower.width, node.width)
    p.instruction("shl", node.width)
    p.word(lower)
    p.convert(lower.width, node.width)
    p.instruction("or", node.width)


def _extract(p: _Program, node: Term) -> None:
    (word,) = node.args
    high, low = node.data  # type: ignore[misc,str-unpack]
    p.word(word)
    if low:
        p.number(int(low), word.width)
        p.instruction("lshr", word.width)
    p.convert(word.width, node.width)
    if high != word.width - 1:
        p.trim(node.width)


def _zero_extended(p: _Program, node: Term) -> None:
    p.word(node.args[0])
    p.convert(node.args[0].width, node.width)


def _sign_extended(p: _Program, node: Term) -> None:
    inner = node.args[0].width
    p.signed(node.args[0])
    if _container(inner) != _container(node.width):
        p.put(_EXTEND_SIGNED)
    p.trim(node.width)


def _choice(p: _Program, node: Term) -> None:
    condition, then, otherwise = node.args
    for word in (then, otherwise, condition):
        p.word(word)
    p.put(_SELECT)


def _compared(p: _Program, node: Term) -> None:
    for arg in node.args:
        p.word(arg)
    p.instruction(node.op, node.args[0].width)


def _signed_less(p: _Program, node: Term) -> None:
    for arg in node.args:
        p.signed(arg)
    p.instruction("slt", node.args[0].width)


def _largest(p: _Program, node: Term) -> None:
    """Write the larger of what is on the stack and of the next word, each read twice."""
    best = p.temporary(node.width)
    first, *others = node.args
    p.word(first)
    for other in others:
        p.put(_LOCAL_TEE, uleb(best))
        p.word(other)
        p.put(_LOCAL_GET, uleb(best))
        p.word(other)
        p.instruction("ugt", node.width)
        p.put(_SELECT)
    p.released(best)


_WRITE: dict[str, Callable[[_Program, Term], None]] = {
    "var": _Program.load,
    "not": _inverted,
    "and": _folded,
    "or": _folded,
    "xor": _folded,
    "neg": _negated,
    "add": _folded,
    "sub": _difference,
    "mul": _folded,
    "shl": _shift,
    "lshr": _shift,
    "ashr": _arithmetic_shift,
    "concat": _concat,
    "extract": _extract,
    "zext": _zero_extended,
    "sext": _sign_extended,
    "ite": _choice,
    "eq": _compared,
    "ult": _compared,
    "slt": _signed_less,
    "umax": _largest,
}
