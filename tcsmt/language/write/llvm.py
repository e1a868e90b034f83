"""Terms as LLVM IR text: the instructions of the compiled simulator's kernels.

Every word of the graph becomes a vector over ``rows`` rows. Words are held zero-extended in ``i1``,
``i16``, ``i32`` or ``i64``, the first that is wide enough. A wider word is refused: LLVM has integers of any
width, but its code for them is not always right (``tcsmt.language.graphs.limbs`` makes limbs of such words).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from tcsmt.language.graphs.bounds import Bounds
from tcsmt.language.terms import Term, operands_first


def container(width: int, least: int = 16) -> int:
    """Return the bits of the LLVM integer for words of this width; below ``least`` only for truth values."""
    if width == 1:
        return 1
    for bits in (16, 32, 64):
        if least <= bits and width <= bits:
            return bits
    raise ValueError(f"a word of {width} bits: at most 64, because machines have no wider integers")


def schedule(roots: Sequence[Term], lane_of: Mapping[Term, int]) -> list[Term]:
    """Return the nodes below ``roots`` in an order in which few values are alive at a time.

    What depends on one lane alone comes lane by lane; a reduction over lanes ends a stage. Each
    node comes after its arguments.
    """
    stage: dict[Term, int] = {}
    home: dict[Term, int] = {}
    place: dict[Term, int] = {}
    for number, node in enumerate(operands_first(roots)):
        place[node] = number
        stage[node] = max((stage[arg] for arg in node.args), default=0)
        lanes = {home[arg] for arg in node.args} - {-1}
        if len(lanes) > 1:
            stage[node] += 1
        home[node] = lane_of.get(node, lanes.pop() if len(lanes) == 1 else -1)
    return sorted(place, key=lambda node: (stage[node], home[node], place[node]))


class Emitter:
    """A writer of the instructions of basic blocks, which remembers the register of every term.

    rows: elements of a vector. least: bits of the narrowest words: where no operand is narrower, neither
    is anything else, which spares conversions. prefix: of the registers' names, unique in a function.
    suffix: of the names of pointers. block: the label of the one that is being written.
    """

    def __init__(
        self, rows: int, least: int = 16, prefix: str = "v", suffix: str = "", block: str = ""
    ) -> None:
        self.rows, self.least, self.prefix, self.suffix, self.block = rows, least, prefix, suffix, block
        self.lines: list[str] = []
        self.register: dict[Term, str] = {}
        self.bounds = Bounds()
        self._signed: dict[Term, str] = {}
        self._partial: dict[Term, _Partial] = {}
        self.count = 0

    def container(self, width: int) -> int:
        """Return how many bits the elements of the vector have that holds words of this width."""
        return container(width, self.least)

    def type(self, bits: int | str) -> str:
        """Return the type of a vector of integers of so many bits (or of ``float``, ``double``)."""
        return f"<{self.rows} x {bits if isinstance(bits, str) else f'i{bits}'}>"

    def fork(self, prefix: str, suffix: str) -> Emitter:
        """Return a writer for another block, which computes everything by itself."""
        other = Emitter(self.rows, self.least, prefix, suffix)
        other.bounds = self.bounds
        return other

    @property
    def text(self) -> str:
        """Return what was written."""
        return "\n".join(self.lines)

    def constant(self, value: int, bits: int) -> str:
        """Return the operand of a constant, in every row."""
        text = ("true" if value else "false") if bits == 1 else str(value)
        return f"splat (i{bits} {text})"

    def emit(self, text: str) -> str:
        """Write ``%new = text`` and return the register."""
        self.count += 1
        name = f"%{self.prefix}{self.count}"
        self.lines.append(f"  {name} = {text}")
        return name

    def binary(self, op: str, bits: int, left: str, right: str) -> str:
        """Write a two-operand instruction."""
        return self.emit(f"{op} {self.type(bits)} {left}, {right}")

    def call(self, name: str, bits: int | str, *operands: str, extra: str = "") -> str:
        """Write the call of an intrinsic on vectors of one type."""
        kind = self.type(bits)
        element = {"float": "f32", "double": "f64"}.get(str(bits), f"i{bits}")
        listed = ", ".join(f"{kind} {operand}" for operand in operands)
        return self.emit(f"call {kind} @llvm.{name}.v{self.rows}{element}({listed}{extra})")

    def load(self, pointer: str, bits: int, place: str, kind: str = "") -> str:
        """Load a vector of words of so many bits, or what else ``kind`` says, from a place in an array."""
        address = self.emit(f"getelementptr i{bits}, ptr {pointer}, i64 {place}")
        return self.emit(f"load {kind or self.type(bits)}, ptr {address}, align {bits // 8}")

    def store(self, pointer: str, bits: int, place: str, value: str) -> None:
        """Store a vector of words of so many bits into an array of them."""
        address = self.emit(f"getelementptr i{bits}, ptr {pointer}, i64 {place}")
        self.lines.append(f"  store {self.type(bits)} {value}, ptr {address}, align {bits // 8}")

    def repeated(self, bits: int, word: str) -> str:
        """Return a vector with one word in every row."""
        kind = self.type(bits)
        head = self.emit(f"insertelement {kind} poison, i{bits} {word}, i64 0")
        return self.emit(f"shufflevector {kind} {head}, {kind} poison, {self.type(32)} zeroinitializer")

    def repeated_pair(self, pair: str) -> str:
        """Return a vector of words of 16 bits with the two of a word of 32 bits in every second row."""
        half = Emitter(self.rows // 2, prefix=f"{pair[1:]}.")
        vector = half.repeated(32, pair)
        self.lines += half.lines
        return self.emit(f"bitcast {half.type(32)} {vector} to {self.type(16)}")

    def counted(self, bits: int, first: str) -> str:
        """Return a vector of words that count up from the first row's."""
        steps = ", ".join(f"i{bits} {row if bits > 1 else row & 1}" for row in range(self.rows))
        return self.emit(f"add {self.type(bits)} {self.repeated(bits, first)}, <{steps}>")

    def take(self, variable: Term, bits: int, words: str) -> None:
        """Let the lowest bits of words be a variable's."""
        held = self.container(variable.width)
        self.register[variable] = self.masked(variable.width, self.convert("trunc", bits, held, words))

    def convert(self, op: str, source: int | str, target: int | str, value: str) -> str:
        """Write a conversion; none where both types are the same."""
        if source == target:
            return value
        return self.emit(f"{op} {self.type(source)} {value} to {self.type(target)}")

    def masked(self, width: int, value: str) -> str:
        """Return the value reduced to its width."""
        bits = self.container(width)
        if bits == width:
            return value
        return self.binary("and", bits, value, self.constant((1 << width) - 1, bits))

    def signed(self, node: Term) -> str:
        """Return the word sign-extended to its container (of the container's signed integers)."""
        if node not in self._signed:
            self._signed[node] = self._sign_extended(node)
        return self._signed[node]

    def _sign_extended(self, node: Term) -> str:
        value, bits = self.register[node], self.container(node.width)
        low, _ = self.bounds.signed(node)
        if bits == node.width or low >= 0:
            return value
        if node.op == "neg" and low > -(1 << (node.width - 1)):
            return self.binary("sub", bits, self.constant(0, bits), self.signed(node.args[0]))
        if node.op == "ite":
            condition, then, otherwise = node.args
            kind = self.type(bits)
            return self.emit(
                f"select {self.type(1)} {self.register[condition]}, {kind} {self.signed(then)}, "
                f"{kind} {self.signed(otherwise)}"
            )
        if node.op == "sext" and self.container(node.args[0].width) == bits:
            return self.signed(node.args[0])
        places = self.constant(bits - node.width, bits)
        return self.binary("ashr", bits, self.binary("shl", bits, value, places), places)

    def resized(self, width: int, target: int, value: str, op: str = "zext") -> str:
        """Return a word of ``width`` bits in the container of ``target`` bits."""
        return self.fitted(self.container(width), self.container(target), value, op)

    def fitted(self, source: int, target: int, value: str, op: str = "zext") -> str:
        """Return integers of so many bits as integers of others."""
        return self.convert(op if target > source else "trunc", source, target, value)

    def run(self, nodes: Iterable[Term]) -> None:
        """Emit nodes; arguments come first. Reductions grow as soon as each argument is there."""
        nodes = dict.fromkeys(nodes)
        waiting: dict[Term, list[Term]] = {}
        for node in nodes:
            if node.op in _REDUCTIONS and node not in self.register:
                for arg in node.args:
                    waiting.setdefault(arg, []).append(node)
        for node in nodes:
            if node not in self.register:
                if node.op in _REDUCTIONS:
                    for arg in node.args:
                        if arg not in nodes:
                            self._grow(node, arg)
                    self.register[node] = self._reduced(node)
                elif node.op == "const":
                    self.register[node] = self.constant(node.value or 0, self.container(node.width))
                else:
                    self.register[node] = _EMIT[node.op](self, node, [self.register[a] for a in node.args])
            for reduction in waiting.get(node, ()):
                self._grow(reduction, node)

    def loop(
        self, reductions: Sequence[tuple[str, Sequence[Term]]], turn: int, read: Callable[[Term, str], str]
    ) -> list[str]:
        """Write maxima and sums as one loop over their arguments, some in one turn; return their registers.

        reductions: operations and as many arguments each. All arguments are the first one with other
        variables, and what they need besides is in registers. The number of arguments in a turn divides that
        of all. read: writes how a variable of the first turn's arguments is loaded in the turn whose first
        argument has its number in a register, and gives its register.
        """
        registers, signed, count = dict(self.register), dict(self._signed), len(reductions[0][1])
        self.count += 1
        name, before = f"%{self.prefix}{self.count}.loop", self.block
        bits = [self.container(args[0].width) for _, args in reductions]
        words = [f"{name}.kept.{number}" for number in range(len(reductions))]
        nexts = [f"{name}.next.{number}" for number in range(len(reductions))]
        self.block = name[1:]
        self.lines += [
            f"  br label {name}",
            f"{self.block}:",
            f"  {name}.i = phi i64 [0, %{before}], [{name}.more, {name}]",
        ]
        for word, after, size in zip(words, nexts, bits, strict=True):
            self.lines.append(
                f"  {word} = phi {self.type(size)} [zeroinitializer, %{before}], [{after}, {name}]"
            )
        for place in range(turn):
            in_loop = operands_first([args[place] for _, args in reductions], registers)
            for variable in in_loop:
                if variable.op == "var" and variable not in self.register:
                    self.register[variable] = read(variable, f"{name}.i")
            self.run(in_loop)
            for number, (op, args) in enumerate(reductions):
                together = partial(self.call, "umax") if op == "umax" else partial(self.binary, op)
                words[number] = together(bits[number], words[number], self.register[args[place]])
        for word, after, size in zip(words, nexts, bits, strict=True):
            # without it LLVM may take a value that is poison in one turn for another word in the next
            self.lines.append(f"  {after} = freeze {self.type(size)} {word}")
        self.lines.append(f"  {name}.more = add i64 {name}.i, {turn}")
        again = self.emit(f"icmp ult i64 {name}.more, {count}")
        self.block = f"{name[1:]}.done"
        self.lines += [f"  br i1 {again}, label {name}, label %{self.block}", f"{self.block}:"]
        self.register, self._signed = registers, signed
        return nexts

    def _grow(self, node: Term, arg: Term) -> None:
        """Add one more argument to a reduction."""
        if node not in self._partial:
            self._partial[node] = self._begun(node)
        partial, bits = self._partial[node], self.container(node.width)
        if self._narrow(node, arg):
            inner, ends = self.signed(arg.args[0]), self.bounds.signed(arg.args[0])
            low, high = (end + other for end, other in zip(partial.ends, ends, strict=True))
            if partial.narrow and low >= -(1 << 31) and high < 1 << 31:
                partial.narrow, partial.ends = self.binary("add", 32, partial.narrow, inner), (low, high)
            else:
                self._flush(node, partial)
                partial.narrow, partial.ends = inner, ends
        elif arg.op == "const":
            self._include(node, partial, self.constant((arg.value or 0) + partial.offset, bits))
        else:
            self._include(node, partial, self.register[arg])

    def _narrow(self, node: Term, arg: Term) -> bool:
        """Return whether an argument is added as a signed number of 32 bits (its own word may be 2^width
        more).
        """
        wide = node.op == "add" and arg.op == "sext" and self.container(node.width) == 64
        return wide and self.container(arg.args[0].width) == 32

    def _begun(self, node: Term) -> _Partial:
        """Begin a reduction without arguments: whether its value needs no trimming, and why."""
        if node.op != "add":
            return _Partial()
        ends = [
            self.bounds.signed(arg.args[0]) if self._narrow(node, arg) else self.bounds.unsigned(arg)
            for arg in node.args
        ]
        low, high = (sum(column) for column in zip(*ends, strict=True))
        modulus = 1 << node.width
        if low >= 0 and high < modulus:
            return _Partial()
        # where there is always one carry out, the constant may as well be negative
        if node.args[0].op == "const" and modulus <= low and high < 2 * modulus:
            return _Partial(offset=-modulus)
        return _Partial(whole=False)

    def _include(self, node: Term, partial: _Partial, value: str) -> None:
        bits = self.container(node.width)
        if not partial.value:
            partial.value = value
        elif node.op == "umax":
            partial.value = self.call("umax", bits, partial.value, value)
        else:
            partial.value = self.binary(node.op, bits, partial.value, value)

    def _flush(self, node: Term, partial: _Partial) -> None:
        if partial.narrow:
            self._include(node, partial, self.convert("sext", 32, self.container(node.width), partial.narrow))
            partial.narrow = ""

    def _reduced(self, node: Term) -> str:
        """Return the finished reduction."""
        partial = self._partial.pop(node)
        self._flush(node, partial)
        return partial.value if partial.whole else self.masked(node.width, partial.value)


