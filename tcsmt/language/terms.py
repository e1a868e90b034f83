"""Hash-consed bit-vector terms: the one language in which every unit is written.

A :class:`Term` is a node of a directed acyclic graph over fixed-width bit-vectors, with the
operations of SMT-LIB's QF_BV, ``umax`` (largest of several unsigned words, defined in
:mod:`tcsmt.language.write.smtlib`) and named macros, such as a fused multiply-add, that carry their own
bit-vector definition and are native where a machine has them. A term of width 1 is a truth value.

Two terms with the same structure are the same object, so models that agree on a stage share that
stage's node. Constructors simplify (constants, neutral elements, slices of slices) and keep the
arguments of commutative operations in a canonical order that depends on structure alone, so that
a permuted sum is the same node in every run.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from hashlib import blake2b
from operator import and_, attrgetter, or_
from typing import NoReturn
from weakref import ref

_OPS = (
    "const", "var", "not", "and", "or", "xor", "neg", "add", "sub", "mul", "shl", "lshr", "ashr",
    "concat", "extract", "zext", "sext", "ite", "eq", "ult", "slt", "umax", "macro",
)  # fmt: skip
_OP_INDEX = {op: index for index, op in enumerate(_OPS)}
Data = int | str | tuple[int, int] | None


class Term:
    """One node: an operation, its arguments and the width of its value in bits.

    ``data`` holds what is not a term: a constant's value, a variable's name, the bounds
    ``(high, low)`` of an extraction. ``digest`` is a hash of the structure, the same in every run.
    """

    __slots__ = ("__weakref__", "args", "data", "digest", "op", "width")

    op: str
    width: int
    args: tuple[Term, ...]
    data: Data
    digest: int

    def __repr__(self) -> str:
        if self.op == "const":
            return f"const({self.data}, {self.width})"
        if self.op == "var":
            return f"var({self.data!r}, {self.width})"
        return f"<{self.op}:{self.width} of {len(self.args)}>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a term belongs to its process: the same structure is the same object there")

    @property
    def value(self) -> int | None:
        """Return the value of a constant, else None."""
        return self.data if self.op == "const" else None  # type: ignore[return-value]

    def __add__(self, other: Term | int) -> Term:
        return total(self, _coerce(other, self.width))

    def __sub__(self, other: Term | int) -> Term:
        other = _coerce(other, self.width)
        if other.op == "const":
            return total(self, const(-other.data, self.width))  # type: ignore[operator]
        if self.width == 1:
            return self ^ other
        if self is other:
            return const(0, self.width)
        return _make("sub", self.width, (self, other))

    def __mul__(self, other: Term | int) -> Term:
        left, right = _sorted((self, _coerce(other, self.width)))
        if self.width == 1:
            return left & right
        for factor, rest in ((left, right), (right, left)):
            if factor.value == 0:
                return factor
            if factor.value == 1:
                return rest
        return _make("mul", self.width, (left, right))

    def __neg__(self) -> Term:
        if self.width == 1:
            return self
        if self.op == "neg":
            return self.args[0]
        return _make("neg", self.width, (self,))

    def __invert__(self) -> Term:
        if self.op == "not":
            return self.args[0]
        return _make("not", self.width, (self,))

    def __and__(self, other: Term | int) -> Term:
        return _bitwise("and", (self, _coerce(other, self.width)))

    def __or__(self, other: Term | int) -> Term:
        return _bitwise("or", (self, _coerce(other, self.width)))

    def __xor__(self, other: Term | int) -> Term:
        other = _coerce(other, self.width)
        if self is other:
            return const(0, self.width)
        for x, rest in ((self, other), (other, self)):
            if x.value == 0:
                return rest
            if x.value == _ones(self.width):
                return ~rest
        return _make("xor", self.width, _sorted((self, other)))

    def __lshift__(self, other: Term | int) -> Term:
        return self._shift("shl", other)

    def __rshift__(self, other: Term | int) -> Term:
        """Return the logical shift right; a shift by the width or more gives 0."""
        return self._shift("lshr", other)

    def ashr(self, other: Term | int) -> Term:
        """Return the arithmetic shift right (rounds toward minus infinity)."""
        return self._shift("ashr", other)

    def _shift(self, op: str, other: Term | int) -> Term:
        other = _coerce(other, self.width)
        if other.value == 0 or self.value == 0:
            return self
        if self.width == 1:
            return self if op == "ashr" else self & ~other
        return _make(op, self.width, (self, other))

    def eq(self, other: Term | int) -> Term:
        """Return 1 if both words are equal."""
        other = _coerce(other, self.width)
        if self is other:
            return TRUE
        if self.width == 1:
            return ~(self ^ other)
        return _make("eq", 1, _sorted((self, other)))

    def ne(self, other: Term | int) -> Term:
        """Return 1 if the words differ."""
        return ~self.eq(other)

    def ult(self, other: Term | int) -> Term:
        """Return 1 if unsigned self < other."""
        return self._compare("ult", _coerce(other, self.width))

    def ule(self, other: Term | int) -> Term:
        """Return 1 if unsigned self <= other."""
        return ~_coerce(other, self.width)._compare("ult", self)

    def slt(self, other: Term | int) -> Term:
        """Return 1 if two's complement self < other."""
        return self._compare("slt", _coerce(other, self.width))

    def sle(self, other: Term | int) -> Term:
        """Return 1 if two's complement self <= other."""
        return ~_coerce(other, self.width)._compare("slt", self)

    def _compare(self, op: str, other: Term) -> Term:
        if self is other or (op == "ult" and other.value == 0):
            return FALSE
        return _make(op, 1, (self, other))

    def __getitem__(self, bits: slice | int) -> Term:
        """Return bits ``[high:low]``, both inclusive as in SMT-LIB; ``[i]`` is one bit."""
        high, low = (bits.start, bits.stop) if isinstance(bits, slice) else (bits, bits)
        if not 0 <= low <= high < self.width:
            raise ValueError(f"bits [{high}:{low}] of a term of width {self.width}")
        if high - low + 1 == self.width:
            return self
        if self.op == "extract":
            base = int(self.data[1])  # type: ignore[index]
            return self.args[0][high + base : low + base]
        if self.op == "concat":
            upper, lower = self.args
            if high < lower.width:
                return lower[high:low]
            if low >= lower.width:
                return upper[high - lower.width : low - lower.width]
        if self.op in ("zext", "sext"):
            inner = self.args[0]
            if high < inner.width:
                return inner[high:low]
            if low >= inner.width and self.op == "zext":
                return const(0, high - low + 1)
        return _make("extract", high - low + 1, (self,), (high, low))

    def concat(self, lower: Term) -> Term:
        """Return this word followed by ``lower`` (self holds the most significant bits)."""
        if self.value == 0:
            return lower.zext(self.width + lower.width)
        return _make("concat", self.width + lower.width, (self, lower))

    def zext(self, width: int) -> Term:
        """Return the word, zero-extended to ``width`` bits."""
        return self._extend("zext", width)

    def sext(self, width: int) -> Term:
        """Return the word, sign-extended to ``width`` bits."""
        return self._extend("sext", width)

    def _extend(self, op: str, width: int) -> Term:
        if width < self.width:
            raise ValueError(f"{op} of a term of width {self.width} to {width}")
        if width == self.width:
            return self
        if self.op == "zext":  # an extended word has a zero sign bit
            return self.args[0].zext(width)
        if self.op == op:
            return self.args[0]._extend(op, width)
        return _make(op, width, (self,))

    def ite(self, then: Term | int, otherwise: Term | int) -> Term:
        """Return ``then`` where this bit is 1, else ``otherwise``."""
        if isinstance(then, Term):
            otherwise = _coerce(otherwise, then.width)
        elif isinstance(otherwise, Term):
            then = const(then, otherwise.width)
        else:
            raise TypeError("ite needs a term in one of its branches")
        if self.value is not None:
            return then if self.value else otherwise
        if then is otherwise:
            return then
        if self.op == "not":
            return self.args[0].ite(otherwise, then)
        if then.width == 1:
            if then.value is not None:
                return self | otherwise if then.value else ~self & otherwise
            if otherwise.value is not None:
                return ~self | then if otherwise.value else self & then
        return _make("ite", then.width, (self, then, otherwise))


