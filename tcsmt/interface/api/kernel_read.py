"""Compiled kernels read to programs: ``tcsmt.kernel_read``."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from tcsmt.interop.compiled.elements import ElementClass, element_classes
from tcsmt.interop.compiled.names import compiled_text, file_text
from tcsmt.interop.compiled.reading import ElementRead, run_kernel
from tcsmt.interop.triton.capture import capture, file_of, is_function
from tcsmt.matrix_units.catalogue import Row
from tcsmt.matrix_units.resolve import resolve
from tcsmt.programs.written.programs import program_of_file
from tcsmt.support.errors import TcsmtError
from tcsmt.support.files import replace_text
from tcsmt.support.floats import ieee_floats
from tcsmt.support.results import Result
from tcsmt.support.text import counted

__all__ = ["CompiledKernel", "kernel_read"]


@dataclass(frozen=True, repr=False)
class CompiledKernel(Result):
    """What a compiled kernel computes for one element of its result, as a program; print it.

    file: that was read. element: the program, and what it was read of. classes: of all elements that the
    grid stores, where they were asked for; those of the first one have this program.
    """

    file: str
    element: ElementRead
    classes: tuple[ElementClass, ...] = ()

    @property
    def k(self) -> int:
        """Return how many products the element has: for this K the program was read."""
        return self.element.text.along["A"].count

    @property
    def freedoms(self) -> tuple[str, ...]:
        """Return what the text leaves open, by name: a program needs a choice for each."""
        return tuple(self.element.text.freedoms)

    def as_toml(self) -> str:
        """Return the file of the program, which is a unit wherever units are named: ``FILE.toml@K``."""
        return file_text(self.element, self.file)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the file of the program."""
        replace_text(Path(path), self.as_toml())

    @property
    def _what(self) -> str:
        return f"{self.element.result}[{self.element.element}]"

    def _facts(self) -> dict[str, Any]:
        text = self.element.text
        return {
            "kernel": self.element.kernel,
            "target": self.element.target,
            "result": self.element.result,
            "element": self.element.element,
            "stored": self.element.line,
            "k": self.k,
            "formats": dict(text.formats),
            "words": {
                name: {"first": one.first, "stride": one.stride, "count": one.count}
                for name, one in text.along.items()
            },
            "inputs": {name: {"format": fmt, "first": at} for name, (fmt, at) in text.inputs.items()},
            "units": dict(text.units),
            "program": list(text.lines),
            "freedoms": dict(text.freedoms),
        } | self._classes()

    def _classes(self) -> dict[str, Any]:
        """Return how many elements each class has, with one of them, its block and its program."""
        if not self.classes:
            return {}
        told = [
            {"count": one.count, "element": one.element.element, "block": list(one.block),
             "program": list(one.element.text.lines)}
            for one in self.classes
        ]  # fmt: skip
        return {"classes": told}

    def _lines(self) -> Iterator[str]:
        text = self.element.text
        what = f"{self._what}, stored at {self.element.line}"
        yield f"# {self.element.kernel}, compiled for {self.element.target}: {what}"
        for name, one in text.along.items():
            words = f"{counted(one.count, 'word')} of {text.formats[name]}"
            yield f"# {name}: {words} from byte {one.first} on, every {one.stride} bytes"
        for name, (fmt, at) in text.inputs.items():
            yield f"# {name}: one word of {fmt} at byte {at}"
        for short, unit in text.units.items():
            yield f"# {short}: {unit}"
        yield from text.lines
        for name, count in text.freedoms.items():
            choices = counted(count, "alternative") if count else f"no document defines it: {name}=nearest"
            yield f"# freedom {name}: {choices}, of line {text.freedom_lines[name]}"
        every = sum(one.count for one in self.classes)
        for number, kind in enumerate(self.classes):
            if number:
                yield f"# {kind.count:,} others, such as {kind.element.result}[{kind.element.element}]:"
                yield from kind.element.text.lines
                continue
            of_them = "all" if kind.count == every else f"{kind.count:,} of"
            stored = f"{every:,} elements of {self.element.result} that the grid stores"
            yield f"# the program of {of_them} {stored}: proved"

    @property
    def _title(self) -> str:
        return f"{self.element.kernel}: {self._what}, K = {self.k}"


