"""Words without their containers: what is read from a program, in words as wide as they need to be.

A program holds a number of five bits in an integer of 32, trims what wraps with a mask, and chooses between
two words by arithmetic on masks. Here the same function is written with words of five bits, and with the
operations that are meant. Every rule holds for all values of the words in it, by the definition of the
operations and by intervals (:class:`.Bounds`); none knows who has written the program.

Two walks: from the result down, how many of the low bits of each word matter; then from the inputs up, each
word in that many bits, and as the extension of a narrower one where it is one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import reduce
from operator import and_, or_

from tcsmt.language.graphs.bounds import Bounds
from tcsmt.language.read.joining import apart, joined, largest
from tcsmt.language.terms import TRUE, Term, all_of, const, operands_first, rebuild, total, umax


def exact_widths(root: Term) -> Term:
    """Return the same function of the same variables, in other operations. root: without macros."""
    return _Narrowing(root).result()


class _Narrowing:
    def __init__(self, root: Term) -> None:
        self.root = root
        self.nodes = operands_first([root])
        self.needed = _needed(root, self.nodes)
        self.new: dict[Term, Term] = {}
        self.bounds = Bounds()
        self.users: dict[Term, set[Term]] = defaultdict(set)
        for node in self.nodes:
            for arg in node.args:
                self.users[arg].add(node)

    def result(self) -> Term:
        """Return the root."""
        for node in self.nodes:
            self.new[node] = self._word(node, self.needed[node])
            assert self.new[node].width == self.needed[node], node
        return self.new[self.root]

    def _low(self, arg: Term, width: int) -> Term:
        """Return so many low bits of what is there for a node."""
        return _bits(self.new[arg], width - 1, 0)

    def _word(self, node: Term, width: int) -> Term:
        """Return the low bits of a node, by what is there for its arguments."""
        rule = _RULES.get(node.op)
        if rule is not None:
            return rule(self, node, width)
        # no rule: the node as it was, then cut, which is right for any operation
        args = [self._low(arg, arg.width) for arg in node.args]
        return _bits(rebuild(node, args) if args else node, width - 1, 0)

    # rules: each gives the low ``width`` bits of the node

    def _and(self, node: Term, width: int) -> Term:
        narrow = _needed_of(node, width)[0]
        return self._masked([self._low(arg, narrow) for arg in node.args]).zext(width)

    def _masked(self, args: Sequence[Term]) -> Term:
        """Return a word and others, of which some are a truth value in every bit."""
        width = args[0].width
        masks = [arg for arg in args if arg.op == "sext" and arg.args[0].width == 1]
        words = [arg for arg in args if arg not in masks]
        if masks and words:  # a bit in every place keeps all of a word, or nothing: x & -b is b ? x : 0
            bit = all_of(mask.args[0] for mask in masks)
            return self._chosen(bit, self._masked(words), const(0, width))
        return _by_bits(lambda words: reduce(and_, words), args, min)

    def _or(self, node: Term, width: int) -> Term:
        return self._united([self._low(arg, width) for arg in node.args])

    def _united(self, args: Sequence[Term]) -> Term:
        """Unite words that lie side by side: one behind the other."""
        width, parts = args[0].width, [_core(arg) for arg in args]
        place = max(range(len(parts)), key=lambda place: _zeros(parts[place]))
        high, zeros = parts[place], _zeros(parts[place])
        others = [part for number, part in enumerate(parts) if number != place]
        # no place can have a 1 in two of the words, so that "or" is only putting them together
        if zeros and others and all(part.width <= zeros for part in others):
            low = self._united([part.zext(zeros) for part in others])
            return _joined(_bits(high, high.width - 1, zeros), low).zext(width)
        return _by_bits(lambda words: reduce(or_, words), args, max)

    def _xor(self, node: Term, width: int) -> Term:
        left, right = (self._low(arg, width) for arg in node.args)
        return self._exclusive(left, right)

    def _exclusive(self, left: Term, right: Term) -> Term:
        return self._choice_by_masks(left, right) or _by_bits(
            lambda words: self._choice_by_masks(*words) or words[0] ^ words[1], (left, right), max
        )

    def _choice_by_masks(self, left: Term, right: Term) -> Term | None:
        return self._picked(left, right) or self._picked(right, left)

    def _picked(self, one: Term, other: Term) -> Term | None:
        """Simplify ``(bit ? x ^ y : 0) ^ y``, which is ``bit ? x : y`` without a branch."""
        if one.op in ("zext", "sext"):
            (inner,) = one.args
            narrow = _bits(other, inner.width - 1, 0)
            if _extended(narrow, one) is not other:
                return None
            word = self._picked(inner, narrow)
            return None if word is None else _extended(word, one)
        if one.op == "ite" and one.args[2].value == 0:
            bit, word, _ = one.args
            then = _without(word, other)
            return None if then is None else self._chosen(bit, then, other)
        if one.op == "and" and one.width == 1:
            for part in one.args:
                if part.op == "xor" and other in part.args:
                    bit = all_of(arg for arg in one.args if arg is not part)
                    return bit.ite(_other(part, other), other)
        return None

    def _not(self, node: Term, width: int) -> Term:
        return ~self._low(node.args[0], width)

    def _add(self, node: Term, width: int) -> Term:
        words = [self._low(arg, width) for arg in node.args]
        if len(words) == 2:
            for one, other in (words, words[::-1]):
                word = self._negated(one, other)
                if word is not None:
                    return word
        offsets = any(word.value is not None for word in words)
        args: list[Term] = []
        for arg, word in zip(node.args, words, strict=True):
            number, offset = _number(word) if offsets else (word, const(0, width))
            spliced = self._alone(arg, node) and (number is not word or not offsets)
            args += [*(self._addends(number) if spliced else [number]), offset]
        return self._sum(args)

    def _alone(self, arg: Term, user: Term) -> bool:
        """Return whether nothing else uses a word, nor what it extends."""
        while self.users[arg] == {user}:
            inner = [part for part in arg.args if part.value is None]
            if arg.op not in ("zext", "sext", "xor") or len(inner) != 1:
                return True
            arg, user = inner[0], arg
        return False

    def _addends(self, word: Term) -> Sequence[Term]:
        """Return words of which this one is the sum."""
        inner = word.args[0] if word.op in ("sext", "zext") else word
        addends = apart("add", inner)
        if len(addends) > 1 and inner is not word:
            signed = word.op == "sext"
            ranges = map(self.bounds.signed if signed else self.bounds.unsigned, addends)
            low, high = (sum(ends) for ends in zip(*ranges, strict=True))
            least = -1 << (inner.width - 1) if signed else 0
            if low < least or high >= least + (1 << inner.width):
                return [word]  # the narrow sum may wrap, and then it is not the sum of what is extended
        return [_extended(addend, word) for addend in addends]

    def _negated(self, one: Term, other: Term) -> Term | None:
        """Simplify ``(x ^ -bit) + bit``, which is ``bit ? -x : x`` without a branch."""
        bit, flipped = _core(other), one.args[0] if one.op == "sext" else one
        if bit.width == 1 and flipped.op == "xor" and bit.sext(flipped.width) in flipped.args:
            word = _other(flipped, bit.sext(flipped.width)).sext(one.width)
            return self._chosen(bit, self._minus(word), word)
        return None

    def _sum(self, args: Sequence[Term]) -> Term:
        if args[0].width not in _CONTAINERS and sum(arg.value is None for arg in args) > 2:
            return total(*args)
        low, high = (sum(ends) for ends in zip(*map(self.bounds.unsigned, args), strict=True))
        signed = [sum(ends) for ends in zip(*map(self.bounds.signed, args), strict=True)]
        return self._exact(lambda words: total(*words), args, (low, high), (signed[0], signed[1]))

    def _sub(self, node: Term, width: int) -> Term:
        left, right = (self._low(arg, width) for arg in node.args)
        if left.value == 0:
            return self._minus(right)
        (low, high), (low2, high2) = self.bounds.unsigned(left), self.bounds.unsigned(right)
        (least, most), (least2, most2) = self.bounds.signed(left), self.bounds.signed(right)
        return self._exact(
            lambda words: self._widened(words[0]) - self._widened(words[1]),
            (left, right),
            # where the difference may be negative, it is not an unsigned number of fewer bits
            (low - high2, high - low2) if low >= high2 else (-1, 0),
            (least - most2, most - least2),
        )

    def _neg(self, node: Term, width: int) -> Term:
        return self._minus(self._low(node.args[0], width))

    def _widened(self, word: Term) -> Term:
        """Return a sum with a constant, or a maximum, in as many bits as it is used with."""
        if word.op != "zext":
            return word
        (inner,) = word.args
        if inner.op == "umax":
            return umax(*(self._widened(arg.zext(word.width)) for arg in inner.args))
        most = sum(self.bounds.unsigned(arg)[1] for arg in inner.args)
        if inner.op == "add" and inner.args[0].value is not None and most < 1 << inner.width:
            return total(*(arg.zext(word.width) for arg in inner.args))
        return word

    def _minus(self, word: Term) -> Term:
        core = _core(word)
        if core.width == 1:  # -b is the bit in every place
            return core.sext(word.width)
        if word.op not in ("zext", "sext"):
            return -word
        least, most = self.bounds.signed(word)
        return self._exact(lambda words: -words[0], (word,), (-1, 0), (-most, -least))

    def _mul(self, node: Term, width: int) -> Term:
        """Multiply signed numbers: programs and units have the whole product in their sum's width."""
        args = [self._low(arg, width) for arg in node.args]
        (low, high), (low2, high2) = map(self.bounds.unsigned, args)
        anything = (-1 << (width - 1), (1 << (width - 1)) - 1)
        return self._exact(lambda words: words[0] * words[1], args, (low * low2, high * high2), anything)

    def _exact(
        self,
        operation: Callable[[Sequence[Term]], Term],
        args: Sequence[Term],
        unsigned: tuple[int, int],
        signed: tuple[int, int],
    ) -> Term:
        """Return the operation in as many bits as its arguments and the exact result, between these ends,
        have.

        The operation's low bits depend on the low bits of its arguments alone.
        """
        width = args[0].width
        if unsigned[0] >= 0:
            narrow = max(unsigned[1].bit_length(), *(_core(arg).width for arg in args))
            if narrow < width:
                return operation([_bits(arg, narrow - 1, 0) for arg in args]).zext(width)
        narrow = max((end if end >= 0 else ~end).bit_length() + 1 for end in signed)
        narrow = max(narrow, *(_number_width(arg) for arg in args))
        if narrow < width:
            return operation([_bits(arg, narrow - 1, 0) for arg in args]).sext(width)
        return operation(args)

    def _shl(self, node: Term, width: int) -> Term:
        word, amount = self._low(node.args[0], self.needed[node.args[0]]), self.new[node.args[1]]
        if amount.value is not None:
            places, core = amount.value, _core(word)
            if places >= width:
                return const(0, width)
            if places > 0 and core.width + places <= width:
                return core.concat(const(0, places)).zext(width)
            return _resized(word, width) << places
        by = _core(amount)
        common = max(width, by.width)  # no bit of the amount is lost, so a shift past the width gives 0
        return _bits(self._low(node.args[0], width).zext(common) << by.zext(common), width - 1, 0)

    def _lshr(self, node: Term, width: int) -> Term:
        word, amount = self.new[node.args[0]], self.new[node.args[1]]
        if amount.value is not None:
            core = _core(word)
            if amount.value >= core.width:
                return const(0, width)
            moved = _bits(core, core.width - 1, amount.value)
            return _resized(moved, width)
        return _resized(_shifted(_core(word), amount), width)

    def _ashr(self, node: Term, width: int) -> Term:
        word, amount = self.new[node.args[0]], self.new[node.args[1]]
        return _resized_number(_shifted_signed(word, amount), width)

    def _ite(self, node: Term, width: int) -> Term:
        bit = self.new[node.args[0]]
        then, otherwise = (self._low(arg, width) for arg in node.args[1:])
        return self._chosen(bit, then, otherwise)

    def _chosen(self, bit: Term, then: Term, otherwise: Term) -> Term:
        if bit.value is not None:
            return then if bit.value else otherwise

        if then.value is not None and otherwise.value is not None:
            return bit.ite(then, otherwise)

        def choice(words: Sequence[Term]) -> Term:
            largest = self._largest(bit, words)
            if largest is not None:
                return largest
            moved = _within(bit, words)
            return bit.ite(*words) if moved is None else moved

        return _by_bits(choice, (then, otherwise), max)

    def _largest(self, bit: Term, words: Sequence[Term]) -> Term | None:
        """Simplify ``x < y ? y : x``."""
        if bit.op != "ult":
            return None
        words = [self._widened(word) for word in words]
        if bit.args != (words[1], words[0]):
            return None
        return largest(*words)

    def _eq(self, node: Term, width: int) -> Term:
        left, right = (self.new[arg] for arg in node.args)
        left, right = _same_width(left, right)
        return left.eq(right)

    def _ult(self, node: Term, width: int) -> Term:
        left, right = (_core(self.new[arg]) for arg in node.args)
        if right.value is not None and right.value >> left.width:  # it has a bit above all of the left word's
            return TRUE
        common = max(left.width, right.width)
        left, right = left.zext(common), right.zext(common)
        left, right = self._widened(left), self._widened(right)
        # signed numbers are ordered as unsigned words are with their sign bits flipped
        sign = const(1 << (common - 1), common)
        flipped = [arg for arg in (left, right) if arg.op == "xor" and sign in arg.args]
        if flipped and all(arg in flipped or arg.value is not None for arg in (left, right)):
            return (left ^ sign if left.value is not None else _other(left, sign)).slt(
                right ^ sign if right.value is not None else _other(right, sign)
            )
        return left.ult(right)

    def _slt(self, node: Term, width: int) -> Term:
        left, right = (self.new[arg] for arg in node.args)
        if max(_core(left).width, _core(right).width) < left.width:  # neither is negative
            common = max(_core(left).width, _core(right).width)
            return _bits(left, common - 1, 0).ult(_bits(right, common - 1, 0))
        common = max(_number_width(left), _number_width(right))
        return _bits(left, common - 1, 0).slt(_bits(right, common - 1, 0))

    def _concat(self, node: Term, width: int) -> Term:
        high, low = node.args
        if width <= low.width:
            return self._low(low, width)
        return _joined(self._low(high, width - low.width), self._low(low, low.width))

    def _extract(self, node: Term, width: int) -> Term:
        low = int(node.data[1])  # type: ignore[index]
        return _bits(self.new[node.args[0]], low + width - 1, low)

    def _zext(self, node: Term, width: int) -> Term:
        return _resized(self.new[node.args[0]], width)

    def _sext(self, node: Term, width: int) -> Term:
        return _resized_number(self.new[node.args[0]], width)


