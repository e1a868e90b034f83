"""How large and how branched the code is: lines by folder, and the functions that have the most branches.

    python -m tests.support.code_size [--limit 20] [FOLDER ...]

Lines are counted without blank ones, comments and docstrings. The cyclomatic complexity of a function is one
more than its branches: ``if``, ``for`` and ``while`` and their ``else``, ``except``, ``assert``, each case of
a ``match`` but the last ``_``, each further operand of ``and`` and ``or``, each loop and condition of a
comprehension, each function inside. Those above the limit are listed; ranks: D from 21, E from 31, F from 41.
"""

from __future__ import annotations

import argparse
import ast
import tokenize
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.support.paths import ROOT

DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
UNCOUNTED = (
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
)


def code_lines(path: Path) -> int:
    """The lines of a file on which there is code."""
    with tokenize.open(path) as file:
        text = file.read()
    lines: set[int] = set()
    for token in tokenize.generate_tokens(iter(text.splitlines(keepends=True)).__next__):
        if token.type not in UNCOUNTED:
            lines |= set(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node) is not None:
            lines -= set(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    return len(lines)


@dataclass(frozen=True)
class Function:
    """A function with its branches, those of the functions inside it counted."""

    complexity: int
    name: str
    path: Path
    line: int

    @property
    def rank(self) -> str:
        """A to F, as radon names them."""
        return next(
            (
                rank
                for rank, most in zip("ABCDE", (5, 10, 20, 30, 40), strict=True)
                if self.complexity <= most
            ),
            "F",
        )


def functions(path: Path) -> Iterator[Function]:
    """Every function and method of a file; a function inside another is a part of it."""

    def inside(body: list[ast.stmt], names: str) -> Iterator[Function]:
        for node in body:
            if isinstance(node, ast.ClassDef):
                yield from inside(node.body, f"{names}{node.name}.")
            elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                yield Function(1 + branches(node), names + node.name, path, node.lineno)

    yield from inside(ast.parse(path.read_text(encoding="utf-8")).body, "")


def branches(function: ast.AST) -> int:
    """How often control may go one way or another."""
    count = 0
    for node in ast.walk(function):
        match node:
            case ast.If() | ast.IfExp() | ast.ExceptHandler() | ast.Assert():
                count += 1
            case ast.For() | ast.AsyncFor() | ast.While():
                count += 1 + bool(node.orelse)
            case ast.comprehension(ifs=conditions):
                count += 1 + len(conditions)
            case ast.BoolOp(values=operands):
                count += len(operands) - 1
            case ast.Match(cases=cases):
                last = cases[-1].pattern
                count += len(cases) - (isinstance(last, ast.MatchAs) and last.pattern is None)
            case ast.Lambda() | ast.FunctionDef() if node is not function:
                count += 1
    return count


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="*", type=Path, default=[ROOT / "tcsmt"])
    parser.add_argument("--limit", type=int, default=20, help="list functions of a higher complexity")
    options = parser.parse_args()
    lines: Counter[str] = Counter()
    blocks: list[Function] = []
    for folder in options.folders:
        for path in sorted(folder.rglob("*.py")):
            room = path.relative_to(folder).parts[:-1]
            lines["/".join((folder.name, *room[:1]))] += code_lines(path)
            blocks += functions(path)
    for name, count in sorted(lines.items(), key=lambda item: -item[1]):
        print(f"{count:7,}  {name}")
    print(f"{lines.total():7,}  in all\n")
    branched = sorted(
        (block for block in blocks if block.complexity > options.limit), key=lambda f: -f.complexity
    )
    for block in branched:
        place = (
            f"{block.path.relative_to(ROOT) if block.path.is_relative_to(ROOT) else block.path}:{block.line}"
        )
        print(f"{block.rank} {block.complexity:3}  {block.name}  {place}")
    print(f"{len(branched)} of {len(blocks)} functions are above {options.limit}")


if __name__ == "__main__":
    main()
