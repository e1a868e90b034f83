"""Operations put together from parts, as readers of other languages need them."""

from __future__ import annotations

from tcsmt.language.terms import TRUE, Term, total, umax

__all__ = ["chosen", "extended", "joined", "summed"]

#: Parts of a word, a sum or a maximum beyond which it is left as it is: what is joined one by one is written
#: anew each time.
_MOST = 256


def joined(high: Term, low: Term) -> Term:
    """Two words in one; what was taken apart bit by bit is put together again.

    Yosys writes a sign extension as copies of the sign bit, a shift by a constant as a part of the word with
    zeros behind it, and a part of a word as its parts; bytes of one word are loaded together. Of three words,
    the first two are joined first.
    """
    width = high.width + low.width
    core = low.args[0] if low.op == "sext" else low
    if high is core[core.width - 1]:
        return core.sext(width)
    if high.value == 0:
        return extended(low, width)
    if high.op == "zext":
        return extended(joined(high.args[0], low), width)
    first, *rest = _side_by_side(low)
    if rest:
        for part in (first, *rest):
            high = joined(high, part)
        return high
    if high.op == "extract":
        (word,), (top, start) = high.args, _bounds(high)
        if low.op == "extract" and low.args == high.args and start == _bounds(low)[0] + 1:
            return word[top : _bounds(low)[1]]
        if low.value == start == 0 and word.width == width:
            return word << low.width
    return high.concat(low)


def extended(word: Term, width: int) -> Term:
    """The word with zeros before it; with zeros on both sides, it is shifted there."""
    if word.op == "concat" and word.args[1].value == 0 and word.width < width:
        return word.args[0].zext(width) << word.args[1].width
    return word.zext(width)


def summed(left: Term, right: Term, *, alone: tuple[bool, bool]) -> Term:
    """A sum; of sums that nothing else uses, one of all their words. A constant is added last.

    alone: whether each of the two is used here alone.
    """
    whole = left + right  # which sees that they are of one width
    if left.value is not None or right.value is not None:
        return whole
    return total(*_parts("add", left, alone[0]), *_parts("add", right, alone[1]))


def chosen(bit: Term, then: Term, otherwise: Term) -> Term:
    """The one word or the other; the larger one of two is a maximum, and so is that of maxima.

    A word whose highest bit the choice is about may have that bit as a constant.
    """
    if bit.op == "not":
        bit, then, otherwise = bit.args[0], otherwise, then
    if bit.op == "ult" and bit.args == (otherwise, then):
        return umax(*_parts("umax", otherwise, True), *_parts("umax", then, True))
    if bit.op == "extract" and bit.args[0].width == then.width and bit is bit.args[0][then.width - 1]:
        (word,) = bit.args
        rest = word[word.width - 2 : 0]
        then = word if then is TRUE.concat(rest) else then
        otherwise = word if otherwise is rest.zext(word.width) else otherwise
    return bit.ite(then, otherwise)


def _parts(op: str, word: Term, apart: bool) -> tuple[Term, ...]:
    """The arguments of an operation on any number of words; else the word."""
    return word.args if apart and word.op == op and len(word.args) < _MOST else (word,)


def _side_by_side(word: Term) -> list[Term]:
    """The words that this one consists of, the highest first."""
    parts, rest = list[Term](), word
    while rest.op == "concat" and len(parts) < _MOST:
        rest, low = rest.args
        parts.append(low)
    return [word] if len(parts) == _MOST else [rest, *reversed(parts)]


def _bounds(part: Term) -> tuple[int, int]:
    assert isinstance(part.data, tuple)
    return part.data