#: Bits of the integers that programs have. A sum in another width was trimmed to it.
_CONTAINERS = (8, 16, 32, 64, 128)

_RULES: dict[str, Callable[[_Narrowing, Term, int], Term]] = {
    "and": _Narrowing._and,
    "or": _Narrowing._or,
    "xor": _Narrowing._xor,
    "not": _Narrowing._not,
    "add": _Narrowing._add,
    "sub": _Narrowing._sub,
    "neg": _Narrowing._neg,
    "mul": _Narrowing._mul,
    "shl": _Narrowing._shl,
    "lshr": _Narrowing._lshr,
    "ashr": _Narrowing._ashr,
    "ite": _Narrowing._ite,
    "eq": _Narrowing._eq,
    "ult": _Narrowing._ult,
    "slt": _Narrowing._slt,
    "concat": _Narrowing._concat,
    "extract": _Narrowing._extract,
    "zext": _Narrowing._zext,
    "sext": _Narrowing._sext,
}


def _needed(root: Term, nodes: Sequence[Term]) -> dict[Term, int]:
    """Return how many of the low bits of each node the root depends on; at least one."""
    needed = dict.fromkeys(nodes, 1)
    needed[root] = root.width
    for node in reversed(nodes):
        for arg, width in zip(node.args, _needed_of(node, needed[node]), strict=True):
            needed[arg] = max(needed[arg], min(max(width, 1), arg.width))
    return needed


