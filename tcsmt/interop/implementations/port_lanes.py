"""The lanes of a SystemVerilog port: its declaration decides which bits are which.

The lanes of an array are its elements by ascending index, whichever way it is declared, and those of a vector
are its bits by ascending index. A word is always one vector, read as SystemVerilog reads it. Where a
declaration does not say an order, as of the members of a structure, the lanes must be given.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tcsmt.interop.implementations.verilog_types import (
    PortPart,
    VerilogArray,
    VerilogBits,
    VerilogRecord,
    VerilogType,
)
from tcsmt.matrix_units.models.circuit import Port
from tcsmt.support.errors import TcsmtError


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
