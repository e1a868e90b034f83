"""A kit of an architecture's instructions: the files of a folder, with vectors and a program that checks."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tcsmt.interop.hardware.instructions import template
from tcsmt.interop.kits.arithmetic import UnitInC
from tcsmt.interop.kits.instructions import Argument, KitFunction, kit_function
from tcsmt.interop.kits.vectors import Tiles
from tcsmt.language.write.operators import identifier
from tcsmt.matrix_units.catalogue import Row, rows
from tcsmt.simulate.rows import Words
from tcsmt.support.errors import TcsmtError, choose
from tcsmt.support.escaping import comment
from tcsmt.support.progress import ProgressCallback, no_progress
from tcsmt.support.results import Result, columns
from tcsmt.support.text import counted
from tcsmt.support.version import __version__

#: What a kit is called among languages.
LANGUAGE = "c-kit"
#: Where the texts of its files are.
_KITS = "tcsmt.interop.kits"
#: How many instructions are named that are not in a kit for one reason.
_NAMED = 3
#: Bits of flags of ``wgmma``.
_FLAGS = ("ZERO_C", "NEGATE_A", "NEGATE_B", "TRANSPOSE_A", "TRANSPOSE_B")


@dataclass(frozen=True, repr=False)
class Kit(Result):
    """The instructions of an architecture as C functions.

    architecture: its name. functions: those of the kit. left_out: the others, with the reason. tiles: rows
    for each function, by its name.
    """

    architecture: str
    functions: tuple[KitFunction, ...]
    left_out: Mapping[str, str]
    tiles: Mapping[str, Tiles]

    @cached_property
    def name(self) -> str:
        """Return the name of the library and of its header."""
        return identifier(self.architecture)

    @cached_property
    def units(self) -> dict[str, UnitInC]:
        """Return the arithmetic that functions share, by the digest of the model."""
        found: dict[str, UnitInC] = {}
        lanes = {function.row.model.digest for function in self.functions if function.kind == "lanes"}
        for function in self.functions:
            row, digest = function.row, function.row.model.digest
            if digest not in found:
                found[digest] = UnitInC(row, f"{self.name}_unit_{len(found)}", digest in lanes)
        return found

    def files(self) -> Iterator[tuple[str, str]]:
        """Yield the files: the path in the folder, and the text."""
        units = self.units.values()
        products = "\n".join(f"{head};" for unit in units for head in unit.heads)
        yield f"{self.name}.h", self._header()
        yield f"{self.name}.c", self._runtime()
        yield "units/units.h", _filled("units.h", products=products)
        for unit in units:
            yield f"units/{unit.name.removeprefix(f'{self.name}_')}.c", unit.text
        yield "check.c", self._check()
        yield "CMakeLists.txt", _filled("CMakeLists.txt", name=self.name)
        for name, tiles in self.tiles.items():
            yield f"vectors/{name}.hex", tiles.text
        yield "kit.json", json.dumps(self._manifest(), indent=1) + "\n"

    def _header(self) -> str:
        kinds = {function.kind for function in self.functions}
        parts = [_NOTES[kind] for kind in _NOTES if kind in kinds]
        if "wgmma" in kinds:
            parts.append(
                "\n".join(f"#define TCSMT_{name} {1 << bit}u" for bit, name in enumerate(_FLAGS)) + "\n"
            )
        for function in self.functions:
            row = function.row
            about = (
                f"{row.name}: {row.evidence}{', disputed' if row.status == 'disputed' else ''}; {row.source}"
            )
            parts.append(f"/* {comment(about)} */\n{function.prototype};\n")
        table = columns(
            [
                ["function", "evidence", "status"],
                *([f.name, f.row.evidence, f.row.status] for f in self.functions),
            ]
        )
        table += self._left_out()
        return _filled(
            "kit.h",
            title=f"{self._title}: registers in, registers out.",
            guard=f"{self.name.upper()}_H",
            table="\n".join(f" * {comment(line)}" for line in table),
            prototypes="\n".join(parts),
        )

    def _runtime(self) -> str:
        kinds = {function.kind for function in self.functions}
        sizes = (words * size for function in self.functions for words, size in _words(function))
        room = max(sizes, default=1)
        parts = ["runtime", *(kind for kind in ("wgmma", "tiles", "lanes") if kind in kinds)]
        definitions = [f.definition(self.units[f.row.model.digest]) for f in self.functions]
        values = {"bytes": str(-(-room // 8) * 8), "header": f"{self.name}.h", "version": __version__}
        return "\n".join([*(template(f"{part}.c", _KITS).substitute(values) for part in parts), *definitions])

    def _check(self) -> str:
        calls = [
            f"static void call_{f.name}(void) {{\n"
            f"  {f.name}({', '.join(map(_argument, f.arguments, f.types))});\n}}\n"
            for f in self.functions
        ]
        table = [
            f'  {{"{f.name}", call_{f.name}, {{{", ".join(str(f.sizes[x]) for x in "abcd")}}}, '
            f'{f.per_thread}, "{f.thread}"}},\n'
            for f in self.functions
        ]
        return _filled("check.c", header=f"{self.name}.h", calls="".join(calls), functions="".join(table))

    def _manifest(self) -> dict[str, Any]:
        return {
            "kit": self.architecture,
            "made_by": f"tcsmt {__version__}",
            "functions": [
                {"unit": f.row.name, "evidence": f.row.evidence, "status": f.row.status, **f.call}
                for f in self.functions
            ],
            "left_out": dict(self.left_out),
        }

    def _facts(self) -> dict[str, Any]:
        return self._manifest()

    def _lines(self) -> Iterator[str]:
        functions, units = counted(len(self.functions), "function"), counted(len(self.units), "unit")
        yield f"{self.architecture}: {functions}, {units}"
        yield from self._left_out()

    def _left_out(self) -> Iterator[str]:
        """Yield what is not in the kit, a line for each reason."""
        for why in dict.fromkeys(self.left_out.values()):
            names = [name for name, reason in self.left_out.items() if reason == why]
            more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
            yield f"not in the kit, as {why}: {', '.join(names[:_NAMED])}{more}"

    @property
    def _title(self) -> str:
        return f"a kit of {self.architecture}: {counted(len(self.functions), 'function')}"


#: What the header says of the arguments.
_NOTES = {
    "registers": """\
