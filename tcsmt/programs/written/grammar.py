"""Reading the text of programs: lines ``NAME = STEP(...)``, and ``for`` over parts of K.

The page "Programs on a unit" has the grammar and examples. A text is read for one K, since only then is it a
list of steps.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tcsmt.matrix_units.arithmetic.formats import AnyFormat
from tcsmt.matrix_units.models import Model
from tcsmt.programs.steps.program import UnitProgram, Value
from tcsmt.programs.written.places import parts_of
from tcsmt.programs.written.step_texts import StepTexts
from tcsmt.programs.written.tokens import Tokens, Wrong
from tcsmt.support.errors import TcsmtError

#: Steps of a program, at most.
_MOST_STEPS = 1 << 17
#: Names of freedoms in a text.
_FREEDOM = re.compile(r'any_of\s*\(\s*"([^"]*)"')
_FOR = re.compile(r"for\s+(?P<name>\w+(?:\s*[·*]\s*\w+)?)\s+in\s+(?P<of>.+):$")


@dataclass(frozen=True)
class _Line:
    number: int
    indent: int
    text: str


def program_of(
    text: str,
    k: int,
    inputs: Mapping[str, AnyFormat],
    unit_named: Callable[[str], Model],
    choices: Mapping[str, str | int] | None = None,
    where: Callable[[int], str] = "line {}".format,
    axes: Mapping[str, str] | None = None,
    tile: int = 0,
) -> UnitProgram:
    """Return the program of a text for dot products of k.

    inputs: formats of ``A``, ``B`` and of other inputs by their names. unit_named: the unit of a name.
    choices: which alternative of each freedom (``any_of``), from 0; and numbers in place of inputs that no
    freedom is called like, or other names of theirs. where: a line's place, for errors. axes: of inputs,
    where they are not ``A``, ``B`` and numbers of the element. tile: its members, over which ``t`` goes.
    Raises :class:`.TcsmtError`, which names the line.
    """
    reader = _Reader(unit_named, choices or {})
    numbers = {name for name in choices or {} if name in inputs and name not in _FREEDOM.findall(text)}
    reader.take_inputs(k, inputs, {"A": "A", "B": "B", **(axes or {})}, tile, numbers)
    reader.run(_lines(text), where)
    unused = [name for name in choices or {} if name not in (*reader.freedoms, *numbers)]
    if unused:
        raise TcsmtError(f"freedom {unused[0]!r}: the program has {', '.join(reader.freedoms) or 'none'}")
    result = reader.names.get("d")
    if not isinstance(result, Value):
        raise TcsmtError(f"{where(len(text.splitlines()))}: no line gives d, the result")
    return reader.build.program(result).needed


class _Reader(StepTexts):
    def take_inputs(
        self, k: int, inputs: Mapping[str, AnyFormat], axes: Mapping[str, str], tile: int, numbers: set[str]
    ) -> None:
        """Give K, a tile and the inputs their names. numbers: inputs with a choice: a number, or a name."""
        self.names["K"] = np.arange(k)
        if tile:
            self.names["t"] = np.arange(tile)
        taken = {"K", "d", "t", *inputs}
        for name, fmt in inputs.items():
            if name not in numbers:
                self.names[name] = self.build.input(name, fmt, axes.get(name, ""))
                continue
            choice = str(self.choices[name])
            if choice.isidentifier():
                if choice in taken:
                    raise TcsmtError(f"{name}={choice}: this name is taken")
                taken.add(choice)
                self.names[name] = self.build.input(choice, fmt, axes.get(name, ""))
                continue
            try:
                tokens = Tokens.of(choice)
                sign = tokens.next()[1] if tokens.at("+", "-") else "+"
                self.names[name] = self._constant(tokens, sign, fmt)
                if tokens.found:
                    raise Wrong(f"{tokens.found[0][1]!r} is not expected here")
            except Wrong as wrong:
                raise TcsmtError(f"{name}={choice}: {wrong}") from None

    def run(self, lines: Sequence[_Line], where: Callable[[int], str]) -> None:
        """Follow lines of one indentation, and the blocks that are further in."""
        rest = list(lines)
        while rest:
            line = rest.pop(0)
            try:
                if line.indent != lines[0].indent:
                    raise Wrong("is further in than the line before it, which is no for")
                loop = _FOR.match(line.text)
                if loop is None:
                    self._assign(line.text)
                    continue
                inside = _leading(rest, line.indent)
                if not inside:
                    raise Wrong("a for needs lines that are further in")
                rest = rest[len(inside) :]
                parts = self._loop(loop)
            except (Wrong, TcsmtError) as wrong:
                raise TcsmtError(f"{where(line.number)}: {line.text}: {wrong}") from None
            for bound in parts:
                if len(self.build.steps) > _MOST_STEPS:
                    raise TcsmtError(f"{where(line.number)}: more than {_MOST_STEPS} steps")
                self.names.update(bound)
                self.run(inside, where)

    def _loop(self, loop: re.Match[str]) -> list[dict[str, Any]]:
        tokens = Tokens.of(loop["of"])
        left, mark, right = re.split(r"\s*([·*])\s*", loop["name"]) if re.search("[·*]", loop["name"]) else (
            loop["name"], "", "",
        )  # fmt: skip
        if mark:
            pairs = self.products(tokens)
            bound: list[dict[str, Any]] = [{left: x, right: y} for x, y in pairs]
        else:
            bound = [{left: part} for part in parts_of(tokens, self.names)]
        if tokens.found:
            raise Wrong(f"{tokens.found[0][1]!r} is not expected here")
        return bound

    def _assign(self, text: str) -> None:
        left, equals, right = text.partition("=")
        if not equals:
            raise Wrong("expected NAME = STEP(...)")
        targets = [target.strip() for target in left.split(",")]
        tokens = Tokens.of(right)
        values = [self.value(tokens)]
        while tokens.take(","):
            values.append(self.value(tokens))
        if tokens.found:
            raise Wrong(f"{tokens.found[0][1]!r} is not expected here")
        if len(values) == 1 and isinstance(values[0], tuple):
            values = list(values[0])
        if len(values) != len(targets):
            raise Wrong(f"{len(values)} values for {len(targets)} names")
        for target, value in zip(targets, values, strict=True):
            self._bind(target, value)

    def _bind(self, target: str, value: Any) -> None:
        match = re.fullmatch(r"(\w+)(\[\w+\])?", target)
        if match is None or not match[1][0].isalpha():
            raise Wrong(f"{target!r} is no name")
        if match[2]:
            held = self.names.setdefault(match[1], [])
            if not isinstance(held, list):
                raise Wrong(f"{match[1]} is one value, not a list")
            held.append(value)
        elif isinstance(self.names.get(match[1]), np.ndarray):
            raise Wrong(f"{match[1]} is a part of K")
        else:
            self.names[match[1]] = value


def _lines(text: str) -> list[_Line]:
    """Return the lines that are not empty; one with an open parenthesis goes on below."""
    lines: list[_Line] = []
    depth = 0
    for number, line in enumerate(text.splitlines(), 1):
        bare = line.partition("#")[0].rstrip()
        if not bare.strip():
            continue
        if depth > 0:
            lines[-1] = replace(lines[-1], text=f"{lines[-1].text} {bare.strip()}")
        else:
            lines.append(_Line(number, len(bare) - len(bare.lstrip()), bare.strip()))
        depth += bare.count("(") - bare.count(")")
        depth = max(depth, 0)
    return lines


def _leading(lines: Sequence[_Line], indent: int) -> list[_Line]:
    """Return the lines at the beginning that are further in."""
    count = next((n for n, line in enumerate(lines) if line.indent <= indent), len(lines))
    return list(lines[:count])