def _needed_of(node: Term, width: int) -> list[int]:
    """Return for each argument the low bits on which the low ``width`` bits of the node depend."""
    match node.op:
        case "and":
            masks = [arg.value.bit_length() for arg in node.args if arg.value is not None]
            return [min([width, *masks])] * len(node.args)
        case "or" | "xor" | "not" | "add" | "sub" | "neg" | "mul" | "zext" | "sext":
            return [width] * len(node.args)
        case "ite":
            return [1, width, width]
        case "shl":
            places = node.args[1].value
            return [width if places is None else width - places, node.width]
        case "lshr" if node.args[1].value is not None:
            return [width + node.args[1].value, node.width]
        case "concat":
            return [width - node.args[1].width, width]
        case "extract":
            return [width + int(node.data[1])]  # type: ignore[index]
    return [arg.width for arg in node.args]


def _bits(word: Term, high: int, low: int) -> Term:
    """Return bits of a word; of one that is extended, of the narrower word as far as that reaches."""
    if word.op in ("sext", "zext") and high >= word.args[0].width > low:
        (narrow,) = word.args
        part = narrow[narrow.width - 1 : low]
        return part.sext(high - low + 1) if word.op == "sext" else part.zext(high - low + 1)
    if word.op == "sext" and high >= word.args[0].width:
        (narrow,) = word.args
        return narrow[narrow.width - 1].sext(high - low + 1)
    if word.op == "ite" and all(arg.value is not None for arg in word.args[1:]):
        return word.args[0].ite(word.args[1][high:low], word.args[2][high:low])
    return word[high:low]


