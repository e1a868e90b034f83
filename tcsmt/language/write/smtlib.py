"""Terms as SMT-LIB 2.6 text (QF_BV): what every solver is given, and what ``export`` writes.

A term of width 1 becomes a ``Bool``, so that scripts read naturally. Nodes that are used more than
once, or that have a label, become ``define-fun``s; the others are written where they are used.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from tcsmt.language.terms import Term, expand, operands_first, variables
from tcsmt.language.write.inlining import Inlining, fresh

#: Nesting of an expression beyond which a node gets a name of its own.
DEPTH = 6


def symbol(name: str) -> str:
    """Return ``name`` as an SMT-LIB symbol, quoted where necessary. Raises :class:`ValueError` for others."""
    if not name.isprintable() or set(name) & set("|\\"):
        raise ValueError(f"{name!r:.80} is not a symbol")
    plain = name.replace("_", "").replace(".", "").replace("-", "")
    simple = plain.isalnum() and plain.isascii() and not name[0].isdigit()
    return name if simple else f"|{name}|"


def sort(width: int) -> str:
    """Return the SMT-LIB sort of words of this width."""
    return "Bool" if width == 1 else f"(_ BitVec {width})"


def definitions(
    roots: Sequence[Term], labels: Mapping[Term, str] | None = None
) -> tuple[list[str], list[str]]:
    """Return the lines that declare and define everything below ``roots``, and an expression for each.

    ``labels`` gives names to nodes (a stage's results, say). Macros are expanded; a variable that does not
    matter to what they expand to is declared like the others.
    """
    labels = labels or {}
    labels = dict(zip(expand(labels), labels.values(), strict=True))
    unexpanded, roots = roots, expand(roots)
    nodes = operands_first(roots)
    uses = Counter(arg for node in nodes for arg in set(node.args))
    inputs = dict.fromkeys([*variables(roots), *variables(unexpanded)])
    lines = declarations(inputs)
    lines += maxima(nodes)
    names = fresh({str(v.data) for v in inputs} | set(labels.values()))

    def define(node: Term, expression: str) -> str:
        name = symbol(labels[node] if node in labels else next(names))
        lines.append(f"(define-fun {name} () {sort(node.width)} {expression})")
        return name

    text = Inlining(DEPTH, define)
    for node in nodes:
        text.add(node, express(node, text), node.args, named=uses[node] > 1 or node in labels)
    return lines, [text[root] for root in roots]


def declarations(inputs: Iterable[Term]) -> list[str]:
    """Return the lines that declare variables."""
    return [f"(declare-const {symbol(str(v.data))} {sort(v.width)})" for v in inputs]


def maxima(nodes: Iterable[Term]) -> list[str]:
    """Return the lines that define the maximum of two words, for each width of which the nodes have one."""
    lines = []
    for width in sorted({node.width for node in nodes if node.op == "umax"}):
        bits = sort(width)
        lines.append(f"(define-fun umax{width} ((x {bits}) (y {bits})) {bits} (ite (bvult x y) y x))")
    return lines


def script(
    goal: Term,
    *,
    labels: Mapping[Term, str] | None = None,
    info: Sequence[tuple[str, str]] = (),
    values: bool = True,
) -> str:
    """Return a self-contained script that asks for values of the variables at which ``goal`` is 1.

    values: False asks only whether there are any.
    """
    lines, (expression,) = definitions([goal], labels)
    head = [f"(set-info :{key} {value})" for key, value in info]
    names = " ".join(symbol(str(v.data)) for v in variables([goal]))
    tail = [f"(assert {expression})", "(check-sat)"]
    if names and values:
        tail.append(f"(get-value ({names}))")
    options = ["(set-option :produce-models true)"] if values else []
    options.append("(set-logic QF_BV)")
    return "\n".join([*head[:1], *options, *head[1:], *lines, *tail, "(exit)", ""])


def express(node: Term, text: Mapping[Term, str]) -> str:
    """Return the node's operation on its arguments, whose expressions are in ``text``."""
    arguments = [text[arg] for arg in node.args]
    boolean = bool(node.args) and node.args[-1].width == 1
    return _EXPRESS.get(node.op, _plain)(node, arguments, boolean)


def _plain(node: Term, arguments: list[str], boolean: bool) -> str:
    name = (_BOOLEAN if boolean else _VECTOR)[node.op]
    return f"({name} {' '.join(arguments)})"


def _const(node: Term, arguments: list[str], boolean: bool) -> str:
    if node.width == 1:
        return "true" if node.data else "false"
    if node.width % 4 == 0:
        return f"#x{node.data:0{node.width // 4}x}"
    return f"#b{node.data:0{node.width}b}"


def _bits(argument: str, term: Term) -> str:
    return f"(ite {argument} #b1 #b0)" if term.width == 1 else argument


def _concat(node: Term, arguments: list[str], boolean: bool) -> str:
    parts = [_bits(text, arg) for text, arg in zip(arguments, node.args, strict=True)]
    return f"(concat {' '.join(parts)})"


def _extract(node: Term, arguments: list[str], boolean: bool) -> str:
    high, low = node.data  # type: ignore[misc,str-unpack]
    slice_ = f"((_ extract {high} {low}) {arguments[0]})"
    return f"(= {slice_} #b1)" if node.width == 1 else slice_


def _extend(node: Term, arguments: list[str], boolean: bool) -> str:
    name = "zero_extend" if node.op == "zext" else "sign_extend"
    argument = node.args[0]
    return f"((_ {name} {node.width - argument.width}) {_bits(arguments[0], argument)})"


def _nested(node: Term, arguments: list[str], boolean: bool) -> str:
    """Nest n-ary operations that SMT-LIB 2.6 takes two at a time (not so its Boolean ones)."""
    if boolean:
        return _plain(node, arguments, boolean)
    name = f"umax{node.width}" if node.op == "umax" else _VECTOR[node.op]
    result = arguments[0]
    for argument in arguments[1:]:
        result = f"({name} {result} {argument})"
    return result


def _bit_compare(node: Term, arguments: list[str], boolean: bool) -> str:
    if not boolean:
        return _plain(node, arguments, boolean)
    left, right = arguments if node.op == "ult" else reversed(arguments)
    return f"(and (not {left}) {right})"


_EXPRESS: dict[str, Callable[[Term, list[str], bool], str]] = {
    "const": _const,
    "var": lambda node, arguments, boolean: symbol(str(node.data)),
    "concat": _concat,
    "extract": _extract,
    "zext": _extend,
    "sext": _extend,
    "and": _nested,
    "or": _nested,
    "add": _nested,
    "umax": _nested,
    "ult": _bit_compare,
    "slt": _bit_compare,
}
_BOOLEAN = {"not": "not", "and": "and", "or": "or", "xor": "xor", "ite": "ite", "eq": "="}
_VECTOR = {
    "not": "bvnot", "and": "bvand", "or": "bvor", "xor": "bvxor", "neg": "bvneg", "add": "bvadd",
    "sub": "bvsub", "mul": "bvmul", "shl": "bvshl", "lshr": "bvlshr", "ashr": "bvashr",
    "ite": "ite", "eq": "=", "ult": "bvult", "slt": "bvslt",
}  # fmt: skip
