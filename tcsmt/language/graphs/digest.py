"""The digest of a graph: the key of whatever is kept between runs.

A digest is the same in every process and version of Python. It is of the structure alone: two graphs that
differ in one operation have different digests, although they may compute the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from hashlib import blake2b
from weakref import WeakKeyDictionary

from tcsmt.language.terms import MACROS, Term, operands_first, var

#: Operations whose arguments may stand in any order; the order in a node is this version of Python's.
_ANY_ORDER = frozenset({"and", "or", "xor", "add", "mul", "eq", "umax"})
_SIZE = 16
#: Of every node that was asked about and is still there.
_known: WeakKeyDictionary[Term, bytes] = WeakKeyDictionary()


def digest_of_graph(*roots: Term) -> str:
    """Return the digest of one or several graphs, in this order: 32 hexadecimal digits."""
    return blake2b(b"".join(map(_of, roots)), digest_size=_SIZE).hexdigest()


def digest_of_texts(texts: Iterable[str]) -> str:
    """Return the digest of texts, in this order, such as digests of the parts of something larger."""
    state = blake2b(digest_size=_SIZE)
    for text in texts:
        content = text.encode()
        state.update(b"%d:" % len(content))
        state.update(content)
    return state.hexdigest()


def _of(root: Term) -> bytes:
    if root not in _known:
        for node in operands_first([root]):
            if node not in _known:
                _known[node] = _node(node)
    return _known[root]


def _node(node: Term) -> bytes:
    """Return the digest of a node, from the digests of the arguments."""
    arguments = [_known[arg] for arg in node.args]
    if node.op in _ANY_ORDER:
        arguments.sort()
    data = node.data
    if node.op == "macro":  # its name says nothing about what it computes
        data = _definition(str(data), tuple(arg.width for arg in node.args))
    head = f"{node.op} {node.width} {len(arguments)} {data!a}\n".encode()
    return blake2b(head + b"".join(arguments), digest_size=_SIZE).digest()


@cache
def _definition(name: str, widths: tuple[int, ...]) -> str:
    """Return the digest of what a macro stands for, on arguments of these widths."""
    arguments = [var(f"argument {number}", width) for number, width in enumerate(widths)]
    return digest_of_graph(MACROS[name].definition(*arguments))
