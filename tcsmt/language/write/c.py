"""Terms as C: statements on vectors of 32-bit words, in the vector extension of GCC and clang.

This is the second opinion on what :mod:`tcsmt.language.write.llvm` compiles, and shares nothing with it but
the graph, so it is as plain as can be: every word has 32 bits, wider ones are limbs; every result is trimmed
to its width; macros are their definitions; nothing is known of intervals or of shifts that stay within a
word. A truth value is held as a mask of all bits, which is what a comparison of vectors gives.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce

from tcsmt.language.graphs.limbs import fitted
from tcsmt.language.terms import Term
from tcsmt.language.write.operators import OPERATORS

#: Bits of a word.
LIMB = 32
#: Words in a vector.
ROWS = 8
#: What the statements need to be declared before them.
PROLOGUE = f"""#include <stdint.h>
typedef uint32_t word __attribute__((vector_size({4 * ROWS})));
typedef int32_t number __attribute__((vector_size({4 * ROWS})));
#define ALL(x) ((word){{{", ".join("x" for _ in range(ROWS))}}})
static inline word largest(word x, word y) {{ word less = (word)(x < y); return (less & y) | (~less & x); }}
"""


def plain(roots: Sequence[Term]) -> list[list[Term]]:
    """Return the limbs of each root over what :func:`statements` takes."""
    return fitted(roots, lambda macro: False, LIMB)


def statements(nodes: Sequence[Term], inputs: Mapping[Term, str]) -> tuple[list[str], dict[Term, str]]:
    """Return the statements that compute the nodes, arguments first, and what each node is called.

    inputs: what the variables are called; words, or masks where a variable is a truth value.
    """
    lines: list[str] = []
    names: dict[Term, str] = {}
    for node in nodes:
        if node.width > LIMB:
            raise ValueError(f"a word of {node.width} bits: at most {LIMB} are allowed")
        if node.op == "var":
            names[node] = inputs[node]
            continue
        expression = _EXPRESS[node.op](node, [names[arg] for arg in node.args])
        names[node] = f"v{len(lines)}"
        lines.append(f"word {names[node]} = {expression};")
    return lines, names


def _ones(width: int) -> int:
    """Return the largest word of this width: of a truth value the mask."""
    return (1 << (LIMB if width == 1 else width)) - 1


def _trimmed(width: int, expression: str) -> str:
    return expression if _ones(width) == _ones(LIMB) else f"({expression}) & {_ones(width):#x}u"


def _constant(node: Term, args: list[str]) -> str:
    return f"ALL({_ones(1) if node.width == 1 and node.value else node.value}u)"


def _infix(node: Term, args: list[str]) -> str:
    return _trimmed(node.width, f" {OPERATORS[node.op]} ".join(args))


def _prefix(node: Term, args: list[str]) -> str:
    return _trimmed(node.width, f"{OPERATORS[node.op]}{args[0]}")


def _shift(node: Term, args: list[str]) -> str:
    """Write a shift: C leaves one by the word's size or more undefined."""
    moved = f"({args[0]} {OPERATORS[node.op]} ({args[1]} & {LIMB - 1}u)) & (word)({args[1]} < {LIMB}u)"
    return _trimmed(node.width, moved)


def _arithmetic_shift(node: Term, args: list[str]) -> str:
    """Shift beyond 31 places as by 31: the sign is left. Vectors' comparisons give -1 where they hold."""
    places = f"(({args[1]} & {LIMB - 1}u) | ((word)({args[1]} >= {LIMB}u) & {LIMB - 1}u))"
    return _trimmed(node.width, f"(word)({_number(node.args[0], args[0])} >> (number){places})")


def _number(term: Term, name: str) -> str:
    """Return the word as a signed number; a mask is one already."""
    spare = 0 if term.width == 1 else LIMB - term.width
    return f"((number)({name} << {spare}u) >> {spare})" if spare else f"(number){name}"


def _bit(term: Term, name: str) -> str:
    """Return the word; 1 for a mask."""
    return f"({name} & 1u)" if term.width == 1 else name


def _concat(node: Term, args: list[str]) -> str:
    upper, lower = node.args
    return f"({_bit(upper, args[0])} << {lower.width}u) | {_bit(lower, args[1])}"


def _extract(node: Term, args: list[str]) -> str:
    _, low = node.data  # type: ignore[misc,str-unpack]
    moved = f"{args[0]} >> {low}u"
    return f"-(({moved}) & 1u)" if node.width == 1 else _trimmed(node.width, moved)


def _sext(node: Term, args: list[str]) -> str:
    return _trimmed(node.width, f"(word){_number(node.args[0], args[0])}")


def _ite(node: Term, args: list[str]) -> str:
    condition, then, otherwise = args
    # conditions are masks of all bits: a 1 in the lowest bit alone would choose bit by bit
    return f"({condition} & {then}) | (~{condition} & {otherwise})"


def _compared(node: Term, args: list[str]) -> str:
    return f"(word)({args[0]} {OPERATORS[node.op]} {args[1]})"


def _signed_less(node: Term, args: list[str]) -> str:
    x, y = (_number(arg, name) for arg, name in zip(node.args, args, strict=True))
    return f"(word)({x} < {y})"


def _largest(node: Term, args: list[str]) -> str:
    return reduce(lambda best, other: f"largest({best}, {other})", args)


_EXPRESS: dict[str, Callable[[Term, list[str]], str]] = {
    "const": _constant,
    "not": _prefix,
    "and": _infix,
    "or": _infix,
    "xor": _infix,
    "neg": _prefix,
    "add": _infix,
    "sub": _infix,
    "mul": _infix,
    "shl": _shift,
    "lshr": _shift,
    "ashr": _arithmetic_shift,
    "concat": _concat,
    "extract": _extract,
    "zext": lambda node, args: _bit(node.args[0], args[0]),
    "sext": _sext,
    "ite": _ite,
    "eq": _compared,
    "ult": _compared,
    "slt": _signed_less,
    "umax": _largest,
}
