"""Kits for emulators: an architecture's whole instructions in C, and a check of somebody's own ones."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tcsmt.interop.kits import calling
from tcsmt.interop.kits.instructions import KitFunction, kit_function
from tcsmt.interop.kits.kit import Kit, kit
from tcsmt.matrix_units.catalogue import Row, architecture_named, row_named
from tcsmt.simulate.rows import Words
from tcsmt.support.errors import Exit, TcsmtError
from tcsmt.support.files import json_of, make_folder, read_bytes, replace_text
from tcsmt.support.floats import ieee_floats
from tcsmt.support.progress import ProgressCallback, no_progress
from tcsmt.support.results import Result
from tcsmt.support.text import counted
from tcsmt.surveys.units.vectors import edges

__all__ = ["Kit", "KitCheck", "KitDifference", "check_kit", "export_kit"]

#: Suffixes of shared libraries.
_LIBRARIES = (".so", ".dylib", ".dll")


@ieee_floats
def export_kit(
    architecture: str,
    folder: str | os.PathLike[str] | None = None,
    *,
    only: Sequence[str] = (),
    rows: int = 48,
    seed: int = 1,
    progress: ProgressCallback = no_progress,
) -> Kit:
    """Write an architecture's whole instructions in C11: registers of all threads in, registers out.

    The folder becomes ``NAME.h`` and ``NAME.c`` with a function for each instruction, the arithmetic in
    ``units``, rows for each function in ``vectors``, ``check.c``, which holds functions against the rows,
    ``CMakeLists.txt`` and ``kit.json``.

    Args:
        architecture: The architecture, or a GPU of it.
        folder: Written here. [default: not written]
        only: Of the architecture's instructions, only these.
        rows: How many rows near the boundaries of the arithmetic the vectors of each function have.
        seed: Seed of the rows.
        progress: Called with how many functions are made.

    Raises :class:`tcsmt.TcsmtError` for an unknown architecture or instruction, and where none of them can be
    in a kit.

    >>> import tcsmt
    >>> made = tcsmt.export_kit("volta", rows=4)
    >>> print(made.functions[0].prototype[:47])
    void volta_mma_m8n8k4_f32_f16_f16_f32(uint32_t
    """

    def telling(row: Row) -> Words:
        words = edges(row, seed, max(8, rows)).inputs
        chosen = np.random.default_rng(seed).permutation(len(words.c))[:rows]
        return Words(words.a[chosen], words.b[chosen], words.c[chosen])

    made = kit(architecture_named(architecture), telling, only=only, progress=progress)
    if folder is not None:
        for name, text in made.files():
            path = Path(folder, name)
            make_folder(path.parent)
            replace_text(path, text)
    return made


@dataclass(frozen=True)
class KitDifference:
    """The first difference of a function: ``place`` says where in D, ``reason`` what is wrong."""

    function: str
    reason: str
    place: str = ""


@dataclass(frozen=True, repr=False)
class KitCheck(Result):
    """A check of functions against a kit's rows; ``agrees`` where some are there, and each of them is right.

    compared: names of the functions that were called. tiles: how many calls there were. differences: the
    first difference of each function that is wrong, in the kit's order. missing: functions that the library
    lacks.
    """

    library: str
    compared: tuple[str, ...]
    tiles: int
    differences: tuple[KitDifference, ...]
    missing: tuple[str, ...]

    @property
    def agrees(self) -> bool:
        """Return whether no function differs, and some was called."""
        return not self.differences and bool(self.compared)

    @property
    def exit_code(self) -> Exit:
        """Return the exit code of the command."""
        return Exit.ANSWERED if self.agrees else Exit.DIFFERS

    def _lines(self) -> Iterator[str]:
        for one in self.differences:
            yield f"{one.function}: {one.place}{': ' if one.place else ''}{one.reason}"
        if self.missing:
            yield f"not in {self.library}: {', '.join(self.missing)}"
        yield (
            f"{counted(len(self.compared), 'function')}, {counted(self.tiles, 'call')}: "
            f"{len(self.differences)} wrong, {len(self.missing)} missing"
        )

    @property
    def _title(self) -> str:
        return f"{self.library}: {'agrees' if self.agrees else 'differs'}"

    def _facts(self) -> dict[str, Any]:
        return {
            "library": self.library,
            "agrees": self.agrees,
            "compared": list(self.compared),
            "tiles": self.tiles,
            "differences": [vars(one) for one in self.differences],
            "missing": list(self.missing),
        }


def check_kit(kit: str | os.PathLike[str], library: str | os.PathLike[str] | None = None) -> KitCheck:
    """Call the functions of a shared library on the rows of a kit, and compare what they give.

    The library has functions of the heads in the kit's header, some or all of them. They are called in a
    process of its own, between fences that tell whether they write outside of their arrays.

    Args:
        kit: A folder that `export --as c-kit` made.
        library: The shared library. [default: the one in the folder, or in its folder build]

    Raises :class:`tcsmt.TcsmtError` for a folder that is no kit, and for a library that cannot be loaded.
    """
    folder = Path(kit)
    if not (folder / "kit.json").is_file():
        raise TcsmtError(f"{folder} is no kit: it has no kit.json (see `tcsmt export --as c-kit`)")
    functions = _functions(folder / "kit.json")
    path = Path(library) if library is not None else _only_library(folder)
    if not path.is_file():
        raise TcsmtError(f"{path}: no such file")
    command = [sys.executable, "-I", str(calling.__file__), str(path.resolve()), str(folder)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    differences, missing, compared, tiles, current = [], [], [], 0, ""
    for line in ran.stdout.splitlines():
        found = json.loads(line)
        if "name" in found:
            current = found["name"]
            continue
        name, current = current, ""
        if "missing" in found:
            missing.append(name)
            continue
        compared.append(name)
        tiles += found.get("tiles", 0)
        if "unreadable" in found:
            raise TcsmtError(f"{folder / 'vectors' / name}.hex has {found['unreadable']}")
        if "outside" in found:
            differences.append(KitDifference(name, f"writes outside of {found['outside'].upper()}"))
        if "differs" in found:
            differences.append(_difference(functions[name], *found["differs"]))
    if ran.returncode and not current:
        last = ran.stderr.strip().splitlines()[-1:] or ["nothing was said"]
        raise TcsmtError(f"{path}: cannot be called: {last[0].rpartition(': ')[2]}")
    if current:
        compared.append(current)
        differences.append(KitDifference(current, f"ends the process (exit status {ran.returncode})"))
    return KitCheck(str(path), tuple(compared), tiles, tuple(differences), tuple(missing))


def _functions(path: Path) -> dict[str, KitFunction]:
    """Return a kit's functions by their names, each as its instruction's own: what is called is no file's."""
    try:
        listed = [(one["unit"], one) for one in json_of(read_bytes(path))["functions"]]
    except (ValueError, KeyError, TypeError) as error:
        raise TcsmtError(f"{path} does not list a kit's functions: {error}") from None
    found = {}
    for unit, one in listed:
        function = kit_function(row_named(str(unit)))
        if isinstance(function, str) or any(one.get(key) != value for key, value in function.call.items()):
            raise TcsmtError(f"{path}: not the function of {unit!r} in a kit: write the kit again")
        found[function.name] = function
    return found


def _difference(function: KitFunction, tile: int, at: int, got: int, expected: int) -> KitDifference:
    thread, register = divmod(at, function.per_thread)
    place = f"tile {tile}, {function.thread} {thread}, register {register} of D"
    return KitDifference(function.name, f"0x{got:08x}, expected 0x{expected:08x}", place)


def _only_library(folder: Path) -> Path:
    found = [
        path
        for inside in (folder, folder / "build")
        if inside.is_dir()
        for path in sorted(inside.iterdir())
        if path.suffix in _LIBRARIES
    ]
    if len(found) != 1:
        seen = ", ".join(path.name for path in found) or "none"
        raise TcsmtError(f"which shared library? In {folder} and its build folder: {seen}; name one")
    return found[0]
