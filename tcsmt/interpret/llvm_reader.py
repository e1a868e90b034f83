"""LLVM IR as text, read: functions of integers, memory and branches, and the constants that they use.

Only what a compiler writes for integer code without optimisation is read, of LLVM with typed pointers (up to
version 14) and without (from 15 on). Anything else raises an error that names it, with the line of the source
where the file says so.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tcsmt.support.errors import TcsmtError

__all__ = [
    "Address",
    "Aggregate",
    "Array",
    "Function",
    "Global",
    "Instruction",
    "Int",
    "Literal",
    "Local",
    "Module",
    "Operand",
    "Pointer",
    "Struct",
    "Symbol",
    "Type",
    "Undefined",
    "Void",
    "Zero",
    "read_llvm",
]


@dataclass(frozen=True)
class Int:
    """An integer, or the bits of a floating-point number, which ``name`` names then."""

    width: int
    name: str = ""

    @property
    def size(self) -> int:
        """Bytes in memory."""
        return 1 << max(0, (self.width - 1).bit_length() - 3)

    @property
    def align(self) -> int:
        """Its address is a multiple of this."""
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
    """Of a function without a result."""

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
        """Bytes in memory."""
        return self.count * self.element.size

    @property
    def align(self) -> int:
        """Its address is a multiple of this."""
        return self.element.align


@dataclass(frozen=True)
class Struct:
    """Fields one behind the other."""

    fields: tuple[Type, ...]
    packed: bool = False

    @property
    def offsets(self) -> list[int]:
        """Where each field begins, and last where the fields end."""
        found, end = [], 0
        for one in self.fields:
            end = end if self.packed else -(-end // one.align) * one.align
            found.append(end)
            end += one.size
        return [*found, end]

    @property
    def size(self) -> int:
        """Bytes in memory."""
        return -(-self.offsets[-1] // self.align) * self.align

    @property
    def align(self) -> int:
        """Its address is a multiple of this."""
        return 1 if self.packed else max((one.align for one in self.fields), default=1)


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
    local: other files cannot call it.
    """

    name: str
    type: Type
    parameters: tuple[tuple[str, Type], ...]
    pointees: Mapping[str, int]
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
    """A file."""

    functions: dict[str, Function] = field(default_factory=dict)
    variables: dict[str, Global] = field(default_factory=dict)


def read_llvm(text: str) -> Module:
    """The functions and variables of a file. Raises :class:`.TcsmtError` for what cannot be read."""
    return _File(text).module()


_TOKEN = re.compile(
    r'\s*([%@]"[^"]*"|[%@][-\w.$]+|c"[^"]*"|"[^"]*"|!\w*|#\d+|-?\d+\.\d+(?:e[+-]\d+)?|0x[0-9A-Fa-fKLMHR]+'
    r"|-?\d+|[A-Za-z_][\w.$]*|\.\.\.|.)"
)
_FLOATS = {"half": 16, "bfloat": 16, "float": 32, "double": 64}
_BINARY = frozenset(
    ("add", "sub", "mul", "udiv", "sdiv", "urem", "srem", "shl", "lshr", "ashr", "and", "or", "xor")
)
_CASTS = frozenset(("zext", "sext", "trunc", "bitcast"))
#: Kinds of types that are another type by another name.
_NAMES = ("DW_TAG_typedef", "DW_TAG_const_type", "DW_TAG_volatile_type", "DW_TAG_restrict_type")
#: Words before a type that change nothing here.
_ATTRIBUTES = frozenset(
    (
        "noundef", "zeroext", "signext", "nonnull", "noalias", "nocapture", "readonly", "writeonly",
        "readnone", "returned", "immarg", "inreg", "dso_local", "nofree", "noinline", "tail", "notail",
        "fastcc", "ccc", "local_unnamed_addr", "unnamed_addr", "internal", "private", "hidden", "external",
        "global", "constant", "linkonce_odr", "weak", "common", "noreturn", "nounwind",
    )
)  # fmt: skip


