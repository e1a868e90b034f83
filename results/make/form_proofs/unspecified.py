"""Graphs in which each result that processors leave open is a free variable.

What holds of such a graph for all values of all variables holds on every processor: whatever word a NaN is,
and whatever a number is that no integer of 32 bits holds (:attr:`.Macro.unspecified`).
"""

from __future__ import annotations

from collections.abc import Iterable

from tcsmt.language.terms import MACROS, Term, expand, operands_first, substitute, var
from tcsmt.matrix_units.arithmetic import native

__all__ = ["unspecified", "written_out"]

#: Operations on floating-point words.
_FLOATS = frozenset(
    {
        macro.name
        for macro in (
            *(native.add, native.add_double, native.from_half, native.from_integer, native.multiply),
            *(native.to_double, native.to_half, native.to_integer, native.to_single),
        )
    }
    | {"fma.f32", "fma.f64"}
)


def unspecified(roots: Iterable[Term]) -> list[Term]:
    """Return the roots, with a free variable for each result that is left open; no macro is left."""
    return expand(written_out(roots))


def written_out(roots: Iterable[Term]) -> list[Term]:
    """Return the same, but that macros which are no operations on floating-point words are left."""
    roots = list(roots)
    open_words: dict[Term, Term] = {}
    for node in operands_first(roots):
        if node.op != "macro":
            continue
        macro = MACROS[str(node.data)]
        args = substitute(node.args, open_words)
        if macro.unspecified is not None:
            free = var(f"open{len(open_words)}", node.width)
            open_words[node] = macro.unspecified(*args).ite(free, macro.definition(*args))
    return expand(substitute(roots, open_words), lambda name: name not in _FLOATS)
