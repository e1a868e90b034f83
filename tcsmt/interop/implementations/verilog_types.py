"""Types of SystemVerilog, and where in the vector of a port or a variable their parts lie.

Elaboration turns a port into one vector. In it, the left index of an array, packed or unpacked, and the first
member of a structure are the most significant. The types are those that slang writes in its syntax tree.

The declaration of a port decides which of its bits are which lane. The lanes of an array are its elements by
ascending index, whichever way it is declared, and those of a vector are its bits by ascending index. A word
is always one vector, read as SystemVerilog reads it. Where a declaration does not say an order, as of the
members of a structure, the lanes must be given.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from tcsmt.matrix_units.models.circuit import Port
from tcsmt.support.errors import TcsmtError, choose


@dataclass(frozen=True)
class DeclaredPorts:
    """The ports of a netlist, and how the source declares them.

    widths: of the ports, by their names. types: of what the source declares, by the same names.
    """

    widths: Mapping[str, int]
    types: Mapping[str, VerilogType]

    def width(self, port: Port) -> int | None:
        """Return the bits that a port chooses; None where it names nothing that is declared."""
        part = self._part(port)
        return None if part is None else part.type.width

    def spelled(self, port: Port, width: int, lanes: int) -> list[str]:
        """Return a port's text as bits of its vector, one for each lane, or the same text if that says it.

        width: of a word. lanes: how many there are. Raises :class:`.TcsmtError` where the declaration does
        not decide it.
        """
        part = self._part(port)
        if part is None:
            if port.bits is None and port.name in self.widths:
                raise TcsmtError(
                    f"port {port.text!r}: how {port.name} is declared is not known: give each lane as bits of"
                    f" the vector of {self.widths[port.name]} bits, as in"
                    f" {port.operand}{'' if port.operand in 'cd' else 0}={port.name}[{width - 1}:0]"
                )
            return [port.text]
        name = _name(part.text, self.types)
        if part.type.width != lanes * width:
            if port.bits is None and port.name == name:
                return [port.text]  # refused, with both widths, when the model is built
            raise TcsmtError(
                f"port {port.text!r}: {part.text} has {part.type.width} bits, but {port.operand} has"
                f" {lanes * width}"
            )
        if _is_plain(self.types[name]):
            return [port.text]
        words = _words(part, width, port)
        lane = "" if port.lane is None else str(port.lane)
        numbers = [lane] if lane or port.operand in "cd" else [str(number) for number in range(len(words))]
        return [
            f"{port.operand}{number}={name}[{word.high}:{word.low}] ({word.text})"
            for number, word in zip(numbers, words, strict=True)
        ]

    def _part(self, port: Port) -> PortPart | None:
        """Return what a port chooses. Raises :class:`.TcsmtError` for what is not in its type."""
        path, name = port.path, _name(port.path, self.widths)
        if not name or name not in self.types or self.types[name].width != self.widths[name]:
            return None
        part = PortPart(self.types[name], 0, name)
        if port.bits is not None and port.name == name and ":" in path and _is_flat(part.type):
            high, low = port.range_in(part.type.width)
            return PortPart(VerilogArray(high, low, VerilogBits(1), True), low, f"{name}[{high}:{low}]")
        try:
            return part.selected(path[len(name) :])
        except TcsmtError as why:
            raise TcsmtError(f"port {port.text!r}: {why}") from None


def _name(path: str, names: Iterable[str]) -> str:
    """Return the longest name with which a path begins."""
    fitting = [name for name in names if path == name or path.startswith((f"{name}[", f"{name}."))]
    return max(fitting, key=len, default="")


def _is_plain(kind: VerilogType) -> bool:
    """Return whether it is a scalar or a vector whose bits are counted down to 0."""
    if isinstance(kind, VerilogArray):
        return _is_flat(kind) and isinstance(kind.element, VerilogBits)
    return isinstance(kind, VerilogBits)


def _is_flat(kind: VerilogType) -> bool:
    """Return whether it is a packed array whose dimensions all count down to 0, with the bits of its
    vector.
    """
    if not isinstance(kind, VerilogArray):
        return False
    inner = isinstance(kind.element, VerilogBits) or _is_flat(kind.element)
    return kind.packed and kind.descends and kind.right == 0 and inner


def _words(part: PortPart, width: int, port: Port) -> list[PortPart]:
    """Return the words in a part, by ascending index. Raises :class:`.TcsmtError` where there is no such
    order.
    """
    kind = part.type
    if kind.width == width and kind.packed:
        return [part]
    if isinstance(kind, VerilogRecord) and kind.width > width:
        example = f"{port.operand}0={part.text}.{next(iter(kind.members))}"
        raise _open(
            port,
            part,
            f"its members have no order: give each lane, as in {example}",
        )
    if isinstance(kind, VerilogArray):
        indices = range(min(kind.left, kind.right), max(kind.left, kind.right) + 1)
        if kind.element.width % width == 0:
            return [word for index in indices for word in _words(part.element(index), width, port)]
        many, rest = divmod(width, kind.element.width)
        if kind.packed and not rest and kind.count % many == 0:
            ends = [(low, low + many - 1) for low in indices[::many]]
            return [part.slice(*(pair[::-1] if kind.descends else pair)) for pair in ends]
    raise _open(port, part, f"a word of {width} bits must be one element, and packed")


def _open(port: Port, part: PortPart, why: str) -> TcsmtError:
    return TcsmtError(f"port {port.text!r}: the order of bits in {part.text} is not known: {why}")


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
