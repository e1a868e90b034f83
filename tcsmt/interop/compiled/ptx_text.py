"""The text of PTX as data: kernels with their parameters, registers, shared memory and instructions.

What the text means is not known here, but for what a reader of any kernel needs: the line of each
instruction, and the source line that the compiler noted for it (``.loc``).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from tcsmt.support.errors import TcsmtError, UnknownName
from tcsmt.support.text import one_line


@dataclass(frozen=True)
class PtxRegister:
    """A register, or a special register such as ``%tid.x``. negated: ``!%p1``."""

    name: str
    negated: bool = False


@dataclass(frozen=True)
class PtxNumber:
    """A number in the text, as the bits of 64-bit two's complement, or of the float that it is."""

    bits: int


@dataclass(frozen=True)
class PtxSymbol:
    """A label, a parameter or an array of shared memory."""

    name: str


@dataclass(frozen=True)
class PtxAddress:
    """``[BASE + OFFSET]``."""

    base: PtxRegister | PtxSymbol
    offset: int


@dataclass(frozen=True)
class PtxVector:
    """``{A, B, ...}``."""

    parts: tuple[PtxRegister | PtxNumber | PtxSymbol, ...]


Operand: TypeAlias = PtxRegister | PtxNumber | PtxSymbol | PtxAddress | PtxVector


@dataclass(frozen=True)
class PtxInstruction:
    """One instruction. name: with all of its modifiers. guard: the predicate under which it runs.

    line: in the text. source: the file and line that the compiler noted, or nothing.
    """

    name: str
    operands: tuple[Operand, ...]
    guard: PtxRegister | None
    line: int
    source: str

    def error(self, why: str) -> TcsmtError:
        """Return an error that names the place."""
        return TcsmtError(f"line {self.line}{f' ({self.source})' if self.source else ''}: {self.name}: {why}")


@dataclass(frozen=True)
class Parameter:
    """A parameter of a kernel. type: ``u64``, ``f32`` ... size: in bytes, of arrays too."""

    name: str
    type: str
    size: int
    array: bool


@dataclass(frozen=True)
class SharedArray:
    """An array in shared memory; size 0: as much as the launch gives."""

    name: str
    align: int
    size: int


@dataclass
class PtxKernel:
    """One ``.entry``.

    registers: the type of each register, by its name or its stem (``%r``). threads: as ``.reqntid`` says, or
    None. labels: the number of the instruction that follows.
    """

    name: str
    parameters: tuple[Parameter, ...] = ()
    registers: dict[str, str] = field(default_factory=dict)
    shared: list[SharedArray] = field(default_factory=list)
    threads: tuple[int, ...] | None = None
    instructions: list[PtxInstruction] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)

    def type_of(self, register: str) -> str:
        """Return the declared type of a register."""
        stem = register if register in self.registers else register.rstrip("0123456789")
        if stem not in self.registers:
            raise TcsmtError(f"kernel {self.name}: register {register} is not declared")
        return self.registers[stem]


@dataclass(frozen=True)
class PtxModule:
    """A text of PTX. target: such as ``sm_90a``."""

    version: str
    target: str
    kernels: tuple[PtxKernel, ...]

    def kernel(self, name: str | None) -> PtxKernel:
        """Return a kernel by its name; the only one without."""
        if name is None and len(self.kernels) == 1:
            return self.kernels[0]
        names = [kernel.name for kernel in self.kernels]
        for kernel in self.kernels:
            if kernel.name == name:
                return kernel
        if name is None:
            raise TcsmtError(f"there are {len(names)} kernels: choose one of {', '.join(names) or 'none'}")
        raise UnknownName("kernel", name, names)


_TOKEN = re.compile(
    r"\s*(?:(?P<version>\d+\.\d+)|(?P<number>0[fF][0-9a-fA-F]{8}|0[dD][0-9a-fA-F]{16}|0[xX][0-9a-fA-F]+U?|\d+U?(?![\w$.]))"
    r"|(?P<name>[.%]?[A-Za-z_$][\w$.:]*|%\w[\w$.]*|_)"
    r"|(?P<text>\"[^\"]*\")"
    r"|(?P<mark>[-+{}()\[\],;:@!|<>=*]))"
)
_SIZES = {"8": 1, "16": 2, "32": 4, "64": 8, "128": 16}
#: Directives before a kernel's body that do not change what it computes.
_LAUNCH = (".maxntid", ".minnctapersm", ".maxnreg", ".noreturn")


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    line: int
    source: str