def _core(word: Term) -> Term:
    """Return the narrower word of which this one is the extension with zeros."""
    if word.value is not None:
        return const(word.value, max(1, word.value.bit_length()))
    return word.args[0] if word.op == "zext" else word


def _number_width(word: Term) -> int:
    """Return bits of the narrowest word of which this one is shown to be the extension as a signed number."""
    if word.value is not None:
        negative = word.value >> (word.width - 1)
        return (~word.value & ((1 << word.width) - 1) if negative else word.value).bit_length() + 1
    if word.op in ("sext", "zext"):
        return word.args[0].width + (word.op == "zext")
    return word.width


def _by_bits(
    operation: Callable[[Sequence[Term]], Term], words: Sequence[Term], most: Callable[[Sequence[int]], int]
) -> Term:
    """Return an operation on each bit alone, in as many bits as matter.

    most: ``min`` for one of which the result has a zero where any argument has.
    """
    width = words[0].width
    narrow = most([_core(word).width for word in words])
    if narrow < width:
        return operation([_bits(word, narrow - 1, 0) for word in words]).zext(width)
    narrow = max(_number_width(word) for word in words)
    if narrow < width:
        return operation([_bits(word, narrow - 1, 0) for word in words]).sext(width)
    return operation(words)


def _zeros(word: Term) -> int:
    """Return how many low bits are 0, as far as it shows."""
    if word.value is not None:
        return (word.value & -word.value).bit_length() - 1 if word.value else 0
    if word.op == "concat" and word.args[1].value == 0:
        return word.args[1].width
    return 0


