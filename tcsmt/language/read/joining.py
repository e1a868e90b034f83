"""Operations put together from parts, as readers of other languages need them."""

from __future__ import annotations

from tcsmt.language.terms import TRUE, Term, total, umax

#: Words of a sum or a maximum beyond which it is left as it is: what is joined one by one is written
#: anew each time.
_MOST = 256


def joined(high: Term, low: Term) -> Term:
    """Join two words; what was taken apart bit by bit is put together again.

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
            extract = high.args[0][top:last]
            return extract if rest is None else extract.concat(rest)
    return high.concat(low)


def summed(left: Term, right: Term, *, alone: tuple[bool, bool]) -> Term:
    """Return a sum; of sums that nothing else uses, one of all their words. A constant is added last.

    alone: whether each of the two is used here alone.
    """
    result = left + right  # which sees that they are of one width
    if left.value is not None or right.value is not None:
        return result
    words = zip((left, right), alone, strict=True)
    return total(*(part for word, once in words for part in (apart("add", word) if once else (word,))))


def chosen(bit: Term, then: Term, otherwise: Term) -> Term:
    """Return the one word or the other; the larger one of two is a maximum, and so is that of maxima.

    A word whose highest bit the choice is about may have that bit as a constant.
    """
    if bit.op == "not":
        bit, then, otherwise = bit.args[0], otherwise, then
    if bit.op == "ult" and bit.args == (otherwise, then):
        return largest(otherwise, then)
    if bit.op == "extract" and bit.args[0].width == then.width and bit is bit.args[0][then.width - 1]:
        (word,) = bit.args
        rest = word[word.width - 2 : 0]
        then = word if then is TRUE.concat(rest) else then
        otherwise = word if otherwise is rest.zext(word.width) else otherwise
    return bit.ite(then, otherwise)


def largest(*words: Term) -> Term:
    """Return the maximum; of maxima, one of all their words."""
    return umax(*(part for word in words for part in apart("umax", word)))


def apart(op: str, word: Term) -> tuple[Term, ...]:
    """Return the arguments of an operation on any number of words; else the word."""
    return word.args if word.op == op and len(word.args) < _MOST else (word,)


def _bounds(part: Term) -> tuple[int, int]:
    assert isinstance(part.data, tuple)
    return part.data
