"""Words of a line of LLVM IR, and the types and operands that they are."""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping, Sequence

from tcsmt.interop.c_reader.llvm_module import (
    Address,
    Aggregate,
    Array,
    Int,
    Literal,
    Local,
    Operand,
    Pointer,
    Struct,
    Symbol,
    Type,
    Undefined,
    Void,
    Zero,
)

_TOKEN = re.compile(
    r'\s*([%@]"[^"]*"|[%@][-\w.$]+|c"[^"]*"|"[^"]*"|!\w*|#\d+|-?\d+\.\d+(?:e[+-]\d+)?|0x[0-9A-Fa-fKLMHR]+'
    r"|-?\d+|[A-Za-z_][\w.$]*|\.\.\.|.)"
)
_FLOATS = {"half": 16, "bfloat": 16, "float": 32, "double": 64}
#: Words before a type that change nothing here.
ATTRIBUTES = frozenset(
    (
        "noundef", "zeroext", "signext", "nonnull", "noalias", "nocapture", "readonly", "writeonly",
        "readnone", "returned", "immarg", "inreg", "dso_local", "nofree", "noinline", "tail", "notail",
        "fastcc", "ccc", "local_unnamed_addr", "unnamed_addr", "internal", "private", "hidden", "external",
        "global", "constant", "linkonce_odr", "weak", "common", "noreturn", "nounwind",
    )
)  # fmt: skip


class LineWords:
    """The words of a line, taken one after the other."""

    def __init__(self, text: str) -> None:
        self.text = text.strip()
        self.words = [word for word in _TOKEN.findall(text) if word.strip()]
        self.place = 0

    def peek(self) -> str:
        """Return the next word, or ""."""
        return self.words[self.place] if self.place < len(self.words) else ""

    def take(self) -> str:
        """Return the next word, which is behind us then."""
        word = self.peek()
        self.place += 1
        return word

    def skip(self, word: str) -> bool:
        """Return whether this word is next; it is taken then."""
        if self.peek() != word:
            return False
        self.place += 1
        return True

    def expect(self, word: str) -> None:
        """Go past this word. Raises ValueError where another one is next."""
        if not self.skip(word):
            raise ValueError(f"expected {word!r}, not {self.peek()!r}")

    def number(self) -> int:
        """Return the next word, a number."""
        return int(self.take())

    def attributes(self) -> list[str]:
        """Go past words that change nothing here, and return them."""
        passed = []
        while self.peek() in ATTRIBUTES or self.peek() in ("align", "dereferenceable", "sret"):
            word = self.take()
            passed.append(word)
            if word == "align" or self.peek() == "(":  # sret(TYPE), align 4, dereferenceable(4)
                bracket = self.skip("(")
                self.take()
                if bracket:
                    self.expect(")")
        return passed

    def until(self, words: Sequence[str]) -> list[str]:
        """Return the words before one of these."""
        parts = []
        while self.peek() and self.peek() not in words:
            parts.append(self.take())
        return parts


class OperandReader:
    """Types and operands, read from words. types: those that the file names, by their names, as text.

    What cannot be read raises ValueError.
    """

    def __init__(self, types: Mapping[str, str]) -> None:
        self.types = types

    def type(self, words: LineWords) -> Type:
        """Return the type that comes next."""
        kind = self._plain_type(words)
        while words.peek() in ("*", "addrspace"):
            if words.take() == "*":
                kind = Pointer()
        return kind

    def _plain_type(self, words: LineWords) -> Type:
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
            return self.type(LineWords(self.types[word]))
        if word == "(":  # the parameters of a function type, whose address is taken
            while words.take() not in (")", ""):
                pass
            return Pointer()
        raise ValueError(f"the type {word} is not supported")

    def operand(self, words: LineWords, of: Type) -> Operand:
        """Return the operand of this type that comes next."""
        word = words.take()
        if word.startswith("%"):
            return Local(plain(word))
        if word.startswith("@"):
            return Symbol(plain(word))
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

    def _aggregate(self, words: LineWords, end: str) -> Operand:
        parts: list[tuple[Type, Operand]] = []
        if words.skip("{"):  # a packed struct
            members = self._aggregate(words, "}")
            words.expect(">")
            return members
        while not words.skip(end):
            kind = self.type(words)
            parts.append((kind, self.operand(words, kind)))
            words.skip(",")
        return Aggregate(tuple(parts))

    def _address(self, words: LineWords) -> Address:
        element = self.type(words)
        words.expect(",")
        base = self.operand(words, self.type(words))
        indices = []
        while words.skip(","):
            words.skip("inrange")
            indices.append(self.operand(words, self.type(words)))
        words.expect(")")
        return Address(element, base, tuple(indices))

    def typed(self, words: LineWords) -> tuple[Type, Operand]:
        """Return a type and the operand behind it, with attributes before either."""
        words.attributes()
        kind = self.type(words)
        words.attributes()
        return kind, self.operand(words, kind)


def plain(name: str) -> str:
    """Return a name without its first character and quotes."""
    return name[1:].strip('"')


def _bytes(text: str) -> bytes:
    content = re.sub(r"\\([0-9A-Fa-f]{2})", lambda pair: chr(int(pair[1], 16)), text)
    return content.encode("latin-1")


def _float_bits(word: str, of: Int) -> int:
    """Return the bits of a constant, which the file has as those of a double (or, with 0xH, of a half)."""
    if word.startswith(("0xH", "0xR")):
        return int(word[3:], 16)
    if of.name not in ("float", "double"):
        raise ValueError(f"the constant {word} is not supported")
    bits = bytes.fromhex(f"{int(word, 16):016x}") if word.startswith("0x") else struct.pack(">d", float(word))
    if of.name == "double":
        return int.from_bytes(bits, "big")
    return int.from_bytes(struct.pack(">f", struct.unpack(">d", bits)[0]), "big")
