"""Instructions of LLVM IR, read one by one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tcsmt.interop.c_reader.llvm_module import Array, Instruction, Literal, Type, Void
from tcsmt.interop.c_reader.llvm_words import LineWords, OperandReader, plain

_BINARY = frozenset(
    ("add", "sub", "mul", "udiv", "sdiv", "urem", "srem", "shl", "lshr", "ashr", "and", "or", "xor")
)
_CASTS = frozenset(("zext", "sext", "trunc", "bitcast"))


class InstructionReader(OperandReader):
    """Instructions, read from their lines."""

    def instruction(self, text: str, source: str) -> Instruction:
        """Return the instruction on a line. source: where it comes from.

        One that is not read has the opcode ``unsupported``, and words that say why.
        """
        words = LineWords(text.partition(", !")[0])
        result = ""
        if len(words.words) > 1 and words.words[1] == "=":
            result = plain(words.take())
            words.take()
        words.attributes()
        opcode = words.take()
        try:
            how = self._how(opcode)
            if how is None:
                return Instruction(
                    "unsupported",
                    result,
                    Void(),
                    words=(f"{opcode} is not supported: only integer code is",),
                    source=source,
                )
            read = how(opcode, words)
        except (ValueError, IndexError) as why:
            return Instruction("unsupported", result, Void(), words=(f"{opcode}: {why}",), source=source)
        return replace(read, opcode=opcode, result=result, source=source)

    def _how(self, opcode: str) -> Callable[[str, LineWords], Instruction] | None:
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

    def _binary(self, opcode: str, words: LineWords) -> Instruction:
        flags = []
        while words.peek() in ("nsw", "nuw", "exact", "disjoint"):
            flags.append(words.take())
        kind = self.type(words)
        left = self.operand(words, kind)
        words.expect(",")
        return _made(kind, operands=(left, self.operand(words, kind)), words=tuple(flags))

    def _cast(self, opcode: str, words: LineWords) -> Instruction:
        flags = words.until(()) if words.peek() in ("nneg", "nuw", "nsw") else []
        if flags:
            raise ValueError(f"{flags[0]} is not supported")
        source, value = self.typed(words)
        words.expect("to")
        return _made(self.type(words), types=(source,), operands=(value,))

    def _alloca(self, opcode: str, words: LineWords) -> Instruction:
        kind = self.type(words)
        if words.skip(",") and words.peek() != "align":
            count = self.typed(words)[1]
            if not isinstance(count, Literal):
                raise ValueError("an array whose length is not a constant is not supported")
            kind = Array(count.value, kind)
        return _made(kind)

    def _load(self, opcode: str, words: LineWords) -> Instruction:
        if words.peek() in ("volatile", "atomic"):
            raise ValueError(f"{words.peek()} is not supported")
        kind = self.type(words)
        words.expect(",")
        return _made(kind, operands=(self.typed(words)[1],))

    def _store(self, opcode: str, words: LineWords) -> Instruction:
        if words.peek() in ("volatile", "atomic"):
            raise ValueError(f"{words.peek()} is not supported")
        kind, value = self.typed(words)
        words.expect(",")
        return _made(kind, operands=(value, self.typed(words)[1]))

    def _gep(self, opcode: str, words: LineWords) -> Instruction:
        flags = []
        while words.peek() in ("inbounds", "nuw", "nusw"):
            flags.append(words.take())
        element = self.type(words)
        words.expect(",")
        base = self.typed(words)[1]
        indices, types = [], []
        while words.skip(","):
            kind, index = self.typed(words)
            indices.append(index)
            types.append(kind)
        return _made(element, operands=(base, *indices), types=tuple(types), words=tuple(flags))

    def _icmp(self, opcode: str, words: LineWords) -> Instruction:
        predicate = words.take()
        kind = self.type(words)
        left = self.operand(words, kind)
        words.expect(",")
        return _made(kind, operands=(left, self.operand(words, kind)), words=(predicate,))

    def _br(self, opcode: str, words: LineWords) -> Instruction:
        if words.skip("label"):
            return _made(Void(), labels=(plain(words.take()),))
        bit = self.typed(words)[1]
        labels = []
        while words.skip(","):
            words.expect("label")
            labels.append(plain(words.take()))
        return _made(Void(), operands=(bit,), labels=tuple(labels))

    def _switch(self, opcode: str, words: LineWords) -> Instruction:
        kind, value = self.typed(words)
        words.expect(",")
        words.expect("label")
        labels, numbers = [plain(words.take())], []
        words.expect("[")
        while not words.skip("]"):
            self.type(words)
            numbers.append(words.number())
            words.expect(",")
            words.expect("label")
            labels.append(plain(words.take()))
        return _made(kind, operands=(value,), labels=tuple(labels), numbers=tuple(numbers))

    def _phi(self, opcode: str, words: LineWords) -> Instruction:
        kind = self.type(words)
        values, labels = [], []
        while True:
            words.expect("[")
            values.append(self.operand(words, kind))
            words.expect(",")
            labels.append(plain(words.take()))
            words.expect("]")
            if not words.skip(",") or words.peek() != "[":
                return _made(kind, operands=tuple(values), labels=tuple(labels))

    def _select(self, opcode: str, words: LineWords) -> Instruction:
        bit = self.typed(words)[1]
        words.expect(",")
        kind, then = self.typed(words)
        words.expect(",")
        return _made(kind, operands=(bit, then, self.typed(words)[1]))

    def _ret(self, opcode: str, words: LineWords) -> Instruction:
        kind = self.type(words)
        return _made(kind, operands=() if isinstance(kind, Void) else (self.operand(words, kind),))

    def _call(self, opcode: str, words: LineWords) -> Instruction:
        words.attributes()
        kind = self.type(words)
        if words.peek() == "(":  # the whole type of a function with a variable number of arguments
            while words.take() != ")":
                pass
        name = words.take()
        if name == "asm":
            raise ValueError("inline assembly is not supported")
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
        return _made(kind, operands=tuple(values), types=tuple(types), words=(plain(name),))

    def _nothing(self, opcode: str, words: LineWords) -> Instruction:
        return _made(Void())

    def _extract(self, opcode: str, words: LineWords) -> Instruction:
        kind, value = self.typed(words)
        words.expect(",")
        return _made(kind, operands=(value,), numbers=(words.number(),))

    def _insert(self, opcode: str, words: LineWords) -> Instruction:
        kind, value = self.typed(words)
        words.expect(",")
        _, part = self.typed(words)
        words.expect(",")
        return _made(kind, operands=(value, part), numbers=(words.number(),))

    def _freeze(self, opcode: str, words: LineWords) -> Instruction:
        kind, value = self.typed(words)
        return _made(kind, operands=(value,))


def _made(kind: Type, **more: Any) -> Instruction:
    """Return an instruction whose opcode, result and source are not said yet."""
    return Instruction("", "", kind, **more)
