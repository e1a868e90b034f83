"""Fingerprints of functions, of programs and of the package's own sources: digests of code and files."""

from __future__ import annotations

import ast
import hashlib
import shlex
import shutil
import sys
import sysconfig
from collections.abc import Iterator
from functools import cache
from hashlib import blake2b
from importlib.util import find_spec, resolve_name
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from tcsmt.support.errors import TcsmtError

#: Of files that say what is computed: code, and tables such as the catalogue's.
_SUFFIXES = (".py", ".toml")


@cache
def digest_of_sources(*rooms: str) -> str:
    """Return the digest of the code and tables, .py and .toml, in these rooms (``prove``) or modules.

    Of the text: a changed comment gives another digest, and what rests on it is computed again.
    """
    package = Path(__file__).parents[1]
    state = blake2b(digest_size=16)
    for room in rooms:
        found = (path for path in (package / room).rglob("*") if path.suffix in _SUFFIXES)
        files = sorted(found) or [package / f"{room}.py"]
        for file in files:
            content = file.read_bytes()
            name = file.relative_to(package).as_posix()
            state.update(f"{name} {len(content)}\n".encode() + content)
    return state.hexdigest()


#: The package that this module is of.
_PACKAGE = Path(__file__).parents[1]

#: What a function may hold beside its code: values whose text says what they are.
_PLAIN = (bool, bytes, complex, float, int, str, type(None))


class _Unknown(Exception):
    """An error: what a function depends on is not known."""


def fingerprint(function: Any) -> str | None:
    """Return a digest of a plain function, of the files that it imports, and of Python, tcsmt, the libraries.

    None where something is not known: an object that is no plain function, one that holds other objects than
    plain values, functions and modules, or files that cannot be read.
    """
    digest, is_complete = _digest(function)
    return digest if is_complete else None


def fingerprint_so_far(function: Any) -> str:
    """Return :func:`fingerprint`'s digest of what is known, where something is not.

    A change of what is known changes it; a change of the rest does not.
    """
    return _digest(function)[0]


def fingerprint_of_command(command: str) -> str:
    """Return a digest of a command and of the content of each file that it names, the program's first.

    What the program itself reads or loads is not known. Raises :class:`.TcsmtError` for quotes that do not
    end.
    """
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise TcsmtError(f"--command {command}: {error}") from None
    state = hashlib.sha256()
    for number, word in enumerate(words):
        path = Path(shutil.which(word) or word) if number == 0 else Path(word)
        state.update(f"{word}\0".encode(errors="surrogateescape"))
        try:
            with path.open("rb") as file:
                state.update(hashlib.file_digest(file, "sha256").digest())
        except (OSError, ValueError):  # an option, say
            continue
    return state.hexdigest()


def _digest(function: Any) -> tuple[str, bool]:
    """Return a digest of the marks that are known, and whether these are all."""
    state = hashlib.sha256(f"{sys.version} {_tree_state(_PACKAGE)}".encode())
    try:
        for mark in _marks(function, set()):
            state.update(mark + b"\0")
    except (_Unknown, AttributeError, KeyError, OSError, SyntaxError, ValueError):
        return state.hexdigest(), False
    return state.hexdigest(), True


def _marks(function: Any, seen: set[int]) -> Iterator[bytes]:
    """Yield the code of a function, the values that it holds, and its module with all that this imports."""
    if type(function) is not FunctionType or hasattr(function, "__wrapped__"):
        raise _Unknown
    if id(function) in seen:
        return
    seen.add(id(function))
    yield f"{function.__module__}:{function.__qualname__}".encode()
    yield from _marks_of_code(function.__code__)
    if _path(function.__module__) is None:
        raise _Unknown
    yield from _marks_of_module(function.__module__)
    values = [cell.cell_contents for cell in function.__closure__ or ()]
    values += [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    for value in values:
        if type(value) in _PLAIN:
            yield repr(value).encode()
        elif isinstance(value, ModuleType):
            yield from _marks_of_module(value.__name__)
        else:
            yield from _marks(value, seen)


def _marks_of_code(code: CodeType) -> Iterator[bytes]:
    """Yield instructions, names and constants: the same in each run, which marshalled code is not."""
    yield code.co_code
    yield repr((code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)).encode()
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _marks_of_code(constant)
        elif isinstance(constant, frozenset):
            yield repr(sorted(map(repr, constant))).encode()
        else:
            yield repr(constant).encode()


def _marks_of_module(name: str) -> Iterator[bytes]:
    """Yield the content of a module's file and of those that it imports; of installed ones, size and time."""
    waiting, seen = [name], set[str]()
    while waiting:
        name = waiting.pop()
        elsewhere = {*sys.stdlib_module_names, _PACKAGE.name}  # in the digest by themselves
        path = None if name in seen or name.partition(".")[0] in elsewhere else _path(name)
        seen.add(name)
        if path is None:
            continue
        if _is_installed(path):
            yield f"{name} {_state(path)}".encode()
            continue
        content = path.read_bytes()
        yield name.encode() + hashlib.sha256(content).digest()
        if path.suffix == ".py":
            waiting += sorted(_imported(name, path, content), reverse=True)


def _path(name: str) -> Path | None:
    """Return a module's file; None where there is none, as of an attribute of a module."""
    module = sys.modules.get(name)
    if module is not None:
        file = getattr(module, "__file__", None)
    elif name.rpartition(".")[0] in ("", *sys.modules):
        try:
            spec = find_spec(name)
        except (ImportError, AttributeError, ValueError):
            spec = None
        file = spec.origin if spec is not None and spec.has_location else None
    else:
        file = None
    return None if file is None else Path(file)


def _imported(name: str, path: Path, content: bytes) -> set[str]:
    """Return the modules that a file names in its imports, wherever they stand, and the packages of these."""
    package = name if path.stem == "__init__" else name.rpartition(".")[0]
    names: set[str] = set()
    for node in ast.walk(ast.parse(content)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = "." * node.level + (node.module or "")
            module = resolve_name(base, package) if node.level else base
            names |= {module, *(f"{module}.{alias.name}" for alias in node.names)}
    return names | {each.rsplit(".", count)[0] for each in names for count in range(1, each.count(".") + 1)}


def _is_installed(path: Path) -> bool:
    """Return whether a file is one of an installed library."""
    return any(folder in path.resolve().parents for folder in _folders())


@cache
def _folders() -> tuple[Path, ...]:
    return tuple(Path(sysconfig.get_path(name)).resolve() for name in ("purelib", "platlib"))


@cache
def _tree_state(folder: Path) -> str:
    """Return the files of tcsmt itself, which may be a checkout that changes."""
    return " ".join(f"{path} {_state(path)}" for path in sorted(folder.rglob("*.py")))


def _state(path: Path) -> str:
    state = path.stat()
    return f"{state.st_size} {state.st_mtime_ns}"
