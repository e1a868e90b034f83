"""A compiled kernel read to a program: one block runs, and one element of its result is followed back."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache, partial

import numpy as np

from tcsmt.interop.compiled.machine import Launch, Machine
from tcsmt.interop.compiled.matrix_forms import MATRIX_FORMS, WARPGROUP_FORMS, Fragments, shape_of
from tcsmt.interop.compiled.memory_steps import MEMORY_STEPS
from tcsmt.interop.compiled.program_text import ProgramText, Writer
from tcsmt.interop.compiled.ptx_text import Parameter, PtxInstruction, PtxKernel, PtxModule, parse_ptx
from tcsmt.interop.compiled.register_steps import REGISTER_STEPS
from tcsmt.interop.compiled.terms import Bytes
from tcsmt.interop.compiled.trace import Lanes
from tcsmt.interop.compiled.warp_steps import WARP_STEPS
from tcsmt.interop.compiled.warpgroup_steps import WARPGROUP_STEPS
from tcsmt.interop.hardware.instructions import TARGETS, formats_of, warp_tile, warpgroup_tile
from tcsmt.matrix_units.catalogue import Row, architecture_named, rows
from tcsmt.support.errors import TcsmtError

_NAME = re.compile(r"[A-Za-z]\w*")
_TAKEN = ("K", "d", "t")


@dataclass(frozen=True)
class ElementRead:
    """One element of a kernel's result as a program.

    kernel: its name. target: the architecture. result: the name of the buffer, and element: the number in it,
    which begins with 0. line: of the instruction that stores it, with its source. names: of the pointers, by
    the parameters' numbers.
    """

    kernel: str
    target: str
    text: ProgramText
    result: str
    element: int
    line: str
    names: Mapping[int, str]


@dataclass(frozen=True)
class KernelRun:
    """A block of a kernel that has run. names: of the pointers, by the parameters' numbers."""

    machine: Machine
    target: str
    names: Mapping[int, str]
    units: Callable[[str], Row]

    @cached_property
    def stored(self) -> tuple[int, Lanes]:
        """Return the buffer to which the block stores, and its bytes (:meth:`.Machine.stored_bytes`)."""
        found = [*self.machine.stored]
        if len(found) != 1:
            told = ", ".join(sorted(self.names[buffer] for buffer in found)) or "nothing"
            raise TcsmtError(f"the block stores to {told}: it must store to one buffer")
        return found[0], self.machine.stored_bytes(found[0])

    @cached_property
    def size(self) -> int:
        """Return how many bytes an element has: those of the number of which the first byte is one."""
        (byte,) = self._bytes(int(self.stored[1][0, 0]), 1)
        return 1 if byte < 256 else self.machine.trace.terms[(byte - 256) // 16].size

    @cached_property
    def elements(self) -> list[int]:
        """Return the numbers of the elements that the block stores."""
        return [int(number) for number in np.unique(self.stored[1][0] // self.size)]

    def read(self, element: int | None = None) -> ElementRead:
        """Return an element's program; without a number, that of the first one."""
        buffer, stored = self.stored
        number = self.elements[0] if element is None else element
        wanted = np.arange(number * self.size, (number + 1) * self.size)
        if not np.isin(wanted, stored[0]).all():
            shown = self.elements
            raise TcsmtError(
                f"element {number} is not stored by this block, but {len(shown)} others, from {shown[0]} to "
                f"{shown[-1]}"
            )
        instruction = self._instruction(stored[3, np.searchsorted(stored[0], wanted[0])])
        terms = self.machine.trace.terms
        try:
            root = terms.word(self._bytes(number * self.size, self.size))
        except TcsmtError as wrong:
            raise instruction.error(str(wrong)) from None
        moves: dict[int, tuple[int, ...]] = {}
        for word in terms.words_of(root):  # what an element reads must move as one
            if moves.setdefault(word.buffer, word.moves) != word.moves:
                raise self.machine.blocks.undecided()
        names = self.names
        if not {"A", "B"} & {*names.values()}:
            names = {**names, **dict(zip(terms.multiplied(root), "AB", strict=False))}
        text = Writer(terms, self.units, names).write(root)
        return ElementRead(
            self.machine.kernel.name, self.target, text, self.names[buffer], number,
            f"line {instruction.line}{f' ({instruction.source})' if instruction.source else ''}", names,
        )  # fmt: skip

    def _bytes(self, first: int, count: int) -> Bytes:
        found = []
        for offset in range(first, first + count):
            stored = self.stored[1]
            here = slice(*np.searchsorted(stored[0], (offset, offset + 1)))
            several = {self._byte(code, index) for code, index in stored[1:3, here].T.tolist()}
            if len(several) > 1:
                raise self._instruction(stored[3, here.start]).error(
                    "what it stores is stored over by another one"
                )
            found.append(several.pop())
        return tuple(found)

    def _byte(self, code: int, index: int) -> int:
        return self.machine.trace.follow([code])[0][index] if code else index

    def _instruction(self, number: int) -> PtxInstruction:
        return self.machine.kernel.instructions[number]


def run_kernel(
    ptx: str,
    arguments: Sequence[str],
    *,
    name: str | None = None,
    target: str | None = None,
    threads: Sequence[int] | None = None,
    block: Sequence[int] = (0,),
    grid: Sequence[int] | None = None,
    alike: tuple[int, int, int] = (1, 1, 1),
) -> KernelRun:
    """Run one block of a kernel, whose elements can then be read.

    ptx: the text. arguments: of each parameter, a number, or a name where it is a pointer: A and B are what
    the matrix instructions multiply. Trailing pointers may be left out. name: of the kernel, where there are
    several. target: the architecture or GPU; that of the text without. threads: of a block, where the text
    does not say. block, grid: which block, and of how many. alike: so many blocks along each axis, from this
    one on, are what is run, or :class:`.Undecided` says where they part. Raises :class:`.TcsmtError`, which
    names the line of the text, and of its source.
    """
    module = _parsed(ptx)
    kernel = module.kernel(name)
    architecture = _architecture(module, target)
    values, names = _arguments(kernel, arguments)
    count = kernel.threads or threads
    if count is None:
        raise TcsmtError(f"kernel {kernel.name} does not say .reqntid: give the threads of a block")
    if kernel.threads and threads and _three(threads, 1) != _three(kernel.threads, 1):
        raise TcsmtError(f"kernel {kernel.name} is made for {kernel.threads} threads, not {tuple(threads)}")
    own = _three(block, 0)
    whole = _three(grid, 1) if grid else (own[0] + 1, own[1] + 1, own[2] + 1)
    if any(not 0 <= at < size for at, size in zip(own, whole, strict=True)):
        raise TcsmtError(f"block {own}: the grid is {whole}")
    units = cache(partial(_row, architecture))
    fragments = cache(partial(_fragments, units))

    def placed(instruction: PtxInstruction) -> Fragments:
        try:
            return fragments(instruction.name)
        except TcsmtError as wrong:
            raise instruction.error(str(wrong)) from None

    machine = Machine(kernel, Launch(values, own, whole, _three(count, 1), alike), placed)
    machine.run({**REGISTER_STEPS, **MEMORY_STEPS, **WARP_STEPS, **WARPGROUP_STEPS})
    return KernelRun(machine, architecture, names, units)


_parsed = lru_cache(maxsize=4)(parse_ptx)


def _three(given: Sequence[int], rest: int) -> tuple[int, int, int]:
    x, y, z = (*given, rest, rest)[:3]
    return x, y, z


def _architecture(module: PtxModule, target: str | None) -> str:
    """Return the architecture on which a text runs: its own one, or a later one that is asked for."""
    own = architecture_named(module.target.rstrip("af"))
    if target is None:
        return own
    given = architecture_named(target)
    later = _number(TARGETS.get(given, "")) > _number(module.target) and module.target[-1].isdecimal()
    if given != own and not later:
        raise TcsmtError(f"target {target}: PTX for {module.target} does not run on {given}")
    return given


def _number(target: str) -> int:
    """Return the number of a compiler's target, such as 90; 0 for what is not one of PTX."""
    found = re.fullmatch(r"sm_(\d+)[af]?", target)
    return int(found[1]) if found else 0


def _row(architecture: str, unit: str) -> Row:
    try:
        found = rows(f"{architecture}/{unit}", claims=False)
    except TcsmtError:
        found = []
    if len(found) != 1:
        raise TcsmtError(f"no unit of the catalogue is {architecture}/{unit}")
    return found[0]


def _fragments(units: Callable[[str], Row], name: str) -> Fragments:
    unit = MATRIX_FORMS[name] if name in MATRIX_FORMS else WARPGROUP_FORMS[name][0]
    model = units(unit).model
    m, k = shape_of(unit)
    formats = formats_of(model)
    if name in WARPGROUP_FORMS:
        return Fragments(unit, warpgroup_tile(k, formats))
    return Fragments(unit, warp_tile(m, k, formats, dense=False))


def _arguments(kernel: PtxKernel, given: Sequence[str]) -> tuple[list[int | None], dict[int, str]]:
    """Return the bits of each parameter, None for pointers, and the names of these."""
    parameters = kernel.parameters
    if len(given) > len(parameters):
        raise TcsmtError(f"{len(given)} arguments: kernel {kernel.name} has {len(parameters)} parameters")
    values: list[int | None] = []
    names: dict[int, str] = {}
    for number, parameter in enumerate(parameters):
        text = given[number].strip() if number < len(given) else ""
        if number >= len(given) and parameter.size != 8:
            raise TcsmtError(
                f"argument {number + 1} of {kernel.name} is missing: {parameter.name}, {parameter.type}"
            )
        if not text or _NAME.fullmatch(text):
            if parameter.size != 8 or parameter.array:
                raise TcsmtError(
                    f"argument {number + 1}, {text!r}: {parameter.name} is no pointer, but {parameter.type}"
                )
            if text in _TAKEN or (text and text in names.values()):
                raise TcsmtError(f"argument {number + 1}, {text!r}: this name is taken")
            names[number] = text or parameter.name
            values.append(None)
        else:
            values.append(_bits(number, text, parameter))
    return values, names


def _bits(number: int, text: str, parameter: Parameter) -> int:
    try:
        value = int(text, 0)
    except ValueError:
        raise TcsmtError(
            f"argument {number + 1}, {text!r}: must be an integer, the bits of a float, or a pointer's name"
        ) from None
    width = 8 * parameter.size
    if parameter.array or not -(1 << (width - 1)) <= value < 1 << width:
        raise TcsmtError(f"argument {number + 1}, {text}: not a value of {parameter.name}, {parameter.type}")
    return value & ((1 << width) - 1)
