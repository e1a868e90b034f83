"""Terms as LLVM IR text: the instructions of the compiled simulator's kernels.

Every word of the graph becomes a vector over ``rows`` rows. Words of width 1 are ``i1``, up to 32
bits ``i32``, up to 64 ``i64``, zero-extended; wider words are integers of their own width.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from tcsmt.terms import Term, operands_first

__all__ = ["NATIVE", "Emitter", "container", "schedule"]


def container(width: int) -> int:
    """Bits of the LLVM integer that holds words of this width."""
    if width == 1:
        return 1
    return 32 if width <= 32 else 64 if width <= 64 else width


def schedule(roots: Sequence[Term], lane_of: Mapping[Term, int]) -> list[Term]:
    """The nodes below ``roots`` in an order in which few values are alive at a time.

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
    """Writes the instructions of a basic block and remembers the register of every term.

    rows: elements of a vector. prefix: of the registers' names, unique in a function.
    """

    def __init__(self, rows: int, prefix: str = "v") -> None:
        self.rows, self.prefix = rows, prefix
        self.lines: list[str] = []
        self.register: dict[Term, str] = {}
        self.partial: dict[Term, str] = {}
        self.count = 0

    def type(self, bits: int | str) -> str:
        """The type of a vector of integers of so many bits (or of ``float``, ``double``)."""
        element = bits if isinstance(bits, str) else f"i{bits}"
        return element if self.rows == 1 else f"<{self.rows} x {element}>"

    @property
    def text(self) -> str:
        """What was written."""
        return "\n".join(self.lines)

    def constant(self, value: int, bits: int) -> str:
        """The operand of a constant, in every row."""
        text = ("true" if value else "false") if bits == 1 else str(value)
        return text if self.rows == 1 else f"splat (i{bits} {text})"

    def emit(self, text: str) -> str:
        """Write ``%new = text`` and return the register."""
        self.count += 1
        name = f"%{self.prefix}{self.count}"
        self.lines.append(f"  {name} = {text}")
        return name

    def binary(self, op: str, bits: int, left: str, right: str) -> str:
        """A two-operand instruction."""
        return self.emit(f"{op} {self.type(bits)} {left}, {right}")

    def call(self, name: str, bits: int | str, *operands: str, extra: str = "") -> str:
        """An intrinsic on vectors of one type."""
        kind = self.type(bits)
        element = {"float": "f32", "double": "f64"}.get(str(bits), f"i{bits}")
        suffix = element if self.rows == 1 else f"v{self.rows}{element}"
        listed = ", ".join(f"{kind} {operand}" for operand in operands)
        return self.emit(f"call {kind} @llvm.{name}.{suffix}({listed}{extra})")

    def convert(self, op: str, source: int | str, target: int | str, value: str) -> str:
        """A conversion; none where both types are the same."""
        if source == target:
            return value
        return self.emit(f"{op} {self.type(source)} {value} to {self.type(target)}")

    def masked(self, width: int, value: str) -> str:
        """The value reduced to its width."""
        bits = container(width)
        if bits == width:
            return value
        return self.binary("and", bits, value, self.constant((1 << width) - 1, bits))

    def signed(self, width: int, value: str) -> str:
        """The word sign-extended to its container."""
        bits = container(width)
        if bits == width:
            return value
        places = self.constant(bits - width, bits)
        return self.binary("ashr", bits, self.binary("shl", bits, value, places), places)

    def resized(self, width: int, target: int, value: str, op: str = "zext") -> str:
        """A word of ``width`` bits in the container of ``target`` bits."""
        source, wanted = container(width), container(target)
        return self.convert(op if wanted > source else "trunc", source, wanted, value)

    def run(self, nodes: Iterable[Term]) -> None:
        """Emit nodes; arguments come first. Reductions grow as soon as each argument is there."""
        nodes = list(nodes)
        waiting: dict[Term, list[Term]] = {}
        for node in nodes:
            if node.op in _REDUCTIONS:
                for arg in node.args:
                    waiting.setdefault(arg, []).append(node)
        for node in nodes:
            if node not in self.register:
                if node.op in _REDUCTIONS:
                    value = self.partial.pop(node)
                    self.register[node] = self.masked(node.width, value) if node.op == "add" else value
                elif node.op == "const":
                    self.register[node] = self.constant(node.value or 0, container(node.width))
                else:
                    self.register[node] = _EMIT[node.op](self, node, [self.register[a] for a in node.args])
            for reduction in waiting.get(node, ()):
                value, known = self.register[node], self.partial.get(reduction)
                if known is not None:
                    value = self._reduce(reduction, known, value)
                self.partial[reduction] = value

    def _reduce(self, node: Term, left: str, right: str) -> str:
        bits = container(node.width)
        if node.op == "umax":
            return self.call("umax", bits, left, right)
        return self.binary(node.op, bits, left, right)


_REDUCTIONS = frozenset({"add", "and", "or", "umax"})