@ieee_floats
def kernel_read(
    file: str | os.PathLike[str],
    arguments: Sequence[str | int] | None = None,
    *,
    target: str | None = None,
    kernel: str | None = None,
    element: int | None = None,
    block: tuple[int, int, int] = (0, 0, 0),
    grid: tuple[int, int, int] | None = None,
    threads: tuple[int, int, int] | None = None,
    every: bool = False,
    launch: int | None = None,
    settings: Mapping[str, Any] | None = None,
) -> CompiledKernel:
    """Read a compiled kernel (PTX) as a program: what one element of its result is computed from, and how.

    One block of the kernel is run on the integers that are given, without a GPU; the element is then followed
    back through registers and shared memory to the words of A and B. Every instruction has an exact meaning
    or is refused, and so are branches, masks and addresses that depend on numbers, and reads of shared
    memory that no barrier orders. Buffers are taken not to overlap.

    Args:
        file: A file of PTX, as Triton, nvcc or CuTe write it; or FILE.py:FUNCTION, a function without
            arguments that launches a Triton kernel on CPU tensors, which is compiled for the target.
        arguments: One for each parameter: an integer, 0x... with the bits of a float, or a name for a
            pointer. A and B are what the matrix instructions multiply; where no pointer is called so, they
            are found. Pointers at the end may be left out.
        target: The GPU or architecture that runs it. [default: that of the text]
        kernel: Name of the kernel. [default: the only one]
        element: Number of the element in the buffer to which the kernel stores. [default: the first one that
            the block stores]
        block: The block that is run.
        grid: How many blocks there are. [default: up to the one that is run]
        threads: Threads of a block. [default: as the text says]
        every: Read every element that the grid stores, and say which have this program. A block stands for
            others where all its instructions do the same to addresses that grow in step.
        launch: Which launch of the function, from 0. [default: the only one]
        settings: A constant of the Triton kernel, num_warps or num_stages, or a parameter of the function, by
            its name.

    Raises :class:`tcsmt.TcsmtError`, which names the instruction, its line and the line of its source.
    """
    if is_function(file):
        others = arguments, kernel, grid, threads
        if target is None or any(one is not None for one in others) or any(block):
            raise TcsmtError(
                f"{file}: needs a target, the GPU to compile for; all else is the function's own"
            )
        one = capture(str(file), target, settings=settings).launch(launch)
        ((read, _),) = one.read([] if element is None else [element])
        row_of(read, file_of(str(file)))  # so that what is written is a program
        return CompiledKernel(str(file), read)
    if arguments is None or launch is not None or settings is not None:
        raise TcsmtError(f"{file}: a file of PTX needs arguments, and has no launches and settings")
    path = Path(file)
    ptx = compiled_text(path)
    given = [str(argument) for argument in arguments]
    try:
        run = partial(run_kernel, ptx, given, name=kernel, target=target, threads=threads, grid=grid)
        classes: list[ElementClass] = []
        if every:
            if grid is None or element is not None or any(block):
                raise TcsmtError("every element: give a grid, and no element and no block")
            classes = element_classes(lambda first, alike: run(block=first, alike=alike), grid)
        read = classes[0].element if every else run(block=block).read(element)
    except TcsmtError as error:
        raise TcsmtError(f"{path}: {error}") from None
    row_of(read, path)
    return CompiledKernel(str(path), read, tuple(classes))


def row_of(element: ElementRead, path: Path) -> Row:
    """Return an element's program as the row of a unit, with the first alternative of each freedom."""
    choices = "".join(f",{name}={choice}" for name, choice in element.text.choices.items())
    k = element.text.along["A"].count
    return program_of_file(path, file_text(element, str(path)), choices, k, lambda unit: resolve(unit).row)