def _ones(width: int) -> int:
    return (1 << width) - 1


class _Reference(ref[Term]):
    """To a node, for as long as something else holds it."""

    __slots__ = ("key",)

    key: tuple[object, ...]


#: Every node that is held, by its structure. A plain dictionary of references, as most of the time that it
#: takes to build a graph would otherwise go to the methods of a ``WeakValueDictionary``.
_table: dict[tuple[object, ...], _Reference] = {}


def _forget(reference: ref[Term], table: dict[tuple[object, ...], _Reference] = _table) -> None:
    """Forget a node, before its arguments are let go, so that no other node has their ids yet.

    table: given here, as the module's names are gone when the last nodes are.
    """
    key = reference.key  # type: ignore[attr-defined]
    if table.get(key) is reference:
        del table[key]


def _make(op: str, width: int, args: tuple[Term, ...], data: Data = None) -> Term:
    """Return the node: fold constants, then look it up. Nothing else constructs nodes."""
    for arg in args:
        if arg.op != "const":
            break
    else:
        if args:
            widths, values = [arg.width for arg in args], [arg.data for arg in args]
            return const(FOLD[op](width, data, widths, values), width)  # type: ignore[arg-type]
    key = (op, width, data, *map(id, args))
    reference = _table.get(key)
    term = None if reference is None else reference()
    if term is None:
        term = Term()
        term.op, term.width, term.args, term.data = op, width, args, data
        if isinstance(data, str):
            number = int.from_bytes(blake2b(data.encode(), digest_size=7).digest(), "big")
        elif isinstance(data, tuple):
            number = hash(data)
        else:
            number = data or 0
        term.digest = hash((_OP_INDEX[op], width, number, *(arg.digest for arg in args)))
        _table[key] = reference = _Reference(term, _forget)
        reference.key = key
    return term


