"""Truth values decided by trying every assignment of their variables, apart from tcsmt's interpretations."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import Any, TypeAlias

import numpy as np

from tcsmt.language.terms import Term, expand, operands_first

#: A word for each assignment.
Column: TypeAlias = Any
#: No more bits than this are tried.
MOST = 16


def bits_of(terms: Iterable[Term]) -> int:
    """How many bits the variables of some terms have."""
    return sum(node.width for node in operands_first(terms) if node.op == "var")


def columns(terms: Iterable[Term]) -> dict[Term, Column]:
    """Every assignment of the variables of some terms."""
    found = [node for node in operands_first(terms) if node.op == "var"]
    bits = sum(node.width for node in found)
    assert bits <= MOST, bits
    row = np.arange(1 << bits, dtype=np.int64)
    words = {}
    for node in found:
        words[node] = row & ((1 << node.width) - 1)
        row = row >> node.width
    return words


def values(terms: list[Term], words: dict[Term, Column]) -> list[Column]:
    """The values of terms for each assignment. Words of up to 60 bits."""
    terms = expand(terms)
    found = dict(words)
    for node in operands_first(terms):
        if node not in found:
            found[node] = _value(node, [found[arg] for arg in node.args])
    size = max((np.size(column) for column in words.values()), default=1)
    return [np.broadcast_to(found[term], size) for term in terms]


def satisfiable(formula: Term) -> bool:
    """Whether some assignment makes a truth value 1."""
    return bool(values([formula], columns([formula]))[0].any())


def _signed(column: Column, width: int) -> Column:
    return column - ((column >> (width - 1)) << width)


def _value(node: Term, v: list[Column]) -> Column:
    width, widths = node.width, [arg.width for arg in node.args]
    mask = (1 << width) - 1
    match node.op:
        case "const":
            return np.int64(int(node.data))  # type: ignore[arg-type]
        case "not":
            return v[0] ^ mask
        case "neg":
            return -v[0] & mask
        case "and":
            return reduce(np.bitwise_and, v)
        case "or":
            return reduce(np.bitwise_or, v)
        case "xor":
            return v[0] ^ v[1]
        case "add":
            return reduce(np.add, v) & mask
        case "sub":
            return (v[0] - v[1]) & mask
        case "mul":
            return (v[0] * v[1]) & mask
        case "shl":
            return np.where(v[1] < width, v[0] << np.minimum(v[1], width), 0) & mask
        case "lshr":
            return v[0] >> np.minimum(v[1], width)
        case "ashr":
            return (_signed(v[0], width) >> np.minimum(v[1], width)) & mask
        case "concat":
            return (v[0] << widths[1]) | v[1]
        case "extract":
            return (v[0] >> int(node.data[1])) & mask  # type: ignore[index]
        case "zext":
            return v[0]
        case "sext":
            return _signed(v[0], widths[0]) & mask
        case "ite":
            return np.where(v[0] == 1, v[1], v[2])
        case "eq":
            return (v[0] == v[1]).astype(np.int64)
        case "ult":
            return (v[0] < v[1]).astype(np.int64)
        case "slt":
            return (_signed(v[0], widths[0]) < _signed(v[1], widths[0])).astype(np.int64)
        case "umax":
            return reduce(np.maximum, v)
    raise ValueError(node.op)