@dataclass
class _Partial:
    """A reduction on its way.

    value: what it comes to so far. narrow: in 32 bits, the sum of some signed words, within ``ends``.
    offset: what its constant is given besides. whole: whether the value, as a number, is the word.
    """

    value: str = ""
    narrow: str = ""
    ends: tuple[int, int] = (0, 0)
    offset: int = 0
    whole: bool = True


_REDUCTIONS = frozenset({"add", "and", "or", "umax"})


def _inverted(e: Emitter, node: Term, args: list[str]) -> str:
    bits = e.container(node.width)
    return e.binary("xor", bits, args[0], e.constant((1 << node.width) - 1, bits))


def _xor(e: Emitter, node: Term, args: list[str]) -> str:
    return e.binary("xor", e.container(node.width), *args)


def _trimmed(op: str) -> Callable[[Emitter, Term, list[str]], str]:
    def emit(e: Emitter, node: Term, args: list[str]) -> str:
        return e.masked(node.width, e.binary(op, e.container(node.width), *args))

    return emit


def _difference(e: Emitter, node: Term, args: list[str]) -> str:
    result = e.binary("sub", e.container(node.width), *args)
    # held zero-extended, a negative difference would have ones above its width
    (low, _), (_, high) = (e.bounds.unsigned(arg) for arg in node.args)
    return result if low >= high else e.masked(node.width, result)