class _Tokens:
    """The words of a line, taken one after the other."""

    def __init__(self, text: str) -> None:
        self.text = text.strip()
        self.words = [word for word in _TOKEN.findall(text) if word.strip()]
        self.place = 0

    def peek(self) -> str:
        return self.words[self.place] if self.place < len(self.words) else ""

    def take(self) -> str:
        word = self.peek()
        self.place += 1
        return word

    def skip(self, word: str) -> bool:
        """Whether this word is next; it is taken then."""
        if self.peek() != word:
            return False
        self.place += 1
        return True

    def expect(self, word: str) -> None:
        if not self.skip(word):
            raise ValueError(f"expected {word!r}, not {self.peek()!r}")

    def number(self) -> int:
        return int(self.take())

    def attributes(self) -> None:
        """Past words that change nothing here."""
        while self.peek() in _ATTRIBUTES or self.peek() in ("align", "dereferenceable", "sret"):
            word = self.take()
            if word == "align" or self.peek() == "(":  # sret(TYPE), align 4, dereferenceable(4)
                bracket = self.skip("(")
                self.take()
                if bracket:
                    self.expect(")")

    def until(self, words: Sequence[str]) -> list[str]:
        """The words before one of these."""
        found = []
        while self.peek() and self.peek() not in words:
            found.append(self.take())
        return found