def _joined(high: Term, low: Term) -> Term:
    """Return one word behind the other; of three, the first two are joined first."""
    if high.value == 0:
        return low.zext(high.width + low.width)
    if high.op == "zext":
        return _joined(high.args[0], low).zext(high.width + low.width)
    if low.op == "concat":
        return joined(_joined(high, low.args[0]), low.args[1])
    return joined(high, low)


def _other(word: Term, one: Term) -> Term:
    """Return the argument of two that is not this one."""
    return word.args[1] if word.args[0] is one else word.args[0]


def _extended(word: Term, like: Term) -> Term:
    """Return the word extended as another one is."""
    return word.sext(like.width) if like.op == "sext" else word.zext(like.width)


def _without(word: Term, part: Term) -> Term | None:
    """Return ``word ^ part``, where that is simpler."""
    if word.op == "xor" and part in word.args:
        return _other(word, part)
    if word is part or word is ~part or (word.value is not None and part.value is not None):
        return word ^ part
    if word.op == "not" and word.args[0].op == "xor" and part in word.args[0].args:
        return ~_other(word.args[0], part)
    return None


def _number(word: Term) -> tuple[Term, Term]:
    """Return ``x ^ sign`` as the number x and the sign, which is to be added; else the word and 0."""
    core = _core(word)
    sign = const(1 << (core.width - 1), core.width)
    if core.width < word.width and core.op == "xor" and sign in core.args:
        return _other(core, sign).sext(word.width), sign.zext(word.width)
    return word, const(0, word.width)