def _negated(e: Emitter, node: Term, args: list[str]) -> str:
    bits = e.container(node.width)
    return e.masked(node.width, e.binary("sub", bits, e.constant(0, bits), args[0]))


def _shift(e: Emitter, node: Term, args: list[str]) -> str:
    """Write a shift; one by the container's width or more is undefined in LLVM: clamp or select."""
    value, amount = args
    width, bits = node.width, e.container(node.width)
    if node.op == "ashr":
        value = e.signed(node.args[0])
    _, most = e.bounds.unsigned(node.args[1])
    if most < bits:
        result = e.binary(node.op, bits, value, amount)
    elif bits > width or node.op == "ashr":  # a word below the container's top bit leaves nothing
        amount = e.call("umin", bits, amount, e.constant(bits - 1, bits))
        result = e.binary(node.op, bits, value, amount)
    else:
        within = e.emit(f"icmp ult {e.type(bits)} {amount}, {e.constant(bits, bits)}")
        clamped = e.binary("and", bits, amount, e.constant(bits - 1, bits))
        shifted = e.binary(node.op, bits, value, clamped)
        result = e.emit(
            f"select {e.type(1)} {within}, {e.type(bits)} {shifted}, {e.type(bits)} {e.constant(0, bits)}"
        )
    return result if node.op == "lshr" else e.masked(width, result)