def count() -> int:
    """Return how many terms there are."""
    return len(_table)


def const(value: int, width: int) -> Term:
    """Return the constant ``value`` modulo 2^width. Raises ValueError for a width below 1."""
    if width < 1:
        raise ValueError(f"a constant of width {width}")
    return _make("const", width, (), value & _ones(width))


def var(name: str, width: int) -> Term:
    """Return the free variable ``name`` of ``width`` bits."""
    return _make("var", width, (), name)


FALSE = const(0, 1)
TRUE = const(1, 1)


def total(*terms: Term) -> Term:
    """Return the sum modulo 2^width of words of one width: associative, commutative, n-ary."""
    width = terms[0].width
    constant, rest = 0, []
    for term in terms:
        if term.op == "add" and len(term.args) == 2 and term.args[0].op == "const":
            constant += term.args[0].data  # type: ignore[operator]
            rest.append(term.args[1])
        elif term.op == "const":
            constant += term.data  # type: ignore[operator]
        else:
            rest.append(term)
    if width == 1:
        bit = const(constant, 1)
        for term in rest:
            bit = bit ^ term
        return bit
    ordered = sorted(rest, key=_by_core)
    if constant & _ones(width) or not ordered:
        ordered.insert(0, const(constant, width))
    return ordered[0] if len(ordered) == 1 else _make("add", width, tuple(ordered))


def umax(*terms: Term) -> Term:
    """Return the largest of unsigned words of one width: associative, commutative, idempotent, n-ary."""
    if terms[0].width == 1:
        return any_of(terms)
    distinct = _sorted(set(terms))
    return distinct[0] if len(distinct) == 1 else _make("umax", distinct[0].width, distinct)


#: Every macro by name.
MACROS: dict[str, Macro] = {}


@dataclass(frozen=True)
class Macro:
    """An operation with a name and a definition in terms of the others; calling it makes a node.

    width: of its value. definition: from argument terms to the value's term. unspecified: from argument terms
    to where a machine's own instruction may give any other value; None: nowhere.
    """

    name: str
    width: int
    definition: Callable[..., Term]
    unspecified: Callable[..., Term] | None = None

    def __post_init__(self) -> None:
        MACROS[self.name] = self

    def __call__(self, *args: Term) -> Term:
        """Return the node of the operation on these arguments."""
        return _make("macro", self.width, args, self.name)


def expand(roots: Iterable[Term], native: Callable[[str], bool] = lambda name: False) -> list[Term]:
    """Return ``roots`` with every macro replaced by its definition, but those whose name is ``native``."""
    roots = list(roots)
    new: dict[Term, Term] = {}
    _expand(roots, native, new)
    return [new[root] for root in roots]