class _File:
    def __init__(self, text: str) -> None:
        self.lines = text.splitlines()
        self.types: dict[str, str] = {}
        self.places: dict[str, str] = {}
        self.metadata: dict[str, str] = {}
        for line in self.lines:
            if found := re.match(r"(%[-\w.$]+|%\"[^\"]*\") = type (.*)", line):
                self.types[found[1]] = found[2]
            elif found := re.match(r"(!\d+) = (.*)", line):
                self.metadata[found[1]] = found[2]
            elif line.startswith("target datalayout") and '"e' not in line:
                raise TcsmtError("LLVM IR for a processor whose words begin with the highest byte")

    def module(self) -> Module:
        found = Module()
        lines = iter(self.lines)
        for line in lines:
            if line.startswith("define "):
                one = self._function(line, lines)
                found.functions[one.name] = one
            elif line.startswith("@"):
                self._global(line, found)
        return found

    # types and operands

    def type(self, words: _Tokens) -> Type:
        found = self._plain_type(words)
        while words.peek() in ("*", "addrspace"):
            if words.take() == "*":
                found = Pointer()
        return found

    def _plain_type(self, words: _Tokens) -> Type:
        word = words.take()
        if re.fullmatch(r"i\d+", word):
            return Int(int(word[1:]))
        if word in _FLOATS:
            return Int(_FLOATS[word], word)
        if word == "ptr":
            return Pointer()
        if word == "void":
            return Void()
        if word == "[":
            count = words.number()
            words.expect("x")
            element = self.type(words)
            words.expect("]")
            return Array(count, element)
        if word == "{" or (word == "<" and words.peek() == "{"):
            packed = word == "<" and words.skip("{")
            fields = []
            while not words.skip("}"):
                fields.append(self.type(words))
                words.skip(",")
            if packed:
                words.expect(">")
            return Struct(tuple(fields), packed)
        if word in self.types:
            if self.types[word] == "opaque":
                raise ValueError(f"the type {word} has no definition")
            return self.type(_Tokens(self.types[word]))
        if word == "(":  # the parameters of a function type, whose address is taken
            while words.take() not in (")", ""):
                pass
            return Pointer()
        raise ValueError(f"the type {word} is not supported")

    def operand(self, words: _Tokens, of: Type) -> Operand:
        word = words.take()
        if word.startswith("%"):
            return Local(_plain(word))
        if word.startswith("@"):
            return Symbol(_plain(word))
        if word in ("true", "false"):
            return Literal(int(word == "true"))
        if re.fullmatch(r"-?\d+", word):
            return Literal(int(word))
        if word in ("null", "zeroinitializer"):
            return Zero()
        if word in ("undef", "poison"):
            return Undefined()
        if word.startswith('c"'):
            data = _bytes(word[2:-1])
            return Aggregate(tuple((Int(8), Literal(byte)) for byte in data))
        if word in ("[", "{", "<"):
            return self._aggregate(words, {"[": "]", "{": "}", "<": ">"}[word])
        if word in ("getelementptr", "bitcast"):
            words.skip("inbounds")
            words.expect("(")
            if word == "bitcast":
                inner = self.operand(words, self.type(words))
                words.expect("to")
                self.type(words)
                words.expect(")")
                return inner
            return self._address(words)
        if isinstance(of, Int) and of.name:
            return Literal(_float_bits(word, of))
        raise ValueError(f"the constant {word} is not supported")

    def _aggregate(self, words: _Tokens, end: str) -> Operand:
        parts: list[tuple[Type, Operand]] = []
        if words.skip("{"):  # a packed struct
            found = self._aggregate(words, "}")
            words.expect(">")
            return found
        while not words.skip(end):
            one = self.type(words)
            parts.append((one, self.operand(words, one)))
            words.skip(",")
        return Aggregate(tuple(parts))

    def _address(self, words: _Tokens) -> Address:
        element = self.type(words)
        words.expect(",")
        base = self.operand(words, self.type(words))
        indices = []
        while words.skip(","):
            words.skip("inrange")
            indices.append(self.operand(words, self.type(words)))
        words.expect(")")
        return Address(element, base, tuple(indices))

    def typed(self, words: _Tokens) -> tuple[Type, Operand]:
        words.attributes()
        one = self.type(words)
        words.attributes()
        return one, self.operand(words, one)

    # the file

    def _global(self, line: str, module: Module) -> None:
        """Variables that cannot be read are errors where they are used alone."""
        words = _Tokens(line)
        name = _plain(words.take())
        try:
            words.expect("=")
            kind = words.until(("global", "constant"))
            constant = words.take() == "constant"
            one = self.type(words)
            value = None if "external" in kind else self.operand(words, one)
        except (ValueError, IndexError):
            return
        module.variables[name] = Global(name, one, value, constant)

    def _function(self, line: str, lines: Iterator[str]) -> Function:
        words = _Tokens(line)
        words.expect("define")
        head = words.text
        while words.peek() in _ATTRIBUTES:
            words.take()
        local = bool(re.match(r"define (dso_local )?(internal|private) ", head))
        name = (re.search(r'@("[^"]*"|[-\w.$]+)\(', head) or ["", "?"])[1].strip('"')
        place = self._place(head)
        try:
            result = self.type(words)
            words.take()
            words.expect("(")
            parameters: list[tuple[str, Type]] = []
            while not words.skip(")"):
                if words.peek() == "...":
                    raise ValueError("a variable number of arguments is not supported")
                one = self.type(words)
                words.attributes()
                parameters.append((_plain(words.take()), one))
                words.skip(",")
        except ValueError as why:
            raise TcsmtError(f"{place or name}: {name}: {why}") from None
        blocks: dict[str, list[Instruction]] = {}
        current: list[Instruction] = []
        for text in lines:
            code = _without_comment(text)
            if code == "}":
                break
            if found := re.fullmatch(r'("[^"]*"|[-\w.$]+):\s*', code):
                current = blocks.setdefault(found[1].strip('"'), [])
            elif code.strip() and not code.strip().startswith("#dbg_"):
                if code.strip().startswith("switch"):
                    code = " ".join([code, *_to_bracket(lines)]) if "]" not in code else code
                if not blocks:  # the entry has no label where nothing has names
                    current = blocks.setdefault(str(len(parameters)), [])
                current.append(self._instruction(code, name))
        sizes = self._pointees(head)
        return Function(name, result, tuple(parameters), sizes, blocks, local, place)

    def _pointees(self, head: str) -> dict[str, int]:
        """Bytes that parameters point to, by the debug information of their function."""
        own = re.search(r"!dbg (!\d+)", head)
        found = {}
        for said in self.metadata.values() if own else ():
            variable = re.match(
                r'!DILocalVariable\(name: "([^"]*)", arg: \d+, scope: (!\d+),.*\btype: (!\d+)', said
            )
            if variable and own and variable[2] == own[1]:
                kind = self._derived(variable[3], ("DW_TAG_pointer_type",))
                if kind.startswith("!DIDerivedType(tag: DW_TAG_pointer_type"):
                    base = re.search(r"\bbaseType: (!\d+)", kind)
                    size = re.search(r"\bsize: (\d+)", self._derived(base[1], ()) if base else "")
                    if size:
                        found[variable[1]] = int(size[1]) // 8
        return found

    def _derived(self, name: str, last: Sequence[str]) -> str:
        """A type without typedefs and qualifiers."""
        said = self.metadata.get(name, "")
        while found := re.match(r"!DIDerivedType\(tag: (\w+),.*\bbaseType: (!\d+)", said):
            if found[1] in last or found[1] not in _NAMES:
                break
            said = self.metadata.get(found[2], "")
        return said

    def _place(self, text: str) -> str:
        """``FILE:LINE`` of what a line's debug information says."""
        found = re.search(r"!dbg (!\d+)", text)
        if found is None:
            return ""
        said = self.metadata.get(found[1], "")
        line = re.search(r"\bline: (\d+)", said)
        return f"{self._file(said)}:{line[1]}" if line else ""

    def _file(self, said: str) -> str:
        for _ in range(100):
            if found := re.search(r"\bfile: (!\d+)", said):
                name = re.search(r'filename: "([^"]*)"', self.metadata.get(found[1], ""))
                return name[1] if name else "?"
            scope = re.search(r"\bscope: (!\d+)", said)
            said = self.metadata.get(scope[1], "") if scope else ""
        return "?"

    # instructions

    def _instruction(self, text: str, function: str) -> Instruction:
        words, source = _Tokens(text.partition(", !")[0]), self._place(text)
        result = ""
        if len(words.words) > 1 and words.words[1] == "=":
            result = _plain(words.take())
            words.take()
        words.attributes()
        opcode = words.take()
        try:
            how = self._how(opcode)
            if how is None:
                return Instruction("unsupported", result, Void(), words=(opcode,), source=source)
            found = how(opcode, words)
        except (ValueError, IndexError) as why:
            return Instruction("unsupported", result, Void(), words=(f"{opcode}: {why}",), source=source)
        return replace(found, opcode=opcode, result=result, source=source)

    def _how(self, opcode: str) -> Callable[[str, _Tokens], Instruction] | None:
        if opcode in _BINARY:
            return self._binary
        if opcode in _CASTS:
            return self._cast
        return {
            "alloca": self._alloca, "load": self._load, "store": self._store, "getelementptr": self._gep,
            "icmp": self._icmp, "br": self._br, "switch": self._switch, "phi": self._phi,
            "select": self._select, "ret": self._ret, "call": self._call, "unreachable": self._nothing,
            "extractvalue": self._extract, "insertvalue": self._insert, "freeze": self._freeze,
        }.get(opcode)  # fmt: skip

    def _binary(self, opcode: str, words: _Tokens) -> Instruction:
        flags = []
        while words.peek() in ("nsw", "nuw", "exact", "disjoint"):
            flags.append(words.take())
        one = self.type(words)
        left = self.operand(words, one)
        words.expect(",")
        return _made(one, operands=(left, self.operand(words, one)), words=tuple(flags))

    def _cast(self, opcode: str, words: _Tokens) -> Instruction:
        flags = words.until(()) if words.peek() in ("nneg", "nuw", "nsw") else []
        if flags:
            raise ValueError(f"{flags[0]} is not supported")
        source, value = self.typed(words)
        words.expect("to")
        return _made(self.type(words), types=(source,), operands=(value,))

    def _alloca(self, opcode: str, words: _Tokens) -> Instruction:
        one = self.type(words)
        if words.skip(",") and words.peek() != "align":
            count = self.typed(words)[1]
            if not isinstance(count, Literal):
                raise ValueError("an array whose length is not a constant is not supported")
            one = Array(count.value, one)
        return _made(one)

    def _load(self, opcode: str, words: _Tokens) -> Instruction:
        if words.peek() in ("volatile", "atomic"):
            raise ValueError(f"{words.peek()} is not supported")
        one = self.type(words)
        words.expect(",")
        return _made(one, operands=(self.typed(words)[1],))

    def _store(self, opcode: str, words: _Tokens) -> Instruction:
        if words.peek() in ("volatile", "atomic"):
            raise ValueError(f"{words.peek()} is not supported")
        one, value = self.typed(words)
        words.expect(",")
        return _made(one, operands=(value, self.typed(words)[1]))

    def _gep(self, opcode: str, words: _Tokens) -> Instruction:
        flags = []
        while words.peek() in ("inbounds", "nuw", "nusw"):
            flags.append(words.take())
        element = self.type(words)
        words.expect(",")
        base = self.typed(words)[1]
        indices, types = [], []
        while words.skip(","):
            one, index = self.typed(words)
            indices.append(index)
            types.append(one)
        return _made(element, operands=(base, *indices), types=tuple(types), words=tuple(flags))  # fmt: skip

    def _icmp(self, opcode: str, words: _Tokens) -> Instruction:
        predicate = words.take()
        one = self.type(words)
        left = self.operand(words, one)
        words.expect(",")
        return _made(one, operands=(left, self.operand(words, one)), words=(predicate,))

    def _br(self, opcode: str, words: _Tokens) -> Instruction:
        if words.skip("label"):
            return _made(Void(), labels=(_plain(words.take()),))
        bit = self.typed(words)[1]
        labels = []
        while words.skip(","):
            words.expect("label")
            labels.append(_plain(words.take()))
        return _made(Void(), operands=(bit,), labels=tuple(labels))

    def _switch(self, opcode: str, words: _Tokens) -> Instruction:
        one, value = self.typed(words)
        words.expect(",")
        words.expect("label")
        labels, numbers = [_plain(words.take())], []
        words.expect("[")
        while not words.skip("]"):
            self.type(words)
            numbers.append(words.number())
            words.expect(",")
            words.expect("label")
            labels.append(_plain(words.take()))
        return _made(one, operands=(value,), labels=tuple(labels), numbers=tuple(numbers))

    def _phi(self, opcode: str, words: _Tokens) -> Instruction:
        one = self.type(words)
        values, labels = [], []
        while True:
            words.expect("[")
            values.append(self.operand(words, one))
            words.expect(",")
            labels.append(_plain(words.take()))
            words.expect("]")
            if not words.skip(",") or words.peek() != "[":
                return _made(one, operands=tuple(values), labels=tuple(labels))

    def _select(self, opcode: str, words: _Tokens) -> Instruction:
        bit = self.typed(words)[1]
        words.expect(",")
        one, then = self.typed(words)
        words.expect(",")
        return _made(one, operands=(bit, then, self.typed(words)[1]))

    def _ret(self, opcode: str, words: _Tokens) -> Instruction:
        one = self.type(words)
        return _made(one, operands=() if isinstance(one, Void) else (self.operand(words, one),))

    def _call(self, opcode: str, words: _Tokens) -> Instruction:
        words.attributes()
        one = self.type(words)
        if words.peek() == "(":  # the whole type of a function with a variable number of arguments
            while words.take() != ")":
                pass
        name = words.take()
        if not name.startswith("@"):
            raise ValueError("a call through a pointer is not supported")
        words.expect("(")
        types, values = [], []
        while not words.skip(")"):
            if words.peek() == "metadata":
                words.until((",", ")"))
            else:
                typed = self.typed(words)
                types.append(typed[0])
                values.append(typed[1])
            words.skip(",")
        return _made(one, operands=tuple(values), types=tuple(types), words=(_plain(name),))

    def _nothing(self, opcode: str, words: _Tokens) -> Instruction:
        return _made(Void())

    def _extract(self, opcode: str, words: _Tokens) -> Instruction:
        one, value = self.typed(words)
        words.expect(",")
        return _made(one, operands=(value,), numbers=(words.number(),))

    def _insert(self, opcode: str, words: _Tokens) -> Instruction:
        one, value = self.typed(words)
        words.expect(",")
        _, part = self.typed(words)
        words.expect(",")
        return _made(one, operands=(value, part), numbers=(words.number(),))

    def _freeze(self, opcode: str, words: _Tokens) -> Instruction:
        one, value = self.typed(words)
        return _made(one, operands=(value,))