def _concat(e: Emitter, node: Term, args: list[str]) -> str:
    bits = e.container(node.width)
    upper, lower = (e.resized(a.width, node.width, v) for a, v in zip(node.args, args, strict=True))
    moved = e.binary("shl", bits, upper, e.constant(node.args[1].width, bits))
    return e.binary("or", bits, moved, lower)


def _extract(e: Emitter, node: Term, args: list[str]) -> str:
    high, low = node.data  # type: ignore[misc,str-unpack]
    inner = node.args[0].width
    bits = e.container(inner)
    value = e.binary("lshr", bits, args[0], e.constant(int(low), bits)) if low else args[0]
    if node.width == 1:
        return e.convert("trunc", bits, 1, value)
    value = e.resized(inner, node.width, value)
    return value if high == inner - 1 else e.masked(node.width, value)


def _zext(e: Emitter, node: Term, args: list[str]) -> str:
    return e.resized(node.args[0].width, node.width, args[0])


def _sext(e: Emitter, node: Term, args: list[str]) -> str:
    inner = node.args[0].width
    return e.masked(node.width, e.resized(inner, node.width, e.signed(node.args[0]), "sext"))


def _ite(e: Emitter, node: Term, args: list[str]) -> str:
    kind = e.type(e.container(node.width))
    return e.emit(f"select {e.type(1)} {args[0]}, {kind} {args[1]}, {kind} {args[2]}")


