"""Computations of :mod:`tests.oracles.wordmath` as tcsmt's terms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from operator import and_, or_

from tcsmt.language.macros import leading_zeros
from tcsmt.language.terms import Term, const, total, umax, var
from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.matrix_units.arithmetic.ieee import fma_words
from tests.oracles.wordmath import Node


def constructed(node: Node, a: Sequence[Term]) -> Term:
    """The node's term by tcsmt's constructors."""
    match node.op:
        case "const":
            return const(int(node.data), node.width)  # type: ignore[arg-type]
        case "var":
            return var(str(node.data), node.width)
        case "extract":
            high, low = node.data  # type: ignore[misc,str-unpack]
            return a[0][high:low]
        case "zext" | "sext":
            return getattr(a[0], node.op)(node.width)
        case "fma":
            return fma_words(FORMATS[f"f{node.width}"], a[0], a[1], a[2])
    return CONSTRUCTORS[node.op](*a)


CONSTRUCTORS: dict[str, Callable[..., Term]] = {
    "not": lambda x: ~x,
    "neg": lambda x: -x,
    "and": lambda *a: reduce(and_, a),
    "or": lambda *a: reduce(or_, a),
    "xor": lambda x, y: x ^ y,
    "add": total,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "shl": lambda x, y: x << y,
    "lshr": lambda x, y: x >> y,
    "ashr": Term.ashr,
    "concat": Term.concat,
    "ite": Term.ite,
    "eq": Term.eq,
    "ne": Term.ne,
    "ult": Term.ult,
    "ule": Term.ule,
    "slt": Term.slt,
    "sle": Term.sle,
    "umax": umax,
    "leading_zeros": lambda x: leading_zeros(x)[1],
    "normalised": lambda x: leading_zeros(x)[0],
}