def parse_ptx(text: str) -> PtxModule:
    """Return what a text of PTX says. Raises :class:`.TcsmtError`, which names the line."""
    return _Parser(_tokens(text)).module()


def _tokens(text: str) -> list[_Token]:
    plain = re.sub(r"/\*.*?\*/", lambda found: "\n" * found.group().count("\n"), text, flags=re.DOTALL)
    lines = [line.partition("//")[0] for line in plain.split("\n")]
    pattern = re.compile(r'\s*\.file\s+(\d+)\s+"([^"]*)"')
    files = {found[1]: one_line(found[2].rpartition("/")[2]) for found in map(pattern.match, lines) if found}
    found, source = [], ""
    for number, line in enumerate(lines, 1):
        if pattern.match(line):
            continue
        if (place := re.match(r"\s*\.loc\s+(\d+)\s+(\d+)\s+\d+", line)) is not None:
            # line 0 is what no line of the source stands for
            source = f"{files.get(place[1], 'source')}:{place[2]}" if place[2] != "0" else source
            continue
        at = 0
        while line[at:].strip():
            token = _TOKEN.match(line, at)
            if token is None:
                raise TcsmtError(f"line {number}: {line[at:].strip()[:30]!r} is not understood")
            kind = str(token.lastgroup)
            found.append(_Token(kind, token[kind], number, source))
            at = token.end()
    return found