def _compare(e: Emitter, node: Term, args: list[str]) -> str:
    width = node.args[0].width
    if node.op == "slt":
        args = [e.signed(arg) for arg in node.args]
    return e.emit(f"icmp {node.op} {e.type(e.container(width))} {args[0]}, {args[1]}")


#: LLVM's types of numbers, by their bits.
_FLOAT_TYPES = {16: "half", 32: "float", 64: "double"}


def _fma(e: Emitter, node: Term, args: list[str]) -> str:
    bits = node.width
    kind = _FLOAT_TYPES[bits]
    result = e.call("fma", kind, *(e.convert("bitcast", bits, kind, value) for value in args))
    # which NaN an instruction gives differs between processors: the macro's definition has one word for all
    missing = e.emit(f"fcmp uno {e.type(kind)} {result}, {result}")
    quiet = e.constant({32: 0x7FC00000, 64: 0x7FF8 << 48}[bits], bits)
    word = e.convert("bitcast", kind, bits, result)
    return e.emit(f"select {e.type(1)} {missing}, {e.type(bits)} {quiet}, {e.type(bits)} {word}")


def _leading_zeros(e: Emitter, node: Term, args: list[str]) -> str:
    """Count leading zeros as the definition does, which gives all ones for 0."""
    (word,) = node.args
    bits, steps = e.container(word.width), node.width
    zeros = e.call("ctlz", bits, args[0], extra=", i1 false")
    if bits > word.width:
        zeros = e.binary("sub", bits, zeros, e.constant(bits - word.width, bits))
    empty = e.emit(f"icmp eq {e.type(bits)} {args[0]}, {e.constant(0, bits)}")
    ones = e.constant((1 << steps) - 1, bits)
    zeros = e.emit(f"select {e.type(1)} {empty}, {e.type(bits)} {ones}, {e.type(bits)} {zeros}")
    return e.resized(word.width, steps, zeros)


def _normalised(e: Emitter, node: Term, args: list[str]) -> str:
    bits = e.container(node.width)
    zeros = e.call("ctlz", bits, args[0], extra=", i1 false")
    if bits > node.width:
        zeros = e.binary("sub", bits, zeros, e.constant(bits - node.width, bits))
    last = e.constant(bits - 1, bits)  # a shift by the container's width, of 0, is undefined
    return e.binary("shl", bits, args[0], e.call("umin", bits, zeros, last))


def _of_floats(op: str) -> Callable[[Emitter, Term, list[str]], str]:
    def emit(e: Emitter, node: Term, args: list[str]) -> str:
        bits, kind = node.width, _FLOAT_TYPES[node.width]
        operands = ", ".join(e.convert("bitcast", bits, kind, value) for value in args)
        return e.convert("bitcast", kind, bits, e.emit(f"{op} {e.type(kind)} {operands}"))

    return emit


