"""Terms as BTOR2 (Niemetz, Preiner, Wolf and Biere, CAV 2018): one line for each node, no states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tcsmt.language.terms import Term

#: The operations whose lines are alike, with their names in BTOR2.
_NAMES = {
    "not": "not", "and": "and", "or": "or", "xor": "xor", "neg": "neg", "add": "add", "sub": "sub",
    "mul": "mul", "shl": "sll", "lshr": "srl", "ashr": "sra", "concat": "concat", "ite": "ite", "eq": "eq",
    "ult": "ult", "slt": "slt",
}  # fmt: skip


class Btor2:
    """A writer of a file, line by line; every line has a number, by which later ones call it."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.number: dict[Term, int] = {}
        self._sorts: dict[int, int] = {}
        self._last = 0

    def line(self, *words: object, name: str = "") -> int:
        """Write one more line, and return its number."""
        self._last += 1
        self.lines.append(" ".join(map(str, (self._last, *words, *([name] if name else [])))))
        return self._last

    def sort(self, width: int) -> int:
        """Return the number of the words' sort."""
        if width not in self._sorts:
            self._sorts[width] = self.line("sort bitvec", width)
        return self._sorts[width]

    def input(self, terms: Sequence[Term], name: str) -> None:
        """Write an input of that name, whose bits are those of the variables, the first one the lowest."""
        width = sum(term.width for term in terms)
        sort = self.sort(width)
        port = self.line("input", sort, name=name)
        low = 0
        for term in terms:
            if len(terms) == 1:
                self.number[term] = port
            else:
                bits = (low + term.width - 1, low)
                self.number[term] = self.line(
                    "slice", self.sort(term.width), port, *bits, name=str(term.data)
                )
            low += term.width

    def nodes(self, nodes: Sequence[Term], names: Mapping[Term, str]) -> None:
        """Write lines for nodes, arguments first, without macros; variables are inputs already."""
        for node in nodes:
            if node not in self.number:
                self.number[node] = self._node(node, names.get(node, ""))

    def _node(self, node: Term, name: str) -> int:
        sort = self.sort(node.width)
        arguments = [self.number[arg] for arg in node.args]
        match node.op:
            case "const":
                return self.line("const", sort, f"{node.value:0{node.width}b}", name=name)
            case "extract":
                return self.line("slice", sort, *arguments, *node.data, name=name)  # type: ignore[misc]
            case "zext" | "sext":
                more = node.width - node.args[0].width
                return self.line("uext" if node.op == "zext" else "sext", sort, *arguments, more, name=name)
            case "add" | "and" | "or" | "umax":
                result = arguments[0]
                for place, other in enumerate(arguments[1:], 2):
                    result = self._two(node, sort, result, other, name if place == len(arguments) else "")
                return result
        return self.line(_NAMES[node.op], sort, *arguments, name=name)

    def _two(self, node: Term, sort: int, first: int, second: int, name: str) -> int:
        if node.op != "umax":
            return self.line(_NAMES[node.op], sort, first, second, name=name)
        bit = self.sort(1)
        return self.line("ite", sort, self.line("ult", bit, first, second), second, first, name=name)

    def output(self, term: Term, name: str) -> None:
        """Write an output of that name."""
        self.line("output", self.number[term], name=name)