class _Parser:
    def __init__(self, tokens: Sequence[_Token]) -> None:
        self.tokens, self.at = tokens, 0

    def peek(self, ahead: int = 0) -> str:
        place = self.at + ahead
        return self.tokens[place].text if place < len(self.tokens) else ""

    def next(self) -> _Token:
        if self.at >= len(self.tokens):
            raise TcsmtError("the text ends where more is expected")
        self.at += 1
        return self.tokens[self.at - 1]

    def take(self, text: str) -> bool:
        if self.peek() == text:
            self.at += 1
            return True
        return False

    def expect(self, text: str) -> None:
        token = self.next()
        if token.text != text:
            raise TcsmtError(f"line {token.line}: expected {text!r}, found {token.text!r}")

    def integer(self) -> int:
        negative = self.take("-")
        token = self.next()
        if token.kind != "number" or token.text[:2].lower() in ("0f", "0d"):
            raise TcsmtError(f"line {token.line}: expected an integer, found {token.text!r}")
        value = int(token.text.rstrip("U"), 0)
        return -value if negative else value

    def module(self) -> PtxModule:
        version, target = "", ""
        kernels: list[PtxKernel] = []
        shared: list[SharedArray] = []
        while self.at < len(self.tokens):
            token = self.next()
            match token.text:
                case ".version":
                    version = self.next().text
                case ".target":
                    target = self.next().text
                    while self.take(","):
                        self.next()
                case ".address_size":
                    self.next()
                case ".visible" | ".extern" | ".weak" | ".common":
                    pass
                case ".shared":
                    shared.append(self.shared_array())
                case ".entry":
                    kernels.append(self.kernel())
                case ".section":
                    while self.next().text != "{":
                        pass
                    self.skip_block()
                case ".global" | ".const":
                    while not self.take(";"):
                        self.next()
                case _:
                    raise TcsmtError(f"line {token.line}: {token.text}: not a part of a module that is read")
        for kernel in kernels:
            kernel.shared = [*shared, *kernel.shared]
        if not target:
            raise TcsmtError("not PTX: no line says .target")
        return PtxModule(version, target, tuple(kernels))

    def skip_block(self) -> None:
        depth = 1
        while depth:
            depth += {"{": 1, "}": -1}.get(self.next().text, 0)

    def shared_array(self) -> SharedArray:
        align, size = 1, 1
        while (token := self.next()).text.startswith("."):
            if token.text == ".align":
                align = self.integer()
            else:
                size = self.size_of(token)
        if self.take("["):
            size = 0 if self.peek() == "]" else size * self.integer()
            self.expect("]")
        self.expect(";")
        return SharedArray(token.text, align, size)

    def size_of(self, token: _Token) -> int:
        found = re.fullmatch(r"\.[busf](\d+)", token.text)
        if found is None or found[1] not in _SIZES:
            raise TcsmtError(f"line {token.line}: {token.text}: not a type that is read")
        return _SIZES[found[1]]

    def parameter(self) -> Parameter:
        self.expect(".param")
        kind, size = "", 0
        while (token := self.next()).text.startswith("."):
            if token.text in (".ptr", ".global", ".shared", ".const", ".local"):
                continue
            if token.text == ".align":
                self.integer()
            else:
                kind, size = token.text[1:], self.size_of(token)
        array = self.take("[")
        if array:
            size *= self.integer()
            self.expect("]")
        return Parameter(token.text, kind, size, array)

    def kernel(self) -> PtxKernel:
        kernel = PtxKernel(self.next().text)
        parameters = []
        if self.take("("):
            while not self.take(")"):
                parameters.append(self.parameter())
                self.take(",")
        kernel.parameters = tuple(parameters)
        while not self.take("{"):
            token = self.next()
            if token.text not in (*_LAUNCH, ".reqntid"):
                raise TcsmtError(f"line {token.line}: {token.text}: not a directive of kernels that is read")
            numbers = [self.integer()] if token.text != ".noreturn" else []
            while self.take(","):
                numbers.append(self.integer())
            if token.text == ".reqntid":
                kernel.threads = tuple(numbers)
        self.body(kernel)
        return kernel

    def body(self, kernel: PtxKernel) -> None:
        depth = 1
        while depth:
            token = self.next()
            if token.text in ("{", "}"):
                depth += 1 if token.text == "{" else -1
            elif token.text == ".reg":
                self.registers(kernel, self.next())
            elif token.text == ".shared":
                kernel.shared.append(self.shared_array())
            elif token.text == ".pragma":
                while not self.take(";"):
                    self.next()
            elif token.text.startswith("."):
                raise TcsmtError(f"line {token.line}: {token.text}: not a directive that is read")
            elif token.text.endswith(":") or self.peek() == ":":
                self.take(":")
                kernel.labels[token.text.rstrip(":")] = len(kernel.instructions)
            else:
                kernel.instructions.append(self.instruction(token))

    def registers(self, kernel: PtxKernel, kind: _Token) -> None:
        while True:
            name = self.next()
            if self.take("<"):
                self.integer()
                self.expect(">")
            if kernel.registers.setdefault(name.text, kind.text[1:]) != kind.text[1:]:
                raise TcsmtError(f"line {name.line}: {name.text} is declared with two types")
            if not self.take(","):
                break
        self.expect(";")

    def instruction(self, token: _Token) -> PtxInstruction:
        guard = None
        if token.text == "@":
            guard = self.register()
            token = self.next()
        if token.kind != "name":
            raise TcsmtError(f"line {token.line}: expected an instruction, found {token.text!r}")
        operands: list[Operand] = []
        while not self.take(";"):
            operands.append(self.operand())
            if not self.take(","):
                self.expect(";")
                break
        return PtxInstruction(token.text, tuple(operands), guard, token.line, token.source)

    def register(self) -> PtxRegister:
        negated = self.take("!")
        token = self.next()
        if token.kind != "name":  # inline assembly may name registers as it likes
            raise TcsmtError(f"line {token.line}: expected a register, found {token.text!r}")
        return PtxRegister(token.text, negated)

    def operand(self) -> Operand:
        if self.take("{"):
            parts = []
            while not self.take("}"):
                parts.append(self.simple())
                self.take(",")
            return PtxVector(tuple(parts))
        if self.take("["):
            base = self.simple()
            offset = 0
            while not self.take("]"):
                if not self.take("+") and self.peek() != "-":
                    token = self.next()
                    raise TcsmtError(f"line {token.line}: {token.text!r} in an address is not understood")
                offset += self.integer()
            if isinstance(base, PtxNumber):
                raise TcsmtError(
                    f"line {self.tokens[self.at - 1].line}: addresses that are numbers are not read"
                )
            return PtxAddress(base, offset)
        one = self.simple()
        return PtxVector((one, self.simple())) if self.take("|") else one

    def simple(self) -> PtxRegister | PtxNumber | PtxSymbol:
        text = self.peek()
        if text == "!" or text.startswith("%"):
            return self.register()
        if text[:2].lower() in ("0f", "0d"):
            return PtxNumber(int(self.next().text[2:], 16))
        if text == "-" or text[:1].isdecimal():
            return PtxNumber(self.integer() & ((1 << 64) - 1))
        token = self.next()
        if token.kind != "name":
            raise TcsmtError(f"line {token.line}: expected an operand, found {token.text!r}")
        return PtxSymbol(token.text)
