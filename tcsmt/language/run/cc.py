"""Machine code from C text, by the C compiler of the machine: ``$CC``, else ``cc``; GCC or clang.

Shared objects are kept (:mod:`tcsmt.support.cache`) by a hash of the text and of what the compiler says of
itself and of the processor.
"""

from __future__ import annotations

import ctypes
import functools
import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tcsmt.support import cache
from tcsmt.support.errors import TcsmtError

#: For this processor; optimised no more than keeps values in registers.
_OPTIONS = ("-O1", "-march=native", "-Wno-psabi", "-x", "c")
#: What :mod:`tcsmt.language.write.c` writes in short.
_PROBE = """typedef unsigned word __attribute__((vector_size(32)));
int probe(void) { word x = {3, 4}; return (int)(x + x)[1]; }"""


@functools.cache
def available() -> bool:
    """Return whether there is a compiler that knows vectors, and its code runs."""
    try:
        address = functions(_PROBE, ["probe"])["probe"]
    except (OSError, subprocess.SubprocessError, TcsmtError):
        return False
    return bool(ctypes.CFUNCTYPE(ctypes.c_int)(address)() == 8)


@functools.cache
def version() -> str:
    """Return the first line of what the compiler says of itself."""
    return _said("--version").partition("\n")[0]


def functions(text: str, names: Sequence[str]) -> dict[str, int]:
    """Return the addresses of the text's functions. Raises TcsmtError without a compiler."""
    key = f"{text}\n{_OPTIONS}\n{_target()}"
    entry = f"{cache.digest(key.encode()).hex()}.so"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "code.so"
        code = cache.read(entry)
        if code is None:
            _said(*_OPTIONS, "-shared", "-fPIC", "-o", str(path), "-", source=text)
            cache.store(entry, path.read_bytes())
        else:
            path.write_bytes(code)
        library = ctypes.CDLL(str(path))  # stays in memory when the file is gone
    return {name: ctypes.cast(library[name], ctypes.c_void_p).value or 0 for name in names}


@functools.cache
def _target() -> str:
    """Return the macros that the compiler defines: its version, and what the processor has."""
    return _said(*_OPTIONS, "-E", "-dM", "-")


def _said(*options: str, source: str = "") -> str:
    compiler = shlex.split(os.environ.get("CC", "cc"))
    if not compiler or shutil.which(compiler[0]) is None:
        raise TcsmtError(
            f"C compiler not found: {' '.join(compiler)!r} is not a program (set $CC; the default is cc)"
        )
    command = [*compiler, *options]
    return subprocess.run(command, input=source, capture_output=True, text=True, check=True).stdout