def _made(kind: Type, **more: Any) -> Instruction:
    """An instruction whose opcode, result and source are not said yet."""
    return Instruction("", "", kind, **more)


def _plain(name: str) -> str:
    return name[1:].strip('"')


def _bytes(text: str) -> bytes:
    found = re.sub(r"\\([0-9A-Fa-f]{2})", lambda pair: chr(int(pair[1], 16)), text)
    return found.encode("latin-1")


def _float_bits(word: str, of: Int) -> int:
    """The bits of a constant, which the file has as those of a double (or, with 0xH, of a half)."""
    if word.startswith(("0xH", "0xR")):
        return int(word[3:], 16)
    if of.name not in ("float", "double"):
        raise ValueError(f"the constant {word} is not supported")
    bits = bytes.fromhex(f"{int(word, 16):016x}") if word.startswith("0x") else struct.pack(">d", float(word))
    if of.name == "double":
        return int.from_bytes(bits, "big")
    return int.from_bytes(struct.pack(">f", struct.unpack(">d", bits)[0]), "big")


def _without_comment(text: str) -> str:
    """A line without its comment; a semicolon in quotes begins none."""
    return re.sub(r'^((?:[^";]|"[^"]*")*);.*', r"\1", text).rstrip()


def _to_bracket(lines: Iterator[str]) -> Iterator[str]:
    for line in lines:
        yield _without_comment(line)
        if line.strip().startswith("]"):
            return