def bound(node: Term) -> int:
    """An upper bound of the word's unsigned value."""
    ones = (1 << node.width) - 1
    match node.op:
        case "const":
            return node.value or 0
        case "zext":
            return bound(node.args[0])
        case "concat":
            upper, lower = node.args
            return bound(upper) << lower.width | ((1 << lower.width) - 1)
        case "add":
            return min(ones, sum(map(bound, node.args)))
        case "ite":
            return max(bound(node.args[1]), bound(node.args[2]))
        case "umax":
            return max(map(bound, node.args))
        case _:
            return ones


def _inverted(e: Emitter, node: Term, args: list[str]) -> str:
    bits = container(node.width)
    return e.binary("xor", bits, args[0], e.constant((1 << node.width) - 1, bits))


def _xor(e: Emitter, node: Term, args: list[str]) -> str:
    return e.binary("xor", container(node.width), *args)


def _trimmed(op: str) -> Callable[[Emitter, Term, list[str]], str]:
    def emit(e: Emitter, node: Term, args: list[str]) -> str:
        return e.masked(node.width, e.binary(op, container(node.width), *args))

    return emit


def _negated(e: Emitter, node: Term, args: list[str]) -> str:
    bits = container(node.width)
    return e.masked(node.width, e.binary("sub", bits, e.constant(0, bits), args[0]))


def _shift(e: Emitter, node: Term, args: list[str]) -> str:
    """A shift by the container's width or more is undefined in LLVM: clamp or select."""
    value, amount = args
    width, bits = node.width, container(node.width)
    if node.op == "ashr":
        value = e.signed(width, value)
    most = bound(node.args[1])
    if most < bits:
        result = e.binary(node.op, bits, value, amount)
    elif bits > width or node.op == "ashr":  # a word below the container's top bit leaves nothing
        amount = e.call("umin", bits, amount, e.constant(bits - 1, bits))
        result = e.binary(node.op, bits, value, amount)
    else:
        within = e.emit(f"icmp ult {e.type(bits)} {amount}, {e.constant(bits, bits)}")
        clamped = e.binary("and", bits, amount, e.constant(bits - 1, bits)) if bits in (32, 64) else amount
        shifted = e.binary(node.op, bits, value, clamped)
        result = e.emit(
            f"select {e.type(1)} {within}, {e.type(bits)} {shifted}, {e.type(bits)} {e.constant(0, bits)}"
        )
    return result if node.op == "lshr" else e.masked(width, result)


def _concat(e: Emitter, node: Term, args: list[str]) -> str:
    bits = container(node.width)
    upper, lower = (e.resized(a.width, node.width, v) for a, v in zip(node.args, args, strict=True))
    moved = e.binary("shl", bits, upper, e.constant(node.args[1].width, bits))
    return e.binary("or", bits, moved, lower)


def _extract(e: Emitter, node: Term, args: list[str]) -> str:
    high, low = node.data  # type: ignore[misc,str-unpack]
    inner = node.args[0].width
    bits = container(inner)
    value = e.binary("lshr", bits, args[0], e.constant(int(low), bits)) if low else args[0]
    if node.width == 1:
        return e.convert("trunc", bits, 1, value)
    value = e.resized(inner, node.width, value)
    return value if high == inner - 1 else e.masked(node.width, value)


def _zext(e: Emitter, node: Term, args: list[str]) -> str:
    return e.resized(node.args[0].width, node.width, args[0])


def _sext(e: Emitter, node: Term, args: list[str]) -> str:
    inner = node.args[0].width
    return e.masked(node.width, e.resized(inner, node.width, e.signed(inner, args[0]), "sext"))


def _ite(e: Emitter, node: Term, args: list[str]) -> str:
    kind = e.type(container(node.width))
    return e.emit(f"select {e.type(1)} {args[0]}, {kind} {args[1]}, {kind} {args[2]}")


def _compare(e: Emitter, node: Term, args: list[str]) -> str:
    width = node.args[0].width
    if node.op == "slt":
        args = [e.signed(width, value) for value in args]
    return e.emit(f"icmp {node.op} {e.type(container(width))} {args[0]}, {args[1]}")


def _fma(e: Emitter, node: Term, args: list[str]) -> str:
    bits = node.width
    kind = {32: "float", 64: "double"}[bits]
    result = e.call("fma", kind, *(e.convert("bitcast", bits, kind, value) for value in args))
    missing = e.emit(f"fcmp uno {e.type(kind)} {result}, {result}")
    quiet = e.constant({32: 0x7FC00000, 64: 0x7FF8 << 48}[bits], bits)
    word = e.convert("bitcast", kind, bits, result)
    return e.emit(f"select {e.type(1)} {missing}, {e.type(bits)} {quiet}, {e.type(bits)} {word}")


_MACROS: dict[str, Callable[[Emitter, Term, list[str]], str]] = {"fma.f32": _fma, "fma.f64": _fma}
#: Macros that the machine has instructions for.
NATIVE = frozenset(_MACROS)

_EMIT: dict[str, Callable[[Emitter, Term, list[str]], str]] = {
    "not": _inverted,
    "xor": _xor,
    "neg": _negated,
    "sub": _trimmed("sub"),
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
    "macro": lambda e, node, args: _MACROS[str(node.data)](e, node, args),
}