def _to_float(op: str) -> Callable[[Emitter, Term, list[str]], str]:
    def emit(e: Emitter, node: Term, args: list[str]) -> str:
        source, target = node.args[0].width, node.width
        number = e.convert("bitcast", source, _FLOAT_TYPES[source], args[0])
        number = e.convert(op, _FLOAT_TYPES[source], _FLOAT_TYPES[target], number)
        return e.convert("bitcast", _FLOAT_TYPES[target], target, number)

    return emit


def _to_integer(e: Emitter, node: Term, args: list[str]) -> str:
    """Convert to an integer; out of range LLVM's conversion has no value at all; frozen, it has some."""
    number = e.convert("bitcast", 32, "float", args[0])
    return e.emit(f"freeze {e.type(32)} {e.convert('fptosi', 'float', 32, number)}")


def _from_integer(e: Emitter, node: Term, args: list[str]) -> str:
    return e.convert("bitcast", "float", 32, e.convert("sitofp", 32, "float", args[0]))


_MACROS: dict[str, Callable[[Emitter, Term, list[str]], str]] = {
    "add": _of_floats("fadd"),
    "fma": _fma,
    "from_half": _to_float("fpext"),
    "from_integer": _from_integer,
    "leading_zeros": _leading_zeros,
    "multiply": _of_floats("fmul"),
    "normalised": _normalised,
    "to_double": _to_float("fpext"),
    "to_half": _to_float("fptrunc"),
    "to_integer": _to_integer,
    "to_single": _to_float("fptrunc"),
}
#: Those that the state of the floating-point unit can change.
_FLOATS = frozenset({"add", "fma", "from_integer", "multiply", "to_double", "to_half", "to_single"})


def native(name: str) -> bool:
    """Return whether a macro is one or a few instructions of any processor."""
    return _family(name) in _MACROS and not of_halves(name)


def of_halves(name: str) -> bool:
    """Return whether a macro converts from or to binary16, for which some processors have no instruction."""
    return _family(name) in ("from_half", "to_half")


def uses_floats(nodes: Iterable[Term]) -> bool:
    """Return whether the state of the floating-point unit can change what these operations give."""
    return any(node.op == "macro" and _family(str(node.data)) in _FLOATS for node in nodes)


def _family(name: str) -> str:
    return name.partition(".")[0]


_EMIT: dict[str, Callable[[Emitter, Term, list[str]], str]] = {
    "not": _inverted,
    "xor": _xor,
    "neg": _negated,
    "sub": _difference,
    "mul": _trimmed("mul"),
    "shl": _shift,
    "lshr": _shift,
    "ashr": _shift,
    "concat": _concat,
    "extract": _extract,
    "zext": _zext,
    "sext": _sext,
    "ite": _ite,
    "eq": _compare,
    "ult": _compare,
    "slt": _compare,
    "macro": lambda e, node, args: _MACROS[_family(str(node.data))](e, node, args),
}


_ARGUMENTS = {"fma": "{0}, {0}, {0}", "umin": "{0}, {0}", "umax": "{0}, {0}", "ctlz": "{0}, i1"}


def declared(text: str) -> str:
    """Return LLVM functions, after the declarations of the intrinsics that they call."""
    calls = set(re.findall(r"call (\S+|<[^>]*>) @(llvm\.\w+(?:\.\w+)*)\(", text))
    declarations = [f"declare {kind} @{name}({_arguments(kind, name)})" for kind, name in sorted(calls)]
    return "\n".join([*declarations, text])


def _arguments(kind: str, name: str) -> str:
    reduced = re.fullmatch(r"llvm\.vector\.reduce\.add\.v(\d+)(i\d+)", name)
    if reduced:
        return f"<{reduced[1]} x {reduced[2]}>"
    return _ARGUMENTS[name.split(".")[1]].format(kind)


def over_groups(name: str, parameters: str, body: str, *, last: str = "group", entry: str = "") -> str:
    """Return an LLVM function that runs the body for ``%g`` from 0 on, once for each of its ``%groups``.

    last: the block in which the body ends; it starts in the block ``group``. entry: what comes before.
    """
    return f"""define void @{name}(i64 %groups, {parameters}) {{
entry:
{entry}  br label %group
group:
  %g = phi i64 [0, %entry], [%g.next, %{last}]
{body}
  %g.next = add i64 %g, 1
  %g.more = icmp ult i64 %g.next, %groups
  br i1 %g.more, label %group, label %exit
exit:
  ret void
}}
"""