/* A fragment is an array [thread][register]. Modifiers are 0 where an instruction has none.
 * cbsz, abid: the block of A that 2^cbsz blocks take; blgp: B's lane group pattern, 0 to 7.
 * neg: negates A (1), B (2), C (4); where two elements share a register, in its lower half, neg_hi in
 * its upper half; neg_hi 4 takes C's magnitude first. */
""",
    "wgmma": """\
/* d: [128][registers], which holds C before. n: columns, a multiple of 8 up to 256. a: [128][4],
 * or NULL: then A, too, lies in shared memory. shared: from address 0 on, shared_bytes long; descriptors are
 * as the PTX ISA defines them. flags: a sum of TCSMT_ZERO_C (scale-d is false), TCSMT_NEGATE_A and _B
 * (imm-scale is -1), TCSMT_TRANSPOSE_A and _B (16-bit operands alone). Returns 1, and leaves what d holds,
 * for what the PTX ISA does not allow. */
""",
    "tiles": """\
/* d holds C before. rows: of A and C; a_bytes, c_bytes: of a row of A and of C (colsb). What lies
 * beyond is zero in d. Returns 1 for a shape that no tile has. */
""",
    "lanes": """\
/* One element for each lane, in a register. mask: the lanes that are written; others keep what d
 * holds. Of results of 16 bits the register's upper half is kept. */
""",
}


def _words(function: KitFunction) -> Iterator[tuple[int, int]]:
    """Yield how many words each operand has in the runtime's memory, and their sizes in bytes."""
    tile, sizes = function.tile, function.word_sizes
    counts = (tile.m * tile.k, tile.n * tile.k, tile.m * tile.n, tile.m * tile.n)
    if function.kind == "lanes":
        counts = (64 * tile.k, 64 * tile.k, 64, 64)
    yield from ((count * tile.matrices, size) for count, size in zip(counts, sizes, strict=True))


def _argument(argument: Argument, cast: str) -> str:
    if isinstance(argument, int):
        return f"UINT64_C({argument:#x})" if argument >> 31 else str(argument)
    return f"{cast}in[{argument.upper()}]"


def _filled(file: str, **values: str) -> str:
    return template(file, _KITS).substitute(values, version=__version__)


def kit(
    architecture: str,
    telling: Callable[[Row], Words],
    *,
    only: Sequence[str] = (),
    progress: ProgressCallback = no_progress,
) -> Kit:
    """Return the kit of an architecture. telling: gives rows for an instruction: words of a, b and c.

    only: names of instructions; default: all. Raises :class:`.TcsmtError` for an unknown one, and where
    nothing is left.
    """
    every = {row.instruction: row for row in rows(architecture, claims=False)}
    chosen = [every[choose("instruction", name, every)] for name in only] or [*every.values()]
    functions, left_out = [], {}
    for row in chosen:
        made = kit_function(row)
        if isinstance(made, str):
            left_out[row.instruction] = made
        else:
            functions.append(made)
    if not functions:
        raise TcsmtError("; ".join(Kit(architecture, (), left_out, {})._left_out()))
    tiles = {}
    for number, function in enumerate(functions):
        progress(number, len(functions), function.row.instruction)
        tiles[function.name] = Tiles.of(function, telling(function.row))
    return Kit(architecture, tuple(functions), left_out, tiles)
