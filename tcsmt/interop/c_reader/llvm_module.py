"""The contents of a file of LLVM IR: types, operands, instructions, functions and variables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Int:
    """An integer, or the bits of a floating-point number, which ``name`` names then."""

    width: int
    name: str = ""

    @property
    def size(self) -> int:
        """Return how many bytes it takes in memory."""
        return 1 << max(0, (self.width - 1).bit_length() - 3)

    @property
    def align(self) -> int:
        """Return the alignment: its address is a multiple of this."""
        return self.size

    def __str__(self) -> str:
        return self.name or f"i{self.width}"


@dataclass(frozen=True)
class Pointer:
    """An address."""

    size: int = 8
    align: int = 8

    def __str__(self) -> str:
        return "ptr"


@dataclass(frozen=True)
class Void:
    """The type of a function without a result."""

    size: int = 0
    align: int = 1

    def __str__(self) -> str:
        return "void"


@dataclass(frozen=True)
class Array:
    """So many elements."""

    count: int
    element: Type

    @property
    def size(self) -> int:
        """Return how many bytes it takes in memory."""
        return self.count * self.element.size

    @property
    def align(self) -> int:
        """Return the alignment: its address is a multiple of this."""
        return self.element.align


@dataclass(frozen=True)
class Struct:
    """Fields one behind the other."""

    fields: tuple[Type, ...]
    packed: bool = False

    @property
    def offsets(self) -> list[int]:
        """Return where each field begins, and last where the fields end."""
        offsets, end = [], 0
        for member in self.fields:
            end = end if self.packed else -(-end // member.align) * member.align
            offsets.append(end)
            end += member.size
        return [*offsets, end]

    @property
    def size(self) -> int:
        """Return how many bytes it takes in memory."""
        return -(-self.offsets[-1] // self.align) * self.align

    @property
    def align(self) -> int:
        """Return the alignment: its address is a multiple of this."""
        return 1 if self.packed else max((member.align for member in self.fields), default=1)


Type = Int | Pointer | Void | Array | Struct


@dataclass(frozen=True)
class Local:
    """A value of the function: a parameter or an instruction's result."""

    name: str


@dataclass(frozen=True)
class Symbol:
    """The address of a global variable or function."""

    name: str


@dataclass(frozen=True)
class Literal:
    """A number."""

    value: int


@dataclass(frozen=True)
class Undefined:
    """``undef`` or ``poison``: no value."""


@dataclass(frozen=True)
class Zero:
    """All bits zero; the null pointer."""


@dataclass(frozen=True)
class Aggregate:
    """Constants of an array or a struct."""

    parts: tuple[tuple[Type, Operand], ...]


@dataclass(frozen=True)
class Address:
    """A constant address: a base and indices, the first one in units of ``type``."""

    type: Type
    base: Operand
    indices: tuple[Operand, ...]


Operand = Local | Symbol | Literal | Undefined | Zero | Aggregate | Address


@dataclass(frozen=True)
class Instruction:
    """One instruction.

    result: the name of its value, or "". type: of its value; of what is loaded, stored, compared, allocated
    or indexed. words: what else its opcode says: flags, a predicate, the function that is called.
    labels: the blocks that it names. numbers: positions in a struct, the cases of a switch. source:
    ``FILE:LINE``, or "".
    """

    opcode: str
    result: str
    type: Type
    operands: tuple[Operand, ...] = ()
    types: tuple[Type, ...] = ()
    words: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    numbers: tuple[int, ...] = ()
    source: str = ""


@dataclass(frozen=True)
class Function:
    """A function: its parameters, and its blocks by name, the first one its entry.

    pointees: of parameters that are pointers, how many bytes what they point to has, where that is known.
    alone: parameters that are pointers to what no other one leads to (``restrict``). local: other files
    cannot call it.
    """

    name: str
    type: Type
    parameters: tuple[tuple[str, Type], ...]
    pointees: Mapping[str, int]
    alone: frozenset[str]
    blocks: Mapping[str, Sequence[Instruction]]
    local: bool
    source: str


@dataclass(frozen=True)
class Global:
    """A variable of the file. value: what it holds at first; None: not known."""

    name: str
    type: Type
    value: Operand | None
    constant: bool


@dataclass
class Module:
    """A file. uneven: unions whose members have different sizes, each its place."""

    functions: dict[str, Function] = field(default_factory=dict)
    variables: dict[str, Global] = field(default_factory=dict)
    uneven: list[str] = field(default_factory=list)
