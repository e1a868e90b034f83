"""Intervals that a term's value is known to lie in, whatever the inputs are."""

from __future__ import annotations

from tcsmt.language.terms import Term, const, operands_first

Interval = tuple[int, int]


class Bounds:
    """Intervals of terms, as unsigned words and as two's complement numbers, remembered."""

    def __init__(self) -> None:
        self._unsigned: dict[Term, Interval] = {}
        self._signed: dict[Term, Interval] = {}

    def unsigned(self, node: Term) -> Interval:
        """Return the least and the largest unsigned value."""
        for operand in operands_first([node], self._unsigned):
            self._unsigned[operand] = self._word(operand)
        return self._unsigned[node]

    def signed(self, node: Term) -> Interval:
        """Return the least and the largest value in two's complement."""
        for operand in operands_first([node], self._signed):
            self._signed[operand] = self._number(operand)
        return self._signed[node]

    def _word(self, node: Term) -> Interval:
        ones = (1 << node.width) - 1
        ranges = [self._unsigned[arg] for arg in node.args]
        low, high = 0, ones
        match node.op:
            case "const":
                low = high = node.value or 0
            case "zext":
                low, high = ranges[0]
            case "concat":
                (low, high), (low2, high2) = ranges
                places = node.args[1].width
                low, high = low << places | low2, high << places | high2
            case "extract":
                first = int(node.data[1])  # type: ignore[index]
                low, high = (end >> first for end in ranges[0])
            case "add":
                low, high = (sum(ends) for ends in zip(*ranges, strict=True))
                if low > ones:  # always a carry out
                    low, high = low - ones - 1, high - ones - 1
            case "sub":
                (low, high), (low2, high2) = ranges
                low, high = low - high2, high - low2
            case "mul":
                (low, high), (low2, high2) = ranges
                low, high = low * low2, high * high2
            case "umax":
                low, high = (max(ends) for ends in zip(*ranges, strict=True))
            case "ite":
                low, high = self._choice(node)
            case "and":
                high = min(k[1] for k in ranges)
            case "or" | "xor":
                high = (1 << max(k[1] for k in ranges).bit_length()) - 1
            case "lshr":
                high = ranges[0][1] >> min(ranges[1][0], node.width)
            case "ashr" if ranges[0][1] <= ones >> 1:
                high = ranges[0][1] >> min(ranges[1][0], node.width)
            case "shl" if ranges[1][0] == ranges[1][1] < node.width:
                low, high = (end << ranges[1][0] for end in ranges[0])
        return (low, high) if low >= 0 and high <= ones else (0, ones)

    def _choice(self, node: Term) -> Interval:
        condition, then, otherwise = node.args
        (low, high), (low2, high2) = self._unsigned[then], self._unsigned[otherwise]
        if condition.op == "eq" and {otherwise, const(0, otherwise.width)} == set(condition.args):
            low2 = max(low2, 1)  # what is chosen where it is not 0
        return min(low, low2), max(high, high2)

    def _number(self, node: Term) -> Interval:
        least, most = -(1 << (node.width - 1)), (1 << (node.width - 1)) - 1
        low, high = self.unsigned(node)
        if high <= most:
            return low, high
        ranges = [self._signed[arg] for arg in node.args]
        low, high = least, most
        match node.op:
            case "const":
                low = high = (node.value or 0) - most - most - 2
            case "sext":
                low, high = ranges[0]
            case "sub":
                (low, high), (low2, high2) = ranges
                low, high = low - high2, high - low2
            case "mul":
                ends = [x * y for x in ranges[0] for y in ranges[1]]
                low, high = min(ends), max(ends)
            case "ashr" if ranges[1][0] == ranges[1][1] >= 0:
                low, high = (end >> ranges[1][0] for end in ranges[0])
            case "ashr":  # toward 0 or -1
                low, high = min(ranges[0][0], 0), max(ranges[0][1], -1)
            case "neg":
                low, high = -ranges[0][1], -ranges[0][0]
            case "ite":
                low, high = min(k[0] for k in ranges[1:]), max(k[1] for k in ranges[1:])
            case "add":
                low, high = (sum(ends) for ends in zip(*ranges, strict=True))
        return (low, high) if least <= low and high <= most else (least, most)