def _expand(roots: Iterable[Term], native: Callable[[str], bool], new: dict[Term, Term]) -> None:
    for node in operands_first(roots, new):
        args = [new[arg] for arg in node.args]
        if node.op == "macro" and not native(str(node.data)):
            result = MACROS[str(node.data)].definition(*args)
            _expand([result], native, new)
            new[node] = new[result]
        else:
            new[node] = found = _with_args(node, args)
            new[found] = found


def all_of(terms: Iterable[Term]) -> Term:
    """Return 1 if every bit in ``terms`` is 1."""
    return _bitwise("and", (TRUE, *terms))


def any_of(terms: Iterable[Term]) -> Term:
    """Return 1 if some bit in ``terms`` is 1."""
    return _bitwise("or", (FALSE, *terms))


def operands_first(roots: Iterable[Term], done: Container[Term] = ()) -> list[Term]:
    """Return every node below ``roots`` once, arguments before what uses them; not those ``done``."""
    seen: set[Term] = set()
    order: list[Term] = []
    stack: list[tuple[Term, Iterator[Term]]] = []
    for root in roots:
        if root not in seen and root not in done:
            seen.add(root)
            stack.append((root, iter(root.args)))
        while stack:
            node, args = stack[-1]
            for arg in args:
                if arg not in seen and arg not in done:
                    seen.add(arg)
                    stack.append((arg, iter(arg.args)))
                    break
            else:
                order.append(node)
                stack.pop()
    return order


def variables(roots: Iterable[Term]) -> list[Term]:
    """Return the free variables below ``roots``, by name."""
    result = [node for node in operands_first(roots) if node.op == "var"]
    return sorted(result, key=lambda node: str(node.data))


def substitute(roots: Sequence[Term], replacement: dict[Term, Term]) -> list[Term]:
    """Return ``roots`` with every node that is a key of ``replacement`` replaced by its value."""
    new: dict[Term, Term] = dict(replacement)
    for node in operands_first(roots, replacement):
        new[node] = _with_args(node, [new[arg] for arg in node.args])
    return [new[root] for root in roots]


#: Words of one sum or maximum, at most, for :func:`flat`: sums of equal sums would double again and again.
_FLAT = 1024


def flat(root: Term) -> Term:
    """Return the node with each maximum of maxima, and sum of sums, below it one of all their words."""
    new: dict[Term, Term] = {}
    for node in operands_first([root]):
        args = [new[arg] for arg in node.args]
        if node.op in ("umax", "add"):
            words = [word for arg in args for word in (arg.args if arg.op == node.op else (arg,))]
            args = words if len(words) <= _FLAT else args
        new[node] = _with_args(node, args)
    return new[root]


def _with_args(node: Term, args: Sequence[Term]) -> Term:
    return node if node.args == tuple(args) else rebuild(node, args)


def rebuild(node: Term, args: Sequence[Term]) -> Term:
    """Return the node's operation on other arguments of the same widths, simplified."""
    return _REBUILD[node.op](node, args)


def _coerce(value: Term | int, width: int) -> Term:
    if isinstance(value, int):
        return const(value, width)
    if value.width != width:
        raise ValueError(f"widths {width} and {value.width} differ")
    return value


def _sorted(terms: Iterable[Term]) -> tuple[Term, ...]:
    return tuple(sorted(terms, key=_by_digest))


_by_digest = attrgetter("digest")


def _by_core(term: Term) -> tuple[int, int]:
    """Return a key that orders addends, whatever the width to which they were extended."""
    core = term.args[0] if term.op in ("sext", "zext") else term
    return core.digest, term.digest


def _bitwise(op: str, terms: Sequence[Term]) -> Term:
    width = terms[0].width
    absorbing, neutral = (0, _ones(width)) if op == "and" else (_ones(width), 0)
    distinct: dict[Term, None] = {}
    for term in terms:
        for part in term.args if term.op == op else (term,):
            if part.op != "const":
                distinct[part] = None
            elif part.data == absorbing:
                return part
            elif part.data != neutral:
                distinct[part] = None
    for part in distinct:
        if part.op == "not" and part.args[0] in distinct:
            return const(absorbing, width)
    if not distinct:
        return const(neutral, width)
    ordered = _sorted(distinct)
    return ordered[0] if len(ordered) == 1 else _make(op, width, ordered)