def _amount(amount: Term, width: int) -> Term:
    """Return an amount of a shift in which all from ``width`` on are the same, without its limit."""
    core = _core(amount)
    if core.op != "ite" or core.args[0].op != "ult":
        return core
    bit, then, limit = core.args
    value, end = bit.args
    same = _core(then) is _core(value) and _core(end).value == limit.value
    return _core(then) if same and limit.value is not None and limit.value >= width else core


def _shifted(word: Term, amount: Term) -> Term:
    """Return the word, shifted to the right by an amount of any width."""
    by = _amount(amount, word.width)
    width_of_both = max(word.width, by.width)
    return word.zext(width_of_both) >> by.zext(width_of_both)


def _shifted_signed(word: Term, amount: Term) -> Term:
    narrow = _bits(word, _number_width(word) - 1, 0)
    by = _amount(amount, narrow.width - 1)
    width_of_both = max(narrow.width, by.width)
    return narrow.sext(width_of_both).ashr(by.zext(width_of_both))


def _resized(word: Term, width: int) -> Term:
    return word.zext(width) if word.width < width else _bits(word, width - 1, 0)


def _resized_number(word: Term, width: int) -> Term:
    return word.sext(width) if word.width < width else _bits(word, width - 1, 0)


def _within(bit: Term, words: Sequence[Term]) -> Term | None:
    """Simplify ``z < size ? x >> (z % size) : 0``, x of at most ``size`` bits; to the left, too."""
    then, otherwise = words
    while then.op == "zext" and otherwise.value == 0:
        then = then.args[0]
    if bit.op != "ult" or otherwise.value != 0 or then.op not in ("shl", "lshr"):
        return None
    (amount, size), (word, by) = bit.args, then.args
    amount, by = _core(amount), _core(by)
    if size.value is None or size.value & (size.value - 1) or then.width > size.value:
        return None
    places = size.value.bit_length() - 1
    if amount.width <= places:
        return None
    low = [_bits(amount, places - 1, 0)]
    if amount.op == "ite":  # the mask of a choice by masks is one more of them
        low.append(amount.args[0].ite(*(_bits(arg, places - 1, 0) for arg in amount.args[1:])))
    if by not in map(_core, low):
        return None
    common = max(word.width, amount.width)
    moved = (
        word.zext(common) << amount.zext(common)
        if then.op == "shl"
        else word.zext(common) >> amount.zext(common)
    )
    return _resized(_bits(moved, min(moved.width, then.width) - 1, 0), words[0].width)


def _same_width(left: Term, right: Term) -> tuple[Term, Term]:
    """Return two words that are to be compared, without what both are extended by."""
    common = max(_core(left).width, _core(right).width)
    if common == left.width:
        common = max(_number_width(left), _number_width(right))
    return _bits(left, common - 1, 0), _bits(right, common - 1, 0)
