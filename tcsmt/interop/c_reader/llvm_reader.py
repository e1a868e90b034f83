"""LLVM IR as text, read: functions of integers, memory and branches, and the constants that they use.

Only what a compiler writes for integer code without optimisation is read, of LLVM with typed pointers (up to
version 14) and without (from 15 on). Anything else raises an error that names it, with the line of the source
where the file says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from tcsmt.interop.c_reader.llvm_instructions import InstructionReader
from tcsmt.interop.c_reader.llvm_module import Function, Global, Instruction, Module, Type
from tcsmt.interop.c_reader.llvm_words import ATTRIBUTES, LineWords, plain
from tcsmt.support.errors import TcsmtError

#: Kinds of types that are another type by another name.
_NAMES = ("DW_TAG_typedef", "DW_TAG_const_type", "DW_TAG_volatile_type", "DW_TAG_restrict_type")


def read_llvm(text: str) -> Module:
    """Return the functions and variables of a file. Raises :class:`.TcsmtError` for what cannot be read."""
    return _File(text).module()


class _File:
    def __init__(self, text: str) -> None:
        self.lines = text.splitlines()
        types: dict[str, str] = {}
        self.metadata: dict[str, str] = {}
        self.read = InstructionReader(types)
        for line in self.lines:
            if match := re.match(r"(%[-\w.$]+|%\"[^\"]*\") = type (.*)", line):
                types[match[1]] = match[2]
            elif match := re.match(r"(!\d+) = (.*)", line):
                self.metadata[match[1]] = match[2]
            elif line.startswith("target datalayout") and '"e' not in line:
                raise TcsmtError("LLVM IR for a processor whose words begin with the highest byte")

    def module(self) -> Module:
        result = Module(uneven=list(self._uneven_unions()))
        lines = iter(self.lines)
        for line in lines:
            if line.startswith("define "):
                function = self._function(line, lines)
                result.functions[function.name] = function
            elif line.startswith("@"):
                self._global(line, result)
        return result

    def _uneven_unions(self) -> Iterator[str]:
        for text in self.metadata.values():
            union = re.search(r"\bDICompositeType\(tag: DW_TAG_union_type,.*\belements: (!\d+)", text)
            if union:
                members = re.findall(r"!\d+", self.metadata.get(union[1], ""))
                sizes = {
                    (re.search(r"\bsize: (\d+)", self.metadata.get(member, "")) or "?")[0]
                    for member in members
                }
                line = re.search(r"\bline: (\d+)", text)
                if len(sizes) > 1:
                    yield f"{self._file(text)}:{line[1] if line else '?'}"

    def _global(self, line: str, module: Module) -> None:
        """Read a variable; one that cannot be read is an error where it is used alone."""
        words = LineWords(line)
        name = plain(words.take())
        try:
            words.expect("=")
            kind = words.until(("global", "constant"))
            constant = words.take() == "constant"
            value_type = self.read.type(words)
            value = None if "external" in kind else self.read.operand(words, value_type)
        except (ValueError, IndexError):
            return
        module.variables[name] = Global(name, value_type, value, constant)

    def _function(self, line: str, lines: Iterator[str]) -> Function:
        words = LineWords(line)
        words.expect("define")
        head = words.text
        while words.peek() in ATTRIBUTES:
            words.take()
        local = bool(re.match(r"define (dso_local )?(internal|private) ", head))
        name = (re.search(r'@("[^"]*"|[-\w.$]+)\(', head) or ["", "?"])[1].strip('"')
        place = self._place(head)
        try:
            result = self.read.type(words)
            words.take()
            words.expect("(")
            parameters: list[tuple[str, Type]] = []
            alone: set[str] = set()
            while not words.skip(")"):
                if words.peek() == "...":
                    raise ValueError("a variable number of arguments is not supported")
                kind = self.read.type(words)
                attributes = words.attributes()
                if "sret" not in attributes and {"dereferenceable", "nonnull"} & {*attributes}:
                    raise ValueError("a parameter with [static N], or that is not null, is not supported")
                restricted = "noalias" in attributes
                parameters.append((plain(words.take()), kind))
                alone |= {parameters[-1][0]} if restricted else set()
                words.skip(",")
        except ValueError as why:
            raise TcsmtError(f"{place or name}: {name}: {why}") from None
        blocks: dict[str, list[Instruction]] = {}
        current: list[Instruction] = []
        for text in lines:
            code = _without_comment(text)
            if code == "}":
                break
            if match := re.fullmatch(r'("[^"]*"|[-\w.$]+):\s*', code):
                current = blocks.setdefault(match[1].strip('"'), [])
            elif code.strip() and not code.strip().startswith("#dbg_"):
                if code.strip().startswith("switch"):
                    code = " ".join([code, *_to_bracket(lines)]) if "]" not in code else code
                if not blocks:  # the entry has no label where nothing has names
                    current = blocks.setdefault(str(len(parameters)), [])
                current.append(self.read.instruction(code, self._place(code)))
        sizes = self._pointees(head)
        return Function(name, result, tuple(parameters), sizes, frozenset(alone), blocks, local, place)

    def _pointees(self, head: str) -> dict[str, int]:
        """Return how many bytes parameters point to, by the debug information of their function."""
        found = re.search(r"!dbg (!\d+)", head)
        pointees = {}
        for text in self.metadata.values() if found else ():
            variable = re.match(
                r'!DILocalVariable\(name: "([^"]*)", arg: \d+, scope: (!\d+),.*\btype: (!\d+)', text
            )
            if variable and found and variable[2] == found[1]:
                kind = self._derived(variable[3], ("DW_TAG_pointer_type",))
                if kind.startswith("!DIDerivedType(tag: DW_TAG_pointer_type"):
                    base = re.search(r"\bbaseType: (!\d+)", kind)
                    size = re.search(r"\bsize: (\d+)", self._derived(base[1], ()) if base else "")
                    if size:
                        pointees[variable[1]] = int(size[1]) // 8
        return pointees

    def _derived(self, name: str, last: Sequence[str]) -> str:
        """Return a type without typedefs and qualifiers."""
        text = self.metadata.get(name, "")
        while match := re.match(r"!DIDerivedType\(tag: (\w+),.*\bbaseType: (!\d+)", text):
            if match[1] in last or match[1] not in _NAMES:
                break
            text = self.metadata.get(match[2], "")
        return text

    def _place(self, text: str) -> str:
        """Return ``FILE:LINE`` of what a line's debug information says."""
        match = re.search(r"!dbg (!\d+)", text)
        if match is None:
            return ""
        text_of_place = self.metadata.get(match[1], "")
        line = re.search(r"\bline: (\d+)", text_of_place)
        return f"{self._file(text_of_place)}:{line[1]}" if line else ""

    def _file(self, text: str) -> str:
        for _ in range(100):
            if match := re.search(r"\bfile: (!\d+)", text):
                name = re.search(r'filename: "([^"]*)"', self.metadata.get(match[1], ""))
                return name[1] if name else "?"
            scope = re.search(r"\bscope: (!\d+)", text)
            text = self.metadata.get(scope[1], "") if scope else ""
        return "?"


def _without_comment(text: str) -> str:
    """Return a line without its comment; a semicolon in quotes begins none."""
    return re.sub(r'^((?:[^";]|"[^"]*")*);.*', r"\1", text).rstrip()


def _to_bracket(lines: Iterator[str]) -> Iterator[str]:
    for line in lines:
        yield _without_comment(line)
        if line.strip().startswith("]"):
            return
