"""Words put together from parts, as readers of other languages need them."""

from __future__ import annotations

from tcsmt.language.terms import Term

__all__ = ["joined"]


def joined(high: Term, low: Term) -> Term:
    """Two words in one; what was taken apart bit by bit is put together again.

    Yosys writes a sign extension as copies of the sign bit, and a part of a word as its parts; bytes of one
    word are loaded together.
    """
    core = low.args[0] if low.op == "sext" else low
    if high is core[core.width - 1]:
        return core.sext(low.width + 1)
    first, rest = (low.args[0], low.args[1]) if low.op == "concat" else (low, None)
    if high.op == first.op == "extract" and high.args == first.args:
        (top, start), (end, last) = _bounds(high), _bounds(first)
        if start == end + 1:
            whole = high.args[0][top:last]
            return whole if rest is None else whole.concat(rest)
    return high.concat(low)


def _bounds(part: Term) -> tuple[int, int]:
    assert isinstance(part.data, tuple)
    return part.data