def _signed(value: int, width: int) -> int:
    return value - (1 << width) if value >> (width - 1) else value


@lru_cache(maxsize=1024)
def _definition(name: str, words: tuple[Term, ...]) -> tuple[list[Term], Term]:
    """Return the nodes below a macro's definition on these words, operands first, and the definition."""
    return operands_first([root := MACROS[name].definition(*words)], words), root


def _fold_macro(name: str, widths: Sequence[int], values: Sequence[int]) -> int:
    found = {var(str(at), width): values[at] for at, width in enumerate(widths)}
    nodes, root = _definition(name, tuple(found))
    for node in nodes:
        arguments = [arg.width for arg in node.args], [found[arg] for arg in node.args]
        fold = node.value if node.op == "const" else FOLD[node.op](node.width, node.data, *arguments)
        found[node] = fold & _ones(node.width)  # type: ignore[operator]
    return found[root]


Fold = Callable[[int, Data, Sequence[int], Sequence[int]], int]
#: Meaning of each operation on Python integers: (width, data, argument widths, values) -> value,
#: to be reduced modulo 2^width.
FOLD: dict[str, Fold] = {
    "not": lambda w, d, ws, v: ~v[0],
    "and": lambda w, d, ws, v: reduce(and_, v),
    "or": lambda w, d, ws, v: reduce(or_, v),
    "xor": lambda w, d, ws, v: v[0] ^ v[1],
    "neg": lambda w, d, ws, v: -v[0],
    "add": lambda w, d, ws, v: sum(v),
    "sub": lambda w, d, ws, v: v[0] - v[1],
    "mul": lambda w, d, ws, v: v[0] * v[1],
    "shl": lambda w, d, ws, v: v[0] << v[1] if v[1] < w else 0,
    "lshr": lambda w, d, ws, v: v[0] >> v[1],
    "ashr": lambda w, d, ws, v: _signed(v[0], w) >> v[1],
    "concat": lambda w, d, ws, v: v[0] << ws[1] | v[1],
    "extract": lambda w, d, ws, v: v[0] >> int(d[1]),  # type: ignore[index]
    "zext": lambda w, d, ws, v: v[0],
    "sext": lambda w, d, ws, v: _signed(v[0], ws[0]),
    "ite": lambda w, d, ws, v: v[1] if v[0] else v[2],
    "eq": lambda w, d, ws, v: v[0] == v[1],
    "ult": lambda w, d, ws, v: v[0] < v[1],
    "slt": lambda w, d, ws, v: _signed(v[0], ws[0]) < _signed(v[1], ws[1]),
    "umax": lambda w, d, ws, v: max(v),
    "macro": lambda w, d, ws, v: _fold_macro(str(d), ws, v),
}

_REBUILD: dict[str, Callable[[Term, Sequence[Term]], Term]] = {
    "const": lambda n, a: n,
    "var": lambda n, a: n,
    "not": lambda n, a: ~a[0],
    "and": lambda n, a: _bitwise("and", a),
    "or": lambda n, a: _bitwise("or", a),
    "xor": lambda n, a: a[0] ^ a[1],
    "neg": lambda n, a: -a[0],
    "add": lambda n, a: total(*a),
    "sub": lambda n, a: a[0] - a[1],
    "mul": lambda n, a: a[0] * a[1],
    "shl": lambda n, a: a[0] << a[1],
    "lshr": lambda n, a: a[0] >> a[1],
    "ashr": lambda n, a: a[0].ashr(a[1]),
    "concat": lambda n, a: a[0].concat(a[1]),
    "extract": lambda n, a: a[0][n.data[0] : n.data[1]],  # type: ignore[index]
    "zext": lambda n, a: a[0].zext(n.width),
    "sext": lambda n, a: a[0].sext(n.width),
    "ite": lambda n, a: a[0].ite(a[1], a[2]),
    "eq": lambda n, a: a[0].eq(a[1]),
    "ult": lambda n, a: a[0].ult(a[1]),
    "slt": lambda n, a: a[0].slt(a[1]),
    "umax": lambda n, a: umax(*a),
    "macro": lambda n, a: MACROS[str(n.data)](*a),
}
