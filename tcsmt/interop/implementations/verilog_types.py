"""Types of SystemVerilog, and where in the vector of a port or a variable their parts lie.

Elaboration turns a port into one vector. In it, the left index of an array, packed or unpacked, and the first
member of a structure are the most significant. The types are those that slang writes in its syntax tree.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from tcsmt.support.errors import TcsmtError, choose

#: Widths of types whose names say them.
_INTEGERS = {"byte": 8, "shortint": 16, "int": 32, "longint": 64, "integer": 32, "time": 64}
#: A type's name, behind which its dimensions may stand; those of an unpacked array begin with a ``$``.
_NAME = r"(?:(?!\$\[)[^\[ ;}])*"
_RANGE = re.compile(r"\[(-?\d+):(-?\d+)\]")


@dataclass(frozen=True)
class VerilogBits:
    """A scalar, or an enumeration: bits that have no parts. name: as it is written."""

    width: int
    name: str = "logic"

    @property
    def packed(self) -> bool:
        """Return whether it is one vector."""
        return True


@dataclass(frozen=True)
class VerilogArray:
    """An array. left, right: the indices as they are declared. packed: whether it is one vector."""

    left: int
    right: int
    element: VerilogType
    packed: bool

    @property
    def count(self) -> int:
        """Return how many elements it has."""
        return abs(self.left - self.right) + 1

    @property
    def width(self) -> int:
        """Return the width in bits."""
        return self.count * self.element.width

    @property
    def descends(self) -> bool:
        """Return whether a higher index is more significant."""
        return self.left >= self.right

    def offset(self, index: int) -> int:
        """Return the least significant bit of an element."""
        return abs(index - self.right) * self.element.width


@dataclass(frozen=True)
class VerilogRecord:
    """A structure or a union. members: in the order in which they are declared."""

    members: Mapping[str, VerilogType]
    packed: bool
    union: bool = False

    @property
    def width(self) -> int:
        """Return the width in bits."""
        widths = [member.width for member in self.members.values()]
        return max(widths) if self.union else sum(widths)

    def offset(self, name: str) -> int:
        """Return the least significant bit of a member."""
        if self.union:
            return 0
        names = list(self.members)
        return sum(self.members[later].width for later in names[names.index(name) + 1 :])


VerilogType = VerilogBits | VerilogArray | VerilogRecord


@dataclass(frozen=True)
class PortPart:
    """A part of a port: its type, its least significant bit, and the text that selects it."""

    type: VerilogType
    low: int
    text: str

    @property
    def high(self) -> int:
        """Return its most significant bit."""
        return self.low + self.type.width - 1

    def element(self, index: int) -> PortPart:
        """Return an element of an array. Raises :class:`.TcsmtError` for one that it does not have."""
        array = self._array(f"[{index}]")
        low, high = sorted((array.left, array.right))
        if not low <= index <= high:
            raise TcsmtError(f"{self.text}[{index}]: {self.text} has the elements {low} to {high}")
        return PortPart(array.element, self.low + array.offset(index), f"{self.text}[{index}]")

    def slice(self, left: int, right: int) -> PortPart:
        """Return elements of a packed array, from the left one to the right one in the declared direction."""
        array = self._array(f"[{left}:{right}]")
        low, high = sorted((array.left, array.right))
        if not (low <= left <= high and low <= right <= high):
            raise TcsmtError(f"{self.text}[{left}:{right}]: {self.text} has the elements {low} to {high}")
        if left != right and (left > right) != array.descends:
            raise TcsmtError(
                f"{self.text}[{left}:{right}]: {self.text} is declared [{array.left}:{array.right}]:"
                f" give [{right}:{left}]"
            )
        offset = min(array.offset(left), array.offset(right))
        cut = replace(array, left=left, right=right)
        return PortPart(cut, self.low + offset, f"{self.text}[{left}:{right}]")

    def member(self, name: str) -> PortPart:
        """Return a member of a structure or a union. Raises :class:`.TcsmtError` if it is not there."""
        if not isinstance(self.type, VerilogRecord):
            raise TcsmtError(f"{self.text}.{name}: {self.text} is not a structure")
        choose(f"member of {self.text}", name, self.type.members)
        return PortPart(self.type.members[name], self.low + self.type.offset(name), f"{self.text}.{name}")

    def selected(self, selects: str) -> PortPart:
        """Return what selects such as ``[2].x[7:0]`` choose. Raises :class:`.TcsmtError`."""
        part, rest = self, selects
        while rest:
            match = re.match(r"\.(\w+)|\[(-?\d+)\]|\[(-?\d+):(-?\d+)\]", rest)
            if match is None:
                raise TcsmtError(f"{part.text}{rest}: expected [INDEX], [LEFT:RIGHT] or .MEMBER")
            name, index, left, right = match.groups()
            if name is not None:
                part = part.member(name)
            elif index is not None:
                part = part.element(int(index))
            else:
                part = part.slice(int(left), int(right))
            rest = rest[match.end() :]
        return part

    def _array(self, select: str) -> VerilogArray:
        if not isinstance(self.type, VerilogArray):
            raise TcsmtError(f"{self.text}{select}: {self.text} is not an array")
        return self.type


def read_type(text: str, named: Mapping[str, Mapping[str, Any]]) -> VerilogType:
    """Return the type that slang writes so. named: what defines types, by their addresses or names.

    Raises :class:`.TcsmtError` for a type that is not a fixed number of bits.
    """
    reader = _Reader(text, named)
    found = reader.whole()
    if reader.rest:
        raise reader.unknown()
    return found


class _Reader:
    """A text that is read from its start."""

    def __init__(self, text: str, named: Mapping[str, Mapping[str, Any]]) -> None:
        self.text = self.rest = text
        self.named = named

    def unknown(self) -> TcsmtError:
        readable = re.sub(r"\b\d{6,} ", "", self.text)
        return TcsmtError(f"the type {readable} is not supported")

    def taken(self, pattern: str) -> re.Match[str] | None:
        match = re.match(pattern, self.rest)
        if match is not None:
            self.rest = self.rest[match.end() :]
        return match

    def whole(self) -> VerilogType:
        """Return a type with its dimensions: packed ones, and unpacked ones behind a ``$``."""
        found = self._dimensions(self._base(), packed=True)
        return self._dimensions(found, packed=False) if self.taken(r"\$") else found

    def _dimensions(self, element: VerilogType, *, packed: bool) -> VerilogType:
        ranges = []
        while match := self.taken(_RANGE.pattern):
            ranges.append((int(match[1]), int(match[2])))
        if ranges and packed and not element.packed:
            raise self.unknown()
        for left, right in reversed(ranges):
            element = VerilogArray(left, right, element, packed)
        return element

    def _base(self) -> VerilogType:
        if match := self.taken(r"(logic|reg|bit)\b( signed| unsigned)?"):
            return VerilogBits(1, match[1])
        if match := self.taken(r"(byte|shortint|int|longint|integer|time)\b( signed| unsigned)?"):
            return VerilogArray(_INTEGERS[match[1]] - 1, 0, VerilogBits(1), True)
        if match := self.taken(r"(struct|union)( packed)?( signed| unsigned)?\{"):
            return self._record(match[1] == "union", bool(match[2]))
        if match := self.taken(rf"(\d+) ({_NAME})"):
            return self._by_name(self.named.get(match[1]) or self.named.get(match[2]))
        raise self.unknown()

    def _record(self, union: bool, packed: bool) -> VerilogType:
        if union and not packed:  # its members may have different sizes
            raise self.unknown()
        members: dict[str, VerilogType] = {}
        while not self.taken(r"\}" + _NAME):
            member = self.whole()
            match = self.taken(r" ([^ ;\[$]+)")
            if match is None:
                raise self.unknown()
            members[match[1]] = member
            if not self.taken(";"):
                raise self.unknown()
        return VerilogRecord(members, packed, union)

    def _by_name(self, node: Mapping[str, Any] | None) -> VerilogType:
        if node is None:
            raise self.unknown()
        if node["kind"] == "EnumType":
            # a value of an enumeration of int is written without a width
            texts = [str(value["value"]) for value in node.get("members", ()) if value["kind"] == "EnumValue"]
            widths = {int(match[1]) if (match := re.match(r"-?(\d+)'", text)) else 32 for text in texts}
            if len(widths) != 1:
                raise self.unknown()
            return VerilogBits(widths.pop(), "enum")
        if "target" not in node:
            raise self.unknown()
        return read_type(str(node["target"]), self.named)
